/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of mixers: their makers, and what of one a chip of a tensor group has. */
#include "base/util.h"
#include "models/mixer.h"
#include "models/product.h"

#include <math.h>

static double share(const MixerPart *part, double tensor, double of_groups) {
    if (part->split == SPLIT_LOCAL) return 1;
    double units = (double)max_whole(1, part->units), own = units / tensor;
    if (tensor == floor(tensor)) own = ceil(own); /* whole heads */
    own /= units;
    double grouped = part->groups > 0 ? max_real(own, 1 / (double)part->groups) : own;
    return own + of_groups * (grouped - own);
}

double mixer_share(const MixerPart *part, double tensor) { return share(part, tensor, part->group_share); }

double mixer_state_share(const MixerPart *part, double tensor) {
    return share(part, tensor, part->kind == MIXER_CORE ? 0 : part->group_share);
}

double mixer_flops_share(const MixerPart *part, double tensor) { return share(part, tensor, part->group_flops); }

MixerPart mixer_matmul(const char *name, MixerSplit split, int64_t units, int64_t in, int64_t out, bool bias) {
    int64_t weights = times(in, out);
    return (MixerPart){.kind = MIXER_MATMUL,
                       .name = name,
                       .split = split,
                       .units = units,
                       .in = in,
                       .out = out,
                       .parameters = plus(weights, bias ? out : 0),
                       .column = PART_LINEAR,
                       .flops = 2 * (double)weights,
                       .backward = 2,
                       .read = in,
                       .written = out,
                       .kept = split == SPLIT_ROW ? 0 : out};
}

/* Memory is all it costs; its state are the last kernel - 1 tokens. */
MixerPart mixer_convolution(const char *name, int64_t units, int64_t channels, int64_t kernel, bool bias) {
    int64_t weights = times(channels, kernel);
    return (MixerPart){.kind = MIXER_CONVOLUTION,
                       .name = name,
                       .split = SPLIT_COLUMN,
                       .units = units,
                       .in = channels,
                       .out = channels,
                       .kernel = kernel,
                       .parameters = plus(weights, bias ? channels : 0),
                       .column = PART_LINEAR,
                       .flops = 2 * (double)weights,
                       .backward = 2,
                       .read = channels,
                       .written = channels,
                       .kept = channels,
                       .state = times(channels, kernel - 1)};
}

MixerPart mixer_weights(const char *name, MixerSplit split, int64_t units, int64_t parameters, ModelPart column) {
    return (MixerPart){.kind = MIXER_ELEMENTWISE,
                       .name = name,
                       .split = split,
                       .units = units,
                       .parameters = parameters,
                       .column = column};
}

MixerPart mixer_gated_norm(const char *name, int64_t units, int64_t parameters, int64_t width) {
    MixerPart part = mixer_weights(name, SPLIT_COLUMN, units, parameters, PART_NORMS);
    part.read = times(2, width), part.written = part.kept = width;
    return part;
}
