/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every bound of the search stands below what it bounds: for random plans of random problems
 *     tuple_bound <= what context methods have in common, with one's own beside it <= family_bound <= knob_bound
 *                 <= relaxed at the least rates <= at the plan's rates <= best layout = its estimate,
 *     and at the plan's rates family <= knobs <= relaxed,
 * and what a bound calls too large, indivisible or unusable has no layout. Where the search cuts by comparing with a
 * solved time, not one unit in the last place is forgiven; between two bounds, whose sums differ in order, 1e-11 is.
 * And the placements in reach of a bound are those, all of them, that have it within the threshold. */
#include "cost/played.h"
#include "search/engine/bound/batch.h"
#include "search/engine/bound/knob_bound.h"
#include "search/engine/bound/lower_rates.h"
#include "search/engine/bound/tuple_bound.h"
#include "search/engine/explore/frontier.h"
#include "search/engine/layout/layout.h"
#include "search/engine/space/knob_space.h"
#include "tests/sanitizer.h"
#include "tests/search/brute_space.h"
#include "tests/search/random_problem.h"

enum { PROBLEMS = 500 / PROBLEMS_SHARE, TUPLES = 6, KNOBS = 4, PLACEMENTS = 3 };

static const double OTHER_ORDER = 1 + 1e-11;

/* How much of the space the draws reached, so that a test that tests nothing fails. */
static struct {
    int plans, solved, tight, infeasible, mixtures, forbidden, unusable, too_large, knob_too_large, close, reached,
        left, contexts, inverted;
} seen;

/* How often a bound that is a thousandth too high would have failed here: each has to, or this test says nothing of
 * it. */
enum {
    SHARP_TUPLE,
    SHARP_ALL_SIZES,
    SHARP_SIZES,
    SHARP_FAMILY,
    SHARP_KNOBS,
    SHARP_FAMILY_PLACED,
    SHARP_KNOBS_PLACED,
    SHARP_RELAXED_LEAST,
    SHARP_RELAXED,
    SHARP_SIZES_BYTES,
    SHARP_FAMILY_BYTES,
    SHARP_KNOBS_BYTES,
    SHARP_COUNT
};
static int sharp[SHARP_COUNT];

static void note_sharp(int which, double bound, double bounded) { sharp[which] += bound * 1.001 > bounded; }

typedef struct {
    const Request *request;
    const Mesh *mesh; /* the profile's rates */
    NestedMesh nested_mesh;
    KnobDomain domain;
    const LowerBoundRates *least;
    TotalsCache *cache;
    ExploreCache *walks;
    const PlacementTable *table;
    int site;
    Arena *arena;
    const char *text;
} Problem;

static Bounds problem_bounds(const Problem *problem, const CostContext *setting) {
    return (Bounds){.context = setting,
                    .domain = &problem->domain,
                    .padding = problem->request->space.padding,
                    .cache = problem->cache};
}

static Shard plan_shard(const Problem *problem, const CostContext *setting, const Degrees *degrees, const Knobs *knobs,
                        bool *ok) {
    Shard shard = {0};
    *ok = shard_of_plan(setting->model, &setting->work, degrees, knobs, problem->request->space.padding, &shard);
    return shard;
}

static double peak(const Resources *resources) {
    double most = 0;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) most = max_real(most, resources->of[RES_MEMORY + moment]);
    return most;
}

/* The layout that was found is a plan: priced anew, from the ops, it takes that long by the formula, which is what
 * bounds stand below, as long as it is ranked by, and holds that much. */
