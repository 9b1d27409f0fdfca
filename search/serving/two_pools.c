/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two pools. Each has its own list of workers of which none is beaten in the same box of chips: for prompts by
 * requests per second and by the wait of one (ranks of attention data serve more and each later), for decoding by
 * tokens per second of a user and of the worker. The lists are then combined over whole numbers of workers that the
 * machine holds. */
#include "search/serving/explore.h"

#include "base/util.h"
#include "cost/serving/cache.h"
#include "search/serving/packing.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    Exploring *to;
    ServingFront
        *prompts; /* by box, then by type of the cache; of one worker: per_user is 1 / a prompt's wait, per_chip
                            * prompts per second */
    /* Chip-seconds that a request takes at least of workers for prompts, by type of the cache; infinite: none fits. */
    double least_prompt[STORED_COUNT];
    ServingFront decodes[STORED_COUNT]; /* of one box; per_chip: tokens per second of one worker */
} Gathering;

static bool gather_prompts(void *context, const ServingLayout *layout, const WorkerLinks *links) {
    Gathering *gathering = context;
    Exploring *to = gathering->to;
    ptrdiff_t box = layout->box - to->boxes->boxes;
    ServingPoint point = {.mode = SERVE_PREFILL, .pool_count = 1};
    PricedLayout priced;
    point.pools[0] = (ServingPool){.phase = PHASE_PROMPTS, .on = *layout};
    price_layout(to->question, layout, links, &priced);
    PromptTime time = prompt_time(to->question, &priced, &point.pools[0]);
    if (!prompts_counted(to, layout, time.seconds)) return true;
    point.per_user = 1 / time.wait_seconds;
    point.per_chip = 1 / time.seconds;
    double load = to->question->profiles[to->engine].prefill_load;
    double *least = &gathering->least_prompt[layout->layout.cache];
    *least = min_real(*least, time.seconds / load * (double)layout->box->devices);
    return front_add(&gathering->prompts[box * STORED_COUNT + layout->layout.cache], &point, to->error);
}

/* ---- decode: a front for each box ---- */

typedef struct {
    Gathering *gathering;
    PricedLayout layout;
    ServingFront *front;
} Decoding;

static bool decode_try(Decoding *one, int64_t batch, ServingPoint *point) {
    Exploring *to = one->gathering->to;
    point_of_batch(to->question, &one->layout, batch, SERVE_DECODE, point);
    point->per_chip = (double)batch * point->per_user; /* of one worker */
    to->count->evaluated++;
    bool late = to->question->tpot_limit_seconds > 0 && point->tpot_seconds > to->question->tpot_limit_seconds;
    if (late || !point_first_token(to->question, &one->layout, point)) return true;
    return front_add(one->front, point, to->error);
}

/* Tokens per second and chip of two pools, when a worker of this box makes `worker_rate` of them: a request takes its
 * chip-seconds of decoding, and at least those of the best worker for prompts. */
static double chip_bound(const Decoding *one, double worker_rate) {
    const ServingQuestion *question = one->gathering->to->question;
    const ServingLayout *on = one->layout.on;
    double output = question->request.output, per_chip = max_real(1, (double)question->chip.devices_per_chip);
    double device_seconds =
        one->gathering->least_prompt[on->layout.cache] + (double)on->box->devices * output / worker_rate;
    return per_chip * output / device_seconds;
}

/* Whether the batches above the one that is known, up to `high`, are cut: they are too late, or beaten by a worker of
 * their own box, or by a point of the front. */
static bool decode_is_cut(const Decoding *one, const ServingPoint *at_low, int64_t high) {
    Exploring *to = one->gathering->to;
    double limit = to->question->tpot_limit_seconds, slack = (1 + SERVING_SLACK) * (1 + to->question->bound_error);
    double user = at_low->per_user * slack, worker = (double)high * user, chip = chip_bound(one, worker) * slack;
    bool late = limit > 0 && at_low->tpot_seconds > limit * (1 + SERVING_SLACK);
    bool behind = front_beats(one->front, user, worker);
    if (!late && !behind && !front_beats(to->front, user, chip)) return false;
    CutReason reason = late ? CUT_LIMIT : CUT_BOUND;
    to->count->cut[reason] += (Count)(high - at_low->pools[0].batch);
    explored_add(to, one->layout.on,
                 (LedgerLine){behind && !late ? "worker" : cut_reason_name(reason), at_low->pools[0].batch + 1, high,
                              user, behind && !late ? worker : chip});
    return true;
}

