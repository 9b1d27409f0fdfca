/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time is the larger of linear forms from below: F (everything but PCIe, its maxima replaced in a few ways) and P (PCIe), all with the tail. Items that only offload
 * appear in P and in memory; all others are decided first, one after the other, outward from the relaxation's counts. Under each choice the
 * rest is bounded by the continuous problem: free the missing bytes by the cheapest of the open items until F meets P, and offload what is left;
 * that bound is convex in the next count, so a direction ends where it passes the best. When only offloads are open, they have to make up a sum
 * of bytes: greedily from the largest, the rest rounded up to the bytes' common divisor. Prices at the leaves are step_seconds itself. */
#include "search/layout/counts_search.h"

#include "base/util.h"
#include "search/layout/sums.h"

#include <math.h>
#include <string.h>

enum { WORK_MAX = 2000000 /* bounds: some tenths of a second */, SUMS_MAX = 2000 /* of one leaf */, TABLE_WORK = 200 };
/* Ways to write F without its maxima: as the relaxation weighs their forms (tight at its solution, which often lies where two are equal), by
 * the last form of each alone, and by what they are at least. */
enum { SIDES = 3 };
static const double PROVEN = 1 - 1e-10;

/* Activations that are alike in all their states: their layers are one pool. */
typedef struct {
    int members[ACTIVATION_COUNT][STRATEGIES_MAX - 1]; /* items, by state */
    int member_count, item_count;
    double layers; /* of one member */
    int64_t left;  /* of all, not yet given a state */
} Pool;

/* An item of a pool: what one layer of it does. */
typedef struct {
    int pool, at;          /* at: which of the pool's items */
    double seconds[SIDES]; /* in each F; of an offload: [0], in P */
    double bytes;          /* freed */
    double beside;         /* in P, of what is no offload: its part of the tail */
    int64_t start, most;   /* relaxation's count; largest */
    bool free;             /* costs nothing, in time and layers: no reason for less than most */
    int64_t count;
} Choice;

typedef struct {
    const StepRule *rule;
    const Branch *branch;
    const Rates *rates;
    Pool pools[ACTIVATION_COUNT];
    int pool_count;
    Choice choices[ITEMS_MAX], offloads[ITEMS_MAX];
    int choice_count, offload_count;
    int by_price[SIDES][ITEMS_MAX]; /* choices, seconds per byte rising */
    double offload_price;    /* least seconds per byte */
    int regular;             /* offloads from here on have bytes that are whole multiples of the divisor */
    double divisor;
    bool one_price;          /* all offloads free the same bytes per second */
    SumTable table;
    double missing, base_f[SIDES], base_p;
    bool one_row;            /* of memory: `missing` is exact, but for rounding */
    double best;
    int64_t *counts;
    bool found, complete;
    int work, sums;
} Search;

/* The weight of a row in a side; `sum`: of all rows' multipliers and the column's own. */
static double share_of_row(const Multipliers *multipliers, int side, int row, bool last, double sum) {
    if (side == 0 && sum > 0) return multipliers->rows[row] / sum;
    return side == 1 && last ? 1 : 0;
}

/* A maximum is not below any weighted mean of its forms (its column is not negative: weights may sum to less): replaces the columns of maxima by
 * such means, so that the items are left. */
static Form without_maxima(const Program *program, Form form, const Multipliers *multipliers, int side) {
    for (int column = program->columns - 1; column >= program->items; column--) {
        double factor = form.of[column], sum = multipliers->columns[column];
        int last = -1;
        for (int r = 0; r < program->row_count; r++)
            if (program->defines[r] == column) sum += multipliers->rows[r], last = r;
        for (int r = 0; r < program->row_count && factor != 0; r++) {
            if (program->defines[r] != column) continue;
            double share = share_of_row(multipliers, side, r, r == last, sum);
            form.constant += factor * share * program->rows[r].constant;
            for (int c = 0; c < column; c++) form.of[c] += factor * share * program->rows[r].of[c];
        }
        form.of[column] = 0;
    }
    return form;
}

