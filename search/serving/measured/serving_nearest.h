/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/serving_nearest.h: the measured run that says most about an answer. */
#pragma once

#include "search/serving/measured/serving_replay.h"

/* How far a run is from a point: each factor of two in lengths, chips of a worker or sequences of a worker is one
 * step (requests that were all sent at once: three), in the size of the model two, another engine two, another model
 * four, the other number of pools one, other weights and drafts that may have been on one and a half. INFINITY:
 * another chip, a model more than eight times as large or small, a mixture in place of a dense one, nothing that was
 * measured, or drafts. Pure. */
double serving_distance(const ServingQuestion *question, const ServingPoint *point, const Model *model,
                        const ServingRun *run);

/* The nearest of the rows, replayed; the first of equals. out->run NULL: none is of a like kind. */
bool serving_nearest(ServingReplay *with, const ServingRuns *runs, const ServingQuestion *question,
                     const ServingPoint *point, ServingOutcome *out, Error *error);
