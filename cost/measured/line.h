/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/line.h: lines of JSON, one measured run each, read by tables of keys. What is wrong is an error at
 * FILE:LINE:COLUMN; a key that no table has is refused with the nearest that one has. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *path;
    int64_t number; /* of the file, from 1 */
    const char *text;
    size_t length;
    Arena *arena; /* of what is kept */
    Error *error;
} Line;

/* KEY_OTHER: a key that has a function of its own, or is there for people. */
typedef enum { KEY_TEXT, KEY_WHOLE, KEY_REAL, KEY_FLAG, KEY_OTHER } KeyType;

typedef struct {
    const char *key;
    KeyType type;
    size_t offset; /* in the struct that is read: const char *, int64_t, double, bool */
    double low, high;
} Key;

/* Says what is wrong at a key of the line. Always false. */
__attribute__((format(printf, 3, 4))) bool line_wrong(const Line *line, const char *key, const char *format, ...);

/* Reads every key of the object into the struct `to`. */
bool line_keys(const Line *line, const cJSON *object, const Key *keys, size_t count, void *to);

/* The same for the object of a key, which may be absent. */
bool line_object(const Line *line, const cJSON *in, const char *key, const Key *keys, size_t count, void *to);

/* The text of a key, which may be absent (""); NULL: it is no text. */
const char *line_text(const Line *line, const cJSON *object, const char *key);

/* The place of a text among names; an absent one is the first. */
bool line_name(const Line *line, const cJSON *object, const char *key, const char *const *names, int count, int *out);

/* Labels that are not given: an id is the line's number, a family what stands before the first '-' of the id. */
bool line_label(const Line *line, const char **id, const char **family, const char *source);

/* Texts that are not given are "". */
void keys_clear(const Key *keys, size_t count, void *to);

/* A kind of line: how one becomes a struct. */
typedef struct {
    size_t size; /* of the struct */
    size_t id;   /* offset of its id, which no other line has */
    bool (*read)(const Line *line, const cJSON *json, void *out);
    const char *converter; /* the script that converts tables of before */
} LineKind;

typedef struct {
    const char *path;
    char *text; /* has a NUL at [length] and is cut in place */
    size_t length;
    const char *only; /* lines without this text are passed over; NULL: none */
} LineFile;

/* Reads the lines of a file. Returns an array of `count` structs in the arena; NULL: *error says why. */
void *lines_read(const LineKind *kind, const LineFile *file, Arena *arena, int64_t *count, Error *error);
