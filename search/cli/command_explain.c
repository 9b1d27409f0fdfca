/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt explain`: one plan in full. --plan fixes degrees and knobs, which become requirements of a search; --from
 * takes them, the placement and the request from a report. */
#include "base/clock.h"
#include "search/cli/command.h"
#include "search/cli/data_files.h"
#include "search/cli/one_plan.h"
#include "search/cli/planning.h"
#include "search/report.h"

#include <stdlib.h>

static bool write_explanation(const Report *report, const OutputChoice *choice, Streams streams, Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory) return error_memory(error);
    bool full = choice->format == FORMAT_TEXT && report->result.plan_count > 0;
    bool ok = full ? explain_write_text(report, 1, memory, error)
                   : report_write_as(report, NULL, choice->format, memory, error);
    if (fclose(memory) != 0 && ok) ok = error_memory(error);
    ok = ok && output_write(streams.out, choice->path, text, length, error);
    free(text);
    return ok;
}

static bool explain(const Options *options, Arena *arena, Streams streams, Report *report, Error *error) {
    OutputChoice choice;
    ReportPlan from = {0};
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!request) return error_memory(error);
    double start = clock_seconds();
    if (!output_from_options(options, &choice, error) ||
        !one_plan_request(options, "explain", arena, request, &from, error))
        return false;
    planning_announce(request, &choice, streams.err);
    report->request = request;
    if (!one_plan_search(request, &from, arena, &report->result, error)) return false;
    if (report->result.plan_count == 0 && !report_make(request, arena, report, error)) /* for what is nearest */
        return false;
    if (!choice.quiet) one_plan_compare(&report->result, &from, streams.err);
    if (!data_files_name_all(report, arena, error) || !write_explanation(report, &choice, streams, error)) return false;
    planning_conclude(&report->result, &choice, clock_seconds() - start, streams.err);
    return true;
}

int command_explain(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    Options options;
    int code = EXIT_USAGE;
    Report *report = NULL;
    if (!options_parse(argc, argv, COMMAND_EXPLAIN, &arena, &options, error)) goto done;
    if (options_answered(&options, COMMAND_EXPLAIN, streams)) {
        code = EXIT_DONE;
        goto done;
    }
    report = ARENA_NEW(&arena, Report, 1);
    if (!report)
        error_memory(error);
    else if (explain(&options, &arena, streams, report, error))
        code = exit_of_result(&report->result);
done:
    if (error->kind != ERROR_NONE) code = exit_of_error(error);
    arena_free(&arena);
    return code;
}
