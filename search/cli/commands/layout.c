/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt layout FILE`: a strategy graph of the public contest, solved. */
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory_stream.h"
#include "base/number.h"
#include "base/util.h"
#include "search/cli/command.h"
#include "search/cli/commands/inflate.h"
#include "search/cli/interrupt.h"
#include "search/graph/problem.h"
#include "search/graph/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What `shardopt layout` found, for people and for scripts. */

typedef struct {
    const char *path;
    const StrategyGraph *graph;
    const GraphResult *result;
} LayoutView;

/* (cost - bound) / cost, 0 where it is proven. */
static double gap_of(const GraphResult *result) {
    double cost = (double)result->value.cost;
    if (result->proof == GRAPH_OPTIMAL || !result->found || cost <= 0) return 0;
    return (cost - (double)result->bound) / cost;
}

static void write_infeasible(FILE *out, const GraphResult *result) {
    char time[NUMBER_TEXT_SIZE], excess[NUMBER_TEXT_SIZE];
    if (result->empty_node >= 0)
        fprintf(out,
                "Nothing fits: every strategy of node %d is forbidden, by itself, with every strategy of a "
                "neighbour, or by the memory that all others need at least.\n",
                result->empty_node);
    else if (result->excess_known)
        fprintf(out, "Nothing fits: at moment %s the least that every node needs is %s above the usage limit.\n",
                number_grouped(result->excess_time, time), number_grouped(result->excess, excess));
    else
        fprintf(out, "Nothing fits: shown by search; no single moment or node is to blame.\n");
}

static void write_found(FILE *out, const LayoutView *view) {
    const GraphResult *result = view->result;
    char cost[NUMBER_TEXT_SIZE], bound[NUMBER_TEXT_SIZE], peak[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE],
        time[NUMBER_TEXT_SIZE];
    fprintf(out, "  cost   %s\n", number_grouped((int64_t)result->value.cost, cost));
    if (result->proof == GRAPH_OPTIMAL)
        fprintf(out, "  bound  the same: proven, no choice costs less\n");
    else
        fprintf(out, "  bound  %s: no choice costs less than %.3f%% below this cost\n",
                number_grouped(result->bound, bound), 100 * gap_of(result));
    fprintf(out, "  usage  %s at most, first at moment %s", number_grouped(result->value.peak_usage, peak),
            number_grouped(result->value.peak_time, time));
    if (view->graph->is_limited) fprintf(out, "; limit %s", number_grouped(view->graph->usage_limit, limit));
    fprintf(out, "\n");
}

static void layout_write_text(FILE *out, const LayoutView *view) {
    const GraphResult *result = view->result;
    const StrategyGraph *graph = view->graph;
    char nodes[NUMBER_TEXT_SIZE], edges[NUMBER_TEXT_SIZE], core[NUMBER_TEXT_SIZE], core_edges[NUMBER_TEXT_SIZE];
    char bound[NUMBER_TEXT_SIZE];
    fprintf(out, "%s: %s nodes, %s edges", graph->name[0] ? graph->name : view->path,
            number_grouped(graph->node_count, nodes), number_grouped(graph->edge_count, edges));
    if (result->proof != GRAPH_INFEASIBLE)
        fprintf(out, "; %s nodes and %s edges after reductions", number_grouped(result->core_nodes, core),
                number_grouped(result->core_edges, core_edges));
    fprintf(out, "\n");
    if (result->proof == GRAPH_INFEASIBLE)
        write_infeasible(out, result);
    else if (result->found)
        write_found(out, view);
    else
        fprintf(out, "  No choice that fits was found, and none is excluded; each costs at least %s.\n",
                number_grouped(result->bound, bound));
}

static bool add_found(cJSON *json, const LayoutView *view) {
    const GraphResult *result = view->result;
    if (!result->found) return json_add_text(json, "cost", NULL);
    return json_add_whole(json, "cost", (int64_t)result->value.cost);
}

static bool add_all(cJSON *json, const LayoutView *view) {
    static const char *const PROOFS[] = {"optimal", "gap", "infeasible"};
    const GraphResult *result = view->result;
    const StrategyGraph *graph = view->graph;
    bool known = result->proof != GRAPH_INFEASIBLE;
    bool ok =
        json_add_whole(json, "format_version", 1) && json_add_text(json, "name", graph->name) && add_found(json, view);
    ok = ok && (known ? json_add_whole(json, "bound", result->bound) : json_add_text(json, "bound", NULL));
    ok = ok && (result->found ? json_add_real(json, "gap", gap_of(result)) : json_add_text(json, "gap", NULL));
    ok = ok && json_add_text(json, "proof", PROOFS[result->proof]);
    ok = ok && (result->found ? json_add_whole(json, "peak_usage", result->value.peak_usage)
                              : json_add_text(json, "peak_usage", NULL));
    ok = ok && (graph->is_limited ? json_add_whole(json, "usage_limit", graph->usage_limit)
                                  : json_add_text(json, "usage_limit", NULL));
    ok = ok && (result->found ? json_add_whole(json, "peak_time", result->value.peak_time)
                              : json_add_text(json, "peak_time", NULL));
    ok = ok && json_add_whole(json, "nodes", graph->node_count) && json_add_whole(json, "edges", graph->edge_count);
    ok = ok && json_add_whole(json, "core_nodes", result->core_nodes) &&
         json_add_whole(json, "core_edges", result->core_edges) &&
         json_add_whole(json, "core_strategies", result->core_strategies) &&
         json_add_whole(json, "core_times", result->core_times) && json_add_whole(json, "branches", result->branches);
    if (ok && result->excess_known)
        ok = json_add_whole(json, "excess_time", result->excess_time) && json_add_whole(json, "excess", result->excess);
    if (ok && !known && result->empty_node >= 0) ok = json_add_whole(json, "empty_node", result->empty_node);
    return ok;
}

static bool layout_write_json(FILE *out, const LayoutView *view, Error *error) {
    cJSON *json = cJSON_CreateObject();
    bool ok = json && add_all(json, view) && json_print(out, json);
    cJSON_Delete(json);
    return ok || error_memory(error);
}

static void layout_write_solution(FILE *out, const LayoutView *view) {
    putc('[', out);
    for (int i = 0; i < view->graph->node_count && view->result->choice; i++)
        fprintf(out, i ? ", %d" : "%d", view->result->choice[i]);
    fprintf(out, "]\n");
}

/* The words of `shardopt layout`. */

typedef struct {
    const char *path;              /* of the graph */
    const char *output, *solution; /* NULL: stdout; not written */
    double time_limit;             /* seconds; INFINITY: none */
    double effort;
    int threads; /* 0: as OpenMP decides */
    bool json, timing, verbose, quiet;
} LayoutOptions;

enum { TIME_LIMIT, EFFORT, SOLUTION, FORMAT, OUTPUT, THREADS, TIMING, VERBOSE, QUIET };

static const CommandOption LAYOUT_OPTIONS[] = {
    [TIME_LIMIT] = OPTION_ROW(
        "time-limit", "S", 0, .help = "search until then, reading included (without: an amount of work)",
        .details = "Search until then, reading and writing included. How large graphs come out depends on it; "
                   "what is proven before does not."),
    [EFFORT] =
        OPTION_ROW("effort", "N", 0, .help = "work without a time limit; 1 is about two minutes of a core at most (1)",
                   .details = "Without a time limit: how much work, from 1e-6 to 1e6; 1 is about two minutes of a core "
                              "at most. The answer is the same on every machine and for any number of threads (1)."),
    [SOLUTION] =
        OPTION_ROW("solution", "FILE", 0, .help = "write the strategy of each node to this file, as a JSON array",
                   .details = "Write the index of each node's strategy there, as a JSON array (the contest's form); "
                              "nothing where no choice is known.",
                   .values = "@files", .writes = true),
    [FORMAT] = OPTION_ROW("format", "FORMAT", 0, .help = "text or json (text)", .values = "text json"),
    [OUTPUT] = {OPTION_ROW_OUTPUT},
    [THREADS] = OPTION_ROW("threads", "N", 0,
                           .help = "threads to use; without a time limit the answer is the same for any number"),
    [TIMING] = OPTION_ROW("timing", NULL, 0, .help = "print on stderr how long it took"),
    [VERBOSE] = OPTION_ROW("verbose", NULL, 0, .letter = 'v', .help = "print the progress on stderr",
                           .details = "Say on standard error every second how far it is."),
    [QUIET] = OPTION_ROW("quiet", NULL, 0, .letter = 'q', .help = "print nothing on stderr"),
};

static bool layout_options_read(const CommandLine *line, LayoutOptions *out, Error *error) {
    const char *const *text = line->text, *const *where = line->where;
    LayoutOptions options = {
        .time_limit = INFINITY, .effort = 1, .timing = text[TIMING], .verbose = text[VERBOSE], .quiet = text[QUIET]};
    int json = 0;
    if (text[TIME_LIMIT] && !number_seconds(text[TIME_LIMIT], where[TIME_LIMIT], &options.time_limit, error))
        return false;
    if (text[EFFORT] && !number_real(text[EFFORT], where[EFFORT], 1e-6, 1e6, &options.effort, error)) return false;
    if (!line_file(line, SOLUTION, &options.solution, error) || !line_choice(line, FORMAT, &json, error) ||
        !line_file(line, OUTPUT, &options.output, error) || !line_threads(line, THREADS, &options.threads, error) ||
        !line_one_file(line, "no graph is named; give FILE.json or FILE.json.gz (see --help)", &options.path, error))
        return false;
    options.json = json;
    *out = options;
    return true;
}

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

/* What the manual says in addition to the options. */
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
    .option_count = COUNT_OF(LAYOUT_OPTIONS),
    .takes_arguments = true,
    .argument_values = "@files",
    .footer = "Exit codes: 0 proven, 2 input is wrong, 3 nothing fits, 4 ended before the proof, 70 a defect, 130 "
              "interrupted\n(the best so far is printed).",
    .notes = NOTES,
    .examples = "shardopt layout graph.json --solution choice.json\n",
    .run = run,
};
