/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/rl/rl_answer.h"

#include "base/util.h"
#include "cost/goodput.h"
#include "mesh/host_link.h"
#include "search/answer/plan_words.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *name, *words;
} PHASES[RL_PHASES] = {
    [RL_GENERATION] = {"generation", "generation"},
    [RL_TRANSFER] = {"transfer", "weights to the engines"},
    [RL_LOGPROBS] = {"logprobs", "log-probabilities"},
    [RL_REFERENCE] = {"reference", "log-probabilities, reference"},
    [RL_TEACHER] = {"teacher", "teacher"},
    [RL_VALUES] = {"values", "values of the critic"},
    [RL_TRAINING] = {"training", "training"},
    [RL_CRITIC] = {"critic_training", "training of the critic"},
    [RL_REWARD] = {"reward", "reward model"},
    [RL_LOAD] = {"load", "loading, offloading"},
    [RL_OTHER] = {"other", "rewards, data, other"},
};

const char *rl_phase_name(RlPhase phase) { return PHASES[phase].name; }
const char *rl_phase_words(RlPhase phase) { return PHASES[phase].words; }

const char *rl_way_name(RlWay way) {
    static const char *const NAMES[RL_WAYS] = {"colocated", "split", "split_lagged", "split_partial"};
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
    double other = question->serving.question.chip.usd_per_chip_hour.value;
    if (!(usd > 0) || (question->rollout_only && !(other > 0))) return -1;
    return (usd * (double)question->chips + other * (double)question->rollout_only) * step->seconds / 3600;
}

/* ---- one step ---- */

/* A reward model's pass on the pool that generates, for one on the pool that trains. */
static double reward_share(const RlQuestion *question, const RlStep *step) {
    double train = (double)step->train_chips * question->chip.bf16_flops_per_second.value;
    double rollout = (double)step->rollout_chips * question->serving.question.chip.bf16_flops_per_second.value;
    return question->reward_share * (question->reward_by_rollout ? train / rollout : 1);
}

/* What the pool that trains is busy with, for seconds of training and of a pass forward. */
static double train_phases(const RlQuestion *question, double seconds, double forward, RlStep *step) {
    double *phases = step->phases;
    phases[RL_TRAINING] = seconds;
    double adapters = question->logprobs_by_rollout ? 0 : step->trainer.adapter_seconds;
    phases[RL_LOGPROBS] = question->logprobs_by_rollout ? 0 : forward + adapters;
    phases[RL_REFERENCE] = question->algorithm->reference ? forward : 0;
    phases[RL_TEACHER] = forward * question->teacher_share;
    phases[RL_VALUES] = forward * question->critic_share;
    phases[RL_CRITIC] = seconds * question->critic_share;
    phases[RL_REWARD] = forward * reward_share(question, step);
    return phases[RL_TRAINING] + phases[RL_CRITIC] + forward * question_passes(question) + adapters;
}

/* Every node that generates takes in all weights, over its own network. */
static double transfer_seconds(const RlQuestion *question, int64_t train_chips, double bytes) {
    double hosts = max_real(1, (double)train_chips / (double)max_whole(1, question->chip.chips_per_host));
    double rate = question->profile.transfer_bytes_per_second * sqrt(hosts);
    const Chip *takes = &question->serving.question.chip;
    double network = takes->scaleout_bytes_per_second.value * (double)takes->domain_chips;
    if (network > 0 && (question->machine.nodes > 1 || question->rollout_only)) rate = min_real(rate, network);
    return question->profile.transfer_seconds + bytes / rate;
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
    double generation = step->rollout_side =
        phases[RL_GENERATION] + (question->reward_by_rollout ? phases[RL_REWARD] : 0);
    double fixed = phases[RL_TRANSFER];
    double other = question->profile.other_share;
    phases[RL_OTHER] = other * (generation + train_side);
    step->train_side = train_side + phases[RL_OTHER] + phases[RL_LOAD];
    step->seconds =
        rl_way_lags(step->way) ? max_real(generation, step->train_side) + fixed : generation + step->train_side + fixed;
}

