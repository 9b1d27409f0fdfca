/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/answer.h"

#include "base/util.h"
#include "search/program/strategies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Buffers between arguments and results took up to 1.93 times what is said in HBM, where a part of them lies in VMEM,
 * in the programs of docs/program.md that were compiled (libtpu 0.0.52): what fits is held to the most. */
static const double TEMPORARY_MOST = 2;

/* Of the work, for a first answer on every mesh; where its first choice is this far above its bound, it waits. */
static const double FIRST_EFFORT = 0.05, FIRST_GAP = 0.002;

const char *const REFERENCE_NAMES[REFERENCE_COUNT] = {"data parallel", "FSDP"};

/* One mesh while it is solved. */
typedef struct {
    const ProgramQuestion *question;
    Setting setting;
    StrategyLists lists;
    StrategyGraph graph;
    double unit, effort, gap_most;
    Arena *arena;
    Error *error;
} Solving;

static void solving_end(Solving *solving) {
    strategies_free(&solving->lists);
    graph_free(&solving->graph);
}

static bool solving_begin(Solving *solving) {
    return strategies_list(&solving->setting, &solving->lists, solving->error) &&
           strategies_graph(&solving->setting, &solving->lists, &solving->graph, &solving->unit, solving->error);
}

/* Leaves an argument only what is wanted. False: it cannot be cut so. */
static bool fix(Solving *solving, int argument, Spec wanted) {
    const Flow *flow = solving->setting.flow;
    bool any = false;
    for (int64_t i = 0; i < flow->nodes; i++) {
        if (flow->node[i].kind != FLOW_ARGUMENT || flow->node[i].argument != argument) continue;
        for (int s = solving->lists.start[i]; s < solving->lists.start[i + 1]; s++) {
            bool is = solving->lists.strategy[s].out == wanted;
            any = any || is;
            if (!is) solving->graph.cost[s] = GRAPH_FORBIDDEN;
        }
    }
    return any;
}

/* What the user fixed, in the axes of this mesh. False: it names an axis that the mesh lacks, or does not divide. */
static bool fix_all(Solving *solving) {
    for (int i = 0; i < solving->question->fixed_count; i++) {
        const FixedArgument *fixed = &solving->question->fixed[i];
        Spec spec = 0;
        for (int d = 0; d < fixed->dimensions; d++)
            for (int k = 0; k < fixed->cut[d].length; k++) {
                int axis = fixed->cut[d].at[k] - 'x';
                if (axis < 0 || axis >= solving->setting.mesh->axes) return false;
                spec = spec_with(spec, axis, d);
            }
        if (!fix(solving, fixed->argument, spec)) return false;
    }
    return true;
}

/* Whether an argument is state, which the step gives back; where none is, nobody knows what is batch. */
static bool is_state(const Program *program, int argument) { return program->entry[argument].aliases >= 0; }

/* Data parallel: what is no state is cut by its first dimension. FSDP: state too, by its longest that divides. */
static void fix_reference(Solving *solving, Reference reference) {
    const Flow *flow = solving->setting.flow;
    int64_t ways = solving->setting.mesh->size[0];
    for (int64_t i = 0; i < flow->nodes; i++) {
        const FlowNode *node = &flow->node[i];
        int cut = -1;
        if (node->kind != FLOW_ARGUMENT) continue;
        bool state = is_state(solving->question->program, node->argument);
        for (int d = 0; d < node->type.rank && state && reference == REFERENCE_FSDP; d++)
            if (node->type.size[d] % ways == 0 && (cut < 0 || node->type.size[d] > node->type.size[cut])) cut = d;
        if (!state && node->type.rank > 0 && node->type.size[0] % ways == 0) cut = 0;
        fix(solving, node->argument, spec_with(0, 0, cut));
    }
}

/* A copy in the sharding of what it is a copy of is no other buffer, but that one for longer. */
static bool is_same_buffer(const Flow *flow, const ProgramChoice *choice, int64_t node) {
    int copied = flow->node[node].copied;
    return copied >= 0 && choice->spec[node] == choice->spec[copied];
}

/* Bytes that come and go at each moment: of arguments, of the rest, and what tiles may add to it. */
typedef struct {
    double *given, *own, *padding;
    int *ends; /* of each node */
} Moments;

static void hold(double *change, int from, int to, double bytes) {
    change[from] += bytes;
    change[to] -= bytes;
}

