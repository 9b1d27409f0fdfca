/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/strategies.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double local_bytes(const LogicalMesh *mesh, const TensorType *type, Spec spec) {
    return type_bytes(type) / (double)spec_ways(mesh, spec);
}

double held_bytes(const Setting *setting, const FlowNode *node, Spec spec) {
    double elements = node->is_held ? type_elements(&node->type) : 0;
    return elements * node->held_bits / 8 / (double)spec_ways(setting->mesh, spec);
}

/* Tables of 64 columns and their state were copied into rows of 128, four of them at once (v5e and v5p, libtpu 0.0.52);
 * of 8 columns once, on a SparseCore (v6e). */
static const double TABLES_PADDED = 8;

double padding_bytes(const Setting *setting, const FlowNode *node, Spec spec) {
    double lanes = setting->machine->profile.lanes, width = (double)node->type.size[max_whole(node->type.rank - 1, 0)];
    if (!node->scatters || !node->is_held || node->type.rank < 1) return 0;
    for (int a = 0; a < setting->mesh->axes; a++)
        if (spec_dimension(spec, a) == node->type.rank - 1) width /= (double)setting->mesh->size[a];
    return width < lanes ? held_bytes(setting, node, spec) * (max_real(lanes / width, TABLES_PADDED) - 1) : 0;
}

/* ---- moving a tensor ---- */

/* The axes among `axes` that cut this dimension. */
static unsigned axes_on(const LogicalMesh *mesh, Spec spec, unsigned axes, int dimension) {
    unsigned on = 0;
    for (int a = 0; a < mesh->axes; a++)
        if ((axes >> a & 1) && spec_dimension(spec, a) == dimension) on |= 1u << a;
    return on;
}

/* Whether a later axis, which stays, cuts the dimension of this one: then its blocks are not where they were. */
static bool has_minor(const LogicalMesh *mesh, Spec spec, int axis, int dimension) {
    for (int b = axis + 1; b < mesh->axes; b++)
        if (spec_dimension(spec, b) == dimension) return true;
    return false;
}

typedef struct {
    const Setting *setting;
    double bytes; /* of the whole tensor */
    double times;
    Tally *tally;
} Move;

static double send(const Move *move, Collective op, unsigned axes, double bytes) {
    return space_send(move->setting->mesh, op, axes, bytes, move->times, move->tally);
}

/* Gathers along these axes, those of one dimension at once. */
static double gather(const Move *move, Spec *spec, unsigned axes) {
    const LogicalMesh *mesh = move->setting->mesh;
    double seconds = 0;
    for (int d = 0; d < PROGRAM_RANK_MAX; d++) {
        unsigned on = axes_on(mesh, *spec, axes, d);
        bool permutes = false;
        if (!on) continue;
        double before = move->bytes / (double)spec_ways(mesh, *spec);
        for (int a = 0; a < mesh->axes; a++)
            if (on >> a & 1) *spec = spec_with(*spec, a, -1);
        for (int a = 0; a < mesh->axes; a++) permutes = permutes || ((on >> a & 1) && has_minor(mesh, *spec, a, d));
        if (permutes) seconds += send(move, COLLECTIVE_PERMUTE, on, before);
        seconds += send(move, COLLECTIVE_ALL_GATHER, on, move->bytes / (double)spec_ways(mesh, *spec));
    }
    return seconds;
}

/* From one sharding to another: cuts, which are free, then all_to_alls of what is small by then, then gathers. `steps`
 * gets the shardings after the cuts and after the all_to_all of each axis. */
static double reshard(const Move *move, Spec have, Spec need, Spec steps[1 + LOGICAL_MAX]) {
    const LogicalMesh *mesh = move->setting->mesh;
    unsigned gone = 0;
    double seconds = 0;
    for (int a = 0; a < mesh->axes; a++) {
        int to = spec_dimension(need, a);
        if (spec_dimension(have, a) >= 0 || to < 0) continue;
        bool permutes = has_minor(mesh, have, a, to);
        have = spec_with(have, a, to);
        if (permutes) seconds += send(move, COLLECTIVE_PERMUTE, 1u << a, move->bytes / (double)spec_ways(mesh, have));
    }
    steps[0] = have;
    for (int a = 0; a < mesh->axes; a++) {
        int from = spec_dimension(have, a), to = spec_dimension(need, a);
        steps[1 + a] = have;
        if (from >= 0 && to < 0) gone |= 1u << a;
        if (from < 0 || to < 0 || from == to) continue;
        unsigned along = axes_on(mesh, have, axes_on(mesh, need, (1u << mesh->axes) - 1, to), from); /* all at once */
        double local = move->bytes / (double)spec_ways(mesh, have);
        seconds += send(move, COLLECTIVE_ALL_TO_ALL, along, local * (double)mesh->ways[along]);
        for (int b = a; b < mesh->axes; b++)
            if (along >> b & 1) have = spec_with(have, b, to);
        steps[1 + a] = have;
    }
    return seconds + gather(move, &have, gone);
}

