/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/random_problem.h: small random models, machines, profiles and requests, the same for the same seed. */
#pragma once

#include "base/clock.h"
#include "base/util.h"
#include "models/mixer.h"
#include "models/parameters.h"
#include "search/engine/search.h"
#include "tests/sanitizer.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- draws ---- */

typedef struct {
    uint64_t state;
} Draw;

static inline uint64_t draw_bits(Draw *draw) { /* xorshift64*, Vigna 2016; the seed must not be 0 */
    draw->state ^= draw->state >> 12;
    draw->state ^= draw->state << 25;
    draw->state ^= draw->state >> 27;
    return draw->state * 2685821657736338717u;
}
static inline Draw draw_seeded(uint64_t seed) {
    Draw draw = {(seed + 1) * 0x9e3779b97f4a7c15u};
    for (int i = 0; i < 8; i++) draw_bits(&draw);
    return draw;
}
static inline int64_t draw_below(Draw *draw, int64_t n) { return (int64_t)((draw_bits(draw) >> 16) % (uint64_t)n); }
static inline int64_t draw_whole(Draw *draw, int64_t low, int64_t high) {
    return low + draw_below(draw, high - low + 1);
}
static inline double draw_real(Draw *draw, double low, double high) {
    return low + (high - low) * (double)(draw_bits(draw) >> 11) * 0x1p-53;
}
static inline bool draw_chance(Draw *draw, double share) { return draw_real(draw, 0, 1) < share; }
#define DRAW_FROM(draw, ...)                                                                                           \
    (((const int64_t[]){__VA_ARGS__})[draw_below((draw), (int64_t)COUNT_OF(((const int64_t[]){__VA_ARGS__})))])

/* ---- models ---- */

static inline void random_attention(Draw *draw, LayerKind *kind) {
    kind->heads = DRAW_FROM(draw, 1, 2, 4, 4, 6, 8, 8, 12, 16);
    kind->kv_heads = kind->heads;
    int64_t group = DRAW_FROM(draw, 1, 2, 4, 8);
    if (kind->heads % group == 0) kind->kv_heads /= group;
    kind->head_dim = DRAW_FROM(draw, 32, 64, 128);
    kind->norms = DRAW_FROM(draw, 1, 2, 2, 4);
    kind->window = draw_chance(draw, 0.15) ? 256 : 0;
    kind->qkv_bias = draw_chance(draw, 0.2);
    if (!draw_chance(draw, 0.1)) return;
    kind->attention = ATTENTION_LATENT;
    kind->kv_heads = kind->heads;
    kind->q_lora_rank = draw_chance(draw, 0.5) ? 96 : 0;
    kind->kv_lora_rank = 64;
    kind->qk_nope_head_dim = 32;
    kind->qk_rope_head_dim = 16;
    kind->v_head_dim = kind->head_dim = 48;
}

static inline void random_mlp(Draw *draw, bool mixture, LayerKind *kind) {
    kind->gated = draw_chance(draw, 0.7);
    if (!mixture) {
        kind->d_ff = DRAW_FROM(draw, 768, 1000, 2048, 4096, 11008);
        return;
    }
    kind->experts = DRAW_FROM(draw, 4, 6, 8, 16);
    kind->top_k = draw_whole(draw, 1, 3);
    kind->d_ff_expert = DRAW_FROM(draw, 256, 500, 1024);
    kind->d_ff_shared = draw_chance(draw, 0.4) ? 512 : 0;
}

/* In place of attention, or beside it, a mixer; no MLP behind it, or nothing but an MLP; an indexer, other widths,
 * blocks that layers share. Draws from a copy: the rest of a problem is what it was without. */
