/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `search.certificate` of the JSON report: what the search's numbers are numbers of, and what they rest on. */
#include "search/engine/proof/certificate.h"

#include "base/json.h"
#include "base/util.h"
#include "mesh/slice.h"
#include "search/answer/odd.h"
#include "search/answer/plan_words.h"
#include "search/answer/tie.h"

#include <math.h>

/* ---- the space ---- */

static bool add_axes(cJSON *to, const Mesh *mesh, RoleSet roles) {
    cJSON *axes = json_add_array(to, "axes");
    bool ok = axes != NULL;
    for (int a = 0; a < mesh->axis_count && ok; a++) {
        const Axis *axis = &mesh->axes[a];
        cJSON *json = json_add_object(axes, NULL);
        ok = json_add_text(json, "name", axis->name) && json_add_whole(json, "size", axis->size) &&
             json_add_text(json, "kind", axis_kind_name(axis->kind)) &&
             json_add_count(json, "factorizations", axis_factorizations(axis, roles));
    }
    return ok;
}

static bool add_machines(cJSON *to, const SearchRecord *record) {
    const Request *request = record->request;
    cJSON *list = json_add_array(to, "machines");
    bool ok = list != NULL;
    for (int i = 0; record->result->machines && i < record->result->certificate.machines && ok; i++) {
        const SearchedMachine *searched = &record->result->machines[i];
        const Machine *machine = &searched->machine;
        char shape[SLICE_TEXT_SIZE];
        cJSON *json = json_add_object(list, NULL);
        ok = json_add_whole(json, "machine", i) && json_add_text(json, "text", machine->text) &&
             (chip_has_domains(&request->question.chip)
                  ? json_add_whole(json, "nodes", machine->nodes)
                  : json_add_text(json, "slice", slice_text(&request->question.chip, machine->slice, shape)) &&
                        json_add_whole(json, "slices", machine->slices)) &&
             json_add_whole(json, "devices", machine->mesh.devices) &&
             json_add_count(json, "factorizations", searched->factorizations) &&
             json_add_whole(json, "degree_tuples", searched->degree_tuples) &&
             add_axes(json, &machine->mesh, request->space.roles);
    }
    return ok;
}

static bool add_roles(cJSON *to, const Request *request) {
    cJSON *json = json_add_array(to, "roles");
    bool ok = json != NULL;
    for (int i = 0; i < ROLE_COUNT && ok; i++) {
        Role role = request->space.nesting.order[i];
        if (request->space.roles >> role & 1) ok = json_add_text(json, NULL, role_name(role));
    }
    return ok;
}

typedef struct {
    const char *key, *text;
} Rule;

static bool add_rules(cJSON *to, const char *key, const Rule *rules, size_t count) {
    cJSON *json = json_add_object(to, key);
    bool ok = json != NULL;
    for (size_t i = 0; i < count && ok; i++) ok = json_add_text(json, rules[i].key, rules[i].text);
    return ok;
}

static bool add_list(cJSON *to, const char *key, const char *const *texts, size_t count) {
    cJSON *json = json_add_array(to, key);
    bool ok = json != NULL;
    for (size_t i = 0; i < count && ok; i++) ok = json_add_text(json, NULL, texts[i]);
    return ok;
}

