/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search against a brute force that knows no bound (brute_force.h): the k best rows of all plans of small random
 * problems must be the k plans of search_run, time and identity, bit for bit. */
#include "search/bound/tuple_bound.h"
#include "search/explore/explore.h"
#include "tests/search/brute_force.h"
#include "tests/search/brute_space.h"

enum { PROBLEMS = 84 / PROBLEMS_SHARE, CHIPS_MOST = 16, SEQUENCES_MOST = 24, TOP_MAX = 10 };

/* ---- comparison ---- */

static SearchResult run(const Request *request, Arena *arena, const char *text) {
    SearchResult result;
    Error error = {0};
    cr_assert(search_run(request, arena, &result, &error), "%s: %s: %s", text, error.where, error.text);
    const Certificate *certificate = &result.certificate;
    Count pruned = 0;
    for (int i = 0; i < PRUNED_COUNT; i++) pruned += certificate->plans_pruned[i];
    cr_expect(certificate->plans_covered == certificate->plans_evaluated + pruned,
              "%s: covered is not evaluated + pruned", text);
    return result;
}

static const char *row_text(const Degrees *degrees, const Knobs *knobs, int64_t sequences, const char *machine,
                            char text[320]) {
    char notation[NOTATION_SIZE];
    snprintf(text, 320, "%s m=%lld b=%lld %s v=%lld zero=%d %s%s, %lld sequences on %s",
             plan_notation(degrees, knobs, true, notation), (long long)knobs->microbatches,
             (long long)knobs->microbatch_sequences, schedule_name(knobs->schedule), (long long)knobs->virtual_stages,
             knobs->zero_stage, context_method_name(knobs->methods.context), knobs->regather ? "" : " kept",
             (long long)sequences, machine);
    return text;
}

static bool same_plan(const RankedPlan *plan, const BestRow *row, const Machine *machine) {
    return degrees_compare(&plan->plan.degrees, &row->degrees) == 0 &&
           knobs_compare(&plan->plan.knobs, &row->knobs) == 0 && plan->work.sequences == row->sequences &&
           memcmp(&plan->machine.slice, &machine->slice, sizeof machine->slice) == 0 &&
           plan->machine.slices == machine->slices && plan->machine.nodes == machine->nodes &&
           plan->machine.mesh.devices == machine->mesh.devices;
}

/* The k plans are the k first rows: time to the last bit, and who they are. False: some rank differs. */
static bool compare(const SearchResult *result, const Brute *brute, int top, const char *text) {
    int expected = brute->count < top ? brute->count : top;
    cr_expect(result->plan_count == expected, "%s: %d plans of top %d, brute force has %d", text, result->plan_count,
              top, expected);
    for (int i = 0; i < expected && i < result->plan_count; i++) {
        const RankedPlan *plan = &result->plans[i];
        const BestRow *row = &brute->rows[i];
        char found[320], wanted[320];
        row_text(&plan->plan.degrees, &plan->plan.knobs, plan->work.sequences, plan->machine.text, found);
        row_text(&row->degrees, &row->knobs, row->sequences, brute->machines[row->machine].text, wanted);
        bool same = plan->ranked_seconds == row->seconds && same_plan(plan, row, &brute->machines[row->machine]);
        cr_expect(same, "%s: top %d, rank %d is\n  %.17g %s\nbrute force has\n  %.17g %s (%.17g bytes)", text, top,
                  i + 1, plan->ranked_seconds, found, row->seconds, wanted, row->memory);
        if (!same) return false;
        double held = memory_total(&plan->estimate.memory);
        cr_expect(fabs(held - row->memory) <= 1e-9 * row->memory, "%s: rank %d holds %.17g, brute force %.17g", text,
                  i + 1, held, row->memory);
        cr_expect(plan->equal_placements >= 1 && plan->within_one_percent >= 1,
                  "%s: rank %d does not stand behind itself", text, i + 1);
        cr_expect(plan->tied == (plan->ranked_seconds <= 1.005 * brute->rows[0].seconds), "%s: rank %d", text, i + 1);
    }
    return result->plan_count == expected;
}

