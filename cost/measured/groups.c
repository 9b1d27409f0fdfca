/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/groups.h"

#include "base/util.h"
#include "cost/measured/labels.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Ranked *ranked;
    char source[RUN_LABEL_SIZE];
} Entry;

#define WHOLE(member)                                                                                                  \
    { offsetof(Run, member), false }
#define TEXT(member)                                                                                                   \
    { offsetof(Run, member), true }
typedef struct {
    size_t offset;
    bool text; /* text, or int64_t */
} Key;
static const Key GROUP[] = {
    TEXT(model),     WHOLE(layers),   WHOLE(d_model), WHOLE(d_ff),     WHOLE(heads),
    WHOLE(kv_heads), WHOLE(head_dim), WHOLE(vocab),   WHOLE(experts),  WHOLE(top_k),
    TEXT(hardware),  WHOLE(chips),    WHOLE(seq),     TEXT(precision), TEXT(version),
};
static const Key PLAN[] = {
    WHOLE(data),   TEXT(fsdp),    WHOLE(tensor), WHOLE(context),     WHOLE(pipeline),
    WHOLE(chunks), WHOLE(expert), TEXT(remat),   WHOLE(micro_batch), WHOLE(global_batch),
};
#undef WHOLE
#undef TEXT

static int compare(const Run *a, const Run *b, const Key *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const void *x = (const char *)a + keys[i].offset, *y = (const char *)b + keys[i].offset;
        int64_t p = 0, q = 0;
        int order = 0;
        if (keys[i].text) {
            order = strcmp(*(const char *const *)x, *(const char *const *)y);
        } else {
            memcpy(&p, x, sizeof p);
            memcpy(&q, y, sizeof q);
            order = (p > q) - (p < q);
        }
        if (order) return order;
    }
    return 0;
}

static int group_compare(const Entry *a, const Entry *b) {
    int order = strcmp(a->source, b->source);
    return order ? order : compare(a->ranked->run, b->ranked->run, GROUP, COUNT_OF(GROUP));
}

static int plan_compare(const Entry *a, const Entry *b) {
    const Run *x = a->ranked->run, *y = b->ranked->run;
    int order = compare(x, y, PLAN, COUNT_OF(PLAN));
    if (order) return order;
    return (x->sequence_parallel > y->sequence_parallel) - (x->sequence_parallel < y->sequence_parallel);
}

static int by_group_and_plan(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    int order = group_compare(x, y);
    if (!order) order = plan_compare(x, y);
    return order ? order
                 : (x->ranked->run->line > y->ranked->run->line) - (x->ranked->run->line < y->ranked->run->line);
}

static double tokens_of(const Run *run) { return (double)run->global_batch * (double)run->seq; }

/* Joins repeats among the sorted entries of one group. Returns how many plans there are. */
static int64_t join_repeats(const Entry *entries, int64_t count, MeasuredPlan *out) {
    int64_t n = 0;
    for (int64_t from = 0, to; from < count; from = to) {
        MeasuredPlan mean = {.first = entries[from].ranked, .too_large = true};
        for (to = from; to < count && plan_compare(&entries[from], &entries[to]) == 0; to++) {
            const Ranked *repeat = entries[to].ranked;
            mean.measured += repeat->measured_seconds / tokens_of(repeat->run);
            mean.predicted += repeat->predicted_seconds / tokens_of(repeat->run);
            mean.too_large = mean.too_large && repeat->too_large;
        }
        mean.measured /= (double)(to - from);
        mean.predicted /= (double)(to - from);
        out[n++] = mean;
    }
    return n;
}

bool groups_each(const Ranked *rows, int64_t count, const char *without, GroupVisit *visit, void *context,
                 Error *error) {
    Arena arena = {0};
    Entry *entries = ARENA_NEW(&arena, Entry, (size_t)count + 1);
    MeasuredPlan *group = ARENA_NEW(&arena, MeasuredPlan, (size_t)count + 1);
    int64_t n = 0;
    bool ok = (entries && group) || error_memory(error);
    for (int64_t i = 0; ok && i < count; i++) {
        if (!(tokens_of(rows[i].run) > 0)) continue;
        entries[n].ranked = &rows[i];
        run_source(rows[i].run, entries[n].source);
        n += !without || strcmp(entries[n].source, without) != 0;
    }
    if (ok) qsort(entries, (size_t)n, sizeof *entries, by_group_and_plan);
    for (int64_t from = 0, to; ok && from < n; from = to) {
        for (to = from + 1; to < n && group_compare(&entries[from], &entries[to]) == 0; to++) continue;
        int64_t plans = join_repeats(entries + from, to - from, group);
        ok = plans < 2 || visit(context, group, plans, error);
    }
    arena_free(&arena);
    return ok;
}
