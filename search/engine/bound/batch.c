/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row of a relaxation is a constant and a sum of terms: one for each lane and phase of the table of terms
 * (cost/time/step_terms.h) that moves anything. What the knob setting makes of them is decided once; then blocks of
 * placements are added up:
 *   step   = constant + sum of exposed seconds + A + B; A and B are constant where nothing of the block can be busy for
 *            longer than compute;
 *   serial = constant + a linear sum; it is left out where nothing of the block can reach the step. */
#include "search/engine/bound/batch.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "cost/time/step_terms.h"
#include "search/engine/bound/batch_loops.h"

#include <math.h>
#include <string.h>

enum { TERMS_MAX = 2 * LANES_MAX, SCALED_MAX = 2 * LANES_MAX };

/* Seconds of a lane in one phase, or in both where one is a multiple of the other; and how often they count. */
typedef struct {
    const Lane *lane;
    RateForm form;
    bool once; /* the lane moves once a step, not once a microbatch */
    double messages, bytes;
    double exposed;   /* in the step */
    double idle;      /* of it in the bubble */
    double hidden[2]; /* in parts A and B */
} Term;

/* Ring attention: times * max(share t, t - minus), of which `idle` times are the bubble's. */
typedef struct {
    const Lane *lane;
    double messages, bytes, share, minus, times, idle;
} Ring;

/* One row for any placement of the table. */
typedef struct {
    Term terms[TERMS_MAX];
    Ring rings[PHASE_COUNT * 2];
    int term_count, ring_count;
    unsigned forms;      /* of the terms */
    double constant;     /* of the step, without parts A and B */
    double part[2];      /* compute of A and B */
    double pcie;         /* with the constant, where offloading is required; else 0 */
    double exposed_pcie; /* the share of it that nothing hides */
    /* The second bound, weighed; none where serial_weight is 0. */
    double serial_weight, serial_factor, serial_constant, serial_start;
    unsigned second;
    struct {
        const double *of, *most; /* [placement], [block] */
        double factor;
    } serial[SCALED_MAX];
    int serial_count;
} RowSums;

static bool moves(Traffic traffic) { return traffic.messages > 0 || traffic.bytes > 0; }

static RateForm lane_form(const Lane *lane) {
    if (lane->one_piece) return FORM_FIRST;
    if (lane->rate[2]) return FORM_FOUR;
    return lane->rate[1] ? FORM_THREE : FORM_LARGER;
}

/* One phase of a row of the table of terms; what a ring exposes is added apart. */
static Term phase_term(const StepTerm *of, const Lane *lane, int phase, Traffic traffic) {
    Term term = {
        .lane = lane, .form = lane_form(lane), .once = of->once, .messages = traffic.messages, .bytes = traffic.bytes};
    if (!of->ring) {
        term.exposed = term_exposed_factor(of, phase);
        term.idle = of->exposed * of->idle[phase];
    }
    for (int part = 0; part < 2; part++) term.hidden[part] = of->hidden * term_count(of, part, phase);
    return term;
}

static Ring phase_ring(const StepTerm *of, const Lane *lane, int phase, Traffic traffic, double attention) {
    return (Ring){.lane = lane,
                  .messages = traffic.messages,
                  .bytes = traffic.bytes,
                  .share = of->exposed,
                  .minus = of->hidden * attention,
                  .times = of->times + of->idle[phase],
                  .idle = of->idle[phase]};
}

static bool near(double a, double b) { return fabs(a - b) <= RATIO_TOLERANCE * (a + b); }

/* Both phases as one where the second moves a multiple of the first: seconds are homogeneous. */
static bool merge(Term *to, const Term *second) {
    if (!near(to->messages * second->bytes, second->messages * to->bytes)) return false;
    double factor = to->bytes > 0 ? second->bytes / to->bytes : second->messages / to->messages;
    to->exposed += factor * second->exposed;
    to->idle += factor * second->idle;
    for (int part = 0; part < 2; part++) to->hidden[part] += factor * second->hidden[part];
    return true;
}

