/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wordings of sources that no published row of train.tsv has: the same plan, written in their way. The model has 32
 * layers and runs on 64 chips in nodes of 8. */
#include "tests/cost/measured/replays.h"

TestSuite(words_of_run, .init = replays_setup, .fini = replays_teardown);

static Run run_of(const char *framework) {
    return (Run){.id = "words",
                 .source = "",
                 .hardware = "h100",
                 .topology = "",
                 .framework = framework,
                 .model = "llama3.1-8b",
                 .fsdp = "64 (zero3)",
                 .remat = "none",
                 .precision = "bf16",
                 .convention = "",
                 .version = "2026",
                 .confidence = "A",
                 .notes = "",
                 .check = "",
                 .method = "",
                 .memory_kind = "",
                 .chips = 64,
                 .seq = 8192,
                 .global_batch = 64,
                 .micro_batch = 1,
                 .sequence_parallel = -1,
                 .step_seconds = 1};
}

/* The number of layers whose product and gate and up are made again in the MLP. */
static const struct {
    const char *framework, *remat;
    int64_t product, gate_up, context;
} REMAT[] = {
    {"torchtitan", "none (no AC)", 0, 0, 0},
    {"torchtitan", "none; not selective", 0, 0, 0},
    {"torchtitan", "Full", 32, 32, 32},
    {"torchtitan", "full, every layer", 32, 32, 32},
    {"torchtitan", "full, every 2 layers", 16, 16, 16},
    {"torchtitan", "selective (every other layer)", 16, 16, 16},
    {"torchtitan", "full (every 4 layers)", 8, 8, 8},
    {"torchtitan", "selective (op)", 32, 0, 0},
    {"Megatron-LM", "selective", 0, 0, 32},
    {"MaxText (JAX)", "selective (minimal)", 32, 0, 32},
};

Test(words_of_run, recomputation) {
    for (size_t i = 0; i < COUNT_OF(REMAT); i++) {
        Run run = run_of(REMAT[i].framework);
        run.remat = REMAT[i].remat;
        const Layout *layout = &replayed(&run)->plan.layout;
        cr_expect_eq(layout->layers[ACTIVATION_PRODUCT][STATE_RECOMPUTED], REMAT[i].product, "%s", REMAT[i].remat);
        cr_expect_eq(layout->layers[ACTIVATION_GATE_UP][STATE_RECOMPUTED], REMAT[i].gate_up, "%s", REMAT[i].remat);
        cr_expect_eq(layout->layers[ACTIVATION_CONTEXT][STATE_RECOMPUTED], REMAT[i].context, "%s", REMAT[i].remat);
    }
}

/* A capacity factor pads experts in place of the router's load; other notes leave that open. */
Test(words_of_run, capacity) {
    static const struct {
        const char *notes;
        double factor;
    } ROWS[] = {{"inferred: plan; capacity factor 1.25", 1.25}, {"dropless", 0}, {"capacity factor unknown", 0}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run run = run_of("MaxText (JAX)");
        run.model = "mixtral-8x7b", run.notes = ROWS[i].notes;
        cr_expect_eq(replayed(&run)->model.training.capacity_factor, ROWS[i].factor, "%s", ROWS[i].notes);
    }
}

static const struct {
    const char *chip, *text;
    Precision precision;
} PRECISIONS[] = {
    {"h100", "bf16 params, fp32 reduce", PRECISION_BF16},
    {"h100", "float8 rowwise", PRECISION_FP8},
    {"h100", "fp8 tensorwise", PRECISION_FP8},
    {"h100", "mxfp8", PRECISION_FP8}, /* this chip has no such units */
    {"b300", "mxfp8", PRECISION_MXFP8},
    {"b300", "nvfp4", PRECISION_NVFP4},
    {"mi355x", "mxfp4", PRECISION_NVFP4},
    {"tpu-v5p", "int8", PRECISION_INT8},
};

Test(words_of_run, precision) {
    for (size_t i = 0; i < COUNT_OF(PRECISIONS); i++) {
        const char *chip = PRECISIONS[i].chip;
        Run run = run_of(chip[0] == 't' ? "MaxText (JAX)" : chip[0] == 'm' ? "Primus" : "torchtitan");
        run.hardware = chip;
        run.precision = PRECISIONS[i].text;
        const Replay *one = replayed(&run);
        cr_expect_eq(one->precision, PRECISIONS[i].precision, "%s: %s", PRECISIONS[i].text,
                     precision_name(one->precision));
        cr_expect_eq(one->unknowns, 0, "%s: %s", PRECISIONS[i].text, one->notes);
    }
    Run run = run_of("fms-fsdp (PyTorch FSDP)");
    run.precision = "bf16 params, fp32 reduce";
    cr_expect_eq(replayed(&run)->state.gradient_bytes[1], 4);
    run.precision = "fp8 or bf16 (not stated)";
    cr_expect_eq(replayed(&run)->unknowns, 1, "a guess is counted");
}

