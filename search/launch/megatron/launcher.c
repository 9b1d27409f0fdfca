/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Megatron-LM: the arguments of pretrain_gpt.py, in a script or as a list. Names, defaults and what it raises on:
 * Megatron-LM d98e8a64dd, training/arguments.py, core/parallel_state.py, core/transformer/transformer_config.py
 * (docs/launch.md has the commit). */
#include "base/memory_stream.h"
#include "base/util.h"
#include "search/launch/megatron/megatron.h"
#include "search/launch/rules.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char IGNORED[] =
    "lr lr-* *-lr *-lr-* *decay* adam-* clip-grad *dropout* *iters* train-* *interval* save* load* *ckpt* "
    "*checkpoint-* "
    "*tensorboard* wandb* log-* data-path data-args* data-cache* *-data-path *dataset* dataloader* *-in-dataloader "
    "*token*-type tokenizer* vocab-* merge-* split seed init-method* "
    "norm-epsilon *rotary* position-embedding-type no-position-embedding max-position-embeddings "
    "use-mcore-models use-legacy-models transformer-impl use-flash-attn attention-backend no-*-fusion "
    "*-fusion* disable-bias-linear add-*bias* untie-embeddings-and-output-weights swiglu normalization "
    "group-query-attention kv-channels qk-* apply-layernorm-1p squared-relu attention-softmax-in-fp32 bf16 fp16 "
    "*loss-scale* "
    "mock-* num-workers distributed-* local-rank exit-* timing-* manual-gc* empty-unused-memory-level "
    "profile* fp8-amax* fp8-margin calculate-per-token-loss moe-router* moe-aux* moe-z-loss* "
    "moe-grouped-gemm moe-permute* moe-shared* moe-layer* moe-per* moe-enable* moe-pad* "
    "multi-latent-attention *-lora-rank *-head-dim v-head-dim rope* use-rope* original-max* mscale* "
    "make-vocab-size-divisible-by overlap-grad-reduce overlap-param-gather* overlap-p2p* no-create* no-mmap* "
    "no-load* no-save* reset-* eod-* tiktoken* enable-experimental cross-entropy* ddp-* nccl-* async-save "
    "dist-* rerun-* override-* finetune sft* tp-comm-* moe-token-dispatcher-type "
    "microbatch-group-size-per-virtual-pipeline-stage accumulate-allreduce-grads-in-fp32 "
    "use-precision-aware-optimizer optimizer-offload-fraction use-cpu-initialization high-priority-stream-groups (*";

/* arguments.py: its sgd has a momentum (sgd-momentum 0.9). */
static OPTIMIZER_WORDS(OPTIMIZERS, {"adam", "adamw"}, {"sgd", "sgd-momentum"}, {"muon", "muon"}, {"dist_muon", "muon"},
                       {"lion", "lion"});

static Dtype dtype_of(const LaunchTerms *terms, int term) { return (Dtype)max_whole(DTYPE_DEFAULT, terms->of[term]); }

