/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything of a layout that no batch changes: kernels as a floor, the seconds of their weights and the seconds of a
 * token. */
#include "base/util.h"
#include "cost/serving/cache.h"
#include "cost/serving/step.h"
#include "models/mixer.h"

#include <math.h>

typedef struct {
    const ServedModel *served;
    const WorkerLayout *layout;
    const WorkerLinks *links;
} Planning;

static StepKernel kernel(const Planning *to, double parameters, StoredType type, bool of_group) {
    const ServingProfile *profile = to->served->profile;
    const Chip *device = to->served->device;
    Arithmetic arithmetic = stored_arithmetic(type, device);
    double hbm = device->hbm_bytes_per_second.value * profile->matmul_hbm_share[arithmetic];
    double peak = arithmetic_peak(device, arithmetic) * profile->matmul_flops_share[arithmetic];
    return (StepKernel){profile->matmul_floor_seconds[arithmetic], parameters * stored_bytes(type) / hbm,
                        2 * parameters / peak, of_group, profile->knee};
}

/* Keys that an indexer chooses, which is whole on every chip of a tensor group. Heads of a prompt work on latents, in
 * blocks that a few heads do not fill; prompts that are no longer than what is chosen are multiplied as any. */
static void plan_chosen(const Planning *to, const LayerKind *kind, double absorbed, StepKind *out) {
    const ServingProfile *profile = to->served->profile;
    const Chip *device = to->served->device;
    bool latent = kind->attention == ATTENTION_LATENT, narrow = to->layout->cache != STORED_BF16;
    Arithmetic scores = stored_arithmetic(STORED_FP8, device);
    double hbm = device->hbm_bytes_per_second.value * profile->latent_hbm_share[0];
    double keys = 1 / (double)max_whole(1, kind->compress), heads = (double)kind->heads / (double)to->layout->tensor;
    double filled = heads / max_real(heads, profile->sparse_heads[narrow]);
    double chosen = (double)(kind->index_top_k + (kind->compress > 1 ? kind->window : 0));
    out->window = out->prompt_window = chosen / keys;
    out->prompt_launch = profile->sparse_launch_seconds;
    if (latent) {
        out->prompt_window *=
            absorbed / filled * profile->prefill_attention_flops_share / profile->sparse_flops_share[narrow];
        out->pair_seconds /= filled;
        if (profile->sparse_heads[narrow] > 1) out->sparse_context = out->window / 2;
    }
    if (!(kind->index_heads > 0)) return;
    double width = keys * (double)kind->index_head_dim;
    out->index_floor = profile->index_floor_seconds;
    out->index_key_seconds = keys * profile->index_key_seconds;
    out->index_seconds = INDEX_KEY_BYTES * width / (double)to->layout->kv_sequence / hbm;
    out->index_pair_seconds =
        2 * (double)kind->index_heads * width / (arithmetic_peak(device, scores) * profile->index_flops_share);
}

/* Decode reads the cache and multiplies each of its tokens with every query head; a prompt's tokens multiply alone,
 * since a block of them shares what is read. */
static void plan_attention(const Planning *to, const LayerKind *kind, StepKind *out) {
    const ServingProfile *profile = to->served->profile;
    const Chip *device = to->served->device;
    const WorkerLayout *layout = to->layout;
    bool latent = kind->attention == ATTENTION_LATENT, narrow = layout->cache != STORED_BF16;
    double share = latent ? profile->latent_hbm_share[narrow] : profile->attention_hbm_share[narrow];
    double heads = (double)kind->heads / (double)layout->tensor, peak = device->bf16_flops_per_second.value;
    double decode = latent ? 2 * (double)(2 * kind->kv_lora_rank + kind->qk_rope_head_dim) : 4 * (double)kind->head_dim;
    double prompt = latent ? 2 * (double)(kind->qk_nope_head_dim + kind->qk_rope_head_dim + kind->v_head_dim)
                           : 4 * (double)kind->head_dim;
    out->attention_floor = latent ? profile->latent_floor_seconds : profile->attention_floor_seconds;
    out->cached_seconds = attended_bytes_per_layer(kind, stored_bytes(layout->cache)) *
                          cache_share_of_chip(kind, layout->tensor, 1) / (double)layout->kv_sequence /
                          (device->hbm_bytes_per_second.value * share);
    /* Where copies of a head divide sequences or tokens among them, each serves the queries of all: as many FLOPs. */
    out->pair_seconds = decode * heads / peak;
    out->prompt_pair_seconds = prompt * heads / (peak * profile->prefill_attention_flops_share);
    out->window = out->prompt_window = (double)kind->window;
    out->sparse_context = INFINITY;
    if (kind->index_top_k > 0) plan_chosen(to, kind, decode / prompt, out);
    if (kind->compress > 1) {
        if (kind->index_top_k == 0) out->window = out->prompt_window = 0; /* all joined entries, however far */
        out->pair_seconds /= (double)kind->compress;
        out->prompt_pair_seconds /= (double)kind->compress;
    }
}

