/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words without an option: "llama 8b on 64 a100 40gb, 16k context". */
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/replaced.h"
#include "search/cli/synonyms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_among(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(words[i], word) == 0) return true;
    return false;
}

bool replaced_is_filler(const char *word) {
    for (int i = 0; i < WORD_ROW_COUNT; i++)
        if (strcmp(WORD_ROWS[i].cell[0], "filler") == 0) return word_among(WORD_ROWS[i].cell[1], word);
    return false;
}

/* What is trained, or how, in one word: "lora", as an option; NULL: it is none, or the command has no such option. */
static const char *way_of(const Replaced *out, const char *word) {
    const WordRow *row = word_row("command", word);
    const char *option = row ? row->cell[3] : NULL;
    bool has = option && option[0] && command_option(out->command, option + 2, strcspn(option + 2, "=")) >= 0;
    return has ? option : NULL;
}

/* "64", "x8", "one": how many; 0: it is no number. */
static int64_t count_of(const char *word) {
    static const char *const NUMBERS[] = {"one", "two", "three", "four", "five", "six", "seven", "eight"};
    for (size_t i = 0; i < COUNT_OF(NUMBERS); i++)
        if (strcasecmp(NUMBERS[i], word) == 0) return (int64_t)i + 1;
    const char *digits = word + (tolower((unsigned char)word[0]) == 'x' || word[0] == '~');
    size_t length = strspn(digits, "0123456789"), end = length + (tolower((unsigned char)digits[length]) == 'x');
    return length > 0 && length < 9 && digits[end] == '\0' ? atoll(digits) : 0;
}

/* A chip in one word or two ("H100s", "rtx 4090", "a100 40gb") into `name`: how many words; 0: it is none. */
static int chip_words(Replaced *out, char **words, int left, char name[64]) {
    char two[64];
    bool sized = left > 1 && isdigit((unsigned char)words[1][0]) && strlen(words[1]) > 2 &&
                 strcasecmp(words[1] + strlen(words[1]) - 2, "gb") == 0;
    snprintf(name, 64, "%.60s", words[0]);
    if (left > 1 && snprintf(two, sizeof two, "%.30s-%.*s", words[0], (int)strlen(words[1]) - sized, words[1]) < 64 &&
        replaced_is_chip(out, two) && (sized || !replaced_is_chip(out, words[0])))
        return snprintf(name, 64, "%s", two), 2;
    size_t length = strlen(name);
    if (!replaced_is_chip(out, name) && length > 2 && tolower((unsigned char)name[length - 1]) == 's')
        name[length - 1] = '\0';
    return !replaced_is_chip(out, name) ? 0 : sized ? 2 : 1;
}

/* By the name that the catalog has, so that "H100" and an instance of it are the same word. */
static bool add_chip(Replaced *out, const char *name) {
    const Chip *chip = catalog_find(replaced_catalog(out), name);
    return replaced_add(out, "--chip=%s", chip ? chip->name : name);
}

/* A machine in words: "64 a100", "h100 x8", "p4d.24xlarge x 16". Returns as Replaced.word does; -1: it is none. */
static int part_of_machine(Replaced *out, char **words, int left) {
    char name[64];
    if (!replaced_has(out, "chip")) return -1;
    int at = strcasecmp(words[0], "x") == 0 && left > 1, taken = 0;
    int64_t count = count_of(words[at]);
    if (count > 0) {
        bool cloud = out->instance > 0 || strpbrk(words[-1], "._") || strstr(words[-1], "gpu-");
        bool follows = replaced_is_chip(out, words[-1]) || (out->instance > 0 && !out->sized);
        if (!follows) taken = left > at + 1 ? chip_words(out, words + at + 1, left - at - 1, name) : 0;
        if (!follows && taken == 0) return -1;
        bool ok = true;
        int each = 0; /* "4x p5.48xlarge": so many instances */
        if (taken > 0 && (strpbrk(name, "._") || strstr(name, "gpu-"))) {
            ok = replaced_add(out, "--nodes=%lld", (long long)count) && (out->sized = true);
            if (ok && !(catalog_instance(replaced_catalog(out), name, &each) && replaced_machine(out, name, true, &ok)))
                ok = add_chip(out, name);
            return ok ? at + 1 + taken : 0;
        }
        if (!replaced_add(out, "--%s=%lld", follows && cloud ? "nodes" : "chips", (long long)count)) return 0;
        out->sized = true;
        return taken > 0 && !add_chip(out, name) ? 0 : at + 1 + taken;
    }
    taken = chip_words(out, words, left, name);
    return taken == 0 ? -1 : add_chip(out, name) ? taken : 0;
}

