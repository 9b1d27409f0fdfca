/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fine-tuning op by op and byte by byte, against arithmetic by hand; and its laws. */
#include "base/util.h"
#include "cost/stage/memory_detail.h"
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <string.h>

/* Llama 3 8B's layer: d 4096, 32 heads of 128, 8 KV heads, 14336 wide. */
static Model layer_8b(void) { return dense_model(32, 4096, 14336, 32, 8, 128, 128256); }

enum { TOKENS = 2048 };
static const double QKV = 4096. * (4096 + 2 * 1024), OUT = 4096. * 4096, UP = 2 * 4096. * 14336, DOWN = 14336. * 4096;

static int ops_under(const Tuning *tuning, Op *ops) {
    static Bench bench;
    bench = bench_of(layer_8b(), 1, TOKENS);
    LayerSoftware software = {.imbalance = 1, .tuning = tuning};
    return ops_of_layer_under(&(ShardedLayer){&bench.model, &bench.model.kinds[0], &bench.shard, &bench.sharding},
                              &bench.knobs.methods, &software, ops);
}

typedef struct {
    double matmul[PHASE_COUNT]; /* FLOPs */
    double trained, adapters;
    double saved;
} Sum;

static Sum sum_under(const Tuning *tuning) {
    Op ops[OPS_MAX];
    int count = ops_under(tuning, ops);
    Sum out = {{0, 0}, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        for (int phase = 0; phase < PHASE_COUNT; phase++)
            if (ops[i].kind == OP_MATMUL) out.matmul[phase] += ops[i].flops[phase];
        out.trained += ops[i].weights - ops[i].frozen;
        if (ops[i].adapter) out.adapters += ops[i].weights;
        if (ops[i].output_activation >= 0) out.saved += ops[i].saved_bytes;
    }
    return out;
}

static Tuning lora(double rank, unsigned targets) {
    return (Tuning){.on = true, .rank = rank, .targets = targets, .frozen = FROZEN_ALL};
}

/* Rank r beside [k, n] is r (k + n) numbers: PEFT prints 41,943,040 for rank 16 on all linear layers of 8B. */
Test(tuning, adapters) {
    static const struct {
        const char *name;
        unsigned targets;
        double inputs_and_outputs; /* the sum of k + n */
    } ROWS[] = {
        {"all linear", TARGETS_ALL, (4096 + 4096) + 2 * (4096 + 1024) + (4096 + 4096) + 3 * (4096 + 14336)},
        {"attention", TARGETS_ATTENTION, (4096 + 4096) + 2 * (4096 + 1024) + (4096 + 4096)},
        {"q and v", 1 << TARGET_QUERY | 1 << TARGET_VALUE, (4096 + 4096) + (4096 + 1024)},
        {"down", 1 << TARGET_DOWN, 4096 + 14336},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Tuning what = lora(16, ROWS[i].targets);
        Sum sum = sum_under(&what);
        cr_expect_float_eq(sum.adapters, 16 * ROWS[i].inputs_and_outputs, 1e-6, "%s: %g", ROWS[i].name, sum.adapters);
        cr_expect_float_eq(sum.trained, sum.adapters, 1e-6, "%s", ROWS[i].name);
        double base = 2. * TOKENS * (QKV + OUT + UP + DOWN), own = 2. * TOKENS * sum.adapters;
        cr_expect_float_eq(sum.matmul[PHASE_FORWARD], base + own, 1e-3 * own, "%s: forward", ROWS[i].name);
        cr_expect_float_eq(sum.matmul[PHASE_BACKWARD], base + 2 * own, 1e-3 * own,
                           "%s: one matmul of each, two of its own", ROWS[i].name);
    }
    Tuning all = lora(16, TARGETS_ALL);
    cr_expect_float_eq(32 * sum_under(&all).adapters, 41943040, 0.5);
}

/* A frozen matmul without adapters needs its input for nothing: under adapters of attention alone the normed input of
 * the MLP (2 bytes x 4096 a token) and its product (2 x 14336) go, under those of the MLP that of attention. */
Test(tuning, inputs_that_are_not_kept) {
    Tuning all = lora(8, TARGETS_ALL), attention = lora(8, TARGETS_ATTENTION),
           mlp = lora(8, TARGETS_ALL & ~TARGETS_ATTENTION);
    double whole = sum_under(NULL).saved;
    cr_expect_float_eq(sum_under(&all).saved, whole, 1);
    cr_expect_float_eq(whole - sum_under(&attention).saved, 2. * TOKENS * (4096 + 14336), 1);
    cr_expect_float_eq(whole - sum_under(&mlp).saved, 2. * TOKENS * 4096, 1);
    attention.stored_bytes = TUNING_STORED_BYTES;
    cr_expect_float_eq(sum_under(&attention).saved, whole, 1, "bitsandbytes keeps inputs of frozen matmuls");
}

