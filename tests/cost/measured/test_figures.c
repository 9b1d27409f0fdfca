/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns a printed figure into seconds of a step, in the way of its source. */
#include "tests/cost/measured/replays.h"

TestSuite(run_figures, .init = replays_setup, .fini = replays_teardown);

/* One run of each source and convention, worked out from its columns. Seconds of the step are tokens / (chips x
 * tokens/s), or tokens x FLOPs a token / (chips x FLOP/s), with the FLOPs of a token written out: 6 for each parameter
 * of a matmul that a token meets, logits included, and 12 (whole square) or 6 (causal half) for each of L x heads x
 * head_dim x sequence. `rounding` is half a unit of the last printed digits
 * of this and of the other figure, by which the run's own line has its step. */
static const struct {
    const char *name, *id;
    Counted counted;
    double tokens, chips, rate, flops_per_token; /* rate: FLOP/s of a chip, as printed */
    double rounding;
} ROWS[] = {
    /* 12 d^2 a layer (MHA, two matrices of 4 d), tied table once, whole square; peak 989 to 990 */
    {"llm-foundry", "llmfoundry-001", COUNTED_FULL, 4096. * 2048, 512, 408e12,
     6 * (80 * 12. * 8192 * 8192 + 50368. * 8192) + 12. * 80 * 8192 * 2048, 0.003},
    {"llm-foundry, share of 989.5", "llmfoundry-001", COUNTED_FULL, 4096. * 2048, 512, 0.4125 * 989.5e12,
     6 * (80 * 12. * 8192 * 8192 + 50368. * 8192) + 12. * 80 * 8192 * 2048, 0.003},
    {"llm-foundry in fp8, share of 1979", "llmfoundry-075", COUNTED_FULL, 32. * 32768, 8, 0.1755 * 1979e12,
     6 * (24 * 12. * 2048 * 2048 + 50368. * 2048) + 12. * 24 * 2048 * 32768, 0.016},
    /* heads of 128 x 24 are half as wide as d: 4 d x 3072 a layer for attention, gate, up and down of 24576 */
    {"MaxText, share of 275", "maxtext-v4-22b-1xv4-128", COUNTED_FULL, 832. * 2048, 64, 0.567 * 275e12,
     6 * (48 * (4. * 6144 * 3072 + 3. * 6144 * 24576) + 32000. * 6144) + 12. * 48 * 3072 * 2048, 0.005},
    /* GQA: q and out d x 8192, k and v d x 1024 each; gate, up, down */
    {"tpu-recipes of early 2025: the whole square", "tpurec-v6e256-llama2-70b", COUNTED_FULL, 512. * 4096, 256,
     402.274e12,
     6 * (80 * (2. * 8192 * 8192 + 2. * 8192 * 1024 + 3. * 8192 * 28672) + 32000. * 8192) + 12. * 80 * 8192 * 4096,
     1e-4},
    {"Megatron examples", "megatron-ex-llama-llama3-8b", COUNTED_FULL, 128. * 8192, 8, 800e12,
     6 * (32 * (2. * 4096 * 4096 + 2. * 4096 * 1024 + 3. * 4096 * 14336) + 128256. * 4096) + 12. * 32 * 4096 * 8192,
     0.002},
    {"NeMo of 2024", "nemo24.03.01-llama2-7b-4-4096-13", COUNTED_FULL, 1024. * 4096, 4, 768e12,
     6 * (32 * (4. * 4096 * 4096 + 3. * 4096 * 11008) + 32000. * 4096) + 12. * 32 * 4096 * 4096, 0.002},
    {"NeMo of 2024, GPT-3", "nemo24.07-gpt3-175b-128-2048-3", COUNTED_FULL, 256. * 2048, 128, 771e12,
     6 * (96 * 12. * 12288 * 12288 + 50304. * 12288) + 12. * 96 * 12288 * 2048, 0.002},
    /* Narayanan et al. 2021, equation (3): 96 L d^2 (1 + s/6d + V/16Ld), a recomputed forward counted */
    {"Megatron-LM of 2021, ZeRO-3", "megatron21-t2-zero3-175b-384", COUNTED_MEGATRON_RECOMPUTED, 1536. * 2048, 384,
     144e12, 96 * 96 * 12288. * 12288 * (1 + 2048 / (6 * 12288.) + 51200 / (16 * 96 * 12288.)), 0.02},
    {"InternEvo, the same formula", "internevo-fl-ck-8-8-1", COUNTED_MEGATRON_RECOMPUTED, 64. * 2048, 8, 193e12,
     96 * 32 * 4096. * 4096 * (1 + 2048 / (6 * 4096.) + 103168 / (16 * 32 * 4096.)), 0.02},
    {"BLOOM", "bloom-176b-prod", COUNTED_MEGATRON_RECOMPUTED, 2048. * 2048, 384, 149.77e12,
     96 * 70 * 14336. * 14336 * (1 + 2048 / (6 * 14336.) + 250880 / (16 * 70 * 14336.)), 0.01},
    /* 72 L d^2 (1 + s/6d) where nothing is recomputed, and the logits' 6 V d unchanged */
    {"InternEvo, nothing recomputed", "internevo-fl-nock-8-2-4", COUNTED_MEGATRON, 64. * 2048, 8, 183e12,
     72 * 32 * 4096. * 4096 * (1 + 2048 / (6 * 4096.)) + 6 * 103168 * 4096., 0.01},
    /* 8 of 48 layers see all of 32768, the others a window of 1024: a query at the window's end sees all of it, and one
     * at its beginning half: 1024 - 1024^2 / (2 x 32768); causal: 12 for the mean number of keys */
    {"tpu-recipes of late 2025: causal, windows", "tpurec-v6e-256-gemma3-12b-32k", COUNTED_CAUSAL, 256. * 32768, 256,
     349.442e12,
     6 * (48 * (2. * 3840 * 4096 + 2. * 3840 * 2048 + 3. * 3840 * 15360) + 262144. * 3840) +
         12. * 4096 * (8 * 16384. + 40 * (1024 - 16.)),
     0.013},
    /* top 2 of 8 experts, the router, the whole square; peak 918 */
    {"MaxText, a mixture, share of 918", "maxtext-tier-v6e256-mixtral-8x7b", COUNTED_FULL, 3072. * 4096, 256,
     0.3523 * 918e12,
     6 * (32 * (2. * 4096 * 4096 + 2. * 4096 * 1024 + 2 * 3. * 4096 * 14336 + 4096. * 8) + 32000. * 4096) +
         12. * 32 * 4096 * 4096,
     0.001},
    {"Megatron-LM of 2024, share of 989", "megatron24-weak-1.7b", COUNTED_FULL, 192. * 4096, 48, 0.41 * 989e12,
     6 * (24 * 12. * 2048 * 2048 + 131072. * 2048) + 12. * 24 * 2048 * 4096, 0.012},
};

