/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/totals_cache.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    Model model;
    Chip chip;
    Profile profile;
    Work work;
    TrainingState state;
    RematRule remat;
    const RematDomain *domain;
    double precision_flops_per_second;
    Offload offload;
    HostUpdate host_update;
} TotalsContext;

enum { SET_BITS = 14, WAYS = 3, DETAIL_BITS = 11 };
struct TotalsCache {
    /* Bits of the hash of the key of each slot; 0 means that the slot is empty. A slot is read only if its tag says
     * that it is full: memory that is read before it is written is mapped twice, and each time other threads wait. */
    uint32_t tags[1 << SET_BITS][WAYS];
    uint32_t detail_tags[1 << DETAIL_BITS];
    uint8_t next[1 << SET_BITS]; /* the way to fill next */
    TotalsContext context;       /* what the totals are worked out under; all zero means that it was not said */
    TotalsSlot slots[1 << SET_BITS][WAYS];
    DetailSlot details[1 << DETAIL_BITS];
};

TotalsCache *totals_cache_new(void) { return calloc(1, sizeof(TotalsCache)); }
int64_t totals_cache_bytes(void) { return (int64_t)sizeof(TotalsCache); }
void totals_cache_free(TotalsCache *cache) { free(cache); }

/* Everything that the totals of a stage may depend on. A field that is not known to be of no matter is in it. */
static void known_as(const CostContext *context, TotalsContext *out) {
    memset(out, 0, sizeof *out);
    memcpy(&out->model, context->model, sizeof out->model);
    memcpy(&out->chip, context->chip, sizeof out->chip);
    memcpy(&out->profile, context->profile, sizeof out->profile);
    memcpy(&out->work, &context->work, sizeof out->work);
    memcpy(&out->state, cost_context_state(context), sizeof out->state);
    if (context->remat) memcpy(&out->remat, context->remat, sizeof out->remat);
    out->profile.ranks_by_time = false; /* of no matter to them */
    out->chip.hbm_bytes.value = out->chip.link_bytes_per_second.value = out->chip.device_link_bytes_per_second.value =
        out->chip.scaleout_bytes_per_second.value = 0;
    out->work.sequences = 0;
    out->precision_flops_per_second = context->precision_flops_per_second;
    out->domain = context->domain;
    out->offload = context->offload;
    out->host_update = context->host_update;
}

bool totals_cache_knows(const TotalsCache *cache, const CostContext *context) {
    TotalsContext own;
    known_as(context, &own);
    return memcmp(&own, &cache->context, sizeof own) == 0;
}

void totals_cache_begin(TotalsCache *cache, const CostContext *context) {
    if (totals_cache_knows(cache, context)) return;
    memset(cache->tags, 0, sizeof cache->tags);
    memset(cache->detail_tags, 0, sizeof cache->detail_tags);
    known_as(context, &cache->context);
}

static void take_least(double *to, const double *from, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(double); i++) to[i] = min_real(to[i], from[i]);
}
static void take_most(double *to, const double *from, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(double); i++) to[i] = max_real(to[i], from[i]);
}
_Static_assert(sizeof(StageTotals) % sizeof(double) == 0 && _Alignof(StageTotals) == _Alignof(double),
               "totals are doubles alone");

/* What a layer under a required policy takes beyond a layer that saves everything. */
static void required_by_policy(const CostContext *context, const Shard *shard, const Methods *methods,
                               const Sharding *sharding, Resources *out) {
    const RematRule *remat = cost_context_remat(context);
    memset(out, 0, sizeof(*out));
    if (!remat) return;
    static const double NO_MEMORY[MOMENT_COUNT] = {0};
    Knobs knobs = {.methods = *methods, .microbatches = 1, .virtual_stages = 1};
    ActivationCost costs[ACTIVATION_COUNT];
    stage_activations(context, shard, &knobs, sharding, costs);
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        if (costs[a].exists) resources_add_state(&costs[a], remat->state[a], 1, NO_MEMORY, out);
}

void totals_add_required(const CostContext *context, const Shard *shard, const TotalsSlot *slot, Resources *to) {
    const RematRule *remat = cost_context_remat(context);
    if (!remat) return;
    double layers = remat->layers > 0 ? min_real((double)remat->layers, shard->layers) : shard->layers;
    for (int r = 0; r < RESOURCE_COUNT; r++) to->of[r] += layers * slot->required.of[r];
}

double totals_kept_bytes(const CostContext *context, const Shard *shard, const StageTotals *sums) {
    const RematRule *remat = cost_context_remat(context);
    double bytes = 0;
    for (int a = 0; remat && a < ACTIVATION_COUNT; a++) {
        int64_t layers[STATE_COUNT];
        remat_layers(remat, (Activation)a, (int64_t)shard->layers, layers);
        bytes += (double)layers[STATE_SAVED] * sums->layer.saved[a];
    }
    return bytes;
}

