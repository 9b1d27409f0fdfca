/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words without an option: "llama 8b on 64 a100 40gb, 16k context". */
#include "base/file.h"
#include "base/util.h"
#include "models/parameters.h"
#include "search/cli/commands.h"
#include "search/cli/replaced.h"
#include "search/cli/synonyms.h"
#include "search/options/machine_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool replaced_is_filler(const char *word) { return word_says("ask", "nothing", word); }

/* What is trained, or how, in one word: "lora", as an option; NULL: it is none, or the command has no such option. */
static const char *way_of(const Replaced *out, const char *word) {
    const WordRow *row = word_row("command", word);
    const char *option = row ? row->cell[3] : NULL;
    bool has = option && option[0] && command_option(out->command, option + 2, strcspn(option + 2, "=")) >= 0;
    return has ? option : NULL;
}

static bool is_unit(const char *word) {
    for (int i = 0; i < WORD_ROW_COUNT; i++)
        if (strcmp(WORD_ROWS[i].cell[0], "unit") == 0 && word_among(WORD_ROWS[i].cell[1], word)) return true;
    return false;
}

/* "64", "x8", "one": how many; 0: it is no number. */
static int64_t count_of(const char *word) {
    static const char *const NUMBERS[] = {"one", "two", "three", "four", "five", "six", "seven", "eight"};
    if (strcasecmp(word, "single") == 0) return 1;
    for (size_t i = 0; i < COUNT_OF(NUMBERS); i++)
        if (strcasecmp(NUMBERS[i], word) == 0) return (int64_t)i + 1;
    const char *digits = word + (tolower((unsigned char)word[0]) == 'x' || word[0] == '~');
    size_t length = strspn(digits, "0123456789"), end = length + (tolower((unsigned char)digits[length]) == 'x');
    return length > 0 && length < 9 && digits[end] == '\0' ? atoll(digits) : 0;
}

int replaced_chip_words(Replaced *out, char **words, int left, char name[64]) {
    char joined[64] = "";
    int found = 0, each;
    if (left > 1 && word_among("model models", words[1])) return 0; /* "a frontier model" is of no machine */
    for (int count = 1; count <= 3 && count <= left && words[count - 1][0] && words[count - 1][0] != '-'; count++) {
        size_t used = strlen(joined), length = strlen(words[count - 1]);
        if (used + length + 2 > sizeof joined) break;
        bool memory = count > 1 && length > 2 && isdigit((unsigned char)words[count - 1][0]) &&
                      strcasecmp(words[count - 1] + length - 2, "gb") == 0;
        snprintf(joined + used, sizeof joined - used, "%s%.*s", used ? "-" : "", (int)length - memory,
                 words[count - 1]);
        bool plural = strcasecmp(words[count - 1], "gbs") != 0 && strlen(joined) > 1 &&
                      tolower((unsigned char)joined[strlen(joined) - 1]) == 's' && !replaced_is_chip(out, joined);
        if (plural) joined[strlen(joined) - 1] = '\0';
        if (replaced_is_chip(out, joined) || catalog_instance(replaced_catalog(out), joined, &each))
            found = count, snprintf(name, 64, "%s", joined);
        else if (memory && found == count - 1) /* a chip has the memory that it has */
            found = count;
    }
    return found;
}

/* By the name that the catalog has, so that "H100" and an instance of it are the same word; of a second one, of which
 * lists are made, behind the first. */
static bool add_chip(Replaced *out, const char *name) {
    const Chip *chip = catalog_find(replaced_catalog(out), name);
    name = chip ? chip->name : name;
    for (int i = 1; i < out->count && strncmp(out->command->name, "sweep", 5) == 0; i++)
        if (strncmp(out->words[i], "--chip=", 7) == 0 && !word_among(out->words[i] + 7, name))
            return (out->words[i] = arena_format(out->arena, "%s,%s", out->words[i], name)) != NULL;
    return replaced_add(out, "--chip=%s", name);
}

/* A machine in words: "64 a100", "h100 x8", "p4d.24xlarge x 16", "8 nodes of 8 h100". As Replaced.word returns; -1: it
 * is none. */
