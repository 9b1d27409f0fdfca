/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/shardopt_inside.h: what the files behind shardopt.h share: errors handed over, texts kept. */
#pragma once

#include "base/error.h"
#include "search/shardopt.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof((shardopt_error *)0)->where == sizeof((Error *)0)->where &&
                   sizeof((shardopt_error *)0)->text == sizeof((Error *)0)->text,
               "an error is handed over whole");

/* Options have no dashes here. */
static inline int inside_fail(const Error *error, shardopt_error *out) {
    bool defect = error->kind == ERROR_MEMORY || error->kind == ERROR_INTERNAL;
    int code = error->kind == ERROR_NONE ? SHARDOPT_DONE : defect ? SHARDOPT_DEFECT : SHARDOPT_INPUT;
    if (!out) return code;
    out->code = code;
    int dashes = strncmp(error->where, "--", 2) == 0 ? 2 : 0;
    memmove(out->where, error->where + dashes, sizeof out->where - (size_t)dashes);
    memcpy(out->text, error->text, sizeof out->text);
    return code;
}

static inline int inside_fail_memory(shardopt_error *out) {
    Error error = {0};
    error_memory(&error);
    return inside_fail(&error, out);
}

/* Replaces *text by a copy of `length` bytes of `from`; NULL takes it away. False: memory is out. */
static inline bool inside_replace(char **text, const char *from, size_t length) {
    char *copy = from ? malloc(length + 1) : NULL;
    if (from && !copy) return false;
    if (copy) {
        memcpy(copy, from, length);
        copy[length] = '\0';
    }
    free(*text);
    *text = copy;
    return true;
}
