/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models in MaxText's words: the names of configs/models in its release 0.2.5 for the zoo's models, whose sizes were
 * counted from other files, and the sizes of models that it has no name for. */
#include "search/launch/maxtext/maxtext.h"

#include "base/util.h"
#include "tests/models/zoo_fixture.h"

#include <stdlib.h>
#include <string.h>

TestSuite(maxtext_model, .init = zoo_setup, .fini = zoo_teardown);

/* Names that are not the zoo's own. */
static const struct {
    const char *ours, *theirs;
} OTHERWISE[] = {
    {"deepseek-v2-lite", "deepseek2-16b"},
    {"deepseek-v2-236b", "deepseek2-236b"},
    {"deepseek-v3", "deepseek3-671b"},
    {"kimi-k2", "kimi-k2-1t"},
    {"llama4-scout-17b-16e", "llama4-17b-16e"},
    {"llama4-maverick-17b-128e", "llama4-17b-128e"},
    {"qwen3-coder-480b-a35b", "qwen3-480b-a35b"},
};
static const char *const SAME[] = {
    "gemma-2b",      "gemma-7b",     "gemma2-2b",   "gemma2-9b",     "gemma2-27b",      "gemma3-4b",
    "gemma3-12b",    "gemma3-27b",   "gpt-oss-20b", "gpt-oss-120b",  "gpt3-175b",       "llama2-7b",
    "llama2-13b",    "llama2-70b",   "llama3-8b",   "llama3-70b",    "llama3.1-8b",     "llama3.1-70b",
    "llama3.1-405b", "llama3.3-70b", "mistral-7b",  "mixtral-8x7b",  "mixtral-8x22b",   "olmo3-32b",
    "qwen2.5-1.5b",  "qwen2.5-7b",   "qwen2.5-14b", "qwen3-0.6b",    "qwen3-1.7b",      "qwen3-4b",
    "qwen3-8b",      "qwen3-14b",    "qwen3-32b",   "qwen3-30b-a3b", "qwen3-235b-a22b",
};

/* The decoder blocks that types.py of that release does not know with muon. */
static bool without_muon(const char *theirs) {
    static const char *const BEGINS[] = {"gemma-",   "gemma2-",  "gpt3-",  "llama4-",
                                         "mistral-", "mixtral-", "olmo3-", "qwen2.5-"};
    for (size_t i = 0; i < COUNT_OF(BEGINS); i++)
        if (strncmp(theirs, BEGINS[i], strlen(BEGINS[i])) == 0) return true;
    return false;
}

/* What is written; NULL: MaxText has no such layers. The caller frees. */
static char *written(const Model *model, bool *muon) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    bool known = maxtext_has_model(model);
    *muon = maxtext_has_muon(model);
    if (known) maxtext_write_model(model, memory);
    cr_assert_eq(fclose(memory), 0);
    if (known) return text;
    cr_expect_eq(length, 0);
    free(text);
    return NULL;
}

static void expect_name(const char *ours, const char *theirs) {
    char line[128];
    bool muon = false;
    const Model *model = zoo_find(&zoo, ours);
    cr_assert_not_null(model, "%s", ours);
    char *text = written(model, &muon);
    snprintf(line, sizeof line, "model_name: \"%s\"\n", theirs);
    cr_expect_str_eq(text ? text : "none", line, "%s: %s", ours, text ? text : "none");
    cr_expect_eq(muon, !without_muon(theirs), "%s", ours);
    cr_expect_str_eq(maxtext_model_ours(theirs), ours);
    free(text);
    /* A file with the name alone is another model: it is not called by MaxText's. */
    for (int part = 0; part < 2; part++) {
        Model other = *model;
        if (part == 0) other.layers = ++other.kinds[0].count + model->layers - model->kinds[0].count;
        if (part == 1) other.d_model *= 2;
        text = written(&other, &muon);
        cr_expect(!text || strncmp(text, "model_name: \"default\"", 21) == 0, "%s", ours);
        free(text);
    }
}

Test(maxtext_model, names) {
    for (size_t i = 0; i < COUNT_OF(OTHERWISE); i++) expect_name(OTHERWISE[i].ours, OTHERWISE[i].theirs);
    for (size_t i = 0; i < COUNT_OF(SAME); i++) expect_name(SAME[i], SAME[i]);
    cr_expect_null(maxtext_model_ours("llama5-1t"));
    size_t named = 0;
    for (int i = 0; i < zoo.count; i++) {
        bool muon;
        char *text = written(&zoo.models[i], &muon);
        named += text && !strstr(text, "\"default\"");
        free(text);
    }
    cr_expect_eq(named, COUNT_OF(OTHERWISE) + COUNT_OF(SAME));
}

/* ---- sizes ---- */

