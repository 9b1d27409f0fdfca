/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Brute force over the space of one machine: of every degree tuple (or of every n-th) each knob setting that divides
 * is made into coefficients, and those whose memory fits are evaluated on all placements, layouts relaxed, by
 * benchmarks/kernel, which the search does not use. Every n-th of them is evaluated once more by the plain
 * relaxed_seconds(), and must be the same to the last bit. Whatever is not above the search's k-th best time is then
 * solved with its layout: of the tuples walked the rows must be the search's, bit for bit. See README.md alongside this
 * file. */
#include "benchmarks/waiting.h"
#include "cost/time/slack.h"
#include "search/engine/explore/explore.h"

#include <omp.h>

enum { TOP_MOST = 256, ROWS_MOST = 4096 };
#define EIGHT_PODS "plan --model 405b --pods 8 --max-idle 0 --padding any"

/* What the walk found and did. */
typedef struct {
    Count plans, indivisible, equal, memory, evaluated; /* plans: the sum of the others */
    int64_t tuples, knobs, solved;
    int64_t checked, different; /* plans that relaxed_seconds() has looked at too, and those that differ */
    double coefficients, tables, evaluation, checks, layouts; /* wall seconds of all threads */
    double processor;                                         /* seconds that they had one */
    double best[TOP_MOST];                                    /* the least relaxed times, rising */
    int best_count, top;
    BestPlan rows[ROWS_MOST]; /* best exact plan of each (degrees, schedule, grid) within the limit */
    int row_count;
    bool failed;
} Found;

/* A thread's own. */
typedef struct {
    Found *found;
    TotalsCache *sums;
    Waiting *waiting;
    int64_t check;       /* every n-th knob setting is checked; 0: none */
    double limit, scale; /* ranked seconds, and per step second */
    double *seconds;     /* [placement] */
    Count placements;    /* of the tuple */
    int64_t room;
    double at; /* of the clock, last looked at */
} Walk;

/* Seconds since the clock was last looked at, to what took them. */
static void charge(Walk *walk, double *to) {
    double here = clock_seconds();
    *to += here - walk->at;
    walk->at = here;
}

static void note_best(Found *found, double seconds) {
    if (found->best_count == found->top && seconds >= found->best[found->top - 1]) return;
    int at = found->best_count < found->top ? found->best_count++ : found->top - 1;
    for (; at > 0 && found->best[at - 1] > seconds; at--) found->best[at] = found->best[at - 1];
    found->best[at] = seconds;
}

static bool keep_row(Found *found, const BestPlan *row) {
    for (int i = 0; i < found->row_count; i++) {
        BestPlan *own = &found->rows[i];
        if (degrees_compare(&own->degrees, &row->degrees) != 0 || !knobs_compete(&own->knobs, &row->knobs)) continue;
        if (best_plan_compare(row, own) < 0) *own = *row;
        return true;
    }
    if (found->row_count == ROWS_MOST) return false;
    found->rows[found->row_count++] = *row;
    return true;
}

