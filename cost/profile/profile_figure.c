/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/profile/profile_figure.h"

#include "base/json.h"
#include "base/util.h"

#include <string.h>

#define CHIP(key) #key, offsetof(Profile, key), FIGURE_OF_CHIP
#define STACK(key) #key, offsetof(Profile, key), FIGURE_OF_STACK

/* To add a figure, add a line. Shares below 1% and rates above the catalog's are mistakes of unit, not machines. */
static const ProfileFigure FIGURES[] = {
    {CHIP(matrix_efficiency), 1, 0.01, 1, 0.3, 0.98, 0.08, "large bf16 matmuls, of the dense peak"},
    {CHIP(fp8_efficiency), 1, 0.01, 1, 0.3, 0.9, 0.10, "large fp8 matmuls, of the dense fp8 peak"},
    {CHIP(mxfp8_efficiency), 1, 0.01, 1, 0.3, 0.9, 0.10, "large mxfp8 matmuls, of the dense fp8 peak"},
    {CHIP(nvfp4_efficiency), 1, 0.01, 1, 0.2, 0.9, 0.15, "large nvfp4 matmuls, of the dense fp4 peak"},
    {CHIP(int8_efficiency), 1, 0.01, 1, 0.3, 0.95, 0.10, "large int8 matmuls, of the dense int8 peak"},
    {CHIP(matmul_traffic), 0, 0, 100, 0.3, 4, 0.3,
     "operand traffic of matmuls that is not hidden: x (peak/HBM)(1/M+1/N+1/K)"},
    {CHIP(grouped_efficiency), 1, 0.01, 1, 0.4, 1, 0.1, "grouped (expert) matmuls over plain ones"},
    {CHIP(biased_expert_efficiency), 1, 0.01, 1, 0.2, 1, 0.4,
     "experts with biases and a clamped activation over plain ones"},
    {CHIP(attention_efficiency), 1, 0.01, 1, 0.15, 0.95, 0.2, "flash attention forward, of the dense bf16 peak"},
    {CHIP(attention_backward_rate), 1, 0.01, 2, 0.4, 1.1, 0.12, "rate of flash attention's backward over its forward"},
    {CHIP(scan_efficiency), 1, 0.01, 1, 0.05, 0.9, 0,
     "scans in chunks (state space, linear attention), of the bf16 peak"},
    {CHIP(vector_efficiency), 1, 0.01, 1, 0.01, 0.3, 0, "recurrences on vector units, of the dense bf16 peak"},
    {CHIP(hbm_efficiency), 1, 0.01, 1, 0.6, 0.98, 0.07, "streaming HBM, of its rate"},
    {CHIP(ici_efficiency), 1, 0.01, 1, 0.6, 1, 0.08, "ICI, of its link rate"},
    {CHIP(nvlink_efficiency), 1, 0.01, 1, 0.6, 1, 0.08, "NVLink or xGMI, of its link rate"},
    {CHIP(network_efficiency), 1, 0.01, 1, 0.4, 1, 0.08, "the network between domains, of its line rate"},
    {CHIP(dcn_efficiency), 1, 0.01, 1, 0.2, 1, 0.3, "DCN between slices, of its line rate"},
    {CHIP(pcie_efficiency), 1, 0.01, 1, 0.5, 1, 0, "the host link, of its rate"},
    {CHIP(host_update_efficiency), 1, 0.01, 1, 0.1, 1, 0, "an update on the host's CPUs, of the host's memory rate"},
    {CHIP(host_memory_share), 1, 0.01, 1, 0.1, 1, 0, "share of the host's memory for what is offloaded"},
    {CHIP(communicator_bytes), 0, 0, 1e11, 0, 1e11, 0, "HBM of a communicator's buffers"},
    {CHIP(all_to_all_bytes), 0, 0, 1e11, 0, 1e11, 0, "HBM of the connections that all_to_all opens"},
    {CHIP(transposed_low_copy), 0, 0, 1, 0, 1, 0, "1: fp8 weights in both layouts"},
    {CHIP(jitter), 0, 0, 0.1, 1e-4, 0.02, 0.8, "step per doubling of chips beyond 8: the slowest of many"},
    {CHIP(slice_loss), 0, 0, 0.3, 1e-3, 0.1, 0.4, "step per doubling of slices"},
    {CHIP(fsdp_growth), 0, 0, 1, 0, 0.3, 0,
     "exposed share of FSDP's traffic more, per doubling of the ranks that it spans"},
    {CHIP(likely_low), 0, 0, 1, 0, 1, 0, "one run in twenty is below the predicted step times this"},
    {CHIP(likely_high), 0, 0, 100, 1, 100, 0, "one run in twenty is above the predicted step times this"},
    {CHIP(restart_seconds), 0, 0, 1e6, 0, 1e6, 0, "from a failure until steps run again"},
    {CHIP(checkpoint_seconds), 0, 0, 1e5, 0, 1e5, 0, "wait for a checkpoint in addition to its copy to the host"},
    {CHIP(repair_seconds), 0, 0, 1e8, 0, 1e8, 0, "until a failed host is back"},
    {CHIP(storage_bytes_per_second), 0, 0, 1e15, 0, 1e15, 0, "of a job's checkpoints: storage"},
    {CHIP(storage_chip_bytes_per_second), 0, 0, 1e13, 0, 1e13, 0, "of checkpoints: each chip's way to storage"},
    {CHIP(hbm_error), 0, 0, 1, 0, 1, 0, "scale of the logistic distribution of ln(measured / predicted HBM)"},
    {CHIP(plan_error), 0, 0, 1, 0, 1, 0,
     "deviation of ln(measured / predicted) of a plan compared with others of its model and machine"},
    {CHIP(stack_error), 0, 0, 1, 0, 1, 0, "the same of all plans of one software"},

    {STACK(compute_factor), 1, 0.1, 2, 0.7, 1.3, 0.05, "rate of all matmuls under this software"},
    {STACK(network_factor), 1, 0.01, 1, 0.05, 1, 0.3, "rate of the network under this software"},
    {STACK(attention_factor), 1, 0.02, 2, 0.2, 1.3, 0.15, "rate of attention under this software"},
    {STACK(grouped_factor), 1, 0.05, 4, 0.3, 2, 0.15, "rate of grouped matmuls under this software"},
    {STACK(unfused_attention), 0, 0, 1, 0, 1, 0, "1: scores go through HBM"},
    {STACK(score_traffic), 0, 0, 100, 0.1, 3, 0.4, "share of the traffic of unfused scores that fusion leaves"},
    {STACK(unaligned_attention_rate), 1, 0.01, 1, 0.03, 1, 0.3,
     "unfused attention where heads are no multiple of 8 wide"},
    {STACK(elementwise_traffic), 0, 0, 100, 0.1, 6, 0.4, "share of elementwise traffic that fusion leaves"},
    {STACK(cast_traffic), 0, 0, 100, 0.05, 4, 0.5, "share of the traffic of casts that fusion leaves"},
    {STACK(expert_imbalance), 1, 1, 100, 1, 4, 0, "busiest expert over the mean"},
    {STACK(dispatch_seconds_per_byte), 0, 0, 1e-6, 1e-14, 1e-10, 0.7, "permutation of routed tokens, per byte"},
    {STACK(dispatch_per_node), 0, 0, 1, 0, 1, 0, "1: one copy of a token to each domain that needs it"},
    {STACK(expert_layer_seconds), 0, 0, 1, 1e-6, 1e-2, 0.7, "per layer with experts and microbatch"},
    {STACK(scan_expert_seconds), 0, 0, 1, 1e-6, 1e-2, 0, "that of models with mixers or joined keys, if longer"},
    {STACK(tensor_exposed), 1, 0, 1, 0.01, 1, 0.4, "exposed share of tensor collectives"},
    {STACK(expert_exposed), 1, 0, 1, 0.01, 1, 0.3, "exposed share of dispatch and combine"},
    {STACK(sequence_exposed), 1, 0, 1, 0.01, 1, 0, "exposed share of gathered keys and values"},
    {STACK(pipeline_exposed), 1, 0, 1, 0.01, 1, 0.4, "exposed share of transfers between stages"},
    {STACK(fsdp_exposed), 0, 0, 1, 0.005, 1, 0.6, "exposed share of parameter gathers"},
    {STACK(data_exposed), 0, 0, 1, 0.005, 1, 0.6, "exposed share of gradient reductions"},
    {STACK(host_exposed), 0, 0, 1, 0.005, 1, 0.6, "exposed share of offloaded activations"},
    {STACK(tensor_overlapped), 1, 0, 1, 0.01, 1, 0.4, "exposed share of tensor collectives in collective matmuls"},
    {STACK(chunk_traffic), 1, 0, 1, 0.01, 1, 0.7, "operand traffic that each chunk of a collective matmul repeats"},
    {STACK(expert_overlapped), 1, 0, 1, 0.01, 1, 0.4, "exposed share of dispatch where the schedule hides it"},
    {STACK(ring_attention_exposed), 1, 0, 1, 0.01, 1, 0.5, "exposed share of a ring's keys and values"},
    {STACK(recompute_whole), 0, 0, 1, 0, 1, 0, "1: full recomputation runs the last matmul of a layer too"},
    {STACK(layer_seconds), 0, 0, 1, 1e-6, 2e-3, 0.6, "per layer and microbatch"},
    {STACK(microbatch_seconds), 0, 0, 10, 1e-5, 1, 0.7, "per microbatch and stage"},
    {"step_seconds", offsetof(Profile, step_overhead_seconds), FIGURE_OF_STACK, 0, 0, 1000, 1e-3, 2, 0.7, "per step"},
    {STACK(host_layer_seconds), 0, 0, 1, 1e-5, 5e-2, 0.5, "least of a layer's compute in a microbatch: launches"},
    {STACK(host_tensor_seconds), 0, 0, 1, 1e-6, 5e-2, 0.6, "to that, each further tensor rank in a far pipeline"},
    {STACK(stage_message_seconds), 0, 0, 10, 1e-6, 1, 0.7, "per microbatch and chunk of a stage: messages"},
    {STACK(ring_step_seconds), 0, 0, 1e-2, 1e-8, 1e-3, 0.7, "of each step of a ring that leaves the domain"},
    {STACK(reduced_tensors), 1, 1, 1000, 1, 100, 0.7, "pieces of a layer's gradients that are all_reduced one by one"},
    {STACK(gathers_after_update), 0, 0, 1, 0, 1, 0,
     "1: ZeRO gathers weights after the update, not alongside a forward"},
    {STACK(ring_returns), 0, 0, 1, 0, 1, 0, "1: a ring's keys and values come home, their gradients are fp32"},
    {STACK(embedding_exchanged), 0, 0, 1, 0, 1, 0, "1: look-ups exchange activations, the table is not gathered"},
    {STACK(stream_split), 0, 0, 1, 0, 1, 0, "1: the residual stream is always split over tensor"},
    {STACK(slice_all_reduce), 0, 0, 1, 0, 1, 0, "1: gradients over a whole slice are all_reduced, not scattered"},
    {STACK(ring_ways), 0, 0, 1024, 0, 1024, 0, "most chips of a whole slice whose matmuls are rings"},
    {STACK(stages_stay_whole), 0, 0, 1, 0, 1, 0, "1: pipeline stages gather and reduce once a step"},
    {STACK(combines_again), 0, 0, 1, 0, 1, 0, "1: recomputation brings experts' outputs back again"},
    {STACK(gradient_bytes), 0, 0, 4, 0, 4, 0, "of a gradient reduced and kept; 0: fp32 when accumulated, else bf16"},
    {STACK(shards_seldom), 0, 0, 1, 0, 1, 0, "1: hardly any measured run of this software shards weights"},
    {STACK(casts_master), 0, 0, 1, 0, 1, 0, "1: no copy for compute stays next to the fp32 master"},
    {STACK(low_copies), 0, 0, 1, 0, 1, 0, "1: inputs and weights of linear layers are kept in their precision"},
    {STACK(low_parameters), 0, 0, 1, 0, 1, 0, "1: no bf16 copy of weights that are kept in fp8"},
    {STACK(logit_bytes), 6, 2, 32, 2, 32, 0, "of a logit, its gradient, and the loss between them"},
    {STACK(inputs_kept_apart), 0, 0, 1, 0, 1, 0, "1: inputs of blocks are kept along the sequence, not gathered"},
    {STACK(keys_kept), 0, 0, 1, 0, 1, 0, "1: gathered keys and values are kept for backward"},
    {STACK(receives_worst_case), 0, 0, 1, 0, 1, 0, "1: experts' tensors have room for the worst routing"},
    {STACK(lanes), 1, 1, 1024, 1, 1024, 0, "to a multiple of which the width of a head is padded in HBM"},
    {STACK(tensor_streams), 0, 0, 16, 0, 16, 0, "whole streams that backward has at once, over tensor"},
    {STACK(logit_chunks), 1, 1, 1024, 1, 1024, 0, "pieces of the tokens in which the loss is computed"},
    {STACK(gathers_matrices), 0, 0, 1, 0, 1, 0, "1: weights are gathered for a matmul, not for a layer"},
    {STACK(whole_program), 0, 0, 1, 0, 1, 0, "1: one compiled program: casts and gradients of all layers at once"},
    {STACK(stage_outputs_kept), 0, 0, 1, 0, 1, 0, "1: a stage keeps what it has sent on"},
    {STACK(whole_master), 0, 0, 1, 0, 1, 0, "1: ZeRO leaves the fp32 master whole"},
    {STACK(update_scratch_bytes), 0, 0, 16, 0, 16, 0, "per updated parameter: flat copies of gradients"},
    {STACK(update_copies), 0, 0, 4, 0, 4, 0, "of the second moment: temporaries of the update alone"},
    {STACK(kept_factor), 1, 0.5, 8, 0.5, 8, 0, "what is kept of a layer, over what a compiled one keeps"},
    {STACK(mlp_kept), 0, 0, 8, 0, 8, 0, "the same of what is as wide as an MLP; 0: as kept_factor"},
    {STACK(dispatched_kept), 0, 0, 32, 0, 32, 0, "more tensors of dispatched tokens that are kept, in bf16"},
    {STACK(frozen_bytes), 0, 0, 4, 0, 4, 0, "of a frozen weight as it lies; 0: as the copy for compute"},
    {STACK(bucket_bytes), 0, 0, 1e11, 0, 1e11, 0, "what gradients are reduced through"},
    {STACK(fragmentation_share), 0, 0, 1, 0, 1, 0, "of what is allocated: held by the allocator without use"},
    {STACK(context_bytes), 0, 0, 1e11, 0, 1e11, 0, "context of the device, kernels and libraries"},
    {STACK(least_reserve), 0, 0, 0.5, 0, 0.5, 0, "of HBM: where the compiler begins to recompute on its own account"},
    {STACK(optimizer_traffic), 1, 0.1, 20, 0.7, 6, 0.3, "traffic of the update over one fused pass"},
    {STACK(rank_seconds), 0, 0, 1, 1e-6, 2e-2, 0.7, "per chip that shares the optimizer's state, and step"},
};