static bool read_work(ConfigFile *file, ImportedWork *out, Error *error) {
    ImportedSizes *sizes = &out->sizes;
    LaunchTerms terms;
    if (!keys_read(MEGATRON_KEYS, "mqehy", file, &terms, error)) return false;
    *sizes = keys_sizes(&terms);
    const char *moe_width = config_text(file, "moe-ffn-hidden-size", NULL);
    if (moe_width && sizes->experts > 0) sizes->d_ff = 0; /* of layers that may be none */
    if (!terms.of[TERM_GROUPED] && sizes->kv_heads == 0) sizes->kv_heads = sizes->heads;
    if (!config_whole(file, "max-position-embeddings", 1, INT64_C(1) << 40, 0, &sizes->max_seq, error)) return false;
    const ConfigEntry *vocab = config_take(file, "vocab-size");
    if (vocab) sizes->vocab = strtoll(vocab->value, NULL, 10);
    if (sizes->vocab < 0 || sizes->vocab > INT64_C(1) << 31) sizes->vocab = 0;
    if (!config_number_text(file, "seq-length", &out->seq, error)) return false;
    const ConfigEntry *fp8 = config_take_either(file, "fp8-format", "fp8");
    const char *recipe = config_text(file, "fp8-recipe", "");
    if (fp8) out->precision = strcmp(recipe, "mxfp8") == 0 ? "mxfp8" : "fp8";
    if (config_take_either(file, "fp4-format", "fp4")) out->precision = "nvfp4";
    bool in_bf16 = terms.of[TERM_HALF], in_fp32, bf16, narrow;
    if (!config_flag(file, "accumulate-allreduce-grads-in-fp32", false, &in_fp32, error) ||
        !config_flag(file, "bf16", false, &bf16, error) ||
        !config_flag(file, "fp8-param-gather", false, &narrow, error))
        return false;
    /* Recipes in fp8 have no weights in bf16, which is how they are priced; without the flag they lie next to casts. */
    bool wide = out->precision && strcmp(out->precision, "nvfp4") != 0 && !narrow;
    /* arguments.py: bf16 implies fp32 gradients where they are not reduced in bf16 */
    StateDtypes state = {.parameters = wide ? DTYPE_BF16 : DTYPE_DEFAULT,
                         .master = dtype_of(&terms, TERM_MASTER),
                         .first = dtype_of(&terms, TERM_FIRST),
                         .second = dtype_of(&terms, TERM_SECOND)};
    if (in_bf16 || in_fp32 || bf16) state.gradients = in_bf16 ? DTYPE_BF16 : DTYPE_FP32;
    return import_state(file, &state, out, error);
}

/* How data-parallel ranks share parameters: fsdp, or replicas with a ZeRO stage. */
typedef struct {
    bool shards;
    int zero;
    int64_t outer; /* groups of replicas outside of those that share */
} DataSharding;

static bool read_sharding(ConfigFile *file, const LaunchTerms *terms, DataSharding *out, Error *error) {
    int64_t strategy = terms->of[TERM_STRATEGY];
    bool torch;
    if (!config_flag(file, "use-torch-fsdp2", false, &torch, error)) return false;
    bool by_layers = strcmp(config_text(file, "optimizer", ""), "dist_muon") == 0;
    *out = (DataSharding){
        .outer = terms->of[TERM_INSTANCES], .zero = by_layers || terms->of[TERM_DISTRIBUTED], .shards = torch};
    if (!terms->of[TERM_BY_FSDP]) return true;
    if (strategy == TERM_UNKNOWN) return keys_unknown(MEGATRON_KEYS, TERM_STRATEGY, file, error);
    out->shards = strategy == STRATEGY_ALL;
    out->zero = out->shards ? terms->of[TERM_OUTER] == STRATEGY_OPTIM : (int)strategy;
    return true;
}

static bool read_degrees(ConfigFile *file, const Request *request, const LaunchTerms *terms,
                         const DataSharding *sharding, ImportedPlan *plan, Error *error) {
    static const Role READ[] = {ROLE_TENSOR, ROLE_PIPELINE, ROLE_SEQUENCE};
    int64_t *of = plan->degrees.of, ranks;
    for (size_t i = 0; i < COUNT_OF(READ); i++) of[READ[i]] = terms->of[READ[i]];
    if (!import_left_over(file, request, "tensor x pipeline x context", plan, &ranks, error)) return false;
    if (ranks % sharding->outer != 0)
        return config_wrong(file, NULL, "num-distributed-optimizer-instances", error,
                            "%" PRId64 " does not divide the %" PRId64 " data-parallel ranks", sharding->outer, ranks);
    of[ROLE_DATA] = sharding->shards ? sharding->outer : ranks;
    of[ROLE_FSDP] = sharding->shards ? ranks / sharding->outer : 1;
    if (!sharding->shards && sharding->outer > 1)
        config_note(file, "%" PRId64 " instances of the distributed optimizer are priced as one", sharding->outer);
    if (of[ROLE_DATA] > 1 || (!sharding->shards && of[ROLE_SEQUENCE] > 1))
        import_knob(plan, KNOB_ZERO_STAGE, sharding->zero);
    if (sharding->shards && of[ROLE_FSDP] * of[ROLE_SEQUENCE] > 1) import_knob(plan, KNOB_REGATHER, true);
    return true;
}

