/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two pools. Each has its own list of workers of which none is beaten in the same sub-mesh of chips: for prompts by
 * requests per second and by the wait of one (ranks of attention data serve more and each later), for decoding by
 * tokens per second of a user and of the worker. The lists are then combined over whole numbers of workers that the
 * machine holds. */
#include "search/serving/explore.h"

#include "base/util.h"
#include "cost/serving/cache.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    ServingSearch *search;
    /* By sub-mesh, then by type of the cache, of one worker: per_user is 1 / a prompt's wait, per_chip prompts per
     * second. */
    ServingFront *prompts;
    /* Chip-seconds that a request takes at least of workers for prompts, by type of the cache; infinite: none fits. */
    double least_prompt[STORED_COUNT];
    ServingFront decodes[STORED_COUNT]; /* of one sub-mesh; per_chip: tokens per second of one worker */
} WorkerFronts;

static bool gather_prompts(void *context, const ServingLayout *layout, const WorkerLinks *links) {
    WorkerFronts *fronts = context;
    ServingSearch *search = fronts->search;
    ptrdiff_t submesh = layout->submesh - search->submeshes->list;
    ServingPoint point = {.mode = SERVE_PREFILL, .pool_count = 1};
    PricedLayout priced;
    point.pools[0] = (ServingPool){.phase = PHASE_PROMPTS, .on = *layout};
    price_layout(search->question, layout, links, &priced);
    PromptTime time = prompt_time(search->question, &priced, &point.pools[0]);
    if (!prompts_counted(search, layout, time.seconds)) return true;
    point.per_user = 1 / time.wait_seconds;
    point.per_chip = 1 / time.seconds;
    double load = search->question->profiles[search->engine].prefill_load;
    double *least = &fronts->least_prompt[layout->layout.cache];
    *least = min_real(*least, time.seconds / load * (double)layout->submesh->devices);
    return front_add(&fronts->prompts[submesh * STORED_COUNT + layout->layout.cache], &point, search->error);
}

/* ---- decode: a front for each sub-mesh ---- */

static ServingFront *front_of(const LayoutSearch *on) {
    return &((WorkerFronts *)on->context)->decodes[on->layout.on->layout.cache];
}

static bool try_decode(LayoutSearch *on, int64_t batch, ServingPoint *point) {
    const ServingQuestion *question = on->search->question;
    point_of_batch(question, &on->layout, batch, SERVE_DECODE, point);
    point->per_chip = (double)batch * point->per_user; /* of one worker */
    bool late = question->tpot_limit_seconds > 0 && point->tpot_seconds > question->tpot_limit_seconds;
    if (late || !point_first_token(question, &on->layout, point)) return true;
    return front_add(front_of(on), point, on->search->error);
}

/* Tokens per second and chip of two pools, when a worker of this sub-mesh makes `worker_rate` of them: a request takes
 * its chip-seconds of decoding, and at least those of the best worker for prompts. */
static double chip_bound(const LayoutSearch *on, double worker_rate) {
    const ServingQuestion *question = on->search->question;
    const ServingLayout *layout = on->layout.on;
    const WorkerFronts *fronts = on->context;
    double output = question->request.output, per_chip = max_real(1, (double)question->chip.devices_per_chip);
    double device_seconds =
        fronts->least_prompt[layout->layout.cache] + (double)layout->submesh->devices * output / worker_rate;
    return per_chip * output / device_seconds;
}

/* They are beaten by a worker of their own sub-mesh, or by a point of the front. */
static bool is_cut(const LayoutSearch *on, const ServingPoint *at_low, int64_t high, bool late, LogLine *line) {
    double slack = search_slack(on->search), worker;
    line->user = at_low->per_user * slack;
    worker = (double)high * line->user;
    line->chip = chip_bound(on, worker) * slack;
    if (late || !front_beats(front_of(on), line->user, worker))
        return late || front_beats(on->search->front, line->user, line->chip);
    line->what = "worker";
    line->chip = worker;
    return true;
}

static bool gather_decodes(void *context, const ServingLayout *layout, const WorkerLinks *links) {
    WorkerFronts *fronts = context;
    LayoutSearch on = {.search = fronts->search, .try_batch = try_decode, .is_cut = is_cut, .context = fronts};
    price_layout(fronts->search->question, layout, links, &on.layout);
    return explore_batches(&on);
}

