/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mixers there are. To add one: a file that defines it, and a row. */
#include "base/util.h"
#include "models/mixer.h"
#include "models/product.h"

#include <string.h>

extern const Mixer NO_MIXER, MAMBA2_MIXER, GATED_DELTA_NET_MIXER;

const Mixer *const MIXERS[] = {&NO_MIXER, &MAMBA2_MIXER, &GATED_DELTA_NET_MIXER, NULL};

const Mixer *mixer_named(const char *name) {
    for (int i = 0; MIXERS[i]; i++)
        if (strcmp(MIXERS[i]->name, name) == 0) return MIXERS[i];
    return NULL;
}

int mixer_size_count(const Mixer *mixer) {
    int count = 0;
    while (count < MIXER_SIZES_MAX && mixer->sizes[count].key) count++;
    return count;
}

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
                       .kept = in};
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

/* A layer that mixes no tokens: feed-forward alone (nemotron_h). */
static int no_parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    (void)model, (void)kind, (void)out;
    return 0;
}

const Mixer NO_MIXER = {.name = "none", .words = "no mixing of tokens", .parts = no_parts};
