/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/maxtext/maxtext.h"

#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/launch/placement.h"
#include "search/launch/rules.h"

#include <inttypes.h>
#include <string.h>

/* ---- what it refuses ---- */

static bool has_windows_or_sinks(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].window > 0 || model->kinds[i].sinks) return true;
    return false;
}

static bool has_latents(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].attention == ATTENTION_LATENT) return true;
    return false;
}

/* configs/types.py: stages * repeats * layers_per_stage == layers; microbatches % stages == 0. Its loop over stages is
 * a scan that JAX differentiates as a whole, so all forwards come before all backwards: GPipe with one repeat,
 * circular with more. A stage is one kind of layer (layers/nnx_decoders.py): DeepSeek's dense layers stand before the
 * pipeline. */
static const char *pipeline(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_CIRCULAR),
                  "its pipeline is one scan, all forwards first: schedule gpipe or circular");
    REFUSE_UNLESS(facts_even_stages(facts), REFUSES_UNEVEN_STAGES);
    REFUSE_UNLESS(facts->pipeline == 1 || facts->plan->knobs.microbatches % facts->pipeline == 0,
                  "num_pipeline_microbatches has to be a multiple of the stages");
    return NULL;
}

/* configs/types.py. Load balance, which rings and gathers here assume, cuts a sequence into 2 * context pieces. Ring
 * runs on a flash kernel that knows neither windows nor sinks, and splits its blocks again: max_target_length %
 * context^2 == 0. Ulysses is for TPUs and global attention; with a ring outside (usp), both have to be above 1.
 * base.yml shards weights over context. */
static const char *context(const PlanFacts *facts) {
    ContextMethod context = facts->methods->context;
    if (facts->sequence == 1) return NULL;
    REFUSE_UNLESS(!facts->methods->sequence_replicates, "its context axis shards parameters too");
    if (context == CONTEXT_ULYSSES || context == CONTEXT_ULYSSES_RING) {
        REFUSE_UNLESS(facts->tpu, "it exchanges heads (ulysses, usp) on TPUs alone");
        REFUSE_UNLESS(!has_windows_or_sinks(facts->model) && !has_latents(facts->model),
                      "it exchanges heads (ulysses, usp) for global attention alone: no windows, sinks or latents");
        REFUSE_UNLESS(facts_ulysses_divides(facts), "heads and KV heads have to be multiples of tensor x ulysses");
        return NULL;
    }
    REFUSE_UNLESS(facts->sequence % 2 == 0 && facts->seq % (2 * facts->sequence) == 0,
                  "context_parallel_load_balance cuts a sequence into 2 x context pieces, context even");
    if (context != CONTEXT_RING) return NULL;
    REFUSE_UNLESS(facts->seq / facts->sequence % facts->sequence == 0,
                  "its ring wants max_target_length to be a multiple of context x context");
    REFUSE_UNLESS(!has_windows_or_sinks(facts->model), "its ring knows no windows and no sinks");
    return NULL;
}

/* types.py: per_device_batch_size * max_target_length % num_vocab_tiling == 0, with one tile: the tokens of a device
 * are a whole number. Sequences of one pass are gradient_accumulation_steps apart; those of a pipeline go together. */
static bool whole_tokens(const PlanFacts *facts) {
    int64_t inside = facts->tensor * facts->sequence * facts->pipeline, passes = 1;
    if (facts->pipeline > 1) passes = facts->plan->knobs.microbatches % inside;
    return facts->plan->knobs.microbatch_sequences % inside * (facts->seq % inside) % inside * passes % inside == 0;
}

static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, false), REFUSES_KV_HEADS); /* a sharded dimension: JAX rejects a rest */
    REFUSE_UNLESS(facts->pipeline == 1 || facts->model->kind_count == 1,
                  "its pipeline stages are made of one kind of layer, and this model has several");
    REFUSE_UNLESS(facts->seq % facts->sequence == 0, "max_target_length has to be a multiple of context");
    REFUSE_UNLESS(facts_weights_divide(facts),
                  "d_model has to be a multiple of fsdp x sequence x expert, which shard it");
    return NULL;
}

static const char *refuses(const PlanFacts *facts) {
    const char *refusal = pipeline(facts);
    if (!refusal) refusal = context(facts);
    if (refusal) return refusal;
    REFUSE_UNLESS(!facts_folded(facts),
                  "expert is an axis of its own there: it does not fold experts onto other ranks");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage <= 1, "shard_optimizer_over_data is ZeRO-1; it has no ZeRO-2");
    REFUSE_UNLESS(facts->plan->knobs.zero_stage == 0 || facts->fsdp == 1,
                  "shard_optimizer_over_data (ZeRO-1) excludes fsdp");
    /* XLA keeps the shards of a scanned layer, whatever the remat policy (compiled for v5p by libtpu 0.0.50.1) */
    REFUSE_UNLESS(facts->plan->knobs.regather, REFUSES_KEPT_WEIGHTS);
    REFUSE_UNLESS(whole_tokens(facts), "per_device_batch_size x max_target_length has to be a whole number");
    return NULL;
}

