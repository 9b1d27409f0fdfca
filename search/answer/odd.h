/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/odd.h: what of a plan hardly anybody runs. The model errs more where nothing was measured, and a
 * search finds where it errs; so plans are ranked as if each of these cost one `plan_error` of the profile, or half of
 * it where many runs have it. The printed step is without it. */
#pragma once

#include "base/text/prose.h"
#include "cost/stage/stage.h"

/* A bit for each row of the table in odd.c; 0: nothing is odd. */
typedef unsigned OddSet;

/* By degrees and knobs alone, without microbatches and what is on the host, which are chosen by comparing plans
 * (docs/search.md, L13 and L22). Of GPUs: on a torus there are few plans, and those are run. */
OddSet plan_odd(const CostContext *setting, const Degrees *degrees, const Knobs *knobs);

/* What the rank is longer by than the step: a factor, >= 1. */
double odd_factor(const Profile *profile, OddSet odd);

int odd_count(OddSet odd);

/* The most that it can be. */
double odd_most(const Profile *profile);

/* The least of it over all knobs of some degrees, for bounds. */
double odd_least(const CostContext *setting, const Degrees *degrees);

/* "stages that are no power of two nor divide the layers, chunks of one layer" */
void odd_words(OddSet odd, Prose *out);
