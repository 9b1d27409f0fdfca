/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Megatron, torchtitan and DeepSpeed are told: a plan of 64 GPUs with one thing changed, and the lines that say
 * it. That the packages take the files is tests/launch/emit_gpu.py. */
#include "base/json.h"
#include "base/util.h"
#include "search/launch/emit.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Request request;
    RankedPlan ranked;
} Case;

/* 32 layers, 32 heads, 8 KV heads; 8 hosts of 8; tensor=4 fsdp=16, 4 microbatches of 2 sequences of 8,192 tokens. */
static void fill(Case *at) {
    memset(at, 0, sizeof *at);
    Request *request = &at->request;
    request->question.model =
        (Model){.layers = 32, .d_model = 4096, .vocab = 128256, .max_seq = 131072, .kind_count = 1};
    request->question.model.rope.theta = 500000;
    snprintf(request->question.model.name, sizeof request->question.model.name, "llama3.1-8b");
    request->question.model.kinds[0] =
        (LayerKind){.count = 32, .heads = 32, .kv_heads = 8, .head_dim = 128, .gated = true, .d_ff = 14336, .norms = 2};
    request->question.chip.chips_per_host = 8;
    request->question.chip.scaleup = SCALEUP_SWITCH;
    snprintf(request->question.chip.title, sizeof request->question.chip.title, "demo");
    request->question.training_tokens = 1e9;
    request->question.profile.kept_factor = 1;
    request->question.work = (Work){.sequences = 128, .seq = 8192};
    RankedPlan *ranked = &at->ranked;
    ranked->machine.mesh = (Mesh){.axis_count = 2,
                                  .axes = {{.name = "nvlink", .kind = AXIS_SWITCH, .level = LEVEL_NVLINK, .size = 8},
                                           {.name = "network", .kind = AXIS_SWITCH, .level = LEVEL_NETWORK, .size = 8}},
                                  .chips = 64,
                                  .devices = 64};
    ranked->nesting = nesting_canonical();
    ranked->work = (Work){.sequences = 128, .seq = 8192};
    ranked->plan.degrees = (Degrees){{4, 1, 1, 16, 1, 1}};
    ranked->plan.knobs = (Knobs){.microbatches = 4, .microbatch_sequences = 2, .virtual_stages = 1, .regather = true};
    for (int a = 0; a < MESH_AXES_MAX; a++)
        for (int role = 0; role < ROLE_COUNT; role++) ranked->plan.placement.factor[a][role] = 1;
    ranked->plan.placement.factor[0][ROLE_TENSOR] = 4, ranked->plan.placement.factor[0][ROLE_FSDP] = 2;
    ranked->plan.placement.factor[1][ROLE_FSDP] = 8;
    ranked->plan.layout.sharding.residual = RESIDUAL_SEQUENCE;
    ranked->estimate.shard.pipeline = 1;
    ranked->estimate.shard.layers = ranked->estimate.shard.layers_last = 32;
    ranked->estimate.time.seconds = 1;
    for (int a = 0; a < ACTIVATION_COUNT; a++) ranked->plan.layout.layers[a][STATE_SAVED] = 32;
}

/* Stages of a tensor=4 data=... plan of 64 GPUs: `fullest` layers, the last one `last`. */
static void set_stages(Case *at, int64_t stages, int64_t virtual_stages, int64_t layers, int64_t fullest,
                       int64_t last) {
    RankedPlan *ranked = &at->ranked;
    at->request.question.model.layers = at->request.question.model.kinds[0].count = layers;
    ranked->plan.degrees = (Degrees){{4, 1, 1, 1, 16 / stages, stages}};
    ranked->plan.knobs.schedule = virtual_stages > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
    ranked->plan.knobs.virtual_stages = virtual_stages;
    ranked->plan.knobs.microbatches = ranked->work.sequences / 2 / (16 / stages);
    ranked->estimate.shard.pipeline = (double)stages;
    ranked->estimate.shard.layers = (double)fullest;
    ranked->estimate.shard.layers_last = (double)last;
    for (int a = 0; a < ACTIVATION_COUNT; a++) ranked->plan.layout.layers[a][STATE_SAVED] = fullest;
}

