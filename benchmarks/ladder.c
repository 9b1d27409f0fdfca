/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the search takes to its proof on a ladder of problems, as a Markdown table: in seconds, and relative to a
 * fixed piece of arithmetic on the same machine in the same run, since ratios travel better. See README.md alongside
 * this file. */
#include "benchmarks/space.h"

#include <sys/resource.h>

enum { RUNS_MOST = 25, THREADS_MOST = 2 };

static const struct {
    const char *name;
    bool quick; /* part of --quick: well below a second */
    const char *command;
} LADDER[] = {
    {"8b, v5e 4x4", true, "plan --model 8b --chip v5e --slice 4x4 --batch 256Ki"},
    {"the same, brute force", true, "plan --model 8b --chip v5e --slice 4x4 --batch 256Ki --brute-force"},
    {"8b, v5p 4x4x4", true, "plan --model 8b --slice 4x4x4 --batch 1Mi"},
    {"70b, 64 nodes of H100", false, "plan --model 70b --chip h100 --nodes 64 --batch 4Mi --seq 8192"},
    {"mixtral-8x22b, v5e 16x16", false, "plan --model mixtral-8x22b --chip v5e --slice 16x16 --batch 2Mi --seq 4096"},
    {"70b, v5p pod", false, "plan --model 70b --pods 1 --batch 4Mi --seq 4096"},
    {"405b, 8 v5p pods, one shape", false, "plan --model 405b --pods 8 --max-idle 0 --padding any"},
    {"405b, 8 v5p pods", false, "plan --model 405b --pods 8"},
    {"kimi-k2, 12,500 nodes of H100, one shape", false,
     "plan --model kimi-k2 --chip h100 --nodes 12500 --batch 100Mi --max-idle 0 --padding any"},
    {"kimi-k2, 12,500 nodes of H100", false, "plan --model kimi-k2 --chip h100 --nodes 12500 --batch 100Mi"},
};

static double median(double *seconds, int count) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && seconds[j - 1] > seconds[j]; j--) {
            double swap = seconds[j];
            seconds[j] = seconds[j - 1], seconds[j - 1] = swap;
        }
    return seconds[count / 2];
}

/* The yardstick: 10^8 divisions, each waiting for the one before, on one core: no vector unit, cache or clock of memory
 * takes part. The iteration converges, so the result can be checked. */
static double yardstick_seconds(void) {
    volatile double start = 2;
    double x = start, began = clock_seconds();
    for (int i = 0; i < 100000000; i++) x = 1 + 1 / x;
    double seconds = clock_seconds() - began;
    return x > 1.618 && x < 1.619 ? seconds : -1; /* the golden ratio */
}

/* One search from words to plans, without loading what they name. Seconds; < 0: it failed, and why is on stderr. */
static double search_seconds(const char *command, int threads, double limit, Certificate *certificate) {
    Arena arena = {0};
    Error error = {0};
    SearchResult result;
    double seconds = -1;
    Request *request = ARENA_NEW(&arena, Request, 1);
    if (request && request_from_text(command, &arena, request)) {
        request->control.threads = threads;
        request->control.time_limit_seconds = limit;
        double began = clock_seconds();
        if (search_run(request, &arena, &result, &error)) {
            seconds = clock_seconds() - began;
            *certificate = result.certificate;
        } else {
            fprintf(stderr, "%s: %s\n", error.where, error.text);
        }
    }
    arena_free(&arena);
    return seconds;
}

/* Mean of the knob settings of the degree tuples of the machine requested. */
static double knobs_per_tuple(const char *command) {
    Arena arena = {0};
    Error error = {0};
    Space space;
    double mean = 0;
    Request *request = ARENA_NEW(&arena, Request, 1);
    if (request && request_from_text(command, &arena, request) && space_open(request, &arena, &space, &error))
        for (int64_t i = 0; i < space.count; i++)
            mean += (double)knob_count(space.setting.model, &space.degrees[i], space.setting.work.sequences,
                                       &space.domain) /
                    (double)space.count;
    arena_free(&arena);
    return mean;
}

