/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/synonyms.h"

#include "base/number.h"
#include "base/util.h"
#include "search/cli/replaced.h"
#include "search/cli/synonym_table.h"
#include "search/cli/typed_words.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int option_synonyms(const Command *command, const char **names, int room) {
    int count = 0;
    for (size_t i = 0; i < (size_t)SYNONYM_COUNT && count < room; i++) {
        const char *needs = SYNONYMS[i].condition ? "require" : SYNONYMS[i].option;
        if (replaced_option(command, needs, strlen(needs)) >= 0) names[count++] = SYNONYMS[i].word;
    }
    return count;
}

const char *command_synonym(const char *word) {
    static const char *const WORDS[][2] = {
        {"optimize", "plan"},        {"search", "plan"},      {"list", "models"},
        {"--list-models", "models"}, {"serve", "inference"},  {"export", "emit"},
        {"--list-chips", "chips"},   {"compare", "diff"},     {"show", "explain"},
        {"solve", "layout"},         {"gate", "check"},       {"serving", "inference"},
        {"pretrain", "plan"},        {"ft", "plan"},          {"cost", "plan"},
        {"estimate", "plan"},        {"memory", "plan"},      {"size", "plan"},
        {"infer", "inference"},      {"deploy", "inference"}, {"rlhf", "rl"},
        {"openrlhf", "rl"},          {"verl", "rl"},          {"nemo-rl", "rl"},
        {"launch", "emit"},          {"gpus", "chips"},       {"convert", "emit"},
        {"fit", "calibrate"},        {"tune", "plan"},        {"train", "plan"},
        {"finetune", "plan"},        {"fine-tune", "plan"}};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (strcmp(WORDS[i][0], word) == 0) return WORDS[i][1];
    return NULL;
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
    return replaced_option(out->command, "answer", 6) >= 0 && number_real(number, "", 0, 1e18, &tokens, &ignored);
}

/* "4M", "16Mi": nobody has as many sequences in a batch, so that these are tokens. */
static bool is_millions(const char *value) {
    size_t digits = value ? strspn(value, "0123456789.") : 0;
    return digits > 0 && toupper((unsigned char)value[digits]) == 'M';
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
    int hosts, each, end = 0; /* "768x8": hosts of so many */
    const char *times = strchr(value, 'x');
    if (chips && sscanf(value, "%6dx%4d%n", &hosts, &each, &end) == 2 && !value[end] &&
        !replaced_is_chip(out, times + 1))
        return *ok = replaced_add(out, "--chips=%lld", (long long)hosts * each), true;
    if (chips || chip) return replaced_machine(out, value, chip && out->sized, ok);
    char *plan = length == 4 && strncmp(option, "plan", 4) == 0 ? plan_of_degrees(value, out->arena) : NULL;
    if (!plan) return false;
    return *ok = replaced_add(out, "--plan=%s", plan), true;
}

static bool is_own(const Command *command, const char *word) {
    return replaced_option(command, word + 2, strcspn(word + 2, "=")) >= 0;
}

/* "--lora_rank" is "--lora-rank", "-tp" is "--tp", "--trainer.num_nodes" is "--num-nodes", where they are no options as
 * they stand; NULL: memory is out. */
static char *plain_option(Replaced *out, char *word) {
    bool brief = word[0] == '-' && isalpha((unsigned char)word[1]);
    if (!brief && strncmp(word, "--", 2) != 0) return word;
    const char *name = word + (brief ? 1 : 2);
    size_t length = strcspn(name, "=");
    if (!brief && replaced_option(out->command, name, length) >= 0) return word;
    for (int i = 0; i < out->command->option_count && brief && length == 1; i++)
        if (command_has_option(out->command, i) && out->command->options[i].letter == *name) return word;
    char *copy = arena_format(out->arena, "--%s", name);
    for (size_t i = 2; copy && i < length + 2; i++)
        if (copy[i] == '_') copy[i] = '-';
    for (const char *at = copy ? copy + 2 : NULL; at; at = memchr(at, '.', strcspn(at, "="))) {
        at += *at == '.';
        if (replaced_known(out->command, at)) return out->any = true, arena_format(out->arena, "--%s", at);
    }
    return brief || !copy || strcmp(copy, word) == 0 ? (copy ? word : NULL) : (out->any = true, copy);
}

