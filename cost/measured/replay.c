/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/replay.h"

#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool load_others(Arena *arena, ReplayData *out, Error *error) {
    return catalog_load(arena, &out->chips, error) &&
           optimizer_load("adamw", "optimizer", arena, &out->optimizer, error);
}

bool replay_data_load(Arena *arena, ReplayData *out, Error *error) {
    return zoo_load(arena, &out->zoo, error) && load_others(arena, out, error);
}

bool replay_data_names(Arena *arena, ReplayData *out, Error *error) {
    return zoo_names(arena, &out->zoo, error) && load_others(arena, out, error);
}

static CostContext setting_of(const Replay *replay, const Profile *profile) {
    return (CostContext){.model = &replay->model,
                         .chip = &replay->chip,
                         .profile = profile,
                         .work = replay->work,
                         .hbm_reserve = 0,
                         .precision_flops_per_second =
                             precision_peak(&replay->chip, replay->precision) * (double)replay->chip.devices_per_chip,
                         .state = &replay->state,
                         .remat = &replay->run->request.remat,
                         .slices = (double)replay->slices};
}

/* The profile of the work, from what the set has for its chip and software. */
static Profile profile_of_composed(const Replay *replay, Profile composed) {
    if (!replay->run->request.serial_ranks) composed.rank_seconds = 0;
    if (replay->run->request.expert_overlap)
        composed.expert_exposed = min_real(composed.expert_exposed, composed.expert_overlapped);
    return profile_of_work(&composed, &replay->chip, replay->precision, &replay->model, (double)replay->mesh.chips,
                           (double)replay->slices);
}

static Profile profile_of(const Replay *replay, const ProfileSet *set) {
    Profile composed;
    profile_compose(set, replay->chip_entry, replay->stack_entry, &composed);
    return profile_of_composed(replay, composed);
}

static bool estimate_with(const Replay *replay, const Profile *profile, Estimate *out) {
    CostContext setting = setting_of(replay, profile);
    Error error = {0};
    return estimate_plan(&setting, &(NestedMesh){&replay->mesh, replay->nesting}, &replay->plan, PADDING_ANY, out,
                         &error);
}

bool replay_names_known(const RunTable *table, const char *path, const ReplayData *data, const ProfileSet *set,
                        Error *error) {
    for (const Run *run = table->runs; run < table->runs + table->count; run++) {
        const RunRequest *request = &run->request;
        if (run->not_replayed[0] || request->words) continue;
        if (!catalog_find(&data->chips, request->chip))
            return run_wrong(run, path, "chip", error, "the catalog has no %.40s; `shardopt chips` lists what it has",
                             request->chip);
        if (request->model[0] && !zoo_find(&data->zoo, request->model))
            return run_wrong(run, path, "model", error,
                             "the zoo has no %.60s; `shardopt models` lists what it has, or give its configuration",
                             request->model);
        bool named = request->stack[0] && strcmp(request->stack, "none") != 0;
        if (named && set->stack_count > 1 && !profile_set_stack(set, request->stack)) /* else: one profile for all */
            return run_wrong(run, path, "stack", error, "the profiles have no software %.40s", request->stack);
    }
    return true;
}

static void take_given(const RunGiven *given, Replay *out) {
    out->model = given->model;
    out->chip = given->chip;
    out->mesh = given->mesh;
    out->slices = given->slices;
    out->nesting = given->nesting;
    out->plan = given->plan;
    out->work = given->work;
    out->state = given->state;
    out->precision = out->run->request.precision;
}

void replay_prepare(const Run *run, const ReplayData *data, const ProfileSet *set, Replay *out) {
    memset(out, 0, sizeof *out);
    out->run = run;
    if (run->not_replayed[0]) {
        replay_skip(out, "%s", run->not_replayed);
        return;
    }
    if (run->given)
        take_given(run->given, out);
    else if (!replay_model(&data->zoo, out) || !replay_machine(data, out) || !replay_plan(&data->optimizer, out) ||
             !replay_placement(out))
        return;
    replay_measured(out);
    out->chip_entry = profile_set_chip(set, &out->chip);
    const char *stack = run->request.stack;
    out->stack_entry = stack[0] ? profile_set_stack(set, stack) : profile_set_best_stack(set, &out->chip);
    if (!out->chip_entry) {
        replay_skip(out, "no profile is for %s", out->chip.name);
        return;
    }
    /* stages as they are balanced by the time of layers and logits at the set's figures */
    Profile profile = profile_of(out, set);
    CostContext setting = setting_of(out, &profile);
    Estimate estimate;
    out->work.layer_weight = stage_layer_weight(&setting, out->work.seq);
    if (!run->given) replay_layout(out);
    if (!estimate_with(out, &profile, &estimate)) replay_skip(out, "its plan does not divide its model and batch");
}

