/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the search takes on a ladder of problems, relative to a fixed piece of arithmetic on the same machine in the
 * same run: ratios travel better than seconds. See README.md beside this file. */
#include "base/util.h"
#include "search/cli/options.h"
#include "search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS_MAX = 16, RUNS = 5 };

static const struct {
    const char *name;
    bool quick; /* part of --quick: well below a second */
    const char *words[WORDS_MAX];
} LADDER[] = {
    {"8b, v5e 4x4", true, {"plan", "--model", "8b", "--chip", "v5e", "--slice", "4x4", "--batch", "256Ki"}},
    {"the same, brute force",
     true,
     {"plan", "--model", "8b", "--chip", "v5e", "--slice", "4x4", "--batch", "256Ki", "--brute-force"}},
    {"8b, v5p 4x4x4", true, {"plan", "--model", "8b", "--slice", "4x4x4", "--batch", "1Mi"}},
    {"70b, v5p pod", false, {"plan", "--model", "70b", "--pods", "1", "--batch", "4Mi", "--seq", "4096"}},
    {"70b, 64 nodes of H100",
     false,
     {"plan", "--model", "70b", "--chip", "h100", "--nodes", "64", "--batch", "4Mi", "--seq", "8192"}},
    {"mixtral-8x22b, v5e 16x16",
     false,
     {"plan", "--model", "mixtral-8x22b", "--chip", "v5e", "--slice", "16x16", "--batch", "2Mi", "--seq", "4096"}},
    {"405b, 8 v5p pods, padded",
     false,
     {"plan", "--model", "405b", "--pods", "8", "--max-idle", "0", "--padding", "any"}},
    {"405b, 8 v5p pods", false, {"plan", "--model", "405b", "--pods", "8"}},
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, int count) {
    qsort(seconds, (size_t)count, sizeof *seconds, by_value);
    return seconds[count / 2];
}

/* The yardstick: 10^8 divisions, each waiting for the one before, on one core: no vector unit, cache or clock of memory
 * takes part. The iteration converges, so the result can be checked. */
static double yardstick_seconds(void) {
    volatile double start = 2;
    double x = start, began = now();
    for (int i = 0; i < 100000000; i++) x = 1 + 1 / x;
    double seconds = now() - began;
    return x > 1.618 && x < 1.619 ? seconds : -1; /* the golden ratio */
}

/* One search from words to plans, without loading what they name. Seconds; < 0: it failed, and why is on stderr. */
static double search_seconds(const char *const *problem, int threads, Certificate *certificate) {
    char words[WORDS_MAX][32], *list[WORDS_MAX + 1] = {NULL};
    int count = 0;
    for (; count < WORDS_MAX && problem[count]; count++) {
        snprintf(words[count], sizeof words[count], "%s", problem[count]);
        list[count] = words[count];
    }
    Arena arena = {0};
    Error error = {0};
    Options options;
    SearchResult result;
    double seconds = -1;
    Request *request = ARENA_NEW(&arena, Request, 1);
    if (request && options_parse(count, list, COMMAND_PLAN, &arena, &options, &error) &&
        request_from_options(&options, &arena, request, &error)) {
        request->threads = threads;
        double began = now();
        if (search_run(request, &arena, &result, &error)) {
            seconds = now() - began;
            *certificate = result.certificate;
        }
    }
    if (seconds < 0) fprintf(stderr, "%s: %s\n", error.where, error.text);
    arena_free(&arena);
    return seconds;
}

/* Percent of all plans that one reason left out. */
static double share(const Certificate *certificate, PruneReason reason) {
    return 100 * (double)certificate->plans_pruned[reason] / (double)certificate->plans_covered;
}

static bool run(size_t step, int threads, int runs, double yardstick) {
    double seconds[RUNS] = {0};
    Certificate certificate = {0};
    char covered[COUNT_TEXT_SIZE];
    for (int i = 0; i < runs; i++) {
        seconds[i] = search_seconds(LADDER[step].words, threads, &certificate);
        if (seconds[i] < 0) return false;
    }
    double spread = seconds[0], middle = median(seconds, runs);
    for (int i = 0; i < runs; i++) spread = max_real(spread, seconds[i]);
    printf("%-26s %7d %22s %12.0f %9lld %8.3f %8.3f %8.3f %8.3f %9.4f %9.4f %9.3f\n", LADDER[step].name, threads,
           count_text(certificate.plans_covered, true, covered), (double)certificate.plans_evaluated,
           (long long)certificate.degree_tuples_opened, share(&certificate, PRUNED_INDIVISIBLE),
           share(&certificate, PRUNED_MEMORY), share(&certificate, PRUNED_DEGREE_BOUND),
           share(&certificate, PRUNED_KNOB_BOUND), middle, spread - seconds[0], middle / yardstick);
    fflush(stdout);
    return true;
}

int main(int argc, char **argv) {
    bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0, ok = true;
    if (argc > 1 && !quick) {
        fprintf(stderr, "usage: %s [--quick]\n", argv[0]);
        return 2;
    }
    double yardstick = yardstick_seconds();
    if (yardstick <= 0) return 1;
    printf("yardstick: %.4f s; a ratio is the median search over it; spread is slowest - fastest of %d runs\n\n",
           yardstick, quick ? 1 : RUNS);
    printf("%-26s %7s %22s %12s %9s %8s %8s %8s %8s %9s %9s %9s\n", "problem", "threads", "covered", "evaluated",
           "opened", "size %", "memory %", "degree %", "knob %", "proof s", "spread", "ratio");
    for (size_t i = 0; i < COUNT_OF(LADDER); i++)
        for (int threads = 1; threads <= 2; threads++)
            if (!quick || LADDER[i].quick) ok = run(i, threads, quick ? 1 : RUNS, yardstick) && ok;
    return ok ? 0 : 1;
}
