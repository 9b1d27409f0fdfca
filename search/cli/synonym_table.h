/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/synonym_table.h: other programs' names of options, a row each. Internal to synonyms.c. */
#pragma once

#include <stdbool.h>

/* What an option is in our words: an option that takes its value, or (`value`) one that is given this value; or a
 * condition of --require on what its value says ("tensor<": at most that), or on this value. */
typedef struct {
    const char *word, *option, *value, *condition;
    bool advised;                /* the option was called so once: what it is called now is said */
    bool flag;                   /* an option that takes no value */
    const char *before, *format; /* around its value, where it has a format: "tensor=", "d" */
    const char *ignored;         /* why no answer depends on it, or who chooses it: it is left out, and this is said */
    const char *said;            /* what is taken for it, which is said */
    bool takes;                  /* of one that is ignored or has a value: a word follows it that is no number */
} Synonym;

extern const Synonym SYNONYMS[];
extern const int SYNONYM_COUNT;
