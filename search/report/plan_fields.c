/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/plan_fields.h"

#include "base/util.h"
#include "cost/stage/stage_totals.h"
#include "search/answer/doubts.h"

#include <string.h>

#define AT(member) .at = offsetof(PlanRecord, member)
#define REAL(member) .type = FIELD_REAL, AT(member)
#define WHOLE(member) .type = FIELD_WHOLE, AT(member)
#define COUNT(member) .type = FIELD_COUNT, AT(member)
#define BOOL(member) .type = FIELD_BOOL, AT(member)
#define TEXT(member) .type = FIELD_TEXT, AT(member)
#define OR_ABSENT .rule = FIELD_OR_ABSENT
#define OR_NULL .rule = FIELD_OR_NULL
#define SAY(place, words, text) .shown = (place), .name = (words), .unit = (text)
#define DEGREE(role) WHOLE(plan.plan.degrees.of[role])
#define KNOB(member) plan.plan.knobs.member
#define TIME(member) REAL(plan.estimate.time.member)
#define MEMORY(member) REAL(plan.estimate.memory.member)

const Field PLAN_FIELDS[] = {
    {"rank", WHOLE(rank), .column = 1},
    {"tied", BOOL(plan.tied)},
    {"equal_placements", COUNT(plan.equal_placements)},
    {"within_one_percent", COUNT(plan.within_one_percent),
     .meaning = "placements and knobs of the same degrees that take at most 1% longer"},
    {"launcher", TEXT(launcher), OR_ABSENT, .meaning = "whom the plan is for, and the software that priced it"},
    {"stack", TEXT(stack), OR_ABSENT, .meaning = "="},
    {"notation", TEXT(notation)},
    {"words", TEXT(words), OR_ABSENT, .meaning = "the plan in the words of its launcher"},
    {"axes.data", DEGREE(ROLE_DATA), .column = 10},
    {"axes.fsdp", DEGREE(ROLE_FSDP), .column = 9},
    {"axes.sequence", DEGREE(ROLE_SEQUENCE), .column = 8},
    {"axes.tensor", DEGREE(ROLE_TENSOR), .column = 6},
    {"axes.expert", DEGREE(ROLE_EXPERT), .column = 7},
    {"axes.pipeline", DEGREE(ROLE_PIPELINE), .column = 11},
    {"batch.sequences", WHOLE(plan.work.sequences), .column = 13},
    {"batch.seq", WHOLE(plan.work.seq), .column = 14},
    {"batch.tokens", WHOLE(tokens)},
    {"knobs.microbatches", WHOLE(KNOB(microbatches)), .column = 15},
    {"knobs.microbatch_sequences", WHOLE(KNOB(microbatch_sequences)), .column = 16},
    {"knobs.schedule", TEXT(schedule), .column = 17},
    {"knobs.virtual_stages", WHOLE(KNOB(virtual_stages)), .column = 18},
    {"knobs.remat", TEXT(remat)},
    {"knobs.zero_stage", WHOLE(zero_stage)},
    {"knobs.context_method", TEXT(context)},
    {"knobs.regather", BOOL(KNOB(regather))},
    {"knobs.stages", TEXT(stages)},
    {"knobs.ulysses", WHOLE(ulysses)},
    {"knobs.sequence_parameters", TEXT(sequence)},
    {"knobs.tensor_overlap", BOOL(KNOB(methods.tensor_overlap))},
    {"knobs.offload_optimizer", BOOL(KNOB(offload_optimizer))},
    {"chips_used", WHOLE(plan.machine.mesh.chips), .column = 12, .heading = "chips_used", .flat = "chips",
     SAY(6, "chips", grouped_text), .in_prose = true},
    {"chips_idle", WHOLE(chips_idle)},
    {"ranked_seconds", REAL(plan.ranked_seconds),
     .meaning = "what plans are ordered by: seconds (or chip-hours, or cost) for as many tokens as were requested"},
    {"odd", TEXT(odd), OR_ABSENT,
     .meaning = "what hardly anybody runs of it, by which it ranks later (`ranked_seconds` says how much)"},
    {"step.seconds", TIME(seconds), .flat = "step_seconds", .column = 19, SAY(1, "step", step_text), .in_prose = true},
    {"step.lower_seconds", TIME(lower_seconds), .column = 20,
     .meaning = "all communication hidden; all of it in series: bounds, not estimates"},
    {"step.upper_seconds", TIME(serial_seconds), .column = 21, .meaning = "="},
    {"step.formula_seconds", REAL(plan.estimate.formula_seconds),
     .meaning = "the step by the formula that the search bounds, and played pass by pass on every stage (of one stage "
                "the same; `null`: too many passes); `seconds` is the played one where that is longer by more than 1%"},
    {"step.played_seconds", REAL(played), OR_NULL, .meaning = "="},
    {"step.likely_low_seconds", REAL(likely_low), OR_ABSENT, .column = 22,
     .meaning = "where nine of ten measured steps would lie, by runs of the chip that the fit had not seen, wider "
                "where the plan leans on figures that no run moved; absent where the profile has no such range "
                "(`ideal`)"},
    {"step.likely_high_seconds", REAL(likely_high), OR_ABSENT, .column = 23, .meaning = "="},
    {"step.compute_seconds", TIME(compute_seconds), .column = 24},
    {"step.exposed_communication_seconds", TIME(exposed_seconds), .column = 25},
    {"step.bubble_seconds", TIME(bubble_seconds), .column = 26},
    {"step.optimizer_seconds", TIME(optimizer_seconds), .column = 27},
    {"step.other_seconds", TIME(other_seconds), .column = 28},
    {"bound_by", TEXT(bound_by), .column = 36, .meaning = "the resource that is busy longest, and the one behind it"},
    {"bound_next", TEXT(bound_next), .meaning = "="},
    {"mfu", REAL(plan.estimate.mfu), .column = 35, SAY(3, "MFU", share_text), .in_prose = true},
    {"mfu_full_attention", REAL(plan.estimate.mfu_full_attention)},
    {"flop_convention", TEXT(convention)},
    {"peak_flops_per_chip", REAL(peak_flops)},
    {"tokens_per_second_per_chip", REAL(plan.estimate.tokens_per_second_per_chip),
     SAY(2, "tokens/s a chip", grouped_text), .in_prose = true},
    {"memory.limit_bytes", REAL(plan.estimate.memory_limit_bytes), .flat = "hbm_limit_bytes", .column = 45,
     .heading = "memory_limit_bytes", SAY(5, "usable HBM", number_bytes), .in_prose = true},
    {"memory.total_bytes", REAL(total_bytes), .flat = "hbm_bytes", .column = 44, .heading = "memory_bytes",
     SAY(4, "HBM", number_bytes), .in_prose = true},
    {"memory.parameters_bytes", MEMORY(parameters_bytes), .column = 37},
    {"memory.gradients_bytes", MEMORY(gradients_bytes), .column = 38},
    {"memory.optimizer_bytes", MEMORY(optimizer_bytes), .column = 39},
    {"memory.activations_bytes", MEMORY(activations_bytes), .column = 40},
    {"memory.gathered_bytes", MEMORY(gathered_bytes), .column = 41},
    {"memory.logits_bytes", MEMORY(logits_bytes), .column = 42},
    {"memory.transient_bytes", MEMORY(transient_bytes), .column = 43},
    {"memory.reserve_bytes", REAL(plan.estimate.reserve_bytes)},
    {"memory.host_bytes", REAL(host_bytes), OR_ABSENT,
     .meaning = "what the plan keeps on its host, of one device, and what it may: the profile's share of the host's "
                "memory; only where a plan keeps something there"},
    {"memory.host_limit_bytes", REAL(host_limit_bytes), OR_ABSENT, .meaning = "="},
    {"memory.adapters_bytes", REAL(adapters_bytes), OR_ABSENT,
     .meaning = "of fine-tuning: the parts of `parameters_bytes` that are adapters, and frozen weights that lie "
                "quantised"},
    {"memory.quantised_bytes", REAL(quantised_bytes), OR_ABSENT, .meaning = "="},
    {"fastest_probability", REAL(best_chance), OR_ABSENT,
     .meaning = "the probability that the plan is the fastest of those in `plans` (of the first 16 of them), by the "
                "deviations of the profile's figures; it and the next three are left out where these are not known "
                "(`--profile ideal`)"},
    {"deviation", REAL(deviation), OR_ABSENT, .meaning = "the standard deviation of ln(measured / predicted)"},
    {"unmeasured_deviation", REAL(unmeasured), OR_ABSENT,
     .meaning = "the part of it that comes of figures of the profile which no run moved, and the one that it comes of "
                "most"},
    {"unmeasured_figure", TEXT(unmeasured_figure), OR_ABSENT, .meaning = "="},
    {"fits_probability", REAL(fits), OR_ABSENT,
     .meaning = "the probability that the plan fits in HBM, by the errors of the memory model on measured runs; left "
                "out where they are not known (`--profile ideal`)"},
    {"training.samples_per_second", REAL(training.samples_per_second), OR_ABSENT, .meaning = "of fine-tuning"},
    {"training.tokens", REAL(training.tokens)},
    {"training.steps", REAL(training.steps)},
    {"training.seconds", REAL(training.seconds), .flat = "training_seconds", .column = 46,
     SAY(7, "training", duration_text), .in_prose = true},
    {"training.chip_hours", REAL(training.chip_hours), .column = 47},
    {"training.cost_usd", REAL(training.usd), OR_NULL, .column = 48, SAY(8, "cost", usd_text), .in_prose = true},
    {"training.reserved_cost_usd", REAL(training.reserved_usd), OR_ABSENT, .flat = "reserved_usd_without_failures"},
    {"training.failures.mtbf_seconds", REAL(failing.mtbf_seconds), OR_ABSENT,
     .meaning = "mean time between failures, of the job"},
    {"training.failures.checkpoint_bytes", REAL(failing.checkpoint_bytes), OR_ABSENT},
    {"training.failures.checkpoint_write_seconds", REAL(failing.write_seconds), OR_ABSENT},
    {"training.failures.checkpoint_blocking_seconds", REAL(failing.blocking_seconds), OR_ABSENT},
    {"training.failures.checkpoint_interval_seconds", REAL(failing.interval_seconds), OR_ABSENT,
     .meaning = "from one checkpoint to the next: what costs least"},
    {"training.failures.restart_seconds", REAL(failing.restart_seconds), OR_ABSENT},
    {"training.failures.goodput", REAL(failing.goodput), OR_ABSENT,
     .meaning = "the share of time that steps take which count"},
    {"training.failures.seconds", REAL(failing.seconds), OR_ABSENT},
    {"training.failures.chip_hours", REAL(failing.chip_hours), OR_ABSENT},
    {"training.failures.cost_usd", REAL(failing.usd), OR_NULL},
    {"training.failures.hosts", WHOLE(failing.hosts), OR_ABSENT},
    {"training.failures.idle_hosts", WHOLE(failing.idle_hosts), OR_ABSENT},
    {"training.failures.spare_hosts_for_95_percent", WHOLE(failing.spares), OR_ABSENT},
    {"training.failures.whole_with_idle_hosts", REAL(failing.whole), OR_ABSENT},
    /* Not in JSON, or there in another form. */
    {.flat = "model", TEXT(model), .column = 2},
    {.flat = "chip", TEXT(chip), .column = 3},
    {.flat = "machine", TEXT(machine), .column = 4},
    {.flat = "plan", TEXT(label), .column = 5},
    {.flat = "exposed_tensor_seconds", REAL(exposed[ROLE_TENSOR]), .column = 29},
    {.flat = "exposed_expert_seconds", REAL(exposed[ROLE_EXPERT]), .column = 30},
    {.flat = "exposed_sequence_seconds", REAL(exposed[ROLE_SEQUENCE]), .column = 31},
    {.flat = "exposed_fsdp_seconds", REAL(exposed[ROLE_FSDP]), .column = 32},
    {.flat = "exposed_data_seconds", REAL(exposed[ROLE_DATA]), .column = 33},
    {.flat = "exposed_pipeline_seconds", REAL(exposed[ROLE_PIPELINE]), .column = 34},
    {.flat = "launchable_by", TEXT(launchers), .column = 49},
    {.flat = "padding", TEXT(padding), .column = 50},
    {.flat = "tokens_per_second", REAL(tokens_per_second)},
    {.flat = "expected_seconds", REAL(expected_seconds)},
    {.flat = "expected_cost_usd", REAL(expected_usd), OR_NULL},
    {.flat = "reserved_cost_usd", REAL(reserved_usd), OR_NULL},
    {0},
};

