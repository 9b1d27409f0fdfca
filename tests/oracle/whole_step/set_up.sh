#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the virtual environments with which whole steps are compiled (4.5 GB, some minutes).
# usage: set_up.sh FOLDER [maxtext | torchtitan]...
# FOLDER/maxtext/bin/python has MaxText and libtpu, and asks for Python 3.12; FOLDER/torchtitan/bin/python has torchtitan.
set -euo pipefail
folder=${1:?give the folder for the environments}
shift
[ $# -gt 0 ] || set -- maxtext torchtitan
mkdir -p "$folder"

maxtext() {
    python3.12 -m venv "$folder/maxtext"
    "$folder/maxtext/bin/pip" install -q maxtext==0.2.5 'jax[tpu]==0.12.0.1' libtpu==0.0.50.1 tokamax==0.0.12 flax optax \
        orbax-checkpoint absl-py omegaconf pydantic aqtp qwix jaxtyping psutil tabulate tensorboardX chex etils \
        sentencepiece tiktoken grain drjax pathwaysutils cloudpickle transformers datasets jinja2 pillow sympy
}

torchtitan() {
    python3.11 -m venv "$folder/torchtitan"
    "$folder/torchtitan/bin/pip" install -q torch==2.13.0 # first, so that torchtitan takes no other
    "$folder/torchtitan/bin/pip" install -q torchtitan==0.3.0 triton
}

for name; do "$name"; done
