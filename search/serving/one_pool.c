/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/explore.h"

#include "base/util.h"

#include <math.h>

const char *cut_reason_name(CutReason reason) {
    static const char *const NAMES[CUT_COUNT] = {"memory", "bound", "limit", "time_limit"};
    return NAMES[reason];
}

bool exploring_stops(Exploring *to) {
    const ServingQuestion *question = to->question;
    bool late = question->time_limit_seconds > 0 && question->world.seconds &&
                world_clock(&question->world) - question->began_seconds > question->time_limit_seconds;
    if (!late && !world_stops(&question->world)) return false;
    to->count->complete = false;
    return true;
}

void explored_add(const Exploring *to, const ServingLayout *layout, LedgerLine line) {
    ServingPhase phase = to->mode == SERVE_AGGREGATED ? PHASE_BOTH : PHASE_DECODES;
    serving_ledger_add(to->count->space.ledger, (int)phase, layout, line);
}

/* With a number of requests in flight there is one batch: its share for each copy, as far as memory goes. Of two pools
 * the number of copies is not known yet: any batch up to all of them. */
void batches_of_layout(Exploring *to, const PricedLayout *layout, int64_t *low, int64_t *high) {
    const ServingQuestion *question = to->question;
    int64_t room = layout_room(&layout->memory, to->mode == SERVE_AGGREGATED ? question->budgets[0] : 1);
    *low = 1;
    *high = SERVING_BATCH_MAX;
    if (question->concurrency > 0 && to->mode == SERVE_DISAGGREGATED)
        *high = question->concurrency;
    else if (question->concurrency > 0) {
        int64_t copies = min_whole(layout->on->box->copies, question->concurrency);
        *low = *high = min_whole(divide_up(question->concurrency, copies), max_whole(1, room));
    }
    for (int i = 0; i < question->requirement_count; i++) {
        const LayoutRequirement *one = &question->requirements[i];
        if (one->word != LAYOUT_BATCH) continue;
        if (one->sign >= 0) *low = max_whole(*low, one->value);
        if (one->sign <= 0) *high = min_whole(*high, one->value);
    }
    Count all = *high >= *low ? (Count)(*high - *low + 1) : 0;
    to->count->covered += all;
    *high = min_whole(*high, room);
    Count left = *high >= *low ? (Count)(*high - *low + 1) : 0;
    to->count->cut[CUT_MEMORY] += all - left;
    int64_t first = *low, end = first + (int64_t)all - 1;
    explored_add(to, layout->on, (LedgerLine){.what = "layout", .low = first, .high = end});
    if (all > left)
        explored_add(to, layout->on, (LedgerLine){.what = "memory", .low = first + (int64_t)left, .high = end});
}

/* One layout with everything that no batch changes. */
typedef struct {
    Exploring *to;
    PricedLayout layout;
    double chip_share; /* tokens per second of a worker to those of a chip */
} OneLayout;

static double slack(const Exploring *to) { return (1 + SERVING_SLACK) * (1 + to->question->bound_error); }

static bool try_batch(OneLayout *one, int64_t batch, ServingPoint *point) {
    Exploring *to = one->to;
    point_of_batch(to->question, &one->layout, batch, to->mode, point);
    to->count->evaluated++;
    if (!to->question->brute_force && front_beats(to->front, point->per_user, point->per_chip)) return true;
    if (!point_first_token(to->question, &one->layout, point) || !point_keeps_limits(to->question, point)) return true;
    return front_add(to->front, point, to->error);
}

/* Whether no batch from `low` (whose step is known) to `high` can be on the front, or keep the limit. */
static bool range_is_cut(OneLayout *one, const ServingPoint *at_low, int64_t high) {
    Exploring *to = one->to;
    const ServingQuestion *question = to->question;
    double best_user = at_low->per_user * slack(to);
    double best_chip = (double)high * at_low->per_user * one->chip_share * slack(to);
    Count batches = (Count)(high - at_low->pools[0].batch);
    bool late =
        question->tpot_limit_seconds > 0 && at_low->tpot_seconds > question->tpot_limit_seconds * (1 + SERVING_SLACK);
    if (!late && !front_beats(to->front, best_user, best_chip)) return false;
    to->count->cut[late ? CUT_LIMIT : CUT_BOUND] += batches;
    explored_add(to, one->layout.on,
                 (LedgerLine){cut_reason_name(late ? CUT_LIMIT : CUT_BOUND), at_low->pools[0].batch + 1, high,
                              best_user, best_chip});
    return true;
}

