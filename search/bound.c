/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/bound.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- least rates: one row per divisor of the devices ---- */

struct LeastRates {
    int64_t *divisors; /* rising */
    int64_t count;
    CollectiveCost (*cost)[3]; /* all_gather, all_to_all, permute */
};

static int column(Collective op) { return op == COLLECTIVE_ALL_TO_ALL ? 1 : op == COLLECTIVE_PERMUTE ? 2 : 0; }

LeastRates *least_rates_new(const Mesh *mesh, Arena *arena) {
    LeastRates *table = ARENA_NEW(arena, LeastRates, 1);
    if (!table) return NULL;
    for (int pass = 0; pass < 2; pass++) {
        int64_t small = 0;
        for (int64_t d = 1; d * d <= mesh->devices; d++) {
            if (mesh->devices % d != 0) continue;
            if (pass == 1) {
                table->divisors[small] = d;
                table->divisors[table->count - 1 - small] = mesh->devices / d;
            }
            small++;
        }
        if (pass == 1) break;
        int64_t root = (int64_t)sqrt((double)mesh->devices);
        while (root * root > mesh->devices) root--;
        while ((root + 1) * (root + 1) <= mesh->devices) root++;
        table->count = 2 * small - (root * root == mesh->devices);
        table->divisors = ARENA_NEW(arena, int64_t, (size_t)table->count);
        table->cost = arena_alloc(arena, (size_t)table->count, sizeof(*table->cost));
        if (!table->divisors || !table->cost) return NULL;
    }
    static const Collective OPS[] = {COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL, COLLECTIVE_PERMUTE};
    for (int64_t i = 0; i < table->count; i++)
        for (int op = 0; op < 3; op++) table->cost[i][op] = collective_cost_least(OPS[op], mesh, table->divisors[i]);
    return table;
}

static const CollectiveCost *least_row(const LeastRates *table, int64_t degree) {
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

void least_rates_of(const LeastRates *table, const Degrees *degrees, const Methods *methods, Rates *out) {
    for (int group = 0; group < GROUP_COUNT; group++) {
        int64_t degree = rates_open(degrees, methods, (Group)group, out);
        out->cost[group] = least_row(table, degree)[column(group_collective((Group)group, methods->context))];
    }
}

/* ---- least sums: a direct-mapped cache ---- */

typedef struct {
    double tensor, expert, sequence, sequences, ulysses, grid_expert, grid_expert_tensor;
    int64_t context, mlp, along_sequence, overlap;
    int64_t gathers, gathers_experts; /* more than one way: weights are gathered */
} SumsKey;

typedef struct {
    SumsKey key;
    bool filled, allowed, along_sequence;
    StageSums sums, most; /* most: component-wise largest, for what is sure to fit */
    bool replicated;      /* some sharding has the residual stream whole */
    Resources required;   /* what a required remat policy adds, in one layer and microbatch; memory not */
} SumsSlot;

enum { SLOTS = 16384 };
struct LeastSums {
    SumsSlot slots[SLOTS];
};

LeastSums *least_sums_new(void) { return calloc(1, sizeof(LeastSums)); }
void least_sums_free(LeastSums *cache) { free(cache); }

static void take_least(double *to, const double *from, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(double); i++) to[i] = min_real(to[i], from[i]);
}
static void take_most(double *to, const double *from, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(double); i++) to[i] = max_real(to[i], from[i]);
}
_Static_assert(sizeof(StageSums) % sizeof(double) == 0 && _Alignof(StageSums) == _Alignof(double),
               "sums are doubles alone");

