/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/played.h"

#include "base/util.h"
#include "cost/stage/stage_totals.h"
#include "cost/time/step_terms.h"

#include <string.h>

/* Played and formula differ where one is longer by more than this; below it the formula stands. */
static const double DIFFERS = 0.01;

double step_of_both(double formula, double played) { return played > formula * (1 + DIFFERS) ? played : formula; }

/* Steps of more passes are played in rounds of as many microbatches as stages, and go on as the last round went. */
enum { PASSES_WHOLE = 1 << 11, ROUNDS_LEAST = 4 };

/* What of one microbatch is the same for every chunk, comes with a layer, and with a table. */
typedef struct {
    Resources once, layer, embedding, logits; /* seconds, messages and bytes; no memory */
} Pieces;

/* One pass of a chunk. */
typedef struct {
    double compute, exchange, length;
    double busy[MESH_AXES_MAX]; /* seconds that it keeps links of each axis busy, alongside itself */
} PassCost;

typedef struct {
    PassCost of[PHASE_COUNT];
} ChunkCost;

typedef struct {
    const PlayedPlan *plan;
    StageTotals sums;
    Pieces pieces;
    ActivationCost activations[ACTIVATION_COUNT];
    StepRule first, last; /* of the stage with the embedding, and with the logits */
    int stages, chunks;
    bool two_ways;
    ChunkCost *cost; /* [rank x chunks + chunk] */
    int *whole;      /* the same: the number of the pass in which a chunk's gradients become whole */
} Staging;

static void subtract(Resources *from, const Resources *what) {
    for (int i = 0; i < RESOURCE_COUNT; i++) from->of[i] -= what->of[i];
}

static void add_times(Resources *to, double times, const Resources *what) {
    for (int i = 0; i < RESOURCE_COUNT; i++) to->of[i] += times * what->of[i];
}

/* What a layer of a stage with so many has of what the layout makes again or sends to the host: a stage with fewer
 * layers than the layout is of does so with as many, if it has them. */
static void layout_of_layer(const Staging *at, double layers, Resources *out) {
    static const double NO_MEMORY[MOMENT_COUNT] = {0};
    *out = (Resources){{0}};
    for (int a = 0; a < ACTIVATION_COUNT && layers > 0; a++)
        for (int state = STATE_RECOMPUTED; state < STATE_COUNT && at->activations[a].exists; state++) {
            double of_stage = min_real(layers, (double)at->plan->plan->layout.layers[a][state]);
            resources_add_state(&at->activations[a], (ActivationState)state, of_stage / layers, NO_MEMORY, out);
        }
}

static void find_pieces(const PlayedPlan *plan, const StageTotals *sums, Pieces *out) {
    const ShardedStage stage = {plan->setting, plan->shard, &plan->plan->knobs, &plan->plan->layout.sharding};
    bool alone = plan->shard->pipeline <= 1;
    moved_of_stage(&stage, sums, &(StagePace){0}, &out->once);
    moved_of_stage(&stage, sums, &(StagePace){.layers = 1}, &out->layer);
    moved_of_stage(&stage, sums, &(StagePace){.embedding = true}, &out->embedding);
    moved_of_stage(&stage, sums, &(StagePace){.embedding = alone, .logits = true}, &out->logits);
    subtract(&out->logits, alone ? &out->embedding : &out->once); /* a tied table is there once */
    subtract(&out->layer, &out->once);
    subtract(&out->embedding, &out->once);
}

static double group_seconds(const Staging *at, const Resources *resources, int group, int phase) {
    Traffic traffic = step_traffic(&at->first, resources, group, phase);
    return collective_seconds(at->plan->rates->cost[group], traffic.messages, traffic.bytes);
}

static StepTerm term_of(const Staging *at, int group) {
    return step_term(&at->first, group, at->plan->rates->leaves_scale_up >> group & 1);
}

