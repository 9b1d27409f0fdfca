/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/report_fixture.h: a report filled by hand: no search, no cost model, so that the golden text moves only
 * when the report's words do. The figures are invented, but fit together: each comment is the sum. */
#pragma once

#include "search/report/report.h"
#include "tests/search/launchers.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    Request request;
    RankedPlan plans[3];
    SearchedMachine machines[3];
    Report report;
} Fixture;

static inline Figure fixture_figure(double value, bool verified) {
    Figure figure = {.value = value, .source = "the fixture", .verified = verified};
    return figure;
}

static inline void fixture_chip(Chip *chip) {
    snprintf(chip->name, sizeof chip->name, "demo-torus");
    snprintf(chip->title, sizeof chip->title, "Demo torus");
    chip->bf16_flops_per_second = fixture_figure(400e12, true);
    chip->hbm_bytes = fixture_figure(100e9, true);
    chip->hbm_bytes_per_second = fixture_figure(2e12, true);
    chip->link_bytes_per_second = fixture_figure(100e9, true);
    chip->hop_seconds = fixture_figure(1e-6, false);
    chip->topology_verified = chip->pod_verified = true;
    chip->scaleout_bytes_per_second = fixture_figure(6e9, true);
    chip->scaleout_seconds = fixture_figure(1e-5, false);
    chip->usd_per_chip_hour = fixture_figure(4, false);
    chip->scaleup = SCALEUP_TORUS_3D;
    chip->devices_per_chip = 1;
    chip->links_per_chip = 6;
}

/* `slices` slices of x * y * z = 8 x 4 x 4, all rings. */
static inline void fixture_machine(int64_t slices, Machine *machine) {
    static const struct {
        const char *name;
        int64_t size;
    } AXES[] = {{"x", 8}, {"y", 4}, {"z", 4}};
    *machine = (Machine){.slice = {{8, 4, 4}}, .slices = slices};
    for (int i = 0; i < 3; i++) {
        Axis *axis = &machine->mesh.axes[machine->mesh.axis_count++];
        *axis = (Axis){.kind = AXIS_RING,
                       .level = LEVEL_ICI,
                       .size = AXES[i].size,
                       .bytes_per_second = 100e9,
                       .latency_seconds = 1e-6};
        snprintf(axis->name, sizeof axis->name, "%s", AXES[i].name);
    }
    machine->mesh.axes[machine->mesh.axis_count++] = (Axis){.name = "dcn",
                                                            .kind = AXIS_SWITCH,
                                                            .level = LEVEL_DCN,
                                                            .size = slices,
                                                            .bytes_per_second = 6e9,
                                                            .latency_seconds = 1e-5};
    machine->mesh.chips = machine->mesh.devices = 128 * slices;
    snprintf(machine->text, sizeof machine->text, "%lld x 8x4x4", (long long)slices);
}

static inline void fixture_model(Model *model) {
    *model =
        (Model){.layers = 48, .d_model = 8192, .vocab = 128000, .max_seq = 8192, .norm = NORM_RMS, .kind_count = 1};
    snprintf(model->name, sizeof model->name, "demo-40b");
    model->kinds[0] =
        (LayerKind){.count = 48, .heads = 64, .kv_heads = 8, .head_dim = 128, .gated = true, .d_ff = 28672, .norms = 2};
}

static inline void fixture_request(Request *request) {
    fixture_model(&request->question.model);
    fixture_chip(&request->question.chip);
    fixture_machine(6, &request->question.machine);
    request->requested.machine_request = (MachineRequest){.slice = "8x4x4", .slices = 6};
    request->space.nesting = nesting_canonical();
    request->requested.nesting = "default";
    snprintf(request->requested.model, sizeof request->requested.model, "demo");
    snprintf(request->requested.machine, sizeof request->requested.machine, "--slice 8x4x4 --slices 6");
    snprintf(request->requested.profile, sizeof request->requested.profile, "demo");
    request->question.profile =
        (Profile){.likely_low = 0.9, .likely_high = 1.25, .tensor_exposed = 0.2, .kept_factor = 1};
    snprintf(request->question.profile.name, sizeof request->question.profile.name, "demo");
    snprintf(request->question.profile.source, sizeof request->question.profile.source, "invented");
    request->question.work = (Work){.sequences = 512, .seq = 8192};
    request->requested.batch_tokens = 512.0 * 8192;
    request->question.training_tokens = 1e12;
    request->requested.batch_origin = FROM_OPTION;
    request->requested.seq_origin = FROM_MODEL;
    request->space.roles = ROLES_DENSE;
    request->space.max_idle = 0.4;
    request->space.padding = PADDING_LAUNCHABLE;
    request->control.top = 3;
    request->question.hbm_reserve = 0.08;
}

