/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One row: its workers laid out as it says, then priced in its mode. */
#include "search/serving/measured/serving_replay.h"

#include "base/util.h"
#include "mesh/factorization.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Tokens of a step, at most, in the versions that were measured; and where memory is short. Sequences of an engine's
 * worker whose test set a limit that its source does not give. */
enum { BUDGET = 8192, BUDGET_SMALL = 512, SLOTS = 1024 };

/* A worker of one pool, ready to be priced. */
typedef struct {
    SubMesh submesh;
    ServingLayout layout;
    PricedLayout priced;
    double workers;
    int64_t room; /* sequences of full length */
} Pool;

typedef struct {
    ServingReplay *with;
    const ServingRun *run;
    ServingOutcome *out;
    ServingQuestion *question;
    const ReplayPlace *place;
    int engine;
    Error *error;
} Replaying;

static bool skip(const Replaying *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool skip(const Replaying *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to->out->skipped, sizeof to->out->skipped, format, arguments);
    va_end(arguments);
    return true;
}

/* The question of a row but for its machine. False: it was skipped, or *error says why not. */
static bool ask(Replaying *to) {
    const ServingRun *run = to->run;
    ServingQuestion *question = to->question;
    if (run->not_replayed[0]) return skip(to, "%s", run->not_replayed), false;
    const ReplayModel *model = served_model(to->with, run->model, true, to->error);
    to->engine = served_engine(run->engine);
    if (!model) return false;
    if (!model->known) return skip(to, "the zoo has no model %.60s", run->model), false;
    if (to->engine < 0) return skip(to, "%.60s is none of the engines that are priced", run->engine), false;
    to->place = served_place(to->with, run, to->engine, to->error);
    if (!to->place) return false;
    if (!to->place->known) return skip(to, "the catalog has no chip %.60s", run->chip), false;
    if (to->place->chip.own_software)
        return skip(to, "%.60s has its vendor's own engines, which are not priced", run->chip), false;
    to->out->drafts_unknown = run->drafts_unknown;
    if (!(run->prompt > 0) || !(run->output > 0)) return skip(to, "the lengths of its requests are not fixed"), false;
    to->out->mixture = model_has_experts(&model->model);
    question->model = model->model;
    question->chip = to->place->chip;
    question->device = to->place->device;
    question->profiles[to->engine] = to->place->profile;
    if (run->memory_fraction > 0) question->profiles[to->engine].memory_fraction = run->memory_fraction;
    question->request.cached = 0;
    question->rate = 0;
    question->concurrency = 0;
    question->budgets[0] = BUDGET;
    question->budget_count = 1;
    double share = run->length_share > 0 ? run->length_share : 1;
    question_lengths(question, run->prompt * share, max_real(1, run->output * share));
    question->weights[0] = served_weights(to->with, run);
    question->caches[0] = served_cache(run, question->weights[0], to->engine);
    return true;
}

/* The quickest place of the layout's degrees in its sub-mesh: what a launcher that knows the machine does. */
static bool place(Replaying *to, Pool *pool) {
    WorkerLayout *layout = &pool->layout.layout;
    Degrees degrees = {{1, 1, 1, 1, 1, 1}};
    Arena arena = {0};
    Placement *placements;
    int64_t count = 0;
    double best = INFINITY;
    degrees.of[ROLE_TENSOR] = layout->tensor;
    degrees.of[ROLE_EXPERT] = layout->attention_data;
    degrees.of[ROLE_PIPELINE] = layout->pipeline;
    bool ok = placements_enumerate(&pool->submesh.mesh, &degrees, &arena, &placements, &count, to->error);
    for (int64_t i = 0; i < count && ok; i++) {
        PricedLayout priced;
        WorkerLinks links;
        StepLoad load = {.sequences = 16, .context = to->question->mean_context};
        StepCost step;
        Placement kept = pool->layout.placement;
        pool->layout.placement = placements[i];
        layout_links(to->question, &pool->layout, &links);
        price_layout(to->question, &pool->layout, &links, &priced);
        worker_step(&priced.step, &load, &step);
        if (step.seconds < best)
            best = step.seconds, pool->priced = priced;
        else
            pool->layout.placement = kept;
    }
    arena_free(&arena);
    pool->priced.on = &pool->layout;
    if (ok && !(best < INFINITY)) return skip(to, "its degrees do not lie on such a machine"), false;
    return ok;
}