static int part_of_machine(Replaced *out, char **words, int left) {
    char name[64];
    if (!replaced_has(out, "chip")) return -1;
    int at = strcasecmp(words[0], "x") == 0 && left > 1, taken = 0, each = 0;
    int64_t count = count_of(words[at]),
            more = left > at + 3 && word_among("x * of by", words[at + 1]) ? count_of(words[at + 2]) : 0;
    bool ok = true;
    if (count > 0 && replaced_is_chip(out, words[at]) &&
        !(left > 1 && replaced_chip_words(out, words + 1, left - 1, name)))
        count = 0; /* a 3090 */
    if (more > 0 && count > 0 &&
        (taken = replaced_chip_words(out, words + at + 3, left - at - 3, name)) > 0) /* "32 x 8 h200" */
        return replaced_add(out, "--chips=%lld", (long long)(count * more)) && (out->sized = true) &&
                       add_chip(out, name)
                   ? at + 3 + taken
                   : 0;
    if (count == 0) {
        taken = at ? 0 : replaced_chip_words(out, words, left, name);
        if (taken == 0) return -1;
        bool instance = !replaced_is_chip(out, name) && replaced_machine(out, name, true, &ok);
        return (instance ? ok : add_chip(out, name)) ? taken : 0;
    }
    bool cloud = out->instance > 0 || strpbrk(words[-1], "._") || strstr(words[-1], "gpu-");
    bool follows = replaced_is_chip(out, words[-1]) || (out->instance > 0 && !out->sized);
    at += left > at + 2 && word_among("x *", words[at + 1]); /* "4 x a100" */
    if (!follows) taken = left > at + 1 ? replaced_chip_words(out, words + at + 1, left - at - 1, name) : 0;
    if (!follows && taken == 0) return -1;
    bool hosts = taken > 0 && out->count > 1 && strncmp(out->words[out->count - 1], "--nodes=", 8) == 0;
    if (hosts && count <= 1024) return out->instance = (int)count, add_chip(out, name) ? at + 1 + taken : 0;
    bool instance = taken > 0 && catalog_instance(replaced_catalog(out), name, &each);
    if (instance || (taken > 0 && replaced_is_instance(out, name))) { /* "4x p5.48xlarge": so many */
        ok = replaced_add(out, "--nodes=%lld", (long long)count) && (out->sized = true);
        if (ok && !(instance && replaced_machine(out, name, true, &ok))) ok = add_chip(out, name);
        return ok ? at + 1 + taken : 0;
    }
    if (!replaced_add(out, "--%s=%lld", follows && cloud ? "nodes" : "chips", (long long)count)) return 0;
    out->sized = true;
    return taken > 0 && !add_chip(out, name) ? 0 : at + 1 + taken;
}

bool replaced_machine_text(Replaced *out, const char *text, bool *ok) {
    char *copy = arena_text(out->arena, text), *rest = NULL, *words[12];
    int count = 1, before = out->count;
    if (strchr(text, ',') && !strpbrk(text, "={")) return false; /* a list of chips */
    words[0] = (char *)"";                                       /* part_of_machine() looks at the word before */
    for (char *word = copy ? strtok_r(copy, " ,=*_;{}\":", &rest) : NULL; word && count < (int)COUNT_OF(words);
         word = strtok_r(NULL, " ,=*_;{}\":", &rest))
        if (!word_among("type count kind name nvidia node nodes sxm sxm5 sxm4 gpu gpus", word)) words[count++] = word;
    for (int i = 1, read; i<count; i += read> 0 ? read : 1) {
        bool named = replaced_option(out, "--chip") && count_of(words[i]) == 0 && strcasecmp(words[i], "x") != 0;
        read = named ? -1 : part_of_machine(out, words + i, count - i);
        if (read < 0 && i == count - 1 && count_of(words[i]) > 0 && !out->sized && replaced_option(out, "--chip"))
            read = replaced_add(out, "--chips=%lld", (long long)count_of(words[i])) && (out->sized = true);
        if (read < 0 && !named && replaced_machine(out, words[i], out->sized, ok)) read = *ok;
        if (read == 0) return *ok = false;
    }
    return copy && out->count > before;
}

/* A number and its unit: "60 days", "a month", "16k context", "15T tokens", "4M token batch". As Replaced.word returns;
 * -1: it is none. */
