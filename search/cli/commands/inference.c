/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt inference`: every way to serve a model, and the front of what users and chips get. */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory_stream.h"
#include "search/cli/commands.h"
#include "search/cli/commands/serving_reports.h"
#include "search/cli/interrupt.h"
#include "search/serving/options/served.h"

#include <stdlib.h>

static bool write_answer(const ServingReport *report, const CommandLine *line, Streams streams, Error *error) {
    int format = SERVED_TEXT;
    const char *path = NULL;
    if (!line_choice(line, SERVING_FORMAT, &format, error) || !line_file(line, SERVING_FILE, &path, error))
        return false;
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    TextOut out = {draft.file, format == SERVED_TEXT ? output_terminal(streams, path) : (Terminal){0}};
    bool ok = serving_write_as(report, (ServedFormat)format, out, error);
    return draft_write(&draft, ok, streams.out, path, error);
}

/* The search, with its certificate where one is asked for. */
static bool answer(const CommandLine *line, Served *served, Error *error) {
    ServingWords words = {line->text, line->where, cli_world(), NULL};
    const char *path = NULL;
    char *text = NULL;
    size_t length = 0;
    if (!line_file(line, SERVING_CERTIFICATE, &path, error)) return false;
    if (!path) return serve(&words, line->arena, served, error);
    words.certificate = memory_stream_open(&text, &length);
    if (!words.certificate) return error_memory(error);
    bool ok = serve(&words, line->arena, served, error);
    if (fclose(words.certificate) != 0 && ok) ok = error_memory(error);
    ok = ok && file_write(path, text, length, error);
    free(text);
    return ok;
}

/* A search and its report; `served` is freed by the caller. */
static bool infer(const CommandLine *line, Streams streams, Served *served, Error *error) {
    double start = clock_seconds();
    int format;
    if (!line_choice(line, SERVING_FORMAT, &format, error) || !answer(line, served, error)) return false;
    const ServingQuestion *question = &served->asked.question;
    if (question->model.max_seq > 0 && question->longest > (double)question->model.max_seq &&
        !line->text[SERVING_QUIET])
        fprintf(streams.err,
                "shardopt: warning: %.0f tokens are beyond the %lld that %s is made for; priced as asked\n",
                question->longest, (long long)question->model.max_seq, question->model.name);
    if (line->text[SERVING_TIMING]) fprintf(streams.err, "shardopt: %.3f s\n", clock_seconds() - start);
    return write_answer(&served->report, line, streams, error);
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    if (line->text[SERVING_FROM_CONFIG]) return serving_from_config(line, streams, error);
    Served *served = ARENA_NEW(line->arena, Served, 1);
    InterruptScope scope;
    if (!served) return error_memory(error), EXIT_DEFECT;
    interrupt_begin(&scope);
    bool ok = infer(line, streams, served, error);
    bool interrupted = interrupt_came(NULL);
    interrupt_end(&scope);
    int code = !ok ? EXIT_USAGE : interrupted ? EXIT_INTERRUPTED : served_code(served);
    served_free(served);
    return code;
}

const Command COMMAND_INFERENCE = {
    .name = "inference",
    .summary = "every way to serve a model: the exact front of latency and throughput",
    .usage = "inference --model NAME [--chip NAME] [--nodes N | --slice SHAPE | --chips N] [OPTIONS]\n"
             "inference --from-config FILE [OPTIONS]",
    .about = "Every layout, batch and split into pools, and the points of which none is beaten in tokens per second\n"
             "for each user and for each chip.",
    .details = "Every way to serve a model: the points of which none is beaten both in tokens per second for each user "
               "and for each chip, by engines' own rules and beside them by what divides and fits alone; the best for "
               "the limits, with a margin for the model's error; what the usual layout loses.",
    .options = SERVING_OPTIONS,
    .option_count = SERVING_OPTION_COUNT,
    .use = SERVING_USE_ANSWER,
    .footer = "Numbers take k M G T (powers of ten) and Ki Mi Gi Ti; shares also %; times ms and s.\n"
              "Exit codes: 0 done, 2 input is wrong, 3 nothing fits or keeps the limits, 4 a limit ended the search,\n"
              "70 a defect, 130 interrupted.",
    .examples = "shardopt inference --model 70b --chip h100 --nodes 1\n"
                "shardopt inference --model 8b --chip v5e --slice 2x4 --precision int8 --kv-dtype int8\n",
    .run = run,
};
