/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mamba 2: a state of head_dim x state numbers per head that decays by one number per head and token; inputs and outputs
 * of the state (B, C) are shared by the heads of a group. Trained in chunks, as a masked matrix product inside a chunk
 * and a recurrence between chunks: Dao and Gu, "Transformers are SSMs", 2024, section 6. */
#include "models/mixer.h"
#include "models/product.h"

#include <stddef.h>

enum { HEADS, HEAD_DIM, GROUPS, STATE, KERNEL, CHUNK, BIAS, CONV_BIAS, NORM };

/* FLOPs of one token, forward: C B' of a chunk per group; that times x, the states that a chunk leaves, and what comes
 * of the state before it, per head. As the kernels do them: all of a chunk's square. */
static double scan_flops(const int64_t *s) {
    double chunk = (double)s[CHUNK], state = (double)s[STATE], width = (double)s[HEADS] * (double)s[HEAD_DIM];
    return 2 * chunk * state * (double)s[GROUPS] + 2 * chunk * width + 4 * state * width;
}

static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, width = times(s[HEADS], s[HEAD_DIM]), shared = times(s[GROUPS], s[STATE]);
    int64_t mixed = plus(width, times(2, shared)), states = times(width, s[STATE]);
    int count = 0;
    out[count++] = mixer_matmul("mamba in projection", SPLIT_COLUMN, s[GROUPS], D,
                                plus(plus(mixed, width), s[HEADS]), s[BIAS]);
    out[count++] = mixer_convolution("mamba convolution", s[GROUPS], mixed, s[KERNEL], s[CONV_BIAS]);
    out[count++] = (MixerPart){.kind = MIXER_CORE,
                               .name = "mamba scan",
                               .split = SPLIT_COLUMN,
                               .units = s[GROUPS],
                               .parameters = times(3, s[HEADS]), /* A_log, D, dt_bias */
                               .column = PART_LINEAR,
                               .flops = scan_flops(s),
                               .backward = 2.5, /* two gradients of each product, and the chunk's square once more */
                               .read = plus(mixed, s[HEADS]),
                               .written = width,
                               .kept = plus(mixed, plus(width, s[HEADS])), /* x B C, dt, and its output for the gate */
                               .kept_float = (double)states / (double)s[CHUNK],
                               .state = states,
                               .state_float = true};
    if (s[NORM]) out[count++] = mixer_weights("mamba norm", SPLIT_COLUMN, s[GROUPS], width, PART_NORMS);
    out[count++] = mixer_matmul("mamba out projection", SPLIT_ROW, s[GROUPS], width, D, s[BIAS]);
    return count;
}

static const char *wrong(const LayerKind *kind) {
    return kind->sizes[HEADS] % kind->sizes[GROUPS] ? "the groups do not divide the heads" : NULL;
}

const Mixer MAMBA2_MIXER = {.name = "mamba2",
                            .words = "Mamba 2",
                            .sizes = {{"heads", 1, MIXER_REQUIRED},
                                      {"head_dim", 1, MIXER_REQUIRED},
                                      {"groups", 1, 1},
                                      {"state", 1, MIXER_REQUIRED},
                                      {"conv_kernel", 1, 4},
                                      {"chunk", 1, 256},
                                      {"bias", 0, 0},
                                      {"conv_bias", 0, 1},
                                      {"norm", 0, 1}},
                            .parts = parts,
                            .wrong = wrong};
