/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The zoo and one model in full, for scripts. */
#include "base/json.h"
#include "base/util.h"
#include "search/cli/views/models_view.h"

static bool add_known(cJSON *to, const char *key, int64_t value) {
    return value ? json_add_whole(to, key, value) : cJSON_AddNullToObject(to, key) != NULL;
}

static bool add_summary(cJSON *to, const Model *model) {
    Parameters parameters = model_parameters(model);
    const LayerKind *first = &model->kinds[0], *mixture = models_widest_mixture(model);
    int64_t window_layers, window = models_window(model, &window_layers);
    cJSON *aliases;
    if (!json_add_text(to, "name", model->name) || !(aliases = json_add_array(to, "aliases"))) return false;
    for (int i = 0; i < model->alias_count; i++)
        if (!json_add_text(aliases, NULL, model->aliases[i])) return false;
    return json_add_text(to, "family", model->family) && json_add_text(to, "model_type", model->model_type) &&
           json_add_whole(to, "parameters", parameters.total) &&
           json_add_whole(to, "active_parameters", parameters.active) && json_add_whole(to, "layers", model->layers) &&
           json_add_whole(to, "d_model", model->d_model) && json_add_text(to, "attention", models_attention(first)) &&
           json_add_whole(to, "heads", first->heads) && json_add_whole(to, "kv_heads", first->kv_heads) &&
           json_add_whole(to, "head_dim", first->head_dim) && add_known(to, "window", window) &&
           json_add_whole(to, "window_layers", window_layers) && json_add_whole(to, "d_ff", first->d_ff) &&
           json_add_whole(to, "experts", mixture->experts) && json_add_whole(to, "top_k", mixture->top_k) &&
           json_add_whole(to, "vocab", model->vocab) && json_add_whole(to, "max_seq", model->max_seq) &&
           json_add_bool(to, "tied", model->tied) && json_add_text(to, "positions", models_positions(model)) &&
           add_known(to, "published_parameters", model->published_parameters) &&
           add_known(to, "published_active_parameters", model->published_active_parameters) &&
           json_add_text(to, "published_note", model->published_note) && json_add_text(to, "source", model->source);
}

/* {"name": "mamba2", "heads": ..}: its sizes by their keys in the native format. */
static bool add_mixer(cJSON *to, const LayerKind *kind) {
    if (!kind->mixer) return cJSON_AddNullToObject(to, "mixer") != NULL;
    cJSON *json = json_add_object(to, "mixer");
    if (!json || !json_add_text(json, "name", kind->mixer->name)) return false;
    for (int i = 0; i < mixer_size_count(kind->mixer); i++)
        if (!json_add_whole(json, kind->mixer->sizes[i].key, kind->sizes[i])) return false;
    return true;
}

static bool add_towers(cJSON *to, const Model *model) {
    cJSON *towers = json_add_array(to, "towers");
    for (int i = 0; towers && i < model->tower_count; i++) {
        const Tower *tower = &model->towers[i];
        cJSON *json = json_add_object(towers, NULL);
        if (!json || !json_add_text(json, "part", tower->part == PART_AUDIO ? "audio" : "vision") ||
            !json_add_text(json, "type", tower->type) || !json_add_whole(json, "layers", tower->layers) ||
            !json_add_whole(json, "width", tower->width) || !json_add_whole(json, "heads", tower->heads) ||
            !json_add_whole(json, "d_ff", tower->d_ff) || !json_add_whole(json, "patch", tower->patch) ||
            !json_add_whole(json, "parameters", tower->parameters))
            return false;
    }
    return towers != NULL;
}

/* Parameters that no other key says: of matrices that text goes through, of all else (vectors, projectors of towers),
 * and of the latter those of tables that are looked up. */
static bool add_extra(cJSON *to, const ExtraParameters *extra) {
    int64_t matrices = 0, vectors = 0;
    for (int i = 0; i < PART_COUNT; i++) {
        bool tower = i == PART_VISION || i == PART_AUDIO || i == PART_PROJECTOR;
        vectors += extra->vector[i] + (tower ? extra->matrix[i] : 0);
        if (!tower) matrices += extra->matrix[i];
    }
    return json_add_whole(to, "extra_matrices", matrices) && json_add_whole(to, "extra_vectors", vectors) &&
           json_add_whole(to, "extra_looked_up", extra->vector[PART_PLE] + extra->vector[PART_NGRAM]);
}

static bool add_wholes(cJSON *to, const Model *model, const LayerKind *kind) {
    const struct {
        const char *key;
        int64_t value;
    } fields[] = {
        {"count", kind->count},
        {"heads", kind->heads},
        {"kv_heads", kind->kv_heads},
        {"head_dim", kind->head_dim},
        {"q_lora_rank", kind->q_lora_rank},
        {"kv_lora_rank", kind->kv_lora_rank},
        {"qk_nope_head_dim", kind->qk_nope_head_dim},
        {"qk_rope_head_dim", kind->qk_rope_head_dim},
        {"v_head_dim", kind->v_head_dim},
        {"window", kind->window},
        {"d_ff", kind->d_ff},
        {"experts", kind->experts},
        {"top_k", kind->top_k},
        {"d_ff_expert", kind->d_ff_expert},
        {"d_ff_shared", kind->d_ff_shared},
        {"norms", kind->norms},
        {"qk_norm_parameters", kind->qk_norm_parameters},
        {"out_gate", kind->out_gate},
        {"out_rank", kind->out_rank},
        {"out_groups", kind->out_groups},
        {"kv_reused", kind->kv_reused},
        {"attention_width", kind->attention_width},
        {"index_heads", kind->index_heads},
        {"index_head_dim", kind->index_head_dim},
        {"index_top_k", kind->index_top_k},
        {"compress", kind->compress},
        {"cross_heads", kind->cross_heads},
        {"cross_kv_heads", kind->cross_kv_heads},
        {"cross_head_dim", kind->cross_head_dim},
        {"cross_width", kind->cross_width},
        {"expert_width", kind->expert_width},
        {"null_experts", kind->null_experts},
        {"copies", kind->copies},
        {"parameters", layer_parameters(model, kind).total},
        {"active_parameters", layer_parameters(model, kind).active},
    };
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (!json_add_whole(to, fields[i].key, fields[i].value)) return false;
    return true;
}