static void hold_nodes(const Setting *setting, const ProgramChoice *choice, Moments *moments) {
    const Flow *flow = setting->flow;
    int *ends = moments->ends;
    for (int64_t i = flow->nodes - 1; i >= 0; i--) { /* copies are behind what they copy */
        const FlowNode *node = &flow->node[i];
        Spec spec = choice->spec[i];
        ends[i] = (int)max_whole(ends[i], max_whole(node->to, node->from + 1));
        if (is_same_buffer(flow, choice, i)) {
            ends[node->copied] = (int)max_whole(ends[node->copied], ends[i]);
            continue;
        }
        double *change = node->kind == FLOW_ARGUMENT ? moments->given : moments->own;
        hold(change, node->from, ends[i], held_bytes(setting, node, spec));
        hold(moments->padding, node->from, ends[i], padding_bytes(setting, node, spec));
        if (node->kind != FLOW_WORK || choice->summed[i] == spec) continue; /* else: before it is scattered */
        hold(moments->own, node->from, node->from + 1,
             type_bytes(&node->type) / (double)spec_ways(setting->mesh, choice->summed[i]));
    }
}

/* What is gathered where it is read. */
static void hold_gathered(const Setting *setting, const ProgramChoice *choice, Moments *moments) {
    const Flow *flow = setting->flow;
    for (int64_t i = 0; i < flow->edges; i++) {
        const FlowEdge *edge = &flow->edge[i];
        const FlowNode *to = &flow->node[edge->to];
        if (to->kind != FLOW_WORK || edge->operand == FLOW_AS_NODE || choice->need[i] == SPEC_AS_IT_IS) continue;
        if (!edge_moves(setting, edge, choice->spec[edge->from], choice->need[i])) continue;
        hold(moments->own, to->from, to->from + 1,
             type_bytes(&edge->type) / (double)spec_ways(setting->mesh, choice->need[i]));
    }
}

static bool find_peaks(const Setting *setting, ProgramChoice *out) {
    Arena arena = {0};
    size_t count = (size_t)setting->flow->moments + 3;
    Moments moments = {ARENA_NEW(&arena, double, count), ARENA_NEW(&arena, double, count),
                       ARENA_NEW(&arena, double, count), ARENA_NEW(&arena, int, (size_t)setting->flow->nodes)};
    bool ok = moments.given && moments.own && moments.padding && moments.ends;
    double given = 0, held = 0, padding = 0;
    if (ok) hold_nodes(setting, out, &moments);
    if (ok) hold_gathered(setting, out, &moments);
    out->peak_bytes = out->peak_most_bytes = 0;
    for (size_t t = 0; t < count && ok; t++) {
        given += moments.given[t];
        held += moments.own[t];
        padding += moments.padding[t];
        out->peak_bytes = max_real(out->peak_bytes, given + held);
        out->peak_most_bytes = max_real(out->peak_most_bytes, given + TEMPORARY_MOST * held + padding);
    }
    arena_free(&arena);
    return ok;
}

