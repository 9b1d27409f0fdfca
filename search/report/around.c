/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/around.h"

#include "base/util.h"
#include "mesh/slice.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { EFFICIENCIES_SEARCHED = 8 };
static const double SIZES[AROUND_SIZES] = {0.25, 0.5, 1, 2, 4}, BATCHES[AROUND_BATCHES] = {0.5, 1, 2};
static const double LIMITS[AROUND_LIMITS] = {1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4}; /* of the HBM that plans may fill */
static const double LEAST_EFFECT = 0.0005;                                     /* of an efficiency that is shown */

/* Around a large search less is searched, so that it takes some minutes at most: by the tuples of degrees that the
 * search had to open, those of a mixture on GPUs with all its expert grids taken tenfold. */
static bool is_large(const Report *report) {
    static const int64_t MOST = 10000, GRIDS = 10;
    bool grids = (report->request->space.roles >> ROLE_EXPERT & 1) && chip_has_domains(&report->request->question.chip);
    return report->result.certificate.degree_tuples_expanded * (grids ? GRIDS : 1) > MOST;
}

/* ---- less memory ---- */

/* The best plan with more memory, if that fits here too: less fits here, so that it is the best here as well. And where
 * nothing fitted with more, nothing does. */
static bool limit_is_known(Asking *asking, int i, AroundPoint *point) {
    const Around *out = asking->out;
    for (int more = i - 1; more >= 0; more--) {
        const AroundPoint *with = &out->memory[more];
        bool as_asked = more == 0, pending = !as_asked && (i - more) % 2 == 0;
        if (!with->requested || with->cut_short || pending) continue;
        double limit = point->limit_bytes;
        if (!with->found) {
            *point = (AroundPoint){.requested = true, .limit_bytes = limit};
            return true;
        }
        if (as_asked && asking->nominal != asking->first) return false;
        if (with->memory_bytes > limit * (1 - 1e-6)) return false;
        *point = *with;
        point->limit_bytes = limit;
        return true;
    }
    return false;
}

/* Every other limit, from the second or from the third. */
static bool ask_limits(Asking *asking, int from, Error *error) {
    const Request *request = asking->report->request;
    Around *out = asking->out;
    for (int i = from; i < AROUND_LIMITS; i += 2) {
        SideSearch *question;
        AroundPoint *point = &out->memory[i];
        point->requested = true;
        point->limit_bytes = LIMITS[i] * asking->first->estimate.memory_limit_bytes;
        if (limit_is_known(asking, i, point)) continue;
        if (!around_next_question(asking, (AnswerOf){.part = AROUND_MEMORY, .point = point}, &question, error))
            return false;
        if (question) question->changed.question.hbm_reserve = 1 - LIMITS[i] * (1 - request->question.hbm_reserve);
    }
    return around_ask_pending(asking, error);
}

/* ---- other machines and batches ---- */

/* The machine like `base` with so many chips. False: there is none. */
static bool machine_of_chips(const Chip *chip, const Machine *base, int64_t chips, Machine *out) {
    if (chips < 1 || chips > MACHINE_CHIPS_MAX) return false;
    if (chip_has_domains(chip)) {
        bool hosts = chips % chip->chips_per_host == 0 || chips <= machine_host_most(chip);
        if (!hosts || (chips > chip->domain_chips && !machine_may_scale_out(chip))) return false;
        machine_of_gpus(chip, chips, out);
        return true;
    }
    int64_t slice = slice_chips(base->slice);
    SliceShape shape;
    if (chips % slice == 0 && (chips == slice || base->slices > 1) && machine_may_scale_out(chip)) {
        machine_of_slice(chip, base->slice, chips / slice, out);
        return true;
    }
    if ((chip->max_job_chips > 0 && chips > chip->max_job_chips) || !slice_default(chip, chips, &shape)) return false;
    machine_of_slice(chip, shape, 1, out);
    return true;
}

/* The order in which machines and batches are tried, so that what was seen least often comes last. */
typedef enum { SIZE_NEAR, SIZE_FAR, SIZE_REST } SizeTurn;
static SizeTurn turn_of(int s, int b) {
    bool as_asked = BATCHES[b] == 1, same = SIZES[s] == 1, near = fabs(log2(SIZES[s])) <= 1;
    return as_asked && near ? SIZE_NEAR : as_asked || same ? SIZE_FAR : SIZE_REST;
}

/* What the report searched already. */
static const RankedPlan *best_with(const Report *report, Help help) {
    for (int i = 0; i < report->sensitivity_count; i++)
        if (report->sensitivities[i].help == help) return report->sensitivities[i].best;
    return NULL;
}