static int by_seconds(const void *a, const void *b) {
    double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

/* The exact plans of one knob setting that may be within the limit. */
static bool solve(const BenchTuple *tuple, const struct Way *way, const WaitingKnobs *of, Walk *walk, Error *error) {
    const Space *space = tuple->space;
    const Knobs *knobs = &of->knobs;
    Arena arena = {0};
    LayoutGraph graph;
    Relaxation relaxation;
    double **order = ARENA_NEW(&arena, double *, (size_t)tuple->placement_count), *relaxed = walk->seconds;
    bool ok = (order || error_memory(error)) && layout_graph(&space->setting, &of->shard, knobs, &arena, &graph, error);
    int64_t count = 0;
    BestPlan best = {0};
    if (ok) layout_relax(&graph, &way->least, &relaxation);
    if (ok && relaxation.fits) {
        batch_relaxed_seconds(&graph.rule, &relaxation, &way->table, relaxed);
        for (int64_t i = 0; i < tuple->placement_count; i++)
            if (relaxed[i] * walk->scale <= walk->limit) order[count++] = &relaxed[i];
        qsort(order, (size_t)count, sizeof *order, by_seconds);
    }
    for (int64_t i = 0; ok && i < count; i++) {
        if (best.found && *order[i] * walk->scale > best.ranked_seconds) break;
        int64_t placement = order[i] - relaxed;
        LayoutSolution solution;
        ok = layout_solve(&graph, &way->rates[placement], &solution, error);
        walk->found->solved++;
        if (!ok || !solution.found) break; /* memory is the same for all placements */
        BestPlan row = {.found = true,
                        .ranked_seconds = solution.seconds * walk->scale,
                        .degrees = *tuple->degrees,
                        .knobs = *knobs,
                        .placement = tuple->placements[placement],
                        .sequences = space->setting.work.sequences};
        for (int moment = 0; moment < MOMENT_COUNT; moment++)
            row.memory_bytes = max_real(row.memory_bytes, solution.resources.of[RES_MEMORY + moment]);
        if (!best.found || best_plan_compare(&row, &best) < 0) best = row;
    }
    if (ok && best.found && best.ranked_seconds <= walk->limit)
        ok = keep_row(walk->found, &best) ||
             error_set(error, ERROR_INTERNAL, "brute", "more than %d rows within the limit", ROWS_MOST);
    arena_free(&arena);
    return ok;
}

/* One knob setting whose least time is known: its places among the least of all, the check, and its exact plans. */
static bool look_at(BenchTuple *tuple, const WaitingKnobs *knobs, Arena *arena, Walk *walk, Error *error) {
    Found *found = walk->found;
    Waiting *waiting = walk->waiting;
    struct Way *way = &tuple->ways[waiting->way];
    double scale = SLACK * walk->scale, least = knobs->least * scale; /* coefficients add in another order than plans */
    bool among = found->best_count < found->top || least < found->best[found->top - 1];
    bool check = walk->check > 0 && found->knobs % walk->check == 0;
    found->knobs++;
    found->evaluated += (Count)tuple->placement_count;
    if ((among || check) && !waiting_seconds(waiting, knobs, walk->seconds, error)) return false;
    for (int64_t p = 0; among && p < tuple->placement_count; p++) {
        if (found->best_count == found->top && least >= found->best[found->top - 1]) break;
        note_best(found, walk->seconds[p] * scale);
    }
    charge(walk, &found->evaluation);
    if (check) {
        found->checked += tuple->placement_count;
        found->different += waiting_differences(knobs, way, walk->seconds, tuple->placement_count);
        charge(walk, &found->checks);
    }
    if (least > walk->limit) return true;
    bool ok = tuple_way(tuple, waiting->way, arena, error) && solve(tuple, way, knobs, walk, error);
    charge(walk, &found->layouts);
    return ok;
}

/* Evaluates what waits. */
static bool flush(BenchTuple *tuple, Arena *arena, Walk *walk, Error *error) {
    Waiting *waiting = walk->waiting;
    bool ok = true;
    charge(walk, &walk->found->coefficients);
    if (waiting->count > 0) ok = waiting_program(waiting, &tuple->ways[waiting->way], tuple->placement_count, error);
    charge(walk, &walk->found->tables);
    ok = ok && waiting_evaluate(waiting, error);
    charge(walk, &walk->found->evaluation);
    for (int i = 0; ok && i < waiting->count; i++) ok = look_at(tuple, &waiting->knobs[i], arena, walk, error);
    waiting->count = waiting->batch_count = 0;
    waiting->groups = (KernelGroups){0};
    return ok;
}

/* Has a knob setting of the way that is open wait for the kernel, where it is a plan and fits. */
static bool try_knobs(BenchTuple *tuple, int64_t index, Arena *arena, Walk *walk, Error *error) {
    const Space *space = tuple->space;
    Found *found = walk->found;
    WaitingKnobs *next = waiting_next(walk->waiting);
    int64_t number = walk->waiting->way;
    next->knobs = knob_space_at(&tuple->knobs, index);
    PruneReason out = tuple_admits(tuple, &next->knobs, &next->shard);
    if (out != PRUNED_COUNT) {
        *(out == PRUNED_EQUAL ? &found->equal : &found->indivisible) += walk->placements;
        return true;
    }
    if (!tuple->ways[number].rates) {
        charge(walk, &found->coefficients);
        if (!tuple_way_rates(tuple, number, arena, error)) return false;
        charge(walk, &found->tables);
    }
    Bounds bounds = space_bounds(space, walk->sums);
    knob_rows(&bounds, &next->shard, &next->knobs, &tuple->ways[number].least, INFINITY, &next->rows);
    if (next->rows.least_bytes > cost_context_memory_limit(&space->setting) || next->rows.count == 0) {
        found->memory += walk->placements;
        return true;
    }
    waiting_add(walk->waiting);
    return !waiting_is_full(walk->waiting) || flush(tuple, arena, walk, error);
}

static bool room_for(Walk *walk, int64_t count, Error *error) {
    if (count <= walk->room) return true;
    free(walk->seconds);
    walk->seconds = malloc((size_t)count * sizeof(double));
    walk->room = walk->seconds ? count : 0;
    return walk->room > 0 || error_memory(error);
}

/* All knob settings of one degree tuple. Families whose sizes do not divide are counted and left. */
static bool walk_tuple(const Space *space, const Degrees *degrees, Walk *walk, Error *error) {
    Arena arena = {0};
    BenchTuple tuple;
    Count placements = walk->placements = placement_count(space->table, degrees);
    walk->at = clock_seconds();
    bool ok = tuple_start(space, degrees, &arena, &tuple, error) && room_for(walk, (int64_t)placements, error);
    int64_t size = ok ? knob_family_size(&tuple.knobs) : 0, families = ok ? knob_family_count(&tuple.knobs) : 0;
    walk->found->tuples++;
    walk->found->plans += placements * (Count)(size * families);
    /* by ways to exchange, so that a way's tables stay near */
    for (int64_t way = 0; ok && size > 0 && way < tuple.knobs.method_count; way++) {
        waiting_start(walk->waiting, way);
        for (int64_t family = 0; ok && family < families; family++) {
            if (knob_space_methods(&tuple.knobs, family * size) != way) continue;
            Knobs knobs = knob_space_at(&tuple.knobs, family * size);
            Shard shard;
            knobs.virtual_stages = 1; /* with more chunks nothing divides better */
            if (!shard_of_plan(space->setting.model, &space->setting.work, degrees, &knobs,
                               space->request->space.padding, &shard)) {
                walk->found->indivisible += placements * (Count)size;
                continue;
            }
            for (int64_t i = 0; ok && i < size; i++) ok = try_knobs(&tuple, family * size + i, &arena, walk, error);
        }
        ok = ok && flush(&tuple, &arena, walk, error);
    }
    charge(walk, &walk->found->coefficients);
    arena_free(&arena);
    return ok;
}

static void merge(Found *to, const Found *from) {
    to->plans += from->plans, to->indivisible += from->indivisible, to->equal += from->equal;
    to->memory += from->memory, to->evaluated += from->evaluated;
    to->tuples += from->tuples, to->knobs += from->knobs, to->solved += from->solved;
    to->checked += from->checked, to->different += from->different, to->checks += from->checks;
    to->coefficients += from->coefficients, to->tables += from->tables;
    to->evaluation += from->evaluation, to->layouts += from->layouts;
    to->processor += from->processor;
    to->failed = to->failed || from->failed;
    for (int i = 0; i < from->best_count; i++) note_best(to, from->best[i]);
    for (int i = 0; i < from->row_count; i++) to->failed = !keep_row(to, &from->rows[i]) || to->failed;
}

static bool is_a_plan(const SearchResult *search, const Degrees *degrees) {
    for (int i = 0; i < search->plan_count; i++)
        if (degrees_compare(&search->plans[i].plan.degrees, degrees) == 0) return true;
    return false;
}

/* What is requested on the command line. */
typedef struct {
    const char *command;
    int64_t every, check;
    int threads;
} Task;

/* Every n-th tuple, and those of the search's plans. */
static bool walk_all(const Space *space, const SearchResult *search, const Task *task, double limit, Found *all) {
#pragma omp parallel num_threads(task->threads)
    {
        Error error = {0};
        double began = processor_seconds();
        Found *own = calloc(1, sizeof(Found));
        Walk walk = {.found = own,
                     .sums = totals_cache_new(),
                     .waiting = waiting_new(),
                     .check = task->check,
                     .limit = limit,
                     .scale = 1};
        bool ok = own && walk.sums && walk.waiting;
        if (own) own->top = all->top;
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < space->count; i++) {
            const Degrees *degrees = &space->degrees[i];
            if (!ok || (i % task->every != 0 && !is_a_plan(search, degrees))) continue;
            if (request_admits(space->request, degrees)) ok = walk_tuple(space, degrees, &walk, &error);
        }
#pragma omp critical
        {
            if (!ok) fprintf(stderr, "%s: %s\n", error.where, error.text);
            all->failed = all->failed || !ok;
            if (own) own->processor = processor_seconds() - began;
            if (own) merge(all, own);
        }
        if (walk.sums) totals_cache_free(walk.sums);
        waiting_free(walk.waiting);
        free(walk.seconds);
        free(own);
    }
    return !all->failed;
}

