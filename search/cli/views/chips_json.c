/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt chips --format json`: each figure {value, source, verified}, null where nothing is known. */
#include "base/json.h"
#include "base/util.h"
#include "search/cli/views/chips_view.h"

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
              json_add_whole(topology, "links_per_chip", chip->links_per_chip);
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

bool chips_write_json(const Catalog *catalog, const Chip *one, FILE *out, Arena *arena) {
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
