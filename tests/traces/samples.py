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
TRANSFER = {"megatron-tp8": 50099e-6}
PLACED_LEAST = 0.95
# The table went through doubles, which hold the microseconds since 1970 to 0.25: these are from whole nanoseconds.
EXACT = {"torch/resnet-v100-ns.json.gz": {"compute_us": "468153.602", "copy_us": "4300.839",
                                          "exposed_copy_us": "4300.839", "busy_us": "472454.441",
                                          "span_us": "480029.179", "idle_us": "7574.738"}}
FORMATS = (".json.gz",)


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
        if abs(got - seconds) > 1e-6:
            faults.append(f"{name}: transfer {got}, expected {seconds}")
    print("\n".join(faults) or "all as expected")
    sys.exit(bool(faults))


main()
