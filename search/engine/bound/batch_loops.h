/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/batch_loops.h: the loops over placements that batch.c is made of. Plain numbers in, plain numbers out;
 * each takes up to LOOP_TERMS terms at once, so that what it adds to is read and written once for all of them. Arrays
 * are of `count` numbers, aligned to 64 bytes, `count` a multiple of LOOP_WIDTH: what lies behind the last placement is
 * zero. Internal to batch.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LOOP_TERMS = 4, LOOP_WIDTH = 8 };

/* max(messages * latency[0] + bytes * per_byte[0], messages * latency[1] + bytes * per_byte[1]), all of one form. */
typedef struct {
    const double *latency[2], *per_byte[2];
    double messages, bytes;
} Seconds;

/* What of the four arrays there is: the others are zero, or never decide, and are not read. */
typedef enum {
    FORM_FIRST,  /* the first piece */
    FORM_LARGER, /* latency of the first, bandwidth of the second: a torus */
    FORM_THREE,  /* both of the first, bandwidth of the second: a torus here, a switch there */
    FORM_FOUR,
    FORM_COUNT
} RateForm;

void loop_fill(double value, int count, double *to);

/* What sums go on from: what is in `to` already, or a number. */
typedef struct {
    bool fresh;
    double value; /* where it is */
} Start;

/* to += each term; n from 1 to LOOP_TERMS. */
void loop_add_seconds(RateForm form, const Seconds *terms, int n, Start start, int count, double *to);

/* to += times * max(share * t, t - minus) of one term: a ring alongside attention. */
void loop_add_ring(const Seconds *term, double share, double minus, double times, int count, double *to);

typedef struct {
    const double *of;
    double factor;
} Scaled;
/* to += factor * of, each. */
void loop_add_scaled(const Scaled *terms, int n, Start start, int count, double *to);

/* Counts where a bit of `where` is set. */
typedef struct {
    const double *of;
    uint64_t bit;
} Masked;
/* to = from + each; n may be 0. */
void loop_add_masked(const double *from, const uint64_t *where, const Masked *terms, int n, int count, double *to);
/* to = max(to, from + each). */
void loop_raise_masked(const double *from, const uint64_t *where, const Masked *terms, int n, int count, double *to);
/* to = max(to, by). */
void loop_raise(const double *by, int count, double *to);

/* A term that hides: seconds of FORM_THREE or less, in arrays that are all there; which axes it lies on is its bit of
 * `where`, LOOP_AXIS bits further for each axis. */
enum { LOOP_HIDING = 8, LOOP_AXES = 4, LOOP_AXIS = 11 };
typedef struct {
    const double *latency, *per_byte, *per_byte_two;
    double messages, bytes, exposed;
    double hidden[2]; /* of parts A and B */
    uint64_t bit;
} Hiding;
/* to += sum of exposed seconds + max(part[0], busiest axis by hidden[0]) + the same of part[1], in one pass: n from 1
 * to LOOP_HIDING, up to LOOP_AXES axes. `both` false: part 0 alone. */
void loop_add_hiding(const Hiding *terms, int n, int axis_count, const uint64_t *where, const double part[2], bool both,
                     int count, double *to);

/* best = min(best, max(step + a + b, factor * serial + constant) * slack). */
void loop_finish(const double *step, const double *a, const double *b, const double *serial, double factor,
                 double constant, double slack, int count, double *best);
