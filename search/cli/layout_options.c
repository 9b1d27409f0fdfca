/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/layout_options.h"

#include "base/number.h"
#include "base/util.h"

#include <math.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024 };

typedef enum {
    WORD_TIME_LIMIT = 1,
    WORD_EFFORT,
    WORD_SOLUTION,
    WORD_FORMAT,
    WORD_OUTPUT,
    WORD_THREADS,
    WORD_TIMING,
    WORD_VERBOSE,
    WORD_QUIET,
    WORD_HELP,
    WORD_COUNT
} Word;

static const struct {
    const char *name;
    char letter;
    const char *takes, *help;
} WORDS[WORD_COUNT] = {
    [WORD_TIME_LIMIT] = {"time-limit", 0, "S", "search until then, reading included (without: an amount of work)"},
    [WORD_EFFORT] = {"effort", 0, "N", "work without a time limit; 1 is about two minutes of a core at most (1)"},
    [WORD_SOLUTION] = {"solution", 0, "FILE", "write the strategy of each node there, as a JSON array"},
    [WORD_FORMAT] = {"format", 0, "FORMAT", "text or json (text)"},
    [WORD_OUTPUT] = {"output", 'o', "FILE", "write the result there instead of to stdout"},
    [WORD_THREADS] = {"threads", 0, "N", "threads to use; without a time limit the answer is the same for any number"},
    [WORD_TIMING] = {"timing", 0, NULL, "say on stderr how long it took"},
    [WORD_VERBOSE] = {"verbose", 'v', NULL, "say on stderr how far it is"},
    [WORD_QUIET] = {"quiet", 'q', NULL, "say nothing on stderr"},
    [WORD_HELP] = {"help", 'h', NULL, "show this"},
};

void layout_options_help(FILE *out) {
    fprintf(out,
            "usage: shardopt layout FILE.json[.gz] [OPTIONS]\n\n"
            "Solves a strategy graph (the JSON of the contest google/iopddl): one strategy for each node, at the "
            "least cost\nof nodes and edges, within the memory limit at every moment. Prints cost, bound and gap.\n\n");
    for (int word = 1; word < WORD_COUNT; word++) {
        char left[64], letter[8] = "    ";
        if (WORDS[word].letter) snprintf(letter, sizeof letter, "-%c, ", WORDS[word].letter);
        snprintf(left, sizeof left, "%s--%s %s", letter, WORDS[word].name, WORDS[word].takes ? WORDS[word].takes : "");
        fprintf(out, "  %-22s %s\n", left, WORDS[word].help);
    }
    fprintf(out, "\nExit codes: 0 proven, 2 input is wrong, 3 nothing fits, 4 ended before the proof, 70 a defect, 130 "
                 "interrupted\n(the best so far is printed).\n");
}

static bool take(Word word, const char *value, LayoutOptions *out, Error *error) {
    char where[32];
    int64_t whole;
    snprintf(where, sizeof where, "--%s", WORDS[word].name);
    if (WORDS[word].takes && value[0] == '\0') return error_set(error, ERROR_INPUT, where, "is empty; give a value");
    switch (word) {
    case WORD_TIME_LIMIT:
        return number_seconds(value, where, &out->time_limit, error);
    case WORD_EFFORT:
        return number_real(value, where, 1e-6, 1e6, &out->effort, error);
    case WORD_SOLUTION:
        out->solution = value;
        return true;
    case WORD_FORMAT:
        out->json = strcmp(value, "json") == 0;
        return out->json || strcmp(value, "text") == 0 ||
               error_set(error, ERROR_INPUT, where, "\"%.40s\" is not available; give text or json", value);
    case WORD_OUTPUT:
        out->output = value;
        return true;
    case WORD_THREADS:
        if (!number_whole(value, where, 1, THREADS_MAX, &whole, error)) return false;
        out->threads = (int)whole;
        return true;
    case WORD_TIMING:
        out->timing = true;
        return true;
    case WORD_VERBOSE:
        out->verbose = true;
        return true;
    case WORD_QUIET:
        out->quiet = true;
        return true;
    case WORD_HELP:
        out->help = true;
        return true;
    case WORD_COUNT:
        break;
    }
    return true;
}

static bool unknown(const char *word, Error *error) {
    const char *names[WORD_COUNT];
    char name[64];
    for (int i = 1; i < WORD_COUNT; i++) names[i - 1] = WORDS[i].name;
    const char *start = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)min_whole((int64_t)strcspn(start, "="), 63), start);
    const char *nearest = name_nearest(name, names, WORD_COUNT - 1);
    return error_set(error, ERROR_INPUT, word, "is not an option; %s%s",
                     nearest ? "did you mean --" : "see shardopt layout --help", nearest ? nearest : "");
}

static bool take_all(poptContext context, Arena *arena, LayoutOptions *out, Error *error) {
    bool given[WORD_COUNT] = {false};
    int code;
    while ((code = poptGetNextOpt(context)) > 0) {
        char *value = poptGetOptArg(context);
        const char *text = arena_text(arena, value ? value : ""), *name = WORDS[code].name;
        free(value);
        if (!text) return error_memory(error);
        if (given[code])
            return error_set(error, ERROR_INPUT, arena_format(arena, "--%s", name), "is given twice; give it once");
        given[code] = true;
        if (!take((Word)code, text, out, error)) return false;
    }
    const char *word = code < -1 ? poptBadOption(context, POPT_BADOPTION_NOALIAS) : NULL;
    if (!word) word = "command line";
    if (code == POPT_ERROR_BADOPT) return unknown(word, error);
    if (code == POPT_ERROR_NOARG) return error_set(error, ERROR_INPUT, word, "has no value; give one behind it");
    if (code == POPT_ERROR_MALLOC) return error_memory(error);
    if (code < -1) return error_set(error, ERROR_INPUT, word, "cannot be read (%s); see --help", poptStrerror(code));
    return true;
}

static bool take_path(poptContext context, Arena *arena, LayoutOptions *out, Error *error) {
    const char *path = poptGetArg(context);
    if (out->help) return true;
    if (!path || !path[0])
        return error_set(error, ERROR_INPUT, "layout",
                         "no graph is named; give FILE.json or FILE.json.gz (see --help)");
    if (poptPeekArg(context))
        return error_set(error, ERROR_INPUT, poptPeekArg(context), "is one file too many; give one");
    out->path = arena_text(arena, path);
    return out->path || error_memory(error);
}

bool layout_options_parse(int argc, char **argv, Arena *arena, LayoutOptions *out, Error *error) {
    struct poptOption table[WORD_COUNT];
    memset(table, 0, sizeof table);
    for (int word = 1; word < WORD_COUNT; word++)
        table[word - 1] = (struct poptOption){.longName = WORDS[word].name,
                                              .shortName = WORDS[word].letter,
                                              .argInfo = WORDS[word].takes ? POPT_ARG_STRING : POPT_ARG_NONE,
                                              .val = word};
    LayoutOptions options = {.time_limit = INFINITY, .effort = 1};
    poptContext context = poptGetContext("shardopt", argc, (const char **)argv, table, 0);
    if (!context) return error_memory(error);
    bool ok = take_all(context, arena, &options, error) && take_path(context, arena, &options, error);
    poptFreeContext(context);
    if (ok) *out = options;
    return ok;
}
