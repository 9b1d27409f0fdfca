/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/threads.h: how many threads work is given to. */
#pragma once

enum { THREADS_MAX = 1024 };

/* Returns `requested`, or where that is 0 what OpenMP would take (OMP_NUM_THREADS, or all cores), up to four for each
 * core or 64; at most THREADS_MAX, and fewer where the system does not give so many, at least 1. libgomp ends the
 * program when a thread cannot be had: every parallel region queries here first. The system is queried once for each
 * larger number. */
int threads_usable(int requested);
