/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt chips [NAME]`: the catalog as a table, or one chip with every figure and its source. */
#include "base/json.h"
#include "base/number.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/text/terminal.h"
#include "base/util.h"
#include "cost/profile/profile_set.h"
#include "mesh/chip_json.h"
#include "mesh/machine.h"
#include "mesh/slice.h"
#include "search/cli/commands.h"
#include "search/options/machine_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `shardopt chips` prints: the catalog as a table, one chip in full, either as JSON. */

static inline const Figure *chip_figure(const Chip *chip, int index) {
    return (const Figure *)((const char *)chip + CHIP_FIGURES[index].offset);
}

static inline bool figure_is_known(const Figure *figure) { return figure->source[0] != '\0'; }

/* Where the figures of a chip stand. */
typedef struct {
    int known, checked;
    bool plans; /* the smallest machine of it can be planned */
} ChipStanding;

/* The slices that a chip has by count: each count of chips once, ascending, in the shape that the bare count
 * means. */
typedef struct {
    SliceShape shape;
    int64_t chips, vms; /* vms 0: not known */
    bool vendor, only;  /* the vendor's default of the count; the only shape of it. Neither: the most cubic offered */
    char name[2 * CHIP_NAME_SIZE]; /* "v5p-1024"; empty: slices of this chip have no names */
    char rings[16];                /* "x y z": the axes that close; "-": none */
    bool twisted;
} OfferedSlice;

static ChipStanding chip_standing(const Chip *chip) {
    ChipStanding standing = {0};
    Machine machine;
    Error error = {0};
    for (int i = 0; i < CHIP_FIGURE_COUNT; i++) {
        const Figure *figure = chip_figure(chip, i);
        standing.known += figure_is_known(figure);
        standing.checked += figure_is_known(figure) && figure->verified;
    }
    standing.plans = machine_from_request(chip, &(MachineRequest){0}, &machine, &error);
    return standing;
}

static bool is_vendors(const Chip *chip, SliceShape shape) {
    for (int i = 0; i < chip->default_count; i++)
        if (slice_compare(chip->defaults[i], shape) == 0) return true;
    return false;
}

static OfferedSlice offered_slice(const Chip *chip, int64_t chips, int of_count) {
    OfferedSlice slice = {.chips = chips};
    slice_default(chip, chips, &slice.shape);
    slice.vendor = is_vendors(chip, slice.shape);
    slice.only = of_count == 1;
    if (chip->chips_per_vm > 0) slice.vms = chips < chip->chips_per_vm ? 1 : chips / chip->chips_per_vm;
    if (chip->name_prefix[0][0])
        snprintf(slice.name, sizeof slice.name, "%s-%lld", chip->name_prefix[0],
                 (long long)(chips * chip->cores_in_name));
    for (int axis = 0; axis < 3; axis++)
        if (slice.shape.size[axis] > 1 && slice_wraps(chip, slice.shape, axis))
            snprintf(slice.rings + strlen(slice.rings), sizeof slice.rings - strlen(slice.rings), "%s%c",
                     slice.rings[0] ? " " : "", "xyz"[axis]);
    if (slice.rings[0] == '\0') strcpy(slice.rings, "-");
    slice.twisted = slice_twist(chip, slice.shape) != NULL;
    return slice;
}

/* false: memory is out */
static bool chip_offered(const Chip *chip, Arena *arena, OfferedSlice **out, int *count) {
    size_t shapes = 0, at = 0;
    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) shapes++;
    int64_t *chips = ARENA_NEW(arena, int64_t, shapes + 1);
    *out = ARENA_NEW(arena, OfferedSlice, shapes + 1);
    *count = 0;
    if (!chips || !*out) return false;
    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) chips[at++] = slice_chips(walk.shape);
    qsort(chips, shapes, sizeof *chips, order_whole);
    for (size_t i = 0, next; i < shapes; i = next) {
        for (next = i + 1; next < shapes && chips[next] == chips[i];) next++;
        (*out)[(*count)++] = offered_slice(chip, chips[i], (int)(next - i));
    }
    return true;
}

/* ---- as text ---- */

/* The catalog of chips as a table, and one chip in full, for people. */

enum { CELL_SIZE = 96, SOURCE_COLUMNS = 70, LINE_COLUMNS = 110 };

/* In units of `unit`; "-" where nothing is known, "*" where it was not checked. */
static const char *cell(const Figure *figure, double unit, char *text) {
    if (!figure_is_known(figure)) return "-";
    snprintf(text, CELL_SIZE, "%.4g%s", figure->value / unit, figure->verified ? "" : "*");
    return text;
}

static const char *kind_words(ScaleupKind kind) {
    static const char *const WORDS[] = {
        [SCALEUP_TORUS_2D] = "2-D torus", [SCALEUP_TORUS_3D] = "3-D torus", [SCALEUP_SWITCH] = "switch",
        [SCALEUP_MESH] = "direct links",  [SCALEUP_PCIE] = "PCIe",          [SCALEUP_UNKNOWN] = "-"};
    return WORDS[kind];
}

static const char *extent_cell(const Chip *chip, char *text) {
    char shape[SLICE_TEXT_SIZE];
    if (chip->scaleup == SCALEUP_UNKNOWN) return "-";
    if (chip_has_domains(chip))
        snprintf(text, CELL_SIZE, "%lld%s", (long long)chip->domain_chips, chip->topology_verified ? "" : "*");
    else
        snprintf(text, CELL_SIZE, "%s%s", slice_text(chip, chip->pod, shape),
                 chip->topology_verified && chip->pod_verified ? "" : "*");
    return text;
}

static void list_row(Table *table, const Chip *chip) {
    char cells[8][CELL_SIZE], link[CELL_SIZE];
    ChipStanding standing = chip_standing(chip);
    if (figure_is_known(&chip->link_bytes_per_second))
        snprintf(cells[4], CELL_SIZE, "%.20s x %lld", cell(&chip->link_bytes_per_second, 1e9, link),
                 (long long)chip->links_per_chip);
    else
        strcpy(cells[4], "-");
    snprintf(cells[7], CELL_SIZE, "%d of %d", standing.checked, standing.known);
    char extent[CELL_SIZE], price[CELL_SIZE];
    const char *const row[] = {
        chip->name,
        cell(&chip->bf16_flops_per_second, 1e12, cells[0]),
        cell(&chip->fp8_flops_per_second, 1e12, cells[1]),
        cell(&chip->hbm_bytes, 1e9, cells[2]),
        cell(&chip->hbm_bytes_per_second, 1e9, cells[3]),
        kind_words(chip->scaleup),
        cells[4],
        cell(&chip->scaleout_bytes_per_second, 1e9, cells[5]),
        extent_cell(chip, extent),
        cell(&chip->usd_per_chip_hour, 1, price),
        cells[7],
        standing.plans ? "yes" : "no",
    };
    table_row(table, row);
}

/* False: memory is out; of one chip also that its profile cannot be read, which is in *error then. */
static bool chips_write_table(const Catalog *catalog, TextOut out) {
    Arena arena = {0};
    Table table =
        table_new(&arena, NULL, "chip|>bf16 TFLOP/s|>fp8 TFLOP/s|>HBM GB|>HBM GB/s|scale-up|>link GB/s|>out GB/s");
    table_column(&table, "pod|domain", true);
    table_column(&table, "USD/h", true);
    table_column(&table, "checked", true);
    table_column(&table, "plans", false);
    int plans = 0, known = 0, checked = 0;
    for (int i = 0; i < catalog->count; i++) {
        ChipStanding standing = chip_standing(&catalog->chips[i]);
        plans += standing.plans;
        known += standing.known;
        checked += standing.checked;
        list_row(&table, &catalog->chips[i]);
    }
    bool ok = table_write_text(&table, "", out);
    arena_free(&arena);
    fprintf(
        out.file,
        "\n%d chips: %d can be planned with, %d are listed with what is known. %d figures, %d of them checked "
        "against their source.\n"
        "FLOP/s are dense; GB are 1e9 bytes; links one way, times links per chip; out: DCN or network per chip, one "
        "way.\n"
        "* not checked; - not known. `shardopt chips NAME` shows every figure with its source.\n",
        catalog->count, plans, catalog->count - plans, known, checked);
    return ok && !ferror(out.file);
}

static bool write_figures(const Chip *chip, TextOut out) {
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "figure|>value|unit|checked|source");
    enum { SOURCE = 4 };
    table_wrap(&table, SOURCE, SOURCE_COLUMNS);
    for (int i = 0; i < CHIP_FIGURE_COUNT; i++) {
        const Figure *figure = chip_figure(chip, i);
        char value[CELL_SIZE];
        if (!figure_is_known(figure)) continue;
        snprintf(value, sizeof value, "%.12g", figure->value);
        const char *const row[] = {CHIP_FIGURES[i].key, value, CHIP_FIGURES[i].unit, figure->verified ? "yes" : "no",
                                   figure->source};
        table_row(&table, row);
    }
    bool ok = table_write_text(&table, "", out);
    arena_free(&arena);
    return ok;
}

/* One paragraph, broken at blanks. */
static void write_paragraph(const char *label, const char *text, TextOut out) {
    char whole[CHIP_SOURCE_SIZE + 256];
    snprintf(whole, sizeof whole, "%s: %s", label, text);
    text_clean(whole);
    text_wrap(whole, LINE_COLUMNS);
    fprintf(out.file, "%s\n", whole);
}

/* Figures of the other kind of machine are not missed. */
static bool is_missed(const Chip *chip, int index) {
    static const size_t OF_GPUS[] = {offsetof(Chip, ring_base_seconds), offsetof(Chip, tree_base_seconds),
                                     offsetof(Chip, tree_hop_seconds), offsetof(Chip, tree_scaleout_seconds),
                                     offsetof(Chip, leaf_nodes)},
                        OF_TORI[] = {offsetof(Chip, matrix_tile), offsetof(Chip, twisted_gain_k_k_2k),
                                     offsetof(Chip, twisted_gain_k_2k_2k)};
    size_t offset = CHIP_FIGURES[index].offset;
    if (figure_is_known(chip_figure(chip, index))) return false;
    if (offset == offsetof(Chip, device_link_bytes_per_second)) return chip->devices_per_chip > 1;
    for (size_t i = 0; i < COUNT_OF(OF_GPUS); i++)
        if (offset == OF_GPUS[i]) return chip_has_domains(chip);
    for (size_t i = 0; i < COUNT_OF(OF_TORI); i++)
        if (offset == OF_TORI[i]) return !chip_has_domains(chip) && (i == 0 || chip->twisted);
    return true;
}

static void write_missing(const Chip *chip, TextOut out) {
    char list[CHIP_SOURCE_SIZE] = "";
    for (int i = 0; i < CHIP_FIGURE_COUNT; i++) {
        size_t used = strlen(list);
        if (is_missed(chip, i))
            snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", CHIP_FIGURES[i].key);
    }
    if (list[0]) write_paragraph("not known, or not there", list, out);
    if (chip->unknown[0]) write_paragraph("looked for", chip->unknown, out);
    if (!chip_standing(chip).plans) fprintf(out.file, "It is listed, but cannot be planned with.\n");
}

static bool write_slices(const Chip *chip, TextOut out, Arena *arena) {
    OfferedSlice *slices;
    int count, shapes = 0;
    char text[SLICE_TEXT_SIZE], number[NUMBER_TEXT_SIZE];
    fprintf(out.file, "pod: %s%s", slice_text(chip, chip->pod, text), chip->pod_verified ? "" : " (not checked)");
    if (chip->max_job_chips)
        fprintf(out.file, "; largest schedulable slice: %s chips", number_grouped(chip->max_job_chips, number));
    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) shapes++;
    if (!chip_offered(chip, arena, &slices, &count)) return false;
    fprintf(out.file, "\nslices: %d shapes of %d sizes:", shapes, count);
    for (int i = 0; i < chip->shape_count; i++) fprintf(out.file, " %s", slice_text(chip, chip->shapes[i], text));
    if (chip->max_cubes)
        fprintf(out.file, ", and %smultiples of 4 up to %lld cubes of 4x4x4", chip->sorted_shapes ? "ascending " : "",
                (long long)chip->max_cubes);
    if (chip->scaleup == SCALEUP_TORUS_3D)
        fprintf(out.file, "\nrings: every axis of whole cubes%s",
                chip->twisted ? "; k x k x 2k and k x 2k x 2k are twisted" : "");
    else
        fprintf(out.file, "\nrings: an axis of size %lld", (long long)chip->closed_size);
    if (chip->name_prefix[0][0])
        fprintf(out.file, "\nnames: %s-N with N = %lld per chip, or %s-%s\n\n", chip->name_prefix[0],
                (long long)chip->cores_in_name, chip->name_prefix[0], slice_text(chip, chip->pod, text));
    else
        fprintf(out.file, "\n\n");
    Table table = table_new(arena, NULL, "name|>slice|>chips|>VMs|rings|default");
    for (int i = 0; i < count; i++) {
        const OfferedSlice *slice = &slices[i];
        char cells[3][CELL_SIZE];
        snprintf(cells[0], CELL_SIZE, "%lld", (long long)slice->chips);
        snprintf(cells[1], CELL_SIZE, slice->vms ? "%lld" : "-", (long long)slice->vms);
        snprintf(cells[2], CELL_SIZE, "%s%s", slice->rings, slice->twisted ? ", twisted" : "");
        const char *const row[] = {slice->name[0] ? slice->name : "-",
                                   slice_text(chip, slice->shape, text),
                                   cells[0],
                                   cells[1],
                                   cells[2],
                                   slice->only     ? "the only one"
                                   : slice->vendor ? "vendor's"
                                                   : "most cubic"};
        table_row(&table, row);
    }
    return table_write_text(&table, "", out);
}

static void write_hosts(const Chip *chip, TextOut out) {
    fprintf(out.file, "host: %lld chip%s; %lld device%s and %lld links per chip\n", (long long)chip->chips_per_host,
            chip->chips_per_host > 1 ? "s" : "", (long long)chip->devices_per_chip,
            chip->devices_per_chip > 1 ? "s" : "", (long long)chip->links_per_chip);
    if (chip_has_domains(chip))
        fprintf(out.file, "domain: %lld chip%s %s\n", (long long)chip->domain_chips, chip->domain_chips > 1 ? "s" : "",
                chip->scaleup == SCALEUP_MESH   ? "joined by direct links"
                : chip->scaleup == SCALEUP_PCIE ? "joined by PCIe"
                                                : "behind one switch");
}

/* The default profile, its software and what else --stack takes on such a chip. */
static bool write_profile(const Chip *chip, TextOut out, Arena *arena, Error *error) {
    ProfileSet set;
    Profile profile;
    Error own = {0};
    char names[1024] = "";
    if (!profile_set_default(arena, &set, &own) || !profile_load("default", NULL, chip, arena, &profile, &own))
        return own.kind == ERROR_INPUT || (*error = own, false); /* nothing is fitted to such a chip */
    for (int i = 0; i < set.stack_count; i++) {
        size_t length = strlen(names);
        if (set_stack_fits(&set, &set.stacks[i], chip) && strcmp(set.stacks[i].name, profile.stack) != 0)
            snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "", set.stacks[i].name);
    }
    fprintf(out.file, "profile: %s, software %s; a step is likely %.2f to %.2f of the predicted\n", profile.name,
            profile.stack, profile.likely_low, profile.likely_high);
    if (names[0]) write_paragraph("other software (--stack)", names, out);
    return true;
}

static bool chips_write_one(const Chip *chip, TextOut out, Arena *arena, Error *error) {
    ChipStanding standing = chip_standing(chip);
    char name[PROSE_NAME_SIZE];
    fprintf(out.file, "%s: ", clean_name(chip->name, name));
    fprintf(out.file, "%s\n", clean_name(chip->title, name));
    if (chip->alias_count) fprintf(out.file, "also:");
    for (int i = 0; i < chip->alias_count; i++) fprintf(out.file, " %s", clean_name(chip->aliases[i], name));
    fprintf(out.file, "%s\n", chip->alias_count ? "\n" : "");
    if (!write_figures(chip, out)) return false;
    fprintf(out.file, "\n%d figures, %d checked against their source\n", standing.known, standing.checked);
    write_missing(chip, out);
    if (standing.plans && !write_profile(chip, out, arena, error)) return false;
    if (chip->scaleup == SCALEUP_UNKNOWN) return !ferror(out.file);
    write_hosts(chip, out);
    write_paragraph(chip->topology_verified ? "source" : "source (not checked)", chip->topology_source, out);
    return (chip_has_domains(chip) || write_slices(chip, out, arena)) && !ferror(out.file);
}

/* ---- as JSON ---- */

/* `shardopt chips --format json`: each figure {value, source, verified}, null where nothing is known. */

static bool add_figure(cJSON *to, const char *key, const Figure *figure) {
    if (!figure_is_known(figure)) return cJSON_AddNullToObject(to, key) != NULL;
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

static bool add_offered(cJSON *to, const Chip *chip, Arena *arena) {
    OfferedSlice *slices;
    int count;
    char text[SLICE_TEXT_SIZE];
    cJSON *array = json_add_array(to, "offered");
    bool ok = array && chip_offered(chip, arena, &slices, &count);
    for (int i = 0; ok && i < count; i++) {
        const OfferedSlice *slice = &slices[i];
        cJSON *object = json_add_object(array, NULL);
        ok = object && json_add_text(object, "name", slice->name[0] ? slice->name : NULL) &&
             json_add_text(object, "slice", slice_text(chip, slice->shape, text)) &&
             json_add_whole(object, "chips", slice->chips) &&
             (slice->vms == 0 || json_add_whole(object, "vms", slice->vms)) &&
             json_add_text(object, "rings", slice->rings) && json_add_bool(object, "twisted", slice->twisted) &&
             json_add_bool(object, "vendor_default", slice->vendor);
    }
    return ok;
}

static bool add_torus(cJSON *to, const Chip *chip, Arena *arena) {
    char pod[SLICE_TEXT_SIZE];
    cJSON *prefixes = json_add_array(to, "name_prefixes");
    bool ok = prefixes != NULL;
    for (size_t i = 0; i < COUNT_OF(chip->name_prefix) && ok; i++)
        if (chip->name_prefix[i][0]) ok = json_add_text(prefixes, NULL, chip->name_prefix[i]);
    ok = ok && json_add_whole(to, "cores_in_name", chip->cores_in_name) &&
         json_add_text(to, "pod", slice_text(chip, chip->pod, pod)) &&
         json_add_bool(to, "pod_verified", chip->pod_verified);
    if (ok && chip->chips_per_vm) ok = json_add_whole(to, "chips_per_vm", chip->chips_per_vm);
    if (ok && chip->max_job_chips) ok = json_add_whole(to, "max_job_chips", chip->max_job_chips);
    if (ok && chip->max_cubes) ok = json_add_whole(to, "max_cubes", chip->max_cubes);
    if (ok && chip->closed_size) ok = json_add_whole(to, "closed_size", chip->closed_size);
    return ok && json_add_bool(to, "sorted_shapes", chip->sorted_shapes) &&
           json_add_bool(to, "twisted", chip->twisted) &&
           add_shapes(to, "shapes", chip, chip->shapes, chip->shape_count) &&
           add_shapes(to, "defaults", chip, chip->defaults, chip->default_count) && add_offered(to, chip, arena);
}

static bool add_topology(cJSON *to, const Chip *chip, Arena *arena) {
    if (chip->scaleup == SCALEUP_UNKNOWN) return cJSON_AddNullToObject(to, "topology") != NULL;
    cJSON *topology = json_add_object(to, "topology");
    bool ok = topology && json_add_text(topology, "kind", scaleup_name(chip->scaleup)) &&
              json_add_whole(topology, "chips_per_host", chip->chips_per_host) &&
              json_add_whole(topology, "devices_per_chip", chip->devices_per_chip) &&
              json_add_whole(topology, "links_per_chip", chip->links_per_chip) &&
              (chip->bridged_chips == 0 || json_add_whole(topology, "bridged_chips", chip->bridged_chips));
    if (ok)
        ok = chip_has_domains(chip) ? json_add_whole(topology, "domain_chips", chip->domain_chips)
                                    : add_torus(topology, chip, arena);
    return ok && json_add_text(topology, "source", chip->topology_source) &&
           json_add_bool(topology, "verified", chip->topology_verified);
}

static bool add_chip(cJSON *to, const Chip *chip, Arena *arena) {
    cJSON *aliases = NULL;
    ChipStanding standing = chip_standing(chip);
    bool ok = json_add_text(to, "name", chip->name) && json_add_text(to, "title", chip->title) &&
              (aliases = json_add_array(to, "aliases"));
    for (int i = 0; i < chip->alias_count && ok; i++) ok = json_add_text(aliases, NULL, chip->aliases[i]);
    for (int i = 0; i < CHIP_FIGURE_COUNT && ok; i++) ok = add_figure(to, CHIP_FIGURES[i].key, chip_figure(chip, i));
    return ok && add_topology(to, chip, arena) && json_add_bool(to, "plannable", standing.plans) &&
           json_add_text(to, "unknown", chip->unknown[0] ? chip->unknown : NULL);
}

/* `one` NULL: all */
static bool chips_write_json(const Catalog *catalog, const Chip *one, FILE *out, Arena *arena) {
    cJSON *json = one ? cJSON_CreateObject() : cJSON_CreateArray();
    bool ok = json != NULL;
    if (ok && one) ok = add_chip(json, one, arena);
    for (int i = 0; i < catalog->count && ok && !one; i++) {
        cJSON *object = json_add_object(json, NULL);
        ok = object && add_chip(object, &catalog->chips[i], arena);
    }
    ok = ok && json_print(out, json);
    cJSON_Delete(json);
    return ok;
}

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
