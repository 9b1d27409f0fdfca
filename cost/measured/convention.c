/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources count FLOPs in ways that differ by a third and more; cost/measured/README.md has the table. The deciding
 * words stand in the column mfu_convention. */
#include "cost/measured/replay.h"

#include "base/util.h"
#include "models/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Narayanan et al. 2021, section 5.1, equation (3): forward and backward are 72 L d^2 (1 + s / (6 d) + V / (12 L d))
 * with each matmul counted; the recomputed forward makes 96 of 72 in the layers, and logits stay 6 V d. The attention
 * is the full square. */
static double megatron_2021(const Model *model, double seq, bool recomputed) {
    double L = (double)model->layers, d = (double)model->d_model, V = (double)model->vocab,
           factor = recomputed ? 96 : 72;
    return factor * L * d * d * (1 + seq / (6 * d)) + 6 * V * d;
}

static double flops_per_token(const Replay *replay) {
    const Run *run = replay->run;
    bool hardware = text_has(run->convention, "HARDWARE") || text_has(run->convention, "Megatron 2021");
    if (hardware) return megatron_2021(&replay->model, (double)run->seq, text_has(run->remat, "full"));
    bool halved = text_has(run->convention, "halved") && !text_has(run->convention, "not halved");
    /* "N" includes the input's table, which no matmul reads; a table shared with the logits is counted already */
    bool all = text_has(run->convention, "all params") || text_has(run->convention, "incl. embeddings");
    double table = all && !replay->model.tied ? 6 * (double)replay->model.vocab * (double)replay->model.d_model : 0;
    return table + model_flops_per_token(&replay->model, halved ? FLOPS_CAUSAL : FLOPS_FULL_ATTENTION, run->seq);
}

/* "peak 989" is in TFLOP/s, "peak 989 bf16 / 1979 fp8" one for each precision; "peak per precision" is the chip's own
 * peak in the run's precision; otherwise we take its own peak in bf16, by which MFU is usually divided. */
static double peak_flops(const Replay *replay) {
    const char *at = strstr(replay->run->convention, "peak ");
    double peak = at ? strtod(at + 5, NULL) : 0;
    const char *slash = strstr(replay->run->convention, "/ ");
    bool low = replay->precision == PRECISION_FP8 && slash && strstr(slash, " fp8");
    if (low || !(peak > 0)) peak = slash ? strtod(slash + 2, NULL) : 0;
    if (peak > 50 && peak < 1e5) return peak * 1e12;
    bool own = text_has(replay->run->convention, "peak per precision");
    peak = own ? precision_peak(&replay->chip, replay->precision) : replay->chip.bf16_flops_per_second.value;
    return peak * (double)replay->chip.devices_per_chip;
}

/* The meaning of "GB", and the bytes that it counts (cost/measured/README.md). */
static void measured_memory(Replay *replay) {
    static const struct {
        const char *source;
        double unit;
        MemoryShown shown;
        bool first_rank;
    } SOURCES[] = {
        {"torchtitan", 1073741824.0, MEMORY_SHOWN_RESERVED, false},                  /* GiB */
        {"mlcommons/training_results", 1073741824.0, MEMORY_SHOWN_ALLOCATED, false}, /* GiB */
        {"nanotron", 1073741824.0, MEMORY_SHOWN_RESERVED, true},                     /* GiB */
        {"bigscience", 1048576000.0, MEMORY_SHOWN_DEVICE, false}, /* thousands of the MiB of nvidia-smi */
    };
    /* of fine-tuning the kind is said, in GB; what torch had allocated at most, where the notes have it, before what
     * nvidia-smi shows, in which are blocks that the allocator has kept from other steps */
    static const struct {
        const char *kind;
        MemoryShown shown;
    } KINDS[] = {
        {"nvidia-smi", MEMORY_SHOWN_DEVICE}, {"reserved", MEMORY_SHOWN_RESERVED}, {"per card", MEMORY_SHOWN_DEVICE}};
    double unit = 1e9;
    const char *peak = strstr(replay->run->notes, "torch peak alloc ");
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (text_has(replay->run->memory_kind, KINDS[i].kind)) replay->memory_shown = KINDS[i].shown;
    if (peak && replay->run->memory_gb > 0) {
        replay->memory_shown = MEMORY_SHOWN_ALLOCATED;
        replay->measured_bytes = strtod(peak + 17, NULL) * unit;
        return;
    }
    for (size_t i = 0; i < COUNT_OF(SOURCES); i++)
        if (text_has(replay->run->source, SOURCES[i].source)) {
            unit = SOURCES[i].unit;
            replay->memory_shown = SOURCES[i].shown;
            replay->first_rank = SOURCES[i].first_rank;
        }
    replay->measured_bytes = replay->run->memory_gb * unit;
}

/* nanotron deals blocks to stages by their matmuls, 4 d^2 + 3 d d_ff a layer and V d for the logits: a stage takes
 * blocks until all so far are more than its share of all stages (src/nanotron/helpers.py). */
static int64_t dealt_layers(const Replay *replay) {
    double d = (double)replay->model.d_model, stages = (double)replay->plan.degrees.of[ROLE_PIPELINE];
    double layers = (double)replay->model.layers, layer = d * (4 * d + 3 * (double)replay->run->d_ff);
    if (stages <= 1 || !(layer > 0)) return 0;
    double share = (layers + (double)replay->model.vocab * d / layer) / stages;
    return (int64_t)min_real(layers, floor(share) + 1);
}

/* Google's rounds of MLPerf print the time of blocks that hold an evaluation pass: 7 to 8% more by the runs' own notes,
 * and 7% more than tpurec-v5p1024-gpt3-175b-int8, which is the same plan without it; less where more chips share it. */
static const double EVALUATION_FACTOR = 1.06;

bool replay_measured(Replay *replay) {
    const Run *run = replay->run;
    double tokens = (double)run->global_batch * (double)run->seq, chips = (double)run->chips;
    if (run->step_seconds > 0) {
        replay->measured_seconds = run->step_seconds;
        replay->measured_by = "step";
    } else if (run->tokens_per_second_per_chip > 0) {
        replay->measured_seconds = tokens / (run->tokens_per_second_per_chip * chips);
        replay->measured_by = "tokens";
    } else if (run->tflops_per_chip > 0) {
        replay->measured_seconds = tokens * flops_per_token(replay) / (run->tflops_per_chip * 1e12 * chips);
        replay->measured_by = "flops";
    } else if (run->mfu > 0) {
        replay->measured_seconds = tokens * flops_per_token(replay) / (run->mfu * peak_flops(replay) * chips);
        replay->measured_by = "mfu";
    } else if (run->failed || text_has(run->notes, "out of memory")) {
        replay->failed = true;
    } else if (run->memory_gb <= 0) {
        return replay_skip(replay, "no figure of its speed or memory");
    }
    replay->step_factor = text_has(run->notes, "evaluation pass") ? EVALUATION_FACTOR : 1;
    measured_memory(replay);
    replay->memory_seq = run->longest;
    if (replay->first_rank) replay->first_layers = dealt_layers(replay);
    return true;
}
