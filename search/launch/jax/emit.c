/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan as a Python module for JAX: data first (mesh, parameters, activations, remat, schedule), then the functions
 * that are the same for every plan (search/launch/jax/code.c). Tried with JAX 0.10.2 (tests/oracle, tests/launch). */
#include "base/util.h"
#include "cost/plan/grid.h"
#include "cost/state/remat.h"
#include "mesh/jax_mesh.h"
#include "search/answer/parameter_shards.h"
#include "search/answer/plan_words.h"
#include "search/launch/jax/jax.h"

#include <string.h>

static const char WHERE[] = "emit jax";

/* ---- mesh ---- */

/* A tuple of names, as Python writes one. */
static void write_names(const JaxAxes *axes, bool (*wanted)(const JaxAxis *axis, int which), int which, FILE *out) {
    int count = 0;
    fputc('(', out);
    for (int i = 0; i < axes->axis_count; i++)
        if (wanted(&axes->axes[i], which)) fprintf(out, "%s\"%s\"", count++ ? ", " : "", axes->axes[i].name);
    fputs(count == 1 ? ",)" : ")", out);
}

static bool of_role(const JaxAxis *axis, int role) { return (int)axis->role == role; }
static bool of_part(const JaxAxis *axis, int part) { return (int)axis->part == part; }

static void write_mesh(const RankedPlan *ranked, const JaxAxes *axes, FILE *out) {
    static const Role ORDER[] = {ROLE_PIPELINE, ROLE_DATA, ROLE_FSDP, ROLE_SEQUENCE, ROLE_TENSOR};
    bool folded = ranked->plan.knobs.methods.grid.expert > 0;
    fprintf(out, "# Axes of the mesh, outermost first; one device has one axis of one.\nMESH_AXES = {");
    if (axes->axis_count == 0) fprintf(out, "\"data\": 1");
    for (int i = 0; i < axes->axis_count; i++)
        fprintf(out, "%s\"%s\": %lld", i ? ", " : "", axes->axes[i].name, (long long)axes->axes[i].size);
    fprintf(out, "}\n\n# The axes that each role lies on; none: its degree is 1.\nROLES = {\n");
    for (size_t i = 0; i < COUNT_OF(ORDER); i++) {
        fprintf(out, "    \"%s\": ", role_name(ORDER[i]));
        write_names(axes, of_role, (int)ORDER[i], out);
        fprintf(out, ",\n");
    }
    fprintf(out, "    \"expert\": ");
    write_names(axes, folded ? of_part : of_role, folded ? (int)PART_EXPERT : (int)ROLE_EXPERT, out);
    fprintf(out, ",\n    \"expert_tensor\": ");
    write_names(axes, of_part, (int)PART_EXPERT_TENSOR, out);
    fprintf(out, ",\n    \"expert_weights\": ");
    write_names(axes, of_part, (int)PART_WEIGHTS, out);
    fprintf(out, ",\n}\n\n");
    fprintf(out,
            "# Where the axes lie: of each physical axis its size and its factors, outermost first. This is what was "
            "costed.\nPHYSICAL = (\n");
    for (int p = 0; p < axes->physical_count; p++) {
        fprintf(out, "    (\"%s\", %lld, (", axes->physical[p].name, (long long)axes->physical[p].size);
        for (int i = 0; i < axes->physical[p].piece_count; i++)
            fprintf(out, "%s(\"%s\", %lld)", i ? ", " : "", axes->axes[axes->physical[p].pieces[i].axis].name,
                    (long long)axes->physical[p].pieces[i].size);
        fprintf(out, axes->physical[p].piece_count == 1 ? ",)),\n" : ")),\n");
    }
    fprintf(out, ")\n\n");
}

/* ---- parameters ---- */

static void write_dimension(const ParameterShards *spec, int d, FILE *out) {
    int count = spec->ways_count[d];
    if (count == 0) {
        fputs("None", out);
        return;
    }
    if (count > 1) fputc('(', out);
    for (int i = 0; i < count; i++) fprintf(out, "%s\"%s\"", i ? ", " : "", ways_name(spec->ways[d][i]));
    if (count > 1) fputc(')', out);
}

