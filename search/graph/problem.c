/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/problem.h"

#include "base/util.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the value of a choice ---- */

typedef struct {
    int64_t time, change;
} Event;

static int by_time(const void *a, const void *b) {
    int64_t x = ((const Event *)a)->time, y = ((const Event *)b)->time;
    return (x > y) - (x < y);
}

static void find_peak(Event *events, size_t count, GraphValue *value) {
    int64_t usage = 0;
    qsort(events, count, sizeof *events, by_time);
    for (size_t i = 0; i < count;) {
        int64_t time = events[i].time;
        while (i < count && events[i].time == time) usage += events[i++].change;
        if (usage <= value->peak_usage) continue;
        value->peak_usage = usage;
        value->peak_time = time;
    }
}

static void count_costs(const StrategyGraph *graph, const int *choice, GraphValue *value) {
    for (int node = 0; node < graph->node_count; node++) {
        int64_t cost = graph->cost[graph->strategy_start[node] + choice[node]];
        value->cost += cost;
        value->forbidden += cost >= GRAPH_FORBIDDEN;
    }
    for (int edge = 0; edge < graph->edge_count; edge++) {
        int first = (int)graph->edge_first[edge], second = (int)graph->edge_second[edge];
        int64_t cost = graph->entry[graph->entry_start[edge] +
                                    (int64_t)choice[first] * graph_strategies(graph, second) + choice[second]];
        value->cost += cost;
        value->forbidden += cost >= GRAPH_FORBIDDEN;
    }
}

bool graph_evaluate(const StrategyGraph *graph, const int *choice, GraphValue *value, Error *error) {
    Event *events = malloc((2 * (size_t)graph->node_count + 1) * sizeof *events);
    size_t count = 0;
    if (!events) return error_memory(error);
    *value = (GraphValue){0};
    count_costs(graph, choice, value);
    for (int node = 0; node < graph->node_count; node++) {
        int64_t usage = graph->usage[graph->strategy_start[node] + choice[node]];
        if (graph->live_from[node] >= graph->live_to[node] || usage == 0) continue;
        events[count++] = (Event){graph->live_from[node], usage};
        events[count++] = (Event){graph->live_to[node], -usage};
    }
    find_peak(events, count, value);
    free(events);
    value->is_feasible = value->forbidden == 0 && value->peak_usage <= graph->usage_limit;
    return true;
}

/* ---- reading. This schema deserves a scanner of its own: files have ten million numbers and more, for each of which a
 * tree of cJSON would take 64 bytes. Edges may come before the nodes that give their sizes, so rows are kept flat and
 * checked last ---- */

/* The largest instance of the contest (1.3 GB) has about 90 million numbers; the limit allows 2 GiB for a list. */
enum { DEPTH_MAX = 32, NUMBERS_MAX = 1 << 28, ROWS_MAX = 1 << 25 };

typedef struct {
    int64_t *at;
    size_t count, room;
} Numbers;

/* An array of arrays of numbers: row i is value[start[i]] ... value[start[i + 1] - 1], and stood at text[place[i]]. */
typedef struct {
    Numbers value, start, place;
    bool seen;
} Rows;

typedef struct {
    const char *text, *next, *end;
    const char *where;
    Error *error;
    Rows intervals, costs, usages, edge_nodes, edge_costs;
    StrategyGraph *graph;
} Scanner;

/* ---- complaints ---- */

static bool complain_at(Scanner *scanner, const char *place, const char *what) {
    long long line = 1;
    const char *start = scanner->text;
    for (const char *c; (c = memchr(start, '\n', (size_t)(place - start))); start = c + 1) line++;
    char where[192];
    snprintf(where, sizeof where, "%.140s:%lld:%lld", scanner->where, line, (long long)(place - start) + 1);
    return error_set(scanner->error, ERROR_INPUT, where, "%s", what);
}

#define COMPLAIN(scanner, place, ...)                                                                                  \
    (snprintf(complaint, sizeof complaint, __VA_ARGS__), complain_at(scanner, place, complaint))

