/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a report that differ in kind: the best of each launcher, with and without a pipeline, with HBM left free,
 * as it is usually run. Each is the best of its kind, found by a search of its own. */
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/answer/tie.h"
#include "search/launch/launcher.h"
#include "search/report/side_searches.h"

#include <math.h>
#include <stdlib.h>

static const double ROW_HEADROOM_SHARE = 0.15;
/* A row that is slower than plan 1 by more than this says little, and takes long to find; so does headroom that costs
 * more. */
static const double ROW_BEHIND_MOST = 0.25, HEADROOM_COST_MOST = 0.1;
static const double ON_HOST_BEHIND_MOST = 0.05; /* few would go there for nothing; what it gains is said in any case */
static const double HEADROOM_SHARES[HEADROOM_STEPS] = {0.1, 0.2, 0.3};

/* A quick search begins again from plans that are slower by no more than this. */
static const double GLANCE_NEAR = 0.02;

typedef struct {
    RowKind kind;
    double behind_most; /* slower than plan 1, as a share: what is more is not looked for */
    Request *changed;   /* in the report's arena */
    SideAnswer answer;
} KindRow;
enum { KINDS_MAX = 5 };

const char *row_kind_name(RowKind kind) {
    static const char *const NAMES[ROW_KIND_COUNT] = {"fastest", "launcher", "pipeline", "no_pipeline", "headroom",
                                                      "usual",   "surest",   "odd",      "in_hbm",      "on_host"};
    return NAMES[kind];
}

/* ---- which kinds there are in addition to plan 1 ---- */

static bool add_requirement(Request *request, Role role, RequireOp op, int64_t degree) {
    if (request->space.requirement_count == REQUIREMENTS_MAX) return false;
    request->space.requirements[request->space.requirement_count++] =
        (Requirement){.role = role, .op = op, .degree = degree};
    return true;
}

static bool ask_pipeline(const Request *request, const RankedPlan *first, KindRow *row) {
    bool stages = first->plan.degrees.of[ROLE_PIPELINE] > 1;
    row->kind = stages ? ROW_WITHOUT_PIPELINE : ROW_WITH_PIPELINE;
    (void)request;
    return add_requirement(row->changed, ROLE_PIPELINE, stages ? REQUIRE_EQUAL : REQUIRE_AT_LEAST, stages ? 1 : 2);
}

static bool is_short_of_hbm(const Request *request, const RankedPlan *first) {
    double hbm = request_cost_context(request).chip->hbm_bytes.value;
    return memory_total(&first->estimate.memory) > hbm * (1 - ROW_HEADROOM_SHARE);
}

static bool ask_headroom(const Request *request, const RankedPlan *first, KindRow *row) {
    row->kind = ROW_HEADROOM;
    row->changed->question.hbm_reserve = ROW_HEADROOM_SHARE;
    return request->question.hbm_reserve < ROW_HEADROOM_SHARE && is_short_of_hbm(request, first);
}

/* On a torus weights are usually sharded over all chips of a slice and nothing else is. */
static bool ask_usual(const Request *request, const RankedPlan *first, KindRow *row) {
    const int64_t *of = first->plan.degrees.of;
    row->kind = ROW_USUAL;
    if (chip_has_domains(&request->question.chip) || request->space.roles >> ROLE_EXPERT & 1) return false;
    if (of[ROLE_TENSOR] == 1 && of[ROLE_SEQUENCE] == 1 && of[ROLE_PIPELINE] == 1) return false;
    return add_requirement(row->changed, ROLE_TENSOR, REQUIRE_EQUAL, 1) &&
           add_requirement(row->changed, ROLE_SEQUENCE, REQUIRE_EQUAL, 1) &&
           add_requirement(row->changed, ROLE_PIPELINE, REQUIRE_EQUAL, 1);
}

/* Without the host's memory; or, where HBM is short, with the optimizer's state there. */
static bool ask_host(const Request *request, const RankedPlan *first, KindRow *row) {
    Question *question = &row->changed->question;
    bool there = plan_host_bytes(first->request ? first->request : request, first) > 0 || question->tuning.what.on_host;
    row->kind = there ? ROW_IN_HBM : ROW_ON_HOST;
    row->behind_most = there ? INFINITY : ON_HOST_BEHIND_MOST;
    if (request->requested.offload) return false;
    if (!there)
        return question->tuning.what.rank == 0 && is_short_of_hbm(request, first) &&
               offload_takes_optimizer(question->offload) &&
               requirements_parse("offload_optimizer=true", "", row->changed->space.requirements,
                                  &row->changed->space.requirement_count, &(Error){0});
    question->tuning.what.on_host = question->state.tuning.on_host = false;
    question->offload = OFFLOAD_NONE;
    return true;
}

