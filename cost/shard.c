/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/shard.h"

#include "base/util.h"

const char *padding_name(PaddingKind kind) {
    static const char *const NAMES[PAD_COUNT] = {"stages", "heads", "width", "vocab", "tokens", "replicas"};
    return NAMES[kind];
}

/* a / b rounded up; notes in *padding that it does not divide. */
static double split(int64_t a, int64_t b, PaddingKind kind, PaddingSet *padding) {
    if (a % b != 0) *padding |= 1u << kind;
    return (double)divide_up(a, b);
}

/* KV heads that `heads` neighbouring query heads touch in the worst place, `group` query heads to a KV head. Chips
 * begin at multiples of `heads`: as far into a group as their greatest common divisor lets them. */
static int64_t touched_kv_heads(int64_t heads, int64_t group) {
    int64_t divisor = heads;
    for (int64_t rest = group, next; rest != 0; rest = next) next = divisor % rest, divisor = rest;
    return divide_up(heads + group - divisor, group);
}

static void split_attention(const LayerKind *kind, int64_t tensor, Shard *shard, PaddingSet *padding) {
    shard->heads = split(kind->heads, tensor, PAD_HEADS, padding);
    int64_t group = max_whole(1, kind->heads / kind->kv_heads);
    if (kind->kv_heads % tensor != 0 && tensor % kind->kv_heads != 0) *padding |= 1u << PAD_HEADS;
    shard->kv_heads = (double)min_whole(kind->kv_heads, touched_kv_heads((int64_t)shard->heads, group));
}

static void split_mlp(const LayerKind *kind, int64_t tensor, int64_t expert, Shard *shard, PaddingSet *padding) {
    if (kind->d_ff > 0) shard->d_ff = max_real(shard->d_ff, split(kind->d_ff, tensor, PAD_WIDTH, padding));
    if (kind->experts == 0) return;
    shard->experts = split(kind->experts, expert, PAD_WIDTH, padding);
    shard->d_ff_expert = split(kind->d_ff_expert, tensor, PAD_WIDTH, padding);
    if (kind->d_ff_shared > 0) shard->d_ff_shared = split(kind->d_ff_shared, tensor, PAD_WIDTH, padding);
}

/* Layers lie in chunks as equal as can be; the stages that get one more are not the last, which has the logits too. */
static void split_layers(int64_t layers, int64_t stages, int64_t virtual_stages, Shard *shard, PaddingSet *padding) {
    int64_t chunks = stages * virtual_stages, rest = layers % chunks;
    if (rest != 0) *padding |= 1u << PAD_STAGES;
    shard->layers = (double)(virtual_stages * (layers / chunks) + divide_up(rest, stages));
    shard->layers_last = (double)(virtual_stages * (layers / chunks) + rest / stages);
}

static PaddingSet allowed_by(PaddingRule rule) {
    if (rule == PADDING_ANY) return (1u << PAD_COUNT) - 1;
    return rule == PADDING_LAUNCHABLE ? (1u << PAD_STAGES) | (1u << PAD_VOCAB) : 0;
}

bool shard_of_plan(const Model *model, const Work *work, const Degrees *degrees, const Knobs *knobs, PaddingRule rule,
                   Shard *out, PaddingSet *padding) {
    int64_t tensor = degrees->of[ROLE_TENSOR], expert = degrees->of[ROLE_EXPERT], sequence = degrees->of[ROLE_SEQUENCE];
    int64_t stages = degrees->of[ROLE_PIPELINE];
    int64_t replicas = degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * expert;
    *padding = 0;
    if (stages > model->layers || knobs->virtual_stages > model->layers / stages) return false;
    if (sequence > 1 && sequence > work->seq / 2) return false;
    Shard shard = {.tensor = (double)tensor,
                   .expert = (double)expert,
                   .sequence = (double)sequence,
                   .fsdp = (double)degrees->of[ROLE_FSDP],
                   .data = (double)degrees->of[ROLE_DATA],
                   .pipeline = (double)stages,
                   .sequences = (double)knobs->microbatch_sequences,
                   .microbatches = (double)knobs->microbatches};

    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        if (tensor > kind->heads || (kind->experts > 0 && expert > kind->experts)) return false;
        split_attention(kind, tensor, &shard, padding);
        split_mlp(kind, tensor, expert, &shard, padding);
    }
    shard.vocab = split(model->vocab, tensor, PAD_VOCAB, padding);
    split_layers(model->layers, stages, knobs->virtual_stages, &shard, padding);

    /* Zig-zag order, which balances causal work over a context group, cuts a sequence into two pieces per chip. */
    int64_t pieces = sequence > 1 ? 2 * sequence : 1;
    shard.seq = split(work->seq, pieces, PAD_TOKENS, padding) * (double)pieces;
    shard.tokens = shard.sequences * shard.seq / shard.sequence;

    int64_t per_replica = divide_up(work->sequences, replicas);
    if (work->sequences % replicas != 0 || per_replica % knobs->microbatch_sequences != 0)
        *padding |= 1u << PAD_REPLICAS;

    PaddingSet forbidden = *padding & ~allowed_by(rule);
    if (forbidden != 0) {
        *padding = forbidden;
        return false;
    }
    *out = shard;
    return true;
}