/* `--method lora`. Returns as replaced_word() does; -1: it is none. */
static int replace_method(Replaced *out, const char *word, char **words, int left) {
    const char *inside = strchr(word, '=');
    char *value = inside ? arena_text(out->arena, inside + 1) : left > 1 ? words[1] : NULL;
    const Way *way = value ? way_named(value) : NULL;
    if (!replaced_is_any(word, METHODS, METHOD_COUNT) || !way ||
        replaced_option(out->command, way->option + 2, strcspn(way->option + 2, "=")) < 0)
        return -1;
    int read = inside ? 1 : 2;
    return out->ranked && strcasestr(value, "lora") ? read : replaced_stray(out, &value, 1) ? read : 0;
}

/* `--gpus-per-node 8`: --nodes counts hosts of so many; ZeRO by its stage, service levels, a network so many times
 * slower. Returns as replaced_word() does; -1: it is none of them. */
static int replace_by_value(Replaced *out, const char *word, const char *value, int read) {
    int64_t number;
    Error not_whole = {0};
    if (replaced_is(word, "--fsdp") && (!value || !isdigit((unsigned char)value[0])))
        return replaced_option(out->command, "require", 7) < 0 ? -1 : add_condition(out, "data=1 pipeline=1") ? 1 : 0;
    if (!value) return -1;
    if (replaced_is(word, "--config")) {
        bool model = strlen(value) > 5 && strcmp(value + strlen(value) - 5, ".json") == 0;
        if (replaced_option(out->command, model ? "model" : "from-config", model ? 5 : 11) < 0) return -1;
        return replaced_add(out, "--%s=%s", model ? "model" : "from-config", value) ? read : 0;
    }
    if (replaced_is_any(word, HOST_SIZES, HOST_SIZE_COUNT) && number_whole(value, "", 1, 1024, &number, &not_whole))
        return out->any = true, out->instance = (int)number, read;
    if (replaced_is(word, "--zero-stage") && replaced_option(out->command, "require", 7) >= 0 && strlen(value) == 1 &&
        strchr("0123", *value))
        return out->any = true,
               add_condition(out, *value == '3' ? "data=1 pipeline=1"
                                                : arena_format(out->arena, "fsdp=1 zero_stage=%s", value))
                   ? read
                   : 0;
    size_t digits = strspn(value, "0123456789.");
    if (replaced_is(word, "--per-device-batch-size") && out->maxtext && digits > 0 && !value[digits])
        return replaced_add(out, "--sequences=%s/device", value) && add_condition(out, "microbatches=1") ? read : 0;
    if (replaced_is(word, "--network") && digits > 0 && strcasecmp(value + digits, "x") == 0)
        return replaced_add(out, "--oversubscription=%.*s", (int)digits, value) ? read : 0;
    if (replaced_is(word, "--train-gpus") && number_whole(value, "", 1, 1 << 24, &number, &not_whole) &&
        replaced_option(out->command, "train-nodes", 11) >= 0)
        return replaced_add(out, "--train-nodes=%lld", (long long)(number % 8 == 0 ? number / 8 : number)) ? read : 0;
    if (!replaced_is(word, "--slo") && !replaced_is(word, "--sla")) return -1;
    for (const char *at = value; *at; at += strspn(at, ", ;")) {
        size_t name = strcspn(at, "<="), op = strspn(at + name, "<="), length = strcspn(at + name + op, ", ;");
        if (name == 0 || op == 0) return -1;
        if (!replaced_add(out, "--%.*s=%.*s", (int)name, at, (int)length, at + name + op)) return 0;
        at += name + op + length;
    }
    return read;
}

