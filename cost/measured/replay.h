/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/replay.h: a measured run priced by the cost model that plans: model, machine, software and plan of the
 * row, in the source's own convention of FLOPs and of the length of a step. */
#pragma once

#include "cost/estimate.h"
#include "cost/measured/run.h"
#include "cost/measured/side_tables.h"
#include "cost/profile/profile_set.h"
#include "cost/state/optimizer.h"
#include "mesh/chip_json.h"
#include "models/config/model_json.h"

enum { REPLAY_REASON_SIZE = 200 };

/* The meaning of a source's figure of memory: live tensors, the bytes that the allocator holds for them, or all bytes
 * that the device's own tool shows. */
typedef enum { MEMORY_SHOWN_ALLOCATED, MEMORY_SHOWN_RESERVED, MEMORY_SHOWN_DEVICE } MemoryShown;

/* Everything about a run that does not depend on the figures of profiles. */
typedef struct {
    const Run *run;
    char skipped[REPLAY_REASON_SIZE]; /* why it cannot be replayed; "" means that it can */
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
    bool serial_ranks;   /* ZeRO over all replicas, one after the other (InternEvo) */
    bool expert_overlap; /* the source says that dispatch is overlapped */
    const SetEntry *chip_entry, *stack_entry;
    double measured_seconds; /* of a step */
    const char *measured_by; /* "step" "tokens" "flops" "mfu": the figure it was computed from */
    double measured_bytes;   /* HBM; 0 means not measured */
    MemoryShown memory_shown;
    bool first_rank;                /* the source's figure of memory is that of the first stage alone */
    int64_t memory_seq;             /* tokens of the sequences that memory has to hold; 0: work.seq */
    int64_t first_layers;           /* of the first stage, as that source's software deals them; 0: one stage */
    bool failed;                    /* it did not run: it crashed, or memory was out */
    const char *aside;              /* why it is neither fitted nor scored (aside.h); NULL: it is */
    double step_factor;             /* the source's step over a training step: 1.06 where it holds an evaluation */
    int unknowns;                   /* the number of settings that had to be guessed: they widen the likely range */
    char notes[REPLAY_REASON_SIZE]; /* the assumptions, for people */
} Replay;

typedef struct {
    double seconds, lower_seconds, upper_seconds, likely_low_seconds, likely_high_seconds;
    double memory_bytes; /* as the source's tool would show it */
    double needed_bytes; /* of the fullest chip: live tensors, or what the device's tool shows where the source counts
                          * more than those */
    BoundBy bound_by;
    double mfu;
} Prediction;

/* The data in which runs are looked up. */
typedef struct {
    Zoo zoo;
    Catalog chips;
    Optimizer optimizer; /* AdamW */
    Networks networks;
    ExcludedKinds asides;
} ReplayData;
bool replay_data_load(Arena *arena, ReplayData *out, Error *error);
/* The same with the names of models alone (zoo_names): replay_model_read() comes before a run is replayed. */
bool replay_data_names(Arena *arena, ReplayData *out, Error *error);
bool replay_model_read(Zoo *zoo, const Run *run, Error *error);

/* Reads a run; `skipped` says why a run cannot be replayed. Pure, allocates nothing. chip_entry and stack_entry point
 * into `set`. */
void replay_prepare(const Run *run, const ReplayData *data, const ProfileSet *set, Replay *out);

/* The model's prediction under the set's figures. Pure, no allocation: it is a fit's inner loop. False means that the
 * plan cannot be priced (then `skipped` should have said so). */
bool replay_predict(const Replay *replay, const ProfileSet *set, Prediction *out);

/* Its seconds under other figures of its chip and software: a DoubtPrice (cost/profile/doubt.h). */
bool replay_price(const void *replay, const Profile *composed, double *seconds);

/* The same with every number that a report needs. */
bool replay_estimate(const Replay *replay, const ProfileSet *set, Estimate *out);

/* The steps of replay_prepare(), by the files that they stand in. False means that the run cannot be replayed, and
 * replay->skipped says why. */

/* Says why it cannot be replayed; returns false. */
__attribute__((format(printf, 2, 3))) bool replay_skip(Replay *replay, const char *format, ...);
/* Notes an assumption, for people; it counts as a guess if `guess`. */
__attribute__((format(printf, 3, 4))) void replay_note(Replay *replay, bool guess, const char *format, ...);

/* Whether the framework is one of JAX's; replay_on_torch(): whether it is PyTorch with its own FSDP (torchtitan,
 * llm-foundry, fms-fsdp). */
bool replay_on_jax(const Replay *replay);
bool replay_on_torch(const Replay *replay);

/* replay_model.c: finds the zoo's model of these dimensions, which knows facts that no column holds (windows, latent
 * attention, shared experts, first dense layers); else makes one from the columns. */
bool replay_model(const Zoo *zoo, Replay *replay);

/* replay_machine.c: finds chip, slices or nodes, and the network's rate where topology_note has one. */
bool replay_machine(const ReplayData *data, Replay *replay);
/* Places ranks in the framework's order (GPUs) or where JAX puts them (TPUs). */
bool replay_placement(Replay *replay);

/* replay_plan.c: finds degrees, knobs, remat and state. */
bool replay_plan(const Optimizer *optimizer, Replay *replay);
/* Sets the layout of replay->remat under the plan's stages. */
void replay_layout(Replay *replay);

/* convention.c: computes the seconds of a measured step from the source's most telling figure, in its own
 * convention. */
bool replay_measured(Replay *replay);
