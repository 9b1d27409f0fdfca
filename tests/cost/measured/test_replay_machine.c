/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the ranks of measured runs stand: chip by chip as their launchers number them, and which groups stay inside a
 * node. */
#include "tests/cost/measured/replays.h"
#include "tests/mesh/ranks.h"

#include "cost/measured/replay.h"
#include "cost/plan/grid.h"
#include "cost/time/step.h"

#include <stdio.h>

TestSuite(placement, .init = replays_setup, .fini = replays_teardown);

static int64_t degree(const Replay *one, Role role) { return one->plan.degrees.of[role]; }

/* Checks every run on GPUs, each group of each rank. Megatron-Core (parallel_state.py, order tp-cp-ep-dp-pp): rank = t
 * + tp (c + cp (d + dp p)), experts by a generator of their own, et + etp (e + ep (ed + edp p)). torch
 * (init_device_mesh over [pp, dp_replicate, dp_shard, cp, tp]): t + tp (c + cp (s + shards (r + replicas p))), so that
 * hybrid sharding shards among neighbours and replicates across. MaxText ([data, stage, fsdp, context, tensor, expert],
 * the last fastest): e + ep (t + tp (c + cp (s + fsdp (p + pp d)))). */
Test(placement, gpus_rank_by_rank) {
    int runs = 0, hybrids = 0, grids = 0, shared = 0;
    for (int64_t i = 0; i < train.count; i++) {
        const Replay *one = replayed(&train.runs[i]);
        if (!chip_has_domains(&one->chip)) continue;
        /* 39 replicas of 8 ranks in racks of 64: groups that end within a rack have no footprint; its stages are taken
         * to be the neighbours */
        if (strstr(train.runs[i].id, "carina_ngpu2496")) continue;
        int64_t t = degree(one, ROLE_TENSOR), c = degree(one, ROLE_SEQUENCE), s = degree(one, ROLE_FSDP),
                d = degree(one, ROLE_DATA), p = degree(one, ROLE_PIPELINE), e = degree(one, ROLE_EXPERT);
        cr_expect_eq(e, 1, "%s: experts lie on the ranks of the others", one->run->id);
        bool jax = one->run->request.jax_mesh;
        const int64_t ranks[] = {t, c, s, d, p}, jax_ranks[] = {t, c, s, p, d};
        const int64_t *sizes = jax ? jax_ranks : ranks;
        const int data_at = jax ? 4 : 3, stages_at = jax ? 3 : 4;
        const Methods *methods = &one->plan.knobs.methods;
        NestedMesh nested_mesh = {&one->mesh, one->nesting};
        /* the sequence shards with fsdp, or replicates with data: neighbours in either case where one of them is 1 */
        const int64_t sharded[] = {t, c * s, d, p}, replicated[] = {t, c * s * d, p};
        const struct {
            const char *name;
            Group group;
            const int64_t *sizes;
            int which;
        } groups[] = {{"tensor", GROUP_TENSOR, sizes, 0},
                      {"context", GROUP_SEQUENCE, sizes, 1},
                      {"stages", GROUP_PIPELINE, sizes, stages_at},
                      {"shards", GROUP_WEIGHTS, methods->sequence_replicates ? sizes : sharded,
                       methods->sequence_replicates ? 2 : 1},
                      {"replicas", GROUP_DATA, methods->sequence_replicates ? replicated : sizes,
                       methods->sequence_replicates ? 1 : data_at}};
        for (size_t g = 0; g < COUNT_OF(groups); g++) {
            char name[160];
            if (jax && g == 3 && p > 1) continue;
            snprintf(name, sizeof name, "%s: %s", one->run->id, groups[g].name);
            Footprint at = group_footprint(&nested_mesh, &one->plan.placement, groups[g].group, methods);
            expect_groups(name, &one->mesh, &at, groups[g].sizes, groups[g].which);
        }
        if (methods->grid.expert > 0) {
            GridRanks grid;
            cr_assert(grid_ranks(&one->plan.degrees, methods, &grid));
            const int64_t experts[] = {grid.expert_tensor, grid.expert, grid.data, p};
            Footprint at = group_footprint(&nested_mesh, &one->plan.placement, GROUP_EXPERT, methods),
                      copies = group_footprint(&nested_mesh, &one->plan.placement, GROUP_EXPERT_DATA, methods);
            expect_groups(one->run->id, &one->mesh, &at, experts, 1);
            expect_groups(one->run->id, &one->mesh, &copies, experts, 2);
            grids++;
        }
        runs++, hybrids += s > 1 && d > 1, shared += t > 1 && c > 1 && p > 1 && d > 1;
    }
    cr_expect_gt(runs, 400, "%d", runs);
    cr_expect_gt(grids, 80, "%d with experts on a grid", grids);
    cr_expect_geq(hybrids, 4, "%d shard among some and replicate among others", hybrids);
    cr_expect_geq(shared, 10, "%d with tensor, context, stages and replicas", shared);
}

