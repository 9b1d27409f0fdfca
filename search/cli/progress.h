/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/progress.h: one line on a terminal for what takes longer than a moment, gone when it is over. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "search/request/environment.h"

typedef struct Progress Progress;

/* Says `what` on `err`, four times a second and from the first quarter on. NULL: nobody looks (`err` is no terminal,
 * `quiet`), or there is no memory for it; the others take NULL too. */
Progress *progress_start(FILE *err, bool quiet, const char *what);

/* What is done now (it outlives the progress); `all` 0: how much there is is not known. Like PageProgress.tell. */
void progress_tell(void *progress, const char *what, int done, int all);

/* How far the search is, next to what it is called: the best so far, its gap to the bound, the share that is done;
 * before there is a bound, what is listed and bounded. Until progress_tell(), which is of something else. */
void progress_search(void *progress, const SearchProgress *search);

/* Takes the line away. */
void progress_stop(Progress *progress);