/* --cp-comm-type, of all layers the first's. */
static bool read_context(ConfigFile *file, const Request *request, const DataSharding *sharding, ImportedPlan *plan,
                         Error *error) {
    int64_t ways = plan->degrees.of[ROLE_SEQUENCE];
    const char *types = config_text(file, "cp-comm-type", "p2p"), *type = types, *sizes[2] = {NULL, NULL};
    const char *levels = config_text(file, "hierarchical-context-parallel-sizes", "");
    if (ways == 1) return true;
    if (config_list(file, types, &type, 1) > 1)
        config_note(file, "cp-comm-type: that of the first layer is taken for all");
    int64_t method = keys_value(MEGATRON_KEYS, TERM_CONTEXT, type);
    if (method == TERM_UNKNOWN)
        return config_wrong(file, NULL, "cp-comm-type", error, "\"%.40s\" is none; give p2p, allgather, a2a or a2a+p2p",
                            type);
    if (!import_check_seq(file, request, "seq-length", 2 * ways, error)) return false;
    import_knob(plan, KNOB_SEQUENCE_PARAMETERS, !sharding->shards);
    import_knob(plan, KNOB_CONTEXT_METHOD, method);
    if (method != CONTEXT_ULYSSES_RING) return true;
    if (config_list(file, levels, sizes, 2) != 2 || strtoll(sizes[0], NULL, 10) < 2)
        return config_wrong(file, NULL, "hierarchical-context-parallel-sizes", error,
                            "a2a+p2p has two sizes, that of a2a first; give them");
    import_knob(plan, KNOB_ULYSSES, strtoll(sizes[0], NULL, 10));
    return true;
}

static bool read_experts(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan,
                         Error *error) {
    const int64_t *of = plan->degrees.of;
    int64_t experts = import_experts(request), ways = terms->of[ROLE_EXPERT], width = terms->of[TERM_EXPERT_TENSOR];
    int64_t ranks = of[ROLE_TENSOR] * of[ROLE_SEQUENCE] * of[ROLE_FSDP] * of[ROLE_DATA];
    bool along = terms->of[TERM_ALONG];
    if (width == 0) width = of[ROLE_TENSOR];
    if (!along && of[ROLE_TENSOR] > 1 && experts > 0)
        return config_wrong(file, NULL, "sequence-parallel", error,
                            "is not given, and Megatron trains no mixture with tensor parallelism without it; give it");
    if (!along && of[ROLE_TENSOR] > 1)
        config_note(file, "without --sequence-parallel: how the residual stream lies is chosen best");
    if (experts == 0 && ways > 1)
        return config_wrong(file, NULL, "expert-model-parallel-size", error, "%s has no experts; leave it out",
                            request->question.model.name);
    if (experts > 0 && ways == 1 && width == of[ROLE_TENSOR]) import_knob(plan, KNOB_FOLDED_EXPERT, 0);
    if (experts == 0 || (ways == 1 && width == of[ROLE_TENSOR])) return true;
    if (ways > ranks || width > ranks || ranks % (ways * width) != 0 || experts % ways != 0)
        return config_wrong(file, NULL, "expert-model-parallel-size", error,
                            "%" PRId64 " x expert-tensor-parallel-size %" PRId64 " do not divide the %" PRId64
                            " ranks of a stage, or the %" PRId64 " experts; give sizes that do",
                            ways, width, ranks, experts);
    if (ways * width > 1 && terms->of[TERM_DISPATCHER] != DISPATCHER_FLEX &&
        request->question.profile.dispatch_per_node > 0.5)
        config_note(file, "moe-token-dispatcher-type is not flex, and a fused dispatcher is priced, which is faster: "
                          "--stack megatron-bridge-25 has a plain one");
    if (terms->of[TERM_EXPERTS_OVERLAP] &&
        request->question.profile.expert_exposed > request->question.profile.expert_overlapped)
        config_note(file, "overlap-moe-expert-parallel-comm is priced as exchanges that wait: --stack "
                          "megatron-bridge-26-overlap has them alongside compute");
    import_knob(plan, KNOB_FOLDED_EXPERT, ways);
    import_knob(plan, KNOB_FOLDED_EXPERT_TENSOR, width);
    return true;
}

