/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one list of engines. */
#include "search/serving/engines/engine.h"

#include "base/util.h"

#include <string.h>

static const Engine *const ENGINES[] = {&ENGINE_VLLM, &ENGINE_SGLANG, &ENGINE_TENSORRT_LLM, &ENGINE_MAXTEXT};
_Static_assert(COUNT_OF(ENGINES) <= ENGINES_MAX, "a set has a bit for each");

int engine_count(void) { return (int)COUNT_OF(ENGINES); }

const Engine *engine_at(int number) { return ENGINES[number]; }

int engine_named(const char *name) {
    for (int i = 0; i < engine_count(); i++)
        if (name_matches(ENGINES[i]->name, name)) return i;
    return -1;
}

/* TensorRT-LLM runs on NVIDIA's GPUs alone, which are those without direct links between all pairs. */
EngineSet engines_of_chip(const Chip *chip) {
    EngineSet set = 0;
    for (int i = 0; i < engine_count() && !chip->own_software; i++) {
        bool nvidia_alone = ENGINES[i] == &ENGINE_TENSORRT_LLM;
        bool takes = chip_has_domains(chip) ? ENGINES[i]->on_gpus : ENGINES[i]->on_tpus;
        if (takes && !(nvidia_alone && chip->scaleup == SCALEUP_MESH)) set |= 1u << i;
    }
    return set;
}

/* Experts of block-wise fp8 have a scale for each 128 columns; a shard that cuts a block is refused (Qwen3-235B: 1,536
 * / 8 = 192). */
enum { FP8_BLOCK = 128 };

int64_t engine_redundant_experts(const EngineAsk *ask) {
    int64_t most = 0, ways = ask->layout->expert;
    for (int i = 0; i < ask->model->kind_count; i++) most = max_whole(most, ask->model->kinds[i].experts);
    return ways < most ? divide_up(most, ways) * ways - most : 0;
}

/* Whether experts and attention data lie on more than so many chips of a domain or of a host; 0: there are none. */
static bool is_beyond(const EngineAsk *ask, int64_t chips) {
    return chips > 0 && ask->layout->expert > 1 && ask->layout->attention_data > 1 &&
           worker_group(ask->layout) > chips * max_whole(1, ask->chip->devices_per_chip);
}

bool engine_is_wide(const EngineAsk *ask) { return is_beyond(ask, ask->chip->domain_chips); }

bool engine_balances(const EngineAsk *ask) {
    return engine_is_wide(ask) || (chip_has_domains(ask->chip) && is_beyond(ask, ask->chip->chips_per_host));
}

/* deepseek-ai/DeepEP@dd758ca deep_ep/buffers/legacy.py asserts that get_dispatch_config() has the ranks, as does what
 * SGLang (token_dispatcher/deepep.py) and vLLM (prepare_finalize/deepep_ht.py) make of it. */
const char *engine_deepep_refuses(const EngineAsk *ask) {
    static const int64_t RANKS[] = {2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 144, 160};
    bool configured = ask->role == ENGINE_DECODES || engine_is_rocm(ask);
    for (size_t i = 0; i < COUNT_OF(RANKS); i++) configured |= worker_group(ask->layout) == RANKS[i];
    return configured ? NULL : "DeepEP has no configuration for prompts on so many ranks";
}

bool engine_family_among(const Model *model, const char *const *families) {
    while (*families && strcmp(model->family, *families) != 0) families++;
    return *families != NULL;
}

const char *engine_common_refuses(const EngineAsk *ask) {
    const WorkerLayout *layout = ask->layout;
    if (layout->kv_batch > 1) return "caches are not cut by batch within a tensor group";
    if (layout->stationary > 1) return "matmuls are not cut in two dimensions";
    for (int i = 0; i < ask->model->kind_count; i++) {
        const LayerKind *kind = &ask->model->kinds[i];
        if (kind->experts > 0 && layout->weights == STORED_FP8 && layout->expert_tensor > 1 &&
            (kind->d_ff_expert / layout->expert_tensor) % FP8_BLOCK != 0)
            return "a block of fp8 weights would be cut";
    }
    return NULL;
}