static bool decode_range(Decoding *one, int64_t low, int64_t high) {
    Exploring *to = one->gathering->to;
    ServingPoint point;
    if (low > high) return true;
    if (exploring_stops(to)) {
        to->count->cut[CUT_TIME] += (Count)(high - low + 1);
        explored_add(to, one->layout.on, (LedgerLine){cut_reason_name(CUT_TIME), low, high, 0, 0});
        return true;
    }
    if (!decode_try(one, low, &point)) return false;
    if (low == high) return true;
    if (!to->question->brute_force && decode_is_cut(one, &point, high)) return true;
    int64_t middle = low + (high - low) / 2;
    return decode_range(one, middle + 1, high) && decode_range(one, low + 1, middle);
}

static bool gather_decodes(void *context, const ServingLayout *layout, const WorkerLinks *links) {
    Gathering *gathering = context;
    Decoding one = {.gathering = gathering, .front = &gathering->decodes[layout->layout.cache]};
    int64_t low, high;
    price_layout(gathering->to->question, layout, links, &one.layout);
    batches_of_layout(gathering->to, &one.layout, &low, &high);
    return high < low || decode_range(&one, low, high);
}

/* ---- both together ---- */

/* The links between two workers: those of the network where the machine has more than one domain, else its own. */
static double transfer_seconds(const ServingQuestion *question, const ServingPool *prompts,
                               const ServingPool *decodes) {
    const Mesh *machine = &question->machine.mesh;
    double chips = (double)question_chips(question, min_whole(prompts->on.box->devices, decodes->on.box->devices));
    double rate = 0, bytes = cache_bytes_per_sequence(&question->model, stored_bytes(prompts->on.layout.cache),
                                                      question->request.prompt, 1);
    for (int a = 0; a < machine->axis_count; a++)
        if (axis_is_across(&machine->axes[a]) || rate == 0) rate = machine->axes[a].bytes_per_second;
    double share = question->profiles[prompts->on.engine].link_share;
    return rate > 0 ? bytes / (rate * share * chips) : 0;
}

typedef struct {
    Exploring *to;
    const ServingPoint *prompts;
    const int64_t *most; /* packing_most(): the first are workers for prompts */
    int64_t most_count;
    double transfer;
} Pair;

static double requests_of(const Pair *pair, int64_t x, int64_t y, const ServingPoint *decode) {
    const ServingProfile *profile = &pair->to->question->profiles[decode->pools[0].on.engine];
    double prompts = (double)x * profile->prefill_load * pair->prompts->per_chip;
    return min_real(prompts, (double)y * (decode->per_chip / pair->to->question->request.output));
}

/* The numbers of workers that serve most. The rate of prompts rises with x and what is left for decode falls. */
static bool best_numbers(const Pair *pair, const ServingPoint *decode, int64_t *x, int64_t *y) {
    const ServingQuestion *question = pair->to->question;
    double best = 0;
    for (int64_t i = 1; i < pair->most_count && pair->most[i] > 0; i++) {
        int64_t most = pair->most[i];
        if (question->concurrency > 0) most = min_whole(most, question->concurrency / decode->pools[0].batch);
        double requests = most > 0 ? requests_of(pair, i, most, decode) : 0;
        if (question->rate > 0 && requests >= question->rate) { /* no more of either than it takes */
            double one = requests_of(pair, INT64_C(1) << 40, 1, decode);
            *x = i;
            *y = max_whole(1, (int64_t)ceil(question->rate / one * (1 - 1e-12)));
            return *y <= most;
        }
        if (!(requests > best)) continue;
        best = requests;
        *x = i;
        *y = most;
    }
    return best > 0 && !(question->rate > 0);
}

