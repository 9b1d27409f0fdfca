/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole plans priced as `explain` prices them, against arithmetic on paper: LLaMA-3 70B, 4 Mi tokens a step, TPU v5p
 * 16x16x32, profile ideal. v5p: 4.59e14 FLOP/s, 2.765e12 B/s of HBM, 9e10 B/s a link and direction; all three axes
 * are rings. The model: per layer 855,638,016 parameters in matrices and 16,384 in norms, 80 layers, two tables of
 * 128,256 x 8192. */
#include "base/util.h"
#include "cost/estimate.h"
#include "mesh/machine.h"
#include "models/config/model_json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double MATRICES = 855638016, NORMS = 16384, TABLE = 128256. * 8192, D = 8192, LAYERS = 80;
static const double FLOPS = 4.59e14, LINK = 9e10, HBM = 2.765e12;

static Arena arena;
static Mesh mesh;
static Chip chip;
static Model model;
static Profile profile;
static Nesting nesting;

static void load(void) {
    Error error = {0};
    Catalog catalog;
    cr_assert(catalog_load(&arena, &catalog, &error), "%s: %s", error.where, error.text);
    cr_assert(catalog_find(&catalog, "v5p"));
    chip = *catalog_find(&catalog, "v5p");
    cr_assert(model_load("llama3-70b", &arena, &model, &error), "%s: %s", error.where, error.text);
    cr_assert(profile_load("ideal", NULL, &chip, &arena, &profile, &error), "%s: %s", error.where, error.text);
    Machine machine;
    machine_of_slice(&chip, (SliceShape){{16, 16, 32}}, 1, &machine);
    mesh = machine.mesh;
    nesting = nesting_canonical();
}

static void unload(void) { arena_free(&arena); }

TestSuite(estimate, .init = load, .fini = unload);

static CostContext setting_of(int64_t sequences, int64_t seq) {
    return (CostContext){.model = &model,
                         .chip = &chip,
                         .profile = &profile,
                         .work = {sequences, seq},
                         .hbm_reserve = 0.08,
                         .precision_flops_per_second = FLOPS};
}

/* All activations saved, residual stream along the sequence, one microbatch of one sequence. */
static Plan plan_of(Degrees degrees, Placement placement) {
    Plan plan = {
        .degrees = degrees,
        .placement = placement,
        .knobs = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1, .regather = true},
        .layout = {.sharding = {.residual = degrees.of[ROLE_TENSOR] > 1 ? RESIDUAL_SEQUENCE : RESIDUAL_REPLICATED}}};
    for (int a = 0; a < ACTIVATION_COUNT; a++) plan.layout.layers[a][STATE_SAVED] = (int64_t)LAYERS;
    return plan;
}

/* One sequence of S tokens for every tensor group of t chips. Forward and backward: 6 FLOPs a matrix parameter and
 * token, logits included; causal attention 4 x S/2 x 8192 forward, 2.5 times that backward; the look-up writes and
 * reads 2 tensors of its bf16 stream, twice that back. */
static double compute_by_hand(double S, double t) {
    double matmul = 6 * (LAYERS * MATRICES + TABLE) * S / t / FLOPS;
    double attention = 3.5 * LAYERS * 4 * (S / 2) * 8192 * S / t / FLOPS;
    double lookup = 3 * 4 * S / t * D / HBM;
    return matmul + attention + lookup;
}

/* bf16 weights of a tensor rank, gathered forward and backward, and their gradient scattered: three passes. `rate` is
 * the rate at which the fsdp group of a chip can take in bytes. */
static double fsdp_by_hand(double t, double ways, double rate) {
    double weights = LAYERS * (MATRICES / t + NORMS) + 2 * TABLE / t + D;
    return 3 * 2 * weights * (ways - 1) / ways / rate;
}

/* Streams of 2SD bytes: 4 a layer each way, one after the look-up and one before the logits each way; 2 x 8 bytes a
 * token of the softmax. */
