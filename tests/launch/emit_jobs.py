#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that --under writes, read by what takes them: sbatch and a controller of Slurm, SkyPilot, the schemas of JobSet,
LeaderWorkerSet and RayJob, Ray with as many nodes, XPK's dry run. Each has to refuse the same file with one fault.

What a job runs is compared with what the script runs on each host: bash runs both with a `torchrun` or `python` that only
notes what it is given. A package that is missing is skipped alone.
"""
import argparse
import base64
import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import shardopt

TRAINING = [("megatron", "--model 8b --chip h100 --nodes 2 --batch 1Mi --seq 8192", 2, 8, ("H100", 8)),
            ("torchtitan", "--model 8b --chip a100 --nodes 4 --batch 1Mi --seq 8192", 4, 8, ("A100-80GB", 8)),
            ("megatron", "--model 8b --chip gb200 --chips 8 --batch 1Mi --seq 8192", 2, 4, ("GB200", 4)),
            ("megatron", "--model gpt2 --chip l4 --chips 1 --batch 64Ki --seq 1024", 1, 1, ("L4", 1))]
SERVING = [("vllm", "--model 405b --chip h100 --nodes 2 --precision fp8 --require tensor=16", 2, 8, ("H100", 8)),
           ("sglang", "--model 8b --chip h100 --nodes 2", 2, 8, ("H100", 8))]
SLICES = [("--model 8b --chip v5p --slice 4x4x4 --slices 2", 2, "4x4x4", 16),
          ("--model 8b --chip v5p --slice 2x2x4", 1, "2x2x4", 4),
          ("--model 8b --chip v6e --slice 16x16", 1, "16x16", 64),
          ("--model 8b --chip v5e --slice 4x8 --batch 256Ki --seq 2048", 1, "4x8", 8)]
HERE = os.path.dirname(os.path.abspath(__file__))
STUB = '#!/bin/bash\nif [ "$1" = -c ]; then exit 1; fi\nprintf "%s\\n" "${0##*/} $*" "rank=$NODE_RANK" >>"$NOTES/$NODE_RANK"\nsleep 0.7\n'
WORDS = ["--lr", "1 0"]  # of the trainer
found, ran = [], []


def need(holds, sentence):
    if not holds:
        raise SystemExit(f"FAIL {sentence}")


def emit(program, form, case, under, folder):
    path = os.path.join(folder, f"{form}.{under or 'sh'}")
    code, _, said = shardopt.run(program, "emit", form, *case.split(), *(["--under", under] if under else []), "-q", "-o", path)
    need(code in shardopt.DONE, f"emit {form} {case} --under {under}: exit {code}: {said}")
    with open(path) as file:
        return path, file.read()


def fault(text, right, wrong):
    need(text.count(right) >= 1, f"there is no {right!r} to misspell")
    return text.replace(right, wrong, 1)


@contextlib.contextmanager
def stubs(names=("torchrun", "python", "vllm")):
    """A folder with programs that note what they are given, first in PATH, and where they note it."""
    with tempfile.TemporaryDirectory() as folder:
        notes = os.path.join(folder, "notes")
        os.mkdir(notes)
        for name in names:
            with open(os.path.join(folder, name), "w") as file:
                file.write(STUB)
            os.chmod(os.path.join(folder, name), 0o755)
        yield {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "NOTES": notes, "MODEL": "a/b"}, notes


def noted(notes, clean=True):
    said = {}
    for name in sorted(os.listdir(notes), key=int):
        with open(os.path.join(notes, name)) as file:
            said[int(name)] = sorted(file.read().splitlines())
        if clean:
            os.remove(os.path.join(notes, name))
    return said


def script_runs(script, hosts, names, ways, words):
    """What each host runs when the script is started there by hand."""
    with stubs() as (environment, notes):
        for rank in range(hosts):
            own = dict(environment, NODE_RANK=str(rank), MASTER_ADDR=names[0], HOSTS=" ".join(names), PORT="8000")
            for way in ways if rank == 0 else ways[:1]:
                subprocess.run(["bash", script, *way, *words], env=own, check=False, capture_output=True)
        return noted(notes)


# ---- Slurm ----

CONF = """ClusterName=none
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
SwitchType=switch/none
StateSaveLocation={folder}
SlurmctldPidFile={folder}/pid
SlurmctldLogFile={folder}/log
PluginDir={plugins}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
DebugFlags=gres
GresTypes=gpu
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=600
NodeName=n[1-64] NodeAddr=127.0.0.1 Gres=gpu:8 CPUs=8 State=CLOUD
PartitionName=p Nodes=ALL Default=YES
"""


@contextlib.contextmanager
def slurm(root):
    """sbatch out of Debian's packages, unpacked under `root` (slurm-client, slurm-wlm-basic-plugins, slurmctld), and a
    controller with 64 nodes that it never reaches; their GPUs it would count by asking them."""
    plugins = os.path.join(root, "usr/lib/x86_64-linux-gnu/slurm-wlm")
    with tempfile.TemporaryDirectory() as folder:
        conf = os.path.join(folder, "slurm.conf")
        with open(conf, "w") as file:
            file.write(CONF.format(host=os.uname().nodename, port=20000 + os.getpid() % 20000, folder=folder,
                                   plugins=plugins))
        environment = dict(os.environ, SLURM_CONF=conf, LD_LIBRARY_PATH=plugins)
        controller = subprocess.Popen([os.path.join(root, "usr/sbin/slurmctld-wlm"), "-D", "-v", "-f", conf], env=environment,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)

        def submit(text):
            path = os.path.join(folder, "job.sh")
            with open(path, "w") as file:
                file.write(text)
            done = subprocess.run([os.path.join(root, "usr/bin/sbatch"), "--test-only", path], env=environment,
                                  capture_output=True, text=True, timeout=60)
            with open(os.path.join(folder, "log"), errors="replace") as file:
                return done.stdout + done.stderr, file.read()

        try:
            yield submit
        finally:
            controller.kill()
            controller.wait()


def check_slurm(program, folder):
    root = os.environ.get("SLURM_ROOT", "/nowhere")
    if not os.path.exists(os.path.join(root, "usr/sbin/slurmctld-wlm")):
        return "SLURM_ROOT names no folder with Debian's slurm-client, slurm-wlm-basic-plugins and slurmctld unpacked"
    with slurm(root) as submit:
        for form, case, hosts, each, _ in TRAINING + SERVING:
            text = emit(program, form, case, "slurm", folder)[1]
            said, log = submit(text)
            need("node configuration is not available" in said, f"slurm {case}: {said}")  # read; no node has shown its GPUs
            need(f"gres_per_node:{each} " in log and f"total_gres:{hosts * each}" in log, f"slurm {case}: other GPUs")
            without = fault(text, f"#SBATCH --gpus-per-node={each}\n", "")
            said = submit(without)[0]
            names = "nodes n1 " if hosts == 1 else f"nodes n[1-{hosts}] "
            need("to start at" in said and names in said, f"slurm {case}: {said}")
            for right, wrong, refusal in (("--gpus-per-node", "--gpu-per-nodes", "unrecognized option"),
                                          ("--exclusive", "--exclusiv=all", "--exclusive"),
                                          (f"--nodes={hosts}", "--nodes=two", "not a valid node count"),
                                          (f"--nodes={hosts}", "--nodes=65", "not available")):
                need(refusal in submit(fault(text, right, wrong))[0], f"slurm takes {wrong}")


# ---- SkyPilot ----

def check_skypilot(program, folder):
    import sky

    for form, case, hosts, _, accelerators in TRAINING + SERVING:
        path, text = emit(program, form, case, "skypilot", folder)
        overrides = {"MODEL": "a/b"} if "MODEL: null" in text else None
        task = sky.Task.from_yaml(path) if not overrides else sky.Task.from_yaml_config(
            sky.utils.yaml_utils.read_yaml(path), env_overrides=overrides)
        need(task.num_nodes == hosts, f"skypilot {case}: {task.num_nodes} nodes")
        need([r.accelerators for r in task.resources] == [dict([accelerators])], f"skypilot {case}: {task.resources}")
        for right, wrong in (("num_nodes:", "num_node:"), ("accelerators:", "acelerators:"), (f"num_nodes: {hosts}", "num_nodes: two"),
                             (f"{accelerators[0]}:", f"{accelerators[0]}:x")):
            with open(path, "w") as file:
                file.write(fault(text, right, wrong))
            with contextlib.redirect_stderr(io.StringIO()):
                try:
                    sky.Task.from_yaml_config(sky.utils.yaml_utils.read_yaml(path), env_overrides=overrides)
                except Exception:  # pylint: disable=broad-except
                    continue
            need(False, f"skypilot takes {wrong}")


# ---- Kubernetes ----

def strict(node):
    """As kubectl validates: a key that the schema has not is an error."""
    if isinstance(node, list):
        return [strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: strict(value) for key, value in node.items()}
    if isinstance(kept.get("properties"), dict) and "additionalProperties" not in kept:
        kept["additionalProperties"] = False
    return kept


def faults_of(document):
    import jsonschema
    with open(os.path.join(HERE, "../data/launch/crds.json")) as file:
        crds = json.load(file)
    if document.get("kind") not in crds:
        return ["is of no kind"]
    schema = strict(crds[document["kind"]])
    schema["Pod"] = strict(crds["Pod"])
    metadata = {"properties": {"name": {"type": "string", "pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$", "maxLength": 52},
                               "labels": {"type": "object"}, "annotations": {"type": "object"}}}
    schema["properties"]["metadata"] = strict(metadata)
    return [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(document)]


def check_document(document, name):
    import copy
    need(not faults_of(document), f"{name}: {faults_of(document)[:3]}")

    def keys(node, path=()):
        if isinstance(node, dict):
            for key, value in node.items():
                yield path + (key,)
                yield from keys(value, path + (key,))
        elif isinstance(node, list):
            for i, value in enumerate(node):
                yield from keys(value, path + (i,))

    for path in keys(document):
        wrong = copy.deepcopy(document)
        place = wrong
        for step in path[:-1]:
            place = place[step]
        if path[-2:-1] == ("limits",) or "rayStartParams" in path[:-1]:
            continue  # names that are free
        place[f"{path[-1]}x"] = place.pop(path[-1])
        need(faults_of(wrong), f"{name}: a misspelt {'.'.join(map(str, path))} is taken")


def pod_runs(pod, ranks, environment_of, ways):
    """What the pod's command runs on each host."""
    command = pod["containers"][0]["command"]
    with stubs() as (environment, notes):
        for item in pod["containers"][0].get("env", []):
            environment[item["name"]] = item["value"] if item["name"] != "MODEL" else "a/b"
        for rank in range(ranks):
            subprocess.run([*command, *ways], env={**environment, **environment_of(rank)}, check=False, capture_output=True)
        time.sleep(1)  # a router in the background
        return noted(notes)


