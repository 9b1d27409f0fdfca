/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/flow.h"

#include "base/util.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Moments of a loop: of its operation, and behind its last one. */
typedef struct {
    int begin, end;
} Loop;

typedef struct {
    const Program *program;
    Flow *flow;
    FlowView *view;   /* of each value, in the call that is followed */
    bool *is_running; /* of each function */
    int *uses;        /* of each value, in the text */
    OpRule *rule;     /* of each op, made when it is first met */
    bool *is_made;
    Arena *arena;
    Error *error;
    int depth;
    double trips;
    Loop *loop;
    int64_t loops, loop_room;
} Walk;

static bool walk_region(Walk *walk, int region, int *end);

static const TensorType *type_of(const Walk *walk, int value) { return &walk->program->value[value].type; }

static FlowView whole_view(int node) {
    FlowView view = {.node = node};
    for (int d = 0; d < PROGRAM_RANK_MAX; d++) view.map[d] = (int8_t)(node < 0 ? -1 : d);
    return view;
}

static int add_node(Walk *walk, FlowNode node) {
    Flow *flow = walk->flow;
    if (!list_grow((void **)&flow->node, flow->nodes, &flow->node_room, sizeof node))
        return error_memory(walk->error), -1;
    node.trips = walk->trips;
    node.held_bits = node.type.bits;
    node.copied = node.added_to = -1;
    node.from = flow->moments;
    node.to = flow->moments + 1;
    node.edge = (int)flow->edges;
    flow->node[flow->nodes] = node;
    return (int)flow->nodes++;
}

static bool add_edge(Walk *walk, FlowEdge edge) {
    Flow *flow = walk->flow;
    if (edge.from < 0 || edge.from == edge.to || edge.type.rank <= 0) return true;
    if (!list_grow((void **)&flow->edge, flow->edges, &flow->edge_room, sizeof edge)) return error_memory(walk->error);
    flow->edge[flow->edges++] = edge;
    return true;
}

/* A copy of a value in any sharding. */
static bool add_free(Walk *walk, FlowView from, FlowNode node, FlowView *out) {
    node.kind = FLOW_FREE;
    node.argument = -1;
    int at = add_node(walk, node);
    FlowEdge edge = {from.node, at, FLOW_AS_NODE, from, node.type, walk->trips};
    *out = whole_view(at);
    if (at < 0 || !add_edge(walk, edge)) return false;
    walk->flow->node[at].edges = (int)(walk->flow->edges - walk->flow->node[at].edge);
    return true;
}

/* ---- one operation ---- */

/* The node of a value that may be left as partial sums: a matmul, or an addition of such, that nothing else reads. */
static int sums_of(const Walk *walk, int value) {
    int at = walk->view[value].node;
    const FlowNode *node = at < 0 ? NULL : &walk->flow->node[at];
    bool own = node && node->op >= 0 && walk->program->op[node->op].result == value && node->trips == walk->trips;
    return own && walk->uses[value] == 1 && (node->matrix || node->takes_sums) ? at : -1;
}

/* An addition of partial sums: compilers add first, and send one sum (XLA's all_reduce and reduce_scatter
 * reassociation, seen in compiled programs of libtpu 0.0.52). */
static void take_sums(Walk *walk, const ProgramOp *op, int at) {
    const int *operand = walk->program->operand + op->operand;
    int first = piece_is(op->name, "add") ? sums_of(walk, operand[0]) : -1;
    int second = first >= 0 ? sums_of(walk, operand[1]) : -1;
    if (second < 0) return;
    FlowNode *node = walk->flow->node;
    node[first].added_to = node[second].added_to = at;
    node[at].takes_sums = true;
}