/* As search/engine/space/knob_space.h makes them. */
static const Rule KNOB_RULES[] = {
    {"microbatches",
     "n = ceil(sequences / (data x fsdp x expert)) sequences a replica; for each value of ceil(n / b), b = "
     "1 .. n, the least b: that many microbatches of b sequences"},
    {"schedule", "pipeline = 1: none; else each of `schedules`; interleaved and circular with each v > 1"},
    {"virtual_stages",
     "l = floor(layers / pipeline), at least 1; for each value of ceil(l / v), v = 1 .. l, the least v"},
    {"stages",
     "even or balanced split of the layers, or slots, where embedding and logits take one each; pipeline = 1: even"},
    {"context_method",
     "sequence = 1: none; else ring, all_gather, ulysses, and ulysses over u and a ring over the rest "
     "for each u > 1 that divides `heads` and sequence, u < sequence; heads with more than 64 such u are an error"},
    {"sequence_parameters", "sharded; with sequence > 1 also replicated"},
    {"expert_grid",
     "none; on machines of switches alone, with experts and expert = 1, also e ways of experts for each e <= `experts` "
     "that divides r = tensor x sequence x fsdp x data, with widths over w = 1 or w = tensor ranks where w divides "
     "r / e; but not e = 1 with w = tensor, which is none; more than 1024 grids are an error"},
    {"tensor_overlap", "off; with tensor > 1 and `tensor_overlap` also on"},
    {"zero_stage", "0; 1 and 2 too where data > 1, or sequence > 1, or a grid is possible"},
    {"regather", "yes; no too where expert x sequence x fsdp > 1 or a grid is possible"},
    {"offload_optimizer", "no; with `optimizer_offload` also yes"},
    {"launchers",
     "a plan that is padded under --padding launchable, or under --for, counts where a launcher can place it"},
};

static bool add_knobs(cJSON *to, const SearchRecord *record) {
    const Request *request = record->request;
    CostContext setting = request_cost_context(request);
    KnobDomain domain = knob_domain(&setting, &request->question.machine.mesh, request->space.schedules);
    cJSON *json = json_add_object(to, "knobs"), *schedules = NULL;
    int64_t heads = 0;
    for (int i = 0; i < request->question.model.kind_count; i++)
        heads = common_divisor(heads, kind_heads(&request->question.model, &request->question.model.kinds[i]));
    bool ok = json_add_whole(json, "layers", request->question.model.layers) && json_add_whole(json, "heads", heads) &&
              json_add_whole(json, "experts", domain.experts) &&
              json_add_bool(json, "tensor_overlap", domain.overlaps) &&
              json_add_bool(json, "optimizer_offload", domain.offloads) &&
              (schedules = json_add_array(json, "schedules")) != NULL;
    for (Schedule schedule = SCHEDULE_NONE + 1; schedule < SCHEDULE_COUNT && ok; schedule++)
        if (request->space.schedules >> schedule & 1) ok = json_add_text(schedules, NULL, schedule_name(schedule));
    return ok && add_rules(json, "rules", KNOB_RULES, COUNT_OF(KNOB_RULES));
}

