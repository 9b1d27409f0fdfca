/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "cost/measured/run.h"
#include "models/config/model_json.h"
#include "models/parameters.h"
#include "search/cli/commands.h"
#include "search/cli/commands/inflate.h"
#include "search/cli/names.h"
#include "search/cli/planning.h"
#include "search/graph/problem.h"
#include "search/graph/solve.h"
#include "search/launch/import.h"
#include "search/options/options.h"
#include "search/program/flow.h"
#include "search/rl/rl_files.h"
#include "search/serving/launch/served_against.h"
#include "search/serving/measured/serving_runs.h"
#include "search/serving/options/serving_options.h"
#include "search/sweep/sweep.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

/* Whatever a config.json holds, model_from_json says yes or no with one line, and what it takes can be counted: no
 * crash, no overflow, no step past the end. */
void fuzz_config(char *text, size_t size) {
    Error error = {0};
    Model model;
    cJSON *json = json_parse(text, size, "fuzz", &error);
    if (!json) return;
    bool ok = model_from_json(json, "fuzz", false, &model, &error);
    cJSON_Delete(json);
    fuzz_input(ok, &error);
    if (!ok) return;
    Parameters parameters = model_parameters(&model);
    if (parameters.total <= 0 || parameters.active <= 0 || parameters.active > parameters.total) abort();
    for (int convention = FLOPS_6N; convention <= FLOPS_HARDWARE; convention++)
        if (!isfinite(model_flops_per_token(&model, convention, model.max_seq))) abort();
}

/* Whatever the bytes are, a launch configuration is read or refused with one line: no crash, no leak, no step past the
 * end, no growth without a bound. What is read has keys with values, and the first half of every launcher takes it or
 * says no. */
void fuzz_config_import(char *text, size_t size) {
    for (int said = 0; said <= launcher_count(); said++) {
        Arena arena = {0};
        Error error = {0};
        ConfigFile file;
        ImportedWork work;
        int launcher;
        const char *format = said < launcher_count() ? launcher_name(said) : NULL;
        bool ok = import_read("fuzz", text, size, format, &arena, &file, &launcher, &error);
        fuzz_input(ok, &error);
        for (int64_t i = 0; ok && i < file.count; i++)
            if (!file.entries[i].key || !file.entries[i].value) abort();
        if (ok) fuzz_input(import_work(launcher, &file, &work, &error), &error);
        arena_free(&arena);
    }
}

/* Whatever the bytes are, a configuration of reinforcement learning is read or refused with one line, and so is the
 * request that it stands for; read again it is the same. What is requested leaves somebody to generate and to train, is
 * no further off policy than there is, and has no update of more answers than there are. */
void fuzz_rl_config(char *text, size_t size) {
    Arena arena = {0};
    Error error = {0};
    Options *read = calloc(2, sizeof *read);
    RlQuestion *question = calloc(1, sizeof *question);
    RlConfig config = {"fuzz", text, size, NULL};
    if (!read || !question) abort();
    for (int i = 0; i < 2; i++) read[i].text[OPTION_CHIP] = "h100", read[i].where[OPTION_CHIP] = "--chip";
    bool ok = rl_import(&config, &arena, &read[0], &error);
    fuzz_input(ok, &error);
    error = (Error){0};
    if (ok != rl_import(&config, &arena, &read[1], &error)) abort();
    for (int i = 0; ok && i < OPTION_COUNT; i++)
        if (!read[0].text[i] != !read[1].text[i] || (read[0].text[i] && strcmp(read[0].text[i], read[1].text[i]) != 0))
            abort();
    error = (Error){0};
    if (ok && size % 16) goto done; /* the zoo takes a second */
    if (ok) {
        ok = rl_question(&read[0], &arena, question, &error);
        fuzz_check(ok, &error); /* a model's file may not be there */
    }
    if (ok && (question->train_hosts >= question->hosts || question->hosts < 1 || question->lag > RL_LAG_MAX ||
               question->lag < 0 || question->train_batch > question->prompts * question->samples ||
               !(question->answers.mean <= question->answers.longest)))
        abort();
done:
    free(question);
    free(read);
    arena_free(&arena);
}

