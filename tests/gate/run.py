#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate on the project's own plans, and that it closes: run.py SHARDOPT.

The committed baseline.json is planned again. Then the data folder is copied and made worse in one place at a time, which
has to be caught and named in every form. XML and YAML are read by Python's own parsers (YAML where one is installed)."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BASELINE = os.path.join(HERE, "baseline.json")
FOLDERS = ("models/zoo", "mesh/catalog", "cost/profiles", "cost/optimizers", "cost/measured/data")
failures = 0


def expect(name, holds, *shown):
    global failures
    print("ok" if holds else "FAIL", name)
    if not holds:
        failures += 1
        print(*shown, sep="\n")


def check(*words, data=None, actions=False):
    environment = {k: v for k, v in os.environ.items() if k not in ("SHARDOPT_DATA", "GITHUB_ACTIONS")}
    if data:
        environment["SHARDOPT_DATA"] = data
    if actions:
        environment["GITHUB_ACTIONS"] = "true"
    return subprocess.run([sys.argv[1], "check", *words], env=environment, capture_output=True, text=True)


def copy_data(to):
    for folder in FOLDERS:
        shutil.copytree(os.path.join(ROOT, folder), os.path.join(to, folder))


def scale(path, key, factor):
    """One figure of a chip, times a factor; its text stays as it was around it."""
    with open(path) as file:
        text = file.read()
    pattern = re.compile(r'("%s"\s*:\s*\{\s*"value"\s*:\s*)([-+.0-9eE]+)' % key)
    text, count = pattern.subn(lambda m: m.group(1) + repr(float(m.group(2)) * factor), text)
    assert count == 1, (path, key, count)
    with open(path, "w") as file:
        file.write(text)


def some_of_baseline(folder, chip, count):
    """The first plans of a chip, in a file of their own."""
    with open(BASELINE) as file:
        entries = json.load(file)
    entries = [e for e in entries if e["mesh"]["chip"] == chip][:count]
    assert len(entries) == count
    path = os.path.join(folder, chip + ".json")
    with open(path, "w") as file:
        json.dump(entries, file)
    return path


def project_gate(folder):
    with open(BASELINE) as file:
        entries = json.load(file)
    expect("30 or more points", len(entries) >= 30)
    models = {e["request"]["model"] for e in entries}
    chips = {e["mesh"]["chip"] for e in entries}
    expect("over models and chips", len(models) >= 10 and len(chips) >= 10, models, chips)
    markdown, junit = os.path.join(folder, "all.md"), os.path.join(folder, "all.xml")
    ended = check("--baseline", BASELINE, "--markdown", markdown, "--junit", junit)
    expect("no plan of the project is worse than its baseline", ended.returncode == 0, ended.stdout, ended.stderr)
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    expect("JUnit has each", int(suite.get("tests")) == len(entries) == len(suite.findall("testcase")))
    names = [case.get("name") for case in suite.findall("testcase")]
    expect("under a name of its own", len(set(names)) == len(names), names)
    with open(markdown) as file:
        text = file.read()
    rows = [line for line in text.splitlines() if line.startswith("| same")]
    expect("Markdown has each", len(rows) == len(entries) and all(row.count(" | ") == 5 for row in rows), text)


