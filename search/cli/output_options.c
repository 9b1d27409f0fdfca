/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of a command line that plans: which options were given, and what they say of the output. */
#include "search/cli/output_options.h"

#include "search/cli/interrupt.h"

#include "base/util.h"

#include <string.h>

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

/* The value of an option as one of `names`; `fallback` when it is not given. */
static bool choose(const Options *options, Option option, const char *const *names, int count, int fallback,
                   const char *right, int *out, Error *error) {
    *out = fallback;
    if (!options->text[option]) return true;
    for (int i = 0; i < count; i++) {
        *out = i;
        if (strcmp(options->text[option], names[i]) == 0) return true;
    }
    return error_set(error, ERROR_INPUT, options->where[option], "\"%.40s\" is not available; give %s",
                     options->text[option], right);
}

bool output_from_options(const Options *options, OutputChoice *out, Error *error) {
    static const char *const FORMATS[FORMAT_COUNT] = {"text", "json", "markdown", "html", "csv"};
    static const char *const COLORS[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
    int format, color;
    if (!choose(options, OPTION_FORMAT, FORMATS, FORMAT_COUNT, 0, "text, json, markdown, html or csv", &format, error))
        return false;
    if (!choose(options, OPTION_COLOR, COLORS, 3, 0, "auto, always or never", &color, error)) return false;
    if (options->text[OPTION_VERBOSE] && options->text[OPTION_QUIET])
        return error_set(error, ERROR_INPUT, "--verbose", "contradicts --quiet; give one of them");
    if (options->text[OPTION_OUTPUT] && options->text[OPTION_OUTPUT][0] == '\0')
        return error_set(error, ERROR_INPUT, "--output", "is empty; give a file");
    const char *certificate = options->text[OPTION_CERTIFICATE], *output = options->text[OPTION_OUTPUT];
    if (certificate && (certificate[0] == '\0' || strcmp(certificate, "-") == 0))
        return error_set(error, ERROR_INPUT, "--certificate", "is no file; give the name of one");
    if (certificate && output && strcmp(certificate, output) == 0)
        return error_set(error, ERROR_INPUT, "--certificate", "is the file of --output; give another one");
    *out = (OutputChoice){.format = (OutputFormat)format,
                          .color = (OutputColor)color,
                          .timing = options->text[OPTION_TIMING],
                          .verbose = options->text[OPTION_VERBOSE],
                          .quiet = options->text[OPTION_QUIET],
                          .path = options->text[OPTION_OUTPUT],
                          .certificate = options->text[OPTION_CERTIFICATE]};
    return true;
}
