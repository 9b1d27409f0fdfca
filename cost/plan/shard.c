/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/plan/shard.h"

#include "base/util.h"
#include "cost/plan/grid.h"
#include "models/mixer.h"
#include "models/parameters.h"

const char *padding_name(PaddingKind kind) {
    static const char *const NAMES[PAD_COUNT] = {"stages", "heads", "width", "vocab", "tokens", "replicas"};
    return NAMES[kind];
}

/* a / b rounded up; *padding records a division with a remainder. */
static double split(int64_t a, int64_t b, PaddingKind kind, PaddingSet *padding) {
    if (a % b != 0) *padding |= 1u << kind;
    return (double)divide_up(a, b);
}

/* The KV heads that `heads` neighbouring query heads touch in the worst place, with `group` query heads to a KV head.
 * Chips begin at multiples of `heads`: as far into a group as their greatest common divisor lets them. */
static int64_t touched_kv_heads(int64_t heads, int64_t group) {
    return divide_up(heads + group - common_divisor(heads, group), group);
}

double shard_heads(const LayerKind *kind, const Shard *shard) { return shard_width(kind->heads, shard->tensor); }

double shard_kv_heads(const LayerKind *kind, const Shard *shard) {
    if (kind->kv_heads < 1) return 0; /* latent attention has none of its own */
    if (shard->tensor != floor(shard->tensor)) return (double)kind->kv_heads / shard->tensor;
    int64_t group = max_whole(1, kind->heads / kind->kv_heads);
    return (double)min_whole(kind->kv_heads, touched_kv_heads((int64_t)shard_heads(kind, shard), group));
}

int64_t kind_heads(const Model *model, const LayerKind *kind) {
    int64_t heads = common_divisor(kind->heads, kind->cross_heads);
    if (!kind->mixer) return heads;
    MixerPart parts[MIXER_PARTS_MAX];
    for (int i = 0, count = kind->mixer->parts(model, kind, parts); i < count; i++)
        if (parts[i].split != SPLIT_LOCAL) heads = common_divisor(heads, parts[i].units);
    return heads;
}

/* Whether tensor gives each chip whole heads, with those of keys and values divided or copied evenly. */
static bool heads_divide(const Model *model, const LayerKind *kind, int64_t tensor) {
    const int64_t kv[] = {kind->kv_heads, kind->cross_kv_heads};
    for (int i = 0; i < 2; i++)
        if (kv[i] > 0 && kv[i] % tensor != 0 && tensor % kv[i] != 0) return false;
    return kind_heads(model, kind) % tensor == 0;
}

/* The most ways of tensor: each chip has a head of everything. */
static int64_t most_heads(const Model *model, const LayerKind *kind) {
    int64_t least = kind->heads > 0 ? kind->heads : INT64_MAX;
    if (kind->cross_heads > 0) least = min_whole(least, kind->cross_heads);
    if (!kind->mixer) return least;
    MixerPart parts[MIXER_PARTS_MAX];
    for (int i = 0, count = kind->mixer->parts(model, kind, parts); i < count; i++)
        if (parts[i].split != SPLIT_LOCAL) least = min_whole(least, parts[i].units);
    return least;
}

static void split_heads(const Model *model, const LayerKind *kind, int64_t tensor, Shard *shard, PaddingSet *padding) {
    int64_t heads = kind_heads(model, kind);
    if (heads == 0) return;
    if (!heads_divide(model, kind, tensor)) *padding |= 1u << PAD_HEADS;
    shard->heads = (double)common_divisor((int64_t)shard->heads, divide_up(heads, tensor));
}

static void split_mlp(const LayerKind *kind, int64_t tensor, const ExpertGrid *experts, Shard *shard,
                      PaddingSet *padding) {
    if (kind->d_ff > 0) shard->d_ff = max_real(shard->d_ff, split(kind->d_ff, tensor, PAD_WIDTH, padding));
    if (kind->experts == 0) return;
    shard->experts = split(kind->experts, experts->expert, PAD_WIDTH, padding);
    shard->d_ff_expert = split(kind->d_ff_expert, experts->expert_tensor, PAD_WIDTH, padding);
    if (kind->d_ff_shared > 0) shard->d_ff_shared = split(kind->d_ff_shared, tensor, PAD_WIDTH, padding);
}

