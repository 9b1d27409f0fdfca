/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/batch.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

/* One binary, fast everywhere: the loops below in the widest form that the processor has. No contraction: the same
 * digits. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define WIDE
#endif

enum { BLOCK = 256 };
static const double SLACK = 1 - 0x1p-40;

static bool fill_far(const Rates *rates, int64_t count, int group, Arena *arena, RateTable *out) {
    unsigned any = 0;
    for (int64_t i = 0; i < count; i++) any |= rates[i].far >> group & 1;
    if (!any) return true;
    out->far[group] = ARENA_NEW(arena, double, (size_t)count);
    for (int64_t i = 0; out->far[group] && i < count; i++) out->far[group][i] = rates[i].far >> group & 1;
    return out->far[group] != NULL;
}

/* A group before this one whose costs are the same everywhere: the same chips under another name; or -1. */
static int same_group(const Rates *rates, int64_t count, int group) {
    int other = group == GROUP_TENSOR_WEIGHTS ? GROUP_TENSOR : group == GROUP_EXPERT_WEIGHTS ? GROUP_WEIGHTS : -1;
    for (int64_t i = 0; other >= 0 && i < count; i++) {
        const CollectiveCost *a = &rates[i].cost[group], *b = &rates[i].cost[other];
        if (rates[i].axes[group] != rates[i].axes[other] || memcmp(a, b, sizeof(*a)) != 0) return -1;
    }
    return other;
}

bool rate_table_fill(const Rates *rates, int64_t count, Arena *arena, RateTable *out, Error *error) {
    *out = (RateTable){.count = count, .axis_count = count > 0 ? rates[0].axis_count : 0};
    for (int group = 0; group < GROUP_COUNT; group++) {
        unsigned axes = 0;
        for (int64_t i = 0; i < count; i++) axes |= rates[i].axes[group];
        out->active[group] = axes != 0;
        if (!axes) continue;
        int same = same_group(rates, count, group);
        if (same >= 0) {
            memcpy(out->latency[group], out->latency[same], sizeof out->latency[group]);
            memcpy(out->per_byte[group], out->per_byte[same], sizeof out->per_byte[group]);
            memcpy(out->on[group], out->on[same], sizeof out->on[group]);
            if (!fill_far(rates, count, group, arena, out)) return error_memory(error);
            continue;
        }
        if (!fill_far(rates, count, group, arena, out)) return error_memory(error);
        for (int piece = 0; piece < 2; piece++) {
            double *latency = ARENA_NEW(arena, double, (size_t)count);
            double *per_byte = ARENA_NEW(arena, double, (size_t)count);
            if (!latency || !per_byte) return error_memory(error);
            for (int64_t i = 0; i < count; i++) {
                latency[i] = rates[i].cost[group].latency_seconds[piece];
                per_byte[i] = rates[i].cost[group].seconds_per_byte[piece];
            }
            out->latency[group][piece] = latency;
            out->per_byte[group][piece] = per_byte;
        }
        for (int axis = 0; axis < out->axis_count; axis++) {
            if (!(axes >> axis & 1)) continue;
            double *on = ARENA_NEW(arena, double, (size_t)count);
            if (!on) return error_memory(error);
            for (int64_t i = 0; i < count; i++) on[i] = rates[i].axes[group] >> axis & 1;
            out->on[group][axis] = on;
        }
    }
    return true;
}

/* Sums over groups for a block of placements. */
typedef struct {
    double critical[BLOCK];   /* exposed seconds of critical groups, over the step and its bubble */
    double idle[BLOCK];       /* the bubble's part of critical; made where offloading is required alone */
    double background[BLOCK]; /* exposed shares of background groups, over the step */
    double busy[2][MESH_AXES_MAX][BLOCK];
    double seconds[2][BLOCK]; /* of one group, by phase */
    double part[2][BLOCK];    /* of them those placements with one exposed share, else 0 */
} Block;

WIDE static void group_seconds(const double *restrict latency0, const double *restrict latency1,
                               const double *restrict byte0, const double *restrict byte1, double messages,
                               double bytes, int count, double *restrict out) {
#pragma omp simd
    for (int i = 0; i < count; i++) {
        double first = messages * latency0[i] + bytes * byte0[i], second = messages * latency1[i] + bytes * byte1[i];
        out[i] = first > second ? first : second;
    }
}

WIDE static void add_critical(const double *restrict seconds, double share, double least, double minus, double times,
                              int count, double *restrict to) {
    /* max(share t, t - (1 - share) attention) for a ring; `least` 1: the second form counts. */
#pragma omp simd
    for (int i = 0; i < count; i++) {
        double plain = share * seconds[i], beyond = least * seconds[i] - minus;
        to[i] += times * (plain > beyond ? plain : beyond);
    }
}

