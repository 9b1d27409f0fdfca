/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RG-LRU: a gated linear recurrence of each channel alone, behind a short convolution, alongside a gelu branch that
 * gates it. De and others (Griffin, arXiv 2402.19427), section 2.4. Both gates are block-diagonal, a block for each
 * head. */
#include "models/mixer.h"
#include "models/product.h"

#include <stddef.h>

enum { WIDTH, HEADS, KERNEL, BIAS };

static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, L = s[WIDTH];
    int count = 0;
    out[count++] = mixer_matmul("recurrence in projection", SPLIT_COLUMN, s[HEADS], D, times(2, L), s[BIAS]);
    out[count++] = mixer_convolution("recurrence convolution", s[HEADS], L, s[KERNEL], true);
    out[count] = mixer_matmul("recurrence gates", SPLIT_COLUMN, s[HEADS], L / s[HEADS], times(2, L), true);
    out[count++].own_input = true;
    out[count++] = (MixerPart){.kind = MIXER_CORE,
                               .name = "recurrence",
                               .split = SPLIT_COLUMN,
                               .units = s[HEADS],
                               .in = times(3, L),
                               .out = L,
                               .parameters = L,
                               .column = PART_LINEAR,
                               .flops = 12 * (double)L, /* two sigmoids, a power, a root, the step */
                               .backward = 2.5,
                               .on_vectors = true,
                               .read = times(3, L),
                               .written = L,
                               .kept = times(2, L), /* and its product with the other branch */
                               .state = L,
                               .state_float = true};
    out[count++] = mixer_matmul("recurrence out projection", SPLIT_ROW, s[HEADS], L, D, s[BIAS]);
    return count;
}

static const char *wrong(const LayerKind *kind) {
    return kind->sizes[WIDTH] % kind->sizes[HEADS] ? "the heads do not divide the width" : NULL;
}

const Mixer RG_LRU_MIXER = {
    .name = "rg_lru",
    .words = "RG-LRU",
    .sizes = {{"width", 1, MIXER_REQUIRED}, {"heads", 1, MIXER_REQUIRED}, {"conv_kernel", 1, 4}, {"bias", 0, 1}},
    .parts = parts,
    .wrong = wrong};