static bool submesh_of(Replaying *to, int64_t devices, SubMesh *submesh) {
    Machine machine;
    Error own = {0};
    MachineRequest requested = {.chips = question_chips(to->question, devices)};
    if (!machine_from_request(&to->question->chip, &requested, &machine, &own)) {
        if (!(to->place->device.hbm_bytes.value > 0))
            return skip(to, "the catalog does not know the HBM of %.40s", to->question->chip.name), false;
        return skip(to, "%lld chips are no machine of %.40s", (long long)requested.chips, to->question->chip.name),
               false;
    }
    *submesh = (SubMesh){.mesh = machine.mesh, .devices = machine.mesh.devices, .copies = 1};
    for (int a = 0; a < machine.mesh.axis_count; a++) submesh->size[a] = machine.mesh.axes[a].size;
    to->question->machine = machine;
    return submesh->devices == devices || (skip(to, "its degrees do not use all devices of its chips"), false);
}

/* Where experts do not divide, the fullest have redundant copies: 256 on 48 chips are 288, six on each. */
static void add_redundant_experts(Model *model, int64_t ways) {
    for (int i = 0; i < model->kind_count; i++) {
        LayerKind *kind = &model->kinds[i];
        if (kind->experts > ways) kind->experts = divide_up(kind->experts, ways) * ways;
    }
}

/* Why a layout does not divide the model. */
static void skip_indivisible(const Replaying *to, const Model *model, const WorkerLayout *layout) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].heads % layout->tensor != 0) {
            skip(to, "its tensor degree does not divide the model's heads: no engine runs that");
            return;
        }
    skip(to, "its degrees do not divide the model");
}

/* Sequences of full length that a worker holds. What was measured did run: an engine takes more of HBM than by default
 * where it is configured to, up to all of it. */
static int64_t room_of(const Replaying *to, PricedLayout *priced) {
    int64_t room = layout_room(&priced->memory, BUDGET);
    if (room == 0) room = layout_room(&priced->memory, BUDGET_SMALL);
    if (room > 0) return room;
    priced->memory.limit_bytes = to->place->device.hbm_bytes.value;
    return layout_room(&priced->memory, BUDGET_SMALL);
}

/* Degrees that a row does not give are 1; experts without a degree are cut like the rest. */
static bool lay_out(Replaying *to, const RunWorker *worker, int64_t workers, Pool *pool) {
    ServingQuestion *question = to->question;
    int64_t tensor = max_whole(1, worker->tensor), data = max_whole(1, worker->attention_data);
    int64_t pipeline = max_whole(1, worker->pipeline), group = tensor * data, expert = max_whole(1, worker->expert);
    if (!model_has_experts(&question->model)) expert = group = 1;
    if (group % expert != 0) return skip(to, "experts %lld ways do not divide its group", (long long)expert), false;
    memset(pool, 0, sizeof *pool);
    pool->workers = (double)workers;
    pool->layout = (ServingLayout){.engine = to->engine, .submesh = &pool->submesh};
    pool->layout.layout = (WorkerLayout){
        tensor, data, pipeline, expert, group / expert, 1, 1, 1, question->weights[0], question->caches[0]};
    Model published = question->model;
    add_redundant_experts(&question->model, expert);
    bool ok = layout_divides(&question->model, &pool->layout.layout);
    if (!ok) skip_indivisible(to, &published, &pool->layout.layout);
    ok = ok && submesh_of(to, tensor * data * pipeline, &pool->submesh) && place(to, pool);
    question->model = published;
    if (!ok) return false;
    pool->room = room_of(to, &pool->priced);
    return pool->room > 0 || (skip(to, "by this model it does not fit"), false);
}

static void say_layout(const Replaying *to, const Pool *pool) {
    const WorkerLayout *layout = &pool->layout.layout;
    snprintf(to->out->layout, sizeof to->out->layout, "%stensor=%lld%s%s%s", pool->workers > 1 ? "copies, " : "",
             (long long)layout->tensor, layout->pipeline > 1 ? " pipeline" : "",
             layout->attention_data > 1 ? " attention_data" : "", layout->expert > 1 ? " expert" : "");
}

/* ---- modes ---- */

/* A first token that takes longer than all others waited for a slot. Where memory has room for every client, the engine
 * was configured to hold fewer, and the row does not say how many: its time of a token is of another batch. */
static bool waited_for_slots(const Replaying *to, const Pool *pool, double clients) {
    const ServingRun *run = to->run;
    return run->ttft_seconds > run->tpot_seconds * (run->output - 1) && clients <= (double)pool->room;
}

