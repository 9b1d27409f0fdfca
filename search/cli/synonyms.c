/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/synonyms.h"

#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/replaced.h"
#include "search/cli/typed_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- values ---- */

/* A machine or a plan in one word, as the value of an option. False: it is none (*ok), or memory is out. */
static bool add_typed(Replaced *out, const char *option, const char *value, bool *ok) {
    bool chips = strcmp(option, "chips") == 0, chip = strcmp(option, "chip") == 0;
    int hosts, each, end = 0; /* "768x8": hosts of so many */
    const char *times = strchr(value, 'x');
    if (chips && sscanf(value, "%6dx%4d%n", &hosts, &each, &end) == 2 && !value[end] &&
        !replaced_is_chip(out, times + 1))
        return *ok = replaced_add(out, "--chips=%lld", (long long)hosts * each), true;
    if (replaced_cards_text(out, value, chips || chip, ok)) return true;
    if ((chips || chip) && replaced_is_filler(value)) return *ok = out->any = true; /* "--gpus lambda gpu_8x_a100" */
    if (chips || chip)
        return replaced_machine(out, value, chip && out->sized, ok) ||
               (*ok && strpbrk(value, " =*,_{") && isalpha((unsigned char)value[strspn(value, "0123456789,. {\"")]) &&
                replaced_machine_text(out, value, ok));
    char *plan = word_among("plan train-plan rollout", option) ? replaced_degrees(out, value) : NULL;
    char *copies = plan && strcmp(option, "rollout") == 0 ? strstr(plan, "data=") : NULL;
    if (copies) plan = arena_format(out->arena, "%.*scopies=%s", (int)(copies - plan), plan, copies + 5);
    if (strcmp(option, "rollout") == 0 && word_among("vllm sglang tensorrt-llm trtllm", value))
        return *ok = replaced_add(out, "--engine=%s", *value == 't' ? "tensorrt-llm" : value), true;
    return plan && (*ok = replaced_add(out, "--%s=%s", option, plan), true);
}

static bool is_word(const char *value) { return value[0] != '-' || isdigit((unsigned char)value[1]); }
static bool is_switch(const char *value) { return strcasecmp(value, "true") == 0 || strcasecmp(value, "false") == 0; }

/* Whether a word is rather the line's model or machine than the value of an option on which nothing depends. */
static bool is_of_line(Replaced *out, const char *word) {
    const char *times = strpbrk(word, "xX");
    bool machine = !out->sized && isdigit((unsigned char)*word) && times && replaced_is_chip(out, times + 1);
    return machine || (!out->model && strpbrk(word, "0123456789") && zoo_of_repository(replaced_zoo(out), word));
}

/* ---- the command's own options ---- */

/* What people call a fabric, which is no rate. */
static const char FABRICS[] = "ib* inf* ndr* hdr* edr* xdr* roce* eth* efa nvlink nvswitch rdma tcpx* gpudirect*";

