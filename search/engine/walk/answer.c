/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of a search: the plans with their estimates, the proof, and what lacks where nothing fits. */
#include "search/engine/walk/walk.h"

#include "base/util.h"
#include "search/answer/odd.h"
#include "search/answer/tie.h"
#include "search/engine/explore/explore.h"
#include "search/launch/launcher.h"

#include <math.h>

const char *prune_reason_name(PruneReason reason) {
    static const char *const NAMES[PRUNED_COUNT] = {"require",      "indivisible", "equal",     "memory",
                                                    "degree_bound", "knob_bound",  "time_limit"};
    return NAMES[reason];
}

/* ---- one plan ---- */

/* How many placements of the plan's degrees take exactly what it takes. */
static Count equal_placements(const ExploreProblem *problem, const BestPlan *best, const Mesh *mesh,
                              const Estimate *estimate, Error *error) {
    Arena arena = {0};
    Placement *placements;
    int64_t count;
    Count equal = 0;
    if (placements_enumerate(mesh, &best->degrees, &arena, &placements, &count, error))
        for (int64_t i = 0; i < count; i++) {
            Rates rates;
            rates_of_placement(problem->nested_meshes, &placements[i], &best->knobs.methods, &rates);
            if (step_seconds(&estimate->rule, &estimate->resources, &rates) == estimate->formula_seconds) equal++;
        }
    arena_free(&arena);
    return equal;
}

/* Who launches the plan: of those that take its degrees and knobs, who can place it so. */
static void fill_launch(const ExploreProblem *problem, RankedPlan *out) {
    LauncherSet able_launchers =
        plan_launchers(problem->setting.model, &out->work, &out->plan, out->padding, &out->machine.mesh) &
        ~problem->request->space.unable;
    for (int launcher = 0; launcher < launcher_count(); launcher++) {
        if (!(able_launchers >> launcher & 1)) continue;
        LaunchAnswer answer = launch_answer(launcher, problem->nested_meshes, problem->setting.chip->name, &out->plan,
                                            &out->estimate.rule, &out->estimate.resources);
        if (answer.default_seconds > 0) /* stages wait for each other wherever roles are placed */
            answer.default_seconds *= out->estimate.time.seconds / out->estimate.formula_seconds;
        out->launch[out->launch_count++] = answer;
        if (answer.kind != LAUNCH_IMPOSSIBLE) out->launchable_by |= 1u << launcher;
    }
}

/* Counts the plans that are as good or nearly so. It takes a while, for which a search that was cut short does not
 * wait: both counts are 0 then, as where nobody reads them. */
static bool count_near(Search *search, const ExploreProblem *problem, const BestPlan *best, RankedPlan *out,
                       Error *error) {
    Explorer explorer = {.problem = problem,
                         .cache = &search->caches[0],
                         .stats = explore_stats_new(INFINITY),
                         .until = search->timed_out ? search_until(search) : 0};
    Count within;
    if (search->request->control.uncounted || explorer_stops(&explorer)) return true;
    Count equal = equal_placements(problem, best, &search->tuples.shapes[best->machine].mesh, &out->estimate, error);
    bool ok = explore_count_within(&explorer, best, 1.01 * best->ranked_seconds, &within);
    if (ok) {
        out->equal_placements = equal;
        out->within_one_percent = within;
    } else if (!explorer.interrupted) {
        *error = explorer.error;
    }
    return ok || explorer.interrupted;
}

/* A kept plan with its estimate. */
static bool price(const Search *search, const BestPlan *best, RankedPlan *out, Error *error) {
    const Request *request = search->request;
    ExploreProblem problem = tuple_list_problem_of_shape(&search->tuples, best->machine, best->sequences);
    out->request = request;
    out->plan =
        (Plan){.degrees = best->degrees, .knobs = best->knobs, .placement = best->placement, .layout = best->layout};
    out->nesting = best->nesting;
    out->machine = search->tuples.shapes[best->machine].machine;
    out->work = problem.setting.work;
    out->odd = plan_odd(&problem.setting, &best->degrees, &best->knobs);
    out->ranked_seconds = best->ranked_seconds;
    out->seconds = best->ranked_seconds / odd_factor(problem.setting.profile, out->odd);
    const NestedMesh catalog = {&out->machine.mesh, out->nesting}; /* its rates are not the profile's yet */
    if (!estimate_plan(&problem.setting, &catalog, &out->plan, request->space.padding, &out->estimate, error))
        return false;
    out->padding = out->estimate.shard.padding;
    return true;
}

/* The kept plan that a row was made of. */
static const BestPlan *kept_as(const Search *search, const RankedPlan *row) {
    const BestPlan *kept = search->best;
    while (kept->ranked_seconds != row->ranked_seconds || degrees_compare(&kept->degrees, &row->plan.degrees) != 0 ||
           knobs_compare(&kept->knobs, &row->plan.knobs) != 0 || kept->sequences != row->work.sequences ||
           placement_compare(&kept->placement, &row->plan.placement) != 0)
        kept++;
    return kept;
}