/* How a view shows the sharding of its node; *lost: the axes that cut what it does not show, or not in equal parts. */
static Spec seen_through(const Setting *setting, const FlowEdge *edge, Spec have, unsigned *lost) {
    const LogicalMesh *mesh = setting->mesh;
    Spec seen = 0;
    *lost = 0;
    for (int a = 0; a < mesh->axes; a++) {
        int dimension = spec_dimension(have, a), at = -1;
        for (int d = 0; d < edge->type.rank && dimension >= 0; d++)
            if (edge->view.map[d] == dimension) at = d;
        if (at >= 0)
            seen = spec_with(seen, a, at);
        else if (dimension >= 0)
            *lost |= 1u << a;
    }
    if (spec_divides(mesh, edge->type.rank, edge->type.size, seen)) return seen;
    for (int a = 0; a < mesh->axes; a++)
        if (spec_dimension(have, a) >= 0) *lost |= 1u << a;
    return 0;
}

bool edge_moves(const Setting *setting, const FlowEdge *edge, Spec have, Spec need) {
    unsigned lost;
    return seen_through(setting, edge, have, &lost) != need || lost;
}

double edge_seconds(const Setting *setting, const FlowEdge *edge, Spec have, Spec need, Tally *tally) {
    if (spec_open_axes(have) || spec_open_axes(need)) return have == need ? 0 : INFINITY;
    const FlowNode *from = &setting->flow->node[edge->from];
    double elements = min_real(type_elements(&from->type), type_elements(&edge->type));
    int bits = from->type.bits < edge->type.bits ? from->type.bits : edge->type.bits;
    Move move = {setting, elements * bits / 8, edge->trips, tally};
    unsigned lost;
    Spec steps[1 + LOGICAL_MAX], seen = seen_through(setting, edge, have, &lost);
    double seconds = gather(&move, &have, lost);
    return seconds + (seen == need ? 0 : reshard(&move, seen, need, steps));
}

/* XLA multiplies the broadcasts of two vectors element by element. Where another product reads one of them, its
 * broadcast is shared and comes in the sharding of the other: with a constraint more it is the outer product's own. */
static bool is_outer(const FlowNode *node) { return node->matrix && node->flops == 2 * type_elements(&node->type); }

int edge_route(const Setting *setting, const FlowEdge *edge, Spec held, Spec have, Spec need, Spec out[ROUTE_MAX]) {
    const Spec to[] = {have, need};
    const Move move = {.setting = setting, .bytes = 1, .times = 1};
    unsigned lost;
    Spec at = seen_through(setting, edge, held, &lost), steps[2 + LOGICAL_MAX];
    int last = 1 + setting->mesh->axes;
    int count = 0;
    bool mask = setting->flow->node[edge->from].type.floats && !edge->type.floats;
    if (mask && at != need) out[count++] = at; /* else its numbers would go this way */
    for (int leg = 0; leg < 2 && !lost; leg++) {
        steps[last] = leg ? to[leg] : seen_through(setting, edge, to[leg], &lost);
        if (lost) break;
        reshard(&move, at, steps[last], steps);
        for (int i = 0; i <= last; i++) {
            if (steps[i] == at || steps[i] == need) continue;
            if (count < ROUTE_MAX) out[count++] = steps[i];
            at = steps[i];
        }
    }
    if (is_outer(&setting->flow->node[edge->to]) && count < ROUTE_MAX) out[count++] = need;
    return count;
}

/* ---- computing ---- */

/* Bytes that go between memory and a chip's units: what is fused is neither written nor read. */
static double moved_bytes(const Setting *setting, const FlowNode *node, const Spec *in, Spec computed) {
    const LogicalMesh *mesh = setting->mesh;
    double out = local_bytes(mesh, &node->type, computed), bytes = node->is_held || node->is_result ? out : 0;
    for (int i = 0; i < node->edges; i++) {
        const FlowEdge *edge = &setting->flow->edge[node->edge + i];
        bool fused = !setting->flow->node[edge->from].is_held && node->kind != FLOW_FREE;
        fused = fused || spec_open_axes(in[i]); /* the second matmul adds to what the first one left */
        double read = fused ? 0 : local_bytes(mesh, &edge->type, in[i]);
        bytes += node->reads_rows && edge->operand == 0 ? min_real(out, read) : read;
    }
    return bytes;
}

