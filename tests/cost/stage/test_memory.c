/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the bytes of a chip, row by row, with closed forms. */
#include "cost/estimate.h"
#include "cost/stage/memory_detail.h"
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <string.h>

static MemoryRows rows_of(const Bench *bench, Moment moment, double saved) {
    CostContext setting = bench_setting(bench);
    MemoryRows rows;
    memory_rows(&(ShardedStage){&setting, &bench->shard, &bench->knobs, &bench->sharding}, moment, saved, &rows);
    return rows;
}

/* ---- state: bytes a parameter. bf16 copy 2, gradient 2, or 4 when accumulated, fp32 master and two moments 12 ---- */
Test(memory, state) {
    const double P = 2. * 8192 * 28672 * LAYERS;
    const struct {
        const char *name;
        double fsdp, data, microbatches;
        int zero_stage;
        double parameters, gradients, optimizer; /* after the backward */
        double early;                            /* gradients before the backward */
    } rows[] = {
        {"alone: 16", 1, 1, 1, 0, 2, 2, 12, 0},
        {"alone, accumulated: 18", 1, 1, 8, 0, 2, 4, 12, 4},
        {"replicas hold all of it", 1, 8, 1, 0, 2, 2, 12, 0},
        {"ZeRO-1", 1, 8, 1, 1, 2, 2, 12. / 8, 0},
        {"ZeRO-1, accumulated", 1, 8, 4, 1, 2, 4, 12. / 8, 4},
        {"ZeRO-2", 1, 8, 4, 2, 2, 4. / 8, 12. / 8, 4. / 8},
        {"fsdp: 16/8", 8, 1, 1, 0, 2. / 8, 2. / 8, 12. / 8, 0},
        {"fsdp, accumulated: 18/8", 8, 1, 4, 0, 2. / 8, 4. / 8, 12. / 8, 4. / 8},
        {"fsdp in replicas with ZeRO-2", 8, 4, 4, 2, 2. / 8, 4. / 32, 12. / 32, 4. / 32},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model(8192, 28672), 1, 1);
        bench.shard.fsdp = rows[i].fsdp, bench.shard.data = rows[i].data,
        bench.shard.microbatches = rows[i].microbatches;
        bench.knobs.zero_stage = rows[i].zero_stage;
        MemoryRows update = rows_of(&bench, MOMENT_UPDATE, 0), early = rows_of(&bench, MOMENT_FIRST_BACKWARD, 0);
        cr_expect_float_eq(update.parameters_bytes / P, rows[i].parameters, 1e-9, "%s", rows[i].name);
        cr_expect_float_eq(update.gradients_bytes / P, rows[i].gradients, 1e-9, "%s: %g", rows[i].name,
                           update.gradients_bytes / P);
        cr_expect_float_eq(update.optimizer_bytes / P, rows[i].optimizer, 1e-9, "%s: %g", rows[i].name,
                           update.optimizer_bytes / P);
        cr_expect_float_eq(early.gradients_bytes / P, rows[i].early, 1e-9, "%s: %g", rows[i].name,
                           early.gradients_bytes / P);
    }
}

/* Context ways shard parameters as fsdp does, experts are not sharded by their own ways again, and tensor has divided
 * before: 70B's layer is one of 8 x 2 x 4 parts; a mixture's is on 4 expert ways and 2 of fsdp. Tensor does not split
 * norms, 2 x 8192 (2 x 4096 and the router's 8 x 4096). */
Test(memory, ways_of_a_parameter) {
    Bench dense = bench_of(llama3_70b(), 1, 512);
    bench_split(&dense, 64, 4, 8);
    dense.shard.sequence = 2;
    double layer = (150994944 + 704643072) / 8. + 16384;
    cr_expect_float_eq(rows_of(&dense, MOMENT_UPDATE, 0).parameters_bytes / LAYERS, 2 * layer / 8, 1e-2);

    Model model = dense_model(1, 4096, 0, 32, 8, 128, 1);
    model.kinds[0].experts = 8, model.kinds[0].top_k = 2, model.kinds[0].d_ff_expert = 14336;
    Bench mixture = bench_of(model, 1, 512);
    mixture.shard.expert = 4, mixture.shard.experts = 2, mixture.shard.fsdp = 2;
    double attention = 4096. * 128 * 80 + 2 * 4096 + 8 * 4096, experts = 2 * 3 * 4096. * 14336;
    cr_expect_float_eq(rows_of(&mixture, MOMENT_UPDATE, 0).parameters_bytes / LAYERS, 2 * (attention / 8 + experts / 2),
                       1e-2);
}