static bool (*const KINDS[])(const Request *request, const RankedPlan *first,
                             KindRow *row) = {ask_pipeline, ask_headroom, ask_usual, ask_host};
_Static_assert(COUNT_OF(KINDS) <= KINDS_MAX && COUNT_OF(KINDS) + 1 <= QUESTIONS_MAX, "all are searched at once");

/* ---- the rows ---- */

static bool same_answer(const RankedPlan *a, const RankedPlan *b) {
    return degrees_compare(&a->plan.degrees, &b->plan.degrees) == 0 &&
           knobs_compare(&a->plan.knobs, &b->plan.knobs) == 0 && a->machine.mesh.chips == b->machine.mesh.chips &&
           a->work.sequences == b->work.sequences && a->request->space.launchers == b->request->space.launchers &&
           a->estimate.time.seconds == b->estimate.time.seconds;
}

/* Adds a row unless it is there, which then is of that kind as well. */
static void add_row(RankedPlan rows[ROWS_DIFFERENT], int *count, const RankedPlan *plan, RowKind kind) {
    for (int i = 0; i < *count; i++)
        if (same_answer(&rows[i], plan)) {
            rows[i].row_kinds |= 1u << kind;
            return;
        }
    if (*count == ROWS_DIFFERENT) return;
    rows[*count] = *plan;
    rows[(*count)++].row_kinds = 1u << kind;
}

/* By time, but that of tied plans the one of lowest risk comes first. */
static int by_rank(const void *left, const void *right) {
    const RankedPlan *a = left, *b = right;
    if ((a->row_kinds ^ b->row_kinds) >> ROW_SUREST & 1) return a->row_kinds >> ROW_SUREST & 1 ? -1 : 1;
    if (a->ranked_seconds != b->ranked_seconds) return a->ranked_seconds < b->ranked_seconds ? -1 : 1;
    return (a->row_kinds & 1u) ? -1 : (b->row_kinds & 1u) ? 1 : a->row_kinds < b->row_kinds ? -1 : 1;
}

/* What the host gains, or would cost. */
static void note_host(Report *report, const KindRow *row) {
    const SideAnswer *answer = &row->answer;
    report->host = answer->found             ? (row->kind == ROW_IN_HBM ? HOST_IS_FASTER : HOST_IS_NEAR)
                   : answer->cut_short       ? HOST_NOT_KNOWN
                   : row->kind == ROW_IN_HBM ? HOST_IS_NEEDED
                                             : HOST_NOT_KNOWN;
    if (answer->found) report->host_other = answer->best.estimate.time.seconds;
}

static bool take_rows(Report *report, KindRow *kinds, int kind_count, Arena *arena, Error *error) {
    SearchResult *result = &report->result;
    RankedPlan *rows = ARENA_NEW(arena, RankedPlan, ROWS_DIFFERENT);
    int count = 0;
    if (!rows) return error_memory(error);
    add_row(rows, &count, &result->plans[0], result->fastest || result->odd ? ROW_SUREST : ROW_FASTEST);
    if (result->odd) add_row(rows, &count, result->odd, ROW_ODD);
    if (result->fastest) add_row(rows, &count, result->fastest, ROW_FASTEST);
    for (int i = 0; i < result->subproblem_count; i++)
        if (result->subproblems[i].best && result->subproblems[i].request != report->request)
            add_row(rows, &count, result->subproblems[i].best, ROW_OF_LAUNCHER);
    for (int i = 0; i < kind_count; i++) {
        RankedPlan *best = &kinds[i].answer.best;
        best->request = kinds[i].changed;
        if (kinds[i].answer.found) add_row(rows, &count, best, kinds[i].kind);
        if (kinds[i].kind == ROW_IN_HBM || kinds[i].kind == ROW_ON_HOST) note_host(report, &kinds[i]);
    }
    qsort(rows, (size_t)count, sizeof *rows, by_rank);
    double fastest = search_fastest(result)->ranked_seconds;
    for (int i = 0; i < count; i++) {
        bool faster = rows[i].estimate.time.seconds < rows[0].estimate.time.seconds;
        if (rows[i].odd && faster) rows[i].row_kinds |= 1u << ROW_ODD;
        rows[i].tied = rows[i].ranked_seconds <= fastest * (1 + TIE);
    }
    result->plans = rows;
    result->plan_count = count;
    return true;
}