static Form memory_mean(const Program *program, const double weights[MOMENT_COUNT]) {
    Form form = {0};
    double sum = 0;
    for (int i = 0; i < program->memory_count; i++) sum += weights[i];
    for (int i = 0; i < program->memory_count; i++) {
        double share = sum > 0 ? weights[i] / sum : 1.0 / program->memory_count;
        form.constant += share * program->memory[i].constant;
        for (int c = 0; c < program->items; c++) form.of[c] += share * program->memory[i].of[c];
    }
    return form;
}

static bool alike(const Branch *branch, const int *a, const int *b, int count) {
    for (int i = 0; i < count; i++) {
        const BranchItem *first = &branch->items[a[i]], *second = &branch->items[b[i]];
        if (first->state != second->state || first->layers != second->layers) return false;
        for (int r = 0; r < RESOURCE_COUNT; r++)
            if (first->adds.of[r] != second->adds.of[r]) return false;
    }
    return true;
}

static void make_pools(Search *search) {
    const Branch *branch = search->branch;
    for (int i = 0; i < branch->item_count;) {
        int items[STRATEGIES_MAX - 1], count = 0, pool = 0;
        double layers = 0;
        for (int first = i; i < branch->item_count && branch->items[i].activation == branch->items[first].activation; i++) {
            items[count++] = i;
            layers = max_real(layers, branch->items[i].layers);
        }
        while (pool < search->pool_count &&
               !(search->pools[pool].item_count == count && alike(branch, search->pools[pool].members[0], items, count)))
            pool++;
        Pool *to = &search->pools[pool];
        if (pool == search->pool_count) *to = (Pool){.item_count = count, .layers = layers}, search->pool_count++;
        memcpy(to->members[to->member_count++], items, sizeof(items));
        to->left += (int64_t)layers;
    }
}

/* The greatest common divisor of bytes that are whole multiples of something sizeable; else 0. */
static double common_divisor(double a, double b) {
    double least = 1e-5 * min_real(a, b);
    while (b > least) {
        double rest = fmod(a, b);
        a = b, b = rest;
    }
    return b == 0 ? a : 0;
}

/* The divisor of the offloads that have one in common with offload `with`; `members`: which. */
static double divisor_with(const Search *search, int with, bool members[ITEMS_MAX], int *count) {
    double divisor = search->offloads[with].bytes;
    *count = 0;
    for (int i = 0; i < search->offload_count; i++) {
        double bytes = search->offloads[i].bytes, common = bytes > 0 && divisor > 0 ? common_divisor(divisor, bytes) : 0;
        members[i] = common > 0 && (search->missing + bytes) / common < SUMS_LIMIT;
        if (!members[i]) continue;
        divisor = common;
        ++*count;
    }
    return *count > 0 ? divisor : 0;
}

/* Offloads whose bytes fit no divisor first, then the others; the larger before the smaller. */
static void sort_offloads(Search *search) {
    bool members[ITEMS_MAX], best[ITEMS_MAX] = {false};
    int most = 0, count;
    for (int with = 0; with < search->offload_count; with++) {
        double divisor = divisor_with(search, with, members, &count);
        if (count <= most) continue;
        most = count;
        search->divisor = divisor;
        memcpy(best, members, sizeof(best));
    }
    search->regular = search->offload_count - most;
    for (int i = 1; i < search->offload_count; i++)
        for (int j = i; j > 0; j--) {
            Choice *a = &search->offloads[j - 1], *b = &search->offloads[j], swap = *a;
            if (best[j - 1] == best[j] ? a->bytes >= b->bytes : !best[j - 1]) break;
            bool flag = best[j - 1];
            *a = *b, *b = swap;
            best[j - 1] = best[j], best[j] = flag;
        }
}

static void sort_choices(Search *search) {
    sort_offloads(search);
    /* The finest last: the largest bytes first fix the coarse sum. */
    for (int i = 1; i < search->choice_count; i++)
        for (int j = i; j > 0 && search->choices[j].bytes > search->choices[j - 1].bytes; j--) {
            Choice swap = search->choices[j];
            search->choices[j] = search->choices[j - 1], search->choices[j - 1] = swap;
        }
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < search->choice_count; i++) {
            int at = i, *order = search->by_price[side];
            const Choice *choice = &search->choices[i];
            for (; at > 0; at--) {
                const Choice *before = &search->choices[order[at - 1]];
                if (before->seconds[side] * choice->bytes <= choice->seconds[side] * before->bytes) break;
                order[at] = order[at - 1];
            }
            order[at] = i;
        }
}

