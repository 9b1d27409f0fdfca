/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the tree is, a profile is read or refused with one line. What is read has a name, a source, and every figure
 * in its range. */
#include "cost/profile/profile_figure.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/json_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {0};
    Profile profile;
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    cJSON *json = fuzz_tree(data, size, &error);
    if (!json) return fuzz_check(false, &error), 0;
    bool ok = profile_from_json(json, "fuzz", &profile, &error);
    fuzz_check(ok, &error);
    if (ok && (!profile.name[0] || !profile.source[0])) abort();
    for (int f = 0; ok && f < count; f++) {
        double value = figure_value_of(&profile, &figures[f]);
        if (!(value >= figures[f].low && value <= figures[f].high)) abort();
    }
    cJSON_Delete(json);
    return 0;
}