Test(run_figures, one_row_of_each_source_by_hand) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run run = run_named(ROWS[i].id);
        double other = replayed(&run)->measured_seconds;
        bool same = run.measured.flops_per_second_per_chip > 0 || run.measured.mfu > 0;
        run.measured = (RunFigures){.flops_per_second_per_chip = ROWS[i].rate,
                                    .counted = ROWS[i].counted,
                                    .step_factor = 1,
                                    .first_stage_layers = -1};
        double by_hand = ROWS[i].tokens * ROWS[i].flops_per_token / (ROWS[i].chips * ROWS[i].rate);
        double found = replayed(&run)->measured_seconds;
        cr_expect_str_eq(replay.measured_by, "flops");
        cr_expect_float_eq(found, by_hand, 2e-3 * by_hand, "%s: %.6g s, not %.6g", ROWS[i].name, found, by_hand);
        cr_expect_float_eq(found, other, (same ? 2e-2 : ROWS[i].rounding) * other, "%s: %.6g s, its line has %.6g",
                           ROWS[i].name, found, other);
    }
}

/* A step counts before tokens, tokens before FLOP/s, FLOP/s before a share of the peak. */
Test(run_figures, the_first_that_is_given_counts) {
    Run run = run_named("llmfoundry-001"); /* 4096 sequences of 2048 on 512 chips */
    double token = 6 * (80 * 12. * 8192 * 8192 + 50368. * 8192) + 12. * 80 * 8192 * 2048;
    run.measured = (RunFigures){.step_seconds = 3,
                                .tokens_per_second_per_chip = 1024,
                                .flops_per_second_per_chip = 4e14,
                                .mfu = 0.4,
                                .peak_flops_per_second = 5e14,
                                .step_factor = 1,
                                .first_stage_layers = -1};
    cr_expect_eq(replayed(&run)->measured_seconds, 3);
    run.measured.step_seconds = 0;
    cr_expect_float_eq(replayed(&run)->measured_seconds, 16, 1e-12);
    run.measured.tokens_per_second_per_chip = 0;
    cr_expect_float_eq(replayed(&run)->measured_seconds, 16384 * token / 4e14, 0.01);
    run.measured.flops_per_second_per_chip = 0;
    cr_expect_float_eq(replayed(&run)->measured_seconds, 16384 * token / 2e14, 0.01);
    cr_expect_str_eq(replay.measured_by, "mfu");
}

/* N with the input's table, where it is not the logits' too. */
Test(run_figures, all_parameters) {
    Run run = run_named("megatron-ex-llama-llama3-8b");
    run.measured = (RunFigures){.flops_per_second_per_chip = 4e14, .step_factor = 1, .first_stage_layers = -1};
    double without = replayed(&run)->measured_seconds;
    run.measured.counted = COUNTED_FULL_EMBEDDING;
    double table = 6 * 128256. * 4096 * 128 * 8192 / (8 * 4e14);
    cr_expect_float_eq(replayed(&run)->measured_seconds - without, table, 1e-9);
}