static bool take_choice(Solving *solving, const GraphResult *result, ProgramChoice *out) {
    const Setting *setting = &solving->setting;
    const Flow *flow = setting->flow;
    out->mesh = *setting->mesh;
    out->proof = result->proof;
    out->bound = (double)result->bound * solving->unit;
    out->found = result->found && result->value.forbidden == 0;
    if (!out->found) return true;
    out->seconds = (double)result->value.cost * solving->unit;
    out->tally = (Tally){0}; /* of an earlier choice */
    out->spec = ARENA_NEW(solving->arena, Spec, (size_t)flow->nodes);
    out->need = ARENA_NEW(solving->arena, Spec, (size_t)flow->edges);
    out->summed = ARENA_NEW(solving->arena, Spec, (size_t)flow->nodes);
    out->route = ARENA_NEW(solving->arena, Spec, (size_t)flow->edges * ROUTE_MAX);
    if (!out->spec || !out->summed || !out->need || !out->route) return error_memory(solving->error);
    for (int64_t i = 0; i < flow->nodes; i++) {
        const Strategy *chosen = &solving->lists.strategy[solving->lists.start[i] + result->choice[i]];
        out->spec[i] = chosen->out;
        out->summed[i] = strategy_summed(setting, &flow->node[i], chosen);
        strategy_seconds(setting, &flow->node[i], chosen, solving->lists.in + chosen->in, &out->tally);
    }
    for (int64_t i = flow->nodes - 1; i >= 0; i--) /* what is left to an addition ends as the addition does */
        if (spec_open_axes(out->spec[i])) out->spec[i] = out->spec[flow->node[i].added_to];
    for (int64_t i = 0; i < flow->edges; i++) {
        const FlowEdge *edge = &flow->edge[i];
        const Strategy *to = &solving->lists.strategy[solving->lists.start[edge->to] + result->choice[edge->to]];
        Spec have = out->spec[edge->from], need = edge_need(&solving->lists, flow, edge, i, to);
        if (spec_open_axes(need)) need = have;
        edge_seconds(setting, edge, have, need, &out->tally);
        int copied = flow->node[edge->from].copied;
        Spec held = copied >= 0 ? out->spec[copied] : have; /* as the text has it */
        Spec *route = out->route + i * ROUTE_MAX;
        bool said = flow->node[edge->to].matrix || edge_moves(setting, edge, held, need);
        out->need[i] = said ? need : (Spec)SPEC_AS_IT_IS;
        for (int k = edge_route(setting, edge, held, have, need, route); k < ROUTE_MAX; k++) route[k] = SPEC_AS_IT_IS;
    }
    return find_peaks(setting, out) || error_memory(solving->error);
}

/* Solves the mesh that is set within `limit` bytes of the graph's usages; choices that take `most` seconds are of no
 * use. */
static bool solve(Solving *solving, double limit, double most, ProgramChoice *out, GraphResult *result) {
    Arena scratch = {0};
    GraphControl control = solving->question->control;
    control.time_limit += isfinite(control.time_limit) ? control.seconds(control.context) : 0; /* of one mesh */
    control.effort = solving->effort;
    control.gap_most = solving->gap_most;
    control.cutoff = isfinite(most) ? (int64_t)(most / solving->unit + 0.5) : 0;
    solving->graph.is_limited = isfinite(limit);
    solving->graph.usage_limit = isfinite(limit) ? (int64_t)limit : INT64_MAX;
    bool ok =
        graph_solve(&solving->graph, &control, &scratch, result, solving->error) && take_choice(solving, result, out);
    arena_free(&scratch);
    return ok;
}

/* Bytes that a choice is held to. */
static double peak_held_to(const Solving *solving, const ProgramChoice *choice) {
    return solving->setting.caution > 1 ? choice->peak_most_bytes : choice->peak_bytes;
}

/* The graph counts a copy and what it is a copy of, but not what is gathered for one operation: where all that counts
 * is above the limit, the graph's limit is lowered. What no choice can be below stays the first bound. */
static bool solve_limited(Solving *solving, double most, ProgramAnswer *answer, ProgramChoice *choice,
                          GraphResult *result) {
    enum { TURNS = 6, SHARE = 8 }; /* of the work, for turns that prove nothing */
    double room = solving->question->priced.hbm_bytes, limit = room, bound = 0;
    double effort = solving->effort;
    for (int turn = 0; turn < TURNS; turn++) {
        solving->effort = turn > 0 ? effort / SHARE : effort;
        bool ok = solve(solving, limit, most, choice, result);
        solving->effort = effort;
        if (!ok) return false;
        answer->interrupted = answer->interrupted || result->interrupted;
        if (turn == 0 && choice->proof == GRAPH_INFEASIBLE) return true;
        if (turn == 0) bound = choice->bound;
        choice->bound = bound;
        if (turn > 0) choice->proof = GRAPH_GAP;
        if (!choice->found || peak_held_to(solving, choice) <= room) return true;
        limit *= 0.999 * room / peak_held_to(solving, choice);
    }
    choice->found = false;
    return true;
}

/* Without the limit first, which is far easier: where the best of all fits, it is the best that fits. */
static bool solve_within(Solving *solving, double most, ProgramAnswer *answer, ProgramChoice *choice) {
    GraphResult result;
    if (!solve(solving, INFINITY, most, choice, &result)) return false;
    answer->interrupted = answer->interrupted || result.interrupted;
    bool fits = choice->found && peak_held_to(solving, choice) <= solving->question->priced.hbm_bytes;
    if (fits || result.proof == GRAPH_INFEASIBLE || choice->bound >= most) return true;
    double bound = choice->bound;
    if (!solve_limited(solving, most, answer, choice, &result)) return false;
    choice->bound = choice->proof == GRAPH_INFEASIBLE ? INFINITY : max_real(choice->bound, bound);
    bool nearer = answer->least_peak == 0 || (double)result.excess < answer->least_peak;
    if (!choice->found && result.excess_known && nearer) answer->least_peak = (double)result.excess;
    return true;
}

