/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/front.h"

#include <stdlib.h>
#include <string.h>

/* The number of points with more tokens per user than this. */
static int before(const ServingFront *front, double per_user) {
    int low = 0, high = front->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (front->points[middle].per_user > per_user)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool front_beats(const ServingFront *front, double per_user, double per_chip) {
    int at = before(front, per_user);
    if (at < front->count && front->points[at].per_user == per_user && front->points[at].per_chip > per_chip)
        return true;
    return at > 0 && front->points[at - 1].per_chip >= per_chip;
}

/* The order of points with the same rates. */
static bool preferred(const ServingPoint *a, const ServingPoint *b) {
    if (a->ttft_seconds != b->ttft_seconds) return a->ttft_seconds < b->ttft_seconds;
    if (a->chips_used != b->chips_used) return a->chips_used < b->chips_used;
    if (a->mode != b->mode) return a->mode < b->mode;
    for (int i = 0; i < a->pool_count; i++) {
        const ServingPool *x = &a->pools[i], *y = &b->pools[i];
        if (x->on.engine != y->on.engine) return x->on.engine < y->on.engine;
        if (x->on.key != y->on.key) return x->on.key < y->on.key;
        if (x->batch != y->batch) return x->batch < y->batch;
    }
    return false;
}

static bool make_room(ServingFront *front, Error *error) {
    if (front->count < front->room) return true;
    int room = front->room ? 2 * front->room : 64;
    ServingPoint *points = realloc(front->points, (size_t)room * sizeof *points);
    if (!points) return error_memory(error);
    front->points = points;
    front->room = room;
    return true;
}

bool front_add(ServingFront *front, const ServingPoint *point, Error *error) {
    if (front_beats(front, point->per_user, point->per_chip)) return true;
    int at = before(front, point->per_user), end = at;
    if (at < front->count && front->points[at].per_user == point->per_user &&
        front->points[at].per_chip == point->per_chip) {
        if (preferred(point, &front->points[at])) front->points[at] = *point;
        return true;
    }
    while (end < front->count && front->points[end].per_chip <= point->per_chip) end++;
    if (end == at && !make_room(front, error)) return false;
    int kept = front->count - end;
    memmove(front->points + at + 1, front->points + end, (size_t)kept * sizeof *front->points);
    front->points[at] = *point;
    front->count = at + 1 + kept;
    return true;
}

void front_free(ServingFront *front) {
    free(front->points);
    *front = (ServingFront){0};
}
