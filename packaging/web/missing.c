/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program calls and a page, or the C library of emscripten 3.1.6, has not. */

#include "cost/trace/formats/nsight.h"

#include <errno.h>
#include <stdlib.h>
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

/* There is no standard input to keep. */
int memfd_create(const char *name, unsigned flags) {
    (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
}

bool nsight_read_file(const char *path, Recording *out, Error *error) {
    (void)out;
    return error_set(error, ERROR_IO, path, "is an export of Nsight Systems, which the page cannot read; the program can");
}
