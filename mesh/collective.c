/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/collective.h"

#include "base/util.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *collective_name(Collective op) {
    static const char *const NAMES[COLLECTIVE_COUNT] = {
        [COLLECTIVE_ALL_GATHER] = "all_gather", [COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
        [COLLECTIVE_ALL_REDUCE] = "all_reduce", [COLLECTIVE_ALL_TO_ALL] = "all_to_all",
        [COLLECTIVE_DISPATCH] = "all_to_all",   [COLLECTIVE_PERMUTE] = "permute",
    };
    assert(op >= 0 && op < COLLECTIVE_COUNT);
    return NAMES[op];
}

/* The rate at which a chip of the group moves bytes along the axis: on a ring through both its links, at the end of a
 * line through its only link. The `stride` groups that interleave on a torus axis share its links; a switch gives each
 * chip its own port, a mesh gives each pair its own link. */
static double axis_bytes_per_second(const GroupAxis *axis) {
    switch (axis->kind) {
    case AXIS_RING:
        return 2 * axis->bytes_per_second / axis->stride;
    case AXIS_LINE:
        return axis->bytes_per_second / axis->stride;
    case AXIS_MESH:
        return (axis->factor - 1) * axis->bytes_per_second;
    case AXIS_SWITCH:
        break;
    }
    return axis->bytes_per_second;
}

/* The messages that must follow each other until the farthest chip has heard. Ring: half way round, from both sides;
 * line: end to end; each step of the group is `stride` hops. Switch: a tree reaches all n chips in log2 n messages.
 * Mesh: all chips at once. */
static double axis_spread_steps(const GroupAxis *axis) {
    double n = axis->factor;
    switch (axis->kind) {
    case AXIS_RING:
        return (n == floor(n) ? floor(n / 2) : n / 2) * axis->stride;
    case AXIS_LINE:
        return (n - 1) * axis->stride;
    case AXIS_MESH:
        return 1;
    case AXIS_SWITCH:
        break;
    }
    return ceil(log2(n));
}

static bool is_torus(const GroupAxis *axis) { return axis->kind == AXIS_RING || axis->kind == AXIS_LINE; }

/* One message to every peer: across a switch all are under way at once (the cost of issuing many is part of the
 * profile's efficiency); on a torus the farthest peer is as far away as in a gather. */
static double axis_exchange_steps(const GroupAxis *axis) {
    return axis->kind == AXIS_SWITCH ? 1 : axis_spread_steps(axis);
}

/* An all_to_all cuts a torus axis in halves: half the chips send half their bytes across, V/4 each way, through the
 * links of n / factor rows. Odd sizes have no middle: (x^2 - 1) / 4 of x^2 pairs cross the busiest cut. */
static double axis_bisection_share(const GroupAxis *axis, double chips, bool limit) {
    double x = axis->factor, pairs = x * x;
    bool odd = !limit && fmod(x, 2) == 1;
    return x / (4 * chips) * (odd ? (pairs - 1) / pairs : 1);
}

typedef struct {
    double latency_seconds, seconds_per_byte;
} LevelCost;

/* All torus axes of the group work at once: their rates add, and the farthest chip is away along every axis. */
static LevelCost level_pass(const GroupAxis *axes, int count, double chips, bool limit) {
    double bytes_per_second = 0, latency = 0;
    for (int i = 0; i < count; i++) {
        if (axes[i].factor <= 1) continue;
        bytes_per_second += axis_bytes_per_second(&axes[i]);
        latency += axis_spread_steps(&axes[i]) * axes[i].latency_seconds;
    }
    double foreign = limit ? 1 : (chips - 1) / chips;
    return (LevelCost){latency, foreign / bytes_per_second};
}

/* Axis after axis in dimension order, pipelined: the axis with the narrowest cut decides. */
static LevelCost level_all_to_all(const GroupAxis *axes, int count, double chips, bool limit) {
    LevelCost cost = {0};
    for (int i = 0; i < count; i++) {
        const GroupAxis *axis = &axes[i];
        if (axis->factor <= 1) continue;
        double port_share = (limit ? 1 : (chips - 1) / chips) / chips; /* the bytes that one chip sends to others */
        double share = is_torus(axis) ? axis_bisection_share(axis, chips, limit) : port_share;
        cost.seconds_per_byte = max_real(cost.seconds_per_byte, share / axis_bytes_per_second(axis));
        cost.latency_seconds += axis_exchange_steps(axis) * axis->latency_seconds;
    }
    return cost;
}

