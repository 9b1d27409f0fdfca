/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a chip holds, row by row, against closed forms. */
#include "cost/memory_detail.h"
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <string.h>

static MemoryRows rows_of(const Bench *bench, Moment moment, double saved) {
    Setting setting = bench_setting(bench);
    MemoryRows rows;
    memory_rows(&setting, &bench->shard, &bench->knobs, &bench->sharding, moment, saved, &rows);
    return rows;
}

/* ---- state: bytes a parameter. bf16 copy 2, gradient 2, or 4 when accumulated, fp32 master and two moments 12 ---- */
Test(memory, state) {
    const double P = 2. * 8192 * 28672 * LAYERS;
    const struct {
        const char *name;
        double fsdp, data, microbatches;
        int zero_stage;
        double parameters, gradients, optimizer; /* when backward is over */
        double early;                            /* gradients before it begins */
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

/* Context ways shard parameters as fsdp does, experts are not sharded by their own ways again, and tensor has
 * divided before: 70B's layer, one of 8 x 2 x 4; a mixture's on 4 expert ways and 2 of fsdp. Norms, 2 x 8192 (2 x
 * 4096 and the router's 8 x 4096), are not split by tensor. */
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

/* Stages hold their own layers, and the tables where they stand: 80 layers on 4 stages; with one stage a tied table
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
        {"four", 4, 20, 20, false, 20 * layer + table, 20 * layer + table + norm},
        {"four, tied", 4, 20, 20, true, 20 * layer + table, 20 * layer + table + norm},
        {"the last has fewer", 3, 27, 26, false, 27 * layer + table, 26 * layer + table + norm},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(llama3_70b(), 1, 1);
        bench.model.tied = rows[i].tied;
        bench.shard.vocab = 128256;
        bench.shard.pipeline = rows[i].stages, bench.shard.layers = rows[i].layers,
        bench.shard.layers_last = rows[i].layers_last;
        cr_expect_eq(rows_of(&bench, MOMENT_FIRST_BACKWARD, 0).parameters_bytes, 2 * rows[i].first, "%s", rows[i].name);
        cr_expect_eq(rows_of(&bench, MOMENT_LAST_BACKWARD, 0).parameters_bytes, 2 * rows[i].last, "%s", rows[i].name);
    }
}

/* Weights that fsdp gathers: two layers (one arrives while the other works), or all of the stage when they are kept;
 * and a layer's gradient before it is scattered. With logits: their table and its gradient. Nothing without fsdp. */
Test(memory, gathered) {
    const double layer = 2. * 2 * 8192 * 28672, table = 2 * (32000. * 8192 + 8192);
    const struct {
        const char *name;
        double fsdp, layers;
        bool regather;
        Moment moment;
        double expected;
    } rows[] = {
        {"twice", 8, 80, true, MOMENT_FIRST_BACKWARD, 3 * layer},
        {"the degree does not matter", 512, 80, true, MOMENT_FIRST_BACKWARD, 3 * layer},
        {"kept", 8, 80, false, MOMENT_FIRST_BACKWARD, 81 * layer},
        {"a stage of one layer", 8, 1, true, MOMENT_FIRST_BACKWARD, 2 * layer},
        {"with logits", 8, 80, true, MOMENT_LAST_LOGITS, 3 * layer + 2 * table},
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

/* fp32 logits and their bf16 gradient, 6 bytes, of the chip's vocabulary; contracted over d_model every chip has
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

/* 1F1B: the first stage has p of them between forward and backward, the last one; interleaved: p (1 + (p - 1)/(p v))
 * on the first (Korthikanti et al. 2022, section 4.2.3), (v - 1) p + 1 chunks of 1/v on the last (Megatron's
 * warm-up); never more than there are. Weights are per layer of the fullest stage: a last stage of 6 layers beside 8
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
        moment_weights(&shard, &knobs, weights);
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
        /* Backward starts with the most microbatches on the first stage, and nothing is left of them when it is
         * over. */
        double first = resources.of[RES_MEMORY + MOMENT_FIRST_BACKWARD],
               last = resources.of[RES_MEMORY + MOMENT_LAST_BACKWARD];
        if (rows[i].stages > 1)
            cr_expect_gt(first, last, "%s", rows[i].name);
        else
            cr_expect_eq(first, last, "%s: the same stage", rows[i].name);
        cr_expect_lt(resources.of[RES_MEMORY + MOMENT_UPDATE], first, "%s", rows[i].name);
    }
}

/* What NCCL takes: a communicator for every role of more than one chip, and all_to_all's connections; a profile of TPUs
 * has none. 8% of 80 GB hold five of 0.69 GB and 3.28 GB; of 40 GB they do not. */
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
        Setting setting = bench_setting(&bench);
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