/* Stages hold their own layers, and the tables that stand on them: 80 layers on 4 stages; with one stage a tied table
 * is held once, with more both ends need it. */
Test(memory, stages) {
    const double layer = 855638016 + 16384, table = 128256. * 8192, norm = 8192;
    const struct {
        const char *name;
        double stages, layers, layers_last;
        bool tied;
        double first, last;
    } rows[] = {
        {"one stage", 1, 80, 80, false, 80 * layer + 2 * table + norm, 80 * layer + 2 * table + norm},
        {"one, tied", 1, 80, 80, true, 80 * layer + table + norm, 80 * layer + table + norm},
        {"four", 4, 20, 20, false, 20 * layer + table, 20 * layer + table + norm},
        {"four, tied", 4, 20, 20, true, 20 * layer + table, 20 * layer + table + norm},
        {"the last has fewer", 3, 27, 26, false, 27 * layer + table, 26 * layer + table + norm},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(llama3_70b(), 1, 1);
        bench.model.tied = rows[i].tied, bench.shard.vocab = 128256;
        bench.shard.pipeline = rows[i].stages, bench.shard.layers = rows[i].layers,
        bench.shard.layers_last = rows[i].layers_last;
        cr_expect_eq(rows_of(&bench, MOMENT_FIRST_BACKWARD, 0).parameters_bytes, 2 * rows[i].first, "%s", rows[i].name);
        cr_expect_eq(rows_of(&bench, MOMENT_LAST_BACKWARD, 0).parameters_bytes, 2 * rows[i].last, "%s", rows[i].name);
    }
}

/* Weights that fsdp gathers: two layers (one arrives while the other works; none during the loss), or all of the stage
 * and the embedding when they are kept; and a layer's gradient before it is scattered. With logits: their table and
 * its gradient. Without fsdp nothing is gathered. */
Test(memory, gathered) {
    const double layer = 2. * 2 * 8192 * 28672, table = 2 * (32000. * 8192 + 8192), embedding = 2 * 32000. * 8192;
    const struct {
        const char *name;
        double fsdp, layers;
        bool regather;
        Moment moment;
        double expected;
    } rows[] = {
        {"twice", 8, 80, true, MOMENT_FIRST_BACKWARD, 3 * layer},
        {"the degree does not matter", 512, 80, true, MOMENT_FIRST_BACKWARD, 3 * layer},
        {"kept", 8, 80, false, MOMENT_FIRST_BACKWARD, 81 * layer + embedding},
        {"a stage of one layer", 8, 1, true, MOMENT_FIRST_BACKWARD, 2 * layer},
        {"with logits", 8, 80, true, MOMENT_LAST_LOGITS, 2 * layer + 2 * table},
        {"nothing to gather", 1, 80, false, MOMENT_FIRST_BACKWARD, 0},
        {"nothing, with logits", 1, 80, false, MOMENT_LAST_LOGITS, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model(8192, 28672), 1, 64);
        bench.shard.vocab = 32000, bench.shard.fsdp = rows[i].fsdp, bench.knobs.regather = rows[i].regather;
        bench.shard.layers = bench.shard.layers_last = rows[i].layers;
        double found = rows_of(&bench, rows[i].moment, 0).gathered_bytes;
        cr_expect_float_eq(found, rows[i].expected, 1e-3, "%s: %.9g, not %.9g", rows[i].name, found, rows[i].expected);
    }
}

/* Matrix by matrix: the two of 8192 x 28672 of book_model() are two matmuls, so one of them is gathered, and its
 * gradient; 70B's gate and up are one matmul of two. Beside logits only their table is gathered; weights kept from
 * forward are whole layers still. */
