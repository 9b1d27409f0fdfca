/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/error.h: errors are values. The caller owns one, it allocates nothing, and one place prints it. */
#pragma once

#include <stdbool.h>

typedef enum {
    ERROR_NONE,
    ERROR_INPUT,    /* what the user gave is wrong: exit 2 */
    ERROR_IO,       /* a file could not be read or written: exit 2 */
    ERROR_MACHINE,  /* nor could others: the disk fails, or descriptors have run out: exit 2 */
    ERROR_MEMORY,   /* memory is out: exit 70 */
    ERROR_INTERNAL, /* a defect of the program: exit 70 */
} ErrorKind;

typedef struct {
    ErrorKind kind;
    char where[192]; /* "--pods", or "v5p.json:12:7" */
    char text[384];  /* what is wrong, and what would be right */
} Error;

/* Whether an error is no fault of what was requested, so that doing without it would be an answer of another kind. */
static inline bool error_of_machine(const Error *error) {
    return error->kind == ERROR_MACHINE || error->kind == ERROR_MEMORY || error->kind == ERROR_INTERNAL;
}

/* Fills *error and cuts text that is too long; control characters are replaced by '?', so that one error is one line.
 * Always returns false, so that a failure is one line: `return error_set(...)`. A null `error` is allowed and
 * ignored. */
bool error_set(Error *error, ErrorKind kind, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Says that `what` could not be written to `where`: of a stream that failed just now, so that errno gives one into
 * memory that has run out from one to a disk. Always returns false. */
bool error_stream(Error *error, const char *where, const char *what);

/* Says "memory is out" without a step that could fail. Always returns false. */
bool error_memory(Error *error);
