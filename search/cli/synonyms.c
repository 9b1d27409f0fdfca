/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/synonyms.h"

#include "base/number.h"
#include "base/util.h"
#include "mesh/slice.h"
#include "search/cli/replaced.h"
#include "search/cli/synonym_table.h"
#include "search/cli/typed_words.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int replaced_option(const Command *command, const char *name, size_t length) {
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

/* The synonym that a word is, where the command lacks an option of that name and has what it stands for; NULL: none. */
static const Synonym *synonym_of(const Command *command, const char *word) {
    if (strncmp(word, "--", 2) != 0) return NULL;
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    if (replaced_option(command, name, length) >= 0) return NULL;
    for (size_t i = 0; i < (size_t)SYNONYM_COUNT; i++) {
        const Synonym *synonym = &SYNONYMS[i];
        const char *needs = synonym->condition ? "require" : synonym->option;
        if (strlen(synonym->word) == length && strncmp(synonym->word, name, length) == 0 &&
            replaced_option(command, needs, strlen(needs)) >= 0)
            return synonym;
    }
    return NULL;
}

const Catalog *replaced_catalog(Replaced *out) {
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
    return replaced_option(out->command, "answer", 6) >= 0 && number_real(number, "", 0, 1e18, &tokens, &ignored);
}

/* "4M", "16Mi": nobody has as many sequences in a batch, so that these are tokens. */
static bool is_millions(const char *value) {
    size_t digits = value ? strspn(value, "0123456789.") : 0;
    return digits > 0 && toupper((unsigned char)value[digits]) == 'M';
}

/* Whether a chip is called so: rtx4090 is no 4,090 of anything. */
bool replaced_is_chip(Replaced *out, const char *name) { return catalog_find(replaced_catalog(out), name); }

/* The text that printf writes, in the arena; NULL: memory is out. */
static char *format_in(Arena *arena, const char *format, va_list values) {
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1, 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, values);
    return text;
}

bool replaced_add(Replaced *out, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text = out->count < out->room ? format_in(out->arena, format, values) : NULL;
    va_end(values);
    if (text) out->words[out->count++] = text;
    return out->any = true, text != NULL;
}

bool replaced_advise(Replaced *out, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text = format_in(out->arena, format, values);
    va_end(values);
    if (text && out->advice) text = arena_format(out->arena, "%s; %s", out->advice, text);
    out->any = true;
    out->advice = text ? text : out->advice;
    return text != NULL;
}

/* An instance of a cloud as a chip, of which --nodes counts instances; false: it is none (*ok), or memory is out. */
static bool add_instance(Replaced *out, const char *word, bool *ok) {
    int chips = 0;
    bool may = isalpha((unsigned char)word[0]) && strpbrk(word, ".-_"); /* as all of their names have */
    const Chip *chip = may ? catalog_instance(replaced_catalog(out), word, &chips) : NULL;
    if (!chip) return false;
    out->any = true;
    out->instance = chips;
    out->instance_is_pod = !chip_has_domains(chip) && slice_chips(chip->pod) == chips;
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
        out->words[i] = last = out->instance_is_pod ? arena_format(out->arena, "--pods=%ld", nodes)
                                                    : arena_format(out->arena, "--chips=%ld", nodes * out->instance);
        if (own) memmove(out->words + i + 1, out->words + i + 2, (size_t)(--out->count - i - 1) * sizeof *out->words);
        if (!last) return false;
    }
    if (last || out->sized) return true;
    out->words[out->count++] = last = arena_format(out->arena, "--chips=%d", out->instance);
    return last != NULL;
}

