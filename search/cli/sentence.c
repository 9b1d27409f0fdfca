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
    char model[TOKEN_SIZE], machine[TOKEN_SIZE]; /* the machine: a slice or "8xh100", or a chip's name alone */
    char count[16], hosts[16];                   /* of a chip's name alone: how many, and on how many hosts */
    bool counted;
    char options[96], conditions[96], unsure[100], typed[200];
} Proposal;

static void append(char *to, size_t size, const char *between, const char *text, size_t length) {
    size_t used = strlen(to);
    if (used < size) snprintf(to + used, size - used, "%s%.*s", between, (int)length, text);
}

/* Options stand in the proposal as they are typed, each with the word behind it. */
static Tokens tokens_of(int argc, char **argv, int first, char *typed, size_t size) {
    Tokens out = {.count = 0};
    for (int i = first; i < argc; i++) {
        if (argv[i][0] == '-') {
            bool follows =
                !strchr(argv[i], '=') && i + 1 < argc && argv[i + 1][0] != '-' && !strpbrk(argv[i + 1], " ,");
            append(typed, size, " ", argv[i], strlen(argv[i]));
            if (follows) i++, append(typed, size, " ", argv[i], strlen(argv[i]));
            continue;
        }
        for (const char *at = argv[i]; *at && out.count < TOKENS_MAX; at += strspn(at, " ,;\n\t?!")) {
            size_t length = strcspn(at, " ,;\n\t?!");
            if (length > 0) snprintf(out.token[out.count++], TOKEN_SIZE, "%.*s", (int)length, at);
            at += length;
        }
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

/* "8", "8x", "eight": the number as digits; NULL: it is none. */
static const char *number_of(const char *token, char digits[16]) {
    static const char *const NAMES[] = {"", "one", "two", "three", "four", "five", "six", "seven", "eight"};
    size_t length = strspn(token, "0123456789");
    if (is_among("a an single", token)) token = "one";
    for (size_t i = 1; i < COUNT_OF(NAMES); i++)
        if (strcmp(token, NAMES[i]) == 0) return snprintf(digits, 16, "%zu", i), digits;
    if (!length || length > 9 || (token[length] && strcmp(token + length, "x") != 0)) return NULL;
    snprintf(digits, 16, "%.*s", (int)length, token);
    return digits;
}

/* True if the token is a machine, or several: "h100", "h100s"; `one` is it without the s. */
static bool is_machine(const char *token, char one[TOKEN_SIZE], TypedMachine *machine) {
    size_t length = (size_t)snprintf(one, TOKEN_SIZE, "%s", token);
    if (word_is_machine(one, machine)) return true;
    if (length < 3 || one[length - 1] != 's') return false;
    one[length - 1] = '\0';
    return word_is_machine(one, machine);
}

static const char HOSTS[] = "nodes node hosts host servers server machines machine";

/* True if the token makes the machine, alone or with the number before it, or behind a TPU's name. */
static bool take_machine(Proposal *out, const Tokens *tokens, int at) {
    TypedMachine machine;
    char one[TOKEN_SIZE];
    if (out->machine[0] || !is_machine(tokens->token[at], one, &machine)) return false;
    int before = at > 0 && strcmp(tokens->token[at - 1], "x") == 0 ? at - 2 : at - 1;
    snprintf(out->machine, sizeof out->machine, "%s", one);
    out->counted = machine.chips[0] || machine.slice[0];
    if (!out->counted && !(before >= 0 && number_of(tokens->token[before], out->count)) && one[0] == 'v' &&
        at + 1 < tokens->count)
        number_of(tokens->token[at + 1], out->count);
    return true;
}

/* True if the token is of hosts: "8 nodes of 4 h100", "8 h100 nodes". */
static bool take_hosts(Proposal *out, const Tokens *tokens, int at) {
    char one[TOKEN_SIZE];
    TypedMachine machine;
    if (!is_among(HOSTS, tokens->token[at])) return false;
    bool chip =
        at > 0 && !out->counted && is_machine(tokens->token[at - 1], one, &machine) && strcmp(one, out->machine) == 0;
    if (chip) snprintf(out->hosts, sizeof out->hosts, "%s", out->count), out->count[0] = '\0';
    return chip || (at > 0 && number_of(tokens->token[at - 1], out->hosts));
}

/* True if the token is a word for options: "lora", "fp8", "sft", "tp 8", "grpo". */
static bool take_option(Proposal *out, const Tokens *tokens, int *at) {
    const char *token = tokens->token[*at], *next = *at + 1 < tokens->count ? tokens->token[*at + 1] : "";
    const NameRow *row = name_row(command_kind(out->command), token, strlen(token)), *rl;
    char digits[16];
    if (is_among("lora qlora", token) && command_option(out->command, token, strlen(token)) >= 0)
        return append(out->options, sizeof out->options, out->options[0] ? " --" : "--", token, strlen(token)), true;
    if (!row && (rl = name_row("rl", token, strlen(token))) && strncmp(rl->meaning, "--algorithm ", 12) == 0 &&
        strcmp(out->command->name, "plan") == 0) {
        Error none = {0};
        out->command = command_named("rl", &none);
        return add_meant(out, token, NULL);
    }
    if (!row || strcmp(row->kinds, "any") == 0 || strstr(row->meaning, "{}")) return false;
    if (strchr(row->meaning, ' ') || strchr(row->meaning, '=')) return add_meant(out, token, NULL);
    return number_of(next, digits) && add_meant(out, token, digits) && ++*at;
}

/* True if the token is a number of what is behind it, or of the TPU before it. */
static bool counts(const Proposal *out, const char *token, const char *next) {
    char digits[16], one[TOKEN_SIZE];
    TypedMachine machine;
    return number_of(token, digits) && (strcmp(next, "x") == 0 || is_among(HOSTS, next) ||
                                        strcmp(digits, out->count) == 0 || is_machine(next, one, &machine));
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
        } else if (take_machine(out, tokens, i) || take_hosts(out, tokens, i) || take_option(out, tokens, &i)) {
            continue;
        } else if (!out->model[0] && strlen(token) > 1 && !is_among("base policy", token) && word_is_model(token)) {
            snprintf(out->model, sizeof out->model, "%s", token);
        } else if (strpbrk(token, "0123456789") && !counts(out, token, next)) {
            leave_from(out, tokens, i, i + 1);
        }
    }
}