def worse_link(folder):
    """Links of v5e a fifth slower: FSDP waits longer for its weights, and the catalog's file is named."""
    data = os.path.join(folder, "link")
    copy_data(data)
    scale(os.path.join(data, "mesh/catalog/tpu-v5e.json"), "link_bytes_per_second", 0.8)
    baseline = some_of_baseline(folder, "tpu-v5e", 2)
    before = open(baseline).read()
    cause = "mesh/catalog/tpu-v5e.json changed (links of x, y 45 GB/s -> 36 GB/s, -20.0%)"
    markdown, junit = os.path.join(folder, "link.md"), os.path.join(folder, "link.xml")
    ended = check("--baseline", baseline, "--markdown", markdown, "--junit", junit, data=data, actions=True)
    expect("slower links are caught", ended.returncode == 1, ended.stdout, ended.stderr)
    flat = " ".join(ended.stdout.split())
    expect("text names file, figure and term", cause in flat and "in the step: fsdp +" in flat, ended.stdout)
    annotations = [line for line in ended.stderr.splitlines() if line.startswith("::error file=")]
    expect("an annotation for each", len(annotations) == ended.stdout.count("  worse: ") > 0, ended.stderr)
    expect("annotations are escaped", all(", 64Ki" not in a.split("::")[1] and "-20.0%25" in a for a in annotations))
    with open(markdown) as file:
        text = file.read()
    expect("Markdown names it", cause.replace(">", "&gt;") in text and "| worse | " in text, text)
    cases = ElementTree.parse(junit).getroot().iter("failure")
    messages = [case.text for case in cases]
    expect("JUnit names it", len(messages) == len(annotations) and all(cause in m for m in messages), messages)
    ended = check("--baseline", baseline, "--format", "json", data=data)
    answer = json.loads(ended.stdout)
    worse = [e for e in answer["entries"] if e["verdict"] == "worse"]
    expect("JSON names it", ended.returncode == 1 and not answer["passed"] and worse
           and all([c["kind"] for c in e["causes"]] == ["chip"] for e in worse), ended.stdout)
    for e in worse:
        change = e["now"]["step_seconds"] / e["was"]["step_seconds"] - 1
        terms = sum(t["now"] - t["was"] for t in e["terms_seconds"].values())
        expect("the terms add up to what moved", abs(change - e["change"]["step"]) < 1e-12
               and abs(terms - (e["now"]["step_seconds"] - e["was"]["step_seconds"])) < 1e-9 * e["now"]["step_seconds"], e)
    ended = check("--baseline", baseline, "--tolerance", "50%", data=data)
    expect("a tolerance lets it pass", ended.returncode == 0, ended.stdout)
    expect("a check leaves the baseline alone", open(baseline).read() == before)
    ended = check("--baseline", baseline, "--update", data=data)
    expect("--update takes it", ended.returncode == 0 and "worse" in ended.stdout, ended.stdout, ended.stderr)
    expect("and then it holds, to the last bit",
           check("--baseline", baseline, "--tolerance", "0", data=data).returncode == 0)
    ended = check("--baseline", baseline)
    expect("with the right links the plans are better", ended.returncode == 0 and "better" in ended.stdout, ended.stdout)


def less_memory(folder):
    """With an eighth of its HBM an H100 holds none of the plans, or slower ones."""
    data = os.path.join(folder, "memory")
    copy_data(data)
    scale(os.path.join(data, "mesh/catalog/h100.json"), "hbm_bytes", 0.125)
    scale(os.path.join(data, "mesh/catalog/h100.json"), "hbm_usable_bytes", 0.125)
    baseline = some_of_baseline(folder, "h100", 1)
    ended = check("--baseline", baseline, "--format", "json", data=data)
    entry = json.loads(ended.stdout)["entries"][0]
    expect("less HBM is caught", ended.returncode == 1 and entry["verdict"] == "worse", ended.stdout)
    expect("as a plan that is lost, or slower", entry["reasons"], entry)
    expect("by the chip", [c["file"] for c in entry["causes"]] == ["mesh/catalog/h100.json"], entry)
    expect("with its figure", "usable HBM 78.1 GB -> 9.77 GB, -87.5%" in entry["causes"][0]["text"], entry)


def other_files(folder):
    """A profile's figure of one chip, a model's width: each is named for the plans that rest on it, and for no others."""
    data = os.path.join(folder, "files")
    copy_data(data)
    profiles = os.path.join(data, "cost/profiles/default.json")
    with open(profiles) as file:
        text = json.load(file)
    text["profiles"]["tpu-v5e"]["matrix_efficiency"]["value"] *= 0.9
    with open(profiles, "w") as file:
        json.dump(text, file)
    model = os.path.join(data, "models/zoo/llama3.1-8b.json")
    with open(model) as file:
        text = json.load(file)
    text["intermediate_size"] = 16384
    text["shardopt"].pop("parameters", None)
    with open(model, "w") as file:
        json.dump(text, file)
    with open(BASELINE) as file:
        entries = json.load(file)
    chosen = [next(e for e in entries if (e["model"]["name"], e["mesh"]["chip"]) == of) for of in
              (("llama3.1-8b", "tpu-v5e"), ("gemma2-9b", "tpu-v5e"), ("llama3.1-8b", "a100-80g"), ("gpt2", "a100-40g"))]
    baseline = os.path.join(folder, "files.json")
    with open(baseline, "w") as file:
        json.dump(chosen, file)
    ended = check("--baseline", baseline, "--format", "json", data=data)
    answer = json.loads(ended.stdout)["entries"]
    causes = [sorted(c["kind"] for c in e["causes"]) for e in answer]
    expect("each is named where it matters", causes == [["model", "profile"], ["profile"], ["model"], []], ended.stdout,
           ended.stderr)
    texts = " ".join(c["text"] for c in answer[2]["causes"])
    expect("a model with its sizes", re.search(r"models/zoo/llama3.1-8b.json changed .parameters 8.03 G -> 8.84 G", texts),
           texts)
    expect("where nothing changed nothing moved", [e["verdict"] for e in answer] == ["worse", "worse", "worse", "same"],
           answer)


