/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/rl/trainer.h"

#include "base/util.h"
#include "models/parameters.h"
#include "search/answer/plan_words.h"
#include "search/answer/search_end.h"
#include "search/answer/tie.h"
#include "search/launch/launcher.h"
#include "search/options/one_plan.h"
#include "search/rl/rl_files.h"

#include <math.h>
#include <string.h>

static int64_t updates_of(const RlQuestion *question) {
    return divide_up(question->prompts * question->samples, question->train_batch);
}

/* Sequences are packed, the longest first, each into the first pack with room (NeMo RL's and verl's packers are alike):
 * where most answers are nearly as long as the longest, most packs hold one. */
double trainer_sequences(const RlQuestion *question, int64_t *length) {
    enum { SAMPLE = 512 };
    double room[SAMPLE];
    int sample = (int)min_whole(SAMPLE, question->train_batch), packs = 0;
    *length = (int64_t)ceil(question->prompt + question->answers.longest);
    for (int i = sample - 1; i >= 0; i--) {
        double tokens = question->prompt + length_at(&question->answers, (i + 0.5) / sample);
        int pack = 0;
        while (pack < packs && room[pack] < tokens) pack++;
        if (pack == packs) room[packs++] = (double)*length;
        room[pack] -= tokens;
    }
    return (double)packs * (double)question->train_batch / sample;
}

/* Packed sequences as batches of plans: rounded up to a divisor of the answers of an update, which frameworks deal out
 * evenly before they are packed (NeMo RL's train_global_batch_size, verl's mini-batches), so that ranks of data which
 * share the one share the other; what is added is taken off the time again. */
static int64_t rounded(double sequences, int64_t answers) {
    int64_t least = max_whole(1, (int64_t)ceil(sequences - 1e-9));
    while (least < answers && answers % least != 0) least++;
    return least;
}

/* Seconds of a step for a second of the plan's. */
static double seconds_each(const RlQuestion *question, double sequences, int64_t planned) {
    double share = (double)(question->prompts * question->samples) / (double)question->train_batch;
    return share * sequences / (double)planned;
}

double trainer_floor(const RlQuestion *question, int64_t chips) {
    int each = question->rank > 0 ? 4 : 6; /* frozen weights have no gradient */
    double flops = tokens_trained(question) * each * (double)model_parameters(&question->model).active_matmul;
    double peak = question->chip.bf16_flops_per_second.value;
    if (question->options->text[OPTION_PRECISION] && question->chip.fp8_flops_per_second.value > peak)
        peak = question->chip.fp8_flops_per_second.value;
    return flops / (peak * (double)chips) * (1 - 1e-9);
}

/* Fewer hosts may train better than all, so that another host is never a loss: most may idle. */
static bool make_request(const RlQuestion *question, const Trainer *trainer, const char *offload, Arena *arena,
                         Request *out, Error *error) {
    int64_t length;
    Options *options = ARENA_NEW(arena, Options, 1);
    static const Option TAKEN[] = {OPTION_MODEL,   OPTION_CHIP,        OPTION_GPUS_PER_NODE, OPTION_OVERSUBSCRIPTION,
                                   OPTION_NETWORK, OPTION_HOST_MEMORY, OPTION_LORA,          OPTION_TARGETS,
                                   OPTION_PRICE,   OPTION_FOR,         OPTION_PRECISION,     OPTION_REMAT,
                                   OPTION_MTBF,    OPTION_RESTART};
    if (!options) return error_memory(error);
    options->environment = question->options->environment;
    options->model_json = question->options->model_json;
    for (size_t i = 0; i < COUNT_OF(TAKEN); i++) {
        options->text[TAKEN[i]] = question->options->text[TAKEN[i]];
        options->where[TAKEN[i]] = question->options->where[TAKEN[i]];
    }
    if (!options->text[OPTION_FOR]) options->text[OPTION_FOR] = question->rank > 0 ? "trl" : "megatron";
    const char *plan = question->options->text[OPTION_TRAIN_PLAN];
    const char *emit = question->options->text[OPTION_EMIT];
    const RlFramework *emits = emit ? rl_framework_named(emit) : NULL;
    /* No framework sends weights from Megatron's own FSDP, and none has a pipeline of torch's or DeepSpeed's. */
    bool megatron = strcmp(options->text[OPTION_FOR], "megatron") == 0;
    if (!plan || !strstr(plan, megatron ? "fsdp" : "pipeline"))
        options->text[OPTION_REQUIRE] = megatron ? "fsdp=1" : "pipeline=1";
    if (emits && megatron && !rl_has_fact(emits, FACT_VIRTUAL))
        options->text[OPTION_REQUIRE] = "fsdp=1 virtual_stages=1";
    options->text[OPTION_MAX_IDLE] = plan ? "0" : TRAINER_IDLE_TEXT;
    options->text[OPTION_OFFLOAD] = offload;
    options->text[OPTION_CHIPS] = arena_format(arena, "%lld", (long long)trainer->chips);
    options->text[OPTION_SEQUENCES] = arena_format(arena, "%lld", (long long)trainer->sequences);
    options->text[OPTION_SEQ] = arena_format(arena, "%lld", (long long)trainer->length);
    if (!options->text[OPTION_CHIPS] || !options->text[OPTION_SEQUENCES] || !options->text[OPTION_SEQ])
        return error_memory(error);
    if (!request_from_options(options, arena, out, error)) return false;
    LauncherSet plain; /* files recompute all layers or none, as DeepSpeed does */
    if (emits && !(launchers_parse("deepspeed", "--emit", &plain, error) &&
                   launch_remat(plain, &question->model, arena, &out->question.domain, error)))
        return false;
    out->control.top = 1;
    out->control.uncounted = !question->options->text[OPTION_VERBOSE];
    out->control.sensitivity = SENSITIVITY_NONE;
    out->control.gap = out->control.tie = 0;
    /* Packs of other lengths in every step: none of these frameworks captures whole graphs, and Megatron's chunked
     * collectives want one shape. */
    Profile *software = &out->question.profile;
    software->tensor_overlapped = software->tensor_exposed;
    /* The loss is taken answer by answer, with what it reports read back each time. */
    software->sequence_seconds =
        question->profile.answer_seconds * (double)question->train_batch / trainer_sequences(question, &length);
    software->expert_layer_seconds = max_real(software->expert_layer_seconds, software->scan_expert_seconds);
    return !plan || one_plan_require(out, plan, "--train-plan", error);
}

