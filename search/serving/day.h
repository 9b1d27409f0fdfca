/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/day.h: replicas hour by hour for a curve of rates. */
#pragma once

#include "search/serving/answer.h"

enum { DAY_HOURS_MAX = 8784, HOUR_LABEL_SIZE = 24 };

typedef struct {
    char label[HOUR_LABEL_SIZE]; /* "08:00"; the line's number where it has none */
    double rate;                 /* requests per second */
    int64_t replicas;            /* at least one */
} ServingHour;

typedef struct {
    ServingHour *hours;
    int count;            /* 0: no curve was given */
    const char *left_out; /* rows of the file that could not be read, for a warning; NULL: none */
    double peak;
    const ServingPoint *point; /* what each replica is; NULL: nothing serves the peak within the limits */
    double replica_rate;       /* requests per second that one takes */
    int64_t replica_chips;
    double chip_hours, peak_chip_hours; /* in sum; were all replicas of the peak kept */
} ServingDay;

/* Reads lines of "[LABEL] RATE[/s]", an hour each; # begins a comment; others are left out (base/rows.h). */
bool serving_day_read(const char *text, const char *where, Arena *arena, ServingDay *out, Error *error);

/* Of the front's points of one pool that keep the answer's goals as its best does, the one whose replicas take the
 * fewest chip-hours in sum: each hour has as many as its rate needs. The answer is that of the peak's rate. */
void serving_day_plan(const ServingQuestion *question, const ServingAnswer *answer, ServingDay *day);
