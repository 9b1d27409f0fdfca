/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search that is watched says what it lists before it has a bound, and answers the same. */
#include "tests/search/asked.h"

typedef struct {
    int told[SEARCH_BOUNDING + 1];
    int64_t done[SEARCH_BOUNDING + 1];
    SearchStage first;
    bool listed_first; /* nothing was opened before both were told of */
} Watch;

static void note(void *context, const SearchProgress *progress) {
    Watch *watch = context;
    SearchStage stage = progress->stage;
    if (watch->told[SEARCH_COUNTING] + watch->told[SEARCH_BOUNDING] + watch->told[SEARCH_OPENING] == 0)
        watch->first = stage;
    if (stage == SEARCH_OPENING && watch->told[stage] == 0)
        watch->listed_first = watch->told[SEARCH_COUNTING] > 0 && watch->told[SEARCH_BOUNDING] > 0;
    if (stage != SEARCH_OPENING) {
        cr_expect(progress->done >= watch->done[stage] && progress->done < progress->all, "%lld of %lld, after %lld",
                  (long long)progress->done, (long long)progress->all, (long long)watch->done[stage]);
        cr_expect(!progress->found && progress->bound_seconds == 0, "no plan and no bound yet");
        watch->done[stage] = progress->done;
    }
    watch->told[stage]++;
}

Test(tuple_list, says_how_far_it_is_before_there_is_a_bound) {
    static const char COMMAND[] = "plan --model 8b --chip v5e --slice 8x8 --batch 512Ki --max-idle 20% --top 1";
    for (int threads = 1; threads <= 2; threads++) {
        RequestedSearch alone, watched;
        Watch watch = {0};
        asked_read(&alone, COMMAND);
        asked_read(&watched, COMMAND);
        watched.request->subproblem_count = 0; /* one search: each has its own list */
        alone.request->subproblem_count = 0;
        watched.request->control.threads = threads;
        watched.request->control.environment = (Environment){.context = &watch, .progress = note};
        requested_search(&alone, COMMAND);
        requested_search(&watched, COMMAND);
        cr_expect(watch.first == SEARCH_COUNTING && watch.listed_first && watch.told[SEARCH_OPENING] > 0);
        cr_expect(threads > 1 || watch.told[SEARCH_COUNTING] > 2, "several machines, one by one: %d",
                  watch.told[SEARCH_COUNTING]);
        cr_expect(watched.result.certificate.plans_covered == alone.result.certificate.plans_covered);
        cr_expect_eq(watched.result.plans[0].ranked_seconds, alone.result.plans[0].ranked_seconds);
        asked_close(&watched);
        asked_close(&alone);
    }
}
