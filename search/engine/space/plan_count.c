/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/space/plan_count.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>

/* The least and the most that the tolerance allows. */
static void batch_range(const Request *request, int64_t *low, int64_t *high) {
    double requested = (double)request->question.work.sequences;
    *low = max_whole(1, (int64_t)ceil(requested * (1 - request->space.batch_tolerance) - 1e-9));
    *high = (int64_t)floor(requested * (1 + request->space.batch_tolerance) + 1e-9);
}

int64_t batch_at(const Request *request, int64_t replicas, int64_t index) {
    int64_t low, high;
    if (index == 0) return request->question.work.sequences;
    batch_range(request, &low, &high);
    int64_t batch = divide_up(low, replicas) * replicas + (index - 1) * replicas;
    if (request->space.batch_tolerance <= 0 || batch > high) return 0;
    bool asked_is_among = request->question.work.sequences % replicas == 0;
    if (asked_is_among && batch >= request->question.work.sequences) batch += replicas;
    return batch > high ? 0 : batch;
}

int64_t batch_most(const Request *request, int64_t replicas) {
    int64_t low, high;
    batch_range(request, &low, &high);
    return high / replicas * replicas;
}

int64_t batch_count(const Request *request, int64_t replicas) {
    int64_t low, high;
    if (request->space.batch_tolerance <= 0) return 1;
    batch_range(request, &low, &high);
    int64_t multiples = high / replicas - (low - 1) / replicas;
    return 1 + multiples - (request->question.work.sequences % replicas == 0 ? 1 : 0);
}

/* Direct-mapped; key 0: empty. */
enum { BATCH_SLOTS = 1 << 14, GRID_SLOTS = 512 };
struct PlanCounter {
    const Request *request;
    double until; /* by the world's clock; 0: no limit */
    struct {
        int64_t replicas;
        Count microbatches; /* summed over the batches */
    } batch[BATCH_SLOTS];
    struct {
        int64_t tensor, ranks, ways;
    } grid[GRID_SLOTS]; /* of one machine */
};

PlanCounter *plan_counter_new(const Request *request) {
    PlanCounter *counter = calloc(1, sizeof *counter);
    if (counter) counter->request = request;
    return counter;
}

void plan_counter_free(PlanCounter *counter) { free(counter); }

void plan_counter_until(PlanCounter *counter, double until) { counter->until = until; }

