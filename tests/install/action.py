#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action and the hook in a fresh repository, from docs/gate.md and docs/workflow.yml alone: action.py SHARDOPT. Exit 77
without PyYAML or git.

The workflow and the hook's settings are cut out of the page. Their steps run as GitHub and pre-commit would run them: the
expressions of action.yml are put in, each step is a script of bash, and its files and variables are those of a runner. The
release is a folder here that curl fetches from; a stand-in for gh keeps what would be the comment. What this does not see
is what only GitHub does: which expressions it allows, and where it shows annotations."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

try:
    import yaml
except ImportError:
    print("SKIPPED: there is no PyYAML")
    sys.exit(77)
if not shutil.which("git") or not shutil.which("curl"):
    print("SKIPPED: there is no git or no curl")
    sys.exit(77)

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
failures = 0


def expect(name, holds, *shown):
    global failures
    print("ok" if holds else "FAIL", name)
    if not holds:
        failures += 1
        print(*shown, sep="\n")


def of_page(mark):
    """The YAML between <!-- MARK --> and <!-- /MARK --> of the page."""
    text = (SOURCE / "docs/gate.md").read_text(encoding="utf-8")
    return yaml.safe_load(re.search(rf"<!-- {mark} -->\n```yaml\n(.*?)```\n<!-- /{mark} -->", text, re.S).group(1))


def repository(folder):
    """A fresh one, with a launch file of each kind: TP 8 where 4 is better, twice; and one that is no configuration."""
    runs = folder / "runs"
    runs.mkdir(parents=True)
    shutil.copy(SOURCE / "tests/data/import/torchtitan_70b.toml", runs / "slow.toml")
    shutil.copy(SOURCE / "tests/data/import/megatron_70b.sh", runs / "slow.sh")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "runs"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def release(folder, program, version):
    """What the tag's workflow publishes: the program with its data, and the sums."""
    place = folder / f"v{version}"
    place.mkdir(parents=True)
    name = f"shardopt-{version}-linux-{os.uname().machine}"
    archive = place / f"{name}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(program, f"{name}/bin/shardopt")
        for data in ("models/zoo", "mesh/catalog", "cost/profiles", "cost/optimizers", "cost/measured/data"):
            tar.add(SOURCE / data, f"{name}/share/shardopt/{data}")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    (place / "SHA256SUMS").write_text(f"{digest}  {archive.name}\n")


class Runner:
    """A machine of GitHub's, as far as the action sees it."""

    def __init__(self, folder, releases):
        self.folder, self.temp = folder, folder.parent / "runner"
        self.temp.mkdir()
        gh = self.temp / "bin/gh"
        gh.parent.mkdir()
        gh.write_text(f'#!/bin/sh\necho "$@" >{self.temp}/gh-words\ncp "$(echo "$@" | sed "s/.* //")" {self.temp}/comment\n')
        gh.chmod(0o755)
        self.contexts = {"github.action_ref": "v0.1.0", "github.action_repository": "OWNER/shardopt", "github.token": "t",
                         "github.event.pull_request.number": "7"}
        self.releases = f"file://{releases}"

    def value(self, text, inputs):
        names = {**self.contexts, **{f"inputs.{name}": value for name, value in inputs.items()}}
        text = str(text).lower() if isinstance(text, bool) else str(text)  # as YAML's own spelling
        return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: names[found.group(1)], text)

    def run(self, given):
        """Both steps of the action; their exit code, what they said, the summary and the outputs."""
        action = yaml.safe_load((SOURCE / "action.yml").read_text(encoding="utf-8"))
        inputs = {name: self.value(given.get(name, row["default"]), {}) for name, row in action["inputs"].items()}
        unknown = set(given) - set(action["inputs"])
        assert not unknown, f"the page gives what the action does not take: {unknown}"
        files = {name: self.temp / name.lower() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        for path in files.values():
            path.write_text("")
        said, code = "", 0
        for step in action["runs"]["steps"]:
            condition = step.get("if", "")
            if "inputs.program == ''" in condition and inputs["program"]:
                continue
            environment = {k: v for k, v in os.environ.items() if k not in ("SHARDOPT_DATA", "SHARDOPT")}
            environment.update({k: self.value(v, inputs) for k, v in step.get("env", {}).items()})
            environment.update({k: str(v) for k, v in files.items()}, RUNNER_TEMP=str(self.temp), GITHUB_ACTIONS="true",
                               GITHUB_ACTION_PATH=str(SOURCE), GITHUB_REPOSITORY="YOU/YOURS",
                               PATH=f"{self.temp}/bin:{os.environ['PATH']}")
            if "RELEASES" in environment:
                assert environment["RELEASES"] == "https://github.com/OWNER/shardopt/releases/download", environment["RELEASES"]
                environment["RELEASES"] = self.releases
            where = self.folder / self.value(step.get("working-directory", "."), inputs)
            ended = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=where,
                                   env=environment, capture_output=True, text=True, timeout=300)
            said += ended.stdout + ended.stderr
            code = ended.returncode
            if code:
                break
        return code, said, files["GITHUB_STEP_SUMMARY"].read_text(), files["GITHUB_OUTPUT"].read_text()


