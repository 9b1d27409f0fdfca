#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of other kinds for program.py, lowered by JAX: program_models.py FOLDER [NAME...] writes NAME.mlir.

llama: two layers as MaxText's Llama 2 has them (f32 state, bf16 compute, RoPE, SwiGLU, remat, scanned); layer, layers:
one and two of them, neither scanned nor recomputed; vit: flax's layers; diffusion: a transformer with adaptive norms (DiT); gpt2: pre-norm, learned positions, GELU, tied embedding; decode: a token
a sequence through eight layers with their caches; *_forward: their losses alone. Sizes are such that a compiler takes a minute."""
import functools
import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp

S, f32, bf16, i32 = jax.ShapeDtypeStruct, jnp.float32, jnp.bfloat16, jnp.int32


def adam(loss):
    def step(state, batch):
        p, m, v = state
        value, g = jax.value_and_grad(loss)(p, batch)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, v, g)
        return (jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, m, v), m, v), value
    return step


def trained(model, **sizes):
    loss, weights, batch = model(**sizes)
    return adam(loss), ((weights, weights, weights), batch), (0,)


def evaluated(model, **sizes):
    loss, weights, batch = model(**sizes)
    return loss, (weights, batch), ()


def entropy(logits, y):
    logits = logits.astype(f32)
    return jnp.mean(jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, y[..., None], -1)[..., 0])


def rms(x, w):
    return (x * jax.lax.rsqrt(jnp.mean(jnp.square(x.astype(f32)), -1, keepdims=True) + 1e-6).astype(bf16)) * w.astype(bf16)


def norm(x):
    x = x.astype(f32)
    x = x - x.mean(-1, keepdims=True)
    return (x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)).astype(bf16)


def attention(q, k, v, causal):
    s = jnp.einsum("bthk,bshk->bhts", q, k).astype(f32) * q.shape[-1] ** -0.5
    if causal:
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e9)
    return jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s, -1).astype(bf16), v)


def rope(x):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    sin, cos = (f(angle)[:, None].astype(bf16) for f in (jnp.sin, jnp.cos))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def llama(L=2, d=1024, h=8, ff=2816, V=8192, B=16, T=512, scanned=True):
    k = d // h
    layers = dict(n1=(d,), n2=(d,), q=(d, h, k), k=(d, h, k), v=(d, h, k), o=(h, k, d), gate=(d, ff), up=(d, ff), down=(ff, d))
    weights = dict(emb=S((V, d), f32), head=S((d, V), f32), n=S((d,), f32),
                   layers={n: S((L, *s), f32) for n, s in layers.items()} if scanned else
                   [{n: S(s, f32) for n, s in layers.items()} for _ in range(L)])

    def layer(x, w):
        w = {n: one.astype(bf16) for n, one in w.items()}
        y = rms(x, w["n1"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", y, w[n]) for n in "qkv")
        x = x + jnp.einsum("bthk,hkd->btd", attention(rope(q), rope(k), v, True), w["o"])
        y = rms(x, w["n2"])
        return x + jnp.einsum("btf,fd->btd", jax.nn.silu(y @ w["gate"]) * (y @ w["up"]), w["down"])

    def loss(p, b):
        x = p["emb"].astype(bf16)[b["x"]]
        if scanned:
            x, _ = jax.lax.scan(lambda x, w: (jax.checkpoint(layer)(x, w), None), x, p["layers"])
        else:
            x = functools.reduce(layer, p["layers"], x)
        return entropy(rms(x, p["n"]) @ p["head"].astype(bf16), b["y"])

    return loss, weights, dict(x=S((B, T), i32), y=S((B, T), i32))


def vit(L=2, d=768, h=12, B=128):
    from flax import linen as nn

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(d, (16, 16), (16, 16), dtype=bf16)(x)
            x = x.reshape(x.shape[0], -1, d) + self.param("pos", nn.initializers.normal(0.02), (1, 256, d)).astype(bf16)
            for _ in range(L):
                y = nn.LayerNorm(dtype=bf16)(x)
                x = x + nn.MultiHeadDotProductAttention(h, dtype=bf16)(y, y)
                x = x + nn.Dense(d, dtype=bf16)(nn.gelu(nn.Dense(4 * d, dtype=bf16)(nn.LayerNorm(dtype=bf16)(x))))
            return nn.Dense(1024, dtype=bf16)(nn.LayerNorm(dtype=bf16)(x).mean(1))

    model = Model()
    weights = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 256, 256, 3))))
    return (lambda p, b: entropy(model.apply(p, b["x"]), b["y"])), weights, dict(x=S((B, 256, 256, 3), f32), y=S((B,), i32))


def diffusion(L=2, d=1024, h=16, B=64, T=256, c=64):
    k = d // h
    layer = dict(q=(d, h, k), k=(d, h, k), v=(d, h, k), o=(h, k, d), up=(d, 4 * d), down=(4 * d, d), mod=(d, 6, d))
    weights = dict(inp=S((c, d), f32), out=S((d, c), f32), pos=S((T, d), f32), time=S((256, d), f32), label=S((1024, d), f32),
                   layers=[{n: S(s, f32) for n, s in layer.items()} for _ in range(L)])

    def loss(p, b):
        p = jax.tree.map(lambda w: w.astype(bf16), p)
        x = b["x"].astype(bf16) @ p["inp"] + p["pos"]
        angle = b["t"][:, None] * jnp.exp(-jnp.arange(128) / 16.0)
        condition = jax.nn.silu(jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1).astype(bf16) @ p["time"] + p["label"][b["y"]])
        for w in p["layers"]:
            s1, g1, a1, s2, g2, a2 = jnp.moveaxis(jnp.einsum("bd,dme->bme", condition, w["mod"])[:, None], 2, 0)
            y = norm(x) * (1 + g1) + s1
            q, kk, v = (jnp.einsum("btd,dhk->bthk", y, w[n]) for n in "qkv")
            x = x + a1 * jnp.einsum("bthk,hkd->btd", attention(q, kk, v, False), w["o"])
            y = norm(x) * (1 + g2) + s2
            x = x + a2 * (jax.nn.gelu(y @ w["up"]) @ w["down"])
        return jnp.mean(jnp.square((norm(x) @ p["out"]).astype(f32) - b["noise"]))

    batch = dict(x=S((B, T, c), f32), noise=S((B, T, c), f32), t=S((B,), f32), y=S((B,), i32))
    return loss, weights, batch


def gpt2(L=2, d=1024, h=16, V=16384, B=16, T=512):
    k = d // h
    layer = dict(qkv=(d, 3, h, k), bias=(3, h, k), o=(h, k, d), up=(d, 4 * d), upb=(4 * d,), down=(4 * d, d), downb=(d,))
    weights = dict(emb=S((V, d), f32), pos=S((T, d), f32), layers=[{n: S(s, f32) for n, s in layer.items()} for _ in range(L)])

    def loss(p, b):
        p = jax.tree.map(lambda w: w.astype(bf16), p)
        x = p["emb"][b["x"]] + p["pos"]
        for w in p["layers"]:
            q, kk, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", norm(x), w["qkv"]) + w["bias"], 2, 0)
            x = x + jnp.einsum("bthk,hkd->btd", attention(q, kk, v, True), w["o"])
            x = x + jax.nn.gelu(norm(x) @ w["up"] + w["upb"]) @ w["down"] + w["downb"]
        return entropy(norm(x) @ p["emb"].T, b["y"])

    return loss, weights, dict(x=S((B, T), i32), y=S((B, T), i32))


def decode(L=8, d=2048, h=16, ff=8192, V=16384, B=64, T=2048):
    k = d // h
    layer = dict(n1=(d,), n2=(d,), q=(d, h, k), k=(d, h, k), v=(d, h, k), o=(h, k, d), up=(d, ff), down=(ff, d))
    weights = dict(emb=S((V, d), bf16), head=S((d, V), bf16), layers={n: S((L, *s), bf16) for n, s in layer.items()})
    cache = dict(k=S((L, B, T, h, k), bf16), v=S((L, B, T, h, k), bf16))

    def step(cache, weights, token, at):
        def one(x, layer):
            w, keys, values = layer
            y = rms(x, w["n1"])
            q, key, value = (jnp.einsum("btd,dhk->bthk", y, w[n]) for n in "qkv")
            keys = jax.lax.dynamic_update_slice_in_dim(keys, key, at, 1)
            values = jax.lax.dynamic_update_slice_in_dim(values, value, at, 1)
            s = jnp.einsum("bthk,bshk->bhts", q, keys).astype(f32) * k ** -0.5
            s = jnp.where(jnp.arange(T) <= at, s, -1e9)
            x = x + jnp.einsum("bthk,hkd->btd", jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s, -1).astype(bf16), values), w["o"])
            return x + jax.nn.gelu(rms(x, w["n2"]) @ w["up"]) @ w["down"], (keys, values)

        x, (keys, values) = jax.lax.scan(one, weights["emb"][token], (weights["layers"], cache["k"], cache["v"]))
        return dict(k=keys, v=values), jnp.argmax(x[:, 0] @ weights["head"], -1)

    return step, (cache, weights, S((B, 1), i32), S((), i32)), (0,)


MODELS = {name: functools.partial(how, model, **sizes) for name, how, model, sizes in (
    ("llama", trained, llama, {}), ("layer", trained, llama, dict(L=1, B=32, scanned=False)),
    ("layers", trained, llama, dict(L=2, B=32, scanned=False)), ("vit", trained, vit, {}), ("diffusion", trained, diffusion, {}),
    ("gpt2", trained, gpt2, {}), ("llama_forward", evaluated, llama, dict(d=2048, h=16, ff=5632, V=16384)),
    ("vit_forward", evaluated, vit, dict(d=2048, h=16)), ("diffusion_forward", evaluated, diffusion, dict(d=2048)),
    ("gpt2_forward", evaluated, gpt2, dict(d=2048)))} | dict(decode=decode)


def main():
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:] or list(MODELS)
    for name in names:
        step, arguments, donated = MODELS[name]()
        text = jax.jit(step, donate_argnums=donated, keep_unused=True).lower(*arguments).as_text()
        (folder / f"{name}.mlir").write_text(text)


if __name__ == "__main__":
    main()
