/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "benchmarks/kernel/evaluate.h"

#include "cost/time/slack.h"
#include "cost/time/step_terms.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void kernel_lanes_clear(KernelLanes *lanes) { memset(lanes, 0, sizeof(*lanes)); }

/* Of a group that moves nothing all numbers stay zero: it adds nothing wherever it lies. */
static void add_group(KernelLanes *lanes, int lane, const StepRule *rule, const Resources *resources, int group) {
    Traffic traffic[PHASE_COUNT];
    bool moves = false;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        traffic[phase] = step_traffic(rule, resources, group, phase);
        moves = moves || traffic[phase].messages > 0 || traffic[phase].bytes > 0;
    }
    if (!moves) return;
    lanes->groups.moving |= 1u << group;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        lanes->messages[group][phase][lane] = traffic[phase].messages;
        lanes->bytes[group][phase][lane] = traffic[phase].bytes;
    }
    for (int far = 0; far < 2; far++) {
        StepTerm term = step_term(rule, group, far);
        lanes->share[group][far][lane] = term.exposed;
        lanes->hidden[group][far][lane] = term.hidden;
        if (term.hidden != 0) lanes->groups.hiding |= 1u << group;
        for (int phase = 0; phase < PHASE_COUNT && group == GROUP_SEQUENCE; phase++)
            lanes->minus[far][phase][lane] =
                term.ring ? term.hidden * resources->of[RES_ATTENTION_FORWARD + phase] : INFINITY;
    }
}

void kernel_lanes_add(KernelLanes *lanes, const StepRule *rule, const Relaxation *relaxation, int row) {
    assert(lanes->count < KERNEL_LANES && row < relaxation->rows);
    const Resources *resources = &relaxation->row[row].resources;
    int lane = lanes->count++;
    StepTerm compute = step_compute_term(rule);
    double seconds[PHASE_COUNT], offload = step_pcie_seconds(rule, resources);
    bool serial = relaxation->row[row].serial_weight > 0;
    for (int group = 0; group < GROUP_COUNT; group++) add_group(lanes, lane, rule, resources, group);
    for (unsigned second = serial ? relaxation->row[row].second_piece : 0; second; second &= second - 1)
        lanes->second[__builtin_ctz(second)][lane] = 1;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        lanes->compute[phase][lane] = seconds[phase] = step_compute_seconds(resources, phase);
        lanes->idle[phase][lane] = compute.idle[phase];
    }
    lanes->microbatches[lane] = rule->microbatches;
    lanes->pairs[lane] = compute.pairs;
    lanes->part[0][lane] = term_part_a(&compute, seconds);
    lanes->part[1][lane] = seconds[1];
    lanes->saved[lane] = rule->bubble_saved_seconds;
    lanes->optimizer[lane] = rule->optimizer_seconds;
    lanes->other[lane] = rule->other_seconds;
    lanes->offload[lane] = offload;
    lanes->offload_exposed[lane] = rule->host_exposed * offload;
    lanes->serial_weight[lane] = serial ? relaxation->row[row].serial_weight : 0;
    lanes->serial_constant[lane] = serial ? relaxation->row[row].serial_constant : -INFINITY;
    lanes->any_serial = lanes->any_serial || serial;
    lanes->any_offload = lanes->any_offload || offload > 0;
}

/* The loops: each takes the lanes through one kind of number of a program; what they add and in which order is that of
 * step_seconds(), so that they give its bits. Internal to evaluate.c. */

/* What a leaf adds: to the exposed sum of its kind, of critical groups by phase; to that of the second bound; and to
 * the parts A and B of the axes of its group. */
typedef struct {
    KernelNumbers exposed[PHASE_COUNT], serial[PHASE_COUNT], hidden[2];
} LeafSeconds;

/* A critical sum: exposed seconds by phase, of the step and of the second bound. Then, of each: what they take over all
 * microbatches, and the bubble with them in it. */
