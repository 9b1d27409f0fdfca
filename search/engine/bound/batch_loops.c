/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/batch_loops.h"

/* One binary, fast everywhere: the loops below in the widest form that the processor has. No contraction: the same
 * digits. */
#if defined(WIDE)
/* of whoever compares the forms */
#elif defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define WIDE
#endif
#define INLINE static inline __attribute__((always_inline))

/* A number of terms that the compiler knows, so that it unrolls the loop over them inside the loop over placements. */
#define WITH_CONSTANT(n, call)                                                                                         \
    switch (n) {                                                                                                       \
    case 1:                                                                                                            \
        call(1);                                                                                                       \
        break;                                                                                                         \
    case 2:                                                                                                            \
        call(2);                                                                                                       \
        break;                                                                                                         \
    case 3:                                                                                                            \
        call(3);                                                                                                       \
        break;                                                                                                         \
    default:                                                                                                           \
        call(4);                                                                                                       \
        break;                                                                                                         \
    }
_Static_assert(LOOP_TERMS == 4, "WITH_CONSTANT names them");

WIDE void loop_fill(double value, int count, double *restrict to) {
#pragma omp simd aligned(to : 64)
    for (int i = 0; i < count; i++) to[i] = value;
}

INLINE void add_seconds(RateForm form, const Seconds *terms, const int n, Start start, int count, double *restrict to) {
    const double *latency[LOOP_TERMS], *per_byte[LOOP_TERMS], *latency_two[LOOP_TERMS], *per_byte_two[LOOP_TERMS];
    double messages[LOOP_TERMS], bytes[LOOP_TERMS];
#pragma GCC unroll 4
    for (int k = 0; k < n; k++) {
        latency[k] = terms[k].latency[0], per_byte[k] = terms[k].per_byte[0];
        latency_two[k] = terms[k].latency[1], per_byte_two[k] = terms[k].per_byte[1];
        messages[k] = terms[k].messages, bytes[k] = terms[k].bytes;
    }
#pragma omp simd aligned(to : 64)
    for (int i = 0; i < count; i++) {
        double sum = start.fresh ? start.value : to[i];
#pragma GCC unroll 4
        for (int k = 0; k < n; k++) {
            double first = messages[k] * latency[k][i], second = 0;
            if (form != FORM_LARGER) first += bytes[k] * per_byte[k][i];
            if (form != FORM_FIRST) second = bytes[k] * per_byte_two[k][i];
            if (form == FORM_FOUR) second += messages[k] * latency_two[k][i];
            sum += form == FORM_FIRST || first > second ? first : second;
        }
        to[i] = sum;
    }
}

INLINE void add_form(const RateForm form, const Seconds *terms, int n, Start start, int count, double *to){
#define CALL(constant)                                                                                                 \
    (start.fresh ? add_seconds(form, terms, constant, (Start){true, start.value}, count, to)                           \
                 : add_seconds(form, terms, constant, (Start){false, 0}, count, to))
    WITH_CONSTANT(n, CALL)
#undef CALL
}

WIDE static void add_first(const Seconds *terms, int n, Start start, int count, double *to) {
    add_form(FORM_FIRST, terms, n, start, count, to);
}

WIDE static void add_larger(const Seconds *terms, int n, Start start, int count, double *to) {
    add_form(FORM_LARGER, terms, n, start, count, to);
}

WIDE static void add_three(const Seconds *terms, int n, Start start, int count, double *to) {
    add_form(FORM_THREE, terms, n, start, count, to);
}

WIDE static void add_four(const Seconds *terms, int n, Start start, int count, double *to) {
    add_form(FORM_FOUR, terms, n, start, count, to);
}

void loop_add_seconds(RateForm form, const Seconds *terms, int n, Start start, int count, double *to) {
    static void (*const ADD[FORM_COUNT])(const Seconds *, int, Start, int, double *) = {add_first, add_larger,
                                                                                        add_three, add_four};
    ADD[form](terms, n, start, count, to);
}

