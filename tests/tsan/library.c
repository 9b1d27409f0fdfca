/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library in eight threads at once, as shardopt.h allows: searches, reports in every form, requests that are
 * refused. Each thread gets the bytes that one alone gets. A plain program, for the thread sanitizer. */
#include "base/util.h"
#include "search/shardopt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, OPTIONS = 6, STEP = 3 }; /* each thread asks for every third answer */

static const char *const REQUESTS[][OPTIONS][2] = {
    {{"model", "gpt2"}, {"chip", "v5e"}, {"slice", "2x2"}, {"batch", "64Ki"}, {"threads", "1"}},
    {{"model", "llama3.2-1b"}, {"chip", "h100"}, {"nodes", "1"}, {"batch", "64Ki"}, {"threads", "2"}},
    {{"model", "mixtral-8x7b"}, {"chip", "v5e"}, {"slice", "4x4"}, {"batch", "64Ki"}, {"threads", "1"}, {"top", "2"}},
    {{"model", "nosuch"}, {"chip", "v5e"}},
};
static const char *const FORMATS[] = {"text", "json", "markdown", "csv", "html"};

/* What a request answers in a format: the text, or the error. To be freed; NULL: memory is out. */
static char *answer(size_t which, size_t format) {
    shardopt_error error;
    shardopt_report *report = NULL;
    shardopt_request *request = shardopt_request_new();
    char *text = NULL;
    for (int i = 0; i < OPTIONS && REQUESTS[which][i][0]; i++)
        if (shardopt_request_set(request, REQUESTS[which][i][0], REQUESTS[which][i][1], &error) != 0) {
            fprintf(stderr, "%s: %s\n", error.where, error.text);
            abort();
        }
    shardopt_search(request, NULL, &report, &error);
    if (!report || shardopt_report_write(report, FORMATS[format], &text, NULL, &error) != 0) {
        size_t room = strlen(error.where) + strlen(error.text) + 3;
        text = malloc(room);
        if (text) snprintf(text, room, "%s: %s", error.where, error.text);
    }
    shardopt_report_free(report);
    shardopt_request_free(request);
    return text;
}

static char *right[COUNT_OF(REQUESTS)][COUNT_OF(FORMATS)];

/* Every thread begins elsewhere. Returns how many answers are others. */
static void *work(void *of) {
    size_t first = *(const size_t *)of;
    static _Thread_local size_t others;
    for (size_t i = 0; i < COUNT_OF(REQUESTS) * COUNT_OF(FORMATS); i += STEP) {
        size_t at = (first * 3 + i) % (COUNT_OF(REQUESTS) * COUNT_OF(FORMATS));
        size_t which = at / COUNT_OF(FORMATS), format = at % COUNT_OF(FORMATS);
        char *text = answer(which, format);
        others += !text || !right[which][format] || strcmp(text, right[which][format]) != 0;
        shardopt_free(text);
    }
    return (void *)others;
}

int main(void) {
    pthread_t threads[THREADS];
    size_t numbers[THREADS], others = 0;
    for (size_t which = 0; which < COUNT_OF(REQUESTS); which++)
        for (size_t format = 0; format < COUNT_OF(FORMATS); format++) right[which][format] = answer(which, format);
    for (size_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) return 1;
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *own;
        pthread_join(threads[i], &own);
        others += (size_t)own;
    }
    for (size_t which = 0; which < COUNT_OF(REQUESTS); which++)
        for (size_t format = 0; format < COUNT_OF(FORMATS); format++) shardopt_free(right[which][format]);
    printf("%s: %zu of %zu answers of %d threads are others\n", others ? "FAIL" : "ok", others,
           THREADS * ((COUNT_OF(REQUESTS) * COUNT_OF(FORMATS) + STEP - 1) / STEP), THREADS);
    return others > 0;
}
