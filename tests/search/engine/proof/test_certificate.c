/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificate: covered = evaluated + cut for many meshes, against the space counted one by one; what is said of the
 * nearest of what was cut; the same file for any number of threads; and a certificate of wrong bounds, which the
 * checker (tests/certificate/check.py, which knows no bound) turns down. */
#include "search/cli/commands.h"
#include "search/cli/planning.h"
#include "search/engine/proof/certificate.h"
#include "search/report/report.h"
#include "tests/sanitizer.h"
#include "tests/search/brute_space.h"
#include "tests/search/random_problem.h"

#include <stdlib.h>
#include <sys/wait.h>

static SearchResult run(const Request *request, Arena *arena, const char *text) {
    SearchResult result;
    Error error = {0};
    cr_assert(search_run(request, arena, &result, &error), "%s: %s: %s", text, error.where, error.text);
    return result;
}

/* ---- the sum ---- */

static Count evaluated_and_cut(const Certificate *certificate) {
    Count sum = certificate->plans_evaluated;
    for (int i = 0; i < PRUNED_COUNT; i++) sum += certificate->plans_pruned[i];
    return sum;
}

/* Placements x knobs of every degree tuple, machine and batch: in closed form, which test_space.c holds against
 * lists. */
static Count space_size(const Request *request, const SearchResult *result) {
    Count plans = 0;
    for (int m = 0; m < result->certificate.machines; m++) {
        Arena arena = {0};
        Error error = {0};
        const Mesh *mesh = &result->machines[m].machine.mesh;
        CostContext setting = request_cost_context(request);
        KnobDomain domain = knob_domain(&setting, mesh, request->space.schedules);
        PlacementTable *table = placement_table(mesh, request->space.roles, &arena);
        Degrees *tuples;
        int64_t count;
        DegreesList listed = {0};
        cr_assert(table && degrees_enumerate(mesh, request->space.roles, 1000000, &arena, &listed, &error));
        tuples = listed.tuples, count = listed.count;
        cr_expect_eq(count, result->machines[m].degree_tuples);
        for (int64_t i = 0; i < count; i++) {
            int64_t batches[512], batch_count = brute_batches(request, &tuples[i], batches, 512);
            for (int64_t b = 0; b < batch_count; b++)
                plans += placement_count(table, &tuples[i]) *
                         (Count)knob_count(&request->question.model, &tuples[i], batches[b], &domain);
        }
        arena_free(&arena);
    }
    return plans;
}

/* Of each problem the space is counted; the search of the larger ones is ended early, which the sum has to survive. */
Test(certificate, covered_is_evaluated_and_cut) {
    enum { PROBLEMS = 160 / PROBLEMS_SHARE, FEW = 10 / PROBLEMS_SHARE };
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int idle = 0, batches = 0, limited = 0;
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        static const int64_t CHIPS[] = {8, 24, 64, 256};
        Arena own = {0};
        char text[320];
        Draw draw = draw_seeded(70000 + seed);
        Request request = random_request(&draw, &catalog, CHIPS[seed % COUNT_OF(CHIPS)], 96, &own);
        request.control.time_limit_seconds = seed % COUNT_OF(CHIPS) < 2 ? 0.5 : 1e-6;
        problem_text(&request, text);
        SearchResult result = run(&request, &own, text);
        const Certificate *certificate = &result.certificate;
        cr_expect(certificate->plans_covered == evaluated_and_cut(certificate), "%s: covered is not evaluated + cut",
                  text);
        if (result.machines_not_counted == 0) /* where time was up it need not be counted whole */
            cr_expect(certificate->plans_covered == space_size(&request, &result), "%s: the space has another size",
                      text);
        idle += certificate->machines > 1;
        batches += certificate->batches > 1;
        limited += certificate->plans_pruned[PRUNED_TIME_LIMIT] > 0;
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(idle > FEW && batches > FEW && limited > FEW, "%d with idle shapes, %d with batches, %d ended early",
              idle, batches, limited);
}

/* ---- the nearest of what was cut, and the file ---- */

static char *file_text(const Request *request, const SearchResult *result, const char *text) {
    char *file = NULL;
    size_t length = 0;
    Error error = {0};
    SearchRecord record = {request, result, ""};
    FILE *memory = open_memstream(&file, &length);
    cr_assert_not_null(memory);
    cr_assert(certificate_write(&record, memory, &error), "%s: %s: %s", text, error.where, error.text);
    fclose(memory);
    return file;
}

