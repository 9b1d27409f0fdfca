/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as JSON, format_version 1. Every add_* gives false when memory is out; a NULL parent passes that on. */
#include "base/build.h"
#include "search/launch/launcher.h"
#include "search/report/report.h"

#include "base/json.h"
#include "base/util.h"
#include "cost/plan/grid.h"
#include "mesh/slice.h"
#include "search/engine/proof/certificate.h"
#include "search/report/compare_to_best.h"
#include "search/report/plan_fields.h"
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

/* How launchers express the layout's recomputation and offloading, those that can be. */
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

/* By role, hidden or not. */
static bool add_communication(cJSON *step, const Estimate *estimate) {
    cJSON *roles = json_add_object(step, "communication_seconds");
    bool ok = roles != NULL;
    for (int role = 0; role < ROLE_COUNT && ok; role++)
        ok = json_add_real(roles, role_name((Role)role), role_seconds(&estimate->time, (Role)role, NULL));
    return ok && traffic_add_roles(estimate, step);
}

static bool add_why(cJSON *to, const RankedPlan *ranked) {
    Why why;
    report_why(ranked, &why);
    cJSON *json = json_add_array(to, "why");
    bool ok = json != NULL;
    for (int i = 0; i < why.count && ok; i++) ok = json_add_text(json, NULL, why.text[i]);
    return ok;
}

/* One plan as it is written: its figures (search/report/plan_fields.h), and between them what is no figure. */
typedef struct {
    cJSON *json;
    const Field *next;
    PlanRecord record;
} PlanWriter;

static bool until(PlanWriter *writer, const char *key) {
    return fields_add_json(writer->json, &writer->next, key, &writer->record);
}

static cJSON *part(const PlanWriter *writer, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(writer->json, key);
}

/* How it is laid out: which layout, for whom. */
static bool add_choice(PlanWriter *writer) {
    cJSON *json = writer->json;
    const Request *request = writer->record.request;
    const RankedPlan *ranked = &writer->record.plan;
    return add_layout(json, &request->question.model, &ranked->plan) && add_effects(json, request, ranked) &&
           add_padding(json, ranked->padding) && add_launchers(json, "launchable_by", ranked->launchable_by) &&
           add_launchers(json, "launchable_exactly_by", ranked->exact) && launch_add_json(ranked, json);
}

/* `failures` is null where nothing fails or nothing is known. */
static bool add_failures(PlanWriter *writer) {
    if (writer->record.failing.mtbf_seconds > 0) return true;
    fields_skip(&writer->next, "training.failures.");
    return json_add_text(part(writer, "training"), "failures", NULL);
}

/* What plan, way out and nearest machine have in common: which plan, on what, with which batch, and its figures. */
static bool add_plan(PlanWriter *writer) {
    cJSON *json = writer->json;
    const Request *request = writer->record.request;
    const RankedPlan *ranked = &writer->record.plan;
    const Mesh *mesh = &ranked->machine.mesh;
    return until(writer, "batch.sequences") && add_expert_grid(json, &ranked->plan) &&
           add_machine(json, "machine", &request->question.chip, &ranked->machine) &&
           until(writer, "knobs.microbatches") &&
           (!request->space.nesting_all || add_nesting(json, &ranked->nesting)) &&
           add_placement(json, mesh, &ranked->nesting, &ranked->plan.placement) && until(writer, "knobs.zero_stage") &&
           add_remat_words(part(writer, "knobs"), &request->question.model, &ranked->plan) &&
           until(writer, "chips_used") && add_choice(writer) && until(writer, "step.exposed_communication_seconds") &&
           add_communication(part(writer, "step"), &ranked->estimate) && until(writer, "bound_by") &&
           add_terms(part(writer, "step"), &ranked->estimate, &ranked->plan.degrees) &&
           traffic_add_groups(ranked, json) && until(writer, "training.samples_per_second") &&
           memory_add_moments(json, request, ranked) && memory_add_detail(json, request, ranked) &&
           until(writer, "training.failures.mtbf_seconds") && add_failures(writer) && until(writer, NULL);
}

