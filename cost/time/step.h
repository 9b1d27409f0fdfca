/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/time/step.h: the time of one step from what a stage uses (resources: degrees, knobs, layout) and what
 * communication costs where it lies (rates: placement). The two meet only here.
 *
 * For one microbatch on the fullest stage, phase f(orward) and b(ackward):
 *   t_g     = collective_seconds(rates of g, its messages and bytes)
 *   crit    = sum over critical groups (tensor, expert, sequence, pipeline and their like) of x_g t_g
 *             x_g: exposed share, 1 in `ideal`
 *   C       = compute + attention
 * over the step, in two parts: B is the backward of the last microbatch, beside which gradients are reduced over
 * `data`; A is the rest:
 *   A = max(C_A, max over axes of sum of hidden seconds on the axis), B likewise;
 *       hidden = (1 - x_g) t_g, on all axes of the group
 *   main  = max(m (crit_f + crit_b) + exposed shares of background groups + A + B, PCIe time of offloaded activations)
 *   bubble = bubble_f (C_f + crit_f) + bubble_b (C_b + crit_b) - bubble_saved
 *   step  = main + bubble + optimizer + other
 * x_g is exposed_scale_out where a group leaves the scale-up network (Rates.leaves_scale_up), else exposed. Only sums, products and
 * maxima of non-negative terms (but for ring attention, whose attention time is the same for all plans of one degree
 * tuple and context method), so smaller inputs never give a larger step: what bounds rest on (search.md, theorem 1). */
#ifndef SHARDOPT_COST_TIME_STEP_H
#define SHARDOPT_COST_TIME_STEP_H

#include "cost/plan/ops.h"
#include "mesh/collective.h"
#include "mesh/nesting.h"

/* Moments that can peak. With one stage FIRST and LAST are the same stage. */
typedef enum {
    MOMENT_FIRST_BACKWARD, /* first stage, most microbatches in flight, backward begins */
    MOMENT_LAST_LOGITS,    /* last stage: logits and their gradient exist */
    MOMENT_LAST_BACKWARD,  /* last stage, its first layer goes back */
    MOMENT_UPDATE,         /* backward is over: all gradients exist, one layer's activations */
    MOMENT_COUNT
} Moment;

/* A vector that adds up over choices: seconds, traffic and bytes of one microbatch on the fullest stage; memory in
 * bytes. */
enum {
    RES_COMPUTE_FORWARD, /* seconds outside attention */
    RES_COMPUTE_BACKWARD,
    RES_ATTENTION_FORWARD, /* seconds in attention: what ring attention hides behind */
    RES_ATTENTION_BACKWARD,
    RES_OFFLOAD_BYTES, /* over PCIe, out and back added */
    RES_MESSAGES,      /* [group][phase], for groups below GROUP_DATA */
    RES_BYTES = RES_MESSAGES + GROUP_DATA * PHASE_COUNT,
    RES_MEMORY = RES_BYTES + GROUP_DATA * PHASE_COUNT, /* [moment] */
    RESOURCE_COUNT = RES_MEMORY + MOMENT_COUNT
};
typedef struct {
    double of[RESOURCE_COUNT];
} Resources;

/* Bytes at the moment that has most. */
static inline double resources_peak(const Resources *resources) {
    double peak = resources->of[RES_MEMORY];
    for (int moment = 1; moment < MOMENT_COUNT; moment++)
        if (resources->of[RES_MEMORY + moment] > peak) peak = resources->of[RES_MEMORY + moment];
    return peak;
}

static inline int res_messages(Group group, Phase phase) {
    return RES_MESSAGES + (int)group * PHASE_COUNT + (int)phase;
}
static inline int res_bytes(Group group, Phase phase) { return RES_BYTES + (int)group * PHASE_COUNT + (int)phase; }