static void add_lane(const StepRule *rule, const Resources *resources, const Lane *lane, RowSums *row) {
    StepTerm of = step_term(rule, lane->group, lane->far);
    int before = row->term_count;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        Traffic traffic = step_traffic(rule, resources, lane->group, phase);
        if (!moves(traffic)) continue;
        Term term = phase_term(&of, lane, phase, traffic);
        if (of.ring)
            row->rings[row->ring_count++] =
                phase_ring(&of, lane, phase, traffic, resources->of[RES_ATTENTION_FORWARD + phase]);
        if (row->term_count > before && merge(&row->terms[before], &term)) continue;
        row->terms[row->term_count++] = term;
        row->forms |= 1u << term.form;
    }
}

/* The serial bound counts what a lane exposes by one affine piece; rings and reductions as the step does. */
static void add_serial(const Term *term, unsigned second, RowSums *row) {
    int piece = second >> term->lane->group & 1;
    for (int which = 2 * piece; which < 2 * piece + 2; which++) {
        const double *rate = term->lane->rate[which];
        double factor = term->exposed * (which % 2 == 0 ? term->messages : term->bytes);
        if (!rate || !(factor > 0)) continue;
        int at = 0;
        while (at < row->serial_count && row->serial[at].of != rate) at++;
        if (at == row->serial_count) {
            row->serial[row->serial_count].of = rate;
            row->serial[row->serial_count].most = term->lane->most[which];
            row->serial[row->serial_count++].factor = 0;
        }
        row->serial[at].factor += factor;
    }
}

static void row_sums(const StepRule *rule, const Relaxation *relaxation, int index, const RateTable *table,
                     RowSums *row) {
    const Resources *resources = &relaxation->row[index].resources;
    StepTerm term = step_compute_term(rule);
    double compute[PHASE_COUNT];
    for (int phase = 0; phase < PHASE_COUNT; phase++) compute[phase] = step_compute_seconds(resources, phase);
    row->term_count = row->ring_count = row->serial_count = 0;
    row->forms = 0;
    for (int i = 0; i < table->lane_count; i++) add_lane(rule, resources, &table->lane[i], row);
    row->part[0] = term_part_a(&term, compute);
    row->part[1] = compute[1];
    row->constant = term.idle[0] * compute[0] + term.idle[1] * compute[1] - rule->bubble_saved_seconds +
                    rule->optimizer_seconds + rule->other_seconds;
    double pcie = step_pcie_seconds(rule, resources); /* where a policy requires it; else relaxations have none */
    row->pcie = pcie > 0 ? pcie + row->constant : 0;
    row->exposed_pcie = rule->host_exposed * pcie;
    row->serial_weight = relaxation->row[index].serial_weight;
    if (!(row->serial_weight > 0)) return;
    /* relaxed_seconds() has a slack of its own here; the batch's comes on top */
    row->serial_factor = row->serial_weight * SLACK;
    row->serial_constant = relaxation->row[index].serial_constant * SLACK;
    row->serial_start = row->constant + row->part[0] + row->part[1];
    row->second = relaxation->row[index].second_piece;
    for (int i = 0; i < row->term_count; i++)
        if (!row->terms[i].once) add_serial(&row->terms[i], row->second, row);
}

/* ---- one block ---- */

/* One block of the table. */
typedef struct {
    int64_t from, number;
    int vectors; /* placements, up to a whole vector */
    const uint64_t *where;
} Block;

static const double ZEROS[BATCH_BLOCK] __attribute__((aligned(64)));

static const double *rate_at(const Lane *lane, int which, const Block *block) {
    return lane->rate[which] ? lane->rate[which] + block->from : ZEROS;
}

static Seconds seconds_of(const Lane *lane, double messages, double bytes, const Block *block) {
    return (Seconds){{rate_at(lane, 0, block), rate_at(lane, 2, block)},
                     {rate_at(lane, 1, block), rate_at(lane, 3, block)},
                     messages,
                     bytes};
}

/* What a block adds up in. */
typedef struct {
    double least[TERMS_MAX], most[TERMS_MAX]; /* seconds of each term on any placement of the block */
    double seconds[TERMS_MAX][BATCH_BLOCK] __attribute__((aligned(64)));
    bool known[TERMS_MAX]; /* seconds: of terms that hide, made when the first part needs them */
    double chips[GROUP_COUNT][BATCH_BLOCK] __attribute__((aligned(64))); /* hidden seconds of one part */
    double step[BATCH_BLOCK] __attribute__((aligned(64))), part[2][BATCH_BLOCK] __attribute__((aligned(64)));
    double serial[BATCH_BLOCK] __attribute__((aligned(64))), busy[BATCH_BLOCK] __attribute__((aligned(64)));
    double best[BATCH_BLOCK] __attribute__((aligned(64)));
} Room;