static void set_activation(Case *at, Activation activation, int64_t recomputed, int64_t offloaded) {
    int64_t *layers = at->ranked.plan.layout.layers[activation];
    layers[STATE_SAVED] -= recomputed + offloaded;
    layers[STATE_RECOMPUTED] = recomputed;
    layers[STATE_OFFLOADED] = offloaded;
}

/* The caller frees; NULL: refused, and *error says why. */
static char *emitted(const char *format, const Case *at, Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    EmitNotes notes = {0};
    bool ok = emit_write(emit_format_named(format), &at->request, &at->ranked, &notes, out, error);
    fclose(out);
    if (ok) return text;
    free(text);
    return NULL;
}

static void expect(const char *format, const Case *at, const char *name, const char *const *lines,
                   const char *const *absent) {
    Error error = {0};
    char *text = emitted(format, at, &error);
    cr_assert(text, "%s: %s", name, error.text);
    for (; *lines; lines++) cr_expect(strstr(text, *lines), "%s: no \"%s\" in\n%s", name, *lines, text);
    for (; absent && *absent; absent++) cr_expect(!strstr(text, *absent), "%s: \"%s\" in\n%s", name, *absent, text);
    free(text);
}
#define LINES(...)                                                                                                     \
    (const char *const[]) { __VA_ARGS__, NULL }

Test(emit_gpu, the_plan_itself) {
    Case at;
    fill(&at);
    expect("megatron", &at, "megatron",
           LINES("    --num-layers 32\n", "    --num-query-groups 8\n", "    --tensor-model-parallel-size 4\n",
                 "    --sequence-parallel\n", "    --use-megatron-fsdp\n",
                 "    --data-parallel-sharding-strategy optim_grads_params\n", "    --micro-batch-size 2\n",
                 "    --global-batch-size 128\n", "    --bf16\n", "unset CUDA_DEVICE_MAX_CONNECTIONS",
                 "torchrun --nproc-per-node 8 --nnodes 8 ", "    --vocab-size 128255 #",
                 "    --no-create-attention-mask-in-dataloader "),
           LINES("--recompute", "--fp8", "--num-distributed-optimizer-instances", "--cp-comm-type", "--expert"));
    /* 1e9 tokens / (128 x 8192) = 953.67 steps */
    expect("torchtitan", &at, "torchtitan",
           LINES("data_parallel_shard_degree 16\n", "data_parallel_replicate_degree 1\n", "tensor_parallel_degree 4\n",
                 "fsdp_reshard_after_forward always\n", "--training.local_batch_size 2\n",
                 "--training.global_batch_size 128\n", "--training.steps 954\n", "model_registry(\"8B\"",
                 "config.activation_checkpoint = None\n", "    --compile.enable\n",
                 "--compile.components model,loss\n"),
           LINES("pipeline_parallel_schedule", "disable_cuda_graphs", "enable_async", "enable_sequence_parallel"));
    expect("torchtitan-toml", &at, "torchtitan-toml",
           LINES("\n[model]\nname = \"llama3\"\nflavor = \"8B\"\n", "\nlocal_batch_size = 2\n",
                 "\ndata_parallel_shard_degree = 16\n", "\nmode = \"none\"\n"),
           LINES("pipeline_parallel_schedule"));
    at.ranked.plan.degrees = (Degrees){{1, 1, 1, 64, 1, 1}};
    at.ranked.plan.knobs.microbatches = 1;
    expect("deepspeed", &at, "deepspeed",
           LINES("\"train_batch_size\": 128,", "\"train_micro_batch_size_per_gpu\": 2,",
                 "\"gradient_accumulation_steps\": 1,", "\"stage\": 3,", "--num_nodes 8 --num_gpus 8 "),
           LINES("autotp_size", "\"pipeline\"", "activation_checkpointing"));
}

