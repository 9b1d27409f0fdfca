/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/emit.h"

#include "base/build.h"
#include "base/json.h"
#include "base/util.h"
#include "cost/state/remat.h"
#include "search/answer/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

const EmitFormat *emit_format_at(int index) {
    for (int i = 0; i < launcher_count(); i++)
        for (int f = 0; f < LAUNCHER_FORMATS_MAX && launcher_at(i)->formats[f].name; f++)
            if (index-- == 0) return &launcher_at(i)->formats[f];
    return NULL;
}

const EmitFormat *emit_format_named(const char *name) {
    const EmitFormat *format;
    const char *plain = launcher_plain_name(name);
    for (int i = 0; (format = emit_format_at(i)) != NULL && !name_matches(format->name, plain);) i++;
    return format;
}

int emit_format_launcher(const EmitFormat *format) {
    int launcher = 0;
    while (format < launcher_at(launcher)->formats || format >= launcher_at(launcher)->formats + LAUNCHER_FORMATS_MAX)
        launcher++;
    return launcher;
}

StateDtypes emit_state_dtypes(const Request *request, const RankedPlan *ranked) {
    CostContext setting = request_cost_context(request);
    StateDtypes dtypes = cost_context_state(&setting)->dtypes;
    dtypes.gradients = cost_context_gradient_dtype(&setting);
    if (dtypes.gradients == DTYPE_DEFAULT)
        dtypes.gradients = ranked->plan.knobs.microbatches > 1 ? DTYPE_FP32 : DTYPE_BF16;
    return dtypes;
}

bool emit_allowed(const EmitFormat *format, const Request *request, const RankedPlan *ranked, Error *error) {
    char where[64], step[NUMBER_TEXT_SIZE], more[NUMBER_TEXT_SIZE], own[128] = "";
    snprintf(where, sizeof where, "emit %s", format->name);
    int launcher = emit_format_launcher(format);
    const char *refusal = launch_refusal(launcher, &request->question.model, &ranked->work, &ranked->plan,
                                         ranked->padding, &ranked->machine.mesh);
    if (refusal)
        return error_set(error, ERROR_INPUT, where, "%s does not take this plan: %s; plan with --for %s", format->name,
                         refusal, launcher_name(launcher));
    const LaunchAnswer *answer = emit_launch_answer(ranked, launcher_at(launcher));
    if (!answer || answer->kind != LAUNCH_IMPOSSIBLE) return true;
    double seconds = ranked->estimate.time.seconds;
    if (answer->default_seconds >= 0)
        snprintf(own, sizeof own, " (in its own placement the step takes %s, %s)",
                 step_text(answer->default_seconds, step), change_text(answer->default_seconds / seconds - 1, more));
    return error_set(error, ERROR_INPUT, where,
                     "%s cannot put the roles where this plan has them%s; plan with --for %s", format->name, own,
                     launcher_name(launcher));
}

bool emit_write(const EmitFormat *format, const Request *request, const RankedPlan *ranked, EmitNotes *notes, FILE *out,
                Error *error) {
    const Launcher *launcher = launcher_at(emit_format_launcher(format));
    char where[48];
    LaunchJob job;
    if (!launch_job(request, ranked, launcher, &job, error)) return false;
    const char *refusal = launch_refusal_of_work(emit_format_launcher(format), request);
    if (!refusal && format->cannot) refusal = format->cannot(&job);
    snprintf(where, sizeof where, "emit %s", format->name);
    if (refusal)
        return error_set(error, ERROR_INPUT, where, "%s does not take this plan: %s",
                         format->title ? format->title : launcher->name, refusal);
    format->notes(&job, notes);
    return format->write(&job, notes, out, error);
}

void launcher_words(const Launcher *launcher, const Request *request, const RankedPlan *ranked, Prose *out) {
    LaunchJob job;
    Error ignored = {0};
    if (launcher && launcher->plan_words && launch_job(request, ranked, launcher, &job, &ignored))
        launcher->plan_words(&job, out);
}