/* ---- how many workers of two forms fit side by side ---- */

/* Domains of `size` devices: the axis inside, and how many of them there are. */
typedef struct {
    int64_t size, count;
} Domains;

static Domains domains_of(const Mesh *machine) {
    Domains domains = {1, 1};
    for (int a = 0; a < machine->axis_count; a++)
        *(axis_is_across(&machine->axes[a]) ? &domains.count : &domains.size) *= machine->axes[a].size;
    return domains;
}

/* Whole domains that a worker takes; 0: it shares one. */
static int64_t whole_domains(const SubMesh *submesh, Domains domains) {
    return submesh->devices >= domains.size ? submesh->devices / domains.size : 0;
}

static int64_t in_domains(const SubMesh *submesh, Domains domains, int64_t free) {
    int64_t whole = whole_domains(submesh, domains);
    return whole > 0 ? free / whole : free * (domains.size / submesh->devices);
}

/* Both share domains: by the number of domains that are filled, the most of the second next to x of the first. */
static bool fill_shared(const SubMesh *first, const SubMesh *second, Domains domains, int64_t x_max, int64_t *most,
                        Arena *arena) {
    int64_t *last = ARENA_NEW(arena, int64_t, (size_t)x_max + 1);
    if (!last) return false;
    for (int64_t x = 0; x <= x_max; x++) most[x] = x == 0 ? 0 : -1;
    for (int64_t domain = 0; domain < domains.count; domain++) {
        for (int64_t x = 0; x <= x_max; x++) last[x] = most[x];
        for (int64_t x = 0; x <= x_max; x++) {
            most[x] = -1;
            for (int64_t i = 0; i <= x && i * first->devices <= domains.size; i++)
                if (last[x - i] >= 0)
                    most[x] = max_whole(most[x], last[x - i] + (domains.size - i * first->devices) / second->devices);
        }
    }
    return true;
}

static void fill_domains(const SubMesh *first, const SubMesh *second, Domains domains, int64_t x_max, int64_t *most) {
    int64_t whole = whole_domains(first, domains);
    for (int64_t x = 0; x <= x_max; x++) {
        int64_t taken = whole > 0 ? x * whole : divide_up(x, domains.size / first->devices);
        most[x] = taken <= domains.count ? in_domains(second, domains, domains.count - taken) : -1;
    }
}

/* One cut across one axis: the first pool has `own` of it, the second the rest. */
static void cut_torus(const Mesh *machine, const SubMesh *first, const SubMesh *second, int64_t x_max, int64_t *most) {
    for (int64_t x = 0; x <= x_max; x++) most[x] = x == 0 ? second->copies : x <= first->copies ? 0 : -1;
    for (int a = 0; a < machine->axis_count; a++) {
        int64_t size = machine->axes[a].size;
        for (int64_t own = 1; own < size; own++) {
            int64_t x = first->copies / (size / first->size[a]) * (own / first->size[a]);
            int64_t y = second->copies / (size / second->size[a]) * ((size - own) / second->size[a]);
            for (int64_t i = 1; i <= min_whole(x, x_max); i++) most[i] = max_whole(most[i], y);
        }
    }
}

bool packing_most(const Mesh *machine, const SubMesh *first, const SubMesh *second, int64_t first_max, Arena *arena,
                  int64_t **most) {
    bool torus = false;
    Domains domains = domains_of(machine);
    for (int a = 0; a < machine->axis_count; a++)
        torus = torus || machine->axes[a].kind == AXIS_RING || machine->axes[a].kind == AXIS_LINE;
    *most = ARENA_NEW(arena, int64_t, (size_t)first_max + 1);
    if (!*most) return false;
    if (torus) return cut_torus(machine, first, second, first_max, *most), true;
    if (whole_domains(first, domains) || whole_domains(second, domains))
        return fill_domains(first, second, domains, first_max, *most), true;
    return fill_shared(first, second, domains, first_max, *most, arena);
}

/* ---- both together ---- */