def annotations(said):
    return [dict(zip(("file", "line"), found)) for found in re.findall(r"^::error file=([^,]*)(?:,line=(\d+))?,", said, re.M)]


def line_of(path, number):
    return path.read_text(encoding="utf-8").splitlines()[int(number) - 1]


def try_action(folder, program):
    repository(folder / "fresh")
    release(folder / "releases", program, "0.1.0")
    runner = Runner(folder / "fresh", folder / "releases")
    step = of_page("workflow")["jobs"]["plans"]["steps"][1]
    expect("the page uses the action by a tag", step["uses"].endswith("/shardopt@v0.1.0"))
    code, said, summary, output = runner.run(step["with"])
    expect("slow files fail", code == 1 and "passed=false" in output, said)
    expect("the release's program is taken", "building shardopt" not in said and "shardopt 0.1.0" in said, said)
    marks = {mark["file"]: mark["line"] for mark in annotations(said)}
    expect("each is annotated", set(marks) == {"runs/slow.toml", "runs/slow.sh"}, said)
    expect("at the key to change", "tensor_parallel_degree" in line_of(folder / "fresh/runs/slow.toml", marks["runs/slow.toml"])
           and "parallel-size" in line_of(folder / "fresh/runs/slow.sh", marks["runs/slow.sh"] or 1), marks)
    expect("the summary has both", summary.count("## `runs/slow.") == 2 and "slower" in summary, summary)
    expect("the comment is the summary", (runner.temp / "comment").read_text() == summary
           and "comment 7 --repo YOU/YOURS" in (runner.temp / "gh-words").read_text())

    # The file is mended as the answer says; what cannot be read is an annotation at its line.
    (folder / "fresh/runs/slow.sh").unlink()
    best = subprocess.run([program, "emit", "torchtitan", "--chip", "h100", "--nodes", "64", "--model", "70b", "--sequences", "512",
                           "--seq", "8192", "-q", "-o", folder / "fresh/runs/slow.toml"], capture_output=True, text=True)
    expect("the best plan as a file", best.returncode == 0, best.stderr)
    code, said, summary, output = runner.run(step["with"])
    expect("what was emitted passes", code == 0 and "passed=true" in output and not annotations(said), said)
    (folder / "fresh/runs/broken.toml").write_text(
        '[model]\nname = "llama3"\nflavor = "70B"\n[parallelism]\ntensor_parallel_degree = "four"\n')
    code, said, summary, output = runner.run(step["with"])
    expect("a file that cannot be read fails, and the others are still checked", code == 2 and summary.count("## `") == 2, said)
    expect("at its line", {"file": "runs/broken.toml", "line": "5"} in annotations(said), said)
    code, said, summary, output = runner.run({**step["with"], "configs": "nothing/*.yml"})
    expect("no file is a fault", code == 2 and "no launch files" in said, said)

    # A release that is not what its sums say is refused.
    archive = next((folder / "releases/v0.1.0").glob("*.tar.gz"))
    archive.write_bytes(archive.read_bytes() + b"\0")
    shutil.rmtree(runner.temp / "shardopt")
    tampered = subprocess.run([SOURCE / "packaging/get_release.sh", "v0.1.0", runner.temp / "shardopt"], capture_output=True,
                              text=True, env={**os.environ, "RELEASES": runner.releases})
    expect("a release that was tampered with is refused", tampered.returncode == 1 and not (runner.temp / "shardopt").exists(),
           tampered.stderr)


