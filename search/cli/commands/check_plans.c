/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/check_plans.h"

#include "base/json.h"
#include "base/locale.h"
#include "base/number.h"
#include "base/threads.h"
#include "base/util.h"
#include "search/answer/contradiction.h"
#include "search/cli/commands/kinds.h"
#include "search/cli/planning.h"
#include "search/launch/import.h"
#include "search/options/data_files.h"
#include "search/options/one_plan.h"
#include "search/sweep/sweep.h"

#include <omp.h>
#include <stdlib.h>

void checked_entries_free(const CheckedEntry *entries, int count) {
    for (int i = 0; i < count && entries; i++)
        for (int k = 0; k < 2; k++) cJSON_Delete(entries[i].own[k]);
}

/* ---- a search as the short report of it ---- */

/* `request` stands in it in place of the report's own; NULL means that its own stays. */
static bool snapshot_take(Report *report, const cJSON *request, const char *data_sha256, Arena *arena, cJSON **json,
                          Snapshot *out, Error *error) {
    snprintf(report->data_sha256, sizeof report->data_sha256, "%s", data_sha256);
    if (!data_files_name(report, arena, error)) return false;
    cJSON *whole = report_json(report, error);
    if (!whole) return false;
    json_settle(whole);
    *json = baseline_compact(whole, request ? request : cJSON_GetObjectItemCaseSensitive(whole, "request"));
    cJSON_Delete(whole);
    return *json ? snapshot_read(*json, "report", out, error) : error_memory(error);
}

/* ---- one entry of a baseline ---- */

static bool of_the_entry(const Error *failure) { return failure->kind == ERROR_INPUT || failure->kind == ERROR_IO; }

/* Limits of the command line in place of those that a baseline has. */
static void take_limits(const Options *line, Options *words) {
    static const Option LIMITS[] = {OPTION_TIME_LIMIT, OPTION_MEMORY_LIMIT};
    for (size_t i = 0; i < COUNT_OF(LIMITS); i++) {
        if (!line->text[LIMITS[i]]) continue;
        words->text[LIMITS[i]] = line->text[LIMITS[i]];
        words->where[LIMITS[i]] = line->where[LIMITS[i]];
    }
}

static bool resolve(const CheckRun *run, const BaselineEntry *from, Arena *arena, Request *out, Error *error) {
    Options words = *run->options;
    if (!report_request_read(from->report, from->where, arena, &words, error)) return false;
    words.text[OPTION_TOP] = words.text[OPTION_VARIANTS] = NULL;
    take_limits(run->options, &words);
    if (!request_from_options(&words, arena, out, error)) return false;
    out->control.top = 1;
    out->control.different = false;
    if (run->apart) out->control.threads = 1;
    return true;
}

/* Where another plan took the old one's place: whether its price moved. What stands in the baseline may be no plan of
 * this program any more; one that is faster than the best of now is a defect. */
static bool price_old_plan(const Report *best, const BaselineEntry *from, Arena *arena, CheckedEntry *entry,
                           Error *error) {
    Error unread = {0};
    ReportPlan plan = {0};
    SearchResult result = {0};
    Request *pinned = ARENA_NEW(arena, Request, 1);
    if (!pinned) return error_memory(error);
    *pinned = *best->request;
    if (!report_plan_read(from->report, from->where, 1, &plan, &unread) ||
        !one_plan_pin(&plan, from->where, pinned, &unread))
        return true;
    if (!one_plan_search(pinned, &plan, arena, &result, error)) return false;
    if (result.plan_count > 0 && !proof_stands(best->request, &best->result, result.request, &result.plans[0], error))
        return false;
    if (entry->status != STATUS_WORSE || result.certificate.proof == PROOF_GAP) return true;
    entry->old_plan = result.plan_count > 0    ? OLD_PLAN_PRICED
                      : result.shortfall.known ? OLD_PLAN_TOO_LARGE
                                               : OLD_PLAN_NONE;
    if (result.plan_count > 0) entry->old_plan_seconds = result.plans[0].estimate.time.seconds;
    return true;
}

