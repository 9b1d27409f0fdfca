/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/rules.h"

#include "base/util.h"
#include "cost/plan/shard.h"
#include "models/mixer.h"
#include "search/launch/placement.h"

#include <string.h>

bool facts_heads_divide(const PlanFacts *facts) {
    for (int i = 0; i < facts->model->kind_count; i++)
        if (kind_heads(facts->model, &facts->model->kinds[i]) % facts->tensor != 0) return false;
    return true;
}

bool facts_kv_heads_divide(const PlanFacts *facts, bool copies) {
    for (int i = 0; i < facts->model->kind_count; i++) {
        const LayerKind *kind = &facts->model->kinds[i];
        if (kind->attention == ATTENTION_LATENT || kind->kv_heads <= 0 || kind->kv_heads % facts->tensor == 0) continue;
        if (!copies || facts->tensor % kind->kv_heads != 0) return false;
    }
    return true;
}

bool facts_ulysses_divides(const PlanFacts *facts) {
    int64_t ways = facts->tensor * max_whole(1, facts->methods->ulysses);
    for (int i = 0; i < facts->model->kind_count; i++) {
        const LayerKind *kind = &facts->model->kinds[i];
        bool latent = kind->attention == ATTENTION_LATENT || kind->kv_heads <= 0;
        if (kind_heads(facts->model, kind) % ways != 0 || (!latent && kind->kv_heads % ways != 0)) return false;
    }
    return true;
}

bool facts_runs(const PlanFacts *facts, unsigned schedules) {
    return ((1u << SCHEDULE_NONE | schedules) >> facts->plan->knobs.schedule & 1) != 0;
}

bool facts_sequence_shards(const PlanFacts *facts) {
    return facts->sequence > 1 && !facts->methods->sequence_replicates;
}

bool facts_folded(const PlanFacts *facts) { return facts->methods->grid.expert > 0; }

bool facts_even_stages(const PlanFacts *facts) {
    return facts->model->layers % facts->chunks == 0 && facts->plan->knobs.stages != STAGES_SLOTS;
}

bool facts_weights_divide(const PlanFacts *facts) {
    return facts->model->d_model % facts->fsdp == 0 &&
           facts->model->d_model / facts->fsdp % (facts->sequence * facts->expert) == 0;
}

bool state_as_torch_makes(const Request *request, bool lies) {
    const StateDtypes *said = &request->requested.state_dtypes;
    Dtype unsaid = lies ? DTYPE_BF16 : DTYPE_FP32, first = said->first ? said->first : unsaid;
    Dtype second = said->second ? said->second : unsaid;
    Dtype master = said->master ? said->master : lies ? DTYPE_NONE : DTYPE_FP32;
    if (strstr(request->requested.optimizer, "8bit")) return !said->first && !said->second;
    return first == second && first == (master == DTYPE_NONE ? DTYPE_BF16 : master) && master != DTYPE_BF16;
}

LauncherSet launchers_on_tpus(void) {
    LauncherSet set = 0;
    for (int i = 0; i < launcher_count(); i++)
        if (!launcher_at(i)->gpus_only) set |= 1u << i;
    return set;
}

PaddingRule padding_on(PaddingRule rule, LauncherSet launchers, const Mesh *mesh) {
    PaddingSet pads = 0;
    if (rule == PADDING_NONE || (rule == PADDING_ANY && launchers == 0)) return rule;
    LauncherSet requested = (launchers == 0 ? launchers_all() : launchers);
    if (mesh_of_tpus(mesh)) requested &= launchers_on_tpus();
    for (int i = 0; i < launcher_count(); i++)
        if (requested >> i & 1) pads |= launcher_at(i)->pads;
    return pads == 0 ? PADDING_NONE : rule;
}

static PlanFacts facts_of(const Model *model, const Work *work, const Plan *plan, const Mesh *mesh) {
    const int64_t *degree = plan->degrees.of;
    return (PlanFacts){.model = model,
                       .plan = plan,
                       .methods = &plan->knobs.methods,
                       .tpu = mesh_of_tpus(mesh),
                       .tensor = degree[ROLE_TENSOR],
                       .expert = degree[ROLE_EXPERT],
                       .sequence = degree[ROLE_SEQUENCE],
                       .fsdp = degree[ROLE_FSDP],
                       .data = degree[ROLE_DATA],
                       .pipeline = degree[ROLE_PIPELINE],
                       .seq = work->seq,
                       .emerging = work->emerging,
                       .chunks = degree[ROLE_PIPELINE] * max_whole(1, plan->knobs.virtual_stages)};
}

