/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/time/step.h: the time of one step. It follows from what a stage uses (Resources and StepRule: degrees, knobs,
 * layout) and from what communication costs where the groups lie (Rates: placement). The
 * formula is the table of cost/time/step_terms.h; docs/model.md derives it under "Overlap and the step".
 *
 * Part B of a step is the backward of the last microbatch, alongside which gradients are reduced over `data`; part A is
 * the rest. The formula has only sums, products and maxima of terms that are not negative, except for ring attention,
 * whose attention time is the same for all plans of one degree tuple and context method. So smaller inputs never give a
 * longer step. The bounds rest on that (docs/search.md, "How the step time depends on its inputs"). */
#pragma once

#include "cost/plan/ops.h"
#include "mesh/collective.h"
#include "mesh/nesting.h"

/* The moments at which memory can peak. With one stage, FIRST and LAST are the same stage. */
typedef enum {
    MOMENT_FIRST_BACKWARD, /* first stage, most microbatches in flight, backward begins */
    MOMENT_LAST_LOGITS,    /* last stage: logits and their gradient exist */
    MOMENT_LAST_BACKWARD,  /* last stage, its first layer goes back */
    MOMENT_UPDATE,         /* backward is over: all gradients exist, one layer's activations */
    MOMENT_COUNT
} Moment;

/* A vector that adds up over the choices of a layout: seconds, messages and bytes of one microbatch on the fullest
 * stage, and memory in bytes. */
enum {
    RES_COMPUTE_FORWARD, /* seconds outside attention */
    RES_COMPUTE_BACKWARD,
    RES_ATTENTION_FORWARD, /* seconds in attention, behind which ring attention hides */
    RES_ATTENTION_BACKWARD,
    RES_OFFLOAD_BYTES, /* over PCIe, both ways added */
    RES_MESSAGES,      /* [group][phase], for groups below GROUP_DATA */
    RES_BYTES = RES_MESSAGES + GROUP_DATA * PHASE_COUNT,
    RES_MEMORY = RES_BYTES + GROUP_DATA * PHASE_COUNT, /* [moment] */
    RESOURCE_COUNT = RES_MEMORY + MOMENT_COUNT
};
typedef struct {
    double of[RESOURCE_COUNT];
} Resources;

/* Bytes at the moment that needs most of them. */
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

/* The part of the step that neither the layout nor the placement changes. */
typedef struct {
    double microbatches;
    /* Idle forward and backward passes of one microbatch on the stage that sets the pace, and the seconds of them that
     * weight gradients fill, counted from FLOPs alone so that they are no more than the gradients take (schedule.h). */
    double bubble[PHASE_COUNT], bubble_saved_seconds;
    double exposed[GROUP_COUNT];           /* x_g of a group that stays within the scale-up network */
    double exposed_scale_out[GROUP_COUNT]; /* x_g of one that leaves it: >= exposed */
    bool ring;                             /* the sequence group moves keys and values by ring attention */
    /* Once a step, over GROUP_DATA and GROUP_EXPERT_DATA: the parameter gather of ZeRO, and the gradient reduction. */
    Traffic data_start[DATA_GROUPS], data_end[DATA_GROUPS];
    double optimizer_seconds, other_seconds;
    double offload_bytes_per_second; /* both ways added; 0 means that nothing may be offloaded */
    double host_exposed;             /* x_h: the share of the time of offloading that nothing hides */
    double memory_limit_bytes;
} StepRule;

typedef struct {
    CollectiveCost cost[GROUP_COUNT];
    unsigned axes[GROUP_COUNT]; /* bit a: the group lies on axis a of the mesh */
    /* Bit g says that group g leaves the scale-up network where that matters; then exposed_scale_out holds. */
    unsigned leaves_scale_up;
    unsigned host_lane; /* bit a: traffic on axis a uses the lane of the chip's host link; 0 in lower bounds */
    int axis_count;
    bool is_lower_bound; /* the placement is still open, and so is leaves_scale_up */
} Rates;

/* The axes of the machine, with the rates of the profile, and how roles nest on them. */
typedef struct {
    const Mesh *mesh;
    Nesting nesting;
} NestedMesh;

/* The rates of a placement, with one collective per group: PERMUTE for rings and the pipeline, ALL_TO_ALL for expert
 * and ulysses, and passes of ALL_GATHER for the rest. */
void rates_of_placement(const NestedMesh *nested_mesh, const Placement *placement, const Methods *methods, Rates *out);

/* Works out Rates.leaves_scale_up from Rates.axes. */
unsigned rates_far(const Mesh *mesh, const Rates *rates);

/* Rates.host_lane of any placement on this mesh. */
unsigned rates_host_lane(const Mesh *mesh);

/* Where the chips of a group lie. */
Footprint group_footprint(const NestedMesh *nested_mesh, const Placement *placement, Group group,
                          const Methods *methods);

/* The rule with the exposed share of every group decided by these rates. step_seconds() of both is the same. */
StepRule rule_at(const StepRule *rule, const Rates *rates);

/* The collective by whose cost the traffic of a group is counted. */
Collective group_collective(Group group, ContextMethod context);

/* Component-wise least rates over all placements of these degrees. No axis is shared (rates_open). */
void rates_least(const Mesh *mesh, const Degrees *degrees, const Methods *methods, Rates *out);

/* Sets all of one group of lower-bound rates but its cost, and returns the chips of the group. It is open on which axes
 * the group lies, so each group gets an axis of its own and stays within the scale-up network. */
int64_t rates_open(const Degrees *degrees, const Methods *methods, Group group, Rates *out);

typedef struct {
    double seconds;
    double compute_seconds; /* C over the step, recomputation included */
    double exposed_seconds; /* communication that nothing hides, with waits for PCIe */
    double bubble_seconds, optimizer_seconds, other_seconds;
    double group_seconds[GROUP_COUNT]; /* whole communication over the step */
    /* the exposed share of that; the rest of exposed_seconds is unhidden_seconds */
    double group_exposed_seconds[GROUP_COUNT];
    double unhidden_seconds;  /* communication that could hide and found nothing to hide behind */
    double pcie_seconds;      /* the host link moves offloaded activations */
    double host_lane_seconds; /* the network uses the lane of the host link, where something is offloaded; else 0 */
    double axis_seconds[MESH_AXES_MAX]; /* busy time of each axis */
    double serial_seconds;              /* everything in series, an upper bound */
    /* the largest of compute, PCIe with what shares its lane, and each busy axis, with bubble, optimizer and other: a
     * lower bound */
    double lower_seconds;
} StepTime;

/* The length of the step alone: the same expressions as in step_time(), in the same order. */
double step_seconds(const StepRule *rule, const Resources *resources, const Rates *rates);
void step_time(const StepRule *rule, const Resources *resources, const Rates *rates, StepTime *out);
