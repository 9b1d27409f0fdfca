#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Public traces read whole, against figures that another program made from them (expected.tsv).

samples.py SHARDOPT [FOLDER]    FOLDER has the traces; default $SHARDOPT_TRACES, else ../shared/traces beside the source

The traces are not in this repository; without them the test is skipped (exit 77).
"""
import collections, csv, json, os, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE_US = 0.2
COLUMNS = {"span_us": "span", "compute_us": "compute", "comm_us": "communication", "overlap_us": "overlap",
           "exposed_comm_us": "exposed_communication", "copy_us": "copy", "exposed_copy_us": "exposed_copy",
           "busy_us": "busy", "idle_us": "idle"}
# Seconds over all collectives of the shortest duration among the ranks, by the samples' README.
TRANSFER = {"megatron-tp8": 50099e-6, "nsys/nsys_mfu_2gpu_before.sqlite": 5777e-6}
# One of 33 pairs of the second was launched outside of the recorded ranges, and SendRecv alone does not say all-to-all.
TRANSFER_SHARE = {"nsys/nsys_mfu_2gpu_before.sqlite": 0.02}
PLACED_LEAST = 0.95
# The table went through doubles, which hold the microseconds since 1970 to 0.25: these are from whole nanoseconds.
EXACT = {"torch/resnet-v100-ns.json.gz": {"compute_us": "468153.602", "copy_us": "4300.839",
                                          "exposed_copy_us": "4300.839", "busy_us": "472454.441",
                                          "span_us": "480029.179", "idle_us": "7574.738"}}
FORMATS = (".json.gz", ".sqlite")


def read(program, path):
    answer = subprocess.run([program, "trace", str(path), "--format", "json"], capture_output=True, text=True)
    return answer.returncode, (json.loads(answer.stdout) if answer.returncode == 0 else answer.stderr)


def expected(folder):
    files = collections.defaultdict(dict)
    lines = [line for line in (folder / "expected.tsv").read_text().splitlines() if line and line[0] != "#"]
    for row in csv.DictReader(lines, delimiter="\t"):
        files[row["file"]][int(row["device"])] = row
    return files


def check_file(name, rows, report):
    faults, devices = [], {d["device"]: d["whole_file"] for d in report["devices"]}
    if set(devices) != set(rows):
        return [f"{name}: devices {sorted(devices)}, expected {sorted(rows)}"]
    for device, row in rows.items():
        own = devices[device]
        for column, key in COLUMNS.items():
            got = own[key + "_seconds"] * 1e6
            if abs(got - float(row[column])) > TOLERANCE_US:
                faults.append(f"{name} device {device}: {key} {got:.3f} us, expected {row[column]}")
        for column, key in (("kernels", "kernels"), ("comm_kernels", "collectives")):
            if own[key] != int(row[column]):
                faults.append(f"{name} device {device}: {key} {own[key]}, expected {row[column]}")
    terms = sum(t["exposed_measured_seconds"] for t in report["terms"])
    if abs(terms - report["step_seconds"]) > 1e-9 * max(1, terms):
        faults.append(f"{name}: the terms add up to {terms}, and the step is {report['step_seconds']}")
    return faults


def check_xplane(folder, program):
    """Busy time of a device against the unions of the lines that are measured and not derived."""
    lines, faults = collections.defaultdict(list), []
    for row in csv.DictReader((folder / "expected-xplane.tsv").read_text().splitlines(), delimiter="\t"):
        if row["line"] == "XLA Ops" or row["line"].startswith("Stream #"):
            lines[row["file"], int(row["plane"].rsplit(":")[-1])].append(float(row["union_us"]))
    for name in sorted({file for file, _ in lines}):
        code, report = read(program, folder / "xplane" / name)
        if code != 0:
            faults.append(f"{name}: {report.strip()}")
            continue
        print(f"{name}: {report['placed_share']:.1%} placed, {report['steps']} steps")
        if report["placed_share"] < PLACED_LEAST:
            faults.append(f"{name}: {report['placed_share']:.1%} was placed")
        for device in report["devices"]:
            busy, unions = device["whole_file"]["busy_seconds"] * 1e6, lines[name, device["device"]]
            # Picoseconds are cut to nanoseconds; lines of one device may overlap, and what runs beside XLA's operations
            # on the first TPU is busy too.
            beside = name.startswith("tpu") and device["device"] == 0
            if not max(unions) - 3 <= busy <= (sum(unions) * (1.2 if beside else 1)) + 3:
                faults.append(f"{name} device {device['device']}: busy {busy:.3f} us, expected {unions}")
    code, report = read(program, folder / "xplane" / "damaged-utf8-head.xplane.pb")
    if code != 2 or report.count("\n") != 1 or "text" not in report:
        faults.append(f"damaged: exit {code}: {report}")
    return faults


def main():
    program = sys.argv[1]
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else
                          os.environ.get("SHARDOPT_TRACES", ROOT.parent / "shared" / "traces"))
    if not (folder / "expected.tsv").is_file():
        print(f"skipped: no traces at {folder}")
        sys.exit(77)
    faults = []
    for name, rows in expected(folder).items():
        if not name.endswith(FORMATS):
            continue
        for row in rows.values():
            row.update(EXACT.get(name, {}))
        code, report = read(program, folder / name)
        if code != 0:
            faults.append(f"{name}: {report.strip()}")
            continue
        faults += check_file(name, rows, report)
        placed = report["placed_share"]
        print(f"{name}: {placed:.1%} placed, {report['steps']} steps")
        if placed < PLACED_LEAST:
            faults.append(f"{name}: {placed:.1%} was placed: {[u['name'][:60] for u in report['unplaced'][:4]]}")
    for name, seconds in TRANSFER.items():
        code, report = read(program, folder / name)
        got = report["matched"].get("transfer_seconds", 0) if code == 0 else 0
        print(f"{name}: transfer {got * 1e3:.3f} ms of {report['matched'].get('mean_seconds', 0) * 1e3:.1f} ms")
        if abs(got - seconds) > max(1e-6, TRANSFER_SHARE.get(name, 0) * seconds):
            faults.append(f"{name}: transfer {got}, expected {seconds}")
    faults += check_xplane(folder, program)
    print("\n".join(faults) or "all as expected")
    sys.exit(bool(faults))


main()
