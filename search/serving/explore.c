/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/explore.h"

#include "base/util.h"

#include <math.h>

const char *cut_reason_name(CutReason reason) {
    static const char *const NAMES[CUT_COUNT] = {"memory", "bound", "limit", "time_limit"};
    return NAMES[reason];
}

/* Whether a limit of time or an interrupt ends the search. */
static bool stops(ServingSearch *search) {
    const ServingQuestion *question = search->question;
    bool late = question->time_limit_seconds > 0 && question->environment.seconds &&
                environment_clock(&question->environment) - question->began_seconds > question->time_limit_seconds;
    if (!late && !environment_stops(&question->environment)) return false;
    search->count->complete = false;
    return true;
}

void search_log_add(const ServingSearch *search, const ServingLayout *layout, LogLine line) {
    ServingPhase phase = search->mode == SERVE_AGGREGATED ? PHASE_BOTH : PHASE_DECODES;
    serving_log_add(search->count->space.log, phase, layout, line);
}

double search_slack(const ServingSearch *search) { return (1 + SERVING_SLACK) * (1 + search->question->bound_error); }

/* ---- the batches of a layout ---- */

/* The batches that are looked at: from *low to *high, none where *high < *low. Counts the others. */
/* With a number of requests in flight there is one batch: its share for each copy, as far as memory goes. Of two pools
 * the number of copies is not known yet: any batch up to all of them. */
static void batches_of_layout(ServingSearch *search, const PricedLayout *layout, int64_t *low, int64_t *high) {
    const ServingQuestion *question = search->question;
    int64_t room = layout_room(&layout->memory, search->mode == SERVE_AGGREGATED ? question->budgets[0] : 1);
    *low = 1;
    *high = SERVING_BATCH_MAX;
    if (question->concurrency > 0 && search->mode == SERVE_DISAGGREGATED)
        *high = question->concurrency;
    else if (question->concurrency > 0) {
        int64_t copies = min_whole(layout->on->submesh->copies, question->concurrency);
        *low = *high = min_whole(divide_up(question->concurrency, copies), max_whole(1, room));
    }
    for (int i = 0; i < question->requirement_count; i++) {
        const LayoutRequirement *one = &question->requirements[i];
        if (one->word != LAYOUT_BATCH) continue;
        if (one->sign >= 0) *low = max_whole(*low, one->value);
        if (one->sign <= 0) *high = min_whole(*high, one->value);
    }
    Count all = *high >= *low ? (Count)(*high - *low + 1) : 0;
    search->count->covered += all;
    *high = min_whole(*high, room);
    Count remaining = *high >= *low ? (Count)(*high - *low + 1) : 0;
    search->count->cut[CUT_MEMORY] += all - remaining;
    int64_t first = *low, end = first + (int64_t)all - 1;
    search_log_add(search, layout->on, (LogLine){.what = "layout", .low = first, .high = end});
    if (all > remaining)
        search_log_add(search, layout->on, (LogLine){.what = "memory", .low = first + (int64_t)remaining, .high = end});
}

/* Whether no batch from that of `at_low` (whose step is known) to `high` can be on the front, or keep the limit. */
static bool range_is_cut(LayoutSearch *on, const ServingPoint *at_low, int64_t high) {
    ServingSearch *search = on->search;
    double limit = search->question->tpot_limit_seconds;
    LogLine line = {.what = cut_reason_name(CUT_BOUND), .low = at_low->pools[0].batch + 1, .high = high};
    bool late = limit > 0 && at_low->tpot_seconds > limit * (1 + SERVING_SLACK);
    if (!on->is_cut(on, at_low, high, late, &line)) return false;
    search->count->cut[late ? CUT_LIMIT : CUT_BOUND] += (Count)(high - at_low->pools[0].batch);
    if (late) line.what = cut_reason_name(CUT_LIMIT);
    search_log_add(search, on->layout.on, line);
    return true;
}

/* Batches from low to high. The upper half comes first: it has the points that cut most. */
static bool explore_range(LayoutSearch *on, int64_t low, int64_t high) {
    ServingSearch *search = on->search;
    ServingPoint point;
    if (low > high) return true;
    if (stops(search)) {
        search->count->cut[CUT_TIME] += (Count)(high - low + 1);
        search_log_add(search, on->layout.on, (LogLine){cut_reason_name(CUT_TIME), low, high, 0, 0});
        return true;
    }
    search->count->evaluated++;
    if (!on->try_batch(on, low, &point)) return false;
    if (low == high || (!search->question->brute_force && range_is_cut(on, &point, high))) return true;
    int64_t middle = low + (high - low) / 2;
    return explore_range(on, middle + 1, high) && explore_range(on, low + 1, middle);
}