/* "8xH200", "2x4090", "160x8xH100", "4xDGX-H100": how many chips, or (*nodes) hosts, of which one. 0: it is none. */
static int64_t chips_of(Replaced *out, const char *word, char name[64], bool *nodes) {
    char count[64], rest[64];
    int64_t all = 1;
    *nodes = false;
    if (typed_chips(word, name, count, 64))
        all = strtoll(count, NULL, 10);
    else {
        size_t digits = strspn(word, "0123456789");
        if (digits == 0 || digits > 9 || tolower((unsigned char)word[digits]) != 'x' || !word[digits + 1]) return 0;
        all = strtoll(word, NULL, 10);
        snprintf(name, 64, "%.63s", word + digits + 1);
    }
    snprintf(rest, sizeof rest, "%s", name);
    size_t digits = strspn(rest, "0123456789");
    if (digits > 0 && digits < 7 && tolower((unsigned char)rest[digits]) == 'x' && !replaced_is_chip(out, rest))
        all *= strtoll(rest, NULL, 10), snprintf(name, 64, "%s", rest + digits + 1);
    if (strncasecmp(name, "dgx-", 4) == 0 || strncasecmp(name, "hgx-", 4) == 0)
        *nodes = true, memmove(name, name + 4, strlen(name + 4) + 1);
    bool known = replaced_is_chip(out, name), starts = isalpha((unsigned char)word[0]);
    return all <= 0 || (!known && (starts || !isalpha((unsigned char)name[0]))) ||
                   (starts && replaced_is_chip(out, word))
               ? 0
               : all;
}

bool replaced_machine(Replaced *out, const char *word, bool sized, bool *ok) {
    char name[64];
    bool slice = typed_slice(word) && replaced_option(out->command, "slice", 5) >= 0, nodes = false;
    if (replaced_option(out->command, "chip", 4) < 0) return false;
    if (add_instance(out, word, ok)) return true;
    int64_t count = slice ? 0 : chips_of(out, word, name, &nodes);
    if (!slice && count == 0) return false;
    *ok = slice ? replaced_add(out, "--slice=%s", word) : replaced_add(out, "--chip=%s", name);
    if (slice || sized || !*ok) return true;
    out->sized = true;
    *ok = replaced_add(out, "--%s=%lld", nodes ? "nodes" : "chips", (long long)count);
    return true;
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
    out->any = true;
    out->words[out->count++] = arena_format(out->arena, "--plan=%s", plan);
    *ok = out->words[out->count - 1] != NULL;
    return true;
}

/* "--name" or "--name=value". */
static bool is_option(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

static bool is_any_option(const char *word, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is_option(word, names[i])) return true;
    return false;
}

/* Words whose value decides what they are. */
static const char *const HOST_SIZES[] = {"--gpus-per-node", "--nproc-per-node", "--devices", "--n-gpus-per-node",
                                         "--ntasks-per-node"};
static const char *const METHODS[] = {"--method", "--peft", "--finetuning-type", "--rlhf-type", "--adapter"};
static const char *const READ_BY_VALUE[] = {
    "--zero-stage", "--slo", "--tokens-per-second", "--network",          "--train-gpus",        "--fsdp",
    "--vllm-mode",  "--sla", "--target-throughput", "--total-throughput", "--output-throughput", "--config"};

static bool is_serving(const Command *command) {
    return replaced_option(command, "kv-dtype", 8) >= 0 && replaced_option(command, "lag", 3) < 0;
}

static bool is_own(const Command *command, const char *word) {
    return replaced_option(command, word + 2, strcspn(word + 2, "=")) >= 0;
}

static bool is_known(const Command *command, const char *word) {
    return is_own(command, word) || synonym_of(command, word) ||
           is_any_option(word, HOST_SIZES, COUNT_OF(HOST_SIZES)) || is_any_option(word, METHODS, COUNT_OF(METHODS)) ||
           is_any_option(word, READ_BY_VALUE, COUNT_OF(READ_BY_VALUE));
}

static bool names_option(const Command *command, const char *name) {
    char word[96];
    return snprintf(word, sizeof word, "--%s", name) < (int)sizeof word && is_known(command, word);
}

bool replaced_known(const Command *command, const char *name) {
    bool takes;
    return names_option(command, name) || word_is_passed_over(name, &takes);
}