/* The machine and the batch of a point; false: there is no such machine, or nothing to search. */
static bool change_size(Asking *asking, int s, int b, Machine *machine, double *sequences) {
    const Request *request = asking->report->request;
    const RankedPlan *first = asking->first;
    double chips = SIZES[s] * (double)first->machine.mesh.chips;
    *sequences = BATCHES[b] * (double)first->work.sequences;
    return chips == floor(chips) && *sequences == floor(*sequences) && *sequences <= 0x1p62 / (double)first->work.seq &&
           machine_of_chips(&request->question.chip, &first->machine, (int64_t)chips, machine);
}

/* False: with an error. */
static bool ask_size(Asking *asking, int s, int b, Error *error) {
    const Request *request = asking->report->request;
    AroundPoint *point = &asking->out->size[s][b];
    AnswerOf of = {.part = AROUND_SCALING, .point = point};
    Machine machine;
    double sequences;
    SideSearch *question;
    if (!change_size(asking, s, b, &machine, &sequences)) return true;
    const RankedPlan *known = SIZES[s] == 1 && BATCHES[b] == 1   ? asking->first
                              : SIZES[s] == 1 && BATCHES[b] == 2 ? best_with(asking->report, HELP_BATCH)
                                                                 : NULL;
    point->requested = true;
    if (known) {
        around_take(asking, of, known);
        return true;
    }
    if (!around_next_question(asking, of, &question, error)) return false;
    if (!question) return true;
    Request *changed = &question->changed;
    changed->question.profile =
        profile_rescaled(&request->question.profile, (double)request->question.machine.mesh.chips,
                         (double)request->question.machine.slices, (double)machine.mesh.chips, (double)machine.slices);
    changed->question.machine = machine;
    changed->question.work.sequences = (int64_t)sequences;
    changed->requested.batch_tokens = sequences * (double)asking->first->work.seq;
    return true;
}

static bool ask_sizes(Asking *asking, SizeTurn turn, Error *error) {
    for (int s = 0; s < AROUND_SIZES; s++)
        for (int b = 0; b < AROUND_BATCHES; b++)
            if (turn_of(s, b) == turn && !ask_size(asking, s, b, error)) return false;
    return around_ask_pending(asking, error);
}

/* ---- figures ---- */

/* Plan 1 as it is with each figure moved; figures that do not matter are left out. */
static int list_figures(Asking *asking, Request *scratch, int which[AROUND_FIGURES_MAX]) {
    const Request *request = asking->report->request;
    const RankedPlan *first = asking->first;
    int count = 0;
    assert(around_figure_count() <= AROUND_FIGURES_MAX);
    for (int f = 0; f < around_figure_count(); f++) {
        AroundFigure *figure = &asking->out->figures[count];
        double effect = 0;
        bool any = false;
        *figure = (AroundFigure){.name = around_figure_name(request, f), .hardware = around_figure_of_chip(f)};
        for (int move = 0; move < AROUND_MOVES; move++) {
            double seconds = first->estimate.time.seconds;
            bool fits = true;
            around_request_on(asking, first, scratch);
            if (around_figure_move(scratch, f, AROUND_MOVE[move]))
                any = true, fits = around_reprice(scratch, first, &seconds, &fits) && fits;
            figure->at[move].fits = fits;
            figure->at[move].repriced = seconds / first->estimate.time.seconds - 1;
            effect = max_real(effect, fabs(figure->at[move].repriced));
            if (!fits) effect = max_real(effect, LEAST_EFFECT);
        }
        if (any && (figure->hardware || effect >= LEAST_EFFECT)) which[count++] = f;
    }
    return count;
}

static double effect_of(const AroundFigure *figure) {
    return max_real(fabs(figure->at[0].repriced), fabs(figure->at[1].repriced));
}

/* How many figures of its kind, of the chip or of the profile, move plan 1 more. */
static int ahead_of(const Around *facts, int figure) {
    int ahead = 0;
    for (int i = 0; i < facts->figure_count; i++) {
        double mine = effect_of(&facts->figures[figure]), other = effect_of(&facts->figures[i]);
        bool same_kind = facts->figures[i].hardware == facts->figures[figure].hardware;
        ahead += same_kind && (other > mine || (other == mine && i < figure));
    }
    return ahead;
}

/* All of the chip's, and the efficiencies that move plan 1 most. */
static bool is_searched(const Around *facts, int figure) {
    if (facts->figures[figure].hardware || facts->thin) return facts->figures[figure].hardware;
    return ahead_of(facts, figure) < EFFICIENCIES_SEARCHED;
}

/* What is known of a move without a search: that which the report searched, and where nothing gets faster and the best
 * stays what it was. */
