/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lightning attention: linear attention with one fixed decay for each head, a norm, and a gate on its output. In
 * blocks: scores inside a block, a state between blocks. Qin and others (arXiv 2405.17381), algorithm 1; MiniMax-01
 * (arXiv 2501.08313), section 2.2. Ring-linear's layers are such ones too. */
#include "models/mixer.h"
#include "models/product.h"

#include <stddef.h>

enum { HEADS, HEAD_DIM, BLOCK, BIAS, GATE, NORM };

/* Of a token and head: q k' and its product with values over a block's square, the state with q, and its update. */
static double scan_flops(const int64_t *s) {
    double d = (double)s[HEAD_DIM];
    return (double)s[HEADS] * (4 * (double)s[BLOCK] * d + 4 * d * d);
}

static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, width = times(s[HEADS], s[HEAD_DIM]), states = times(width, s[HEAD_DIM]);
    int count = 0;
    out[count++] = mixer_matmul("linear attention in projection", SPLIT_COLUMN, s[HEADS], D,
                                times(s[GATE] ? 4 : 3, width), s[BIAS]);
    out[count++] = (MixerPart){.kind = MIXER_CORE,
                               .name = "linear attention scan",
                               .split = SPLIT_COLUMN,
                               .units = s[HEADS],
                               .in = times(3, width),
                               .out = width,
                               .column = PART_LINEAR,
                               .flops = scan_flops(s),
                               .backward = 2.5,
                               .read = times(5, width), /* keys and values for the states and for the scores */
                               .written = width,
                               .kept = width,
                               .moved_float = (double)states / (double)s[BLOCK],
                               .state = states,
                               .state_float = true};
    if (s[NORM] > 0) {
        out[count] = mixer_gated_norm("linear attention norm", s[HEADS], s[NORM], width);
        out[count++].whole_weights = s[NORM] < width; /* one norm for all heads, or for the width of all */
    }
    out[count++] = mixer_matmul("linear attention out projection", SPLIT_ROW, s[HEADS], width, D, s[BIAS]);
    return count;
}

const Mixer LIGHTNING_MIXER = {.name = "lightning",
                               .words = "lightning attention",
                               .sizes = {{"heads", 1, MIXER_REQUIRED},
                                         {"head_dim", 1, MIXER_REQUIRED},
                                         {"block", 1, 256},
                                         {"bias", 0, 0},
                                         {"gate", 0, 1},
                                         {"norm", 0, 0}}, /* parameters of the norm on its output; 0: none */
                               .parts = parts};