/* Answers that begin together wait for the prompts of those behind them alone: half of what a steady state has. */
static double tpot_beside_prompts(const Replaying *to, const Pool *pool, const ServingPoint *steady) {
    const ServingProfile *profile = &to->question->profiles[to->engine];
    ServingPoint decode;
    point_of_batch(to->question, &pool->priced, steady->pools[0].batch, SERVE_DECODE, &decode);
    return steady->tpot_seconds - profile->burst / 2 * (steady->tpot_seconds - decode.tpot_seconds);
}

/* A prompt alongside others that came at once waits for half of them; requests beyond the slots wait for one. */
static void price_closed(Replaying *to, const Pool *pool, double clients) {
    const ServingProfile *profile = &to->question->profiles[to->engine];
    double output = to->question->request.output, prompt = to->question->request.prompt;
    int64_t batch = min_whole((int64_t)ceil(clients), pool->room);
    ServingPoint point;
    StepCost full;
    point_of_batch(to->question, &pool->priced, batch, SERVE_AGGREGATED, &point);
    StepLoad all = {.prompt_tokens = BUDGET, .prompt_context = to->question->prompt_context};
    worker_step(&pool->priced.step, &all, &full);
    double prefill = full.seconds * prompt / BUDGET, ttft = point.pools[0].step.seconds / 2 + prefill;
    if (point_first_token(to->question, &pool->priced, &point)) ttft = point.ttft_seconds;
    ttft += profile->burst * (double)(batch - 1) / 2 * prefill;
    double tpot = tpot_beside_prompts(to, pool, &point), life = ttft + tpot * (output - 1);
    if (clients > (double)batch) ttft += (clients - (double)batch) / (double)batch * life;
    to->out->resident = (double)batch * pool->workers;
    to->out->predicted = (ServingFigures){tpot, ttft, (double)batch * pool->workers * output / life};
}

/* A test of some requests has a beginning and an end, and is gone through step by step. */
static bool price_test(Replaying *to, const Pool *pool) {
    const ServingQuestion *question = to->question;
    ServedBurst burst = {.requests = ceil(to->run->requests / pool->workers),
                         .prompt = question->request.prompt,
                         .output = question->request.output,
                         .rate = to->run->rate / pool->workers,
                         .exponential = to->run->exponential,
                         .clients = to->run->concurrency / pool->workers,
                         .slots = min_real(question->profiles[to->engine].start_sequences, (double)pool->room),
                         .budget = min_real(question->profiles[to->engine].start_tokens, BUDGET)};
    if (to->run->batch > 0) burst.slots = min_real(burst.slots, ceil(to->run->batch / pool->workers));
    ServingFigures *out = &to->out->predicted;
    if (!served_burst(&pool->priced.step, &burst, to->with->arena, out)) return error_memory(to->error);
    out->ttft_seconds += question->profiles[to->engine].first_token_seconds;
    out->tokens_per_second *= pool->workers;
    to->out->resident = min_real(burst.slots, burst.requests) * pool->workers;
    return true;
}

/* One of many requests is its steady state. */
static bool price_offline(Replaying *to, const Pool *pool) {
    ServingPoint point;
    int64_t batch = min_whole(SLOTS, pool->room);
    if (to->run->requests > 0) return price_test(to, pool);
    if (to->run->concurrency > 0)
        batch = min_whole(batch, max_whole(1, (int64_t)(to->run->concurrency / pool->workers)));
    point_of_batch(to->question, &pool->priced, batch, SERVE_AGGREGATED, &point);
    to->out->resident = (double)batch * pool->workers;
    to->out->predicted = (ServingFigures){point.tpot_seconds, 0, (double)batch * pool->workers * point.per_user};
    return true;
}

/* All prompts first, then all decode steps of one batch. */
static bool price_static(Replaying *to, const Pool *pool) {
    const ServingQuestion *question = to->question;
    double batch = ceil(max_real(to->run->batch, to->run->concurrency) / pool->workers);
    double prompts = batch * question->request.prompt, output = question->request.output;
    ServingPoint point;
    StepCost full;
    if (!(batch >= 1)) return skip(to, "its batch is not given");
    StepLoad all = {.prompt_tokens = min_real(prompts, BUDGET), .prompt_context = question->prompt_context};
    point_of_batch(question, &pool->priced, (int64_t)batch, SERVE_DECODE, &point);
    worker_step(&pool->priced.step, &all, &full);
    double ttft = prompts / all.prompt_tokens * full.seconds;
    to->out->resident = batch * pool->workers;
    to->out->predicted = (ServingFigures){point.tpot_seconds, ttft,
                                          batch * pool->workers * output / (ttft + (output - 1) * point.tpot_seconds)};
    if (to->run->whole_seconds > 0) /* the whole is what was timed */
        to->out->measured.tokens_per_second = batch * pool->workers * output / to->run->whole_seconds;
    return true;
}

