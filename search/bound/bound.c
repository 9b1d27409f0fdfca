/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/bound/bound.h"

#include "base/util.h"
#include "cost/plan/grid.h"
#include "cost/time/slack.h"
#include "cost/time/step_terms.h"
#include "mesh/prime.h"
#include "search/layout/branch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- least rates: one row per divisor of the devices ---- */

struct LowerBoundRates {
    int64_t *divisors; /* rising */
    int64_t count;
    CollectiveCost (*cost)[4]; /* all_gather, all_to_all, permute, dispatch */
};

static int column(Collective op) {
    return op == COLLECTIVE_ALL_TO_ALL ? 1 : op == COLLECTIVE_PERMUTE ? 2 : op == COLLECTIVE_DISPATCH ? 3 : 0;
}

LowerBoundRates *lower_bound_rates_new(const Mesh *mesh, Arena *arena) {
    LowerBoundRates *table = ARENA_NEW(arena, LowerBoundRates, 1);
    if (!table) return NULL;
    table->divisors = divisors_of(mesh->devices, arena);
    if (!table->divisors) return NULL;
    while (table->divisors[table->count] <= mesh->devices) table->count++;
    table->cost = arena_alloc(arena, (size_t)table->count, sizeof(*table->cost));
    if (!table->cost) return NULL;
    static const Collective OPS[] = {COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL, COLLECTIVE_PERMUTE,
                                     COLLECTIVE_DISPATCH};
    for (int64_t i = 0; i < table->count; i++)
        for (int op = 0; op < 4; op++) table->cost[i][op] = collective_cost_least(OPS[op], mesh, table->divisors[i]);
    return table;
}

LowerBoundRates *lower_bound_rates_copy(const LowerBoundRates *table, Arena *arena) {
    LowerBoundRates *copy = ARENA_NEW(arena, LowerBoundRates, 1);
    if (!copy) return NULL;
    *copy = *table; /* the same divisors */
    copy->cost = arena_alloc(arena, (size_t)table->count, sizeof(*table->cost));
    if (!copy->cost) return NULL;
    memcpy(copy->cost, table->cost, (size_t)table->count * sizeof(*table->cost));
    return copy;
}

void lower_bound_rates_merge(LowerBoundRates *to, const LowerBoundRates *from) {
    for (int64_t i = 0; i < to->count; i++)
        for (int op = 0; op < 4; op++)
            for (int piece = 0; piece < 2; piece++) {
                CollectiveCost *cost = &to->cost[i][op];
                const CollectiveCost *other = &from->cost[i][op];
                cost->latency_seconds[piece] = min_real(cost->latency_seconds[piece], other->latency_seconds[piece]);
                cost->seconds_per_byte[piece] = min_real(cost->seconds_per_byte[piece], other->seconds_per_byte[piece]);
            }
}

static const CollectiveCost *least_row(const LowerBoundRates *table, int64_t degree) {
    int64_t low = 0, high = table->count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (table->divisors[middle] < degree)
            low = middle + 1;
        else
            high = middle;
    }
    return table->cost[low];
}

void lower_bound_rates_of(const LowerBoundRates *table, const Degrees *degrees, const Methods *methods, Rates *out) {
    for (int group = 0; group < GROUP_COUNT; group++) {
        int64_t degree = rates_open(degrees, methods, (Group)group, out);
        out->cost[group] = least_row(table, degree)[column(group_collective((Group)group, methods->context))];
    }
}

/* The least of a folded grid's costs over the ways to place the pipeline on axes `axis` and up. */
static void least_over_pipeline(const NestedMesh *nested_mesh, const GridRanks *ranks, int axis, int64_t stages,
                                Placement *placement, CollectiveCost least[4]) {
    static const Group GROUPS[] = {GROUP_EXPERT_TENSOR, GROUP_EXPERT, GROUP_EXPERT_WEIGHTS, GROUP_EXPERT_DATA};
    const Mesh *mesh = nested_mesh->mesh;
    if (axis == mesh->axis_count) {
        if (stages > 1) return;
        GridFootprints at = grid_footprints(mesh, placement, ranks);
        const Footprint *footprints[] = {&at.expert_tensor, &at.expert, &at.weights, &at.data};
        for (int i = 0; i < 4; i++) {
            CollectiveCost cost = collective_cost(group_collective(GROUPS[i], CONTEXT_NONE), mesh, footprints[i]);
            for (int piece = 0; piece < 2; piece++) {
                least[i].latency_seconds[piece] =
                    min_real(least[i].latency_seconds[piece], cost.latency_seconds[piece]);
                least[i].seconds_per_byte[piece] =
                    min_real(least[i].seconds_per_byte[piece], cost.seconds_per_byte[piece]);
            }
        }
        return;
    }
    int64_t most = min_whole(stages, mesh->axes[axis].size);
    for (int64_t factor = 1; factor <= most; factor++) {
        if (stages % factor != 0 || mesh->axes[axis].size % factor != 0) continue;
        placement->factor[axis][ROLE_PIPELINE] = (int32_t)factor;
        least_over_pipeline(nested_mesh, ranks, axis + 1, stages / factor, placement, least);
    }
}

