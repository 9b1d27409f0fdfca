/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/serving/step.h"

#include "base/util.h"

#include <math.h>

const char *step_term_name(StepTerm term) {
    static const char *const NAMES[STEP_TERMS] = {"matmul", "attention", "experts", "reduce", "exchange",
                                                  "layers", "head",      "pass",    "draft",  "host"};
    return NAMES[term];
}

const char *held_by_name(HeldBy held) {
    static const char *const NAMES[HELD_KINDS] = {"hbm", "compute", "network", "latency"};
    return NAMES[held];
}

/* What one stage does with one microbatch, on one chip. */
typedef struct {
    double sequences;     /* of its attention rank */
    double tokens;        /* of its attention rank: of sequences that decode, and of prompts */
    double prompt_tokens; /* of these, those of prompts */
    double group_tokens;
    double work, group_work; /* tokens, those of prompts counted as the FLOPs that they take */
    double queries;          /* tokens of one sequence that decodes */
} Microbatch;

/* `tokens` as the FLOPs that they take. */
static void add_kernel(StepCost *cost, StepTerm term, double times, StepKernel of, double tokens) {
    double compute = tokens * of.token_seconds, less = min_real(of.bytes_seconds, compute);
    double seconds = of.floor_seconds + max_real(of.bytes_seconds, compute) + of.knee * less;
    cost->terms[term] += times * seconds;
    cost->held[HELD_BY_LATENCY] += times * of.floor_seconds;
    cost->held[of.bytes_seconds >= compute ? HELD_BY_HBM : HELD_BY_COMPUTE] += times * (seconds - of.floor_seconds);
}

static void add_message(StepCost *cost, StepTerm term, double times, const MessageCost *message, double bytes) {
    double seconds = message_seconds(message, bytes);
    cost->terms[term] += times * seconds;
    cost->held[HELD_BY_NETWORK] += times * seconds;
}

static void add_attention(StepCost *cost, const StepPlan *plan, const StepKind *kind, const StepLoad *load,
                          const Microbatch *batch) {
    double context = kind->window > 0 ? min_real(load->context, kind->window) : load->context;
    bool sparse = load->prompt_context > kind->sparse_context; /* its kernels take the time of all that may be chosen */
    double seen = sparse             ? kind->prompt_window
                  : kind->window > 0 ? min_real(load->prompt_context, kind->prompt_window)
                                     : load->prompt_context;
    double own = ceil(batch->sequences / (double)plan->layout.kv_batch);
    StepKernel decode = {batch->sequences > 0 ? kind->attention_floor : 0, own * context * kind->cached_seconds,
                         kind->pair_seconds, false, 0};
    double pairs = batch->prompt_tokens * seen * (sparse ? 1 : 1 + plan->prompt_extra);
    double pair = kind->prompt_pair_seconds;
    double launch = batch->prompt_tokens > 0 ? max_real(0, kind->prompt_launch - pairs * pair) : 0;
    StepKernel prompt = {launch, 0, pair, false, 0};
    add_kernel(cost, STEP_ATTENTION, kind->layers, decode, batch->sequences * batch->queries * context);
    add_kernel(cost, STEP_ATTENTION, kind->layers, prompt, pairs);
    if (!(kind->index_seconds > 0)) return;
    StepKernel scores = {batch->sequences > 0 ? kind->index_floor + load->context * kind->index_key_seconds : 0,
                         own * load->context * kind->index_seconds, kind->index_pair_seconds, false, 0};
    add_kernel(cost, STEP_ATTENTION, kind->layers, scores,
               batch->sequences * batch->queries * load->context + batch->prompt_tokens * load->prompt_context);
}

/* A step reads and writes the state of every sequence; the tokens of a prompt are scanned in chunks. */
static void add_scan(StepCost *cost, const StepKind *kind, const Microbatch *batch) {
    double floor_seconds = batch->sequences > 0 ? kind->scan_floor : 0;
    StepKernel decode = {floor_seconds, batch->sequences * kind->state_seconds, 0, false, 0};
    StepKernel prompt = {0, batch->prompt_tokens * kind->scan_bytes_seconds, kind->scan_token_seconds, false, 0};
    if (!(kind->state_seconds > 0)) return;
    add_kernel(cost, STEP_ATTENTION, kind->layers, decode, 0);
    add_kernel(cost, STEP_ATTENTION, kind->layers, prompt, batch->prompt_tokens);
}

