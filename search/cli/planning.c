/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/planning.h"

#include "base/file.h"
#include "base/number.h"
#include "base/text/prose.h"
#include "base/threads.h"
#include "base/util.h"
#include "search/answer/tie.h"
#include "search/cli/interrupt.h"
#include "search/launch/launcher.h"
#include "search/options/machine_words.h"

#include <ctype.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void planning_announce(const Request *request, const OutputChoice *choice, FILE *err) {
    char batch[NUMBER_TEXT_SIZE], seq[NUMBER_TEXT_SIZE], longest[NUMBER_TEXT_SIZE];
    if (request->control.threads > 0) omp_set_num_threads(threads_usable(request->control.threads));
    number_grouped(request->question.work.seq, seq);
    if (request->requested.seq_beyond_model && !choice->quiet)
        fprintf(err,
                "shardopt: warning: --seq: %s tokens are beyond the %s that %s is made for; planned as requested\n",
                seq, number_grouped(request->question.model.max_seq, longest), request->question.model.name);
    const Work *work = &request->question.work;
    double typed = request->requested.batch_origin == FROM_OPTION ? request->requested.batch_tokens : 0;
    if (typed > 0 && fabs(typed - (double)(work->sequences * work->seq)) >= 1 && !choice->quiet)
        fprintf(err, "shardopt: warning: --batch: %s tokens are no whole number of sequences; planned with %s of %s\n",
                number_grouped((int64_t)typed, longest), number_grouped(work->sequences, batch), seq);
    if (request->question.tuning.lengths && request->question.tuning.lengths->left_out && !choice->quiet)
        fprintf(err, "shardopt: warning: %s\n", request->question.tuning.lengths->left_out);
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

