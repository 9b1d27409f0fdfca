/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients and weights over replicas and shards in time: played pass by pass (tests/cost/player.h) and layer by layer,
 * against what the step makes of them. R: seconds of reducing all of a rank's gradients; F, B: of a microbatch's
 * forward and backward on it. */
#include "tests/cost/pipelines.h"
#include "tests/cost/workbench.h"

#include "cost/profile/profile_set.h"

enum { BUCKETS = 256 }; /* of a chunk: its layers */

/* When all gradients of the worst rank are reduced, beyond the end of the last backward. The reductions of a rank stand
 * in one queue; a bucket of a chunk joins it as the chunk's last backward passes its layers. */
static double played_beyond(Play *play, PassSeconds seconds, double R) {
    Playback played = play_out(play, seconds);
    double worst = 0;
    for (int rank = 0; rank < play->ranks; rank++) {
        double at = 0;
        for (int chunk = play->chunks - 1; chunk >= 0; chunk--) {
            double begins = played.last_begins[rank][chunk], lasts = played.last_ends[rank][chunk] - begins;
            for (int bucket = 1; bucket <= BUCKETS; bucket++)
                at = fmax(at, begins + lasts * bucket / BUCKETS) + R / play->chunks / BUCKETS;
        }
        worst = fmax(worst, at - played.end);
    }
    return worst;
}

/* The same through the rule and the step: v chunks, data ways whose whole reduction takes R seconds of 3 for a
 * microbatch's F = 1 and B = 2, nothing exposed that can hide. */
static double stepped_beyond(int p, int m, int v, double R) {
    const double P = 2 * 8192. * 28672, T = 1024, layers = 1.6e9;
    Model model = book_model(8192, 28672);
    model.layers = model.kinds[0].count = 1600000000 * (int64_t)p;
    Bench bench = bench_of(model, layers * 2 * T * P, T); /* F = 1 s */
    bench.shard.pipeline = p, bench.shard.microbatches = m, bench.shard.data = 2;
    bench.shard.layers = bench.shard.layers_last = layers;
    bench.knobs.schedule = v > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B, bench.knobs.virtual_stages = v;
    /* two passes of 4 bytes (fp32, accumulated) */
    bench_rate(&bench, GROUP_DATA, (CollectiveCost){.seconds_per_byte = {0, R / (2 * 4 * layers * P)}}, 0);
    CostContext setting = bench_setting(&bench);
    Resources resources = bench_resources(&bench);
    StepRule rule;
    StepTime time;
    step_rule(&setting, &bench.shard, &bench.knobs, &rule);
    double whole = 2 * 4 * layers * P;
    cr_expect_float_eq(rule.data_end[0].bytes, whole / v, 1e-9 * whole, "a chunk's gradients at the end");
    cr_expect_float_eq(rule.data_start[0].bytes, whole * (1 - 1. / v), 1e-9 * whole, "the others' before");
    step_time(&rule, &resources, &bench.rates, &time);
    return time.exposed_seconds;
}

/* One chunk: R hides behind one backward, to the bucket. */
Test(reduction, whole_stages_as_played) {
    for (int p = 2; p <= 8; p *= 2)
        for (double R = 0.5; R <= 16; R *= 2) {
            double played = played_beyond(one_forward_one_backward(p, 3 * p, 1), (PassSeconds){1, 2, 1}, R);
            cr_expect_float_eq(stepped_beyond(p, 3 * p, 1, R), played, R / BUCKETS + 1e-9, "p=%d R=%g: %g played", p, R,
                               played);
        }
}

/* v chunks are done one after the other, p chunk passes apart: the first to end has (v - 1) p + 1 passes of B/v before
 * the end, the last one. So beyond the end are max((R - B) / v, R - ((v - 1) p + 1) B / v), and nothing where R <= B.
 * The step has R/v - B of it: exact up to R = B and too little beyond, by less than a backward; one block at the end,
 * R - B, would be v times too much. */
