/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/space/knob_space.h"

#include "base/util.h"
#include "mesh/host_link.h"

#include <math.h>

KnobDomain knob_domain(const CostContext *setting, const Mesh *mesh, unsigned schedules) {
    const Model *model = setting->model;
    KnobDomain domain = {.switched = true,
                         .offloads = host_is_known(setting->chip) && offload_takes_optimizer(setting->offload),
                         .overlaps = setting->profile->tensor_overlapped < setting->profile->tensor_exposed};
    int64_t heads = 0;
    for (int i = 0; i < model->kind_count; i++) {
        domain.experts = max_whole(domain.experts, model->kinds[i].experts);
        heads = common_divisor(heads, kind_heads(model, &model->kinds[i]));
    }
    for (int64_t ways = 2; ways <= heads && !domain.too_many_head_ways; ways++) {
        if (heads % ways != 0) continue;
        domain.too_many_head_ways = domain.head_way_count == HEAD_WAYS_MAX;
        if (!domain.too_many_head_ways) domain.head_ways[domain.head_way_count++] = ways;
    }
    for (int axis = 0; axis < mesh->axis_count; axis++)
        if (mesh->axes[axis].level == LEVEL_ICI) domain.switched = false;
    for (Schedule schedule = SCHEDULE_NONE + 1; schedule < SCHEDULE_COUNT; schedule++) {
        if (!(schedules >> schedule & 1)) continue;
        if (schedule == SCHEDULE_INTERLEAVED || schedule == SCHEDULE_CIRCULAR)
            domain.chunked[domain.chunked_count++] = schedule;
        else
            domain.whole[domain.whole_count++] = schedule;
    }
    return domain;
}

/* The expert grids of any degrees on this number of devices are at most twice the ways that divide it, and none. */
static bool grids_fit(const KnobDomain *domain, int64_t devices) {
    int64_t ways = 0;
    for (int64_t i = 1; i <= min_whole(domain->experts, devices); i++) ways += devices % i == 0;
    return 1 + 2 * ways <= GRIDS_MAX;
}

bool knob_domain_fits(const KnobDomain *domain, const Model *model, const Mesh *mesh, Error *error) {
    if (domain->too_many_head_ways)
        return error_set(error, ERROR_INPUT, model->name,
                         "the number of its heads has more than %d divisors; give a model with other heads",
                         HEAD_WAYS_MAX + 1);
    if (domain->experts > 0 && domain->switched && !grids_fit(domain, mesh->devices))
        return error_set(error, ERROR_INPUT, model->name,
                         "its experts can be laid over %lld devices in more than %d ways; ask for another machine",
                         (long long)mesh->devices, GRIDS_MAX);
    return true;
}

/* ---- methods ---- */

static void list_contexts(int64_t sequence, const KnobDomain *domain, MethodSpace *out) {
    out->context_count = 0;
    if (sequence == 1) {
        out->contexts[out->context_count].method = CONTEXT_NONE;
        out->contexts[out->context_count++].ulysses = 1;
        return;
    }
    for (ContextMethod method = CONTEXT_RING; method <= CONTEXT_ULYSSES; method++) {
        out->contexts[out->context_count].method = method;
        out->contexts[out->context_count++].ulysses = method == CONTEXT_ULYSSES ? sequence : 1;
    }
    for (int i = 0; i < domain->head_way_count && domain->head_ways[i] < sequence; i++) {
        int64_t ways = domain->head_ways[i];
        if (sequence % ways != 0) continue;
        out->contexts[out->context_count].method = CONTEXT_ULYSSES_RING;
        out->contexts[out->context_count++].ulysses = ways;
    }
}

/* Experts of a folded grid: as many ways as divide the ranks of a stage and leave every rank an expert; their widths
 * whole, or split as tensor splits the dense ones (Megatron's default). The plain way, all of tensor and no expert
 * ways, is no grid. */