static double tensor_by_hand(double S, double t, double rate) {
    double bytes = 2 * (4 * LAYERS + 2) * 2 * S * D + 2 * 8 * S;
    return bytes * (t - 1) / t / rate;
}

typedef struct {
    const char *name;
    double S, tensor, sequences;
    Placement placement; /* [axis] = {tensor, expert, sequence, fsdp, data, pipeline} */
    double tensor_rate, fsdp_rate;
    double compute, fsdp, tensor_seconds; /* by hand, to the digits shown */
} Case;

/* A block of 2 along an axis is a line: one link of 9e10. The rest of the axis is a ring with a stride of 2: 2 x 9e10 /
 * 2. Whole axes: 1.8e11. Four along one axis: a line of 4, still 9e10; the rest has stride 4: 4.5e10.
 * 2x2x2: S = 4096: 6 x 69.502e9 x 512 / 4.59e14 = 0.46516, attention 80 x 3.5 x 67.1e6 x 512 / 4.59e14 = 0.02096,
 *        look-up 0.00002; fsdp 6 x 8.8203e9 x 1023/1024 / 2.7e11 = 0.19582;
 *        tensor 644 x 67.1e6 x 7/8 / 2.7e11 = 0.14006.
 * 2x2:   S = 2048: the same per chip, attention half of it; fsdp 6 x 17.640e9 / 3.6e11 = 0.29385;
 *        tensor 644 x 33.55e6 x 3/4 / 1.8e11 = 0.09004.
 * 4:     fsdp 6 x 17.640e9 / (4.5e10 + 1.8e11 + 1.8e11) = 0.26120; tensor 644 x 33.55e6 x 3/4 / 9e10 = 0.18007. */
static const Case CASES[] = {
    {"2x2x2",
     4096,
     8,
     1024,
     {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {2, 1, 1, 16, 1, 1}}},
     3 * 9e10,
     3 * 9e10,
     0.48614,
     0.19582,
     0.14006},
    {"2x2",
     2048,
     4,
     2048,
     {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {1, 1, 1, 32, 1, 1}}},
     2 * 9e10,
     2 * 9e10 + 1.8e11,
     0.47566,
     0.29385,
     0.09004},
    {"4 in a line",
     2048,
     4,
     2048,
     {{{4, 1, 1, 4, 1, 1}, {1, 1, 1, 16, 1, 1}, {1, 1, 1, 32, 1, 1}}},
     9e10,
     4.5e10 + 3.6e11,
     0.47566,
     0.26120,
     0.18007},
};

static double lookup_bytes(const Estimate *estimate) {
    for (int i = 0; i < estimate->part_count; i++)
        if (strcmp(estimate->parts[i].name, "embedding") == 0) return estimate->parts[i].hbm_bytes;
    return 0;
}

