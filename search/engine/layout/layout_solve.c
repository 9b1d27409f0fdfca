/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact best layout: branches (all choices made) in the order of their bounds; those that fit with everything saved
 * are priced, for others branch_solve finds the counts, until the next bound is no lower than the best. Saving
 * everything never costs time, so a branch that fits is solved by that. */
#include "search/engine/layout/branch_solve.h"

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

/* Branches that fit compete at once (ties: less memory, then the earlier branch); those that may fit with less saved
 * become candidates. */
static int list_candidates(const LayoutGraph *graph, const Rates *rates, Candidate candidates[BRANCHES_MAX],
                           Best *best) {
    int count = 0, branches = branch_count(graph);
    for (int index = 0; index < branches; index++) {
        Branch branch;
        if (!branch_at(graph, index, &branch)) continue;
        branch_drop_useless(&branch);
        if (!resources_fit(&branch.saved, graph->rule.memory_limit_bytes)) {
            double bound = branch_bound(&graph->rule, &branch, rates);
            int at = count;
            if (isinf(bound)) continue;
            for (; at > 0 && candidates[at - 1].bound > bound; at--) candidates[at] = candidates[at - 1];
            candidates[at] = (Candidate){index, bound};
            count++;
            continue;
        }
        double seconds = step_seconds(&graph->rule, &branch.saved, rates), peak = resources_peak(&branch.saved);
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
        if (better(seconds, &at.resources, out)) {
            out->found = true;
            out->seconds = out->bound_seconds = seconds;
            out->layout = branch_layout(graph, &at.branch, at.counts);
            out->resources = at.resources;
        }
        domain_layout_fits(graph, &at);
    }
}

bool layout_solve(const LayoutGraph *undecided, const Rates *rates, LayoutSolution *out, Error *error) {
    LayoutGraph decided = *undecided; /* with the exposed shares of these rates */
    decided.rule = rule_at(&undecided->rule, rates);
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
        Branch branch;
        BranchSolution solution;
        useful_branch(graph, candidates[i].index, &branch);
        if (!branch_solve(&graph->rule, &branch, rates, best.seconds, &solution, error)) return false;
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
