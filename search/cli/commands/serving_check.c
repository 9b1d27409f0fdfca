/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt check --baseline` of reports of `inference`: each is asked again, and its best point held against the old
 * one. Worse is a lower rate of a chip, of a user, or a later first token, beyond the tolerance; nothing found where
 * there was something; a proof that is lost. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "search/cli/commands/kinds.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"

#include <string.h>

enum { ENTRIES_MAX = 1000, RATES = 3 };

/* Worse is less of the first two and more of the third. */
static const struct {
    const char *path, *name;
    bool less_is_better;
} FIGURES[RATES] = {{"tokens_per_second_per_chip", "tokens/s of a chip", false},
                    {"tokens_per_second_per_user", "tokens/s of a user", false},
                    {"ttft_seconds", "first token", true}};

typedef struct {
    const cJSON *was;
    cJSON *now; /* owned; NULL: it cannot be asked any more */
    char name[160], message[640];
    double old[RATES], new[RATES];
    BaselineStatus status;
    const char *why;
} Entry;

typedef struct {
    const Options *options;
    const char *file;
    const cJSON *json;
    Entry *entries;
    int count;
    double tolerance;
} Check;

static double figure(const cJSON *report, const char *path) {
    const cJSON *best = json_at(report, "best_point"), *found = best ? json_at(best, path) : NULL;
    return cJSON_IsNumber(found) ? found->valuedouble : 0;
}

static const char *text_of(const cJSON *json, const char *path) {
    const cJSON *found = json_at(json, path);
    return cJSON_IsString(found) ? found->valuestring : "";
}

static void judge(const Check *check, Entry *entry) {
    entry->status = STATUS_SAME;
    for (int i = 0; i < RATES; i++) {
        double was = entry->old[i] = figure(entry->was, FIGURES[i].path);
        double now = entry->new[i] = figure(entry->now, FIGURES[i].path);
        if (!(was > 0)) continue;
        double better = FIGURES[i].less_is_better ? was / now : now / was;
        if (!(now > 0) || better < 1 - check->tolerance) entry->status = STATUS_WORSE, entry->why = FIGURES[i].name;
        if (better > 1 + check->tolerance && entry->status == STATUS_SAME) entry->status = STATUS_BETTER;
    }
    if (strcmp(text_of(entry->was, "search.proof"), "optimal") == 0 &&
        strcmp(text_of(entry->now, "search.proof"), "optimal") != 0)
        entry->status = STATUS_WORSE, entry->why = "the proof is lost";
}

static bool ask_again(const Check *check, Entry *entry, Error *error) {
    Arena arena = {0};
    Error own = {0};
    Options options = {.environment = cli_environment()};
    Served *served = ARENA_NEW(&arena, Served, 1);
    if (!served) return error_memory(error);
    bool ok = serving_options_of_report(entry->was, check->file, &options, &own);
    options.text[OPTION_TIME_LIMIT] = check->options->text[OPTION_TIME_LIMIT];
    options.where[OPTION_TIME_LIMIT] = "--time-limit";
    ok = ok && serve(&options, &arena, served, &own);
    if (ok) {
        entry->now = serving_json(&served->report);
        if (entry->now) json_settle(entry->now);
        snprintf(entry->name, sizeof entry->name, "%.60s on %.60s", served->request.question.model.name,
                 served->request.question.machine.text);
    } else {
        entry->status = STATUS_ERROR;
        snprintf(entry->name, sizeof entry->name, "%.150s", text_of(entry->was, "request.model"));
        snprintf(entry->message, sizeof entry->message, "%s: %s", own.where, own.text);
    }
    served_free(served);
    arena_free(&arena);
    if (own.kind == ERROR_MEMORY) return error_memory(error);
    if (entry->now) judge(check, entry);
    return true;
}

static bool read_entries(Check *check, Arena *arena, Error *error) {
    const cJSON *json = check->json;
    check->count = cJSON_IsArray(json) ? cJSON_GetArraySize(json) : 1;
    if (check->count < 1 || check->count > ENTRIES_MAX)
        return error_set(error, ERROR_INPUT, check->file, "has %d reports; give 1 to %d", check->count, ENTRIES_MAX);
    check->entries = ARENA_NEW(arena, Entry, (size_t)check->count);
    if (!check->entries) return error_memory(error);
    for (int i = 0; i < check->count; i++) {
        check->entries[i].was = cJSON_IsArray(json) ? cJSON_GetArrayItem(json, i) : json;
        if (!serving_report_is(check->entries[i].was))
            return error_set(error, ERROR_INPUT, check->file,
                             "[%d] is no report of `inference`, as others are; give a "
                             "file for each command",
                             i);
    }
    return true;
}

/* ---- writing ---- */

static void say_entry(const Entry *entry, Prose *to) {
    char was[NUMBER_TEXT_SIZE], now[NUMBER_TEXT_SIZE];
    if (entry->status == STATUS_ERROR) {
        prose_add(to, "%s", entry->message);
        return;
    }
    for (int i = 0; i < RATES; i++) {
        bool time = FIGURES[i].less_is_better;
        snprintf(was, sizeof was, "%.4g", entry->old[i]), snprintf(now, sizeof now, "%.4g", entry->new[i]);
        prose_item(to, ", ", "%s %s -> %s", FIGURES[i].name, time ? step_text(entry->old[i], was) : was,
                   time ? step_text(entry->new[i], now) : now);
    }
    if (entry->why) prose_add(to, " (%s)", entry->why);
}

static void write_junit(const Check *check, FILE *out) {
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"shardopt check\" tests=\"%d\">\n",
            check->count);
    for (int i = 0; i < check->count; i++) {
        const Entry *entry = &check->entries[i];
        Prose words = {0};
        say_entry(entry, &words);
        fputs("<testcase name=\"", out);
        escape_write(ESCAPE_HTML, entry->name, out);
        fputs("\">", out);
        if (entry->status == STATUS_WORSE || entry->status == STATUS_ERROR) {
            fprintf(out, "<failure message=\"%s\">", baseline_status_name(entry->status));
            escape_write(ESCAPE_HTML, words.text, out);
            fputs("</failure>", out);
        }
        fputs("</testcase>\n", out);
    }
    fputs("</testsuite>\n", out);
}

static bool write_json(const Check *check, FILE *out) {
    cJSON *json = cJSON_CreateObject(), *list = json_add_array(json, "entries");
    for (int i = 0; i < check->count; i++) {
        const Entry *entry = &check->entries[i];
        cJSON *one = json_add_object(list, NULL);
        json_add_text(one, "name", entry->name);
        json_add_text(one, "verdict", baseline_status_name(entry->status));
        if (entry->message[0]) json_add_text(one, "message", entry->message);
        for (int f = 0; f < RATES && entry->now; f++) {
            cJSON *both = json_add_object(one, FIGURES[f].path);
            json_add_real(both, "was", entry->old[f]);
            json_add_real(both, "now", entry->new[f]);
        }
    }
    bool ok = json && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}

static bool write_table(const Check *check, bool markdown, TextOut out) {
    Arena arena = {0};
    Table table = table_new(&arena, "Check", "status|what|was -> now");
    for (int i = 0; i < check->count; i++) {
        Prose words = {0};
        say_entry(&check->entries[i], &words);
        table_row(&table, (const char *const[]){baseline_status_name(check->entries[i].status), check->entries[i].name,
                                                words.text});
    }
    table_wrap(&table, 2, 90);
    bool ok = markdown ? table_write_markdown(&table, out.file) : table_write_text(&table, "", out);
    arena_free(&arena);
    return ok;
}

static bool write_form(const void *of, BaselineFormat format, TextOut out, Error *error) {
    const Check *check = of;
    (void)error;
    if (format == BASELINE_JSON) return write_json(check, out.file);
    if (format == BASELINE_JUNIT) return write_junit(check, out.file), true;
    return write_table(check, format == BASELINE_MARKDOWN, out);
}

/* The reports of today in place of the old ones. */
static bool update(const Check *check, Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    cJSON *list = cJSON_IsArray(check->json) ? cJSON_CreateArray() : check->entries[0].now;
    bool ok = true;
    for (int i = 0; i < check->count; i++) {
        if (!check->entries[i].now)
            ok = error_set(error, ERROR_INPUT, check->file, "[%d] cannot be asked any more (%.200s)", i,
                           check->entries[i].message);
        else if (cJSON_IsArray(check->json))
            cJSON_AddItemReferenceToArray(list, check->entries[i].now);
    }
    ok = ok && json_print(draft.file, list);
    if (cJSON_IsArray(check->json)) cJSON_Delete(list);
    return draft_write(&draft, ok, NULL, check->file, error);
}

int serving_check(const CheckChoice *choice, const Options *options, const cJSON *baseline, Arena *arena,
                  Streams streams, Error *error) {
    Check check = {.options = options,
                   .file = choice->baseline,
                   .json = baseline,
                   .tolerance = choice->tolerance.of[BASELINE_STEP]};
    int code = EXIT_DONE;
    bool ok = read_entries(&check, arena, error);
    for (int i = 0; i < check.count && ok; i++) ok = ask_again(&check, &check.entries[i], error);
    for (int i = 0; i < check.count && !choice->update; i++)
        if (check.entries[i].status == STATUS_WORSE || check.entries[i].status == STATUS_ERROR) code = EXIT_GATE;
    ok = ok && (!choice->update || interrupt_came(NULL) || update(&check, error)) &&
         check_write(choice, write_form, &check, streams, error);
    for (int i = 0; check.entries && i < check.count; i++) cJSON_Delete(check.entries[i].now);
    return ok ? code : EXIT_USAGE;
}