bool report_write_as(const Report *report, OutputFormat format, TextOut out, Error *error) {
    switch (format) {
    case FORMAT_JSON:
    case FORMAT_BRIEF:
        return report_write_json(report, format == FORMAT_BRIEF, out.file, error);
    case FORMAT_MARKDOWN:
        return report_write_markdown(report, out.file, error);
    case FORMAT_HTML:
        return report_write_html(report, out.file, error);
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

bool planning_begin(const CommandLine *line, Planning *out, Error *error) {
    *out = (Planning){.report = ARENA_NEW(line->arena, Report, 1)};
    options_of_line(line, &out->options);
    if (!out->report) return error_memory(error);
    interrupt_begin(&out->interrupts);
    return true;
}

int planning_end(const Planning *planning, bool ok) {
    interrupt_end(&planning->interrupts);
    return ok ? exit_of_result(&planning->report->result) : EXIT_USAGE;
}

enum { OPERAND_BYTES_MAX = 1 << 28 };

bool operand_is_file(const char *word) {
    return strcmp(word, "-") == 0 || strpbrk(word, "./") || access(word, F_OK) == 0;
}

/* Every report of ours says its version; no launcher's configuration has that word. */
static bool is_report(const char *text) {
    return text[strspn(text, " \t\r\n")] == '{' && strstr(text, "\"format_version\"");
}

bool operand_take_plan(CommandLine *line, const char *word, Error *error) {
    static const Option PLANS[] = {OPTION_PLAN, OPTION_FROM, OPTION_FROM_CONFIG};
    char *text;
    size_t length;
    for (size_t i = 0; i < COUNT_OF(PLANS); i++)
        if (line->text[PLANS[i]])
            return error_set(error, ERROR_INPUT, word, "is a second plan, next to %s; give one", line->where[PLANS[i]]);
    if (!file_read(word, OPERAND_BYTES_MAX, line->arena, &text, &length, error)) return false;
    Option option = is_report(text) ? OPTION_FROM : OPTION_FROM_CONFIG;
    line->text[option] = word;
    line->where[option] = option == OPTION_FROM ? "--from" : "--from-config";
    return true;
}

/* The words of a command line that plans: which options were given, and what they say of the output. */

_Static_assert((int)OPTION_COUNT <= (int)OPTIONS_MAX, "a command line has room for every option");

void options_of_line(const CommandLine *line, Options *out) {
    *out = (Options){.environment = cli_environment()};
    memcpy(out->text, line->text, sizeof out->text);
    memcpy(out->where, line->where, sizeof out->where);
}

bool options_parse(int argc, char **argv, const Command *command, Arena *arena, Options *out, Error *error) {
    CommandLine line;
    if (!command_line_read(command, argc, argv, arena, &line, error)) return false;
    options_of_line(&line, out);
    return true;
}

bool output_from_options(const Options *options, OutputChoice *out, Error *error) {
    int format = FORMAT_TEXT, color = COLOR_AUTO;
    const char *const *text = options->text;
    if (!choice_read(text[OPTION_FORMAT], "--format", "text json markdown html csv brief", &format, error) ||
        !choice_read(text[OPTION_COLOR], "--color", "auto always never", &color, error))
        return false;
    if (options->text[OPTION_VERBOSE] && options->text[OPTION_QUIET])
        return error_set(error, ERROR_INPUT, "--verbose", "contradicts --quiet; give one of them");
    if (options->text[OPTION_OUTPUT] && options->text[OPTION_OUTPUT][0] == '\0')
        return error_set(error, ERROR_INPUT, "--output", "is empty; give a file");
    const char *certificate = options->text[OPTION_CERTIFICATE];
    if (certificate && (certificate[0] == '\0' || strcmp(certificate, "-") == 0))
        return error_set(error, ERROR_INPUT, "--certificate", "is no file; give the name of one");
    *out = (OutputChoice){.format = (OutputFormat)format,
                          .color = (OutputColor)color,
                          .timing = options->text[OPTION_TIMING],
                          .verbose = options->text[OPTION_VERBOSE],
                          .quiet = options->text[OPTION_QUIET],
                          .path = options->text[OPTION_OUTPUT],
                          .certificate = options->text[OPTION_CERTIFICATE]};
    return true;
}

enum { SIZE_WORDS_SIZE = 128 };

/* What is said of a length or a batch that was typed in thousands: "8k is 8,000; 8,192 is 8Ki"; *powers: the power of
 * two. NULL, and *powers as it is: nothing. */
static const char *size_in_thousands(const char *text, char words[SIZE_WORDS_SIZE], int64_t *powers) {
    static const struct {
        char suffix;
        int64_t thousands, powers;
    } SCALES[] = {{'k', 1000, 1 << 10}, {'M', 1000000, 1 << 20}, {'G', 1000000000, 1 << 30}};
    char *end = NULL, decimal[NUMBER_TEXT_SIZE], binary[NUMBER_TEXT_SIZE];
    if (!text || !isdigit((unsigned char)text[0])) return NULL;
    long value = strtol(text, &end, 10);
    if (value <= 0 || value > 1000000 || end[0] == '\0' || end[1] != '\0') return NULL;
    for (size_t i = 0; i < COUNT_OF(SCALES); i++) {
        if (end[0] != SCALES[i].suffix) continue;
        *powers = value * SCALES[i].powers;
        snprintf(words, SIZE_WORDS_SIZE, "%s is %s; %s is %ld%ci", text,
                 number_grouped(value * SCALES[i].thousands, decimal), number_grouped(*powers, binary), value,
                 SCALES[i].suffix == 'k' ? 'K' : SCALES[i].suffix);
        return words;
    }
    return NULL;
}

/* "--seq: 8k is 8,000; 8,192 is 8Ki; --batch: ..."; false: nothing was typed so. */
static bool name_sizes(const Request *request, Prose *to) {
    const Requested *requested = &request->requested;
    char words[SIZE_WORDS_SIZE];
    int64_t powers;
    if (size_in_thousands(requested->typed_seq, words, &powers)) prose_item(to, "; ", "--seq: %s", words);
    if (size_in_thousands(requested->typed_batch, words, &powers)) prose_item(to, "; ", "--batch: %s", words);
    return to->used > 0;
}

void thousands_warn(const Request *request, const OutputChoice *choice, FILE *err) {
    Prose text = {0};
    if (!choice->quiet && name_sizes(request, &text))
        fprintf(err, "shardopt: warning: %s; planned as typed\n", text.text);
}

static double seconds_per_token(const RankedPlan *ranked) {
    return ranked->estimate.time.seconds / ((double)ranked->work.sequences * (double)ranked->work.seq);
}

/* The work with powers of two, a batch as whole sequences as the options have it. */
static Work in_powers(const Request *request) {
    const Requested *requested = &request->requested;
    char words[SIZE_WORDS_SIZE];
    Work work = request->question.work;
    int64_t batch = (int64_t)requested->batch_tokens;
    bool in_sequences = requested->batch_origin == FROM_OPTION && !requested->typed_batch[0];
    size_in_thousands(requested->typed_seq, words, &work.seq);
    size_in_thousands(requested->typed_batch, words, &batch);
    if (!in_sequences) work.sequences = sequences_of(batch, work.seq);
    return work;
}

/* How much longer a token takes as typed, as a share; 0: nobody knows. */
static bool ask_cost(const Report *report, double *cost, Error *error) {
    static const int64_t WORK_LEAST = 600000; /* as for the searches around a plan */
    Arena arena = {0};
    SearchResult result = {0};
    Request *changed = ARENA_NEW(&arena, Request, 1);
    if (!changed) return arena_free(&arena), error_memory(error);
    *changed = *report->request; /* of the launcher that won */
    changed->subproblems = NULL;
    changed->subproblem_count = 0;
    changed->question.work = in_powers(report->request);
    changed->control.top = 1;
    changed->control.different = changed->control.variants = false;
    changed->control.work_limit = max_whole(WORK_LEAST, report->result.work);
    bool ok = search_run(changed, &arena, &result, error);
    if (ok && result.plan_count > 0 && result.certificate.proof == PROOF_OPTIMAL)
        *cost = seconds_per_token(&report->result.plans[0]) / seconds_per_token(&result.plans[0]) - 1;
    arena_free(&arena);
    return ok;
}

bool thousands_warn_after(const Report *report, const OutputChoice *choice, FILE *err, Error *error) {
    Prose text = {0};
    double cost = 0;
    if (choice->quiet || !name_sizes(report->requested, &text)) return true;
    bool alone = report->result.plan_count == 0 || report->requested->control.sensitivity == SENSITIVITY_NONE ||
                 report->result.certificate.proof != PROOF_OPTIMAL;
    if (!alone && !ask_cost(report, &cost, error)) return false;
    prose_add(&text, "; planned as typed");
    if (fabs(cost) >= 0.0005)
        prose_add(&text, ", where a token takes %.1f%% %s time than with %s", 100 * fabs(cost),
                  cost > 0 ? "more" : "less", "powers of two");
    else if (!alone)
        prose_add(&text, ", which costs nothing here");
    fprintf(err, "shardopt: warning: %s\n", text.text);
    return true;
}
