/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of fine-tuning in the words of their sources, and what they are in the columns of pre-training. */
#include "base/util.h"
#include "cost/measured/run.h"

#include <criterion/criterion.h>
#include <string.h>

/* A row in which nothing is said. */
#define ROW                                                                                                            \
    .method = "lora", .framework = "", .fsdp = "", .remat = "", .lengths = "", .notes = "", .result = "ok", .chips = 4

/* Degrees stand behind their words; what is not named is 0; "fsdp" alone or over more than one rank shards, but
 * Megatron's, whose replicas share the optimizer's state. */
Test(tuned_run, degrees) {
    static const struct {
        const char *text, *framework;
        int64_t chips, tensor, pipeline, context, chunks, expert;
        const char *fsdp;
        int sequence_parallel;
    } ROWS[] = {
        {"tp2 pp4 cp1 vp20 fsdp", "NeMo", 64, 2, 4, 1, 20, 0, "tp2 pp4 cp1 vp20 fsdp", 1},
        {"tp2 pp4 cp8 vp5 ep16 fsdp2", "Megatron-Bridge", 64, 2, 4, 8, 5, 16, "zero1", 1},
        {"tp1 pp1 cp1 fsdp1", "Megatron-Bridge", 64, 1, 1, 1, 0, 0, "none", -1},
        {"fsdp", "", 8, 0, 0, 0, 0, 0, "fsdp", -1},
        {"zero3", "", 8, 0, 0, 0, 0, 0, "zero3", -1},
        {"ddp", "", 8, 0, 0, 0, 0, 0, "none", -1},
        {"single", "", 8, 0, 0, 0, 0, 0, "none", -1},
        {"", "", 1, 0, 0, 0, 0, 0, "none", -1},
        {"", "", 2, 0, 0, 0, 0, 0, "fsdp", -1},
        {"http2 tp tp10", "", 8, 10, 0, 0, 0, 0, "none", 1}, /* a word begins at a blank, and has a number */
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run run = {ROW, .sequence_parallel = -1};
        run.fsdp = ROWS[i].text, run.framework = ROWS[i].framework, run.chips = ROWS[i].chips;
        run_read_tuning(&run);
        cr_expect(run.tensor == ROWS[i].tensor && run.pipeline == ROWS[i].pipeline && run.context == ROWS[i].context &&
                      run.chunks == ROWS[i].chunks && run.expert == ROWS[i].expert,
                  "%s: tp %lld", ROWS[i].text, (long long)run.tensor);
        cr_expect_str_eq(run.fsdp, ROWS[i].fsdp, "%s: %s", ROWS[i].text, run.fsdp);
        cr_expect_eq(run.sequence_parallel, ROWS[i].sequence_parallel, "%s", ROWS[i].text);
    }
}

/* A step has the mean sample, memory the longest; a length that nobody gives is not known, nor the time or the memory
 * that goes with it. */
Test(tuned_run, lengths) {
    static const struct {
        const char *text;
        int64_t seq, is, longest;
        double seconds, memory_gb;
    } ROWS[] = {
        {"", 2048, 2048, 0, 3, 20},
        {"mean 210 tokens a sample, longest example 1304 tokens", 0, 210, 1304, 3, 20},
        {"mean 210 tokens a sample", 0, 210, 0, 3, 0},
        {"mean 210 tokens a sample", 512, 210, 512, 3, 20},
        {"longest example 1304 tokens", 0, 1304, 0, 0, 20},
        {"4,096 tokens packed", 0, 4096, 0, 3, 20},
        {"4,096 tokens packed", 512, 512, 0, 3, 20},
        {"real lengths shorter", 2048, 2048, 0, 0, 20},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run run = {ROW, .seq = ROWS[i].seq, .step_seconds = 3, .memory_gb = 20};
        run.lengths = ROWS[i].text;
        run_read_tuning(&run);
        cr_expect(run.seq == ROWS[i].is && run.longest == ROWS[i].longest, "%s: %lld, %lld", ROWS[i].text,
                  (long long)run.seq, (long long)run.longest);
        cr_expect(run.step_seconds == ROWS[i].seconds && run.memory_gb == ROWS[i].memory_gb, "%s: %g s, %g GB",
                  ROWS[i].text, run.step_seconds, run.memory_gb);
    }
}

