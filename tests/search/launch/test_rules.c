/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One row, one rule of docs/launch.md, "What each launcher accepts": a plan that every launcher takes, with one
 * thing changed, and who is left. */
#include "base/util.h"
#include "search/engine/search.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
    MAXTEXT = 1 << LAUNCHER_MAXTEXT,
    JAX = 1 << LAUNCHER_JAX,
    MEGATRON = 1 << LAUNCHER_MEGATRON,
    TITAN = 1 << LAUNCHER_TORCHTITAN,
    DEEPSPEED = 1 << LAUNCHER_DEEPSPEED,
    ALL = MAXTEXT | JAX | MEGATRON | TITAN | DEEPSPEED
};

/* 32 heads, 8 KV heads, 32 layers, sequences of 8,192 where a row says nothing (0). */
typedef struct {
    const char *name;
    int64_t heads, kv_heads, layers, seq;
    int64_t tensor, expert, sequence, fsdp, data, pipeline; /* 0: 1 */
    int64_t microbatches, microbatch_sequences, virtual_stages;
    int64_t d_model;
    int zero;
    ContextMethod context;
    Schedule schedule; /* 0: 1F1B, interleaved where there are chunks */
    int64_t ulysses, folded, folded_tensor;
    bool replicates, overlap, kept;
    PaddingSet padding;
    bool tpu, latent, offload, tied, indexed;
    int64_t window;
    unsigned expected;
} Row;