bool replay_price(const void *replay, const Profile *composed, double *seconds) {
    Profile profile = profile_of_composed(replay, *composed);
    Estimate estimate;
    if (!estimate_with(replay, &profile, &estimate)) return false;
    *seconds = estimate.time.seconds * ((const Replay *)replay)->run->measured.step_factor;
    return true;
}

/* How much further, in logarithms, the likely range reaches for each setting that had to be guessed. For published runs
 * that a fit has not seen the median error is 3.3% without a guess, 4.5% with one, 6.0% with two; the 90th percentile
 * hardly moves (12, 12, 14%), so the factor is less than the medians suggest. */
static const double REACH_OF_GUESS = 0.15;

/* The bytes that are allocated on the first stage, with the layers that its software deals to it. */
static double first_stage_bytes(const Replay *replay, const CostContext *setting, const Estimate *estimate) {
    Plan plan = replay->plan;
    Shard shard = estimate->shard;
    MemoryRows rows;
    shard.layers = (double)replay->run->measured.first_stage_layers;
    shard.slots_first = 0;
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        remat_layers(&replay->run->request.remat, (Activation)a, replay->run->measured.first_stage_layers,
                     plan.layout.layers[a]);
    return max_real(plan_memory(setting, &shard, &plan, MOMENT_FIRST_BACKWARD, &rows),
                    plan_memory(setting, &shard, &plan, MOMENT_UPDATE, &rows));
}

/* The bytes that the source's figure of memory counts, out of those that the model says are allocated. */
static double shown_bytes(const Replay *replay, const Profile *profile, const Estimate *estimate) {
    CostContext setting = setting_of(replay, profile);
    double allocated = memory_total(&estimate->memory);
    if (replay->run->measured.first_stage_layers > 0) allocated = first_stage_bytes(replay, &setting, estimate);
    if (replay->run->measured.memory_shows == MEMORY_SHOWN_ALLOCATED) return allocated;
    if (replay->run->measured.memory_shows == MEMORY_SHOWN_RESERVED)
        return allocated * (1 + profile->fragmentation_share);
    return memory_on_device(&setting, &estimate->shard, allocated);
}

/* What the fullest chip needs, all of it where the source says what an allocator or a device holds. */
static double needed_bytes(const Replay *replay, const Profile *profile, const Estimate *estimate) {
    CostContext setting = setting_of(replay, profile);
    double allocated = memory_total(&estimate->memory);
    if (replay->run->measured.first_stage_layers > 0)
        allocated = max_real(allocated, first_stage_bytes(replay, &setting, estimate));
    bool all =
        replay->run->measured.first_stage_layers >= 0 || replay->run->measured.memory_shows == MEMORY_SHOWN_DEVICE;
    return all ? memory_on_device(&setting, &estimate->shard, allocated)
               : max_real(allocated, shown_bytes(replay, profile, estimate));
}

bool replay_predict(const Replay *replay, const ProfileSet *set, Prediction *out) {
    Profile profile = profile_of(replay, set);
    Estimate estimate;
    if (!estimate_with(replay, &profile, &estimate)) return false;
    double factor = replay->run->measured.step_factor;
    Replay longest = *replay; /* of which memory is */
    Estimate held = estimate;
    if (replay->run->request.longest_seq > 0) {
        longest.work.seq = replay->run->request.longest_seq;
        if (!estimate_with(&longest, &profile, &held)) return false;
    }
    *out = (Prediction){.seconds = estimate.time.seconds * factor,
                        .lower_seconds = estimate.time.lower_seconds * factor,
                        .upper_seconds = estimate.time.serial_seconds * factor,
                        .memory_bytes = shown_bytes(&longest, &profile, &held),
                        .needed_bytes = needed_bytes(&longest, &profile, &held),
                        .bound_by = estimate.bound_by,
                        .mfu = estimate.mfu / factor};
    double reach = 1 + REACH_OF_GUESS * (double)replay->run->guesses;
    out->likely_low_seconds = out->seconds * pow(profile.likely_low, reach);
    out->likely_high_seconds = out->seconds * pow(profile.likely_high, reach);
    return true;
}
