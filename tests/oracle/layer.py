# SPDX-License-Identifier: GPL-3.0-or-later
"""A transformer layer as users of JAX write it: weights and activations carry shardings, no collective is spelled out.

What a plan says is read from the module that `shardopt emit jax` wrote, and told to the compiler by the shardings of
arguments and by constraints on activations, weights in use and their gradients; which collectives that takes is for XLA's partitioner to find.
"""
import functools

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


def axes(entry):
    """An entry of a PartitionSpec as a tuple."""
    return entry if isinstance(entry, tuple) else (entry,) if entry else ()


class Shardings:
    """Who splits what: as the module says that shardopt emitted for the plan."""

    def __init__(self, mesh, module, model, dtype):
        self.mesh, self.model, self.dtype = mesh, model, dtype
        self.keep_gathered = not module.REGATHER
        self.residual = tuple(module.ACTIVATIONS["layer_input"])
        self.batch, self.sequence = (axes(entry) for entry in module.ACTIVATIONS["tokens"])
        self.tensor, self.expert = module.ROLES["tensor"], module.ROLES["expert"]
        # Tokens stay where they are and the MLP's weights come to them, over tensor too.
        self.gather_mlp = bool(set(self.tensor) & set(axes(module.ACTIVATIONS["mlp_input"][1])))
        self.held = {name.split(".")[1]: (shape, tuple(held)) for name, (shape, held) in module.PARAMETERS.items()
                     if name.startswith("layers.")}

    def of(self, *entries):
        return NamedSharding(self.mesh, P(*[entry or None for entry in entries]))

    def put(self, x, *entries):
        return jax.lax.with_sharding_constraint(x, self.of(*entries))

    def arguments(self, stacked=0):
        """The weights of a layer, or of so many in one array each."""
        front, none = ((stacked,), (None,)) if stacked else ((), ())
        return {name: jax.ShapeDtypeStruct(front + shape, self.dtype, sharding=self.of(*none, *entries))
                for name, (shape, entries) in self.held.items()}

    def used(self, weight, held, parallel):
        """A weight as it is used: what fsdp (and its like) split comes together. Its gradient is wanted as the weight is
        held."""
        entries = tuple(tuple(axis for axis in axes(entry) if axis in parallel) for entry in held)
        if entries == tuple(axes(entry) for entry in held):
            return weight

        @jax.custom_vjp
        def gather(w):
            # The barrier: else XLA lays a second copy of all layers' shards in the order of the gathered weight.
            return self.put(jax.lax.optimization_barrier(w), *entries)

        gather.defvjp(lambda w: (gather(w), None), lambda _, gradient: (self.put(gradient, *held),))
        return gather(weight)

    def apply(self, function, x, weights, *names, join=None, over_tensor=True):
        """function(x, weight as it is used). Several weights that meet the same tokens are one matmul: `join` makes one
        array of their shards, with the spec of the first. Where weights are not kept, backward has them again from their
        shards; a join, which moves nothing, is always made again."""
        parallel = (self.tensor if over_tensor else ()) + (self.expert if names[0].startswith("expert_") else ())
        held = self.held[names[0]][1]
        if any(self.held[name][1] != held for name in names):
            raise ValueError(f"{names} do not lie alike")
        gathers = any(set(axes(entry)) - set(parallel) for entry in held)

        def whole(x, *own):
            weight, spec = join(held, *own) if join else (own[0], held)
            return function(x, self.used(self.put(weight, *spec), spec, parallel))

        return (whole if self.keep_gathered and gathers else fused(whole))(x, *[weights[name] for name in names])


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


def join_qkv(plan, held, q, k, v):
    """Of each group of heads its queries, its key and its value."""
    D, K, h = plan.model["d_model"], plan.model["kv_heads"], plan.model["head_dim"]
    parts = (part.reshape(D, K, -1, h) for part in (q, k, v))
    return jnp.concatenate(list(parts), axis=2), (held[0], held[1], None, None)


def join_up(held, gate, up):
    """Before the last dimension."""
    return jnp.stack([gate, up], axis=-2), (*held[:-1], None, held[-1])


def attention(plan, weights, x):
    D = plan.model["d_model"]
    x = plan.put(x, plan.batch, plan.sequence, None)
    qkv = plan.apply(functools.partial(jnp.einsum, "bsd,dkgh->bskgh"), x, weights, "wq", "wk", "wv",
                     join=functools.partial(join_qkv, plan))
    qkv = plan.put(qkv, plan.batch, plan.sequence, plan.tensor, None, None)
    context = fused(functools.partial(core_attention, plan))(qkv)
    context = plan.put(context, plan.batch, plan.sequence, plan.tensor, None, None)
    out = plan.apply(lambda c, w: jnp.einsum("bskgh,kghd->bsd", c, w.reshape(*c.shape[2:], D)), context, weights, "wo")
    return plan.put(out, plan.batch, plan.sequence, None)


def mlp(plan, weights, x):
    """Over tensor either the tokens come together and each chip has its part of the width, or each chip keeps its tokens
    and the weights come together."""
    over_tensor = not plan.gather_mlp
    tokens = (plan.batch, plan.sequence) if over_tensor else plan.residual[:2]
    up = plan.apply(functools.partial(jnp.einsum, "bsd,dcf->bscf"), plan.put(x, *tokens, None), weights, "gate", "up",
                    join=join_up, over_tensor=over_tensor)
    up = plan.put(up, *tokens, None, plan.tensor if over_tensor else None)
    out = plan.apply(functools.partial(jnp.einsum, "bsf,fd->bsd"), gated(up), weights, "down", over_tensor=over_tensor)
    return plan.put(out, *tokens, None)


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
    wide = plan.apply(functools.partial(jnp.einsum, "bsd,de->bse"), x, weights, "router").astype(jnp.float32)
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
    up = plan.apply(functools.partial(jnp.einsum, "ebcd,edgf->ebcgf"), sent, weights, "expert_gate", "expert_up",
                    join=join_up)
    product = fused(lambda up, weigh: gated(up) * weigh[..., None])(up, exchange(weigh, True))
    down = plan.apply(functools.partial(jnp.einsum, "ebcf,efd->ebcd"), product, weights, "expert_down")
    back = exchange(down, False)
    return fused(lambda back, shares: jnp.einsum("bsec,ebcd->bsd", slots(shares), back))(back, shares)


def layer(plan, weights, x):
    block = attention(plan, weights, plan.apply(norm, x, weights, "attention_norm"))
    x = plan.put(x + plan.put(block, *plan.residual), *plan.residual)
    h = plan.apply(norm, x, weights, "mlp_norm")
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