static int by_row(const void *a, const void *b) { return best_plan_compare(a, b); }

/* Whether what was found within the limit are the search's rows: no other, no time that differs in a bit. */
static bool equal(const SearchResult *search, Found *found) {
    int matched = 0;
    qsort(found->rows, (size_t)found->row_count, sizeof(BestPlan), by_row);
    for (int i = 0; i < search->plan_count && i < found->row_count; i++) {
        const RankedPlan *plan = &search->plans[i];
        const BestPlan *row = &found->rows[i];
        matched += row->ranked_seconds == plan->ranked_seconds && row->sequences == plan->work.sequences &&
                   degrees_compare(&row->degrees, &plan->plan.degrees) == 0 &&
                   knobs_compare(&row->knobs, &plan->plan.knobs) == 0 &&
                   placement_compare(&row->placement, &plan->plan.placement) == 0;
    }
    printf(
        "rows not above the search's last: %d; equal to the search's in degrees, knobs, placement and every bit of the "
        "time: %d of %d\n",
        found->row_count, matched, search->plan_count);
    return matched == search->plan_count && found->row_count == search->plan_count;
}

static Count all_plans(const Space *space) {
    Count all = 0;
    for (int64_t i = 0; i < space->count; i++)
        all +=
            placement_count(space->table, &space->degrees[i]) *
            (Count)knob_count(space->setting.model, &space->degrees[i], space->setting.work.sequences, &space->domain);
    return all;
}