static void add_experts(StepCost *cost, const StepPlan *plan, const StepKind *kind, const Microbatch *batch) {
    if (!(kind->expert_share > 0)) return;
    /* What engines take beyond the kernels is of the weights that they read: prompts are bound by FLOPs. */
    StepKernel experts = {kind->experts_floor,
                          (1 + plan->expert_extra) * kind->experts_bytes_seconds *
                              experts_touched(kind->expert_share, batch->group_tokens),
                          kind->experts_token_seconds, true, plan->knee};
    add_kernel(cost, STEP_EXPERTS, kind->layers, experts, batch->group_work);
    double moved = kind->layers * batch->group_tokens * kind->experts_move_seconds;
    cost->terms[STEP_EXPERTS] += moved;
    cost->held[HELD_BY_HBM] += moved;
}

/* Adapters are read once where a sequence of the step, or its prompt, has them; which one is anybody's chance. */
static void add_adapters(StepCost *cost, const StepPlan *plan, const StepKind *kind, const Microbatch *batch) {
    double requests = batch->sequences + (batch->prompt_tokens > 0);
    if (plan->adapters.count == 0) return;
    double touched = experts_touched(1 / (double)plan->adapters.count, requests);
    StepKernel adapters = {kind->adapter_floor, touched * kind->adapter_bytes_seconds, kind->adapter_token_seconds,
                           false, plan->knee};
    add_kernel(cost, STEP_MATMUL, kind->layers, adapters, batch->work);
}

/* An MLP cut in two dimensions gathers D over one and F over the other ("How to Scale Your Model", part 7: 2 B D / X +
 * 4 B F / YZ) in place of an all_reduce of D. */
static void add_stationary(StepCost *cost, const StepPlan *plan, const StepKind *kind, const Microbatch *batch) {
    double x = (double)plan->layout.stationary, y = (double)plan->layout.tensor / x;
    double bytes = batch->tokens * (plan->token_bytes / x + 2 * plan->wide_bytes / y);
    add_message(cost, STEP_REDUCE, kind->layers, &plan->links.gather, bytes);
}

/* Queries go where the cache lies, and results come back: to whoever has the sequence, or to whoever has a part of
 * it. */
static void add_cache_moves(StepCost *cost, const StepPlan *plan, const StepKind *kind, const Microbatch *batch) {
    double bytes = batch->sequences * batch->queries * plan->query_bytes;
    if (!(batch->sequences > 0)) return;
    if (plan->layout.kv_batch > 1) add_message(cost, STEP_REDUCE, 2 * kind->layers, &plan->links.shuffle, bytes);
    if (plan->layout.kv_sequence > 1) add_message(cost, STEP_REDUCE, 2 * kind->layers, &plan->links.gather, bytes);
}

/* Tokens to experts and back: routed one by one, or gathered whole and scattered, whichever is quicker. */
static void add_exchange(StepCost *cost, const StepPlan *plan, const StepKind *kind, const Microbatch *batch) {
    double bytes = batch->group_tokens * plan->token_bytes;
    double whole = 2 * message_seconds(&plan->links.collect, bytes);
    double routed = message_seconds(&plan->links.dispatch, batch->group_tokens * plan->dispatch_bytes) +
                    message_seconds(&plan->links.dispatch, batch->group_tokens * plan->combine_bytes);
    double seconds = kind->exchanges && routed < whole && plan->layout.expert > 1 ? routed : whole;
    if (!kind->exchanges && !kind->collects) return;
    cost->terms[STEP_EXCHANGE] += kind->layers * seconds;
    cost->held[HELD_BY_NETWORK] += kind->layers * seconds;
}

