/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage/update.h"

#include "base/util.h"
#include "mesh/host_link.h"

double weight_gradient_seconds(const CostContext *setting, const Shard *shard, double layers) {
    double active = shard->layer_active;
    if (!(active > 0)) layer_flops(setting->model, (int64_t)shard->seq, &active);
    double flops = 2 * shard->tokens * active / shard->tensor * layers;
    const Profile *profile = setting->profile;
    double grouped = profile->grouped_efficiency * profile->grouped_factor; /* this may exceed the plain rate */
    double rate = profile->linear_efficiency * profile->compute_factor * max_real(1, grouped);
    return flops / (setting->chip->bf16_flops_per_second.value * rate);
}

/* Bytes that the update of a chip's own parameters reads and writes, gradients in the dtype of the software. */
static double update_bytes_of(const CostContext *setting, const LocalParameters *owned) {
    const TrainingState *state = cost_context_state(setting);
    double bytes = (cost_context_gradient_bytes(setting, true) - state->gradient_bytes[1]) * owned->total;
    if (state->uniform) return bytes + state->part[HELD_DENSE].update_bytes * owned->total;
    for (int part = 0; part < HELD_COUNT; part++) bytes += state->part[part].update_bytes * owned->of[part];
    return bytes;
}

/* All state in HBM: it streams through the chip, and where updates are made orthogonal there are matmuls in bf16
 * whatever the precision of the model's. */
static double resident_seconds(const CostContext *setting, const Knobs *knobs, const LocalParameters *owned) {
    const TrainingState *state = cost_context_state(setting);
    const Chip *chip = setting->chip;
    double cast = state->parameter_bytes - cost_context_copy_bytes(setting, knobs); /* a copy that is not written */
    double bytes = update_bytes_of(setting, owned) - cast * owned->total;
    double seconds = bytes * setting->profile->optimizer_traffic /
                     (chip->hbm_bytes_per_second.value * setting->profile->hbm_efficiency);
    double flops = 0;
    for (int part = 0; part < HELD_COUNT; part++) flops += state->part[part].update_flops * owned->of[part];
    if (flops > 0)
        seconds += flops / (chip->bf16_flops_per_second.value * min_real(1, setting->profile->matrix_efficiency));
    return seconds;
}

/* The host's CPUs update a share of the state: gradients come down as they are kept, weights go up as the chip computes
 * with them. Clipping by the norm of all gradients keeps the CPUs waiting until the last gradient is there, so that the
 * copies of gradients alone hide, behind the backward of the last microbatch; that is counted from FLOPs alone, as no
 * more than it takes. The chip updates the rest of the state meanwhile or before. */
static double cpu_seconds(const CostContext *setting, const Shard *shard, const LocalParameters *owned, double share) {
    const TrainingState *state = cost_context_state(setting);
    const Profile *profile = setting->profile;
    double link = host_one_way_rate(setting->chip) * profile->pcie_efficiency;
    double memory = host_memory_rate(setting->chip) * profile->host_update_efficiency;
    double down = share * owned->total * cost_context_gradient_bytes(setting, shard->microbatches > 1) / link,
           up = share * owned->total * state->parameter_bytes / link,
           update = share * update_bytes_of(setting, owned) / memory;
    double backward = 2 * weight_gradient_seconds(setting, shard, shard->layers);
    return max_real(0, down - backward) + update + up;
}

double update_seconds(const CostContext *setting, const Shard *shard, const Knobs *knobs,
                      const LocalParameters *owned) {
    double resident = resident_seconds(setting, knobs, owned), on_host = host_optimizer_bytes(setting, knobs, owned);
    if (!(on_host > 0)) return resident;
    if (setting->host_update == HOST_UPDATE_ON_CPU) {
        double share = on_host / optimizer_bytes_of(cost_context_state(setting), owned);
        return max_real(resident, (1 - share) * resident + cpu_seconds(setting, shard, owned, share));
    }
    /* The host's state comes in while the last layer's goes out; this follows the step's own offloading, so that the
     * link is never used twice. */
    return max_real(resident, 2 * on_host / (host_both_ways_rate(setting->chip) * setting->profile->pcie_efficiency));
}
