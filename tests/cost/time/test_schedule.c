/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pipeline schedules: idle time and memory as published, as played pass by pass (tests/cost/pipelines.h), and through a
 * whole step. F, B, W: seconds of a microbatch's forward, whole backward, and the weight gradients in it. */
#include "tests/cost/pipelines.h"
#include "tests/cost/workbench.h"

#include "cost/time/schedule.h"

/* SplitMix64 (Steele, Lea and Flood 2014). */
static double random_between(uint64_t *state, double low, double high) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return low + (high - low) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double idle_of(Schedule schedule, double p, double m, double v, PassSeconds s) {
    Bubble bubble = schedule_bubble(schedule, p, m, v);
    return (p - 1) * (bubble.forward * s.F + bubble.backward * s.B - bubble.weights * s.W);
}

/* Figures as printed:
 * - Qi et al. 2023, figures 2 and 3: 4 devices, 8 microbatches, F = input gradient = W = 1, so B = 2: 1F1B leaves 9 of
 *   33 slots empty, ZB-H1 3 ("a third"); both keep 4 microbatches;
 * - DeepSeek-V3, table 2, with its own 16 stages and W = F, B = 2 F, F&B = F + B: (PP - 1)(F + B) = 45,
 *   (PP - 1)(F + B - 2 W) = 15, (PP/2 - 1)(F&B + B - 3 W) = 14; activations PP, PP, PP + 1; parameters 1x, 1x, 2x;
 * - Narayanan et al. 2021, section 2.2: (p - 1)(F + B), over v when interleaved: 7 x 3 and 7 x 3 / 4;
 * - Korthikanti et al. 2022, section 4.2.3: interleaving keeps p (1 + (p - 1)/(p v)) microbatches: 8 + 7/4. */
