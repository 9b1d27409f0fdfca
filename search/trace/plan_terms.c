/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/trace/comparison.h"

#include "base/json.h"
#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SECONDS_MOST = 1e9, BYTES_MOST = 1e24;

/* The term that a report calls by a name; TERM_COUNT: there is none. */
static TraceTerm term_named(const char *name) {
    for (int term = 0; term < TERM_COUNT; term++)
        if (strcmp(name, term_name((TraceTerm)term)) == 0) return (TraceTerm)term;
    return TERM_COUNT;
}

/* What a report calls `weights` are gathers of parameters where no role is fsdp; their traffic stands under fsdp. */
static TraceTerm term_of_report(const char *name) {
    return strcmp(name, "weights") == 0 ? TERM_FSDP : term_named(name);
}

static bool read_degrees(const cJSON *plan, const char *where, PlanShape *out, Error *error) {
    char path[64];
    out->known = true;
    for (TraceTerm role = TERM_TENSOR; role <= TERM_PIPELINE; role++) {
        snprintf(path, sizeof path, "axes.%s", term_name(role));
        if (!json_whole(plan, path, 1, INT32_MAX, where, &out->degree[role], error)) return false;
    }
    const cJSON *grid = json_at(plan, "expert_grid");
    int64_t experts;
    if (!cJSON_IsObject(grid)) return true;
    if (!json_whole_or(grid, "expert", 1, INT32_MAX, 1, where, &experts, error)) return false;
    out->degree[TERM_EXPERT] = max_whole(out->degree[TERM_EXPERT], experts);
    return true;
}

/* Ranks of a role are as far apart as its innermost factor lies, which a plan says of its first axis; of an axis
 * further out it is not known. */
static void read_strides(const cJSON *plan, PlanShape *out) {
    const cJSON *placement = cJSON_GetObjectItemCaseSensitive(plan, "placement"), *pin;
    const char *first = NULL;
    cJSON_ArrayForEach(pin, placement) {
        const char *axis = json_text_at(pin, "axis");
        double stride = json_real_at(pin, "stride", NAN);
        TraceTerm term = term_named(json_text_at(pin, "role"));
        if (!axis[0] || term == TERM_COUNT || isnan(stride)) continue;
        if (!first) first = axis;
        if (out->stride[term] != 0) continue;
        bool is_known = strcmp(axis, first) == 0 && stride >= 1 && stride < 1e9;
        out->stride[term] = is_known ? (int64_t)stride : -1;
    }
}

static const char *link_figure(const cJSON *report, const char *axis) {
    const cJSON *item;
    if (strcmp(axis, "network") == 0) return "network_efficiency";
    if (strcmp(axis, "dcn") == 0) return "dcn_efficiency";
    if (strcmp(axis, "pcie") == 0) return "pcie_efficiency";
    if (strcmp(axis, "nvlink") == 0 || strcmp(axis, "xgmi") == 0) return "nvlink_efficiency";
    cJSON_ArrayForEach(item, json_at(report, "mesh.axes")) {
        const char *kind = json_text_at(item, "kind");
        if (kind[0] && strcmp(json_text_at(item, "name"), axis) == 0 && strcmp(kind, "switch") != 0)
            return "ici_efficiency";
    }
    return NULL;
}

/* Roles are placed from the inside out: the last axis of a role is the one that its group leaves over. Parameters that
 * are gathered where no role is fsdp lie over sequence and data. */
static void read_links(const cJSON *report, const cJSON *plan, PlanTerms *out) {
    const cJSON *pin;
    cJSON_ArrayForEach(pin, cJSON_GetObjectItemCaseSensitive(plan, "placement")) {
        const char *axis = json_text_at(pin, "axis");
        TraceTerm term = term_named(json_text_at(pin, "role"));
        if (axis[0] && term != TERM_COUNT) out->link[term] = link_figure(report, axis);
    }
    for (TraceTerm other = TERM_SEQUENCE; other <= TERM_DATA; other++)
        if (!out->link[TERM_FSDP]) out->link[TERM_FSDP] = out->link[other];
}

/* Adds the numbers of an object, by the terms that its keys name. */
static bool add_terms(const cJSON *object, const char *where, double most, double out[TERM_COUNT], Error *error) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        TraceTerm term = term_of_report(item->string);
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= -most) || item->valuedouble > most)
            return error_set(error, ERROR_INPUT, where, "%.60s is no number that a step has", item->string);
        if (term == TERM_COUNT)
            return error_set(error, ERROR_INPUT, where, "%.60s is no term of a step that is known", item->string);
        out[term] += item->valuedouble;
    }
    return true;
}

/* A role has the ranks of its largest group, which parameters that are gathered over sequence ranks have without a
 * degree of fsdp. */
