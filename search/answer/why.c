/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a plan is as it is, and why another is not better: sentences that the estimate alone gives. */
#include "search/answer/plan_words.h"

#include "base/util.h"
#include "search/answer/tie.h"

#include <assert.h>
#include <string.h>

static void say(Why *to, const Prose *sentence) {
    assert(to->count < WHY_MAX); /* one sentence for each role, and six more */
    if (sentence->used == 0) return;
    snprintf(to->text[to->count++], WHY_SIZE, "%.*s", WHY_SIZE - 1, sentence->text);
}

/* Names what the messages of a role carry, for readers who do not know. */
static const char *carries(Role role) {
    static const char *const WHAT[ROLE_COUNT] = {
        [ROLE_TENSOR] = "activations",         [ROLE_EXPERT] = "routed tokens", [ROLE_SEQUENCE] = "keys and values",
        [ROLE_FSDP] = "weights and gradients", [ROLE_DATA] = "gradients",       [ROLE_PIPELINE] = "the residual stream",
    };
    return WHAT[role];
}

static void say_role(const RankedPlan *ranked, Role role, Why *to) {
    int64_t degree = ranked->plan.degrees.of[role];
    if (degree <= 1) return;
    const Mesh *mesh = &ranked->machine.mesh;
    Footprint footprint = nesting_footprint(mesh, &ranked->nesting, &ranked->plan.placement, 1u << role);
    char whole_text[NUMBER_TEXT_SIZE], exposed_text[NUMBER_TEXT_SIZE];
    double exposed, whole = role_seconds(&ranked->estimate.time, role, &exposed);
    Prose sentence = {0};
    prose_add(&sentence, "%s=%lld spans ", role_name(role), (long long)degree);
    footprint_words(mesh, &footprint, &sentence);
    if (whole > 0) {
        prose_add(&sentence, "; moving %s takes %s a step, ", carries(role), number_time(whole, whole_text));
        if (exposed <= 0)
            prose_add(&sentence, "overlapped with compute where possible");
        else if (exposed >= whole * (1 - 1e-9))
            prose_add(&sentence, "all of it exposed");
        else
            prose_add(&sentence, "%s of it exposed", number_time(exposed, exposed_text));
    }
    prose_add(&sentence, ".");
    say(to, &sentence);
}

static void say_bound(const RankedPlan *ranked, Why *to) {
    const Estimate *estimate = &ranked->estimate;
    const StepTime *time = &estimate->time;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    double background = 0;
    for (int group = GROUP_WEIGHTS; group < GROUP_COUNT; group++)
        background += time->group_seconds[group] - time->group_exposed_seconds[group];
    Prose sentence = {0};
    prose_add(&sentence, "The step is bound by %s; %s comes next and takes %.0f%% as long.",
              bound_text(estimate->bound_by, &ranked->machine.mesh),
              bound_text(estimate->bound_next, &ranked->machine.mesh), 100 * estimate->bound_next_share);
    if (background > 0 && time->unhidden_seconds < background * 1e-6)
        prose_add(&sentence, " Parameter gathers and gradient reductions (%s) are fully overlapped with compute (%s).",
                  number_time(background, a), number_time(time->compute_seconds, b));
    else if (background > 0)
        prose_add(&sentence,
                  " Of the %s of parameter gathers and gradient reductions, %s cannot be overlapped with compute (%s).",
                  number_time(background, a), number_time(time->unhidden_seconds, c),
                  number_time(time->compute_seconds, b));
    say(to, &sentence);
}

static void say_sharding(const Plan *plan, Why *to) {
    const Sharding *sharding = &plan->layout.sharding;
    Prose sentence = {0};
    if (plan->degrees.of[ROLE_TENSOR] > 1) {
        prose_add(&sentence, sharding->residual == RESIDUAL_SEQUENCE
                                 ? "Between blocks, the residual stream is sharded over tensor along the sequence"
                                 : "Every chip of a tensor group holds the whole residual stream");
        if (sharding->mlp == MLP_GATHERED)
            prose_add(&sentence, "; the MLP gathers weights over tensor instead of moving activations");
        if (sharding->kv == KV_REPLICATED)
            prose_add(&sentence, "; there are fewer KV heads than tensor ranks, so chips hold copies");
        if (sharding->kv == KV_GATHERED) prose_add(&sentence, "; KV heads are computed once and gathered over tensor");
        if (sharding->embedding == TABLE_D_MODEL) prose_add(&sentence, "; the embedding is sharded along d_model");
        if (sharding->logits == TABLE_D_MODEL)
            prose_add(&sentence, "; the matmul of the logits is sharded along d_model");
        prose_add(&sentence, ".");
    }
    say(to, &sentence);
}