/* The batch at which requests leave as often as they come. */
static bool price_open(Replaying *to, const Pool *pool) {
    double output = to->question->request.output, rate = to->run->rate / pool->workers;
    int64_t low = 1, high = pool->room;
    ServingPoint point;
    if (!(rate > 0)) return skip(to, "its rate of requests is not given");
    if (to->run->requests > 0) return price_test(to, pool);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        point_of_batch(to->question, &pool->priced, middle, SERVE_AGGREGATED, &point);
        if ((double)middle / (output * point.tpot_seconds) >= rate)
            high = middle;
        else
            low = middle + 1;
    }
    point_of_batch(to->question, &pool->priced, low, SERVE_AGGREGATED, &point);
    to->out->resident = (double)low * pool->workers;
    to->out->predicted = (ServingFigures){point.tpot_seconds, 0, to->run->rate * output};
    if (point_first_token(to->question, &pool->priced, &point)) to->out->predicted.ttft_seconds = point.ttft_seconds;
    return true;
}

static bool price_prompts(Replaying *to, Pool *pool) {
    ServingPool serving = {.on = pool->layout};
    PromptTime time = prompt_time(to->question, &pool->priced, &serving);
    if (!(time.seconds < INFINITY)) return skip(to, "by this model it does not fit");
    to->out->predicted =
        (ServingFigures){0, time.wait_seconds, pool->workers * to->question->request.prompt / time.seconds};
    to->out->measured.tokens_per_second = to->run->prompt_tokens_per_second_per_chip * (double)to->run->chips;
    return true;
}

/* ---- two pools ---- */

typedef struct {
    Pool *prompts, *decode;
    double wait_seconds;       /* of a first token: a prompt that is alone, and the share that comes in a burst */
    double prompts_per_second; /* of all workers, steps full to the budget of each rank */
    double clients;            /* requests in flight */
} TwoPools;

/* Each client waits for its first token, then for the others, and sends again; no more than the prompts' workers
 * take. */
static double clients_rate(const TwoPools *pools, double tpot_seconds, double output) {
    return min_real(pools->prompts_per_second, pools->clients / (pools->wait_seconds + tpot_seconds * (output - 1)));
}