/* Nothing frozen and no adapters: each op as it is without a tuning, to the last bit. */
Test(tuning, all_of_the_weights_is_as_before) {
    Op before[OPS_MAX], after[OPS_MAX];
    const Tuning all[] = {{.on = true}, {.on = true, .rank = 16, .targets = TARGETS_ALL}};
    int count = ops_under(NULL, before);
    for (size_t of = 0; of < COUNT_OF(all); of++) {
        cr_assert_eq(ops_under(&all[of], after), count);
        for (int i = 0; i < count; i++) cr_expect_arr_eq(&before[i], &after[i], sizeof *before, "%s", before[i].name);
    }
}

static MemoryRows rows_under(const TrainingState *state, double fsdp, Moment moment) {
    Bench bench = bench_of(layer_8b(), 1, TOKENS);
    bench.shard.layers = bench.shard.layers_last = 32, bench.shard.vocab = 128256, bench.shard.fsdp = fsdp;
    bench.knobs.regather = true;
    CostContext setting = bench_setting(&bench);
    setting.state = state;
    MemoryRows rows;
    memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, moment, 0, &rows);
    return rows;
}

/* 8B in nf4 with double quantisation: 6.98 G numbers of layers in 0.5159 bytes (3.60 GB), two tables and norms in bf16
 * (2.10 GB), adapters in bf16; gradients and AdamW of the adapters alone. */
Test(tuning, memory) {
    TrainingState state = *training_state_default();
    double stored = 0.5 + 1 / 64. + 4 / (64. * 256), layers = 32 * (QKV + OUT + UP + DOWN), adapters = 41943040;
    double rest = 2 * 128256. * 4096 + (2 * 32 + 1) * 4096.;
    state.tuning = lora(16, TARGETS_ALL);
    MemoryRows rows = rows_under(&state, 1, MOMENT_UPDATE);
    cr_expect_float_eq(rows.parameters_bytes, 2 * (layers + rest + adapters), 1e3);
    cr_expect_float_eq(rows.gradients_bytes, 2 * adapters, 1);
    cr_expect_float_eq(rows.optimizer_bytes, 12 * adapters, 1);
    state.tuning.stored_bytes = stored;
    rows = rows_under(&state, 1, MOMENT_UPDATE);
    cr_expect_float_eq(rows.parameters_bytes, stored * layers + 2 * (rest + adapters), 1e3, "%.0f",
                       rows.parameters_bytes);
    rows = rows_under(&state, 4, MOMENT_UPDATE);
    cr_expect_float_eq(rows.parameters_bytes, (stored * layers + 2 * (rest + adapters)) / 4, 1e3);
    cr_expect_float_eq(rows.gradients_bytes, 2 * adapters / 4, 1);
    state.tuning.reference_model = true, state.tuning.stored_bytes = 0;
    cr_expect_float_eq(rows_under(&state, 1, MOMENT_UPDATE).parameters_bytes, 4 * (layers + rest + adapters), 1e3);
    state.tuning.on_host = true;
    cr_expect_eq(rows_under(&state, 1, MOMENT_UPDATE).parameters_bytes, 0);
}

/* A tower of 400 M and a projector of 30 M alongside: 2 bytes held of each however they are trained; a gradient of 2
 * and AdamW's 12 of what is not frozen alone, spread over the chips like all else. */