/* Chunk c is on stage c % stages; a stage of n layers gives its first n % v chunks one more. */
static const struct {
    const char *name;
    int64_t stages, virtual_stages, layers, fullest, last;
    const char *layout; /* NULL: even, no layout */
} STAGES[] = {
    {"32 layers on 4", 4, 1, 32, 8, 8, NULL},
    {"32 on 4 in two turns", 4, 2, 32, 8, 8, NULL},
    {"30 on 4, the last with 6", 4, 1, 30, 8, 6, "'Et*8|(t*8|)*2t*6L'"},
    {"31 on 4, the last with 7: 8 8 8 7", 4, 1, 31, 8, 7, "'Et*8|(t*8|)*2t*7L'"},
    {"29 on 4, the last with 6: 23 = 7 + 8 + 8", 4, 1, 29, 8, 6, "'Et*7|(t*8|)*2t*6L'"},
    {"30 on 2 in two turns: 16 = 8 + 8, 14 = 7 + 7", 2, 2, 30, 16, 14, "'Et*8|t*7|t*8|t*7L'"},
    {"6 on 2, the last with 2: 4 = 2 + 2, 2 = 1 + 1", 2, 2, 6, 4, 2, "'Ett|t|tt|tL'"},
    {"30 on 2 in four: 15 = 4 + 4 + 4 + 3", 2, 4, 30, 15, 15, "'Et*4|(t*4|)*5t*3|t*3L'"},
};

Test(emit_gpu, stages) {
    for (size_t i = 0; i < COUNT_OF(STAGES); i++) {
        Case at;
        fill(&at);
        set_stages(&at, STAGES[i].stages, STAGES[i].virtual_stages, STAGES[i].layers, STAGES[i].fullest,
                   STAGES[i].last);
        Error error = {0};
        char *text = emitted("megatron", &at, &error), *layout = text ? strstr(text, "parallel-layout ") : NULL;
        cr_assert(text, "%s: %s", STAGES[i].name, error.text);
        if (STAGES[i].layout)
            cr_expect(layout && strncmp(layout + 16, STAGES[i].layout, strlen(STAGES[i].layout)) == 0, "%s: %.60s",
                      STAGES[i].name, layout ? layout : "none");
        else
            cr_expect(!layout && !strstr(text, "--num-virtual-stages-per-pipeline-rank 1"), "%s", STAGES[i].name);
        free(text);
        if (STAGES[i].virtual_stages > 1) continue;
        text = emitted("deepspeed", &at, &error);
        cr_expect(text && strstr(text, STAGES[i].stages == 4 ? "\"pipeline_module_num_stages\": 4" : "2"), "%s: %s",
                  STAGES[i].name, error.text);
        free(text);
    }
    Case at;
    fill(&at);
    set_stages(&at, 4, 2, 32, 8, 8);
    expect("megatron", &at, "even chunks", LINES("    --num-virtual-stages-per-pipeline-rank 2\n"), NULL);
    /* a pipeline takes all microbatches at once: 16 of 2 */
    expect("torchtitan", &at, "even chunks",
           LINES("pipeline_parallel_schedule Interleaved1F1B\n", "pipeline_parallel_layers_per_stage 4\n",
                 "first_stage_less_layers 0\n", "--training.local_batch_size 32\n",
                 "pipeline_parallel_microbatch_size 2\n", "--training.disable_cuda_graphs\n"),
           LINES("module_fqns"));
    set_stages(&at, 2, 1, 3, 2, 1);
    expect("torchtitan", &at, "modules",
           LINES("[\"tok_embeddings\", \"layers.0\", \"layers.1\"],", "[\"layers.2\", \"norm\", \"lm_head\"],"), NULL);
    expect("torchtitan-toml", &at, "modules", LINES("[\"layers.2\", \"norm\", \"output\"],"), NULL);
}

