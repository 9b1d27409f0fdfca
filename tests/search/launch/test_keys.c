/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A key is one row, written and read by it. Of every row of every launcher, each value of its domain is written in each
 * syntax that the launcher's files have, read back by that syntax's own reader, and is the same, and nothing else is;
 * every word of a row means its value. The law is seen to fail: rows are spoilt as twins drift apart, each is found. */
#include "search/launch/keys.h"

#include "base/util.h"
#include "cost/plan/knobs.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum { JSON = KEYS_PYTHON + 1 } OtherSyntax;
static const struct {
    const char *launcher;
    int syntax[2], count;
} FILES[] = {{"maxtext", {KEYS_YAML}, 1},   {"jax", {KEYS_PYTHON}, 1},
             {"megatron", {KEYS_FLAGS}, 1}, {"torchtitan", {KEYS_FLAGS, KEYS_TOML}, 2},
             {"deepspeed", {JSON}, 1},      {"trl", {KEYS_FLAGS}, 1},
             {"axolotl", {KEYS_YAML}, 1},   {"llama-factory", {KEYS_YAML}, 1}};

/* One group of a table as a file; the caller frees. */
static char *written(const LaunchKey *keys, const LaunchKey *row, const LaunchTerms *terms, int syntax) {
    char *text = NULL, groups[2] = {row->group, '\0'};
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (syntax == JSON) {
        cJSON *object = cJSON_CreateObject();
        cr_assert(keys_add(keys, groups, terms, object) && json_print(out, object));
        cJSON_Delete(object);
    } else {
        const char *dot = strrchr(row->key, '.');
        if (syntax == KEYS_TOML && dot) fprintf(out, "[%.*s]\n", (int)(dot - row->key), row->key);
        if (syntax == KEYS_FLAGS) fprintf(out, "A=(\n    --first\n");
        keys_write(keys, groups, terms, (KeySyntax)syntax, out);
        if (syntax == KEYS_FLAGS) fprintf(out, ")\ntorchrun train.py \"${A[@]}\"\n");
    }
    fclose(out);
    return text;
}

static bool parsed(const char *text, int syntax, ConfigFile *file, Error *error) {
    typedef bool Reader(const char *text, size_t length, ConfigFile *file, Error *error);
    static Reader *const READERS[] = {[KEYS_FLAGS] = config_read_words,
                                      [KEYS_YAML] = config_read_yaml,
                                      [KEYS_TOML] = config_read_toml,
                                      [KEYS_PYTHON] = config_read_python,
                                      [JSON] = config_read_json};
    return READERS[syntax](text, strlen(text), file, error);
}

/* Whether what `out` writes of a row for a value is that value where `in` reads it, and all else is as if nothing stood
 * there. */
static bool comes_back(const LaunchKey *out, const LaunchKey *in, const LaunchKey *row, int64_t value, int syntax) {
    Arena arena = {0};
    ConfigFile file = {.name = "plan", .arena = &arena}, nothing = file;
    Error error = {0};
    LaunchTerms terms, back, silent;
    for (int term = 0; term < TERM_COUNT; term++) terms.of[term] = TERM_SILENT;
    terms.of[row->term] = value;
    char *text = written(out, row, &terms, syntax);
    bool same = parsed(text, syntax, &file, &error) && keys_read(in, NULL, &file, &back, &error) &&
                keys_read(in, NULL, &nothing, &silent, &error) && back.of[row->term] == value;
    silent.of[row->term] = value;
    same = same && memcmp(&silent, &back, sizeof back) == 0;
    free(text);
    arena_free(&arena);
    return same;
}

enum { VALUES_MAX = 32 };
static int values_of(const LaunchKey *row, int64_t out[VALUES_MAX]) {
    int count = 0;
    const int64_t numbers[] = {row->low, row->low < 0 ? 1 : row->low + 1, 7, row->high};
    switch (row->kind) {
    case KEY_SWITCH:
        out[count++] = 0;
        out[count++] = 1;
        break;
    case KEY_WORD:
        for (const KeyWord *word = row->words; word->word; word++) out[count++] = word->value;
        break;
    case KEY_KNOB:
        for (int64_t setting = 0; count < VALUES_MAX && setting < VALUES_MAX; setting++)
            if (knob_takes((Knob)row->low, setting)) out[count++] = setting;
        break;
    default:
        for (size_t i = 0; i < COUNT_OF(numbers); i++)
            if (numbers[i] >= row->low && numbers[i] <= row->high) out[count++] = numbers[i];
    }
    return count;
}