double layer_flops(const Model *model, int64_t seq, double *active) {
    double flops = 0, parameters = 0, layers = 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        double count = (double)kind->count, active_parameters = (double)layer_parameters(model, kind).active;
        double span = attention_span(kind, seq, false);
        flops += count * (2.0 * active_parameters + 4 * span * (double)(kind->heads * kind->head_dim));
        if (kind->mixer) flops += count * mixer_flops(model, kind);
        parameters += count * active_parameters;
        layers += count;
    }
    if (active) *active = parameters / layers;
    return flops / layers;
}

double logits_in_layers(const Model *model, int64_t seq) {
    return 2.0 * (double)model->vocab * (double)model->d_model / layer_flops(model, seq, NULL);
}

int64_t slots_of_stage(const Model *model, int64_t stages) {
    return stages > 2 && (model->layers + 2) % stages == 0 ? (model->layers + 2) / stages : 0;
}

/* `logits` is logits_in_layers(). */
static bool divide_layers(const Model *model, double logits, int64_t stages, StageSplit split, int64_t *fullest,
                          int64_t *last) {
    int64_t layers = model->layers, even = layers / stages;
    if (stages > layers) return false;
    *fullest = *last = even;
    if (split == STAGES_EVEN || stages == 1) return layers % stages == 0;
    if (split == STAGES_SLOTS) {
        *fullest = slots_of_stage(model, stages);
        *last = *fullest - 1;
        return *last > 0;
    }
    /* The other stages get fewer layers as the last gets more: the longest stage is shortest where both meet, or one
     * layer on. */
    double best = 0;
    int64_t meet = (int64_t)floor((double)layers / (double)stages - (double)(stages - 1) / (double)stages * logits);
    for (int64_t at = meet; at <= meet + 2; at++) {
        int64_t count = min_whole(even, max_whole(1, at)), other_stages = divide_up(layers - count, stages - 1);
        double longest = max_real((double)other_stages, (double)count + logits);
        if (at > meet && longest >= best) continue;
        best = longest;
        *fullest = other_stages;
        *last = count;
    }
    return true;
}

bool layers_per_stage(const Model *model, const Work *work, int64_t stages, StageSplit split, int64_t *fullest,
                      int64_t *last) {
    double logits = logits_in_layers(model, work->seq) / work_layer_weight(work);
    return divide_layers(model, logits, stages, split, fullest, last);
}

/* A stage whose chunks differ by a layer is uneven too; a chunk without a layer is not allowed. */
static bool split_layers(const Model *model, double weight, int64_t stages, const Knobs *knobs, Shard *shard,
                         PaddingSet *padding) {
    int64_t fullest, last, chunks = stages * knobs->virtual_stages;
    double logits = 2.0 * (double)model->vocab * (double)model->d_model / (shard->layer_flops * weight);
    if (!divide_layers(model, logits, stages, knobs->stages, &fullest, &last)) return false;
    bool slots = knobs->stages == STAGES_SLOTS && stages > 1;
    if (slots ? fullest % knobs->virtual_stages != 0 : knobs->virtual_stages > last) return false;
    bool even = model->layers % chunks == 0 && fullest == last;
    if (knobs->stages == STAGES_EVEN && !even) return false;
    if (!even) *padding |= 1u << PAD_STAGES;
    shard->slots_first = slots ? 1 : 0;
    shard->layers = (double)fullest;
    shard->layers_last = (double)last;
    return true;
}

/* Applies the methods: Ulysses gives every chip whole heads; experts of a folded grid lie on ranks, and so do their
 * shares. */
static bool apply_methods(const Degrees *degrees, const Methods *methods, Shard *shard, PaddingSet *padding) {
    shard->sequence_replicates = methods->sequence_replicates;
    shard->ulysses = methods->ulysses > 1 ? (double)methods->ulysses : 1;
    if (methods->ulysses > 1 && (int64_t)shard->heads % methods->ulysses != 0) *padding |= 1u << PAD_HEADS;
    /* The chunks of a collective matmul, and the tokens that each rank dispatches for itself, are pieces of the
     * sequence. */
    shard->along_sequence = methods->tensor_overlap || (methods->grid.expert > 0 && shard->tensor > 1);
    if (shard->along_sequence && fmod(shard->seq / shard->sequence, shard->tensor) != 0) return false;
    if (methods->grid.expert == 0) return true;
    GridRanks ranks;
    if (!grid_ranks(degrees, methods, &ranks)) return false;
    shard->grid_expert = (double)ranks.expert;
    shard->grid_expert_tensor = (double)ranks.expert_tensor;
    shard->grid_weights = (double)ranks.weights;
    shard->grid_data = (double)ranks.data;
    return true;
}

