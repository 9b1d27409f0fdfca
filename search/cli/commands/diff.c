/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt diff A B`: two reports side by side. */
#include "search/baseline/diff.h"
#include "base/json.h"
#include "base/util.h"
#include "search/cli/commands.h"

#include <stdlib.h>

enum { FORMAT, OUTPUT, EXIT_CODE, QUIET };

/* The values of FORMAT are in the order of DiffFormat. */
static const CommandOption OPTIONS[] = {
    [FORMAT] = OPTION_ROW(
        "format", "FORMAT", 0, .help = "how the answer is written: text, json, markdown or html (text)",
        .details = "How the answer is written: text, json, markdown, or html, a page that loads nothing, with "
                   "the step and the HBM of both best plans part by part (text).",
        .values = "text json markdown html"),
    [OUTPUT] = {OPTION_ROW_OUTPUT},
    [EXIT_CODE] = OPTION_ROW("exit-code", NULL, 0, .help = "exit with 1 where the reports differ",
                             .details = "Exit with 1 where the reports differ, as git does; `-q` prints nothing then."),
    [QUIET] =
        OPTION_ROW("quiet", NULL, 0, .letter = 'q', .help = "print nothing: the exit code says it (with --exit-code)"),
};

typedef struct {
    DiffFormat format;
    const char *path; /* NULL: stdout */
    bool exit_code, quiet;
} DiffChoice;

static bool read_choice(const CommandLine *line, DiffChoice *out, Error *error) {
    int format = DIFF_TEXT;
    if (!line_choice(line, FORMAT, &format, error) || !line_file(line, OUTPUT, &out->path, error)) return false;
    if (line->argument_count != 2)
        return error_set(error, ERROR_INPUT, "diff", "give two reports of `shardopt plan --format json`");
    out->format = (DiffFormat)format;
    out->exit_code = line->text[EXIT_CODE];
    out->quiet = line->text[QUIET];
    return true;
}

/* A baseline has many reports; which of them is meant nobody said. */
static cJSON *read_report(const char *path, Error *error) {
    cJSON *json = json_read_file(path, error);
    if (!cJSON_IsArray(json)) return json;
    error_set(error, ERROR_INPUT, path, "is a list of %d reports; give a file of one", cJSON_GetArraySize(json));
    cJSON_Delete(json);
    return NULL;
}

static bool answer(const ReportFile files[2], const DiffChoice *choice, Arena *arena, Streams streams,
                   Differences *diff, Error *error) {
    Draft draft;
    if (!diff_make(&files[0], &files[1], arena, diff, error)) return false;
    if (choice->quiet) return true;
    if (!draft_open(&draft, error)) return false;
    bool ok = diff_write(diff, choice->format, (TextOut){draft.file, output_terminal(streams, choice->path)}, error);
    return draft_write(&draft, ok, streams.out, choice->path, error);
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    DiffChoice choice = {.format = DIFF_TEXT};
    Differences diff = {.json = NULL};
    if (!read_choice(line, &choice, error)) return EXIT_USAGE;
    cJSON *a = read_report(line->arguments[0], error), *b = a ? read_report(line->arguments[1], error) : NULL;
    const ReportFile files[] = {{a, line->arguments[0]}, {b, line->arguments[1]}};
    bool ok = b != NULL;
    if (ok && report_kind(a) != report_kind(b))
        ok = error_set(error, ERROR_INPUT, files[1].name, "is not of the same command as %.80s; give two of one",
                       files[0].name);
    ok = ok && answer(files, &choice, line->arena, streams, &diff, error);
    int code = !ok ? exit_of_error(error) : choice.exit_code && diff.different ? EXIT_GATE : EXIT_DONE;
    cJSON_Delete(diff.json);
    cJSON_Delete(a);
    cJSON_Delete(b);
    return code;
}

const Command COMMAND_DIFF = {
    .name = "diff",
    .summary = "two reports side by side: what moved, and why",
    .usage = "diff [--format text|json|markdown|html] [--exit-code] [OPTIONS] A B",
    .about = "What moved from report A to report B, and why: what was requested, data and program, the best plan's "
             "step and\n"
             "memory part by part, and the ranks of all plans. Reports are those of --format json.",
    .details =
        "What moved from one report to another, and why: what was requested, data and program, figures, step and "
        "HBM of the best plan part by part, how it is laid out, and the ranks of all plans of both.",
    .options = OPTIONS,
    .option_count = COUNT_OF(OPTIONS),
    .takes_arguments = true,
    .argument_values = "@files",
    .footer = "Exit codes: 0 done, 1 with --exit-code: they differ, 2 input is wrong, 70 a defect.",
    .examples = "shardopt --model 8b --chip v5e --slice 4x4 --batch 512Ki --format json -o other.json\n"
                "shardopt diff report.json other.json\n",
    .run = run,
};