void emit_note(EmitNotes *notes, const char *format, ...) {
    char text[EMIT_NOTE_SIZE];
    va_list arguments;
    if (notes->count == EMIT_NOTES_MAX) {
        snprintf(notes->text[EMIT_NOTES_MAX - 1], EMIT_NOTE_SIZE, "More differs from the plan than these notes say.");
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clean_text(text, notes->text[notes->count++], EMIT_NOTE_SIZE); /* a name in it must not end the comment's line */
}

void emit_header(const LaunchJob *job, const EmitNotes *notes, FILE *out) {
    char notation[NOTATION_SIZE], name[PROSE_NAME_SIZE], step[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    char used[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE], batch[NUMBER_TEXT_SIZE], seq[NUMBER_TEXT_SIZE];
    const Question *question = &job->request->question;
    const RankedPlan *ranked = job->ranked;
    const Estimate *estimate = &ranked->estimate;
    char machine[PROSE_NAME_SIZE], chip[PROSE_NAME_SIZE]; /* texts of a file must not end the comment's line */
    fprintf(out, "# Written by shardopt %s: %s on %s of %s.\n", program_version(),
            clean_name(question->model.name, name), clean_name(ranked->machine.text, machine),
            clean_name(question->chip.title, chip));
    fprintf(out, "# Plan: %s, %s sequences of %s tokens a step.\n",
            plan_notation(&ranked->plan.degrees, &ranked->plan.knobs, false, notation),
            number_grouped(ranked->work.sequences, batch), number_grouped(ranked->work.seq, seq));
    fprintf(out, "# Predicted: %s per step, %s MFU, %s of %s HBM (profile %s).\n",
            step_text(estimate->time.seconds, step), share_text(estimate->mfu, share),
            number_bytes(memory_total(&estimate->memory), used), number_bytes(estimate->memory_limit_bytes, limit),
            clean_name(question->profile.name, name));
    for (int i = 0; i < notes->count; i++) fprintf(out, "# NOTE: %s.\n", notes->text[i]);
}

void emit_quoted(const char *text, FILE *out) { json_print_text(out, text); }

/* ---- the plan as writers get it ---- */

const LaunchAnswer *emit_launch_answer(const RankedPlan *ranked, const Launcher *launcher) {
    for (int i = 0; i < ranked->launch_count; i++)
        if (launcher_at(ranked->launch[i].launcher) == launcher) return &ranked->launch[i];
    return NULL;
}

bool launch_job(const Request *request, const RankedPlan *ranked, const Launcher *launcher, LaunchJob *out,
                Error *error) {
    const Plan *plan = &ranked->plan;
    const int64_t *degree = plan->degrees.of;
    const Methods *methods = &plan->knobs.methods;
    const Shard *shard = &ranked->estimate.shard;
    char where[48];
    snprintf(where, sizeof where, "emit %s", launcher->name);
    bool folded = methods->grid.expert > 0;
    LaunchJob job = {.request = request,
                     .ranked = ranked,
                     .model = &request->question.model,
                     .knobs = &plan->knobs,
                     .launcher = launcher,
                     .tensor = degree[ROLE_TENSOR],
                     .sequence = degree[ROLE_SEQUENCE],
                     .fsdp = degree[ROLE_FSDP] * degree[ROLE_EXPERT],
                     .data = degree[ROLE_DATA],
                     .pipeline = degree[ROLE_PIPELINE],
                     .expert = folded ? methods->grid.expert : degree[ROLE_EXPERT],
                     .expert_tensor = folded ? max_whole(1, methods->grid.expert_tensor) : degree[ROLE_TENSOR],
                     .world = ranked->machine.mesh.devices,
                     .batch = ranked->work.sequences,
                     .virtual_stages = max_whole(1, plan->knobs.virtual_stages)};
    job.replicas = degrees_replicas(&plan->degrees);
    job.chunks = job.pipeline * job.virtual_stages;
    job.even = request->question.model.layers % job.chunks == 0 && shard->layers == shard->layers_last;
    job.shards = job.fsdp > 1 || (job.sequence > 1 && !methods->sequence_replicates);
    job.layers = (int64_t)shard->layers;
    job.steps = (int64_t)ceil(request->question.training_tokens / ((double)job.batch * (double)ranked->work.seq));
    job.per_host = min_whole(max_whole(1, request->question.chip.chips_per_host), job.world);
    job.hosts = job.world / job.per_host;
    if (launcher->gpus_only && job.world % job.per_host != 0)
        return error_set(error, ERROR_INPUT, where, "%" PRId64 " GPUs are not whole hosts of %" PRId64, job.world,
                         job.per_host);
    int64_t microbatches = plan->knobs.microbatches, sequences = plan->knobs.microbatch_sequences;
    if (launcher->gpus_only && (job.batch % job.replicas != 0 || job.batch / job.replicas % sequences != 0 ||
                                job.batch / job.replicas / sequences != microbatches))
        return error_set(error, ERROR_INPUT, where,
                         "a step of %" PRId64 " sequences is not %" PRId64 " microbatches of %" PRId64 " on %" PRId64
                         " replicas; give a --batch that is",
                         job.batch, microbatches, sequences, job.replicas);
    const LaunchAnswer *answer = emit_launch_answer(ranked, launcher);
    if (answer && answer->kind == LAUNCH_OPTION) job.option = answer->needs;
    job.host_order = answer && answer->kind == LAUNCH_DEVICE_ORDER && job.hosts > 1;
    *out = job;
    return true;
}

int64_t job_chunk_layers(const LaunchJob *job, int64_t chunk) {
    return chunk_layers(job->model, &job->ranked->estimate.shard, job->virtual_stages, chunk % job->pipeline,
                           chunk / job->pipeline);
}

int64_t job_dropped(const LaunchJob *job, Activation activation) {
    const int64_t *layers = job->ranked->plan.layout.layers[activation];
    return activation_exists(job->model, activation)
               ? layers[STATE_RECOMPUTED] + layers[STATE_OFFLOADED] + layers[STATE_PARTLY]
               : 0;
}

int64_t job_dropped_most(const LaunchJob *job) {
    int64_t most = 0;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        if (a != ACTIVATION_LAYER_INPUT) most = max_whole(most, job_dropped(job, a));
    return most;
}

int64_t job_layers_for_inputs(const LaunchJob *job) {
    int64_t inputs = job->ranked->plan.layout.layers[ACTIVATION_LAYER_INPUT][STATE_OFFLOADED];
    if (inputs == 0) return 0;
    if (!activation_exists(job->model, ACTIVATION_MIDDLE)) return job->layers + 1;
    return inputs + job_dropped(job, ACTIVATION_MIDDLE);
}

const char *job_activations(const LaunchJob *job, char text[ACTIVATIONS_TEXT_SIZE]) {
    size_t used = 0;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        for (ActivationState state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            int64_t layers = job->ranked->plan.layout.layers[a][state];
            if (layers == 0 || !activation_exists(job->model, a) || used >= ACTIVATIONS_TEXT_SIZE) continue;
            used += (size_t)snprintf(text + used, ACTIVATIONS_TEXT_SIZE - used, "%s%s %s in %s%" PRId64,
                                     used > 0 ? ", " : "", activation_name(a), activation_state_name(state),
                                     layers == job->layers ? "all " : "", layers);
            if (layers != job->layers && used < ACTIVATIONS_TEXT_SIZE)
                used += (size_t)snprintf(text + used, ACTIVATIONS_TEXT_SIZE - used, " of %" PRId64, job->layers);
        }
    if (used == 0)
        snprintf(text, ACTIVATIONS_TEXT_SIZE, "all kept");
    else if (used < ACTIVATIONS_TEXT_SIZE)
        snprintf(text + used, ACTIVATIONS_TEXT_SIZE - used, " layers%s",
                 job->pipeline > 1 ? " of the fullest stage" : "");
    return text;
}

/* ---- hosts and their ranks: the part of a script that every launcher by torchrun shares ---- */

/* The axis between NVLink domains; NULL: there is none. */
static const Axis *network_of(const LaunchJob *job) {
    const Mesh *mesh = &job->ranked->machine.mesh;
    for (int a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].level == LEVEL_NETWORK) return &mesh->axes[a];
    return NULL;
}

int64_t job_domains(const LaunchJob *job) { return network_of(job) ? network_of(job)->size : 1; }

/* The order of roles that its option makes; without one, the launcher's own. */
static Nesting nesting_of(const LaunchJob *job) {
    const NamedNesting *nestings = job->launcher->nestings;
    for (int n = 1; n < LAUNCHER_NESTINGS_MAX && nestings[n].name && job->option; n++)
        if (strcmp(nestings[n].option, job->option) == 0) return nestings[n].order;
    return nestings[0].order;
}

/* A domain's place along the network is a number whose digits are the roles' members there, in the plan's order; its
 * rank is the number with the same digits in the launcher's. */
int64_t job_domain_rank(const LaunchJob *job, int64_t domain) {
    const Axis *network = network_of(job);
    if (!network) return 0;
    const int32_t *factor = job->ranked->plan.placement.factor[network - job->ranked->machine.mesh.axes];
    Nesting own = nesting_of(job);
    int64_t member[ROLE_COUNT], rank = 0, stride = 1;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = job->ranked->nesting.order[i];
        member[role] = domain % factor[role];
        domain /= factor[role];
    }
    for (int i = 0; i < ROLE_COUNT; i++) {
        rank += member[own.order[i]] * stride;
        stride *= factor[own.order[i]];
    }
    return rank;
}

