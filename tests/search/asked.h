/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/asked.h: a search from a command line to its result, as the command makes it. */
#pragma once

#include "base/util.h"
#include "search/cli/request_text.h"
#include "search/engine/search.h"

#include <criterion/criterion.h>

typedef struct {
    Arena arena;
    Request *request;
    SearchResult result;
} RequestedSearch;

/* "plan --model 8b ...", words between blanks. What is wrong with it fails the test. */
static inline void asked_read(RequestedSearch *asked, const char *command) {
    memset(asked, 0, sizeof *asked);
    asked->request = ARENA_NEW(&asked->arena, Request, 1);
    cr_assert(asked->request && request_from_text(command, &asked->arena, asked->request), "%s", command);
}

static inline void requested_search(RequestedSearch *asked, const char *command) {
    Error error = {0};
    cr_assert(search_run(asked->request, &asked->arena, &asked->result, &error), "%s: %s", command, error.text);
}

static inline void asked_open(RequestedSearch *asked, const char *command) {
    asked_read(asked, command);
    requested_search(asked, command);
}

/* The same with its plans in the order of their time alone, also where they are tied. */
static inline void asked_open_by_time(RequestedSearch *asked, const char *command) {
    asked_read(asked, command);
    asked->request->control.tie = 0;
    requested_search(asked, command);
}

static inline void asked_close(RequestedSearch *asked) { arena_free(&asked->arena); }