/* Everything that reports show, but what the search did on its way. */
static bool equal_plans(const SearchResult *a, const SearchResult *b) {
    if (a->plan_count != b->plan_count) return false;
    for (int i = 0; i < a->plan_count; i++) {
        const RankedPlan *x = &a->plans[i], *y = &b->plans[i];
        if (x->ranked_seconds != y->ranked_seconds || degrees_compare(&x->plan.degrees, &y->plan.degrees) != 0 ||
            knobs_compare(&x->plan.knobs, &y->plan.knobs) != 0 ||
            placement_compare(&x->plan.placement, &y->plan.placement) != 0 ||
            memcmp(&x->plan.layout.sharding, &y->plan.layout.sharding, sizeof(Sharding)) != 0 ||
            memcmp(x->plan.layout.layers, y->plan.layout.layers, sizeof x->plan.layout.layers) != 0 ||
            x->work.sequences != y->work.sequences || strcmp(x->machine.text, y->machine.text) != 0 ||
            x->padding != y->padding || x->launchable_by != y->launchable_by ||
            memcmp(&x->estimate.time, &y->estimate.time, sizeof(StepTime)) != 0 ||
            memcmp(&x->estimate.memory, &y->estimate.memory, sizeof(MemoryRows)) != 0 ||
            x->equal_placements != y->equal_placements || x->within_one_percent != y->within_one_percent ||
            x->tied != y->tied)
            return false;
    }
    return true;
}

static bool equal_certificates(const Certificate *a, const Certificate *b) {
    return a->factorizations == b->factorizations && a->plans_covered == b->plans_covered &&
           a->plans_evaluated == b->plans_evaluated &&
           memcmp(a->plans_pruned, b->plans_pruned, sizeof a->plans_pruned) == 0 &&
           a->layouts_solved == b->layouts_solved && a->machines == b->machines && a->batches == b->batches &&
           a->degree_tuples == b->degree_tuples && a->degree_tuples_opened == b->degree_tuples_opened &&
           a->proof == b->proof && a->gap == b->gap && a->best_bound_seconds == b->best_bound_seconds;
}

/* ---- problems ---- */

/* Memory, from plenty to nothing, measured in what the best plan holds that may hold anything. False: the space is too
 * large to try, or it is empty (a few such are kept). */
static bool choose_memory(Request *request, Draw *draw, Arena *arena, const char *text) {
    request->control.top = 1;
    SearchResult result = run(request, arena, text);
    if (result.certificate.plans_covered > 20000 || (result.plan_count == 0 && draw_chance(draw, 0.9))) return false;
    static const double SHARES[] = {NO_LIMIT, 1.1, 0.98, 0.9, 0.8, 0.65, 0.5, 0.1};
    double share = SHARES[draw_below(draw, COUNT_OF(SHARES))];
    if (result.plan_count > 0)
        set_hbm(request, share * memory_total(&result.plans[0].estimate.memory) / (1 - request->question.hbm_reserve));
    return true;
}

static bool may_fold(const Request *request) {
    const Mesh *mesh = &request->question.machine.mesh;
    for (int i = 0; i < mesh->axis_count; i++)
        if (mesh->axes[i].kind != AXIS_SWITCH) return false;
    return is_mixture(&request->question.model);
}

/* Most problems have one of these for certain: idle shapes, several batches, experts, experts that may fold. */
static bool has_feature(const Request *request, int number, Arena *arena) {
    const Machine *machines;
    switch (number % 6) {
    case 0:
        return may_fold(request);
    case 1:
        return brute_machines(request, arena, &machines) > 1;
    case 3:
        return request->space.batch_tolerance > 0;
    case 5:
        return is_mixture(&request->question.model);
    default:
        return true;
    }
}

