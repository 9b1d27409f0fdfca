# SPDX-License-Identifier: GPL-3.0-or-later
"""A transformer layer as users of JAX write it: weights and activations carry shardings, no collective is spelled out.

What a plan says is told to the compiler by the shardings of arguments and by constraints on activations, weights in use
and their gradients; which collectives that takes is for XLA's partitioner to find.
"""
import functools

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


class Shardings:
    """Who splits what under a plan. Axes of the mesh are named like the roles."""

    def __init__(self, mesh, plan, dtype):
        self.mesh, self.model = mesh, plan.model
        self.dtype = dtype
        self.keep_gathered = plan.keep_gathered
        self.gather_mlp = plan.gather_mlp
        self.batch = self.axes("data", "fsdp", "expert")
        self.weights = self.axes("fsdp", "sequence", "expert")  # parameters are sharded over
        self.expert_weights = self.axes("fsdp", "sequence")
        self.sequence, self.tensor, self.expert = self.axes("sequence"), self.axes("tensor"), self.axes("expert")
        stream = self.sequence + self.tensor if plan.along_sequence else self.sequence
        self.residual = (self.batch, stream, None)
        self.held = self.table()

    def axes(self, *names):
        return tuple(name for name in names if name in self.mesh.axis_names)

    def of(self, *entries):
        return NamedSharding(self.mesh, P(*[entry or None for entry in entries]))

    def put(self, x, *entries):
        return jax.lax.with_sharding_constraint(x, self.of(*entries))

    def table(self):
        """Shape of every weight of a layer and what its dimensions are split by; whole heads go to a chip."""
        m = self.model
        D, H, K, h = m["d_model"], m["heads"], m["kv_heads"], m["head_dim"]
        w, t, e = self.weights, self.tensor, self.expert
        held = {
            "norm1": ((D,), (w,)),
            "norm2": ((D,), (w,)),
            "qkv": ((D, K, H // K + 2, h), (w, t, None, None)),  # of each group: its queries, its key, its value
            "o": ((K, H // K, h, D), (t, None, None, w)),
        }
        if m["experts"]:
            E, F, x = m["experts"], m["d_ff_expert"], self.expert_weights
            return held | {"router": ((D, E), (w, None)), "up": ((E, D, 2, F), (e, x, None, t)),
                           "down": ((E, F, D), (e, t, x))}
        if self.gather_mlp:
            return held | {"up": ((D, 2, m["d_ff"]), (None, None, w + t)), "down": ((m["d_ff"], D), (w + t, None))}
        return held | {"up": ((D, 2, m["d_ff"]), (w, None, t)), "down": ((m["d_ff"], D), (t, w))}

    def arguments(self, stacked=0):
        """The weights of a layer, or of so many in one array each."""
        front, none = ((stacked,), (None,)) if stacked else ((), ())
        return {name: jax.ShapeDtypeStruct(front + shape, self.dtype, sharding=self.of(*none, *entries))
                for name, (shape, entries) in self.held.items()}

    def used(self, weight, name, over_tensor=True):
        """A weight as it is used: what fsdp (and its like) split comes together. Its gradient is wanted as the weight is
        held."""
        held = self.held[name][1]
        parallel = (self.tensor if over_tensor else (), self.expert if name in ("up", "down") else ())
        entries = tuple(entry if entry and entry in parallel else None for entry in held)
        if entries == tuple(entry or None for entry in held):
            return weight

        @jax.custom_vjp
        def gather(w):
            # The barrier: else XLA lays a second copy of all layers' shards in the order of the gathered weight.
            return self.put(jax.lax.optimization_barrier(w), *entries)

        gather.defvjp(lambda w: (gather(w), None), lambda _, gradient: (self.put(gradient, *held),))
        return gather(weight)

    def apply(self, function, x, weights, name, over_tensor=True):
        """function(x, weight as it is used). Where weights are not kept, backward has them again from their shards."""
        def whole(x, weight):
            return function(x, self.used(weight, name, over_tensor))

        return (whole if self.keep_gathered else fused(whole))(x, weights[name])

    def matmul(self, dimensions, x, weights, name, over_tensor=True):
        return self.apply(functools.partial(jnp.einsum, dimensions), x, weights, name, over_tensor)


def fused(function):
    """As a kernel does that keeps its inputs alone: what is inside is computed again in backward."""
    return jax.checkpoint(function)


@fused
def norm(x, weight):
    wide = x.astype(jnp.float32)
    scale = jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-5)
    return (wide * scale).astype(x.dtype) * weight


@fused
def gated(up):
    return jax.nn.silu(up[..., 0, :]) * up[..., 1, :]


def core_attention(plan, qkv):
    """Causal. A chip's queries meet the keys and values of all tokens, which come from the chips of `sequence`."""
    q, k, v = qkv[:, :, :, :-2], qkv[:, :, :, -2], qkv[:, :, :, -1]
    k, v = (plan.put(own, plan.batch, plan.sequence, plan.tensor, None) for own in (k, v))
    k, v = (plan.put(own, plan.batch, None, plan.tensor, None) for own in (k, v))
    s = q.shape[1]
    scores = jnp.einsum("bskgh,btkh->bkgst", q, k).astype(jnp.float32) / q.shape[-1] ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e30)
    scores = plan.put(scores, plan.batch, plan.tensor, None, plan.sequence, None)
    shares = jax.nn.softmax(scores, axis=-1).astype(q.dtype)
    return jnp.einsum("bkgst,btkh->bskgh", shares, v)


def attention(plan, weights, x):
    x = plan.put(x, plan.batch, plan.sequence, None)
    qkv = plan.matmul("bsd,dkgh->bskgh", x, weights, "qkv")
    qkv = plan.put(qkv, plan.batch, plan.sequence, plan.tensor, None, None)
    context = fused(functools.partial(core_attention, plan))(qkv)
    context = plan.put(context, plan.batch, plan.sequence, plan.tensor, None, None)
    out = plan.matmul("bskgh,kghd->bsd", context, weights, "o")
    return plan.put(out, plan.batch, plan.sequence, None)


def mlp(plan, weights, x):
    """Over tensor either the tokens come together and each chip has its part of the width, or each chip keeps its tokens
    and the weights come together."""
    over_tensor = not plan.gather_mlp
    tokens = (plan.batch, plan.sequence) if over_tensor else plan.residual[:2]
    up = plan.matmul("bsd,dcf->bscf", plan.put(x, *tokens, None), weights, "up", over_tensor)
    up = plan.put(up, *tokens, None, plan.tensor if over_tensor else None)
    return plan.put(plan.matmul("bsf,fd->bsd", gated(up), weights, "down", over_tensor), *tokens, None)


def routed(model, shares):
    """Which place of which expert each token goes to, as a mask [b, s, E, C], and its share there. Top-k with a capacity
    (GShard, Lepikhin et al. 2020): each sequence sends at most C tokens to an expert."""
    b, s, E = shares.shape
    k = model["top_k"]
    chosen, left = [], shares
    for _ in range(k):
        chosen.append(jax.nn.one_hot(jnp.argmax(left, axis=-1), E))
        left = left * (1 - chosen[-1])
    mask = jnp.stack(chosen, axis=2).reshape(b, s * k, E)
    slots = jax.nn.one_hot(jnp.cumsum(mask, axis=1) * mask - 1, s * k // E)
    return jnp.sum(slots.reshape(b, s, k, E, -1), axis=2)


def mixture(plan, weights, x):
    """Shares weigh the narrow product inside the experts, as Megatron-Core does it, so that what comes back need not be
    kept for their gradient."""
    wide = functools.partial(plan.matmul, "bsd,de->bse", weights=weights, name="router")(x).astype(jnp.float32)
    shares = plan.put(jax.nn.softmax(wide), plan.batch, None, None)
    rest = tuple(axis for axis in plan.batch if axis not in plan.expert)

    def slots(shares):
        return plan.put(routed(plan.model, jax.lax.stop_gradient(shares)), plan.batch, None, None, None).astype(x.dtype)

    def exchange(x, there):
        own, experts = (None, plan.batch), (plan.expert, rest)
        for entries in (own, experts) if there else (experts, own):
            x = plan.put(x, *entries, *[None] * (x.ndim - 2))
        return x

    sent = exchange(fused(lambda x, shares: jnp.einsum("bsec,bsd->ebcd", slots(shares), x))(x, shares), True)
    weigh = fused(lambda shares: jnp.einsum("bsec,bse->ebc", slots(shares), shares.astype(x.dtype)))(shares)
    up = plan.matmul("ebcd,edgf->ebcgf", sent, weights, "up")
    product = fused(lambda up, weigh: gated(up) * weigh[..., None])(up, exchange(weigh, True))
    back = exchange(plan.matmul("ebcf,efd->ebcd", product, weights, "down"), False)
    return fused(lambda back, shares: jnp.einsum("bsec,ebcd->bsd", slots(shares), back))(back, shares)


def layer(plan, weights, x):
    block = attention(plan, weights, plan.apply(norm, x, weights, "norm1"))
    x = plan.put(x + plan.put(block, *plan.residual), *plan.residual)
    h = plan.apply(norm, x, weights, "norm2")
    block = mixture(plan, weights, h) if plan.model["experts"] else mlp(plan, weights, h)
    return plan.put(x + plan.put(block, *plan.residual), *plan.residual)


def step(plan, layers, scan, weights, x, gradient):
    """Gradients of every weight and of the input, given that of the output."""
    one = functools.partial(layer, plan)

    def stack(weights, x):
        if scan:
            return jax.lax.scan(lambda x, w: (one(w, x), None), x, weights)[0]
        for i in range(layers):
            x = one(weights[i], x)
        return x

    return jax.vjp(stack, weights, x)[1](gradient)


def compiled(plan, layers, sequences, seq, scan=False):
    """The step of a stack of layers. `scan`: layers in a loop, so that the order in which they run, and with it what has
    to be kept, is not the scheduler's choice; else one after the other, so that the text has each collective."""
    x = jax.ShapeDtypeStruct((sequences, seq, plan.model["d_model"]), plan.dtype, sharding=plan.of(*plan.residual))
    weights = plan.arguments(layers) if scan else [plan.arguments() for _ in range(layers)]
    out = jax.tree.map(lambda w: w.sharding, weights)
    program = jax.jit(functools.partial(step, plan, layers, scan), out_shardings=(out, x.sharding))
    return program.lower(weights, x, x).compile()
