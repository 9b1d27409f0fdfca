/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever a config.json holds, model_from_json says yes or no with one line, and what it takes can be counted: no
 * crash, no overflow, no step past the end.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "base/json.h"
#include "models/config/model_json.h"
#include "models/parameters.h"
#include "tests/fuzz/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {0};
    Model model;
    char *text = malloc(size ? size : 1); /* its own allocation, so that a sanitizer sees its end */
    if (!text) return 0;
    memcpy(text, data, size);
    cJSON *json = json_parse(text, size, "fuzz", &error);
    free(text);
    if (!json) return 0;
    bool ok = model_from_json(json, "fuzz", false, &model, &error);
    cJSON_Delete(json);
    if (ok != (error.kind == ERROR_NONE) || (!ok && (error.kind != ERROR_INPUT || strchr(error.text, '\n')))) abort();
    if (!ok) return 0;
    Parameters parameters = model_parameters(&model);
    if (parameters.total <= 0 || parameters.active <= 0 || parameters.active > parameters.total) abort();
    for (int convention = FLOPS_6N; convention <= FLOPS_HARDWARE; convention++)
        if (!isfinite(model_flops_per_token(&model, convention, model.max_seq))) abort();
    return 0;
}