Test(estimate, llama3_70b_on_8192_chips) {
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const Case *c = &CASES[i];
        double t = c->tensor, ways = c->sequences;
        CostContext setting = setting_of((int64_t)c->sequences, (int64_t)c->S);
        Plan plan = plan_of((Degrees){{(int64_t)t, 1, 1, (int64_t)ways, 1, 1}}, c->placement);
        Estimate estimate;
        Error error = {0};
        cr_assert(estimate_plan(&setting, &(NestedMesh){&mesh, nesting}, &plan, PADDING_NONE, &estimate, &error),
                  "%s: %s", c->name, error.text);
        double compute = compute_by_hand(c->S, t), fsdp = fsdp_by_hand(t, ways, c->fsdp_rate),
               tensor = tensor_by_hand(c->S, t, c->tensor_rate);
        /* AdamW reads and writes 28 bytes a parameter that the chip owns: one microbatch leaves a bf16 gradient. */
        double optimizer = 28 * (LAYERS * (MATRICES / t + NORMS) + 2 * TABLE / t + D) / ways / HBM;
        double seconds = compute + tensor +
                         optimizer; /* gathers hide in both passes: a third of them behind a third of the compute */
        double useful = 6 * (LAYERS * (MATRICES + NORMS) + TABLE + D) + 3 * LAYERS * 4 * (c->S / 2) * 8192;
        const struct {
            const char *name;
            double found, expected, tolerance;
        } rows[] = {
            {"compute", estimate.time.compute_seconds, compute, 1e-12},
            {"compute, on paper", estimate.time.compute_seconds, c->compute, 2e-5},
            {"fsdp", estimate.time.group_seconds[GROUP_WEIGHTS], fsdp, 1e-12},
            {"fsdp, on paper", estimate.time.group_seconds[GROUP_WEIGHTS], c->fsdp, 4e-5},
            {"tensor", estimate.time.group_seconds[GROUP_TENSOR], tensor, 1e-12},
            {"tensor, on paper", estimate.time.group_seconds[GROUP_TENSOR], c->tensor_seconds, 5e-5},
            {"exposed: tensor alone", estimate.time.exposed_seconds, tensor, 1e-9},
            {"optimizer", estimate.time.optimizer_seconds, optimizer, 1e-12},
            {"step", estimate.time.seconds, seconds, 1e-9},
            {"a busy axis has both roles", estimate.time.axis_seconds[0], fsdp + tensor, 1e-12},
            {"MFU", estimate.mfu, useful * c->S / t / seconds / FLOPS, 1e-9},
            {"attention in it", estimate.attention_seconds, 3.5 * LAYERS * 4 * (c->S / 2) * 8192 * c->S / t / FLOPS,
             1e-12},
            {"matmuls in it", estimate.matmul_seconds, 6 * (LAYERS * MATRICES + TABLE) * c->S / t / FLOPS, 1e-12},
            {"bytes of the look-up", lookup_bytes(&estimate), 3 * 4 * c->S / t * D, 1e-12},
            {"tokens", estimate.tokens_per_second_per_chip, c->S / t / seconds, 1e-9},
        };
        for (size_t j = 0; j < COUNT_OF(rows); j++)
            cr_expect_float_eq(rows[j].found, rows[j].expected, rows[j].tolerance * rows[j].expected,
                               "%s, %s: %.9g, not %.9g", c->name, rows[j].name, rows[j].found, rows[j].expected);
        cr_expect_eq(estimate.bound_by, BOUND_COMPUTE, "%s", c->name);
        cr_expect_eq(estimate.recompute_seconds < 1e-9, true, "%s: nothing is made again", c->name);
    }
}

/* The rows of the same plan, 2x2x2: state of 1/8192 of the parameters but for norms, 2 + 0 + 12 bytes before
 * backward (one microbatch); activations of 80 layers as in test_activations.c; two layers gathered and a gradient. */
Test(estimate, memory_of_the_first) {
    const double S = 4096, t = 8, layer = MATRICES / t + NORMS, held = (LAYERS * layer + 2 * TABLE / t + D) / 1024;
    const double F = 28672, saved = 4 * S * D / t + 4 * S * D + 2 * S * 80 * 128 / t + (2 * S * 8192 + 4 * S * 64) / t +
                                    6 * S * F / t;
    CostContext setting = setting_of(1024, 4096);
    Plan plan = plan_of((Degrees){{8, 1, 1, 1024, 1, 1}}, CASES[0].placement);
    Estimate estimate;
    Error error = {0};
    cr_assert(estimate_plan(&setting, &(NestedMesh){&mesh, nesting}, &plan, PADDING_NONE, &estimate, &error), "%s",
              error.text);
    MemoryRows rows;
    double total = plan_memory(&setting, &estimate.shard, &plan, MOMENT_FIRST_BACKWARD, &rows);
    cr_expect_float_eq(rows.parameters_bytes, 2 * held, 1e-6 * held);
    cr_expect_float_eq(rows.optimizer_bytes, 12 * held, 1e-6 * held);
    cr_expect_eq(rows.gradients_bytes, 0);
    cr_expect_float_eq(rows.activations_bytes, LAYERS * saved, 1, "%.12g, not %.12g", rows.activations_bytes,
                       LAYERS * saved);
    cr_expect_float_eq(rows.gathered_bytes, 3 * 2 * layer, 1);
    cr_expect_leq(total, memory_total(&estimate.memory), "the peak is the highest of the moments");
    cr_expect_float_eq(estimate.memory_limit_bytes + estimate.reserve_bytes, chip.hbm_bytes.value, 1);
}