void job_write_hosts(const LaunchJob *job, FILE *out) {
    int64_t domains = job_domains(job), in_domain = max_whole(1, job->hosts / domains);
    if (!job->host_order) {
        fprintf(out,
                "\n# %" PRId64 " hosts of %" PRId64
                " GPUs, ranks in the order of hosts: consecutive hosts are neighbours "
                "on the network.\n# NODE_RANK: this host's number; MASTER_ADDR: the address of the one with 0.\n"
                "NODE_RANK=${NODE_RANK:-${SLURM_NODEID:-0}}\n",
                job->hosts, job->per_host);
    } else {
        fprintf(out,
                "\n# %" PRId64 " hosts of %" PRId64
                " GPUs in an order of the plan's own, so that what should share a leaf "
                "of the network does.\n# HOST: this host's number, counted leaf by leaf; the table has the rank that "
                "%s gets.\nHOST=${HOST:-${SLURM_NODEID:-0}}\nRANKS=(",
                job->hosts, job->per_host, in_domain > 1 ? "its NVLink domain" : "it");
        for (int64_t domain = 0; domain < domains; domain++)
            fprintf(out, "%s%" PRId64,
                    domain % 16 == 0 && domain > 0 ? "\n    "
                    : domain > 0                   ? " "
                                                   : "",
                    job_domain_rank(job, domain));
        fprintf(out, ")\nNODE_RANK=$((RANKS[HOST / %" PRId64 "] * %" PRId64 " + HOST %% %" PRId64 "))\n", in_domain,
                in_domain, in_domain);
    }
    fprintf(out, "MASTER_ADDR=${MASTER_ADDR:%s}\n",
            job->hosts > 1 ? "?give the address of the host with NODE_RANK 0" : "-localhost");
    fprintf(out, "MASTER_PORT=${MASTER_PORT:-29500}\n");
}

void job_write_torchrun(const LaunchJob *job, FILE *out) {
    fprintf(out,
            "torchrun --nproc-per-node %" PRId64 " --nnodes %" PRId64
            " --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\" --master-port \"$MASTER_PORT\" \\\n    ",
            job->per_host, job->hosts);
}
