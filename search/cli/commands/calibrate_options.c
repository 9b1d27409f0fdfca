/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/calibrate_options.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

enum { FOLDS_DEFAULT = 10, FOLDS_MAX = 1000 };

enum { OUTPUT, PROFILE, BEGIN, ONLY, EXCLUDE, FOLDS, DATE, FORMAT, THREADS, VERBOSE, FACTS, OPTIONS_COUNT };

_Static_assert((int)OPTIONS_COUNT == (int)CALIBRATE_OPTION_COUNT, "the header says how many");

/* The values of BEGIN and FORMAT are in the order of CalibrateBegin (after AUTO) and of CalibrateFormat. */
const CommandOption CALIBRATE_OPTIONS[CALIBRATE_OPTION_COUNT] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .takes = "SET.json",
                .help = "write the fitted set to this file; - means stdout, in place of the report",
                .details = "Write the fitted set there, for --profile of all commands; -: to standard output, in "
                           "place of the report.",
                .values = "@files",
                .writes = true},
    [PROFILE] = {.name = "profile",
                 .takes = "SET",
                 .help = "begin with this set of profiles: default, or a file (default)",
                 .values = "default"},
    [BEGIN] = {.name = "begin",
               .takes = "WHERE",
               .help = "priors, or values: go on from what the set was fitted to (see below)",
               .details = "priors: with what the set believes without runs. values: go on from what it was "
                          "fitted to, so that a few runs of one's own move what they determine of their own "
                          "chips and software, and nothing else (values where the set was fitted to other runs, "
                          "else priors).",
               .values = "priors values"},
    [ONLY] = {.name = "only",
              .takes = "STACK",
              .help = "fit the figures of this software alone; all others, and likely ranges, stay",
              .details = "Fits the figures of one software, and of those that follow it, from their priors; all "
                         "others, likely ranges, and what the set says it was fitted to stay as they are. Left out "
                         "are cells of one model and number of chips."},
    [EXCLUDE] = {.name = "exclude-flagged",
                 .help = "leave out the runs of cost/measured/data/flagged.tsv",
                 .details = "Without the runs of cost/measured/data/flagged.tsv. A fit keeps them else, with a "
                            "bounded pull."},
    [FOLDS] = {.name = "folds",
               .takes = "N",
               .help = "of the cross-validation by groups; 0: none, likely ranges stay (10)",
               .details = "Of the cross-validation by groups; 0: no cross-validation, and likely ranges stay as "
                          "they were (10)."},
    [DATE] = {.name = "date", .takes = "YYYY-MM-DD", .help = "of the set (today, UTC)"},
    [FORMAT] = {.name = "format",
                .takes = "FORMAT",
                .help = "text, json or markdown (text)",
                .values = "text json markdown"},
    [THREADS] = {OPTION_ROW_THREADS},
    [FACTS] = {OPTION_ROW_FACTS},
    [VERBOSE] = {.name = "verbose", .letter = 'v', .help = "list the runs that were not replayed, with the reason"},
};

static bool is_date(const char *text) {
    static const char *const FORM = "dddd-dd-dd";
    if (strlen(text) != strlen(FORM)) return false;
    for (size_t i = 0; FORM[i]; i++)
        if (FORM[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
    int month = atoi(text + 5), day = atoi(text + 8);
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

bool calibrate_options_read(const CommandLine *line, CalibrateWords *out, Error *error) {
    const char *const *text = line->text, *const *where = line->where;
    CalibrateWords words = {.date = text[DATE], .exclude_flagged = text[EXCLUDE], .verbose = text[VERBOSE]};
    int begin = 0, format = CALIBRATE_TEXT;
    int64_t folds = FOLDS_DEFAULT;
    if (!line_file(line, OUTPUT, &words.output, error) || !line_choice(line, BEGIN, &begin, error) ||
        !line_choice(line, FORMAT, &format, error) || !line_threads(line, THREADS, &words.threads, error))
        return false;
    words.profile = text[PROFILE];
    words.facts = text[FACTS];
    words.only = text[ONLY];
    if (words.profile && !words.profile[0])
        return error_set(error, ERROR_INPUT, where[PROFILE], "is empty; give default, or the file of a set");
    if (text[FOLDS] && !number_whole(text[FOLDS], where[FOLDS], 0, FOLDS_MAX, &folds, error)) return false;
    if (words.date && !is_date(words.date))
        return error_set(error, ERROR_INPUT, where[DATE], "\"%.40s\" is no date; give one like 2025-06-30", words.date);
    if (line->argument_count != 1 || !line->arguments[0][0])
        return error_set(error, ERROR_INPUT, "calibrate",
                         "give one table of measured runs, as in cost/measured/README.md");
    words.file = line->arguments[0];
    words.folds = (int)folds;
    words.begin = !text[BEGIN] ? BEGIN_AUTO : (CalibrateBegin)(BEGIN_PRIORS + begin);
    words.format = (CalibrateFormat)format;
    *out = words;
    return true;
}
