/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/failure_options.h"

#include "base/number.h"

#include <string.h>

bool failures_from_options(const Options *options, FailuresAsked *out, Error *error) {
    const char *mtbf = options->text[OPTION_MTBF], *restart = options->text[OPTION_RESTART],
               *storage = options->text[OPTION_STORAGE];
    const char *const *where = options->where;
    *out = (FailuresAsked){.restart_seconds = -1};
    if (mtbf && strcmp(mtbf, "none") == 0)
        out->never = true;
    else if (mtbf && !number_duration(mtbf, where[OPTION_MTBF], &out->mtbf_seconds, error))
        return false;
    if (restart && !number_duration(restart, where[OPTION_RESTART], &out->restart_seconds, error)) return false;
    return !storage || number_real(storage, where[OPTION_STORAGE], 1e6, 1e15, &out->storage_bytes_per_second, error);
}
