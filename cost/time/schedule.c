/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/time/schedule.h"

#include "base/util.h"

#include <math.h>

double bubble_factor(double stages, double microbatches, double virtual_stages) {
    double last = microbatches - stages * (ceil(microbatches / stages) - 1);
    return (1 + (virtual_stages - 1) * (stages - last) / (stages - 1)) / virtual_stages;
}

Bubble schedule_bubble(Schedule schedule, double stages, double microbatches, double virtual_stages) {
    if (stages <= 1) return (Bubble){0, 0, 0};
    double share;
    switch (schedule) {
    case SCHEDULE_NONE:
        return (Bubble){0, 0, 0};
    case SCHEDULE_INTERLEAVED:
        share = bubble_factor(stages, microbatches, virtual_stages);
        return (Bubble){share, share, 0};
    case SCHEDULE_CIRCULAR:
        return (Bubble){1 / virtual_stages, 1 / virtual_stages, 0};
    case SCHEDULE_ZB_H1:
        return (Bubble){1, 1, 2};
    case SCHEDULE_DUALPIPE:
        share = (stages / 2 - 1) / (stages - 1);
        return (Bubble){share, 2 * share, 3 * share};
    default:
        return (Bubble){1, 1, 0};
    }
}

bool schedule_allowed(Schedule schedule, int64_t stages, int64_t microbatches, int64_t virtual_stages) {
    if (schedule == SCHEDULE_NONE || stages <= 1) return schedule == SCHEDULE_NONE && stages <= 1;
    bool chunks = schedule == SCHEDULE_INTERLEAVED || schedule == SCHEDULE_CIRCULAR;
    if (chunks != (virtual_stages > 1)) return false;
    switch (schedule) {
    case SCHEDULE_CIRCULAR:
        return microbatches % stages == 0;
    case SCHEDULE_ZB_H1:
        return microbatches >= stages;
    case SCHEDULE_DUALPIPE:
        return stages % 2 == 0 && microbatches % 2 == 0 && microbatches / 2 >= stages;
    default:
        return true;
    }
}

InFlight schedule_in_flight(Schedule schedule, double stages, double microbatches, double virtual_stages) {
    double p = stages, v = virtual_stages, m = microbatches, first, last;
    switch (schedule) {
    case SCHEDULE_GPIPE:
    case SCHEDULE_CIRCULAR:
        return (InFlight){m, m};
    case SCHEDULE_INTERLEAVED:
        /* 2 (p - s - 1) + (v - 1) p + 1 chunks of 1/v on stage s (Megatron's warm-up). */
        first = min_real(m * v, (v + 1) * p - 1);
        last = min_real(m * v, (v - 1) * p + 1);
        return (InFlight){first / v, last / v};
    case SCHEDULE_ZB_H1:
        /* What waits for its weight gradients keeps its activations: p on every stage. */
        return (InFlight){min_real(m, p), min_real(m, p)};
    case SCHEDULE_DUALPIPE:
        return (InFlight){min_real(m, p + 1), min_real(m, p + 1)};
    default:
        return (InFlight){min_real(m, p), 1};
    }
}

int schedule_copies(Schedule schedule) { return schedule == SCHEDULE_DUALPIPE ? 2 : 1; }

double schedule_least_share(double stages, double most, double chunks, double weights) {
    if (stages <= 1) return 0;
    double least = bubble_factor(stages, min_real(most, stages), chunks);
    if (most >= stages) least = min_real(least, 1 / chunks);
    if (most >= stages) least = min_real(least, max_real(0, 1 - 2 * weights));
    if (most >= 2 * stages) /* B >= F, so F + 2 B >= 3/2 (F + B). */
        least = min_real(least, (stages / 2 - 1) / (stages - 1) * max_real(0, 1.5 - 3 * weights));
    return least;
}
