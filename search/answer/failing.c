/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What failures make of a training: docs/model.md, "Failures". */
#include "cost/goodput.h"
#include "mesh/host_link.h"
#include "models/parameters.h"
#include "search/answer/plan_words.h"

#include "base/util.h"

/* Master weights and moments, or the weights themselves where there is no master: what a training goes on from. */
static double checkpoint_bytes(const CostContext *setting) {
    const TrainingState *state = cost_context_state(setting);
    Parameters all = model_parameters(setting->model);
    double tables = (double)(all.embedding + all.unembedding + all.positions), experts = (double)all.experts;
    double held[HELD_COUNT] = {
        [HELD_DENSE] = (double)all.total - tables - experts, [HELD_EXPERTS] = experts, [HELD_TABLES] = tables};
    double bytes = state->dtypes.master == DTYPE_NONE ? state->parameter_bytes * (double)all.total : 0;
    for (int part = 0; part < HELD_COUNT; part++) bytes += held[part] * state->part[part].optimizer_bytes;
    return bytes;
}

/* Copies to the host are at the rate of its link; where that is not known, steps wait for the storage. */
static void checkpoint_times(const Request *request, const CostContext *setting, double chips, Failing *out) {
    const Profile *profile = setting->profile;
    const Chip *chip = &request->question.chip;
    double storage = request->question.failing.storage_bytes_per_second;
    if (!(storage > 0))
        storage = min_real(profile->storage_bytes_per_second, profile->storage_chip_bytes_per_second * chips);
    out->checkpoint_bytes = checkpoint_bytes(setting);
    out->write_seconds = storage > 0 ? out->checkpoint_bytes / storage : 0;
    double link = host_is_known(chip) ? host_one_way_rate(chip) * profile->pcie_efficiency : 0;
    out->blocking_seconds =
        profile->checkpoint_seconds + (link > 0 ? out->checkpoint_bytes / chips / link : out->write_seconds);
}

static void spare_hosts(const Request *request, double hours, double repair, int64_t used, Failing *out) {
    const Chip *chip = &request->question.chip;
    int64_t per_host = max_whole(1, chip->chips_per_host);
    out->hosts = divide_up(used, per_host);
    out->idle_hosts = max_whole(0, request->question.machine.mesh.chips - used) / per_host;
    if (!(hours > 0) || !(repair > 0)) return;
    double between = 3600 * hours / (double)per_host;
    out->spares = spares_needed(out->hosts, between, repair, SPARES_PERCENT / 100.0);
    out->whole = units_up(out->hosts, out->idle_hosts, between, repair);
}

Failing failing_of(const Request *request, const RankedPlan *ranked) {
    const Request *own = ranked->request ? ranked->request : request;
    const FailureRequest *asked = &request->question.failing;
    CostContext setting = ranked_cost_context(own, ranked);
    Training training = training_of(request, ranked);
    int64_t used = ranked->machine.mesh.chips;
    double chips = (double)used, hours = request->question.chip.hours_per_failure.value;
    double restart = asked->restart_seconds >= 0 ? asked->restart_seconds : setting.profile->restart_seconds;
    Failing out = {.usd = -1, .reserved_usd = -1};
    double mtbf = asked->mtbf_seconds > 0 ? asked->mtbf_seconds : 3600 * hours / chips;
    if (asked->never || !(mtbf > 0) || !(restart > 0)) return out;
    checkpoint_times(request, &setting, chips, &out);
    const Failures failures = {mtbf, restart, out.blocking_seconds, out.write_seconds};
    out.mtbf_seconds = mtbf;
    out.restart_seconds = restart;
    out.interval_seconds = max_real(goodput_best_interval(&failures), ranked->estimate.time.seconds);
    out.goodput = goodput_at(&failures, out.interval_seconds);
    if (!(out.goodput > 0)) return (Failing){.usd = -1, .reserved_usd = -1};
    out.seconds = training.seconds / out.goodput;
    out.chip_hours = training.chip_hours / out.goodput;
    out.usd = training.usd >= 0 ? training.usd / out.goodput : -1;
    out.reserved_usd = training.reserved_usd >= 0 ? training.reserved_usd / out.goodput : -1;
    spare_hosts(request, hours, setting.profile->repair_seconds, used, &out);
    return out;
}
