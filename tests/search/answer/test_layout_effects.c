/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a layout's choices are worth, against plans priced whole with the choice taken back; and what HBM is worth: a
 * step never gets longer by more of it. */
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "tests/search/asked.h"

#include <criterion/criterion.h>
#include <math.h>

static const char *const LAYOUTS[] = {
    "plan --model 405b --pods 1 --batch 4Mi --max-idle 0 --padding any --top 1",
    "plan --model 70b --chip h100 --nodes 16 --batch 2Mi --top 2",
    "plan --model 8b --chip v5e --slice 4x4 --batch 256Ki --top 2",
    "plan --model mixtral-8x22b --chip h100 --nodes 32 --batch 2Mi --max-idle 0 --top 1",
};

/* The step and the peak of the plan with another layout, by the estimate of a whole plan. */
static void price(const Request *request, const RankedPlan *ranked, const Layout *layout, double *seconds,
                  double *bytes) {
    static Estimate estimate;
    Error error = {0};
    CostContext setting = request_cost_context(request);
    Plan plan = ranked->plan;
    plan.layout = *layout;
    setting.work = ranked->work;
    cr_assert(estimate_plan(&setting, &(NestedMesh){&ranked->machine.mesh, ranked->nesting}, &plan, PADDING_ANY,
                            &estimate, &error),
              "%s", error.text);
    *seconds = estimate.time.seconds;
    *bytes = memory_total(&estimate.memory);
}

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* The layout with what the effect speaks of taken back; the default sharding is that of cost/stage/sharding.h. */
static Layout taken_back(const RankedPlan *ranked, const LayoutEffect *effect) {
    Layout layout = ranked->plan.layout;
    bool all = is(effect->of, "all of it");
    if (all || is(effect->of, "residual stream")) layout.sharding.residual = RESIDUAL_SEQUENCE;
    if (all || is(effect->of, "mlp")) layout.sharding.mlp = MLP_TENSOR;
    if ((all || is(effect->of, "keys and values")) && layout.sharding.kv != KV_SPLIT)
        layout.sharding.kv = KV_REPLICATED;
    if (all || is(effect->of, "embedding")) layout.sharding.embedding = TABLE_VOCABULARY;
    if (all || is(effect->of, "logits")) layout.sharding.logits = TABLE_VOCABULARY;
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        for (int state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            bool its = is(effect->of, activation_name((Activation)a)) &&
                       is(effect->chosen, activation_state_name((ActivationState)state));
            if (!all && !its) continue;
            layout.layers[a][STATE_SAVED] += layout.layers[a][state];
            layout.layers[a][state] = 0;
        }
    return layout;
}

Test(report_effects, each_against_the_whole_plan) {
    int seen = 0, tight = 0;
    for (size_t i = 0; i < COUNT_OF(LAYOUTS); i++) {
        RequestedSearch asked;
        asked_open_by_time(&asked, LAYOUTS[i]); /* one that leaves room has choices that it could do without */
        for (int p = 0; p < asked.result.plan_count; p++) {
            const RankedPlan *ranked = &asked.result.plans[p];
            LayoutEffect effects[LAYOUT_EFFECTS_MAX];
            int count = layout_effects(asked.request, ranked, effects);
            double limit = ranked->estimate.memory_limit_bytes, seconds, bytes, now_seconds, now_bytes;
            price(asked.request, ranked, &ranked->plan.layout, &now_seconds, &now_bytes);
            for (int e = 0; e < count; e++) {
                if (effects[e].bound_to_others) continue;
                Layout layout = taken_back(ranked, &effects[e]);
                price(asked.request, ranked, &layout, &seconds, &bytes);
                cr_expect_float_eq(effects[e].seconds, now_seconds - seconds, 1e-9 * seconds, "%s: %s %s", LAYOUTS[i],
                                   effects[e].of, effects[e].chosen);
                cr_expect_float_eq(effects[e].freed_bytes, bytes - now_bytes, 1e-9 * bytes, "%s: %s %s", LAYOUTS[i],
                                   effects[e].of, effects[e].chosen);
                cr_expect_eq(effects[e].fits_without, bytes <= limit, "%s: %s %s", LAYOUTS[i], effects[e].of,
                             effects[e].chosen);
                seen++, tight += !effects[e].fits_without;
            }
            /* A proven layout has no choice that costs time and could be left out. */
            for (int e = 0; e < count; e++)
                if (!effects[e].bound_to_others && effects[e].fits_without)
                    cr_expect_leq(effects[e].seconds, 1e-9 * now_seconds, "%s: %s %s", LAYOUTS[i], effects[e].of,
                                  effects[e].chosen);
        }
        asked_close(&asked);
    }
    cr_expect(seen > 10 && tight > 3, "%d effects, %d that the plan does not fit without", seen, tight);
}

