/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion for bash and zsh: two scripts whose lists of commands, options and values are the rows of the commands.
 * The names of models and chips are requested from the program when they are needed, since data files can be added.
 * completion_fish.c is the same for fish. */
#include "search/cli/commands.h"

#include <string.h>

/* Calls `write` for the table that most commands share, last, as "*", and for each command that has its own. */
static void for_each_table(FILE *out, void (*write)(FILE *out, const char *pattern, const Command *command)) {
    const CommandOption *shared = COMMANDS[0]->options;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (COMMANDS[i]->options != shared) write(out, COMMANDS[i]->name, COMMANDS[i]);
    write(out, "*", COMMANDS[0]);
}

/* ---- bash ---- */

static void bash_options(FILE *out) {
    fputs("_shardopt_options() { # COMMAND\n    case $1 in\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        const Command *command = COMMANDS[i];
        fprintf(out, "    %s) echo '", command->name);
        for (int row = 0; row < command->option_count; row++)
            if (command_has_option(command, row)) fprintf(out, "--%s ", command->options[row].name);
        fprintf(out, "%s--help' ;;\n", command_ignores(command) ? "--ignore-unknown " : "");
    }
    fputs("    esac\n}\n\n", out);
}

static void bash_values(FILE *out, const char *pattern, const Command *command) {
    fprintf(out, "    %s)\n        case $2 in\n", pattern);
    for (int i = 0; i < command->option_count; i++) {
        const CommandOption *row = &command->options[i];
        if (row->name && row->values) fprintf(out, "        --%s) echo '%s' ;;\n", row->name, row->values);
    }
    fputs("        esac\n        ;;\n", out);
}

static void bash_arguments(FILE *out) {
    fputs("_shardopt_arguments() { # COMMAND\n    case $1 in\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (COMMANDS[i]->argument_values)
            fprintf(out, "    %s) echo '%s' ;;\n", COMMANDS[i]->name, COMMANDS[i]->argument_values);
    fputs("    esac\n}\n\n", out);
}

/* The names of models or chips, and what else they are called. */
#define NAMES_OF_JSON                                                                                                  \
    "sed -n 's/^    \"name\": \"\\(.*\\)\",$/\\1/p; /^    \"aliases\": \\[$/,/\\]/s/^      \"\\([^\"]*\\)\",*$/\\1/p'"

static const char *const BASH_BEGIN =
    "# SPDX-License-Identifier: GPL-3.0-or-later\n"
    "# Completion of shardopt in bash, made by `shardopt help --completion bash` from the tables of search/cli.\n"
    "# Installed to share/bash-completion/completions/shardopt; or: . docs/completion/shardopt.bash\n\n"
    "_shardopt_names() {\n"
    "    \"$1\" \"$2\" --format json 2>/dev/null |\n        " NAMES_OF_JSON "\n}\n\n";

static const char *const BASH_END =
    "_shardopt() {\n"
    "    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} "
    "command=plan\n"
    "    local values='' lead='' files='' i\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        -*) [ \"$i\" = 1 ] && break ;;\n"
    "        *) [ \"$i\" = 1 ] && command=${COMP_WORDS[i]}; break ;;\n"
    "        esac\n"
    "    done\n"
    "    COMPREPLY=()\n"
    "    case $before in\n"
    "    --*) values=$(_shardopt_values \"$command\" \"$before\") ;;\n"
    "    esac\n"
    "    case $word in\n"
    "    -*) [ -n \"$values\" ] || values=$(_shardopt_options \"$command\") ;;\n"
    "    *)\n"
    "        if [ -z \"$values\" ] && [ \"$COMP_CWORD\" = 1 ]; then\n"
    "            values=$_shardopt_commands\n"
    "        elif [ -z \"$values\" ]; then\n"
    "            values=$(_shardopt_arguments \"$command\") files=1\n"
    "        fi\n"
    "        ;;\n"
    "    esac\n"
    "    case $values in\n"
    "    @models) values=$(_shardopt_names \"$program\" models) files=1 ;;\n"
    "    @chips) values=$(_shardopt_names \"$program\" chips) ;;\n"
    "    @files) values='' files=1 ;;\n"
    "    esac\n"
    "    case $word in # sweeps take lists\n"
    "    *,*) lead=${word%,*}, word=${word##*,} ;;\n"
    "    esac\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$lead\" -W \"$values\" -- \"$word\"; [ -z \"$files\" ] || compgen -f -- "
    "\"$word\")\n"
    "}\n"
    "complete -o filenames -F _shardopt shardopt\n";

void completion_write_bash(FILE *out) {
    fputs(BASH_BEGIN, out);
    fputs("_shardopt_commands='", out);
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(out, "%s ", COMMANDS[i]->name);
    fputs("help'\n\n", out);
    bash_options(out);
    fputs("_shardopt_values() { # COMMAND OPTION\n    case $1 in\n", out);
    for_each_table(out, bash_values);
    fputs("    esac\n}\n\n", out);
    bash_arguments(out);
    fputs(BASH_END, out);
}

/* ---- zsh ---- */

/* A text between single quotes, where zsh splits names from what they are at ':'. */
static void zsh_quoted(FILE *out, const char *name, const char *text) {
    fprintf(out, "'%s:", name);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (*text == ':')
            fputs("\\:", out);
        else
            fputc(*text, out);
    }
    fputs("'", out);
}