/* The next seed whose problem has the feature of its number and is small enough. */
static Request problem_request(uint64_t *seed, int number, const Catalog *catalog, Arena *arena, char text[400]) {
    for (;; arena_free(arena)) {
        char words[320];
        Draw draw = draw_seeded(1000 + *seed);
        Request request = random_request(&draw, catalog, CHIPS_MOST, SEQUENCES_MOST, arena);
        snprintf(text, 400, "problem %llu (%s)", (unsigned long long)*seed, problem_text(&request, words));
        ++*seed;
        if (has_feature(&request, number, arena) && choose_memory(&request, &draw, arena, text)) return request;
    }
}

static struct {
    int folded, schedules, ulysses, balanced, overlapped, replicating; /* among the rows of brute force */
    int feasible, infeasible, glpk, idle, batches, mixtures, launchers, unplaced, nestings, moved_batch, moved_machine,
        recomputed, offloaded;
    int cut_by_wrong_bound;
    int64_t plans;
} seen;

static void note_result(const Request *request, const SearchResult *result, const Brute *brute) {
    seen.plans += brute->plans;
    seen.glpk += brute->by_glpk > 0;
    seen.idle += result->certificate.machines > 1;
    seen.batches += result->certificate.batches > 1;
    seen.mixtures += is_mixture(&request->question.model);
    seen.launchers += request->space.launchers != 0;
    seen.unplaced += brute->unplaced > 0;
    seen.nestings += strcmp(request->asked.nesting, "default") != 0;
    for (int i = 0; i < brute->count; i++) {
        const Knobs *knobs = &brute->rows[i].knobs;
        seen.folded += knobs->methods.grid.expert > 0;
        seen.schedules |= 1 << knobs->schedule;
        seen.ulysses += knobs->methods.ulysses > 1;
        seen.balanced += knobs->stages == STAGES_BALANCED;
        seen.overlapped += knobs->methods.tensor_overlap;
        seen.replicating += knobs->methods.sequence_replicates;
    }
    *(result->plan_count > 0 ? &seen.feasible : &seen.infeasible) += 1;
    if (result->plan_count == 0) return;
    seen.moved_batch += result->plans[0].work.sequences != request->question.work.sequences;
    for (int i = 0; i < result->plan_count; i++) seen.offloaded += result->plans[i].plan.knobs.offload_optimizer;
    seen.moved_machine += result->plans[0].machine.mesh.chips != request->question.machine.mesh.chips;
    char remat[REMAT_TEXT_SIZE];
    seen.recomputed += strcmp(remat_name(&request->question.model, &result->plans[0].plan.layout, remat), "none") != 0;
}

/* ---- a wrong bound is caught ---- */

typedef struct {
    double bound;
    Degrees degrees;
} Bounded;

static int compare_bounds(const void *left, const void *right) {
    const Bounded *a = left, *b = right;
    int order = compare_reals(a->bound, b->bound);
    return order != 0 ? order : degrees_compare(&a->degrees, &b->degrees);
}

/* Whether a walk by rising bound finds the k first rows of the brute force: it opens tuples until a bound x `factor` is
 * above the k-th best so far. One machine and one batch. */