/* Whether the item stands in no form of the step and frees as much as any other state of its pool. */
static bool is_free(const Search *search, const Program *program, int pool, int at) {
    const Pool *of = &search->pools[pool];
    int item = of->members[0][at];
    if (program->main.of[item] != 0 || program->tail.of[item] != 0 || program->pcie.of[item] != 0) return false;
    for (int r = 0; r < program->row_count; r++)
        if (program->rows[r].of[item] != 0) return false;
    if (search->branch->items[item].layers < of->layers) return false;
    for (int i = 0; i < program->memory_count; i++)
        for (int other = 0; other < of->item_count; other++)
            if (program->memory[i].of[item] > min_real(0, program->memory[i].of[of->members[0][other]])) return false;
    return true;
}

static void make_choices(Search *search, const Program *program, const Multipliers *multipliers) {
    Form f[SIDES], tail[SIDES], p = program->pcie, memory = memory_mean(program, multipliers->memory);
    for (int side = 0; side < SIDES; side++) {
        f[side] = without_maxima(program, program->main, multipliers, side);
        tail[side] = without_maxima(program, program->tail, multipliers, side);
        search->base_f[side] = f[side].constant + tail[side].constant;
    }
    search->base_p = p.constant + tail[0].constant;
    search->missing = memory.constant;
    search->offload_price = INFINITY;
    for (int pool = 0; pool < search->pool_count; pool++)
        for (int at = 0; at < search->pools[pool].item_count; at++) {
            const Pool *of = &search->pools[pool];
            int item = of->members[0][at];
            double start = 0, in_f = 0;
            for (int m = 0; m < of->member_count; m++) start += multipliers->counts[of->members[m][at]];
            Choice choice = {.pool = pool, .at = at, .bytes = max_real(0, -memory.of[item]),
                             .beside = max_real(0, p.of[item] + tail[0].of[item]), .free = is_free(search, program, pool, at)};
            choice.most = (int64_t)search->branch->items[item].layers * of->member_count;
            choice.start = min_whole(choice.most, (int64_t)floor(max_real(0, start) + 0.5));
            for (int side = 0; side < SIDES; side++) {
                choice.seconds[side] = max_real(0, f[side].of[item] + tail[side].of[item]);
                in_f = max_real(in_f, choice.seconds[side]);
            }
            if (!(p.of[item] > 0 && in_f == 0)) {
                search->choices[search->choice_count++] = choice;
                continue;
            }
            choice.seconds[0] = p.of[item];
            if (choice.bytes > 0) search->offload_price = min_real(search->offload_price, choice.seconds[0] / choice.bytes);
            search->offloads[search->offload_count++] = choice;
        }
    if (isinf(search->offload_price)) search->offload_price = 0;
    search->one_price = true;
    for (int i = 0; i < search->offload_count; i++)
        search->one_price = search->one_price && search->offloads[i].seconds[0] <= search->offload_price * search->offloads[i].bytes * (1 + 1e-12);
    sort_choices(search);
}

/* The continuous problem for one side. `capacity`: bytes that offloads can free. */
static double side_bound(const Search *search, int side, int open, double f, double p, double missing, double capacity) {
    double price = search->offload_price;
    for (int i = 0; i < search->choice_count; i++) {
        if (f >= p + price * missing && missing <= capacity) return f;
        int at = search->by_price[side][i];
        const Choice *choice = &search->choices[at];
        if (at < open || !(choice->bytes > 0)) continue;
        double all = choice->bytes * (double)min_whole(choice->most, search->pools[choice->pool].left);
        double each = choice->seconds[side] / choice->bytes, meets = each + price > 0 ? (p + price * missing - f) / (each + price) : all;
        double take = min_real(min_real(missing, all), max_real(missing - capacity, meets));
        if (!(take > 0)) continue;
        f += each * take;
        missing -= take;
        if (take < all) break;
    }
    return missing > capacity + 1e-12 * search->missing ? INFINITY : max_real(f, p + price * missing);
}

