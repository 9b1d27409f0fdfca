/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "mesh/collective.h"

#include <criterion/criterion.h>
#include <math.h>

/* One row, one claim, one line. */
/* clang-format off */
#define RING(n, w, hop) { n, 1, AXIS_RING, w, hop }
#define LINE(n, w, hop) { n, 1, AXIS_LINE, w, hop }
#define SWITCH(n, w, message) { n, 1, AXIS_SWITCH, w, message }

#define V4P RING(4, 4.5e10, 0) /* one axis of the book's v4p 4x4x4 */
enum { EXACT, BOOK };
enum {
    GATHER = COLLECTIVE_ALL_GATHER,
    SCATTER = COLLECTIVE_REDUCE_SCATTER,
    REDUCE = COLLECTIVE_ALL_REDUCE,
    TO_ALL = COLLECTIVE_ALL_TO_ALL,
    PERMUTE = COLLECTIVE_PERMUTE,
};

/* Rows S and D: tests/data/book/cases.tsv, with its inputs as they stand (W1 is half of its W_bidi). The other rows
 * have their arithmetic beside them. */
static const struct {
    const char *name;
    int form; /* BOOK: the limit of many chips */
    int op;
    GroupAxis axes[4]; /* up to the first of factor 0 */
    double messages, bytes, expected, tolerance;
} ROWS[] = {
    {"S03 ideal gather on one axis", BOOK, GATHER, {V4P}, 1, 2. * 2048 * 8192, 0.000377, 0.02},
    {"S04 gather on a line of 4", EXACT, GATHER, {LINE(4, 4.5e10, 1e-6)}, 1, 2. * 2048 * 8192, 0.00056, 0.002},
    {"S05 one hop of a shard", EXACT, PERMUTE, {LINE(4, 4.5e10, 1e-6)}, 0, 2. * 256 * 256 / 4, 7e-7, 0.05},
    {"S06 latency-bound gather, line", EXACT, GATHER, {LINE(4, 4.5e10, 1e-6)}, 1, 2. * 256 * 256, 3e-6, 1e-9},
    {"S07 where a hop is latency-bound", EXACT, PERMUTE, {LINE(4, 4.5e10, 1e-6)}, 0, 45000, 1e-6, 1e-9},
    {"S09 gather X, Y sharded", BOOK, GATHER, {V4P}, 1, 2. * 1024 * 4096 / 4, 2.3e-5, 0.02},
    {"S10 gather X and Y", BOOK, GATHER, {V4P, V4P}, 1, 2. * 1024 * 4096, 4.6e-5, 0.02},
    {"S11 all_reduce Z, X and Y sharded", BOOK, REDUCE, {V4P}, 1, 2. * 1024 * 4096 / 16, 1.16e-5, 0.005},
    {"S12 latency of 4x4", EXACT, GATHER, {RING(4, 4.5e10, 1e-6), RING(4, 4.5e10, 1e-6)}, 1, 0, 4e-6, 1e-9},
    {"S13 latency of a ring of 4", EXACT, GATHER, {RING(4, 4.5e10, 1e-6)}, 1, 0, 2e-6, 1e-9},
    {"S14 gather X, idle Z too", BOOK, GATHER, {V4P, V4P}, 1, 2. * 1024 * 4096 / 4, 1.15e-5, 0.02},
    {"S15 gather X and Y, idle Z too", BOOK, GATHER, {V4P, V4P, V4P}, 1, 2. * 1024 * 4096, 3.1e-5, 0.005},
    {"S17 all_to_all is a quarter", BOOK, TO_ALL, {RING(8, 0.5, 0)}, 1, 1, 0.25, 1e-9},
    {"S17 of the gather", BOOK, GATHER, {RING(8, 0.5, 0)}, 1, 1, 1, 1e-9},
    {"S25 all_to_all on 8x16", BOOK, TO_ALL, {RING(8, 9e10, 0), RING(16, 9e10, 0)}, 1, 1.6e9, 0.00027777778, 1e-6},
    {"S25 even sizes: the limit is exact", EXACT, TO_ALL, {RING(8, 9e10, 0), RING(16, 9e10, 0)},
     1, 1.6e9, 0.00027777778, 1e-6},
    {"D01 exact ring gather", EXACT, GATHER, {RING(8, 9e10, 1e-6)}, 1, 1e9, 0.004861111, 1e-6},
    {"D02 exact line gather", EXACT, GATHER, {LINE(8, 9e10, 1e-6)}, 1, 1e9, 0.009722222, 1e-6},
    {"D03 exact ring all_to_all", EXACT, TO_ALL, {RING(8, 9e10, 1e-6)}, 1, 1e9, 0.001388889, 1e-6},
    {"D04 exact line all_to_all", EXACT, TO_ALL, {LINE(8, 9e10, 1e-6)}, 1, 1e9, 0.002777778, 1e-6},
    /* Intensities: a gather of C bytes takes C / W "seconds", the tokens at which it hides. */
    {"D07 DCN threshold of 2 pods", EXACT, SCATTER, {SWITCH(2, 6.25e9, 0)}, 1, 4.59e14, 36720, 1e-9},
    {"D11 v5e, ring", BOOK, GATHER, {RING(16, 4.5e10, 0)}, 1, 1.97e14, 2189, 1e-4},
    {"D12 v5e, line", BOOK, GATHER, {LINE(8, 4.5e10, 0)}, 1, 1.97e14, 4378, 1e-4},
    {"D13 v4p, ring", BOOK, GATHER, {RING(16, 4.5e10, 0)}, 1, 2.75e14, 3056, 1e-3},
    {"D14 v6e, ring", BOOK, GATHER, {RING(16, 9e10, 0)}, 1, 9.2e14, 5111, 1e-4},
    {"one chip is free", EXACT, REDUCE, {RING(1, 1e9, 1), SWITCH(1, 1e9, 1)}, 5, 1e9, 0, 0},
    {"nothing is free", EXACT, TO_ALL, {RING(0, 1, 1)}, 5, 1e9, 0, 0},
    {"4x4x4: 63/64 through three rings", EXACT, GATHER, {RING(4, 1e9, 0), RING(4, 1e9, 0), RING(4, 1e9, 0)},
     1, 64e9, 63. / 6, 1e-12},
    {"a cube beats its eight in a row", EXACT, GATHER, {LINE(2, 1e9, 0), LINE(2, 1e9, 0), LINE(2, 1e9, 0)},
     1, 24e9, 7, 1e-12},
    {"two chips, wrapped: both links", EXACT, GATHER, {RING(2, 1e9, 1e-6)}, 1, 4e9, 1, 1e-12},
    {"between whole degrees: half way is real", EXACT, GATHER, {RING(4.5, 1e9, 1)}, 1, 0, 2.25, 1e-12},
    {"NVLink gather: 7/8 out of each chip", EXACT, GATHER, {SWITCH(8, 4.5e11, 0)}, 1, 4.5e11, 7. / 8, 1e-12},
    {"NVLink all_to_all: 7/64", EXACT, TO_ALL, {SWITCH(8, 4.5e11, 0)}, 1, 4.5e11, 7. / 64, 1e-12},
    {"a switch adds latency to bandwidth: 3 + 7", EXACT, GATHER, {SWITCH(8, 1e9, 1)}, 1, 8e9, 10, 1e-12},
    {"a torus takes the longer: 7 hops or 1", EXACT, GATHER, {LINE(8, 1e9, 1)}, 1, 8e9 / 7, 7, 1e-12},
    /* 2 nodes of 8: NVLink 7/8 V / 4.5e11 = 1.94 ms, NICs (V/8)(1/2) / 5e10 = 1.25 ms;
     * 16 nodes: (V/8)(15/16) / 5e10. */
    {"2 nodes: NVLink decides", EXACT, GATHER, {SWITCH(8, 4.5e11, 0), SWITCH(2, 5e10, 0)}, 1, 1e9, 7. / 8 / 450, 1e-12},
    {"16 nodes: the network decides", EXACT, GATHER, {SWITCH(8, 4.5e11, 0), SWITCH(16, 5e10, 0)},
     1, 1e9, 15. / 128 / 50, 1e-12},
    {"two levels: 3 + 4 messages, both ways", EXACT, REDUCE, {SWITCH(8, 1e9, 1), SWITCH(16, 1e9, 100)},
     1, 0, 806, 1e-12},
    /* Each of 16 chips sends V/16: 1/2 of it to the other node, 7/16 to its own. */
    {"all_to_all of 2 nodes", EXACT, TO_ALL, {SWITCH(8, 4.5e11, 0), SWITCH(2, 5e10, 0)}, 1, 1e9, 1. / 32 / 50, 1e-12},
    {"all_to_all of 2 nodes, fast network", EXACT, TO_ALL, {SWITCH(8, 4.5e11, 0), SWITCH(2, 5e13, 0)},
     1, 1e9, 7. / 256 / 450, 1e-12},
    /* 4 chips of a ring in each of 2 slices: the ring gathers V, DCN carries V/4, half of it foreign. */
    {"ring and DCN, ring decides", EXACT, GATHER, {RING(4, 1e9, 0), SWITCH(2, 1e9, 0)}, 1, 8e9, 3, 1e-12},
    {"ring and DCN, DCN decides", EXACT, GATHER, {RING(4, 1e9, 0), SWITCH(2, 1e8, 0)}, 1, 8e9, 10, 1e-12},
    {"ring and DCN: 2 hops, 1 message", EXACT, GATHER, {RING(4, 1e9, 1), SWITCH(2, 1e9, 100)}, 1, 0, 102, 1e-12},
    /* Half of the pairs stay in the slice: per slice V/4 bytes, of which the ring's busiest link bears 1/8. */
    {"all_to_all, ring and DCN, ring decides", EXACT, TO_ALL, {RING(4, 1e9, 0), SWITCH(2, 1e12, 0)}, 1, 32e9, 1, 1e-12},
    {"all_to_all, ring and DCN, DCN decides", EXACT, TO_ALL, {RING(4, 1e9, 0), SWITCH(2, 1e9, 0)}, 1, 32e9, 2, 1e-12},
    {"permute goes at the worst axis", EXACT, PERMUTE, {RING(4, 1e9, 1), SWITCH(2, 1e8, 100)}, 1, 1e8, 101, 1e-12},
};
/* clang-format on */

