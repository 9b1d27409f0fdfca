/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/brute_force.h: the k best plans of a small request by trying all: public functions, and no bound. */
#pragma once

#include "cost/played.h"
#include "search/engine/layout/layout.h"
#include "search/launch/placement.h"
#include "search/launch/rules.h"
#include "tests/search/brute_space.h"
#include "tests/search/random_problem.h"

#include <stdlib.h>

enum { BATCHES_MAX = 256, ROWS_MAX = 1 << 16 };

/* The best plan of one (degrees, expert grid, schedule). */
typedef struct {
    double seconds; /* per requested token: step seconds x requested sequences / its sequences */
    double memory;  /* bytes at the peak */
    Degrees degrees;
    Knobs knobs;
    int64_t sequences;
    int machine;
    Placement placement;
} BestRow;

typedef struct {
    BestRow rows[ROWS_MAX];
    int count;
    const Machine *machines;
    int64_t plans, by_glpk, unplaced;
} Brute;

static inline int compare_reals(double a, double b) { return (a > b) - (a < b); }

/* docs/search.md, "Ties and the total order": time, memory headroom, degrees, knobs; then, for a total order, batch,
 * machine, placement. */
static inline int compare_rows(const void *left, const void *right) {
    const BestRow *a = left, *b = right;
    int order = compare_reals(a->seconds, b->seconds);
    if (order == 0) order = compare_reals(a->memory, b->memory);
    if (order == 0) order = degrees_compare(&a->degrees, &b->degrees);
    if (order == 0) order = knobs_compare(&a->knobs, &b->knobs);
    if (order == 0) order = compare_reals((double)a->sequences, (double)b->sequences);
    if (order == 0) order = compare_reals(a->machine, b->machine);
    return order != 0 ? order : placement_compare(&a->placement, &b->placement);
}

static inline void brute_keep(Brute *brute, const BestRow *row) {
    for (int i = 0; i < brute->count; i++) {
        BestRow *own = &brute->rows[i];
        if (own->knobs.schedule != row->knobs.schedule ||
            own->knobs.methods.grid.expert != row->knobs.methods.grid.expert ||
            own->knobs.methods.grid.expert_tensor != row->knobs.methods.grid.expert_tensor ||
            degrees_compare(&own->degrees, &row->degrees) != 0)
            continue;
        if (compare_rows(row, own) < 0) *own = *row;
        return;
    }
    cr_assert(brute->count < ROWS_MAX);
    brute->rows[brute->count++] = *row;
}

/* What --require, --padding and --for admit; *able_launchers: launchers of which one has to place it, all bits:
 * nobody has to. */
static inline bool admitted(const Request *request, const CostContext *setting, const Mesh *mesh, const Plan *plan,
                            Shard *shard, LauncherSet *able_launchers) {
    *able_launchers = ~0u;
    if (!request_admits_knobs(request, &plan->degrees, &plan->knobs)) return false;
    if (!shard_of_plan(setting->model, &setting->work, &plan->degrees, &plan->knobs, request->space.padding, shard))
        return false;
    if (!brute_sensible(setting->model, &plan->degrees, &plan->knobs, shard)) return false;
    LauncherSet all =
        plan_launchers(setting->model, &setting->work, plan, shard->padding, mesh) & ~request->space.unable;
    if (request->space.launchers == 0 && (request->space.padding != PADDING_LAUNCHABLE || shard->padding == 0))
        return true;
    *able_launchers = request->space.launchers != 0 ? all & request->space.launchers : all;
    return *able_launchers != 0;
}

/* Whether one of them can put the roles there. */
static inline bool placed(const NestedMesh *nested_mesh, const CostContext *setting, LauncherSet able_launchers,
                          const Placement *placement) {
    LauncherSet placing;
    if (able_launchers == ~0u) return true;
    launchers_placing(able_launchers, nested_mesh, setting->chip->name, placement, 1, &placing);
    return placing != 0;
}

