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
    bool may = isalpha((unsigned char)word[0]) && (strpbrk(word, ".-_") || strncasecmp(word, "nvl", 3) == 0);
    const Chip *chip = may ? catalog_instance(replaced_catalog(out), word, &chips) : NULL;
    if (!chip) return false;
    out->instance = chips;
    out->instance_is_pod = !chip_has_domains(chip) && slice_chips(chip->pod) == chips;
    return *ok = replaced_add(out, "--chip=%s", chip->name), true;
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

/* Puts a word in the place of an option with its value, which is there; NULL: takes it away. */
static bool put_instead(Replaced *out, const char *option, char *word) {
    for (int i = 1; i < out->count; i++) {
        if (!replaced_is(out->words[i], option)) continue;
        int own = 1 + !strchr(out->words[i], '='), kept = word != NULL;
        if (kept) out->words[i] = word;
        memmove(out->words + i + kept, out->words + i + own, (size_t)(out->count - i - own) * sizeof *out->words);
        out->count -= own - kept;
        break;
    }
    return out->any = true;
}

bool replaced_count_instances(Replaced *out) {
    const char *value = value_of(out, "--nodes");
    if (!value) return out->sized || replaced_add(out, "--chips=%d", out->instance);
    long nodes = strspn(value, "0123456789") == strlen(value) && strlen(value) < 8 ? strtol(value, NULL, 10) : 0;
    if (nodes == 0) return true; /* the error is the option's own */
    char *word = out->instance_is_pod ? arena_format(out->arena, "--pods=%ld", nodes)
                                      : arena_format(out->arena, "--chips=%ld", nodes * out->instance);
    return word && put_instead(out, "--nodes", word);
}

/* "8xH200", "2x4090", "160x8xH100", "4xDGX-H100": how many chips, or (*nodes) instances, of which one. 0: it is none. */
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
    int each;
    *nodes = !replaced_is_chip(out, name) && catalog_instance(replaced_catalog(out), name, &each);
    bool known = *nodes || replaced_is_chip(out, name), starts = isalpha((unsigned char)word[0]);
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
    *ok = slice                                  ? replaced_add(out, "--slice=%s", word)
          : nodes && add_instance(out, name, ok) ? *ok
                                                 : replaced_add(out, "--chip=%s", name);
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

bool replaced_add_work(Replaced *out) {
    const char *samples = value_of(out, "--samples"), *chips = value_of(out, "--chips"),
               *name = value_of(out, "--chip");
    long answers = samples ? strtol(samples, NULL, 10) : 16, number = chips ? strtol(chips, NULL, 10) : 0;
    const Chip *chip = name ? catalog_find(replaced_catalog(out), name) : NULL;
    double wide = chip ? 8e-9 * chip->scaleout_bytes_per_second.value * (double)chip->domain_chips : 0;
    const char *nodes = value_of(out, "--train-nodes");
    int64_t pod = chip && !chip_has_domains(chip) ? slice_chips(chip->pod) : 0;
    if (nodes && value_of(out, "--colocated")) { /* all hosts train and generate */
        char *all = out->sized ? NULL : arena_format(out->arena, "--nodes=%s", nodes);
        if (!put_instead(out, "--train-nodes", all)) return false;
    }
    if (pod > 0 && number > pod && number % pod == 0 && !strchr(chips, ',')) { /* so many pods */
        char *pods = arena_format(out->arena, "--pods=%lld", (long long)(number / pod));
        if (!pods || !put_instead(out, "--chips", pods)) return false;
    }
    if (!name && out->conditions && !out->maxtext && strcmp(command_kind(out->command), "serving") == 0 &&
        !value_of(out, "--slice") && !value_of(out, "--pods") && !value_of(out, "--from-config") &&
        !(replaced_add(out, "--chip=h100") && replaced_advise(out, "H100, as no chip is named")))
        return false;
    if (out->pools > 0 && !out->sized && !(out->sized = replaced_add(out, "--chips=%ld", out->pools))) return false;
    if (out->trainer && !replaced_add(out, "--train-plan=%s", out->trainer)) return false;
    if (out->mini > 0 && !replaced_add(out, "--train-batch=%ld", out->mini * answers)) return false;
    if (out->slices > 1 && !value_of(out, "--slices") && !value_of(out, "--pods") &&
        !(replaced_add(out, "--slices=%lld", (long long)out->slices) &&
          replaced_advise(out, "the axes of DCN are %lld slices; what crosses them is chosen", (long long)out->slices)))
        return false;
    if (out->gigabits > 0 && wide > 0 && out->gigabits < wide &&
        !(replaced_add(out, "--oversubscription=%.4g", wide / out->gigabits) &&
          replaced_advise(out, "a network of %g Gb/s a node is %.4g times narrower than the %.4g of the chip's",
                          out->gigabits, wide / out->gigabits, wide)))
        return false;
    if (out->steps > 0 && !value_of(out, "--tokens") && strcmp(command_kind(out->command), "training") == 0) {
        const char *batch = value_of(out, "--batch"), *sequences = value_of(out, "--sequences");
        const char *seq = value_of(out, "--seq");
        double tokens = batch              ? strtod(batch, NULL)
                        : sequences && seq ? strtod(sequences, NULL) * strtod(seq, NULL)
                                           : 0;
        bool plain =
            !strpbrk(batch ? batch : "", "kKmMgGtT") &&
            (batch || strspn(sequences ? sequences : "/", "0123456789") == strlen(sequences ? sequences : "/"));
        if (tokens > 0 && plain && replaced_has(out, "tokens") && !out->tuned
                ? !replaced_add(out, "--tokens=%.0f", tokens * out->steps)
                : !replaced_advise(out, "a step is planned; --tokens says how long a training is, %g times its batch",
                                   out->steps))
            return false;
    }
    if (out->device == 0) return true;
    long prompts = out->device * (out->passes ? out->passes : 1) * number / answers;
    return prompts > 0 ? replaced_add(out, "--prompts=%ld", prompts) &&
                             replaced_advise(out, "%ld answers a device are %ld prompts a step with %ld answers each",
                                             out->device, prompts, answers)
                       : replaced_advise(out, "a batch of a device is left out: --prompts N says how many a step has");
}

