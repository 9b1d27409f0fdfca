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

static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, keys = times(s[KEY_HEADS], s[KEY_DIM]), values = times(s[VALUE_HEADS], s[VALUE_DIM]);
    int64_t mixed = plus(times(2, keys), values), states = times(values, s[KEY_DIM]);
    int count = 0;
    out[count++] = mixer_matmul("delta net in projection", SPLIT_COLUMN, s[KEY_HEADS], D,
                                plus(plus(mixed, values), times(2, s[VALUE_HEADS])), false);
    out[count++] = mixer_convolution("delta net convolution", s[KEY_HEADS], mixed, s[KERNEL], false);
    out[count++] = (MixerPart){.kind = MIXER_CORE,
                               .name = "delta net scan",
                               .split = SPLIT_COLUMN,
                               .units = s[KEY_HEADS],
                               .parameters = times(2, s[VALUE_HEADS]), /* A_log, dt_bias */
                               .column = PART_LINEAR,
                               .flops = scan_flops(s),
                               .backward = 2.5,
                               .read = plus(mixed, times(2, s[VALUE_HEADS])),
                               .written = values,
                               .kept = plus(plus(mixed, values), times(2, s[VALUE_HEADS])),
                               .kept_float = (double)states / (double)s[CHUNK],
                               .state = states,
                               .state_float = true};
    out[count++] = mixer_weights("delta net norm", SPLIT_LOCAL, 1, s[VALUE_DIM], PART_NORMS);
    out[count++] = mixer_matmul("delta net out projection", SPLIT_ROW, s[KEY_HEADS], values, D, false);
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
