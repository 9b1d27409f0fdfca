#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/schema/NAME.schema.json anew: draft.py SHARDOPT.

A key's type is what the outputs of outputs.py have (those marked as drafts), its text is that of docs/json.md, and what
samples cannot tell stands in the tables below: which objects are one shape, which have keys of the user's or of a data
file, which words there are. Read the diff: a schema is a promise, so keys are only ever added. check.py, which knows nothing
of this file, holds the schemas to outputs that were not used here."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import outputs

OUT = outputs.ROOT / "docs/schema"
ROLES = ["data", "fsdp", "sequence", "tensor", "expert", "pipeline"]

# Objects that stand in several places, told by their keys: one definition each.
SHAPES = [
    ("plan", {"notation", "knobs", "step", "memory"}),
    ("axis", {"name", "size", "kind", "bytes_per_second"}),
    ("memory", {"limit_bytes", "total_bytes", "reserve_bytes"}),
    ("failures", {"mtbf_seconds", "goodput"}),
    ("search", {"plans_covered", "plans_evaluated", "proof", "layouts_solved"}),
    ("search_of_points", {"points_covered", "points_evaluated", "layouts"}),
    ("point", {"notation", "pools", "ttft_seconds"}),
    ("snapshot", {"proof", "plan", "ranked_seconds", "hbm_limit_bytes"}),
    ("figure", {"value", "source"}),
    ("errors", {"runs", "median", "p90", "worst", "bias"}),
    ("order", {"groups", "tau", "concordant"}),
    ("serving_errors", {"rows", "median", "p90"}),
]
# Objects whose keys are names of parts, reasons, options or rows: any key, one type of value.
OPEN = re.compile(r"(^|\.)(plans_pruned|points_pruned|layouts_left_out|varies|terms_seconds|remat_options|options|"
                  r"host|by\.\w+|by_\w+|orders|change|counts|likely|nearest_by|sent_bytes|collective_seconds)$"
                  r"|memory_detail\.\w+$|^(request|plan|search|figures|terms_seconds|memory_bytes)@diff$")
# Words that there are; a word beside these is a fault.
WORDS = {
    "role": ROLES + ["attention_data", "expert_tensor", "kv_sequence", "kv_batch"],
    "proof": ["optimal", "gap", "infeasible"],
    "bound_by": ["compute", "hbm", "ici", "dcn", "nvlink", "network", "pcie", "latency", "bubble"],
    "verdict": ["same", "better", "worse", "error", "new"],
    "phase": ["both", "prefill", "decode"],
    "objective": ["time", "chip-hours", "cost", "throughput", "latency", "chips"],
}
WORDS_AT = {
    "plans[].kinds[]": ["surest", "fastest", "launcher", "pipeline", "no_pipeline", "headroom", "usual", "odd"],
    "plans[].layout[].state": ["saved", "recomputed", "offloaded", "partly"],
    "[].state": ["ok", "no_plan", "not_proven", "error"],
}
REAL = re.compile(r"seconds|bytes|flops|usd|hours|share|probability|mfu|gap|relative|error|deviation|_per_|value|rate|"
                  r"cost|messages|measured|predicted|median|p90|worst|bias|tau|goodput|factor_|bound|ratio|steps|load|"
                  r"imbalance|capacity|idle_share|max_idle|tolerance|hbm_reserve|usage|peak|low|high|offered|prompt|"
                  r"output|concurrency|cached|in_flight|batch_mean|resident|distance|chance|parameters_share|theta|within|inside")

ORDER = ["object", "array", "string", "boolean", "integer", "number", "null"]


class Node:
    """What was seen at one place."""

    def __init__(self):
        self.types, self.whole, self.keys, self.items = set(), True, {}, None
        self.objects, self.present, self.least = 0, {}, float("inf")

    def see(self, value, path, drafts):
        if isinstance(value, dict):
            self.types.add("object")
            shape = next((name for name, keys in SHAPES if keys <= set(value)), None)
            if shape and not path.endswith("#"):
                self.shape = shape
                drafts.setdefault(shape, (Node(), path))[0].see(value, path + "#", drafts)
                return
            path = path.rstrip("#")
            self.objects += 1
            for key, part in value.items():
                self.present[key] = self.present.get(key, 0) + 1
                self.keys.setdefault(key, Node()).see(part, f"{path}.{key}".lstrip("."), drafts)
        elif isinstance(value, list):
            self.types.add("array")
            self.items = self.items or Node()
            for part in value:
                self.items.see(part, path.rstrip("#") + "[]", drafts)
        elif value is None:
            self.types.add("null")
        elif isinstance(value, bool):
            self.types.add("boolean")
        elif isinstance(value, (int, float)):
            self.types.add("number")
            self.whole = self.whole and isinstance(value, int)
            self.least = min(self.least, value)
        else:
            self.types.add("string")


