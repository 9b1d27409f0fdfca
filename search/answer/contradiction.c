/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/contradiction.h"

#include "search/answer/tie.h"

#include <math.h>
#include <string.h>

/* The same model, machine and work under the same limits; or a machine and a batch that `open` allows as well. */
static bool same_question(const Request *open, const Request *of_plan, const RankedPlan *plan) {
    const Question *a = &open->question, *b = &of_plan->question;
    bool batch = plan->work.sequences == a->work.sequences || open->space.batch_tolerance > 0;
    return strcmp(a->model.name, b->model.name) == 0 && strcmp(a->profile.name, b->profile.name) == 0 &&
           strcmp(a->profile.stack, b->profile.stack) == 0 && strcmp(a->machine.text, b->machine.text) == 0 &&
           a->machine.mesh.devices == b->machine.mesh.devices && a->chip.hbm_bytes.value == b->chip.hbm_bytes.value &&
           a->chip.host_bytes.value == b->chip.host_bytes.value && a->hbm_reserve == b->hbm_reserve &&
           a->offload == b->offload && a->host_update == b->host_update && a->precision == b->precision &&
           memcmp(&a->state_dtypes, &b->state_dtypes, sizeof a->state_dtypes) == 0 &&
           a->work.sequences == b->work.sequences && a->work.seq == b->work.seq && batch;
}

/* Whether the layout of the plan is one of those that `open` chooses from. */
static bool same_layouts(const Request *open, const Request *of_plan) {
    const RematRule *a = &open->question.remat, *b = &of_plan->question.remat;
    if (a->required) return b->required && a->layers == b->layers && memcmp(a->state, b->state, sizeof a->state) == 0;
    return !open->question.domain || (!b->required && open->space.launchers == of_plan->space.launchers);
}

static bool launched(const Request *open, const RankedPlan *plan) {
    const SpaceRules *space = &open->space;
    if (space->launchers && !(plan->launchable_by & space->launchers)) return false;
    if (plan->padding == 0 || space->padding == PADDING_ANY) return true;
    return space->padding == PADDING_LAUNCHABLE && plan->launchable_by != 0;
}

/* Whether the plan stands in the space of a request without subproblems. */
static bool plan_in_space(const Request *open, const Request *of_plan, const RankedPlan *plan) {
    const SpaceRules *space = &open->space;
    const Plan *what = &plan->plan;
    bool order = space->nesting_all || nesting_compare(&plan->nesting, &space->nesting) == 0;
    bool schedule = what->degrees.of[ROLE_PIPELINE] == 1 || (space->schedules >> what->knobs.schedule & 1) != 0;
    bool pinned = space->pin_count > 0;
    return same_question(open, of_plan, plan) && same_layouts(open, of_plan) && order && schedule && !pinned &&
           of_plan->space.max_idle <= space->max_idle && of_plan->space.batch_tolerance <= space->batch_tolerance &&
           launched(open, plan) && request_admits(open, &what->degrees) &&
           request_admits_knobs(open, &what->degrees, &what->knobs);
}

/* Whether the plan stands in the space that was searched: with several launchers, that of one of them. */
static bool was_searched(const Request *open, const SearchResult *best, const Request *of_plan,
                         const RankedPlan *plan) {
    for (int i = 0; i < best->subproblem_count; i++) {
        const SubproblemAnswer *subproblem = &best->subproblems[i];
        if (subproblem->searched && subproblem->end.kind != END_GAP &&
            plan_in_space(subproblem->request, of_plan, plan))
            return true;
    }
    return best->subproblem_count == 0 && plan_in_space(open, of_plan, plan);
}

bool proof_stands(const Request *open, const SearchResult *best, const Request *of_plan, const RankedPlan *plan,
                  Error *error) {
    if (best->certificate.proof != PROOF_OPTIMAL || best->interrupted) return true;
    double proven = best->plan_count > 0 ? search_fastest(best)->ranked_seconds : INFINITY;
    if (!(plan->ranked_seconds < proven * (1 - CONTRADICTION)) || !was_searched(open, best, of_plan, plan)) return true;
    if (best->plan_count == 0)
        return error_set(error, ERROR_INTERNAL, "search",
                         "a plan of this space takes %.9g s, and the search for it or a faster one finds none: this is "
                         "a defect",
                         plan->ranked_seconds);
    return error_set(error, ERROR_INTERNAL, "search",
                     "a plan of this space takes %.9g s, and %.9g s was proven to be the best: this is a defect",
                     plan->ranked_seconds, proven);
}
