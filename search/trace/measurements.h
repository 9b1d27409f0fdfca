/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/trace/measurements.h: what to measure on a cluster so that a plan's price is known better, and what it is
 * worth, by the deviations of the figures that the price rests on. */
#pragma once

#include "cost/profile/doubt.h"
#include "cost/trace/formats/formats.h"
#include "search/trace/refit.h"

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