/* Of a term what the largest, or the least, rates of the block give. */
static double extreme(const Term *term, double *const rates[4], const Block *block) {
    double of[4];
    for (int which = 0; which < 4; which++) of[which] = rates[which] ? rates[which][block->number] : 0;
    return max_real(term->messages * of[0] + term->bytes * of[1], term->messages * of[2] + term->bytes * of[3]);
}

static const Start MORE = {false, 0};

/* Terms of one form at a time, as many as a loop takes, but those whose seconds are known. `idle`: the bubble's part
 * alone; `once`: the lanes alone that move once a step. */
static void add_terms(const RowSums *row, const Block *block, const bool *known, bool idle, bool once, double *to) {
    for (int form = 0; form < FORM_COUNT; form++) {
        Seconds pack[LOOP_TERMS];
        int n = 0;
        if (!(row->forms >> form & 1)) continue;
        for (int i = 0; i < row->term_count; i++) {
            const Term *term = &row->terms[i];
            double factor = idle ? term->idle : term->exposed;
            if ((int)term->form != form || (once && !term->once) || !(factor > 0) || (known && known[i])) continue;
            pack[n++] = seconds_of(term->lane, factor * term->messages, factor * term->bytes, block);
            if (n < LOOP_TERMS) continue;
            loop_add_seconds((RateForm)form, pack, n, MORE, block->vectors, to);
            n = 0;
        }
        if (n > 0) loop_add_seconds((RateForm)form, pack, n, MORE, block->vectors, to);
    }
}

/* Those whose seconds are known. */
static void add_known(const RowSums *row, const Block *block, const Room *room, double *to) {
    Scaled pack[LOOP_TERMS];
    int n = 0;
    for (int i = 0; i < row->term_count; i++) {
        if (!room->known[i] || !(row->terms[i].exposed > 0)) continue;
        pack[n++] = (Scaled){room->seconds[i], row->terms[i].exposed};
        if (n < LOOP_TERMS) continue;
        loop_add_scaled(pack, n, MORE, block->vectors, to);
        n = 0;
    }
    if (n > 0) loop_add_scaled(pack, n, MORE, block->vectors, to);
}

/* `serial` means that each ring counts by the one affine piece that the second bound has chosen for it. */
static void add_rings(const RowSums *row, const Block *block, bool idle, bool serial, double *to) {
    for (int i = 0; i < row->ring_count; i++) {
        const Ring *ring = &row->rings[i];
        Seconds seconds = seconds_of(ring->lane, ring->messages, ring->bytes, block);
        if (serial) {
            int piece = row->second >> ring->lane->group & 1;
            seconds.latency[!piece] = seconds.latency[piece];
            seconds.per_byte[!piece] = seconds.per_byte[piece];
        }
        loop_add_ring(&seconds, ring->share, ring->minus, idle ? ring->idle : ring->times, block->vectors, to);
    }
}

/* Hidden seconds of a part by chips; returns the groups that stand for them. */
static unsigned hidden_by_chips(const RowSums *row, const Block *block, int part, Room *room) {
    unsigned there = 0;
    for (int i = 0; i < row->term_count; i++) {
        const Term *term = &row->terms[i];
        if (!(term->hidden[part] > 0)) continue;
        if (!room->known[i]) {
            Seconds seconds = seconds_of(term->lane, term->messages, term->bytes, block);
            loop_add_seconds(term->form, &seconds, 1, (Start){true, 0}, block->vectors, room->seconds[i]);
            room->known[i] = true;
        }
        unsigned bit = 1u << term->lane->chips;
        Scaled scaled = {room->seconds[i], term->hidden[part]};
        loop_add_scaled(&scaled, 1, (Start){!(there & bit), 0}, block->vectors, room->chips[term->lane->chips]);
        there |= bit;
    }
    return there;
}