static PaddingSet allowed_by(PaddingRule rule) {
    if (rule == PADDING_ANY) return (1u << PAD_COUNT) - 1;
    return rule == PADDING_LAUNCHABLE ? (1u << PAD_STAGES) | (1u << PAD_VOCAB) : 0;
}

bool degrees_may_divide(const Model *model, const Work *work, const Degrees *degrees, bool folds, PaddingRule rule,
                        PaddingSet *forbidden) {
    int64_t tensor = degrees->of[ROLE_TENSOR], expert = degrees->of[ROLE_EXPERT], sequence = degrees->of[ROLE_SEQUENCE];
    PaddingSet allowed = allowed_by(rule), needs = 0;
    *forbidden = 0;
    if ((sequence > 1 && sequence > work->seq / 2) || degrees->of[ROLE_PIPELINE] > model->layers) return false;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        bool experts = kind->experts > 0 && !folds;
        if (tensor > most_heads(model, kind) || (experts && expert > kind->experts)) return false;
        bool heads = heads_divide(model, kind, tensor);
        bool widths = (kind->d_ff <= 0 || kind->d_ff % tensor == 0) &&
                      (kind->experts == 0 || kind->d_ff_shared <= 0 || kind->d_ff_shared % tensor == 0) &&
                      (!experts || (kind->experts % expert == 0 && kind->d_ff_expert % tensor == 0));
        needs |= (heads ? 0 : 1u << PAD_HEADS) | (widths ? 0 : 1u << PAD_WIDTH);
    }
    if (work->seq % (sequence > 1 ? 2 * sequence : 1) != 0) needs |= 1u << PAD_TOKENS;
    if (work->sequences % degrees_replicas(degrees) != 0) needs |= 1u << PAD_REPLICAS;
    *forbidden = needs & ~allowed;
    return *forbidden == 0;
}

bool shard_of_plan(const Model *model, const Work *work, const Degrees *degrees, const Knobs *knobs, PaddingRule rule,
                   Shard *out) {
    int64_t tensor = degrees->of[ROLE_TENSOR], expert = degrees->of[ROLE_EXPERT], sequence = degrees->of[ROLE_SEQUENCE];
    int64_t stages = degrees->of[ROLE_PIPELINE];
    int64_t replicas = degrees_replicas(degrees);
    PaddingSet needs = 0;
    out->padding = 0;
    const ExpertGrid roles = {expert, tensor}, *grid = &knobs->methods.grid;
    const ExpertGrid *experts = grid->expert > 0 ? grid : &roles;
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
        if (tensor > most_heads(model, kind) || (kind->experts > 0 && experts->expert > kind->experts)) return false;
        split_heads(model, kind, tensor, &shard, &needs);
        split_mlp(kind, tensor, experts, &shard, &needs);
    }
    shard.vocab = split(model->vocab, tensor, PAD_VOCAB, &needs);
    if (work->layer_flops > 0)
        shard.layer_flops = work->layer_flops, shard.layer_active = work->layer_active;
    else
        shard.layer_flops = layer_flops(model, work->seq, &shard.layer_active);
    if (!split_layers(model, work_layer_weight(work), stages, knobs, &shard, &needs)) return false;

    /* Zig-zag order, which balances causal work over a context group, cuts a sequence into two pieces per chip. */
    int64_t pieces = sequence > 1 ? 2 * sequence : 1;
    shard.seq = split(work->seq, pieces, PAD_TOKENS, &needs) * (double)pieces;
    shard.tokens = shard.sequences * shard.seq / shard.sequence;
    if (!apply_methods(degrees, &knobs->methods, &shard, &needs)) return false;

    int64_t per_replica = divide_up(work->sequences, replicas);
    if (work->sequences % replicas != 0 || per_replica % knobs->microbatch_sequences != 0) needs |= 1u << PAD_REPLICAS;

    PaddingSet forbidden = needs & ~allowed_by(rule);
    shard.padding = needs;
    out->padding = forbidden;
    if (forbidden != 0) return false;
    *out = shard;
    return true;
}
