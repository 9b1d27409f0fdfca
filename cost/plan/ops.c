/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols: T tokens of a microbatch on a chip's tensor group, t ways of tensor, T/t tokens where the residual stream
 * lies along the sequence. Activations and weights in bf16. */
#include "cost/plan/ops.h"

#include "base/util.h"
#include "cost/plan/op_list.h"
#include "cost/plan/plan.h"
#include "models/mixer.h"

#include <math.h>

/* Adds the traffic of weights that the layout keeps split over tensor and gathers for use: forward, backward, and their
 * gradient. */
static void gather_weights(Op *op, const Shard *shard) {
    if (shard->tensor <= 1) return;
    double bytes = BF16_BYTES * op->weights * shard->tensor;
    communicate(op, GROUP_TENSOR_WEIGHTS, PHASE_FORWARD, 1, bytes);
    communicate(op, GROUP_TENSOR_WEIGHTS, PHASE_BACKWARD, 2, bytes);
}

static bool has_mlp(const LayerKind *kind) { return kind->experts > 0 || kind->d_ff > 0; }

/* Widths of one chip's heads, all together. `value` is narrower than `key` in latent attention alone. */
typedef struct {
    double heads, kv_heads;
    double query, key, value, context;
    double latent; /* sparse attention: what of a token goes to other chips of a context, keys of the indexer with it */
    double padding; /* the numbers of a head that is kept over its own: heads are the last dimension of an array */
} HeadWidths;

/* Ulysses gives every chip whole heads; keys and values are copied where that requires it. */
static double kv_copies(const Shard *shard, const HeadWidths *widths) {
    return shard->ulysses > 1 ? max_real(1, shard->ulysses / widths->kv_heads) : 1;
}

static HeadWidths head_widths(const LayerKind *kind, const Shard *shard, const LayerSoftware *software) {
    bool latent = kind->attention == ATTENTION_LATENT, sparse = kind->index_top_k > 0;
    double qk = latent ? (double)(kind->qk_nope_head_dim + kind->qk_rope_head_dim) : (double)kind->head_dim;
    double v = latent || kind->v_head_dim > 0 ? (double)kind->v_head_dim : (double)kind->head_dim;
    double heads = shard_heads(kind, shard), kv_heads = shard_kv_heads(kind, shard);
    double lanes = max_real(1, software->lanes), padding = latent || !(v > 0) ? 1 : ceil(v / lanes) * lanes / v;
    double index = kind->index_heads > 0 ? (double)kind->index_head_dim : 0;
    double sent = !sparse  ? 0
                  : latent ? (double)(kind->kv_lora_rank + kind->qk_rope_head_dim) + index
                           : kv_heads * (qk + v) + index;
    double values = kind->kv_reused == KV_SAME ? 0 : kv_heads * v;
    return (HeadWidths){heads, kv_heads, heads * qk, kv_heads * qk, values, heads * v, sent, padding};
}

/* The width of what attention reads. */
static double attention_input(const Model *model, const LayerKind *kind) {
    return (double)(kind->attention_width > 0 ? kind->attention_width : model->d_model);
}

/* Queries may come through a narrow latent (DeepSeek-V4), which every chip of a tensor group has whole. */
static void head_projections(OpList *list, const Model *model, const LayerKind *kind, const Shard *shard,
                             const Sharding *sharding, HeadWidths widths) {
    double tokens = shard->tokens, d_model = attention_input(model, kind), stream = BF16_BYTES * tokens * d_model;
    double v = kind->v_head_dim > 0 ? (double)kind->v_head_dim : (double)kind->head_dim;
    double keys = kind->kv_reused != KV_OF_OTHER, values = kind->kv_reused == KV_OWN, rank = (double)kind->q_lora_rank;
    double whole = (double)kind->kv_heads * (keys * (double)kind->head_dim + values * v); /* of all chips */
    double key_columns =
        sharding->kv == KV_GATHERED ? whole / shard->tensor : keys * widths.key + values * widths.value;
    double gate = shard_width(kind->out_gate, shard->tensor), queries = rank > 0 ? rank : widths.query;
    double kept = kind->kv_reused == KV_OF_OTHER ? 0 : kv_copies(shard, &widths) * (widths.key + widths.value);
    Op *qkv = add_matmul(list, "qkv projection", tokens, queries + key_columns + gate, d_model);
    if (kind->qkv_bias) qkv->weights += queries + key_columns;
    enter_block(qkv, shard, sharding, stream);
    if (sharding->kv == KV_GATHERED && shard->tensor > 1) {
        communicate(qkv, GROUP_TENSOR, PHASE_FORWARD, 1, BF16_BYTES * tokens * whole);
        communicate(qkv, GROUP_TENSOR, PHASE_BACKWARD, 1, BF16_BYTES * tokens * whole);
    }
    Op *last = rank > 0 ? add_matmul(list, "query up projection", tokens, widths.query, rank) : qkv;
    set_output(last, ACTIVATION_QKV, widths.padding * BF16_BYTES * tokens * (widths.query + rank + gate + kept));
    if (model->positions == POSITIONS_ROTARY && !kind->no_rope)
        add_elementwise(list, "rotary", tokens * (widths.query + keys * (widths.key + widths.value)), 2, 3);
}