static void add_kind(StepCost *cost, const StepPlan *plan, const StepKind *kind, const StepLoad *load,
                     const Microbatch *batch) {
    bool flat = plan->layout.stationary > 1;
    for (int i = 0; i < kind->kernel_count; i++)
        add_kernel(cost, STEP_MATMUL, kind->layers, kind->kernels[i],
                   kind->kernels[i].of_group ? batch->group_work : batch->work);
    add_attention(cost, plan, kind, load, batch);
    add_scan(cost, kind, batch);
    add_experts(cost, plan, kind, batch);
    add_adapters(cost, plan, kind, batch);
    add_message(cost, STEP_REDUCE, kind->layers * (kind->reduces - flat), &plan->links.reduce,
                batch->tokens * plan->token_bytes);
    if (flat) add_stationary(cost, plan, kind, batch);
    add_cache_moves(cost, plan, kind, batch);
    add_exchange(cost, plan, kind, batch);
    cost->terms[STEP_LAYERS] += kind->layers * kind->blocks / 2 * plan->layer_seconds;
    cost->held[HELD_BY_LATENCY] += kind->layers * kind->blocks / 2 * plan->layer_seconds;
}

/* A draft runs one layer and the head, a token for each sequence. */
static void add_drafts(StepCost *cost, const StepPlan *plan) {
    double drafts = (double)plan->speculation.drafts * plan->draft_share, layers = 0;
    if (!(drafts > 0)) return;
    for (int term = 0; term < STEP_HEAD; term++) layers += cost->terms[term];
    double seconds = drafts * (layers / plan->layers + cost->terms[STEP_HEAD]) / (double)(plan->speculation.drafts + 1);
    cost->terms[STEP_DRAFT] = max_real(seconds, drafts * plan->layer_seconds);
}

static bool is_message(int term) { return term == STEP_REDUCE || term == STEP_EXCHANGE || term == STEP_PASS; }

/* Communication that is hidden takes the time that it exceeds the kernels by; of a step in parts the terms are what is
 * left of them. */
static void add_up(StepCost *cost, double overlap, bool in_parts) {
    double kernels = 0, messages = 0;
    for (int term = 0; term < STEP_TERMS; term++) *(is_message(term) ? &messages : &kernels) += cost->terms[term];
    if (in_parts) overlap = 1;
    cost->seconds = (1 - overlap) * (kernels + messages) + overlap * max_real(kernels, messages);
    for (int term = 0; term < STEP_TERMS; term++)
        if (in_parts && is_message(term) && messages > 0)
            cost->terms[term] *= max_real(0, messages - kernels) / messages;
}

/* What engines take beyond the kernels' own times. */
static void add_extras(StepCost *cost, const StepPlan *plan) {
    const double kernels = 1 + plan->kernel_extra, messages = 1 + plan->message_extra;
    const double factors[STEP_TERMS] = {
        [STEP_MATMUL] = kernels, [STEP_ATTENTION] = kernels, [STEP_HEAD] = kernels,
        [STEP_EXPERTS] = 1,      [STEP_REDUCE] = messages,   [STEP_EXCHANGE] = 1 + plan->exchange_extra,
        [STEP_PASS] = messages,  [STEP_LAYERS] = 1,          [STEP_DRAFT] = 1,
        [STEP_HOST] = 1};
    for (int term = 0; term < STEP_TERMS; term++) cost->terms[term] *= factors[term];
    cost->held[HELD_BY_HBM] *= kernels;
    cost->held[HELD_BY_COMPUTE] *= kernels;
    cost->held[HELD_BY_NETWORK] *= messages;
}

