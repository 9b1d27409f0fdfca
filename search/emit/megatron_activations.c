/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which activations are kept, in Megatron's words. It can recompute whole layers, so many of a stage (block); or modules
 * in all layers (selective); or send the inputs of modules to the host, in all layers. A plan says it by activation and
 * by count of layers: what has no such words becomes the cheapest of these that keeps no more. */
#include "search/emit/megatron.h"

#include "base/util.h"
#include "cost/remat.h"

#include <inttypes.h>

/* The module whose recomputation gives an activation up; those without one need whole layers. Source:
 * transformer_config.py, recompute_modules. `layernorm`: input norm and the one before the MLP; moe_act: the experts'
 * non-linearity; mlp: a dense MLP. */
typedef enum { MODULE_LAYERNORM = 1, MODULE_MOE_ACT = 2, MODULE_MLP = 4, MODULE_NONE = 8 } Module;

static Module module_of(const GpuJob *job, Activation activation) {
    bool experts = false, dense = false;
    for (int i = 0; i < job->model->kind_count; i++) {
        experts = experts || job->model->kinds[i].experts > 0;
        dense = dense || job->model->kinds[i].experts == 0;
    }
    switch (activation) {
    case ACTIVATION_ATTENTION_INPUT:
        return MODULE_LAYERNORM;
    case ACTIVATION_MLP_INPUT:
        return experts ? MODULE_NONE : MODULE_LAYERNORM; /* dispatched tokens come from no norm */
    case ACTIVATION_GATE_UP:
        return experts ? MODULE_NONE : MODULE_MLP;
    case ACTIVATION_PRODUCT:
        return experts && dense ? MODULE_MOE_ACT | MODULE_MLP : experts ? MODULE_MOE_ACT : MODULE_MLP;
    default:
        return MODULE_NONE;
    }
}

/* The module whose input an activation is (transformer_config.py, offload_modules); NULL: none. */
static const char *offload_module(const GpuJob *job, Activation activation) {
    static const char *const INPUTS[ACTIVATION_COUNT] = {
        [ACTIVATION_LAYER_INPUT] = "attn_norm", [ACTIVATION_ATTENTION_INPUT] = "qkv_linear",
        [ACTIVATION_QKV] = "core_attn",         [ACTIVATION_CONTEXT] = "attn_proj",
        [ACTIVATION_MIDDLE] = "mlp_norm",       [ACTIVATION_MLP_INPUT] = "expert_fc1",
        [ACTIVATION_GATE_UP] = "moe_act"};
    for (int i = 0; i < job->model->kind_count; i++)
        if (job->model->kinds[i].experts == 0 && activation >= ACTIVATION_MLP_INPUT) return NULL;
    return INPUTS[activation];
}

typedef enum { KEEP_ALL, RECOMPUTE_MODULES, RECOMPUTE_LAYERS, OFFLOAD_MODULES } Way;
typedef struct {
    Way way;
    unsigned modules; /* a bit per Module, or per Activation that is offloaded */
    int64_t layers;   /* of a stage, recomputed whole */
    bool exact;       /* what the plan says */
} Choice;

static bool is_offload(const GpuJob *job, Choice *out) {
    unsigned sent = 0;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
        const int64_t *layers = job->ranked->plan.layout.layers[a];
        if (!activation_exists(job->model, a) || gpu_job_dropped(job, a) == 0) continue;
        if (layers[STATE_OFFLOADED] != job->layers || !offload_module(job, a)) return false;
        sent |= 1u << a;
    }
    /* transformer_config.py: attn_proj's input is core_attn's output, which its backward needs: not without core_attn */
    if ((sent >> ACTIVATION_CONTEXT & 1) && !(sent >> ACTIVATION_QKV & 1)) return false;
    *out = (Choice){.way = OFFLOAD_MODULES, .modules = sent, .exact = true};
    return sent != 0;
}

