/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kimi delta attention: a gated delta net whose state forgets by one number for each channel of a key; that gate and
 * the gate of the output come through a low rank. Kimi Linear (arXiv 2510.26692), sections 3 and 4; the kernels are
 * those of flash-linear-attention's ops/kda, which do the products of its delta rule. */
#include "models/mixer.h"
#include "models/product.h"

#include <stddef.h>

enum { HEADS, HEAD_DIM, KERNEL, CHUNK, WHOLE_GATES };

/* As of the gated delta net (models/mixers/gated_delta_net.c) with keys and values of one width. */
static double scan_flops(const int64_t *s) {
    double C = (double)s[CHUNK], d = (double)s[HEAD_DIM];
    return (double)s[HEADS] * (10 * C * d + 2.0 / 3 * C * C + 6 * d * d);
}

/* Beside what a delta net moves: the gate of every channel, once for each of the kernels that scale keys with it. */
static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, width = times(s[HEADS], s[HEAD_DIM]), mixed = times(3, width);
    int64_t inverse = times(s[HEADS], s[CHUNK]), states = times(width, s[HEAD_DIM]);
    int count = 0, low = s[WHOLE_GATES] == 0 ? 2 : s[WHOLE_GATES] == 2 ? 1 : 0; /* gates through a low rank */
    out[count++] = mixer_matmul("delta attention in projection", SPLIT_COLUMN, s[HEADS], D,
                                plus(plus(mixed, s[HEADS]), times(2 - low, width)), false);
    if (low) {
        out[count++] = mixer_matmul("delta attention gates down", SPLIT_LOCAL, 1, D, times(low, s[HEAD_DIM]), false);
        out[count++] =
            mixer_matmul("delta attention gates up", SPLIT_COLUMN, s[HEADS], s[HEAD_DIM], times(low, width), false);
    }
    out[count++] = mixer_convolution("delta attention convolution", s[HEADS], mixed, s[KERNEL], false);
    out[count++] = (MixerPart){.kind = MIXER_CORE,
                               .name = "delta attention scan",
                               .split = SPLIT_COLUMN,
                               .units = s[HEADS],
                               .in = plus(times(4, width), s[HEADS]),
                               .out = width,
                               .parameters = plus(width, s[HEADS]), /* dt_bias, A_log */
                               .column = PART_LINEAR,
                               .flops = scan_flops(s),
                               .backward = 2.75,
                               .read = plus(times(13, width), times(2, inverse)),
                               .written = plus(times(4, width), inverse),
                               .kept = plus(width, inverse),
                               .moved_float = (double)states / (double)s[CHUNK] / 2,
                               .state = states,
                               .state_float = true};
    out[count] = mixer_gated_norm("delta attention norm", s[HEADS], s[HEAD_DIM], width);
    out[count++].whole_weights = true;
    out[count++] = mixer_matmul("delta attention out projection", SPLIT_ROW, s[HEADS], width, D, false);
    return count;
}

/* whole_gates: 1: neither gate is low-rank (bailing_hybrid); 2: that of the output is not (kimi_k3). */
const Mixer KDA_MIXER = {.name = "kda",
                         .words = "Kimi delta attention",
                         .sizes = {{"heads", 1, MIXER_REQUIRED},
                                   {"head_dim", 1, MIXER_REQUIRED},
                                   {"conv_kernel", 1, 4},
                                   {"chunk", 1, 64},
                                   {"whole_gates", 0, 0}},
                         .parts = parts};