Test(memory, gathered_by_matrix) {
    const double one = 2. * 8192 * 28672, table = 2 * (32000. * 8192 + 8192);
    const struct {
        const char *name;
        bool gated, regather;
        Moment moment;
        double expected;
    } rows[] = {
        {"one of two", false, true, MOMENT_FIRST_BACKWARD, 2 * one},
        {"gate and up", true, true, MOMENT_LAST_BACKWARD, 4 * one},
        {"logits", false, true, MOMENT_LAST_LOGITS, 2 * table},
        {"kept", false, false, MOMENT_FIRST_BACKWARD, 80 * 2 * one + one},
    };
    Profile profile = IDEAL;
    profile.gathers_matrices = 1;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model(8192, 28672), 1, 64);
        bench.model.kinds[0].gated = rows[i].gated;
        bench.shard.vocab = 32000, bench.shard.fsdp = 8, bench.knobs.regather = rows[i].regather;
        bench.shard.layers = bench.shard.layers_last = 80;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        MemoryRows found;
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, rows[i].moment, 0, &found);
        cr_expect_float_eq(found.gathered_bytes, rows[i].expected, 1e-3, "%s: %.9g, not %.9g", rows[i].name,
                           found.gathered_bytes, rows[i].expected);
    }
}

/* fp32 logits and their bf16 gradient, 6 bytes, of the chip's vocabulary; contracted over d_model, every chip has
 * partial sums (bf16) of all of it. */
Test(memory, logits) {
    static const struct {
        const char *name;
        double tensor;
        TableChoice logits;
        double bytes; /* a token and word of the whole vocabulary */
    } rows[] = {{"alone", 1, TABLE_VOCABULARY, 6},
                {"8 ways", 8, TABLE_VOCABULARY, 6. / 8},
                {"8 ways over d_model", 8, TABLE_D_MODEL, 6. / 8 + 2}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(llama3_70b(), 1, 4096);
        bench_split(&bench, 4096 / rows[i].tensor, 1, rows[i].tensor);
        bench.shard.vocab = 128256 / rows[i].tensor;
        bench.sharding.logits = rows[i].logits;
        cr_expect_eq(rows_of(&bench, MOMENT_LAST_LOGITS, 0).logits_bytes, rows[i].bytes * 4096 * 128256, "%s",
                     rows[i].name);
        cr_expect_eq(rows_of(&bench, MOMENT_LAST_BACKWARD, 0).logits_bytes, 0, "%s: gone", rows[i].name);
    }
}

/* ---- microbatches in flight ---- */

/* 1F1B: the first stage has p of them between forward and backward, the last stage one; interleaved: p (1 + (p - 1)/(p
 * v)) on the first (Korthikanti et al. 2022, section 4.2.3), (v - 1) p + 1 chunks of 1/v on the last (Megatron's
 * warm-up); at most the number there are. Weights are per layer of the fullest stage: a last stage of 6 layers beside 8
 * counts 6/8. */
Test(memory, in_flight) {
    static const struct {
        const char *name;
        double stages, microbatches;
        int64_t chunks;
        double layers, layers_last, first, last;
    } rows[] = {
        {"no pipeline", 1, 16, 1, 80, 80, 1, 1},
        {"1F1B", 8, 32, 1, 10, 10, 8, 1},
        {"1F1B, fewer than stages", 8, 4, 1, 10, 10, 4, 1},
        {"1F1B, two stages", 2, 2, 1, 10, 10, 2, 1},
        {"a shorter last stage", 16, 64, 1, 8, 6, 16, 6. / 8},
        {"interleaved, 4 chunks", 8, 32, 4, 12, 12, 8 * (1 + 7. / 32), 25. / 4},
        {"interleaved, 2 chunks", 4, 32, 2, 12, 12, 4 * (1 + 3. / 8), 5. / 2},
        {"interleaved, few microbatches", 8, 8, 4, 12, 12, 8, 25. / 4},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Shard shard = {.pipeline = rows[i].stages,
                       .microbatches = rows[i].microbatches,
                       .layers = rows[i].layers,
                       .layers_last = rows[i].layers_last};
        Knobs knobs = {.virtual_stages = rows[i].chunks,
                       .schedule = rows[i].chunks > 1   ? SCHEDULE_INTERLEAVED
                                   : rows[i].stages > 1 ? SCHEDULE_1F1B
                                                        : SCHEDULE_NONE};
        double weights[MOMENT_COUNT];
        Profile plain = {0};
        microbatches_in_flight(&(CostContext){.profile = &plain}, &shard, &knobs, weights);
        cr_expect_float_eq(weights[MOMENT_FIRST_BACKWARD], rows[i].first, 1e-12, "%s: %g", rows[i].name,
                           weights[MOMENT_FIRST_BACKWARD]);
        cr_expect_float_eq(weights[MOMENT_LAST_LOGITS], rows[i].last, 1e-12, "%s: %g", rows[i].name,
                           weights[MOMENT_LAST_LOGITS]);
        cr_expect_float_eq(weights[MOMENT_LAST_BACKWARD], rows[i].last, 1e-12, "%s", rows[i].name);
        cr_expect_eq(weights[MOMENT_UPDATE], 0, "%s", rows[i].name);
    }
}

