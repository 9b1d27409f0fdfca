/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which runs each line and group of a calibration counts, on runs whose step has a closed form: sixty of three sources
 * on two chips, six of them flagged, and five of a fourth source on a chip that nobody else has. What the figures of
 * some errors are is test_score.c's. */
#include "cost/measured/calibrate.h"
#include "tests/cost/measured/fake_runs.h"

#include <stdlib.h>

enum { RUNS = 60, LONE = 5, FLAGGED = 6, ALL = RUNS + LONE };
static const char *const SOURCES[] = {"a", "b", "c"}, *const MODELS[] = {"7b", "70b", "405b"};

static Fake fake;
static Arena arena;

static void make_runs(void) {
    fake_set(&fake);
    for (int i = 0; i < RUNS; i++) {
        double flops = 0.03 * pow(10, (i * 7 % 24) / 10.0);
        FitRun *run = fake_run(&fake, SOURCES[i % 3], MODELS[i / 8 % 3], 1 + i / 2 % 2, i / 4 % 2, flops,
                               i % 5 == 0 ? flops * 2 : flops * 0.5, i % 2 == 1);
        run->flagged = i % 10 == 3;
    }
    for (int i = 0; i < LONE; i++) fake_run(&fake, "d", "7b", 3, 0, 1 + i, 1, false);
    static char ids[ALL][16];
    for (int i = 0; i < ALL; i++) {
        snprintf(ids[i], sizeof ids[i], "run%d", i);
        fake.runs[i].id = ids[i];
    }
    fake_measure(&fake, 0.05);
    fake_reset(&fake);
}

static void drop_runs(void) { arena_free(&arena); }

TestSuite(calibration, .init = make_runs, .fini = drop_runs);

static Calibration calibration_of(bool exclude_flagged, int folds) {
    static FitProblem problem;
    Calibration c;
    Error error = {0};
    problem = fake_problem(&fake, 2);
    problem.start = FIT_PRIORS;
    CalibrateOptions options = {.exclude_flagged = exclude_flagged, .folds = folds};
    cr_assert(calibrate(&problem, &options, &arena, &c, &error), "%s", error.text);
    return c;
}

static const char *generation_of(int run) { return run >= RUNS ? "lone" : run / 2 % 2 ? "new" : "old"; }

/* Figures of the runs that a line has and these names; NULL: any. */
static ErrorStats errors_of(const double *seconds, const char *source, const char *generation) {
    double errors[ALL];
    int rows[ALL], n = 0;
    ErrorStats stats;
    for (int i = 0; i < ALL; i++) {
        if (!seconds || seconds[i] == 0 || (source && strcmp(source, fake.runs[i].source) != 0) ||
            (generation && strcmp(generation, generation_of(i)) != 0))
            continue;
        rows[n] = i;
        errors[n++] = seconds[i] / fake.runs[i].measured_seconds - 1;
    }
    cr_assert(error_stats(errors, n, &stats));
    if (n > 0) stats.worst_at = rows[stats.worst_at];
    return stats;
}

/* The median magnitude of each source, model and chip. */
static ErrorStats families_of(const double *seconds) {
    double medians[27];
    int families = 0;
    for (int s = 0; s < 4; s++)
        for (int m = 0; m < 3; m++)
            for (int g = 0; g < 3; g++) {
                static const char *const CHIPS[] = {"old", "new", "lone"}, *const NAMES[] = {"a", "b", "c", "d"};
                double errors[ALL];
                int n = 0;
                for (int i = 0; seconds && i < ALL; i++)
                    if (seconds[i] > 0 && strcmp(fake.runs[i].source, NAMES[s]) == 0 &&
                        strcmp(fake.runs[i].model, MODELS[m]) == 0 && strcmp(generation_of(i), CHIPS[g]) == 0)
                        errors[n++] = seconds[i] / fake.runs[i].measured_seconds - 1;
                ErrorStats own;
                if (n > 0 && error_stats(errors, n, &own)) medians[families++] = own.median;
            }
    ErrorStats stats;
    cr_assert(error_stats(medians, families, &stats));
    return stats;
}

static void expect_same(const ErrorStats *found, ErrorStats wanted, const char *name, int line) {
    cr_expect_eq(found->count, wanted.count, "%s, line %d: %d runs, not %d", name, line, (int)found->count,
                 (int)wanted.count);
    cr_expect(found->median == wanted.median && found->p90 == wanted.p90 && found->worst == wanted.worst &&
                  found->bias == wanted.bias,
              "%s, line %d: median %g, not %g", name, line, found->median, wanted.median);
}