static const Row ROWS[] = {
    /* of those that train all weights */
    {.name = "replicas alone", .data = 8, .expected = ALL},
    {.name = "fsdp alone", .fsdp = 8, .expected = ALL},
    {.name = "tensor alone", .tensor = 8, .expected = ALL},
    {.name = "weights that are kept for backward", .fsdp = 8, .kept = true, .expected = ALL & ~(MAXTEXT | MEGATRON)},

    /* heads, KV heads */
    {.name = "heads do not divide", .heads = 36, .kv_heads = 36, .tensor = 8, .expected = 0},
    {.name = "KV heads copied: tp % groups == 0 (Megatron); n_kv_heads % tp == 0 (torchtitan)",
     .tensor = 16,
     .expected = JAX | MEGATRON | DEEPSPEED},
    {.name = "neither divides the other", .heads = 48, .kv_heads = 6, .tensor = 4, .expected = 0},
    {.name = "latent attention has no KV heads", .kv_heads = 1, .tensor = 8, .latent = true, .expected = ALL},

    /* hardware */
    {.name = "a TPU speaks no NCCL", .tensor = 8, .tpu = true, .expected = MAXTEXT | JAX},

    /* stages */
    {.name = "1F1B: MaxText's scan has all forwards first",
     .pipeline = 4,
     .microbatches = 8,
     .expected = ALL & ~MAXTEXT},
    {.name = "GPipe: Megatron and DeepSpeed have none",
     .pipeline = 4,
     .microbatches = 8,
     .schedule = SCHEDULE_GPIPE,
     .expected = MAXTEXT | JAX | TITAN},
    {.name = "microbatches % stages != 0: MaxText refuses",
     .pipeline = 4,
     .microbatches = 10,
     .schedule = SCHEDULE_GPIPE,
     .expected = JAX | TITAN},
    {.name = "circular: MaxText's repeats, torchtitan's LoopedBFS",
     .pipeline = 4,
     .microbatches = 8,
     .virtual_stages = 4,
     .schedule = SCHEDULE_CIRCULAR,
     .expected = MAXTEXT | JAX | TITAN},
    {.name = "zero bubbles, H1: nobody's", .pipeline = 4, .microbatches = 8, .schedule = SCHEDULE_ZB_H1, .expected = 0},
    {.name = "DualPipe is DeepSeek's own",
     .pipeline = 4,
     .microbatches = 8,
     .schedule = SCHEDULE_DUALPIPE,
     .expected = 0},
    {.name = "uneven stages: layouts of Megatron, torchtitan, DeepSpeed",
     .layers = 30,
     .pipeline = 4,
     .microbatches = 8,
     .padding = 1u << PAD_STAGES,
     .expected = MEGATRON | TITAN | DEEPSPEED},
    {.name = "uneven stages on TPUs: nobody",
     .layers = 30,
     .pipeline = 4,
     .microbatches = 8,
     .padding = 1u << PAD_STAGES,
     .tpu = true,
     .expected = 0},
    {.name = "interleaved: DeepSpeed has one chunk a stage",
     .pipeline = 4,
     .microbatches = 8,
     .virtual_stages = 4,
     .expected = JAX | MEGATRON | TITAN},
    {.name = "layers % (stages * repeats) != 0",
     .pipeline = 4,
     .microbatches = 8,
     .virtual_stages = 3,
     .padding = 1u << PAD_STAGES,
     .expected = MEGATRON | TITAN},
    {.name = "interleaved, 10 microbatches are no whole rounds of 4: 2 rounds of 5",
     .pipeline = 4,
     .microbatches = 10,
     .virtual_stages = 2,
     .expected = JAX | MEGATRON | TITAN},
    {.name = "interleaved, 13 microbatches in 3 rounds",
     .pipeline = 4,
     .microbatches = 13,
     .virtual_stages = 2,
     .expected = JAX | MEGATRON},

    /* what is sharded beside a pipeline */
    {.name = "fsdp and pipeline: not Megatron, not DeepSpeed",
     .fsdp = 2,
     .pipeline = 4,
     .microbatches = 8,
     .expected = JAX | TITAN},
    {.name = "sequence shards parameters too",
     .sequence = 2,
     .pipeline = 4,
     .microbatches = 8,
     .context = CONTEXT_ALL_GATHER,
     .expected = JAX | TITAN},
    {.name = "sequence that replicates leaves Megatron its pipeline",
     .sequence = 2,
     .pipeline = 4,
     .microbatches = 8,
     .context = CONTEXT_ALL_GATHER,
     .replicates = true,
     .expected = JAX | MEGATRON},
    {.name = "ZeRO-1 over data: not torchtitan", .data = 8, .zero = 1, .expected = ALL & ~TITAN},
    {.name = "ZeRO-2: Megatron-FSDP and DeepSpeed", .data = 8, .zero = 2, .expected = JAX | MEGATRON | DEEPSPEED},
    {.name = "ZeRO-2 and pipeline", .data = 2, .pipeline = 4, .microbatches = 8, .zero = 2, .expected = JAX},
    {.name = "ZeRO-1 and pipeline: DeepSpeed up to 1",
     .data = 2,
     .pipeline = 4,
     .microbatches = 8,
     .zero = 1,
     .expected = JAX | MEGATRON | DEEPSPEED},
    {.name = "fsdp inside, data outside: DeepSpeed had MiCS for it",
     .fsdp = 8,
     .data = 4,
     .expected = ALL & ~DEEPSPEED},
    {.name = "Megatron-FSDP shards over context ranks",
     .fsdp = 2,
     .sequence = 2,
     .context = CONTEXT_ALL_GATHER,
     .replicates = true,
     .expected = JAX},
    {.name = "optimizer on the host where nothing shards it", .data = 8, .offload = true, .expected = MAXTEXT | JAX},
    {.name = "ZeRO-1 on the host", .data = 8, .zero = 1, .offload = true, .expected = ALL & ~TITAN},
    {.name = "embeddings tied over stages: torchtitan refuses",
     .pipeline = 4,
     .microbatches = 8,
     .tied = true,
     .expected = ALL & ~MAXTEXT & ~TITAN},
    {.name = "fsdp inside, ZeRO-1 outside: outer-dp-sharding optim; MaxText's ZeRO-1 excludes fsdp",
     .fsdp = 8,
     .data = 4,
     .zero = 1,
     .expected = JAX | MEGATRON},
    {.name = "autotp up to ZeRO-2", .fsdp = 8, .tensor = 2, .expected = ALL & ~DEEPSPEED},

    /* context */
    {.name = "context by all_gather",
     .sequence = 4,
     .fsdp = 2,
     .context = CONTEXT_ALL_GATHER,
     .expected = ALL & ~DEEPSPEED},
    {.name = "context by ring: 8192 % 16 == 0",
     .sequence = 4,
     .fsdp = 2,
     .context = CONTEXT_RING,
     .expected = MAXTEXT | JAX | MEGATRON},
    {.name = "sparse attention over a ring: Megatron's DSA gathers alone (transformer_config.py)",
     .sequence = 4,
     .context = CONTEXT_RING,
     .latent = true,
     .indexed = true,
     .expected = MAXTEXT},
    {.name = "sparse attention, keys gathered",
     .sequence = 4,
     .context = CONTEXT_ALL_GATHER,
     .latent = true,
     .indexed = true,
     .expected = MAXTEXT | MEGATRON},
    {.name = "ZeRO-3 shards over the ranks of a sequence too",
     .fsdp = 4,
     .sequence = 2,
     .ulysses = 2,
     .context = CONTEXT_ULYSSES,
     .zero = 1,
     .replicates = true,
     .expected = JAX},
    {.name = "ring: 8192 % 128^2 != 0", .sequence = 128, .context = CONTEXT_RING, .expected = JAX | MEGATRON},
    {.name = "ring knows no windows in MaxText",
     .sequence = 4,
     .context = CONTEXT_RING,
     .window = 1024,
     .expected = JAX | MEGATRON},
    {.name = "an odd ring cannot be balanced",
     .seq = 9216,
     .sequence = 3,
     .context = CONTEXT_RING,
     .expected = JAX | MEGATRON},
    {.name = "Ulysses: 8 KV heads for 8 chips; MaxText has it on TPUs alone",
     .sequence = 8,
     .ulysses = 8,
     .context = CONTEXT_ULYSSES,
     .expected = JAX | MEGATRON | DEEPSPEED},
    {.name = "Ulysses on a TPU",
     .sequence = 8,
     .ulysses = 8,
     .context = CONTEXT_ULYSSES,
     .tpu = true,
     .expected = MAXTEXT | JAX},
    {.name = "16 chips for 8 KV heads",
     .sequence = 16,
     .ulysses = 16,
     .context = CONTEXT_ULYSSES,
     .tpu = true,
     .expected = JAX},
    {.name = "a ring of Ulysses: a2a+p2p, usp",
     .sequence = 16,
     .ulysses = 4,
     .context = CONTEXT_ULYSSES_RING,
     .expected = JAX | MEGATRON},
    {.name = "Ulysses knows no windows in MaxText",
     .sequence = 8,
     .ulysses = 8,
     .context = CONTEXT_ULYSSES,
     .window = 1024,
     .tpu = true,
     .expected = JAX},
    {.name = "seq % (2 cp) != 0",
     .seq = 8196,
     .sequence = 8,
     .context = CONTEXT_ALL_GATHER,
     .padding = 1u << PAD_TOKENS,
     .expected = 0},
    {.name = "seq % (tp 2 cp): 1032 = 8 * 129", .seq = 1032, .tensor = 8, .expected = ALL & ~TITAN},
    {.name = "(seq / cp) % tp != 0; MaxText: 127.5 tokens a device",
     .seq = 1020,
     .tensor = 8,
     .expected = JAX | DEEPSPEED},
    {.name = "2 x 1020 over 8: 255 tokens a device",
     .seq = 1020,
     .tensor = 8,
     .microbatch_sequences = 2,
     .expected = MAXTEXT | JAX | DEEPSPEED},
    {.name = "a pipeline's microbatches go in together: 16 x 1020 over 8 x 4",
     .seq = 1020,
     .tensor = 8,
     .pipeline = 4,
     .microbatches = 16,
     .schedule = SCHEDULE_GPIPE,
     .expected = MAXTEXT | JAX},

    /* weights */
    {.name = "d_model % (fsdp x context x expert): 2880 = 64 x 45",
     .d_model = 2880,
     .fsdp = 128,
     .expected = ALL & ~MAXTEXT},
    {.name = "2880 % (32 x 2)",
     .d_model = 2880,
     .fsdp = 32,
     .sequence = 2,
     .context = CONTEXT_ALL_GATHER,
     .expected = ALL & ~DEEPSPEED},

    /* experts: a role of its own in MaxText, folded elsewhere */
    {.name = "experts and fsdp", .expert = 8, .fsdp = 4, .expected = MAXTEXT | JAX | TITAN},
    {.name = "experts and tensor: torchtitan's ep borrows tp ranks",
     .expert = 8,
     .tensor = 2,
     .expected = MAXTEXT | JAX},
    {.name = "experts and context: Megatron folds them",
     .expert = 8,
     .sequence = 2,
     .context = CONTEXT_ALL_GATHER,
     .expected = MAXTEXT | JAX},

    {.name = "folded over data alone: not torchtitan, whose replicas keep all",
     .data = 8,
     .folded = 8,
     .expected = JAX | MEGATRON | DEEPSPEED},
    {.name = "folded over fsdp", .fsdp = 8, .folded = 8, .expected = JAX | MEGATRON | TITAN},
    {.name = "folded over tensor and fsdp: whole experts",
     .tensor = 4,
     .fsdp = 4,
     .folded = 16,
     .expected = JAX | MEGATRON | TITAN},
    {.name = "folded, and experts split: etp is Megatron's",
     .tensor = 4,
     .fsdp = 4,
     .folded = 4,
     .folded_tensor = 4,
     .expected = JAX | MEGATRON},
    {.name = "collective matmul", .fsdp = 2, .data = 2, .tensor = 4, .overlap = true, .expected = ALL & ~DEEPSPEED},

    /* padding */
    {.name = "vocabulary: Megatron pads it to 128 tp", .tensor = 8, .padding = 1u << PAD_VOCAB, .expected = MEGATRON},
    {.name = "widths are nobody's", .tensor = 8, .padding = 1u << PAD_WIDTH, .expected = 0},
    {.name = "heads are nobody's", .tensor = 8, .padding = 1u << PAD_HEADS, .expected = 0},
    {.name = "the batch divides everywhere", .data = 8, .padding = 1u << PAD_REPLICAS, .expected = 0},
};

