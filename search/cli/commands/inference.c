/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt inference`: every way to serve a model, and the front of what users and chips get. */
#include "base/build.h"
#include "base/clock.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/interrupt.h"
#include "search/options/data_hash.h"
#include "search/serving/options/serving_options.h"
#include "search/serving/report/serving_report.h"

#include <stdlib.h>

typedef enum { INFERENCE_TEXT, INFERENCE_JSON, INFERENCE_MARKDOWN, INFERENCE_HTML, INFERENCE_CSV } InferenceFormat;

static bool write_report(const ServingReport *report, InferenceFormat format, TextOut out, Error *error) {
    switch (format) {
    case INFERENCE_JSON:
        return serving_write_json(report, out.file, error);
    case INFERENCE_MARKDOWN:
        return serving_write_markdown(report, out.file, error);
    case INFERENCE_HTML:
        return serving_write_html(report, out.file, error);
    case INFERENCE_CSV:
        return serving_write_csv(report, out.file, error);
    default:
        return serving_write_text(report, out, error);
    }
}

static bool write_answer(const ServingReport *report, const CommandLine *line, Streams streams, Error *error) {
    int format = INFERENCE_TEXT;
    const char *path = NULL;
    char *text = NULL;
    size_t length = 0;
    if (!line_choice(line, SERVING_FORMAT, &format, error) || !line_file(line, SERVING_FILE, &path, error))
        return false;
    FILE *memory = open_memstream(&text, &length);
    if (!memory) return error_memory(error);
    TextOut out = {memory, format == INFERENCE_TEXT ? output_terminal(streams, path) : (Terminal){0}};
    bool ok = write_report(report, (InferenceFormat)format, out, error);
    if (fclose(memory) != 0 && ok) ok = error_memory(error);
    ok = ok && output_write(streams.out, path, text, length, error);
    free(text);
    return ok;
}

static int exit_of_answer(const ServingAnswer *answer) {
    if (interrupt_came(NULL)) return EXIT_INTERRUPTED;
    if (!answer->count.complete) return EXIT_LIMIT;
    return answer->front.count > 0 ? EXIT_DONE : EXIT_NO_PLAN;
}

/* A search and its report; `answer` is freed by the caller. */
static bool infer(const CommandLine *line, Streams streams, ServingAnswer *answer, Error *error) {
    ServingWords words = {line->text, line->where, cli_world()};
    ServingAsked *asked = ARENA_NEW(line->arena, ServingAsked, 1);
    char sha256[SHA256_HEX_SIZE], profile_sha256[SHA256_HEX_SIZE];
    double start = clock_seconds();
    int format;
    if (!asked) return error_memory(error);
    if (!line_choice(line, SERVING_FORMAT, &format, error) || !serving_question(&words, line->arena, asked, error) ||
        !file_data_sha256(sha256, line->arena, error) || !file_sha256(asked->profile_path, profile_sha256, error) ||
        !serving_answer(&asked->question, line->arena, answer, error))
        return false;
    if (asked->question.model.max_seq > 0 && asked->question.longest > (double)asked->question.model.max_seq &&
        !line->text[SERVING_QUIET])
        fprintf(streams.err,
                "shardopt: warning: %.0f tokens are beyond the %lld that %s is made for; priced as asked\n",
                asked->question.longest, (long long)asked->question.model.max_seq, asked->question.model.name);
    ServingReport report = {.question = &asked->question,
                            .answer = answer,
                            .machine = asked->machine,
                            .model = asked->model,
                            .lengths = asked->lengths,
                            .profile = asked->profile,
                            .version = program_version(),
                            .data_sha256 = sha256,
                            .profile_sha256 = profile_sha256,
                            .weights_said = asked->weights_said,
                            .engines_said = asked->engines_said,
                            .top = asked->top};
    if (line->text[SERVING_TIMING]) fprintf(streams.err, "shardopt: %.3f s\n", clock_seconds() - start);
    return write_answer(&report, line, streams, error);
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    ServingAnswer answer = {0};
    InterruptScope scope;
    interrupt_begin(&scope);
    bool ok = infer(line, streams, &answer, error);
    interrupt_end(&scope);
    int code = ok ? exit_of_answer(&answer) : EXIT_USAGE;
    serving_answer_free(&answer);
    return code;
}

const Command COMMAND_INFERENCE = {
    .name = "inference",
    .summary = "every way to serve a model: the exact front of latency and throughput",
    .usage = "inference --model NAME [--chip NAME] [--nodes N | --slice SHAPE | --chips N] [OPTIONS]",
    .about = "Every layout, batch and split into pools, and the points of which none is beaten in tokens per second\n"
             "for each user and for each chip.",
    .details = "Every way to serve a model: the points of which none is beaten both in tokens per second for each user "
               "and for each chip, by engines' own rules and beside them by what divides and fits alone; the best for "
               "the limits, with a margin for the model's error; what the usual layout loses.",
    .options = SERVING_OPTIONS,
    .option_count = SERVING_OPTION_COUNT,
    .footer = "Numbers take k M G T (powers of ten) and Ki Mi Gi Ti; shares also %; times ms and s.\n"
              "Exit codes: 0 done, 2 input is wrong, 3 nothing fits or keeps the limits, 4 a limit ended the search,\n"
              "70 a defect, 130 interrupted.",
    .examples = "shardopt inference --model 70b --chip h100 --nodes 1\n"
                "shardopt inference --model 8b --chip v5e --slice 2x4 --precision int8 --kv-dtype int8\n",
    .run = run,
};