/* Raises a part to what one axis is busy for. */
static void raise_to_axis(const Block *block, int axis, unsigned chips, Room *room, double *to) {
    Masked pack[LOOP_TERMS];
    const double *from = ZEROS;
    int n = 0;
    for (int group = 0; group < GROUP_COUNT; group++) {
        if (!(chips >> group & 1)) continue;
        if (n == LOOP_TERMS) {
            loop_add_masked(from, block->where, pack, n, block->vectors, room->busy);
            from = room->busy;
            n = 0;
        }
        pack[n++] = (Masked){room->chips[group], lane_bit(&(Lane){.chips = group}, axis)};
    }
    loop_raise_masked(from, block->where, pack, n, block->vectors, to);
}

/* The most that each axis may be busy for in a part, on any placement of the block. */
static void most_of_axes(const RowSums *row, int part, int axis_count, const Room *room, double most[MESH_AXES_MAX]) {
    for (int axis = 0; axis < axis_count; axis++) most[axis] = 0;
    for (int i = 0; i < row->term_count; i++) {
        const Term *term = &row->terms[i];
        double seconds = term->hidden[part] * room->most[i];
        for (int axis = 0; axis < axis_count; axis++)
            if (term->lane->axes >> axis & 1) most[axis] += seconds;
    }
}

/* Part A or B where some axis may be busy for longer than compute, in the room. Else NULL: it is its compute. */
static const double *part_beyond(const RowSums *row, const Block *block, int part, int axis_count, Room *room) {
    double most[MESH_AXES_MAX];
    most_of_axes(row, part, axis_count, room, most);
    unsigned there = 0;
    for (int axis = 0; axis < axis_count; axis++) {
        if (most[axis] <= row->part[part]) continue;
        if (!there) {
            loop_fill(row->part[part], block->vectors, room->part[part]);
            there = hidden_by_chips(row, block, part, room);
        }
        unsigned on = 0;
        for (int i = 0; i < row->term_count; i++)
            if (row->terms[i].lane->axes >> axis & 1) on |= 1u << row->terms[i].lane->chips;
        raise_to_axis(block, axis, there & on, room, room->part[part]);
    }
    return there ? room->part[part] : NULL;
}

/* Whether the second bound may be above the first anywhere on the block. */
static bool serial_matters(const RowSums *row, const Block *block, const Room *room) {
    if (!(row->serial_weight > 0)) return false;
    if (row->ring_count > 0) return true;
    double serial = row->serial_start, step = row->constant + row->part[0] + row->part[1];
    for (int i = 0; i < row->serial_count; i++) serial += row->serial[i].factor * row->serial[i].most[block->number];
    for (int i = 0; i < row->term_count; i++) {
        const Term *term = &row->terms[i];
        if (term->once) serial += term->exposed * room->most[i];
        step += term->exposed * room->least[i];
    }
    return row->serial_factor * serial + row->serial_constant > step;
}

/* The second bound of a row: everything in series, each group by one affine piece. */
static void serial_seconds(const RowSums *row, const Block *block, double *to) {
    Scaled pack[LOOP_TERMS];
    int n = 0;
    bool fresh = true;
    if (row->serial_count == 0) loop_fill(row->serial_start, block->vectors, to);
    for (int i = 0; i < row->serial_count; i++) {
        pack[n++] = (Scaled){row->serial[i].of + block->from, row->serial[i].factor};
        if (n < LOOP_TERMS && i + 1 < row->serial_count) continue;
        loop_add_scaled(pack, n, (Start){fresh, row->serial_start}, block->vectors, to);
        fresh = false;
        n = 0;
    }
    add_terms(row, block, NULL, false, true, to);
    add_rings(row, block, false, true, to);
}

/* Required offloading: the step is at least its time over PCIe and the bubble. */
static void raise_to_pcie(const RowSums *row, const Block *block, const double *beyond[2], Room *room) {
    loop_fill(row->pcie, block->vectors, room->busy);
    add_terms(row, block, NULL, true, false, room->busy);
    add_rings(row, block, true, false, room->busy);
    for (int i = 0; i < 2; i++) {
        Scaled all = {beyond[i], 1};
        if (beyond[i]) loop_add_scaled(&all, 1, MORE, block->vectors, room->step);
        beyond[i] = NULL;
    }
    loop_raise(room->busy, block->vectors, room->step);
}

_Static_assert((int)LOOP_AXIS == (int)GROUP_COUNT, "loops know lane_bit()");

