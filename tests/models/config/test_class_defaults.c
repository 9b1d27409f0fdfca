/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that hold nothing but what their class has no default for: what is left out is the library's default, and each
 * key that stands there is asked for by its name where it is missing. The defaults were read in transformers'
 * configuration_<type>.py, most at commit 008e5743. */
#include "base/json.h"
#include "base/util.h"
#include "models/config/model_json.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* The values that stand in the files: 64 wide, 16 heads of 4. */
static const struct {
    const char *key;
    int value;
} VALUES[] = {
    {"num_hidden_layers", 4},
    {"n_layer", 4},
    {"n_layers", 4},
    {"hidden_size", 64},
    {"n_embd", 64},
    {"d_model", 64},
    {"num_attention_heads", 16},
    {"n_head", 16},
    {"n_heads", 16},
    {"intermediate_size", 96},
    {"ffn_dim", 96},
    {"moe_intermediate_size", 40},
    {"shared_expert_intermediate_size", 48},
    {"num_experts_per_tok", 6},
    {"vocab_size", 100},
    {"max_position_embeddings", 10000},
    {"n_positions", 10000},
};

#define LAYERS "num_hidden_layers"
#define SIZES LAYERS " hidden_size num_attention_heads vocab_size max_position_embeddings"
#define PLAIN SIZES " intermediate_size"

/* `needs`: the keys of the file that the class has no default for; `more`: others. `reads`: width, heads/of keys x
 * width of a head, vocabulary, longest sequence, norm, positions; and each kind of layer. "mlp" is a gated MLP, "plain"
 * one of two matrices; w: its window, n: its norms, k: weights of the norms on queries and keys. */
