/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choices are decided one after the other, outward from the relaxation's counts. Under each the rest is bounded by the
 * continuous problem: free the missing bytes by the cheapest of the open choices until F meets P, and offload what is
 * left; that bound is convex in the next count, so a direction ends where it passes the best. When only offloads are
 * open, they have to make up a sum of bytes: those with a common divisor by a table of all sums, the others one by one.
 * Prices at the leaves are step_seconds itself. */

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/engine/layout/decisions.h"

#include <math.h>
#include <string.h>

enum { WORK_MAX = 2000000 /* bounds: a tenth of a second */, SUMS_MAX = 2000 /* of one leaf */, TABLE_WORK = 200 };

typedef struct {
    Decisions of;
    const StepRule *rule;
    const Rates *rates;
    SumTable table;
    double best;
    int64_t *counts;
    bool found, complete;
    int work, sums;
} Search;

/* What the choices so far come to: the step is not below any f, nor below p, and bytes are missing. */
typedef struct {
    double f[SIDES], p, missing;
} Decided;

/* The continuous problem for one side, with the choices from `open` on left. `capacity`: bytes that offloads can free.
 * A byte that is offloaded takes `price` in P and `exposed` of it in F: choices that take less in F come first in any
 * case, others until F meets P. */
static double side_bound(const Search *search, int side, int open, const Decided *decided, double capacity) {
    double price = search->of.offload_price, exposed = search->rule->host_exposed * price;
    double f = decided->f[side], p = decided->p, missing = decided->missing;
    for (int i = 0; i < search->of.choice_count; i++) {
        int at = search->of.by_price[side][i];
        const Choice *choice = &search->of.choices[at];
        if (at < open || !(choice->bytes > 0)) continue;
        double each = choice->seconds[side] / choice->bytes;
        double beyond = p + price * missing - (f + exposed * missing); /* by which P is above F */
        if (beyond <= 0 && missing <= capacity && each >= exposed) return f + exposed * missing;
        double all = choice->bytes * (double)min_whole(choice->most, search->of.pools[choice->pool].left);
        double closes = each - exposed + price, /* the difference, for each byte */
            meets = each < exposed || !(closes > 0) ? all : beyond / closes;
        double take = min_real(min_real(missing, all), max_real(missing - capacity, meets));
        if (!(take > 0)) continue;
        f += each * take;
        missing -= take;
        if (take < all) break;
    }
    if (missing > capacity + 1e-12 * search->of.missing) return INFINITY;
    return max_real(f + exposed * missing, p + price * missing);
}

/* No way to decide the choices from `open` on is faster. */
static double bound_of(Search *search, int open, const Decided *decided) {
    double bound = decided->p, capacity = 0;
    search->work++;
    for (int i = 0; i < search->of.offload_count; i++)
        capacity += search->of.offloads[i].bytes * (double)search->of.pools[search->of.offloads[i].pool].left;
    for (int side = 0; side < SIDES; side++) /* all: the caller relies on a convex bound */
        bound = max_real(bound,
                         decided->missing > 0 ? side_bound(search, side, open, decided, capacity) : decided->f[side]);
    return bound;
}

/* Seconds of the counts as they stand; INFINITY: they do not fit. */
static double price_of_counts(Search *search) {
    int64_t counts[ITEMS_MAX];
    Resources resources;
    decisions_counts(&search->of, counts);
    branch_resources(search->of.branch, counts, &resources);
    if (!resources_fit(&resources, search->rule->memory_limit_bytes)) return INFINITY;
    double seconds = step_seconds(search->rule, &resources, search->rates);
    if (seconds < search->best) {
        search->best = seconds;
        search->found = true;
        memcpy(search->counts, counts, sizeof(counts));
    }
    return seconds;
}

/* What offloads from `at` on can free, no less than `bytes`. */
static double round_up(const Search *search, int at, double bytes) {
    return at >= search->of.regular && search->of.divisor > 0
               ? ceil(bytes / search->of.divisor - 1e-9) * search->of.divisor
               : bytes;
}

/* A leaf and the offloads of it that are chosen: both sides of the step so far, and the bytes that are missing. */
typedef struct {
    double f, p, missing;
} Offloaded;

