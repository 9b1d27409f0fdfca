/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/compare_to_best.h"

#include "base/util.h"
#include "cost/plan/knobs.h"
#include "mesh/factorization.h"
#include "search/answer/contradiction.h"
#include "search/report/side_searches.h"

#include <stdlib.h>
#include <string.h>

enum { ASKED_AT_ONCE = 8 }; /* report_ask_all() */
static const double GAIN_LEAST = 1e-6;

const char *change_kind_name(ChangeKind kind) {
    static const char *const NAMES[] = {"knob", "remat", "placement", "degrees"};
    return NAMES[kind];
}

/* ---- what is tried ---- */

#define BIT(knob) ((KnobSet)1 << (knob))

/* Knobs that are one decision and change together. */
static const KnobSet TOGETHER[] = {
    BIT(KNOB_MICROBATCHES) | BIT(KNOB_MICROBATCH_SEQUENCES),
    BIT(KNOB_SCHEDULE) | BIT(KNOB_VIRTUAL_STAGES) | BIT(KNOB_STAGES),
    BIT(KNOB_VIRTUAL_STAGES) | BIT(KNOB_STAGES),
    BIT(KNOB_ZERO_STAGE),
    BIT(KNOB_CONTEXT_METHOD) | BIT(KNOB_ULYSSES),
    BIT(KNOB_REGATHER),
    BIT(KNOB_SEQUENCE_PARAMETERS),
    BIT(KNOB_TENSOR_OVERLAP),
    BIT(KNOB_OFFLOAD_OPTIMIZER),
    BIT(KNOB_FOLDED_EXPERT) | BIT(KNOB_FOLDED_EXPERT_TENSOR),
};

/* The knobs that cannot stay when the degree of a role changes: those that belong to the role alone, if it comes or
 * goes, and those that its degree is a part of. The others stay as they are: what they would gain is another change. */
static KnobSet knobs_of_role(Role role, bool comes_or_goes) {
    KnobSet always = role == ROLE_SEQUENCE   ? BIT(KNOB_ULYSSES)
                     : role == ROLE_PIPELINE ? BIT(KNOB_VIRTUAL_STAGES) | BIT(KNOB_STAGES)
                     : role == ROLE_EXPERT   ? BIT(KNOB_FOLDED_EXPERT) | BIT(KNOB_FOLDED_EXPERT_TENSOR)
                                             : BIT(KNOB_FOLDED_EXPERT_TENSOR);
    if (!comes_or_goes) return always;
    switch (role) {
    case ROLE_TENSOR:
        return always | BIT(KNOB_TENSOR_OVERLAP);
    case ROLE_SEQUENCE:
        return always | BIT(KNOB_REGATHER) | BIT(KNOB_ZERO_STAGE) | BIT(KNOB_CONTEXT_METHOD) |
               BIT(KNOB_SEQUENCE_PARAMETERS);
    case ROLE_DATA:
        return always | BIT(KNOB_ZERO_STAGE);
    case ROLE_PIPELINE:
        return always | BIT(KNOB_SCHEDULE) | BIT(KNOB_MICROBATCHES) | BIT(KNOB_MICROBATCH_SEQUENCES);
    default:
        return always | BIT(KNOB_REGATHER);
    }
}

/* Microbatches keep their size if it still divides. */
static KnobSet knobs_of_batch(const RankedPlan *here, const Degrees *degrees) {
    int64_t replicas = degrees_replicas(degrees), of_one = here->plan.knobs.microbatch_sequences;
    if (replicas == degrees_replicas(&here->plan.degrees)) return 0;
    bool divides = here->work.sequences % replicas == 0 && here->work.sequences / replicas % of_one == 0;
    return BIT(KNOB_MICROBATCHES) | (divides ? 0 : BIT(KNOB_MICROBATCH_SEQUENCES));
}

typedef struct {
    ChangeKind kind;
    Degrees degrees;
    KnobSet open;
} Trial;

/* Writes the request for the plan with the trial's changes, all else required. False means that there are too many
 * conditions together with those of --require. */