/* The links between two workers: those of the network where the machine has more than one domain, else its own. */
static double transfer_seconds(const ServingQuestion *question, const ServingPool *prompts,
                               const ServingPool *decodes) {
    const Mesh *machine = &question->machine.mesh;
    double chips =
        (double)question_chips(question, min_whole(prompts->on.submesh->devices, decodes->on.submesh->devices));
    double rate = 0, bytes = cache_bytes_per_sequence(&question->model, stored_bytes(prompts->on.layout.cache),
                                                      question->request.prompt, 1);
    for (int a = 0; a < machine->axis_count; a++)
        if (axis_is_across(&machine->axes[a]) || rate == 0) rate = machine->axes[a].bytes_per_second;
    double share = question->profiles[prompts->on.engine].link_share;
    return rate > 0 ? bytes / (rate * share * chips) : 0;
}

typedef struct {
    ServingSearch *search;
    const ServingPoint *prompts;
    const int64_t *most; /* packing_most(): the first are workers for prompts */
    int64_t most_count;
    double transfer;
} Pair;

static double requests_of(const Pair *pair, int64_t x, int64_t y, const ServingPoint *decode) {
    const ServingProfile *profile = &pair->search->question->profiles[decode->pools[0].on.engine];
    double prompts = (double)x * profile->prefill_load * pair->prompts->per_chip;
    return min_real(prompts, (double)y * (decode->per_chip / pair->search->question->request.output));
}

/* Whether so many workers may have these chips: a condition of --require may say how many each pool has. */
static bool admits_pool(const ServingQuestion *question, const ServingPool *pool, LayoutWord word, int64_t workers) {
    return question_admits(question, pool->phase, word,
                           (int64_t)question_chips(question, workers * pool->on.submesh->devices));
}

/* The numbers of workers that serve most. The rate of prompts rises with x and what remains for decode falls. */
static bool best_numbers(const Pair *pair, const ServingPoint *decode, int64_t *x, int64_t *y) {
    const ServingQuestion *question = pair->search->question;
    double best = 0;
    bool divided = question_divides_pools(question);
    for (int64_t i = 1; i < pair->most_count && pair->most[i] > 0; i++) {
        int64_t most = pair->most[i];
        if (divided && !admits_pool(question, &pair->prompts->pools[0], LAYOUT_PREFILL_CHIPS, i)) continue;
        if (question->concurrency > 0) most = min_whole(most, question->concurrency / decode->pools[0].batch);
        while (divided && most > 0 && !admits_pool(question, &decode->pools[0], LAYOUT_DECODE_CHIPS, most)) most--;
        double requests = most > 0 ? requests_of(pair, i, most, decode) : 0;
        if (question->rate > 0 && requests >= question->rate) { /* no more of either than it takes */
            double one = requests_of(pair, INT64_C(1) << 40, 1, decode);
            *x = i;
            *y = max_whole(1, (int64_t)ceil(question->rate / one * (1 - 1e-12)));
            while (divided && *y < most && !admits_pool(question, &decode->pools[0], LAYOUT_DECODE_CHIPS, *y)) ++*y;
            return *y <= most;
        }
        if (!(requests > best)) continue;
        best = requests;
        *x = i;
        *y = most;
    }
    return best > 0 && !(question->rate > 0);
}

static bool combine(const Pair *pair, const ServingPoint *decode) {
    ServingSearch *search = pair->search;
    const ServingQuestion *question = search->question;
    const ServingProfile *profile = &question->profiles[decode->pools[0].on.engine];
    ServingPoint point = *decode;
    int64_t x = 0, y = 0;
    search->count->pairs++;
    if (!best_numbers(pair, decode, &x, &y)) return search->count->pairs_cut++, true;
    point.mode = SERVE_DISAGGREGATED;
    point.pool_count = 2;
    point.pools[0] = pair->prompts->pools[0];
    point.pools[1] = decode->pools[0];
    point.pools[0].workers = x;
    point.pools[1].workers = y;
    double devices = (double)(x * point.pools[0].on.submesh->devices + y * point.pools[1].on.submesh->devices);
    point.chips_used = question_chips(question, (int64_t)devices);
    point.requests_per_second = requests_of(pair, x, y, decode);
    point.tokens_per_second = point.requests_per_second * question->request.output;
    if (question->rate > 0)
        point.tokens_per_second = min_real(point.tokens_per_second, question->rate * question->request.output);
    point.per_chip = point.tokens_per_second / point_chips_paid(question, &point);
    double requested =
        question->rate > 0 ? min_real(question->rate, point.requests_per_second) : point.requests_per_second;
    point.prefill_load = requested / pair->prompts->per_chip / (double)x;
    point.transfer_seconds = pair->transfer;
    double wait = point.prompt_seconds = 1 / pair->prompts->per_user;
    point.ttft_seconds =
        wait + pair->transfer + hand_over_seconds(profile, &decode->pools[0].step) + point_slot_wait(question, &point);
    if (profile->queue > 0) point.ttft_seconds += wait * profile->queue * queue_wait(point.prefill_load);
    if (front_beats(search->front, point.per_user, point.per_chip)) return search->count->pairs_cut++, true;
    if (!point_keeps_limits(question, &point)) return search->count->pairs_cut++, true;
    return front_add(search->front, &point, search->error);
}