/* Shares of HBM kept back, falling: 8B on a slice of v5e, and 70B on two nodes' worth of memory. */
Test(report_effects, more_memory_never_costs_time) {
    static const struct {
        const char *name, *command;
    } ROWS[] = {
        {"whole search", "plan --model 8b --chip v5e --slice 4x4 --batch 256Ki --top 1 --offload all --hbm-reserve"},
        {"one plan's layouts", "plan --model 70b --chip h100 --nodes 16 --batch 1Mi --top 1 --require fsdp=32,tensor=4,"
                               "data=1,pipeline=1,microbatches=1 --offload all --hbm-reserve"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        double before = INFINITY, first = 0;
        int fitting = 0;
        for (int percent = 90; percent >= 2; percent -= 4) {
            char command[512];
            RequestedSearch asked;
            snprintf(command, sizeof command, "%s %d%%", ROWS[i].command, percent);
            asked_open_by_time(&asked, command);
            double seconds = asked.result.plan_count > 0 ? asked.result.plans[0].ranked_seconds : INFINITY;
            cr_expect_leq(seconds, before, "%s: %.17g with %d%% kept back, %.17g before", ROWS[i].name, seconds,
                          percent, before);
            if (!isinf(seconds) && fitting++ == 0) first = seconds;
            before = seconds;
            asked_close(&asked);
        }
        cr_expect(fitting > 5 && before < first, "%s: %d fit, %g to %g s", ROWS[i].name, fitting, first, before);
    }
}

/* Just below what the best plan's peak is with everything as it likes, its layout gives way by the cheapest bytes:
 * no more time than any one choice that frees enough. */
Test(report_effects, a_limit_just_below) {
    static const char *const PLAN = "plan --model 70b --chip h100 --nodes 64 --batch 512Ki --top 1 --require fsdp=64,"
                                    "tensor=8,data=1,pipeline=1,sequence=1 --hbm-reserve";
    char command[512];
    RequestedSearch roomy, tight;
    snprintf(command, sizeof command, "%s 2%%", PLAN);
    asked_open(&roomy, command);
    cr_assert_eq(roomy.result.plan_count, 1);
    const RankedPlan *first = &roomy.result.plans[0];
    LayoutEffect effects[LAYOUT_EFFECTS_MAX];
    double peak = memory_total(&first->estimate.memory), hbm = roomy.request->question.chip.hbm_bytes.value;
    int count = layout_effects(roomy.request, first, effects);
    for (int e = 0; e < count; e++)
        cr_expect(effects[e].of && effects[e].seconds <= 0, "with room %s is as it is for its time", effects[e].of);

    snprintf(command, sizeof command, "%s %.12f", PLAN, 1 - (peak - 1e6) / hbm);
    asked_open(&tight, command);
    cr_assert_eq(tight.result.plan_count, 1);
    const RankedPlan *second = &tight.result.plans[0];
    cr_expect_leq(memory_total(&second->estimate.memory), peak - 1e6 + 1);
    cr_expect_geq(second->ranked_seconds, first->ranked_seconds);
    /* The cheapest single layer that frees a megabyte, tried one by one on the first plan. */
    double cheapest = INFINITY;
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        for (int state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            Layout layout = first->plan.layout;
            double seconds, bytes;
            if (layout.layers[a][STATE_SAVED] == 0 || (a == ACTIVATION_LAYER_INPUT && state == STATE_RECOMPUTED))
                continue;
            layout.layers[a][STATE_SAVED]--, layout.layers[a][state]++;
            price(roomy.request, first, &layout, &seconds, &bytes);
            if (bytes <= peak - 1e6) cheapest = min_real(cheapest, seconds);
        }
    cr_expect(!isinf(cheapest));
    double seconds = second->estimate.time.seconds;
    cr_expect_leq(seconds, cheapest * (1 + 1e-12), "%.17g, one layer: %.17g", seconds, cheapest);
    asked_close(&tight);
    asked_close(&roomy);
}