static const struct {
    const char *type, *needs, *more, *reads;
} ROWS[] = {
    {"llama", PLAIN, "", "64 16/16x4 v100 s10000 rms rotary 10000 of 1 | 4: mlp 96 n2"},
    {"llava", "", "\"text_config\": {}", "4096 32/32x128 v32000 s2048 rms rotary 10000 of 1 | 32: mlp 11008 n2"},
    {"mistral", PLAIN, "", "64 16/8x4 v100 s10000 rms rotary 10000 of 1 | 4: w4096 mlp 96 n2"},
    {"mistral3", "", "\"text_config\": {}",
     "4096 32/8x128 v32000 s131072 rms rotary 10000 of 1 | 32: w4096 mlp 14336 n2"},
    {"ministral3", PLAIN, "", "64 16/8x128 v100 s10000 rms rotary 1e+06 of 1 | 4: mlp 96 n2"},
    {"mistral3", "", "\"text_config\": {\"model_type\": \"ministral3\"}",
     "4096 32/8x128 v131072 s262144 rms rotary 1e+06 of 1 | 34: mlp 14336 n2"},
    {"mixtral", PLAIN, "", "64 16/8x4 v100 s10000 rms rotary 1e+06 of 1 | 4: 2 of 8 mlp 96 n2"},
    {"phi3", PLAIN, "", "64 16/16x4 v100 s10000 rms rotary 10000 of 1 | 4: mlp 96 n2"},
    {"olmo2", PLAIN, "", "64 16/16x4 v100 s10000 rms rotary 10000 of 1 | 4: mlp 96 n2 k128"},
    {"gemma", PLAIN, "", "64 16/16x256 v100 tied s10000 rms rotary 10000 of 1 | 4: mlp 96 n2"},
    {"gemma2", PLAIN, "", "64 16/4x256 v100 tied s10000 rms rotary 10000 of 1 | 2: w4096 mlp 96 n4 | 2: mlp 96 n4"},
    {"gemma3_text", LAYERS " hidden_size intermediate_size", "\"sliding_window_pattern\": 4",
     "64 8/4x256 v262208 tied s131072 rms rotary 1e+06, windows 10000 of 1 | 3: w4096 mlp 96 n4 k512 | 1: mlp 96 n4 "
     "k512"},
    {"gemma3", "", "\"text_config\": {}",
     "2304 8/4x256 v262208 tied s131072 rms rotary 1e+06, windows 10000 of 1 | 22: w4096 mlp 9216 n4 k512 | 4: mlp "
     "9216 "
     "n4 k512"},
    {"nemotron", PLAIN, "", "64 16/16x4 v100 s10000 ln rotary 10000 of 0.5 | 4: plain 96 n2"},
    {"qwen2", PLAIN, "", "64 16/16x4 v100 s10000 rms rotary 10000 of 1 | 4: qkv mlp 96 n2"},
    {"qwen2", PLAIN, "\"use_sliding_window\": true, \"max_window_layers\": 1",
     "64 16/16x4 v100 s10000 rms rotary 10000 of 1 | 1: qkv mlp 96 n2 | 3: qkv w4096 mlp 96 n2"},
    {"qwen2_moe", SIZES " moe_intermediate_size shared_expert_intermediate_size", "",
     "64 16/16x4 v100 s10000 rms rotary 10000 of 1 | 4: qkv 4 of 60 mlp 40 gate shared 48 n2"},
    {"qwen2_moe", PLAIN " moe_intermediate_size shared_expert_intermediate_size", "\"decoder_sparse_step\": 2",
     "64 16/16x4 v100 s10000 rms rotary 10000 of 1 | 2: qkv mlp 96 n2 | 2: qkv 4 of 60 mlp 40 gate shared 48 n2"},
    {"qwen3", PLAIN, "", "64 16/16x128 v100 s10000 rms rotary 10000 of 1 | 4: mlp 96 n2 k256"},
    {"qwen3_moe", SIZES " moe_intermediate_size", "",
     "64 16/4x4 v100 s10000 rms rotary 10000 of 1 | 4: 8 of 128 mlp 40 n2 k8"},
    {"deepseek_v2", SIZES " num_experts_per_tok moe_intermediate_size", "",
     "64 16/16x192 v100 s10000 rms rotary 10000 of 1 | 4: latent 1536 512 128+64 128 6 of 64 mlp 40 shared 80 n2 "
     "k2048"},
    {"deepseek_v3", PLAIN " num_experts_per_tok moe_intermediate_size", "",
     "64 16/16x192 v100 s10000 rms rotary 10000 of 1 | 3: latent 1536 512 128+64 128 mlp 96 n2 k2048 | "
     "1: latent 1536 512 128+64 128 router 6 of 256 mlp 40 shared 40 n2 k2048"},
    {"gpt2", "n_layer n_embd n_head vocab_size n_positions", "",
     "64 16/16x4 v100 tied s10000 ln learned 10000 | 4: qkv out bias plain 256 n2"},
    {"gpt_neox", PLAIN, "", "64 16/16x4 v100 s10000 ln rotary 10000 of 0.25 | 4: qkv out bias parallel plain 96 n2"},
    {"opt", LAYERS " hidden_size ffn_dim num_attention_heads vocab_size", "",
     "64 16/16x4 v100 tied s2048 ln learned 2050 | 4: qkv out bias plain 96 n2"},
    {"phi", PLAIN, "", "64 16/16x4 v100 s10000 ln rotary 10000 of 0.5 | 4: qkv out bias parallel plain 96 n1"},
    {"bloom", "n_layer hidden_size n_head", "",
     "64 16/16x4 v250880 tied s2048 ln alibi | 4: qkv out bias plain 256 n2"},
    {"falcon", LAYERS " hidden_size num_attention_heads", "",
     "64 16/1x4 v65024 tied s2048 ln rotary 10000 of 1 | 4: parallel plain 256 n1"},
    {"falcon", LAYERS " hidden_size num_attention_heads", "\"new_decoder_architecture\": true",
     "64 16/16x4 v65024 tied s2048 ln rotary 10000 of 1 | 4: parallel plain 256 n2"},
    {"mpt", "n_layers d_model n_heads", "", "64 16/16x4 v50368 tied s2048 plain ln alibi | 4: plain 256 n2"},
    {"mpt", "n_layers d_model n_heads",
     "\"attn_config\": {\"alibi\": false, \"qk_ln\": true, \"attn_type\": \"multiquery_attention\"}",
     "64 16/1x4 v50368 tied s2048 plain ln learned 2048 | 4: plain 256 n2 k68"},
    {"dbrx", "n_layers d_model n_heads", "",
     "64 16/1x4 v32000 s2048 plain ln rotary 10000 of 1 | 4: 1 of 4 mlp 3584 n2"},
    {"gpt_oss", LAYERS " hidden_size intermediate_size", "",
     "64 64/8x64 v201088 s131072 rms rotary 150000 of 1 | 2: qkv out w128 sinks router experts' bias 4 of 128 mlp 96 "
     "n2 | "
     "2: qkv out sinks router experts' bias 4 of 128 mlp 96 n2"},
    {"llama4_text", LAYERS " hidden_size", "",
     "64 40/8x128 v202048 s131072 rms rotary 500000 of 1 | 3: w8192 chunks 1 of 16 mlp 8192 shared 8192 n2 | "
     "1: no rope 1 of 16 mlp 8192 shared 8192 n2"},
    {"llama4", "", "\"text_config\": {\"interleave_moe_layer_step\": 4}",
     "5120 40/8x128 v202048 s131072 rms rotary 500000 of 1 | 36: w8192 chunks mlp 16384 n2 | "
     "12: no rope 1 of 16 mlp 8192 shared 8192 n2"},
    {"llama4", "",
     "\"text_config\": {\"num_hidden_layers\": 8, \"no_rope_layers\": [1, 1, 1, 1, 1, 1, 1, 1], \"moe_layers\": [0, 2, "
     "7]}",
     "5120 40/8x128 v202048 s131072 rms rotary 500000 of 1 | 3: w8192 chunks 1 of 16 mlp 8192 shared 8192 n2 | "
     "5: w8192 chunks mlp 16384 n2"},
    {"glm4_moe", LAYERS " hidden_size intermediate_size", "\"head_dim\": 128",
     "64 96/8x128 v151552 s131072 rms rotary 10000 of 0.5 | 1: mlp 96 n2 | 3: router 8 of 128 mlp 1408 shared 1408 n2"},
    {"minimax_m2", PLAIN, "", "64 16/8x128 v100 s10000 rms rotary 5e+06 of 1 | 4: router 8 of 256 mlp 96 n2 k3072"},
    {"internlm", PLAIN, "", "64 16/16x4 v100 s10000 rms rotary 10000 of 1 | 4: qkv out mlp 96 n2"},
    {"olmo3", PLAIN, "", "64 16/16x4 v100 s10000 rms rotary 500000 of 1 | 3: w4096 mlp 96 n2 k128 | 1: mlp 96 n2 k128"},
    {"smollm3", PLAIN, "", "64 16/4x4 v100 tied s10000 rms rotary 2e+06 of 1 | 3: mlp 96 n2 | 1: no rope mlp 96 n2"},
    {"smollm3", PLAIN, "\"use_sliding_window\": true, \"sliding_window\": 70",
     "64 16/4x4 v100 tied s10000 rms rotary 2e+06 of 1 | 3: mlp 96 n2 | 1: no rope w70 mlp 96 n2"},
    {"cohere", PLAIN, "", "64 16/16x4 v100 tied s10000 plain ln rotary 500000 of 1 | 4: parallel mlp 96 n1"},
    {"cohere", PLAIN, "\"use_qk_norm\": true",
     "64 16/16x4 v100 tied s10000 plain ln rotary 500000 of 1 | 4: parallel mlp 96 n1 k128"},
    {"starcoder2", PLAIN, "", "64 16/2x4 v100 tied s10000 ln rotary 10000 of 1 | 4: qkv out bias plain 96 n2"},
    {"shardopt", "d_model", "\"vocab\": 32, \"max_seq\": 64, \"layers\": [{\"count\": 2, \"heads\": 16, \"d_ff\": 96}]",
     "64 16/16x4 v32 s64 rms rotary 10000 of 1 | 2: mlp 96 n2"},
    {"stablelm", PLAIN, "", "64 16/16x4 v100 s10000 ln rotary 10000 of 0.25 | 4: mlp 96 n2"},
};

