/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/sweep/grid.h"

#include "base/file.h"
#include "base/utf8.h"
#include "base/util.h"
#include "search/options/data_files.h"

#include <stdlib.h>
#include <string.h>

enum { RANGE_DIGITS_MAX = 9 };

/* What stands between two values; '\0': there is one value. */
static char separator(Option option) {
    switch (option) {
    case OPTION_REQUIRE:
    case OPTION_FOR:
    case OPTION_SCHEDULES:
    case OPTION_STATE_DTYPES:
    case OPTION_REMAT:
    case OPTION_QLORA:
    case OPTION_TARGETS:
    case OPTION_FREEZE:
    case OPTION_TRAIN_PLAN:
    case OPTION_ROLLOUT:
        return ';';
    case OPTION_TIME_LIMIT:
    case OPTION_MEMORY_LIMIT:
    case OPTION_BRUTE_FORCE:
        return '\0';
    default:
        return ',';
    }
}

static bool counts(Option option) {
    return option == OPTION_PODS || option == OPTION_SLICES || option == OPTION_CHIPS || option == OPTION_NODES ||
           option == OPTION_GPUS_PER_NODE || option == OPTION_SEQUENCES;
}

/* One option being read. */
typedef struct {
    const char *where;
    Arena *arena;
    int64_t room; /* values that the grid still takes */
    SweepOption *out;
    Error *error;
} ListParser;

static bool add_value(const ListParser *parser, const char *value) {
    if (!value) return error_memory(parser->error);
    if (parser->out->count >= parser->room)
        return error_set(parser->error, ERROR_INPUT, parser->where,
                         "makes a grid of more than %d points; give shorter lists", SWEEP_POINTS_MAX);
    for (int i = 0; i < parser->out->count; i++)
        if (strcmp(parser->out->values[i], value) == 0)
            return error_set(parser->error, ERROR_INPUT, parser->where, "has %.60s twice; give each value once", value);
    parser->out->values[parser->out->count++] = value;
    return true;
}

/* "1..8", both ends within: 1 added or wrong, 0 it is no range. */
static bool add_range(const ListParser *parser, const char *value, bool *is_range) {
    size_t low_digits = strspn(value, "0123456789"), high_digits = 0;
    *is_range = low_digits > 0 && strncmp(value + low_digits, "..", 2) == 0;
    if (!*is_range) return true;
    high_digits = strspn(value + low_digits + 2, "0123456789");
    if (high_digits == 0 || value[low_digits + 2 + high_digits] != '\0' || low_digits > RANGE_DIGITS_MAX ||
        high_digits > RANGE_DIGITS_MAX || atol(value) > atol(value + low_digits + 2))
        return error_set(parser->error, ERROR_INPUT, parser->where, "%.40s is no range; give one such as 1..8", value);
    for (long number = atol(value); number <= atol(value + low_digits + 2); number++)
        if (!add_value(parser, arena_format(parser->arena, "%ld", number))) return false;
    return true;
}

static bool add_list(const ListParser *parser, Option option, const char *text) {
    char between = separator(option);
    for (size_t left = strlen(text), at = 0; left > 0;) {
        size_t size = utf8_size(text + at, left);
        if (size == 0) return error_set(parser->error, ERROR_INPUT, parser->where, "is not UTF-8; give a text that is");
        at += size;
        left -= size;
    }
    for (bool more = true; more;) {
        size_t length = between ? strcspn(text, (char[2]){between, '\0'}) : strlen(text);
        char *value = arena_format(parser->arena, "%.*s", (int)length, text);
        bool is_range = false;
        if (!value) return error_memory(parser->error);
        if (length == 0 && option != OPTION_BRUTE_FORCE)
            return error_set(parser->error, ERROR_INPUT, parser->where,
                             "has an empty value; give one, or a list like 1,2");
        if (counts(option) && !add_range(parser, value, &is_range)) return false;
        if (!is_range && !add_value(parser, value)) return false;
        more = text[length] != '\0';
        text += length + more;
    }
    return true;
}

bool sweep_grid_from_options(const CommandOption *table, const Options *options, Arena *arena, SweepGrid *out,
                             Error *error) {
    memset(out, 0, sizeof *out);
    out->points = 1;
    for (Option option = 0; option < OPTION_COUNT; option++) {
        if (!table[option].is_input || !options->text[option]) continue;
        SweepOption *list = &out->options[out->option_count++];
        const ListParser parser = {options->where[option], arena, SWEEP_POINTS_MAX / out->points, list, error};
        *list = (SweepOption){.option = option_name(option)};
        list->values = ARENA_NEW(arena, const char *, (size_t)parser.room);
        if (!list->values) return error_memory(error);
        if (!add_list(&parser, option, options->text[option])) return false;
        out->points *= list->count;
    }
    if (!options->text[OPTION_MODEL])
        return error_set(error, ERROR_INPUT, "--model",
                         "is missing; give models of `shardopt models`, with commas between them");
    return true;
}

void sweep_point_options(const CommandOption *table, const Options *base, const SweepGrid *grid, int64_t point,
                         Options *out) {
    *out = *base;
    int i = 0;
    for (Option option = 0; option < OPTION_COUNT; option++)
        if (table[option].is_input && base->text[option]) out->text[option] = sweep_value(grid, point, i++);
}

/* A path as the loaders of models, profiles and optimizers tell one from a name. */
static bool is_path(const char *value) {
    size_t length = strlen(value);
    return strchr(value, '/') || (length > 5 && strcmp(value + length - 5, ".json") == 0) || file_is_folder(value);
}

static bool add_file(Sha256 *all, const char *value, Error *error) {
    Arena arena = {0};
    char hex[SHA256_HEX_SIZE] = "-";
    Error unread = {0}; /* the point says so */
    const char *path = file_is_folder(value) ? arena_format(&arena, "%s/config.json", value) : value, *line = NULL;
    if (path && !file_sha256(path, hex, &unread)) strcpy(hex, "-");
    if (path) line = arena_format(&arena, "%s  %s\n", hex, value);
    if (line) sha256_add(all, line, strlen(line));
    arena_free(&arena);
    return line || error_memory(error);
}

bool sweep_files_sha256(const SweepGrid *grid, char hex[SHA256_HEX_SIZE], Error *error) {
    static const Option NAMING[] = {OPTION_MODEL, OPTION_PROFILE, OPTION_OPTIMIZER, OPTION_LENGTHS, OPTION_TOOL_TIME};
    Sha256 all = sha256_start();
    bool any = false;
    for (int i = 0; i < grid->option_count; i++)
        for (size_t n = 0; n < COUNT_OF(NAMING); n++) {
            const SweepOption *option = &grid->options[i];
            if (strcmp(option->option, option_name(NAMING[n])) != 0) continue;
            for (int v = 0; v < option->count; v++) {
                if (!is_path(option->values[v])) continue;
                any = true;
                if (!add_file(&all, option->values[v], error)) return false;
            }
        }
    hex[0] = '\0';
    if (any) sha256_hex(&all, hex);
    return true;
}
