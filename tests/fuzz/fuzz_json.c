/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, json_parse says yes or no: no crash, no leak, no step past the end. What it takes can be
 * printed, and what was printed it takes again.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "base/json.h"
#include "tests/fuzz/files.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {0};
    char *text = malloc(size ? size : 1); /* its own allocation, so that a sanitizer sees its end */
    if (!text) return 0;
    memcpy(text, data, size);
    cJSON *json = json_parse(text, size, "fuzz", &error);
    free(text);
    if ((json == NULL) != (error.kind != ERROR_NONE) || error.kind == ERROR_MEMORY) abort();
    if (!json) return 0;
    char *printed = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&printed, &length);
    if (!out || !json_print(out, json)) abort();
    fclose(out);
    cJSON *again = json_parse(printed, length, "printed", &error);
    if (!again || !cJSON_Compare(json, again, true)) abort();
    cJSON_Delete(again);
    cJSON_Delete(json);
    free(printed);
    return 0;
}
