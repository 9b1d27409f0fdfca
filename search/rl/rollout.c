/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/rl/rollout.h"

#include "base/util.h"
#include "search/serving/answer.h"

#include <math.h>

/* ---- the layouts ---- */

typedef struct {
    const RlQuestion *question;
    RolloutLayout *list; /* NULL: they are counted */
    int count;
} Gathering;

static bool gather(void *context, const ServingLayout *layout, const WorkerLinks *links) {
    enum { PROMPT_TOKENS = 8192 };
    Gathering *to = context;
    const RlQuestion *question = to->question;
    RolloutLayout one = {.on = *layout};
    price_layout(&question->serving.question, layout, links, &one.priced);
    double limit = question->profile.answers_at_once * (double)layout->layout.attention_data;
    for (int shared = 0; shared < 2; shared++) {
        MemoryPlan memory = one.priced.memory;
        memory.limit_bytes *=
            question->engine_memory[shared] / question->serving.question.profiles[layout->engine].memory_fraction;
        one.slots[shared] = min_whole(layout_room(&memory, PROMPT_TOKENS), (int64_t)limit);
    }
    if (one.slots[0] == 0 && one.slots[1] == 0) return true;
    if (to->list) {
        to->list[to->count] = one;
        to->list[to->count].priced.on = &to->list[to->count].on;
    }
    to->count++;
    return true;
}

bool rollout_space(const RlQuestion *question, Arena *arena, RolloutSpace *out, Error *error) {
    const ServingQuestion *serving = &question->serving.question;
    SubMeshList submeshes;
    *out = (RolloutSpace){.question = question, .domain = devices_of_domain(serving)};
    Gathering gathering = {.question = question};
    if (!submeshes_enumerate(serving, arena, &submeshes, error)) return false;
    for (int pass = 0; pass < 2; pass++) {
        SpaceCount count = {0};
        gathering.count = 0;
        for (int engine = 0; engine < engine_count(); engine++) {
            Space space = {serving, &submeshes, PHASE_BOTH, engine, &count};
            if (serving->engines >> engine & 1 && !space_each(&space, gather, &gathering)) return error_memory(error);
        }
        if (pass == 0 && !(gathering.list = ARENA_NEW(arena, RolloutLayout, (size_t)gathering.count + 1)))
            return error_memory(error);
    }
    out->layouts = gathering.list;
    out->count = gathering.count;
    out->curves = ARENA_NEW(arena, KnownCurve, KNOWN_CURVES);
    out->room = ARENA_NEW(arena, double, 3 * (size_t)answers_generated(question));
    return (out->curves && out->room) || error_memory(error);
}

/* ---- one layout ---- */

/* Replicas that a part of the machine holds: as many as domains have room for, or over whole domains. */
static int64_t replicas_on(const RolloutSpace *space, int64_t devices, int64_t each) {
    int64_t domain = space->domain;
    if (each > domain) return devices / each;
    return devices / domain * (domain / each) + devices % domain / each;
}

/* The replica that ends last: lengths at even quantiles, the longest that of the whole step; in an order that has
 * nothing to do with them. */
static const AnswersInFlight *curve(RolloutSpace *space, int64_t answers, int64_t slots) {
    const RlQuestion *question = space->question;
    slots = min_whole(slots, answers);
    KnownCurve *known = &space->curves[(uint64_t)(answers * 31 + slots) % KNOWN_CURVES];
    if (known->answers == answers && known->slots == slots) return &known->of;
    double *lengths = space->room;
    int64_t stride = max_whole(1, (int64_t)(0.6180339887 * (double)answers));
    while (common_divisor(stride, answers) != 1) stride++;
    for (int64_t i = 0; i < answers; i++) {
        int64_t rank = i * stride % answers;
        lengths[i] = rank + 1 == answers ? lengths_longest_of(&question->answers, (double)answers_generated(question))
                                         : length_at(&question->answers, ((double)rank + 0.5) / (double)answers);
    }
    answers_in_flight(lengths, answers, slots, lengths + answers, &known->of);
    known->answers = answers;
    known->slots = slots;
    return &known->of;
}

/* Seconds of a token of each answer in flight. Those whose tool runs do not decode: the share that does is that of a
 * step in a step and its wait, which only falls from round to round. */
static double step_of(const RlQuestion *question, const Rollout *on, double answers, double context) {
    enum { ROUNDS = 4 };
    const RlProfile *profile = &question->profile;
    double wait = question->tool_seconds / question->answers.mean, busy = answers;
    for (int round = 0;; round++) {
        StepLoad load = {.sequences = busy, .context = context};
        StepCost cost;
        worker_step(&on->layout->priced.step, &load, &cost);
        double seconds = cost.seconds + profile->host_step_seconds + profile->host_sequence_seconds * busy;
        if (!(wait > 0) || round == ROUNDS) return seconds + wait;
        busy = max_real(min_real(1, answers), answers * seconds / (seconds + wait));
    }
}