typedef struct {
    KernelNumbers step[2], serial[2];
} CriticalSeconds;

typedef struct {
    KernelNumbers step, serial;
} BackgroundSeconds;

/* What keeps an axis busy in parts A and B. */
typedef struct {
    KernelNumbers of[2];
} AxisSeconds;

/* All numbers of one program. */
typedef struct {
    LeafSeconds *leaf;             /* [leaf] */
    CriticalSeconds *critical;     /* [critical sum] */
    BackgroundSeconds *background; /* [background sum] */
    AxisSeconds *axis;             /* [sum of an axis] */
} KernelSums;

/* One binary, fast everywhere: the loops below in the widest form that the processor has. They add in the same order in
 * every form, and nothing is contracted, so that all give the same bits. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define WIDE
#endif
#define INLINE static inline __attribute__((always_inline))
#define EACH_LANE _Pragma("omp simd") for (int k = 0; k < KERNEL_LANES; k++)

INLINE double larger(double a, double b) { return a > b ? a : b; }

/* What a loop over leaves knows of their group before it begins. */
typedef struct {
    bool critical, once, ring; /* as in StepTerm */
    bool hides, serial;        /* a share of it hides; some row has a second bound */
} LeafKind;

/* The leaves of one group: what each cost makes of what the rows move. */
INLINE void group_leaves(const KernelProgram *program, const KernelLanes *lanes, const int group, const LeafKind kind,
                         LeafSeconds *restrict leaf) {
    for (int32_t i = program->leaf_from[group]; i < program->leaf_from[group + 1]; i++) {
        const KernelLeaf *of = &program->leaf[i];
        LeafSeconds *to = &leaf[i];
        const double late[2] = {of->cost.latency_seconds[0], of->cost.latency_seconds[1]};
        const double slow[2] = {of->cost.seconds_per_byte[0], of->cost.seconds_per_byte[1]};
        const int far = of->far;
        const double(*messages)[KERNEL_LANES] = lanes->messages[group], (*bytes)[KERNEL_LANES] = lanes->bytes[group];
        const double(*minus)[KERNEL_LANES] = lanes->minus[far], *second = lanes->second[group];
        EACH_LANE {
            double share = lanes->share[group][far][k], hidden = lanes->hidden[group][far][k], pairs = lanes->pairs[k];
            double x0 = messages[0][k] * late[0] + bytes[0][k] * slow[0],
                   y0 = messages[0][k] * late[1] + bytes[0][k] * slow[1],
                   x1 = messages[1][k] * late[0] + bytes[1][k] * slow[0],
                   y1 = messages[1][k] * late[1] + bytes[1][k] * slow[1];
            double first = larger(x0, y0), last = larger(x1, y1);
            double piece0 = kind.once       ? first
                            : second[k] > 0 ? y0
                                            : x0,
                   piece1 = kind.once       ? last
                            : second[k] > 0 ? y1
                                            : x1;
            double a = kind.once ? first : pairs * (first + last) + first,
                   in_series = kind.once ? piece0 : pairs * (piece0 + piece1) + piece0;
            to->exposed[0][k] = !kind.critical ? share * (a + last)
                                : kind.ring    ? larger(share * first, first - minus[0][k])
                                               : share * first;
            if (kind.critical) to->exposed[1][k] = kind.ring ? larger(share * last, last - minus[1][k]) : share * last;
            if (kind.hides) to->hidden[0][k] = hidden * a, to->hidden[1][k] = hidden * last;
            if (!kind.serial) continue;
            to->serial[0][k] = !kind.critical ? share * (in_series + piece1)
                               : kind.ring    ? larger(share * piece0, piece0 - minus[0][k])
                                              : share * piece0;
            if (kind.critical)
                to->serial[1][k] = kind.ring ? larger(share * piece1, piece1 - minus[1][k]) : share * piece1;
        }
    }
}

