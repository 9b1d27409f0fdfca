/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands.h"

#include "base/build.h"
#include "base/text/prose.h"
#include "base/util.h"
#include "models/config/model_json.h"
#include "search/cli/names.h"

#include <string.h>

const Command *const COMMANDS[COMMAND_COUNT] = {
    &COMMAND_PLAN,      &COMMAND_EXPLAIN, &COMMAND_EMIT,   &COMMAND_MODELS, &COMMAND_CHIPS,  &COMMAND_VALIDATE,
    &COMMAND_CALIBRATE, &COMMAND_CHECK,   &COMMAND_LAYOUT, &COMMAND_DIFF,   &COMMAND_SWEEP,  &COMMAND_MERGE,
    &COMMAND_INFERENCE, &COMMAND_TRACE,   &COMMAND_BENCH,  &COMMAND_RL,     &COMMAND_PROGRAM};

bool word_is_model(const char *name) {
    Arena arena = {0};
    Error unused = {0};
    Zoo zoo;
    const char *slash = name[0] == '-' ? NULL : strchr(name, '/');
    const char *tag = strchr(name, ':'); /* Ollama's */
    if (tag && name[0] != '-' && !slash) {
        char *plain = arena_format(&arena, "%.*s-%s", (int)(tag - name), name, tag + 1);
        bool model = plain && word_is_model(plain);
        arena_free(&arena);
        return model;
    }
    bool is = text_ends_in(name, ".json") || (slash && slash[1] && !text_ends_in(name, ".csv")) ||
              (zoo_names(&arena, &zoo, &unused) && zoo_of_repository(&zoo, name));
    arena_free(&arena);
    return is;
}

bool command_is(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(COMMANDS[i]->name, name) == 0) return true;
    return false;
}

const Command *command_named(const char *name, Error *error) {
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i]->name, name) == 0) return COMMANDS[i];
        names[i] = COMMANDS[i]->name;
    }
    const char *nearest = name_nearest(name, names, COMMAND_COUNT);
    error_set(error, ERROR_INPUT, name, "is not a command; %s%s",
              nearest ? "did you mean " : "shardopt --help lists them", nearest ? nearest : "");
    return NULL;
}

static const CommandOption HELP_ROW = {.name = "help", .letter = 'h', .help = "show this help"};

/* Prints each line of `text` with `first` before the first line and `other` before the others. */
static void print_lines(FILE *out, const char *first, const char *other, const char *text) {
    for (const char *before = first; *text; before = other) {
        size_t length = strcspn(text, "\n");
        fprintf(out, "%s%.*s\n", before, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* "-o, --output FILE" */
static int left_side(const CommandOption *row, char left[64]) {
    char letter[8] = "    ";
    if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    return snprintf(left, 64, "%s--%s%s%s", letter, row->name, row->takes ? " " : "", row->takes ? row->takes : "");
}

static void print_row(FILE *out, const CommandOption *row, int columns) {
    char left[64];
    left_side(row, left);
    fprintf(out, "  %-*s  %s\n", columns, left, row->help);
}

/* The number of the section among those that a reader looks for first; the others follow as they come in the table. */
static size_t section_rank(const char *heading) {
    static const char *const FIRST[] = {"",     "Regression check", "Plan",  "Model", "Machine", "Work", "Load",
                                        "Step", "Conditions",       "Output"};
    size_t i = 0;
    while (i < COUNT_OF(FIRST) && strcmp(FIRST[i], heading) != 0) i++;
    return i;
}

int command_sections(const Command *command, int rows[OPTIONS_MAX], const char *headings[OPTIONS_MAX]) {
    enum { RANKS = 10 };
    const char *own[OPTIONS_MAX], *heading = "";
    int count = 0;
    for (int i = 0; i < command->option_count; i++)
        own[i] = heading = command->options[i].heading ? command->options[i].heading : heading;
    for (size_t rank = 0; rank <= RANKS; rank++)
        for (int first = 0; first < command->option_count; first++) {
            bool begins = section_rank(own[first]) == rank;
            for (int i = 0; i < first && begins; i++) begins = strcmp(own[i], own[first]) != 0;
            for (int i = first; i < command->option_count && begins; i++)
                if (strcmp(own[i], own[first]) == 0 && command->options[i].name)
                    rows[count] = i, headings[count++] = own[i];
        }
    return count;
}

const CommandOption COMMAND_IGNORE_ROW = {.name = "ignore-unknown",
                                          .help = "leave out other programs' options on which no answer depends"};

bool command_ignores(const Command *command) { return strcmp(command_kind(command), "any") != 0; }

static void print_options(const Command *command, FILE *out) {
    int rows[OPTIONS_MAX], count, columns;
    const char *headings[OPTIONS_MAX], *heading = "";
    char left[64];
    bool foreign = command_ignores(command);
    count = command_sections(command, rows, headings);
    columns = left_side(foreign ? &COMMAND_IGNORE_ROW : &HELP_ROW, left);
    for (int i = 0; i < count; i++)
        if (command_has_option(command, rows[i]))
            columns = (int)max_whole(columns, left_side(&command->options[rows[i]], left));
    for (int i = 0; i < count; i++) {
        if (!command_has_option(command, rows[i])) continue;
        if (strcmp(heading, headings[i]) != 0 || i == 0)
            fprintf(out, "\n%s%s", headings[i], headings[i][0] ? "\n" : "");
        heading = headings[i];
        print_row(out, &command->options[rows[i]], columns);
    }
    if (heading[0]) fputs("\nAny line\n", out);
    if (foreign) print_row(out, &COMMAND_IGNORE_ROW, columns);
    print_row(out, &HELP_ROW, columns);
}

void help_of_command(const Command *command, FILE *out) {
    print_lines(out, "usage: shardopt ", "       shardopt ", command->usage);
    if (command->about) fprintf(out, "\n%s\n", command->about);
    print_options(command, out);
    fprintf(out, "\n%s\n", command->footer);
    if (command->list) command->list(out);
    if (command->examples) fputs("\nExamples:\n", out);
    if (command->examples) print_lines(out, "  ", "  ", command->examples);
}

void help_of_program(FILE *out) {
    fprintf(out, "shardopt %s: finds, and proves, the best way to shard a transformer over a machine\n\n",
            program_version());
    fprintf(out, "usage: shardopt %s\n       shardopt COMMAND [OPTIONS]\n\n", COMMANDS[0]->usage);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        Prose line = {0};
        prose_add(&line, "  %-9s %s", COMMANDS[i]->name, COMMANDS[i]->summary);
        prose_write((TextOut){.file = out}, "", "            ", line.text);
    }
    fputs("\nFrom a question to a launch script:\n"
          "  shardopt --model 70b --chip h100 --nodes 64 --format json -o report.json   (TPUs: --slice v6e-256)\n"
          "  shardopt explain report.json                                               (--format html: a page)\n"
          "  shardopt emit megatron report.json -o train.sh\n"
          "\nshardopt COMMAND --help shows a command's options.\n",
          out);
}
