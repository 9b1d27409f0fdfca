/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt chips [NAME]`: the catalog as a table, or one chip with every figure and its source. */
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/views/chips_view.h"
#include "search/options/machine_words.h"

enum { FORMAT };

static const CommandOption OPTIONS[] = {
    [FORMAT] = OPTION_ROW("format", "FORMAT", 0, .help = "text (default) or json", .values = "text json"),
};

static bool write_result(TextOut out, const char *name, bool json, Arena *arena, Error *error) {
    Catalog catalog;
    if (!catalog_load(arena, &catalog, error)) return false;
    const Chip *one = name ? catalog_find(&catalog, name) : NULL;
    if (name && !one) return unknown_chip(&catalog, name, "chips", arena, error);
    return json  ? chips_write_json(&catalog, one, out.file, arena)
           : one ? chips_write_one(one, out, arena, error)
                 : chips_write_table(&catalog, out);
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    Draft draft;
    int json = 0;
    const char *name = line->arguments[0];
    if (!line_choice(line, FORMAT, &json, error)) return EXIT_USAGE;
    if (line->argument_count > 1 || (name && name[0] == '\0'))
        return error_set(error, ERROR_INPUT, "chips", "give at most one name of a chip"), EXIT_USAGE;
    if (!draft_open(&draft, error)) return EXIT_DEFECT;
    bool ok = write_result((TextOut){draft.file, streams.terminal}, name, json, line->arena, error);
    draft_write(&draft, ok, streams.out, NULL, error);
    return EXIT_DONE;
}

const Command COMMAND_CHIPS = {
    .name = "chips",
    .summary = "the chips it knows; with a name one of them, its figures and sources",
    .usage = "chips [--format text|json] [NAME]",
    .details = "The chips of the catalog: figures (* not checked, - not known), how many are checked against their "
               "source, and whether plans can be made; with a name: that chip, each figure with its source, what is "
               "not known, its default profile, the software that --stack takes, and of a TPU the slices by their "
               "vendor's names, with VMs and rings.",
    .options = OPTIONS,
    .option_count = COUNT_OF(OPTIONS),
    .takes_arguments = true,
    .argument_values = "@chips",
    .footer = "Exit codes: 0 done, 2 input is wrong, 70 a defect.",
    .examples = "shardopt chips v5p\n"
                "shardopt chips --format json\n",
    .run = run,
};