/* A plan without its rank, for the same request. */
static bool add_other(cJSON *json, const Request *request, const RankedPlan *ranked) {
    PlanWriter writer = {.json = json, .next = field_named(PLAN_FIELDS, "notation")};
    plan_record(request, ranked, 0, &writer.record);
    return json && add_plan(&writer);
}

bool report_add_line(cJSON *json, const Request *request, const RankedPlan *ranked) {
    PlanWriter writer = {.json = json, .next = field_named(PLAN_FIELDS, "notation")};
    plan_record(request, ranked, 0, &writer.record);
    if (!json || !fields_add_json(json, &writer.next, "axes.data", &writer.record) ||
        !json_add_real(json, "ranked_seconds", ranked->ranked_seconds))
        return false;
    writer.next = field_named(PLAN_FIELDS, "step.seconds");
    if (!until(&writer, "bound_by") || !add_terms(part(&writer, "step"), &ranked->estimate, &ranked->plan.degrees))
        return false;
    writer.next = field_named(PLAN_FIELDS, "memory.limit_bytes");
    return until(&writer, "fits_probability") && add_launchers(json, "launchable_by", ranked->launchable_by);
}

static bool add_unverified(cJSON *to, const Request *request, const RankedPlan *ranked) {
    Unverified figures[UNVERIFIED_MAX];
    int count = unverified_figures(request, ranked, figures);
    cJSON *json = json_add_array(to, "unverified");
    bool ok = json != NULL;
    for (int i = 0; i < count && ok; i++) ok = json_add_text(json, NULL, figures[i].key);
    return ok;
}

/* What this plan was searched with in addition to what the request says. */
static bool add_own_options(cJSON *json, const Report *report, const Request *own) {
    const Request *requested = report->requested ? report->requested : report->request;
    char launcher[LAUNCHER_NAMES_SIZE];
    bool several = (requested->subproblem_count > 1 || !report->requested) && /* a plan that is explained has one */
                   own->space.launchers != requested->requested.launchers;
    bool reserve = own->question.hbm_reserve != requested->question.hbm_reserve;
    const StateDtypes *said = &requested->requested.state_dtypes, *kept = &own->question.state_dtypes;
    bool dtypes = several && memcmp(said, kept, sizeof *kept) != 0; /* what its launcher keeps */
    bool on_host = own->question.tuning.what.on_host && !requested->question.tuning.what.on_host;
    if (!several && !reserve && !on_host) return true;
    cJSON *options = json_add_object(json, "options");
    if (own->space.launchers == 0)
        snprintf(launcher, sizeof launcher, "any");
    else
        launcher_names(own->space.launchers, ",", ",", launcher, sizeof launcher);
    char text[STATE_TEXT_SIZE];
    return options && (!on_host || json_add_text(options, "offload", "parameters")) &&
           (!several || json_add_text(options, "for", launcher)) &&
           (!dtypes || json_add_text(options, "state_dtypes", state_dtypes_text(kept, text))) &&
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
        PlanWriter writer = {.json = json, .next = PLAN_FIELDS};
        plan_record(request, ranked, i + 1, &writer.record);
        ok = until(&writer, "launcher") && add_row_kinds(json, ranked->row_kinds) &&
             add_row_gap(json, report, ranked) && until(&writer, "notation") &&
             add_own_options(json, report, request) && add_plan(&writer) && add_unverified(json, request, ranked) &&
             add_risks(json, ranked) && add_why(json, ranked);
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
             (!way->found || add_other(json, report->request, &way->best));
    }
    return ok;
}

static bool add_helps(cJSON *to, const Report *report) {
    cJSON *list = json_add_array(to, "helps");
    bool ok = list != NULL;
    for (int i = 0; i < report->sensitivity_count && ok; i++) {
        cJSON *json = json_add_object(list, NULL);
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
        ok = add_other(json_add_object(nearest, NULL), report->request, &report->nearest[i]);
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
              around_add_json(json, report) && measured_add_json(json, report) &&
              (!report->comparison || compare_to_best_add_json(report->comparison, json));
    if (ok) return json;
    error_memory(error);
    cJSON_Delete(json);
    return NULL;
}
