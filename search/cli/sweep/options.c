/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/sweep/options.h"

#include "base/text/prose.h"
#include "search/options/machine_words.h"
#include "search/sweep/sweep.h"

#include <string.h>

bool sweep_format_parse(const char *text, SweepFormat *out, Error *error) {
    int format = SWEEP_TEXT;
    bool ok = choice_read(text, "--format", "text json csv markdown html", &format, error);
    *out = (SweepFormat)format;
    return ok;
}

static void warn(const SweepGrid *grid, const SweepRow *rows, FILE *err) {
    char clean[PROSE_SIZE];
    for (int64_t i = 0; i < grid->points; i++) {
        int64_t before = 0;
        while (before < i && strcmp(rows[before].warning, rows[i].warning) != 0) before++;
        if (before == i && rows[i].warning[0])
            fprintf(err, "shardopt: warning: %s\n", clean_text(rows[i].warning, clean, sizeof clean));
    }
}

bool sweep_answer(const SweepGrid *grid, const SweepRow *rows, const SweepOutput *output, Streams streams,
                  Error *error) {
    Draft draft;
    if (!output->quiet) warn(grid, rows, streams.err);
    if (!draft_open(&draft, error)) return false;
    bool ok = sweep_write(grid, rows, &output->goal, output->format,
                          (TextOut){draft.file, output_terminal(streams, output->path)}, error);
    return draft_write(&draft, ok, streams.out, output->path, error) && sweep_rows_agree(grid, rows, error);
}

int sweep_exit(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal) {
    bool any = false;
    for (int64_t i = 0; i < grid->points; i++) {
        if (rows[i].state == POINT_NOT_PROVEN) return EXIT_LIMIT;
        any = any || rows[i].has_plan;
    }
    if (any && sweep_goal_is(goal)) {
        SweepChoice choice;
        sweep_choose(grid, rows, goal, &choice);
        any = choice.reach > 0;
    }
    return any ? EXIT_DONE : EXIT_NO_PLAN;
}