static bool walk_finds(const Request *request, const Brute *brute, int top, double factor) {
    static Bounded tuples[ROWS_MAX];
    static bool open[ROWS_MAX];
    int count = 0;
    Arena arena = {0};
    Mesh mesh = profile_mesh(&request->question.profile, &request->question.machine.mesh);
    CostContext setting = request_cost_context(request);
    Offers offers = offers_of(&setting, &mesh, request->space.schedules);
    LowerBoundRates *least = lower_bound_rates_new(&mesh, &arena);
    TotalsCache *cache = totals_cache_new();
    Bounds bounds = {.context = &setting, .offers = &offers, .padding = request->space.padding, .cache = cache};
    for (int i = 0; i < brute->count; i++) {
        bool known = false;
        for (int j = 0; j < count && !known; j++)
            known = degrees_compare(&tuples[j].degrees, &brute->rows[i].degrees) == 0;
        if (!known)
            tuples[count++] =
                (Bounded){tuple_bound(&bounds, least, &brute->rows[i].degrees).seconds, brute->rows[i].degrees};
    }
    totals_cache_free(cache);
    arena_free(&arena);
    qsort(tuples, (size_t)count, sizeof(Bounded), compare_bounds);
    memset(open, 0, sizeof open);
    for (int t = 0; t < count; t++) {
        double threshold = INFINITY;
        for (int i = 0, found = 0; i < brute->count && found < top; i++) /* rows are sorted: the k-th open one */
            if (open[i] && ++found == top) threshold = brute->rows[i].seconds;
        if (tuples[t].bound * factor > threshold) break;
        for (int i = 0; i < brute->count; i++)
            open[i] = open[i] || degrees_compare(&tuples[t].degrees, &brute->rows[i].degrees) == 0;
    }
    for (int i = 0; i < top && i < brute->count; i++)
        if (!open[i]) return false;
    return true;
}

static void check_wrong_bound(const Request *request, const SearchResult *result, const Brute *brute,
                              const char *text) {
    if (result->certificate.machines > 1 || request->space.batch_tolerance > 0) return;
    for (int top = 1; top <= TOP_MAX; top++) {
        cr_expect(walk_finds(request, brute, top, 1), "%s: top %d is not found by the bounds as they are", text, top);
        seen.cut_by_wrong_bound += !walk_finds(request, brute, top, 1.01);
    }
}

/* ---- laws of one problem ---- */

/* When nothing fits for want of memory, a byte less than what is said to be needed does not suffice either. */
static void check_shortfall(const Request *request, const SearchResult *result, const char *text) {
    Request roomy = *request;
    Arena arena = {0};
    set_hbm(&roomy, 1e30);
    SearchResult all = run(&roomy, &arena, text);
    const Shortfall *shortfall = &result->shortfall;
    cr_expect(all.plan_count == 0 || shortfall->known, "%s: memory is what is missing, and that is not said", text);
    if (shortfall->known) {
        double limit = request_cost_context(request).chip->hbm_bytes.value * (1 - request->question.hbm_reserve);
        cr_expect(fabs(shortfall->limit_bytes - limit) <= 1e-12 * limit &&
                      shortfall->needed_bytes > shortfall->limit_bytes,
                  "%s: needs %.17g of %.17g", text, shortfall->needed_bytes, shortfall->limit_bytes);
        set_hbm(&roomy, shortfall->needed_bytes * (1 - 1e-9) / (1 - request->question.hbm_reserve));
        roomy.question.chip.host_bytes = request->question.chip.host_bytes; /* what is needed is said of this host */
        cr_expect(run(&roomy, &arena, text).plan_count == 0, "%s: something fits with less than what is needed", text);
    }
    arena_free(&arena);
}

