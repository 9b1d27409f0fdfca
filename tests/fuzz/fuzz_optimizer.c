/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the tree is, an optimizer is read or refused with one line; what is read has its names, in plain text. */
#include "cost/state/optimizer.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/json_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {0};
    Optimizer optimizer;
    cJSON *json = fuzz_tree(data, size, &error);
    if (!json) return fuzz_check(false, &error), 0;
    bool ok = optimizer_from_json(json, "fuzz", &optimizer, &error);
    fuzz_check(ok, &error);
    if (ok && (!optimizer.name[0] || !optimizer.source[0] || !json_is_plain(json, "fuzz", &error))) abort();
    cJSON_Delete(json);
    return 0;
}
