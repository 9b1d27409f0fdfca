/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terms of a step, counted by hand on a chip of 1e12 FLOP/s and 1e9 B/s, with and without floors. */
#include "cost/serving/memory.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <math.h>

static const Chip CHIP = {.bf16_flops_per_second = {.value = 1e12}, .hbm_bytes_per_second = {.value = 1e9}};

static ServingProfile profile_with(double floor, double share) {
    ServingProfile profile = {.prefill_attention_flops_share = share,
                              .expert_hbm_share = {share, share, share},
                              .page_tokens = 1,
                              .expert_flops_share = {share, share, share},
                              .pipeline_share = 1,
                              .attention_floor_seconds = floor,
                              .expert_floor_seconds = {floor, floor, floor},
                              .draft_share = 1};
    for (int a = 0; a < ARITHMETIC_COUNT; a++) {
        profile.matmul_floor_seconds[a] = floor;
        profile.matmul_hbm_share[a] = profile.matmul_flops_share[a] = share;
    }
    profile.attention_hbm_share[0] = profile.attention_hbm_share[1] = share;
    profile.latent_hbm_share[0] = profile.latent_hbm_share[1] = share;
    return profile;
}

/* D 100, F 400, 4 heads of 25, 2 of the cache, V 1,000. */
static Model small(void) {
    Model model = {.layers = 3, .d_model = 100, .vocab = 1000, .kind_count = 1};
    model.kinds[0] = (LayerKind){.count = 3, .heads = 4, .kv_heads = 2, .head_dim = 25, .gated = true, .d_ff = 400};
    return model;
}

static StepCost step_of(const Model *model, const WorkerLayout *layout, const ServingProfile *profile,
                        Speculation speculation, StepLoad load) {
    WorkerLinks links = {0};
    StepPlan plan;
    StepCost cost;
    step_plan(&(ServedModel){model, &CHIP, profile, speculation, {0, 0}}, layout, &links, &plan);
    worker_step(&plan, &load, &cost);
    return cost;
}

static const WorkerLayout ONE = {1, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16};

