/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/answer.h"

#include "base/util.h"
#include "cost/plan/shard.h"
#include "mesh/host_link.h"

#include <math.h>

/* One search over the requested modes, under one engine. */
static bool search_engine(const ServingQuestion *question, const SubMeshList *submeshes, int engine,
                          ServingFront *front, ServingCount *count, Error *error) {
    ServingSearch search = {
        .question = question, .submeshes = submeshes, .engine = engine, .front = front, .count = count, .error = error};
    for (int mode = 0; mode < SERVE_MODE_COUNT; mode++) {
        if (!(question->modes >> mode & 1)) continue;
        if (engine != NO_ENGINE && mode == SERVE_DISAGGREGATED && !engine_at(engine)->two_pools) continue;
        search.mode = (ServingMode)mode;
        if (count->space.log) {
            count->space.log->engine = engine == NO_ENGINE ? "none" : engine_at(engine)->name;
            count->space.log->mode = serving_mode_name(search.mode);
        }
        bool ok = mode == SERVE_DISAGGREGATED ? explore_two_pools(&search)
                  : mode == SERVE_PREFILL     ? explore_prompts(&search)
                                              : explore_one_pool(&search);
        if (!ok) return error && error->kind != ERROR_NONE ? false : error_memory(error);
    }
    return true;
}

/* All chips of a domain; of a torus: all. */
static int64_t domain_devices(const ServingQuestion *question) {
    int64_t devices = 1;
    for (int a = 0; a < question->machine.mesh.axis_count; a++)
        if (!axis_is_across(&question->machine.mesh.axes[a])) devices *= question->machine.mesh.axes[a].size;
    return devices;
}

/* Where time is limited, layouts that are good more often than others come first, and again in their place: one stage,
 * on a power of two of devices inside two domains. */
static bool search_likely(const ServingQuestion *question, const SubMeshList *submeshes, int engine,
                          ServingFront *front, Arena *arena, Error *error) {
    ServingQuestion quick = *question;
    ServingCount count = {.complete = true};
    SubMeshList few = {ARENA_NEW(arena, SubMesh, (size_t)submeshes->count + 1), 0};
    int64_t domain = domain_devices(question);
    if (!few.list) return error_memory(error);
    if (quick.requirement_count == LAYOUT_REQUIREMENTS_MAX || !(quick.modes & 1u << SERVE_AGGREGATED)) return true;
    for (int i = 0; i < submeshes->count; i++) {
        int64_t devices = submeshes->list[i].devices;
        if ((devices & (devices - 1)) == 0 && devices <= 2 * domain) few.list[few.count++] = submeshes->list[i];
    }
    quick.requirements[quick.requirement_count++] = (LayoutRequirement){LAYOUT_PIPELINE, 0, 1, 0};
    quick.modes = 1u << SERVE_AGGREGATED;
    return search_engine(&quick, &few, engine, front, &count, error);
}

static bool search_likely_first(const ServingQuestion *question, const SubMeshList *submeshes, ServingFront *front,
                                Arena *arena, Error *error) {
    if (!(question->time_limit_seconds > 0)) return true;
    if (question->any_engine) return search_likely(question, submeshes, NO_ENGINE, front, arena, error);
    for (int engine = 0; engine < engine_count(); engine++)
        if (question->engines >> engine & 1 && !search_likely(question, submeshes, engine, front, arena, error))
            return false;
    return true;
}

/* Every engine that is requested, or none in particular. */
static bool search_all(const ServingQuestion *question, const SubMeshList *submeshes, ServingFront *front,
                       ServingCount *count, Error *error) {
    count->complete = true;
    if (question->any_engine) return search_engine(question, submeshes, NO_ENGINE, front, count, error);
    for (int engine = 0; engine < engine_count(); engine++)
        if (question->engines >> engine & 1 && !search_engine(question, submeshes, engine, front, count, error))
            return false;
    return true;
}

/* What is best where it is greatest. */
static double worth(const ServingQuestion *question, const ServingPoint *point) {
    return question->objective == SERVE_LATENCY ? point->per_user
           : question->objective == SERVE_CHIPS ? 1 / (double)point->chips_used
                                                : point->per_chip;
}

