/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/torchtitan/torchtitan.h"

#include "base/util.h"
#include "cost/stage/stage.h"
#include "search/answer/plan_words.h"

#include <inttypes.h>

/* torchtitan 0.3.0 models/NAME/__init__.py and config_registry.py; 0.2.2 models/NAME/__init__.py. */
static const TitanModel MODELS[] = {
    {"llama3-8b", "llama3", "8B", "llama3_8b", "./assets/hf/Meta-Llama-3-8B"},
    {"llama3.1-8b", "llama3", "8B", "llama3_8b", "./assets/hf/Llama-3.1-8B"},
    {"llama3-70b", "llama3", "70B", "llama3_70b", "./assets/hf/Meta-Llama-3-70B"},
    {"llama3.1-70b", "llama3", "70B", "llama3_70b", "./assets/hf/Llama-3.1-70B"},
    {"llama3.3-70b", "llama3", "70B", "llama3_70b", "./assets/hf/Llama-3.3-70B-Instruct"},
    {"llama3.1-405b", "llama3", "405B", "llama3_70b", "./assets/hf/Llama-3.1-405B"},
    {"qwen3-0.6b", "qwen3", "0.6B", "qwen3_0_6b", "./assets/hf/Qwen3-0.6B"},
    {"qwen3-1.7b", "qwen3", "1.7B", "qwen3_1_7b", "./assets/hf/Qwen3-1.7B"},
    {"qwen3-4b", "qwen3", "4B", "qwen3_14b", "./assets/hf/Qwen3-4B"},
    {"qwen3-8b", "qwen3", "8B", "qwen3_14b", "./assets/hf/Qwen3-8B"},
    {"qwen3-14b", "qwen3", "14B", "qwen3_14b", "./assets/hf/Qwen3-14B"},
    {"qwen3-32b", "qwen3", "32B", "qwen3_32b", "./assets/hf/Qwen3-32B"},
    {"qwen3-30b-a3b", "qwen3", "30B-A3B", "qwen3_30b_a3b", "./assets/hf/Qwen3-30B-A3B"},
    {"qwen3-235b-a22b", "qwen3", "235B-A22B", "qwen3_30b_a3b", "./assets/hf/Qwen3-235B-A22B"},
    {"deepseek-v2-lite", "deepseek_v3", "16B", "deepseek_v3_16b", "./assets/hf/deepseek-moe-16b-base"},
    {"deepseek-v2-236b", "deepseek_v3", "236B", "deepseek_v3_671b", "./assets/hf/DeepSeek-V2"},
    {"deepseek-v3", "deepseek_v3", "671B", "deepseek_v3_671b", "./assets/hf/DeepSeek-V3.1-Base"},
    {"gpt-oss-20b", "gpt_oss", "20b", "gpt_oss_20b", "./assets/hf/gpt-oss-20b"},
    {"gpt-oss-120b", "gpt_oss", "120b", "gpt_oss_120b", "./assets/hf/gpt-oss-120b"},
};

const TitanModel *titan_model(const Model *model) {
    for (size_t i = 0; i < COUNT_OF(MODELS); i++)
        if (name_matches(MODELS[i].name, model->name)) return &MODELS[i];
    return NULL;
}

/* The state of an activation under a way of checkpointing. */
static ActivationState checkpointed(TitanCheckpoint way, Activation activation) {
    if (way == TITAN_FULL) return activation == ACTIVATION_LAYER_INPUT ? STATE_SAVED : STATE_RECOMPUTED;
    return way == TITAN_SELECTIVE ? remat_selective_by_op(activation) : STATE_SAVED;
}