static bool write_parameters(const Request *request, const RankedPlan *ranked, FILE *out, Error *error) {
    const Model *model = &request->question.model;
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    int count = parameter_shards(model, &ranked->plan, specs, &undivided);
    if (undivided)
        return error_set(error, ERROR_INPUT, WHERE,
                         "a sharded dimension has to divide, and fsdp, sequence or expert divides none of %s's; plan "
                         "with --for jax",
                         undivided);
    fprintf(out, "# Layers by kind: how many of each.\nLAYER_KINDS = (");
    for (int i = 0; i < model->kind_count; i++) fprintf(out, "%s%lld", i ? ", " : "", (long long)model->kinds[i].count);
    fprintf(out, "%s)\n\n# Every parameter: shape of one layer's, and the roles that split each dimension.\n",
            model->kind_count == 1 ? "," : "");
    fprintf(out, "PARAMETERS = {\n");
    for (int i = 0; i < count; i++) {
        const ParameterShards *spec = &specs[i];
        if (spec->kind < 0)
            fprintf(out, "    \"%s\": ((", spec->name);
        else if (model->kind_count == 1)
            fprintf(out, "    \"layers.%s\": ((", spec->name);
        else
            fprintf(out, "    \"layers%d.%s\": ((", spec->kind, spec->name);
        for (int d = 0; d < spec->rank; d++)
            fprintf(out, "%lld%s", (long long)spec->size[d], spec->rank == 1 ? "," : d + 1 < spec->rank ? ", " : "");
        fprintf(out, "), spec(");
        for (int d = 0; d < spec->rank; d++) {
            if (d) fputs(", ", out);
            write_dimension(spec, d, out);
        }
        fprintf(out, ")),\n");
    }
    fprintf(out, "}\n\n");
    return true;
}

/* ---- activations ---- */

static void write_activations(const Request *request, const RankedPlan *ranked, FILE *out) {
    LayoutRow rows[LAYOUT_ROWS_MAX];
    int count = layout_rows(&request->question.model, &ranked->plan, rows);
    fprintf(out,
            "# Activations: [sequences, tokens, width], and of qkv and context [sequences, tokens, heads, width].\n"
            "ACTIVATIONS = {\n    \"tokens\": spec((\"data\", \"fsdp\"%s), \"sequence\"),\n",
            ranked->plan.knobs.methods.grid.expert > 0 ? "" : ", \"expert\"");
    for (int i = 0; i < count; i++) {
        bool wanted = strcmp(rows[i].tensor, "logits") == 0, again = false;
        for (Activation a = 0; a < ACTIVATION_COUNT; a++)
            wanted = wanted || strcmp(rows[i].tensor, activation_name(a)) == 0;
        for (int j = 0; j < i; j++) again = again || strcmp(rows[i].tensor, rows[j].tensor) == 0;
        if (wanted && !again) fprintf(out, "    \"%s\": spec%s,\n", rows[i].tensor, rows[i].sharding);
    }
    fprintf(out, "}\n\n");
}

static void write_state(const Request *request, const ActivationState *state, ActivationState wanted, FILE *out) {
    int count = 0;
    fputc('(', out);
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        if (state[a] == wanted && activation_exists(&request->question.model, a))
            fprintf(out, "%s\"%s\"", count++ ? ", " : "", activation_name(a));
    fputs(count == 1 ? ",)" : ")", out);
}

/* Which layers of a stage do what: cut where any activation's state changes, counted from the first recomputed one. */
static void write_remat(const Request *request, const RankedPlan *ranked, FILE *out) {
    static const ActivationState ORDER[] = {STATE_RECOMPUTED, STATE_PARTLY, STATE_OFFLOADED, STATE_SAVED};
    const Layout *layout = &ranked->plan.layout;
    int64_t layers = stage_layers(&ranked->plan), at = 0;
    fprintf(out,
            "# Names for jax.ad_checkpoint.checkpoint_name. Runs of layers of a stage: how many, what is saved, what "
            "is offloaded;\n# all else is computed again. layer_input is what a layer is computed again from.\n"
            "REMAT = (\n");
    while (at < layers) {
        int64_t until = layers;
        ActivationState state[ACTIVATION_COUNT];
        for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
            int64_t end = 0;
            state[a] = STATE_SAVED;
            for (size_t s = 0; s < COUNT_OF(ORDER); s++) {
                end += layout->layers[a][ORDER[s]];
                if (at >= end) continue;
                state[a] = ORDER[s];
                until = min_whole(until, end);
                break;
            }
        }
        fprintf(out, "    (%lld, ", (long long)(until - at));
        write_state(request, state, STATE_SAVED, out);
        fputs(", ", out);
        write_state(request, state, STATE_OFFLOADED, out);
        fputs("),\n", out);
        at = until;
    }
    fprintf(out, ")\n\n");
}

