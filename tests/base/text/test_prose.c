/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/prose.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines of at most 120 columns, no blanks at their ends, no control characters. */
static void expect_tidy(const char *text) {
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        char copy[2048];
        cr_assert(length < sizeof copy, "%zu", length);
        memcpy(copy, line, length);
        copy[length] = '\0';
        cr_expect(text_columns(copy) <= 120, "%d columns: %s", text_columns(copy), copy);
        cr_expect(length == 0 || copy[length - 1] != ' ', "trailing blank: %s", copy);
        for (size_t i = 0; i < length; i++)
            cr_expect((unsigned char)copy[i] >= 0x20 && copy[i] != 0x7F, "control character");
        line += length + (line[length] == '\n');
    }
}

Test(prose, numbers) {
    static const struct {
        const char *(*text)(double value, char *text);
        double value;
        const char *expected;
    } ROWS[] = {
        {step_text, 3.4214, "3.421 s"},
        {step_text, 0.01208, "12.08 ms"},
        {step_text, 1720.4, "1720 s"},
        {step_text, 17204, "17,204 s"},
        {step_text, 0, "0.000 s"},
        {step_text, 3e-7, "0.300 us"},
        {step_text, 0.99999, "1.000 s"},
        {share_text, 0.0614, "6.1%"},
        {change_text, -0.108, "-10.8%"},
        {change_text, 0.0001, "none"},
        {duration_text, 3058560, "35.4 days"},
        {duration_text, 90, "90.0 s"},
        {duration_text, 7200, "2 hours"},
        {duration_text, INFINITY, "inf years"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char text[NUMBER_TEXT_SIZE];
        cr_expect_str_eq(ROWS[i].text(ROWS[i].value, text), ROWS[i].expected);
    }
}

Test(prose, wraps_between_words_and_never_before_a_unit) {
    char word[PROSE_WIDTH + 40], text[1024], *result = NULL;
    size_t length = 0;
    memset(word, 'w', sizeof word);
    word[PROSE_WIDTH - 4] = '\0';
    snprintf(text, sizeof text, "%s 12 GB is moved, not split from its number", word);
    FILE *memory = open_memstream(&result, &length);
    prose_write((TextOut){.file = memory}, "", "  ", text);
    memset(word, 'w', sizeof word - 1); /* longer than a line */
    word[sizeof word - 1] = '\0';
    prose_write((TextOut){.file = memory}, "", "  ", word);
    fclose(memory);
    cr_expect(strstr(result, "w\n  12 GB is"), "%s", result);
    expect_tidy(result);
    free(result);
}

Test(prose, harmless_lines) {
    char text[] = "a\033[31m\nb\xC2\x9B c\xE2\x80\xAE d\xFF \xC3\xA9\n";
    text_clean(text);
    cr_expect_str_eq(text, "a?[31m\nb? c? d? \xC3\xA9\n");
}

Test(prose, a_piece_that_does_not_fit_is_left_out_whole) {
    Prose prose = {0};
    for (int i = 0; i < 1000; i++) prose_item(&prose, ", ", "%s", "sixteen letters.");
    cr_expect(prose.used < PROSE_SIZE && prose.used > PROSE_SIZE - 20);
    cr_expect_str_eq(prose.text + prose.used - 16, "sixteen letters.");
}