/* What reads a part of a tensor as it lies, whatever element-wise functions come between. */
static void note_cut(Walk *walk, const ProgramOp *op) {
    int value = walk->program->operand[op->operand];
    FlowView view = walk->view[value], whole = whole_view(view.node);
    bool cuts = piece_is(op->name, "slice") || piece_is(op->name, "dynamic_slice") || piece_is(op->name, "pad");
    cuts = cuts && type_elements(type_of(walk, op->result)) < type_elements(type_of(walk, value));
    if (cuts && view.node >= 0 && memcmp(view.map, whole.map, (size_t)type_of(walk, value)->rank) == 0)
        walk->flow->node[view.node].is_cut = true;
}

static bool add_work(Walk *walk, int op_at, const OpRule *rule) {
    const ProgramOp *op = &walk->program->op[op_at];
    const int *operand = walk->program->operand + op->operand;
    bool any = false;
    for (int i = 0; i < op->operands; i++) any = any || walk->view[operand[i]].node >= 0;
    const TensorType *type = type_of(walk, op->result);
    if (!any || type->rank <= 0) {
        for (int i = 0; i < op->results; i++) walk->view[op->result + i] = whole_view(-1);
        return true;
    }
    bool in_place = rule->in_place && walk->view[operand[0]].node >= 0;
    int at = add_node(walk, (FlowNode){.kind = FLOW_WORK,
                                       .type = *type,
                                       .op = op_at,
                                       .value = -1,
                                       .argument = -1,
                                       .factor = rule->factor,
                                       .factors = rule->factors,
                                       .flops = rule->flops,
                                       .matrix = rule->flops > 0,
                                       .pointwise = rule->kind == RULE_POINTWISE,
                                       .is_held = !in_place && rule->kind != RULE_POINTWISE,
                                       .reads_rows = rule->in_place || rule->reads_rows,
                                       .scatters = piece_is(op->name, "scatter"),
                                       .whole = rule->kind == RULE_WHOLE});
    if (at < 0) return false;
    for (int i = 0; i < op->operands; i++) {
        FlowView view = walk->view[operand[i]];
        if (!add_edge(walk, (FlowEdge){view.node, at, i, view, *type_of(walk, operand[i]), walk->trips})) return false;
    }
    walk->flow->node[at].edges = (int)(walk->flow->edges - walk->flow->node[at].edge);
    for (int i = 0; i < op->results; i++) walk->view[op->result + i] = whole_view(at);
    take_sums(walk, op, at);
    note_cut(walk, op);
    return true;
}

/* An element-wise function of one tensor (others are constants or scalars made in place) is a view of it: it is
 * computed where it is used. The cast of a weight to fewer bits is a copy, which may be gathered once for all. */
static bool pointwise(Walk *walk, int op_at, const OpRule *rule) {
    const ProgramOp *op = &walk->program->op[op_at];
    const int *operand = walk->program->operand + op->operand;
    int only = -1, count = 0;
    for (int i = 0; i < op->operands; i++)
        if (walk->view[operand[i]].node >= 0 && type_of(walk, operand[i])->rank > 0) only = i, count++;
    if (count != 1 || op->results != 1 || rule->factors == 0 || rule->factor[0].operand[only] < 0)
        return add_work(walk, op_at, rule);
    FlowView view = walk->view[operand[only]];
    const TensorType *type = type_of(walk, op->result);
    bool casts = walk->flow->node[view.node].kind == FLOW_ARGUMENT && type->bits < type_of(walk, operand[only])->bits &&
                 type->floats && type->rank > 1;
    if (!casts) return walk->view[op->result] = view, true;
    return add_free(walk, view, (FlowNode){.type = *type, .op = op_at, .value = -1, .is_held = true},
                    &walk->view[op->result]);
}

static void view_of_rule(Walk *walk, const ProgramOp *op, const OpRule *rule) {
    FlowView from = walk->view[walk->program->operand[op->operand]], to = {.node = from.node};
    for (int d = 0; d < PROGRAM_RANK_MAX; d++) to.map[d] = (int8_t)(rule->view[d] < 0 ? -1 : from.map[rule->view[d]]);
    if (type_of(walk, walk->program->operand[op->operand])->rank <= 0) to = whole_view(-1);
    walk->view[op->result] = to;
}

