/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt explain`: one plan in full. --plan fixes degrees and knobs, which become requirements of a search; --from
 * takes them, the placement and the request from a report, --from-config from a launch configuration. */
#include "base/clock.h"
#include "base/json.h"
#include "base/number.h"
#include "base/util.h"
#include "search/cli/commands/explain_plans.h"
#include "search/cli/commands/kinds.h"
#include "search/cli/planning.h"
#include "search/cli/progress.h"
#include "search/options/data_files.h"
#include "search/options/one_plan.h"
#include "search/report/compare_to_best.h"

#include <stdlib.h>

static bool write_explanation(const Report *report, const OutputChoice *choice, Streams streams, Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    TextOut out = planning_text_out(draft.file, choice, streams);
    bool full = choice->format == FORMAT_TEXT && report->result.plan_count > 0;
    bool ok = full ? explain_write_text(report, 1, out, error) : report_write_as(report, choice->format, out, error);
    bool markdown = choice->format == FORMAT_MARKDOWN;
    if (ok && report->comparison && (full || markdown)) {
        if (markdown) fputs("\n```text", draft.file);
        if (!compare_to_best_write(report->comparison, &report->result.plans[0], out)) ok = error_memory(error);
        if (markdown) fputs("```\n", draft.file);
    }
    return draft_write(&draft, ok, streams.out, choice->path, error);
}

/* What it costs is a search: requested, or where the plan is somebody's own. */
static bool make_why_not(const Options *options, Arena *arena, Report *report, double lacking, Error *error) {
    if (report->result.plan_count == 0 || !(options->text[OPTION_WHY_NOT] || options->text[OPTION_FROM_CONFIG]))
        return true;
    Request *open = ARENA_NEW(arena, Request, 1);
    BestComparison *comparison = ARENA_NEW(arena, BestComparison, 1);
    if (!open || !comparison) return error_memory(error);
    report->comparison = comparison;
    if (!one_plan_open(options, arena, open, error) ||
        !compare_to_best(open, report->request, &report->result.plans[0], arena, comparison, error))
        return false;
    comparison->lacking_bytes = lacking;
    return true;
}

/* What named the plan. */
static const char *plan_of_options(const Options *options) {
    return options->text[OPTION_FROM_CONFIG] ? options->text[OPTION_FROM_CONFIG]
           : options->text[OPTION_FROM]      ? options->text[OPTION_FROM]
                                             : "--plan";
}

static const char *largest_row(const MemoryRows *rows) {
    const struct {
        const char *name;
        double bytes;
    } ROWS[] = {{"parameters", rows->parameters_bytes},     {"gradients", rows->gradients_bytes},
                {"optimizer state", rows->optimizer_bytes}, {"activations", rows->activations_bytes},
                {"gathered weights", rows->gathered_bytes}, {"logits", rows->logits_bytes},
                {"transients", rows->transient_bytes}};
    size_t largest = 0;
    for (size_t i = 1; i < COUNT_OF(ROWS); i++)
        if (ROWS[i].bytes > ROWS[largest].bytes) largest = i;
    return ROWS[largest].name;
}

static void warn_of_lacking(const Options *options, const NamedPrice *price, const RankedPlan *ranked, FILE *err) {
    char bytes[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE], change[NUMBER_TEXT_SIZE];
    fprintf(err,
            "shardopt: warning: %s: by this model it lacks %s of HBM per chip, most of which %s take; priced as if "
            "that were there",
            plan_of_options(options), number_bytes(price->lacking_bytes, bytes), largest_row(&ranked->estimate.memory));
    if (price->host_seconds > 0)
        fprintf(err, "; with the host's memory (--offload all) it fits and takes %s (%s)",
                step_text(price->host_seconds, step),
                change_text(price->host_seconds / ranked->estimate.time.seconds - 1, change));
    fputc('\n', err);
}

static bool write_plans(const Options *options, const Request *request, const OutputChoice *choice, Streams streams,
                        Arena *arena, Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    bool ok = explain_plans(request, options->text[OPTION_PLANS], arena, draft.file, error);
    return draft_write(&draft, ok, streams.out, choice->path, error);
}