/* What a layer in which a required policy stands takes beyond one that saves everything. */
static void required_by_policy(const Setting *setting, const Shard *shard, const Methods *methods,
                               const Sharding *sharding, Resources *out) {
    const RematRule *remat = setting_remat(setting);
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
static void add_required(const Setting *setting, const Shard *shard, const SumsSlot *slot, Resources *to) {
    const RematRule *remat = setting_remat(setting);
    if (!remat) return;
    double layers = remat->layers > 0 ? min_real((double)remat->layers, shard->layers) : shard->layers;
    for (int r = 0; r < RESOURCE_COUNT; r++) to->of[r] += layers * slot->required.of[r];
}

/* Least bytes of one microbatch that a stage keeps of its activations: none, unless a policy says which. */
static double least_kept(const Setting *setting, const Shard *shard, const StageSums *sums) {
    const RematRule *remat = setting_remat(setting);
    double bytes = 0;
    for (int a = 0; remat && a < ACTIVATION_COUNT; a++) {
        int64_t layers[STATE_COUNT];
        remat_layers(remat, (Activation)a, (int64_t)shard->layers, layers);
        bytes += (double)layers[STATE_SAVED] * sums->layer.saved[a];
    }
    return bytes;
}

static void fill_slot(const Setting *setting, const Shard *shard, const Methods *methods, const SumsKey *key,
                      SumsSlot *slot) {
    Sharding shardings[SHARDINGS_MAX];
    int count = shardings_of(setting, shard, shardings);
    *slot = (SumsSlot){.key = *key, .filled = true};
    for (int i = 0; i < count; i++) {
        if ((int)shardings[i].mlp != key->mlp) continue;
        StageSums sums;
        Resources required;
        stage_sums(setting, shard, methods, &shardings[i], &sums);
        required_by_policy(setting, shard, methods, &shardings[i], &required);
        if (slot->allowed) {
            take_least((double *)&slot->sums, (const double *)&sums, sizeof(sums));
            take_most((double *)&slot->most, (const double *)&sums, sizeof(sums));
            take_least(slot->required.of, required.of, sizeof(required));
        } else {
            slot->sums = slot->most = sums, slot->required = required;
        }
        slot->allowed = true;
        slot->along_sequence = slot->along_sequence || shardings[i].residual == RESIDUAL_SEQUENCE;
        slot->replicated = slot->replicated || shardings[i].residual == RESIDUAL_REPLICATED;
    }
}

static const SumsSlot *least_sums(LeastSums *cache, const Setting *setting, const Shard *shard, const Methods *methods,
                                  MlpChoice mlp) {
    SumsKey key = {.tensor = shard->tensor,
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
    uint64_t words[sizeof(key) / sizeof(uint64_t)], hash = 0;
    memcpy(words, &key, sizeof(key));
    for (size_t i = 0; i < COUNT_OF(words); i++) hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
    SumsSlot *slot = &cache->slots[(hash * 0x9E3779B97F4A7C15u) >> 50];
    if (!slot->filled || memcmp(&slot->key, &key, sizeof(key)) != 0) fill_slot(setting, shard, methods, &key, slot);
    return slot;
}

static Sharding least_sharding(const SumsSlot *slot, MlpChoice mlp) {
    return (Sharding){.residual = slot->along_sequence ? RESIDUAL_SEQUENCE : RESIDUAL_REPLICATED, .mlp = mlp};
}

/* ---- bounds ---- */

/* The step with both parts taken as one, see the header. */
static double merged_seconds(const StepRule *rule, const Resources *resources, const Rates *rates,
                             double bubble_share) {
    StepTime time;
    StepRule whole = *rule;
    whole.bubble[PHASE_FORWARD] = whole.bubble[PHASE_BACKWARD] = whole.bubble_saved_seconds = 0;
    step_time(&whole, resources, rates, &time);
    double certain = 0, critical = 0, longest = time.compute_seconds;
    for (int group = 0; group < GROUP_COUNT; group++) {
        certain += time.group_exposed_seconds[group];
        if (group < GROUP_WEIGHTS) critical += time.group_exposed_seconds[group];
        longest = max_real(longest, (1 - rule->exposed[group]) * time.group_seconds[group]);
    }
    return certain + longest + bubble_share * (time.compute_seconds + critical) + rule->optimizer_seconds +
           rule->other_seconds;
}

/* Other orders of the same sums than step_seconds has: a directed slack far above their rounding. */
static const double SLACK = 1 - 0x1p-40;

/* At most this share of a microbatch's seconds are weight gradients: a third of the FLOPs of matmuls, no part of the
 * rest. */
static const double WEIGHTS_MOST = 1.0 / 3;

static double most_chunks(const Setting *setting, double stages) {
    return max_real(1, floor((double)setting->model->layers / stages));
}

/* The best of what the rule's knobs other than microbatches choose: exposed shares of every overlap on offer, and a
 * bubble of `share` of all other stages' passes. */
static void relax_rule(const Setting *setting, const Offers *offers, const Shard *shard, double share, StepRule *rule) {
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
    knobs.regather = false;
    knobs.offload_optimizer = false;
    knobs.methods.tensor_overlap = false;
    return knobs;
}

/* The rule of those, with the optimizer of the schedule that keeps two stages where that is less. */
static void least_rule(const Setting *setting, const Shard *shard, const Knobs *knobs, const StageSums *sums,
                       StepRule *rule) {
    rule_of_sums(setting, shard, knobs, sums, rule);
    if (shard->pipeline <= 1) return;
    StepRule two;
    Knobs other = *knobs;
    other.schedule = SCHEDULE_DUALPIPE;
    rule_of_sums(setting, shard, &other, sums, &two);
    rule->optimizer_seconds = min_real(rule->optimizer_seconds, two.optimizer_seconds);
}

/* One way of a degree tuple: its methods and split of layers. */
static void bound_way(const Setting *setting, const Offers *offers, const Rates *least, LeastSums *cache,
                      const Shard *shard, const Knobs *member, TupleBound *bound) {
    Knobs knobs = least_time(shard, member);
    double per_replica = shard->sequences, stages = shard->pipeline;
    double share = schedule_least_share(stages, per_replica, most_chunks(setting, stages), WEIGHTS_MOST) / per_replica;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = least_sums(cache, setting, shard, &knobs.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
        StepRule rule;
        Resources resources;
        MemoryRows rows;
        least_rule(setting, shard, &knobs, &slot->sums, &rule);
        relax_rule(setting, offers, shard, 0, &rule);
        resources_of_sums(setting, shard, &knobs, &sharding, &slot->sums, &resources);
        add_required(setting, shard, slot, &resources);
        double bubble = stage_pace(setting, shard).others * share;
        bound->seconds = min_real(bound->seconds, SLACK * merged_seconds(&rule, &resources, least, bubble));
        for (int schedule = 0; schedule < (stages > 1 ? 2 : 1); schedule++) {
            if (schedule == 1) knobs.schedule = SCHEDULE_DUALPIPE;
            knobs.offload_optimizer = offers->offloads; /* what the host has no room for stays */
            rows_of_sums(setting, shard, &knobs, &sharding, &slot->sums, MOMENT_UPDATE, 0, &rows);
            double state = rows.parameters_bytes + rows.optimizer_bytes;
            bound->least_bytes = min_real(bound->least_bytes, state);
        }
        knobs = least_time(shard, member);
        bound->too_large = bound->least_bytes * SLACK > rule.memory_limit_bytes;
    }
}

/* Both splits of the layers under some methods. */
static void bound_methods(const Setting *setting, const Offers *offers, PaddingRule padding, const Rates *least,
                          LeastSums *cache, const Degrees *degrees, const Methods *methods, TupleBound *bound) {
    int64_t replicas = degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT];
    bool stages = degrees->of[ROLE_PIPELINE] > 1;
    for (StageSplit split = STAGES_EVEN; split <= (stages ? STAGES_BALANCED : STAGES_EVEN); split++) {
        Knobs knobs = {.microbatches = 1,
                       .microbatch_sequences = divide_up(setting->work.sequences, replicas),
                       .schedule = stages ? SCHEDULE_1F1B : SCHEDULE_NONE,
                       .virtual_stages = 1,
                       .stages = split,
                       .methods = *methods};
        Shard shard;
        PaddingSet needs;
        if (!shard_of_plan(setting->model, &setting->work, degrees, &knobs, padding, &shard, &needs)) {
            bound->forbidden |= needs;
            continue;
        }
        bound->unusable = false;
        bound_way(setting, offers, least, cache, &shard, &knobs, bound);
    }
}

double way_bound(const Setting *setting, const Offers *offers, PaddingRule padding, const Rates *least,
                 LeastSums *cache, const Degrees *degrees, const Methods *methods) {
    TupleBound bound = {.seconds = INFINITY, .least_bytes = INFINITY, .unusable = true};
    bound_methods(setting, offers, padding, least, cache, degrees, methods, &bound);
    return bound.seconds;
}

TupleBound tuple_bound(const Setting *setting, const Offers *offers, PaddingRule padding, const LeastRates *table,
                       LeastSums *cache, const Degrees *degrees) {
    TupleBound bound = {.seconds = INFINITY, .least_bytes = INFINITY, .unusable = true};
    MethodSpace space;
    method_space(degrees, offers, &space);
    space.context_count = 1; /* the ops of all but for what they move over sequence */
    for (int64_t way = 0; way < method_space_size(&space); way++) {
        Methods methods = method_space_at(&space, way);
        Rates least;
        least_rates_of(table, degrees, &methods, &least);
        least.cost[GROUP_SEQUENCE] = least.cost[GROUP_ULYSSES] = (CollectiveCost){{0, 0}, {0, 0}};
        bound_methods(setting, offers, padding, &least, cache, degrees, &methods, &bound);
    }
    if (!bound.unusable) bound.forbidden = 0;
    return bound;
}

/* What the plan holds at least in its worst moment, every activation given up that may be. */
static double least_memory(const Setting *setting, const Shard *shard, const Knobs *knobs, const Sharding *sharding,
                           const StageSums *sums) {
    double worst = 0, kept = least_kept(setting, shard, sums), weights[MOMENT_COUNT];
    moment_weights(shard, knobs, weights);
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        MemoryRows rows;
        rows_of_sums(setting, shard, knobs, sharding, sums, (Moment)moment, weights[moment] * kept, &rows);
        worst = max_real(worst, memory_total(&rows));
    }
    return worst;
}

