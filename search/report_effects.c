/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each choice of a layout is worth: the same plan priced once more with that choice taken back. */
#include "search/report_words.h"

#include "base/util.h"
#include "cost/sharding.h"

#include <math.h>
#include <string.h>

static const char *residual_words(const Sharding *of) {
    return of->residual == RESIDUAL_SEQUENCE ? "split over tensor along the sequence" : "whole on every chip of tensor";
}

static const char *mlp_words(const Sharding *of) {
    return of->mlp == MLP_GATHERED ? "weights gathered over tensor" : "activations move over tensor";
}

static const char *kv_words(const Sharding *of) {
    return of->kv == KV_SPLIT        ? "split over tensor"
           : of->kv == KV_REPLICATED ? "copied to the chips that need them"
                                     : "computed once and gathered over tensor";
}

static const char *table_words(TableChoice choice) {
    return choice == TABLE_VOCABULARY ? "by vocabulary over tensor" : "by width over tensor";
}
static const char *embedding_words(const Sharding *of) { return table_words(of->embedding); }
static const char *logits_words(const Sharding *of) { return table_words(of->logits); }

static void take_residual(Sharding *to, const Sharding *from) { to->residual = from->residual; }
static void take_mlp(Sharding *to, const Sharding *from) { to->mlp = from->mlp; }
static void take_kv(Sharding *to, const Sharding *from) { to->kv = from->kv; }
static void take_embedding(Sharding *to, const Sharding *from) { to->embedding = from->embedding; }
static void take_logits(Sharding *to, const Sharding *from) { to->logits = from->logits; }

static const struct {
    const char *name;
    const char *(*words)(const Sharding *of);
    void (*take)(Sharding *to, const Sharding *from);
} CHOICES[] = {
    {"residual stream", residual_words, take_residual},
    {"mlp", mlp_words, take_mlp},
    {"keys and values", kv_words, take_kv},
    {"embedding", embedding_words, take_embedding},
    {"logits", logits_words, take_logits},
};

/* What a plan takes of a step and of a chip. */
typedef struct {
    double seconds, bytes; /* bytes: at the worst moment */
} Price;

typedef struct {
    const RankedPlan *ranked;
    Setting setting;
    Price as_it_is;
    LayoutEffect *out;
    int count;
} Effects;

static Price price_of(const Effects *effects, const Plan *plan) {
    const Estimate *estimate = &effects->ranked->estimate;
    Resources resources;
    Price price = {0};
    plan_resources(&effects->setting, &estimate->shard, plan, &resources);
    price.seconds = step_seconds(&estimate->rule, &resources, &estimate->rates);
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        price.bytes = max_real(price.bytes, resources.of[RES_MEMORY + moment]);
    return price;
}

/* a - b; what only rounding makes of it is nothing. */
static double difference(double a, double b) { return fabs(a - b) <= 1e-12 * max_real(fabs(a), fabs(b)) ? 0 : a - b; }

/* `plan`: with the choice taken back. */
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
    const Sharding *chosen = &effects->ranked->plan.layout.sharding;
    for (size_t i = 0; i < COUNT_OF(CHOICES); i++) {
        const char *now = CHOICES[i].words(chosen), *instead = CHOICES[i].words(usual);
        Plan plan = effects->ranked->plan;
        if (strcmp(now, instead) == 0) continue;
        CHOICES[i].take(&plan.layout.sharding, usual);
        add_effect(effects, (LayoutEffect){.of = CHOICES[i].name, .chosen = now, .instead = instead, .layers = 0},
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
    Effects effects = {.ranked = ranked, .setting = request_setting(request), .out = out};
    Sharding shardings[SHARDINGS_MAX];
    effects.setting.work = ranked->work;
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
