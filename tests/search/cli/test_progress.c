/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a person sees on the terminal while a search runs. */
#include "search/cli/progress.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What was written to a terminal of our own by a progress of 1.4 seconds. */
static void watched(const SearchProgress *told, char text[4096]) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    cr_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    FILE *terminal = fopen(ptsname(master), "w");
    cr_assert_not_null(terminal);
    Progress *progress = progress_start(terminal, false, "searching");
    cr_assert_not_null(progress);
    if (told) progress_search(progress, told);
    usleep(1400000);
    progress_stop(progress);
    fflush(terminal);
    ssize_t got = read(master, text, 4095);
    text[got > 0 ? got : 0] = '\0';
    fclose(terminal);
    close(master);
}

Test(progress, says_best_bound_gap_and_share) {
    char text[4096];
    SearchProgress told = {.found = true, .best_seconds = 20, .bound_seconds = 19, .done = 1705, .all = 4368};
    watched(&told, text);
    cr_expect_not_null(strstr(text, "best 20.00 s, bound 19.00 s (gap 5.0%), 1,705 of 4,368 tuples"), "%s", text);
    cr_expect_null(strchr(text, '\n'), "one line: %s", text);
    told = (SearchProgress){.bound_seconds = 19, .best_seconds = 1 / 0.0, .done = 1, .all = 2};
    watched(&told, text);
    cr_expect_not_null(strstr(text, "no plan yet, bound 19.00 s, 1 of 2 tuples"), "%s", text);
    watched(NULL, text);
    cr_expect_not_null(strstr(text, "searching, 1 s"), "%s", text);
}

/* Where nobody looks there is no line, and nothing to take. */
Test(progress, is_silent_elsewhere) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    Progress *progress = progress_start(file, false, "searching");
    cr_expect_null(progress);
    progress_search(progress, &(SearchProgress){0});
    progress_stop(progress);
    fclose(file);
    cr_expect_str_empty(text);
    free(text);
}
