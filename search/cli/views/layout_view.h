/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/views/layout_view.h: what `shardopt layout` found, for people and for scripts. */
#pragma once

#include "search/graph/solve.h"

#include <stdio.h>

typedef struct {
    const char *path;
    const StrategyGraph *graph;
    const GraphResult *result;
} LayoutView;

void layout_write_text(FILE *out, const LayoutView *view);
bool layout_write_json(FILE *out, const LayoutView *view, Error *error);
/* "[0, 0, 2]", a strategy for each node, as the contest takes it. */
void layout_write_solution(FILE *out, const LayoutView *view);
