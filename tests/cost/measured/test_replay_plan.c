/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans of measured runs, as their sources describe them, read by hand. */
#include "tests/cost/measured/replays.h"

TestSuite(plan_of_run, .init = replays_setup, .fini = replays_teardown);

/* The states of attention_input, qkv, context, middle (the attention's output), mlp_input, gate_up and product, in most
 * layers of the fullest stage: s saved, r recomputed, o offloaded. The layer's input is always saved. */
static const struct {
    const char *id, *states, *source;
    int64_t layers; /* layers of the stage that are not saved whole; 0 means all, or none */
} REMAT[] = {
    {"llmfoundry-010", "sssssss", "none", 0},
    {"llmfoundry-001", "rrrrrrr", "full: activation checkpointing of every block (FSDP)", 0},
    {"bloom-prequel-001", "rrrrrrr", "full: --checkpoint-activations", 0},
    {"maxtext-v4-22b-1xv4-128", "rrrrrrr", "full", 0},
    {"maxtext-a3-llama2-7b-1x8", "rsssrsr", "minimal_with_context: dots and the context", 0},
    {"maxtext-v5p-32b-1xv5p-128", "rsrsrsr", "minimal: the dots; a flash kernel is no dot", 0},
    {"maxtext-tier-v5p512c-llama2-70b", "rsrsrrr", "all dots but gate and up", 0},
    {"mlperf-v4.0-google-cloud-tpu-v5p-2048-maxtext-gpt3", "rsrsrrr", "save_dot_except_logits_ffn1: the same", 0},
    {"mlperf-v4.0-google-cloud-tpu-v5p-12288-maxtext-gpt3", "rsrsrsr", "save_dot_except_logits: minimal", 0},
    {"tpurec-v6e256-llama2-70b", "rorrrrr", "custom (qkv_proj_offloaded)", 0},
    {"tpurec-v6e256-llama31-8b", "rororrr", "q, k, v and the attention's output offloaded", 0},
    {"tpurec-tpu7x256-llama31-405b-bf16", "rrrrrrr", "queries are made again; the last matmul's product saves nothing",
     0},
    {"tpurec-2xv6e256-llama31-405b", "rrrrrrr", "the layer's input offloaded, all else made again", 0},
    {"mbridge-26.04.01-gpt-oss-120b-gb200-64-bf16", "rsssrsr", "layernorm and moe_act", 0},
    {"mbridge-26.06-deepseek3-671b-b300-256-mxfp8", "srsssss", "mla_up_proj", 0},
    {"mbridge-25.09-deepseek3-671b-h100-1024-fp8", "srsssrr", "mla_up_proj and mlp", 0},
    {"mbridge-26.08-deepseek3-671b-gb300-256-mxfp8", "ssrssss", "core attention", 0},
    {"mbridge-25.11-llama3-8b-h100-8-fp8-cs", "rrrrrrr", "full block for 5 layers", 5},
    {"mbridge-26.04.01-llama3-70b-gb300-64-fp8", "ooooooo", "activations of 20 layers offloaded", 20},
    {"mlperf-v4.0-intelhaban-hls-gaudi2-n128-pt-gpt3", "ssrssss", "selective (attention)", 0},
};

Test(plan_of_run, recomputation) {
    static const char LETTERS[STATE_COUNT] = {[STATE_SAVED] = 's', [STATE_RECOMPUTED] = 'r', [STATE_OFFLOADED] = 'o'};
    for (size_t i = 0; i < COUNT_OF(REMAT); i++) {
        Run run = run_named(REMAT[i].id);
        const Replay *one = replayed(&run);
        const Layout *layout = &one->plan.layout;
        char found[ACTIVATION_COUNT] = {0};
        int64_t most_layers = 0;
        for (int a = 1; a < ACTIVATION_COUNT; a++) {
            found[a - 1] = 's';
            for (int state = 0; state < STATE_COUNT; state++)
                if (state != STATE_SAVED && layout->layers[a][state] > 0) {
                    found[a - 1] = LETTERS[state];
                    most_layers = max_whole(most_layers, layout->layers[a][state]);
                }
        }
        cr_expect_str_eq(found, REMAT[i].states, "%s (%s): %s, not %s", REMAT[i].id, REMAT[i].source, found,
                         REMAT[i].states);
        if (REMAT[i].layers > 0)
            cr_expect_eq(most_layers, REMAT[i].layers, "%s: %d layers", REMAT[i].id, (int)most_layers);
    }
}

