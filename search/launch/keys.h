/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/keys.h: the keys of a launcher's files, as one table that is read both ways.
 *
 * A row says what a key is called and which term of a plan it is. A writer has the terms of a plan (launch_terms(), and
 * what it makes of them) and the rows write them; a reader has the rows take them from a file, and makes a plan of
 * them. So a key that is added as a row is written and read. Code is left for what is no number, switch or word. */
#pragma once

#include "base/json.h"
#include "search/launch/emit.h"
#include "search/launch/import.h"

/* What a key can be: the degree of a Role, ways of an expert's width; tokens of a sequence, sequences of a step and of
 * a microbatch of a replica, microbatches of a replica; knobs; sizes of the model. */
enum { TERM_EXPERT_TENSOR = ROLE_COUNT, TERM_SEQ, TERM_BATCH, TERM_MICRO, TERM_MICROBATCHES, TERM_SCHEDULE };
enum { TERM_VIRTUAL_STAGES = TERM_SCHEDULE + 1, TERM_ZERO, TERM_REGATHER, TERM_OFFLOAD, TERM_OVERLAP, TERM_CONTEXT };
enum { TERM_ULYSSES = TERM_CONTEXT + 1, TERM_LAYERS, TERM_D_MODEL, TERM_HEADS, TERM_KV_HEADS, TERM_D_FF, TERM_EXPERTS };
enum { TERM_VOCAB = TERM_EXPERTS + 1, TERM_OWN, TERM_COUNT = TERM_OWN + 28 }; /* from TERM_OWN on a launcher's own */
typedef struct {
    int64_t of[TERM_COUNT];
} LaunchTerms;

#define TERM_SILENT INT64_MIN        /* is not written */
#define TERM_UNKNOWN (INT64_MIN + 1) /* was read: a word that is in no row */

/* A word of a key. Of several for one value the first is written, all are read, in any case. */
typedef struct {
    const char *word; /* NULL behind the last */
    int64_t value;
} KeyWord;
#define KEY_WORDS(name, ...) static const KeyWord name[] = {__VA_ARGS__, {NULL, 0}}
const char *key_word(const KeyWord *words, int64_t value); /* NULL: there is none */

typedef enum { KEY_WHOLE, KEY_WHOLE_OR_AUTO, KEY_SWITCH, KEY_WORD, KEY_KNOB } KeyKind;

/* A table ends with a row without a key. */
struct LaunchKey {
    const char *key;
    int term;
    char group; /* keys of a group are written together, in the order of the table; '\0': it is only read */
    KeyKind kind;
    int64_t low, high;    /* what a number may be; of KEY_KNOB, whose words are ours: the Knob */
    int64_t absent;       /* what it is where the file does not have the key */
    const KeyWord *words; /* of KEY_WORD */
    const char *comment;  /* behind the value, in Python and YAML */
};

#define KEY_NUMBER(group, key, term, low, high, absent)                                                                \
    { key, term, group, KEY_WHOLE, low, high, absent, NULL, NULL }
#define KEY_DEGREE(group, key, term) KEY_NUMBER(group, key, term, 1, 1 << 24, 1)
#define KEY_COUNT(group, key, term, absent) KEY_NUMBER(group, key, term, 1, 1 << 20, absent)
#define KEY_LENGTH(group, key, term, absent) KEY_NUMBER(group, key, term, 1, INT64_C(1) << 40, absent)
#define KEY_SIZE(group, key, term) KEY_LENGTH(group, key, term, 0)
/* Others read it for themselves, or nobody does. */
#define KEY_WRITTEN(group, key, term) KEY_NUMBER(group, key, term, 1, 0, 0)
#define KEY_SWITCHED(group, key, term, absent)                                                                         \
    { key, term, group, KEY_SWITCH, 0, 1, absent, NULL, NULL }
#define KEY_FLAG(group, key, term) KEY_SWITCHED(group, key, term, false)
#define KEY_NAME(group, key, term, absent, words)                                                                      \
    { key, term, group, KEY_WORD, 0, 0, absent, words, NULL }

/* How a file spells them. */
typedef enum { KEYS_FLAGS, KEYS_YAML, KEYS_TOML, KEYS_PYTHON } KeySyntax;

/* The terms of a plan, those of the launcher's own silent; the sizes of a model alone, all else silent. */
LaunchTerms launch_terms(const LaunchJob *job);
LaunchTerms model_terms(const Model *model);
/* The way back: the sizes that were read. */
ImportedSizes keys_sizes(const LaunchTerms *terms);

/* Writes the groups in the order in which they are named, without what is silent. */
void keys_write(const LaunchKey *keys, const char *groups, const LaunchTerms *terms, KeySyntax syntax, FILE *out);
/* The same into an object; what stands before the dot of a key is an object in it. False: memory is out. */
bool keys_add(const LaunchKey *keys, const char *groups, const LaunchTerms *terms, cJSON *out);

/* Takes every key, or those of some groups; of several of one term the last that is there counts. */
bool keys_read(const LaunchKey *keys, const char *groups, ConfigFile *file, LaunchTerms *out, Error *error);

/* The value of a word of a term's first key; TERM_UNKNOWN: it has it not. */
int64_t keys_value(const LaunchKey *keys, int term, const char *text);

/* A term is TERM_UNKNOWN: always false, with an error that names the key's words. */
bool keys_unknown(const LaunchKey *keys, int term, ConfigFile *file, Error *error);