static int lost(const LaunchKey *out, const LaunchKey *in, int syntax, int *tried) {
    int count = 0;
    for (const LaunchKey *row = out; row->key; row++) {
        int64_t values[VALUES_MAX];
        int all = row->group ? values_of(row, values) : 0;
        for (int i = 0; i < all; i++, ++*tried) {
            if (comes_back(out, in, row, values[i], syntax)) continue;
            count++;
            if (out == in) cr_log_error("%s = %" PRId64, row->key, values[i]);
        }
    }
    return count;
}

static const LaunchKey *keys_of(const char *name) {
    for (int i = 0; i < launcher_count(); i++)
        if (strcmp(launcher_name(i), name) == 0) return launcher_at(i)->keys;
    return NULL;
}

Test(keys, every_value_of_every_row_comes_back) {
    int tried = 0;
    cr_assert_eq((int)COUNT_OF(FILES), launcher_count());
    for (size_t i = 0; i < COUNT_OF(FILES); i++)
        for (int s = 0; s < FILES[i].count; s++) {
            const LaunchKey *keys = keys_of(FILES[i].launcher);
            cr_assert(keys, "%s", FILES[i].launcher);
            cr_expect_eq(lost(keys, keys, FILES[i].syntax[s], &tried), 0, "%s", FILES[i].launcher);
        }
    cr_expect_gt(tried, 300, "%d", tried);
}

Test(keys, every_word_is_its_value_and_every_key_stands_once) {
    for (int i = 0; i < launcher_count(); i++)
        for (const LaunchKey *row = launcher_at(i)->keys; row->key; row++) {
            for (const LaunchKey *other = launcher_at(i)->keys; other < row; other++)
                cr_expect_str_neq(row->key, other->key);
            for (const KeyWord *word = row->words; word && word->word; word++) {
                Arena arena = {0};
                ConfigFile file = {.name = "plan", .arena = &arena};
                LaunchTerms back;
                Error error = {0};
                cr_assert(config_add(&file, row->key, word->word, 1, 1, NULL, &error));
                cr_expect(keys_read(launcher_at(i)->keys, NULL, &file, &back, &error) &&
                              back.of[row->term] == word->value,
                          "%s=%s", row->key, word->word);
                arena_free(&arena);
            }
        }
}

/* ---- rows spoilt, one a time, as a writer and a reader of their own drift apart ---- */

static const KeyWord SWAPPED[] = {
    {"no_shard", 1}, {"optim", 0}, {"optim_grads", 2}, {"optim_grads_params", 3}, {NULL, 0}};
static const KeyWord TWICE[] = {{"no_shard", 0}, {"optim", 1}, {"optim", 2}, {"optim_grads_params", 3}, {NULL, 0}};

static const struct {
    const char *what, *key;
    LaunchKey spoilt; /* what is not 0 or NULL in it is taken */
} PLANTS[] = {
    {"another spelling", "micro-batch-size", {.key = "micro-batch"}},
    {"another term", "tensor-model-parallel-size", {.term = ROLE_SEQUENCE}},
    {"a number as a switch", "global-batch-size", {.kind = KEY_SWITCH}},
    {"words swapped", "data-parallel-sharding-strategy", {.words = SWAPPED}},
    {"one word for two values", "data-parallel-sharding-strategy", {.words = TWICE}},
    {"a comment that is no comment", "recompute-num-layers", {.comment = "0"}},
};

Test(keys, a_spoilt_row_is_found) {
    const LaunchKey *keys = keys_of("megatron");
    for (size_t i = 0; i < COUNT_OF(PLANTS); i++) {
        LaunchKey table[64] = {{NULL}}, *row = table;
        const LaunchKey *spoilt = &PLANTS[i].spoilt;
        int tried = 0;
        for (int k = 0; keys[k].key; k++) table[k] = keys[k];
        while (row->key && strcmp(row->key, PLANTS[i].key) != 0) row++;
        cr_assert(row->key, "%s", PLANTS[i].key);
        if (spoilt->key) row->key = spoilt->key;
        if (spoilt->term) row->term = spoilt->term;
        if (spoilt->kind) row->kind = spoilt->kind;
        if (spoilt->words) row->words = spoilt->words;
        if (spoilt->comment) row->comment = spoilt->comment;
        cr_expect_gt(lost(table, keys, KEYS_FLAGS, &tried), 0, "%s", PLANTS[i].what);
    }
}

/* A key that is added as a row is written and read: nothing else knows of it. */
Test(keys, a_row_is_all_there_is_to_add) {
    LaunchKey table[64] = {{NULL}};
    int count = 0, tried = 0;
    for (const LaunchKey *keys = keys_of("maxtext"); keys[count].key; count++) table[count] = keys[count];
    table[count] = (LaunchKey)KEY_DEGREE('y', "ici_burrow_parallelism", TERM_COUNT - 1);
    cr_expect_eq(lost(&table[count], table, KEYS_YAML, &tried), 0);
    cr_expect_geq(tried, 4);
}