/* The least that the step takes when `more` bytes are offloaded yet. */
static double offloaded_seconds(const Search *search, const Offloaded *at, double more) {
    double p = search->of.offload_price * more;
    return max_real(at->f + search->rule->host_exposed * p, at->p + p);
}

/* Regular offloads by the table of all their sums: the least that frees what is missing. False: the table does not
 * serve here. *seconds: of what was found, or INFINITY. */
static bool table_sums(Search *search, const Offloaded *from, double *seconds) {
    *seconds = INFINITY;
    if (!(search->of.divisor > 0) || !search->of.one_price || !search->of.one_row || !search->table.bits) return false;
    int64_t sizes[ITEMS_MAX], most[ITEMS_MAX], counts[ITEMS_MAX];
    int count = search->of.offload_count - search->of.regular;
    for (int i = 0; i < count; i++) {
        const Choice *choice = &search->of.offloads[search->of.regular + i];
        sizes[i] = (int64_t)floor(choice->bytes / search->of.divisor + 0.5);
        most[i] = min_whole(choice->most, search->of.pools[choice->pool].left);
        if (sizes[i] < 1) return false;
    }
    double low = ceil(from->missing / search->of.divisor - 1e-9), high = low + (double)sizes[0];
    double price = search->of.offload_price * search->of.divisor, exposed = search->rule->host_exposed * price;
    if (!isinf(search->best)) {
        high = min_real(high, (search->best * COUNTS_PROVEN - from->p) / price);
        if (exposed > 0) high = min_real(high, (search->best * COUNTS_PROVEN - from->f) / exposed);
    }
    if (high < low) return true;
    if (high > SUMS_LIMIT) return false;
    search->work += TABLE_WORK;
    const BoundedSizes regular = {sizes, most, count};
    if (least_sum(&search->table, &regular, (int64_t)low, (int64_t)high, counts) < 0) return true;
    for (int i = 0; i < count; i++) search->of.offloads[search->of.regular + i].count = counts[i];
    *seconds = price_of_counts(search);
    return !isinf(*seconds);
}

/* Offloads from `at` on are to free what is missing. `least`: no step under this leaf takes less. True: nothing better
 * under this leaf. */
static bool offload_sums(Search *search, int at, const Offloaded *from, double least) {
    if (from->missing <= 1e-9 * search->of.offloads[0].bytes) {
        for (int i = at; i < search->of.offload_count; i++) search->of.offloads[i].count = 0;
        double seconds = price_of_counts(search);
        if (!isinf(seconds)) return seconds * COUNTS_PROVEN <= least;
    }
    double open = 0;
    for (int i = at; i < search->of.offload_count; i++)
        open += search->of.offloads[i].bytes * (double)search->of.pools[search->of.offloads[i].pool].left;
    if (at == search->of.offload_count || from->missing > open * (1 + 1e-12)) return false;
    if (offloaded_seconds(search, from, round_up(search, at, from->missing)) >= search->best * COUNTS_PROVEN)
        return false;
    double tabled;
    if (at == search->of.regular && table_sums(search, from, &tabled)) return tabled * COUNTS_PROVEN <= least;
    search->work++;
    if (++search->sums > SUMS_MAX || search->work >= WORK_MAX) {
        search->complete = false;
        return true;
    }
    Choice *choice = &search->of.offloads[at];
    int64_t left = search->of.pools[choice->pool].left, most = min_whole(left, choice->most);
    int64_t enough = most;
    if (search->of.one_row)
        enough = choice->bytes > 0
                     ? (int64_t)min_real((double)most, ceil(max_real(0, from->missing) / choice->bytes) + 1)
                     : 0;
    bool done = false;
    for (int64_t count = enough; count >= 0 && !done; count--) {
        double pcie = choice->seconds[0] * (double)count;
        choice->count = count;
        search->of.pools[choice->pool].left = left - count;
        Offloaded after = {from->f + search->rule->host_exposed * pcie, from->p + pcie,
                           from->missing - choice->bytes * (double)count};
        done = offload_sums(search, at + 1, &after, least);
    }
    search->of.pools[choice->pool].left = left;
    choice->count = 0;
    return done;
}