/* ---- the rest ---- */

static void write_numbers(const Request *request, const RankedPlan *ranked, FILE *out) {
    StateDtypes dtypes = emit_state_dtypes(request, ranked);
    fprintf(out,
            "DTYPES = {\"parameters\": \"%s\", \"gradients\": \"%s\", \"master\": \"%s\", \"first_moment\": \"%s\", ",
            dtype_name(dtypes.parameters), dtype_name(dtypes.gradients), dtype_name(dtypes.master),
            dtype_name(dtypes.first));
    fprintf(out, "\"second_moment\": \"%s\", \"matmuls\": \"%s\"}\n", dtype_name(dtypes.second),
            precision_name(request->question.precision));
    fprintf(out, "PREDICTED_STEP_SECONDS = %.17g\n", ranked->estimate.time.seconds);
}

void jax_notes(const LaunchJob *job, EmitNotes *notes) {
    ContextMethod context = job->knobs->methods.context;
    if (job->pipeline > 1)
        emit_note(notes,
                  "mesh and shardings are here; the schedule (%s) and its passes between stages are yours to write, "
                  "with jax.shard_map and ppermute over the axis pipeline",
                  schedule_name(job->knobs->schedule));
    if (context == CONTEXT_RING || context == CONTEXT_ULYSSES_RING)
        emit_note(notes, "attention over a ring is a kernel of yours: XLA's partitioner gathers keys and values");
}

bool jax_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    const Request *request = job->request;
    const RankedPlan *ranked = job->ranked;
    JaxAxes axes;
    char name[PROSE_NAME_SIZE];
    if (!jax_axes_of(ranked, &axes))
        return error_set(error, ERROR_INPUT, WHERE,
                         "the folded expert grid cuts other roles' ranks where they do not divide; require another "
                         "folded_expert");
    fprintf(out, "#!/usr/bin/env python3\n");
    emit_header(job, notes, out);
    jax_write_head(out);
    fprintf(out, "MODEL = ");
    emit_quoted(request->question.model.name, out);
    fprintf(out, "\nCHIP = ");
    emit_quoted(request->question.chip.name, out);
    fprintf(out, "\nMACHINE = ");
    emit_quoted(clean_name(ranked->machine.text, name), out);
    fprintf(out, "\n\n");
    write_mesh(ranked, &axes, out);
    jax_write_spec(out);
    if (!write_parameters(request, ranked, out, error)) return false;
    write_activations(request, ranked, out);
    write_remat(request, ranked, out);
    LaunchTerms terms = launch_terms(job);
    terms.of[TERM_STAGE_LAYERS] = stage_layers(&ranked->plan);
    fprintf(out, "# The step.\n");
    keys_write(JAX_KEYS, "s", &terms, KEYS_PYTHON, out);
    write_numbers(request, ranked, out);
    jax_write_functions(out);
    return true;
}

/* ---- axes ---- */

/* A run of neighbours on one physical axis. */
typedef struct {
    Role role;
    RolePart part;
    int64_t size;
} Piece;

typedef struct {
    Piece pieces[MESH_AXES_MAX][JAX_PIECES_MAX]; /* innermost first */
    int count[MESH_AXES_MAX];
} Pieces;

static bool add_piece(Pieces *to, int axis, Role role, RolePart part, int64_t size) {
    if (size == 1) return true;
    if (to->count[axis] == JAX_PIECES_MAX) return false;
    to->pieces[axis][to->count[axis]++] = (Piece){role, part, size};
    return true;
}

/* The grid's ways run over the ranks that the pipeline leaves, from the inside, across the roles' borders. */
static bool cut_by_grid(const RankedPlan *ranked, const GridFootprints *grid, int axis, Pieces *to) {
    const Footprint *const ways[] = {&grid->expert_tensor, &grid->expert, &grid->weights, &grid->data};
    const int32_t *factors = ranked->plan.placement.factor[axis];
    int part = 0;
    int64_t room = ways[0]->on[axis].factor;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = ranked->nesting.order[i];
        int64_t left = factors[role];
        if (role == ROLE_PIPELINE) {
            if (!add_piece(to, axis, role, PART_ALL, left)) return false;
            continue;
        }
        while (left > 1) {
            while (room == 1 && part < 3) room = ways[++part]->on[axis].factor;
            int64_t taken = min_whole(left, room);
            if (taken == 1 || left % taken != 0 || room % taken != 0) return false;
            if (!add_piece(to, axis, role, (RolePart)part, taken)) return false;
            left /= taken;
            room /= taken;
        }
    }
    return true;
}