/* A step without its trainer: what is there is at its least, so that the step is a bound. */
static RlStep begin(const RlQuestion *question, RlWay way, int64_t train_chips) {
    RlStep step = {.way = way, .train_chips = train_chips};
    step.rollout_chips = question->rollout_only ? question->rollout_only : question->chips - train_chips;
    if (way == RL_COLOCATED) step.rollout_chips = question->chips;
    step.lag = rl_way_lags(way) ? question->lag : 0;
    step.phases[RL_TRANSFER] = transfer_seconds(question, train_chips, question->weight_bytes);
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
        on->out->open = on->out->open || known->trainer.open;
    }
    *out = known->trainer;
    if (on->question->unit > 1 || parts == 1 || on->question->options->text[OPTION_TRAIN_PLAN]) return true;
    /* Plans of several hosts may leave some idle; of one host, so may its chips. */
    Trainer fewer;
    if (!trainer_within(on, parts - 1, out->fits ? min_real(limit, out->seconds) : limit, &fewer)) return false;
    if (fewer.fits && (!out->fits || fewer.seconds < out->seconds)) *out = fewer;
    return true;
}

static RolloutPool pool_of(const RlStep *step) {
    return (RolloutPool){step->rollout_chips, step->lag, step->way == RL_COLOCATED, step->way == RL_SPLIT_PARTIAL};
}

static double floor_of(const RlQuestion *question, RlWay way, int64_t train_chips) {
    RlStep step = begin(question, way, train_chips);
    double train = trainer_floor(question, train_chips);
    step.phases[RL_GENERATION] = rollout_floor(question, pool_of(&step));
    settle(question, &step, train_phases(question, train, question->profile.forward_share * train, &step));
    return step.seconds;
}

/* What a step ranks by: hardly anybody divides a host into odd numbers of chips, and what is quicker by less than the
 * likely error may not be. */
static double ranked(const RlQuestion *question, int64_t train_chips, double seconds) {
    bool odd = question->unit == 1 && question->chips % 2 == 0 && train_chips % 2 == 1 && train_chips > 1;
    return odd ? seconds * (1 + question->profile.likely_error) : seconds;
}

/* What training may take, so that the step takes no longer than `seconds`: of a plan that recomputes, a third at
 * most, a pass forward is as much shorter. */
static double training_limit(const RlQuestion *question, RlStep step, double seconds) {
    double least = question->profile.forward_share * 2 / 3;
    double left = seconds - step.phases[RL_TRANSFER] - step.phases[RL_LOAD], other = question->profile.other_share;
    double generation = step.phases[RL_GENERATION];
    left -= rl_way_lags(step.way) ? other * generation : (1 + other) * generation;
    return left / (1 + other) / train_phases(question, 1, least, &step);
}

/* A line of the certificate that may still hold the best of its way. */
typedef struct {
    RlStep step;
    double bound; /* no step of the line is quicker */
    bool generated, done;
} Open;

/* The time of generation in place of its floor. */
static void generate(Splits *on, RlLine *line, Open *open) {
    const RlQuestion *question = on->question;
    double floor = trainer_floor(question, line->train_chips), share = question->profile.forward_share;
    RlStep *step = &open->step;
    on->out->searches++;
    *step = begin(question, line->way, line->train_chips);
    step->rollout = rollout_best(&on->out->rollouts, pool_of(step));
    step->phases[RL_GENERATION] = step->rollout.seconds;
    settle(question, step, train_phases(question, floor, share * floor, step));
    open->generated = true;
    open->bound = max_real(open->bound, step->seconds);
    line->fate = RL_LACKS_ROOM;
    open->done = !(step->rollout.seconds < INFINITY);
}

/* The best plan that trains, if the step with it is better than what its way has. */
static bool train(Splits *on, RlLine *line, Open *open, double limit) {
    const RlQuestion *question = on->question;
    RlStep *step = &open->step, *best = &on->out->best[line->way];
    double most = limit < INFINITY ? training_limit(question, *step, limit) : INFINITY;
    open->done = true;
    if (!trainer_within(on, line->train_chips / question->unit, most, &step->trainer)) return false;
    line->fate = limit < INFINITY ? RL_CUT_TRAINER : RL_LACKS_ROOM;
    if (!step->trainer.fits) return true;
    step->phases[RL_LOAD] = load_seconds(question, line->way, &step->trainer);
    step->phases[RL_TRANSFER] = /* of a part that leaves some idle */
        transfer_seconds(question, step->trainer.chips, step->trainer.sent_bytes);
    settle(question, step, train_phases(question, step->trainer.seconds, step->trainer.forward_seconds, step));
    step->fits = true;
    line->fate = RL_SEARCHED;
    line->seconds = step->seconds;
    double rank = ranked(question, step->train_chips, step->seconds);
    double least = best->fits ? ranked(question, best->train_chips, best->seconds) : INFINITY;
    bool first = !best->fits || rank < least || (rank == least && step->train_chips < best->train_chips);
    if (first) *best = *step;
    return true;
}

