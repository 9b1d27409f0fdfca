/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/state/remat.h"

#include "base/number.h"
#include "base/util.h"
#include "models/mixer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* MaxText names the activations that it saves: query_proj, key_proj, value_proj (qkv here), context, out_proj, mlpwi_0,
 * mlpwi_1 (gate_up), mlpwo; all others, the norms' outputs and the product of gate and up, are recomputed, and
 * decoder_layer_input stays. out_proj plus the layer's input is our `middle`: saving one is saving the other. mlpwo
 * plus `middle` is the next layer's input, which is kept anyway: save_dot_except_mlpwi has the same effect as
 * save_dot_except_mlp. The experts' hidden tensors, which MaxText names moe_mlpwi_*, are gate_up here; latents and the
 * tensors made of them are qkv. Megatron's selective recomputation of core_attn makes scores and softmax again in
 * backward; flash attention, which every plan here has, does so by itself, and its output is kept as the input of the
 * projection after it: no activation counted here is freed. Sources: MaxText layers/decoders.py get_remat_policy
 * (e591f30cb); Megatron-LM core/transformer/transformer_config.py recompute_granularity, recompute_modules
 * (d98e8a64dd); torchtitan activation_checkpoint (b5bcd76c). */
#define S STATE_SAVED
#define R STATE_RECOMPUTED
#define O STATE_OFFLOADED
#define P STATE_PARTLY
static const struct {
    const char *name;
    /* layer input, attention input, qkv, context, middle, mlp input, gate and up, product */
    ActivationState state[ACTIVATION_COUNT];
} POLICIES[] = {
    {"none", {S, S, S, S, S, S, S, S}},
    {"full", {S, R, R, R, R, R, R, R}},
    {"minimal_with_context", {S, R, S, S, S, R, S, R}},
    {"minimal", {S, R, S, R, S, R, S, R}},
    {"save_dot_with_context_except_mlp", {S, R, S, S, S, R, R, R}},
    {"save_dot_except_mlp", {S, R, S, R, S, R, R, R}},
    {"save_dot_except_mlpwi", {S, R, S, R, S, R, R, R}},
    {"save_qkv_proj", {S, R, S, R, R, R, R, R}},
    {"save_out_proj", {S, R, R, R, S, R, R, R}},
    {"minimal_offloaded", {S, R, O, R, O, R, O, R}},
    {"qkv_proj_offloaded", {S, R, O, R, R, R, R, R}},
    {"selective", {S, S, S, S, S, S, S, S}},
    {"layernorm", {S, R, S, S, S, R, S, S}},
    {"moe_act", {S, S, S, S, S, S, S, R}},
    {"mlp", {S, S, S, S, S, S, R, R}},
    {"selective_by_op", {S, R, P, P, P, P, P, R}},
};
#undef P
#undef S
#undef R
#undef O

enum { REMAT_LAYERS_MAX = MODEL_LAYERS_MAX };

static bool unknown_policy(const char *word, const char *where, Error *error) {
    const char *names[COUNT_OF(POLICIES) + 1] = {"auto"};
    for (size_t i = 0; i < COUNT_OF(POLICIES); i++) names[i + 1] = POLICIES[i].name;
    const char *nearest = name_nearest(word, names, COUNT_OF(names));
    if (strncmp(word, "auto", 4) == 0)
        return error_set(error, ERROR_INPUT, where,
                         "auto decides for all layers; give it alone, or a policy like full:40");
    return error_set(error, ERROR_INPUT, where, "\"%.60s\" is no policy; %s%s%s", word,
                     nearest ? "did you mean " : "give auto, none, full, save_qkv_proj, minimal ..., or states like ",
                     nearest ? nearest : "\"qkv=saved\"", nearest ? "?" : "");
}

static bool parse_policy(const char *text, const char *where, RematRule *out, Error *error) {
    char name[48];
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    snprintf(name, sizeof name, "%.*s", (int)min_whole((int64_t)length, (int64_t)sizeof name - 1), text);
    for (size_t i = 0; i < COUNT_OF(POLICIES); i++) {
        if (strcmp(name, POLICIES[i].name) != 0) continue;
        out->required = true;
        memcpy(out->state, POLICIES[i].state, sizeof out->state);
        return !colon || number_whole(colon + 1, where, 1, REMAT_LAYERS_MAX, &out->layers, error);
    }
    return unknown_policy(name, where, error);
}

