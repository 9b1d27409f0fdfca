/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of launchers: their places, which are bits in reports and tests; and their names as --for takes them. */
#include "base/util.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <string.h>

Test(launchers, places) {
    static const char *const NAMES[] = {"maxtext",   "jax", "megatron", "torchtitan",
                                        "deepspeed", "trl", "axolotl",  "llama-factory"};
    char text[LAUNCHER_NAMES_SIZE], few[12];
    cr_assert_eq(launcher_count(), LAUNCHER_COUNT);
    for (int i = 0; i < LAUNCHER_COUNT; i++) cr_expect_str_eq(launcher_name(i), NAMES[i]);
    cr_expect_eq(launchers_all(), 255);
    cr_expect_eq(launchers_made_for(false), 31);
    cr_expect_eq(launchers_made_for(true), 224);
    cr_expect_eq(launchers_usual_in_tuning(), 1u << LAUNCHER_TRL | 1u << LAUNCHER_MEGATRON);
    cr_expect_eq(launchers_on_tpus(), 1u << LAUNCHER_MAXTEXT | 1u << LAUNCHER_JAX);
    cr_expect_str_eq(launcher_names(launchers_all(), ", ", " or ", text, sizeof text),
                     "maxtext, jax, megatron, torchtitan, deepspeed, trl, axolotl or llama-factory");
    cr_expect_str_eq(launcher_names(1u << LAUNCHER_JAX, ", ", " or ", text, sizeof text), "jax");
    cr_expect_str_eq(launcher_names(0, ", ", " or ", text, sizeof text), "");
    cr_expect_str_eq(launcher_names(launchers_all(), ", ", " or ", few, sizeof few), "maxtext, ja");
    cr_expect_str_eq(launchers_text(0, " ", text, sizeof text), "no launcher");
    cr_expect_str_eq(launchers_text(launchers_all(), " ", text, sizeof text), "all launchers");
    cr_expect_str_eq(launchers_text(6, " ", text, sizeof text), "jax megatron");
}

/* Each has what the rest of the program asks of it without looking; those that share the name of an order share it. */
Test(launchers, whole) {
    for (int i = 0; i < launcher_count(); i++) {
        const Launcher *launcher = launcher_at(i);
        cr_expect(launcher->refuses && launcher->import_work && launcher->import_plan && launcher->signs[0] &&
                      launcher->formats[0].name && strlen(launcher->name) < LAUNCHER_NAME_SIZE,
                  "%s", launcher->name);
        for (int n = 0; n < LAUNCHER_NESTINGS_MAX && launcher->nestings[n].name; n++) {
            Nesting first;
            cr_assert(nesting_named(launcher->nestings[n].name, &first));
            cr_expect_eq(nesting_compare(&first, &launcher->nestings[n].order), 0, "%s", launcher->nestings[n].name);
        }
        cr_expect(launcher->nestings[0].name, "%s", launcher->name);
    }
}

Test(launchers, parse) {
    static const struct {
        const char *text;
        bool ok;
        LauncherSet set;
    } LAUNCHES[] = {{"maxtext", true, 1},
                    {"jax,megatron", true, 6},
                    {"DeepSpeed", true, 16},
                    {"torchtitan,torchtitan", true, 8},
                    {"", false, 0},
                    {"maxtext,", false, 0},
                    {",", false, 0},
                    {"nemo", true, 4},
                    {"Megatron-LM,maxtext", true, 5},
                    {"nemotron", false, 0},
                    {"maxtext jax", false, 0}};
    for (size_t i = 0; i < COUNT_OF(LAUNCHES); i++) {
        LauncherSet set = 0;
        Error error = {0};
        cr_expect_eq(launchers_parse(LAUNCHES[i].text, "--for", &set, &error), LAUNCHES[i].ok, "%s", LAUNCHES[i].text);
        cr_expect_eq(set, LAUNCHES[i].set, "%s", LAUNCHES[i].text);
    }
}

/* Megatron, TorchTitan and DeepSpeed pad, and run on no TPU; MaxText and JAX do not. */
Test(launchers, who_pads) {
    enum { X = 1 << LAUNCHER_MAXTEXT, J = 1 << LAUNCHER_JAX, M = 1 << LAUNCHER_MEGATRON, D = 1 << LAUNCHER_DEEPSPEED };
    static const struct {
        PaddingRule rule;
        unsigned launchers;
        PaddingRule on_gpus, on_tpus;
    } ROWS[] = {
        {PADDING_NONE, 0, PADDING_NONE, PADDING_NONE},
        {PADDING_NONE, M, PADDING_NONE, PADDING_NONE},
        {PADDING_ANY, 0, PADDING_ANY, PADDING_ANY},
        {PADDING_ANY, M, PADDING_ANY, PADDING_NONE},
        {PADDING_ANY, D | J, PADDING_ANY, PADDING_NONE},
        {PADDING_ANY, X | J, PADDING_NONE, PADDING_NONE},
        {PADDING_LAUNCHABLE, 0, PADDING_LAUNCHABLE, PADDING_NONE},
        {PADDING_LAUNCHABLE, D, PADDING_LAUNCHABLE, PADDING_NONE},
        {PADDING_LAUNCHABLE, X, PADDING_NONE, PADDING_NONE},
    };
    const Mesh gpus = {.axes = {{.kind = AXIS_SWITCH, .level = LEVEL_NVLINK, .size = 8}}, .axis_count = 1};
    const Mesh tpus = {.axes = {{.kind = AXIS_RING, .level = LEVEL_ICI, .size = 8}}, .axis_count = 1};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        cr_expect_eq(padding_on(ROWS[i].rule, ROWS[i].launchers, &gpus), ROWS[i].on_gpus, "row %zu", i);
        cr_expect_eq(padding_on(ROWS[i].rule, ROWS[i].launchers, &tpus), ROWS[i].on_tpus, "row %zu", i);
    }
}
