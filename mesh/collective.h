/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/collective.h: the cost of collectives on a footprint.
 *
 * A collective is two affine pieces, a latency-bound and a bandwidth-bound regime:
 *    seconds(messages, bytes) = max over the two pieces of (messages * latency_seconds + bytes * seconds_per_byte)
 * so that the search tabulates four doubles per footprint and never comes back. On a torus one piece is latency alone
 * and the other bandwidth alone (each ring step takes the longer of a hop and its bytes; the book's max); as soon as a
 * switch level takes part, the first piece holds both (NCCL's form: base + bytes / rate). The second piece is the
 * bandwidth alone there too: it never decides, but component-wise minima over both kinds of footprint keep their
 * bandwidth. `bytes` is always the whole (gathered) array as seen by one group; for ALL_TO_ALL, the bytes of all chips
 * of the group together; for PERMUTE, the bytes that one chip sends to its neighbour.
 *
 * Physics ("How to Scale Your Model", part 3, in exact form; docs/model.md, "Collectives on a torus" and "Collectives
 * on switches, direct links and networks"):
 * - A group that takes a whole axis that wraps is a ring: both links of every chip work: 2 W1.
 * - An inner block (stride 1, factor < size) is a line: its end chips have one link: W1.
 * - An outer group (stride s) shares each link with s - 1 others: it has 1/s of the rate, and its hops take s times as
 *   long; it is a ring when factor * stride = size and the axis wraps, else a line.
 * - Over several axes at once the rates add and the latencies add; the group moves V (N - 1) / N of foreign bytes.
 * - An all_to_all takes the time of the axis with the worst bisection: V * factor / (4 N * 2 W1) on a ring, twice that
 *   on a line; odd sizes take (x^2-1)/x^2 of it.
 * - On a switch the egress of each chip counts: V (n-1)/n / W for a pass, V (n-1)/n^2 / W for an all_to_all. There is
 *   no stride: each chip has its own port and its own NIC, and a group with two chips in a node leaves it through two
 *   NICs (rails).
 * - On a mesh of direct links, a group of n uses the n - 1 links of each chip to the others: V / n / W1 for a pass, V /
 *   n^2 / W1 for an all_to_all, one link for a permute.
 * - A group that spans levels (all its torus axes are one level, each switch or mesh is another) is hierarchical: with
 *   I of its N chips below one chip of a level of n, a pass moves V / I there, and an all_to_all moves the V I n^2 /
 *   N^2 bytes that go no higher. The levels are pipelined: the bandwidth is the worst level's, the latency is the sum.
 * - A permute sends one message over `stride` hops on the worst axis: bytes * stride / W1 on a torus, bytes / W on a
 *   switch.
 * - The latency is half way round a ring and end to end of a line, added over all axes; one hop over a mesh; over DCN
 *   ceil(log2 n) messages for a pass, and one for an all_to_all (to all peers at once).
 *
 * A machine adds to its axes (mesh.h, Fabric; only where there is a mesh):
 * - NCCL: a pass is a ring: base + one step for each of the n - 1 chips, and a step between domains for each domain but
 *   one (an all_reduce takes twice the steps, or a tree: base + 2 (g - 1 steps inside + log2 domains between),
 *   whichever is less); an all_to_all or a permute is the base and one step of each level it uses. The steps are those
 *   of protocol LL, the bandwidth is that of Simple: this is exact where either of them is the whole cost. Between them
 *   NCCL's least over protocols is concave, which two affine pieces cannot follow: the estimate stays below it, by at
 *   most the extra time of Simple's steps (a gather over 8 GPUs: 32 for 11 us; over 64 nodes of 8: 2.4 for 0.45 ms).
 *   NVLink SHARP (about +30% for an all_reduce inside a node) is left out: it is not a default.
 * - A spine that is oversubscribed c : 1: of a group with f chips every s nodes, m = L / s (1 to f) share a leaf of L
 *   nodes and their uplinks, each W / c. One of m ring neighbours sends across: 1/m of a pass's (or a permute's) bytes
 *   per chip go up, and 1 - m/f of an all_to_all's. A group that fits under a leaf sends nothing up, and a ring of m >=
 *   c neighbours is not slowed. Leaves that are filled unevenly count by their mean: m need not be whole.
 * - A dispatch of k copies of each token over f domains, where one copy goes to each domain that needs any
 *   (DeepSeek-V3, section 3.2.2; DeepEP): (f - 1)(1 - (1 - 1/f)^k) of them leave, in place of k (f - 1)/f, if experts
 *   are drawn evenly.
 * - A twisted torus speeds up an all_to_all over the whole slice, and nothing else. */
#pragma once

#include "mesh/mesh.h"

typedef enum {
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER, /* costs what all_gather costs */
    COLLECTIVE_ALL_REDUCE,     /* both: two passes */
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_DISPATCH, /* an all_to_all of routed tokens: see Fabric.routed_copies */
    COLLECTIVE_PERMUTE,  /* every chip to its next in the group, one direction */
    COLLECTIVE_COUNT
} Collective;

typedef struct {
    double latency_seconds[2]; /* per message */
    double seconds_per_byte[2];
} CollectiveCost;

/* One axis of a group for the formulas: sizes are real, so that break-even points can be searched between whole
 * degrees. */
typedef struct {
    double factor, stride;
    AxisKind kind; /* AXIS_RING: this group closes on itself here; AXIS_LINE: it does not; AXIS_SWITCH */
    double bytes_per_second, latency_seconds;
} GroupAxis;

/* The formulas, innermost axis first; axes of factor 1 cost nothing. Pure, and total for factor >= 1, stride >= 1,
 * rates > 0. */
CollectiveCost group_collective_cost(Collective op, const GroupAxis *axes, int count);

/* The book's limit of many chips on closed torus axes: V / (sum of 2 W1) for a pass, without latency (break-even tests
 * compare with it). */
CollectiveCost limit_collective_cost(Collective op, const GroupAxis *axes, int count);

/* The same for a footprint on a mesh. A group of one chip costs nothing. */
CollectiveCost collective_cost(Collective op, const Mesh *mesh, const Footprint *footprint);

static inline double collective_seconds(CollectiveCost cost, double messages, double bytes) {
    double first = messages * cost.latency_seconds[0] + bytes * cost.seconds_per_byte[0];
    double second = messages * cost.latency_seconds[1] + bytes * cost.seconds_per_byte[1];
    return first > second ? first : second;
}

/* The least cost of each kind over every footprint that a group of this degree can have on the mesh (any factors,
 * stride >= 1): component-wise minima, an admissible bound. It is zero for a degree that no footprint has. */
CollectiveCost collective_cost_least(Collective op, const Mesh *mesh, int64_t degree);

const char *collective_name(Collective op);

/* Collective costs kept by footprint. A search needs the same few thousand footprints some
 * millions of times; one look here takes a tenth of the time of the formulas. */

/* Each thread has one memo. */
typedef struct CollectiveMemo CollectiveMemo;
CollectiveMemo *collective_memo_new(void); /* NULL means that memory is out; free with collective_memo_free */
void collective_memo_free(CollectiveMemo *memo);

/* The same as collective_cost(). `site` is a number >= 0 that stands for the mesh as long as the memo lives. */
CollectiveCost collective_cost_kept(CollectiveMemo *memo, int site, Collective op, const Mesh *mesh,
                                    const Footprint *footprint);