/* Recomputing 30 of 80 layers whole takes 30 forward passes without their last matmul and 3 of 4 streams, and saves the
 * memory of those layers. */
Test(estimate, recomputation_of_some_layers) {
    const double S = 4096, t = 8;
    CostContext setting = setting_of(1024, 4096);
    Plan plan = plan_of((Degrees){{8, 1, 1, 1024, 1, 1}}, CASES[0].placement), some = plan;
    for (int a = ACTIVATION_ATTENTION_INPUT; a < ACTIVATION_COUNT; a++)
        some.layout.layers[a][STATE_SAVED] = 50, some.layout.layers[a][STATE_RECOMPUTED] = 30;
    Estimate before, after;
    Error error = {0};
    cr_assert(estimate_plan(&setting, &(NestedMesh){&mesh, nesting}, &plan, PADDING_NONE, &before, &error) &&
              estimate_plan(&setting, &(NestedMesh){&mesh, nesting}, &some, PADDING_NONE, &after, &error));
    double compute = 30 * S / t * (2 * (MATRICES - D * 28672) + 4 * (S / 2) * 8192) / FLOPS,
           streams = 30 * 3 * 2 * S * D * 7 / 8 / (3 * LINK);
    cr_expect_float_eq(after.recompute_seconds, compute, 1e-9, "%.9g, not %.9g", after.recompute_seconds, compute);
    cr_expect_float_eq(after.time.compute_seconds - before.time.compute_seconds, compute, 1e-9);
    cr_expect_float_eq(after.time.group_seconds[GROUP_TENSOR] - before.time.group_seconds[GROUP_TENSOR], streams, 1e-9);
    cr_expect_float_eq(after.time.seconds - before.time.seconds, compute + streams, 1e-9);
    ActivationCost costs[ACTIVATION_COUNT];
    stage_activations(&setting, &before.shard, &plan.knobs, &plan.layout.sharding, costs);
    double bytes = 0;
    for (int a = ACTIVATION_ATTENTION_INPUT; a < ACTIVATION_COUNT; a++) bytes += 30 * costs[a].bytes;
    cr_expect_float_eq(before.resources.of[RES_MEMORY] - after.resources.of[RES_MEMORY], bytes, 1e-3 * bytes);
    MemoryRows rows;
    cr_expect_float_eq(plan_memory(&setting, &before.shard, &plan, MOMENT_FIRST_BACKWARD, &rows) -
                           plan_memory(&setting, &after.shard, &some, MOMENT_FIRST_BACKWARD, &rows),
                       bytes, 1e-9 * bytes);
}

