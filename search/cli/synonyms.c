/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/synonyms.h"

#include "base/number.h"
#include "base/util.h"
#include "mesh/chip_json.h"
#include "search/cli/synonym_table.h"
#include "search/cli/typed_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int option_of(const Command *command, const char *name, size_t length) {
    for (int i = 0; i < command->option_count; i++)
        if (command_has_option(command, i) && strlen(command->options[i].name) == length &&
            strncmp(command->options[i].name, name, length) == 0)
            return i;
    return -1;
}

int option_synonyms(const Command *command, const char **names, int room) {
    int count = 0;
    for (size_t i = 0; i < (size_t)SYNONYM_COUNT && count < room; i++) {
        const char *needs = SYNONYMS[i].condition ? "require" : SYNONYMS[i].option;
        if (option_of(command, needs, strlen(needs)) >= 0) names[count++] = SYNONYMS[i].word;
    }
    return count;
}

const char *command_synonym(const char *word) {
    static const char *const WORDS[][2] = {
        {"optimize", "plan"},   {"search", "plan"},  {"list", "models"},        {"--list-models", "models"},
        {"serve", "inference"}, {"export", "emit"},  {"--list-chips", "chips"}, {"compare", "diff"},
        {"show", "explain"},    {"solve", "layout"}, {"gate", "check"},         {"serving", "inference"},
        {"launch", "emit"},     {"gpus", "chips"},   {"convert", "emit"},       {"fit", "calibrate"},
        {"tune", "plan"},       {"train", "plan"},   {"finetune", "plan"},      {"fine-tune", "plan"}};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (strcmp(WORDS[i][0], word) == 0) return WORDS[i][1];
    return NULL;
}

/* The synonym that a word is, where the command lacks an option of that name and has what it stands for; NULL: none. */
static const Synonym *synonym_of(const Command *command, const char *word) {
    if (strncmp(word, "--", 2) != 0) return NULL;
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    if (option_of(command, name, length) >= 0) return NULL;
    for (size_t i = 0; i < (size_t)SYNONYM_COUNT; i++) {
        const Synonym *synonym = &SYNONYMS[i];
        const char *needs = synonym->condition ? "require" : synonym->option;
        if (strlen(synonym->word) == length && strncmp(synonym->word, name, length) == 0 &&
            option_of(command, needs, strlen(needs)) >= 0)
            return synonym;
    }
    return NULL;
}

/* The words as they become. */
typedef struct {
    const Command *command;
    Arena *arena;
    char **words;
    int count;
    char *conditions;   /* of --require: NULL means none */
    const char *advice; /* NULL: none */
    bool any, sized;    /* something became another word; the line says how large the machine is */
    bool model;         /* it has --model */
    bool ranked;        /* it says the rank of adapters */
    int instance;       /* chips of a cloud's instance that is named; 0: none is */
    Catalog catalog;    /* catalog_of() */
    bool read;
} Replaced;

/* The chips, read when a word may be one; without any where they cannot be read, which is the command's to say. */
static const Catalog *catalog_of(Replaced *out) {
    Error unread = {0};
    if (!out->read && !catalog_load(out->arena, &out->catalog, &unread)) out->catalog.count = 0;
    out->read = true;
    return &out->catalog;
}

static bool add_condition(Replaced *out, const char *condition) {
    out->conditions = out->conditions ? arena_format(out->arena, "%s %s", out->conditions, condition)
                                      : arena_text(out->arena, condition);
    return out->conditions != NULL;
}

/* `--output` of a command that answers with tokens, and a number: how many tokens, as it once was. */
static bool is_answer_length(const Replaced *out, const char *word, const char *value) {
    double tokens;
    Error ignored = {0};
    size_t first = value ? strcspn(value, ",") : 0; /* of a list of `sweep inference` the first */
    char number[32];
    if (strncmp(word, "--output", 8) != 0 || (word[8] && word[8] != '=') || first == 0 || first >= sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)first, value);
    return option_of(out->command, "answer", 6) >= 0 && number_real(number, "", 0, 1e18, &tokens, &ignored);
}

