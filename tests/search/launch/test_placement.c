/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One row, one plan and one launcher: whether it places the plan so by itself, when told, or not at all. What it would
 * do is worked out by hand from docs/model.md, "Where launchers place roles". */

#include "base/util.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* A machine: sizes of x y z (rings), dcn and the cores of a chip, or of nvlink and network. */
enum { DCN = 3, NVLINK, NETWORK, CORES, SIZES };

static Mesh mesh_of(const int64_t sizes[SIZES]) {
    const struct {
        const char *name;
        int64_t size;
        AxisKind kind;
        AxisLevel level;
        double rate, latency;
    } AXES[] = {{"core", sizes[CORES], AXIS_LINE, LEVEL_ICI, 5.4e11, 1e-6},
                {"x", sizes[0], AXIS_RING, LEVEL_ICI, 9e10, 1e-6},
                {"y", sizes[1], AXIS_RING, LEVEL_ICI, 9e10, 1e-6},
                {"z", sizes[2], AXIS_RING, LEVEL_ICI, 9e10, 1e-6},
                {"nvlink", sizes[NVLINK], AXIS_SWITCH, LEVEL_NVLINK, 4.5e11, 3e-6},
                {"network", sizes[NETWORK], AXIS_SWITCH, LEVEL_NETWORK, 5e10, 1e-5},
                {"dcn", sizes[DCN], AXIS_SWITCH, LEVEL_DCN, 6.25e9, 1e-5}};
    Mesh mesh = {.chips = 1};
    for (size_t i = 0; i < COUNT_OF(AXES); i++) {
        if (AXES[i].size <= 1) continue;
        Axis *axis = &mesh.axes[mesh.axis_count++];
        *axis = (Axis){.kind = AXES[i].kind,
                       .level = AXES[i].level,
                       .size = AXES[i].size,
                       .bytes_per_second = AXES[i].rate,
                       .latency_seconds = AXES[i].latency};
        strcpy(axis->name, AXES[i].name);
        mesh.chips *= axis->size;
    }
    mesh.devices = mesh.chips;
    return mesh;
}

typedef struct {
    const char *axis;
    Role role;
    int32_t factor;
} Factor;

