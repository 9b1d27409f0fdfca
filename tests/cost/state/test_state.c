/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the kept and moved bytes of each parameter with published figures and with arithmetic. */
#include "base/file.h"
#include "cost/state/state.h"
#include "models/config/model_json.h"
#include "models/mixer.h"
#include "models/parameters.h"
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static Optimizer optimizer_named(const char *name) {
    Arena arena = {0};
    Error error = {0};
    Optimizer optimizer;
    cr_assert(optimizer_load(name, "test", &arena, &optimizer, &error), "%s: %s", error.where, error.text);
    arena_free(&arena);
    return optimizer;
}

static TrainingState state_of(const Model *model, const char *name, const char *dtypes) {
    StateDtypes parsed = {0};
    Error error = {0};
    Optimizer optimizer = optimizer_named(name);
    cr_assert(state_dtypes_parse(dtypes, "test", &parsed, &error), "%s", error.text);
    return training_state(model, &optimizer, &parsed);
}

static void expect_near(double value, double expected, const char *name) {
    cr_expect_float_eq(value, expected, 1e-9 * expected, "%s: %.12g, not %.12g", name, value, expected);
}

/* The default state is AdamW's, to the bit: reports of old and new say the same. */
Test(state, adamw_is_the_default) {
    Model model = llama3_70b();
    TrainingState state = state_of(&model, "adamw", "default");
    const TrainingState *usual = training_state_default();
    cr_expect_str_eq(state.optimizer, usual->optimizer);
    cr_expect_eq(memcmp(&state.dtypes, &usual->dtypes, sizeof state.dtypes), 0);
    cr_expect_eq(memcmp(state.part, usual->part, sizeof state.part), 0);
    cr_expect(state.uniform && !state.orthogonal && state.moments);
    cr_expect_eq(state.parameter_bytes, usual->parameter_bytes);
    cr_expect_eq(state.scatter_bytes, usual->scatter_bytes);
    cr_expect_eq(memcmp(state.gradient_bytes, usual->gradient_bytes, sizeof state.gradient_bytes), 0);
}

/* Bytes of one parameter: the copy, the accumulated gradient, the optimizer's state; there is one big matrix, so that
 * factors are negligible. */