/* Each chip's message crosses `stride` links of one axis, and so do the messages of the interleaved groups; everyone
 * waits for the slowest axis. The next chip of a line's last chip is at the far end; the order of the ring takes care
 * of that: it is folded, and each link still carries one message each way. */
static LevelCost level_permute(const GroupAxis *axes, int count) {
    LevelCost cost = {0};
    for (int i = 0; i < count; i++) {
        if (axes[i].factor <= 1) continue;
        double stride = is_torus(&axes[i]) ? axes[i].stride : 1;
        cost.seconds_per_byte = max_real(cost.seconds_per_byte, stride / axes[i].bytes_per_second);
        cost.latency_seconds = max_real(cost.latency_seconds, stride * axes[i].latency_seconds);
    }
    return cost;
}

/* Torus axes side by side are one level: their links work together. Each switch or mesh is a level of its own: the two
 * cores of a chip exchange at most the bytes that the other core holds, however fast their link is. */
static int level_end(const GroupAxis *axes, int count, int first) {
    int end = first + 1;
    if (is_torus(&axes[first]))
        while (end < count && is_torus(&axes[end])) end++;
    return end;
}

static double chips_on(const GroupAxis *axes, int count) {
    double chips = 1;
    for (int i = 0; i < count; i++) chips *= axes[i].factor;
    return chips;
}

/* `limit` selects the book's form: many chips and no latency. */
static CollectiveCost group_cost(Collective op, const GroupAxis *axes, int count, bool limit) {
    double chips = chips_on(axes, count), inside = 1;
    LevelCost whole = {0};
    bool switched = false;
    for (int first = 0, end; first < count; first = end) {
        end = level_end(axes, count, first);
        const GroupAxis *level = axes + first;
        double here = chips_on(level, end - first);
        if (here <= 1) continue;
        switched = switched || level->kind == AXIS_SWITCH;
        LevelCost cost;
        double share; /* the share of the group's bytes that this level moves, per group of the chips it joins */
        switch (op) {
        case COLLECTIVE_ALL_TO_ALL: /* straight to the nearest targets through this level: x inside of all chips */
            cost = level_all_to_all(level, end - first, here, limit);
            share = (here / chips) * (here * inside / chips);
            break;
        case COLLECTIVE_PERMUTE:
            cost = level_permute(level, end - first);
            share = 1;
            break;
        default: /* passes: each of the `inside` chips below takes its part across, and the levels below spread it */
            cost = level_pass(level, end - first, here, limit);
            share = 1 / inside;
        }
        inside *= here;
        whole.seconds_per_byte = max_real(whole.seconds_per_byte, share * cost.seconds_per_byte);
        whole.latency_seconds = op == COLLECTIVE_PERMUTE ? max_real(whole.latency_seconds, cost.latency_seconds)
                                                         : whole.latency_seconds + cost.latency_seconds;
    }
    double passes = op == COLLECTIVE_ALL_REDUCE ? 2 : 1;
    double latency = limit ? 0 : passes * whole.latency_seconds, per_byte = passes * whole.seconds_per_byte;
    return (CollectiveCost){.latency_seconds = {latency, 0}, .seconds_per_byte = {switched ? per_byte : 0, per_byte}};
}

CollectiveCost group_collective_cost(Collective op, const GroupAxis *axes, int count) {
    return group_cost(op, axes, count, false);
}

CollectiveCost limit_collective_cost(Collective op, const GroupAxis *axes, int count) {
    return group_cost(op, axes, count, true);
}

/* Small payloads as NCCL's tuner counts them. Between domains the group has one step for each domain but one; all other
 * steps are inside. */