static bool expected(Scanner *scanner, const char *what) {
    char complaint[128];
    if (scanner->next == scanner->end)
        return COMPLAIN(scanner, scanner->next, "the file ends here; %s is missing", what);
    unsigned char c = (unsigned char)*scanner->next;
    if (c < 0x20 || c > 0x7e) return COMPLAIN(scanner, scanner->next, "byte 0x%02x; %s belongs here", c, what);
    return COMPLAIN(scanner, scanner->next, "'%c'; %s belongs here", c, what);
}

/* ---- letters ---- */

static void skip_blanks(Scanner *scanner) {
    while (scanner->next < scanner->end &&
           (*scanner->next == ' ' || *scanner->next == '\n' || *scanner->next == '\r' || *scanner->next == '\t'))
        scanner->next++;
}

/* Passes the next character if it is `c`, and returns whether it was; blanks before it are passed in either case. */
static bool pass(Scanner *scanner, char c) {
    skip_blanks(scanner);
    if (scanner->next == scanner->end || *scanner->next != c) return false;
    scanner->next++;
    return true;
}

static bool need(Scanner *scanner, char c, const char *what) { return pass(scanner, c) || expected(scanner, what); }

/* Reads a text in quotes; its first bytes go into `out`, with escapes as they stand. */
static bool scan_text(Scanner *scanner, char *out, size_t size) {
    size_t used = 0;
    if (!need(scanner, '"', "a text in quotes")) return false;
    for (; scanner->next < scanner->end && *scanner->next != '"'; scanner->next++) {
        if ((unsigned char)*scanner->next < 0x20)
            return complain_at(scanner, scanner->next, "a control character; escape it");
        if (used + 1 < size) out[used++] = *scanner->next;
        if (*scanner->next == '\\' && scanner->next + 1 < scanner->end) {
            scanner->next++;
            if (used + 1 < size) out[used++] = *scanner->next;
        }
    }
    out[used] = '\0';
    return need(scanner, '"', "the quote that ends the text");
}

static bool scan_number(Scanner *scanner, int64_t *out) {
    skip_blanks(scanner);
    const char *start = scanner->next, *c = start, *end = scanner->end;
    uint64_t value = 0;
    while (c < end && (unsigned)(*c - '0') < 10 && c - start < 19) value = 10 * value + (unsigned)(*c++ - '0');
    scanner->next = c;
    if (c == start && c < end && *c == '-') return complain_at(scanner, start, "a negative number; give 0 or more");
    if (c == start) return expected(scanner, "a whole number");
    if (c < end && (*c == '.' || *c == 'e' || *c == 'E'))
        return complain_at(scanner, start, "a number with a fraction or exponent; give a whole one in plain digits");
    if ((c < end && (unsigned)(*c - '0') < 10) || value > INT64_MAX)
        return complain_at(scanner, start, "a number above 9223372036854775807; give a smaller one");
    if (*start == '0' && c - start > 1)
        return complain_at(scanner, start, "a number with a leading zero; leave it out");
    *out = (int64_t)value;
    return true;
}

/* ---- rows ---- */

static bool push(Scanner *scanner, Numbers *numbers, int64_t value) {
    if (numbers->count == NUMBERS_MAX)
        return complain_at(scanner, scanner->next,
                           "more than 268,435,456 numbers in a list; that is as many as are read");
    if (numbers->count == numbers->room) {
        size_t room = numbers->room ? 2 * numbers->room : 1024;
        int64_t *larger = realloc(numbers->at, room * sizeof *larger);
        if (!larger) return error_memory(scanner->error);
        numbers->at = larger;
        numbers->room = room;
    }
    numbers->at[numbers->count++] = value;
    return true;
}

static bool scan_row(Scanner *scanner, Numbers *value) {
    int64_t number;
    if (!need(scanner, '[', "the [ of a row of numbers")) return false;
    if (pass(scanner, ']')) return true;
    do {
        if (!scan_number(scanner, &number) || !push(scanner, value, number)) return false;
    } while (pass(scanner, ','));
    return need(scanner, ']', "a comma or the ] of the row");
}