/* DeepSeek-V4's layers have low ranks on both sides of heads; keys that are values too and joined, an indexer and
 * several residual streams go with them. */
static unsigned layer_features(const LayerKind *kind) {
    bool ranks = kind->attention == ATTENTION_HEADS && kind->q_lora_rank > 0, joined = ranks && kind->out_rank > 0;
    bool other = kind->cross_heads > 0 || kind->copies > 0 || kind->attention_width > 0 ||
                 (!joined && (kind->compress > 1 || kind->out_rank > 0 || kind->kv_reused != KV_OWN || ranks));
    for (int part = 0; part < PART_COUNT && !other && !joined; part++)
        other = kind->extra.matrix[part] > 0 && part != PART_SHARED_EXPERTS;
    return (kind->index_top_k > 0 ? 1u << LAYERS_INDEXED : 0) | (kind->out_gate > 0 ? 1u << LAYERS_GATED : 0) |
           (kind->expert_width > 0 ? 1u << LAYERS_LATENT_EXPERTS : 0) | (joined ? 1u << LAYERS_JOINED : 0) |
           (other ? 1u << LAYERS_OTHER : 0);
}

static bool has_mixer(const Launcher *launcher, const Mixer *mixer) {
    for (int i = 0; i < LAUNCHER_MIXERS_MAX && launcher->mixers[i]; i++)
        if (strcmp(launcher->mixers[i], mixer->name) == 0) return true;
    return false;
}

/* Whether its models have such layers. */
static const char *refusal_of_layers(const Launcher *launcher, const PlanFacts *facts) {
    static const char *const FEATURES[] = {"its models have no sparse attention with an indexer",
                                           "its models have no experts of another width than the stream",
                                           "its models have no gate on the output of attention",
                                           "its models have no keys of several tokens and outputs of low rank",
                                           "its models have no layers like this model's"};
    for (int i = 0; i < facts->model->kind_count; i++) {
        const LayerKind *kind = &facts->model->kinds[i];
        unsigned features = layer_features(kind);
        if (!kind->mixer && features == 0) continue;
        if (launcher->any_layers) {
            REFUSE_UNLESS(facts->tensor == 1 && facts->sequence == 1,
                          "tensor and sequence would have to know this model's layers");
            continue;
        }
        REFUSE_UNLESS(!kind->mixer || has_mixer(launcher, kind->mixer), "its models have no mixer like this model's");
        for (unsigned f = 0; f < COUNT_OF(FEATURES); f++)
            REFUSE_UNLESS(!(features >> f & 1) || (launcher->layers >> f & 1), FEATURES[f]);
    }
    return NULL;
}

#define REFUSES_TPUS "it speaks NCCL: for GPUs alone"

/* What degrees alone decide. */
static const char *refusal_of_degrees(const Launcher *launcher, const PlanFacts *facts) {
    REFUSE_UNLESS(!launcher->gpus_only || !facts->tpu, REFUSES_TPUS);
    const char *layers = refusal_of_layers(launcher, facts);
    return layers ? layers : launcher->refuses_degrees ? launcher->refuses_degrees(facts) : NULL;
}

/* What is left to be decided then. */
static const char *refusal_of_knobs(const Launcher *launcher, const PlanFacts *facts, PaddingSet padding) {
    REFUSE_UNLESS((padding & ~launcher->pads) == 0, "sizes do not divide, and it does not pad them");
    REFUSE_UNLESS(!facts->plan->knobs.offload_optimizer || !launcher->offloads_optimizer ||
                      launcher->offloads_optimizer(facts),
                  "it offloads the optimizer's state only where that is sharded");
    return launcher->refuses(facts);
}

static const char *refusal_of(const Launcher *launcher, const PlanFacts *facts, PaddingSet padding) {
    const char *refusal = refusal_of_degrees(launcher, facts);
    return refusal ? refusal : refusal_of_knobs(launcher, facts, padding);
}

const char *launch_refusal(int launcher, const Model *model, const Work *work, const Plan *plan, PaddingSet padding,
                           const Mesh *mesh) {
    PlanFacts facts = facts_of(model, work, plan, mesh);
    return refusal_of(launcher_at(launcher), &facts, padding);
}

const char *launcher_optimizer(const Launcher *launcher, const Request *request) {
    const char *ours = request->requested.optimizer[0] ? request->requested.optimizer : "adamw";
    const OptimizerWord *row = launcher->optimizers;
    while (row->word && strcmp(row->ours, ours) != 0) row++;
    return row->word;
}