/* Of 32 layers: recomputed and offloaded by activation, and what it becomes. */
enum { MAX_DROPS = 7 };
static const struct {
    const char *name;
    struct {
        Activation activation;
        int64_t recomputed, offloaded;
    } drops[MAX_DROPS];
    int count;
    const char *megatron, *toml; /* NULL: refused */
} REMATS[] = {
    {"norms and product in some",
     {{ACTIVATION_ATTENTION_INPUT, 9, 0}, {ACTIVATION_PRODUCT, 9, 0}},
     2,
     "--recompute-granularity full\n    --recompute-method block\n    --recompute-num-layers 9\n",
     "mode = \"selective\""},
    {"norms in all",
     {{ACTIVATION_ATTENTION_INPUT, 32, 0}, {ACTIVATION_MLP_INPUT, 32, 0}},
     2,
     "--recompute-granularity selective\n    --recompute-modules layernorm\n",
     "mode = \"selective\""},
    {"the MLP in most",
     {{ACTIVATION_GATE_UP, 20, 0}, {ACTIVATION_PRODUCT, 32, 0}},
     2,
     "--recompute-modules mlp\n",
     "mode = \"selective\""},
    {"qkv in 5", {{ACTIVATION_QKV, 5, 0}}, 1, "--recompute-num-layers 5\n", "mode = \"selective\""},
    {"qkv sent in all: a dense model's attention",
     {{ACTIVATION_QKV, 0, 32}},
     1,
     "--fine-grained-activation-offloading\n    --offload-modules core_attn\n",
     "mode = \"selective\""},
    {"context alone cannot be sent",
     {{ACTIVATION_CONTEXT, 0, 32}},
     1,
     "--recompute-method uniform\n    --recompute-num-layers 1\n",
     "mode = \"selective\""},
    /* an input more is kept in 3 layers; the residual in the middle, as large, is given up in as many */
    {"3 inputs on the host", {{ACTIVATION_LAYER_INPUT, 0, 3}}, 1, "--recompute-num-layers 3\n", "mode = \"selective\""},
    {"3 inputs, and the middle given up in 30",
     {{ACTIVATION_LAYER_INPUT, 0, 3}, {ACTIVATION_MIDDLE, 30, 0}},
     2,
     NULL,
     "mode = \"selective\""},
    {"inputs sent in all",
     {{ACTIVATION_LAYER_INPUT, 0, 32}},
     1,
     "--offload-modules attn_norm\n",
     "mode = \"selective\""},
};

Test(emit_gpu, activations) {
    for (size_t i = 0; i < COUNT_OF(REMATS); i++) {
        Case at;
        fill(&at);
        for (int d = 0; d < REMATS[i].count; d++)
            set_activation(&at, REMATS[i].drops[d].activation, REMATS[i].drops[d].recomputed,
                           REMATS[i].drops[d].offloaded);
        Error error = {0};
        char *megatron = emitted("megatron", &at, &error), *toml = emitted("torchtitan-toml", &at, &error);
        if (REMATS[i].megatron)
            cr_expect(megatron && strstr(megatron, REMATS[i].megatron), "%s: %s\n%s", REMATS[i].name, error.text,
                      megatron ? megatron : "");
        else
            cr_expect(!megatron && strstr(error.text, "--remat full"), "%s", REMATS[i].name);
        if (REMATS[i].toml)
            cr_expect(toml && strstr(toml, REMATS[i].toml), "%s: %s\n%s", REMATS[i].name, error.text, toml ? toml : "");
        else
            cr_expect(!toml, "%s", REMATS[i].name);
        free(megatron);
        free(toml);
    }
}

/* Of a chunk: 7 of a stage's layers in 4 turns are at most 2 in each. */
Test(emit_gpu, recomputed_layers_are_counted_by_chunk) {
    Case at;
    fill(&at);
    set_stages(&at, 4, 4, 32, 8, 8);
    for (Activation a = ACTIVATION_ATTENTION_INPUT; a < ACTIVATION_COUNT; a++) set_activation(&at, a, 7, 0);
    expect("megatron", &at, "chunks", LINES("    --recompute-num-layers 2\n"), NULL);
}

