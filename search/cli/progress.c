/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread of its own: a search has no place where it could look at the clock. */
#include "search/cli/progress.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct Progress {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    FILE *err;
    const char *what;
    int done, all;
    double start;
    bool over;
};

static void show(const Progress *progress) {
    double seconds = clock_seconds() - progress->start;
    if (seconds < 1) return;
    fprintf(progress->err, "\rshardopt: %s, ", progress->what);
    if (progress->all > 0) fprintf(progress->err, "%d of %d, ", progress->done, progress->all);
    fprintf(progress->err, "%.0f s\033[K", seconds);
    fflush(progress->err);
}

static void *run(void *of) {
    Progress *progress = of;
    pthread_mutex_lock(&progress->mutex);
    while (!progress->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 250 * 1000 * 1000;
        if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
        pthread_cond_timedwait(&progress->changed, &progress->mutex, &until);
        if (!progress->over) show(progress);
    }
    pthread_mutex_unlock(&progress->mutex);
    return NULL;
}

Progress *progress_start(FILE *err, bool quiet, const char *what) {
    int descriptor = fileno(err);
    if (quiet || descriptor < 0 || !isatty(descriptor)) return NULL;
    Progress *progress = calloc(1, sizeof *progress);
    if (!progress) return NULL;
    progress->err = err;
    progress->what = what;
    progress->start = clock_seconds();
    pthread_mutex_init(&progress->mutex, NULL);
    pthread_cond_init(&progress->changed, NULL);
    if (pthread_create(&progress->thread, NULL, run, progress) == 0) return progress;
    free(progress);
    return NULL;
}

void progress_tell(void *of, const char *what, int done, int all) {
    Progress *progress = of;
    if (!progress) return;
    pthread_mutex_lock(&progress->mutex);
    progress->what = what;
    progress->done = done;
    progress->all = all;
    pthread_mutex_unlock(&progress->mutex);
}

void progress_stop(Progress *progress) {
    if (!progress) return;
    pthread_mutex_lock(&progress->mutex);
    progress->over = true;
    pthread_cond_signal(&progress->changed);
    pthread_mutex_unlock(&progress->mutex);
    pthread_join(progress->thread, NULL);
    if (clock_seconds() - progress->start >= 1) fputs("\r\033[K", progress->err);
    pthread_cond_destroy(&progress->changed);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
}