/* All prompts of a replica, the samples of each sharing it, in steps of at most so many tokens. */
static double prefill_of(const StepPlan *plan, double tokens, double context) {
    static const double CHUNK = 8192;
    double part = min_real(tokens, CHUNK);
    StepLoad load = {.prompt_tokens = part, .prompt_context = context};
    StepCost cost;
    worker_step(plan, &load, &cost);
    return cost.seconds * tokens / part;
}

static double prompts_of(const RlQuestion *question, const StepPlan *plan, int64_t answers) {
    double prompts = max_real(1, (double)answers / (double)min_whole(question->samples, answers));
    return prefill_of(plan, prompts * question->prompt, question->prompt / 2);
}

/* One batch by itself. */
static void time_batch(const RlQuestion *question, const AnswersInFlight *curve, Rollout *out) {
    static const double LEFT = 0.1;
    double seconds = 0, tail = 0;
    for (int i = 0; i < curve->count; i++) {
        const InFlightSegment *part = &curve->of[i];
        double step = step_of(question, out, part->answers, question->prompt + part->generated);
        seconds += part->steps * step;
        if (part->left <= LEFT * (double)out->answers) tail += part->steps * step;
        if (i == 0) out->first_step_seconds = step;
        out->last_step_seconds = step;
    }
    /* The longest call of a tool, and a mean answer around it. */
    seconds = max_real(seconds, seconds * question->answers.mean / curve->steps + question->tool_longest);
    out->seconds = out->prompt_seconds + seconds;
    out->tail_seconds = tail;
    out->steps = curve->steps;
}

/* Answers of several batches in flight: one ends as another begins, and each has `lag` periods of time; with partial
 * rollouts as many as it takes, and caches of all in flight are filled again as weights come. */
static void time_overlapped(const RlQuestion *question, const AnswersInFlight *curve, int lag, bool partial,
                            Rollout *out) {
    /* From step to step every replica has its share of them all. */
    double answers = (double)answers_generated(question) / (double)out->replicas, context = 0, again = 0;
    double tokens = answers * question->answers.mean, period = tokens / (double)out->slots;
    period = max_real(period, partial ? tokens / ((double)lag * answers) : curve->steps / lag);
    for (int i = 0; i < curve->count; i++) {
        const InFlightSegment *part = &curve->of[i];
        context += part->steps * part->answers * part->generated / curve->tokens;
    }
    double flying = tokens / period;
    if (partial) again = prefill_of(&out->layout->priced.step, flying * (question->prompt + context), context / 2);
    double step = step_of(question, out, flying, question->prompt + context);
    double seconds = out->prompt_seconds + again + period * step;
    if (!(seconds < out->seconds)) return;
    out->seconds = seconds;
    out->tail_seconds = 0;
    out->first_step_seconds = out->last_step_seconds = step;
    out->steps = period;
    out->lag = lag;
    out->partial = partial;
}

Rollout rollout_of(RolloutSpace *space, const RolloutLayout *layout, RolloutPool pool) {
    const RlQuestion *question = space->question;
    const Chip *chip = &question->serving.question.chip;
    int64_t each = max_whole(1, chip->devices_per_chip), all = answers_generated(question);
    Rollout out = {.layout = layout, .shared = pool.shared, .seconds = INFINITY, .lag = pool.lag > 0 ? 1 : 0};
    out.replicas = min_whole(all, replicas_on(space, pool.chips * each, layout->on.submesh->devices));
    out.slots = layout->slots[pool.shared];
    if (out.replicas == 0 || out.slots == 0) return out;
    out.answers = divide_up(all, out.replicas);
    out.prompt_seconds = prompts_of(question, &layout->priced.step, out.answers);
    const AnswersInFlight *of = curve(space, out.answers, out.slots);
    time_batch(question, of, &out);
    for (int older = pool.partial ? 1 : 2; older <= pool.lag; older++)
        time_overlapped(question, of, older, pool.partial, &out);
    return out;
}

const AnswersInFlight *rollout_curve(RolloutSpace *space, const Rollout *rollout, double *step_seconds) {
    const RlQuestion *question = space->question;
    const AnswersInFlight *of = curve(space, rollout->answers, rollout->slots);
    for (int i = 0; i < of->count; i++)
        step_seconds[i] = step_of(question, rollout, of->of[i].answers, question->prompt + of->of[i].generated);
    return of;
}

Rollout rollout_best(RolloutSpace *space, RolloutPool pool) {
    Rollout best = {.seconds = INFINITY};
    for (int i = 0; i < space->count; i++) {
        Rollout one = rollout_of(space, &space->layouts[i], pool);
        if (one.seconds < best.seconds) best = one;
    }
    return best;
}

double rollout_floor(const RlQuestion *question, RolloutPool pool) {
    ServingUpperBound most = serving_upper_bound(&question->serving.question, 0);
    double all = (double)answers_generated(question), tokens = all * question->answers.mean;
    double one = pool.partial ? 0.9 * question->answers.mean : lengths_longest_of(&question->answers, all);
    if (!(most.per_chip > 0)) return INFINITY;
    one /= (double)max_whole(1, pool.lag);
    return max_real(tokens / (most.per_chip * (double)pool.chips), one / most.per_user) * (1 - 1e-9);
}
