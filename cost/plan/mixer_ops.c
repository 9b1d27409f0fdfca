/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a mixer (models/mixer.h) as ops of one chip: no op here knows which mixer it is. */
#include "cost/plan/op_list.h"
#include "models/mixer.h"

typedef struct {
    double numbers, flops;
} PartShares;

/* What a part holds of its parameters: a bias behind partial sums is on every chip. */
static double part_weights(const MixerPart *part, double share) {
    double all = (double)part->parameters;
    if (part->whole_weights) return all;
    if (part->kind != MIXER_MATMUL || part->split != SPLIT_ROW) return all * share;
    double matrix = (double)part->in * (double)part->out;
    return matrix * share + (all - matrix);
}

/* A sequence over several chips. Where they exchange heads for tokens, what the core reads goes out and what it makes
 * comes back, a group's part to each chip with one of its heads (Ulysses, as Megatron-Core's MambaContextParallel does
 * it). Else each chip computes its own tokens from an empty state, and the states at their ends are gathered (LASP-2,
 * arXiv 2502.07563, section 3) or passed on along a ring; backward does the same with their gradients. */
static void core_traffic(Op *op, const MixerPart *part, double states, const Shard *shard, const Methods *methods) {
    double heads_ways = shard->ulysses > 1 ? shard->ulysses : 1, joined = shard->sequence / heads_ways;
    if (heads_ways > 1) {
        double whole = mixer_share(part, shard->tensor * heads_ways) * BF16_BYTES * shard->tokens * heads_ways;
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            communicate(op, GROUP_ULYSSES, (Phase)phase, 1, whole * heads_ways * (double)part->in);
            communicate(op, GROUP_ULYSSES, (Phase)phase, 1, whole * heads_ways * (double)part->out);
        }
    }
    if (joined <= 1) return;
    bool ring = context_is_ring(methods->context);
    double messages = ring ? joined - 1 : 1, bytes = shard->sequences * states / heads_ways * (ring ? 1 : joined);
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        communicate(op, GROUP_SEQUENCE, (Phase)phase, messages, bytes);
}

/* Bytes of what a chip of the tensor group carries of one sequence from token to token, in all parts. */
static double state_bytes(const MixerPart *parts, int count, double tensor) {
    double bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += (parts[i].state_float ? FP32_BYTES : BF16_BYTES) * mixer_state_share(&parts[i], tensor) *
                 (double)parts[i].state;
    return bytes;
}

static Op *add_product(OpList *list, const MixerPart *part, double tokens, PartShares share) {
    double in = (double)part->in * (part->split == SPLIT_ROW ? share.numbers : 1);
    double out = (double)part->out * (part->split == SPLIT_COLUMN ? share.numbers : 1);
    return add_matmul(list, part->name, tokens, out, in);
}

static Op *add_core(OpList *list, const MixerPart *part, double tokens, PartShares share) {
    Op *op = op_list_add(list, OP_SCAN, part->name);
    double numbers = (double)(part->read + part->written) * share.numbers;
    op->flops[PHASE_FORWARD] = tokens * part->flops * share.flops;
    op->flops[PHASE_BACKWARD] = part->backward * op->flops[PHASE_FORWARD];
    op->hbm_bytes[PHASE_FORWARD] =
        tokens * (BF16_BYTES * numbers + 2 * FP32_BYTES * part->moved_float * share.numbers);
    op->hbm_bytes[PHASE_BACKWARD] = part->backward * op->hbm_bytes[PHASE_FORWARD];
    op->on_vectors = part->on_vectors;
    return op;
}

/* Backward reads the gradient of the output and what was read, and writes as much. */
static Op *add_stream(OpList *list, const MixerPart *part, double tokens, PartShares share) {
    double read = (double)part->read * share.numbers, written = (double)part->written * share.numbers;
    Op *op = add_elementwise(list, part->name, tokens, read + written, 2 * read + written);
    for (int phase = 0; phase < PHASE_COUNT && part->kind == MIXER_CONVOLUTION; phase++)
        op->flops[phase] = (phase == PHASE_FORWARD ? 1 : part->backward) * tokens * part->flops * share.flops;
    op->saved_input = part->kept > 0 && part->kind == MIXER_ELEMENTWISE; /* a product alone reads it */
    return op;
}

void mixer_ops(OpList *list, const ShardedLayer *layer, const Methods *methods, MixerPlace place) {
    MixerPart parts[MIXER_PARTS_MAX];
    const Shard *shard = layer->shard;
    const Sharding *sharding = layer->sharding;
    int count = layer->kind->mixer->parts(layer->model, layer->kind, parts);
    double tokens = shard->tokens;
    bool entered = place.entered, mixed = false; /* whether the core has been */
    for (int i = 0; i < count; i++) {
        const MixerPart *part = &parts[i];
        PartShares share = {mixer_share(part, shard->tensor), mixer_flops_share(part, shard->tensor)};
        Op *op = part->kind == MIXER_MATMUL ? add_product(list, part, tokens, share)
                 : part->kind == MIXER_CORE ? add_core(list, part, tokens, share)
                                            : add_stream(list, part, tokens, share);
        op->weights = part_weights(part, share.numbers);
        mixed = mixed || part->kind == MIXER_CORE;
        bool last = i == count - 1, column = part->kind == MIXER_MATMUL && part->split != SPLIT_ROW;
        if (column && part->in == layer->model->d_model && !entered) {
            enter_block(op, shard, sharding, BF16_BYTES * tokens * (double)part->in);
            entered = true;
        } else if (part->kind == MIXER_MATMUL && part->split == SPLIT_ROW && !last && shard->tensor > 1) {
            /* Partial sums of what every chip needs whole. */
            communicate(op, GROUP_TENSOR, PHASE_FORWARD, 2, BF16_BYTES * tokens * (double)part->out);
        } else if (column && part->split == SPLIT_COLUMN && !part->own_input && part->in != layer->model->d_model &&
                   shard->tensor > 1) {
            /* What every chip has made for itself: its gradient is a sum over the chips. */
            communicate(op, GROUP_TENSOR, PHASE_BACKWARD, 2, BF16_BYTES * tokens * (double)part->in);
        }
        if (part->kind == MIXER_CORE && shard->sequence > 1)
            core_traffic(op, part, state_bytes(parts, count, shard->tensor), shard, methods);
        double kept = share.numbers * (BF16_BYTES * (double)part->kept + FP32_BYTES * part->kept_float);
        if (!last && kept > 0) set_output(op, mixed ? ACTIVATION_CONTEXT : ACTIVATION_QKV, tokens * kept);
        if (!last || place.entered) continue;
        leave_block(op, shard, sharding, BF16_BYTES * tokens * (double)part->out);
        if (!place.ends)
            set_output(op, ACTIVATION_MIDDLE, BF16_BYTES * residual_tokens(shard, sharding) * (double)part->out);
    }
}
