/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt merge PART...`: the parts of a sweep, as one process would have printed them. */
#include "base/util.h"
#include "search/cli/sweep/file.h"
#include "search/sweep/sweep.h"

enum { PARTS_MAX = SWEEP_POINTS_MAX };

enum { FORMAT, OUTPUT, QUIET, DEADLINE, BUDGET };

static const CommandOption OPTIONS[] = {
    [FORMAT] =
        OPTION_ROW("format", "FORMAT", 0, .help = "how the answer is written: text, json, csv, markdown or html (text)",
                   .values = "text json csv markdown html"),
    [OUTPUT] = {OPTION_ROW_OUTPUT},
    [QUIET] = OPTION_ROW("quiet", NULL, 0, .letter = 'q', .help = "no warnings"),
    [DEADLINE] = {OPTION_ROW_DEADLINE},
    [BUDGET] = {OPTION_ROW_BUDGET},
};

static bool merge(const CommandLine *line, const SweepOutput *output, SweepTable *table, Streams streams,
                  Error *error) {
    int count = line->argument_count;
    if (count == 0)
        return error_set(error, ERROR_INPUT, "merge", "has no parts; give the files of `shardopt sweep --shard K/N`");
    if (count > PARTS_MAX)
        return error_set(error, ERROR_INPUT, "merge", "has more than %d parts; give fewer", PARTS_MAX);
    for (int i = 0; i < count; i++)
        if (!sweep_part_read(line->arguments[i], table, error) ||
            (i == 0 && !sweep_output_fits(&table->header->grid, output, error)))
            return false;
    return sweep_table_is_whole(table, error) &&
           sweep_answer(&table->header->grid, table->rows, output, streams, error);
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    const char *const *text = line->text;
    SweepTable table = {.arena = line->arena};
    SweepOutput output;
    int code = EXIT_USAGE;
    if (sweep_output_read(&(SweepOutputWords){text[FORMAT], text[OUTPUT], text[QUIET], text[DEADLINE], text[BUDGET]},
                          &output, error) &&
        merge(line, &output, &table, streams, error))
        code = sweep_exit(&table.header->grid, table.rows, &output.goal);
    sweep_table_free(&table);
    return code;
}

const Command COMMAND_MERGE = {
    .name = "merge",
    .summary = "the parts of a sweep put together",
    .usage = "merge [OPTIONS] PART...",
    .about =
        "Puts the parts of `shardopt sweep --shard K/N` (or finished files of --resume) together, and prints what one\n"
        "process would have printed, byte for byte. Every point must be there once.",
    .details = "Puts the parts of `sweep --shard` together, and prints the bytes that one process prints. It checks "
               "that the parts are of one grid, one version and the same data, and that each point is there once. A "
               "finished file of --resume is a part too.",
    .options = OPTIONS,
    .option_count = COUNT_OF(OPTIONS),
    .takes_arguments = true,
    .argument_values = "@files",
    .footer = "Exit codes: those of the sweep.",
    .examples = "shardopt merge part.1 part.2\n",
    .run = run,
};