Test(state, bytes_of_a_parameter) {
    Model model = book_model(1 << 20, 1 << 20);
    static const struct {
        const char *name, *optimizer, *dtypes;
        double parameter, gradient, kept;
    } rows[] = {
        {"ZeRO paper, section 3.1: 2 + 2 + 12", "adamw", "gradients=bf16", 2, 2, 12},
        {"the contract: gradients accumulated in fp32", "adamw", "default", 2, 4, 12},
        {"the book, part 5: 2 + 8", "adamw", "master=none", 2, 4, 8},
        {"DeepSeek-V3, section 3.3.2: moments in bf16", "adamw", "gradients=fp32 moments=bf16", 2, 4, 4 + 2 + 2},
        {"the same with weights gathered in fp8", "adamw", "parameters=fp8 moments=bf16", 1, 4, 8},
        {"fp32 throughout: the copy is the master", "adamw", "parameters=fp32", 4, 4, 8},
        {"one moment alone", "adamw", "m=bf16", 2, 4, 4 + 2 + 4},
        {"the other", "adamw", "v=fp8", 2, 4, 4 + 4 + 1},
        {"Dettmers et al. 2022: 2 bytes a parameter", "adamw8bit", "default", 2, 4, 4 + 1 + 1},
        {"as transformers call it", "paged_adamw_8bit", "master=none", 2, 4, 1 + 1},
        {"said otherwise", "adamw_bnb_8bit", "moments=bf16", 2, 4, 4 + 2 + 2},
        {"transformers' AdamW", "adamw_torch_fused", "default", 2, 4, 12},
        {"one momentum", "lion", "default", 2, 4, 4 + 4},
        {"of 8 bits", "lion_8bit", "default", 2, 4, 4 + 1},
        {"a momentum and a diagonal", "sophia", "default", 2, 4, 12},
        {"Adafactor: a factored second moment is nothing", "adafactor", "default", 2, 4, 4},
        {"Muon: half of AdamW's moments", "muon", "default", 2, 4, 4 + 4},
        {"SGD", "sgd", "default", 2, 4, 4},
        {"SGD without a master", "sgd", "master=none", 2, 4, 0},
        {"SGD with momentum", "sgd-momentum", "moments=bf16", 2, 4, 4 + 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        TrainingState state = state_of(&model, rows[i].optimizer, rows[i].dtypes);
        cr_expect_float_eq(state.parameter_bytes, rows[i].parameter, 0, "%s", rows[i].name);
        cr_expect_float_eq(state.gradient_bytes[1], rows[i].gradient, 0, "%s", rows[i].name);
        cr_expect_float_eq(state.part[HELD_DENSE].optimizer_bytes, rows[i].kept, 1e-4, "%s: %g", rows[i].name,
                           state.part[HELD_DENSE].optimizer_bytes);
    }
}

/* The bytes of an update: the kept state read and written, the gradient read, the copy written (and read where there is
 * nothing else). */
Test(state, bytes_of_an_update) {
    Model model = book_model(1 << 20, 1 << 20);
    static const struct {
        const char *optimizer, *dtypes;
        double bytes;
    } rows[] = {
        {"adamw", "default", 2 * 12 + 4 + 2},
        {"adamw", "master=none", 2 * 8 + 4 + 2 * 2},
        {"sgd", "default", 2 * 4 + 4 + 2},
        {"muon", "gradients=bf16", 2 * 8 + 2 + 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        cr_expect_float_eq(state_of(&model, rows[i].optimizer, rows[i].dtypes).part[HELD_DENSE].update_bytes,
                           rows[i].bytes, 1e-4, "%s %s", rows[i].optimizer, rows[i].dtypes);
}

/* ZeRO paper, figure 1: 7.5 billion parameters on 64 chips, 16 bytes each, are 120 GB; 31.4 with the optimizer's state
 * sharded, 16.6 with gradients too, 1.9 with everything sharded. */
Test(state, zero_figure_1) {
    static const struct {
        const char *name;
        double data, fsdp;
        int zero_stage;
        double gigabytes;
    } rows[] = {
        {"baseline", 64, 1, 0, 120},
        {"ZeRO-1", 64, 1, 1, 31.4},
        {"ZeRO-2", 64, 1, 2, 16.6},
        {"ZeRO-3", 1, 64, 0, 1.9},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model(8192, 28672), 1, 1);
        TrainingState state = state_of(&bench.model, "adamw", "gradients=bf16");
        CostContext setting = bench_setting(&bench);
        MemoryRows memory;
        setting.state = &state;
        bench.shard.layers = bench.shard.layers_last = 7.5e9 / (2. * 8192 * 28672);
        bench.shard.data = rows[i].data, bench.shard.fsdp = rows[i].fsdp, bench.knobs.zero_stage = rows[i].zero_stage;
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_UPDATE, 0, &memory);
        double bytes = memory.parameters_bytes + memory.gradients_bytes + memory.optimizer_bytes;
        cr_expect_float_eq(bytes / 1e9, rows[i].gigabytes, 0.05, "%s: %g GB", rows[i].name, bytes / 1e9);
    }
}

/* The factored second moment of an n x m matrix is n + m numbers; vectors keep theirs whole. */
Test(state, factored_moments) {
    Model model = dense_model(3, 64, 256, 4, 2, 16, 1000);
    TrainingState state = state_of(&model, "adafactor", "master=none");
    /* q 64 x 64, k and v 64 x 32, out 64 x 64, gate and up 64 x 256, down 256 x 64; two norms of 64 */
    double matrices = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 256, vectors = 2 * 64;
    double numbers = 2 * (64 + 64) + 2 * (64 + 32) + 3 * (64 + 256) + vectors;
    expect_near(state.part[HELD_DENSE].optimizer_bytes, 4 * numbers / (matrices + vectors), "dense");
    expect_near(state.part[HELD_TABLES].optimizer_bytes, 4 * (1000. + 64) / (1000. * 64), "tables");
}

/* Newton-Schulz, five steps. A square matrix takes 5 x 6 n^3, which against the 6 n^2 B of training on B tokens is 5 n
 * / B: the overhead that Jordan gives. */
Test(state, newton_schulz) {
    enum { N = 4096, TOKENS = 1 << 20 };
    Model square = book_model(N, N);
    double flops = state_of(&square, "muon", "default").part[HELD_DENSE].update_flops;
    expect_near(flops / (6. * TOKENS), 5. * N / TOKENS, "overhead of a square matrix");

    Model wide = book_model(1024, 4096); /* two matrices of 1024 x 4096 */
    const double n = 1024, m = 4096;
    expect_near(state_of(&wide, "muon", "default").part[HELD_DENSE].update_flops, 5 * (4 * n + 2 * n * n / m),
                "a wide matrix");

    Model mixture = dense_model(2, 512, 0, 8, 8, 64, 100);
    mixture.kinds[0].experts = 64, mixture.kinds[0].top_k = 2, mixture.kinds[0].d_ff_expert = 128;
    TrainingState state = state_of(&mixture, "muon", "default");
    expect_near(state.part[HELD_EXPERTS].update_flops, 5 * (4 * 128. + 2 * 128. * 128 / 512), "experts singly");
    expect_near(state.part[HELD_EXPERTS].optimizer_bytes, 8, "experts are matrices");
    expect_near(state.part[HELD_TABLES].optimizer_bytes, 12, "tables go by AdamW");
    cr_expect_eq(state.part[HELD_TABLES].update_flops, 0);
    cr_expect(state.orthogonal && !state.uniform);
}

/* Every model of the zoo: its matrices add up to its attention, MLPs, experts and routers. */
Test(state, matrices_of_the_zoo) {
    Arena arena = {0};
    Error error = {0};
    char **names;
    size_t count;
    const char *folder = file_data_folder("models/zoo", &arena, &error);
    cr_assert(folder && file_list(folder, ".json", &arena, &names, &count, &error));
    cr_expect_geq(count, 50);
    for (size_t i = 0; i < count; i++) {
        Model model;
        cr_assert(model_load(arena_format(&arena, "%s/%s", folder, names[i]), &arena, &model, &error), "%s",
                  error.text);
        for (int k = 0; k < model.kind_count; k++) {
            MatrixShape shapes[MATRICES_MAX];
            Parameters layer = layer_parameters(&model, &model.kinds[k]);
            int64_t dense = 0, experts = 0;
            int found = layer_matrices(&model, &model.kinds[k], shapes);
            for (int j = 0; j < found; j++)
                *(shapes[j].expert ? &experts : &dense) += shapes[j].rows * shapes[j].columns * shapes[j].count;
            cr_expect_eq(experts, layer.experts, "%s", names[i]);
            int64_t gate = model.kinds[k].shared_gate ? model.d_model : 0; /* a vector */
            int64_t whole = layer.attention + layer.mlp + layer.shared_experts + layer.router + layer.indexer +
                            layer.cross_attention + layer.hyper + layer.ple + layer.other - gate;
            MixerPart parts[MIXER_PARTS_MAX];
            for (int p = 0, n = model.kinds[k].mixer ? model.kinds[k].mixer->parts(&model, &model.kinds[k], parts) : 0;
                 p < n; p++)
                whole += parts[p].kind == MIXER_MATMUL ? parts[p].in * parts[p].out : 0;
            for (int p = 0; p < PART_COUNT; p++)
                whole -= p == PART_NORMS || p == PART_BIASES || p == PART_LINEAR ? 0 : model.kinds[k].extra.vector[p];
            cr_expect_leq(llabs(dense - whole), model.d_model, "%s: %lld", names[i], (long long)(dense - whole));
        }
    }
    arena_free(&arena);
}

/* A chip's step: the state that it owns is streamed through HBM, its share of the iterations runs at the peak, and the
 * updates are gathered in bf16 over the chips that share them. */
Test(state, muon_in_a_step) {
    const double D = 1024, F = 4096, L = 8, P = 2 * D * F * L, flops = 5 * (4 * D + 2 * D * D / F);
    static const struct {
        const char *name;
        double data, fsdp, microbatches;
        int zero_stage;
        double ways;     /* the chips that share the state */
        double end;      /* bytes a parameter of the chip, reduced over data at the end */
        double backward; /* bytes a parameter, over fsdp in backward, all microbatches */
    } rows[] = {
        {"alone", 1, 1, 1, 0, 1, 0, 0},
        {"replicas each do all", 8, 1, 1, 0, 1, 2 * 2, 0},
        {"ZeRO-1", 8, 1, 1, 1, 8, 2 + 2, 0},
        {"ZeRO-1, accumulated", 8, 1, 4, 1, 8, 4 + 2, 0},
        {"fsdp: a gather and a scatter of bf16, and the update", 1, 8, 1, 0, 8, 0, 4 + 2},
        {"four microbatches, one update", 1, 8, 4, 0, 8, 0, 4 * 4 + 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model((int64_t)D, (int64_t)F), 1e15, 1);
        bench.chip.hbm_bytes_per_second.value = 1e12;
        TrainingState state = state_of(&bench.model, "muon", "default");
        CostContext setting = bench_setting(&bench);
        setting.state = &state;
        bench.shard.layers = bench.shard.layers_last = L;
        bench.shard.data = rows[i].data, bench.shard.fsdp = rows[i].fsdp;
        bench.shard.microbatches = rows[i].microbatches, bench.knobs.zero_stage = rows[i].zero_stage;
        StepRule rule;
        Resources resources;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &resources);
        double owned = P / rows[i].ways, held = P / rows[i].fsdp;
        double moved = rows[i].microbatches > 1 ? 22 : 20; /* accumulated gradients are fp32, others bf16 */
        cr_expect_float_eq(rule.optimizer_seconds, owned * (moved / 1e12 + flops / 1e15), 1e-3 * rule.optimizer_seconds,
                           "%s: %g", rows[i].name, rule.optimizer_seconds);
        cr_expect_float_eq(rule.data_end[0].bytes, rows[i].end * held, 1e-3 * P, "%s: %g", rows[i].name,
                           rule.data_end[0].bytes / held);
        double gathered = rows[i].microbatches * resources.of[res_bytes(GROUP_WEIGHTS, PHASE_BACKWARD)];
        cr_expect_float_eq(gathered, rows[i].backward * P, 2e-3 * P, "%s: %g", rows[i].name, gathered / P);
    }
}