static bool add_space(cJSON *to, const SearchRecord *record) {
    static const char *const PADDING[] = {
        [PADDING_NONE] = "none: every size divides and stages are even",
        [PADDING_LAUNCHABLE] = "launchable: padding and uneven stages that some launcher takes",
        [PADDING_ANY] = "any: every size may be padded",
    };
    static const char *const OFFLOAD[] = {
        [OFFLOAD_ALL] = "all: activations and the optimizer's state may lie on the host, where it is known",
        [OFFLOAD_ACTIVATIONS] = "activations: these alone may lie on the host",
        [OFFLOAD_OPTIMIZER] = "optimizer: its state alone may lie on the host",
        [OFFLOAD_NONE] = "none: nothing lies on the host",
    };
    static const char *const CANONICAL[] = {
        "a role of degree 1 has its knobs off",
        "fsdp gathers weights in every microbatch, data (ZeRO 0 to 2) at most once a step: there is no fsdp that keeps "
        "them for the step, which would be data with ZeRO",
        "plans that a knob makes no other are counted once, the others under `equal`: sharding over one replica, "
        "keeping weights that nothing gathers, balancing stages that are equal",
        "a row is the best plan of one (degrees, expert grid, schedule); with --variants of each knob setting",
        "ties: less memory, then degrees, knobs, batch, machine, placement, nesting, so that the k best are one set",
        "rows within 0.5% of the fastest are shown in the order of what is surer, the others by time",
    };
    const Request *request = record->request;
    cJSON *json = json_add_object(to, "space");
    return add_roles(json, request) &&
           json_add_text(json, "factorizations",
                         "an axis of size p^e x q^f x ... has C(e+R-1, R-1) x C(f+R-1, R-1) x ... ordered splits over "
                         "the R roles, a machine the product over its axes; roles nest in the order of `roles`, the "
                         "first innermost, or as `orders` has it") &&
           json_add_text(json, "placements",
                         "of one degree tuple: the product over primes p of the number of matrices (roles x axes) of "
                         "whole numbers whose rows sum to the exponents of p in the degrees and whose columns to "
                         "those in the axis sizes; plans = placements x knobs x orders") &&
           json_add_text(json, "orders",
                         request->space.nesting_all
                             ? "all: each degree tuple in every order of its n roles above 1, n! of them, also where "
                               "two orders place the same since roles share no axis"
                             : "1: that of `roles`") &&
           json_add_text(json, "padding", PADDING[request->space.padding]) &&
           json_add_text(json, "offload", OFFLOAD[request->question.offload]) &&
           json_add_text(json, "idle",
                         "the machine requested, and every offered shape of it with at most a share `max_idle` of the "
                         "chips unused") &&
           json_add_text(json, "batch",
                         "the batch requested, and with `batch_tolerance` every other within it that data x fsdp x "
                         "expert divides") &&
           add_list(json, "canonical", CANONICAL, COUNT_OF(CANONICAL)) && add_knobs(json, record) &&
           add_machines(json, record);
}

/* ---- the proof ---- */

/* With 17 digits and as hex: bounds are compared as they are, not as they are printed. */
static bool add_seconds(cJSON *to, double seconds) {
    char hex[40] = "inf";
    if (isfinite(seconds)) snprintf(hex, sizeof hex, "%a", seconds);
    return json_add_real(to, "seconds", seconds) && json_add_text(to, "hex", hex);
}

static bool add_cut(cJSON *to, const char *key, const SearchRecord *record, const CutTuple *cut) {
    cJSON *json = json_add_object(to, key), *axes = NULL;
    bool ok = add_seconds(json, cut->bound) && (axes = json_add_object(json, "axes")) != NULL;
    for (Role role = 0; role < ROLE_COUNT && ok; role++)
        ok = json_add_whole(axes, role_name(role), cut->degrees.of[role]);
    const char *text = record->result->machines ? record->result->machines[cut->machine].machine.text : "";
    return ok && json_add_whole(json, "machine", cut->machine) && json_add_whole(json, "machines", cut->machines) &&
           json_add_text(json, "machine_text", text) && json_add_whole(json, "sequences_least", cut->batch_least) &&
           json_add_whole(json, "sequences_most", cut->batch_most) && json_add_bool(json, "opened", cut->expanded);
}

static bool add_threshold(cJSON *to, const Certificate *certificate, const SearchResult *result) {
    cJSON *last = json_add_object(to, "kth_best"), *threshold = NULL;
    bool ok = last != NULL;
    double slowest = 0;
    for (int i = 0; i < result->plan_count; i++) slowest = max_real(slowest, result->plans[i].ranked_seconds);
    if (ok && result->plan_count > 0) {
        cJSON *fastest = json_add_object(to, "fastest");
        ok = json_add_whole(last, "rank", result->plan_count) && add_seconds(last, slowest) && fastest &&
             add_seconds(fastest, search_fastest(result)->ranked_seconds);
    }
    if (ok && result->odd) {
        cJSON *seldom = json_add_object(to, "seldom_run");
        Prose words = {0};
        char notation[NOTATION_SIZE];
        odd_words(result->odd->odd, &words);
        ok = json_add_whole(seldom, "faster_plans", result->faster_count) &&
             json_add_real(seldom, "seconds", result->odd->estimate.time.seconds) &&
             json_add_text(seldom, "notation",
                           plan_notation(&result->odd->plan.degrees, &result->odd->plan.knobs, false, notation)) &&
             json_add_text(seldom, "odd", words.text);
    }
    return ok && (threshold = json_add_object(to, "threshold")) != NULL &&
           add_seconds(threshold, certificate->threshold) &&
           json_add_text(
               threshold, "rule",
               "the k-th best, where k plans were found, or what counts as tied with the fastest where that is "
               "slower; a tuple or knob setting is cut for being too slow "
               "only where its bound is above this times 1 + 1e-12, or where a plan of the same degrees, "
               "schedule and expert grid is known that takes no longer");
}

