/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/totals_cache.h: the totals of a stage, component-wise least over its shardings, in a direct-mapped
 * cache.
 *
 * Theorem (docs/search.md, "Knob bound"). With each choice of the MLP the totals of any allowed sharding are,
 * component by component, at least those of the slot. Resources, rule and memory do not fall when a total rises, so
 * what is worked out from the slot bounds every sharding with that choice. */
#pragma once

#include "cost/stage/stage_totals.h"
#include "search/engine/space/knob_space.h"
#include "search/request/request.h"

/* A cache serves one context and one thread. */
typedef struct TotalsCache TotalsCache;
TotalsCache *totals_cache_new(void); /* NULL means that memory is out; free it with totals_cache_free */
int64_t totals_cache_bytes(void);    /* that one comes to when it is full */
void totals_cache_free(TotalsCache *cache);

/* Makes a cache serve a context from here on. What it holds is kept where the totals of a stage are the same in both:
 * they do not depend on links, on how much HBM there is or is kept free, nor on the batch. */
void totals_cache_begin(TotalsCache *cache, const CostContext *context);
bool totals_cache_knows(const TotalsCache *cache, const CostContext *context);

/* Everything that the bounds of one problem share. The cache belongs to the caller's thread. */
typedef struct {
    const CostContext *context;
    const KnobDomain *domain;
    PaddingRule padding;
    TotalsCache *cache;
    LauncherSet launchers; /* one of which must take a plan; 0 means that none has to */
    LauncherSet unable;    /* SpaceRules.unable: they take none */
    const Mesh *mesh;      /* that they are queried for; NULL where none has to take it */
} Bounds;

/* ---- for the bounds alone ---- */

/* The sizes and methods on which the totals of a stage depend. */
typedef struct {
    double tensor, expert, sequence, sequences, ulysses, grid_expert, grid_expert_tensor;
    int64_t context, mlp, along_sequence, overlap;
    int64_t gathers, gathers_experts; /* 1 means more than one way: weights are gathered */
} TotalsKey;

/* What every bound needs. */
typedef struct {
    TotalsKey key;
    bool allowed;        /* some sharding has this choice of the MLP */
    bool along_sequence; /* some of these shardings splits the residual stream along the sequence */
    StageTotals totals;  /* component-wise least */
    Resources required;  /* what a required remat policy adds in one layer and microbatch, without memory */
} TotalsSlot;

/* What few bounds ask for, those near the best. It is worked out apart. */
typedef struct {
    TotalsKey key;
    StageTotals most; /* component-wise largest, for what is sure to fit */
    bool replicated;  /* some sharding keeps the residual stream whole */
    ActivationCost
        cheapest[ACTIVATION_COUNT]; /* each cost the least, the bytes the most, over shardings that have it */
    double least_bytes[ACTIVATION_COUNT];
    ActivationCost whole[ACTIVATION_COUNT]; /* as offloadable_activations() takes them */
    double weights[4];                      /* parameters of the first sharding: dense, expert, embedding, logits */
} DetailSlot;

/* The slots of a choice of the MLP. They hold until the next call. */
const TotalsSlot *totals_cache_get(const Bounds *bounds, const Shard *shard, const Methods *methods, MlpChoice mlp);
const DetailSlot *totals_cache_details(const Bounds *bounds, const Shard *shard, const Methods *methods, MlpChoice mlp);

/* A sharding that holds no more memory than any sharding of the slot. */
Sharding totals_sharding(const TotalsSlot *slot);

/* Adds what a required remat policy takes in all the layers of a stage to which it applies. */
void totals_add_required(const CostContext *context, const Shard *shard, const TotalsSlot *slot, Resources *to);

/* The least bytes of activations of one microbatch that a stage keeps: 0 unless a required policy names some. */
double totals_kept_bytes(const CostContext *context, const Shard *shard, const StageTotals *totals);