static bool call(Walk *walk, const ProgramOp *op) {
    const ProgramFunction *callee = &walk->program->function[op->callee];
    const ProgramRegion *region = &walk->program->region[callee->region];
    int end;
    if (walk->is_running[op->callee])
        return program_wrong(walk->program, op->begin, walk->error, "@%.*s calls itself",
                             callee->name.length < 60 ? callee->name.length : 60, callee->name.at);
    walk->is_running[op->callee] = true;
    for (int i = 0; i < op->operands; i++)
        walk->view[region->argument + i] = walk->view[walk->program->operand[op->operand + i]];
    if (!walk_region(walk, callee->region, &end)) return false;
    walk->is_running[op->callee] = false;
    const ProgramOp *last = end >= 0 ? &walk->program->op[end] : NULL;
    if (op->results > 0 && (!last || last->operands != op->results))
        return program_wrong(walk->program, op->begin, walk->error, "the function does not return its results");
    for (int i = 0; i < op->results; i++)
        walk->view[op->result + i] = walk->view[walk->program->operand[last->operand + i]];
    return true;
}

/* ---- loops and branches ---- */

/* The largest whole constant of the condition: a scan counts up to it. */
static double trips_of(Walk *walk, int condition) {
    double most = 0;
    for (int i = walk->program->region[condition].first; i >= 0; i = walk->program->op[i].next) {
        const ProgramOp *op = &walk->program->op[i];
        bool counts = piece_is(op->name, "constant") && op->results == 1 && type_of(walk, op->result)->rank == 0 &&
                      !type_of(walk, op->result)->floats;
        const char *value = counts ? memmem(op->text.at, (size_t)op->text.length, "dense<", 6) : NULL;
        if (value) most = max_real(most, strtod(value + 6, NULL));
    }
    if (most >= 1 && most <= 1e9) return most;
    walk->flow->unknown_trips = true;
    return 1;
}

/* The carries are nodes, but for those that the body returns as they came. */
static bool begin_loop(Walk *walk, const ProgramOp *op, const ProgramRegion *body, const int *returned) {
    for (int i = 0; i < op->operands; i++) {
        FlowView first = walk->view[walk->program->operand[op->operand + i]];
        const TensorType *type = type_of(walk, body->argument + i);
        FlowView *carry = &walk->view[body->argument + i];
        if (returned[i] == body->argument + i || type->rank <= 0) {
            *carry = first;
            continue;
        }
        FlowNode node = {.type = *type, .op = -1, .value = body->argument + i, .is_held = true};
        if (!add_free(walk, first, node, carry)) return false;
    }
    return true;
}

static bool end_loop(Walk *walk, const ProgramOp *op, const ProgramRegion *body, const int *returned, double trips) {
    for (int i = 0; i < op->results; i++) {
        FlowView carry = walk->view[body->argument + i], last = walk->view[returned[i]];
        walk->view[op->result + i] = carry;
        const TensorType *type = type_of(walk, body->argument + i);
        if (returned[i] == body->argument + i || type->rank <= 0) continue;
        if (!add_edge(walk, (FlowEdge){last.node, carry.node, FLOW_AS_NODE, last, *type, trips})) return false;
        walk->flow->node[carry.node].to = walk->flow->moments + 1;
        if (last.node >= 0) /* the next iteration's carry takes its place */
            walk->flow->node[last.node].is_held &= walk->flow->node[last.node].kind != FLOW_WORK;
    }
    return true;
}

static int last_op(const Walk *walk, int region) { return walk->program->region[region].last; }

