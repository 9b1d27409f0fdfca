/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt layout FILE`: a strategy graph of the public contest, solved. */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory_stream.h"
#include "base/number.h"
#include "search/cli/commands.h"
#include "search/cli/commands/inflate.h"
#include "search/cli/commands/layout_options.h"
#include "search/cli/interrupt.h"
#include "search/cli/views/layout_view.h"
#include "search/graph/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a file, and of what is inflated from one: five times the contest's largest, so that two megabytes of gzip cannot
 * take gigabytes of memory. */
static const size_t BYTES_MAX = (size_t)512 << 20;
/* What is under way when the limit comes is finished, and the result evaluated and written: that must fit in too. */
static const double RESERVE_SECONDS = 0.25, RESERVE_SHARE = 0.01;

typedef struct {
    FILE *err;
    double start;
} LayoutWorld;

static double world_seconds(void *context) { return clock_seconds() - ((LayoutWorld *)context)->start; }

static void environment_progress(void *context, const GraphProgress *progress) {
    LayoutWorld *world = context;
    char cost[NUMBER_TEXT_SIZE], bound[NUMBER_TEXT_SIZE];
    fprintf(world->err, "shardopt: %.1f s: %s: cost %s, bound %s", progress->seconds, progress->stage,
            progress->found ? number_grouped(progress->cost, cost) : "none yet",
            number_grouped(progress->bound, bound));
    if (progress->found && progress->cost > 0)
        fprintf(world->err, ", gap %.3f%%", 100 * (1 - (double)progress->bound / (double)progress->cost));
    fputc('\n', world->err);
}

static bool read_graph(const char *path, StrategyGraph *graph, Error *error) {
    Arena arena = {0};
    char *text = NULL, *inflated = NULL;
    size_t length = 0;
    bool ok = file_read(path, BYTES_MAX, &arena, &text, &length, error);
    if (ok && inflate_is_gzip(text, length)) {
        ok = inflate_gzip(text, length, BYTES_MAX, path, &inflated, &length, error);
        text = inflated;
    }
    ok = ok && graph_read(text, length, path, graph, error);
    free(inflated);
    arena_free(&arena);
    return ok;
}

static bool write_all(const LayoutView *view, const LayoutOptions *options, Streams streams, Error *error) {
    char *text = NULL, *solution = NULL;
    size_t length = 0, solution_length = 0;
    bool ok = true;
    FILE *memory = memory_stream_open(&text, &length), *choice = memory_stream_open(&solution, &solution_length);
    if (memory && options->json) ok = layout_write_json(memory, view, error);
    if (memory && !options->json) layout_write_text(memory, view);
    if (choice) layout_write_solution(choice, view);
    if (!memory || !choice) ok = error_memory(error);
    if (memory && fclose(memory) != 0 && ok) ok = error_memory(error);
    if (choice && fclose(choice) != 0 && ok) ok = error_memory(error);
    if (ok && options->solution && view->result->found)
        ok = output_write(streams.out, options->solution, solution, solution_length, error);
    ok = ok && output_write(streams.out, options->output, text, length, error);
    free(text);
    free(solution);
    return ok;
}

static int exit_of_layout(const GraphResult *result) {
    if (result->proof == GRAPH_INFEASIBLE) return EXIT_NO_PLAN;
    if (result->proof == GRAPH_OPTIMAL) return EXIT_DONE;
    return result->interrupted ? EXIT_INTERRUPTED : EXIT_LIMIT;
}

static bool layout(const LayoutOptions *options, Arena *arena, Streams streams, int *code, Error *error) {
    LayoutWorld world = {.err = streams.err, .start = clock_seconds()};
    StrategyGraph graph = {0}; /* a file that cannot be read leaves it so */
    GraphResult result;
    GraphControl control = {
        .context = &world,
        .seconds = world_seconds,
        .interrupted = interrupt_came,
        .progress = options->verbose && !options->quiet ? environment_progress : NULL,
        .time_limit = fmax((1 - RESERVE_SHARE) * options->time_limit - RESERVE_SECONDS, options->time_limit / 2),
        .effort = options->effort,
        .threads = options->threads};
    bool same = options->output && options->solution && strcmp(options->output, options->solution) == 0;
    if (same && strcmp(options->output, "-") != 0)
        return error_set(error, ERROR_INPUT, "--solution", "is the file of --output too; give another one");
    bool ok = read_graph(options->path, &graph, error);
    if (ok && options->verbose && !options->quiet)
        fprintf(streams.err, "shardopt: %.1f s: read\n", world_seconds(&world));
    ok = ok && graph_solve(&graph, &control, arena, &result, error);
    ok = ok && write_all(&(LayoutView){options->path, &graph, &result}, options, streams, error);
    if (ok && options->timing) fprintf(streams.err, "shardopt: %.3f s\n", world_seconds(&world));
    if (ok) *code = exit_of_layout(&result);
    graph_free(&graph);
    return ok;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    LayoutOptions options;
    int code = EXIT_USAGE;
    if (!layout_options_read(line, &options, error)) return code;
    InterruptScope scope;
    interrupt_begin(&scope);
    layout(&options, line->arena, streams, &code, error);
    interrupt_end(&scope);
    return code;
}

/* What the manual says beside the options. */
static const CommandNote NOTES[] = {
    {"INTERRUPTS", "An interrupt ends the search, and the best so far is printed; a second one ends the program."},
    {0},
};

const Command COMMAND_LAYOUT = {
    .name = "layout",
    .summary = "the cheapest choice of a strategy graph (google/iopddl), with a bound on it",
    .usage = "layout FILE.json[.gz] [--time-limit S] [--solution FILE] [OPTIONS]",
    .about = "Solves a strategy graph (the JSON of the contest google/iopddl): one strategy for each node, at the "
             "least cost\nof nodes and edges, within the memory limit at every moment. Prints cost, bound and gap.",
    .details = "Solves a strategy graph of sums alone, as a compiler's auto-sharding makes it (the JSON of the "
               "contest google/iopddl, also gzipped): one strategy for each node at the least cost of nodes and "
               "edges, within the usage limit at every moment. Prints the cost, a bound that no choice is below "
               "(checked in whole numbers) and the peak of usage. --solution writes the strategies as a JSON array. "
               "With --time-limit it searches until then, reading included, or to the proof; without, an amount of "
               "work (--effort), so that the answer does not depend on the machine. Interrupted, it prints the best "
               "so far.",
    .options = LAYOUT_OPTIONS,
    .option_count = LAYOUT_OPTION_COUNT,
    .takes_arguments = true,
    .argument_values = "@files",
    .footer = "Exit codes: 0 proven, 2 input is wrong, 3 nothing fits, 4 ended before the proof, 70 a defect, 130 "
              "interrupted\n(the best so far is printed).",
    .notes = NOTES,
    .examples = "shardopt layout graph.json --solution choice.json\n",
    .run = run,
};
