/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/layout/program.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

static Form scaled(double factor, const Form *form) {
    Form out;
    out.constant = factor * form->constant;
    for (int c = 0; c < COLUMNS_MAX; c++) out.of[c] = factor * form->of[c];
    return out;
}

static void add(Form *to, double factor, const Form *form) {
    if (factor == 0) return;
    to->constant += factor * form->constant;
    for (int c = 0; c < COLUMNS_MAX; c++) to->of[c] += factor * form->of[c];
}

static Form resource(const Branch *branch, int index) {
    Form form = {.constant = branch->saved.of[index]};
    for (int i = 0; i < branch->item_count; i++) form.of[i] = branch->items[i].adds.of[index];
    return form;
}

/* Largest and least value over the box of the columns. */
static double most(const Program *program, const Form *form) {
    double sum = form->constant;
    for (int c = 0; c < program->columns; c++) sum += max_real(0, form->of[c] * program->upper[c]);
    return sum;
}

static double least(const Program *program, const Form *form) {
    double sum = form->constant;
    for (int c = 0; c < program->columns; c++) sum += min_real(0, form->of[c] * program->upper[c]);
    return sum;
}

/* a <= b over the whole box. */
static bool never_above(const Program *program, const Form *a, const Form *b) {
    Form over = *a;
    add(&over, -1, b);
    return most(program, &over) <= 1e-13 * fabs(most(program, b));
}

/* Keeps the forms that none of the others covers; returns how many. */
static int keep_largest(const Program *program, Form *forms, int count) {
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
static Form maximum(Program *program, Form *forms, int count) {
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
        Form *row = &program->rows[program->row_count];
        *row = forms[i];
        row->constant -= low;
        row->of[column] = -1;
        program->defines[program->row_count++] = column;
    }
    program->upper[column] = high - low;
    Form out = {.constant = low};
    out.of[column] = 1;
    return out;
}

static Form collective(Program *program, CollectiveCost cost, const Form *messages, const Form *bytes) {
    Form pieces[2];
    for (int k = 0; k < 2; k++) {
        pieces[k] = scaled(cost.latency_seconds[k], messages);
        add(&pieces[k], cost.seconds_per_byte[k], bytes);
    }
    return maximum(program, pieces, 2);
}

static Form sequence_exposed(Program *program, const StepRule *rule, const Form *seconds, const Form *attention) {
    double share = rule->exposed[GROUP_SEQUENCE];
    Form forms[2] = {scaled(share, seconds), *seconds};
    if (!rule->ring) return forms[0];
    add(&forms[1], -(1 - share), attention);
    return maximum(program, forms, 2);
}

/* Compute, or an axis that is busy for longer: parts A and B of the step. */
static Form part(Program *program, const Rates *rates, const Form *compute, Form hidden[GROUP_COUNT][2], int which) {
    Form forms[FORMS_MAX] = {*compute};
    int count = 1;
    for (int axis = 0; axis < rates->axis_count && count < FORMS_MAX; axis++) {
        Form busy = {0};
        for (int group = 0; group < GROUP_COUNT; group++)
            if (rates->axes[group] >> axis & 1) add(&busy, 1, &hidden[group][which]);
        forms[count++] = busy;
    }
    return maximum(program, forms, count);
}

/* Moments count the same bytes with different weights, so their rows are mostly multiples of one another: divided by
 * their largest coefficients, only those stay that none of the others covers. */
static void memory_rows_of(Program *program, const StepRule *rule, const Branch *branch) {
    Form forms[MOMENT_COUNT], units[MOMENT_COUNT];
    int count = 0;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        Form form = resource(branch, RES_MEMORY + moment);
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

void program_of_branch(const StepRule *rule, const Branch *branch, const Rates *rates, Program *out) {
    double m = rule->microbatches;
    out->items = out->columns = branch->item_count;
    out->row_count = out->memory_count = 0;
    for (int i = 0; i < out->items; i++) out->upper[i] = branch->items[i].layers;
    memory_rows_of(out, rule, branch);

    Form group_seconds[GROUP_COUNT][PHASE_COUNT], compute[PHASE_COUNT], critical[PHASE_COUNT];
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        for (int group = 0; group < GROUP_DATA; group++) {
            Form messages = resource(branch, res_messages((Group)group, (Phase)phase)),
                 bytes = resource(branch, res_bytes((Group)group, (Phase)phase));
            group_seconds[group][phase] = collective(out, rates->cost[group], &messages, &bytes);
        }
        for (int group = GROUP_DATA; group < GROUP_COUNT; group++) {
            const Traffic *data = &(phase == 0 ? rule->data_start : rule->data_end)[group - GROUP_DATA];
            group_seconds[group][phase] =
                (Form){.constant = collective_seconds(rates->cost[group], data->messages, data->bytes)};
        }

        Form attention = resource(branch, RES_ATTENTION_FORWARD + phase);
        compute[phase] = resource(branch, RES_COMPUTE_FORWARD + phase);
        add(&compute[phase], 1, &attention);
        critical[phase] = sequence_exposed(out, rule, &group_seconds[GROUP_SEQUENCE][phase], &attention);
        for (int group = 0; group < GROUP_WEIGHTS; group++)
            if (group != GROUP_SEQUENCE) add(&critical[phase], rule->exposed[group], &group_seconds[group][phase]);
    }

    /* A: every phase but the last microbatch's backward; B: that. */
    Form hidden[GROUP_COUNT][2], exposed = {0}, compute_first;
    for (int group = 0; group < GROUP_COUNT; group++) {
        Form first = scaled(group >= GROUP_DATA ? 1 : m, &group_seconds[group][0]);
        if (group < GROUP_DATA) add(&first, m - 1, &group_seconds[group][1]);
        double share = rule->exposed[group];
        if (group >= GROUP_WEIGHTS) {
            add(&exposed, share, &first);
            add(&exposed, share, &group_seconds[group][1]);
        }
        hidden[group][0] = scaled(1 - share, &first);
        hidden[group][1] = scaled(1 - share, &group_seconds[group][1]);
    }
    compute_first = scaled(m, &compute[0]);
    add(&compute_first, m - 1, &compute[1]);
    Form a = part(out, rates, &compute_first, hidden, 0), b = part(out, rates, &compute[1], hidden, 1);
    out->main = exposed;
    for (int phase = 0; phase < PHASE_COUNT; phase++) add(&out->main, m, &critical[phase]);
    add(&out->main, 1, &a);
    add(&out->main, 1, &b);
    Form offload = resource(branch, RES_OFFLOAD_BYTES);
    bool offloads = rule->offload_bytes_per_second > 0;
    out->pcie = scaled(offloads ? m / rule->offload_bytes_per_second : 0, &offload);

    out->tail = (Form){.constant = rule->optimizer_seconds + rule->other_seconds - rule->bubble_saved_seconds};
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        add(&out->tail, rule->bubble[phase], &compute[phase]);
        add(&out->tail, rule->bubble[phase], &critical[phase]);
    }
    Form sides[2] = {out->main, out->pcie};
    out->seconds = maximum(out, sides, 2);
    add(&out->seconds, 1, &out->tail);
}