static bool add_flags(cJSON *to, const LayerKind *kind) {
    const struct {
        const char *key;
        bool value;
    } flags[] = {
        {"gated", kind->gated},
        {"chunked", kind->chunked},
        {"no_rope", kind->no_rope},
        {"qkv_bias", kind->qkv_bias},
        {"out_bias", kind->out_bias},
        {"mlp_bias", kind->mlp_bias},
        {"sinks", kind->sinks},
        {"router_bias", kind->router_bias},
        {"expert_bias", kind->expert_bias},
        {"shared_gate", kind->shared_gate},
        {"parallel_block", kind->parallel_block},
    };
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if (!json_add_bool(to, flags[i].key, flags[i].value)) return false;
    return true;
}

static bool add_kind(cJSON *to, const Model *model, const LayerKind *kind) {
    return json_add_text(to, "attention", kind->attention == ATTENTION_LATENT ? "latent" : "heads") &&
           add_mixer(to, kind) && add_wholes(to, model, kind) && add_extra(to, &kind->extra) && add_flags(to, kind);
}

static bool add_rope(cJSON *to, const Model *model) {
    const Rope *rope = &model->rope;
    if (rope->theta <= 0) return cJSON_AddNullToObject(to, "rope") != NULL;
    cJSON *child = json_add_object(to, "rope");
    return child && json_add_real(child, "theta", rope->theta) &&
           json_add_real(child, "window_theta", rope->window_theta > 0 ? rope->window_theta : rope->theta) &&
           json_add_text(child, "type", rope->type) && json_add_real(child, "factor", rope->factor) &&
           json_add_real(child, "share", rope->share) && add_known(child, "original_max_seq", rope->original_max_seq);
}

static bool add_training(cJSON *to, const TrainingDefaults *training) {
    cJSON *child = json_add_object(to, "training");
    bool dropless = training->capacity_factor <= 0;
    return child && add_known(child, "batch_tokens", training->batch_tokens) &&
           add_known(child, "seq", training->seq) && add_known(child, "tokens", (int64_t)training->tokens) &&
           (dropless ? cJSON_AddNullToObject(child, "capacity_factor") != NULL
                     : json_add_real(child, "capacity_factor", training->capacity_factor)) &&
           json_add_text(child, "source", training->source);
}

static bool add_details(cJSON *to, const Model *model) {
    Parameters parameters = model_parameters(model);
    cJSON *kinds = json_add_array(to, "kinds"), *child;
    if (!kinds) return false;
    for (int i = 0; i < model->kind_count; i++)
        if (!(child = json_add_object(kinds, NULL)) || !add_kind(child, model, &model->kinds[i])) return false;
    if (!add_towers(to, model) || !add_rope(to, model) || !(child = json_add_object(to, "parts"))) return false;
    for (size_t i = 0; i < MODELS_PARTS; i++)
        if (!json_add_whole(child, MODELS_PART[i].key, models_part(&parameters, i))) return false;
    if (!(child = json_add_object(to, "flops_per_token")) || !json_add_whole(child, "seq", models_usual_seq(model)))
        return false;
    for (size_t i = 0; i < MODELS_CONVENTIONS; i++) {
        double flops = model_flops_per_token(model, MODELS_CONVENTION[i].convention, models_usual_seq(model));
        if (!json_add_real(child, MODELS_CONVENTION[i].key, flops)) return false;
    }
    static const char *const NORMS[] = {"rms", "layer_no_bias", "layer"};
    return json_add_text(to, "published_source", model->published_source) && add_training(to, &model->training) &&
           json_add_text(to, "norm", NORMS[model->norm]) && add_extra(to, &model->extra) &&
           json_add_whole(to, "learned_positions", model->learned_positions) &&
           json_add_bool(to, "embedding_norm", model->embedding_norm) &&
           json_add_bool(to, "logits_bias", model->logits_bias) && json_add_bool(to, "no_head", model->no_head) &&
           json_add_text(to, "left_out", model->left_out) && json_add_text(to, "odd", model->odd) &&
           json_add_text(to, "stored_as", model->stored_as);
}

bool models_write_json(FILE *out, const Zoo *zoo, const Model *one) {
    cJSON *json = one ? cJSON_CreateObject() : cJSON_CreateArray();
    bool ok = json && (!one || (add_summary(json, one) && add_details(json, one)));
    for (int i = 0; ok && !one && i < zoo->count; i++) {
        cJSON *entry = json_add_object(json, NULL);
        ok = entry && add_summary(entry, &zoo->models[i]);
    }
    ok = ok && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}