/* No way to decide the choices from `open` on is faster. f, p: of what is decided; missing bytes. */
static double bound_of(Search *search, int open, const double f[SIDES], double p, double missing) {
    double bound = p, capacity = 0;
    search->work++;
    for (int i = 0; i < search->offload_count; i++) capacity += search->offloads[i].bytes * (double)search->pools[search->offloads[i].pool].left;
    for (int side = 0; side < SIDES; side++) /* all: the caller relies on a convex bound */
        bound = max_real(bound, missing > 0 ? side_bound(search, side, open, f[side], p, missing, capacity) : f[side]);
    return bound;
}

/* The counts of pools, member by member. */
static void counts_of(const Search *search, int64_t counts[ITEMS_MAX]) {
    int64_t wanted[ACTIVATION_COUNT][STRATEGIES_MAX - 1] = {{0}};
    memset(counts, 0, sizeof(int64_t) * ITEMS_MAX);
    for (int i = 0; i < search->choice_count; i++) wanted[search->choices[i].pool][search->choices[i].at] = search->choices[i].count;
    for (int i = 0; i < search->offload_count; i++) wanted[search->offloads[i].pool][search->offloads[i].at] = search->offloads[i].count;
    for (int p = 0; p < search->pool_count; p++)
        for (int m = 0; m < search->pools[p].member_count; m++) {
            int64_t left = (int64_t)search->pools[p].layers;
            for (int at = 0; at < search->pools[p].item_count; at++) {
                int item = search->pools[p].members[m][at];
                int64_t take = min_whole(left, min_whole(wanted[p][at], (int64_t)search->branch->items[item].layers));
                counts[item] = take;
                left -= take;
                wanted[p][at] -= take;
            }
        }
}

/* Seconds of the counts as they stand; INFINITY: they do not fit. */
static double price(Search *search) {
    int64_t counts[ITEMS_MAX];
    Resources resources;
    counts_of(search, counts);
    branch_resources(search->branch, counts, &resources);
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
    return at >= search->regular && search->divisor > 0 ? ceil(bytes / search->divisor - 1e-9) * search->divisor : bytes;
}

/* Regular offloads by the table of all their sums: the least that frees what is missing. False: the table does not serve here. *seconds: of what was
 * found, or INFINITY. */
static bool table_sums(Search *search, double p, double missing, double *seconds) {
    *seconds = INFINITY;
    if (!(search->divisor > 0) || !search->one_price || !search->one_row || !search->table.bits) return false;
    int64_t sizes[ITEMS_MAX], most[ITEMS_MAX], counts[ITEMS_MAX];
    int count = search->offload_count - search->regular;
    for (int i = 0; i < count; i++) {
        const Choice *choice = &search->offloads[search->regular + i];
        sizes[i] = (int64_t)floor(choice->bytes / search->divisor + 0.5);
        most[i] = min_whole(choice->most, search->pools[choice->pool].left);
        if (sizes[i] < 1) return false;
    }
    double low = ceil(missing / search->divisor - 1e-9), high = low + (double)sizes[0];
    if (!isinf(search->best)) high = min_real(high, (search->best * PROVEN - p) / (search->offload_price * search->divisor));
    if (high < low) return true;
    if (high > SUMS_LIMIT) return false;
    search->work += TABLE_WORK;
    if (least_sum(&search->table, sizes, most, count, (int64_t)low, (int64_t)high, counts) < 0) return true;
    for (int i = 0; i < count; i++) search->offloads[search->regular + i].count = counts[i];
    *seconds = price(search);
    return !isinf(*seconds);
}