const char *launch_refusal_of_work(int launcher, const Request *request) {
    const Launcher *requested = launcher_at(launcher);
    const Tuning *tuning = &request->question.tuning.what;
    bool tuned = tuning->on, whole = !(tuning->rank > 0) && !tuning->frozen && !(tuning->references > 0);
    REFUSE_UNLESS(!tuned || requested->fine_tunes || (whole && !tuning->on_host),
                  "it trains all weights here (--sft); adapters, frozen parts, pairs and parameters on the host are "
                  "trl's, axolotl's and llama-factory's");
    REFUSE_UNLESS(tuned || !requested->fine_tunes, "it fine-tunes; give --lora, --qlora or --sft too");
    REFUSE_UNLESS(!requested->gpus_only || chip_has_domains(&request->question.chip), REFUSES_TPUS); /* one chip too */
    REFUSE_UNLESS(!requested->optimizers || launcher_optimizer(requested, request),
                  "its files have no such optimizer; plan with --optimizer adamw");
    return requested->refuses_work ? requested->refuses_work(request) : NULL;
}

LauncherSet launchers_refusing_work(const Request *request) {
    LauncherSet set = 0;
    for (int i = 0; i < launcher_count(); i++)
        if (launch_refusal_of_work(i, request)) set |= 1u << i;
    return set;
}

/* The plainest setting with the methods, schedule and split of the layers of `like`. */
static Plan plain_plan(const Degrees *degrees, const Knobs *like) {
    const int64_t *of = degrees->of;
    Plan plan = {.degrees = *degrees, .knobs = *like};
    plan.knobs.microbatches = of[ROLE_PIPELINE];
    plan.knobs.microbatch_sequences = of[ROLE_TENSOR] * of[ROLE_SEQUENCE] * of[ROLE_PIPELINE];
    plan.knobs.virtual_stages = 1;
    plan.knobs.zero_stage = 0;
    plan.knobs.regather = true;
    plan.knobs.offload_optimizer = false;
    plan.knobs.methods.tensor_overlap = false;
    return plan;
}

LauncherSet launchers_taking_some(LauncherSet requested, const Model *model, const Work *work, const Degrees *degrees,
                                  const Knobs *like, const Mesh *mesh) {
    Plan plan = plain_plan(degrees, like);
    PlanFacts facts = facts_of(model, work, &plan, mesh);
    LauncherSet set = 0;
    for (int i = 0; i < launcher_count(); i++)
        if ((requested >> i & 1) && !refusal_of(launcher_at(i), &facts, 0)) set |= 1u << i;
    return set;
}

bool launchers_take_one(LauncherSet requested, const PlainPlans *plans) {
    Knobs like = {.stages = plans->split};
    Plan plan = plain_plan(plans->degrees, &like);
    PlanFacts facts = facts_of(plans->model, plans->work, &plan, plans->mesh);
    for (int i = 0; i < launcher_count(); i++) {
        if (!(requested >> i & 1) || refusal_of_degrees(launcher_at(i), &facts)) continue;
        for (int m = 0; m < plans->method_count; m++) {
            plan.knobs.methods = plans->methods[m];
            plan.knobs.methods.tensor_overlap = false;
            for (int s = 0; s < plans->schedule_count; s++) {
                plan.knobs.schedule = plans->schedules[s];
                if (!refusal_of_knobs(launcher_at(i), &facts, 0)) return true;
            }
        }
    }
    return false;
}

LauncherSet launchers_of_degrees(LauncherSet requested, const Model *model, const Work *work, const Degrees *degrees,
                                 const Mesh *mesh) {
    Plan plan = {.degrees = *degrees};
    PlanFacts facts = facts_of(model, work, &plan, mesh);
    LauncherSet set = 0;
    for (int i = 0; i < launcher_count(); i++)
        if ((requested >> i & 1) && !refusal_of_degrees(launcher_at(i), &facts)) set |= 1u << i;
    return set;
}

LauncherSet launchers_of_knobs(LauncherSet able, const Model *model, const Work *work, const Plan *plan,
                               PaddingSet padding, const Mesh *mesh) {
    PlanFacts facts = facts_of(model, work, plan, mesh);
    LauncherSet set = 0;
    for (int i = 0; i < launcher_count(); i++)
        if ((able >> i & 1) && !refusal_of_knobs(launcher_at(i), &facts, padding)) set |= 1u << i;
    return set;
}

LauncherSet plan_launchers(const Model *model, const Work *work, const Plan *plan, PaddingSet padding,
                           const Mesh *mesh) {
    LauncherSet able = launchers_of_degrees(launchers_all(), model, work, &plan->degrees, mesh);
    return launchers_of_knobs(able, model, work, plan, padding, mesh);
}
