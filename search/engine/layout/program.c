/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/layout/program.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "cost/time/step_terms.h"

#include <math.h>

static LinearForm scaled(double factor, const LinearForm *form) {
    LinearForm out;
    out.constant = factor * form->constant;
    for (int c = 0; c < COLUMNS_MAX; c++) out.of[c] = factor * form->of[c];
    return out;
}

static void add(LinearForm *to, double factor, const LinearForm *form) {
    if (factor == 0) return;
    to->constant += factor * form->constant;
    for (int c = 0; c < COLUMNS_MAX; c++) to->of[c] += factor * form->of[c];
}

static LinearForm resource(const Branch *branch, int index) {
    LinearForm form = {.constant = branch->saved.of[index]};
    for (int i = 0; i < branch->item_count; i++) form.of[i] = branch->items[i].adds.of[index];
    return form;
}

/* Largest and least value over the box of the columns. */
static double most(const Program *program, const LinearForm *form) {
    double sum = form->constant;
    for (int c = 0; c < program->columns; c++) sum += max_real(0, form->of[c] * program->upper[c]);
    return sum;
}

static double least(const Program *program, const LinearForm *form) {
    double sum = form->constant;
    for (int c = 0; c < program->columns; c++) sum += min_real(0, form->of[c] * program->upper[c]);
    return sum;
}

/* a <= b over the whole box. */
static bool never_above(const Program *program, const LinearForm *a, const LinearForm *b) {
    LinearForm over = *a;
    add(&over, -1, b);
    return most(program, &over) <= FORM_TOLERANCE * fabs(most(program, b));
}

/* Keeps the forms that none of the others covers; returns how many. */
static int keep_largest(const Program *program, LinearForm *forms, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool covered = false;
        for (int j = 0; j < kept && !covered; j++) covered = never_above(program, &forms[i], &forms[j]);
        for (int j = i + 1; j < count && !covered; j++) covered = never_above(program, &forms[i], &forms[j]);
        if (!covered) forms[kept++] = forms[i];
    }
    return kept;
}

/* The largest of the forms: one of them, or a new column above all. Right only where it is made small: all factors on
 * it are >= 0. */
static LinearForm maximum(Program *program, LinearForm *forms, int count) {
    count = keep_largest(program, forms, count);
    if (count == 1) return forms[0];
    double low = least(program, &forms[0]), high = most(program, &forms[0]);
    for (int i = 1; i < count; i++) {
        low = max_real(low, least(program, &forms[i]));
        high = max_real(high, most(program, &forms[i]));
    }
    int column = program->columns++;
    for (int i = 0; i < count; i++) {
        bool moves = false;
        for (int c = 0; c < column; c++) moves = moves || forms[i].of[c] != 0;
        if (!moves && forms[i].constant <= low) continue; /* the column is not negative: that says it */
        LinearForm *row = &program->rows[program->row_count];
        *row = forms[i];
        row->constant -= low;
        row->of[column] = -1;
        program->defines[program->row_count++] = column;
    }
    program->upper[column] = high - low;
    LinearForm out = {.constant = low};
    out.of[column] = 1;
    return out;
}

static LinearForm collective(Program *program, CollectiveCost cost, const LinearForm *messages,
                             const LinearForm *bytes) {
    LinearForm pieces[2];
    for (int k = 0; k < 2; k++) {
        pieces[k] = scaled(cost.latency_seconds[k], messages);
        add(&pieces[k], cost.seconds_per_byte[k], bytes);
    }
    return maximum(program, pieces, 2);
}

/* Exposed seconds of one phase of a row (term_exposed() in linear forms). */
static LinearForm exposed_form(Program *program, const StepTerm *term, const LinearForm *seconds,
                               const LinearForm *attention) {
    LinearForm forms[2] = {scaled(term->exposed, seconds), *seconds};
    if (!term->ring) return forms[0];
    add(&forms[1], -term->hidden, attention);
    return maximum(program, forms, 2);
}

/* Seconds of both phases of a row in part A (0) or B (1), before the hidden share is taken. */
static LinearForm in_part(const StepTerm *term, const LinearForm seconds[PHASE_COUNT], int which) {
    LinearForm out = scaled(term_count(term, which, 0), &seconds[0]);
    add(&out, term_count(term, which, 1), &seconds[1]);
    return out;
}

/* The seconds of a row in one phase: a form in the counts, or a constant for a row that moves once a step. */
static LinearForm row_seconds(Program *program, const StepRule *rule, const Branch *branch, const Rates *rates,
                              int group, int phase) {
    const CollectiveCost *cost = &rates->cost[group];
    if (step_moves_once(group)) {
        Traffic traffic = step_traffic(rule, &branch->saved, group, phase);
        return (LinearForm){.constant = collective_seconds(*cost, traffic.messages, traffic.bytes)};
    }
    LinearForm messages = resource(branch, res_messages((Group)group, (Phase)phase)),
               bytes = resource(branch, res_bytes((Group)group, (Phase)phase));
    return collective(program, *cost, &messages, &bytes);
}