/* The state in and out for each sequence that decodes; for a prompt what the core reads and writes, and its
 * products. */
static void plan_scan(const Planning *to, const LayerKind *kind, StepKind *out) {
    const ServingProfile *profile = to->served->profile;
    const Chip *device = to->served->device;
    const Model *model = to->served->model;
    double tensor = (double)to->layout->tensor;
    double hbm = device->hbm_bytes_per_second.value * profile->attention_hbm_share[0];
    double peak = device->bf16_flops_per_second.value * profile->prefill_attention_flops_share;
    MixerPart parts[MIXER_PARTS_MAX];
    for (int i = 0, count = kind->mixer->parts(model, kind, parts); i < count; i++) {
        const MixerPart *part = &parts[i];
        double share = mixer_share(part, tensor);
        if (part->kind == MIXER_MATMUL) continue;
        out->scan_floor += profile->attention_floor_seconds * (part->kind == MIXER_CORE);
        out->scan_bytes_seconds += share * (2 * (double)(part->read + part->written) + 8 * part->moved_float) / hbm;
        out->scan_token_seconds += mixer_flops_share(part, tensor) * part->flops / peak;
    }
    out->state_seconds = 2 * state_bytes_per_layer(model, kind, to->layout->tensor) / hbm;
}

static void plan_experts(const Planning *to, const WorkerMatrices *matrices, StepKind *out) {
    const ServingProfile *profile = to->served->profile;
    const Chip *device = to->served->device;
    if (!(matrices->experts > 0)) return;
    StoredType type = matrix_type(to->served->model, to->layout, profile, true, true);
    ExpertKind bits = type == STORED_BF16 ? EXPERT_BF16 : type == STORED_FP8 ? EXPERT_FP8 : EXPERT_NARROW;
    double peak = arithmetic_peak(device, stored_arithmetic(type, device)) * profile->expert_flops_share[bits];
    double hbm = device->hbm_bytes_per_second.value * profile->expert_hbm_share[bits];
    double each = to->links->balanced ? profile->balanced_skew : profile->routing_skew;
    double skew = 1 + each * log2((double)matrices->expert_ranks);
    double all = matrices->experts * matrices->expert_parameters;
    out->expert_share = matrices->expert_share;
    out->experts_floor = profile->expert_floor_seconds[bits];
    out->experts_bytes_seconds = all * stored_bytes(type) / hbm;
    double rows = matrices->experts * matrices->expert_share * min_real(skew, (double)matrices->expert_ranks);
    out->experts_token_seconds = 2 * rows * matrices->expert_parameters / peak;
    out->experts_move_seconds =
        rows * matrices->expert_width * profile->expert_token_bytes[bits] / device->hbm_bytes_per_second.value;
}

/* Behind each matmul two small ones, into the rank and out of it, in 16 bits: Punica's shrink and expand. */
static void plan_adapters(const Planning *to, const WorkerMatrices *matrices, StepKind *out) {
    const ServingProfile *profile = to->served->profile;
    const Chip *device = to->served->device;
    double numbers = (double)to->served->adapters.rank * matrices->adapter_width;
    double hbm = device->hbm_bytes_per_second.value * profile->matmul_hbm_share[ARITHMETIC_BF16];
    double peak = device->bf16_flops_per_second.value * profile->matmul_flops_share[ARITHMETIC_BF16];
    if (to->served->adapters.count == 0) return;
    out->adapter_floor = 2 * matrices->adapter_matmuls * profile->matmul_floor_seconds[ARITHMETIC_BF16];
    out->adapter_bytes_seconds = 2 * (double)to->served->adapters.count * numbers / hbm;
    out->adapter_token_seconds = 2 * numbers / peak;
}