Test(collective, rows) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        int count = 0;
        while (count < 4 && ROWS[i].axes[count].factor > 0) count++;
        Collective op = (Collective)ROWS[i].op;
        CollectiveCost cost = ROWS[i].form == BOOK ? limit_collective_cost(op, ROWS[i].axes, count)
                                                   : group_collective_cost(op, ROWS[i].axes, count);
        double seconds = collective_seconds(cost, ROWS[i].messages, ROWS[i].bytes);
        cr_expect(fabs(seconds - ROWS[i].expected) <= ROWS[i].tolerance * ROWS[i].expected, "%s: %.9g, expected %.9g",
                  ROWS[i].name, seconds, ROWS[i].expected);
    }
}

/* Counts bytes over every link of one axis, as chips would send them: the independent source for rings, lines,
 * strides. */
enum { SIZE_MAX_SIMULATED = 12 };
typedef struct {
    int size;
    double right[SIZE_MAX_SIMULATED], left[SIZE_MAX_SIMULATED]; /* over the link between chip i and i + 1 */
} Links;

static void links_carry(Links *links, int from, int hops, double bytes) {
    for (int at = from; hops > 0; hops--, at++) links->right[at % links->size] += bytes;
    for (int at = from; hops < 0; hops++, at--) links->left[(at - 1 + links->size) % links->size] += bytes;
}

