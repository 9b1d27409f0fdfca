/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of figures as JSON: what docs/json.md, docs/schema and the Python package are made of. */
#include "base/json.h"
#include "search/cli/commands.h"
#include "search/report/plan_fields.h"
#include "search/serving/report/serving_report.h"

static bool add_figures(cJSON *to, const char *of, const Field *field) {
    static const char *const TYPES[] = {"number", "integer", "integer", "boolean", "string"}, *const UNKNOWN[] = {
                                                                                                  NULL, "absent",
                                                                                                  "null"};
    cJSON *list = json_add_array(to, of);
    const char *meaning = NULL;
    for (; list && (field->key || field->flat); field++) {
        cJSON *json = json_add_object(list, NULL);
        bool same = field->meaning && field->meaning[0] == '=';
        if (!same) meaning = field->meaning;
        if (!json_add_text(json, "key", field->key) || !json_add_text(json, "name", field_flat(field)) ||
            !json_add_text(json, "type", TYPES[field->type]) || !json_add_text(json, "unknown", UNKNOWN[field->rule]) ||
            !json_add_whole(json, "column", field->column) || !json_add_whole(json, "compared", field->shown) ||
            !json_add_text(json, "meaning", meaning) || !json_add_bool(json, "same_meaning", same))
            return false;
    }
    return list != NULL;
}

bool figures_write(FILE *out) {
    cJSON *json = cJSON_CreateObject();
    bool ok = add_figures(json, "plans[]", PLAN_FIELDS) && add_figures(json, "front[]", POINT_FIELDS) &&
              json_print(out, json);
    cJSON_Delete(json);
    return ok;
}
