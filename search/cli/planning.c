/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/planning.h"

#include "base/number.h"
#include "base/threads.h"
#include "search/answer/gap.h"
#include "search/cli/interrupt.h"
#include "search/cli/output_options.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void planning_announce(const Request *request, const OutputChoice *choice, FILE *err) {
    char batch[NUMBER_TEXT_SIZE], seq[NUMBER_TEXT_SIZE], longest[NUMBER_TEXT_SIZE];
#ifdef _OPENMP
    if (request->control.threads > 0) omp_set_num_threads(threads_usable(request->control.threads));
#endif
    number_grouped(request->question.work.seq, seq);
    if (request->asked.seq_beyond_model && !choice->quiet)
        fprintf(err, "shardopt: warning: --seq: %s tokens are beyond the %s that %s is made for; planned as asked\n",
                seq, number_grouped(request->question.model.max_seq, longest), request->question.model.name);
    if (request->question.model.left_out[0] && !choice->quiet)
        fprintf(err, "shardopt: warning: %s is planned without what else its file has: %s\n",
                request->question.model.name, request->question.model.left_out);
    if (request->question.model.odd[0] && !choice->quiet)
        fprintf(err, "shardopt: warning: %s has what no published model has: %s; planned as it stands\n",
                request->question.model.name, request->question.model.odd);
    if (choice->verbose)
        fprintf(err, "shardopt: %s on %s of %s, %s sequences of %s tokens, profile %s\n", request->question.model.name,
                request->question.machine.text, request->question.chip.title,
                number_grouped(request->question.work.sequences, batch), seq, request->question.profile.name);
}

void planning_conclude(const SearchResult *result, const OutputChoice *choice, double seconds, FILE *err) {
    const Certificate *certificate = &result->certificate;
    char covered[COUNT_TEXT_SIZE], evaluated[COUNT_TEXT_SIZE], solved[COUNT_TEXT_SIZE];
    if (choice->verbose)
        fprintf(err, "shardopt: %s plans covered, %s evaluated, %s layouts solved\n",
                count_text(certificate->plans_covered, true, covered),
                count_text(certificate->plans_evaluated, true, evaluated),
                count_text(certificate->layouts_solved, true, solved));
    if (!choice->timing) return;
    fprintf(err, "shardopt: search %.3f s", result->seconds);
    if (result->first_plan.bounds > 0) fprintf(err, " (first plan after %.3f s)", result->first_plan.after_seconds);
    fprintf(err, ", all %.3f s\n", seconds);
}

TextOut planning_text_out(FILE *memory, const OutputChoice *choice, Streams streams) {
    if (choice->format != FORMAT_TEXT) return (TextOut){.file = memory};
    Terminal terminal = output_terminal(streams, choice->path);
    terminal.color = choice->color == COLOR_ALWAYS || (terminal.color && choice->color != COLOR_NEVER);
    return (TextOut){memory, terminal};
}

bool report_write_as(const Report *report, const PageFacts *facts, OutputFormat format, TextOut out, Error *error) {
    switch (format) {
    case FORMAT_JSON:
        return report_write_json(report, out.file, error);
    case FORMAT_MARKDOWN:
        return report_write_markdown(report, out.file, error);
    case FORMAT_HTML:
        return report_write_html(report, facts, out.file, error);
    case FORMAT_CSV:
        return report_write_csv(report, out.file, error);
    default:
        return report_write_text(report, out, error);
    }
}

int exit_of_result(const SearchResult *result) {
    if (result->interrupted || interrupt_came(NULL)) return EXIT_INTERRUPTED;
    if (result->exceeds_hbm) return EXIT_NO_PLAN;
    if (search_left_open(result)) return EXIT_LIMIT;
    return result->plan_count > 0 ? EXIT_DONE : EXIT_NO_PLAN;
}

int planning_run(const CommandLine *line, PlanningWork plan, Streams streams, Error *error) {
    Options options;
    options_of_line(line, &options);
    Report *report = ARENA_NEW(line->arena, Report, 1);
    if (!report) return error_memory(error), EXIT_DEFECT;
    InterruptScope scope;
    interrupt_begin(&scope);
    bool ok = plan(&options, line->arena, streams, report, error);
    interrupt_end(&scope);
    return ok ? exit_of_result(&report->result) : EXIT_USAGE;
}