/* ---- a plan as people who run it say it ---- */

static const char *axis_name(Role role, const Sharding *sharding) {
    static const char *const NAMES[ROLE_COUNT] = {
        [ROLE_DATA] = "data",     [ROLE_FSDP] = "fsdp",         [ROLE_SEQUENCE] = "context",
        [ROLE_TENSOR] = "tensor", [ROLE_PIPELINE] = "pipeline", [ROLE_EXPERT] = "expert"};
    bool along = role == ROLE_TENSOR && sharding->residual == RESIDUAL_SEQUENCE;
    return along ? "tensor_sequence" : NAMES[role];
}

static void plan_words(const LaunchJob *job, Prose *out) {
    const RankedPlan *ranked = job->ranked;
    static const Role ORDER[] = {ROLE_DATA, ROLE_PIPELINE, ROLE_FSDP, ROLE_SEQUENCE, ROLE_TENSOR, ROLE_EXPERT};
    MaxtextDivision division = maxtext_division(ranked);
    const Knobs *knobs = &ranked->plan.knobs;
    char text[REMAT_TEXT_SIZE];
    for (int i = 0; i < ROLE_COUNT; i++)
        if (division.across[ORDER[i]] > 1)
            prose_item(out, ", ", "dcn_%s %" PRId64, axis_name(ORDER[i], &ranked->plan.layout.sharding),
                       division.across[ORDER[i]]);
    for (int i = 0; i < ROLE_COUNT; i++)
        if (division.inside[ORDER[i]] > 1)
            prose_item(out, ", ", "ici_%s %" PRId64, axis_name(ORDER[i], &ranked->plan.layout.sharding),
                       division.inside[ORDER[i]]);
    if (out->used == 0) prose_add(out, "one device");
    int64_t stages = ranked->plan.degrees.of[ROLE_PIPELINE], passes = stages > 1 ? 1 : knobs->microbatches;
    int64_t sequences =
        knobs->microbatch_sequences * degrees_replicas(&ranked->plan.degrees) * (stages > 1 ? knobs->microbatches : 1);
    prose_item(out, ", ", "per_device_batch_size %.6g, gradient_accumulation_steps %" PRId64,
               (double)sequences / (double)ranked->machine.mesh.devices, passes);
    const char *remat = maxtext_remat_words(job->model, &ranked->plan.layout, text);
    prose_item(out, ", ", "%s", remat ? remat : "a custom remat_policy");
    if (knobs->offload_optimizer) prose_item(out, ", ", "optimizer_memory_host_offload");
}

/* e591f30cb src/maxtext/configs/base.yml, mesh_axes from data to expert, of which JAX makes the last the innermost;
 * types.py (0.2.5) moves `stage` in front of `data` where there are stages. */
#define ORDER                                                                                                          \
    {                                                                                                                  \
        { ROLE_EXPERT, ROLE_TENSOR, ROLE_SEQUENCE, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE }                               \
    }

/* It takes no device array: beside JAX's own mesh there are its custom ones. */
static void ways(const LaunchAsk *ask, LaunchWays *out) {
    static const Nesting NESTING = ORDER;
    launch_on_device_mesh(ask, &NESTING, "allow_split_physical_axes=true", out);
    if (out->order_unknown || !mesh_of_tpus(ask->mesh)) return;
    JaxShape physical = jax_physical_shape(ask->mesh), logical = launch_ici_shape(ask->mesh, ask->placement, &NESTING);
    JaxAssignment assignment;
    const char *custom = maxtext_custom_mesh(&physical, &logical, &assignment);
    if (custom)
        launch_add_assignment(ask, &NESTING, &assignment,
                              strcmp(custom, "hybrid_ring_64x4") == 0
                                  ? "allow_split_physical_axes=true custom_mesh=hybrid_ring_64x4"
                                  : "allow_split_physical_axes=true custom_mesh=hybrid_ring_32x8",
                              out);
}

const Launcher MAXTEXT_LAUNCHER = {
    .name = "maxtext",
    .usual_on_tpus = true,
    .nestings = {{.name = "maxtext", .order = ORDER}},
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .ways = ways,
    .expressible_domains = true,
    .remat = maxtext_remat_rules,
    .remat_words = maxtext_remat_words,
    .plan_words = plan_words,
    .signs = {"ici_", "dcn_", "per_device_batch_size", "max_target_length", "remat_policy"},
    .keys = MAXTEXT_KEYS,
    .import_work = maxtext_work,
    .import_plan = maxtext_plan,
    .import_way = maxtext_import_way,
    .formats = {{"maxtext", maxtext_write, maxtext_notes, "a YAML file for MaxText's trainer", "run.yml"}},
};
