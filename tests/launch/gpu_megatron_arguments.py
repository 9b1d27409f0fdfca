# SPDX-License-Identifier: GPL-3.0-or-later
"""Megatron-LM's own command line on scripts that shardopt wrote: its parse_args() and validate_args(), which no wheel has.

    python tests/launch/gpu_megatron_arguments.py FOLDER SCRIPT...     FOLDER: a checkout of NVIDIA/Megatron-LM

A GPU is pretended to be there, and Transformer Engine, whose versions are asked for and nothing else of it. Says how many are taken, and why each other is not; exit 1 if one is not."""
import os
import sys
import tempfile
import types

from gpu_checker import command_of, world_of

ENGINE = "2.14.0"  # of Transformer Engine, as today's containers have it


def pretend(folder):
    import packaging.version
    import torch
    import typing
    import typing_extensions

    typing.override = typing_extensions.override  # of Python 3.12
    sys.path.insert(0, folder)
    torch.cuda.get_device_capability = lambda *_: (10, 0)
    torch.cuda.device_count = lambda: 8
    torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(major=10, minor=0, total_memory=180 << 30)
    torch.cuda.current_device = lambda: 0
    import megatron.core.utils as utils

    utils.get_te_version = lambda: packaging.version.Version(ENGINE)
    utils.is_te_min_version = lambda version, *_, **__: packaging.version.Version(version) <= utils.get_te_version()


def take(script, parse_args, validate_args):
    """In a process of its own, since what is parsed stays."""
    words, _ = command_of(script)
    begin = next(i for i, word in enumerate(words) if word.endswith("pretrain_gpt.py"))
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE=str(world_of(words)), CUDA_DEVICE_MAX_CONNECTIONS="1")
    sys.argv = words[begin:]
    validate_args(parse_args())


def main():
    scripts = sys.argv[2:]
    pretend(sys.argv[1])
    from megatron.training.arguments import parse_args, validate_args

    refused = 0
    for script in scripts:
        with tempfile.TemporaryFile("w+") as said:
            child = os.fork()
            if child == 0:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                try:
                    take(script, parse_args, validate_args)
                    os._exit(0)
                except BaseException as error:  # argparse exits
                    print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
                    os._exit(1)
            if os.waitpid(child, 0)[1] != 0:
                refused += 1
                said.seek(0)
                lines = said.read().strip().splitlines() or ["no words"]
                print(f"{script}: {' | '.join(lines[-2:])}")
    print(f"{len(scripts) - refused} of {len(scripts)} scripts are taken")
    return refused > 0


if __name__ == "__main__":
    sys.exit(main())
