/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as JSON, format_version 1. Every add_* gives false when memory is out; a NULL parent passes that on. */
#include "base/build.h"
#include "search/answer/doubts.h"
#include "search/launch/launcher.h"
#include "search/report/report.h"

#include "base/json.h"
#include "base/util.h"
#include "cost/plan/grid.h"
#include "cost/stage/memory_detail.h"
#include "mesh/slice.h"
#include "search/engine/proof/certificate.h"
#include "search/report/compare_to_best.h"
#include "search/report/json/around.h"
#include "search/report/text/parts.h"

#include <string.h>

static bool add_mesh_axes(cJSON *to, const Mesh *mesh) {
    cJSON *axes = json_add_array(to, "axes");
    bool ok = axes != NULL;
    for (int a = 0; a < mesh->axis_count && ok; a++) {
        const Axis *axis = &mesh->axes[a];
        cJSON *item = json_add_object(axes, NULL);
        ok = json_add_text(item, "name", axis->name) && json_add_whole(item, "size", axis->size) &&
             json_add_text(item, "kind", axis_kind_name(axis->kind)) &&
             json_add_real(item, "bytes_per_second", axis->bytes_per_second) &&
             json_add_real(item, "latency_seconds", axis->latency_seconds);
    }
    return ok;
}

/* The form of `machine`: what is used. */
static bool add_machine(cJSON *to, const char *key, const Chip *chip, const Machine *machine) {
    cJSON *json = json_add_object(to, key);
    char shape[SLICE_TEXT_SIZE];
    bool ok = json != NULL;
    if (chip_has_domains(chip))
        ok = ok && json_add_whole(json, "nodes", machine->nodes);
    else
        ok = ok && json_add_text(json, "slice", slice_text(chip, machine->slice, shape)) &&
             json_add_whole(json, "slices", machine->slices);
    return ok && json_add_text(json, "text", machine->text) && add_mesh_axes(json, &machine->mesh);
}

const char *data_part_name(DataPart part) {
    static const char *const NAMES[DATA_COUNT] = {"model", "chip", "profile", "optimizer"};
    return NAMES[part];
}

/* The files behind this answer, so that who compares two can tell which of them changed. A profile's file is of many
 * chips: the figures that were taken from it have a hash of their own. */
static bool add_data(cJSON *to, const Report *report) {
    cJSON *json = json_add_object(to, "data");
    bool ok = json != NULL;
    for (DataPart part = 0; part < DATA_COUNT && ok; part++) {
        const DataFile *data = &report->data[part];
        char figures[SHA256_HEX_SIZE];
        if (!data->file) continue;
        cJSON *item = json_add_object(json, data_part_name(part));
        ok = json_add_text(item, "file", data->file) && json_add_text(item, "sha256", data->sha256);
        if (part != DATA_PROFILE || !ok) continue;
        profile_sha256(&report->request->question.profile, figures);
        ok = json_add_text(item, "figures_sha256", figures);
    }
    return ok;
}

static bool add_program(cJSON *to, const Report *report) {
    cJSON *json = json_add_object(to, "program");
    return json_add_text(json, "version", program_version()) &&
           json_add_text(json, "data_sha256", report->data_sha256) &&
           json_add_text(json, "profile", report->request->question.profile.name) &&
           (report->request->question.profile.stack[0] == '\0' ||
            json_add_text(json, "stack", report->request->question.profile.stack)) &&
           add_data(json, report);
}

static bool add_model(cJSON *to, const Request *request) {
    const Model *model = &request->question.model;
    Parameters parameters = model_parameters(model);
    cJSON *json = json_add_object(to, "model");
    return json_add_text(json, "name", model->name) && json_add_whole(json, "parameters", parameters.total) &&
           json_add_whole(json, "active_parameters", parameters.active) &&
           json_add_real(json, "flops_per_token",
                         model_flops_per_token(model, FLOPS_CAUSAL, request->question.work.seq)) &&
           json_add_whole(json, "layers", model->layers) && json_add_whole(json, "d_model", model->d_model) &&
           json_add_whole(json, "vocab", model->vocab);
}

static bool add_mesh(cJSON *to, const Request *request) {
    cJSON *json = json_add_object(to, "mesh");
    return json_add_text(json, "chip", request->question.chip.name) &&
           json_add_whole(json, "chips", request->question.machine.mesh.chips) &&
           json_add_whole(json, "devices", request->question.machine.mesh.devices) &&
           json_add_text(json, "text", request->question.machine.text) &&
           json_add_text(json, "note", request->question.machine.note) &&
           add_mesh_axes(json, &request->question.machine.mesh);
}