const ProfileFigure *profile_figures(int *count) {
    *count = COUNT_OF(FIGURES);
    return FIGURES;
}

const ProfileFigure *profile_figure(const char *key) {
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++)
        if (strcmp(FIGURES[i].key, key) == 0) return &FIGURES[i];
    return NULL;
}

static bool known_key(const char *key) {
    static const char *const OTHERS[] = {"name", "source", "note", "tile_padding"};
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (strcmp(key, OTHERS[i]) == 0) return true;
    return profile_figure(key) != NULL;
}

/* The value of a figure that has its source and nothing else; NULL means that *error says what is wrong. */
static const cJSON *figure_value(const cJSON *json, const char *key, const char *where, Error *error) {
    const cJSON *figure = cJSON_GetObjectItemCaseSensitive(json, key);
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(figure, "value");
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(figure, "source");
    if (!value || !cJSON_IsString(source) || source->valuestring[0] == '\0' || cJSON_GetArraySize(figure) != 2) {
        error_set(error, ERROR_INPUT, where, "%s: is %s; give {\"value\", \"source\": text}", key,
                  figure ? "not a figure with its source" : "missing");
        return NULL;
    }
    return value;
}

static bool read_figures(const cJSON *json, const char *where, Profile *profile, Error *error) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    for (int i = 0; i < count; i++) {
        const cJSON *value = figure_value(json, figures[i].key, where, error);
        if (!value) return false;
        if (!cJSON_IsNumber(value) || !(value->valuedouble >= figures[i].low && value->valuedouble <= figures[i].high))
            return error_set(error, ERROR_INPUT, where, "%s.value: is out of range; give a number from %g to %g",
                             figures[i].key, figures[i].low, figures[i].high);
        *figure_of(profile, &figures[i]) = value->valuedouble;
    }
    const cJSON *tile = figure_value(json, "tile_padding", where, error);
    if (!tile) return false;
    if (!cJSON_IsBool(tile)) return error_set(error, ERROR_INPUT, where, "tile_padding.value: give true or false");
    profile->tile_padding = cJSON_IsTrue(tile);
    if ((profile->likely_low > 0) != (profile->likely_high > 0) ||
        (profile->likely_high > 0 && profile->likely_high < 1))
        return error_set(
            error, ERROR_INPUT, where,
            "likely_low, likely_high: are no range around 1; give 0 and 0 (not known), or e.g. 0.85 and 1.2");
    return true;
}

bool profile_from_json(const cJSON *json, const char *where, Profile *out, Error *error) {
    Profile profile = {0};
    const cJSON *child;
    if (!cJSON_IsObject(json)) return error_set(error, ERROR_INPUT, where, "a profile is an object; see cost/profiles");
    if (!json_is_plain(json, where, error)) return false;
    cJSON_ArrayForEach(child, json) {
        if (!known_key(child->string))
            return error_set(error, ERROR_INPUT, where, "%.64s: is no key of a profile; see cost/profiles/ideal.json",
                             child->string);
    }
    if (!json_text(json, "name", where, profile.name, sizeof profile.name, error) ||
        !json_text(json, "source", where, profile.source, sizeof profile.source, error) ||
        !read_figures(json, where, &profile, error))
        return false;
    if (profile.name[0] == '\0' || profile.source[0] == '\0')
        return error_set(error, ERROR_INPUT, where, "name, source: are empty; give both");
    profile.linear_efficiency = profile.matrix_efficiency;
    profile.linear_peak_ratio = 1;
    *out = profile; /* written only when all of it is right */
    return true;
}