static double links_busiest(const Links *links) {
    double busiest = 0;
    for (int i = 0; i < links->size; i++) busiest = max_real(busiest, max_real(links->right[i], links->left[i]));
    return busiest;
}

/* The shortest way from member k to member l of a group; two equally short ways take half each. */
static void links_send(Links *links, int base, int k, int l, Span span, bool closed, double bytes) {
    int f = (int)span.factor, s = (int)span.stride, from = base + k * s;
    int ahead = (l - k + f) % f;
    if (!closed)
        links_carry(links, from, (l - k) * s, bytes);
    else if (2 * ahead < f)
        links_carry(links, from, ahead * s, bytes);
    else if (2 * ahead > f)
        links_carry(links, from, (ahead - f) * s, bytes);
    else {
        links_carry(links, from, ahead * s, bytes / 2);
        links_carry(links, from, -ahead * s, bytes / 2);
    }
}

/* Member k's shard flows outwards both ways, over each link once, until all have it; on a closed group of even size the
 * last, opposite member gets one half from each side. */
static void links_spread(Links *links, int base, int k, Span span, bool closed, double bytes) {
    int f = (int)span.factor, s = (int)span.stride, from = base + k * s;
    int right = closed ? (f - 1) / 2 : f - 1 - k, left = closed ? (f - 1) / 2 : k;
    links_carry(links, from, right * s, bytes);
    links_carry(links, from, -left * s, bytes);
    if (closed && f % 2 == 0) {
        links_carry(links, from + right * s, s, bytes / 2);
        links_carry(links, (from - left * s + links->size) % links->size, -s, bytes / 2);
    }
}

