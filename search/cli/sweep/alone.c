/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that was built without MPI is always alone: rank 0 of 1, and nobody to serve or to ask. */
#include "search/cli/sweep/spread.h"

static int64_t no_point(void *of) {
    (void)of;
    return -1;
}

static bool nobody_takes(void *of, const char *row, size_t length, Error *error) {
    (void)of, (void)row, (void)length;
    return error_set(error, ERROR_INTERNAL, "sweep", "a row has nobody to go to; this is a defect");
}

SweepCrew spread_start(void) { return (SweepCrew){0, 1, false}; }

void spread_end(SweepCrew crew) { (void)crew; }

bool spread_serve(SweepCrew crew, const SweepLog *search_log, const char *mark, Error *error) {
    (void)crew, (void)search_log, (void)mark, (void)error;
    return true;
}

SweepLog spread_remote(const char *mark) {
    (void)mark;
    return (SweepLog){NULL, no_point, nobody_takes};
}

void spread_fail(const Error *error) { (void)error; }