static const struct {
    const char *framework, *fsdp;
    int64_t copies, shards; /* `dp`, and the expected group */
    int guesses;
} SHARDED[] = {
    {"torchtitan", "8 (zero3)", 8, 8, 0},
    {"torchtitan", "zero3", 64, 64, 0}, /* without a number dp counts all ranks */
    {"torchtitan", "zero3", 0, 64, 0},
    {"torchtitan", "zero2", 64, 64, 0},
    {"torchtitan", "FSDP", 1, 64, 0},
    {"torchtitan", "HSDP", 8, 8, 0},
    {"torchtitan", "8 (hsdp)", 8, 8, 0},
    {"torchtitan", "", 64, 64, 1},
    {"torchtitan", "unknown", 64, 64, 1},
    {"NVIDIA NeMo 25.04", "unknown", 64, 1, 1},
    {"NVIDIA NeMo 25.04", "zero1 (distributed optimizer)", 64, 1, 0},
    {"Megatron-LM", "none", 64, 1, 0},
    {"torchtitan", "99999999999999999999 (zero3)", 1, 64, 1},
};

Test(words_of_run, sharding) {
    for (size_t i = 0; i < COUNT_OF(SHARDED); i++) {
        Run run = run_of(SHARDED[i].framework);
        run.fsdp = SHARDED[i].fsdp;
        run.data = SHARDED[i].copies;
        const Replay *one = replayed(&run);
        const int64_t *of = one->plan.degrees.of;
        cr_expect(of[ROLE_FSDP] == SHARDED[i].shards && of[ROLE_DATA] * of[ROLE_FSDP] == 64, "%s: %d x %d",
                  SHARDED[i].fsdp, (int)of[ROLE_DATA], (int)of[ROLE_FSDP]);
        cr_expect_eq(one->unknowns, SHARDED[i].guesses, "%s: %s", SHARDED[i].fsdp, one->notes);
    }
}

/* 384 chips of v6e are not one slice; the fewest slices are 3 of 128. */
Test(words_of_run, slices) {
    Run run = run_of("MaxText (JAX)");
    run.hardware = "tpu-v6e";
    run.chips = run.global_batch = 384;
    run.fsdp = "128 (zero3)";
    cr_expect_eq(replayed(&run)->slices, 3);
    cr_expect_eq(replay.unknowns, 1);
}

/* Degrees whose product is beyond 2^63 do not multiply to 64. */
Test(words_of_run, absurd_degrees) {
    Run run = run_of("Megatron-LM");
    run.chips = 10000000;
    run.hardware = "tpu-v5p";
    run.topology = "10000 slices";
    run.tensor = run.context = run.pipeline = run.expert = 10000000;
    replay_prepare(&run, &data, &set, &replay);
    cr_expect_str_not_empty(replay.skipped);
}

/* 6 N and the whole square of scores over 989 TFLOP/s, where N has the input's table too: that of Llama 3.1 8B is not
 * its logits'. */
Test(words_of_run, all_parameters) {
    double matmuls = 32 * (2. * 4096 * 4096 + 2. * 4096 * 1024 + 3. * 4096 * 14336) + 128256. * 4096;
    double token = 6 * (matmuls + 128256. * 4096) + 12. * 32 * 4096 * 8192;
    Run run = run_of("torchtitan");
    run.step_seconds = 0;
    run.mfu = 0.4;
    run.convention = "6N (all params) + 12 L d s, attention not halved; peak 989";
    double expected = 64 * 8192. * token / (64 * 0.4 * 989e12);
    cr_expect_float_eq(replayed(&run)->measured_seconds, expected, 1e-3 * expected);
    run.convention = "6N (LM head in), causal attention halved; peak 989";
    expected = 64 * 8192. * (6 * matmuls + 6. * 32 * 4096 * 8192) / (64 * 0.4 * 989e12);
    cr_expect_float_eq(replayed(&run)->measured_seconds, expected, 1e-3 * expected);
}

/* Compiled or not: whichever column says so. */
Test(words_of_run, software) {
    Run run = run_of("torchtitan");
    const char *eager = replayed(&run)->stack_entry->name;
    run.precision = "bf16, torch.compile";
    const char *compiled = replayed(&run)->stack_entry->name;
    cr_expect_eq(replay.unknowns, 0, "%s", replay.notes);
    run.framework = "somebody's own";
    cr_expect_eq(replayed(&run)->unknowns, 1, "software that nobody knows is a guess: %s", replay.notes);
    cr_expect_str_eq(eager, "torch-fsdp-eager");
    cr_expect_str_eq(compiled, "torch-fsdp");
}