static void check_estimate(const Problem *problem, const CostContext *setting, const Plan *plan,
                           const LayoutSolution *solution) {
    Estimate estimate;
    Error error = {0};
    cr_assert(estimate_plan(setting,
                            &(NestedMesh){&problem->request->question.machine.mesh, problem->request->space.nesting},
                            plan, problem->request->space.padding, &estimate, &error),
              "%s", error.text);
    cr_expect(fabs(estimate.formula_seconds - solution->seconds) <= 1e-9 * solution->seconds,
              "%s: estimate %.17g, layout %.17g", problem->text, estimate.formula_seconds, solution->seconds);
    bool ok;
    Shard shard = plan_shard(problem, setting, &plan->degrees, &plan->knobs, &ok);
    double played = played_seconds(&(PlayedPlan){setting, &shard, plan, &estimate.rates});
    double ranked = step_of_both(solution->seconds, played); /* as the search has it */
    cr_expect(ok && fabs(estimate.time.seconds - ranked) <= 1e-9 * ranked, "%s: priced %.17g, ranked %.17g",
              problem->text, estimate.time.seconds, ranked);
    double held = memory_total(&estimate.memory), counted = peak(&solution->resources);
    cr_expect(fabs(held - counted) <= 1e-9 * counted, "%s: estimate holds %.17g, layout %.17g", problem->text, held,
              counted);
    cr_expect(counted <= estimate.memory_limit_bytes, "%s: %.17g of %.17g", problem->text, counted,
              estimate.memory_limit_bytes);
}

/* The same relaxed time from the vectorised loop: not above, and not far below. */
static void check_batch(const LayoutGraph *graph, const Relaxation *relaxation, const Rates *rates, double relaxed,
                        const char *text) {
    Arena arena = {0};
    Error error = {0};
    RateTable table;
    double batch;
    cr_assert(rate_table_fill(rates, 1, &arena, &table, &error), "%s", error.text);
    batch_relaxed_seconds(&graph->rule, relaxation, &table, &batch);
    cr_expect(batch <= relaxed && batch >= relaxed * (1 - 1e-11), "%s: in a batch %.17g, alone %.17g", text, batch,
              relaxed);
    arena_free(&arena);
}

typedef struct {
    const LayoutGraph *graph;
    const Relaxation *relaxation;
} Relaxed;

static double relaxed_at(const void *what, const Rates *rates) {
    const Relaxed *relaxed = what;
    return relaxed_seconds(&relaxed->graph->rule, relaxed->relaxation, rates);
}

static bool in_list(const PlacementList *list, const Placement *placement, double bound) {
    for (int64_t i = 0; i < list->count; i++)
        if (placement_compare(&list->items[i].placement, placement) == 0) return list->items[i].bound == bound;
    return false;
}

/* The placements in reach of a random threshold against those that a look at every one gives. The memo of collectives
 * is kept over all problems. */
static void check_reach(const Problem *problem, const Degrees *degrees, int64_t way, const Methods *methods,
                        const Relaxed *relaxed, const Placement *placements, int64_t count, double threshold) {
    Arena arena = {0};
    TupleNode tuple;
    const LowerBoundRates *least = problem->least;
    static Request anyone; /* may launch it */
    anyone = *problem->request;
    anyone.space.launchers = 0;
    ExploreProblem explored = {.request = &anyone,
                               .setting = request_cost_context(problem->request),
                               .domain = problem->domain,
                               .least = least,
                               .nested_meshes = &problem->nested_mesh,
                               .tables = &problem->table,
                               .leasts = &least,
                               .machine_count = 1,
                               .first_machine = problem->site,
                               .catalog_mesh = &problem->request->question.machine.mesh,
                               .padding = problem->request->space.padding,
                               .scale = 1};
    PlacementList list = PLACEMENT_LIST_EMPTY;
    Explorer explorer = {.problem = &explored, .cache = problem->walks};
    FrontierQuery query = {way, ANY_LAUNCHER, relaxed_at, relaxed, threshold};
    cr_assert(tuple_node_make(&tuple, &explorer, degrees, &arena), "%s: %s", problem->text, explorer.error.text);
    tuple.scale = 1; /* the threshold is of the step */
    cr_assert(frontier_find(&tuple, &query, &list), "%s: %s", problem->text, explorer.error.text);
    int64_t within = 0;
    for (int64_t i = 0; i < count; i++) {
        Rates rates;
        rates_of_placement(&problem->nested_mesh, &placements[i], methods, &rates);
        double bound = relaxed_at(relaxed, &rates);
        within += bound <= threshold;
        if (bound <= threshold)
            cr_expect(in_list(&list, &placements[i], bound), "%s: %.17g is within %.17g", problem->text, bound,
                      threshold);
        else
            cr_expect(list.cut_bound <= bound, "%s: %.17g is beyond, the least %.17g", problem->text, bound,
                      list.cut_bound);
    }
    cr_expect(list.count == within && list.cut_bound > threshold, "%s: %lld in the list, %lld within", problem->text,
              (long long)list.count, (long long)within);
    seen.reached += within > 0;
    seen.left += list.visited < (Count)count;
    placement_list_free(&list);
    arena_free(&arena);
}