/* A stage's resources are its rows with every activation saved: weight x layers x the 70B layer's bytes
 * (test_activations.c). */
Test(memory, moments) {
    const double T = 4096, D = 8192, F = 28672, N = 64, K = 8, H = 128;
    const struct {
        const char *name;
        double stages, microbatches, tensor;
    } rows[] = {{"one stage", 1, 1, 1}, {"one stage, accumulated", 1, 8, 8}, {"8 stages", 8, 32, 8}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double t = rows[i].tensor, in_flight = rows[i].stages;
        Bench bench = bench_of(llama3_70b(), 1, T);
        bench_split(&bench, T / t, 64, t);
        bench.shard.layers = bench.shard.layers_last = 80 / rows[i].stages;
        bench.shard.vocab = 128256 / t, bench.shard.seq = T;
        bench.shard.pipeline = rows[i].stages, bench.shard.microbatches = rows[i].microbatches;
        bench.knobs.schedule = rows[i].stages > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE;
        Resources resources = bench_resources(&bench);
        double saved =
            4 * T * D / t + 4 * T * D + 2 * T * (N + 2 * K) * H / t + (2 * T * N * H + 4 * T * N) / t + 6 * T * F / t;
        for (int moment = 0; moment < MOMENT_COUNT; moment++) {
            double kept = moment == MOMENT_UPDATE ? 0 : moment == MOMENT_FIRST_BACKWARD ? in_flight : 1;
            MemoryRows r = rows_of(&bench, (Moment)moment, kept * bench.shard.layers * saved);
            double sum = r.parameters_bytes + r.gradients_bytes + r.optimizer_bytes + r.activations_bytes +
                         r.gathered_bytes + r.logits_bytes + r.transient_bytes;
            cr_expect_eq(memory_total(&r), sum, "%s", rows[i].name);
            cr_expect_float_eq(resources.of[RES_MEMORY + moment], sum, 1e-12 * sum, "%s, moment %d: %.9g, rows %.9g",
                               rows[i].name, moment, resources.of[RES_MEMORY + moment], sum);
        }
        /* Backward starts with the most microbatches on the first stage, and no microbatch is left when it is over. */
        double first = resources.of[RES_MEMORY + MOMENT_FIRST_BACKWARD],
               last = resources.of[RES_MEMORY + MOMENT_LAST_BACKWARD];
        if (rows[i].stages > 1)
            cr_expect_gt(first, last, "%s", rows[i].name);
        else
            cr_expect_eq(first, last, "%s: the same stage", rows[i].name);
        cr_expect_lt(resources.of[RES_MEMORY + MOMENT_UPDATE], first, "%s", rows[i].name);
    }
}

/* NCCL's memory: a communicator for every role of more than one chip, and all_to_all's connections; a profile of TPUs
 * has none. 8% of 80 GB hold five of 0.69 GB and 3.28 GB; 8% of 40 GB do not. */