/* The rows of the table of terms, in linear forms. */
typedef struct {
    StepTerm compute_term, terms[GROUP_COUNT];
    LinearForm compute[PHASE_COUNT], seconds[GROUP_COUNT][PHASE_COUNT];
    LinearForm critical[PHASE_COUNT]; /* exposed seconds of critical groups, one microbatch */
} Rows;

static void fill_rows(Program *program, const StepRule *rule, const Branch *branch, const Rates *rates, Rows *rows) {
    rows->compute_term = step_compute_term(rule);
    for (int group = 0; group < GROUP_COUNT; group++)
        rows->terms[group] = step_term(rule, group, rates->leaves_scale_up >> group & 1);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        for (int group = 0; group < GROUP_COUNT; group++)
            rows->seconds[group][phase] = row_seconds(program, rule, branch, rates, group, phase);
        LinearForm attention = resource(branch, RES_ATTENTION_FORWARD + phase);
        rows->compute[phase] = resource(branch, RES_COMPUTE_FORWARD + phase);
        add(&rows->compute[phase], 1, &attention);
        rows->critical[phase] = (LinearForm){0};
        for (int group = 0; group < GROUP_COUNT; group++) {
            if (!rows->terms[group].critical) continue;
            LinearForm exposed = exposed_form(program, &rows->terms[group], &rows->seconds[group][phase], &attention);
            add(&rows->critical[phase], 1, &exposed);
        }
    }
}

/* Part A (0) or B (1) of the step: compute, or an axis that is busy for longer. */
static LinearForm part(Program *program, const Rates *rates, const Rows *rows, int which) {
    LinearForm forms[FORMS_MAX] = {in_part(&rows->compute_term, rows->compute, which)}, hidden[GROUP_COUNT];
    int count = 1;
    for (int group = 0; group < GROUP_COUNT; group++) {
        LinearForm whole = in_part(&rows->terms[group], rows->seconds[group], which);
        hidden[group] = scaled(rows->terms[group].hidden, &whole);
    }
    for (int axis = 0; axis < rates->axis_count && count < FORMS_MAX; axis++) {
        LinearForm busy = {0};
        for (int group = 0; group < GROUP_COUNT; group++)
            if (rates->axes[group] >> axis & 1) add(&busy, 1, &hidden[group]);
        forms[count++] = busy;
    }
    return maximum(program, forms, count);
}

/* Exposed seconds of the rows that are not critical, over the step. */
static LinearForm background_exposed(const Rows *rows) {
    LinearForm exposed = {0};
    for (int group = 0; group < GROUP_COUNT; group++) {
        const StepTerm *term = &rows->terms[group];
        for (int which = 0; which < 2 && !term->critical; which++) {
            LinearForm seconds = in_part(term, rows->seconds[group], which);
            add(&exposed, term->exposed, &seconds);
        }
    }
    return exposed;
}

/* Moments count the same bytes with different weights, so their rows are mostly multiples of one another: divided by
 * their largest coefficients, only those stay that none of the others covers. */
static void memory_rows_of(Program *program, const StepRule *rule, const Branch *branch) {
    LinearForm forms[MOMENT_COUNT], units[MOMENT_COUNT];
    int count = 0;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        LinearForm form = resource(branch, RES_MEMORY + moment);
        form.constant -= rule->memory_limit_bytes;
        if (!(most(program, &form) > 0)) continue;
        double largest = 0;
        for (int i = 0; i < program->items; i++) largest = max_real(largest, fabs(form.of[i]));
        units[count] = scaled(largest > 0 ? 1 / largest : 1, &form);
        forms[count++] = form;
    }
    for (int i = 0; i < count; i++) {
        bool covered = false;
        for (int j = 0; j < count && !covered; j++)
            covered = j != i && never_above(program, &units[i], &units[j]) &&
                      (j < i || !never_above(program, &units[j], &units[i]));
        if (!covered) program->memory[program->memory_count++] = forms[i];
    }
}

/* PCIe seconds of what is offloaded. */
static LinearForm pcie_form(const StepRule *rule, const Branch *branch) {
    LinearForm offload = resource(branch, RES_OFFLOAD_BYTES);
    bool offloads = rule->offload_bytes_per_second > 0;
    return scaled(offloads ? rule->microbatches / rule->offload_bytes_per_second : 0, &offload);
}