Test(schedule, as_published) {
    static const struct {
        const char *name;
        Schedule schedule;
        double p, m, v;
        PassSeconds seconds;
        double idle, first;
        int copies;
    } rows[] = {
        {"Qi et al., figure 2: 1F1B", SCHEDULE_1F1B, 4, 8, 1, {1, 2, 1}, 9, 4, 1},
        {"Qi et al., figure 3: ZB-H1", SCHEDULE_ZB_H1, 4, 8, 1, {1, 2, 1}, 3, 4, 1},
        {"DeepSeek-V3, table 2: 1F1B", SCHEDULE_1F1B, 16, 120, 1, {1, 2, 1}, 45, 16, 1},
        {"DeepSeek-V3, table 2: ZB1P", SCHEDULE_ZB_H1, 16, 120, 1, {1, 2, 1}, 15, 16, 1},
        {"DeepSeek-V3, table 2: DualPipe", SCHEDULE_DUALPIPE, 16, 120, 1, {1, 2, 1}, 14, 17, 2},
        {"DualPipe of two stages idles never", SCHEDULE_DUALPIPE, 2, 8, 1, {1, 2.5, 0.75}, 0, 3, 2},
        {"GPipe", SCHEDULE_GPIPE, 8, 32, 1, {1, 2, 1}, 21, 32, 1},
        {"Narayanan et al.: 1F1B", SCHEDULE_1F1B, 8, 32, 1, {1, 2, 1}, 21, 8, 1},
        {"Narayanan et al.: interleaved", SCHEDULE_INTERLEAVED, 8, 32, 4, {1, 2, 1}, 21. / 4, 8 + 7. / 4, 1},
        {"MaxText: circular", SCHEDULE_CIRCULAR, 8, 32, 4, {1, 2, 1}, 21. / 4, 32, 1},
        {"one stage", SCHEDULE_NONE, 1, 32, 1, {1, 2, 1}, 0, 1, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double idle = idle_of(rows[i].schedule, rows[i].p, rows[i].m, rows[i].v, rows[i].seconds);
        InFlight held = schedule_in_flight(rows[i].schedule, rows[i].p, rows[i].m, rows[i].v);
        cr_expect_float_eq(idle, rows[i].idle, 1e-12, "%s: idle %.12g, not %.12g", rows[i].name, idle, rows[i].idle);
        cr_expect_float_eq(held.first, rows[i].first, 1e-12, "%s: %.12g in flight", rows[i].name, held.first);
        cr_expect_eq(schedule_copies(rows[i].schedule), rows[i].copies, "%s", rows[i].name);
    }
}

/* MaxText's circular pipeline runs v m + p - 1 iterations of a chunk (layers/pipeline.py: m (v - 1) + (p - 1) until the
 * first microbatch is through, and m - 1 more for the last), of which a stage works in v m: p - 1 of them are
 * bubble. */
Test(schedule, circular_iterations) {
    for (int p = 2; p <= 16; p *= 2)
        for (int m = p; m <= 8 * p; m += p)
            for (int v = 2; v <= 4; v++) {
                double until_first = m * (v - 1) + (p - 1), iterations = until_first + 1 + (m - 1);
                double share = (iterations - v * m) / iterations;
                double idle = idle_of(SCHEDULE_CIRCULAR, p, m, v, (PassSeconds){1, 2, 1});
                cr_expect_float_eq(idle / (idle + 3 * m), share, 1e-12, "p=%d m=%d v=%d", p, m, v);
                cr_expect_float_eq(share, (p - 1.) / (v * m + p - 1), 1e-12);
            }
}

static void expect_played(const char *name, Play *play, Schedule schedule, PassSeconds s) {
    Playback played = play_out(play, s);
    double p = play->ranks, m = play->microbatches, v = play->two_ways ? 1 : play->chunks;
    InFlight held = schedule_in_flight(schedule, p, m, v);
    double idle = idle_of(schedule, p, m, v, s);
    cr_expect_not(played.stuck, "%s p=%g m=%g v=%g: stuck", name, p, m, v);
    cr_expect_float_eq(idle, played.idle, 1e-9 * m, "%s p=%g m=%g v=%g: idle %.12g, played %.12g", name, p, m, v, idle,
                       played.idle);
    cr_expect_float_eq(held.first, played.held[0], 1e-12, "%s p=%g m=%g v=%g: %g in flight, played %g", name, p, m, v,
                       held.first, played.held[0]);
    cr_expect_float_eq(held.last, played.held[play->ranks - 1], 1e-12, "%s p=%g m=%g v=%g: last %g, played %g", name, p,
                       m, v, held.last, played.held[play->ranks - 1]);
    for (int rank = 0; rank < play->ranks; rank++)
        cr_expect_leq(played.held[rank], fmax(held.first, held.last) + 1e-12, "%s p=%g: rank %d", name, p, rank);
}

/* Weight gradients take no longer than forward or than input gradients: each has one matmul for a matmul, and attention
 * has no weights. */
static PassSeconds random_seconds(uint64_t *state) {
    double W = random_between(state, 0.1, 2), B = W + W * random_between(state, 1, 3);
    return (PassSeconds){W * random_between(state, 1, 3), B, W};
}

Test(schedule, whole_stages_as_played) {
    uint64_t state = 1;
    for (int p = 2; p <= 8; p++)
        for (int m = 1; m <= 3 * p; m++) {
            PassSeconds s = random_seconds(&state);
            expect_played("gpipe", forwards_first(p, m, 1, m), SCHEDULE_GPIPE, s);
            expect_played("1f1b", one_forward_one_backward(p, m, 1), SCHEDULE_1F1B, s);
            if (schedule_allowed(SCHEDULE_ZB_H1, p, m, 1))
                expect_played("zb_h1", zero_bubble_h1(p, m), SCHEDULE_ZB_H1, s);
        }
}

Test(schedule, chunks_as_played) {
    uint64_t state = 2;
    for (int p = 2; p <= 6; p++)
        for (int m = p; m <= 4 * p; m += p)
            for (int v = 2; v <= PLAY_CHUNKS; v++) {
                PassSeconds s = random_seconds(&state);
                expect_played("interleaved", one_forward_one_backward(p, m, v), SCHEDULE_INTERLEAVED, s);
                expect_played("circular", forwards_first(p, m, v, m), SCHEDULE_CIRCULAR, s);
            }
}

/* A last group of fewer microbatches than stages: what bubble_factor says is that order with all forwards first, any
 * number of microbatches. (Megatron-Core refuses a rest that is smaller than the group: its 1F1B order can wait for
 * itself then.) */
Test(schedule, partial_groups_as_played) {
    uint64_t state = 3;
    for (int p = 2; p <= 6; p++)
        for (int m = 1; m <= 3 * p + 1; m++)
            for (int v = 1; v <= PLAY_CHUNKS; v++) {
                PassSeconds s = random_seconds(&state);
                Playback played = play_out(forwards_first(p, m, v, p), s);
                cr_expect_not(played.stuck);
                cr_expect_float_eq((p - 1) * (s.F + s.B) * bubble_factor(p, m, v), played.idle, 1e-9 * m,
                                   "p=%d m=%d v=%d: %g played", p, m, v, played.idle);
            }
}

/* DeepSeek's order idles as its table says when F, input and weight gradients take as long; where the input gradient
 * takes longer than F and weight gradients less, a little less than that: the table is on the safe side. It holds
 * PP + 1 microbatches on every rank in any case. */
Test(schedule, dualpipe_as_played) {
    uint64_t state = 4;
    for (int p = 2; p <= PLAY_RANKS; p += 2)
        for (int m = 2 * p; m <= PLAY_MICROBATCHES && m <= 4 * p; m += 2) {
            double unit = random_between(&state, 0.5, 2);
            expect_played("dualpipe", dual_pipe(p, m), SCHEDULE_DUALPIPE, (PassSeconds){unit, 2 * unit, unit});
            double F = random_between(&state, 1, 2), W = F * random_between(&state, 0.5, 1);
            PassSeconds s = {F, W + F * random_between(&state, 1, 1.8), W};
            Playback played = play_out(dual_pipe(p, m), s);
            double idle = idle_of(SCHEDULE_DUALPIPE, p, m, 1, s);
            cr_expect_not(played.stuck);
            cr_expect_leq(played.idle, idle + 1e-9 * m, "p=%d m=%d: %g played, %g", p, m, played.idle, idle);
            cr_expect_geq(played.idle, 0.7 * idle - 1e-9 * m, "p=%d m=%d: %g played, %g", p, m, played.idle, idle);
            for (int rank = 0; rank < p; rank++) cr_expect_eq(played.held[rank], p + 1, "p=%d rank %d", p, rank);
        }
}

/* What a launcher's schedule asks for. */
Test(schedule, allowed) {
    static const struct {
        const char *name;
        Schedule schedule;
        int64_t p, m, v;
        bool allowed;
    } rows[] = {
        {"no schedule without stages", SCHEDULE_NONE, 1, 7, 1, true},
        {"stages without a schedule", SCHEDULE_NONE, 4, 8, 1, false},
        {"a schedule without stages", SCHEDULE_1F1B, 1, 8, 1, false},
        {"1F1B takes any number", SCHEDULE_1F1B, 4, 3, 1, true},
        {"GPipe too", SCHEDULE_GPIPE, 4, 1, 1, true},
        {"1F1B has no chunks", SCHEDULE_1F1B, 4, 8, 2, false},
        {"interleaving has", SCHEDULE_INTERLEAVED, 4, 8, 1, false},
        {"two of them", SCHEDULE_INTERLEAVED, 4, 8, 2, true},
        {"circular: whole rounds", SCHEDULE_CIRCULAR, 4, 8, 2, true},
        {"circular: half a round", SCHEDULE_CIRCULAR, 4, 6, 2, false},
        {"ZB-H1 fills a pipeline", SCHEDULE_ZB_H1, 4, 4, 1, true},
        {"ZB-H1 cannot with less", SCHEDULE_ZB_H1, 4, 3, 1, false},
        {"DualPipe: two per rank", SCHEDULE_DUALPIPE, 4, 8, 1, true},
        {"DualPipe: too few", SCHEDULE_DUALPIPE, 4, 6, 1, false},
        {"DualPipe: as many from both ends", SCHEDULE_DUALPIPE, 4, 9, 1, false},
        {"DualPipe: an even number of ranks", SCHEDULE_DUALPIPE, 5, 10, 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        cr_expect_eq(schedule_allowed(rows[i].schedule, rows[i].p, rows[i].m, rows[i].v), rows[i].allowed, "%s",
                     rows[i].name);
}

/* Bounds rest on this: whatever schedule is allowed idles at least that share, with B >= F and W up to its share. */
Test(schedule, least_share_is_least) {
    uint64_t state = 5;
    const double weights = 1. / 3;
    for (int p = 1; p <= 12; p++)
        for (int most = 1; most <= 3 * p; most++)
            for (int chunks = 1; chunks <= 4; chunks++) {
                double least = schedule_least_share(p, most, chunks, weights), F = random_between(&state, 0.1, 2);
                double B = F * random_between(&state, 1, 3), W = random_between(&state, 0, weights) * (F + B);
                cr_expect(least >= 0 && (p > 1 || least == 0), "p=%d m=%d v=%d: %g", p, most, chunks, least);
                for (int schedule = 0; schedule < SCHEDULE_COUNT; schedule++)
                    for (int m = 1; m <= most; m++)
                        for (int v = 1; v <= chunks; v++) {
                            if (!schedule_allowed((Schedule)schedule, p, m, v)) continue;
                            double idle = idle_of((Schedule)schedule, p, m, v, (PassSeconds){F, B, W});
                            cr_expect_geq(idle, (p - 1) * (F + B) * least * (1 - 1e-12), "%s p=%d m=%d v=%d",
                                          schedule_name((Schedule)schedule), p, m, v);
                        }
            }
}

/* ---- the whole step: many equal layers of two matrices, P = 2 D F parameters. F = 2 T P, W = 2 T P, B = 4 T P FLOPs
 * on 1e15 FLOP/s; over t tensor ways a t-th, and 2 streams of 2 T D bytes each way at 1 TB/s, which take part in
 * F and B but are no weight gradients. ---- */
Test(schedule, bubble_of_a_step) {
    static const struct {
        const char *name;
        Schedule schedule;
        double p, m;
        int64_t v;
        double forward, backward, weights; /* of F, B, W */
    } rows[] = {
        {"gpipe", SCHEDULE_GPIPE, 8, 32, 1, 7, 7, 0},
        {"1f1b", SCHEDULE_1F1B, 8, 32, 1, 7, 7, 0},
        {"interleaved", SCHEDULE_INTERLEAVED, 8, 32, 4, 7. / 4, 7. / 4, 0},
        {"interleaved, a last group of 4: (7 + 3 x 4) / 4", SCHEDULE_INTERLEAVED, 8, 12, 4, 4.75, 4.75, 0},
        {"circular", SCHEDULE_CIRCULAR, 8, 32, 4, 7. / 4, 7. / 4, 0},
        {"zb_h1", SCHEDULE_ZB_H1, 8, 32, 1, 7, 7, 14},
        {"dualpipe", SCHEDULE_DUALPIPE, 8, 32, 1, 3, 6, 9},
        {"one stage", SCHEDULE_NONE, 1, 32, 1, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (double t = 1; t <= 8; t *= 8) {
            const double layers = 1.6e9, T = 4096, D = 8192, P = 2 * D * 28672;
            Model model = book_model(8192, 28672);
            model.layers = model.kinds[0].count = 1600000000 * (int64_t)rows[i].p;
            Bench bench = bench_of(model, 1e15, T);
            bench_split(&bench, T / t, 1, t);
            bench_rate(&bench, GROUP_TENSOR, (CollectiveCost){.seconds_per_byte = {0, 1e-12}}, 0);
            bench.shard.pipeline = rows[i].p, bench.shard.microbatches = rows[i].m;
            bench.shard.layers = bench.shard.layers_last = layers;
            bench.knobs.schedule = rows[i].schedule, bench.knobs.virtual_stages = rows[i].v;
            CostContext setting = bench_setting(&bench);
            Resources resources = bench_resources(&bench);
            StepRule rule;
            StepTime time;
            step_rule(&setting, &bench.shard, &bench.knobs, &rule);
            step_time(&rule, &resources, &bench.rates, &time);
            double matmul = layers * 2 * T * P / t / 1e15, waits = t > 1 ? layers * 2 * 2 * T * D * 1e-12 : 0;
            double expected =
                rows[i].forward * (matmul + waits) + rows[i].backward * (2 * matmul + waits) - rows[i].weights * matmul;
            cr_expect_float_eq(time.bubble_seconds, expected, 1e-9 * (expected + matmul), "%s, %g ways: %.9g, not %.9g",
                               rows[i].name, t, time.bubble_seconds, expected);
            cr_expect_float_eq(time.seconds,
                               rows[i].m * 3 * matmul + rows[i].m * 2 * waits + expected + time.optimizer_seconds,
                               1e-9 * time.seconds, "%s, %g ways", rows[i].name, t);
        }
}