static bool scan_rows(Scanner *scanner, Rows *rows) {
    if (!need(scanner, '[', "the [ of a list of rows")) return false;
    rows->seen = true;
    bool ok = true, more = !pass(scanner, ']');
    while (ok && more) {
        skip_blanks(scanner);
        if (rows->place.count == ROWS_MAX)
            return complain_at(scanner, scanner->next,
                               "more than 33,554,432 rows in a list; that is as many as are read");
        ok = push(scanner, &rows->start, (int64_t)rows->value.count) &&
             push(scanner, &rows->place, scanner->next - scanner->text) && scan_row(scanner, &rows->value);
        more = ok && pass(scanner, ',');
        if (ok && !more) ok = need(scanner, ']', "a comma or the ] of the list");
    }
    return ok && push(scanner, &rows->start, (int64_t)rows->value.count);
}

/* ---- the schema ---- */

/* Passes over any value. */
static bool skip_value(Scanner *scanner, int depth) {
    char ignored[2];
    skip_blanks(scanner);
    char c = scanner->next < scanner->end ? *scanner->next : '\0';
    if (depth > DEPTH_MAX) return complain_at(scanner, scanner->next, "nested too deeply; 32 levels are read");
    if (c == '"') return scan_text(scanner, ignored, sizeof ignored);
    if (c == '{' || c == '[') {
        char close = c == '{' ? '}' : ']';
        scanner->next++;
        if (pass(scanner, close)) return true;
        do {
            if (c == '{' && !(scan_text(scanner, ignored, sizeof ignored) && need(scanner, ':', "a colon")))
                return false;
            if (!skip_value(scanner, depth + 1)) return false;
        } while (pass(scanner, ','));
        return need(scanner, close, "a comma or the closing bracket");
    }
    const char *start = scanner->next;
    while (scanner->next < scanner->end && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *scanner->next) &&
           *scanner->next != '\0')
        scanner->next++;
    return scanner->next > start || expected(scanner, "a value");
}

typedef bool (*KeyReader)(Scanner *scanner, const char *key, bool *known);

/* Reads an object whose keys `reader` takes; no known key may stand twice. */
static bool scan_object(Scanner *scanner, KeyReader reader, const char *what) {
    char key[32];
    if (!need(scanner, '{', what)) return false;
    if (pass(scanner, '}')) return true;
    do {
        bool known = false;
        if (!scan_text(scanner, key, sizeof key) || !need(scanner, ':', "a colon")) return false;
        skip_blanks(scanner);
        if (!reader(scanner, key, &known)) return false;
        if (!known && !skip_value(scanner, 1)) return false;
    } while (pass(scanner, ','));
    return need(scanner, '}', "a comma or the } of the object");
}

static bool rows_once(Scanner *scanner, Rows *rows, bool *known) {
    *known = true;
    if (rows->seen) return complain_at(scanner, scanner->next, "a second value for one key; leave one of them out");
    return scan_rows(scanner, rows);
}

static bool nodes_key(Scanner *scanner, const char *key, bool *known) {
    if (strcmp(key, "intervals") == 0) return rows_once(scanner, &scanner->intervals, known);
    if (strcmp(key, "costs") == 0) return rows_once(scanner, &scanner->costs, known);
    if (strcmp(key, "usages") == 0) return rows_once(scanner, &scanner->usages, known);
    return true;
}

static bool edges_key(Scanner *scanner, const char *key, bool *known) {
    if (strcmp(key, "nodes") == 0) return rows_once(scanner, &scanner->edge_nodes, known);
    if (strcmp(key, "costs") == 0) return rows_once(scanner, &scanner->edge_costs, known);
    return true;
}

static bool problem_key(Scanner *scanner, const char *key, bool *known) {
    StrategyGraph *graph = scanner->graph;
    *known = true;
    if (strcmp(key, "nodes") == 0) return scan_object(scanner, nodes_key, "the { of the nodes");
    if (strcmp(key, "edges") == 0) return scan_object(scanner, edges_key, "the { of the edges");
    if (strcmp(key, "name") == 0) return scan_text(scanner, graph->name, sizeof graph->name);
    if (strcmp(key, "usage_limit") == 0) {
        if (graph->is_limited)
            return complain_at(scanner, scanner->next, "a second usage_limit; leave one of them out");
        graph->is_limited = true;
        return scan_number(scanner, &graph->usage_limit);
    }
    *known = false;
    return true;
}