typedef struct {
    TupleBound tuple;
    double family, family_bytes, knob, knob_bytes, relaxed_least;
    BoundRows family_rows, knob_rows;
} FoundBounds;

static void check_placement(const Problem *problem, const CostContext *setting, const FoundBounds *bounds,
                            const LayoutGraph *graph, const Relaxation *relaxation, Plan *plan) {
    Rates rates;
    LayoutSolution solution;
    Error error = {0};
    char notation[NOTATION_SIZE];
    plan_notation(&plan->degrees, &plan->knobs, true, notation);
    rates_of_placement(&problem->nested_mesh, &plan->placement, &plan->knobs.methods, &rates);
    cr_assert(layout_solve(graph, &rates, &solution, &error), "%s: %s", problem->text, error.text);
    seen.plans++;
    if (!solution.found) {
        seen.infeasible++;
        return;
    }
    seen.solved++;
    seen.tight += solution.solver_calls > 0;
    seen.mixtures += is_mixture(setting->model);
    seen.close += bounds->tuple.seconds > 0.99 * solution.seconds;
    cr_expect(relaxation->fits && !bounds->tuple.too_large && bounds->knob_bytes <= graph->rule.memory_limit_bytes,
              "%s: %s fits, %.17g bytes of %.17g, bounded by %.17g and %.17g", problem->text, notation,
              peak(&solution.resources), graph->rule.memory_limit_bytes, bounds->knob_bytes, bounds->tuple.least_bytes);
    if (!relaxation->fits) return;
    double relaxed = relaxed_seconds(&graph->rule, relaxation, &rates);
    cr_expect(bounds->relaxed_least <= relaxed, "%s: %s: least rates %.17g, own %.17g", problem->text, notation,
              bounds->relaxed_least, relaxed);
    check_batch(graph, relaxation, &rates, relaxed, problem->text);
    double family = rows_seconds(&bounds->family_rows, &rates), knobs = rows_seconds(&bounds->knob_rows, &rates);
    cr_expect(family <= knobs * OTHER_ORDER && knobs <= relaxed * OTHER_ORDER,
              "%s: %s: on the placement family %.17g, knobs %.17g, relaxed %.17g", problem->text, notation, family,
              knobs, relaxed);
    const struct {
        const char *name;
        double seconds;
    } all[] = {{"tuple_bound", bounds->tuple.seconds},
               {"family_bound", bounds->family},
               {"knob_bound", bounds->knob},
               {"family on the placement", rows_seconds(&bounds->family_rows, &rates)},
               {"knobs on the placement", rows_seconds(&bounds->knob_rows, &rates)},
               {"relaxed at the least rates", bounds->relaxed_least},
               {"relaxed", relaxed}};
    static const int SHARP[] = {SHARP_TUPLE,        SHARP_FAMILY,        SHARP_KNOBS,  SHARP_FAMILY_PLACED,
                                SHARP_KNOBS_PLACED, SHARP_RELAXED_LEAST, SHARP_RELAXED};
    for (size_t i = 0; i < COUNT_OF(all); i++) note_sharp(SHARP[i], all[i].seconds, solution.seconds);
    note_sharp(SHARP_FAMILY_BYTES, bounds->family_bytes, peak(&solution.resources));
    note_sharp(SHARP_KNOBS_BYTES, bounds->knob_bytes, peak(&solution.resources));
    for (size_t i = 0; i < COUNT_OF(all); i++)
        cr_expect(all[i].seconds <= solution.seconds, "%s: %s m=%lld v=%lld zero=%d: %s %.17g > %.17g", problem->text,
                  notation, (long long)plan->knobs.microbatches, (long long)plan->knobs.virtual_stages,
                  plan->knobs.zero_stage, all[i].name, all[i].seconds, solution.seconds);
    plan->layout = solution.layout;
    check_estimate(problem, setting, plan, &solution);
}

