/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs priced under one set after another have the seconds that a replay under each set has, in whatever order the sets
 * come: a price that is kept is the price. */
#include "cost/measured/prepared.h"
#include "tests/cost/measured/replays.h"

enum { FEW = 60 };

static double of_replay(const Replay *run, const ProfileSet *under) {
    Prediction prediction;
    return !run->skipped[0] && replay_predict(run, under, &prediction) ? prediction.seconds : 0;
}

Test(prepared, seconds_of_replays, .init = replays_setup, .fini = replays_teardown) {
    static ProfileSet sets[3];
    static const int ORDER[] = {0, 1, 0, 2, 1, 2, 0, 0, 1};
    static const int THREADS[] = {1, 2, 7};
    Error error = {0};
    RunTable few = {.runs = train.runs + 100, .count = FEW};
    for (size_t s = 0; s < COUNT_OF(sets); s++) {
        cr_assert(profile_set_default(&arena, &sets[s], &error), "%s", error.text);
        for (int e = 0; s > 0 && e < sets[s].profile_count; e++)
            for (int f = 0; f < sets[s].profiles[e].figure_count; f++)
                if (sets[s].profiles[e].figures[f].sigma > 0)
                    sets[s].profiles[e].figures[f].value *= s == 1 ? 0.9 : e % 2 ? 1 : 0.8;
    }
    for (size_t t = 0; t < COUNT_OF(THREADS); t++) {
        PreparedRuns runs;
        double seconds[FEW];
        cr_assert(prepared_runs(&few, &(PrepareWith){&data, &set, THREADS[t]}, &arena, &runs, &error));
        for (size_t k = 0; k < COUNT_OF(ORDER); k++) {
            const ProfileSet *under = &sets[ORDER[k]];
            cr_assert(prepared_seconds(&runs, under, "test", seconds, &error), "%s", error.text);
            for (int i = 0; i < FEW; i++) {
                Replay again = runs.replays[i];
                if (again.chip_entry) again.chip_entry = &under->profiles[again.chip_entry - set.profiles];
                if (again.stack_entry) again.stack_entry = &under->stacks[again.stack_entry - set.stacks];
                cr_expect_eq(seconds[i], of_replay(&again, under), "%s under set %d", few.runs[i].id, ORDER[k]);
            }
        }
    }
}

Test(prepared, an_entry_that_is_not_there, .init = replays_setup, .fini = replays_teardown) {
    Error error = {0};
    PreparedRuns runs;
    double seconds[1];
    ProfileSet without = set;
    RunTable one = {.runs = train.runs, .count = 1};
    cr_assert(prepared_runs(&one, &(PrepareWith){&data, &set, 1}, &arena, &runs, &error));
    cr_assert(prepared_seconds(&runs, &set, "test", seconds, &error));
    without.profile_count = 0;
    cr_expect_not(prepared_seconds(&runs, &without, "test", seconds, &error));
    cr_expect_not_null(strstr(error.text, "has no entry"), "%s", error.text);
}
