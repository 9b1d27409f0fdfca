/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/keys.h"

#include "base/text/prose.h"
#include "base/util.h"
#include "cost/plan/knobs.h"
#include "models/mixer.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

LaunchTerms model_terms(const Model *model) {
    const LayerKind *kind = &model->kinds[0];
    LaunchTerms terms;
    for (int term = 0; term < TERM_COUNT; term++) terms.of[term] = TERM_SILENT;
    terms.of[TERM_LAYERS] = model->layers;
    terms.of[TERM_D_MODEL] = model->d_model;
    terms.of[TERM_HEADS] = model_attending(model)->heads;
    terms.of[TERM_KV_HEADS] = model_attending(model)->kv_heads;
    terms.of[TERM_D_FF] = kind->experts > 0 ? kind->d_ff_expert : kind->d_ff;
    if (kind->experts > 0) terms.of[TERM_EXPERTS] = kind->experts;
    terms.of[TERM_VOCAB] = model->vocab;
    return terms;
}

ImportedSizes keys_sizes(const LaunchTerms *terms) {
    return (ImportedSizes){.layers = terms->of[TERM_LAYERS],
                           .d_model = terms->of[TERM_D_MODEL],
                           .heads = terms->of[TERM_HEADS],
                           .kv_heads = terms->of[TERM_KV_HEADS],
                           .d_ff = terms->of[TERM_D_FF],
                           .experts = terms->of[TERM_EXPERTS],
                           .vocab = terms->of[TERM_VOCAB]};
}

LaunchTerms launch_terms(const LaunchJob *job) {
    const Knobs *knobs = job->knobs;
    LaunchTerms terms = model_terms(job->model);
    int64_t *of = terms.of;
    of[ROLE_TENSOR] = job->tensor;
    of[ROLE_PIPELINE] = job->pipeline;
    of[ROLE_SEQUENCE] = job->sequence;
    of[ROLE_FSDP] = job->fsdp;
    of[ROLE_DATA] = job->data;
    of[ROLE_EXPERT] = job->expert;
    of[TERM_EXPERT_TENSOR] = job->expert_tensor;
    of[TERM_SEQ] = job->ranked->work.seq;
    of[TERM_BATCH] = job->batch;
    of[TERM_MICRO] = knobs->microbatch_sequences;
    of[TERM_MICROBATCHES] = knobs->microbatches;
    of[TERM_SCHEDULE] = knobs->schedule;
    of[TERM_VIRTUAL_STAGES] = job->virtual_stages;
    of[TERM_ZERO] = knobs->zero_stage;
    of[TERM_REGATHER] = knobs->regather;
    of[TERM_OFFLOAD] = knobs->offload_optimizer;
    of[TERM_OVERLAP] = job->tensor > 1 && knobs->methods.tensor_overlap;
    of[TERM_CONTEXT] = knobs->methods.context;
    of[TERM_ULYSSES] = max_whole(1, knobs->methods.ulysses);
    return terms;
}

/* ---- writing ---- */

static const struct {
    const char *before, *equals, *off, *on, *quote;
    bool tables; /* what stands before a dot is a table's name, and not the key's */
} SYNTAX[] = {[KEYS_FLAGS] = {"    --", " ", NULL, NULL, "", false},
              [KEYS_YAML] = {"", ": ", "false", "true", "", false},
              [KEYS_TOML] = {"", " = ", "false", "true", "\"", true},
              [KEYS_PYTHON] = {"", " = ", "False", "True", "\"", false}};

/* Whether the row is written for these terms. */
static bool is_said(const LaunchKey *key, char group, const LaunchTerms *terms) {
    return key->group == group && terms->of[key->term] != TERM_SILENT;
}

const char *key_word(const KeyWord *words, int64_t value) {
    while (words->word && words->value != value) words++;
    return words->word;
}

static const char *word_of(const LaunchKey *key, int64_t value, char text[KNOB_TEXT_SIZE]) {
    return key->kind == KEY_KNOB ? knob_text((Knob)key->low, value, text) : key_word(key->words, value);
}

/* YAML has what stands before a dot once, and behind it indented. */
static const char *indented(const LaunchKey *key, const LaunchKey *last, FILE *out) {
    const char *dot = strchr(key->key, '.');
    int length = dot ? (int)(dot - key->key) : 0;
    if (!dot) return key->key;
    if (!last || strncmp(last->key, key->key, (size_t)length + 1) != 0) fprintf(out, "%.*s:\n", length, key->key);
    fprintf(out, "  ");
    return dot + 1;
}

