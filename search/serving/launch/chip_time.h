/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/launch/chip_time.h: where the chips' time of a token goes: chip-seconds for each output token, which
 * are one over the rate of a chip, split over the terms of the steps. Of two ways to serve the differences of the
 * rows add up to the difference of the whole. Pure. */
#pragma once

#include "search/serving/point.h"

enum { CHIP_TIME_IDLE = STEP_TERMS, CHIP_TIME_ROWS };
typedef struct {
    double seconds[CHIP_TIME_ROWS]; /* of a chip, for one output token; they add up to 1 / point->per_chip */
    double total;
} ChipTime;

/* A pool's chips are parted as its mean step is, those that no pool has are idle. */
void chip_time(const ServingQuestion *question, const ServingPoint *point, ChipTime *out);

const char *chip_time_name(int row); /* "matmul" ... "idle chips" */

/* The row that costs the first most beyond the second; -1: none does. */
int chip_time_most(const ChipTime *first, const ChipTime *second);