/* Always the line that promises most, until none promises more than what its way has. */
static bool search_lines(Splits *on) {
    RlAnswer *out = on->out;
    Open *open = ARENA_NEW(on->arena, Open, (size_t)out->line_count);
    if (!open) return error_memory(on->error);
    for (int i = 0; i < out->line_count; i++) open[i].bound = out->lines[i].floor;
    for (;;) {
        int next = -1;
        double limit = INFINITY;
        for (int i = 0; i < out->line_count; i++) {
            RlLine *line = &out->lines[i];
            const RlStep *best = &out->best[line->way];
            double most = INFINITY; /* that a step of this split may take, to come before the best */
            if (best->fits && !on->question->brute_force)
                most =
                    ranked(on->question, best->train_chips, best->seconds) / ranked(on->question, line->train_chips, 1);
            if (open[i].done) continue;
            if (open[i].bound >= most && most < INFINITY) {
                line->fate = open[i].generated ? RL_CUT_ROLLOUT : RL_CUT_FLOOR;
                open[i].done = true;
            } else if (next < 0 || open[i].bound < open[next].bound) {
                next = i, limit = most;
            }
        }
        if (next < 0) return true;
        if (!open[next].generated)
            generate(on, &out->lines[next], &open[next]);
        else if (!train(on, &out->lines[next], &open[next], limit))
            return false;
    }
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
        bool apart = question->train_hosts > 0 || question->rollout_only > 0;
        if (way == RL_COLOCATED ? apart : question->only_colocated) continue;
        /* Where weights may lag, none is better that waits for them: pools work at once, phases are the same. */
        if (way != RL_COLOCATED && (question->lag > 0) != rl_way_lags((RlWay)way)) continue;
        if (way == RL_SPLIT_PARTIAL ? question->partial == RL_WHOLE
                                    : way != RL_COLOCATED && question->partial == RL_PARTIAL)
            continue;
        for (int64_t parts = 1; parts <= question->hosts; parts++) {
            bool all = parts == question->hosts; /* which leaves none to others, if they need any */
            if (way == RL_COLOCATED || question->rollout_only ? !all : all) continue;
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
    }
    return true;
}

/* Where the whole machine fails once in --mtbf: what is lost is the work since the trainer's last checkpoint. */
static void add_failures(const RlQuestion *question, RlAnswer *out) {
    const RlStep *best = &out->best[out->first];
    if (!question->options->text[OPTION_MTBF] || !out->found) return;
    Failing failing = failing_of(best->trainer.plan->request, best->trainer.plan);
    if (!(failing.mtbf_seconds > 0)) return;
    const Failures failures = {failing.mtbf_seconds, failing.restart_seconds, failing.blocking_seconds,
                               failing.write_seconds};
    out->mtbf_seconds = failing.mtbf_seconds;
    out->goodput = goodput_at(&failures, max_real(goodput_best_interval(&failures), best->seconds));
}

bool rl_answer(const RlQuestion *question, Arena *arena, RlAnswer *out, Error *error) {
    *out = (RlAnswer){0};
    Splits on = {.question = question, .arena = arena, .out = out, .error = error};
    if (!rollout_space(question, arena, &out->rollouts, error) || !list_splits(&on)) return false;
    qsort(out->lines, (size_t)out->line_count, sizeof *out->lines, by_floor);
    if (!search_lines(&on)) return false;
    for (int way = 0; way < RL_WAYS; way++) {
        const RlStep *step = &out->best[way], *first = &out->best[out->first];
        if (!step->fits || (out->found && ranked(question, step->train_chips, step->seconds) >=
                                              ranked(question, first->train_chips, first->seconds)))
            continue;
        out->found = true;
        out->first = (RlWay)way;
    }
    for (int i = 0; i < out->line_count; i++) {
        const RlStep *best = &out->best[out->lines[i].way];
        if (best->fits && best->train_chips == out->lines[i].train_chips) out->lines[i].fate = RL_BEST;
    }
    add_failures(question, out);
    return keep_curves(&on);
}
