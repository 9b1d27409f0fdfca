/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The orders that have names, Megatron's against its rank formulas; where a group lies; what launchers refuse of a
 * request. */
#include "search/launch/launcher.h"

#include "base/util.h"
#include "tests/search/asked.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <string.h>

/* Coordinate of a chip in every role, as nesting means it: the innermost role varies fastest. */
static void coordinates(const Nesting *nesting, const int32_t factors[ROLE_COUNT], int chip, int at[ROLE_COUNT]) {
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = nesting->order[i];
        at[role] = chip % factors[role];
        chip /= factors[role];
    }
}

Test(nesting_names, names) {
    static const char *const NAMES[] = {"default", "maxtext", "jax", "megatron", "megatron-pp-dp", "torchtitan"};
    Nesting nesting;
    char text[NESTING_TEXT_SIZE];
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        cr_expect_str_eq(nesting_name((int)i), NAMES[i]);
        cr_assert(nesting_named(NAMES[i], &nesting));
        unsigned seen = 0;
        for (int r = 0; r < ROLE_COUNT; r++) seen |= 1u << nesting.order[r];
        cr_expect_eq(seen, (unsigned)ROLES_ALL, "%s: not every role once", NAMES[i]);
    }
    cr_expect_null(nesting_name((int)COUNT_OF(NAMES)));
    cr_expect_null(nesting_name(-1));
    cr_expect_not(nesting_named("all", &nesting));
    cr_expect_not(nesting_named("", &nesting));
    nesting_named("maxtext", &nesting);
    cr_expect_str_eq(nesting_text(&nesting, text), "expert, tensor, sequence, fsdp, data, pipeline");
    Nesting canonical = nesting_canonical();
    nesting_named("default", &nesting);
    cr_expect_eq(memcmp(&canonical, &nesting, sizeof nesting), 0);
}

/* Megatron's rank tables (core/parallel_state.py): rank of (t, c, d, p) = t + tp (c + cp (d + dp p)), and with
 * --use-tp-pp-dp-mapping t + tp (c + cp (p + pp d)); experts at etp = tp, e just outside. */
Test(nesting_names, megatron_ranks) {
    static const int32_t FACTORS[ROLE_COUNT] = {[ROLE_TENSOR] = 2, [ROLE_EXPERT] = 3, [ROLE_SEQUENCE] = 2,
                                                [ROLE_FSDP] = 2,   [ROLE_DATA] = 2,   [ROLE_PIPELINE] = 5};
    Nesting nesting;
    int at[ROLE_COUNT];
    for (int rank = 0; rank < 240; rank++) {
        nesting_named("megatron", &nesting);
        coordinates(&nesting, FACTORS, rank, at);
        int dp = at[ROLE_EXPERT] + 3 * (at[ROLE_FSDP] + 2 * at[ROLE_DATA]);
        cr_expect_eq(rank, at[ROLE_TENSOR] + 2 * (at[ROLE_SEQUENCE] + 2 * (dp + 12 * at[ROLE_PIPELINE])));
        nesting_named("megatron-pp-dp", &nesting);
        coordinates(&nesting, FACTORS, rank, at);
        int outer = at[ROLE_FSDP] + 2 * at[ROLE_DATA];
        cr_expect_eq(rank, at[ROLE_TENSOR] +
                               2 * (at[ROLE_SEQUENCE] + 2 * (at[ROLE_EXPERT] + 3 * (at[ROLE_PIPELINE] + 5 * outer))));
    }
}

/* 16 = tensor 2, sequence 2, data 4; 8 = fsdp 8. */
Test(nesting_names, footprints) {
    Mesh mesh = {.axis_count = 2, .axes = {{.kind = AXIS_RING, .size = 16}, {.kind = AXIS_RING, .size = 8}}};
    Placement placement = {{{2, 1, 2, 1, 4, 1}, {1, 1, 1, 8, 1, 1}}};
    static const struct {
        const char *name;
        RoleSet members;
        Span on[2];
    } ROWS[] = {
        {"tensor is innermost", 1u << ROLE_TENSOR, {{2, 1}, {1, 1}}},
        {"sequence stands two apart", 1u << ROLE_SEQUENCE, {{2, 2}, {1, 1}}},
        {"data is outermost", 1u << ROLE_DATA, {{4, 4}, {1, 1}}},
        {"fsdp has the other axis", 1u << ROLE_FSDP, {{1, 1}, {8, 1}}},
        {"sequence, fsdp and data together", 1u << ROLE_SEQUENCE | 1u << ROLE_FSDP | 1u << ROLE_DATA, {{8, 2}, {8, 1}}},
        {"all of it", ROLES_ALL, {{16, 1}, {8, 1}}},
    };
    Nesting nesting = nesting_canonical();
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Footprint footprint = nesting_footprint(&mesh, &nesting, &placement, ROWS[i].members);
        for (int a = 0; a < 2; a++) {
            cr_expect_eq(footprint.on[a].factor, ROWS[i].on[a].factor, "%s", ROWS[i].name);
            cr_expect_eq(footprint.on[a].stride, ROWS[i].on[a].stride, "%s", ROWS[i].name);
        }
        cr_expect_eq(footprint_degree(&mesh, &footprint), ROWS[i].on[0].factor * ROWS[i].on[1].factor, "%s",
                     ROWS[i].name);
    }
}