INLINE void kind_leaves(const KernelProgram *program, const KernelLanes *lanes, int group, LeafKind kind,
                        LeafSeconds *leaf) {
    if (kind.hides && kind.serial)
        group_leaves(program, lanes, group, (LeafKind){kind.critical, kind.once, kind.ring, true, true}, leaf);
    else if (kind.hides)
        group_leaves(program, lanes, group, (LeafKind){kind.critical, kind.once, kind.ring, true, false}, leaf);
    else if (kind.serial)
        group_leaves(program, lanes, group, (LeafKind){kind.critical, kind.once, kind.ring, false, true}, leaf);
    else
        group_leaves(program, lanes, group, (LeafKind){kind.critical, kind.once, kind.ring, false, false}, leaf);
}

WIDE static void critical_leaves(const KernelProgram *program, const KernelLanes *lanes, int group, LeafKind kind,
                                 LeafSeconds *leaf) {
    kind_leaves(program, lanes, group, (LeafKind){true, false, false, kind.hides, kind.serial}, leaf);
}

WIDE static void ring_leaves(const KernelProgram *program, const KernelLanes *lanes, int group, LeafKind kind,
                             LeafSeconds *leaf) {
    kind_leaves(program, lanes, group, (LeafKind){true, false, true, kind.hides, kind.serial}, leaf);
}

WIDE static void background_leaves(const KernelProgram *program, const KernelLanes *lanes, int group, LeafKind kind,
                                   LeafSeconds *leaf) {
    kind_leaves(program, lanes, group, (LeafKind){false, false, false, kind.hides, kind.serial}, leaf);
}

WIDE static void once_leaves(const KernelProgram *program, const KernelLanes *lanes, int group, LeafKind kind,
                             LeafSeconds *leaf) {
    kind_leaves(program, lanes, group, (LeafKind){false, true, false, kind.hides, kind.serial}, leaf);
}

/* `serial` false: no row has a second bound, and no number of it is made. */
static void sums_leaves(const KernelProgram *program, const KernelLanes *lanes, bool serial, KernelSums *sums) {
    for (int group = 0; group < GROUP_COUNT; group++) {
        LeafKind kind = {.hides = program->groups.hiding >> group & 1, .serial = serial};
        if (group == GROUP_SEQUENCE)
            ring_leaves(program, lanes, group, kind, sums->leaf);
        else if (step_moves_once(group))
            once_leaves(program, lanes, group, kind, sums->leaf);
        else if (group >= GROUP_WEIGHTS)
            background_leaves(program, lanes, group, kind, sums->leaf);
        else
            critical_leaves(program, lanes, group, kind, sums->leaf);
    }
}

/* Exposed seconds by phase as what they take over all microbatches, and the bubble with them in it. */
INLINE void close_critical(const KernelLanes *lanes, double *forward, double *backward) {
    EACH_LANE {
        double first = forward[k], last = backward[k];
        forward[k] = lanes->microbatches[k] * (first + last);
        backward[k] = lanes->idle[0][k] * (lanes->compute[0][k] + first) +
                      lanes->idle[1][k] * (lanes->compute[1][k] + last) - lanes->saved[k];
    }
}

INLINE void critical(const KernelProgram *program, const KernelLanes *lanes, const bool serial, const LeafSeconds *leaf,
                     CriticalSeconds *to) {
    for (int phase = 0; phase < PHASE_COUNT; phase++) EACH_LANE to[0].step[phase][k] = to[0].serial[phase][k] = 0;
    for (int32_t i = 1; i < program->critical.count; i++) {
        Pair sum = program->critical.pair[i];
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            EACH_LANE to[i].step[phase][k] = to[sum.first].step[phase][k] + leaf[sum.second].exposed[phase][k];
            if (serial)
                EACH_LANE to[i].serial[phase][k] = to[sum.first].serial[phase][k] + leaf[sum.second].serial[phase][k];
        }
    }
    for (int32_t i = 0; i < program->critical.count; i++) {
        close_critical(lanes, to[i].step[0], to[i].step[1]);
        if (serial) close_critical(lanes, to[i].serial[0], to[i].serial[1]);
    }
}