Test(tuning, towers) {
    static const struct {
        const char *name;
        Tuning what;
        double trained;
    } ROWS[] = {
        {"all", {.on = true}, 430e6},
        {"tower frozen", {.on = true, .frozen = 1 << FROZEN_VISION}, 30e6},
        {"both frozen", {.on = true, .frozen = FROZEN_TOWERS}, 0},
        {"embedding frozen", {.on = true, .frozen = 1 << FROZEN_EMBEDDING}, 430e6 - 128256. * 4096},
        {"adapters", {.on = true, .rank = 16, .targets = TARGETS_ALL, .frozen = FROZEN_ALL}, 0},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        TrainingState state = *training_state_default();
        double held[2], gradients[2], moments[2];
        for (int with = 0; with < 2; with++) {
            Bench bench = bench_of(layer_8b(), 1, TOKENS);
            bench.shard.layers = bench.shard.layers_last = 32, bench.shard.vocab = 128256, bench.shard.fsdp = 8;
            if (with) {
                bench.model.towers[bench.model.tower_count++] = (Tower){.part = PART_VISION, .parameters = 400000000};
                bench.model.extra.matrix[PART_PROJECTOR] = 30000000;
            }
            CostContext setting = bench_setting(&bench);
            setting.state = &state;
            state.tuning = with ? ROWS[i].what : (Tuning){.on = true};
            if (ROWS[i].what.rank > 0) state.tuning = ROWS[i].what;
            MemoryRows rows;
            memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_UPDATE, 0,
                        &rows);
            held[with] = rows.parameters_bytes, gradients[with] = rows.gradients_bytes;
            moments[with] = rows.optimizer_bytes;
        }
        cr_expect_float_eq(held[1] - held[0], 2 * 430e6 / 8, 1, "%s: %.0f", ROWS[i].name, held[1] - held[0]);
        double per = gradients[0] / moments[0]; /* the bench's dtypes: what is trained takes as much of each */
        cr_expect_float_eq(moments[1] - moments[0], 12 * ROWS[i].trained / 8, 1, "%s: %.0f", ROWS[i].name,
                           moments[1] - moments[0]);
        cr_expect_float_eq(gradients[1] - gradients[0], per * 12 * ROWS[i].trained / 8, 1, "%s", ROWS[i].name);
    }
}

/* Gathers of quantised weights are as small as they; a gradient is scattered of adapters alone; a reference is one more
 * forward. */
Test(tuning, traffic) {
    TrainingState state = *training_state_default();
    Bench bench = bench_of(layer_8b(), 1, TOKENS);
    bench.shard.layers = bench.shard.layers_last = 1, bench.shard.vocab = 1, bench.shard.fsdp = 4;
    bench.knobs.regather = true;
    CostContext setting = bench_setting(&bench);
    setting.state = &state;
    double layer = QKV + OUT + UP + DOWN + 2 * 4096, adapters = 41943040 / 32., tables = 2 * 4096. + 4096;
    const int at[PHASE_COUNT] = {res_bytes(GROUP_WEIGHTS, PHASE_FORWARD), res_bytes(GROUP_WEIGHTS, PHASE_BACKWARD)};
    Resources out;
    stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &out);
    cr_expect_float_eq(out.of[at[0]], 2 * (layer + tables), 1);
    cr_expect_float_eq(out.of[at[1]], 4 * (layer + tables), 1);
    state.tuning = lora(16, TARGETS_ALL);
    stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &out);
    cr_expect_float_eq(out.of[at[0]], 2 * (layer + adapters + tables), 1);
    cr_expect_float_eq(out.of[at[1]], 2 * (layer + adapters + tables) + 2 * adapters, 1);
    state.tuning.stored_bytes = 0.5;
    state.tuning.references = 1;
    stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &out);
    cr_expect_float_eq(out.of[at[0]], 2 * (0.5 * (layer + adapters) + 2 * tables), 1);
}

/* A smaller rank, fewer targets, shorter sequences and fewer bytes a number take no more time and no more memory. */
Test(tuning, laws) {
    static const double RANKS[] = {1, 8, 16, 64, 256};
    double seconds = 0, bytes = 0;
    for (size_t i = 0; i < COUNT_OF(RANKS); i++) {
        TrainingState state = *training_state_default();
        state.tuning = lora(RANKS[i], TARGETS_ALL);
        Bench bench = bench_of(layer_8b(), 1, TOKENS);
        bench.shard.layers = bench.shard.layers_last = 32;
        CostContext setting = bench_setting(&bench);
        setting.state = &state;
        Resources out;
        stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &out);
        double now = out.of[RES_COMPUTE_FORWARD] + out.of[RES_COMPUTE_BACKWARD],
               held = out.of[RES_MEMORY + MOMENT_FIRST_BACKWARD];
        cr_expect(now >= seconds && held >= bytes, "rank %g", RANKS[i]);
        seconds = now, bytes = held;
        Resources shorter;
        Bench half = bench;
        half.shard.seq /= 2, half.shard.tokens /= 2;
        stage_resources(&setting, &half.shard, &half.knobs, &half.sharding, &shorter);
        for (int r = 0; r < (int)COUNT_OF(out.of); r++)
            cr_expect(shorter.of[r] <= out.of[r] * (1 + 1e-12), "half as long: %d", r);
    }
}
