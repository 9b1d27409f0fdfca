/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds below every layout that fits.
 *
 * Two bounds, both true for any counts n >= 0 of a branch (all choices made; R = saved + sum n a):
 * 1. step(R) >= step(saved), since no item takes away anything but memory, and the step never falls when a resource
 *    rises.
 * 2. Let X be exposed communication, the host link's share included, and C compute of the step. main >= X + A + B >=
 *    X + C_A + C_B =: in series, and main >= PCIe time, so
 *        step >= (1 - w) series(R) + w pcie(R) + tail(R)        for every w in [0, 1]
 *    with tail = bubble + optimizer + other. A collective counts by one of its affine pieces (a maximum is not below
 *    either), then the right side is linear: its value at `saved` plus sum n_i c_i, c_i >= 0. Memory requires
 *    sum n_i freed_i >= missing for each moment; the least sum n_i c_i under one of these alone and without integrality
 *    is a fractional knapsack with a choice per activation, filled greedily along each activation's convex hull (LP
 *    optimum; Sinha and Zoltners 1979). Its value is a bound for each moment, the largest is taken.
 * Over the branches of a row: saved >= the row's resources, component-wise, so series(saved) - series(row) >= the
 * linear cost of the difference at the least rates; the least over the branches of (that + knapsack) is the row's
 * constant. All of it is linear in the rates with factors >= 0, so the constant, taken at the least rates, holds for
 * all above. Ring attention hides behind attention; its time is the same for all layouts, as cost/time/step.h says.
 * Subtractions get directed slack (search.md, theorem 7): 2^-40 of the minuend, far above what 300 roundings of 2^-53
 * can lose. */
#include "search/engine/layout/branch.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "cost/time/step_terms.h"

#include <math.h>
#include <string.h>

enum { WEIGHT_COUNT = 7, ROW_BRANCHES_MAX = 81 /* STRATEGIES_MAX^4: all nodes but the mlp's */ };
static const double WEIGHTS[WEIGHT_COUNT] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99};

/* Which affine piece is the larger where backward stands: later rates may differ, the choice stays valid. */
static unsigned second_pieces(const Resources *resources, const Rates *rates) {
    unsigned second = 0;
    for (int group = 0; group < GROUP_COUNT; group++) {
        if (step_moves_once(group)) continue;
        const CollectiveCost *cost = &rates->cost[group];
        double messages = resources->of[res_messages((Group)group, PHASE_BACKWARD)],
               bytes = resources->of[res_bytes((Group)group, PHASE_BACKWARD)];
        if (messages * cost->latency_seconds[1] + bytes * cost->seconds_per_byte[1] >
            messages * cost->latency_seconds[0] + bytes * cost->seconds_per_byte[0])
            second |= 1u << group;
    }
    return second;
}

/* What resources add, at least: to the series without its tail, to PCIe time, to the tail. */
typedef struct {
    double series, pcie, tail;
} Cost;

static Cost linear_cost(const StepRule *rule, const Resources *adds, const Rates *rates, unsigned second) {
    double each[PHASE_COUNT], background = 0;
    StepTerm compute = step_compute_term(rule);
    for (int phase = 0; phase < PHASE_COUNT; phase++) each[phase] = step_compute_seconds(adds, phase);
#pragma GCC unroll 16
    for (int group = 0; group < GROUP_COUNT; group++) { /* unrolled, so that the kind of each row is a constant */
        StepTerm term = step_term(rule, group, rates->leaves_scale_up >> group & 1);
        int piece = second >> group & 1;
        for (int phase = 0; phase < PHASE_COUNT && !term.once; phase++) {
            Traffic traffic = step_traffic(rule, adds, group, phase);
            double seconds = traffic.messages * rates->cost[group].latency_seconds[piece] +
                             traffic.bytes * rates->cost[group].seconds_per_byte[piece];
            *(term.critical ? &each[phase] : &background) += term.exposed * seconds;
        }
    }
    double pcie = step_pcie_seconds(rule, adds);
    return (Cost){compute.times * (each[0] + each[1] + background) + rule->host_exposed * pcie, pcie,
                  compute.idle[0] * each[0] + compute.idle[1] * each[1]};
}

static double weighted(Cost cost, double w) { return (1 - w) * cost.series + w * cost.pcie + cost.tail; }

/* A piece of an activation's convex hull of (bytes freed, cost). */
typedef struct {
    double bytes, cost;
} Piece;

static bool cheaper(Piece a, Piece b) { return a.cost * b.bytes < b.cost * a.bytes; }

