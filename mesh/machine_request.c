/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns a user's words into a machine, or into one line that says which machine would be possible. */
#include "base/number.h"
#include "base/util.h"
#include "mesh/machine.h"
#include "mesh/slice.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The chip's name as people say it: v5p, not tpu-v5p. */
static const char *short_name(const Chip *chip) {
    return strncmp(chip->name, "tpu-", 4) == 0 ? chip->name + 4 : chip->name;
}

/* The text after "v5p-" or "tpu-v5p-" in a vendor's slice name of this chip; NULL means that it is not such a name. */
static const char *after_prefix(const Chip *chip, const char *slice) {
    if (strncasecmp(slice, "tpu-", 4) == 0) slice += 4;
    for (size_t i = 0; i < COUNT_OF(chip->name_prefix); i++) {
        size_t length = strlen(chip->name_prefix[i]);
        if (length > 0 && strncasecmp(slice, chip->name_prefix[i], length) == 0 && slice[length] == '-')
            return slice + length + 1;
    }
    return NULL;
}

const Chip *machine_chip_of_slice(const Catalog *catalog, const char *slice) {
    for (int i = 0; i < catalog->count; i++)
        if (after_prefix(&catalog->chips[i], slice)) return &catalog->chips[i];
    return NULL;
}

/* The rule of the generation in words, for the error about a shape that breaks it. */
static void offered_rule(const Chip *chip, char *text, size_t size) {
    if (chip->scaleup == SCALEUP_TORUS_3D && chip->max_cubes > 0) {
        snprintf(text, size, "sizes are multiples of 4%s, at most %lld cubes of 4x4x4",
                 chip->sorted_shapes ? "" : " in any order", (long long)chip->max_cubes);
        return;
    }
    char shape[SLICE_TEXT_SIZE];
    size_t used = (size_t)snprintf(text, size, "offered:");
    for (int i = 0; i < chip->shape_count && used + sizeof shape < size; i++)
        used += (size_t)snprintf(text + used, size - used, " %s", slice_text(chip, chip->shapes[i], shape));
}

static bool not_offered(const Chip *chip, SliceShape slice, Error *error) {
    char rule[256], requested[SLICE_TEXT_SIZE], nearest[SLICE_TEXT_SIZE];
    SliceShape near = chip->pod;
    offered_rule(chip, rule, sizeof rule);
    slice_nearest(chip, slice, &near);
    bool disordered = chip->sorted_shapes && slice_compare(slice_sorted(slice), near) == 0;
    return error_set(error, ERROR_INPUT, "--slice", "%s is not a %s slice (%s%s); nearest: %s",
                     slice_text(chip, slice, requested), short_name(chip),
                     disordered ? "the smallest size comes first; " : "", rule, slice_text(chip, near, nearest));
}

/* Reports the offered counts around cores / per_chip chips, which are not offered, each with the shape it would
 * mean. */
static bool no_slice_of_count(const Chip *chip, const char *where, const char *requested, int64_t cores,
                              int64_t per_chip, Error *error) {
    int64_t below = 0, above = INT64_MAX;
    for (SliceWalk walk = {.chip = chip}; slice_next(&walk);) {
        int64_t has = slice_chips(walk.shape);
        if (has * per_chip < cores && has > below) below = has;
        if (has * per_chip > cores && has < above) above = has;
    }
    char text[2][SLICE_TEXT_SIZE + NUMBER_TEXT_SIZE] = {"", ""}, shape[SLICE_TEXT_SIZE], number[NUMBER_TEXT_SIZE];
    int64_t counts[2] = {below, above == INT64_MAX ? 0 : above};
    for (int i = 0; i < 2; i++) {
        SliceShape slice;
        if (counts[i] == 0 || !slice_default(chip, counts[i], &slice)) continue;
        snprintf(text[i], sizeof text[i], "%s (%s)", number_grouped(counts[i], number), slice_text(chip, slice, shape));
    }
    return error_set(error, ERROR_INPUT, where, "no %s slice has %s; nearest: %s%s%s%s", short_name(chip), requested,
                     text[0], text[0][0] && text[1][0] ? " or " : "", text[1],
                     counts[1] ? "" : "; give --pods or --slices for more");
}