/* A reference, a teacher and a critic that find no room alongside the policy lie on the host. With adapters off the
 * policy is its own reference. */
static double trainer_moved(const RlQuestion *question, const Trainer *trainer) {
    enum { WEIGHTS = 2, STATE = 18 };
    const Estimate *estimate = &trainer->plan->estimate;
    double each = (double)model_parameters(&question->model).total / (double)trainer->chips;
    double others =
        each * (WEIGHTS * ((question->rank == 0 && question->algorithm->reference) + question->teacher_share +
                           (question->reward_by_rollout ? 0 : question->reward_share)) +
                STATE * question->critic_share);
    double free = estimate->memory_limit_bytes - memory_total(&estimate->memory);
    return others > free ? others : 0;
}

/* A pass forward is a measured share of training without its recomputation; with adapters, whose frozen weights have no
 * gradient, what its kernels are of all. */
static void add_forward(const RlQuestion *question, const Estimate *estimate, Trainer *out) {
    double share = question->profile.forward_share, forward = 0, adapters = 0, all = 0;
    for (int i = 0; i < estimate->part_count && question->rank > 0; i++) {
        const EstimatePart *part = &estimate->parts[i];
        *(strncmp(part->name, "adapter", 7) == 0 ? &adapters : &forward) += part->forward_seconds;
        all += part->forward_seconds + part->backward_seconds;
    }
    if (all > 0) share = max_real(share, forward / all);
    double kernels = out->seconds * (1 - estimate->recompute_seconds / estimate->time.compute_seconds);
    out->forward_seconds = share * kernels;
    if (all > 0) out->adapter_seconds = adapters / all * kernels;
}

bool trainer_search(const RlQuestion *question, int64_t chips, double limit_seconds, Arena *arena, Trainer *out,
                    Error *error) {
    int64_t length;
    double sequences = trainer_sequences(question, &length);
    int64_t planned = rounded(sequences, question->train_batch);
    double each = seconds_each(question, sequences, planned);
    Request *request = ARENA_NEW(arena, Request, 1);
    SearchResult *result = ARENA_NEW(arena, SearchResult, 1);
    *out = (Trainer){.chips = chips, .length = length, .sequences = planned, .updates = updates_of(question)};
    if (!request || !result) return error_memory(error);
    const char *plan_given = question->options->text[OPTION_TRAIN_PLAN];
    bool there = plan_given && strstr(plan_given, "offload_optimizer=true");
    if (!make_request(question, out, there ? NULL : "none", arena, request, error)) {
        /* A plan that is given suits some parts of the machine alone. */
        bool other = plan_given && error->kind == ERROR_INPUT && question->hosts > 1 && !question->only_colocated &&
                     question->train_hosts == 0;
        if (other) *error = (Error){0};
        return other;
    }
    /* Plans are ranked with what is odd about them, and so are limits. */
    if (limit_seconds < INFINITY)
        request->control.limit_seconds = limit_seconds / each * odd_most(&request->question.profile) * (1 + 1e-9);
    if (!search_run(request, arena, result, error)) return false;
    /* What fits without the host is first: frameworks have no key for it that is written. A limited search does not
     * know whether something fits: where the host keeps the limit, all is searched. */
    SearchEndKind end = search_end(result).kind;
    if (end == END_NOTHING_FITS || end == END_NONE_WITHIN) {
        double limit = request->control.limit_seconds;
        if (!make_request(question, out, NULL, arena, request, error)) return false;
        request->control.limit_seconds = limit;
        if (!search_run(request, arena, result, error)) return false;
        if (end == END_NONE_WITHIN && result->plan_count > 0)
            return trainer_search(question, chips, INFINITY, arena, out, error);
    }
    out->gap = result->certificate.gap;
    out->open = search_end(result).kind == END_GAP && search_gap(result) > 0;
    if (result->plan_count == 0) return true;
    const RankedPlan *plan = result->fastest ? result->fastest : &result->plans[0];
    out->fits = true;
    out->plan = plan;
    out->step_seconds = plan->estimate.time.seconds;
    out->seconds = each * out->step_seconds;
    out->least_seconds = each * plan->ranked_seconds / odd_most(&request->question.profile);
    add_forward(question, &plan->estimate, out);
    out->chips = plan->machine.mesh.chips;
    out->moved_bytes = trainer_moved(question, out);
    double all;
    out->sent_bytes = question->rank > 0 ? 2 * plan_trained(result->request, plan, &all) : question->weight_bytes;
    out->state_bytes = plan->estimate.memory.parameters_bytes + plan->estimate.memory.optimizer_bytes;
    return true;
}
