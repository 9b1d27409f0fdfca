/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage/memory.h"
#include "search/answer/plan_words.h"

#include <math.h>

/* The logistic distribution is close to what measured runs show: most lie within a few per cent, and more lie far off
 * than a normal distribution has. */
double plan_fits_chance(const Request *request, const RankedPlan *ranked) {
    CostContext setting = ranked_cost_context(ranked->request ? ranked->request : request, ranked);
    const Estimate *estimate = &ranked->estimate;
    double scale = setting.profile->hbm_error;
    double held = memory_on_device(&setting, &estimate->shard, memory_total(&estimate->memory));
    if (!(scale > 0) || !(held > 0)) return 0;
    return 1 / (1 + exp(-log(setting.chip->hbm_bytes.value / held) / scale));
}
