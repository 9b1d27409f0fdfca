/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns a printed figure into seconds of a step, in the way of its source: sources that print two figures of a run
 * check it, because one must lead to the other. */
#include "tests/cost/measured/replays.h"

TestSuite(convention, .init = replays_setup, .fini = replays_teardown);

typedef enum { BY_STEP, BY_TOKENS, BY_FLOPS, BY_MFU, FIGURES } Printed;
static const char *const NAMES[FIGURES] = {"step", "tokens", "flops", "mfu"};

/* Seconds of a step by one printed figure alone; 0 means that it is not printed. */
static double seconds_by(Run run, Printed figure) {
    double *const of[FIGURES] = {&run.step_seconds, &run.tokens_per_second_per_chip, &run.tflops_per_chip, &run.mfu};
    if (!(*of[figure] > 0)) return 0;
    for (int other = 0; other < FIGURES; other++)
        if (other != (int)figure) *of[other] = 0;
    const Replay *one = replayed(&run);
    cr_expect_str_eq(one->measured_by, NAMES[figure], "%s", run.id);
    return one->measured_seconds;
}

/* One run of each source and convention, worked out from its columns. Seconds of the step are tokens / (chips x
 * tokens/s), or tokens x FLOPs a token / (chips x FLOP/s), with the FLOPs of a token written out: 6 for each parameter
 * of a matmul that a token meets, logits included, and 12 (whole square) or 6 (causal half) for each of L x heads x
 * head_dim x sequence. `rounding` is half a unit of the last printed digits of both figures. */