/* Latent attention (DeepSeek-V2, section 2.1): down to narrow latents, which every chip computes whole for its own
 * tokens; tensor gathers the latents; then up to the chip's heads. Where queries have no rank they come from the
 * stream, which is then gathered too. */
static void latent_projections(OpList *list, const Model *model, const LayerKind *kind, const Shard *shard,
                               const Sharding *sharding, HeadWidths widths) {
    double tokens = shard->tokens, d_model = (double)model->d_model, rope = (double)kind->qk_rope_head_dim;
    double q_rank = (double)kind->q_lora_rank, kv_rank = (double)kind->kv_lora_rank, latent = q_rank + kv_rank + rope;
    double key_columns = widths.heads * (double)kind->qk_nope_head_dim +
                         widths.value; /* the rotary key comes from the latent as it is */
    double gate = shard_width(kind->out_gate, shard->tensor); /* from the stream, as queries without a rank */

    Op *down = add_matmul(list, "latent down projection", residual_tokens(shard, sharding), latent, d_model);
    if (kind->qkv_bias) down->weights += latent;
    Op *up = add_matmul(list, "key and value up projection", tokens, key_columns, kv_rank);
    Op *query = add_matmul(list, "query projection", tokens, widths.query, q_rank > 0 ? q_rank : d_model);
    enter_block(up, shard, sharding, BF16_BYTES * tokens * latent);
    Op *gates = gate > 0 ? add_matmul(list, "gate projection", tokens, gate, d_model) : NULL;
    if (gates || q_rank == 0) enter_block(gates ? gates : query, shard, sharding, BF16_BYTES * tokens * d_model);
    set_output(query, ACTIVATION_QKV, BF16_BYTES * tokens * (widths.query + widths.key + widths.value + latent + gate));
    if (model->positions == POSITIONS_ROTARY) add_elementwise(list, "rotary", tokens * (widths.heads + 1) * rope, 2, 3);
}

/* Whether gathered keys and values stay for backward. */
static bool keys_are_kept(const Methods *methods, const LayerSoftware *software) {
    return methods->context == CONTEXT_ALL_GATHER && software->keys_kept;
}

/* The traffic of context parallelism. Ulysses (Jacobs et al. 2023): u chips exchange heads for tokens before attention
 * and back after it. A ring, or a gather, then joins r = sequence / u such groups: every chip brings the keys and
 * values of its tokens to all. */
static void context_traffic(Op *attention, const Shard *shard, const Methods *methods, const LayerSoftware *software,
                            HeadWidths widths) {
    double heads_ways = shard->ulysses > 1 ? shard->ulysses : 1, joined = shard->sequence / heads_ways;
    double keys =
        widths.latent > 0 ? widths.latent * heads_ways : kv_copies(shard, &widths) * (widths.key + widths.value);
    if (heads_ways > 1) {
        double exchanged = BF16_BYTES * shard->tokens * heads_ways;
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            communicate(attention, GROUP_ULYSSES, (Phase)phase, 1, exchanged * (widths.query + keys));
            communicate(attention, GROUP_ULYSSES, (Phase)phase, 1, exchanged * widths.context);
        }
    }
    /* Keys and values of whole sequences: backward brings them once more and takes their gradients back. A ring moves
     * (r - 1)/r of them in r - 1 messages of one chip's share; one that returns sends the last ones home as well, and
     * their gradients, which do not return, in fp32. */
    if (joined <= 1 || keys_are_kept(methods, software)) return;
    double local_bytes = BF16_BYTES * shard->tokens * (widths.latent > 0 ? widths.latent : keys);
    bool ring = context_is_ring(methods->context), returns = ring && software->ring_returns;
    double messages = ring ? joined - 1 : 1, bytes = ring ? local_bytes : local_bytes * joined;
    double keys_messages = messages + (returns ? 1 : 0), gradient_width = returns ? FP32_BYTES / BF16_BYTES : 1;
    communicate(attention, GROUP_SEQUENCE, PHASE_FORWARD, keys_messages, bytes);
    communicate(attention, GROUP_SEQUENCE, PHASE_BACKWARD, keys_messages, bytes);
    communicate(attention, GROUP_SEQUENCE, PHASE_BACKWARD, messages, gradient_width * bytes);
}

