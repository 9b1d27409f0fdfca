/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One answer for any number of threads. A plain program, because Criterion forks, which the thread sanitizer does not
 * bear; under it (preset tsan) this is also the search for data races. */
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/planning.h"
#include "search/engine/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16 };

static const struct {
    const char *name;
    const char *words[WORDS_MAX];
} PROBLEMS[] = {
    {"2-D torus, tight memory", {"plan", "--model", "8b", "--chip", "v5e", "--slice", "4x4", "--batch", "256Ki"}},
    {"3-D torus, every variant",
     {"plan", "--model", "8b", "--slice", "4x4x4", "--batch", "1Mi", "--top", "20", "--variants"}},
    {"two slices", {"plan", "--model", "llama3.2-1b", "--slice", "2x2x2", "--slices", "2", "--batch", "1Mi"}},
    {"switches",
     {"plan", "--model", "llama3.2-1b", "--chip", "h100", "--nodes", "2", "--batch", "256Ki", "--padding", "none"}},
    {"experts", {"plan", "--model", "mixtral-8x7b", "--slice", "2x4x4", "--batch", "512Ki", "--seq", "4096"}},
    {"brute force",
     {"plan", "--model", "llama3.2-1b", "--chip", "v5e", "--slice", "2x2", "--batch", "64Ki", "--brute-force"}},
};
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define FEWEST 2 /* one thread has no races */
#endif
#endif
#ifndef FEWEST
#define FEWEST 1, 2
#endif
static const int THREADS[] = {FEWEST, 7};

static void write_count(FILE *out, const char *name, Count count) {
    char text[COUNT_TEXT_SIZE];
    fprintf(out, "%s %s\n", name, count_text(count, false, text));
}

/* Everything that could differ, to the last digit. */
static void write_result(FILE *out, const SearchResult *result) {
    const Certificate *certificate = &result->certificate;
    write_count(out, "covered", certificate->plans_covered);
    write_count(out, "evaluated", certificate->plans_evaluated);
    write_count(out, "layouts", certificate->layouts_solved);
    for (PruneReason reason = 0; reason < PRUNED_COUNT; reason++)
        write_count(out, prune_reason_name(reason), certificate->plans_pruned[reason]);
    fprintf(out, "opened %lld bound %.17g gap %.17g\n", (long long)certificate->degree_tuples_expanded,
            certificate->best_bound_seconds, certificate->gap);
    for (int i = 0; i < result->plan_count; i++) {
        const RankedPlan *ranked = &result->plans[i];
        const Knobs *knobs = &ranked->plan.knobs;
        char notation[NOTATION_SIZE];
        fprintf(out, "%d %s on %s: %.17g s, MFU %.17g, %s m=%lld v=%lld zero=%d\n", i,
                degrees_notation(&ranked->plan.degrees, false, notation), ranked->machine.text, ranked->ranked_seconds,
                ranked->estimate.mfu, schedule_name(knobs->schedule), (long long)knobs->microbatches,
                (long long)knobs->virtual_stages, knobs->zero_stage);
        for (int a = 0; a < ACTIVATION_COUNT; a++)
            for (int s = 0; s < STATE_COUNT; s++) fprintf(out, " %lld", (long long)ranked->plan.layout.layers[a][s]);
        write_count(out, " equal", ranked->equal_placements);
    }
}

/* What a search says, as text the caller frees; NULL: it failed, and why is on stderr. */
static char *answer(const char *const *problem, int threads) {
    char words[WORDS_MAX][32], *list[WORDS_MAX + 1] = {NULL}, *text = NULL;
    int count = 0;
    for (; count < WORDS_MAX && problem[count]; count++) {
        snprintf(words[count], sizeof words[count], "%s", problem[count]);
        list[count] = words[count];
    }
    Arena arena = {0};
    Error error = {0};
    Options options;
    SearchResult result;
    Request *request = ARENA_NEW(&arena, Request, 1);
    size_t length;
    FILE *out = open_memstream(&text, &length);
    bool ok = request && out && options_parse(count, list, &COMMAND_PLAN, &arena, &options, &error) &&
              request_from_options(&options, &arena, request, &error);
    if (ok) {
        request->control.threads = threads;
        ok = search_run(request, &arena, &result, &error);
    }
    if (ok) write_result(out, &result);
    if (out) fclose(out);
    if (!ok) {
        fprintf(stderr, "%s: %s\n", error.where, error.text);
        free(text);
        text = NULL;
    }
    arena_free(&arena);
    return text;
}

/* The same of an error table: every digit of every run is in its JSON. */
static char *error_table(int threads) {
    char number[16], path[] = SHARDOPT_SOURCE_DATA "/cost/measured/data/train.jsonl";
    char *words[] = {"validate", path, "--format", "json", "--threads", number, NULL}, *text = NULL;
    size_t length;
    Error error = {0};
    FILE *out = open_memstream(&text, &length);
    snprintf(number, sizeof number, "%d", threads);
    Streams streams = {.out = out, .err = stderr};
    bool ok = out && command_run(&COMMAND_VALIDATE, 6, words, streams, &error) == EXIT_DONE;
    if (out) fclose(out);
    if (ok) return text;
    fprintf(stderr, "%s: %s\n", error.where, error.text);
    free(text);
    return NULL;
}

/* Whether an answer is the first one. */
static bool compare(const char *name, int threads, const char *first, const char *text) {
    bool same = first && text && strcmp(first, text) == 0;
    printf("%s: %s, %d threads as with %d\n", same ? "ok" : "FAIL", name, threads, THREADS[0]);
    if (!same) printf("--- first\n%s--- %d\n%s", first ? first : "", threads, text ? text : "");
    fflush(stdout);
    return same;
}

int main(void) {
    int passed = 0, failed = 0;
    for (size_t i = 0; i < COUNT_OF(PROBLEMS); i++) {
        char *first = answer(PROBLEMS[i].words, THREADS[0]);
        for (size_t t = 1; t < COUNT_OF(THREADS); t++) {
            char *text = answer(PROBLEMS[i].words, THREADS[t]);
            compare(PROBLEMS[i].name, THREADS[t], first, text) ? passed++ : failed++;
            free(text);
        }
        free(first);
    }
    char *first = error_table(THREADS[0]);
    for (size_t t = 1; t < COUNT_OF(THREADS); t++) {
        char *text = error_table(THREADS[t]);
        compare("an error table", THREADS[t], first, text) ? passed++ : failed++;
        free(text);
    }
    free(first);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
