/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machines as people type them: in one word, as instances of clouds, as cards. */
#include "base/number.h"
#include "base/util.h"
#include "mesh/slice.h"
#include "models/config/model_json.h"
#include "search/cli/replaced.h"
#include "search/cli/typed_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An instance of a cloud as a chip, of which --nodes counts instances; false: it is none (*ok), or memory is out. */
static bool add_instance(Replaced *out, const char *word, bool *ok) {
    int chips = 0;
    bool may = isalpha((unsigned char)word[0]) && strpbrk(word, ".-_"); /* as all of their names have */
    const Chip *chip = may ? catalog_instance(replaced_catalog(out), word, &chips) : NULL;
    if (!chip) return false;
    out->instance = chips;
    out->instance_is_pod = !chip_has_domains(chip) && slice_chips(chip->pod) == chips;
    return *ok = replaced_add(out, "--chip=%s", chip->name), true;
}

bool replaced_count_instances(Replaced *out) {
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
    return last || out->sized || replaced_add(out, "--chips=%d", out->instance);
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
    bool slice = typed_slice(word) && replaced_has(out, "slice"), nodes = false;
    if (!replaced_has(out, "chip")) return false;
    if (add_instance(out, word, ok)) return true;
    int64_t count = slice ? 0 : chips_of(out, word, name, &nodes);
    if (!slice && count == 0) return false;
    *ok = slice ? replaced_add(out, "--slice=%s", word) : replaced_add(out, "--chip=%s", name);
    if (slice || sized || !*ok) return true;
    out->sized = true;
    *ok = replaced_add(out, "--%s=%lld", nodes ? "nodes" : "chips", (long long)count);
    return true;
}

bool replaced_lacks_chip(const Replaced *out, Error *error) {
    bool chip = !replaced_has(out, "chip");
    for (int i = 0; i < out->count; i++)
        chip = chip || replaced_is(out->words[i], "--chip") || strncmp(out->words[i], "--from", 6) == 0 ||
               replaced_is(out->words[i], "--help");
    if ((!out->counted && !out->instance) || chip) return false;
    error_set(error, ERROR_INPUT, "--gpus", "has no chip; give one of `shardopt chips` too, say --chip h100");
    return true;
}

/* The value of an option among the words as they became; NULL: it is not there. */
static const char *value_of(const Replaced *out, const char *option) {
    for (int i = 1; i < out->count; i++) {
        const char *word = out->words[i];
        if (!replaced_is(word, option)) continue;
        return word[strlen(option)] == '=' ? word + strlen(option) + 1 : i + 1 < out->count ? out->words[i + 1] : "";
    }
    return NULL;
}

bool replaced_add_ranks(Replaced *out) {
    const char *name = value_of(out, "--model");
    Model model;
    Error other = {0};
    bool mixture = false;
    if (!out->ranks) return true;
    bool read = name && model_load(name, out->arena, &model, &other);
    for (int i = 0; read && i < model.kind_count; i++) mixture = mixture || model.kinds[i].experts > 0;
    const char *meant = arena_format(out->arena, mixture ? "attention_data=%s expert=1" : "copies=%s", out->ranks);
    return meant && replaced_condition(out, meant) &&
           (!mixture || replaced_advise(out,
                                        "%s data-parallel ranks of vLLM share the experts of a mixture, each cut over "
                                        "all GPUs; --enable-expert-parallel lays whole experts on them",
                                        out->ranks));
}

bool replaced_add_rate(Replaced *out) {
    int64_t answer = 256;
    Error other = {0};
    const char *text = value_of(out, "--answer");
    if (text && !number_whole(text, "", 1, 1 << 28, &answer, &other)) return true; /* the error is the option's own */
    return replaced_add(out, "--rate=%.4g", out->tokens_rate / (double)answer) &&
           replaced_advise(out, "%.10g tokens/s are answers of %lld tokens: --rate %.4g", out->tokens_rate,
                           (long long)answer, out->tokens_rate / (double)answer);
}

/* Whether conditions say how many chips there are at least: all but those of passes. */
static bool has_degrees(const char *conditions) {
    for (const char *at = conditions; at && *at; at += strspn(at, " ")) {
        if (strncmp(at, "microbatch", 10) != 0) return true;
        at += strcspn(at, " ");
    }
    return false;
}

bool replaced_add_size(Replaced *out) {
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
    if (!name || has_degrees(out->conditions) || !replaced_has(out, "chips")) return true;
    const Chip *chip = catalog_find(replaced_catalog(out), name);
    if (!chip || chip->scaleup != SCALEUP_PCIE || strcmp(out->command->name, "sweep") == 0) return true;
    return replaced_add(out, "--chips=1") && replaced_advise(out, "one %s, as no number is given", chip->name);
}
