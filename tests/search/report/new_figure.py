#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tour of a new figure: kilograms of CO2 a step, as one row of search/report/plan_fields.c and its getter.

new_figure.py plant FILE             writes plan_fields.c with both
new_figure.py try PROGRAM LIBRARY    text -v, JSON, CSV, schema, page, Python, library and `diff` of the program so made
"""

import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
PLAN = {"model": "8b", "chip": "v5e", "slice": "4x4", "batch": "256Ki"}
WORDS = [word for name, value in PLAN.items() for word in (f"--{name}", value)]
MEANING = "what the power of all chips of a step, 1 kW each, is made of coal with"

GETTER = """
static double co2_kilograms(const void *of) {
    const PlanRecord *plan = of;
    return 0.001 * (double)plan->plan.machine.mesh.chips * plan->plan.estimate.time.seconds;
}
static const char *kilograms(double value, char *text) {
    snprintf(text, NUMBER_TEXT_SIZE, "%.3g kg", value);
    return text;
}
"""
ROW = f"""    {{"step.co2_kilograms", .get = co2_kilograms, .column = %d, SAY(%d, "of CO2", kilograms),
     .meaning = "{MEANING}"}},
"""


def plant(path):
    source = (ROOT / "search/report/plan_fields.c").read_text(encoding="utf-8")
    columns, places = source.count(".column = "), source.count("SAY(") - 1  # one is the macro's own
    table, before = "const Field PLAN_FIELDS[]", '    {"bound_by",'
    assert source.count(table) == source.count(before) == 1
    source = source.replace(table, GETTER + "\n" + table).replace(before, ROW % (columns + 1, places + 1) + before)
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, encoding="utf-8")


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, check=True, encoding="utf-8").stdout


def attempt(program, library):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        report = json.loads(run(program, "plan", *WORDS, "-q", "--format", "json"))
        plans = report["plans"]
        for plan in plans:  # by hand: 16 chips
            assert plan["chips_used"] == 16 and abs(plan["step"]["co2_kilograms"] - 0.016 * plan["step"]["seconds"]) < 1e-15
        said = f", of CO2 {plans[0]['step']['co2_kilograms']:.3g} kg; bound by"
        assert said in " ".join(run(program, "plan", *WORDS, "-v").split()), said
        assert said in run(program, "plan", *WORDS, "-q", "--format", "markdown")
        rows = list(csv.DictReader(io.StringIO(run(program, "plan", *WORDS, "-q", "--format", "csv"))))
        assert [float(row["co2_kilograms"]) for row in rows] == [plan["step"]["co2_kilograms"] for plan in plans]

        for name in ("a", "b"):
            (folder / f"{name}.json").write_text(json.dumps(report), encoding="utf-8")
            report["plans"][0]["step"]["co2_kilograms"] *= 2
        report["plans"][0]["step"]["co2_kilograms"] /= 4
        told = subprocess.run([program, "diff", folder / "a.json", folder / "b.json"], capture_output=True, text=True).stdout
        assert "of CO2" in told and "+100.0%" in told, told

        shutil.copytree(ROOT / "docs", folder / "docs")
        made = subprocess.run([sys.executable, ROOT / "tests/schema/figures.py", program, "--docs", folder / "docs"])
        assert made.returncode == 0
        assert f"| `plans[].step.co2_kilograms` | {MEANING} |" in (folder / "docs/json.md").read_text(encoding="utf-8")
        schema = json.loads((folder / "docs/schema/report.schema.json").read_text(encoding="utf-8"))
        step = schema["$defs"]["plan"]["properties"]["step"]
        assert step["properties"]["co2_kilograms"] == {"description": MEANING, "type": "number"}
        assert "co2_kilograms" in step["required"]

    value, meaning = run(library, "step.co2_kilograms", *(f"{name}={value}" for name, value in PLAN.items())).splitlines()
    assert float(value) == plans[0]["step"]["co2_kilograms"] and meaning == MEANING

    os.environ["SHARDOPT_PROGRAM"] = program
    import shardopt

    best = shardopt.plan(**PLAN).best
    assert best.co2_kilograms == best.row()["co2_kilograms"] == plans[0]["step"]["co2_kilograms"]
    print("the figure is everywhere")


if __name__ == "__main__":
    plant(pathlib.Path(sys.argv[2])) if sys.argv[1] == "plant" else attempt(*sys.argv[2:])
