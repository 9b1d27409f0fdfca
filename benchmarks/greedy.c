/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often, and by how much, the exact search beats what people do by hand, priced by the same cost model:
 * - grid: every degree and the microbatch a power of two, sizes that divide, roles laid along the machine's axes in
 *   their order (ranks counted up); all other knobs and the layout are the best there are, in its favour;
 * - stock: the same grid with the rest as scripts fix it: 1F1B, equal stages of one chunk, ZeRO-1, weights gathered
 *   again, no overlap over tensor, no folded experts, and every layer's activations all saved or all but its input
 *   recomputed;
 * - greedy: from data parallelism alone, one role after the other (fsdp, tensor, expert, sequence, pipeline) is
 *   doubled, at the cost of data, as long as that is faster (or, while nothing fits, lacks less memory); placement, all
 *   other knobs and the layout are the best there are, in its favour; sizes that divide.
 * The exact search takes every chip too (--max-idle 0), and pads what its launchers pad (its default). */
#include "base/util.h"
#include "benchmarks/space.h"

static const char *const POINTS[] = {
    "8b --chip v5e --slice 4x4 --batch 256Ki",
    "8b --chip v5e --slice 8x8 --batch 1Mi",
    "8b --chip v5e --slice 16x16 --batch 2Mi",
    "8b --chip v5p --slice 4x4x8 --batch 1Mi",
    "8b --chip v5p --slice 4x4x12 --batch 1Mi",
    "8b --chip v6e --slice 8x8 --batch 1Mi",
    "8b --chip h100 --nodes 1 --batch 128Ki",
    "8b --chip h100 --nodes 8 --batch 1Mi",
    "8b --chip h100 --nodes 12 --batch 1536Ki",
    "8b --chip h100 --nodes 32 --batch 4Mi",
    "8b --chip h100 --nodes 16 --batch 2Mi --seq 32768",
    "13b --chip a100 --nodes 8 --batch 1Mi",
    "70b --chip v5e --slice 16x16 --batch 1Mi",
    "70b --chip v5p --slice 4x8x8 --batch 2Mi",
    "70b --chip v5p --slice 8x8x8 --batch 4Mi",
    "70b --chip v5p --slice 8x8x12 --batch 4Mi",
    "70b --chip v5p --slice 8x16x16 --batch 8Mi --seq 4096",
    "70b --chip v6e --slice 16x16 --batch 2Mi",
    "70b --chip h100 --nodes 8 --batch 1Mi",
    "70b --chip h100 --nodes 16 --batch 1Mi",
    "70b --chip h100 --nodes 24 --batch 3Mi",
    "70b --chip h100 --nodes 64 --batch 4Mi",
    "70b --chip h100 --nodes 32 --batch 4Mi --seq 32768",
    "70b --chip h200 --nodes 16 --batch 2Mi",
    "70b --chip b200 --nodes 16 --batch 2Mi",
    "70b --chip a100 --nodes 32 --batch 2Mi",
    "gpt3-175b --chip a100 --nodes 64 --batch 2Mi",
    "mixtral-8x7b --chip h100 --nodes 8 --batch 1Mi",
    "mixtral-8x22b --chip h100 --nodes 32 --batch 2Mi",
    "mixtral-8x22b --chip v5e --slice 16x16 --batch 2Mi --seq 4096",
    "qwen3-30b-a3b --chip h100 --nodes 8 --batch 1Mi",
    "qwen3-235b-a22b --chip h100 --nodes 32 --batch 4Mi --seq 4096",
    "405b --chip h100 --nodes 128 --batch 8Mi",
    "405b --chip h100 --nodes 192 --batch 12Mi",
    "405b --chip v5p --slice 8x16x16 --batch 8Mi",
    "405b --chip v5p --slice 16x16x16 --batch 16Mi",
};

/* What becomes of one degree tuple. */
typedef struct {
    bool found;
    double seconds;       /* of the best plan */
    double missing_bytes; /* where none fits: of the one that lacks least; INFINITY means nothing divides */
} Price;

typedef struct {
    double relaxed;
    int64_t index;
} Candidate;

static int by_relaxed(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    return (x->relaxed > y->relaxed) - (x->relaxed < y->relaxed);
}

typedef enum { HAND_GREEDY, HAND_GRID, HAND_STOCK } Hand;