/* Bytes over the busiest link when every group of this footprint works on one byte at once. */
static double busiest_link_share(Collective op, int size, bool wraps, Span span) {
    int f = (int)span.factor, s = (int)span.stride;
    bool closed = wraps && f * s == size;
    Links links = {.size = size};
    for (int block = 0; block < size; block += f * s)
        for (int base = block; base < block + s; base++)
            for (int k = 0; k < f; k++) {
                if (op == COLLECTIVE_ALL_GATHER) links_spread(&links, base, k, span, closed, 1.0 / f);
                if (op == COLLECTIVE_PERMUTE && (closed || k + 1 < f)) links_carry(&links, base + k * s, s, 1);
                for (int l = 0; op == COLLECTIVE_ALL_TO_ALL && l < f; l++)
                    if (l != k) links_send(&links, base, k, l, span, closed, 1.0 / f / f);
            }
    return links_busiest(&links);
}

static Mesh mesh_of(const Axis *axes, int count) {
    Mesh mesh = {.axis_count = count, .devices = 1};
    for (int a = 0; a < count; a++) {
        mesh.axes[a] = axes[a];
        mesh.devices *= axes[a].size;
    }
    mesh.chips = mesh.devices;
    return mesh;
}

Test(collective, link_loads) {
    static const Collective OPS[] = {COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL, COLLECTIVE_PERMUTE};
    int checked = 0;
    for (int size = 2; size <= SIZE_MAX_SIMULATED; size++)
        for (int wraps = 0; wraps < 2; wraps++)
            for (int f = 2; f <= size; f++)
                for (int s = 1; f * s <= size; s++) {
                    if (size % (f * s)) continue;
                    Mesh mesh = mesh_of((Axis[]){{"x", wraps ? AXIS_RING : AXIS_LINE, LEVEL_ICI, size, 1, 1}}, 1);
                    Footprint footprint = {{{f, s}}};
                    for (size_t i = 0; i < COUNT_OF(OPS); i++, checked++) {
                        CollectiveCost cost = collective_cost(OPS[i], &mesh, &footprint);
                        cr_expect_float_eq(
                            cost.seconds_per_byte[1], busiest_link_share(OPS[i], size, wraps, footprint.on[0]), 1e-12,
                            "%s of %d at stride %d on %d, wraps %d", collective_name(OPS[i]), f, s, size, wraps);
                        double farthest = wraps && f * s == size ? f / 2 * s : (f - 1) * s;
                        cr_expect_eq(cost.latency_seconds[0], OPS[i] == COLLECTIVE_PERMUTE ? s : farthest);
                    }
                }
    cr_expect_gt(checked, 200);
}

/* all_to_all over two axes at once: along x first, then along y; the busiest link of all rows and columns. */
Test(collective, link_loads_of_a_torus) {
    static const struct {
        int x, y;
        bool wraps_x, wraps_y;
    } ROWS_2D[] = {
        {4, 4, true, true},  {8, 4, true, true},  {3, 5, true, true},   {8, 4, true, false},
        {4, 4, true, false}, {3, 4, false, true}, {5, 5, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS_2D); i++) {
        int X = ROWS_2D[i].x, Y = ROWS_2D[i].y, N = X * Y;
        Links rows[SIZE_MAX_SIMULATED] = {0}, columns[SIZE_MAX_SIMULATED] = {0};
        for (int y = 0; y < Y; y++) rows[y].size = X;
        for (int x = 0; x < X; x++) columns[x].size = Y;
        for (int from = 0; from < N; from++)
            for (int to = 0; to < N; to++) {
                if (from % X != to % X)
                    links_send(&rows[from / X], 0, from % X, to % X, (Span){X, 1}, ROWS_2D[i].wraps_x, 1.0 / N / N);
                if (from / X != to / X)
                    links_send(&columns[to % X], 0, from / X, to / X, (Span){Y, 1}, ROWS_2D[i].wraps_y, 1.0 / N / N);
            }
        double busiest = 0;
        for (int y = 0; y < Y; y++) busiest = max_real(busiest, links_busiest(&rows[y]));
        for (int x = 0; x < X; x++) busiest = max_real(busiest, links_busiest(&columns[x]));
        GroupAxis axes[] = {{X, 1, ROWS_2D[i].wraps_x ? AXIS_RING : AXIS_LINE, 1, 0},
                            {Y, 1, ROWS_2D[i].wraps_y ? AXIS_RING : AXIS_LINE, 1, 0}};
        cr_expect_float_eq(group_collective_cost(COLLECTIVE_ALL_TO_ALL, axes, 2).seconds_per_byte[1], busiest, 1e-12,
                           "%d x %d", X, Y);
    }
}