static const struct {
    const char *name, *chip;
    int64_t sizes[SIZES];
    Factor factors[10];
    struct {
        const char *nesting;
        int launcher;
        LaunchKind kind;
        const char *needs;
        int default_is; /* the step of its own placement against the plan's: 0 the same, 1 longer, -1 shorter, 2 not
                         * known, 3 another, 4 the same though placed otherwise */
    } told;
} ROWS[] = {
    {"whole axes: tensor takes x, the rest the others",
     "tpu-v5p",
     {8, 8, 8},
     {{"x", ROLE_TENSOR, 8}, {"y", ROLE_FSDP, 8}, {"z", ROLE_FSDP, 8}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_DEFAULT, NULL, 0}},
    {"equal axes trade places",
     "tpu-v5p",
     {8, 8, 8},
     {{"x", ROLE_FSDP, 8}, {"y", ROLE_FSDP, 8}, {"z", ROLE_TENSOR, 8}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_DEFAULT, NULL, 0}},
    {"no whole axis has four: the inner four of x, when told",
     "tpu-v5p",
     {16, 20, 28},
     {{"x", ROLE_TENSOR, 4}, {"x", ROLE_FSDP, 4}, {"y", ROLE_FSDP, 20}, {"z", ROLE_FSDP, 28}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_OPTION, "allow_split_physical_axes=true", 0}},
    {"four of y are as fast as the four of x that it takes",
     "tpu-v5p",
     {16, 20, 28},
     {{"y", ROLE_TENSOR, 4}, {"x", ROLE_FSDP, 16}, {"y", ROLE_FSDP, 5}, {"z", ROLE_FSDP, 28}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_OPTION, "allow_split_physical_axes=true", 4}},
    {"two of x and two of y have twice the links of four of x",
     "tpu-v5p",
     {16, 20, 28},
     {{"x", ROLE_TENSOR, 2}, {"y", ROLE_TENSOR, 2}, {"x", ROLE_FSDP, 8}, {"y", ROLE_FSDP, 10}, {"z", ROLE_FSDP, 28}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_IMPOSSIBLE, NULL, 1}},
    {"in JAX one orders the devices oneself",
     "tpu-v5p",
     {16, 20, 28},
     {{"x", ROLE_TENSOR, 2}, {"y", ROLE_TENSOR, 2}, {"x", ROLE_FSDP, 8}, {"y", ROLE_FSDP, 10}, {"z", ROLE_FSDP, 28}},
     {"default", LAUNCHER_JAX, LAUNCH_DEVICE_ORDER, "an array of devices in the plan's order", 1}},
    {"two twos are as fast as the four that it takes: 2 W1 either way, and as much is left",
     "tpu-v5p",
     {4, 4, 8},
     {{"x", ROLE_TENSOR, 2}, {"y", ROLE_TENSOR, 2}, {"x", ROLE_FSDP, 2}, {"y", ROLE_FSDP, 2}, {"z", ROLE_FSDP, 8}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_DEFAULT, NULL, 4}},
    {"expert inside tensor is MaxText's",
     "tpu-v5p",
     {16, 16, 8},
     {{"x", ROLE_EXPERT, 4}, {"x", ROLE_TENSOR, 4}, {"y", ROLE_FSDP, 16}, {"z", ROLE_FSDP, 8}},
     {"maxtext", LAUNCHER_MAXTEXT, LAUNCH_OPTION, "allow_split_physical_axes=true", 0}},
    {"tensor inside expert is not",
     "tpu-v5p",
     {16, 16, 8},
     {{"x", ROLE_EXPERT, 4}, {"x", ROLE_TENSOR, 4}, {"y", ROLE_FSDP, 16}, {"z", ROLE_FSDP, 8}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_IMPOSSIBLE, NULL, 3}},
    {"blocks of 2 x 2 on 16 x 16",
     "tpu-v6e",
     {16, 16},
     {{"x", ROLE_TENSOR, 2}, {"y", ROLE_TENSOR, 2}, {"x", ROLE_FSDP, 8}, {"y", ROLE_FSDP, 8}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_OPTION, "allow_split_physical_axes=true custom_mesh=hybrid_ring_64x4", 3}},
    {"two devices of a chip are the last axis: eight is four of x and both",
     "tpu-v7",
     {4, 8, 16, [CORES] = 2},
     {{"x", ROLE_TENSOR, 4}, {"core", ROLE_TENSOR, 2}, {"y", ROLE_FSDP, 8}, {"z", ROLE_FSDP, 16}},
     {"default", LAUNCHER_JAX, LAUNCH_DEFAULT, NULL, 0}},
    {"slices are told apart by dcn degrees",
     "tpu-v5p",
     {8, 8, 8, 4},
     {{"x", ROLE_TENSOR, 8}, {"y", ROLE_FSDP, 8}, {"z", ROLE_FSDP, 8}, {"dcn", ROLE_PIPELINE, 4}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_DEFAULT, NULL, 0}},
    {"a slice numbered by hand is not priced",
     "tpu-v5e",
     {2, 4},
     {{"x", ROLE_TENSOR, 2}, {"y", ROLE_FSDP, 4}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_DEFAULT, NULL, 2}},
    {"one role has all of it: however it is numbered",
     "tpu-v5e",
     {2, 4},
     {{"x", ROLE_FSDP, 2}, {"y", ROLE_FSDP, 4}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_DEFAULT, NULL, 0}},
    {"on GPUs a domain is a slice: ici and dcn degrees say all",
     "h100",
     {[NVLINK] = 8, [NETWORK] = 16},
     {{"nvlink", ROLE_FSDP, 8}, {"network", ROLE_TENSOR, 16}},
     {"default", LAUNCHER_MAXTEXT, LAUNCH_DEFAULT, NULL, 0}},

    {"tensor on the node, data across",
     "h100",
     {[NVLINK] = 8, [NETWORK] = 16},
     {{"nvlink", ROLE_TENSOR, 8}, {"network", ROLE_DATA, 16}},
     {"default", LAUNCHER_MEGATRON, LAUNCH_DEFAULT, NULL, 0}},
    {"a tensor group over two nodes",
     "h100",
     {[NVLINK] = 8, [NETWORK] = 16},
     {{"nvlink", ROLE_TENSOR, 8}, {"network", ROLE_TENSOR, 2}, {"network", ROLE_DATA, 8}},
     {"default", LAUNCHER_MEGATRON, LAUNCH_DEFAULT, NULL, 0}},
    {"stages on a node: before data, when told",
     "h100",
     {[NVLINK] = 8, [NETWORK] = 16},
     {{"nvlink", ROLE_TENSOR, 4}, {"nvlink", ROLE_PIPELINE, 2}, {"network", ROLE_DATA, 16}},
     {"default", LAUNCHER_MEGATRON, LAUNCH_OPTION, "--use-tp-pp-dp-mapping", 3}},
    {"torchtitan has one order",
     "h100",
     {[NVLINK] = 8, [NETWORK] = 16},
     {{"nvlink", ROLE_TENSOR, 4}, {"nvlink", ROLE_PIPELINE, 2}, {"network", ROLE_DATA, 16}},
     {"default", LAUNCHER_TORCHTITAN, LAUNCH_IMPOSSIBLE, NULL, 3}},
    {"consecutive ranks share a node: tensor cannot be across",
     "h100",
     {[NVLINK] = 8, [NETWORK] = 8},
     {{"nvlink", ROLE_DATA, 8}, {"network", ROLE_TENSOR, 8}},
     {"default", LAUNCHER_MEGATRON, LAUNCH_IMPOSSIBLE, NULL, -1}},
    {"six of eight: a group begins in the middle of a node",
     "h100",
     {[NVLINK] = 8, [NETWORK] = 9},
     {{"nvlink", ROLE_TENSOR, 2}, {"network", ROLE_TENSOR, 3}, {"nvlink", ROLE_DATA, 4}, {"network", ROLE_DATA, 3}},
     {"default", LAUNCHER_MEGATRON, LAUNCH_IMPOSSIBLE, NULL, 2}},
    {"experts are the innermost of data",
     "h100",
     {[NVLINK] = 8, [NETWORK] = 4},
     {{"nvlink", ROLE_EXPERT, 8}, {"network", ROLE_FSDP, 4}},
     {"default", LAUNCHER_TORCHTITAN, LAUNCH_DEFAULT, NULL, 0}},
};