/* "--lora_rank" is "--lora-rank", "-tp" is "--tp", "--trainer.num_nodes" is "--num-nodes", where they are no options as
 * they stand; NULL: memory is out. */
static char *plain_option(Replaced *out, char *word) {
    bool brief = word[0] == '-' && isalpha((unsigned char)word[1]);
    const char *name = word + (brief ? 1 : 2);
    size_t length = strcspn(name, "=");
    if ((!brief && strncmp(word, "--", 2) != 0) || (!brief && replaced_option(out->command, name, length) >= 0))
        return word;
    for (int i = 0; i < out->command->option_count && brief && length == 1; i++)
        if (command_has_option(out->command, i) && out->command->options[i].letter == *name) return word;
    char *copy = arena_format(out->arena, "--%s", name);
    for (size_t i = 2; copy && i < length + 2; i++)
        if (copy[i] == '_') copy[i] = '-';
    for (const char *at = copy ? copy + 2 : NULL; at; at = memchr(at, '.', strcspn(at, "="))) {
        at += *at == '.';
        if (names_option(out->command, at)) return out->any = true, arena_format(out->arena, "--%s", at);
    }
    return brief || !copy || strcmp(copy, word) == 0 ? (copy ? word : NULL) : (out->any = true, copy);
}

/* `--method lora`. Returns as replaced_word() does; -1: it is none. */
static int replace_method(Replaced *out, const char *word, char **words, int left) {
    const char *inside = strchr(word, '=');
    char *value = inside ? arena_text(out->arena, inside + 1) : left > 1 ? words[1] : NULL;
    const Way *way = value ? way_named(value) : NULL;
    if (!is_any_option(word, METHODS, COUNT_OF(METHODS)) || !way ||
        replaced_option(out->command, way->option + 2, strcspn(way->option + 2, "=")) < 0)
        return -1;
    int read = inside ? 1 : 2;
    return out->ranked && strcasestr(value, "lora") ? read : replaced_stray(out, &value, 1) ? read : 0;
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* What a value means as the field writes it: tokens of a batch in millions, a length of 4k, engines and launchers. NULL:
 * nothing else than it says, or memory is out (*ok). */
static const char *value_meant(Replaced *out, const char *option, const char *value, bool *ok) {
    static const char *const VALUES[][3] = {{"engine", "trtllm", "tensorrt-llm"},
                                            {"engine", "trt-llm", "tensorrt-llm"},
                                            {"engine", "trt", "tensorrt-llm"},
                                            {"for", "nemo", "megatron"},
                                            {"for", "mcore", "megatron"},
                                            {"for", "megatron-lm", "megatron"},
                                            {"packing", "true", "packed"},
                                            {"offload", "cpu", "optimizer"},
                                            {"optimizer", "adamw_8bit", "adamw"},
                                            {"precision", "awq", "int4"},
                                            {"precision", "gptq", "int4"},
                                            {"precision", "awq_marlin", "int4"},
                                            {"precision", "gptq_marlin", "int4"},
                                            {"precision", "w4a16", "int4"},
                                            {"precision", "bitsandbytes", "int4"},
                                            {"precision", "4bit", "int4"},
                                            {"precision", "8bit", "int8"},
                                            {"precision", "w8a8", "int8"},
                                            {"precision", "modelopt", "fp8"},
                                            {"precision", "modelopt_fp4", "nvfp4"},
                                            {"precision", "fp4", "nvfp4"},
                                            {"precision", "bfloat16", "bf16"},
                                            {"precision", "float16", "bf16"},
                                            {"precision", "fp16", "bf16"},
                                            {"precision", "half", "bf16"},
                                            {"kv-dtype", "fp8_e4m3", "fp8"},
                                            {"kv-dtype", "fp8_e5m2", "fp8"},
                                            {"kv-dtype", "auto", "bf16"},
                                            {"kv-dtype", "bfloat16", "bf16"},
                                            {"algorithm", "gspo", "grpo"},
                                            {"algorithm", "dr_grpo", "grpo"},
                                            {"algorithm", "group_norm", "grpo"},
                                            {"algorithm", "gae", "ppo"},
                                            {"algorithm", "reinforce", "reinforce++"},
                                            {"algorithm", "reinforce_plus_plus", "reinforce++"},
                                            {"for", "fsdp", "torchtitan"},
                                            {"for", "fsdp2", "torchtitan"}};
    static const char *const LENGTHS[] = {"seq", "prompt", "answer", "max-length", "mean-length", "max-answer"};
    const char *meant = NULL;
    for (size_t i = 0; i < COUNT_OF(VALUES); i++)
        if (strcmp(option, VALUES[i][0]) == 0 && strcasecmp(value, VALUES[i][1]) == 0) {
            *ok = replaced_advise(out, "%s is read as %s", value, VALUES[i][2]);
            return VALUES[i][2];
        }
    int sizes[3], read = 0; /* of a slice the smallest size comes first */
    if (strcmp(option, "slice") == 0 && sscanf(value, "%3dx%3dx%3d%n", &sizes[0], &sizes[1], &sizes[2], &read) == 3 &&
        !value[read]) {
        qsort(sizes, 3, sizeof *sizes, by_value);
        const char *sorted = arena_format(out->arena, "%dx%dx%d", sizes[0], sizes[1], sizes[2]);
        return *ok = sorted != NULL, sorted;
    }
    size_t digits = strspn(value, "0123456789."), end = strlen(value);
    long number = strtol(value, NULL, 10);
    bool whole = digits > 0 && strspn(value, "0123456789") == digits;
    for (size_t i = 0; i < COUNT_OF(LENGTHS); i++) /* 4k of a length: 4,096 */
        if (strcmp(option, LENGTHS[i]) == 0 && whole && number > 0 && (number & (number - 1)) == 0 &&
            strcasecmp(value + digits, "k") == 0)
            meant = arena_format(out->arena, "%ldKi", number),
            *ok = meant && replaced_advise(out, "a length of %s is read as %ldKi", value, number);
    if (meant || !*ok || digits == 0) return meant;
    static const char *const TOKENS[] = {"-tokens", "tokens", "_tokens", "-tok", "tok"};
    bool counts = strcmp(option, "batch") == 0 || strcmp(option, "tokens") == 0 || strcmp(option, "samples") == 0;
    for (size_t i = 0; i < COUNT_OF(TOKENS) && counts && end == strlen(value); i++)
        if (end > strlen(TOKENS[i]) && strcasecmp(value + end - strlen(TOKENS[i]), TOKENS[i]) == 0)
            end -= strlen(TOKENS[i]);
    bool billions = counts && end == digits + 1 && toupper((unsigned char)value[digits]) == 'B';
    if (!counts || (end == strlen(value) && !billions)) return NULL;
    meant = billions ? arena_format(out->arena, "%.*sG", (int)digits, value)
                     : arena_format(out->arena, "%.*s", (int)end, value);
    return *ok = meant != NULL, meant;
}

/* Tokens of a batch in millions are those of whole sequences: 4M is 4Mi, 67M is 64Mi. */
static const char *batch_meant(Replaced *out, const char *value) {
    double millions = strtod(value, NULL), power = 1;
    while (power * 1.048576 < millions * 0.98) power *= 2;
    if (millions > power * 1.07 || millions < power * 0.98) return value;
    return replaced_advise(out, "a batch of %s tokens is read as %.0fMi", value, power)
               ? arena_format(out->arena, "%.0fMi", power)
               : NULL;
}

/* `--gpus-per-node 8`: --nodes counts hosts of so many; ZeRO by its stage, service levels, a network so many times
 * slower. Returns as replaced_word() does; -1: it is none of them. */
static int replace_by_value(Replaced *out, const char *word, const char *value, int read) {
    int64_t number;
    Error not_whole = {0};
    if (is_option(word, "--fsdp") && (!value || !isdigit((unsigned char)value[0])))
        return replaced_option(out->command, "require", 7) < 0 ? -1 : add_condition(out, "data=1 pipeline=1") ? 1 : 0;
    if (!value) return -1;
    if (is_option(word, "--config")) {
        bool model = strlen(value) > 5 && strcmp(value + strlen(value) - 5, ".json") == 0;
        if (replaced_option(out->command, model ? "model" : "from-config", model ? 5 : 11) < 0) return -1;
        return replaced_add(out, "--%s=%s", model ? "model" : "from-config", value) ? read : 0;
    }
    if (is_any_option(word, HOST_SIZES, COUNT_OF(HOST_SIZES)) && number_whole(value, "", 1, 1024, &number, &not_whole))
        return out->any = true, out->instance = (int)number, read;
    if (is_option(word, "--zero-stage") && replaced_option(out->command, "require", 7) >= 0 && strlen(value) == 1 &&
        strchr("0123", *value))
        return out->any = true,
               add_condition(out, *value == '3' ? "data=1 pipeline=1"
                                                : arena_format(out->arena, "fsdp=1 zero_stage=%s", value))
                   ? read
                   : 0;
    if (is_option(word, "--tokens-per-second") && strtod(value, NULL) > 0 &&
        replaced_option(out->command, "tpot", 4) >= 0)
        return replaced_advise(out, "%s tokens/s are of a user: --tpot %.4gms", value, 1000 / strtod(value, NULL)) &&
                       replaced_add(out, "--tpot=%.4gms", 1000 / strtod(value, NULL))
                   ? read
                   : 0;
    size_t digits = strspn(value, "0123456789.");
    if (is_option(word, "--per-device-batch-size") && out->maxtext && digits > 0 && !value[digits])
        return replaced_add(out, "--sequences=%s/device", value) && add_condition(out, "microbatches=1") ? read : 0;
    static const char *const WIDTHS[] = {"auto", "bf16", "bfloat16", "float16", "fp16", "half"};
    for (size_t i = 0; i < COUNT_OF(WIDTHS) && is_serving(out->command) && is_option(word, "--dtype"); i++)
        if (strcasecmp(value, WIDTHS[i]) == 0)
            return replaced_advise(out, "--dtype %s is of activations; --precision is of weights", value) ? read : 0;
    static const char *const RATES[] = {"--throughput", "--target-throughput", "--total-throughput",
                                        "--output-throughput"};
    if (is_any_option(word, RATES, COUNT_OF(RATES)) && strtod(value, NULL) > 0 && is_serving(out->command))
        return out->tokens_rate = strtod(value, NULL), out->any = true, read;
    if (is_option(word, "--vllm-mode") && replaced_option(out->command, "colocated", 9) >= 0)
        return strcasecmp(value, "colocate") != 0 || replaced_add(out, "--colocated") ? (out->any = true, read) : 0;
    if (is_option(word, "--network") && digits > 0 && strcasecmp(value + digits, "x") == 0)
        return replaced_add(out, "--oversubscription=%.*s", (int)digits, value) ? read : 0;
    if (is_option(word, "--train-gpus") && number_whole(value, "", 1, 1 << 24, &number, &not_whole) &&
        replaced_option(out->command, "train-nodes", 11) >= 0)
        return replaced_add(out, "--train-nodes=%lld", (long long)(number % 8 == 0 ? number / 8 : number)) ? read : 0;
    if (!is_option(word, "--slo") && !is_option(word, "--sla")) return -1;
    for (const char *at = value; *at; at += strspn(at, ", ;")) {
        size_t name = strcspn(at, "<="), op = strspn(at + name, "<="), length = strcspn(at + name + op, ", ;");
        if (name == 0 || op == 0) return -1;
        if (!replaced_add(out, "--%.*s=%.*s", (int)name, at, (int)length, at + name + op)) return 0;
        at += name + op + length;
    }
    return read;
}

/* Adapters, whose rank may be left out, or said by another option. Returns as replaced_word() does; -1: it is none. */
static int replace_adapters(Replaced *out, const char *word, char **words, int left) {
    if ((strcmp(word, "--lora") != 0 && strcmp(word, "--qlora") != 0) || replaced_option(out->command, "lora", 4) < 0)
        return -1;
    bool said = left > 1 && isdigit((unsigned char)words[1][0]);
    if (!said && left > 1 && words[1][0] != '-' && strspn(words[1], "bit48nf") == strlen(words[1])) said = true;
    if (out->ranked && !said) return out->any = true, 1;
    return !replaced_add(out, "%s=%s", word, said ? words[1] : "16") ? 0 : said ? 2 : 1;
}

/* A condition of plans or of serving, whose data parallelism is copies, or ranks of attention. */
static bool add_degree(Replaced *out, const char *condition, const char *value) {
    bool serving = is_serving(out->command);
    if (serving && strcmp(condition, "ep") == 0) condition = "expert";
    if (serving && strcmp(condition, "data") == 0)
        condition = out->dp_attention || out->dp_experts ? "attention_data" : "copies";
    long tensor = serving && out->dp_attention && strcmp(condition, "tensor") == 0 ? strtol(value, NULL, 10) : 0;
    if (tensor > 0 && tensor % out->dp_attention == 0)
        value = arena_format(out->arena, "%ld", tensor / out->dp_attention);
    return value && (value = arena_format(out->arena, "%s=%s", condition, value)) && add_condition(out, value);
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
    bool switched_off =
        (synonym->value || synonym->flag) && value && strcasecmp(value, "false") == 0; /* "colocated.enabled=false" */
    bool follows = value && (read == 1 || switched_off || strcasecmp(value, "true") == 0 ||
                             (synonym->takes && strncmp(value, "--", 2) != 0));
    int taken = follows ? read : 1; /* of one that has its own value */
    out->any = true;
    if (switched_off) return taken;
    if (synonym->flag) return replaced_add(out, "--%s", synonym->option) ? taken : 0;
    if (synonym->value && synonym->condition) return add_degree(out, synonym->condition, synonym->value) ? taken : 0;
    if (synonym->value) return replaced_add(out, "--%s=%s", synonym->option, synonym->value) ? taken : 0;
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
    const char *meant = value_meant(out, synonym->option, value, &ok);
    return ok && replaced_add(out, "--%s=%s", synonym->option, meant ? meant : value) ? read : 0;
}

/* An option that says nothing which is priced is left out. Returns as replaced_word() does; -1: it is none of them. */
static int pass_over(Replaced *out, const char *word, const char *value, int read) {
    char name[96];
    bool takes, valued;
    snprintf(name, sizeof name, "%.*s", (int)min_whole((int64_t)strcspn(word, "="), 95), word);
    if (strncmp(name, "--", 2) != 0 || !word_is_passed_over(name + 2, &takes)) return -1;
    valued = read == 1 || (value && (takes ? strncmp(value, "--", 2) != 0
                                           : strcasecmp(value, "true") == 0 || strcasecmp(value, "false") == 0));
    out->any = true;
    out->passed = arena_format(out->arena, "%s%s%s", out->passed ? out->passed : "", out->passed ? ", " : "", name);
    return !out->passed ? 0 : valued ? read : 1;
}

int replaced_word(Replaced *out, char **words, int left) {
    char *word = plain_option(out, words[0]); /* the words may lie where nothing is written */
    if (!word) return 0;
    if (strcmp(word, "--format=md") == 0 || (left > 1 && strcmp(word, "--format") == 0 && strcmp(words[1], "md") == 0))
        return !replaced_add(out, "--format=markdown") ? 0 : word[8] ? 1 : 2;
    int done = replace_adapters(out, word, words, left);
    if (done < 0) done = replace_method(out, word, words, left);
    if (done >= 0) return done;
    const Synonym *synonym = synonym_of(out->command, word);
    const char *inside = strchr(word, '='), *value = inside ? inside + 1 : left > 1 ? words[1] : NULL;
    int read = inside ? 1 : 2;
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
        const char *meant = value_meant(out, "batch", value, &ok);
        if (!ok || !(value = batch_meant(out, meant ? meant : value))) return 0;
        synonym = &TOKENS;
    }
    const char *option = synonym && synonym->option && !synonym->value && !synonym->ignored ? synonym->option : word;
    if (value && strcmp(option, "chips") == 0 && replaced_is_filler(value)) return out->any = true, read;
    if (value && strncmp(word, "--", 2) == 0 && add_typed(out, option + (option == word ? 2 : 0), value, &ok))
        return !ok ? 0 : read;
    bool is_require = is_option(word, "--require");
    if (synonym) return replace_synonym(out, synonym, value, read);
    if (!is_own(out->command, word) && (done = pass_over(out, word, value, read)) >= 0) return done;
    if (is_require) return !value ? replaced_add(out, "--require") : add_condition(out, value) ? read : 0;
    int own = strncmp(word, "--", 2) == 0 ? replaced_option(out->command, word + 2, strcspn(word + 2, "=")) : -1;
    const char *meant = own >= 0 && out->command->options[own].takes && value
                            ? value_meant(out, out->command->options[own].name, value, &ok)
                            : NULL;
    if (meant || !ok) return ok && replaced_add(out, "--%s=%s", out->command->options[own].name, meant) ? read : 0;
    out->words[out->count++] = word;
    return 1;
}