void lower_bound_rates_folded(const NestedMesh *nested_meshes, int count, const Degrees *degrees,
                              const Methods *methods, Rates *rates) {
    static const Group GROUPS[] = {GROUP_EXPERT_TENSOR, GROUP_EXPERT, GROUP_EXPERT_WEIGHTS, GROUP_EXPERT_DATA};
    GridRanks ranks;
    if (methods->grid.expert == 0 || !grid_ranks(degrees, methods, &ranks)) return;
    CollectiveCost least[4];
    for (int i = 0; i < 4; i++) least[i] = (CollectiveCost){{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    for (int i = 0; i < count; i++) {
        Placement placement = {0};
        least_over_pipeline(&nested_meshes[i], &ranks, 0, degrees->of[ROLE_PIPELINE], &placement, least);
    }
    for (int i = 0; i < 4; i++)
        if (least[i].latency_seconds[0] < INFINITY) rates->cost[GROUPS[i]] = least[i];
}

/* ---- least sums: a direct-mapped cache ---- */

typedef struct {
    double tensor, expert, sequence, sequences, ulysses, grid_expert, grid_expert_tensor;
    int64_t context, mlp, along_sequence, overlap;
    int64_t gathers, gathers_experts; /* more than one way: weights are gathered */
} SumsKey;

/* What every bound asks for. */
typedef struct {
    SumsKey key;
    bool allowed, along_sequence;
    StageTotals sums;
    Resources required; /* what a required remat policy adds, in one layer and microbatch; memory not */
} SumsSlot;

/* What few ask for, those near the best: made apart. */
typedef struct {
    SumsKey key;
    StageTotals most;                          /* component-wise largest, for what is sure to fit */
    bool replicated;                           /* some sharding has the residual stream whole */
    ActivationCost cheapest[ACTIVATION_COUNT]; /* each figure the least, bytes the most; of shardings that have it */
    double least_bytes[ACTIVATION_COUNT];
    ActivationCost whole[ACTIVATION_COUNT]; /* as offloadable_activations() wants them */
    double weights[4];                      /* of the first sharding: dense, expert, embedding, logits */
} DetailSlot;

enum { SET_BITS = 14, WAYS = 3, DETAIL_BITS = 11 };
struct TotalsCache {
    /* Bits of the hash of what a slot holds, 0: nothing. Slots are read only where these say so: memory that is read before
     * it is written is mapped twice, and each time other threads wait. */
    uint32_t tags[1 << SET_BITS][WAYS];
    uint32_t detail_tags[1 << DETAIL_BITS];
    uint8_t next[1 << SET_BITS]; /* the way to fill next */
    SumsSlot slots[1 << SET_BITS][WAYS];
    DetailSlot details[1 << DETAIL_BITS];
};

TotalsCache *totals_cache_new(void) { return calloc(1, sizeof(TotalsCache)); }
void totals_cache_free(TotalsCache *cache) { free(cache); }

static void take_least(double *to, const double *from, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(double); i++) to[i] = min_real(to[i], from[i]);
}
static void take_most(double *to, const double *from, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(double); i++) to[i] = max_real(to[i], from[i]);
}
_Static_assert(sizeof(StageTotals) % sizeof(double) == 0 && _Alignof(StageTotals) == _Alignof(double),
               "sums are doubles alone");

/* What a layer in which a required policy stands takes beyond one that saves everything. */
static void required_by_policy(const CostContext *setting, const Shard *shard, const Methods *methods,
                               const Sharding *sharding, Resources *out) {
    const RematRule *remat = cost_context_remat(setting);
    memset(out, 0, sizeof(*out));
    if (!remat) return;
    static const double NO_MEMORY[MOMENT_COUNT] = {0};
    Knobs knobs = {.methods = *methods, .microbatches = 1, .virtual_stages = 1};
    ActivationCost costs[ACTIVATION_COUNT];
    stage_activations(setting, shard, &knobs, sharding, costs);
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        if (costs[a].exists) resources_add_state(&costs[a], remat->state[a], 1, NO_MEMORY, out);
}

/* The same in all the layers of a stage in which it stands. */
static void add_required(const CostContext *setting, const Shard *shard, const SumsSlot *slot, Resources *to) {
    const RematRule *remat = cost_context_remat(setting);
    if (!remat) return;
    double layers = remat->layers > 0 ? min_real((double)remat->layers, shard->layers) : shard->layers;
    for (int r = 0; r < RESOURCE_COUNT; r++) to->of[r] += layers * slot->required.of[r];
}

/* Least bytes of one microbatch that a stage keeps of its activations: none, unless a policy says which. */
static double least_kept(const CostContext *setting, const Shard *shard, const StageTotals *sums) {
    const RematRule *remat = cost_context_remat(setting);
    double bytes = 0;
    for (int a = 0; remat && a < ACTIVATION_COUNT; a++) {
        int64_t layers[STATE_COUNT];
        remat_layers(remat, (Activation)a, (int64_t)shard->layers, layers);
        bytes += (double)layers[STATE_SAVED] * sums->layer.saved[a];
    }
    return bytes;
}

/* What having each activation again takes at least, and what it gives up at most. */
static void take_cheapest(const CostContext *setting, const Shard *shard, const Methods *methods,
                          const Sharding *sharding, bool first, DetailSlot *slot) {
    Knobs knobs = {.methods = *methods, .microbatches = 1, .virtual_stages = 1};
    ActivationCost costs[ACTIVATION_COUNT];
    activation_costs(setting, shard, &knobs, sharding, costs);
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
    }
}

