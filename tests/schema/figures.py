#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes of the program's tables of figures what docs says of them: figures.py SHARDOPT [--check] [--docs DIR].

Between `<!-- figures: plans[] -->` and `<!-- /figures -->` docs/json.md has a row for each meaning. In docs/schema each
figure has its place, type and text; what is there already stays as it is, since keys are only ever added."""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMAS = {"plans[]": ("report", "plan"), "front[]": ("inference", "point")}


def table(of, figures):
    """One row for each meaning, with all keys that have it."""
    rows = []
    for figure in figures:
        if not figure["key"] or not figure["meaning"]:
            continue
        if figure["same_meaning"]:
            last, key = rows[-1][0][-1], figure["key"]
            same = rows[-1][2] == key.rpartition(".")[0]
            rows[-1][0].append(key.rpartition(".")[2] if same else f"{of}.{key}")
        else:
            rows.append(([f"{of}.{figure['key']}"], figure["meaning"], figure["key"].rpartition(".")[0]))
    return "".join(f"| {', '.join(f'`{key}`' for key in keys)} | {meaning} |\n" for keys, meaning, _ in rows)


def page(text, tables):
    def block(match):
        return f"{match[1]}\n| figure | meaning |\n|---|---|\n{table(match[2], tables[match[2]])}{match[3]}"

    return re.sub(r"(<!-- figures: (\S+) -->)\n.*?(<!-- /figures -->)", block, text, flags=re.S)


def behind(properties, key, before, value):
    """The properties with one more, after the one before."""
    out = {}
    for name, part in properties.items():
        out[name] = part
        if name == before:
            out[key] = value
    return out if key in out else {**out, key: value}


def resolved(node, schema):
    for form in node.get("anyOf", []):
        node = form if "$ref" in form or form.get("type") == "object" else node
    return schema["$defs"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node


def add_figure(schema, node, figure, before):
    *objects, last = figure["key"].split(".")
    for name in objects:
        empty = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        node = resolved(node["properties"].setdefault(name, empty), schema)
    if "properties" not in node:  # any key, all of one type
        return last
    type_ = figure["type"] if figure["unknown"] != "null" else [figure["type"], "null"]
    if last not in node["properties"]:
        node["properties"] = behind(node["properties"], last, before, {"type": type_})
        if figure["unknown"] != "absent":
            node["required"].append(last)
    one = node["properties"][last]
    if figure["meaning"] and "$ref" not in one:
        text = figure["meaning"].replace("`", "")
        node["properties"][last] = {"description": text, **{k: v for k, v in one.items() if k != "description"}}
    return last


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something would change")
    parser.add_argument("--docs", type=pathlib.Path, default=ROOT / "docs")
    words = parser.parse_args()
    tables = json.loads(subprocess.run([words.program, "help", "--figures"], capture_output=True, check=True).stdout)
    files = {words.docs / "json.md": page((words.docs / "json.md").read_text(encoding="utf-8"), tables)}
    for of, (name, shape) in SCHEMAS.items():
        path, before = words.docs / f"schema/{name}.schema.json", None
        schema = json.loads(path.read_text(encoding="utf-8"))
        for figure in tables[of]:
            if figure["key"]:
                before = add_figure(schema, schema["$defs"][shape], figure, before)
        files[path] = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
    stale = [path for path, text in files.items() if path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path} {'differs: run tests/schema/figures.py SHARDOPT' if words.check else 'written'}", file=sys.stderr)
        if not words.check:
            path.write_text(files[path], encoding="utf-8")
    return bool(stale and words.check)


if __name__ == "__main__":
    sys.exit(main())
