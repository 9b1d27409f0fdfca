/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt inference`, and what `explain` and `emit` make of its reports and of scripts that serve: a question of
 * serving is answered, and what was requested of the answer is written. */
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "search/cli/commands/kinds.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"
#include "search/launch/scheduler.h"
#include "search/launch/syntax/config_file.h"
#include "search/options/report_options.h"
#include "search/serving/launch/served_against.h"
#include "search/serving/launch/serving_script.h"

#include <string.h>

/* One answer, and what is made of it. */
typedef struct {
    const CommandLine *line;
    Options options;
    OutputChoice choice;
    Streams streams;
    const char *rank;     /* as --rank has it; NULL: the best */
    const cJSON *report;  /* that was requested again; NULL: none */
    const Engine *engine; /* of the script to write; NULL: any */
    const char *graph;    /* the orchestrator to write for; NULL: a script */
    ServedConfig *config; /* of the script that was read */
    bool ends, lacks;     /* what decides the exit code in place of the front: it does not fit */
    Draft certificate;
    double start;
} ServingWork;

/* Searches, and hands the answer to `make`; an interrupt ends the search with what it has. Returns the exit code. */
static int answer(ServingWork *work, bool (*make)(ServingWork *work, Served *served, Error *error), Error *error) {
    Arena *arena = work->line->arena;
    Served *served = ARENA_NEW(arena, Served, 1);
    InterruptScope scope;
    if (!served) return error_memory(error), EXIT_DEFECT;
    interrupt_begin(&scope);
    work->options.environment = cli_environment();
    bool ok = serve(&work->options, arena, served, error) && make(work, served, error);
    bool interrupted = interrupt_came(NULL);
    interrupt_end(&scope);
    int code = !ok           ? exit_of_error(error)
               : interrupted ? EXIT_INTERRUPTED
               : work->lacks ? EXIT_NO_PLAN
               : work->ends  ? EXIT_DONE
                             : served_code(served);
    served_free(served);
    return code;
}

static bool begin(const CommandLine *line, Streams streams, ServingWork *out, Error *error) {
    *out = (ServingWork){.line = line, .streams = streams, .rank = line->text[OPTION_RANK], .start = clock_seconds()};
    options_of_line(line, &out->options);
    return output_from_options(&out->options, &out->choice, error);
}

/* The options of a report in place of those of the line, which are to ask nothing. */
static bool ask_again(ServingWork *work, const cJSON *report, Error *error) {
    const char *file = work->options.text[OPTION_FROM];
    work->report = report;
    return options_have_no_input(work->line->command->options, &work->options, error) &&
           serving_options_of_report(report, file, &work->options, error);
}

static bool write_report(const ServingWork *work, const ServingReport *report, const ServingPoint *whole,
                         Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    TextOut out = planning_text_out(draft.file, &work->choice, work->streams);
    bool ok = whole ? serving_explain_text(report, whole, out, error)
                    : serving_write_as(report, (ServedFormat)work->choice.format, out, error);
    return draft_write(&draft, ok, work->streams.out, work->choice.path, error);
}

/* ---- scripts that serve ---- */

/* Options of the line count first; the file says what they leave. */
static bool read_script(ServingWork *work, Error *error) {
    const char *path = NULL;
    char *text;
    size_t length;
    const CommandLine *line = work->line;
    ServedConfig *config = work->config;
    const char **own = config->options.text;
    if (!line_file(line, OPTION_FROM_CONFIG, &path, error) ||
        !file_read(path, CONFIG_BYTES_MAX, line->arena, &text, &length, error))
        return false;
    scheduler_unwrap(text, &length);
    if (!served_config_read(path, text, length, line->arena, config, error)) return false;
    bool machine = false;
    for (int i = OPTION_PODS; i <= OPTION_GPUS_PER_NODE; i++) machine = machine || line->text[i];
    for (int i = OPTION_PODS; i <= OPTION_GPUS_PER_NODE && machine; i++) own[i] = NULL;
    if (line->text[OPTION_LENGTHS]) own[OPTION_PROMPT] = own[OPTION_ANSWER] = NULL;
    if (line->text[OPTION_RATE]) own[OPTION_CONCURRENCY] = NULL;
    if (line->text[OPTION_CONCURRENCY]) own[OPTION_RATE] = NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!line->text[i]) continue;
        own[i] = line->text[i];
        config->options.where[i] = line->where[i];
    }
    work->options = config->options;
    return true;
}

static bool make_comparison(ServingWork *work, Served *served, Error *error) {
    Draft draft;
    ServedAgainst *against = ARENA_NEW(work->line->arena, ServedAgainst, 1);
    if (!against) return error_memory(error);
    if (!served_against(work->config, served, work->line->arena, against, error) || !draft_open(&draft, error))
        return false;
    work->ends = true;
    work->lacks = !against->fits;
    TextOut out = planning_text_out(draft.file, &work->choice, work->streams);
    bool full = strcmp(work->line->command->name, "explain") == 0;
    bool ok = served_against_write(work->config, served, against, full, out, error);
    return draft_write(&draft, ok, work->streams.out, work->choice.path, error);
}

/* `--from-config FILE`: what is served with today, and why it is not the best. */
static int explain_script(const CommandLine *line, Streams streams, Error *error) {
    ServingWork work;
    if (!begin(line, streams, &work, error)) return EXIT_USAGE;
    if (work.choice.format != FORMAT_TEXT)
        return error_set(error, ERROR_INPUT, "--format", "is text with --from-config; leave it out"), EXIT_USAGE;
    work.config = ARENA_NEW(line->arena, ServedConfig, 1);
    if (!work.config) return error_memory(error), EXIT_DEFECT;
    return read_script(&work, error) ? answer(&work, make_comparison, error) : EXIT_USAGE;
}

/* ---- inference ---- */

static bool make_report(ServingWork *work, Served *served, Error *error) {
    const ServingQuestion *question = &served->request.question;
    Draft *certificate = &work->certificate;
    FILE *err = work->streams.err;
    if (certificate->file && !draft_write(certificate, true, NULL, work->choice.certificate, error)) return false;
    if (question->model.max_seq > 0 && question->longest > (double)question->model.max_seq && !work->choice.quiet)
        fprintf(err, "shardopt: warning: %.0f tokens are beyond the %lld that %s is made for; priced as requested\n",
                question->longest, (long long)question->model.max_seq, question->model.name);
    const char *left_out[] = {served->request.left_out, served->request.day.left_out};
    for (int i = 0; i < 2 && !work->choice.quiet; i++)
        if (left_out[i]) fprintf(err, "shardopt: warning: %s\n", left_out[i]);
    if (work->choice.timing) fprintf(err, "shardopt: %.3f s\n", clock_seconds() - work->start);
    served->report.screen = !work->choice.verbose && !work->choice.path;
    return write_report(work, &served->report, NULL, error);
}

static int infer(const CommandLine *line, Streams streams, Error *error) {
    ServingWork work;
    if (line->text[OPTION_FROM_CONFIG]) return explain_script(line, streams, error);
    if (!begin(line, streams, &work, error)) return EXIT_USAGE;
    if (work.choice.certificate && !draft_open(&work.certificate, error)) return EXIT_DEFECT;
    work.options.certificate = work.certificate.file;
    int code = answer(&work, make_report, error);
    if (work.certificate.file) draft_write(&work.certificate, false, NULL, NULL, error); /* the search failed */
    return code;
}

const Command COMMAND_INFERENCE = {
    .name = "inference",
    .summary = "every way to serve a model: the exact Pareto front of latency and throughput",
    .usage = "inference --model NAME [--chip NAME] [--nodes N | --slice SHAPE | --chips N] [OPTIONS]\n"
             "inference --from-config FILE [OPTIONS]",
    .about = "Every layout, batch and split into pools, and the Pareto front of tokens/s per user against tokens/s\n"
             "per chip.",
    .details =
        "Every way to serve a model: the points of which none is beaten both in tokens per second for each user "
        "and for each chip, by engines' own rules and, in addition, by what divides and fits alone; the best for "
        "the limits, with a margin for the model's error; what the usual layout loses.",
    .options = SERVING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_INFERENCE,
    .footer = "Numbers take k M G T (powers of ten) and Ki Mi Gi Ti; shares also %; times ms and s.\n"
              "Exit codes: 0 done, 2 input is wrong, 3 nothing fits or keeps the limits, 4 a limit ended the search,\n"
              "70 a defect, 130 interrupted.",
    .examples = "shardopt inference --model 70b --chip h100 --nodes 1\n"
                "shardopt inference --model 8b --chip v5e --slice 2x4 --precision int8 --kv-dtype int8\n",
    .run = infer,
};

/* ---- explain ---- */

/* What the report has at this rank is what it is called; a front of today may have another point there. */
static void warn_of_change(const cJSON *report, int64_t rank, const ServingPoint *point, FILE *err) {
    char now[POINT_TEXT_SIZE];
    const cJSON *was = cJSON_GetArrayItem(json_at(report, "front"), (int)rank - 1);
    const cJSON *name = json_at(was, "notation");
    if (cJSON_IsString(name) && strcmp(name->valuestring, point_notation(point, now)) != 0)
        fprintf(err, "shardopt: warning: rank %lld of the report was %s; now it is %s\n", (long long)rank,
                name->valuestring, now);
}

/* One point, as the answer would be with it alone. */
static bool make_explanation(ServingWork *work, Served *served, Error *error) {
    int64_t rank = 0;
    if (work->rank && !number_whole(work->rank, "--rank", 1, 1000000, &rank, error)) return false;
    if (rank == 0) rank = answer_best_rank(&served->request.question, &served->answer);
    const ServingPoint *point =
        served_point(served, rank, work->rank ? "--rank" : work->line->text[OPTION_FROM], error);
    if (!point) return false;
    if (!work->choice.quiet) warn_of_change(work->report, rank, point, work->streams.err);
    ServingPoint own = *point;
    ServingAnswer one = served->answer;
    ServingReport report = served->report;
    one.front = (ServingFront){.points = &own, .count = 1, .room = 1};
    one.physical = (ServingFront){0};
    one.best = own;
    one.has_best = true;
    one.kind_count = 1;
    one.kinds[0] = (ServingKind){"requested", own};
    report.answer = &one;
    return write_report(work, &report, work->choice.format == FORMAT_TEXT ? &own : NULL, error);
}

int serving_explain(const CommandLine *line, const cJSON *report, Streams streams, Error *error) {
    ServingWork work;
    return begin(line, streams, &work, error) && ask_again(&work, report, error)
               ? answer(&work, make_explanation, error)
               : EXIT_USAGE;
}

static int run_explain(const CommandLine *line, Streams streams, Error *error) {
    CommandLine *own = ARENA_NEW(line->arena, CommandLine, 1);
    if (!own) return error_memory(error), EXIT_DEFECT;
    *own = *line;
    for (int i = 0; i < line->argument_count; i++) {
        if (own->text[OPTION_FROM_CONFIG])
            return error_set(error, ERROR_INPUT, line->arguments[i], "is a second script; give one"), EXIT_USAGE;
        own->text[OPTION_FROM_CONFIG] = line->arguments[i];
        own->where[OPTION_FROM_CONFIG] = "--from-config";
    }
    return explain_script(own, streams, error);
}

static const Command EXPLAIN_SERVING = {
    .name = "explain",
    .summary = "what is served with today, in full",
    .usage = "explain --from-config FILE [OPTIONS]    (FILE starts vLLM, SGLang, TensorRT-LLM or MaxText)",
    .about = "What a script starts: its price, layout, step and memory; why it is not the best; what one change gains.",
    .options = SERVING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_INFERENCE,
    .takes_arguments = true,
    .footer = "Exit codes: 0 done, 2 input is wrong, 3 it does not fit, 70 a defect, 130 interrupted.",
    .run = run_explain,
};

/* Whether the file is there, and starts an engine. Whatever is wrong with it is said when it is read. */
static bool serves(const char *path) {
    Arena arena = {0};
    Error ignored = {0};
    char *text;
    size_t length;
    bool yes = strcmp(path, "-") != 0 && file_read(path, CONFIG_BYTES_MAX, &arena, &text, &length, &ignored) &&
               served_config_is(text);
    arena_free(&arena);
    return yes;
}

const Command *serving_explain_command(int argc, char **argv) {
    static const char OPTION[] = "--from-config";
    for (int i = 1; i < argc; i++) {
        size_t length = sizeof OPTION - 1;
        const char *path = argv[i][0] != '-' && argv[i - 1][0] != '-' ? argv[i] : NULL;
        if (strcmp(argv[i], OPTION) == 0 && i + 1 < argc) path = argv[i + 1];
        if (strncmp(argv[i], OPTION, length) == 0 && argv[i][length] == '=') path = argv[i] + length + 1;
        if (path && serves(path)) return &EXPLAIN_SERVING;
    }
    return NULL;
}

/* ---- emit ---- */

static const char SUFFIX[] = "-serving"; /* `maxtext` alone is a format of training */

/* The number of the engine; engine_count(): an orchestrator's, of any engine; -1: another format. */
static int format_engine(const char *name) {
    if (serving_graph_known(name)) return engine_count();
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
    fprintf(out, "  %-15s a DynamoGraphDeployment of the best engine, for Kubernetes\n", "dynamo");
    fprintf(out, "  %-15s values of llm-d's chart with vLLM, for Kubernetes\n", "llm-d");
}

/* The point requested by its rank; else the best. NULL: *error. */
static const ServingPoint *point_of(const Served *served, const Engine *engine, const char *rank_text, Error *error) {
    int64_t rank = answer_best_rank(&served->request.question, &served->answer);
    if (rank_text && !number_whole(rank_text, "--rank", 1, 1000000, &rank, error)) return NULL;
    const ServingPoint *point =
        !rank_text && served->answer.has_best ? &served->answer.best : served_point(served, rank, "--rank", error);
    if (!point || !engine || (point->pools[0].on.engine != NO_ENGINE && engine_at(point->pools[0].on.engine) == engine))
        return point;
    error_set(error, ERROR_INPUT, rank_text ? "--rank" : "--from", "is a point of %s; give `emit` its name",
              point_engine(point));
    return NULL;
}

typedef struct {
    const ServingReport *report;
    const ServingPoint *point;
    const char *graph; /* the orchestrator; NULL: a script */
} ScriptOfPoint;

static bool write_script(void *script, FILE *out, Error *error) {
    const ScriptOfPoint *own = script;
    return own->graph ? serving_graph_write(own->graph, own->report, own->point, out, error)
                      : serving_script_write(own->report, own->point, out, error);
}

static bool make_script(ServingWork *work, Served *served, Error *error) {
    Draft draft;
    const char *engine = work->graph ? work->graph : work->engine->name;
    FILE *err = work->streams.err;
    if (interrupt_came(NULL)) return fprintf(err, "shardopt: emit %s: interrupted; nothing is written\n", engine), true;
    if (served->answer.front.count == 0)
        return fprintf(err,
                       "shardopt: emit %s: nothing fits or keeps the limits; `shardopt inference` with the same "
                       "options says how far off\n",
                       engine),
               true;
    const ServingQuestion *question = served->report.question;
    const ScheduledJob job = {question->model.name, &question->chip, &question->machine, true, NULL};
    ScriptOfPoint script = {&served->report, point_of(served, work->engine, work->rank, error), work->graph};
    return script.point && draft_open(&draft, error) &&
           draft_write(&draft,
                       scheduler_write(work->line->text[OPTION_UNDER], &job, write_script, &script, draft.file, error),
                       work->streams.out, work->choice.path, error);
}

int serving_emit(const CommandLine *line, const char *format, const cJSON *report, Streams streams, Error *error) {
    ServingWork work;
    int engine = format_engine(format);
    if (engine < 0 && strcmp(format, "maxtext") != 0)
        return error_set(error, ERROR_INPUT, line->text[OPTION_FROM],
                         "is a report of `inference`, and %s trains; give vllm, sglang, tensorrt-llm or maxtext",
                         format),
               EXIT_USAGE;
    if (!begin(line, streams, &work, error) || !scheduler_known(line->text[OPTION_UNDER], error)) return EXIT_USAGE;
    work.graph = engine == engine_count() ? format : NULL;
    work.engine = work.graph ? serving_graph_engine(format) : engine < 0 ? &ENGINE_MAXTEXT : engine_at(engine);
    if (work.graph && line->text[OPTION_UNDER])
        return error_set(error, ERROR_INPUT, "--under", "starts scripts, and %s starts workers itself", format),
               EXIT_USAGE;
    const char *named = work.options.text[OPTION_ENGINE];
    if (report) return ask_again(&work, report, error) ? answer(&work, make_script, error) : EXIT_USAGE;
    if (named && work.engine && engine_named(named) != engine_named(work.engine->name))
        return error_set(error, ERROR_INPUT, "--engine", "is not the engine of the format; leave it out"), EXIT_USAGE;
    if (work.engine) work.options.text[OPTION_ENGINE] = work.engine->name;
    work.options.where[OPTION_ENGINE] = "emit";
    return answer(&work, make_script, error);
}

/* The words without an option: the format, and perhaps a report, in any order. */
static bool take_words(const CommandLine *line, const char **format, const char **from, Error *error) {
    for (int i = 0; i < line->argument_count; i++) {
        const char *word = line->arguments[i];
        bool engine = format_engine(word) >= 0;
        if (engine && !*format)
            *format = word;
        else if (engine)
            return error_set(error, ERROR_INPUT, word, "is one format too many; give one");
        else if (!operand_is_file(word) || *from)
            return error_set(error, ERROR_INPUT, word,
                             "is not expected here; give one report of inference --format json");
        else
            *from = word;
    }
    return *format ||
           error_set(error, ERROR_INPUT, "emit", "has no engine; give vllm, sglang, tensorrt-llm or maxtext-serving");
}

static int run_emit(const CommandLine *line, Streams streams, Error *error) {
    const char *format = NULL, *from = line->text[OPTION_FROM];
    cJSON *report = NULL;
    CommandLine own = *line;
    if (!take_words(line, &format, &from, error)) return EXIT_USAGE;
    own.text[OPTION_FROM] = from;
    if (from && !(report = json_read_file(from, error))) return EXIT_USAGE;
    int code = EXIT_USAGE;
    if (from && !serving_report_is(report))
        error_set(error, ERROR_INPUT, from, "is no report of `shardopt inference`; write one with --format json");
    else
        code = serving_emit(&own, format, report, streams, error);
    cJSON_Delete(report);
    return code;
}

static const Command EMIT_SERVING = {
    .name = "emit",
    .summary = "a way to serve as a script that starts it",
    .usage = "emit vllm|sglang|tensorrt-llm|maxtext-serving|dynamo|llm-d --from REPORT [--rank N] [-o FILE]\n"
             "emit vllm|sglang|tensorrt-llm|maxtext-serving|dynamo|llm-d --model NAME [-o FILE] [OPTIONS]",
    .about =
        "The best point for the options, or one of a report's front, as a script that starts every worker, routes\n"
        "to them, and runs the load test that would confirm what was predicted.",
    .options = SERVING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_EMIT,
    .takes_arguments = true,
    .footer = "Exit codes: 0 done, 2 input is wrong, 3 nothing fits or keeps the limits, 4 a limit ended the search,\n"
              "70 a defect, 130 interrupted.",
    .run = run_emit,
};

/* Whether the word behind it is a value. */
static bool takes_value(const char *word) {
    for (int i = 0; i < OPTION_COUNT; i++) {
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
