/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/rl/rl_answer.h"

#include "base/util.h"
#include "mesh/host_link.h"

#include <math.h>
#include <stdlib.h>

const char *rl_phase_name(RlPhase phase) {
    static const char *const NAMES[RL_PHASES] = {"generation", "transfer", "logprobs",        "reference", "teacher",
                                                 "values",     "training", "critic_training", "load",      "other"};
    return NAMES[phase];
}

const char *rl_phase_words(RlPhase phase) {
    static const char *const WORDS[RL_PHASES] = {"generation",
                                                 "weights to the engines",
                                                 "log-probabilities",
                                                 "log-probabilities, reference",
                                                 "teacher",
                                                 "values of the critic",
                                                 "training",
                                                 "training of the critic",
                                                 "loading, offloading",
                                                 "rewards, data, other"};
    return WORDS[phase];
}

const char *rl_way_name(RlWay way) {
    static const char *const NAMES[RL_WAYS] = {"colocated", "split", "split_lagged"};
    return NAMES[way];
}

const char *rl_fate_name(RlFate fate) {
    static const char *const NAMES[RL_FATES] = {"best",           "searched",       "cut_by_floor",
                                                "cut_by_rollout", "cut_by_trainer", "lacks_room"};
    return NAMES[fate];
}

double rl_tokens_per_hour(const RlQuestion *question, const RlStep *step) {
    return tokens_trained(question) / step->seconds * 3600;
}

double rl_usd_per_step(const RlQuestion *question, const RlStep *step) {
    double usd = question->chip.usd_per_chip_hour.value;
    return usd > 0 ? usd * (double)question->chips * step->seconds / 3600 : -1;
}

/* Every chip is paid for and every step trains on as many tokens, so that all three fall with the step. */
double rl_value(const RlQuestion *question, const RlStep *step) {
    if (question->objective == RL_COST) return rl_usd_per_step(question, step);
    return question->objective == RL_TOKENS ? 1 / rl_tokens_per_hour(question, step) : step->seconds;
}

/* ---- one step ---- */

/* What the pool that trains is busy with, for seconds of training and of a pass forward. */
static double train_phases(const RlQuestion *question, double seconds, double forward, double phases[RL_PHASES]) {
    const RlAlgorithm *algorithm = question->algorithm;
    phases[RL_TRAINING] = seconds;
    phases[RL_LOGPROBS] = forward;
    phases[RL_REFERENCE] = algorithm->reference ? forward : 0;
    phases[RL_TEACHER] = forward * question->teacher_share;
    phases[RL_VALUES] = forward * question->critic_share;
    phases[RL_CRITIC] = seconds * question->critic_share;
    return phases[RL_TRAINING] + phases[RL_LOGPROBS] + phases[RL_REFERENCE] + phases[RL_TEACHER] + phases[RL_VALUES] +
           phases[RL_CRITIC];
}

static double transfer_seconds(const RlQuestion *question, int64_t train_chips) {
    double hosts = max_real(1, (double)train_chips / (double)max_whole(1, question->chip.chips_per_host));
    return question->profile.transfer_seconds +
           question->weight_bytes / (question->profile.transfer_bytes_per_second * sqrt(hosts));
}

static double generation_factor(const RlQuestion *question, RlWay way) {
    return way == RL_COLOCATED ? question->profile.generation_colocated : question->profile.generation_apart;
}

/* The best engines of a part of the machine, slower by what they take beyond the serving model. */
static void generate(const RlQuestion *question, RolloutSpace *space, RlStep *step) {
    Rollout *rollout = &step->rollout;
    double factor = generation_factor(question, step->way);
    *rollout = rollout_best(space, step->rollout_chips, step->lag);
    rollout->seconds *= factor, rollout->prompt_seconds *= factor, rollout->tail_seconds *= factor;
    rollout->first_step_seconds *= factor, rollout->last_step_seconds *= factor;
    step->phases[RL_GENERATION] = rollout->seconds;
}

/* Copies over the host link, out and back: what shares chips with engines leaves them all of HBM while they generate,
 * and whatever else is trained or read has no room next to the policy. */
static double load_seconds(const RlQuestion *question, RlWay way, const Trainer *trainer) {
    double rate = host_one_way_rate(&question->chip), bytes = trainer->moved_bytes;
    bool shared = way == RL_COLOCATED;
    if (shared) bytes += trainer->state_bytes;
    return (shared ? 2 * question->profile.load_seconds : 0) + (rate > 0 ? 2 * bytes / rate : 0);
}