static Placement placement_of(const Mesh *mesh, const Factor factors[10]) {
    Placement placement;
    for (int a = 0; a < MESH_AXES_MAX; a++)
        for (int role = 0; role < ROLE_COUNT; role++) placement.factor[a][role] = 1;
    for (int i = 0; i < 10 && factors[i].axis; i++)
        for (int a = 0; a < mesh->axis_count; a++)
            if (strcmp(mesh->axes[a].name, factors[i].axis) == 0)
                placement.factor[a][factors[i].role] = factors[i].factor;
    return placement;
}

/* Every group moves a gigabyte and is exposed; tensor ten, so that where it lies shows. */
static void busy(StepRule *rule, Resources *resources) {
    *rule = (StepRule){.microbatches = 1};
    *resources = (Resources){{0}};
    for (int group = 0; group < GROUP_COUNT; group++) rule->exposed[group] = rule->exposed_scale_out[group] = 1;
    for (int group = 0; group < GROUP_DATA; group++)
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            resources->of[res_messages((Group)group, (Phase)phase)] = 1;
            resources->of[res_bytes((Group)group, (Phase)phase)] = group == GROUP_TENSOR ? 1e10 : 1e9;
        }
    for (int i = 0; i < DATA_GROUPS; i++) rule->data_end[i] = (Traffic){1, 1e9};
}

