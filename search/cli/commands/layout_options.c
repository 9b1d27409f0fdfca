/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/layout_options.h"

#include "base/number.h"

#include <math.h>

enum { TIME_LIMIT, EFFORT, SOLUTION, FORMAT, OUTPUT, THREADS, TIMING, VERBOSE, QUIET, OPTIONS_COUNT };

_Static_assert((int)OPTIONS_COUNT == (int)LAYOUT_OPTION_COUNT, "the header says how many");

const CommandOption LAYOUT_OPTIONS[LAYOUT_OPTION_COUNT] = {
    [TIME_LIMIT] = {.name = "time-limit",
                    .takes = "S",
                    .help = "search until then, reading included (without: an amount of work)",
                    .details =
                        "Search until then, reading and writing included. How large graphs come out depends on it; "
                        "what is proven before does not."},
    [EFFORT] = {.name = "effort",
                .takes = "N",
                .help = "work without a time limit; 1 is about two minutes of a core at most (1)",
                .details = "Without a time limit: how much work, from 1e-6 to 1e6; 1 is about two minutes of a core "
                           "at most. The answer is the same on every machine and for any number of threads (1)."},
    [SOLUTION] = {.name = "solution",
                  .takes = "FILE",
                  .help = "write the strategy of each node to this file, as a JSON array",
                  .details = "Write the index of each node's strategy there, as a JSON array (the contest's form); "
                             "nothing where no choice is known.",
                  .values = "@files",
                  .writes = true},
    [FORMAT] = {.name = "format", .takes = "FORMAT", .help = "text or json (text)", .values = "text json"},
    [OUTPUT] = {OPTION_ROW_OUTPUT},
    [THREADS] = {.name = "threads",
                 .takes = "N",
                 .help = "threads to use; without a time limit the answer is the same for any number"},
    [TIMING] = {.name = "timing", .help = "print on stderr how long it took"},
    [VERBOSE] = {.name = "verbose",
                 .letter = 'v',
                 .help = "print the progress on stderr",
                 .details = "Say on standard error every second how far it is."},
    [QUIET] = {.name = "quiet", .letter = 'q', .help = "print nothing on stderr"},
};

bool layout_options_read(const CommandLine *line, LayoutOptions *out, Error *error) {
    const char *const *text = line->text, *const *where = line->where;
    LayoutOptions options = {
        .time_limit = INFINITY, .effort = 1, .timing = text[TIMING], .verbose = text[VERBOSE], .quiet = text[QUIET]};
    int json = 0;
    if (text[TIME_LIMIT] && !number_seconds(text[TIME_LIMIT], where[TIME_LIMIT], &options.time_limit, error))
        return false;
    if (text[EFFORT] && !number_real(text[EFFORT], where[EFFORT], 1e-6, 1e6, &options.effort, error)) return false;
    if (!line_file(line, SOLUTION, &options.solution, error) || !line_choice(line, FORMAT, &json, error) ||
        !line_file(line, OUTPUT, &options.output, error) || !line_threads(line, THREADS, &options.threads, error) ||
        !line_one_file(line, "no graph is named; give FILE.json or FILE.json.gz (see --help)", &options.path, error))
        return false;
    options.json = json;
    *out = options;
    return true;
}
