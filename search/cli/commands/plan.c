/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt plan`: words to a request, a request to a report, a report to where it is wanted. */
#include "base/clock.h"
#include "base/file.h"
#include "search/cli/commands.h"
#include "search/cli/planning.h"
#include "search/cli/progress.h"
#include "search/engine/proof/certificate.h"
#include "search/options/data_files.h"
#include "search/report/around.h"

#include <stdlib.h>
#include <string.h>

/* Where a report goes as its stages are made. */
typedef struct {
    const OutputChoice *choice;
    Streams streams;
    Arena *arena;
    Progress *progress;
    bool proven; /* the first search is over: what is reported now is of searches around the plan */
} PlanOutput;

static const char AROUND[] = "searching around the plan";

static void watch(void *of, const SearchProgress *search) {
    const PlanOutput *output = of;
    if (!output->proven) progress_search(output->progress, search);
}

/* Text that goes to the standard output is printed as it comes: the plan is there before what surrounds it. A
 * certificate that cannot be written shall leave nothing printed. */
static bool prints_at_once(const OutputChoice *choice) {
    return choice->format == FORMAT_TEXT && !choice->certificate && (!choice->path || strcmp(choice->path, "-") == 0);
}

/* A screen of it, unless all was requested, or there is a file to hold it. */
static bool is_brief(const OutputChoice *choice) { return prints_at_once(choice) && !choice->verbose; }

static bool print_stage(const Report *report, ReportStage stage, const PlanOutput *output, Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    TextOut out = planning_text_out(draft.file, output->choice, output->streams);
    bool ok = is_brief(output->choice) ? report_write_brief_stage(report, stage, out, error)
                                       : report_write_text_stage(report, stage, out, error);
    return draft_write(&draft, ok, output->streams.out, output->choice->path, error);
}

/* What a stage has to say, with what the command adds to a plan. */
static bool take_stage(void *of, Report *report, ReportStage stage, Error *error) {
    PlanOutput *output = of;
    if (stage == STAGE_PLAN &&
        (!data_files_name_all(report, output->arena, error) || !measured_run_add(report, output->arena, error)))
        return false;
    output->proven = true;
    if (!prints_at_once(output->choice)) {
        progress_tell(output->progress, AROUND, 0, 0);
        return true;
    }
    progress_stop(output->progress);
    output->progress = NULL;
    if (!print_stage(report, stage, output, error)) return false;
    if (stage != STAGE_WHOLE) output->progress = progress_start(output->streams.err, output->choice->quiet, AROUND);
    return true;
}

static bool write_report(const Report *report, const OutputChoice *choice, Streams streams, Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    bool ok = report_write_as(report, choice->format, planning_text_out(draft.file, choice, streams), error);
    return draft_write(&draft, ok, streams.out, choice->path, error);
}

/* Written while it is made: it can be hundreds of megabytes. */
static bool write_certificate(const Report *report, const OutputChoice *choice, Streams streams, Error *error) {
    if (!choice->certificate) return true;
    if (report->result.interrupted && !report->result.search_log) {
        fprintf(streams.err,
                "shardopt: warning: --certificate: the search was interrupted; no certificate is written\n");
        return true;
    }
    FileStream *stream = file_stream_open(choice->certificate, error);
    if (!stream) return false;
    bool ok = certificate_write(&(SearchRecord){report->request, &report->result, report->data_sha256},
                                file_stream_out(stream), error);
    return file_stream_close(stream, ok, error) && ok;
}

/* The search, and for a document what is around it. */
static bool answer(Request *request, const OutputChoice *choice, Streams streams, Arena *arena, Report *report,
                   Error *error) {
    PlanOutput *output = ARENA_NEW(arena, PlanOutput, 1); /* as long as requests that know of it */
    if (!output) return error_memory(error);
    *output = (PlanOutput){choice, streams, arena, progress_start(streams.err, choice->quiet, "searching"), false};
    ReportReader reader = {take_stage, output};
    request->control.environment.context = output;
    request->control.environment.progress = watch;
    bool ok = report_make_for(request, &reader, arena, report, error);
    bool document = choice->format == FORMAT_HTML || choice->format == FORMAT_JSON;
    if (ok && document)
        ok = report_make_around(report, (AroundProgress){progress_tell, output->progress}, arena, error);
    progress_stop(output->progress);
    return ok;
}

static bool plan(const Options *options, Arena *arena, Streams streams, Report *report, Error *error) {
    OutputChoice choice;
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!request) return error_memory(error);
    double start = clock_seconds();
    if (!output_from_options(options, &choice, error) || !request_from_options(options, arena, request, error))
        return false;
    OutputChoice notes = choice; /* the whole text has what --verbose says with other forms */
    notes.verbose = choice.verbose && choice.format != FORMAT_TEXT;
    planning_announce(request, &notes, streams.err);
    request->control.keep_search_log = choice.certificate != NULL;
    if (!answer(request, &choice, streams, arena, report, error) || !write_certificate(report, &choice, streams, error))
        return false;
    if (!prints_at_once(&choice) && !write_report(report, &choice, streams, error)) return false;
    if (!thousands_warn_after(report, &choice, streams.err, error)) return false;
    planning_conclude(&report->result, &notes, clock_seconds() - start, streams.err);
    return true;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    Planning planning;
    if (!planning_begin(line, &planning, error)) return EXIT_DEFECT;
    return planning_end(&planning, plan(&planning.options, line->arena, streams, planning.report, error));
}

/* What the manual says in addition to the options. */
static const CommandNote NOTES[] = {
    {"WORDS", "At most two words stand without an option, a model and a machine: `shardopt 70b 64xh100`, `shardopt 8b "
              "v5p-128`. Sentences are "
              "not read. Options may have the names that other programs have for them, of an exact table "
              "(search/cli/names.tsv; _ is -): "
              "--gpus and --tpus (--chips), --gpu (--chip), --gbs and --global-batch-size (--sequences), --seq-len "
              "(--seq), --dtype "
              "(--precision), --framework (--for), --json, --csv, --markdown and --html (--format); --tp, --pp, --dp, "
              "--cp, --ep, --fsdp and "
              "--mbs are conditions of --require, which with --plan also takes \"tp=8 pp=4\" and \"TP8 PP4\". --ep is "
              "the role expert; "
              "experts over ranks of data and tensor are folded_expert. A switch takes true or false. A launch line as "
              "it stands is read by "
              "`shardopt explain --from-config -`."},
    {0},
};

const Command COMMAND_PLAN = {
    .name = "plan",
    .summary = "search, and print the best plans with their proof",
    .usage = "[plan] --model NAME [--chip NAME] [--nodes N | --slice SHAPE | --pods N | --chips N] [OPTIONS]",
    .details = "Search, and print the best plans with their proof. Meant when the first argument is an option.",
    .options = PLANNING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_PLAN,
    .footer = PLANNING_FOOTER(""),
    .notes = NOTES,
    .examples = "shardopt --model 405b --pods 8\n"
                "shardopt --model 70b --chip h100 --nodes 64 --batch 4Mi --seq 8192 --for megatron\n"
                "shardopt --model 8b --chip v5e --slice 4x4 --batch 256Ki --format json -o report.json\n"
                "shardopt --model 8b --chip v6e --chips 64 --batch 1Mi --require \"tensor<=4 pipeline=1\" --top "
                "3\n",
    .run = run,
};
