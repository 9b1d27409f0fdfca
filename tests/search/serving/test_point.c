/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a prompt waits for, and what its worker takes for it. */
#include "search/serving/point.h"

#include "base/util.h"
#include "tests/search/serving/problems.h"

#include <criterion/criterion.h>
#include <math.h>

/* 8 experts, 2 chosen; so many prompt tokens that FLOPs alone count, no floors. */
static ServingQuestion question_of(void) {
    ServingQuestion question = {.model = {.layers = 3, .d_model = 100, .vocab = 1000, .kind_count = 1}};
    ServingProfile *profile = &question.profiles[NO_ENGINE];
    question.model.kinds[0] = (LayerKind){.count = 3,
                                          .heads = 4,
                                          .kv_heads = 2,
                                          .head_dim = 25,
                                          .gated = true,
                                          .experts = 8,
                                          .top_k = 2,
                                          .d_ff_expert = 50};
    question.chip = question.device = (Chip){.bf16_flops_per_second = {.value = 1e12},
                                             .hbm_bytes_per_second = {.value = 1e12},
                                             .hbm_bytes = {.value = 1e12},
                                             .devices_per_chip = 1};
    *profile = (ServingProfile){.prefill_attention_flops_share = 1,
                                .expert_hbm_share = {1, 1, 1},
                                .expert_flops_share = {1, 1, 1},
                                .attention_hbm_share = {1, 1},
                                .page_tokens = 1,
                                .pipeline_share = 1,
                                .memory_fraction = 1};
    for (int a = 0; a < ARITHMETIC_COUNT; a++) profile->matmul_hbm_share[a] = profile->matmul_flops_share[a] = 1;
    question_lengths(&question, 4096, 64);
    question.budgets[0] = 1024;
    question.budget_count = 1;
    return question;
}