/* What lists a question has where the line names no machine: rows "lists". False: memory is out. */
static bool add_lists(Replaced *out) {
    const char *question = out->question ? out->question : "", *name = value_of(out, "--chip");
    bool serving = strcmp(command_kind(out->command), "serving") == 0, cheapest = strstr(question, "cheapest") != NULL;
    bool goal = value_of(out, "--deadline") || value_of(out, "--budget"),
         tunes = out->tuned || strstr(question, "tunes");
    const char *kind = serving ? "serving" : tunes ? "tuning" : "training";
    const Chip *chip = name ? catalog_find(replaced_catalog(out), name) : NULL;
    bool torus = name && !strchr(name, ',') && chip && !chip_has_domains(chip), sized = out->sized;
    if (!name && !out->sized && (cheapest || goal || strstr(question, "many"))) {
        const char *kinds = cheapest ? word_row("lists", kind)->cell[2] : "h100";
        if (!(serving || tunes || cheapest || strstr(question, "many"))) kinds = "v5p", torus = true;
        if (!replaced_add(out, "--chip=%s", kinds)) return false;
    } else if (!name && sized && cheapest && !value_of(out, "--slice") &&
               !replaced_add(out, "--chip=%s", word_row("lists", kind)->cell[2])) {
        return false;
    }
    if (sized || (!goal && !*question && !(name && strchr(name, ',')))) return true;
    bool one = !*question && !goal; /* machines are compared */
    const char *counts = one     ? serving || tunes ? "8" : "256"
                         : torus ? "16,32,64,128,256,512,1024"
                                 : word_row("lists", kind)->cell[3];
    if (torus && goal) return replaced_add(out, "--pods=1,2,4,8");
    return replaced_add(out, "--%s=%s", serving || tunes || torus || one ? "chips" : "nodes", counts) &&
           (!one || replaced_advise(out, "%s chips of each, as no number is given", counts));
}

bool replaced_add_size(Replaced *out) {
    static const char *const SIZES[] = {"--nodes", "--chips", "--pods", "--slice", "--from", "--from-config", "--help"};
    for (size_t i = 0; i < COUNT_OF(SIZES); i++) out->sized = out->sized || value_of(out, SIZES[i]);
    if (strncmp(out->command->name, "sweep", 5) == 0) return add_lists(out);
    const char *name = value_of(out, "--chip");
    if (out->sized || !name || has_degrees(out->conditions) || !replaced_has(out, "chips")) return true;
    const Chip *chip = catalog_find(replaced_catalog(out), name);
    if (!chip || chip->scaleup != SCALEUP_PCIE) return true;
    return replaced_add(out, "--chips=1") && replaced_advise(out, "one %s, as no number is given", chip->name);
}