/* Percent of all plans that one reason left out. */
static double share(const Certificate *certificate, PruneReason reason) {
    return 100 * (double)certificate->plans_pruned[reason] / (double)certificate->plans_covered;
}

/* "1.234", and behind it what it lacks of the proof where the limit came first. */
static void print_seconds(double seconds, const Certificate *certificate) {
    if (certificate->proof == PROOF_OPTIMAL)
        printf(" %.3f |", seconds);
    else
        printf(" %.0f, no proof (gap %.1f%%) |", seconds, 100 * certificate->gap);
}

static bool run(size_t step, int runs, double limit, double yardstick) {
    double seconds[THREADS_MOST][RUNS_MOST] = {{0}}, middle[THREADS_MOST];
    Certificate certificate[THREADS_MOST];
    char factorizations[COUNT_TEXT_SIZE], covered[COUNT_TEXT_SIZE], evaluated[COUNT_TEXT_SIZE];
    for (int threads = 0; threads < THREADS_MOST; threads++) {
        for (int i = 0; i < runs; i++) {
            seconds[threads][i] = search_seconds(LADDER[step].command, threads + 1, limit, &certificate[threads]);
            if (seconds[threads][i] < 0) return false;
        }
        middle[threads] = median(seconds[threads], runs);
    }
    const Certificate *one = &certificate[0];
    printf("| %s | %s | %d | %lld | %.0f | %s | %.2f | %.2f | %.2f | %.2f | %lld | %s |", LADDER[step].name,
           count_text(one->factorizations, true, factorizations), one->machines, (long long)one->degree_tuples,
           knobs_per_tuple(LADDER[step].command), count_text(one->plans_covered, true, covered),
           share(one, PRUNED_INDIVISIBLE) + share(one, PRUNED_EQUAL), share(one, PRUNED_MEMORY),
           share(one, PRUNED_DEGREE_BOUND), share(one, PRUNED_KNOB_BOUND), (long long)one->degree_tuples_expanded,
           count_text(one->plans_evaluated, true, evaluated));
    for (int threads = 0; threads < THREADS_MOST; threads++) print_seconds(middle[threads], &certificate[threads]);
    printf(" %.2f | %.2f |\n", middle[0] / yardstick, middle[0] / middle[1]);
    fflush(stdout);
    return true;
}

static int usage(const char *program) {
    fprintf(stderr, "usage: %s [--quick] [--runs N] [--limit SECONDS] [--only TEXT]\n", program);
    return 2;
}

int main(int argc, char **argv) {
    bool quick = false, ok = true;
    int runs = 0;
    double limit = 120;
    const char *only = "";
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--runs") == 0 && more)
            runs = atoi(argv[++i]);
        else if (strcmp(argv[i], "--limit") == 0 && more)
            limit = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--only") == 0 && more)
            only = argv[++i];
        else
            return usage(argv[0]);
    }
    if (runs == 0) runs = quick ? 1 : 5;
    if (runs < 0 || runs > RUNS_MOST || !(limit > 0)) return usage(argv[0]);
    double yardstick = yardstick_seconds();
    if (yardstick <= 0) return 1;
    printf("Median of %d; the ratio is one thread's median over %.3f s, the yardstick's; limit %.0f s a search.\n\n",
           runs, yardstick, limit);
    printf("| problem | factorizations | shapes | degree tuples | knobs a tuple | plans | size %% | memory %% | degree "
           "bound %% | knob bound %% | expanded | evaluated | 1 thread s | 2 threads s | ratio | scaling |\n");
    printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT_OF(LADDER); i++)
        if ((!quick || LADDER[i].quick) && text_has(LADDER[i].name, only)) ok = run(i, runs, limit, yardstick) && ok;
    struct rusage usage_now;
    getrusage(RUSAGE_SELF, &usage_now);
    printf("\nMost memory held: %.0f MB.\n", (double)usage_now.ru_maxrss / 1024);
    return ok ? 0 : 1;
}