/* Returns as Replaced.word does; so do all that follow. */
static int replace_own(Replaced *out, const CommandOption *option, char *word, const char *value, int read) {
    bool ok = true, same = strncmp(word, "--", 2) == 0 && strcspn(word + 2, "=") == strlen(option->name) &&
                           strncmp(word + 2, option->name, strlen(option->name)) == 0;
    if (value && strcmp(option->name, "network") == 0 && *value &&
        tolower((unsigned char)value[strlen(value) - 1]) == 'x')
        return replaced_add(out, "--oversubscription=%.*s", (int)strlen(value) - 1, value) ? read : 0; /* "4x slower" */
    if (value && strcmp(option->name, "network") == 0 && (word_like(FABRICS, value) || strpbrk(value, "-_ ")))
        return replaced_reader(out, "@network", word, value, read);
    if (value && strcmp(option->name, "output") == 0 && replaced_has(out, "format") &&
        word_among("json html csv markdown text", value))
        return replaced_add(out, "--format=%s", value) ? read : 0;
    if (value && strcmp(option->name, "time-limit") == 0 && strpbrk(value, "hd:"))
        return replaced_advise(
                   out, "%s is left out: how long a job may last is the scheduler's; --time-limit is of the search",
                   value)
                   ? read
                   : 0;
    if (value_is_answer_length(out, option->name, value))
        return replaced_advise(out, "--output N is called --answer now") && replaced_add(out, "--answer=%s", value)
                   ? read
                   : 0;
    if (value && strchr(value, ':') && *value != '{' && strcmp(option->name, "model") == 0 && !strchr(value, '/') &&
        !file_is_there(value)) {
        const char *name = replaced_tag(out, value);
        return name && replaced_add(out, "--model=%s", name) ? read : 0;
    }
    if (strcmp(option->name, "require") == 0)
        return !value ? replaced_add(out, "--require") : replaced_condition(out, value) ? read : 0;
    if (!option->takes && (!same || read == 1)) { /* "--colocated=false" */
        bool off = read == 1 && value && strcasecmp(value, "false") == 0;
        return same && !(read == 1 && value && is_switch(value)) ? replaced_keep(out, word)
               : off || replaced_add(out, "--%s", option->name)  ? (out->any = true, 1)
                                                                 : 0;
    }
    const WordRow *bare =
        option->takes && (!value || strncmp(value, "--", 2) == 0) ? word_row("bare", option->name) : NULL;
    if (bare) return replaced_add(out, "--%s=%s", bare->cell[2], bare->cell[3]);
    if (!option->takes || !value) return same ? replaced_keep(out, word) : replaced_add(out, "--%s", option->name);
    if (add_typed(out, option->name, value, &ok)) return ok ? read : 0;
    const char *meant = replaced_value(out, option->name, value, &ok),
               *last = *value ? value + strlen(value) - 1 : value;
    if (ok && !meant && word_among("ttft tpot", option->name) && value_is_milliseconds(value))
        return replaced_advise(out, "%s is read as %sms", value, value) &&
                       replaced_add(out, "--%s=%sms", option->name, value)
                   ? read
                   : 0;
    if (ok && !meant && (*last == 'K' || value_is_batch_of_sequences(out, option->name, value))) {
        bool kilo = *last == 'K';
        meant = kilo ? replaced_size(out, option->name, value, &ok) : value;
        if (meant && !replaced_advise(out, kilo ? "%s is read as %s" : "a batch of %s is of sequences%s", value,
                                      kilo ? meant : ""))
            return 0;
        if (meant) return replaced_add(out, "--%s=%s", kilo ? option->name : "sequences", meant) ? read : 0;
    }
    if (!ok) return 0;
    return !meant && same                                                      ? replaced_keep(out, word)
           : replaced_add(out, "--%s=%s", option->name, meant ? meant : value) ? read
                                                                               : 0;
}

/* Adapters, whose rank may be left out, or said by another option. Below 0: it is none. */
static int replace_adapters(Replaced *out, const char *word, char **words, int left) {
    if ((strcmp(word, "--lora") != 0 && strcmp(word, "--qlora") != 0) || !replaced_has(out, "lora")) return -1;
    bool said = left > 1 && words[1][0] != '-';
    if (out->ranked && !said) return out->any = true, 1;
    return !replaced_add(out, "%s=%s", word, said ? words[1] : "16") ? 0 : said ? 2 : 1;
}

/* ---- conditions ---- */