/* As the formula has it of a microbatch: what is exposed comes on top of compute, or of the busiest axis. */
static void find_pass(const Staging *at, const Resources *resources, int phase, PassCost *out) {
    const Rates *rates = at->plan->rates;
    double busiest = 0;
    *out = (PassCost){.compute = step_compute_seconds(resources, phase)};
    for (int group = 0; group < GROUP_DATA; group++) {
        StepTerm term = term_of(at, group);
        double seconds = group_seconds(at, resources, group, phase);
        out->exchange += term.critical ? term_exposed(&term, seconds, resources->of[RES_ATTENTION_FORWARD + phase])
                                       : term.exposed * seconds;
        for (int axis = 0; axis < rates->axis_count && axis < MESH_AXES_MAX; axis++)
            if (rates->axes[group] >> axis & 1) out->busy[axis] += term.hidden * seconds;
    }
    for (int axis = 0; axis < MESH_AXES_MAX; axis++) busiest = max_real(busiest, out->busy[axis]);
    if (resources->of[RES_OFFLOAD_BYTES] > 0)
        out->exchange +=
            at->first.host_exposed * resources->of[RES_OFFLOAD_BYTES] / 2 / at->first.offload_bytes_per_second;
    out->exchange += max_real(0, busiest - step_compute_seconds(resources, phase));
    out->length = out->compute + out->exchange;
}

/* Layers of what a rank calls its chunk: of DualPipe chunk 1 is the stage that lies as far from the other end. */
static double layers_at(const Staging *at, int stage, int chunk) {
    return (double)chunk_layers(at->plan->setting->model, at->plan->shard, at->two_ways ? 1 : at->chunks, stage,
                                at->two_ways ? 0 : chunk);
}

static double layers_of_stage(const Staging *at, int stage) {
    double layers = 0;
    for (int chunk = 0; chunk < (at->two_ways ? 1 : at->chunks); chunk++) layers += layers_at(at, stage, chunk);
    return layers;
}

static void find_passes(Staging *at, Play *play) {
    double known = 0; /* layers of the stage that `made` is of */
    Resources made;
    for (int rank = 0; rank < at->stages; rank++)
        for (int chunk = 0; chunk < play->chunks; chunk++) {
            int stage = at->two_ways && chunk == 1 ? at->stages - 1 - rank : rank;
            int parts = at->two_ways ? 1 : at->chunks;
            double layers = layers_at(at, stage, chunk), of_stage = layers_of_stage(at, stage);
            if (of_stage != known) layout_of_layer(at, known = of_stage, &made);
            Resources resources = {{0}};
            add_times(&resources, 1. / parts, &at->pieces.once);
            add_times(&resources, layers, &at->pieces.layer);
            if (layers > 0) add_times(&resources, layers, &made);
            if (stage == 0 && (at->two_ways || chunk == 0)) add_times(&resources, 1, &at->pieces.embedding);
            if (stage == at->stages - 1 && (at->two_ways || chunk == parts - 1))
                add_times(&resources, 1, &at->pieces.logits);
            PassCost *cost = at->cost[rank * play->chunks + chunk].of;
            for (int phase = 0; phase < PHASE_COUNT; phase++) find_pass(at, &resources, phase, &cost[phase]);
            double weights = weight_gradient_seconds(at->plan->setting, at->plan->shard, layers);
            play->seconds[rank][chunk] =
                (PassSeconds){cost[0].length, cost[1].length, min_real(weights, cost[1].length / 2)};
        }
}

/* What a group over replicas moves when a step begins, and when a chunk's gradients are whole; the rest of the rule's
 * start is spread (ZeRO-2). */
static void data_seconds(const Staging *at, const StepRule *rule, int axis, double *start, double *end,
                         double *spread) {
    const Knobs *knobs = &at->plan->plan->knobs;
    const Rates *rates = at->plan->rates;
    *start = *end = *spread = 0;
    for (int group = GROUP_DATA; group < GROUP_COUNT; group++) {
        if (!(rates->axes[group] >> axis & 1)) continue;
        StepTerm term = term_of(at, group);
        Traffic begin = rule->data_start[group - GROUP_DATA], behind = rule->data_end[group - GROUP_DATA];
        if (knobs->schedule == SCHEDULE_INTERLEAVED) { /* reduce_by_chunk(), taken back */
            double chunks = (double)knobs->virtual_stages;
            begin.messages = max_real(0, begin.messages - (chunks - 1) * behind.messages);
            begin.bytes = max_real(0, begin.bytes - (chunks - 1) * behind.bytes);
            behind.messages *= chunks, behind.bytes *= chunks;
        }
        double first = term.hidden * collective_seconds(rates->cost[group], begin.messages, begin.bytes);
        *(knobs->zero_stage == 2 ? spread : start) += first;
        *end += term.hidden * collective_seconds(rates->cost[group], behind.messages, behind.bytes);
    }
}

