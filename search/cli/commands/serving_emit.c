/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt emit vllm|sglang|tensorrt-llm|maxtext-serving`: a way to serve as a script that starts it. */
#include "base/json.h"
#include "base/number.h"
#include "search/cli/commands/serving_reports.h"
#include "search/cli/interrupt.h"
#include "search/cli/operands.h"
#include "search/options/options.h"
#include "search/serving/launch/serving_script.h"

#include <stdlib.h>
#include <string.h>

static const char SUFFIX[] = "-serving"; /* `maxtext` alone is a format of training */

static int format_engine(const char *name) {
    for (int i = 0; i < engine_count(); i++) {
        const char *own = engine_at(i)->name;
        size_t length = strlen(own);
        if (strncmp(name, own, length) == 0 && strcmp(name + length, SUFFIX) == 0) return i;
        if (strcmp(own, "maxtext") != 0 && strcmp(name, own) == 0) return i;
    }
    return -1;
}

void serving_emit_list(FILE *out) {
    for (int i = 0; i < engine_count(); i++) {
        const char *own = engine_at(i)->name;
        char name[32];
        snprintf(name, sizeof name, "%s%s", own, strcmp(own, "maxtext") == 0 ? SUFFIX : "");
        fprintf(out, "  %-15s a bash script that starts %s as `inference` priced it\n", name, engine_at(i)->title);
    }
}

/* What the answer lacks, on stderr; true: nothing. */
static bool has_point(const Served *served, const Engine *engine, FILE *err) {
    if (interrupt_came(NULL))
        fprintf(err, "shardopt: emit %s: interrupted; nothing is written\n", engine->name);
    else if (served->answer.front.count == 0)
        fprintf(err,
                "shardopt: emit %s: nothing fits or keeps the limits; `shardopt inference` with the same options "
                "says how far off\n",
                engine->name);
    else
        return true;
    return false;
}

/* The point asked for by its rank; else the best. NULL: *error. */
static const ServingPoint *point_of(const Served *served, const Engine *engine, const char *rank_text, Error *error) {
    int64_t rank = answer_best_rank(&served->asked.question, &served->answer);
    if (rank_text && !number_whole(rank_text, "--rank", 1, 1000000, &rank, error)) return NULL;
    const ServingPoint *point =
        !rank_text && served->answer.has_best ? &served->answer.best : served_point(served, rank, "--rank", error);
    if (!point || (point->pools[0].on.engine != NO_ENGINE && engine_at(point->pools[0].on.engine) == engine))
        return point;
    error_set(error, ERROR_INPUT, rank_text ? "--rank" : "--from", "is a point of %s; give `emit` its name",
              point_engine(point));
    return NULL;
}

static bool write_point(const Served *served, const ServingPoint *point, const char *path, Streams streams,
                        Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    bool ok = serving_script_write(&served->report, point, draft.file, error);
    return draft_write(&draft, ok, streams.out, path, error);
}

typedef struct {
    const Engine *engine;
    ServingWords words;
    const char *rank, *path;
} Emitting;

static int emit_answer(const Emitting *to, Arena *arena, Streams streams, Error *error) {
    Served *served = ARENA_NEW(arena, Served, 1);
    InterruptScope scope;
    if (!served) return error_memory(error), EXIT_DEFECT;
    interrupt_begin(&scope);
    bool ok = serve(&to->words, arena, served, error);
    if (ok && has_point(served, to->engine, streams.err)) {
        const ServingPoint *point = point_of(served, to->engine, to->rank, error);
        ok = point && write_point(served, point, to->path, streams, error);
    }
    bool interrupted = interrupt_came(NULL);
    interrupt_end(&scope);
    int code = !ok ? exit_of_error(error) : interrupted ? EXIT_INTERRUPTED : served_code(served);
    served_free(served);
    return code;
}

/* The words of a report in the place of options; false: *error. */
static bool words_of_report(const cJSON *report, const char *file, ServingTexts *texts, Error *error) {
    if (!serving_report_is(report))
        return error_set(error, ERROR_INPUT, file,
                         "is no report of `shardopt inference`; write one with --format json");
    return serving_texts_of_report(report, file, texts, error);
}

/* The words without an option: the format, and perhaps a report, in any order. */
static bool take_words(const CommandLine *line, int *number, const char **from, Error *error) {
    *number = -1;
    for (int i = 0; i < line->argument_count; i++) {
        const char *word = line->arguments[i];
        int engine = format_engine(word);
        if (engine >= 0 && *number < 0)
            *number = engine;
        else if (engine >= 0)
            return error_set(error, ERROR_INPUT, word, "is one format too many; give one");
        else if (!operand_is_file(word) || *from)
            return error_set(error, ERROR_INPUT, word,
                             "is not expected here; give one report of inference --format json");
        else
            *from = word;
    }
    return *number >= 0 ||
           error_set(error, ERROR_INPUT, "emit", "has no engine; give vllm, sglang, tensorrt-llm or maxtext-serving");
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    ServingTexts texts;
    cJSON *report = NULL;
    int number;
    const char *from = line->text[SERVING_FROM];
    if (!take_words(line, &number, &from, error)) return EXIT_USAGE;
    Emitting to = {.engine = engine_at(number), .rank = line->text[SERVING_RANK]};
    memcpy(texts.text, line->text, sizeof texts.text);
    memcpy(texts.where, line->where, sizeof texts.where);
    if (!line_file(line, SERVING_FILE, &to.path, error)) return EXIT_USAGE;
    for (int i = 0; i < SERVING_OPTION_COUNT && from; i++)
        if (SERVING_OPTIONS[i].asks && texts.text[i])
            return error_set(error, ERROR_INPUT, texts.where[i],
                             "contradicts --from, whose report has the request; leave it out"),
                   EXIT_USAGE;
    if (from && (!(report = json_read_file(from, error)) || !words_of_report(report, from, &texts, error))) {
        cJSON_Delete(report);
        return EXIT_USAGE;
    }
    if (!from && texts.text[SERVING_ENGINE] && engine_named(texts.text[SERVING_ENGINE]) != number)
        return error_set(error, ERROR_INPUT, texts.where[SERVING_ENGINE],
                         "is not the engine of the format; leave it out"),
               EXIT_USAGE;
    if (!from) texts.text[SERVING_ENGINE] = to.engine->name;
    if (!from) texts.where[SERVING_ENGINE] = "emit";
    to.words = (ServingWords){texts.text, texts.where, cli_world(), NULL};
    int code = emit_answer(&to, line->arena, streams, error);
    cJSON_Delete(report);
    return code;
}

static const Command EMIT_SERVING = {
    .name = "emit",
    .summary = "a way to serve as a script that starts it",
    .usage = "emit vllm|sglang|tensorrt-llm|maxtext-serving --from REPORT [--rank N] [-o FILE]\n"
             "emit vllm|sglang|tensorrt-llm|maxtext-serving --model NAME [-o FILE] [OPTIONS]",
    .about =
        "The best point for the options, or one of a report's front, as a script that starts every worker, routes\n"
        "to them, and runs the load test that would confirm what was predicted.",
    .options = SERVING_OPTIONS,
    .option_count = SERVING_OPTION_COUNT,
    .use = SERVING_USE_EMIT,
    .takes_arguments = true,
    .footer = "Exit codes: 0 done, 2 input is wrong, 3 nothing fits or keeps the limits, 4 a limit ended the search,\n"
              "70 a defect, 130 interrupted.",
    .run = run,
};

/* Whether the word behind it is a value. */
static bool takes_value(const char *word) {
    for (int i = 0; i < SERVING_OPTION_COUNT; i++) {
        const CommandOption *option = &SERVING_OPTIONS[i];
        bool letter = option->letter && word[0] == '-' && word[1] == option->letter && !word[2];
        if (!option->takes && option->name && (letter || strcmp(word + strspn(word, "-"), option->name) == 0))
            return false;
    }
    return word[0] == '-' && !strchr(word, '=');
}

const Command *serving_emit_command(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (format_engine(argv[i]) >= 0 && (i == 1 || !takes_value(argv[i - 1]))) return &EMIT_SERVING;
    return NULL;
}

bool serving_emit(const CommandLine *line, const char *format, Streams streams, int *code, Error *error) {
    const char *file = line->text[OPTION_FROM];
    cJSON *report = json_read_file(file, error);
    ServingTexts texts;
    if (!serving_report_is(report)) {
        if (report) *error = (Error){0}; /* the planner reads it itself */
        cJSON_Delete(report);
        return false;
    }
    Emitting to = {.engine = &ENGINE_MAXTEXT, .rank = line->text[OPTION_RANK], .path = line->text[OPTION_OUTPUT]};
    bool ok =
        strcmp(format, "maxtext") == 0 ||
        error_set(error, ERROR_INPUT, file,
                  "is a report of `inference`, and %s trains; give vllm, sglang, tensorrt-llm or maxtext", format);
    for (Option option = 0; option < OPTION_COUNT && ok; option++)
        if (option_asks(option) && line->text[option])
            ok = error_set(error, ERROR_INPUT, line->where[option],
                           "contradicts --from, whose report has the request; leave it out");
    ok = ok && serving_texts_of_report(report, file, &texts, error);
    to.words = (ServingWords){texts.text, texts.where, cli_world(), NULL};
    *code = ok ? emit_answer(&to, line->arena, streams, error) : EXIT_USAGE;
    cJSON_Delete(report);
    return true;
}