static bool solve_mesh(Solving *solving, ProgramAnswer *answer, int at) {
    ProgramChoice *choice = &answer->choice[at], before = *choice;
    solving->setting.mesh = &answer->meshes.mesh[at];
    choice->mesh = *solving->setting.mesh;
    choice->proof = GRAPH_INFEASIBLE;
    choice->bound = INFINITY;
    choice->found = false;
    bool is_best = answer->best == at;
    double most = answer->best < 0 || is_best ? INFINITY : answer->choice[answer->best].seconds;
    bool ok = solving_begin(solving);
    if (ok && fix_all(solving)) ok = solve_within(solving, most, answer, choice);
    if (is_best && (!choice->found || choice->seconds > before.seconds)) {
        before.bound = max_real(before.bound, choice->bound);
        *choice = before;
    } else if (ok && choice->found && choice->seconds < most) {
        answer->best = at;
        answer->nodes = solving->graph.node_count;
        answer->edges = solving->graph.edge_count;
        answer->strategies = solving->lists.count;
    }
    solving_end(solving);
    return ok;
}

typedef struct {
    double rank;
    int mesh;
} RankedMesh;

static int by_rank(const void *a, const void *b) {
    const RankedMesh *left = a, *right = b;
    if (left->rank != right->rank) return left->rank < right->rank ? -1 : 1;
    return left->mesh - right->mesh;
}

/* What a byte takes to be gathered, on average over the sets of axes. */
static double gather_rate(const LogicalMesh *mesh) {
    double sum = 0;
    for (unsigned set = 1; set < 1u << mesh->axes; set++)
        for (int piece = 0; piece < 2; piece++) sum += mesh->cost[set][COLLECTIVE_ALL_GATHER].seconds_per_byte[piece];
    return sum / ((1u << mesh->axes) - 1);
}

/* The meshes with the fastest gathers first, each with a look and, where that nearly settles it, a part of the work;
 * then those that this left open, from the lowest bound: a good answer early cuts the others short. */
static bool solve_meshes(Solving *solving, ProgramAnswer *answer) {
    int count = answer->meshes.count;
    RankedMesh *order = ARENA_NEW(solving->arena, RankedMesh, (size_t)count);
    if (!order) return error_memory(solving->error);
    const GraphControl *control = &solving->question->control;
    bool timed = isfinite(control->time_limit);
    for (int pass = timed; pass < 2; pass++) {
        bool by_bound = pass == 1 && !timed;
        for (int i = 0; i < count; i++)
            order[i] = (RankedMesh){by_bound ? answer->choice[i].bound : gather_rate(&answer->meshes.mesh[i]), i};
        qsort(order, (size_t)count, sizeof *order, by_rank);
        solving->effort = control->effort * (pass == 0 ? FIRST_EFFORT : 1);
        solving->gap_most = pass == 0 ? FIRST_GAP : 0;
        for (int i = 0; i < count; i++) {
            const ProgramChoice *choice = &answer->choice[order[i].mesh];
            double best = answer->best < 0 ? INFINITY : answer->choice[answer->best].seconds;
            bool is_done = by_bound && (choice->proof != GRAPH_GAP || choice->bound >= best);
            if (!is_done && !solve_mesh(solving, answer, order[i].mesh)) return false;
        }
    }
    return true;
}

bool program_has_batch(const Program *program) {
    const ProgramRegion *entry = &program->region[program->function[program->main].region];
    int64_t length = 0;
    bool any = false;
    for (int i = 0; i < entry->arguments; i++) {
        const TensorType *type = &program->value[entry->argument + i].type;
        any = any || is_state(program, i);
        if (is_state(program, i) || type->rank < 1) continue;
        if (length > 0 && type->size[0] != length) return false;
        length = type->size[0];
    }
    return any && length > 0;
}

