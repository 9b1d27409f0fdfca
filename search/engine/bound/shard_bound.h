/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/shard_bound.h: bounds of a shard that leave most of its knobs open. The degree bound, the range bound
 * and the family bound are made of them. Internal to engine/bound.
 *
 * Theorem (docs/search.md, "Degree bound"). With the methods, the microbatch and the split of the layers given, no
 * knob setting has a smaller rule than least_time() and relax_rule() give: least bubble of any schedule, weights
 * gathered once, ZeRO-1 without its gather, overlap at no price, no optimizer state on the host. */
#pragma once

#include "cost/time/step.h"
#include "search/engine/bound/totals_cache.h"

/* At most this share of the seconds of a microbatch are weight gradients: they are a third of the FLOPs of the matmuls,
 * and no part of the rest. */
static const double WEIGHT_GRADIENTS_MOST = 1.0 / 3;

/* The seconds of all microbatches and of what moves once a step, with parts A and B taken as one, and those of the
 * passes alongside which stages idle. */
typedef struct {
    double main, passes;
} MergedTime;

/* The step with parts A and B taken as one ("Merged parts"), which holds for every number of chunks:
 * max(a, b) + max(c, d) >= max(a + c, b + d). Each group is alone on an axis, and idle time is `bubble_share` of all
 * passes. A reader of the table of terms. */
double merged_seconds(const StepRule *rule, const Resources *resources, const Rates *rates, double bubble_share);

/* The most chunks that a stage can have. */
double most_chunks(const CostContext *context, double stages);

/* One of these holds no more memory than any member of a family: the last ZeRO stage, which shards most, with the
 * optimizer on the host if it may be there; but where software casts the master, a replica without ZeRO needs no copy
 * for compute, nor one whose master stays whole in HBM. Returns how many they are. */
typedef struct {
    int zero_stage;
    bool offload_optimizer;
} LeastState;
enum { LEAST_STATES_MAX = 3 };
int least_states(const Bounds *bounds, int zero_stage, LeastState states[LEAST_STATES_MAX]);

/* The knobs of least time with the methods, microbatch and split of the layers of `member`. */
Knobs least_time(const Shard *shard, const Knobs *member);

/* The rule of such knobs, with the optimizer of the schedule that keeps two stages on a chip where that takes less. */
void least_rule(const CostContext *context, const Shard *shard, const Knobs *knobs, const StageTotals *totals,
                StepRule *rule);

/* Lowers a rule to the best choice of each knob but microbatches: the exposed share of every overlap on offer, and a
 * bubble of `share` of the passes of all other stages. */
void relax_rule(const Bounds *bounds, const Shard *shard, double share, StepRule *rule);

/* The least seconds of a shard, whatever its other knobs, but for idle time: by the choice of the MLP. */
enum { MLP_CHOICES = MLP_GATHERED + 1 };
typedef struct {
    bool allowed[MLP_CHOICES];
    MergedTime time[MLP_CHOICES];
    double optimizer_seconds[MLP_CHOICES], other_seconds[MLP_CHOICES];
} ShardTimes;
void shard_times(const Bounds *bounds, const Rates *least, const Shard *shard, const Knobs *member, ShardTimes *out);

/* Least seconds of a shard with at most `most` microbatches. INFINITY means that nothing is allowed. */
double shard_bound(const Bounds *bounds, const Shard *shard, const ShardTimes *times, double most);

/* The same with idle time alongside the passes of `small`, one microbatch of the same shard that has no more sequences
 * than any microbatch in question: a microbatch takes no less than a smaller one. */
double shard_bound_idle_beside(const Bounds *bounds, const Shard *small, const ShardTimes *times,
                               const ShardTimes *small_times, double most);

/* Least bytes of a shard, whatever its other knobs. */
double shard_bytes(const Bounds *bounds, const Shard *shard, const Knobs *member);

/* Least bytes in the worst moment of a plan that gives up every activation that it may give up. */
double least_memory(const CostContext *context, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                    const StageTotals *totals);

/* The sequences of one replica, rounded up. */
int64_t sequences_of_replica(const CostContext *context, const Degrees *degrees);

/* The knobs of methods and a split of the layers: one microbatch of `sequences`, everything else plain. */
Knobs knobs_of_methods(const Degrees *degrees, const Methods *methods, StageSplit split, int64_t sequences);
