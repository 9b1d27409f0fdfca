/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/point.h"

#include "base/util.h"
#include "mesh/host_link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t question_chips(const ServingQuestion *question, int64_t devices) {
    return divide_up(devices, max_whole(1, question->chip.devices_per_chip));
}

static bool fits(const MemoryPlan *plan, int64_t batch, int64_t step_tokens) {
    WorkerMemory memory;
    memory_of_load(plan, (double)batch, (double)step_tokens, &memory);
    return memory_fits(&memory);
}

/* Whether memory has room for one request of the longest that is accepted. */
static bool holds_longest(const ServingQuestion *question, const ServedModel *served, const ServingLayout *layout) {
    MemoryPlan memory;
    memory_plan(served, &layout->layout, (double)question->accepted, &memory);
    return fits(&memory, 1, (double)question->budgets[0]);
}

/* A router sends requests that begin alike to one rank of one copy, so that each has its part of them; where a rate may
 * need one copy alone, that has all. */
static void price_prefixes(const ServingQuestion *question, const ServedModel *served, const ServingLayout *layout,
                           PricedLayout *out) {
    double tokens = question->request.cached * question->request.prompt;
    double rate = host_one_way_rate(&question->chip) / max_real(1, (double)question->chip.devices_per_chip);
    out->prefixes_bytes = out->copy_seconds = 0;
    if (!(question->prefixes.count > 0)) return;
    double copies = (double)layout->submesh->copies, ranks = (double)layout->layout.attention_data;
    if (question->concurrency > 0) copies = min_real(copies, (double)question->concurrency);
    if (question->rate > 0) copies = 1;
    double bytes = worker_cache_bytes(served, &layout->layout, tokens);
    out->prefixes_bytes = ceil(question->prefixes.count / (copies * ranks)) * bytes;
    out->copy_seconds = rate > 0 ? bytes / rate : 0;
}

/* HBM has what sequences and steps leave; of prefixes that are as likely as each other it has so many. */
static PrefixHit prefix_hit(const ServingQuestion *question, const PricedLayout *layout, int64_t batch, bool host) {
    double cached = question->request.cached, all = layout->prefixes_bytes;
    WorkerMemory memory;
    if (!(all > 0)) return (PrefixHit){cached, 0};
    memory_of_load(&layout->memory, (double)batch, (double)question->budgets[question->budget_count - 1], &memory);
    double near = min_real(1, max_real(0, memory.limit_bytes - worker_memory_total(&memory)) / all);
    double far = host ? min_real(1 - near, question->prefixes.host_bytes / all) : 0;
    return (PrefixHit){cached * (near + far), cached * far};
}

static double new_tokens(const ServingQuestion *question, const PrefixHit *hit) {
    return question->request.prompt * (1 - hit->cached);
}

/* The keys that a token of a prompt attends to, mean, where less of it is cached than could be. */
static double prompt_context(const ServingQuestion *question, const PrefixHit *hit) {
    return question->prompt_context * (1 + hit->cached) / (1 + question->request.cached);
}

/* What one prompt waits for copies of what the host has; ranks copy side by side. */
static double copied_seconds(const ServingQuestion *question, const PricedLayout *layout, const PrefixHit *hit) {
    return hit->copied > 0 ? hit->copied / question->request.cached * layout->copy_seconds : 0;
}

void price_layout(const ServingQuestion *question, const ServingLayout *layout, const WorkerLinks *links,
                  PricedLayout *out) {
    ServedModel served = question_served(question, layout->engine);
    out->on = layout;
    step_plan(&served, &layout->layout, links, &out->step);
    memory_plan(&served, &layout->layout, question->peak_tokens, &out->memory);
    if (question->accepted > 0 && !holds_longest(question, &served, layout)) out->memory.limit_bytes = 0;
    price_prefixes(question, &served, layout, out);
}

