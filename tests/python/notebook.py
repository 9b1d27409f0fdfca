#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a notebook that uses the installed package, with Jupyter's own client: notebook.py. Needs nbclient, nbformat,
ipykernel and pandas."""

import html
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

import nbformat
from nbclient import NotebookClient

CELLS = [
    "import shardopt",
    "report = shardopt.plan(model='70b', chip='h100', nodes=64)\nreport",
    "report.to_frame()[['rank', 'plan', 'step_seconds', 'mfu', 'launcher']]",
    "print(report.best.emit())",
    "report.explain(rank=2)",
    "shardopt.sweep(model=['8b', '70b'], chip=['v5p', 'v6e'], chips=64, batch='1Mi')",
    "shardopt.inference(model='8b', chip='h100', nodes=1)",
    "try:\n    shardopt.plan(model='70b', chip='h1000')\nexcept shardopt.InputError as error:\n    print(error)",
    "import json; print(json.dumps(report.json['plans'][0]['step']['seconds']))",
]


def pictures_of(output, name):
    """The page in the frame of an output: its pictures, each of which has to be well-formed, or the parts of its document that
    its script draws."""
    frame = output["data"]["text/html"]
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', frame).group(1))
    assert "http-equiv" in page, name
    document = re.search(r'id="document">(.*?)</script>', page)
    if document:
        return list(json.loads(document.group(1)))
    assert page.count("<script") == 1, name
    found = re.findall(r"<svg.*?</svg>", page, re.S)
    for picture in found:
        ElementTree.fromstring(picture)
    return found


def main():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    nbformat.validate(notebook)
    outputs = [[o for o in cell["outputs"] if o.get("name") != "stderr"] for cell in notebook.cells]
    for index, least in ((1, 6), (4, 3), (5, 1), (6, 1)):
        count = len(pictures_of(outputs[index][0], CELLS[index]))
        assert count >= least, (CELLS[index], count)
        print(f"ok: {count} pictures: {CELLS[index].splitlines()[-1]}")
    table = outputs[2][0]["data"]["text/html"]
    assert "<table" in table and "megatron" in table
    assert outputs[3][0]["text"].startswith("#!/usr/bin/env bash")
    assert outputs[7][0]["text"].startswith("--chip: "), outputs[7]
    assert 0 < json.loads(outputs[8][0]["text"]) < 100
    size = len(nbformat.writes(notebook))
    print(f"ok: a notebook of {len(CELLS)} cells ran; with its pictures it has {size:,} bytes")
    if len(sys.argv) > 1:
        nbformat.write(notebook, sys.argv[1])


if __name__ == "__main__":
    main()