static WIDE void sums_critical(const KernelProgram *program, const KernelLanes *lanes, bool serial, KernelSums *sums) {
    if (serial)
        critical(program, lanes, true, sums->leaf, sums->critical);
    else
        critical(program, lanes, false, sums->leaf, sums->critical);
}

static WIDE void sums_background(const KernelProgram *program, bool serial, KernelSums *sums) {
    BackgroundSeconds *to = sums->background;
    EACH_LANE to[0].step[k] = to[0].serial[k] = 0;
    for (int32_t i = 1; i < program->background.count; i++) {
        Pair sum = program->background.pair[i];
        const LeafSeconds *leaf = &sums->leaf[sum.second];
        EACH_LANE to[i].step[k] = to[sum.first].step[k] + leaf->exposed[0][k];
        if (serial) EACH_LANE to[i].serial[k] = to[sum.first].serial[k] + leaf->serial[0][k];
    }
}

/* Whether an axis of some row may be busy for longer than compute in part A or B. False: no sum of an axis is needed
 * for. */
static WIDE bool sums_pass_compute(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums) {
    KernelNumbers most[GROUP_COUNT][2];
    for (int group = 0; group < GROUP_COUNT; group++) {
        KernelNumbers a = {0}, b = {0};
        bool hides = program->groups.hiding >> group & 1;
        for (int32_t i = program->leaf_from[group]; hides && i < program->leaf_from[group + 1]; i++) {
            const LeafSeconds *leaf = &sums->leaf[i];
            EACH_LANE {
                a[k] = leaf->hidden[0][k] > a[k] ? leaf->hidden[0][k] : a[k];
                b[k] = leaf->hidden[1][k] > b[k] ? leaf->hidden[1][k] : b[k];
            }
        }
        EACH_LANE most[group][0][k] = a[k], most[group][1][k] = b[k];
    }
    double passes = 0;
    for (int i = 0; i < program->set_count; i++) {
        KernelNumbers a = {0}, b = {0};
        for (unsigned groups = program->set[i]; groups; groups &= groups - 1) {
            int group = __builtin_ctz(groups);
            EACH_LANE a[k] += most[group][0][k], b[k] += most[group][1][k];
        }
        _Pragma("omp simd reduction(+ : passes)") for (int k = 0; k < KERNEL_LANES; k++) passes +=
            a[k] > lanes->part[0][k] || b[k] > lanes->part[1][k] ? 1 : 0;
    }
    return passes > 0;
}

static WIDE void sums_axes(const KernelProgram *program, KernelSums *sums) {
    AxisSeconds *axis = sums->axis;
    EACH_LANE axis[0].of[0][k] = axis[0].of[1][k] = 0;
    for (int32_t i = 1; i < program->axis.count; i++) {
        const AxisSeconds *before = &axis[program->axis.pair[i].first];
        const LeafSeconds *leaf = &sums->leaf[program->axis.pair[i].second];
        EACH_LANE {
            axis[i].of[0][k] = before->of[0][k] + leaf->hidden[0][k];
            axis[i].of[1][k] = before->of[1][k] + leaf->hidden[1][k];
        }
    }
}

/* What a loop over classes knows of them before it begins. */
typedef struct {
    bool serial, offload;
    int axes;
} Kind;

/* The second bound of an exposed pair: everything in series. */
INLINE void serial_bound(const KernelLanes *lanes, const CriticalSeconds *critical, const BackgroundSeconds *background,
                         double *to) {
    EACH_LANE {
        double main = critical->serial[0][k] + background->serial[k] + lanes->part[0][k] + lanes->part[1][k];
        double step = main + critical->serial[1][k] + lanes->optimizer[k] + lanes->other[k];
        to[k] = (lanes->serial_weight[k] * step + lanes->serial_constant[k]) * SLACK;
    }
}

