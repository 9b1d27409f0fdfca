/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mamba 2: a state of head_dim x state numbers per head that decays by one number per head and token; inputs and
 * outputs of the state (B, C) are shared by the heads of a group. Trained in chunks, as a masked matrix product inside
 * a chunk and a recurrence between chunks: Dao and Gu, "Transformers are SSMs", 2024, section 6. */
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

/* Numbers to and from HBM in the kernels of mamba_ssm 2.2: dt alone, B and C for the scores of a chunk, x and B for the
 * states, x, C, dt and the scores for the output. Only what goes into the convolution stays for backward, which makes
 * the rest again (MambaSplitConv1dScanCombinedFn). A chunk's scores of a group are float32. */
static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, width = times(s[HEADS], s[HEAD_DIM]), shared = times(2, times(s[GROUPS], s[STATE]));
    int64_t mixed = plus(width, shared), states = times(width, s[STATE]), columns = plus(plus(mixed, width), s[HEADS]);
    double scores = (double)s[GROUPS] * (double)s[CHUNK], flops = scan_flops(s);
    int count = 0;
    MixerPart *in = &out[count++], *convolution = &out[count++], *scan = &out[count++];
    *in = mixer_matmul("mamba in projection", SPLIT_COLUMN, s[HEADS], D, columns, s[BIAS]);
    *convolution = mixer_convolution("mamba convolution", s[HEADS], mixed, s[KERNEL], s[CONV_BIAS]);
    convolution->kept = 0;
    *scan = (MixerPart){.kind = MIXER_CORE,
                        .name = "mamba scan",
                        .split = SPLIT_COLUMN,
                        .units = s[HEADS],
                        .in = plus(mixed, s[HEADS]),
                        .out = width,
                        .parameters = times(3, s[HEADS]), /* A_log, D, dt_bias */
                        .column = PART_LINEAR,
                        .flops = flops,
                        .backward = 2.5, /* states again, two gradients of each product, the chunk's square twice */
                        .read = plus(times(2, width), plus(times(2, shared), times(3, s[HEADS]))),
                        .written = width,
                        .kept = width,
                        .moved_float = 1.5 * (double)states / (double)s[CHUNK] + scores,
                        .state = states,
                        .state_float = true};
    in->group_share = (double)shared / (double)columns;
    convolution->group_share = (double)shared / (double)mixed;
    scan->group_share = 2 * (double)shared / (double)(scan->read + scan->written);
    scan->group_flops = 2 * scores * (double)s[STATE] / flops;
    in->groups = convolution->groups = scan->groups = s[GROUPS];
    if (s[NORM]) out[count++] = mixer_gated_norm("mamba norm", s[HEADS], width, width);
    out[count++] = mixer_matmul("mamba out projection", SPLIT_ROW, s[HEADS], width, D, s[BIAS]);
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