/* What launchers have against a request whatever the plan (its model, precision, state): each by the words of its
 * source, as of the commits of docs/launch.md. */
static const struct {
    const char *request;
    int launcher;
    const char *says; /* a part of the sentence; NULL: nothing */
} WORKS[] = {
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
    {"--model 8b --chip v5p --chips 64 --optimizer adafactor", LAUNCHER_MAXTEXT, "no such optimizer"},
    {"--model 8b --chip v5p --chips 64 --optimizer muon", LAUNCHER_MAXTEXT, NULL},
    {"--model qwen2.5-32b --chip v5p --chips 64 --optimizer muon", LAUNCHER_MAXTEXT, "muon"},
    {"--model 8b --chip v5p --chips 64 --state-dtypes m=fp8", LAUNCHER_MAXTEXT, "fp32 there"},
    {"--model 8b --chip v5p --chips 64 --state-dtypes m=fp8", LAUNCHER_JAX, NULL},
    /* a file that does not say the state would hold another plan than it predicts */
    {"--model 8b --chip v5p --chips 64 --state-dtypes m=bf16", LAUNCHER_MAXTEXT, NULL},
    {"--model 8b --chip v5p --chips 64 --state-dtypes moments=bf16", LAUNCHER_MAXTEXT, "second moment"},
    {"--model 8b --chip h100 --nodes 1 --optimizer lion", LAUNCHER_MEGATRON, NULL},
    {"--model 8b --chip h100 --nodes 1 --optimizer adamw8bit", LAUNCHER_MEGATRON, "no such optimizer"},
    {"--model 8b --chip h100 --nodes 1 --optimizer lion --state-dtypes m=bf16", LAUNCHER_MEGATRON, "Adam's alone"},
    {"--model 8b --chip h100 --nodes 1 --state-dtypes moments=bf16", LAUNCHER_MEGATRON, NULL},
    {"--model 8b --chip h100 --nodes 1 --state-dtypes master=bf16", LAUNCHER_MEGATRON, "fp32 or fp16"},
    {"--model 8b --chip h100 --nodes 1 --optimizer lion", LAUNCHER_DEEPSPEED, NULL},
    {"--model 8b --chip h100 --nodes 1 --state-dtypes moments=bf16", LAUNCHER_DEEPSPEED, "with that alone"},
    {"--model 8b --chip h100 --nodes 1 --state-dtypes master=bf16,moments=bf16", LAUNCHER_DEEPSPEED, NULL},
    {"--model 8b --chip h100 --nodes 1 --optimizer lion", LAUNCHER_TORCHTITAN, "no such optimizer"},
    {"--model 8b --chip h100 --nodes 1 --state-dtypes moments=bf16", LAUNCHER_TORCHTITAN, "moments like the weights"},
    {"--model 8b --chip h100 --nodes 1 --state-dtypes gradients=bf16", LAUNCHER_TORCHTITAN, "mixed_precision_reduce"},
    {"--model 8b --chip h100 --nodes 1 --lora --optimizer adamw8bit", LAUNCHER_TRL, NULL},
    {"--model 8b --chip h100 --nodes 1 --sft --state-dtypes moments=fp32", LAUNCHER_TRL, "moments like the weights"},
};

Test(launcher, refuses_work_for_its_own_reason) {
    char command[200];
    for (size_t i = 0; i < COUNT_OF(WORKS); i++) {
        RequestedSearch asked;
        snprintf(command, sizeof command, "plan %s", WORKS[i].request);
        asked_read(&asked, command);
        const char *says = launch_refusal_of_work(WORKS[i].launcher, asked.request);
        bool right = WORKS[i].says ? says && strstr(says, WORKS[i].says) : !says;
        cr_expect(right, "%s for %s: %s", WORKS[i].request, launcher_name(WORKS[i].launcher), says ? says : "takes it");
        cr_expect_eq(asked.request->space.unable >> WORKS[i].launcher & 1, says != NULL);
        asked_close(&asked);
    }
}
