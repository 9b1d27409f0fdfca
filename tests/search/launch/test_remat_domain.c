/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans for one launcher are laid out by what it can be told: the best of all its rules, each searched alone; the same
 * by brute force; and in words that it has. */
#include "base/util.h"
#include "models/config/model_json.h"
#include "tests/sanitizer.h"
#include "tests/search/asked.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct {
    int launcher; /* -1: one without words */
    const char *command;
} PROBLEMS[] = {
    {LAUNCHER_MAXTEXT, "plan --model 8b --chip v5e --slice 4x4 --batch 128Ki --seq 4096 --for maxtext --top 1"},
    {LAUNCHER_MEGATRON, "plan --model 8b --chip h100 --nodes 1 --batch 128Ki --for megatron --top 1"},
    {LAUNCHER_TORCHTITAN, "plan --model 8b --chip h100 --nodes 1 --batch 128Ki --for torchtitan --top 1"},
    {LAUNCHER_MEGATRON,
     "plan --model deepseek-v2-lite --chip h100 --nodes 1 --batch 64Ki --seq 4096 --for megatron --top 1"},
    {-1, "plan --model 8b --chip h100 --nodes 1 --batch 128Ki --for deepspeed --top 1"},
};

static double best_under(const RequestedSearch *asked, const RematDomain *domain, bool brute) {
    Arena arena = {0};
    Error error = {0};
    SearchResult result;
    Request request = *asked->request;
    request.question.domain = domain;
    request.control.brute_force = brute;
    cr_assert(search_run(&request, &arena, &result, &error), "%s", error.text);
    double seconds = result.plan_count > 0 ? result.plans[0].ranked_seconds : INFINITY;
    arena_free(&arena);
    return seconds;
}

Test(launch_remat, the_best_of_its_rules) {
    for (size_t i = 0; i < COUNT_OF(PROBLEMS); i++) {
        RequestedSearch asked;
        asked_open(&asked, PROBLEMS[i].command);
        cr_assert(asked.result.plan_count > 0 && asked.request->question.domain, "%s", PROBLEMS[i].command);
        const RankedPlan *plan = &asked.result.plans[0];
        const RematDomain *domain = asked.request->question.domain;
        double alone = INFINITY, found = plan->ranked_seconds;
        int step = (domain->count > 40 ? 17 : 1) * PROBLEMS_SHARE; /* of many rules some, and those of the plan */
        for (int r = 0; r < domain->count; r++) {
            RematDomain one = remat_domain(&domain->rules[r], 1, domain->by_chunk);
            bool followed = true;
            for (int a = 0; a < ACTIVATION_COUNT; a++) {
                int64_t layers[STATE_COUNT], all = 0;
                for (int s = 0; s < STATE_COUNT; s++) all += plan->plan.layout.layers[a][s];
                remat_layers(&domain->rules[r], (Activation)a, all, layers);
                for (int s = 0; s < STATE_COUNT; s++)
                    followed = followed && layers[s] == plan->plan.layout.layers[a][s];
            }
            if (r % step != 0 && !followed) continue;
            alone = min_real(alone, best_under(&asked, &one, false));
        }
        cr_expect(found == alone, "%s: %.17g, the best of the rules alone %.17g", PROBLEMS[i].command, found, alone);
        cr_expect(best_under(&asked, NULL, false) <= found, "%s: free layouts are no slower", PROBLEMS[i].command);

        if (PROBLEMS[i].launcher >= 0)
            cr_expect(plan->exact >> PROBLEMS[i].launcher & 1, "%s cannot be told it", PROBLEMS[i].command);

        char text[REMAT_TEXT_SIZE];
        const Sharding *sharding = &plan->plan.layout.sharding;
        if (PROBLEMS[i].launcher >= 0)
            cr_expect(launcher_at(PROBLEMS[i].launcher)
                              ->remat_words(&asked.request->question.model, &plan->plan.layout, text) ||
                          plan->plan.layout.layers[ACTIVATION_PRODUCT][STATE_RECOMPUTED] > 0,
                      "%s has no words for it", launcher_name(PROBLEMS[i].launcher));
        cr_expect(sharding->mlp == MLP_TENSOR && sharding->kv != KV_GATHERED &&
                  sharding->embedding == TABLE_VOCABULARY && sharding->logits == TABLE_VOCABULARY);
        asked_close(&asked);
    }
}

Test(launch_remat, brute_force) {
    for (size_t i = 0; i < COUNT_OF(PROBLEMS); i++) {
        RequestedSearch asked;
        asked_open(&asked, PROBLEMS[i].command);
        double brute = best_under(&asked, asked.request->question.domain, true);
        cr_expect(asked.result.plans[0].ranked_seconds == brute, "%s: %.17g, by brute force %.17g", PROBLEMS[i].command,
                  asked.result.plans[0].ranked_seconds, brute);
        asked_close(&asked);
    }
}

/* Rules by hand: 1 + 80 whole layers + 3 of modules for Megatron's dense 70B; 2 x 3^4 for MaxText; 3; 2. */
Test(launch_remat, rules) {
    static const struct {
        const char *model;
        LauncherSet launchers;
        int count;
    } ROWS[] = {
        {"llama3-70b", 0, 0},
        {"llama3-70b", 1u << LAUNCHER_JAX | 1u << LAUNCHER_MEGATRON, 0},
        {"llama3-70b", 1u << LAUNCHER_MEGATRON, 1 + 80 + 3},
        {"llama3-70b", 1u << LAUNCHER_MAXTEXT, 2 * 81},
        {"llama3-70b", 1u << LAUNCHER_TORCHTITAN, 3},
        {"llama3-70b", 1u << LAUNCHER_DEEPSPEED, 2},
        {"llama3-70b", 1u << LAUNCHER_DEEPSPEED | 1u << LAUNCHER_TORCHTITAN, 5},
        /* 7 inputs of modules: of 127 sets those 32 that have attention's output without its input are not */
        {"mixtral-8x7b", 1u << LAUNCHER_MEGATRON, 1 + 32 + 3 + 127 - 32},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Model model;
        Error error = {0};
        const RematDomain *domain;
        cr_assert(model_load(ROWS[i].model, &arena, &model, &error), "%s", error.text);
        cr_assert(launch_remat(ROWS[i].launchers, &model, &arena, &domain, &error));
        cr_expect_eq(domain ? domain->count : 0, ROWS[i].count, "%s %x: %d", ROWS[i].model, ROWS[i].launchers,
                     domain ? domain->count : 0);
        arena_free(&arena);
    }
}
