/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The step's expression: against the formulas of cost/time/step.h written out again, and the laws that bounds rest on,
 * on random stages. */
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CASES = 4000 };

/* SplitMix64 (Steele, Lea and Flood 2014): the same cases everywhere. */
static double random_share(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* 0 one time in five, so that roles are off and links free now and then; else spread over orders of magnitude. */
static double random_size(uint64_t *state, double scale) {
    return random_share(state) < 0.2 ? 0 : scale * exp(4 * (random_share(state) - 0.5));
}

typedef struct {
    StepRule rule;
    Resources resources;
    Rates rates;
} Stage;

static Stage random_stage(uint64_t *state) {
    Stage stage = {
        .rule = {.microbatches = 1 + floor(9 * random_share(state)),
                 .bubble = {random_size(state, 0.5), random_size(state, 0.5)},
                 .ring = random_share(state) < 0.5,
                 .optimizer_seconds = random_size(state, 0.1),
                 .other_seconds = random_size(state, 0.1),
                 .offload_bytes_per_second = 1e10,
                 .host_exposed = random_size(state, 0.05)},
        .rates = {.axis_count = random_share(state) < 0.2 ? GROUP_COUNT : 1 + (int)(4 * random_share(state))}};
    for (int i = 0; i < RES_MESSAGES; i++)
        stage.resources.of[i] = random_size(state, i == RES_OFFLOAD_BYTES ? 1e9 : 0.5);
    for (int i = RES_MESSAGES; i < RES_BYTES; i++) stage.resources.of[i] = floor(10 * random_share(state));
    for (int i = RES_BYTES; i < RES_MEMORY; i++) stage.resources.of[i] = random_size(state, 1e9);
    for (int i = 0; i < DATA_GROUPS; i++) {
        stage.rule.data_start[i] = (Traffic){floor(4 * random_share(state)), random_size(state, 1e9)};
        stage.rule.data_end[i] = (Traffic){floor(4 * random_share(state)), random_size(state, 1e9)};
    }
    /* Weight gradients fill some of what backward leaves idle, never more than it computes. */
    stage.rule.bubble_saved_seconds =
        random_share(state) * stage.rule.bubble[PHASE_BACKWARD] * stage.resources.of[RES_COMPUTE_BACKWARD];
    for (int group = 0; group < GROUP_COUNT; group++) {
        double share = random_share(state);
        stage.rule.exposed[group] = share < 0.3 ? 0 : share < 0.6 ? 1 : random_share(state);
        for (int piece = 0; piece < 2; piece++) {
            stage.rates.cost[group].latency_seconds[piece] = random_size(state, 1e-2);
            stage.rates.cost[group].seconds_per_byte[piece] = random_size(state, 1e-10);
        }
        stage.rates.axes[group] = (unsigned)(random_share(state) * (double)(1u << stage.rates.axis_count));
    }
    /* in two of three, the last axis uses the lane of the host link */
    if (random_share(state) < 0.67) stage.rates.host_lane = 1u << (stage.rates.axis_count - 1);
    return stage;
}

static double seconds_of(const Stage *stage) { return step_seconds(&stage->rule, &stage->resources, &stage->rates); }

/* cost/time/step.h, read again: everything in long form, group by group. */
static double written_out(const Stage *s) {
    const double m = s->rule.microbatches, *x = s->rule.exposed;
    double t[GROUP_COUNT][2], C[2], critical[2], ring[2];
    for (int g = 0; g < GROUP_DATA; g++)
        for (int p = 0; p < 2; p++)
            t[g][p] = fmax(s->resources.of[res_messages((Group)g, (Phase)p)] * s->rates.cost[g].latency_seconds[0] +
                               s->resources.of[res_bytes((Group)g, (Phase)p)] * s->rates.cost[g].seconds_per_byte[0],
                           s->resources.of[res_messages((Group)g, (Phase)p)] * s->rates.cost[g].latency_seconds[1] +
                               s->resources.of[res_bytes((Group)g, (Phase)p)] * s->rates.cost[g].seconds_per_byte[1]);
    const int once[] = {GROUP_DATA, GROUP_EXPERT_DATA}; /* per step */
    for (size_t i = 0; i < COUNT_OF(once); i++) {
        const Traffic *start = &s->rule.data_start[i], *end = &s->rule.data_end[i];
        t[once[i]][0] = collective_seconds(s->rates.cost[once[i]], start->messages, start->bytes);
        t[once[i]][1] = collective_seconds(s->rates.cost[once[i]], end->messages, end->bytes);
    }
    for (int p = 0; p < 2; p++) {
        double attention = s->resources.of[RES_ATTENTION_FORWARD + p], q = x[GROUP_SEQUENCE];
        C[p] = s->resources.of[RES_COMPUTE_FORWARD + p] + attention;
        ring[p] = q * t[GROUP_SEQUENCE][p];
        if (s->rule.ring) ring[p] = fmax(ring[p], t[GROUP_SEQUENCE][p] - (1 - q) * attention);
        critical[p] = ring[p];
        const int waited_for[] = {GROUP_TENSOR, GROUP_EXPERT_TENSOR, GROUP_EXPERT, GROUP_ULYSSES, GROUP_PIPELINE};
        for (size_t i = 0; i < COUNT_OF(waited_for); i++) critical[p] += x[waited_for[i]] * t[waited_for[i]][p];
    }
    double A = m * C[0] + (m - 1) * C[1], B = C[1], exposed = m * (critical[0] + critical[1]);
    for (int axis = 0; axis < s->rates.axis_count; axis++) {
        double busy_a = 0, busy_b = 0;
        for (int g = 0; g < GROUP_COUNT; g++) {
            if (!(s->rates.axes[g] & (1u << axis))) continue;
            busy_a +=
                (1 - x[g]) * (g == GROUP_DATA || g == GROUP_EXPERT_DATA ? t[g][0] : m * t[g][0] + (m - 1) * t[g][1]);
            busy_b += (1 - x[g]) * t[g][1];
        }
        A = fmax(A, busy_a), B = fmax(B, busy_b);
    }
    const int background[] = {GROUP_WEIGHTS, GROUP_EXPERT_WEIGHTS, GROUP_TENSOR_WEIGHTS};
    for (size_t i = 0; i < COUNT_OF(background); i++)
        exposed += x[background[i]] * m * (t[background[i]][0] + t[background[i]][1]);
    for (size_t i = 0; i < COUNT_OF(once); i++) exposed += x[once[i]] * (t[once[i]][0] + t[once[i]][1]);
    double pcie = m * s->resources.of[RES_OFFLOAD_BYTES] / s->rule.offload_bytes_per_second, lane = 0;
    for (int g = 0; g < GROUP_COUNT; g++)
        if (pcie > 0 && (s->rates.axes[g] & s->rates.host_lane))
            lane += (g == GROUP_DATA || g == GROUP_EXPERT_DATA ? 1 : m) * (t[g][0] + t[g][1]);
    double main = fmax(exposed + s->rule.host_exposed * pcie + A + B, pcie + lane);
    double bubble = s->rule.bubble[0] * (C[0] + critical[0]) + s->rule.bubble[1] * (C[1] + critical[1]) -
                    s->rule.bubble_saved_seconds;
    return main + bubble + s->rule.optimizer_seconds + s->rule.other_seconds;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

Test(step, laws) {
    uint64_t state = 1;
    for (int i = 0; i < CASES; i++) {
        Stage stage = random_stage(&state);
        StepTime time;
        step_time(&stage.rule, &stage.resources, &stage.rates, &time);
        double seconds = seconds_of(&stage);
        cr_expect_eq(memcmp(&seconds, &time.seconds, sizeof seconds), 0, "case %d: one step, two lengths", i);
        cr_expect(near(seconds, written_out(&stage)), "case %d: %.17g, written out %.17g", i, seconds,
                  written_out(&stage));
        double sum = time.compute_seconds + time.exposed_seconds + time.bubble_seconds + time.optimizer_seconds +
                     time.other_seconds;
        cr_expect(near(seconds, sum), "case %d: %.17g is not its parts, %.17g", i, seconds, sum);
        cr_expect_leq(time.lower_seconds, seconds, "case %d", i);
        cr_expect_leq(seconds, time.serial_seconds, "case %d", i);
        cr_expect_geq(time.exposed_seconds, -1e-12 * seconds, "case %d", i);

        /* The bounds again from what the report shows; the program's own are clamped. */
        double longest = fmax(time.compute_seconds, time.pcie_seconds + time.host_lane_seconds),
               serial = time.compute_seconds + time.pcie_seconds;
        for (int axis = 0; axis < MESH_AXES_MAX; axis++) longest = fmax(longest, time.axis_seconds[axis]);
        for (int group = 0; group < GROUP_COUNT; group++) serial += time.group_seconds[group];
        double rest = time.bubble_seconds + time.optimizer_seconds + time.other_seconds;
        /* What a ring leaves uncovered is seen, and its axis still counts (1 - x) t as busy: step.h prices that
         * excess twice, and the upper bound gives way to the step (serial_seconds is never below it). */
        double twice = time.group_exposed_seconds[GROUP_SEQUENCE] -
                       stage.rule.exposed[GROUP_SEQUENCE] * time.group_seconds[GROUP_SEQUENCE];
        cr_expect_leq(longest + rest, seconds * (1 + 1e-12), "case %d: an axis is busier than the step is long", i);
        cr_expect_geq(serial + rest + fmax(0, twice), seconds * (1 - 1e-12), "case %d: more than everything in turns",
                      i);
        cr_expect(near(time.serial_seconds, fmax(serial + rest, seconds)), "case %d", i);
        double certain = 0;
        for (int group = 0; group < GROUP_COUNT; group++) certain += time.group_exposed_seconds[group];
        cr_expect(certain + time.unhidden_seconds <= time.exposed_seconds * (1 + 1e-9) + 1e-12 * seconds ||
                      time.pcie_seconds > 0,
                  "case %d: exposed %.17g, certainly %.17g and unhidden %.17g", i, time.exposed_seconds, certain,
                  time.unhidden_seconds);
    }
}

/* Every figure that a bound takes the least of. Where a ring hides behind attention, more attention may hide more:
 * not those. */
static int figures(Stage *stage, double *of[], const char *names[]) {
    int count = 0;
#define FIGURE(name, place) (names[count] = (name), of[count++] = &(place))
    for (int i = 0; i < RES_MEMORY; i++)
        if (!stage->rule.ring || (i != RES_ATTENTION_FORWARD && i != RES_ATTENTION_BACKWARD))
            FIGURE("a resource", stage->resources.of[i]);
    for (int group = 0; group < GROUP_COUNT; group++)
        for (int piece = 0; piece < 2; piece++) {
            FIGURE("latency", stage->rates.cost[group].latency_seconds[piece]);
            FIGURE("seconds per byte", stage->rates.cost[group].seconds_per_byte[piece]);
        }
    for (int phase = 0; phase < PHASE_COUNT; phase++) FIGURE("bubble", stage->rule.bubble[phase]);
    FIGURE("optimizer", stage->rule.optimizer_seconds);
    FIGURE("other", stage->rule.other_seconds);
    for (int i = 0; i < DATA_GROUPS; i++) {
        FIGURE("messages at the start", stage->rule.data_start[i].messages);
        FIGURE("bytes at the start", stage->rule.data_start[i].bytes);
        FIGURE("messages at the end", stage->rule.data_end[i].messages);
        FIGURE("bytes at the end", stage->rule.data_end[i].bytes);
    }
#undef FIGURE
    return count;
}

enum { FIGURES_MAX = RESOURCE_COUNT + 4 * GROUP_COUNT + 16 };

/* Exactly, without an epsilon (docs/search.md, "How the step time depends on its inputs"): one figure more, or any
 * set of them, never makes a shorter step. */
Test(step, more_is_never_shorter) {
    uint64_t state = 2;
    double *of[FIGURES_MAX];
    const char *names[FIGURES_MAX];
    for (int i = 0; i < CASES; i++) {
        Stage stage = random_stage(&state);
        double before = seconds_of(&stage);
        int count = figures(&stage, of, names), one = (int)(random_share(&state) * count);
        double kept = *of[one];
        *of[one] =
            kept * (1 + 0x1p-40 * random_share(&state)) + (random_share(&state) < 0.5 ? 0 : random_share(&state));
        cr_expect_geq(seconds_of(&stage), before, "case %d: %s from %.17g to %.17g", i, names[one], kept, *of[one]);
        *of[one] = kept;
        for (int j = 0; j < count; j++)
            if (random_share(&state) < 0.3) *of[j] *= 1 + random_share(&state);
        cr_expect_geq(seconds_of(&stage), before, "case %d: many figures", i);

        Stage shared = random_stage(&state);
        double apart = seconds_of(&shared);
        int group = (int)(random_share(&state) * GROUP_COUNT);
        shared.rates.axes[group] |= 1u << (int)(random_share(&state) * shared.rates.axis_count);
        cr_expect_geq(seconds_of(&shared), apart, "case %d: one more axis to share", i);
        shared = random_stage(&state);
        double fewer = seconds_of(&shared);
        shared.rule.microbatches++;
        cr_expect_geq(seconds_of(&shared), fewer, "case %d: one more microbatch", i);
    }
}

/* Small enough to add up on paper. Compute 1 s forward, 2 s backward; a gather of 1 GB takes 1 s at 1 GB/s. */
Test(step, by_hand) {
    enum { ALONE, SHARED };
    static const struct {
        const char *name;
        double microbatches, bubble;
        double tensor[2], weights[2], data[2]; /* seconds by phase, or start and end */
        int axes;
        double tensor_exposed, weights_exposed, offload;
        double seconds, exposed;
    } rows[] = {
        {"compute alone", 1, 0, {0, 0}, {0, 0}, {0, 0}, ALONE, 1, 0, 0, 3, 0},
        {"three microbatches", 3, 0, {0, 0}, {0, 0}, {0, 0}, ALONE, 1, 0, 0, 9, 0},
        {"tensor is waited for", 2, 0, {0.5, 0.25}, {0, 0}, {0, 0}, ALONE, 1, 0, 0, 7.5, 1.5},
        {"a fifth of it is", 2, 0, {0.5, 0.25}, {0, 0}, {0, 0}, ALONE, 0.2, 0, 0, 6.3, 0.3},
        {"gathers hide", 1, 0, {0, 0}, {1, 2}, {0, 0}, ALONE, 1, 0, 0, 3, 0},
        {"more than there is to hide behind", 1, 0, {0, 0}, {1.5, 2.5}, {0, 0}, ALONE, 1, 0, 0, 4, 1},
        {"a tenth is always seen", 1, 0, {0, 0}, {1, 2}, {0, 0}, ALONE, 1, 0.1, 0, 3.3, 0.3},
        {"gradients hide behind the last backward", 2, 0, {0, 0}, {0, 0}, {0, 2}, ALONE, 1, 0, 0, 6, 0},
        {"and wait beyond it", 2, 0, {0, 0}, {0, 0}, {0, 3}, ALONE, 1, 0, 0, 7, 1},
        {"on axes of their own: the longer", 1, 0, {0, 0}, {0, 2.5}, {0, 3}, ALONE, 1, 0, 0, 4, 1},
        {"on one axis: in turns", 1, 0, {0, 0}, {0, 2.5}, {0, 3}, SHARED, 1, 0, 0, 6.5, 3.5},
        {"hidden tensor shares its axis too", 1, 0, {1, 1}, {1, 2}, {0, 0}, SHARED, 0, 0, 0, 5, 2},
        {"half a bubble", 2, 0.5, {0.5, 0.5}, {0, 0}, {0, 0}, ALONE, 1, 0, 0, 8 + 2, 2},
        {"host link: waits", 1, 0, {0, 0}, {0, 0}, {0, 0}, ALONE, 1, 0, 5, 5, 2},
        {"host link: hides behind all of it", 1, 0, {1, 1}, {0, 0}, {0, 0}, ALONE, 1, 0, 5, 5, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Stage stage = {.rule = {.microbatches = rows[i].microbatches,
                                .bubble = {rows[i].bubble, rows[i].bubble},
                                .offload_bytes_per_second = 1e9},
                       .rates = {.axis_count = 3}};
        stage.resources.of[RES_COMPUTE_FORWARD] = 0.75, stage.resources.of[RES_ATTENTION_FORWARD] = 0.25;
        stage.resources.of[RES_COMPUTE_BACKWARD] = 1.5, stage.resources.of[RES_ATTENTION_BACKWARD] = 0.5;
        stage.resources.of[RES_OFFLOAD_BYTES] = 1e9 * rows[i].offload;
        const int groups[] = {GROUP_TENSOR, GROUP_WEIGHTS, GROUP_DATA};
        for (size_t g = 0; g < COUNT_OF(groups); g++) {
            stage.rates.cost[groups[g]] = (CollectiveCost){.seconds_per_byte = {0, 1e-9}};
            stage.rates.axes[groups[g]] = rows[i].axes == SHARED ? 1u : 1u << g;
        }
        for (int phase = 0; phase < 2; phase++) {
            stage.resources.of[res_bytes(GROUP_TENSOR, (Phase)phase)] = 1e9 * rows[i].tensor[phase];
            stage.resources.of[res_bytes(GROUP_WEIGHTS, (Phase)phase)] = 1e9 * rows[i].weights[phase];
        }
        stage.rule.data_start[0].bytes = 1e9 * rows[i].data[0], stage.rule.data_end[0].bytes = 1e9 * rows[i].data[1];
        stage.rule.exposed[GROUP_TENSOR] = rows[i].tensor_exposed,
        stage.rule.exposed[GROUP_WEIGHTS] = rows[i].weights_exposed;
        StepTime time;
        step_time(&stage.rule, &stage.resources, &stage.rates, &time);
        cr_expect_float_eq(time.seconds, rows[i].seconds, 1e-9, "%s: %.12g s", rows[i].name, time.seconds);
        cr_expect_float_eq(time.exposed_seconds, rows[i].exposed, 1e-9, "%s: %.12g s exposed", rows[i].name,
                           time.exposed_seconds);
    }
}

/* A ring passes blocks while it computes with those it has: what attention does not cover is seen, and the share
 * that never hides. */
Test(step, ring_attention) {
    static const struct {
        const char *name;
        bool ring;
        double share, transfer, attention, exposed;
    } rows[] = {
        {"ideal: all", true, 1, 2, 5, 2},
        {"covered: a tenth", true, 0.1, 2, 5, 0.2},
        {"barely covered", true, 0.1, 4.7, 5, 0.47},
        {"longer than its cover", true, 0, 7, 5, 2},
        {"both", true, 0.5, 7, 5, 4.5},
        {"gathered: no cover", false, 0.5, 7, 5, 3.5},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Stage stage = {.rule = {.microbatches = 1, .ring = rows[i].ring}};
        stage.resources.of[RES_ATTENTION_FORWARD] = rows[i].attention;
        stage.resources.of[res_bytes(GROUP_SEQUENCE, PHASE_FORWARD)] = rows[i].transfer;
        stage.rates.cost[GROUP_SEQUENCE].seconds_per_byte[1] = 1;
        stage.rule.exposed[GROUP_SEQUENCE] = rows[i].share;
        double exposed = seconds_of(&stage) - rows[i].attention;
        cr_expect_float_eq(exposed, rows[i].exposed, 1e-12, "%s: %g", rows[i].name, exposed);
    }
}

/* The workbench's profile is the file's. */
Test(step, ideal_is_ideal) {
    Arena arena = {0};
    Chip chip = bench_chip(1, 1);
    Profile file;
    Error error = {0};
    cr_assert(profile_load("ideal", NULL, &chip, &arena, &file, &error), "%s: %s", error.where, error.text);
    Profile zero = {0};
    memcpy(file.name, zero.name, sizeof file.name), memcpy(file.source, zero.source, sizeof file.source);
    Profile bench = IDEAL;
    memcpy(bench.name, zero.name, sizeof bench.name);
    cr_expect_eq(file.tile_padding, bench.tile_padding);
    size_t first = offsetof(Profile, matrix_efficiency), count = (sizeof(Profile) - first) / sizeof(double);
    for (size_t i = 0; i < count; i++) {
        double a, b;
        memcpy(&a, (char *)&file + first + i * sizeof a, sizeof a);
        memcpy(&b, (char *)&bench + first + i * sizeof b, sizeof b);
        cr_expect_eq(a, b, "figure %zu of the profile: %g in the file, %g here", i, a, b);
    }
    arena_free(&arena);
}