static void mixture(Case *at) {
    LayerKind *kinds = at->request.question.model.kinds;
    kinds[1] = kinds[0];
    kinds[0].count = 3, kinds[1].count = 29;
    kinds[1].d_ff = 0, kinds[1].experts = 64, kinds[1].top_k = 6, kinds[1].d_ff_expert = 1408,
    kinds[1].d_ff_shared = 2816;
    at->request.question.model.kind_count = 2;
    at->ranked.plan.knobs.methods.grid = (ExpertGrid){8, 2};
}

Test(emit_gpu, experts) {
    Case at;
    fill(&at);
    mixture(&at);
    expect("megatron", &at, "experts",
           LINES("    --num-experts 64\n", "    --moe-router-topk 6\n", "    --moe-ffn-hidden-size 1408\n",
                 "    --moe-shared-expert-intermediate-size 2816\n", "    --moe-layer-freq '([0]*3+[1]*29)'\n",
                 "    --expert-model-parallel-size 8\n", "    --expert-tensor-parallel-size 2\n",
                 "    --ffn-hidden-size 14336\n", "    --sequence-parallel\n"),
           NULL);
    at.ranked.plan.knobs.methods.grid = (ExpertGrid){16, 1};
    expect("torchtitan", &at, "experts", LINES("expert_parallel_degree 16\n", "--training.disable_cuda_graphs\n"),
           NULL);
    expect("torchtitan-toml", &at, "experts",
           LINES("\nexpert_parallel_degree = 16\nexpert_tensor_parallel_degree = 1\n"), NULL);
}

Test(emit_gpu, ways_to_split_tokens_and_state) {
    Case at;
    fill(&at);
    at.ranked.plan.degrees = (Degrees){{1, 1, 8, 4, 2, 1}};
    at.ranked.plan.knobs.microbatches = 8;
    at.ranked.plan.knobs.methods.context = CONTEXT_ULYSSES_RING, at.ranked.plan.knobs.methods.ulysses = 4;
    at.ranked.plan.knobs.zero_stage = 1;
    expect("megatron", &at, "both",
           LINES("    --context-parallel-size 8\n", "    --cp-comm-type a2a+p2p\n",
                 "    --hierarchical-context-parallel-sizes 4 2\n", "    --num-distributed-optimizer-instances 2\n",
                 "    --outer-dp-sharding-strategy optim\n"),
           NULL);
    fill(&at);
    at.ranked.plan.degrees = (Degrees){{1, 1, 1, 1, 64, 1}};
    at.ranked.plan.knobs.microbatches = 1;
    at.ranked.plan.knobs.zero_stage = 1;
    at.ranked.plan.knobs.offload_optimizer = true;
    expect("megatron", &at, "ZeRO-1",
           LINES("    --use-distributed-optimizer\n    --overlap-grad-reduce\n    --overlap-param-gather\n",
                 "    --optimizer-cpu-offload\n", "    --use-precision-aware-optimizer\n",
                 "    --grad-reduce-in-bf16\n"),
           LINES("--use-megatron-fsdp", "CUDA_DEVICE_MAX_CONNECTIONS", "--sequence-parallel"));
    expect("deepspeed", &at, "ZeRO-1", LINES("\"stage\": 1,", "\"device\": \"cpu\"", "\"grad_accum_dtype\": \"bf16\""),
           LINES("stage3_"));
}

/* Weights in fp8 alone, which were costed, have to be requested; Megatron keeps them with a distributed optimizer on
 * the chip (arguments.py). */
