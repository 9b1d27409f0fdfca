/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/brute_space.h: the space of plans from its definition alone, which the engine's own lists are compared
 * with. */
#pragma once

#include "tests/search/random_problem.h"

/* ---- the space, from its definition alone: docs/search.md, "The question and the space" ---- */

enum { KNOBS_MAX = 1 << 18 };

/* Every x of 1 .. n whose ceil(n / x) no smaller x has. */
static inline int64_t brute_quotients(int64_t n, int64_t *out) {
    int64_t count = 0;
    for (int64_t x = 1; x <= n; x++) {
        bool first = true;
        for (int64_t y = 1; y < x && first; y++) first = (n + y - 1) / y != (n + x - 1) / x;
        if (!first) continue;
        if (out) out[count] = x;
        count++;
    }
    return count;
}

/* Heads of attention, of cross attention, and of a mixer's parts that are not whole on each chip: there are some, and
 * all divide. */
static inline bool all_heads_divide(const Model *model, int64_t ways) {
    bool any = false;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        MixerPart parts[MIXER_PARTS_MAX];
        int count = kind->mixer ? kind->mixer->parts(model, kind, parts) : 0;
        if (kind->heads % ways != 0 || kind->cross_heads % ways != 0) return false;
        any = any || kind->heads > 0 || kind->cross_heads > 0;
        for (int part = 0; part < count; part++) {
            if (parts[part].split == SPLIT_LOCAL) continue;
            if (parts[part].units % ways != 0) return false;
            any = any || parts[part].units > 0;
        }
    }
    return any;
}

/* All ways to exchange tokens, heads and experts; overlap aside. */
static inline int64_t brute_methods(const Model *model, bool switched, const Degrees *degrees, Methods *out) {
    int64_t tensor = degrees->of[ROLE_TENSOR], sequence = degrees->of[ROLE_SEQUENCE], count = 0, experts = 0;
    int64_t ranks = tensor * sequence * degrees->of[ROLE_FSDP] * degrees->of[ROLE_DATA];
    for (int i = 0; i < model->kind_count; i++) experts = max_whole(experts, model->kinds[i].experts);
    bool grids = switched && experts > 0 && degrees->of[ROLE_EXPERT] == 1;
    for (int context = CONTEXT_NONE; context < CONTEXT_COUNT; context++)
        for (int64_t ulysses = 1; ulysses <= sequence; ulysses++) {
            if ((context == CONTEXT_NONE) != (sequence == 1)) continue;
            bool part =
                ulysses > 1 && ulysses < sequence && sequence % ulysses == 0 && all_heads_divide(model, ulysses);
            bool wanted = context == CONTEXT_ULYSSES        ? ulysses == sequence
                          : context == CONTEXT_ULYSSES_RING ? part
                                                            : ulysses == 1;
            for (int replicates = 0; wanted && replicates <= (sequence > 1); replicates++)
                for (int64_t expert = 0; expert <= (grids ? min_whole(experts, ranks) : 0); expert++)
                    for (int64_t width = expert == 0 ? 0 : 1; width <= (expert == 0 ? 0 : tensor); width++) {
                        if (expert > 0 && (ranks % expert != 0 || tensor % width != 0 || ranks / expert % width != 0 ||
                                           (expert == 1 && width == tensor) || (width > 1 && width < tensor)))
                            continue;
                        out[count++] = (Methods){.context = (ContextMethod)context,
                                                 .ulysses = ulysses,
                                                 .sequence_replicates = replicates == 1,
                                                 .grid = {expert, width}};
                    }
        }
    return count;
}

/* All knobs of a tuple; a role of degree 1 has its knobs off. */
static inline int64_t brute_knobs(const Request *request, const Mesh *mesh, const Degrees *degrees, int64_t sequences,
                                  Knobs out[KNOBS_MAX]) {
    static Methods methods[4096];
    const Model *model = &request->question.model;
    bool switched = true,
         overlaps = request->question.profile.tensor_overlapped < request->question.profile.tensor_exposed;
    for (int i = 0; i < mesh->axis_count; i++) switched = switched && mesh->axes[i].level != LEVEL_ICI;
    int64_t replicas = degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT],
            stages = degrees->of[ROLE_PIPELINE];
    int64_t n = (sequences + replicas - 1) / replicas,
            chunks = stages > 1 && stages <= model->layers ? model->layers / stages : 1;
    int64_t b[1024], v[1024], b_count = brute_quotients(n, b), v_count = brute_quotients(chunks, v), count = 0;
    bool slots = stages > 2 && (model->layers + 2) % stages == 0 && (model->layers + 2) / stages > chunks;
    if (slots) v[v_count++] = (model->layers + 2) / stages; /* chunks of one slot */
    cr_assert(n <= 1024 && chunks <= 1024);
    int64_t method_count = brute_methods(model, switched, degrees, methods);
    bool folds = false, replicates = false;
    for (int64_t i = 0; i < method_count; i++) {
        folds = folds || methods[i].grid.expert > 0;
        replicates = replicates || methods[i].sequence_replicates;
    }
    bool gathers =
        folds || degrees->of[ROLE_EXPERT] > 1 || degrees->of[ROLE_SEQUENCE] > 1 || degrees->of[ROLE_FSDP] > 1;
    int zero_most = folds || replicates || degrees->of[ROLE_DATA] > 1 ? 2 : 0;
    for (int64_t i = 0; i < b_count; i++)
        for (int64_t j = 0; j < v_count; j++)
            for (int schedule = SCHEDULE_NONE; schedule < SCHEDULE_COUNT; schedule++)
                for (int split = STAGES_EVEN; split <= (slots        ? STAGES_SLOTS
                                                        : stages > 1 ? STAGES_BALANCED
                                                                     : STAGES_EVEN);
                     split++)
                    for (int zero = 0; zero <= zero_most; zero++)
                        for (int64_t way = 0; way < method_count; way++)
                            for (int overlap = 0; overlap <= (overlaps && degrees->of[ROLE_TENSOR] > 1); overlap++)
                                for (int regather = gathers ? 0 : 1; regather <= 1; regather++) {
                                    bool cuts = schedule == SCHEDULE_INTERLEAVED || schedule == SCHEDULE_CIRCULAR;
                                    if ((schedule == SCHEDULE_NONE) != (stages == 1)) continue;
                                    if (stages > 1 &&
                                        (!(request->space.schedules >> schedule & 1) || cuts != (v[j] > 1)))
                                        continue;
                                    cr_assert(count < KNOBS_MAX);
                                    out[count] = (Knobs){.microbatches = (n + b[i] - 1) / b[i],
                                                         .microbatch_sequences = b[i],
                                                         .schedule = (Schedule)schedule,
                                                         .virtual_stages = v[j],
                                                         .stages = (StageSplit)split,
                                                         .zero_stage = zero,
                                                         .methods = methods[way],
                                                         .regather = regather == 1};
                                    out[count++].methods.tensor_overlap = overlap == 1;
                                }
    /* each with the optimizer on the host as well, where one is known */
    if (!(request->question.chip.host_bytes.value > 0 && request->question.chip.pcie_bytes_per_second.value > 0))
        return count;
    if (request->question.offload == OFFLOAD_NONE || request->question.offload == OFFLOAD_ACTIVATIONS) return count;
    cr_assert(2 * count <= KNOBS_MAX);
    for (int64_t i = 0; i < count; i++) out[count + i] = out[i], out[count + i].offload_optimizer = true;
    return 2 * count;
}

