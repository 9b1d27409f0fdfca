/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public entry: one command line, from its words to its exit code. */
#include "search/shardopt.h"
#include "base/build.h"

#include "base/util.h"
#include "search/cli/command.h"
#include "search/cli/examples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const Command COMMANDS[] = {
    {"plan", command_plan, "search, and print the best plans with their proof"},
    {"explain", command_explain, "one plan in full"},
    {"emit", command_emit, "a plan as launch configuration: MaxText, torchtitan, Megatron, JAX, DeepSpeed"},
    {"models", command_models, "the models it knows; with a name one of them, its parts, counts and sources"},
    {"chips", command_chips, "the chips it knows; with a name one of them, its figures and sources"},
    {"validate", command_validate, "how wrong it is: measured runs (a table of them) replayed"},
    {"calibrate", command_calibrate, "fit profiles to measured runs, with the error of unseen ones"},
    {"check", command_check, "plan again what a baseline has, and fail where that got worse: the gate for CI"},
    {"layout", command_layout, "the cheapest choice of a strategy graph (google/iopddl), with a bound on it"},
    {"diff", command_diff, "two reports side by side: what moved, and why"},
    {"sweep", command_sweep, "the best plan of every point of a grid: lists in any option, one row each"},
    {"merge", command_merge, "the parts of a sweep put together"},
};

static void print_help(FILE *out) {
    fprintf(out,
            "shardopt %s: finds, and proves, the best way to shard a transformer over a machine\n\n"
            "usage: shardopt [plan] --model NAME [--pods N | --slice SHAPE | --chips N | --nodes N] [OPTIONS]\n"
            "       shardopt COMMAND [OPTIONS]\n\n",
            program_version());
    for (size_t i = 0; i < COUNT_OF(COMMANDS); i++) fprintf(out, "  %-9s %s\n", COMMANDS[i].name, COMMANDS[i].does);
    fprintf(out, "\nshardopt COMMAND --help shows a command's options. Example: shardopt --model 405b --pods 8\n");
}

static const Command *command_named(const char *name, Error *error) {
    const char *names[COUNT_OF(COMMANDS)];
    for (size_t i = 0; i < COUNT_OF(COMMANDS); i++) {
        if (strcmp(COMMANDS[i].name, name) == 0) return &COMMANDS[i];
        names[i] = COMMANDS[i].name;
    }
    const char *nearest = name_nearest(name, names, COUNT_OF(COMMANDS));
    error_set(error, ERROR_INPUT, name, "is not a command; %s%s",
              nearest ? "did you mean " : "shardopt --help lists them", nearest ? nearest : "");
    return NULL;
}

/* A command; its help ends with examples. */
static int run(const Command *command, int argc, char **argv, Streams streams, Error *error) {
    int code = command->run(argc, argv, streams, error);
    if (code == EXIT_DONE && words_ask_help(argc, argv)) examples_write(command->name, streams.out);
    return code;
}

/* `shardopt --model ...` is `shardopt plan --model ...`; `shardopt help plan` is `shardopt plan --help`. */
static int dispatch(int argc, char **argv, Streams streams, Error *error) {
    if (argc < 2) {
        print_help(streams.err);
        return EXIT_USAGE;
    }
    bool help = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (help && argc == 2)) {
        print_help(streams.out);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        fprintf(streams.out, "shardopt %s\n", program_version());
        return EXIT_DONE;
    }
    if (argv[1][0] == '-') return run(&COMMANDS[0], argc, argv, streams, error);
    const Command *command = command_named(argv[help ? 2 : 1], error);
    if (!command) return EXIT_USAGE;
    char *ask[] = {argv[help ? 2 : 1], "--help", NULL};
    return help ? run(command, 2, ask, streams, error) : run(command, argc - 1, argv + 1, streams, error);
}

const char *shardopt_version(void) { return program_version(); }

int shardopt_main(int argc, char **argv, FILE *out, FILE *err) {
    Error error = {0};
    int code = dispatch(argc, argv, (Streams){out, err, terminal_of_stream(out)}, &error);
    errno = 0;
    bool unwritten = ferror(out) != 0; /* by what is not written in one piece: help, tables */
    if ((fflush(out) != 0 || unwritten) && error.kind == ERROR_NONE)
        error_set(&error, ERROR_IO, "standard output", "cannot be written: %s",
                  errno ? strerror(errno) : "unknown reason");
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
    FILE *out = open_memstream(&texts[0], &lengths[0]), *err = open_memstream(&texts[1], &lengths[1]);
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

void shardopt_free(char *text) { free(text); }