/* Lowers what each activation costs to have again, and raises what it frees. */
static void take_cheapest(const CostContext *context, const Shard *shard, const Methods *methods,
                          const Sharding *sharding, bool first, DetailSlot *slot) {
    Knobs knobs = {.methods = *methods, .microbatches = 1, .virtual_stages = 1};
    ActivationCost costs[ACTIVATION_COUNT];
    activation_costs(context, shard, &knobs, sharding, costs);
    for (int a = 0; a < ACTIVATION_COUNT; a++) {
        ActivationCost *to = &slot->cheapest[a];
        const ActivationCost *from = &costs[a];
        if (first) {
            *to = *from;
            slot->least_bytes[a] = from->bytes;
            continue;
        }
        to->exists = to->exists || from->exists;
        to->recomputable = to->recomputable || from->recomputable;
        to->bytes = max_real(to->bytes, from->bytes);
        slot->least_bytes[a] = min_real(slot->least_bytes[a], from->bytes);
        to->recompute_seconds = min_real(to->recompute_seconds, from->recompute_seconds);
        take_least(to->recompute_messages, from->recompute_messages, sizeof(to->recompute_messages));
        take_least(to->recompute_bytes, from->recompute_bytes, sizeof(to->recompute_bytes));
        double freed = max_real(to->part.freed_bytes, from->part.freed_bytes);
        take_least((double *)&to->part, (const double *)&from->part, sizeof(to->part));
        to->part.freed_bytes = freed;
    }
}

/* Takes a part into the least or into the most of them; NULL means that it is not requested. The first part is
 * copied. */
static void take_part(PartSums *least, PartSums *most, const PartSums *part, bool first) {
    if (least && !first) take_least((double *)least, (const double *)part, sizeof(*least));
    if (most && !first) take_most((double *)most, (const double *)part, sizeof(*most));
    if (least && first) *least = *part;
    if (most && first) *most = *part;
}

/* The choices of a sharding on which its parts depend. A part is made once for each of them. */
static int layer_choice(const Sharding *sharding) { return (int)sharding->residual * 3 + (int)sharding->kv; }
static int table_choice(const Sharding *sharding, TableChoice table) {
    return (int)sharding->residual * 2 + (int)table;
}

static void fill_slot(const CostContext *context, const Shard *shard, const Methods *methods, const TotalsKey *key,
                      TotalsSlot *slot) {
    Sharding shardings[SHARDINGS_MAX];
    unsigned layers = 0, embeddings = 0, logits = 0;
    int count = shardings_of(context, shard, shardings);
    *slot = (TotalsSlot){.key = *key};
    for (int i = 0; i < count; i++) {
        const Sharding *sharding = &shardings[i];
        if ((int64_t)sharding->mlp != key->mlp) continue;
        unsigned layer = 1u << layer_choice(sharding), table = 1u << table_choice(sharding, sharding->embedding),
                 head = 1u << table_choice(sharding, sharding->logits);
        PartSums part;
        if (!(layers & layer)) {
            Resources required;
            layer_sums(context, shard, methods, sharding, &part);
            take_part(&slot->totals.layer, NULL, &part, layers == 0);
            required_by_policy(context, shard, methods, sharding, &required);
            if (layers == 0)
                slot->required = required;
            else
                take_least(slot->required.of, required.of, sizeof(required));
        }
        if (!(embeddings & table)) {
            embedding_sums(context, shard, sharding, &part);
            take_part(&slot->totals.embedding, NULL, &part, embeddings == 0);
        }
        if (!(logits & head)) {
            logits_sums(context, shard, sharding, &part);
            take_part(&slot->totals.logits, NULL, &part, logits == 0);
        }
        layers |= layer, embeddings |= table, logits |= head;
        slot->allowed = true;
        slot->along_sequence = slot->along_sequence || sharding->residual == RESIDUAL_SEQUENCE;
    }
}

static void fill_details(const CostContext *context, const Shard *shard, const Methods *methods, const TotalsKey *key,
                         DetailSlot *slot) {
    Sharding shardings[SHARDINGS_MAX];
    unsigned layers = 0, embeddings = 0, logits = 0;
    int count = shardings_of(context, shard, shardings);
    Knobs plain = {.methods = *methods, .microbatches = 1, .virtual_stages = 1};
    Sharding whole = offload_sharding(context, shard);
    StageTotals sums;
    *slot = (DetailSlot){.key = *key};
    activation_costs(context, shard, &plain, &whole, slot->whole);
    stage_sums(context, shard, methods, &shardings[0], &sums);
    slot->weights[0] = sums.layer.dense_trained, slot->weights[1] = sums.layer.expert_trained;
    slot->weights[2] = sums.embedding.dense_trained, slot->weights[3] = sums.logits.dense_trained;
    for (int i = 0; i < count; i++) {
        const Sharding *sharding = &shardings[i];
        if ((int64_t)sharding->mlp != key->mlp) continue;
        unsigned layer = 1u << layer_choice(sharding), table = 1u << table_choice(sharding, sharding->embedding),
                 head = 1u << table_choice(sharding, sharding->logits);
        PartSums part;
        if (!(layers & layer)) {
            layer_sums(context, shard, methods, sharding, &part);
            take_part(NULL, &slot->most.layer, &part, layers == 0);
            take_cheapest(context, shard, methods, sharding, layers == 0, slot);
        }
        if (!(embeddings & table)) {
            embedding_sums(context, shard, sharding, &part);
            take_part(NULL, &slot->most.embedding, &part, embeddings == 0);
        }
        if (!(logits & head)) {
            logits_sums(context, shard, sharding, &part);
            take_part(NULL, &slot->most.logits, &part, logits == 0);
        }
        layers |= layer, embeddings |= table, logits |= head;
        slot->replicated = slot->replicated || sharding->residual == RESIDUAL_REPLICATED;
    }
}

