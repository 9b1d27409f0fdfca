/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/bound/bound.h: lower bounds that need no placement and no layout. They rest on the monotonicity of cost/time/step.h and
 * cost/stage/stage_totals.h. */
#ifndef SHARDOPT_SEARCH_BOUND_BOUND_H
#define SHARDOPT_SEARCH_BOUND_BOUND_H

#include "cost/stage/stage_totals.h"
#include "search/layout/layout.h"
#include "search/space/knob_space.h"

/* The least cost of every collective by group degree on one mesh. Read only once made. */
typedef struct LowerBoundRates LowerBoundRates;
LowerBoundRates *lower_bound_rates_new(const Mesh *mesh, Arena *arena); /* NULL: memory is out */
LowerBoundRates *lower_bound_rates_copy(const LowerBoundRates *table, Arena *arena);
void lower_bound_rates_merge(LowerBoundRates *to,
                             const LowerBoundRates *from); /* the least of both meshes, which have as many devices */
void lower_bound_rates_of(const LowerBoundRates *table, const Degrees *degrees, const Methods *methods, Rates *out);

/* Raises the least rates of a folded grid's groups: its ranks take neighbours of what the pipeline leaves of each axis,
 * so that only the few ways to place the pipeline are to be looked at; the least over `count` machines. Nothing without a
 * grid. */
void lower_bound_rates_folded(const NestedMesh *nested_meshes, int count, const Degrees *degrees,
                              const Methods *methods, Rates *rates);

/* Component-wise least sums over the shardings with one choice of MLP, kept by what they depend on. One per thread. */
typedef struct TotalsCache TotalsCache;
TotalsCache *totals_cache_new(void); /* NULL: memory is out; free with totals_cache_free */
void totals_cache_free(TotalsCache *cache);

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
 * of any schedule, collectives over tensor overlapped at no price, least sums over shardings, for each expert grid, each
 * way of the parameters over sequence and each split of the layers. To that comes the exposed part of what the cheapest
 * context method moves: it is the same under every grid, and adds to what is exposed whatever else is hidden.
 * Hiding is bounded by one part in place of two: A + B >= max(C_A + C_B, busy_A + busy_B) on every axis. */
TupleBound tuple_bound(const CostContext *setting, const Offers *offers, PaddingRule padding,
                       const LowerBoundRates *rates, TotalsCache *cache, const Degrees *degrees);

/* Theorem (range bound). All knob settings with these methods and split of layers and with microbatches of low .. high
 * sequences, whatever context parallelism moves: as the degree bound. What one microbatch of b sequences takes, over b,
 * falls as b rises (larger matmuls, weights and messages shared), so that n / high microbatches of `high` sequences take
 * no more than any of the range; idle time is that of the most microbatches, n / low rounded up. *least_bytes: of one
 * microbatch of `low` sequences, whose gradient is not accumulated; 0 where the seconds are above `enough` already. INFINITY: nothing divides. */
double range_bound(const CostContext *setting, const Offers *offers, PaddingRule padding, const Rates *least,
                   TotalsCache *cache, const Degrees *degrees, const Methods *methods, StageSplit split, int64_t low,
                   int64_t high, double enough, double *least_bytes);

/* What no plan of some knob settings takes less of, for each choice of MLP that is allowed: a rule, resources, and what
 * freeing the memory takes that all saved activations would hold too much (layout.h, relaxation: the theorem of one
 * branch in layout_relax.c, at least sums and with what each activation costs least over the shardings). */
enum { BOUND_ROWS_MAX = 2 };
typedef struct {
    StepRule rule;
    Relaxation relaxation; /* one row */
    /* more than 1: stages may be of as many chunks, of which the last one's gradients alone come behind the rest. The
     * rule's data_end is that of one; all of them, with idle time of this share of all passes, bound the step too, its
     * parts A and B taken as one. */
    double chunks, idle_share;
} BoundRow;
typedef struct {
    int count;
    BoundRow row[BOUND_ROWS_MAX];
} BoundRows;

/* Theorem (family bound). Knob settings with the same microbatch, methods and split of layers: as the knob bound of any
 * of them, with the best of each other knob: the least bubble of their schedules, gathers once, ZeRO-1 without its
 * gather, overlap at no price. *least_bytes: ZeRO-2, weights gathered again, the optimizer on the host. `shard` is any
 * member's. What must be freed of its activations: with that least state, and as few microbatches in flight as under
 * 1F1B, which holds no more than any other schedule; more in flight ask for a larger share of each activation. Freeing is
 * looked at where the bound is not above `enough` without it. */
void family_rows(const CostContext *setting, const Offers *offers, const Shard *shard, const Knobs *member,
                 const Rates *least, double enough, TotalsCache *cache, BoundRows *out, double *least_bytes);

/* Theorem (knob bound). The knobs' own rule and memory at least sums. *least_bytes: what the plan holds at least in its
 * worst moment, when every activation is given up. */
void knob_rows(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Rates *least, double enough,
               TotalsCache *cache, BoundRows *out, double *least_bytes);

/* The least of the rows at rates not below those they were made with: it bounds all plans with these or larger ones: those of one placement
 * bound the plans on it, least rates all. INFINITY: no choice is allowed. */
double rows_seconds(const BoundRows *rows, const Rates *rates);
/* The same, or less where that is above `enough` already. */
double rows_seconds_until(const BoundRows *rows, const Rates *rates, double enough);

/* The same of both at once. */
double family_bound(const CostContext *setting, const Offers *offers, const Shard *shard, const Knobs *member,
                    const Rates *least, TotalsCache *cache, double *least_bytes);
double knob_bound(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Rates *least,
                  TotalsCache *cache, double *least_bytes);

/* Whether knobs with the optimizer's state on the host need not be looked at beside the same with it in HBM: these fit
 * under every sharding with every activation saved, so that their best layout is the fastest of all, and the update from
 * the host takes longer (where it does not, less memory would decide). A host that has room for a part of the state only
 * has the difference grow slower than the state: what holds at the most state holds at less. */
bool offload_never_pays(const CostContext *setting, const Shard *shard, const Knobs *knobs, double step_seconds_least,
                        TotalsCache *cache);

#endif