static int number_of_unit(Replaced *out, char **words, int left) {
    static const char *const LETTERS[] = {"million", "M", "billion", "G", "trillion", "T"};
    bool one = strcasecmp(words[0], "a") == 0 || count_of(words[0]) > 0, tokens = false;
    size_t digits = strspn(words[0], "0123456789.,"),
           unit = digits + (words[0][digits] && strchr("kKmMgGtTbB", words[0][digits]));
    const char *number = digits > 0 && !words[0][unit] ? words[0] : one ? "1" : NULL;
    int at = 1;
    if (count_of(words[0]) > 1 && !isdigit((unsigned char)words[0][0]))
        number = arena_format(out->arena, "%lld", (long long)count_of(words[0]));
    for (size_t i = 0; i + 1 < COUNT_OF(LETTERS) && number && at < left; i += 2)
        if (strcasecmp(words[at], LETTERS[i]) == 0)
            number = arena_format(out->arena, "%s%s", number, LETTERS[i + 1]), at++, i = COUNT_OF(LETTERS);
    if (!number || at >= left ||
        (digits > 0 && tolower((unsigned char)words[0][digits]) == 'b' && !word_among("token tokens", words[at])))
        return -1;
    tokens = word_among("token tokens", words[at]);
    bool of =
        tokens && left > at + 1 && (strcasecmp(words[at + 1], "of") == 0 || strcasecmp(words[at + 1], "per") == 0);
    const char *name = tokens && left > at + 1 + of ? words[at + 1 + of] : words[at];
    if (tokens && (!isdigit((unsigned char)words[0][0]) || word_says("ask", "before", name))) name = words[at];
    for (int i = 0; i < WORD_ROW_COUNT; i++) {
        const char *const *cell = WORD_ROWS[i].cell;
        if (strcmp(cell[0], "unit") != 0 || !word_among(cell[1], name)) continue;
        const char *option = tokens && strcmp(cell[2], "--global-batch") == 0 ? "--batch-tokens" : cell[2];
        double times = cell[3] && *cell[3] ? strtod(cell[3], NULL) : 1;
        char *word = times > 1 ? arena_format(out->arena, "%s=%g%s", option, times * strtod(number, NULL), cell[4])
                               : arena_format(out->arena, "%s=%s%s", option, number, cell[4] ? cell[4] : "");
        bool each = left > at + 1 && strcasecmp(words[at + 1], "each") == 0; /* "25 tok/s per user" */
        each = each || (left > at + 2 && word_among("user users", words[at + 2]));
        if (word_among("tokens/s tok/s", name) && each && replaced_has(out, "tpot"))
            return replaced_add(out, "--tpot=%.4gms", 1000 / max_real(1e-3, strtod(number, NULL))) ? at + 1 : 0;
        if (word_among("tokens/s tok/s", name))
            return !replaced_has(out, "rate") ? -1 : (out->tokens_rate = strtod(number, NULL), out->any = true, at + 1);
        if (!word || !replaced_has(out, "model")) return word ? -1 : 0;
        if (strcmp(option, "--chips") == 0) out->counted = out->sized = true;
        return out->word(out, &word, 1) ? (tokens ? at + 2 + of : at + 1) : 0;
    }
    char *word = tokens && strpbrk(number, "BTGbtgM") ? arena_format(out->arena, "--tokens=%s", number) : NULL;
    return !word ? -1 : out->word(out, &word, 1) ? at + 1 : 0;
}

/* "seq 4096", "batch of 64", "model=gpt2", "bf16": an option without its hyphens. As Replaced.word returns; -1: it is
 * none. */
