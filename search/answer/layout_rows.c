/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout as rows: each tensor with its sharding, written the way a JAX PartitionSpec is. */
#include "search/answer/plan_words.h"

#include <assert.h>

enum { WORD_SIZE = 64 };

/* A dimension of an array: the roles that split it, outermost first; one word of the spec. */
static void dimension(const Degrees *degrees, const Role *roles, int count, char *text, size_t size) {
    char names[WORD_SIZE - 4] = "";
    size_t used = 0;
    int split = 0;
    for (int i = 0; i < count; i++) {
        if (degrees->of[roles[i]] <= 1) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", split ? ", " : "", role_name(roles[i]));
        split++;
    }
    if (split == 0)
        snprintf(text, size, "None");
    else
        snprintf(text, size, split > 1 ? "(%s)" : "%s", names);
}

/* The words that specs are made of, for the degrees of one plan. */
typedef struct {
    char batch[WORD_SIZE], sequence[WORD_SIZE], sequence_tensor[WORD_SIZE];
    char weights[WORD_SIZE], expert_weights[WORD_SIZE], weights_tensor[WORD_SIZE];
    char tensor[WORD_SIZE], expert[WORD_SIZE];
} Words;

#define WORD(field, ...)                                                                                               \
    do {                                                                                                               \
        static const Role ROLES[] = {__VA_ARGS__};                                                                     \
        dimension(degrees, ROLES, (int)(sizeof ROLES / sizeof ROLES[0]), words.field, sizeof words.field);             \
    } while (0)

static Words words_of(const Degrees *degrees) {
    Words words;
    WORD(batch, ROLE_DATA, ROLE_FSDP, ROLE_EXPERT);
    WORD(sequence, ROLE_SEQUENCE);
    WORD(sequence_tensor, ROLE_SEQUENCE, ROLE_TENSOR);
    WORD(weights, ROLE_FSDP, ROLE_SEQUENCE, ROLE_EXPERT);
    WORD(expert_weights, ROLE_FSDP, ROLE_SEQUENCE);
    WORD(weights_tensor, ROLE_FSDP, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_TENSOR);
    WORD(tensor, ROLE_TENSOR);
    WORD(expert, ROLE_EXPERT);
    return words;
}

typedef struct {
    LayoutRow *rows;
    int count;
} Rows;

static LayoutRow *add_row(Rows *to, const char *tensor, const char *state, int64_t layers) {
    assert(to->count < LAYOUT_ROWS_MAX);
    LayoutRow *row = &to->rows[to->count];
    if (layers <= 0) return NULL;
    to->count++;
    *row = (LayoutRow){.tensor = tensor, .state = state, .layers = layers};
    return row;
}

static void add_weights(Rows *to, const char *tensor, int64_t layers, const char *a, const char *b, const char *c) {
    LayoutRow *row = add_row(to, tensor, "saved", layers);
    if (!row) return;
    if (c)
        snprintf(row->sharding, SHARDING_TEXT_SIZE, "(%s, %s, %s)", a, b, c);
    else if (b)
        snprintf(row->sharding, SHARDING_TEXT_SIZE, "(%s, %s)", a, b);
    else
        snprintf(row->sharding, SHARDING_TEXT_SIZE, "(%s,)", a);
}

/* What an activation's last two dimensions, tokens and width, lie over. */
static const char *activation_spec(const Layout *layout, Activation activation, const Words *words, char *text) {
    bool along = layout->sharding.residual == RESIDUAL_SEQUENCE, gathered = layout->sharding.mlp == MLP_GATHERED;
    const char *tokens = words->sequence, *width = "None";
    switch (activation) {
    case ACTIVATION_LAYER_INPUT:
    case ACTIVATION_MIDDLE:
        if (along) tokens = words->sequence_tensor;
        break;
    case ACTIVATION_QKV:
    case ACTIVATION_CONTEXT:
        width = words->tensor;
        break;
    case ACTIVATION_MLP_INPUT:
        if (gathered) tokens = words->sequence_tensor;
        break;
    case ACTIVATION_GATE_UP:
    case ACTIVATION_PRODUCT:
        if (gathered)
            tokens = words->sequence_tensor;
        else
            width = words->tensor;
        break;
    default:
        break;
    }
    snprintf(text, SHARDING_TEXT_SIZE, "(%.40s, %.40s, %.40s)", words->batch, tokens, width);
    return text;
}

int layout_rows(const Model *model, const Plan *plan, LayoutRow out[LAYOUT_ROWS_MAX]) {
    enum { WEIGHT_ROWS = 11 }; /* weights and logits; then each activation in each state */
    _Static_assert(WEIGHT_ROWS + (int)ACTIVATION_COUNT * (int)STATE_COUNT < (int)LAYOUT_ROWS_MAX, "rows of a layout");
    const Layout *layout = &plan->layout;
    Words words = words_of(&plan->degrees);
    Rows rows = {.rows = out};
    int64_t layers = stage_layers(plan);
    bool dense = false, experts = false, copies = layout->sharding.kv == KV_REPLICATED;
    for (int i = 0; i < model->kind_count; i++) {
        dense = dense || model->kinds[i].d_ff > 0 || model->kinds[i].d_ff_shared > 0;
        experts = experts || model->kinds[i].experts > 0;
    }
    bool rows_split = layout->sharding.embedding == TABLE_VOCABULARY;
    add_weights(&rows, "embedding", 1, rows_split ? words.tensor : words.weights,
                rows_split ? words.weights : words.tensor, NULL);
    add_weights(&rows, "query weights", layers, words.weights, words.tensor, NULL);
    add_weights(&rows, "key and value weights", layers, words.weights, copies ? "None" : words.tensor, NULL);
    add_weights(&rows, "attention output weights", layers, words.tensor, words.weights, NULL);
    if (dense) {
        add_weights(&rows, "mlp up weights", layers, words.weights, words.tensor, NULL);
        add_weights(&rows, "mlp down weights", layers, words.tensor, words.weights, NULL);
    }
    if (experts) {
        add_weights(&rows, "expert up weights", layers, words.expert, words.expert_weights, words.tensor);
        add_weights(&rows, "expert down weights", layers, words.expert, words.tensor, words.expert_weights);
    }
    add_weights(&rows, "norm weights", layers, words.weights, NULL, NULL);
    bool columns_split = layout->sharding.logits == TABLE_VOCABULARY;
    if (!model->tied)
        add_weights(&rows, "unembedding", 1, columns_split ? words.weights : words.tensor,
                    columns_split ? words.tensor : words.weights, NULL);
    add_weights(&rows, "logits", 1, words.batch, words.sequence, columns_split ? words.tensor : "None");
    for (int i = 0; i < ACTIVATION_COUNT; i++)
        for (int state = 0; state < STATE_COUNT; state++) {
            LayoutRow *row = add_row(&rows, activation_name((Activation)i),
                                     activation_state_name((ActivationState)state), layout->layers[i][state]);
            if (row) activation_spec(layout, (Activation)i, &words, row->sharding);
        }
    return rows.count;
}