/* A number and its unit: "60 days", "16k context", "15T tokens". Returns as Replaced.word does; -1: it is none. */
static int number_of_unit(Replaced *out, char **words, int left) {
    static const struct {
        const char *unit, *option, *after;
    } UNITS[] = {{"days", "--deadline", "d"},        {"day", "--deadline", "d"},     {"hours", "--deadline", "h"},
                 {"context", "--context", ""},       {"ctx", "--context", ""},       {"seq", "--seq", ""},
                 {"epochs", "--epochs", ""},         {"users", "--concurrency", ""}, {"nodes", "--nodes", ""},
                 {"concurrent", "--concurrency", ""}};
    if (left < 2 || !isdigit((unsigned char)words[0][0])) return -1;
    char *end = words[0] + strspn(words[0], "0123456789.");
    if (strcasecmp(words[1], "tokens") == 0 && *end && strchr("BTbt", *end)) {
        char *tokens = arena_format(out->arena, "--tokens=%s", words[0]);
        return tokens && out->word(out, &tokens, 1) ? 2 : 0;
    }
    if (strcasecmp(words[1], "tokens/s") == 0 || strcasecmp(words[1], "tok/s") == 0)
        return !replaced_has(out, "rate") ? -1 : (out->tokens_rate = strtod(words[0], NULL), out->any = true, 2);
    for (size_t i = 0; i < COUNT_OF(UNITS); i++)
        if (strcasecmp(words[1], UNITS[i].unit) == 0) {
            char *word = arena_format(out->arena, "%s=%s%s", UNITS[i].option, words[0], UNITS[i].after);
            return word && out->word(out, &word, 1) ? 2 : 0;
        }
    return -1;
}

/* "seq 4096", "model=gpt2", "bf16": an option without its hyphens. Returns as Replaced.word does; -1: it is none. */
static int bare_option(Replaced *out, char **words, int left) {
    bool inside = strchr(words[0], '=') != NULL, numbered = left > 1 && isdigit((unsigned char)words[1][0]);
    Meaning meaning;
    if (!isalpha((unsigned char)words[0][0])) return -1;
    bool known = replaced_meaning(out, words[0], numbered ? words[1] : NULL, &meaning);
    if (inside) {
        bool batch = strncmp(words[0], "batch=", 6) == 0; /* as 4M is meant */
        char *word = arena_format(out->arena, batch ? "--global-%s" : "--%s", words[0]);
        return !word || out->word(out, &word, 1) == 0 ? 0 : 1;
    }
    bool leaves =
        known && meaning.own < 0 && (meaning.any || word_among("pass switch note note= answer", meaning.what));
    bool flag = known && meaning.own < 0 && !leaves && strpbrk(meaning.what, " =") && !strstr(meaning.what, "{}");
    if (!known || leaves || (!numbered && !flag)) return -1;
    bool batch = strncmp(words[0], "batch", 5) == 0;
    char *word = flag ? arena_format(out->arena, "--%s", words[0])
                      : arena_format(out->arena, "--%s=%s", batch ? "global-batch" : words[0], words[1]);
    return !word ? 0 : out->word(out, &word, 1) ? 1 + !flag : 0;
}

/* A model in one word or two, "llama 70b": how many words; 0: it is none. */
static int model_words(char **words, int left, char name[96]) {
    if (left > 1 && snprintf(name, 96, "%.60s-%.30s", words[0], words[1]) < 96 && isalpha((unsigned char)words[0][0]) &&
        isdigit((unsigned char)words[1][0]) && word_is_model(name))
        return 2;
    snprintf(name, 96, "%.95s", words[0]);
    return word_is_model(name) ? 1 : 0;
}

int replaced_stray(Replaced *out, char **words, int left) {
    char *word = words[0], name[96];
    bool ok = true, json = strlen(word) > 5 && strcmp(word + strlen(word) - 5, ".json") == 0;
    size_t number = *word == '$' ? strspn(word + 1, "0123456789.") : 0;
    if (number > 0 && replaced_has(out, "price")) { /* "$1.80/gpu-hour", "$2M" */
        bool all = word[number + 1] && strchr("kKmM", word[number + 1]);
        return !all                          ? replaced_add(out, "--price=%.*s", (int)number, word + 1)
               : replaced_has(out, "budget") ? replaced_add(out, "--budget=%s", word + 1)
                                             : replaced_keep(out, word);
    }
    const char *way = way_of(out, word);
    if (way) return replaced_add(out, "%s", way);
    int read = number_of_unit(out, words, left);
    if (read < 0) read = part_of_machine(out, words, left);
    if (read >= 0) return read;
    if (replaced_is_filler(word)) return out->any = true, 1;
    if (replaced_machine(out, word, out->sized, &ok)) return ok;
    read = bare_option(out, words, left);
    if (read >= 0) return read;
    bool may = !out->model && !json && word[0] && replaced_has(out, "model");
    int model = may ? model_words(words, left, name) : 0;
    if (model == 0 && out->sentence) return out->any = true, 1;
    if (model == 0 && may) model = 1; /* the error names it */
    if (model == 0) return replaced_keep(out, word);
    out->model = true;
    return replaced_add(out, "--model=%s", model > 1 ? name : word) ? model : 0;
}