def check_kubernetes(program, folder):
    import yaml

    for form, case, hosts, each, _ in TRAINING + SERVING:
        serves = (form, case, hosts, each, _) in SERVING
        script = emit(program, form, case, None, folder)[0]
        for under in ("jobset", "lws") if serves else ("jobset", "rayjob"):
            documents = list(yaml.safe_load_all(emit(program, form, case, under, folder)[1]))
            job = documents[-1]
            check_document(job, f"{under} {case}")
            label = job["metadata"]["name"]
            if under == "rayjob":
                cluster = job["spec"]["rayClusterSpec"]
                group = cluster["workerGroupSpecs"][0]
                need(group["replicas"] == group["minReplicas"] == group["maxReplicas"] == hosts, f"{case}: {group}")
                pod = group["template"]["spec"]
                program_text = emit(program, form, case, "ray", folder)[1].split("\n", 1)[1]
                need(documents[0]["data"]["launch.py"] == program_text, f"rayjob {case}: another program than under ray")
                need(pod["containers"][0]["image"] == cluster["headGroupSpec"]["template"]["spec"]["containers"][0]["image"],
                     f"{case}: two images")
            elif under == "jobset":
                spec = job["spec"]["replicatedJobs"][0]["template"]["spec"]
                need(spec["parallelism"] == spec["completions"] == hosts, f"jobset {case}: {spec['parallelism']} hosts")
                pod = spec["template"]["spec"]
                names = [f"{label}-hosts-0-{i}.{label}" for i in range(hosts)]
                runs = pod_runs(pod, hosts, lambda rank: {"JOB_COMPLETION_INDEX": str(rank)}, [] if serves else WORDS)
                need(runs == script_runs(script, hosts, names, [[]], [] if serves else WORDS) and len(runs) == hosts,
                     f"jobset {case}: runs {runs}")
            else:
                spec = job["spec"]["leaderWorkerTemplate"]
                need(spec["size"] == hosts and job["spec"]["replicas"] == 1, f"lws {case}: {spec['size']} hosts")
                pod = spec["workerTemplate"]["spec"]
                names = [f"{label}-0.{label}"] + [f"{label}-0-{i}.{label}" for i in range(1, hosts)]
                runs = pod_runs(pod, hosts, lambda rank: {"LWS_WORKER_INDEX": str(rank), "LWS_LEADER_ADDRESS": names[0]}, [])
                ways = [["start"], ["route"]] if "route) route" in pod["containers"][0]["command"][2] else [["start"]]
                need(runs == script_runs(script, hosts, names, ways, []) and len(runs) == hosts, f"lws {case}: runs {runs}")
                service = documents[0]
                need(service["spec"]["ports"] == [{"port": 8000}] and service["metadata"]["name"] != label, "the front")
            limits = pod["containers"][0]["resources"]["limits"]
            need(limits == {"nvidia.com/gpu": each}, f"{under} {case}: {limits}")


