/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tuples one step from a known plan: a power of a prime goes from one role to another, or one role, and the stages
 * with it, take what another machine of the space has more or less. Good plans lie next to each other, so a walk of
 * such steps finds a plan near the best in a small part of the bounds that the whole space takes. */
#include "search/engine/explore/tuple_list.h"

#include "base/util.h"
#include "mesh/factorization.h"

#include <stdlib.h>

enum { NEAR_MOST = 512, SEEN_MOST = 4096 };

struct TuplesSeen {
    int count;
    struct {
        int group;
        Degrees degrees;
    } items[SEEN_MOST];
};

TuplesSeen *tuples_seen_new(void) { return calloc(1, sizeof(TuplesSeen)); }

void tuples_seen_free(TuplesSeen *seen) { free(seen); }

/* What one call lists. The groups that it touches share one array of degrees. */
typedef struct {
    TupleList *tuples;
    TuplesSeen *seen;
    Degrees *degrees;
    TotalsCache *cache;
    int32_t count;
    bool failed;
    Error *error;
} Near;

static bool note_seen(TuplesSeen *seen, int group, const Degrees *degrees) {
    for (int i = 0; i < seen->count; i++)
        if (seen->items[i].group == group && degrees_compare(&seen->items[i].degrees, degrees) == 0) return false;
    if (seen->count == SEEN_MOST) return false;
    seen->items[seen->count].group = group;
    seen->items[seen->count++].degrees = *degrees;
    return true;
}

/* Bounds one tuple with the batch requested; in question it becomes an entry. A machine is expanded for what may divide
 * alone. */
static void add_near(Near *near, int index, const Degrees *degrees) {
    TupleList *tuples = near->tuples;
    DeviceCountGroup *group = &tuples->groups[index];
    const Question *question = &tuples->request->question;
    PaddingSet forbidden;
    if (near->failed || near->count == NEAR_MOST || !request_admits(tuples->request, degrees) ||
        !degrees_may_divide(&question->model, &question->work, degrees, experts_may_fold(&group->domain, degrees),
                            group->padding, &forbidden) ||
        !note_seen(near->seen, index, degrees))
        return;
    if (!tuple_list_ready_group(tuples, index, near->error)) {
        near->failed = true;
        return;
    }
    TupleBatches entry = {.group = index, .tuple = near->count};
    near->degrees[near->count++] = *degrees;
    group->degrees = near->degrees;
    group->count = 0; /* the array is not its own */
    tuples->judged++;
    if (!tuple_batches_judge(tuples, &entry, near->cache).out) tuples->entries[tuples->entry_count++] = entry;
}

static bool takes_part(const TupleList *tuples, int role) { return tuples->request->space.roles >> role & 1; }

/* Each power of each prime of each role with each other role. */
static void add_exchanges(Near *near, int group, const Degrees *from) {
    for (int role = 0; role < ROLE_COUNT; role++) {
        PrimePower powers[PRIMES_MAX];
        int count = prime_powers(from->of[role], powers);
        for (int i = 0; i < count; i++)
            for (int to = 0; to < ROLE_COUNT; to++) {
                if (to == role || !takes_part(near->tuples, to)) continue;
                Degrees degrees = *from;
                for (int power = 0; power < powers[i].exponent; power++) {
                    degrees.of[role] /= powers[i].prime;
                    degrees.of[to] *= powers[i].prime;
                    add_near(near, group, &degrees);
                }
            }
    }
}

/* Each other machine of the space that a change of one role's degree alone fills. */
static void add_machines(Near *near, int group, const Degrees *from) {
    const TupleList *tuples = near->tuples;
    int64_t devices = tuples->shapes[tuples->groups[group].first].mesh.devices;
    for (int role = 0; role < ROLE_COUNT; role++) {
        int64_t rest = devices / from->of[role];
        for (int i = 0; i < tuples->group_count && takes_part(tuples, role); i++) {
            int64_t other = tuples->shapes[tuples->groups[i].first].mesh.devices;
            if (i == group || other % rest != 0) continue;
            Degrees degrees = *from;
            degrees.of[role] = other / rest;
            add_near(near, i, &degrees);
        }
    }
}

/* Each machine, filled by one role and other stages: what idles decides which stages a model has. */
static void add_stages(Near *near, int group, const Degrees *from) {
    const TupleList *tuples = near->tuples;
    int64_t devices = tuples->shapes[tuples->groups[group].first].mesh.devices;
    const int64_t layers = tuples->request->question.model.layers;
    for (int role = 0; role < ROLE_COUNT && takes_part(tuples, ROLE_PIPELINE); role++) {
        int64_t rest = devices / from->of[role] / from->of[ROLE_PIPELINE];
        if (role == ROLE_PIPELINE || from->of[role] == 1) continue;
        for (int i = 0; i < tuples->group_count && near->count < NEAR_MOST; i++) {
            int64_t other = tuples->shapes[tuples->groups[i].first].mesh.devices;
            if (other % rest != 0) continue;
            for (int64_t stages = 1; stages <= layers; stages++) {
                Degrees degrees = *from;
                if (other / rest % stages != 0) continue;
                degrees.of[ROLE_PIPELINE] = stages;
                degrees.of[role] = other / rest / stages;
                add_near(near, i, &degrees);
            }
        }
    }
}

bool tuple_list_near(TupleList *tuples, const TupleStart *from, ExploreCache *caches, TuplesSeen *seen, Error *error) {
    int group = 0;
    while (from->machine >= tuples->groups[group].first + tuples->groups[group].shape_count) group++;
    tuple_list_drop_share(tuples);
    TupleBatches *grown = realloc(tuples->entries, NEAR_MOST * sizeof(TupleBatches));
    if (!grown) return error_memory(error);
    tuples->entries = grown;
    if (!tuple_list_ready_group(tuples, group, error)) return false;
    Near near = {.tuples = tuples,
                 .seen = seen,
                 .degrees = ARENA_NEW(&tuples->groups[group].arena, Degrees, NEAR_MOST),
                 .cache = caches[0].sums,
                 .error = error};
    if (!near.degrees) return error_memory(error);
    if (from->itself) add_near(&near, group, &from->degrees);
    add_exchanges(&near, group, &from->degrees);
    add_machines(&near, group, &from->degrees);
    add_stages(&near, group, &from->degrees);
    if (tuples->budget) budget_add(tuples->budget, tuples->entry_count * (int64_t)sizeof(TupleBatches));
    return !near.failed;
}
