/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel of brute force gives the bits of relaxed_seconds(): of random rows on random placements and on rates as no
 * machine has them, and of every plan of a whole real space. And it is able not to: a cost that is a little more is
 * noticed. */
#include "benchmarks/kernel/evaluate.h"
#include "search/cli/request_text.h"
#include "search/engine/bound/knob_bound.h"
#include "search/engine/bound/lower_rates.h"
#include "search/engine/space/knob_space.h"
#include "tests/sanitizer.h"
#include "tests/search/random_problem.h"

#include <math.h>
#include <stdlib.h>

enum { PROBLEMS = 400 / PROBLEMS_SHARE, TUPLES = 4, KNOBS = 12, PLACEMENTS_MOST = 2000, LONG = 600 };

/* How much the draws reached, so that a test that tests nothing fails. */
static struct { int64_t compared, batches, full, shared, far, rings, serial, offloading, planted, noticed; } seen;

/* Rows of one way, and the rates of all placements. */
typedef struct {
    KernelLanes *lanes;
    StepRule rule[KERNEL_LANES];
    Relaxation relaxation[KERNEL_LANES]; /* of which `row` is the lane's */
    int row[KERNEL_LANES];
    const Rates *rates;
    int64_t count;
    const char *text;
} Batch;

static double plain(const Batch *batch, int lane, int64_t placement) {
    Relaxation alone = batch->relaxation[lane];
    alone.row[0] = alone.row[batch->row[lane]];
    alone.rows = 1;
    return relaxed_seconds(&batch->rule[lane], &alone, &batch->rates[placement]);
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static bool any_differs(const Batch *batch, const KernelProgram *program, KernelRoom *room, KernelNumbers *seconds) {
    double least[KERNEL_LANES];
    bool differs = false;
    cr_assert(kernel_evaluate(program, batch->lanes, room, least, seconds));
    for (int lane = 0; lane < batch->lanes->count; lane++)
        for (int64_t i = 0; i < batch->count; i++)
            differs = differs || !same_bits(seconds[program->class_of[i]][lane], plain(batch, lane, i));
    return differs;
}

/* What a processor that adds other costs than those of the placements would answer. */
static void plant(const Batch *batch, KernelProgram *program, KernelRoom *room, KernelNumbers *seconds) {
    for (int32_t i = 1; i < program->leaf_count; i++)
        for (int piece = 0; piece < 2; piece++) {
            program->leaf[i].cost.latency_seconds[piece] *= 1 + 1e-9;
            program->leaf[i].cost.seconds_per_byte[piece] *= 1 + 1e-9;
        }
    seen.planted++;
    seen.noticed += any_differs(batch, program, room, seconds);
}

static void note(const Batch *batch, const KernelProgram *program) {
    const KernelLanes *lanes = batch->lanes;
    unsigned far = 0;
    for (int64_t i = 0; i < batch->count; i++) far |= batch->rates[i].leaves_scale_up;
    seen.compared += batch->count * lanes->count;
    seen.batches++;
    seen.full += lanes->count == KERNEL_LANES;
    seen.shared += program->class_count < batch->count;
    seen.far += far != 0;
    seen.rings += batch->rule[0].ring && batch->rule[0].exposed[GROUP_SEQUENCE] < 1;
    seen.serial += lanes->any_serial;
    seen.offloading += lanes->any_offload;
}

/* Of every lane each placement, and the least of all, which other loops make. */
static void compare(const Batch *batch) {
    Arena arena = {0};
    Error error = {0};
    KernelProgram program;
    KernelRoom room = {0};
    double least[KERNEL_LANES], again[KERNEL_LANES];
    /* groups that no row moves change nothing: programs serve many batches */
    KernelGroups every = {(1u << GROUP_COUNT) - 1, (1u << GROUP_COUNT) - 1};
    KernelGroups groups = batch->count % 3 == 0 ? every : batch->lanes->groups;
    cr_assert(kernel_program(batch->rates, batch->count, groups, &arena, &program, &error), "%s", error.text);
    KernelNumbers *seconds = ARENA_NEW(&arena, KernelNumbers, (size_t)program.class_count);
    cr_assert(seconds && kernel_evaluate(&program, batch->lanes, &room, least, NULL) &&
              kernel_evaluate(&program, batch->lanes, &room, again, seconds));
    for (int lane = 0; lane < batch->lanes->count; lane++) {
        double best = INFINITY;
        for (int64_t i = 0; i < batch->count; i++) {
            double want = plain(batch, lane, i), own = seconds[program.class_of[i]][lane];
            cr_expect(same_bits(own, want), "%s: lane %d, placement %lld: kernel %.17g, plain %.17g", batch->text, lane,
                      (long long)i, own, want);
            best = want < best ? want : best;
        }
        cr_expect(same_bits(least[lane], best) && same_bits(again[lane], best),
                  "%s: lane %d: least %.17g and %.17g, plain %.17g", batch->text, lane, least[lane], again[lane], best);
    }
    note(batch, &program);
    plant(batch, &program, &room, seconds);
    kernel_room_free(&room);
    arena_free(&arena);
}

typedef struct {
    const Request *request;
    Mesh mesh; /* the profile's rates */
    NestedMesh nested_mesh;
    KnobDomain domain;
    const LowerBoundRates *least;
    char text[384];
} Problem;

static void open_problem(const Request *request, Arena *arena, Problem *out) {
    CostContext setting = request_cost_context(request);
    out->request = request;
    out->mesh = profile_mesh(&request->question.profile, &request->question.machine.mesh);
    out->nested_mesh = (NestedMesh){&out->mesh, request->space.nesting};
    out->domain = knob_domain(&setting, &out->mesh, request->space.schedules);
    out->least = lower_bound_rates_new(&out->mesh, arena);
    cr_assert_not_null(out->least);
}

/* Adds the rows of a knob setting to a batch while there is room. */
static void add_knobs(const Problem *problem, const Degrees *degrees, const Knobs *knobs, const Rates *least,
                      Batch *batch) {
    CostContext setting = request_cost_context(problem->request);
    Arena arena = {0};
    Error error = {0};
    Shard shard;
    LayoutGraph graph;
    Relaxation relaxation;
    if (!schedule_allowed(knobs->schedule, degrees->of[ROLE_PIPELINE], knobs->microbatches, knobs->virtual_stages) ||
        !shard_of_plan(setting.model, &setting.work, degrees, knobs, PADDING_ANY, &shard))
        return;
    cr_assert(layout_graph(&setting, &shard, knobs, &arena, &graph, &error), "%s", error.text);
    layout_relax(&graph, least, &relaxation);
    for (int row = 0; relaxation.fits && row < relaxation.rows && batch->lanes->count < KERNEL_LANES; row++) {
        int lane = batch->lanes->count;
        batch->rule[lane] = graph.rule;
        batch->relaxation[lane] = relaxation;
        batch->row[lane] = row;
        kernel_lanes_add(batch->lanes, &graph.rule, &relaxation, row);
    }
    arena_free(&arena);
}

/* Knob settings of one way of a tuple as one batch, on its placements and on some that no machine has. */
static void check_tuple(const Problem *problem, const Degrees *degrees, Draw *draw) {
    CostContext setting = request_cost_context(problem->request);
    Arena arena = {0};
    Error error = {0};
    KnobSpace space;
    Placement *placements;
    int64_t count;
    cr_assert(placements_enumerate(&problem->mesh, degrees, &arena, &placements, &count, &error), "%s", error.text);
    cr_assert(knob_space(setting.model, degrees, setting.work.sequences, &problem->domain, &arena, &space, &error));
    int64_t size = knob_family_count(&space) * knob_family_size(&space);
    int64_t all = count + (draw_chance(draw, 0.1) ? LONG : draw_below(draw, 10));
    Rates least, *rates = ARENA_NEW(&arena, Rates, (size_t)all);
    Batch batch = {.lanes = ARENA_NEW(&arena, KernelLanes, 1), .rates = rates, .count = all, .text = problem->text};
    int64_t from = size > 0 ? draw_below(draw, size) : 0, way = size > 0 ? knob_space_methods(&space, from) : 0;
    cr_assert(rates && batch.lanes);
    if (size > 0 && count <= PLACEMENTS_MOST) {
        Methods methods = method_space_at(&space.methods, way);
        lower_bound_rates_of(problem->least, degrees, &methods, &least);
        for (int64_t i = 0; i < count; i++)
            rates_of_placement(&problem->nested_mesh, &placements[i], &methods, &rates[i]);
        for (int64_t i = count; i < all; i++) random_rates(draw, memcpy(&rates[i], &rates[i % count], sizeof(Rates)));
        for (int i = 0; i < KNOBS; i++) {
            int64_t index = i == 0 ? from : draw_below(draw, size);
            Knobs knobs = knob_space_at(&space, index);
            if (knob_space_methods(&space, index) == way) add_knobs(problem, degrees, &knobs, &least, &batch);
        }
        if (batch.lanes->count > 0) compare(&batch);
    }
    arena_free(&arena);
}

static void check_problem(const Catalog *catalog, uint64_t seed) {
    Draw draw = draw_seeded(seed);
    Arena arena = {0};
    Error error = {0};
    Request request = random_request(&draw, catalog, 1024, 4096, &arena);
    double share = DRAW_FROM(&draw, 1, 3, 10, 100); /* of HBM: tight, and less so */
    set_hbm(&request, request.question.chip.hbm_bytes.value * share / 100);
    Problem problem;
    char text[320];
    open_problem(&request, &arena, &problem);
    snprintf(problem.text, sizeof problem.text, "problem %llu (%s)", (unsigned long long)seed,
             problem_text(&request, text));
    DegreesList listed = {0};
    cr_assert(degrees_enumerate(&problem.mesh, request.space.roles, 1000000, &arena, &listed, &error), "%s",
              error.text);
    for (int i = 0; i < TUPLES; i++) check_tuple(&problem, &listed.tuples[draw_below(&draw, listed.count)], &draw);
    arena_free(&arena);
}

Test(evaluate, gives_the_bits_of_the_plain_formula) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) check_problem(&catalog, 61000 + seed);
    arena_free(&arena);
    cr_log_info("%lld compared in %lld batches", (long long)seen.compared, (long long)seen.batches);
    cr_expect(seen.compared > 100000 / PROBLEMS_SHARE && seen.batches > 300 / PROBLEMS_SHARE &&
                  seen.full > 20 / PROBLEMS_SHARE && seen.shared > 30 / PROBLEMS_SHARE &&
                  seen.far > 30 / PROBLEMS_SHARE && seen.rings > 20 / PROBLEMS_SHARE &&
                  seen.serial > 50 / PROBLEMS_SHARE && seen.offloading > 5 / PROBLEMS_SHARE &&
                  seen.noticed > seen.planted / 2,
              "%lld %lld %lld %lld %lld %lld %lld %lld, noticed %lld of %lld", (long long)seen.compared,
              (long long)seen.batches, (long long)seen.full, (long long)seen.shared, (long long)seen.far,
              (long long)seen.rings, (long long)seen.serial, (long long)seen.offloading, (long long)seen.noticed,
              (long long)seen.planted);
}