# ---- Ray ----

def check_ray(program, folder):
    from ray.cluster_utils import Cluster

    for form, case, hosts, each, _ in [TRAINING[0], TRAINING[1], SERVING[0]]:
        words = [] if form == "vllm" else WORDS
        script = emit(program, form, case, None, folder)[0]
        path, text = emit(program, form, case, "ray", folder)
        wrongs = (('"STRICT_SPREAD"', '"STRICT_SPRED"'), ("num_gpus=", "num_gpu=")) if case == TRAINING[0][1] else ()
        with stubs(("torchrun", "vllm")) as (environment, notes):
            os.environ.update(PATH=environment["PATH"], NOTES=notes, MODEL="a/b", PORT="8000")  # what Ray's workers inherit
            cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
            for _ in range(hosts):
                cluster.add_node(num_cpus=1, num_gpus=each)

            def submit(changed):
                with open(path, "w") as file:
                    file.write(changed)
                return subprocess.run([sys.executable, path, *words], env=dict(os.environ, RAY_ADDRESS=cluster.address),
                                      capture_output=True, text=True, timeout=120)

            try:
                for right, wrong in wrongs:
                    need(submit(fault(text, right, wrong)).returncode != 0, f"ray takes {wrong}")
                done, address = submit(text), cluster.head_node.node_ip_address
                runs = noted(notes)
            finally:
                cluster.shutdown()
        need(done.returncode == 0, f"ray {case}: {done.stderr[-2000:]}")
        need(runs == script_runs(script, hosts, [address] * hosts, [[]], words) and len(runs) == hosts,
             f"ray {case}: runs {runs}")


