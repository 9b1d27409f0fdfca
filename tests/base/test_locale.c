/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/locale.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static void print(char text[32]) {
    IN_LOCALE_C;
    snprintf(text, 32, "%.1f", 1.5);
}

/* A comma locale is made by localedef where its sources are installed; elsewhere only that the locale is put back is
 * checked. */
Test(locale, comes_and_goes) {
    char text[32], folder[] = "/tmp/shardopt-test-XXXXXX", command[256];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    bool made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    locale_t comma =
        made ? newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0) : newlocale(LC_ALL_MASK, "C", (locale_t)0);
    cr_assert(comma != (locale_t)0);
    uselocale(comma);
    print(text);
    cr_expect_str_eq(text, "1.5");
    cr_expect_eq(uselocale((locale_t)0), comma, "the caller's locale is there again");
    snprintf(text, sizeof text, "%.1f", 1.5);
    cr_expect_str_eq(text, made ? "1,5" : "1.5");
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}
