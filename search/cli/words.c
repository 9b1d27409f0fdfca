/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/words.h"

#include "base/util.h"

#include <assert.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>

static bool unknown(const WordTable *table, const char *word, Error *error) {
    const char *names[WORDS_MAX];
    char name[64];
    for (int i = 1; i < table->count; i++) names[i - 1] = table->words[i].name;
    const char *start = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)min_whole((int64_t)strcspn(start, "="), 63), start);
    const char *nearest = name_nearest(name, names, (size_t)table->count - 1);
    if (nearest) return error_set(error, ERROR_INPUT, word, "is not an option; did you mean --%s", nearest);
    return error_set(error, ERROR_INPUT, word, "is not an option; see shardopt %s --help", table->command);
}

static bool take_options(const WordTable *table, poptContext context, Arena *arena, void *out, Error *error) {
    bool given[WORDS_MAX] = {false};
    int code;
    while ((code = poptGetNextOpt(context)) > 0) {
        char *value = poptGetOptArg(context), where[64];
        const char *text = arena_text(arena, value ? value : "");
        free(value);
        if (!text) return error_memory(error);
        snprintf(where, sizeof where, "--%s", table->words[code].name);
        if (given[code]) return error_set(error, ERROR_INPUT, where, "is given twice; give it once");
        if (table->words[code].takes && text[0] == '\0')
            return error_set(error, ERROR_INPUT, where, "is empty; give a value");
        given[code] = true;
        if (!table->take(code, text, where, arena, out, error)) return false;
    }
    const char *word = code < -1 ? poptBadOption(context, POPT_BADOPTION_NOALIAS) : NULL;
    if (!word) word = "command line";
    if (code == POPT_ERROR_BADOPT) return unknown(table, word, error);
    if (code == POPT_ERROR_NOARG) return error_set(error, ERROR_INPUT, word, "has no value; give one behind it");
    if (code == POPT_ERROR_MALLOC) return error_memory(error);
    if (code < -1) return error_set(error, ERROR_INPUT, word, "cannot be read (%s); see --help", poptStrerror(code));
    return true;
}

static bool take_arguments(poptContext context, Arena *arena, const char ***arguments, int *count, Error *error) {
    const char **words = poptGetArgs(context);
    *count = 0;
    while (words && words[*count]) ++*count;
    *arguments = ARENA_NEW(arena, const char *, (size_t)*count + 1);
    if (!*arguments) return error_memory(error);
    for (int i = 0; i < *count; i++)
        if (!((*arguments)[i] = arena_text(arena, words[i]))) return error_memory(error);
    return true;
}

bool words_parse(const WordTable *table, int argc, char **argv, Arena *arena, void *out, const char ***arguments,
                 int *count, Error *error) {
    struct poptOption options[WORDS_MAX];
    assert(table->count <= WORDS_MAX);
    memset(options, 0, sizeof options);
    for (int i = 1; i < table->count; i++)
        options[i - 1] = (struct poptOption){.longName = table->words[i].name,
                                             .shortName = table->words[i].letter,
                                             .argInfo = table->words[i].takes ? POPT_ARG_STRING : POPT_ARG_NONE,
                                             .val = i};
    poptContext context = poptGetContext("shardopt", argc, (const char **)argv, options, 0);
    if (!context) return error_memory(error);
    bool ok =
        take_options(table, context, arena, out, error) && take_arguments(context, arena, arguments, count, error);
    poptFreeContext(context);
    return ok;
}

bool words_one_file(const WordTable *table, const char *const *arguments, int count, const char *missing,
                    const char **out, Error *error) {
    if (count == 0 || !arguments[0][0]) return error_set(error, ERROR_INPUT, table->command, "%s", missing);
    if (count > 1) return error_set(error, ERROR_INPUT, arguments[1], "is one file too many; give one");
    *out = arguments[0];
    return true;
}

void words_help(const WordTable *table, int columns, FILE *out) {
    for (int i = 1; i < table->count; i++) {
        const Word *word = &table->words[i];
        char left[64], letter[8] = "    ";
        if (word->letter) snprintf(letter, sizeof letter, "-%c, ", word->letter);
        snprintf(left, sizeof left, "%s--%s %s", letter, word->name, word->takes ? word->takes : "");
        fprintf(out, "  %-*s %s\n", columns, left, word->help);
    }
}
