/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/json/places.h"

#include "base/json.h"
#include "base/util.h"

enum { LISTED_MAX = 32 };

static bool add_axes(cJSON *to, const Mesh *mesh) {
    cJSON *list = json_add_array(to, "axes");
    bool ok = list != NULL;
    for (int a = 0; a < mesh->axis_count && ok; a++) {
        const Axis *axis = &mesh->axes[a];
        cJSON *json = json_add_object(list, NULL);
        ok = json_add_text(json, "name", axis->name) && json_add_whole(json, "size", axis->size) &&
             json_add_text(json, "kind", axis_kind_name(axis->kind)) &&
             json_add_real(json, "bytes_per_second", axis->bytes_per_second) &&
             json_add_real(json, "latency_seconds", axis->latency_seconds);
    }
    return ok;
}

/* ---- which group holds which chip ---- */

static const ChipKind *kind_of(const ChipMap *map, int32_t group, int64_t *number) {
    const ChipKind *kind = map->kinds;
    for (*number = group; *number >= kind->count && kind + 1 < map->kinds + map->kind_count; kind++)
        *number -= kind->count;
    return kind;
}

/* Its name, and its number from 1 on where there are several. */
static const char *group_text(const ChipMap *map, int32_t group, char text[96]) {
    int64_t number;
    const ChipKind *kind = kind_of(map, group, &number);
    snprintf(text, 96, kind->count > 1 ? "%s %lld" : "%s", kind->name, (long long)number + 1);
    return text;
}

typedef struct {
    int64_t low[MESH_AXES_MAX], high[MESH_AXES_MAX], devices;
} Extent;

static void extend(Extent *extent, const Mesh *mesh, int64_t device) {
    for (int a = 0; a < mesh->axis_count; device /= mesh->axes[a++].size) {
        int64_t at = device % mesh->axes[a].size;
        extent->low[a] = extent->devices ? min_whole(extent->low[a], at) : at;
        extent->high[a] = max_whole(extent->high[a], at);
    }
    extent->devices++;
}

static bool add_group(cJSON *list, const ChipMap *map, int32_t group, const Extent *extent) {
    int64_t number;
    Prose where = {0};
    char name[96];
    const ChipKind *kind = kind_of(map, group, &number);
    for (int a = 0; a < map->mesh->axis_count; a++) {
        const char *axis = map->mesh->axes[a].name;
        prose_item(&where, ", ", extent->low[a] < extent->high[a] ? "%s %lld to %lld" : "%s %lld", axis,
                   (long long)extent->low[a], (long long)extent->high[a]);
    }
    cJSON *json = json_add_object(list, NULL);
    return json_add_text(json, "name", group_text(map, group, name)) && json_add_text(json, "of", kind->of) &&
           json_add_whole(json, "devices", extent->devices) &&
           json_add_text(json, "where", where.used ? where.text : "all of it") && json_add_text(json, "how", kind->how);
}

static bool add_more(cJSON *list, const ChipKind *kind, const Extent *extent) {
    int64_t more = kind->count - LISTED_MAX;
    char name[96];
    if (more <= 0) return true;
    snprintf(name, sizeof name, "%lld more of %s", (long long)more, kind->name);
    cJSON *json = json_add_object(list, NULL);
    return json_add_text(json, "name", name) && json_add_text(json, "of", kind->of) &&
           json_add_whole(json, "devices", more * extent->devices) && json_add_text(json, "where", "likewise") &&
           json_add_text(json, "how", kind->how);
}

static bool add_groups(cJSON *to, const ChipMap *map, Arena *arena) {
    int64_t groups = 0, first = 0;
    for (int i = 0; i < map->kind_count; i++) groups += map->kinds[i].count;
    Extent *extents = ARENA_NEW(arena, Extent, (size_t)groups + 2);
    cJSON *list = json_add_array(to, "groups");
    bool ok = extents && list;
    for (int layer = 0; layer < 2 && map->group[layer] && ok; layer++)
        for (int64_t d = 0; d < map->mesh->devices; d++)
            if (map->group[layer][d] >= 0 && map->group[layer][d] < groups)
                extend(&extents[map->group[layer][d]], map->mesh, d);
    for (int i = 0; i < map->kind_count && ok; first += map->kinds[i++].count) {
        for (int64_t n = 0; n < min_whole(map->kinds[i].count, LISTED_MAX) && ok; n++)
            ok = add_group(list, map, (int32_t)(first + n), &extents[first + n]);
        ok = ok && add_more(list, &map->kinds[i], &extents[first]);
    }
    return ok;
}