static bool add_search(cJSON *to, const Report *report) {
    const Certificate *certificate = &report->result.certificate;
    cJSON *json = json_add_object(to, "search");
    bool ok = json_add_count(json, "factorizations", certificate->factorizations) &&
              json_add_count(json, "plans_covered", certificate->plans_covered) &&
              json_add_count(json, "plans_evaluated", certificate->plans_evaluated);
    cJSON *pruned = ok ? json_add_object(json, "plans_pruned") : NULL;
    ok = pruned != NULL;
    for (int i = 0; i < PRUNED_COUNT && ok; i++)
        ok = json_add_count(pruned, prune_reason_name((PruneReason)i), certificate->plans_pruned[i]);
    return ok && json_add_count(json, "layouts_solved", certificate->layouts_solved) &&
           json_add_whole(json, "machines", certificate->machines) &&
           json_add_whole(json, "batches", certificate->batches) &&
           json_add_whole(json, "degree_tuples", certificate->degree_tuples) &&
           json_add_whole(json, "degree_tuples_opened", certificate->degree_tuples_expanded) &&
           certificate_add_first_plan(&report->result.first_plan, json) &&
           json_add_text(json, "proof", certificate->proof == PROOF_OPTIMAL ? "optimal" : "gap") &&
           json_add_real(json, "gap", certificate->gap) &&
           json_add_real(json, "best_bound_seconds", certificate->best_bound_seconds) &&
           certificate_add_json(&(SearchRecord){report->request, &report->result, report->data_sha256}, json);
}

static bool add_degrees(cJSON *to, const char *key, const Degrees *degrees) {
    static const Role ORDER[ROLE_COUNT] = {ROLE_DATA,   ROLE_FSDP,   ROLE_SEQUENCE,
                                           ROLE_TENSOR, ROLE_EXPERT, ROLE_PIPELINE};
    cJSON *json = json_add_object(to, key);
    bool ok = json != NULL;
    for (int i = 0; i < ROLE_COUNT && ok; i++) ok = json_add_whole(json, role_name(ORDER[i]), degrees->of[ORDER[i]]);
    return ok;
}

static bool add_placement(cJSON *to, const Mesh *mesh, const Nesting *nesting, const Placement *placement) {
    cJSON *json = json_add_array(to, "placement");
    bool ok = json != NULL;
    for (int a = 0; a < mesh->axis_count && ok; a++) {
        int64_t stride = 1;
        for (int i = 0; i < ROLE_COUNT && ok; i++) {
            Role role = nesting->order[i];
            int64_t factor = placement->factor[a][role];
            if (factor <= 1) continue;
            cJSON *item = json_add_object(json, NULL);
            ok = json_add_text(item, "axis", mesh->axes[a].name) && json_add_text(item, "role", role_name(role)) &&
                 json_add_whole(item, "factor", factor) && json_add_whole(item, "stride", stride);
            stride *= factor;
        }
    }
    return ok;
}

/* From the inside. */
static bool add_nesting(cJSON *to, const Nesting *nesting) {
    cJSON *json = json_add_array(to, "nesting");
    bool ok = json != NULL;
    for (int i = 0; i < ROLE_COUNT && ok; i++) ok = json_add_text(json, NULL, role_name(nesting->order[i]));
    return ok;
}

/* How launchers are told the layout's recomputation and offloading, those that can be. */
static bool add_remat_words(cJSON *to, const Model *model, const Plan *plan) {
    cJSON *json = json_add_object(to, "remat_options");
    bool ok = json != NULL;
    for (int i = 0; i < launcher_count() && ok; i++) {
        char text[REMAT_TEXT_SIZE];
        const Launcher *launcher = launcher_at(i);
        const char *words = launcher->remat_words ? launcher->remat_words(model, &plan->layout, text) : NULL;
        ok = !words || json_add_text(json, launcher->name, words);
    }
    return ok;
}