Test(step, terms_by_hand) {
    Model model = small(), windowed = small(), mixture = small(), latent = small(), shared = small();
    ServingProfile peak = profile_with(0, 1), real = profile_with(1e-3, 0.5);
    windowed.kinds[0].window = 64;
    mixture.kinds[0].d_ff = 0;
    mixture.kinds[0].experts = 8;
    mixture.kinds[0].top_k = 2;
    mixture.kinds[0].d_ff_expert = 50;
    shared.kinds[0].d_ff_shared = 40;
    latent.kinds[0].attention = ATTENTION_LATENT;
    latent.kinds[0].kv_lora_rank = 30;
    latent.kinds[0].qk_rope_head_dim = 10;
    latent.kinds[0].qk_nope_head_dim = latent.kinds[0].v_head_dim = 25;
    WorkerLayout two = ONE, four = ONE;
    two.tensor = 2;
    four.tensor = 4;
    /* Weights of a layer: 100 x (4 + 2 x 2) x 25 + 100 x 100 + 3 x 100 x 400 = 150,000, 2 bytes each. */
    const struct {
        const char *name;
        struct {
            const Model *model;
            const WorkerLayout *layout;
            const ServingProfile *profile;
        } of;
        StepLoad load;
        StepTerm term;
        double expected;
    } rows[] = {
        {"weights", {&model, &ONE, &peak}, {1, 0, 0, 0, 0}, STEP_MATMUL, 3 * 300000 / 1e9},
        {"and of a shared expert of 40", {&shared, &ONE, &peak}, {1, 0, 0, 0, 0}, STEP_MATMUL, 3 * 2 * 162000 / 1e9},
        {"half of them", {&model, &two, &peak}, {1, 0, 0, 0, 0}, STEP_MATMUL, 3 * 150000 / 1e9},
        {"a head of the cache is copied",
         {&model, &four, &peak},
         {1, 0, 0, 0, 0},
         STEP_MATMUL,
         3 * 2 * (2500 + 2 * 2500 + 2500 + 30000) / 1e9},
        {"many tokens: FLOPs", {&model, &ONE, &peak}, {10000, 0, 0, 0, 0}, STEP_MATMUL, 3 * 2 * 150000 * 1e4 / 1e12},
        {"four kernels with floors, at half the rate",
         {&model, &ONE, &real},
         {1, 0, 0, 0, 0},
         STEP_MATMUL,
         3 * (4 * 1e-3 + 300000 / 0.5e9)},
        {"cache", {&model, &ONE, &peak}, {7, 1000, 0, 0, 0}, STEP_ATTENTION, 3 * 7 * 1000 * 2 * 2 * 25 * 2 / 1e9},
        {"one head of it on each of two",
         {&model, &two, &peak},
         {7, 1000, 0, 0, 0},
         STEP_ATTENTION,
         3 * 7 * 1000 * 2 * 25 * 2 / 1e9},
        {"and on each of four",
         {&model, &four, &peak},
         {7, 1000, 0, 0, 0},
         STEP_ATTENTION,
         3 * 7 * 1000 * 2 * 25 * 2 / 1e9},
        {"within a window",
         {&windowed, &ONE, &peak},
         {7, 1000, 0, 0, 0},
         STEP_ATTENTION,
         3 * 7 * 64 * 2 * 2 * 25 * 2 / 1e9},
        {"of a prompt", {&model, &ONE, &peak}, {0, 0, 1000, 500, 0}, STEP_ATTENTION, 3 * 1000 * 500.0 * 4 * 100 / 1e12},
        {"of a prompt, within a window",
         {&windowed, &ONE, &peak},
         {0, 0, 1000, 500, 0},
         STEP_ATTENTION,
         3 * 1000 * 64.0 * 4 * 100 / 1e12},
        {"one latent", {&latent, &ONE, &peak}, {7, 1000, 0, 0, 0}, STEP_ATTENTION, 3 * 7 * 1000 * 40 * 2 / 1e9},
        {"which every chip holds",
         {&latent, &four, &peak},
         {7, 1000, 0, 0, 0},
         STEP_ATTENTION,
         3 * 7 * 1000 * 40 * 2 / 1e9},
        {"one token: two experts of eight",
         {&mixture, &ONE, &peak},
         {1, 0, 0, 0, 0},
         STEP_EXPERTS,
         3 * 2 * (3 * 100 * 50) * 2 / 1e9},
        {"two tokens: 8 (1 - (3/4)^2)",
         {&mixture, &ONE, &peak},
         {2, 0, 0, 0, 0},
         STEP_EXPERTS,
         3 * 3.5 * (3 * 100 * 50) * 2 / 1e9},
        /* 8 experts in one step of four, which 10,001 tokens hold up by FLOPs; 2 in the others. */
        {"a prompt in one step of four",
         {&mixture, &ONE, &peak},
         {1, 0, 2500, 0, 10000},
         STEP_EXPERTS,
         0.75 * 3 * 2 * 15000 * 2 / 1e9 + 0.25 * 3 * 2 * 10001.0 * 2 * 15000 / 1e12},
        {"whose FLOPs hide no bytes of the others",
         {&model, &ONE, &peak},
         {1, 0, 2500, 0, 10000},
         STEP_MATMUL,
         0.75 * 3 * 300000 / 1e9 + 0.25 * 3 * 2 * 150000 * 10001.0 / 1e12},
        {"more than one in every step",
         {&model, &ONE, &peak},
         {1, 0, 20000, 0, 10000},
         STEP_MATMUL,
         3 * 2 * 150000 * 20001.0 / 1e12},
        {"head", {&model, &ONE, &peak}, {1, 0, 0, 0, 0}, STEP_HEAD, 1000 * 100 * 2 / 1e9},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        StepCost cost =
            step_of(rows[i].of.model, rows[i].of.layout, rows[i].of.profile, (Speculation){0, 0}, rows[i].load);
        double sum = 0;
        for (int term = 0; term < STEP_TERMS; term++) sum += cost.terms[term];
        cr_expect_float_eq(cost.terms[rows[i].term], rows[i].expected, 1e-12 * rows[i].expected + 1e-18,
                           "%s: %g, expected %g", rows[i].name, cost.terms[rows[i].term], rows[i].expected);
        cr_expect_float_eq(cost.seconds, sum, 1e-12 * sum, "%s: terms add up", rows[i].name);
    }
}

/* 64 keys of 40 numbers that 2 heads of 10 choose; a kernel multiplies 16 heads where there are 4, 2 (2 x 30 + 10)
 * FLOPs each, and reaches half of the peak. Prompts of up to 64 are multiplied as any: 2 (25 + 10 + 25). */
