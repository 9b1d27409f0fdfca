/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/maxtext/maxtext.h"

#include "base/util.h"
#include "mesh/jax_mesh.h"
#include "search/launch/placement.h"

#include <string.h>

static const char WHERE[] = "emit maxtext";

void maxtext_write_pairs(const char *pairs, FILE *out) {
    while (pairs && *pairs) {
        size_t length = strcspn(pairs, " "), name = strcspn(pairs, "=");
        fprintf(out, "%.*s: %.*s\n", (int)name, pairs, (int)(length - name - 1), pairs + name + 1);
        pairs += length + strspn(pairs + length, " ");
    }
}

MaxtextDivision maxtext_division(const RankedPlan *ranked) {
    MaxtextDivision division;
    const Mesh *mesh = &ranked->machine.mesh;
    for (int role = 0; role < ROLE_COUNT; role++) {
        division.inside[role] = division.across[role] = 1;
        for (int a = 0; a < mesh->axis_count; a++) {
            *(axis_is_across(&mesh->axes[a]) ? &division.across[role] : &division.inside[role]) *=
                ranked->plan.placement.factor[a][role];
        }
    }
    return division;
}

/* Every key of the two networks, none at -1. `tensor_sequence` is tensor with the residual stream split along the
 * sequence; of `usp` the exchange of heads is an axis of its own. */
static void write_network(const char *network, const int64_t degree[ROLE_COUNT], const Plan *plan, FILE *out) {
    bool along = plan->layout.sharding.residual == RESIDUAL_SEQUENCE;
    bool usp = plan->knobs.methods.context == CONTEXT_ULYSSES_RING;
    int64_t ulysses = usp && degree[ROLE_SEQUENCE] > 1 ? max_whole(1, plan->knobs.methods.ulysses) : 1;
    const struct {
        const char *key;
        int64_t degree;
    } KEYS[] = {{"diloco", 1},
                {"data", degree[ROLE_DATA]},
                {"pipeline", degree[ROLE_PIPELINE]},
                {"fsdp", degree[ROLE_FSDP]},
                {"fsdp_transpose", 1},
                {"sequence", 1},
                {"context", degree[ROLE_SEQUENCE] / ulysses},
                {"context_usp_ulysses", ulysses},
                {"context_autoregressive", 1},
                {"tensor", along ? 1 : degree[ROLE_TENSOR]},
                {"tensor_sequence", along ? degree[ROLE_TENSOR] : 1},
                {"expert", degree[ROLE_EXPERT]},
                {"autoregressive", 1}};
    for (size_t i = 0; i < COUNT_OF(KEYS); i++)
        fprintf(out, "%s_%s_parallelism: %lld\n", network, KEYS[i].key, (long long)KEYS[i].degree);
}

/* `usp` has two axes where the plan has one role, which JAX lays one after the other, heads inside the ring: whether it
 * has to split physical axes for them, and that together they lie as the role was costed. */
static bool place_usp(const LaunchJob *job, const MaxtextDivision *division, bool *split, Error *error) {
    const RankedPlan *ranked = job->ranked;
    const Mesh *mesh = &ranked->machine.mesh;
    JaxShape physical = jax_physical_shape(mesh), logical = {.count = 0};
    Role roles[ROLE_COUNT + 1];
    JaxAssignment assignment;
    Nesting nesting = job->launcher->nestings[0].order;
    int64_t heads = max_whole(1, ranked->plan.knobs.methods.ulysses);
    for (int l = 0; l < ROLE_COUNT; l++) {
        Role role = jax_role(&nesting, l);
        bool sequence = role == ROLE_SEQUENCE;
        roles[logical.count] = role;
        logical.size[logical.count++] = division->inside[role] / (sequence ? heads : 1);
        if (!sequence) continue;
        roles[logical.count] = role;
        logical.size[logical.count++] = heads;
    }
    Placement own = ranked->plan.placement;
    *split = jax_mesh_assign(&physical, &logical, false, &assignment) != JAX_MESH_PLACED;
    bool placed = !*split || jax_mesh_assign(&physical, &logical, true, &assignment) == JAX_MESH_PLACED;
    for (int a = 0; a < mesh->axis_count && placed; a++) {
        int p = jax_physical_index(&mesh->axes[a]);
        if (p < 0) continue;
        for (int role = 0; role < ROLE_COUNT; role++) own.factor[a][role] = 1;
        for (int l = 0; l < logical.count; l++) own.factor[a][roles[l]] *= (int32_t)assignment.factor[p][l];
    }
    if (placed && placements_alike(mesh, &ranked->plan.placement, &ranked->nesting, &own, &nesting)) return true;
    return error_set(error, ERROR_INPUT, WHERE,
                     "usp's two axes of the mesh land elsewhere than this plan's sequence; require "
                     "context_method=ring or ulysses");
}

/* What has to be said about physical axes; GPUs have none. */
static bool write_axes(const LaunchJob *job, const MaxtextDivision *division, bool tpu, FILE *out, Error *error) {
    const LaunchAnswer *answer = emit_launch_answer(job->ranked, job->launcher);
    bool split = false;
    if (tpu && job->knobs->methods.context == CONTEXT_ULYSSES_RING) {
        if (!place_usp(job, division, &split, error)) return false;
        fprintf(out, "allow_split_physical_axes: %s\n", split ? "true" : "false");
    } else if (tpu && answer && answer->needs) {
        maxtext_write_pairs(answer->needs, out);
    } else {
        fprintf(out, "allow_split_physical_axes: false\n");
    }
    return true;
}

bool maxtext_write_mesh(const LaunchJob *job, bool tpu, FILE *out, Error *error) {
    const Plan *plan = &job->ranked->plan;
    MaxtextDivision division = maxtext_division(job->ranked);
    write_network("ici", division.inside, plan, out);
    write_network("dcn", division.across, plan, out);
    return write_axes(job, &division, tpu, out, error);
}