bool training_again(const CheckRun *run, const BaselineEntry *from, Arena *arena, CheckedEntry *entry,
                    Error *error) {
    const cJSON *own = from->has_plans ? cJSON_GetObjectItemCaseSensitive(from->report, "request") : NULL;
    Report *report = ARENA_NEW(arena, Report, 1);
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!report || !request) return error_memory(error);
    if (!resolve(run, from, arena, request, error) || !sweep_search(request, arena, report, error) ||
        !snapshot_take(report, own, run->data_sha256, arena, &entry->own[1], &entry->now, error))
        return false;
    baseline_compare(run->tolerance, entry);
    Error old = {0};
    if (entry->same_plan || !baseline_has_both(entry) || price_old_plan(report, from, arena, entry, &old) ||
        of_the_entry(&old))
        return true;
    *error = old;
    return false;
}

bool serving_again(const CheckRun *run, const BaselineEntry *from, Arena *arena, CheckedEntry *entry, Error *error) {
    cJSON **json = &entry->own[1];
    Options *words = ARENA_NEW(arena, Options, 1);
    Served *served = ARENA_NEW(arena, Served, 1);
    if (!words || !served) return error_memory(error);
    words->environment = run->options->environment;
    if (!serving_options_of_report(from->report, from->where, words, error)) return false;
    take_limits(run->options, words);
    bool ok = serve(words, arena, served, error);
    *json = ok ? serving_json(&served->report) : NULL;
    served_free(served);
    if (!ok) return false;
    if (!*json) return error_memory(error);
    json_settle(*json);
    if (!snapshot_read(*json, "report", &entry->now, error)) return false;
    baseline_compare(run->tolerance, entry);
    return true;
}

/* What is wrong with an entry is its status; what is wrong with the machine we run on ends the check. */
static bool check_entry(const CheckRun *run, const BaselineEntry *from, CheckedEntry *entry, Error *error) {
    IN_LOCALE_C; /* a thread of its own */
    Arena arena = {0};
    Error failure = {0};
    *entry = (CheckedEntry){.name = from->name, .was = from->was, .edited = from->edited, .has_was = from->has_plans};
    bool ok = kind_of_report(from->report)->again(run, from, &arena, entry, &failure);
    if (!ok && of_the_entry(&failure)) {
        entry->now = (Snapshot){0};
        snprintf(entry->message, sizeof entry->message, "%s: %s", failure.where, failure.text);
        baseline_compare(run->tolerance, entry);
    } else if (!ok) {
        *error = failure;
    }
    arena_free(&arena);
    return error->kind == ERROR_NONE;
}

static void show_progress(const CheckedEntry *entry, int done, int count, FILE *progress) {
    char name[PROSE_SIZE], step[NUMBER_TEXT_SIZE] = "";
    if (entry->now.report && entry->now.plan_count > 0)
        step_text(json_real_at(entry->now.best.step, "seconds", 0), step);
    fprintf(progress, "shardopt: %d of %d: %s: %s%s%s\n", done, count, clean_text(entry->name, name, sizeof name),
            baseline_status_name(entry->status), step[0] ? ", " : "", step);
}

bool check_baseline(CheckRun run, const Baseline *baseline, FILE *progress, Arena *arena, CheckedEntry **entries,
                    Error *error) {
    const char *given = run.options->text[OPTION_THREADS];
    int64_t threads = 0;
    int count = baseline->count, done = 0;
    if (given && !number_whole(given, "--threads", 1, THREADS_MAX, &threads, error)) return false;
    if (threads > 0) omp_set_num_threads(threads_usable((int)threads));
    int lanes = (int)min_whole(threads_usable(0), count);
    /* Few plans are planned one by one, by all threads together. */
    run.apart = lanes > 1 && count >= 2 * lanes;
    Error *errors = ARENA_NEW(arena, Error, (size_t)count);
    *entries = ARENA_NEW(arena, CheckedEntry, (size_t)count);
    if (!errors || !*entries) return error_memory(error);
#pragma omp parallel for schedule(dynamic, 1) num_threads(run.apart ? lanes : 1)
    for (int i = 0; i < count; i++) {
        check_entry(&run, &baseline->entries[i], &(*entries)[i], &errors[i]);
#pragma omp critical(progress)
        {
            done++;
            if (progress) show_progress(&(*entries)[i], done, count, progress);
        }
    }
    for (int i = 0; i < count; i++) {
        if (errors[i].kind == ERROR_NONE) continue;
        *error = errors[i];
        return false;
    }
    return true;
}