static void check_nearest(const Certificate *certificate, const char *text) {
    double above = certificate->threshold * (1 + 1e-12);
    cr_expect(certificate->least_above_threshold.bound > above || isinf(certificate->threshold),
              "%s: %.17g is not above %.17g", text, certificate->least_above_threshold.bound, above);
    cr_expect(certificate->least_cut.bound <= certificate->least_above_threshold.bound, "%s: the least is another",
              text);
    cr_expect(isinf(certificate->least_cut.bound) || certificate->least_cut.bound == certificate->best_bound_seconds,
              "%s: the least bound %.17g is not %.17g", text, certificate->least_cut.bound,
              certificate->best_bound_seconds);
    for (int i = 0; i < certificate->closest_count; i++) {
        const CutTuple *cut = &certificate->closest[i];
        cr_expect(!cut->expanded && cut->bound >= certificate->least_above_threshold.bound, "%s: closest %d", text, i);
        cr_expect(i == 0 || cut->bound >= cut[-1].bound, "%s: closest %d", text, i);
    }
}

Test(certificate, is_the_same_for_any_number_of_threads) {
    enum { PROBLEMS = 40 / PROBLEMS_SHARE, FEW = 5 / PROBLEMS_SHARE };
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int closest = 0, beyond = 0;
    for (uint64_t seed = 0, done = 0; done < PROBLEMS; seed++) {
        Arena own = {0};
        char text[320];
        Draw draw = draw_seeded(80000 + seed);
        Request request = random_request(&draw, &catalog, 16, 16, &own);
        problem_text(&request, text);
        request.control.keep_search_log = true;
        request.control.top = 1 + (int)(seed % 4);
        SearchResult one = run(&request, &own, text);
        if (one.certificate.plans_covered <= 100000 && one.certificate.proof == PROOF_OPTIMAL) {
            done++;
            check_nearest(&one.certificate, text);
            closest += one.certificate.closest_count > 0;
            beyond += isfinite(one.certificate.least_above_threshold.bound);
            char *expected = file_text(&request, &one, text);
            for (request.control.threads = 2; request.control.threads <= 5; request.control.threads += 3) {
                SearchResult more = run(&request, &own, text);
                char *file = file_text(&request, &more, text);
                cr_expect_str_eq(file, expected, "%s: %d threads write another file", text, request.control.threads);
                free(file);
            }
            free(expected);
        }
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(closest > FEW && beyond > 2 * FEW, "%d with tuples cut whole, %d with anything", closest, beyond);
}

/* ---- wrong bounds ---- */

/* Plans with bounds times 1 + `raised`, writes report and certificate, and has them checked: the checker's exit
 * code. */
static int checked(const char *const *words, int count, double raised) {
    char folder[] = "/tmp/shardopt-test-XXXXXX", path[64], command[1024];
    Arena arena = {0};
    Error error = {0};
    Options options;
    Report report;
    cr_assert_not_null(mkdtemp(folder));
    cr_assert(options_parse(count, (char **)words, &COMMAND_PLAN, &arena, &options, &error), "%s", error.text);
    Request *request = ARENA_NEW(&arena, Request, 1);
    cr_assert(request_from_options(&options, &arena, request, &error), "%s: %s", error.where, error.text);
    request->control.keep_search_log = true;
    request->control.bound_error = raised;
    cr_assert(report_make(request, &arena, &report, &error), "%s: %s", error.where, error.text);
    snprintf(path, sizeof path, "%s/report.json", folder);
    FILE *out = fopen(path, "w");
    cr_assert(out && report_write_json(&report, false, out, &error) && fclose(out) == 0, "%s", error.text);
    snprintf(path, sizeof path, "%s/certificate.tsv", folder);
    out = fopen(path, "w");
    cr_assert(out && certificate_write(&(SearchRecord){request, &report.result, report.data_sha256}, out, &error) &&
                  fclose(out) == 0,
              "%s", error.text);
    snprintf(command, sizeof command,
             "cd %s && python3 %s/tests/certificate/check.py certificate.tsv report.json %s 10 > said 2>&1; "
             "code=$?; rm -r %s; exit $code",
             folder, SHARDOPT_SOURCE_DATA, SHARDOPT_PROGRAM, folder);
    int status = system(command);
    arena_free(&arena);
    cr_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Bounds at twice their height cut plans that are faster than they say: planned alone, they show it. */
Test(certificate, of_wrong_bounds_is_turned_down) {
    static const char *const ROWS[][10] = {
        {"plan", "--model", "8b", "--chip", "v5e", "--slice", "4x4", "--top", "2"},
        {"plan", "--model", "8b", "--chip", "h100", "--nodes", "2", "--top", "2"},
    };
    if (system("python3 -c 'import json' 2> /dev/null") != 0) cr_skip_test("no python3");
    for (size_t i = 0; i < COUNT_OF(ROWS); i += PROBLEMS_SHARE) {
        cr_expect_eq(checked(ROWS[i], 9, 0), 0, "%s on %s: the right bounds", ROWS[i][2], ROWS[i][4]);
        cr_expect_eq(checked(ROWS[i], 9, 1), 1, "%s on %s: bounds twice as high", ROWS[i][2], ROWS[i][4]);
    }
}
