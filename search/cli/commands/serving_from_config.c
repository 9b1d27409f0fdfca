/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt inference --from-config FILE` and `shardopt explain --from-config FILE` of a script that serves: what is
 * served with today, and why it is not the best. */
#include "base/file.h"
#include "search/cli/commands/serving_reports.h"
#include "search/cli/interrupt.h"
#include "search/launch/syntax/config_file.h"
#include "search/serving/launch/served_against.h"

#include <stdlib.h>
#include <string.h>

/* Options of the line count first; the file says what they leave. */
static bool read_config(const CommandLine *line, ServedConfig *config, Error *error) {
    const char *path = NULL;
    char *text;
    size_t length;
    if (!line_file(line, SERVING_FROM_CONFIG, &path, error) ||
        !file_read(path, CONFIG_BYTES_MAX, line->arena, &text, &length, error) ||
        !served_config_read(path, text, length, line->arena, config, error))
        return false;
    bool lengths = line->text[SERVING_LENGTHS] != NULL, machine = false;
    for (int i = SERVING_PODS; i <= SERVING_NODES; i++) machine = machine || line->text[i];
    for (int i = SERVING_PODS; i <= SERVING_NODES && machine; i++) config->texts.text[i] = NULL;
    if (lengths) config->texts.text[SERVING_PROMPT] = config->texts.text[SERVING_OUTPUT] = NULL;
    if (line->text[SERVING_RATE]) config->texts.text[SERVING_CONCURRENCY] = NULL;
    if (line->text[SERVING_CONCURRENCY]) config->texts.text[SERVING_RATE] = NULL;
    for (int i = 0; i < SERVING_OPTION_COUNT; i++) {
        if (!line->text[i]) continue;
        config->texts.text[i] = line->text[i];
        config->texts.where[i] = line->where[i];
    }
    return true;
}

static bool write_text(const CommandLine *line, const ServedConfig *config, const Served *served,
                       const ServedAgainst *against, Streams streams, Error *error) {
    bool full = strcmp(line->command->name, "explain") == 0;
    const char *path = NULL;
    if (!line_file(line, SERVING_FILE, &path, error)) return false;
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    TextOut out = {draft.file, output_terminal(streams, path)};
    bool ok = served_against_write(config, served, against, full, out, error);
    return draft_write(&draft, ok, streams.out, path, error);
}

int serving_from_config(const CommandLine *line, Streams streams, Error *error) {
    Served *served = ARENA_NEW(line->arena, Served, 1);
    ServedAgainst *against = ARENA_NEW(line->arena, ServedAgainst, 1);
    ServedConfig *config = ARENA_NEW(line->arena, ServedConfig, 1);
    int format = SERVED_TEXT;
    if (!served || !against || !config) return error_memory(error), EXIT_DEFECT;
    if (!line_choice(line, SERVING_FORMAT, &format, error)) return EXIT_USAGE;
    if (format != SERVED_TEXT)
        return error_set(error, ERROR_INPUT, line->where[SERVING_FORMAT], "is text with --from-config; leave it out"),
               EXIT_USAGE;
    InterruptScope scope;
    interrupt_begin(&scope);
    bool ok = read_config(line, config, error);
    ServingWords words = {config->texts.text, config->texts.where, cli_world(), NULL};
    ok = ok && serve(&words, line->arena, served, error) &&
         served_against(config, served, line->arena, against, error) &&
         write_text(line, config, served, against, streams, error);
    bool interrupted = interrupt_came(NULL);
    interrupt_end(&scope);
    int code = !ok ? exit_of_error(error) : interrupted ? EXIT_INTERRUPTED : against->fits ? EXIT_DONE : EXIT_NO_PLAN;
    served_free(served);
    return code;
}

/* ---- explain ---- */

static int run_explain(const CommandLine *line, Streams streams, Error *error) {
    CommandLine *own = ARENA_NEW(line->arena, CommandLine, 1);
    if (!own) return error_memory(error), EXIT_DEFECT;
    *own = *line;
    for (int i = 0; i < line->argument_count; i++) {
        if (own->text[SERVING_FROM_CONFIG])
            return error_set(error, ERROR_INPUT, line->arguments[i], "is a second script; give one"), EXIT_USAGE;
        own->text[SERVING_FROM_CONFIG] = line->arguments[i];
        own->where[SERVING_FROM_CONFIG] = "--from-config";
    }
    return serving_from_config(own, streams, error);
}

static const Command EXPLAIN_SERVING = {
    .name = "explain",
    .summary = "what is served with today, in full",
    .usage = "explain --from-config FILE [OPTIONS]    (FILE starts vLLM, SGLang, TensorRT-LLM or MaxText)",
    .about = "What a script starts: its price, layout, step and memory; why it is not the best; what one change gains.",
    .options = SERVING_OPTIONS,
    .option_count = SERVING_OPTION_COUNT,
    .use = SERVING_USE_ANSWER,
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
