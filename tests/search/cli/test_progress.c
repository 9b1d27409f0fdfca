/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a person sees on the terminal while a search runs. */
#include "search/cli/progress.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What was written to a terminal of our own by a progress of 0.6 seconds: what was told stands when it looks. */
static void watched(const SearchProgress *told, int count, char text[4096]) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    cr_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    FILE *terminal = fopen(ptsname(master), "w");
    cr_assert_not_null(terminal);
    Progress *progress = progress_start(terminal, false, "searching");
    cr_assert_not_null(progress);
    for (int i = 0; i < count; i++) progress_search(progress, &told[i]);
    usleep(600000);
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
    watched(&told, 1, text);
    cr_expect_not_null(strstr(text, "best 20.00 s, bound 19.00 s (gap 5.0%), 1,705 of 4,368 tuples"), "%s", text);
    cr_expect_null(strchr(text, '\n'), "one line: %s", text);
    told = (SearchProgress){.bound_seconds = 19, .best_seconds = 1 / 0.0, .done = 1, .all = 2};
    watched(&told, 1, text);
    cr_expect_not_null(strstr(text, "no plan yet, bound 19.00 s, 1 of 2 tuples"), "%s", text);
    watched(NULL, 0, text);
    cr_expect_not_null(strstr(text, "searching, 0 s"), "%s", text);
}

/* Before there is a bound it says what is listed; the best of a share before stays. */
Test(progress, says_what_is_listed) {
    char text[4096];
    SearchProgress told[] = {{.stage = SEARCH_OPENING, .found = true, .best_seconds = 20, .bound_seconds = 19},
                             {.stage = SEARCH_COUNTING, .best_seconds = 1 / 0.0, .done = 12, .all = 1024},
                             {.stage = SEARCH_BOUNDING, .best_seconds = 1 / 0.0, .done = 512, .all = 4368}};
    watched(&told[1], 1, text);
    cr_expect_not_null(strstr(text, "searching, listing 12 of 1,024 machines, 0 s"), "%s", text);
    watched(&told[1], 2, text);
    cr_expect_not_null(strstr(text, "searching, bounding 512 of 4,368 tuples, 0 s"), "%s", text);
    watched(told, 3, text);
    cr_expect_not_null(strstr(text, "searching, best 20.00 s so far, bounding 512 of 4,368 tuples, 0 s"), "%s", text);
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