static double nccl_latency(Collective op, const Mesh *mesh, const Footprint *footprint) {
    const Fabric *fabric = &mesh->fabric;
    double inside = 1, domains = 1, hop = 0, scaleout = 0;
    for (int a = 0; a < mesh->axis_count; a++) {
        double factor = (double)footprint->on[a].factor, latency = mesh->axes[a].latency_seconds;
        if (factor <= 1) continue;
        if (mesh->axes[a].level == LEVEL_NETWORK) {
            domains *= factor;
            scaleout = latency;
        } else {
            inside *= factor;
            hop = latency;
        }
    }
    if (op == COLLECTIVE_ALL_TO_ALL || op == COLLECTIVE_PERMUTE) return fabric->ring_base_seconds + hop + scaleout;
    double ring = domains * (inside - 1) * hop + (domains - 1) * scaleout;
    if (domains > 1) ring += (domains * inside - 1) * fabric->ring_step_seconds;
    if (op != COLLECTIVE_ALL_REDUCE) return fabric->ring_base_seconds + ring;
    double tree = fabric->tree_base_seconds +
                  2 * ((inside - 1) * fabric->tree_hop_seconds + floor(log2(domains)) * fabric->tree_scaleout_seconds);
    return min_real(fabric->ring_base_seconds + 2 * ring, tree);
}

/* The seconds that the uplinks of the leaves take, per byte of the collective; 0 means that nothing crosses the
 * spine. */
static double spine_seconds_per_byte(Collective op, const Mesh *mesh, const Footprint *footprint) {
    const Fabric *fabric = &mesh->fabric;
    double chips = (double)footprint_degree(mesh, footprint);
    for (int a = 0; a < mesh->axis_count; a++) {
        const Axis *axis = &mesh->axes[a];
        double f = (double)footprint->on[a].factor, s = (double)footprint->on[a].stride;
        if (axis->level != LEVEL_NETWORK || f * s <= fabric->leaf_nodes) continue;
        double uplink = axis->bytes_per_second / fabric->oversubscription;
        double neighbours = max_real(1, fabric->leaf_nodes / s); /* of one group under one leaf: below f here */
        switch (op) {
        case COLLECTIVE_ALL_TO_ALL:
            return (1 - neighbours / f) / chips / uplink;
        case COLLECTIVE_PERMUTE:
            return 1 / neighbours / uplink;
        default:
            return (op == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (f / chips) * ((f - 1) / f) / neighbours / uplink;
        }
    }
    return 0;
}

/* The time that GPUs add to their axes: a ring of NCCL needs time for its steps besides its bytes, and leaves may be
 * narrow. */
static CollectiveCost on_gpus(CollectiveCost cost, Collective op, const Mesh *mesh, const Footprint *footprint) {
    double per_byte = cost.seconds_per_byte[1];
    if (mesh->fabric.oversubscription > 1) per_byte = max_real(per_byte, spine_seconds_per_byte(op, mesh, footprint));
    double latency = mesh->fabric.ring_base_seconds > 0 ? nccl_latency(op, mesh, footprint) : cost.latency_seconds[0];
    return (CollectiveCost){.latency_seconds = {latency, 0}, .seconds_per_byte = {per_byte, per_byte}};
}

/* Whether the group is the whole slice, as a twisted torus requires. */
static bool takes_whole_slice(const Mesh *mesh, const Footprint *footprint) {
    for (int a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].level == LEVEL_ICI && footprint->on[a].factor != mesh->axes[a].size) return false;
    return true;
}

/* The copies that leave a domain, over the copies that would leave if each expert's went apart. */
static double copies_leaving(double domains, double copies) {
    return domains * (1 - pow(1 - 1 / domains, copies)) / copies;
}

CollectiveCost collective_cost(Collective op, const Mesh *mesh, const Footprint *footprint) {
    GroupAxis axes[MESH_AXES_MAX];
    int count = 0;
    const Fabric *fabric = &mesh->fabric;
    double copies = op == COLLECTIVE_DISPATCH ? fabric->routed_copies : 0;
    if (op == COLLECTIVE_DISPATCH) op = COLLECTIVE_ALL_TO_ALL;
    bool twisted = fabric->twisted_gain > 0 && op == COLLECTIVE_ALL_TO_ALL && takes_whole_slice(mesh, footprint);
    for (int a = 0; a < mesh->axis_count; a++) {
        const Axis *axis = &mesh->axes[a];
        Span span = footprint->on[a];
        if (span.factor == 1) continue; /* costs nothing */
        assert(span.factor >= 1 && span.stride >= 1 && span.factor <= axis->size / span.stride);
        bool closes = axis->kind != AXIS_RING || span.factor * span.stride == axis->size;
        axes[count++] = (GroupAxis){
            .factor = (double)span.factor,
            .stride = (double)span.stride,
            .kind = closes ? axis->kind : AXIS_LINE,
            .bytes_per_second = axis->bytes_per_second,
            .latency_seconds = axis->latency_seconds,
        };
        if (copies > 1 && axis->level == LEVEL_NETWORK)
            axes[count - 1].bytes_per_second /= copies_leaving((double)span.factor, copies);
        if (twisted && axis->kind == AXIS_RING) axes[count - 1].bytes_per_second *= fabric->twisted_gain;
    }
    if (count == 0) return (CollectiveCost){{0, 0}, {0, 0}};
    CollectiveCost cost = group_cost(op, axes, count, false);
    bool gpus = fabric->ring_base_seconds > 0 || fabric->oversubscription > 1;
    return gpus ? on_gpus(cost, op, mesh, footprint) : cost;
}