/* Plans of the first row's degrees and schedule with a relaxed time within 1% of it, over all knobs and placements. */
static void check_within(const Request *request, const RankedPlan *plan, const char *text) {
    static Knobs knobs[KNOBS_MAX];
    Arena arena = {0};
    Error error = {0};
    CostContext setting = request_cost_context(request);
    setting.work = plan->work;
    Mesh mesh = profile_mesh(&request->question.profile, &plan->machine.mesh);
    NestedMesh nested_mesh = {&mesh, request->space.nesting};
    LowerBoundRates *table = lower_bound_rates_new(&mesh, &arena);
    int64_t count = brute_knobs(request, &mesh, &plan->plan.degrees, plan->work.sequences, knobs), placement_total;
    Placement *placements;
    Count within = 0;
    cr_assert(placements_enumerate(&mesh, &plan->plan.degrees, &arena, &placements, &placement_total, &error));
    for (int64_t i = 0; i < count; i++) {
        Plan other = {.degrees = plan->plan.degrees, .knobs = knobs[i]};
        Shard shard;
        LayoutGraph graph;
        Relaxation relaxation;
        Rates least;
        LauncherSet able_launchers;
        if (!knobs_compete(&knobs[i], &plan->plan.knobs) ||
            !admitted(request, &setting, &plan->machine.mesh, &other, &shard, &able_launchers))
            continue;
        lower_bound_rates_of(table, &other.degrees, &knobs[i].methods, &least);
        cr_assert(layout_graph(&setting, &shard, &knobs[i], &arena, &graph, &error));
        layout_relax(&graph, &least, &relaxation);
        for (int64_t j = 0; j < placement_total && relaxation.fits; j++) {
            Rates rates;
            if (!placed(&nested_mesh, &setting, able_launchers, &placements[j])) continue;
            rates_of_placement(&nested_mesh, &placements[j], &knobs[i].methods, &rates);
            double scale = (double)request->question.work.sequences / (double)plan->work.sequences;
            within += relaxed_seconds(&graph.rule, &relaxation, &rates) * scale <= 1.01 * plan->ranked_seconds;
        }
    }
    cr_expect(within == plan->within_one_percent, "%s: %lld within 1%%, counted %lld", text,
              (long long)plan->within_one_percent, (long long)within);
    arena_free(&arena);
}

static void check_exhaustive(Request request, const SearchResult *best, const char *text) {
    Arena arena = {0};
    request.control.brute_force = true;
    SearchResult all = run(&request, &arena, text);
    cr_expect(equal_plans(&all, best), "%s: --brute-force finds other plans", text);
    cr_expect(all.certificate.plans_pruned[PRUNED_DEGREE_BOUND] == 0 &&
                  all.certificate.plans_pruned[PRUNED_KNOB_BOUND] == 0 &&
                  all.certificate.plans_covered == best->certificate.plans_covered &&
                  all.certificate.degree_tuples_opened >= best->certificate.degree_tuples_opened,
              "%s: --brute-force cuts by bounds", text);
    arena_free(&arena);
}

static void check_threads(Request request, const SearchResult *one, const char *text) {
    static const int THREADS[] = {2, 7};
    for (size_t i = 0; i < COUNT_OF(THREADS); i++) {
        Arena arena = {0};
        request.control.threads = THREADS[i];
        SearchResult more = run(&request, &arena, text);
        cr_expect(equal_plans(&more, one), "%s: %d threads find other plans", text, THREADS[i]);
        cr_expect(equal_certificates(&more.certificate, &one->certificate), "%s: %d threads count otherwise", text,
                  THREADS[i]);
        arena_free(&arena);
    }
}

static void check_problem(const Catalog *catalog, uint64_t *seed, int number) {
    static Brute brute;
    static const int TOPS[] = {1, 3, TOP_MAX};
    Arena arena = {0};
    char text[400];
    Request request = problem_request(seed, number, catalog, &arena, text);
    brute_run(&request, &arena, &brute);
    SearchResult result;
    for (size_t i = 0; i < COUNT_OF(TOPS); i++) {
        request.control.top = TOPS[i];
        result = run(&request, &arena, text);
        compare(&result, &brute, TOPS[i], text);
        cr_expect(result.certificate.proof == PROOF_OPTIMAL && result.certificate.gap == 0, "%s: no proof", text);
        cr_expect(brute.count == 0 || result.certificate.best_bound_seconds == 0 ||
                      result.certificate.best_bound_seconds >= brute.rows[0].seconds * (1 - 1e-12),
                  "%s: the least bound %.17g is below the best %.17g", text, result.certificate.best_bound_seconds,
                  brute.rows[0].seconds);
    }
    note_result(&request, &result, &brute);
    if (result.plan_count == 0)
        check_shortfall(&request, &result, text);
    else
        check_within(&request, &result.plans[0], text);
    check_wrong_bound(&request, &result, &brute, text);
    check_exhaustive(request, &result, text);
    if (number % 4 == 0) check_threads(request, &result, text);
    arena_free(&arena);
}