/* Steps of two pools overlap where weights may lag; else all phases follow each other. */
static void settle(const RlQuestion *question, RlStep *step, double train_side) {
    double *phases = step->phases;
    double generation = phases[RL_GENERATION], fixed = phases[RL_TRANSFER];
    double other = question->profile.other_share;
    phases[RL_OTHER] = other * (generation + train_side);
    step->train_side = train_side + phases[RL_OTHER] + phases[RL_LOAD];
    step->seconds = step->way == RL_SPLIT_LAGGED ? max_real(generation, step->train_side) + fixed
                                                 : generation + step->train_side + fixed;
}

/* A step without its trainer: what is there is at its least, so that the step is a bound. */
static RlStep begin(const RlQuestion *question, RlWay way, int64_t train_chips) {
    RlStep step = {.way = way, .train_chips = train_chips};
    step.rollout_chips = way == RL_COLOCATED ? question->chips : question->chips - train_chips;
    step.lag = way == RL_SPLIT_LAGGED ? question->lag : 0;
    step.phases[RL_TRANSFER] = transfer_seconds(question, train_chips);
    step.phases[RL_LOAD] = load_seconds(question, way, &(Trainer){0});
    return step;
}

/* ---- the search ---- */

typedef struct {
    Trainer trainer;
    double limit; /* it was searched for up to this */
    bool searched;
} KnownTrainer;

typedef struct {
    const RlQuestion *question;
    Arena *arena;
    RlAnswer *out;
    KnownTrainer *trainers; /* by parts that train, from 1 */
    Error *error;
} Splits;

/* Whether no plan on these hosts keeps the limit: those of more hosts, which may leave some idle, had none either. */
static bool known_to_lack(const Splits *on, int64_t parts, double limit) {
    const RlQuestion *question = on->question;
    if (question->unit == 1 || question->options->text[OPTION_TRAIN_PLAN] || question->brute_force) return false;
    for (int64_t more = parts; more <= question->hosts; more++) {
        const KnownTrainer *known = &on->trainers[more];
        if ((double)parts < (1 - TRAINER_IDLE) * (double)more + 1) break;
        if (known->searched && (known->trainer.fits ? known->trainer.least_seconds > limit : known->limit >= limit))
            return true;
    }
    return false;
}

static bool trainer_within(Splits *on, int64_t parts, double limit, Trainer *out) {
    KnownTrainer *known = &on->trainers[parts];
    *out = (Trainer){0};
    if (known_to_lack(on, parts, limit)) return true;
    if (!known->searched || (!known->trainer.fits && known->limit < limit)) {
        on->out->trainer_searches++;
        known->searched = true;
        known->limit = limit;
        if (!trainer_search(on->question, parts * on->question->unit, limit, on->arena, &known->trainer, on->error))
            return false;
    }
    *out = known->trainer;
    return true;
}

static double floor_of(const RlQuestion *question, RlWay way, int64_t train_chips) {
    RlStep step = begin(question, way, train_chips);
    double train = trainer_floor(question, train_chips);
    step.phases[RL_GENERATION] =
        generation_factor(question, way) * rollout_floor(question, step.rollout_chips, step.lag);
    settle(question, &step, train_phases(question, train, question->profile.forward_share * train, step.phases));
    return step.seconds;
}

/* What training may take, so that the step takes no longer than `seconds`. */
static double training_limit(const RlQuestion *question, RlStep step, double seconds) {
    double phases[RL_PHASES];
    double left = seconds - step.phases[RL_TRANSFER] - step.phases[RL_LOAD], other = question->profile.other_share;
    double generation = step.phases[RL_GENERATION];
    left -= step.way == RL_SPLIT_LAGGED ? other * generation : (1 + other) * generation;
    return left / (1 + other) / train_phases(question, 1, question->profile.forward_share, phases);
}

