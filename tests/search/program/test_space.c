/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine as logical axes, and what single operations compute, keep and send on it, by hand. */
#include "base/util.h"
#include "mesh/collective.h"
#include "search/program/strategies.h"
#include "tests/search/program/small.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* An axis on several of the machine's goes along the outermost first; of two on one, the inner has stride 1. */
Test(space, chips_of_a_mesh) {
    static const struct {
        Mesh physical;
        LogicalMesh mesh;
        int64_t chip[12];
    } ROWS[] = {
        {{.axis_count = 3, .devices = 12, .axes = {{.size = 2}, {.size = 3}, {.size = 2}}},
         {.axes = 2, .footprint = {{{{1, 1}, {3, 1}, {2, 1}}}, {{{2, 1}, {1, 1}, {1, 1}}}}},
         {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}},
        {{.axis_count = 1, .devices = 6, .axes = {{.size = 6}}},
         {.axes = 2, .footprint = {{{{3, 2}}}, {{{2, 1}}}}},
         {0, 1, 2, 3, 4, 5}},
        {{.axis_count = 1, .devices = 6, .axes = {{.size = 6}}},
         {.axes = 2, .footprint = {{{{3, 1}}}, {{{2, 3}}}}},
         {0, 3, 1, 4, 2, 5}},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        for (int64_t place = 0; place < ROWS[i].physical.devices; place++)
            cr_expect_eq(mesh_chip(&ROWS[i].physical, &ROWS[i].mesh, place), ROWS[i].chip[place], "%zu: %d", i,
                         (int)place);
}

/* Every factorization of twelve is there, and no other; over all of its axes each is the whole machine, over one of
 * them what its place costs, and a place of the mesh is a chip of its own. Equal axes that lie equally are one mesh.
 * */
Test(space, meshes_of_a_machine) {
    static const int64_t SIZES[][LOGICAL_MAX] = {{12}, {6, 2}, {4, 3}, {3, 2, 2}};
    static const int AXES[] = {1, 2, 2, 3};
    ProgramMachine machine;
    Arena arena = {0};
    Error error = {0};
    LogicalMeshes meshes;
    int met[4] = {0};
    fill_machine(&machine);
    machine.mesh.axes[0].size = 6;
    machine.mesh.devices = machine.mesh.chips = 12;
    cr_assert(logical_meshes(&machine, 3, &arena, &meshes, &error));
    for (int m = 0; m < meshes.count; m++) {
        const LogicalMesh *mesh = &meshes.mesh[m], *other;
        int found = -1, seen = 0;
        for (int i = 0; i < 4; i++)
            if (memcmp(SIZES[i], mesh->size, sizeof SIZES[i]) == 0) found = i;
        cr_assert(found >= 0, "%d", m);
        met[found]++;
        cr_expect_eq(mesh->axes, AXES[found]);
        for (unsigned set = 0; set < 1u << mesh->axes; set++) {
            int64_t ways = 1;
            for (int a = 0; a < mesh->axes; a++) ways *= set >> a & 1 ? mesh->size[a] : 1;
            cr_expect_eq(mesh->ways[set], ways);
        }
        for (int op = 0; op < COLLECTIVE_COUNT; op++) {
            unsigned all = (1u << mesh->axes) - 1;
            cr_expect_float_eq(mesh->cost[all][op].seconds_per_byte[1], meshes.mesh[0].cost[1][op].seconds_per_byte[1],
                               1e-20);
            for (int a = 0; a < mesh->axes; a++) {
                CollectiveCost cost = collective_cost((Collective)op, &machine.mesh, &mesh->footprint[a]);
                cr_expect(memcmp(&cost, &mesh->cost[1 << a][op], sizeof cost) == 0);
            }
        }
        for (int64_t place = 0; place < 12; place++) seen |= 1 << mesh_chip(&machine.mesh, mesh, place);
        cr_expect_eq(seen, 0xfff);
        for (other = mesh + 1; other < meshes.mesh + meshes.count; other++)
            cr_expect(memcmp(other->size, mesh->size, sizeof mesh->size) != 0 ||
                      memcmp(other->cost, mesh->cost, sizeof mesh->cost) != 0);
    }
    for (int i = 0; i < 4; i++) cr_expect(met[i] > 0);
    arena_free(&arena);
}

/* Of 1,600 bytes over four chips: a gather or scatter sends three quarters, a sum twice that, an exchange a quarter of
 * three quarters, a change of places all. The tally has it three times. */
Test(space, bytes_sent) {
    static const double SENT[] = {[COLLECTIVE_ALL_GATHER] = 1200,
                                  [COLLECTIVE_REDUCE_SCATTER] = 1200,
                                  [COLLECTIVE_ALL_REDUCE] = 2400,
                                  [COLLECTIVE_ALL_TO_ALL] = 300,
                                  [COLLECTIVE_PERMUTE] = 1600};
    LogicalMesh mesh = {.axes = 1, .size = {4}, .ways = {1, 4}};
    for (int op = 0; op < COLLECTIVE_COUNT; op++) mesh.cost[1][op] = (CollectiveCost){{2, 0}, {0, 0.01}};
    for (int op = 0; op < COLLECTIVE_COUNT; op++) {
        Tally tally = {0};
        if (op == COLLECTIVE_DISPATCH) continue; /* no program's */
        cr_expect_eq(space_send(&mesh, (Collective)op, 0, 1600, 3, &tally), 0, "one chip");
        double seconds = space_send(&mesh, (Collective)op, 1, 1600, 3, &tally);
        cr_expect_float_eq(seconds, 16, 1e-12);
        cr_expect_float_eq(space_send(&mesh, (Collective)op, 1, 100, 3, NULL), 2, 1e-12, "latency");
        cr_expect_float_eq(tally.bytes[op], 3 * SENT[op], 1e-9, "%d", op);
        cr_expect_float_eq(tally.seconds[op], 48, 1e-9);
    }
}

/* Seconds of one operation on 16 x 8 that reads 16 x 32 and 32 x 8 of fp32, by what it does: a byte takes a second, a
 * FLOP the given part of one; x cuts rows into four. 128 FLOPs for each of 32 contracted: 2 x 16 x 8 x 32 = 8,192, a
 * quarter 2,048. Bytes of a chip: 16 x 32 x 4 / 4 = 512 and 32 x 8 x 4 = 1,024 are read, 16 x 8 x 4 / 4 = 128
 * written. */
Test(space, seconds_of_an_operation) {
    static const struct {
        const char *name;
        double flop_seconds;
        bool held, result, rows, carries, reads_fused;
        double seconds;
    } ROWS[] = {
        {"memory", 0, true, false, false, false, false, 1664},
        {"matrix units", 1, true, false, false, false, false, 2048},
        {"neither held nor a result", 0, false, false, false, false, false, 1536},
        {"the next state of an argument", 0, false, true, false, false, false, 1664},
        {"as much of the first as it writes", 0, true, false, true, false, false, 1280},
        {"what is fused is not read", 0, true, false, false, false, true, 1152},
        {"what is carried stays", 0, true, false, false, true, false, 0},
    };
    const Factor factors[] = {{16, 0, (int8_t[]){0, -1}}, {8, 1, (int8_t[]){-1, 1}}, {32, -1, (int8_t[]){1, 0}}};
    LogicalMesh mesh = {.axes = 1, .size = {4}, .ways = {1, 4}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        FlowNode node[3] = {
            {.is_held = !ROWS[i].reads_fused, .type = {.rank = 2, .bits = 32, .size = {16, 32}}, .trips = 1},
            {.is_held = true, .type = {.rank = 2, .bits = 32, .size = {32, 8}}, .trips = 1},
            {.kind = FLOW_WORK, .type = {.rank = 2, .bits = 32, .size = {16, 8}}, .trips = 3, .flops = 8192}};
        FlowEdge edge[2] = {{0, 2, 0, {0}, node[0].type, 3}, {1, 2, 1, {0}, node[1].type, 3}};
        Flow flow = {.node = node, .edge = edge, .nodes = 3, .edges = 2};
        ProgramMachine machine = {.flops_per_second = ROWS[i].flop_seconds > 0 ? 1 / ROWS[i].flop_seconds : INFINITY,
                                  .hbm_bytes_per_second = 1};
        Setting setting = {&machine, &mesh, &flow, 1};
        Strategy strategy = {.out = spec_with(0, 0, 0), .factor = {0, -1, -1}};
        Spec in[2] = {spec_with(0, 0, 0), 0};
        Tally tally = {0};
        node[2].factor = factors, node[2].factors = 3, node[2].edges = 2;
        node[2].is_held = ROWS[i].held, node[2].is_result = ROWS[i].result, node[2].reads_rows = ROWS[i].rows;
        node[2].value = ROWS[i].carries ? 0 : -1, node[2].copied = node[2].added_to = -1;
        double seconds = strategy_seconds(&setting, &node[2], &strategy, in, &tally);
        cr_expect_float_eq(seconds, ROWS[i].seconds, 1e-9, "%s: %g", ROWS[i].name, seconds);
        cr_expect_float_eq(tally.work_seconds, 3 * ROWS[i].seconds, 1e-9);
        cr_expect_float_eq(tally.flops, 3 * 2048, 1e-9);
        node[2].kind = FLOW_ARGUMENT; /* 128 bytes, a thousandth of their time */
        cr_expect_float_eq(strategy_seconds(&setting, &node[2], &strategy, in, NULL), 0.128, 1e-12);
    }
}

/* A table of 1,000 rows that is scattered into, in rows of 128 lanes: narrower ones take at least eight times their
 * bytes, seven of them added; 8 columns sixteen times. Rows that are cut are narrower still, others and what is not
 * scattered add none. */
Test(space, tiles_of_tables) {
    static const struct {
        int64_t columns;
        int cut; /* dimension; -1: none */
        bool scatters, held;
        double padding;
    } ROWS[] = {{64, -1, true, true, 7 * 256000.}, {8, -1, true, true, 15 * 32000.}, {128, -1, true, true, 0},
                {128, 1, true, true, 7 * 128000.}, {128, 0, true, true, 0},          {64, 0, true, true, 7 * 64000.},
                {64, -1, false, true, 0},          {64, -1, true, false, 0},         {16, 1, true, true, 31 * 16000.}};
    LogicalMesh mesh = {.axes = 1, .size = {4}, .ways = {1, 4}};
    ProgramMachine machine = {.profile = {.lanes = 128}};
    Setting setting = {&machine, &mesh, NULL, 1};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        FlowNode node = {.type = {.rank = 2, .bits = 32, .size = {1000, ROWS[i].columns}},
                         .held_bits = 32,
                         .scatters = ROWS[i].scatters,
                         .is_held = ROWS[i].held};
        cr_expect_float_eq(padding_bytes(&setting, &node, spec_with(0, 0, ROWS[i].cut)), ROWS[i].padding, 1e-6,
                           "%zu: %g", i, padding_bytes(&setting, &node, spec_with(0, 0, ROWS[i].cut)));
    }
}

