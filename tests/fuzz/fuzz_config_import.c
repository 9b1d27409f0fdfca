/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, a launch configuration is read or refused with one line: no crash, no leak, no step past the
 * end, no growth without a bound. What is read has keys with values, and the first half of every launcher takes it or
 * says no.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "search/launch/import.h"
#include "tests/fuzz/files.h"

#include <stdlib.h>
#include <string.h>

static void check(bool ok, const Error *error) {
    if (ok != (error->kind == ERROR_NONE) || (!ok && (error->kind != ERROR_INPUT || strchr(error->text, '\n'))))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + (size == 0)); /* its own allocation, so that a sanitizer sees its end */
    if (!text) return 0;
    if (size > 0) memcpy(text, data, size);
    for (int said = 0; said <= launcher_count(); said++) {
        Arena arena = {0};
        Error error = {0};
        ConfigFile file;
        ImportedWork work;
        int launcher;
        const char *format = said < launcher_count() ? launcher_name(said) : NULL;
        bool ok = import_read("fuzz", text, size, format, &arena, &file, &launcher, &error);
        check(ok, &error);
        for (int64_t i = 0; ok && i < file.count; i++)
            if (!file.entries[i].key || !file.entries[i].value) abort();
        if (ok) check(import_work(launcher, &file, &work, &error), &error);
        arena_free(&arena);
    }
    free(text);
    return 0;
}