/* ---- questions ---- */

bool is_question(int argc, char **argv) {
    static const char *const WORDS[] = {"how",  "can",    "what",    "which", "is",       "does",
                                        "will", "whatif", "what-if", "why",   "cheapest", "best"};
    char first[16];
    snprintf(first, sizeof first, "%.*s", (int)min_whole(15, (int64_t)strcspn(argv[1], " ")), argv[1]);
    bool explains = strcmp(argv[1], "explain") == 0 && argc > 4;
    for (int i = 2; i < argc && explains; i++) explains = argv[i][0] != '-';
    return is_among(first, WORDS, COUNT_OF(WORDS)) || explains;
}

/* What a question wants, by the words in it. */
typedef struct {
    bool serves, tunes, reinforces, trains, cheapest, many, goal, loaded, chip;
} Wanted;

static void note_word(Wanted *wanted, const char *word) {
    static const char *const SERVE[] = {"serve", "serving", "inference", "infer", "deploy",
                                        "host",  "--serve", "fit",       "fits"};
    static const char *const TUNE[] = {"finetune", "fine-tune", "finetuning", "fine-tuning", "lora", "qlora", "tune"};
    static const char *const REINFORCE[] = {"rl", "grpo", "ppo", "rlhf"};
    static const char *const TRAIN[] = {"train", "training", "pretrain", "pre-train"};
    static const char *const GOAL[] = {"days", "day", "weeks", "months"};
    wanted->serves = wanted->serves || is_among(word, SERVE, COUNT_OF(SERVE));
    wanted->tunes = wanted->tunes || is_among(word, TUNE, COUNT_OF(TUNE));
    wanted->reinforces = wanted->reinforces || is_among(word, REINFORCE, COUNT_OF(REINFORCE));
    wanted->trains = wanted->trains || is_among(word, TRAIN, COUNT_OF(TRAIN));
    wanted->goal = wanted->goal || is_among(word, GOAL, COUNT_OF(GOAL));
    wanted->loaded = wanted->loaded || strcasecmp(word, "tokens/s") == 0 || strcasecmp(word, "tok/s") == 0;
    wanted->cheapest = wanted->cheapest || strcasecmp(word, "cheapest") == 0;
    wanted->many = wanted->many || strcasecmp(word, "many") == 0;
}

char **question_words(int *argc, char **argv, Arena *arena, char **command) {
    size_t room = 8;
    for (int i = 1; i < *argc; i++) room += strlen(argv[i]) / 2 + 1;
    char **words = ARENA_NEW(arena, char *, room);
    Wanted wanted = {0};
    int count = 1;
    for (int i = 1; words && i < *argc; i++) {
        char *text = arena_text(arena, argv[i]), *rest = NULL;
        for (char *word = text ? strtok_r(text, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest)) {
            size_t length = strlen(word);
            while (length > 1 && strchr("?!,;.", word[length - 1])) word[--length] = '\0';
            note_word(&wanted, word);
            wanted.chip = wanted.chip || strncmp(word, "--chip", 6) == 0 || strncmp(word, "--gpu", 5) == 0;
            if (strcmp(word, "--serve") != 0) words[count++] = word;
        }
    }
    if (!words) return NULL;
    words[0] = words[count] = "--question";
    bool serves = wanted.serves && !wanted.trains && !wanted.tunes, sweeps = !wanted.tunes && !wanted.reinforces;
    *command = wanted.reinforces ? "rl" : serves ? "inference" : "plan";
    if (serves && (wanted.cheapest || wanted.many)) {
        *command = "sweep";
        memmove(words + 2, words + 1, (size_t)(count - 1) * sizeof *words);
        words[1] = "inference", count++;
        if (wanted.cheapest) words[count++] = "--chip=h100,h200,b200,mi300x,l40s";
        words[count++] = wanted.cheapest ? "--chips=8" : "--chips=1,2,4,8,16,32";
    } else if (sweeps && !serves && wanted.goal) {
        *command = "sweep";
    }
    if (wanted.tunes) words[count++] = "--lora";
    words[count++] = "--question";
    *argc = count;
    return words;
}
