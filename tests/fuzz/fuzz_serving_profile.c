/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the tree is, a profile of serving is read for a chip of each kind and for each engine, or refused with one
 * line. */
#include "cost/serving/serving_profile.h"
#include "search/serving/engines/engine.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/json_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ScaleupKind KINDS[] = {SCALEUP_TORUS_2D, SCALEUP_SWITCH};
    Error error = {0};
    cJSON *json = fuzz_tree(data, size, &error);
    if (!json) return fuzz_check(false, &error), 0;
    for (size_t k = 0; k < COUNT_OF(KINDS); k++)
        for (int engine = 0; engine < engine_count(); engine++) {
            Chip chip = {.name = "h100", .scaleup = KINDS[k]};
            ServingProfile profile;
            error = (Error){0};
            fuzz_check(serving_profile_from_json(json, "fuzz", &chip, engine_at(engine)->name, &profile, &error),
                       &error);
        }
    cJSON_Delete(json);
    return 0;
}