/* A step whose busiest rank has so many tokens of prompts, in so many parts that hide each other's messages. */
static void step_in_parts(const StepPlan *plan, const StepLoad *load, double busiest, double parts, StepCost *out) {
    double stages = (double)plan->layout.pipeline * parts, ranks = (double)plan->layout.attention_data;
    Microbatch batch = {.queries = (double)(plan->speculation.drafts + 1)};
    StepCost cost = {0};
    batch.sequences = ceil(ceil(load->sequences / stages) / ranks);
    batch.prompt_tokens = busiest / stages;
    double decoded = batch.sequences * batch.queries, prompts = load->prompt_tokens / stages;
    batch.tokens = decoded + batch.prompt_tokens;
    batch.group_tokens = decoded * ranks + prompts;
    batch.work = decoded + batch.prompt_tokens * (1 + plan->prompt_extra);
    batch.group_work = decoded * ranks + prompts * (1 + plan->prompt_extra);
    for (int i = 0; i < plan->kind_count; i++) add_kind(&cost, plan, &plan->kinds[i], load, &batch);
    add_kernel(&cost, STEP_HEAD, 1, plan->head, batch.sequences * batch.queries);
    add_message(&cost, STEP_PASS, 1, &plan->links.pass, batch.tokens * plan->token_bytes / (double)plan->layout.tensor);
    add_extras(&cost, plan);
    add_drafts(&cost, plan);
    for (int term = 0; term < STEP_TERMS; term++) cost.terms[term] *= stages / plan->pipeline_share;
    for (int held = 0; held < HELD_KINDS; held++) cost.held[held] *= stages / plan->pipeline_share;
    /* Each rank of attention data has a scheduler of its own. */
    cost.terms[STEP_HOST] = plan->step_seconds + plan->sequence_seconds * ceil(load->sequences / ranks);
    cost.held[HELD_BY_LATENCY] += cost.terms[STEP_HOST];
    add_up(&cost, plan->overlap, parts > 1);
    *out = cost;
}

/* Halves read all weights twice: a step is whole where that takes longer. */
static void one_step(const StepPlan *plan, const StepLoad *load, double busiest, StepCost *out) {
    StepCost halves;
    step_in_parts(plan, load, busiest, 1, out);
    if (!plan->two_batches) return;
    step_in_parts(plan, load, busiest, 2, &halves);
    if (halves.seconds < out->seconds) *out = halves;
}

/* The mean of two steps, of which the second has this share. */
static void mix(StepCost *first, const StepCost *second, double share) {
    first->seconds += share * (second->seconds - first->seconds);
    for (int term = 0; term < STEP_TERMS; term++)
        first->terms[term] += share * (second->terms[term] - first->terms[term]);
    for (int held = 0; held < HELD_KINDS; held++) first->held[held] += share * (second->held[held] - first->held[held]);
}

void worker_step(const StepPlan *plan, const StepLoad *load, StepCost *out) {
    double even = load->prompt_tokens / (double)plan->layout.attention_data;
    bool chunks = load->chunk > 0 && load->prompt_tokens > 0;
    double share = chunks ? min_real(1, load->prompt_tokens / load->chunk) : 1;
    StepLoad with = *load, decode = *load;
    StepCost prompts;
    with.prompt_tokens = load->prompt_tokens / share;
    one_step(plan, &with, chunks ? max_real(load->chunk, even) : even, &prompts);
    *out = prompts;
    if (!(share < 1)) return;
    decode.prompt_tokens = 0;
    one_step(plan, &decode, 0, out);
    mix(out, &prompts, share);
}

double speculation_tokens(Speculation speculation) {
    if (speculation.drafts <= 0) return 1;
    if (!(speculation.acceptance < 1)) return (double)(speculation.drafts + 1);
    double power = 1;
    for (int64_t i = 0; i <= speculation.drafts; i++) power *= speculation.acceptance;
    return (1 - power) / (1 - speculation.acceptance);
}

double finished_per_step(double batch, double output) { return batch / output; }

double prefill_per_step(double batch, const ServedRequest *request, double tokens_per_step) {
    return finished_per_step(batch, request->output) * tokens_per_step * request->prompt * (1 - request->cached);
}

double queue_wait(double load) { return load < 1 ? load / (2 * (1 - load)) : INFINITY; }

double decode_requests_per_second(double batch, double step_seconds, double output) {
    return batch / (step_seconds * output);
}

double usd_per_million(double usd_per_chip_hour, double chips, double tokens_per_second) {
    return usd_per_chip_hour * chips / (3600 * tokens_per_second) * 1e6;
}