static void list_grids(const Degrees *degrees, const KnobDomain *domain, MethodSpace *out) {
    int64_t tensor = degrees->of[ROLE_TENSOR];
    int64_t ranks = tensor * degrees->of[ROLE_SEQUENCE] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_DATA];
    out->grid_count = 0;
    out->grids[out->grid_count++] = (ExpertGrid){0, 0};
    if (!experts_may_fold(domain, degrees)) return;
    for (int64_t ways = 1; ways <= min_whole(domain->experts, ranks); ways++) {
        if (ranks % ways != 0) continue;
        const int64_t widths[2] = {1, tensor};
        for (int i = 0; i < (tensor > 1 ? 2 : 1); i++) {
            bool plain = ways == 1 && widths[i] == tensor;
            if (ranks / ways % widths[i] != 0 || plain) continue;
            out->grids[out->grid_count++] = (ExpertGrid){ways, widths[i]};
        }
    }
}

static int replicate_ways(const Degrees *degrees) { return degrees->of[ROLE_SEQUENCE] > 1 ? 2 : 1; }

void method_space(const Degrees *degrees, const KnobDomain *domain, MethodSpace *out) {
    list_contexts(degrees->of[ROLE_SEQUENCE], domain, out);
    list_grids(degrees, domain, out);
    out->replicate_count = replicate_ways(degrees);
    out->replicates[0] = false, out->replicates[1] = true;
}

int64_t context_ways(int64_t sequence, const KnobDomain *domain) {
    int64_t count = sequence == 1 ? 1 : 3; /* none; ring, all_gather, Ulysses */
    for (int i = 0; sequence > 1 && i < domain->head_way_count && domain->head_ways[i] < sequence; i++)
        count += sequence % domain->head_ways[i] == 0;
    return count;
}

int64_t grid_ways(int64_t tensor, int64_t ranks, const KnobDomain *domain) {
    int64_t count = 1;
    if (!domain->switched) return count;
    for (int64_t ways = 1; ways <= min_whole(domain->experts, ranks); ways++) {
        if (ranks % ways != 0) continue;
        count += tensor > 1 || ways > 1; /* each rank whole experts; (1, 1) is plain without tensor */
        count +=
            tensor > 1 && ways > 1 && ranks / ways % tensor == 0; /* split as tensor splits; (1, tensor) is plain */
    }
    return count;
}

int64_t method_space_size(const MethodSpace *space) {
    return (int64_t)space->context_count * space->replicate_count * space->grid_count;
}

Methods method_space_at(const MethodSpace *space, int64_t index) {
    Methods methods = {0};
    methods.grid = space->grids[index % space->grid_count];
    index /= space->grid_count;
    methods.sequence_replicates = space->replicates[index % space->replicate_count];
    index /= space->replicate_count;
    methods.context = space->contexts[index].method;
    methods.ulysses = space->contexts[index].ulysses;
    return methods;
}

/* ---- microbatches and stages ---- */

/* Values x = 1 .. n that are the least for their ceil(n / x): at most 2 sqrt(n) of them. */
static void distinct_quotients(int64_t n, int64_t *out) {
    for (int64_t x = 1, count = 0;; count++) {
        out[count] = x;
        int64_t quotient = divide_up(n, x);
        if (quotient == 1) return;
        x = divide_up(n, quotient - 1); /* the least x with a smaller quotient */
    }
}

/* How many there are, in closed form: ceil(n / x) = floor((n - 1) / x) + 1, and floor(N / x) takes 2 r or 2 r - 1
 * values, r = floor(sqrt(N)). */
static int64_t distinct_quotient_count(int64_t n) {
    int64_t below = n - 1, root = (int64_t)sqrt((double)below);
    while (root > 0 && root > below / root) root--;
    while (root + 1 <= below / (root + 1)) root++;
    return below == 0 ? 1 : 2 * root - (below / root == root) + 1;
}

/* Layers of a stage, rounded down: what virtual stages cut further. 1 when there is no pipeline or fewer layers than
 * stages. */