static inline void fixture_keep_all(Layout *layout, int64_t layers) {
    for (int i = 0; i < ACTIVATION_COUNT; i++) layout->layers[i][STATE_SAVED] = layers;
}

/* data=4 fsdp=32 tensor=4 on four slices: 512 of 768 chips.
 * 2.62 matmul + 0.21 attention + 0.17 elementwise = 3.00 compute; 0.18 of tensor's 0.90 and 0.02 of fsdp's 1.37
 * exposed; + 0.06 + 0.16 = 3.42 s. */
static inline void fixture_first(RankedPlan *ranked) {
    *ranked = (RankedPlan){.nesting = nesting_canonical(),
                           .launch = {{.launcher = LAUNCHER_MAXTEXT,
                                       .kind = LAUNCH_OPTION,
                                       .needs = "allow_split_physical_axes=true",
                                       .default_needs = "allow_split_physical_axes=true",
                                       .default_seconds = 3.42},
                                      {.launcher = LAUNCHER_JAX,
                                       .kind = LAUNCH_DEVICE_ORDER,
                                       .needs = "an array of devices in the plan's order",
                                       .default_seconds = 3.642}},
                           .launch_count = 2,
                           .ranked_seconds = 3.42,
                           .launchable_by = (1u << LAUNCHER_MAXTEXT) | (1u << LAUNCHER_JAX),
                           .equal_placements = 3,
                           .within_one_percent = 212};
    fixture_machine(4, &ranked->machine);
    ranked->work = (Work){.sequences = 512, .seq = 8192};
    Plan *plan = &ranked->plan;
    plan->degrees = (Degrees){{[ROLE_TENSOR] = 4,
                               [ROLE_EXPERT] = 1,
                               [ROLE_SEQUENCE] = 1,
                               [ROLE_FSDP] = 32,
                               [ROLE_DATA] = 4,
                               [ROLE_PIPELINE] = 1}};
    plan->knobs =
        (Knobs){.microbatches = 2, .microbatch_sequences = 2, .virtual_stages = 1, .zero_stage = 1, .regather = true};
    for (int a = 0; a < MESH_AXES_MAX; a++)
        for (int role = 0; role < ROLE_COUNT; role++) plan->placement.factor[a][role] = 1;
    plan->placement.factor[0][ROLE_TENSOR] = 4; /* x = 4 tensor, 2 fsdp; y and z fsdp; dcn data */
    plan->placement.factor[0][ROLE_FSDP] = 2;
    plan->placement.factor[1][ROLE_FSDP] = plan->placement.factor[2][ROLE_FSDP] = plan->placement.factor[3][ROLE_DATA] =
        4;
    plan->layout.sharding = (Sharding){.residual = RESIDUAL_SEQUENCE};
    fixture_keep_all(&plan->layout, 48);

    Estimate *estimate = &ranked->estimate;
    StepTime *time = &estimate->time;
    *time = (StepTime){.seconds = 3.42,
                       .compute_seconds = 3.0,
                       .exposed_seconds = 0.2,
                       .optimizer_seconds = 0.06,
                       .other_seconds = 0.16,
                       .serial_seconds = 5.99,
                       .lower_seconds = 3.22};
    time->group_seconds[GROUP_TENSOR] = 0.9, time->group_exposed_seconds[GROUP_TENSOR] = 0.18;
    time->group_seconds[GROUP_WEIGHTS] = 1.37, time->group_exposed_seconds[GROUP_WEIGHTS] = 0.02;
    time->group_seconds[GROUP_DATA] = 0.5;
    time->axis_seconds[0] = 2.27, time->axis_seconds[1] = time->axis_seconds[2] = 1.37, time->axis_seconds[3] = 0.5;
    estimate->matmul_seconds = 2.62, estimate->attention_seconds = 0.21, estimate->elementwise_seconds = 0.17;
    estimate->bound_by = BOUND_COMPUTE, estimate->bound_next = BOUND_ICI, estimate->bound_next_share = 0.757;
    /* 1 + 1 + 6 + 21 + 2 + 2 + 3 = 36 GB */
    estimate->memory = (MemoryRows){1e9, 1e9, 6e9, 21e9, 2e9, 2e9, 3e9};
    estimate->moment = MOMENT_FIRST_BACKWARD;
    estimate->memory_limit_bytes = 92e9, estimate->reserve_bytes = 8e9;
    estimate->mfu = 0.412, estimate->mfu_full_attention = 0.431;
    estimate->tokens_per_second_per_chip = 512.0 * 8192 / 512 / 3.42;
    estimate->shard = (Shard){.tensor = 4,
                              .expert = 1,
                              .sequence = 1,
                              .fsdp = 32,
                              .data = 4,
                              .pipeline = 1,
                              .sequences = 2,
                              .seq = 8192,
                              .tokens = 16384,
                              .heads = 16,
                              .d_ff = 7168,
                              .vocab = 32000,
                              .layers = 48,
                              .layers_last = 48,
                              .microbatches = 2};
    estimate->parts[0] = (EstimatePart){.name = "qkv projection",
                                        .kind = OP_MATMUL,
                                        .forward_seconds = 0.87,
                                        .backward_seconds = 1.75,
                                        .flops = 1e15,
                                        .hbm_bytes = 1e12};
    estimate->parts[1] = (EstimatePart){.name = "attention",
                                        .kind = OP_ATTENTION,
                                        .forward_seconds = 0.07,
                                        .backward_seconds = 0.14,
                                        .flops = 4e13,
                                        .hbm_bytes = 1e11};
    estimate->parts[2] = (EstimatePart){.name = "mlp norm",
                                        .kind = OP_ELEMENTWISE,
                                        .forward_seconds = 0.07,
                                        .backward_seconds = 0.1,
                                        .memory_bound = true,
                                        .hbm_bytes = 3e11};
    estimate->part_count = 3;
}

