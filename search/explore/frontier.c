/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/frontier.h"

#include "base/util.h"
#include "search/launch/placement.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 16, GROUPS_KEPT = 4 };

/* Verdicts of one level under the roles inside of it: axes alike settle the same costs many times. */
typedef struct {
    CollectiveCost cost[KEPT][GROUPS_KEPT];
    bool wanted[KEPT];
    int count;
} BranchVerdicts;

typedef struct {
    const OpenTuple *tuple;
    int machine;
    LauncherSet able_launchers;
    BoundAt bound;
    const void *what;
    double threshold;
    PlacementList *list;
    Rates least, partly; /* partly: the settled groups at their cost, the others at their least */
    BranchVerdicts verdicts[ROLE_COUNT];
    bool no_memory;
} FrontierWalk;

void placement_list_free(PlacementList *list) {
    free(list->items);
    *list = PLACEMENT_LIST_EMPTY;
}

bool placement_list_add(PlacementList *list, const BoundedPlacement *item) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 16;
        BoundedPlacement *grown = realloc(list->items, (size_t)room * sizeof(BoundedPlacement));
        if (!grown) return false;
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = *item;
    return true;
}

/* The number of a verdict on the same costs; or -1. */
static int verdict_on(const BranchVerdicts *verdicts, const CollectiveCost *cost, int groups) {
    for (int i = 0; i < verdicts->count; i++)
        if (memcmp(verdicts->cost[i], cost, (size_t)groups * sizeof(*cost)) == 0) return i;
    return -1;
}

/* The costs of the groups that a level settles. */
static void take_costs(const RatesWalk *walk, int level, const Rates *from, Rates *to) {
    for (int i = 0; i < walk->settled_count[level]; i++) {
        Group group = walk->settled[level][i].group;
        to->cost[group] = to->cost[walk->settled[level][i].twin] = from->cost[group];
    }
}

static bool enter(RatesWalk *walk, int level) {
    FrontierWalk *finding = walk->context;
    CollectiveCost cost[GROUP_COUNT];
    int groups = walk->settled_count[level];
    BranchVerdicts *verdicts = &finding->verdicts[level];
    for (int inner = level + 1; inner < ROLE_COUNT; inner++) {
        finding->verdicts[inner].count = 0;
        take_costs(walk, inner, &finding->least, &finding->partly);
    }
    take_costs(walk, level, &walk->rates, &finding->partly);
    for (int i = 0; i < groups; i++) cost[i] = walk->rates.cost[walk->settled[level][i].group];
    int known = groups <= GROUPS_KEPT ? verdict_on(verdicts, cost, groups) : -1;
    if (known >= 0) return verdicts->wanted[known];
    double bound = finding->bound(finding->what, &finding->partly) * finding->tuple->problem->scale;
    bool wanted = bound <= finding->threshold;
    if (!wanted) finding->list->cut_bound = min_real(finding->list->cut_bound, bound);
    if (groups <= GROUPS_KEPT && verdicts->count < KEPT) {
        memcpy(verdicts->cost[verdicts->count], cost, (size_t)groups * sizeof(*cost));
        verdicts->wanted[verdicts->count++] = wanted;
    }
    return wanted;
}

/* Whether the placement is one that is asked for and that some launcher in question makes. */
static bool admitted(const FrontierWalk *finding, const RatesWalk *walk) {
    const ExploreProblem *problem = finding->tuple->problem;
    const Request *request = problem->request;
    if (!request_admits_placement(request, walk->nested_mesh->mesh, &walk->placement)) return false;
    LauncherSet able_launchers = finding->able_launchers, placing;
    if (able_launchers == ANY_LAUNCHER) able_launchers = request->space.launchers; /* of which one has to, or none */
    if (able_launchers == 0) return true;
    launchers_placing(able_launchers, walk->nested_mesh, problem->setting.chip->name, &walk->placement, 1, &placing);
    return placing != 0;
}

static void visit(RatesWalk *walk) {
    FrontierWalk *finding = walk->context;
    PlacementList *list = finding->list;
    double bound = finding->bound(finding->what, &walk->rates) * finding->tuple->problem->scale;
    list->visited++;
    if (!admitted(finding, walk)) {
        list->refused++;
        return;
    }
    if (bound > finding->threshold) {
        list->cut_bound = min_real(list->cut_bound, bound);
        return;
    }
    BoundedPlacement item = {
        .bound = bound, .machine = finding->machine, .placement = walk->placement, .rates = walk->rates};
    finding->no_memory = finding->no_memory || !placement_list_add(list, &item);
}

static bool find_on(FrontierWalk *finding, int64_t methods_index, ExploreCache *cache, Error *error) {
    const OpenTuple *tuple = finding->tuple;
    const ExploreProblem *problem = tuple->problem;
    Methods methods = method_space_at(&tuple->space.methods, methods_index);
    open_tuple_least_rates_on(tuple, finding->machine, methods_index, &finding->least);
    finding->partly = finding->least;
    for (int level = 0; level < ROLE_COUNT; level++) finding->verdicts[level].count = 0;
    double bound = finding->bound(finding->what, &finding->least) * problem->scale;
    if (bound > finding->threshold) {
        finding->list->cut_bound = min_real(finding->list->cut_bound, bound);
        return true;
    }
    RatesWalk walk = {.nested_mesh = &problem->nested_meshes[finding->machine],
                      .methods = &methods,
                      .memo = cache->memo,
                      .site = problem->first_machine + finding->machine,
                      .visit = visit,
                      .enter = enter,
                      .context = finding};
    return (rates_walk(&walk, tuple->degrees) && !finding->no_memory) || error_memory(error);
}

bool frontier_find(const OpenTuple *tuple, int64_t methods_index, LauncherSet able_launchers, BoundAt bound,
                   const void *what, double threshold, ExploreCache *cache, PlacementList *list, Error *error) {
    FrontierWalk finding = {.tuple = tuple,
                            .able_launchers = able_launchers,
                            .bound = bound,
                            .what = what,
                            .threshold = threshold,
                            .list = list};
    for (; finding.machine < tuple->problem->machine_count; finding.machine++)
        if (!find_on(&finding, methods_index, cache, error)) return false;
    return true;
}
