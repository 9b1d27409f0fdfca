/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/report_options.h"

#include "base/json.h"
#include "base/number.h"
#include "base/util.h"
#include "cost/plan/knobs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The option that a key of `request` stands for; OPTION_COUNT: none. */
static Option option_of_key(const char *key) {
    for (Option option = 0; option < OPTION_COUNT; option++) {
        const char *name = option_name(option);
        size_t i = 0;
        while (name[i] && key[i] == (name[i] == '-' ? '_' : name[i])) i++;
        if (option_is_input(option) && name[i] == '\0' && key[i] == '\0') return option;
    }
    return OPTION_COUNT;
}

/* A value as the option would have it on a command line. *text NULL: a flag that is off, or null. */
static bool value_text(const cJSON *value, Arena *arena, const char *where, const char **text, Error *error) {
    *text = NULL;
    if (cJSON_IsNull(value) || cJSON_IsFalse(value)) return true;
    if (cJSON_IsTrue(value))
        *text = arena_text(arena, "");
    else if (cJSON_IsString(value))
        *text = arena_text(arena, value->valuestring);
    else if (cJSON_IsNumber(value) && fabs(value->valuedouble) < 9e15 &&
             value->valuedouble == floor(value->valuedouble))
        *text = arena_format(arena, "%.0f", value->valuedouble);
    else if (cJSON_IsNumber(value))
        *text = arena_format(arena, "%.17g", value->valuedouble);
    else
        return error_set(error, ERROR_INPUT, where, "is an object or a list; give text, a number, true or false");
    return *text || error_memory(error);
}

/* Every key of an object is an option. */
static bool read_options(const cJSON *options, const char *file, Arena *arena, Options *out, Error *error) {
    const cJSON *value;
    cJSON_ArrayForEach(value, options) {
        const char *where = arena_format(arena, "%s: %s.%s", file, options->string, value->string);
        if (!where) return error_memory(error);
        Option option = option_of_key(value->string);
        if (option == OPTION_COUNT)
            return error_set(error, ERROR_INPUT, where, "is no option of plan; leave it as the report had it");
        if (!value_text(value, arena, where, &out->text[option], error)) return false;
        out->where[option] = where;
    }
    return true;
}

bool report_request_read(const cJSON *report, const char *file, Arena *arena, Options *out, Error *error) {
    const cJSON *request = cJSON_GetObjectItemCaseSensitive(report, "request");
    if (!cJSON_IsObject(request))
        return error_set(error, ERROR_INPUT, file,
                         "request: is missing; give a report of `shardopt plan --format json`");
    if (!read_options(request, file, arena, out, error)) return false;
    if (!out->text[OPTION_FOR]) out->text[OPTION_FOR] = "any"; /* reports before it was always said */
    return true;
}

/* A plan may have been searched with options of its own, in place of those of the request. */
static bool read_own_options(const cJSON *report, const char *file, int64_t rank, Arena *arena, Options *out,
                             Error *error) {
    const cJSON *plans = cJSON_GetObjectItemCaseSensitive(report, "plans");
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(plans, (int)rank - 1), "options");
    if (!own) return true;
    if (!cJSON_IsObject(own))
        return error_set(error, ERROR_INPUT, file, "plans: options of a plan are no object; leave them as they were");
    return read_options(own, file, arena, out, error);
}

/* The knobs that can be requested. What else stands there is outcome. */
static bool read_knobs(const cJSON *knobs, const char *where, ReportPlan *out, Error *error) {
    for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(knobs, knob_name(knob));
        char own[KNOB_TEXT_SIZE];
        int64_t setting;
        if (!value) continue;
        if (cJSON_IsString(value))
            snprintf(own, sizeof own, "%s", value->valuestring);
        else if (cJSON_IsBool(value))
            snprintf(own, sizeof own, "%s", cJSON_IsTrue(value) ? "true" : "false");
        else if (cJSON_IsNumber(value))
            snprintf(own, sizeof own, "%.17g", value->valuedouble);
        else
            return error_set(error, ERROR_INPUT, where, "knobs.%s: is no setting; leave it as the report had it",
                             knob_name(knob));
        if (!knob_parse(knob, own, where, &setting, error)) return false;
        knob_set(knob, setting, &out->knobs);
        out->said |= (KnobSet)1 << knob;
    }
    return true;
}