static void read_groups(const cJSON *plan, PlanShape *shape, double group[TERM_COUNT]) {
    const cJSON *item;
    for (TraceTerm role = TERM_TENSOR; role <= TERM_PIPELINE; role++) group[role] = (double)shape->degree[role];
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(plan, "communication")) {
        double chips = json_real_at(item, "chips", 0);
        TraceTerm term = term_of_report(json_text_at(item, "role"));
        if (term == TERM_COUNT || !(chips >= 1)) continue;
        group[term] = max_real(group[term], chips);
        if (chips < 1e9) shape->degree[term] = max_whole(shape->degree[term], (int64_t)chips);
    }
}

static bool read_step(const cJSON *plan, const char *where, PlanTerms *out, Error *error) {
    const cJSON *terms = json_at(plan, "step.terms_seconds");
    if (!cJSON_IsObject(terms))
        return error_set(error, ERROR_INPUT, where,
                         "its plan has no step.terms_seconds; give a report of --format json");
    if (!json_real(plan, "step.seconds", 0, SECONDS_MOST, where, &out->step, error) ||
        !add_terms(terms, where, SECONDS_MOST, out->exposed, error) ||
        !add_terms(json_at(plan, "step.communication_seconds"), where, SECONDS_MOST, out->length, error) ||
        !add_terms(json_at(plan, "step.communication_bytes"), where, BYTES_MOST, out->bytes, error))
        return false;
    for (int term = 0; term < TERM_COUNT; term++)
        if (!term_is_collective((TraceTerm)term)) out->length[term] = out->exposed[term];
    return true;
}

static Schedule schedule_of(const cJSON *plan) {
    const char *name = json_text_at(plan, "knobs.schedule");
    for (int schedule = 0; schedule < SCHEDULE_COUNT; schedule++)
        if (strcmp(name, schedule_name((Schedule)schedule)) == 0) return (Schedule)schedule;
    return SCHEDULE_NONE;
}

bool plan_terms_read(const cJSON *report, const char *where, int64_t rank, PlanTerms *out, Error *error) {
    const cJSON *plans = cJSON_GetObjectItemCaseSensitive(report, "plans");
    int count = cJSON_IsArray(plans) ? cJSON_GetArraySize(plans) : 0;
    *out = (PlanTerms){.rank = rank};
    if (count == 0)
        return error_set(error, ERROR_INPUT, where, "has no plans; give a report of `shardopt plan --format json`");
    if (rank < 1 || rank > count)
        return error_set(error, ERROR_INPUT, where, "has plans 1 to %d, and none of rank %lld", count, (long long)rank);
    const cJSON *plan = cJSON_GetArrayItem(plans, (int)rank - 1);
    out->notation = json_text_at(plan, "notation");
    out->chip = json_text_at(report, "mesh.chip");
    if (!read_degrees(plan, where, &out->shape, error) ||
        !json_whole_or(plan, "chips_used", 1, INT32_MAX, 1, where, &out->chips, error) ||
        !json_whole_or(report, "model.layers", 0, INT32_MAX, 0, where, &out->layers, error) ||
        !json_whole_or(plan, "knobs.microbatches", 1, INT32_MAX, 1, where, &out->microbatches, error) ||
        !json_whole_or(plan, "knobs.virtual_stages", 1, INT32_MAX, 1, where, &out->virtual_stages, error) ||
        !json_real_or(plan, "memory.total_bytes", 0, BYTES_MOST, 0, where, &out->memory_bytes, error))
        return false;
    double tokens;
    if (!json_real_or(plan, "batch.tokens", 0, BYTES_MOST, 0, where, &tokens, error)) return false;
    out->tokens = tokens / (double)out->chips;
    out->schedule = schedule_of(plan);
    read_strides(plan, &out->shape);
    read_links(report, plan, out);
    read_groups(plan, &out->shape, out->group);
    return read_step(plan, where, out, error);
}

int64_t plan_stage(const PlanTerms *plan, int64_t rank) {
    int64_t stages = plan->shape.degree[TERM_PIPELINE], stride = plan->shape.stride[TERM_PIPELINE];
    if (stages < 2 || rank < 0) return -1;
    if (stride <= 0) stride = max_whole(1, plan->chips / stages); /* the outermost role */
    return rank / stride % stages;
}

double plan_stage_share(const PlanTerms *plan, int64_t stage) {
    return stage >= 0 && plan->stage_share ? plan->stage_share[stage] : 1;
}

bool plan_term_is_of_passes(TraceTerm term) {
    return term <= TERM_RECOMPUTE || term == TERM_TENSOR || term == TERM_EXPERT || term == TERM_SEQUENCE;
}
