/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt explain --from` a report of `inference`: the question is asked again, and one point is shown in full. */
#include "base/json.h"
#include "base/number.h"
#include "search/cli/commands/serving_reports.h"
#include "search/cli/interrupt.h"
#include "search/cli/output_options.h"
#include "search/cli/planning.h"

#include <stdlib.h>
#include <string.h>

/* What the report has at this rank is what it is called; a front of today may have another point there. */
static void warn_of_change(const cJSON *report, int64_t rank, const ServingPoint *point, FILE *err) {
    char now[POINT_TEXT_SIZE];
    const cJSON *was = cJSON_GetArrayItem(json_at(report, "front"), (int)rank - 1);
    const cJSON *name = json_at(was, "notation");
    if (cJSON_IsString(name) && strcmp(name->valuestring, point_notation(point, now)) != 0)
        fprintf(err, "shardopt: warning: rank %lld of the report was %s; now it is %s\n", (long long)rank,
                name->valuestring, now);
}

static bool write_point(Served *served, const ServingPoint *point, const OutputChoice *choice, Streams streams,
                        Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    TextOut out = planning_text_out(draft.file, choice, streams);
    ServingPoint own = *point;
    ServingAnswer one = served->answer; /* of this point alone */
    one.front = (ServingFront){&own, 1, 1};
    one.physical = (ServingFront){0};
    one.best = own;
    one.has_best = true;
    one.kind_count = 1;
    one.kinds[0] = (ServingKind){"asked for", own};
    served->report.answer = &one;
    bool ok = choice->format == FORMAT_TEXT
                  ? serving_explain_text(&served->report, &own, out, error)
                  : serving_write_as(&served->report, (ServedFormat)choice->format, out, error);
    served->report.answer = &served->answer;
    return draft_write(&draft, ok, streams.out, choice->path, error);
}

static bool explain_one(const CommandLine *line, const cJSON *report, Streams streams, Served *served, Error *error) {
    Options options;
    OutputChoice choice;
    ServingTexts texts;
    int64_t rank = 0;
    options_of_line(line, &options);
    const char *file = options.text[OPTION_FROM];
    for (Option option = 0; option < OPTION_COUNT; option++)
        if (option_asks(option) && options.text[option])
            return error_set(error, ERROR_INPUT, options.where[option],
                             "contradicts --from, whose report has the request; leave it out");
    if (!output_from_options(&options, &choice, error) || !serving_texts_of_report(report, file, &texts, error) ||
        (options.text[OPTION_RANK] && !number_whole(options.text[OPTION_RANK], "--rank", 1, 1000000, &rank, error)))
        return false;
    ServingWords words = {texts.text, texts.where, cli_world(), NULL};
    if (!serve(&words, line->arena, served, error)) return false;
    if (rank == 0) rank = answer_best_rank(&served->asked.question, &served->answer);
    const ServingPoint *point = served_point(served, rank, rank > 0 ? "--rank" : file, error);
    if (!point) return false;
    if (!choice.quiet) warn_of_change(report, rank, point, streams.err);
    return write_point(served, point, &choice, streams, error);
}

bool serving_explain(const CommandLine *line, Streams streams, int *code, Error *error) {
    cJSON *report = json_read_file(line->text[OPTION_FROM], error);
    if (!serving_report_is(report)) {
        if (report) *error = (Error){0}; /* the planner reads it itself */
        cJSON_Delete(report);
        return false;
    }
    Served *served = ARENA_NEW(line->arena, Served, 1);
    InterruptScope scope;
    interrupt_begin(&scope);
    bool ok = served ? explain_one(line, report, streams, served, error) : error_memory(error);
    bool interrupted = interrupt_came(NULL);
    interrupt_end(&scope);
    *code = !ok ? exit_of_error(error) : interrupted ? EXIT_INTERRUPTED : served_code(served);
    if (served) served_free(served);
    cJSON_Delete(report);
    return true;
}