/* Two all_reduces over tensor, behind attention and behind the MLP. Where groups of tensor share experts, tokens go to
 * them and back instead; where they share the MLPs of a dense model, tokens are gathered and scattered. */
static void plan_kind(const Planning *to, const LayerKind *kind, double stage_share, StepKind *out) {
    WorkerMatrices matrices;
    const Model *model = to->served->model;
    worker_matrices(model, kind, to->layout, &matrices);
    *out = (StepKind){.layers = (double)kind->count * stage_share, .kernel_count = matrices.count};
    for (int i = 0; i < matrices.count; i++) {
        const WorkerMatrix *matrix = &matrices.list[i];
        StoredType type = matrix_type(model, to->layout, to->served->profile, false, matrix->quantised);
        out->kernels[i] = kernel(to, matrix->parameters, type, matrix->of_group);
    }
    if (kind->heads > 0) plan_attention(to, kind, out);
    if (kind->mixer) plan_scan(to, kind, out);
    plan_experts(to, &matrices, out);
    plan_adapters(to, &matrices, out);
    bool shared = to->layout->attention_data > 1, mixes = kind_mixes(kind), mlp = kind->d_ff > 0 || kind->experts > 0;
    out->exchanges = shared && matrices.experts > 0;
    out->collects = shared && !model_has_experts(model) && mlp;
    out->blocks = mixes + mlp;
    out->reduces = out->blocks - (out->exchanges || out->collects || kind->parallel_block);
}

static double widest_query(const Model *model) {
    double widest = 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        double width = kind->attention == ATTENTION_LATENT ? (double)(kind->kv_lora_rank + kind->qk_rope_head_dim)
                                                           : (double)kind->head_dim;
        widest = max_real(widest, (double)kind->heads * width);
    }
    return widest;
}

static double widest_hidden(const Model *model) {
    double widest = 0;
    for (int i = 0; i < model->kind_count; i++) widest = max_real(widest, (double)model->kinds[i].d_ff);
    return widest;
}

void step_plan(const ServedModel *served, const WorkerLayout *layout, const WorkerLinks *links, StepPlan *out) {
    Planning to = {served, layout, links};
    const Model *model = served->model;
    const ServingProfile *profile = served->profile;
    double longest = (double)divide_up(model->layers, layout->pipeline), routed = 0, sent = 0;
    *out = (StepPlan){.kind_count = model->kind_count, .links = *links, .layout = *layout};
    for (int i = 0; i < model->kind_count; i++) {
        plan_kind(&to, &model->kinds[i], longest / (double)model->layers, &out->kinds[i]);
        const LayerKind *kind = &model->kinds[i];
        double width = (double)(kind->expert_width > 0 ? kind->expert_width : model->d_model);
        if ((double)kind->top_k * width > routed * sent) routed = (double)kind->top_k, sent = width;
    }
    out->head = kernel(&to, head_parameters(model, layout), matrix_type(model, layout, profile, false, false), false);
    out->token_bytes = 2 * (double)model->d_model;
    out->query_bytes = 2 * widest_query(model);
    out->wide_bytes = 2 * widest_hidden(model);
    double copies = routed * (double)layout->expert_tensor; /* each rank that has a part of an expert gets the token */
    out->dispatch_bytes = copies * profile->dispatch_bytes * sent;
    out->combine_bytes = copies * 2 * sent;
    out->layer_seconds = profile->layer_seconds;
    out->step_seconds = profile->step_seconds;
    out->sequence_seconds = profile->sequence_seconds;
    out->prompt_extra = profile->prompt_extra;
    out->knee = profile->knee;
    out->kernel_extra = profile->kernel_extra;
    out->expert_extra = profile->expert_extra;
    out->message_extra = profile->message_extra;
    out->exchange_extra = links->wide ? 0 : profile->message_extra; /* fitted within domains */
    out->two_batches = links->wide && layout->expert > 1 && profile->two_batches > 0;
    out->overlap = profile->overlap;
    out->draft_share = profile->draft_share;
    out->pipeline_share = layout->pipeline > 1 ? profile->pipeline_share : 1;
    out->layers = longest;
    out->speculation = served->speculation;
    out->adapters = served->adapters;
}
