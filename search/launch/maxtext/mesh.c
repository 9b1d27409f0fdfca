/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/maxtext/maxtext.h"

#include "base/util.h"
#include "mesh/jax_mesh.h"
#include "search/launch/placement.h"

#include <inttypes.h>
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

/* Axes of its mesh by the middle of their keys, ici_X_parallelism and dcn_X_parallelism. `tensor_sequence` is tensor
 * with the residual stream split along the sequence; of `usp` the exchange of heads is an axis of its own. */
enum { NO_ROLE = ROLE_COUNT }; /* for decoding, or for what is not priced */
static const struct {
    const char *name;
    int role;
    const char *said; /* what is said of it where it is above 1, which no plan has; NULL: it is what the role is */
} AXES[] = {
    {"diloco", NO_ROLE, NULL},
    {"data", ROLE_DATA, NULL},
    {"pipeline", ROLE_PIPELINE, NULL},
    {"fsdp", ROLE_FSDP, NULL},
    {"fsdp_transpose", ROLE_FSDP, "fsdp_transpose is priced as fsdp"},
    {"sequence", ROLE_SEQUENCE, "sequence is priced as context"},
    {"context", ROLE_SEQUENCE, NULL},
    {"context_usp_ulysses", ROLE_SEQUENCE, NULL},
    {"context_autoregressive", NO_ROLE, NULL},
    {"tensor", ROLE_TENSOR, NULL},
    {"tensor_sequence", ROLE_TENSOR, NULL},
    {"expert", ROLE_EXPERT, NULL},
    {"autoregressive", NO_ROLE, NULL},
    {"tensor_transpose", ROLE_TENSOR, "tensor_transpose is priced as tensor"}, /* is only read */
};
enum { AXIS_CONTEXT = 6, AXIS_USP = 7, AXIS_TENSOR = 9, AXIS_TENSOR_SEQUENCE = 10, AXES_WRITTEN = 13 };

/* Every key of one of the two networks, none at -1. */
static void write_network(const char *network, const int64_t degree[ROLE_COUNT], const Plan *plan, FILE *out) {
    bool along = plan->layout.sharding.residual == RESIDUAL_SEQUENCE;
    bool usp = plan->knobs.methods.context == CONTEXT_ULYSSES_RING;
    int64_t ulysses = usp && degree[ROLE_SEQUENCE] > 1 ? max_whole(1, plan->knobs.methods.ulysses) : 1;
    for (int i = 0; i < AXES_WRITTEN; i++) {
        int64_t ways = AXES[i].role == NO_ROLE || AXES[i].said ? 1 : degree[AXES[i].role];
        if (i == AXIS_CONTEXT) ways /= ulysses;
        if (i == AXIS_USP) ways = ulysses;
        if (i == (along ? AXIS_TENSOR : AXIS_TENSOR_SEQUENCE)) ways = 1;
        fprintf(out, "%s_%s_parallelism: %" PRId64 "\n", network, AXES[i].name, ways);
    }
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
    bool placed = jax_mesh_assign(&physical, &logical, split, &assignment);
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

/* ---- read ---- */

/* The degrees of one network, ici or dcn: at most one is -1, and takes what is left of `total`. */
static bool read_network(ConfigFile *file, const char *network, int64_t total, const char *of,
                         int64_t out[COUNT_OF(AXES)], Error *error) {
    int open = -1;
    int64_t product = 1;
    char key[64], open_key[64] = "";
    for (size_t i = 0; i < COUNT_OF(AXES); i++) {
        bool rest = strcmp(AXES[i].name, network[0] == 'i' ? "fsdp" : "data") == 0;
        snprintf(key, sizeof key, "%s_%s_parallelism", network, AXES[i].name);
        if (!config_whole(file, key, -1, 1 << 24, rest ? -1 : 1, &out[i], error)) return false;
        if (AXES[i].role == NO_ROLE && out[i] != 1)
            return config_wrong(file, NULL, key, error, "%" PRId64 " is a way of training that is not priced; give 1",
                                out[i]);
        if (out[i] == -1 && open >= 0)
            return config_wrong(file, NULL, key, error, "is -1, and %s is -1 too (or not given); give one of them",
                                open_key);
        if (out[i] == -1) {
            open = (int)i;
            snprintf(open_key, sizeof open_key, "%s", key);
        } else if (__builtin_mul_overflow(product, out[i], &product)) {
            product = INT64_MAX;
        }
    }
    if (open >= 0 && product <= total && total % product == 0) {
        out[open] = total / product;
        product = total;
    }
    if (product == total) return true;
    snprintf(key, sizeof key, "%s_*_parallelism", network);
    return config_wrong(file, NULL, key, error,
                        "multiply to %" PRId64 "%s, not to the %" PRId64
                        " %s; give degrees that do, or another machine",
                        product, open >= 0 ? " without the -1" : "", total, of);
}

bool maxtext_read_mesh(ConfigFile *file, const Request *request, int64_t *ulysses, ImportedPlan *plan, Error *error) {
    int64_t inside[COUNT_OF(AXES)], across[COUNT_OF(AXES)];
    bool gpus = chip_has_domains(&request->question.chip);
    int64_t parts = 1; /* slices, or domains of GPUs: what JAX numbers by slice_index */
    const Mesh *mesh = &request->question.machine.mesh;
    for (int a = 0; a < mesh->axis_count; a++)
        if (axis_is_across(&mesh->axes[a])) parts *= mesh->axes[a].size;
    if (!read_network(file, "ici", mesh->devices / parts, gpus ? "GPUs of a domain" : "devices of a slice", inside,
                      error) ||
        !read_network(file, "dcn", parts, gpus ? "domains" : "slices", across, error))
        return false;
    plan->expressible_across = true;
    for (size_t i = 0; i < COUNT_OF(AXES); i++) {
        if (AXES[i].role == NO_ROLE) continue;
        plan->degrees.of[AXES[i].role] *= inside[i] * across[i];
        plan->across[AXES[i].role] *= across[i];
        if (AXES[i].said && inside[i] * across[i] > 1) config_note(file, "%s", AXES[i].said);
    }
    *ulysses = inside[AXIS_USP] * across[AXIS_USP];
    if (plan->degrees.of[ROLE_EXPERT] > 1 && import_experts(request) == 0)
        return config_wrong(file, NULL, "ici_expert_parallelism", error,
                            "%s has no experts; give 1, and its ways to fsdp", request->question.model.name);
    return true;
}
