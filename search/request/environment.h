/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a search knows of its environment. It has no clock of its own and sees no signal: the caller hands both in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far a search is. */
/* What a search does, in the order in which each share of a space goes through it. */
typedef enum {
    SEARCH_OPENING,  /* tuples of degrees, which are looked into: the only one with plans and a bound */
    SEARCH_COUNTING, /* the plans of machines */
    SEARCH_BOUNDING, /* tuples of degrees, each by itself */
} SearchStage;

typedef struct {
    SearchStage stage;
    double seconds;       /* since it began; 0 without a clock */
    bool found;           /* whether some plan is known */
    double best_seconds;  /* ranked time of the best plan so far */
    double bound_seconds; /* ranked; no plan that has not been looked at is faster */
    /* Machines or tuples of degrees done, of those that this pass has to do as far as is known. */
    int64_t done, all;
} SearchProgress;

/* All zero is an environment without a clock, in which nobody interrupts and nobody looks. */
typedef struct {
    void *context;
    /* Seconds since some moment, never set back. NULL means that there is no clock: no time limit is kept, and a search
     * takes 0 seconds. */
    double (*seconds)(void *context);
    /* Whether to end with what is known. It is called often and from any thread, so it must be cheap and must not go
     * back to false. NULL means never. */
    bool (*interrupted)(void *context);
    /* Called now and then by the thread that searches. NULL means that nobody looks. */
    void (*progress)(void *context, const SearchProgress *progress);
} Environment;

static inline double environment_clock(const Environment *environment) {
    return environment->seconds ? environment->seconds(environment->context) : 0;
}

static inline bool environment_stops(const Environment *environment) {
    return environment->interrupted && environment->interrupted(environment->context);
}
