/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt chips [NAME]`: the catalog as a table, or one chip with every figure and its source. */
#include "base/util.h"
#include "search/cli/views/chips_view.h"
#include "search/cli/command.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    bool json, help;
    char name[128]; /* empty: the list */
} Options;

static const struct poptOption OPTION_TABLE[] = {
    {"format", 0, POPT_ARG_STRING, NULL, 'f', "text (default) or json", "FORMAT"},
    {"help", 'h', POPT_ARG_NONE, NULL, 'h', "show this", NULL},
    POPT_TABLEEND};

static bool set_format(const char *format, Options *options, Error *error) {
    if (strcmp(format, "json") != 0 && strcmp(format, "text") != 0)
        return error_set(error, ERROR_INPUT, "--format", "%.40s is not a format of chips; give text or json", format);
    options->json = strcmp(format, "json") == 0;
    return true;
}

static bool read_options(poptContext context, Options *options, Error *error) {
    int code;
    while ((code = poptGetNextOpt(context)) >= 0) {
        char *value = poptGetOptArg(context);
        bool ok = true;
        if (code == 'h')
            options->help = true;
        else
            ok = value && set_format(value, options, error);
        free(value);
        if (!ok) return false;
    }
    if (code < -1)
        return error_set(error, ERROR_INPUT, poptBadOption(context, POPT_BADOPTION_NOALIAS),
                         "%s; see shardopt chips --help", poptStrerror(code));
    const char *name = poptGetArg(context);
    if (name && (poptPeekArg(context) || *name == '\0'))
        return error_set(error, ERROR_INPUT, "chips", "give at most one name of a chip");
    if (name) snprintf(options->name, sizeof options->name, "%s", name);
    return true;
}

static bool unknown_chip(const Catalog *catalog, const char *name, Arena *arena, Error *error) {
    size_t count = (size_t)catalog->count;
    const char **names = ARENA_NEW(arena, const char *, 2 * count);
    if (!names) return error_memory(error);
    for (size_t i = 0; i < count; i++) { /* v5p is also what tpu-v5p is called */
        const char *full = catalog->chips[i].name;
        names[i] = full;
        names[count + i] = strncmp(full, "tpu-", 4) == 0 ? full + 4 : full;
    }
    const char *nearest = name_nearest(name, names, 2 * count);
    return error_set(error, ERROR_INPUT, "chips", "%.64s is not a chip of the catalog; %s%s", name,
                     nearest ? "nearest: " : "shardopt chips lists them", nearest ? nearest : "");
}

static bool write_result(TextOut out, poptContext context, const Options *options, Arena *arena, Error *error) {
    if (options->help) {
        poptPrintHelp(context, out.file, 0);
        return !ferror(out.file) || error_memory(error);
    }
    Catalog catalog;
    if (!catalog_load(arena, &catalog, error)) return false;
    const Chip *one = options->name[0] ? catalog_find(&catalog, options->name) : NULL;
    if (options->name[0] && !one) return unknown_chip(&catalog, options->name, arena, error);
    bool ok = options->json ? chips_write_json(&catalog, one, out.file, arena)
              : one         ? chips_write_one(one, out, arena)
                            : chips_write_table(&catalog, out);
    return ok || error_memory(error);
}

/* All of it in memory first, so that nothing half-written is ever on stdout. */
int command_chips(int argc, char **argv, Streams streams, Error *error) {
    Options options = {0};
    Arena arena = {0};
    char *text = NULL;
    size_t length = 0;
    bool ok = false;
    FILE *memory = open_memstream(&text, &length);
    poptContext context = poptGetContext("shardopt chips", argc, (const char **)argv, OPTION_TABLE, 0);
    if (!memory || !context) {
        error_memory(error);
        goto done;
    }
    poptSetOtherOptionHelp(context, "[NAME]");
    ok = read_options(context, &options, error) &&
         write_result((TextOut){memory, streams.terminal}, context, &options, &arena, error);
done:
    if (memory && fclose(memory) != 0) ok = ok && error_memory(error);
    if (ok && (fwrite(text, 1, length, streams.out) != length || fflush(streams.out) != 0))
        ok = error_set(error, ERROR_IO, "chips", "the output could not be written");
    if (context) poptFreeContext(context);
    free(text);
    arena_free(&arena);
    return ok ? 0 : error->kind == ERROR_MEMORY || error->kind == ERROR_INTERNAL ? 70 : 2;
}