static void check_lines(const Calibration *c, const int counts[LINE_COUNT]) {
    for (int line = 0; line < LINE_COUNT; line++) {
        ErrorStats all = errors_of(c->seconds[line], NULL, NULL);
        cr_expect_eq(c->lines[line].count, counts[line], "line %d: %d runs", line, (int)c->lines[line].count);
        expect_same(&c->lines[line], all, "all", line);
        if (all.count > 0) cr_expect_eq(c->lines[line].worst_at, all.worst_at, "line %d", line);
        expect_same(&c->families[line], families_of(c->seconds[line]), "families", line);
        cr_expect_eq(c->families[line].worst_at, -1);
    }
}

/* `lone`: whether the fourth source and its chip count. */
static void check_groups(const Calibration *c, const CalibrateGroup *groups, int count, bool chips, bool lone) {
    static const char *const CHIPS[] = {"lone", "new", "old"}, *const NAMES[] = {"a", "b", "c", "d"};
    const char *const *names = chips ? CHIPS + !lone : NAMES;
    cr_assert_eq(count, (chips ? 2 : 3) + lone);
    for (int g = 0; g < count; g++) {
        const char *name = names[g], *source = chips ? NULL : name, *chip = chips ? name : NULL;
        cr_expect_str_eq(groups[g].name, name);
        expect_same(&groups[g].fitted, errors_of(c->seconds[LINE_FITTED], source, chip), name, LINE_FITTED);
        expect_same(&groups[g].groups, errors_of(c->seconds[LINE_GROUPS], source, chip), name, LINE_GROUPS);
        expect_same(&groups[g].sources, errors_of(c->seconds[LINE_SOURCES], source, chip), name, LINE_SOURCES);
        cr_expect_eq(groups[g].range != NULL, chips && c->crossed, "%s", name);
    }
}

/* The share of the runs of a chip whose measurement lies inside the range of it. */
static double inside(const Calibration *c, const double *seconds, const char *generation) {
    int all = 0, within = 0;
    for (int i = 0; i < ALL; i++) {
        if (seconds[i] == 0 || (generation && strcmp(generation, generation_of(i)) != 0)) continue;
        const LikelyRange *range = NULL;
        for (int p = 0; p < c->set.profile_count; p++)
            if (strcmp(c->set.profiles[p].name, generation_of(i)) == 0) range = &c->ranges.of_profile[p];
        double ratio = fake.runs[i].measured_seconds / seconds[i];
        all++;
        within += ratio >= range->low && ratio <= range->high;
    }
    return (double)within / all;
}

Test(calibration, all_runs) {
    Calibration c = calibration_of(false, 5);
    static const int COUNTS[] = {ALL, ALL, ALL - FLAGGED, ALL, ALL, RUNS, LONE};
    cr_expect(c.usable == ALL && c.flagged == FLAGGED && c.crossed);
    check_lines(&c, COUNTS);
    check_groups(&c, c.by_source, c.source_count, false, true);
    check_groups(&c, c.by_chip, c.chip_count, true, true);
    for (int i = 0; i < ALL; i++) {
        double covered = c.seconds[LINE_COVERED][i], lone = c.seconds[LINE_LONE][i];
        cr_expect_eq(i < RUNS ? covered : lone, c.seconds[LINE_SOURCES][i], "run %d", i);
        cr_expect_eq(i < RUNS ? lone : covered, 0, "run %d", i);
        cr_expect_eq(c.seconds[LINE_REFIT][i] == 0, fake.runs[i].flagged, "run %d", i);
    }
    cr_expect_eq(c.inside_groups, inside(&c, c.seconds[LINE_GROUPS], NULL));
    cr_expect_eq(c.inside_sources, inside(&c, c.seconds[LINE_SOURCES], NULL));
    for (int g = 0; g < c.chip_count; g++)
        cr_expect_eq(c.by_chip[g].inside, inside(&c, c.seconds[LINE_GROUPS], c.by_chip[g].name), "%s",
                     c.by_chip[g].name);
}

/* What is flagged is left out of the fit and of every line, and there is no line without it; a source or a chip of
 * which nothing is left has no group. */