/* All knob settings of a tuple that divide and fit, way by way, on all placements. */
static void check_space_of_tuple(const Problem *problem, const Degrees *degrees, const Bounds *bounds) {
    const CostContext *setting = bounds->context;
    Arena arena = {0};
    Error error = {0};
    KnobSpace space;
    Placement *placements;
    int64_t count;
    cr_assert(placements_enumerate(&problem->mesh, degrees, &arena, &placements, &count, &error), "%s", error.text);
    cr_assert(knob_space(setting->model, degrees, setting->work.sequences, &problem->domain, &arena, &space, &error));
    int64_t size = knob_family_count(&space) * knob_family_size(&space);
    Rates least, *rates = ARENA_NEW(&arena, Rates, (size_t)count);
    Batch batch = {.lanes = ARENA_NEW(&arena, KernelLanes, 1), .rates = rates, .count = count, .text = problem->text};
    cr_assert(rates && batch.lanes);
    for (int64_t way = 0; way < space.method_count; way++) {
        Methods methods = method_space_at(&space.methods, way);
        lower_bound_rates_of(problem->least, degrees, &methods, &least);
        for (int64_t i = 0; i < count; i++)
            rates_of_placement(&problem->nested_mesh, &placements[i], &methods, &rates[i]);
        kernel_lanes_clear(batch.lanes);
        for (int64_t index = 0; index <= size; index++) {
            if (index == size || batch.lanes->count + BOUND_ROWS_MAX > KERNEL_LANES) {
                if (batch.lanes->count > 0) compare(&batch);
                kernel_lanes_clear(batch.lanes);
            }
            if (index == size || knob_space_methods(&space, index) != way) continue;
            Knobs knobs = knob_space_at(&space, index);
            Shard shard;
            BoundRows rows;
            if (!schedule_allowed(knobs.schedule, degrees->of[ROLE_PIPELINE], knobs.microbatches,
                                  knobs.virtual_stages) ||
                !shard_of_plan(setting->model, &setting->work, degrees, &knobs, PADDING_ANY, &shard))
                continue;
            knob_rows(bounds, &shard, &knobs, &least, INFINITY, &rows);
            if (rows.least_bytes > cost_context_memory_limit(setting)) continue;
            for (int row = 0; row < rows.count; row++) {
                int lane = batch.lanes->count;
                batch.rule[lane] = rows.row[row].rule;
                batch.relaxation[lane] = rows.row[row].relaxation;
                batch.row[lane] = 0;
                kernel_lanes_add(batch.lanes, &rows.row[row].rule, &rows.row[row].relaxation, 0);
            }
        }
    }
    arena_free(&arena);
}

