/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/chip_json.h"

#include "base/json.h"
#include "base/util.h"
#include "mesh/machine.h"
#include "mesh/slice.h"

#include <stdio.h>
#include <string.h>

/* The bounds tell a slipped power of ten or a wrong unit from a figure; they are a decade or two around today's
 * machines. To add a figure, add a line. */
const ChipFigure CHIP_FIGURES[] = {
    {"bf16_flops_per_second", "FLOP/s", offsetof(Chip, bf16_flops_per_second), 1e12, 1e18, true},
    {"fp8_flops_per_second", "FLOP/s", offsetof(Chip, fp8_flops_per_second), 1e12, 1e18, false},
    {"int8_ops_per_second", "OP/s", offsetof(Chip, int8_ops_per_second), 1e12, 1e18, false},
    {"fp4_flops_per_second", "FLOP/s", offsetof(Chip, fp4_flops_per_second), 1e12, 1e18, false},
    {"vector_flops_per_second", "FLOP/s", offsetof(Chip, vector_flops_per_second), 1e10, 1e16, false},
    {"hbm_bytes", "B", offsetof(Chip, hbm_bytes), 1e9, 1e13, true},
    {"hbm_usable_bytes", "B", offsetof(Chip, hbm_usable_bytes), 1e9, 1e13, false},
    {"hbm_bytes_per_second", "B/s", offsetof(Chip, hbm_bytes_per_second), 1e10, 1e15, true},
    {"host_bytes", "B", offsetof(Chip, host_bytes), 1e9, 1e14, false},
    {"pcie_bytes_per_second", "B/s", offsetof(Chip, pcie_bytes_per_second), 1e8, 1e13, false},
    {"pcie_both_bytes_per_second", "B/s", offsetof(Chip, pcie_both_bytes_per_second), 1e8, 2e13, false},
    {"host_copies_bytes_per_second", "B/s", offsetof(Chip, host_copies_bytes_per_second), 1e9, 1e14, false},
    {"host_memory_bytes_per_second", "B/s", offsetof(Chip, host_memory_bytes_per_second), 1e9, 1e14, false},
    {"nic_shares_pcie", "", offsetof(Chip, nic_shares_pcie), 0, 1, false},
    {"usd_per_chip_hour", "USD/h", offsetof(Chip, usd_per_chip_hour), 0.01, 1000, false},
    {"usd_per_chip_hour_reserved", "USD/h", offsetof(Chip, usd_per_chip_hour_reserved), 0.01, 1000, false},
    {"board_watts", "W", offsetof(Chip, board_watts), 1, 10000, false},
    {"hours_per_failure", "h", offsetof(Chip, hours_per_failure), 10, 1e8, false},
    {"matrix_tile", "", offsetof(Chip, matrix_tile), 8, 1024, false},
    {"device_link_bytes_per_second", "B/s", offsetof(Chip, device_link_bytes_per_second), 1e9, 1e14, false},
    {"link_bytes_per_second", "B/s", offsetof(Chip, link_bytes_per_second), 1e8, 1e13, true},
    {"bridge_bytes_per_second", "B/s", offsetof(Chip, bridge_bytes_per_second), 1e9, 1e13, false},
    {"hop_seconds", "s", offsetof(Chip, hop_seconds), 0, 1e-2, true},
    {"scaleout_bytes_per_second", "B/s", offsetof(Chip, scaleout_bytes_per_second), 1e7, 1e13, true},
    {"scaleout_seconds", "s", offsetof(Chip, scaleout_seconds), 0, 1, true},
    {"ring_base_seconds", "s", offsetof(Chip, ring_base_seconds), 1e-8, 1e-2, false},
    {"tree_base_seconds", "s", offsetof(Chip, tree_base_seconds), 1e-8, 1e-2, false},
    {"tree_hop_seconds", "s", offsetof(Chip, tree_hop_seconds), 1e-8, 1e-2, false},
    {"tree_scaleout_seconds", "s", offsetof(Chip, tree_scaleout_seconds), 1e-8, 1, false},
    {"leaf_nodes", "nodes", offsetof(Chip, leaf_nodes), 1, 4096, false},
    {"twisted_gain_k_k_2k", "", offsetof(Chip, twisted_gain_k_k_2k), 1, 2, false},
    {"twisted_gain_k_2k_2k", "", offsetof(Chip, twisted_gain_k_2k_2k), 1, 2, false},
};
const int CHIP_FIGURE_COUNT = COUNT_OF(CHIP_FIGURES);