static const StepRule *rule_of(const Staging *at, int stage) {
    return stage == at->stages - 1 ? &at->last : &at->first;
}

/* Weights that ZeRO shards come together chunk by chunk, while the first microbatch goes through them. */
static void find_arrivals(const Staging *at, Play *play) {
    for (int rank = 0; rank < at->stages; rank++)
        for (int axis = 0; axis < at->plan->rates->axis_count && axis < MESH_AXES_MAX; axis++) {
            double start, end, spread;
            data_seconds(at, rule_of(at, rank), axis, &start, &end, &spread);
            for (int chunk = 0; chunk < play->chunks && start > 0; chunk++) {
                double own = at->cost[rank * play->chunks + chunk].of[PHASE_FORWARD].busy[axis];
                double *arrives = &play->arrives[rank][chunk];
                *arrives = max_real(*arrives, start * (chunk + 1) / play->chunks + own);
            }
        }
}

/* The passes in which the gradients of each chunk become whole. */
static bool find_whole(Staging *at, const Play *play, Arena *arena) {
    at->whole = ARENA_NEW(arena, int, (size_t)at->stages *(size_t)play->chunks);
    if (!at->whole) return false;
    for (int rank = 0; rank < at->stages; rank++)
        for (int i = 0; i < play->count[rank]; i++) {
            const Pass *pass = &play->passes[rank][i];
            int chunk = pass->kind == PASS_BOTH ? pass->back_chunk : pass->chunk;
            if (pass->kind != PASS_FORWARD && pass->kind != PASS_INPUT) at->whole[rank * play->chunks + chunk] = i;
        }
    return true;
}

/* When the links of an axis have moved all that a rank's passes leave to them: its own traffic and, from a chunk's last
 * backward on, its gradients. */
static double axis_ends(const Staging *at, const Play *play, const Played *played, int rank, int axis) {
    double start, end, spread, until = 0;
    data_seconds(at, rule_of(at, rank), axis, &start, &end, &spread);
    if (!(end > 0)) return 0;
    bool loop = schedule_is_loop(at->plan->plan->knobs.schedule); /* its gradients are reduced behind it */
    const int chunks = play->chunks, *whole = &at->whole[rank * chunks];
    int first = play->count[rank] - 1;
    for (int chunk = 0; chunk < chunks && !loop; chunk++) first = (int)min_whole(first, whole[chunk]);
    for (int i = first; i < play->count[rank]; i++) {
        const Pass *pass = &play->passes[rank][i];
        const PassCost *cost = at->cost[rank * chunks + pass->chunk].of;
        bool forward = pass->kind == PASS_FORWARD || pass->kind == PASS_BOTH;
        double moves = forward ? cost[0].busy[axis] : pass->kind == PASS_WEIGHTS ? 0 : cost[1].busy[axis];
        for (int chunk = 0; chunk < chunks && !loop; chunk++)
            if (whole[chunk] == i) moves += end / chunks;
        if (loop && i == play->count[rank] - 1) moves += end;
        until = max_real(until, played->begins[rank][i]) + moves;
    }
    return until;
}

/* Exposed seconds of what moves once a step. */
static double once_exposed(const Staging *at, const StepRule *rule) {
    double seconds = 0;
    for (int group = GROUP_DATA; group < GROUP_COUNT; group++) {
        StepTerm term = term_of(at, group);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            Traffic traffic = step_traffic(rule, NULL, group, phase);
            seconds += term.exposed * collective_seconds(at->plan->rates->cost[group], traffic.messages, traffic.bytes);
        }
    }
    return seconds;
}

/* Seconds outside of passes, as the stage has them that works longest with its own: launches and waits of every
 * microbatch, which a host that runs ahead hides wherever a stage waits. */
static double other_seconds(const Staging *at, const Play *play) {
    double longest = 0, other = 0;
    for (int rank = 0; rank < at->stages; rank++) {
        const StepRule *rule = rule_of(at, rank);
        double busy = 0;
        for (int chunk = 0; chunk < play->chunks; chunk++)
            busy += play->seconds[rank][chunk].F + play->seconds[rank][chunk].B;
        busy = busy * rule->microbatches / (at->two_ways ? 2 : 1) + rule->other_seconds;
        if (busy > longest) longest = busy, other = rule->other_seconds;
    }
    return other;
}

/* ---- stages, as they are reported ---- */