/* The file of a row without `left_out`, one of its keys; NULL: with all. */
static void write_file(size_t row, const char *left_out, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "{\"model_type\": \"%s\"", ROWS[row].type);
    char needs[256], *rest = needs;
    snprintf(needs, sizeof needs, "%s", ROWS[row].needs);
    for (char *key; (key = strsep(&rest, " ")) != NULL;)
        for (size_t i = 0; i < COUNT_OF(VALUES); i++)
            if (strcmp(VALUES[i].key, key) == 0 && !(left_out && strcmp(left_out, key) == 0))
                used += (size_t)snprintf(text + used, size - used, ", \"%s\": %d", key, VALUES[i].value);
    snprintf(text + used, size - used, "%s%s}", ROWS[row].more[0] ? ", " : "", ROWS[row].more);
}

static bool read_text(const char *text, Model *model, Error *error) {
    cJSON *json = json_parse(text, strlen(text), "config.json", error);
    bool ok = json && model_from_json(json, "config.json", false, model, error);
    cJSON_Delete(json);
    return ok;
}

static void print_kind(const LayerKind *kind, FILE *out) {
    fprintf(out, " | %lld:", (long long)kind->count);
    if (kind->attention == ATTENTION_LATENT)
        fprintf(out, " latent %lld %lld %lld+%lld %lld", (long long)kind->q_lora_rank, (long long)kind->kv_lora_rank,
                (long long)kind->qk_nope_head_dim, (long long)kind->qk_rope_head_dim, (long long)kind->v_head_dim);
    fprintf(out, "%s%s%s%s", kind->qkv_bias ? " qkv" : "", kind->out_bias ? " out" : "", kind->mlp_bias ? " bias" : "",
            kind->parallel_block ? " parallel" : "");
    if (kind->no_rope) fputs(" no rope", out);
    if (kind->window) fprintf(out, " w%lld%s", (long long)kind->window, kind->chunked ? " chunks" : "");
    fprintf(out, "%s%s%s", kind->sinks ? " sinks" : "", kind->router_bias ? " router" : "",
            kind->expert_bias ? " experts' bias" : "");
    if (kind->experts) fprintf(out, " %lld of %lld", (long long)kind->top_k, (long long)kind->experts);
    fprintf(out, " %s %lld", kind->gated ? "mlp" : "plain",
            (long long)(kind->experts ? kind->d_ff_expert : kind->d_ff));
    if (kind->d_ff_shared)
        fprintf(out, "%s shared %lld", kind->shared_gate ? " gate" : "", (long long)kind->d_ff_shared);
    fprintf(out, " n%lld", (long long)kind->norms);
    if (kind->qk_norm_parameters) fprintf(out, " k%lld", (long long)kind->qk_norm_parameters);
}

