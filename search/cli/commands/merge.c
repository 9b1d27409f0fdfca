/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt merge PART...`: the parts of a sweep, as one process would have printed them. */
#include "search/cli/sweep/file.h"
#include "base/build.h"
#include "search/cli/sweep/options.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = SWEEP_POINTS_MAX };

static const struct poptOption OPTIONS[] = {
    {"format", '\0', POPT_ARG_STRING, NULL, 'f', "how the answer is written (text)", "text|json|csv|markdown|html"},
    {"output", 'o', POPT_ARG_STRING, NULL, 'o', "write the result there instead of to stdout", "FILE"},
    {"quiet", 'q', POPT_ARG_NONE, NULL, 'q', "no warnings", NULL},
    {"help", 'h', POPT_ARG_NONE, NULL, 'h', "this text", NULL},
    POPT_TABLEEND,
};

typedef struct {
    SweepOutput output;
    bool help;
    const char **paths; /* belong to the popt context */
    int count;
} MergeRequest;

static bool take_value(poptContext context, int option, Arena *arena, MergeRequest *out, Error *error) {
    char *value = poptGetOptArg(context);
    const char *text = value ? arena_text(arena, value) : NULL;
    free(value);
    if (!text) return error_memory(error);
    if (option == 'f') return sweep_format_parse(text, &out->output.format, error);
    if (text[0] == '\0') return error_set(error, ERROR_INPUT, "--output", "is empty; give a file");
    out->output.path = text;
    return true;
}

static bool read_request(poptContext context, Arena *arena, MergeRequest *out, Error *error) {
    int option;
    while ((option = poptGetNextOpt(context)) > 0) {
        if (option == 'h') out->help = true;
        if (option == 'q') out->output.quiet = true;
        if ((option == 'f' || option == 'o') && !take_value(context, option, arena, out, error)) return false;
    }
    if (option < -1)
        return error_set(error, ERROR_INPUT, poptBadOption(context, 0), "%s; `shardopt merge --help` lists the options",
                         poptStrerror(option));
    out->paths = poptGetArgs(context);
    while (out->paths && out->paths[out->count]) out->count++;
    if (out->help) return true;
    if (out->count == 0)
        return error_set(error, ERROR_INPUT, "merge", "has no parts; give the files of `shardopt sweep --shard K/N`");
    return out->count <= PARTS_MAX ||
           error_set(error, ERROR_INPUT, "merge", "has more than %d parts; give fewer", PARTS_MAX);
}

static void print_help(FILE *out) {
    fprintf(out, "usage: shardopt merge [OPTIONS] PART...\n\n"
                 "Puts the parts of `shardopt sweep --shard K/N` (or finished files of --resume) together, and prints "
                 "what one\nprocess would have printed, byte for byte. Every point must be there once.\n\n");
    for (const struct poptOption *option = OPTIONS; option->longName; option++) {
        char left[64];
        snprintf(left, sizeof left, "--%s %s", option->longName, option->argDescrip ? option->argDescrip : "");
        fprintf(out, "  %-34s %s\n", left, option->descrip);
    }
    fprintf(out, "\nExit codes: those of the sweep.\n");
}

/* The first point that nobody has: its part was not given, or is not finished. */
static bool check_whole(const SweepTable *table, const int *part_of_shard, const char *const *paths, Error *error) {
    const SweepHeader *header = table->header;
    for (int64_t i = 0; i < header->grid.points; i++) {
        if (table->rows[i].line) continue;
        int64_t shard = i % header->shards;
        if (part_of_shard[shard] == 0)
            return error_set(error, ERROR_INPUT, "merge", "shard %lld/%lld is missing; give its part as well",
                             (long long)shard + 1, (long long)header->shards);
        return error_set(error, ERROR_INPUT, paths[part_of_shard[shard] - 1],
                         "has no point %lld: its sweep is not finished; finish it with --resume", (long long)i);
    }
    return true;
}

static bool merge(const MergeRequest *request, Arena *arena, Streams streams, int *code, Error *error) {
    SweepHeader *first = ARENA_NEW(arena, SweepHeader, 2), *part = first + 1;
    SweepTable table;
    if (!first) return error_memory(error);
    if (!sweep_part_header(request->paths[0], arena, first, error)) return false;
    if (strcmp(first->version, program_version()) != 0)
        return error_set(error, ERROR_INPUT, request->paths[0],
                         "was made by shardopt %.40s, and this is %s; merge with the version that made it",
                         first->version, program_version());
    int *part_of_shard = ARENA_NEW(arena, int, (size_t)first->shards);
    if (!part_of_shard) return error_memory(error);
    if (!sweep_table_new(first, arena, &table, error)) return false;
    for (int i = 0; i < request->count; i++) {
        if (!sweep_part_read(request->paths[i], &table, part, error)) return false;
        int *seen = &part_of_shard[part->shard - 1];
        if (*seen)
            return error_set(error, ERROR_INPUT, request->paths[i],
                             "is shard %lld/%lld again, which %.80s is already; give each once", (long long)part->shard,
                             (long long)part->shards, request->paths[*seen - 1]);
        *seen = i + 1;
    }
    if (!check_whole(&table, part_of_shard, request->paths, error) ||
        !sweep_answer(&first->grid, table.rows, &request->output, streams, error))
        return false;
    *code = sweep_exit(&first->grid, table.rows);
    return true;
}

int command_merge(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    MergeRequest request = {0};
    int code = EXIT_USAGE;
    poptContext context = poptGetContext("shardopt", argc, (const char **)argv, OPTIONS, 0);
    if (!context) {
        error_memory(error);
    } else if (read_request(context, &arena, &request, error)) {
        if (request.help) {
            print_help(streams.out);
            code = EXIT_DONE;
        } else {
            merge(&request, &arena, streams, &code, error);
        }
    }
    if (error->kind != ERROR_NONE) code = exit_of_error(error);
    if (context) poptFreeContext(context);
    arena_free(&arena);
    return code;
}
