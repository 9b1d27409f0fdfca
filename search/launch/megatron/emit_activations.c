/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which activations are kept, in Megatron's words. It can recompute whole layers, so many of a stage (block); or
 * modules in all layers (selective); or send the inputs of modules to the host, in all layers. A plan says it by
 * activation and by count of layers: what has no such words becomes the cheapest of these that keeps no more. */
#include "search/launch/megatron/megatron.h"

#include "base/util.h"
#include "cost/state/remat.h"

#include <inttypes.h>

typedef enum { KEEP_ALL, RECOMPUTE_MODULES, RECOMPUTE_LAYERS, OFFLOAD_MODULES } Way;
typedef struct {
    Way way;
    unsigned modules; /* a bit per MegatronModule, or per Activation that is offloaded */
    int64_t layers;   /* of a stage, recomputed whole */
    bool exact;       /* what the plan says */
} Choice;

static bool is_offload(const LaunchJob *job, Choice *out) {
    unsigned sent = 0;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
        const int64_t *layers = job->ranked->plan.layout.layers[a];
        if (!activation_exists(job->model, a) || job_dropped(job, a) == 0) continue;
        if (layers[STATE_OFFLOADED] != job->layers) return false;
        sent |= 1u << a;
    }
    *out = (Choice){.way = OFFLOAD_MODULES, .modules = sent, .exact = true};
    return sent != 0 && megatron_offloads(job->model, sent);
}

static Choice choose(const LaunchJob *job) {
    Choice choice = {.exact = true};
    const Layout *layout = &job->ranked->plan.layout;
    int64_t most = job_dropped_most(job);
    unsigned modules = 0;
    bool everywhere = true, all = true;
    if (is_offload(job, &choice)) return choice;
    for (Activation a = ACTIVATION_ATTENTION_INPUT; a < ACTIVATION_COUNT; a++) {
        if (!activation_exists(job->model, a)) continue;
        int64_t dropped = job_dropped(job, a);
        bool offloaded = layout->layers[a][STATE_OFFLOADED] > 0;
        if (dropped > 0) modules |= megatron_modules(job->model, a);
        all = all && dropped == most && !offloaded;
        everywhere = everywhere && (dropped == 0 || (dropped == job->layers && !offloaded));
    }
    int64_t inputs = job_layers_for_inputs(job);
    if (inputs > 0) return (Choice){.way = RECOMPUTE_LAYERS, .layers = max_whole(most, inputs)};
    if (most == 0) return (Choice){.way = KEEP_ALL, .exact = true};
    /* Norms and non-linearities cost next to nothing to make again; an MLP is worth it where nearly all layers do. */
    bool cheap = !(modules & MEGATRON_MLP) || job_dropped(job, ACTIVATION_GATE_UP) * 2 > job->layers ||
                 job_dropped(job, ACTIVATION_PRODUCT) * 2 > job->layers;
    if (!(modules & MEGATRON_NONE) && cheap)
        return (Choice){.way = RECOMPUTE_MODULES, .modules = modules, .exact = everywhere};
    return (Choice){.way = RECOMPUTE_LAYERS, .layers = most, .exact = all};
}

const char *megatron_cannot_offload(const LaunchJob *job) {
    Choice choice = choose(job);
    return choice.way == RECOMPUTE_LAYERS && choice.layers > job->layers
               ? "it keeps the inputs of layers that it recomputes, which this plan has on the host; plan with --remat "
                 "full"
               : NULL;
}

/* --recompute-num-layers counts those of a chunk (transformer_block.py goes over its own layers): enough for the
 * stage. */
static int64_t layers_of_chunk(const LaunchJob *job, int64_t layers) { return divide_up(layers, job->virtual_stages); }

void megatron_write_activations(const LaunchJob *job, FILE *out) {
    Choice choice = choose(job);
    switch (choice.way) {
    case KEEP_ALL:
        return;
    case RECOMPUTE_MODULES:
        fprintf(out, "    --recompute-granularity selective\n    --recompute-modules");
        if (choice.modules & MEGATRON_LAYERNORM) fputs(" layernorm", out);
        if (choice.modules & MEGATRON_MOE_ACT) fputs(" moe_act", out);
        if (choice.modules & MEGATRON_MLP) fputs(" mlp", out);
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
            if (choice.modules >> a & 1) fprintf(out, " %s", megatron_input(job->model, a));
        break;
    }
    fprintf(out, "\n");
}

void megatron_note_activations(const LaunchJob *job, EmitNotes *notes) {
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
    emit_note(notes, "the plan's activations: %s", job_activations(job, text));
}