/* What moves is the smaller of a node and its view, in the narrower of their types: 64 elements that x cuts in four,
 * gathered at a second a byte. */
Test(space, bytes_of_an_edge) {
    static const struct {
        int64_t from[2], to[2];
        int from_bits, to_bits;
        int8_t map[2];
        int have, need;
        double seconds;
    } ROWS[] = {
        {{64, 1}, {64, 1}, 32, 32, {0, 1}, 0, -1, 256},  {{64, 1}, {64, 1}, 32, 16, {0, 1}, 0, -1, 128},
        {{64, 1}, {64, 1}, 16, 32, {0, 1}, 0, -1, 128},  {{64, 1}, {64, 8}, 32, 32, {0, -1}, 0, -1, 256},
        {{64, 1}, {8, 64}, 32, 32, {-1, 0}, 0, 1, 0},    {{64, 1}, {8, 64}, 32, 32, {-1, 0}, 0, -1, 256},
        {{8, 64}, {64, 1}, 32, 32, {1, -1}, 0, -1, 256}, {{64, 1}, {64, 1}, 32, 32, {0, 1}, -1, 0, 0},
        {{64, 1}, {64, 1}, 32, 32, {0, 1}, 0, 0, 0},     {{64, 1}, {6, 8}, 32, 32, {0, -1}, 0, -1, 192},
    };
    LogicalMesh mesh = {.axes = 1, .size = {4}, .ways = {1, 4}};
    mesh.cost[1][COLLECTIVE_ALL_GATHER].seconds_per_byte[1] = 1;
    for (int op = 0; op < COLLECTIVE_COUNT; op++)
        if (op != COLLECTIVE_ALL_GATHER) mesh.cost[1][op].seconds_per_byte[1] = 1e6;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        FlowNode node = {.type = {.rank = 2, .bits = ROWS[i].from_bits, .size = {ROWS[i].from[0], ROWS[i].from[1]}}};
        FlowEdge edge = {.type = {.rank = 2, .bits = ROWS[i].to_bits, .size = {ROWS[i].to[0], ROWS[i].to[1]}},
                         .view = {.map = {ROWS[i].map[0], ROWS[i].map[1]}},
                         .trips = 5};
        Flow flow = {.node = &node, .nodes = 1};
        ProgramMachine machine = {0};
        Setting setting = {&machine, &mesh, &flow, 1};
        Tally tally = {0};
        Spec have = spec_with(0, 0, ROWS[i].have), need = spec_with(0, 0, ROWS[i].need);
        double seconds = edge_seconds(&setting, &edge, have, need, &tally);
        cr_expect_float_eq(seconds, ROWS[i].seconds, 1e-9, "%zu: %g", i, seconds);
        cr_expect_float_eq(tally.seconds[COLLECTIVE_ALL_GATHER], 5 * seconds, 1e-9);
        cr_expect(ROWS[i].seconds == 0 || edge_moves(&setting, &edge, have, need), "%zu", i);
        cr_expect(edge_seconds(&setting, &edge, spec_open(have, 1), need, NULL) == INFINITY);
        cr_expect_eq(edge_seconds(&setting, &edge, spec_open(have, 1), spec_open(have, 1), NULL), 0);
    }
}