static bool trial_request(const Request *open, const RematRule *remat, const RankedPlan *here, const Trial *trial,
                          Request *out) {
    request_copy(open, out);
    out->question.machine = here->machine;
    out->space.max_idle = 0;
    out->question.work = here->work;
    out->space.batch_tolerance = 0;
    if (trial->kind != CHANGE_REMAT) out->question.remat = *remat;
    if (!request_require(&trial->degrees, &here->plan.knobs, trial->open, out)) return false;
    if (trial->kind != CHANGE_PLACEMENT && trial->kind != CHANGE_DEGREES) request_pin(here, out);
    return true;
}

/* Whether a factor may move to the role: experts need a mixture, and no folded grid may be present. */
static bool may_grow(const Request *open, const RankedPlan *here, Role role) {
    if (!(open->space.roles >> role & 1)) return false;
    return role != ROLE_EXPERT || here->plan.knobs.methods.grid.expert == 0;
}

static int list_trials(const Request *open, const RematRule *remat, const RankedPlan *here, Trial trials[CHANGES_MAX]) {
    _Static_assert(COUNT_OF(TOGETHER) + 2 + ROLE_COUNT * (ROLE_COUNT - 1) <= CHANGES_MAX, "trials of one plan");
    int count = 0;
    const Degrees *degrees = &here->plan.degrees;
    for (size_t i = 0; i < COUNT_OF(TOGETHER); i++)
        trials[count++] = (Trial){.kind = CHANGE_KNOB, .degrees = *degrees, .open = TOGETHER[i]};
    const RematRule *best = &open->question.remat;
    if (remat->required && !(best->required && best->layers == remat->layers &&
                             memcmp(best->state, remat->state, sizeof remat->state) == 0))
        trials[count++] = (Trial){.kind = CHANGE_REMAT, .degrees = *degrees};
    trials[count++] = (Trial){.kind = CHANGE_PLACEMENT, .degrees = *degrees};
    for (Role from = 0; from < ROLE_COUNT; from++)
        for (Role to = 0; to < ROLE_COUNT; to++) {
            PrimePower powers[PRIMES_MAX];
            if (from == to || degrees->of[from] == 1 || !may_grow(open, here, to)) continue;
            if (prime_powers(degrees->of[from], powers) == 0) continue;
            Trial trial = {.kind = CHANGE_DEGREES, .degrees = *degrees};
            trial.degrees.of[from] /= powers[0].prime;
            trial.degrees.of[to] *= powers[0].prime;
            trial.open = knobs_of_role(from, trial.degrees.of[from] == 1) | knobs_of_role(to, degrees->of[to] == 1) |
                         knobs_of_batch(here, &trial.degrees);
            trials[count++] = trial;
        }
    return count;
}

/* ---- what came of it ---- */

/* Whether a knob has no meaning for a plan because its role is absent. */
static bool is_silent(Knob knob, const Degrees *degrees) {
    bool sequence = knob == KNOB_SEQUENCE_PARAMETERS || knob == KNOB_ULYSSES;
    return sequence && degrees->of[ROLE_SEQUENCE] == 1;
}

static void knob_words(const Plan *from, const Plan *to, Prose *text) {
    for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++) {
        int64_t before = knob_setting(knob, &from->knobs), after = knob_setting(knob, &to->knobs);
        char a[KNOB_TEXT_SIZE], b[KNOB_TEXT_SIZE];
        if (before == after || is_silent(knob, &from->degrees) || is_silent(knob, &to->degrees)) continue;
        prose_item(text, ", ", "%s %s to %s", knob_name(knob), knob_text(knob, before, a), knob_text(knob, after, b));
    }
}

/* What is not kept, in how many layers where not in all: "qkv offloaded, gate_up recomputed in 20 of 80". */
static void layout_words(const Layout *layout, Prose *text) {
    const char *between = " ";
    prose_add(text, "recomputation chosen by --remat auto:");
    for (ActivationState state = STATE_RECOMPUTED; state < STATE_COUNT; state++)
        for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
            const int64_t *layers = layout->layers[a];
            int64_t all =
                layers[STATE_SAVED] + layers[STATE_RECOMPUTED] + layers[STATE_OFFLOADED] + layers[STATE_PARTLY];
            if (layers[state] == 0) continue;
            prose_add(text, "%s%s %s", between, activation_name(a), activation_state_name(state));
            if (layers[state] < all) prose_add(text, " in %lld of %lld", (long long)layers[state], (long long)all);
            between = ", ";
        }
}