static bool document_key(Scanner *scanner, const char *key, bool *known) {
    *known = strcmp(key, "problem") == 0;
    return !*known || scan_object(scanner, problem_key, "the { of the problem");
}

/* ---- what belongs together ---- */

static int64_t row_count(const Rows *rows) { return rows->start.count ? (int64_t)rows->start.count - 1 : 0; }
static int64_t row_length(const Rows *rows, int64_t i) { return rows->start.at[i + 1] - rows->start.at[i]; }
static const char *row_place(const Scanner *scanner, const Rows *rows, int64_t i) {
    return scanner->text + rows->place.at[i];
}

static bool check_nodes(Scanner *scanner) {
    char complaint[256];
    Rows *costs = &scanner->costs, *usages = &scanner->usages, *intervals = &scanner->intervals;
    int64_t count = row_count(costs);
    if (!costs->seen || !usages->seen || !intervals->seen)
        return COMPLAIN(scanner, scanner->end, "problem.nodes has no %s; give a row for each node",
                        !costs->seen    ? "costs"
                        : !usages->seen ? "usages"
                                        : "intervals");
    if (count >= INT_MAX / 8)
        return COMPLAIN(scanner, scanner->end, "has %lld nodes; fewer are read", (long long)count);
    if (row_count(usages) != count || row_count(intervals) != count)
        return COMPLAIN(scanner, scanner->end,
                        "problem.nodes has %lld rows of costs, %lld of usages and %lld of intervals; give as many",
                        (long long)count, (long long)row_count(usages), (long long)row_count(intervals));
    for (int64_t i = 0; i < count; i++) {
        if (row_length(costs, i) < 1 || row_length(costs, i) > GRAPH_STRATEGIES_MAX)
            return COMPLAIN(scanner, row_place(scanner, costs, i), "node %lld has %lld strategies; give 1 to %d",
                            (long long)i, (long long)row_length(costs, i), GRAPH_STRATEGIES_MAX);
        if (row_length(usages, i) != row_length(costs, i))
            return COMPLAIN(scanner, row_place(scanner, usages, i),
                            "node %lld has %lld usages; give %lld, as many as costs", (long long)i,
                            (long long)row_length(usages, i), (long long)row_length(costs, i));
        if (row_length(intervals, i) != 2)
            return COMPLAIN(scanner, row_place(scanner, intervals, i), "an interval of %lld numbers; give two",
                            (long long)row_length(intervals, i));
    }
    return true;
}

static bool check_edges(Scanner *scanner) {
    char complaint[256];
    Rows *nodes = &scanner->edge_nodes, *costs = &scanner->edge_costs;
    int64_t count = row_count(nodes), node_count = row_count(&scanner->costs);
    if (!nodes->seen && !costs->seen) return true;
    if (count != row_count(costs))
        return COMPLAIN(scanner, scanner->end, "problem.edges has %lld rows of nodes and %lld of costs; give as many",
                        (long long)count, (long long)row_count(costs));
    if (count >= INT_MAX / 8)
        return COMPLAIN(scanner, scanner->end, "has %lld edges; fewer are read", (long long)count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t *ends = nodes->value.at + nodes->start.at[i];
        const char *place = row_place(scanner, nodes, i);
        if (row_length(nodes, i) != 2)
            return COMPLAIN(scanner, place, "an edge of %lld nodes; give two", (long long)row_length(nodes, i));
        if (ends[0] >= node_count || ends[1] >= node_count)
            return COMPLAIN(scanner, place, "node %lld of an edge; the nodes are 0 to %lld",
                            (long long)max_whole(ends[0], ends[1]), (long long)node_count - 1);
        int64_t size = row_length(&scanner->costs, ends[0]) * row_length(&scanner->costs, ends[1]);
        if (row_length(costs, i) != size)
            return COMPLAIN(scanner, row_place(scanner, costs, i),
                            "edge %lld has %lld costs; give %lld, one for each pair", (long long)i,
                            (long long)row_length(costs, i), (long long)size);
    }
    return true;
}