/* Who launches it, and what is as good. */
static bool complete(Search *search, RankedPlan *row, Error *error) {
    const BestPlan *kept = kept_as(search, row);
    ExploreProblem problem = tuple_list_problem_of_shape(&search->tuples, kept->machine, kept->sequences);
    NestedMesh nested_mesh = problem.nested_meshes[0];
    nested_mesh.nesting = kept->nesting;
    problem.nested_meshes = &nested_mesh;
    fill_launch(&problem, row);
    return launchers_expressing(row->launchable_by, &problem.setting, &row->estimate.shard, &row->plan.layout,
                                &row->exact, error) &&
           count_near(search, &problem, kept, row, error);
}

/* The rows of what was kept: what is tied by what is surer, the rest by time. */
static bool rank_all(Search *search, SearchResult *result, Error *error) {
    int kept = search->best_count, wanted = (int)min_whole(kept, search->request->control.top);
    RankedPlan *rows = ARENA_NEW(search->arena, RankedPlan, (size_t)kept + 1);
    if (!rows) return error_memory(error);
    for (int i = 0; i < kept; i++)
        if (!tuple_list_restore(&search->tuples, search->best[i].machine, error) ||
            !price(search, &search->best[i], &rows[i], error))
            return false;
    RankedPlan *fastest = &rows[kept];
    *fastest = rows[0];
    tie_order(&search->request->control, fastest, rows, kept);
    for (int i = 0; i <= kept; i++)
        rows[i].gap = row_gap(rows[i].ranked_seconds, search->certificate->open_bound_seconds);
    for (int i = 0; i < wanted; i++)
        if (!complete(search, &rows[i], error)) return false;
    result->plans = rows;
    result->plan_count = wanted;
    if (kept == 0) return true;
    if (rows[0].ranked_seconds == fastest->ranked_seconds) return true;
    result->fastest = fastest;
    return complete(search, fastest, error);
}

/* ---- nothing fits ---- */

/* The memory of the shortfall's plan in its worst moment. */
static void fill_shortfall_memory(const CostContext *setting, const Shard *shard, Shortfall *out) {
    Sharding shardings[SHARDINGS_MAX];
    shardings_of(setting, shard, shardings);
    out->plan.layout.sharding = shardings[0];
    double most = -1;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryRows rows;
        memory_rows(&(ShardedStage){setting, shard, &out->plan.knobs, &shardings[0]}, (Moment)moment, 0, &rows);
        if (memory_total(&rows) > most) {
            most = memory_total(&rows);
            out->memory = rows;
        }
    }
}

static void fill_shortfall(const Search *search, Shortfall *out) {
    const Request *request = search->request;
    if (!(search->stats.least_missing < INFINITY)) return;
    CostContext setting = request_cost_context(request);
    out->known = true;
    out->limit_bytes = setting.chip->hbm_bytes.value * (1 - request->question.hbm_reserve);
    out->needed_bytes = out->limit_bytes + search->stats.least_missing;
    out->plan.degrees = search->stats.missing_degrees;
    out->plan.knobs = search->stats.missing_knobs;
    Shard shard;
    if (out->plan.knobs.microbatches > 0 &&
        shard_of_plan(setting.model, &setting.work, &out->plan.degrees, &out->plan.knobs, PADDING_ANY, &shard))
        fill_shortfall_memory(&setting, &shard, out);
}

/* ---- the proof ---- */

static void fill_certificate(const Search *search) {
    Certificate *certificate = search->certificate;
    certificate->plans_evaluated = search->stats.evaluated;
    certificate->layouts_solved = search->stats.layouts_solved;
    for (int i = 0; i < PRUNED_COUNT; i++) certificate->plans_pruned[i] = search->stats.pruned[i];
    certificate->best_bound_seconds = search->stats.least_cut_bound < INFINITY ? search->stats.least_cut_bound : 0;
    double last = search_threshold(search);
    /* A layout that is not proven matters when it could be better than the k-th best. */
    bool open = search->stats.least_open_bound < last * (1 - LAYOUT_TOLERANCE);
    if (open) certificate->best_bound_seconds = min_real(search->stats.least_cut_bound, search->stats.least_open_bound);
    certificate->proof = search->timed_out || search->skipped || open ? PROOF_GAP : PROOF_OPTIMAL;
    certificate->open_bound_seconds = INFINITY;
    if (certificate->proof == PROOF_GAP) {
        certificate->open_bound_seconds =
            min_real(search->stats.least_open_bound, min_real(search->floor, search->open));
        certificate->gap = last < INFINITY ? max_real(0, (last - certificate->best_bound_seconds) / last) : 1;
    }
}

bool search_answer(Search *search, SearchResult *result, Error *error) {
    fill_certificate(search);
    if (!rank_all(search, result, error)) return false;
    if (search->best_count == 0 && !search->timed_out) fill_shortfall(search, &result->shortfall);
    return true;
}
