/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt check`: plans compared with a committed baseline, or one that is launched with the best, for CI. */
#include "base/build.h"
#include "base/json.h"
#include "base/util.h"
#include "search/cli/commands/check_plans.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"
#include "search/options/data_files.h"
#include "search/options/machine_words.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
    BaselineFormat format;
    const char *path, *markdown, *junit; /* NULL: not requested; the first: stdout */
    const char *baseline;                /* NULL: a plan that is launched */
    bool update;
    Tolerance tolerance;
} CheckChoice;

static const char *const TOLERANCE_DEFAULT = "1%", *const WITHIN_DEFAULT = "5%";

/* ---- reading ---- */

static bool check_paths(const Options *options, Error *error) {
    static const Option FILES[] = {OPTION_BASELINE, OPTION_OUTPUT, OPTION_MARKDOWN, OPTION_JUNIT};
    for (size_t i = 0; i < COUNT_OF(FILES); i++)
        if (options->text[FILES[i]] && options->text[FILES[i]][0] == '\0')
            return error_set(error, ERROR_INPUT, options->where[FILES[i]], "is empty; give a file");
    return true;
}

/* The baseline has the requests. */
static bool check_contradictions(const Options *options, Error *error) {
    static const Option LAUNCHED[] = {OPTION_PLAN,        OPTION_FROM,          OPTION_RANK,
                                      OPTION_FROM_CONFIG, OPTION_CONFIG_FORMAT, OPTION_WITHIN};
    static const Option GATED[] = {OPTION_TOLERANCE, OPTION_UPDATE};
    bool baseline = options->text[OPTION_BASELINE];
    for (Option option = 0; option < OPTION_COUNT && baseline; option++)
        if (option_is_input(option) && option != OPTION_TIME_LIMIT && option != OPTION_MEMORY_LIMIT &&
            options->text[option])
            return error_set(error, ERROR_INPUT, options->where[option],
                             "contradicts --baseline, whose reports have the requests; leave it out");
    for (size_t i = 0; i < COUNT_OF(LAUNCHED) && baseline; i++)
        if (options->text[LAUNCHED[i]])
            return error_set(error, ERROR_INPUT, options->where[LAUNCHED[i]],
                             "is for a plan that is launched, and --baseline has plans; give one of them");
    for (size_t i = 0; i < COUNT_OF(GATED) && !baseline; i++)
        if (options->text[GATED[i]])
            return error_set(error, ERROR_INPUT, options->where[GATED[i]], "belongs to --baseline; give that as well");
    if (!baseline && !options->text[OPTION_PLAN] && !options->text[OPTION_FROM] && !options->text[OPTION_FROM_CONFIG])
        return error_set(
            error, ERROR_INPUT, "check",
            "has nothing to check; give --baseline FILE, --from-config FILE, or --plan \"fsdp=64 tensor=4\" "
            "with --model");
    return true;
}

static bool read_choice(const Options *options, CheckChoice *out, Error *error) {
    const char *const *text = options->text;
    *out = (CheckChoice){.path = text[OPTION_OUTPUT],
                         .markdown = text[OPTION_MARKDOWN],
                         .junit = text[OPTION_JUNIT],
                         .baseline = text[OPTION_BASELINE],
                         .update = text[OPTION_UPDATE]};
    int format = BASELINE_TEXT;
    if (!choice_read(text[OPTION_FORMAT], "--format", "text json markdown junit", &format, error) ||
        !check_paths(options, error) || !check_contradictions(options, error))
        return false;
    out->format = (BaselineFormat)format;
    if (out->baseline)
        return tolerance_parse(TOLERANCE_DEFAULT, "--tolerance", &out->tolerance, error) &&
               (!text[OPTION_TOLERANCE] ||
                tolerance_parse(text[OPTION_TOLERANCE], "--tolerance", &out->tolerance, error));
    if (!share_parse(text[OPTION_WITHIN] ? text[OPTION_WITHIN] : WITHIN_DEFAULT, "--within",
                     &out->tolerance.of[0], error))
        return false;
    out->tolerance.of[1] = out->tolerance.of[2] = INFINITY; /* the step says it */
    return true;
}

/* ---- writing ---- */

/* Writes the answer in the forms that were requested. */
static bool write_all(const BaselineCheck *check, const CheckChoice *choice, Streams streams, Error *error) {
    const char *actions = getenv("GITHUB_ACTIONS");
    const struct {
        const char *path;
        BaselineFormat format;
        bool wanted;
    } FORMS[] = {{choice->markdown, BASELINE_MARKDOWN, choice->markdown != NULL},
                 {choice->junit, BASELINE_JUNIT, choice->junit != NULL},
                 {choice->path, choice->format, true}};
    for (size_t i = 0; i < COUNT_OF(FORMS); i++) {
        Draft draft;
        if (!FORMS[i].wanted) continue;
        if (!draft_open(&draft, error)) return false;
        TextOut out = {draft.file, output_terminal(streams, FORMS[i].path)};
        bool ok = baseline_write(check, FORMS[i].format, out, error);
        if (!draft_write(&draft, ok, streams.out, FORMS[i].path, error)) return false;
    }
    return !actions || !actions[0] || baseline_write_annotations(check, streams.err, error);
}

/* The plans of now, as short as a check needs them. */
static bool write_baseline(const CheckChoice *choice, const Baseline *baseline, const CheckedEntry *entries,
                           Error *error) {
    Draft draft;
    for (int i = 0; i < baseline->count; i++)
        if (entries[i].status == STATUS_ERROR)
            return error_set(
                error, ERROR_INPUT, baseline->entries[i].where,
                "cannot be planned, so there is nothing to update it with; take it out, or mend it (%.200s)",
                entries[i].message);
    if (!draft_open(&draft, error)) return false;
    cJSON *list = baseline->is_array ? cJSON_CreateArray() : entries->own[1];
    bool ok = list != NULL;
    for (int i = 0; i < baseline->count && ok && baseline->is_array; i++)
        ok = cJSON_AddItemReferenceToArray(list, entries[i].own[1]);
    ok = ok && json_print(draft.file, list);
    if (baseline->is_array) cJSON_Delete(list);
    return draft_write(&draft, ok, NULL, choice->baseline, error);
}

/* ---- a baseline, and one plan ---- */

static int code_of(const BaselineCheck *check) {
    if (!check->updated) return baseline_passes(check) ? EXIT_DONE : EXIT_GATE;
    for (int i = 0; i < check->count; i++)
        if (!check->entries[i].now.proven) return EXIT_LIMIT;
    return EXIT_DONE;
}

static int check_reports(const CheckChoice *choice, const Options *options, const cJSON *json, Arena *arena,
                         Streams streams, Error *error) {
    Baseline baseline = {.count = 0};
    CheckedEntry *entries = NULL;
    char data_sha256[SHA256_HEX_SIZE];
    int code = EXIT_USAGE, descriptor = fileno(streams.err);
    bool watched = !options->text[OPTION_QUIET] && descriptor >= 0 && isatty(descriptor);
    bool ok =
        file_data_sha256(data_sha256, arena, error) &&
        baseline_read(json, choice->baseline, choice->update, arena, &baseline, error) &&
        check_baseline((CheckRun){options, &choice->tolerance, data_sha256, false}, &baseline,
                       watched ? streams.err : NULL, arena, &entries, error) &&
        (!choice->update || interrupt_came(NULL) || write_baseline(choice, &baseline, entries, error));
    if (ok) {
        const BaselineCheck check = {.baseline = choice->baseline,
                                     .tolerance = choice->tolerance,
                                     .version = program_version(),
                                     .data_sha256 = data_sha256,
                                     .entries = entries,
                                     .count = baseline.count,
                                     .updated = choice->update && !interrupt_came(NULL)};
        if (write_all(&check, choice, streams, error)) code = code_of(&check);
    }
    checked_entries_free(entries, baseline.count);
    return code;
}

/* One plan that is launched, compared with the best. */
static int check_one(const CheckChoice *choice, const Options *options, Arena *arena, Streams streams, Error *error) {
    char data_sha256[SHA256_HEX_SIZE];
    int code = EXIT_USAGE;
    CheckedEntry *entry = ARENA_NEW(arena, CheckedEntry, 1);
    if (!entry) return error_memory(error), EXIT_DEFECT;
    bool ok =
        file_data_sha256(data_sha256, arena, error) &&
        check_launched(options, &choice->tolerance, data_sha256, streams.err, arena, entry, &code, error);
    const BaselineCheck check = {.tolerance = choice->tolerance,
                                 .version = program_version(),
                                 .data_sha256 = data_sha256,
                                 .entries = entry,
                                 .count = 1};
    if (ok && entry->was.plan_count == 0)
        fprintf(streams.err, "shardopt: check: no plan %s; `shardopt plan` with the same options says how far off\n",
                entry->was.proven ? "fits" : "was found before the limit");
    else if (ok)
        ok = write_all(&check, choice, streams, error);
    if (ok && code == EXIT_LIMIT && entry->was.plan_count > 0)
        fprintf(streams.err,
                "shardopt: check: a limit ended the search: it is not known whether the plan is that close\n");
    checked_entries_free(entry, 1);
    return code;
}

static int check_file(const CheckChoice *choice, const Options *options, Arena *arena, Streams streams, Error *error) {
    cJSON *json = json_read_file(choice->baseline, error);
    if (!json) return EXIT_USAGE;
    int code = check_reports(choice, options, json, arena, streams, error);
    cJSON_Delete(json);
    return code;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    Options options;
    CheckChoice choice;
    InterruptScope scope;
    options_of_line(line, &options);
    if (!read_choice(&options, &choice, error)) return EXIT_USAGE;
    interrupt_begin(&scope);
    int code = (choice.baseline ? check_file : check_one)(&choice, &options, line->arena, streams, error);
    interrupt_end(&scope);
    if (!interrupt_came(NULL) || error->kind != ERROR_NONE) return code;
    fprintf(streams.err, "shardopt: check: interrupted; what was not planned to the end is not proven%s\n",
            choice.update ? ", and the baseline is as it was" : "");
    return EXIT_INTERRUPTED;
}

/* What the manual says in addition to the options. */
static const CommandNote NOTES[] = {
    {"--format FORMAT", "text, json, markdown or junit (text)."},
    {0},
};

const Command COMMAND_CHECK = {
    .name = "check",
    .summary = "plan again what a baseline has, and fail where that got worse: a regression check for CI",
    .usage = "check --baseline FILE [--tolerance SHARE] [--update] [OPTIONS]\n"
             "check --plan PLAN --model NAME [--within SHARE] [OPTIONS]\n"
             "check --from REPORT [--rank N] [--within SHARE] [OPTIONS]\n"
             "check --from-config FILE [--within SHARE] [OPTIONS]",
    .about =
        "Plans every report of --baseline again, or compares one plan with the best that there is now. Fails (exit 1)\n"
        "where that is worse. With --baseline each report holds its own request.",
    .details = "Plans every report of a committed baseline again, and exits with 1 where the predicted step, MFU or "
               "the share of HBM got worse beyond the tolerance, where a plan no longer fits or its proof is lost, "
               "and where it can be planned no more. It says which, by how much, what part of the step moved, "
               "whether another plan took the place (and what the one before costs now), and because of what: the "
               "data file of model, chip, profile or optimizer that changed since, with the figures of it that a "
               "report has, the program's version, or the program itself where nothing else changed. What is better "
               "is said, and passes.\nWith --plan or --from in place of a baseline: the plan that is launched, "
               "compared with the best plan there is now of the same request; exit 1 where it is slower by more than "
               "--within, or does not fit.",
    .options = PLANNING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_CHECK,
    .footer = PLANNING_FOOTER("1 something is worse, "),
    .notes = NOTES,
    .examples = "shardopt check --baseline report.json --tolerance 1%\n"
                "shardopt check --model 8b --chip v5e --slice 4x4 --batch 256Ki --plan fsdp=16 --within 5%\n",
    .run = run,
};
