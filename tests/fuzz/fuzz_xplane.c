/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, xplane_read says yes or no, and what it takes can be added up (traces.h).
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "cost/trace/formats/xplane.h"
#include "tests/fuzz/traces.h"

static bool read(const char *bytes, size_t size, Recording *out, Error *error) {
    ByteText text = {bytes, size};
    return xplane_read(byte_source_of_text(&text), "fuzz", out, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_trace(data, size, read);
    return 0;
}
