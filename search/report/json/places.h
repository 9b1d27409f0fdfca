/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/json/places.h: which group holds which chip of a machine, and how roles nest on the axes of a mesh, as
 * JSON. Each add gives false when memory is out. */
#pragma once

#include "base/arena.h"
#include "base/text/prose.h"
#include "search/answer/ranked_plan.h"

#include <cjson/cJSON.h>

/* Groups of one kind: workers that decode. */
typedef struct {
    const char *name, *how; /* "decode worker", and how each is cut: "tensor=4" */
    const char *of;         /* what a picture paints it as: "forward" */
    int64_t count;
} ChipKind;

enum { CHIP_KINDS_MAX = 2 };
typedef struct {
    const char *name; /* "the machine" */
    const Mesh *mesh;
    int64_t host; /* devices of one */
    /* By device, the axes from the inside: the group that holds it, numbered kind after kind from 0 on; -1: none.
     * The second is of what takes turns on the same chips; NULL: nothing does. */
    const int32_t *group[2];
    ChipKind kinds[CHIP_KINDS_MAX];
    int kind_count;
} ChipMap;

/* Appends {"name", "host_devices", "axes", "layers": [{"group": [], "count": []}], "groups": [{"name", "of", "devices",
 * "where", "how"}]} to an array: in a layer runs of devices that one group holds, -1: none. Of a kind at most 32 groups
 * are listed, the last entry says how many more there are. */
bool chip_map_add_json(cJSON *list, const ChipMap *map);

/* How roles nest on each axis of a mesh. */
typedef struct {
    const Mesh *mesh;
    const Placement *placement;
    Nesting nesting;
    const char *const *words; /* by role, where it is called otherwise than role_name() says; NULL: nowhere */
} MeshRoles;
MeshRoles ranked_roles(const RankedPlan *ranked);                   /* points into the plan */
void mesh_roles_list(const MeshRoles *roles, int axis, Prose *out); /* "tensor 4 (1 apart)"; nothing: no role */

/* Appends {"name", "note", "machine": {"axes"}, "placement": [{"axis", "role", "factor", "stride"}]} to an array. */
bool mesh_roles_add_json(cJSON *list, const char *name, const char *note, const MeshRoles *roles);