static inline void random_mixer(Draw draw, LayerKind *kind) {
    static const int64_t MAMBA[] = {8, 32, 2, 16, 4, 64, 0, 1, 1}, DELTA[] = {4, 8, 32, 32, 4, 64};
    if (draw_chance(&draw, 0.75)) return;
    int64_t way = draw_below(&draw, 6);
    bool delta = draw_chance(&draw, 0.4);
    if (way < 3) { /* instead of attention; beside it; instead of it and of the MLP */
        kind->mixer = mixer_named(delta ? "gated_delta_net" : "mamba2");
        for (int i = 0; i < (delta ? 6 : 9); i++) kind->sizes[i] = delta ? DELTA[i] : MAMBA[i];
        if (way != 1) kind->heads = kind->kv_heads = kind->head_dim = 0, kind->attention = ATTENTION_HEADS;
        if (way == 2) kind->d_ff = kind->experts = kind->top_k = kind->d_ff_expert = kind->d_ff_shared = 0;
        if (way == 2) kind->norms = 1;
    } else if (way == 3) {
        kind->mixer = mixer_named("none");
        kind->heads = kind->kv_heads = kind->head_dim = 0, kind->attention = ATTENTION_HEADS;
    } else if (way == 4) {
        kind->index_heads = 4, kind->index_head_dim = 32, kind->index_top_k = 64;
        kind->compress = draw_chance(&draw, 0.5) ? 4 : 0;
    } else {
        kind->out_gate = kind->heads * kind->head_dim;
        kind->extra.matrix[PART_HYPER] = 4096, kind->extra.vector[PART_HYPER] = 100;
        kind->copies = draw_chance(&draw, 0.5) ? 1 : 0;
        kind->expert_width = kind->experts > 0 ? 128 : 0;
    }
}

/* Dense or a mixture of experts (then perhaps with a dense layer in front), one or two kinds of layers. */
static inline Model random_model(Draw *draw) {
    Model model = {.layers = draw_whole(draw, 1, 9),
                   .d_model = DRAW_FROM(draw, 256, 768, 1024, 2048, 4096),
                   .vocab = DRAW_FROM(draw, 1000, 1024, 32000, 50257, 128256),
                   .tied = draw_chance(draw, 0.3),
                   .max_seq = 1 << 20,
                   .norm = draw_chance(draw, 0.7) ? NORM_RMS : NORM_LAYER};
    bool mixture = draw_chance(draw, 0.35);
    random_attention(draw, &model.kinds[0]);
    random_mlp(draw, mixture, &model.kinds[0]);
    model.kinds[0].count = model.layers;
    model.kind_count = 1;
    if (model.layers > 1 && draw_chance(draw, 0.3)) {
        model.kinds[1] = model.kinds[0];
        model.kinds[1].count = draw_whole(draw, 1, model.layers - 1);
        model.kinds[0].count -= model.kinds[1].count;
        if (mixture) {
            model.kinds[0].experts = model.kinds[0].top_k = model.kinds[0].d_ff_expert = model.kinds[0].d_ff_shared = 0;
            model.kinds[0].d_ff = 2048;
        } else {
            model.kinds[1].window = 128;
        }
        model.kind_count = 2;
    }
    random_mixer(*draw, &model.kinds[model.kind_count - 1]);
    strcpy(model.name, "random");
    Error error = {0};
    cr_assert(model_validate(&model, "random", &error), "%s", error.text);
    return model;
}

static inline bool is_mixture(const Model *model) { return model->kinds[model->kind_count - 1].experts > 0; }

/* ---- machines ---- */

/* What a machine adds to its axes, and direct links in place of a switch. Draws from a copy: the rest of a problem is
 * what it was without. */
static inline void random_fabric(Draw draw, bool torus, Mesh *mesh) {
    Draw lane = draw;
    mesh->fabric.across_shares_host_lane = draw_chance(&lane, 0.5);
    if (torus) {
        if (draw_chance(&draw, 0.5)) mesh->fabric.twisted_gain = draw_real(&draw, 1, 2);
        return;
    }
    if (draw_chance(&draw, 0.3)) mesh->axes[0].kind = AXIS_MESH;
    if (draw_chance(&draw, 0.7))
        mesh->fabric = (Fabric){.across_shares_host_lane = mesh->fabric.across_shares_host_lane,
                                .ring_base_seconds = draw_real(&draw, 1e-6, 1e-5),
                                .tree_base_seconds = draw_real(&draw, 1e-6, 1e-5),
                                .tree_hop_seconds = draw_real(&draw, 1e-7, 1e-6),
                                .tree_scaleout_seconds = draw_real(&draw, 1e-6, 1e-5)};
    if (draw_chance(&draw, 0.7)) {
        mesh->fabric.leaf_nodes = DRAW_FROM(&draw, 1, 2);
        mesh->fabric.oversubscription = draw_real(&draw, 1, 8);
    }
}