/* Members of each group in one node (domain), counted by hand from ranks that go along a node first. */
static const struct {
    const char *id, *why;
    int64_t domain, tensor, context, data, pipeline, expert; /* members inside; 0 means unchecked */
} INSIDE[] = {
    {"nemo24.07-llama3-70b-64-8192-12",
     "tp 4 x cp 2 fill a node of 8: data and stages meet over the network, each GPU by "
     "a NIC of its own",
     8, 4, 2, 1, 1, 0},
    {"mlperf-v5.0-nvidia-eos-dfw_n64_ngc25.01_nemo-llama31_405b", "tp 8 fills it: context over the network too", 8, 8,
     1, 1, 1, 0},
    {"nemo24.03.01-llama2-7b-32-32768-16", "tp 2 x cp 2: 2 of 8 replicas beside each other", 8, 2, 2, 2, 1, 0},
    {"mbridge-25.09-deepseek3-671b-h100-1024-fp8", "tp 2 on 8: 4 of 64 replicas; experts on 8 of their 64 ranks", 8, 2,
     1, 4, 1, 8},
    {"mbridge-26.08-deepseek3-671b-gb300-256-mxfp8", "32 ranks of experts within a rack of 64", 64, 1, 1, 64, 1, 32},
    {"mbridge-26.08-qwen3-235b-a22b-gb200-256-mxfp8", "32 replicas and 2 of 8 stages in a rack of 64", 64, 1, 1, 32, 2,
     32},
    {"maxtext-a3-llama2-7b-16x8", "JAX: fsdp 8 within a node, 16 replicas across", 8, 1, 1, 1, 1, 0},
    {"megatron21-t2-zero3-175b-384", "ZeRO-3 over 384: 8 of them in each node", 8, 1, 1, 1, 1, 0},
};

Test(placement, groups_inside_a_node) {
    for (size_t i = 0; i < COUNT_OF(INSIDE); i++) {
        Run run = run_named(INSIDE[i].id);
        const Replay *one = replayed(&run);
        const Placement *at = &one->plan.placement;
        const Methods *methods = &one->plan.knobs.methods;
        NestedMesh nested_mesh = {&one->mesh, one->nesting};
        cr_expect_eq(one->mesh.axes[0].size, INSIDE[i].domain, "%s: a domain of %d", INSIDE[i].id,
                     (int)one->mesh.axes[0].size);
        const struct {
            const char *name;
            int64_t found, expected;
        } rows[] = {
            {"tensor", at->factor[0][ROLE_TENSOR], INSIDE[i].tensor},
            {"context", at->factor[0][ROLE_SEQUENCE], INSIDE[i].context},
            {"data", at->factor[0][ROLE_DATA], INSIDE[i].data},
            {"stages", at->factor[0][ROLE_PIPELINE], INSIDE[i].pipeline},
            {"experts", group_footprint(&nested_mesh, at, GROUP_EXPERT, methods).on[0].factor, INSIDE[i].expert},
        };
        for (size_t j = 0; j < COUNT_OF(rows); j++)
            cr_expect(rows[j].expected == 0 || rows[j].found == rows[j].expected,
                      "%s: %d of %s in a domain, not %d (%s)", INSIDE[i].id, (int)rows[j].found, rows[j].name,
                      (int)rows[j].expected, INSIDE[i].why);
    }
}

/* Slices meet over DCN, where only replicas meet: shards and tensor stay on ICI. A v5e pod of 16 x 16 has one whole
 * axis for each of 16 x 16 ways, both rings. */
Test(placement, slices_meet_over_dcn) {
    static const struct {
        const char *id;
        int64_t slices, chips;
        int64_t fsdp, tensor; /* 0 means that the row does not check it */
    } rows[] = {{"maxtext-v4-22b-8xv4-128", 8, 64, 64, 1},
                {"maxtext-v5e-16b-32xv5e-256", 32, 256, 256, 1},
                {"maxtext-v5e-128b-4xv5e-256", 4, 256, 16, 16},
                {"maxtext-v5p-256b-2xv5p-1024", 2, 512, 64, 8}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Run run = run_named(rows[i].id);
        const Replay *one = replayed(&run);
        const Mesh *mesh = &one->mesh;
        cr_expect_eq(one->slices, rows[i].slices, "%s: %d slices", rows[i].id, (int)one->slices);
        int dcn = mesh->axis_count - 1;
        cr_assert_eq(mesh->axes[dcn].level, LEVEL_DCN, "%s", rows[i].id);
        cr_expect_eq(mesh->axes[dcn].size, rows[i].slices);
        cr_expect_eq(one->plan.placement.factor[dcn][ROLE_DATA], rows[i].slices, "%s", rows[i].id);
        int64_t fsdp = 1, tensor = 1, chips = 1;
        for (int a = 0; a < dcn; a++) {
            fsdp *= one->plan.placement.factor[a][ROLE_FSDP], tensor *= one->plan.placement.factor[a][ROLE_TENSOR];
            chips *= mesh->axes[a].size;
        }
        cr_expect(fsdp == rows[i].fsdp && tensor == rows[i].tensor && chips == rows[i].chips, "%s: %d x %d on %d",
                  rows[i].id, (int)fsdp, (int)tensor, (int)chips);
        if (rows[i].tensor != 16) continue;
        NestedMesh nested_mesh = {mesh, one->nesting};
        for (int g = 0; g < 2; g++) {
            Footprint at = group_footprint(&nested_mesh, &one->plan.placement, g ? GROUP_WEIGHTS : GROUP_TENSOR,
                                           &one->plan.knobs.methods);
            int whole = 0;
            for (int a = 0; a < dcn; a++) whole += at.on[a].factor == 16 && mesh->axes[a].kind == AXIS_RING;
            cr_expect_eq(whole, 1, "%s: group %d has a ring of its own", rows[i].id, g);
        }
    }
}

/* 400 Gb/s of a node of 8 are 6.25 GB/s of each; without a figure the catalog's counts. */
Test(placement, network_of_a_node) {
    Run run = run_named("llmfoundry-001");
    for (int said = 0; said < 2; said++) {
        run.request.node_gigabits = said ? 400 : 0;
        const Replay *one = replayed(&run);
        int network = one->mesh.axis_count - 1;
        cr_assert_eq(one->mesh.axes[network].level, LEVEL_NETWORK);
        cr_expect_float_eq(one->mesh.axes[network].bytes_per_second, said ? 6.25e9 : 5e10, 1, "%g",
                           one->mesh.axes[network].bytes_per_second);
    }
}