/* Whether XLA scatters a sum over these axes by a dimension. On TPUs it does not, but sums it whole and cuts, where an
 * axis that stays cuts the dimension inside theirs, where a slice of the sum is read (the two cuts become one, which is
 * no scatter), and where the pieces are of a 16-bit type and odd multiples of the lanes wide (single matmuls compiled
 * by libtpu 0.0.52 for v5e, v5p and v6e: 128 and 384 of 64, 128, 192, 256, 384 and 512 columns, not of fp32). */
static bool scatters(const Setting *setting, const FlowNode *node, Spec computed, unsigned on, int d) {
    const LogicalMesh *mesh = setting->mesh;
    const TensorType *type = &node->type;
    double lanes = setting->machine->profile.lanes;
    if (lanes <= 1) return true;
    if (node->is_cut) return false;
    int64_t width = type->size[d] / mesh->ways[on];
    for (int a = 0; a < mesh->axes; a++) {
        if (spec_dimension(computed, a) == d) width /= mesh->size[a];
        if ((on >> a & 1) && has_minor(mesh, computed, a, d)) return false;
    }
    return d != type->rank - 1 || type->bits != 16 || width % (int64_t)lanes != 0 || width / (int64_t)lanes % 2 == 0;
}

/* Sums what the axes of `partial` left: scattered where the final sharding cuts by them, else whole on all. */
static double sum_partials(const Move *move, const FlowNode *node, Spec computed, unsigned partial, Spec out) {
    const LogicalMesh *mesh = move->setting->mesh;
    double seconds = 0;
    bool whole = space_sums_whole(move->setting->machine, mesh, partial);
    for (int d = 0; d < PROGRAM_RANK_MAX && !whole; d++) {
        unsigned on = axes_on(mesh, out, partial, d);
        if (!on || !scatters(move->setting, node, computed, on, d)) continue;
        seconds += send(move, COLLECTIVE_REDUCE_SCATTER, on, move->bytes / (double)spec_ways(mesh, computed));
        for (int a = 0; a < mesh->axes; a++)
            if (on >> a & 1) computed = spec_with(computed, a, d);
        partial &= ~on;
    }
    if (!partial) return seconds;
    return seconds + send(move, COLLECTIVE_ALL_REDUCE, partial, move->bytes / (double)spec_ways(mesh, computed));
}

/* What the factors give: the sharding of the result before sums, and the axes that leave partial ones. */
static Spec computed_spec(const LogicalMesh *mesh, const FlowNode *node, const int8_t *factor, unsigned *partial) {
    Spec spec = 0;
    *partial = 0;
    for (int a = 0; a < mesh->axes; a++) {
        int result = factor[a] < 0 ? -1 : node->factor[factor[a]].result;
        if (result >= 0)
            spec = spec_with(spec, a, result);
        else if (factor[a] >= 0)
            *partial |= 1u << a;
    }
    return spec;
}

/* The same of a strategy, with the sums that its operands have left to it. */
static Spec strategy_computed(const Setting *setting, const FlowNode *node, const Strategy *strategy,
                              unsigned *partial) {
    Spec computed = computed_spec(setting->mesh, node, strategy->factor, partial);
    *partial |= strategy->open;
    return computed;
}

Spec strategy_summed(const Setting *setting, const FlowNode *node, const Strategy *strategy) {
    unsigned partial;
    return node->kind == FLOW_WORK && !strategy->open ? computed_spec(setting->mesh, node, strategy->factor, &partial)
                                                      : strategy->out;
}

double strategy_seconds(const Setting *setting, const FlowNode *node, const Strategy *strategy, const Spec *in,
                        Tally *tally) {
    const ProgramMachine *machine = setting->machine;
    const LogicalMesh *mesh = setting->mesh;
    if (node->kind == FLOW_ARGUMENT) /* held whatever it is: the smaller shard where nothing else decides */
        return 1e-3 * local_bytes(mesh, &node->type, strategy->out) / machine->hbm_bytes_per_second;
    unsigned partial = 0;
    Spec computed = node->kind == FLOW_FREE ? strategy->out : strategy_computed(setting, node, strategy, &partial);
    double ways = 1;
    for (int a = 0; a < mesh->axes; a++)
        if (strategy->factor[a] >= 0) ways *= (double)mesh->size[a];
    double matrix = node->flops / ways / machine->flops_per_second;
    double memory = moved_bytes(setting, node, in, computed) / machine->hbm_bytes_per_second;
    double work = max_real(matrix, memory);
    if (node->value >= 0 || node->copied >= 0) work = 0; /* a carry stays where it is */
    if (tally) tally->work_seconds += work * node->trips;
    if (tally) tally->flops += node->flops / ways * node->trips;
    if (spec_open_axes(strategy->out)) return work;
    Move move = {setting, type_bytes(&node->type), node->trips, tally};
    return work + sum_partials(&move, node, computed, partial, strategy->out);
}