/* `heads`: ways of sequence that exchange heads and have found no place yet; they take neighbours, axis by axis. */
static bool cut_by_role(const RankedPlan *ranked, int axis, int64_t *heads, Pieces *to) {
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = ranked->nesting.order[i];
        int64_t factor = ranked->plan.placement.factor[axis][role];
        bool usp = role == ROLE_SEQUENCE && ranked->plan.knobs.methods.context == CONTEXT_ULYSSES_RING;
        int64_t inner = usp ? common_divisor(*heads, factor) : 1;
        *heads /= inner;
        if (!add_piece(to, axis, role, PART_ULYSSES, inner) ||
            !add_piece(to, axis, role, usp ? PART_RING : PART_ALL, factor / inner))
            return false;
    }
    return true;
}

static int find_axis(const JaxAxes *axes, Role role, RolePart part) {
    for (int i = 0; i < axes->axis_count; i++)
        if (axes->axes[i].role == role && axes->axes[i].part == part) return i;
    return -1;
}

/* One axis for each role and part that occurs, the outermost role first, within a role the outer part. */
static void collect_axes(const RankedPlan *ranked, const Pieces *pieces, JaxAxes *out) {
    static const char *const PARTS[] = {"expert_tensor", "expert", "weights", "copies", "ulysses", "ring", ""};
    for (int i = ROLE_COUNT - 1; i >= 0; i--) {
        Role role = ranked->nesting.order[i];
        int first = out->axis_count;
        for (int part = PART_ALL; part >= 0; part--) {
            int64_t size = 1;
            for (int a = 0; a < ranked->machine.mesh.axis_count; a++)
                for (int p = 0; p < pieces->count[a]; p++)
                    if (pieces->pieces[a][p].role == role && (int)pieces->pieces[a][p].part == part)
                        size *= pieces->pieces[a][p].size;
            if (size > 1 && out->axis_count < JAX_AXES_MAX)
                out->axes[out->axis_count++] = (JaxAxis){.role = role, .part = (RolePart)part, .size = size};
        }
        for (int a = first; a < out->axis_count; a++) {
            bool alone = out->axis_count == first + 1;
            snprintf(out->axes[a].name, JAX_NAME_SIZE, "%s%s%s", role_name(role), alone ? "" : "_",
                     alone ? "" : PARTS[out->axes[a].part]);
        }
    }
}

/* JAX numbers a slice's chips x, y, z and then cores, the last fastest, and slices outside of all. */
static int jax_rank(const Axis *axis) {
    if (axis_is_across(axis)) return -1;
    return axis->level == LEVEL_ICI ? jax_physical_index(axis) : 0;
}

bool jax_axes_of(const RankedPlan *ranked, JaxAxes *out) {
    const Mesh *mesh = &ranked->machine.mesh;
    const Methods *methods = &ranked->plan.knobs.methods;
    GridRanks ranks;
    GridFootprints grid;
    Pieces pieces = {.count = {0}};
    int64_t heads = max_whole(1, methods->ulysses);
    bool folded = methods->grid.expert > 0;
    *out = (JaxAxes){.axis_count = 0};
    if (folded && (!grid_ranks(&ranked->plan.degrees, methods, &ranks) || methods->context == CONTEXT_ULYSSES_RING))
        return false;
    if (folded) grid = grid_footprints(mesh, &ranked->plan.placement, &ranks);
    for (int a = 0; a < mesh->axis_count; a++)
        if (folded ? !cut_by_grid(ranked, &grid, a, &pieces) : !cut_by_role(ranked, a, &heads, &pieces)) return false;
    collect_axes(ranked, &pieces, out);
    for (int rank = -1; rank <= 3; rank++)
        for (int a = 0; a < mesh->axis_count; a++) {
            if (jax_rank(&mesh->axes[a]) != rank) continue;
            int at = out->physical_count++;
            out->physical[at].name = mesh->axes[a].name;
            out->physical[at].size = mesh->axes[a].size;
            for (int p = pieces.count[a] - 1; p >= 0; p--) {
                int next = out->physical[at].piece_count++;
                out->physical[at].pieces[next].axis =
                    find_axis(out, pieces.pieces[a][p].role, pieces.pieces[a][p].part);
                out->physical[at].pieces[next].size = pieces.pieces[a][p].size;
            }
        }
    return true;
}