/* What engines are started with. Returns as replaced_word() does; -1: it is none of them. */
static int replace_of_engine(Replaced *out, const char *word, const char *value, int read) {
    static const char *const WIDTHS[] = {"auto", "bf16", "bfloat16", "float16", "fp16", "half"};
    static const char *const RATES[] = {"--throughput", "--target-throughput", "--total-throughput",
                                        "--output-throughput"};
    bool serving = replaced_is_serving(out->command);
    double number = value ? strtod(value, NULL) : 0;
    if (!value) return -1;
    if (replaced_is(word, "--vllm-mode") && replaced_option(out->command, "colocated", 9) >= 0)
        return strcasecmp(value, "colocate") != 0 || replaced_add(out, "--colocated") ? (out->any = true, read) : 0;
    for (size_t i = 0; i < COUNT_OF(WIDTHS) && serving && replaced_is(word, "--dtype"); i++)
        if (strcasecmp(value, WIDTHS[i]) == 0)
            return replaced_advise(out, "--dtype %s is of activations; --precision is of weights", value) ? read : 0;
    if (!serving || !(number > 0)) return -1;
    if (replaced_is_any(word, RATES, COUNT_OF(RATES))) return out->tokens_rate = number, out->any = true, read;
    if (!replaced_is(word, "--tokens-per-second")) return -1;
    return replaced_advise(out, "%s tokens/s are of a user: --tpot %.4gms", value, 1000 / number) &&
                   replaced_add(out, "--tpot=%.4gms", 1000 / number)
               ? read
               : 0;
}

/* Adapters, whose rank may be left out, or said by another option. Returns as replaced_word() does; -1: it is none. */
static int replace_adapters(Replaced *out, const char *word, char **words, int left) {
    if ((strcmp(word, "--lora") != 0 && strcmp(word, "--qlora") != 0) || replaced_option(out->command, "lora", 4) < 0)
        return -1;
    bool said = left > 1 && words[1][0] != '-';
    if (out->ranked && !said) return out->any = true, 1;
    return !replaced_add(out, "%s=%s", word, said ? words[1] : "16") ? 0 : said ? 2 : 1;
}

/* A condition of plans or of serving, whose data parallelism is copies, or ranks of attention. */
static bool add_degree(Replaced *out, const char *condition, const char *value) {
    bool serving = replaced_is_serving(out->command);
    if (serving && strcmp(condition, "ep") == 0) condition = "expert";
    if (serving && strcmp(condition, "data") == 0)
        condition = out->dp_attention || out->dp_experts ? "attention_data" : "copies";
    long tensor = serving && out->dp_attention && strcmp(condition, "tensor") == 0 ? strtol(value, NULL, 10) : 0;
    if (tensor > 0 && tensor % out->dp_attention == 0)
        value = arena_format(out->arena, "%ld", tensor / out->dp_attention);
    return value && (value = arena_format(out->arena, "%s=%s", condition, value)) && add_condition(out, value);
}

/* One that takes no value, or has its own; "colocated.enabled=false" is none. Returns as replaced_word() does. */
static int replace_switch(Replaced *out, const Synonym *synonym, const char *value, int read) {
    bool off = value && strcasecmp(value, "false") == 0;
    bool follows = value && (read == 1 || off || strcasecmp(value, "true") == 0 ||
                             (synonym->takes && strncmp(value, "--", 2) != 0));
    bool ok = off                  ? (out->any = true)
              : synonym->flag      ? replaced_add(out, "--%s", synonym->option)
              : synonym->condition ? (out->any = true, add_degree(out, synonym->condition, synonym->value))
                                   : replaced_add(out, "--%s=%s", synonym->option, synonym->value);
    return !ok ? 0 : follows ? read : 1;
}