static bool combine_submeshes(ServingSearch *search, const ServingFront *prompts, const ServingFront *decodes) {
    const SubMesh *first = prompts->points[0].pools[0].on.submesh;
    Pair pair = {.search = search, .most_count = first->copies + 1};
    Arena arena = {0};
    int64_t *most;
    const ServingPool *decode = &decodes->points[0].pools[0];
    bool ok = packing_most(&search->question->machine.mesh, first, decode->on.submesh, first->copies, &arena, &most);
    if (!ok) error_memory(search->error);
    pair.most = most;
    pair.transfer = transfer_seconds(search->question, &prompts->points[0].pools[0], decode);
    for (int p = 0; ok && p < prompts->count; p++) {
        pair.prompts = &prompts->points[p];
        for (int i = 0; ok && i < decodes->count; i++) ok = combine(&pair, &decodes->points[i]);
    }
    arena_free(&arena);
    return ok;
}

/* One sub-mesh of workers that decode, with all sub-meshes of workers for prompts; then it is forgotten. */
static bool decode_submesh(WorkerFronts *fronts, int number) {
    ServingSearch *search = fronts->search;
    Space space = {search->question, &(SubMeshList){&search->submeshes->list[number], 1}, PHASE_DECODES, search->engine,
                   &search->count->space};
    bool ok = space_each(&space, gather_decodes, fronts);
    for (int cache = 0; cache < STORED_COUNT; cache++) front_settle(&fronts->decodes[cache]);
    for (int cache = 0; cache < STORED_COUNT; cache++) {
        for (int i = 0; i < fronts->decodes[cache].count; i++) {
            const ServingPoint *point = &fronts->decodes[cache].points[i];
            search_log_add(search, &point->pools[0].on,
                           (LogLine){"worker_front", point->pools[0].batch, point->pools[0].batch, point->per_user,
                                     point->per_chip});
        }
        for (int submesh = 0; ok && submesh < search->submeshes->count && fronts->decodes[cache].count; submesh++) {
            const ServingFront *prompts = &fronts->prompts[submesh * STORED_COUNT + cache];
            if (prompts->count) ok = combine_submeshes(search, prompts, &fronts->decodes[cache]);
        }
        front_free(&fronts->decodes[cache]);
    }
    return ok;
}

bool explore_two_pools(ServingSearch *search) {
    size_t count = (size_t)search->submeshes->count * STORED_COUNT;
    WorkerFronts fronts = {.search = search, .prompts = calloc(count, sizeof *fronts.prompts)};
    Space space = {search->question, search->submeshes, PHASE_PROMPTS, search->engine, &search->count->space};
    if (!fronts.prompts) return error_memory(search->error);
    for (int cache = 0; cache < STORED_COUNT; cache++) fronts.least_prompt[cache] = INFINITY;
    bool ok = space_each(&space, gather_prompts, &fronts);
    for (size_t i = 0; i < count; i++) front_settle(&fronts.prompts[i]);
    for (int submesh = 0; ok && submesh < search->submeshes->count; submesh++) ok = decode_submesh(&fronts, submesh);
    front_settle(search->front);
    for (size_t i = 0; i < count; i++) front_free(&fronts.prompts[i]);
    free(fronts.prompts);
    return ok;
}