Test(reduction, chunks_as_played) {
    const double B = 2;
    for (int p = 2; p <= 8; p *= 2)
        for (int v = 2; v <= PLAY_CHUNKS; v++)
            for (double R = 0.5; R <= 32; R *= 2) {
                double room = ((v - 1) * p + 1) * B / v;
                double by_hand = fmax(0, fmax((R - B) / v, R - room));
                double played = played_beyond(one_forward_one_backward(p, 4 * p, v), (PassSeconds){1, B, 1}, R);
                cr_expect_float_eq(played, by_hand, R / BUCKETS, "p=%d v=%d R=%g: %g played, %g by hand", p, v, R,
                                   played, by_hand);
                double found = stepped_beyond(p, 4 * p, v, R);
                cr_expect_leq(found, by_hand + 1e-9, "p=%d v=%d R=%g: %g", p, v, R, found);
                if (R <= B) cr_expect_float_eq(found, 0, 1e-9);
                if (R <= room) cr_expect_geq(found, by_hand - B * (1 - 1. / v) - 1e-9, "p=%d v=%d R=%g", p, v, R);
            }
}

/* A circular pipeline is a loop: its gradients are one array, reduced when it is over. */
Test(reduction, loops_reduce_at_their_end) {
    Bench bench = bench_of(book_model(8192, 28672), 1, 1024);
    bench.shard.pipeline = 4, bench.shard.microbatches = 8, bench.shard.data = 2;
    for (int schedule = SCHEDULE_GPIPE; schedule < SCHEDULE_COUNT; schedule++) {
        bool chunks = schedule == SCHEDULE_INTERLEAVED || schedule == SCHEDULE_CIRCULAR;
        bench.knobs.schedule = (Schedule)schedule, bench.knobs.virtual_stages = chunks ? 4 : 1;
        CostContext setting = bench_setting(&bench);
        StepRule rule;
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        double all = rule.data_start[0].bytes + rule.data_end[0].bytes;
        cr_expect_float_eq(rule.data_end[0].bytes / all, schedule == SCHEDULE_INTERLEAVED ? 0.25 : 1, 1e-12, "%s",
                           schedule_name((Schedule)schedule));
    }
}

/* Stages that differ. Logits make the last chunk of the last rank longer by any amount: m of the longest stage and one
 * pass through all others, over v when interleaved (stage_pace() and schedule_bubble()) is what is played, exactly. A
 * last rank with fewer layers: the same is up to a few percent too long, as others fill some of its holes. */
Test(reduction, uneven_stages_as_played) {
    const PassSeconds seconds = {1, 2, 1};
    for (int p = 2; p <= 8; p *= 2)
        for (int v = 1; v <= PLAY_CHUNKS; v++)
            for (int m = p; m <= 4 * p; m += p) {
                for (double logits = 0.05; logits < 1; logits *= 2) {
                    Play *play = one_forward_one_backward(p, m, v);
                    play_pace[p - 1][v - 1] = 1 + logits * v;
                    double longest = 3 * (1 + logits), others = 3 * (p - 1);
                    double by_hand = m * longest + others * bubble_factor(p, m, v);
                    double played = play_out(play, seconds).end;
                    cr_expect_float_eq(by_hand, played, 1e-9 * played, "p=%d v=%d m=%d logits=%g: %g played, not %g", p,
                                       v, m, logits, played, by_hand);
                }
                Play *play = one_forward_one_backward(p, m, v);
                for (int c = 0; c < v; c++) play_pace[p - 1][c] = 0.9; /* 9 layers of 10 */
                double by_hand = m * 3 + (3 * (p - 2) + 2.7) * bubble_factor(p, m, v),
                       played = play_out(play, seconds).end;
                cr_expect(played <= by_hand * (1 + 1e-9) && by_hand <= 1.06 * played, "p=%d v=%d m=%d: %g played, %g",
                          p, v, m, played, by_hand);
            }
}

