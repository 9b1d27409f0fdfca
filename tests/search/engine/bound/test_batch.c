/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The vectorised loops say what cost/time/step.h says: for random knob settings of random problems, over all placements
 * at once, batch <= relaxed_seconds of each, by less than 1e-11 of it. */
#include "search/engine/bound/batch.h"
#include "search/engine/bound/knob_bound.h"
#include "search/engine/bound/lower_rates.h"
#include "search/engine/space/knob_space.h"
#include "tests/sanitizer.h"
#include "tests/search/random_problem.h"

#include <stdlib.h>

enum { PROBLEMS = 400 / PROBLEMS_SHARE, TUPLES = 4, KNOBS = 3, PLACEMENTS_MOST = 3000, LONG = 600 };

/* How much of the loops the draws reached, so that a test that tests nothing fails. */
static struct { int64_t compared, long_tables, far, rings, serial, several_rows, offloading; } seen;

typedef struct {
    const Request *request;
    const Mesh *mesh; /* the profile's rates */
    NestedMesh nested_mesh;
    KnobDomain domain;
    const LowerBoundRates *least;
    char text[384];
} Problem;

static void note(const LayoutGraph *graph, const Relaxation *relaxation, const Rates *rates, int64_t count) {
    unsigned far = 0;
    for (int64_t i = 0; i < count; i++) far |= rates[i].leaves_scale_up;
    seen.compared += count;
    seen.long_tables += count > 512;
    seen.far += far != 0;
    seen.rings += graph->rule.ring && graph->rule.exposed[GROUP_SEQUENCE] < 1;
    seen.serial += relaxation->row[0].serial_weight > 0;
    seen.several_rows += relaxation->rows > 1;
    seen.offloading += relaxation->row[0].resources.of[RES_OFFLOAD_BYTES] > 0;
}

static void compare(const Problem *problem, const LayoutGraph *graph, const Relaxation *relaxation, const Rates *rates,
                    int64_t count, Arena *arena) {
    Error error = {0};
    RateTable table;
    double *batch = malloc((size_t)count * sizeof(double)); /* not a byte more: what is written behind it is found */
    cr_assert(batch && rate_table_fill(rates, count, arena, &table, &error), "%s", error.text);
    batch_relaxed_seconds(&graph->rule, relaxation, &table, batch);
    for (int64_t i = 0; i < count; i++) {
        double relaxed = relaxed_seconds(&graph->rule, relaxation, &rates[i]);
        cr_expect(batch[i] <= relaxed && batch[i] >= relaxed * (1 - 1e-11),
                  "%s: placement %lld of %lld: in a batch %.17g, alone %.17g", problem->text, (long long)i,
                  (long long)count, batch[i], relaxed);
    }
    note(graph, relaxation, rates, count);
    free(batch);
}

static void check_knobs(const Problem *problem, const Degrees *degrees, const Knobs *knobs, const Placement *placements,
                        int64_t count, Draw *draw, Arena *arena) {
    CostContext setting = request_cost_context(problem->request);
    Shard shard;
    LayoutGraph graph;
    Relaxation relaxation;
    int64_t all = count + (draw_chance(draw, 0.1) ? LONG : draw_below(draw, 10));
    Rates least, *rates = ARENA_NEW(arena, Rates, (size_t)all);
    Error error = {0};
    if (!schedule_allowed(knobs->schedule, degrees->of[ROLE_PIPELINE], knobs->microbatches, knobs->virtual_stages) ||
        !shard_of_plan(setting.model, &setting.work, degrees, knobs, PADDING_ANY, &shard))
        return;
    lower_bound_rates_of(problem->least, degrees, &knobs->methods, &least);
    cr_assert(rates && layout_graph(&setting, &shard, knobs, arena, &graph, &error), "%s", error.text);
    layout_relax(&graph, &least, &relaxation);
    if (!relaxation.fits) return;
    for (int64_t i = 0; i < count; i++)
        rates_of_placement(&problem->nested_mesh, &placements[i], &knobs->methods, &rates[i]);
    for (int64_t i = count; i < all; i++) random_rates(draw, memcpy(&rates[i], &rates[i % count], sizeof(Rates)));
    compare(problem, &graph, &relaxation, rates, all, arena);
}

static void check_tuple(const Problem *problem, const Degrees *degrees, Draw *draw) {
    CostContext setting = request_cost_context(problem->request);
    Arena arena = {0};
    Error error = {0};
    KnobSpace space;
    Placement *placements;
    int64_t count;
    cr_assert(placements_enumerate(problem->mesh, degrees, &arena, &placements, &count, &error), "%s", error.text);
    cr_assert(knob_space(setting.model, degrees, setting.work.sequences, &problem->domain, &arena, &space, &error));
    int64_t size = knob_family_count(&space) * knob_family_size(&space);
    for (int i = 0; i < KNOBS && size > 0 && count <= PLACEMENTS_MOST; i++) {
        Knobs knobs = knob_space_at(&space, draw_below(draw, size));
        check_knobs(problem, degrees, &knobs, placements, count, draw, &arena);
    }
    arena_free(&arena);
}

static void check_problem(const Catalog *catalog, uint64_t seed) {
    Draw draw = draw_seeded(seed);
    Arena arena = {0};
    Error error = {0};
    Request request = random_request(&draw, catalog, 2048, 4096, &arena);
    double share = DRAW_FROM(&draw, 1, 3, 10, 100); /* of HBM: tight, and less so */
    set_hbm(&request, request.question.chip.hbm_bytes.value * share / 100);
    Mesh mesh = profile_mesh(&request.question.profile, &request.question.machine.mesh);
    CostContext setting = request_cost_context(&request);
    Problem problem = {.request = &request,
                       .mesh = &mesh,
                       .nested_mesh = {&mesh, request.space.nesting},
                       .domain = knob_domain(&setting, &mesh, request.space.schedules),
                       .least = lower_bound_rates_new(&mesh, &arena)};
    char text[320];
    snprintf(problem.text, sizeof problem.text, "problem %llu (%s)", (unsigned long long)seed,
             problem_text(&request, text));
    Degrees *tuples;
    int64_t count;
    cr_assert_not_null(problem.least);
    DegreesList listed = {0};
    cr_assert(degrees_enumerate(&mesh, request.space.roles, 1000000, &arena, &listed, &error), "%s", error.text);
    tuples = listed.tuples, count = listed.count;
    for (int i = 0; i < TUPLES; i++) check_tuple(&problem, &tuples[draw_below(&draw, count)], &draw);
    arena_free(&arena);
}

Test(batch, is_the_relaxed_time_of_each_placement) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) check_problem(&catalog, 4000 + seed);
    arena_free(&arena);
    cr_expect(seen.compared > 50000 / PROBLEMS_SHARE && seen.long_tables > 10 / PROBLEMS_SHARE &&
                  seen.far > 50 / PROBLEMS_SHARE && seen.rings > 50 / PROBLEMS_SHARE &&
                  seen.serial > 100 / PROBLEMS_SHARE && seen.several_rows > 50 / PROBLEMS_SHARE &&
                  seen.offloading > 10 / PROBLEMS_SHARE,
              "%lld %lld %lld %lld %lld %lld %lld", (long long)seen.compared, (long long)seen.long_tables,
              (long long)seen.far, (long long)seen.rings, (long long)seen.serial, (long long)seen.several_rows,
              (long long)seen.offloading);
}