Test(step, chosen_keys) {
    Model model = small();
    LayerKind *kind = &model.kinds[0];
    ServingProfile profile = profile_with(0, 0.5);
    kind->attention = ATTENTION_LATENT;
    kind->kv_lora_rank = 30;
    kind->qk_rope_head_dim = kind->index_head_dim = 10;
    kind->qk_nope_head_dim = kind->v_head_dim = 25;
    kind->index_heads = 2;
    kind->index_top_k = 64;
    profile.sparse_heads[0] = 16;
    profile.sparse_flops_share[0] = profile.index_flops_share = 0.5;
    profile.index_floor_seconds = 1e-3;
    profile.index_key_seconds = 1e-6;
    const double scores = 2 * 2 * 10 / 0.5e12, sparse = 64. * 140 * 16 / 0.5e12, dense = 120. * 4 / 0.5e12;
    const double index = 1e-3 + 100 * 1e-6 + 3 * 100 * 10 * 1.03125 / 0.5e9;
    const struct {
        StepLoad load;
        double launch, expected;
    } rows[] = {
        {{3, 100, 0, 0, 0}, 0, 3 * 64 * 40 * 2 / 0.5e9 + index},
        {{0, 0, 1000, 32, 0}, 0, 1000 * 32 * (dense + scores)},
        {{0, 0, 1000, 33, 0}, 0, 1000 * (sparse + 33 * scores)},
        {{0, 0, 1000, 500, 0}, 0, 1000 * (sparse + 500 * scores)},
        {{0, 0, 1000, 500, 0}, 1, 1 + 1000 * 500 * scores},
        {{3, 100, 0, 0, 0}, 1, 3 * 64 * 40 * 2 / 0.5e9 + index},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        profile.sparse_launch_seconds = rows[i].launch;
        double found = step_of(&model, &ONE, &profile, (Speculation){0, 0}, rows[i].load).terms[STEP_ATTENTION];
        cr_expect_float_eq(found, 3 * rows[i].expected, 1e-9 * found, "%zu: %g, expected %g", i, found,
                           3 * rows[i].expected);
    }
}

/* Over several domains a step may be two halves, each of which reads the weights and hides the other's messages: 4,000
 * tokens a rank, bound by FLOPs, cost as much in halves, and take the longer of both; one token reads all twice, so
 * that its step stays whole. Ranks whose experts do not divide have the next whole number of them: 2 of 3 for two. */
Test(step, two_halves_hide_messages) {
    Model model = small();
    ServingProfile plain = profile_with(0, 1), halves = plain;
    WorkerLayout data = ONE;
    WorkerLinks links = {.dispatch = {.cost = {{0, 0}, {0, 1e-7}}, .share = 1, .some = true}, .wide = true};
    model.kinds[0].d_ff = 0;
    model.kinds[0].experts = 3;
    model.kinds[0].top_k = 1;
    model.kinds[0].d_ff_expert = 50;
    data.attention_data = data.expert = 2;
    links.collect = links.dispatch;
    links.collect.cost.seconds_per_byte[1] = 1; /* never */
    plain.dispatch_bytes = halves.dispatch_bytes = 1;
    halves.two_batches = 1;
    for (int i = 0; i < 2; i++) {
        StepLoad load = i == 0 ? (StepLoad){.prompt_tokens = 8000} : (StepLoad){.sequences = 2, .context = 1};
        StepPlan plan[2];
        StepCost cost[2];
        for (int p = 0; p < 2; p++) {
            step_plan(&(ServedModel){&model, &CHIP, p ? &halves : &plain, {0, 0}, {0, 0}}, &data, &links, &plan[p]);
            worker_step(&plan[p], &load, &cost[p]);
        }
        double moved = cost[0].terms[STEP_EXCHANGE], kernels = cost[0].seconds - moved;
        if (i == 0) cr_expect_float_eq(cost[1].seconds, fmax(moved, kernels), 1e-2 * kernels, "%g", cost[1].seconds);
        if (i == 1) cr_expect_eq(cost[1].seconds, cost[0].seconds);
        double read = 2 * (1 - pow(2. / 3, 2)) * 3 * 100 * 50 * 2 / 1e9; /* two of three, two tokens */
        if (i == 1) cr_expect_float_eq(cost[0].terms[STEP_EXPERTS], 3 * read, 1e-9 * read);
    }
}

