/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/plan/grid.h"

#include "base/util.h"

bool grid_ranks(const Degrees *degrees, const Methods *methods, GridRanks *out) {
    int64_t tensor = degrees->of[ROLE_TENSOR], sequence = degrees->of[ROLE_SEQUENCE], fsdp = degrees->of[ROLE_FSDP];
    bool shards = fsdp > 1 || (sequence > 1 && !methods->sequence_replicates);
    int64_t inner = tensor * sequence * fsdp, data = degrees->of[ROLE_DATA];
    int64_t ways = methods->grid.expert * methods->grid.expert_tensor, ranks = shards ? inner : inner * data;
    if (degrees->of[ROLE_EXPERT] != 1 || ways < 1 || ranks % ways != 0) return false;
    *out = (GridRanks){.expert = methods->grid.expert,
                       .expert_tensor = methods->grid.expert_tensor,
                       .weights = shards ? ranks / ways : 1,
                       .data = shards ? data : ranks / ways};
    return true;
}

GridFootprints grid_footprints(const Mesh *mesh, const Placement *placement, const GridRanks *ranks) {
    GridFootprints out;
    Footprint *const footprints[] = {&out.expert_tensor, &out.expert, &out.weights, &out.data};
    int64_t left[] = {ranks->expert_tensor, ranks->expert, ranks->weights, ranks->data};
    for (int axis = 0; axis < mesh->axis_count; axis++) {
        int64_t room = mesh->axes[axis].size / placement->factor[axis][ROLE_PIPELINE], stride = 1;
        for (int i = 0; i < 4; i++) {
            int64_t factor = common_divisor(left[i], room);
            footprints[i]->on[axis] = (Span){factor, factor > 1 ? stride : 1};
            left[i] /= factor;
            room /= factor;
            stride *= factor;
        }
    }
    return out;
}
