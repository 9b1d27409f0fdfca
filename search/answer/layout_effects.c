/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each choice of a layout is worth: the same plan priced once more with that choice taken back. */
#include "search/answer/plan_words.h"

#include "base/util.h"
#include "cost/stage/sharding.h"

#include <math.h>

/* The choices of a sharding, by their node of the strategy graph, and what each says. */
static const struct {
    const char *name, *words[STATE_COUNT];
} CHOICES[CHOICE_COUNT] = {
    [NODE_RESIDUAL] = {"residual stream",
                       {[RESIDUAL_REPLICATED] = "whole on every chip of tensor",
                        [RESIDUAL_SEQUENCE] = "split over tensor along the sequence"}},
    [NODE_MLP] = {"mlp",
                  {[MLP_TENSOR] = "activations move over tensor", [MLP_GATHERED] = "weights gathered over tensor"}},
    [NODE_KV] = {"keys and values",
                 {[KV_SPLIT] = "split over tensor",
                  [KV_REPLICATED] = "copied to the chips that need them",
                  [KV_GATHERED] = "computed once and gathered over tensor"}},
    [NODE_EMBEDDING] = {"embedding",
                        {[TABLE_VOCABULARY] = "by vocabulary over tensor", [TABLE_D_MODEL] = "by width over tensor"}},
    [NODE_LOGITS] = {"logits",
                     {[TABLE_VOCABULARY] = "by vocabulary over tensor", [TABLE_D_MODEL] = "by width over tensor"}},
};

/* What a plan costs: seconds of a step and bytes of a chip. */
typedef struct {
    double seconds, bytes; /* bytes: at the worst moment */
} Price;

typedef struct {
    const RankedPlan *ranked;
    CostContext setting;
    Price as_it_is;
    LayoutEffect *out;
    int count;
} Effects;

static Price price_of(const Effects *effects, const Plan *plan) {
    const Estimate *estimate = &effects->ranked->estimate;
    Resources resources;
    plan_resources(&effects->setting, &estimate->shard, plan, &resources);
    return (Price){step_seconds(&estimate->rule, &resources, &estimate->rates), resources_peak(&resources)};
}

/* a - b, or 0 if only rounding makes a difference. */
static double difference(double a, double b) { return fabs(a - b) <= 1e-12 * max_real(fabs(a), fabs(b)) ? 0 : a - b; }

/* Adds what the choice is worth; `plan` is the plan with the choice taken back. */
static void add_effect(Effects *effects, LayoutEffect effect, const Plan *plan) {
    if (!sharding_allowed(&effects->setting, &effects->ranked->estimate.shard, &plan->layout.sharding)) {
        effect.bound_to_others = true;
    } else {
        Price without = price_of(effects, plan);
        effect.seconds = difference(effects->as_it_is.seconds, without.seconds);
        effect.freed_bytes = difference(without.bytes, effects->as_it_is.bytes);
        effect.fits_without = without.bytes <= effects->ranked->estimate.memory_limit_bytes;
    }
    effects->out[effects->count++] = effect;
}

static void save_again(Layout *layout, int activation, int state) {
    layout->layers[activation][STATE_SAVED] += layout->layers[activation][state];
    layout->layers[activation][state] = 0;
}

static void add_choices(Effects *effects, const Sharding *usual) {
    for (int node = 0; node < CHOICE_COUNT; node++) {
        Plan plan = effects->ranked->plan;
        int now = sharding_choice(&plan.layout.sharding, node), instead = sharding_choice(usual, node);
        if (now == instead) continue;
        sharding_choose(&plan.layout.sharding, node, instead);
        add_effect(effects,
                   (LayoutEffect){.of = CHOICES[node].name,
                                  .chosen = CHOICES[node].words[now],
                                  .instead = CHOICES[node].words[instead]},
                   &plan);
    }
}

static void add_states(Effects *effects) {
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        for (int state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            Plan plan = effects->ranked->plan;
            int64_t layers = plan.layout.layers[a][state];
            if (layers == 0) continue;
            save_again(&plan.layout, a, state);
            add_effect(effects,
                       (LayoutEffect){.of = activation_name((Activation)a),
                                      .chosen = activation_state_name((ActivationState)state),
                                      .instead = activation_state_name(STATE_SAVED),
                                      .layers = layers},
                       &plan);
        }
}

int layout_effects(const Request *request, const RankedPlan *ranked, LayoutEffect out[LAYOUT_EFFECTS_MAX]) {
    Effects effects = {.ranked = ranked, .setting = ranked_cost_context(request, ranked), .out = out};
    Sharding shardings[SHARDINGS_MAX];
    effects.as_it_is = price_of(&effects, &ranked->plan);
    if (shardings_of(&effects.setting, &ranked->estimate.shard, shardings) < 1) return 0;
    add_choices(&effects, &shardings[0]);
    add_states(&effects);
    if (effects.count < 2) return effects.count;
    Plan plain = ranked->plan;
    plain.layout.sharding = shardings[0];
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        for (int state = STATE_RECOMPUTED; state < STATE_COUNT; state++) save_again(&plain.layout, a, state);
    add_effect(&effects, (LayoutEffect){.of = "all of it", .chosen = "this layout", .instead = "the default"}, &plain);
    return effects.count;
}
