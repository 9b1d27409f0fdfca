/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources count FLOPs in ways that differ by a third and more: their rates become seconds in their own way. */
#include "cost/measured/replay.h"

#include "models/parameters.h"

/* Narayanan et al. 2021, section 5.1, equation (3): forward and backward are 72 L d^2 (1 + s / (6 d) + V / (12 L d))
 * with each matmul counted; the recomputed forward makes 96 of 72 in the layers, and logits stay 6 V d. The attention
 * is the full square. */
static double megatron_2021(const Model *model, double seq, bool recomputed) {
    double L = (double)model->layers, d = (double)model->d_model, V = (double)model->vocab,
           factor = recomputed ? 96 : 72;
    return factor * L * d * d * (1 + seq / (6 * d)) + 6 * V * d;
}

static double flops_per_token(const Replay *replay) {
    Counted counted = replay->run->measured.counted;
    int64_t seq = replay->work.seq;
    if (counted >= COUNTED_MEGATRON)
        return megatron_2021(&replay->model, (double)seq, counted == COUNTED_MEGATRON_RECOMPUTED);
    bool causal = counted == COUNTED_CAUSAL || counted == COUNTED_CAUSAL_EMBEDDING;
    bool all = counted == COUNTED_FULL_EMBEDDING || counted == COUNTED_CAUSAL_EMBEDDING;
    /* a table shared with the logits is counted already */
    double table = all && !replay->model.tied ? 6 * (double)replay->model.vocab * (double)replay->model.d_model : 0;
    return table + model_flops_per_token(&replay->model, causal ? FLOPS_CAUSAL : FLOPS_FULL_ATTENTION, seq);
}

void replay_measured(Replay *replay) {
    const RunFigures *measured = &replay->run->measured;
    const RunRequest *request = &replay->run->request;
    double tokens = (double)replay->work.sequences * (double)replay->work.seq, chips = (double)request->chips;
    if (measured->step_seconds > 0) {
        replay->measured_seconds = measured->step_seconds;
        replay->measured_by = "step";
    } else if (measured->tokens_per_second_per_chip > 0) {
        replay->measured_seconds = tokens / (measured->tokens_per_second_per_chip * chips);
        replay->measured_by = "tokens";
    } else if (measured->flops_per_second_per_chip > 0) {
        replay->measured_seconds = tokens * flops_per_token(replay) / (measured->flops_per_second_per_chip * chips);
        replay->measured_by = "flops";
    } else if (measured->mfu > 0) {
        replay->measured_seconds =
            tokens * flops_per_token(replay) / (measured->mfu * measured->peak_flops_per_second * chips);
        replay->measured_by = "mfu";
    }
}