/* ---- all the questions ---- */

/* A layout that no launcher has to take, where it is faster. */
static bool ask_free(const Report *report, SideSearch *question) {
    enum { GLANCE_WORK = 20000 /* bounds */, TUPLES_FEW = 1000 /* are searched whole as soon */ };
    const Request *requested = report->requested;
    const Subproblem *free = NULL;
    for (int i = requested->subproblem_count - 1; i >= 0; i--)
        if (requested->subproblems[i].fallback) free = &requested->subproblems[i];
    if (!free || report->request->space.launchers == 0) return false;
    request_for(requested, free, &question->changed);
    request_copy(&question->changed, &question->changed);
    question->changed.control.caches = report->request->control.caches;
    question->limit_seconds = search_fastest(&report->result)->ranked_seconds;
    question->patient = true;
    bool quick = requested->control.sensitivity == SENSITIVITY_ROWS;
    if (!quick || report->result.certificate.degree_tuples < TUPLES_FEW) return true;
    question->work_limit = GLANCE_WORK;
    question->changed.control.quick = true;
    question->changed.control.tie = GLANCE_NEAR;
    for (int i = 1; i < report->result.plan_count; i++)
        request_seed(report->request, &report->result.plans[i], &question->changed);
    return true;
}

static int list_kinds(const Report *report, KindRow kinds[KINDS_MAX], SideSearch *questions, Arena *arena) {
    int count = 0;
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        KindRow *row = &kinds[count];
        row->changed = ARENA_NEW(arena, Request, 1);
        if (!row->changed) return -1;
        request_copy(report->request, row->changed);
        row->behind_most = ROW_BEHIND_MOST;
        if (!KINDS[i](report->request, &report->result.plans[0], row)) continue;
        questions[count].changed = *row->changed;
        if (row->behind_most < INFINITY)
            questions[count].limit_seconds = (1 + row->behind_most) * report->result.plans[0].ranked_seconds;
        count++;
    }
    return count;
}

/* Whether a plan leaves so much free that it is one of the changed request's plans as well. Where it is not certain by
 * more than rounding, it does not. */
static bool fits_in(const RankedPlan *plan, const Request *changed) {
    CostContext context = request_cost_context(changed);
    return memory_total(&plan->estimate.memory) <= cost_context_memory_limit(&context) * (1 - 1e-6);
}

/* One step of headroom beyond the last one, whose best plan is *best; *out is filled. */
static bool ask_headroom_step(Report *report, RankedPlan *best, SideSearch *question, Headroom *out, Error *error) {
    const RankedPlan *first = search_fastest(&report->result);
    out->found = true;
    if (!fits_in(best, &question->changed)) {
        question->limit_seconds = (1 + HEADROOM_COST_MOST) * first->ranked_seconds;
        request_seed(report->request, best, &question->changed);
        if (!report_ask_all(report, question, 1, error)) return false;
        out->found = question->answer.found;
        *best = out->found ? question->answer.best : *best;
        best->request = first->request;
    }
    out->relative = best->ranked_seconds / first->ranked_seconds - 1;
    return true;
}

/* What more headroom costs, from the least on. The best plan with less of it is looked at first: where it leaves as
 * much free, it is the best here too, since less fits here; and where there was none up to the limit, there is none
 * here. */
bool report_make_headroom(Report *report, Arena *arena, Error *error) {
    if (!report->requested->control.different) return true;
    RankedPlan *best = ARENA_NEW(arena, RankedPlan, 1);
    bool none = false;
    if (!best) return error_memory(error);
    *best = *search_fastest(&report->result);
    for (int i = 0; i < HEADROOM_STEPS; i++) {
        SideSearch *question = ARENA_NEW(arena, SideSearch, 1);
        if (!question) return error_memory(error);
        request_copy(report->request, &question->changed);
        question->changed.question.hbm_reserve += HEADROOM_SHARES[i];
        if (question->changed.question.hbm_reserve >= 0.9) continue;
        Headroom *headroom = &report->headroom[report->headroom_count];
        *headroom = (Headroom){.free_share = HEADROOM_SHARES[i]};
        if (!none && !ask_headroom_step(report, best, question, headroom, error)) return false;
        if (question->answer.cut_short) return true;
        none = !headroom->found;
        report->headroom_count++;
    }
    return true;
}