/* Two adapters of rank 4 behind all matmuls of three layers: 2,200 numbers for each of the rank on one chip, 1,450 on
 * each of two, where inner matrices of split results are whole (queries, keys and values 3 x 100 + 50 + 2 x 25, the
 * result 50 + 100, gate and up 2 x (100 + 200), down 200 + 100). Four sequences read 1 - 1/2^4 of them at 1e9 B/s; each
 * of four matmuls is followed by two more. */
Test(step, adapters_are_read_with_the_base) {
    Model model = small();
    WorkerLinks links = {0};
    for (int ways = 1; ways <= 2; ways++)
        for (int slow = 0; slow < 2; slow++) {
            ServingProfile profile = profile_with(slow ? 1e-3 : 0, 1);
            double seconds[2], bytes[2], numbers = ways == 1 ? 2200 : 1450;
            for (int some = 0; some < 2; some++) {
                ServedModel served = {&model, &CHIP, &profile, {0, 0}, {2 * some, 4}};
                StepLoad load = {.sequences = 4, .context = 1};
                WorkerLayout layout = ONE;
                StepPlan plan;
                StepCost cost;
                layout.tensor = ways;
                step_plan(&served, &layout, &links, &plan);
                worker_step(&plan, &load, &cost);
                seconds[some] = cost.terms[STEP_MATMUL];
                bytes[some] = worker_weights_bytes(&served, &layout);
            }
            double more = 3 * (2 * 4 * numbers * 2 * 15 / 16 / 1e9 + slow * 8e-3);
            cr_expect_float_eq(seconds[1] - seconds[0], more, 1e-6 * more, "%d: %g, expected %g", ways,
                               seconds[1] - seconds[0], more);
            cr_expect_float_eq(bytes[1] - bytes[0], 3 * 2 * 4 * numbers * 2, 1e-3);
        }
}

/* What moves a token to the rows of its experts and back adds to their FLOPs, and is no less where their width is
 * cut: 4 tokens of 100 numbers to 2 experts each, 30 bytes a number at 1e9 B/s, in 3 layers; a fifth with 8 bits. */
Test(step, tokens_are_moved_to_experts) {
    Model model = small();
    ServingProfile profile = profile_with(0, 1), moved = profile;
    model.kinds[0].d_ff = 0;
    model.kinds[0].experts = 8;
    model.kinds[0].top_k = 2;
    model.kinds[0].d_ff_expert = 50;
    moved.expert_token_bytes[0] = 30;
    moved.expert_token_bytes[1] = 6;
    for (int parts = 1; parts <= 2; parts++)
        for (int type = STORED_BF16; type <= STORED_FP8; type++) {
            WorkerLayout layout = ONE;
            StepLoad load = {.sequences = 4, .context = 1};
            layout.tensor = layout.expert_tensor = parts;
            layout.weights = (StoredType)type;
            double took = step_of(&model, &layout, &moved, (Speculation){0, 0}, load).terms[STEP_EXPERTS] -
                          step_of(&model, &layout, &profile, (Speculation){0, 0}, load).terms[STEP_EXPERTS];
            double expected = 3 * 4 * 2 * 100 * (type == STORED_BF16 ? 30 : 6) / 1e9;
            cr_expect_float_eq(took, expected, 1e-9 * expected, "%d parts: %g, expected %g", parts, took, expected);
        }
}

/* A token goes to all ranks that have a part of its expert: 4 tokens of 100 numbers, of a byte there and of two back,
 * in 3 layers, to one rank each where experts are whole, and to two where their width is cut in two. */