/* What scripts leave at its default. */
static bool is_stock(const KnobSpace *space, const Knobs *knobs) {
    return (knobs->schedule == SCHEDULE_NONE || knobs->schedule == SCHEDULE_1F1B) && knobs->virtual_stages == 1 &&
           knobs->stages == STAGES_EVEN && knobs->zero_stage == (space->zero_count > 1 ? 1 : 0) && knobs->regather &&
           !knobs->offload_optimizer && !knobs->methods.tensor_overlap && knobs->methods.grid.expert == 0;
}

static bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

/* Each role, from the innermost out, takes what it can of the axes in their order. False: degrees do not lie so. */
static bool in_order(const Space *space, const Degrees *degrees, Placement *out) {
    int64_t left[MESH_AXES_MAX];
    for (int axis = 0; axis < space->mesh.axis_count; axis++) left[axis] = space->mesh.axes[axis].size;
    for (int axis = 0; axis < MESH_AXES_MAX; axis++)
        for (int role = 0; role < ROLE_COUNT; role++) out->factor[axis][role] = 1;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = space->nested_mesh.nesting.order[i];
        int64_t rest = degrees->of[role];
        for (int axis = 0; axis < space->mesh.axis_count; axis++) {
            int64_t factor = common_divisor(rest, left[axis]);
            out->factor[axis][role] = (int32_t)factor;
            rest /= factor, left[axis] /= factor;
        }
        if (rest > 1) return false;
    }
    return true;
}

/* The best layout of one knob setting on any of the tuple's placements, into *out when it is faster. */
static bool solve(BenchTuple *tuple, int64_t index, Price *out, Error *error) {
    const Space *space = tuple->space;
    Arena arena = {0};
    Knobs knobs = knob_space_at(&tuple->knobs, index);
    struct Way *way = &tuple->ways[knob_space_methods(&tuple->knobs, index)];
    Shard shard;
    LayoutGraph graph;
    Relaxation relaxation;
    double *relaxed = ARENA_NEW(&arena, double, (size_t)tuple->placement_count);
    Candidate *order = ARENA_NEW(&arena, Candidate, (size_t)tuple->placement_count);
    tuple_admits(tuple, &knobs, &shard);
    bool ok = (relaxed && order) || error_memory(error);
    ok = ok && layout_graph(&space->setting, &shard, &knobs, &arena, &graph, error);
    if (ok) layout_relax(&graph, &way->least, &relaxation);
    if (ok && relaxation.fits) {
        batch_relaxed_seconds(&graph.rule, &relaxation, &way->table, relaxed);
        for (int64_t i = 0; i < tuple->placement_count; i++) order[i] = (Candidate){relaxed[i], i};
        qsort(order, (size_t)tuple->placement_count, sizeof *order, by_relaxed);
    }
    for (int64_t i = 0; ok && relaxation.fits && i < tuple->placement_count; i++) {
        LayoutSolution solution;
        if (out->found && order[i].relaxed >= out->seconds) break;
        ok = layout_solve(&graph, &way->rates[order[i].index], &solution, error);
        if (!ok || !solution.found) break;
        if (!out->found || solution.seconds < out->seconds) *out = (Price){true, solution.seconds, 0};
    }
    arena_free(&arena);
    return ok;
}

/* The relaxed time of one knob setting, or what it lacks; false means that memory is out. */
static bool relax(BenchTuple *tuple, int64_t index, TotalsCache *sums, double *seconds, Arena *arena, Candidate *list,
                  int64_t *count, Price *out, Error *error) {
    const Space *space = tuple->space;
    Knobs knobs = knob_space_at(&tuple->knobs, index);
    int64_t number = knob_space_methods(&tuple->knobs, index);
    Shard shard;
    BoundRows rows;
    double limit = cost_context_memory_limit(&space->setting), least = INFINITY;
    if (tuple_admits(tuple, &knobs, &shard) != PRUNED_COUNT) return true;
    if (!tuple_way(tuple, number, arena, error)) return false;
    const struct Way *way = &tuple->ways[number];
    Bounds bounds = space_bounds(space, sums);
    knob_rows(&bounds, &shard, &knobs, &way->least, INFINITY, &rows);
    double bytes = rows.least_bytes;
    if (bytes > limit) out->missing_bytes = min_real(out->missing_bytes, bytes - limit);
    if (bytes > limit) return true;
    for (int row = 0; row < rows.count; row++) {
        batch_relaxed_seconds(&rows.row[row].rule, &rows.row[row].relaxation, &way->table, seconds);
        for (int64_t i = 0; i < tuple->placement_count; i++) least = min_real(least, seconds[i]);
    }
    if (least < INFINITY) list[(*count)++] = (Candidate){least, index};
    return true;
}

