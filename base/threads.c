/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/threads.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

static void *wait_for_all(void *gate) {
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* Threads that could be there at once with the one that calls, up to `most`. */
static int count_possible(int most) {
    pthread_t threads[THREADS_MAX];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int others = 0;
    pthread_mutex_lock(&gate);
    while (others + 1 < most && pthread_create(&threads[others], NULL, wait_for_all, &gate) == 0) others++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < others; i++) pthread_join(threads[i], NULL);
    return others + 1;
}

/* What OMP_NUM_THREADS may say beyond four for each core. */
enum { UNASKED_MAX = 64 };

int threads_usable(int requested) {
    static atomic_int had = 1, most = THREADS_MAX; /* were there at once; are not requested more */
    int unasked = 4 * omp_get_num_procs() > UNASKED_MAX ? 4 * omp_get_num_procs() : UNASKED_MAX;
    int count = requested > 0 ? requested : omp_get_max_threads() < unasked ? omp_get_max_threads() : unasked;
    if (count > most) count = most;
    if (count <= had) return count;
    int possible = count_possible(count);
    if (possible < count) most = possible;
    if (possible > had) had = possible;
    return possible;
}