const Launcher *launcher_of(const Request *request) {
    for (int i = 0; i < launcher_count(); i++)
        if (request->space.launchers == 1u << i) return launcher_at(i);
    return NULL;
}

static void fill_texts(const Request *request, const RankedPlan *ranked, PlanRecord *out) {
    const Knobs *knobs = &ranked->plan.knobs;
    const LauncherSet launchers = ranked->launchable_by;
    const Launcher *launcher = launcher_of(request);
    out->launcher = launcher ? launcher->name : NULL;
    out->text.words = (Prose){0};
    launcher_words(launcher, request, ranked, &out->text.words);
    out->words = out->text.words.text;
    out->stack = request->question.profile.stack;
    out->model = request->question.model.name;
    out->chip = request->question.chip.name;
    out->machine = ranked->machine.text;
    out->notation = plan_notation(&ranked->plan.degrees, knobs, false, out->text.notation);
    out->label = plan_label(ranked, out->text.label);
    out->schedule = schedule_name(knobs->schedule);
    out->remat = remat_name(&request->question.model, &ranked->plan.layout, out->text.remat);
    out->context = context_method_name(knobs->methods.context);
    out->stages = stage_split_name(knobs->stages);
    out->sequence = knobs->methods.sequence_replicates ? "replicated" : "sharded";
    out->bound_by = bound_name(ranked->estimate.bound_by);
    out->bound_next = bound_name(ranked->estimate.bound_next);
    out->convention = "6N + causal attention, useful tokens";
    out->launchers = launchers ? launchers_text(launchers, " ", out->text.launchers, sizeof out->text.launchers) : "";
    out->text.odd = (Prose){0};
    odd_words(ranked->odd, &out->text.odd);
    out->odd = out->text.odd.text;
    out->padding = ranked->padding ? padding_text(ranked->padding, out->text.padding) : "";
}

