/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/replay.h: a measured run priced by the cost model that plans: model, machine, software and plan of the
 * row, in the source's own convention of FLOPs and of what a step is. */
#ifndef SHARDOPT_COST_MEASURED_REPLAY_H
#define SHARDOPT_COST_MEASURED_REPLAY_H

#include "cost/estimate.h"
#include "cost/state/optimizer.h"
#include "cost/profile/profile_set.h"
#include "mesh/chip_json.h"
#include "models/config/model_json.h"
#include "cost/measured/networks.h"
#include "cost/measured/run.h"

enum { REPLAY_REASON_SIZE = 200 };

/* What a source's figure of memory counts: live tensors, what the allocator has taken for them, or all that the
 * device's own tool shows. */
typedef enum { MEMORY_SHOWN_ALLOCATED, MEMORY_SHOWN_RESERVED, MEMORY_SHOWN_DEVICE } MemoryShown;

/* Everything of a run that does not depend on the figures of profiles. */
typedef struct {
    const Run *run;
    char skipped[REPLAY_REASON_SIZE]; /* why it cannot be replayed; "": it can */
    Model model;
    Chip chip;
    Mesh mesh;
    int64_t slices; /* tori */
    Nesting nesting;
    Plan plan; /* devices: chip_devices times chips */
    Work work;
    Precision precision;
    TrainingState state;
    RematRule remat;
    bool half_gate_up;   /* made again in half of the layers */
    bool serial_ranks;   /* ZeRO over all replicas, one after the other (InternEvo) */
    bool expert_overlap; /* dispatch is said to be overlapped */
    const SetEntry *chip_entry, *stack_entry;
    double measured_seconds; /* of a step */
    const char *measured_by; /* "step" "tokens" "flops" "mfu": which figure it was made of */
    double measured_bytes;   /* HBM; 0: not measured */
    MemoryShown memory_shown;
    double step_factor;             /* of the source's step over a training step: 1.06 where it holds an evaluation */
    int unknowns;                   /* settings that had to be guessed: they widen the likely range */
    char notes[REPLAY_REASON_SIZE]; /* what was assumed, for people */
} Replay;

typedef struct {
    double seconds, lower_seconds, upper_seconds, likely_low_seconds, likely_high_seconds;
    double memory_bytes; /* as the source's tool would show it */
    BoundBy bound_by;
    double mfu;
} Prediction;

/* What runs are looked up in. */
typedef struct {
    Zoo zoo;
    Catalog chips;
    Optimizer optimizer; /* AdamW */
    Networks networks;
} ReplayData;
bool replay_data_load(Arena *arena, ReplayData *out, Error *error);

/* Reads a run; what cannot be replayed says why in `skipped`. Pure, allocates nothing. `set`: for chip_entry and
 * stack_entry, which point into it. */
void replay_prepare(const Run *run, const ReplayData *data, const ProfileSet *set, Replay *out);

/* What the model says under the set's figures. Pure, no allocation: a fit's inner loop. False: the plan cannot be
 * priced (then `skipped` should have said so). */
bool replay_predict(const Replay *replay, const ProfileSet *set, Prediction *out);

/* The same with everything that a report wants. */
bool replay_estimate(const Replay *replay, const ProfileSet *set, Estimate *out);

#endif