/* Gathers and reductions follow the dtypes. */
Test(state, traffic) {
    static const struct {
        const char *name, *dtypes;
        double gather, scatter, reduce_one, reduce_many;
    } rows[] = {
        {"the contract", "default", 2, 2, 2, 4},
        {"gradients in fp32", "gradients=fp32", 2, 4, 4, 4},
        {"gradients in bf16", "gradients=bf16", 2, 2, 2, 2},
        {"fp8 weights", "parameters=fp8", 1, 2, 2, 4},
        {"fp32 weights", "parameters=fp32", 4, 2, 2, 4},
    };
    const double P = 2. * 1024 * 4096 * 8;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model(1024, 4096), 1, 1);
        TrainingState state = state_of(&bench.model, "adamw", rows[i].dtypes);
        CostContext setting = bench_setting(&bench);
        setting.state = &state;
        bench.shard.layers = bench.shard.layers_last = 8, bench.shard.fsdp = 8;
        Resources resources;
        stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &resources);
        cr_expect_float_eq(resources.of[res_bytes(GROUP_WEIGHTS, PHASE_FORWARD)] / P, rows[i].gather, 1e-3, "%s",
                           rows[i].name);
        cr_expect_float_eq(resources.of[res_bytes(GROUP_WEIGHTS, PHASE_BACKWARD)] / P, rows[i].gather + rows[i].scatter,
                           1e-3, "%s", rows[i].name);
        bench.shard.fsdp = 1, bench.shard.data = 8, bench.knobs.zero_stage = 1;
        for (int m = 1; m <= 2; m++) {
            StepRule rule;
            bench.shard.microbatches = m;
            step_rule(&setting, &bench.shard, &bench.knobs, &rule);
            cr_expect_float_eq(rule.data_start[0].bytes / P, rows[i].gather, 1e-3, "%s", rows[i].name);
            cr_expect_float_eq(rule.data_end[0].bytes / P, m == 1 ? rows[i].reduce_one : rows[i].reduce_many, 1e-3,
                               "%s", rows[i].name);
        }
    }
}