# ---- XPK ----

def check_xpk(program, folder):
    import yaml
    from xpk.core.system_characteristics import get_system_characteristics_by_device_type as known

    xpk = os.path.join(os.path.dirname(sys.executable), "xpk")
    for case, slices, topology, vms in SLICES:
        path, text = emit(program, "maxtext", case, "xpk", folder)
        plan = emit(program, "maxtext", case, None, folder)[1]
        manifest = os.path.join(folder, "manifest.yaml")

        def submit(changed):
            with open(path, "w") as file:
                file.write(changed)
            if os.path.exists(manifest):
                os.remove(manifest)
            with tempfile.TemporaryDirectory() as stub:
                with open(os.path.join(stub, "xpk"), "w") as file:
                    file.write(f'#!/bin/bash\nexec {xpk} "$@" --dry-run --skip-validation --project p --zone us-east5-a '
                               f"--output-manifest-file {manifest}\n")
                os.chmod(os.path.join(stub, "xpk"), 0o755)
                own = dict(os.environ, PATH=f"{stub}:{os.environ['PATH']}", CLUSTER="c", IMAGE="i")
                return subprocess.run(["bash", path, "run_name=a b", "steps=3"], env=own, capture_output=True, text=True)

        done = submit(text)
        need(done.returncode == 0 and os.path.exists(manifest), f"xpk {case}: {done.stdout[-500:]}{done.stderr[-500:]}")
        with open(manifest) as file:
            job = yaml.safe_load(file)
        hosts = job["spec"]["replicatedJobs"][0]
        pod = hosts["template"]["spec"]["template"]["spec"]
        need(hosts["replicas"] == slices, f"xpk {case}: {hosts['replicas']} slices")
        need(hosts["template"]["spec"]["completions"] == vms, f"xpk {case}: {hosts['template']['spec']['completions']} VMs")
        need(pod["nodeSelector"]["cloud.google.com/gke-tpu-topology"] == topology, f"xpk {case}: {pod['nodeSelector']}")
        command = pod["containers"][0]["command"][2]
        line = next(line for line in command.splitlines() if "base64" in line)
        file, words = re.search(r"echo (\S+) \| base64 -d >/tmp/plan.yml && (.*)\) & PID", line).groups()
        need(base64.b64decode(file).decode() == plan, f"xpk {case}: another file arrives")
        need(words == "python3 -m maxtext.trainers.pre_train.train /tmp/plan.yml 'run_name=a b' 'steps=3'", words)
        kind = re.search(r"--tpu-type (\S+)", text)[1]
        need(known(kind)[1] == 0 and known(f"{kind}x")[1] != 0, f"xpk knows no {kind}")
        if case != SLICES[0][0]:
            continue
        for right, wrong in (("--tpu-type ", "--tpu-tipe "), (f"--tpu-type {kind}", f"--tpu-type {kind}x"),
                             ("--num-slices ", "--num-slicez "), ("--workload s", "--workload S")):
            need(submit(fault(text, f" {right}", f" {wrong}")).returncode != 0, f"xpk takes {wrong}")


CHECKS = [("slurm", None, check_slurm), ("skypilot", "sky", check_skypilot), ("kubernetes", "jsonschema", check_kubernetes),
          ("ray", "ray", check_ray), ("xpk", "xpk", check_xpk)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shardopt", required=True)
    parser.add_argument("--only", help="slurm, skypilot, kubernetes, ray or xpk")
    args = parser.parse_args()
    program, checked = os.path.abspath(args.shardopt), 0
    for name, package, check in CHECKS:
        if args.only not in (None, name):
            continue
        missing = package and not importlib.util.find_spec(package) and f"{package} is not installed"
        with tempfile.TemporaryDirectory() as folder:
            skipped = missing or check(program, folder)
        print(f"{name}: skipped, {skipped}" if skipped else f"{name}: accepted, and faults are refused", flush=True)
        checked += not skipped
    return 0 if checked else shardopt.SKIPPED


if __name__ == "__main__":
    sys.exit(main())
