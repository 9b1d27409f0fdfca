/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/scheduler.h: a launch script as the job of a cluster's scheduler: the script whole, started once on
 * every host with NODE_RANK, MASTER_ADDR and HOSTS, which it requires. Pure but for the stream. */
#pragma once

#include "base/error.h"
#include "mesh/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Where a script runs. */
typedef struct {
    const char *name; /* of the model: the job is called after it */
    const Chip *chip;
    int64_t chips;
} ScheduledJob;

/* What Kubernetes' device plugins call the chip: "nvidia.com/gpu". */
const char *scheduler_resource(const Chip *chip);

/* Whether there is one of that name; NULL: none is named, which is well. */
bool scheduler_known(const char *under, Error *error);

/* Writes what `under` ("slurm") submits: a batch file, a JobSet for Kubernetes, a task of SkyPilot, around what `write`
 * writes of `plan`; that alone where `under` is NULL, and else one that is known. ERROR_INPUT: the text is no script
 * (what a trainer reads is none), or the machine has no GPU hosts. */
bool scheduler_write(const char *under, const ScheduledJob *job, bool (*write)(void *plan, FILE *out, Error *error),
                     void *plan, FILE *out, Error *error);

/* Leaves of such a job's text, which ends with a NUL, the script alone, in the lines where it stands; any other text
 * stays as it is. *length is what strlen() says of it. */
void scheduler_unwrap(char *text, size_t *length);