/* A condition of plans or of serving, whose data parallelism is copies, or ranks of attention. */
static bool add_degree(Replaced *out, const char *condition, const char *value) {
    bool serving = strcmp(command_kind(out->command), "serving") == 0;
    if (strcmp(value, "-1") == 0) /* what the others leave */
        return out->any = true, strcmp(condition, "fsdp") != 0 || replaced_rest(out);
    if (serving && strcmp(condition, "ep") == 0) condition = "expert";
    if (out->pairs && strcmp(condition, "microbatch_sequences") == 0 && atoll(value) > 0)
        value = arena_format(out->arena, "%lld", 2 * atoll(value)); /* a pair is two */
    if (!value) return false;
    if (strchr(value, ',')) { /* no sweep compares degrees; the best of those between is searched for */
        const char *most = arena_format(out->arena, "%s<=%s", condition, strrchr(value, ',') + 1);
        const char *least = arena_format(out->arena, "%s>=%.*s", condition, (int)strcspn(value, ","), value);
        return replaced_condition(out, least) && replaced_condition(out, most) &&
               replaced_advise(out, "the best of %s is searched for, from %s", condition, value);
    }
    if (!serving && strcmp(condition, "expert_tensor") == 0) condition = "folded_expert_tensor";
    if (serving && strcmp(condition, "data") == 0 && out->vllm && !out->dp_experts && !out->dp_attention)
        return out->any = true, out->ranks = arena_text(out->arena, value), out->ranks != NULL;
    if (serving && strcmp(condition, "data") == 0)
        condition = out->dp_attention || out->dp_experts ? "attention_data" : "copies";
    long tensor = serving && out->dp_attention && strcmp(condition, "tensor") == 0 ? strtol(value, NULL, 10) : 0;
    if (tensor > 0 && tensor % out->dp_attention == 0)
        value = arena_format(out->arena, "%ld", tensor / out->dp_attention);
    out->any = true;
    return value && (value = arena_format(out->arena, "%s=%s", condition, value)) && replaced_condition(out, value);
}

/* ---- other programs' options ---- */

/* The text with the value in the place of "{}". NULL: memory is out. */
static const char *filled(Replaced *out, const char *text, const char *value) {
    const char *place = strstr(text, "{}");
    size_t number = strspn(value, "0123456789.");
    bool times = strcasecmp(value + number, "x") == 0; /* "4x" */
    return arena_format(out->arena, "%.*s%.*s%s", (int)(place - text), text, (int)(times ? number : strlen(value)),
                        value, place + 2);
}

/* One that takes no value, or has its own; "--fp8=false" is none. */
static int replace_fixed(Replaced *out, const Meaning *meaning, const char *value, int read) {
    if (out->says_drafts && meaning_is(meaning, "--speculate"))
        return value && (read == 1 || is_word(value)) ? read : 1;
    bool off = value && (strcasecmp(value, "false") == 0 || strcasecmp(value, "none") == 0),
         literal = strchr(meaning->where, '=') != NULL;
    bool follows =
        value && (read == 1 || literal || is_switch(value) || (strstr(meaning->where, "valued") && is_word(value)));
    const char *text = strchr(meaning->what, ' ');
    bool option = strncmp(meaning->what, "--", 2) == 0;
    bool ok = off       ? (out->any = true)
              : !option ? (out->any = true, replaced_condition(out, meaning->what))
              : !text   ? replaced_add(out, "%s", meaning->what)
                        : replaced_add(out, "%.*s=%s", (int)(text - meaning->what), meaning->what, text + 1);
    return !ok ? 0 : follows ? read : 1;
}

/* One that takes its value as ours does. */
static int replace_valued(Replaced *out, const char *option, const char *value, int read) {
    static const char EMITTED[] = "verl nemo-rl openrlhf slime trl";
    bool ok = true;
    static const char TIMES[] = "ttft tpot";
    if ((strcmp(option, "sequences") == 0 || strcmp(option, "batch") == 0) && value_is_millions(value))
        option = "batch";
    if (strcmp(option, "sequences") == 0 && out->pairs && value[strspn(value, "0123456789")] == '\0')
        return replaced_add(out, "--sequences=%lld", 2 * atoll(value)) &&
                       replaced_advise(out, "%s pairs are %lld sequences", value, 2 * atoll(value))
                   ? read
                   : 0;
    if (strcmp(option, "sequences") == 0 && (text_ends_in(value, "tok") || text_ends_in(value, "tokens")))
        option = "batch";
    if (word_among(TIMES, option) && value_is_milliseconds(value))
        return replaced_add(out, "--%s=%sms", option, value) ? read : 0;
    if (strcmp(option, "for") == 0 && replaced_has(out, "lag") && word_among(EMITTED, value))
        return replaced_advise(out, "--emit %s writes its configuration", value) ? read : 0;
    if (strcmp(option, "sequences") == 0 && out->tuned && out->accumulates && !out->micro && !out->total) {
        const char *micro = arena_format(out->arena, "microbatch_sequences=%s", value); /* of torchtune: of a pass */
        return micro && replaced_condition(out, micro) ? read : 0;
    }
    int64_t tokens = 0;
    Error none = {0};
    bool awkward = strcmp(option, "batch") == 0 && number_tokens(value, "", 1, (int64_t)1e15, &tokens, &none) &&
                   tokens % 8192 != 0;
    if (awkward && replaced_has(out, "batch-tolerance") && !out->loose)
        if (!(out->loose = replaced_add(out, "--batch-tolerance=3%%"))) return 0; /* as sequences divide it */
    if (strcmp(option, "offload") == 0 && word_among("cpu host", value) &&
        !replaced_advise(out, "what fits stays in HBM: the optimizer may lie on the host, where it has to"))
        return 0;
    if (add_typed(out, option, value, &ok)) return ok ? read : 0;
    const char *meant = replaced_size(out, option, value, &ok);
    if (strcmp(option, "precision") == 0 && replaced_option(out, "--precision") &&
        word_among("bf16 auto", meant ? meant : value))
        return replaced_advise(out, "%s is not of weights, which are %s", value, replaced_option(out, "--precision"))
                   ? read
                   : 0;
    if (strcmp(option, "lora") == 0 && out->qlora) option = "qlora";
    return ok && replaced_add(out, "--%s=%s", option, meant ? meant : value) ? read : 0;
}

