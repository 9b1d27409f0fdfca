/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact best layout: branches (all choices made) in the order of their bounds; those that fit with everything saved
 * are priced, for others branch_solve finds the counts, until the next bound is no lower than the best. Saving
 * everything never costs time, so a branch that fits is solved by that. In a pipeline a branch takes what the longer of
 * two stages takes, which differ in what is saved alone: an activation has the same states for both. */
#include "search/engine/layout/decisions.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

enum { BRANCHES_MAX = 243 /* STRATEGIES_MAX^NODE_ACTIVATION */ };

typedef struct {
    int index;
    double bound;
} Candidate;

typedef struct {
    int index; /* of the branch; -1: none yet */
    double seconds, peak;
    int64_t counts[ITEMS_MAX];
} Best;

static void useful_branch(const LayoutGraph *graph, int index, Branch *out) {
    branch_at(graph, index, out);
    branch_drop_useless(out);
}

/* Seconds of counts of a branch in one stage. */
static double counts_seconds(const LayoutGraph *graph, const Branch *branch, const int64_t counts[ITEMS_MAX],
                             const Rates *rates) {
    Resources resources;
    branch_resources(branch, counts, &resources);
    return step_seconds(&graph->rule, &resources, rates);
}

/* The same in the other stage; 0: there is none. */
static double other_seconds(const LayoutGraph *graph, const Branch *branch, const int64_t counts[ITEMS_MAX],
                            const Rates *rates) {
    if (!graph->other) return 0;
    Layout layout = branch_layout(graph, branch, counts);
    Resources resources;
    layout_resources(graph->other, &layout, &resources);
    return step_seconds(&graph->other->rule, &resources, rates);
}

/* No counts of a branch take less than this in the longer stage. */
static double longer_bound(const LayoutGraph *graph, int index, const Branch *branch, const Rates *rates) {
    double bound = branch_bound(&graph->rule, branch, rates);
    if (!graph->other) return bound;
    Branch second;
    useful_branch(graph->other, index, &second);
    return max_real(bound, branch_bound(&graph->other->rule, &second, rates));
}

/* Branches that fit compete at once (ties: less memory, then the earlier branch); those that may fit with less saved
 * become candidates. */
static int list_candidates(const LayoutGraph *graph, const Rates *rates, Candidate candidates[BRANCHES_MAX],
                           Best *best) {
    static const int64_t NONE[ITEMS_MAX] = {0};
    int count = 0, branches = branch_count(graph);
    for (int index = 0; index < branches; index++) {
        Branch branch;
        if (!branch_at(graph, index, &branch)) continue;
        branch_drop_useless(&branch);
        if (!resources_fit(&branch.saved, graph->rule.memory_limit_bytes)) {
            double bound = longer_bound(graph, index, &branch, rates);
            int at = count;
            if (isinf(bound)) continue;
            for (; at > 0 && candidates[at - 1].bound > bound; at--) candidates[at] = candidates[at - 1];
            candidates[at] = (Candidate){index, bound};
            count++;
            continue;
        }
        double seconds = max_real(step_seconds(&graph->rule, &branch.saved, rates),
                                  other_seconds(graph, &branch, NONE, rates)),
               peak = resources_peak(&branch.saved);
        if (best->index < 0 || seconds < best->seconds || (seconds == best->seconds && peak < best->peak))
            *best = (Best){.index = index, .seconds = seconds, .peak = peak};
    }
    return count;
}

/* Whether a is the better layout: the faster, then what sends less to the host, then what holds less. */
static bool better(double seconds, const Resources *a, const LayoutSolution *b) {
    if (!b->found || seconds != b->seconds) return !b->found || seconds < b->seconds;
    double sent = a->of[RES_OFFLOAD_BYTES], other = b->resources.of[RES_OFFLOAD_BYTES];
    return sent != other ? sent < other : resources_peak(a) < resources_peak(&b->resources);
}

/* Where layouts follow rules they are few enough to try. */
static void solve_in_domain(const LayoutGraph *graph, const Rates *rates, LayoutSolution *out) {
    DomainLayout at = {0};
    while (domain_layout_next(graph, &at)) {
        if (!resources_fit(&at.resources, graph->rule.memory_limit_bytes)) continue;
        double seconds = step_seconds(&graph->rule, &at.resources, rates);
        seconds = max_real(seconds, other_seconds(graph, &at.branch, at.counts, rates));
        if (better(seconds, &at.resources, out)) {
            out->found = true;
            out->seconds = out->bound_seconds = seconds;
            out->layout = branch_layout(graph, &at.branch, at.counts);
            out->resources = at.resources;
        }
        domain_layout_fits(graph, &at);
    }
}

/* The best counts of a branch. Where another stage takes no longer with the best of one, these are the best; else the
 * best of the other stage are the other candidate. */
static bool solve_branch(const LayoutGraph *graph, int index, const Rates *rates, double cutoff, BranchSolution *out,
                         Error *error) {
    Branch branch, other_branch;
    BranchSolution second;
    useful_branch(graph, index, &branch);
    if (!branch_solve(&graph->rule, &branch, rates, cutoff, out, error)) return false;
    double other = out->found ? other_seconds(graph, &branch, out->counts, rates) : 0;
    if (!out->found || other <= out->seconds) return true;
    useful_branch(graph->other, index, &other_branch);
    if (!branch_solve(&graph->other->rule, &other_branch, rates, cutoff, &second, error)) return false;
    out->solver_calls += second.solver_calls;
    out->work += second.work;
    out->bound_seconds = max_real(out->bound_seconds, second.bound_seconds);
    out->seconds = other;
    if (second.found) {
        second.seconds = max_real(second.seconds, counts_seconds(graph, &branch, second.counts, rates));
        if (second.seconds < other) {
            out->seconds = second.seconds;
            memcpy(out->counts, second.counts, sizeof(out->counts));
        }
    }
    out->found = out->seconds < cutoff;
    return true;
}

bool layout_solve(const LayoutGraph *undecided, const Rates *rates, LayoutSolution *out, Error *error) {
    LayoutGraph decided = *undecided, other; /* with the exposed shares of these rates */
    decided.rule = rule_at(&undecided->rule, rates);
    if (undecided->other) {
        other = *undecided->other;
        other.rule = rule_at(&undecided->other->rule, rates);
        decided.other = &other;
    }
    const LayoutGraph *graph = &decided;
    Candidate candidates[BRANCHES_MAX];
    Best best = {.index = -1, .seconds = INFINITY};
    memset(out, 0, sizeof(*out));
    if (graph->domain) {
        solve_in_domain(graph, rates, out);
        return true;
    }
    int count = list_candidates(graph, rates, candidates, &best);
    double open_bound = INFINITY; /* the least that a proof cut short leaves */
    for (int i = 0; i < count && candidates[i].bound < best.seconds; i++) {
        BranchSolution solution;
        if (!solve_branch(graph, candidates[i].index, rates, best.seconds, &solution, error)) return false;
        out->solver_calls += solution.solver_calls;
        out->work += solution.work;
        open_bound = min_real(open_bound, solution.bound_seconds);
        if (!solution.found) continue;
        best.index = candidates[i].index;
        best.seconds = solution.seconds;
        memcpy(best.counts, solution.counts, sizeof(best.counts));
    }
    if (best.index < 0) return true;
    Branch branch;
    useful_branch(graph, best.index, &branch);
    out->found = true;
    out->seconds = best.seconds;
    out->bound_seconds = min_real(best.seconds, open_bound);
    out->layout = branch_layout(graph, &branch, best.counts);
    branch_resources(&branch, best.counts, &out->resources);
    return true;
}
