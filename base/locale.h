/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/locale.h: numbers are read and written with a point, whatever locale the program around the library has set. */
#pragma once

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/* "C" is always there: nothing is allocated, and nothing is to be freed. */
static inline locale_t locale_enter(void) { return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); }
static inline void locale_leave(const locale_t *before) { uselocale(*before); }

/* From here to the end of the block this thread is in the locale C, and then again in the one before. A locale belongs
 * to one thread: the body of a parallel loop in which numbers are printed or read has a line of its own. */
#define IN_LOCALE_C locale_t locale_before __attribute__((cleanup(locale_leave), unused)) = locale_enter()
