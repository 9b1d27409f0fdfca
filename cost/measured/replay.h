/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/replay.h: a measured run priced by the cost model that plans: model, machine, software and plan of its
 * line, in the source's own convention of FLOPs and of the length of a step. */
#pragma once

#include "cost/estimate.h"
#include "cost/measured/run.h"
#include "cost/profile/profile_set.h"
#include "cost/state/optimizer.h"
#include "mesh/chip_json.h"
#include "models/config/model_json.h"

enum { REPLAY_REASON_SIZE = 200 };

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
    const SetEntry *chip_entry, *stack_entry;
    double measured_seconds; /* of a step */
    const char *measured_by; /* "step" "tokens" "flops" "mfu": the figure it was computed from; NULL: none */
} Replay;

/* A request and its plan, resolved: of a run whose request is options. */
typedef struct RunGiven {
    Model model;
    Chip chip; /* a device */
    Mesh mesh;
    int64_t slices;
    Nesting nesting;
    Plan plan;
    Work work;
    TrainingState state;
} RunGiven;

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
} ReplayData;
bool replay_data_load(Arena *arena, ReplayData *out, Error *error);
/* The same with the names of models alone (zoo_names): replay_model_read() comes before a run is replayed. */
bool replay_data_names(Arena *arena, ReplayData *out, Error *error);
bool replay_model_read(Zoo *zoo, const Run *run, Error *error);

/* Whether the model, chip and software that the runs name are known; an error names the place in the file. */
bool replay_names_known(const RunTable *table, const char *path, const ReplayData *data, const ProfileSet *set,
                        Error *error);

/* Reads a run; `skipped` says why a run cannot be replayed. Pure, allocates nothing. chip_entry and stack_entry point
 * into `set`. */
void replay_prepare(const Run *run, const ReplayData *data, const ProfileSet *set, Replay *out);

/* The model's prediction under the set's figures. Pure, no allocation: it is a fit's inner loop. False means that the
 * plan cannot be priced (then `skipped` should have said so). */
bool replay_predict(const Replay *replay, const ProfileSet *set, Prediction *out);

/* Its seconds under other figures of its chip and software: a DoubtPrice (cost/profile/doubt.h). */
bool replay_price(const void *replay, const Profile *composed, double *seconds);

/* The kind of its plan. */
RunKind replay_kind(const Replay *replay);

/* The steps of replay_prepare(), by the files that they stand in. False means that the run cannot be replayed, and
 * replay->skipped says why. */

/* Says why it cannot be replayed; returns false (replay_machine.c). */
__attribute__((format(printf, 2, 3))) bool replay_skip(Replay *replay, const char *format, ...);

/* replay_machine.c: finds chip, slices or nodes. */
bool replay_machine(const ReplayData *data, Replay *replay);
/* Places ranks in the framework's order (GPUs) or where JAX puts them (TPUs). */
bool replay_placement(Replay *replay);

/* replay_plan.c: the model, the layout of the plan, the state. */
bool replay_model(const Zoo *zoo, Replay *replay);
bool replay_plan(const Optimizer *optimizer, Replay *replay);
void replay_layout(Replay *replay);

/* figures.c: computes the seconds of a measured step from the source's most telling figure, in its own convention. */
void replay_measured(Replay *replay);
