/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mLSTM: linear attention with exponential gates of a number for each head, in chunks. xLSTM 7B (arXiv 2503.13427),
 * section 3; tiled flash linear attention (arXiv 2503.14376) for its kernels. */
#include "models/mixer.h"
#include "models/product.h"

#include <stddef.h>

enum { HEADS, QK_DIM, VALUE_DIM, CHUNK, BIAS };

/* Of a token and head: q k' and its product with values over a chunk's square, the state with q, and its update. */
static double scan_flops(const int64_t *s) {
    double k = (double)s[QK_DIM], v = (double)s[VALUE_DIM];
    return (double)s[HEADS] * (2 * (double)s[CHUNK] * (k + v) + 4 * k * v);
}

static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, keys = times(s[HEADS], s[QK_DIM]), values = times(s[HEADS], s[VALUE_DIM]);
    int64_t states = times(keys, s[VALUE_DIM]), columns = plus(times(2, keys), times(2, values));
    int count = 0;
    out[count++] = mixer_matmul("mLSTM in projection", SPLIT_COLUMN, s[HEADS], D, columns, s[BIAS]);
    out[count++] = mixer_matmul("mLSTM gates", SPLIT_COLUMN, s[HEADS], D, times(2, s[HEADS]), true);
    out[count++] = (MixerPart){.kind = MIXER_CORE,
                               .name = "mLSTM scan",
                               .split = SPLIT_COLUMN,
                               .units = s[HEADS],
                               .in = plus(times(2, keys), plus(values, times(2, s[HEADS]))),
                               .out = values,
                               .column = PART_LINEAR,
                               .flops = scan_flops(s),
                               .backward = 2.5,
                               .read = plus(times(3, keys), times(2, values)),
                               .written = values,
                               .kept = values,
                               .moved_float = (double)states / (double)s[CHUNK],
                               .state = plus(states, plus(keys, s[HEADS])), /* with its normaliser and largest gate */
                               .state_float = true};
    out[count++] = mixer_gated_norm("mLSTM norm", s[HEADS], values, values);
    out[count++] = mixer_matmul("mLSTM out projection", SPLIT_ROW, s[HEADS], values, D, s[BIAS]);
    return count;
}

const Mixer MLSTM_MIXER = {.name = "mlstm",
                           .words = "mLSTM",
                           .sizes = {{"heads", 1, MIXER_REQUIRED},
                                     {"qk_dim", 1, MIXER_REQUIRED},
                                     {"value_dim", 1, MIXER_REQUIRED},
                                     {"chunk", 1, 64},
                                     {"bias", 0, 0}},
                           .parts = parts};
