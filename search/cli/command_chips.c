/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt chips [NAME]`: the catalog as a table, or one chip with every figure and its source. */
#include "base/json.h"
#include "base/number.h"
#include "base/util.h"
#include "mesh/chip_json.h"
#include "mesh/slice.h"
#include "search/cli/command.h"

#include <libsmartcols/libsmartcols.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>

static const Figure *figure_of(const Chip *chip, const ChipFigure *figure) {
    return (const Figure *)((const char *)chip + figure->offset);
}

static bool is_known(const Figure *figure) { return figure->source[0] != '\0'; }

/* JSON */

static bool add_figure(cJSON *to, const char *key, const Figure *figure) {
    if (!is_known(figure)) return cJSON_AddNullToObject(to, key) != NULL;
    cJSON *object = json_add_object(to, key);
    return object && json_add_real(object, "value", figure->value) && json_add_text(object, "source", figure->source) &&
           json_add_bool(object, "verified", figure->verified);
}

static bool add_shapes(cJSON *to, const char *key, const Chip *chip, const SliceShape *shapes, int count) {
    char text[SLICE_TEXT_SIZE];
    cJSON *array = json_add_array(to, key);
    bool ok = array != NULL;
    for (int i = 0; i < count && ok; i++) ok = json_add_text(array, NULL, slice_text(chip, shapes[i], text));
    return ok;
}

static bool add_torus(cJSON *to, const Chip *chip) {
    char pod[SLICE_TEXT_SIZE];
    cJSON *prefixes = json_add_array(to, "name_prefixes");
    bool ok = prefixes != NULL;
    for (size_t i = 0; i < COUNT_OF(chip->name_prefix) && ok; i++)
        if (chip->name_prefix[i][0]) ok = json_add_text(prefixes, NULL, chip->name_prefix[i]);
    ok = ok && json_add_whole(to, "cores_in_name", chip->cores_in_name) &&
         json_add_text(to, "pod", slice_text(chip, chip->pod, pod));
    if (ok && chip->max_job_chips) ok = json_add_whole(to, "max_job_chips", chip->max_job_chips);
    if (ok && chip->max_cubes) ok = json_add_whole(to, "max_cubes", chip->max_cubes);
    if (ok && chip->closed_size) ok = json_add_whole(to, "closed_size", chip->closed_size);
    return ok && json_add_bool(to, "sorted_shapes", chip->sorted_shapes) &&
           json_add_bool(to, "twisted", chip->twisted) &&
           add_shapes(to, "shapes", chip, chip->shapes, chip->shape_count) &&
           add_shapes(to, "defaults", chip, chip->defaults, chip->default_count);
}

static bool add_chip(cJSON *to, const Chip *chip) {
    cJSON *aliases = NULL;
    bool ok = json_add_text(to, "name", chip->name) && json_add_text(to, "title", chip->title) &&
              (aliases = json_add_array(to, "aliases"));
    for (int i = 0; i < chip->alias_count && ok; i++) ok = json_add_text(aliases, NULL, chip->aliases[i]);
    for (int i = 0; i < CHIP_FIGURE_COUNT && ok; i++)
        ok = add_figure(to, CHIP_FIGURES[i].key, figure_of(chip, &CHIP_FIGURES[i]));
    cJSON *topology = ok ? json_add_object(to, "topology") : NULL;
    ok = topology && json_add_text(topology, "kind", scaleup_name(chip->scaleup)) &&
         json_add_whole(topology, "chips_per_host", chip->chips_per_host) &&
         json_add_whole(topology, "devices_per_chip", chip->devices_per_chip) &&
         json_add_whole(topology, "links_per_chip", chip->links_per_chip);
    if (ok)
        ok = chip_has_domains(chip) ? json_add_whole(topology, "domain_chips", chip->domain_chips)
                                    : add_torus(topology, chip);
    return ok && json_add_text(topology, "source", chip->topology_source) &&
           json_add_bool(topology, "verified", chip->topology_verified);
}

static bool write_json(FILE *out, const Catalog *catalog, const Chip *one) {
    cJSON *json = one ? cJSON_CreateObject() : cJSON_CreateArray();
    bool ok = json != NULL;
    if (ok && one) ok = add_chip(json, one);
    for (int i = 0; i < catalog->count && ok && !one; i++) {
        cJSON *object = json_add_object(json, NULL);
        ok = object && add_chip(object, &catalog->chips[i]);
    }
    ok = ok && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}

/* Text. A table is never a terminal to libsmartcols: it would cut columns to the width, and the bytes would differ. */

typedef struct {
    const char *name;
    bool right;
} Column;

static struct libscols_table *table_new(FILE *out, const Column *columns, size_t count) {
    struct libscols_table *table = scols_new_table();
    bool ok = table && scols_table_set_stream(table, out) == 0 &&
              scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) == 0 &&
              scols_table_set_column_separator(table, "  ") == 0;
    for (size_t i = 0; i < count && ok; i++)
        ok = scols_table_new_column(table, columns[i].name, 0, columns[i].right ? SCOLS_FL_RIGHT : 0) != NULL;
    if (ok) return table;
    scols_unref_table(table);
    return NULL;
}

static bool table_row(struct libscols_table *table, const char *const *cells, size_t count) {
    struct libscols_line *line = scols_table_new_line(table, NULL);
    bool ok = line != NULL;
    for (size_t i = 0; i < count && ok; i++) ok = scols_line_set_data(line, i, cells[i]) == 0;
    return ok;
}

static bool table_write(struct libscols_table *table, FILE *out) {
    bool ok = scols_print_table(table) == 0;
    scols_unref_table(table);
    return ok && !ferror(out);
}

enum { CELL_SIZE = 48 };

/* In units of `unit`; "-" where nothing is known, "*" where it was not checked. */
static const char *cell(const Figure *figure, double unit, char *text) {
    if (!is_known(figure)) return "-";
    snprintf(text, CELL_SIZE, "%.4g%s", figure->value / unit, figure->verified ? "" : "*");
    return text;
}

static bool list_row(struct libscols_table *table, const Chip *chip) {
    char cells[9][CELL_SIZE], shape[SLICE_TEXT_SIZE], link[CELL_SIZE];
    bool torus = !chip_has_domains(chip);
    snprintf(cells[5], CELL_SIZE, "%.20s x %lld", cell(&chip->link_bytes_per_second, 1e9, link),
             (long long)chip->links_per_chip);
    if (torus)
        snprintf(cells[7], CELL_SIZE, "%.40s%s", slice_text(chip, chip->pod, shape),
                 chip->topology_verified ? "" : "*");
    else
        snprintf(cells[7], CELL_SIZE, "%lld%s", (long long)chip->domain_chips, chip->topology_verified ? "" : "*");
    const char *const row[] = {
        chip->name,
        cell(&chip->bf16_flops_per_second, 1e12, cells[1]),
        cell(&chip->fp8_flops_per_second, 1e12, cells[2]),
        cell(&chip->hbm_bytes, 1e9, cells[3]),
        cell(&chip->hbm_bytes_per_second, 1e9, cells[4]),
        chip->scaleup == SCALEUP_TORUS_2D ? "2-D torus"
        : torus                           ? "3-D torus"
                                          : "switch",
        cells[5],
        cell(&chip->scaleout_bytes_per_second, 1e9, cells[6]),
        cells[7],
        cell(&chip->usd_per_chip_hour, 1, cells[8]),
    };
    return table_row(table, row, COUNT_OF(row));
}

static bool write_list(FILE *out, const Catalog *catalog) {
    static const Column COLUMNS[] = {
        {"chip", false},     {"bf16 TFLOP/s", true}, {"fp8 TFLOP/s", true}, {"HBM GB", true},     {"HBM GB/s", true},
        {"scale-up", false}, {"link GB/s", true},    {"out GB/s", true},    {"pod|domain", true}, {"USD/h", true}};
    struct libscols_table *table = table_new(out, COLUMNS, COUNT_OF(COLUMNS));
    if (!table) return false;
    for (int i = 0; i < catalog->count; i++)
        if (!list_row(table, &catalog->chips[i])) {
            scols_unref_table(table);
            return false;
        }
    bool ok = table_write(table, out);
    return fprintf(out,
                   "\nFLOP/s are dense; GB are 1e9 bytes; links one way, times links per chip; out: DCN or network per "
                   "chip, one way.\n* not checked against a source; - not known. `shardopt chips NAME` shows every "
                   "figure and its source.\n") > 0 &&
           ok;
}

static bool write_figures(FILE *out, const Chip *chip) {
    static const Column COLUMNS[] = {
        {"figure", false}, {"value", true}, {"unit", false}, {"checked", false}, {"source", false}};
    struct libscols_table *table = table_new(out, COLUMNS, COUNT_OF(COLUMNS));
    if (!table) return false;
    for (int i = 0; i < CHIP_FIGURE_COUNT; i++) {
        const Figure *figure = figure_of(chip, &CHIP_FIGURES[i]);
        char value[CELL_SIZE];
        if (!is_known(figure)) continue;
        snprintf(value, sizeof value, "%.12g", figure->value);
        const char *const row[] = {CHIP_FIGURES[i].key, value, CHIP_FIGURES[i].unit, figure->verified ? "yes" : "no",
                                   figure->source};
        if (!table_row(table, row, COUNT_OF(row))) {
            scols_unref_table(table);
            return false;
        }
    }
    return table_write(table, out);
}

static void write_shapes(FILE *out, const Chip *chip) {
    char text[SLICE_TEXT_SIZE], number[NUMBER_TEXT_SIZE];
    fprintf(out, "pod: %s", slice_text(chip, chip->pod, text));
    if (chip->max_job_chips)
        fprintf(out, "; largest schedulable slice: %s chips", number_grouped(chip->max_job_chips, number));
    fprintf(out, "\nslices:");
    for (int i = 0; i < chip->shape_count; i++) fprintf(out, " %s", slice_text(chip, chip->shapes[i], text));
    if (chip->max_cubes)
        fprintf(out, ", and %smultiples of 4 up to %lld cubes of 4x4x4", chip->sorted_shapes ? "ascending " : "",
                (long long)chip->max_cubes);
    fprintf(out, "\nrings: %s", chip->scaleup == SCALEUP_TORUS_3D ? "every axis of whole cubes" : "an axis of size ");
    if (chip->scaleup == SCALEUP_TORUS_2D) fprintf(out, "%lld", (long long)chip->closed_size);
    fprintf(out, "\nnames: %s-N with N = %lld per chip\n", chip->name_prefix[0], (long long)chip->cores_in_name);
}

static bool write_one(FILE *out, const Chip *chip) {
    fprintf(out, "%s: %s\n", chip->name, chip->title);
    if (chip->alias_count) fprintf(out, "also:");
    for (int i = 0; i < chip->alias_count; i++) fprintf(out, " %s", chip->aliases[i]);
    fprintf(out, "%s\n", chip->alias_count ? "\n" : "");
    if (!write_figures(out, chip)) return false;
    fprintf(out, "\nhost: %lld chips; %lld device%s and %lld links per chip\n", (long long)chip->chips_per_host,
            (long long)chip->devices_per_chip, chip->devices_per_chip > 1 ? "s" : "", (long long)chip->links_per_chip);
    if (chip_has_domains(chip))
        fprintf(out, "domain: %lld chips behind one switch\n", (long long)chip->domain_chips);
    else
        write_shapes(out, chip);
    fprintf(out, "source: %s%s\n", chip->topology_source, chip->topology_verified ? "" : " (not checked)");
    return !ferror(out);
}

/* The command */

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

static bool write_result(FILE *out, poptContext context, const Options *options, Arena *arena, Error *error) {
    if (options->help) {
        poptPrintHelp(context, out, 0);
        return !ferror(out) || error_memory(error);
    }
    Catalog catalog;
    if (!catalog_load(arena, &catalog, error)) return false;
    const Chip *one = options->name[0] ? catalog_find(&catalog, options->name) : NULL;
    if (options->name[0] && !one) return unknown_chip(&catalog, options->name, arena, error);
    bool ok = options->json ? write_json(out, &catalog, one) : one ? write_one(out, one) : write_list(out, &catalog);
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
    ok = read_options(context, &options, error) && write_result(memory, context, &options, &arena, error);
done:
    if (memory && fclose(memory) != 0) ok = ok && error_memory(error);
    if (ok && (fwrite(text, 1, length, streams.out) != length || fflush(streams.out) != 0))
        ok = error_set(error, ERROR_IO, "chips", "the output could not be written");
    if (context) poptFreeContext(context);
    free(text);
    arena_free(&arena);
    return ok ? 0 : error->kind == ERROR_MEMORY || error->kind == ERROR_INTERNAL ? 70 : 2;
}
