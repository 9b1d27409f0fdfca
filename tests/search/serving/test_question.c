/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditions on layouts, each at its limit and next to it. */
#include "search/serving/question.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

static ServingQuestion question;

Test(question, conditions) {
    static const struct {
        const char *text;
        LayoutWord word;
        int64_t value;
        bool below, at, above; /* whether it admits a value one less, the value, and one more */
    } ROWS[] = {
        {"tensor=4", LAYOUT_TENSOR, 4, false, true, false},
        {"pipeline<=2", LAYOUT_PIPELINE, 2, true, true, false},
        {"attention_data>=8", LAYOUT_ATTENTION_DATA, 8, false, true, true},
        {"expert=2", LAYOUT_EXPERT, 2, false, true, false},
        {"expert_tensor=2", LAYOUT_EXPERT_TENSOR, 2, false, true, false},
        {"kv_sequence<=3", LAYOUT_KV_SEQUENCE, 3, true, true, false},
        {"kv_batch>=3", LAYOUT_KV_BATCH, 3, false, true, true},
        {"stationary=9", LAYOUT_STATIONARY, 9, false, true, false},
        {"copies<=1k", LAYOUT_COPIES, 1000, true, true, false},
        {"batch>=2", LAYOUT_BATCH, 2, false, true, true},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Error error = {0};
        memset(&question, 0, sizeof question);
        cr_assert(layout_requirements_parse(ROWS[i].text, "--require", &question, &error), "%s", error.text);
        cr_assert_eq(question.requirement_count, 1, "%s", ROWS[i].text);
        cr_expect_eq(question_admits(&question, 0, ROWS[i].word, ROWS[i].value - 1), ROWS[i].below, "%s", ROWS[i].text);
        cr_expect_eq(question_admits(&question, 0, ROWS[i].word, ROWS[i].value), ROWS[i].at, "%s", ROWS[i].text);
        cr_expect_eq(question_admits(&question, 0, ROWS[i].word, ROWS[i].value + 1), ROWS[i].above, "%s", ROWS[i].text);
        for (int other = 0; other < LAYOUT_WORD_COUNT; other++)
            if (other != (int)ROWS[i].word)
                cr_expect(question_admits(&question, 0, (LayoutWord)other, 1), "%s", ROWS[i].text);
    }
}

/* One of a phase binds that phase alone; all of several have to hold. */
Test(question, several_and_of_a_phase) {
    Error error = {0};
    memset(&question, 0, sizeof question);
    cr_assert(layout_requirements_parse("tensor>=2, tensor<=4 pipeline=1", "--require", &question, &error));
    cr_expect_eq(question.requirement_count, 3);
    static const bool ADMITTED[] = {false, true, true, true, false};
    for (int tensor = 1; tensor <= 5; tensor++)
        cr_expect_eq(question_admits(&question, 1, LAYOUT_TENSOR, tensor), ADMITTED[tensor - 1], "%d", tensor);
    question.requirements[0].phases = 1u << 2;
    cr_expect(question_admits(&question, 1, LAYOUT_TENSOR, 1));
    cr_expect_not(question_admits(&question, 2, LAYOUT_TENSOR, 1));
    cr_expect_not(question_admits(&question, 1, LAYOUT_TENSOR, 5));
}

Test(question, wrong_conditions) {
    static const char *const WRONG[] = {
        "tensor",  "tensor<4", "tensor>4",   "tensor==4", "tensor=",     "tensor=0", "tensors=4",
        "tenso=4", "=4",       "tensor=4.5", "tensor=-1", "tensor=many", "tensor<",  "tensor=2147483649"};
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        Error error = {0};
        memset(&question, 0, sizeof question);
        cr_expect_not(layout_requirements_parse(WRONG[i], "--require", &question, &error), "%s", WRONG[i]);
        cr_expect(error.kind == ERROR_INPUT && strcmp(error.where, "--require") == 0, "%s", WRONG[i]);
    }
    Error error = {0};
    memset(&question, 0, sizeof question);
    cr_expect(layout_requirements_parse("tensor=2147483648", "--require", &question, &error), "%s", error.text);
    for (int i = 1; i < LAYOUT_REQUIREMENTS_MAX; i++)
        cr_expect(layout_requirements_parse("batch=1", "--require", &question, &error), "%d: %s", i, error.text);
    cr_expect_not(layout_requirements_parse("batch=1", "--require", &question, &error));
}

/* A text of 511 characters is read, one of 512 is too long. */
Test(question, long_conditions) {
    char text[600];
    for (size_t length = 511; length <= 512; length++) {
        Error error = {0};
        memset(&question, 0, sizeof question);
        memset(text, ' ', sizeof text);
        memcpy(text, "tensor=4", 8);
        text[length] = '\0';
        cr_expect_eq(layout_requirements_parse(text, "--require", &question, &error), length == 511, "%zu", length);
    }
}