static bool loop(Walk *walk, const ProgramOp *op) {
    const Program *program = walk->program;
    int condition = op->region, region = condition >= 0 ? program->region[condition].next : -1, end;
    if (region < 0 || last_op(walk, region) < 0 || program->op[last_op(walk, region)].operands != op->operands ||
        program->region[region].arguments != op->operands || op->results != op->operands)
        return program_wrong(program, op->begin, walk->error, "the loop does not return what it carries");
    const ProgramRegion *body = &program->region[region];
    const int *returned = program->operand + program->op[body->last].operand;
    double outer = walk->trips, trips = outer * trips_of(walk, condition);
    int64_t at = walk->loops;
    if (!list_grow((void **)&walk->loop, at, &walk->loop_room, sizeof *walk->loop)) return error_memory(walk->error);
    walk->loop[walk->loops++].begin = walk->flow->moments;
    if (!begin_loop(walk, op, body, returned)) return false;
    walk->trips = trips;
    bool ok = walk_region(walk, region, &end);
    walk->trips = outer;
    if (!ok || !end_loop(walk, op, body, returned, trips)) return false;
    walk->loop[at].end = walk->flow->moments + 1;
    return true;
}

static bool branches(Walk *walk, const ProgramOp *op) {
    const Program *program = walk->program;
    FlowView *joined = ARENA_NEW(walk->arena, FlowView, (size_t)op->results);
    int end;
    if (!joined) return error_memory(walk->error);
    for (int i = 0; i < op->results; i++) {
        FlowNode node = {.type = *type_of(walk, op->result + i), .op = -1, .value = -1, .is_held = true};
        joined[i] = whole_view(-1);
        if (node.type.rank > 0 && !add_free(walk, whole_view(-1), node, &joined[i])) return false;
    }
    for (int region = op->region; region >= 0; region = program->region[region].next) {
        if (!walk_region(walk, region, &end)) return false;
        if (end < 0 || program->op[end].operands != op->results)
            return program_wrong(program, op->begin, walk->error, "a branch does not return its results");
        for (int i = 0; i < op->results; i++) {
            FlowView last = walk->view[program->operand[program->op[end].operand + i]];
            if (joined[i].node < 0) continue;
            if (!add_edge(walk, (FlowEdge){last.node, joined[i].node, FLOW_AS_NODE, last,
                                           *type_of(walk, op->result + i), walk->trips}))
                return false;
        }
    }
    for (int i = 0; i < op->results; i++) walk->view[op->result + i] = joined[i];
    return true;
}

/* ---- the walk ---- */

static const OpRule *rule_of(Walk *walk, int at) {
    const ProgramOp *op = &walk->program->op[at];
    OpRule *rule = &walk->rule[at];
    if (!walk->is_made[at] && !op_rule(walk->program, op, walk->arena, rule, walk->error)) return NULL;
    if (!walk->is_made[at] && rule->kind == RULE_WHOLE && walk->program->rules &&
        !user_rule(walk->program, op, walk->arena, rule, walk->error))
        return NULL;
    walk->is_made[at] = true;
    return rule;
}

static bool follow(Walk *walk, int at) {
    const ProgramOp *op = &walk->program->op[at];
    const OpRule *rule = rule_of(walk, at);
    if (!rule) return false;
    switch (rule->kind) {
    case RULE_END:
        return true;
    case RULE_CALL:
        return call(walk, op);
    case RULE_LOOP:
        return loop(walk, op);
    case RULE_BRANCHES:
        return branches(walk, op);
    case RULE_VIEW:
        return view_of_rule(walk, op, rule), true;
    case RULE_POINTWISE:
        return pointwise(walk, at, rule);
    case RULE_SOURCE:
        for (int i = 0; i < op->results; i++) walk->view[op->result + i] = whole_view(-1);
        return true;
    case RULE_IDENTITIES:
        for (int i = 0; i < op->results && i < op->operands; i++)
            walk->view[op->result + i] = walk->view[walk->program->operand[op->operand + i]];
        return true;
    default:
        return op->results == 0 || add_work(walk, at, rule);
    }
}