/* The resources that a search adds up and the rows that a report shows are the same bytes at every moment. */
Test(estimate, resources_and_rows_agree) {
    CostContext setting = setting_of(1024, 4096);
    static const struct {
        const char *name;
        Degrees degrees;
        Placement placement;
        struct {
            Schedule schedule;
            int64_t microbatches, chunks;
            Methods methods;
        } knobs;
    } rows[] = {
        {"fsdp x tensor",
         {{8, 1, 1, 1024, 1, 1}},
         {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {2, 1, 1, 16, 1, 1}}},
         {SCHEDULE_NONE, 1, 1, {0}}},
        {"8 stages",
         {{8, 1, 1, 128, 1, 8}},
         {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {2, 1, 1, 2, 1, 8}}},
         {SCHEDULE_1F1B, 8, 1, {0}}},
        {"all forwards first",
         {{8, 1, 1, 128, 1, 8}},
         {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {2, 1, 1, 2, 1, 8}}},
         {SCHEDULE_GPIPE, 8, 1, {0}}},
        {"8 stages of 2 chunks",
         {{8, 1, 1, 128, 1, 8}},
         {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {2, 1, 1, 2, 1, 8}}},
         {SCHEDULE_INTERLEAVED, 8, 2, {0}}},
        {"circular",
         {{8, 1, 1, 128, 1, 8}},
         {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {2, 1, 1, 2, 1, 8}}},
         {SCHEDULE_CIRCULAR, 8, 2, {0}}},
        {"weight gradients in the bubble",
         {{8, 1, 1, 128, 1, 8}},
         {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {2, 1, 1, 2, 1, 8}}},
         {SCHEDULE_ZB_H1, 8, 1, {0}}},
        {"from both ends",
         {{8, 1, 1, 64, 1, 16}},
         {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {2, 1, 1, 1, 1, 16}}},
         {SCHEDULE_DUALPIPE, 32, 1, {0}}},
        {"tensor overlap",
         {{8, 1, 1, 1024, 1, 1}},
         {{{2, 1, 1, 8, 1, 1}, {2, 1, 1, 8, 1, 1}, {2, 1, 1, 16, 1, 1}}},
         {SCHEDULE_NONE, 1, 1, {.tensor_overlap = true}}},
        {"32 stages, the last with fewer layers",
         {{8, 1, 1, 32, 1, 32}},
         {{{8, 1, 1, 2, 1, 1}, {1, 1, 1, 16, 1, 1}, {1, 1, 1, 1, 1, 32}}},
         {SCHEDULE_1F1B, 32, 1, {0}}},
        {"replicas and context",
         {{8, 1, 4, 16, 16, 1}},
         {{{8, 1, 2, 1, 1, 1}, {1, 1, 2, 8, 1, 1}, {1, 1, 1, 2, 16, 1}}},
         {SCHEDULE_NONE, 4, 1, {.context = CONTEXT_RING}}},
        {"context that replicates",
         {{8, 1, 4, 16, 16, 1}},
         {{{8, 1, 2, 1, 1, 1}, {1, 1, 2, 8, 1, 1}, {1, 1, 1, 2, 16, 1}}},
         {SCHEDULE_NONE, 4, 1, {.context = CONTEXT_ALL_GATHER, .sequence_replicates = true}}},
        {"heads exchanged",
         {{8, 1, 4, 16, 16, 1}},
         {{{8, 1, 2, 1, 1, 1}, {1, 1, 2, 8, 1, 1}, {1, 1, 1, 2, 16, 1}}},
         {SCHEDULE_NONE, 4, 1, {.context = CONTEXT_ULYSSES, .ulysses = 4}}},
        {"heads inside, a ring around",
         {{8, 1, 4, 16, 16, 1}},
         {{{8, 1, 2, 1, 1, 1}, {1, 1, 2, 8, 1, 1}, {1, 1, 1, 2, 16, 1}}},
         {SCHEDULE_NONE, 4, 1, {.context = CONTEXT_ULYSSES_RING, .ulysses = 2}}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Plan plan = plan_of(rows[i].degrees, rows[i].placement);
        plan.knobs.microbatches = rows[i].knobs.microbatches, plan.knobs.virtual_stages = rows[i].knobs.chunks;
        plan.knobs.schedule = rows[i].knobs.schedule, plan.knobs.methods = rows[i].knobs.methods;
        plan.knobs.stages = 80 % rows[i].degrees.of[ROLE_PIPELINE] == 0 ? STAGES_EVEN : STAGES_BALANCED;
        if (rows[i].degrees.of[ROLE_DATA] > 1) plan.knobs.zero_stage = 2;
        int64_t stages = rows[i].degrees.of[ROLE_PIPELINE], layers = (80 + stages - 1) / stages;
        for (int a = 0; a < ACTIVATION_COUNT; a++) plan.layout.layers[a][STATE_SAVED] = layers;
        plan.layout.layers[ACTIVATION_GATE_UP][STATE_SAVED]--,
            plan.layout.layers[ACTIVATION_GATE_UP][STATE_RECOMPUTED]++;
        Estimate estimate;
        Error error = {0};
        cr_assert(estimate_plan(&setting, &(NestedMesh){&mesh, nesting}, &plan, PADDING_LAUNCHABLE, &estimate, &error),
                  "%s: %s", rows[i].name, error.text);
        double most = 0;
        for (int moment = 0; moment < MOMENT_COUNT; moment++) {
            MemoryRows shown;
            double total = plan_memory(&setting, &estimate.shard, &plan, (Moment)moment, &shown);
            most = max_real(most, total);
            cr_expect_float_eq(estimate.resources.of[RES_MEMORY + moment], total, 1e-9 * total,
                               "%s, moment %d: %.12g, rows %.12g", rows[i].name, moment,
                               estimate.resources.of[RES_MEMORY + moment], total);
        }
        cr_expect_eq(memory_total(&estimate.memory), most, "%s", rows[i].name);
        double parts = estimate.attention_seconds + estimate.matmul_seconds + estimate.elementwise_seconds +
                       estimate.recompute_seconds;
        cr_expect_float_eq(parts, estimate.time.compute_seconds, 1e-9 * parts, "%s: %.12g in parts, %.12g",
                           rows[i].name, parts, estimate.time.compute_seconds);
    }
}

