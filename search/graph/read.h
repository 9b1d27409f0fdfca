/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/read.h: reads a strategy graph from the JSON of the public contest (google/iopddl):
 *  {"problem": {"name": TEXT, "nodes": {"intervals": [[from, to], ...], "costs": [[...], ...], "usages": [[...], ...]},
 *               "edges": {"nodes": [[first, second], ...], "costs": [[...], ...]}, "usage_limit": NUMBER}}
 * Keys may stand in any order; "name" and "usage_limit" may be missing; other keys are passed over. Numbers are whole,
 * 0 to 2^63 - 1. An edge's costs are its matrix by rows, with a row for each strategy of the node named first. */
#pragma once

#include "search/graph/problem.h"

#include <stddef.h>

/* Makes one pass over `length` bytes, from digits straight to numbers (a file of 100 MB takes about a quarter of a
 * second). It takes at most 16 bytes for each number and 32 for each row, and accepts at most 2^28 numbers and 2^25
 * rows in a list. Errors of every kind, also sizes that do not match, are ERROR_INPUT at "where:line:column".
 * graph_free() frees the graph, also after a failure. */
bool graph_read(const char *text, size_t length, const char *where, StrategyGraph *graph, Error *error);
void graph_free(StrategyGraph *graph);