/* A part into the least or the most of them, NULL: not asked; the first is taken as it is. */
static void take_part(PartSums *least, PartSums *most, const PartSums *part, bool first) {
    if (least && !first) take_least((double *)least, (const double *)part, sizeof(*least));
    if (most && !first) take_most((double *)most, (const double *)part, sizeof(*most));
    if (least && first) *least = *part;
    if (most && first) *most = *part;
}

/* Choices of a sharding that its parts depend on: a part seen under the same is not made again. */
static int layer_choice(const Sharding *sharding) { return (int)sharding->residual * 3 + (int)sharding->kv; }
static int table_choice(const Sharding *sharding, TableChoice table) {
    return (int)sharding->residual * 2 + (int)table;
}

static void fill_slot(const CostContext *setting, const Shard *shard, const Methods *methods, const SumsKey *key,
                      SumsSlot *slot) {
    Sharding shardings[SHARDINGS_MAX];
    unsigned layers = 0, embeddings = 0, logits = 0;
    int count = shardings_of(setting, shard, shardings);
    *slot = (SumsSlot){.key = *key};
    for (int i = 0; i < count; i++) {
        const Sharding *sharding = &shardings[i];
        if ((int64_t)sharding->mlp != key->mlp) continue;
        unsigned layer = 1u << layer_choice(sharding), table = 1u << table_choice(sharding, sharding->embedding),
                 head = 1u << table_choice(sharding, sharding->logits);
        PartSums part;
        if (!(layers & layer)) {
            Resources required;
            layer_sums(setting, shard, methods, sharding, &part);
            take_part(&slot->sums.layer, NULL, &part, layers == 0);
            required_by_policy(setting, shard, methods, sharding, &required);
            if (layers == 0)
                slot->required = required;
            else
                take_least(slot->required.of, required.of, sizeof(required));
        }
        if (!(embeddings & table)) {
            embedding_sums(setting, shard, sharding, &part);
            take_part(&slot->sums.embedding, NULL, &part, embeddings == 0);
        }
        if (!(logits & head)) {
            logits_sums(setting, shard, sharding, &part);
            take_part(&slot->sums.logits, NULL, &part, logits == 0);
        }
        layers |= layer, embeddings |= table, logits |= head;
        slot->allowed = true;
        slot->along_sequence = slot->along_sequence || sharding->residual == RESIDUAL_SEQUENCE;
    }
}

static void fill_details(const CostContext *setting, const Shard *shard, const Methods *methods, const SumsKey *key,
                         DetailSlot *slot) {
    Sharding shardings[SHARDINGS_MAX];
    unsigned layers = 0;
    int count = shardings_of(setting, shard, shardings);
    Knobs plain = {.methods = *methods, .microbatches = 1, .virtual_stages = 1};
    Sharding whole = offload_sharding(setting, shard);
    StageTotals sums;
    bool any = false;
    *slot = (DetailSlot){.key = *key};
    activation_costs(setting, shard, &plain, &whole, slot->whole);
    stage_sums(setting, shard, methods, &shardings[0], &sums);
    slot->weights[0] = sums.layer.dense_weights, slot->weights[1] = sums.layer.expert_weights;
    slot->weights[2] = sums.embedding.dense_weights, slot->weights[3] = sums.logits.dense_weights;
    for (int i = 0; i < count; i++) {
        const Sharding *sharding = &shardings[i];
        if ((int64_t)sharding->mlp != key->mlp) continue;
        unsigned layer = 1u << layer_choice(sharding);
        stage_sums(setting, shard, methods, sharding, &sums);
        take_part(NULL, &slot->most.layer, &sums.layer, !any);
        take_part(NULL, &slot->most.embedding, &sums.embedding, !any);
        take_part(NULL, &slot->most.logits, &sums.logits, !any);
        if (!(layers & layer)) take_cheapest(setting, shard, methods, sharding, layers == 0, slot);
        slot->replicated = slot->replicated || sharding->residual == RESIDUAL_REPLICATED;
        layers |= layer;
        any = true;
    }
}

