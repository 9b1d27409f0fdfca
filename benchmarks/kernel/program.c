/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "benchmarks/kernel/evaluate.h"

#include "cost/time/step_terms.h"

#include <string.h>

enum { PAIR_SLOTS_FIRST = 256 };

static uint32_t pair_slot(const Pairs *pairs, Pair pair) {
    uint64_t mixed = ((uint64_t)(uint32_t)pair.first << 32 | (uint32_t)pair.second) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(mixed >> 32) & (pairs->slot_count - 1);
}

/* Slots hold numbers; 0, the empty chain, stands for none. They are at most half full, so that one is always empty. */
static void put_pair(Pairs *pairs, int32_t number) {
    uint32_t slot = pair_slot(pairs, pairs->pair[number]);
    while (pairs->slots[slot] != 0) slot = (slot + 1) & (pairs->slot_count - 1);
    pairs->slots[slot] = number;
}

static bool grow(Pairs *pairs, uint32_t slots, Arena *arena) {
    Pair *larger = ARENA_NEW(arena, Pair, slots / 2);
    pairs->slots = ARENA_NEW(arena, int32_t, slots);
    if (!larger || !pairs->slots) return false;
    if (pairs->count > 0) memcpy(larger, pairs->pair, (size_t)pairs->count * sizeof(Pair));
    pairs->pair = larger;
    pairs->slot_count = slots;
    for (int32_t number = 1; number < pairs->count; number++) put_pair(pairs, number);
    return true;
}

bool pairs_begin(Pairs *pairs, Arena *arena) {
    *pairs = (Pairs){0};
    if (!grow(pairs, PAIR_SLOTS_FIRST, arena)) return false;
    pairs->count = 1;
    return true;
}

int32_t pairs_number(Pairs *pairs, Pair pair, Arena *arena) {
    for (uint32_t slot = pair_slot(pairs, pair); pairs->slots[slot] != 0; slot = (slot + 1) & (pairs->slot_count - 1)) {
        int32_t number = pairs->slots[slot];
        if (pairs->pair[number].first == pair.first && pairs->pair[number].second == pair.second) return number;
    }
    if (pairs->count >= INT32_MAX / 4) return -1;
    if ((uint32_t)pairs->count == pairs->slot_count / 2 && !grow(pairs, 2 * pairs->slot_count, arena)) return -1;
    pairs->pair[pairs->count] = pair;
    put_pair(pairs, pairs->count);
    return pairs->count++;
}

/* Leaves of one group as they come: a table of their numbers by cost. */
enum { SLOTS_FIRST = 64 };
typedef struct {
    KernelProgram *program;
    Arena *arena;
    int32_t leaf_room;
    int32_t *slots; /* 0: none */
    uint32_t slot_count;
    Pairs parts;   /* the axes of a placement: `first` those before, `second` the sum of one more */
    Pairs classes; /* exposed pair and part */
    uint32_t noted[(1u << GROUP_COUNT) / 32]; /* sets of groups that are in the program */
    int32_t *leaf_of;                         /* [group][placement]; 0: the group costs nothing */
} Builder;

static uint32_t slot_of(const Builder *builder, const CollectiveCost *cost, bool far) {
    uint64_t words[4], mixed = far;
    _Static_assert(sizeof words == sizeof *cost, "two affine pieces");
    memcpy(words, cost, sizeof words);
    for (int i = 0; i < 4; i++) mixed = (mixed ^ words[i] ^ mixed >> 29) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(mixed >> 32) & (builder->slot_count - 1);
}

static void put(Builder *builder, int32_t number) {
    const KernelLeaf *leaf = &builder->program->leaf[number];
    uint32_t slot = slot_of(builder, &leaf->cost, leaf->far);
    while (builder->slots[slot] != 0) slot = (slot + 1) & (builder->slot_count - 1);
    builder->slots[slot] = number;
}

/* Empty slots for leaves from `first` on, which are put into them. */
static bool renew_slots(Builder *builder, uint32_t count, int32_t first) {
    if (count > builder->slot_count) {
        builder->slots = ARENA_NEW(builder->arena, int32_t, count);
        if (!builder->slots) return false;
        builder->slot_count = count;
    } else {
        memset(builder->slots, 0, builder->slot_count * sizeof(int32_t));
    }
    for (int32_t number = first; number < builder->program->leaf_count; number++) put(builder, number);
    return true;
}