def worse_program(folder):
    """A baseline that was a tenth faster under the same data: the program's own doing."""
    baseline = some_of_baseline(folder, "a100-80g", 1)
    with open(baseline) as file:
        entries = json.load(file)
    plan = entries[0]["plans"][0]
    plan["step"]["seconds"] *= 0.9
    plan["ranked_seconds"] *= 0.9
    with open(baseline, "w") as file:
        json.dump(entries[0], file)
    ended = check("--baseline", baseline)
    expect("a slower program is caught", ended.returncode == 1 and "the program changed" in ended.stdout, ended.stdout)
    ended = check("--baseline", baseline, "--update", "--quiet")
    with open(baseline) as file:
        expect("a single report stays single", ended.returncode == 0 and json.load(file)["format_version"] == 1)


def launched(folder):
    """Tensor parallelism over all of a v5e slice moves activations that FSDP need not."""
    words = ["--model", "8b", "--chip", "v5e", "--slice", "4x4", "--batch", "64Ki", "--seq", "2048"]
    ended = check(*words, "--plan", "fsdp=4 tensor=4", "--within", "5%", actions=True)
    expect("a plan that is launched, and slow", ended.returncode == 1 and "FAILED" in ended.stdout
           and "tensor +" in ended.stdout and ended.stderr.startswith("::error title="), ended.stdout, ended.stderr)
    ended = check(*words, "--plan", "fsdp=4 tensor=4", "--within", "50%")
    expect("within reach", ended.returncode == 0 and "passed" in ended.stdout, ended.stdout)
    ended = check(*words, "--plan", "data=16")
    expect("one that does not fit", ended.returncode == 1 and "does not fit" in ended.stdout, ended.stdout)


def run_action(action, folder):
    """The action's own step, as a runner would run it: inputs as variables, summary and output as files."""
    step = [s for s in action["runs"]["steps"] if s.get("id") == "check"][0]
    data = os.path.join(folder, "link")
    for which, code in ((None, 0), (data, 1)):
        summary, output = os.path.join(folder, "summary"), os.path.join(folder, "output")
        for path in (summary, output):
            open(path, "w").close()
        environment = {k: v for k, v in os.environ.items() if k != "SHARDOPT_DATA"}
        environment.update({name: "" for name in step["env"]})
        environment.update(BASELINE=some_of_baseline(folder, "tpu-v5e", 1), TOLERANCE=action["inputs"]["tolerance"]["default"],
                           PROGRAM=os.path.abspath(sys.argv[1]), GITHUB_STEP_SUMMARY=summary, GITHUB_OUTPUT=output,
                           GITHUB_ACTIONS="true")
        if which:
            environment["SHARDOPT_DATA"] = which
        ended = subprocess.run(["bash", "-c", step["run"]], env=environment, cwd=folder, capture_output=True, text=True)
        expect("action.yml ends with %d" % code, ended.returncode == code, ended.stdout, ended.stderr)
        expect("with a summary and an output", "### Plan quality: " + ("failed" if code else "passed")
               in open(summary).read() and open(output).read() == "passed=%s\n" % ("false" if code else "true"))
        expect("and annotations", ended.stderr.count("::error ") == code, ended.stderr)


def yaml_files(folder):
    try:
        import yaml
    except ImportError:
        print("skipped: no YAML parser for action.yml and docs/workflow.yml")
        return
    with open(os.path.join(ROOT, "action.yml")) as file:
        action = yaml.safe_load(file)
    expect("action.yml is a composite action", action["runs"]["using"] == "composite"
           and all(step["shell"] == "bash" for step in action["runs"]["steps"] if "run" in step))
    run_action(action, folder)
    with open(os.path.join(ROOT, "docs/workflow.yml")) as file:
        workflow = yaml.safe_load(file)
    used = [step for job in workflow["jobs"].values() for step in job["steps"] if "shardopt" in step.get("uses", "")]
    expect("docs/workflow.yml uses it with inputs that it has",
           used and all(set(step.get("with", {})) <= set(action["inputs"]) for step in used), used)


def main():
    with tempfile.TemporaryDirectory(prefix="shardopt-gate-") as folder:
        project_gate(folder)
        worse_link(folder)
        less_memory(folder)
        other_files(folder)
        worse_program(folder)
        launched(folder)
        yaml_files(folder)
    sys.exit(failures > 0)


main()