static int64_t or_default(int64_t value, int64_t fallback) { return value > 0 ? value : fallback; }

/* What a row says, as launchers are asked. */
typedef struct {
    Model model;
    Work work;
    Plan plan;
    Mesh mesh;
} RowPlan;

static RowPlan plan_of_row(const Row *row) {
    Model model = {.layers = or_default(row->layers, 32), .d_model = or_default(row->d_model, 4096), .kind_count = 1};
    model.kinds[0] = (LayerKind){.count = model.layers,
                                 .heads = or_default(row->heads, 32),
                                 .kv_heads = or_default(row->kv_heads, 8),
                                 .attention = row->latent ? ATTENTION_LATENT : ATTENTION_HEADS,
                                 .index_top_k = row->indexed ? 2048 : 0,
                                 .window = row->window};
    model.tied = row->tied;
    model.positions = POSITIONS_ROTARY;
    Work work = {.sequences = 1024, .seq = or_default(row->seq, 8192)};
    Plan plan = {.degrees.of = {[ROLE_TENSOR] = or_default(row->tensor, 1),
                                [ROLE_EXPERT] = or_default(row->expert, 1),
                                [ROLE_SEQUENCE] = or_default(row->sequence, 1),
                                [ROLE_FSDP] = or_default(row->fsdp, 1),
                                [ROLE_DATA] = or_default(row->data, 1),
                                [ROLE_PIPELINE] = or_default(row->pipeline, 1)},
                 .knobs = {.microbatches = or_default(row->microbatches, 1),
                           .microbatch_sequences = or_default(row->microbatch_sequences, 1),
                           .virtual_stages = or_default(row->virtual_stages, 1),
                           .zero_stage = row->zero,
                           .regather = !row->kept,
                           .offload_optimizer = row->offload,
                           .methods = {.context = row->context,
                                       .ulysses = row->ulysses,
                                       .sequence_replicates = row->replicates,
                                       .tensor_overlap = row->overlap,
                                       .grid = {row->folded, row->folded > 0 ? or_default(row->folded_tensor, 1) : 0}},
                           .schedule = row->schedule             ? row->schedule
                                       : row->virtual_stages > 1 ? SCHEDULE_INTERLEAVED
                                       : row->pipeline > 1       ? SCHEDULE_1F1B
                                                                 : SCHEDULE_NONE}};
    Mesh mesh = {.axis_count = 1, .axes = {{.level = row->tpu ? LEVEL_ICI : LEVEL_NVLINK, .size = 8}}};
    return (RowPlan){model, work, plan, mesh};
}