static uint64_t mixed(int64_t a, int64_t b) {
    uint64_t hash = ((uint64_t)a * 1000003u + (uint64_t)b) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

static Count microbatches_of(PlanCounter *counter, int64_t replicas) {
    size_t slot = mixed(replicas, 0) % BATCH_SLOTS;
    if (counter->batch[slot].replicas == replicas) return counter->batch[slot].microbatches;
    Count sum = 0;
    Degrees alone = {{1, 1, 1, 1, replicas, 1}};
    int64_t count = batch_count(counter->request, replicas);
    for (int64_t i = 0; i < count; i++)
        sum += (Count)knob_microbatches(&alone, batch_at(counter->request, replicas, i));
    counter->batch[slot].replicas = replicas;
    counter->batch[slot].microbatches = sum;
    return sum;
}

static int64_t grids_of(PlanCounter *counter, int64_t tensor, int64_t ranks, const KnobDomain *domain) {
    size_t slot = mixed(tensor, ranks) % GRID_SLOTS;
    if (counter->grid[slot].tensor != tensor || counter->grid[slot].ranks != ranks) {
        counter->grid[slot].tensor = tensor;
        counter->grid[slot].ranks = ranks;
        counter->grid[slot].ways = grid_ways(tensor, ranks, domain);
    }
    return counter->grid[slot].ways;
}

/* Which of the three share: a bit each. Their degrees stand for whether they are above 1. */
enum { SHARES_EXPERT = 1, SHARES_FSDP = 2, SHARES_DATA = 4, SHARES = 8 };

/* Knobs but for microbatches, x orders. */
static Count knobs_of_class(const Request *request, const Degrees *four, unsigned shares, const KnobDomain *domain,
                            int64_t contexts, int64_t grids) {
    Degrees degrees = *four;
    degrees.of[ROLE_EXPERT] = shares & SHARES_EXPERT ? 2 : 1;
    degrees.of[ROLE_FSDP] = shares & SHARES_FSDP ? 2 : 1;
    degrees.of[ROLE_DATA] = shares & SHARES_DATA ? 2 : 1;
    int64_t knobs =
        knob_others_among(&request->question.model, &degrees, domain, contexts, shares & SHARES_EXPERT ? 1 : grids);
    return (Count)knobs * (Count)tuple_orders(request, &degrees);
}

/* Placements x knobs but for microbatches: of tensor, sequence, pipeline and, in place of fsdp, the product of the
 * three. */
static bool count_four(PlanCounter *counter, const PlacementTable *const tables[3], const Degrees *four,
                       const KnobDomain *domain, int64_t ranks, Count *sum) {
    const Request *request = counter->request;
    bool experts = counter->request->space.roles >> ROLE_EXPERT & 1;
    int64_t contexts = context_ways(four->of[ROLE_SEQUENCE], domain);
    int64_t grids = grids_of(counter, four->of[ROLE_TENSOR], ranks, domain);
    Count one = placement_count(tables[0], four);
    *sum = 0;
    if (four->of[ROLE_FSDP] == 1)
        return count_multiply(one, knobs_of_class(request, four, 0, domain, contexts, grids), sum);
    Count two = placement_count(tables[1], four), three = experts ? placement_count(tables[2], four) : 0;
    const Count placements[4] = {0, one, two - 2 * one, three + 3 * one - 3 * two};
    for (unsigned shares = 1; shares < SHARES; shares++) {
        Count ways = placements[__builtin_popcount(shares)], plans;
        if (ways == 0 || (shares & SHARES_EXPERT && !experts)) continue;
        if (!count_multiply(ways, knobs_of_class(request, four, shares, domain, contexts, grids), &plans) ||
            !count_add(*sum, plans, sum))
            return false;
    }
    return true;
}

/* Placements and knobs of all degrees in `fours` are summed up. */
static bool count_fours(PlanCounter *counter, const PlacementTable *const tables[3], const KnobDomain *domain,
                        const DegreesList *fours, PlanCount *out) {
    *out = (PlanCount){.batches = 1};
    for (int i = 0; i < GRID_SLOTS; i++) counter->grid[i].tensor = 0;
    for (int64_t i = 0; i < fours->count; i++) {
        const Degrees *four = &fours->tuples[i];
        if (i % 64 == 0 && counter->until > 0 &&
            environment_clock(&counter->request->control.environment) > counter->until)
            return out->late = true;
        int64_t replicas = four->of[ROLE_FSDP];
        int64_t ranks = replicas * four->of[ROLE_TENSOR] * four->of[ROLE_SEQUENCE];
        Count sum;
        if (!count_four(counter, tables, four, domain, ranks, &sum) ||
            !count_multiply(sum, microbatches_of(counter, replicas), &sum) || !count_add(out->plans, sum, &out->plans))
            return false;
        out->batches = max_whole(out->batches, batch_count(counter->request, replicas));
    }
    return true;
}

static bool count_all(PlanCounter *counter, const CountedMesh *of, Arena *arena, PlanCount *out, Error *error) {
    enum { FOURS_MAX = 1 << 24 };
    RoleSet roles = counter->request->space.roles & ~(1u << ROLE_EXPERT | 1u << ROLE_DATA);
    bool experts = counter->request->space.roles >> ROLE_EXPERT & 1;
    DegreesList fours;
    const PlacementTable *tables[3] = {of->table, placement_table_merged(of->table, ROLE_FSDP, ROLE_DATA, arena), NULL};
    if (tables[1] && experts) tables[2] = placement_table_merged(tables[1], ROLE_FSDP, ROLE_EXPERT, arena);
    if (!tables[1] || (experts && !tables[2])) return error_memory(error);
    if (!degrees_enumerate(of->mesh, roles, FOURS_MAX, arena, &fours, error)) return false;
    return count_fours(counter, tables, of->domain, &fours, out) ||
           error_set(error, ERROR_INPUT, "search", "the space has more than 2^128 plans");
}

bool plans_on_mesh(PlanCounter *counter, const CountedMesh *of, PlanCount *out, Error *error) {
    Arena arena = {0};
    bool ok = count_all(counter, of, &arena, out, error);
    arena_free(&arena);
    return ok;
}
