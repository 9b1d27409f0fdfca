/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points whose spaces lie in each other. */
#include "search/sweep/sweep.h"

#include "base/number.h"
#include "base/util.h"
#include "search/answer/contradiction.h"

#include <string.h>

/* Options whose values are shares: the space grows with them, or it shrinks. */
static const struct {
    const char *option;
    bool grows;
} SHARES[] = {{"hbm-reserve", false}, {"max-idle", true}, {"batch-tolerance", true}};

/* Whether the space of `wide` has all that the space of `narrow` has: values of an option of the grid. */
static bool contains(const char *option, const char *wide, const char *narrow) {
    double a, b;
    for (size_t i = 0; i < COUNT_OF(SHARES); i++) {
        if (strcmp(option, SHARES[i].option) != 0) continue;
        if (!number_share(wide, option, 0, 1, &a, NULL) || !number_share(narrow, option, 0, 1, &b, NULL)) return false;
        return SHARES[i].grows ? a > b : a < b;
    }
    return false;
}

/* Whether a faster narrow point contradicts the wide one. */
static bool contradicts(const SweepRow *wide, const SweepRow *narrow) {
    bool proven = wide->state == POINT_OK || wide->state == POINT_NO_PLAN;
    if (!wide->json || !proven || !sweep_has_plan(narrow)) return false;
    if (!sweep_has_plan(wide)) return true;
    double proven_best = sweep_figure(wide, "tokens_per_second");
    return sweep_figure(narrow, "tokens_per_second") > proven_best * (1 + CONTRADICTION) &&
           strcmp(sweep_says(wide, "priced_by"), sweep_says(narrow, "priced_by")) == 0;
}

static bool pair_agrees(const SweepGrid *grid, const SweepRow *wide, const SweepRow *narrow, Error *error) {
    char a[120], b[120];
    if (!contradicts(wide, narrow)) return true;
    return error_set(error, ERROR_INTERNAL, "sweep",
                     "every plan of %s is one of %s, and the first is faster than the proven best of the second: this "
                     "is a defect",
                     sweep_point_text(grid, narrow->point, a, sizeof a),
                     sweep_point_text(grid, wide->point, b, sizeof b));
}

bool sweep_rows_agree(const SweepGrid *grid, const SweepRow *rows, Error *error) {
    if (grid->command) return true;
    int64_t step = grid->points; /* between values of an option, which turns slower than those behind it */
    for (int o = 0; o < grid->option_count; o++) {
        const SweepOption *option = &grid->options[o];
        step /= option->count;
        for (int wide = 0; wide < option->count; wide++)
            for (int narrow = 0; narrow < option->count; narrow++) {
                if (!contains(option->option, option->values[wide], option->values[narrow])) continue;
                for (int64_t i = 0; i < grid->points; i++)
                    if (i / step % option->count == wide &&
                        !pair_agrees(grid, &rows[i], &rows[i + (narrow - wide) * step], error))
                        return false;
            }
    }
    return true;
}