static bool combine(const Pair *pair, const ServingPoint *decode) {
    Exploring *to = pair->to;
    const ServingQuestion *question = to->question;
    const ServingProfile *profile = &question->profiles[decode->pools[0].on.engine];
    ServingPoint point = *decode;
    int64_t x = 0, y = 0;
    to->count->pairs++;
    if (!best_numbers(pair, decode, &x, &y)) return to->count->pairs_cut++, true;
    point.mode = SERVE_DISAGGREGATED;
    point.pool_count = 2;
    point.pools[0] = pair->prompts->pools[0];
    point.pools[1] = decode->pools[0];
    point.pools[0].workers = x;
    point.pools[1].workers = y;
    double devices = (double)(x * point.pools[0].on.box->devices + y * point.pools[1].on.box->devices);
    point.chips_used = question_chips(question, (int64_t)devices);
    point.requests_per_second = requests_of(pair, x, y, decode);
    point.tokens_per_second = point.requests_per_second * question->request.output;
    if (question->rate > 0)
        point.tokens_per_second = min_real(point.tokens_per_second, question->rate * question->request.output);
    point.per_chip = point.tokens_per_second / point_chips_paid(question, &point);
    double asked = question->rate > 0 ? min_real(question->rate, point.requests_per_second) : point.requests_per_second;
    point.prefill_load = asked / pair->prompts->per_chip / (double)x;
    point.transfer_seconds = pair->transfer;
    double wait = 1 / pair->prompts->per_user;
    point.ttft_seconds = wait + pair->transfer + profile->first_token_seconds;
    if (profile->queue > 0) point.ttft_seconds += wait * profile->queue * queue_wait(point.prefill_load);
    if (front_beats(to->front, point.per_user, point.per_chip)) return to->count->pairs_cut++, true;
    if (!point_keeps_limits(question, &point)) return to->count->pairs_cut++, true;
    return front_add(to->front, &point, to->error);
}

static bool combine_boxes(Exploring *to, const ServingFront *prompts, const ServingFront *decodes) {
    const WorkerBox *first = prompts->points[0].pools[0].on.box;
    Pair pair = {.to = to, .most_count = first->copies + 1};
    Arena arena = {0};
    int64_t *most;
    const ServingPool *decode = &decodes->points[0].pools[0];
    bool ok = packing_most(&to->question->machine.mesh, first, decode->on.box, first->copies, &arena, &most);
    if (!ok) error_memory(to->error);
    pair.most = most;
    pair.transfer = transfer_seconds(to->question, &prompts->points[0].pools[0], decode);
    for (int p = 0; ok && p < prompts->count; p++) {
        pair.prompts = &prompts->points[p];
        for (int i = 0; ok && i < decodes->count; i++) ok = combine(&pair, &decodes->points[i]);
    }
    arena_free(&arena);
    return ok;
}

/* One box of workers that decode, with all boxes of workers for prompts; then it is forgotten. */
static bool decode_box(Gathering *gathering, int number) {
    Exploring *to = gathering->to;
    Space space = {to->question, &(BoxList){&to->boxes->boxes[number], 1}, PHASE_DECODES, to->engine,
                   &to->count->space};
    bool ok = space_each(&space, gather_decodes, gathering);
    for (int cache = 0; cache < STORED_COUNT; cache++) {
        for (int i = 0; i < gathering->decodes[cache].count; i++) {
            const ServingPoint *point = &gathering->decodes[cache].points[i];
            explored_add(to, &point->pools[0].on,
                         (LedgerLine){"worker_front", point->pools[0].batch, point->pools[0].batch, point->per_user,
                                      point->per_chip});
        }
        for (int box = 0; ok && box < to->boxes->count && gathering->decodes[cache].count; box++) {
            const ServingFront *prompts = &gathering->prompts[box * STORED_COUNT + cache];
            if (prompts->count) ok = combine_boxes(to, prompts, &gathering->decodes[cache]);
        }
        front_free(&gathering->decodes[cache]);
    }
    return ok;
}

bool explore_two_pools(Exploring *to) {
    size_t count = (size_t)to->boxes->count * STORED_COUNT;
    Gathering gathering = {.to = to, .prompts = calloc(count, sizeof *gathering.prompts)};
    Space space = {to->question, to->boxes, PHASE_PROMPTS, to->engine, &to->count->space};
    if (!gathering.prompts) return error_memory(to->error);
    for (int cache = 0; cache < STORED_COUNT; cache++) gathering.least_prompt[cache] = INFINITY;
    bool ok = space_each(&space, gather_prompts, &gathering);
    for (int box = 0; ok && box < to->boxes->count; box++) ok = decode_box(&gathering, box);
    for (size_t i = 0; i < count; i++) front_free(&gathering.prompts[i]);
    free(gathering.prompts);
    return ok;
}
