/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/fuzz/files.h: the entry of a fuzzer; without clang, -DSHARDOPT_FUZZ_MAIN makes it a program that runs the files
 * given. */
#pragma once

#include "base/file.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef SHARDOPT_FUZZ_MAIN
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        Arena arena = {0};
        Error error = {0};
        char *text;
        size_t length;
        if (file_read(argv[i], 64 << 20, &arena, &text, &length, &error))
            LLVMFuzzerTestOneInput((const uint8_t *)text, length);
        arena_free(&arena);
    }
    return 0;
}
#endif