/* The best plan of some degrees. Grids: in-order, microbatches of powers of two. */
static bool price(const Space *space, const Degrees *degrees, Hand hand, TotalsCache *sums, Price *out, Error *error) {
    Arena arena = {0};
    BenchTuple tuple;
    Placement placement;
    int64_t count = 0;
    bool grid = hand != HAND_GREEDY;
    *out = (Price){.missing_bytes = INFINITY};
    if (grid && !in_order(space, degrees, &placement)) return true;
    bool ok = tuple_start(space, degrees, &arena, &tuple, error);
    if (ok && grid) {
        tuple.placement_count = 1;
        tuple.placements = &placement;
    }
    Candidate *list = ok ? ARENA_NEW(&arena, Candidate, (size_t)tuple.knob_count) : NULL;
    double *seconds = ARENA_NEW(&arena, double, (size_t)placement_count(space->table, degrees));
    ok = ok && ((list && seconds) || error_memory(error));
    for (int64_t i = 0; ok && i < tuple.knob_count; i++) {
        Knobs knobs = knob_space_at(&tuple.knobs, i);
        if (grid && !is_power_of_two(knobs.microbatch_sequences)) continue;
        if (hand == HAND_STOCK && !is_stock(&tuple.knobs, &knobs)) continue;
        ok = relax(&tuple, i, sums, seconds, &arena, list, &count, out, error);
    }
    if (count > 0) qsort(list, (size_t)count, sizeof *list, by_relaxed);
    for (int64_t i = 0; ok && i < count && !(out->found && list[i].relaxed >= out->seconds); i++)
        ok = solve(&tuple, list[i].index, out, error);
    arena_free(&arena);
    return ok;
}

static bool grid_best(const Space *space, Hand hand, TotalsCache *sums, Price *out, Error *error) {
    for (int64_t i = 0; i < space->count; i++) {
        const Degrees *degrees = &space->degrees[i];
        Price own;
        PaddingSet forbidden;
        bool powers = true;
        for (int role = 0; role < ROLE_COUNT; role++) powers = powers && is_power_of_two(degrees->of[role]);
        if (!powers ||
            !degrees_may_divide(space->setting.model, &space->setting.work, degrees,
                                experts_may_fold(&space->domain, degrees), space->request->space.padding, &forbidden))
            continue;
        if (!price(space, degrees, hand, sums, &own, error)) return false;
        if (own.found && (!out->found || own.seconds < out->seconds)) *out = own;
        if (!out->found) out->missing_bytes = min_real(out->missing_bytes, own.missing_bytes);
    }
    return true;
}

/* Whether a step of the greedy way is one forward. */
static bool better(const Price *a, const Price *b) {
    if (a->found != b->found) return a->found;
    return a->found ? a->seconds < b->seconds : a->missing_bytes < b->missing_bytes;
}

static bool greedy_best(const Space *space, TotalsCache *sums, Price *out, Error *error) {
    static const Role ORDER[] = {ROLE_FSDP, ROLE_TENSOR, ROLE_EXPERT, ROLE_SEQUENCE, ROLE_PIPELINE};
    Degrees at;
    for (int role = 0; role < ROLE_COUNT; role++) at.of[role] = 1;
    at.of[ROLE_DATA] = space->mesh.devices;
    if (!price(space, &at, HAND_GREEDY, sums, out, error)) return false;
    for (size_t i = 0; i < COUNT_OF(ORDER); i++) {
        Degrees next = at;
        if (ORDER[i] == ROLE_EXPERT && space->domain.experts == 0) continue;
        /* Looks through the whole line of doublings: one that lacks is no reason to stop before one that gains. */
        while (next.of[ROLE_DATA] % 2 == 0) {
            Price own;
            next.of[ROLE_DATA] /= 2;
            next.of[ORDER[i]] *= 2;
            if (!price(space, &next, HAND_GREEDY, sums, &own, error)) return false;
            if (!better(&own, out)) continue;
            *out = own;
            at = next;
        }
    }
    return true;
}

typedef struct {
    Price exact, grid, stock, greedy;
    bool ok;
} Point;