static int bare_option(Replaced *out, char **words, int left) {
    bool inside = strchr(words[0], '=') != NULL;
    int at = left > 2 && word_among("of size length = < <= under below at is per to around about", words[1]) ? 2 : 1;
    bool numbered = left > at && isdigit((unsigned char)words[at][0]);
    Meaning meaning;
    bool ok = true;
    if (!isalpha((unsigned char)words[0][0])) return -1;
    bool known = replaced_meaning(out, words[0], numbered ? words[at] : NULL, &meaning);
    bool trains = strcmp(command_kind(out->command), "training") == 0;
    const char *batch = strncmp(words[0], "batch", 5) == 0 && trains ? "global-" : ""; /* as 4M is meant */
    const char *plan = inside ? NULL : replaced_degrees(out, words[0]);
    if (inside) { /* sizes as the field writes them */
        const char *name = known && meaning.own >= 0 ? out->command->options[meaning.own].name : NULL;
        const char *value = name ? replaced_size(out, name, strchr(words[0], '=') + 1, &ok) : NULL;
        char *word =
            value ? arena_format(out->arena, "--%s=%s", name, value)
                  : arena_format(out->arena, "--%s%s", strncmp(words[0], "batch=", 6) == 0 ? batch : "", words[0]);
        return !ok || !word || out->word(out, &word, 1) == 0 ? 0 : 1;
    }
    const char *copies = plan && strcmp(command_kind(out->command), "serving") == 0 ? strstr(plan, "data=") : NULL;
    if (copies) plan = arena_format(out->arena, "%.*scopies=%s", (int)(copies - plan), plan, copies + 5);
    if (copies && !plan) return 0;
    if (plan) return out->any = true, replaced_condition(out, plan) ? 1 : 0; /* "tp4" */
    bool own = known && meaning.own >= 0, rest = known && strcmp(meaning.what, "@rest") == 0;
    bool leaves = known && !own && (meaning.any || word_among("pass switch note note= answer", meaning.what));
    bool flag = known && !leaves &&
                (own ? !out->command->options[meaning.own].takes
                     : rest || (strpbrk(meaning.what, " =") && !strstr(meaning.what, "{}")));
    const WordRow *bare = word_row("bare", words[0]);
    if (left > 1 && strcasecmp(words[1], "kv") == 0 && word_among("int8 fp8 int4 bf16 8bit", words[0]) &&
        replaced_has(out, "kv-dtype")) /* "int8 kv cache" */
        return replaced_add(out, "--kv-dtype=%s", strcmp(words[0], "8bit") == 0 ? "int8" : words[0])
                   ? 2 + (left > 2 && strncasecmp(words[2], "cache", 5) == 0)
                   : 0;
    if (bare && replaced_has(out, bare->cell[2])) return replaced_add(out, "--%s=%s", bare->cell[2], bare->cell[3]);
    if (!known || leaves || (!numbered && !flag)) return -1;
    if (out->model && (meaning_is(&meaning, "--model") || (own && strcmp(words[0], "model") == 0))) return -1;
    const char *value = flag ? NULL : words[at];
    if (own && !*batch) value = replaced_size(out, out->command->options[meaning.own].name, words[at], &ok);
    char *word =
        flag ? arena_format(out->arena, "--%s", words[0])
             : arena_format(out->arena, "--%s=%s", *batch ? "global-batch" : words[0], value ? value : words[at]);
    return !ok || !word ? 0 : out->word(out, &word, 1) ? (flag ? 1 : at + 1) : 0;
}

const char *replaced_model_of_size(Replaced *out, const char *word) {
    char *end;
    if (!word) return NULL;
    double billions = strtod(word, &end), nearest = 1.35; /* within a third */
    const Model *found = NULL;
    bool trillions = tolower((unsigned char)*end) == 't',
         sized = billions > 0 && (trillions || tolower((unsigned char)*end) == 'b');
    const char *kind = sized && (end[1] == '-' || end[1] == '_') ? end + 2 : "";
    if (!sized || out->scripted || (end[1] && !word_among("dense moe", kind)) || word[0] == '-') return NULL;
    if (!*kind && word_says("plain", "known", word)) return NULL;
    const WordRow *row = word_row("plain", *kind ? kind : "dense");
    char *names = row ? arena_text(out->arena, row->cell[2]) : NULL, *rest = NULL;
    for (char *name = names ? strtok_r(names, " ", &rest) : NULL; name; name = strtok_r(NULL, " ", &rest)) {
        const Model *model = zoo_find(replaced_zoo(out), name);
        double ratio = model ? (double)model_parameters(model).total / (billions * (trillions ? 1e12 : 1e9)) : 0;
        if (ratio > 0 && ratio < 1) ratio = 1 / ratio;
        if (ratio > 0 && ratio < nearest) nearest = ratio, found = model;
    }
    return found && replaced_advise(out,
                                    "%s is planned as %s, the nearest of the plain models; --model takes others "
                                    "and a config.json",
                                    word, found->name)
               ? found->name
               : NULL;
}

