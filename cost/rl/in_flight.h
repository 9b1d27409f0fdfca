/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/rl/in_flight.h: how many answers one replica generates at once, from the first token of a batch to the end of
 * its longest answer. Every answer in flight gains one token in each step of decode, so that who is in flight at which
 * step follows from lengths and slots alone, whatever a step takes; its seconds are then a sum over few segments. Pure.
 */
#pragma once

#include <stdint.h>

enum { IN_FLIGHT_SEGMENTS_MAX = 240 };

/* Steps of decode alongside each other with about as many answers. */
typedef struct {
    double steps;
    double answers;   /* in flight, mean */
    double generated; /* tokens that each has by then, mean */
    double left;      /* answers that have not ended, waiting ones too, at its beginning */
} InFlightSegment;

typedef struct {
    InFlightSegment of[IN_FLIGHT_SEGMENTS_MAX];
    int count;
    double steps, tokens; /* of all segments: until the last answer ends, and answers x steps */
} AnswersInFlight;

/* Answers of these lengths (tokens, 1 or more) begin in this order, at most `slots` at once, each as soon as one before
 * it ends. `room`: 2 x count doubles to work in. */
void answers_in_flight(const double *lengths, int64_t count, int64_t slots, double *room, AnswersInFlight *out);
