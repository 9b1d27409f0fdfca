/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/trace/refit.h: figures of a profile moved to what a trace measured, and no others. A term of the step
 * determines one figure: matmuls and attention the factors of the software, elementwise kernels and the update their
 * traffic, collectives the efficiency of the link that their group leaves over. What the trace does not show, or shows
 * for less than a hundredth of the step, keeps its value. */
#pragma once

#include "cost/profile/doubt.h"
#include "cost/profile/profile_set.h"
#include "cost/trace/formats/formats.h"
#include "search/trace/comparison.h"

typedef struct {
    const ProfileFigure *figure;
    const char *entry; /* of the set: "h100" */
    double was, now;   /* was: before the first step */
    double wanted;     /* what the trace implies; another than `now` where that is beyond what the figure can be */
} RefitChange;

enum { REFIT_CHANGES_MAX = 16 };
typedef struct {
    RefitChange changes[REFIT_CHANGES_MAX];
    int count;
} Refit;

/* The two entries of a set that price the plan; the software may be NULL. */
typedef struct {
    ProfileSet *set;
    SetEntry *chip, *stack;
    const char *source; /* of figures that move, in the arena of the set */
} RefitInto;

/* Sets a figure to what a benchmark found, clamped to what it can be. */
void refit_set(const RefitInto *into, const char *key, double value, Refit *out);

/* The same where the value is what the figure cannot be above: a figure below it stays. */
void refit_lower(const RefitInto *into, const char *key, double most, Refit *out);

/* One step towards the trace: each figure is multiplied by what its term is off, in `compared`, whose plan is priced
 * with the set as it stands; the changes are added to *out. A step is not a linear function of its figures, so it takes
 * a few. The set is resolved again. */
bool refit_step(const Comparison *compared, const RefitInto *into, Refit *out, Error *error);

/* measurements.c: what to measure on a cluster so that a plan's price is known better, and what it is worth, by the
 * deviations of the figures that the price rests on. */

enum { MEASUREMENTS_MAX = 8, MEASURED_FIGURES_MAX = 12 };

typedef struct {
    const char *name, *command;                /* what is measured, and a line that does it */
    const char *figures[MEASURED_FIGURES_MAX]; /* what it pins down, those that matter most first; ends with NULL */
    double deviation;                          /* of ln(measured / predicted) step that remains after it alone */
} Measurement;

/* What a machine looks like to a measurement. */
typedef struct {
    double nvlink_bytes_per_second, network_bytes_per_second, pcie_bytes_per_second, peak_flops; /* 0: it has none */
    int64_t domain, nodes; /* chips joined by NVLink; nodes of the machine */
} Cluster;

typedef struct {
    Measurement of[MEASUREMENTS_MAX];
    int count;
    double deviation; /* before any of them */
    double after;     /* after all of them */
} Measurements;

/* Sorted by what each takes off the deviation. `own_error` is what no figure explains. */
void measurements_list(const DoubtEffect *effects, int count, double own_error, const Cluster *cluster,
                       Measurements *out);

/* A figure of a profile as a benchmark found it; NULL in `key`: the result is of none. */
typedef struct {
    const char *key;
    double value;
    bool ceiling; /* the figure is not above it; the benchmark does not say what it is */
} MeasuredFigure;
MeasuredFigure measured_figure(const BenchResult *result, const Cluster *cluster);