static LauncherSet launchers_of_row(const Row *row) {
    RowPlan at = plan_of_row(row);
    return plan_launchers(&at.model, &at.work, &at.plan, row->padding, &at.mesh) & ALL;
}

Test(launch, rules) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        LauncherSet set = launchers_of_row(&ROWS[i]);
        cr_expect_eq(set, ROWS[i].expected, "%s: %#x, expected %#x", ROWS[i].name, set, ROWS[i].expected);
    }
}

/* Every kind of layer has to divide, not only the first. */
Test(launch, all_kinds_count) {
    Model model = {.layers = 4,
                   .kind_count = 2,
                   .kinds = {{.count = 2, .heads = 8, .kv_heads = 8}, {.count = 2, .heads = 6, .kv_heads = 6}}};
    Work work = {.sequences = 8, .seq = 8192};
    Plan plan = {.degrees.of = {4, 1, 1, 1, 1, 1},
                 .knobs = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1, .regather = true}};
    Mesh mesh = {0};
    cr_expect_eq(plan_launchers(&model, &work, &plan, 0, &mesh), 0u);
    plan.degrees.of[ROLE_TENSOR] = 2;
    cr_expect_eq(plan_launchers(&model, &work, &plan, 0, &mesh), (LauncherSet)ALL);
}

