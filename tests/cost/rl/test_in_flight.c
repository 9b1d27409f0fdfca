/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers in flight: by hand, and against a simulation that goes token by token. */
#include "cost/rl/in_flight.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST = 400 };

static AnswersInFlight curve(const double *lengths, int64_t count, int64_t slots) {
    static double room[2 * MOST];
    AnswersInFlight out;
    answers_in_flight(lengths, count, slots, room, &out);
    return out;
}

Test(in_flight, three_answers_by_hand) {
    const double lengths[] = {4, 2, 1};
    AnswersInFlight all = curve(lengths, 3, 3);
    cr_assert_eq(all.count, 3); /* 3, 2 and 1 in flight for 1, 1 and 2 steps */
    cr_assert_eq(all.of[0].answers, 3);
    cr_assert_eq(all.of[0].steps, 1);
    cr_assert_eq(all.of[0].left, 3);
    cr_assert_eq(all.of[1].answers, 2);
    cr_assert_eq(all.of[1].generated, 1.5);
    cr_assert_eq(all.of[2].answers, 1);
    cr_assert_eq(all.of[2].steps, 2);
    cr_assert_eq(all.of[2].generated, 3);
    cr_assert_eq(all.steps, 4);
    cr_assert_eq(all.tokens, 7);
    AnswersInFlight one = curve(lengths, 3, 1); /* one after the other */
    cr_assert_eq(one.steps, 7);
    cr_assert_eq(one.tokens, 7);
    AnswersInFlight two = curve(lengths, 3, 2); /* 4 alongside 2 and then 1 */
    cr_assert_eq(two.steps, 4);
    cr_assert_eq(two.tokens, 7);
}

/* Seconds of a step that neither rise nor fall evenly with what is in flight: bytes, then FLOPs. */
static double step_seconds(double answers, double generated) {
    return 1 + 0.001 * answers * generated + (answers > 60 ? 0.02 * (answers - 60) : 0);
}

/* Every step by itself: who has begun gains a token, who has all of them leaves, and the next begins. */
static double simulated(const double *lengths, int64_t count, int64_t slots, double *steps) {
    double has[MOST], seconds = 0;
    int64_t who[MOST], running = 0, next = 0;
    for (*steps = 0; running > 0 || next < count; (*steps)++) {
        double generated = 0;
        while (running < slots && next < count) who[running] = next++, has[running++] = 0;
        for (int64_t i = 0; i < running; i++) generated += (has[i] + 0.5) / (double)running;
        seconds += step_seconds((double)running, generated);
        for (int64_t i = 0; i < running; i++)
            if (++has[i] >= lengths[who[i]]) running--, who[i] = who[running], has[i] = has[running], i--;
    }
    return seconds;
}

Test(in_flight, a_simulation_token_by_token_agrees) {
    srand(7);
    double worst = 0;
    for (int problem = 0; problem < 300; problem++) {
        double lengths[MOST], tokens = 0, steps;
        int64_t count = 1 + rand() % MOST, slots = 1 + rand() % (problem % 2 ? 30 : 500);
        for (int64_t i = 0; i < count; i++) {
            double u = (rand() + 1.0) / (RAND_MAX + 2.0), v = rand() / (RAND_MAX + 1.0);
            lengths[i] = fmin(600, ceil(40 * exp(0.9 * sqrt(-2 * log(u)) * cos(2 * M_PI * v))));
            tokens += lengths[i];
        }
        AnswersInFlight own = curve(lengths, count, slots);
        double seconds = 0, truth = simulated(lengths, count, slots, &steps);
        for (int i = 0; i < own.count; i++)
            seconds += own.of[i].steps * step_seconds(own.of[i].answers, own.of[i].generated);
        cr_assert_float_eq(own.steps, steps, 1e-6, "%d: %g steps, simulated %g", problem, own.steps, steps);
        cr_assert_float_eq(own.tokens, tokens, 1e-6 * tokens);
        worst = fmax(worst, fabs(seconds / truth - 1));
    }
    cr_assert_lt(worst, 0.01, "off by %.2g", worst);
}

Test(in_flight, more_slots_and_shorter_answers_never_take_more_steps) {
    srand(8);
    for (int problem = 0; problem < 200; problem++) {
        double lengths[MOST], shorter[MOST];
        int64_t count = 1 + rand() % MOST, slots = 1 + rand() % 50;
        for (int64_t i = 0; i < count; i++) {
            lengths[i] = 1 + rand() % 500;
            shorter[i] = fmin(lengths[i], 200);
        }
        double steps = curve(lengths, count, slots).steps;
        cr_assert_leq(curve(lengths, count, count).steps, steps);
        cr_assert_leq(curve(shorter, count, count).steps, curve(lengths, count, count).steps);
    }
}

/* Whatever segments are cut, they add up: each answer of L tokens is L steps in flight, with L / 2 tokens in the mean;
 * at a segment's beginning those are left that end behind it, by slots that each take the next answer; a segment has
 * about as many in flight everywhere, and begins where that changes by 7% or it has become long. */
Test(in_flight, segments_add_up) {
    srand(9);
    for (int problem = 0; problem < 400; problem++) {
        double lengths[MOST], ends[MOST], slot[MOST] = {0}, squares = 0, longest = 0, at = 0, weighed = 0;
        int64_t count = 1 + rand() % MOST, slots = 1 + rand() % (problem % 2 ? 30 : MOST);
        for (int64_t i = 0; i < count; i++) {
            int64_t free = 0;
            lengths[i] = 1 + rand() % (problem % 3 ? 700 : 5);
            for (int64_t s = 1; s < slots; s++)
                if (slot[s] < slot[free]) free = s;
            ends[i] = slot[free] += lengths[i];
            squares += lengths[i] * lengths[i] / 2, longest = fmax(longest, lengths[i]);
        }
        AnswersInFlight own = curve(lengths, count, slots);
        cr_assert(own.count >= 1 && own.count <= IN_FLIGHT_SEGMENTS_MAX);
        for (int i = 0; i < own.count; i++) {
            const InFlightSegment *part = &own.of[i], *next = i + 1 < own.count ? part + 1 : NULL;
            int64_t left = 0, now = 0, then = 0;
            for (int64_t a = 0; a < count; a++) {
                left += ends[a] > at;
                now += ends[a] > at && ends[a] - lengths[a] <= at;
                then += ends[a] >= at + part->steps && ends[a] - lengths[a] < at + part->steps;
            }
            cr_assert_eq(part->left, left, "%d: segment %d: %g left, %lld", problem, i, part->left, (long long)left);
            cr_assert(part->answers <= now * (1 + 1e-9) && part->answers >= then * (1 - 1e-9),
                      "%d: segment %d: %g in flight, from %lld to %lld", problem, i, part->answers, (long long)now,
                      (long long)then);
            if (i + 1 < IN_FLIGHT_SEGMENTS_MAX) /* the last takes what remains */
                cr_assert_geq(then, 0.85 * now, "%d: segment %d: %lld to %lld", problem, i, (long long)now,
                              (long long)then);
            at += part->steps, weighed += part->steps * part->answers * part->generated;
            bool changed = next && fabs(next->answers - part->answers) > 0.02 * part->answers;
            cr_assert(!next || changed || part->steps >= longest / 49, "%d: segment %d is cut at %g steps", problem, i,
                      part->steps);
        }
        cr_assert_float_eq(weighed, squares, 1e-9 * squares, "%d: %g, not %g", problem, weighed, squares);
        cr_assert_float_eq(at, own.steps, 1e-9 * at);
    }
}