static bool parse_state(const char *word, const char *where, unsigned *seen, RematRule *out, Error *error) {
    const char *equals = strchr(word, '=');
    for (Activation activation = 0; activation < ACTIVATION_COUNT; activation++) {
        const char *name = activation_name(activation);
        if (!equals || strlen(name) != (size_t)(equals - word) || strncmp(word, name, strlen(name)) != 0) continue;
        if (*seen >> activation & 1) return error_set(error, ERROR_INPUT, where, "%s stands twice; give it once", name);
        *seen |= 1u << activation;
        for (ActivationState state = 0; state < STATE_COUNT; state++)
            if (strcmp(equals + 1, activation_state_name(state)) == 0) {
                out->state[activation] = state;
                return activation != ACTIVATION_LAYER_INPUT || state == STATE_SAVED || state == STATE_OFFLOADED ||
                       error_set(error, ERROR_INPUT, where,
                                 "layer_input is what a layer is recomputed from; give saved or offloaded");
            }
        return error_set(error, ERROR_INPUT, where, "%s=%.40s is no state; give saved, recomputed, offloaded or partly",
                         name, equals + 1);
    }
    return error_set(error, ERROR_INPUT, where,
                     "\"%.40s\" is no activation; give layer_input, attention_input, qkv, context, middle, mlp_input, "
                     "gate_up, product",
                     word);
}

bool remat_parse(const char *text, const char *where, RematRule *out, Error *error) {
    RematRule rule = {0};
    const char *rest = text + strspn(text, " \t,");
    if (*rest == '\0') return error_set(error, ERROR_INPUT, where, "is empty; give auto, none, full, ...");
    if (strcmp(text, "auto") == 0) {
        *out = rule;
        return true;
    }
    if (!strchr(text, '=')) {
        if (!parse_policy(rest, where, &rule, error)) return false;
        *out = rule;
        return true;
    }
    rule.required = true;
    for (int i = 0; i < ACTIVATION_COUNT; i++)
        rule.state[i] = i == ACTIVATION_LAYER_INPUT ? STATE_SAVED : STATE_RECOMPUTED;
    unsigned seen = 0;
    while (*rest != '\0') {
        char word[64];
        size_t length = strcspn(rest, " \t,");
        snprintf(word, sizeof word, "%.*s", (int)min_whole((int64_t)length, (int64_t)sizeof word - 1), rest);
        if (!parse_state(word, where, &seen, &rule, error)) return false;
        rest += length;
        rest += strspn(rest, " \t,");
    }
    *out = rule;
    return true;
}

/* The first policy with these states for the activations that exist; -1 means that there is none. */
static int policy_of(const ActivationState state[ACTIVATION_COUNT], const bool exists[ACTIVATION_COUNT]) {
    for (size_t i = 0; i < COUNT_OF(POLICIES); i++) {
        bool same = true;
        for (int a = 0; a < ACTIVATION_COUNT; a++) same = same && (!exists[a] || POLICIES[i].state[a] == state[a]);
        if (same) return (int)i;
    }
    return -1;
}

static const bool ALL[ACTIVATION_COUNT] = {true, true, true, true, true, true, true, true};

const char *remat_text(const RematRule *rule, char text[REMAT_TEXT_SIZE]) {
    int policy = policy_of(rule->state, ALL);
    if (!rule->required) {
        snprintf(text, REMAT_TEXT_SIZE, "auto");
    } else if (policy >= 0) {
        size_t used = (size_t)snprintf(text, REMAT_TEXT_SIZE, "%s", POLICIES[policy].name);
        if (rule->layers > 0) snprintf(text + used, REMAT_TEXT_SIZE - used, ":%" PRId64, rule->layers);
    } else {
        size_t used = 0;
        for (Activation a = 0; a < ACTIVATION_COUNT; a++)
            if (rule->state[a] != (a == ACTIVATION_LAYER_INPUT ? STATE_SAVED : STATE_RECOMPUTED))
                used += (size_t)snprintf(text + used, REMAT_TEXT_SIZE - used, "%s%s=%s", used > 0 ? " " : "",
                                         activation_name(a), activation_state_name(rule->state[a]));
    }
    return text;
}

