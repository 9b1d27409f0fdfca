/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first answer of `plan` on a terminal: 24 lines, on a narrow one too, where plans take several lines. */
#include "search/cli/commands.h"

#include "base/util.h"
#include "tests/sanitizer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 12, SCREEN_LINES = 24 };

/* What is printed on a terminal of so many columns; the caller frees it. */
static char *printed(const char *words, int columns) {
    char copy[256], *argv[ARGUMENTS_MAX] = {(char *)"plan"}, *rest = NULL, *text = NULL;
    int argc = 1;
    size_t length = 0;
    Error error = {0};
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) argv[argc++] = word;
    FILE *out = open_memstream(&text, &length), *err = fopen("/dev/null", "w");
    cr_assert(out && err);
    int code =
        command_run(&COMMAND_PLAN, argc, argv, (Streams){.out = out, .err = err, .terminal = {columns, false}}, &error);
    fclose(out);
    fclose(err);
    cr_expect_eq(code, 0, "%s: exit %d, %s", words, code, error.text);
    return text;
}

Test(command_plan, first_answers_fit_a_screen) {
    /* Their plans have many degrees: the first was a line too long at 80 columns, the second has no room for two lines
     * each. */
    static const char *const ROWS[] = {"--model qwen3-30b-a3b --chip h100 --nodes 2",
                                       "--model deepseek-v2-lite --chip h100 --nodes 2",
                                       "--model 8b --chip v5e --slice 4x4 --batch 256Ki"};
    static const int COLUMNS[] = {80, 120};
    for (size_t i = 0; i < COUNT_OF(ROWS); i += PROBLEMS_SHARE) {
        for (size_t c = 0; c < COUNT_OF(COLUMNS); c++) {
            char *text = printed(ROWS[i], COLUMNS[c]);
            int lines = 0;
            for (const char *at = text; *at; at++) lines += *at == '\n';
            cr_expect_leq(lines, SCREEN_LINES, "%s at %d columns: %d lines\n%s", ROWS[i], COLUMNS[c], lines, text);
            cr_expect(strstr(text, "launchers") && strstr(text, "Where HBM goes") && strstr(text, "Answer: ") &&
                          strstr(text, "Confidence: ") && strstr(text, "Assumed: ") &&
                          strstr(text, "Next: shardopt emit "),
                      "%s at %d columns: %s", ROWS[i], COLUMNS[c], text);
            free(text);
        }
    }
}

/* The line under the answer is made from two more answers in memory. */
Test(command_plan, what_if) {
    char *text = printed("--model 8b --chip h100 --chips 8 --sensitivity none --what-if nodes=2", 120);
    cr_expect(strstr(text, "\nWhat if nodes=2: 16 chips, "), "%s", text);
    free(text);
}
