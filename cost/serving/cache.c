/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/serving/cache.h"

#include "base/util.h"
#include "models/mixer.h"

#include <math.h>

double attended_bytes_per_layer(const LayerKind *kind, double bytes_per_number) {
    if (kind->heads == 0) return 0;
    double joined = (double)max_whole(1, kind->compress); /* tokens of which one entry is made */
    if (kind->attention == ATTENTION_LATENT)
        return bytes_per_number * (double)(kind->kv_lora_rank + kind->qk_rope_head_dim) / joined;
    double value = (double)(kind->v_head_dim > 0 ? kind->v_head_dim : kind->head_dim);
    double width = (double)kind->head_dim + (kind->kv_reused == KV_SAME ? 0 : value);
    return bytes_per_number * (double)kind->kv_heads * width / joined;
}

double cache_bytes_per_layer(const LayerKind *kind, double bytes_per_number) {
    double index = kind->index_heads > 0 ? (double)kind->index_head_dim / (double)max_whole(1, kind->compress) : 0;
    double own = kind->kv_reused == KV_OF_OTHER ? 0 : attended_bytes_per_layer(kind, bytes_per_number);
    return own + INDEX_KEY_BYTES * index;
}

double state_bytes_per_layer(const Model *model, const LayerKind *kind, int64_t tensor) {
    MixerPart parts[MIXER_PARTS_MAX];
    double bytes = 0;
    for (int i = 0, count = kind->mixer ? kind->mixer->parts(model, kind, parts) : 0; i < count; i++)
        bytes += (parts[i].state_float ? 4 : 2) * (double)parts[i].state * mixer_state_share(&parts[i], (double)tensor);
    return bytes;
}

double cache_span(const LayerKind *kind, double bytes_per_number, double tokens) {
    double near = kind->window > 0 ? min_real(tokens, (double)kind->window) : tokens;
    if (kind->compress <= 1) return near;
    /* Joined entries of all tokens, and those of the window as they are, which no indexer looks through. */
    double whole = attended_bytes_per_layer(kind, bytes_per_number * (double)kind->compress) /
                   cache_bytes_per_layer(kind, bytes_per_number);
    return kind->window > 0 ? tokens + near * whole : tokens;
}

double cache_bytes_per_sequence(const Model *model, double bytes_per_number, double tokens, double page) {
    double bytes = 0;
    for (int i = 0; i < model->kind_count; i++) {
        double span = ceil(cache_span(&model->kinds[i], bytes_per_number, tokens) / page) * page;
        bytes += (double)model->kinds[i].count * (span * cache_bytes_per_layer(&model->kinds[i], bytes_per_number) +
                                                  state_bytes_per_layer(model, &model->kinds[i], 1));
    }
    return bytes;
}

static int64_t heads_of_cache(const LayerKind *kind) {
    return kind->attention == ATTENTION_LATENT ? 1 : max_whole(1, kind->kv_heads);
}

int64_t cache_copies(const LayerKind *kind, int64_t tensor) {
    return kind->heads == 0 ? 1 : max_whole(1, tensor / heads_of_cache(kind));
}

double cache_share_of_chip(const LayerKind *kind, int64_t tensor, int64_t further) {
    int64_t heads = heads_of_cache(kind);
    double own = (double)divide_up(heads, min_whole(tensor, heads)) / (double)heads;
    return own / (double)further;
}
