/* SPDX-License-Identifier: GPL-3.0-or-later */
/* benchmark_layout FOLDER [--cpu] [--share X] [--threads N] [--only NAMES] [--quick]: every instance of google/iopddl
 * in the folder (A.json, A.json.gz ...), solved within its official time limit, alongside the best published costs; a
 * process for each, so that peak memory is its own. --cpu: seconds are those of the processor, divided by the threads,
 * for machines that do other things too. --share: that part of the limit. --quick: example-like graphs of
 * tests/data/layout. */
#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "search/cli/commands/inflate.h"
#include "search/graph/problem.h"
#include "search/graph/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    const char *folder, *only;
    bool cpu, quick;
    double share;
    int threads;
} Choice;

typedef struct {
    double start;
    int per; /* seconds of the processor count for so many threads; 0: wall time */
} Environment;

static double world_seconds(void *context) {
    const Environment *world = context;
    struct timespec now;
    if (world->per == 0) return clock_seconds() - world->start;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec) / world->per;
}

static bool never(void *context) {
    (void)context;
    return false;
}

static bool load(const char *path, StrategyGraph *graph, Error *error) {
    Arena arena = {0};
    char *text = NULL, *inflated = NULL;
    size_t length = 0, limit = (size_t)2 << 30;
    bool ok = file_read(path, limit, &arena, &text, &length, error);
    if (ok && inflate_is_gzip(text, length)) ok = inflate_gzip(text, length, limit, path, &inflated, &length, error);
    ok = ok && graph_read(inflated ? inflated : text, length, path, graph, error);
    free(inflated);
    arena_free(&arena);
    return ok;
}

typedef struct {
    double seconds, cost, bound;
    int nodes, core_nodes;
    bool proven, failed;
    bool infeasible; /* proven: nothing fits */
} Row;

static Row solve(const char *path, const Choice *choice, double limit) {
    Environment world = {clock_seconds(), choice->cpu ? choice->threads : 0};
    GraphControl control = {.context = &world,
                            .seconds = world_seconds,
                            .interrupted = never,
                            .time_limit = limit,
                            .effort = 1,
                            .threads = choice->threads};
    Arena arena = {0};
    Error error = {0};
    StrategyGraph graph;
    GraphResult result;
    if (!load(path, &graph, &error) || !graph_solve(&graph, &control, &arena, &result, &error)) {
        fprintf(stderr, "%s: %s\n", error.where, error.text);
        return (Row){.failed = true};
    }
    return (Row){world_seconds(&world),
                 result.found ? (double)result.value.cost : INFINITY,
                 (double)result.bound,
                 graph.node_count,
                 result.core_nodes,
                 result.proof == GRAPH_OPTIMAL,
                 false,
                 result.proof == GRAPH_INFEASIBLE};
}

/* In a process of its own; bytes: the most that it held. */
static Row solve_apart(const char *path, const Choice *choice, double limit, double *bytes) {
    int ends[2];
    Row row = {.failed = true};
    struct rusage usage = {0};
    *bytes = 0;
    fflush(stdout);
    if (pipe(ends) != 0) return row;
    pid_t child = fork();
    if (child == 0) {
        row = solve(path, choice, limit);
        _exit(write(ends[1], &row, sizeof row) == sizeof row ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &row, sizeof row) != sizeof row) row.failed = true;
    close(ends[0]);
    if (child > 0) wait4(child, NULL, 0, &usage);
    *bytes = 1024.0 * (double)usage.ru_maxrss;
    return row;
}

static const char *percent(double value, double of, char *text) {
    if (isfinite(value) && of > 0)
        snprintf(text, NUMBER_TEXT_SIZE, "%+.3f%%", 100 * (value / of - 1));
    else
        snprintf(text, NUMBER_TEXT_SIZE, "-");
    return text;
}

