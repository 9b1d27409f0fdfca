/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/named_plan.h"

#include "base/util.h"

static const double HBM_SHARE_MOST = 64;

/* A plan that is named is priced whether it fits or not: where it lacks HBM as if that were there, little by little, so
 * that it is laid out to need the least. What people run fits, whatever the model thinks; what they name does not, and
 * the answer says so. */
static bool price_regardless(const NamedPlan *named, double share_most, Report *report, double *lacking, Error *error) {
    const Shortfall *shortfall = &report->result.shortfall;
    Request *request = named->request;
    SearchResult again;
    *lacking = 0;
    if (report->result.plan_count > 0 || !shortfall->known) return true;
    if (!(shortfall->needed_bytes > shortfall->limit_bytes)) return true;
    double limit = shortfall->limit_bytes, share = (1 + 1e-6) * shortfall->needed_bytes / limit;
    double chip = request->question.chip.hbm_bytes.value, device = request->question.device.hbm_bytes.value;
    again.plan_count = 0;
    while (again.plan_count == 0 && share < share_most) {
        request->question.chip.hbm_bytes.value = chip * share;
        request->question.device.hbm_bytes.value = device * share;
        if (!one_plan_search(request, named->from, named->arena, &again, error)) return false;
        if (again.interrupted) break;
        share *= share < 2 ? 1.02 : 1.2;
    }
    request->question.chip.hbm_bytes.value = chip;
    request->question.device.hbm_bytes.value = device;
    if (again.plan_count == 0) return true;             /* it is not HBM alone */
    Request *own = ARENA_NEW(named->arena, Request, 1); /* what answered, with the HBM that there is */
    if (!own) return error_memory(error);
    *own = *again.request;
    own->question.chip.hbm_bytes.value = chip;
    own->question.device.hbm_bytes.value = device;
    report->result = again;
    report->result.request = own;
    if (report->result.plans[0].request) report->result.plans[0].request = own;
    report->result.plans[0].estimate.memory_limit_bytes = limit;
    report->result.exceeds_hbm = !named->options->text[OPTION_FROM_CONFIG];
    *lacking = max_real(0, memory_total(&again.plans[0].estimate.memory) - limit);
    return true;
}

bool named_plan_price(const NamedPlan *named, Report *report, double *lacking, Error *error) {
    Request *request = named->request;
    bool host_later = request->space.offload_open && !(request->space.offload_gain > 0);
    if (host_later) {
        request->space.offload_open = false;
        if (!one_plan_search(request, named->from, named->arena, &report->result, error) ||
            !price_regardless(named, 1 / (1 - request->question.hbm_reserve), report, lacking, error))
            return false;
        if (report->result.plan_count > 0 || report->result.interrupted) return true;
        request->space.offload_open = true;
    }
    return one_plan_search(request, named->from, named->arena, &report->result, error) &&
           price_regardless(named, HBM_SHARE_MOST, report, lacking, error);
}