static bool explain(const Options *options, Arena *arena, Streams streams, Report *report, Error *error) {
    OutputChoice choice;
    ReportPlan from = {0};
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!request) return error_memory(error);
    NamedPrice price;
    double start = clock_seconds();
    if (!output_from_options(options, &choice, error) ||
        !one_plan_request(options, "explain", arena, request, &from, error))
        return false;
    planning_announce(request, &choice, streams.err);
    thousands_warn(request, &choice, streams.err);
    report->request = request;
    Progress *progress = progress_start(streams.err, choice.quiet, "searching");
    if (options->text[OPTION_PLANS]) {
        bool written = write_plans(options, request, &choice, streams, arena, error);
        progress_stop(progress);
        return written;
    }
    const NamedPlan named = {options, request, &from, arena};
    bool found = named_plan_price(&named, report, &price, error);
    progress_stop(progress);
    if (!found) return false;
    report->request = report->result.request;
    if (price.lacking_bytes > 0 && !choice.quiet)
        warn_of_lacking(options, &price, &report->result.plans[0], streams.err);
    if (report->result.plan_count == 0 && !report_make(request, arena, report, error)) /* for what is nearest */
        return false;
    if (!choice.quiet) one_plan_compare(&report->result, &from, streams.err);
    if (!make_why_not(options, arena, report, price.lacking_bytes, error) ||
        !data_files_name_all(report, arena, error) || !write_explanation(report, &choice, streams, error))
        return false;
    planning_conclude(&report->result, &choice, clock_seconds() - start, streams.err);
    return true;
}

int training_explain(const CommandLine *line, const cJSON *report, Streams streams, Error *error) {
    (void)report; /* read with what the line says of it */
    Planning planning;
    if (!planning_begin(line, &planning, error)) return EXIT_DEFECT;
    bool ok = explain(&planning.options, line->arena, streams, planning.report, error);
    if (!ok || !planning.options.text[OPTION_PLANS]) return planning_end(&planning, ok);
    int code = interrupt_came(NULL) ? EXIT_INTERRUPTED : EXIT_DONE;
    interrupt_end(&planning.interrupts);
    return code;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    CommandLine *own = ARENA_NEW(line->arena, CommandLine, 1);
    if (!own) return error_memory(error), EXIT_DEFECT;
    *own = *line;
    for (int i = 0; i < line->argument_count; i++)
        if (!operand_take_plan(own, line->arguments[i], error)) return EXIT_USAGE;
    line = own;
    bool from_alone = line->text[OPTION_FROM] && !line->text[OPTION_PLAN] && !line->text[OPTION_FROM_CONFIG];
    cJSON *report = from_alone ? json_read_file(line->text[OPTION_FROM], error) : NULL;
    int code = from_alone && !report ? EXIT_USAGE : kind_of_report(report)->explain(line, report, streams, error);
    cJSON_Delete(report);
    return code;
}

const Command COMMAND_EXPLAIN = {
    .name = "explain",
    .summary = "one plan in full",
    .usage = "explain --model NAME --plan PLAN [OPTIONS]\n"
             "explain REPORT [--rank N]    (of a plan or of `inference`, as --from REPORT; - is stdin)\n"
             "explain --from-config FILE [OPTIONS]    (of a script that serves: with the options of `inference`)",
    .details = "One plan in full. Degrees that --plan does not name are 1 where those that it names use the whole "
               "machine, and chosen best otherwise.",
    .options = PLANNING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_EXPLAIN,
    .takes_arguments = true,
    .footer = PLANNING_FOOTER(""),
    .examples = "shardopt explain --from report.json --rank 2\n"
                "shardopt explain --model 70b --slice 16x16x32 --batch 4Mi --seq 4096 --plan \"fsdp=1024 "
                "sequence=2 tensor=4 microbatches=1\"\n",
    .run = run,
    .other = serving_explain_command,
};