enum { CORES_PER_CHIP_MAX = 64, COUNT_MAX = 65536, POD_CHIPS_MAX = 1 << 24 };

static bool wrong(Error *error, const char *where, const char *key, const char *right) {
    return error_set(error, ERROR_INPUT, where, "%s: give %s", key, right);
}

/* A misspelt key would silently leave a figure out, so every key must be one of these. */
static bool known_keys(const cJSON *object, const char *const *keys, size_t count, bool figures, const char *where,
                       Error *error) {
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, object) {
        bool known = false;
        for (size_t i = 0; i < count && !known; i++) known = strcmp(item->string, keys[i]) == 0;
        for (int i = 0; figures && i < CHIP_FIGURE_COUNT && !known; i++)
            known = strcmp(item->string, CHIP_FIGURES[i].key) == 0;
        if (!known) return error_set(error, ERROR_INPUT, where, "%.64s is not a key of a chip", item->string);
    }
    return true;
}

/* Reads a source, which must be there; "verified" is read, never assumed. */
static bool read_source(const cJSON *object, const char *key, const char *where, char *source, bool *verified,
                        Error *error) {
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(object, "source");
    const cJSON *checked = cJSON_GetObjectItemCaseSensitive(object, "verified");
    if (!cJSON_IsString(text) || text->valuestring[0] == '\0' || !cJSON_IsBool(checked))
        return wrong(error, where, key, "\"source\": text and \"verified\": true or false");
    if (strlen(text->valuestring) >= CHIP_SOURCE_SIZE)
        return error_set(error, ERROR_INPUT, where, "%s: the source is longer than %d bytes", key,
                         CHIP_SOURCE_SIZE - 1);
    snprintf(source, CHIP_SOURCE_SIZE, "%s", text->valuestring);
    *verified = cJSON_IsTrue(checked);
    return true;
}

static bool read_figure(const cJSON *json, const ChipFigure *figure, const char *where, Chip *chip, Error *error) {
    static const char *const KEYS[] = {"value", "source", "verified"};
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(json, figure->key);
    if (!object && (!figure->required || chip->unknown[0])) return true;
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, "value");
    if (!cJSON_IsObject(object) || !cJSON_IsNumber(value))
        return wrong(error, where, figure->key, "{\"value\": number, \"source\": text, \"verified\": true or false}");
    if (!(value->valuedouble >= figure->low && value->valuedouble <= figure->high))
        return error_set(error, ERROR_INPUT, where, "%s is %g; expected %g to %g", figure->key, value->valuedouble,
                         figure->low, figure->high);
    Figure *out = (Figure *)((char *)chip + figure->offset);
    out->value = value->valuedouble;
    return known_keys(object, KEYS, COUNT_OF(KEYS), false, where, error) &&
           read_source(object, figure->key, where, out->source, &out->verified, error);
}

/* A chip's list of names, with room for `most`. */
typedef struct {
    char (*names)[CHIP_NAME_SIZE];
    int most;
    int *count;
} NameList;

/* Reads an array of texts of at most CHIP_NAME_SIZE - 1 bytes; an absent array is empty. */
static bool read_names(const cJSON *json, const char *key, const char *where, NameList out, Error *error) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, key), *item = NULL;
    *out.count = 0;
    if (!array) return true;
    if (!cJSON_IsArray(array)) return wrong(error, where, key, "an array of texts");
    cJSON_ArrayForEach(item, array) {
        if (*out.count == out.most) return error_set(error, ERROR_INPUT, where, "%s: at most %d", key, out.most);
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0' || strlen(item->valuestring) >= CHIP_NAME_SIZE)
            return error_set(error, ERROR_INPUT, where, "%s: each a text of 1 to %d bytes", key, CHIP_NAME_SIZE - 1);
        snprintf(out.names[(*out.count)++], CHIP_NAME_SIZE, "%s", item->valuestring);
    }
    return true;
}

/* Reads two sizes for a 2-D generation and three for a 3-D one, of at most a pod's number of chips. */
static bool read_shape(const cJSON *text, const Chip *chip, const char *key, const char *where, SliceShape *out,
                       Error *error) {
    int sizes = 0, expected = chip->scaleup == SCALEUP_TORUS_2D ? 2 : 3;
    if (!cJSON_IsString(text) || !slice_parse(text->valuestring, out, &sizes) || sizes != expected ||
        slice_chips(*out) > POD_CHIPS_MAX)
        return wrong(error, where, key, expected == 2 ? "shapes such as \"8x16\"" : "shapes such as \"4x4x8\"");
    return true;
}