WIDE void loop_add_ring(const Seconds *term, double share, double minus, double times, int count, double *restrict to) {
    const double *latency = term->latency[0], *per_byte = term->per_byte[0];
    const double *latency_two = term->latency[1], *per_byte_two = term->per_byte[1];
    double messages = term->messages, bytes = term->bytes;
#pragma omp simd aligned(to : 64)
    for (int i = 0; i < count; i++) {
        double first = messages * latency[i] + bytes * per_byte[i];
        double second = messages * latency_two[i] + bytes * per_byte_two[i];
        double seconds = first > second ? first : second, least = share * seconds, beyond = seconds - minus;
        to[i] += times * (least > beyond ? least : beyond);
    }
}

INLINE void add_scaled(const Scaled *terms, const int n, Start start, int count, double *restrict to) {
    const double *of[LOOP_TERMS];
    double factor[LOOP_TERMS];
#pragma GCC unroll 4
    for (int k = 0; k < n; k++) of[k] = terms[k].of, factor[k] = terms[k].factor;
#pragma omp simd aligned(to : 64)
    for (int i = 0; i < count; i++) {
        double sum = start.fresh ? start.value : to[i];
#pragma GCC unroll 4
        for (int k = 0; k < n; k++) sum += factor[k] * of[k][i];
        to[i] = sum;
    }
}

WIDE void loop_add_scaled(const Scaled *terms, int n, Start start, int count, double *to){
#define CALL(constant)                                                                                                 \
    (start.fresh ? add_scaled(terms, constant, (Start){true, start.value}, count, to)                                  \
                 : add_scaled(terms, constant, (Start){false, 0}, count, to))
    WITH_CONSTANT(n, CALL)
#undef CALL
}

INLINE void masked(const double *from, const uint64_t *where, const Masked *terms, const int n, bool raise, int count,
                   double *to) {
    const double *of[LOOP_TERMS];
    uint64_t bit[LOOP_TERMS];
#pragma GCC unroll 4
    for (int k = 0; k < n; k++) of[k] = terms[k].of, bit[k] = terms[k].bit;
#pragma omp simd
    for (int i = 0; i < count; i++) {
        double sum = from[i], was = to[i];
        uint64_t here = where[i];
#pragma GCC unroll 4
        for (int k = 0; k < n; k++) {
            double each = of[k][i];
            sum += (here & bit[k]) != 0 ? each : 0;
        }
        to[i] = raise && was > sum ? was : sum;
    }
}

WIDE void loop_raise_masked(const double *from, const uint64_t *where, const Masked *terms, int n, int count,
                            double *to){
#define CALL(constant) masked(from, where, terms, constant, true, count, to)
    WITH_CONSTANT(n, CALL)
#undef CALL
}

WIDE void loop_add_masked(const double *from, const uint64_t *where, const Masked *terms, int n, int count, double *to){
#define CALL(constant) masked(from, where, terms, constant, false, count, to)
    WITH_CONSTANT(n, CALL)
#undef CALL
}

WIDE void loop_raise(const double *by, int count, double *restrict to) {
#pragma omp simd aligned(to : 64)
    for (int i = 0; i < count; i++) to[i] = by[i] > to[i] ? by[i] : to[i];
}

INLINE void add_hiding(const Hiding *terms, const int n, const int axis_count, const uint64_t *where,
                       const double part[2], const bool both, int count, double *restrict to) {
    const double *latency[LOOP_HIDING], *per_byte[LOOP_HIDING], *per_byte_two[LOOP_HIDING];
    double messages[LOOP_HIDING], bytes[LOOP_HIDING], exposed[LOOP_HIDING], first[LOOP_HIDING], second[LOOP_HIDING];
    uint64_t bit[LOOP_HIDING];
    double part_one = part[0], part_two = part[1];
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) {
        latency[k] = terms[k].latency, per_byte[k] = terms[k].per_byte, per_byte_two[k] = terms[k].per_byte_two;
        messages[k] = terms[k].messages, bytes[k] = terms[k].bytes, exposed[k] = terms[k].exposed;
        first[k] = terms[k].hidden[0], second[k] = terms[k].hidden[1], bit[k] = terms[k].bit;
    }