def merged(nodes):
    """One node that has seen what all of them have."""
    one = Node()
    for node in nodes:
        one.types |= node.types
        one.whole, one.least = one.whole and node.whole, min(one.least, node.least)
        one.objects += node.objects
        if hasattr(node, "shape"):
            one.shape = node.shape
        if node.items:
            one.items = merged([n for n in (one.items, node.items) if n])
        for key, part in node.keys.items():
            one.keys[key] = merged([one.keys[key], part]) if key in one.keys else part
            one.present[key] = one.present.get(key, 0) + node.present[key]
    return one


def is_open(path, schema):
    return re.search(OPEN, path) or (schema.startswith("diff") and re.search(OPEN, path + "@diff"))


def written(node, path, schema, texts):
    """The node as a schema."""
    types = set(node.types)
    if "number" in types and node.whole and not REAL.search(".".join(path.rsplit(".", 2)[-2:])):
        types = types - {"number"} | {"integer"}
    if schema == "inference" and re.match(r"measured\.(tpot|ttft|output)_", path):  # of what a run did not measure
        types = types - {"integer"} | {"number", "null"}
    names = [name for name in ORDER if name in types]
    if not names:  # an array that was always empty
        return {}
    out = {"type": names[0] if len(names) == 1 else names}
    if "object" in types and hasattr(node, "shape") and not path.endswith("#"):
        forms = [{"$ref": f"#/$defs/{node.shape}"}] + ([{"type": "null"}] if "null" in types else [])
        if node.keys:  # in some places less than the whole shape
            forms.append(written(node, path + "#", schema, {}) | {"type": "object"})
        return described(forms[0] if len(forms) == 1 else {"anyOf": forms}, path, texts)
    path = path.rstrip("#")
    key = path.rsplit(".", 1)[-1]
    if "object" in types and is_open(path, schema):
        out["additionalProperties"] = written(merged(node.keys.values()), path + ".*", schema, texts) if node.keys else True
    elif "object" in types:
        out["properties"] = {k: written(n, f"{path}.{k}".lstrip("."), schema, texts) for k, n in node.keys.items()}
        out["required"] = [k for k in node.keys if node.present[k] == node.objects]
        out["additionalProperties"] = False
    if "array" in types:
        out["items"] = written(node.items, path + "[]", schema, texts)
    words = WORDS_AT.get(path) or WORDS.get(key)
    if words and "string" in types:
        out["enum"] = words + ([None] if "null" in types else [])
    if {"integer", "number"} & types and node.least >= 0 and re.search(r"_seconds$|_bytes$|mfu|probability|^(rank|chips)", key):
        out["minimum"] = 1 if key == "rank" and schema != "trace" else 0  # a trace's are processes, from 0
    if key == "format_version":
        out = {"const": 1}
    return described(out, path, texts)


def described(out, path, texts):
    return {"description": texts[path], **out} if path in texts else out


