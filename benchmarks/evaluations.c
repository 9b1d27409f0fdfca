/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many evaluations a second search/bound/batch.c makes: relaxed times of one knob setting over all placements of
 * its degrees, from tables. Knob settings and tables are made before the clock starts: brute.c has them inside. */
#include "benchmarks/space.h"

#include <omp.h>

/* One knob setting with what the loop needs of it. */
typedef struct {
    StepRule rule;
    Relaxation relaxation;
    const RateTable *table;
} Item;

typedef struct {
    Item *items;
    int64_t count, tuples, evaluations; /* evaluations of one pass over the items */
} Items;

typedef struct {
    const char *name, *command;
    int64_t tuples;
} Problem;

enum { KNOBS_EACH = 64, ITEMS_MAX = 1 << 14, AGAIN = 16 };
#define EIGHT_PODS "plan --model 405b --pods 8 --max-idle 0 --padding any"
static const Problem PROBLEMS[] = {
    {"405b, 8 pods, the best degrees", EIGHT_PODS " --require data=8,fsdp=128,sequence=7,tensor=10,pipeline=1", 1},
    {"405b, 8 pods, degrees at random", EIGHT_PODS, 60},
    {"the same in profile ideal", EIGHT_PODS " --profile ideal", 60},
    {"kimi-k2, 512 nodes of H100",
     "plan --model kimi-k2 --chip h100 --nodes 512 --batch 16Mi --max-idle 0 --padding any", 30},
};

static int by_table(const void *a, const void *b) {
    const Item *x = a, *y = b;
    return (x->table > y->table) - (x->table < y->table);
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
        item->table = &tuple->ways[way].table;
        work->evaluations += tuple->placement_count;
        work->count++;
    }
    qsort(work->items + before, (size_t)(work->count - before), sizeof(Item), by_table);
    work->tuples += work->count > before;
    return true;
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

/* Evaluations a second of all threads together, each over all items again and again. */
static double rate(const Items *work, int threads, double seconds) {
    double all = 0;
    int64_t most = 1;
    for (int64_t i = 0; i < work->count; i++) most = max_whole(most, work->items[i].table->count);
#pragma omp parallel num_threads(threads) reduction(+ : all)
    {
        double *out = malloc((size_t)most * sizeof(double)), began = processor_seconds(), took = 0;
        int64_t passes = 0;
        while (out && took < seconds) {
            /* A tuple has thousands of knob settings: its tables stay in the cache, as they do where all are tried. */
            for (int64_t from = 0, to; from < work->count; from = to) {
                for (to = from; to < work->count && work->items[to].table == work->items[from].table;) to++;
                for (int again = 0; again < AGAIN; again++)
                    for (int64_t i = from; i < to; i++)
                        batch_relaxed_seconds(&work->items[i].rule, &work->items[i].relaxation, work->items[i].table,
                                              out);
            }
            passes += AGAIN;
            took = processor_seconds() - began;
        }
        all += (double)(passes * work->evaluations) / took;
        free(out);
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
        double one = rate(&work, 1, seconds), two = rate(&work, 2, seconds);
        printf("| %s | %lld | %lld | %.0f | %.2e | %.2e | %.2f |\n", problem->name, (long long)work.tuples,
               (long long)work.count, (double)work.evaluations / (double)work.count, one, two, two / one);
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
    printf("| problem | degree tuples | knob settings | placements each | 1 thread | 2 threads | scaling |\n");
    printf("|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < (quick ? 1 : COUNT_OF(PROBLEMS)); i++) ok = run(&PROBLEMS[i], quick ? 0.1 : 2) && ok;
    return ok ? 0 : 1;
}
