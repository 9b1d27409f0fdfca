# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers without attention: each mixer as a list of parts (matmuls, a convolution, a scan, a gated norm), in whole
numbers of one token. All of it is of the heading "Layers without attention, and with sparse attention"."""
from math import ceil

from data import Record

def matmul(name, split, units, inp, out, bias=0, **more):
    """Layers without attention, and with sparse attention: [in] x [in, out]."""
    return Record(kind="matmul", name=name, split=split, units=units, inp=inp, out=out,
                  parameters=inp * out + (out if bias else 0), **{"kept": 0 if split == "row" else out, **more})

def convolution(name, units, channels, kernel, bias=0, **more):
    """Layers without attention, and with sparse attention: over time, each channel alone; its state is tokens."""
    return Record(kind="convolution", name=name, split="column", units=units, inp=channels, out=channels,
                  parameters=channels * kernel + (channels if bias else 0), flops=2.0 * channels * kernel, backward=2,
                  state=channels * (kernel - 1), **{"read": channels, "written": channels, "kept": channels, **more})

def scan(name, units, inp, out, flops, **more):
    """Layers without attention, and with sparse attention: the scan or the recurrence; its state is in float32."""
    return Record(kind="core", name=name, split="column", units=units, inp=inp, out=out, flops=flops,
                  **{"parameters": 0, "written": out, "kept": out, "backward": 2.5, "state_float": True, **more})

def gated_norm(name, units, parameters, width, whole=False):
    """Layers without attention, and with sparse attention: the norm on a scan's output, multiplied with its gate."""
    return Record(kind="elementwise", name=name, split="column", units=units, parameters=parameters, read=2 * width,
                  written=width, kept=width, whole_weights=whole)

def mamba2(D, s):
    """Layers without attention, and with sparse attention: Mamba 2; B and C are shared by the heads of a group."""
    heads, width, shared = s.heads, s.heads * s.head_dim, 2 * s.groups * s.state
    mixed, columns = width + shared, 2 * width + shared + heads
    scores = float(s.groups * s.chunk)
    flops = 2 * scores * s.state + 2.0 * s.chunk * width + 4.0 * s.state * width
    read = 2 * width + 2 * shared + 3 * heads
    parts = [matmul("mamba in projection", "column", heads, D, columns, s.bias, groups=s.groups,
                    group_share=shared / columns),
             convolution("mamba convolution", heads, mixed, s.conv_kernel, s.conv_bias, kept=0, groups=s.groups,
                         group_share=shared / mixed),
             scan("mamba scan", heads, mixed + heads, width, flops, parameters=3 * heads, read=read,
                  moved_float=1.5 * width * s.state / s.chunk + scores, state=width * s.state, groups=s.groups,
                  group_share=2 * shared / (read + width), group_flops=2 * scores * s.state / flops)]
    if s.norm:
        parts.append(gated_norm("mamba norm", heads, width, width))
    return parts + [matmul("mamba out projection", "row", heads, width, D, s.bias)]

def gated_delta_net(D, s):
    """Layers without attention, and with sparse attention: a state of key_dim x value_dim for each value head."""
    heads, keys, values = s.value_heads, 2 * s.key_heads * s.key_dim, s.value_heads * s.value_dim
    mixed, every, inverse = keys + values, heads * s.key_dim, heads * s.chunk
    columns, C, k, v = mixed + values + 2 * heads, float(s.chunk), float(s.key_dim), float(s.value_dim)
    flops = heads * (C * (6 * k + 4 * v) + 2.0 / 3 * C * C + 6 * k * v)
    return [matmul("delta net in projection", "column", heads, D, columns, groups=s.key_heads,
                   group_share=keys / columns),
            convolution("delta net convolution", heads, mixed, s.conv_kernel, groups=s.key_heads,
                        group_share=keys / mixed),
            scan("delta net scan", heads, mixed + 2 * heads, values, flops, parameters=2 * heads, backward=2.75,
                 read=6 * every + 3 * values + 2 * inverse, written=every + 3 * values + inverse,
                 kept=values + inverse + 2 * every - keys, moved_float=values * s.key_dim / C / 2,
                 state=values * s.key_dim),
            gated_norm("delta net norm", heads, s.value_dim, values, whole=True),
            matmul("delta net out projection", "row", heads, values, D)]

def kda(D, s):
    """Layers without attention, and with sparse attention: a delta net that forgets by channel, gates of low rank."""
    heads, width, C, d = s.heads, s.heads * s.head_dim, float(s.chunk), float(s.head_dim)
    inverse, low = heads * s.chunk, {0: 2, 1: 0, 2: 1}[s.whole_gates]  # gates through a low rank
    parts = [matmul("delta attention in projection", "column", heads, D, 3 * width + heads + (2 - low) * width)]
    if low:
        parts += [matmul("delta attention gates down", "local", 1, D, low * s.head_dim),
                  matmul("delta attention gates up", "column", heads, s.head_dim, low * width)]
    return parts + [
        convolution("delta attention convolution", heads, 3 * width, s.conv_kernel),
        scan("delta attention scan", heads, 4 * width + heads, width,
             heads * (10 * C * d + 2.0 / 3 * C * C + 6 * d * d), parameters=width + heads, backward=2.75,
             read=13 * width + 2 * inverse, written=4 * width + inverse, kept=width + inverse,
             moved_float=width * s.head_dim / C / 2, state=width * s.head_dim),
        gated_norm("delta attention norm", heads, s.head_dim, width, whole=True),
        matmul("delta attention out projection", "row", heads, width, D)]

