/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/space.h"

#include "base/util.h"

#include <math.h>

/* Values x = 1 .. n that are the least for their ceil(n / x): at most 2 sqrt(n) of them. */
static void distinct_quotients(int64_t n, int64_t *out) {
    for (int64_t x = 1, count = 0;; count++) {
        out[count] = x;
        int64_t quotient = divide_up(n, x);
        if (quotient == 1) return;
        x = divide_up(n, quotient - 1); /* the least x with a smaller quotient */
    }
}

static int64_t replicas(const Degrees *degrees) {
    return degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT];
}

static bool gathers_weights(const Degrees *degrees) {
    return degrees->of[ROLE_EXPERT] * degrees->of[ROLE_SEQUENCE] * degrees->of[ROLE_FSDP] > 1;
}

static int zero_stages(const Degrees *degrees) { return degrees->of[ROLE_DATA] > 1 ? 3 : 1; }
static int context_methods(const Degrees *degrees) { return degrees->of[ROLE_SEQUENCE] > 1 ? 2 : 1; }

/* Layers of a stage, rounded up: what virtual stages cut further. 1 when there is no pipeline or fewer layers than
 * stages. */
static int64_t stage_layers(const Model *model, const Degrees *degrees) {
    int64_t stages = degrees->of[ROLE_PIPELINE];
    return stages > 1 ? max_whole(1, model->layers / stages) : 1;
}

/* How many there are, in closed form: ceil(n / x) = floor((n - 1) / x) + 1, and floor(N / x) takes 2 r or 2 r - 1
 * values, r = floor(sqrt(N)). */
static int64_t distinct_quotient_count(int64_t n) {
    int64_t below = n - 1, root = (int64_t)sqrt((double)below);
    while (root > 0 && root > below / root) root--;
    while (root + 1 <= below / (root + 1)) root++;
    return below == 0 ? 1 : 2 * root - (below / root == root) + 1;
}

int64_t knob_count(const Model *model, const Degrees *degrees, int64_t sequences) {
    int64_t n = divide_up(sequences, replicas(degrees));
    return distinct_quotient_count(n) * distinct_quotient_count(stage_layers(model, degrees)) * zero_stages(degrees) *
           context_methods(degrees) * (gathers_weights(degrees) ? 2 : 1);
}

bool knob_space(const Model *model, const Degrees *degrees, int64_t sequences, Arena *arena, KnobSpace *out,
                Error *error) {
    int64_t n = divide_up(sequences, replicas(degrees)), layers = stage_layers(model, degrees);
    *out = (KnobSpace){.microbatch_count = distinct_quotient_count(n),
                       .virtual_count = distinct_quotient_count(layers),
                       .zero_count = zero_stages(degrees),
                       .context_count = context_methods(degrees),
                       .contexts = {CONTEXT_RING, CONTEXT_ALL_GATHER},
                       .regather_count = gathers_weights(degrees) ? 2 : 1,
                       .per_replica = n,
                       .pipelined = degrees->of[ROLE_PIPELINE] > 1};
    if (out->context_count == 1) out->contexts[0] = CONTEXT_NONE;
    out->microbatch_sequences = ARENA_NEW(arena, int64_t, (size_t)out->microbatch_count);
    out->virtual_stages = ARENA_NEW(arena, int64_t, (size_t)out->virtual_count);
    if (!out->microbatch_sequences || !out->virtual_stages) return error_memory(error);
    distinct_quotients(n, out->microbatch_sequences);
    distinct_quotients(layers, out->virtual_stages);
    return true;
}

int64_t knob_space_size(const KnobSpace *space) {
    return space->microbatch_count * space->virtual_count * space->zero_count * space->context_count *
           space->regather_count;
}

Knobs knob_space_at(const KnobSpace *space, int64_t index) {
    Knobs knobs;
    knobs.regather = index % space->regather_count == 0;
    index /= space->regather_count;
    knobs.zero_stage = (int)(index % space->zero_count);
    index /= space->zero_count;
    knobs.context = space->contexts[index % space->context_count];
    index /= space->context_count;
    knobs.virtual_stages = space->virtual_stages[index % space->virtual_count];
    index /= space->virtual_count;
    knobs.microbatch_sequences = space->microbatch_sequences[index];
    knobs.microbatches = divide_up(space->per_replica, knobs.microbatch_sequences);
    knobs.schedule = !space->pipelined          ? SCHEDULE_NONE
                     : knobs.virtual_stages > 1 ? SCHEDULE_INTERLEAVED
                                                : SCHEDULE_1F1B;
    return knobs;
}
