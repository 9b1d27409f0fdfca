/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RWKV 4: a weighted mean of values whose weights decay by one number for each channel; its inputs are mixed with those
 * of the token before. Peng and others (arXiv 2305.13048), section 3. */
#include "models/mixer.h"
#include "models/product.h"

#include <stddef.h>

enum { WIDTH };

static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, W = s[WIDTH];
    int count = 0;
    out[count++] = mixer_matmul("rwkv key, value, receptance", SPLIT_COLUMN, W, D, times(3, W), false);
    out[count++] = (MixerPart){.kind = MIXER_CORE,
                               .name = "rwkv recurrence",
                               .split = SPLIT_COLUMN,
                               .units = W,
                               .in = times(2, W),
                               .out = W,
                               .parameters = plus(times(2, W), times(3, D)), /* decay, first; three mixtures */
                               .column = PART_LINEAR,
                               .flops = 16 * (double)W, /* four exponentials, maxima, two sums, a division */
                               .backward = 2.5,
                               .on_vectors = true,
                               .read = times(3, W),
                               .written = W,
                               .kept = times(2, W), /* and its product with the receptance */
                               .state = plus(times(3, W), D),
                               .state_float = true};
    out[count++] = mixer_matmul("rwkv output", SPLIT_ROW, W, W, D, false);
    return count;
}

const Mixer RWKV_MIXER = {
    .name = "rwkv", .words = "RWKV 4", .sizes = {{"width", 1, MIXER_REQUIRED}}, .parts = parts};