Test(memory, communicators) {
    static const struct {
        double tensor, expert, fsdp, hbm, reserve, lacking, fragmentation;
    } rows[] = {
        {1, 1, 1, 80e9, 0, 0, 6.4e9},
        {8, 1, 1, 80e9, 0.69e9, 0, 6.4e9 - 0.69e9},
        {8, 4, 16, 80e9, 3 * 0.69e9 + 3.28e9, 0, 6.4e9 - 3 * 0.69e9 - 3.28e9},
        {8, 4, 16, 40e9, 3.2e9, 3 * 0.69e9 + 3.28e9 - 3.2e9, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(llama3_70b(), 1, 512);
        Profile profile = IDEAL;
        CostContext setting = bench_setting(&bench);
        profile.communicator_bytes = 0.69e9, profile.all_to_all_bytes = 3.28e9;
        bench.chip.hbm_bytes.value = rows[i].hbm;
        setting.profile = &profile, setting.hbm_reserve = 0.08;
        bench.shard.tensor = rows[i].tensor, bench.shard.expert = rows[i].expert, bench.shard.fsdp = rows[i].fsdp;
        MemoryPart parts[MEMORY_PARTS_MAX];
        Plan plan = {.knobs = bench.knobs};
        double in_flight, held = 0, lacking = 0, fragmentation = 0;
        int count = memory_parts(&setting, &bench.shard, &plan, MOMENT_UPDATE, parts, &in_flight);
        for (int j = 0; j < count; j++) {
            if (parts[j].row != MEMORY_RESERVE) continue;
            *(strcmp(parts[j].name, "communicators") == 0   ? &held
              : strcmp(parts[j].name, "fragmentation") == 0 ? &fragmentation
                                                            : &lacking) = parts[j].bytes;
        }
        cr_expect_float_eq(held, rows[i].reserve, 1, "%zu: %g", i, held);
        cr_expect_float_eq(lacking, rows[i].lacking, 1, "%zu: %g", i, lacking);
        cr_expect_float_eq(fragmentation, rows[i].fragmentation, 1, "%zu: %g", i, fragmentation);
    }
}

/* ---- bytes that software keeps ---- */

static const double T = 4096, D = 8192, F = 28672, HEADS = 64, KV = 8, H = 128;

/* A layer of 70B, tokens along the sequence over t = 8 ranks, as in Korthikanti et al. 2022 (section 4.2.2): a rank
 * keeps a t-th of every activation, inputs of blocks too, which are gathered again in backward. */
Test(memory, inputs_kept_apart) {
    Profile profile = IDEAL;
    Bench bench = bench_of(llama3_70b(), 1, T);
    bench_split(&bench, T / 8, 64, 8);
    bench.shard.seq = T;
    CostContext setting = bench_setting(&bench);
    setting.profile = &profile;
    StageTotals gathered, apart;
    stage_sums(&setting, &bench.shard, &bench.knobs.methods, &bench.sharding, &gathered);
    MemoryRows before = rows_of(&bench, MOMENT_FIRST_BACKWARD, 0), after;
    profile.inputs_kept_apart = 1;
    stage_sums(&setting, &bench.shard, &bench.knobs.methods, &bench.sharding, &apart);
    memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_FIRST_BACKWARD, 0,
                &after);
    double whole = 8 * T * D + 2 * T * (HEADS + 2 * KV) * H + (2 * T * HEADS * H + 4 * T * HEADS) + 6 * T * F;
    cr_expect_float_eq(saved_of_sums(&apart), whole / 8, 1e-3, "%.9g", saved_of_sums(&apart));
    cr_expect_float_eq(saved_of_sums(&gathered) - saved_of_sums(&apart), 4 * T * D * 7 / 8, 1e-3);
    /* The layer at work has one of its inputs whole again. */
    cr_expect_float_eq(before.transient_bytes - after.transient_bytes, 4 * T * D * 7 / 8 - 2 * T * D, 1e-3);
}

/* In fp8 (Transformer Engine) the inputs of linear layers take a byte, attention's output 2 + 1; everything else stays
 * the same. Where the software casts again (XLA) everything stays the same. */