static bool add_layer(cJSON *list, const int32_t *group, int64_t devices) {
    cJSON *json = json_add_object(list, NULL), *groups = json_add_array(json, "group"),
          *counts = json_add_array(json, "count");
    bool ok = groups && counts;
    for (int64_t d = 0, end; d < devices && ok; d = end) {
        for (end = d + 1; end < devices && group[end] == group[d];) end++;
        ok = json_add_whole(groups, NULL, group[d]) && json_add_whole(counts, NULL, end - d);
    }
    return ok;
}

bool chip_map_add_json(cJSON *list, const ChipMap *map) {
    Arena arena = {0};
    cJSON *json = json_add_object(list, NULL);
    bool ok = json_add_text(json, "name", map->name) && json_add_whole(json, "host_devices", map->host) &&
              add_axes(json, map->mesh) && add_groups(json, map, &arena);
    cJSON *kinds = ok ? json_add_array(json, "kinds") : NULL;
    ok = kinds != NULL;
    for (int i = 0; i < map->kind_count && ok; i++) {
        cJSON *kind = json_add_object(kinds, NULL);
        ok = json_add_text(kind, "name", map->kinds[i].name) && json_add_text(kind, "of", map->kinds[i].of) &&
             json_add_whole(kind, "count", map->kinds[i].count);
    }
    cJSON *layers = ok ? json_add_array(json, "layers") : NULL;
    ok = layers != NULL;
    for (int layer = 0; layer < 2 && map->group[layer] && ok; layer++)
        ok = add_layer(layers, map->group[layer], map->mesh->devices);
    arena_free(&arena);
    return ok;
}

/* ---- which role lies on which axis ---- */

static const char *role_word(const MeshRoles *roles, Role role) {
    return roles->words && roles->words[role] ? roles->words[role] : role_name(role);
}

MeshRoles ranked_roles(const RankedPlan *ranked) {
    return (MeshRoles){&ranked->machine.mesh, &ranked->plan.placement, ranked->nesting, NULL};
}

void mesh_roles_list(const MeshRoles *roles, int axis, Prose *out) {
    int64_t stride = 1;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = roles->nesting.order[i];
        int64_t factor = roles->placement->factor[axis][role];
        if (factor <= 1) continue;
        prose_item(out, ", ", "%s %lld (%lld apart)", role_word(roles, role), (long long)factor, (long long)stride);
        stride *= factor;
    }
}

bool mesh_roles_add_json(cJSON *list, const char *name, const char *note, const MeshRoles *roles) {
    cJSON *json = json_add_object(list, NULL);
    bool ok = json_add_text(json, "name", name) && json_add_text(json, "note", note) &&
              add_axes(json_add_object(json, "machine"), roles->mesh);
    cJSON *placement = ok ? json_add_array(json, "placement") : NULL;
    ok = placement != NULL;
    for (int a = 0; a < roles->mesh->axis_count && ok; a++) {
        int64_t stride = 1;
        for (int i = 0; i < ROLE_COUNT && ok; i++) {
            Role role = roles->nesting.order[i];
            int64_t factor = roles->placement->factor[a][role];
            if (factor <= 1) continue;
            cJSON *one = json_add_object(placement, NULL);
            ok = json_add_text(one, "axis", roles->mesh->axes[a].name) &&
                 json_add_text(one, "role", role_word(roles, role)) && json_add_whole(one, "factor", factor) &&
                 json_add_whole(one, "stride", stride);
            stride *= factor;
        }
    }
    return ok;
}