static void say_remat(const RankedPlan *ranked, Why *to) {
    const Layout *layout = &ranked->plan.layout;
    const Estimate *estimate = &ranked->estimate;
    int64_t layers = stage_layers(&ranked->plan);
    char free_text[NUMBER_TEXT_SIZE], cost[NUMBER_TEXT_SIZE];
    Prose list = {0}, sentence = {0};
    for (int state = STATE_RECOMPUTED; state < STATE_COUNT; state++)
        for (int i = 0; i < ACTIVATION_COUNT; i++)
            if (layout->layers[i][state] > 0)
                prose_item(&list, ", ", "%s %s in %lld", activation_name((Activation)i),
                           activation_state_name((ActivationState)state), (long long)layout->layers[i][state]);
    double spare = estimate->memory_limit_bytes - memory_total(&estimate->memory);
    if (list.used == 0)
        prose_add(&sentence, "All activations of the %lld layers are saved", (long long)layers);
    else
        prose_add(&sentence, "To fit in HBM, these activations of the %lld layers are not saved: %s", (long long)layers,
                  list.text);
    if (estimate->recompute_seconds > 1e-6 * estimate->time.seconds)
        prose_add(&sentence, "; recomputation takes %s a step", number_time(estimate->recompute_seconds, cost));
    if (estimate->time.pcie_seconds > 0)
        prose_add(&sentence, "; offloading keeps PCIe busy for %s a step",
                  number_time(estimate->time.pcie_seconds, cost));
    if (estimate->time.host_lane_seconds > 0)
        prose_add(&sentence, ", and the network its lane for %s", number_time(estimate->time.host_lane_seconds, cost));
    prose_add(&sentence, "; %s of HBM remain free.", number_bytes(spare, free_text));
    say(to, &sentence);
}

static void say_host(const RankedPlan *ranked, Why *to) {
    if (!ranked->plan.knobs.offload_optimizer) return;
    char seconds[NUMBER_TEXT_SIZE];
    Prose sentence = {0};
    prose_add(&sentence, "The optimizer state is kept in host memory as far as it fits; its update ");
    prose_add(&sentence,
              ranked->estimate.updates_on_cpu ? "by the host's CPUs takes %s a step." : "waits %s a step for PCIe.",
              number_time(ranked->estimate.time.optimizer_seconds, seconds));
    say(to, &sentence);
}

static void say_pipeline(const RankedPlan *ranked, Why *to) {
    const Knobs *knobs = &ranked->plan.knobs;
    const StepTime *time = &ranked->estimate.time;
    if (ranked->plan.degrees.of[ROLE_PIPELINE] <= 1) return;
    char share[NUMBER_TEXT_SIZE];
    Prose sentence = {0};
    prose_add(&sentence, "%lld microbatches run through %lld stages (%s", (long long)knobs->microbatches,
              (long long)ranked->plan.degrees.of[ROLE_PIPELINE], schedule_name(knobs->schedule));
    if (knobs->virtual_stages > 1) prose_add(&sentence, ", %lld chunks each", (long long)knobs->virtual_stages);
    prose_add(&sentence, "); the bubble is %s of the step.", share_text(time->bubble_seconds / time->seconds, share));
    say(to, &sentence);
}

static void say_padding(const RankedPlan *ranked, Why *to) {
    char kinds[WORDS_SIZE];
    if (ranked->padding == 0) return;
    Prose sentence = {0};
    prose_add(
        &sentence,
        "Some sizes do not divide, so the plan pads: %s. Times and bytes include the padding; the FLOPs of MFU do not.",
        padding_text(ranked->padding, kinds));
    say(to, &sentence);
}

void report_why(const RankedPlan *ranked, Why *out) {
    _Static_assert((int)ROLE_COUNT + 6 <= (int)WHY_MAX, "sentences of a plan");
    static const Role ORDER[ROLE_COUNT] = {ROLE_TENSOR, ROLE_EXPERT, ROLE_SEQUENCE,
                                           ROLE_FSDP,   ROLE_DATA,   ROLE_PIPELINE};
    out->count = 0;
    for (int i = 0; i < ROLE_COUNT; i++) say_role(ranked, ORDER[i], out);
    say_bound(ranked, out);
    say_pipeline(ranked, out);
    say_sharding(&ranked->plan, out);
    say_remat(ranked, out);
    say_host(ranked, out);
    say_padding(ranked, out);
}

/* One cost may have two names: weights are gathered over fsdp, or over the roles that replace it. */
static const char *pair_name(const char *name) {
    if (strcmp(name, "weights") == 0) return "fsdp";
    return strcmp(name, "PCIe, waits") == 0 ? "waits" : name;
}