static void zsh_options(FILE *out) {
    fputs("_shardopt_options() { # COMMAND, to the array `options`\n    case $1 in\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        const Command *command = COMMANDS[i];
        fprintf(out, "    %s) options=(\n", command->name);
        for (int row = 0; row < command->option_count; row++) {
            char name[64];
            if (!command_has_option(command, row)) continue;
            snprintf(name, sizeof name, "--%s", command->options[row].name);
            fputs("        ", out);
            zsh_quoted(out, name, command->options[row].help);
            fputc('\n', out);
        }
        if (command_ignores(command)) {
            fputs("        ", out);
            zsh_quoted(out, "--ignore-unknown", COMMAND_IGNORE_ROW.help);
            fputc('\n', out);
        }
        fputs("        '--help:show this help') ;;\n", out);
    }
    fputs("    esac\n}\n\n", out);
}

/* What stands before a comma is left as it is: sweeps take lists. */
static void zsh_offer(FILE *out, const char *values) {
    if (strcmp(values, "@files") == 0)
        fputs("_files", out);
    else if (values[0] == '@')
        fprintf(out, "compset -P '*,'; compadd -- ${(f)\"$(_shardopt_names $program %s)\"}%s", values + 1,
                strcmp(values, "@models") == 0 ? "; _files" : "");
    else
        fprintf(out, "compset -P '*,'; compadd -- %s", values);
}

static void zsh_values(FILE *out, const char *pattern, const Command *command) {
    fprintf(out, "    %s)\n        case $before in\n", pattern);
    for (int i = 0; i < command->option_count; i++) {
        const CommandOption *row = &command->options[i];
        if (!row->name || !row->values) continue;
        fprintf(out, "        --%s) ", row->name);
        zsh_offer(out, row->values);
        fputs("; return ;;\n", out);
    }
    fputs("        esac\n        ;;\n", out);
}

void completion_write_zsh(FILE *out) {
    fputs("#compdef shardopt\n"
          "# SPDX-License-Identifier: GPL-3.0-or-later\n"
          "# Completion of shardopt in zsh, made by `shardopt help --completion zsh` from the tables of search/cli.\n"
          "# Installed to share/zsh/site-functions/_shardopt.\n\n"
          "_shardopt_names() {\n"
          "    $1 $2 --format json 2>/dev/null |\n        " NAMES_OF_JSON "\n}\n\n",
          out);
    zsh_options(out);
    fputs("_shardopt() {\n"
          "    local program=${words[1]} before=${words[CURRENT - 1]} command=plan\n"
          "    local -a commands options\n"
          "    commands=(\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fputs("        ", out);
        zsh_quoted(out, COMMANDS[i]->name, COMMANDS[i]->summary);
        fputc('\n', out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    [[ ${words[2]} != -* ]] && command=${words[2]}\n"
          "    case $command in\n",
          out);
    for_each_table(out, zsh_values);
    fputs("    esac\n"
          "    if [[ $PREFIX == -* ]]; then\n"
          "        _shardopt_options $command\n"
          "        _describe option options\n"
          "        return\n"
          "    fi\n"
          "    case $command in\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!COMMANDS[i]->argument_values) continue;
        fprintf(out, "    %s) ", COMMANDS[i]->name);
        zsh_offer(out, COMMANDS[i]->argument_values);
        fputs(" ;;\n", out);
    }
    fputs("    *) _files ;;\n    esac\n}\n\n_shardopt \"$@\"\n", out);
}