static SumsKey sums_key(const Shard *shard, const Methods *methods, MlpChoice mlp) {
    return (SumsKey){.tensor = shard->tensor,
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

static uint64_t sums_hash(const SumsKey *key) {
    uint64_t words[sizeof(*key) / sizeof(uint64_t)], hash = 0;
    memcpy(words, key, sizeof(*key));
    for (size_t i = 0; i < COUNT_OF(words); i++) hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
    return hash * 0x9E3779B97F4A7C15u;
}

static const SumsSlot *totals_cache_get(TotalsCache *cache, const CostContext *setting, const Shard *shard,
                                        const Methods *methods, MlpChoice mlp) {
    SumsKey key = sums_key(shard, methods, mlp);
    uint64_t hash = sums_hash(&key), set = hash >> (64 - SET_BITS);
    uint32_t tag = (uint32_t)hash | 1;
    for (int way = 0; way < WAYS; way++) {
        const SumsSlot *slot = &cache->slots[set][way];
        if (cache->tags[set][way] == tag && memcmp(&slot->key, &key, sizeof(key)) == 0) return slot;
    }
    int way = cache->next[set];
    SumsSlot *slot = &cache->slots[set][way];
    cache->next[set] = (uint8_t)((way + 1) % WAYS);
    cache->tags[set][way] = tag;
    fill_slot(setting, shard, methods, &key, slot);
    return slot;
}

static const DetailSlot *least_details(TotalsCache *cache, const CostContext *setting, const Shard *shard,
                                       const Methods *methods, MlpChoice mlp) {
    SumsKey key = sums_key(shard, methods, mlp);
    uint64_t hash = sums_hash(&key), at = hash >> (64 - DETAIL_BITS);
    uint32_t tag = (uint32_t)hash | 1;
    DetailSlot *slot = &cache->details[at];
    if (cache->detail_tags[at] != tag || memcmp(&slot->key, &key, sizeof(key)) != 0)
        fill_details(setting, shard, methods, &key, slot);
    cache->detail_tags[at] = tag;
    return slot;
}

/* The branch of the least sums: everything saved, and the states of activations by their cheapest. */
static void least_branch(const CostContext *setting, const Shard *shard, const DetailSlot *slot, const StepRule *rule,
                         const double weights[MOMENT_COUNT], const bool offloadable[ACTIVATION_COUNT], Branch *out) {
    const RematOffer *offer = cost_context_offer(setting);
    out->item_count = 0;
    for (int a = 0; a < ACTIVATION_COUNT && !cost_context_remat(setting); a++) {
        const ActivationCost *cost = &slot->cheapest[a];
        if (!cost->exists) continue;
        for (ActivationState state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            if (state == STATE_RECOMPUTED ? !cost->recomputable
                                          : !(rule->offload_bytes_per_second > 0 && offloadable[a]))
                continue;
            if (offer && !offer->has[a][state]) continue;
            BranchItem *item = &out->items[out->item_count++];
            *item = (BranchItem){.activation = a, .state = state, .layers = shard->layers};
            resources_add_state(cost, state, 1, weights, &item->adds);
            if (state == STATE_OFFLOADED) item->adds.of[RES_OFFLOAD_BYTES] = 2 * slot->least_bytes[a];
        }
    }
}

/* Rows that cannot fit are no choice beside those that may. Where none may, that is left to the bounds of memory. */
static void drop_unfit(BoundRows *rows) {
    int kept = 0;
    for (int i = 0; i < rows->count; i++)
        if (rows->row[i].relaxation.fits) rows->row[kept++] = rows->row[i];
    if (kept > 0) rows->count = kept;
}

/* The row of everything saved, and of what must be freed, where that can matter; knobs NULL: of a family. A branch that cannot fit is left to the
 * bounds of memory. */
static void relax_bound(const CostContext *setting, const Shard *shard, TotalsCache *cache, const Methods *methods,
                        MlpChoice mlp, const double weights[MOMENT_COUNT], const Knobs *knobs, const Resources *saved,
                        const Rates *least, double enough, BoundRow *row) {
    memset(&row->relaxation, 0, sizeof(row->relaxation));
    row->relaxation.rows = 1;
    row->relaxation.row[0].resources = *saved;
    row->relaxation.fits = true;
    if (cost_context_remat(setting) || resources_fit(saved, row->rule.memory_limit_bytes)) return;
    if (step_seconds(&row->rule, saved, least) * SLACK > enough) return;
    const DetailSlot *slot = least_details(cache, setting, shard, methods, mlp);
    Branch branch;
    Relaxation relaxation;
    bool offloadable[ACTIVATION_COUNT];
    StageTotals first;
    first.layer.dense_weights = slot->weights[0], first.layer.expert_weights = slot->weights[1];
    first.embedding.dense_weights = slot->weights[2], first.logits.dense_weights = slot->weights[3];
    if (knobs)
        offloadable_activations(setting, shard, knobs, slot->whole, &first, offloadable);
    else /* what any of a family may send: alone on the host, with the fewest in flight */
        for (int a = 0; a < ACTIVATION_COUNT; a++)
            offloadable[a] = offload_bytes(setting, shard, &slot->whole[a], a, weights[MOMENT_FIRST_BACKWARD]) <=
                             offload_room(setting);
    branch.saved = *saved;
    least_branch(setting, shard, slot, &row->rule, weights, offloadable, &branch);
    branch_relax(&row->rule, &branch, least, &relaxation);
    if (relaxation.fits)
        row->relaxation = relaxation;
    else
        row->relaxation.fits = false;
}

static Sharding least_sharding(const SumsSlot *slot, MlpChoice mlp) {
    return (Sharding){.residual = slot->along_sequence ? RESIDUAL_SEQUENCE : RESIDUAL_REPLICATED, .mlp = mlp};
}

/* ---- bounds ---- */

/* The step with parts A and B taken as one (docs/search.md, "Merged parts"): the second reader of the table of terms
 * that adds up seconds. Each group is alone on an axis, and the bubble is `bubble_share` of all passes. */
static double merged_seconds(const StepRule *rule, const Resources *resources, const Rates *rates,
                             double bubble_share) {
    StepTerm compute_term = step_compute_term(rule);
    double of_compute[PHASE_COUNT], certain = 0, critical = 0;
    for (int phase = 0; phase < PHASE_COUNT; phase++) of_compute[phase] = step_compute_seconds(resources, phase);
    double compute = term_part_a(&compute_term, of_compute) + of_compute[1], longest = compute;
    for (int group = 0; group < GROUP_COUNT; group++) {
        StepTerm term = step_term(rule, group, rates->leaves_scale_up >> group & 1);
        double seconds[PHASE_COUNT];
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            Traffic traffic = step_traffic(rule, resources, group, phase);
            seconds[phase] = collective_seconds(rates->cost[group], traffic.messages, traffic.bytes);
        }
        double exposed = term_exposed_whole(&term, seconds, &resources->of[RES_ATTENTION_FORWARD]);
        certain += exposed;
        if (term.critical) critical += exposed;
        longest = max_real(longest, term.hidden * term_whole(&term, seconds));
    }
    return certain + longest + bubble_share * (compute + critical) + rule->optimizer_seconds + rule->other_seconds;
}

/* At most this share of a microbatch's seconds are weight gradients: a third of the FLOPs of matmuls, no part of the
 * rest. */
static const double WEIGHTS_MOST = 1.0 / 3;

static double most_chunks(const CostContext *setting, double stages) {
    return max_real(1, floor((double)setting->model->layers / stages));
}

/* The best of what the rule's knobs other than microbatches choose: exposed shares of every overlap on offer, and a
 * bubble of `share` of all other stages' passes. */
static void relax_rule(const CostContext *setting, const Offers *offers, const Shard *shard, double share,
                       StepRule *rule) {
    const Profile *profile = setting->profile;
    double others = stage_pace(setting, shard).others;
    if (offers->overlaps)
        rule->exposed[GROUP_TENSOR] = min_real(rule->exposed[GROUP_TENSOR], profile->tensor_overlapped);
    if (shard->pipeline > 1)
        rule->exposed[GROUP_EXPERT] = min_real(rule->exposed[GROUP_EXPERT], profile->expert_overlapped);
    rule->bubble[PHASE_FORWARD] = rule->bubble[PHASE_BACKWARD] = others * share;
    rule->bubble_saved_seconds = 0;
    /* without ZeRO there is no gather at the start; its second pass at the end is not counted either */
    memset(rule->data_start, 0, sizeof(rule->data_start));
}

/* The knobs with the least time beside methods, microbatch and split of layers. */
static Knobs least_time(const Shard *shard, const Knobs *member) {
    Knobs knobs = *member;
    bool replicated = shard_data_ways(shard) > 1 || shard_expert_data_ways(shard) > 1;
    knobs.schedule = shard->pipeline > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE;
    knobs.virtual_stages = 1;
    knobs.zero_stage = replicated ? 1 : 0;
    /* no choice where nothing is gathered */
    knobs.regather = shard_weight_ways(shard) <= 1 && shard_expert_ways(shard) <= 1;
    knobs.offload_optimizer = false;
    knobs.methods.tensor_overlap = false;
    return knobs;
}

/* The rule of those, with the optimizer of the schedule that keeps two stages where that is less. */
static void least_rule(const CostContext *setting, const Shard *shard, const Knobs *knobs, const StageTotals *sums,
                       StepRule *rule) {
    rule_of_sums(setting, shard, knobs, sums, rule);
    if (setting->profile->rank_seconds > 0) { /* what ZeRO takes for each rank is not there without it */
        StepRule plain;
        Knobs whole = *knobs;
        whole.zero_stage = 0;
        rule_of_sums(setting, shard, &whole, sums, &plain);
        rule->other_seconds = min_real(rule->other_seconds, plain.other_seconds);
    }
    if (shard->pipeline <= 1) return;
    StepRule two;
    Knobs other = *knobs;
    other.schedule = SCHEDULE_DUALPIPE;
    rule_of_sums(setting, shard, &other, sums, &two);
    rule->optimizer_seconds = min_real(rule->optimizer_seconds, two.optimizer_seconds);
}

/* Seconds of a shard with n / b microbatches of b sequences, at most `most` of them. */
static double shard_bound(const CostContext *setting, const Offers *offers, const Rates *least, TotalsCache *cache,
                          const Shard *shard, const Knobs *member, double most) {
    Knobs knobs = least_time(shard, member);
    double stages = shard->pipeline, best = INFINITY, others = stage_pace(setting, shard).others;
    double share = schedule_least_share(stages, most, most_chunks(setting, stages), WEIGHTS_MOST) / most;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = totals_cache_get(cache, setting, shard, &knobs.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
        StepRule rule;
        Resources resources;
        least_rule(setting, shard, &knobs, &slot->sums, &rule);
        relax_rule(setting, offers, shard, 0, &rule);
        resources_of_sums(setting, shard, &knobs, &sharding, &slot->sums, &resources);
        add_required(setting, shard, slot, &resources);
        best = min_real(best, merged_seconds(&rule, &resources, least, others * share));
    }
    return best * SLACK;
}

/* Parameters and optimizer, in the split and schedule that hold least. */
static double state_bytes(const CostContext *setting, const Offers *offers, TotalsCache *cache, const Shard *shard,
                          const Knobs *member) {
    Knobs knobs = least_time(shard, member);
    double least = INFINITY;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = totals_cache_get(cache, setting, shard, &knobs.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
        for (int two = 0; two < (shard->pipeline > 1 ? 2 : 1); two++) {
            MemoryRows rows;
            if (shard->pipeline > 1) knobs.schedule = two ? SCHEDULE_DUALPIPE : SCHEDULE_1F1B;
            knobs.offload_optimizer = offers->offloads; /* what the host has no room for stays */
            rows_of_sums(setting, shard, &knobs, &sharding, &slot->sums, MOMENT_UPDATE, 0, &rows);
            least = min_real(least, rows.parameters_bytes + rows.optimizer_bytes);
        }
    }
    return least;
}

static int64_t sequences_of_replica(const CostContext *setting, const Degrees *degrees) {
    return divide_up(setting->work.sequences, degrees_replicas(degrees));
}

static Knobs knobs_of_way(const Degrees *degrees, const Methods *methods, StageSplit split, int64_t sequences) {
    return (Knobs){.microbatches = 1,
                   .microbatch_sequences = sequences,
                   .schedule = degrees->of[ROLE_PIPELINE] > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE,
                   .virtual_stages = 1,
                   .stages = split,
                   .methods = *methods};
}

/* Exposed seconds of a step that the cheapest context method takes at least, on a shard with one microbatch. */
static double context_seconds(const CostContext *setting, PaddingRule padding, const LowerBoundRates *table,
                              TotalsCache *cache, const Degrees *degrees, const MethodSpace *space, const Shard *plain,
                              const Knobs *member) {
    double best = INFINITY;
    for (int i = 0; i < space->context_count; i++) {
        Knobs knobs = *member;
        Shard shard = *plain;
        knobs.methods.context = space->contexts[i].method;
        knobs.methods.ulysses = space->contexts[i].ulysses;
        shard.ulysses = (double)max_whole(1, knobs.methods.ulysses);
        if (padding != PADDING_ANY && fmod(shard.heads, shard.ulysses) != 0) continue;
        Rates least;
        lower_bound_rates_of(table, degrees, &knobs.methods, &least);
        for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
            const SumsSlot *slot = totals_cache_get(cache, setting, &shard, &knobs.methods, (MlpChoice)mlp);
            if (!slot->allowed) continue;
            const PartSums *layer = &slot->sums.layer;
            bool ring = context_is_ring(knobs.methods.context);
            double layers = stage_pace(setting, &shard).layers, seconds = 0, share = setting->profile->sequence_exposed;
            for (int phase = 0; phase < PHASE_COUNT; phase++) {
                const Traffic *heads = &layer->traffic[GROUP_ULYSSES][phase],
                              *keys = &layer->traffic[GROUP_SEQUENCE][phase];
                double moved =
                    collective_seconds(least.cost[GROUP_SEQUENCE], layers * keys->messages, layers * keys->bytes);
                seconds += share * collective_seconds(least.cost[GROUP_ULYSSES], layers * heads->messages,
                                                      layers * heads->bytes);
                double shown = ring ? setting->profile->ring_attention_exposed : share;
                seconds += ring ? max_real(shown * moved, moved - (1 - shown) * layers * layer->attention[phase])
                                : shown * moved;
            }
            best = min_real(best, seconds);
        }
    }
    return best < INFINITY ? best * SLACK : 0;
}