Test(emit_gpu, weights_in_fp8) {
    static const struct {
        const char *name;
        Precision precision;
        Dtype said;
        int zero;
        bool offload, gathers, reuses;
    } WAYS[] = {
        {"fp8", PRECISION_FP8, DTYPE_DEFAULT, 1, false, true, false},
        {"mxfp8: through buffers of gradients", PRECISION_MXFP8, DTYPE_DEFAULT, 1, false, true, true},
        {"nvfp4 keeps bf16", PRECISION_NVFP4, DTYPE_DEFAULT, 1, false, false, false},
        {"bf16", PRECISION_BF16, DTYPE_DEFAULT, 1, false, false, false},
        {"bf16 weights are requested", PRECISION_FP8, DTYPE_BF16, 1, false, false, false},
        {"whole state on each replica", PRECISION_FP8, DTYPE_DEFAULT, 0, false, false, false},
        {"the optimizer on the CPU", PRECISION_FP8, DTYPE_DEFAULT, 1, true, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(WAYS); i++) {
        Case at;
        Error error = {0};
        fill(&at);
        at.ranked.plan.degrees = (Degrees){{1, 1, 1, 1, 64, 1}};
        at.ranked.plan.knobs.microbatches = 1;
        at.ranked.plan.knobs.zero_stage = WAYS[i].zero;
        at.ranked.plan.knobs.offload_optimizer = WAYS[i].offload;
        at.request.question.precision = WAYS[i].precision;
        at.request.question.state_dtypes.parameters = WAYS[i].said;
        at.request.question.profile.low_copies = at.request.question.profile.low_parameters = 1;
        char *text = emitted("megatron", &at, &error);
        cr_assert(text, "%s: %s", WAYS[i].name, error.text);
        cr_expect_eq(strstr(text, "\n    --fp8-param-gather\n") != NULL, WAYS[i].gathers, "%s", WAYS[i].name);
        cr_expect_eq(strstr(text, "\n    --reuse-grad-buf-for-mxfp8-param-ag\n") != NULL, WAYS[i].reuses, "%s",
                     WAYS[i].name);
        bool costed = WAYS[i].said == DTYPE_DEFAULT && !WAYS[i].offload; /* without a bf16 copy */
        bool lacks = WAYS[i].precision == PRECISION_FP8 && costed && !WAYS[i].gathers;
        cr_expect_eq(strstr(text, "weights in fp8 alone were costed") != NULL, lacks, "%s", WAYS[i].name);
        free(text);
    }
}

/* A hybrid whose first layers have no MLP; sparse attention of latents. */
Test(emit_gpu, layers_of_other_kinds) {
    Case at;
    fill(&at);
    LayerKind *kinds = at.request.question.model.kinds;
    kinds[1] = kinds[0];
    kinds[0].count = 3, kinds[1].count = 29, kinds[0].d_ff = 0;
    at.request.question.model.kind_count = 2;
    expect("megatron", &at, "a hybrid", LINES("    --ffn-hidden-size 14336\n"), LINES("--dsa-"));
    fill(&at);
    kinds[0].attention = ATTENTION_LATENT, kinds[0].kv_lora_rank = 512;
    kinds[0].index_heads = 64, kinds[0].index_head_dim = 128, kinds[0].index_top_k = 2048;
    expect("megatron", &at, "DSA",
           LINES("    --experimental-attention-variant dsa\n", "    --dsa-indexer-n-heads 64\n",
                 "    --dsa-indexer-head-dim 128\n", "    --dsa-indexer-topk 2048\n", "    --no-rope-fusion\n"),
           LINES("--csa-"));
}

/* A model that torchtitan has not is another config function's, and its recomputation and stages are said over it. */
Test(emit_gpu, a_function_of_ones_own) {
    Case at;
    fill(&at);
    snprintf(at.request.question.model.name, sizeof at.request.question.model.name, "mine");
    at.request.question.precision = PRECISION_FP8;
    set_stages(&at, 2, 1, 3, 2, 1);
    expect("torchtitan", &at, "mine",
           LINES("export MODULE=${MODULE:?", "importlib.import_module(os.environ[\"MODULE\"])",
                 "    # Its model_registry() has to have: converters=[\n    #     Float8LinearConverter.Config(",
                 "    config.activation_checkpoint = ", "[\"layers.2\", \"norm\", \"lm_head\"],",
                 "--module shardopt_plan --config plan "),
           LINES("from torchtitan.models", "Float8GroupedExperts"));
}

/* 128 sequences are no 3 microbatches of 2 on 16 replicas; 12 GPUs are no whole hosts of 8. */
Test(emit_gpu, what_is_not_whole) {
    Case at;
    Error error = {0};
    fill(&at);
    at.ranked.plan.knobs.microbatches = 3;
    cr_expect(!emitted("torchtitan", &at, &error));
    cr_expect_str_eq(error.where, "emit torchtitan");
    cr_expect(strstr(error.text, "3 microbatches of 2 on 16 replicas"), "%s", error.text);
    fill(&at);
    at.ranked.machine.mesh.devices = 12;
    cr_expect(!emitted("megatron", &at, &error));
    cr_expect(strstr(error.text, "whole hosts of 8"), "%s", error.text);
    fill(&at);
    at.request.question.precision = PRECISION_FP8;
    cr_expect(!emitted("deepspeed", &at, &error));
    at.request.question.precision = PRECISION_INT8;
    cr_expect(!emitted("megatron", &at, &error));
    cr_expect(!emitted("torchtitan", &at, &error));
}

/* network = data 2 x pipeline 4. The plan has stages inside: host = stage + 4 replica; Megatron has data inside: rank =
 * replica + 2 stage. */
Test(emit_gpu, hosts_in_an_order) {
    static const int64_t RANKS[] = {0, 2, 4, 6, 1, 3, 5, 7};
    Case at;
    LaunchJob job;
    fill(&at);
    set_stages(&at, 4, 1, 32, 8, 8);
    at.ranked.plan.degrees = (Degrees){{8, 1, 1, 1, 2, 4}};
    at.ranked.plan.knobs.microbatches = 32;
    int32_t *factor = at.ranked.plan.placement.factor[1];
    factor[ROLE_FSDP] = 1, factor[ROLE_DATA] = 2, factor[ROLE_PIPELINE] = 4;
    cr_assert(nesting_named("megatron-pp-dp", &at.ranked.nesting));
    at.ranked.launch[0] = (LaunchAnswer){.launcher = LAUNCHER_MEGATRON, .kind = LAUNCH_DEVICE_ORDER};
    at.ranked.launch_count = 1;
    cr_assert(launch_job(&at.request, &at.ranked, launcher_at(LAUNCHER_MEGATRON), &job, NULL));
    cr_assert(job.host_order);
    for (int64_t host = 0; host < 8; host++)
        cr_expect_eq(job_domain_rank(&job, host), RANKS[host], "host %d", (int)host);
    expect("megatron", &at, "hosts", LINES("\nRANKS=(0 2 4 6 1 3 5 7)\n"), NULL);
    at.ranked.launch[0] =
        (LaunchAnswer){.launcher = LAUNCHER_MEGATRON, .kind = LAUNCH_OPTION, .needs = "--use-tp-pp-dp-mapping"};
    expect("megatron", &at, "option", LINES("    --use-tp-pp-dp-mapping\n"), LINES("RANKS"));
}

/* Nothing of a name reaches what stands behind it. */
Test(emit_gpu, hostile_names) {
    static const char NAME[] = "a\"\n$(touch x)'`b\\";
    Case at;
    fill(&at);
    snprintf(at.request.question.model.name, sizeof at.request.question.model.name, "%s", NAME);
    const char *const FORMATS[] = {"megatron", "torchtitan", "torchtitan-toml"};
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++) {
        Error error = {0};
        char *text = emitted(FORMATS[i], &at, &error);
        cr_assert(text, "%s", error.text);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (line[0] != '#' && strcmp(FORMATS[i], "torchtitan-toml") != 0)
                cr_expect(!strstr(line, "touch"), "%s", line);
            else if (strstr(line, "touch") && line[0] != '#')
                cr_expect(strstr(line, "= \"a\\\"\\n$(touch x)'`b\\\\\""), "%s", line);
        free(text);
    }
    at.ranked.plan.degrees = (Degrees){{1, 1, 1, 64, 1, 1}};
    at.ranked.plan.knobs.microbatches = 1;
    Error error = {0};
    char *text = emitted("deepspeed", &at, &error);
    cJSON *json = text ? json_parse(text, strlen(text), "emitted", &error) : NULL;
    cr_expect(json, "%s", error.text);
    if (json) cr_expect_str_eq(cJSON_GetStringValue(json_at(json, "shardopt.model")), NAME);
    cJSON_Delete(json);
    free(text);
}
