/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/json.h: reading and writing JSON as trees of cJSON, without its traps.
 *
 * Reading: a strict reader of ours that knows lines and columns (RFC 8259: no trailing junk, no comments, no NaN, no
 * duplicate keys in one object, no lone surrogates or raw control characters, valid UTF-8 without a byte order mark, no
 * NUL, nesting to JSON_DEPTH_MAX, at most JSON_BYTES_MAX bytes). Numbers that a double cannot hold (1e400, 1e-400) and
 * numbers of more than 63 characters are errors.
 * Writing: numbers go out as raw text, because cJSON saturates integers and loses digits of doubles. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/number.h"

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH_MAX = 64, JSON_BYTES_MAX = 64 << 20 };

/* Parses `length` bytes; `where` names the document in errors, which read "where:line:column". NULL means that *error
 * says why. The caller frees the result with cJSON_Delete. */
cJSON *json_parse(const char *text, size_t length, const char *where, Error *error);

/* Reads a whole regular file (at most JSON_BYTES_MAX bytes) and parses it; errors name the path. A folder, a device and
 * a missing file are ERROR_IO. */
cJSON *json_read_file(const char *path, Error *error);
/* The same of what Python's json module writes, where Infinity and NaN are numbers: they stay so in the tree, and no
 * read with a range takes them. */
cJSON *json_read_python_file(const char *path, Error *error);

/* The value of a key path ("training.batch_tokens" goes into nested objects). NULL means that the value is absent or
 * JSON null. */
const cJSON *json_at(const cJSON *object, const char *path);

/* The text there, "" where there is none; the number there, else `fallback`. */
const char *json_text_at(const cJSON *object, const char *path);
double json_real_at(const cJSON *object, const char *path, double fallback);

/* Typed reads with range checks; errors name `where` and the key path. The required forms fail when the key is absent;
 * the *_or forms take `fallback` then, and fail only on a value of the wrong type or range. A JSON null counts as
 * absent. Whole numbers have no fraction and stay below 2^53, from where on a double no longer distinguishes neighbours
 * apart. */
bool json_whole(const cJSON *object, const char *path, int64_t low, int64_t high, const char *where, int64_t *out,
                Error *error);
bool json_whole_or(const cJSON *object, const char *path, int64_t low, int64_t high, int64_t fallback,
                   const char *where, int64_t *out, Error *error);
bool json_real(const cJSON *object, const char *path, double low, double high, const char *where, double *out,
               Error *error);
bool json_real_or(const cJSON *object, const char *path, double low, double high, double fallback, const char *where,
                  double *out, Error *error);
bool json_bool_or(const cJSON *object, const char *path, bool fallback, const char *where, bool *out, Error *error);
/* Copies a string of at most size - 1 bytes. */
bool json_text(const cJSON *object, const char *path, const char *where, char *out, size_t size, Error *error);
bool json_text_or(const cJSON *object, const char *path, const char *fallback, const char *where, char *out,
                  size_t size, Error *error);

/* Whether no key and no text of the tree has a character that a terminal obeys or that ends a line (utf8_is_harmful).
 * Texts of data files stand in reports, in launch files and on terminals: where one has such a character, that is an
 * error which names it. */
bool json_is_plain(const cJSON *json, const char *where, Error *error);

/* Writers add to an object (with a key) or append to an array (key NULL). Doubles are written with 17 significant
 * digits ("%.17g"; null where not finite), whole numbers and counts in full. False means that memory is out. */
bool json_add_real(cJSON *to, const char *key, double value);
bool json_add_whole(cJSON *to, const char *key, int64_t value);
bool json_add_count(cJSON *to, const char *key, Count value);
bool json_add_text(cJSON *to, const char *key, const char *value);
bool json_add_bool(cJSON *to, const char *key, bool value);
/* Adds a new child object or array; NULL means that memory is out. */
cJSON *json_add_object(cJSON *to, const char *key);
cJSON *json_add_array(cJSON *to, const char *key);

/* A tree that was written holds its numbers as texts; this turns them into numbers, as reading the file would, so that
 * the readers above take the tree as it is. */
void json_settle(cJSON *json);

/* Prints with two blanks of indentation and a final newline, and flushes; bytes of text that are not UTF-8 go out as
 * U+FFFD. False means that memory is out or that the stream failed. */
bool json_print(FILE *out, const cJSON *json);

/* Prints what the paths name, and nothing else: "plans.step.seconds" is of each of the first `most` entries of a list
 * of plans; a path without more names a value whole. What is alone in an object stands in its line. The last path is
 * NULL; there are JSON_PATHS_MAX at most. What is not printed is taken from `json`. */
enum { JSON_PATHS_MAX = 48 };
bool json_print_kept(FILE *out, cJSON *json, const char *const *paths, int most);
/* The same on one line, without flushing. */
bool json_print_line(FILE *out, const cJSON *json);
/* The same without the newline and without blanks between tokens, `*length` bytes and a NUL, to be freed. NULL: memory
 * is out. */
char *json_to_line(const cJSON *json, size_t *length);
/* Prints one text in quotes, with the same escapes, for writers with a form of their own. */
void json_print_text(FILE *out, const char *text);