static void write_key(const LaunchKey *key, const LaunchKey *last, int64_t value, KeySyntax syntax, FILE *out) {
    const char *dot = SYNTAX[syntax].tables ? strrchr(key->key, '.') : NULL, *quote = SYNTAX[syntax].quote;
    bool flag = key->kind == KEY_SWITCH && !SYNTAX[syntax].on; /* is there, or is not */
    if (flag && !value) return;
    const char *name = dot ? dot + 1 : syntax == KEYS_YAML ? indented(key, last, out) : key->key;
    fprintf(out, "%s%s%s", SYNTAX[syntax].before, name, flag ? "" : SYNTAX[syntax].equals);
    char text[KNOB_TEXT_SIZE];
    if (key->kind == KEY_WORD || key->kind == KEY_KNOB)
        fprintf(out, "%s%s%s", quote, word_of(key, value, text), quote);
    else if (key->kind != KEY_SWITCH)
        fprintf(out, "%" PRId64, value);
    else if (!flag)
        fputs(value ? SYNTAX[syntax].on : SYNTAX[syntax].off, out);
    fprintf(out, "%s\n", key->comment ? key->comment : "");
}

void keys_write(const LaunchKey *keys, const char *groups, const LaunchTerms *terms, KeySyntax syntax, FILE *out) {
    const LaunchKey *last = NULL;
    for (; *groups; groups++)
        for (const LaunchKey *key = keys; key->key; key++)
            if (is_said(key, *groups, terms)) write_key(key, last, terms->of[key->term], syntax, out), last = key;
}

static bool add_key(const LaunchKey *key, int64_t value, cJSON *out) {
    const char *dot = strchr(key->key, '.'), *name = dot ? dot + 1 : key->key;
    char outer[64], text[KNOB_TEXT_SIZE];
    snprintf(outer, sizeof outer, "%.*s", dot ? (int)(dot - key->key) : 0, key->key);
    cJSON *inside = dot ? cJSON_GetObjectItemCaseSensitive(out, outer) : out;
    if (!inside) inside = json_add_object(out, outer);
    if (key->kind == KEY_WORD) return json_add_text(inside, name, word_of(key, value, text));
    return key->kind == KEY_SWITCH ? json_add_bool(inside, name, value != 0) : json_add_whole(inside, name, value);
}

bool keys_add(const LaunchKey *keys, const char *groups, const LaunchTerms *terms, cJSON *out) {
    bool ok = true;
    for (; *groups; groups++)
        for (const LaunchKey *key = keys; key->key; key++)
            if (is_said(key, *groups, terms)) ok = ok && add_key(key, terms->of[key->term], out);
    return ok;
}

/* ---- reading ---- */

static int64_t read_word(const LaunchKey *key, const char *text) {
    for (const KeyWord *word = key->words; word->word; word++)
        if (strcasecmp(word->word, text) == 0) return word->value;
    return TERM_UNKNOWN;
}

int64_t keys_value(const LaunchKey *keys, int term, const char *text) {
    while (keys->term != term) keys++;
    return read_word(keys, text);
}

static bool read_key(const LaunchKey *key, ConfigFile *file, int64_t *out, Error *error) {
    const char *text;
    bool on;
    switch (key->kind) {
    case KEY_WORD:
        text = config_text(file, key->key, NULL);
        *out = text ? read_word(key, text) : key->absent;
        return true;
    case KEY_KNOB:
        *out = key->absent;
        text = config_text(file, key->key, NULL);
        return !text || knob_parse((Knob)key->low, text, file->name, out, error);
    case KEY_SWITCH:
        if (!config_flag(file, key->key, key->absent, &on, error)) return false;
        *out = on;
        return true;
    case KEY_WHOLE_OR_AUTO: /* "auto" is what Hugging Face writes for what the trainer's arguments say */
        *out = key->absent;
        if (strcasecmp(config_text(file, key->key, "auto"), "auto") == 0) return true;
        break;
    case KEY_WHOLE:
        break;
    }
    return config_whole(file, key->key, key->low, key->high, key->absent, out, error);
}

bool keys_read(const LaunchKey *keys, const char *groups, ConfigFile *file, LaunchTerms *out, Error *error) {
    bool there[TERM_COUNT] = {false};
    *out = (LaunchTerms){{0}};
    for (const LaunchKey *key = keys; key->key; key++) {
        bool unread = key->kind == KEY_WHOLE && key->low > key->high; /* KEY_WRITTEN */
        if (unread || (groups && !(key->group && strchr(groups, key->group)))) continue;
        if (there[key->term] && !config_has(file, key->key)) continue;
        there[key->term] = true;
        if (!read_key(key, file, &out->of[key->term], error)) return false;
    }
    return true;
}

bool keys_unknown(const LaunchKey *keys, int term, ConfigFile *file, Error *error) {
    Prose words = {0};
    while (keys->term != term || !config_has(file, keys->key)) keys++;
    for (const KeyWord *word = keys->words; word->word; word++) {
        bool first = word == keys->words, last = !word[1].word;
        prose_add(&words, "%s%s", first ? "" : last ? " or " : ", ", word->word);
    }
    return config_wrong(file, NULL, keys->key, error, "\"%.40s\" is none; give %s", config_text(file, keys->key, ""),
                        words.text);
}
