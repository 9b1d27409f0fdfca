/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sample of a large space: tuples of the machines on which most degrees divide. */
#include "search/explore/tuple_list_parts.h"

#include "base/util.h"

#include <stdlib.h>

/* Few enough to be bounded in some hundredths of a second. */
enum { GROUPS = 4, TUPLES = 3000 };

/* What is left of the devices when the batch, the heads, the experts and the sequence have taken what they can be
 * divided by: only a pipeline may take that. Where all may be padded, or other batches may do, nothing is left. */
static int64_t left_to_stages(const TupleList *tuples, const DeviceCountGroup *group) {
    const Question *question = &tuples->request->question;
    const Model *model = &question->model;
    int64_t left = tuples->shapes[group->first].mesh.devices, experts = 1, heads = 1;
    if (group->padding == PADDING_ANY) return 1;
    for (int i = 0; i < model->kind_count; i++) {
        experts = max_whole(experts, model->kinds[i].experts);
        heads = max_whole(heads, model->kinds[i].heads);
    }
    const int64_t divided[] = {question->work.sequences, heads, experts, question->work.seq};
    for (size_t i = 0; i < COUNT_OF(divided); i++) left /= common_divisor(left, divided[i]);
    return left;
}

/* The groups that leave least to stages; of equals the largest machines, which come first. Returns how many. */
static int choose_groups(const TupleList *tuples, int chosen[GROUPS]) {
    int64_t left[GROUPS];
    int count = 0;
    for (int i = 0; i < tuples->group_count; i++) {
        int64_t own = left_to_stages(tuples, &tuples->groups[i]);
        int at = count;
        while (at > 0 && left[at - 1] > own) at--;
        if (at == GROUPS) continue;
        count = (int)min_whole(count + 1, GROUPS);
        for (int j = count - 1; j > at; j--) left[j] = left[j - 1], chosen[j] = chosen[j - 1];
        left[at] = own, chosen[at] = i;
    }
    return count;
}

/* Bounds every so many of a group's tuples with the batch asked for; those in question become entries. */
static void sample_group(TupleList *tuples, int index, int64_t most, TotalsCache *cache) {
    int64_t count = tuples->groups[index].count, step = max_whole(1, divide_up(count, most));
    for (int64_t i = 0; i < count; i += step) {
        TupleBatches entry = {.group = index, .tuple = (int32_t)i};
        if (!tuple_batches_judge(tuples, &entry, cache).out) tuples->entries[tuples->entry_count++] = entry;
    }
}

bool tuple_list_sample(TupleList *tuples, ExploreCache *caches, double over, Error *error) {
    int chosen[GROUPS], count = choose_groups(tuples, chosen);
    tuple_list_drop_share(tuples);
    tuples->last = over;
    TupleBatches *grown = realloc(tuples->entries, TUPLES * sizeof(TupleBatches));
    if (!grown) return error_memory(error);
    tuples->entries = grown;
    for (int i = 0; i < count; i++) {
        if (!tuple_list_open_group(tuples, chosen[i], error)) return false;
        sample_group(tuples, chosen[i], TUPLES / count, caches[0].sums);
    }
    if (tuples->budget) budget_add(tuples->budget, tuples->entry_count * (int64_t)sizeof(TupleBatches));
    return true;
}