static bool solve_references(Solving *solving, ProgramAnswer *answer) {
    bool any = program_has_batch(solving->question->program), ok = true;
    for (int r = 0; r < REFERENCE_COUNT && any && ok; r++) {
        GraphResult result;
        solving->setting.mesh = &answer->meshes.mesh[0]; /* one axis over all chips */
        ok = solving_begin(solving);
        if (ok) fix_reference(solving, (Reference)r);
        ok = ok && solve(solving, INFINITY, INFINITY, &answer->reference[r], &result);
        solving_end(solving);
    }
    return ok;
}

bool program_answer(const ProgramQuestion *question, Arena *arena, ProgramAnswer *out, Error *error) {
    *out = (ProgramAnswer){.best = -1, .bound = INFINITY, .proven = true, .infeasible = true};
    if (!flow_of_program(question->program, arena, &out->flow, error) ||
        !logical_meshes(&question->priced, question->axes, arena, &out->meshes, error))
        return false;
    out->choice = ARENA_NEW(arena, ProgramChoice, (size_t)out->meshes.count);
    if (!out->choice) return error_memory(error);
    Solving solving = {.question = question,
                       .setting = {.machine = &question->priced, .flow = &out->flow, .caution = TEMPORARY_MOST},
                       .effort = question->control.effort,
                       .arena = arena,
                       .error = error};
    if (!solve_meshes(&solving, out)) return false;
    if (out->best < 0 && !out->interrupted) { /* nothing is sure to fit: what may */
        solving.setting.caution = 1;
        out->least_peak = 0;
        if (!solve_meshes(&solving, out)) return false;
        out->may_exceed = out->best >= 0;
    }
    double best = out->best < 0 ? INFINITY : out->choice[out->best].seconds;
    for (int i = 0; i < out->meshes.count; i++) {
        const ProgramChoice *choice = &out->choice[i];
        out->bound = min_real(out->bound, min_real(choice->bound, best));
        out->infeasible = out->infeasible && choice->proof == GRAPH_INFEASIBLE;
        out->proven = out->proven && (choice->proof != GRAPH_GAP || choice->bound >= best);
    }
    return out->interrupted || solve_references(&solving, out);
}

/* ---- the contest's form ---- */

static void write_list(FILE *out, const int64_t *value, int64_t from, int64_t to) {
    putc('[', out);
    for (int64_t i = from; i < to; i++) fprintf(out, i > from ? ",%lld" : "%lld", (long long)value[i]);
    putc(']', out);
}

static void write_lists(FILE *out, const char *name, const int64_t *value, const int64_t *start, int count) {
    fprintf(out, "\"%s\":[", name);
    for (int i = 0; i < count; i++) {
        if (i > 0) putc(',', out);
        write_list(out, value, start[i], start[i + 1]);
    }
    putc(']', out);
}

static void write_pairs(FILE *out, const char *name, const int64_t *first, const int64_t *second, int count) {
    fprintf(out, "\"%s\":[", name);
    for (int i = 0; i < count; i++)
        fprintf(out, i > 0 ? ",[%lld,%lld]" : "[%lld,%lld]", (long long)first[i], (long long)second[i]);
    putc(']', out);
}

bool program_graph_write(const ProgramQuestion *question, const ProgramAnswer *answer, FILE *out, Error *error) {
    Solving solving = {.question = question, .error = error};
    int at = answer->best < 0 ? 0 : answer->best;
    solving.setting =
        (Setting){&question->priced, &answer->meshes.mesh[at], &answer->flow, answer->may_exceed ? 1 : TEMPORARY_MOST};
    bool ok = solving_begin(&solving);
    if (ok) {
        const StrategyGraph *graph = &solving.graph;
        fix_all(&solving);
        fprintf(out, "{\"problem\":{\"name\":\"program\",\"nodes\":{");
        write_pairs(out, "intervals", graph->live_from, graph->live_to, graph->node_count);
        putc(',', out);
        write_lists(out, "costs", graph->cost, graph->strategy_start, graph->node_count);
        putc(',', out);
        write_lists(out, "usages", graph->usage, graph->strategy_start, graph->node_count);
        fprintf(out, "},\"edges\":{");
        write_pairs(out, "nodes", graph->edge_first, graph->edge_second, graph->edge_count);
        putc(',', out);
        write_lists(out, "costs", graph->entry, graph->entry_start, graph->edge_count);
        fprintf(out, "},\"usage_limit\":%lld}}\n", (long long)question->priced.hbm_bytes);
    }
    solving_end(&solving);
    return ok;
}
