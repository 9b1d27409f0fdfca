/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan that somebody names is priced as it is named: nothing goes to the host that nobody sends there. */
#include "search/cli/commands.h"
#include "search/cli/planning.h"
#include "search/options/one_plan.h"

#include <criterion/criterion.h>
#include <string.h>

/* Prices the plan of a command line, words between blanks and the plan apart. */
static void price(const char *text, char *plan, Arena *arena, Report *report, NamedPrice *out) {
    enum { WORDS_MAX = 40 };
    char *words[WORDS_MAX + 2] = {NULL}, *rest = NULL, *copy = arena_text(arena, text);
    int count = 0;
    Error error = {0};
    Request *request = ARENA_NEW(arena, Request, 1);
    Options *options = ARENA_NEW(arena, Options, 1);
    ReportPlan *from = ARENA_NEW(arena, ReportPlan, 1);
    cr_assert(copy && request && options && from);
    for (char *word = strtok_r(copy, " ", &rest); word && count < WORDS_MAX; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    words[count++] = (char[]){"--plan"};
    words[count++] = plan;
    cr_assert(options_parse(count, words, &COMMAND_EXPLAIN, arena, options, &error) &&
                  one_plan_request(options, "explain", arena, request, from, &error),
              "%s: %s: %s", text, error.where, error.text);
    const NamedPlan named = {options, request, from, arena};
    cr_assert(named_plan_price(&named, report, out, &error), "%s", error.text);
    cr_assert_eq(report->result.plan_count, 1, "%s", text);
}

/* 70B on 16 GPUs, tensor 8: 70.6e9 / 8 parameters of 2 + 2 bytes, and 12 bytes a parameter of state over all 16 are 88
 * GB, which an H100 has not; with the state on the host it has. It was moved there, and took another time, before. */
Test(one_plan, what_lacks_hbm_stays_as_it_is_named) {
    char plan[] = "data=2 tensor=8 microbatches=8 zero_stage=1";
    Arena arena = {0};
    Report report = {0};
    NamedPrice out;
    price("explain --model 70b --chip h100 --nodes 2 --seq 4096 --sequences 16 --for megatron --remat full", plan,
          &arena, &report, &out);
    cr_expect_not(report.result.plans[0].plan.knobs.offload_optimizer);
    cr_expect_gt(out.lacking_bytes, 15e9);
    cr_expect_gt(out.host_seconds, report.result.plans[0].estimate.time.seconds);
    arena_free(&arena);
}

/* A host that shares its memory with the GPU is as far away: fine-tuning of 70B on 32 GB300 took twice as long. */
Test(one_plan, nothing_goes_to_a_near_host_either) {
    char plan[] = "data=16 pipeline=2 microbatches=2 schedule=interleaved virtual_stages=20 zero_stage=1";
    Arena arena = {0};
    Report report = {0};
    NamedPrice out;
    price("explain --model 70b --chip gb300 --chips 32 --precision fp8 --seq 4096 --sequences 32 --for megatron "
          "--remat none",
          plan, &arena, &report, &out);
    cr_expect_not(report.result.plans[0].plan.knobs.offload_optimizer);
    cr_expect_eq(out.lacking_bytes, 0);
    cr_expect_eq(out.host_seconds, 0);
    arena_free(&arena);
}
