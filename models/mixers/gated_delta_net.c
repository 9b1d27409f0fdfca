/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gated delta net: linear attention whose state (key_dim x value_dim numbers per value head) forgets by one number per
 * head and token, and replaces what it holds for a key instead of adding to it. Trained in chunks: Yang, Kautz,
 * Hatamizadeh, "Gated Delta Networks", 2024, section 3.3. Value heads share keys and queries in groups. */
#include "models/mixer.h"
#include "models/product.h"

#include <stddef.h>

enum { KEY_HEADS, VALUE_HEADS, KEY_DIM, VALUE_DIM, KERNEL, CHUNK };

/* FLOPs of one token and value head, forward. Inside a chunk of C tokens: q k', k k' (2 C d_k each), the inverse of a
 * triangle (2/3 C^2), its products with keys and values, and the scores with values; between chunks: the state with
 * keys and queries, and its update. */
static double scan_flops(const int64_t *s) {
    double C = (double)s[CHUNK], k = (double)s[KEY_DIM], v = (double)s[VALUE_DIM];
    return (double)s[VALUE_HEADS] * (C * (6 * k + 4 * v) + 2.0 / 3 * C * C + 6 * k * v);
}

/* Numbers to and from HBM, forward, in fla's kernels: keys for k k', for what the inverse is multiplied with, for the
 * states and for the output; values twice and what takes their place twice; queries once; the inverse, chunk x chunk of
 * each head, written and read; states of chunks in 16 bits. What stays: values behind the convolution (its own
 * output), queries and keys of norm 1 in place of its others, the inverse, and the output. Value heads share keys and
 * queries, which are copied before the kernel: so those that stay are one for each value head. */
static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, keys = times(2, times(s[KEY_HEADS], s[KEY_DIM]));
    int64_t values = times(s[VALUE_HEADS], s[VALUE_DIM]), every = times(s[VALUE_HEADS], s[KEY_DIM]);
    int64_t mixed = plus(keys, values), states = times(values, s[KEY_DIM]);
    int64_t columns = plus(plus(mixed, values), times(2, s[VALUE_HEADS])), inverse = times(s[VALUE_HEADS], s[CHUNK]);
    int count = 0;
    MixerPart *in = &out[count++], *convolution = &out[count++], *scan = &out[count++];
    *in = mixer_matmul("delta net in projection", SPLIT_COLUMN, s[VALUE_HEADS], D, columns, false);
    *convolution = mixer_convolution("delta net convolution", s[VALUE_HEADS], mixed, s[KERNEL], false);
    *scan = (MixerPart){.kind = MIXER_CORE,
                        .name = "delta net scan",
                        .split = SPLIT_COLUMN,
                        .units = s[VALUE_HEADS],
                        .in = plus(mixed, times(2, s[VALUE_HEADS])),
                        .out = values,
                        .parameters = times(2, s[VALUE_HEADS]), /* A_log, dt_bias */
                        .column = PART_LINEAR,
                        .flops = scan_flops(s),
                        .backward = 2.75, /* what stood before the states again, then 16 d_k d_v + 28 C d a head */
                        .read = plus(times(6, every), plus(times(3, values), times(2, inverse))),
                        .written = plus(every, plus(times(3, values), inverse)),
                        .kept = plus(plus(values, inverse), times(2, every) - keys),
                        .moved_float = (double)states / (double)s[CHUNK] / 2,
                        .state = states,
                        .state_float = true};
    in->group_share = (double)keys / (double)columns;
    convolution->group_share = (double)keys / (double)mixed;
    in->groups = convolution->groups = s[KEY_HEADS];
    out[count] = mixer_gated_norm("delta net norm", s[VALUE_HEADS], s[VALUE_DIM], values);
    out[count++].whole_weights = true;
    out[count++] = mixer_matmul("delta net out projection", SPLIT_ROW, s[VALUE_HEADS], values, D, false);
    return count;
}

static const char *wrong(const LayerKind *kind) {
    return kind->sizes[VALUE_HEADS] % kind->sizes[KEY_HEADS] ? "the key heads do not divide the value heads" : NULL;
}

const Mixer GATED_DELTA_NET_MIXER = {.name = "gated_delta_net",
                                     .words = "gated delta net",
                                     .sizes = {{"key_heads", 1, MIXER_REQUIRED},
                                               {"value_heads", 1, MIXER_REQUIRED},
                                               {"key_dim", 1, MIXER_REQUIRED},
                                               {"value_dim", 1, MIXER_REQUIRED},
                                               {"conv_kernel", 1, 4},
                                               {"chunk", 1, 64}},
                                     .parts = parts,
                                     .wrong = wrong};
