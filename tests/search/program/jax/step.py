# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrote the texts here: python3 step.py FILE, with that release of JAX and no other."""
import sys

import jax
import jax.numpy as jnp

f32, S = jnp.float32, jax.ShapeDtypeStruct


def step(p, x, y):
    def loss(p):
        h, _ = jax.lax.scan(lambda h, w: (h + jnp.tanh(h @ w), None), p["emb"][x], p["layers"])
        z = h @ p["head"]
        return jnp.mean(jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, y[..., None], -1)[..., 0])
    value, g = jax.value_and_grad(loss)(p)
    return jax.tree_util.tree_map(lambda p, g: p - 1e-3 * g, p, g), value


w = dict(emb=S((1024, 256), f32), head=S((256, 1024), f32), layers=S((4, 256, 256), f32))
text = jax.jit(step, donate_argnums=(0,), keep_unused=True).lower(w, S((4096,), jnp.int32), S((4096,), jnp.int32)).as_text()
open(sys.argv[1], "w").write(text)