/* An option by another program's name. Returns as replaced_word() does. */
static int replace_synonym(Replaced *out, const Synonym *synonym, const char *value, int read) {
    if (synonym->advised && !replaced_advise(out, "--%s is called --%s now", synonym->word, synonym->option)) return 0;
    if (synonym->ignored) {
        bool valued = value && (read == 1 || isdigit((unsigned char)value[0]) || strcasecmp(value, "true") == 0 ||
                                strcasecmp(value, "false") == 0 || synonym->takes);
        return replaced_advise(out, "--%s: %s", synonym->word, synonym->ignored) ? valued ? read : 1 : 0;
    }
    if (synonym->said && !replaced_advise(out, "--%s is read as %s", synonym->word, synonym->said)) return 0;
    if (synonym->flag || synonym->value) return replace_switch(out, synonym, value, read);
    out->any = true;
    if (!value) /* the error of a missing value is popt's */
        return replaced_add(out, "--%s", synonym->condition ? "require" : synonym->option);
    bool ok = true;
    if (synonym->format)
        value = arena_format(out->arena, "%s%s%s", synonym->before ? synonym->before : "", value, synonym->format);
    if (!value) return 0;
    if (synonym->condition && strcmp(value, "-1") == 0) return read; /* what the others leave */
    if (synonym->condition) return add_degree(out, synonym->condition, value) ? read : 0;
    static const char *const EMITTED[] = {"verl", "nemo-rl", "openrlhf", "slime", "trl"};
    for (size_t i = 0; i < COUNT_OF(EMITTED) && replaced_option(out->command, "lag", 3) >= 0; i++)
        if (strcmp(synonym->option, "for") == 0 && strcasecmp(value, EMITTED[i]) == 0)
            return replaced_advise(out, "--emit %s writes its configuration", EMITTED[i]) ? read : 0;
    bool rank = out->qlora && strcmp(synonym->option, "lora") == 0;
    const char *meant = replaced_size(out, synonym->option, value, &ok);
    return ok && replaced_add(out, "--%s=%s", rank ? "qlora" : synonym->option, meant ? meant : value) ? read : 0;
}

/* An option that says nothing which is priced is left out. Returns as replaced_word() does; -1: it is none of them. */
static int pass_over(Replaced *out, const char *word, const char *value, int read) {
    char name[96];
    bool takes, valued;
    snprintf(name, sizeof name, "%.*s", (int)min_whole((int64_t)strcspn(word, "="), 95), word);
    if (strncmp(name, "--", 2) != 0 || is_own(out->command, word) || !word_is_passed_over(name + 2, &takes)) return -1;
    valued = read == 1 || (value && (takes ? strncmp(value, "--", 2) != 0
                                           : strcasecmp(value, "true") == 0 || strcasecmp(value, "false") == 0));
    out->any = true;
    out->passed = arena_format(out->arena, "%s%s%s", out->passed ? out->passed : "", out->passed ? ", " : "", name);
    return !out->passed ? 0 : valued ? read : 1;
}