/* *end: the region's last op that is a return; -1: none. */
static bool walk_region(Walk *walk, int region, int *end) {
    if (walk->depth == PROGRAM_DEPTH_MAX)
        return error_set(walk->error, ERROR_INPUT, walk->program->where, "calls and regions are nested deeper than %d",
                         PROGRAM_DEPTH_MAX);
    walk->depth++;
    *end = -1;
    for (int at = walk->program->region[region].first; at >= 0; at = walk->program->op[at].next) {
        walk->flow->moments++;
        if (++walk->flow->steps > PROGRAM_OPS_MAX)
            return error_set(walk->error, ERROR_INPUT, walk->program->where,
                             "more than %d operations, those of every call counted", PROGRAM_OPS_MAX);
        if (!follow(walk, at)) return false;
        if (piece_is(walk->program->op[at].name, "return")) *end = at;
    }
    walk->depth--;
    return true;
}

/* ---- memory ---- */

/* Until when each node is read. What is fused is computed again where it is read, so that its operands stay until
 * then; nodes come after their operands, but for carries, whose times a loop has set. */
static void set_ends(const Walk *walk) {
    Flow *flow = walk->flow;
    for (int64_t i = 0; i < flow->edges; i++) {
        const FlowEdge *edge = &flow->edge[i];
        FlowNode *from = &flow->node[edge->from], *to = &flow->node[edge->to];
        if (edge->to > edge->from || from->copied >= 0) from->to = (int)max_whole(from->to, to->from + 1);
        for (int64_t k = 0; k < walk->loops; k++) /* every time, and so until its end */
            if (from->from < walk->loop[k].begin && walk->loop[k].begin < to->from && to->from < walk->loop[k].end)
                from->to = (int)max_whole(from->to, walk->loop[k].end);
        if (from->matrix && to->copied < 0) from->held_bits = (int)max_whole(from->held_bits, edge->type.bits);
        if (!from->pointwise || !(to->matrix || to->copied >= 0)) continue;
        if (edge->operand == FLOW_AS_NODE && to->copied < 0) continue;
        from->held_bits = from->is_held ? (int)max_whole(from->held_bits, edge->type.bits) : edge->type.bits;
        from->is_held = true;
    }
    for (int64_t i = flow->edges - 1; i >= 0; i--) {
        const FlowEdge *edge = &flow->edge[i];
        FlowNode *from = &flow->node[edge->from], *to = &flow->node[edge->to];
        if (edge->to > edge->from && !to->is_held) from->to = (int)max_whole(from->to, to->to);
    }
}

/* The results of the entry: state that takes the buffers of arguments comes out as it went in. */
static bool tie_results(Walk *walk, int end) {
    const Program *program = walk->program;
    Flow *flow = walk->flow;
    const ProgramOp *last = end >= 0 ? &program->op[end] : NULL;
    for (int64_t i = 0; i < flow->nodes; i++) {
        FlowNode *node = &flow->node[i];
        if (node->kind == FLOW_ARGUMENT) node->to = flow->moments + 1;
    }
    for (int i = 0; last && i < last->operands; i++) {
        int value = program->operand[last->operand + i], argument = -1;
        FlowView view = walk->view[value];
        for (int64_t k = 0; k < program->entries && argument < 0; k++)
            if (program->entry[k].aliases == i) argument = (int)k;
        if (view.node < 0) continue;
        FlowNode *node = &flow->node[view.node];
        if (argument < 0) {
            node->to = flow->moments + 1;
            node->is_held = true;
        } else {
            node->is_result = true;
            int to = walk->view[program->region[program->function[program->main].region].argument + argument].node;
            if (!add_edge(walk, (FlowEdge){view.node, to, FLOW_AS_NODE, view, *type_of(walk, value), 1})) return false;
        }
    }
    return true;
}

/* A copy of a node that matrix units share, as wide as the widest of them reads it. */
static int add_copy(Walk *walk, int of) {
    const FlowNode *made = &walk->flow->node[of];
    FlowNode node = {.kind = FLOW_FREE, .type = made->type, .op = -1, .value = -1, .argument = -1, .is_held = true};
    node.type.bits = 0;
    walk->trips = made->trips;
    int at = add_node(walk, node);
    if (at < 0) return at;
    walk->flow->node[at].copied = of;
    walk->flow->node[at].from = INT_MAX;
    FlowEdge edge = {of, at, FLOW_AS_NODE, whole_view(of), node.type, walk->trips};
    if (!add_edge(walk, edge)) return -1;
    walk->flow->node[at].edges = 1;
    return at;
}