/* Whatever the bytes are, they are inflated up to a limit or refused with one line. The same bytes, deflated by zlib,
 * come out again; cut anywhere, they are refused. */
void fuzz_gzip(char *bytes, size_t size) {
    enum { LIMIT = 1 << 20 };
    Error error = {0};
    char *text = NULL;
    size_t length = 0;
    bool ok = inflate_gzip(bytes, size, LIMIT, "fuzz", &text, &length, &error);
    fuzz_input(ok, &error);
    if (ok && length > LIMIT) abort();
    if (ok) free(text);
    z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
    size_t room = compressBound(size) + 64;
    char *packed = malloc(room);
    if (!packed || deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) abort();
    error = (Error){0};
    if (!inflate_gzip(packed, stream.total_out, LIMIT, "packed", &text, &length, &error) || length != size ||
        (size > 0 && memcmp(text, bytes, size) != 0))
        abort();
    free(text);
    ok = inflate_gzip(packed, size % stream.total_out, LIMIT, "cut", &text, &length, &error);
    fuzz_input(ok, &error);
    if (ok) abort();
    deflateEnd(&stream);
    free(packed);
}

/* Whatever the bytes are, json_parse says yes or no: no crash, no leak, no step past the end. What it takes can be
 * printed, and what was printed it takes again. */
void fuzz_json(char *text, size_t size) {
    Error error = {0};
    cJSON *json = json_parse(text, size, "fuzz", &error);
    if ((json == NULL) != (error.kind != ERROR_NONE) || error.kind == ERROR_MEMORY) abort();
    if (!json) return;
    char *printed = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&printed, &length);
    if (!out || !json_print(out, json)) abort();
    fclose(out);
    cJSON *again = json_parse(printed, length, "printed", &error);
    if (!again || !cJSON_Compare(json, again, true)) abort();
    cJSON_Delete(again);
    cJSON_Delete(json);
    free(printed);
}

static double no_time(void *context) {
    (void)context;
    return 0;
}

static bool never(void *context) {
    (void)context;
    return false;
}

/* Whatever the bytes are, graph_read says yes or no with one line at line:column, and what it takes is solved a little:
 * no crash, no leak, no step past the end, and any choice given fits. */
void fuzz_layout(char *text, size_t size) {
    Arena arena = {0};
    Error error = {0};
    StrategyGraph graph;
    GraphResult result;
    GraphControl control = {
        .seconds = no_time, .interrupted = never, .time_limit = INFINITY, .effort = 1e-4, .threads = 1};
    bool ok = graph_read(text, size, "fuzz", &graph, &error);
    fuzz_input(ok, &error);
    if (ok && graph.node_count < 200 && graph_solve(&graph, &control, &arena, &result, &error)) {
        if (result.found && (!result.value.is_feasible || result.bound > result.value.cost)) abort();
        if (!result.found && result.proof == GRAPH_OPTIMAL) abort();
    }
    graph_free(&graph);
    arena_free(&arena);
}

/* Whatever the bytes are, a program is read or refused with one line, and what is read can be followed or is refused
 * with one line: no crash, no leak, no step past the end. What is followed has edges between its nodes, operands that
 * its factors know, and shardings that divide nothing but dimensions. */
void fuzz_program(char *text, size_t size) {
    Arena arena = {0};
    Error error = {0};
    Program program;
    Flow flow = {0};
    bool ok = program_read(text, size, "fuzz", &program, &error);
    fuzz_input(ok, &error);
    if (ok) {
        ok = flow_of_program(&program, &arena, &flow, &error);
        fuzz_input(ok, &error);
    }
    for (int64_t i = 0; ok && i < flow.edges; i++) {
        const FlowEdge *edge = &flow.edge[i];
        if (edge->from < 0 || edge->from >= flow.nodes || edge->to < 0 || edge->to >= flow.nodes) abort();
        const FlowNode *from = &flow.node[edge->from], *to = &flow.node[edge->to];
        for (int d = 0; d < edge->type.rank; d++)
            if (edge->view.map[d] >= from->type.rank) abort();
        for (int k = 0; to->kind == FLOW_WORK && k < to->factors; k++)
            if (to->factor[k].operand[edge->operand] >= edge->type.rank || to->factor[k].result >= to->type.rank)
                abort();
    }
    flow_free(&flow);
    program_free(&program);
    arena_free(&arena);
}