/* What bounds a step: one sequence of 64 tokens on 4 chips in a square of lines, tensor 4. Weights are read from HBM
 * for a few tokens, three passes of 35 GB and 30 bytes a parameter for AdamW: at least 0.2 s, while compute takes a few
 * ms. 644 messages of 2 hops: 1.3 ms at 1 us a hop, 1.3 s at 1 ms; their 6.8e8 bytes x 3/4 take 2.8 ms over two links
 * of 9e10, 2.5 s at 1e8. Chips of 1e10 FLOP/s have 2.7e13 / 4 FLOPs to do: compute bounds them. */
Test(estimate, what_bounds_a_step) {
    const struct {
        const char *name;
        double link, hop, peak;
        BoundBy bound;
    } rows[] = {
        {"weights are read for few tokens", LINK, 1e-6, FLOPS, BOUND_HBM},
        {"slow links", 1e8, 1e-6, FLOPS, BOUND_ICI},
        {"far neighbours", LINK, 1e-3, FLOPS, BOUND_LATENCY},
        {"slow chips", LINK, 1e-6, 1e10, BOUND_COMPUTE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Machine square;
        machine_of_slice(&chip, (SliceShape){{2, 2, 1}}, 1, &square);
        for (int axis = 0; axis < square.mesh.axis_count; axis++)
            square.mesh.axes[axis].bytes_per_second = rows[i].link,
            square.mesh.axes[axis].latency_seconds = rows[i].hop;
        Chip other = chip;
        other.bf16_flops_per_second.value = rows[i].peak;
        CostContext setting = setting_of(1, 64);
        setting.chip = &other, setting.precision_flops_per_second = rows[i].peak;
        Plan plan = plan_of((Degrees){{4, 1, 1, 1, 1, 1}}, (Placement){{{2, 1, 1, 1, 1, 1}, {2, 1, 1, 1, 1, 1}}});
        Estimate estimate;
        Error error = {0};
        cr_assert(estimate_plan(&setting, &(NestedMesh){&square.mesh, nesting}, &plan, PADDING_NONE, &estimate, &error),
                  "%s: %s", rows[i].name, error.text);
        cr_expect_eq(estimate.bound_by, rows[i].bound, "%s: %s", rows[i].name, bound_name(estimate.bound_by));
        cr_expect_neq(estimate.bound_next, estimate.bound_by, "%s", rows[i].name);
        cr_expect(estimate.bound_next_share >= 0 && estimate.bound_next_share <= 1, "%s: %g", rows[i].name,
                  estimate.bound_next_share);
    }
}
