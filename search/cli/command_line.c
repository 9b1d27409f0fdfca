/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of a command line, read by popt from the rows of its command. */
#include "base/build.h"
#include "base/file.h"
#include "base/number.h"
#include "base/threads.h"
#include "base/util.h"
#include "search/cli/command.h"
#include "search/cli/commands.h"
#include "search/cli/names.h"
#include "search/options/machine_words.h"

#include <assert.h>
#include <ctype.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What popt returns for an option: its number in the table and one, or this. */
enum { VALUE_HELP = OPTIONS_MAX + 1 };

static bool failure(const Command *command, poptContext context, int code, Error *error) {
    const char *word = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    if (!word) word = "command line";
    if (code == POPT_ERROR_BADOPT) return option_unknown(command, word, error);
    if (code == POPT_ERROR_NOARG) return error_set(error, ERROR_INPUT, word, "needs a value: write --option VALUE");
    if (code == POPT_ERROR_MALLOC) return error_memory(error);
    return error_set(error, ERROR_INPUT, word, "cannot be read: %s; see --help", poptStrerror(code));
}

static bool take_option(CommandLine *line, int number, const char *value, Error *error) {
    const char *where = arena_format(line->arena, "--%s", line->command->options[number].name);
    const char *text = arena_text(line->arena, value ? value : "");
    if (!where || !text) return error_memory(error);
    if (line->text[number]) return error_set(error, ERROR_INPUT, where, "is given twice; give it once");
    line->text[number] = text;
    line->where[number] = where;
    line->wants_version = line->wants_version || strcmp(where, "--version") == 0;
    return true;
}

static bool take_options(CommandLine *line, poptContext context, Error *error) {
    int code;
    while ((code = poptGetNextOpt(context)) > 0) {
        char *value = poptGetOptArg(context);
        line->wants_help = line->wants_help || code == VALUE_HELP;
        bool lost = code != VALUE_HELP && line->command->options[code - 1].takes && !value; /* popt could not copy it */
        bool ok = code == VALUE_HELP || (lost ? error_memory(error) : take_option(line, code - 1, value, error));
        free(value);
        if (!ok) return false;
    }
    return code >= -1 || failure(line->command, context, code, error);
}

/* Whether a flag of that name was given. */
static bool has_flag(const CommandLine *line, const char *name) {
    for (int i = 0; i < line->command->option_count; i++)
        if (command_has_option(line->command, i) && strcmp(line->command->options[i].name, name) == 0)
            return line->text[i] != NULL;
    return false;
}

void command_advise(const CommandLine *line, FILE *err) {
    if (line->advice && !has_flag(line, "quiet")) fprintf(err, "shardopt: advice: %s\n", line->advice);
}

/* The words that are no options and no values of them, counted as popt reads them. */
static int count_arguments(const Command *command, int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--") == 0) return count + argc - i - 1;
        if (word[0] != '-' || word[1] == '\0') {
            count++;
            continue;
        }
        const char *last = word + strlen(word) - 1;
        for (int o = 0; o < command->option_count; o++) {
            const CommandOption *option = &command->options[o];
            if (!command_has_option(command, o) || !option->takes) continue;
            bool named =
                word[1] == '-' ? strcmp(word + 2, option->name) == 0 : option->letter && *last == option->letter;
            i += named;
        }
    }
    return count;
}

static bool take_arguments(CommandLine *line, poptContext context, Error *error) {
    const char **words = poptGetArgs(context);
    while (words && words[line->argument_count]) line->argument_count++;
    if (line->argument_count > 0 && !line->command->takes_arguments) /* behind -- */
        return error_set(error, ERROR_INPUT, words[0], "is not expected here; options begin with --, see --help");
    line->arguments = ARENA_NEW(line->arena, const char *, (size_t)line->argument_count + 1);
    if (!line->arguments) return error_memory(error);
    for (int i = 0; i < line->argument_count; i++)
        if (!(line->arguments[i] = arena_text(line->arena, words[i]))) return error_memory(error);
    return true;
}

/* The name of the file says the format, "-o report.json"; one that is given has to agree with it. */
static bool format_of_file(CommandLine *line, Error *error) {
    static const char *const KINDS[][3] = {{".json", "json", "json brief"},
                                           {".html", "html", "html"},
                                           {".md", "markdown", "markdown"},
                                           {".csv", "csv", "csv"}};
    const Command *command = line->command;
    int output = command_option(command, "output", 6), format = command_option(command, "format", 6);
    const char *path = output >= 0 ? line->text[output] : NULL;
    if (strcmp(command->name, "calibrate") == 0) return true; /* its file is the profile, not the report */
    for (size_t i = 0; i < COUNT_OF(KINDS) && path && format >= 0; i++) {
        const char *values = command->options[format].values ? command->options[format].values : "",
                   *said = line->text[format];
        size_t length = strlen(path), end = strlen(KINDS[i][0]);
        if (length < end || strcasecmp(path + length - end, KINDS[i][0]) != 0) continue;
        if (said && word_among(values, said, strlen(said)) && !word_among(KINDS[i][2], said, strlen(said)))
            return error_set(error, ERROR_INPUT, line->where[format], "%s contradicts the file %.80s; give one of them",
                             said, path);
        if (said) return true;
        if (!word_among(values, KINDS[i][1], strlen(KINDS[i][1])))
            return error_set(error, ERROR_INPUT, line->where[output],
                             "%.80s: %s writes no %s; give another name, or --format", path, command->name,
                             KINDS[i][1]);
        line->text[format] = KINDS[i][1];
        line->where[format] = line->where[output];
    }
    return true;
}