def try_workflow(folder, program):
    """docs/workflow.yml: a baseline made as its comment says, and a plan that is launched; each passing and failing. What is
    asked is made smaller, so that it takes a moment."""
    jobs = yaml.safe_load((SOURCE / "docs/workflow.yml").read_text(encoding="utf-8"))["jobs"]
    baseline, launched = (next(s["with"] for s in jobs[job]["steps"] if "/shardopt@" in s["uses"]) for job in ("baseline", "launched"))
    repository(folder / "fresh")
    runner = Runner(folder / "fresh", folder / "releases")
    for words in (["sweep", "--model", "8b", "--chip", "v5e", "--slice", "4x4", "--batch", "128Ki", "--format", "json", "-o",
                   baseline["baseline"]], ["check", "--baseline", baseline["baseline"], "--update"]):
        made = subprocess.run([program, *words], cwd=folder / "fresh", capture_output=True, text=True)
        expect(f"the baseline: {words[0]}", made.returncode == 0, made.stderr)
    code, said, summary, output = runner.run({**baseline, "program": program})
    expect("a baseline that holds passes", code == 0 and "passed=true" in output and summary, said)
    expect("JUnit's XML is where the next step takes it", (folder / "fresh" / baseline["junit"]).exists(), said)
    asked = launched["options"].replace("--nodes 16", "--nodes 4").replace("--batch 2Mi", "--batch 512Ki")
    expect("the page's plan is of the page's machine", asked != launched["options"], launched["options"])
    for plan, within, passes in (("fsdp=4 tensor=8", "400%", True), ("fsdp=4 tensor=8", "1%", False)):
        given = {**launched, "options": asked, "plan": plan, "within": within, "program": program, "comment": "true"}
        (runner.temp / "comment").unlink(missing_ok=True)
        code, said, summary, output = runner.run(given)
        expect(f"{plan} within {within}: exit code", code == (0 if passes else 1), said)
        expect(f"{plan} within {within}: output", f"passed={str(passes).lower()}" in output, output, said)
        expect(f"{plan} within {within}: summary", "fsdp" in summary, summary, said)
        expect(f"{plan} within {within}: comment", (runner.temp / "comment").exists(), said)


def try_hook(folder, program):
    """As pre-commit runs it: entry, args, then the files that match."""
    settings = of_page("pre-commit")["repos"][0]["hooks"][0]
    hook = next(h for h in yaml.safe_load((SOURCE / ".pre-commit-hooks.yaml").read_text()) if h["id"] == settings["id"])
    repository(folder / "hooked")
    (folder / "path").mkdir()
    os.symlink(os.path.abspath(program), folder / "path/shardopt")
    files = subprocess.run(["git", "ls-files"], cwd=folder / "hooked", capture_output=True, text=True, check=True).stdout.split()
    files = [name for name in files if re.search(settings["files"], name)]
    environment = {**{k: v for k, v in os.environ.items() if k != "GITHUB_ACTIONS"}, "PATH": f"{folder}/path:{os.environ['PATH']}"}
    ended = subprocess.run([SOURCE / hook["entry"], *settings["args"], *files], cwd=folder / "hooked", env=environment,
                           capture_output=True, text=True)
    expect("the hook fails at slow files and names them", ended.returncode == 1 and all(f"{name}: FAILED" in ended.stdout for name in files),
           ended.stdout, ended.stderr)
    ended = subprocess.run([SOURCE / hook["entry"], *settings["args"], "--within", "50%", *files], cwd=folder / "hooked",
                           env=environment, capture_output=True, text=True)
    expect("options are options of check", ended.returncode in (0, 2), ended.stdout, ended.stderr)


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        try_action(pathlib.Path(folder, "action"), os.path.abspath(program))
        try_workflow(pathlib.Path(folder, "workflow"), os.path.abspath(program))
        try_hook(pathlib.Path(folder, "hook"), os.path.abspath(program))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