/* Any mesh of at most `most` chips: torus axes, rings or lines as they please, or an NVLink domain; then a network. */
static inline Mesh random_mesh(Draw *draw, int64_t most) {
    for (;;) {
        Mesh mesh = {.chips = 1};
        bool torus = draw_chance(draw, 0.7);
        int inner = torus ? (int)draw_whole(draw, 1, 3) : 1;
        for (int i = 0; i < inner; i++) {
            Axis *axis = &mesh.axes[mesh.axis_count++];
            *axis = (Axis){.kind = !torus                   ? AXIS_SWITCH
                                   : draw_chance(draw, 0.5) ? AXIS_RING
                                                            : AXIS_LINE,
                           .level = torus ? LEVEL_ICI : LEVEL_NVLINK,
                           .size = torus ? DRAW_FROM(draw, 2, 2, 3, 4, 4, 5, 6, 8) : DRAW_FROM(draw, 2, 4, 8, 8),
                           .bytes_per_second = draw_real(draw, 10e9, torus ? 100e9 : 450e9),
                           .latency_seconds = draw_real(draw, 0, 5e-6)};
            strcpy(axis->name, torus ? (const char *[]){"x", "y", "z"}[i] : "nvlink");
        }
        if (draw_chance(draw, 0.4)) {
            Axis *axis = &mesh.axes[mesh.axis_count++];
            *axis = (Axis){.kind = AXIS_SWITCH,
                           .level = torus ? LEVEL_DCN : LEVEL_NETWORK,
                           .size = DRAW_FROM(draw, 2, 2, 3, 4),
                           .bytes_per_second = draw_real(draw, 1e9, 50e9),
                           .latency_seconds = draw_real(draw, 1e-6, 50e-6)};
            strcpy(axis->name, torus ? "dcn" : "network");
        }
        for (int i = 0; i < mesh.axis_count; i++) mesh.chips *= mesh.axes[i].size;
        mesh.devices = mesh.chips;
        random_fabric(*draw, torus, &mesh);
        if (mesh.chips >= 4 && mesh.chips <= most) return mesh;
    }
}

/* A machine of the catalog with few chips, so that it has idle shapes; `text` says which. */
static inline Machine random_machine(Draw *draw, const Chip *chip, int64_t most) {
    for (;;) {
        Machine machine = {0};
        int64_t first = DRAW_FROM(draw, 1, 2, 2, 4), second = DRAW_FROM(draw, 2, 2, 4);
        int64_t third = chip->scaleup == SCALEUP_TORUS_3D ? DRAW_FROM(draw, 1, 1, 2) : 1;
        if (chip_has_domains(chip))
            machine_of_gpus(chip, draw_chance(draw, 0.5) ? 2 * chip->chips_per_host : DRAW_FROM(draw, 4, 8), &machine);
        else
            machine_of_slice(chip, (SliceShape){{first, second, third}}, DRAW_FROM(draw, 1, 1, 2, 3), &machine);
        if (machine.mesh.devices >= 4 && machine.mesh.devices <= most) return machine;
    }
}

static inline void load_catalog(Arena *arena, Catalog *catalog) {
    Error error = {0};
    cr_assert(catalog_load(arena, catalog, &error), "%s: %s", error.where, error.text);
}

static inline const Chip *random_chip(Draw *draw, const Catalog *catalog) {
    static const char *const NAMES[] = {"v5p", "v5e", "v4", "h100", "a100", "v7"};
    const char *name = NAMES[draw_below(draw, COUNT_OF(NAMES))];
    Draw other = *draw;
    if (strcmp(name, "a100") == 0 && draw_chance(&other, 0.5)) name = "mi300x";
    const Chip *chip = catalog_find(catalog, name);
    cr_assert_not_null(chip);
    return chip;
}

/* ---- profiles ---- */

