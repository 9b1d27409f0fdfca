/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mixers there are. To add one: a file that defines it, and a row. */
#include "base/util.h"
#include "models/mixer.h"
#include "models/product.h"

#include <math.h>
#include <string.h>

extern const Mixer NO_MIXER, MAMBA2_MIXER, GATED_DELTA_NET_MIXER, KDA_MIXER, LIGHTNING_MIXER, MAMBA_MIXER, RG_LRU_MIXER,
    SHORT_CONV_MIXER, MLSTM_MIXER, RWKV_MIXER;

const Mixer *const MIXERS[] = {&NO_MIXER,         &MAMBA2_MIXER,     &GATED_DELTA_NET_MIXER,
                               &KDA_MIXER,        &LIGHTNING_MIXER,  &MAMBA_MIXER,
                               &RG_LRU_MIXER,     &SHORT_CONV_MIXER, &MLSTM_MIXER,
                               &RWKV_MIXER,       NULL};

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

bool kind_mixes(const LayerKind *kind) {
    return kind->heads > 0 || kind->cross_heads > 0 || (kind->mixer && kind->mixer != &NO_MIXER);
}

const LayerKind *model_attending(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].heads > 0) return &model->kinds[i];
    return &model->kinds[0];
}

double model_blocks_share(const Model *model) {
    double blocks = 0, layers = 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        blocks += (double)kind->count * (kind_mixes(kind) + (kind->d_ff > 0 || kind->experts > 0));
        layers += (double)kind->count;
    }
    return blocks / (2 * layers);
}

double mixer_flops(const Model *model, const LayerKind *kind) {
    MixerPart parts[MIXER_PARTS_MAX];
    double flops = 0;
    for (int i = 0, count = kind->mixer->parts(model, kind, parts); i < count; i++)
        if (parts[i].kind == MIXER_CORE) flops += parts[i].flops;
    return flops;
}

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

/* A layer that mixes no tokens: feed-forward alone (nemotron_h). */
static int no_parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    (void)model, (void)kind, (void)out;
    return 0;
}

const Mixer NO_MIXER = {.name = "none", .words = "no mixing of tokens", .parts = no_parts};