/* Degrees, microbatches and schedule, as the columns of the sources' tables had them. */
static const struct {
    const char *id;
    int64_t tensor, context, fsdp, data, stages, chunks, microbatch, microbatches, experts;
    int zero_stage;
    bool regather;
    Schedule schedule;
} PLANS[] = {
    /* 4096 sequences over 512 shards, 8 at a time */
    {"llmfoundry-001", 1, 1, 512, 1, 1, 1, 8, 1, 0, 0, true, SCHEDULE_NONE},
    /* 64 chips a slice shard, 2 slices replicate; 13 sequences each */
    {"maxtext-v4-22b-2xv4-128", 1, 1, 64, 2, 1, 1, 13, 1, 0, 0, true, SCHEDULE_NONE},
    /* 512 = 8 x 2 x 4 x 8; 1152 sequences over 4 replicas, one at a time */
    {"mlperf-v5.0-nvidia-eos-dfw_n64_ngc25.01_nemo-llama31_405b", 8, 2, 1, 4, 8, 8, 1, 0, 0, 1, true,
     SCHEDULE_INTERLEAVED},
    /* 64 = 4 x 2 x 2 x 4 */
    {"nemo24.07-llama3-70b-64-8192-12", 4, 2, 1, 2, 4, 5, 1, 0, 0, 1, true, SCHEDULE_INTERLEAVED},
    /* stages replicate over 128, experts lie on 32 of them */
    {"mbridge-26.08-deepseek3-671b-gb300-256-mxfp8", 1, 1, 1, 128, 2, 8, 0, 0, 32, 1, true, SCHEDULE_INTERLEAVED},
    {"megatron21-t2-zero3-175b-384", 1, 1, 384, 1, 1, 1, 4, 1, 0, 0, true, SCHEDULE_NONE},
};

Test(plan_of_run, degrees_and_schedule) {
    for (size_t i = 0; i < COUNT_OF(PLANS); i++) {
        Run run = run_named(PLANS[i].id);
        const Replay *one = replayed(&run);
        const int64_t *of = one->plan.degrees.of;
        const Knobs *knobs = &one->plan.knobs;
        const struct {
            const char *name;
            int64_t found, expected;
        } rows[] = {{"tensor", of[ROLE_TENSOR], PLANS[i].tensor},
                    {"context", of[ROLE_SEQUENCE], PLANS[i].context},
                    {"fsdp", of[ROLE_FSDP], PLANS[i].fsdp},
                    {"data", of[ROLE_DATA], PLANS[i].data},
                    {"stages", of[ROLE_PIPELINE], PLANS[i].stages},
                    {"chunks", knobs->virtual_stages, PLANS[i].chunks},
                    {"sequences of a microbatch", knobs->microbatch_sequences, PLANS[i].microbatch},
                    {"microbatches", knobs->microbatches, PLANS[i].microbatches},
                    {"experts", knobs->methods.grid.expert, PLANS[i].experts}};
        for (size_t j = 0; j < COUNT_OF(rows); j++)
            cr_expect(rows[j].found == rows[j].expected || (j > 5 && rows[j].expected == 0), "%s: %s %d, not %d",
                      PLANS[i].id, rows[j].name, (int)rows[j].found, (int)rows[j].expected);
        cr_expect_eq(knobs->zero_stage, PLANS[i].zero_stage, "%s", PLANS[i].id);
        cr_expect_eq(knobs->schedule, PLANS[i].schedule, "%s", PLANS[i].id);
        cr_expect_eq(knobs->regather, PLANS[i].regather, "%s", PLANS[i].id);
        /* every sequence is in one microbatch of one replica */
        int64_t slots = degrees_replicas(&one->plan.degrees) * knobs->microbatches * knobs->microbatch_sequences;
        cr_expect(slots >= run.request.sequences && slots < 2 * run.request.sequences, "%s: %d of %d", PLANS[i].id,
                  (int)slots, (int)run.request.sequences);
    }
}