/* Kernels, dispatch and precision, drawn apart so that what follows them is drawn as before. */
static inline void random_software(Draw draw, const Chip *chip, Profile *profile) {
    profile->compute_factor = draw_real(&draw, 0.7, 1.3);
    profile->attention_factor = draw_real(&draw, 0.3, 1.2);
    profile->grouped_factor = draw_real(&draw, 0.5, 2);
    profile->biased_expert_efficiency = draw_real(&draw, 0.3, 1);
    profile->unfused_attention = draw_chance(&draw, 0.3);
    profile->score_traffic = draw_real(&draw, 0, 1);
    profile->recompute_whole = draw_chance(&draw, 0.5);
    profile->cast_traffic = draw_real(&draw, 0, 1);
    profile->dispatch_seconds_per_byte = draw_real(&draw, 0, 1e-10);
    profile->expert_layer_seconds = draw_real(&draw, 0, 1e-4);
    profile->rank_seconds = draw_real(&draw, 0, 1e-3);
    double *const waits[] = {&profile->host_layer_seconds, &profile->host_tensor_seconds,
                             &profile->stage_message_seconds, &profile->ring_step_seconds};
    for (size_t i = 0; i < COUNT_OF(waits); i++) *waits[i] = draw_chance(&draw, 0.4) ? draw_real(&draw, 0, 1e-3) : 0;
    profile->reduced_tensors = draw_chance(&draw, 0.3) ? draw_real(&draw, 1, 10) : 1;
    profile->gathers_after_update = draw_chance(&draw, 0.4);
    profile->low_copies = draw_chance(&draw, 0.5);
    profile->transposed_low_copy = draw_chance(&draw, 0.5);
    profile->inputs_kept_apart = draw_chance(&draw, 0.5);
    profile->gathers_matrices = draw_chance(&draw, 0.5);
    profile->low_parameters = draw_chance(&draw, 0.5);
    profile->logit_bytes = draw_real(&draw, 2, 12);
    profile->stage_outputs_kept = draw_chance(&draw, 0.5);
    profile->whole_master = draw_chance(&draw, 0.3);
    profile->update_scratch_bytes = draw_chance(&draw, 0.3) ? 6 : 0;
    profile->bucket_bytes = draw_chance(&draw, 0.3) ? draw_real(&draw, 0, 0.02) * chip->hbm_bytes.value : 0;
    profile->routed_copies = draw_chance(&draw, 0.5) ? draw_real(&draw, 1, 8) : 0;
    profile->host_exposed = draw_chance(&draw, 0.7) ? draw_real(&draw, 0, 0.3) : 0;
    profile->host_update_efficiency = draw_real(&draw, 0.3, 1);
    double *const flags[] = {&profile->ring_returns,   &profile->embedding_exchanged, &profile->stages_stay_whole,
                             &profile->combines_again, &profile->gradient_bytes,      &profile->casts_master,
                             &profile->keys_kept,      &profile->receives_worst_case, &profile->stream_split,
                             &profile->whole_program,  &profile->slice_all_reduce};
    for (size_t i = 0; i < COUNT_OF(flags); i++) *flags[i] = draw_chance(&draw, 0.4);
    profile->gradient_bytes *= 4;
    profile->ring_ways = draw_chance(&draw, 0.4) ? 16 : 0;
    profile->lanes = draw_chance(&draw, 0.4) ? 128 : 1;
    profile->logit_chunks = draw_chance(&draw, 0.4) ? 8 : 1;
    profile->kept_factor = draw_chance(&draw, 0.4) ? 1.7 : 1;
    profile->update_copies = draw_chance(&draw, 0.4) ? 1 : 0;
    profile->mlp_kept = profile->kept_factor > 1 && draw_chance(&draw, 0.5) ? 1.3 : 0;
    profile->dispatched_kept = draw_chance(&draw, 0.3) ? 3 : 0;
    profile->frozen_bytes = draw_chance(&draw, 0.4) ? 4 : 0;
    Precision precision = draw_chance(&draw, 0.3) ? PRECISION_FP8 : PRECISION_BF16;
    *profile = profile_in_precision(profile, chip, precision_peak(chip, precision) > 0 ? precision : PRECISION_BF16);
}