static bool add_knobs(cJSON *to, const Model *model, const Plan *plan) {
    const Knobs *knobs = &plan->knobs;
    char remat[REMAT_TEXT_SIZE];
    const Methods *methods = &knobs->methods;
    cJSON *json = json_add_object(to, "knobs");
    return json_add_whole(json, "microbatches", knobs->microbatches) &&
           json_add_whole(json, "microbatch_sequences", knobs->microbatch_sequences) &&
           json_add_text(json, "schedule", schedule_name(knobs->schedule)) &&
           json_add_whole(json, "virtual_stages", knobs->virtual_stages) &&
           json_add_text(json, "remat", remat_name(model, &plan->layout, remat)) &&
           add_remat_words(json, model, plan) && json_add_whole(json, "zero_stage", knobs->zero_stage) &&
           json_add_text(json, "context_method", context_method_name(methods->context)) &&
           json_add_bool(json, "regather", knobs->regather) &&
           json_add_text(json, "stages", stage_split_name(knobs->stages)) &&
           json_add_whole(json, "ulysses", max_whole(1, methods->ulysses)) &&
           json_add_text(json, "sequence_parameters", methods->sequence_replicates ? "replicated" : "sharded") &&
           json_add_bool(json, "tensor_overlap", methods->tensor_overlap) &&
           json_add_bool(json, "offload_optimizer", knobs->offload_optimizer);
}

/* Only where experts are folded onto other ranks. */
static bool add_expert_grid(cJSON *to, const Plan *plan) {
    GridRanks ranks;
    if (plan->knobs.methods.grid.expert == 0 || !grid_ranks(&plan->degrees, &plan->knobs.methods, &ranks)) return true;
    cJSON *json = json_add_object(to, "expert_grid");
    return json_add_whole(json, "expert", ranks.expert) && json_add_whole(json, "expert_tensor", ranks.expert_tensor) &&
           json_add_whole(json, "expert_data", ranks.weights * ranks.data);
}

static bool add_layout(cJSON *to, const Model *model, const Plan *plan) {
    LayoutRow rows[LAYOUT_ROWS_MAX];
    int count = layout_rows(model, plan, rows);
    cJSON *json = json_add_array(to, "layout");
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) {
        cJSON *item = json_add_object(json, NULL);
        ok = json_add_text(item, "tensor", rows[i].tensor) && json_add_text(item, "sharding", rows[i].sharding) &&
             json_add_text(item, "state", rows[i].state) && json_add_whole(item, "layers", rows[i].layers);
    }
    return ok;
}

/* What each choice of the layout is worth. */
static bool add_effects(cJSON *to, const Request *request, const RankedPlan *ranked) {
    LayoutEffect effects[LAYOUT_EFFECTS_MAX];
    int count = layout_effects(request, ranked, effects);
    cJSON *json = json_add_array(to, "layout_effects");
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) {
        const LayoutEffect *effect = &effects[i];
        cJSON *item = json_add_object(json, NULL);
        ok = json_add_text(item, "of", effect->of) && json_add_text(item, "chosen", effect->chosen) &&
             json_add_text(item, "instead", effect->instead) &&
             (effect->layers == 0 || json_add_whole(item, "layers", effect->layers)) &&
             json_add_bool(item, "bound_to_others", effect->bound_to_others) &&
             (effect->bound_to_others || (json_add_real(item, "seconds", effect->seconds) &&
                                          json_add_real(item, "freed_bytes", effect->freed_bytes) &&
                                          json_add_bool(item, "fits_without", effect->fits_without)));
    }
    return ok;
}

static bool add_padding(cJSON *to, PaddingSet padding) {
    cJSON *json = json_add_array(to, "padding");
    bool ok = json != NULL;
    for (int i = 0; i < PAD_COUNT && ok; i++)
        if (padding >> i & 1) ok = json_add_text(json, NULL, padding_name((PaddingKind)i));
    return ok;
}

static bool add_launchers(cJSON *to, const char *key, LauncherSet set) {
    cJSON *json = json_add_array(to, key);
    bool ok = json != NULL;
    for (int i = 0; i < launcher_count() && ok; i++)
        if (set >> i & 1) ok = json_add_text(json, NULL, launcher_name(i));
    return ok;
}

/* As people read it: what a step is the sum of, communication by role as far as nothing hides it. */
static bool add_terms(cJSON *to, const Estimate *estimate, const Degrees *degrees) {
    Term terms[TERMS_MAX];
    int count = step_terms(estimate, degrees, terms);
    cJSON *json = json_add_object(to, "terms_seconds");
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) {
        ok = json_add_real(json, strstr(terms[i].name, "waits") ? "waits" : terms[i].name, terms[i].seconds);
    }
    return ok;
}

