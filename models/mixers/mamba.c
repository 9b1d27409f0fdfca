/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mamba 1: a state of `state` numbers for each of `inner` channels, whose decay, input and output depend on the token:
 * no matrix product says it, a kernel walks it in registers. Gu and Dao 2023, section 3; the fused kernel of mamba_ssm
 * (selective_scan_interface.py, MambaInnerFn) keeps what goes into the convolution and the scan's output. */
#include "models/mixer.h"
#include "models/product.h"

#include <stddef.h>

enum { INNER, STATE, DT_RANK, KERNEL, BIAS, CONV_BIAS, NORMS };

static int parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    const int64_t *s = kind->sizes;
    int64_t D = model->d_model, I = s[INNER], states = times(I, s[STATE]);
    int64_t chosen = plus(s[DT_RANK], times(2, s[STATE]));
    int count = 0;
    out[count++] = mixer_matmul("mamba in projection", SPLIT_COLUMN, I, D, times(2, I), s[BIAS]);
    out[count] = mixer_convolution("mamba convolution", I, I, s[KERNEL], s[CONV_BIAS]);
    out[count++].kept = 0; /* made again */
    out[count] = mixer_matmul("mamba selection", SPLIT_ROW, I, I, chosen, false);
    out[count++].kept = chosen;
    if (s[NORMS]) out[count++] = mixer_weights("mamba selection norms", SPLIT_LOCAL, 1, chosen, PART_NORMS);
    out[count] = mixer_matmul("mamba step projection", SPLIT_COLUMN, I, s[DT_RANK], I, true);
    out[count++].kept = 0;
    out[count++] = (MixerPart){.kind = MIXER_CORE,
                               .name = "mamba scan",
                               .split = SPLIT_COLUMN,
                               .units = I,
                               .in = times(2, I),
                               .out = I,
                               .parameters = plus(states, I), /* A_log, D */
                               .column = PART_LINEAR,
                               .flops = 9 * (double)states, /* the paper's count, appendix D */
                               .backward = 2.5,
                               .on_vectors = true,
                               .read = plus(times(3, I), times(2, s[STATE])), /* x, step, gate; B, C */
                               .written = I,
                               .kept = I,
                               .state = states,
                               .state_float = true};
    out[count++] = mixer_matmul("mamba out projection", SPLIT_ROW, I, I, D, s[BIAS]);
    return count;
}

const Mixer MAMBA_MIXER = {.name = "mamba",
                           .words = "Mamba 1",
                           .sizes = {{"inner", 1, MIXER_REQUIRED},
                                     {"state", 1, 16},
                                     {"dt_rank", 1, MIXER_REQUIRED},
                                     {"conv_kernel", 1, 4},
                                     {"bias", 0, 0},
                                     {"conv_bias", 0, 1},
                                     {"norms", 0, 0}},
                           .parts = parts};