def page_texts():
    """Of each section of docs/json.md and docs/traces.md what its tables say, by path: {section: {path: text}}."""
    sections, section = {}, ""
    pages = [(outputs.ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("json.md", "traces.md")]
    for line in "\n".join(pages).splitlines():
        if line.startswith("#"):
            section = line.strip("# ")
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| `") else []
        if len(cells) != 2:
            continue
        names = re.findall(r"`([^`]+)`", cells[0])
        parent = names[0].rsplit(".", 1)[0] + "." if "." in names[0] else ""
        for number, name in enumerate(names):
            path = name if number == 0 or "." in name else parent + name
            sections.setdefault(section, {}).setdefault(path.lstrip("."), cells[1].replace("`", ""))
    return sections


SECTION = {"report": "A report: plan, explain", "sweep": "sweep", "inference": "A report: inference", "check": "check",
           "diff": "diff", "validate": "validate", "layout": "layout", "validate_serving": "validate: serving runs",
           "validate_kernels": "validate kernels",
           "calibrate": "calibrate", "calibrate_serving": "validate: serving runs", "trace": "--format json",
           "check_serving": "check", "diff_serving": "diff", "sweep_inference": "sweep", "sweep_rl": "sweep", "rl": "A report: rl", "brief": "brief", "program": "A report: program"}
TITLES = {
    "report": "plan, explain", "sweep": "sweep, merge", "inference": "inference", "check": "check", "diff": "diff",
    "layout": "layout", "models": "models", "model": "models NAME", "chips": "chips", "chip": "chips NAME",
    "calibrate": "calibrate, by training runs", "calibrate_serving": "calibrate, by serving runs", "trace": "trace",
    "bench": "bench", "check_serving": "check, of serving", "diff_serving": "diff, of serving",
    "sweep_inference": "sweep inference", "sweep_rl": "sweep rl", "rl": "rl", "brief": "plan, finetune, inference, rl with --format brief", "program": "program", "validate": "validate, of training runs", "validate_serving": "validate, of serving runs",
    "validate_kernels": "validate kernels",
}


# Sweeps, and the schema of the reports that their rows have.
SWEPT = {"sweep": "report", "sweep_inference": "inference", "sweep_rl": "rl"}


def type_set(schema):
    types = schema.get("type", [])
    types = {types} if isinstance(types, str) else set(types)
    return types - {"integer"} if "number" in types else types


def joined(old, new):
    """What is promised now: all that the schema so far allows stays allowed, for a sample need not show what is rare (a
    search that was cut short, a figure that most runs lack). What is promised no more is taken out by hand, before."""
    if not old or not new:
        return old or new
    if "$ref" in new or "anyOf" in new or "$ref" in old or "anyOf" in old:
        return old if "anyOf" in old and "$ref" in new else new
    out = {**{key: old[key] for key in ("description", "const") if key in old}, **new}
    types = type_set({"type": list(type_set(old) | type_set(new))})
    if types:
        names = [name for name in ORDER if name in types]
        out["type"] = names[0] if len(names) == 1 else names
    if "minimum" in old:
        out["minimum"] = min(old["minimum"], new.get("minimum", old["minimum"]))
    if "properties" in old:
        mine, theirs = old["properties"], new.get("properties", {})
        out["properties"] = {key: joined(mine.get(key), theirs.get(key, {})) for key in {**mine, **theirs}}
        late = set(theirs) - set(mine)
        both = set(old["required"]) & set(new.get("required", old["required"]))
        out["required"] = [key for key in out["properties"] if key in both or (key in late and key in new["required"])]
        out["additionalProperties"] = False
    elif isinstance(old.get("additionalProperties"), dict):
        out["additionalProperties"] = joined(old["additionalProperties"], new.get("additionalProperties") or {})
    if "items" in old:
        out["items"] = joined(old["items"], new.get("items") or {})
    if "$defs" in old:
        shapes = sorted(set(old["$defs"]) | set(new.get("$defs", {})))
        out["$defs"] = {s: joined(old["$defs"].get(s), new.get("$defs", {}).get(s, {})) for s in shapes}
    return out


def option_names(program, command):
    said = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
    return [name.replace("-", "_") for name in re.findall(r"^ +(?:-\w, )?--([a-z-]+)", said, re.M)]


def schema_of(name, samples, program):
    drafts, root = {}, Node()
    for sample in samples:
        root.see(sample, "", drafts)
    sections = page_texts()
    texts = dict(sections.get(SECTION.get(name), {}))
    if name == "sweep":
        texts = {f"[].{path}": text for path, text in texts.items()}
    out = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}.schema.json",
           "title": f"What `shardopt {TITLES[name].split(',')[0]} --format json` writes ({TITLES[name]})"}
    out.update(written(root, "", name, texts))
    request = out.get("properties", {}).get("request", {})
    command = {"report": "plan", "inference": "inference"}.get(name)
    for option in option_names(program, command) if command else []:
        request["properties"].setdefault(option, {"type": ["string", "boolean", "number"]})
    if drafts:
        out["$defs"] = {shape: written(node, path + "#", name, texts) for shape, (node, path) in sorted(drafts.items())}
    return out


def main(program):
    samples, reports = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, draft, line, answer in outputs.outputs(program, folder):
            if name in SWEPT:
                whole = reports.setdefault(SWEPT[name], [])
                whole += [row["report"] for row in answer if row.get("report") and draft]
                answer = [{**row, "report": {"#": 1}} if row.get("report") else row for row in answer]
            if draft:
                samples.setdefault(name, []).append(answer)
    for name, rows in reports.items():
        samples[name] += rows
    for name, many in (("model", "models"), ("chip", "chips")):  # data files have what only some of them have
        for row in samples[many][0]:
            said = subprocess.run([program, many, row["name"], "--format", "json"], capture_output=True, check=True).stdout
            samples[name].append(json.loads(said))
    OUT.mkdir(exist_ok=True)
    for name, answers in samples.items():
        schema = schema_of(name, answers, program)
        if name in SWEPT:
            row, report = schema["items"]["properties"], f"{SWEPT[name]}.schema.json"
            row["report"] = {**described({}, "[].report", {}), "anyOf": [{"$ref": report}, {"type": "null"}]}
        path = OUT / f"{name}.schema.json"
        if path.exists():
            schema = joined(json.loads(path.read_text(encoding="utf-8")), schema)
        path.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(path.relative_to(outputs.ROOT), len(path.read_text()), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