static void print_model(const Model *model, char *text, size_t size) {
    static const char *const NORMS[] = {[NORM_RMS] = "rms", [NORM_LAYER] = "ln", [NORM_LAYER_NO_BIAS] = "plain ln"};
    const LayerKind *first = &model->kinds[0];
    FILE *out = fmemopen(text, size, "w");
    cr_assert(out);
    fprintf(out, "%lld %lld/%lldx%lld v%lld%s s%lld %s", (long long)model->d_model, (long long)first->heads,
            (long long)first->kv_heads, (long long)first->head_dim, (long long)model->vocab, model->tied ? " tied" : "",
            (long long)model->max_seq, NORMS[model->norm]);
    if (model->positions == POSITIONS_ROTARY) {
        fprintf(out, " rotary %g", model->rope.theta);
        if (model->rope.window_theta > 0) fprintf(out, ", windows %g", model->rope.window_theta);
        fprintf(out, " of %g", model->rope.share);
    }
    if (model->positions == POSITIONS_LEARNED) fprintf(out, " learned %lld", (long long)model->learned_positions);
    if (model->positions == POSITIONS_ALIBI) fputs(" alibi", out);
    for (int i = 0; i < model->kind_count; i++) print_kind(&model->kinds[i], out);
    cr_assert(fclose(out) == 0);
}

