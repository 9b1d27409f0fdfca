/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mixers there are. To add one: a file that defines it, and a row. */
#include "models/mixer.h"

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

/* A layer that mixes no tokens: feed-forward alone (nemotron_h). */
static int no_parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    (void)model, (void)kind, (void)out;
    return 0;
}

const Mixer NO_MIXER = {.name = "none", .words = "no mixing of tokens", .parts = no_parts};