/* The grid of folded experts is next to the knobs; a plan without one has none. */
static bool read_grid(const cJSON *plan, const char *where, ReportPlan *out, Error *error) {
    ExpertGrid *to = &out->knobs.methods.grid;
    const cJSON *grid = cJSON_GetObjectItemCaseSensitive(plan, "expert_grid");
    if (grid && !cJSON_IsObject(grid))
        return error_set(error, ERROR_INPUT, where, "expert_grid is no object; leave it as the report had it");
    if (!json_whole_or(plan, "expert_grid.expert", 1, MACHINE_CHIPS_MAX, 0, where, &to->expert, error) ||
        !json_whole_or(plan, "expert_grid.expert_tensor", 1, MACHINE_CHIPS_MAX, 0, where, &to->expert_tensor, error))
        return false;
    out->said |= (KnobSet)1 << KNOB_FOLDED_EXPERT | (KnobSet)1 << KNOB_FOLDED_EXPERT_TENSOR;
    return true;
}

static bool read_role(const cJSON *span, const char *where, Role *out, Error *error) {
    char name[24];
    if (!json_text(span, "role", where, name, sizeof name, error)) return false;
    for (*out = 0; *out < ROLE_COUNT; ++*out)
        if (strcmp(name, role_name(*out)) == 0) return true;
    return error_set(error, ERROR_INPUT, where, "placement: \"%s\" is no role; leave it as the report had it", name);
}

/* The placement, and that it is one of these degrees: what it leaves out is 1. A report without one leaves it open. */
static bool read_placement(const cJSON *spans, const char *where, ReportPlan *out, Error *error) {
    Degrees placed = {{1, 1, 1, 1, 1, 1}};
    const cJSON *span;
    cJSON_ArrayForEach(span, spans) {
        if (out->pin_count == PINS_MAX)
            return error_set(error, ERROR_INPUT, where, "placement: has more than %d factors; leave it as it was",
                             PINS_MAX);
        Pin *pin = &out->pins[out->pin_count++];
        if (!json_text(span, "axis", where, pin->axis, sizeof pin->axis, error) ||
            !read_role(span, where, &pin->role, error) ||
            !json_whole(span, "factor", 2, MACHINE_CHIPS_MAX, where, &pin->factor, error))
            return false;
        if (__builtin_mul_overflow(placed.of[pin->role], pin->factor, &placed.of[pin->role])) placed.of[pin->role] = 0;
    }
    for (Role role = 0; role < ROLE_COUNT && out->pin_count > 0; role++)
        if (placed.of[role] != out->degrees.of[role])
            return error_set(error, ERROR_INPUT, where,
                             "placement: the factors of %s do not multiply to axes.%s; leave it as the report had it",
                             role_name(role), role_name(role));
    return true;
}

/* The states of activations in all layers. False: one of them has several, or none is there. */
static bool states_of_layout(const cJSON *rows, RematRule *out) {
    unsigned seen = 0;
    const cJSON *row;
    *out = (RematRule){.required = true};
    cJSON_ArrayForEach(row, rows) {
        const cJSON *tensor = cJSON_GetObjectItemCaseSensitive(row, "tensor");
        const cJSON *said = cJSON_GetObjectItemCaseSensitive(row, "state");
        Activation a = 0;
        ActivationState state = 0;
        if (!cJSON_IsString(tensor) || !cJSON_IsString(said)) return false;
        while (a < ACTIVATION_COUNT && strcmp(tensor->valuestring, activation_name(a)) != 0) a++;
        while (state < STATE_COUNT && strcmp(said->valuestring, activation_state_name(state)) != 0) state++;
        if (a == ACTIVATION_COUNT) continue;
        if (state > STATE_OFFLOADED || (seen >> a & 1)) return false;
        seen |= 1u << a;
        out->state[a] = state;
    }
    return seen != 0;
}

