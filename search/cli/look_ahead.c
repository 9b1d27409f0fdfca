/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a line says somewhere, before its words are read one by one. */
#include "base/number.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/replaced.h"
#include "search/cli/synonyms.h"
#include "search/cli/typed_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_of_maxtext(const char *word) {
    const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : word;
    return strcasestr(word, "maxtext") || strncmp(word, "--tpu", 5) == 0 || strcasestr(word, "max_target") ||
           strstr(word, "ici_") || strstr(word, "base_emb") || typed_slice(value);
}

/* What a word says whatever command it is of. */
static void note_any(Replaced *out, const char *word, const char *next) {
    out->scripted = out->scripted || word_among("-q --quiet --json --csv --format=json --format=brief", word) ||
                    (strcmp(word, "--format") == 0 && next && word_among("json brief csv", next));
    out->qlora = out->qlora || strcmp(word, "--qlora") == 0;
    out->pairs = out->pairs || strcmp(word, "--task=dpo") == 0;
    if (strncmp(word, "--question", 10) == 0) out->sentence = true, out->question = word[10] ? word + 11 : NULL;
    out->vllm =
        out->vllm || strstr(word, "=vllm") || (strcmp(word, "--engine") == 0 && next && strcmp(next, "vllm") == 0);
    out->maxtext = out->maxtext || is_of_maxtext(word);
}

/* What the line says somewhere, which other words depend on. */
static void note_word(Replaced *out, const char *word, const char *next) {
    static const char *const SIZES[] = {"--nodes", "--chips", "--pods", "--slice", "@host"};
    static const char *const TUNED[] = {"--lora", "--qlora", "--task", "--freeze", "--targets", "@quantised"};
    Meaning meaning;
    bool key = isalpha((unsigned char)*word) && strchr(word, '='),
         brief = word[0] == '-' && word[1] && word[1] != '-' && !word[2];
    note_any(out, word, next);
    if ((*word != '-' && !key) || (brief && *word == '-' && word[1] == 'o') ||
        !replaced_meaning(out, word, next, &meaning))
        return;
    char own[48];
    out->foreign += meaning.own < 0;
    if (meaning.own >= 0) {
        snprintf(own, sizeof own, "--%s", out->command->options[meaning.own].name);
        meaning.what = own;
    }
    const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : next;
    if (value && (meaning_is(&meaning, "--seq") || meaning_is(&meaning, "--max-length"))) {
        int64_t tokens = 0;
        Error none = {0};
        if (number_tokens(value, "", 1, 1 << 30, &tokens, &none)) out->seq = (long)tokens;
    }
    int number = value ? atoi(value) : 0;
    out->counted =
        out->counted || (value && strncmp(meaning.what, "note", 4) == 0 && word_says("ask", "clouds", value));
    for (size_t i = 0; i < COUNT_OF(SIZES); i++) out->sized = out->sized || meaning_is(&meaning, SIZES[i]);
    for (size_t i = 0; i < COUNT_OF(TUNED); i++) out->tuned = out->tuned || meaning_is(&meaning, TUNED[i]);
    const WordRow *way = meaning_is(&meaning, "@way") && value ? word_row("command", value) : NULL;
    out->tuned = out->tuned || (way && way->cell[3]);
    out->qlora = out->qlora || (way && way->cell[3] && strncmp(way->cell[3], "--qlora", 7) == 0);
    static const char TRAINED[] = "--sequences --batch --seq --tokens --optimizer";
    out->trained = out->trained || (strncmp(meaning.what, "--", 2) == 0 && word_among(TRAINED, meaning.what));
    out->counted = out->counted || ((meaning_is(&meaning, "--chips") || meaning_is(&meaning, "@host")) &&
                                    meaning.own < 0 && !strcasestr(word, "tpu"));
    out->ranked = out->ranked || (meaning_is(&meaning, "--lora") && meaning.own < 0);
    out->model = out->model || meaning_is(&meaning, "--model") || strncmp(word, "--from", 6) == 0;
    for (int i = 0; i < REST_COUNT; i++)
        if (meaning_is(&meaning, REST_ROLES[i]) || strncmp(meaning.what, "data>", 5) == 0 ||
            (meaning_is(&meaning, "--require") && value && strstr(value, REST_ROLES[i])))
            out->roles |= 1u << i;
    out->tasked = out->tasked || meaning_is(&meaning, "--task");
    out->says_drafts = out->says_drafts || strcmp(meaning.what, "@number drafts") == 0;
    out->engine_degrees = out->engine_degrees || meaning_is(&meaning, "--rollout") || meaning_is(&meaning, "@trainer");
    if (word_among("fsdp ep expert", meaning.what)) out->roles |= 1u << REST_COUNT;
    out->cloud = out->cloud || (meaning_is(&meaning, "--chip") && value && replaced_is_instance(out, value));
    if (strncmp(meaning.what, "@pair ", 6) == 0) out->pair |= meaning.what[6] == 'n' ? 1 : 2;
    out->accumulates = out->accumulates || strcmp(meaning.what, "@accumulation") == 0;
    out->rolls = out->rolls || strcasestr(word, "rollout_batch") || strcasestr(word, "rollout-batch");
    out->total =
        out->total || strcasestr(word, "global") || strcasestr(word, "effective") || strstr(word, "train_batch");
    out->micro = out->micro || meaning_is(&meaning, "microbatch_sequences") || meaning_is(&meaning, "@device_batch");
    out->dp_attention = meaning_is(&meaning, "data") && number > 1 && number < 1 << 16 ? number : out->dp_attention;
    out->attends = out->attends || strcmp(meaning.what, "attention_data>=2") == 0;
    out->dp_experts = out->dp_experts || strcmp(meaning.what, "expert>=2") == 0;
}