static double pass_share(const PassCost *cost, const Pass *pass, const PassSeconds *seconds) {
    if (pass->kind == PASS_INPUT) return (seconds->B - seconds->W) / cost[1].length;
    return pass->kind == PASS_WEIGHTS ? seconds->W / cost[1].length : 1;
}

static void note_pass(const Staging *at, const Play *play, int rank, const Pass *pass, PlayedStage *out) {
    const PassCost *cost = at->cost[rank * play->chunks + pass->chunk].of;
    bool forward = pass->kind == PASS_FORWARD || pass->kind == PASS_BOTH;
    if (forward) out->forward += cost[0].compute, out->exchange += cost[0].exchange;
    if (pass->kind == PASS_FORWARD) return;
    if (pass->kind == PASS_BOTH) cost = at->cost[rank * play->chunks + pass->back_chunk].of;
    double share = pass_share(cost, pass, &play->seconds[rank][pass->chunk]);
    out->backward += share * cost[1].compute, out->exchange += share * cost[1].exchange;
}

/* The most microbatches between the beginning of their forward and the end of their backward, each by the layers of its
 * chunk, over the stage's layers. */
static double held_most(const Staging *at, const Play *play, int rank) {
    double now = 0, most = 0, all = layers_of_stage(at, rank);
    bool split = false;
    for (int i = 0; i < play->count[rank]; i++) split = split || play->passes[rank][i].kind == PASS_WEIGHTS;
    for (int i = 0; i < play->count[rank]; i++) {
        const Pass *pass = &play->passes[rank][i];
        double layers = layers_at(at, rank, pass->chunk);
        if (pass->kind == PASS_FORWARD || pass->kind == PASS_BOTH) now += layers;
        most = max_real(most, now);
        if (pass->kind == PASS_BACKWARD || pass->kind == PASS_BOTH || (split && pass->kind == PASS_WEIGHTS))
            now -= layers;
    }
    return all > 0 ? most / all : 0;
}

static double stage_bytes(const Staging *at, int rank, double held) {
    const PlayedPlan *plan = at->plan;
    const ShardedStage stage = {plan->setting, plan->shard, &plan->plan->knobs, &plan->plan->layout.sharding};
    double kept = 0, layers = layers_of_stage(at, rank), most = 0;
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        if (at->activations[a].exists)
            kept += layout_kept_bytes(&at->activations[a], &plan->plan->layout, (Activation)a);
    bool last = rank == at->stages - 1;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        bool ends = moment == MOMENT_LAST_LOGITS || moment == MOMENT_LAST_BACKWARD;
        if (at->stages > 1 && moment != MOMENT_UPDATE && ends != last) continue;
        MemoryRows rows;
        double of = moment == MOMENT_UPDATE ? 0 : held * kept * layers / plan->shard->layers;
        memory_rows(&stage, (Moment)moment, of, &rows);
        most = max_real(most, memory_total(&rows));
    }
    return most;
}

static bool list_stages(const Staging *at, Arena *arena, PlayedStep *out) {
    out->stages = ARENA_NEW(arena, PlayedStage, (size_t)at->stages);
    if (!out->stages) return false;
    for (int rank = 0; rank < at->stages; rank++) {
        PlayedStage *stage = &out->stages[rank];
        int count = out->play.count[rank];
        for (int i = 0; i < count; i++) note_pass(at, &out->play, rank, &out->play.passes[rank][i], stage);
        stage->idle = max_real(0, out->played.end - stage->forward - stage->backward - stage->exchange);
        for (int axis = 0; axis < at->plan->rates->axis_count && axis < MESH_AXES_MAX; axis++)
            stage->reduction = max_real(stage->reduction, axis_ends(at, &out->play, &out->played, rank, axis) -
                                                              out->played.ends[rank][count - 1]);
        stage->reduction += once_exposed(at, rule_of(at, rank));
        stage->held = held_most(at, &out->play, rank);
        stage->memory_bytes = stage_bytes(at, rank, stage->held);
    }
    return true;
}

/* ---- the step ---- */