static void leaf(Search *search, double p, double missing) {
    for (int i = 0; i < search->of.offload_count; i++) search->of.offloads[i].count = 0;
    int64_t counts[ITEMS_MAX];
    Resources resources;
    decisions_counts(&search->of, counts);
    branch_resources(search->of.branch, counts, &resources);
    Offloaded nothing = {step_seconds(search->rule, &resources, search->rates), p, missing};
    search->work += 8;
    if (nothing.f >= search->best * COUNTS_PROVEN) return;
    if (search->of.offload_count == 0) {
        price_of_counts(search);
        return;
    }
    search->sums = 0;
    double more = missing > 0 ? round_up(search, 0, missing) : 0;
    offload_sums(search, 0, &nothing, nothing.f + search->rule->host_exposed * search->of.offload_price * more);
}

static void decide(Search *search, int at, const Decided *decided);

/* Counts in one direction until the bound passes the best, and rises (it is convex). */
static void walk(Search *search, int at, int64_t from, int64_t step, const Decided *decided) {
    Choice *choice = &search->of.choices[at];
    Pool *pool = &search->of.pools[choice->pool];
    int64_t left = pool->left, most = min_whole(left, choice->most);
    double before = INFINITY;
    for (int64_t count = from; count >= 0 && count <= most && search->work < WORK_MAX; count += step) {
        Decided after = {.p = decided->p + choice->not_offloaded * (double)count,
                         .missing = decided->missing - choice->bytes * (double)count};
        for (int side = 0; side < SIDES; side++)
            after.f[side] = decided->f[side] + choice->seconds[side] * (double)count;
        choice->count = count;
        pool->left = left - count;
        double bound = bound_of(search, at + 1, &after);
        if (bound < search->best * COUNTS_PROVEN)
            decide(search, at + 1, &after);
        else if (bound >= before && !isinf(before))
            break;
        before = bound;
        if (choice->free) break;
    }
    pool->left = left;
    choice->count = 0;
}

static void decide(Search *search, int at, const Decided *decided) {
    if (at == search->of.choice_count) {
        leaf(search, decided->p, decided->missing);
        return;
    }
    const Choice *choice = &search->of.choices[at];
    int64_t most = min_whole(choice->most, search->of.pools[choice->pool].left), start = min_whole(choice->start, most);
    if (choice->free) start = most;
    walk(search, at, start, 1, decided);
    if (!choice->free) walk(search, at, start - 1, -1, decided);
}

bool counts_search(const StepRule *rule, const Rates *rates, const RelaxedBranch *relaxed, BranchSolution *best) {
    Search search = {.rule = rule, .rates = rates, .best = best->seconds, .counts = best->counts, .complete = true};
    decisions_make(rule, relaxed->branch, relaxed->program, relaxed->multipliers, &search.of);
    if (search.of.regular < search.of.offload_count && !sum_table_make(&search.table))
        search.table.bits = NULL; /* sums are searched then, not tabulated */
    Decided nothing = {.p = search.of.base_p, .missing = search.of.missing};
    memcpy(nothing.f, search.of.base_f, sizeof nothing.f);
    decide(&search, 0, &nothing);
    sum_table_free(&search.table);
    best->seconds = search.best;
    best->work += search.work;
    best->found = best->found || search.found;
    return search.complete && search.work < WORK_MAX;
}

enum { MOVES_MAX = 4096 }; /* of single layers; rounding takes a handful */

typedef struct {
    const StepRule *rule;
    const Branch *branch;
    const Rates *rates;
    int64_t *counts;
    Resources resources;
    double seconds;
} Point;

/* One layer more of `up` and one less of `down`; -1: none. */
typedef struct {
    int up, down;
} Move;

static int64_t layers_left(const Point *point, int item) {
    const BranchItem *items = point->branch->items;
    int64_t left = (int64_t)items[item].layers;
    for (int i = 0; i < point->branch->item_count; i++)
        if (items[i].activation == items[item].activation) left -= point->counts[i];
    return left;
}

static bool move_possible(const Point *point, Move move) {
    if (move.down >= 0 && point->counts[move.down] == 0) return false;
    if (move.up < 0) return move.down >= 0;
    bool same =
        move.down >= 0 && point->branch->items[move.up].activation == point->branch->items[move.down].activation;
    return layers_left(point, move.up) + (same ? 1 : 0) > 0;
}

