/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/sets_answer.h"

#include "base/json.h"
#include "search/cli/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool sets_flushed(FILE *out, Error *error) { return (fflush(out) == 0 && !ferror(out)) || output_failed(error); }

void sets_figure(FILE *out, double value) {
    if (value > 0 && isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs("null", out);
}

bool sets_answer(const char *path, FILE *out, SetAnswer *answer, void *context, Error *error) {
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!in) return error_set(error, ERROR_IO, path, "cannot be opened: %s", strerror(errno));
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    ssize_t length;
    for (int64_t number = 1; ok && (length = getline(&line, &room, in)) > 0; number++) {
        char where[64];
        snprintf(where, sizeof where, "--sets, line %lld", (long long)number);
        cJSON *json = json_parse(line, (size_t)length, where, error);
        ok = json && answer(context, json, where, out, error) && sets_flushed(out, error);
        cJSON_Delete(json);
    }
    if (ok && ferror(in)) ok = error_set(error, ERROR_IO, "--sets", "cannot be read: %s", strerror(errno));
    free(line);
    if (in != stdin) fclose(in);
    return ok;
}