/* The machine as options or in one word; nothing where options that are typed say it. */
static void machine_words(const Proposal *line, char out[2 * TOKEN_SIZE]) {
    static const char *const SAID[] = {"--chip", "--gpu", "--nodes", "--nnodes", "--slice", "--pods", "--num"};
    const char *chip = line->machine[0] ? line->machine : "CHIP";
    for (size_t i = 0; i < COUNT_OF(SAID) && !line->machine[0]; i++)
        if (strstr(line->typed, SAID[i])) chip = "";
    if (line->counted || !*chip)
        snprintf(out, 2 * TOKEN_SIZE, "%s", chip);
    else if (line->hosts[0])
        snprintf(out, 2 * TOKEN_SIZE, "%s --nodes %s%s%s", chip, line->hosts, line->count[0] ? " --gpus-per-node " : "",
                 line->count);
    else
        snprintf(out, 2 * TOKEN_SIZE, "%sx%s", line->count[0] ? line->count : "N", chip);
}

static bool sentence_refused(const Command *command, int argc, char **argv, Error *error) {
    Proposal line = {.command = command};
    Tokens tokens = tokens_of(argc, argv, command ? 1 : 0, line.typed, sizeof line.typed);
    char where[TOKEN_SIZE] = "\"", machine[2 * TOKEN_SIZE];
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
    machine_words(&line, machine);
    bool named = line.model[0] || strstr(line.typed, "--model");
    return error_set(error, ERROR_INPUT, where, "sentences are not read; type: shardopt %s%s%s%s%s%s%s%s%s%s%s%s%s",
                     line.command->name, named && !line.model[0] ? "" : " ",
                     line.model[0] || named ? line.model : "MODEL", machine[0] ? " " : "", machine,
                     line.options[0] ? " " : "", line.options, line.typed, line.conditions[0] ? " --require \"" : "",
                     line.conditions, line.conditions[0] ? "\"" : "", line.unsure[0] ? " (not in it: " : "",
                     line.unsure[0] ? strcat(line.unsure, ")") : "");
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
    const NameRow *row = name_row(command_kind(command ? command : COMMANDS[0]), at, strlen(at));
    if (command && (row || command_option(command, at, strlen(at)) >= 0) && !first)
        return error_set(error, ERROR_INPUT, where, "is not expected here; did you mean --%.60s", at);
    Arena arena = {0};
    Model model;
    bool there = model_load(at, &arena, &model, error); /* says which are nearest */
    arena_free(&arena);
    return !there ? false : error_set(error, ERROR_INPUT, where, "is not expected here; write --model %.80s", at);
}