static int64_t layers_of_stage(const Model *model, const Degrees *degrees) {
    int64_t stages = degrees->of[ROLE_PIPELINE];
    return stages > 1 ? max_whole(1, model->layers / stages) : 1;
}

/* Stages in slots can be cut into chunks of one place each, which no other split has: one more number of chunks. */
static bool splits_in_slots(const Model *model, const Degrees *degrees) {
    int64_t slots = slots_of_stage(model, degrees->of[ROLE_PIPELINE]);
    return slots > layers_of_stage(model, degrees);
}

StageSplit last_split(const Model *model, const Degrees *degrees) {
    if (degrees->of[ROLE_PIPELINE] <= 1) return STAGES_EVEN;
    return splits_in_slots(model, degrees) ? STAGES_SLOTS : STAGES_BALANCED;
}

/* All that is left when the methods are counted. */
static void count_choices(const Model *model, const Degrees *degrees, int64_t sequences, const KnobDomain *domain,
                          KnobSpace *out) {
    const int64_t *degree = degrees->of;
    bool gathers = degree[ROLE_EXPERT] * degree[ROLE_SEQUENCE] * degree[ROLE_FSDP] > 1;
    out->per_replica = divide_up(sequences, degrees_replicas(degrees));
    out->pipelined = degree[ROLE_PIPELINE] > 1;
    out->microbatch_count = distinct_quotient_count(out->per_replica);
    bool slots = splits_in_slots(model, degrees);
    out->virtual_count = distinct_quotient_count(layers_of_stage(model, degrees)) + (slots ? 1 : 0);
    out->pipe_count =
        out->pipelined ? domain->whole_count + (int64_t)domain->chunked_count * (out->virtual_count - 1) : 1;
    out->split_count = (int)last_split(model, degrees) + 1;
    out->method_count = method_space_size(&out->methods);
    bool grids = out->methods.grid_count > 1;
    out->overlap_count = domain->overlaps && degree[ROLE_TENSOR] > 1 ? 2 : 1;
    out->zero_count = degree[ROLE_DATA] > 1 || out->methods.replicate_count > 1 || grids ? 3 : 1;
    out->regather_count = gathers || grids ? 2 : 1;
    out->offload_count = domain->offloads ? 2 : 1;
}

int64_t knob_microbatches(const Degrees *degrees, int64_t sequences) {
    return distinct_quotient_count(divide_up(sequences, degrees_replicas(degrees)));
}

int64_t knob_others_among(const Model *model, const Degrees *degrees, const KnobDomain *domain, int64_t contexts,
                          int64_t grids) {
    KnobSpace space; /* but for the lists */
    space.methods.context_count = (int)contexts;
    space.methods.grid_count = (int)grids;
    space.methods.replicate_count = replicate_ways(degrees);
    count_choices(model, degrees, 1, domain, &space);
    return knob_family_count(&space) / space.microbatch_count * knob_family_size(&space);
}

int64_t knob_others(const Model *model, const Degrees *degrees, const KnobDomain *domain) {
    const int64_t *of = degrees->of;
    int64_t ranks = of[ROLE_TENSOR] * of[ROLE_SEQUENCE] * of[ROLE_FSDP] * of[ROLE_DATA];
    int64_t grids = of[ROLE_EXPERT] == 1 ? grid_ways(of[ROLE_TENSOR], ranks, domain) : 1;
    return knob_others_among(model, degrees, domain, context_ways(of[ROLE_SEQUENCE], domain), grids);
}

int64_t knob_count(const Model *model, const Degrees *degrees, int64_t sequences, const KnobDomain *domain) {
    return knob_microbatches(degrees, sequences) * knob_others(model, degrees, domain);
}