/* The grid under each of the two policies. */
static bool stock_best(Request *request, Arena *arena, Price *out, Error *error) {
    static const char *const POLICIES[] = {"none", "full"};
    bool ok = true;
    for (size_t i = 0; ok && i < COUNT_OF(POLICIES); i++) {
        Space space;
        TotalsCache *sums = totals_cache_new(); /* of one setting */
        ok = (sums || error_memory(error)) && remat_parse(POLICIES[i], "--remat", &request->question.remat, error) &&
             space_open(request, arena, &space, error) && grid_best(&space, HAND_STOCK, sums, out, error);
        if (sums) totals_cache_free(sums);
    }
    return ok;
}

static bool solve_point(const char *words, Point *out) {
    Arena arena = {0};
    Error error = {0};
    char command[256];
    SearchResult result;
    Space space;
    TotalsCache *sums = totals_cache_new();
    Request *request = ARENA_NEW(&arena, Request, 1);
    snprintf(command, sizeof command, "plan --max-idle 0 --top 1 --model %s", words);
    bool ok = sums && request && request_from_text(command, &arena, request);
    out->grid = out->stock = (Price){.missing_bytes = INFINITY};
    if (ok) {
        request->control.threads = 1;
        ok = search_run(request, &arena, &result, &error);
        if (ok && result.plan_count > 0) out->exact = (Price){true, result.plans[0].ranked_seconds, 0};
        request->space.padding = PADDING_NONE;
    }
    ok = ok && space_open(request, &arena, &space, &error) && grid_best(&space, HAND_GRID, sums, &out->grid, &error) &&
         greedy_best(&space, sums, &out->greedy, &error) && stock_best(request, &arena, &out->stock, &error);
    if (error.kind != ERROR_NONE) fprintf(stderr, "%s: %s: %s\n", words, error.where, error.text);
    if (sums) totals_cache_free(sums);
    arena_free(&arena);
    out->ok = ok;
    return ok;
}

static void print_price(const Price *price, const Price *exact) {
    if (price->found && exact->found)
        printf(" %.4f | %+.1f%% |", price->seconds, 100 * (price->seconds / exact->seconds - 1));
    else
        printf(" %s | – |", price->missing_bytes < INFINITY ? "does not fit" : "does not divide");
}

static const Price *price_of(const Point *point, int column) {
    return column == 0 ? &point->grid : column == 1 ? &point->stock : &point->greedy;
}

static void summary(const char *name, const Point *points, int count, int column) {
    double *extra = calloc((size_t)count + 1, sizeof(double));
    int found = 0, beaten = 0, none = 0, all = 0;
    for (int i = 0; extra && i < count; i++) {
        const Price *other = price_of(&points[i], column);
        if (!points[i].ok || !points[i].exact.found) continue;
        all++;
        none += !other->found;
        if (!other->found) continue;
        extra[found] = 100 * (other->seconds / points[i].exact.seconds - 1);
        beaten += extra[found++] > 0.1;
    }
    qsort(extra, (size_t)found, sizeof(double), order_real);
    if (found > 0)
        printf(
            "- %s: no plan in %d of %d points; of the others the exact one is more than 0.1%% faster in %d (%.0f%%): "
            "the %s takes longer by %.1f%% (median), %.1f%% (p90), %.1f%% (worst).\n",
            name, none, all, beaten, 100.0 * beaten / found, name, extra[found / 2], extra[found * 9 / 10],
            extra[found - 1]);
    free(extra);
}

int main(int argc, char **argv) {
    bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0, ok = true;
    enum { QUICK = 1 };
    int count = quick ? QUICK : (int)COUNT_OF(POINTS);
    if (argc > 1 && !quick) {
        fprintf(stderr, "usage: %s [--quick]\n", argv[0]);
        return 2;
    }
    Point *points = calloc((size_t)count, sizeof(Point));
    if (!points) return 1;
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < count; i++) {
        solve_point(POINTS[i], &points[i]);
#pragma omp critical
        fprintf(stderr, "%s\n", POINTS[i]);
    }
    printf("| point | exact s | grid s | over exact | stock grid s | over exact | greedy s | over exact |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < count; i++) {
        ok = ok && points[i].ok;
        if (!points[i].ok) continue;
        printf("| %s |", POINTS[i]);
        if (points[i].exact.found)
            printf(" %.4f |", points[i].exact.seconds);
        else
            printf(" nothing fits |");
        for (int column = 0; column < 3; column++) print_price(price_of(&points[i], column), &points[i].exact);
        printf("\n");
    }
    printf("\n");
    summary("grid", points, count, 0);
    summary("stock grid", points, count, 1);
    summary("greedy", points, count, 2);
    free(points);
    return ok ? 0 : 1;
}