/* Whether an axis may be busy for longer than compute in a part. */
static bool may_pass(const RowSums *row, int part, int axis_count, const Room *room) {
    double most[MESH_AXES_MAX];
    bool passes = false;
    most_of_axes(row, part, axis_count, room, most);
    for (int axis = 0; axis < axis_count; axis++) passes = passes || most[axis] > row->part[part];
    return passes;
}

/* Exposed seconds and both parts of all terms that hide, in one pass; sets `known` for these. False: they are too many,
 * or of a form that the loop does not know; nothing is done. */
static bool add_hiding(const RowSums *row, const Block *block, int axis_count, const bool beyond[2], Room *room) {
    Hiding pack[LOOP_HIDING];
    bool both = beyond[0] && beyond[1];
    int n = 0, first = beyond[0] ? 0 : 1;
    for (int i = 0; i < row->term_count; i++) {
        const Term *term = &row->terms[i];
        if (!(beyond[0] && term->hidden[0] > 0) && !(beyond[1] && term->hidden[1] > 0)) continue;
        if (n == LOOP_HIDING || term->form == FORM_FOUR || axis_count > LOOP_AXES) return false;
        pack[n++] = (Hiding){rate_at(term->lane, 0, block),
                             rate_at(term->lane, 1, block),
                             term->form == FORM_FIRST ? ZEROS : rate_at(term->lane, 3, block),
                             term->messages,
                             term->bytes,
                             term->exposed,
                             {term->hidden[first], term->hidden[1]},
                             lane_bit(term->lane, 0)};
    }
    for (int i = 0; i < row->term_count; i++)
        room->known[i] = (beyond[0] && row->terms[i].hidden[0] > 0) || (beyond[1] && row->terms[i].hidden[1] > 0);
    loop_add_hiding(pack, n, axis_count, block->where, (double[2]){row->part[first], row->part[1]}, both,
                    block->vectors, room->step);
    return true;
}

static void block_row(const RowSums *row, const Block *block, int axis_count, Room *room) {
    const double *beyond[2];
    double start = row->constant + row->exposed_pcie;
    for (int i = 0; i < row->term_count; i++) {
        room->known[i] = false;
        room->most[i] = extreme(&row->terms[i], row->terms[i].lane->most, block);
        room->least[i] = extreme(&row->terms[i], row->terms[i].lane->least, block);
    }
    bool passes[2];
    for (int i = 0; i < 2; i++) {
        passes[i] = may_pass(row, i, axis_count, room);
        beyond[i] = NULL;
        if (!passes[i]) start += row->part[i];
    }
    loop_fill(start, block->vectors, room->step);
    if ((passes[0] || passes[1]) && !add_hiding(row, block, axis_count, passes, room)) {
        for (int i = 0; i < 2; i++)
            if (passes[i]) beyond[i] = part_beyond(row, block, i, axis_count, room);
        add_known(row, block, room, room->step);
    }
    add_terms(row, block, room->known, false, false, room->step);
    add_rings(row, block, false, false, room->step);
    if (row->pcie > 0) raise_to_pcie(row, block, beyond, room);
    bool matters = serial_matters(row, block, room);
    if (matters) serial_seconds(row, block, room->serial);
    loop_finish(room->step, beyond[0] ? beyond[0] : ZEROS, beyond[1] ? beyond[1] : ZEROS,
                matters ? room->serial : ZEROS, matters ? row->serial_factor : 0, matters ? row->serial_constant : 0,
                SLACK, block->vectors, room->best);
}

void batch_relaxed_seconds(const StepRule *rule, const Relaxation *relaxation, const RateTable *table, double *out) {
    RowSums rows[STRATEGIES_MAX];
    Room room;
    for (int row = 0; row < relaxation->rows; row++) row_sums(rule, relaxation, row, table, &rows[row]);
    for (int64_t from = 0; from < table->count; from += BATCH_BLOCK) {
        int count = (int)min_whole(BATCH_BLOCK, table->count - from);
        Block block = {.from = from, .number = from / BATCH_BLOCK, .where = table->where + from};
        block.vectors = (count + LOOP_WIDTH - 1) / LOOP_WIDTH * LOOP_WIDTH;
        loop_fill(INFINITY, block.vectors, room.best);
        for (int row = 0; row < relaxation->rows; row++) block_row(&rows[row], &block, table->axis_count, &room);
        memcpy(out + from, room.best, (size_t)count * sizeof(double));
    }
}