/* Batches from low to high. The upper half comes first: it has the points that cut most. */
static bool explore_range(OneLayout *one, int64_t low, int64_t high) {
    ServingPoint point;
    if (low > high) return true;
    if (exploring_stops(one->to)) {
        one->to->count->cut[CUT_TIME] += (Count)(high - low + 1);
        explored_add(one->to, one->layout.on, (LedgerLine){cut_reason_name(CUT_TIME), low, high, 0, 0});
        return true;
    }
    if (!try_batch(one, low, &point)) return false;
    if (low == high) return true;
    if (range_is_cut(one, &point, high)) return true;
    int64_t middle = low + (high - low) / 2;
    return explore_range(one, middle + 1, high) && explore_range(one, low + 1, middle);
}

static bool explore_layout(void *context, const ServingLayout *layout, const WorkerLinks *links) {
    Exploring *to = context;
    const ServingQuestion *question = to->question;
    OneLayout one = {.to = to};
    int64_t low, high;
    price_layout(question, layout, links, &one.layout);
    batches_of_layout(to, &one.layout, &low, &high);
    if (high < low) return true;
    one.chip_share = question->rate > 0
                         ? 1 / ((double)layout->box->devices / max_real(1, (double)question->chip.devices_per_chip))
                         : (double)layout->box->copies / (double)question->machine.mesh.chips;
    if (!question->brute_force) return explore_range(&one, low, high);
    for (int64_t batch = low; batch <= high; batch++) {
        ServingPoint point;
        if (!try_batch(&one, batch, &point)) return false;
    }
    return true;
}

bool explore_one_pool(Exploring *to) {
    ServingPhase phase = to->mode == SERVE_DECODE ? PHASE_DECODES : PHASE_BOTH;
    Space space = {to->question, to->boxes, phase, to->engine, &to->count->space};
    return space_each(&space, explore_layout, to);
}

bool prompts_counted(Exploring *to, const ServingLayout *layout, double seconds) {
    ServingLedger *ledger = to->count->space.ledger;
    bool fits = seconds < INFINITY;
    to->count->covered++;
    serving_ledger_add(ledger, PHASE_PROMPTS, layout, (LedgerLine){.what = "layout", .low = 1, .high = 1});
    if (!fits) serving_ledger_add(ledger, PHASE_PROMPTS, layout, (LedgerLine){.what = "memory", .low = 1, .high = 1});
    *(fits ? &to->count->evaluated : &to->count->cut[CUT_MEMORY]) += 1;
    return fits;
}

/* A prompt on a worker of its own: the wait of an empty server, and prompt tokens a second. */
static bool explore_prompt_layout(void *context, const ServingLayout *layout, const WorkerLinks *links) {
    Exploring *to = context;
    const ServingQuestion *question = to->question;
    ServingPoint point = {.mode = SERVE_PREFILL, .pool_count = 1};
    ServingPool *pool = &point.pools[0];
    PricedLayout priced;
    pool->phase = PHASE_PROMPTS;
    pool->on = *layout;
    pool->workers = layout->box->copies;
    price_layout(question, layout, links, &priced);
    PromptTime time = prompt_time(question, &priced, pool);
    if (!prompts_counted(to, layout, time.seconds)) return true;
    point.chips_used = question_chips(question, pool->workers * layout->box->devices);
    point.ttft_seconds = time.wait_seconds;
    point.per_user = 1 / time.wait_seconds;
    point.requests_per_second = (double)pool->workers / time.seconds;
    point.per_chip = point.requests_per_second * question_new_tokens(question) / (double)question->machine.mesh.chips;
    if (!point_keeps_limits(question, &point)) return true;
    return front_add(to->front, &point, to->error);
}

bool explore_prompts(Exploring *to) {
    Space space = {to->question, to->boxes, PHASE_PROMPTS, to->engine, &to->count->space};
    return space_each(&space, explore_prompt_layout, to);
}