static double step_of(const Mesh *mesh, const Placement *placement, const Nesting *nesting, const Plan *plan,
                      const StepRule *rule, const Resources *resources) {
    Rates rates;
    NestedMesh nested_mesh = {mesh, *nesting};
    rates_of_placement(&nested_mesh, placement, &plan->knobs.methods, &rates);
    return step_seconds(rule, resources, &rates);
}

static void check_default(const char *name, const LaunchAnswer *answer, int is, double seconds) {
    double other = answer->default_seconds;
    if (is == 2) {
        cr_expect(other < 0 && answer->unpriced, "%s: %g", name, other);
        return;
    }
    cr_expect(other >= 0 && !answer->unpriced, "%s: its own placement is not priced", name);
    if (is == 0 || is == 4) cr_expect_float_eq(other, seconds, 1e-9 * seconds, "%s: %g, not %g", name, other, seconds);
    if (is == 1 || is == -1) cr_expect((other > seconds) == (is == 1), "%s: %g after %g", name, other, seconds);
    if (is == 3) cr_expect(fabs(other - seconds) > 1e-6 * seconds, "%s: %g as well", name, other);
}

Test(launch_placement, rules) {
    StepRule rule;
    Resources resources;
    busy(&rule, &resources);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Mesh mesh = mesh_of(ROWS[i].sizes);
        NestedMesh nested_mesh = {.mesh = &mesh};
        cr_assert(nesting_named(ROWS[i].told.nesting, &nested_mesh.nesting));
        Plan plan = {.placement = placement_of(&mesh, ROWS[i].factors)};
        for (int role = 0; role < ROLE_COUNT; role++) {
            plan.degrees.of[role] = 1;
            for (int a = 0; a < mesh.axis_count; a++) plan.degrees.of[role] *= plan.placement.factor[a][role];
        }
        for (int a = 0; a < mesh.axis_count; a++) {
            int64_t all = 1;
            for (int role = 0; role < ROLE_COUNT; role++) all *= plan.placement.factor[a][role];
            cr_assert_eq(all, mesh.axes[a].size, "%s: axis %s", ROWS[i].name, mesh.axes[a].name);
        }
        LaunchAnswer answer =
            launch_answer(ROWS[i].told.launcher, &nested_mesh, ROWS[i].chip, &plan, &rule, &resources);
        cr_expect_str_eq(launch_kind_name(answer.kind), launch_kind_name(ROWS[i].told.kind), "%s: %s", ROWS[i].name,
                         launch_kind_name(answer.kind));
        cr_expect((answer.needs == NULL) == (ROWS[i].told.needs == NULL) &&
                      (!answer.needs || strcmp(answer.needs, ROWS[i].told.needs) == 0),
                  "%s: %s", ROWS[i].name, answer.needs ? answer.needs : "nothing");
        double seconds = step_of(&mesh, &plan.placement, &nested_mesh.nesting, &plan, &rule, &resources);
        check_default(ROWS[i].name, &answer, ROWS[i].told.default_is, seconds);
        LauncherSet takes;
        launchers_placing(1u << ROWS[i].told.launcher, &nested_mesh, ROWS[i].chip, &plan.placement, 1, &takes);
        cr_expect(takes == 0 || ROWS[i].told.kind != LAUNCH_IMPOSSIBLE, "%s: %#x", ROWS[i].name, takes);
        cr_expect(takes != 0 || ROWS[i].told.kind == LAUNCH_IMPOSSIBLE || ROWS[i].told.default_is == 4, "%s: %#x",
                  ROWS[i].name, takes);
    }
}