/* ---- listing ---- */

enum { BUCKETS = 1 << 10 };

typedef struct {
    const Setting *setting;
    StrategyLists *out;
    const FlowNode *node;
    int first;           /* of the node's */
    int bucket[BUCKETS]; /* by out and in: the first; -1 */
    int *next;
    int64_t next_room;
    Spec *in; /* what the operands need in the strategy being made */
    int64_t in_room;
    Error *error;
} Lister;

static unsigned bucket_of(Spec out, const Spec *in, int edges) {
    unsigned hash = out;
    for (int i = 0; i < edges; i++) hash = hash * 31 + in[i];
    return (hash ^ hash >> 10) % BUCKETS;
}

/* Keeps the cheaper of two that need and give the same. */
static bool keep(Lister *lister, Strategy strategy) {
    StrategyLists *out = lister->out;
    const Spec *in = lister->in;
    int edges = lister->node->edges;
    strategy.seconds = strategy_seconds(lister->setting, lister->node, &strategy, in, NULL);
    int *bucket = &lister->bucket[bucket_of(strategy.out, in, edges)];
    for (int i = *bucket; i >= 0; i = lister->next[i - lister->first]) {
        Strategy *other = &out->strategy[i];
        if (other->out != strategy.out || memcmp(out->in + other->in, in, sizeof *in * (size_t)edges) != 0) continue;
        strategy.in = other->in;
        if (strategy.seconds < other->seconds) *other = strategy;
        return true;
    }
    int64_t mine = out->count - lister->first;
    if (mine >= GRAPH_STRATEGIES_MAX)
        return error_set(lister->error, ERROR_INPUT, "program", "an operation has too many shardings; give fewer axes");
    if (!list_grow((void **)&out->strategy, out->count, &out->room, sizeof strategy) ||
        !list_grow((void **)&lister->next, mine, &lister->next_room, sizeof *lister->next))
        return error_memory(lister->error);
    strategy.in = (int)out->ins;
    for (int i = 0; i < edges; i++) {
        if (!list_grow((void **)&out->in, out->ins, &out->in_room, sizeof *out->in)) return error_memory(lister->error);
        out->in[out->ins++] = in[i];
    }
    lister->next[mine] = *bucket;
    *bucket = (int)out->count;
    out->strategy[out->count++] = strategy;
    return true;
}

static bool room_for_ins(Lister *lister) {
    while (lister->in_room <= lister->node->edges)
        if (!list_grow((void **)&lister->in, lister->in_room, &lister->in_room, sizeof *lister->in))
            return error_memory(lister->error);
    return true;
}

/* What the operands of the node are cut by. False: one of them does not divide. */
static bool fill_ins(Lister *lister, const int8_t *factor) {
    const LogicalMesh *mesh = lister->setting->mesh;
    const FlowNode *node = lister->node;
    Spec *in = lister->in;
    for (int i = 0; i < node->edges; i++) {
        const FlowEdge *edge = &lister->setting->flow->edge[node->edge + i];
        in[i] = 0;
        for (int a = 0; a < mesh->axes; a++)
            if (factor[a] >= 0) in[i] = spec_with(in[i], a, node->factor[factor[a]].operand[edge->operand]);
        if (!spec_divides(mesh, edge->type.rank, edge->type.size, in[i])) return false;
    }
    return true;
}

/* The next assignment of numbers from -1 to most - 1 to the axes in `which`. */
static bool next_of(int8_t *number, int axes, unsigned which, int most) {
    for (int a = axes - 1; a >= 0; a--) {
        if (!(which >> a & 1)) continue;
        if (++number[a] < most) return true;
        number[a] = -1;
    }
    return false;
}

/* Sums in every way: left to the addition behind, whole, or scattered over each dimension that divides. `open`: what
 * operands left. */