/* Both splits of the layers under some methods; `context`: what context parallelism shows at least in each. */
static void bound_methods(const CostContext *setting, const Offers *offers, PaddingRule padding, const Rates *least,
                          TotalsCache *cache, const Degrees *degrees, const Methods *methods, const double context[2],
                          TupleBound *bound) {
    int64_t n = sequences_of_replica(setting, degrees);
    double limit = cost_context_memory_limit(setting);
    StageSplit most = degrees->of[ROLE_PIPELINE] > 1 ? STAGES_BALANCED : STAGES_EVEN;
    for (StageSplit split = STAGES_EVEN; split <= most; split++) {
        Knobs knobs = knobs_of_way(degrees, methods, split, n);
        Shard shard;
        PaddingSet needs;
        if (!shard_of_plan(setting->model, &setting->work, degrees, &knobs, padding, &shard, &needs)) {
            bound->forbidden |= needs;
            continue;
        }
        bound->unusable = false;
        double seconds = shard_bound(setting, offers, least, cache, &shard, &knobs, (double)n);
        bound->seconds = min_real(bound->seconds, (seconds + context[split]) * SLACK);
        bound->least_bytes = min_real(bound->least_bytes, state_bytes(setting, offers, cache, &shard, &knobs));
        bound->too_large = bound->least_bytes * SLACK > limit;
    }
}

