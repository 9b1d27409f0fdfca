/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/replay.h"

#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MOST = 4096 };

static bool load_others(Arena *arena, ReplayData *out, Error *error) {
    return catalog_load(arena, &out->chips, error) &&
           optimizer_load("adamw", "optimizer", arena, &out->optimizer, error) &&
           networks_read(NULL, arena, &out->networks, error) && excluded_read(NULL, arena, &out->asides, error);
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
                         .remat = &replay->remat,
                         .slices = (double)replay->slices};
}

/* The profile of the work, from what the set has for its chip and software. */
static Profile profile_of_composed(const Replay *replay, Profile composed) {
    if (!replay->serial_ranks) composed.rank_seconds = 0;
    if (replay->expert_overlap) composed.expert_exposed = min_real(composed.expert_exposed, composed.expert_overlapped);
    return profile_of_work(&composed, &replay->chip, replay->precision, &replay->model, (double)replay->mesh.chips,
                           (double)replay->slices);
}

static Profile profile_of(const Replay *replay, const ProfileSet *set) {
    Profile composed;
    profile_compose(set, replay->chip_entry, replay->stack_entry, &composed);
    return profile_of_composed(replay, composed);
}

/* Stages that cannot be balanced are even, or have one chunk. Where a source does not mention recomputation, a policy
 * that fits is taken. */
static void settle(Replay *replay, const ProfileSet *set) {
    static const char *const POLICIES[] = {"none", "minimal_with_context", "minimal", "full"};
    Estimate estimate;
    Error error = {0};
    Knobs *knobs = &replay->plan.knobs;
    /* Megatron's recipes recompute only the activations that they name; JAX's have a policy, whether named or not */
    bool unknown = replay_on_jax(replay) && (text_has(replay->run->remat, "unknown") || replay->run->remat[0] == '\0');
    for (int turn = 0; !replay_estimate(replay, set, &estimate); turn++) {
        if (turn == 0 && knobs->stages == STAGES_BALANCED) {
            knobs->stages = STAGES_EVEN;
        } else if (turn <= 1 && knobs->virtual_stages > 1) {
            knobs->stages = STAGES_BALANCED;
            knobs->virtual_stages = 1;
            knobs->schedule = SCHEDULE_1F1B;
        } else {
            replay_skip(replay, "its plan does not divide its model and batch");
            return;
        }
        replay_layout(replay);
    }
    for (size_t i = 1; unknown && i < COUNT_OF(POLICIES); i++) {
        if (memory_total(&estimate.memory) <= replay->chip.hbm_bytes.value) break;
        if (!remat_parse(POLICIES[i], "remat", &replay->remat, &error)) return;
        replay_layout(replay);
        replay_estimate(replay, set, &estimate);
        if (i + 1 == COUNT_OF(POLICIES) || memory_total(&estimate.memory) <= replay->chip.hbm_bytes.value)
            replay_note(replay, true, "recomputation of %s assumed, since without it does not fit", POLICIES[i]);
    }
}

/* "capacity factor 1.25" of the notes: experts are padded to that load, and what is beyond it is dropped. */
static void set_capacity(Replay *replay) {
    static const char WORDS[] = "capacity factor ";
    const char *at = strstr(replay->run->notes, WORDS);
    double factor = at ? strtod(at + strlen(WORDS), NULL) : 0;
    if (factor >= 1 && factor <= 16) replay->model.training.capacity_factor = factor;
}

/* "real packed data" of fine-tuning: attention stays within documents, which are short there. */
static void set_documents(Replay *replay) {
    enum { DOCUMENT_TOKENS = 512 };
    if (!text_has(replay->run->notes, "real packed data")) return;
    for (int i = 0; i < replay->model.kind_count; i++)
        if (replay->model.kinds[i].window == 0) replay->model.kinds[i].window = DOCUMENT_TOKENS;
}