/* "4M", "16Mi": nobody has as many sequences in a batch, so that these are tokens. */
static bool is_millions(const char *value) {
    size_t digits = value ? strspn(value, "0123456789.") : 0;
    return digits > 0 && toupper((unsigned char)value[digits]) == 'M';
}

/* Whether a chip is called so: rtx4090 is no 4,090 of anything. */
static bool is_chip(Replaced *out, const char *name) { return catalog_find(catalog_of(out), name); }

/* An instance of a cloud as a chip, of which --nodes counts instances; false: it is none (*ok), or memory is out. */
static bool add_instance(Replaced *out, const char *word, bool *ok) {
    int chips = 0;
    bool may = isalpha((unsigned char)word[0]) && strpbrk(word, ".-_"); /* as all of their names have */
    const Chip *chip = may ? catalog_instance(catalog_of(out), word, &chips) : NULL;
    if (!chip) return false;
    out->any = true;
    out->instance = chips;
    out->words[out->count++] = arena_format(out->arena, "--chip=%s", chip->name);
    *ok = out->words[out->count - 1] != NULL;
    return true;
}

/* --nodes of instances as chips; without a number it is one instance. */
static bool count_instances(Replaced *out) {
    char *last = NULL;
    for (int i = 1; i < out->count; i++) {
        bool own = strcmp(out->words[i], "--nodes") == 0 && i + 1 < out->count;
        if (!own && strncmp(out->words[i], "--nodes=", 8) != 0) continue;
        const char *value = own ? out->words[i + 1] : out->words[i] + 8;
        long nodes = strspn(value, "0123456789") == strlen(value) && strlen(value) < 8 ? strtol(value, NULL, 10) : 0;
        if (nodes == 0) return true; /* the error is the option's own */
        out->words[i] = last = arena_format(out->arena, "--chips=%ld", nodes * out->instance);
        if (own) memmove(out->words + i + 1, out->words + i + 2, (size_t)(--out->count - i - 1) * sizeof *out->words);
        if (!last) return false;
    }
    if (last || out->sized) return true;
    out->words[out->count++] = last = arena_format(out->arena, "--chips=%d", out->instance);
    return last != NULL;
}

/* A machine in one word, "8xH200" or "v5litepod-256", as options. False: it is none (*ok), or memory is out. */
static bool add_machine(Replaced *out, const char *word, bool sized, bool *ok) {
    char name[64], count[64];
    bool slice = typed_slice(word) && option_of(out->command, "slice", 5) >= 0;
    if (option_of(out->command, "chip", 4) < 0) return false;
    if (add_instance(out, word, ok)) return true;
    if (!slice && !typed_chips(word, name, count, sizeof name)) return false;
    if (!slice && isalpha((unsigned char)word[0]) && (is_chip(out, word) || !is_chip(out, name))) return false;
    out->any = true;
    out->words[out->count++] =
        slice ? arena_format(out->arena, "--slice=%s", word) : arena_format(out->arena, "--chip=%s", name);
    *ok = out->words[out->count - 1] != NULL;
    if (slice || sized || !*ok) return true;
    out->words[out->count++] = arena_format(out->arena, "--chips=%s", count);
    return *ok = out->words[out->count - 1] != NULL, true;
}

/* The degree or knob that letters stand for, "tp" tensor; NULL: none. */
static const char *condition_of(const char *word, size_t letters) {
    for (const Synonym *synonym = SYNONYMS; synonym < SYNONYMS + (size_t)SYNONYM_COUNT; synonym++)
        if (synonym->condition && strlen(synonym->word) == letters && strncasecmp(synonym->word, word, letters) == 0)
            return synonym->condition;
    return NULL;
}

/* "TP8-PP2", "tp=8,pp=2" as a plan, "tensor=8 pipeline=2"; NULL: it is none, or memory is out. */
static char *plan_of_degrees(const char *word, Arena *arena) {
    char *plan = NULL;
    for (const char *at = word; *at;) {
        size_t letters = 0;
        while (isalpha((unsigned char)at[letters])) letters++;
        const char *condition = condition_of(at, letters);
        const char *number = at + letters + (at[letters] == '=' || at[letters] == '-');
        size_t digits = strspn(number, "0123456789");
        if (!condition || digits == 0) return NULL;
        plan = arena_format(arena, "%s%s%s=%.*s", plan ? plan : "", plan ? " " : "", condition, (int)digits, number);
        if (!plan) return NULL;
        at = number + digits;
        at += strspn(at, "-_, ");
    }
    return plan;
}

