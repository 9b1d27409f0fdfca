/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public entry: one command line, from its words to its exit code. */
#include "base/build.h"
#include "base/locale.h"
#include "base/memory_stream.h"
#include "base/util.h"
#include "search/shardopt.h"

#include "search/cli/commands.h"
#include "search/cli/names.h"
#include "search/cli/what_if.h"
#include "search/options/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int command_run(const Command *command, int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    int code = EXIT_DONE;
    const Command *other = command->other ? command->other(argc, argv) : NULL;
    if (other) command = other;
    if (command->run_words) return command->run_words(argc, argv, streams, error);
    CommandLine *line = ARENA_NEW(&arena, CommandLine, 1);
    bool ok = line ? command_line_read(command, argc, argv, &arena, line, error) : error_memory(error);
    if (ok && !command_line_answered(line, streams.out))
        code = command->option_count == OPTION_COUNT && line->text[OPTION_WHAT_IF] ? what_if_run(line, streams, error)
                                                                                   : command->run(line, streams, error);
    if (ok && error->kind == ERROR_NONE) command_advise(line, streams.err);
    if (error->kind != ERROR_NONE) code = exit_of_error(error);
    arena_free(&arena);
    return code;
}

/* `shardopt help`: of all, of one command, and what docs/ is made of: the commands' rows, tables of figures. */
static int help(int argc, char **argv, Streams streams, Error *error) {
    const char *of = argc > 2 ? argv[2] : NULL;
    if (!of)
        help_of_program(streams.out);
    else if (strcmp(of, "--rows") == 0 || strcmp(of, "--figures") == 0)
        return (of[2] == 'r' ? command_rows_write : figures_write)(streams.out)
                   ? EXIT_DONE
                   : (error_memory(error), exit_of_error(error));
    else {
        const NameRow *row = name_row("command", of, strlen(of));
        const char *name = !row ? of : strcmp(row->meaning, "tune") == 0 ? "plan" : row->meaning;
        const Command *command = command_named(name, error);
        if (command) help_of_command(command, streams.out);
    }
    return exit_of_error(error);
}

/* `finetune` says what is trained: nothing else makes it another than `plan`. */
static bool says_what_is_tuned(const char *word, int argc, char **argv, Error *error) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return words_tune(argc, argv) ||
           error_set(error, ERROR_INPUT, word,
                     "does not say what is trained; add --lora 16, --qlora 16, --task sft (all weights) or --task dpo");
}

/* The command that a line begins with, or `plan`, which may be left out; *named: its word is there. NULL: *error. */
static const Command *command_of(int argc, char **argv, bool *named, Error *error) {
    const char *word = argv[1];
    TypedMachine machine;
    const NameRow *row = name_row("command", word, strlen(word));
    *named = true;
    if (row && strcmp(row->meaning, "no") == 0)
        return error_set(error, ERROR_INPUT, word, "is not a command; %s", row->note), NULL;
    if (row && strcmp(row->meaning, "tune") == 0)
        return says_what_is_tuned(word, argc - 1, argv + 1, error) ? COMMANDS[0] : NULL;
    if (row || command_is(word)) return command_named(row ? row->meaning : word, error);
    *named = false;
    if (word[0] == '-' || strchr(word, '=') || word_is_machine(word, &machine) || word_is_model(word))
        return COMMANDS[0];
    const Command *near = command_named(word, error);       /* says which command is nearest */
    bool file = argc > 2 && text_ends_in(argv[2], ".json"); /* what stands before one is a command */
    if (near || file || strstr(error->text, "did you mean")) return near;
    *error = (Error){0};
    return word_stray(NULL, argc - 1, argv + 1, word, error), NULL;
}

/* `shardopt --model 8b ...` is `shardopt plan --model 8b ...`, and so is `shardopt 8b ...`. */
static int dispatch(int argc, char **argv, Streams streams, Error *error) {
    static const char HELP[] = "help --help -h --help-all", VERSION[] = "version --version -V";
    if (argc < 2) {
        help_of_program(streams.err);
        return EXIT_USAGE;
    }
    if (word_among(HELP, argv[1], strlen(argv[1]))) return help(argv[1][0] == '-' ? 1 : argc, argv, streams, error);
    if (word_among(VERSION, argv[1], strlen(argv[1]))) {
        fprintf(streams.out, "shardopt %s\n", program_version());
        return EXIT_DONE;
    }
    bool named;
    const Command *command = command_of(argc, argv, &named, error);
    return command ? command_run(command, argc - named, argv + named, streams, error) : EXIT_USAGE;
}

int shardopt_main(int argc, char **argv, FILE *out, FILE *err) {
    IN_LOCALE_C;
    Error error = {0};
    int code = dispatch(argc, argv, (Streams){out, err, terminal_of_stream(out)}, &error);
    errno = 0;
    bool unwritten = ferror(out) != 0; /* by what is not written in one piece: help, tables */
    unwritten = fflush(out) != 0 || unwritten;
    if (unwritten && error.kind == ERROR_NONE && !output_reader_gone(out)) output_failed(&error);
    if (error.kind != ERROR_NONE) {
        fprintf(err, "shardopt: %s: %s\n", error.where, error.text);
        code = exit_of_error(&error);
    }
    fflush(err);
    return code;
}

int shardopt_call(int argc, char **argv, char **result, char **messages) {
    size_t lengths[2] = {0};
    char *texts[2] = {NULL, NULL};
    FILE *out = memory_stream_open(&texts[0], &lengths[0]), *err = memory_stream_open(&texts[1], &lengths[1]);
    int code = out && err ? shardopt_main(argc, argv, out, err) : EXIT_DEFECT;
    bool whole = out && err;
    whole = (!out || fclose(out) == 0) && whole;
    whole = (!err || fclose(err) == 0) && whole;
    for (int i = 0; i < 2; i++) {
        char **to = i == 0 ? result : messages;
        if (to) *to = whole ? texts[i] : NULL;
        if (!to || !whole) free(texts[i]);
    }
    return whole ? code : EXIT_DEFECT;
}