Test(memory, low_inputs) {
    static const struct {
        Precision precision;
        double copies, input, copy; /* bytes of a number */
    } rows[] = {{PRECISION_BF16, 1, 2, 0},
                {PRECISION_FP8, 0, 2, 0},
                {PRECISION_FP8, 1, 1, 1},
                {PRECISION_MXFP8, 1, 1, 1},
                {PRECISION_NVFP4, 1, 0.5, 0.5}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Profile profile = IDEAL;
        profile.precision = rows[i].precision, profile.low_copies = rows[i].copies;
        Bench bench = bench_of(llama3_70b(), 1, T);
        bench_split(&bench, T, 64, 1);
        bench.shard.seq = T;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile;
        StageTotals sums;
        stage_sums(&setting, &bench.shard, &bench.knobs.methods, &bench.sharding, &sums);
        const double *saved = sums.layer.saved;
        cr_expect_eq(saved[ACTIVATION_LAYER_INPUT], 2 * T * D);
        cr_expect_eq(saved[ACTIVATION_ATTENTION_INPUT], rows[i].input * T * D);
        cr_expect_eq(saved[ACTIVATION_QKV], 2 * T * (HEADS + 2 * KV) * H);
        cr_expect_eq(saved[ACTIVATION_CONTEXT], (2 + rows[i].copy) * T * HEADS * H + 4 * T * HEADS);
        cr_expect_eq(saved[ACTIVATION_MIDDLE], 2 * T * D);
        cr_expect_eq(saved[ACTIVATION_MLP_INPUT], rows[i].input * T * D);
        cr_expect_eq(saved[ACTIVATION_GATE_UP], 4 * T * F);
        cr_expect_eq(saved[ACTIVATION_PRODUCT], rows[i].input * T * F);
    }
}

/* Weights in fp8, in one layout or two, beside bf16 or instead of it; an optimizer on the CPU keeps bf16. */
Test(memory, low_weights) {
    const double layers = 80 * (855638016. + 16384), tables = 2 * 128256. * 8192 + 8192;
    static const struct {
        Precision precision;
        Dtype parameters;
        double copies, transposed, fsdp, layer, table; /* bytes of a number */
        enum { BOTH, ALONE, ON_CPU } how; /* a bf16 copy next to them; none; none, and the optimizer on the CPU */
    } rows[] = {
        {PRECISION_FP8, DTYPE_DEFAULT, 1, 1, 1, 2, 2, ALONE},    {PRECISION_MXFP8, DTYPE_DEFAULT, 1, 0, 1, 2, 2, ALONE},
        {PRECISION_NVFP4, DTYPE_DEFAULT, 1, 0, 1, 3, 2, ALONE},  {PRECISION_BF16, DTYPE_DEFAULT, 1, 0, 1, 2, 2, ALONE},
        {PRECISION_FP8, DTYPE_FP8, 1, 1, 1, 2, 2, ALONE},        {PRECISION_FP8, DTYPE_DEFAULT, 0, 1, 1, 2, 2, BOTH},
        {PRECISION_FP8, DTYPE_DEFAULT, 1, 0, 1, 3, 2, BOTH},     {PRECISION_FP8, DTYPE_DEFAULT, 1, 1, 1, 4, 2, BOTH},
        {PRECISION_FP8, DTYPE_FP8, 1, 0, 1, 1, 2, BOTH},         {PRECISION_FP8, DTYPE_FP8, 1, 1, 1, 2, 2, BOTH},
        {PRECISION_MXFP8, DTYPE_DEFAULT, 1, 0, 1, 4, 2, BOTH},   {PRECISION_NVFP4, DTYPE_DEFAULT, 1, 0, 1, 3, 2, BOTH},
        {PRECISION_BF16, DTYPE_DEFAULT, 1, 1, 1, 2, 2, BOTH},    {PRECISION_FP8, DTYPE_DEFAULT, 1, 1, 4, 2, 2, BOTH},
        {PRECISION_FP8, DTYPE_BF16, 1, 1, 1, 4, 2, ALONE},       {PRECISION_FP8, DTYPE_DEFAULT, 1, 1, 1, 4, 2, ON_CPU},
        {PRECISION_MXFP8, DTYPE_DEFAULT, 1, 0, 1, 4, 2, ON_CPU}, {PRECISION_FP8, DTYPE_FP8, 1, 1, 1, 2, 2, ON_CPU},
        {PRECISION_FP8, DTYPE_DEFAULT, 1, 1, 4, 2, 2, ON_CPU}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Profile profile = IDEAL;
        profile.precision = rows[i].precision, profile.low_copies = rows[i].copies;
        profile.transposed_low_copy = rows[i].transposed, profile.low_parameters = rows[i].how != BOTH;
        Bench bench = bench_of(llama3_70b(), 1, T);
        bench.shard.layers = bench.shard.layers_last = 80, bench.shard.vocab = 128256, bench.shard.fsdp = rows[i].fsdp;
        bench.knobs.offload_optimizer = rows[i].how == ON_CPU;
        TrainingState state = *training_state_default();
        state.dtypes.parameters = rows[i].parameters == DTYPE_FP8 ? DTYPE_FP8 : DTYPE_BF16;
        state.parameter_bytes = dtype_bytes(state.dtypes.parameters),
        state.said_bf16 = rows[i].parameters == DTYPE_BF16;
        MemoryRows found;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile, setting.state = &state;
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_UPDATE, 0, &found);
        double expected = (rows[i].layer * layers + rows[i].table * tables) / rows[i].fsdp, is = found.parameters_bytes;
        cr_expect_float_eq(is, expected, 1, "%zu: %.12g, not %.12g", i, is, expected);
    }
}