/* `ideal`, the chip's own, or one with every efficiency and overhead drawn. */
static inline Profile random_profile(Draw *draw, const Chip *chip, Arena *arena) {
    Profile profile;
    Error error = {0};
    int64_t choice = draw_below(draw, 3);
    cr_assert(profile_load(choice == 1 ? "default" : "ideal", NULL, chip, arena, &profile, &error), "%s: %s",
              error.where, error.text);
    if (choice < 2) return profile;
    profile.tile_padding = draw_chance(draw, 0.5);
    profile.matmul_traffic = draw_real(draw, 0, 2);
    profile.attention_backward_rate = draw_real(draw, 0.5, 1);
    profile.elementwise_traffic = draw_real(draw, 0, 1);
    profile.expert_imbalance = draw_real(draw, 1, 2);
    double *const efficiencies[] = {
        &profile.matrix_efficiency, &profile.grouped_efficiency, &profile.attention_efficiency, &profile.hbm_efficiency,
        &profile.ici_efficiency,    &profile.nvlink_efficiency,  &profile.network_efficiency,   &profile.dcn_efficiency,
        &profile.pcie_efficiency,   &profile.host_memory_share};
    for (size_t i = 0; i < COUNT_OF(efficiencies); i++) *efficiencies[i] = draw_real(draw, 0.3, 1);
    double *const exposed[] = {&profile.tensor_exposed,         &profile.expert_exposed,    &profile.sequence_exposed,
                               &profile.pipeline_exposed,       &profile.fsdp_exposed,      &profile.data_exposed,
                               &profile.ring_attention_exposed, &profile.tensor_overlapped, &profile.expert_overlapped};
    for (size_t i = 0; i < COUNT_OF(exposed); i++) *exposed[i] = draw_chance(draw, 0.2) ? 1 : draw_real(draw, 0, 1);
    profile.layer_seconds = draw_real(draw, 0, 1e-4);
    profile.microbatch_seconds = draw_real(draw, 0, 1e-4);
    profile.step_overhead_seconds = draw_real(draw, 0, 1e-2);
    random_software(*draw, chip, &profile);
    return profile;
}

/* Rates as no machine has them: any cost, any axes, inside or outside as it comes. */
static inline void random_rates(Draw *draw, Rates *rates) {
    for (int group = 0; group < GROUP_COUNT; group++) {
        if (rates->axes[group] == 0) continue;
        rates->axes[group] = (unsigned)draw_whole(draw, 1, (1 << rates->axis_count) - 1);
        if (draw_chance(draw, 0.3)) rates->leaves_scale_up ^= 1u << group;
        for (int piece = 0; piece < 2; piece++) {
            rates->cost[group].latency_seconds[piece] *= draw_real(draw, 0, 3);
            rates->cost[group].seconds_per_byte[piece] *= draw_real(draw, 0, 3);
        }
    }
}

/* ---- state ---- */

/* Any optimizer and any dtypes, sensible or not. */
static inline void random_state(Draw *draw, Request *request) {
    Optimizer optimizer = {.title = "random"};
    for (int i = 0; i < PARAMETERS_COUNT; i++) {
        optimizer.rule[i].first = (MomentForm)draw_below(draw, i == PARAMETERS_VECTORS ? 2 : MOMENT_FORM_COUNT);
        optimizer.rule[i].second = (MomentForm)draw_below(draw, i == PARAMETERS_VECTORS ? 2 : MOMENT_FORM_COUNT);
    }
    if (draw_chance(draw, 0.4)) optimizer.rule[PARAMETERS_MATRICES].newton_schulz_steps = 5;
    request->question.state_dtypes = (StateDtypes){
        .parameters = (Dtype)DRAW_FROM(draw, DTYPE_DEFAULT, DTYPE_FP8, DTYPE_FP32),
        .gradients = (Dtype)DRAW_FROM(draw, DTYPE_DEFAULT, DTYPE_BF16, DTYPE_FP32),
        .master = (Dtype)DRAW_FROM(draw, DTYPE_DEFAULT, DTYPE_NONE, DTYPE_BF16),
        .first = (Dtype)DRAW_FROM(draw, DTYPE_DEFAULT, DTYPE_FP8, DTYPE_BF16),
        .second = (Dtype)DRAW_FROM(draw, DTYPE_DEFAULT, DTYPE_FP8, DTYPE_BF16),
    };
    request->question.state = training_state(&request->question.model, &optimizer, &request->question.state_dtypes);
}