static Choice choose(const GpuJob *job) {
    Choice choice = {.exact = true};
    const Layout *layout = &job->ranked->plan.layout;
    int64_t most = gpu_job_dropped_most(job);
    unsigned modules = 0;
    bool everywhere = true, all = true;
    if (is_offload(job, &choice)) return choice;
    for (Activation a = ACTIVATION_ATTENTION_INPUT; a < ACTIVATION_COUNT; a++) {
        if (!activation_exists(job->model, a)) continue;
        int64_t dropped = gpu_job_dropped(job, a);
        bool offloaded = layout->layers[a][STATE_OFFLOADED] > 0;
        if (dropped > 0) modules |= module_of(job, a);
        all = all && dropped == most && !offloaded;
        everywhere = everywhere && (dropped == 0 || (dropped == job->layers && !offloaded));
    }
    int64_t inputs = gpu_job_layers_for_inputs(job);
    if (inputs > 0) return (Choice){.way = RECOMPUTE_LAYERS, .layers = max_whole(most, inputs)};
    if (most == 0) return (Choice){.way = KEEP_ALL, .exact = true};
    /* Norms and non-linearities cost next to nothing to make again; an MLP is worth it where nearly all layers do. */
    bool cheap = !(modules & MODULE_MLP) || gpu_job_dropped(job, ACTIVATION_GATE_UP) * 2 > job->layers ||
                 gpu_job_dropped(job, ACTIVATION_PRODUCT) * 2 > job->layers;
    if (!(modules & MODULE_NONE) && cheap)
        return (Choice){.way = RECOMPUTE_MODULES, .modules = modules, .exact = everywhere};
    return (Choice){.way = RECOMPUTE_LAYERS, .layers = most, .exact = all};
}

const char *megatron_cannot_offload(const GpuJob *job) {
    Choice choice = choose(job);
    return choice.way == RECOMPUTE_LAYERS && choice.layers > job->layers
               ? "it keeps the inputs of layers that it recomputes, which this plan has on the host; plan with --remat "
                 "full"
               : NULL;
}

/* --recompute-num-layers counts those of a chunk (transformer_block.py goes over its own layers): enough for the stage. */
static int64_t layers_of_chunk(const GpuJob *job, int64_t layers) { return divide_up(layers, job->virtual_stages); }

static void list(FILE *out, const char *word, bool *first) {
    fprintf(out, " %s", word);
    *first = false;
}

void megatron_write_activations(const GpuJob *job, FILE *out) {
    Choice choice = choose(job);
    bool first = true;
    switch (choice.way) {
    case KEEP_ALL:
        return;
    case RECOMPUTE_MODULES:
        fprintf(out, "    --recompute-granularity selective\n    --recompute-modules");
        if (choice.modules & MODULE_LAYERNORM) list(out, "layernorm", &first);
        if (choice.modules & MODULE_MOE_ACT) list(out, "moe_act", &first);
        if (choice.modules & MODULE_MLP) list(out, "mlp", &first);
        break;
    case RECOMPUTE_LAYERS:
        if (choice.layers == job->layers) /* each by itself, whatever a chunk has */
            fprintf(out,
                    "    --recompute-granularity full\n    --recompute-method uniform\n    --recompute-num-layers 1");
        else
            fprintf(
                out,
                "    --recompute-granularity full\n    --recompute-method block\n    --recompute-num-layers %" PRId64,
                layers_of_chunk(job, choice.layers));
        break;
    case OFFLOAD_MODULES:
        fprintf(out, "    --fine-grained-activation-offloading\n    --offload-modules");
        for (Activation a = 0; a < ACTIVATION_COUNT; a++)
            if (choice.modules >> a & 1) list(out, offload_module(job, a), &first);
        break;
    }
    fprintf(out, "\n");
}

void megatron_note_activations(const GpuJob *job, EmitNotes *notes) {
    char text[ACTIVATIONS_TEXT_SIZE];
    Choice choice = choose(job);
    if (choice.exact) return;
    if (choice.way == RECOMPUTE_LAYERS)
        emit_note(notes,
                  "Megatron recomputes whole layers: %" PRId64
                  " of a stage, which keeps no more than the plan does and "
                  "takes longer; --remat full:%" PRId64 " costs that",
                  choice.layers, choice.layers);
    else
        emit_note(notes, "Megatron recomputes modules in all layers, which keeps no more than the plan does");
    emit_note(notes, "the plan's activations: %s", gpu_job_activations(job, text));
}