/* The way with the least recomputation whose layers keep no more bytes than the plan's. */
TitanCheckpoint titan_checkpoint(const LaunchJob *job) {
    CostContext setting = ranked_cost_context(job->request, job->ranked);
    const Plan *plan = &job->ranked->plan;
    ActivationCost costs[ACTIVATION_COUNT];
    Shard shard;
    if (!shard_of_plan(job->model, &setting.work, &plan->degrees, &plan->knobs, PADDING_ANY, &shard)) return TITAN_FULL;
    activation_costs(&setting, &shard, &plan->knobs, &plan->layout.sharding, costs);
    for (TitanCheckpoint way = TITAN_KEEP; way < TITAN_FULL; way++) {
        double kept = 0, wanted = 0;
        for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
            wanted += layout_kept_bytes(&costs[a], &plan->layout, a);
            kept += (double)job->layers * activation_kept_bytes(&costs[a], checkpointed(way, a));
        }
        if (kept <= wanted * (1 + 1e-9)) return way;
    }
    return TITAN_FULL;
}

/* What torch.distributed.pipelining.schedules.get_schedule_class() knows; LoopedBFS is GPipe over chunks. */
const char *titan_schedule(Schedule schedule) {
    static const char *const NAMES[SCHEDULE_COUNT] = {[SCHEDULE_GPIPE] = "GPipe",
                                                      [SCHEDULE_1F1B] = "1F1B",
                                                      [SCHEDULE_INTERLEAVED] = "Interleaved1F1B",
                                                      [SCHEDULE_CIRCULAR] = "LoopedBFS"};
    return NAMES[schedule] ? NAMES[schedule] : "1F1B";
}

int64_t titan_local_batch(const LaunchJob *job) {
    return job->knobs->microbatch_sequences * (job->pipeline > 1 ? job->knobs->microbatches : 1);
}

void titan_write_chunks(const LaunchJob *job, const char *head, const char *indent, FILE *out) {
    int64_t layer = 0;
    fprintf(out, "[\n");
    for (int64_t chunk = 0; chunk < job->chunks; chunk++) {
        fprintf(out, "%s    [%s", indent, chunk == 0 ? "\"tok_embeddings\"" : "");
        int64_t count = job_chunk_layers(job, chunk);
        for (int64_t i = 0; i < count; i++, layer++)
            fprintf(out, "%s\"layers.%" PRId64 "\"", i > 0 || chunk == 0 ? ", " : "", layer);
        if (chunk == job->chunks - 1) fprintf(out, "%s\"norm\", \"%s\"", count > 0 || chunk == 0 ? ", " : "", head);
        fprintf(out, "],\n");
    }
    fprintf(out, "%s]\n", indent);
}

const char *titan_cannot(const LaunchJob *job) {
    if (job->request->question.precision == PRECISION_INT8) return "it has no int8";
    return NULL;
}

void titan_note(const LaunchJob *job, EmitNotes *notes) {
    char text[ACTIVATIONS_TEXT_SIZE];
    const Layout *layout = &job->ranked->plan.layout;
    const Sharding *sharding = &layout->sharding;
    TitanCheckpoint checkpoint = titan_checkpoint(job);
    bool exact = true;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
        exact = exact &&
                (!activation_exists(job->model, a) || layout->layers[a][checkpointed(checkpoint, a)] == job->layers);
    }
    if (!exact) {
        emit_note(notes,
                  "torchtitan checkpoints all layers alike and offloads nothing: %s, which keeps no more than the plan "
                  "does and takes longer%s",
                  checkpoint == TITAN_FULL ? "full" : "selective, op by op",
                  checkpoint == TITAN_FULL ? "; --remat full costs that" : "");
        emit_note(notes, "the plan's activations: %s", job_activations(job, text));
    }
    if (job->tensor > 1 && (sharding->mlp == MLP_GATHERED || sharding->kv == KV_GATHERED))
        emit_note(notes, "weights or KV gathered over tensor were costed; torchtitan moves activations");
    if (!titan_model(job->model))
        emit_note(notes, "torchtitan has no %.60s: name a module of yours that has it", job->model->name);
    if (strcmp(job->request->asked.optimizer, "adamw") != 0 && job->request->asked.optimizer[0] != '\0')
        emit_note(notes, "the optimizer that was costed (%.60s) is not chosen here", job->request->asked.optimizer);
}