/* The loop over classes: what an exposed pair has is made once for all of its classes. */
INLINE void classes(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums, const Kind kind,
                    double *restrict least, KernelNumbers *restrict seconds) {
    KernelNumbers best, optimizer, other, compute[2];
    EACH_LANE {
        best[k] = INFINITY, optimizer[k] = lanes->optimizer[k], other[k] = lanes->other[k];
        compute[0][k] = lanes->part[0][k], compute[1][k] = lanes->part[1][k];
    }
    for (int32_t pair = 1; pair < program->exposed.count; pair++) {
        const CriticalSeconds *critical = &sums->critical[program->exposed.pair[pair].first];
        const BackgroundSeconds *background = &sums->background[program->exposed.pair[pair].second];
        KernelNumbers exposed, bubble, second;
        EACH_LANE exposed[k] = critical->step[0][k] + background->step[k], bubble[k] = critical->step[1][k];
        if (kind.serial) serial_bound(lanes, critical, background, second);
        for (int32_t i = program->class_from[pair]; i < program->class_from[pair + 1]; i++) {
            const int32_t *on = program->class_axis + (int64_t)i * kind.axes;
            EACH_LANE {
                double a = compute[0][k], b = compute[1][k];
                _Pragma("GCC unroll 5") for (int axis = 0; axis < kind.axes; axis++) {
                    const AxisSeconds *busy = &sums->axis[on[axis]];
                    a = a > busy->of[0][k] ? a : busy->of[0][k];
                    b = b > busy->of[1][k] ? b : busy->of[1][k];
                }
                double main = exposed[k] + a + b;
                if (kind.offload) {
                    double longer = main + lanes->offload_exposed[k], host = lanes->offload[k];
                    main = longer > host ? longer : host;
                }
                double step = main + bubble[k] + optimizer[k] + other[k];
                if (kind.serial) step = step > second[k] ? step : second[k];
                best[k] = step < best[k] ? step : best[k];
                if (seconds) seconds[i][k] = step;
            }
        }
    }
    EACH_LANE least[k] = best[k];
}

INLINE void exposed(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums, const bool serial,
                    double *restrict least) {
    KernelNumbers best;
    EACH_LANE best[k] = INFINITY;
    for (int32_t pair = 1; pair < program->exposed.count; pair++) {
        const CriticalSeconds *critical = &sums->critical[program->exposed.pair[pair].first];
        const BackgroundSeconds *background = &sums->background[program->exposed.pair[pair].second];
        KernelNumbers second;
        if (serial) serial_bound(lanes, critical, background, second);
        EACH_LANE {
            double main = critical->step[0][k] + background->step[k] + lanes->part[0][k] + lanes->part[1][k];
            double longer = main + lanes->offload_exposed[k], host = lanes->offload[k];
            main = longer > host ? longer : host;
            double step = main + critical->step[1][k] + lanes->optimizer[k] + lanes->other[k];
            if (serial) step = step > second[k] ? step : second[k];
            best[k] = step < best[k] ? step : best[k];
        }
    }
    EACH_LANE least[k] = best[k];
}

/* The least of each lane over all exposed pairs, where no part is beyond its compute; and over all classes, where
 * `seconds` is not NULL with that of each. */
static WIDE void sums_exposed(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums,
                              double *least) {
    if (lanes->any_serial)
        exposed(program, lanes, sums, true, least);
    else
        exposed(program, lanes, sums, false, least);
}