/* Adds the seconds of the groups that use the lane of the host link. */
static void add_lane(const Rates *rates, const Rows *rows, LinearForm *to) {
    for (int group = 0; group < GROUP_COUNT; group++)
        for (int phase = 0; phase < PHASE_COUNT && step_on_host_lane(rates, group); phase++)
            add(to, rows->terms[group].times, &rows->seconds[group][phase]);
}

void program_of_branch(const StepRule *rule, const Branch *branch, const Rates *rates, Program *out) {
    Rows rows;
    out->items = out->columns = branch->item_count;
    out->row_count = out->memory_count = 0;
    for (int i = 0; i < out->items; i++) out->upper[i] = branch->items[i].layers;
    memory_rows_of(out, rule, branch);
    fill_rows(out, rule, branch, rates, &rows);

    LinearForm a = part(out, rates, &rows, 0), b = part(out, rates, &rows, 1);
    out->main = background_exposed(&rows);
    for (int phase = 0; phase < PHASE_COUNT; phase++) add(&out->main, rule->microbatches, &rows.critical[phase]);
    add(&out->main, 1, &a);
    add(&out->main, 1, &b);
    out->host = pcie_form(rule, branch);
    add(&out->main, rule->host_exposed, &out->host);
    if (most(out, &out->host) > 0) add_lane(rates, &rows, &out->host);

    out->tail = (LinearForm){.constant = step_constant(rule)};
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        add(&out->tail, rows.compute_term.idle[phase], &rows.compute[phase]);
        add(&out->tail, rows.compute_term.idle[phase], &rows.critical[phase]);
    }
    LinearForm sides[2] = {out->main, out->host};
    out->seconds = maximum(out, sides, 2);
    add(&out->seconds, 1, &out->tail);
}

/* A form as it was summed, alongside the same sum of absolute values: no coefficient is off by more than 2^-40 of the
 * latter, since far fewer than 8192 terms are added (slack.h). */
typedef struct {
    LinearForm value, size;
} SizedForm;

static void add_sized(SizedForm *to, double factor, const LinearForm *form) {
    to->value.constant += factor * form->constant;
    to->size.constant += factor * fabs(form->constant);
    for (int c = 0; c < COLUMNS_MAX; c++) {
        to->value.of[c] += factor * form->of[c];
        to->size.of[c] += factor * fabs(form->of[c]);
    }
}

/* Adds to the form, for each maximum from the last, its rows (<= 0) with factors that sum to a little less than what
 * the form has of its column: what is left of the column is then >= 0, as the column is. */
static void charge_maxima(const Program *program, const Multipliers *multipliers, SizedForm *form) {
    for (int column = program->columns - 1; column >= program->items; column--) {
        double factor = form->value.of[column] * SLACK, sum = multipliers->columns[column];
        for (int r = 0; r < program->row_count; r++)
            if (program->defines[r] == column) sum += multipliers->rows[r];
        for (int r = 0; r < program->row_count && sum > 0; r++)
            if (program->defines[r] == column && multipliers->rows[r] > 0)
                add_sized(form, factor * (multipliers->rows[r] / sum), &program->rows[r]);
    }
}

/* The least of the form over all counts, where each layer of an activation is in one state: rounded down. */
static double least_of_counts(const Program *program, const Branch *branch, const SizedForm *form) {
    double sum = form->value.constant, size = form->size.constant;
    for (int i = 0; i < program->items;) {
        double layers = 0, cheapest = 0;
        for (int first = i; i < program->items && branch->items[i].activation == branch->items[first].activation; i++) {
            layers = max_real(layers, program->upper[i]);
            cheapest = min_real(cheapest, form->value.of[i] - (1 - SLACK) * form->size.of[i]);
        }
        sum += layers * cheapest;
        size -= layers * cheapest;
    }
    return sum - (1 - SLACK) * size;
}

static void charge_memory(const Program *program, const Multipliers *multipliers, SizedForm *form) {
    for (int i = 0; i < program->memory_count; i++) add_sized(form, multipliers->memory[i], &program->memory[i]);
}

double program_dual_bound(const Program *program, const Branch *branch, const Multipliers *multipliers) {
    SizedForm form = {.value = {0}};
    add_sized(&form, 1, &program->seconds);
    charge_maxima(program, multipliers, &form);
    charge_memory(program, multipliers, &form);
    double bound = least_of_counts(program, branch, &form);
    return isfinite(bound) ? bound : 0;
}

bool program_never_fits(const Program *program, const Branch *branch, const Multipliers *multipliers) {
    SizedForm form = {.value = {0}};
    charge_memory(program, multipliers, &form);
    double bound = least_of_counts(program, branch, &form);
    return isfinite(bound) && bound > 0;
}
