/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt merge PART...`: the parts of a sweep, as one process would have printed them. */
#include "base/build.h"
#include "base/util.h"
#include "search/cli/sweep/file.h"
#include "search/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

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

typedef struct {
    SweepOutput output;
    const char *const *paths;
    int count;
} MergeRequest;

static bool read_request(const CommandLine *line, MergeRequest *out, Error *error) {
    if (!sweep_format_parse(line->text[FORMAT], &out->output.format, error) ||
        !sweep_goal_read(line->text[DEADLINE], line->text[BUDGET], &out->output.goal, error) ||
        !line_file(line, OUTPUT, &out->output.path, error))
        return false;
    out->output.quiet = line->text[QUIET];
    out->paths = line->arguments;
    out->count = line->argument_count;
    if (out->count == 0)
        return error_set(error, ERROR_INPUT, "merge", "has no parts; give the files of `shardopt sweep --shard K/N`");
    return out->count <= PARTS_MAX ||
           error_set(error, ERROR_INPUT, "merge", "has more than %d parts; give fewer", PARTS_MAX);
}

/* The first point that nobody has: its part was not given, or is not finished. */
static bool check_whole(const SweepTable *table, const int *part_of_shard, const char *const *paths, Error *error) {
    const SweepHeader *header = table->header;
    for (int64_t i = 0; i < header->grid.points; i++) {
        if (table->rows[i].json) continue;
        int64_t shard = i % header->shards;
        if (part_of_shard[shard] == 0)
            return error_set(error, ERROR_INPUT, "merge", "shard %lld/%lld is missing; give its part as well",
                             (long long)shard + 1, (long long)header->shards);
        return error_set(error, ERROR_INPUT, paths[part_of_shard[shard] - 1],
                         "has no point %lld: its sweep is not finished; finish it with --resume", (long long)i);
    }
    return true;
}

static bool read_parts(const MergeRequest *request, Arena *arena, SweepTable *table, Error *error) {
    SweepHeader *part = ARENA_NEW(arena, SweepHeader, 1);
    int *part_of_shard = ARENA_NEW(arena, int, (size_t)table->header->shards);
    if (!part || !part_of_shard) return error_memory(error);
    for (int i = 0; i < request->count; i++) {
        if (!sweep_part_read(request->paths[i], table, part, error)) return false;
        int *seen = &part_of_shard[part->shard - 1];
        if (*seen)
            return error_set(error, ERROR_INPUT, request->paths[i],
                             "is shard %lld/%lld again, which %.80s is already; give each once", (long long)part->shard,
                             (long long)part->shards, request->paths[*seen - 1]);
        *seen = i + 1;
    }
    return check_whole(table, part_of_shard, request->paths, error);
}

static bool merge(const MergeRequest *request, Arena *arena, Streams streams, int *code, Error *error) {
    SweepHeader *first = ARENA_NEW(arena, SweepHeader, 1);
    SweepTable table = {0};
    if (!first) return error_memory(error);
    if (!sweep_part_header(request->paths[0], arena, first, error)) return false;
    if (strcmp(first->version, program_version()) != 0)
        return error_set(error, ERROR_INPUT, request->paths[0],
                         "was made by shardopt %.40s, and this is %s; merge with the version that made it",
                         first->version, program_version());
    bool ok = sweep_output_fits(&first->grid, &request->output, error) &&
              sweep_table_new(first, arena, &table, error) && read_parts(request, arena, &table, error) &&
              sweep_answer(&first->grid, table.rows, &request->output, streams, error);
    if (ok) *code = sweep_exit(&first->grid, table.rows, &request->output.goal);
    sweep_table_free(&table);
    return ok;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    MergeRequest request = {0};
    int code = EXIT_USAGE;
    if (read_request(line, &request, error)) merge(&request, line->arena, streams, &code, error);
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
