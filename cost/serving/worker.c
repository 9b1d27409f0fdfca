/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/serving/worker.h"

#include "base/util.h"
#include "mesh/nesting.h"

double table_seconds(const MessageTable *table, double bytes) {
    int last = table->count - 1;
    if (bytes <= table->bytes[0]) return table->seconds[0];
    if (bytes >= table->bytes[last]) return table->seconds[last] * (bytes / table->bytes[last]);
    int at = 1;
    while (table->bytes[at] < bytes) at++;
    double share = (bytes - table->bytes[at - 1]) / (table->bytes[at] - table->bytes[at - 1]);
    return table->seconds[at - 1] + share * (table->seconds[at] - table->seconds[at - 1]);
}

double message_seconds(const MessageCost *message, double bytes) {
    if (!message->some) return 0;
    if (message->table) return table_seconds(message->table, bytes);
    return max_real(message->floor_seconds, collective_seconds(message->cost, 1, bytes / message->share));
}

static bool leaves_domain(const Mesh *mesh, const Footprint *group) {
    for (int a = 0; a < mesh->axis_count; a++)
        if (axis_is_across(&mesh->axes[a]) && group->on[a].factor > 1) return true;
    return false;
}

/* The table of the fewest ranks that are not fewer; groups that leave the domain have none. */
static const MessageTable *table_of(const ServingProfile *profile, const Mesh *mesh, const Footprint *group) {
    const MessageTable *best = NULL;
    int64_t degree = footprint_degree(mesh, group);
    if (leaves_domain(mesh, group)) return NULL;
    for (int i = 0; i < profile->table_count; i++)
        if (profile->tables[i].ranks >= degree && (!best || profile->tables[i].ranks < best->ranks))
            best = &profile->tables[i];
    return best;
}

/* Whether kernels send one copy of a token to each domain that needs any, as those of GPUs do. */
static bool is_switched(const Mesh *mesh) {
    for (int a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].level >= LEVEL_NVLINK && mesh->axes[a].level <= LEVEL_NETWORK) return true;
    return false;
}

void worker_links(const Mesh *mesh, const Placement *placement, int64_t routed, const ServingProfile *profile,
                  WorkerLinks *out) {
    Nesting nesting = nesting_canonical();
    Mesh routing = *mesh;
    routing.fabric.routed_copies = is_switched(mesh) ? (double)routed : 0;
    Footprint tensor = nesting_footprint(mesh, &nesting, placement, 1u << ROLE_TENSOR);
    Footprint group = nesting_footprint(mesh, &nesting, placement, 1u << ROLE_TENSOR | 1u << ROLE_EXPERT);
    Footprint stages = nesting_footprint(mesh, &nesting, placement, 1u << ROLE_PIPELINE);
    MessageCost plain = {.floor_seconds = profile->collective_floor_seconds, .share = profile->link_share};
    MessageCost tensor_cost = plain, group_cost = plain;
    tensor_cost.some = footprint_degree(mesh, &tensor) > 1;
    group_cost.some = footprint_degree(mesh, &group) > 1;
    *out = (WorkerLinks){tensor_cost, tensor_cost, tensor_cost, group_cost, group_cost, plain, false, false};
    out->wide = out->balanced = leaves_domain(mesh, &group);
    out->reduce.cost = collective_cost(COLLECTIVE_ALL_REDUCE, mesh, &tensor);
    out->reduce.table = tensor_cost.some ? table_of(profile, mesh, &tensor) : NULL;
    out->gather.cost = collective_cost(COLLECTIVE_ALL_GATHER, mesh, &tensor);
    out->shuffle.cost = collective_cost(COLLECTIVE_ALL_TO_ALL, mesh, &tensor);
    out->collect.cost = collective_cost(COLLECTIVE_ALL_GATHER, mesh, &group);
    out->dispatch.cost = collective_cost(COLLECTIVE_DISPATCH, &routing, &group);
    out->dispatch.floor_seconds = profile->exchange_floor_seconds;
    out->dispatch.share = out->wide ? profile->exchange_network_share : profile->exchange_share;
    out->pass.cost = collective_cost(COLLECTIVE_PERMUTE, mesh, &stages);
    out->pass.some = footprint_degree(mesh, &stages) > 1;
}