typedef struct {
    Collective op;
    const Mesh *mesh;
    Footprint footprint;
    CollectiveCost least;
    bool any;
} LeastWalk;

/* Every split of `degree` over the axes from `a` on, at stride 1. */
static void least_walk(LeastWalk *walk, int a, int64_t degree) {
    if (a == walk->mesh->axis_count) {
        if (degree != 1) return;
        CollectiveCost cost = collective_cost(walk->op, walk->mesh, &walk->footprint);
        for (int i = 0; i < 2; i++) {
            double *latency = &walk->least.latency_seconds[i], *per_byte = &walk->least.seconds_per_byte[i];
            *latency = walk->any ? min_real(*latency, cost.latency_seconds[i]) : cost.latency_seconds[i];
            *per_byte = walk->any ? min_real(*per_byte, cost.seconds_per_byte[i]) : cost.seconds_per_byte[i];
        }
        walk->any = true;
        return;
    }
    int64_t shared = common_divisor(walk->mesh->axes[a].size, degree);
    for (int64_t low = 1; low <= shared / low; low++) {
        if (shared % low) continue;
        int64_t pair[2] = {low, shared / low};
        for (int i = 0; i < (pair[0] == pair[1] ? 1 : 2); i++) {
            walk->footprint.on[a] = (Span){pair[i], 1};
            least_walk(walk, a + 1, degree / pair[i]);
        }
    }
}

/* Stride 1 gives the least cost of each factor, so strides need no walk. Within one kind of axis, rates only fall and
 * hops only grow with the stride. The kind changes in one case: factor f < size is a line at stride 1, and closes at
 * stride s = size / f >= 2, where its rate 2 W1 / s is at most W1, and its hops s floor(f / 2) >= 2 floor(f / 2) are at
 * least f - 1. Over a spine the neighbours under a leaf only grow fewer with the stride; NCCL and a twist do not depend
 * on it (a whole axis has stride 1). Rounding keeps these orders (it is monotone), so the bound needs no epsilon. */
CollectiveCost collective_cost_least(Collective op, const Mesh *mesh, int64_t degree) {
    LeastWalk walk = {.op = op, .mesh = mesh};
    if (degree >= 1) least_walk(&walk, 0, degree);
    return walk.least;
}

/* A span is a factor and a stride in one word: both are below 2^32, as axes are. */
typedef struct {
    uint64_t spans[MESH_AXES_MAX];
    uint64_t requested; /* 1 + site, and the collective; 0 means empty */
} Key;

typedef struct {
    Key key;
    CollectiveCost cost;
} Slot;

enum { SLOT_BITS = 12 };
struct CollectiveMemo {
    Slot slots[1 << SLOT_BITS]; /* direct-mapped */
};

CollectiveMemo *collective_memo_new(void) { return calloc(1, sizeof(CollectiveMemo)); }
void collective_memo_free(CollectiveMemo *memo) { free(memo); }

CollectiveCost collective_cost_kept(CollectiveMemo *memo, int site, Collective op, const Mesh *mesh,
                                    const Footprint *footprint) {
    Key key = {.requested = (uint64_t)(site + 1) << 8 | (uint64_t)op};
    uint64_t hash = key.requested;
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        key.spans[axis] = (uint64_t)footprint->on[axis].factor << 32 | (uint64_t)footprint->on[axis].stride;
        hash = (hash ^ key.spans[axis]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    Slot *slot = &memo->slots[(hash * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS)];
    if (memcmp(&slot->key, &key, sizeof key) != 0) {
        slot->key = key;
        slot->cost = collective_cost(op, mesh, footprint);
    }
    return slot->cost;
}