double family_bound(const Setting *setting, const Offers *offers, const Shard *shard, const Knobs *member,
                    const Rates *least, LeastSums *cache, double *least_bytes) {
    Knobs fast = least_time(shard, member), small = fast;
    small.zero_stage = fast.zero_stage > 0 ? 2 : 0;
    small.regather = true;
    small.offload_optimizer = offers->offloads;
    double share =
        schedule_least_share(shard->pipeline, shard->microbatches, most_chunks(setting, shard->pipeline), WEIGHTS_MOST);
    double best = INFINITY;
    *least_bytes = INFINITY;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = least_sums(cache, setting, shard, &fast.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
        StepRule rule;
        Resources resources;
        least_rule(setting, shard, &fast, &slot->sums, &rule);
        relax_rule(setting, offers, shard, share, &rule);
        resources_of_sums(setting, shard, &fast, &sharding, &slot->sums, &resources);
        add_required(setting, shard, slot, &resources);
        best = min_real(best, step_seconds(&rule, &resources, least));
        *least_bytes = min_real(*least_bytes, least_memory(setting, shard, &small, &sharding, &slot->sums));
        if (shard->pipeline <= 1) continue;
        Knobs two = small; /* stages a chip: less optimizer state, where the last stage is the smaller */
        two.schedule = SCHEDULE_DUALPIPE;
        *least_bytes = min_real(*least_bytes, least_memory(setting, shard, &two, &sharding, &slot->sums));
    }
    *least_bytes *= SLACK;
    return best * SLACK;
}

