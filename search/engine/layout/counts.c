/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/layout/counts.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

enum { MOVES_MAX = 4096 }; /* of single layers; rounding takes a handful */

typedef struct {
    const StepRule *rule;
    const Branch *branch;
    const Rates *rates;
    int64_t *counts;
    Resources resources;
    double seconds;
} Point;

/* One layer more of `up` and one less of `down`; -1: none. */
typedef struct {
    int up, down;
} Move;

static int64_t layers_left(const Point *point, int item) {
    const BranchItem *items = point->branch->items;
    int64_t left = (int64_t)items[item].layers;
    for (int i = 0; i < point->branch->item_count; i++)
        if (items[i].activation == items[item].activation) left -= point->counts[i];
    return left;
}

static bool move_possible(const Point *point, Move move) {
    if (move.down >= 0 && point->counts[move.down] == 0) return false;
    if (move.up < 0) return move.down >= 0;
    bool same =
        move.down >= 0 && point->branch->items[move.up].activation == point->branch->items[move.down].activation;
    return layers_left(point, move.up) + (same ? 1 : 0) > 0;
}

static void moved_resources(const Point *point, Move move, Resources *out) {
    *out = point->resources;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        if (move.up >= 0) out->of[r] += point->branch->items[move.up].adds.of[r];
        if (move.down >= 0) out->of[r] -= point->branch->items[move.down].adds.of[r];
    }
}

static void point_refresh(Point *point) {
    branch_resources(point->branch, point->counts, &point->resources);
    point->seconds = step_seconds(point->rule, &point->resources, point->rates);
}

static void make_move(Point *point, Move move) {
    if (move.up >= 0) point->counts[move.up]++;
    if (move.down >= 0) point->counts[move.down]--;
    point_refresh(point);
}

static double violation(const StepRule *rule, const Resources *resources) {
    double sum = 0;
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        sum += max_real(0, resources->of[RES_MEMORY + moment] - rule->memory_limit_bytes);
    return sum;
}

/* Adds the layer that costs least per byte of the violation it takes away. */
static bool repair_once(Point *point) {
    double before = violation(point->rule, &point->resources), best = INFINITY;
    Move chosen = {-1, -1};
    for (int up = 0; up < point->branch->item_count; up++)
        for (int down = -1; down < point->branch->item_count; down++) {
            Move move = {up, down};
            bool exchange =
                down >= 0 && down != up && point->branch->items[up].activation == point->branch->items[down].activation;
            if ((down >= 0 && !exchange) || !move_possible(point, move)) continue;
            Resources after;
            moved_resources(point, move, &after);
            double freed = before - violation(point->rule, &after);
            if (!(freed > 0)) continue;
            double price = (step_seconds(point->rule, &after, point->rates) - point->seconds) / freed;
            if (price < best) best = price, chosen = move;
        }
    if (chosen.up < 0) return false;
    make_move(point, chosen);
    return true;
}

/* Takes the best single layer given back or exchanged; false: none makes the step shorter. */
static bool improve_once(Point *point) {
    double best = point->seconds;
    Move chosen = {-1, -1};
    for (int up = -1; up < point->branch->item_count; up++)
        for (int down = 0; down < point->branch->item_count; down++) {
            Move move = {up, down};
            if (up == down || !move_possible(point, move)) continue;
            Resources after;
            moved_resources(point, move, &after);
            if (!resources_fit(&after, point->rule->memory_limit_bytes)) continue;
            double seconds = step_seconds(point->rule, &after, point->rates);
            if (seconds < best) best = seconds, chosen = move;
        }
    if (chosen.down < 0) return false;
    double before = point->seconds;
    int64_t up = chosen.up >= 0 ? point->counts[chosen.up] : 0, down = point->counts[chosen.down];
    make_move(point, chosen);
    if (point->seconds < before && resources_fit(&point->resources, point->rule->memory_limit_bytes)) return true;
    /* Only rounding was better. */
    if (chosen.up >= 0) point->counts[chosen.up] = up;
    point->counts[chosen.down] = down;
    point_refresh(point);
    return false;
}

bool counts_near(const StepRule *rule, const Branch *branch, const Rates *rates, const double *values,
                 int64_t counts[ITEMS_MAX], double *seconds) {
    Point point = {.rule = rule, .branch = branch, .rates = rates, .counts = counts};
    memset(counts, 0, sizeof(int64_t) * ITEMS_MAX);
    for (int i = 0; i < branch->item_count; i++) {
        int64_t wanted = values[i] > 0 ? (int64_t)floor(min_real(values[i], branch->items[i].layers) + 1e-6) : 0;
        counts[i] = min_whole(wanted, max_whole(0, layers_left(&point, i)));
    }
    point_refresh(&point);
    int moves = 0;
    while (!resources_fit(&point.resources, rule->memory_limit_bytes))
        if (moves++ == MOVES_MAX || !repair_once(&point)) return false;
    while (moves++ < MOVES_MAX && improve_once(&point)) continue;
    *seconds = point.seconds;
    return true;
}