/* Nemotron-3-Super: its last kind of layers is attention alone, and its experts lie on 64 of the 64 chips all the same.
 * It was trained with two layers for multi-token prediction, an attention and a mixture each: 88 layers and 4. */
Test(plan_of_run, experts_of_a_hybrid) {
    RunTable partial;
    Error error = {0};
    cr_assert(run_table_read(SHARDOPT_SOURCE_DATA "/cost/measured/data/partial.jsonl", &arena, &partial, &error));
    for (int64_t i = 0; i < partial.count; i++) {
        if (strcmp(partial.runs[i].id, "mbridge-26.04-nemotron_3_super-gb300-64-mxfp8") != 0) continue;
        const Replay *one = replayed(&partial.runs[i]);
        cr_expect_eq(one->plan.knobs.methods.grid.expert, 64);
        cr_expect_eq(one->model.layers, 92);
        return;
    }
    cr_assert_fail("no run of Nemotron-3-Super");
}

/* Precision and widths of the tensors sent, as a recipe says; a chip without mxfp8 units has fp8. */
Test(plan_of_run, precision) {
    static const struct {
        const char *id;
        Precision precision;
        double parameter_bytes, gradient_bytes; /* sent */
    } rows[] = {
        {"llmfoundry-001", PRECISION_BF16, 2, 4}, /* DEFAULT: fp32 reduce */
        {"llmfoundry-075", PRECISION_FP8, 2, 4},  /* amp_fp8 */
        {"mbridge-26.08-deepseek3-671b-gb300-256-mxfp8", PRECISION_MXFP8, 0, 2},
        {"mbridge-26.02.01-llama3-70b-gb300-64-nvfp4", PRECISION_NVFP4, 0, 2},
        {"tpurec-v5p1024-gpt3-175b-int8", PRECISION_INT8, 0, 0},
        {"mlperf-v5.0-nvidia-eos-dfw_n64_ngc25.01_nemo-llama31_405b", PRECISION_FP8, 1, 2}, /* fp8 weights gathered */
        {"mlperf-v3.1-nvidia-eos_n96_ngc23.09_nemo-gpt3", PRECISION_FP8, 2, 2},
        {"bloom-176b-prod", PRECISION_BF16, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Run run = run_named(rows[i].id);
        const Replay *one = replayed(&run);
        cr_expect_eq(one->precision, rows[i].precision, "%s: %s", rows[i].id, precision_name(one->precision));
        if (rows[i].parameter_bytes > 0)
            cr_expect_eq(one->state.parameter_bytes, rows[i].parameter_bytes, "%s: parameters of %g", rows[i].id,
                         one->state.parameter_bytes);
        if (rows[i].gradient_bytes > 0)
            cr_expect_eq(one->state.gradient_bytes[1], rows[i].gradient_bytes, "%s: gradients of %g", rows[i].id,
                         one->state.gradient_bytes[1]);
    }
}

/* The kind of a plan follows from its degrees and what it makes again. */
Test(plan_of_run, kind) {
    static const struct {
        const char *id;
        RunKind kind;
    } KINDS[] = {{"llmfoundry-010", KIND_DENSE_FSDP},
                 {"llmfoundry-001", KIND_DENSE_FSDP_FULL},
                 {"bloom-176b-prod", KIND_DENSE_PIPELINE_FULL},
                 {"nemo24.07-llama3-70b-64-8192-12", KIND_DENSE_PIPELINE_CONTEXT},
                 {"mbridge-26.08-deepseek3-671b-gb300-256-mxfp8", KIND_MOE_PIPELINE},
                 {"mbridge-26.04.01-gpt-oss-120b-gb200-64-bf16", KIND_MOE_FLAT},
                 {"maxtext-tier-v6e256-mixtral-8x7b", KIND_MOE_TPU}};
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        Run run = run_named(KINDS[i].id);
        RunKind kind = replay_kind(replayed(&run));
        cr_expect_eq(kind, KINDS[i].kind, "%s: %s", KINDS[i].id, run_kind_name(kind));
    }
}