Test(state, words) {
    static const struct {
        const char *optimizer, *dtypes, *again, *words;
    } rows[] = {
        {"adamw", "default", "default",
         "bf16 weights and activations, fp32 master weights and AdamW moments, gradients fp32 when accumulated over "
         "microbatches, else bf16"},
        {"adamw", "moments=bf16 gradients=fp32", "gradients=fp32 m=bf16 v=bf16",
         "bf16 weights and activations, fp32 master weights, bf16 AdamW moments, gradients fp32"},
        {"muon", " parameters=fp8,\tm=bf16 ", "parameters=fp8 m=bf16",
         "fp8 weights, bf16 activations, fp32 master weights, bf16 first and fp32 second moments of Muon, gradients "
         "fp32 "
         "when accumulated over microbatches, else bf16"},
        {"sgd", "master=none gradients=bf16", "gradients=bf16 master=none",
         "bf16 weights and activations, no master weights, SGD without moments, gradients bf16"},
    };
    Model model = llama3_70b();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[STATE_TEXT_SIZE], words[STATE_WORDS_SIZE];
        StateDtypes dtypes = {0};
        Error error = {0};
        cr_assert(state_dtypes_parse(rows[i].dtypes, "test", &dtypes, &error));
        cr_expect_str_eq(state_dtypes_text(&dtypes, text), rows[i].again);
        TrainingState state = state_of(&model, rows[i].optimizer, rows[i].dtypes);
        cr_expect_str_eq(training_state_words(&state, words), rows[i].words);
    }
}