Test(step, parts_of_experts_each_get_the_token) {
    Model model = small();
    ServingProfile profile = profile_with(0, 1);
    WorkerLinks links = {.dispatch = {.cost = {{0, 0}, {0, 1e-7}}, .share = 1, .some = true}, .wide = true};
    links.collect = links.dispatch;
    links.collect.cost.seconds_per_byte[1] = 1; /* never */
    profile.dispatch_bytes = 1;
    model.kinds[0].d_ff = 0;
    model.kinds[0].experts = 4;
    model.kinds[0].top_k = 1;
    model.kinds[0].d_ff_expert = 50;
    for (int parts = 1; parts <= 2; parts++) {
        WorkerLayout layout = ONE;
        StepLoad load = {.sequences = 4, .context = 1};
        StepPlan plan;
        StepCost cost;
        layout.attention_data = 4;
        layout.expert = 4 / parts;
        layout.expert_tensor = parts;
        step_plan(&(ServedModel){&model, &CHIP, &profile, {0, 0}, {0, 0}}, &layout, &links, &plan);
        worker_step(&plan, &load, &cost);
        double expected = 3 * 4 * 100 * (1 + 2) * 1e-7 * parts;
        cr_expect_float_eq(cost.terms[STEP_EXCHANGE], expected, 1e-9 * expected, "%d: %g, expected %g", parts,
                           cost.terms[STEP_EXCHANGE], expected);
    }
}

/* Groups of attention see their own sequences, experts those of all; a pipeline sends microbatches one after the other:
 * two stages of 2 and 1 layers take as long as twice the longer one. */
Test(step, groups_and_stages) {
    Model model = small(), mixture = small();
    ServingProfile peak = profile_with(0, 1);
    mixture.kinds[0].experts = 4;
    mixture.kinds[0].top_k = 1;
    mixture.kinds[0].d_ff = 0;
    mixture.kinds[0].d_ff_expert = 50;
    WorkerLayout data = ONE, stages = ONE;
    data.attention_data = data.expert = 2;
    stages.pipeline = 2;
    StepCost cost = step_of(&mixture, &data, &peak, (Speculation){0, 0}, (StepLoad){8, 100, 0, 0, 0});
    cr_expect_float_eq(cost.terms[STEP_ATTENTION], 3 * 4 * 100 * 200 / 1e9, 1e-15, "four of eight sequences");
    double touched = 2 * (1 - pow(0.75, 8));
    cr_expect_float_eq(cost.terms[STEP_EXPERTS], 3 * touched * 15000 * 2 / 1e9, 1e-15,
                       "two of four experts, eight tokens");
    cost = step_of(&model, &stages, &peak, (Speculation){0, 0}, (StepLoad){8, 100, 0, 0, 0});
    cr_expect_float_eq(cost.terms[STEP_MATMUL], 2 * 2 * 300000 / 1e9, 1e-15, "two stages of two layers");
    cr_expect_float_eq(cost.terms[STEP_ATTENTION], 2 * 2 * 4 * 100 * 200 / 1e9, 1e-15, "of four sequences each");
    peak.pipeline_share = 0.5;
    cost = step_of(&model, &stages, &peak, (Speculation){0, 0}, (StepLoad){8, 100, 0, 0, 0});
    cr_expect_float_eq(cost.terms[STEP_MATMUL], 2 * 2 * 2 * 300000 / 1e9, 1e-15, "busy half of the time");
}

/* Two drafts: three tokens of each sequence share one reading of cache and weights; a draft is a layer and the head. */
Test(step, drafts) {
    Model model = small();
    ServingProfile peak = profile_with(0, 1);
    StepLoad load = {1, 1000, 0, 0, 0};
    StepCost plain = step_of(&model, &ONE, &peak, (Speculation){0, 0}, load);
    StepCost drafted = step_of(&model, &ONE, &peak, (Speculation){2, 0.5}, load);
    cr_expect_eq(drafted.terms[STEP_ATTENTION], plain.terms[STEP_ATTENTION], "one reading of the cache");
    cr_expect_eq(drafted.terms[STEP_MATMUL], plain.terms[STEP_MATMUL], "and of the weights");
    cr_expect_gt(drafted.terms[STEP_DRAFT], 0);
    cr_expect_float_eq(speculation_tokens((Speculation){2, 0.5}), 1.75, 1e-15, "1 + 1/2 + 1/4");
}