/* Keys and values that are gathered for attention and kept for its backward, which then sends their gradients alone.
 * The gather is repeated where the attention's input is recomputed, and what it has brought is freed with that. */
static void gathered_keys(OpList *list, const Shard *shard, const Methods *methods, const LayerSoftware *software,
                          HeadWidths widths) {
    if (shard->sequence <= 1 || !keys_are_kept(methods, software)) return;
    double keys = widths.latent > 0 ? widths.latent : kv_copies(shard, &widths) * (widths.key + widths.value);
    double bytes = BF16_BYTES * shard->tokens * keys;
    Op *gather = add_elementwise(list, "keys and values", 0, 0, 0);
    communicate(gather, GROUP_SEQUENCE, PHASE_FORWARD, 1, bytes * shard->sequence);
    communicate(gather, GROUP_SEQUENCE, PHASE_BACKWARD, 1, bytes * shard->sequence);
    set_output(gather, ACTIVATION_ATTENTION_INPUT, bytes * (shard->sequence - 1));
}

/* The norm before a mixer without attention, whose input is gathered. */
static void add_mixer_norm(OpList *list, const ShardedLayer *layer) {
    double tokens = layer->shard->tokens, local_tokens = residual_tokens(layer->shard, layer->sharding);
    Op *norm = add_norm(list, "mixer norm", layer->model, local_tokens);
    if (!has_mlp(layer->kind)) norm->weights *= (double)layer->kind->norms;
    set_output(norm, ACTIVATION_ATTENTION_INPUT, BF16_BYTES * tokens * (double)layer->model->d_model);
    norm->saved_input = true;
    norm->saved_ways = tokens / local_tokens;
}

/* Lightning indexer (DeepSeek-V3.2-Exp, section 2.1): few narrow heads score all keys for each query, and the top_k are
 * attended to. Every chip of a tensor group computes it whole, as DeepSeek's and Megatron-Core's programs do. Its
 * gradient reaches the chosen keys alone. */
static void indexer_ops(OpList *list, const ShardedLayer *layer) {
    const LayerKind *kind = layer->kind;
    const Shard *shard = layer->shard;
    double tokens = shard->tokens, d_model = (double)layer->model->d_model, width = (double)kind->index_head_dim;
    double queries = (double)kind->index_heads * width, rank = (double)kind->q_lora_rank;
    double seen = shard->seq / 2 / (double)max_whole(1, kind->compress), chosen = indexed_span(kind, shard->seq);
    Op *query = add_matmul(list, "indexer queries", tokens, queries, rank > 0 ? rank : d_model);
    add_matmul(list, "indexer keys and weights", tokens, width + (double)kind->index_heads, d_model);
    set_output(query, ACTIVATION_QKV, tokens * (BF16_BYTES * (queries + width) + 4 * chosen)); /* and which they are */
    Op *scores = op_list_add(list, OP_ATTENTION, "indexer scores");
    scores->flops[PHASE_FORWARD] = 2 * tokens * queries * seen;
    scores->flops[PHASE_BACKWARD] = 4 * tokens * queries * chosen;
    scores->hbm_bytes[PHASE_FORWARD] = tokens * (BF16_BYTES * (queries + width) + 2 * FP32_BYTES * seen);
    scores->hbm_bytes[PHASE_BACKWARD] = 2 * tokens * BF16_BYTES * (queries + width + chosen * width);
    scores->head_dim = width;
}