/* Every chip is a replica where nobody gives the batch: micro-batch x chips x accumulation; a step is its samples over
 * those of a second. */
Test(tuned_run, batches_and_seconds) {
    static const struct {
        const char *notes;
        int64_t micro, accumulation, batch, expert, batch_is;
        double seconds, samples, seconds_is;
    } ROWS[] = {
        {"", 3, 5, 0, 0, 3 * 4 * 5, 0, 30, 3 * 4 * 5 / 30.},
        {"", 1, 0, 0, 1, 4, 0, 0.5, 8},
        {"", 3, 1, 0, 2, 0, 7, 30, 7},
        {"", 3, 5, 99, 0, 99, 0, 30, 99 / 30.},
        {"", 3, 5, 99, 0, 99, 0.5, 30, 0.5},
        {"", 0, 5, 0, 0, 0, 7, 0, 7},
        {"", 0, 5, 0, 0, 0, 0, 0, 0},
        {"step_s is one iteration", 3, 5, 99, 0, 3 * 4, 7, 0, 7},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run run = {ROW, .micro_batch = ROWS[i].micro, .accumulation = ROWS[i].accumulation};
        run.global_batch = ROWS[i].batch, run.notes = ROWS[i].notes, run.fsdp = ROWS[i].expert == 2 ? "ep2" : "ep1";
        run.step_seconds = ROWS[i].seconds, run.samples_per_second = ROWS[i].samples;
        run_read_tuning(&run);
        cr_expect_eq(run.global_batch, ROWS[i].batch_is, "%zu: %lld", i, (long long)run.global_batch);
        cr_expect_float_eq(run.step_seconds, ROWS[i].seconds_is, 1e-12, "%zu: %g", i, run.step_seconds);
        cr_expect_eq(run.accumulation, *ROWS[i].notes ? 1 : ROWS[i].accumulation, "%zu", i);
    }
}

/* What checkpoints layers in the words of each program, or does where it says nothing; what did not run has no
 * figures; a row of pre-training stays as it is. */
Test(tuned_run, recomputation_and_failures) {
    static const struct {
        const char *remat, *framework, *result, *is;
        int64_t chips;
        double memory_gb;
    } ROWS[] = {
        {"False", "", "ok", "none", 4, 20},
        {"NO", "", "ok", "none", 4, 20},
        {"True", "", "ok", "full", 4, 20},
        {"recompute", "", "ok", "full", 4, 20},
        {"offload", "", "ok", "custom: decoder input offloaded", 4, 20},
        {"full (gradient_checkpointing)", "", "ok", "full (gradient_checkpointing)", 4, 20},
        {"", "HF SFTTrainer", "ok", "full", 1, 20},
        {"", "litgpt", "ok", "none", 1, 20},
        {"", "litgpt", "ok", "full", 2, 0}, /* the peak of loading */
        {"", "torchtune", "ok", "none", 8, 20},
        {"none", "", "fails: CUDA", "none", 4, 0},
        {"none", "", "CUDA out of memory", "none", 4, 0},
        {"none", "", "torch.OutOfMemoryError", "none", 4, 0},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run run = {ROW, .step_seconds = 2, .memory_gb = 20}, other;
        bool failed = strcmp(ROWS[i].result, "ok") != 0;
        run.remat = ROWS[i].remat, run.framework = ROWS[i].framework, run.result = ROWS[i].result;
        run.chips = ROWS[i].chips;
        other = run, other.method = "";
        run_read_tuning(&run), run_read_tuning(&other);
        cr_expect_str_eq(run.remat, ROWS[i].is, "%s of %s: %s", ROWS[i].remat, ROWS[i].framework, run.remat);
        cr_expect_eq(run.memory_gb, ROWS[i].memory_gb, "%zu: %g", i, run.memory_gb);
        cr_expect_eq(run.step_seconds, failed ? 0 : 2, "%s", ROWS[i].result);
        cr_expect(run.failed == failed && run_result_failed(ROWS[i].result) == failed, "%s", ROWS[i].result);
        cr_expect_str_eq(other.remat, ROWS[i].remat, "of pre-training");
    }
}
