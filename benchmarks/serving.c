/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The searches of `shardopt inference`: layouts, points and seconds of the front alone. The peer that is nearest,
 * aiconfigurator, takes about 4 s for a point that it interpolates and up to 30 s for a search over the layouts that it
 * lists, by its own notes (ai-dynamo/aiconfigurator@095f58a). `--quick` leaves the largest out. */
#include "base/clock.h"
#include "base/util.h"
#include "search/serving/answer.h"
#include "search/serving/options/serving_options.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name, *model, *chip, *machine, *weights, *cache;
    Option size;
    double goal; /* seconds that were requested */
    bool large;
} Problem;

static const Problem PROBLEMS[] = {
    {"70b, 8 H100", "70b", "h100", "1", "bf16", "bf16", OPTION_NODES, 1, false},
    {"70b, 64 H100", "70b", "h100", "8", "bf16", "bf16", OPTION_NODES, 1, false},
    {"405b, v5e 16x16", "405b", "v5e", "16x16", "int8", "int8", OPTION_SLICE, 5, false},
    {"deepseek-v3, 256 H200", "deepseek-v3", "h200", "256", "fp8", "bf16", OPTION_CHIPS, 5, true},
};

static bool solve(const Problem *problem, Arena *arena, ServingAnswer *answer, Error *error) {
    Options options = {0};
    const char **text = options.text;
    ServingRequested *requested = ARENA_NEW(arena, ServingRequested, 1);
    if (!requested) return error_memory(error);
    text[OPTION_MODEL] = problem->model;
    text[OPTION_CHIP] = problem->chip;
    text[problem->size] = problem->machine;
    text[OPTION_PRECISION] = problem->weights;
    text[OPTION_KV_DTYPE] = problem->cache;
    return serving_question(&options, arena, requested, error) &&
           serving_answer(&requested->question, arena, answer, error);
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    printf("| problem | layouts | points | evaluated | front | seconds | requested |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT_OF(PROBLEMS); i++) {
        Arena arena = {0};
        Error error = {0};
        ServingAnswer answer;
        char layouts[COUNT_TEXT_SIZE], points[COUNT_TEXT_SIZE], evaluated[COUNT_TEXT_SIZE];
        if (quick && PROBLEMS[i].large) continue;
        double start = clock_seconds();
        if (!solve(&PROBLEMS[i], &arena, &answer, &error)) {
            fprintf(stderr, "%s: %s: %s\n", PROBLEMS[i].name, error.where, error.text);
            return 1;
        }
        printf("| %s | %s | %s | %s | %d | %.2f | %g |\n", PROBLEMS[i].name,
               count_text(answer.count.space.layouts, true, layouts), count_text(answer.count.covered, true, points),
               count_text(answer.count.evaluated, true, evaluated), answer.front.count, clock_seconds() - start,
               PROBLEMS[i].goal);
        serving_answer_free(&answer);
        arena_free(&arena);
    }
    return 0;
}
