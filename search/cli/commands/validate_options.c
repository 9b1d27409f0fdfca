/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/validate_options.h"

#include "base/number.h"
#include "base/util.h"
#include "search/cli/words.h"

#include <stdlib.h>
#include <string.h>

enum { WORST_DEFAULT = 10, THREADS_MAX = 1024 };

typedef enum {
    WORD_FORMAT = 1,
    WORD_OUTPUT,
    WORD_PLOT,
    WORD_PROFILE,
    WORD_SOURCE,
    WORD_CHIP,
    WORD_MAX_ERROR,
    WORD_MIN_RANKING,
    WORD_WORST,
    WORD_THREADS,
    WORD_VERBOSE,
    WORD_HELP,
    WORD_COUNT
} Option;

static const Word WORDS[WORD_COUNT] = {
    [WORD_FORMAT] = {"format", 0, "FORMAT", "text, json, markdown or html (text)"},
    [WORD_OUTPUT] = {"output", 'o', "FILE", "write the result there instead of to stdout"},
    [WORD_PLOT] = {"plot", 0, "FILE", "write predicted against measured there, as SVG"},
    [WORD_PROFILE] = {"profile", 0, "NAME",
                      "default, ideal, a name of cost/profiles, or a file, as calibrate writes it (default)"},
    [WORD_SOURCE] = {"source", 0, "LIST", "only runs of these sources: bloom,mlperf-v5.0"},
    [WORD_CHIP] = {"chip", 0, "LIST", "only runs on these chips: h100,v5p"},
    [WORD_MAX_ERROR] = {"max-error", 0, "LIMITS", "exit 1 beyond median=4%,p90=13%,bias=8% ...; 4% is of the median"},
    [WORD_MIN_RANKING] = {"min-ranking", 0, "LIMITS", "exit 1 below tau=0.8,tau-all=0.6,best=90%"},
    [WORD_WORST] = {"worst", 0, "N", "how many of the worst runs to show (10)"},
    [WORD_THREADS] = {"threads", 0, "N", "threads to use; the answer is the same for any number"},
    [WORD_VERBOSE] = {"verbose", 'v', NULL, "show every run"},
    [WORD_HELP] = {"help", 'h', NULL, "show this"},
};

/* "a,b" to its words, in the arena. */
static bool take_list(const char *text, const char *where, Arena *arena, const char **list, int *count, Error *error) {
    char *copy = arena_text(arena, text);
    if (!copy) return error_memory(error);
    for (char *word = copy; word;) {
        char *comma = strchr(word, ',');
        if (comma) *comma = '\0';
        if (word[0] == '\0') return error_set(error, ERROR_INPUT, where, "has an empty name; give NAME,NAME,...");
        if (*count == FILTER_MAX)
            return error_set(error, ERROR_INPUT, where, "has more than %d names; give fewer", FILTER_MAX);
        list[(*count)++] = word;
        word = comma ? comma + 1 : NULL;
    }
    return true;
}

static bool take_format(const char *value, ValidateFormat *out, Error *error) {
    static const char *const NAMES[] = {"text", "json", "markdown", "html"};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        *out = (ValidateFormat)i;
        if (strcmp(value, NAMES[i]) == 0) return true;
    }
    return error_set(error, ERROR_INPUT, "--format", "\"%.40s\" is not available; give text, json, markdown or html",
                     value);
}

static bool take(int number, const char *value, const char *where, Arena *arena, void *options, Error *error) {
    ValidateOptions *out = options;
    int64_t whole;
    switch ((Option)number) {
    case WORD_FORMAT:
        return take_format(value, &out->format, error);
    case WORD_OUTPUT:
        out->output = value;
        return true;
    case WORD_PLOT:
        out->plot = value;
        return true;
    case WORD_PROFILE:
        out->profile = value;
        return true;
    case WORD_SOURCE:
        return take_list(value, where, arena, out->filter.sources, &out->filter.source_count, error);
    case WORD_CHIP:
        return take_list(value, where, arena, out->filter.chips, &out->filter.chip_count, error);
    case WORD_MAX_ERROR:
        return gate_parse(value, where, false, &out->gate, error);
    case WORD_MIN_RANKING:
        return gate_parse(value, where, true, &out->gate, error);
    case WORD_WORST:
        return number_whole(value, where, 0, 1000000, &out->worst, error);
    case WORD_THREADS:
        if (!number_whole(value, where, 1, THREADS_MAX, &whole, error)) return false;
        out->threads = (int)whole;
        return true;
    case WORD_VERBOSE:
        out->verbose = true;
        return true;
    case WORD_HELP:
        out->help = true;
        return true;
    case WORD_COUNT:
        break;
    }
    return true;
}

static const WordTable TABLE = {"validate", WORDS, WORD_COUNT, take};

void validate_options_help(FILE *out) {
    fprintf(out, "usage: shardopt validate FILE.tsv [OPTIONS]\n\n"
                 "Replays measured runs (cost/measured/README.md says how a table of them looks) and tells how wrong the model "
                 "is.\n\n");
    words_help(&TABLE, 26, out);
    fprintf(out,
            "\nLimits of --max-error: median, p90, worst, bias (of each source), skipped, memory-median, memory-p90,"
            "\n  memory-fitting (plans called fitting that were measured not to)."
            "\nLimits of --min-ranking: tau (Kendall's, without bloom), tau-all, best (groups whose plan predicted "
            "best is\n  within 3%% of the best).\n"
            "Exit codes: 0 done, 1 a limit does not hold, 2 input is wrong, 70 a defect.\n");
}

bool validate_options_parse(int argc, char **argv, Arena *arena, ValidateOptions *out, Error *error) {
    ValidateOptions options = {.worst = WORST_DEFAULT};
    const char **paths;
    int count;
    if (!words_parse(&TABLE, argc, argv, arena, &options, &paths, &count, error) ||
        (!options.help && !words_one_file(&TABLE, paths, count, "no table of runs is named; give FILE.tsv (see --help)",
                                          &options.path, error)))
        return false;
    *out = options;
    return true;
}