/* Software that only the kind of chip has suggested is a guess: no text of the source holds a text of its matches, or
 * the first word of its name ("maxtext-tpu"). So is one that a release would decide where none is known. */
static void note_software(Replay *replay, const ProfileSet *set, const StackQuery *query) {
    const SetEntry *stack = replay->stack_entry;
    StackQuery latest = *query;
    char word[PROFILE_NAME_SIZE];
    if (!stack || stack->match_count == 0) return;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(stack->name, "-"), stack->name);
    bool named =
        text_has(query->framework, word) || text_has(query->version, word) || text_has(replay->run->hardware, word);
    for (const StackMatch *match = stack->matches; match < stack->matches + stack->match_count; match++)
        named = named && !(match->like[0] && framework_has(query->framework, match->like));
    for (const StackMatch *match = stack->matches; match < stack->matches + stack->match_count; match++)
        named = named || (match->framework[0] && framework_has(query->framework, match->framework));
    latest.version = "1999"; /* later than any container of NVIDIA */
    bool undated = strpbrk(query->version, "0123456789") == NULL && profile_set_match(set, &latest) != stack;
    if (!named || undated)
        replay_note(replay, true, "software as of %s assumed%s", stack->name, named ? ", undated" : "");
}

void replay_prepare(const Run *run, const ReplayData *data, const ProfileSet *set, Replay *out) {
    memset(out, 0, sizeof *out);
    out->run = run;
    if (run->wrong) {
        replay_skip(out, "%s", run->wrong);
        return;
    }
    if (run->rounded) replay_note(out, true, "%s rounded up", run->rounded);
    out->step_factor = 1;
    out->aside = excluded_reason(&data->asides, run);
    if (!replay_model(&data->zoo, out) || !replay_machine(data, out) || !replay_plan(&data->optimizer, out) ||
        !replay_placement(out) || !replay_measured(out))
        return;
    set_capacity(out);
    set_documents(out);
    out->chip_entry = profile_set_chip(set, &out->chip);
    char said[NOTES_MOST]; /* "torch.compile" is a word of the notes, of the precision or of the framework */
    snprintf(said, sizeof said, "%s; %s; %s%s", run->precision, run->framework, run->notes,
             run->pipeline > 1 ? "; in a pipeline" : "");
    if (run->method[0]) /* "sharded, qlora" */
        snprintf(said, sizeof said, "%s; %s; %s; %s, %s", run->framework, run->notes, run->attention,
                 out->plan.degrees.of[ROLE_FSDP] > 1 ? "sharded" : "whole", run->method);
    const StackQuery query = {run->framework, run->version, said, &out->chip, run->source};
    out->stack_entry = profile_set_match(set, &query);
    note_software(out, set, &query);
    if (!out->chip_entry) {
        replay_skip(out, "no profile is for %s", out->chip.name);
        return;
    }
    out->expert_overlap = text_has(run->notes, "all-to-all overlap on");
    bool async = text_has(said, "async");
    /* Megatron's recipes and those made of it overlap where the stream is split; others say so when they do */
    static const char *const OVERLAPPING[] = {"Megatron", "NeMo", "NVIDIA", "MegaScale"};
    bool overlaps = async || text_has(run->notes, "TP comm overlap") || text_has(run->version, "MLPerf");
    for (size_t i = 0; i < COUNT_OF(OVERLAPPING); i++) overlaps = overlaps || text_has(run->framework, OVERLAPPING[i]);
    overlaps = replay_on_torch(out) ? async : overlaps && run->sequence_parallel == 1;
    int64_t tensor = out->plan.degrees.of[ROLE_TENSOR], local = run->seq / out->plan.degrees.of[ROLE_SEQUENCE];
    out->plan.knobs.methods.tensor_overlap = overlaps && tensor > 1 && local % tensor == 0;
    out->serial_ranks = text_has(run->fsdp, "over all");
    /* stages as they are balanced by the time of layers and logits at the set's figures */
    Profile profile = profile_of(out, set);
    CostContext setting = setting_of(out, &profile);
    out->work.layer_weight = stage_layer_weight(&setting, run->seq);
    replay_layout(out);
    settle(out, set);
}