Test(search, finds_what_brute_force_finds) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    uint64_t seed = 0;
    for (int i = 0; i < PROBLEMS; i++) check_problem(&catalog, &seed, i);
    arena_free(&arena);
    if (PROBLEMS_SHARE > 1) return; /* fewer problems have less of everything */
    cr_expect(seen.feasible > 30 && seen.infeasible > 5 && seen.glpk > 15 && seen.recomputed > 10 && seen.plans > 20000,
              "%d problems with a plan, %d without, %d with layouts by GLPK, %d that recompute, %lld plans",
              seen.feasible, seen.infeasible, seen.glpk, seen.recomputed, (long long)seen.plans);
    cr_expect(seen.idle >= 10 && seen.batches >= 10 && seen.mixtures >= 10 && seen.launchers > 0 &&
                  seen.moved_batch > 0 && seen.moved_machine > 0 && seen.unplaced > 0 && seen.nestings >= 10 &&
                  seen.offloaded > 0,
              "%d idle, %d batches, %d mixtures, %d launchers, %d that could not place all, %d nestings, %d moved "
              "batches, %d moved machines",
              seen.idle, seen.batches, seen.mixtures, seen.launchers, seen.unplaced, seen.nestings, seen.moved_batch,
              seen.moved_machine);
    cr_expect(seen.folded > 50 && seen.schedules == (1 << SCHEDULE_COUNT) - 1 && seen.ulysses > 50 &&
                  seen.balanced > 50 && seen.overlapped > 20 && seen.replicating > 20,
              "%d rows with folded experts, schedules %x, %d Ulysses, %d balanced, %d overlapped, %d replicating",
              seen.folded, (unsigned)seen.schedules, seen.ulysses, seen.balanced, seen.overlapped, seen.replicating);
    cr_expect(seen.cut_by_wrong_bound > 0, "a bound that is 1%% too high would not be noticed");
}

/* ---- limits ---- */

/* Ended early, the search says so, and what it says still holds: nothing is faster than what it has found and what it
 * left open. */
Test(search, time_limit) {
    static const double LIMITS[] = {1e-9, 1e-4, 1e-3, 5e-3, 2e-2, 3600};
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int gaps = 0, proofs = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        Arena own = {0};
        char text[400];
        Draw draw = draw_seeded(9000 + seed);
        Request request = random_request(&draw, &catalog, 32, SEQUENCES_MOST, &own);
        problem_text(&request, text);
        SearchResult all = run(&request, &own, text);
        if (all.plan_count > 0)
            set_hbm(&request, 0.95 * memory_total(&all.plans[0].estimate.memory) / (1 - request.question.hbm_reserve));
        all = run(&request, &own, text);
        for (size_t i = 0; i < COUNT_OF(LIMITS) && all.plan_count > 0; i++) {
            request.control.time_limit_seconds = LIMITS[i];
            SearchResult some = run(&request, &own, text);
            const Certificate *certificate = &some.certificate;
            double best = all.plans[0].ranked_seconds,
                   found = some.plan_count > 0 ? some.plans[0].ranked_seconds : INFINITY;
            cr_expect(certificate->plans_covered == all.certificate.plans_covered, "%s: %g s: the space itself changed",
                      text, LIMITS[i]);
            if (certificate->proof == PROOF_OPTIMAL) {
                proofs++;
                cr_expect(equal_plans(&some, &all) && certificate->gap == 0, "%s: %g s: a proof, but of other plans",
                          text, LIMITS[i]);
                continue;
            }
            gaps++;
            cr_expect(i + 1 < COUNT_OF(LIMITS), "%s: no limit was reached", text);
            cr_expect(certificate->gap >= 0 && certificate->gap <= 1 && certificate->best_bound_seconds > 0,
                      "%s: %g s: gap %g, bound %g", text, LIMITS[i], certificate->gap, certificate->best_bound_seconds);
            cr_expect(min_real(found, certificate->best_bound_seconds) <= best && found >= best,
                      "%s: %g s: found %.17g, nothing below %.17g, best is %.17g", text, LIMITS[i], found,
                      certificate->best_bound_seconds, best);
            if (some.plan_count == request.control.top) {
                double last = some.plans[request.control.top - 1].ranked_seconds,
                       gap = max_real(0, (last - certificate->best_bound_seconds) / last);
                cr_expect(fabs(certificate->gap - gap) < 1e-12, "%s: %g s: gap %.17g, should be %.17g", text, LIMITS[i],
                          certificate->gap, gap);
            }
            cr_expect(!some.shortfall.known, "%s: %g s: time was short, not memory", text, LIMITS[i]);
            if (i > 0) continue;
            cr_expect(certificate->gap == 1 && some.plan_count == 0 && certificate->best_bound_seconds <= best,
                      "%s: at once: gap %g, bound %.17g, best %.17g", text, certificate->gap,
                      certificate->best_bound_seconds, best);
        }
        cr_expect(all.plan_count == 0 || request.control.time_limit_seconds == LIMITS[COUNT_OF(LIMITS) - 1]);
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(gaps >= 6 && proofs >= 6, "%d gaps, %d proofs", gaps, proofs);
}