/* What the plan recomputes: the layout of one that leaves room (search_run()) is not the fastest of its degrees. */
static void read_remat(const cJSON *plan, ReportPlan *out) {
    const cJSON *knobs = cJSON_GetObjectItemCaseSensitive(plan, "knobs");
    const cJSON *remat = cJSON_GetObjectItemCaseSensitive(knobs, "remat");
    RematRule rule;
    Error ignored = {0};
    if (cJSON_IsString(remat) && remat_parse(remat->valuestring, "remat", &rule, &ignored)) /* else "custom" */
        snprintf(out->remat, sizeof out->remat, "%s", remat->valuestring);
    else if (states_of_layout(cJSON_GetObjectItemCaseSensitive(plan, "layout"), &rule))
        remat_text(&rule, out->remat);
}

bool report_plan_read(const cJSON *report, const char *file, int64_t rank, ReportPlan *out, Error *error) {
    const cJSON *plans = cJSON_GetObjectItemCaseSensitive(report, "plans");
    if (!cJSON_IsArray(plans))
        return error_set(error, ERROR_INPUT, file, "plans: is missing; give a report of `shardopt plan --format json`");
    int count = cJSON_GetArraySize(plans);
    if (rank > count)
        return error_set(error, ERROR_INPUT, "--rank", "%lld is beyond the %d plans of %.80s; give 1 to %d",
                         (long long)rank, count, file, count);
    const cJSON *plan = cJSON_GetArrayItem(plans, (int)rank - 1);
    char where[160], schedule[24];
    snprintf(where, sizeof where, "%.100s: plans[%lld]", file, (long long)rank - 1);
    if (!cJSON_IsObject(plan)) return error_set(error, ERROR_INPUT, where, "is no plan; give an object");
    for (Role role = 0; role < ROLE_COUNT; role++) {
        char key[32];
        snprintf(key, sizeof key, "axes.%s", role_name(role));
        if (!json_whole(plan, key, 1, MACHINE_CHIPS_MAX, where, &out->degrees.of[role], error)) return false;
    }
    if (!read_knobs(cJSON_GetObjectItemCaseSensitive(plan, "knobs"), where, out, error) ||
        !read_grid(plan, where, out, error) ||
        !read_placement(cJSON_GetObjectItemCaseSensitive(plan, "placement"), where, out, error))
        return false;
    read_remat(plan, out);
    if (!json_text(plan, "knobs.schedule", where, schedule, sizeof schedule, error) ||
        !json_whole(plan, "chips_used", 1, MACHINE_CHIPS_MAX, where, &out->chips_used, error) ||
        !json_whole_or(plan, "batch.sequences", 1, INT64_C(1) << 53, 0, where, &out->sequences, error) ||
        !json_real_or(plan, "step.seconds", 0, 1e30, 0, where, &out->seconds, error))
        return false;
    return out->known = true;
}

bool options_have_no_input(const CommandOption *table, const Options *options, Error *error) {
    for (Option option = 0; option < OPTION_COUNT; option++)
        if (table[option].is_input && options->text[option])
            return error_set(error, ERROR_INPUT, options->where[option],
                             "contradicts --from, whose report has the request; leave it out");
    return true;
}

bool options_of_report(const cJSON *report, const Options *given, Arena *arena, Options *out, ReportPlan *plan,
                       Error *error) {
    const char *file = given->text[OPTION_FROM];
    int64_t rank = 1, version;
    if (!options_have_no_input(PLANNING_OPTIONS, given, error)) return false;
    if (given->text[OPTION_RANK] && !number_whole(given->text[OPTION_RANK], "--rank", 1, 1000000, &rank, error))
        return false;
    *out = *given;
    if (!json_whole(report, "format_version", 1, 1, file, &version, error) ||
        !report_request_read(report, file, arena, out, error) || !report_plan_read(report, file, rank, plan, error) ||
        !read_own_options(report, file, rank, arena, out, error))
        return false;
    const char *remat = out->text[OPTION_REMAT];
    if (remat && strcmp(remat, "auto") != 0) plan->remat[0] = '\0'; /* the request says it */
    return true;
}

bool options_from_report(const Options *given, Arena *arena, Options *out, ReportPlan *plan, Error *error) {
    cJSON *report = json_read_file(given->text[OPTION_FROM], error);
    bool ok = report && options_of_report(report, given, arena, out, plan, error);
    cJSON_Delete(report);
    return ok;
}
