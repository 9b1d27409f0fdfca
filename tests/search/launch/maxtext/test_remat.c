/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How launchers are told to recompute and to offload: MaxText saves the dots it names, Megatron gives up what its
 * modules name. */
#include "base/util.h"
#include "models/config/model_json.h"
#include "tests/cost/workbench.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *words_of(int launcher, const char *policy, int64_t layers, char text[REMAT_TEXT_SIZE]) {
    Model model = llama3_70b();
    Layout layout = {{0}, {{0}}};
    RematRule rule;
    Error error = {0};
    cr_assert(remat_parse(policy, "test", &rule, &error), "%s: %s", policy, error.text);
    for (int a = 0; a < ACTIVATION_COUNT; a++) remat_layers(&rule, (Activation)a, layers, layout.layers[a]);
    return launcher_at(launcher)->remat_words(&model, &layout, text);
}

static void expect(int launcher, const char *policy, const char *expected) {
    char text[REMAT_TEXT_SIZE];
    const char *words = words_of(launcher, policy, 80, text);
    cr_expect(words && expected ? strcmp(words, expected) == 0 : !words && !expected, "%s: %s is told %s", policy,
              launcher_name(launcher), words ? words : "nothing");
}

Test(remat_words, policies) {
    static const struct {
        const char *asked, *maxtext, *megatron;
    } rows[] = {
        {"none", NULL, "no recomputation"},
        {"full", "remat_policy=full",
         "--recompute-granularity full --recompute-method block --recompute-num-layers 80"},
        {"minimal", "remat_policy=minimal", NULL},
        {"minimal_with_context", "remat_policy=minimal_with_context", NULL},
        {"save_dot_except_mlp", "remat_policy=save_dot_except_mlp", NULL},
        {"save_dot_except_mlpwi", "remat_policy=save_dot_except_mlp", NULL},
        {"save_dot_with_context_except_mlp", "remat_policy=save_dot_with_context_except_mlp", NULL},
        {"save_qkv_proj", "remat_policy=save_qkv_proj", NULL},
        {"save_out_proj", "remat_policy=save_out_proj", NULL},
        {"qkv_proj_offloaded", "remat_policy=qkv_proj_offloaded", NULL},
        {"minimal_offloaded", "remat_policy=minimal_offloaded", NULL},
        {"selective", NULL, "no recomputation"},
        {"layernorm", NULL, "--recompute-granularity selective --recompute-modules layernorm"},
        {"mlp", NULL, "--recompute-granularity selective --recompute-modules mlp"},
        {"moe_act", NULL, "--recompute-granularity selective --recompute-modules moe_act"},
        {"qkv=saved", "remat_policy=save_qkv_proj", NULL},
        {" context=saved,gate_up=offloaded ",
         "remat_policy=custom context=device mlpwi=offload mlpwi_0=offload mlpwi_1=offload moe_mlpwi_0=offload "
         "moe_mlpwi_1=offload",
         NULL},
        {"product=saved", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect(LAUNCHER_MAXTEXT, rows[i].asked, rows[i].maxtext);
        expect(LAUNCHER_MEGATRON, rows[i].asked, rows[i].megatron);
    }
    expect(LAUNCHER_TORCHTITAN, "full", "activation_checkpoint=FullAC");
    expect(LAUNCHER_TORCHTITAN, "none", "no activation_checkpoint");
    expect(LAUNCHER_TORCHTITAN, "minimal", NULL);
}

Test(remat_words, some_layers) {
    char text[REMAT_TEXT_SIZE];
    cr_expect_str_eq(words_of(LAUNCHER_MEGATRON, "full:40", 63, text),
                     "--recompute-granularity full --recompute-method block --recompute-num-layers 40");
    cr_expect_null(words_of(LAUNCHER_MAXTEXT, "full:40", 63, text), "MaxText does the same in all layers");
    cr_expect_null(words_of(LAUNCHER_TORCHTITAN, "full:40", 63, text));
}