double knob_bound(const Setting *setting, const Shard *shard, const Knobs *knobs, const Rates *least, LeastSums *cache,
                  double *least_bytes) {
    double best = INFINITY;
    *least_bytes = INFINITY;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = least_sums(cache, setting, shard, &knobs->methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
        StepRule rule;
        Resources resources;
        rule_of_sums(setting, shard, knobs, &slot->sums, &rule);
        resources_of_sums(setting, shard, knobs, &sharding, &slot->sums, &resources);
        add_required(setting, shard, slot, &resources);
        best = min_real(best, step_seconds(&rule, &resources, least));
        *least_bytes = min_real(*least_bytes, least_memory(setting, shard, knobs, &sharding, &slot->sums));
    }
    *least_bytes *= SLACK;
    return best * SLACK;
}

bool best_at_home(const Setting *setting, const Shard *shard, const Knobs *knobs, double step_seconds_least,
                  LeastSums *cache) {
    double limit = setting->chip->hbm_bytes.value * (1 - setting->hbm_reserve) * SLACK, weights[MOMENT_COUNT];
    Knobs home = *knobs;
    home.offload_optimizer = false;
    moment_weights(shard, &home, weights);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = least_sums(cache, setting, shard, &home.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        StepRule here, there;
        rule_of_sums(setting, shard, &home, &slot->most, &here);
        rule_of_sums(setting, shard, knobs, &slot->most, &there);
        /* more than rounding can hide */
        if (!(there.optimizer_seconds - here.optimizer_seconds > 1e-9 * step_seconds_least)) return false;
        Sharding sharding = {.residual = slot->replicated ? RESIDUAL_REPLICATED : RESIDUAL_SEQUENCE,
                             .mlp = (MlpChoice)mlp,
                             .logits = shard->tensor > 1 ? TABLE_D_MODEL : TABLE_VOCABULARY};
        double saved = shard->layers * saved_of_sums(&slot->most);
        for (int moment = 0; moment < MOMENT_COUNT; moment++) {
            MemoryRows rows;
            rows_of_sums(setting, shard, &home, &sharding, &slot->most, (Moment)moment, weights[moment] * saved, &rows);
            if (memory_total(&rows) > limit) return false;
        }
    }
    return true;
}