/* Stages of --pipeline-model-parallel-layout: "Et*3|(tt|)*29,m|L", of which | divides and (...)*n repeats; 0: not
 * read. */
static int64_t layout_stages(const char *text) {
    int64_t stages = 1, inside = 0;
    bool open = false;
    for (; *text; text++) {
        if (*text == '(') open = true, inside = 0;
        if (*text == '|') open ? inside++ : stages++;
        if (*text != ')' || !open) continue;
        open = false;
        int64_t times = text[1] == '*' && isdigit((unsigned char)text[2]) ? strtoll(text + 2, NULL, 10) : 1;
        if (times > 1 << 20) return 0;
        stages += inside * times;
    }
    return stages;
}

static bool read_schedule(ConfigFile *file, const Request *request, const LaunchTerms *terms, int64_t *chunks,
                          ImportedPlan *plan, Error *error) {
    int64_t stages = plan->degrees.of[ROLE_PIPELINE], layers = request->question.model.layers, of_chunk, first, last;
    bool embedding = terms->of[TERM_EMBEDDING_SLOT], loss = terms->of[TERM_LOSS_SLOT], plain;
    *chunks = max_whole(1, terms->of[TERM_VIRTUAL_STAGES]);
    if (!config_whole(file, "num-layers-per-virtual-pipeline-stage", 1, layers, 0, &of_chunk, error) ||
        !config_whole(file, "decoder-first-pipeline-num-layers", 1, layers, 0, &first, error) ||
        !config_whole(file, "decoder-last-pipeline-num-layers", 1, layers, 0, &last, error) ||
        !config_flag(file, "no-overlap-p2p-communication", false, &plain, error))
        return false;
    const char *layout = config_text(file, "pipeline-model-parallel-layout", NULL);
    if (stages == 1) return true;
    bool uneven = first > 0 || last > 0 || embedding || loss || layout;
    int64_t slots = layers + embedding + loss;
    if (layout) {
        int64_t all = layout_stages(layout);
        if (all == 0 || all % stages != 0)
            return config_wrong(file, NULL, "pipeline-model-parallel-layout", error,
                                "has %" PRId64 " stages, which are no multiple of the %" PRId64 " of the pipeline", all,
                                stages);
        *chunks = all / stages;
    } else if (first == 0 && last == 0 && slots % stages != 0) {
        return config_wrong(
            file, NULL, "pipeline-model-parallel-size", error,
            "%" PRId64 " does not divide the %" PRId64 " layers of %s%s; give a layout, or other stages", stages, slots,
            request->question.model.name, slots > layers ? " with embedding and loss" : "");
    }
    if (of_chunk > 0) {
        if (slots / stages % of_chunk != 0)
            return config_wrong(file, NULL, "num-layers-per-virtual-pipeline-stage", error,
                                "%" PRId64 " does not divide the %" PRId64 " layers of a stage", of_chunk,
                                slots / stages);
        *chunks = slots / stages / of_chunk;
    }
    *chunks = max_whole(1, *chunks);
    if (*chunks > layers || (slots / stages % *chunks != 0 && !uneven))
        return config_wrong(file, NULL, "num-virtual-stages-per-pipeline-rank", error,
                            "%" PRId64 " does not divide the %" PRId64 " layers of a stage", *chunks, slots / stages);
    import_knob(plan, KNOB_SCHEDULE, *chunks > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B);
    import_knob(plan, KNOB_VIRTUAL_STAGES, *chunks);
    bool in_slots =
        embedding && loss && first == 0 && last == 0 && !layout && slots_of_stage(&request->question.model, stages) > 0;
    if (in_slots)
        import_knob(plan, KNOB_STAGES, STAGES_SLOTS);
    else if (layers % (stages * *chunks) != 0)
        import_knob(plan, KNOB_STAGES, STAGES_BALANCED);
    if (uneven && !in_slots)
        config_note(file, "the given split of layers is priced as %s one",
                    layers % (stages * *chunks) != 0 ? "the best balanced" : "an even");
    return true;
}

