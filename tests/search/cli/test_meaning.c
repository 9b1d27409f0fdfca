/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of options as programs have them (names.tsv), each with what it means here. */
#include "base/arena.h"
#include "base/file.h"
#include "search/cli/commands.h"
#include "search/cli/meaning.h"

#include <criterion/criterion.h>
#include <string.h>

static bool is_left(const char *what) { return word_among("pass switch note note=", what); }

Test(meaning, names_of_programs) {
    Arena arena = {0};
    Error error = {0};
    char *text, *rest = NULL;
    size_t length;
    int names = 0;
    cr_assert(file_read(SHARDOPT_TEST_DATA "/../search/cli/names.tsv", 1 << 20, &arena, &text, &length, &error), "%s",
              error.text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *cells = NULL;
        if (*line == '#') continue;
        const Command *command = command_named(strtok_r(line, "\t", &cells), &error);
        const char *value = strtok_r(NULL, "\t", &cells), *wanted = strtok_r(NULL, "\t", &cells);
        for (char *name = strtok_r(NULL, " ", &cells); name; name = strtok_r(NULL, " ", &cells), names++) {
            Meaning meaning;
            Place place = {.command = command, .value = value};
            bool known = meaning_of(name, &place, &meaning);
            const char *own = known && meaning.own >= 0 ? command->options[meaning.own].name : NULL;
            bool right = own                           ? strcmp(wanted + 2, own) == 0
                         : strcmp(wanted, "left") == 0 ? known && is_left(meaning.what)
                                                       : known && strcmp(meaning.what, wanted) == 0;
            cr_expect(right, "%s of %s: %s, not %s", name, command->name,
                      own     ? own
                      : known ? meaning.what
                              : "?",
                      wanted);
        }
    }
    cr_expect_gt(names, 300);
    arena_free(&arena);
}

Test(meaning, a_word_that_is_another_is_not_taken_for_it) {
    static const char *const NAMES[] = {"gap", "zzap", "foo", "tenosr", "x"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        Meaning meaning;
        Place place = {.command = &COMMAND_INFERENCE, .value = "word"};
        bool known = meaning_of(NAMES[i], &place, &meaning);
        cr_expect(!known || strcmp(meaning.what, "answer") == 0, "%s: %s", NAMES[i], meaning.what);
    }
}