/* What says nothing that is priced is left out, and named; or why it is. */
static int pass_over(Replaced *out, const Meaning *meaning, const char *name, const char *value, int read) {
    bool valued = strcmp(meaning->what, "pass") == 0 || strcmp(meaning->what, "note=") == 0;
    bool number = strcmp(meaning->what, "note") == 0 && value && isdigit((unsigned char)*value);
    bool follows = value && (read == 1 || is_switch(value) || number || strchr("{[", *value) ||
                             (valued && is_word(value) && !is_of_line(out, value)));
    out->any = true;
    if (meaning->said) return replaced_advise(out, "%s: %s", name, meaning->said) ? follows ? read : 1 : 0;
    return !replaced_leave(out, &out->passed, name) ? 0 : follows ? read : 1;
}

/* A name as it is spelled here: "--lora_alpha=16" is --lora-alpha. NULL: memory is out. */
static const char *spelled(Replaced *out, const char *word) {
    char *name =
        arena_format(out->arena, "--%.*s", (int)strcspn(word + strspn(word, "-"), "="), word + strspn(word, "-"));
    for (char *at = name; at && *at; at++) *at = *at == '_' ? '-' : *at;
    return name;
}

static int replace_named(Replaced *out, const Meaning *meaning, const char *word, const char *value, int read) {
    const char *what = meaning->what, *name = spelled(out, word), *space = strchr(what, ' ');
    bool option = strncmp(what, "--", 2) == 0, places = strstr(what, "{}") != NULL;
    if (!name) return 0;
    if (strcmp(what, "answer") == 0 && *meaning->where && strchr(meaning->where, '=')) /* it is of the value */
        return replaced_refuse(out, name, arena_format(out->arena, "is not planned so; %s", meaning->said)) ? read : 0;
    if (strcmp(what, "answer") == 0) return !replaced_unknown(out, word) ? 0 : value && is_word(value) ? read : 1;
    if (word_among("pass switch note note=", what)) return pass_over(out, meaning, name, value, read);
    if (meaning->said && !(out->says_drafts && meaning_is(meaning, "--speculate")) &&
        !replaced_advise(out, "%s %s", name, meaning->said))
        return 0;
    if (*what == '@') return replaced_reader(out, what, word, value, read);
    int own = option ? command_option(out->command, what + 2, strcspn(what + 2, " ")) : -1;
    bool flag = own >= 0 && !out->command->options[own].takes;
    if (flag || ((space || strchr(what, '=')) && !places)) return replace_fixed(out, meaning, value, read);
    if (!value || !is_word(value)) return replaced_refuse(out, name, "needs a value: write --option VALUE");
    if (!option && places) return out->any = true, replaced_condition(out, filled(out, what, value)) ? read : 0;
    if (!option) return add_degree(out, what, value) ? read : 0;
    if (!places) return replace_valued(out, what + 2, value, read);
    const char *text = filled(out, space + 1, value);
    return text && replaced_add(out, "%.*s=%s", (int)(space - what), what, text) ? read : 0;
}

