/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many evaluations a second engine/bound/batch.c makes, and how many benchmarks/kernel: relaxed times of one knob
 * setting over all placements of its degrees, from tables. Knob settings, tables and programs are made before the clock
 * starts: brute.c has them inside. What each makes of a knob setting before it evaluates is within the clock. */
#include "benchmarks/kernel/evaluate.h"
#include "benchmarks/space.h"

/* One knob setting with what the loop needs of it. */
typedef struct {
    StepRule rule;
    Relaxation relaxation;
    const struct Way *way;
    const KernelProgram *program;
} Item;

typedef struct {
    Item *items;
    int64_t count, tuples, evaluations; /* evaluations of one pass over the items */
} Items;

typedef struct {
    const char *name, *command;
    int64_t tuples;
} Problem;

enum { KNOBS_EACH = 2048, ITEMS_MAX = 1 << 14, AGAIN = 16 };
#define EIGHT_PODS "plan --model 405b --pods 8 --max-idle 0 --padding any"
static const Problem PROBLEMS[] = {
    {"405b, 8 pods, the best degrees", EIGHT_PODS " --require data=8,fsdp=128,sequence=7,tensor=10,pipeline=1", 1},
    {"405b, 8 pods, degrees at random", EIGHT_PODS, 30},
    {"the same in profile ideal", EIGHT_PODS " --profile ideal", 30},
    {"kimi-k2, 512 nodes of H100",
     "plan --model kimi-k2 --chip h100 --nodes 512 --batch 16Mi --max-idle 0 --padding any", 30},
};

static int by_way(const void *a, const void *b) {
    const Item *x = a, *y = b;
    return (x->way > y->way) - (x->way < y->way);
}

/* The end of the items of one way. */
static int64_t way_end(const Items *work, int64_t from) {
    int64_t to = from;
    while (to < work->count && work->items[to].way == work->items[from].way) to++;
    return to;
}

/* The program of each way, of all groups that its items move. */
static bool add_programs(Items *work, int64_t from, int64_t placements, Arena *arena, Error *error) {
    for (int64_t to; from < work->count; from = to) {
        KernelProgram *program = ARENA_NEW(arena, KernelProgram, 1);
        KernelGroups groups = {0};
        to = way_end(work, from);
        for (int64_t i = from; i < to; i++) {
            KernelLanes lanes;
            kernel_lanes_clear(&lanes);
            for (int row = 0; row < work->items[i].relaxation.rows; row++)
                kernel_lanes_add(&lanes, &work->items[i].rule, &work->items[i].relaxation, row);
            groups.moving |= lanes.groups.moving, groups.hiding |= lanes.groups.hiding;
            work->items[i].program = program;
        }
        if (!program) return error_memory(error);
        if (!kernel_program(work->items[from].way->rates, placements, groups, arena, program, error)) return false;
    }
    return true;
}

/* Some knob settings of a tuple that are plans and fit. */
static bool add_tuple(const Space *space, const Degrees *degrees, Arena *arena, Items *work, Error *error) {
    BenchTuple *tuple = ARENA_NEW(arena, BenchTuple, 1);
    if (!tuple) return error_memory(error);
    if (!tuple_start(space, degrees, arena, tuple, error)) return false;
    int64_t step = max_whole(1, tuple->knob_count / KNOBS_EACH);
    int64_t before = work->count;
    for (int64_t i = 0; i < tuple->knob_count && work->count < ITEMS_MAX; i += step) {
        Knobs knobs = knob_space_at(&tuple->knobs, i);
        Shard shard;
        LayoutGraph graph;
        Item *item = &work->items[work->count];
        int64_t way = knob_space_methods(&tuple->knobs, i);
        if (tuple_admits(tuple, &knobs, &shard) != PRUNED_COUNT) continue;
        if (!tuple_way(tuple, way, arena, error) ||
            !layout_graph(&space->setting, &shard, &knobs, arena, &graph, error))
            return false;
        layout_relax(&graph, &tuple->ways[way].least, &item->relaxation);
        if (!item->relaxation.fits) continue;
        item->rule = graph.rule;
        item->way = &tuple->ways[way];
        work->evaluations += tuple->placement_count;
        work->count++;
    }
    qsort(work->items + before, (size_t)(work->count - before), sizeof(Item), by_way);
    work->tuples += work->count > before;
    return add_programs(work, before, tuple->placement_count, arena, error);
}

static bool collect(const Space *space, int64_t tuples, Arena *arena, Items *work, Error *error) {
    work->items = ARENA_NEW(arena, Item, ITEMS_MAX);
    if (!work->items) return error_memory(error);
    /* a step that shares no factor with the count, so that all kinds of tuples come up */
    int64_t step = max_whole(1, space->count * 2 / 5);
    while (common_divisor(step, space->count) != 1) step++;
    for (int64_t n = 0, at = 0; n < space->count && work->tuples < tuples; n++, at = (at + step) % space->count)
        if (request_admits(space->request, &space->degrees[at]) &&
            !add_tuple(space, &space->degrees[at], arena, work, error))
            return false;
    return true;
}

