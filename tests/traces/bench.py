#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmarks' outputs with planted figures, in the forms that their documentation shows: they come back as a profile, the
plan's price and the best plan change, and the answer says by which figure.

bench.py SHARDOPT
"""
import json, math, pathlib, subprocess, sys, tempfile

H100 = {"nvlink": 450e9, "network": 50e9, "pcie": 55e9, "peak": 989e12}  # mesh/catalog/h100.json
PLANTED = {"nvlink_efficiency": 0.7, "network_efficiency": 0.4, "pcie_efficiency": 0.9, "matrix_efficiency": 0.66}
faults = []


def run(program, *words):
    answer = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if answer.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {answer.returncode}: {answer.stderr}")
    return answer.stdout


def nccl_tests(hosts, bus, old=False, prefix=""):
    """NVIDIA/nccl-tests, doc and util.cu: rows of out-of-place and in-place halves; old ones have no root column."""
    lines, ranks = ["# nThread 1 nGpus 1 minBytes 8388608 maxBytes 8589934592 step: 2(factor)", "# Using devices"], 0
    for host in range(hosts):
        for device in range(8):
            lines.append("#  Rank %2d Group  0 Pid %6d on  node-%d device  %d [0x1b] NVIDIA H100 80GB HBM3"
                         % (ranks, 1000 + ranks, host, device))
            ranks += 1
    lines.append("#       size         count      type   redop " + ("" if old else "   root ") +
                 "    time   algbw   busbw #wrong     time   algbw   busbw #wrong")
    lines.append("#        (B)    (elements)                               (us)  (GB/s)  (GB/s)")
    lines.append("node-0:17:17 [0] NCCL INFO Launch mode Parallel")
    for size, share in ((8388608, 0.4), (1073741824, 0.98), (8589934592, 1.0)):
        own = bus * share / 1e9
        half = " %9.1f %7.2f %7.2f    N/A" % (size / own / 1e3, own, own)
        lines.append("%12d %13d     float    none " % (size, size // 4) + ("" if old else "     -1") + half + half)
    lines += ["# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 1.0"]
    return "".join(prefix + line + "\n" for line in lines)


def logs(folder):
    (folder / "nvlink_all_gather.log").write_text(nccl_tests(1, PLANTED["nvlink_efficiency"] * H100["nvlink"], old=True))
    (folder / "network_all_gather.log").write_text(
        nccl_tests(2, 8 * PLANTED["network_efficiency"] * H100["network"], prefix="[1,0]<stdout>:"))
    # All-reduces add up in switches: beside a gather they do not count.
    (folder / "network_all_reduce.log").write_text(nccl_tests(2, 480e9))
    rate = PLANTED["pcie_efficiency"] * H100["pcie"] / 1e9
    (folder / "copies.log").write_text(
        "nvbandwidth Version: v0.6\n\nRunning host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth "
        "(GB/s)\n           0         1\n 0     %.2f     %.2f\n\nSUM host_to_device_memcpy_ce %.2f\n"
        % (rate - 1, rate + 1, 2 * rate))
    (folder / "matmul.log").write_text("The best outcome was 800.0TFLOPS @ 1x1x1\nmean:   600.0 TFLOPS\n"
                                       "median: %.1f TFLOPS @ 8192x28672x8192\nmax:    800.0 TFLOPS\n"
                                       % (PLANTED["matrix_efficiency"] * H100["peak"] / 1e12))
    (folder / "notes.txt").write_text("nothing of a benchmark\n")


def nccl_json(hosts, bus, mpi=True):
    """nccl-tests -J: NVIDIA/nccl-tests src/util.cu, JSON_FILE_VERSION 2; without MPI one device is listed of all."""
    devices = [{"rank": r, "group": 0, "pid": 1, "hostname": f"node-{r // 8}", "device": r % 8, "device_hex": "0000:1b:00",
                "device_info": "NVIDIA H100 80GB HBM3"} for r in range(8 * hosts)]
    half = lambda share: {"time": 1.0, "alg_bw": bus * share / 1e9, "bus_bw": bus * share / 1e9, "nwrong": None}
    return json.dumps({"version": 2, "args": ["./build/all_gather_perf", "-b", "8M"], "env": ["HF_TOKEN=planted_secret"],
                       "nccl_version": 22703, "config": {"nthreads": 1, "ngpus": 1 if mpi else 8,
                                                         "devices": devices if mpi else devices[:1]},
                       "results": [{"size": size, "count": 1, "type": "float", "redop": "none", "root": "-1",
                                    "out_of_place": half(share) if mpi else None, "in_place": half(share)}
                                   for size, share in ((8388608, 0.3), (8589934592, 1.0), (1048576, 0.1))]})


PERFTEST = """                    RDMA_Write %sBW Test
 Dual-port       : OFF          Device         : mlx5_0
 #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]
 65536      5000             %.2f             %.2f            0.7
 8388608    5000             %.2f             %.2f            0.005