/* One problem in three trains adapters, or a part of the weights; some in quantised matrices, with a reference, or with
 * parameters on the host. Draws from a copy: the rest of a problem is what it was without. */
static inline void random_tuning(Draw draw, Request *request) {
    request->space.unable |= launchers_made_for(true);
    if (!draw_chance(&draw, 1. / 3)) return;
    Tuning *what = &request->question.tuning.what;
    *what = (Tuning){.on = true, .frozen = (unsigned)draw_below(&draw, FROZEN_ALL)};
    if (draw_chance(&draw, 0.7)) {
        what->rank = (double)DRAW_FROM(&draw, 1, 8, 64);
        what->frozen = FROZEN_ALL;
        what->targets = draw_chance(&draw, 0.5) ? TARGETS_ALL : 1 + (unsigned)draw_below(&draw, TARGETS_ALL);
    }
    if (draw_chance(&draw, 0.5)) what->stored_bytes = TUNING_STORED_BYTES;
    if (draw_chance(&draw, 0.3)) what->references = 1, what->reference_model = draw_chance(&draw, 0.5);
    what->on_host = draw_chance(&draw, 0.2);
    if (!request->question.state.optimizer[0]) request->question.state = *training_state_default();
    request->question.state.tuning = *what;
    if (request->space.launchers) request->space.launchers = 1u << LAUNCHER_TRL;
    request->space.unable = launchers_made_for(false);
}

/* Any of the policies, in all layers or some, or any states. */
static inline void random_remat(Draw *draw, RematRule *remat) {
    static const char *const POLICIES[] = {"none",          "full",    "full:1",           "save_dot_except_mlp",
                                           "save_qkv_proj", "minimal", "minimal_offloaded"};
    Error error = {0};
    remat_parse(POLICIES[draw_below(draw, COUNT_OF(POLICIES))], "draw", remat, &error);
    if (draw_chance(draw, 0.6)) return;
    remat->layers = draw_below(draw, 4);
    for (int i = 0; i < ACTIVATION_COUNT; i++)
        remat->state[i] =
            (ActivationState)(i == ACTIVATION_LAYER_INPUT ? 2 * draw_below(draw, 2) : draw_below(draw, STATE_COUNT));
}

/* ---- requests ---- */

enum { NO_LIMIT = 1000000 }; /* times the HBM of the chip: everything fits */

static inline void set_hbm(Request *request, double bytes) {
    bytes *= (double)request->question.chip.devices_per_chip; /* of a device */
    request->question.chip.hbm_bytes.value = bytes;
    request->question.chip.host_bytes.value = 0.1 * bytes; /* so that the host too runs short */
    request->question.device = chip_device(&request->question.chip);
}

static inline double test_clock(void *context) {
    (void)context;
    return clock_seconds();
}

