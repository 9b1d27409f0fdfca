/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt inference --from-config FILE`: what is served with today, and why it is not the best. */
#include "base/file.h"
#include "base/memory_stream.h"
#include "search/cli/commands/serving_reports.h"
#include "search/cli/interrupt.h"
#include "search/launch/syntax/config_file.h"
#include "search/serving/launch/served_against.h"

#include <stdlib.h>

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
    const char *path = NULL;
    char *text = NULL;
    size_t length = 0;
    if (!line_file(line, SERVING_FILE, &path, error)) return false;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return error_memory(error);
    served_against_write(config, served, against, (TextOut){memory, output_terminal(streams, path)});
    bool ok = fclose(memory) == 0 || error_memory(error);
    ok = ok && output_write(streams.out, path, text, length, error);
    free(text);
    return ok;
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
