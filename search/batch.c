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

/* The groups that may be another's chips under another name. */
static int twin_of(int group) {
    return group == GROUP_TENSOR_WEIGHTS ? GROUP_TENSOR : group == GROUP_EXPERT_WEIGHTS ? GROUP_WEIGHTS : -1;
}

_Static_assert(MESH_AXES_MAX <= 8 && GROUP_COUNT <= 16, "bits of axes and groups");

bool rate_table_new(int64_t count, int axis_count, const bool active[GROUP_COUNT], Arena *arena, RateTable *out,
                    Error *error) {
    *out = (RateTable){.count = count, .axis_count = axis_count};
    out->far_groups = ARENA_NEW(arena, uint16_t, (size_t)count);
    if (!out->far_groups) return error_memory(error);
    for (int group = 0; group < GROUP_COUNT; group++) {
        out->active[group] = active[group];
        if (!active[group]) continue;
        out->axes[group] = ARENA_NEW(arena, uint8_t, (size_t)count);
        if (!out->axes[group]) return error_memory(error);
        for (int piece = 0; piece < 2; piece++) {
            out->latency[group][piece] = ARENA_NEW(arena, double, (size_t)count);
            out->per_byte[group][piece] = ARENA_NEW(arena, double, (size_t)count);
            if (!out->latency[group][piece] || !out->per_byte[group][piece]) return error_memory(error);
        }
    }
    return true;
}

void rate_table_set(RateTable *table, int64_t placement, const Rates *rates) {
    for (int group = 0; group < GROUP_COUNT; group++) {
        if (!table->active[group]) continue;
        const CollectiveCost *cost = &rates->cost[group];
        for (int piece = 0; piece < 2; piece++) {
            table->latency[group][piece][placement] = cost->latency_seconds[piece];
            table->per_byte[group][piece][placement] = cost->seconds_per_byte[piece];
        }
        table->axes[group][placement] = (uint8_t)rates->axes[group];
    }
    table->far_groups[placement] = (uint16_t)rates->far;
}

void rate_table_keep(RateTable *table, const int64_t *placements, int64_t kept) {
    for (int group = 0; group < GROUP_COUNT; group++)
        for (int64_t i = 0; table->active[group] && i < kept; i++) {
            for (int piece = 0; piece < 2; piece++) {
                table->latency[group][piece][i] = table->latency[group][piece][placements[i]];
                table->per_byte[group][piece][i] = table->per_byte[group][piece][placements[i]];
            }
            table->axes[group][i] = table->axes[group][placements[i]];
        }
    for (int64_t i = 0; i < kept; i++) table->far_groups[i] = table->far_groups[placements[i]];
    table->count = kept;
}

/* A column of 0 and 1. */
static bool new_column(int64_t count, Arena *arena, double **out, Error *error) {
    *out = ARENA_NEW(arena, double, (size_t)count);
    return *out || error_memory(error);
}

static bool is_twin(const RateTable *table, int group, int other) {
    size_t column = (size_t)table->count * sizeof(double);
    if (other < 0 || !table->active[other]) return false;
    for (int piece = 0; piece < 2; piece++)
        if (memcmp(table->latency[group][piece], table->latency[other][piece], column) != 0 ||
            memcmp(table->per_byte[group][piece], table->per_byte[other][piece], column) != 0)
            return false;
    return memcmp(table->axes[group], table->axes[other], (size_t)table->count) == 0;
}

static bool finish_group(RateTable *table, int group, Arena *arena, Error *error) {
    unsigned axes = 0, far = 0;
    for (int64_t i = 0; i < table->count; i++) {
        axes |= table->axes[group][i];
        far |= table->far_groups[i] >> group & 1;
    }
    if (far) {
        if (!new_column(table->count, arena, &table->far[group], error)) return false;
        for (int64_t i = 0; i < table->count; i++) table->far[group][i] = table->far_groups[i] >> group & 1;
    }
    int twin = twin_of(group);
    if (is_twin(table, group, twin)) {
        memcpy(table->on[group], table->on[twin], sizeof table->on[group]);
        return true;
    }
    for (int axis = 0; axis < table->axis_count; axis++) {
        if (!(axes >> axis & 1)) continue;
        if (!new_column(table->count, arena, &table->on[group][axis], error)) return false;
        for (int64_t i = 0; i < table->count; i++) table->on[group][axis][i] = table->axes[group][i] >> axis & 1;
    }
    return true;
}

bool rate_table_finish(RateTable *table, Arena *arena, Error *error) {
    for (int group = 0; group < GROUP_COUNT; group++)
        if (table->active[group] && !finish_group(table, group, arena, error)) return false;
    return true;
}

bool rate_table_fill(const Rates *rates, int64_t count, Arena *arena, RateTable *out, Error *error) {
    bool active[GROUP_COUNT] = {false};
    for (int group = 0; group < GROUP_COUNT; group++)
        for (int64_t i = 0; i < count; i++) active[group] = active[group] || rates[i].axes[group] != 0;
    if (!rate_table_new(count, count > 0 ? rates[0].axis_count : 0, active, arena, out, error)) return false;
    for (int64_t i = 0; i < count; i++) rate_table_set(out, i, &rates[i]);
    return rate_table_finish(out, arena, error);
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
