/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/tuples.h: the space of a search laid out: its machines, and every degree tuple on each with every batch it may
 * have, bounded. Internal to search.c. */
#ifndef SHARDOPT_SEARCH_TUPLES_H
#define SHARDOPT_SEARCH_TUPLES_H

#include "search/explore.h"

/* One machine of the space. */
typedef struct {
    Machine machine;
    Mesh mesh; /* the profile's rates */
} Shape;

/* Machines of as many devices: the same degrees can be given to roles on each. */
typedef struct {
    int first, shape_count; /* Tuples.shapes */
    Degrees *degrees;
    int64_t count;
    LeastRates *least;
    Offers offers;
    PaddingRule padding; /* padding_on() */
} Site;

/* One degree tuple on the machines of one site with the batch asked for, or with a range of others that its replicas divide. */
typedef struct {
    double bound;        /* ranked */
    int64_t first, last; /* numbers of its batches: tuple_batch() */
    int32_t site, tuple; /* sites[site].degrees[tuple] */
} Entry;

/* What the entries leave out, and all that they are part of. */
typedef struct {
    Count plans, pruned[PRUNED_COUNT]; /* plans: pruned ones and those of the entries */
    double least_missing; /* bytes above the limit of the tuple that lacks least; INFINITY: none lacks any */
    Degrees missing_degrees;
    int batches; /* the most that one tuple may have */
} Coverage;

typedef struct {
    const Request *request;
    /* The machine asked for, then its idle shapes; in the arena, as what follows. */
    Shape *shapes;
    Wiring *wirings; /* of each shape */
    const PlacementTable **tables;
    const LeastRates **leasts;
    int shape_count;
    Site *sites;
    int site_count;
    Entry *entries; /* tuples in question, by rising bound; freed by tuples_free */
    int64_t entry_count;
    Coverage coverage;
} Tuples;

/* Bounds every tuple with one thread per cache. `out` wants tuples_free even after a failure: memory is out, or the
 * space is too large to list. */
bool tuples_make(const Request *request, ExploreCache *caches, int threads, Arena *arena, Tuples *out, Error *error);
void tuples_free(Tuples *tuples);

/* One site with one batch, as explore.h and the bounds want it; and one of its machines alone. */
ExploreProblem tuples_problem(const Tuples *tuples, int site, int64_t sequences);
ExploreProblem tuples_problem_of_shape(const Tuples *tuples, int shape, int64_t sequences);

/* Sequences of batch `number` of a tuple: 0 is the one asked for, the others rise. */
int64_t tuple_batch(const Tuples *tuples, const Entry *entry, int64_t number);

/* The bound of a part of an entry's batches. Theorem: per sequence nothing takes less with fewer of them (fewer per
 * replica: smaller matmuls, the same weights and updates), so that the largest batch bounds all. */
double entry_bound(const Tuples *tuples, const Entry *entry, LeastSums *cache);

/* Placements of an entry's degrees on all machines of its site. */
Count tuple_placements(const Tuples *tuples, const Entry *entry);

/* Orders of its roles that its plans are counted in. */
int64_t entry_orders(const Tuples *tuples, const Entry *entry);

/* How many plans (placements, knobs and, where all are asked for, orders of its roles) an entry stands for. */
Count entry_plans(const Tuples *tuples, const Entry *entry);

/* What bounds alone say of an entry. */
typedef struct {
    bool out;           /* no plan of it is in question */
    PruneReason reason; /* then */
    double missing;     /* PRUNED_MEMORY: bytes above the limit */
} Verdict;
/* Sets entry->bound where it is not out. */
Verdict entry_judge(const Tuples *tuples, Entry *entry, LeastSums *cache);

/* The parts that a degree tuple is judged in: the batch asked for, and all others together. Returns how many. */
int tuple_entries(const Tuples *tuples, int site, int64_t tuple, Entry out[2]);

#endif
