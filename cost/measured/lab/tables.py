# SPDX-License-Identifier: GPL-3.0-or-later
"""The prose tables of measured training runs, and the program's own data that their words name."""
import csv
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

# Names that tables of fine-tuning have for columns.
OTHER_NAMES = {
    "gpus": "chips", "gpu_note": "topology_note", "parallel": "fsdp", "act_ckpt": "remat", "step_s": "step_time_s",
    "tokens_per_s_per_gpu": "tokens_per_s_per_chip", "tflops_per_gpu": "tflops_per_chip",
    "mem_gb_peak": "mem_gb_per_chip", "date": "date/version",
}
WHOLES = ("chips layers d_model d_ff n_heads n_kv_heads head_dim vocab experts topk seq_len global_batch micro_batch dp "
          "tp cp pp vpp ep lora_rank grad_accum gated_mlp").split()
REALS = ("params_b active_params_b step_time_s tokens_per_s_per_chip tflops_per_chip mem_gb_per_chip "
         "samples_per_s").split()
SUFFIXES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


class Wrong(Exception):
    """A row that cannot be read, or cannot be replayed: why."""


def has(text, part):
    """Whether a text holds another, case ignored."""
    return part.lower() in text.lower()


def leading_number(text):
    """The number with which a text begins; 0: none."""
    found = re.match(r"[ \t]*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text)
    return float(found.group()) if found else 0.0


def leading_whole(text):
    found = re.match(r"[ \t]*\d+", text)
    return int(found.group()) if found else 0


def number(text):
    found = re.fullmatch(r"(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)(Ki|Mi|Gi|Ti|k|K|M|G|T)?", text)
    if not found:
        raise ValueError(text)
    return float(found.group(1)) * SUFFIXES.get(found.group(2), 1)


class Row:
    """One row by the columns of pre-training; texts that are not given are "", numbers 0."""

    def __init__(self, cells, line):
        self.line, self.cells = line, {OTHER_NAMES.get(k.lower(), k.lower()): v for k, v in cells.items()}
        text = self.cells.get
        self.id, self.source, self.hardware = text("id", ""), text("source", ""), text("hardware", "")
        self.topology, self.framework, self.model = text("topology_note", ""), text("framework", ""), text("model", "")
        self.fsdp, self.remat, self.precision = text("fsdp", ""), text("remat", ""), text("precision", "")
        self.convention, self.version, self.notes = text("mfu_convention", ""), text("date/version", ""), text("notes", "")
        self.confidence, self.method, self.targets = text("confidence", ""), text("method", ""), text("targets", "")
        self.quant, self.lengths, self.attention = text("quant", ""), text("seq_note", ""), text("attention", "")
        self.memory_kind, self.result = text("mem_kind", ""), text("result", "")
        self.rounded = self.longest = 0
        self.failed = self.lengths_unknown = self.longest_unknown = False
        for name in WHOLES:
            setattr(self, name, self.whole(name))
        for name in REALS:
            setattr(self, name, self.real(name))
        self.sp = self.whole("sp") if text("sp") else -1
        self.mfu = self.real("mfu")

    def whole(self, name):
        text = self.cells.get(name) or "0"
        try:
            value = number(text)
        except ValueError:
            raise Wrong(f"{name}: \"{text}\" is not a whole number") from None
        if value != int(value):
            if name != "micro_batch":
                raise Wrong(f"{name}: \"{text}\" has a fraction")
            self.rounded = 1  # some sources write half a sequence for each device
            return int(value) + 1
        return int(value)

    def real(self, name):
        text = self.cells.get(name) or "0"
        try:
            return float(text[:-1]) / 100 if text.endswith("%") else number(text)
        except ValueError:
            raise Wrong(f"{name}: \"{text}\" is not a number") from None


def rows_of(path):
    """Each row, or (line, id, why it cannot be read)."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    for at, cells in enumerate(csv.DictReader(lines, delimiter="\t", quotechar='"'), 2):
        if None in cells or None in cells.values():
            yield Wrong(f"line {at}: this row has another number of cells than the heading"), cells
            continue
        try:
            yield Row(cells, at), cells
        except Wrong as why:
            yield Wrong(f"line {at}, column {why}"), cells


# ---- the program's data ----


class Program:
    """What the program knows: models, chips, software; and what it makes of runs."""

    def __init__(self, binary):
        self.binary = binary
        self.chips = {chip["name"]: chip for chip in self.ask("chips", "--format", "json")}
        self.models = sorted(self.ask("models", "--format", "json"), key=lambda model: model["name"].encode())
        profiles = json.loads((ROOT / "cost/profiles/default.json").read_text())
        self.stacks = profiles["stacks"]

    def ask(self, *words):
        done = subprocess.run([self.binary, *words], capture_output=True, text=True, env={**os.environ, "SHARDOPT_DATA": ""})
        if done.returncode != 0 and words[0] == "validate":
            print(done.stderr.strip(), file=sys.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else None

    @functools.lru_cache(maxsize=None)
    def chip(self, name):
        document = self.chips.get(name) or self.ask("chips", name, "--format", "json")
        return document[0] if isinstance(document, list) else document

    @functools.lru_cache(maxsize=None)
    def model(self, name):
        document = self.ask("models", name, "--format", "json") if name and not name.startswith("-") else None
        return document if isinstance(document, dict) else None

    @functools.lru_cache(maxsize=None)
    def named(self, name):
        """The model of a name or an alias, exactly."""
        for model in self.models:
            if any(folded(name) == folded(own) for own in [model["name"], *model["aliases"]]):
                return self.model(model["name"])
        return None

    def predictions(self, lines):
        """What `validate` says of runs, by id; nothing where none of them can be replayed."""
        if not lines:
            return {}
        path = HERE / ".convert.jsonl"
        path.write_text("".join(lines), encoding="utf-8")
        try:
            document = self.ask("validate", str(path), "--format", "json")
        finally:
            path.unlink()
        return {run["id"]: run for run in document["runs"] + document["skipped"]} if document else {}


def folded(name):
    return re.sub(r"[-_. ]", "", name).lower()


# ---- software ----


def framework_has(name, part):
    """Whether a framework's name holds another: case, hyphens and blanks aside."""
    squeeze = lambda text: re.sub(r"[-_ ]", "", text).lower()
    return squeeze(part) in squeeze(name)


def release_parts(text):
    found = re.match(r"\d+(?:[.-]\d+)*", text)
    return [int(part) for part in re.split(r"[.-]", found.group())] if found else []


def release_of(framework, version):
    found = re.search(r"(?<![A-Za-z0-9.])\d\d\.\d\d(?!\d)", framework)
    text = framework[found.start():] if found else version[re.search(r"\d|$", version).start():]
    return text or None


def match_holds(match, framework, version, notes, source, chip):
    release = release_of(framework, version)
    later = lambda limit: release is not None and release_parts(release) >= release_parts(limit)
    earlier = lambda limit: release is not None and release_parts(release) < release_parts(limit)
    scaleup = "torus" if chip["topology"]["kind"].startswith("torus") else "switch"
    listed = [folded(name) for name in re.split(r"[, ]+", match.get("chip", "")) if name]
    return (framework_has(framework, match.get("framework", "")) and framework_has(framework, match.get("like", "")) and
            has(notes, match.get("notes", "")) and has(source, match.get("source", "")) and
            has(version, match.get("date", "")) and not ("not_notes" in match and has(notes, match["not_notes"])) and
            ("from" not in match or later(match["from"])) and ("before" not in match or earlier(match["before"])) and
            match.get("scaleup", scaleup) == scaleup and (not listed or folded(chip["name"]) in listed))


def stack_of(stacks, *query):
    """The last entry with a match that holds; None: there is none."""
    for name in reversed(stacks):
        if any(match_holds(match, *query) for match in stacks[name].get("matches", [])):
            return name
    return None