int replaced_model(Replaced *out, char **words, int left, const char **name) {
    bool kind = left > 1 && word_among("dense moe", words[1]);
    const char *sized =
        replaced_model_of_size(out, kind ? arena_format(out->arena, "%s-%s", words[0], words[1]) : words[0]);
    if (sized) return *name = sized, 1 + kind;
    const Zoo *zoo = replaced_zoo(out);
    for (int slip = 0; slip < 2; slip++)
        for (int count = left < 5 ? left : 5; count > 0; count--) {
            char joined[96] = "";
            bool may = words[0][0] && (count == 1 || !strchr(words[0], '/'));
            for (int i = 0; i < count && may; i++) {
                size_t used = strlen(joined);
                may = words[i][0] != '-' && used + strlen(words[i]) + 2 < sizeof joined && !strchr(words[i], '=') &&
                      (i == 0 || !slip || !replaced_is_chip(out, words[i]));
                if (may) snprintf(joined + used, sizeof joined - used, "%s%s", used ? "-" : "", words[i]);
            }
            const char *last = words[count - 1];
            if (!may || (count > 1 && last[strspn(last, "0123456789")] == '\0')) continue;
            bool of_size = isdigit((unsigned char)last[0]) && tolower((unsigned char)last[strlen(last) - 1]) == 'b';
            const Model *found = slip         ? zoo_meant(zoo, joined)
                                 : count == 1 ? zoo_of_name(zoo, joined)
                                              : zoo_of_repository(zoo, joined);
            if (slip && !found && of_size && count > 1) found = zoo_near(zoo, joined); /* "qwen 7b" */
            if (!found) continue;
            bool said = !slip || replaced_advise(out, "%s is read as %s", joined, found->name);
            *name = slip ? found->name : arena_text(out->arena, joined);
            return said && *name ? count : 0;
        }
    return *name = words[0], 0;
}

/* A word that nobody understands is named: in a sentence with the others. */
static int leave_word(Replaced *out, const char *word) {
    if (replaced_is_filler(word)) return out->any = true, 1;
    out->unread = arena_format(out->arena, "%s%s%s", out->unread ? out->unread : "", out->unread ? ", " : "", word);
    return out->any = true, out->unread != NULL;
}

/* "a single 48GB card", "one 80gb a100". As Replaced.word returns; -1: it is none. */
static int of_cards(Replaced *out, char **words, int left) {
    const char *word = words[0];
    size_t digits = left > 2 ? strspn(words[1], "0123456789") : 0;
    if (digits > 0 && strcasecmp(words[1] + digits, "gb") == 0 && count_of(word) > 0 && replaced_has(out, "chip")) {
        bool card = word_among("card gpu vram", words[2]), chip = replaced_is_chip(out, words[2]);
        char *memory = card || chip ? arena_format(out->arena, "--vram=%.*s", (int)digits, words[1]) : NULL;
        if (memory && (out->word(out, &memory, 1) == 0 || (chip && !add_chip(out, words[2])) ||
                       !replaced_add(out, "--chips=%lld", (long long)count_of(word))))
            return 0;
        if (memory) return out->sized = true, 3;
    }
    return -1;
}

/* "no nvlink", "pcie", "100GbE", "400G infiniband", "infiniband 400G". As Replaced.word returns; -1: it is none. */
static int of_board(Replaced *out, char **words, int left) {
    static const char NETWORKS[] = "infiniband ib ethernet roce efa network nic interconnect slingshot ndr hdr rdma";
    const char *word = words[0], *rate = word;
    size_t digits = strspn(word, "0123456789");
    if (strcasecmp(word, "no") == 0 && left > 1 && strcasecmp(words[1], "nvlink") == 0)
        return out->pcie = out->any = true, 2;
    if (strcasecmp(word, "pcie") == 0) return out->pcie = out->any = true, 1;
    bool before = digits == 0 && left > 1 && word_among(NETWORKS, word) && isdigit((unsigned char)*words[1]) &&
                  strpbrk(words[1], "gG");
    bool alone = digits > 0 && word_among("gbe gbps gb/s gbit gbit/s", word + digits);
    bool after = digits > 0 && left > 1 && word_among("g gb gbps", word + digits) && word_among(NETWORKS, words[1]);
    if (!before && !alone && !after) return -1;
    rate = before ? words[1] : word;
    char *option = arena_format(out->arena, "--network=%s %.*sG",
                                before  ? word
                                : after ? words[1]
                                        : "ethernet",
                                (int)strspn(rate, "0123456789"), rate);
    bool one = alone && strcasecmp(word + digits, "gbe") != 0; /* of a host */
    if (one) option = arena_format(out->arena, "--network=%.*sGbps", (int)digits, word);
    if (!option || !replaced_has(out, "network")) return option ? before || after ? 2 : 1 : 0;
    return out->word(out, &option, 1) ? before || after ? 2 : 1 : 0;
}