static bool is_better(const ServingQuestion *question, const ServingPoint *one, const ServingPoint *best) {
    return !best || worth(question, one) > worth(question, best);
}

static const ServingPoint *best_of(const ServingQuestion *question, const ServingFront *front) {
    const ServingPoint *best = NULL;
    for (int i = 0; i < front->count; i++)
        if (is_better(question, &front->points[i], best)) best = &front->points[i];
    return best;
}

int answer_best_rank(const ServingQuestion *question, const ServingAnswer *answer) {
    const ServingPoint *best = NULL;
    double best_excess = INFINITY, tpot = answer->tpot_goal_seconds, ttft = answer->ttft_goal_seconds;
    for (int i = 0; i < answer->front.count; i++) {
        const ServingPoint *one = &answer->front.points[i];
        double excess = max_real(one->tpot_seconds / tpot, one->ttft_seconds / ttft);
        double margin = answer->likely_factor > 1 ? 1 / answer->likely_factor : 1;
        if (excess <= 1) excess = excess <= margin ? 0 : 1;
        if (excess > best_excess || (excess == best_excess && !is_better(question, one, best))) continue;
        best = one;
        best_excess = excess;
    }
    return best ? (int)(best - answer->front.points) + 1 : 0;
}

/* The best so far of a front that was cut short, and how far it can be from the best of all. */
static void take_best(const ServingQuestion *question, ServingAnswer *out) {
    int rank = answer_best_rank(question, out);
    const ServingPoint *best = rank > 0 ? &out->front.points[rank - 1] : NULL;
    double tpot = out->tpot_goal_seconds, ttft = out->ttft_goal_seconds, factor = max_real(1, out->likely_factor);
    out->gap = INFINITY;
    if (!best || best->mode == SERVE_PREFILL) return;
    out->has_best = best->tpot_seconds <= tpot && best->ttft_seconds <= ttft;
    out->with_margin = best->tpot_seconds <= tpot / factor && best->ttft_seconds <= ttft / factor;
    out->upper_bound = serving_upper_bound(question, out->with_margin ? tpot / factor : tpot);
    if (!out->has_best) return;
    out->best = *best;
    double fewest = ceil(question->rate * question->request.output / out->upper_bound.per_chip * (1 - 1e-9));
    out->gap = question->objective == SERVE_LATENCY ? out->upper_bound.per_user / best->per_user - 1
               : question->objective == SERVE_CHIPS ? (double)best->chips_used / fewest - 1
                                                    : out->upper_bound.per_chip / best->per_chip - 1;
    out->gap = max_real(0, out->gap);
}

/* A copy to change: too large for the stack of a thread that somebody else has started. NULL: memory is out. */
static ServingQuestion *changed_question(const ServingQuestion *question, Arena *arena, Error *error) {
    ServingQuestion *copy = ARENA_NEW(arena, ServingQuestion, 1);
    if (copy)
        *copy = *question;
    else
        error_memory(error);
    return copy;
}

/* The best of a question that was changed, under the goals divided by `factor`; *found: there is one. */
static bool best_under(ServingQuestion *under, double factor, ServingAnswer *out, ServingPoint *best, bool *found,
                       Error *error) {
    ServingFront front = {0};
    ServingCount count = {0};
    under->tpot_limit_seconds = out->tpot_goal_seconds / factor;
    under->ttft_limit_seconds = out->ttft_goal_seconds / factor;
    bool ok = search_all(under, &out->submeshes, &front, &count, error);
    const ServingPoint *one = ok ? best_of(under, &front) : NULL;
    *found = one != NULL;
    if (one) *best = *one;
    front_free(&front);
    return ok;
}

/* The best under the goals: once with the margin of the model's error, once by its mean. */
static bool find_best(const ServingQuestion *question, Arena *arena, ServingAnswer *out, Error *error) {
    ServingQuestion *under = changed_question(question, arena, error);
    if (!under) return false;
    for (int margin = 1; margin >= 0 && !out->has_best; margin--) {
        if (!best_under(under, margin ? out->likely_factor : 1, out, &out->best, &out->has_best, error)) return false;
        if (out->has_best) out->with_margin = margin || !(out->likely_factor > 1);
    }
    return true;
}