/* "tensor on 4 of x, fsdp on 16 of y x 16 of z". */
static void placement_words(const RankedPlan *ranked, Prose *text) {
    const Mesh *mesh = &ranked->machine.mesh;
    for (Role role = 0; role < ROLE_COUNT; role++) {
        Prose axes = {0};
        for (int a = 0; a < mesh->axis_count; a++)
            if (ranked->plan.placement.factor[a][role] > 1)
                prose_item(&axes, " x ", "%d of %s", (int)ranked->plan.placement.factor[a][role], mesh->axes[a].name);
        if (axes.used > 0) prose_item(text, ", ", "%s on %s", role_name(role), axes.text);
    }
}

static void describe(const Request *request, const RankedPlan *here, Change *change) {
    Prose text = {0};
    char before[REMAT_TEXT_SIZE], after[REMAT_TEXT_SIZE];
    for (Role role = 0; role < ROLE_COUNT; role++)
        if (here->plan.degrees.of[role] != change->after.plan.degrees.of[role])
            prose_item(&text, ", ", "%s %lld to %lld", role_name(role), (long long)here->plan.degrees.of[role],
                       (long long)change->after.plan.degrees.of[role]);
    knob_words(&here->plan, &change->after.plan, &text);
    remat_name(&request->question.model, &here->plan.layout, before);
    remat_name(&request->question.model, &change->after.plan.layout, after);
    if (change->kind == CHANGE_REMAT && strcmp(after, "custom") != 0)
        prose_item(&text, ", ", "recomputation %s to %s", before, after);
    else if (change->kind == CHANGE_REMAT)
        layout_words(&change->after.plan.layout, &text);
    if (change->kind == CHANGE_PLACEMENT) {
        prose_add(&text, "placed: ");
        placement_words(&change->after, &text);
    }
    snprintf(change->text, sizeof change->text, "%.*s", (int)sizeof change->text - 1, text.text);
}

static int by_gain(const void *a, const void *b) {
    const Change *x = a, *y = b;
    if (x->after.ranked_seconds != y->after.ranked_seconds)
        return x->after.ranked_seconds < y->after.ranked_seconds ? -1 : 1;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->text, y->text);
}

/* Whether the change is known: it is the same plan reached from another side, or it differs in more than was meant and
 * gains no more. */
static bool known(const Change *changes, int count, const RankedPlan *after) {
    for (int i = 0; i < count; i++) {
        const Plan *other = &changes[i].after.plan;
        if (degrees_compare(&other->degrees, &after->plan.degrees) == 0 &&
            knobs_compare(&other->knobs, &after->plan.knobs) == 0 &&
            memcmp(&other->layout.sharding, &after->plan.layout.sharding, sizeof other->layout.sharding) == 0 &&
            memcmp(other->layout.layers, after->plan.layout.layers, sizeof other->layout.layers) == 0 &&
            changes[i].after.ranked_seconds == after->ranked_seconds)
            return true;
    }
    return false;
}

/* What all trials share. */
typedef struct {
    const Request *open;
    RematRule remat;     /* of the plan that changes */
    double enough;       /* ranked: what suffices */
    double seconds_left; /* of --time-limit, for all of them; below 0: no limit */
} Trying;

/* Finds the changes of `here` that gain, sorted by their gain; *tried is the number of changes tried. */
static bool try_changes(Trying *trying, const RankedPlan *here, Change changes[CHANGES_MAX], int *count, int *tried,
                        Error *error) {
    const Request *open = trying->open;
    const RematRule *remat = &trying->remat;
    Trial trials[CHANGES_MAX], of[CHANGES_MAX];
    int listed = list_trials(open, remat, here, trials), requested = 0;
    RankedPlan mine = *here;
    Report *report = calloc(1, sizeof *report);
    SideSearch *questions = report ? side_searches_new(listed, error) : NULL;
    *count = 0;
    if (!questions) {
        free(report);
        return report ? false : error_memory(error);
    }
    *report =
        (Report){.request = open, .result = {.plans = &mine, .plan_count = 1}, .seconds_left = trying->seconds_left};
    for (int i = 0; i < listed; i++) {
        questions[requested].no_slower = true;
        if (trial_request(open, remat, here, &trials[i], &questions[requested].changed)) of[requested++] = trials[i];
    }
    bool ok = true;
    for (int i = 0; i < requested && ok; i += ASKED_AT_ONCE)
        ok = report_ask_all(report, questions + i, (int)min_whole(ASKED_AT_ONCE, requested - i), error);
    for (int i = 0; i < requested && ok; i++) {
        const SideAnswer *answer = &questions[i].answer;
        if (!answer->found || answer->best.ranked_seconds > (1 - GAIN_LEAST) * here->ranked_seconds) continue;
        if (known(changes, *count, &answer->best)) continue;
        Change *change = &changes[(*count)++];
        *change = (Change){.kind = of[i].kind, .after = answer->best};
        change->suffices = change->after.ranked_seconds <= trying->enough;
        describe(open, here, change);
    }
    *tried = requested;
    trying->seconds_left = report->seconds_left;
    qsort(changes, (size_t)*count, sizeof *changes, by_gain);
    free(questions);
    free(report);
    return ok;
}