/* Meshes of every sort for the laws: pods over DCN, an open slice, GPU nodes, one ring. */
static const struct {
    const char *name;
    Axis axes[MESH_AXES_MAX];
    int count;
} MESHES[] = {
    {"v5p pods",
     {{"x", AXIS_RING, LEVEL_ICI, 16, 9e10, 1e-6},
      {"y", AXIS_RING, LEVEL_ICI, 20, 9e10, 1e-6},
      {"z", AXIS_RING, LEVEL_ICI, 28, 9e10, 1e-6},
      {"dcn", AXIS_SWITCH, LEVEL_DCN, 8, 6.25e9, 1e-5}},
     4},
    {"v5e 8x16", {{"x", AXIS_LINE, LEVEL_ICI, 8, 4.5e10, 1e-6}, {"y", AXIS_RING, LEVEL_ICI, 16, 4.5e10, 1e-6}}, 2},
    {"100 nodes",
     {{"nvlink", AXIS_SWITCH, LEVEL_NVLINK, 8, 4.5e11, 2e-6}, {"network", AXIS_SWITCH, LEVEL_NETWORK, 100, 5e10, 5e-6}},
     2},
    {"odd ring", {{"x", AXIS_RING, LEVEL_ICI, 45, 1e9, 1e-6}, {"dcn", AXIS_SWITCH, LEVEL_DCN, 3, 1e12, 1e-9}}, 2},
};

typedef void FootprintCheck(const char *name, const Mesh *mesh, const Footprint *footprint);

static void each_footprint(const char *name, const Mesh *mesh, Footprint *footprint, int a, FootprintCheck *check) {
    if (a == mesh->axis_count || a == MESH_AXES_MAX) {
        check(name, mesh, footprint);
        return;
    }
    for (int64_t f = 1; f <= mesh->axes[a].size; f++)
        for (int64_t s = 1; f * s <= mesh->axes[a].size; s++)
            if (mesh->axes[a].size % (f * s) == 0 && (f > 1 || s == 1)) { /* where f is 1, one stride is enough */
                footprint->on[a] = (Span){f, s};
                each_footprint(name, mesh, footprint, a + 1, check);
            }
}

static void each_footprint_of_each_mesh(FootprintCheck *check) {
    for (size_t i = 0; i < COUNT_OF(MESHES); i++) {
        Mesh mesh = mesh_of(MESHES[i].axes, MESHES[i].count);
        Footprint footprint = {0};
        each_footprint(MESHES[i].name, &mesh, &footprint, 0, check);
    }
}

static bool not_more(CollectiveCost a, CollectiveCost b) {
    bool holds = true;
    for (int i = 0; i < 2; i++)
        holds = holds && a.latency_seconds[i] <= b.latency_seconds[i] && a.seconds_per_byte[i] <= b.seconds_per_byte[i];
    return holds;
}

static const double PAYLOADS[][2] = {{1, 0}, {0, 1e6}, {1, 1e3}, {1, 1e5}, {3, 1e7}, {126, 1e10}};