static void fill_doubts(const Request *request, const RankedPlan *ranked, PlanRecord *out) {
    const PlanDoubt *doubt = &ranked->doubt;
    bool known = doubt->deviation > 0;
    double fits = plan_fits_chance(request, ranked);
    if (!plan_likely(request, ranked, &out->likely_low, &out->likely_high)) out->likely_low = out->likely_high = -1;
    out->fits = fits > 0 ? fits : -1;
    out->played = ranked->estimate.played_seconds > 0 ? ranked->estimate.played_seconds : -1;
    out->deviation = known ? doubt->deviation : -1;
    out->best_chance = known ? doubt->best_chance : -1;
    out->unmeasured = known ? doubt->unmeasured : -1;
    out->unmeasured_figure = known && doubt->unmeasured_figure ? doubt->unmeasured_figure->key : NULL;
}

static void fill_training(const Request *request, const RankedPlan *ranked, PlanRecord *out) {
    const Training *training = &out->training;
    const Failing *failing = &out->failing;
    out->training = training_of(request, ranked);
    out->failing = failing_of(request, ranked);
    static const Failing UNKNOWN = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    bool fails = failing->mtbf_seconds > 0;
    out->expected_seconds = fails ? failing->seconds : training->seconds;
    out->expected_usd = fails ? failing->usd : training->usd;
    out->reserved_usd = fails ? failing->reserved_usd : training->reserved_usd;
    if (!fails) out->failing = UNKNOWN;
}