/* The embedding takes a layer's place (405B: 126 layers and 2 on 8 stages of 8 chunks): 71 chunks of 2 layers are in
 * flight, 15 of them of the first chunk, which has one. */
Test(memory, slots) {
    static const struct {
        double stages, chunks, layers, microbatches, in_flight;
    } rows[] = {{8, 8, 16, 48, 71 * 2 - 15}, {8, 8, 16, 4, 4 * 16 - 4}, {12, 1, 6, 128, 12 * 5}, {12, 1, 6, 3, 3 * 5}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(llama3_70b(), 1, 1);
        Shard *shard = &bench.shard;
        shard->vocab = 128256, shard->pipeline = rows[i].stages, shard->microbatches = rows[i].microbatches;
        shard->layers = rows[i].layers, shard->layers_last = rows[i].layers - 1, shard->slots_first = 1;
        bench.knobs.virtual_stages = (int64_t)rows[i].chunks;
        bench.knobs.schedule = rows[i].chunks > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
        CostContext setting = bench_setting(&bench);
        double weights[MOMENT_COUNT];
        microbatches_in_flight(&setting, shard, &bench.knobs, weights);
        cr_expect_float_eq(weights[MOMENT_FIRST_BACKWARD] * rows[i].layers, rows[i].in_flight, 1e-9, "%zu: %g", i,
                           weights[MOMENT_FIRST_BACKWARD] * rows[i].layers);
        double held = (rows[i].layers - 1) * (855638016. + 16384) + 128256. * 8192;
        cr_expect_float_eq(rows_of(&bench, MOMENT_FIRST_BACKWARD, 0).parameters_bytes, 2 * held, 1);
    }
}

/* DeepSpeed, bytes of a parameter on 8 replicas. ZeRO-1: 2 + gradients 2, and a rank's part of 12 + 6 (flat gradients
 * of 2, and cast, of 4); BF16_Optimizer of 2022: 2 + 4 + the whole master 4 + 8/8. In addition, buckets where there are
 * replicas, and the outputs that stages have sent on, one residual stream for each microbatch in flight. */
Test(memory, deepspeed) {
    const double P = 2. * 8192 * 28672 * LAYERS;
    static const struct {
        const char *name;
        double data, master, scratch, gradients;
        double bytes;
    } rows[] = {{"ZeRO-1", 8, 0, 6, 2, 4 + 18. / 8},
                {"one replica", 1, 0, 6, 2, 22},
                {"BF16_Optimizer", 8, 1, 0, 4, 11},
                {"BF16_Optimizer, 4 replicas", 4, 1, 0, 4, 12},
                {"BF16_Optimizer, one", 1, 1, 0, 4, 18}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Profile profile = IDEAL;
        profile.whole_master = rows[i].master, profile.update_scratch_bytes = rows[i].scratch;
        Bench bench = bench_of(book_model(8192, 28672), 1, 1);
        bench.shard.data = rows[i].data, bench.shard.microbatches = 8;
        bench.knobs.zero_stage = rows[i].data > 1 ? 1 : 0;
        TrainingState state = *training_state_default();
        state.gradient_bytes[0] = state.gradient_bytes[1] = rows[i].gradients;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile, setting.state = &state;
        MemoryRows found;
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_UPDATE, 0, &found);
        cr_expect_float_eq((found.parameters_bytes + found.gradients_bytes + found.optimizer_bytes) / P, rows[i].bytes,
                           1e-9, "%s: %g", rows[i].name,
                           (found.parameters_bytes + found.gradients_bytes + found.optimizer_bytes) / P);
    }
}

