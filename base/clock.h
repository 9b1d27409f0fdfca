/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/clock.h: seconds since some moment, for limits and timings. The clock is never set back. */
#pragma once

#include <time.h>

static inline double clock_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* As a hook of a search. */
static inline double clock_hook(void *context) {
    (void)context;
    return clock_seconds();
}