/* On one host two pools, with a router before them, are the best only if one pool is worse by more than the model's
 * error. */
static bool prefer_one_pool(const ServingQuestion *question, Arena *arena, ServingAnswer *out, Error *error) {
    ServingPoint one;
    bool found, host = (double)question->machine.mesh.chips <= host_chips(&question->chip);
    if (!out->has_best || !host || out->best.mode != SERVE_DISAGGREGATED || !(question->modes >> SERVE_AGGREGATED & 1))
        return true;
    ServingQuestion *under = changed_question(question, arena, error);
    if (!under) return false;
    under->modes = 1u << SERVE_AGGREGATED;
    if (!best_under(under, out->with_margin ? out->likely_factor : 1, out, &one, &found, error)) return false;
    if (!found || worth(question, &out->best) / worth(question, &one) > out->likely_factor) return true;
    out->has_two_pools = true;
    out->two_pools = out->best;
    out->best = one;
    return true;
}

static bool is_seldom(const ServingQuestion *question, const ServingPoint *point) {
    bool seldom = false;
    for (int i = 0; i < point->pool_count; i++) seldom |= layout_is_seldom(question, &point->pools[i].on.layout);
    return seldom;
}

/* Takes the best of a changed question where the best so far is better by no more than a factor. */
static bool take_within(const ServingQuestion *question, ServingQuestion *under, double factor, ServingAnswer *out,
                        bool *taken, Error *error) {
    ServingPoint one;
    bool found;
    if (out->best.mode == SERVE_AGGREGATED) under->modes = 1u << SERVE_AGGREGATED;
    if (!best_under(under, out->with_margin ? out->likely_factor : 1, out, &one, &found, error)) return false;
    *taken = found && worth(question, &out->best) <= factor * worth(question, &one);
    if (*taken) out->best = one;
    return true;
}

/* What hardly anybody runs has to be better by what plans of training are (`plan_error`); of engines that the model
 * cannot tell apart, by half of it, the first of the list stands for all, which is the one that most people have. */
static bool prefer_common(const ServingQuestion *question, Arena *arena, ServingAnswer *out, Error *error) {
    static const double SELDOM = 1.08, ENGINE = 1.04;
    ServingQuestion *under = changed_question(question, arena, error);
    if (!under) return false;
    if (!out->has_best || question->any_engine || out->best.mode == SERVE_PREFILL) return true;
    out->seldom = out->best;
    under->usual = is_seldom(question, &out->best);
    if (under->usual && !take_within(question, under, SELDOM, out, &out->has_seldom, error)) return false;
    under->usual = !is_seldom(question, &out->best);
    bool taken = false;
    for (int engine = 0, last = out->best.pools[0].on.engine; engine < last && !taken; engine++) {
        under->engines = question->engines & 1u << engine;
        if (under->engines && !take_within(question, under, ENGINE, out, &taken, error)) return false;
    }
    return true;
}

/* How many times a point exceeds the requested limits, at most. */
static double excess(const ServingQuestion *question, const ServingPoint *point) {
    double most = 0;
    if (question->tpot_limit_seconds > 0) most = point->tpot_seconds / question->tpot_limit_seconds;
    if (question->ttft_limit_seconds > 0) most = max_real(most, point->ttft_seconds / question->ttft_limit_seconds);
    if (question->rate > 0) most = max_real(most, question->rate / point->requests_per_second);
    return most;
}

static bool find_nearest(const ServingQuestion *question, Arena *arena, ServingAnswer *out, Error *error) {
    ServingQuestion *free = changed_question(question, arena, error);
    ServingFront front = {0};
    ServingCount count = {0};
    if (!free) return false;
    free->tpot_limit_seconds = free->ttft_limit_seconds = free->rate = 0;
    if (!search_all(free, &out->submeshes, &front, &count, error)) return front_free(&front), false;
    for (int i = 0; i < front.count; i++)
        if (!out->has_nearest || excess(question, &front.points[i]) < excess(question, &out->nearest)) {
            out->nearest = front.points[i];
            out->has_nearest = true;
        }
    front_free(&front);
    return true;
}