/* What the context methods of a microbatch have in common stands below the family of each of them. */
static void check_contexts(const Problem *problem, const CostContext *setting, const Degrees *degrees,
                           const Knobs *knobs, const FoundBounds *found) {
    MethodSpace space;
    Knobs first = *knobs;
    BoundRows rows;
    double each[CONTEXTS_MAX];
    bool divides;
    int context = 0;
    Bounds shared = problem_bounds(problem, setting);
    method_space(degrees, &problem->domain, &space);
    if (space.context_count == 1) return;
    first.methods.context = space.contexts[0].method, first.methods.ulysses = space.contexts[0].ulysses;
    first.methods.tensor_overlap = false, first.virtual_stages = 1;
    Shard shard = plan_shard(problem, setting, degrees, &first, &divides);
    cr_expect(divides, "%s: the first context method does not divide, another one does", problem->text);
    context_bound(&shared, problem->least, degrees, &space, knobs->stages, each);
    while (space.contexts[context].method != knobs->methods.context ||
           space.contexts[context].ulysses != knobs->methods.ulysses)
        context++;
    Rates still;
    lower_bound_rates_of(problem->least, degrees, &first.methods, &still);
    still.cost[GROUP_SEQUENCE] = still.cost[GROUP_ULYSSES] = (CollectiveCost){{0, 0}, {0, 0}};
    family_rows(&shared, &shard, &first, &still, INFINITY, &rows);
    double seconds = rows_seconds_with_other(&rows, &still, each[context]);
    cr_expect(seconds <= found->family * OTHER_ORDER, "%s: all contexts %.17g, family %.17g", problem->text, seconds,
              found->family);
    cr_expect(rows.least_bytes <= found->family_bytes * OTHER_ORDER, "%s: all contexts hold %.17g, family %.17g",
              problem->text, rows.least_bytes, found->family_bytes);
    seen.contexts += seconds > 0.999 * found->family;
}

/* Microbatches of low .. high sequences with the methods and the split of the knobs. */
static double sizes_bound(const Problem *problem, const CostContext *setting, const Degrees *degrees,
                          const Knobs *knobs, const int64_t sizes[2], double *bytes) {
    MethodSpace space;
    Rates least;
    Bounds shared = problem_bounds(problem, setting);
    Methods first = knobs->methods;
    method_space(degrees, &problem->domain, &space);
    first.context = space.contexts[0].method, first.ulysses = space.contexts[0].ulysses, first.tensor_overlap = false;
    lower_bound_rates_of(problem->least, degrees, &first, &least);
    MicrobatchRange range = {.degrees = degrees,
                             .methods = &first,
                             .split = knobs->stages,
                             .context_seconds =
                                 context_bound(&shared, problem->least, degrees, &space, knobs->stages, NULL),
                             .low = sizes[0],
                             .high = sizes[1]};
    return range_bound(&shared, &range, &least, INFINITY, bytes);
}

/* Sets of microbatches that hold each other, from all down to that of the knobs: each bounds the family, and what is
 * within another one holds no less by its bound. It takes no less by its bound either, but for a single size: its idle
 * time is not asked for beside the least microbatch, as that is the size itself, and where padding leaves the last
 * microbatch short a set around it is now and then the better bound. Each of them holds. */
