/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names for the choice of activations that are saved, recomputed and offloaded: their meaning, and how they are read
 * and written. */
#include "cost/state/remat.h"

#include "base/file.h"
#include "models/config/model_json.h"
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <string.h>

static const Model *dense(void) {
    static Model model;
    model = llama3_70b();
    return &model;
}

static Layout layout_of(const RematRule *rule, int64_t layers) {
    Layout layout = {{0}, {{0}}};
    for (int a = 0; a < ACTIVATION_COUNT; a++) remat_layers(rule, (Activation)a, layers, layout.layers[a]);
    return layout;
}

/* What a layout does is called by the first name that fits. */
Test(remat, policies) {
    static const struct {
        const char *asked, *saved, *offloaded; /* beside the layer's input; the rest is recomputed */
        const char *name;
    } rows[] = {
        {"none", "attention_input qkv context middle mlp_input gate_up product", "", "none"},
        {"full", "", "", "full"},
        {"minimal", "qkv middle gate_up", "", "minimal"},
        {"minimal_with_context", "qkv context middle gate_up", "", "minimal_with_context"},
        {"save_dot_except_mlp", "qkv middle", "", "save_dot_except_mlp"},
        {"save_dot_except_mlpwi", "qkv middle", "", "save_dot_except_mlp"},
        {"save_dot_with_context_except_mlp", "qkv context middle", "", "save_dot_with_context_except_mlp"},
        {"save_qkv_proj", "qkv", "", "save_qkv_proj"},
        {"save_out_proj", "middle", "", "save_out_proj"},
        {"qkv_proj_offloaded", "", "qkv", "qkv_proj_offloaded"},
        {"minimal_offloaded", "", "qkv middle gate_up", "minimal_offloaded"},
        {"selective", "attention_input qkv context middle mlp_input gate_up product", "", "none"},
        {"layernorm", "qkv context middle gate_up product", "", "layernorm"},
        {"mlp", "attention_input qkv context middle mlp_input", "", "mlp"},
        {"moe_act", "attention_input qkv context middle mlp_input gate_up", "", "moe_act"},
        {"qkv=saved", "qkv", "", "save_qkv_proj"},
        {" context=saved,gate_up=offloaded ", "context", "gate_up", "custom"},
        {"product=saved", "product", "", "custom"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        RematRule rule;
        Error error = {0};
        char text[REMAT_TEXT_SIZE];
        cr_assert(remat_parse(rows[i].asked, "test", &rule, &error), "%s: %s", rows[i].asked, error.text);
        cr_expect(rule.required);
        cr_expect_eq(rule.state[ACTIVATION_LAYER_INPUT], STATE_SAVED, "%s", rows[i].asked);
        for (Activation a = ACTIVATION_ATTENTION_INPUT; a < ACTIVATION_COUNT; a++) {
            ActivationState expected = strstr(rows[i].saved, activation_name(a))       ? STATE_SAVED
                                       : strstr(rows[i].offloaded, activation_name(a)) ? STATE_OFFLOADED
                                                                                       : STATE_RECOMPUTED;
            cr_expect_eq(rule.state[a], expected, "%s: %s is %s", rows[i].asked, activation_name(a),
                         activation_state_name(rule.state[a]));
        }
        Layout layout = layout_of(&rule, 80);
        cr_expect_str_eq(remat_name(dense(), &layout, text), rows[i].name, "%s is called %s", rows[i].asked, text);
        /* what is written is read as the same */
        RematRule again;
        remat_text(&rule, text);
        cr_assert(remat_parse(text, "test", &again, &error), "%s: %s: %s", rows[i].asked, text, error.text);
        cr_expect_eq(memcmp(again.state, rule.state, sizeof rule.state), 0, "%s: %s", rows[i].asked, text);
    }
}

Test(remat, some_layers) {
    RematRule rule;
    Error error = {0};
    char text[REMAT_TEXT_SIZE];
    cr_assert(remat_parse("full:40", "test", &rule, &error));
    cr_expect_str_eq(remat_text(&rule, text), "full:40");
    Layout layout = layout_of(&rule, 63);
    cr_expect_eq(layout.layers[ACTIVATION_QKV][STATE_RECOMPUTED], 40);
    cr_expect_eq(layout.layers[ACTIVATION_QKV][STATE_SAVED], 23);
    cr_expect_eq(layout.layers[ACTIVATION_LAYER_INPUT][STATE_SAVED], 63);
    cr_expect_str_eq(remat_name(dense(), &layout, text), "full:40");
    layout = layout_of(&rule, 20); /* a stage has no more */
    cr_expect_str_eq(remat_name(dense(), &layout, text), "full");
    layout.layers[ACTIVATION_QKV][STATE_RECOMPUTED] = 3, layout.layers[ACTIVATION_QKV][STATE_SAVED] = 17;
    cr_expect_str_eq(remat_name(dense(), &layout, text), "custom");
}

Test(remat, bad_words) {
    static const struct {
        const char *words, *says;
    } rows[] = {
        {"", "is empty"},
        {"fulll", "did you mean full?"},
        {"full:", "whole number"},
        {"full:0", "from 1"},
        {"auto:3", "give it alone"},
        {"full:99999999999", "to 16384"},
        {"save_everything_that_there_is_and_then_some_more_of_it", "is no policy"},
        {"qkv=kept", "saved, recomputed, offloaded or partly"},
        {"qkv=saved qkv=saved", "twice"},
        {"query=saved", "gate_up"},
        {"layer_input=recomputed", "saved or offloaded"},
        {"layer_input=partly", "saved or offloaded"},
        {"qkv=saved full", "is no activation"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        RematRule rule = {.layers = 7};
        Error error = {0};
        cr_expect_not(remat_parse(rows[i].words, "--remat", &rule, &error), "%s", rows[i].words);
        cr_expect(strstr(error.text, rows[i].says) != NULL, "%s: %s", rows[i].words, error.text);
        cr_expect_eq(rule.layers, 7, "%s: nothing is written", rows[i].words);
    }
    RematRule rule;
    Error error = {0};
    cr_expect(remat_parse("auto", "--remat", &rule, &error) && !rule.required);
}

/* Every model of the zoo has the activations that its ops make. */
Test(remat, which_activations_there_are) {
    Arena arena = {0};
    Error error = {0};
    char **names;
    size_t count;
    const char *folder = file_data_folder("models/zoo", &arena, &error);
    cr_assert(folder && file_list(folder, ".json", &arena, &names, &count, &error));
    for (size_t i = 0; i < count; i++) {
        Model model;
        cr_assert(model_load(arena_format(&arena, "%s/%s", folder, names[i]), &arena, &model, &error), "%s",
                  error.text);
        Bench bench = bench_of(model, 1, 1024);
        ActivationCost costs[ACTIVATION_COUNT];
        CostContext setting = bench_setting(&bench);
        stage_activations(&setting, &bench.shard, &bench.knobs, &bench.sharding, costs);
        for (Activation a = 0; a < ACTIVATION_COUNT; a++)
            cr_expect_eq(activation_exists(&model, a), costs[a].exists, "%s: %s", names[i], activation_name(a));
    }
    arena_free(&arena);
}