/* ---- points that differ in kind ---- */

/* Two rows that a reader could not choose between: of one mode, within 5% in both rates. */
static bool are_alike(const ServingPoint *a, const ServingPoint *b) {
    static const double ALIKE = 0.05;
    return a->mode == b->mode && fabs(a->per_user / b->per_user - 1) < ALIKE &&
           fabs(a->per_chip / b->per_chip - 1) < ALIKE;
}

static void add_kind(ServingAnswer *answer, const char *kind, const ServingPoint *point) {
    bool said = answer->has_seldom && point == &answer->seldom; /* however near it is: it says why it is not first */
    for (int i = 0; i < answer->kind_count && !said; i++)
        if (are_alike(&answer->kinds[i].point, point)) return;
    if (answer->kind_count < SERVING_KINDS_MAX) answer->kinds[answer->kind_count++] = (ServingKind){kind, *point};
}

/* The most in user times chip, of points whose mode is in `modes`; NULL: there is none. */
static const ServingPoint *balanced(const ServingFront *front, unsigned modes) {
    const ServingPoint *best = NULL;
    for (int i = 0; i < front->count; i++) {
        const ServingPoint *one = &front->points[i];
        if (modes >> one->mode & 1 && (!best || one->per_user * one->per_chip > best->per_user * best->per_chip))
            best = one;
    }
    return best;
}

static void find_kinds(ServingAnswer *out) {
    const ServingFront *front = &out->front;
    if (out->has_best) add_kind(out, "best", &out->best);
    if (front->count == 0) return;
    if (out->has_seldom) add_kind(out, "seldom run", &out->seldom);
    add_kind(out, "lowest latency", &front->points[0]);
    add_kind(out, "most per chip", &front->points[front->count - 1]);
    ServingMode other = out->has_best && out->best.mode == SERVE_AGGREGATED ? SERVE_DISAGGREGATED : SERVE_AGGREGATED;
    const ServingPoint *point = out->has_two_pools ? &out->two_pools : balanced(front, 1u << other);
    if (point) add_kind(out, other == SERVE_AGGREGATED ? "one pool" : "two pools", point);
    add_kind(out, "balanced", balanced(front, ~0u));
}

/* All chips of a domain (of a torus: all) in tensor, as far as heads divide. */
static bool find_usual(const ServingQuestion *question, Arena *arena, ServingAnswer *out, Error *error) {
    ServingQuestion *usual = changed_question(question, arena, error);
    int64_t devices = domain_devices(question), heads = 0;
    if (!usual) return false;
    for (int i = 0; i < question->model.kind_count; i++)
        heads = common_divisor(heads, kind_heads(&question->model, &question->model.kinds[i]));
    while (devices > 1 && heads % devices != 0) devices--;
    if (devices == 1 || usual->requirement_count + 2 > LAYOUT_REQUIREMENTS_MAX) return true;
    usual->requirements[usual->requirement_count++] = (LayoutRequirement){LAYOUT_TENSOR, 0, devices, 0};
    usual->requirements[usual->requirement_count++] = (LayoutRequirement){LAYOUT_PIPELINE, 0, 1, 0};
    usual->usual = true;
    usual->modes = question->modes & 1u << SERVE_DECODE ? 1u << SERVE_DECODE : 1u << SERVE_AGGREGATED;
    return best_under(usual, out->with_margin ? out->likely_factor : 1, out, &out->usual, &out->has_usual, error);
}

/* A limit on the first token that nobody requested is no shorter than twice the soonest of points that are quick
 * enough: prompts of 100,000 tokens take seconds, and what is barely within 2 s serves one of them at a time. */