Test(class_defaults, what_a_file_leaves_out) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char file[1024], reads[1024];
        Model model;
        Error error = {0};
        write_file(i, NULL, file, sizeof file);
        cr_expect(read_text(file, &model, &error), "%s: %s", file, error.text);
        if (error.text[0]) continue;
        print_model(&model, reads, sizeof reads);
        cr_expect_str_eq(reads, ROWS[i].reads, "%s\n%s\n%s", file, reads, ROWS[i].reads);
    }
}

Test(class_defaults, what_no_class_has) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char needs[256], *rest = needs;
        snprintf(needs, sizeof needs, "%s", ROWS[i].needs);
        for (char *key; (key = strsep(&rest, " ")) != NULL;) {
            char file[1024];
            Model model;
            Error error = {0};
            if (!*key) continue;
            write_file(i, key, file, sizeof file);
            cr_expect_not(read_text(file, &model, &error), "%s without %s", ROWS[i].type, key);
            cr_expect(strncmp(error.text, key, strlen(key)) == 0, "%s without %s: %s", ROWS[i].type, key, error.text);
        }
    }
}

/* Layers that alternate, of numbers that no period divides: `each` says which layers, counted from 0, are of the second
 * kind: those behind every `each` - 1 others. */
Test(class_defaults, layers_alternate_to_the_last) {
    static const struct {
        const char *type, *more;
        int64_t layers, each;
        bool first; /* layer 0 is of the kind that comes once in each */
    } CASES[] = {
        {"gemma2", "", 5, 2, true},
        {"gemma2", "", 6, 2, true},
        {"gemma2", "", 9, 2, true},
        {"gemma3_text", "", 13, 6, false},
        {"gemma3_text", ", \"sliding_window_pattern\": 4", 7, 4, false},
        {"olmo3", "", 9, 4, false},
        {"olmo3", "", 7, 4, false},
        {"smollm3", "", 9, 4, false},
        {"smollm3", "", 7, 4, false},
        {"gpt_oss", "", 5, 2, true},
        {"gpt_oss", "", 9, 2, true},
        {"llama4_text", "", 9, 4, false},
        {"llama4_text", "", 7, 4, false},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        char file[512];
        Model model;
        Error error = {0};
        int64_t once = 0;
        snprintf(file, sizeof file,
                 "{\"model_type\": \"%s\", \"num_hidden_layers\": %d, \"hidden_size\": 64, \"intermediate_size\": 96, "
                 "\"num_attention_heads\": 16, \"vocab_size\": 100, \"max_position_embeddings\": 10000%s}",
                 CASES[i].type, (int)CASES[i].layers, CASES[i].more);
        cr_assert(read_text(file, &model, &error), "%s: %s", file, error.text);
        for (int64_t layer = 0; layer < CASES[i].layers; layer++)
            once += layer % CASES[i].each == (CASES[i].first ? 0 : CASES[i].each - 1);
        cr_assert_eq(model.kind_count, 2, "%s", file);
        cr_expect_eq(model.kinds[CASES[i].first ? 0 : 1].count, once, "%s", file);
        cr_expect_eq(model.kinds[CASES[i].first ? 1 : 0].count, CASES[i].layers - once, "%s", file);
    }
}