static bool leaf_room(Builder *builder) {
    KernelProgram *program = builder->program;
    if (program->leaf_count < builder->leaf_room) return true;
    int32_t room = 2 * builder->leaf_room + SLOTS_FIRST;
    KernelLeaf *larger = ARENA_NEW(builder->arena, KernelLeaf, (size_t)room);
    if (!larger) return false;
    if (builder->leaf_room > 0) memcpy(larger, program->leaf, (size_t)program->leaf_count * sizeof(KernelLeaf));
    program->leaf = larger;
    builder->leaf_room = room;
    return true;
}

/* The leaf of a cost of the group whose leaves begin at `first`; negative: memory is out. */
static int32_t leaf_number(Builder *builder, int32_t first, KernelLeaf leaf) {
    KernelProgram *program = builder->program;
    for (uint32_t slot = slot_of(builder, &leaf.cost, leaf.far); builder->slots[slot] != 0;
         slot = (slot + 1) & (builder->slot_count - 1)) {
        const KernelLeaf *own = &program->leaf[builder->slots[slot]];
        if (own->far == leaf.far && memcmp(&own->cost, &leaf.cost, sizeof(leaf.cost)) == 0) return builder->slots[slot];
    }
    if (!leaf_room(builder)) return -1;
    uint32_t held = (uint32_t)(program->leaf_count - first);
    program->leaf[program->leaf_count++] = leaf;
    if (2 * (held + 1) > builder->slot_count)
        return renew_slots(builder, 2 * builder->slot_count, first) ? program->leaf_count - 1 : -1;
    put(builder, program->leaf_count - 1);
    return program->leaf_count - 1;
}

static bool costs_nothing(const CollectiveCost *cost) {
    return cost->latency_seconds[0] == 0 && cost->latency_seconds[1] == 0 && cost->seconds_per_byte[0] == 0 &&
           cost->seconds_per_byte[1] == 0;
}

/* Finds the leaves of all groups that move. */
static bool number_leaves(Builder *builder, const Rates *rates, int64_t count) {
    KernelProgram *program = builder->program;
    program->leaf_count = 1;
    for (int group = 0; group < GROUP_COUNT; group++) {
        int32_t first = program->leaf_from[group] = program->leaf_count,
                *of = builder->leaf_of + (int64_t)group * count;
        if (!(program->groups.moving >> group & 1)) continue;
        if (!renew_slots(builder, SLOTS_FIRST, first)) return false;
        for (int64_t i = 0; i < count; i++) {
            KernelLeaf leaf = {rates[i].cost[group], group, rates[i].leaves_scale_up >> group & 1};
            if (costs_nothing(&leaf.cost)) continue;
            of[i] = leaf_number(builder, first, leaf);
            if (of[i] < 0) return false;
        }
    }
    program->leaf_from[GROUP_COUNT] = program->leaf_count;
    return true;
}

/* The sum of leaves of the groups in `groups`; negative: memory is out. */
static int32_t sum_of(const Builder *builder, int64_t placement, unsigned groups, Pairs *sums) {
    int32_t sum = 0;
    for (; groups && sum >= 0; groups &= groups - 1) {
        int32_t leaf = builder->leaf_of[__builtin_ctz(groups) * builder->program->placement_count + placement];
        if (leaf > 0) sum = pairs_number(sums, (Pair){sum, leaf}, builder->arena);
    }
    return sum;
}

/* Notes groups that lie on one axis together. */
static void note_set(Builder *builder, unsigned groups) {
    KernelProgram *program = builder->program;
    uint32_t *word = &builder->noted[groups >> 5], bit = 1u << (groups & 31);
    if (*word & bit) return;
    *word |= bit;
    program->set[program->set_count++] = groups;
}

/* The groups that hide on each axis of a placement, without axes whose groups all lie on another one too: what keeps
 * such an axis busy is a part of what keeps the other busy, in the same order, so it is no longer, to the last bit. */
static int busiest_axes(const Rates *rates, unsigned hiding, unsigned out[MESH_AXES_MAX]) {
    unsigned on[MESH_AXES_MAX] = {0};
    int count = 0;
    for (unsigned left = hiding; left; left &= left - 1) {
        int group = __builtin_ctz(left);
        for (unsigned axes = rates->axes[group]; axes; axes &= axes - 1) on[__builtin_ctz(axes)] |= 1u << group;
    }
    for (int axis = 0; axis < rates->axis_count; axis++) {
        bool covered = on[axis] == 0;
        for (int other = 0; other < rates->axis_count && !covered; other++)
            covered = !(on[axis] & ~on[other]) && (on[axis] != on[other] || other < axis) && other != axis;
        if (!covered) out[count++] = on[axis];
    }
    return count;
}