static const RankedPlan *move_is_known(const Asking *asking, int i, int figure, int move) {
    static const Help OF[] = {HELP_SCALE_UP, HELP_SCALE_OUT, HELP_HBM, HELP_BANDWIDTH};
    const Request *request = asking->report->request;
    const AroundFigure *of = &asking->out->figures[i];
    for (size_t h = 0; h < COUNT_OF(OF) && AROUND_MOVE[move] > 1; h++)
        if (around_figure_of_help(figure, OF[h])) return best_with(asking->report, OF[h]);
    if (around_figure_is_idle(request, figure)) return asking->nominal;
    bool stays = around_figure_worsens(figure, AROUND_MOVE[move]) && of->at[move].fits && of->at[move].repriced == 0;
    return stays && asking->nominal == asking->first ? asking->nominal : NULL;
}

static bool ask_move(Asking *asking, int i, int figure, int move, bool again, Error *error) {
    AroundFigure *of = &asking->out->figures[i];
    AnswerOf to = {.part = AROUND_SENSITIVITY, .figure = of, .move = move};
    SideSearch *question;
    around_request_on(asking, asking->first, asking->scratch);
    if (!around_figure_move(asking->scratch, figure, AROUND_MOVE[move])) return true;
    const RankedPlan *known = again ? NULL : move_is_known(asking, i, figure, move);
    if (known) {
        around_take(asking, to, known);
        return true;
    }
    if (!around_next_question(asking, to, &question, error)) return false;
    if (!question) return true;
    around_figure_move(&question->changed, figure, AROUND_MOVE[move]);
    /* Plan 1 is one of those in question: nothing slower than it is then can be the best. */
    if (!again && of->at[move].fits)
        question->limit_seconds = asking->first->ranked_seconds * (1 + of->at[move].repriced) * (1 + 1e-9);
    return true;
}

/* Those of the chip, or of the profile, by their effect. `again`: those that found nothing as fast as plan 1 was to be,
 * which its layout may not be allowed to be any more. */
static bool ask_figures(Asking *asking, const int *which, bool hardware, bool again, Error *error) {
    Around *out = asking->out;
    for (int turn = 0; turn < out->figure_count; turn++)
        for (int i = 0; i < out->figure_count; i++) {
            if (out->figures[i].hardware != hardware || !is_searched(out, i) || ahead_of(out, i) != turn) continue;
            for (int move = 0; move < AROUND_MOVES; move++) {
                bool nothing = out->figures[i].at[move].searched && !out->figures[i].at[move].found;
                if (again && !nothing) continue;
                if (!ask_move(asking, i, which[i], move, again, error)) return false;
            }
        }
    return around_ask_pending(asking, error);
}

/* ---- near misses ---- */

/* Whether `other` is ahead of plan 1 when a figure is so much larger, both with their layouts. */
static bool overtakes(const Asking *asking, const RankedPlan *other, int figure, double factor, Request *scratch) {
    double seconds[2];
    bool fits[2] = {true, true};
    const RankedPlan *plans[2] = {asking->first, other};
    for (int i = 0; i < 2; i++) {
        around_request_on(asking, plans[i], scratch);
        if (!around_figure_move(scratch, figure, factor) || !around_reprice(scratch, plans[i], &seconds[i], &fits[i]))
            return false;
        seconds[i] *= plans[i]->ranked_seconds / plans[i]->estimate.time.seconds;
    }
    return fits[1] && (!fits[0] || seconds[1] < seconds[0]);
}

/* The move up to which a search with layouts of its own has plan 1 stay the best: 1 where none was requested, or
 * another plan won. A plan that is ahead before it with both layouts held is none that would win. */
static double settled(const AroundFigure *figure, bool more) {
    bool stays = figure->at[more].searched && figure->at[more].found && !figure->at[more].changed;
    return stays ? AROUND_MOVE[more] : 1;
}

/* The least move of a figure, one way, beyond `before`, that does it; 0: none. */
static double turning_point(const Asking *asking, const RankedPlan *other, int figure, double before, bool more,
                            Request *scratch) {
    static const double MOVES[] = {1.01, 1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 2};
    for (size_t i = 0; i < COUNT_OF(MOVES); i++) {
        double at = more ? MOVES[i] : 1 / MOVES[i];
        if (more ? at <= before : at >= before) continue;
        if (overtakes(asking, other, figure, at, scratch)) {
            for (int halving = 0; halving < 8; halving++) {
                double middle = sqrt(before * at);
                *(overtakes(asking, other, figure, middle, scratch) ? &at : &before) = middle;
            }
            return at;
        }
        before = at;
    }
    return 0;
}