/* Offloads from `at` on are to free `missing`; p: PCIe side so far; the step takes no less than f. True: nothing better under this leaf. */
static bool offload_sums(Search *search, int at, double f, double p, double missing) {
    if (missing <= 1e-9 * search->offloads[0].bytes) {
        for (int i = at; i < search->offload_count; i++) search->offloads[i].count = 0;
        double seconds = price(search);
        if (!isinf(seconds)) return seconds * PROVEN <= f;
    }
    double open = 0;
    for (int i = at; i < search->offload_count; i++) open += search->offloads[i].bytes * (double)search->pools[search->offloads[i].pool].left;
    if (at == search->offload_count || missing > open * (1 + 1e-12)) return false;
    if (max_real(f, p + search->offload_price * round_up(search, at, missing)) >= search->best * PROVEN) return false;
    double tabled;
    if (at == search->regular && table_sums(search, p, missing, &tabled)) return tabled * PROVEN <= f;
    search->work++;
    if (++search->sums > SUMS_MAX || search->work >= WORK_MAX) {
        search->complete = false;
        return true;
    }
    Choice *choice = &search->offloads[at];
    int64_t left = search->pools[choice->pool].left, most = min_whole(left, choice->most);
    int64_t enough = most;
    if (search->one_row) enough = choice->bytes > 0 ? (int64_t)min_real((double)most, ceil(max_real(0, missing) / choice->bytes) + 1) : 0;
    bool done = false;
    for (int64_t count = enough; count >= 0 && !done; count--) {
        choice->count = count;
        search->pools[choice->pool].left = left - count;
        done = offload_sums(search, at + 1, f, p + choice->seconds[0] * (double)count, missing - choice->bytes * (double)count);
    }
    search->pools[choice->pool].left = left;
    choice->count = 0;
    return done;
}

static void leaf(Search *search, double p, double missing) {
    for (int i = 0; i < search->offload_count; i++) search->offloads[i].count = 0;
    int64_t counts[ITEMS_MAX];
    Resources resources;
    counts_of(search, counts);
    branch_resources(search->branch, counts, &resources);
    double f = step_seconds(search->rule, &resources, search->rates);
    search->work += 8;
    if (f >= search->best * PROVEN) return;
    if (search->offload_count == 0) {
        price(search);
        return;
    }
    search->sums = 0;
    offload_sums(search, 0, f, p, missing);
}

static void decide(Search *search, int at, const double f[SIDES], double p, double missing);

/* Counts in one direction until the bound passes the best, and rises (it is convex). */
static void walk(Search *search, int at, int64_t from, int64_t step, const double f[SIDES], double p, double missing) {
    Choice *choice = &search->choices[at];
    Pool *pool = &search->pools[choice->pool];
    int64_t left = pool->left, most = min_whole(left, choice->most);
    double before = INFINITY;
    for (int64_t count = from; count >= 0 && count <= most && search->work < WORK_MAX; count += step) {
        double after_f[SIDES], after_p = p + choice->beside * (double)count, after_missing = missing - choice->bytes * (double)count;
        for (int side = 0; side < SIDES; side++) after_f[side] = f[side] + choice->seconds[side] * (double)count;
        choice->count = count;
        pool->left = left - count;
        double bound = bound_of(search, at + 1, after_f, after_p, after_missing);
        if (bound < search->best * PROVEN) decide(search, at + 1, after_f, after_p, after_missing);
        else if (bound >= before && !isinf(before)) break;
        before = bound;
        if (choice->free) break;
    }
    pool->left = left;
    choice->count = 0;
}

static void decide(Search *search, int at, const double f[SIDES], double p, double missing) {
    if (at == search->choice_count) {
        leaf(search, p, missing);
        return;
    }
    const Choice *choice = &search->choices[at];
    int64_t most = min_whole(choice->most, search->pools[choice->pool].left), start = min_whole(choice->start, most);
    if (choice->free) start = most;
    walk(search, at, start, 1, f, p, missing);
    if (!choice->free) walk(search, at, start - 1, -1, f, p, missing);
}

bool counts_search(const StepRule *rule, const Branch *branch, const Rates *rates, const Program *program, const Multipliers *multipliers,
                   double *seconds, int64_t counts[ITEMS_MAX], bool *found) {
    Search search = {.rule = rule, .branch = branch, .rates = rates, .best = *seconds, .counts = counts, .complete = true,
                     .one_row = program->memory_count <= 1};
    make_pools(&search);
    make_choices(&search, program, multipliers);
    if (search.regular < search.offload_count && !sum_table_make(&search.table)) search.table.bits = NULL; /* sums are searched then, not tabulated */
    decide(&search, 0, search.base_f, search.base_p, search.missing);
    sum_table_free(&search.table);
    *seconds = search.best;
    *found = *found || search.found;
    return search.complete && search.work < WORK_MAX;
}
