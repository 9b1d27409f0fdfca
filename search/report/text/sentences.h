/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/text/sentences.h: what the text report says, as one line of text each. */
#pragma once

#include "search/report/report.h"

typedef enum {
    SENTENCE_VERDICT,    /* of plan 1, with its proof; or how far off the nearest is */
    SENTENCE_CONFIDENCE, /* "": there is no plan */
    SENTENCE_ASSUMED,
    SENTENCE_SEARCHED,
    SENTENCE_SENSITIVITY, /* "": nothing was searched */
    SENTENCE_COUNT
} Sentence;

/* In the arena; NULL: memory is out. */
const char *sentence_of(const Report *report, Sentence sentence, Arena *arena);

/* "llama3.1-405b on 8 pods of TPU v5p" */
const char *title_sentence(const Report *report, Arena *arena);