static void check_sizes(const Problem *problem, const CostContext *setting, const Degrees *degrees, const Knobs *knobs,
                        const FoundBounds *found, Draw *draw) {
    int64_t own = knobs->microbatch_sequences,
            most = divide_up(setting->work.sequences,
                             degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT]);
    int64_t sizes[][2] = {
        {1, max_whole(own, most)}, {draw_whole(draw, 1, own), draw_whole(draw, own, max_whole(own, most))}, {own, own}};
    double before = found->tuple.seconds, bytes_before = 0, bytes;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        double seconds = sizes_bound(problem, setting, degrees, knobs, sizes[i], &bytes);
        cr_expect(seconds <= found->family * OTHER_ORDER && bytes_before <= bytes * OTHER_ORDER,
                  "%s: set %zu of microbatches, %lld to %lld: %.17g s and %.17g bytes, family %.17g, %.17g around it",
                  problem->text, i, (long long)sizes[i][0], (long long)sizes[i][1], seconds, bytes, found->family,
                  bytes_before);
        cr_expect(before <= seconds * OTHER_ORDER || sizes[i][0] == sizes[i][1], "%s: set %zu: %.17g, %.17g around it",
                  problem->text, i, seconds, before);
        seen.inverted += before > seconds * OTHER_ORDER;
        if (i == 0) note_sharp(SHARP_ALL_SIZES, seconds, found->family);
        before = seconds, bytes_before = bytes;
    }
    cr_expect(before <= found->family * OTHER_ORDER && bytes_before <= found->family_bytes * OTHER_ORDER,
              "%s: microbatches of %lld: %.17g s and %.17g bytes, family %.17g and %.17g", problem->text,
              (long long)own, before, bytes_before, found->family, found->family_bytes);
    note_sharp(SHARP_SIZES, before, found->family);
    note_sharp(SHARP_SIZES_BYTES, bytes_before, found->family_bytes);
}

static void check_knobs(const Problem *problem, const CostContext *setting, const Degrees *degrees, const Knobs *knobs,
                        int64_t way, const TupleBound *tuple, Draw *draw) {
    bool divides;
    if (!schedule_allowed(knobs->schedule, degrees->of[ROLE_PIPELINE], knobs->microbatches, knobs->virtual_stages))
        return;
    Shard shard = plan_shard(problem, setting, degrees, knobs, &divides);
    cr_expect(!divides || (!tuple->forbidden && !tuple->unusable),
              "%s: the tuple was called indivisible, its knobs are not", problem->text);
    if (!divides || tuple->forbidden || tuple->unusable) return;
    if (knobs_redundant(setting->model, &problem->domain, knobs, &shard)) return;
    Rates least;
    LayoutGraph graph;
    Relaxation relaxation;
    Error error = {0};
    Arena arena = {0};
    lower_bound_rates_of(problem->least, degrees, &knobs->methods, &least);
    FoundBounds bounds = {.tuple = *tuple};
    Bounds shared = problem_bounds(problem, setting);
    bounds.knob = knob_bound(&shared, &shard, knobs, &least, &bounds.knob_bytes);
    family_rows(&shared, &shard, knobs, &least, INFINITY, &bounds.family_rows);
    bounds.family = bounds.family_rows.seconds;
    bounds.family_bytes = bounds.family_rows.least_bytes;
    knob_rows(&shared, &shard, knobs, &least, INFINITY, &bounds.knob_rows);
    cr_expect(tuple->seconds <= bounds.family * OTHER_ORDER, "%s: tuple %.17g, family %.17g", problem->text,
              tuple->seconds, bounds.family);
    check_contexts(problem, setting, degrees, knobs, &bounds);
    check_sizes(problem, setting, degrees, knobs, &bounds, draw);
    cr_expect(bounds.family_bytes <= bounds.knob_bytes * OTHER_ORDER, "%s: family holds %.17g, knobs %.17g",
              problem->text, bounds.family_bytes, bounds.knob_bytes);
    cr_assert(layout_graph(setting, &shard, knobs, &arena, &graph, &error), "%s: %s", problem->text, error.text);
    layout_relax(&graph, &least, &relaxation);
    if (relaxation.fits) { /* what fits nowhere is bounded as if it did */
        cr_expect(bounds.family <= bounds.knob * OTHER_ORDER, "%s: family %.17g, knobs %.17g, %s %s", problem->text,
                  bounds.family, bounds.knob, schedule_name(knobs->schedule),
                  knobs->methods.tensor_overlap ? "overlap" : "");
        bounds.relaxed_least = relaxed_seconds(&graph.rule, &relaxation, &least);
        cr_expect(bounds.knob <= bounds.relaxed_least * OTHER_ORDER, "%s: knobs %.17g, relaxed %.17g", problem->text,
                  bounds.knob, bounds.relaxed_least);
    }
    seen.too_large += tuple->too_large;
    seen.knob_too_large += bounds.knob_bytes > graph.rule.memory_limit_bytes;
    Placement *placements;
    int64_t count;
    cr_assert(placements_enumerate(problem->mesh, degrees, &arena, &placements, &count, &error), "%s", error.text);
    Relaxed relaxed = {&graph, &relaxation};
    if (relaxation.fits)
        check_reach(problem, degrees, way, &knobs->methods, &relaxed, placements, count,
                    bounds.relaxed_least * (1 + draw_real(draw, 0, 1) * draw_real(draw, 0, 1)));
    for (int i = 0; i < PLACEMENTS && i < count; i++) {
        Plan plan = {.degrees = *degrees,
                     .knobs = *knobs,
                     .placement = placements[count <= PLACEMENTS ? i : draw_below(draw, count)]};
        check_placement(problem, setting, &bounds, &graph, &relaxation, &plan);
    }
    arena_free(&arena);
}