static int replaced_word(Replaced *out, char **words, int left) {
    char *word = plain_option(out, words[0]); /* the words may lie where nothing is written */
    if (!word) return 0;
    if (strcmp(word, "--format=md") == 0 || (left > 1 && strcmp(word, "--format") == 0 && strcmp(words[1], "md") == 0))
        return !replaced_add(out, "--format=markdown") ? 0 : word[8] ? 1 : 2;
    int done = replace_adapters(out, word, words, left);
    if (done < 0) done = replace_method(out, word, words, left);
    if (done >= 0) return done;
    const Synonym *synonym = replaced_synonym(out->command, word);
    const char *inside = strchr(word, '='), *value = inside ? inside + 1 : left > 1 ? words[1] : NULL;
    int read = inside ? 1 : 2;
    if ((done = replace_of_engine(out, word, value, read)) >= 0) return done;
    if ((done = replace_by_value(out, word, value, read)) >= 0) return done;
    if (is_answer_length(out, word, value)) {
        static const Synonym LENGTH = {.word = "output N", .option = "answer", .advised = true};
        synonym = &LENGTH;
    }
    bool ok = true;
    static const Synonym TOKENS = {.word = "batch", .option = "batch"};
    bool of_batch = synonym && synonym->option &&
                    (strcmp(synonym->option, "sequences") == 0 || strcmp(synonym->option, "batch") == 0);
    if (of_batch && is_millions(value)) {
        const char *meant = synonym ? replaced_size(out, "batch", value, &ok) : NULL;
        if (!ok) return 0;
        if (meant) value = meant;
        synonym = &TOKENS;
    }
    const char *option = synonym && synonym->option && !synonym->value && !synonym->ignored ? synonym->option : word;
    if (value && strcmp(option, "chips") == 0 && replaced_is_filler(value)) return out->any = true, read;
    if (value && strncmp(word, "--", 2) == 0 && add_typed(out, option + (option == word ? 2 : 0), value, &ok))
        return !ok ? 0 : read;
    bool is_require = replaced_is(word, "--require");
    if (synonym) return replace_synonym(out, synonym, value, read);
    if ((done = pass_over(out, word, value, read)) >= 0) return done;
    if (is_require) return !value ? replaced_add(out, "--require") : add_condition(out, value) ? read : 0;
    int own = strncmp(word, "--", 2) == 0 ? replaced_option(out->command, word + 2, strcspn(word + 2, "=")) : -1;
    const char *meant = own >= 0 && out->command->options[own].takes && value
                            ? replaced_value(out, out->command->options[own].name, value, &ok)
                            : NULL;
    if (meant || !ok) return ok && replaced_add(out, "--%s=%s", out->command->options[own].name, meant) ? read : 0;
    return replaced_keep(out, word);
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
        if (replaced_is(out->words[i], "--plan") || replaced_is(out->words[i], "--plans") ||
            strncmp(out->words[i], "--from", 6) == 0)
            return false;
    return true;
}

/* The words of `--slurm "--nodes=4 --gres=gpu:h100:8"` are words of the line. NULL: memory is out. */
static char **in_single_words(Arena *arena, int *argc, char **argv) {
    static const char *const LINES[] = {"--slurm", "--sbatch", "--srun"};
    size_t room = (size_t)*argc + 1;
    for (int i = 1; i < *argc; i++) room += strlen(argv[i]) / 2 + 1;
    char **words = ARENA_NEW(arena, char *, room);
    int count = 0;
    for (int i = 0; words && i < *argc; i++) {
        if (i == 0 || !replaced_is_any(argv[i], LINES, COUNT_OF(LINES)) || i + 1 >= *argc || strchr(argv[i], '=')) {
            words[count++] = argv[i];
            continue;
        }
        char *text = arena_text(arena, argv[++i]), *rest = NULL;
        for (char *word = text ? strtok_r(text, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest))
            words[count++] = word;
    }
    *argc = count;
    return words;
}

/* What the line says somewhere, which other words depend on. */
static void look_ahead(Replaced *out, int argc, char **argv) {
    static const char *const SIZES[] = {"--nodes", "--num-nodes", "--chips",      "--gpus",
                                        "--pods",  "--slice",     "--nnodes",     "-N",
                                        "--hosts", "--num-hosts", "--node-count", "--instance-count"};
    static const char *const RANKS[] = {"--lora-r", "--lora_r", "--lora-rank", "--lora_rank", "--rank"};
    static const char *const MODELS[] = {
        "--model",      "-m",        "--model-path", "--model_name_or_path", "--base_model", "--model-name-or-path",
        "--base-model", "--pretrain"};
    bool attends = false;
    int dp = 0;
    for (int i = 1; i < argc; i++) {
        out->sized = out->sized || replaced_is_any(argv[i], SIZES, COUNT_OF(SIZES));
        out->qlora = out->qlora || strcmp(argv[i], "--qlora") == 0;
        out->ranked = out->ranked || replaced_is_any(argv[i], RANKS, COUNT_OF(RANKS));
        out->model = out->model || replaced_is_any(argv[i], MODELS, COUNT_OF(MODELS)) ||
                     strncmp(argv[i], "--from", 6) == 0 || strncmp(argv[i], "model=", 6) == 0;
        out->sentence = out->sentence || strcmp(argv[i], "--question") == 0;
        static const char *const RANKS_OF_DATA[] = {"--dp", "--dp-size", "--data-parallel-size", "-dp"};
        if (replaced_is_any(argv[i], RANKS_OF_DATA, COUNT_OF(RANKS_OF_DATA)) && i + 1 < argc) dp = atoi(argv[i + 1]);
        attends = attends || strcmp(argv[i], "--enable-dp-attention") == 0;
        out->dp_experts = out->dp_experts || strcmp(argv[i], "--enable-expert-parallel") == 0;
        out->maxtext = out->maxtext || strcasestr(argv[i], "maxtext") || strncmp(argv[i], "--tpu", 5) == 0;
    }
    out->dp_attention = attends && dp > 1 && dp < 1 << 16 ? dp : 0;
}

