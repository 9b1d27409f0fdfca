/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a launcher puts the roles of a configuration that says nothing more than degrees. */
#include "base/util.h"
#include "search/launch/import.h"
#include "search/launch/placement.h"

#include <string.h>

/* What launch_ways() asks for: degrees inside a slice, on whichever axis, and those over DCN where they are told. */
static Placement told(const Mesh *mesh, const ImportedPlan *plan) {
    Placement placement;
    int inner = -1, outer = -1;
    for (int a = 0; a < MESH_AXES_MAX; a++)
        for (int role = 0; role < ROLE_COUNT; role++) placement.factor[a][role] = 1;
    for (int a = 0; a < mesh->axis_count; a++) {
        if (axis_is_across(&mesh->axes[a]))
            outer = outer < 0 ? a : outer;
        else
            inner = inner < 0 ? a : inner;
    }
    if (inner < 0) inner = max_whole(0, outer);
    for (int role = 0; role < ROLE_COUNT; role++) {
        int64_t across = outer >= 0 && plan->told_across ? plan->across[role] : 1;
        placement.factor[inner][role] = (int32_t)(plan->degrees.of[role] / across);
        if (across > 1) placement.factor[outer][role] = (int32_t)across;
    }
    return placement;
}

/* The way that the file's own options choose; NULL: none is like that. */
static const LaunchWay *chosen(const ImportedPlan *plan, const LaunchWay *ways, int count) {
    for (int i = 0; i < count; i++) {
        bool custom = ways[i].option && strstr(ways[i].option, "custom_mesh=");
        bool inside = ways[i].option && strcmp(ways[i].option, "--use-tp-pp-dp-mapping") == 0;
        if (plan->custom_mesh ? custom && strstr(ways[i].option, plan->custom_mesh)
                              : !custom && inside == plan->stages_inside)
            return &ways[i];
    }
    return NULL;
}

bool import_place(Launcher launcher, ConfigFile *file, const Request *request, const ImportedPlan *plan,
                  Pin pins[PINS_MAX], int *pin_count, const char **nesting, Error *error) {
    const Mesh *mesh = &request->question.machine.mesh;
    LaunchWay ways[LAUNCH_WAYS_MAX];
    const char *unpriced = NULL;
    if (launcher == LAUNCHER_JAX) {
        memcpy(pins, plan->pins, sizeof plan->pins);
        *pin_count = plan->pin_count;
        *nesting = plan->nesting ? plan->nesting : launcher_nesting(launcher);
        return true;
    }
    Placement placement = told(mesh, plan);
    int count = launch_ways(launcher, mesh, request->question.chip.name, &placement, ways, &unpriced);
    const LaunchWay *way = chosen(plan, ways, count);
    *pin_count = 0;
    *nesting = plan->stages_inside ? "megatron-pp-dp" : launcher_nesting(launcher);
    if (plan->custom_mesh && !way)
        return config_wrong(file, NULL, "custom_mesh", error, "\"%.40s\" cannot place these degrees on %s",
                            plan->custom_mesh, request->question.machine.text);
    if (!way) {
        config_note(file, "%s: its roles are placed as is best", unpriced ? unpriced : "its placement is not known");
        return true;
    }
    if (launcher == LAUNCHER_MAXTEXT && way->option && !plan->splits_axes)
        return config_wrong(file, NULL, "allow_split_physical_axes", error,
                            "is false, and these degrees split axes of %s: JAX refuses them; set it to true",
                            request->question.machine.text);
    *pin_count = pins_of_placement(mesh, &way->placement, pins);
    return true;
}
