/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/memory_stream.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Pieces of every size around the first room and its doubles come out as they went in. */
Test(memory_stream, keeps_every_byte) {
    for (size_t size = 0; size < 20000; size = size < 40 ? size + 1 : size * 5 / 4) {
        char *text = (char *)1;
        size_t length = 99;
        FILE *out = memory_stream_open(&text, &length);
        cr_assert_not_null(out);
        cr_expect_null(text, "nothing is there before it is closed");
        for (size_t i = 0; i < size; i++) fputc((int)('a' + i % 26), out);
        fprintf(out, "%*s", (int)size, "b");
        fwrite("c\0d", 1, 3, out);
        cr_assert_eq(fclose(out), 0);
        size_t printed = size > 1 ? size : 1;
        cr_assert_eq(length, size + printed + 3, "%zu of %zu", length, size);
        for (size_t i = 0; i < size; i++) cr_assert_eq(text[i], (char)('a' + i % 26), "byte %zu of %zu", i, size);
        cr_expect_eq(text[size + printed - 1], 'b');
        cr_expect(memcmp(text + size + printed, "c\0d", 4) == 0, "the NUL behind it");
        free(text);
    }
}

Test(memory_stream, nothing_is_a_text) {
    char *text;
    size_t length;
    cr_assert_eq(fclose(memory_stream_open(&text, &length)), 0);
    cr_assert_not_null(text);
    cr_expect_str_eq(text, "");
    cr_expect_eq(length, 0);
    free(text);
}
