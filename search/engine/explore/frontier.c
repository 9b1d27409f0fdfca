/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/frontier.h"

#include "base/util.h"
#include "search/launch/launcher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 16, GROUPS_KEPT = 4 };

/* Verdicts of one level under the roles inside of it: axes that are alike settle the same costs many times. */
typedef struct {
    CollectiveCost cost[KEPT][GROUPS_KEPT];
    bool wanted[KEPT];
    int count;
} BranchVerdicts;

typedef struct {
    const TupleNode *tuple;
    const FrontierQuery *query;
    PlacementList *list;
    int machine;
    Rates least, partly; /* partly: the settled groups at their cost, the others at their least */
    BranchVerdicts verdicts[ROLE_COUNT];
    int64_t looked_at;
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
        to->cost[group] = to->cost[walk->settled[level][i].alias] = from->cost[group];
    }
}

static double ranked_bound(const FrontierWalk *walking, const Rates *rates) {
    return walking->query->bound(walking->query->what, rates) * walking->tuple->scale;
}

/* Sets walking->partly to what is known on entering a level. */
static void settle_level(FrontierWalk *walking, const RatesWalk *walk, int level) {
    for (int inner = level + 1; inner < ROLE_COUNT; inner++) {
        walking->verdicts[inner].count = 0;
        take_costs(walk, inner, &walking->least, &walking->partly);
    }
    take_costs(walk, level, &walk->rates, &walking->partly);
}

static bool enter(RatesWalk *walk, int level) {
    FrontierWalk *walking = walk->context;
    CollectiveCost cost[GROUP_COUNT];
    int groups = walk->settled_count[level];
    BranchVerdicts *verdicts = &walking->verdicts[level];
    if (explorer_stops(walking->tuple->explorer)) return false;
    settle_level(walking, walk, level);
    for (int i = 0; i < groups; i++) cost[i] = walk->rates.cost[walk->settled[level][i].group];
    int known = groups <= GROUPS_KEPT ? verdict_on(verdicts, cost, groups) : -1;
    if (known >= 0) return verdicts->wanted[known];
    double bound = ranked_bound(walking, &walking->partly);
    bool wanted = bound <= walking->query->threshold;
    if (!wanted) walking->list->cut_bound = min_real(walking->list->cut_bound, bound);
    if (groups <= GROUPS_KEPT && verdicts->count < KEPT) {
        memcpy(verdicts->cost[verdicts->count], cost, (size_t)groups * sizeof(*cost));
        verdicts->wanted[verdicts->count++] = wanted;
    }
    return wanted;
}

/* Whether the placement is one that is requested and that some launcher in question makes. */
static bool admitted(FrontierWalk *walking, const RatesWalk *walk) {
    const TupleNode *tuple = walking->tuple;
    const ExploreProblem *problem = tuple->problem;
    MachinePlacements *on = &tuple->on[walking->machine];
    const Request *request = problem->request;
    if (!request_admits_placement(request, walk->nested_mesh->mesh, &walk->placement)) return false;
    LauncherSet able = walking->query->able_launchers;
    if (able == ANY_LAUNCHER) able = request->space.launchers; /* one of those requested has to, or none where 0 */
    if (able == 0) return true;
    if (!on->launch_memo) on->launch_memo = launch_memo_new(tuple->arena);
    walking->no_memory = walking->no_memory || !on->launch_memo;
    return on->launch_memo &&
           launchers_place(able, walk->nested_mesh, problem->setting.chip->name, &walk->placement, on->launch_memo);
}

/* Adds a placement that is admitted, or leaves it out. */
static void take(FrontierWalk *walking, const Placement *placement, const Rates *rates) {
    PlacementList *list = walking->list;
    double bound = ranked_bound(walking, rates);
    if (bound > walking->query->threshold) {
        list->cut_bound = min_real(list->cut_bound, bound);
        return;
    }
    BoundedPlacement item = {.bound = bound, .machine = walking->machine, .placement = *placement, .rates = *rates};
    walking->no_memory = walking->no_memory || !placement_list_add(list, &item);
}

static void visit(RatesWalk *walk) {
    FrontierWalk *walking = walk->context;
    walking->looked_at++;
    walking->list->visited++;
    if (admitted(walking, walk))
        take(walking, &walk->placement, &walk->rates);
    else
        walking->list->refused++;
}

/* Takes of what the launchers in question make, where that can be listed: *done then. The others are refused. */
static bool take_made(FrontierWalk *walking, bool *done) {
    const TupleNode *tuple = walking->tuple;
    const Request *request = tuple->problem->request;
    const Mesh *mesh = tuple->problem->nested_meshes[walking->machine].mesh;
    const MadePlacements *made;
    const Rates *rates;
    LauncherSet able = walking->query->able_launchers;
    if (able == ANY_LAUNCHER) able = request->space.launchers;
    *done = false;
    if (able == 0 || request->space.launchers == 0) return true;
    if (!tuple_node_made(tuple, walking->machine, walking->query->methods_index, &made, &rates))
        return error_memory(&tuple->explorer->error);
    if (!made) return true;
    Count total = tuple->on[walking->machine].total;
    walking->list->visited += total;
    walking->list->refused += total;
    for (int64_t i = 0; i < made->count; i++) {
        if (!(made->made[i].launchers & able)) continue;
        if (!request_admits_placement(request, mesh, &made->made[i].placement)) continue;
        walking->list->refused--;
        walking->looked_at++;
        take(walking, &made->made[i].placement, &rates[i]);
    }
    *done = true;
    return !walking->no_memory || error_memory(&tuple->explorer->error);
}