/* A machine or a plan in one word, as the value of an option. False: it is none (*ok), or memory is out. */
static bool add_typed(Replaced *out, const char *option, const char *value, bool *ok) {
    size_t length = strcspn(option, "=");
    bool chips = length == 5 && strncmp(option, "chips", 5) == 0, chip = length == 4 && strncmp(option, "chip", 4) == 0;
    if (chips || chip) return add_machine(out, value, chip && out->sized, ok);
    char *plan = length == 4 && strncmp(option, "plan", 4) == 0 ? plan_of_degrees(value, out->arena) : NULL;
    if (!plan) return false;
    out->any = true;
    out->words[out->count++] = arena_format(out->arena, "--plan=%s", plan);
    *ok = out->words[out->count - 1] != NULL;
    return true;
}

/* What is trained, or how, in one word: "lora", as an option; NULL: it is none, or the command has no such option. */
static const char *way_of(const Replaced *out, const char *word) {
    const Way *way = way_named(word);
    return way && option_of(out->command, way->option + 2, strcspn(way->option + 2, "=")) >= 0 ? way->option : NULL;
}

/* Words between the others: "on 64 h100". */
static bool is_filler(const char *word) {
    static const char *const WORDS[] = {"on", "with", "using", "for", "serve", "of", "to"};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (strcasecmp(WORDS[i], word) == 0) return true;
    return false;
}

/* "64" and "x8" next to a chip as --chips, "h100" as --chip; NULL: it is none of them, or memory is out. */
static char *part_of_machine(Replaced *out, char **words, int left) {
    const char *digits = words[0] + (tolower((unsigned char)words[0][0]) == 'x');
    if (option_of(out->command, "chip", 4) < 0) return NULL;
    if (digits[0] && strspn(digits, "0123456789") == strlen(digits))
        return is_chip(out, words[-1]) || (left > 1 && is_chip(out, words[1]))
                   ? arena_format(out->arena, "--chips=%s", digits)
                   : NULL;
    return is_chip(out, words[0]) ? arena_format(out->arena, "--chip=%s", words[0]) : NULL;
}

/* A word without an option: the machine, or else the model; one is before it. Returns as replace_word() does. */
static int replace_stray(Replaced *out, char **words, int left) {
    char *word = words[0];
    bool ok = true, json = strlen(word) > 5 && strcmp(word + strlen(word) - 5, ".json") == 0;
    if (is_filler(word)) return out->any = true, 1;
    const char *way = way_of(out, word);
    char *option = way ? arena_text(out->arena, way) : part_of_machine(out, words, left);
    if (option) return out->words[out->count++] = option, out->any = true, 1;
    if (add_machine(out, word, out->sized, &ok)) return ok;
    bool model = !out->model && !json && word[0] && option_of(out->command, "model", 5) >= 0;
    out->any = out->any || model;
    out->model = out->model || model;
    out->words[out->count++] = model ? arena_format(out->arena, "--model=%s", word) : word;
    return out->words[out->count - 1] != NULL;
}

/* "--lora_rank" is "--lora-rank", where that is no option's own name; NULL: memory is out. */
static char *with_hyphens(Replaced *out, char *word) {
    size_t length = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || !memchr(word, '_', length) || option_of(out->command, word + 2, length - 2) >= 0)
        return word;
    char *copy = arena_text(out->arena, word);
    for (size_t i = 0; copy && i < length; i++)
        if (copy[i] == '_') copy[i] = '-';
    out->any = true;
    return copy;
}

