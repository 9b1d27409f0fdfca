/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fronts of points on a small grid, where many are equal in one rate or in both, against every pair of points. */
#include "search/serving/front.h"

#include "base/util.h"
#include "tests/search/serving/problems.h"

enum { POINTS = 60, TRIED = 200 };

/* At least as much of both, and more of one. */
static bool beats(const ServingPoint *a, const ServingPoint *b) {
    return a->per_user >= b->per_user && a->per_chip >= b->per_chip &&
           (a->per_user > b->per_user || a->per_chip > b->per_chip);
}

/* Whether `a` comes before `b` of the same rates: by the first token, chips, mode, and then by what they are. */
static bool before(const ServingPoint *a, const ServingPoint *b) {
    const int64_t of[][2] = {{(int64_t)a->ttft_seconds, (int64_t)b->ttft_seconds},
                             {a->chips_used, b->chips_used},
                             {a->mode, b->mode},
                             {a->pools[0].on.engine, b->pools[0].on.engine},
                             {a->pools[0].on.key, b->pools[0].on.key},
                             {a->pools[0].batch, b->pools[0].batch}};
    for (size_t i = 0; i < COUNT_OF(of); i++)
        if (of[i][0] != of[i][1]) return of[i][0] < of[i][1];
    return false;
}

static ServingPoint random_point(Dice *dice) {
    ServingPoint point = {.per_user = (double)(1 + roll(dice, 8)),
                          .per_chip = (double)(1 + roll(dice, 8)),
                          .ttft_seconds = (double)roll(dice, 2),
                          .chips_used = (int64_t)roll(dice, 2),
                          .mode = (ServingMode)roll(dice, 2),
                          .pool_count = 1};
    point.pools[0].on.engine = (int)roll(dice, 2);
    point.pools[0].on.key = (int64_t)roll(dice, 2);
    point.pools[0].batch = (int64_t)roll(dice, 2);
    return point;
}

Test(front, is_what_no_pair_beats) {
    for (uint64_t seed = 1; seed <= TRIED; seed++) {
        Dice dice = {seed * 2654435761u};
        ServingPoint points[POINTS];
        ServingFront front = {0};
        Error error = {0};
        int left = 0;
        for (int i = 0; i < POINTS; i++) {
            points[i] = random_point(&dice);
            cr_assert(front_add(&front, &points[i], &error));
        }
        for (int i = 0; i < POINTS; i++) {
            bool kept = true;
            for (int j = 0; j < POINTS; j++) {
                bool same = points[i].per_user == points[j].per_user && points[i].per_chip == points[j].per_chip;
                if (beats(&points[j], &points[i]) || (same && before(&points[j], &points[i]))) kept = false;
                if (same && j < i && !before(&points[i], &points[j])) kept = false; /* alike in all: counted once */
            }
            if (!kept) continue;
            left++;
            bool found = false;
            for (int k = 0; k < front.count; k++)
                found = found || (front.points[k].per_user == points[i].per_user &&
                                  front.points[k].per_chip == points[i].per_chip &&
                                  !before(&front.points[k], &points[i]) && !before(&points[i], &front.points[k]));
            cr_expect(found, "problem %d: point %d", (int)seed, i);
        }
        cr_expect_eq(front.count, left, "problem %d: %d, not %d", (int)seed, front.count, left);
        for (int k = 0; k + 1 < front.count; k++)
            cr_expect(front.points[k].per_user > front.points[k + 1].per_user &&
                      front.points[k].per_chip < front.points[k + 1].per_chip);
        front_free(&front);
    }
}

/* Equal rates are not beaten, less of one of them is. */
Test(front, what_is_beaten) {
    ServingFront front = {0};
    Error error = {0};
    static const double RATES[][2] = {{10, 1}, {5, 5}, {1, 10}};
    for (size_t i = 0; i < COUNT_OF(RATES); i++) {
        ServingPoint point = {.per_user = RATES[i][0], .per_chip = RATES[i][1], .pool_count = 1};
        cr_assert(front_add(&front, &point, &error));
        cr_expect_not(front_beats(&front, RATES[i][0], RATES[i][1]), "%zu", i);
        cr_expect(front_beats(&front, RATES[i][0] * 0.9, RATES[i][1]), "%zu", i);
        cr_expect(front_beats(&front, RATES[i][0], RATES[i][1] * 0.9), "%zu", i);
        cr_expect_not(front_beats(&front, RATES[i][0] * 1.1, RATES[i][1]), "%zu", i);
    }
    cr_expect_not(front_beats(&front, 7, 4));
    cr_expect_not(front_beats(&front, 11, 0.1));
    cr_expect_not(front_beats(&front, 0.1, 11));
    front_free(&front);
}