def lightning(D, s):
    """Layers without attention, and with sparse attention: one fixed decay for each head."""
    heads, width, d = s.heads, s.heads * s.head_dim, float(s.head_dim)
    parts = [matmul("linear attention in projection", "column", heads, D, (4 if s.gate else 3) * width, s.bias),
             scan("linear attention scan", heads, 3 * width, width, heads * (4.0 * s.block * d + 4 * d * d),
                  read=5 * width, moved_float=width * s.head_dim / float(s.block), state=width * s.head_dim)]
    if s.norm:
        parts.append(gated_norm("linear attention norm", heads, s.norm, width, whole=s.norm < width))
    return parts + [matmul("linear attention out projection", "row", heads, width, D, s.bias)]

def mamba(D, s):
    """Layers without attention, and with sparse attention: Mamba 1, a recurrence on vector units."""
    inner, states, chosen = s.inner, s.inner * s.state, s.dt_rank + 2 * s.state
    parts = [matmul("mamba in projection", "column", inner, D, 2 * inner, s.bias),
             convolution("mamba convolution", inner, inner, s.conv_kernel, s.conv_bias, kept=0),
             matmul("mamba selection", "row", inner, inner, chosen, kept=chosen)]
    if s.norms:
        parts.append(Record(kind="elementwise", name="mamba selection norms", split="local", units=1,
                            parameters=chosen))
    return parts + [matmul("mamba step projection", "column", inner, s.dt_rank, inner, 1, kept=0),
                    scan("mamba scan", inner, 2 * inner, inner, 9.0 * states, parameters=states + inner,
                         on_vectors=True, read=3 * inner + 2 * s.state, state=states),
                    matmul("mamba out projection", "row", inner, inner, D, s.bias)]

def rg_lru(D, s):
    """Layers without attention, and with sparse attention: a gated recurrence of each channel alone."""
    heads, width = s.heads, s.width
    return [matmul("recurrence in projection", "column", heads, D, 2 * width, s.bias),
            convolution("recurrence convolution", heads, width, s.conv_kernel, 1),
            matmul("recurrence gates", "column", heads, width // heads, 2 * width, 1, own_input=True),
            scan("recurrence", heads, 3 * width, width, 12.0 * width, parameters=width, on_vectors=True,
                 read=3 * width, kept=2 * width, state=width),
            matmul("recurrence out projection", "row", heads, width, D, s.bias)]

def short_conv(D, s):
    """Layers without attention, and with sparse attention: a short convolution between two gates."""
    width = s.width
    return [matmul("convolution in projection", "column", width, D, 3 * width, s.bias),
            convolution("short convolution", width, width, s.conv_kernel, s.bias, read=3 * width, kept=2 * width),
            matmul("convolution out projection", "row", width, width, D, s.bias)]

def mlstm(D, s):
    """Layers without attention, and with sparse attention: linear attention with exponential gates."""
    heads, keys, values = s.heads, s.heads * s.qk_dim, s.heads * s.value_dim
    C, k, v = float(s.chunk), float(s.qk_dim), float(s.value_dim)
    return [matmul("mLSTM in projection", "column", heads, D, 2 * keys + 2 * values, s.bias),
            matmul("mLSTM gates", "column", heads, D, 2 * heads, 1),
            scan("mLSTM scan", heads, 2 * keys + values + 2 * heads, values,
                 heads * (2 * C * (k + v) + 4 * k * v), read=3 * keys + 2 * values,
                 moved_float=keys * s.value_dim / C, state=keys * s.value_dim + keys + heads),
            gated_norm("mLSTM norm", heads, values, values),
            matmul("mLSTM out projection", "row", heads, values, D, s.bias)]

def rwkv(D, s):
    """Layers without attention, and with sparse attention: a mean of values that decays by channel."""
    width = s.width
    return [matmul("rwkv key, value, receptance", "column", width, D, 3 * width),
            scan("rwkv recurrence", width, 2 * width, width, 16.0 * width, parameters=2 * width + 3 * D,
                 on_vectors=True, read=3 * width, kept=2 * width, state=3 * width + D),
            matmul("rwkv output", "row", width, width, D)]

MIXERS = {"mamba2": mamba2, "gated_delta_net": gated_delta_net, "kda": kda, "lightning": lightning, "mamba": mamba,
          "rg_lru": rg_lru, "short_conv": short_conv, "mlstm": mlstm, "rwkv": rwkv, "none": lambda D, s: []}

def parts_of_mixer(model, kind):
    """Layers without attention, and with sparse attention: the parts of a layer's mixer, none without one."""
    return MIXERS[kind.mixer["name"]](model.d_model, Record(**kind.mixer)) if kind.mixer else []

def scan_flops_of_mixer(model, kind):
    """Parameters and FLOPs: FLOPs of one token that no parameter says, forward."""
    return sum(part.flops for part in parts_of_mixer(model, kind) if part.kind == "core")

def share_of_chip(part, t, of_groups):
    """Layers without attention, and with sparse attention: whole heads of each chip, and the groups that they need."""
    if part.split == "local":
        return 1.0
    units = max(1, part.units)
    own = ceil(units / t) / units
    grouped = max(own, 1 / part.groups) if part.groups else own
    return own + of_groups * (grouped - own)