static void moved_resources(const Point *point, Move move, Resources *out) {
    *out = point->resources;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        if (move.up >= 0) out->of[r] += point->branch->items[move.up].adds.of[r];
        if (move.down >= 0) out->of[r] -= point->branch->items[move.down].adds.of[r];
    }
}

static void point_refresh(Point *point) {
    branch_resources(point->branch, point->counts, &point->resources);
    point->seconds = step_seconds(point->rule, &point->resources, point->rates);
}

static void make_move(Point *point, Move move) {
    if (move.up >= 0) point->counts[move.up]++;
    if (move.down >= 0) point->counts[move.down]--;
    point_refresh(point);
}

static double violation(const StepRule *rule, const Resources *resources) {
    double sum = 0;
    for (int moment = 0; moment < MOMENT_COUNT; moment++)
        sum += max_real(0, resources->of[RES_MEMORY + moment] - rule->memory_limit_bytes);
    return sum;
}

/* Adds the layer that costs least per byte of the violation it takes away. */
static bool repair_once(Point *point) {
    double before = violation(point->rule, &point->resources), best = INFINITY;
    Move chosen = {-1, -1};
    for (int up = 0; up < point->branch->item_count; up++)
        for (int down = -1; down < point->branch->item_count; down++) {
            Move move = {up, down};
            bool exchange =
                down >= 0 && down != up && point->branch->items[up].activation == point->branch->items[down].activation;
            if ((down >= 0 && !exchange) || !move_possible(point, move)) continue;
            Resources after;
            moved_resources(point, move, &after);
            double freed = before - violation(point->rule, &after);
            if (!(freed > 0)) continue;
            double price = (step_seconds(point->rule, &after, point->rates) - point->seconds) / freed;
            if (price < best) best = price, chosen = move;
        }
    if (chosen.up < 0) return false;
    make_move(point, chosen);
    return true;
}

/* Takes the best single layer given back or exchanged; false: none makes the step shorter. */
static bool improve_once(Point *point) {
    double best = point->seconds;
    Move chosen = {-1, -1};
    for (int up = -1; up < point->branch->item_count; up++)
        for (int down = 0; down < point->branch->item_count; down++) {
            Move move = {up, down};
            if (up == down || !move_possible(point, move)) continue;
            Resources after;
            moved_resources(point, move, &after);
            if (!resources_fit(&after, point->rule->memory_limit_bytes)) continue;
            double seconds = step_seconds(point->rule, &after, point->rates);
            if (seconds < best) best = seconds, chosen = move;
        }
    if (chosen.down < 0) return false;
    double before = point->seconds;
    int64_t up = chosen.up >= 0 ? point->counts[chosen.up] : 0, down = point->counts[chosen.down];
    make_move(point, chosen);
    if (point->seconds < before && resources_fit(&point->resources, point->rule->memory_limit_bytes)) return true;
    /* Only rounding was better. */
    if (chosen.up >= 0) point->counts[chosen.up] = up;
    point->counts[chosen.down] = down;
    point_refresh(point);
    return false;
}

bool counts_near(const StepRule *rule, const Branch *branch, const Rates *rates, const double *values,
                 int64_t counts[ITEMS_MAX], double *seconds) {
    Point point = {.rule = rule, .branch = branch, .rates = rates, .counts = counts};
    memset(counts, 0, sizeof(int64_t) * ITEMS_MAX);
    for (int i = 0; i < branch->item_count; i++) {
        int64_t wanted = values[i] > 0 ? (int64_t)floor(min_real(values[i], branch->items[i].layers) + 1e-6) : 0;
        counts[i] = min_whole(wanted, max_whole(0, layers_left(&point, i)));
    }
    point_refresh(&point);
    int moves = 0;
    while (!resources_fit(&point.resources, rule->memory_limit_bytes))
        if (moves++ == MOVES_MAX || !repair_once(&point)) return false;
    while (moves++ < MOVES_MAX && improve_once(&point)) continue;
    *seconds = point.seconds;
    return true;
}