/* The first, with 0.60 s of tensor exposed instead of 0.18, 0.05 s less elementwise: 3.79 s; it recomputes gate and up
 * in 12 layers for 0.1 s: 3.89 s. 0.02 + 0.60 exposed. */
static inline void fixture_second(RankedPlan *ranked) {
    fixture_first(ranked);
    ranked->ranked_seconds = 3.89;
    ranked->plan.degrees.of[ROLE_TENSOR] = 8;
    ranked->plan.degrees.of[ROLE_FSDP] = 16;
    ranked->plan.placement.factor[0][ROLE_TENSOR] = 8;
    ranked->plan.placement.factor[0][ROLE_FSDP] = 1;
    ranked->plan.layout.layers[ACTIVATION_GATE_UP][STATE_SAVED] = 36;
    ranked->plan.layout.layers[ACTIVATION_GATE_UP][STATE_RECOMPUTED] = 12;
    ranked->plan.layout.sharding.kv = KV_SPLIT;
    Estimate *estimate = &ranked->estimate;
    StepTime *time = &estimate->time;
    time->seconds = 3.89, time->compute_seconds = 3.05, time->exposed_seconds = 0.62;
    time->group_seconds[GROUP_TENSOR] = 3.0, time->group_exposed_seconds[GROUP_TENSOR] = 0.6;
    estimate->elementwise_seconds = 0.12, estimate->recompute_seconds = 0.1;
    estimate->bound_by = BOUND_ICI, estimate->bound_next = BOUND_COMPUTE, estimate->bound_next_share = 0.9;
    estimate->mfu = 0.362;
    ranked->launchable_by = 0;
    ranked->launch[0] = (LaunchAnswer){.launcher = LAUNCHER_MAXTEXT,
                                       .kind = LAUNCH_IMPOSSIBLE,
                                       .default_seconds = 1.05 * ranked->estimate.time.seconds};
    ranked->launch_count = 1;
}

/* Six slices with stages: pipeline=3 over dcn, 48 layers in stages of 16: 3.6 compute + 0.1 exposed + 0.3 bubble + 0.04
 * + 0.16 = 4.2 s. */
static inline void fixture_third(RankedPlan *ranked) {
    fixture_first(ranked);
    ranked->ranked_seconds = 4.2;
    fixture_machine(6, &ranked->machine);
    ranked->padding = 1u << PAD_VOCAB;
    ranked->launchable_by = (1u << LAUNCHER_TRL) - 1; /* all that train all weights */
    for (int i = 0; i < LAUNCHER_TRL; i++)
        ranked->launch[i] = (LaunchAnswer){.launcher = i, .kind = LAUNCH_DEFAULT, .default_seconds = 4.2};
    ranked->launch_count = LAUNCHER_TRL;
    Plan *plan = &ranked->plan;
    plan->degrees.of[ROLE_DATA] = 2, plan->degrees.of[ROLE_PIPELINE] = 3;
    plan->placement.factor[3][ROLE_DATA] = 2, plan->placement.factor[3][ROLE_PIPELINE] = 3;
    plan->knobs.schedule = SCHEDULE_INTERLEAVED, plan->knobs.virtual_stages = 4, plan->knobs.microbatches = 8,
    plan->knobs.microbatch_sequences = 1;
    fixture_keep_all(&plan->layout, 16);
    Estimate *estimate = &ranked->estimate;
    StepTime *time = &estimate->time;
    *time = (StepTime){.seconds = 4.2,
                       .compute_seconds = 3.6,
                       .exposed_seconds = 0.1,
                       .bubble_seconds = 0.3,
                       .optimizer_seconds = 0.04,
                       .other_seconds = 0.16,
                       .serial_seconds = 6,
                       .lower_seconds = 4.1};
    time->group_seconds[GROUP_TENSOR] = 0.3, time->group_exposed_seconds[GROUP_TENSOR] = 0.05;
    time->group_seconds[GROUP_PIPELINE] = 0.05, time->group_exposed_seconds[GROUP_PIPELINE] = 0.05;
    estimate->matmul_seconds = 3.2, estimate->attention_seconds = 0.21, estimate->elementwise_seconds = 0.19;
    estimate->moment = MOMENT_LAST_LOGITS;
    estimate->shard.pipeline = 3, estimate->shard.layers = estimate->shard.layers_last = 16, estimate->shard.data = 2,
    estimate->shard.microbatches = 8;
    estimate->shard.sequences = 1, estimate->shard.tokens = 8192;
}

