/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A new launcher is a folder and a row: new_launcher/ has one that nobody ever built and a list with its row, and
 * nothing else of the program knows of it. It is asked for, it refuses, it places roles, and what is written for it is
 * read back. */
#include "search/cli/commands.h"
#include "search/cli/planning.h"
#include "search/launch/emit.h"
#include "search/launch/placement.h"
#include "search/options/one_plan.h"
#include "tests/search/asked.h"
#include "tests/search/launch/new_launcher/wombat.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

enum { WOMBAT = 6 }; /* its place in the list */

#define PLAN "plan --model 8b --chip h100 --nodes 2 --batch 1Mi --seq 8192 --max-idle 0 --top 1 "

Test(new_launcher, has_its_name) {
    LauncherSet set = 0;
    Nesting nesting;
    Error error = {0};
    char text[LAUNCHER_NAMES_SIZE];
    cr_assert_eq(launcher_count(), WOMBAT + 1);
    cr_expect(launchers_parse("Wombat,jax", "--for", &set, &error), "%s", error.text);
    cr_expect_str_eq(launchers_text(set, " ", text, sizeof text), "jax wombat");
    cr_expect_not(launchers_parse("wombats", "--for", &set, &error));
    cr_expect(strstr(error.text, "trl or wombat"), "%s", error.text);
    cr_assert(nesting_named("wombat", &nesting));
    cr_expect_eq(nesting.order[0], ROLE_FSDP);
    cr_expect_not(launchers_on_tpus() >> WOMBAT & 1);
}

/* Megatron runs two stages; the wombat says why it does not. */
Test(new_launcher, refuses_by_its_own_rule) {
    RequestedSearch asked;
    asked_open(&asked, PLAN "--for megatron --padding none --require pipeline=2");
    cr_assert_gt(asked.result.plan_count, 0);
    const RankedPlan *plan = asked.result.plans;
    cr_expect_str_eq(launch_refusal(WOMBAT, &asked.request->question.model, &plan->work, &plan->plan, plan->padding,
                                    &plan->machine.mesh),
                     WOMBAT_REFUSES_STAGES);
    cr_expect_not(plan->launchable_by >> WOMBAT & 1);
    asked_close(&asked);
    asked_open(&asked, PLAN "--for wombat --require pipeline=2");
    cr_expect_eq(asked.result.plan_count, 0);
    asked_close(&asked);
}

/* Two nodes of 8 GPUs, fsdp 8 and tensor 2: ranks 0 to 7, which are a node, are one group of fsdp. Megatron has the
 * pairs of tensor in a node. */
Test(new_launcher, places_by_its_own_nesting) {
    static const struct {
        const char *launcher;
        int32_t fsdp_in_node, tensor_in_node;
    } ROWS[] = {{"wombat", 8, 1}, {"megatron", 4, 2}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        RequestedSearch asked;
        char line[256];
        snprintf(line, sizeof line, PLAN "--for %s --require tensor=2,fsdp=8,regather=true", ROWS[i].launcher);
        asked_open(&asked, line);
        cr_assert_gt(asked.result.plan_count, 0, "%s", line);
        const RankedPlan *plan = asked.result.plans;
        LaunchAsk ask = {&plan->machine.mesh, asked.request->question.chip.name, &plan->plan.placement};
        LaunchWays ways;
        LauncherSet set = 0;
        Error error = {0};
        cr_assert(launchers_parse(ROWS[i].launcher, "--for", &set, &error));
        launch_ways(__builtin_ctz(set), &ask, &ways);
        cr_assert_geq(ways.count, 1);
        cr_expect_str_eq(plan->machine.mesh.axes[0].name, "nvlink");
        cr_expect_eq(ways.way[0].placement.factor[0][ROLE_FSDP], ROWS[i].fsdp_in_node, "%s", line);
        cr_expect_eq(ways.way[0].placement.factor[0][ROLE_TENSOR], ROWS[i].tensor_in_node, "%s", line);
        asked_close(&asked);
    }
}

/* What the plan's launcher is given, as a text. */
static char *emitted(const RequestedSearch *asked) {
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    EmitNotes notes = {0};
    FILE *memory = open_memstream(&text, &length);
    const EmitFormat *format = emit_format_named("wombat");
    cr_assert(format && memory && asked->result.plan_count > 0);
    cr_assert(emit_allowed(format, asked->request, asked->result.plans, &error), "%s", error.text);
    cr_assert(emit_write(format, asked->request, asked->result.plans, &notes, memory, &error), "%s", error.text);
    fclose(memory);
    return text;
}

/* "explain --from-config FILE ..." up to its search. */
static void read_back(const char *text, RequestedSearch *out) {
    char path[] = "/tmp/shardopt-wombat-XXXXXX";
    const char *words[] = {"explain", "--from-config", path, "--chip", "h100", "--nodes", "2"};
    Error error = {0};
    Options options;
    ReportPlan from = {0};
    int descriptor = mkstemp(path);
    memset(out, 0, sizeof *out);
    out->request = ARENA_NEW(&out->arena, Request, 1);
    cr_assert(descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
    close(descriptor);
    cr_assert(options_parse((int)COUNT_OF(words), (char **)words, &COMMAND_EXPLAIN, &out->arena, &options, &error) &&
                  one_plan_request(&options, "explain", &out->arena, out->request, &from, &error) &&
                  one_plan_search(out->request, &from, &out->arena, &out->result, &error),
              "%s: %s", error.where, error.text);
    unlink(path);
}

Test(new_launcher, what_is_written_is_read_back) {
    char here[NOTATION_SIZE], back[NOTATION_SIZE];
    RequestedSearch plan, read;
    asked_open(&plan, PLAN "--for wombat --require tensor=2 --remat full");
    char *text = emitted(&plan);
    cr_expect(strstr(text, "\nwombat_model: \"llama3.1-8b\"\nwombat_seq: 8192\nwombat_tensor: 2\n"), "%s", text);
    cr_expect(strstr(text, "# NOTE: wombats sleep by day.\n"), "%s", text);
    read_back(text, &read);
    free(text);
    cr_assert_eq(read.result.plan_count, 1);
    const RankedPlan *a = plan.result.plans, *b = read.result.plans;
    cr_expect_str_eq(plan_notation(&a->plan.degrees, &a->plan.knobs, true, here),
                     plan_notation(&b->plan.degrees, &b->plan.knobs, true, back));
    cr_expect_eq(knobs_compare(&a->plan.knobs, &b->plan.knobs), 0);
    cr_expect_float_eq(a->estimate.time.seconds, b->estimate.time.seconds, 1e-12 * a->estimate.time.seconds);
    asked_close(&plan);
    asked_close(&read);
}