/* Pieces of one activation with its (one or two) items at one moment; bytes and cost of all layers. */
static int hull(Piece a, Piece b, Piece out[2]) {
    if (cheaper(b, a)) {
        Piece swap = a;
        a = b, b = swap;
    }
    int count = 0;
    if (a.bytes > 0) out[count++] = a;
    if (b.bytes > a.bytes) out[count++] = (Piece){b.bytes - a.bytes, max_real(0, b.cost - a.cost)};
    return count;
}

/* Least cost of freeing `missing` bytes at a moment; *possible: bytes that can be freed at most. */
static double knapsack(const Branch *branch, const double costs[ITEMS_MAX], int moment, double missing,
                       double *possible) {
    Piece pieces[ITEMS_MAX];
    int count = 0;
    *possible = 0;
    for (int i = 0; i < branch->item_count;) {
        Piece pair[2] = {{0, 0}, {0, 0}};
        int activation = branch->items[i].activation;
        for (int j = 0; i < branch->item_count && branch->items[i].activation == activation; i++) {
            double layers = branch->items[i].layers,
                   bytes = max_real(0, -branch->items[i].adds.of[RES_MEMORY + moment]) * layers;
            if (bytes > 0 && j < 2) pair[j++] = (Piece){bytes, costs[i] * layers};
        }
        *possible += max_real(pair[0].bytes, pair[1].bytes);
        count += hull(pair[0], pair[1], &pieces[count]);
    }
    double cost = 0;
    for (int done = 0; done < count && missing > 0; done++) {
        int best = done;
        for (int i = done + 1; i < count; i++)
            if (cheaper(pieces[i], pieces[best])) best = i;
        Piece piece = pieces[best];
        pieces[best] = pieces[done];
        double share = missing < piece.bytes ? missing / piece.bytes : 1;
        cost += share * piece.cost;
        missing -= piece.bytes;
    }
    return cost;
}

static double missing_bytes(const StepRule *rule, const Branch *branch, int moment) {
    return branch->saved.of[RES_MEMORY + moment] * SLACK - rule->memory_limit_bytes;
}

/* By how much the branch misses the limit at its worst moment, everything freed; <= 0: it may fit. */
static double shortage(const StepRule *rule, const Branch *branch) {
    static const double FREE[ITEMS_MAX] = {0};
    double worst = 0, possible;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        double missing = missing_bytes(rule, branch, moment);
        if (!(missing > 0)) continue;
        knapsack(branch, FREE, moment, missing, &possible);
        worst = max_real(worst, missing - possible / SLACK);
    }
    return worst;
}

/* Another moment requires the same or more, item by item: the least cost there is no lower. */
static bool moment_covered(const Branch *branch, const double missing[MOMENT_COUNT], int moment) {
    for (int other = 0; other < MOMENT_COUNT; other++) {
        if (other == moment ||
            !(missing[other] > missing[moment] || (missing[other] == missing[moment] && other < moment)))
            continue;
        bool same = true;
        for (int i = 0; i < branch->item_count && same; i++)
            same = branch->items[i].adds.of[RES_MEMORY + other] >= branch->items[i].adds.of[RES_MEMORY + moment];
        if (same) return true;
    }
    return false;
}

/* How many weights are worth a look for a branch: where nothing goes to the host, none but the first says more. */
static int weights_of(const Branch *branch) {
    for (int i = 0; i < branch->item_count; i++)
        if (branch->items[i].adds.of[RES_OFFLOAD_BYTES] > 0) return WEIGHT_COUNT;
    return 1;
}

/* For the first `weights` weights the least cost of the items that free what is missing; for the others 0. */
static void freeing_costs(const StepRule *rule, const Branch *branch, const Rates *rates, unsigned second, int weights,
                          double out[WEIGHT_COUNT]) {
    memset(out, 0, sizeof(double) * WEIGHT_COUNT);
    if (resources_fit(&branch->saved, rule->memory_limit_bytes)) return;
    Cost costs[ITEMS_MAX];
    double missing[MOMENT_COUNT], at[ITEMS_MAX], possible;
    for (int i = 0; i < branch->item_count; i++) costs[i] = linear_cost(rule, &branch->items[i].adds, rates, second);
    for (int moment = 0; moment < MOMENT_COUNT; moment++) missing[moment] = missing_bytes(rule, branch, moment);
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        if (!(missing[moment] > 0) || moment_covered(branch, missing, moment)) continue;
        for (int w = 0; w < weights; w++) {
            for (int i = 0; i < branch->item_count; i++) at[i] = weighted(costs[i], WEIGHTS[w]);
            out[w] = max_real(out[w], knapsack(branch, at, moment, missing[moment], &possible));
        }
    }
}