WIDE static void add_scaled(const double *restrict seconds, double factor, int count, double *restrict to) {
#pragma omp simd
    for (int i = 0; i < count; i++) to[i] += factor * seconds[i];
}

/* Hidden seconds on one axis: part A has (m - 1)(f + b) + f of a group, part B has b. */
WIDE static void add_busy(const double *restrict f, const double *restrict b, const double *restrict on, double most,
                          double first, double last, int count, double *restrict busy_a, double *restrict busy_b) {
#pragma omp simd
    for (int i = 0; i < count; i++) {
        busy_a[i] += on[i] * (most * (f[i] + b[i]) + first * f[i]);
        busy_b[i] += on[i] * (last * b[i]);
    }
}

WIDE static void raise_to(const double *restrict busy, int count, double *restrict part) {
#pragma omp simd
    for (int i = 0; i < count; i++) part[i] = busy[i] > part[i] ? busy[i] : part[i];
}

WIDE static void take_masked(const double *restrict seconds, const double *restrict far, double when, int count,
                             double *restrict out) {
#pragma omp simd
    for (int i = 0; i < count; i++) out[i] = far[i] == when ? seconds[i] : 0;
}

static void fill(double *to, int count, double value) {
    for (int i = 0; i < count; i++) to[i] = value;
}

/* What a group moves in one phase of one microbatch; over replicas at the start and at the end of the step. */
static Traffic group_traffic(const StepRule *rule, const Resources *resources, int group, int phase) {
    if (group >= GROUP_DATA) return (phase == 0 ? rule->data_start : rule->data_end)[group - GROUP_DATA];
    return (Traffic){resources->of[res_messages((Group)group, (Phase)phase)],
                     resources->of[res_bytes((Group)group, (Phase)phase)]};
}

/* Whether a group takes part in a row at all: more than one chip, and something to move. */
static bool moves(const StepRule *rule, const Resources *resources, const RateTable *table, int group) {
    if (!table->active[group]) return false;
    for (int phase = 0; phase < 2; phase++) {
        Traffic traffic = group_traffic(rule, resources, group, phase);
        if (traffic.messages > 0 || traffic.bytes > 0) return true;
    }
    return false;
}

/* The larger of two affine pieces (the same twice: that one). */
static void phase_seconds(const StepRule *rule, const Resources *resources, const RateTable *table, int group,
                          int phase, int piece, int other, int64_t from, int count, double *out) {
    Traffic traffic = group_traffic(rule, resources, group, phase);
    group_seconds(table->latency[group][piece] + from, table->latency[group][other] + from,
                  table->per_byte[group][piece] + from, table->per_byte[group][other] + from, traffic.messages,
                  traffic.bytes, count, out);
}

/* Placements of a group are near or far, each with its exposed share: returns the share, and leaves the seconds of
 * these placements in block->part, 0 for the others. */
static double take_share(const StepRule *rule, const RateTable *table, int group, int far, int64_t from, int count,
                         Block *block) {
    for (int phase = 0; phase < 2; phase++) {
        if (table->far[group])
            take_masked(block->seconds[phase], table->far[group] + from, far, count, block->part[phase]);
        else
            memcpy(block->part[phase], block->seconds[phase], (size_t)count * sizeof(double));
    }
    return far ? rule->far_exposed[group] : rule->exposed[group];
}

static void add_critical_phases(const StepRule *rule, const Resources *resources, int group, double share, int count,
                                Block *block) {
    bool ring = group == GROUP_SEQUENCE && rule->ring;
    for (int phase = 0; phase < 2; phase++) {
        double attention = ring ? resources->of[RES_ATTENTION_FORWARD + phase] : 0;
        add_critical(block->part[phase], share, ring ? 1 : 0, (1 - share) * attention,
                     rule->microbatches + rule->bubble[phase], count, block->critical);
        if (resources->of[RES_OFFLOAD_BYTES] > 0)
            add_critical(block->part[phase], share, ring ? 1 : 0, (1 - share) * attention, rule->bubble[phase], count,
                         block->idle);
    }
}

