/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "ops" of plan 1. */
#include "base/json.h"
#include "search/report/json/document.h"
#include "search/report/op_rows.h"

static bool add_kernel(cJSON *to, const OpRow *row) {
    const Kernel *kernel = row->kernel;
    cJSON *json = json_add_object(to, "kernel");
    return json && json_add_text(json, "name", kernel->name) && json_add_text(json, "library", kernel->library) &&
           json_add_text(json, "chip", kernel->chip) &&
           json_add_real(json, "flops_per_second", row->kernel_flops_per_second) &&
           json_add_real(json, "median", kernel->median) && json_add_real(json, "p90", kernel->p90);
}

bool ops_add_json(cJSON *to, const Report *report, Error *error) {
    if (report->result.plan_count == 0) return true;
    const RankedPlan *ranked = &report->result.plans[0];
    Arena arena = {0};
    int count = 0;
    const OpRow *rows = op_rows(ranked->request ? ranked->request : report->request, ranked, &arena, &count, error);
    cJSON *list = rows ? json_add_array(to, "ops") : NULL;
    bool ok = rows && (list || error_memory(error));
    for (int i = 0; ok && i < count; i++) {
        const EstimatePart *part = rows[i].part;
        cJSON *json = json_add_object(list, NULL);
        ok = json && json_add_text(json, "op", part->name) &&
             json_add_real(json, "forward_seconds", part->forward_seconds) &&
             json_add_real(json, "backward_seconds", part->backward_seconds) &&
             json_add_real(json, "flops", part->flops) && json_add_real(json, "hbm_bytes", part->hbm_bytes) &&
             json_add_text(json, "bound_by", rows[i].bound_by);
        if (ok && rows[i].flops_per_second > 0)
            ok = json_add_real(json, "flops_per_second", rows[i].flops_per_second) &&
                 json_add_real(json, "peak_share", rows[i].peak_share);
        ok = (ok && (!rows[i].kernel || add_kernel(json, &rows[i]))) || error_memory(error);
    }
    arena_free(&arena);
    return ok;
}
