/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/explore/tuple_list.h: the space of a search laid out: its machines, and every degree tuple on each with every batch it may
 * have, bounded. What does not divide is never listed: all plans of a machine are counted in closed form, and those that
 * are not listed are what is left of them. A space of many tuples is laid out and searched in shares, some sites after
 * the others, each against the best plans so far. Internal to search.c and the certificate. */
#ifndef SHARDOPT_SEARCH_EXPLORE_TUPLE_LIST_H
#define SHARDOPT_SEARCH_EXPLORE_TUPLE_LIST_H

#include "search/explore/explore.h"
#include "search/space/plan_count.h"

/* One machine of the space. */
typedef struct {
    Machine machine;
    Mesh mesh; /* the profile's rates */
} MachineShape;

/* Machines of as many devices: the same degrees can be given to roles on each. */
typedef struct {
    int first, shape_count;  /* Tuples.shapes */
    int64_t tuples, batches; /* degree tuples in all; the most batches of one */
    Count plans;             /* in all, on all of the machines */
    Degrees *degrees;        /* tuples that may divide, of the share that is laid out */
    int64_t count;
    const LowerBoundRates *least;
    Offers offers;
    PaddingRule padding; /* padding_on() */
} DeviceCountGroup;

/* One degree tuple on the machines of one site with the batch asked for, or with a range of others that its replicas divide. */
typedef struct {
    double bound;         /* ranked */
    int64_t first, last;  /* numbers of its batches: tuple_batches_sequences() */
    int32_t group, tuple; /* sites[site].degrees[tuple] */
} TupleBatches;

/* What the entries leave out, and all that they are part of. */
typedef struct {
    Count plans, pruned[PRUNED_COUNT]; /* plans: pruned ones and those of the entries */
    double least_floor;   /* the least group_floor_seconds() of what was not reached in time; INFINITY: all was */
    double least_missing; /* bytes above the limit of the tuple that lacks least; INFINITY: none lacks any */
    Degrees missing_degrees;
    int64_t batches; /* the most that one tuple may have */
} Coverage;

/* What one thread has for itself. */
typedef struct {
    PlanCounter *counter;
    Arena lasting, passing; /* until tuple_list_free; until the next share is laid out */
} TupleListWorker;

typedef struct {
    const Request *request;
    /* The machine asked for, then its idle shapes; in the arena, as what follows. */
    MachineShape *shapes;
    NestedMesh *nested_meshes; /* of each shape */
    const PlacementTable **tables;
    const LowerBoundRates **leasts;
    int shape_count;
    DeviceCountGroup *groups;
    int group_count;
    int listed_groups;     /* of them: sites below this were laid out */
    TupleBatches *entries; /* of this share, tuples in question by rising bound; freed by tuple_list_free */
    int64_t entry_count;
    Coverage coverage; /* of this share */
    int threads;
    TupleListWorker *workers;
    double seconds_preparing; /* what the sites so far took to be counted and listed */
} TupleList;

/* The machines alone. `out` wants tuple_list_free even after a failure. */
bool tuple_list_make(const Request *request, int threads, Arena *arena, TupleList *out, Error *error);
void tuple_list_free(TupleList *tuples);

/* Lays out the next share, in place of the one before: sites from `laid` on, until there are many tuples, with one cache
 * a thread. At clock_seconds() `until` no further sites are begun, but at least some; from `over` on tuples are no longer
 * bounded, but counted as not reached in time; 0: no limit. Which sites make a share depends on nothing else but the
 * clock. False: memory is out, or the space is too large to list. */
bool tuple_list_next(TupleList *tuples, ExploreCache *caches, double until, double over, Error *error);

/* All sites that are left, as not reached in time: counted, with their floors for bounds. */
bool tuple_list_leave(TupleList *tuples, Error *error);

/* About how long that takes, by the sites so far. */
double tuple_list_seconds_to_leave(const TupleList *tuples);

/* Lists all the degree tuples of one site, in place of what was laid out before, and bounds none. */
bool tuple_list_whole_group(TupleList *tuples, int group, Error *error);

/* Ranked seconds that no plan on a site goes below: what the model computes, at the chips' peak. */
double group_floor_seconds(const TupleList *tuples, int group);

/* One site with one batch, as explore.h and the bounds want it; and one of its machines alone. */
ExploreProblem tuple_list_problem(const TupleList *tuples, int group, int64_t sequences);
ExploreProblem tuple_list_problem_of_shape(const TupleList *tuples, int shape, int64_t sequences);

/* Sequences of batch `number` of a tuple: 0 is the one asked for, the others rise. */
int64_t tuple_batches_sequences(const TupleList *tuples, const TupleBatches *entry, int64_t number);

/* The bound of a part of an entry's batches. Theorem: per sequence nothing takes less with fewer of them (fewer per
 * replica: smaller matmuls, the same weights and updates), so that the largest batch bounds all. */
double tuple_batches_bound(const TupleList *tuples, const TupleBatches *entry, TotalsCache *cache);

/* Placements of an entry's degrees on all machines of its site. */
Count tuple_batches_placements(const TupleList *tuples, const TupleBatches *entry);

/* Orders of its roles that its plans are counted in. */
int64_t tuple_batches_orders(const TupleList *tuples, const TupleBatches *entry);

/* How many plans (placements, knobs and, where all are asked for, orders of its roles) an entry stands for. */
Count tuple_batches_plans(const TupleList *tuples, const TupleBatches *entry);

/* What bounds alone say of an entry. */
typedef struct {
    bool out;           /* no plan of it is in question */
    PruneReason reason; /* then */
    double missing;     /* PRUNED_MEMORY: bytes above the limit */
} TupleVerdict;
/* Sets entry->bound where it is not out. */
TupleVerdict tuple_batches_judge(const TupleList *tuples, TupleBatches *entry, TotalsCache *cache);

/* The parts that a degree tuple is judged in: the batch asked for, and all others together. Returns how many. */
int tuple_batches_of(const TupleList *tuples, int group, int64_t tuple, TupleBatches out[2]);

#endif
