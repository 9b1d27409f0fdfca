/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that were prepared once have under each profile the figures that a replay under it has, in whatever order
 * profiles come and for any number of threads. */
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "search/serving/measured/serving_prepared.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ROWS = 60 };
static Arena arena;
static ServingRuns runs;
static cJSON *profiles[2]; /* the default one, without what was fitted and with it */
static const char *where;

static void setup(void) {
    Error error = {0};
    ServingRuns all;
    const char *folder = file_data_folder("cost/measured/data", &arena, &error);
    cr_assert(folder, "%s", error.text);
    cr_assert(serving_runs_read(arena_format(&arena, "%s/serving.jsonl", folder), NULL, &arena, &all, &error), "%s",
              error.text);
    runs = (ServingRuns){.runs = ARENA_NEW(&arena, ServingRun, ROWS), .count = ROWS};
    for (int64_t i = 0; i < ROWS; i++) runs.runs[i] = all.runs[i * (all.count / ROWS)];
    for (size_t p = 0; p < COUNT_OF(profiles); p++) {
        profiles[p] = serving_profile_open("default", &arena, &where, &error);
        cr_assert(profiles[p], "%s", error.text);
    }
    cJSON_DeleteItemFromObjectCaseSensitive(profiles[0], "fits");
}

static void teardown(void) {
    for (size_t p = 0; p < COUNT_OF(profiles); p++) cJSON_Delete(profiles[p]);
    arena_free(&arena);
}

static bool same(const ServingOutcome *a, const ServingOutcome *b) {
    return strcmp(a->skipped, b->skipped) == 0 && a->predicted.tpot_seconds == b->predicted.tpot_seconds &&
           a->predicted.ttft_seconds == b->predicted.ttft_seconds &&
           a->predicted.tokens_per_second == b->predicted.tokens_per_second && a->resident == b->resident;
}

Test(serving_prepared, figures_of_replays, .init = setup, .fini = teardown) {
    static const int ORDER[] = {1, 0, 1, 1, 0}, THREADS[] = {1, 2, 7};
    static ServingOutcome alone[2][ROWS];
    static PreparedServing prepared;
    Error error = {0};
    int64_t moved = 0;
    for (int p = 0; p < 2; p++) {
        ServingReplay with = {.profile = profiles[p], .where = where, .arena = &arena};
        for (int64_t i = 0; i < ROWS; i++)
            cr_assert(serving_replay(&with, &runs.runs[i], &alone[p][i], &error), "%s", error.text);
    }
    for (size_t t = 0; t < COUNT_OF(THREADS); t++) {
        ServingReplay with = {.profile = profiles[0], .where = where, .arena = &arena};
        cr_assert(serving_prepare(&runs, &with, THREADS[t], &prepared, &error), "%s", error.text);
        for (size_t k = 0; k < COUNT_OF(ORDER); k++) {
            cr_assert(serving_prepared_replay(&prepared, profiles[ORDER[k]], where, NULL, &error), "%s", error.text);
            for (int64_t i = 0; i < ROWS; i++) {
                cr_expect(same(&prepared.outcomes[i], &alone[ORDER[k]][i]), "%s by %d threads", runs.runs[i].id,
                          THREADS[t]);
                moved += !same(&alone[0][i], &alone[1][i]);
            }
        }
    }
    cr_expect_gt(moved, 0, "what was fitted moves some");
}

/* A row that is not wanted keeps what it had. */
Test(serving_prepared, rows_that_are_wanted, .init = setup, .fini = teardown) {
    static PreparedServing prepared;
    static ServingOutcome before[ROWS];
    bool wanted[ROWS] = {false};
    Error error = {0};
    ServingReplay with = {.profile = profiles[0], .where = where, .arena = &arena};
    cr_assert(serving_prepare(&runs, &with, 2, &prepared, &error), "%s", error.text);
    memcpy(before, prepared.outcomes, sizeof before);
    cr_assert(serving_prepared_replay(&prepared, profiles[1], where, wanted, &error), "%s", error.text);
    for (int64_t i = 0; i < ROWS; i++) cr_expect(same(&prepared.outcomes[i], &before[i]), "%s", runs.runs[i].id);
}

/* Cells are engines on entries: no two are alike, and chips that are fitted together share one. */
Test(serving_prepared, cells, .init = setup, .fini = teardown) {
    static PreparedServing prepared;
    Error error = {0};
    ServingReplay with = {.profile = profiles[0], .where = where, .arena = &arena};
    cr_assert(serving_prepare(&runs, &with, 1, &prepared, &error), "%s", error.text);
    cr_expect_gt(prepared.cell_count, 3);
    for (int a = 0; a < prepared.cell_count; a++)
        for (int b = 0; b < a; b++) {
            const ServingCell *x = &prepared.cells[a], *y = &prepared.cells[b];
            cr_expect(x->engine != y->engine || x->chips != y->chips || x->older != y->older);
        }
    for (int64_t i = 0; i < ROWS; i++)
        if (prepared.outcomes[i].skipped[0]) cr_expect_eq(prepared.cell_of[i], -1, "%s", runs.runs[i].id);
}