/* The sum of the largest finite numbers of all rows; numbers from `from` on are left out (they are never taken). */
static __int128 sum_of_largest(const Rows *rows, int64_t from) {
    __int128 sum = 0;
    for (int64_t i = 0; i < row_count(rows); i++) {
        int64_t largest = 0;
        for (int64_t k = rows->start.at[i]; k < rows->start.at[i + 1]; k++)
            if (rows->value.at[k] < from) largest = max_whole(largest, rows->value.at[k]);
        sum += largest;
    }
    return sum;
}

static bool check_sums(Scanner *scanner) {
    int64_t limit = scanner->graph->is_limited ? scanner->graph->usage_limit : INT64_MAX - 1;
    if (sum_of_largest(&scanner->costs, GRAPH_FORBIDDEN) + sum_of_largest(&scanner->edge_costs, GRAPH_FORBIDDEN) >=
        GRAPH_COST_MAX)
        return complain_at(scanner, scanner->end,
                           "costs below 10^18 (forbidden) sum up to more than 2 * 10^18; give smaller ones");
    if (sum_of_largest(&scanner->usages, limit + 1) >= GRAPH_USAGE_MAX)
        return complain_at(scanner, scanner->end, "usages sum up to more than 2^61; give them in larger units");
    return true;
}

static int64_t *taken(Numbers *numbers) {
    int64_t *at = numbers->at;
    *numbers = (Numbers){0};
    return at;
}

/* Rows of two, as two columns of numbers. */
static bool split(Scanner *scanner, const Rows *rows, int64_t **first, int64_t **second) {
    size_t count = (size_t)row_count(rows);
    *first = calloc(count + 1, sizeof **first);
    *second = calloc(count + 1, sizeof **second);
    if (!*first || !*second) return error_memory(scanner->error);
    for (size_t i = 0; i < count; i++) {
        (*first)[i] = rows->value.at[2 * i];
        (*second)[i] = rows->value.at[2 * i + 1];
    }
    return true;
}

static bool assemble(Scanner *scanner) {
    StrategyGraph *graph = scanner->graph;
    graph->node_count = (int)row_count(&scanner->costs);
    graph->edge_count = (int)row_count(&scanner->edge_nodes);
    if (!split(scanner, &scanner->intervals, &graph->live_from, &graph->live_to) ||
        !split(scanner, &scanner->edge_nodes, &graph->edge_first, &graph->edge_second))
        return false;
    if (scanner->edge_costs.start.count == 0 && !push(scanner, &scanner->edge_costs.start, 0)) return false;
    if (!graph->is_limited) graph->usage_limit = INT64_MAX;
    graph->cost = taken(&scanner->costs.value);
    graph->strategy_start = taken(&scanner->costs.start);
    graph->usage = taken(&scanner->usages.value);
    graph->entry = taken(&scanner->edge_costs.value);
    graph->entry_start = taken(&scanner->edge_costs.start);
    return true;
}

static void rows_free(Rows *rows) {
    free(rows->value.at);
    free(rows->start.at);
    free(rows->place.at);
}

bool graph_read(const char *text, size_t length, const char *where, StrategyGraph *graph, Error *error) {
    Scanner scanner = {
        .text = text, .next = text, .end = text + length, .where = where, .error = error, .graph = graph};
    *graph = (StrategyGraph){0};
    bool ok = scan_object(&scanner, document_key, "the { of {\"problem\": ...}");
    skip_blanks(&scanner);
    if (ok && scanner.next < scanner.end) ok = expected(&scanner, "nothing more");
    ok = ok && check_nodes(&scanner) && check_edges(&scanner) && check_sums(&scanner) && assemble(&scanner);
    rows_free(&scanner.intervals);
    rows_free(&scanner.costs);
    rows_free(&scanner.usages);
    rows_free(&scanner.edge_nodes);
    rows_free(&scanner.edge_costs);
    return ok;
}

void graph_free(StrategyGraph *graph) {
    free(graph->strategy_start);
    free(graph->cost);
    free(graph->usage);
    free(graph->live_from);
    free(graph->live_to);
    free(graph->edge_first);
    free(graph->edge_second);
    free(graph->entry_start);
    free(graph->entry);
    *graph = (StrategyGraph){0};
}