/* Back to the stream; through a narrow latent where each group of heads goes down by itself (DeepSeek-V4). */
static void attention_output(OpList *list, const ShardedLayer *layer, HeadWidths widths) {
    const LayerKind *kind = layer->kind;
    const Shard *shard = layer->shard;
    double tokens = shard->tokens, d_model = (double)layer->model->d_model;
    double rank = shard_width(kind->out_rank, shard->tensor);
    if (rank > 0) /* each group of heads goes down by itself */
        add_matmul(list, "attention output down", tokens, rank,
                   (double)kind->heads * (widths.context / widths.heads) / (double)kind->out_groups);
    Op *out = add_matmul(list, "attention output", tokens, d_model, rank > 0 ? rank : widths.context);
    if (kind->out_bias) out->weights += d_model;
    leave_block(out, shard, layer->sharding, BF16_BYTES * tokens * d_model);
    if (has_mlp(kind))
        set_output(out, ACTIVATION_MIDDLE, BF16_BYTES * residual_tokens(shard, layer->sharding) * d_model);
}

static void attention_ops(OpList *list, const ShardedLayer *layer, const Methods *methods,
                          const LayerSoftware *software) {
    const Model *model = layer->model;
    const LayerKind *kind = layer->kind;
    const Shard *shard = layer->shard;
    const Sharding *sharding = layer->sharding;
    double tokens = shard->tokens, local_tokens = residual_tokens(shard, sharding);
    double read = attention_input(model, kind);
    HeadWidths widths = head_widths(kind, shard, software);
    bool latent = kind->attention == ATTENTION_LATENT, sparse = kind->index_top_k > 0;

    if (kind->norms > 0) {
        Op *norm = add_norm(list, "attention norm", model, local_tokens);
        if (!has_mlp(kind)) norm->weights *= (double)kind->norms;
        norm->weights += (double)kind->qk_norm_parameters;
        bool gathered = !(latent && kind->q_lora_rank > 0);
        set_output(norm, ACTIVATION_ATTENTION_INPUT, BF16_BYTES * (gathered ? tokens : local_tokens) * read);
        norm->saved_input = true;
        if (gathered) norm->saved_ways = tokens / local_tokens;
    }
    if (latent)
        latent_projections(list, model, kind, shard, sharding, widths);
    else
        head_projections(list, model, kind, shard, sharding, widths);
    if (kind->index_heads > 0) indexer_ops(list, layer);
    if (kind->out_gate > 0)
        add_elementwise(list, "attention gate", tokens * shard_width(kind->out_gate, shard->tensor), 3, 5);
    gathered_keys(list, shard, methods, software, widths);

    /* Flash: scores never reach HBM; backward computes them again, 5 matmuls instead of 2. */
    Op *attention = op_list_add(list, OP_ATTENTION, "attention");
    double span = attention_span(kind, (int64_t)shard->seq, false);
    attention->flops[PHASE_FORWARD] = 2 * tokens * span * (widths.query + widths.context);
    attention->score_elements = tokens * attention_span(kind, (int64_t)shard->seq, true) * widths.heads;
    attention->head_dim = latent ? (double)kind->v_head_dim : (double)kind->head_dim;
    attention->flops[PHASE_BACKWARD] = 2.5 * attention->flops[PHASE_FORWARD];
    attention->hbm_bytes[PHASE_FORWARD] =
        BF16_BYTES * tokens * (widths.query + kv_copies(shard, &widths) * (widths.key + widths.value) + widths.context);
    if (sparse && latent) { /* every query reads the latents that were chosen for it, and its heads work on those */
        double rank = (double)kind->kv_lora_rank, rope = (double)kind->qk_rope_head_dim, all = shard->seq / 2;
        double wider = widths.heads * (2 * rank + rope) / (widths.query + widths.context);
        attention->repeated = min_real(wider, max_real(1, all / span));
        if (wider < all / span) /* else all keys are attended to under a mask, as DeepSeek does with short sequences */
            attention->hbm_bytes[PHASE_FORWARD] =
                BF16_BYTES * tokens * (widths.heads * (2 * rank + rope) + span * (rank + rope));
    }
    attention->hbm_bytes[PHASE_BACKWARD] = 2 * attention->hbm_bytes[PHASE_FORWARD];
    if (kind->sinks) attention->weights = widths.heads;
    set_output(attention, ACTIVATION_CONTEXT,
               tokens * (widths.padding * BF16_BYTES * widths.context + 4 * widths.heads));
    attention->saved_copy = tokens * widths.context;
    if (shard->sequence > 1) context_traffic(attention, shard, methods, software, widths);

    attention_output(list, layer, widths);
}