static void print(const Space *space, const Found *found, const Task *task, double seconds) {
    int64_t every = task->every;
    int threads = task->threads;
    double plans = (double)found->plans, whole = (double)all_plans(space);
    printf(
        "walked %lld of %lld degree tuples (every %lld-th): %.4e of %.4e plans in %.1f s on %d threads, which had %.1f "
        "s of a processor\n",
        (long long)found->tuples, (long long)space->count, (long long)every, plans, whole, seconds, threads,
        found->processor);
    printf(
        "of them %.4e do not divide, %.4e are equal to another, %.4e do not fit, %.4e evaluated (%lld knob settings, "
        "%.0f placements each)\n",
        (double)found->indivisible, (double)found->equal, (double)found->memory, (double)found->evaluated,
        (long long)found->knobs, (double)found->evaluated / (double)max_whole(1, found->knobs));
    double all = found->coefficients + found->tables + found->evaluation + found->checks + found->layouts;
    printf(
        "share of time: %.0f%% coefficients and memory, %.0f%% placements and rates, %.0f%% evaluation, %.0f%% checks, "
        "%.0f%% layouts (%lld solved)\n",
        100 * found->coefficients / all, 100 * found->tables / all, 100 * found->evaluation / all,
        100 * found->checks / all, 100 * found->layouts / all, (long long)found->solved);
    printf("evaluated again by the plain formula: %lld plans, of which %lld differ in a bit\n",
           (long long)found->checked, (long long)found->different);
    printf("plans a second: %.3e covered, %.3e evaluated; a second of a processor: %.3e covered, %.3e evaluated\n",
           plans / seconds, (double)found->evaluated / seconds, plans / found->processor,
           (double)found->evaluated / found->processor);
    if (found->plans > 0 && every > 1)
        printf("the whole space at this rate: %.0f s on %d threads; %.0f s on as many that are their own\n",
               seconds * whole / plans, threads, found->processor * whole / plans / threads);
    printf("least relaxed times:");
    for (int i = 0; i < found->best_count; i++) printf(" %.6f", found->best[i]);
    printf("\n");
}