bool explore_batches(LayoutSearch *on) {
    int64_t low, high;
    batches_of_layout(on->search, &on->layout, &low, &high);
    return explore_range(on, low, high);
}

/* ---- one pool ---- */

static bool try_batch(LayoutSearch *on, int64_t batch, ServingPoint *point) {
    ServingSearch *search = on->search;
    const ServingQuestion *question = search->question;
    point_of_batch(question, &on->layout, batch, search->mode, point);
    if (!question->brute_force && front_beats(search->front, point->per_user, point->per_chip)) return true;
    if (!point_first_token(question, &on->layout, point) || !point_keeps_limits(question, point)) return true;
    return front_add(search->front, point, search->error);
}

static bool is_cut(const LayoutSearch *on, const ServingPoint *at_low, int64_t high, bool late, LogLine *line) {
    line->user = at_low->per_user * search_slack(on->search);
    line->chip = (double)high * at_low->per_user * on->chip_share * search_slack(on->search);
    return late || front_beats(on->search->front, line->user, line->chip);
}

static bool explore_layout(void *context, const ServingLayout *layout, const WorkerLinks *links) {
    ServingSearch *search = context;
    const ServingQuestion *question = search->question;
    LayoutSearch on = {.search = search, .try_batch = try_batch, .is_cut = is_cut};
    price_layout(question, layout, links, &on.layout);
    on.chip_share = question->rate > 0
                        ? 1 / ((double)layout->submesh->devices / max_real(1, (double)question->chip.devices_per_chip))
                        : (double)layout->submesh->copies / (double)question->machine.mesh.chips;
    return explore_batches(&on);
}

bool explore_one_pool(ServingSearch *search) {
    ServingPhase phase = search->mode == SERVE_DECODE ? PHASE_DECODES : PHASE_BOTH;
    Space space = {search->question, search->submeshes, phase, search->engine, &search->count->space};
    bool ok = space_each(&space, explore_layout, search);
    front_settle(search->front);
    return ok;
}

/* ---- prompts ---- */

bool prompts_counted(ServingSearch *search, const ServingLayout *layout, double seconds) {
    ServingLog *log = search->count->space.log;
    bool fits = seconds < INFINITY;
    search->count->covered++;
    serving_log_add(log, PHASE_PROMPTS, layout, (LogLine){.what = "layout", .low = 1, .high = 1});
    if (!fits) serving_log_add(log, PHASE_PROMPTS, layout, (LogLine){.what = "memory", .low = 1, .high = 1});
    *(fits ? &search->count->evaluated : &search->count->cut[CUT_MEMORY]) += 1;
    return fits;
}

/* A prompt on a worker of its own: the wait of an empty server, and prompt tokens a second. */
static bool explore_prompt_layout(void *context, const ServingLayout *layout, const WorkerLinks *links) {
    ServingSearch *search = context;
    const ServingQuestion *question = search->question;
    ServingPoint point = {.mode = SERVE_PREFILL, .pool_count = 1};
    ServingPool *pool = &point.pools[0];
    PricedLayout priced;
    pool->phase = PHASE_PROMPTS;
    pool->on = *layout;
    pool->workers = layout->submesh->copies;
    price_layout(question, layout, links, &priced);
    PromptTime time = prompt_time(question, &priced, pool);
    if (!prompts_counted(search, layout, time.seconds)) return true;
    point.chips_used = question_chips(question, pool->workers * layout->submesh->devices);
    point.ttft_seconds = point.prompt_seconds = time.wait_seconds;
    point.per_user = 1 / time.wait_seconds;
    point.requests_per_second = (double)pool->workers / time.seconds;
    point.per_chip = point.requests_per_second * question_new_tokens(question) / (double)question->machine.mesh.chips;
    if (!point_keeps_limits(question, &point)) return true;
    return front_add(search->front, &point, search->error);
}

bool explore_prompts(ServingSearch *search) {
    Space space = {search->question, search->submeshes, PHASE_PROMPTS, search->engine, &search->count->space};
    bool ok = space_each(&space, explore_prompt_layout, search);
    front_settle(search->front);
    return ok;
}