/* Matrix units that read one tensor in the same sharding share what brings it there: a copy of the tensor stands
 * between it and those that run as often as it is made, from the first of them to the last. */
static bool share_copies(Walk *walk) {
    Flow *flow = walk->flow;
    int64_t nodes = flow->nodes, edges = flow->edges;
    int *copy = ARENA_NEW(walk->arena, int, (size_t)nodes);
    if (!copy) return error_memory(walk->error);
    for (int64_t i = 0; i < edges; i++) {
        const FlowEdge *edge = &flow->edge[i];
        bool shares = flow->node[edge->to].matrix && edge->trips == flow->node[edge->from].trips;
        copy[edge->from] -= shares; /* readers, below 0 */
    }
    for (int64_t i = 0; i < edges; i++) {
        int from = flow->edge[i].from, at;
        if (!flow->node[flow->edge[i].to].matrix || flow->edge[i].trips != flow->node[from].trips) continue;
        if (copy[from] == -1) continue;
        if (copy[from] < 0) copy[from] = add_copy(walk, from);
        if ((at = copy[from]) < 0) return false;
        FlowNode *shared = &flow->node[at];
        shared->from = (int)min_whole(shared->from, flow->node[flow->edge[i].to].from);
        shared->to = shared->from + 1;
        int read = (int)min_whole(flow->edge[i].type.bits, flow->node[from].type.bits);
        int bits = (int)max_whole(shared->type.bits, read);
        shared->type.bits = shared->held_bits = flow->edge[shared->edge].type.bits = bits;
        flow->edge[i].from = flow->edge[i].view.node = at;
    }
    return true;
}

static bool walk_entry(Walk *walk) {
    const Program *program = walk->program;
    const ProgramFunction *function = &program->function[program->main];
    const ProgramRegion *entry = &program->region[function->region];
    int end;
    walk->is_running[program->main] = true;
    walk->trips = 1;
    for (int i = 0; i < entry->arguments; i++) {
        int value = entry->argument + i;
        int at = add_node(walk, (FlowNode){.kind = FLOW_ARGUMENT,
                                           .type = *type_of(walk, value),
                                           .op = -1,
                                           .value = value,
                                           .argument = i,
                                           .is_held = true});
        if (at < 0) return false;
        walk->view[value] = whole_view(at);
    }
    if (!walk_region(walk, function->region, &end)) return false;
    if (end < 0 || program->op[end].operands != function->results)
        return program_wrong(program, entry->begin, walk->error, "the function does not return its results");
    return tie_results(walk, end) && share_copies(walk) && (set_ends(walk), true);
}

bool flow_of_program(const Program *program, Arena *arena, Flow *out, Error *error) {
    *out = (Flow){0};
    Arena scratch = {0};
    Walk walk = {.program = program, .flow = out, .arena = arena, .error = error};
    walk.view = ARENA_NEW(&scratch, FlowView, (size_t)program->values);
    walk.is_running = ARENA_NEW(&scratch, bool, (size_t)program->functions);
    walk.uses = ARENA_NEW(&scratch, int, (size_t)program->values);
    for (int64_t i = 0; i < program->operands && walk.uses; i++) walk.uses[program->operand[i]]++;
    walk.rule = ARENA_NEW(arena, OpRule, (size_t)program->ops); /* nodes point to its factors */
    walk.is_made = ARENA_NEW(&scratch, bool, (size_t)program->ops);
    bool ok = walk.view && walk.is_running && walk.uses && walk.rule && walk.is_made;
    ok = ok ? walk_entry(&walk) : error_memory(error);
    arena_free(&scratch);
    free(walk.loop);
    return ok;
}

void flow_free(Flow *flow) {
    free(flow->node);
    free(flow->edge);
    *flow = (Flow){0};
}