TupleBound tuple_bound(const CostContext *setting, const Offers *offers, PaddingRule padding,
                       const LowerBoundRates *table, TotalsCache *cache, const Degrees *degrees) {
    TupleBound bound = {.seconds = INFINITY, .least_bytes = INFINITY, .unusable = true};
    if (!degrees_may_divide(setting->model, &setting->work, degrees, experts_may_fold(offers, degrees), padding,
                            &bound.forbidden))
        return bound;
    MethodSpace space;
    method_space(degrees, offers, &space);
    double context[2] = {0, 0};
    for (int split = 0; split < 2 && degrees->of[ROLE_SEQUENCE] > 1; split++) {
        Methods plain = {.context = space.contexts[0].method, .ulysses = space.contexts[0].ulysses};
        Knobs knobs = knobs_of_way(degrees, &plain, (StageSplit)split, sequences_of_replica(setting, degrees));
        Shard shard;
        PaddingSet needs;
        if (shard_of_plan(setting->model, &setting->work, degrees, &knobs, PADDING_ANY, &shard, &needs))
            context[split] = context_seconds(setting, padding, table, cache, degrees, &space, &shard, &knobs);
        if (degrees->of[ROLE_PIPELINE] == 1) break;
    }
    space.context_count = 1; /* the ops of all but for what they move over sequence */
    for (int64_t way = 0; way < method_space_size(&space); way++) {
        Methods methods = method_space_at(&space, way);
        Rates least;
        lower_bound_rates_of(table, degrees, &methods, &least);
        least.cost[GROUP_SEQUENCE] = least.cost[GROUP_ULYSSES] = (CollectiveCost){{0, 0}, {0, 0}};
        bound_methods(setting, offers, padding, &least, cache, degrees, &methods, context, &bound);
    }
    if (!bound.unusable) bound.forbidden = 0;
    return bound;
}