/* Every figure at once: parts add up to their rows. A device's tool also shows the allocator's unused bytes, the
 * context and three communicators. */
Test(memory, everything_that_software_keeps) {
    Profile profile = IDEAL;
    profile.low_copies = profile.transposed_low_copy = profile.inputs_kept_apart = 1;
    profile.stage_outputs_kept = profile.whole_master = 1;
    profile.update_scratch_bytes = 6, profile.bucket_bytes = 1e9, profile.precision = PRECISION_FP8;
    profile.fragmentation_share = 0.05, profile.context_bytes = 2e9, profile.communicator_bytes = 0.7e9;
    Bench bench = bench_of(llama3_70b(), 1, T);
    bench_split(&bench, T / 8, 64, 8);
    bench.shard.seq = T, bench.shard.vocab = 128256 / 8;
    bench.shard.fsdp = 1, bench.shard.pipeline = 8, bench.shard.data = 4, bench.shard.microbatches = 32;
    bench.shard.layers = bench.shard.layers_last = 10;
    bench.knobs.schedule = SCHEDULE_1F1B, bench.knobs.zero_stage = 1;
    CostContext setting = bench_setting(&bench);
    setting.profile = &profile;
    Plan plan = {.knobs = bench.knobs, .layout.sharding = bench.sharding};
    for (int a = 0; a < ACTIVATION_COUNT; a++) plan.layout.layers[a][STATE_SAVED] = 10;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryPart parts[MEMORY_PARTS_MAX];
        MemoryRows rows;
        double in_flight, sums[MEMORY_ROW_COUNT] = {0}, outputs = 0;
        plan_memory(&setting, &bench.shard, &plan, (Moment)moment, &rows);
        int count = memory_parts(&setting, &bench.shard, &plan, (Moment)moment, parts, &in_flight);
        for (int j = 0; j < count; j++) {
            sums[parts[j].row] += parts[j].bytes;
            if (strcmp(parts[j].name, "stage_outputs") == 0) outputs = parts[j].bytes;
        }
        for (int row = 0; row < MEMORY_RESERVE; row++)
            cr_expect_float_eq(sums[row], memory_row_bytes(&rows, (MemoryRow)row), 16, "moment %d: %s, %.12g", moment,
                               memory_row_name((MemoryRow)row), sums[row]);
        double expected = moment == MOMENT_FIRST_BACKWARD ? 8 * 2 * T / 8 * D : 0;
        cr_expect_float_eq(outputs, expected, 16, "moment %d: %g sent on", moment, outputs);
    }
    cr_expect_float_eq(memory_on_device(&setting, &bench.shard, 60e9), 63e9 + 2e9 + 3 * 0.7e9, 1);
}

Test(memory, copy_and_casts) {
    Bench bench = bench_of(llama3_70b(), 1, T);
    bench_split(&bench, T / 8, 8, 8);
    bench.shard.layers = bench.shard.layers_last = LAYERS;
    CostContext setting = bench_setting(&bench);
    Plan plan = {.knobs = bench.knobs, .layout.sharding = bench.sharding};
    MemoryPart parts[MEMORY_PARTS_MAX];
    double in_flight, bytes[2] = {0};
    for (int j = memory_parts(&setting, &bench.shard, &plan, MOMENT_UPDATE, parts, &in_flight); j-- > 0;)
        if (parts[j].row == MEMORY_PARAMETERS) bytes[strcmp(parts[j].name, "casts") == 0] += parts[j].bytes;
    cr_expect(bytes[0] > 0 && bytes[1] == 0, "%g of copies, %g of casts", bytes[0], bytes[1]);
}
