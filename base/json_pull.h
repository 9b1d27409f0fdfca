/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/json_pull.h: reads JSON of any length in a fixed window, value by value, as the caller requests it.
 *
 * base/json.h is for documents that fit in memory, and is strict. This reader is for what machines write by the
 * gigabyte, and forgives what does not hinder reading: NaN and Infinity, raw control bytes, invalid UTF-8, keys that
 * come twice. Nothing recurses, so nesting may be as deep as it likes.
 *
 *     JsonPull pull;
 *     json_pull_begin(&pull, source, window, sizeof window);
 *     if (json_pull_enter(&pull, '{'))
 *         for (JsonSlice key; json_pull_key(&pull, &key);)
 *             if (json_slice_is(key, "rank")) json_pull_literal(&pull, &value); else json_pull_skip(&pull);
 *
 * Each value must be taken by exactly one call. After a fault every call says false, and `fault` says why. */
#pragma once

#include "base/byte_source.h"

#include <stdint.h>

typedef enum {
    PULL_WHOLE,  /* no fault so far */
    PULL_CUT,    /* the bytes end before the document does */
    PULL_BROKEN, /* what stands at `offset` is no JSON */
    PULL_SOURCE  /* the source could not give more (damaged gzip) */
} PullFault;

enum { PULL_WINDOW_LEAST = 4096 };

typedef struct {
    ByteSource source;
    char *window;
    size_t size, at, end; /* bytes at .. end of the window are unread */
    int64_t passed;       /* bytes of the document before the window */
    bool first;           /* the object or array was just entered: no comma is due */
    bool ended;           /* the source has no more */
    PullFault fault;
    int64_t offset; /* of the fault, from 0 */
} JsonPull;

/* Bytes of the window; valid until the next call. No NUL follows them. */
typedef struct {
    const char *at;
    size_t length;
} JsonSlice;

/* `window` is the caller's, of at least PULL_WINDOW_LEAST bytes; a text longer than half of it is given as empty. */
void json_pull_begin(JsonPull *pull, ByteSource source, char *window, size_t size);

/* The first character of the next value, blanks left out: { [ " or that of a number or a word; '\0': there is none. */
char json_pull_peek(JsonPull *pull);

/* Steps into an object ('{') or an array ('['); false, and a fault, when the next value is something else. */
bool json_pull_enter(JsonPull *pull, char bracket);

/* The next key of the object that was entered; false at its end, which is passed. */
bool json_pull_key(JsonPull *pull, JsonSlice *key);
/* Whether the array that was entered has another value; false at its end, which is passed. */
bool json_pull_item(JsonPull *pull);

/* Takes a text, escapes resolved (\u of what is no character becomes '?'). */
bool json_pull_text(JsonPull *pull, JsonSlice *text);
/* Takes a number, true, false, null, NaN: the characters as they stand. */
bool json_pull_literal(JsonPull *pull, JsonSlice *literal);
/* Takes either of the two; an object or an array is skipped and gives an empty slice. */
bool json_pull_scalar(JsonPull *pull, JsonSlice *scalar);
/* Takes a value of any kind and forgets it. */
bool json_pull_skip(JsonPull *pull);

/* After PULL_BROKEN: goes on to the next '{' that `key` (in quotes) follows, and clears the fault, so that the caller
 * is between two values of an array again. False: there is none. */
bool json_pull_recover(JsonPull *pull, const char *key);

bool json_slice_is(JsonSlice slice, const char *text);
/* A whole number; false where it is none or does not fit. */
bool json_slice_whole(JsonSlice slice, int64_t *out);

/* What both readers of JSON know of escapes. Four hex digits of a \u escape, or -1. */
int json_hex4(const char *text, size_t left);
/* The character that a backslash and this letter stand for; '\0': it has another meaning or none. */
char json_unescaped(char letter);