/* What the plan holds at least in its worst moment, every activation given up that may be. */
static double least_memory(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                           const StageTotals *sums) {
    double worst = 0, kept = least_kept(setting, shard, sums), weights[MOMENT_COUNT];
    microbatches_in_flight(shard, knobs, weights);
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryRows rows;
        rows_of_sums(setting, shard, knobs, sharding, sums, (Moment)moment, weights[moment] * kept, &rows);
        worst = max_real(worst, memory_total(&rows));
    }
    return worst;
}

/* Least bytes of a shard whatever the knobs beside methods, microbatch and split of layers. */
static double shard_bytes(const CostContext *setting, const Offers *offers, TotalsCache *cache, const Shard *shard,
                          const Knobs *member) {
    Knobs small = least_time(shard, member);
    double least = INFINITY;
    small.zero_stage = small.zero_stage > 0 ? 2 : 0;
    small.regather = true;
    small.offload_optimizer = offers->offloads;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = totals_cache_get(cache, setting, shard, &small.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
        least = min_real(least, least_memory(setting, shard, &small, &sharding, &slot->sums));
        if (shard->pipeline <= 1) continue;
        Knobs two = small; /* stages a chip: less optimizer state, where the last stage is the smaller */
        two.schedule = SCHEDULE_DUALPIPE;
        least = min_real(least, least_memory(setting, shard, &two, &sharding, &slot->sums));
    }
    return least * SLACK;
}

double range_bound(const CostContext *setting, const Offers *offers, PaddingRule padding, const Rates *least,
                   TotalsCache *cache, const Degrees *degrees, const Methods *methods, StageSplit split, int64_t low,
                   int64_t high, double enough, double *least_bytes) {
    Rates free = *least;
    free.cost[GROUP_SEQUENCE] = free.cost[GROUP_ULYSSES] = (CollectiveCost){{0, 0}, {0, 0}};
    int64_t n = sequences_of_replica(setting, degrees);
    Knobs knobs = knobs_of_way(degrees, methods, split, 1); /* which divides whatever number there is */
    Shard shard;
    PaddingSet needs;
    *least_bytes = 0;
    if (!shard_of_plan(setting->model, &setting->work, degrees, &knobs, padding, &shard, &needs)) return INFINITY;
    shard.tokens *= (double)high;
    shard.sequences = (double)high;
    shard.microbatches = (double)n / (double)high;
    double seconds = shard_bound(setting, offers, &free, cache, &shard, &knobs, (double)divide_up(n, low));
    if (seconds > enough) return seconds;
    shard.tokens *= (double)low / shard.sequences;
    shard.sequences = (double)low;
    shard.microbatches = 1; /* no fewer: the least that gradients, and what is in flight, may take */
    *least_bytes = shard_bytes(setting, offers, cache, &shard, &knobs);
    return seconds;
}

double rows_seconds(const BoundRows *rows, const Rates *rates) { return rows_seconds_until(rows, rates, INFINITY); }

double rows_seconds_until(const BoundRows *rows, const Rates *rates, double enough) {
    double best = INFINITY;
    for (int i = 0; i < rows->count; i++) {
        const BoundRow *row = &rows->row[i];
        double seconds = relaxed_seconds(&row->rule, &row->relaxation, rates);
        if (row->chunks > 1 && seconds * SLACK <= enough) {
            StepRule whole = row->rule;
            for (int group = 0; group < DATA_GROUPS; group++) {
                whole.data_end[group].messages *= row->chunks;
                whole.data_end[group].bytes *= row->chunks;
            }
            seconds =
                max_real(seconds, merged_seconds(&whole, &row->relaxation.row[0].resources, rates, row->idle_share));
        }
        best = min_real(best, seconds);
    }
    return best * SLACK;
}

/* Memory of everything saved by the member that holds least: see the header. */
static void least_memory_saved(const CostContext *setting, const Offers *offers, const Shard *shard, const Knobs *fast,
                               const Sharding *sharding, const StageTotals *sums, const double weights[MOMENT_COUNT],
                               Resources *to) {
    Knobs small = *fast;
    small.zero_stage = small.zero_stage > 0 ? 2 : 0;
    small.regather = true;
    small.offload_optimizer = offers->offloads;
    double saved = shard->layers * saved_of_sums(sums);
    for (int two = 0; two < (shard->pipeline > 1 ? 2 : 1); two++) {
        if (two) small.schedule = SCHEDULE_DUALPIPE;
        for (int moment = 0; moment < MOMENT_COUNT; moment++) {
            MemoryRows rows;
            rows_of_sums(setting, shard, &small, sharding, sums, (Moment)moment, weights[moment] * saved, &rows);
            double bytes = memory_total(&rows);
            to->of[RES_MEMORY + moment] = two ? min_real(to->of[RES_MEMORY + moment], bytes) : bytes;
        }
    }
}

