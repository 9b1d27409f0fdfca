/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/scheduler.h: a launch script as the job of a cluster's scheduler: the script whole, started once on
 * every host with NODE_RANK, MASTER_ADDR and HOSTS, which it requires; on TPUs what the trainer reads, and the trainer.
 * Pure but for the stream. */
#pragma once

#include "base/error.h"
#include "mesh/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Where a script runs. */
typedef struct {
    const char *name; /* of the model: the job is called after it */
    const Chip *chip;
    const Machine *machine;
    bool serves;        /* a script of servers, which wants MODEL */
    const char *starts; /* the trainer that reads the file, on TPUs; NULL: it cannot be started by a line */
} ScheduledJob;

/* What Kubernetes' device plugins call the chip: "nvidia.com/gpu". */
const char *scheduler_resource(const Chip *chip);

/* A slice as XPK and GKE spell it: "v5p-128", or "v5p-4x4x8" where the count usually has another shape.
 * Returns `text`. */
enum { TPU_TYPE_SIZE = 112 };
const char *scheduler_tpu_type(const Chip *chip, const Machine *machine, char text[TPU_TYPE_SIZE]);

/* Whether there is one of that name; NULL: none is named, which is well. */
bool scheduler_known(const char *under, Error *error);

/* Writes what `under` ("slurm") submits: a batch file, a JobSet, LeaderWorkerSet or RayJob of Kubernetes, a task of
 * SkyPilot, a program of Ray, a line of XPK, around what `write` writes of `plan`; that alone where `under` is NULL,
 * and else one that is known. ERROR_INPUT: the scheduler starts no such file (what a trainer reads is no script), or
 * not on this machine. */
bool scheduler_write(const char *under, const ScheduledJob *job, bool (*write)(void *plan, FILE *out, Error *error),
                     void *plan, FILE *out, Error *error);

/* Leaves of such a job's text, which ends with a NUL, the script alone, in the lines where it stands; any other text
 * stays as it is. *length is what strlen() says of it. */
void scheduler_unwrap(char *text, size_t *length);