/* "--name" or "--name=value". */
static bool is_option(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

/* `--method lora`. Returns as replace_word() does; -1: it is none. */
static int replace_method(Replaced *out, const char *word, char **words, int left) {
    static const char *const METHODS[] = {"--method", "--peft", "--finetuning-type", "--rlhf-type"};
    for (size_t i = 0; i < COUNT_OF(METHODS) && left > 1; i++)
        if (strcmp(word, METHODS[i]) == 0 && way_of(out, words[1]))
            return out->ranked && strcasecmp(words[1], "lora") == 0 ? 2
                   : replace_stray(out, words + 1, left - 1)        ? 2
                                                                    : 0;
    return -1;
}

/* `--gpus-per-node 8`: --nodes counts hosts of so many. */
static bool is_host_size(Replaced *out, const char *word, const char *value) {
    int64_t chips;
    Error not_whole = {0};
    if (!is_option(word, "--gpus-per-node") && !is_option(word, "--nproc-per-node")) return false;
    if (!value || !number_whole(value, "", 1, 1024, &chips, &not_whole)) return false;
    out->any = true;
    out->instance = (int)chips;
    return true;
}

/* One word and, where its option takes a value that is not in the word, the next one. Returns how many were read; 0:
 * memory is out. */
static int replace_word(Replaced *out, char **words, int left) {
    char *word = with_hyphens(out, words[0]); /* the words may lie where nothing is written */
    if (!word) return 0;
    if (strcmp(word, "--format=md") == 0 ||
        (left > 1 && strcmp(word, "--format") == 0 && strcmp(words[1], "md") == 0)) {
        out->any = true;
        out->words[out->count++] = arena_text(out->arena, "--format=markdown");
        return !out->words[out->count - 1] ? 0 : word[8] ? 1 : 2;
    }
    bool lora = strcmp(word, "--lora") == 0 || strcmp(word, "--qlora") == 0;
    if (lora && option_of(out->command, "lora", 4) >= 0) { /* the rank may be left out */
        bool said = left > 1 && words[1][0] != '-';
        out->any = true;
        out->words[out->count++] = arena_format(out->arena, "%s=%s", word, said ? words[1] : "16");
        return !out->words[out->count - 1] ? 0 : said ? 2 : 1;
    }
    int method = replace_method(out, word, words, left);
    if (method >= 0) return method;
    const Synonym *synonym = synonym_of(out->command, word);
    const char *inside = strchr(word, '='), *value = inside ? inside + 1 : left > 1 ? words[1] : NULL;
    if (is_host_size(out, word, value)) return inside ? 1 : 2;
    if (is_answer_length(out, word, value)) {
        static const Synonym LENGTH = {.word = "output N", .option = "answer", .advised = true};
        synonym = &LENGTH;
    }
    bool ok = true;
    static const Synonym TOKENS = {.word = "batch", .option = "batch"};
    if (synonym && synonym->option && strcmp(synonym->option, "sequences") == 0 && is_millions(value))
        synonym = &TOKENS;
    const char *option = synonym && synonym->option && !synonym->value ? synonym->option : word;
    if (value && strncmp(word, "--", 2) == 0 && add_typed(out, option + (option == word ? 2 : 0), value, &ok))
        return !ok ? 0 : inside ? 1 : 2;
    bool is_require = strcmp(word, "--require") == 0 || strncmp(word, "--require=", 10) == 0;
    if (!synonym && !is_require) {
        out->words[out->count++] = word;
        return 1;
    }
    out->any = out->any || synonym;
    if (synonym && synonym->advised)
        out->advice = arena_format(out->arena, "--%s is called --%s now", synonym->word, synonym->option);
    if (synonym && synonym->value && synonym->condition)
        return (value = arena_format(out->arena, "%s=%s", synonym->condition, synonym->value)) &&
               add_condition(out, value);
    if (synonym && synonym->value) {
        out->words[out->count++] = arena_format(out->arena, "--%s=%s", synonym->option, synonym->value);
        return out->words[out->count - 1] ? 1 : 0;
    }
    if (!value) { /* the error of a missing value is popt's */
        out->words[out->count++] =
            arena_format(out->arena, "--%s", is_require || synonym->condition ? "require" : synonym->option);
        return out->words[out->count - 1] ? 1 : 0;
    }
    if (is_require)
        ok = add_condition(out, value);
    else if (synonym->condition)
        ok = (value = arena_format(out->arena, "%s=%s", synonym->condition, value)) && add_condition(out, value);
    else
        ok = (out->words[out->count++] = arena_format(out->arena, "--%s=%s", synonym->option, value)) != NULL;
    return !ok ? 0 : inside ? 1 : 2;
}

/* Who counts GPUs does not mean the default chip, which is none. */
static bool counts_gpus_of_nothing(const Replaced *out, int argc, char **argv, Error *error) {
    bool gpus = false, chip = option_of(out->command, "chip", 4) < 0;
    static const char *const COUNTS[] = {"--gpus",          "--num-gpus",       "--num_gpus",      "--ngpu",
                                         "--gpus-per-node", "--nproc-per-node", "--gpus_per_node", "--nproc_per_node"};
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < COUNT_OF(COUNTS); k++) gpus = gpus || is_option(argv[i], COUNTS[k]);
    for (int i = 0; i < out->count; i++)
        chip = chip || is_option(out->words[i], "--chip") || strncmp(out->words[i], "--from", 6) == 0 ||
               is_option(out->words[i], "--help");
    if (!gpus || chip) return false;
    error_set(error, ERROR_INPUT, "--gpus", "has no chip; give one of `shardopt chips` too, say --chip h100");
    return true;
}