/* A loop for each number of axes: the compiler unrolls it. */
#define FOR_AXES(serial, offload, to)                                                                                  \
    switch (program->axes_most) {                                                                                      \
    case 0:                                                                                                            \
        classes(program, lanes, sums, (Kind){serial, offload, 0}, least, to);                                          \
        break;                                                                                                         \
    case 1:                                                                                                            \
        classes(program, lanes, sums, (Kind){serial, offload, 1}, least, to);                                          \
        break;                                                                                                         \
    case 2:                                                                                                            \
        classes(program, lanes, sums, (Kind){serial, offload, 2}, least, to);                                          \
        break;                                                                                                         \
    case 3:                                                                                                            \
        classes(program, lanes, sums, (Kind){serial, offload, 3}, least, to);                                          \
        break;                                                                                                         \
    case 4:                                                                                                            \
        classes(program, lanes, sums, (Kind){serial, offload, 4}, least, to);                                          \
        break;                                                                                                         \
    default:                                                                                                           \
        classes(program, lanes, sums, (Kind){serial, offload, 5}, least, to);                                          \
        break;                                                                                                         \
    }
_Static_assert(MESH_AXES_MAX == 5, "FOR_AXES names them");

WIDE static void classes_plain(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums,
                               double *least){FOR_AXES(false, false, NULL)}

WIDE static void classes_serial(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums,
                                double *least){FOR_AXES(true, false, NULL)}

/* Where every class is wanted, or something is offloaded: rare, so that one loop does for all numbers of axes. */
WIDE static void classes_any(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums,
                             double *least, KernelNumbers *seconds) {
    if (lanes->any_serial)
        classes(program, lanes, sums, (Kind){true, true, program->axes_most}, least, seconds);
    else
        classes(program, lanes, sums, (Kind){false, true, program->axes_most}, least, seconds);
}

static void sums_classes(const KernelProgram *program, const KernelLanes *lanes, const KernelSums *sums, double *least,
                         KernelNumbers *seconds) {
    if (seconds || lanes->any_offload)
        classes_any(program, lanes, sums, least, seconds);
    else
        (lanes->any_serial ? classes_serial : classes_plain)(program, lanes, sums, least);
}

void kernel_room_free(KernelRoom *room) {
    free(room->memory);
    *room = (KernelRoom){0};
}

/* Lays the numbers of a program out in the room. */
static bool lay_out(const KernelProgram *program, KernelRoom *room, KernelSums *out) {
    size_t leaves = (size_t)program->leaf_count * sizeof(LeafSeconds),
           critical = (size_t)program->critical.count * sizeof(CriticalSeconds),
           background = (size_t)program->background.count * sizeof(BackgroundSeconds),
           axis = (size_t)program->axis.count * sizeof(AxisSeconds), size = leaves + critical + background + axis;
    if (size > room->size) {
        kernel_room_free(room);
        room->memory = aligned_alloc(64, 2 * size); /* all sizes are multiples of 64 */
        if (!room->memory) return false;
        room->size = 2 * size;
    }
    char *at = room->memory;
    *out = (KernelSums){.leaf = (LeafSeconds *)at,
                        .critical = (CriticalSeconds *)(at + leaves),
                        .background = (BackgroundSeconds *)(at + leaves + critical),
                        .axis = (AxisSeconds *)(at + leaves + critical + background)};
    return true;
}

bool kernel_evaluate(const KernelProgram *program, const KernelLanes *lanes, KernelRoom *room,
                     double least[KERNEL_LANES], KernelNumbers *seconds) {
    assert(kernel_groups_hold(program->groups, lanes->groups));
    KernelSums sums;
    if (!lay_out(program, room, &sums)) return false;
    bool serial = lanes->any_serial;
    sums_leaves(program, lanes, serial, &sums);
    sums_critical(program, lanes, serial, &sums);
    sums_background(program, serial, &sums);
    if (!seconds && !sums_pass_compute(program, lanes, &sums)) {
        sums_exposed(program, lanes, &sums, least);
        return true;
    }
    sums_axes(program, &sums);
    sums_classes(program, lanes, &sums, least, seconds);
    return true;
}