static PromptTime time_of(const ServingQuestion *question, int64_t ranks) {
    ServingLayout layout = {.engine = NO_ENGINE};
    ServingPool pool = {.on = layout};
    WorkerLinks links = {0};
    PricedLayout priced;
    layout.layout = (WorkerLayout){1, ranks, 1, ranks, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
    price_layout(question, &layout, &links, &priced);
    PromptTime time = prompt_time(question, &priced, &pool);
    cr_expect_eq(pool.batch, ranks);
    cr_expect_eq(pool.step_tokens, 1024 * ranks);
    return time;
}

/* A prompt has one rank of attention data: four of them do not bring its first token any sooner, and serve four. */
Test(point, ranks_of_attention_data_serve_more_and_no_sooner) {
    ServingQuestion question = question_of();
    PromptTime one = time_of(&question, 1), four = time_of(&question, 4);
    cr_expect_float_eq(one.wait_seconds, one.seconds, 1e-15);
    cr_expect_float_eq(four.wait_seconds, one.wait_seconds, 1e-9 * one.wait_seconds);
    cr_expect_float_eq(four.seconds, one.seconds / 4, 1e-9 * one.seconds);
    /* By hand: a layer's heads 100 x (100 + 2 x 50) + 100 x 100, router 100 x 8 and two experts of 3 x 100 x 50, two
     * FLOPs each, and attention to the mean of 2,048 keys of 4 heads of 25. */
    double flops = 2 * (100 * 200 + 100 * 100 + 100 * 8 + 2 * 3 * 100 * 50) + 4.0 * 2048 * 4 * 25;
    cr_expect_float_eq(one.wait_seconds, 3 * 4096 * flops / 1e12, 1e-3 * one.wait_seconds, "%g",
                       one.wait_seconds / (3 * 4096 * flops / 1e12));
}

/* 1000 tokens of prompt, a quarter of which is cached, and 200 of output: at the mean half of the output stands behind
 * the prompt, and each of the 750 new tokens sees on average what is cached and half of the new ones. */
Test(point, lengths_of_a_request) {
    ServingQuestion question = {.request = {.cached = 0.25}};
    question_lengths(&question, 1000, 200);
    cr_expect(question.request.prompt == 1000 && question.request.output == 200);
    cr_expect(question.longest == 1200 && question.peak_tokens == 1200);
    cr_expect_eq(question.mean_context, 1100);
    cr_expect_eq(question.prompt_context, 250 + 750 / 2.);
    cr_expect_eq(question_new_tokens(&question), 750);
}

/* 20 prefixes of 2,048 tokens, each 2,048 x 3 layers x 2 heads x 2 x 25 numbers of 2 bytes, on one device: what is left
 * of HBM has room for 5, the host for 10. A quarter of 50% is a hit, and another half of it is copied at 1e9 bytes/s,
 * for each of the 8 / 64 requests that a step finishes; where copies are slower than FLOPs nothing is. */
Test(point, prefixes_need_room) {
    static const struct {
        double host, rate, cached, copied;
    } ROWS[] = {{0, 1e9, 0.125, 0}, {10, 1e9, 0.375, 0.25}, {100, 1e9, 0.5, 0.375}, {100, 1e3, 0.125, 0}};
    const double each = 2048.0 * 3 * 2 * 2 * 25 * 2;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        ServingQuestion question = question_of();
        SubMesh submesh = {.devices = 1, .copies = 1};
        ServingLayout layout = {.engine = NO_ENGINE, .submesh = &submesh};
        WorkerLinks links = {0};
        PricedLayout priced;
        ServingPoint point, bare;
        layout.layout = (WorkerLayout){1, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
        question.machine.mesh.chips = 1;
        question.request.cached = 0.5;
        question_lengths(&question, 4096, 64);
        question.chip.host_bytes.value = 1e15;
        question.chip.pcie_bytes_per_second.value = ROWS[i].rate;
        question.chip.chips_per_host = 1;
        question.prefixes = (Prefixes){20, ROWS[i].host * each};
        price_layout(&question, &layout, &links, &priced);
        WorkerMemory memory;
        memory_of_load(&priced.memory, 8, 1024, &memory);
        priced.memory.limit_bytes = worker_memory_total(&memory) + 5 * each;
        point_of_batch(&question, &priced, 8, SERVE_AGGREGATED, &point);
        cr_expect_float_eq(point.pools[0].hit.cached, ROWS[i].cached, 1e-9, "%zu: %g", i, point.pools[0].hit.cached);
        cr_expect_float_eq(point.pools[0].hit.copied, ROWS[i].copied, 1e-9, "%zu: %g", i, point.pools[0].hit.copied);
        question.request.cached = ROWS[i].cached;
        question_lengths(&question, 4096, 64);
        question.prefixes.count = 0;
        price_layout(&question, &layout, &links, &priced);
        point_of_batch(&question, &priced, 8, SERVE_AGGREGATED, &bare);
        double copied = 8 / 64. * ROWS[i].copied / 0.5 * each / ROWS[i].rate;
        cr_expect_float_eq(point.tpot_seconds, bare.tpot_seconds + copied, 1e-9 * bare.tpot_seconds, "%zu", i);
    }
}

/* ---- fronts on a small grid, where many are equal in one rate or in both, against every pair of points ---- */

enum { POINTS = 60, TRIED = 200 };

/* At least as much of both, and more of one. */
static bool beats(const ServingPoint *a, const ServingPoint *b) {
    return a->per_user >= b->per_user && a->per_chip >= b->per_chip &&
           (a->per_user > b->per_user || a->per_chip > b->per_chip);
}

/* Whether `a` comes before `b` of the same rates: by the first token, chips, mode, and then by what they are. */
static bool before(const ServingPoint *a, const ServingPoint *b) {
    const int64_t of[][2] = {{(int64_t)a->ttft_seconds, (int64_t)b->ttft_seconds},
                             {a->chips_used, b->chips_used},
                             {a->mode, b->mode},
                             {a->pools[0].on.engine, b->pools[0].on.engine},
                             {a->pools[0].on.key, b->pools[0].on.key},
                             {a->pools[0].batch, b->pools[0].batch}};
    for (size_t i = 0; i < COUNT_OF(of); i++)
        if (of[i][0] != of[i][1]) return of[i][0] < of[i][1];
    return false;
}

static ServingPoint random_point(Dice *dice) {
    ServingPoint point = {.per_user = (double)(1 + roll(dice, 8)),
                          .per_chip = (double)(1 + roll(dice, 8)),
                          .ttft_seconds = (double)roll(dice, 2),
                          .chips_used = (int64_t)roll(dice, 2),
                          .mode = (ServingMode)roll(dice, 2),
                          .pool_count = 1};
    point.pools[0].on.engine = (int)roll(dice, 2);
    point.pools[0].on.key = (int64_t)roll(dice, 2);
    point.pools[0].batch = (int64_t)roll(dice, 2);
    return point;
}

Test(front, is_what_no_pair_beats) {
    for (uint64_t seed = 1; seed <= TRIED; seed++) {
        Dice dice = {seed * 2654435761u};
        ServingPoint points[POINTS];
        ServingFront front = {0};
        Error error = {0};
        int left = 0;
        for (int i = 0; i < POINTS; i++) {
            points[i] = random_point(&dice);
            cr_assert(front_add(&front, &points[i], &error));
            if (i == POINTS / 2) front_settle(&front); /* more are added afterwards */
        }
        front_settle(&front);
        for (int i = 0; i < POINTS; i++) {
            bool kept = true;
            for (int j = 0; j < POINTS; j++) {
                bool same = points[i].per_user == points[j].per_user && points[i].per_chip == points[j].per_chip;
                if (beats(&points[j], &points[i]) || (same && before(&points[j], &points[i]))) kept = false;
                if (same && j < i && !before(&points[i], &points[j])) kept = false; /* alike in all: counted once */
            }
            if (!kept) continue;
            left++;
            bool found = false;
            for (int k = 0; k < front.count; k++)
                found = found || (front.points[k].per_user == points[i].per_user &&
                                  front.points[k].per_chip == points[i].per_chip &&
                                  !before(&front.points[k], &points[i]) && !before(&points[i], &front.points[k]));
            cr_expect(found, "problem %d: point %d", (int)seed, i);
        }
        cr_expect_eq(front.count, left, "problem %d: %d, not %d", (int)seed, front.count, left);
        for (int k = 0; k + 1 < front.count; k++)
            cr_expect(front.points[k].per_user > front.points[k + 1].per_user &&
                      front.points[k].per_chip < front.points[k + 1].per_chip);
        front_free(&front);
    }
}

/* Equal rates are not beaten, less of one of them is. */
Test(front, what_is_beaten) {
    ServingFront front = {0};
    Error error = {0};
    static const double RATES[][2] = {{10, 1}, {5, 5}, {1, 10}};
    for (size_t i = 0; i < COUNT_OF(RATES); i++) {
        ServingPoint point = {.per_user = RATES[i][0], .per_chip = RATES[i][1], .pool_count = 1};
        cr_assert(front_add(&front, &point, &error));
        cr_expect_not(front_beats(&front, RATES[i][0], RATES[i][1]), "%zu", i);
        cr_expect(front_beats(&front, RATES[i][0] * 0.9, RATES[i][1]), "%zu", i);
        cr_expect(front_beats(&front, RATES[i][0], RATES[i][1] * 0.9), "%zu", i);
        cr_expect_not(front_beats(&front, RATES[i][0] * 1.1, RATES[i][1]), "%zu", i);
    }
    cr_expect_not(front_beats(&front, 7, 4));
    cr_expect_not(front_beats(&front, 11, 0.1));
    cr_expect_not(front_beats(&front, 0.1, 11));
    front_free(&front);
}
