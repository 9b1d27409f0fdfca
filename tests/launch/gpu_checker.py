# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checkers of packages share: jobs come on stdin as JSON, verdicts go to stdout's last line."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile


class Refused(Exception):
    """The package, or the comparison with the plan, says no."""


def need(holds, sentence):
    if not holds:
        raise Refused(sentence)


def command_of(script):
    """The command that a script ends in, as its torchrun gets it: the shell itself reads every quote. Words behind
    torchrun, and its PYTHONPATH."""
    with tempfile.TemporaryDirectory() as folder:
        fake, out = os.path.join(folder, "torchrun"), os.path.join(folder, "out")
        with open(fake, "w") as file:
            file.write('#!/usr/bin/env bash\nprintf "%s\\0" "$PYTHONPATH" "$@" > "$CAPTURE"\n')
        os.chmod(fake, 0o755)
        environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", CAPTURE=out, MASTER_ADDR="localhost",
                           MODULE="torchtitan.models.llama3.config_registry", CONFIG="llama3_debugmodel")
        done = subprocess.run(["bash", script], env=environment, capture_output=True, text=True)
        need(done.returncode == 0, f"bash: {done.stderr.strip()}")
        with open(out) as file:
            words = file.read().split("\0")[:-1]
    return words[1:], words[0]


def world_of(words):
    """nproc-per-node x nnodes."""
    value = dict(zip(words, words[1:]))
    return int(value["--nproc-per-node"]) * int(value["--nnodes"])


def start_ranks(world):
    """A process group of so many ranks of which this is rank 0 and none of the others exists."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if dist.is_initialized():
        dist.destroy_process_group()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=world)


def on_host_domain(plan, roles):
    """Of a group of roles, how many members share an NVLink domain by the plan's placement."""
    members = 1
    for part in plan["placement"]:
        if part["role"] in roles and part["axis"] in ("nvlink", "xgmi"):
            members *= part["factor"]
    return members


def domain_size(plan):
    size = 1
    for axis in plan["machine"]["axes"]:
        if axis["name"] in ("nvlink", "xgmi"):
            size *= axis["size"]
    return size


def same_domain(plan, ranks, roles, what):
    """The package's group of rank 0 has as many ranks in rank 0's domain as the plan has there."""
    found = sum(1 for rank in ranks if rank < domain_size(plan))
    need(found == on_host_domain(plan, roles),
         f"{what}: {found} ranks of a group in a domain, the plan has {on_host_domain(plan, roles)}")


def main(package, check):
    """`package()` imports and returns name and version; `check(job)` returns a sentence or raises."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            name = package()
    except ImportError as error:
        print(f"not installed ({error})")
        sys.exit(77)
    verdicts = []
    for job in json.load(sys.stdin):
        try:
            with contextlib.redirect_stdout(sys.stderr):
                said, accepted = check(job), True
        except (Exception, SystemExit) as error:
            said, accepted = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200] if str(error).strip() else ''}", False
        verdicts.append({"name": job["name"], "accepted": accepted, "said": said})
    print(json.dumps({"package": name, "verdicts": verdicts}))
