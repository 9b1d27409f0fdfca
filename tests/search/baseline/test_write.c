/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of entries where there are thousands of one, and annotations of GitHub. */
#include "base/json.h"
#include "base/util.h"
#include "search/baseline/baseline_check.h"
#include "search/baseline/snapshot.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static cJSON *add_entry(cJSON *all) {
    cJSON *one = json_add_object(all, NULL);
    json_add_whole(one, "format_version", 1);
    cJSON *request = json_add_object(one, "request");
    json_add_text(request, "model", "8b");
    return request;
}

/* A file pasted together has thousands of entries of one name, some alike, some not. Each is named in a walk, not
 * against all others: by pairs these would take minutes. */
Test(baseline_names, thousands_of_one_name) {
    enum { COUNT = 10000, CHANGED = 7 };
    Arena arena = {0};
    Error error = {0};
    Baseline baseline;
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < COUNT; i++) {
        cJSON *request = add_entry(all);
        for (int k = 0; k < 40; k++)
            json_add_whole(request, arena_format(&arena, "option_%d", k), k == CHANGED ? i / 2 : k);
    }
    json_settle(all);
    cr_assert(baseline_read(all, "pasted", true, &arena, &baseline, &error), "%s", error.text);
    cr_expect(strstr(baseline.entries[0].name, ", option_7 0 (1)") != NULL, "%s", baseline.entries[0].name);
    cr_expect(strstr(baseline.entries[1].name, ", option_7 0 (2)") != NULL, "%s", baseline.entries[1].name);
    const char *last = baseline.entries[COUNT - 1].name;
    cr_expect(strstr(last, ", option_7 4999 (2)") != NULL && strstr(last, "option_8") == NULL, "%s", last);
    cJSON_Delete(all);
    arena_free(&arena);
}

/* An option that only some have distinguishes them, whichever comes first. */
Test(baseline_names, an_option_that_some_lack) {
    for (int with = 0; with < 2; with++) {
        Arena arena = {0};
        Error error = {0};
        Baseline baseline;
        cJSON *all = cJSON_CreateArray();
        for (int i = 0; i < 2; i++) {
            cJSON *request = add_entry(all);
            if (i == with) json_add_text(request, "for", "maxtext");
        }
        json_settle(all);
        cr_assert(baseline_read(all, "two", true, &arena, &baseline, &error), "%s", error.text);
        cr_expect(strstr(baseline.entries[with].name, ", for maxtext") != NULL, "%s", baseline.entries[with].name);
        cr_expect(strchr(baseline.entries[1 - with].name, ',') == NULL, "%s", baseline.entries[1 - with].name);
        cJSON_Delete(all);
        arena_free(&arena);
    }
}

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
            .name = "n", .file = "m.sh", .line = ROWS[i].line, .status = STATUS_ERROR, .message = "m"};
        BaselineCheck check = {.entries = &entry, .count = 1};
        char *text = NULL;
        size_t length = 0;
        Error error = {0};
        FILE *out = open_memstream(&text, &length);
        cr_assert(baseline_write_annotations(&check, out, &error), "%s", error.text);
        cr_assert(fclose(out) == 0);
        cr_expect_eq(strncmp(text, ROWS[i].start, strlen(ROWS[i].start)), 0, "%s", text);
        free(text);
    }
}