/* The busiest of the axes; negative: memory is out. Their order does not matter to it, so it is that of numbers. */
static int32_t part_of(Builder *builder, int64_t placement, const Rates *rates) {
    KernelProgram *program = builder->program;
    unsigned on[MESH_AXES_MAX];
    int32_t sums[MESH_AXES_MAX], part = 0;
    int axes = busiest_axes(rates, program->groups.hiding & program->groups.moving, on), count = 0;
    for (int axis = 0; axis < axes; axis++) {
        note_set(builder, on[axis]);
        int32_t sum = sum_of(builder, placement, on[axis], &program->axis);
        if (sum < 0) return -1;
        int at = count++;
        for (; at > 0 && sums[at - 1] > sum; at--) sums[at] = sums[at - 1];
        sums[at] = sum;
    }
    if (count > program->axes_most) program->axes_most = count;
    for (int i = 0; i < count && part >= 0; i++)
        part = pairs_number(&builder->parts, (Pair){part, sums[i]}, builder->arena);
    return part;
}

static bool number_classes(Builder *builder, const Rates *rates, int64_t count) {
    KernelProgram *program = builder->program;
    unsigned critical = ((1u << GROUP_WEIGHTS) - 1) & program->groups.moving,
             background = program->groups.moving & ~critical;
    for (int64_t i = 0; i < count; i++) {
        Pair exposed = {sum_of(builder, i, critical, &program->critical),
                        sum_of(builder, i, background, &program->background)};
        int32_t part = part_of(builder, i, &rates[i]);
        if (exposed.first < 0 || exposed.second < 0 || part < 0) return false;
        Pair class = {pairs_number(&program->exposed, exposed, builder->arena), part};
        if (class.first < 0) return false;
        program->class_of[i] = pairs_number(&builder->classes, class, builder->arena);
        if (program->class_of[i] < 0) return false;
    }
    return true;
}

/* Puts classes in the order of their exposed pairs, and forgets the empty pair's number. */
static bool sort_classes(Builder *builder) {
    KernelProgram *program = builder->program;
    const Pairs *classes = &builder->classes;
    int32_t *place = ARENA_NEW(builder->arena, int32_t, (size_t)classes->count);
    program->class_count = classes->count - 1;
    program->class_from = ARENA_NEW(builder->arena, int32_t, (size_t)program->exposed.count + 2);
    program->class_axis = ARENA_NEW(builder->arena, int32_t, (size_t)classes->count * (size_t)program->axes_most);
    if (!place || !program->class_from || !program->class_axis) return false;
    int32_t *from = program->class_from;
    for (int32_t i = 1; i < classes->count; i++) from[classes->pair[i].first + 2]++;
    for (int32_t e = 2; e <= program->exposed.count; e++) from[e] += from[e - 1];
    for (int32_t i = 1; i < classes->count; i++) {
        place[i] = from[classes->pair[i].first + 1]++;
        int32_t part = classes->pair[i].second, *axis = program->class_axis + (int64_t)place[i] * program->axes_most;
        for (; part > 0; part = builder->parts.pair[part].first) *axis++ = builder->parts.pair[part].second;
    }
    for (int64_t i = 0; i < program->placement_count; i++) program->class_of[i] = place[program->class_of[i]];
    return true;
}

bool kernel_program(const Rates *rates, int64_t count, KernelGroups groups, Arena *arena, KernelProgram *out,
                    Error *error) {
    *out = (KernelProgram){.groups = groups, .placement_count = count};
    Builder builder = {.program = out, .arena = arena};
    out->class_of = ARENA_NEW(arena, int32_t, (size_t)count);
    builder.leaf_of = ARENA_NEW(arena, int32_t, (size_t)count * GROUP_COUNT);
    out->set = ARENA_NEW(arena, unsigned, (size_t)1 << GROUP_COUNT);
    bool ok = out->class_of && builder.leaf_of && out->set && leaf_room(&builder);
    Pairs *all[] = {&out->critical, &out->background, &out->axis, &out->exposed, &builder.parts, &builder.classes};
    for (size_t i = 0; ok && i < COUNT_OF(all); i++) ok = pairs_begin(all[i], arena);
    ok =
        ok && number_leaves(&builder, rates, count) && number_classes(&builder, rates, count) && sort_classes(&builder);
    return ok || error_memory(error);
}