static bool estimate_with(const Replay *replay, const Profile *profile, Estimate *out) {
    CostContext setting = setting_of(replay, profile);
    Error error = {0};
    return estimate_plan(&setting, &(NestedMesh){&replay->mesh, replay->nesting}, &replay->plan, PADDING_ANY, out,
                         &error);
}

bool replay_estimate(const Replay *replay, const ProfileSet *set, Estimate *out) {
    Profile profile = profile_of(replay, set);
    return estimate_with(replay, &profile, out);
}

bool replay_price(const void *replay, const Profile *composed, double *seconds) {
    Profile profile = profile_of_composed(replay, *composed);
    Estimate estimate;
    if (!estimate_with(replay, &profile, &estimate)) return false;
    *seconds = estimate.time.seconds * ((const Replay *)replay)->step_factor;
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
    shard.layers = (double)replay->first_layers;
    shard.slots_first = 0;
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        remat_layers(&replay->remat, (Activation)a, replay->first_layers, plan.layout.layers[a]);
    return max_real(plan_memory(setting, &shard, &plan, MOMENT_FIRST_BACKWARD, &rows),
                    plan_memory(setting, &shard, &plan, MOMENT_UPDATE, &rows));
}

/* The bytes that the source's figure of memory counts, out of those that the model says are allocated. */
static double shown_bytes(const Replay *replay, const Profile *profile, const Estimate *estimate) {
    CostContext setting = setting_of(replay, profile);
    double allocated = memory_total(&estimate->memory);
    if (replay->first_layers > 0) allocated = first_stage_bytes(replay, &setting, estimate);
    if (replay->memory_shown == MEMORY_SHOWN_ALLOCATED) return allocated;
    if (replay->memory_shown == MEMORY_SHOWN_RESERVED) return allocated * (1 + profile->fragmentation_share);
    return memory_on_device(&setting, &estimate->shard, allocated);
}

/* What the fullest chip needs, all of it where the source says what an allocator or a device holds. */
static double needed_bytes(const Replay *replay, const Profile *profile, const Estimate *estimate) {
    CostContext setting = setting_of(replay, profile);
    double allocated = memory_total(&estimate->memory);
    if (replay->first_layers > 0) allocated = max_real(allocated, first_stage_bytes(replay, &setting, estimate));
    bool all = replay->first_rank || replay->memory_shown == MEMORY_SHOWN_DEVICE;
    return all ? memory_on_device(&setting, &estimate->shard, allocated)
               : max_real(allocated, shown_bytes(replay, profile, estimate));
}

bool replay_predict(const Replay *replay, const ProfileSet *set, Prediction *out) {
    Profile profile = profile_of(replay, set);
    Estimate estimate;
    if (!estimate_with(replay, &profile, &estimate)) return false;
    double factor = replay->step_factor;
    Replay longest = *replay; /* of which memory is */
    Estimate held = estimate;
    if (replay->memory_seq > 0) {
        longest.work.seq = replay->memory_seq;
        if (!estimate_with(&longest, &profile, &held)) return false;
    }
    *out = (Prediction){.seconds = estimate.time.seconds * factor,
                        .lower_seconds = estimate.time.lower_seconds * factor,
                        .upper_seconds = estimate.time.serial_seconds * factor,
                        .memory_bytes = shown_bytes(&longest, &profile, &held),
                        .needed_bytes = needed_bytes(&longest, &profile, &held),
                        .bound_by = estimate.bound_by,
                        .mfu = estimate.mfu / factor};
    double reach = 1 + REACH_OF_GUESS * replay->unknowns;
    out->likely_low_seconds = out->seconds * pow(profile.likely_low, reach);
    out->likely_high_seconds = out->seconds * pow(profile.likely_high, reach);
    return true;
}
