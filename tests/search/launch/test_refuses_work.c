/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What launchers have against a request whatever the plan (its model, precision, state), and the law that follows: the
 * first plan for a launcher is one that `emit` writes. */
#include "models/config/model_json.h"
#include "search/launch/emit.h"
#include "tests/search/asked.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>

/* Each by the words of its source, as of the commits of docs/launch.md. */
static const struct {
    const char *request;
    int launcher;
    const char *says; /* a part of the sentence; NULL: nothing */
} ROWS[] = {
    {"--model 8b --chip h100 --nodes 1 --precision fp8", LAUNCHER_DEEPSPEED, "fewer bits"},
    {"--model 8b --chip h100 --nodes 1", LAUNCHER_DEEPSPEED, NULL},
    {"--model 8b --chip h100 --nodes 1 --precision int8", LAUNCHER_MEGATRON, "int8"},
    {"--model 8b --chip h100 --nodes 1 --precision int8", LAUNCHER_TORCHTITAN, "int8"},
    {"--model 8b --chip h100 --nodes 1 --precision int8", LAUNCHER_MAXTEXT, NULL},
    {"--model 8b --chip b200 --nodes 1 --precision nvfp4", LAUNCHER_MEGATRON, NULL},
    {"--model 8b --chip b200 --nodes 1 --precision nvfp4", LAUNCHER_MAXTEXT, NULL},
    {"--model 8b --chip mi300x --nodes 1 --precision fp8", LAUNCHER_MAXTEXT, "no such matmuls"},
    {"--model 8b --chip mi300x --nodes 1 --precision fp8", LAUNCHER_MEGATRON, NULL},
    {"--model gemma3-12b --chip h100 --nodes 1", LAUNCHER_MEGATRON, "norm"},
    {"--model gemma3-12b --chip h100 --nodes 1", LAUNCHER_MAXTEXT, NULL},
    {"--model bloom-176b --chip h100 --nodes 1", LAUNCHER_MEGATRON, "ALiBi"},
    {"--model command-r-35b --chip h100 --nodes 1", LAUNCHER_MEGATRON, "same input"},
    {"--model glm-4.5-air --chip v5p --chips 64", LAUNCHER_MAXTEXT, "neither"},
    {"--model qwen2.5-32b --chip v5e --slice 16x16", LAUNCHER_MAXTEXT, NULL}, /* Qwen 2's layer, in its sizes */
    {"--model 8b --chip v5p --chips 64 --optimizer adafactor", LAUNCHER_MAXTEXT, "opt_type"},
    {"--model 8b --chip v5p --chips 64 --optimizer muon", LAUNCHER_MAXTEXT, NULL},
    {"--model qwen2.5-32b --chip v5p --chips 64 --optimizer muon", LAUNCHER_MAXTEXT, "muon"},
    {"--model 8b --chip v5p --chips 64 --state-dtypes m=fp8", LAUNCHER_MAXTEXT, "fp32 there"},
    {"--model 8b --chip v5p --chips 64 --state-dtypes m=fp8", LAUNCHER_JAX, NULL},
};

Test(refuses_work, each_for_its_own_reason) {
    char command[200];
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        RequestedSearch asked;
        snprintf(command, sizeof command, "plan %s", ROWS[i].request);
        asked_read(&asked, command);
        const char *says = launch_refusal_of_work(ROWS[i].launcher, asked.request);
        bool right = ROWS[i].says ? says && strstr(says, ROWS[i].says) : !says;
        cr_expect(right, "%s for %s: %s", ROWS[i].request, launcher_name(ROWS[i].launcher), says ? says : "takes it");
        cr_expect_eq(asked.request->space.unable >> ROWS[i].launcher & 1, says != NULL);
        asked_close(&asked);
    }
}

/* Whether `emit` writes the first plan of a search. */
static void expect_written(const char *command, const RequestedSearch *asked, const EmitFormat *format) {
    const RankedPlan *ranked = asked->result.plans;
    EmitNotes notes = {.count = 0};
    Error error = {0};
    FILE *out = fopen("/dev/null", "w");
    cr_assert(out);
    bool ok = emit_allowed(format, asked->result.request, ranked, &error) &&
              emit_write(format, asked->result.request, ranked, &notes, out, &error);
    cr_expect(ok, "%s: %s: %s", command, error.where, error.text);
    fclose(out);
}

/* Some models of every family, each launcher, each precision that the chip has: it is refused as a whole, with a
 * reason, or its first plan is written. */
Test(refuses_work, what_is_planned_for_a_launcher_is_emitted, .timeout = 600) {
    static const char *const CHIPS[] = {"h100 --nodes 2", "v6e --slice 4x4", "b200 --nodes 1", "mi300x --nodes 1"};
    enum { STEP = 8, TEXT = 300 };
    Arena arena = {0};
    Error error = {0};
    Zoo zoo;
    int written = 0, refused = 0;
    cr_assert(zoo_load(&arena, &zoo, &error), "%s", error.text);
    for (int m = 0; m < zoo.count; m += STEP)
        for (int i = 0; i < LAUNCHER_COUNT; i++)
            for (int p = 0; p < PRECISION_COUNT; p++) {
                char command[TEXT];
                size_t chip = (size_t)(m / STEP + p) % COUNT_OF(CHIPS);
                RequestedSearch asked = {0};
                snprintf(command, sizeof command,
                         "plan --model %s --chip %s --precision %s --for %s --seq 1024 --sequences 64 --threads 1",
                         zoo.models[m].name, CHIPS[chip], precision_name((Precision)p), launcher_name(i));
                asked.request = ARENA_NEW(&asked.arena, Request, 1);
                cr_assert(asked.request);
                if (request_from_text(command, &asked.arena, asked.request)) {
                    requested_search(&asked, command);
                    for (int f = 0; asked.result.plan_count > 0 && emit_format_at(f); f++)
                        if (emit_format_launcher(emit_format_at(f)) == i && !emit_format_at(f)->title)
                            expect_written(command, &asked, emit_format_at(f)), written++;
                } else
                    refused++;
                asked_close(&asked);
            }
    arena_free(&arena);
    cr_expect_gt(written, 60, "%d", written);
    cr_expect_gt(refused, 60, "%d", refused);
}