/* Vendor numbers count cores: v5p-1024 is 512 chips. */
static bool slice_of_count_name(const Chip *chip, const char *name, const char *digits, SliceShape *out, Error *error) {
    int64_t number = 0, most = MACHINE_CHIPS_MAX * chip->cores_in_name;
    for (const char *at = digits; *at; at++) {
        if (number <= most) number = number * 10 + (*at - '0'); /* beyond that it stays too large */
    }
    char requested[96];
    if (number > most || number % chip->cores_in_name != 0 || !slice_default(chip, number / chip->cores_in_name, out)) {
        double chips = (double)number / (double)chip->cores_in_name;
        snprintf(requested, sizeof requested, "%g chips (%.24s: %lld core%s per chip)", chips, name,
                 (long long)chip->cores_in_name, chip->cores_in_name > 1 ? "s" : "");
        return no_slice_of_count(chip, "--slice", number > most ? "so many chips" : requested, number,
                                 chip->cores_in_name, error);
    }
    return true;
}

static bool slice_of_text(const Chip *chip, const char *text, SliceShape *out, Error *error) {
    const char *rest = after_prefix(chip, text);
    const char *shape = rest ? rest : text;
    int sizes = 0, expected = chip->scaleup == SCALEUP_TORUS_2D ? 2 : 3;
    if (rest && *rest && strspn(rest, "0123456789") == strlen(rest))
        return slice_of_count_name(chip, text, rest, out, error);
    if (!slice_parse(shape, out, &sizes))
        return error_set(error, ERROR_INPUT, "--slice",
                         "\"%.40s\" is not a %s slice; give a shape such as %s, or %s-%lld", text, short_name(chip),
                         expected == 2 ? "4x8" : "4x4x8", chip->name_prefix[0],
                         (long long)(expected == 2 ? 32 : 128) * chip->cores_in_name);
    if (sizes < expected || (expected == 2 && out->size[2] != 1))
        return error_set(error, ERROR_INPUT, "--slice", "%.40s has %d sizes; a %s slice has %d, such as %s", text,
                         sizes, short_name(chip), expected, expected == 2 ? "4x8" : "4x4x8");
    return slice_offered(chip, *out) || not_offered(chip, *out, error);
}

/* Whether `value` units of `chips` chips each fit. */
static bool count_fits(const char *where, const char *unit, int64_t value, int64_t chips, Error *error) {
    char number[NUMBER_TEXT_SIZE];
    int64_t most = MACHINE_CHIPS_MAX / chips;
    if (value >= 1 && value <= most) return true;
    return error_set(error, ERROR_INPUT, where, "%lld is out of range; give 1 to %s %s", (long long)value,
                     number_grouped(most, number), unit);
}

static bool torus_from_request(const Chip *chip, const MachineRequest *request, Machine *out, Error *error) {
    SliceShape slice = chip->pod;
    int64_t slices = 1;
    if (request->nodes)
        return error_set(error, ERROR_INPUT, "--nodes",
                         "%s comes in slices, not nodes; give --slice, --chips or --pods", short_name(chip));
    if (request->slices && !request->slice)
        return error_set(error, ERROR_INPUT, "--slices", "counts slices of one shape; give --slice with it");
    if (request->slice) {
        if (!slice_of_text(chip, request->slice, &slice, error)) return false;
        if (request->slices) slices = request->slices;
        if (!count_fits("--slices", "slices", slices, slice_chips(slice), error)) return false;
    } else if (request->chips) {
        char number[NUMBER_TEXT_SIZE], requested[NUMBER_TEXT_SIZE + 8];
        if (!count_fits("--chips", "chips", request->chips, 1, error)) return false;
        snprintf(requested, sizeof requested, "%s chips", number_grouped(request->chips, number));
        if (!slice_default(chip, request->chips, &slice))
            return no_slice_of_count(chip, "--chips", requested, request->chips, 1, error);
    } else if (request->pods) {
        slices = request->pods;
        if (!count_fits("--pods", "pods", slices, slice_chips(slice), error)) return false;
    }
    machine_of_slice(chip, slice, slices, out);
    return true;
}

/* Inside a host any number counts (three boards are a machine), beyond it only whole hosts. */
static bool gpu_count_is_whole(const Chip *chip, int64_t chips) {
    return chips <= machine_host_most(chip) || chips % chip->chips_per_host == 0;
}