static const struct {
    const char *name, *id;
    Printed by;
    double tokens, chips, rate, flops_per_token; /* rate: tokens/s or FLOP/s of a chip */
    Printed against;                             /* printed too */
    double rounding;
} ROWS[] = {
    /* 12 d^2 a layer (MHA, two matrices of 4 d), tied table once, whole square; peak 989 to 990 */
    {"llm-foundry", "llmfoundry-001", BY_FLOPS, 4096. * 2048, 512, 408e12,
     6 * (80 * 12. * 8192 * 8192 + 50368. * 8192) + 12. * 80 * 8192 * 2048, BY_TOKENS, 0.003},
    {"llm-foundry, share of 989.5", "llmfoundry-001", BY_MFU, 4096. * 2048, 512, 0.4125 * 989.5e12,
     6 * (80 * 12. * 8192 * 8192 + 50368. * 8192) + 12. * 80 * 8192 * 2048, BY_TOKENS, 0.003},
    {"llm-foundry in fp8, share of 1979", "llmfoundry-075", BY_MFU, 32. * 32768, 8, 0.1755 * 1979e12,
     6 * (24 * 12. * 2048 * 2048 + 50368. * 2048) + 12. * 24 * 2048 * 32768, BY_FLOPS, 0.002},
    /* heads of 128 x 24 are half as wide as d: 4 d x 3072 a layer for attention, gate, up and down of 24576 */
    {"MaxText, share of 275", "maxtext-v4-22b-1xv4-128", BY_MFU, 832. * 2048, 64, 0.567 * 275e12,
     6 * (48 * (4. * 6144 * 3072 + 3. * 6144 * 24576) + 32000. * 6144) + 12. * 48 * 3072 * 2048, BY_FLOPS, 0.005},
    /* GQA: q and out d x 8192, k and v d x 1024 each; gate, up, down */
    {"tpu-recipes of early 2025: the whole square", "tpurec-v6e256-llama2-70b", BY_FLOPS, 512. * 4096, 256, 402.274e12,
     6 * (80 * (2. * 8192 * 8192 + 2. * 8192 * 1024 + 3. * 8192 * 28672) + 32000. * 8192) + 12. * 80 * 8192 * 4096,
     BY_STEP, 1e-4},
    {"Megatron examples", "megatron-ex-llama-llama3-8b", BY_FLOPS, 128. * 8192, 8, 800e12,
     6 * (32 * (2. * 4096 * 4096 + 2. * 4096 * 1024 + 3. * 4096 * 14336) + 128256. * 4096) + 12. * 32 * 4096 * 8192,
     BY_TOKENS, 0.002},
    {"NeMo of 2024", "nemo24.03.01-llama2-7b-4-4096-13", BY_FLOPS, 1024. * 4096, 4, 768e12,
     6 * (32 * (4. * 4096 * 4096 + 3. * 4096 * 11008) + 32000. * 4096) + 12. * 32 * 4096 * 4096, BY_TOKENS, 0.002},
    {"NeMo of 2024, GPT-3", "nemo24.07-gpt3-175b-128-2048-3", BY_FLOPS, 256. * 2048, 128, 771e12,
     6 * (96 * 12. * 12288 * 12288 + 50304. * 12288) + 12. * 96 * 12288 * 2048, BY_TOKENS, 0.002},
    /* Narayanan et al. 2021, equation (3): 96 L d^2 (1 + s/6d + V/16Ld), a recomputed forward counted */
    {"Megatron-LM of 2021, ZeRO-3", "megatron21-t2-zero3-175b-384", BY_FLOPS, 1536. * 2048, 384, 144e12,
     96 * 96 * 12288. * 12288 * (1 + 2048 / (6 * 12288.) + 51200 / (16 * 96 * 12288.)), BY_TOKENS, 0.02},
    {"InternEvo, the same formula", "internevo-fl-ck-8-8-1", BY_FLOPS, 64. * 2048, 8, 193e12,
     96 * 32 * 4096. * 4096 * (1 + 2048 / (6 * 4096.) + 103168 / (16 * 32 * 4096.)), BY_TOKENS, 0.02},
    {"BLOOM", "bloom-176b-prod", BY_FLOPS, 2048. * 2048, 384, 149.77e12,
     96 * 70 * 14336. * 14336 * (1 + 2048 / (6 * 14336.) + 250880 / (16 * 70 * 14336.)), BY_STEP, 0.01},
    /* 72 L d^2 (1 + s/6d) where nothing is recomputed, and the logits' 6 V d unchanged */
    {"InternEvo, nothing recomputed", "internevo-fl-nock-8-2-4", BY_FLOPS, 64. * 2048, 8, 183e12,
     72 * 32 * 4096. * 4096 * (1 + 2048 / (6 * 4096.)) + 6 * 103168 * 4096., BY_TOKENS, 0.01},
    /* 8 of 48 layers see all of 32768, the others a window of 1024: a query at the window's end sees all of it, and one
     * at its beginning half: 1024 - 1024^2 / (2 x 32768); causal: 12 for the mean number of keys */
    {"tpu-recipes of late 2025: causal, windows", "tpurec-v6e-256-gemma3-12b-32k", BY_FLOPS, 256. * 32768, 256,
     349.442e12,
     6 * (48 * (2. * 3840 * 4096 + 2. * 3840 * 2048 + 3. * 3840 * 15360) + 262144. * 3840) +
         12. * 4096 * (8 * 16384. + 40 * (1024 - 16.)),
     BY_STEP, 0.013},
    /* top 2 of 8 experts, the router, the whole square; peak 918 */
    {"MaxText, a mixture, share of 918", "maxtext-tier-v6e256-mixtral-8x7b", BY_MFU, 3072. * 4096, 256, 0.3523 * 918e12,
     6 * (32 * (2. * 4096 * 4096 + 2. * 4096 * 1024 + 2 * 3. * 4096 * 14336 + 4096. * 8) + 32000. * 4096) +
         12. * 32 * 4096 * 4096,
     BY_TOKENS, 0.001},
    {"Megatron-LM of 2024, share of 989", "megatron24-weak-1.7b", BY_MFU, 192. * 4096, 48, 0.41 * 989e12,
     6 * (24 * 12. * 2048 * 2048 + 131072. * 2048) + 12. * 24 * 2048 * 4096, BY_FLOPS, 0.012},
};

Test(convention, one_row_of_each_source_by_hand) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run run = run_named(ROWS[i].id);
        double by_hand = ROWS[i].tokens * ROWS[i].flops_per_token / (ROWS[i].chips * ROWS[i].rate);
        double found = seconds_by(run, ROWS[i].by), other = seconds_by(run, ROWS[i].against);
        cr_expect_float_eq(found, by_hand, 2e-3 * by_hand, "%s: %.6g s, not %.6g", ROWS[i].name, found, by_hand);
        cr_expect_float_eq(found, other, ROWS[i].rounding * other, "%s: by %s %.6g s, by %s %.6g", ROWS[i].name,
                           NAMES[ROWS[i].by], found, NAMES[ROWS[i].against], other);
    }
}

/* For sources that print two figures of a run, the two give the same step, except for the rounding of the printed
 * digits (two digits of an MFU: 1.3%; TFLOP/s without a decimal: 0.3%), ragged last microbatches, and runs known to be
 * odd. */