static void find_misses(Asking *asking, const int *which, Request *scratch) {
    const SearchResult *result = &asking->report->result;
    Around *out = asking->out;
    for (int i = 1; i < result->plan_count && out->miss_count < NEAR_MISSES_MAX; i++) {
        if (result->plans[i].estimate.time.seconds <= result->plans[0].estimate.time.seconds)
            continue; /* it is ahead */
        NearMiss *miss = &out->misses[out->miss_count++];
        *miss = (NearMiss){.rank = i + 1, .factor = 1};
        for (int f = 0; f < out->figure_count; f++)
            for (int more = 0; more < 2; more++) {
                double at =
                    turning_point(asking, &result->plans[i], which[f], settled(&out->figures[f], more), more, scratch);
                if (at == 0) continue;
                if (miss->name) miss->others++;
                if (miss->name && fabs(log(at)) >= fabs(log(miss->factor))) continue;
                miss->name = out->figures[f].name;
                miss->factor = at;
            }
    }
}

/* ---- the plans of the report ---- */

/* The best of the plans that are there, as they are, with a figure moved: where it was not searched. */
static void take_shown(Asking *asking, AroundFigure *figure, int which, int move) {
    const SearchResult *result = &asking->report->result;
    const RankedPlan *best = NULL;
    double least = 0;
    for (int i = 0; i < result->plan_count; i++) {
        const RankedPlan *plan = &result->plans[i];
        double seconds;
        bool fits = true, same = !plan->request || plan->request == asking->report->request;
        around_request_on(asking, plan, asking->scratch);
        if (!same || !around_figure_move(asking->scratch, which, AROUND_MOVE[move]) ||
            !around_reprice(asking->scratch, plan, &seconds, &fits) || !fits)
            continue;
        seconds *= plan->ranked_seconds / plan->estimate.time.seconds;
        if (best && seconds >= least) continue;
        best = plan;
        least = seconds;
    }
    if (!best) return;
    RankedPlan *moved = asking->moved;
    *moved = *best;
    moved->ranked_seconds = least;
    around_take(asking, (AnswerOf){.part = AROUND_SENSITIVITY, .figure = figure, .move = move}, moved);
    figure->at[move].searched = figure->at[move].found = false;
    figure->at[move].shown = true;
}

static void ask_shown(Asking *asking, const int *which) {
    for (int i = 0; i < asking->out->figure_count; i++)
        for (int move = 0; move < AROUND_MOVES; move++)
            if (!asking->out->figures[i].at[move].searched)
                take_shown(asking, &asking->out->figures[i], which[i], move);
}

/* ---- all of it ---- */

/* What shows most first: a search may be the last that is allowed. */
static bool ask_all(Asking *asking, const int *which, Error *error) {
    Around *out = asking->out;
    out->memory[0].requested = true;
    around_take(asking, (AnswerOf){.part = AROUND_MEMORY, .point = &out->memory[0]}, asking->first);
    if (!ask_sizes(asking, SIZE_NEAR, error) || !ask_limits(asking, 2, error) ||
        !ask_figures(asking, which, true, false, error))
        return false;
    if (!out->thin && (!ask_sizes(asking, SIZE_FAR, error) || !ask_limits(asking, 1, error) ||
                       !ask_figures(asking, which, false, false, error) || !ask_sizes(asking, SIZE_REST, error)))
        return false;
    return ask_figures(asking, which, true, true, error) && ask_figures(asking, which, false, true, error);
}

static bool make_facts(Asking *asking, Error *error) {
    Around *out = asking->out;
    int which[AROUND_FIGURES_MAX];
    out->thin = is_large(asking->report);
    out->figure_count = list_figures(asking, asking->scratch, which);
    asking->all = out->thin ? AROUND_LIMITS / 2 + 2 : AROUND_LIMITS - 1 + AROUND_SIZES * AROUND_BATCHES - 1;
    for (int i = 0; i < out->figure_count; i++) asking->all += is_searched(out, i) ? AROUND_MOVES : 0;
    if (!ask_all(asking, which, error)) return false;
    ask_shown(asking, which);
    find_misses(asking, which, asking->scratch);
    return true;
}

bool around_make(Report *report, AroundProgress progress, Around *out, Error *error) {
    memset(out, 0, sizeof *out);
    for (int i = 0; i < AROUND_SIZES; i++) out->size_factor[i] = SIZES[i];
    for (int i = 0; i < AROUND_BATCHES; i++) out->batch_factor[i] = BATCHES[i];
    if (report->result.plan_count == 0) return true;
    Arena arena = {0};
    Asking asking;
    bool ok = around_asking_begin(report, progress, &arena, out, &asking, error) && make_facts(&asking, error);
    around_asking_end(&asking);
    arena_free(&arena);
    return ok;
}

bool report_make_around(Report *report, AroundProgress progress, Arena *arena, Error *error) {
    Around *around = ARENA_NEW(arena, Around, 1);
    report->around = around;
    return around ? around_make(report, progress, around, error) : error_memory(error);
}
