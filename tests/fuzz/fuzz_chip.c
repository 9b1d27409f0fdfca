/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the tree is, a chip is read or refused with one line. What is read can be shown: no text of it has a control
 * character; each of its slices is offered, and has its number of chips. */
#include "mesh/chip_json.h"
#include "mesh/machine.h"
#include "mesh/slice.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/json_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {0};
    Chip chip;
    cJSON *json = fuzz_tree(data, size, &error);
    if (!json) return fuzz_check(false, &error), 0;
    bool ok = chip_from_json(json, "fuzz", &chip, &error);
    fuzz_check(ok, &error);
    if (ok && !json_is_plain(json, "fuzz", &error)) abort();
    for (int i = 0; ok && i < chip.default_count; i++)
        if (!slice_offered(&chip, chip.defaults[i]) || slice_chips(chip.defaults[i]) < 1) abort();
    cJSON_Delete(json);
    return 0;
}