/* A chip's list of shapes, with room for CHIP_SHAPES_MAX. */
typedef struct {
    const Chip *chip;
    SliceShape *shapes;
    int *count;
} ShapeList;

static bool read_shapes(const cJSON *json, const char *key, const char *where, ShapeList out, Error *error) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, key), *item = NULL;
    *out.count = 0;
    if (!array) return true;
    if (!cJSON_IsArray(array)) return wrong(error, where, key, "an array of shapes");
    cJSON_ArrayForEach(item, array) {
        if (*out.count == CHIP_SHAPES_MAX)
            return error_set(error, ERROR_INPUT, where, "%s: at most %d", key, CHIP_SHAPES_MAX);
        if (!read_shape(item, out.chip, key, where, &out.shapes[(*out.count)++], error)) return false;
    }
    return true;
}

static bool read_torus(const cJSON *topology, const char *where, Chip *chip, Error *error) {
    int prefixes = 0;
    int64_t most_cubes = chip->scaleup == SCALEUP_TORUS_3D ? 4096 : 0;
    if (!read_shape(cJSON_GetObjectItemCaseSensitive(topology, "pod"), chip, "topology.pod", where, &chip->pod,
                    error) ||
        !json_bool_or(topology, "pod_verified", true, where, &chip->pod_verified, error) ||
        !json_whole_or(topology, "chips_per_vm", 1, COUNT_MAX, 0, where, &chip->chips_per_vm, error) ||
        !json_whole_or(topology, "max_job_chips", 1, POD_CHIPS_MAX, 0, where, &chip->max_job_chips, error) ||
        !json_whole_or(topology, "max_cubes", most_cubes ? 1 : 0, most_cubes, 0, where, &chip->max_cubes, error) ||
        !json_bool_or(topology, "sorted_shapes", false, where, &chip->sorted_shapes, error) ||
        !json_bool_or(topology, "twisted", false, where, &chip->twisted, error) ||
        !json_whole_or(topology, "closed_size", 2, COUNT_MAX, 0, where, &chip->closed_size, error) ||
        !read_shapes(topology, "shapes", where, (ShapeList){chip, chip->shapes, &chip->shape_count}, error) ||
        !read_shapes(topology, "defaults", where, (ShapeList){chip, chip->defaults, &chip->default_count}, error) ||
        !read_names(topology, "name_prefixes", where, (NameList){chip->name_prefix, 2, &prefixes}, error) ||
        !json_whole(topology, "cores_in_name", 1, CORES_PER_CHIP_MAX, where, &chip->cores_in_name, error))
        return false;
    if (chip->shape_count == 0 && chip->max_cubes == 0)
        return wrong(error, where, "topology.shapes", "at least one shape");
    if (!slice_offered(chip, chip->pod)) return wrong(error, where, "topology.pod", "a shape that is offered");
    for (int i = 0; i < chip->default_count; i++)
        if (!slice_offered(chip, chip->defaults[i]))
            return wrong(error, where, "topology.defaults", "shapes that are offered");
    return true;
}

const char *scaleup_name(ScaleupKind kind) {
    static const char *const KINDS[] = {
        [SCALEUP_TORUS_2D] = "torus_2d", [SCALEUP_TORUS_3D] = "torus_3d", [SCALEUP_SWITCH] = "switch",
        [SCALEUP_MESH] = "mesh",         [SCALEUP_PCIE] = "pcie",         [SCALEUP_UNKNOWN] = "unknown"};
    return KINDS[kind];
}

static bool read_domains(const cJSON *topology, const char *where, Chip *chip, Error *error) {
    if (chip->devices_per_chip > 1) return wrong(error, where, "topology.devices_per_chip", "1: only tori have more");
    if (!json_whole(topology, "domain_chips", chip->chips_per_host, COUNT_MAX, where, &chip->domain_chips, error))
        return false;
    if (chip->domain_chips % chip->chips_per_host != 0)
        return wrong(error, where, "topology.domain_chips", "a multiple of chips_per_host");
    if (chip->scaleup == SCALEUP_PCIE) {
        if (!json_whole_or(topology, "bridged_chips", 2, HOST_BOARDS_MAX, 0, where, &chip->bridged_chips, error))
            return false;
        return (chip->bridged_chips > 0) == (chip->bridge_bytes_per_second.value > 0) ||
               wrong(error, where, "topology.bridged_chips, bridge_bytes_per_second", "both or neither");
    }
    if (chip->scaleup == SCALEUP_SWITCH) return true;
    return (chip->domain_chips > 1 && chip->links_per_chip % (chip->domain_chips - 1) == 0) ||
           wrong(error, where, "topology.links_per_chip", "as many links to each other chip of the domain");
}