---------------------------------------------------------------------------------------
"""


def perftest_json(share, gigabits, ways=1, form="now"):
    """perftest --out_json, src/perftest_parameters.h: the unit is not in it; keys had no quotes before 2024, and one of
    --qos has none now. Messages per second are those of both ways together too."""
    rate, size = ways * share * H100["network"], 8388608
    rows = [("MsgSize", "%d" % size), ("sl", "0"), ("n_iterations", "5000"), ("BW_peak", "0.00"),
            ("BW_average", "%.2f" % (rate / (1e9 / 8 if gigabits else 2**20))), ("MsgRate", "%.6f" % (rate / size / 1e6))]
    rows = [("%s" if form == "old" or key == "sl" else '"%s"') % key + ": " + value for key, value in rows
            if key != "sl" or form == "qos"]
    test = "RDMA_Write_%sBW_Test" % ("Bidirectional_" if ways == 2 else "")
    return ('{\n"test_info": {\n"test": "%s",\n"Device": "mlx5_0"\n},\n"results": {\n%s\n}\n}\n'
            % (test, ",\n".join(rows)))


def found_in(program, report, folder, texts, *more):
    own = folder / "own"
    own.mkdir(exist_ok=True)
    for path in own.iterdir():
        path.unlink()
    for name, text in texts.items():
        (own / name).write_text(text)
    out = run(program, "bench", "--from", report, "--read", own, "--format", "json", *more)
    if "planted_secret" in out:
        faults.append("prints an environment")
    return json.loads(out)


def check_forms(program, report, folder):
    """Other forms of the same measurements: JSON, and what a port carries, which bounds and does not say."""
    read = found_in(program, report, folder, {
        "a.json": nccl_json(2, 8 * 0.4 * H100["network"]), "b.json": nccl_json(1, 0.7 * H100["nvlink"], mpi=False),
        "c.json": '{"results": [1, {"size": "x"}], "config": [], "args": ["all_gather_perf"]}'})
    found = [(f["figure"], round(f["value"], 4)) for f in read["found"]]
    if found != [("network_efficiency", 0.4), ("nvlink_efficiency", 0.7)]:
        faults.append(f"JSON: {found}")
    mine = folder / "wire.json"
    for share, ways, unit, moved in ((0.5, "", "Gb/sec", True), (0.5, "Bidirectional ", "MiB/sec", True),
                                     (0.99, "", "MB/sec", False)):
        rate = share * H100["network"] / (1e9 / 8 if unit == "Gb/sec" else 2**20) * (2 if ways else 1)
        text = PERFTEST % (ways, unit, unit, rate / 2, rate / 3, rate, rate)
        read = found_in(program, report, folder, {"ib.log": text}, "--refit", mine)
        figures = {f["figure"]: f["now"] for f in read["refit"]["figures"]}
        if abs(read["found"][0]["value"] - share) > 0.001 or not read["found"][0].get("at_most"):
            faults.append(f"perftest {unit}: {read['found']}")
        if abs(figures.get("network_efficiency", 0) - (share if moved else 0)) > 0.002:
            faults.append(f"perftest {unit} at {share}: {figures}")
        read = found_in(program, report, folder, {"ib.log": text, "a.json": nccl_json(2, 8 * 0.4 * H100["network"])},
                        "--refit", mine)
        if abs(read["refit"]["figures"][0]["now"] - 0.4) > 0.001:
            faults.append(f"perftest beside a collective: {read['refit']['figures']}")


def check_wire_json(program, report, folder):
    for share, gigabits, ways, form in ((0.5, True, 1, "now"), (0.5, False, 1, "old"), (0.7, False, 2, "qos"),
                                        (0.7, True, 2, "now")):
        found = found_in(program, report, folder, {"perftest_out.json": perftest_json(share, gigabits, ways, form)})
        found = found["found"][0]
        if found["kind"] != "wire" or abs(found["value"] - share) > 0.001 or not found.get("at_most"):
            faults.append(f"perftest JSON, {form}, {ways} ways: {found}")


def check_likely(listed):
    """The list is in the order of what each measurement takes off the likely range, whose ends scale with the
    deviation in logarithms; all together take off the most."""
    width = lambda of, end: math.log(of[f"likely_high_seconds{end}"] / of[f"likely_low_seconds{end}"])
    now, after = width(listed, ""), width(listed, "_after")
    widths = [width(m, "_after") for m in listed["measurements"]]
    if widths != sorted(widths) or not 0 < after <= widths[0] <= widths[-1] <= now:
        faults.append(f"likely ranges: {now}, {widths}, {after}")
    for m, own in zip(listed["measurements"], widths):
        if abs(own / now - m["deviation_after"] / listed["deviation"]) > 1e-6:
            faults.append(f"likely range of {m['name']}: {own / now}, deviation {m['deviation_after']}")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        report, own, mine = folder / "report.json", folder / "logs", folder / "mine.json"
        own.mkdir()
        logs(own)
        run(program, "explain", "--model", "70b", "--chip", "h100", "--nodes", "8", "--batch", "1Mi", "--seq", "8192",
            "--for", "megatron", "--plan", "fsdp=16 tensor=4", "--format", "json", "-q", "-o", report)
        listed = json.loads(run(program, "bench", "--from", report, "--format", "json"))
        afters = [m["deviation_after"] for m in listed["measurements"]]
        if afters != sorted(afters) or not 0 < listed["deviation_after"] <= afters[0] <= listed["deviation"]:
            faults.append(f"deviations: {listed['deviation']}, {afters}, {listed['deviation_after']}")
        check_likely(listed)
        check_forms(program, report, folder)
        check_wire_json(program, report, folder)
        read = json.loads(run(program, "bench", "--from", report, "--read", own, "--refit", mine, "--format", "json"))
        found = {f["figure"]: f["now"] for f in read["refit"]["figures"]}
        print(found, read["refit"]["before_seconds"], read["refit"]["plan_seconds"], read["refit"]["best"])
        for figure, value in PLANTED.items():
            if abs(found.get(figure, 0) / value - 1) > 0.002:
                faults.append(f"{figure}: {found.get(figure)}, planted {value}")
        if not read["refit"]["plan_seconds"] > 1.05 * read["refit"]["before_seconds"]:
            faults.append("a slower machine does not slow the plan down")
        if not read["refit"]["best"]["seconds"] < 0.95 * read["refit"]["plan_seconds"]:
            faults.append("no other plan wins on a machine with a slow network")
        text = run(program, "bench", "--from", report, "--read", own, "--refit", mine)
        if "network_efficiency of h100 0.4 (was 0.9" not in " ".join(text.split()) or "What now wins" not in text:
            faults.append("the answer does not say why: " + text)
        written = json.loads(mine.read_text())["profiles"]["h100"]
        if abs(written["network_efficiency"]["value"] - 0.4) > 0.001 or "bench" not in written["network_efficiency"]["source"]:
            faults.append(f"written: {written['network_efficiency']}")
    print("\n".join(faults) or "all figures return")
    sys.exit(bool(faults))


main()