/* Whatever the bytes are, run_table_parse says yes or no with one line: no crash, no leak, no step past the end. What
 * it takes has ids, sizes in their ranges and finite figures. */
void fuzz_runs(char *text, size_t size) {
    Arena arena = {0};
    Error error = {0};
    RunTable table;
    bool ok = run_table_parse("fuzz", text, size, &arena, &table, &error);
    fuzz_input(ok, &error);
    for (int64_t i = 0; ok && i < table.count; i++) {
        const Run *run = &table.runs[i];
        const RunRequest *request = &run->request;
        if (!run->id[0] || request->seq < 0 || request->sequences < 0 || request->chips < 0 ||
            !isfinite(run->measured.step_seconds) || (request->words == NULL) != (true))
            abort();
    }
    arena_free(&arena);
}

/* Whatever the bytes are, the readers of load tests and of start scripts say yes or no with one line: no crash, no
 * leak, no step past the end. */
void fuzz_serving(char *text, size_t size) {
    Arena arena = {0};
    Error first = {0}, second = {0};
    ServedConfig *config = ARENA_NEW(&arena, ServedConfig, 1);
    ServingRuns runs;
    if (!config) return;
    fuzz_input(served_config_read("fuzz", text, size, &arena, config, &first), &first);
    fuzz_input(bench_report_read("fuzz", text, "chip=h100 engine=vllm", &arena, &runs, &second), &second);
    arena_free(&arena);
}

static bool is_figure(double value) { return isfinite(value) && value >= 0; }

/* Whatever the bytes are, a table of serving runs, and those of lengths and rates, are read or refused with one line.
 * What is read has finite figures, none below zero; lengths and their shares rise, and the last share is 1. */
void fuzz_serving_runs(char *text, size_t size) {
    Arena arena = {0};
    Error error = {0};
    ServingRuns runs;
    char *lengths = arena_format(&arena, "%.*s", (int)size, text); /* the table is written to */
    if (!lengths) return;
    bool ok = serving_runs_parse("fuzz", text, size, &arena, &runs, &error);
    fuzz_input(ok, &error);
    for (int64_t i = 0; ok && i < runs.count; i++) {
        const ServingRun *run = &runs.runs[i];
        if (!run->model || !run->chip || !run->engine || !is_figure(run->tpot_seconds) ||
            !is_figure(run->ttft_seconds) || !is_figure(run->tokens_per_second) || !is_figure(run->concurrency))
            abort();
    }
    error = (Error){0};
    ServingQuestion *question = calloc(1, sizeof *question);
    const char *left_out;
    if (question) fuzz_input(serving_lengths(lengths, "fuzz", &arena, question, &left_out, &error), &error);
    free(question);
    error = (Error){0};
    ServingDay day;
    ok = serving_day_read(lengths, "fuzz", &arena, &day, &error);
    fuzz_input(ok, &error);
    if (ok && (day.count < 1 || !is_figure(day.peak) || !(day.peak > 0))) abort();
    error = (Error){0};
    Lengths samples;
    ok = lengths_read(lengths, "fuzz", 0, &arena, &samples, &error);
    fuzz_input(ok, &error);
    for (int64_t i = 1; ok && i < samples.count; i++)
        if (samples.length[i] < samples.length[i - 1] || samples.share[i] < samples.share[i - 1]) abort();
    if (ok && (samples.length[0] < 1 || samples.share[samples.count - 1] != 1 || !is_figure(samples.mean) ||
               samples.mean > samples.longest * (1 + 1e-9)))
        abort();
    arena_free(&arena);
}

