/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Megatron can be configured to recompute and to offload: nothing; whole layers, a number of them in a stage
 * (--recompute-method block); modules in all layers (selective: layernorm, mlp or moe_act); of models all of whose
 * layers have experts, the inputs of modules to the host instead. How that is written and read. Source:
 * core/transformer/transformer_config.py recompute_granularity, recompute_modules, offload_modules (d98e8a64dd). */
#include "search/launch/megatron/megatron.h"

#include "base/util.h"
#include "cost/state/remat.h"

#include <inttypes.h>
#include <string.h>

/* Modules, recomputed in all layers (--recompute-modules). `layernorm`: input norm and the one before the MLP;
 * `moe_act`: the experts' non-linearity; `mlp`: a dense MLP. */
typedef enum { MEGATRON_LAYERNORM = 1, MEGATRON_MOE_ACT = 2, MEGATRON_MLP = 4, MEGATRON_NONE = 8 } MegatronModule;

/* The set of modules that have to be recomputed so that an activation is given up; MEGATRON_NONE: that needs whole
 * layers. */
static unsigned modules_of(const Model *model, Activation activation) {
    bool experts = model_layers_with(model, true) > 0, dense = model_layers_with(model, false) > 0;
    switch (activation) {
    case ACTIVATION_ATTENTION_INPUT:
        return MEGATRON_LAYERNORM;
    case ACTIVATION_MLP_INPUT:
        return experts ? MEGATRON_NONE : MEGATRON_LAYERNORM; /* dispatched tokens come from no norm */
    case ACTIVATION_GATE_UP:
        return experts ? MEGATRON_NONE : MEGATRON_MLP;
    case ACTIVATION_PRODUCT:
        return !experts ? MEGATRON_MLP : dense ? MEGATRON_MOE_ACT | MEGATRON_MLP : MEGATRON_MOE_ACT;
    default:
        return MEGATRON_NONE;
    }
}

/* The module whose input an activation is (--offload-modules); NULL: none. */
static const char *input_of(const Model *model, Activation activation) {
    static const char *const INPUTS[ACTIVATION_COUNT] = {
        [ACTIVATION_LAYER_INPUT] = "attn_norm", [ACTIVATION_ATTENTION_INPUT] = "qkv_linear",
        [ACTIVATION_QKV] = "core_attn",         [ACTIVATION_CONTEXT] = "attn_proj",
        [ACTIVATION_MIDDLE] = "mlp_norm",       [ACTIVATION_MLP_INPUT] = "expert_fc1",
        [ACTIVATION_GATE_UP] = "moe_act"};
    bool of_experts = activation >= ACTIVATION_MLP_INPUT;
    return of_experts && model_layers_with(model, false) > 0 ? NULL : INPUTS[activation];
}

/* Whether it can send a set of activations, a bit each, to the host in all layers. */
static bool can_offload(const Model *model, unsigned activations) {
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        if ((activations >> a & 1) && !input_of(model, a)) return false;
    /* attn_proj's input is core_attn's output, which its backward needs: not without core_attn */
    return !(activations >> ACTIVATION_CONTEXT & 1) || (activations >> ACTIVATION_QKV & 1);
}

const char *megatron_remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]) {
    static const char *const NAMES[] = {"layernorm", "moe_act", "mlp"};
    int64_t some, layers = 0;
    const char *policy = remat_policy(model, layout, &some);
    for (int s = 0; s < STATE_COUNT; s++) layers += layout->layers[ACTIVATION_LAYER_INPUT][s];
    if (!policy) return NULL;
    if (strcmp(policy, "full") == 0) {
        snprintf(text, REMAT_TEXT_SIZE,
                 "--recompute-granularity full --recompute-method block --recompute-num-layers %" PRId64,
                 some > 0 ? some : layers);
        return text;
    }
    if (some > 0) return NULL;
    if (strcmp(policy, "none") == 0) return strcpy(text, "no recomputation");
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (strcmp(policy, NAMES[i]) == 0) {
            snprintf(text, REMAT_TEXT_SIZE, "--recompute-granularity selective --recompute-modules %s", policy);
            return text;
        }
    return NULL;
}