static void check_tuple(const Problem *problem, const Degrees *degrees, Draw *draw) {
    CostContext setting = request_cost_context(problem->request);
    Bounds shared = problem_bounds(problem, &setting);
    TupleBound bound = tuple_bound(&shared, problem->least, degrees);
    seen.forbidden += bound.forbidden != 0;
    seen.unusable += bound.unusable;
    KnobSpace space;
    Error error = {0};
    cr_assert(
        knob_space(setting.model, degrees, setting.work.sequences, &problem->domain, problem->arena, &space, &error));
    int64_t size = knob_family_count(&space) * knob_family_size(&space);
    for (int i = 0; i < KNOBS && size > 0; i++) {
        int64_t index = draw_below(draw, size);
        Knobs knobs = knob_space_at(&space, index);
        check_knobs(problem, &setting, degrees, &knobs, knob_space_methods(&space, index), &bound, draw);
    }
}

/* HBM around what some plan of the problem holds with everything saved: a third of the problems is tight, a third
 * loose, a third in between. */
static void limit_memory(Request *request, const Degrees *tuples, int64_t count, Draw *draw) {
    CostContext setting = request_cost_context(request);
    for (int tries = 0; tries < 50; tries++) {
        const Degrees *degrees = &tuples[draw_below(draw, count)];
        int64_t replicas = degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT];
        Knobs knobs = {.microbatches = 1,
                       .microbatch_sequences = divide_up(setting.work.sequences, replicas),
                       .virtual_stages = 1,
                       .regather = true,
                       .schedule = degrees->of[ROLE_PIPELINE] > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE,
                       .methods.context = degrees->of[ROLE_SEQUENCE] > 1 ? CONTEXT_RING : CONTEXT_NONE};
        Shard shard;
        Sharding shardings[SHARDINGS_MAX];
        Resources resources;
        if (!shard_of_plan(setting.model, &setting.work, degrees, &knobs, request->space.padding, &shard)) continue;
        shardings_of(&setting, &shard, shardings);
        stage_resources(&setting, &shard, &knobs, &shardings[0], &resources);
        static const double LOW[] = {0.2, 0.6, 1}, HIGH[] = {0.7, 1.2, 4};
        int64_t third = draw_below(draw, 3);
        set_hbm(request, draw_real(draw, LOW[third], HIGH[third]) * peak(&resources));
        return;
    }
}