bool knob_space(const Model *model, const Degrees *degrees, int64_t sequences, const KnobDomain *domain, Arena *arena,
                KnobSpace *out, Error *error) {
    method_space(degrees, domain, &out->methods);
    count_choices(model, degrees, sequences, domain, out);
    out->domain = *domain;
    out->splits = (1u << out->split_count) - 1;
    for (int i = 0; i < 3; i++) out->zero_stages[i] = i;
    for (int i = 0; i < 2; i++) out->overlaps[i] = out->offloads[i] = i, out->regathers[i] = !i;
    out->microbatch_sequences = ARENA_NEW(arena, int64_t, (size_t)out->microbatch_count);
    out->virtual_stages = ARENA_NEW(arena, int64_t, (size_t)out->virtual_count);
    if (!out->microbatch_sequences || !out->virtual_stages) return error_memory(error);
    distinct_quotients(out->per_replica, out->microbatch_sequences);
    distinct_quotients(layers_of_stage(model, degrees), out->virtual_stages);
    if (splits_in_slots(model, degrees))
        out->virtual_stages[out->virtual_count - 1] = slots_of_stage(model, degrees->of[ROLE_PIPELINE]);
    return true;
}

/* ---- settings that are requested ---- */

/* Of the settings of one choice, leaves those that meet the conditions on the knobs of `which`; `set` puts setting i
 * into `at`. */
#define LEAVE(list, count, which, set)                                                                                 \
    do {                                                                                                               \
        int left = 0;                                                                                                  \
        for (int i = 0; i < (count); i++) {                                                                            \
            Knobs at = {0};                                                                                            \
            set;                                                                                                       \
            if (request_admits_some(request, degrees, &at, (which))) (list)[left++] = (list)[i];                       \
        }                                                                                                              \
        none = none || left == 0;                                                                                      \
        if (left > 0) (count) = left;                                                                                  \
    } while (0)

enum {
    OF_BATCH = 1 << KNOB_MICROBATCHES | 1 << KNOB_MICROBATCH_SEQUENCES,
    OF_CONTEXT = 1 << KNOB_CONTEXT_METHOD | 1 << KNOB_ULYSSES,
    OF_GRID = 1 << KNOB_FOLDED_EXPERT | 1 << KNOB_FOLDED_EXPERT_TENSOR
};

/* Schedules and chunks: of the latter the first is 1, of whole stages. */
static void narrow_pipe(KnobSpace *space, const Degrees *degrees, const Request *request) {
    KnobDomain *domain = &space->domain;
    Schedule *lists[] = {domain->whole, domain->chunked};
    int *counts[] = {&domain->whole_count, &domain->chunked_count}, chunks = (int)space->virtual_count - 1;
    int64_t *chunk = space->virtual_stages + 1;
    bool none = false;
    for (int k = 0; k < 2; k++) {
        none = false;
        LEAVE(lists[k], *counts[k], 1 << KNOB_SCHEDULE, at.schedule = lists[k][i]);
        if (none) *counts[k] = 0;
    }
    if (!request_admits_some(request, degrees, &(Knobs){.virtual_stages = 1}, 1 << KNOB_VIRTUAL_STAGES))
        domain->whole_count = 0;
    none = false;
    LEAVE(chunk, chunks, 1 << KNOB_VIRTUAL_STAGES, at.virtual_stages = chunk[i]);
    if (none) chunks = 0;
    space->virtual_count = 1 + chunks;
    space->pipe_count = domain->whole_count + (int64_t)domain->chunked_count * chunks;
}