static void dense_mlp_ops(OpList *list, const Model *model, const LayerKind *kind, const Shard *shard,
                          const Sharding *sharding, double width) {
    bool gathered = sharding->mlp == MLP_GATHERED && shard->tensor > 1;
    double d_model = (double)model->d_model, local_tokens = residual_tokens(shard, sharding);
    double tokens = gathered ? local_tokens : shard->tokens, hidden = gathered ? width * shard->tensor : width;
    double stream = BF16_BYTES * shard->tokens * d_model;
    double up_columns = (kind->gated ? 2 : 1) * hidden;

    Op *up = add_matmul(list, kind->gated ? "mlp gate and up" : "mlp up", tokens, up_columns, d_model);
    Op *product = add_elementwise(list, "mlp activation", tokens * hidden, kind->gated ? 3 : 2, kind->gated ? 5 : 4);
    Op *down = add_matmul(list, "mlp down", tokens, d_model, hidden);
    set_output(up, ACTIVATION_GATE_UP, BF16_BYTES * tokens * up_columns);
    up->pair = kind->gated;
    set_output(product, ACTIVATION_PRODUCT, BF16_BYTES * tokens * hidden);
    product->saved_input = true;
    if (gathered) up->weights /= shard->tensor, down->weights /= shard->tensor; /* the weights are held split */
    if (kind->mlp_bias) up->weights += (kind->gated ? 2 : 1) * width, down->weights += d_model;
    if (gathered) {
        gather_weights(up, shard);
        gather_weights(down, shard);
    } else {
        enter_block(up, shard, sharding, stream);
        leave_block(down, shard, sharding, stream);
    }
}

/* Enters and leaves an expert's width: over tensor with the dense layers' stream, or over the ranks of a folded grid,
 * to which every chip brings tokens of its own. */
static void expert_blocks(Op *up, Op *down, const Shard *shard, const Sharding *sharding, double bytes) {
    if (shard->grid_expert <= 0) {
        enter_block(up, shard, sharding, bytes);
        leave_block(down, shard, sharding, bytes);
        return;
    }
    for (int phase = 0; phase < PHASE_COUNT && shard->grid_expert_tensor > 1; phase++) {
        communicate(up, GROUP_EXPERT_TENSOR, (Phase)phase, 1, bytes);
        communicate(down, GROUP_EXPERT_TENSOR, (Phase)phase, 1, bytes);
    }
}

/* Every chip routes its own tokens, sends each token to top_k experts over `expert` (all_to_all), and gathers the
 * arriving tokens over the chips that share an expert's width. */
