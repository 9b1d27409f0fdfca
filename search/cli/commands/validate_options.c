/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/validate_options.h"

#include "base/number.h"

#include <string.h>

enum { WORST_DEFAULT = 10, WORST_MAX = 1000000 };

enum {
    FORMAT,
    OUTPUT,
    PLOT,
    PROFILE,
    SOURCE,
    CHIP,
    MAX_ERROR,
    MIN_RANKING,
    WORST,
    THREADS,
    VERBOSE,
    FACTS,
    OPTIONS_COUNT
};

_Static_assert((int)OPTIONS_COUNT == (int)VALIDATE_OPTION_COUNT, "the header says how many");

/* The values of FORMAT are in the order of ValidateFormat. */
const CommandOption VALIDATE_OPTIONS[VALIDATE_OPTION_COUNT] = {
    [FORMAT] = {.name = "format",
                .takes = "FORMAT",
                .help = "text, json, markdown or html (text)",
                .values = "text json markdown html"},
    [OUTPUT] = {OPTION_ROW_OUTPUT},
    [PLOT] = {.name = "plot",
              .takes = "FILE",
              .help = "write predicted against measured times to this file, as SVG",
              .details = "Write predicted against measured steps there, as SVG.",
              .values = "@files",
              .writes = true},
    [PROFILE] = {.name = "profile",
                 .takes = "NAME",
                 .help = "default, ideal, a name of cost/profiles, or a file, as calibrate writes it (default)",
                 .details = "default, ideal, a name of cost/profiles, or a file: a set of profiles in the form of "
                            "default.json, or one whole profile, then for every chip (default).",
                 .values = "default ideal"},
    [SOURCE] = {.name = "source",
                .takes = "LIST",
                .help = "only runs of these sources: bloom,mlperf-v5.0",
                .details = "Only runs of these sources (the first word of an id, of MLPerf with the round: "
                           "bloom,mlperf-v5.0)."},
    [CHIP] = {.name = "chip", .takes = "LIST", .help = "only runs on these chips: h100,v5p", .values = "@chips"},
    [MAX_ERROR] = {.name = "max-error",
                   .takes = "LIMITS",
                   .help = "exit 1 beyond median=4%,p90=13%,bias=8% ...; 4% is of the median",
                   .details =
                       "Exit with 1, and a line for each limit that does not hold: median, p90, worst, bias (of "
                       "each source), skipped, memory-median, memory-p90, memory-fitting (plans called fitting "
                       "that were measured not to), as in \"median=4%,p90=13%,bias=8%\"; a share alone is of the "
                       "median."},
    [MIN_RANKING] =
        {.name = "min-ranking",
         .takes = "LIMITS",
         .help = "exit 1 below tau=0.8,tau-all=0.6,best=90%",
         .details =
             "The same as of --max-error for tau (Kendall's, without bloom's trials), tau-all and best (groups whose "
             "plan predicted best was measured within 3% of the best)."},
    [WORST] = {.name = "worst", .takes = "N", .help = "how many of the worst runs to show (10)"},
    [THREADS] = {OPTION_ROW_THREADS},
    [FACTS] = {OPTION_ROW_FACTS},
    [VERBOSE] = {.name = "verbose",
                 .letter = 'v',
                 .help = "show every run",
                 .details = "Show every run: measured, predicted, error, likely range, what bounds it, plan, "
                            "software, what is odd or was assumed."},
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

bool validate_options_read(const CommandLine *line, ValidateOptions *out, Error *error) {
    ValidateOptions options = {.worst = WORST_DEFAULT, .profile = line->text[PROFILE], .verbose = line->text[VERBOSE]};
    const char *const *text = line->text, *const *where = line->where;
    RunFilter *filter = &options.filter;
    options.facts = text[FACTS];
    int format = VALIDATE_TEXT;
    if (!line_choice(line, FORMAT, &format, error) || !line_file(line, OUTPUT, &options.output, error) ||
        !line_file(line, PLOT, &options.plot, error) || !line_threads(line, THREADS, &options.threads, error))
        return false;
    if (text[SOURCE] &&
        !take_list(text[SOURCE], where[SOURCE], line->arena, filter->sources, &filter->source_count, error))
        return false;
    if (text[CHIP] && !take_list(text[CHIP], where[CHIP], line->arena, filter->chips, &filter->chip_count, error))
        return false;
    if ((text[MAX_ERROR] && !gate_parse(text[MAX_ERROR], where[MAX_ERROR], false, &options.gate, error)) ||
        (text[MIN_RANKING] && !gate_parse(text[MIN_RANKING], where[MIN_RANKING], true, &options.gate, error)) ||
        (text[WORST] && !number_whole(text[WORST], where[WORST], 0, WORST_MAX, &options.worst, error)) ||
        !line_one_file(line, "no table of runs is named; give FILE.tsv (see --help)", &options.path, error))
        return false;
    options.format = (ValidateFormat)format;
    *out = options;
    return true;
}