/* Reads all words, argv[0] as it is. False: memory is out. */
static bool read_all(Replaced *out, int argc, char **argv) {
    const Command *command = out->command;
    out->words[out->count++] = argv[0];
    for (int i = 1; i < argc;) {
        bool ends = strcmp(argv[i], "--") == 0; /* what follows is no option */
        bool is_value = out->words[out->count - 1] == argv[i - 1] && i > 1 && takes_next(command, argv[i - 1]);
        is_value = is_value && (strncmp(argv[i], "--", 2) != 0 || is_own(command, argv[i - 1]));
        bool stray = argv[i][0] != '-' && !command->takes_arguments && !is_value;
        for (; ends && i < argc; i++)
            if (!replaced_keep(out, argv[i])) return false;
        if (ends) break;
        if (strcmp(argv[i], "--question") == 0 && ++i) continue;
        int read = stray      ? replaced_stray(out, argv + i, argc - i)
                   : is_value ? replaced_keep(out, argv[i])
                              : replaced_word(out, argv + i, argc - i);
        if (read == 0) return false;
        i += read;
    }
    return true;
}

/* A question is answered with what it was read as. */
static bool advise_reading(Replaced *out) {
    char *all = arena_text(out->arena, out->command->name);
    for (int i = 1; all && i < out->count; i++) all = arena_format(out->arena, "%s %s", all, out->words[i]);
    return all && replaced_advise(out, "read as `shardopt %s`", all);
}

bool synonyms_replace(CommandLine *line, int *argc, char ***argv, Error *error) {
    Arena *arena = line->arena;
    int count = *argc;
    char **words = in_single_words(arena, &count, *argv);
    Replaced out = {.word = replaced_word, .command = line->command, .arena = arena, .any = count != *argc};
    out.room = 6 * count + 16;
    for (int i = 1; words && i < count; i++) out.room += (int)strlen(words[i]) / 3; /* "a<1,b<2" is two options */
    out.words = ARENA_NEW(arena, char *, (size_t)out.room);
    if (!words || !out.words) return error_memory(error);
    look_ahead(&out, count, words);
    if (!read_all(&out, count, words)) return error_memory(error);
    if (out.instance && !replaced_count_instances(&out)) return error_memory(error);
    if (!replaced_add_size(&out)) return error_memory(error);
    if (replaced_lacks_chip(&out, *argc, *argv, error)) return false;
    if (!out.any) return true; /* as it was, a --require that is given twice with it */
    if (out.conditions && !replaced_add(&out, "--%s=%s", is_plan(&out) ? "plan" : "require", out.conditions))
        return error_memory(error);
    if (out.tokens_rate > 0 && !replaced_add_rate(&out)) return error_memory(error);
    if (out.passed && !replaced_advise(&out, "no plan depends on %s", out.passed)) return error_memory(error);
    if (out.sentence && !advise_reading(&out)) return error_memory(error);
    line->advice = out.advice;
    *argc = out.count;
    *argv = out.words;
    return true;
}