/* The graph's costs and entries are seconds in its unit, as often as they run; what an edge never costs is no edge. */
Test(space, graph_of_strategies) {
    Draws draws = {7};
    for (int turn = 0; turn < 20; turn++) {
        Arena arena = {0};
        Error error = {0};
        Program program;
        Flow flow;
        LogicalMeshes meshes;
        StrategyLists lists;
        StrategyGraph graph;
        double unit;
        Small small = small_draw(&draws, 3);
        const char *text = small_text(&small, &arena, "v");
        cr_assert(program_read(text, strlen(text), "p", &program, &error) &&
                  flow_of_program(&program, &arena, &flow, &error));
        ProgramQuestion question = question_of(&program);
        cr_assert(logical_meshes(&question.priced, 2, &arena, &meshes, &error));
        for (int64_t i = 0; i < flow.nodes; i++) flow.node[i].trips = 1 + (double)i;
        for (int64_t e = 0; e < flow.edges; e++) flow.edge[e].trips = 1 + (double)e;
        Setting setting = {&question.priced, &meshes.mesh[turn % meshes.count], &flow, 2};
        cr_assert(strategies_list(&setting, &lists, &error) &&
                  strategies_graph(&setting, &lists, &graph, &unit, &error));
        cr_assert_eq(graph.node_count, flow.nodes);
        for (int64_t i = 0; i < flow.nodes; i++)
            for (int s = lists.start[i]; s < lists.start[i + 1]; s++) {
                const Strategy *strategy = &lists.strategy[s];
                cr_expect_float_eq((double)graph.cost[s] * unit, strategy->seconds * (1 + (double)i), 1e-12);
                bool given = flow.node[i].kind == FLOW_ARGUMENT, copy = flow.node[i].copied >= 0;
                double bytes = held_bytes(&setting, &flow.node[i], strategy->out);
                cr_expect(copy || fabs((double)graph.usage[s] - (given ? 1 : 2) * bytes) < 1);
            }
        int at = 0;
        for (int64_t e = 0; e < flow.edges; e++) {
            const FlowEdge *edge = &flow.edge[e];
            int from = lists.start[edge->from], to = lists.start[edge->to], needs = lists.start[edge->to + 1] - to;
            bool is_there =
                     at < graph.edge_count && graph.edge_first[at] == edge->from && graph.edge_second[at] == edge->to,
                 any = false;
            for (int i = from; i < lists.start[edge->from + 1]; i++)
                for (int k = to; k < to + needs; k++) {
                    Spec need = edge_need(&lists, &flow, edge, e, &lists.strategy[k]);
                    double seconds = edge_seconds(&setting, edge, lists.strategy[i].out, need, NULL);
                    any = any || seconds > 0;
                    if (!is_there) continue;
                    int64_t entry = graph.entry[graph.entry_start[at] + (int64_t)(i - from) * needs + (k - to)];
                    cr_expect(isinf(seconds) ? entry == GRAPH_FORBIDDEN
                                             : fabs((double)entry * unit - seconds * edge->trips) < 1e-12);
                }
            cr_expect_eq(any, is_there);
            at += is_there;
        }
        cr_expect_eq(at, graph.edge_count);
        strategies_free(&lists);
        graph_free(&graph);
        flow_free(&flow);
        program_free(&program);
        arena_free(&arena);
    }
}
