/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the tree is, a report is read back or refused with one line: its snapshot, its request, its first plan, and
 * the terms that traces are put beside; of serving, its options. A snapshot is the same plan as itself. */
#include "search/baseline/snapshot.h"
#include "search/options/report_options.h"
#include "search/serving/options/served.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/json_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena = {0};
    Error error = {0};
    Snapshot snapshot;
    Options options = {0};
    ReportPlan plan = {0};
    ServingTexts texts = {{0}, {0}};
    cJSON *json = fuzz_tree(data, size, &error);
    if (!json) return fuzz_check(false, &error), 0;
    bool ok = snapshot_read(json, "fuzz", &snapshot, &error);
    fuzz_check(ok, &error);
    if (ok && snapshot.plan_count > 0 && !snapshot_same_plan(&snapshot.best, &snapshot.best)) abort();
    error = (Error){0};
    fuzz_check(report_request_read(json, "fuzz", &arena, &options, &error), &error);
    error = (Error){0};
    fuzz_check(report_plan_read(json, "fuzz", 1, &plan, &error), &error);
    error = (Error){0};
    if (serving_report_is(json)) fuzz_check(serving_texts_of_report(json, "fuzz", &texts, &error), &error);
    cJSON_Delete(json);
    arena_free(&arena);
    return 0;
}