/* Everything but memory, which is without limit: set_hbm() after looking at what plans need. */
static inline Request random_request(Draw *draw, const Catalog *catalog, int64_t chips_most, int64_t sequences_most,
                                     Arena *arena) {
    Request request = {.question.model = random_model(draw),
                       .question.chip = *random_chip(draw, catalog),
                       .control.top = 3,
                       .control.threads = 1};
    if (draw_chance(draw, 0.4))
        request.question.machine.mesh = random_mesh(draw, chips_most);
    else
        request.question.machine = random_machine(draw, &request.question.chip, chips_most);
    if (request.question.machine.text[0] && draw_chance(draw, 0.6)) request.space.max_idle = draw_real(draw, 0.3, 0.75);
    request.question.profile = random_profile(draw, &request.question.chip, arena);
    request.question.work =
        (Work){.sequences = draw_whole(draw, 1, sequences_most), .seq = DRAW_FROM(draw, 128, 512, 1000, 2048, 8192)};
    if (draw_chance(draw, 0.5))
        request.question.work.sequences = request.question.machine.mesh.devices * draw_whole(draw, 1, 2);
    request.requested.nesting = nesting_name(draw_chance(draw, 0.5) ? 0 : (int)draw_below(draw, 6));
    nesting_named(request.requested.nesting, &request.space.nesting);
    request.space.schedules = draw_chance(draw, 0.3)   ? SCHEDULES_LAUNCHABLE
                              : draw_chance(draw, 0.5) ? SCHEDULES_ALL
                                                       : 1u << draw_whole(draw, SCHEDULE_GPIPE, SCHEDULE_COUNT - 1);
    request.space.roles = is_mixture(&request.question.model) ? ROLES_ALL : ROLES_DENSE;
    request.space.padding = (PaddingRule)draw_below(draw, 3);
    if (draw_chance(draw, 0.25)) request.space.batch_tolerance = draw_real(draw, 0.02, 0.3);
    if (draw_chance(draw, 0.25))
        request.space.requirements[request.space.requirement_count++] =
            (Requirement){.role = (Role)draw_below(draw, ROLE_COUNT),
                          .op = draw_chance(draw, 0.3) ? REQUIRE_AT_LEAST : REQUIRE_AT_MOST,
                          .degree = DRAW_FROM(draw, 1, 2, 4)};
    if (draw_chance(draw, 0.1))
        request.space.requirements[request.space.requirement_count++] =
            (Requirement){.op = REQUIRE_AT_MOST,
                          .degree = DRAW_FROM(draw, 1, 2, 4),
                          .knob = (Knob)(KNOB_MICROBATCHES + (int)draw_below(draw, 2))};
    if (draw_chance(draw, 0.2)) request.space.launchers = 1u << draw_below(draw, LAUNCHER_TRL);
    if (draw_chance(draw, 0.4)) random_state(draw, &request);
    if (draw_chance(draw, 0.25)) random_remat(draw, &request.question.remat);
    Draw host = *draw; /* a copy: the rest of a problem is what it was without */
    if (is_mixture(&request.question.model) && draw_chance(&host, 0.25)) /* EP in either form */
        request.space.requirements[request.space.requirement_count++] =
            (Requirement){.role = ROLE_EXPERT,
                          .either = true,
                          .op = (RequireOp)draw_below(&host, 3),
                          .degree = DRAW_FROM(&host, 1, 2, 4)};
    request.question.host_update = draw_chance(&host, 0.4) ? HOST_UPDATE_ON_CPU : HOST_UPDATE_STREAMS;
    if (!request.question.remat.required && draw_chance(&host, 0.3))
        request.question.offload = (Offload)draw_below(&host, OFFLOAD_COUNT);
    random_tuning(*draw, &request);
    request.question.hbm_reserve = draw_chance(draw, 0.5) ? 0.08 : 0;
    set_hbm(&request, NO_LIMIT * request.question.chip.hbm_bytes.value);
    request.control.environment.seconds = test_clock; /* for those that set a time limit */
    return request;
}

/* One line that makes a problem again. */
static inline const char *problem_text(const Request *request, char text[320]) {
    int used = 0;
    for (int i = 0; i < request->question.machine.mesh.axis_count; i++)
        used += snprintf(text + used, (size_t)(320 - used), "%s%s%lld", i ? " " : "",
                         request->question.machine.mesh.axes[i].name,
                         (long long)request->question.machine.mesh.axes[i].size);
    const Tuning *what = &request->question.tuning.what;
    if (what->on)
        used +=
            snprintf(text + used, (size_t)(320 - used), " (rank %g, targets %x, frozen %x, %.2f bytes, %g refs%s%s)",
                     what->rank, what->targets, what->frozen, what->stored_bytes, what->references,
                     what->reference_model ? " own" : "", what->on_host ? " host" : "");
    snprintf(text + used, (size_t)(320 - used),
             " nested %s on %s, %lld layers, %lld sequences of %lld, %s, padding %s, idle %.2f, tolerance %.2f",
             request->requested.nesting, request->question.chip.name, (long long)request->question.model.layers,
             (long long)request->question.work.sequences, (long long)request->question.work.seq,
             request->question.profile.name, padding_rule_name(request->space.padding), request->space.max_idle,
             request->space.batch_tolerance);
    return text;
}