void knob_space_narrow(KnobSpace *space, const Degrees *degrees, const Request *request) {
    MethodSpace *methods = &space->methods;
    bool none = false;
    LEAVE(space->offloads, space->offload_count, 1 << KNOB_OFFLOAD_OPTIMIZER,
          at.offload_optimizer = space->offloads[i]);
    LEAVE(space->regathers, space->regather_count, 1 << KNOB_REGATHER, at.regather = space->regathers[i]);
    LEAVE(space->zero_stages, space->zero_count, 1 << KNOB_ZERO_STAGE, at.zero_stage = space->zero_stages[i]);
    LEAVE(space->overlaps, space->overlap_count, 1 << KNOB_TENSOR_OVERLAP,
          at.methods.tensor_overlap = space->overlaps[i]);
    LEAVE(methods->contexts, methods->context_count, OF_CONTEXT, at.methods.context = methods->contexts[i].method;
          at.methods.ulysses = methods->contexts[i].ulysses);
    LEAVE(methods->replicates, methods->replicate_count, 1 << KNOB_SEQUENCE_PARAMETERS,
          at.methods.sequence_replicates = methods->replicates[i]);
    LEAVE(methods->grids, methods->grid_count, OF_GRID, at.methods.grid = methods->grids[i]);
    LEAVE(space->microbatch_sequences, space->microbatch_count, OF_BATCH,
          at.microbatch_sequences = space->microbatch_sequences[i];
          at.microbatches = divide_up(space->per_replica, at.microbatch_sequences));
    for (int split = 0; split < space->split_count; split++)
        if (!request_admits_some(request, degrees, &(Knobs){.stages = (StageSplit)split}, 1 << KNOB_STAGES))
            space->splits &= ~(1u << split);
    space->method_count = method_space_size(methods);
    if (space->pipelined) narrow_pipe(space, degrees, request);
    if (none || space->splits == 0) space->pipe_count = 0;
}

/* ---- settings by index ---- */

int64_t knob_family_count(const KnobSpace *space) {
    return space->microbatch_count * space->method_count * space->split_count;
}

int64_t knob_family_size(const KnobSpace *space) {
    return space->pipe_count * space->overlap_count * space->zero_count * space->regather_count * space->offload_count;
}

int64_t knob_sizes_shared(const KnobSpace *space) {
    return space->zero_count * space->regather_count * space->offload_count;
}

int64_t knob_space_methods(const KnobSpace *space, int64_t index) {
    return index / knob_family_size(space) / space->split_count % space->method_count;
}

static void set_pipe(const KnobSpace *space, int64_t pipe, Knobs *knobs) {
    knobs->schedule = SCHEDULE_NONE;
    knobs->virtual_stages = 1;
    if (!space->pipelined) return;
    if (pipe < space->domain.whole_count) {
        knobs->schedule = space->domain.whole[pipe];
        return;
    }
    pipe -= space->domain.whole_count;
    knobs->schedule = space->domain.chunked[pipe / (space->virtual_count - 1)];
    knobs->virtual_stages = space->virtual_stages[1 + pipe % (space->virtual_count - 1)];
}

Knobs knob_space_at(const KnobSpace *space, int64_t index) {
    Knobs knobs = {0};
    knobs.offload_optimizer = space->offloads[index % space->offload_count];
    index /= space->offload_count;
    knobs.regather = space->regathers[index % space->regather_count];
    index /= space->regather_count;
    knobs.zero_stage = space->zero_stages[index % space->zero_count];
    index /= space->zero_count;
    bool overlap = space->overlaps[index % space->overlap_count];
    index /= space->overlap_count;
    set_pipe(space, index % space->pipe_count, &knobs);
    index /= space->pipe_count;
    knobs.stages = (StageSplit)(index % space->split_count);
    index /= space->split_count;
    knobs.methods = method_space_at(&space->methods, index % space->method_count);
    knobs.methods.tensor_overlap = overlap;
    index /= space->method_count;
    knobs.microbatch_sequences = space->microbatch_sequences[index];
    knobs.microbatches = divide_up(space->per_replica, knobs.microbatch_sequences);
    return knobs;
}

bool knobs_redundant(const Model *model, const KnobDomain *domain, const Knobs *knobs, const Shard *shard) {
    bool mixture = domain->experts > 0;
    bool replicated = shard_data_ways(shard) > 1 || (mixture && shard_expert_data_ways(shard) > 1);
    bool gathered = shard_weight_ways(shard) > 1 || (mixture && shard_expert_ways(shard) > 1);
    int64_t chunks = (int64_t)shard->pipeline * knobs->virtual_stages;
    bool equal = shard->layers == shard->layers_last && model->layers % chunks == 0;
    return (knobs->zero_stage > 0 && !replicated) || (!knobs->regather && !gathered) ||
           (knobs->stages == STAGES_BALANCED && equal);
}
