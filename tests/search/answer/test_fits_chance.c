/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The probability that a plan fits, and the reserve that makes it nine in ten, against closed forms: the logistic
 * distribution is at 1/2 where the device holds as much as it has, and at 0.9 where ln(HBM / held) = scale ln 9. */
#include "search/answer/plan_words.h"
#include "search/request/request.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const double HBM = 80e9, CONTEXT = 2e9, COMMUNICATOR = 0.5e9, EXCHANGE = 3e9, SPARE = 0.05, SCALE = 0.02;

static Request *request_new(void) {
    Request *request = calloc(1, sizeof *request);
    cr_assert(request);
    request->question.work = (Work){.sequences = 8, .seq = 4096};
    request->question.model.kind_count = 1;
    request->question.model.kinds[0] = (LayerKind){.count = 4, .heads = 8, .kv_heads = 8, .head_dim = 64, .d_ff = 2048};
    request->question.model.d_model = 512;
    request->question.model.layers = 4;
    request->question.model.vocab = 1000;
    request->question.chip.hbm_bytes.value = HBM;
    request->question.chip.bf16_flops_per_second.value = 1e15;
    request->question.profile = (Profile){.hbm_error = SCALE,
                                          .context_bytes = CONTEXT,
                                          .communicator_bytes = COMMUNICATOR,
                                          .all_to_all_bytes = EXCHANGE,
                                          .fragmentation_share = SPARE};
    return request;
}

/* A plan over tensor and data whose rows add up to so many bytes. */
static RankedPlan ranked_of(double bytes, double folded_expert) {
    RankedPlan ranked = {.work = {.sequences = 8, .seq = 4096}};
    ranked.estimate.memory.parameters_bytes = 0.25 * bytes;
    ranked.estimate.memory.activations_bytes = 0.75 * bytes;
    ranked.estimate.shard = (Shard){
        .tensor = 2, .data = 4, .fsdp = 1, .sequence = 1, .expert = 1, .pipeline = 1, .grid_expert = folded_expert};
    return ranked;
}

Test(fits_chance, is_the_logistic_distribution) {
    Request *request = request_new();
    const struct {
        double held, chance;
    } ROWS[] = {{HBM, 0.5}, {HBM * pow(9, -SCALE), 0.9}, {HBM * pow(9, SCALE), 0.1}, {HBM * pow(99, -SCALE), 0.99}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        double plain = (ROWS[i].held - CONTEXT - 2 * COMMUNICATOR) / (1 + SPARE);
        RankedPlan dense = ranked_of(plain, 0);
        cr_expect_float_eq(plan_fits_chance(request, &dense), ROWS[i].chance, 1e-9);
        /* experts on a folded grid have a communicator and the connections of all_to_all too */
        double mixture = (ROWS[i].held - CONTEXT - 3 * COMMUNICATOR - EXCHANGE) / (1 + SPARE);
        RankedPlan folded = ranked_of(mixture, 8);
        cr_expect_float_eq(plan_fits_chance(request, &folded), ROWS[i].chance, 1e-9);
    }
    request->question.profile.hbm_error = 0;
    RankedPlan any = ranked_of(1e9, 0);
    cr_expect_eq(plan_fits_chance(request, &any), 0);
    free(request);
}

/* A plan of three roles that fills what the reserve leaves fits nine times in ten; the reserve is rounded up to a
 * thousandth of HBM. */
Test(fits_chance, the_default_reserve_makes_it_nine_in_ten) {
    Request *request = request_new();
    for (int experts = 0; experts < 2; experts++) {
        request->question.model.kinds[0].experts = 8 * experts;
        double reserve = request_default_reserve(request);
        RankedPlan full = ranked_of(HBM * (1 - reserve), experts ? 8 : 0);
        full.estimate.shard.pipeline = 4;
        double chance = plan_fits_chance(request, &full);
        cr_expect(chance >= 0.9 && chance < 0.91, "%g with %g", chance, reserve);
    }
    request->question.profile.least_reserve = 0.3;
    cr_expect_float_eq(request_default_reserve(request), 0.3, 0);
    request->question.profile = (Profile){0};
    cr_expect_float_eq(request_default_reserve(request), 0.08, 0);
    free(request);
}