static void fit_first_token_goal(const ServingQuestion *question, ServingAnswer *out) {
    double soonest = INFINITY;
    for (int i = 0; i < out->front.count; i++)
        if (out->front.points[i].tpot_seconds <= out->tpot_goal_seconds)
            soonest = min_real(soonest, out->front.points[i].ttft_seconds);
    if (!(question->ttft_limit_seconds > 0) && soonest < INFINITY)
        out->ttft_goal_seconds = max_real(out->ttft_goal_seconds, 2 * soonest);
}

/* Where nothing keeps limits that nobody requested, the best is within twice the shortest times that there are: a chip
 * whose memory cannot read the weights in 50 ms still serves. */
static bool find_best_loosened(const ServingQuestion *question, Arena *arena, ServingAnswer *out, Error *error) {
    out->loosened = true;
    out->tpot_goal_seconds = max_real(out->tpot_goal_seconds, 2 * out->front.points[0].tpot_seconds);
    fit_first_token_goal(question, out);
    return find_best(question, arena, out, error);
}

/* The searches that lean on the whole front: the best point, the usual layout. */
static bool search_further(const ServingQuestion *question, Arena *arena, ServingAnswer *out, Error *error) {
    bool limited = question->tpot_limit_seconds > 0 || question->ttft_limit_seconds > 0 || question->rate > 0;
    bool prompts = question->modes == 1u << SERVE_PREFILL;
    if (!question->any_engine) {
        ServingQuestion *physical = changed_question(question, arena, error);
        if (!physical) return false;
        physical->any_engine = true;
        if (!search_all(physical, &out->submeshes, &out->physical, &out->physical_count, error)) return false;
    }
    if (out->front.count == 0 && limited && !find_nearest(question, arena, out, error)) return false;
    if (question->concurrency == 0) fit_first_token_goal(question, out); /* else it has the wait of those in flight */
    if (out->front.count > 0 && !find_best(question, arena, out, error)) return false;
    if (out->front.count > 0 && !out->has_best && !limited && !prompts &&
        !find_best_loosened(question, arena, out, error))
        return false;
    if (!prefer_one_pool(question, arena, out, error) || !prefer_common(question, arena, out, error)) return false;
    return !out->has_best || prompts || find_usual(question, arena, out, error);
}

bool serving_answer(const ServingQuestion *question, Arena *arena, ServingAnswer *out, Error *error) {
    ServingQuestion *timed = changed_question(question, arena, error);
    ServingLog log = {.out = question->certificate};
    *out = (ServingAnswer){.likely_factor = question->profiles[NO_ENGINE].likely_factor};
    if (!timed) return false;
    timed->began_seconds = environment_clock(&question->environment);
    out->tpot_goal_seconds = question->tpot_limit_seconds > 0 ? question->tpot_limit_seconds : TPOT_GOAL_SECONDS;
    out->ttft_goal_seconds = question->ttft_limit_seconds > 0 ? question->ttft_limit_seconds : TTFT_GOAL_SECONDS;
    if (log.out) serving_log_begin(&log), out->count.space.log = &log;
    bool ok = submeshes_enumerate(question, arena, &out->submeshes, error) &&
              search_likely_first(timed, &out->submeshes, &out->front, arena, error) &&
              search_all(timed, &out->submeshes, &out->front, &out->count, error);
    out->count.space.log = NULL;
    if (!ok) return false;
    timed->time_limit_seconds = 0; /* it is the front that the limit is of */
    if (!out->count.complete)
        take_best(question, out);
    else if (!search_further(timed, arena, out, error))
        return false;
    find_kinds(out);
    return true;
}

void serving_answer_free(ServingAnswer *answer) {
    front_free(&answer->front);
    front_free(&answer->physical);
}

EngineSet point_launchable_by(const ServingQuestion *question, const ServingPoint *point) {
    EngineSet set = 0, chip = engines_of_chip(&question->chip);
    for (int e = 0; e < engine_count(); e++) {
        const Engine *engine = engine_at(e);
        bool takes = chip >> e & 1 && (point->pool_count == 1 || engine->two_pools);
        for (int i = 0; i < point->pool_count && takes; i++)
            takes = engine_takes(question, e, point->pools[i].phase, &point->pools[i].on.layout);
        if (takes) set |= 1u << e;
    }
    return set;
}
