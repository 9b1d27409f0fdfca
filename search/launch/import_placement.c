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
        int64_t across = outer >= 0 && plan->expressible_across ? plan->across[role] : 1;
        placement.factor[inner][role] = (int32_t)(plan->degrees.of[role] / across);
        if (across > 1) placement.factor[outer][role] = (int32_t)across;
    }
    return placement;
}

/* The way whose option the file gives; NULL: none is like that. */
static const LaunchWay *with_option(const LaunchWays *ways, const char *option) {
    for (int i = 0; i < ways->count; i++) {
        const char *needs = ways->way[i].option;
        if (option ? needs && strcmp(needs, option) == 0 : !needs) return &ways->way[i];
    }
    return NULL;
}

bool import_place(int launcher, ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    const Mesh *mesh = &request->question.machine.mesh;
    Placement placement = told(mesh, plan);
    LaunchAsk ask = {mesh, request->question.chip.name, &placement};
    LaunchWays ways;
    if (!plan->nesting) plan->nesting = launcher_nesting(launcher);
    if (plan->placed) return true;
    launch_ways(launcher, &ask, &ways);
    const LaunchWay *way = with_option(&ways, plan->option);
    if (launcher_at(launcher)->import_way &&
        !launcher_at(launcher)->import_way(file, request, plan, &ways, &way, error))
        return false;
    if (way)
        plan->pin_count = pins_of_placement(mesh, &way->placement, plan->pins);
    else
        config_note(file, "%s: its roles are placed as is best",
                    ways.unpriced ? ways.unpriced : "its placement is not known");
    return true;
}
