/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a module of `emit jax` says of its machine, its types, its axes, their places and its recomputation, by hand;
 * the odd spellings are none that we write, and still mean something. */
#include "search/launch/jax/jax.h"

#include "base/util.h"
#include "search/cli/request_text.h"
#include "search/launch/syntax/config_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

extern const Launcher JAX_LAUNCHER;

static const char *or_none(const char *text) { return text ? text : "none"; }

static ConfigFile file_of(Arena *arena, const char *text) {
    ConfigFile file = {.name = "f.py", .arena = arena};
    Error error = {0};
    cr_assert(config_read_python(text, strlen(text), &file, &error), "%s: %s", text, error.text);
    return file;
}

/* So many nodes, so many slices of a shape, or a shape; a number has at most 11 digits. */
Test(jax_import, machines) {
    static const struct {
        const char *machine, *nodes, *slices, *slice;
    } ROWS[] = {
        {"16 nodes of h100", "16", "none", "none"},
        {"99999999999 nodes of h100", "99999999999", "none", "none"},
        {"100000000000 nodes of h100", "none", "none", "100000000000 nodes of h100"},
        {" nodes of h100", "none", "none", " nodes of h100"},
        {"2 x 8x8x8", "none", "2", "8x8x8"},
        {"99999999999 x 4x4", "none", "99999999999", "4x4"},
        {"100000000000 x 4x4", "none", "none", "100000000000 x 4x4"},
        {" x 4x4", "none", "none", " x 4x4"},
        {"16x16", "none", "none", "16x16"},
        {"", "none", "none", "none"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        ImportedWork work = {0};
        char text[128];
        snprintf(text, sizeof text, "MACHINE = '%s'\nMODEL = 'm'\nCHIP = 'c'\n", ROWS[i].machine);
        ConfigFile file = file_of(&arena, text);
        cr_assert(JAX_LAUNCHER.import_work(&file, &work, &error), "%s", error.text);
        cr_expect_str_eq(or_none(work.nodes), ROWS[i].nodes, "%s: %s", ROWS[i].machine, or_none(work.nodes));
        cr_expect_str_eq(or_none(work.slices), ROWS[i].slices, "%s: %s", ROWS[i].machine, or_none(work.slices));
        cr_expect_str_eq(or_none(work.slice), ROWS[i].slice, "%s: %s", ROWS[i].machine, or_none(work.slice));
        cr_expect_str_eq(work.model, "m");
        cr_expect_str_eq(work.chip, "c");
        arena_free(&arena);
    }
}

Test(jax_import, types) {
    static const struct {
        const char *dtypes, *precision, *state;
    } ROWS[] = {
        {"{'matmuls': 'bf16', 'gradients': 'fp32', 'first_moment': 'fp32', 'second_moment': 'fp32', 'master': 'fp32'}",
         "none", "gradients=fp32"},
        {"{'matmuls': 'fp8', 'gradients': 'bf16', 'first_moment': 'bf16', 'second_moment': 'fp32', 'master': 'fp32'}",
         "fp8", "gradients=bf16 m=bf16 v=fp32"},
        {"{'gradients': 'fp32', 'first_moment': 'fp32', 'second_moment': 'bf16', 'master': 'bf16'}", "none",
         "gradients=fp32 m=fp32 v=bf16 master=bf16"},
        {"{'gradients': 'fp32', 'first_moment': 'bf16'}", "none", "gradients=fp32"},
        {"{'matmuls': 'fp8'}", "fp8", "none"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        ImportedWork work = {0};
        char text[512];
        snprintf(text, sizeof text, "MODEL = 'm'\nDTYPES = %s\n", ROWS[i].dtypes);
        ConfigFile file = file_of(&arena, text);
        cr_assert(JAX_LAUNCHER.import_work(&file, &work, &error), "%s", error.text);
        cr_expect_str_eq(or_none(work.precision), ROWS[i].precision, "%s", ROWS[i].dtypes);
        cr_expect_str_eq(or_none(work.state_dtypes), ROWS[i].state, "%s: %s", ROWS[i].dtypes,
                         or_none(work.state_dtypes));
        arena_free(&arena);
    }
}

#define BATCH "SEQUENCES = 1024\nMICROBATCH_SEQUENCES = 2\n"
#define REMAT(runs) "REMAT = (" runs ")\n"
#define ALL "'attention_input', 'qkv', 'context', 'middle', 'mlp_input', 'gate_up', 'product'"

/* On 8x8x8 of v5p. Axes that belong to no role are the experts'. */
static const struct {
    const char *name, *text, *degrees, *pins, *nesting, *remat;
} PLANS[] = {
    {"an axis for each role",
     "MESH_AXES = {'fsdp': 64, 'tensor': 8}\nROLES = {'fsdp': ('fsdp',), 'tensor': ('tensor',)}\n"
     "PHYSICAL = (('x', 8, (('tensor', 8),)), ('y', 8, (('fsdp', 8),)), ('z', 8, (('fsdp', 8),)))\n" BATCH,
     "fsdp=64 tensor=8", "x:tensor=8 y:fsdp=8 z:fsdp=8", "default", ""},
    {"two axes of a role",
     "MESH_AXES = {'a': 4, 'b': 16, 'c': 8}\nROLES = {'fsdp': ('a', 'b'), 'data': ('c',)}\n"
     "PHYSICAL = (('x', 8, (('c', 8),)), ('y', 8, (('a', 4), ('b', 2))), ('z', 8, (('b', 8),)))\n" BATCH,
     "data=8 fsdp=64", "x:data=8 y:fsdp=8 z:fsdp=8", "default", ""},
    {"roles on one axis, outermost first",
     "MESH_AXES = {'d': 2, 'f': 64, 't': 4}\nROLES = {'data': ('d',), 'fsdp': ('f',), 'tensor': ('t',)}\n"
     "PHYSICAL = (('x', 8, (('d', 2), ('t', 4))), ('y', 8, (('f', 8),)), ('z', 8, (('f', 8),)))\n" BATCH,
     "data=2 fsdp=64 tensor=4", "x:data=2 x:tensor=4 y:fsdp=8 z:fsdp=8", "default", ""},
    {"one policy of all layers",
     "MESH_AXES = {'f': 512}\nROLES = {'fsdp': ('f',)}\n" BATCH REMAT("(80, ('qkv', 'context'), ('gate_up',)),"),
     "fsdp=512", "", "default", "qkv=saved context=saved gate_up=offloaded"},
    {"some layers whole, the first ones",
     "MESH_AXES = {'f': 512}\nROLES = {'fsdp': ('f',)}\n" BATCH REMAT("(30, (), ()), (50, (" ALL "), ())"), "fsdp=512",
     "", "default", "full:30"},
    {"and the last ones",
     "MESH_AXES = {'f': 512}\nROLES = {'fsdp': ('f',)}\n" BATCH REMAT("(50, ('layer_input', " ALL
                                                                      "), ()), (30, ('layer_input'), ())"),
     "fsdp=512", "", "default", "full:30"},
    {"layers that differ otherwise",
     "MESH_AXES = {'f': 512}\nROLES = {'fsdp': ('f',)}\n" BATCH REMAT("(50, ('qkv',), ()), (30, (), ())"), "fsdp=512",
     "", "default", ""},
};

static void degrees_words(const Degrees *degrees, char *text, size_t size) {
    static const Role ORDER[] = {ROLE_DATA, ROLE_FSDP, ROLE_SEQUENCE, ROLE_TENSOR, ROLE_EXPERT, ROLE_PIPELINE};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(ORDER); i++)
        if (degrees->of[ORDER[i]] > 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%d", used ? " " : "", role_name(ORDER[i]),
                                     (int)degrees->of[ORDER[i]]);
}

Test(jax_import, plans) {
    for (size_t i = 0; i < COUNT_OF(PLANS); i++) {
        Arena arena = {0};
        Error error = {0};
        char degrees[128], pins[256] = "";
        ImportedPlan plan = {0};
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(request_from_text("plan --model 70b --slice 8x8x8 --seq 8192", &arena, request));
        for (int role = 0; role < ROLE_COUNT; role++) plan.degrees.of[role] = plan.across[role] = 1;
        ConfigFile file = file_of(&arena, PLANS[i].text);
        cr_assert(JAX_LAUNCHER.import_plan(&file, request, &plan, &error), "%s: %s: %s", PLANS[i].name, error.where,
                  error.text);
        degrees_words(&plan.degrees, degrees, sizeof degrees);
        cr_expect_str_eq(degrees, PLANS[i].degrees, "%s: %s", PLANS[i].name, degrees);
        for (int p = 0; p < plan.pin_count; p++)
            snprintf(pins + strlen(pins), sizeof pins - strlen(pins), "%s%s:%s=%d", p ? " " : "", plan.pins[p].axis,
                     role_name(plan.pins[p].role), (int)plan.pins[p].factor);
        cr_expect_str_eq(pins, PLANS[i].pins, "%s: %s", PLANS[i].name, pins);
        cr_expect_str_eq(or_none(plan.nesting), PLANS[i].nesting, "%s: %s", PLANS[i].name, or_none(plan.nesting));
        cr_expect_str_eq(plan.remat, PLANS[i].remat, "%s: %s", PLANS[i].name, plan.remat);
        cr_expect_eq(plan.sequences, 1024, "%s", PLANS[i].name);
        cr_expect_eq(plan.knobs.microbatch_sequences, 2, "%s", PLANS[i].name);
        arena_free(&arena);
    }
}

/* ---- knobs ---- */

#define WHOLE "MESH_AXES = {'f': 512}\nROLES = {'fsdp': ('f',)}\n"

/* What a module does not say is as JAX does it: one chunk, no ZeRO, weights gathered again, nothing on the host. Limits
 * are taken, and what lies beyond them is not. */
Test(jax_import, knobs) {
    static const struct {
        const char *text;
        bool good;
        int64_t chunks, zero;
        bool regather, sequences;
    } ROWS[] = {
        {BATCH, true, 1, 0, true, true},
        {"SEQUENCES = 512\nMICROBATCH_SEQUENCES = 1\n", true, 1, 0, true, true},
        {BATCH "VIRTUAL_STAGES = 1\nZERO_STAGE = 0\nREGATHER = False\n", true, 1, 0, false, true},
        {BATCH "VIRTUAL_STAGES = 1048576\nZERO_STAGE = 2\nREGATHER = True\n", true, 1048576, 2, true, true},
        {BATCH "VIRTUAL_STAGES = 0\n", false, 0, 0, true, true},
        {BATCH "VIRTUAL_STAGES = 1048577\n", false, 0, 0, true, true},
        {BATCH "ZERO_STAGE = 3\n", false, 0, 0, true, true},
        {BATCH "ZERO_STAGE = -1\n", false, 0, 0, true, true},
        {BATCH "ULYSSES = 0\n", false, 0, 0, true, true},
        {"SEQUENCES = 512\n", false, 0, 0, true, false},
        {"MICROBATCH_SEQUENCES = 1\n", false, 0, 0, true, false},
        {"SEQUENCES = 0\nMICROBATCH_SEQUENCES = 1\n", false, 0, 0, true, false},
        {"SEQUENCES = 513\nMICROBATCH_SEQUENCES = 1\n", false, 0, 0, true, false},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Error error = {0};
        ImportedPlan plan = {0};
        char text[512];
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(request_from_text("plan --model 70b --slice 8x8x8 --seq 8192", &arena, request));
        for (int role = 0; role < ROLE_COUNT; role++) plan.degrees.of[role] = plan.across[role] = 1;
        snprintf(text, sizeof text, WHOLE "%s", ROWS[i].text);
        ConfigFile file = file_of(&arena, text);
        cr_expect_eq(JAX_LAUNCHER.import_plan(&file, request, &plan, &error), ROWS[i].good, "%s: %s", ROWS[i].text,
                     error.text);
        if (ROWS[i].good) {
            cr_expect_eq(plan.knobs.virtual_stages, ROWS[i].chunks, "%s", ROWS[i].text);
            cr_expect_eq(plan.knobs.zero_stage, ROWS[i].zero, "%s", ROWS[i].text);
            cr_expect_eq(plan.knobs.regather, ROWS[i].regather, "%s", ROWS[i].text);
            cr_expect(!plan.knobs.offload_optimizer && plan.placed, "%s", ROWS[i].text);
        } else if (!ROWS[i].sequences) {
            cr_expect(strstr(error.where, "SEQUENCES"), "%s: %s", ROWS[i].text, error.where);
        }
        arena_free(&arena);
    }
}
