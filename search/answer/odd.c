/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/odd.h"

#include "base/util.h"

/* Tokens of a rank below which a sequence is seldom cut, and stages of which there are hardly any runs. */
enum { TOKENS_LEAST = 8192, STAGES_MANY = 32 };

typedef struct {
    const CostContext *setting;
    const int64_t *of; /* degrees, by role */
    const Knobs *knobs;
} OddPlan;

static bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

static bool shards_weights(const OddPlan *plan) {
    return plan->of[ROLE_FSDP] > 1 || (plan->of[ROLE_SEQUENCE] > 1 && !plan->knobs->methods.sequence_replicates);
}

static bool shards_seldom(const OddPlan *plan) {
    return plan->setting->profile->shards_seldom > 0 && (shards_weights(plan) || plan->knobs->zero_stage == 2);
}

static bool is_mixture(const OddPlan *plan) { return model_layers_with(plan->setting->model, true) > 0; }

static bool shards_mixture(const OddPlan *plan) { return is_mixture(plan) && shards_seldom(plan); }

static bool gathers_experts(const OddPlan *plan) {
    return is_mixture(plan) && shards_weights(plan) &&
           plan->of[ROLE_EXPERT] * max_whole(1, plan->knobs->methods.grid.expert) == 1;
}

static bool cuts_short(const OddPlan *plan) {
    return plan->of[ROLE_SEQUENCE] > 1 && plan->setting->work.seq / plan->of[ROLE_SEQUENCE] < TOKENS_LEAST;
}

static bool odd_microbatch(const OddPlan *plan) { return !is_power_of_two(plan->knobs->microbatch_sequences); }

static bool odd_stages(const OddPlan *plan) {
    int64_t stages = plan->of[ROLE_PIPELINE];
    return !is_power_of_two(stages) && plan->setting->model->layers % stages != 0;
}

static bool many_stages(const OddPlan *plan) { return plan->of[ROLE_PIPELINE] >= STAGES_MANY; }

static bool small_chunks(const OddPlan *plan) {
    int64_t chunks = plan->of[ROLE_PIPELINE] * plan->knobs->virtual_stages;
    return plan->knobs->virtual_stages > 1 && plan->setting->model->layers <= chunks;
}

/* The evidence is of the 798 runs of train.jsonl, of which some 480 are of GPUs. To add what is odd, add a line. */
static const struct {
    bool (*is)(const OddPlan *plan);
    double errors; /* that it costs: plan_error x this. Of which there are many runs: as much as those say */
    const char *words;
} ODD[] = {
    {shards_seldom, 1,
     "weights or gradients sharded, which this software seldom does"}, /* 11 of some 330 runs of Megatron and NeMo */
    {shards_mixture, 1, "and of a mixture"},                           /* 2 runs */
    {gathers_experts, 1, "every expert gathered"},                     /* no run */
    {cuts_short, 0.5, "a short sequence cut over ranks"}, /* 3.9% too fast among runs of a source (105 runs of 10) */
    {odd_microbatch, 0.5, "a microbatch of an odd size"}, /* 89 runs, one of them under Megatron */
    {odd_stages, 1, "stages that are no power of two nor divide the layers"}, /* 25 runs, all of one model */
    {many_stages, 1, "32 stages or more"},                                    /* 3 runs */
    {small_chunks, 0.5, "chunks of one layer"}, /* 3.6% too fast among runs of a source (66 runs of 8) */
};

OddSet plan_odd(const CostContext *setting, const Degrees *degrees, const Knobs *knobs) {
    const OddPlan plan = {setting, degrees->of, knobs};
    OddSet odd = 0;
    if (!chip_has_domains(setting->chip)) return 0;
    for (size_t i = 0; i < COUNT_OF(ODD); i++) odd |= (OddSet)ODD[i].is(&plan) << i;
    return odd;
}

double odd_factor(const Profile *profile, OddSet odd) {
    double errors = 0;
    for (size_t i = 0; i < COUNT_OF(ODD); i++) errors += (odd >> i & 1) * ODD[i].errors;
    if (profile->ranks_by_time) return 1;
    return 1 + profile->plan_error * errors;
}

int odd_count(OddSet odd) {
    int count = 0;
    for (; odd; odd &= odd - 1) count++;
    return count;
}

double odd_most(const Profile *profile) { return odd_factor(profile, (1u << COUNT_OF(ODD)) - 1); }

double odd_least(const CostContext *setting, const Degrees *degrees) {
    static const Knobs PLAIN = {
        .microbatch_sequences = 1, .virtual_stages = 1, .methods = {.sequence_replicates = true, .grid = {2, 1}}};
    return odd_factor(setting->profile, plan_odd(setting, degrees, &PLAIN));
}

void odd_words(OddSet odd, Prose *out) {
    const char *between = "";
    for (size_t i = 0; i < COUNT_OF(ODD); i++) {
        if (!(odd >> i & 1)) continue;
        prose_add(out, "%s%s", between, ODD[i].words);
        between = ", ";
    }
}