/* An interrupt that comes when it has been asked for this number of times. */
static bool comes_after(void *context) { return __atomic_sub_fetch((int64_t *)context, 1, __ATOMIC_RELAXED) < 0; }

static void check_interrupted(const Request *request, const SearchResult *all, const SearchResult *some,
                              const char *text) {
    const Certificate *certificate = &some->certificate;
    double best = all->plans[0].ranked_seconds, found = some->plan_count > 0 ? some->plans[0].ranked_seconds : INFINITY;
    Count sum = certificate->plans_evaluated;
    for (int i = 0; i < PRUNED_COUNT; i++) sum += certificate->plans_pruned[i];
    cr_expect(sum == certificate->plans_covered, "%s: the plans do not add up", text);
    cr_expect(some->interrupted, "%s: it does not say so", text);
    if (some->ledger || certificate->proof == PROOF_OPTIMAL) { /* the interrupt came while the answer was written */
        cr_expect(found == best, "%s: a proof, but of another plan", text);
        return;
    }
    cr_expect(min_real(found, certificate->best_bound_seconds) <= best && found >= best,
              "%s: found %.17g, nothing below %.17g, best is %.17g", text, found, certificate->best_bound_seconds,
              best);
    cr_expect(certificate->gap >= 0 && certificate->gap <= 1, "%s: gap %g", text, certificate->gap);
    if (some->machines_not_counted == 0)
        cr_expect(certificate->plans_covered == all->certificate.plans_covered, "%s: the space itself changed", text);
    cr_expect(some->plan_count <= request->control.top);
}

/* Interrupted at any moment, the search says so, its plans add up, and what it says holds. */
Test(search, interrupted) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int cut = 0, with_plans = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        Arena own = {0};
        char text[400];
        Draw draw = draw_seeded(9000 + seed);
        Request request = random_request(&draw, &catalog, 32, SEQUENCES_MOST, &own);
        problem_text(&request, text);
        SearchResult all = run(&request, &own, text);
        request.control.keep_ledger = seed % 2 == 0;
        for (int64_t after = 1; after < INT64_C(1) << 24 && all.plan_count > 0; after *= 7) {
            int64_t asked = after;
            request.control.world = (World){.context = &asked, .interrupted = comes_after};
            SearchResult some = run(&request, &own, text);
            if (asked >= 0) break; /* the search ended before */
            check_interrupted(&request, &all, &some, text);
            cut++;
            with_plans += some.plan_count > 0;
        }
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(cut >= 10 && with_plans >= 3, "%d interrupted, %d of them with plans", cut, with_plans);
}
