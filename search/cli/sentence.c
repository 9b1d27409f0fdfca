/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words without an option that are neither model nor machine. A sentence is refused with the line that its sure
 * words make: what is negated or bounded is in it only where names.tsv has its opposite ("no-fp8", "max-tp"), else
 * it is named as left. */
#include "base/util.h"
#include "models/config/model_json.h"
#include "search/cli/commands.h"
#include "search/cli/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS_MAX = 64, TOKEN_SIZE = 64 };

/* The words of a line, split at blanks and commas. */
typedef struct {
    char token[TOKENS_MAX][TOKEN_SIZE];
    int count;
} Tokens;

typedef struct {
    const Command *command;
    char model[TOKEN_SIZE], machine[2 * TOKEN_SIZE];
    char options[96], conditions[96], unsure[100];
} Proposal;

static void append(char *to, size_t size, const char *between, const char *text, size_t length) {
    size_t used = strlen(to);
    if (used < size) snprintf(to + used, size - used, "%s%.*s", between, (int)length, text);
}

static Tokens tokens_of(int argc, char **argv, int first) {
    Tokens out = {.count = 0};
    for (int i = first; i < argc; i++)
        for (const char *at = argv[i][0] == '-' ? "" : argv[i]; *at && out.count < TOKENS_MAX;
             at += strspn(at, " ,;\n\t?!")) {
            size_t length = strcspn(at, " ,;\n\t?!");
            if (length > 0) snprintf(out.token[out.count++], TOKEN_SIZE, "%.*s", (int)length, at);
            at += length;
        }
    return out;
}

static bool is_among(const char *words, const char *word) { return word_among(words, word, strlen(word)); }

/* Adds what a row means for good. False: there is no such row. */
static bool add_meant(Proposal *out, const char *name, const char *value) {
    const NameRow *row = name_row(command_kind(out->command), name, strlen(name));
    if (!row || is_among("left no", row->meaning)) return false;
    const char *meaning = row->meaning;
    size_t length = strcspn(meaning, "|");
    char text[64];
    snprintf(text, sizeof text, "%.*s%s%s", (int)length, meaning, value ? "=" : "", value ? value : "");
    char *to = meaning[0] == '-' ? out->options : out->conditions;
    append(to, sizeof out->options, *to ? " " : "", text, strlen(text));
    return true;
}

static void leave_from(Proposal *out, const Tokens *tokens, int first, int last) {
    for (int i = first; i < last; i++)
        append(out->unsure, sizeof out->unsure - 2,
               out->unsure[0] && i == first ? ", "
               : out->unsure[0]             ? " "
                                            : "",
               tokens->token[i], strlen(tokens->token[i]));
}

/* True if the token makes the machine, alone or with the number before it. */
static bool take_machine(Proposal *out, const char *number, const char *token) {
    TypedMachine machine;
    char one[TOKEN_SIZE];
    snprintf(one, sizeof one, "%s", token);
    size_t length = strlen(one);
    bool is = word_is_machine(one, &machine);
    if (!is && length > 2 && one[length - 1] == 's') one[length - 1] = '\0', is = word_is_machine(one, &machine);
    if (!is || out->machine[0]) return false;
    bool counted = machine.chip[0] && !machine.chips[0];
    bool whole = number && strspn(number, "0123456789") == strlen(number) && *number;
    snprintf(out->machine, sizeof out->machine, "%s%s%s", counted ? whole ? number : "N" : "", counted ? "x" : "", one);
    return true;
}