Test(calibration, flagged_runs_left_out) {
    for (int i = RUNS; i < ALL; i++) fake.runs[i].flagged = true;
    Calibration c = calibration_of(true, 0);
    static const int COUNTS[] = {RUNS - FLAGGED, RUNS - FLAGGED, 0, 0, 0, 0, 0};
    cr_expect(c.usable == ALL && c.flagged == FLAGGED + LONE && !c.crossed && !c.seconds[LINE_REFIT]);
    check_lines(&c, COUNTS);
    check_groups(&c, c.by_source, c.source_count, false, false);
    check_groups(&c, c.by_chip, c.chip_count, true, false);
    for (int i = 0; i < ALL; i++) cr_expect_eq(c.seconds[LINE_FITTED][i] == 0, fake.runs[i].flagged, "run %d", i);
}

/* A refit without the flagged runs is a fit that leaves them out. */
Test(calibration, a_refit_is_a_fit_without_them) {
    Calibration both = calibration_of(false, 0), without = calibration_of(true, 0);
    for (int i = 0; i < ALL; i++)
        cr_expect_float_eq(both.seconds[LINE_REFIT][i], without.seconds[LINE_FITTED][i],
                           1e-6 * fake.runs[i].measured_seconds, "run %d", i);
}

/* Runs 40 and 20 are one and the same, and further off than any other; 20 stands first. */
static void two_alike(void) {
    fake.runs[20].measured_seconds *= 1.5;
    const char *id = fake.runs[40].id;
    fake.works[40] = fake.works[20];
    fake.runs[40] = fake.runs[20];
    fake.runs[40].id = id;
}

static double error_of(const double *seconds, int run) { return seconds[run] / fake.runs[run].measured_seconds - 1; }

static const double *ranked_by; /* seconds */

static int further_off(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    double of_x = fabs(error_of(ranked_by, x)), of_y = fabs(error_of(ranked_by, y));
    return of_x != of_y ? (of_x > of_y ? -1 : 1) : x - y;
}

/* Rows "run7 1.234 -5.6% -7.8% +9.0% flagged" of a text. */
static void check_table(char *text, const Calibration *c, int shown) {
    int order[ALL], row = 0;
    for (int i = 0; i < ALL; i++) order[i] = i;
    ranked_by = c->seconds[c->crossed ? LINE_GROUPS : LINE_FITTED];
    qsort(order, ALL, sizeof *order, further_off);
    cr_expect(c->crossed || (order[0] == 20 && order[1] == 40));
    char *at = strstr(text, "\nFurthest off\n"), *line;
    cr_assert(at);
    at++;
    strsep(&at, "\n");
    strsep(&at, "\n");
    while ((line = strsep(&at, "\n")) != NULL && *line && row < ALL) {
        int run = order[row++];
        char wanted[128], found[128] = "";
        snprintf(wanted, sizeof wanted, " %s %.4g %+.1f%%", fake.runs[run].id, fake.runs[run].measured_seconds,
                 100 * error_of(c->seconds[LINE_FITTED], run));
        size_t used = strlen(wanted);
        if (c->crossed)
            used += (size_t)snprintf(wanted + used, sizeof wanted - used, " %+.1f%% %+.1f%%",
                                     100 * error_of(c->seconds[LINE_GROUPS], run),
                                     100 * error_of(c->seconds[LINE_SOURCES], run));
        snprintf(wanted + used, sizeof wanted - used, "%s%s", c->crossed ? "" : " - -",
                 fake.runs[run].flagged ? " flagged" : "");
        for (char *word; (word = strsep(&line, " ")) != NULL;)
            if (*word) snprintf(found + strlen(found), sizeof found - strlen(found), " %s", word);
        cr_expect_str_eq(found, wanted, "row %d:%s, not%s", row, found, wanted);
    }
    cr_expect_eq(row, shown, "%d rows", row);
}

Test(calibration, furthest_off_first) {
    two_alike();
    for (int way = 0; way < 3; way++) {
        Calibration c = calibration_of(false, way == 2 ? 5 : 0);
        const CalibrateFacts facts = {.file = "runs", .sha256 = "", .start = "priors", .runs = ALL, .verbose = way > 0};
        char *text;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        cr_assert(stream && calibrate_text(stream, &c, &facts));
        fclose(stream);
        check_table(text, &c, way > 0 ? 40 : 8);
        free(text);
    }
}
