# SPDX-License-Identifier: GPL-3.0-or-later
"""From a flax model to a sharded step: `pip install shardopt jax flax optax`, then this on a slice of 16 chips; on any
machine: XLA_FLAGS=--xla_force_host_platform_device_count=16 JAX_PLATFORMS=cpu python flax_step.py"""
import jax, jax.numpy as jnp, optax
from flax import linen as nn
from shardopt.jax import shard

model = nn.Sequential([nn.Dense(512), nn.gelu, nn.Dense(512), nn.gelu, nn.Dense(16)])
tx = optax.adam(1e-3)
batch = {"x": jnp.ones((256, 128)), "y": jnp.zeros((256,), jnp.int32)}
weights = model.init(jax.random.key(0), batch["x"])
state = (weights, tx.init(weights))


def step(state, batch):
    loss = lambda p: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, batch["x"]), batch["y"]).mean()
    value, gradient = jax.value_and_grad(loss)(state[0])
    update, moments = tx.update(gradient, state[1])
    return (optax.apply_updates(state[0], update), moments), value


sharded = shard(step, state, batch, donate_argnums=0, chip="v5e", slice="4x4")
print(sharded.report)
state, batch = sharded.put(state, batch)
for i in range(3):
    state, loss = sharded(state, batch)
    print(f"loss {float(loss):.4f}")