/* Who counts GPUs does not mean the default chip, which is none. */
static bool counts_gpus_of_nothing(const Replaced *out, int argc, char **argv, Error *error) {
    bool gpus = false, chip = replaced_option(out->command, "chip", 4) < 0;
    static const char *const COUNTS[] = {"--gpus",          "--num-gpus",       "--num_gpus",      "--ngpu",
                                         "--gpus-per-node", "--nproc-per-node", "--gpus_per_node", "--nproc_per_node"};
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < COUNT_OF(COUNTS); k++) gpus = gpus || is_option(argv[i], COUNTS[k]);
    for (int i = 0; i < out->count; i++)
        chip = chip || is_option(out->words[i], "--chip") || strncmp(out->words[i], "--from", 6) == 0 ||
               is_option(out->words[i], "--help");
    if ((!gpus && !out->instance) || chip) return false;
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

/* The words of `--slurm "--nodes=4 --gres=gpu:h100:8"` are words of the line. NULL: memory is out. */
static char **in_single_words(Arena *arena, int *argc, char **argv) {
    static const char *const LINES[] = {"--slurm", "--sbatch", "--srun"};
    size_t room = (size_t)*argc + 1;
    for (int i = 1; i < *argc; i++) room += strlen(argv[i]) / 2 + 1;
    char **words = ARENA_NEW(arena, char *, room);
    int count = 0;
    for (int i = 0; words && i < *argc; i++) {
        if (i == 0 || !is_any_option(argv[i], LINES, COUNT_OF(LINES)) || i + 1 >= *argc || strchr(argv[i], '=')) {
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

/* The value of an option among the words as they became; NULL: it is not there. */
static const char *value_of(const Replaced *out, const char *option) {
    for (int i = 1; i < out->count; i++) {
        const char *word = out->words[i];
        if (!is_option(word, option)) continue;
        return word[strlen(option)] == '=' ? word + strlen(option) + 1 : i + 1 < out->count ? out->words[i + 1] : "";
    }
    return NULL;
}

/* Output tokens a second as requests a second, of the answers that the line has. */
static bool add_rate(Replaced *out) {
    int64_t answer = 256;
    Error other = {0};
    const char *text = value_of(out, "--answer");
    if (text && !number_whole(text, "", 1, 1 << 28, &answer, &other)) return true; /* the error is the option's own */
    return replaced_add(out, "--rate=%.4g", out->tokens_rate / (double)answer) &&
           replaced_advise(out, "%.10g tokens/s are answers of %lld tokens: --rate %.4g", out->tokens_rate,
                           (long long)answer, out->tokens_rate / (double)answer);
}

/* Who names a workstation's card, and no number, has one; who asks how soon, and no machine, asks for many. */
static bool add_size(Replaced *out) {
    static const char *const SIZES[] = {"--nodes", "--chips", "--pods", "--slice", "--from", "--from-config", "--help"};
    for (size_t i = 0; i < COUNT_OF(SIZES); i++)
        if (value_of(out, SIZES[i])) return true;
    const char *name = value_of(out, "--chip");
    bool goal = value_of(out, "--deadline") || value_of(out, "--budget");
    if (strcmp(out->command->name, "sweep") == 0 && goal) {
        const Chip *chip = name ? catalog_find(replaced_catalog(out), name) : NULL;
        return chip && chip_has_domains(chip) ? replaced_add(out, "--nodes=8,16,32,64,128,256,512,1024")
                                              : replaced_add(out, "--pods=1,2,4,8");
    }
    if (!name || out->conditions || replaced_option(out->command, "chips", 5) < 0) return true;
    const Chip *chip = catalog_find(replaced_catalog(out), name);
    if (!chip || chip->scaleup != SCALEUP_PCIE || strcmp(out->command->name, "sweep") == 0) return true;
    return replaced_add(out, "--chips=1") && replaced_advise(out, "one %s, as no number is given", chip->name);
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
        out->sized = out->sized || is_any_option(argv[i], SIZES, COUNT_OF(SIZES));
        out->ranked = out->ranked || is_any_option(argv[i], RANKS, COUNT_OF(RANKS));
        out->model = out->model || is_any_option(argv[i], MODELS, COUNT_OF(MODELS)) ||
                     strncmp(argv[i], "--from", 6) == 0 || strncmp(argv[i], "model=", 6) == 0;
        out->sentence = out->sentence || strcmp(argv[i], "--question") == 0;
        static const char *const RANKS_OF_DATA[] = {"--dp", "--dp-size", "--data-parallel-size", "-dp"};
        if (is_any_option(argv[i], RANKS_OF_DATA, COUNT_OF(RANKS_OF_DATA)) && i + 1 < argc) dp = atoi(argv[i + 1]);
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
        for (; ends && i < argc; i++) out->words[out->count++] = argv[i];
        if (ends) break;
        if (strcmp(argv[i], "--question") == 0 && ++i) continue;
        int read = stray      ? replaced_stray(out, argv + i, argc - i)
                   : is_value ? (out->words[out->count++] = argv[i], 1)
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
    Replaced out = {.command = line->command, .arena = arena, .any = count != *argc, .room = 6 * count + 16};
    out.words = ARENA_NEW(arena, char *, (size_t)out.room);
    if (!words || !out.words) return error_memory(error);
    look_ahead(&out, count, words);
    if (!read_all(&out, count, words)) return error_memory(error);
    if (out.instance && !count_instances(&out)) return error_memory(error);
    if (!add_size(&out)) return error_memory(error);
    if (counts_gpus_of_nothing(&out, *argc, *argv, error)) return false;
    if (!out.any) return true; /* as it was, a --require that is given twice with it */
    if (out.conditions && !replaced_add(&out, "--%s=%s", is_plan(&out) ? "plan" : "require", out.conditions))
        return error_memory(error);
    if (out.tokens_rate > 0 && !add_rate(&out)) return error_memory(error);
    if (out.passed && !replaced_advise(&out, "no plan depends on %s", out.passed)) return error_memory(error);
    if (out.sentence && !advise_reading(&out)) return error_memory(error);
    line->advice = out.advice;
    *argc = out.count;
    *argv = out.words;
    return true;
}
