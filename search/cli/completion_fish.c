/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion for fish, from the rows of the commands, as completion.c has it for bash and zsh. */
#include "search/cli/commands.h"

#include <string.h>

static const char *const BEGIN =
    "# SPDX-License-Identifier: GPL-3.0-or-later\n"
    "# Completion of shardopt in fish, made by `shardopt help --completion fish` from the tables of search/cli.\n"
    "# Installed to share/fish/vendor_completions.d/shardopt.fish.\n\n"
    "# Whether the command that is being typed is one of these; `shardopt --model` is `shardopt plan --model`.\n"
    "function __shardopt_in\n"
    "    set -l words (commandline -opc)\n"
    "    set -l command plan\n"
    "    if set -q words[2]; and not string match -q -- '-*' $words[2]\n"
    "        set command $words[2]\n"
    "    end\n"
    "    contains -- $command $argv\n"
    "end\n\n"
    "function __shardopt_first\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n\n"
    "# The names of models or chips, and what else they are called.\n"
    "function __shardopt_names\n"
    "    set -l words (commandline -opc)\n"
    "    $words[1] $argv[1] --format json 2>/dev/null |\n"
    "        string match -rg '^    (?:\"name\": |  )\"([^\"]*)\",?$'\n"
    "end\n\n"
    "complete -c shardopt -f\n"
    "complete -c shardopt -l help -s h -d 'show this help'\n";

/* Between single quotes, where fish knows \' and \\ alone. */
static void quoted(FILE *out, const char *text) {
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

/* Lists of models and chips may have commas (sweeps). */
static void domain(FILE *out, const char *values) {
    if (!values)
        fputs(" -x", out);
    else if (strcmp(values, "@files") == 0)
        fputs(" -r -F", out);
    else if (values[0] == '@')
        fprintf(out, " -r%s -a \"(__fish_complete_list , '__shardopt_names %s')\"",
                strcmp(values, "@models") == 0 ? " -F" : " -f", values + 1);
    else
        fprintf(out, " -x -a '%s'", values);
}

/* The commands of the table that have its row; false: none. */
static bool condition(FILE *out, const CommandOption *table, int row) {
    const char *before = "complete -c shardopt -n '__shardopt_in ";
    bool any = false;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (COMMANDS[i]->options != table || !command_has_option(COMMANDS[i], row)) continue;
        fprintf(out, "%s%s", any ? " " : before, COMMANDS[i]->name);
        any = true;
    }
    if (any) fputc('\'', out);
    return any;
}

static void options_of_table(FILE *out, const Command *first) {
    for (int row = 0; row < first->option_count; row++) {
        const CommandOption *option = &first->options[row];
        if (!option->name || !condition(out, first->options, row)) continue;
        fprintf(out, " -l %s", option->name);
        if (option->letter) fprintf(out, " -s %c", option->letter);
        if (option->takes) domain(out, option->values);
        fputs(" -d ", out);
        quoted(out, option->help);
        fputc('\n', out);
    }
}

/* Whether no command before this one has its table. */
static bool is_first_of_table(int number) {
    for (int i = 0; i < number; i++)
        if (COMMANDS[i]->options == COMMANDS[number]->options) return false;
    return true;
}

void completion_write_fish(FILE *out) {
    fputs(BEGIN, out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "complete -c shardopt -n __shardopt_first -a %s -d ", COMMANDS[i]->name);
        quoted(out, COMMANDS[i]->summary);
        fputc('\n', out);
    }
    fputs("complete -c shardopt -n __shardopt_first -a help -d 'the help of a command'\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (is_first_of_table(i)) options_of_table(out, COMMANDS[i]);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!command_ignores(COMMANDS[i])) continue;
        fprintf(out, "complete -c shardopt -n '__shardopt_in %s' -l ignore-unknown -d ", COMMANDS[i]->name);
        quoted(out, COMMAND_IGNORE_ROW.help);
        fputc('\n', out);
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        const char *values = COMMANDS[i]->argument_values;
        if (!values) continue;
        fprintf(out, "complete -c shardopt -n '__shardopt_in %s'", COMMANDS[i]->name);
        if (strcmp(values, "@files") == 0)
            fputs(" -F", out);
        else if (values[0] == '@')
            fprintf(out, " -a '(__shardopt_names %s)'", values + 1);
        else
            fprintf(out, " -F -a '%s'", values);
        fputc('\n', out);
    }
}