/* Of the sanitizers' build the tuples of one share. */
static void check_space(const char *command) {
    Arena arena = {0};
    Error error = {0};
    Request *request = ARENA_NEW(&arena, Request, 1);
    Problem problem;
    cr_assert(request && request_from_text(command, &arena, request));
    open_problem(request, &arena, &problem);
    snprintf(problem.text, sizeof problem.text, "%s", command);
    CostContext setting = request_cost_context(request);
    Bounds bounds = {.context = &setting, .domain = &problem.domain, .cache = totals_cache_new()};
    DegreesList listed = {0};
    cr_assert(bounds.cache && degrees_enumerate(&problem.mesh, request->space.roles, 100000, &arena, &listed, &error));
    for (int64_t i = 0; i < listed.count; i += PROBLEMS_SHARE)
        check_space_of_tuple(&problem, &listed.tuples[i], &bounds);
    totals_cache_free(bounds.cache);
    arena_free(&arena);
}

Test(evaluate, gives_the_bits_of_every_plan_of_a_real_space) {
    check_space("plan --model 8b --chip v5e --slice 4x4 --batch 512Ki --padding any --max-idle 0");
    check_space("plan --model 8b --chip h100 --nodes 2 --batch 256Ki --padding any --max-idle 0");
    cr_log_info("%lld compared in %lld batches", (long long)seen.compared, (long long)seen.batches);
    cr_expect(seen.compared > 100000 / PROBLEMS_SHARE && seen.noticed > seen.planted / 2, "%lld, noticed %lld of %lld",
              (long long)seen.compared, (long long)seen.noticed, (long long)seen.planted);
}