Test(step, measured_messages) {
    MessageTable table = {.ranks = 8, .count = 3, .bytes = {1e3, 1e4, 1e6}, .seconds = {5e-6, 8e-6, 50e-6}};
    const double rows[][2] = {{1, 5e-6}, {1e3, 5e-6}, {5.5e3, 6.5e-6}, {1e6, 50e-6}, {3e6, 150e-6}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        cr_expect_float_eq(table_seconds(&table, rows[i][0]), rows[i][1], 1e-15, "%g bytes: %g", rows[i][0],
                           table_seconds(&table, rows[i][0]));
    MessageCost plain = {.cost = {{1e-6, 1e-6}, {0, 1e-9}}, .floor_seconds = 4e-6, .share = 0.5, .some = true};
    cr_expect_float_eq(message_seconds(&plain, 10), 4e-6, 1e-15, "the floor");
    cr_expect_float_eq(message_seconds(&plain, 1e6), 1e-6 + 2e6 * 1e-9, 1e-12, "half of the links");
    plain.some = false;
    cr_expect_eq(message_seconds(&plain, 1e6), 0, "a group of one");
}

/* What engines take beyond the kernels of experts is of the weights that a step reads: one token reads an expert of
 * 3 x 100 x 50 numbers of 16 bits, at 1e9 B/s 30 us, twice as long with an extra of 1; 1e6 tokens are bound by
 * their FLOPs. */
Test(step, extras_of_experts_are_of_what_they_read) {
    Model model = small();
    ServingProfile plain = profile_with(0, 1), extra = plain;
    model.kinds[0].d_ff = 0;
    model.kinds[0].experts = 8;
    model.kinds[0].top_k = 1;
    model.kinds[0].d_ff_expert = 50;
    extra.expert_extra = 1;
    for (int i = 0; i < 2; i++) {
        StepLoad load = i == 0 ? (StepLoad){.sequences = 1, .context = 1} : (StepLoad){.prompt_tokens = 1e6};
        StepCost a = step_of(&model, &ONE, &plain, (Speculation){0}, load);
        StepCost b = step_of(&model, &ONE, &extra, (Speculation){0}, load);
        double expected = i == 0 ? 3 * 3 * 100 * 50 * 2 / 1e9 : 3 * 1e6 * 2 * 3 * 100 * 50 / 1e12;
        cr_expect_float_eq(a.terms[STEP_EXPERTS], expected, 1e-3 * expected, "%g", a.terms[STEP_EXPERTS] / expected);
        cr_expect_float_eq(b.terms[STEP_EXPERTS], (i == 0 ? 2 : 1) * expected, 1e-3 * expected);
    }
}

/* Four ranks, to which one step in two brings a prompt: to one of them, and the others wait. Attention is for that
 * rank's 8,000 tokens; experts have those of no other. */
Test(step, ranks_wait_for_a_prompt) {
    Model mixture = small();
    ServingProfile peak = profile_with(0, 1);
    WorkerLayout data = ONE;
    mixture.kinds[0].d_ff = 0;
    mixture.kinds[0].experts = 4;
    mixture.kinds[0].top_k = 1;
    mixture.kinds[0].d_ff_expert = 50;
    data.attention_data = data.expert = 4;
    StepCost cost = step_of(&mixture, &data, &peak, (Speculation){0, 0}, (StepLoad){4, 0, 4000, 500, 8000});
    double attention = 0.5 * 3 * 8000 * 500.0 * 4 * 100 / 1e12;
    cr_expect_float_eq(cost.terms[STEP_ATTENTION], attention, 1e-12);
    double one = 15000 * 2 / 1e9, decode = one * (1 - pow(0.75, 4)), prompt = 8004.0 / 4 * 2 * 15000 / 1e12;
    cr_expect_float_eq(cost.terms[STEP_EXPERTS], 0.5 * 3 * (decode + prompt), 1e-9);
    /* Twice a prompt in every step: the mean of the ranks is less than one, and one still has a whole one. */
    cost = step_of(&mixture, &data, &peak, (Speculation){0, 0}, (StepLoad){4, 0, 16000, 500, 8000});
    cr_expect_float_eq(cost.terms[STEP_ATTENTION], 2 * attention, 1e-12);
}

/* Each rank of attention data has a scheduler of its own, which handles its own sequences. */
Test(step, ranks_have_their_own_hosts) {
    Model model = small();
    ServingProfile profile = profile_with(0, 1);
    WorkerLayout four = ONE;
    profile.step_seconds = 1e-3;
    profile.sequence_seconds = 1e-5;
    four.attention_data = 4;
    StepLoad load = {.sequences = 10, .context = 1};
    cr_expect_float_eq(step_of(&model, &ONE, &profile, (Speculation){0}, load).terms[STEP_HOST], 1.1e-3, 1e-12);
    cr_expect_float_eq(step_of(&model, &four, &profile, (Speculation){0}, load).terms[STEP_HOST], 1.03e-3, 1e-12);
}