static void fill_tuning(const Request *request, const RankedPlan *ranked, PlanRecord *out) {
    MemoryPart parts[MEMORY_PARTS_MAX];
    double in_flight;
    out->adapters_bytes = out->quantised_bytes = -1;
    if (!request->question.tuning.what.on) return;
    int count = peak_parts(request, ranked, parts, &in_flight);
    out->adapters_bytes = out->quantised_bytes = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(parts[i].name, MEMORY_PART_ADAPTERS) == 0) out->adapters_bytes += parts[i].bytes;
        if (strcmp(parts[i].name, MEMORY_PART_QUANTISED) == 0) out->quantised_bytes += parts[i].bytes;
    }
}

void plan_record(const Request *request, const RankedPlan *ranked, int rank, PlanRecord *out) {
    const Knobs *knobs = &ranked->plan.knobs;
    int64_t used = ranked->machine.mesh.chips;
    *out = (PlanRecord){.request = request, .plan = *ranked, .rank = rank};
    out->tokens = ranked->work.sequences * ranked->work.seq;
    out->tokens_per_second = (double)ranked->work.sequences * (double)ranked->work.seq / ranked->estimate.time.seconds;
    out->chips_idle = max_whole(0, request->question.machine.mesh.chips - used);
    out->zero_stage = knobs->zero_stage;
    out->ulysses = max_whole(1, knobs->methods.ulysses);
    out->total_bytes = memory_total(&ranked->estimate.memory);
    out->peak_flops = request_cost_context(request).precision_flops_per_second;
    for (int role = 0; role < ROLE_COUNT; role++) role_seconds(&ranked->estimate.time, (Role)role, &out->exposed[role]);
    CostContext setting = ranked_cost_context(request, ranked);
    out->host_bytes = plan_host_bytes(request, ranked);
    out->host_limit_bytes = offload_room(&setting);
    if (!(out->host_bytes > 0)) out->host_bytes = out->host_limit_bytes = -1;
    fill_tuning(request, ranked, out);
    fill_texts(request, ranked, out);
    fill_doubts(request, ranked, out);
    fill_training(request, ranked, out);
}