/* The least batch of a worker that holds what the clients have in it: the longer a token takes, the more they are. */
static int64_t decode_batch(Replaying *to, const TwoPools *pools) {
    int64_t low = 1, high = pools->decode->room;
    double output = to->question->request.output;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        ServingPoint point;
        point_of_batch(to->question, &pools->decode->priced, middle, SERVE_DECODE, &point);
        double held = clients_rate(pools, point.tpot_seconds, output) * point.tpot_seconds * (output - 1);
        if (held <= (double)middle * pools->decode->workers)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool lay_out_two(Replaying *to, TwoPools *pools) {
    const ServingRun *run = to->run;
    const ServingQuestion *question = to->question;
    if (run->prefill.workers < 1 || run->decode.workers < 1)
        return skip(to, "its numbers of workers are not given"), false;
    if (!(run->concurrency > 0)) return skip(to, "its number of requests in flight is not given"), false;
    if (!lay_out(to, &run->prefill, run->prefill.workers, pools->prompts) ||
        !lay_out(to, &run->decode, run->decode.workers, pools->decode))
        return false;
    ServingPool serving = {.on = pools->prompts->layout};
    PromptTime own = prompt_time(question, &pools->prompts->priced, &serving);
    double ranks = (double)pools->prompts->layout.layout.attention_data;
    StepLoad all = {.prompt_tokens = BUDGET * ranks, .prompt_context = question->prompt_context};
    const ServingProfile *profile = &question->profiles[to->engine];
    StepCost full;
    if (!(own.seconds < INFINITY)) return skip(to, "by this model it does not fit"), false;
    worker_step(&pools->prompts->priced.step, &all, &full);
    pools->prompts_per_second =
        pools->prompts->workers / min_real(own.seconds, full.seconds * question->request.prompt / all.prompt_tokens);
    pools->clients = run->concurrency;
    StepLoad one = {.sequences = 1, .context = question->mean_context};
    StepCost decode;
    worker_step(&pools->decode->priced.step, &one, &decode);
    pools->wait_seconds = own.wait_seconds + hand_over_seconds(profile, &decode) +
                          profile->burst * (run->concurrency - 1) / 2 / pools->prompts_per_second;
    return true;
}

/* Where the source has no throughput, the clients' own times have it: each sends its next request when one is done. */
static void measure_by_clients(Replaying *to) {
    const ServingRun *run = to->run;
    double output = to->question->request.output;
    if (to->out->measured.tokens_per_second > 0 || !(run->concurrency > 0) || !(run->tpot_seconds > 0)) return;
    to->out->measured.tokens_per_second =
        run->concurrency * output / (run->ttft_seconds + run->tpot_seconds * (output - 1));
}

static bool price_two_pools(Replaying *to) {
    Pool *room = ARENA_NEW(to->with->arena, Pool, 2);
    TwoPools pools = {.prompts = room, .decode = room + 1};
    if (!room) return error_memory(to->error);
    if (!lay_out_two(to, &pools)) return to->out->skipped[0] != '\0';
    double output = to->question->request.output;
    ServingPoint point;
    int64_t batch = decode_batch(to, &pools);
    point_of_batch(to->question, &pools.decode->priced, batch, SERVE_DECODE, &point);
    double slots = (double)batch * pools.decode->workers;
    double rate = min_real(clients_rate(&pools, point.tpot_seconds, output), slots / (output * point.tpot_seconds));
    double rest = pools.clients / rate - point.tpot_seconds * (output - 1);
    say_layout(to, pools.decode);
    measure_by_clients(to);
    to->out->resident = slots;
    to->out->predicted = (ServingFigures){point.tpot_seconds, max_real(pools.wait_seconds, rest), rate * output};
    return true;
}

static bool price(Replaying *to) {
    const ServingRun *run = to->run;
    Pool *pool = ARENA_NEW(to->with->arena, Pool, 1);
    if (!pool) return error_memory(to->error);
    int64_t devices = max_whole(1, run->worker.tensor) * max_whole(1, run->worker.attention_data) *
                      max_whole(1, run->worker.pipeline);
    int64_t workers = run->worker.workers > 0
                          ? run->worker.workers
                          : max_whole(1, run->chips * to->question->chip.devices_per_chip / devices);
    if (strcmp(run->mode, "disagg") == 0) return price_two_pools(to);
    if (run->worker.tensor < 1) return skip(to, "its layout is not given");
    if (!lay_out(to, &run->worker, workers, pool)) return to->out->skipped[0] != '\0';
    say_layout(to, pool);
    if (strcmp(run->mode, "closed-loop") == 0) {
        if (!(run->concurrency > 0)) return skip(to, "its number of requests in flight is not given");
        if (waited_for_slots(to, pool, run->concurrency / (double)workers))
            return skip(to, "its requests waited for slots, whose number is not given");
        return price_closed(to, pool, run->concurrency / (double)workers), true;
    }
    bool without_end = strcmp(run->mode, "open-loop-inf") == 0 && !(run->requests > 0);
    if (served_at_once(run) && !without_end) return price_offline(to, pool);
    if (strcmp(run->mode, "static-batch") == 0) return price_static(to, pool);
    if (strcmp(run->mode, "open-loop") == 0) return price_open(to, pool);
    return price_prompts(to, pool);
}

bool served_at_once(const ServingRun *run) {
    return strcmp(run->mode, "offline-max") == 0 || strcmp(run->mode, "open-loop-inf") == 0;
}

bool serving_replay(ServingReplay *with, const ServingRun *run, ServingOutcome *out, Error *error) {
    if (!with->question) with->question = ARENA_NEW(with->arena, ServingQuestion, 1);
    if (!with->question) return error_memory(error);
    Error own = {0};
    Arena arena = {0}, *kept = with->arena;
    Replaying to = {.with = with, .run = run, .out = out, .question = with->question, .error = &own};
    *out = (ServingOutcome){.run = run};
    out->measured = (ServingFigures){run->tpot_seconds, run->ttft_seconds, run->tokens_per_second};
    bool ok = ask(&to);
    with->arena = &arena; /* what only this row needs */
    ok = ok && price(&to);
    with->arena = kept;
    arena_free(&arena);
    if (!ok && own.kind != ERROR_NONE) return *error = own, false;
    return true;
}

double serving_error(const ServingOutcome *outcome) {
    const ServingFigures *was = &outcome->measured, *now = &outcome->predicted;
    if (outcome->skipped[0]) return NAN;
    if (was->tpot_seconds > 0 && now->tpot_seconds > 0) return now->tpot_seconds / was->tpot_seconds - 1;
    if (was->tokens_per_second > 0 && now->tokens_per_second > 0)
        return was->tokens_per_second / now->tokens_per_second - 1;
    return NAN;
}