bool report_make_rows(Report *report, Arena *arena, Error *error) {
    if (!report->requested->control.different) return true;
    KindRow *kinds = ARENA_NEW(arena, KindRow, KINDS_MAX); /* too large for a small stack */
    if (!kinds) return error_memory(error);
    if (report->requested->control.sensitivity == SENSITIVITY_NONE) return take_rows(report, kinds, 0, arena, error);
    SideSearch *questions = side_searches_new(QUESTIONS_MAX, error);
    if (!questions) return false;
    int rows = list_kinds(report, kinds, questions, arena);
    if (rows < 0) return free(questions), error_memory(error);
    bool has_free = ask_free(report, &questions[rows]);
    /* A quick search of free layouts takes about as long as a row. The search for the best one takes longer than all
     * rows together: it has all threads when they are done. */
    int at_once = has_free && questions[rows].changed.control.quick ? rows + 1 : rows;
    bool ok = report_ask_all(report, questions, at_once, error) &&
              (at_once > rows || !has_free || report_ask_all(report, &questions[rows], 1, error));
    if (ok) {
        for (int i = 0; i < rows; i++) kinds[i].answer = questions[i].answer;
        report->has_free = has_free && questions[rows].answer.found;
        if (report->has_free) report->free = questions[rows].answer.best;
        report->free_or_less = questions[rows].answer.cut_short;
        ok = take_rows(report, kinds, rows, arena, error);
    }
    free(questions);
    return ok;
}

/* What rows take under launchers that accept their degrees and placement but cannot express their layout: each with the
 * best layout that it can express, under the row's own software. */

/* A launcher of a row. */
typedef struct {
    LaunchAnswer *answer;
    const RankedPlan *row;
} Expressible;

static bool ask(const Report *report, const Expressible *one_row, Arena *arena, SideSearch *question, Error *error) {
    const RankedPlan *row = one_row->row;
    const Request *own = row->request ? row->request : report->request;
    Request *changed = &question->changed;
    LauncherSet one = 1u << one_row->answer->launcher;
    request_copy(own, changed);
    changed->space.launchers = one;
    changed->space.max_idle = 0;
    changed->space.batch_tolerance = 0;
    changed->question.machine = row->machine;
    changed->question.work = row->work;
    changed->question.host_update = launchers_host_update(one);
    request_pin(row, changed);
    if (!launch_remat(one, &own->question.model, arena, &changed->question.domain, error)) return false;
    /* what it cannot express it does not do, though --remat requires it */
    RematRule *remat = &changed->question.remat;
    remat->required = remat->required && remat_is_expressible(changed->question.domain, &own->question.model, remat);
    return request_require(&row->plan.degrees, &row->plan.knobs, 0, changed) ||
           error_set(error, ERROR_INPUT, "--require", "has more than %d conditions", REQUIREMENTS_MAX);
}

static bool ask_some(Report *report, Expressible *list, int count, Arena *arena, Error *error) {
    SideSearch *questions = side_searches_new(count, error);
    bool ok = questions != NULL;
    for (int i = 0; i < count && ok; i++) ok = ask(report, &list[i], arena, &questions[i], error);
    ok = ok && report_ask_all(report, questions, count, error);
    for (int i = 0; i < count && ok; i++) {
        const SideAnswer *answer = &questions[i].answer;
        if (answer->found)
            list[i].answer->expressible_seconds = answer->best.estimate.time.seconds;
        else
            list[i].answer->expressible_seconds = answer->cut_short ? 0 : -1;
    }
    free(questions);
    return ok;
}

bool report_make_expressible(Report *report, Arena *arena, Error *error) {
    Expressible list[QUESTIONS_MAX];
    int count = 0;
    for (int i = 0; i < min_whole(report->result.plan_count, ROWS_DIFFERENT); i++) {
        RankedPlan *row = &report->result.plans[i];
        LauncherSet otherwise = row->launchable_by & ~row->exact;
        for (int k = 0; k < row->launch_count; k++) {
            if (!(otherwise >> row->launch[k].launcher & 1)) continue;
            list[count++] = (Expressible){&row->launch[k], row};
            if (count < QUESTIONS_MAX) continue;
            if (!ask_some(report, list, count, arena, error)) return false;
            count = 0;
        }
    }
    return count == 0 || ask_some(report, list, count, arena, error);
}