/* One play of some microbatches; *end: until passes and reductions of all ranks are over. */
static bool play_some(Staging *at, int microbatches, Arena *arena, Play *play, Played *played, double *end) {
    const Knobs *knobs = &at->plan->plan->knobs;
    Schedule schedule = at->stages > 1 ? knobs->schedule : SCHEDULE_1F1B;
    for (int attempt = 0; attempt < 2; attempt++) {
        /* a last group of fewer microbatches than stages can wait for itself: then all forwards go first */
        if (attempt == 0 ? !play_schedule(schedule, at->stages, microbatches, at->chunks, arena, play)
                         : !play_new(at->stages, microbatches, at->chunks, arena, play))
            return false;
        if (attempt > 0) play_forwards_first(play, at->stages);
        find_passes(at, play);
        find_arrivals(at, play);
        if (!play_run(play, arena, played) || !find_whole(at, play, arena)) return false;
        if (!played->stuck) break;
    }
    if (played->stuck) return false;
    *end = 0;
    for (int rank = 0; rank < at->stages; rank++) {
        double own = played->ends[rank][play->count[rank] - 1];
        for (int axis = 0; axis < at->plan->rates->axis_count && axis < MESH_AXES_MAX; axis++)
            own = max_real(own, axis_ends(at, play, played, rank, axis));
        *end = max_real(*end, own + once_exposed(at, rule_of(at, rank)));
    }
    return true;
}

static void find_rules(Staging *at) {
    const PlayedPlan *plan = at->plan;
    Shard shard = *plan->shard;
    shard.pace = PACE_FIRST;
    rule_of_sums(plan->setting, &shard, &plan->plan->knobs, &at->sums, &at->first);
    shard.pace = PACE_LAST;
    rule_of_sums(plan->setting, &shard, &plan->plan->knobs, &at->sums, &at->last);
}

/* Microbatches that are played of m: all, or a few rounds with the same rest. */
static int64_t microbatches_played(const Staging *at, int64_t m, int64_t round) {
    int64_t most = PASSES_WHOLE / at->stages / at->chunks / 2, least = ROUNDS_LEAST * round + m % round;
    if (m <= most || m <= least + round) return m;
    return least > most ? least : least + (most - least) / round * round;
}

static bool play_step(const PlayedPlan *plan, bool listed, Arena *arena, PlayedStep *out) {
    const Knobs *knobs = &plan->plan->knobs;
    Staging at = {.plan = plan, .two_ways = knobs->schedule == SCHEDULE_DUALPIPE};
    int64_t stages = (int64_t)plan->shard->pipeline, m = knobs->microbatches;
    int64_t chunks = stages > 1 ? max_whole(1, knobs->virtual_stages) : 1, round = (at.two_ways ? 2 : 1) * stages;
    *out = (PlayedStep){0};
    if (stages < 2 || stages > PLAY_PASSES_MAX / (2 * ROUNDS_LEAST) || chunks > INT16_MAX || m < 1) return false;
    at.stages = (int)stages, at.chunks = (int)chunks;
    int64_t some = microbatches_played(&at, m, round);
    if (some > PLAY_PASSES_MAX / stages / (at.two_ways ? 2 : chunks)) return false;
    at.cost = ARENA_NEW(arena, ChunkCost, (size_t)(stages * (at.two_ways ? 2 : chunks)));
    if (!at.cost) return false;
    stage_sums(plan->setting, plan->shard, &knobs->methods, &plan->plan->layout.sharding, &at.sums);
    find_rules(&at);
    find_pieces(plan, &at.sums, &at.pieces);
    stage_activations(plan->setting, plan->shard, knobs, &plan->plan->layout.sharding, at.activations);
    double end;
    if (!play_some(&at, (int)some, arena, &out->play, &out->played, &end)) return false;
    out->passes_seconds = out->played.end;
    if (some < m) {
        Play shorter;
        Played before;
        double less;
        if (!play_some(&at, (int)(some - round), arena, &shorter, &before, &less)) return false;
        double rounds = (double)(m - some) / (double)round;
        end += rounds * (end - less);
        out->passes_seconds += rounds * (out->played.end - before.end);
    }
    out->seconds =
        end + max_real(at.first.optimizer_seconds, at.last.optimizer_seconds) + other_seconds(&at, &out->play);
    return !listed || (find_whole(&at, &out->play, arena) && list_stages(&at, arena, out));
}

bool step_play(const PlayedPlan *plan, Arena *arena, PlayedStep *out) { return play_step(plan, true, arena, out); }

double played_seconds(const PlayedPlan *plan) {
    Arena arena = {0};
    PlayedStep step;
    double seconds = play_step(plan, false, &arena, &step) ? step.seconds : 0;
    arena_free(&arena);
    return seconds;
}
