/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/report/point_fields.h: the figures of one way to serve, each said once, as those of a plan are
 * (search/report/plan_fields.h). */
#pragma once

#include "base/text/field.h"
#include "search/serving/report/serving_report.h"

/* One point with all that its figures are got from. Texts lie in it: it is not to be copied. */
typedef struct {
    ServingPoint point;
    ServingPool pool;                      /* the last, which decodes */
    int64_t rank, chips_idle, concurrency; /* rank below 0: it has none */
    double input_tokens_per_second, transfer_seconds, usd_of_output, usd_of_input, joules; /* below 0: none */
    double tpot_low, tpot_high, ttft_high, memory_bytes, hit_cached,
        hit_copied;                                              /* hits below 0: prefixes have no size */
    const char *notation, *engine, *title, *mode, *model, *chip; /* engine NULL: no engine's rules */
    char text[POINT_TEXT_SIZE];
} PointRecord;

void point_record(const ServingReport *report, const ServingPoint *point, int rank, PointRecord *out);

extern const Field POINT_FIELDS[]; /* of PointRecord, in the order of JSON */