/* Walks on from the change that gains most. */
static bool walk_path(Trying *trying, Arena *arena, BestComparison *out, Error *error) {
    Change *next = ARENA_NEW(arena, Change, CHANGES_MAX);
    int count = out->change_count, tried;
    out->path = ARENA_NEW(arena, Change, PATH_MAX);
    if (!next || !out->path) return error_memory(error);
    const Change *best = out->changes;
    while (count > 0 && out->path_count < PATH_MAX) {
        const Change *step = &out->path[out->path_count];
        out->path[out->path_count++] = *best;
        if (step->suffices) break;
        if (step->kind == CHANGE_REMAT) trying->remat = trying->open->question.remat;
        if (!try_changes(trying, &step->after, next, &count, &tried, error)) return false;
        best = next;
    }
    return true;
}

/* ---- the whole ---- */

static int by_loss(const void *a, const void *b) {
    const TermPair *x = a, *y = b;
    double loss_x = x->second - x->first, loss_y = y->second - y->first;
    return loss_x != loss_y ? (loss_x > loss_y ? -1 : 1) : strcmp(x->name, y->name);
}

/* Chooses, among the changes that suffice, the one that changes least, and among equals the one that gains most. */
static void choose_smallest(BestComparison *out) {
    out->smallest = out->change_count > 0 ? 0 : -1;
    for (int i = 0; i < out->change_count; i++)
        if (out->changes[i].suffices && out->changes[i].kind < out->changes[out->smallest].kind) out->smallest = i;
}

bool compare_to_best(const Request *open, const Request *plan, const RankedPlan *here, Arena *arena,
                     BestComparison *out, Error *error) {
    Request *wide = ARENA_NEW(arena, Request, 1);
    SearchResult result;
    *out = (BestComparison){.smallest = -1, .changes = ARENA_NEW(arena, Change, CHANGES_MAX)};
    if (!wide || !out->changes) return error_memory(error);
    request_copy(open, wide);
    wide->question.offload = plan->question.offload; /* the space in which the plan stands */
    wide->control.top = COMPARE_ROWS_MAX;
    wide->control.limit_seconds =
        (1 + 2 * CONTRADICTION) * here->ranked_seconds; /* so that it finds `here`, or better */
    if (!search_run(wide, arena, &result, error) || !proof_stands(open, &result, plan, here, error)) return false;
    out->cut_short = result.certificate.proof == PROOF_GAP;
    while (out->faster < result.plan_count &&
           result.plans[out->faster].ranked_seconds < (1 - GAIN_LEAST) * here->ranked_seconds)
        out->faster++;
    out->is_best = out->faster == 0;
    if (out->is_best) return true;
    out->best = result.plans[0];
    out->behind = here->ranked_seconds / out->best.ranked_seconds - 1;
    out->term_count = term_pairs(&out->best, here, out->terms);
    qsort(out->terms, (size_t)out->term_count, sizeof out->terms[0], by_loss);
    double limit = open->control.time_limit_seconds;
    Trying trying = {.open = open,
                     .remat = plan->question.remat,
                     .enough = (1 + TIE) * out->best.ranked_seconds,
                     .seconds_left = limit > 0 ? max_real(0, limit - result.seconds) : -1};
    if (!try_changes(&trying, here, out->changes, &out->change_count, &out->tried, error)) return false;
    choose_smallest(out);
    bool suffices = out->change_count > 0 && out->changes[0].suffices;
    return suffices || walk_path(&trying, arena, out, error);
}
