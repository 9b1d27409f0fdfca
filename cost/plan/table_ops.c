/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ops of the first and the last stage alone: the embedding with what is held alongside it, and the logits. */
#include "base/util.h"
#include "cost/plan/op_list.h"

/* Whether a part works on images or sound alone: towers, and what is between them and the stream. */
static bool of_towers(int part) { return part == PART_VISION || part == PART_AUDIO || part == PART_PROJECTOR; }

static double extra_of(const Model *model, int part) {
    return (double)model->extra.vector[part] + (of_towers(part) ? (double)model->extra.matrix[part] : 0);
}

/* Tables alongside the embedding (per-layer and n-gram): held, split over tensor as it is. */
static double table_parameters(const Model *model) {
    double parameters = 0;
    for (int i = 0; i < PART_COUNT; i++) parameters += of_towers(i) ? 0 : extra_of(model, i);
    return parameters;
}

/* Towers and what projects from them, which work only where there are images or sound: held like the embedding. */
static void towers_alongside(OpList *list, const Model *model, const Shard *shard) {
    double towers = extra_of(model, PART_VISION) + extra_of(model, PART_AUDIO);
    for (int i = 0; i < model->tower_count; i++) towers += (double)model->towers[i].parameters;
    const double held[] = {towers, extra_of(model, PART_PROJECTOR)};
    static const char *const NAMES[] = {"towers", "projector"};
    for (int i = 0; i < 2; i++)
        if (held[i] > 0) op_list_add(list, OP_ELEMENTWISE, NAMES[i])->weights = held[i] / shard->tensor;
}

/* Matrices of the model that are in none of its layers, such as those of more tokens to predict. */
static void beside_layers(OpList *list, const Model *model, const Shard *shard, const Sharding *sharding) {
    double matrices = 0, d_model = (double)model->d_model;
    for (int i = 0; i < PART_COUNT; i++)
        if (!of_towers(i)) matrices += (double)model->extra.matrix[i];
    if (!(matrices > 0)) return;
    Op *op =
        add_matmul(list, "matrices alongside layers", shard->tokens, matrices / (d_model * shard->tensor), d_model);
    enter_block(op, shard, sharding, BF16_BYTES * shard->tokens * d_model);
    leave_block(op, shard, sharding, BF16_BYTES * shard->tokens * d_model);
}

static void embedding_ops(OpList *list, const Model *model, const Shard *shard, const Sharding *sharding) {
    double d_model = (double)model->d_model, stream = BF16_BYTES * shard->tokens * d_model;
    Op *lookup = op_list_add(list, OP_LOOKUP, "embedding");
    double table = (double)(model->embedding_width > 0 ? model->embedding_width : model->d_model);
    lookup->weights = shard->vocab * table + (double)model->learned_positions * d_model / shard->tensor;
    lookup->weights += table_parameters(model) / shard->tensor;
    beside_layers(list, model, shard, sharding);
    towers_alongside(list, model, shard);
    lookup->hbm_bytes[PHASE_FORWARD] = 2 * BF16_BYTES * residual_tokens(shard, sharding) * d_model;
    lookup->hbm_bytes[PHASE_BACKWARD] = 2 * lookup->hbm_bytes[PHASE_FORWARD];
    if (model->embedding_norm) {
        double local_elements = residual_tokens(shard, sharding) * d_model;
        add_elementwise(list, "embedding norm", local_elements, 2, 3)->weights = norm_weights(model);
    }
    if (shard->tensor <= 1) return;
    bool along = sharding->residual == RESIDUAL_SEQUENCE;
    if (sharding->embedding == TABLE_VOCABULARY) {
        /* Every chip has some rows of the table: it makes partial sums, which are reduced as after a block. */
        leave_block(lookup, shard, sharding, stream);
    } else {
        /* Every chip has some columns of every row: they are gathered, or exchanged so that each chip keeps its tokens
         * whole. */
        communicate(lookup, GROUP_TENSOR, PHASE_FORWARD, 1, along ? stream / shard->tensor : stream);
        if (along) communicate(lookup, GROUP_TENSOR, PHASE_BACKWARD, 1, stream / shard->tensor);
    }
}

static void logits_ops(OpList *list, const Model *model, const Shard *shard, const Sharding *sharding) {
    double d_model = (double)model->d_model, stream = BF16_BYTES * shard->tokens * d_model;
    add_norm(list, "final norm", model, residual_tokens(shard, sharding));
    Op *logits = add_matmul(list, "logits", shard->tokens, shard->vocab, d_model);
    if (model->no_head) logits->weights = 0;
    logits->runs_in_precision = false;
    if (model->logits_bias) logits->weights += shard->vocab;
    /* fp32 logits, softmax and its gradient: 20 bytes an element in all. */
    Op *loss = add_elementwise(list, "loss", shard->tokens * shard->vocab, 4, 6);
    if (shard->tensor <= 1) return;
    if (sharding->logits == TABLE_VOCABULARY) {
        enter_block(logits, shard, sharding, stream);
    } else {
        /* d_model is contracted: partial logits over the whole vocabulary are scattered, and their gradient is
         * gathered. */
        double whole = BF16_BYTES * shard->tokens * shard->vocab * shard->tensor;
        communicate(logits, GROUP_TENSOR, PHASE_FORWARD, 1, whole + stream / shard->tensor);
        communicate(logits, GROUP_TENSOR, PHASE_BACKWARD, 1, whole + stream / shard->tensor);
    }
    /* Maximum and sum of the softmax: two fp32 numbers a token, all_reduced. */
    communicate(loss, GROUP_TENSOR, PHASE_FORWARD, 2, 8 * shard->tokens);
}

int ops_of_embedding(const Model *model, const Shard *shard, const Sharding *sharding, const Tuning *tuning, Op *ops) {
    OpList list = {.ops = ops};
    embedding_ops(&list, model, shard, sharding);
    return tune_ops(tuning, 1, ops, list.count);
}

int ops_of_logits(const Model *model, const Shard *shard, const Sharding *sharding, const Tuning *tuning, Op *ops) {
    OpList list = {.ops = ops};
    logits_ops(&list, model, shard, sharding);
    return tune_ops(tuning, 1, ops, list.count);
}
