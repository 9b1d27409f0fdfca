/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means of lengths that vary, by hand. */
#include "base/util.h"
#include "search/serving/options/serving_options.h"

#include <criterion/criterion.h>
#include <string.h>

static ServingQuestion question;
static Arena arena;
static const char *left_out;

static bool read(const char *text, double cached, Error *error) {
    memset(&question, 0, sizeof question);
    *error = (Error){0};
    question.request.cached = cached;
    return serving_lengths(text, "file", &arena, &question, &left_out, error);
}

/* Of four requests three have 100 + 10 tokens and one 1000 + 50. A request is in flight for its answer's tokens: 30
 * of 80 at the first length and 50 at the second. A token of a prompt, of which a quarter is cached, sees on average
 * what is cached and half of the rest: 5/8 of its prompt; of the new tokens 300 of 1300 are of the short prompts. */
Test(load_lengths, means) {
    Error error;
    cr_assert(read("# prompt output weight\n100 10 3\n\n1000\t50 # one of them\r\n", 0.25, &error), "%s", error.text);
    cr_expect_float_eq(question.request.prompt, (3 * 100 + 1000) / 4., 1e-9);
    cr_expect_float_eq(question.request.output, (3 * 10 + 50) / 4., 1e-9);
    cr_expect_float_eq(question.peak_tokens, (30 * 110 + 50 * 1050) / 80., 1e-9);
    cr_expect_float_eq(question.mean_context, (30 * 105 + 50 * 1025) / 80., 1e-9);
    cr_expect_float_eq(question.prompt_context, (300 * 62.5 + 1000 * 625.) / 1300, 1e-9);
    cr_expect_eq(question.longest, 1050);
}

/* All of one length: as question_lengths() has it. */
Test(load_lengths, of_one_length) {
    Error error;
    ServingQuestion same = {.request = {.cached = 0.5}};
    question_lengths(&same, 777, 33);
    cr_assert(read("777 33\n777 33 9\n", 0.5, &error), "%s", error.text);
    cr_expect_float_eq(question.peak_tokens, same.peak_tokens, 1e-9);
    cr_expect_float_eq(question.mean_context, same.mean_context, 1e-9);
    cr_expect_float_eq(question.prompt_context, same.prompt_context, 1e-9);
    cr_expect_eq(question.longest, same.longest);
    cr_expect_float_eq(question_new_tokens(&question), question_new_tokens(&same), 1e-9);
}

Test(load_lengths, what_is_none) {
    static const struct {
        const char *text, *says; /* NULL: it is read */
    } ROWS[] = {{"", "no lengths"},
                {"# nothing\n", "no lengths"},
                {"0.5 1\n1 1\n0 1\n", "line 1"},
                {"1 0.5", "line 1"},
                {"1 1 0", "line 1"},
                {"5", "line 1"},
                {"\n\nfive 5", "line 3"},
                {"1 1 1 1", "line 1"},
                {"2e9 1", "line 1"},
                {"1 2e9", "line 1"},
                {"1 1 2e12", "line 1"},
                {"1 1", NULL},
                {"1e9 1e9 1e12", NULL},
                {"1 1 x", "line 1"}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Error error;
        cr_expect_eq(read(ROWS[i].text, 0, &error), ROWS[i].says == NULL, "%s: %s", ROWS[i].text, error.text);
        if (ROWS[i].says) cr_expect(strstr(error.text, ROWS[i].says), "%s: %s", ROWS[i].text, error.text);
    }
}

/* Of three rows the one that says no answer is left out: the means are those of the two others. */
Test(load_lengths, a_row_is_left_out) {
    Error error;
    cr_assert(read("100 10\n200 0\n300 30\n", 0, &error), "%s", error.text);
    cr_expect_float_eq(question.request.prompt, 200, 1e-9);
    cr_expect_float_eq(question.request.output, 20, 1e-9);
    cr_expect(left_out && strstr(left_out, "file: line 2 left out"), "%s", left_out);
}