static int64_t pick(uint64_t *state, const int64_t *from, size_t count) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return from[(*state >> 33) % count];
}
#define PICK(...) pick(&state, (const int64_t[]){__VA_ARGS__}, COUNT_OF(((const int64_t[]){__VA_ARGS__})))

/* Random rows whose degrees are small and whose other knobs are anything. */
static Row random_row(uint64_t from) {
    uint64_t state = from * 0x9E3779B97F4A7C15u;
    Row row = {.name = "random",
               .heads = PICK(16, 32, 48),
               .kv_heads = PICK(4, 8, 16),
               .layers = PICK(24, 30, 32, 61),
               .tensor = PICK(1, 1, 2, 4),
               .sequence = PICK(1, 1, 2, 4),
               .fsdp = PICK(1, 1, 2, 8),
               .data = PICK(1, 1, 2, 8),
               .expert = PICK(1, 1, 1, 2),
               .pipeline = PICK(1, 1, 2, 4),
               .microbatches = PICK(1, 2, 3, 4, 6, 8, 12, 16),
               .microbatch_sequences = PICK(1, 2, 3, 8, 16, 64),
               .zero = (int)PICK(0, 1, 2),
               .kept = PICK(0, 1) != 0,
               .offload = PICK(0, 1) != 0,
               .replicates = PICK(0, 1) != 0,
               .overlap = PICK(0, 1) != 0,
               .tpu = PICK(0, 1) != 0};
    row.context =
        row.sequence > 1 ? (ContextMethod)PICK(CONTEXT_RING, CONTEXT_ALL_GATHER, CONTEXT_ULYSSES) : CONTEXT_NONE;
    row.ulysses = row.context == CONTEXT_ULYSSES ? row.sequence : 1;
    row.folded = row.expert == 1 ? PICK(0, 0, 2, 4) : 0;
    row.schedule = row.pipeline > 1
                       ? (Schedule)PICK(SCHEDULE_GPIPE, SCHEDULE_1F1B, SCHEDULE_INTERLEAVED, SCHEDULE_CIRCULAR)
                       : SCHEDULE_NONE;
    row.virtual_stages = row.schedule == SCHEDULE_INTERLEAVED || row.schedule == SCHEDULE_CIRCULAR ? PICK(2, 3, 4) : 1;
    return row;
}

