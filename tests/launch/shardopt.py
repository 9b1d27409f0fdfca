# SPDX-License-Identifier: GPL-3.0-or-later
"""The program, asked for a plan and for what it emits of it; and TPU devices as JAX shows them, without TPUs."""
import itertools
import json
import os
import subprocess
from dataclasses import dataclass

SKIPPED = 77
DONE = (0, 4)  # 4: the layouts were not all solved, and the plan is the best so far


def run(program, *words):
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def emitted(program, form, case, folder):
    """The first plan of a case, and the file that is written of it from the report."""
    report, path = os.path.join(folder, "report.json"), os.path.join(folder, "plan.yml" if form == "maxtext" else "plan.py")
    code, _, said = run(program, "plan", *case.split(), "--for", form, "--top", "1", "--format", "json", "-q", "-o", report)
    if code in DONE:
        code, _, said = run(program, "emit", form, "--from", report, "-q", "-o", path)
    if code not in DONE:
        raise SystemExit(f"FAIL {form} {case}: exit {code}: {said}")
    with open(report) as file:
        return json.load(file)["plans"][0], path


@dataclass(frozen=True)
class Device:
    """What jax.experimental.mesh_utils and an emitted module look at."""
    id: int
    coords: tuple
    core_on_chip: int
    slice_index: int
    device_kind: str
    process_index: int = 0
    platform: str = "tpu"


KINDS = {"tpu-v4": "TPU v4", "tpu-v5p": "TPU v5", "tpu-v5e": "TPU v5 lite", "tpu-v6e": "TPU v6 lite", "tpu-v7": "TPU7x"}


def devices_of(plan, chip):
    """The devices of the plan's machine, slices in turn, x fastest."""
    sizes = {axis["name"]: axis["size"] for axis in plan["machine"]["axes"]}
    shape = [sizes.get(name, 1) for name in ("dcn", "z", "y", "x", "core")]
    return [Device(number, (x, y, z), core, slice_index, KINDS[chip])
            for number, (slice_index, z, y, x, core) in enumerate(itertools.product(*map(range, shape)))]


def coordinates(device):
    return dict(zip("xyz", device.coords)) | {"core": device.core_on_chip, "dcn": device.slice_index}


def lies(array, axes):
    """Of the devices along some axes of an array: {(physical axis, factor, stride)}."""
    line = array[tuple(slice(None) if i in axes else 0 for i in range(array.ndim))]
    spans = set()
    for axis in ("dcn", "x", "y", "z", "core"):
        places = sorted({coordinates(device)[axis] for device in line.flat})
        if len(places) > 1:
            spans.add((axis, len(places), places[1] - places[0]))
    return spans


def costed(plan):
    """The same of a report's plan, by role; which of a switch's ports a role has makes no difference."""
    found = {}
    for span in plan["placement"]:
        found.setdefault(span["role"], set()).add((span["axis"], span["factor"], span["stride"]))
    return found