static void check_laws(const char *name, const Mesh *mesh, const Footprint *footprint) {
    CollectiveCost gather = collective_cost(COLLECTIVE_ALL_GATHER, mesh, footprint);
    CollectiveCost scatter = collective_cost(COLLECTIVE_REDUCE_SCATTER, mesh, footprint);
    CollectiveCost reduce = collective_cost(COLLECTIVE_ALL_REDUCE, mesh, footprint);
    cr_assert(not_more(gather, scatter) && not_more(scatter, gather), "%s", name);
    bool free_of_cost = footprint_degree(mesh, footprint) == 1;
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(reduce.latency_seconds[i], 2 * gather.latency_seconds[i], "%s", name);
        cr_assert_eq(reduce.seconds_per_byte[i], 2 * gather.seconds_per_byte[i], "%s", name);
    }
    for (Collective op = 0; op < COLLECTIVE_COUNT; op++) {
        CollectiveCost cost = collective_cost(op, mesh, footprint);
        cr_assert_eq(collective_seconds(cost, 1, 0) == 0, free_of_cost, "%s %s", name, collective_name(op));
        cr_assert_eq(collective_seconds(cost, 0, 1) == 0, free_of_cost, "%s %s", name, collective_name(op));
        cr_assert(collective_seconds(cost, 2, 1e6) >= collective_seconds(cost, 1, 1e6));
        cr_assert(collective_seconds(cost, 2, 2e6) >= collective_seconds(cost, 2, 1e6));
        for (int a = 0; a < mesh->axis_count;
             a++) { /* farther apart on one axis: never cheaper, though a ring may close */
            Footprint wider = *footprint;
            if (wider.on[a].factor == 1) continue;
            for (wider.on[a].stride++; wider.on[a].factor * wider.on[a].stride <= mesh->axes[a].size;
                 wider.on[a].stride++)
                if (mesh->axes[a].size % (wider.on[a].factor * wider.on[a].stride) == 0)
                    cr_assert(not_more(cost, collective_cost(op, mesh, &wider)), "%s %s", name, collective_name(op));
        }
        Mesh open = *mesh;
        for (int a = 0; a < mesh->axis_count; a++)
            if (open.axes[a].kind == AXIS_RING) open.axes[a].kind = AXIS_LINE;
        cr_assert(not_more(cost, collective_cost(op, &open, footprint)), "%s %s: a line beat a ring", name,
                  collective_name(op));
    }
}

Test(collective, laws) { each_footprint_of_each_mesh(check_laws); }

/* Checks that the cost is below that of every footprint of the degree, in each component and in seconds. */
static void check_least(const char *name, const Mesh *mesh, const Footprint *footprint) {
    for (Collective op = 0; op < COLLECTIVE_COUNT; op++) {
        CollectiveCost least = collective_cost_least(op, mesh, footprint_degree(mesh, footprint));
        CollectiveCost cost = collective_cost(op, mesh, footprint);
        cr_assert(not_more(least, cost), "%s %s", name, collective_name(op));
        for (size_t i = 0; i < COUNT_OF(PAYLOADS); i++)
            cr_assert(collective_seconds(least, PAYLOADS[i][0], PAYLOADS[i][1]) <=
                          collective_seconds(cost, PAYLOADS[i][0], PAYLOADS[i][1]),
                      "%s %s", name, collective_name(op));
    }
}

Test(collective, least_is_below_all) { each_footprint_of_each_mesh(check_least); }

Test(collective, least_keeps_bandwidth) {
    Mesh mesh = mesh_of(MESHES[0].axes, MESHES[0].count);
    CollectiveCost least = collective_cost_least(COLLECTIVE_ALL_GATHER, &mesh, 8); /* 2x2x2, or DCN alone: 3 messages */
    cr_expect_float_eq(least.seconds_per_byte[1], 7. / 8 / (3 * 9e10), 1e-24);
    cr_expect_float_eq(least.latency_seconds[0], 3e-6, 1e-18);
    cr_expect_eq(collective_seconds(collective_cost_least(COLLECTIVE_ALL_GATHER, &mesh, 1), 1, 1e9), 0);
    cr_expect_eq(collective_seconds(collective_cost_least(COLLECTIVE_ALL_GATHER, &mesh, 11), 1, 1e9), 0,
                 "no footprint of 11");
}

Test(collective, footprint_closes_or_not) {
    Mesh mesh = mesh_of((Axis[]){{"x", AXIS_RING, LEVEL_ICI, 16, 1e9, 1}}, 1);
    static const struct {
        const char *name;
        Span span;
        GroupAxis same;
    } SPANS[] = {
        {"whole axis", {16, 1}, {16, 1, AXIS_RING, 1e9, 1}},
        {"inner block", {4, 1}, {4, 1, AXIS_LINE, 1e9, 1}},
        {"outer, strided, closes", {4, 4}, {4, 4, AXIS_RING, 1e9, 1}},
        {"between, strided, open", {4, 2}, {4, 2, AXIS_LINE, 1e9, 1}},
    };
    for (size_t i = 0; i < COUNT_OF(SPANS); i++) {
        Footprint footprint = {{SPANS[i].span}};
        for (Collective op = 0; op < COLLECTIVE_COUNT; op++) {
            if (op == COLLECTIVE_DISPATCH)
                continue; /* it is an all_to_all, except for what a machine says about
                                                      * copies */
            CollectiveCost a = collective_cost(op, &mesh, &footprint), b = group_collective_cost(op, &SPANS[i].same, 1);
            cr_expect(not_more(a, b) && not_more(b, a), "%s", SPANS[i].name);
        }
    }
}
