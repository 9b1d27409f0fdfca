/* SPDX-License-Identifier: GPL-3.0-or-later */
/* musl's, and what later ones have of glibc: missing.c defines it. */
#ifndef WEB_STDLIB_H
#define WEB_STDLIB_H
#include_next <stdlib.h>
void qsort_r(void *base, size_t count, size_t size, int (*order)(const void *, const void *, void *), void *context);
#endif