bool command_line_read(const Command *command, int argc, char **argv, Arena *arena, CommandLine *out, Error *error) {
    struct poptOption table[OPTIONS_MAX + 2];
    size_t count = 0;
    assert(command->option_count <= OPTIONS_MAX);
    memset(table, 0, sizeof table);
    for (int i = 0; i < command->option_count; i++)
        if (command_has_option(command, i))
            table[count++] = (struct poptOption){.longName = command->options[i].name,
                                                 .shortName = command->options[i].letter,
                                                 .argInfo = command->options[i].takes ? POPT_ARG_STRING : POPT_ARG_NONE,
                                                 .val = i + 1};
    table[count] = (struct poptOption){.longName = "help", .shortName = 'h', .val = VALUE_HELP};
    *out = (CommandLine){.command = command, .arena = arena};
    if (!words_read(out, &argc, &argv, error)) return false;
    poptContext context = poptGetContext("shardopt", argc, (const char **)argv, table, 0);
    if (!context) return error_memory(error);
    bool ok = take_options(out, context, error) && take_arguments(out, context, error);
    if (ok && out->argument_count == 0 && count_arguments(command, argc, argv) > 0) /* popt had no room for them */
        ok = error_memory(error);
    poptFreeContext(context);
    return ok && format_of_file(out, error) && files_are_apart(out, error);
}

bool command_line_answered(const CommandLine *line, FILE *out) {
    if (line->wants_help)
        help_of_command(line->command, out);
    else if (line->wants_version)
        fprintf(out, "shardopt %s\n", program_version());
    return line->wants_help || line->wants_version;
}

/* ---- values ---- */

bool line_choice(const CommandLine *line, int option, int *out, Error *error) {
    return choice_read(line->text[option], line->where[option], line->command->options[option].values, out, error);
}

bool line_file(const CommandLine *line, int option, const char **out, Error *error) {
    if (!line->text[option]) return true;
    *out = line->text[option];
    return (*out)[0] || error_set(error, ERROR_INPUT, line->where[option], "is empty; give a file");
}

bool line_threads(const CommandLine *line, int option, int *out, Error *error) {
    int64_t whole = *out;
    if (!line->text[option]) return true;
    if (!number_whole(line->text[option], line->where[option], 1, THREADS_MAX, &whole, error)) return false;
    *out = (int)whole;
    return true;
}

bool line_one_file(const CommandLine *line, const char *missing, const char **out, Error *error) {
    if (line->argument_count == 0 || !line->arguments[0][0])
        return error_set(error, ERROR_INPUT, line->command->name, "%s", missing);
    if (line->argument_count > 1)
        return error_set(error, ERROR_INPUT, line->arguments[1], "is one file too many; give one");
    *out = line->arguments[0];
    return true;
}

/* ---- files ---- */

/* Whether the word is that file. What an option reads is often a name of ours (a model, a set of profiles): there must
 * be a file of that name. */
static bool is_file(const char *word, bool may_not_be_there, const char *path) {
    return word[0] != '\0' && strcmp(word, "-") != 0 && (may_not_be_there || file_is_there(word)) &&
           file_same(word, path);
}

/* Of two that are written there the later one is named. */
static bool is_alone_on_stdout(const CommandLine *line, int option, Error *error) {
    for (int i = 0; i < option; i++)
        if (line->command->options[i].writes && line->text[i] && strcmp(line->text[i], "-") == 0)
            return error_set(error, ERROR_INPUT, line->where[option], "is standard output, as %s is; give a file",
                             line->where[i]);
    return true;
}

bool files_are_apart(const CommandLine *line, Error *error) {
    const Command *command = line->command;
    for (int i = 0; i < command->option_count; i++) {
        const char *path = line->text[i];
        if (!command->options[i].writes || !path || path[0] == '\0') continue;
        if (strcmp(path, "-") == 0) {
            if (!is_alone_on_stdout(line, i, error)) return false;
            continue;
        }
        for (int j = 0; j < command->option_count; j++) {
            bool earlier = j < i || !command->options[j].writes; /* of two that are written the later one is named */
            if (j != i && earlier && line->text[j] && command->options[j].takes &&
                is_file(line->text[j], command->options[j].writes, path))
                return error_set(error, ERROR_INPUT, line->where[i], "is the file of %s too; give another one",
                                 line->where[j]);
        }
        for (int j = 0; j < line->argument_count; j++)
            if (is_file(line->arguments[j], false, path))
                return error_set(error, ERROR_INPUT, line->where[i], "is %.80s, which is read; give another one",
                                 line->arguments[j]);
    }
    return true;
}