Test(state, optimizer_files) {
    static const struct {
        const char *name, *text, *says;
    } rows[] = {
        {"no object", "[]", "is an object"},
        {"an unknown key", "{\"nam\": 1}", "nam: is no key"},
        {"no name", "{\"title\": \"T\", \"source\": \"s\"}", "name"},
        {"no rule", "{\"name\": \"o\", \"title\": \"T\", \"source\": \"s\"}", "matrices: is missing"},
        {"a moment without its source",
         "{\"name\": \"o\", \"title\": \"T\", \"source\": \"s\", \"matrices\": {\"first_moment\": {\"value\": "
         "\"full\"}}}",
         "matrices.first_moment"},
        {"a form that is none",
         "{\"name\": \"o\", \"title\": \"T\", \"source\": \"s\", \"matrices\": {\"first_moment\": {\"value\": 3, "
         "\"source\": \"s\"}}}",
         "\"factored\""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        cJSON *json = cJSON_Parse(rows[i].text);
        Optimizer optimizer;
        Error error = {0};
        cr_expect_not(optimizer_from_json(json, "o.json", &optimizer, &error), "%s", rows[i].name);
        cr_expect(strstr(error.text, rows[i].says) != NULL, "%s: %s", rows[i].name, error.text);
        cJSON_Delete(json);
    }
}

/* State on the host: 12 bytes a parameter leave HBM, if the host has room, and pass through it a layer at a time; the
 * update waits for PCIe, there and back, which on this host is no faster both ways than one. The rest of the host is
 * for activations. */
Test(state, on_the_host) {
    const double P = 2. * 8192 * 28672 * 8, STATE = 12 * P;
    static const struct {
        const char *name;
        double data, room; /* share of the state that a chip's part of the host holds */
        int zero_stage;
        double hbm, host, pcie; /* shares of the state: kept in HBM, on the host, moved one way */
    } rows[] = {
        {"all of it", 1, 2, 0, 0, 1, 1},
        {"half has no room", 1, 0.5, 0, 0.5, 0.5, 0.5},
        {"ZeRO-1: a share each", 8, 2, 1, 0, 1. / 8, 1. / 8},
        {"no host", 1, 0, 0, 1, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model(8192, 28672), 1e15, 1);
        bench.shard.layers = bench.shard.layers_last = 8;
        bench.shard.data = rows[i].data, bench.knobs.zero_stage = rows[i].zero_stage;
        bench.knobs.offload_optimizer = true;
        bench.chip.hbm_bytes_per_second.value = 1e12, bench.chip.pcie_bytes_per_second.value = 1e10;
        bench.chip.host_bytes.value = rows[i].room * STATE;
        CostContext setting = bench_setting(&bench);
        MemoryRows update, early;
        StepRule rule;
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_UPDATE, 0, &update);
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_FIRST_BACKWARD, 0,
                    &early);
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        cr_expect_float_eq(update.optimizer_bytes, rows[i].hbm * STATE, 1e-3 * STATE, "%s: %g", rows[i].name,
                           update.optimizer_bytes / STATE);
        cr_expect_float_eq(update.transient_bytes - early.transient_bytes, rows[i].host * STATE / 8, 1e-3 * STATE,
                           "%s: a layer of it passes through", rows[i].name);
        /* of one microbatch: 12 + 12 + a gradient of 2 + a copy of 2 */
        double hbm = 28 * P / (rows[i].zero_stage >= 1 ? rows[i].data : 1) / 1e12,
               pcie = 2 * rows[i].pcie * STATE / 1e10;
        double expected = max_real(hbm, pcie);
        cr_expect_float_eq(rule.optimizer_seconds, expected, 1e-3 * expected, "%s: %g s, not %g", rows[i].name,
                           rule.optimizer_seconds, expected);
    }
}

