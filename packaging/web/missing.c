/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program calls and a page, or the C library of emscripten 3.1.6, has not. */

#include "cost/trace/formats/formats.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct {
    int (*order)(const void *, const void *, void *);
    void *context;
} sorted; /* there is one thread */

static int order_sorted(const void *a, const void *b) { return sorted.order(a, b, sorted.context); }

void qsort_r(void *base, size_t count, size_t size, int (*order)(const void *, const void *, void *), void *context) {
    sorted.order = order;
    sorted.context = context;
    qsort(base, count, size, order_sorted);
}

/* musl's are up to an ulp off, in one value of thirty, and glibc's in one of a thousand: these are as near as glibc's,
 * so that the page gives the digits that the program gives. */
double sin(double x) { return (double)sinl(x); }
double cos(double x) { return (double)cosl(x); }
double hypot(double x, double y) { return (double)hypotl(x, y); }

/* musl 1.2.2 takes the letter of "v2-lite" for part of a number. No number of a name begins with a zero. */
int strverscmp(const char *a, const char *b) {
    size_t same = 0;
    while (a[same] && a[same] == b[same]) same++;
    size_t digits_a = strspn(a + same, "0123456789"), digits_b = strspn(b + same, "0123456789");
    bool within = (same > 0 && isdigit((unsigned char)a[same - 1])) || (digits_a > 0 && digits_b > 0);
    if (within && digits_a != digits_b) return digits_a < digits_b ? -1 : 1;
    return (unsigned char)a[same] - (unsigned char)b[same];
}

/* There is no standard input to keep. */
int memfd_create(const char *name, unsigned flags) {
    (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
}

bool nsight_read_file(const char *path, Recording *out, Error *error) {
    (void)out;
    return error_set(error, ERROR_IO, path,
                     "is an export of Nsight Systems, which the page cannot read; the program can");
}

/* There are no processes: what would start one says so. */
int prctl(int option, ...) {
    (void)option;
    errno = ENOSYS;
    return -1;
}