/* "avg 900 tokens". As Replaced.word returns; -1: it is none. */
static int of_length(Replaced *out, char **words, int left) {
    const char *word = words[0];
    bool mean = left > 2 && word_among("avg mean average", word) && isdigit((unsigned char)words[1][0]) &&
                strncasecmp(words[2], "token", 5) == 0;
    if (mean && (replaced_has(out, "mean-length") || replaced_has(out, "answer"))) {
        char *length =
            arena_format(out->arena, "--%s=%s", replaced_has(out, "mean-length") ? "mean-length" : "answer", words[1]);
        return length && out->word(out, &length, 1) ? 3 : 0;
    }
    return -1;
}

/* "gbs512", "48GB", "4x48GB", "128k", "2.20 an hour". As Replaced.word returns; -1: it is none. */
static int joined_number(Replaced *out, char **words, int left) {
    const char *word = words[0];
    size_t letters = 0, digits = strspn(word, "0123456789.");
    int cards = 0, gigabytes = 0, end = 0;
    while (isalpha((unsigned char)word[letters])) letters++;
    if (letters > 1 && letters < 12 && word[letters] && word[letters + strspn(word + letters, "0123456789")] == '\0' &&
        !replaced_is_chip(out, word)) {
        Meaning meaning;
        char *option = arena_format(out->arena, "--%.*s=%s", (int)letters, word, word + letters);
        bool known = option && replaced_meaning(out, option, NULL, &meaning);
        static const char SIZES[] = "sequences batch seq max-length prompt answer concurrency";
        const char *name = !known                                ? ""
                           : meaning.own >= 0                    ? out->command->options[meaning.own].name
                           : strncmp(meaning.what, "--", 2) == 0 ? meaning.what + 2
                                                                 : "";
        bool is = known && (word_among(SIZES, name) || meaning_is(&meaning, "microbatch_sequences"));
        return !option ? 0 : !is ? -1 : out->word(out, &option, 1);
    }
    const char *stored = digits == 0 && strpbrk(word, "0123456789") ? word_value("precision", word, NULL) : NULL;
    if (stored && strcmp(command_kind(out->command), "serving") == 0)
        return replaced_advise(out, "%s is read as %s", word, stored) && replaced_add(out, "--precision=%s", stored);
    if (sscanf(word, "%4dx%4d%n", &cards, &gigabytes, &end) == 2 && strcasecmp(word + end, "gb") == 0 && cards > 0)
        return replaced_cards(out, cards, gigabytes) ? 1 : 0;
    if (digits > 0 && strcasecmp(word + digits, "gb") == 0 && !replaced_option(out, "--chip") && !out->vram &&
        replaced_has(out, "chip"))
        return replaced_cards(out, 0, atoi(word)) ? 1 : 0;
    if (digits > 0 && digits < 6 && strcasecmp(word + digits, "k") == 0) {
        char *context = arena_format(out->arena, "--context=%s", word);
        return context ? out->word(out, &context, 1) : 0;
    }
    if (digits > 0 && !word[digits] && left > 1 && replaced_has(out, "price") &&
        ((word_among("an a per", words[1]) && left > 2 && word_among("hour gpu gpu-hour hr gpu/hour", words[2])) ||
         word_among("/hr /hour /gpu/hr /gpu-hour usd/hr $/hr $/gpu-hour", words[1])))
        return replaced_add(out, "--price=%s", word) ? (words[1][0] == '/' || strchr(words[1], '/') ? 2 : 3) : 0;
    return -1;
}