/* Whether the word is an option whose value is the next one. */
static bool takes_next(const Command *command, const char *word) {
    if (word[0] != '-' || strchr(word, '=')) return false;
    for (int i = 0; i < command->option_count; i++) {
        const CommandOption *option = &command->options[i];
        if (!command_has_option(command, i)) continue;
        bool named = word[1] == '-' ? strcmp(word + 2, option->name) == 0
                                    : option->letter && word[strlen(word) - 1] == option->letter;
        if (named) return option->takes != NULL;
    }
    return true; /* one that nobody knows: the error is its own */
}

/* Whether degrees are the plan itself: `explain --tp 8 --pp 2`. */
static bool is_plan(const Replaced *out) {
    if (strcmp(out->command->name, "explain") != 0) return false;
    for (int i = 1; i < out->count; i++)
        if (is_option(out->words[i], "--plan") || strncmp(out->words[i], "--from", 6) == 0) return false;
    return true;
}

bool synonyms_replace(CommandLine *line, int *argc, char ***argv, Error *error) {
    const Command *command = line->command;
    Arena *arena = line->arena;
    Replaced out = {.command = command, .arena = arena, .words = ARENA_NEW(arena, char *, 2 * (size_t)*argc + 2)};
    if (!out.words) return error_memory(error);
    for (int i = 1; i < *argc; i++) {
        static const char *const SIZES[] = {"--nodes", "--num-nodes", "--chips", "--gpus", "--pods", "--slice"};
        for (size_t k = 0; k < COUNT_OF(SIZES); k++) out.sized = out.sized || is_option((*argv)[i], SIZES[k]);
        static const char *const RANKS[] = {"--lora-r", "--lora_r", "--lora-rank", "--lora_rank", "--rank"};
        for (size_t k = 0; k < COUNT_OF(RANKS); k++) out.ranked = out.ranked || is_option((*argv)[i], RANKS[k]);
        out.model = out.model || is_option((*argv)[i], "--model") || strncmp((*argv)[i], "--from", 6) == 0;
    }
    for (int i = 0; i < *argc;) {
        bool ends = i > 0 && strcmp((*argv)[i], "--") == 0; /* what follows is no option */
        bool stray = (*argv)[i][0] != '-' && !command->takes_arguments && !takes_next(command, (*argv)[i - (i > 0)]);
        int read = i == 0  ? 1
                   : ends  ? *argc - i
                   : stray ? replace_stray(&out, *argv + i, *argc - i)
                           : replace_word(&out, *argv + i, *argc - i);
        if (read == 0) return error_memory(error);
        for (int k = 0; (i == 0 || ends) && k < read; k++) out.words[out.count++] = (*argv)[i + k];
        i += read;
    }
    if (out.instance && !count_instances(&out)) return error_memory(error);
    if (counts_gpus_of_nothing(&out, *argc, *argv, error)) return false;
    if (!out.any) return true; /* as it was, a --require that is given twice with it */
    if (out.conditions &&
        !(out.words[out.count++] = arena_format(arena, "--%s=%s", is_plan(&out) ? "plan" : "require", out.conditions)))
        return error_memory(error);
    line->advice = out.advice;
    *argc = out.count;
    *argv = out.words;
    return true;
}