static TotalsKey totals_key(const Shard *shard, const Methods *methods, MlpChoice mlp) {
    return (TotalsKey){.tensor = shard->tensor,
                       .expert = shard->expert,
                       .sequence = shard->sequence,
                       .sequences = shard->sequences,
                       .ulysses = shard->ulysses,
                       .grid_expert = shard->grid_expert,
                       .grid_expert_tensor = shard->grid_expert_tensor,
                       .context = (int64_t)methods->context,
                       .mlp = (int64_t)mlp,
                       .along_sequence = shard->along_sequence,
                       .overlap = methods->tensor_overlap,
                       .gathers = shard_weight_ways(shard) > 1,
                       .gathers_experts = shard_expert_ways(shard) > 1};
}

/* Two chains, of which a processor works on both at once. */
static uint64_t totals_hash(const TotalsKey *key) {
    static const uint64_t FACTOR = 0x9E3779B97F4A7C15u;
    uint64_t words[sizeof(*key) / sizeof(uint64_t)], even = 0, odd = 0;
    memcpy(words, key, sizeof(*key));
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        uint64_t *chain = i % 2 ? &odd : &even;
        *chain = (*chain ^ words[i]) * FACTOR, *chain ^= *chain >> 29;
    }
    return (even ^ (odd * FACTOR) ^ odd >> 31) * FACTOR;
}

/* memcmp() of so few words costs more than the words. */
static bool same_key(const TotalsKey *a, const TotalsKey *b) {
    uint64_t left[sizeof(*a) / sizeof(uint64_t)], right[sizeof(*a) / sizeof(uint64_t)], differ = 0;
    memcpy(left, a, sizeof(*a));
    memcpy(right, b, sizeof(*b));
    for (size_t i = 0; i < COUNT_OF(left); i++) differ |= left[i] ^ right[i];
    return differ == 0;
}

const TotalsSlot *totals_cache_get(const Bounds *bounds, const Shard *shard, const Methods *methods, MlpChoice mlp) {
    static const TotalsSlot NONE = {.allowed = false};
    TotalsCache *cache = bounds->cache;
    /* gathered from what tensor has split, and by no launcher with rules of its own: sharding_allowed() */
    if (mlp == MLP_GATHERED && (shard->tensor <= 1 || bounds->context->domain)) return &NONE;
    TotalsKey key = totals_key(shard, methods, mlp);
    uint64_t hash = totals_hash(&key), set = hash >> (64 - SET_BITS);
    uint32_t tag = (uint32_t)hash | 1;
    for (int way = 0; way < WAYS; way++) {
        const TotalsSlot *slot = &cache->slots[set][way];
        if (cache->tags[set][way] == tag && same_key(&slot->key, &key)) return slot;
    }
    int way = cache->next[set];
    TotalsSlot *slot = &cache->slots[set][way];
    cache->next[set] = (uint8_t)((way + 1) % WAYS);
    cache->tags[set][way] = tag;
    fill_slot(bounds->context, shard, methods, &key, slot);
    return slot;
}

const DetailSlot *totals_cache_details(const Bounds *bounds, const Shard *shard, const Methods *methods,
                                       MlpChoice mlp) {
    TotalsCache *cache = bounds->cache;
    TotalsKey key = totals_key(shard, methods, mlp);
    uint64_t hash = totals_hash(&key), at = hash >> (64 - DETAIL_BITS);
    uint32_t tag = (uint32_t)hash | 1;
    DetailSlot *slot = &cache->details[at];
    if (cache->detail_tags[at] != tag || !same_key(&slot->key, &key))
        fill_details(bounds->context, shard, methods, &key, slot);
    cache->detail_tags[at] = tag;
    return slot;
}

Sharding totals_sharding(const TotalsSlot *slot) {
    return (Sharding){.residual = slot->along_sequence ? RESIDUAL_SEQUENCE : RESIDUAL_REPLICATED,
                      .mlp = (MlpChoice)slot->key.mlp};
}