int replaced_stray(Replaced *out, char **words, int left) {
    char *word = words[0];
    const char *name = NULL;
    bool ok = true, json = text_ends_in(word, ".json"), script = false;
    static const char *const FILES[] = {".py", ".sh", ".yaml", ".yml", ".toml"};
    for (size_t i = 0; i < COUNT_OF(FILES); i++) script = script || text_ends_in(word, FILES[i]);
    size_t number = *word == '$' ? strspn(word + 1, "0123456789.") : 0;
    if (number > 0 && replaced_has(out, "price")) { /* "$1.80/gpu-hour", "$2M" */
        bool all = word[number + 1] && strchr("kKmM", word[number + 1]);
        return !all                          ? replaced_add(out, "--price=%.*s", (int)number, word + 1)
               : replaced_has(out, "budget") ? replaced_add(out, "--budget=%s", word + 1)
                                             : replaced_keep(out, word);
    }
    if (out->count > 1 && isdigit((unsigned char)*word) &&
        strncmp(out->command->name, "sweep", 5) == 0 && /* "--pods 1 2 4" */
        isdigit((unsigned char)words[-1][0]) && word[strspn(word, "0123456789")] == '\0')
        return (out->words[out->count - 1] = arena_format(out->arena, "%s,%s", out->words[out->count - 1], word)) !=
               NULL;
    if (isalpha((unsigned char)*word) && strchr(word, '=')) return bare_option(out, words, left);
    if (left > 1 && word_among("or vs versus", words[1]) && strncasecmp(word, "colocat", 7) == 0)
        return out->any = true, left > 2 ? 3 : 2;
    const char *why = replaced_has(out, "chip") && out->model ? chip_not_planned(word) : NULL;
    if (why) return replaced_refuse(out, word, why);
    int said = of_board(out, words, left);
    if (said < 0) said = of_cards(out, words, left);
    if (said < 0) said = of_length(out, words, left);
    bool unit = left > 1 && (is_unit(words[1]) || strncasecmp(words[1], "token", 5) == 0);
    if (said < 0 && !unit) said = joined_number(out, words, left);
    if (said >= 0) return said;
    const char *way = way_of(out, word);
    if (way) return replaced_add(out, "%s", way);
    int read = number_of_unit(out, words, left);
    if (read < 0) read = part_of_machine(out, words, left);
    bool priced = strncasecmp(word, "pric", 4) == 0 && left > 1 && words[1][strspn(words[1], "0123456789.")];
    bool numbered = left > 1 && isdigit((unsigned char)words[1][0]) && !word_says("ask", "before", word) && !priced &&
                    strcasecmp(words[-1], "per") != 0;
    if (read < 0 && numbered) read = bare_option(out, words, left);
    if (read >= 0) return read;
    if (word_says("ask", "adapts", word) && strcmp(command_kind(out->command), "rl") == 0 && out->sentence)
        return leave_word(out, word);
    if (strspn(word, "-/&+,.") == strlen(word) && out->sentence) return out->any = true, 1;
    if (json && !out->model && replaced_has(out, "model") && !word_among("explain emit check", out->command->name))
        return out->model = true, replaced_add(out, "--model=%s", word);
    if (script || (json && out->model)) return replaced_leave(out, &out->left, word);
    if (replaced_is_filler(word) || strcasecmp(words[-1], "per") == 0) return out->any = true, 1;
    if (replaced_machine(out, word, out->sized, &ok)) return ok;
    read = priced ? -1 : bare_option(out, words, left);
    if (read >= 0) return read;
    if (!out->model && !(word = words[0] = replaced_tag(out, word))) return 0;
    bool may = !out->model && !json && word[0] && replaced_has(out, "model");
    int model = may ? replaced_model(out, words, left, &name) : 0;
    if (model == 0 && out->sentence) return leave_word(out, word);
    if (model == 0 && may) model = 1; /* the error names it */
    if (model == 0 && out->foreign > 0 && out->model && !file_is_there(word))
        return replaced_leave(out, &out->left, word);
    if (model == 0) return replaced_keep(out, word);
    out->model = true;
    return replaced_add(out, "--model=%s", name) ? model : 0;
}