Test(convention, two_figures_of_a_run_agree) {
    static const struct {
        const char *id; /* begins with */
        double least, most;
        const char *why;
    } ODD[] = {
        {"mbridge-26.04.01-gpt-oss-120b", 1.12, 1.22, "FLOPs printed before 26.06 are not what the dimensions give"},
        {"mbridge-26.04-gpt-oss-120b", 1.12, 1.22, "the same"},
        {"mbridge-26.02", 0.95, 1.22, "the same, where it is GPT-OSS"},
        {"mbridge-25.11", 0.95, 1.22, "the same"},
        {"tpurec-v6e8-mistral-7b", 0.88, 0.89, "MaxText counts no windows there; the step is printed"},
        {"tpurec-old-mistral-mar25", 0.88, 0.89, "the same"},
        {"tpurec-tpu7x64-gemma4", 0.85, 1.06, "MaxText counts all heads as local ones; the step is printed"},
        {"tpurec-tpu7x256-gemma4", 0.88, 0.90, "the same"},
        {"tpurec-tpu7x256-gemma4-26b", 0.955, 1.045, "and here it does not"},
        {"dgxc-v24.11.1-nemotron", 0.8, 1.2, "its MFU counts other FLOPs than a sequence has, corrected later"},
        {"dgxc-v25.02.02-nemotron", 0.8, 1.2, "the same"},
        {"dgxc-v25.04.02-llama3-8b-ft", 1.1, 1.2, "packed real data: its MFU counts shorter sequences"},
        {"dgxc-ex", 0.9, 2.7, "the MFU of the page is over the peak of another chip"},
        {"automodel", 1.0, 1.15, "its first FLOPs undercount"},
        {"axlearn-fuji-7b-v5e", 0.93, 1.05, "what its MFU counts is not stated"},
        {"megascale-175b", 0.92, 1.09, "PFLOP/s and MFU of the transcription disagree"},
        {"torchtitan-a100-llama3-8b", 0.94, 1.05, "MFU of another step than the rate"},
        {"moezoo", 0.9, 1.2, "one row is of another commit"},
        {"llama3paper", 0.9, 1.1, "its formula is not given"},
    };
    int pairs = 0, odd = 0;
    for (int64_t i = 0; i < train.count; i++) {
        const Run *run = &train.runs[i];
        double by[FIGURES], least = 0.955, most = 1.045;
        for (int figure = 0; figure < FIGURES; figure++) by[figure] = seconds_by(*run, (Printed)figure);
        for (size_t j = 0; j < COUNT_OF(ODD); j++)
            if (strncmp(run->id, ODD[j].id, strlen(ODD[j].id)) == 0) least = ODD[j].least, most = ODD[j].most;
        for (int a = BY_FLOPS; a < FIGURES; a++)
            for (int b = 0; b < a; b++) {
                if (!(by[a] > 0 && by[b] > 0)) continue;
                double ratio = by[a] / by[b];
                cr_expect(ratio >= least && ratio <= most, "%s: by %s %.6g s, by %s %.6g: %.4f", run->id, NAMES[a],
                          by[a], NAMES[b], by[b], ratio);
                pairs++;
                odd += fabs(ratio - 1) > 0.045;
            }
    }
    cr_expect_gt(pairs, 800, "%d", pairs);
    cr_expect_leq(odd, 110, "%d", odd);
}

/* What a source calls GB: torchtitan, MLPerf's logs and nanotron mean GiB, BigScience thousands of nvidia-smi's MiB. */
Test(convention, gigabytes_of_each_source) {
    static const struct {
        const char *source;
        double unit;
        MemoryShown shown;
    } ROWS_OF[] = {{"pytorch/torchtitan docs", 1024. * 1024 * 1024, MEMORY_SHOWN_RESERVED},
                   {"mlcommons/training_results_v5.0", 1024. * 1024 * 1024, MEMORY_SHOWN_ALLOCATED},
                   {"nanotron, Ultra-Scale Playbook", 1024. * 1024 * 1024, MEMORY_SHOWN_RESERVED},
                   {"bigscience-workshop", 1000 * 1024. * 1024, MEMORY_SHOWN_DEVICE}};
    for (size_t i = 0; i < COUNT_OF(ROWS_OF); i++) {
        Run run = run_named("llmfoundry-001");
        run.source = ROWS_OF[i].source;
        run.memory_gb = 40;
        const Replay *one = replayed(&run);
        cr_expect_float_eq(one->measured_bytes, 40 * ROWS_OF[i].unit, 1, "%s: %.12g", run.source, one->measured_bytes);
        cr_expect_eq(one->memory_shown, ROWS_OF[i].shown, "%s", run.source);
    }
    Run other = run_named("llmfoundry-001");
    other.memory_gb = 40;
    cr_expect_eq(replayed(&other)->measured_bytes, 40e9);
}
