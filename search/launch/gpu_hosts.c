/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts and their ranks: the part of a script that every launcher by torchrun shares. */
#include "search/launch/gpu_job.h"

#include "base/util.h"

#include <inttypes.h>
#include <string.h>

static const int32_t *network_factors(const GpuJob *job) {
    const Mesh *mesh = &job->ranked->machine.mesh;
    for (int a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].level == LEVEL_NETWORK) return job->ranked->plan.placement.factor[a];
    return NULL;
}

int64_t gpu_job_domains(const GpuJob *job) {
    const Mesh *mesh = &job->ranked->machine.mesh;
    for (int a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].level == LEVEL_NETWORK) return mesh->axes[a].size;
    return 1;
}

/* The order of roles that its option makes; without one, the launcher's own. */
static Nesting nesting_of(const GpuJob *job) {
    const NamedNesting *nestings = job->launcher->nestings;
    for (int n = 1; n < LAUNCHER_NESTINGS_MAX && nestings[n].name && job->option; n++)
        if (strcmp(nestings[n].option, job->option) == 0) return nestings[n].order;
    return nestings[0].order;
}

/* A domain's place along the network is a number whose digits are the roles' members there, in the plan's order; its
 * rank is the number with the same digits in the launcher's. */
int64_t gpu_job_domain_rank(const GpuJob *job, int64_t domain) {
    const int32_t *factor = network_factors(job);
    if (!factor) return 0;
    Nesting own = nesting_of(job);
    int64_t member[ROLE_COUNT], rank = 0, stride = 1;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = job->ranked->nesting.order[i];
        member[role] = domain % factor[role];
        domain /= factor[role];
    }
    for (int i = 0; i < ROLE_COUNT; i++) {
        rank += member[own.order[i]] * stride;
        stride *= factor[own.order[i]];
    }
    return rank;
}

void gpu_job_write_hosts(const GpuJob *job, FILE *out) {
    int64_t domains = gpu_job_domains(job), in_domain = max_whole(1, job->hosts / domains);
    if (!job->host_order) {
        fprintf(out,
                "\n# %" PRId64 " hosts of %" PRId64
                " GPUs, ranks in the order of hosts: consecutive hosts are neighbours "
                "on the network.\n# NODE_RANK: this host's number; MASTER_ADDR: the address of the one with 0.\n"
                "NODE_RANK=${NODE_RANK:-${SLURM_NODEID:-0}}\n",
                job->hosts, job->per_host);
    } else {
        fprintf(out,
                "\n# %" PRId64 " hosts of %" PRId64
                " GPUs in an order of the plan's own, so that what should share a leaf "
                "of the network does.\n# HOST: this host's number, counted leaf by leaf; the table has the rank that "
                "%s gets.\nHOST=${HOST:-${SLURM_NODEID:-0}}\nRANKS=(",
                job->hosts, job->per_host, in_domain > 1 ? "its NVLink domain" : "it");
        for (int64_t domain = 0; domain < domains; domain++)
            fprintf(out, "%s%" PRId64,
                    domain % 16 == 0 && domain > 0 ? "\n    "
                    : domain > 0                   ? " "
                                                   : "",
                    gpu_job_domain_rank(job, domain));
        fprintf(out, ")\nNODE_RANK=$((RANKS[HOST / %" PRId64 "] * %" PRId64 " + HOST %% %" PRId64 "))\n", in_domain,
                in_domain, in_domain);
    }
    fprintf(out, "MASTER_ADDR=${MASTER_ADDR:%s}\n",
            job->hosts > 1 ? "?give the address of the host with NODE_RANK 0" : "-localhost");
    fprintf(out, "MASTER_PORT=${MASTER_PORT:-29500}\n");
}

void gpu_job_write_torchrun(const GpuJob *job, FILE *out) {
    fprintf(out,
            "torchrun --nproc-per-node %" PRId64 " --nnodes %" PRId64
            " --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\" --master-port \"$MASTER_PORT\" \\\n    ",
            job->per_host, job->hosts);
}
