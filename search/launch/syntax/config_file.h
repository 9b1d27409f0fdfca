/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/syntax/config_file.h: a launch configuration as a list of keys with their values, each with the place
 * where it stands, whatever it was written in. The readers of syntax fill it from a buffer; the readers of each
 * launcher take from it what they know; what nobody took is what was not understood.
 *
 * YAML is libyaml's. TOML, Python and words are read by own readers of the part that launch files use, which refuse the
 * rest with its line and column: Debian has no TOML for C and no reader of a shell's words, and what a person wants to
 * know here, which key stands where and which was not understood, needs the places that libraries drop. JSON is
 * base/json.h. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file may be so long, have so many keys and values, and nest so deep. */
enum { CONFIG_BYTES_MAX = 1 << 20, CONFIG_ENTRIES_MAX = 8192, CONFIG_DEPTH_MAX = 32, CONFIG_TEXT_MAX = 4 << 20 };

typedef struct {
    const char *key;      /* "training.seq_len", "micro-batch-size" (no dashes in front): as the launcher spells it */
    const char *value;    /* without quotes; of lists and tables the text; "" of a flag */
    int64_t line, column; /* of the key, from 1; columns count bytes. 0: not known (JSON) */
    bool guarded;         /* stands behind a condition of a script */
    bool bare;            /* a flag without a value */
    bool taken;           /* somebody knows what it means */
} ConfigEntry;

enum { CONFIG_NOTES_MAX = 24 };
typedef struct ConfigFile {
    const char *name; /* of the file, for errors */
    Arena *arena;     /* holds everything */
    const char *made; /* the model that `emit` wrote it for, by its first comment; NULL: it does not say so */
    ConfigEntry *entries;
    int64_t count, room;
    const char *notes[CONFIG_NOTES_MAX]; /* what to say on stderr: assumed, left out, priced as something near */
    int note_count;
} ConfigFile;

/* ---- for readers of syntax ---- */

/* False: there is one already with another value, too many, or memory is out. The same value twice is once. */
bool config_add(ConfigFile *file, const char *key, const char *value, int64_t line, int64_t column, ConfigEntry **out,
                Error *error);

/* An error at a place: "run.yml:3:7: what is wrong; what would be right". Always false. */
bool config_wrong_at(const ConfigFile *file, int64_t line, int64_t column, Error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Passes over a byte order mark in front. */
void config_skip_mark(const char **text, size_t *length);

/* The bytes of text before which anything is wrong: too long, a NUL, no UTF-8. Refuses the whole file at once. */
bool config_check_text(const ConfigFile *file, const char *text, size_t length, Error *error);

/* `length` bytes as a text in the arena; NULL: memory is out. */
char *config_copy(const ConfigFile *file, const char *text, size_t length);

/* A list of `count` items with room for `room` of them, where one more is to come: itself, or a copy of twice the room
 * in the arena; NULL: memory is out. */
void *config_room(const ConfigFile *file, void *items, int64_t count, int64_t *room, size_t size);

bool config_read_yaml(const char *text, size_t length, ConfigFile *file, Error *error);
bool config_read_toml(const char *text, size_t length, ConfigFile *file, Error *error);
bool config_read_json(const char *text, size_t length, ConfigFile *file, Error *error);
bool config_read_python(const char *text, size_t length, ConfigFile *file, Error *error);
/* A shell's script, or the words of a command line alone: `--key value`, `--key=value`, `--flag`, `key=value`. */
bool config_read_words(const char *text, size_t length, ConfigFile *file, Error *error);

/* ---- for readers of launchers; each takes the key ---- */

/* NULL: it is not there, or its value is one of "nothing": "", null, None, ~. */
const ConfigEntry *config_take(ConfigFile *file, const char *key);
/* The first of two spellings that is there. */
const ConfigEntry *config_take_either(ConfigFile *file, const char *key, const char *other);
bool config_has(const ConfigFile *file, const char *key); /* takes nothing */

/* Numbers and words of a key; absent: the fallback. Out of range and of another kind: an error that names the key. */
bool config_whole(ConfigFile *file, const char *key, int64_t low, int64_t high, int64_t fallback, int64_t *out,
                  Error *error);
bool config_real(ConfigFile *file, const char *key, double low, double high, double fallback, double *out,
                 Error *error);
bool config_flag(ConfigFile *file, const char *key, bool fallback, bool *out, Error *error);
const char *config_text(ConfigFile *file, const char *key, const char *fallback);
/* A number as an option takes it; absent: NULL. */
bool config_number_text(ConfigFile *file, const char *key, const char **out, Error *error);

/* The items of a list: `[a, "b"]`, `a,b` or `a b`; how many there are in all; the first `most` are in `out`. */
int config_list(const ConfigFile *file, const char *text, const char *out[], int most);

/* The value of a key is wrong, or contradicts something. Always false. `entry` NULL: the key is not in the file. */
bool config_wrong(const ConfigFile *file, const ConfigEntry *entry, const char *key, Error *error, const char *format,
                  ...) __attribute__((format(printf, 5, 6)));

void config_note(ConfigFile *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keys that change neither a step's time nor its memory: patterns of fnmatch(3) with blanks between them. */
void config_ignore(ConfigFile *file, const char *patterns);

/* One note of all that nobody took. */
void config_note_left(ConfigFile *file);