static void write_tables(const SweepGrid *grid, const SweepRow *rows) {
    for (SweepFormat format = 0; format < SWEEP_FORMATS; format++) {
        Error error = {0};
        FILE *out = fopen("/dev/null", "w");
        bool ok = sweep_write(grid, rows, &(SweepGoal){0}, format, (TextOut){.file = out}, &error);
        if (!ok && error.kind != ERROR_INTERNAL && error.kind != ERROR_INPUT) abort();
        fclose(out);
    }
}

/* Every point of the grid from one row, as a sweep of so many would have them. */
static void read_rows(const SweepHeader *header, const char *at, const char *end) {
    enum { MOST = 64 };
    SweepRow rows[MOST] = {0};
    int64_t known = 0;
    for (const char *newline; at < end && (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
        Error error = {0};
        SweepRow row;
        bool ok = sweep_row_read(&header->grid, at, (size_t)(newline - at), "fuzz", &row, &error);
        fuzz_input(ok, &error);
        if (ok && (row.length != (size_t)(newline - at) || memcmp(row.line, at, row.length) != 0)) abort();
        bool is_new = ok && row.point < MOST && !rows[row.point].json;
        if (is_new) rows[row.point] = row, known++;
        if (ok && !is_new) sweep_rows_free(&row, 1);
    }
    if (known > 0 && known == header->grid.points) write_tables(&header->grid, rows);
    sweep_rows_free(rows, MOST);
}

/* Whatever the lines are, a part of a sweep is read or refused with one line. A header that is read is written as it
 * was; rows that are read make a table in every format. */
void fuzz_sweep(char *text, size_t size) {
    Arena arena = {0};
    Error error = {0};
    SweepHeader header;
    text[size] = '\n';
    size_t first = (size_t)((char *)memchr(text, '\n', size + 1) - text);
    bool ok = sweep_header_read(text, first, "fuzz", &arena, &header, &error);
    fuzz_input(ok, &error);
    if (ok) {
        const char *line = sweep_header_line(&header, &arena);
        if (!line || strncmp(line, text, first) != 0 || (line[first] != '\n' && line[first] != '\0')) abort();
        read_rows(&header, text + first + 1, text + size);
    }
    arena_free(&arena);
}

/* Whatever the words are, one a line, they are those of a command, or refused with one line; one in sixteen becomes a
 * request, for which the zoo is loaded. What is read is options of the command's own, which are read again as they
 * are. */
void fuzz_words(char *text, size_t size) {
    enum { WORDS_MAX = 24 };
    static const Command *const READ[] = {&COMMAND_PLAN, &COMMAND_INFERENCE, &COMMAND_RL, &COMMAND_EXPLAIN,
                                          &COMMAND_EMIT};
    Arena arena = {0};
    Error error = {0}, twice = {0};
    Options options;
    const Command *command = READ[size % COUNT_OF(READ)];
    char *words[WORDS_MAX + 1] = {(char *)command->name}, **typed = words, **again;
    int count = 1;
    for (char *word = strtok(text, "\n"); word && count < WORDS_MAX; word = strtok(NULL, "\n")) words[count++] = word;
    Request *request = ARENA_NEW(&arena, Request, 1);
    bool whole = command == &COMMAND_PLAN && size % 16 == 0;
    CommandLine first = {.command = command, .arena = &arena}, second = first;
    int read = count, more;
    if (words_read(&first, &read, &typed, &twice)) {
        again = typed, more = read;
        if (!words_read(&second, &more, &again, &twice) || more != read) abort();
    }
    bool ok = options_parse(count, words, command, &arena, &options, &error) &&
              (!whole || request_from_options(&options, &arena, request, &error));
    fuzz_check(ok, &error);
    if (ok && whole && (request->question.work.sequences < 1 || request->question.machine.mesh.chips < 1)) abort();
    arena_free(&arena);
}