static bool read_batch(ConfigFile *file, const Request *request, const LaunchTerms *terms, ImportedPlan *plan,
                       Error *error) {
    int64_t micro = terms->of[TERM_MICRO], global = terms->of[TERM_BATCH];
    if (config_take(file, "rampup-batch-size")) config_note(file, "rampup-batch-size: the full batch is priced");
    if (micro == 0)
        return config_wrong(file, NULL, "micro-batch-size", error, "is missing; Megatron has no default for it");
    if (global == 0) {
        global = micro * degrees_replicas(&plan->degrees);
        if (request->requested.batch_origin != FROM_OPTION)
            config_note(file, "global-batch-size is not given: one microbatch, as Megatron has it");
    }
    return import_batch(file, request, "global-batch-size", global, micro, plan, error);
}

static bool read_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    DataSharding sharding;
    LaunchTerms terms;
    bool activations;
    int64_t chunks;
    if (!import_check_gpus(file, request, "Megatron", error) || !keys_read(MEGATRON_KEYS, NULL, file, &terms, error) ||
        !read_sharding(file, &terms, &sharding, error) ||
        !read_degrees(file, request, &terms, &sharding, plan, error) ||
        !import_check_heads(file, request, "tensor-model-parallel-size", plan->degrees.of[ROLE_TENSOR], true, error) ||
        !read_context(file, request, &sharding, plan, error) || !read_experts(file, request, &terms, plan, error) ||
        !read_schedule(file, request, &terms, &chunks, plan, error) ||
        !read_batch(file, request, &terms, plan, error) ||
        !megatron_import_remat(file, request, &terms, chunks, plan, error) ||
        !config_flag(file, "cpu-offloading", false, &activations, error))
        return false;
    if (terms.of[TERM_STAGES_INSIDE]) plan->option = "--use-tp-pp-dp-mapping", plan->nesting = "megatron-pp-dp";
    import_overlap(file, request, terms.of[TERM_OVERLAP], plan);
    import_offload(file, request, terms.of[TERM_OFFLOAD], plan);
    if (config_take(file, "moe-expert-capacity-factor"))
        config_note(file, "moe-expert-capacity-factor: tokens are dropped as %s is known to be trained",
                    request->question.model.name);
    if (activations) config_note(file, "--cpu-offloading of activations is not priced: they lie in HBM");
    config_ignore(file, IGNORED);
    return true;
}

/* ---- what it refuses ---- */

/* Parameters are sharded over data-parallel and context ranks by Megatron-FSDP alone (optim_grads_params; ZeRO-2 is its
 * optim_grads), and that, like --use-torch-fsdp2, which requires pp == 1 (arguments.py), is taken without pipeline
 * here. Over an outer `data` it leaves state whole or shards the optimizer (--outer-dp-sharding-strategy no_shard |
 * optim). */
static bool sharding(const PlanFacts *facts) {
    bool sharded = facts->fsdp * facts->expert > 1 || facts_sequence_shards(facts);
    int zero = facts->plan->knobs.zero_stage;
    return (facts->pipeline == 1 || (!sharded && zero <= 1)) && (!sharded || zero <= 1);
}

/* arguments.py: seq_length % (2 * cp) == 0; sequence parallelism, which goes with tensor, wants (seq / cp) % tp == 0.
 * --cp-comm-type p2p, allgather, a2a, a2a+p2p: all four ways; those that exchange heads deal them whole. */
static bool tokens(const PlanFacts *facts) {
    if (facts->sequence > 1 && facts->seq % (2 * facts->sequence) != 0) return false;
    return facts->seq % facts->sequence == 0 && facts->seq / facts->sequence % facts->tensor == 0;
}

#define REFUSES_SHARDS                                                                                                 \
    "Megatron-FSDP shards without pipeline, and with ZeRO-0 or 1 over data; with a pipeline data has ZeRO-0 or 1"
#define REFUSES_LAYERS "it has no ALiBi, and no layer whose attention and MLP read the same input"
#define REFUSES_TOKENS                                                                                                 \
    "seq-length has to be a multiple of 2 x sequence and of sequence x tensor, heads that are exchanged of "           \
    "tensor x ulysses"

/* core/transformer/transformer_layer.py: attention, then the MLP, a norm before each; core/models/gpt: rope, learned or
 * no positions. */