static bool add_step(cJSON *to, const Request *request, const RankedPlan *ranked) {
    const Estimate *estimate = &ranked->estimate;
    const StepTime *time = &estimate->time;
    cJSON *json = json_add_object(to, "step");
    bool ok = json_add_real(json, "seconds", time->seconds) &&
              json_add_real(json, "lower_seconds", time->lower_seconds) &&
              json_add_real(json, "upper_seconds", time->serial_seconds);
    double low, high;
    if (ok && plan_likely(request, ranked, &low, &high))
        ok = json_add_real(json, "likely_low_seconds", low) && json_add_real(json, "likely_high_seconds", high);
    ok = ok && json_add_real(json, "compute_seconds", time->compute_seconds);
    cJSON *roles = ok ? json_add_object(json, "communication_seconds") : NULL;
    ok = roles != NULL;
    for (int role = 0; role < ROLE_COUNT && ok; role++)
        ok = json_add_real(roles, role_name((Role)role), role_seconds(time, (Role)role, NULL));
    return ok && traffic_add_roles(estimate, json) &&
           json_add_real(json, "exposed_communication_seconds", time->exposed_seconds) &&
           json_add_real(json, "bubble_seconds", time->bubble_seconds) &&
           json_add_real(json, "optimizer_seconds", time->optimizer_seconds) &&
           json_add_real(json, "other_seconds", time->other_seconds) &&
           add_terms(json, estimate, &ranked->plan.degrees);
}

static bool add_why(cJSON *to, const RankedPlan *ranked) {
    Why why;
    report_why(ranked, &why);
    cJSON *json = json_add_array(to, "why");
    bool ok = json != NULL;
    for (int i = 0; i < why.count && ok; i++) ok = json_add_text(json, NULL, why.text[i]);
    return ok;
}

/* What plan, way out and nearest machine have in common: which plan, on what, with which batch. */
static bool add_identity(cJSON *json, const Request *request, const RankedPlan *ranked) {
    char notation[NOTATION_SIZE];
    int64_t used = ranked->machine.mesh.chips;
    bool ok =
        json_add_text(json, "notation", plan_notation(&ranked->plan.degrees, &ranked->plan.knobs, false, notation)) &&
        add_degrees(json, "axes", &ranked->plan.degrees) && add_expert_grid(json, &ranked->plan) &&
        add_machine(json, "machine", &request->question.chip, &ranked->machine);
    cJSON *batch = ok ? json_add_object(json, "batch") : NULL;
    return json_add_whole(batch, "sequences", ranked->work.sequences) &&
           json_add_whole(batch, "seq", ranked->work.seq) &&
           json_add_whole(batch, "tokens", ranked->work.sequences * ranked->work.seq) &&
           (!request->space.nesting_all || add_nesting(json, &ranked->nesting)) &&
           add_placement(json, &ranked->machine.mesh, &ranked->nesting, &ranked->plan.placement) &&
           add_knobs(json, &request->question.model, &ranked->plan) &&
           add_layout(json, &request->question.model, &ranked->plan) && add_effects(json, request, ranked) &&
           add_padding(json, ranked->padding) && add_launchers(json, "launchable_by", ranked->launchable_by) &&
           add_launchers(json, "launchable_exactly_by", ranked->exact) && launch_add_json(ranked, json) &&
           json_add_whole(json, "chips_used", used) &&
           json_add_whole(json, "chips_idle", max_whole(0, request->question.machine.mesh.chips - used)) &&
           json_add_real(json, "ranked_seconds", ranked->ranked_seconds) && add_step(json, request, ranked) &&
           traffic_add_groups(ranked, json);
}