static Model plain(bool mixture) {
    Model model = {.name = "mine", .layers = 12, .d_model = 768, .vocab = 50304, .kind_count = 1, .norm = NORM_RMS};
    LayerKind *kind = &model.kinds[0];
    model.positions = POSITIONS_ROTARY;
    model.rope = (Rope){.theta = 20000, .type = "default", .factor = 1, .share = 1};
    *kind = (LayerKind){.count = 12, .heads = 10, .kv_heads = 5, .head_dim = 64, .gated = true, .norms = 2};
    if (mixture)
        kind->experts = 16, kind->top_k = 3, kind->d_ff_expert = 1024;
    else
        kind->d_ff = 2048;
    return model;
}

static void expect_sizes(bool mixture, const char *expected) {
    bool muon;
    Model model = plain(mixture);
    char *text = written(&model, &muon);
    cr_assert_not_null(text);
    const char *sizes = strchr(text, '\n') + 1;
    cr_expect_str_eq(sizes, expected, "%s", sizes);
    cr_expect_eq(muon, !mixture);
    free(text);
}

Test(maxtext_model, sizes_of_others) {
    expect_sizes(false, "decoder_block: \"llama2\"\nbase_emb_dim: 768\nbase_num_decoder_layers: 12\n"
                        "base_num_query_heads: 10\nbase_num_kv_heads: 5\nhead_dim: 64\nbase_mlp_dim: 2048\n"
                        "vocab_size: 50304\nlogits_via_embedding: false\nrope_max_timescale: 20000\n");
    expect_sizes(true, "decoder_block: \"mixtral\"\nbase_emb_dim: 768\nbase_num_decoder_layers: 12\n"
                       "base_num_query_heads: 10\nbase_num_kv_heads: 5\nhead_dim: 64\nbase_mlp_dim: 1024\n"
                       "base_moe_mlp_dim: 1024\nnum_experts: 16\nnum_experts_per_tok: 3\n"
                       "vocab_size: 50304\nlogits_via_embedding: false\nrope_max_timescale: 20000\n");
}

/* Qwen 2's layer is Llama's with biases (qwen2.5-14b.yml of the release). */
Test(maxtext_model, sizes_of_qwen2) {
    bool muon;
    Model model = plain(false);
    model.kinds[0].qkv_bias = true;
    char *text = written(&model, &muon);
    cr_assert_not_null(text);
    cr_expect(strstr(text, "decoder_block: \"qwen2\"\nattention_bias: true\nbase_emb_dim: 768\n"), "%s", text);
    cr_expect_not(muon);
    free(text);
}

/* Anything that no layer of Llama, Mixtral or Qwen 2 has: MaxText cannot be told. */
static void make_odd(int part, Model *model) {
    LayerKind *kind = &model->kinds[0];
    switch (part) {
    case 0:
        kind->window = 4096;
        break;
    case 1:
        kind->qkv_bias = true, kind->experts = 8, kind->d_ff_expert = 64, kind->d_ff = 0;
        break; /* Qwen 2's biases, beside experts */
    case 2:
        kind->out_bias = true;
        break;
    case 3:
        kind->sinks = true;
        break;
    case 4:
        kind->qk_norm_parameters = 1;
        break;
    case 5:
        kind->gated = false;
        break;
    case 6:
        kind->mlp_bias = true;
        break;
    case 7:
        kind->expert_bias = true;
        break;
    case 8:
        kind->parallel_block = true;
        break;
    case 9:
        kind->norms = 4;
        break;
    case 10:
        kind->attention = ATTENTION_LATENT;
        break;
    case 11:
        model->positions = POSITIONS_LEARNED;
        break;
    case 12:
        snprintf(model->rope.type, sizeof model->rope.type, "yarn");
        break;
    case 13:
        model->rope.share = 0.5;
        break;
    case 14:
        model->norm = NORM_LAYER;
        break;
    case 15:
        model->embedding_norm = true;
        break;
    case 16:
        model->logits_bias = true;
        break;
    case 17:
        model->kind_count = 2, model->kinds[1] = *kind;
        break;
    case 18:
        kind->experts = 8, kind->d_ff_shared = 64, kind->d_ff = 0;
        break;
    case 19:
        kind->experts = 8;
        break; /* a dense MLP beside the experts */
    default:
        cr_assert_fail("no part %d", part);
    }
}

Test(maxtext_model, what_it_has_not) {
    bool muon;
    for (int part = 0; part < 20; part++) {
        Model model = plain(false);
        make_odd(part, &model);
        char *text = written(&model, &muon);
        cr_expect_null(text, "%d", part);
        free(text);
    }
    Model model = plain(false);
    model.rope.type[0] = '\0';
    char *text = written(&model, &muon);
    cr_expect_not_null(text, "nothing is said of how positions stretch");
    free(text);
}