int term_pairs(const RankedPlan *first, const RankedPlan *other, TermPair pairs[2 * TERMS_MAX]) {
    Term a[TERMS_MAX], b[TERMS_MAX];
    int a_count = step_terms(&first->estimate, &first->plan.degrees, a), count = 0;
    int b_count = step_terms(&other->estimate, &other->plan.degrees, b);
    double scale = (double)other->work.sequences * (double)other->work.seq /
                   ((double)first->work.sequences * (double)first->work.seq);
    for (int i = 0; i < a_count; i++) pairs[count++] = (TermPair){pair_name(a[i].name), a[i].seconds * scale, 0};
    for (int i = 0; i < b_count; i++) {
        int at = 0;
        while (at < count && strcmp(pairs[at].name, pair_name(b[i].name)) != 0) at++;
        if (at == count) pairs[count++] = (TermPair){pair_name(b[i].name), 0, 0};
        pairs[at].second += b[i].seconds;
    }
    return count;
}

const char *term_phrase(const char *name) {
    static const struct {
        const char *name, *phrase;
    } PHRASES[] = {
        {"matmul", "matmuls"},
        {"recompute", "recomputation"},
        {"elementwise", "elementwise work"},
        {"waits", "communication that cannot be overlapped"},
        {"optimizer", "the optimizer"},
        {"other", "fixed overheads"},
        {"tensor", "exposed tensor communication"},
        {"sequence", "exposed sequence communication"},
        {"expert", "exposed expert communication"},
        {"pipeline", "exposed pipeline communication"},
        {"fsdp", "exposed gathers and reductions of weights"},
        {"data", "exposed data communication"},
        {"bubble", "the bubble"},
    };
    for (size_t i = 0; i < COUNT_OF(PHRASES); i++)
        if (strcmp(PHRASES[i].name, name) == 0) return PHRASES[i].phrase;
    return name;
}

/* Why the first of two tied plans stands before the other though that is faster. */
static void add_tie(const RankedPlan *first, const RankedPlan *other, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    bool less;
    prose_add(out, "it is faster by less than the model knows; ");
    switch (tie_reason(first, other, &less)) {
    case TIE_BY_ODD:
        prose_add(out, "plan 1 is run by more people: this one has ");
        odd_words(other->odd, out);
        prose_add(out, ".");
        break;
    case TIE_BY_UNMEASURED:
        prose_add(out, "of figures that no run has measured plan 1 leans on %d, and this one on %d.",
                  first->doubt.unmeasured_figures, other->doubt.unmeasured_figures);
        break;
    case TIE_BY_OPTIMIZER:
        prose_add(out, "plan 1 keeps the optimizer's state in HBM.");
        break;
    case TIE_BY_HOST:
        prose_add(out, "plan 1 keeps less on the host.");
        break;
    case TIE_BY_HBM:
        prose_add(out, "plan 1 leaves more HBM free: it uses %s, and this one %s.",
                  number_bytes(memory_total(&first->estimate.memory), a),
                  number_bytes(memory_total(&other->estimate.memory), b));
        break;
    case TIE_BY_ROLES:
        prose_add(out, "plan 1 is simpler, with fewer roles.");
        break;
    default:
        prose_add(out, "plan 1 is simpler, with fewer stages.");
        break;
    }
}

void report_why_not(const RankedPlan *first, const RankedPlan *other, Prose *out) {
    if (other->odd && other->seconds < first->seconds) {
        prose_add(out, "it is %.1f%% faster, but odd: ", 100 * (1 - other->seconds / first->seconds));
        odd_words(other->odd, out);
        prose_add(out, ".");
        return;
    }
    if (other->ranked_seconds < first->ranked_seconds) {
        add_tie(first, other, out);
        return;
    }
    TermPair pairs[2 * TERMS_MAX] = {{0}};
    int count = term_pairs(first, other, pairs);
    const TermPair *worst = &pairs[0], *best = &pairs[0];
    for (int i = 1; i < count; i++) {
        double change = pairs[i].second - pairs[i].first;
        if (change > worst->second - worst->first) worst = &pairs[i];
        if (change < best->second - best->first) best = &pairs[i];
    }
    double lost = worst->second - worst->first, won = best->first - best->second;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    if (!(lost > 1e-9 * other->estimate.time.seconds)) {
        prose_add(out, "no part of its step is longer; the tie rule (memory headroom, then degrees) ranks it lower.");
        return;
    }
    if (worst->first > 0)
        prose_add(out, "it spends %s on %s, while plan 1 spends %s", step_text(worst->second, a),
                  term_phrase(worst->name), step_text(worst->first, b));
    else
        prose_add(out, "it spends %s on %s, while plan 1 spends none", step_text(worst->second, a),
                  term_phrase(worst->name));
    if (won > 0.01 * lost)
        prose_add(out, "; saving %s on %s does not make up for that", step_text(won, c), term_phrase(best->name));
    prose_add(out, ".");
}
