/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A large space has a plan before all of it is listed, and the answer is the same as without looking for one first
 * (test_search.c compares with brute force, half of its problems with a sample). */
#include "search/answer/tie.h"
#include "tests/search/asked.h"
#include "tests/search/results.h"

/* A clock that moves by a microsecond whenever somebody reads it, which is once for each set of degrees that is listed:
 * so it counts what was listed. The search is interrupted when it has told that it knows a plan. */
typedef struct {
    int64_t reads;
    bool found;
} Watch;
static double reads(void *context) { return 1e-6 * (double)++((Watch *)context)->reads; }
static bool is_found(void *context) { return ((Watch *)context)->found; }
static void note(void *context, const SearchProgress *progress) { ((Watch *)context)->found |= progress->found; }

/* A million chips, and 12,500 nodes of which most counts divide nothing. Listing these spaces reads the clock more than
 * a million times; without a sample there is no plan before. */
Test(primal, has_a_plan_before_the_space_is_listed) {
    static const char *const COMMANDS[] = {
        "plan --model 8b --chip h100 --nodes 131072 --for megatron --top 1 --threads 1",
        "plan --model qwen3-30b-a3b --chip h100 --nodes 12500 --for megatron --top 1 --threads 1",
    };
    for (size_t i = 0; i < COUNT_OF(COMMANDS); i++) {
        RequestedSearch asked;
        Watch watch = {0};
        asked_read(&asked, COMMANDS[i]);
        asked.request->control.environment =
            (Environment){.context = &watch, .seconds = reads, .interrupted = is_found, .progress = note};
        asked.request->control.time_limit_seconds = 1000;
        requested_search(&asked, COMMANDS[i]);
        const SearchResult *result = &asked.result;
        cr_expect(watch.reads < 400000, "%s: a plan after %lld", COMMANDS[i], (long long)watch.reads);
        cr_expect(result->plan_count == 1 && result->certificate.proof == PROOF_GAP, "%s: %d plans", COMMANDS[i],
                  result->plan_count);
        cr_expect(result->plan_count == 0 || (result->plans[0].gap > 0 && result->plans[0].gap < 1), "%s: gap %g",
                  COMMANDS[i], result->plans[0].gap);
        asked_close(&asked);
    }
}

/* A search that goes up in levels alone makes 20,000 bounds before it knows a plan of the first, and 17,000 of the
 * second. What comes first is the same for any number of threads, and so is all that
 * follows from it. */
Test(primal, comes_first_for_any_number_of_threads) {
    static const char *const COMMANDS[] = {
        "plan --model gpt-oss-120b --chip h100 --nodes 16 --for megatron --top 1",
        "plan --model 405b --chip h100 --nodes 64 --for megatron --top 1",
    };
    static const int THREADS[] = {2, 3, 7};
    for (size_t i = 0; i < COUNT_OF(COMMANDS); i++) {
        RequestedSearch one, more;
        asked_read(&one, COMMANDS[i]);
        one.request->control.threads = 1;
        requested_search(&one, COMMANDS[i]);
        const FirstPlan *first = &one.result.first_plan;
        cr_expect(first->bounds > 0 && first->bounds < 10000, "%s: a plan after %lld bounds", COMMANDS[i],
                  (long long)first->bounds);
        cr_expect(first->ranked_seconds >= search_fastest(&one.result)->ranked_seconds, "%s", COMMANDS[i]);
        cr_expect(one.result.certificate.proof == PROOF_OPTIMAL, "%s", COMMANDS[i]);
        for (size_t j = 0; j < COUNT_OF(THREADS); j++) {
            asked_read(&more, COMMANDS[i]);
            more.request->control.threads = THREADS[j];
            requested_search(&more, COMMANDS[i]);
            cr_expect(more.result.first_plan.bounds == first->bounds &&
                          more.result.first_plan.ranked_seconds == first->ranked_seconds,
                      "%s: %d threads", COMMANDS[i], THREADS[j]);
            cr_expect(equal_certificates(&one.result.certificate, &more.result.certificate), "%s: %d threads",
                      COMMANDS[i], THREADS[j]);
            asked_close(&more);
        }
        asked_close(&one);
    }
}
