/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sample of a space: tuples of the machines on which most degrees divide. */
#include "search/engine/explore/tuple_list.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>

/* So many machines at most; of each so many tuples in question, or so many that were bounded: few enough for a
 * hundredth of a second. */
enum { GROUPS = 4, ENTRIES = 12, JUDGED = 200 };

/* What is left of some devices when the batch, the heads, the experts and the sequence have taken what they can be
 * divided by. */
static int64_t left_undivided(const Question *question, int64_t devices) {
    const Model *model = &question->model;
    int64_t left = devices, experts = 1, heads = 1;
    for (int i = 0; i < model->kind_count; i++) {
        experts = max_whole(experts, model->kinds[i].experts);
        heads = max_whole(heads, kind_heads(model, &model->kinds[i]));
    }
    const int64_t divided[] = {question->work.sequences, heads, experts, question->work.seq};
    for (size_t i = 0; i < COUNT_OF(divided); i++) left /= common_divisor(left, divided[i]);
    return left;
}

/* Layers that the chips of a group have to compute at least, each as if all chips computed it together, where a
 * pipeline takes what nothing else divides by: its last stages may have fewer layers than the others. INFINITY where
 * no pipeline does. */
static double layers_beside(const TupleList *tuples, const DeviceCountGroup *group) {
    const Question *question = &tuples->request->question;
    int64_t layers = question->model.layers, devices = tuples->shapes[group->first].mesh.devices;
    double least = INFINITY;
    for (int64_t stages = 1; stages <= layers; stages++) {
        if (devices % stages != 0) continue;
        if (group->padding != PADDING_ANY && left_undivided(question, devices / stages) > 1) continue;
        least = min_real(least, (double)(divide_up(layers, stages) * stages) / (double)devices);
    }
    return least;
}

/* The groups that have least to compute; of equals the largest machines, which come first. Returns how many. */
static int choose_groups(const TupleList *tuples, int chosen[GROUPS]) {
    double least[GROUPS];
    int count = 0;
    for (int i = 0; i < tuples->group_count; i++) {
        double own = layers_beside(tuples, &tuples->groups[i]);
        int at = count;
        while (at > 0 && least[at - 1] > own) at--;
        if (at == GROUPS) continue;
        count = (int)min_whole(count + 1, GROUPS);
        for (int j = count - 1; j > at; j--) least[j] = least[j - 1], chosen[j] = chosen[j - 1];
        least[at] = own, chosen[at] = i;
    }
    return count;
}

/* Keeps of a group's listed tuples what is admitted and may divide with the batch requested. */
static void keep_dividing(const TupleList *tuples, DeviceCountGroup *group) {
    const Question *question = &tuples->request->question;
    int64_t kept = 0;
    for (int64_t i = 0; i < group->count; i++) {
        PaddingSet forbidden;
        const Degrees degrees = group->degrees[i];
        if (request_admits(tuples->request, &degrees) &&
            degrees_may_divide(&question->model, &question->work, &degrees, experts_may_fold(&group->domain, &degrees),
                               group->padding, &forbidden))
            group->degrees[kept++] = degrees;
    }
    group->count = kept;
}

/* Bounds tuples of a group with the batch requested, evenly far from each other, then those half way between them,
 * until enough are in question; these become entries. */
static void sample_group(TupleList *tuples, int index, TotalsCache *cache) {
    keep_dividing(tuples, &tuples->groups[index]);
    int64_t count = tuples->groups[index].count, first = 1, judged = 0, until = tuples->entry_count + ENTRIES;
    while (2 * ENTRIES * first < count) first *= 2;
    for (int64_t step = first; step > 0; step /= 2)
        for (int64_t i = 0; i < count && judged < JUDGED && tuples->entry_count < until; i += step) {
            TupleBatches entry = {.group = index, .tuple = (int32_t)i};
            if (step < first && i % (2 * step) == 0) continue;
            judged++;
            if (!tuple_batches_judge(tuples, &entry, cache).out) tuples->entries[tuples->entry_count++] = entry;
        }
    tuples->judged += judged;
}

bool tuple_list_sample(TupleList *tuples, ExploreCache *caches, double over, Error *error) {
    int chosen[GROUPS], count = choose_groups(tuples, chosen);
    tuple_list_drop_share(tuples);
    tuples->last = over;
    TupleBatches *grown = realloc(tuples->entries, GROUPS * ENTRIES * sizeof(TupleBatches));
    if (!grown) return error_memory(error);
    tuples->entries = grown;
    for (int i = 0; i < count; i++) {
        if (!tuple_list_open_group(tuples, chosen[i], error)) return false;
        sample_group(tuples, chosen[i], caches[0].sums);
    }
    if (tuples->budget) budget_add(tuples->budget, tuples->entry_count * (int64_t)sizeof(TupleBatches));
    return true;
}