/* Whoever takes a plan is one of those that take something with its degrees, methods, schedule and split. */
Test(launch, who_takes_a_plan_may_take_some) {
    enum { ROWS_TRIED = 400000 };
    int taken[LAUNCHER_COUNT] = {0}, none = 0;
    for (uint64_t i = 0; i < ROWS_TRIED; i++) {
        Row row = random_row(i);
        RowPlan at = plan_of_row(&row);
        LauncherSet set = plan_launchers(&at.model, &at.work, &at.plan, 0, &at.mesh);
        LauncherSet some =
            launchers_taking_some(launchers_all(), &at.model, &at.work, &at.plan.degrees, &at.plan.knobs, &at.mesh);
        cr_assert_eq(set & ~some, 0u, "%llu: %#x, some %#x", (unsigned long long)i, set, some);
        for (int launcher = 0; launcher < LAUNCHER_COUNT; launcher++) taken[launcher] += set >> launcher & 1;
        none += some == 0;
    }
    for (int launcher = 0; launcher < LAUNCHER_COUNT; launcher++)
        cr_expect_gt(taken[launcher], 100, "%s: %d", launcher_name(launcher), taken[launcher]);
    cr_expect_gt(none, 100);
}

/* What is refused is said, by the rule that is broken; the sentence and the set never disagree. */
Test(launch, refusals_are_sentences) {
    Model model = {
        .layers = 32, .d_model = 4096, .kind_count = 1, .kinds = {{.count = 32, .heads = 32, .kv_heads = 8}}};
    Work work = {.sequences = 1024, .seq = 8192};
    Mesh gpus = {.axis_count = 1, .axes = {{.level = LEVEL_NVLINK, .size = 8}}};
    Mesh tpus = {.axis_count = 1, .axes = {{.level = LEVEL_ICI, .size = 8}}};
    Plan plan = {.degrees.of = {16, 1, 1, 1, 1, 1},
                 .knobs = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1, .regather = true}};
    for (int launcher = 0; launcher < LAUNCHER_COUNT; launcher++)
        for (int tpu = 0; tpu < 2; tpu++) {
            const Mesh *mesh = tpu ? &tpus : &gpus;
            const char *why = launch_refusal(launcher, &model, &work, &plan, 0, mesh);
            bool takes = plan_launchers(&model, &work, &plan, 0, mesh) >> launcher & 1;
            cr_expect_eq(why == NULL, takes, "%s: %s", launcher_name(launcher), why ? why : "taken");
        }
    cr_expect(strstr(launch_refusal(LAUNCHER_MAXTEXT, &model, &work, &plan, 0, &tpus), "KV heads"));
    cr_expect(strstr(launch_refusal(LAUNCHER_MEGATRON, &model, &work, &plan, 0, &tpus), "NCCL"));
    cr_expect(strstr(launch_refusal(LAUNCHER_JAX, &model, &work, &plan, 1u << PAD_HEADS, &tpus), "pad"));
}

/* A pipeline of MaxText is one kind of layer over and over. */
Test(launch, maxtext_pipelines_one_kind) {
    Model model = {.layers = 32,
                   .d_model = 4096,
                   .kind_count = 2,
                   .kinds = {{.count = 16, .heads = 32, .kv_heads = 8}, {.count = 16, .heads = 32, .kv_heads = 8}}};
    Work work = {.sequences = 1024, .seq = 8192};
    Mesh mesh = {.axis_count = 1, .axes = {{.level = LEVEL_ICI, .size = 8}}};
    Plan plan = {.degrees.of = {1, 1, 1, 1, 1, 4},
                 .knobs = {.microbatches = 8,
                           .microbatch_sequences = 1,
                           .virtual_stages = 1,
                           .schedule = SCHEDULE_GPIPE,
                           .regather = true}};
    cr_expect(strstr(launch_refusal(LAUNCHER_MAXTEXT, &model, &work, &plan, 0, &mesh), "one kind of layer"));
    model.kind_count = 1;
    cr_expect_null(launch_refusal(LAUNCHER_MAXTEXT, &model, &work, &plan, 0, &mesh));
}
