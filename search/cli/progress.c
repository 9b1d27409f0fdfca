/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread of its own: a search has no place where it could look at the clock. */
#include "search/cli/progress.h"

#include "base/clock.h"
#include "base/text/prose.h"

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
    SearchProgress search; /* of the search that reported last */
    bool searches;
    bool shown; /* there is a line to take away */
    double start;
    bool over;
};

/* "best 23.22 s, bound 22.67 s (gap 2.4%), 1,705 of 4,368 tuples, "; before there is a bound, or while another share of
 * the space is listed, "best 23.22 s so far, bounding 512 of 4,368 tuples, ". */
static void show_search(const SearchProgress *search, FILE *err) {
    static const char *const DOES[] = {
        [SEARCH_OPENING] = "", [SEARCH_COUNTING] = "listing ", [SEARCH_BOUNDING] = "bounding "};
    char best[NUMBER_TEXT_SIZE], bound[NUMBER_TEXT_SIZE], gap[NUMBER_TEXT_SIZE], done[NUMBER_TEXT_SIZE],
        all[NUMBER_TEXT_SIZE];
    double open = search->found ? 1 - search->bound_seconds / search->best_seconds : 0;
    bool opening = search->stage == SEARCH_OPENING;
    if (search->found && opening)
        fprintf(err, "best %s, bound %s (gap %s), ", step_text(search->best_seconds, best),
                step_text(search->bound_seconds, bound), share_text(open > 0 ? open : 0, gap));
    else if (search->found)
        fprintf(err, "best %s so far, ", step_text(search->best_seconds, best));
    else if (opening)
        fprintf(err, "no plan yet, bound %s, ", step_text(search->bound_seconds, bound));
    fprintf(err, "%s%s of %s %s, ", DOES[search->stage], number_grouped(search->done, done),
            number_grouped(search->all, all), search->stage == SEARCH_COUNTING ? "machines" : "tuples");
}

static void show(const Progress *progress) {
    double seconds = clock_seconds() - progress->start;
    fprintf(progress->err, "\rshardopt: %s, ", progress->what);
    if (progress->all > 0) fprintf(progress->err, "%d of %d, ", progress->done, progress->all);
    if (progress->searches) show_search(&progress->search, progress->err);
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
        if (!progress->over) show(progress), progress->shown = true;
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
    progress->searches = false; /* what is reported is something else */
    progress->done = done;
    progress->all = all;
    pthread_mutex_unlock(&progress->mutex);
}

void progress_search(void *of, const SearchProgress *search) {
    Progress *progress = of;
    if (!progress) return;
    pthread_mutex_lock(&progress->mutex);
    SearchProgress before = progress->search;
    progress->search = *search;
    if (search->stage != SEARCH_OPENING && progress->searches && before.found) {
        progress->search.found = true;
        progress->search.best_seconds = before.best_seconds;
    }
    progress->searches = true;
    pthread_mutex_unlock(&progress->mutex);
}

void progress_stop(Progress *progress) {
    if (!progress) return;
    pthread_mutex_lock(&progress->mutex);
    progress->over = true;
    pthread_cond_signal(&progress->changed);
    pthread_mutex_unlock(&progress->mutex);
    pthread_join(progress->thread, NULL);
    if (progress->shown) fputs("\r\033[K", progress->err);
    pthread_cond_destroy(&progress->changed);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
}