/* ---- a plan that is launched ---- */

/* The request that the plan stands in, without it. */
static bool best_request(const Options *options, Arena *arena, Request *out, Error *error) {
    if (!one_plan_open(options, arena, out, error)) return false;
    out->control.top = 1;
    out->control.different = false;
    out->control.variants = false;
    return true;
}

/* What was found is at most better than that: a plan too slow for it is too slow for the best, and one that is close to
 * the bound of the best is close to the best. */
static int launched_code(const CheckedEntry *entry, const Certificate *best, double within) {
    bool proven = entry->now.proven, misses = entry->now.plan_count == 0;
    if (misses || entry->figures[0].worse) return proven ? EXIT_GATE : EXIT_LIMIT;
    bool close = json_real_at(entry->now.best.json, "ranked_seconds", 0) <= (1 + within) * best->best_bound_seconds;
    return best->proof == PROOF_OPTIMAL || close ? EXIT_DONE : EXIT_LIMIT;
}

/* Where the launch file sets what is farthest from the best plan. */
static void point_at_key(const Options *options, const ReportPlan *from, const SearchResult *best,
                         CheckedEntry *entry) {
    entry->file = options->text[OPTION_FROM_CONFIG];
    if (!entry->file || best->plan_count == 0) return;
    Role role = role_to_change(&from->degrees, &best->plans[0].plan.degrees, from->lines);
    if (role != ROLE_COUNT) entry->line = from->lines[role];
}

bool check_launched(const Options *options, const Tolerance *within, const char *data_sha256, FILE *err, Arena *arena,
                    CheckedEntry *entry, int *code, Error *error) {
    ReportPlan from = {0};
    Request *request = ARENA_NEW(arena, Request, 2);
    Report *report = ARENA_NEW(arena, Report, 2);
    if (!request || !report) return error_memory(error);
    if (!best_request(options, arena, &request[0], error) ||
        !one_plan_request(options, "check", arena, &request[1], &from, error))
        return false;
    if (!options->text[OPTION_QUIET]) one_plan_notes(&from, err);
    planning_announce(&request[0], &(OutputChoice){.quiet = options->text[OPTION_QUIET] != NULL}, err);
    thousands_warn(&request[0], &(OutputChoice){.quiet = options->text[OPTION_QUIET] != NULL}, err);
    *entry = (CheckedEntry){.has_was = true};
    if (!sweep_search(&request[0], arena, &report[0], error) ||
        !snapshot_take(&report[0], NULL, data_sha256, arena, &entry->own[0], &entry->was, error))
        return false;
    report[1].request = &request[1];
    if (!one_plan_search(&request[1], &from, arena, &report[1].result, error) ||
        (report[1].result.plan_count > 0 &&
         !proof_stands(&request[0], &report[0].result, report[1].result.request, &report[1].result.plans[0], error)) ||
        !snapshot_take(&report[1], NULL, data_sha256, arena, &entry->own[1], &entry->now, error))
        return false;
    entry->name = baseline_name(cJSON_GetObjectItemCaseSensitive(entry->own[0], "request"), arena);
    if (!entry->name) return error_memory(error);
    baseline_compare(within, entry);
    point_at_key(options, &from, &report[0].result, entry);
    *code = entry->was.plan_count == 0 ? entry->was.proven ? EXIT_NO_PLAN : EXIT_LIMIT
                                       : launched_code(entry, &report[0].result.certificate, within->of[0]);
    entry->status = *code == EXIT_GATE ? STATUS_WORSE : STATUS_SAME;
    entry->undecided = *code == EXIT_LIMIT;
    return true;
}