void family_rows(const CostContext *setting, const Offers *offers, const Shard *shard, const Knobs *member,
                 const Rates *least, double enough, TotalsCache *cache, BoundRows *out, double *least_bytes) {
    Knobs fast = least_time(shard, member);
    double share =
        schedule_least_share(shard->pipeline, shard->microbatches, most_chunks(setting, shard->pipeline), WEIGHTS_MOST);
    double chunks = shard->pipeline > 1 ? most_chunks(setting, shard->pipeline) : 1, weights[MOMENT_COUNT];
    out->count = 0;
    *least_bytes = shard_bytes(setting, offers, cache, shard, member);
    microbatches_in_flight(shard, &fast, weights);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = totals_cache_get(cache, setting, shard, &fast.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
        BoundRow *row = &out->row[out->count++];
        Resources resources;
        least_rule(setting, shard, &fast, &slot->sums, &row->rule);
        relax_rule(setting, offers, shard, share, &row->rule);
        resources_of_sums(setting, shard, &fast, &sharding, &slot->sums, &resources);
        add_required(setting, shard, slot, &resources);
        row->chunks = chunks;
        row->idle_share = row->rule.bubble[PHASE_FORWARD] / row->rule.microbatches;
        for (int group = 0; group < DATA_GROUPS && chunks > 1; group++) {
            row->rule.data_end[group].messages /= chunks;
            row->rule.data_end[group].bytes /= chunks;
        }
        least_memory_saved(setting, offers, shard, &fast, &sharding, &slot->sums, weights, &resources);
        relax_bound(setting, shard, cache, &fast.methods, (MlpChoice)mlp, weights, NULL, &resources, least, enough,
                    row);
    }
    drop_unfit(out);
}

void knob_rows(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Rates *least, double enough,
               TotalsCache *cache, BoundRows *out, double *least_bytes) {
    double weights[MOMENT_COUNT];
    out->count = 0;
    *least_bytes = INFINITY;
    microbatches_in_flight(shard, knobs, weights);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = totals_cache_get(cache, setting, shard, &knobs->methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
        BoundRow *row = &out->row[out->count++];
        Resources resources;
        row->chunks = 1;
        rule_of_sums(setting, shard, knobs, &slot->sums, &row->rule);
        resources_of_sums(setting, shard, knobs, &sharding, &slot->sums, &resources);
        add_required(setting, shard, slot, &resources);
        *least_bytes = min_real(*least_bytes, least_memory(setting, shard, knobs, &sharding, &slot->sums));
        relax_bound(setting, shard, cache, &knobs->methods, (MlpChoice)mlp, weights, knobs, &resources, least, enough,
                    row);
    }
    drop_unfit(out);
    *least_bytes *= SLACK;
}

double family_bound(const CostContext *setting, const Offers *offers, const Shard *shard, const Knobs *member,
                    const Rates *least, TotalsCache *cache, double *least_bytes) {
    BoundRows rows;
    family_rows(setting, offers, shard, member, least, INFINITY, cache, &rows, least_bytes);
    return rows_seconds(&rows, least);
}

double knob_bound(const CostContext *setting, const Shard *shard, const Knobs *knobs, const Rates *least,
                  TotalsCache *cache, double *least_bytes) {
    BoundRows rows;
    knob_rows(setting, shard, knobs, least, INFINITY, cache, &rows, least_bytes);
    return rows_seconds(&rows, least);
}

bool offload_never_pays(const CostContext *setting, const Shard *shard, const Knobs *knobs, double step_seconds_least,
                        TotalsCache *cache) {
    double limit = cost_context_memory_limit(setting) * SLACK, weights[MOMENT_COUNT];
    Knobs home = *knobs;
    home.offload_optimizer = false;
    microbatches_in_flight(shard, &home, weights);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = totals_cache_get(cache, setting, shard, &home.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        const DetailSlot *details = least_details(cache, setting, shard, &home.methods, (MlpChoice)mlp);
        StepRule here, there;
        rule_of_sums(setting, shard, &home, &details->most, &here);
        rule_of_sums(setting, shard, knobs, &details->most, &there);
        /* more than rounding can hide */
        if (!(there.optimizer_seconds - here.optimizer_seconds > LAYOUT_TOLERANCE * step_seconds_least)) return false;
        Sharding sharding = {.residual = details->replicated ? RESIDUAL_REPLICATED : RESIDUAL_SEQUENCE,
                             .mlp = (MlpChoice)mlp,
                             .logits = shard->tensor > 1 ? TABLE_D_MODEL : TABLE_VOCABULARY};
        double saved = shard->layers * saved_of_sums(&details->most);
        for (int moment = 0; moment < MOMENT_COUNT; moment++) {
            MemoryRows rows;
            rows_of_sums(setting, shard, &home, &sharding, &details->most, (Moment)moment, weights[moment] * saved,
                         &rows);
            if (memory_total(&rows) > limit) return false;
        }
    }
    return true;
}