static bool add_bounds(cJSON *to, const SearchRecord *record) {
    const Certificate *certificate = &record->result->certificate;
    bool ok = true;
    if (isfinite(certificate->least_above_threshold.bound))
        ok = add_cut(to, "least_bound", record, &certificate->least_above_threshold);
    if (ok && isfinite(certificate->least_cut.bound)) ok = add_cut(to, "least_cut", record, &certificate->least_cut);
    cJSON *closest = ok ? json_add_array(to, "closest_cut_tuples") : NULL;
    ok = closest != NULL;
    for (int i = 0; i < certificate->closest_count && ok; i++)
        ok = add_cut(closest, NULL, record, &certificate->closest[i]);
    return ok;
}

static bool add_arithmetic(cJSON *to, const SearchRecord *record) {
    char hash[SHA256_HEX_SIZE];
    profile_sha256(&record->request->question.profile, hash);
    cJSON *json = json_add_object(to, "arithmetic");
    return json_add_text(json, "data_sha256", record->data_sha256) && json_add_text(json, "profile_sha256", hash) &&
           json_add_text(json, "equality",
                         "doubles, no contraction, no re-association: brute force and search agree to the last bit");
}

bool certificate_add_first_plan(const FirstPlan *first, cJSON *to) {
    if (first->bounds == 0) return true;
    cJSON *json = json_add_object(to, "first_plan");
    return json && json_add_whole(json, "bounds", first->bounds) &&
           json_add_real(json, "ranked_seconds", first->ranked_seconds);
}

bool certificate_add_json(const SearchRecord *record, cJSON *search) {
    static const char *const NOT_PROVEN[] = {
        "the cost model: every time is an estimate, whose errors against measured runs are in the README",
        "that the knob rules are complete: what they do not list is not in the space",
        "layouts beyond the strategy graph (search/engine/layout/layout.h): remat and offload by activation and layer, "
        "shardings by tensor. Bounds take the layout relaxed: every choice that is allowed at its least, activations "
        "freed in fractions by the cheapest way (search/engine/layout/layout_relax.c)",
        "a layout that the solver's work limit leaves open: the proof is then `gap`, `best_bound_seconds` its bound",
        "other orders of nesting than `space.roles`: --nesting all searches every order",
    };
    const Certificate *certificate = &record->result->certificate;
    size_t not_proven = COUNT_OF(NOT_PROVEN) - (record->request->space.nesting_all ? 1 : 0);
    Count sum = certificate->plans_evaluated;
    for (int i = 0; i < PRUNED_COUNT; i++) sum += certificate->plans_pruned[i];
    cJSON *json = json_add_object(search, "certificate"), *identity = NULL;
    return add_space(json, record) && (identity = json_add_object(json, "sum")) != NULL &&
           json_add_text(
               identity, "identity",
               "plans_covered = sum over machines, degree tuples and batches of placements x knobs x orders = "
               "plans_evaluated + the sum of plans_pruned") &&
           json_add_count(identity, "evaluated_and_pruned", sum) &&
           json_add_bool(identity, "holds", sum == certificate->plans_covered) &&
           add_threshold(json, certificate, record->result) && add_bounds(json, record) &&
           add_list(json, "not_proven", NOT_PROVEN, not_proven) && add_arithmetic(json, record);
}
