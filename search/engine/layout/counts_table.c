/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bounded knapsack that has to be covered. The seconds of the table are one linear form below the step, so that its
 * least is a bound, and the counts that it finds are the best where the step itself is no longer. */
#include "search/engine/layout/decisions.h"

#include "base/util.h"
#include "cost/time/slack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS_MAX = 1 << 17 };

/* The layers of a pool, each freed in its cheapest way. */
typedef struct {
    Choice *cheapest;
    double seconds; /* of a layer */
    int64_t size, most;
} Freed;

typedef struct {
    Decisions of;
    Freed freed[ACTIVATION_COUNT];
    int freed_count;
    int64_t units; /* to be freed at least */
    double *least; /* [0 .. units]: the least seconds that free so many */
    double *before;
    uint16_t *taken; /* [pool][0 .. units]: layers of the pool in that */
    int64_t *queue;
} Table;

/* A choice of a pool: the cheapest so far stays. False: another state of the pool frees other bytes. */
static bool add_choice(Table *table, Choice *choice, double seconds, double bytes[ACTIVATION_COUNT]) {
    const Pool *pool = &table->of.pools[choice->pool];
    Freed *freed = &table->freed[choice->pool];
    int64_t layers = (int64_t)pool->layers * pool->member_count;
    if (!(choice->bytes > 0)) return true;
    if (choice->most != layers || layers > UINT16_MAX || fabs(choice->bytes - round(choice->bytes)) > 1e-6)
        return false;
    if (freed->cheapest && bytes[choice->pool] != round(choice->bytes)) return false;
    if (freed->cheapest && freed->seconds <= seconds) return true;
    *freed = (Freed){.cheapest = choice, .seconds = seconds, .most = layers};
    bytes[choice->pool] = round(choice->bytes);
    return true;
}

/* What each pool frees, in units of the common divisor of all their bytes. */
static bool list_freed(Table *table, double exposed) {
    double bytes[ACTIVATION_COUNT] = {0};
    Decisions *of = &table->of;
    int64_t unit = 0;
    for (int i = 0; i < of->choice_count; i++)
        if (!add_choice(table, &of->choices[i], of->choices[i].seconds[0], bytes)) return false;
    for (int i = 0; i < of->offload_count; i++)
        if (!add_choice(table, &of->offloads[i], exposed * of->offloads[i].seconds[0], bytes)) return false;
    for (int pool = 0; pool < of->pool_count; pool++)
        if (table->freed[pool].cheapest) unit = common_divisor(unit, (int64_t)bytes[pool]);
    if (unit == 0 || !(of->missing > 0) || of->missing / (double)unit > UNITS_MAX) return false;
    table->units = (int64_t)ceil(of->missing / (double)unit - 1e-9);
    for (int pool = 0; pool < of->pool_count; pool++) {
        if (!table->freed[pool].cheapest) continue;
        table->freed[table->freed_count] = table->freed[pool];
        table->freed[table->freed_count++].size = (int64_t)bytes[pool] / unit;
    }
    return true;
}

/* least[u] = min over k <= most of before[u - k size] + k seconds, where no units and fewer take nothing: for the units
 * of one remainder, with the candidates of the window in a queue that rises. */
static void add_remainder(Table *table, const Freed *freed, int64_t remainder, uint16_t *taken) {
    int64_t first = 0, last = 0;
    for (int64_t j = 0; remainder + j * freed->size <= table->units; j++) {
        int64_t u = remainder + j * freed->size;
        double here = table->before[u] - (double)j * freed->seconds;
        while (last > first) {
            int64_t at = table->queue[last - 1];
            if (table->before[remainder + at * freed->size] - (double)at * freed->seconds < here) break;
            last--;
        }
        table->queue[last++] = j;
        if (table->queue[first] < j - freed->most) first++;
        int64_t from = table->queue[first];
        table->least[u] = table->before[remainder + from * freed->size] + (double)(j - from) * freed->seconds;
        taken[u] = (uint16_t)(j - from);
        if (remainder > 0 && j + 1 <= freed->most && (double)(j + 1) * freed->seconds < table->least[u]) {
            table->least[u] = (double)(j + 1) * freed->seconds;
            taken[u] = (uint16_t)(j + 1);
        }
    }
}

static void fill(Table *table) {
    for (int64_t u = 0; u <= table->units; u++) table->least[u] = u == 0 ? 0 : INFINITY;
    for (int i = 0; i < table->freed_count; i++) {
        const Freed *freed = &table->freed[i];
        double *swap = table->before;
        table->before = table->least, table->least = swap;
        for (int64_t r = 0; r < freed->size && r <= table->units; r++)
            add_remainder(table, freed, r, table->taken + (size_t)i * (size_t)(table->units + 1));
    }
}

/* The counts behind the least seconds that free all that is missing. */
static void trace(Table *table) {
    int64_t u = table->units;
    for (int i = table->freed_count - 1; i >= 0; i--) {
        Choice *choice = table->freed[i].cheapest;
        choice->count = table->taken[(size_t)i * (size_t)(table->units + 1) + (size_t)u];
        u = u > choice->count * table->freed[i].size ? u - choice->count * table->freed[i].size : 0;
    }
}

/* Takes the counts that were found where they are better than the best. True: they are the best there are. */
static bool take_counts(const Table *table, const StepRule *rule, const Rates *rates, BranchSolution *best) {
    int64_t counts[ITEMS_MAX];
    Resources resources;
    decisions_counts(&table->of, counts);
    branch_resources(table->of.branch, counts, &resources);
    double bound = table->of.base_f[0] + table->least[table->units];
    if (resources_fit(&resources, rule->memory_limit_bytes)) {
        double seconds = step_seconds(rule, &resources, rates);
        if (seconds < best->seconds) {
            best->seconds = seconds;
            best->found = true;
            memcpy(best->counts, counts, sizeof counts);
        }
    }
    return best->seconds * COUNTS_PROVEN <= bound;
}

bool counts_table(const StepRule *rule, const Rates *rates, const RelaxedBranch *relaxed, BranchSolution *best) {
    Table table = {.freed_count = 0};
    decisions_make(rule, relaxed->branch, relaxed->program, relaxed->multipliers, &table.of);
    if (!table.of.one_row || !list_freed(&table, rule->host_exposed)) return false;
    size_t units = (size_t)table.units + 1;
    table.least = malloc(units * sizeof *table.least);
    table.before = malloc(units * sizeof *table.before);
    table.queue = malloc(units * sizeof *table.queue);
    table.taken = malloc(units * (size_t)table.freed_count * sizeof *table.taken);
    bool ok = table.least && table.before && table.queue && table.taken;
    if (ok) {
        fill(&table);
        ok = !isinf(table.least[table.units]);
    }
    if (ok) {
        trace(&table);
        ok = take_counts(&table, rule, rates, best);
    }
    free(table.least);
    free(table.before);
    free(table.queue);
    free(table.taken);
    return ok;
}