static inline void fixture_fill(Fixture *fixture) {
    memset(fixture, 0, sizeof *fixture);
    fixture_request(&fixture->request);
    fixture_first(&fixture->plans[0]);
    fixture_second(&fixture->plans[1]);
    fixture_third(&fixture->plans[2]);
    Report *report = &fixture->report;
    report->request = report->requested = &fixture->request;
    report->result.plans = fixture->plans;
    report->result.plan_count = 3;
    Certificate *certificate = &report->result.certificate;
    certificate->factorizations = 23625;
    certificate->machines = 3, certificate->batches = 1;
    certificate->plans_evaluated = 1000;
    certificate->plans_pruned[PRUNED_INDIVISIBLE] = 500;
    certificate->plans_pruned[PRUNED_MEMORY] = 250;
    certificate->plans_pruned[PRUNED_DEGREE_BOUND] = (Count)1 << 100;
    certificate->plans_covered = 1750 + ((Count)1 << 100);
    certificate->layouts_solved = 7;
    certificate->best_bound_seconds = 4.25;
    certificate->degree_tuples = 2310, certificate->degree_tuples_expanded = 12;
    certificate->threshold = 4.2;
    certificate->least_cut = certificate->least_above_threshold = (CutTuple){.bound = 4.25,
                                                                             .degrees = fixture->plans[1].plan.degrees,
                                                                             .machine = 2,
                                                                             .machines = 1,
                                                                             .batch_least = 512,
                                                                             .batch_most = 512};
    certificate->closest[certificate->closest_count++] = certificate->least_cut;
    for (int i = 0; i < 3; i++) {
        fixture_machine(6 - i, &fixture->machines[i].machine);
        fixture->machines[i].factorizations = 23625, fixture->machines[i].degree_tuples = 770;
    }
    report->result.machines = fixture->machines;
    report->alternatives[ALTERNATIVE_AS_ASKED] = (AlternativeResult){.tried = true};
    report->alternatives[ALTERNATIVE_IDLE] =
        (AlternativeResult){.tried = true, .found = true, .best = fixture->plans[0]};
    report->alternatives[ALTERNATIVE_BATCH] =
        (AlternativeResult){.tried = true, .found = true, .best = fixture->plans[2]};
    report->alternatives[ALTERNATIVE_BATCH].best.work.sequences = 480;
    report->alternatives[ALTERNATIVE_BATCH].best.padding = 0;
    report->alternatives[ALTERNATIVE_BATCH].best.ranked_seconds = 4.2 * 512 / 480;
    report->alternatives[ALTERNATIVE_PADDED] =
        (AlternativeResult){.tried = true, .found = true, .best = fixture->plans[2]};
    report->sensitivity_count = 2;
    report->sensitivities[0] = (Sensitivity){.text = "one more slice", .found = true, .relative = -0.108};
    report->sensitivities[1] = (Sensitivity){.text = "HBM +10%", .found = true, .relative = 0};
}

/* Nothing fits, four slices would. */
static inline void fixture_fill_none(Fixture *fixture) {
    fixture_fill(fixture);
    Report *report = &fixture->report;
    report->result.plan_count = report->sensitivity_count = 0;
    memset(report->alternatives, 0, sizeof report->alternatives);
    report->result.shortfall = (Shortfall){.known = true, .needed_bytes = 406e9, .limit_bytes = 92e9};
    report->result.shortfall.plan = fixture->plans[0].plan;
    report->result.shortfall.memory = (MemoryRows){
        .parameters_bytes = 50e9, .gradients_bytes = 50e9, .optimizer_bytes = 300e9, .transient_bytes = 6e9};
    report->nearest[0] = fixture->plans[0];
    report->nearest_count = 1;
}
