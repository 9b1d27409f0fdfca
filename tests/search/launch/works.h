/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/launch/works.h: what a configuration says of the work, before there is a machine or a model, in one line
 * of words: what it is silent of is left out. */
#pragma once

#include "search/launch/import.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { WORK_TEXT_SIZE = 512 };

typedef struct {
    const char *text, *work;
    const char *wrong; /* the key that the error names; NULL: there is none */
} WorkRow;

static inline void work_word(char *text, const char *name, const char *value) {
    size_t used = strlen(text);
    if (value) snprintf(text + used, WORK_TEXT_SIZE - used, "%s%s=%s", used ? " " : "", name, value);
}

static inline void work_size(char *text, const char *name, int64_t value) {
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)value);
    work_word(text, name, value != 0 ? number : NULL);
}

static inline void work_words(const ImportedWork *work, char text[WORK_TEXT_SIZE]) {
    text[0] = '\0';
    work_word(text, "model", work->model);
    work_size(text, "layers", work->sizes.layers);
    work_size(text, "d", work->sizes.d_model);
    work_size(text, "heads", work->sizes.heads);
    work_size(text, "kv", work->sizes.kv_heads);
    work_size(text, "ff", work->sizes.d_ff);
    work_size(text, "experts", work->sizes.experts);
    work_size(text, "vocab", work->sizes.vocab);
    work_size(text, "max", work->sizes.max_seq);
    work_word(text, "seq", work->seq);
    work_word(text, "precision", work->precision);
    work_word(text, "state", work->state_dtypes);
    work_word(text, "optimizer", work->optimizer);
    work_word(text, "chip", work->chip);
    work_word(text, "slices", work->slices);
    work_word(text, "slice", work->slice);
    work_word(text, "nodes", work->nodes);
}

static inline void expect_works(const char *launcher, const WorkRow *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Arena arena = {0};
        ConfigFile file;
        ImportedWork work;
        Error error = {0};
        char words[WORK_TEXT_SIZE];
        int which;
        bool ok = import_read("f", rows[i].text, strlen(rows[i].text), launcher, &arena, &file, &which, &error) &&
                  import_work(which, &file, &work, &error);
        cr_expect_eq(ok, !rows[i].wrong, "%s: %s: %s", rows[i].text, error.where, error.text);
        if (!ok && rows[i].wrong) cr_expect(strstr(error.where, rows[i].wrong), "%s: %s", rows[i].text, error.where);
        if (ok && !rows[i].wrong) {
            work_words(&work, words);
            cr_expect_str_eq(words, rows[i].work, "%s: %s", rows[i].text, words);
        }
        arena_free(&arena);
    }
}
