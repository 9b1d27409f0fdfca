/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/tuple_list.h: the space of a search as a list: its machines, and every degree tuple on each with
 * every batch it may have, bounded. What does not divide is never listed: all plans of a machine are counted in closed
 * form, and the plans that are not listed are the remainder. A space of many tuples is listed and searched in shares,
 * one part of the machines after the other, each against the best plans so far. docs/search.md, "The question and the
 * space". */
#pragma once

#include "search/engine/explore/explorer.h"
#include "search/engine/space/plan_count.h"

/* One machine of the space. */
typedef struct {
    Machine machine;
    Mesh mesh; /* with the profile's rates */
} MachineShape;

/* Machines with the same device count and the same allowed values: the same degrees can be given to roles on each, with
 * the same knobs. */
typedef struct {
    int first, shape_count;       /* of TupleList.shapes */
    int64_t tuples, batches;      /* degree tuples in all; the most batches of one tuple */
    bool counted;                 /* false until `plans` is known */
    Count plans;                  /* in all, on all of the machines */
    Degrees *degrees;             /* tuples that may divide, while the group is in the listed share */
    int64_t count;                /* of `degrees` */
    const LowerBoundRates *least; /* likewise; NULL before and after */
    Arena arena;                  /* what it has while it is listed: tables of its machines, rates, tuples */
    bool too_many;                /* tuples to list: none of its plans is looked at */
    KnobDomain domain;
    PaddingRule padding; /* padding_on() */
} DeviceCountGroup;

/* One degree tuple on the machines of one group with the batch requested, or with a range of others that its replicas
 * divide. */
typedef struct {
    double bound;         /* ranked */
    int64_t first, last;  /* numbers of its batches: tuple_batches_sequences() */
    int32_t group, tuple; /* groups[group].degrees[tuple] */
} TupleBatches;

/* What the entries of a share leave out, and all that they are part of. */
typedef struct {
    Count plans, pruned[PRUNED_COUNT]; /* plans: the pruned ones and those of the entries */
    Count entry_plans;                 /* those of the entries alone */
    Count skipped;                     /* those of groups with too many tuples: among the pruned, PRUNED_TIME_LIMIT */
    bool skips;                        /* there are such groups */
    double least_floor;   /* the least group_floor_seconds() of what was not reached in time; INFINITY where all was */
    double least_missing; /* bytes above the limit of the tuple that lacks least; INFINITY where none lacks any */
    Degrees missing_degrees;
    int64_t batches; /* the most that one tuple may have */
} Coverage;

/* What one thread has for itself. */
typedef struct {
    PlanCounter *counter;
} TupleListWorker;

typedef struct {
    const Request *request;
    /* The machine requested, then its idle shapes; in the arena, as what follows. */
    MachineShape *shapes;
    NestedMesh *nested_meshes; /* of each shape */
    const PlacementTable **tables;
    const LowerBoundRates **leasts;
    int shape_count;
    DeviceCountGroup *groups;
    int group_count;
    int listed_groups;     /* groups below this have been listed, in this share or before */
    TupleBatches *entries; /* of this share, tuples in question by rising bound; freed by tuple_list_free */
    int64_t entry_count;
    Coverage coverage; /* of this share */
    Budget *budget;    /* that what is listed is taken from */
    int64_t judged;    /* tuples that were bounded, in all shares and samples so far */
    int threads;
    TupleListWorker *workers;
    bool interrupted; /* a share was not listed to its end: the rest of it counts as not reached in time */
    double started;   /* what the clock read when the search began */
    double last;      /* when the clock reads this, nothing more is counted or listed; 0: no limit */
    bool late;        /* so it ended: what is not counted is in no count (group.counted) */
} TupleList;

/* Lists the machines alone. `out` wants tuple_list_free even after a failure. */
bool tuple_list_make(const Request *request, int threads, Arena *arena, TupleList *out, Error *error);
void tuple_list_free(TupleList *tuples);

/* Machines have tables and rates while the share that they are listed in has entries of theirs. This makes them for one
 * machine if it has none any more, so that its plans can be priced. */
bool tuple_list_restore(TupleList *tuples, int shape, Error *error);

/* Lists the next share in place of the one before: groups from listed_groups on, until there are many tuples, with one
 * cache for each thread. When the clock reads `until`, no further groups are begun after the first ones; from `over` on
 * tuples are no longer bounded, but counted as not reached in time, and a moment later not even counted; 0 means no
 * limit. Which groups make a share depends on nothing else but the clock. False means that memory is out, or that the
 * space is too large to list. */
bool tuple_list_next(TupleList *tuples, ExploreCache *caches, double until, double over, Error *error);

