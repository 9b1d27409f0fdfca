/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "search/baseline/baseline_check.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Behind the file stands the line of what was read there, lines counted from 1; 0: it is of no line. */
Test(annotations, name_the_line) {
    static const struct {
        int64_t line;
        const char *start;
    } ROWS[] = {{0, "::error file=m.sh,title=n::"},
                {1, "::error file=m.sh,line=1,title=n::"},
                {12, "::error file=m.sh,line=12,title=n::"}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        CheckedEntry entry = {
            .name = "n", .file = "m.sh", .line = ROWS[i].line, .verdict = VERDICT_ERROR, .message = "m"};
        BaselineCheck gate = {.entries = &entry, .count = 1};
        char *text = NULL;
        size_t length = 0;
        Error error = {0};
        FILE *out = open_memstream(&text, &length);
        cr_assert(gate_write_annotations(&gate, out, &error), "%s", error.text);
        cr_assert(fclose(out) == 0);
        cr_expect_eq(strncmp(text, ROWS[i].start, strlen(ROWS[i].start)), 0, "%s", text);
        free(text);
    }
}
