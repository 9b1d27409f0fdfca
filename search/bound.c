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

void least_rates_of(const LeastRates *table, const Degrees *degrees, ContextMethod context, Rates *out) {
    for (int group = 0; group < GROUP_COUNT; group++) {
        int64_t degree = rates_open(degrees, (Group)group, out);
        out->cost[group] = least_row(table, degree)[column(group_collective((Group)group, context))];
    }
}

/* ---- least sums: a direct-mapped cache ---- */

typedef struct {
    double tensor, expert, sequence, sequences;
    int context, mlp;
    bool fsdp; /* more than one way: weights are gathered */
} SumsKey;

typedef struct {
    SumsKey key;
    bool filled, allowed, along_sequence;
    StageSums sums;
    Resources required; /* what a required remat policy adds, in one layer and microbatch; memory not */
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
_Static_assert(sizeof(StageSums) % sizeof(double) == 0 && _Alignof(StageSums) == _Alignof(double),
               "sums are doubles alone");

/* What a layer in which a required policy stands takes beyond one that saves everything. */
static void required_by_policy(const Setting *setting, const Shard *shard, ContextMethod context,
                               const Sharding *sharding, Resources *out) {
    const RematRule *remat = setting_remat(setting);
    memset(out, 0, sizeof(*out));
    if (!remat) return;
    static const double NO_MEMORY[MOMENT_COUNT] = {0};
    Knobs knobs = {.context = context, .microbatches = 1, .virtual_stages = 1};
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

static void fill_slot(const Setting *setting, const Shard *shard, const SumsKey *key, SumsSlot *slot) {
    Sharding shardings[SHARDINGS_MAX];
    int count = shardings_of(setting, shard, shardings);
    *slot = (SumsSlot){.key = *key, .filled = true};
    for (int i = 0; i < count; i++) {
        if ((int)shardings[i].mlp != key->mlp) continue;
        StageSums sums;
        Resources required;
        stage_sums(setting, shard, (ContextMethod)key->context, &shardings[i], &sums);
        required_by_policy(setting, shard, (ContextMethod)key->context, &shardings[i], &required);
        if (slot->allowed) {
            take_least((double *)&slot->sums, (const double *)&sums, sizeof(sums));
            take_least(slot->required.of, required.of, sizeof(required));
        } else {
            slot->sums = sums, slot->required = required;
        }
        slot->allowed = true;
        slot->along_sequence = slot->along_sequence || shardings[i].residual == RESIDUAL_SEQUENCE;
    }
}

static const SumsSlot *least_sums(LeastSums *cache, const Setting *setting, const Shard *shard, ContextMethod context,
                                  MlpChoice mlp) {
    SumsKey key = {.tensor = shard->tensor,
                   .expert = shard->expert,
                   .sequence = shard->sequence,
                   .sequences = shard->sequences,
                   .context = (int)context,
                   .mlp = (int)mlp,
                   .fsdp = shard->fsdp > 1};
    uint64_t hash = (uint64_t)key.tensor;
    hash = hash * 1000003u + (uint64_t)key.expert;
    hash = hash * 1000003u + (uint64_t)key.sequence;
    hash = hash * 1000003u + (uint64_t)key.sequences;
    hash = hash * 1000003u + (uint64_t)(key.context * 4 + key.mlp * 2 + key.fsdp);
    hash ^= hash >> 29;
    SumsSlot *slot = &cache->slots[(hash * 0x9E3779B97F4A7C15u) >> 50];
    bool same = slot->filled && slot->key.tensor == key.tensor && slot->key.expert == key.expert &&
                slot->key.sequence == key.sequence && slot->key.sequences == key.sequences &&
                slot->key.context == key.context && slot->key.mlp == key.mlp && slot->key.fsdp == key.fsdp;
    if (!same) fill_slot(setting, shard, &key, slot);
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
    whole.bubble_ratio = 0;
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

/* Least bubble over all microbatches and virtual stages, of the whole replica's work: full groups where there are
 * enough sequences for one. */
static double least_bubble(int64_t layers, int64_t stages, int64_t per_replica) {
    if (stages <= 1) return 0;
    double microbatches = (double)per_replica, chunks = (double)max_whole(1, layers / stages);
    return bubble_factor((double)stages, min_real(microbatches, (double)stages), chunks) / microbatches;
}

TupleBound tuple_bound(const Setting *setting, PaddingRule padding, const LeastRates *table, LeastSums *cache,
                       const Degrees *degrees) {
    TupleBound bound = {.seconds = INFINITY, .least_bytes = INFINITY};
    int64_t replicas = degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT];
    int64_t per_replica = divide_up(setting->work.sequences, replicas), stages = degrees->of[ROLE_PIPELINE];
    Knobs knobs = {.microbatches = 1,
                   .microbatch_sequences = per_replica,
                   .schedule = stages > 1 ? SCHEDULE_1F1B : SCHEDULE_NONE,
                   .virtual_stages = 1,
                   .zero_stage = degrees->of[ROLE_DATA] > 1 ? 1 : 0,
                   .regather = false};
    Shard shard;
    if (!shard_of_plan(setting->model, &setting->work, degrees, &knobs, padding, &shard, &bound.forbidden)) {
        bound.unusable = bound.forbidden == 0;
        return bound;
    }
    bound.forbidden = 0;
    double limit = 0;
    int methods = degrees->of[ROLE_SEQUENCE] > 1 ? 2 : 1;
    for (int method = 0; method < methods; method++) {
        knobs.context = methods == 1 ? CONTEXT_NONE : method == 0 ? CONTEXT_RING : CONTEXT_ALL_GATHER;
        Rates least;
        least_rates_of(table, degrees, knobs.context, &least);
        for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
            const SumsSlot *slot = least_sums(cache, setting, &shard, knobs.context, (MlpChoice)mlp);
            if (!slot->allowed) continue;
            Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
            StepRule rule;
            Resources resources;
            MemoryRows rows;
            rule_of_sums(setting, &shard, &knobs, &slot->sums, &rule);
            /* without ZeRO there is none; its second pass at the end is not counted either */
            rule.data_start = (Traffic){0, 0};
            resources_of_sums(setting, &shard, &knobs, &sharding, &slot->sums, &resources);
            add_required(setting, &shard, slot, &resources);
            double share = rule.bubble_ratio * least_bubble(setting->model->layers, stages, per_replica);
            bound.seconds = min_real(bound.seconds, SLACK * merged_seconds(&rule, &resources, &least, share));
            rows_of_sums(setting, &shard, &knobs, &sharding, &slot->sums, MOMENT_UPDATE, 0, &rows);
            bound.least_bytes = min_real(bound.least_bytes, rows.parameters_bytes + rows.optimizer_bytes);
            limit = rule.memory_limit_bytes;
        }
    }
    bound.too_large = bound.least_bytes * SLACK > limit;
    return bound;
}

double knob_bound(const Setting *setting, const Shard *shard, const Knobs *knobs, const Rates *least, LeastSums *cache,
                  double *least_bytes) {
    double best = INFINITY;
    *least_bytes = INFINITY;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const SumsSlot *slot = least_sums(cache, setting, shard, knobs->context, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = least_sharding(slot, (MlpChoice)mlp);
        StepRule rule;
        Resources resources;
        rule_of_sums(setting, shard, knobs, &slot->sums, &rule);
        resources_of_sums(setting, shard, knobs, &sharding, &slot->sums, &resources);
        add_required(setting, shard, slot, &resources);
        best = min_real(best, step_seconds(&rule, &resources, least));
        double worst = 0, kept = least_kept(setting, shard, &slot->sums), weights[MOMENT_COUNT];
        moment_weights(shard, knobs, weights);
        for (int moment = 0; moment < MOMENT_COUNT; moment++) {
            MemoryRows rows;
            rows_of_sums(setting, shard, knobs, &sharding, &slot->sums, (Moment)moment, weights[moment] * kept, &rows);
            worst = max_real(worst, memory_total(&rows));
        }
        *least_bytes = min_real(*least_bytes, worst);
    }
    *least_bytes *= SLACK;
    return best * SLACK;
}