/* The best of one split, if it is better than what its way has; a line of the certificate. */
static bool try_split(Splits *on, RlLine *line) {
    const RlQuestion *question = on->question;
    RlAnswer *out = on->out;
    RlStep *best = &out->best[line->way], step = begin(question, line->way, line->train_chips);
    double limit = best->fits && !question->brute_force ? best->seconds : INFINITY;
    line->fate = RL_CUT_FLOOR;
    if (line->floor >= limit) return true;
    out->searches++;
    generate(question, &out->rollouts, &step);
    line->fate = RL_LACKS_ROOM;
    if (!(step.rollout.seconds < INFINITY)) return true;
    double floor = trainer_floor(question, line->train_chips), share = question->profile.forward_share;
    settle(question, &step, train_phases(question, floor, share * floor, step.phases));
    line->fate = RL_CUT_ROLLOUT;
    if (step.seconds >= limit) return true;
    double most = limit < INFINITY ? training_limit(question, step, limit) : INFINITY;
    if (!trainer_within(on, line->train_chips / question->unit, most, &step.trainer)) return false;
    line->fate = limit < INFINITY ? RL_CUT_TRAINER : RL_LACKS_ROOM;
    if (!step.trainer.fits) return true;
    step.phases[RL_LOAD] = load_seconds(question, line->way, &step.trainer);
    settle(question, &step, train_phases(question, step.trainer.seconds, step.trainer.forward_seconds, step.phases));
    step.fits = true;
    line->fate = RL_SEARCHED;
    line->seconds = step.seconds;
    if (!best->fits || step.seconds < best->seconds) *best = step;
    return true;
}

static int by_floor(const void *a, const void *b) {
    const RlLine *x = a, *y = b;
    if (x->floor != y->floor) return x->floor < y->floor ? -1 : 1;
    if (x->way != y->way) return x->way < y->way ? -1 : 1;
    return x->train_chips < y->train_chips ? -1 : x->train_chips > y->train_chips;
}

static bool list_splits(Splits *on) {
    const RlQuestion *question = on->question;
    RlAnswer *out = on->out;
    out->lines = ARENA_NEW(on->arena, RlLine, RL_WAYS * (size_t)question->hosts);
    on->trainers = ARENA_NEW(on->arena, KnownTrainer, (size_t)question->hosts + 1);
    if (!out->lines || !on->trainers) return error_memory(on->error);
    for (int way = 0; way < RL_WAYS; way++) {
        if (way == RL_COLOCATED ? question->train_hosts > 0 : question->only_colocated) continue;
        if (way == RL_SPLIT_LAGGED && question->lag == 0) continue;
        for (int64_t parts = 1; parts <= question->hosts; parts++) {
            if (way == RL_COLOCATED ? parts != question->hosts : parts == question->hosts) continue;
            if (way != RL_COLOCATED && question->train_hosts > 0 && parts != question->train_hosts) continue;
            RlLine *line = &out->lines[out->line_count++];
            *line = (RlLine){.way = (RlWay)way, .train_chips = parts * question->unit, .seconds = INFINITY};
            line->floor = floor_of(question, line->way, line->train_chips);
        }
    }
    return true;
}

/* The answers in flight of the best steps, for reports. */
static bool keep_curves(Splits *on) {
    for (int way = 0; way < RL_WAYS; way++) {
        RlStep *step = &on->out->best[way];
        if (!step->fits) continue;
        AnswersInFlight *kept = ARENA_NEW(on->arena, AnswersInFlight, 1);
        step->step_seconds = ARENA_NEW(on->arena, double, IN_FLIGHT_SEGMENTS_MAX);
        if (!kept || !step->step_seconds) return error_memory(on->error);
        *kept = *rollout_curve(&on->out->rollouts, &step->rollout, step->step_seconds);
        step->curve = kept;
        for (int i = 0; i < kept->count; i++) step->step_seconds[i] *= generation_factor(on->question, step->way);
    }
    return true;
}

bool rl_answer(const RlQuestion *question, Arena *arena, RlAnswer *out, Error *error) {
    *out = (RlAnswer){0};
    Splits on = {.question = question, .arena = arena, .out = out, .error = error};
    if (!rollout_space(question, arena, &out->rollouts, error) || !list_splits(&on)) return false;
    qsort(out->lines, (size_t)out->line_count, sizeof *out->lines, by_floor);
    for (int i = 0; i < out->line_count; i++)
        if (!try_split(&on, &out->lines[i])) return false;
    for (int way = 0; way < RL_WAYS; way++) {
        const RlStep *step = &out->best[way];
        if (!step->fits || (out->found && rl_value(question, step) >= rl_value(question, &out->best[out->first])))
            continue;
        out->found = true;
        out->first = (RlWay)way;
    }
    for (int i = 0; i < out->line_count; i++) {
        const RlStep *best = &out->best[out->lines[i].way];
        if (best->fits && best->train_chips == out->lines[i].train_chips) out->lines[i].fate = RL_BEST;
    }
    return keep_curves(&on);
}
