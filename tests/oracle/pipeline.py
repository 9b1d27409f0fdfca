# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages of layers as one stacked array, sharded over the emitted mesh's `pipeline`: in every iteration each stage takes
what the one before it has made (a roll, which XLA makes a collective-permute) and runs its layers."""
import functools

import jax
import jax.numpy as jnp

import layer


@jax.custom_vjp
def passed_on(states):
    """Each stage's to the next. Backward the other way round: what jax makes of a roll there is two permutes."""
    return jnp.roll(states, 1, axis=0)


passed_on.defvjp(lambda states: (passed_on(states), None), lambda _, gradient: (jnp.roll(gradient, -1, axis=0),))


def states_of(plan, weights, inputs, iterations, scan):
    """What every stage has made in each iteration; the last stage's, from the (stages - 1)th on, is the result. They are
    given as they lie, since taking the last stage's alone would send it to the others."""
    stages = plan.mesh.shape["pipeline"]
    held = ("pipeline", *plan.residual)

    def stage(weights, x):
        for own in weights:
            x = layer.layer(plan, own, x)
        return x

    def iterate(state, number):
        feed = jax.lax.stop_gradient(inputs[jnp.minimum(number, inputs.shape[0] - 1)])
        state = plan.put(passed_on(state).at[0].set(feed), *held)
        own = weights
        if not scan:  # tied to the state, so that no iteration's gathered weights are taken for another's
            own, state = jax.lax.optimization_barrier((weights, state))
        state = plan.put(jax.vmap(stage, spmd_axis_name="pipeline")(own, state), *held)
        return state, state

    state = plan.put(jnp.zeros((stages, *inputs.shape[1:]), inputs.dtype), *held)
    if scan:
        return jax.lax.scan(iterate, state, jnp.arange(iterations))[1]
    states = []
    for number in range(iterations):
        state, _ = iterate(state, number)
        states.append(state)
    return jnp.stack(states)


def step(plan, iterations, scan, weights, inputs, gradient):
    def run(weights):
        return states_of(plan, weights, inputs, iterations, scan)

    return jax.vjp(run, weights)[1](gradient)[0]


def compiled(plan, layers, microbatches, sequences, seq, scan):
    """Gradients of the weights of so many layers a stage, over microbatches of so many sequences."""
    stages, width = plan.mesh.shape["pipeline"], plan.model["d_model"]
    iterations = microbatches + stages - 1
    weights = [{name: jax.ShapeDtypeStruct((stages, *shape), plan.dtype, sharding=plan.of("pipeline", *held))
                for name, (shape, held) in plan.held.items()} for _ in range(layers)]
    inputs = jax.ShapeDtypeStruct((microbatches, sequences, seq, width), plan.dtype, sharding=plan.of(None, *plan.residual))
    gradient = jax.ShapeDtypeStruct((iterations, stages, sequences, seq, width), plan.dtype,
                                    sharding=plan.of(None, "pipeline", *plan.residual))
    out = jax.tree.map(lambda weight: weight.sharding, weights)
    program = jax.jit(functools.partial(step, plan, iterations, scan), out_shardings=out)
    return program.lower(weights, inputs, gradient).compile()