/* The wanted placements on walking->machine. */
static bool find_on_machine(FrontierWalk *walking) {
    const TupleNode *tuple = walking->tuple;
    const ExploreProblem *problem = tuple->problem;
    Explorer *explorer = tuple->explorer;
    int64_t methods_index = walking->query->methods_index;
    Methods methods = method_space_at(&tuple->space.methods, methods_index);
    tuple_node_minimum_rates_on(tuple, walking->machine, methods_index, &walking->least);
    walking->partly = walking->least;
    for (int level = 0; level < ROLE_COUNT; level++) walking->verdicts[level].count = 0;
    double bound = ranked_bound(walking, &walking->least);
    if (bound > walking->query->threshold) {
        walking->list->cut_bound = min_real(walking->list->cut_bound, bound);
        return true;
    }
    bool done;
    if (!take_made(walking, &done)) return false;
    if (done) return !explorer_stops(explorer);
    RatesWalk walk = {.nested_mesh = &problem->nested_meshes[walking->machine],
                      .methods = &methods,
                      .memo = explorer->cache->memo,
                      .site = problem->first_machine + walking->machine,
                      .visit = visit,
                      .enter = enter,
                      .context = walking};
    if (!rates_walk(&walk, tuple->degrees) || walking->no_memory) return error_memory(&explorer->error);
    return !explorer->interrupted;
}

bool frontier_find(const TupleNode *tuple, const FrontierQuery *query, PlacementList *list) {
    enum { VISITS_A_BOUND = 4 }; /* as many placements take about as long as a bound with its totals */
    FrontierWalk walking = {.tuple = tuple, .query = query, .list = list};
    for (; walking.machine < tuple->problem->machine_count; walking.machine++)
        if (!find_on_machine(&walking)) return false;
    tuple->explorer->stats.work += walking.looked_at / VISITS_A_BOUND;
    return true;
}

void family_frontier_free(FamilyFrontier *frontier) {
    placement_list_free(&frontier->list);
    arena_free(&frontier->arena);
    frontier->seconds = NULL;
    frontier->known = false;
}

void family_frontier_begin(FamilyFrontier *frontier, int64_t methods_index) {
    family_frontier_free(frontier);
    frontier->methods_index = methods_index;
}

/* Rows, and the time from which on it does not matter by how much they are too slow. */
typedef struct {
    const BoundRows *rows;
    double enough;
} RowsUntil;

static double rows_at(const void *what, const Rates *rates) {
    const RowsUntil *until = what;
    return rows_seconds_until(until->rows, rates, until->enough);
}

static bool fill_table(FamilyFrontier *frontier, Error *error) {
    size_t count = (size_t)frontier->list.count;
    Rates *rates = ARENA_NEW(&frontier->arena, Rates, count);
    frontier->seconds = ARENA_NEW(&frontier->arena, double, count);
    if (!rates || !frontier->seconds) return error_memory(error);
    for (size_t i = 0; i < count; i++) rates[i] = frontier->list.items[i].rates;
    return rate_table_fill(rates, frontier->list.count, &frontier->arena, &frontier->table, error);
}

bool family_frontier_fill(TupleNode *tuple, FamilyFrontier *frontier) {
    enum { MANY = 12 }; /* one by one this number costs what twice the number costs in the vectorised loop */
    Explorer *explorer = tuple->explorer;
    double threshold = explorer->stats.threshold * CUT, least = INFINITY;
    if (frontier->known) return true;
    frontier->known = true;
    frontier->list = PLACEMENT_LIST_EMPTY;
    RowsUntil until = {&frontier->rows, threshold / tuple->scale * SLACK_UPWARD};
    FrontierQuery query = {.methods_index = frontier->methods_index,
                           .able_launchers = ANY_LAUNCHER,
                           .bound = rows_at,
                           .what = &until,
                           .threshold = threshold};
    if (!frontier_find(tuple, &query, &frontier->list)) return false;
    for (int64_t i = 0; i < frontier->list.count; i++) least = min_real(least, frontier->list.items[i].bound);
    frontier->bound = max_real(frontier->bound, min_real(least, frontier->list.cut_bound));
    return frontier->list.count < MANY || fill_table(frontier, &explorer->error);
}

double family_frontier_bound(const TupleNode *tuple, const BoundRows *member, FamilyFrontier *frontier) {
    double least = INFINITY;
    for (int row = 0; row < member->count && frontier->seconds; row++) {
        batch_relaxed_seconds(&member->row[row].rule, &member->row[row].relaxation, &frontier->table,
                              frontier->seconds);
        for (int64_t i = 0; i < frontier->list.count; i++) least = min_real(least, frontier->seconds[i]);
    }
    for (int64_t i = 0; i < frontier->list.count && !frontier->seconds; i++)
        least = min_real(least, rows_seconds(member, &frontier->list.items[i].rates));
    return min_real(least * tuple->scale, frontier->list.cut_bound);
}
