/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/html/facts.h"

#include "base/util.h"
#include "mesh/slice.h"
#include "search/explore/explore.h"
#include "search/report/questions.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ASKED_MAX = PAGE_LIMITS + PAGE_SIZES * PAGE_BATCHES + PAGE_FIGURES_MAX * PAGE_MOVES, EFFICIENCIES_SEARCHED = 8 };
static const double SIZES[PAGE_SIZES] = {0.25, 0.5, 1, 2, 4}, BATCHES[PAGE_BATCHES] = {0.5, 1, 2};
static const double LIMITS[PAGE_LIMITS] = {1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4}; /* of the HBM that plans may fill */
static const double LEAST_EFFECT = 0.0005;                                   /* of an efficiency that is shown */

/* Around a large search a page asks less, so that it takes some minutes at most: by the tuples of degrees that the search
 * had to open, those of a mixture on GPUs with all its expert grids taken tenfold. */
static bool is_large(const Report *report) {
    static const int64_t MOST = 10000, GRIDS = 10;
    bool grids = (report->request->space.roles >> ROLE_EXPERT & 1) && chip_has_domains(&report->request->question.chip);
    return report->result.certificate.degree_tuples_opened * (grids ? GRIDS : 1) > MOST;
}

/* What is asked, in handfuls, so that whoever waits hears of it. */
typedef struct {
    Report *report;
    const RankedPlan *first;
    PageProgress progress;
    SideSearch *questions; /* QUESTIONS_MAX of them */
    int pending;
    PagePoint *points[QUESTIONS_MAX]; /* where an answer goes: here, */
    PageFigure *figures[QUESTIONS_MAX];
    int moves[QUESTIONS_MAX]; /* or here */
    int done, all;
    PageFacts *out;
} Asking;

static bool same_row(const RankedPlan *a, const RankedPlan *b) {
    return knobs_compete(&a->plan.knobs, &b->plan.knobs) && degrees_compare(&a->plan.degrees, &b->plan.degrees) == 0;
}

static void point_of(const Report *report, const RankedPlan *ranked, PagePoint *out) {
    const Estimate *estimate = &ranked->estimate;
    double seq = (double)ranked->work.seq;
    out->found = true;
    out->chips = ranked->machine.mesh.chips;
    out->tokens = (double)ranked->work.sequences * seq;
    out->step_seconds = estimate->time.seconds;
    out->mfu = estimate->mfu;
    out->memory_bytes = memory_total(&estimate->memory);
    out->limit_bytes = estimate->memory_limit_bytes;
    out->training_seconds = report->request->question.training_tokens / out->tokens * estimate->time.seconds;
    snprintf(out->machine, sizeof out->machine, "%s", ranked->machine.text);
    plan_label(ranked, out->plan);
}

static void take_answer(Asking *asking, int i) {
    const SideAnswer *answer = &asking->questions[i].answer;
    if (answer->cut_short) asking->out->cut_short = true;
    if (asking->points[i]) {
        asking->points[i]->cut_short = answer->cut_short;
        if (answer->found) point_of(asking->report, &answer->best, asking->points[i]);
        return;
    }
    PageFigure *figure = asking->figures[i];
    int move = asking->moves[i];
    figure->at[move].searched = !answer->cut_short || answer->found;
    figure->at[move].found = answer->found;
    if (!answer->found) return;
    figure->at[move].relative = answer->best.ranked_seconds / asking->first->ranked_seconds - 1;
    figure->at[move].changed = !same_row(&answer->best, asking->first);
    plan_label(&answer->best, figure->at[move].winner);
}

static bool flush(Asking *asking, const char *what, Error *error) {
    int count = asking->pending;
    if (count == 0) return true;
    if (asking->progress.tell) asking->progress.tell(asking->progress.of, what, asking->done, asking->all);
    asking->pending = 0;
    if (!report_ask_all(asking->report, asking->questions, count, error)) return false;
    for (int i = 0; i < count; i++) take_answer(asking, i);
    asking->done = (int)min_whole(asking->done + count, asking->all);
    return true;
}

/* The request on the machine of a plan, to be changed. */
static void request_on(const Asking *asking, const RankedPlan *ranked, Request *out) {
    request_copy(asking->report->request, out);
    request_fix_machine(ranked, out);
}

/* The next question, to be changed: on plan 1's machine. */
static SideSearch *next_question(Asking *asking) {
    int i = asking->pending++;
    SideSearch *question = &asking->questions[i];
    memset(question, 0, sizeof *question);
    request_on(asking, asking->first, &question->changed);
    asking->points[i] = NULL;
    asking->figures[i] = NULL;
    return question;
}