/* A model may be several words, "--model llama 3.1 70b", or a slip. Below 0: it is one word of the option's own. */
static int replace_model(Replaced *out, const char *option, char *value, char **words, int left) {
    const char *name = NULL;
    char *inside[1] = {value};
    if (!word_among("model critic reward teacher", option) || !value || file_is_there(value)) return -1;
    bool follows = words && left > 1 && words[1][0] != '-', again = out->foreign > 0 && replaced_option(out, "--model");
    bool bare = isdigit((unsigned char)*value);                        /* a size alone */
    if (!follows && !again && !bare && !strchr(value, '/')) return -1; /* the error names a slip; the zoo takes 50 ms */
    const char *before = out->foreign ? replaced_option(out, "--model") : NULL;
    char *joined = before ? arena_format(out->arena, "%s-%s", before, value) : NULL;
    if (joined && strcmp(option, "model") == 0 && zoo_of_repository(replaced_zoo(out), joined)) /* llama3, 70B */
        return (joined = arena_format(out->arena, "--model=%s", joined)) && replaced_put(out, "--model", joined);
    const char *last = strchr("/.~", *value) ? strrchr(value, '/') : NULL; /* a folder that is not here */
    if (last && !out->scripted && !text_ends_in(value, ".json") && zoo_of_repository(replaced_zoo(out), last + 1))
        return replaced_advise(out, "%s is not here: %s is planned, of the zoo", value, last + 1) &&
                       replaced_add(out, "--%s=%s", option, last + 1)
                   ? 1
                   : 0;
    const char *sized_model = *value != '{' ? replaced_model_of_size(out, value) : NULL;
    if (sized_model) return replaced_add(out, "--%s=%s", option, sized_model) ? 1 : 0;
    if (!follows && !again && !strchr(value, '/')) return -1;
    bool sized = words && left > 1 && isdigit((unsigned char)words[1][0]) && !isdigit((unsigned char)*value) &&
                 strspn(words[1], "0123456789.bB") == strlen(words[1]);
    int taken = replaced_model(out, words ? words : inside, words ? left : 1, &name);
    if (taken == 0 && sized)
        return replaced_add(out, "--%s=%s-%s", option, value, words[1]) ? 2 : 0; /* the error names it */
    if (taken == 0 || (taken == 1 && strcmp(name, value) == 0)) return -1;
    return replaced_add(out, "--%s=%s", option, name) ? taken : 0;
}

/* A word that nobody knows: a machine, or of another program's line what is left out, and named; else what to type. */
static int replace_unknown(Replaced *out, char **words, const char *value, int read) {
    enum { PASTED = 3 }; /* so many words of other programs are a line of one */
    bool ok = true, follows = value && is_word(value) && read == 2;
    const char *name = words[0] + strspn(words[0], "-"), *spelling = spelled(out, words[0]);
    if (!strchr(name, '=') && replaced_machine(out, name, out->sized, &ok)) {
        bool count =
            ok && !out->sized && read == 2 && value && strlen(value) < 7 && value[strspn(value, "0123456789")] == '\0';
        return !count ? ok : replaced_add(out, "--%s=%s", out->instance ? "nodes" : "chips", value) ? 2 : 0;
    }
    if (replaced_is_chip(out, name) && !replaced_option(out, "--chip")) return replaced_add(out, "--chip=%s", name);
    const char *answer = unknown_answer(out->command, words[0], out->arena);
    if (!answer || !spelling) return 0;
    if (out->foreign >= PASTED && strncmp(answer, "did you mean", 12) != 0)
        return !replaced_leave(out, &out->left, spelling) ? 0 : follows && !is_of_line(out, value) ? 2 : 1;
    return !replaced_unknown(out, words[0]) ? 0 : follows ? 2 : 1;
}