/* The step with nothing hidden, each collective by the chosen piece; offloading, which the other side of the bound
 * weighs, left out. */
static double serial_seconds(const StepRule *rule, const Resources *resources, const Rates *rates, unsigned second) {
    Rates serial = *rates;
    for (int group = 0; group < GROUP_COUNT; group++) {
        serial.axes[group] = 0;
        int other = !(second >> group & 1);
        if (!step_term(rule, group, false).once)
            serial.cost[group].latency_seconds[other] = serial.cost[group].seconds_per_byte[other] = 0;
    }
    if (!(resources->of[RES_OFFLOAD_BYTES] > 0)) return step_seconds(rule, resources, &serial);
    Resources without = *resources;
    without.of[RES_OFFLOAD_BYTES] = 0;
    return step_seconds(rule, &without, &serial);
}

/* The part of the tail that rates do not change. */
static double least_tail(const StepRule *rule, const Resources *resources) {
    StepTerm compute = step_compute_term(rule);
    double bubble = 0;
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        bubble += compute.idle[phase] * step_compute_seconds(resources, phase);
    return bubble - rule->bubble_saved_seconds + rule->optimizer_seconds + rule->other_seconds;
}

double branch_bound(const StepRule *rule, const Branch *branch, const Rates *rates) {
    if (shortage(rule, branch) > 0) return INFINITY;
    double bound = step_seconds(rule, &branch->saved, rates);
    if (resources_fit(&branch->saved, rule->memory_limit_bytes)) return bound;
    unsigned second = second_pieces(&branch->saved, rates);
    double serial = serial_seconds(rule, &branch->saved, rates, second), tail = least_tail(rule, &branch->saved),
           extra[WEIGHT_COUNT];
    freeing_costs(rule, branch, rates, second, weights_of(branch), extra);
    for (int w = 0; w < WEIGHT_COUNT; w++)
        bound = max_real(bound, ((1 - WEIGHTS[w]) * serial + WEIGHTS[w] * tail + extra[w]) * SLACK);
    return bound;
}

/* The branches of one strategy of the mlp that may fit. */
typedef struct {
    int indices[ROW_BRANCHES_MAX], count;
    Resources least;
    bool fits; /* with everything saved, one of them */
} Row;

static void row_add(const StepRule *rule, Row *row, int index, const Branch *branch) {
    for (int r = 0; r < RESOURCE_COUNT; r++)
        row->least.of[r] = row->count == 0 ? branch->saved.of[r] : min_real(row->least.of[r], branch->saved.of[r]);
    row->indices[row->count++] = index;
    row->fits = row->fits || resources_fit(&branch->saved, rule->memory_limit_bytes);
}

/* Over the branches, the least of what freeing costs and what the branch costs more than the row's least resources. */
static void row_extras(const LayoutGraph *graph, const Row *row, const Rates *least, unsigned second,
                       double out[WEIGHT_COUNT]) {
    for (int w = 0; w < WEIGHT_COUNT; w++) out[w] = INFINITY;
    for (int i = 0; i < row->count; i++) {
        Branch branch;
        double freeing[WEIGHT_COUNT];
        branch_at(graph, row->indices[i], &branch);
        branch_drop_useless(&branch);
        freeing_costs(&graph->rule, &branch, least, second, WEIGHT_COUNT, freeing);
        for (int r = 0; r < RESOURCE_COUNT; r++)
            branch.saved.of[r] = max_real(0, branch.saved.of[r] * SLACK - row->least.of[r]);
        Cost cost = linear_cost(&graph->rule, &branch.saved, least, second);
        for (int w = 0; w < WEIGHT_COUNT; w++) out[w] = min_real(out[w], freeing[w] + weighted(cost, WEIGHTS[w]));
    }
}

/* The weight that serves best at the least rates, into the last row of *out. */
static void weigh_row(const StepRule *rule, const Resources *resources, const Rates *least, unsigned second,
                      const double extras[WEIGHT_COUNT], Relaxation *out) {
    int r = out->rows - 1;
    double serial = serial_seconds(rule, resources, least, second), tail = least_tail(rule, resources);
    double first = step_seconds(rule, resources, least), best = first;
    for (int w = 0; w < WEIGHT_COUNT; w++) {
        double constant = (WEIGHTS[w] * tail + extras[w]) * SLACK, bound = (1 - WEIGHTS[w]) * serial + constant;
        if (bound <= best) continue;
        best = bound;
        out->row[r].serial_weight = 1 - WEIGHTS[w];
        out->row[r].serial_constant = constant;
    }
    out->row[r].second_piece = second;
    out->row[r].extra_seconds = best - first;
}