static void expert_ops(OpList *list, const ShardedLayer *layer, const LayerSoftware *software) {
    const Model *model = layer->model;
    const LayerKind *kind = layer->kind;
    const Shard *shard = layer->shard;
    const Sharding *sharding = layer->sharding;
    double imbalance = software->imbalance;
    double local_tokens = residual_tokens(shard, sharding);
    double d_model = (double)(kind->expert_width > 0 ? kind->expert_width : model->d_model);
    bool folded = shard->grid_expert > 0;
    double ways = folded ? shard->grid_expert : shard->expert;
    double tokens = folded ? local_tokens * shard->grid_expert_tensor : shard->tokens;
    double routed = tokens * (double)kind->top_k * imbalance; /* tokens that the busiest chip's experts get */
    double per_expert = routed / shard->experts, width = shard->d_ff_expert;
    double arrived = BF16_BYTES * routed * d_model;
    double exchanged =
        BF16_BYTES * local_tokens * (double)kind->top_k * imbalance * d_model * ways; /* of the whole group */

    double scored = (double)(kind->experts + kind->null_experts);
    Op *router = add_matmul(list, "router", local_tokens, scored + (kind->shared_gate ? 1 : 0), (double)model->d_model);
    router->runs_in_precision = false;
    if (kind->router_bias) router->weights += scored;
    /* Null experts change nothing in what the others take: top_k is of all. */
    Op *dispatch =
        add_elementwise(list, "expert dispatch", local_tokens * (double)kind->top_k * imbalance * d_model, 2, 2);

    double up_columns = (kind->gated ? 2 : 1) * width;
    Op *up = add_matmul(list, kind->gated ? "expert gate and up" : "expert up", per_expert, up_columns, d_model);
    Op *product = add_elementwise(list, "expert activation", routed * width, kind->gated ? 3 : 2, kind->gated ? 5 : 4);
    Op *down = add_matmul(list, "expert down", per_expert, d_model, width);
    for (int i = 0; i < 2; i++) {
        Op *op = i == 0 ? up : down;
        op->kind = OP_GROUPED_MATMUL;
        op->groups = shard->experts;
        op->expert_weights = true;
        op->biased = kind->expert_bias;
        op->ungated = !kind->gated;
        op->weights *= shard->experts;
        for (int phase = 0; phase < PHASE_COUNT; phase++)
            op->flops[phase] *= shard->experts, op->hbm_bytes[phase] *= shard->experts;
    }
    if (kind->expert_bias) up->weights += up_columns * shard->experts, down->weights += d_model * shard->experts;
    /* Where no token may be dropped and sizes are fixed, tensors have room for all tokens of the group on one chip,
     * each as often as it can choose an expert there. */
    double most = min_real((double)kind->top_k, shard->experts) / (double)kind->top_k;
    double room = software->receives_worst_case && !folded ? max_real(1, ways * most) : 1;
    set_output(dispatch, ACTIVATION_MLP_INPUT, room * arrived);
    set_output(up, ACTIVATION_GATE_UP, room * BF16_BYTES * routed * up_columns);
    set_output(product, ACTIVATION_PRODUCT, room * BF16_BYTES * routed * width);
    dispatch->saved_input = product->saved_input = true;
    Op *combine =
        add_elementwise(list, "expert combine", local_tokens * (double)kind->top_k * imbalance * d_model, 2, 2);
    dispatch->routed_bytes = combine->routed_bytes =
        BF16_BYTES * local_tokens * (double)kind->top_k * imbalance * d_model;
    for (int phase = 0; phase < PHASE_COUNT && ways > 1; phase++) {
        communicate(dispatch, GROUP_EXPERT, phase, 1, exchanged);
        communicate(combine, GROUP_EXPERT, phase, 1, exchanged);
    }
    expert_blocks(up, down, shard, sharding, arrived);
    if (kind->d_ff_shared > 0) dense_mlp_ops(list, model, kind, shard, sharding, shard->d_ff_shared);
}

/* What a layer has alongside attention, mixer and MLP (extra): every chip multiplies the tokens that it holds with all
 * of it; vectors are held alone. */
static void other_matrices(OpList *list, const char *name, const ShardedLayer *layer, const ExtraParameters *extra) {
    double matrices = 0, vectors = 0, d_model = (double)layer->model->d_model;
    for (int i = 0; i < PART_COUNT; i++) {
        matrices += (double)extra->matrix[i];
        vectors += (double)extra->vector[i];
    }
    if (!(matrices + vectors > 0)) return;
    double tokens = residual_tokens(layer->shard, layer->sharding);
    Op *op = matrices > 0 ? add_matmul(list, name, tokens, matrices / d_model, d_model)
                          : op_list_add(list, OP_ELEMENTWISE, name);
    op->weights = matrices + vectors;
}

/* Attention to the states of an encoder, of which there are as many as tokens (models/parameters.h); all are seen. */
static void cross_ops(OpList *list, const ShardedLayer *layer, const Methods *methods) {
    const LayerKind *kind = layer->kind;
    const Shard *shard = layer->shard;
    double tokens = shard->tokens, d_model = (double)layer->model->d_model, head = (double)kind->cross_head_dim;
    double heads = shard_width(kind->cross_heads, shard->tensor) * head, stream = BF16_BYTES * tokens * d_model;
    double keys = max_real(1, shard_width(kind->cross_kv_heads, shard->tensor)) * head;
    double width = kind->cross_width > 0 ? (double)kind->cross_width : d_model;
    Op *query = add_matmul(list, "cross query projection", tokens, heads, d_model);
    Op *key = add_matmul(list, "cross key and value projection", tokens, 2 * keys, width);
    enter_block(query, shard, layer->sharding, stream);
    enter_block(key, shard, layer->sharding, BF16_BYTES * tokens * width);
    set_output(key, ACTIVATION_QKV, BF16_BYTES * tokens * (heads + 2 * keys));
    Op *attention = op_list_add(list, OP_ATTENTION, "cross attention");
    attention->flops[PHASE_FORWARD] = 4 * tokens * shard->seq * heads;
    attention->flops[PHASE_BACKWARD] = 2.5 * attention->flops[PHASE_FORWARD];
    attention->score_elements = tokens * shard->seq * heads / head;
    attention->head_dim = head;
    attention->hbm_bytes[PHASE_FORWARD] = BF16_BYTES * tokens * (2 * heads + 2 * keys);
    attention->hbm_bytes[PHASE_BACKWARD] = 2 * attention->hbm_bytes[PHASE_FORWARD];
    set_output(attention, ACTIVATION_CONTEXT, tokens * (BF16_BYTES * heads + 4 * heads / head));
    attention->saved_copy = tokens * heads;
    if (shard->sequence > 1) { /* the encoder's keys and values come together, whatever the decoder's do */
        double bytes = BF16_BYTES * tokens * 2 * keys * shard->sequence;
        Group group = methods->context == CONTEXT_ULYSSES ? GROUP_ULYSSES : GROUP_SEQUENCE;
        communicate(attention, group, PHASE_FORWARD, 1, bytes);
        communicate(attention, group, PHASE_BACKWARD, 2, bytes);
    }
    Op *out = add_matmul(list, "cross output", tokens, d_model, heads);
    leave_block(out, shard, layer->sharding, stream);
    if (has_mlp(kind))
        set_output(out, ACTIVATION_MIDDLE, BF16_BYTES * residual_tokens(shard, layer->sharding) * d_model);
}

