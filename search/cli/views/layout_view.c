/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/views/layout_view.h"

#include "base/json.h"
#include "base/number.h"

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
                "Nothing fits: every strategy of node %d is forbidden, by itself, beside every strategy of a "
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

void layout_write_text(FILE *out, const LayoutView *view) {
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

bool layout_write_json(FILE *out, const LayoutView *view, Error *error) {
    cJSON *json = cJSON_CreateObject();
    bool ok = json && add_all(json, view) && json_print(out, json);
    cJSON_Delete(json);
    return ok || error_memory(error);
}

void layout_write_solution(FILE *out, const LayoutView *view) {
    putc('[', out);
    for (int i = 0; i < view->graph->node_count && view->result->choice; i++)
        fprintf(out, i ? ", %d" : "%d", view->result->choice[i]);
    fprintf(out, "]\n");
}
