/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/answer.h"

#include "base/util.h"

/* The model on one device, of which every other layout is a part: n devices never take less than an n-th of its
 * kernels' bytes and FLOPs, and each of them takes every floor. */
typedef struct {
    const ServingQuestion *question;
    StepPlan bare;          /* without floors */
    double floor_seconds;   /* of a step */
    double host_seconds;    /* for each sequence */
    double devices, tokens; /* tokens: of a step for each sequence */
    int64_t room;           /* sequences that all memory holds */
} Whole;

static double kernel_seconds(const StepCost *cost) {
    return cost->terms[STEP_MATMUL] + cost->terms[STEP_ATTENTION] + cost->terms[STEP_EXPERTS] + cost->terms[STEP_HEAD];
}

static double bare_seconds(const Whole *whole, const StepLoad *load) {
    StepCost cost;
    worker_step(&whole->bare, load, &cost);
    return kernel_seconds(&cost);
}

static void take_floors(StepPlan *plan) {
    for (int i = 0; i < plan->kind_count; i++) {
        StepKind *kind = &plan->kinds[i];
        for (int k = 0; k < kind->kernel_count; k++) kind->kernels[k].floor_seconds = 0;
        kind->attention_floor = kind->experts_floor = 0;
    }
    plan->head.floor_seconds = 0;
}

static int64_t room_of(const ServingQuestion *question, const MemoryPlan *memory, double devices) {
    double free = devices * (memory->limit_bytes - memory->workspace_bytes) - memory->weights_bytes;
    double most = min_real(free / memory->sequence_bytes, (double)SERVING_BATCH_MAX * devices);
    /* Copies that share requests evenly round up, by less than one for each copy. */
    double in_flight = (double)question->concurrency;
    if (in_flight > 0) most = min_real(most, in_flight + min_real(in_flight, devices));
    return most >= 1 ? (int64_t)most : 0;
}

static void whole_model(const ServingQuestion *question, int engine, StoredType weights, StoredType cache, Whole *out) {
    ServedModel served = question_served(question, engine);
    WorkerLayout layout = {1, 1, 1, 1, 1, 1, 1, 1, weights, cache};
    WorkerLinks none = {0};
    MemoryPlan memory;
    StepLoad one = {.sequences = 1, .context = question->mean_context};
    StepCost full;
    *out = (Whole){.question = question, .devices = (double)question->machine.mesh.devices};
    step_plan(&served, &layout, &none, &out->bare);
    worker_step(&out->bare, &one, &full);
    take_floors(&out->bare);
    out->floor_seconds =
        kernel_seconds(&full) + full.terms[STEP_LAYERS] - bare_seconds(out, &one) + served.profile->step_seconds;
    out->host_seconds = served.profile->sequence_seconds;
    out->tokens = speculation_tokens(question->speculation);
    memory_plan(&served, &layout, question->peak_tokens, &memory);
    out->room = room_of(question, &memory, out->devices);
}

/* The least that a step takes when `batch` sequences are spread over all devices. */
static double least_step(const Whole *whole, ServingMode mode, int64_t batch) {
    StepLoad load = load_of_batch(whole->question, batch, mode);
    double work = bare_seconds(whole, &load) + whole->host_seconds * (double)batch;
    return whole->floor_seconds + work / whole->devices;
}

/* The largest batch within the limit serves most: a step for twice as many sequences never takes twice as long. */
static int64_t largest_batch(const Whole *whole, ServingMode mode, double tpot_seconds) {
    int64_t low = 0, high = whole->room;
    while (low < high && tpot_seconds > 0) {
        int64_t middle = low + (high - low + 1) / 2;
        if (least_step(whole, mode, middle) <= tpot_seconds * whole->tokens * (1 + SERVING_SLACK))
            low = middle;
        else
            high = middle - 1;
    }
    return high;
}

/* Device-seconds of a prompt together with a great many others, which share what is read. */
static double prompt_device_seconds(const Whole *whole) {
    static const double MANY = 4096;
    StepLoad load = {.prompt_tokens = MANY * question_new_tokens(whole->question),
                     .prompt_context = whole->question->prompt_context};
    return bare_seconds(whole, &load) / MANY;
}

/* Tokens per second of each device in one mode. */
static double most_per_device(const Whole *whole, ServingMode mode, double tpot_seconds) {
    ServingMode step = mode == SERVE_AGGREGATED ? SERVE_AGGREGATED : SERVE_DECODE;
    int64_t batch = largest_batch(whole, step, tpot_seconds);
    if (batch < 1) return 0;
    double seconds = least_step(whole, step, batch) * whole->devices / ((double)batch * whole->tokens);
    if (mode == SERVE_DISAGGREGATED) seconds += prompt_device_seconds(whole) / whole->question->request.output;
    return 1 / seconds;
}

static void raise_bound(ServingUpperBound *to, const Whole *whole, double tpot_seconds) {
    static const ServingMode MODES[] = {SERVE_AGGREGATED, SERVE_DISAGGREGATED, SERVE_DECODE};
    const ServingQuestion *question = whole->question;
    double per_chip = max_real(1, (double)question->chip.devices_per_chip);
    for (size_t i = 0; i < COUNT_OF(MODES); i++) {
        if (!(question->modes >> MODES[i] & 1) || whole->room < 1) continue;
        double least = least_step(whole, SERVE_DECODE, 1);
        to->per_chip = max_real(to->per_chip, per_chip * most_per_device(whole, MODES[i], tpot_seconds));
        to->per_user = max_real(to->per_user, whole->tokens / least);
    }
}

ServingUpperBound serving_upper_bound(const ServingQuestion *question, double tpot_seconds) {
    ServingUpperBound bound = {0};
    for (int at = 0; at <= engine_count(); at++) {
        int engine = at == engine_count() ? NO_ENGINE : at;
        bool requested = engine == NO_ENGINE ? question->any_engine
                                             : !question->any_engine && (question->engines >> engine & 1) != 0;
        for (int w = 0; requested && w < question->weights_count; w++)
            for (int c = 0; c < question->caches_count; c++) {
                Whole whole;
                whole_model(question, engine, question->weights[w], question->caches[c], &whole);
                raise_bound(&bound, &whole, tpot_seconds);
            }
    }
    return bound;
}