static bool gpus_from_request(const Chip *chip, const MachineRequest *request, Machine *out, Error *error) {
    const char *torus_option = request->pods     ? "--pods"
                               : request->slice  ? "--slice"
                               : request->slices ? "--slices"
                                                 : NULL;
    if (torus_option)
        return error_set(error, ERROR_INPUT, torus_option,
                         "%s comes in nodes, not slices or pods; give --nodes or --chips", chip->name);
    int64_t chips = chip->domain_chips;
    if (request->nodes) {
        int64_t each = chip->usual_host_chips ? chip->chips_per_host : chip->domain_chips;
        if (!count_fits("--nodes", "nodes", request->nodes, each, error)) return false;
        chips = request->nodes * each;
    } else if (request->chips) {
        chips = request->chips;
        if (!count_fits("--chips", "chips", chips, 1, error)) return false;
    }
    if (!gpu_count_is_whole(chip, chips)) {
        int64_t below = chips, above = chips;
        while (!gpu_count_is_whole(chip, below)) below--;
        while (!gpu_count_is_whole(chip, above)) above++;
        return error_set(error, ERROR_INPUT, "--chips",
                         "%lld is not a whole number of %s hosts of %lld; nearest: %lld or %lld, or --gpus-per-node "
                         "for smaller hosts",
                         (long long)chips, chip->name, (long long)chip->chips_per_host, (long long)below,
                         (long long)above);
    }
    machine_of_gpus(chip, chips, out);
    return true;
}

/* Figures that this machine needs and nobody published, with commas between them; empty means that nothing is
 * missing. */
static void missing_figures(const Chip *chip, const Machine *machine, char *text, size_t size) {
    bool inside = false, outside = false;
    for (int a = 0; a < machine->mesh.axis_count; a++) {
        AxisLevel level = machine->mesh.axes[a].level;
        *(level <= LEVEL_PCIE ? &inside : &outside) = true;
    }
    const struct {
        const char *name;
        const Figure *figure;
        bool needed;
    } FIGURES[] = {
        {"bf16_flops_per_second", &chip->bf16_flops_per_second, true},
        {"hbm_bytes", &chip->hbm_bytes, true},
        {"hbm_bytes_per_second", &chip->hbm_bytes_per_second, true},
        {"link_bytes_per_second", &chip->link_bytes_per_second, inside},
        {"hop_seconds", &chip->hop_seconds, inside},
        {"scaleout_bytes_per_second", &chip->scaleout_bytes_per_second, outside},
        {"scaleout_seconds", &chip->scaleout_seconds, outside},
        {"leaf_nodes", &chip->leaf_nodes, outside && chip->oversubscription > 1},
    };
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(FIGURES) && used < size; i++)
        if (FIGURES[i].needed && FIGURES[i].figure->source[0] == '\0')
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", FIGURES[i].name);
}

/* Refuses a chip that is only listed, or a machine that leaves the slice or the domain by a way whose figures nobody
 * has. */
static bool check_figures(const Chip *chip, const Machine *machine, Error *error) {
    char missing[192] = "topology";
    const char *parts = chip_has_domains(chip) ? "node" : "slice";
    if (chip->scaleup != SCALEUP_UNKNOWN) missing_figures(chip, machine, missing, sizeof missing);
    if (missing[0] == '\0') return true;
    if (strcmp(missing, "leaf_nodes") == 0)
        return error_set(error, ERROR_INPUT, "--oversubscription",
                         "the catalog does not know how many %ss of %s share a leaf (leaf_nodes); leave it out", parts,
                         chip->name);
    if (strncmp(missing, "scaleout", 8) == 0)
        return error_set(error, ERROR_INPUT, "--chip",
                         "%s cannot be planned in several %ss: the catalog has no %s; give one %s", chip->name, parts,
                         missing, parts);
    return error_set(error, ERROR_INPUT, "--chip",
                     "%s is listed, but cannot be planned with: the catalog has no %s; give another chip, and see "
                     "`shardopt chips %s`",
                     chip->name, missing, chip->name);
}

bool machine_from_request(const Chip *chip, const MachineRequest *request, Machine *out, Error *error) {
    int given = (request->pods != 0) + (request->slice != NULL) + (request->chips != 0) + (request->nodes != 0);
    Machine machine = {0};
    if (given > 1) return error_set(error, ERROR_INPUT, "machine", "give one of --pods, --slice, --chips and --nodes");
    if (chip->scaleup == SCALEUP_UNKNOWN) return check_figures(chip, &machine, error);
    if (chip_has_domains(chip) ? !gpus_from_request(chip, request, &machine, error)
                               : !torus_from_request(chip, request, &machine, error)) {
        Machine any = {.mesh = {.axis_count = 1}}; /* of a chip that no machine is planned of, its size is no matter */
        Error listed = {0};
        if (!check_figures(chip, &any, &listed)) *error = listed;
        return false;
    }
    if (!check_figures(chip, &machine, error)) return false;
    *out = machine;
    return true;
}