static const char *refuses_work(const Request *request) {
    const Model *model = &request->question.model;
    for (int i = 0; i < model->kind_count; i++) {
        REFUSE_UNLESS(!model->kinds[i].parallel_block, REFUSES_LAYERS);
        REFUSE_UNLESS(model->kinds[i].norms <= 2, "its layer has a norm before attention and one before the MLP, and "
                                                  "no third; a layer spec of your own would have it");
    }
    REFUSE_UNLESS(model->positions != POSITIONS_ALIBI, REFUSES_LAYERS);
    const StateDtypes *said = &request->requested.state_dtypes; /* optimizer_config.py: they are Adam's */
    REFUSE_UNLESS(!(said->master || said->first || said->second) || strcmp(request->requested.optimizer, "adamw") == 0,
                  "its dtypes of state are Adam's alone");
    REFUSE_UNLESS(!said->master || said->master >= DTYPE_FP16, "its main-params-dtype is fp32 or fp16");
    REFUSE_UNLESS(request->question.precision != PRECISION_INT8, "it has no int8; plan with --precision bf16 or fp8");
    return NULL;
}

/* Experts re-use dense ranks there (etp x ep x edp); an axis of their own, which shards dense weights too, it does not
 * know. */
static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, true), REFUSES_KV_COPIES); /* transformer_config.py */
    REFUSE_UNLESS(facts->pipeline == 1 || facts->fsdp * facts->expert == 1, REFUSES_SHARDS);
    REFUSE_UNLESS(tokens(facts), REFUSES_TOKENS);
    REFUSE_UNLESS(facts->expert == 1, "experts re-use dense ranks there: an expert grid (folded), no axis of its own");
    return NULL;
}

/* pipeline_parallel/schedules.py has 1F1B and its interleaving. */
static const char *refuses(const PlanFacts *facts) {
    int zero = facts->plan->knobs.zero_stage;
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED),
                  "it runs 1f1b and interleaved 1f1b");
    for (int i = 0; i < facts->model->kind_count; i++) /* transformer_config.py, DSAttention */
        REFUSE_UNLESS(facts->sequence == 1 || facts->model->kinds[i].index_top_k == 0 ||
                          facts->methods->context == CONTEXT_ALL_GATHER,
                      "sparse attention (DSA) is split over a context by allgather alone: context_method=all_gather");
    REFUSE_UNLESS(sharding(facts), REFUSES_SHARDS);
    REFUSE_UNLESS(!facts->emerging || !(facts->fsdp > 1 || facts_sequence_shards(facts) || zero == 2),
                  "Megatron-FSDP runs Adam and SGD alone");
    REFUSE_UNLESS(facts->methods->ulysses <= 1 || facts_ulysses_divides(facts), REFUSES_TOKENS);
    REFUSE_UNLESS(facts->fsdp == 1 || facts->sequence == 1 || facts_sequence_shards(facts),
                  "Megatron-FSDP shards parameters over context ranks too");
    REFUSE_UNLESS(facts->plan->knobs.regather, REFUSES_KEPT_WEIGHTS);
    return NULL;
}

/* --optimizer-cpu-offload wants the distributed optimizer, and Adam (by --use-precision-aware-optimizer). */
static bool offloads_optimizer(const PlanFacts *facts) {
    if (facts->emerging) return false;
    return facts->fsdp > 1 || facts_sequence_shards(facts) || facts->plan->knobs.zero_stage >= 1;
}

/* ---- a plan as people who run it say it ---- */

static void add_parallel(const LaunchJob *job, Prose *out) {
    bool experts = model_layers_with(job->model, true) > 0;
    const struct {
        const char *name;
        int64_t degree;
    } parts[] = {{"TP", job->tensor},
                 {"PP", job->pipeline},
                 {"CP", job->sequence},
                 {"EP", job->expert},
                 {"ETP", experts ? job->expert_tensor : 1},
                 {"DP", job->replicas}};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i].degree > 1) prose_item(out, ", ", "%s %" PRId64, parts[i].name, parts[i].degree);
    if (out->used == 0) prose_add(out, "one GPU");
    if (job->pipeline > 1 && job->virtual_stages > 1)
        prose_item(out, ", ", "%" PRId64 " virtual stages per rank", job->virtual_stages);
}