/* One thread's room. */
typedef struct {
    double *out; /* [placement] */
    KernelLanes *lanes;
    KernelRoom room;
} Thread;

static void pass_batch(const Items *work, int64_t from, int64_t to, Thread *thread) {
    for (int64_t i = from; i < to; i++)
        batch_relaxed_seconds(&work->items[i].rule, &work->items[i].relaxation, &work->items[i].way->table,
                              thread->out);
}

static void pass_kernel(const Items *work, int64_t from, int64_t to, Thread *thread) {
    KernelLanes *lanes = thread->lanes;
    double least[KERNEL_LANES];
    kernel_lanes_clear(lanes);
    for (int64_t i = from; i < to; i++) {
        const Item *item = &work->items[i];
        if (lanes->count + item->relaxation.rows > KERNEL_LANES) {
            if (!kernel_evaluate(item->program, lanes, &thread->room, least, NULL)) abort();
            kernel_lanes_clear(lanes);
        }
        for (int row = 0; row < item->relaxation.rows; row++)
            kernel_lanes_add(lanes, &item->rule, &item->relaxation, row);
    }
    if (!kernel_evaluate(work->items[from].program, lanes, &thread->room, least, NULL)) abort();
}

typedef void (*Pass)(const Items *, int64_t, int64_t, Thread *);

/* Evaluations a second of all threads together, each over all items again and again. */
static double rate(const Items *work, Pass pass, int threads, double seconds) {
    double all = 0;
    int64_t most = 1;
    for (int64_t i = 0; i < work->count; i++) most = max_whole(most, work->items[i].way->table.count);
#pragma omp parallel num_threads(threads) reduction(+ : all)
    {
        Thread thread = {malloc((size_t)most * sizeof(double)), aligned_alloc(64, sizeof(KernelLanes)), {0}};
        double began = processor_seconds(), took = 0;
        int64_t passes = 0;
        while (thread.out && thread.lanes && took < seconds) {
            /* A tuple has thousands of knob settings: its tables stay in the cache, as they do where all are tried. */
            for (int64_t from = 0, to; from < work->count; from = to) {
                to = way_end(work, from);
                for (int again = 0; again < AGAIN; again++) pass(work, from, to, &thread);
            }
            passes += AGAIN;
            took = processor_seconds() - began;
        }
        all += took > 0 ? (double)(passes * work->evaluations) / took : 0;
        free(thread.out);
        free(thread.lanes);
        kernel_room_free(&thread.room);
    }
    return all;
}

static const char *vector_unit(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return "AVX-512";
    return __builtin_cpu_supports("avx2") ? "AVX2" : "SSE2";
#else
    return "the compiler's default";
#endif
}

static bool run(const Problem *problem, double seconds) {
    Arena arena = {0};
    Error error = {0};
    Items work = {0};
    Request *request = ARENA_NEW(&arena, Request, 1);
    Space space;
    bool ok = request && request_from_text(problem->command, &arena, request) &&
              space_open(request, &arena, &space, &error) && collect(&space, problem->tuples, &arena, &work, &error);
    if (ok && work.count > 0) {
        double batch = rate(&work, pass_batch, 1, seconds), one = rate(&work, pass_kernel, 1, seconds),
               two = rate(&work, pass_kernel, 2, seconds);
        printf("| %s | %lld | %lld | %.0f | %.2e | %.2e | %.1f | %.2e | %.2f |\n", problem->name,
               (long long)work.tuples, (long long)work.count, (double)work.evaluations / (double)work.count, batch, one,
               one / batch, two, two / one);
        fflush(stdout);
    } else {
        fprintf(stderr, "%s: %s\n", problem->name, error.kind != ERROR_NONE ? error.text : "no plan");
    }
    arena_free(&arena);
    return ok && work.count > 0;
}

int main(int argc, char **argv) {
    bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0, ok = true;
    if (argc > 1 && !quick) {
        fprintf(stderr, "usage: %s [--quick]\n", argv[0]);
        return 2;
    }
    printf("Evaluations a second, in doubles, with %s:\n\n", vector_unit());
    printf("| problem | degree tuples | knob settings | placements each | batch | kernel | ratio | kernel, 2 threads | "
           "scaling |\n");
    printf("|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < (quick ? 1 : COUNT_OF(PROBLEMS)); i++) ok = run(&PROBLEMS[i], quick ? 0.1 : 2) && ok;
    return ok ? 0 : 1;
}
