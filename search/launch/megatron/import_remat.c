/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Megatron's --recompute-*: core/transformer/transformer_config.py, recompute_granularity and what follows
 * (d98e8a64dd). */
#include "base/util.h"
#include "search/launch/megatron/megatron.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Modules whose activations are made again in backward; what is kept behind them is no less. */
static const struct {
    const char *name;
    Activation activation[2];
    int count;
} MODULES[] = {
    {"core_attn", {ACTIVATION_LAYER_INPUT}, 0}, /* flash attention does so by itself */
    {"layernorm", {ACTIVATION_ATTENTION_INPUT, ACTIVATION_MLP_INPUT}, 2},
    {"moe_act", {ACTIVATION_PRODUCT}, 1},
    {"mla_up_proj", {ACTIVATION_QKV}, 1},
    {"mlp", {ACTIVATION_GATE_UP, ACTIVATION_PRODUCT}, 2},
    {"moe", {ACTIVATION_GATE_UP, ACTIVATION_PRODUCT}, 2},
    {"shared_experts", {ACTIVATION_LAYER_INPUT}, 0},
};

static bool read_selective(ConfigFile *file, ImportedPlan *plan) {
    const char *items[16];
    const char *modules = config_text(file, "recompute-modules", "core_attn");
    int count = config_list(file, modules, items, (int)COUNT_OF(items));
    bool again[ACTIVATION_COUNT] = {false}, any = false;
    for (int i = 0; i < count && i < (int)COUNT_OF(items); i++) {
        size_t m = 0;
        while (m < COUNT_OF(MODULES) && strcmp(items[i], MODULES[m].name) != 0) m++;
        if (m == COUNT_OF(MODULES)) {
            config_note(file, "recompute-modules: %.40s is not priced", items[i]);
            continue;
        }
        for (int a = 0; a < MODULES[m].count; a++) any = again[MODULES[m].activation[a]] = true;
    }
    if (!any) {
        snprintf(plan->remat, sizeof plan->remat, "none");
        return true;
    }
    for (int a = 1; a < ACTIVATION_COUNT; a++) {
        size_t used = strlen(plan->remat);
        if (!again[a])
            snprintf(plan->remat + used, sizeof plan->remat - used, "%s%s=saved", used > 0 ? " " : "",
                     activation_name((Activation)a));
    }
    return true;
}

bool megatron_import_remat(ConfigFile *file, const Request *request, int64_t chunks, ImportedPlan *plan, Error *error) {
    int64_t layers, stages = plan->degrees.of[ROLE_PIPELINE],
                    of_stage = divide_up(request->question.model.layers, stages);
    int64_t of_chunk = divide_up(of_stage, chunks);
    bool selective;
    const char *granularity = config_text(file, "recompute-granularity", "");
    const char *method = config_text(file, "recompute-method", "");
    if (!config_flag(file, "recompute-activations", false, &selective, error) ||
        !config_whole(file, "recompute-num-layers", 1, INT64_C(1) << 20, 0, &layers, error))
        return false;
    config_text(file, "distribute-saved-activations", "");
    if (selective || strcmp(granularity, "selective") == 0) return read_selective(file, plan);
    if (granularity[0] == '\0') {
        snprintf(plan->remat, sizeof plan->remat, "none");
        return true;
    }
    if (strcmp(granularity, "full") != 0 || (strcmp(method, "block") != 0 && strcmp(method, "uniform") != 0))
        return config_wrong(
            file, NULL, "recompute-granularity", error,
            "\"%.30s\" with method \"%.30s\" is none; give selective, or full with method uniform or block",
            granularity, method);
    if (layers == 0 || layers > of_chunk)
        return config_wrong(file, NULL, "recompute-num-layers", error,
                            "is %" PRId64 "; with full recomputation Megatron wants 1 to %" PRId64
                            ", the layers of a stage",
                            layers, of_stage);
    if (strcmp(method, "uniform") == 0 && layers > 1)
        config_note(file, "recompute-method uniform is priced as one checkpoint a layer");
    if (strcmp(method, "block") == 0 && layers < of_chunk)
        snprintf(plan->remat, sizeof plan->remat, "full:%" PRId64, layers * chunks);
    else
        snprintf(plan->remat, sizeof plan->remat, "full");
    return true;
}
