/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates of serving searches: each batch of each layout is in one line, and they add up to what the answer
 * counts; what time cut off has no bound. */
#include "search/serving/ledger.h"

#include "base/util.h"
#include "tests/sanitizer.h"
#include "tests/search/serving/problems.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 20, WHAT = 15, LOW, HIGH, USER, CHIP, PROBLEMS = 24 };

typedef struct {
    Count covered, cut[CUT_COUNT], left[LEFT_COUNT];
} Tally;

static int split(char *line, char *cells[COLUMNS]) {
    int count = 0;
    for (char *cell; count < COLUMNS && (cell = strsep(&line, "\t")) != NULL;) cells[count++] = cell;
    return line ? COLUMNS + 1 : count;
}

static void add_line(char *line, Tally *tally) {
    char *cells[COLUMNS];
    cr_assert_eq(split(line, cells), COLUMNS, "%s", line);
    Count batches = (Count)(atoll(cells[HIGH]) - atoll(cells[LOW]) + 1);
    double user = strtod(cells[USER], NULL), chip = strtod(cells[CHIP], NULL);
    bool known = false;
    for (int i = 0; i < CUT_COUNT; i++) {
        if (strcmp(cells[WHAT], cut_reason_name((CutReason)i)) != 0) continue;
        known = true;
        tally->cut[i] += batches;
        cr_expect(i != CUT_TIME || (user == 0 && chip == 0), "nothing is known of what time cut off");
        cr_expect(i != CUT_BOUND || (user > 0 && chip > 0));
    }
    for (int i = 0; i < LEFT_COUNT; i++)
        if (strcmp(cells[WHAT], left_out_name((LeftOut)i)) == 0) tally->left[i]++, known = true;
    if (known) return;
    cr_expect_str_eq(cells[WHAT], "layout");
    tally->covered += batches;
}

static Tally answer(ServingQuestion *question, ServingAnswer *out, Arena *arena) {
    char *text = NULL, *rest;
    size_t length = 0;
    Error error = {0};
    Tally tally = {0};
    question->certificate = open_memstream(&text, &length);
    cr_assert(question->certificate && serving_answer(question, arena, out, &error), "%s", error.text);
    cr_assert_eq(fclose(question->certificate), 0);
    rest = text;
    strsep(&rest, "\n"); /* the names of the columns */
    for (char *line; (line = strsep(&rest, "\n")) && *line;) add_line(line, &tally);
    free(text);
    return tally;
}

/* A clock that goes on by a second each time somebody looks at it. */
static double looked;
static int tried_late;
static double look(void *context) {
    (void)context;
    return looked++;
}

/* One pool, whose batches all stand in the certificate. */
static void check(uint64_t seed, const Catalog *catalog, const cJSON *profile, bool timed) {
    ServingQuestion question = random_question(seed, catalog, profile);
    Arena arena = {0};
    ServingAnswer out;
    question.modes = 1u << SERVE_AGGREGATED;
    question.world.seconds = look;
    question.time_limit_seconds = timed ? (double)(seed % 7) + 0.5 : 0;
    Tally tally = answer(&question, &out, &arena);
    const ServingCount *count = &out.count;
    for (int i = 0; i < CUT_COUNT; i++)
        cr_expect(tally.cut[i] == count->cut[i], "problem %d: %s", (int)seed, cut_reason_name((CutReason)i));
    for (int i = 0; i < LEFT_COUNT; i++)
        cr_expect(tally.left[i] == count->space.left[i], "problem %d: %s", (int)seed, left_out_name((LeftOut)i));
    Count evaluated = tally.covered;
    for (int i = 0; i < CUT_COUNT; i++) evaluated -= tally.cut[i];
    cr_expect(tally.covered == count->covered && evaluated == count->evaluated, "problem %d", (int)seed);
    cr_expect_eq(count->complete, count->cut[CUT_TIME] == 0, "problem %d", (int)seed);
    tried_late += !count->complete;
    serving_answer_free(&out);
    arena_free(&arena);
}

Test(serving_ledger, adds_up) {
    Arena kept = {0};
    Catalog catalog;
    Error error = {0};
    const char *path;
    cr_assert(catalog_load(&kept, &catalog, &error), "%s", error.text);
    cJSON *profile = serving_profile_open("default", &kept, &path, &error);
    cr_assert(profile, "%s", error.text);
    for (uint64_t seed = 1; seed <= PROBLEMS / PROBLEMS_SHARE; seed++) {
        check(seed, &catalog, profile, false);
        check(seed, &catalog, profile, true);
    }
    cr_expect_gt(tried_late, 5 / PROBLEMS_SHARE);
    cJSON_Delete(profile);
    arena_free(&kept);
}