bool activation_exists(const Model *model, Activation activation) {
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        bool hidden = kind->experts > 0 || kind->d_ff > 0, mixes = kind_mixes(kind);
        switch (activation) {
        case ACTIVATION_LAYER_INPUT:
            return true;
        case ACTIVATION_ATTENTION_INPUT:
            if (mixes && kind->norms > 0) return true;
            break;
        case ACTIVATION_MLP_INPUT:
            if ((hidden && kind->norms > (mixes ? 1 : 0)) || kind->experts > 0) return true;
            break;
        case ACTIVATION_GATE_UP:
        case ACTIVATION_PRODUCT:
            if (hidden) return true;
            break;
        case ACTIVATION_MIDDLE:
            if (mixes && hidden) return true;
            break;
        default:
            if (mixes) return true;
            break;
        }
    }
    return false;
}

/* Whether the first rule changes only activations that every other rule changes too. */
static bool first_least(const RematRule *rules, int count) {
    for (int i = 1; i < count; i++)
        for (int a = 0; a < ACTIVATION_COUNT; a++)
            if (rules[0].state[a] != STATE_SAVED && (rules[i].state[a] != rules[0].state[a] || rules[i].layers > 0))
                return false;
    return rules[0].layers == 0;
}

RematDomain remat_domain(const RematRule *rules, int count, bool by_chunk) {
    RematDomain domain = {
        .rules = rules, .count = count, .by_chunk = by_chunk, .first_least = first_least(rules, count)};
    for (int i = 0; i < count; i++)
        for (int a = 0; a < ACTIVATION_COUNT; a++) domain.has[a][rules[i].state[a]] = true;
    return domain;
}

void remat_layers(const RematRule *rule, Activation activation, int64_t layers, int64_t out[STATE_COUNT]) {
    int64_t in = rule->layers > 0 ? min_whole(rule->layers, layers) : layers;
    memset(out, 0, sizeof(int64_t) * STATE_COUNT);
    out[rule->state[activation]] = in;
    out[STATE_SAVED] += layers - in;
}

ActivationState layout_least(const Layout *layout, Activation activation) {
    const int64_t *layers = layout->layers[activation];
    return layers[STATE_RECOMPUTED] > 0  ? STATE_RECOMPUTED
           : layers[STATE_OFFLOADED] > 0 ? STATE_OFFLOADED
           : layers[STATE_PARTLY] > 0    ? STATE_PARTLY
                                         : STATE_SAVED;
}

/* The policy of a layout and the number of its layers; -1 means that there is none. Every activation is in at most one
 * state other than saved, and all such states have the same number of layers. */
static int policy_of_layout(const Model *model, const Layout *layout, int64_t *in) {
    ActivationState state[ACTIVATION_COUNT];
    bool exists[ACTIVATION_COUNT];
    int64_t layers = 0;
    *in = 0;
    for (int s = 0; s < STATE_COUNT; s++) layers += layout->layers[ACTIVATION_LAYER_INPUT][s];
    for (int a = 0; a < ACTIVATION_COUNT; a++) {
        int64_t recomputed = layout->layers[a][STATE_RECOMPUTED], offloaded = layout->layers[a][STATE_OFFLOADED],
                partly = layout->layers[a][STATE_PARTLY];
        exists[a] = activation_exists(model, (Activation)a);
        state[a] = layout_least(layout, (Activation)a);
        if (!exists[a] || state[a] == STATE_SAVED) continue;
        int64_t count = recomputed + offloaded + partly;
        bool mixed = (recomputed > 0) + (offloaded > 0) + (partly > 0) > 1;
        if (mixed || (*in > 0 && count != *in)) return -1;
        *in = count;
    }
    if (*in == 0) *in = layers;
    int policy = policy_of(state, exists);
    if (*in == layers) *in = 0;
    return policy;
}

const char *remat_name(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]) {
    int64_t in;
    int policy = policy_of_layout(model, layout, &in);
    if (policy < 0)
        snprintf(text, REMAT_TEXT_SIZE, "custom");
    else if (in == 0)
        snprintf(text, REMAT_TEXT_SIZE, "%s", POLICIES[policy].name);
    else
        snprintf(text, REMAT_TEXT_SIZE, "%s:%" PRId64, POLICIES[policy].name, in);
    return text;
}

const char *remat_policy(const Model *model, const Layout *layout, int64_t *layers) {
    int policy = policy_of_layout(model, layout, layers);
    return policy < 0 ? NULL : POLICIES[policy].name;
}

/* Attention and every second matmul (all of q, k and v) are kept; norms and non-linearities are made again
 * (distributed/activation_checkpoint.py). */
ActivationState remat_selective_by_op(Activation activation) {
    RematRule rule;
    Error error = {0};
    return remat_parse("selective_by_op", "remat", &rule, &error) ? rule.state[activation] : STATE_SAVED;
}
