/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/best_plan.h"

#include <stdlib.h>

static int compare_reals(double a, double b) { return (a > b) - (a < b); }

int best_plan_compare(const BestPlan *a, const BestPlan *b) {
    int order = compare_reals(a->ranked_seconds, b->ranked_seconds);
    if (order == 0) order = compare_reals(a->memory_bytes, b->memory_bytes);
    if (order == 0) order = degrees_compare(&a->degrees, &b->degrees);
    if (order == 0) order = knobs_compare(&a->knobs, &b->knobs);
    if (order == 0) order = compare_reals((double)a->sequences, (double)b->sequences);
    if (order == 0) order = (a->machine > b->machine) - (a->machine < b->machine);
    if (order == 0) order = placement_compare(&a->placement, &b->placement);
    return order != 0 ? order : nesting_compare(&a->nesting, &b->nesting);
}

bool knobs_compete(const Knobs *a, const Knobs *b) {
    return a->schedule == b->schedule && a->methods.grid.expert == b->methods.grid.expert &&
           a->methods.grid.expert_tensor == b->methods.grid.expert_tensor;
}

bool best_plan_list_add(BestPlanList *list, const BestPlan *plan, Error *error) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : SCHEDULE_COUNT;
        BestPlan *grown = realloc(list->items, (size_t)room * sizeof(BestPlan));
        if (!grown) return error_memory(error);
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = *plan;
    return true;
}