static void add_sharding(const LaunchJob *job, Prose *out) {
    int zero = job->knobs->zero_stage;
    if (job->shards && job->data > 1)
        prose_item(out, ", ", "hybrid FSDP (%" PRId64 "-way shards, %" PRId64 " replicas%s)", job->fsdp * job->sequence,
                   job->data, zero == 1 ? ", optimizer sharded over all" : "");
    else if (job->shards)
        prose_item(out, ", ", "Megatron-FSDP (ZeRO-3)");
    else if (zero == 2)
        prose_item(out, ", ", "Megatron-FSDP of gradients and optimizer (ZeRO-2)");
    else if (zero == 1)
        prose_item(out, ", ", "distributed optimizer (ZeRO-1)");
    if (job->knobs->offload_optimizer) prose_item(out, ", ", "optimizer on the CPU");
}

/* What is recomputed or offloaded, in the flags that the launch file has. */
static void add_activations(const LaunchJob *job, Prose *out) {
    char *flags = NULL, *rest = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&flags, &length);
    if (!memory) return;
    megatron_write_activations(job, memory);
    const char *between = ", ";
    if (fclose(memory) == 0 && length == 0) prose_item(out, ", ", "no recomputation");
    for (char *word = flags ? strtok_r(flags, " \n", &rest) : NULL; word; word = strtok_r(NULL, " \n", &rest))
        prose_add(out, "%s%s", between, word), between = " ";
    free(flags);
}

static void plan_words(const LaunchJob *job, Prose *out) {
    add_parallel(job, out);
    add_sharding(job, out);
    prose_item(out, ", ", "micro-batch %" PRId64 ", %" PRId64 " microbatch%s a step, global batch %" PRId64,
               job->knobs->microbatch_sequences, job->knobs->microbatches, job->knobs->microbatches > 1 ? "es" : "",
               job->batch);
    add_activations(job, out);
}

/* Order: d98e8a64dd core/parallel_state.py, tp-cp-ep-dp-pp, and tp-cp-ep-pp-dp with --use-tp-pp-dp-mapping; its data
 * ranks are our fsdp inside our data. Padding: uneven stages by --pipeline-model-parallel-layout; the vocabulary to
 * 128 * tp (build_tokenizer.py). */
const Launcher MEGATRON_LAUNCHER = {
    .name = "megatron",
    .usual_on_gpus = true,
    .usual_in_tuning = true,
    .nestings = {{.name = "megatron",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}},
                 {.name = "megatron-pp-dp",
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_PIPELINE, ROLE_FSDP, ROLE_DATA}},
                  .option = "--use-tp-pp-dp-mapping"}},
    .gpus_only = true,
    .pads = 1u << PAD_STAGES | 1u << PAD_VOCAB,
    .refuses_work = refuses_work,
    /* core/ssm (mamba_mixer.py, gated_delta_net.py, mlp_layer.py), experimental_attention_variant/dsa.py;
     * transformer_config.py: moe_latent_size, attention_output_gate. Later (2026): models/hybrid/hybrid_layer_specs.py
     * kda_layer, dsa_layer; experimental_attention_variant dsv4_hybrid, as Megatron-Bridge 26.08 runs it */
    .mixers = {"none", "mamba2", "gated_delta_net", "kda"},
    .layers = 1u << LAYERS_INDEXED | 1u << LAYERS_LATENT_EXPERTS | 1u << LAYERS_GATED | 1u << LAYERS_JOINED,
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .offloads_optimizer = offloads_optimizer,
    .host_update = HOST_UPDATE_ON_CPU,
    .remat = megatron_remat_rules,
    .remat_by_chunk = true,
    .remat_words = megatron_remat_words,
    .plan_words = plan_words,
    .signs = {"tensor-model-parallel-size", "pipeline-model-parallel-size", "micro-batch-size", "num-layers",
              "global-batch-size", "context-parallel-size", "use-distributed-optimizer"},
    .signs_yield = true,
    .keys = MEGATRON_KEYS,
    .optimizer_key = "optimizer",
    .optimizers = OPTIMIZERS,
    .import_work = read_work,
    .import_plan = read_plan,
    .formats = {{"megatron", megatron_write, megatron_notes, "a bash script that runs Megatron-LM", "train.sh",
                 megatron_cannot_offload}},
};