/* What neither layout nor placement changes. */
typedef struct {
    double microbatches;
    /* idle forwards and backwards of one microbatch on the stage that sets the pace; and what weight gradients fill of
     * them, from FLOPs alone so that it is no more than they take: see cost/time/schedule.h */
    double bubble[PHASE_COUNT], bubble_saved_seconds;
    double exposed[GROUP_COUNT];           /* x_g of a group that stays within the scale-up network */
    double exposed_scale_out[GROUP_COUNT]; /* x_g of one that leaves it: >= exposed */
    bool ring;                             /* sequence by ring attention: exposed = max(x t, t - (1 - x) attention) */
    /* per step over GROUP_DATA and GROUP_EXPERT_DATA: parameter gather of ZeRO; gradient reduction */
    Traffic data_start[DATA_GROUPS], data_end[DATA_GROUPS];
    double optimizer_seconds, other_seconds;
    double offload_bytes_per_second; /* that the step has room for, out and back added; 0: nothing may be offloaded */
    double memory_limit_bytes;
} StepRule;

typedef struct {
    CollectiveCost cost[GROUP_COUNT];
    unsigned axes[GROUP_COUNT]; /* bit a: the group lies on axis a of the mesh */
    unsigned
        leaves_scale_up; /* bit g: group g leaves the scale-up network where that matters: x_g is exposed_scale_out */
    int axis_count;
    bool is_lower_bound; /* least rates: the placement is not settled, and so `far` is not */
} Rates;

/* The machine's axes (with the profile's rates), and how roles nest on them. */
typedef struct {
    const Mesh *mesh;
    Nesting nesting;
} NestedMesh;

/* Rates of a placement: one collective per group (sequence by its context method: rings PERMUTE, else ALL_GATHER;
 * expert and ulysses ALL_TO_ALL; pipeline PERMUTE; the rest ALL_GATHER passes). */
void rates_of_placement(const NestedMesh *nested_mesh, const Placement *placement, const Methods *methods, Rates *out);

/* Rates.leaves_scale_up by what Rates.axes says. */
unsigned rates_far(const Mesh *mesh, const Rates *rates);

/* Where the chips of a group stand. */
Footprint group_footprint(const NestedMesh *nested_mesh, const Placement *placement, Group group,
                          const Methods *methods);

/* The rule as it is for these rates: each x_g decided. step_seconds of both is the same. */
StepRule rule_at(const StepRule *rule, const Rates *rates);

/* The collective whose cost a group's traffic is counted in. */
Collective group_collective(Group group, ContextMethod context);

/* Component-wise least rates over all placements of these degrees: no axis is shared, so `axes` is empty but for bit 0
 * of each background group. */
void rates_least(const Mesh *mesh, const Degrees *degrees, const Methods *methods, Rates *out);

/* All but the cost of one group of least rates; returns the chips of the group. Which axes it takes is open, so no two
 * groups may be assumed to share one: each gets an axis of its own; and each may stay inside the scale-up network. */
int64_t rates_open(const Degrees *degrees, const Methods *methods, Group group, Rates *out);

typedef struct {
    double seconds;
    double compute_seconds; /* C over the step, recomputation included */
    double exposed_seconds; /* communication that is not hidden, PCIe waits included */
    double bubble_seconds, optimizer_seconds, other_seconds;
    double group_seconds[GROUP_COUNT]; /* whole communication over the step */
    /* its certain share (x_g); what is left of exposed_seconds is `unhidden_seconds` */
    double group_exposed_seconds[GROUP_COUNT];
    double unhidden_seconds; /* background communication that found nothing to hide behind */
    double pcie_seconds;
    double axis_seconds[MESH_AXES_MAX]; /* busy time of each axis */
    double serial_seconds;              /* everything in series: upper */
    /* largest of compute and each axis's busy time, + bubble + optimizer + other */
    double lower_seconds;
} StepTime;

/* The step, and only its length: the same expressions in the same order. */
double step_seconds(const StepRule *rule, const Resources *resources, const Rates *rates);
void step_time(const StepRule *rule, const Resources *resources, const Rates *rates, StepTime *out);

#endif