static void add_modules(RematList *list, const Model *model, unsigned modules) {
    ActivationState state[ACTIVATION_COUNT];
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        state[a] = (modules_of(model, a) & ~modules) == 0 ? STATE_RECOMPUTED : STATE_SAVED;
    remat_list_add(list, state, 0);
}

/* Inputs of modules to the host. */
static void add_offloads(RematList *list, const Model *model) {
    for (unsigned set = 1; set < 1u << ACTIVATION_COUNT; set++) {
        ActivationState state[ACTIVATION_COUNT];
        if (!can_offload(model, set)) continue;
        for (int a = 0; a < ACTIVATION_COUNT; a++) state[a] = set >> a & 1 ? STATE_OFFLOADED : STATE_SAVED;
        remat_list_add(list, state, 0);
    }
}

void megatron_remat_rules(RematList *list, const Model *model) {
    static const unsigned NORMS = MEGATRON_LAYERNORM, MLPS = MEGATRON_MOE_ACT | MEGATRON_MLP;
    remat_list_add_none(list);
    for (int64_t layers = 1; layers <= model->layers; layers++) remat_list_add_full(list, layers);
    add_modules(list, model, NORMS);
    add_modules(list, model, MLPS);
    add_modules(list, model, NORMS | MLPS);
    if (model_layers_with(model, false) == 0) add_offloads(list, model);
}

/* ---- written ---- */

/* All modules that it can be given. Flash attention makes core_attn again by itself; a whole mixture of experts is
 * priced as its non-linearity, or more where no layer is dense. */
static const struct {
    const char *name;
    unsigned priced_as; /* bits of MegatronModule */
    Activation more;    /* that it also makes again, GATE_UP where no layer is dense; LAYER_INPUT: none */
    bool written;
} MODULES[] = {
    {"core_attn", 0, 0, false},
    {"layernorm", MEGATRON_LAYERNORM, 0, true},
    {"moe_act", MEGATRON_MOE_ACT, 0, true},
    {"mla_up_proj", 0, ACTIVATION_QKV, false},
    {"mlp", MEGATRON_MLP, 0, true},
    {"moe", MEGATRON_MOE_ACT, ACTIVATION_GATE_UP, false},
    {"shared_experts", 0, 0, false},
};

