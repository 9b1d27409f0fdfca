/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, step_log_read finds steps whose quartiles are in order, or says in one line that it does not.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "cost/trace/formats/step_log.h"
#include "tests/fuzz/files.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    StepLog log;
    Error error = {0};
    char *own = malloc(size + 1);
    if (!own) return 0;
    memcpy(own, data, size);
    ByteText text = {own, size};
    bool ok = step_log_read(byte_source_of_text(&text), "fuzz", &log, &error);
    if (ok != (error.kind == ERROR_NONE) || (!ok && strchr(error.text, '\n'))) abort();
    if (ok && !(log.used >= 1 && 0 < log.lower && log.lower <= log.median && log.median <= log.upper)) abort();
    free(own);
    return 0;
}