/* The last stage's logits through stage_pace(): 7 stages of 10 layers, the last of 8 with logits of 2.5 layers. */
Test(reduction, pace_of_logits) {
    Model model = book_model(8192, 28672);
    model.layers = model.kinds[0].count = 68;
    model.vocab = 5 * 28672; /* 2 V D FLOPs: 2.5 layers of 4 D F */
    Bench bench = bench_of(model, 1, 1024);
    bench.shard.pipeline = 7, bench.shard.layers = 10, bench.shard.layers_last = 8;
    CostContext setting = bench_setting(&bench);
    StagePace pace = stage_pace(&setting, &bench.shard);
    cr_expect(pace.logits && !pace.embedding, "the last is the longest: 10.5 layers");
    cr_expect_eq(pace.layers, 8);
    cr_expect_float_eq(pace.others, (68 + 2.5 - 10.5) / 10.5, 1e-12);
    for (int stage = 0; stage < 7; stage++)
        cr_expect_float_eq(stage_share(&setting, &bench.shard, &(Knobs){0}, stage), stage < 6 ? 10 / 10.5 : 1, 1e-12);
}

/* FSDP, L equal layers, one layer ahead: forward cannot begin before its first gather, and the last scatter begins when
 * all is computed. Played layer by layer: gathers (and scatters) in one queue, compute in another, both of which wait
 * for each other. Where communication is the shorter, L f + L b + g + s. */
static double fsdp_played(int L, double f, double b, double g, double s) {
    double link = 0, compute = 0, gathered = g;
    link = g;
    for (int layer = 0; layer < L; layer++) {
        double begins = fmax(compute, gathered);
        if (layer + 1 < L) link = fmax(link, begins) + g, gathered = link; /* the next one, while this one computes */
        compute = begins + f;
    }
    /* the last layer is still there; backward prefetches the one in front of it, then scatters its own */
    double scattered = link;
    gathered = compute;
    for (int layer = L - 1; layer >= 0; layer--) {
        double begins = fmax(compute, gathered);
        if (layer > 0) link = fmax(fmax(link, scattered), begins) + g, gathered = link;
        compute = begins + b;
        scattered = fmax(fmax(link, scattered), compute) + s;
    }
    return fmax(compute, scattered);
}

/* What the ends expose is g + s of L (2 g + s) in all: a share of 2 / (3 L) where all are as long, which is what a
 * profile's fsdp_exposed is at least: 8 layers 0.083, 32 layers 0.021, 126 layers 0.005. Everything is hidden in ideal;
 * every measured stack's share is above that of 32 layers. */
Test(reduction, ends_of_fsdp) {
    for (int L = 4; L <= 126; L = L < 32 ? 2 * L : L + 94) {
        const double P = 2 * 8192. * 28672, T = 1024;
        Bench bench = bench_of(book_model(8192, 28672), 2 * T * P, T); /* a layer: f = 1, b = 2 */
        bench.model.layers = bench.model.kinds[0].count = L;
        bench.shard.layers = bench.shard.layers_last = L, bench.shard.fsdp = 8;
        const double g = 0.6;
        bench_rate(&bench, GROUP_WEIGHTS, (CollectiveCost){.seconds_per_byte = {0, g / (2 * P)}}, 0);
        double played = fsdp_played(L, 1, 2, g, g), by_hand = 3 * L + 2 * g;
        cr_expect_float_eq(played, by_hand, 1e-9, "%d layers: %g played, not %g", L, played, by_hand);
        Profile profile = IDEAL;
        for (int ends = 0; ends < 2; ends++) {
            profile.fsdp_exposed = ends ? 2. / (3 * L) : 0;
            CostContext setting = bench_setting(&bench);
            setting.profile = &profile;
            Resources resources;
            StepRule rule;
            stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &resources);
            step_rule(&setting, &bench.shard, &bench.knobs, &rule);
            double found = step_seconds(&rule, &resources, &bench.rates) - rule.optimizer_seconds;
            double expected = ends ? by_hand : 3 * L;
            cr_expect_float_eq(found, expected, 1e-4 * expected, "%d layers: %g, not %g", L, found, expected);
        }
    }
    Arena arena = {0};
    Error error = {0};
    ProfileSet set;
    const ProfileFigure *share = profile_figure("fsdp_exposed");
    cr_assert(profile_set_default(&arena, &set, &error), "%s", error.text);
    for (int i = 0; i < set.stack_count; i++) {
        const SetFigure *figure = set_entry_figure(set.stacks, &set.stacks[i], share);
        cr_expect(figure && figure->value > 2. / (3 * 32), "%s", set.stacks[i].name);
    }
    arena_free(&arena);
}
