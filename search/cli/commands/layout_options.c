/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/layout_options.h"

#include "base/number.h"
#include "base/util.h"
#include "search/cli/words.h"

#include <math.h>
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
} Option;

static const Word WORDS[WORD_COUNT] = {
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

static bool take(int number, const char *value, const char *where, Arena *arena, void *options, Error *error) {
    LayoutOptions *out = options;
    int64_t whole;
    (void)arena;
    switch ((Option)number) {
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

static const WordTable TABLE = {"layout", WORDS, WORD_COUNT, take};

void layout_options_help(FILE *out) {
    fprintf(out,
            "usage: shardopt layout FILE.json[.gz] [OPTIONS]\n\n"
            "Solves a strategy graph (the JSON of the contest google/iopddl): one strategy for each node, at the "
            "least cost\nof nodes and edges, within the memory limit at every moment. Prints cost, bound and gap.\n\n");
    words_help(&TABLE, 22, out);
    fprintf(out, "\nExit codes: 0 proven, 2 input is wrong, 3 nothing fits, 4 ended before the proof, 70 a defect, 130 "
                 "interrupted\n(the best so far is printed).\n");
}

bool layout_options_parse(int argc, char **argv, Arena *arena, LayoutOptions *out, Error *error) {
    LayoutOptions options = {.time_limit = INFINITY, .effort = 1};
    const char **paths;
    int count;
    if (!words_parse(&TABLE, argc, argv, arena, &options, &paths, &count, error) ||
        (!options.help &&
         !words_one_file(&TABLE, paths, count, "no graph is named; give FILE.json or FILE.json.gz (see --help)",
                         &options.path, error)))
        return false;
    *out = options;
    return true;
}
