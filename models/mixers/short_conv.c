/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Short convolution between two gates (LFM2): three copies of the stream, of which the first two are multiplied, mixed
 * over a few tokens, and multiplied by the third. LFM2 technical report (arXiv 2511.23404), section 2. */
#include "models/mixer.h"
#include "models/product.h"

#include <stddef.h>

enum { WIDTH, KERNEL, BIAS };

static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, W = s[WIDTH];
    int count = 0;
    out[count++] = mixer_matmul("convolution in projection", SPLIT_COLUMN, W, D, times(3, W), s[BIAS]);
    out[count] = mixer_convolution("short convolution", W, W, s[KERNEL], s[BIAS]);
    out[count].read = times(3, W); /* with both gates */
    out[count++].kept = times(2, W);
    out[count++] = mixer_matmul("convolution out projection", SPLIT_ROW, W, W, D, s[BIAS]);
    return count;
}

const Mixer SHORT_CONV_MIXER = {.name = "short_conv",
                                .words = "a short convolution",
                                .sizes = {{"width", 1, MIXER_REQUIRED}, {"conv_kernel", 1, 3}, {"bias", 0, 0}},
                                .parts = parts};