static bool add_numbers(cJSON *json, const Request *request, const RankedPlan *ranked) {
    const Estimate *estimate = &ranked->estimate;
    bool ok = json_add_text(json, "bound_by", bound_name(estimate->bound_by)) &&
              json_add_text(json, "bound_next", bound_name(estimate->bound_next)) &&
              json_add_real(json, "mfu", estimate->mfu) &&
              json_add_real(json, "mfu_full_attention", estimate->mfu_full_attention) &&
              json_add_text(json, "flop_convention", "6N + causal attention, useful tokens") &&
              json_add_real(json, "peak_flops_per_chip", request_cost_context(request).precision_flops_per_second) &&
              json_add_real(json, "tokens_per_second_per_chip", estimate->tokens_per_second_per_chip) &&
              memory_add_json(json, "memory", &estimate->memory, estimate->memory_limit_bytes, estimate->reserve_bytes);
    const PlanDoubt *doubt = &ranked->doubt;
    if (ok && doubt->deviation > 0)
        ok = json_add_real(json, "fastest_probability", doubt->best_chance) &&
             json_add_real(json, "deviation", doubt->deviation) &&
             json_add_real(json, "unmeasured_deviation", doubt->unmeasured) &&
             (!doubt->unmeasured_figure || json_add_text(json, "unmeasured_figure", doubt->unmeasured_figure->key));
    double fits = plan_fits_chance(request, ranked);
    ok = ok && (!(fits > 0) || json_add_real(json, "fits_probability", fits));
    return ok && memory_add_moments(json, request, ranked) && memory_add_detail(json, request, ranked) &&
           training_add_json(request, ranked, json);
}

static bool add_unverified(cJSON *to, const Request *request, const RankedPlan *ranked) {
    Unverified figures[UNVERIFIED_MAX];
    int count = unverified_figures(request, ranked, figures);
    cJSON *json = json_add_array(to, "unverified");
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) ok = json_add_text(json, NULL, figures[i].key);
    return ok;
}

/* Who launches it, and which software priced it. */
static bool add_software(cJSON *json, const Request *request) {
    for (int i = 0; i < launcher_count(); i++)
        if (request->space.launchers == 1u << i && !json_add_text(json, "launcher", launcher_name(i))) return false;
    return !request->question.profile.stack[0] || json_add_text(json, "stack", request->question.profile.stack);
}

/* What this plan was searched with beside what the request says. */
static bool add_own_options(cJSON *json, const Report *report, const Request *own) {
    const Request *requested = report->requested ? report->requested : report->request;
    char launcher[LAUNCHER_NAMES_SIZE];
    bool several = requested->subproblem_count > 1 && own->space.launchers != requested->requested.launchers;
    bool reserve = own->question.hbm_reserve != requested->question.hbm_reserve;
    if (!several && !reserve) return true;
    cJSON *options = json_add_object(json, "options");
    if (own->space.launchers == 0)
        snprintf(launcher, sizeof launcher, "any");
    else
        launcher_names(own->space.launchers, ",", ",", launcher, sizeof launcher);
    return options && (!several || json_add_text(options, "for", launcher)) &&
           (!reserve || json_add_real(options, "hbm_reserve", own->question.hbm_reserve));
}

static bool add_risks(cJSON *json, const RankedPlan *ranked) {
    Risk risks[RISKS_MAX];
    int count = plan_risks(ranked, risks);
    cJSON *list = json_add_array(json, "warnings");
    bool ok = list != NULL;
    for (int i = 0; i < count && ok; i++) {
        cJSON *item = json_add_object(list, NULL);
        ok = json_add_text(item, "kind", risks[i].key) && json_add_text(item, "text", risks[i].text);
    }
    return ok;
}

static bool add_row_kinds(cJSON *json, unsigned kinds) {
    if (kinds == 0) return true;
    cJSON *list = json_add_array(json, "kinds");
    bool ok = list != NULL;
    for (int kind = 0; kind < ROW_KIND_COUNT && ok; kind++)
        if (kinds >> kind & 1) ok = json_add_text(list, NULL, row_kind_name((RowKind)kind));
    return ok;
}

/* Where nothing is open every row is proven, and nothing is said. */
static bool add_row_gap(cJSON *json, const Report *report, const RankedPlan *ranked) {
    if (report->result.certificate.proof == PROOF_OPTIMAL && ranked->gap == 0) return true;
    return json_add_bool(json, "proven", ranked->gap == 0) && json_add_real(json, "gap", ranked->gap);
}

static bool add_plans(cJSON *to, const Report *report) {
    cJSON *plans = json_add_array(to, "plans");
    bool ok = plans != NULL;
    for (int i = 0; i < report->result.plan_count && ok; i++) {
        const RankedPlan *ranked = &report->result.plans[i];
        const Request *request = ranked->request ? ranked->request : report->request;
        cJSON *json = json_add_object(plans, NULL);
        ok = json_add_whole(json, "rank", i + 1) && json_add_bool(json, "tied", ranked->tied) &&
             json_add_count(json, "equal_placements", ranked->equal_placements) &&
             json_add_count(json, "within_one_percent", ranked->within_one_percent) &&
             add_row_kinds(json, ranked->row_kinds) && add_row_gap(json, report, ranked) &&
             add_software(json, request) && add_own_options(json, report, request) &&
             add_identity(json, request, ranked) && add_numbers(json, request, ranked) &&
             add_unverified(json, request, ranked) && add_risks(json, ranked) && add_why(json, ranked);
    }
    return ok;
}

