/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt plan`: words to a request, a request to a report, a report to where it is wanted. */
#include "base/clock.h"
#include "base/file.h"
#include "search/cli/command.h"
#include "search/cli/data_files.h"
#include "search/cli/options.h"
#include "search/cli/planning.h"
#include "search/cli/progress.h"
#include "search/proof/certificate.h"
#include "search/report/report.h"

#include <stdlib.h>

static bool write_report(const Report *report, const PageFacts *facts, const OutputChoice *choice, Streams streams,
                         Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory) return error_memory(error);
    bool ok = report_write_as(report, facts, choice->format, planning_text_out(memory, choice, streams), error);
    if (fclose(memory) != 0 && ok) ok = error_memory(error);
    ok = ok && output_write(streams.out, choice->path, text, length, error);
    free(text);
    return ok;
}

/* Written while it is made: it can be hundreds of megabytes. */
static bool write_certificate(const Report *report, const char *path, Error *error) {
    FileStream *stream = file_stream_open(path, error);
    if (!stream) return false;
    bool ok = certificate_write(&(SearchRecord){report->request, &report->result, report->data_sha256},
                                file_stream_out(stream), error);
    return file_stream_close(stream, ok, error) && ok;
}

/* The search, and for a page what its pictures need around it. */
static bool answer(const Request *request, const OutputChoice *choice, Streams streams, Arena *arena, Report *report,
                   PageFacts **facts, Error *error) {
    Progress *progress = progress_start(streams.err, choice->quiet, "searching");
    bool ok = report_make(request, arena, report, error) && data_files_name_all(report, arena, error);
    if (ok && choice->format == FORMAT_HTML) {
        *facts = ARENA_NEW(arena, PageFacts, 1);
        ok = *facts ? page_facts(report, (PageProgress){progress_tell, progress}, *facts, error) : error_memory(error);
    }
    progress_stop(progress);
    return ok;
}

static bool plan(const Options *options, Arena *arena, Streams streams, Report *report, Error *error) {
    OutputChoice choice;
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!request) return error_memory(error);
    double start = clock_seconds();
    PageFacts *facts = NULL;
    if (!output_from_options(options, &choice, error) || !request_from_options(options, arena, request, error))
        return false;
    planning_announce(request, &choice, streams.err);
    request->control.keep_ledger = choice.certificate != NULL;
    if (!answer(request, &choice, streams, arena, report, &facts, error) ||
        (choice.certificate && !write_certificate(report, choice.certificate, error)) ||
        !write_report(report, facts, &choice, streams, error))
        return false;
    planning_conclude(&report->result, &choice, clock_seconds() - start, streams.err);
    return true;
}

int command_plan(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    Options options;
    int code = EXIT_USAGE;
    Report *report = NULL;
    if (!options_parse(argc, argv, COMMAND_PLAN, &arena, &options, error)) goto done;
    if (options_answered(&options, COMMAND_PLAN, streams)) {
        code = EXIT_DONE;
        goto done;
    }
    report = ARENA_NEW(&arena, Report, 1);
    if (!report)
        error_memory(error);
    else if (plan(&options, &arena, streams, report, error))
        code = exit_of_result(&report->result);
done:
    if (error->kind != ERROR_NONE) code = exit_of_error(error);
    arena_free(&arena);
    return code;
}