int64_t layout_room(const MemoryPlan *plan, int64_t step_tokens) {
    enum { BATCH_MAX = 1 << 16 };
    int64_t low = 1, high = BATCH_MAX; /* low fits */
    if (!fits(plan, 1, step_tokens)) return 0;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (fits(plan, middle, step_tokens))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static StepLoad load_with(const ServingQuestion *question, int64_t batch, ServingMode mode, const PrefixHit *hit) {
    StepLoad load = {.sequences = (double)batch, .context = question->mean_context};
    ServedRequest request = question->request;
    if (mode != SERVE_AGGREGATED) return load;
    request.cached = hit->cached;
    load.prompt_tokens = prefill_per_step((double)batch, &request, speculation_tokens(question->speculation));
    load.prompt_context = prompt_context(question, hit);
    load.chunk = min_real(new_tokens(question, hit), (double)question->budgets[question->budget_count - 1]);
    return load;
}

StepLoad load_of_batch(const ServingQuestion *question, int64_t batch, ServingMode mode) {
    return load_with(question, batch, mode, &(PrefixHit){question->request.cached, 0});
}

/* The step, with what the host has copied from there where that is quicker than to compute it again. */
static void step_of_batch(const ServingQuestion *question, const PricedLayout *layout, ServingMode mode,
                          ServingPool *pool) {
    double finished = finished_per_step((double)pool->batch, question->request.output) *
                      speculation_tokens(question->speculation) / (double)layout->on->layout.attention_data;
    for (int host = 0; host <= (layout->prefixes_bytes > 0 && question->prefixes.host_bytes > 0); host++) {
        PrefixHit hit = prefix_hit(question, layout, pool->batch, host);
        StepLoad load = load_with(question, pool->batch, mode, &hit);
        StepCost step;
        worker_step(&layout->step, &load, &step);
        double copied = mode == SERVE_AGGREGATED ? finished * copied_seconds(question, layout, &hit) : 0;
        step.seconds += copied;
        step.terms[STEP_HOST] += copied;
        step.held[HELD_BY_NETWORK] += copied;
        if (host && !(step.seconds < pool->step.seconds)) continue;
        pool->step = step;
        pool->hit = hit;
    }
}

/* Copies that are used: all, unless a rate or a number of requests in flight needs fewer. */
static int64_t workers_used(const ServingQuestion *question, const SubMesh *submesh, double requests_per_second) {
    int64_t workers = submesh->copies;
    if (question->concurrency > 0) workers = min_whole(workers, question->concurrency);
    if (question->rate > 0) {
        double needed = ceil(question->rate / requests_per_second);
        workers = needed < (double)workers ? (int64_t)needed : workers;
    }
    return workers;
}

double point_chips_paid(const ServingQuestion *question, const ServingPoint *point) {
    return (double)(question->rate > 0 ? point->chips_used : question->machine.mesh.chips);
}

double point_usd_per_million(const ServingQuestion *question, const ServingPoint *point, double tokens_per_second) {
    double usd = question->chip.usd_per_chip_hour.value;
    if (!(usd > 0) || !(tokens_per_second > 0)) return -1;
    return usd_per_million(usd, point_chips_paid(question, point), tokens_per_second);
}

double point_joules_per_token(const ServingQuestion *question, const ServingPoint *point) {
    double watts = question->chip.board_watts.value;
    if (!(watts > 0) || !(point->tokens_per_second > 0)) return -1;
    return watts * point_chips_paid(question, point) / point->tokens_per_second;
}

void point_of_batch(const ServingQuestion *question, const PricedLayout *layout, int64_t batch, ServingMode mode,
                    ServingPoint *out) {
    double tokens = speculation_tokens(question->speculation);
    ServingPool *pool = &out->pools[0];
    *out = (ServingPoint){.mode = mode, .pool_count = 1};
    pool->phase = mode == SERVE_AGGREGATED ? PHASE_BOTH : PHASE_DECODES;
    pool->on = *layout->on;
    pool->batch = batch;
    step_of_batch(question, layout, mode, pool);
    double rate = decode_requests_per_second((double)batch, pool->step.seconds / tokens, question->request.output);
    pool->workers = workers_used(question, layout->on->submesh, rate);
    out->chips_used = question_chips(question, pool->workers * layout->on->submesh->devices);
    out->tpot_seconds = pool->step.seconds / tokens;
    out->per_user = tokens / pool->step.seconds;
    out->requests_per_second = rate * (double)pool->workers;
    out->tokens_per_second = (double)pool->workers * ((double)batch * tokens / pool->step.seconds);
    if (question->rate > 0)
        out->tokens_per_second = min_real(out->tokens_per_second, question->rate * question->request.output);
    out->per_chip = out->tokens_per_second / point_chips_paid(question, out);
}

/* A step in which one rank of attention data has a chunk of a prompt. All ranks wait for it; experts and the exchange
 * of tokens serve the chunk in addition to what a mean step brings to the others. */
static double chunk_seconds(const StepPlan *plan, StepLoad load, double chunk) {
    double ranks = (double)plan->layout.attention_data;
    StepLoad others = load;
    StepCost own, group;
    load.prompt_tokens = chunk * ranks;
    others.prompt_tokens = chunk + others.prompt_tokens * (ranks - 1) / ranks;
    worker_step(plan, &load, &own);
    if (ranks == 1) return own.seconds;
    worker_step(plan, &others, &group);
    return own.seconds + min_real(0, group.terms[STEP_EXPERTS] + group.terms[STEP_EXCHANGE] - own.terms[STEP_EXPERTS] -
                                         own.terms[STEP_EXCHANGE]);
}

/* A prompt goes through in chunks of what the batch leaves of its rank's budget, after the prompts that are there
 * before it. These wait as in a queue whose load is the share of the greatest rate of prompt tokens, steps full to
 * the budget, that the steady state takes. */
static double first_token(const ServingQuestion *question, const PricedLayout *layout, const ServingPoint *point,
                          int64_t budget, double *load_share, double *prompt_seconds) {
    const StepPlan *plan = &layout->step;
    const ServingPool *pool = &point->pools[0];
    const ServingProfile *profile = &question->profiles[pool->on.engine];
    StepLoad load = load_with(question, pool->batch, SERVE_AGGREGATED, &pool->hit);
    double decoding = (double)pool->batch * (double)(question->speculation.drafts + 1);
    double free = (double)budget - decoding, prompt = new_tokens(question, &pool->hit);
    double ranks = (double)pool->on.layout.attention_data, chunk = min_real(free / ranks, prompt);
    double requested = question->rate > 0 ? min_real(1, question->rate / point->requests_per_second) : 1;
    double steady = load.prompt_tokens / pool->step.seconds;
    StepCost full;
    if (!(free >= ranks) || load.prompt_tokens > free) return INFINITY;
    load.chunk = 0;
    double own = chunk_seconds(plan, load, chunk);
    load.prompt_tokens = free;
    worker_step(plan, &load, &full);
    *prompt_seconds = ceil(prompt / chunk) * own + copied_seconds(question, layout, &pool->hit);
    double seconds = *prompt_seconds + profile->first_token_seconds;
    *load_share = requested * steady / (free / full.seconds);
    if (!(profile->queue > 0)) return seconds;
    return seconds + profile->queue * (seconds * queue_wait(*load_share) + pool->step.seconds / 2);
}

double point_slot_wait(const ServingQuestion *question, const ServingPoint *point) {
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    double waiting = (double)question->concurrency - (double)(pool->batch * pool->workers);
    return question->concurrency > 0 && waiting > 0 ? waiting / point->requests_per_second : 0;
}

bool point_first_token(const ServingQuestion *question, const PricedLayout *layout, ServingPoint *point) {
    ServingPool *pool = &point->pools[0];
    double batch = (double)pool->batch;
    if (point->mode == SERVE_DECODE) {
        pool->step_tokens = pool->batch * (question->speculation.drafts + 1);
        memory_of_load(&layout->memory, batch, (double)pool->step_tokens, &pool->memory);
        return memory_fits(&pool->memory);
    }
    point->ttft_seconds = INFINITY;
    for (int i = 0; i < question->budget_count; i++) {
        double load_share = 0, prompt_seconds = 0, budget = (double)question->budgets[i];
        double seconds = first_token(question, layout, point, question->budgets[i], &load_share, &prompt_seconds);
        WorkerMemory memory;
        if (!(seconds < point->ttft_seconds)) continue;
        memory_of_load(&layout->memory, batch, budget, &memory);
        if (!memory_fits(&memory)) break;
        point->ttft_seconds = seconds;
        point->prefill_load = load_share;
        point->prompt_seconds = prompt_seconds;
        pool->step_tokens = question->budgets[i];
        pool->memory = memory;
    }
    if (!(point->ttft_seconds < INFINITY)) return false;
    point->ttft_seconds += point_slot_wait(question, point);
    return true;
}

FirstTokenParts point_first_token_parts(const ServingQuestion *question, const ServingPoint *point) {
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    const ServingProfile *profile = &question->profiles[pool->on.engine];
    FirstTokenParts parts = {.prompt = point->prompt_seconds, .transfer = point->transfer_seconds};
    if (point->mode == SERVE_AGGREGATED) parts.hand_over = profile->first_token_seconds;
    if (point->mode == SERVE_DISAGGREGATED) parts.hand_over = hand_over_seconds(profile, &pool->step);
    parts.queue = max_real(0, point->ttft_seconds - parts.prompt - parts.transfer - parts.hand_over);
    return parts;
}

bool point_keeps_limits(const ServingQuestion *question, const ServingPoint *point) {
    if (question->tpot_limit_seconds > 0 && point->tpot_seconds > question->tpot_limit_seconds) return false;
    if (question->ttft_limit_seconds > 0 && point->ttft_seconds > question->ttft_limit_seconds) return false;
    return !(question->rate > 0) || point->requests_per_second >= question->rate * (1 - 1e-12);
}

PromptTime prompt_time(const ServingQuestion *question, const PricedLayout *layout, ServingPool *pool) {
    PromptTime best = {INFINITY, INFINITY};
    double prompt = question_new_tokens(question), ranks = (double)layout->on->layout.attention_data;
    for (int i = 0; i < question->budget_count; i++) {
        double chunk = min_real((double)question->budgets[i], prompt), steps = ceil(prompt / chunk);
        StepLoad load = {.prompt_tokens = chunk * ranks, .prompt_context = question->prompt_context};
        WorkerMemory memory;
        StepCost step;
        memory_of_load(&layout->memory, ranks, load.prompt_tokens, &memory);
        if (!memory_fits(&memory)) break;
        worker_step(&layout->step, &load, &step);
        if (!(steps * step.seconds < best.wait_seconds)) continue;
        best = (PromptTime){steps * step.seconds, steps * step.seconds / ranks};
        pool->batch = layout->on->layout.attention_data;
        pool->step_tokens = question->budgets[i] * layout->on->layout.attention_data;
        pool->step = step;
        pool->memory = memory;
        if (chunk >= prompt) break;
    }
    return best;
}

/* ---- the Pareto front ---- */

static ServingPoint *front_at(const ServingFront *front, int i) { return &front->points[front->order[i]]; }

/* The number of points with more tokens per user than this. */
static int before(const ServingFront *front, double per_user) {
    int low = 0, high = front->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (front_at(front, middle)->per_user > per_user)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool front_beats(const ServingFront *front, double per_user, double per_chip) {
    int at = before(front, per_user);
    const ServingPoint *same = at < front->count ? front_at(front, at) : NULL;
    if (same && same->per_user == per_user && same->per_chip > per_chip) return true;
    return at > 0 && front_at(front, at - 1)->per_chip >= per_chip;
}

/* The order of points with the same rates. */
static bool preferred(const ServingPoint *a, const ServingPoint *b) {
    if (a->ttft_seconds != b->ttft_seconds) return a->ttft_seconds < b->ttft_seconds;
    if (a->chips_used != b->chips_used) return a->chips_used < b->chips_used;
    if (a->mode != b->mode) return a->mode < b->mode;
    for (int i = 0; i < a->pool_count; i++) {
        const ServingPool *x = &a->pools[i], *y = &b->pools[i];
        if (x->on.engine != y->on.engine) return x->on.engine < y->on.engine;
        if (x->on.key != y->on.key) return x->on.key < y->on.key;
        if (x->batch != y->batch) return x->batch < y->batch;
    }
    return false;
}

static bool make_room(ServingFront *front, Error *error) {
    if (front->count < front->room) return true;
    int room = front->room ? 2 * front->room : 64;
    ServingPoint *points = realloc(front->points, (size_t)room * sizeof *points);
    if (points) front->points = points;
    int *order = points ? realloc(front->order, (size_t)room * sizeof *order) : NULL;
    if (!order) return error_memory(error);
    front->order = order;
    front->room = room;
    return true;
}

/* The last point moves to where this one lay, so that no place is empty. */
static void drop(ServingFront *front, int at) {
    int place = front->order[at], last = --front->count;
    memmove(front->order + at, front->order + at + 1, (size_t)(last - at) * sizeof *front->order);
    if (place == last) return;
    front->order[before(front, front->points[last].per_user)] = place;
    front->points[place] = front->points[last];
}

bool front_add(ServingFront *front, const ServingPoint *point, Error *error) {
    if (front_beats(front, point->per_user, point->per_chip)) return true;
    int at = before(front, point->per_user);
    ServingPoint *next = at < front->count ? front_at(front, at) : NULL;
    if (next && next->per_user == point->per_user && next->per_chip == point->per_chip) {
        if (preferred(point, next)) *next = *point;
        return true;
    }
    if (next && next->per_chip <= point->per_chip) { /* its place is taken, and those behind it that are beaten go */
        *next = *point;
        while (at + 1 < front->count && front_at(front, at + 1)->per_chip <= point->per_chip) drop(front, at + 1);
        return true;
    }
    if (!make_room(front, error)) return false;
    memmove(front->order + at + 1, front->order + at, (size_t)(front->count - at) * sizeof *front->order);
    front->order[at] = front->count;
    front->points[front->count++] = *point;
    return true;
}

void front_settle(ServingFront *front) {
    for (int i = 0; i < front->count; i++) {
        if (front->order[i] == i) continue;
        ServingPoint first = front->points[i];
        for (int to = i, from; to >= 0; to = from) {
            from = front->order[to] == i ? -1 : front->order[to];
            front->points[to] = from < 0 ? first : front->points[from];
            front->order[to] = to;
        }
    }
}

void front_free(ServingFront *front) {
    free(front->points);
    free(front->order);
    *front = (ServingFront){0};
}
