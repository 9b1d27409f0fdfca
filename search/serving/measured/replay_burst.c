/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A test of some requests, step by step: prompts go in as they come while there are slots, answers end one by one, and
 * the longest are served by an engine that is half empty. */
#include "base/util.h"
#include "search/serving/measured/serving_replay.h"

#include <math.h>

enum { DECODE_STEPS = 8 }; /* that are priced as one while no prompt is waiting */

typedef struct {
    double sent_seconds, left, first_seconds, length;
} Answer;

typedef struct {
    const ServedBurst *of;
    Answer *answers; /* in the order in which they are sent */
    int64_t count, begun, sent;
    double prompt_tokens, generated; /* of all prompts so far; of the answers that run */
    double least_left;               /* tokens, of those answers */
    double now, waits, times;        /* sums over requests: to the first token, of a later one */
    int64_t running, timed;
} Bursting;

/* Shares of an even spread in an order without a trend: the fractions of multiples of the golden ratio. */
static double length_of(const ServedBurst *of, int64_t number) {
    static const double GOLDEN = 0.6180339887498949;
    double share = fmod(((double)number + 0.5) * GOLDEN, 1);
    return of->exponential ? max_real(1, ceil(-log1p(-share) * of->output)) : of->output;
}

/* What passes before the next request is sent: exponential, in another order without a trend. */
static double gap_of(const ServedBurst *of, int64_t number) {
    static const double SILVER = 0.4142135623730951;
    return of->rate > 0 ? -log1p(-fmod(((double)number + 0.5) * SILVER, 1)) / of->rate : 0;
}

/* Answers whose prompts are in have their first token. */
static void begin_answers(Bursting *to) {
    while (to->begun < to->count && to->prompt_tokens >= to->of->prompt * (double)(to->begun + 1) * (1 - 1e-12)) {
        Answer *answer = &to->answers[to->begun++];
        answer->first_seconds = to->now;
        answer->left = answer->length - 1;
        to->waits += to->now - answer->sent_seconds;
        to->running += answer->left > 0;
        if (answer->left > 0) to->least_left = min_real(to->least_left, answer->left);
    }
}

static void decode(Bursting *to, double steps) {
    to->generated = 0;
    to->least_left = INFINITY;
    for (int64_t i = 0; i < to->begun; i++) {
        Answer *answer = &to->answers[i];
        if (!(answer->left > 0)) continue;
        answer->left -= steps;
        if (answer->left > 0) {
            to->generated += answer->length - answer->left;
            to->least_left = min_real(to->least_left, answer->left);
            continue;
        }
        to->running--;
        to->timed++;
        to->times += (to->now - answer->first_seconds) / (answer->length - 1);
    }
}

/* What is due, as far as its client may: beyond so many in flight each waits for an answer to end. */
static void send(Bursting *to) {
    const double clients = to->of->clients > 0 ? to->of->clients : INFINITY;
    while (to->sent < to->count && to->answers[to->sent].sent_seconds <= to->now) {
        if ((double)(to->sent - to->begun + to->running) >= clients) return;
        Answer *answer = &to->answers[to->sent++];
        if ((double)to->sent > clients) answer->sent_seconds = to->now;
    }
}

/* A step, or several alike. False: nothing is left. */
static bool advance(Bursting *to, const StepPlan *plan) {
    const ServedBurst *of = to->of;
    bool idle = to->running == 0 && to->sent == to->begun && to->sent < to->count;
    if (idle) to->now = max_real(to->now, to->answers[to->sent].sent_seconds);
    send(to);
    double open = min_real((double)(to->sent - to->begun), max_real(0, of->slots - (double)to->running));
    double wanted = of->prompt * ((double)to->begun + open) - to->prompt_tokens;
    double prompts = max_real(0, min_real(wanted, max_real(1, of->budget - (double)to->running)));
    double context = to->running > 0 ? of->prompt + to->generated / (double)to->running : 0;
    StepLoad load = {(double)to->running, context, prompts, of->prompt / 2, 0};
    StepCost step;
    if (to->running == 0 && !(prompts > 0)) return false;
    worker_step(plan, &load, &step);
    double steps = prompts > 0 || to->sent < to->count ? 1 : min_real(DECODE_STEPS, to->least_left);
    to->now += steps * step.seconds;
    to->prompt_tokens += prompts;
    decode(to, steps);
    begin_answers(to);
    return true;
}

bool served_burst(const StepPlan *plan, const ServedBurst *of, Arena *arena, ServingFigures *out) {
    Bursting to = {.of = of, .count = max_whole(1, (int64_t)of->requests)};
    double tokens = 0, sent = 0;
    to.answers = ARENA_NEW(arena, Answer, (size_t)to.count);
    if (!to.answers) return false;
    for (int64_t i = 0; i < to.count; i++) {
        tokens += to.answers[i].length = length_of(of, i);
        to.answers[i].sent_seconds = sent += i > 0 ? gap_of(of, i) : 0;
    }
    while (advance(&to, plan)) continue;
    *out =
        (ServingFigures){to.timed > 0 ? to.times / (double)to.timed : 0, to.waits / (double)to.count, tokens / to.now};
    return true;
}