static bool keep_sums(Lister *lister, const int8_t *factor, Spec computed, unsigned partial, unsigned open) {
    const LogicalMesh *mesh = lister->setting->mesh;
    const TensorType *type = &lister->node->type;
    int8_t scattered[LOGICAL_MAX] = {-1, -1, -1};
    Strategy strategy = {.open = (uint8_t)open};
    memcpy(strategy.factor, factor, sizeof strategy.factor);
    strategy.out = spec_open(computed, partial);
    if (partial && lister->node->added_to >= 0 && !keep(lister, strategy)) return false;
    do {
        strategy.out = computed;
        for (int a = 0; a < mesh->axes; a++)
            if (partial >> a & 1) strategy.out = spec_with(strategy.out, a, scattered[a]);
        if (!spec_divides(mesh, type->rank, type->size, strategy.out)) continue;
        if (!keep(lister, strategy)) return false;
    } while (next_of(scattered, mesh->axes, partial, type->rank));
    return true;
}

static bool factors_divide(const LogicalMesh *mesh, const FlowNode *node, const int8_t *factor) {
    for (int a = 0; a < mesh->axes; a++) {
        int64_t ways = 1;
        for (int b = 0; b < mesh->axes; b++)
            if (factor[b] == factor[a]) ways *= mesh->size[b];
        if (factor[a] >= 0 && node->factor[factor[a]].size % ways != 0) return false;
    }
    return true;
}

/* An addition of sums over axes that cut nothing here. */
static bool list_open(Lister *lister, const int8_t *factor, Spec computed) {
    const LogicalMesh *mesh = lister->setting->mesh;
    for (unsigned open = 1; open < 1u << mesh->axes && lister->node->takes_sums; open++) {
        bool is_free = true;
        for (int a = 0; a < mesh->axes; a++) is_free = is_free && (!(open >> a & 1) || factor[a] < 0);
        if (!is_free) continue;
        if (!fill_ins(lister, factor)) return true;
        for (int i = 0; i < lister->node->edges; i++) lister->in[i] = spec_open(lister->in[i], open);
        if (!keep_sums(lister, factor, computed, open, open)) return false;
    }
    return true;
}

static bool list_work(Lister *lister) {
    const LogicalMesh *mesh = lister->setting->mesh;
    const FlowNode *node = lister->node;
    int8_t factor[LOGICAL_MAX] = {-1, -1, -1};
    do {
        unsigned partial;
        Spec computed = computed_spec(mesh, node, factor, &partial);
        if (!factors_divide(mesh, node, factor) || !spec_divides(mesh, node->type.rank, node->type.size, computed))
            continue;
        if (!fill_ins(lister, factor)) continue;
        if (!keep_sums(lister, factor, computed, partial, 0) || !list_open(lister, factor, computed)) return false;
    } while (next_of(factor, mesh->axes, (1u << mesh->axes) - 1, node->factors));
    return true;
}

static bool list_free(Lister *lister) {
    const LogicalMesh *mesh = lister->setting->mesh;
    const TensorType *type = &lister->node->type;
    int8_t dimension[LOGICAL_MAX] = {-1, -1, -1};
    do {
        Strategy strategy = {.factor = {-1, -1, -1}};
        for (int a = 0; a < mesh->axes; a++) strategy.out = spec_with(strategy.out, a, dimension[a]);
        if (!spec_divides(mesh, type->rank, type->size, strategy.out)) continue;
        for (int i = 0; i < lister->node->edges; i++) lister->in[i] = strategy.out;
        if (!keep(lister, strategy)) return false;
    } while (next_of(dimension, mesh->axes, (1u << mesh->axes) - 1, type->rank));
    return true;
}

bool strategies_list(const Setting *setting, StrategyLists *out, Error *error) {
    const Flow *flow = setting->flow;
    *out = (StrategyLists){.start = calloc((size_t)flow->nodes + 1, sizeof(int))};
    Lister lister = {.setting = setting, .out = out, .error = error};
    bool ok = out->start || error_memory(error);
    for (int64_t i = 0; i < flow->nodes && ok; i++) {
        lister.node = &flow->node[i];
        lister.first = out->start[i] = (int)out->count;
        for (int k = 0; k < BUCKETS; k++) lister.bucket[k] = -1;
        ok = room_for_ins(&lister) && (lister.node->kind == FLOW_WORK ? list_work(&lister) : list_free(&lister));
        out->start[i + 1] = (int)out->count;
    }
    free(lister.next);
    free(lister.in);
    return ok;
}

void strategies_free(StrategyLists *lists) {
    free(lists->strategy);
    free(lists->in);
    free(lists->start);
    *lists = (StrategyLists){0};
}

Spec edge_need(const StrategyLists *lists, const Flow *flow, const FlowEdge *edge, int64_t edge_number,
               const Strategy *strategy) {
    if (edge->operand == FLOW_AS_NODE) return strategy->out;
    return lists->in[strategy->in + (edge_number - flow->node[edge->to].edge)];
}
