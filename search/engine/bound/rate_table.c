/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/batch.h"

#include "base/util.h"

#include <string.h>

static int64_t whole_vectors(int64_t count) { return (count + LOOP_WIDTH - 1) / LOOP_WIDTH * LOOP_WIDTH; }

static bool is_far(const Rates *rates, int group) { return rates->leaves_scale_up >> group & 1; }

static double rate_of(const Rates *rates, int group, int which) {
    const CollectiveCost *cost = &rates->cost[group];
    return which % 2 == 0 ? cost->latency_seconds[which / 2] : cost->seconds_per_byte[which / 2];
}

/* A group before this one whose costs are the same everywhere: the same chips under another name; or -1. */
static int same_group(const Rates *rates, int64_t count, int group) {
    int other = group == GROUP_TENSOR_WEIGHTS ? GROUP_TENSOR : group == GROUP_EXPERT_WEIGHTS ? GROUP_WEIGHTS : -1;
    for (int64_t i = 0; other >= 0 && i < count; i++) {
        const CollectiveCost *a = &rates[i].cost[group], *b = &rates[i].cost[other];
        if (rates[i].axes[group] != rates[i].axes[other] || is_far(&rates[i], group) != is_far(&rates[i], other) ||
            memcmp(a, b, sizeof(*a)) != 0)
            return -1;
    }
    return other;
}

/* The largest and the least of an array by block. */
static bool fill_extremes(const double *of, int64_t count, Arena *arena, double **most, double **least) {
    int64_t blocks = (count + BATCH_BLOCK - 1) / BATCH_BLOCK;
    *most = ARENA_NEW(arena, double, (size_t)blocks);
    *least = ARENA_NEW(arena, double, (size_t)blocks);
    if (!*most || !*least) return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t block = i / BATCH_BLOCK;
        (*most)[block] = i % BATCH_BLOCK == 0 ? of[i] : max_real((*most)[block], of[i]);
        (*least)[block] = i % BATCH_BLOCK == 0 ? of[i] : min_real((*least)[block], of[i]);
    }
    return true;
}

static bool fill_lane(const Rates *rates, int64_t count, Arena *arena, Lane *lane) {
    lane->one_piece = true;
    for (int64_t i = 0; i < count; i++) {
        const CollectiveCost *cost = &rates[i].cost[lane->group];
        bool ours = is_far(&rates[i], lane->group) == lane->far;
        lane->one_piece = lane->one_piece && (!ours || (cost->latency_seconds[1] <= cost->latency_seconds[0] &&
                                                        cost->seconds_per_byte[1] <= cost->seconds_per_byte[0]));
    }
    for (int which = 0; which < 4; which++) {
        double any = 0, *rate = ARENA_NEW(arena, double, (size_t)whole_vectors(count));
        if (!rate) return false;
        for (int64_t i = 0; i < count; i++) {
            if (is_far(&rates[i], lane->group) == lane->far) rate[i] = rate_of(&rates[i], lane->group, which);
            any = max_real(any, rate[i]);
        }
        lane->rate[which] = any > 0 ? rate : NULL;
        if (any > 0 && !fill_extremes(rate, count, arena, &lane->most[which], &lane->least[which])) return false;
    }
    return true;
}

static bool add_group(const Rates *rates, int64_t count, int group, Arena *arena, RateTable *out) {
    unsigned axes = 0;
    int64_t far = 0;
    for (int64_t i = 0; i < count; i++) {
        axes |= rates[i].axes[group];
        far += is_far(&rates[i], group);
    }
    if (!axes) return true;
    int same = same_group(rates, count, group), before = out->lane_count;
    for (int i = 0; same >= 0 && i < before; i++) {
        if ((int)out->lane[i].group != same) continue;
        out->lane[out->lane_count] = out->lane[i];
        out->lane[out->lane_count++].group = (Group)group;
    }
    if (out->lane_count > before) return true;
    for (int side = 0; side < 2; side++) {
        if (side == 0 ? far == count : far == 0) continue;
        Lane *lane = &out->lane[out->lane_count++];
        *lane = (Lane){.group = (Group)group, .far = side == 1, .axes = axes, .chips = group};
        if (!fill_lane(rates, count, arena, lane)) return false;
    }
    return true;
}

bool rate_table_fill(const Rates *rates, int64_t count, Arena *arena, RateTable *out, Error *error) {
    *out = (RateTable){.count = count};
    for (int64_t i = 0; i < count; i++) /* of several machines, perhaps */
        out->axis_count = rates[i].axis_count > out->axis_count ? rates[i].axis_count : out->axis_count;
    out->lane = ARENA_NEW(arena, Lane, LANES_MAX);
    out->where = ARENA_NEW(arena, uint64_t, (size_t)whole_vectors(count));
    if (!out->lane || !out->where) return error_memory(error);
    for (int group = 0; group < GROUP_COUNT; group++)
        if (!add_group(rates, count, group, arena, out)) return error_memory(error);
    for (int64_t i = 0; i < count; i++)
        for (int lane = 0; lane < out->lane_count; lane++)
            for (int axis = 0; axis < out->axis_count; axis++)
                if (rates[i].axes[out->lane[lane].group] >> axis & 1) out->where[i] |= lane_bit(&out->lane[lane], axis);
    return true;
}