/* Which activations are kept: a plan says it by activation and by count of layers; what has no such words becomes the
 * cheapest of these ways that keeps no more. */
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
    return sent != 0 && can_offload(job->model, sent);
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
        if (dropped > 0) modules |= modules_of(job->model, a);
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
    LaunchTerms terms = {{[TERM_GRANULARITY] = GRANULARITY_FULL,
                          [TERM_METHOD] = METHOD_BLOCK,
                          [TERM_RECOMPUTED] = layers_of_chunk(job, choice.layers)}};
    switch (choice.way) {
    case KEEP_ALL:
        return;
    case RECOMPUTE_MODULES:
        terms.of[TERM_GRANULARITY] = GRANULARITY_SELECTIVE;
        keys_write(job->launcher->keys, "g", &terms, KEYS_FLAGS, out);
        fprintf(out, "    --recompute-modules");
        for (size_t m = 0; m < COUNT_OF(MODULES); m++)
            if (MODULES[m].written && (choice.modules & MODULES[m].priced_as)) fprintf(out, " %s", MODULES[m].name);
        break;
    case RECOMPUTE_LAYERS:
        if (choice.layers == job->layers) /* each by itself, whatever a chunk has */
            terms.of[TERM_METHOD] = METHOD_UNIFORM, terms.of[TERM_RECOMPUTED] = 1;
        keys_write(job->launcher->keys, "gr", &terms, KEYS_FLAGS, out);
        return;
    case OFFLOAD_MODULES:
        fprintf(out, "    --fine-grained-activation-offloading\n    --offload-modules");
        for (Activation a = 0; a < ACTIVATION_COUNT; a++)
            if (choice.modules >> a & 1) fprintf(out, " %s", input_of(job->model, a));
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

/* ---- read ---- */

/* States of all activations but the layer's input, as --remat has them. */
static void say_states(const ActivationState state[ACTIVATION_COUNT], ImportedPlan *plan) {
    RematRule rule = {.required = true};
    memcpy(rule.state, state, sizeof rule.state);
    remat_text(&rule, plan->remat);
}

/* As the writer has it: an activation is made again where all modules that it takes are (modules_of()). */
static void read_selective(ConfigFile *file, const Model *model, ImportedPlan *plan) {
    const char *items[16];
    int count = config_list(file, config_text(file, "recompute-modules", "core_attn"), items, (int)COUNT_OF(items));
    ActivationState state[ACTIVATION_COUNT] = {STATE_SAVED};
    bool dense = model_layers_with(model, false) > 0;
    unsigned modules = 0;
    for (int i = 0; i < count && i < (int)COUNT_OF(items); i++) {
        size_t m = 0;
        while (m < COUNT_OF(MODULES) && strcmp(items[i], MODULES[m].name) != 0) m++;
        if (m == COUNT_OF(MODULES)) {
            config_note(file, "recompute-modules: %.40s is not priced", items[i]);
            continue;
        }
        modules |= MODULES[m].priced_as;
        Activation more = MODULES[m].more;
        if (more && (more != ACTIVATION_GATE_UP || !dense)) state[more] = STATE_RECOMPUTED;
    }
    for (Activation a = 1; a < ACTIVATION_COUNT; a++)
        if ((modules_of(model, a) & ~modules) == 0) state[a] = STATE_RECOMPUTED;
    if ((modules & MEGATRON_MLP) && dense && model_layers_with(model, true) > 0 && !(modules & MEGATRON_MOE_ACT))
        config_note(file, "recompute-modules: mlp is that of dense layers alone, which is not priced");
    say_states(state, plan);
}

/* --offload-modules: the inputs of which go to the host, in all layers. */
static void read_offloads(ConfigFile *file, const Model *model, ImportedPlan *plan) {
    const char *items[16];
    int count = config_list(file, config_text(file, "offload-modules", ""), items, (int)COUNT_OF(items));
    ActivationState state[ACTIVATION_COUNT] = {STATE_SAVED};
    for (int i = 0; i < count && i < (int)COUNT_OF(items); i++) {
        Activation a = 0;
        while (a < ACTIVATION_COUNT && (!input_of(model, a) || strcmp(items[i], input_of(model, a)) != 0)) a++;
        if (a < ACTIVATION_COUNT)
            state[a] = STATE_OFFLOADED;
        else
            config_note(file, "offload-modules: %.40s is not priced", items[i]);
    }
    say_states(state, plan);
}

bool megatron_import_remat(ConfigFile *file, const Request *request, const LaunchTerms *terms, int64_t chunks,
                           ImportedPlan *plan, Error *error) {
    int64_t layers = terms->of[TERM_RECOMPUTED], granularity = terms->of[TERM_GRANULARITY];
    int64_t of_stage = divide_up(request->question.model.layers, plan->degrees.of[ROLE_PIPELINE]);
    int64_t of_chunk = divide_up(of_stage, chunks), method = terms->of[TERM_METHOD];
    config_text(file, "distribute-saved-activations", "");
    bool offloads;
    if (!config_flag(file, "fine-grained-activation-offloading", false, &offloads, error)) return false;
    if (terms->of[TERM_SELECTIVE] || granularity == GRANULARITY_SELECTIVE)
        return read_selective(file, &request->question.model, plan), true;
    if (granularity == GRANULARITY_NONE) return read_offloads(file, &request->question.model, plan), true;
    if (granularity != GRANULARITY_FULL || (method != METHOD_BLOCK && method != METHOD_UNIFORM))
        return config_wrong(
            file, NULL, "recompute-granularity", error,
            "\"%.30s\" with method \"%.30s\" is none; give selective, or full with method uniform or block",
            config_text(file, "recompute-granularity", ""), config_text(file, "recompute-method", ""));
    if (layers == 0 || layers > of_chunk)
        return config_wrong(file, NULL, "recompute-num-layers", error,
                            "is %" PRId64 "; with full recomputation Megatron wants 1 to %" PRId64
                            ", the layers of a stage",
                            layers, of_stage);
    if (method == METHOD_UNIFORM && layers > 1)
        config_note(file, "recompute-method uniform is priced as one checkpoint a layer");
    if (method == METHOD_BLOCK && layers < of_chunk)
        snprintf(plan->remat, sizeof plan->remat, "full:%" PRId64, layers * chunks);
    else
        snprintf(plan->remat, sizeof plan->remat, "full");
    return true;
}