static bool read_topology(const cJSON *json, const char *where, Chip *chip, Error *error) {
    static const char *const KEYS[] = {
        "source",       "verified",      "kind",          "chips_per_host", "devices_per_chip", "links_per_chip",
        "domain_chips", "pod",           "max_job_chips", "max_cubes",      "sorted_shapes",    "twisted",
        "closed_size",  "shapes",        "defaults",      "name_prefixes",  "cores_in_name",    "pod_verified",
        "chips_per_vm", "coherent_host", "bridged_chips", "own_software"};
    const cJSON *topology = cJSON_GetObjectItemCaseSensitive(json, "topology");
    chip->scaleup = SCALEUP_UNKNOWN;
    if (!topology && chip->unknown[0]) return true;
    if (!cJSON_IsObject(topology))
        return wrong(error, where, "topology", "an object of counts and shapes with its source");
    char kind[16] = "";
    if (!known_keys(topology, KEYS, COUNT_OF(KEYS), false, where, error) ||
        !read_source(topology, "topology", where, chip->topology_source, &chip->topology_verified, error) ||
        !json_text(topology, "kind", where, kind, sizeof kind, error))
        return false;
    int found = 0;
    while (found < (int)SCALEUP_UNKNOWN && strcmp(scaleup_name((ScaleupKind)found), kind) != 0) found++;
    if (found == (int)SCALEUP_UNKNOWN)
        return wrong(error, where, "topology.kind", "torus_2d, torus_3d, switch, mesh or pcie");
    chip->scaleup = (ScaleupKind)found;
    if (!json_bool_or(topology, "coherent_host", false, where, &chip->coherent_host, error) ||
        !json_bool_or(topology, "own_software", false, where, &chip->own_software, error))
        return false;
    if (!json_whole(topology, "chips_per_host", 1, COUNT_MAX, where, &chip->chips_per_host, error) ||
        !json_whole_or(topology, "devices_per_chip", 1, 8, 1, where, &chip->devices_per_chip, error) ||
        !json_whole(topology, "links_per_chip", 1, COUNT_MAX, where, &chip->links_per_chip, error))
        return false;
    if (chip->devices_per_chip > 1 && chip->device_link_bytes_per_second.value == 0)
        return wrong(error, where, "device_link_bytes_per_second", "what joins the devices of one chip");
    return chip_has_domains(chip) ? read_domains(topology, where, chip, error)
                                  : read_torus(topology, where, chip, error);
}

bool chip_from_json(const cJSON *json, const char *where, Chip *out, Error *error) {
    static const char *const KEYS[] = {"name", "title", "aliases", "topology", "unknown", "sixteen_bits"};
    Chip chip = {0};
    if (!cJSON_IsObject(json)) return error_set(error, ERROR_INPUT, where, "a chip is an object");
    if (!json_is_plain(json, where, error) || !known_keys(json, KEYS, COUNT_OF(KEYS), true, where, error) ||
        !json_text(json, "name", where, chip.name, sizeof chip.name, error) ||
        !json_text_or(json, "title", chip.name, where, chip.title, sizeof chip.title, error) ||
        !json_text_or(json, "sixteen_bits", "bf16", where, chip.sixteen_bits, sizeof chip.sixteen_bits, error) ||
        !json_text_or(json, "unknown", "", where, chip.unknown, sizeof chip.unknown, error) ||
        !read_names(json, "aliases", where, (NameList){chip.aliases, CHIP_ALIASES_MAX, &chip.alias_count}, error))
        return false;
    if (chip.name[0] == '\0') return wrong(error, where, "name", "a name");
    for (int i = 0; i < CHIP_FIGURE_COUNT; i++)
        if (!read_figure(json, &CHIP_FIGURES[i], where, &chip, error)) return false;
    int nccl = (chip.ring_base_seconds.value > 0) + (chip.tree_base_seconds.value > 0) +
               (chip.tree_hop_seconds.value > 0) + (chip.tree_scaleout_seconds.value > 0);
    if (nccl != 0 && nccl != 4)
        return wrong(error, where, "ring_base_seconds, tree_base_seconds, tree_hop_seconds, tree_scaleout_seconds",
                     "all of them or none");
    if (!read_topology(json, where, &chip, error)) return false;
    *out = chip; /* written only when all of it is right */
    return true;
}