static void read_tokens(Proposal *out, const Tokens *tokens) {
    static const char
        NOT[] = "without no not except avoid never exclude excluding but dont don't minus skip disable",
        BOUNDS[] = "at less under below over above more fewer least most maximum minimum within max min than cheaper";
    for (int i = 0; i < tokens->count; i++) {
        const char *token = tokens->token[i], *next = i + 1 < tokens->count ? tokens->token[i + 1] : "";
        char name[TOKEN_SIZE + 8];
        if (is_among(NOT, token)) {
            snprintf(name, sizeof name, "no-%s", next);
            if (!add_meant(out, name, NULL)) leave_from(out, tokens, i, i + 2 < tokens->count ? i + 2 : tokens->count);
            i++;
        } else if (is_among(BOUNDS, token)) {
            bool most = is_among("at", token) && is_among("most", next) && i > 0 && i + 2 < tokens->count;
            snprintf(name, sizeof name, "max-%s", i > 0 ? tokens->token[i - 1] : "");
            if (most && isdigit((unsigned char)tokens->token[i + 2][0]) && add_meant(out, name, tokens->token[i + 2])) {
                i += 2;
            } else {
                leave_from(out, tokens, i, tokens->count);
                break;
            }
        } else if (!take_machine(out, i > 0 ? tokens->token[i - 1] : NULL, token) && !out->model[0] &&
                   strlen(token) > 1 && !is_among("base policy", token) && word_is_model(token)) {
            snprintf(out->model, sizeof out->model, "%s", token);
        }
    }
}

static bool sentence_refused(const Command *command, int argc, char **argv, Error *error) {
    Tokens tokens = tokens_of(argc, argv, command ? 1 : 0);
    Proposal line = {.command = command};
    char where[TOKEN_SIZE] = "\"";
    for (int i = 0; i < tokens.count && !line.command; i++) {
        const NameRow *row = name_row("command", tokens.token[i], strlen(tokens.token[i]));
        Error none = {0};
        bool plans = row && is_among("plan tune inference rl", row->meaning);
        if (plans) line.command = command_named(strcmp(row->meaning, "tune") == 0 ? "plan" : row->meaning, &none);
    }
    if (!line.command) line.command = COMMANDS[0];
    read_tokens(&line, &tokens);
    for (int i = 0; i < tokens.count; i++)
        append(where, sizeof where, i ? " " : "", tokens.token[i], strlen(tokens.token[i]));
    append(where, sizeof where, "", "\"", 1);
    return error_set(error, ERROR_INPUT, where, "sentences are not read; type: shardopt %s %s %s%s%s%s%s%s%s%s",
                     line.command->name, line.model[0] ? line.model : "MODEL",
                     line.machine[0] ? line.machine : "NxCHIP", line.options[0] ? " " : "", line.options,
                     line.conditions[0] ? " --require \"" : "", line.conditions, line.conditions[0] ? "\"" : "",
                     line.unsure[0] ? " (not in it: " : "", line.unsure[0] ? strcat(line.unsure, ")") : "");
}

bool word_stray(const Command *command, int argc, char **argv, const char *at, Error *error) {
    int place = 0;
    while (place + 1 < argc && argv[place] != at) place++;
    const char *name = command ? command->name : "plan", *where = *at ? at : "\"\"",
               *next = place + 1 < argc ? argv[place + 1] : "-";
    bool plans = is_among("plan inference rl sweep explain emit", name), after = place > 1 && argv[place - 1][0] == '-';
    TypedMachine machine;
    bool first = place == (command != NULL) && place + 2 == argc && word_is_machine(next, &machine);
    if (plans && *at && !first && ((next[0] != '-' && !after) || strpbrk(at, " \n")))
        return sentence_refused(command, argc, argv, error);
    if (strcmp(name, "check") == 0)
        return error_set(error, ERROR_INPUT, where, "is not expected here; a baseline is given as: --baseline %.80s",
                         at);
    if (plans && text_ends_in(at, ".json"))
        return error_set(error, ERROR_INPUT, where,
                         "is not expected here; a report: shardopt explain %.80s; a model: --model %.80s", at, at);
    if (!plans || !*at || after)
        return error_set(error, ERROR_INPUT, where, "is not expected here; options begin with --, see --help");
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--model", 7) == 0 && (!argv[i][7] || argv[i][7] == '='))
            return error_set(error, ERROR_INPUT, where, "is not expected here, next to --model; options begin with --");
    Arena arena = {0};
    Model model;
    bool there = model_load(at, &arena, &model, error); /* says which are nearest */
    arena_free(&arena);
    return !there ? false : error_set(error, ERROR_INPUT, where, "is not expected here; write --model %.80s", at);
}