/* Whether a schedule runs, and whether a knob makes a difference: docs/launch.md, "What each launcher accepts";
 * docs/search.md, "The question and the space". */
static inline bool brute_sensible(const Model *model, const Degrees *degrees, const Knobs *knobs, const Shard *shard) {
    int64_t p = degrees->of[ROLE_PIPELINE], m = knobs->microbatches, v = knobs->virtual_stages;
    int64_t data = degrees->of[ROLE_DATA], sequence = degrees->of[ROLE_SEQUENCE], fsdp = degrees->of[ROLE_FSDP];
    const Methods *methods = &knobs->methods;
    bool mixture = is_mixture(model), folded = methods->grid.expert > 0;
    if (knobs->schedule == SCHEDULE_CIRCULAR && m % p != 0) return false;
    if (knobs->schedule == SCHEDULE_ZB_H1 && m < p) return false;
    if (knobs->schedule == SCHEDULE_DUALPIPE && (p % 2 != 0 || m % 2 != 0 || m < 2 * p)) return false;
    int64_t shards = fsdp * (methods->sequence_replicates ? 1 : sequence),
            copies = data * (methods->sequence_replicates ? sequence : 1), expert_shards = shards,
            expert_copies = copies;
    if (folded) {
        int64_t ways = methods->grid.expert * methods->grid.expert_tensor;
        int64_t inner = degrees->of[ROLE_TENSOR] * sequence * fsdp;
        expert_shards = shards > 1 ? inner / ways : 1;
        expert_copies = shards > 1 ? data : inner * data / ways;
    }
    if (knobs->zero_stage > 0 && copies == 1 && !(mixture && expert_copies > 1)) return false;
    if (!knobs->regather && shards * degrees->of[ROLE_EXPERT] == 1 && !(mixture && expert_shards > 1)) return false;
    bool equal = shard->layers == shard->layers_last && model->layers % (p * v) == 0;
    return knobs->stages == STAGES_EVEN || !equal;
}

/* The batches of a tuple: the one asked for, and within the tolerance those that its replicas divide. */
static inline int64_t brute_batches(const Request *request, const Degrees *degrees, int64_t *out, int64_t room) {
    int64_t replicas = degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT],
            asked = request->question.work.sequences, count = 0;
    for (int64_t batch = 1; batch <= 2 * asked; batch++) {
        bool near = fabs((double)(batch - asked)) <= request->space.batch_tolerance * (double)asked + 1e-9;
        if (batch != asked && (!near || request->space.batch_tolerance <= 0 || batch % replicas != 0)) continue;
        cr_assert(count < room);
        out[count++] = batch;
    }
    return count;
}

/* The machines of a request: the one asked for first; of as many chips in as many slices the most cubic first. In the
 * arena. */
static inline int brute_machines(const Request *request, Arena *arena, const Machine **out) {
    MachineList idle = {0};
    Error error = {0};
    if (request->space.max_idle > 0)
        cr_assert(machine_idle_shapes(&request->question.chip, &request->question.machine, request->space.max_idle,
                                      arena, &idle, &error),
                  "%s", error.text);
    int count = idle.count;
    Machine *all = ARENA_NEW(arena, Machine, (size_t)count + 1);
    cr_assert_not_null(all);
    all[0] = request->question.machine;
    if (count > 0) memcpy(all + 1, idle.machines, (size_t)count * sizeof(Machine));
    for (int i = 1; i < count; i++) /* as given but for that: all[0] stays */
        for (int j = i; j > 0; j--) {
            const int64_t *a = all[j].slice.size, *b = all[j + 1].slice.size;
            Machine swap = all[j];
            if (all[j].mesh.chips != all[j + 1].mesh.chips || all[j].slices != all[j + 1].slices ||
                a[0] + a[1] + a[2] <= b[0] + b[1] + b[2])
                break;
            all[j] = all[j + 1];
            all[j + 1] = swap;
        }
    *out = all;
    return count + 1;
}