static KnobDomain problem_domain(const Request *request, const Mesh *mesh) {
    CostContext setting = request_cost_context(request);
    return knob_domain(&setting, mesh, request->space.schedules);
}

static void check_problem(const Catalog *catalog, uint64_t seed, TotalsCache *cache, ExploreCache *walks) {
    Draw draw = draw_seeded(seed);
    Arena arena = {0};
    Error error = {0};
    Request request = random_request(&draw, catalog, 64, 96, &arena);
    Mesh mesh = profile_mesh(&request.question.profile, &request.question.machine.mesh);
    Degrees *tuples;
    int64_t count;
    DegreesList listed = {0};
    cr_assert(degrees_enumerate(&mesh, request.space.roles, 100000, &arena, &listed, &error), "%s", error.text);
    tuples = listed.tuples, count = listed.count;
    limit_memory(&request, tuples, count, &draw);
    char text[320], numbered[384];
    snprintf(numbered, sizeof numbered, "problem %llu (%s)", (unsigned long long)seed, problem_text(&request, text));
    Problem problem = {.request = &request,
                       .mesh = &mesh,
                       .nested_mesh = {&mesh, request.space.nesting},
                       .domain = problem_domain(&request, &mesh),
                       .least = lower_bound_rates_new(&mesh, &arena),
                       .cache = cache,
                       .walks = walks,
                       .table = placement_table(&mesh, request.space.roles, &arena),
                       .site = (int)seed,
                       .arena = &arena,
                       .text = numbered};
    cr_assert(problem.least && problem.table);
    for (int i = 0; i < TUPLES; i++) check_tuple(&problem, &tuples[draw_below(&draw, count)], &draw);
    arena_free(&arena);
}

Test(bound, stands_below_every_plan) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    ExploreCache walks = {.sums = totals_cache_new(), .memo = collective_memo_new()};
    cr_assert(walks.sums && walks.memo);
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        TotalsCache *cache = totals_cache_new(); /* of one setting */
        cr_assert_not_null(cache);
        check_problem(&catalog, seed, cache, &walks);
        totals_cache_free(cache);
    }
    explore_cache_free(&walks);
    arena_free(&arena);
    cr_expect(seen.solved > 2000 / PROBLEMS_SHARE && seen.tight > 300 / PROBLEMS_SHARE &&
                  seen.infeasible > 300 / PROBLEMS_SHARE && seen.mixtures > 300 / PROBLEMS_SHARE,
              "%d solved, %d by GLPK, %d infeasible, %d of mixtures", seen.solved, seen.tight, seen.infeasible,
              seen.mixtures);
    cr_expect(seen.forbidden > 30 / PROBLEMS_SHARE && seen.unusable > 30 / PROBLEMS_SHARE &&
                  seen.too_large > 30 / PROBLEMS_SHARE && seen.knob_too_large > 30 / PROBLEMS_SHARE &&
                  seen.close > 30 / PROBLEMS_SHARE && seen.reached > 300 / PROBLEMS_SHARE &&
                  seen.left > 300 / PROBLEMS_SHARE && seen.contexts > 30 / PROBLEMS_SHARE,
              "%d %d %d %d %d %d %d, %d close by context", seen.forbidden, seen.unusable, seen.too_large,
              seen.knob_too_large, seen.close, seen.reached, seen.left, seen.contexts);
    cr_expect(seen.inverted < seen.plans / 100, "%d sizes are bounded by a set around them", seen.inverted);
    for (int i = 0; i < SHARP_COUNT; i++)
        cr_expect(sharp[i] >= 30 / PROBLEMS_SHARE, "bound %d times 1.001 would have failed %d times", i, sharp[i]);
}