static bool print_row(const char *name, const char *path, const Choice *choice, double limit, double best,
                      double goal) {
    char cost[NUMBER_TEXT_SIZE], bound[NUMBER_TEXT_SIZE], bytes[NUMBER_TEXT_SIZE];
    char gap[NUMBER_TEXT_SIZE], over[NUMBER_TEXT_SIZE], beyond[NUMBER_TEXT_SIZE];
    double held = 0;
    Row row = solve_apart(path, choice, limit * choice->share, &held);
    if (!row.failed && row.infeasible) {
        printf("| %s | %d | %d | nothing fits | proven | - | - | - | %.0f | %.1f | %s |\n", name, row.nodes,
               row.core_nodes, limit, row.seconds, number_bytes(held, bytes));
        return true;
    }
    if (row.failed || !isfinite(row.cost)) {
        printf("| %s | failed |\n", name);
        return false;
    }
    snprintf(gap, sizeof gap, "%.3f%%", 100 * (1 - row.bound / row.cost));
    printf("| %s | %d | %d | %s | %s | %s | %s | %s | %.0f | %.1f | %s |\n", name, row.nodes, row.core_nodes,
           number_grouped((int64_t)row.cost, cost), row.proven ? "proven" : number_grouped((int64_t)row.bound, bound),
           row.proven ? "0" : gap, percent(row.cost, best, over), percent(row.cost, goal, beyond), limit, row.seconds,
           number_bytes(held, bytes));
    fflush(stdout);
    return true;
}

static void print_head(const Choice *choice) {
    printf("%d thread%s, %s%s\n\n", choice->threads, choice->threads > 1 ? "s" : "",
           choice->cpu ? "seconds of the processor for each thread" : "wall seconds",
           choice->share < 1 ? ", a part of the limit" : "");
    printf(
        "| instance | nodes | core | cost | bound | gap | over best published | over goal | limit s | s | memory |\n");
    printf("|---|---|---|---|---|---|---|---|---|---|---|\n");
}

static bool run_folder(const Choice *choice) {
    char line[256], path[4096], name[32];
    double seconds, best, goal;
    bool ok = true;
    FILE *targets = fopen(SHARDOPT_SOURCE_DATA "/benchmarks/layout.tsv", "r");
    if (!targets) return false;
    print_head(choice);
    while (fgets(line, sizeof line, targets)) {
        if (sscanf(line, "%31s %lf %lf %lf", name, &seconds, &best, &goal) != 4) continue;
        if (choice->only && !strstr(choice->only, name)) continue;
        snprintf(path, sizeof path, "%s/%s.json", choice->folder, name);
        if (access(path, R_OK) != 0) snprintf(path, sizeof path, "%s/%s.json.gz", choice->folder, name);
        if (access(path, R_OK) == 0) ok &= print_row(name, path, choice, seconds, best, goal);
    }
    fclose(targets);
    return ok;
}

static bool run_quick(const Choice *choice) {
    Arena arena = {0};
    Error error = {0};
    char **names;
    size_t count = 0;
    const char *folder = SHARDOPT_SOURCE_DATA "/tests/data/layout";
    bool ok = file_list(folder, ".json", &arena, &names, &count, &error);
    print_head(choice);
    for (size_t k = 0; k < count; k++)
        ok &= print_row(names[k], arena_format(&arena, "%s/%s", folder, names[k]), choice, 10, 0, 0);
    arena_free(&arena);
    return ok && count > 0;
}

int main(int argc, char **argv) {
    Choice choice = {.share = 1, .threads = 2};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--cpu") == 0)
            choice.cpu = true;
        else if (strcmp(argv[i], "--quick") == 0)
            choice.quick = true;
        else if (strcmp(argv[i], "--share") == 0)
            choice.share = atof(value), i++;
        else if (strcmp(argv[i], "--threads") == 0)
            choice.threads = atoi(value) > 0 ? atoi(value) : 1, i++;
        else if (strcmp(argv[i], "--only") == 0)
            choice.only = value, i++;
        else
            choice.folder = argv[i];
    }
    if (choice.quick) return run_quick(&choice) ? 0 : 1;
    if (!choice.folder) {
        fprintf(stderr, "usage: benchmark_layout FOLDER [--cpu] [--share X] [--threads N] [--only NAMES] [--quick]\n");
        return 2;
    }
    return run_folder(&choice) ? 0 : 1;
}