/* Whether "auto" or the like is a value of the option, or goes with its name. */
static bool takes_value(const Replaced *out, const Meaning *meaning, const char *value) {
    const char *name = strncmp(meaning->what, "--", 2) == 0 ? meaning->what + 2 : "";
    int number = meaning->own >= 0 ? meaning->own : command_option(out->command, name, strcspn(name, " "));
    if (meaning->own < 0 && word_among("pass switch note note= answer", meaning->what)) return true;
    if (number < 0) return false;
    const CommandOption *option = &out->command->options[number];
    return !option->takes || (option->values && word_among(option->values, value)) || strcasestr(option->help, value) ||
           word_value(option->name, value, NULL) || strcmp(option->name, "model") == 0;
}

static int replaced_word(Replaced *out, char **words, int left) {
    const char *word = words[0], *inside = strchr(word, '='), *value = inside ? inside + 1 : left > 1 ? words[1] : NULL;
    static const char NOTHING[] = "false no null none off", CHOSEN[] = "auto ? any best optimal chosen default";
    int read = inside ? 1 : 2;
    Meaning meaning;
    if (word[0] != '-' || !isalpha((unsigned char)word[word[1] == '-' ? 2 : 1])) {
        bool machine = word[0] == '-' && isdigit((unsigned char)word[word[1] == '-' ? 2 : 1]); /* "--8xh100" */
        return machine ? replace_unknown(out, words, NULL, read) : replaced_keep(out, words[0]);
    }
    for (int i = 0; i < out->command->option_count && word[1] != '-' && (!word[2] || word[2] == '='); i++)
        if (command_has_option(out->command, i) && out->command->options[i].letter == word[1] && word[1] == 'o' &&
            value && replaced_has(out, "format") && word_among("json html csv markdown text", value))
            return replaced_add(out, "--format=%s", value) ? read : 0;
        else if (command_has_option(out->command, i) && out->command->options[i].letter == word[1])
            return replaced_keep(out, words[0]);
    int done = replace_adapters(out, word, words, left);
    if (done >= 0) return done;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return replaced_keep(out, words[0]);
    bool known = replaced_meaning(out, word, value, &meaning), off = value && word_among(NOTHING, value);
    if (off &&
        (!known || (meaning.own < 0 && strcmp(meaning.what, "answer") == 0))) /* what is left out is off as well */
        meaning = (Meaning){.what = "pass", .where = "", .own = -1}, known = true;
    bool chosen = value && (word_among(CHOSEN, value) || strncasecmp(value, "same", 4) == 0);
    if (known && chosen && !takes_value(out, &meaning, value)) /* it is chosen anyway */
        return replaced_leave(out, &out->chosen, word) ? read : 0;
    if (!known) return replace_unknown(out, words, value, read);
    const char *option = meaning.own >= 0                      ? out->command->options[meaning.own].name
                         : strncmp(meaning.what, "--", 2) == 0 ? meaning.what + 2
                                                               : "";
    done = replace_model(out, option, (char *)value, inside ? NULL : words + 1, left - 1);
    if (done >= 0) return done == 0 ? 0 : inside ? 1 : 1 + done;
    return meaning.own >= 0 ? replace_own(out, &out->command->options[meaning.own], words[0], value, read)
                            : replace_named(out, &meaning, word, value, read);
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
    if (!word_among("explain check", out->command->name)) return false;
    for (int i = 1; i < out->count; i++)
        if (replaced_is(out->words[i], "--plan") || replaced_is(out->words[i], "--plans") ||
            replaced_is(out->words[i], "--baseline") || strncmp(out->words[i], "--from", 6) == 0)
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

/* Whether a word is a file's name: it is there, or ends as files do; "llama-3.1-70b" ends as models do. */
static bool is_of_file(const char *word) {
    const char *dot = strrchr(word, '.'), *slash = strrchr(word, '/');
    return file_is_there(word) || word[0] == '/' || (dot && dot > slash && isalpha((unsigned char)dot[1]));
}

/* Reads all words, argv[0] as it is. False: memory is out. */
static bool read_all(Replaced *out, int argc, char **argv) {
    const Command *command = out->command;
    out->words[out->count++] = argv[0];
    for (int i = 1; i < argc;) {
        bool ends = strcmp(argv[i], "--") == 0; /* what follows is no option */
        bool is_value = out->words[out->count - 1] == argv[i - 1] && i > 1 && takes_next(command, argv[i - 1]);
        is_value = is_value && (strncmp(argv[i], "--", 2) != 0 ||
                                meaning_own(command, argv[i - 1] + strspn(argv[i - 1], "-")) >= 0);
        bool words = !command->takes_arguments ||
                     (strcmp(command->name, "emit") == 0 && out->count > 1 && !is_of_file(argv[i])) ||
                     (strcmp(command->name, "explain") == 0 && !is_of_file(argv[i]));
        bool stray = argv[i][0] != '-' && words && !is_value;
        for (; ends && i < argc; i++)
            if (!replaced_keep(out, argv[i])) return false;
        if (ends) break;
        if (strncmp(argv[i], "--question", 10) == 0 && ++i) continue;
        bool after = out->after_pass && stray;
        out->after_pass = false;
        if (after && (strspn(argv[i], "0123456789.,") == strlen(argv[i]) || argv[i][0] == '[') && ++i) {
            out->after_pass = true; /* "--cuda-graph-bs 1 2 4" */
            continue;
        }
        int read = stray      ? replaced_stray(out, argv + i, argc - i)
                   : is_value ? replaced_keep(out, argv[i])
                              : replaced_word(out, argv + i, argc - i);
        if (read == 0) return false;
        i += read;
    }
    return true;
}

/* What remains of a line whose unknown words are left out, as its last answer; a line that has more to it. */
static bool add_rest(Replaced *out) {
    enum { LONGEST = 200 };
    Unknown *last = out->unknown;
    while (last->next) last = last->next;
    if (!replaced_option(out, "--model") || !replaced_has(out, "require")) return true;
    char *all = arena_text(out->arena, out->command->name);
    for (int i = 1; all && i < out->count; i++)
        all = arena_format(out->arena, strchr(out->words[i], ' ') ? "%s \"%s\"" : "%s %s", all, out->words[i]);
    if (all && out->conditions) all = arena_format(out->arena, "%s --require=\"%s\"", all, out->conditions);
    if (all && strlen(all) > LONGEST) return true;
    return all && (last->answer = arena_format(out->arena, "%s; without: shardopt %s", last->answer, all)) != NULL;
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
    out.last = &out.unknown;
    out.words = ARENA_NEW(arena, char *, (size_t)out.room);
    if (!words || !out.words) return error_memory(error);
    replaced_look_ahead(&out, count, words);
    if (!read_all(&out, count, words)) return error_memory(error);
    if (!replaced_add_memory(&out) || !replaced_add_job(&out) || !replaced_add_served(&out) ||
        !replaced_add_board(&out))
        return error_memory(error);
    if (out.instance && !replaced_count_instances(&out)) return error_memory(error);
    if (!replaced_add_work(&out) || !replaced_add_size(&out)) return error_memory(error);
    if (!replaced_add_ranks(&out) || !replaced_add_model(&out)) return error_memory(error);
    line->unknown = out.unknown;
    if (out.unknown) return add_rest(&out) ? unknown_words(out.unknown, error) : error_memory(error);
    if (!out.any) return true; /* as it was, a --require that is given twice with it */
    const char *of = is_plan(&out)                                                     ? "plan"
                     : replaced_has(&out, "require") || !replaced_has(&out, "rollout") ? "require"
                                                                                       : "rollout";
    if (out.conditions && !replaced_add(&out, "--%s=%s", of, out.conditions)) return error_memory(error);
    if (out.tokens_rate > 0 && !replaced_add_rate(&out)) return error_memory(error);
    if (out.passed && !replaced_advise(&out, "no plan depends on %s", out.passed)) return error_memory(error);
    if (out.chosen && !replaced_advise(&out, "%s: chosen, as the best", out.chosen)) return error_memory(error);
    if (out.left && !replaced_advise(&out, "not known here, and left out: %s", out.left)) return error_memory(error);
    if (out.unread && !replaced_advise(&out, "not understood, and left out: %s", out.unread))
        return error_memory(error);
    if (out.sentence && !advise_reading(&out)) return error_memory(error);
    line->advice = out.advice;
    *argc = out.count;
    *argv = out.words;
    return true;
}