static bool add_ways(cJSON *to, const Report *report) {
    static const char *const NAMES[ALTERNATIVE_COUNT] = {"as_asked", "idle_chips", "moved_batch", "padded",
                                                         "off_size_slice"};
    cJSON *ways = json_add_array(to, "ways_out");
    bool ok = ways != NULL;
    for (int i = 0; i < ALTERNATIVE_COUNT && ok; i++) {
        const AlternativeResult *way = &report->alternatives[i];
        if (!way->tried) continue;
        cJSON *json = json_add_object(ways, NULL);
        ok = json_add_text(json, "way", NAMES[i]) && json_add_bool(json, "found", way->found) &&
             json_add_bool(json, "cut_short", way->cut_short) && json_add_bool(json, "skipped", way->skipped) &&
             json_add_bool(json, "left_out", way->left_out) && json_add_bool(json, "none_faster", way->none_faster) &&
             (!way->found ||
              (add_identity(json, report->request, &way->best) && add_numbers(json, report->request, &way->best)));
    }
    return ok;
}

static bool add_helps(cJSON *to, const Report *report) {
    cJSON *helps = json_add_array(to, "helps");
    bool ok = helps != NULL;
    for (int i = 0; i < report->sensitivity_count && ok; i++) {
        cJSON *json = json_add_object(helps, NULL);
        ok = json_add_text(json, "change", report->sensitivities[i].text) &&
             json_add_bool(json, "found", report->sensitivities[i].found) &&
             (!report->sensitivities[i].found ||
              json_add_real(json, "relative_seconds_per_token", report->sensitivities[i].relative));
    }
    return ok;
}

/* Where nothing fits: how far off, and what fits. */
static bool add_nearest(cJSON *to, const Report *report) {
    const Shortfall *shortfall = &report->result.shortfall;
    bool ok = true;
    if (report->result.plan_count == 0 && shortfall->known) {
        char notation[NOTATION_SIZE];
        cJSON *json = json_add_object(to, "shortfall");
        ok = json_add_text(json, "notation", degrees_notation(&shortfall->plan.degrees, false, notation)) &&
             json_add_real(json, "needed_bytes", shortfall->needed_bytes) &&
             json_add_real(json, "limit_bytes", shortfall->limit_bytes) &&
             memory_add_json(json, "memory", &shortfall->memory, shortfall->limit_bytes,
                             request_cost_context(report->request).chip->hbm_bytes.value *
                                 report->request->question.hbm_reserve);
    }
    cJSON *nearest = ok ? json_add_array(to, "nearest") : NULL;
    ok = nearest != NULL;
    for (int i = 0; i < report->nearest_count && ok; i++) {
        cJSON *json = json_add_object(nearest, NULL);
        ok = json && add_identity(json, report->request, &report->nearest[i]) &&
             add_numbers(json, report->request, &report->nearest[i]);
    }
    return ok;
}

cJSON *report_json(const Report *report, Error *error) {
    char launchers[LAUNCHER_NAMES_SIZE];
    cJSON *json = cJSON_CreateObject();
    cJSON *request = NULL;
    request_launchers(report->request, launchers);
    bool ok = json_add_whole(json, "format_version", 1) && add_program(json, report) &&
              (request = json_add_object(json, "request")) != NULL &&
              request_add_json(report->request, launchers, request) && add_model(json, report->request) &&
              add_mesh(json, report->request) && add_search(json, report) && add_plans(json, report) &&
              add_ways(json, report) && add_helps(json, report) && add_nearest(json, report) &&
              around_add_json(json, report) && measured_add_json(json, report->measured) &&
              (!report->comparison || compare_to_best_add_json(report->comparison, json));
    if (ok) return json;
    error_memory(error);
    cJSON_Delete(json);
    return NULL;
}

bool report_write_json(const Report *report, FILE *out, Error *error) {
    cJSON *json = report_json(report, error);
    bool ok = json && (json_print(out, json) || error_stream(error, "report", "the JSON"));
    cJSON_Delete(json);
    return ok;
}
