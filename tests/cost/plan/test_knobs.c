/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/plan/knobs.h"

#include "base/util.h"

#include <criterion/criterion.h>

/* Every row of the table is whole: what is set is what is read, and no other knob moves. */
Test(knobs, set_and_read) {
    for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++) {
        Knobs before = {.microbatches = 3, .methods.ulysses = 3}, after = before;
        cr_assert(knob_name(knob) && knob_find(knob_name(knob)) == knob, "%d", (int)knob);
        int64_t setting = knob_setting(knob, &before) == 1 ? 2 : 1;
        knob_set(knob, setting, &after);
        cr_expect_eq(knob_setting(knob, &after), setting, "%s", knob_name(knob));
        for (Knob other = KNOB_NONE + 1; other < KNOB_COUNT; other++)
            cr_expect(other == knob || knob_setting(other, &after) == knob_setting(other, &before), "%s moves %s",
                      knob_name(knob), knob_name(other));
    }
}

/* What is printed is read back as the same. */
Test(knobs, text_round_trip) {
    static const struct {
        Knob knob;
        int64_t setting;
        const char *text;
    } ROWS[] = {{KNOB_MICROBATCHES, 8, "8"}, {KNOB_SCHEDULE, SCHEDULE_1F1B, "1f1b"},
                {KNOB_ZERO_STAGE, 2, "2"},   {KNOB_CONTEXT_METHOD, CONTEXT_RING, "ring"},
                {KNOB_REGATHER, 1, "true"},  {KNOB_SEQUENCE_PARAMETERS, 1, "replicated"},
                {KNOB_FOLDED_EXPERT, 0, "0"}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char text[KNOB_TEXT_SIZE];
        int64_t setting = -1;
        Error error = {0};
        cr_expect_str_eq(knob_text(ROWS[i].knob, ROWS[i].setting, text), ROWS[i].text);
        cr_expect(knob_parse(ROWS[i].knob, ROWS[i].text, "here", &setting, &error), "%s", error.text);
        cr_expect_eq(setting, ROWS[i].setting, "%s", ROWS[i].text);
    }
}

Test(knobs, short_names_and_slips) {
    int64_t setting;
    Error error = {0};
    cr_expect_eq(knob_find("zero"), KNOB_ZERO_STAGE);
    cr_expect_eq(knob_find("overlap"), KNOB_TENSOR_OVERLAP);
    cr_expect_eq(knob_find("tensor"), KNOB_NONE);
    cr_expect_not(knob_parse(KNOB_ZERO_STAGE, "3", "here", &setting, &error));
    cr_expect(strstr(error.text, "zero_stage: "), "%s", error.text);
    cr_expect_not(knob_parse(KNOB_REGATHER, "yes", "here", &setting, &error));
    cr_expect_str_eq(error.text, "regather \"yes\" does not exist; give false or true");
}