static bool full(const Asking *asking) { return asking->pending == QUESTIONS_MAX; }

/* ---- less memory ---- */

static bool ask_limits(Asking *asking, Error *error) {
    const Request *request = asking->report->request;
    PageFacts *out = asking->out;
    for (int i = 0; i < PAGE_LIMITS; i++) {
        if (out->thin && i % 2 == 1) continue;
        out->memory[i].asked = true;
        out->memory[i].limit_bytes = LIMITS[i] * asking->first->estimate.memory_limit_bytes;
        if (LIMITS[i] == 1) {
            point_of(asking->report, asking->first, &out->memory[i]);
            continue;
        }
        SideSearch *question = next_question(asking);
        question->changed.question.hbm_reserve = 1 - LIMITS[i] * (1 - request->question.hbm_reserve);
        asking->points[asking->pending - 1] = &out->memory[i];
        if (full(asking) && !flush(asking, "less memory", error)) return false;
    }
    return flush(asking, "less memory", error);
}

/* ---- other machines and batches ---- */

/* The machine like `base` with so many chips. False: there is none. */
static bool machine_of_chips(const Chip *chip, const Machine *base, int64_t chips, Machine *out) {
    if (chips < 1 || chips > MACHINE_CHIPS_MAX) return false;
    if (chip_has_domains(chip)) {
        bool hosts =
            chips % chip->chips_per_host == 0 || (chips < chip->chips_per_host && chip->chips_per_host % chips == 0);
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

static bool ask_sizes(Asking *asking, Error *error) {
    const Request *request = asking->report->request;
    const RankedPlan *first = asking->first;
    PageFacts *out = asking->out;
    const Machine *base = &first->machine;
    for (int s = 0; s < PAGE_SIZES; s++)
        for (int b = 0; b < PAGE_BATCHES; b++) {
            double chips = SIZES[s] * (double)base->mesh.chips, sequences = BATCHES[b] * (double)first->work.sequences;
            Machine machine;
            PagePoint *point = &out->size[s][b];
            if (SIZES[s] == 1 && BATCHES[b] == 1) {
                point->asked = true;
                point_of(asking->report, first, point);
                continue;
            }
            bool far = fabs(log2(SIZES[s])) > 1.5 || BATCHES[b] != 1;
            if ((out->thin && far) || chips != floor(chips) || sequences != floor(sequences) ||
                sequences > 0x1p62 / (double)first->work.seq ||
                !machine_of_chips(&request->question.chip, base, (int64_t)chips, &machine))
                continue;
            Request *changed = &next_question(asking)->changed;
            point->asked = true;
            changed->question.profile = profile_rescaled(
                &request->question.profile, (double)request->question.machine.mesh.chips,
                (double)request->question.machine.slices, (double)machine.mesh.chips, (double)machine.slices);
            changed->question.machine = machine;
            changed->question.work.sequences = (int64_t)sequences;
            changed->asked.requested_batch_tokens = sequences * (double)first->work.seq;
            asking->points[asking->pending - 1] = point;
            if (full(asking) && !flush(asking, "other machines and batches", error)) return false;
        }
    return flush(asking, "other machines and batches", error);
}

/* ---- figures ---- */

/* Plan 1 as it is with each figure moved; figures that do not matter are left out. */
static int list_figures(Asking *asking, Request *scratch, int which[PAGE_FIGURES_MAX]) {
    const RankedPlan *first = asking->first;
    int count = 0;
    assert(page_figure_count() <= PAGE_FIGURES_MAX);
    for (int f = 0; f < page_figure_count(); f++) {
        PageFigure *figure = &asking->out->figures[count];
        double effect = 0;
        bool any = false;
        *figure =
            (PageFigure){.name = page_figure_name(asking->report->request, f), .hardware = page_figure_of_chip(f)};
        for (int move = 0; move < PAGE_MOVES; move++) {
            double seconds = first->estimate.time.seconds;
            bool fits = true;
            request_on(asking, first, scratch);
            if (page_figure_move(scratch, f, PAGE_MOVE[move]))
                any = true, fits = page_reprice(scratch, first, &seconds, &fits) && fits;
            figure->at[move].fits = fits;
            figure->at[move].repriced = seconds / first->estimate.time.seconds - 1;
            effect = max_real(effect, fabs(figure->at[move].repriced));
            if (!fits) effect = max_real(effect, LEAST_EFFECT);
        }
        if (any && (figure->hardware || effect >= LEAST_EFFECT)) which[count++] = f;
    }
    return count;
}

static double effect_of(const PageFigure *figure) {
    return max_real(fabs(figure->at[0].repriced), fabs(figure->at[1].repriced));
}

/* All of the chip's, and the efficiencies that move plan 1 most. */
static bool is_searched(const PageFacts *facts, int figure) {
    int ahead = 0;
    if (facts->figures[figure].hardware || facts->thin) return facts->figures[figure].hardware;
    for (int i = 0; i < facts->figure_count; i++) {
        double mine = effect_of(&facts->figures[figure]), other = effect_of(&facts->figures[i]);
        ahead += !facts->figures[i].hardware && (other > mine || (other == mine && i < figure));
    }
    return ahead < EFFICIENCIES_SEARCHED;
}

/* `again`: those that found nothing as fast as plan 1 was to be, which its layout may not be allowed to be any more. */
static bool ask_figures(Asking *asking, const int *which, bool again, Error *error) {
    PageFacts *out = asking->out;
    for (int i = 0; i < out->figure_count; i++) {
        if (!is_searched(out, i)) continue;
        for (int move = 0; move < PAGE_MOVES; move++) {
            bool nothing = out->figures[i].at[move].searched && !out->figures[i].at[move].found;
            if (again && !nothing) continue;
            SideSearch *question = next_question(asking);
            if (!page_figure_move(&question->changed, which[i], PAGE_MOVE[move])) {
                asking->pending--;
                continue;
            }
            /* Plan 1 is one of those that are asked about: nothing slower than it is then can be the best. */
            if (!again && out->figures[i].at[move].fits)
                question->limit_seconds =
                    asking->first->ranked_seconds * (1 + out->figures[i].at[move].repriced) * (1 + 1e-9);
            asking->figures[asking->pending - 1] = &out->figures[i];
            asking->moves[asking->pending - 1] = move;
            if (full(asking) && !flush(asking, "figures moved by a tenth", error)) return false;
        }
    }
    return flush(asking, "figures moved by a tenth", error);
}

/* ---- near misses ---- */

/* Whether `other` is ahead of plan 1 when a figure is so much larger, both with their layouts. */
static bool overtakes(const Asking *asking, const RankedPlan *other, int figure, double factor, Request *scratch) {
    double seconds[2];
    bool fits[2] = {true, true};
    const RankedPlan *plans[2] = {asking->first, other};
    for (int i = 0; i < 2; i++) {
        request_on(asking, plans[i], scratch);
        if (!page_figure_move(scratch, figure, factor) || !page_reprice(scratch, plans[i], &seconds[i], &fits[i]))
            return false;
        seconds[i] *= plans[i]->ranked_seconds / plans[i]->estimate.time.seconds;
    }
    return fits[1] && (!fits[0] || seconds[1] < seconds[0]);
}

/* The move up to which a search with layouts of its own has plan 1 stay the best: 1 where none was asked, or another plan
 * won. A plan that is ahead before it with both layouts held is none that would win. */
static double settled(const PageFigure *figure, bool more) {
    bool stays = figure->at[more].searched && figure->at[more].found && !figure->at[more].changed;
    return stays ? PAGE_MOVE[more] : 1;
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
    PageFacts *out = asking->out;
    for (int i = 1; i < result->plan_count && out->miss_count < NEAR_MISSES_MAX; i++) {
        NearMiss *miss = &out->misses[out->miss_count++];
        *miss = (NearMiss){.factor = 1};
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

bool page_facts(Report *report, PageProgress progress, PageFacts *out, Error *error) {
    memset(out, 0, sizeof *out);
    for (int i = 0; i < PAGE_SIZES; i++) out->size_factor[i] = SIZES[i];
    for (int i = 0; i < PAGE_BATCHES; i++) out->batch_factor[i] = BATCHES[i];
    if (report->result.plan_count == 0) return true;
    int which[PAGE_FIGURES_MAX];
    Asking asking = {.report = report, .first = &report->result.plans[0], .progress = progress, .out = out};
    Request *scratch = malloc(sizeof *scratch);
    asking.questions = side_searches_new(QUESTIONS_MAX, error);
    bool ok = asking.questions && (scratch || error_memory(error));
    if (ok) {
        out->thin = is_large(report);
        out->figure_count = list_figures(&asking, scratch, which);
        asking.all = out->thin ? PAGE_LIMITS / 2 + 2 : PAGE_LIMITS - 1 + PAGE_SIZES * PAGE_BATCHES - 1;
        for (int i = 0; i < out->figure_count; i++) asking.all += is_searched(out, i) ? PAGE_MOVES : 0;
        ok = ask_limits(&asking, error) && ask_sizes(&asking, error) && ask_figures(&asking, which, false, error) &&
             ask_figures(&asking, which, true, error);
        if (ok) find_misses(&asking, which, scratch);
    }
    free(asking.questions);
    free(scratch);
    return ok;
}
