/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/layout/decisions.h"

#include "base/util.h"
#include "cost/time/slack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The weight of a row in a side; `sum`: of all rows' multipliers and the column's own. */
static double share_of_row(const Multipliers *multipliers, int side, int row, bool last, double sum) {
    if (side == 0 && sum > 0) return multipliers->rows[row] / sum;
    return side == 1 && last ? 1 : 0;
}

/* A maximum is not below any weighted mean of its forms (its column is not negative: weights may sum to less): replaces
 * the columns of maxima by such means, so that the items are left. */
static LinearForm without_maxima(const Program *program, LinearForm form, const Multipliers *multipliers, int side) {
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

static LinearForm memory_mean(const Program *program, const double weights[MOMENT_COUNT]) {
    LinearForm form = {0};
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

static void make_pools(Decisions *decisions) {
    const Branch *branch = decisions->branch;
    for (int i = 0; i < branch->item_count;) {
        int items[STRATEGIES_MAX - 1], count = 0, pool = 0;
        double layers = 0;
        for (int first = i; i < branch->item_count && branch->items[i].activation == branch->items[first].activation;
             i++) {
            items[count++] = i;
            layers = max_real(layers, branch->items[i].layers);
        }
        while (pool < decisions->pool_count && !(decisions->pools[pool].item_count == count &&
                                                 alike(branch, decisions->pools[pool].members[0], items, count)))
            pool++;
        Pool *to = &decisions->pools[pool];
        if (pool == decisions->pool_count) *to = (Pool){.item_count = count, .layers = layers}, decisions->pool_count++;
        memcpy(to->members[to->member_count++], items, sizeof(items));
        to->left += (int64_t)layers;
    }
}

/* The greatest common divisor of bytes that are whole multiples of something sizeable; else 0. */
static double common_measure(double a, double b) {
    double least = 1e-5 * min_real(a, b);
    while (b > least) {
        double rest = fmod(a, b);
        a = b, b = rest;
    }
    return b == 0 ? a : 0;
}

/* The divisor of the offloads that have one in common with offload `with`; `members`: which. */
static double divisor_with(const Decisions *decisions, int with, bool members[ITEMS_MAX], int *count) {
    double divisor = decisions->offloads[with].bytes;
    *count = 0;
    for (int i = 0; i < decisions->offload_count; i++) {
        double bytes = decisions->offloads[i].bytes,
               common = bytes > 0 && divisor > 0 ? common_measure(divisor, bytes) : 0;
        members[i] = common > 0 && (decisions->missing + bytes) / common < SUMS_LIMIT;
        if (!members[i]) continue;
        divisor = common;
        ++*count;
    }
    return *count > 0 ? divisor : 0;
}

/* Offloads whose bytes fit no divisor first, then the others; the larger before the smaller. */
static void sort_offloads(Decisions *decisions) {
    bool members[ITEMS_MAX], best[ITEMS_MAX] = {false};
    int most = 0, count;
    for (int with = 0; with < decisions->offload_count; with++) {
        double divisor = divisor_with(decisions, with, members, &count);
        if (count <= most) continue;
        most = count;
        decisions->divisor = divisor;
        memcpy(best, members, sizeof(best));
    }
    decisions->regular = decisions->offload_count - most;
    for (int i = 1; i < decisions->offload_count; i++)
        for (int j = i; j > 0; j--) {
            Choice *a = &decisions->offloads[j - 1], *b = &decisions->offloads[j], swap = *a;
            if (best[j - 1] == best[j] ? a->bytes >= b->bytes : !best[j - 1]) break;
            bool flag = best[j - 1];
            *a = *b, *b = swap;
            best[j - 1] = best[j], best[j] = flag;
        }
}

static void sort_choices(Decisions *decisions) {
    sort_offloads(decisions);
    /* The finest last: the largest bytes first fix the coarse sum. */
    for (int i = 1; i < decisions->choice_count; i++)
        for (int j = i; j > 0 && decisions->choices[j].bytes > decisions->choices[j - 1].bytes; j--) {
            Choice swap = decisions->choices[j];
            decisions->choices[j] = decisions->choices[j - 1], decisions->choices[j - 1] = swap;
        }
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < decisions->choice_count; i++) {
            int at = i, *order = decisions->by_price[side];
            const Choice *choice = &decisions->choices[i];
            for (; at > 0; at--) {
                const Choice *before = &decisions->choices[order[at - 1]];
                if (before->seconds[side] * choice->bytes <= choice->seconds[side] * before->bytes) break;
                order[at] = order[at - 1];
            }
            order[at] = i;
        }
}

/* Whether the item stands in no form of the step and frees as much as any other state of its pool. */
static bool is_free(const Decisions *decisions, const Program *program, int pool, int at) {
    const Pool *of = &decisions->pools[pool];
    int item = of->members[0][at];
    if (program->main.of[item] != 0 || program->tail.of[item] != 0 || program->host.of[item] != 0) return false;
    for (int r = 0; r < program->row_count; r++)
        if (program->rows[r].of[item] != 0) return false;
    if (decisions->branch->items[item].layers < of->layers) return false;
    for (int i = 0; i < program->memory_count; i++)
        for (int other = 0; other < of->item_count; other++)
            if (program->memory[i].of[item] > min_real(0, program->memory[i].of[of->members[0][other]])) return false;
    return true;
}

static void make_choices(Decisions *decisions, const StepRule *rule, const Program *program,
                         const Multipliers *multipliers) {
    LinearForm f[SIDES], tail[SIDES], p = without_maxima(program, program->host, multipliers, 0),
                                      memory = memory_mean(program, multipliers->memory);
    for (int side = 0; side < SIDES; side++) {
        f[side] = without_maxima(program, program->main, multipliers, side);
        tail[side] = without_maxima(program, program->tail, multipliers, side);
        decisions->base_f[side] = f[side].constant + tail[side].constant;
    }
    decisions->base_p = p.constant + tail[0].constant;
    decisions->missing = memory.constant;
    decisions->offload_price = INFINITY;
    for (int pool = 0; pool < decisions->pool_count; pool++)
        for (int at = 0; at < decisions->pools[pool].item_count; at++) {
            const Pool *of = &decisions->pools[pool];
            int item = of->members[0][at];
            double start = 0;
            for (int m = 0; m < of->member_count; m++) start += multipliers->counts[of->members[m][at]];
            Choice choice = {.pool = pool,
                             .at = at,
                             .bytes = max_real(0, -memory.of[item]),
                             .not_offloaded = max_real(0, p.of[item] + tail[0].of[item]),
                             .free = is_free(decisions, program, pool, at)};
            choice.most = (int64_t)decisions->branch->items[item].layers * of->member_count;
            choice.start = min_whole(choice.most, (int64_t)floor(max_real(0, start) + 0.5));
            double beyond = 0, exposed = rule->host_exposed * program->host.of[item]; /* in F, of what is offloaded */
            for (int side = 0; side < SIDES; side++) {
                choice.seconds[side] = max_real(0, f[side].of[item] + tail[side].of[item]);
                beyond = max_real(beyond, choice.seconds[side] - exposed);
            }
            if (!(p.of[item] > 0 && beyond <= FORM_TOLERANCE * exposed)) {
                decisions->choices[decisions->choice_count++] = choice;
                continue;
            }
            choice.seconds[0] = p.of[item];
            if (choice.bytes > 0)
                decisions->offload_price = min_real(decisions->offload_price, choice.seconds[0] / choice.bytes);
            decisions->offloads[decisions->offload_count++] = choice;
        }
    if (isinf(decisions->offload_price)) decisions->offload_price = 0;
    decisions->one_price = true;
    for (int i = 0; i < decisions->offload_count; i++)
        decisions->one_price =
            decisions->one_price &&
            decisions->offloads[i].seconds[0] <= decisions->offload_price * decisions->offloads[i].bytes * (1 + 1e-12);
    sort_choices(decisions);
}

void decisions_make(const StepRule *rule, const Branch *branch, const Program *program, const Multipliers *multipliers,
                    Decisions *out) {
    memset(out, 0, sizeof(*out));
    out->branch = branch;
    out->one_row = program->memory_count <= 1;
    make_pools(out);
    make_choices(out, rule, program, multipliers);
}

void decisions_counts(const Decisions *decisions, int64_t counts[ITEMS_MAX]) {
    int64_t wanted[ACTIVATION_COUNT][STRATEGIES_MAX - 1] = {{0}};
    memset(counts, 0, sizeof(int64_t) * ITEMS_MAX);
    for (int i = 0; i < decisions->choice_count; i++)
        wanted[decisions->choices[i].pool][decisions->choices[i].at] = decisions->choices[i].count;
    for (int i = 0; i < decisions->offload_count; i++)
        wanted[decisions->offloads[i].pool][decisions->offloads[i].at] = decisions->offloads[i].count;
    for (int p = 0; p < decisions->pool_count; p++) {
        const Pool *pool = &decisions->pools[p];
        for (int m = 0; m < pool->member_count; m++) {
            int64_t left = (int64_t)pool->layers;
            for (int at = 0; at < pool->item_count; at++) {
                int item = pool->members[m][at];
                int64_t layers = (int64_t)decisions->branch->items[item].layers;
                int64_t take = min_whole(left, min_whole(wanted[p][at], layers));
                counts[item] = take;
                left -= take;
                wanted[p][at] -= take;
            }
        }
    }
}

enum { ROW_WORDS = SUMS_LIMIT / 64 + 1 };

bool sum_table_make(SumTable *table) {
    table->bits = malloc(sizeof(uint64_t) * ROW_WORDS * (ITEMS_MAX + 1));
    return table->bits != NULL;
}

void sum_table_free(SumTable *table) {
    free(table->bits);
    table->bits = NULL;
}

static bool has(const uint64_t *row, int64_t sum) { return row[sum / 64] >> (sum % 64) & 1; }

/* row |= row << by, from the top so that no sum is used twice. */
static void shift_or(uint64_t *row, int64_t words, int64_t by) {
    int64_t whole = by / 64, part = by % 64;
    for (int64_t i = words - 1; i >= whole; i--) {
        uint64_t moved = row[i - whole] << part;
        if (part > 0 && i > whole) moved |= row[i - whole - 1] >> (64 - part);
        row[i] |= moved;
    }
}

int64_t least_sum(SumTable *table, const BoundedSizes *of, int64_t low, int64_t high, int64_t *counts) {
    const int64_t *sizes = of->sizes, *most = of->most;
    int count = of->count;
    int64_t words = high / 64 + 1;
    memset(table->bits, 0, sizeof(uint64_t) * (size_t)words);
    table->bits[0] = 1;
    for (int i = 0; i < count; i++) {
        uint64_t *row = table->bits + (int64_t)(i + 1) * ROW_WORDS;
        memcpy(row, row - ROW_WORDS, sizeof(uint64_t) * (size_t)words);
        int64_t left = min_whole(most[i], high / sizes[i]);
        for (int64_t chunk = 1; left > 0; left -= chunk, chunk = min_whole(2 * chunk, left))
            shift_or(row, words, sizes[i] * chunk);
    }
    const uint64_t *last = table->bits + (int64_t)count * ROW_WORDS;
    int64_t sum = low;
    while (sum <= high && !has(last, sum)) sum++;
    if (sum > high) return -1;
    int64_t rest = sum;
    for (int i = count - 1; i >= 0; i--) {
        const uint64_t *row = table->bits + (int64_t)i * ROW_WORDS;
        counts[i] = 0;
        while (!has(row, rest)) rest -= sizes[i], counts[i]++;
    }
    return sum;
}
