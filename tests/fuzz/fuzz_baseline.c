/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the tree is, a baseline is read or refused with one line. Its entries have names; what is kept of one is
 * read again, and its request counts as not edited. */
#include "search/baseline/baseline.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/json_mutator.h"

static void read_again(const BaselineEntry *entry) {
    Arena arena = {0};
    Error error = {0};
    Baseline again;
    const cJSON *request = cJSON_GetObjectItemCaseSensitive(entry->report, "request");
    cJSON *kept = baseline_compact(entry->report, request);
    if (!kept) abort();
    json_settle(kept);
    bool ok = baseline_read(kept, "kept", true, &arena, &again, &error);
    fuzz_check(ok, &error);
    if (ok && again.entries[0].edited) abort();
    cJSON_Delete(kept);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {0};
    cJSON *json = fuzz_tree(data, size, &error);
    if (!json) return fuzz_check(false, &error), 0;
    for (int incomplete = 0; incomplete < 2; incomplete++) {
        Arena arena = {0};
        Baseline baseline;
        error = (Error){0};
        bool ok = baseline_read(json, "fuzz", incomplete, &arena, &baseline, &error);
        fuzz_check(ok, &error);
        for (int i = 0; ok && i < baseline.count && i < 8; i++) {
            if (!baseline.entries[i].name || strchr(baseline.entries[i].name, '\n')) abort();
            if (baseline.entries[i].has_plans) read_again(&baseline.entries[i]);
        }
        arena_free(&arena);
    }
    cJSON_Delete(json);
    return 0;
}