/* One knob setting under all placements. */
static inline void brute_plan(const Request *request, const CostContext *setting, int machine, const Degrees *degrees,
                              const Knobs *knobs, const Placement *placements, const NestedMesh *nested_mesh,
                              int64_t count, Brute *brute) {
    Plan plan = {.degrees = *degrees, .knobs = *knobs};
    Shard shard;
    LauncherSet able_launchers;
    if (!admitted(request, setting, &brute->machines[machine].mesh, &plan, &shard, &able_launchers)) return;
    LayoutGraph graph;
    Arena arena = {0};
    Error error = {0};
    cr_assert(layout_graph(setting, &shard, knobs, &arena, &graph, &error), "%s", error.text);
    for (int64_t i = 0; i < count; i++) {
        if (!placed(nested_mesh, setting, able_launchers, &placements[i])) {
            brute->unplaced++;
            continue;
        }
        brute->plans++;
        LayoutSolution solution;
        Rates rates;
        rates_of_placement(nested_mesh, &placements[i], &knobs->methods, &rates);
        cr_assert(layout_solve(&graph, &rates, &solution, &error), "%s", error.text);
        brute->by_glpk += solution.solver_calls > 0;
        if (!solution.found) continue;
        plan.placement = placements[i], plan.layout = solution.layout;
        double played = played_seconds(&(PlayedPlan){setting, &shard, &plan, &rates});
        double odd = odd_factor(setting->profile, plan_odd(setting, degrees, knobs));
        BestRow row = {.seconds = (played > 1.01 * solution.seconds ? played : solution.seconds) *
                                  ((double)request->question.work.sequences / (double)setting->work.sequences * odd),
                       .degrees = *degrees,
                       .knobs = *knobs,
                       .sequences = setting->work.sequences,
                       .machine = machine,
                       .placement = placements[i]};
        for (int moment = 0; moment < MOMENT_COUNT; moment++)
            row.memory = max_real(row.memory, solution.resources.of[RES_MEMORY + moment]);
        brute_keep(brute, &row);
    }
    arena_free(&arena);
}

static inline void brute_tuple(const Request *request, int machine, const Mesh *mesh, const Degrees *degrees,
                               Brute *brute) {
    static Knobs knobs[KNOBS_MAX];
    int64_t batches[BATCHES_MAX], batch_count = brute_batches(request, degrees, batches, BATCHES_MAX), count;
    Arena arena = {0};
    Error error = {0};
    Placement *placements;
    cr_assert(placements_enumerate(mesh, degrees, &arena, &placements, &count, &error), "%s", error.text);
    NestedMesh nested_mesh = {mesh, request->space.nesting};
    for (int64_t b = 0; b < batch_count; b++) {
        CostContext setting = request_cost_context(request);
        setting.work.sequences = batches[b];
        int64_t knob_total = brute_knobs(request, mesh, degrees, batches[b], knobs);
        for (int64_t i = 0; i < knob_total; i++)
            brute_plan(request, &setting, machine, degrees, &knobs[i], placements, &nested_mesh, count, brute);
    }
    arena_free(&arena);
}

static inline void brute_run(const Request *request, Arena *arena, Brute *brute) {
    Error error = {0};
    brute->count = 0;
    brute->plans = brute->by_glpk = brute->unplaced = 0;
    int machines = brute_machines(request, arena, &brute->machines);
    for (int m = 0; m < machines; m++) {
        Mesh mesh = profile_mesh(&request->question.profile, &brute->machines[m].mesh);
        Degrees *tuples;
        int64_t count;
        DegreesList listed = {0};
        cr_assert(degrees_enumerate(&mesh, request->space.roles, 100000, arena, &listed, &error), "%s", error.text);
        tuples = listed.tuples, count = listed.count;
        for (int64_t i = 0; i < count; i++)
            if (request_admits(request, &tuples[i])) brute_tuple(request, m, &mesh, &tuples[i], brute);
    }
    qsort(brute->rows, (size_t)brute->count, sizeof(BestRow), compare_rows);
}
