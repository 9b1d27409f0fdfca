/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/kernel/sums.h: the loops of evaluate.c. Each takes the lanes through one kind of number of a program; what
 * they add and in which order is that of step_seconds(), so that they give its bits. Internal to evaluate.c. */
#pragma once

#include "search/engine/kernel/lanes.h"

/* What a leaf adds: to the exposed sum of its kind, of critical groups by phase; to that of the second bound; and to
 * the parts A and B of the axes of its group. */
typedef struct {
    KernelNumbers exposed[PHASE_COUNT], serial[PHASE_COUNT], hidden[2];
} LeafSeconds;

/* A critical sum: exposed seconds by phase, of the step and of the second bound. Then, of each: what they take over all
 * microbatches, and the bubble with them in it. */
typedef struct {
    KernelNumbers step[2], serial[2];
} CriticalSeconds;

typedef struct {
    KernelNumbers step, serial;
} BackgroundSeconds;

/* What keeps an axis busy in parts A and B. */
typedef struct {
    KernelNumbers of[2];
} AxisSeconds;

/* All numbers of one program. */
typedef struct {
    LeafSeconds *leaf;             /* [leaf] */
    CriticalSeconds *critical;     /* [critical sum] */
    BackgroundSeconds *background; /* [background sum] */
    AxisSeconds *axis;             /* [sum of an axis] */
} KernelSums;

/* `serial` false: no row has a second bound, and no number of it is made. */
void sums_leaves(const KernelProgram *program, const KernelLanes *lanes, bool serial, KernelSums *sums);
void sums_critical(const KernelProgram *program, const KernelLanes *lanes, bool serial, KernelSums *sums);
void sums_background(const KernelProgram *program, bool serial, KernelSums *sums);

/* Whether an axis of some row may be busy for longer than compute in part A or B. False: no sum of an axis is asked
 * for. */
bool sums_pass_compute(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums);
void sums_axes(const KernelProgram *program, KernelSums *sums);

/* The least of each lane over all exposed pairs, where no part is beyond its compute; and over all classes, where
 * `seconds` is not NULL with that of each. */
void sums_exposed(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums, double *least);
void sums_classes(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums, double *least,
                  KernelNumbers *seconds);
