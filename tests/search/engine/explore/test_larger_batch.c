/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Microbatches that a larger batch beats: the plan with more of them is faster per sequence and takes no more
 * memory, by the price of both. */
#include "search/answer/tie.h"
#include "search/engine/explore/larger_batch.h"
#include "search/engine/space/plan_count.h"
#include "tests/search/asked.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

typedef struct {
    bool found;
    double seconds, bytes; /* seconds of a sequence */
} Price;

/* One plan with this many microbatches of so many sequences on each of `replicas`. */
static Price price(const char *machine, const char *degrees, int64_t replicas, int64_t size, int64_t microbatches) {
    char words[512];
    RequestedSearch asked;
    snprintf(words, sizeof words,
             "plan %s --sequences %lld --top 1 --max-idle 0 --remat full --require %s\tmicrobatches=%lld", machine,
             (long long)(replicas * size * microbatches), degrees, (long long)microbatches);
    asked_open(&asked, words);
    Price out = {.found = asked.result.plan_count > 0};
    if (out.found) {
        const RankedPlan *best = &asked.result.plans[0];
        cr_assert_eq(best->plan.knobs.microbatch_sequences, size, "%s", words);
        out.seconds = best->estimate.time.seconds / (double)best->work.sequences;
        out.bytes = memory_total(&best->estimate.memory);
    }
    asked_close(&asked);
    return out;
}

static const struct {
    const char *machine, *degrees;
    int stages, replicas, size;
} PLANS[] = {
    {"--model 8b --chip h100 --nodes 2 --for megatron", "data=16\tzero_stage=1", 1, 16, 1},
    {"--model 8b --chip h100 --nodes 2 --for megatron", "data=4\ttensor=4\tzero_stage=1", 1, 4, 2},
};

Test(larger_batch, what_is_beaten_is_slower_per_sequence_and_no_smaller) {
    int beaten = 0;
    for (size_t i = 0; i < COUNT_OF(PLANS); i++) {
        int64_t stages = PLANS[i].stages, size = PLANS[i].size;
        LargerBatch larger = {.any = true, .stages = stages, .least = larger_batch_fills(stages)};
        for (int64_t m = 1; m <= 24; m++) {
            int64_t more = m % stages == 0 ? stages : 1;
            larger.most = size * (m + more);
            if (!larger_batch_beats(&larger, size * m, size)) continue;
            larger.most--;
            cr_expect_not(larger_batch_beats(&larger, size * m, size), "no batch has %lld more", (long long)more);
            Price here = price(PLANS[i].machine, PLANS[i].degrees, PLANS[i].replicas, size, m),
                  there = price(PLANS[i].machine, PLANS[i].degrees, PLANS[i].replicas, size, m + more);
            if (!here.found) continue;
            beaten++;
            cr_assert(there.found, "%s m=%lld", PLANS[i].degrees, (long long)m);
            cr_expect_lt(there.seconds, here.seconds, "%s m=%lld", PLANS[i].degrees, (long long)m);
            cr_expect_leq(there.bytes, here.bytes * (1 + 1e-12), "%s m=%lld", PLANS[i].degrees, (long long)m);
        }
    }
    cr_expect_geq(beaten, 40);
}

/* Where it is not so, nothing is beaten: the first few microbatches fill a pipeline, and all that is kept is kept. */
Test(larger_batch, says_when_it_is_not_so) {
    LargerBatch larger = {.any = true, .stages = 4, .least = 10, .most = 100};
    cr_expect(larger_batch_beats(&larger, 90, 1) && larger_batch_beats(&larger, 96, 1));
    cr_expect_not(larger_batch_beats(&larger, 97, 1) != (100 - 97 >= 1), "97 is no multiple of 4");
    cr_expect_not(larger_batch_beats(&larger, 100, 1));
    cr_expect_not(larger_batch_beats(&larger, 9, 1));
    cr_expect_eq(larger_batch_least_size(&larger, 60, 80), 6, "5 x 4 more fit between 80 and 100, 60 / 5 are 12");
    larger.whole_steps = true;
    cr_expect(larger_batch_beats(&larger, 96, 1) && !larger_batch_beats(&larger, 97, 1));
    cr_expect_eq(larger_batch_least_size(&larger, 60, 80), 1);
    larger.any = false;
    cr_expect_not(larger_batch_beats(&larger, 90, 1));
    cr_expect_eq(larger_batch_least_size(&larger, 60, 80), 1);
}

/* The same answer as without: every batch asked alone. */
Test(larger_batch, the_best_batch_is_that_of_every_batch_asked_alone) {
    static const char *const ASKED[] = {
        "--model 8b --chip h100 --nodes 1 --seq 8192 --for megatron --require pipeline>=2",
        "--model 8b --chip h100 --nodes 1 --seq 8192 --for torchtitan",
        "--model 8b --chip a100-40g --nodes 1 --seq 4096 --for megatron,deepspeed"};
    for (size_t i = 0; i < COUNT_OF(ASKED); i++) {
        char words[512];
        RequestedSearch asked;
        snprintf(words, sizeof words, "plan %s --sequences 60 --batch-tolerance 10%% --max-idle 0 --top 1", ASKED[i]);
        asked_open(&asked, words);
        cr_assert_eq(asked.result.plan_count, 1);
        double best = search_fastest(&asked.result)->ranked_seconds / 60, least = INFINITY;
        asked_close(&asked);
        for (int64_t sequences = 54; sequences <= 66; sequences++) {
            snprintf(words, sizeof words, "plan %s --sequences %lld --max-idle 0 --top 1", ASKED[i],
                     (long long)sequences);
            asked_open(&asked, words);
            if (asked.result.plan_count > 0)
                least = min_real(least, search_fastest(&asked.result)->ranked_seconds / (double)sequences);
            asked_close(&asked);
        }
        cr_expect_float_eq(best, least, 1e-12 * least, "%s", ASKED[i]);
    }
}