/* In place of a share: lists some of the tuples, with the batch requested, of the machines on which most divide.
 * Nothing is counted, and the next share begins as if this had not been. When the clock reads `over` no more are
 * listed. */
bool tuple_list_sample(TupleList *tuples, ExploreCache *caches, double over, Error *error);

/* A plan that is known: its degrees, and the number of its machine. */
typedef struct {
    Degrees degrees;
    int machine;
    bool itself; /* it was not looked at either: it is listed too */
} TupleStart;

/* The tuples that calls of tuple_list_near() have listed. NULL means that memory is out. */
typedef struct TuplesSeen TuplesSeen;
TuplesSeen *tuples_seen_new(void);
void tuples_seen_free(TuplesSeen *seen);

/* In place of a share: lists the tuples one step from a known plan which were not seen before, with the batch requested
 * for. Nothing is counted, as above. */
bool tuple_list_near(TupleList *tuples, const TupleStart *from, ExploreCache *caches, TuplesSeen *seen, Error *error);

/* Takes all groups that are left as not reached in time: counted, with their floors for bounds. A search that was
 * interrupted, or whose time was up a moment before (`over`, as above), does not wait for the count of their plans
 * (group.counted). */
bool tuple_list_leave(TupleList *tuples, double over, Error *error);

/* Lists all the degree tuples of one group, in place of what was listed before, and bounds none. */
bool tuple_list_whole_group(TupleList *tuples, int group, Error *error);

/* Ranked seconds that no plan on a group of machines goes below: what the model computes, at the chips' peak. */
double group_floor_seconds(const TupleList *tuples, int group);

/* One group with one batch, as explorer.h and the bounds want it; and one of its machines alone. */
ExploreProblem tuple_list_problem(const TupleList *tuples, int group, int64_t sequences);
ExploreProblem tuple_list_problem_of_shape(const TupleList *tuples, int shape, int64_t sequences);

/* ---- entries ---- */

/* Sequences of batch `number` of a tuple: 0 is the one requested, the others rise. */
int64_t tuple_batches_sequences(const TupleList *tuples, const TupleBatches *entry, int64_t number);

/* The bound of a part of an entry's batches. Theorem: per sequence nothing takes less with fewer of them (fewer per
 * replica: smaller matmuls, the same weights and updates), so that the largest batch bounds all. */
double tuple_batches_bound(const TupleList *tuples, const TupleBatches *entry, TotalsCache *cache);

/* Placements of an entry's degrees on all machines of its group. */
Count tuple_batches_placements(const TupleList *tuples, const TupleBatches *entry);

/* Orders of its roles that its plans are counted in. */
int64_t tuple_batches_orders(const TupleList *tuples, const TupleBatches *entry);

/* How many plans (placements, knobs and, where all are requested, orders of its roles) an entry stands for. */
Count tuple_batches_plans(const TupleList *tuples, const TupleBatches *entry);

/* What bounds alone say of an entry. */
typedef struct {
    bool out;           /* no plan of it is in question */
    PruneReason reason; /* why it is out, where it is */
    double missing;     /* PRUNED_MEMORY: bytes above the limit */
} TupleVerdict;
/* Sets entry->bound where it is not out. */
TupleVerdict tuple_batches_judge(const TupleList *tuples, TupleBatches *entry, TotalsCache *cache);

/* The parts that a degree tuple is judged in: the batch requested, and all others together. Returns how many. */
int tuple_batches_of(const TupleList *tuples, int group, int64_t tuple, TupleBatches out[2]);

/* What the files of the tuple list share; internal to them. */

/* Makes shapes and groups, in the arena (machines.c). */
bool tuple_list_make_groups(TupleList *tuples, Arena *arena, Error *error);

/* Bounds what groups from .. to - 1 have listed, one cache for each thread (tuple_bounds.c); `over` as in
 * tuple_list_next(). */
bool tuple_list_bound_groups(TupleList *tuples, int from, int to, ExploreCache *caches, double over, Error *error);

bool too_many_plans(Error *error);

/* Says how far the list is, if somebody listens and this is the thread that searches. */
void tuple_list_tell(const TupleList *tuples, SearchStage stage, int64_t done, int64_t all);

/* Forgets what is listed; memory of the share before is given back. */
void tuple_list_drop_share(TupleList *tuples);

/* Lists the tuples of one group that may divide, and makes the tables of its machines; counts nothing. */
bool tuple_list_open_group(TupleList *tuples, int group, Error *error);

/* Makes the tables and the rates of a group's machines where it has none, and lists nothing. */
bool tuple_list_ready_group(TupleList *tuples, int group, Error *error);
