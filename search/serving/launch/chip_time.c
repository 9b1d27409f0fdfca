/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/launch/chip_time.h"

const char *chip_time_name(int row) { return row == CHIP_TIME_IDLE ? "idle chips" : step_term_name((StepTerm)row); }

void chip_time(const ServingQuestion *question, const ServingPoint *point, ChipTime *out) {
    double devices[2] = {0}, all = 0, paid = point_chips_paid(question, point);
    *out = (ChipTime){.total = 1 / point->per_chip};
    for (int p = 0; p < point->pool_count; p++) {
        const ServingPool *pool = &point->pools[p];
        devices[p] = (double)(pool->workers * worker_devices(&pool->on.layout));
        all += devices[p];
    }
    double used = out->total * (double)point->chips_used / paid;
    for (int p = 0; p < point->pool_count; p++) {
        const StepCost *step = &point->pools[p].step;
        double terms = 0; /* more than the step where communication hides */
        for (int term = 0; term < STEP_TERMS; term++) terms += step->terms[term];
        for (int term = 0; term < STEP_TERMS && terms > 0; term++)
            out->seconds[term] += used * devices[p] / all * step->terms[term] / terms;
    }
    out->seconds[CHIP_TIME_IDLE] = out->total - used;
}

int chip_time_most(const ChipTime *first, const ChipTime *second) {
    int most = -1;
    double beyond = 0;
    for (int row = 0; row < CHIP_TIME_ROWS; row++) {
        double more = first->seconds[row] - second->seconds[row];
        if (more > beyond) most = row, beyond = more;
    }
    return most;
}