/* One row of a relaxation over one block: its step into `step`, the critical and background sums left in *block. */
static void block_steps(const StepRule *rule, const Resources *resources, const RateTable *table, int64_t from,
                        int count, Block *block, double *step) {
    double m = rule->microbatches, compute[2];
    for (int phase = 0; phase < 2; phase++)
        compute[phase] = resources->of[RES_COMPUTE_FORWARD + phase] + resources->of[RES_ATTENTION_FORWARD + phase];
    fill(block->critical, count, 0);
    fill(block->idle, count, 0);
    fill(block->background, count, 0);
    for (int part = 0; part < 2; part++)
        for (int axis = 0; axis < table->axis_count; axis++) fill(block->busy[part][axis], count, 0);
    for (int group = 0; group < GROUP_COUNT; group++) {
        if (!moves(rule, resources, table, group)) continue;
        for (int phase = 0; phase < 2; phase++)
            phase_seconds(rule, resources, table, group, phase, 0, 1, from, count, block->seconds[phase]);
        for (int far = 0; far < (table->far[group] ? 2 : 1); far++) {
            double share = take_share(rule, table, group, far, from, count, block);
            double m_most = group >= GROUP_DATA ? 0 : m - 1;
            if (group < GROUP_WEIGHTS)
                add_critical_phases(rule, resources, group, share, count, block);
            else if (share > 0)
                for (int phase = 0; phase < 2; phase++)
                    add_scaled(block->part[phase], share * (group >= GROUP_DATA ? 1 : m), count, block->background);
            for (int axis = 0; axis < table->axis_count && share < 1; axis++)
                if (table->on[group][axis])
                    add_busy(block->part[0], block->part[1], table->on[group][axis] + from, (1 - share) * m_most,
                             1 - share, 1 - share, count, block->busy[0][axis], block->busy[1][axis]);
        }
    }
    double parts[2][BLOCK];
    fill(parts[0], count, (m - 1) * (compute[0] + compute[1]) + compute[0]);
    fill(parts[1], count, compute[1]);
    for (int part = 0; part < 2; part++)
        for (int axis = 0; axis < table->axis_count; axis++) raise_to(block->busy[part][axis], count, parts[part]);
    double offload = resources->of[RES_OFFLOAD_BYTES]; /* where a policy requires it; else relaxations have none */
    double pcie = offload > 0 ? m * offload / rule->offload_bytes_per_second : 0;
    double constant = rule->bubble[0] * compute[0] + rule->bubble[1] * compute[1] - rule->bubble_saved_seconds +
                      rule->optimizer_seconds + rule->other_seconds;
    for (int i = 0; i < count; i++)
        step[i] = block->critical[i] + block->background[i] + parts[0][i] + parts[1][i] + constant;
    for (int i = 0; i < count && pcie > 0; i++) step[i] = max_real(step[i], pcie + constant + block->idle[i]);
}

/* The second bound of a row: everything in series, each group by one affine piece. */
static void block_serials(const StepRule *rule, const Resources *resources, const RateTable *table, int64_t from,
                          int count, unsigned second, Block *block, double *serial) {
    double m = rule->microbatches, compute = 0;
    for (int phase = 0; phase < 2; phase++)
        compute += (m + rule->bubble[phase]) *
                   (resources->of[RES_COMPUTE_FORWARD + phase] + resources->of[RES_ATTENTION_FORWARD + phase]);
    fill(block->critical, count, 0);
    fill(serial, count, compute - rule->bubble_saved_seconds + rule->optimizer_seconds + rule->other_seconds);
    for (int group = 0; group < GROUP_COUNT; group++) {
        if (!moves(rule, resources, table, group)) continue;
        int piece = group >= GROUP_DATA ? 0 : (int)(second >> group & 1), other = group >= GROUP_DATA ? 1 : piece;
        for (int phase = 0; phase < 2; phase++)
            phase_seconds(rule, resources, table, group, phase, piece, other, from, count, block->seconds[phase]);
        for (int far = 0; far < (table->far[group] ? 2 : 1); far++) {
            double share = take_share(rule, table, group, far, from, count, block);
            if (group < GROUP_WEIGHTS)
                add_critical_phases(rule, resources, group, share, count, block);
            else
                for (int phase = 0; phase < 2; phase++)
                    add_scaled(block->part[phase], share * (group >= GROUP_DATA ? 1 : m), count, serial);
        }
    }
    add_scaled(block->critical, 1, count, serial);
}

void batch_relaxed_seconds(const StepRule *rule, const Relaxation *relaxation, const RateTable *table, double *out) {
    Block block;
    double step[BLOCK], serial[BLOCK];
    for (int64_t from = 0; from < table->count; from += BLOCK) {
        int count = (int)min_whole(BLOCK, table->count - from);
        fill(out + from, count, INFINITY);
        for (int row = 0; row < relaxation->rows; row++) {
            const Resources *resources = &relaxation->row[row].resources;
            double weight = relaxation->row[row].serial_weight;
            block_steps(rule, resources, table, from, count, &block, step);
            if (weight > 0) {
                block_serials(rule, resources, table, from, count, relaxation->row[row].second_piece, &block, serial);
                /* relaxed_seconds() has a slack of its own here; the batch's comes on top */
                for (int i = 0; i < count; i++)
                    step[i] = max_real(step[i], (weight * serial[i] + relaxation->row[row].serial_constant) * SLACK);
            }
            for (int i = 0; i < count; i++) out[from + i] = min_real(out[from + i], step[i] * SLACK);
        }
    }
}