#pragma omp simd aligned(to : 64)
    for (int i = 0; i < count; i++) {
        double a[LOOP_HIDING], b[LOOP_HIDING], sum = to[i], one = part_one, two = part_two;
        uint64_t here = where[i];
#pragma GCC unroll 8
        for (int k = 0; k < n; k++) {
            double x = messages[k] * latency[k][i] + bytes[k] * per_byte[k][i], y = bytes[k] * per_byte_two[k][i];
            double seconds = x > y ? x : y;
            sum += exposed[k] * seconds;
            a[k] = first[k] * seconds;
            b[k] = second[k] * seconds;
        }
#pragma GCC unroll 4
        for (int axis = 0; axis < axis_count; axis++) {
            double busy_a = 0, busy_b = 0;
#pragma GCC unroll 8
            for (int k = 0; k < n; k++) {
                bool on = (here & bit[k]) != 0;
                busy_a += on ? a[k] : 0;
                if (both) busy_b += on ? b[k] : 0;
            }
            one = busy_a > one ? busy_a : one;
            two = busy_b > two ? busy_b : two;
            here >>= LOOP_AXIS;
        }
        to[i] = sum + one + (both ? two : 0);
    }
}

#define HIDING(axes, both_parts)                                                                                       \
    switch (n) {                                                                                                       \
    case 1:                                                                                                            \
        add_hiding(terms, 1, axes, where, part, both_parts, count, to);                                                \
        break;                                                                                                         \
    case 2:                                                                                                            \
        add_hiding(terms, 2, axes, where, part, both_parts, count, to);                                                \
        break;                                                                                                         \
    case 3:                                                                                                            \
        add_hiding(terms, 3, axes, where, part, both_parts, count, to);                                                \
        break;                                                                                                         \
    case 4:                                                                                                            \
        add_hiding(terms, 4, axes, where, part, both_parts, count, to);                                                \
        break;                                                                                                         \
    case 5:                                                                                                            \
        add_hiding(terms, 5, axes, where, part, both_parts, count, to);                                                \
        break;                                                                                                         \
    case 6:                                                                                                            \
        add_hiding(terms, 6, axes, where, part, both_parts, count, to);                                                \
        break;                                                                                                         \
    case 7:                                                                                                            \
        add_hiding(terms, 7, axes, where, part, both_parts, count, to);                                                \
        break;                                                                                                         \
    default:                                                                                                           \
        add_hiding(terms, 8, axes, where, part, both_parts, count, to);                                                \
        break;                                                                                                         \
    }
_Static_assert(LOOP_HIDING == 8 && LOOP_AXES == 4, "HIDING names them");

WIDE static void add_hiding_one(const Hiding *terms, int n, int axis_count, const uint64_t *where, const double part[2],
                                int count, double *to) {
    if (axis_count <= 2)
        HIDING(2, false)
    else if (axis_count == 3)
        HIDING(3, false)
    else
        HIDING(4, false)
}

WIDE static void add_hiding_both(const Hiding *terms, int n, int axis_count, const uint64_t *where,
                                 const double part[2], int count, double *to) {
    if (axis_count <= 2)
        HIDING(2, true)
    else if (axis_count == 3)
        HIDING(3, true)
    else
        HIDING(4, true)
}

void loop_add_hiding(const Hiding *terms, int n, int axis_count, const uint64_t *where, const double part[2], bool both,
                     int count, double *to) {
    (both ? add_hiding_both : add_hiding_one)(terms, n, axis_count, where, part, count, to);
}

WIDE void loop_finish(const double *step, const double *a, const double *b, const double *serial, double factor,
                      double constant, double slack, int count, double *restrict best) {
#pragma omp simd aligned(best : 64)
    for (int i = 0; i < count; i++) {
        double one = step[i] + a[i] + b[i], two = factor * serial[i] + constant;
        double larger = (one > two ? one : two) * slack;
        best[i] = larger < best[i] ? larger : best[i];
    }
}