static void relax_row(const LayoutGraph *graph, const Row *row, const Rates *least, Relaxation *out) {
    out->row[out->rows++].resources = row->least;
    if (row->fits && row->count == 1) return;
    unsigned second = second_pieces(&row->least, least);
    double extras[WEIGHT_COUNT];
    row_extras(graph, row, least, second, extras);
    weigh_row(&graph->rule, &row->least, least, second, extras, out);
}

void branch_relax(const StepRule *rule, const Branch *branch, const Rates *least, Relaxation *out) {
    memset(out, 0, sizeof(*out));
    out->missing_bytes = shortage(rule, branch);
    out->fits = !(out->missing_bytes > 0);
    if (!out->fits) return;
    out->row[out->rows++].resources = branch->saved;
    if (resources_fit(&branch->saved, rule->memory_limit_bytes)) return;
    unsigned second = second_pieces(&branch->saved, least);
    double extras[WEIGHT_COUNT];
    freeing_costs(rule, branch, least, second, weights_of(branch), extras);
    weigh_row(rule, &branch->saved, least, second, extras, out);
}

/* Where layouts follow rules: component-wise least over those that fit. */
static void relax_in_domain(const LayoutGraph *graph, Relaxation *out) {
    DomainLayout at = {0};
    Resources *least = &out->row[0].resources;
    while (domain_layout_next(graph, &at)) {
        double missing = max_real(0, resources_peak(&at.resources) - graph->rule.memory_limit_bytes);
        out->missing_bytes = min_real(out->missing_bytes, missing);
        if (missing > 0) continue;
        for (int i = 0; i < RESOURCE_COUNT; i++)
            least->of[i] = out->rows == 0 ? at.resources.of[i] : min_real(least->of[i], at.resources.of[i]);
        out->rows = 1;
        domain_layout_fits(graph, &at);
    }
    out->fits = out->rows > 0;
}

void layout_relax(const LayoutGraph *graph, const Rates *least, Relaxation *out) {
    Row rows[STRATEGIES_MAX];
    memset(out, 0, sizeof(*out));
    for (int i = 0; i < STRATEGIES_MAX; i++) rows[i].count = 0, rows[i].fits = false;
    out->missing_bytes = INFINITY;
    if (graph->domain) {
        relax_in_domain(graph, out);
        return;
    }
    for (int index = 0; index < branch_count(graph); index++) {
        Branch branch;
        if (!branch_at(graph, index, &branch)) continue;
        double missing = shortage(&graph->rule, &branch);
        out->missing_bytes = min_real(out->missing_bytes, missing);
        if (!(missing > 0)) row_add(&graph->rule, &rows[branch.strategy[NODE_MLP]], index, &branch);
    }
    for (int i = 0; i < STRATEGIES_MAX; i++)
        if (rows[i].count > 0) relax_row(graph, &rows[i], least, out);
    out->fits = out->rows > 0;
}

double relaxed_seconds(const StepRule *rule, const Relaxation *relaxation, const Rates *rates) {
    return relaxed_seconds_with_other(rule, relaxation, rates, 0);
}

double relaxed_seconds_with_other(const StepRule *undecided, const Relaxation *relaxation, const Rates *rates,
                                  double other_exposed) {
    /* exposed shares are at least those that the constants were made with */
    StepRule decided;
    const StepRule *rule = undecided;
    if (rates->leaves_scale_up) decided = rule_at(undecided, rates), rule = &decided;
    double best = INFINITY;
    /* What a required policy offloads counts without the network on its lane, as batch_relaxed_seconds() counts it. */
    Rates without;
    const Rates *apart = rates;
    if (rates->host_lane) without = *rates, without.host_lane = 0, apart = &without;
    for (int i = 0; i < relaxation->rows; i++) {
        const Resources *resources = &relaxation->row[i].resources;
        double exposed = resources->of[RES_OFFLOAD_BYTES] > 0 ? 0 : other_exposed;
        double bound = step_seconds(rule, resources, apart) + exposed;
        if (relaxation->row[i].serial_weight > 0) {
            double serial = serial_seconds(rule, resources, rates, relaxation->row[i].second_piece) + exposed;
            bound = max_real(bound,
                             (relaxation->row[i].serial_weight * serial + relaxation->row[i].serial_constant) * SLACK);
        }
        best = min_real(best, bound);
    }
    /* The least rates weigh exposed and hidden seconds of a group as if it stayed near: in exact numbers never above,
     * in doubles by a rounding. */
    return rates->is_lower_bound ? best * SLACK : best;
}
