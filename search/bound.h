/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/bound.h: lower bounds that need no placement and no layout. They rest on the monotonicity of cost/step.h and
 * cost/sums.h. */
#ifndef SHARDOPT_SEARCH_BOUND_H
#define SHARDOPT_SEARCH_BOUND_H

#include "cost/sums.h"
#include "search/search.h"
#include "search/space.h"

/* The least cost of every collective by group degree on one mesh. Read only once made. */
typedef struct LeastRates LeastRates;
LeastRates *least_rates_new(const Mesh *mesh, Arena *arena); /* NULL: memory is out */
void least_rates_of(const LeastRates *table, const Degrees *degrees, const Methods *methods, Rates *out);

/* Component-wise least sums over the shardings with one choice of MLP, kept by what they depend on. One per thread. */
typedef struct LeastSums LeastSums;
LeastSums *least_sums_new(void); /* NULL: memory is out; free with least_sums_free */
void least_sums_free(LeastSums *cache);

typedef struct {
    double seconds;       /* no plan of the tuple takes less */
    PaddingSet forbidden; /* not 0: no plan of the tuple divides */
    bool unusable;        /* more stages than layers and the like */
    bool too_large;       /* state alone does not fit in HBM */
    double least_bytes;
} TupleBound;

/* Theorem (degree bound). For fixed degrees every input of the step is at least its value here: all sequences of a
 * replica in one microbatch (largest matmuls, fewest messages, weights gathered once and kept), least rates of each
 * group over all footprints, gradients in bf16 reduced in one pass, optimizer state over the replicas, the least bubble
 * of any schedule, collectives over tensor overlapped at no price, context parallelism without any communication, least
 * sums over shardings, for each expert grid, each way of the parameters over sequence and each split of the layers.
 * Hiding is bounded by one part in place of two: A + B >= max(C_A + C_B, busy_A + busy_B) on every axis. */
TupleBound tuple_bound(const Setting *setting, const Offers *offers, PaddingRule padding, const LeastRates *rates,
                       LeastSums *cache, const Degrees *degrees);

/* Theorem (way bound). The same for one of the methods, with what its context parallelism moves. */
double way_bound(const Setting *setting, const Offers *offers, PaddingRule padding, const Rates *least,
                 LeastSums *cache, const Degrees *degrees, const Methods *methods);

/* Theorem (family bound). Knob settings with the same microbatch, methods and split of layers: as the knob bound of any
 * of them, with the best of each other knob: the least bubble of their schedules, gathers once, ZeRO-1 without its
 * gather, overlap at no price. *least_bytes: ZeRO-2, weights gathered again, the optimizer on the host. `shard` is any
 * member's. */
double family_bound(const Setting *setting, const Offers *offers, const Shard *shard, const Knobs *member,
                    const Rates *least, LeastSums *cache, double *least_bytes);

/* Theorem (knob bound). The knobs' own rule at least sums and least rates, everything saved. *least_bytes: what the
 * plan holds at least in its worst moment, when every activation is given up. */
double knob_bound(const Setting *setting, const Shard *shard, const Knobs *knobs, const Rates *least, LeastSums *cache,
                  double *least_bytes);

/* Whether knobs with the optimizer's state on the host need not be looked at beside the same with it in HBM: these fit
 * under every sharding with every activation saved, so that their best layout is the fastest of all, and the update from
 * the host takes longer (where it does not, less memory would decide). A host that has room for a part of the state only
 * has the difference grow slower than the state: what holds at the most state holds at less. */
bool best_at_home(const Setting *setting, const Shard *shard, const Knobs *knobs, double step_seconds_least,
                  LeastSums *cache);

#endif