int ops_of_layer(const ShardedLayer *layer, const Methods *methods, double imbalance, Op *ops) {
    return ops_of_layer_under(layer, methods, &(LayerSoftware){.imbalance = imbalance}, ops);
}

int ops_of_layer_under(const ShardedLayer *layer, const Methods *methods, const LayerSoftware *software, Op *ops) {
    const Model *model = layer->model;
    const LayerKind *kind = layer->kind;
    const Shard *shard = layer->shard;
    const Sharding *sharding = layer->sharding;
    OpList list = {.ops = ops};
    bool attends = kind->heads > 0, mixes = kind_mixes(kind);
    if (attends) attention_ops(&list, layer, methods, software);
    if (mixes && !attends && kind->norms > 0) add_mixer_norm(&list, layer);
    int mixer_from = list.count;
    if (mixes && kind->mixer) mixer_ops(&list, layer, methods, (MixerPlace){attends, !has_mlp(kind)});
    int mixer_to = list.count;
    if (kind->cross_heads > 0) cross_ops(&list, layer, methods);
    int64_t norms = kind->norms - (mixes ? 1 : 0);
    if (norms > 0 && has_mlp(kind)) {
        double local_tokens = residual_tokens(shard, sharding);
        Op *norm = add_norm(&list, "mlp norm", model, local_tokens);
        norm->weights *= (double)norms;
        /* The input of an MLP is gathered unless its weights are; a router reads its own tokens as they are, and keeps
         * them in addition to the tokens that it sends. */
        bool whole = (kind->experts == 0 || kind->d_ff_shared > 0) && sharding->mlp != MLP_GATHERED;
        set_output(norm, ACTIVATION_MLP_INPUT,
                   BF16_BYTES * (whole ? shard->tokens : local_tokens) * (double)model->d_model);
        norm->saved_input = kind->experts == 0; /* routers read bf16 */
        if (whole) norm->saved_ways = shard->tokens / local_tokens;
    }
    if (kind->experts > 0) expert_ops(&list, layer, software);
    if (kind->d_ff > 0) dense_mlp_ops(&list, model, kind, shard, sharding, shard_width(kind->d_ff, shard->tensor));
    other_matrices(&list, "other matrices", layer, &kind->extra);
    /* Blocks that layers share are held once, and work in each; a mixer is each layer's own. */
    double held = kind->copies > 0 && kind->copies < kind->count ? (double)kind->copies / (double)kind->count : 1;
    for (int i = 0; i < list.count && held < 1; i++)
        if (i < mixer_from || i >= mixer_to) ops[i].weights *= held;
    if (software->tuning) {
        double heads = shard_heads(kind, shard), all = heads + 2 * shard_kv_heads(kind, shard);
        list.count = tune_ops(software->tuning, all > 0 ? heads / all : 1, ops, list.count);
    }
    /* A collective matmul works on a chunk while the next one is on its way. */
    for (int i = 0; i < list.count && methods->tensor_overlap; i++)
        if (ops[i].kind == OP_MATMUL && ops[i].traffic[GROUP_TENSOR][PHASE_FORWARD].messages > 0)
            ops[i].chunks = shard->tensor;
    return list.count;
}