/* The host's CPUs update its state: 8 chips of an H100's host, all copying. DRAM of 614 GB/s at 60% moves 30 bytes of
 * each of the host's parameters, whose gradients are fp32 there; they come down in 2 bytes (one microbatch) and weights
 * of 2 go up at 55 GB/s. The chip itself reads 2 bytes of a gradient, and so moves 28.
 * What comes down hides behind the backward of the last microbatch. */
Test(state, offloaded_to_cpus) {
    const double P = 2. * 8192 * 28672 * 8, STATE = 12 * P;
    static const struct {
        const char *name;
        double tokens, room;      /* room: on the host, as a share of state and accumulated gradients (16 bytes) */
        double share, down_share; /* updated there; what is left of the copies down */
    } rows[] = {
        {"nothing hides", 1, 2, 1, 1},
        {"copies of gradients hide, nothing else does", 1e9, 2, 1, 0},
        {"half has no room", 1, 0.5, 0.5, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model(8192, 28672), 1e15, rows[i].tokens);
        Profile profile = IDEAL;
        bench.shard.layers = bench.shard.layers_last = 8;
        bench.knobs.offload_optimizer = true;
        bench.chip.hbm_bytes_per_second.value = 3.35e12;
        bench.chip.pcie_bytes_per_second.value = 5.5e10, bench.chip.host_copies_bytes_per_second.value = 4.5e11;
        bench.chip.host_memory_bytes_per_second.value = 6.14e11, bench.chip.chips_per_host = 8;
        bench.chip.host_bytes.value = rows[i].room * (STATE + 4 * P);
        profile.host_update_efficiency = 0.6;
        CostContext setting = bench_setting(&bench);
        setting.profile = &profile, setting.host_update = HOST_UPDATE_ON_CPU;
        StepRule rule;
        MemoryRows update, early;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_UPDATE, 0, &update);
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_FIRST_BACKWARD, 0,
                    &early);
        double there = rows[i].share * P, chip = (1 - rows[i].share) * 28 * P / 3.35e12;
        double expected = chip + 30 * 8 * there / (0.6 * 6.14e11) + (1 + rows[i].down_share) * 2 * there / 5.5e10;
        cr_expect_float_eq(rule.optimizer_seconds, expected, 1e-3 * expected, "%s: %g s, not %g", rows[i].name,
                           rule.optimizer_seconds, expected);
        cr_expect_float_eq(update.optimizer_bytes, (1 - rows[i].share) * STATE, 1e-3 * STATE, "%s", rows[i].name);
        cr_expect_float_eq(update.transient_bytes, early.transient_bytes, 1, "%s: no state passes through HBM",
                           rows[i].name);
    }
}

/* A mixture trained with a capacity computes, moves and keeps the tokens for which its experts have room; a dropless
 * one those that the profile's router sends to the busiest expert. */
Test(state, capacity) {
    static const struct {
        double capacity, imbalance, expected;
    } rows[] = {{0, 1, 1}, {0, 1.5, 1.5}, {1.25, 1, 1.25}, {1.25, 2, 1.25}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Model model = dense_model(1, 512, 0, 8, 8, 64, 100);
        model.kinds[0].experts = 8, model.kinds[0].top_k = 2, model.kinds[0].d_ff_expert = 128;
        model.training.capacity_factor = rows[i].capacity;
        Bench bench = bench_of(model, 1, 1024);
        Profile profile = IDEAL;
        CostContext setting = bench_setting(&bench);
        profile.expert_imbalance = rows[i].imbalance;
        setting.profile = &profile;
        StageTotals sums;
        ActivationCost costs[ACTIVATION_COUNT];
        stage_sums(&setting, &bench.shard, &bench.knobs.methods, &bench.sharding, &sums);
        stage_activations(&setting, &bench.shard, &bench.knobs, &bench.sharding, costs);
        double dispatched = 2. * 1024 * 2 * 512 * rows[i].expected; /* bf16, two experts a token */
        double read = 2. * 1024 * 512;                              /* by the router */
        expect_near(sums.layer.saved[ACTIVATION_MLP_INPUT], read + dispatched, "kept");
        expect_near(costs[ACTIVATION_MLP_INPUT].bytes, read + dispatched, "as an activation");
    }
}
