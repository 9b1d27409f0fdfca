/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goodput against a simulation with its own generator of failures, against Young's and Daly's approximations where they
 * hold, and against what fleets have published; spares against a count of all states. */
#include "cost/goodput.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

static double uniform(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

/* Plays a training second by second of its events: what counts is whole intervals whose checkpoint was written. */
static double simulated(const Failures *f, double interval) {
    enum { INTERVALS = 200000 };
    uint64_t state = 88172645463325252ULL;
    double clock = 0, failure = -log(uniform(&state)) * f->between_failures;
    for (int done = 0; done < INTERVALS;) {
        double end = clock + interval + f->blocking;
        if (end <= failure) {
            clock = end;
            done++;
            continue;
        }
        clock = failure; /* the interval is lost; a restart that fails begins again */
        do {
            failure = clock - log(uniform(&state)) * f->between_failures;
            double ready = clock + f->restart;
            clock = ready <= failure ? ready : failure;
            if (ready <= failure) break;
        } while (1);
    }
    return INTERVALS * interval / clock;
}

Test(goodput, is_what_a_simulation_finds) {
    const Failures ROWS[] = {
        {10987, 600, 30, 0}, {10987, 900, 60, 0}, {175680, 600, 30, 0}, {1800, 600, 30, 0}, {1800, 180, 1, 0}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        double best = goodput_best_interval(&ROWS[i]);
        cr_expect_float_eq(goodput_at(&ROWS[i], best), simulated(&ROWS[i], best), 0.004, "row %zu", i);
        cr_expect_float_eq(goodput_at(&ROWS[i], 3 * best), simulated(&ROWS[i], 3 * best), 0.004, "row %zu", i);
    }
}

Test(goodput, best_interval_is_the_best) {
    for (double mean = 1e3; mean < 1e7; mean *= 7)
        for (double blocking = 0.01; blocking < mean / 4; blocking *= 9) {
            Failures f = {mean, 300, blocking, 0};
            double best = goodput_best_interval(&f), at = goodput_at(&f, best);
            if (best <= 1) continue; /* a second is the least */
            cr_expect(at >= goodput_at(&f, best * 1.01) && at >= goodput_at(&f, best / 1.01), "%g %g", mean, blocking);
            /* Daly 2006: sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + d / 18 M) - d, where d < 2 M */
            double daly =
                sqrt(2 * blocking * mean) * (1 + sqrt(blocking / (2 * mean)) / 3 + blocking / (2 * mean) / 9) -
                blocking;
            cr_expect_float_eq(best / daly, 1, 0.005, "%g against %g", best, daly);
        }
    Failures late = {1e5, 600, 0.1, 500}, free_of_cost = {1e5, 600, 0, 0};
    cr_expect_float_eq(goodput_best_interval(&late), 500, 0);
    cr_expect_float_eq(goodput_best_interval(&free_of_cost), 1, 0);
}

/* Llama 3: 419 unexpected interruptions of 16,384 chips in 54 days, more than 90% of the time effective. With
 * checkpoints that block for a second and restarts of ten minutes it is 93%; with half a minute it would be 88%. */
Test(goodput, llama_3) {
    Failures f = {54 * 86400.0 / 419, 600, 1, 0};
    double good = goodput_at(&f, goodput_best_interval(&f));
    cr_expect(good > 0.92 && good < 0.95, "%g", good);
    f.blocking = 30;
    cr_expect(goodput_at(&f, goodput_best_interval(&f)) < 0.9);
}

Test(goodput, spares) {
    /* 3 units of which 2 are needed, each up with 0.9: 0.9^3 + 3 0.9^2 0.1 */
    cr_expect_float_eq(units_up(2, 1, 9, 1), 0.972, 1e-12);
    cr_expect_float_eq(units_up(5, 0, 9, 1), pow(0.9, 5), 1e-12);
    /* the fewest, by trying */
    for (int64_t needed = 1; needed < 3000; needed = 3 * needed + 1) {
        int64_t spare = spares_needed(needed, 6250, 24, 0.95);
        cr_expect(units_up(needed, spare, 6250, 24) >= 0.95);
        cr_expect(spare == 0 || units_up(needed, spare - 1, 6250, 24) < 0.95);
    }
    cr_expect_eq(spares_needed(2048, 6250, 24, 0.95), 13);
    cr_expect_eq(spares_needed(128, 6250, 24, 0.99), 3);
}