/* A row of a table: what was walked, the rates, and the search alongside it. */
static void print_row(const Found *found, const SearchResult *search, double seconds) {
    char covered[COUNT_TEXT_SIZE], evaluated[COUNT_TEXT_SIZE], of_search[COUNT_TEXT_SIZE];
    printf("ROW | %s | %s | %.2f | %.2e | %.2e | %s | %.3f | %.2e | %.3f |\n", count_text(found->plans, true, covered),
           count_text(found->evaluated, true, evaluated), seconds, (double)found->plans / found->processor,
           (double)found->evaluated / found->processor, count_text(search->certificate.plans_covered, true, of_search),
           search->seconds, (double)search->certificate.plans_covered / search->seconds,
           search->plans[0].ranked_seconds);
}

static bool run(const Task *task) {
    const char *command = task->command;
    Arena arena = {0};
    Error error = {0};
    Request *request = ARENA_NEW(&arena, Request, 1);
    Found *found = calloc(1, sizeof(Found));
    SearchResult search;
    Space space;
    bool ok = request && found && request_from_text(command, &arena, request);
    if (ok &&
        (request->space.max_idle > 0 || request->space.batch_tolerance > 0 ||
         request->space.padding == PADDING_LAUNCHABLE || request->space.launchers || request->control.top > TOP_MOST)) {
        fprintf(stderr, "brute: one machine, one batch, no launchers: give --max-idle 0 and --padding any or none\n");
        ok = false;
    }
    if (ok) {
        request->control.threads = task->threads;
        ok = search_run(request, &arena, &search, &error) && space_open(request, &arena, &space, &error);
    }
    if (ok && search.plan_count < request->control.top) {
        fprintf(stderr, "brute: the search has fewer plans than requested\n");
        ok = false;
    }
    if (ok) {
        double limit = search.plans[search.plan_count - 1].ranked_seconds, began = clock_seconds();
        printf("%s\nsearch: %.2f s, the %d best from %.17g to %.17g s, nothing cut below %.17g s\n", command,
               search.seconds, search.plan_count, search.plans[0].ranked_seconds, limit,
               search.certificate.best_bound_seconds);
        found->top = request->control.top;
        /* relaxed times carry a slack of less than 1e-11, downwards: what is within the limit is found */
        ok = walk_all(&space, &search, task, limit, found);
        double seconds = clock_seconds() - began;
        print(&space, found, task, seconds);
        print_row(found, &search, seconds);
        ok = ok && equal(&search, found) && found->different == 0;
        printf("%s\n", ok ? "EQUAL" : "NOT EQUAL");
    } else if (error.kind != ERROR_NONE) {
        fprintf(stderr, "%s: %s\n", error.where, error.text);
    }
    free(found);
    arena_free(&arena);
    return ok;
}

int main(int argc, char **argv) {
    Task task = {EIGHT_PODS, 1, 1000, omp_get_max_threads()};
    bool known = true;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--every") == 0 && more)
            task.every = strtoll(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--check") == 0 && more)
            task.check = strtoll(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--threads") == 0 && more)
            task.threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--quick") == 0)
            task.check = 1,
            task.command = "plan --model 8b --chip v5e --slice 4x4 --batch 256Ki --max-idle 0 --padding any";
        else if (argv[i][0] != '-')
            task.command = argv[i];
        else
            known = false;
    }
    if (!known || task.every < 1 || task.check < 0 || task.threads < 1) {
        fprintf(stderr, "usage: %s [--every N] [--check N] [--threads N] [--quick] ['plan --model ...']\n", argv[0]);
        return 2;
    }
    return run(&task) ? 0 : 1;
}
