/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The document of a report: what JSON prints and the page shows. */
#include "search/report/json/document.h"

#include "base/json.h"
#include "base/text/page.h"
#include "search/report/json/timeline.h"

#include <stdlib.h>

cJSON *report_document(const Report *report, Error *error) {
    cJSON *json = report_json(report, error);
    if (!json) return NULL;
    if (words_add_json(json, report) && searches_add_json(json, report) && timeline_add_json(json, report) &&
        figures_add_json(json, report)) {
        if (ops_add_json(json, report, error)) return json;
    } else {
        error_memory(error);
    }
    cJSON_Delete(json);
    return NULL;
}

/* What a decision needs, of three plans. */
static const char *const BRIEF[] = {"search.proof",
                                    "search.gap",
                                    "plans.rank",
                                    "plans.launcher",
                                    "plans.notation",
                                    "plans.words",
                                    "plans.chips_used",
                                    "plans.step.seconds",
                                    "plans.mfu",
                                    "plans.tokens_per_second_per_chip",
                                    "plans.memory.total_bytes",
                                    "plans.memory.limit_bytes",
                                    "plans.fits_probability",
                                    "plans.training.cost_usd",
                                    "ways_out.way",
                                    "ways_out.found",
                                    "ways_out.notation",
                                    "ways_out.ranked_seconds",
                                    "nearest_run.claim",
                                    NULL};

bool report_write_json(const Report *report, bool brief, FILE *out, Error *error) {
    cJSON *json = brief ? report_json(report, error) : report_document(report, error);
    if (json && brief && report->result.plan_count > 0) /* ways out matter where there is no plan */
        cJSON_ReplaceItemInObject(json, "ways_out", cJSON_CreateArray());
    bool ok = json && ((brief ? json_print_kept(out, json, BRIEF, 3) : json_print(out, json)) ||
                       error_stream(error, "report", "the JSON"));
    cJSON_Delete(json);
    return ok;
}

bool report_write_html(const Report *report, FILE *out, Error *error) {
    cJSON *json = report_document(report, error);
    bool ok = json && page_write(json, out, error);
    cJSON_Delete(json);
    return ok;
}
