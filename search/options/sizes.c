/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/sizes.h"

#include "base/number.h"
#include "base/util.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t PRODUCT_MAX = INT64_C(1) << 62;

/* The widest thing that a token has: batch tokens times it is the largest count of elements there is. */
static int64_t widest(const Model *model) {
    int64_t width = max_whole(model->d_model, model->vocab);
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        width = max_whole(width, max_whole(kind->d_ff, max_whole(kind->d_ff_expert, kind->d_ff_shared)));
        width =
            max_whole(width, max_whole(kind->heads, 1) * max_whole(max_whole(kind->head_dim, kind->v_head_dim),
                                                                   kind->qk_nope_head_dim + kind->qk_rope_head_dim));
    }
    return max_whole(1, width);
}

bool sizes_check(const Options *options, const Question *question, Error *error) {
    const Work *work = &question->work;
    Count elements;
    int64_t width = max_whole(widest(&question->model), work->seq);
    if (count_multiply((Count)work->sequences * (Count)work->seq, (Count)width, &elements) &&
        elements <= (Count)PRODUCT_MAX)
        return true;
    Option option = options->text[OPTION_SEQUENCES] ? OPTION_SEQUENCES : OPTION_BATCH;
    return error_set(error, ERROR_INPUT, options->text[option] ? options->where[option] : "--batch",
                     "%lld sequences of %lld tokens are too many for a model %lld wide; give at most %lld tokens",
                     (long long)work->sequences, (long long)work->seq, (long long)width,
                     (long long)(PRODUCT_MAX / width));
}

bool batch_below_one(const Options *options, int64_t batch, int64_t seq, Error *error) {
    char tokens[NUMBER_TEXT_SIZE], length[NUMBER_TEXT_SIZE];
    return error_set(error, ERROR_INPUT, options->where[OPTION_BATCH],
                     "%s tokens are less than one sequence of %s; for so many sequences give --sequences %lld",
                     number_grouped(batch, tokens), number_grouped(seq, length), (long long)batch);
}

bool default_chip_named(const Chip *chip, Error *error) {
    size_t used = strlen(error->text);
    if (error->kind == ERROR_INPUT && used < sizeof error->text)
        snprintf(error->text + used, sizeof error->text - used,
                 " (no --chip was given, and %.40s is the default; for GPUs give, say, --chip h100)", chip->name);
    return false;
}

const char *size_in_thousands(const char *text, char words[SIZE_WORDS_SIZE]) {
    static const struct {
        char suffix;
        int64_t thousands, powers;
    } SCALES[] = {{'k', 1000, 1 << 10}, {'M', 1000000, 1 << 20}, {'G', 1000000000, 1 << 30}};
    char *end = NULL, decimal[NUMBER_TEXT_SIZE], binary[NUMBER_TEXT_SIZE];
    if (!text || !isdigit((unsigned char)text[0])) return NULL;
    long value = strtol(text, &end, 10);
    if (value <= 0 || value > 1000000 || end[0] == '\0' || end[1] != '\0') return NULL;
    for (size_t i = 0; i < COUNT_OF(SCALES); i++) {
        if (end[0] != SCALES[i].suffix) continue;
        snprintf(words, SIZE_WORDS_SIZE, "%s is %s; %s is %ld%ci", text,
                 number_grouped(value * SCALES[i].thousands, decimal), number_grouped(value * SCALES[i].powers, binary),
                 value, SCALES[i].suffix == 'k' ? 'K' : SCALES[i].suffix);
        return words;
    }
    return NULL;
}