void replaced_look_ahead(Replaced *out, int argc, char **argv) {
    for (int pass = 0; pass < 2; pass++) { /* what is tuned decides what other words mean */
        out->foreign = 0;
        for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
            const WordRow *way = word_row("command", argv[i] + strspn(argv[i], "-")); /* "dpo", "--dpo" */
            out->pairs = out->pairs || (way && way->cell[3] && strcmp(way->cell[3], "--task=dpo") == 0);
            out->tuned = out->tuned || (way && way->cell[3] && *way->cell[3] && strcmp(way->cell[2], "plan") == 0 &&
                                        !strstr(way->cell[3], "--for") && argv[i][0] != '-');
            note_word(out, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        }
    }
    if (!out->attends) out->dp_attention = 0;
}

/* What a line says, read as the words of `plan`. */
static Replaced reading_of(Arena *arena, int argc, char **argv) {
    Replaced out = {.command = COMMANDS[0], .arena = arena};
    replaced_look_ahead(&out, argc, argv);
    return out;
}

/* Notes a machine that a word without an option is: what it would be is not kept. */
static void note_machine(Replaced *out, const char *word) {
    bool ok = true;
    out->count = 0, out->words = NULL, out->room = 0;
    if (word[0] == '-') return;
    out->sized = out->sized || (replaced_machine(out, word, false, &ok), !ok) || out->instance;
}

bool words_need_machines(const Command *command, int argc, char **argv) {
    Arena arena = {0};
    Replaced out = {.command = command, .arena = &arena};
    static const char *const LOADS[] = {"--rate",   "@tokens_rate", "--concurrency", "--finish-in",
                                        "--budget", "@daily",       "@every",        "@number user_daily"};
    bool loaded = false;
    replaced_look_ahead(&out, argc, argv);
    for (int i = 1; i < argc; i++) {
        Meaning meaning;
        const char *value = strchr(argv[i], '=') ? strchr(argv[i], '=') + 1 : i + 1 < argc ? argv[i + 1] : NULL;
        bool is = argv[i][0] == '-' && replaced_meaning(&out, argv[i], value, &meaning) && meaning.own < 0;
        for (size_t k = 0; k < COUNT_OF(LOADS) && is; k++) loaded = loaded || meaning_is(&meaning, LOADS[k]);
        loaded = loaded || (is && meaning_is(&meaning, "--objective cost"));
        note_machine(&out, argv[i]);
        out.sized = out.sized || strncmp(argv[i], "--from", 6) == 0 || strcmp(argv[i], "--help") == 0 ||
                    strncmp(argv[i], "--slice", 7) == 0;
    }
    bool sized = out.sized || out.conditions || out.roles;
    arena_free(&arena);
    return loaded && !sized;
}

bool words_say(int argc, char **argv, WordsOf what) {
    Arena arena = {0};
    Replaced out = reading_of(&arena, argc, argv);
    for (int i = 1; i < argc && what == WORDS_MACHINE; i++) {
        note_machine(&out, argv[i]);
        out.sized = out.sized || (argv[i][0] != '-' && replaced_is_chip(&out, argv[i]));
    }
    arena_free(&arena);
    for (int i = 1; i < argc && what == WORDS_TUNE; i++) out.tuned = out.tuned || strcmp(argv[i], "--help") == 0;
    if (what == WORDS_MACHINE) return out.sized || out.counted || out.vram;
    return what == WORDS_DIVIDE ? out.roles != 0 : out.tuned || (what == WORDS_TRAIN && out.trained);
}
