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

bool replaced_is_instance(Replaced *out, const char *name) {
    int each;
    return strpbrk(name, "._") || strstr(name, "gpu-") ||
           (!replaced_is_chip(out, name) && catalog_instance(replaced_catalog(out), name, &each));
}

/* An instance of a cloud as a chip, of which --nodes counts instances; false: it is none (*ok), or memory is out. */
static bool add_instance(Replaced *out, const char *word, bool *ok) {
    int chips = 0;
    char cloud[16]; /* "azure:Standard_ND96amsr_A100_v4" */
    size_t before = strcspn(word, ":");
    snprintf(cloud, sizeof cloud, "%.*s", (int)min_whole(15, (int64_t)before), word);
    if (word[before] && (strcmp(cloud, "gcp") == 0 || word_says("ask", "clouds", cloud))) word += before + 1;
    bool family = *word && strlen(word) < 6 && strchr("pPaA", word[0]) && isdigit((unsigned char)word[1]); /* "p5en" */
    bool may = isalpha((unsigned char)word[0]) && (strpbrk(word, ".-_") || strncasecmp(word, "nvl", 3) == 0 || family);
    const Chip *chip = may ? catalog_instance(replaced_catalog(out), word, &chips) : NULL;
    if (!chip) return false;
    out->instance = chips;
    out->instance_is_pod = !chip_has_domains(chip) && slice_chips(chip->pod) == chips;
    return *ok = replaced_add(out, "--chip=%s", chip->name), true;
}

bool replaced_count_instances(Replaced *out) {
    const char *value = replaced_option(out, "--nodes");
    if (!value) return out->sized || replaced_add(out, "--chips=%d", out->instance);
    long nodes = strspn(value, "0123456789") == strlen(value) && strlen(value) < 8 ? strtol(value, NULL, 10) : 0;
    if (nodes == 0) return true; /* the error is the option's own */
    const char *name = replaced_option(out, "--chip");
    const Chip *chip = name ? catalog_find(replaced_catalog(out), name) : NULL;
    if (replaced_has(out, "gpus-per-node") && !(chip && !chip_has_domains(chip)))
        return replaced_option(out, "--gpus-per-node") || replaced_add(out, "--gpus-per-node=%d", out->instance);
    char *word = out->instance_is_pod ? arena_format(out->arena, "--pods=%ld", nodes)
                                      : arena_format(out->arena, "--chips=%ld", nodes * out->instance);
    return word && replaced_put(out, "--nodes", word);
}

/* "8xH200", "2x4090", "160x8xH100", "4xDGX-H100": how many chips, or (*nodes) instances, of which one; 0: none. */
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
    if (*name == ' ') memmove(name, name + 1, strlen(name));
    int each;
    bool known = replaced_is_chip(out, name) || catalog_instance(replaced_catalog(out), name, &each),
         starts = isalpha((unsigned char)word[0]);
    *nodes = known && replaced_is_instance(out, name);
    return all <= 0 || (!known && (starts || !isalpha((unsigned char)name[0]))) ||
                   (starts && replaced_is_chip(out, word))
               ? 0
               : all;
}

bool replaced_machine(Replaced *out, const char *word, bool sized, bool *ok) {
    char name[64];
    bool slice = typed_slice(word) && replaced_has(out, "slice"), nodes = false;
    if (!replaced_has(out, "chip")) return false;
    const char *dash = strrchr(word, '-'); /* "ironwood-1024" */
    if (!slice && dash && dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1) && strlen(dash) < 8 &&
        !replaced_is_chip(out, word)) {
        snprintf(name, sizeof name, "%.*s", (int)min_whole(63, dash - word), word);
        const Chip *chip = catalog_find(replaced_catalog(out), name);
        if (chip && (!chip_has_domains(chip) || atoi(dash + 1) > 7)) {
            *ok = replaced_add(out, "--chip=%s", chip->name);
            if (!sized) *ok = *ok && replaced_add(out, "--chips=%s", dash + 1), out->sized = true;
            return true;
        }
    }
    if (add_instance(out, word, ok)) return true;
    int64_t count = slice ? 0 : chips_of(out, word, name, &nodes);
    if (!slice && count == 0) return false;
    *ok = slice                                  ? replaced_add(out, "--slice=%s", word)
          : nodes && add_instance(out, name, ok) ? *ok
                                                 : replaced_add(out, "--chip=%s", name);
    if (slice || !*ok) return true;
    const Chip *chip = catalog_find(replaced_catalog(out), name);
    bool host = sized && !nodes && chip && chip_has_domains(chip) && count < chip->domain_chips;
    if (host) out->instance = (int)count; /* "--nodes 4 --gres=gpu:a100:4" */
    if (sized) return true;
    out->sized = true;
    *ok = replaced_add(out, "--%s=%lld", nodes ? "nodes" : "chips", (long long)count);
    out->counted = out->counted || !nodes;
    return true;
}

bool replaced_add_ranks(Replaced *out) {
    const char *name = replaced_option(out, "--model");
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
    const char *text = replaced_option(out, "--answer");
    if (text && !number_whole(text, "", 1, 1 << 28, &answer, &other)) return true; /* the error is the option's own */
    return replaced_add(out, "--rate=%.4g", out->tokens_rate / (double)answer) &&
           replaced_advise(out, "%.10g tokens/s are answers of %lld tokens: --rate %.4g", out->tokens_rate,
                           (long long)answer, out->tokens_rate / (double)answer);
}

bool replaced_add_memory(Replaced *out) {
    const char *name = replaced_option(out, "--chip");
    if (out->hourly > 0) {
        int each = out->instance ? out->instance : 8;
        if (!replaced_add(out, "--price=%.4g", out->hourly / each) ||
            !replaced_advise(out, "%.10g dollars an hour are of %d chips: --price %.4g", out->hourly, each,
                             out->hourly / each))
            return false;
    }
    if (out->network > 0 && !replaced_option(out, "--network")) {
        int nics = out->network_is_of_nic ? out->nics ? out->nics : 8 : 1;
        if (!replaced_add(out, "--network=%gGbps", out->network * nics) ||
            (nics > 1 && !replaced_advise(out, "%g Gb/s of each of %d NICs: --network %gGbps", out->network, nics,
                                          out->network * nics)))
            return false;
    }
    if (!out->vram || !replaced_has(out, "chip")) return true;
    for (int i = 0; i < WORD_ROW_COUNT; i++) {
        const char *const *cell = WORD_ROWS[i].cell;
        const Chip *chip = name ? catalog_find(replaced_catalog(out), name) : NULL;
        if (strcmp(cell[0], "memory") != 0 || strcmp(cell[1], out->vram) != 0) continue;
        bool same = chip && strncmp(chip->name, cell[2], strcspn(cell[2], "-")) == 0 && strchr(cell[2], '-');
        if (name && !same) continue;
        char *word = arena_format(out->arena, "--chip=%s", cell[2]);
        return word && (name ? replaced_put(out, "--chip", word) : replaced_keep(out, word)) &&
               replaced_advise(out, "%s GB are of %s", out->vram, cell[2]);
    }
    if (name || replaced_option(out, "--slice")) return true;
    const char *answer = arena_format(out->arena,
                                      "no chip here has %s GB; --chip KIND names one of `shardopt chips`, say t4 (16), "
                                      "rtx4090 (24), l40s (48) or h100 (80)",
                                      out->vram);
    return answer && replaced_refuse(out, "--vram", answer);
}

bool replaced_cards(Replaced *out, int cards, int gigabytes) {
    bool counts = !out->sized || cards > 0;
    out->vram = arena_format(out->arena, "%d", gigabytes);
    out->sized = true;
    return out->any = true, out->vram && (!counts || replaced_add(out, "--chips=%d", cards > 0 ? cards : 1));
}

bool replaced_cards_text(Replaced *out, const char *value, bool machine, bool *ok) {
    int cards, gigabytes, last = 0;
    const char *comma = strchr(value, ',');
    size_t first = comma ? (size_t)(comma - value) : 0;
    if (!machine) return false;
    if (word_says("ask", "cards", value)) return *ok = replaced_add(out, "--chip=rtx%s", value), true;
    if (sscanf(value, "%4dx%4d%n", &cards, &gigabytes, &last) == 2 && cards > 0 && strcasecmp(value + last, "gb") == 0)
        return *ok = replaced_cards(out, cards, gigabytes), true;
    if (!comma || strlen(comma + 1) != first || strncmp(value, comma + 1, first) != 0 ||
        !replaced_is_chip(out, comma + 1))
        return false;
    out->sized = true;
    return *ok = replaced_add(out, "--chip=%s", comma + 1) && replaced_add(out, "--chips=2"), true; /* "3090,3090" */
}

bool replaced_add_served(Replaced *out) {
    const char *users = out->user_rate > 0 ? replaced_option(out, "--concurrency") : NULL;
    if (out->loras > 0 || out->lora_rank > 0) {
        int loras = out->loras > 0 ? out->loras : 1, rank = out->lora_rank > 0 ? out->lora_rank : 16;
        if (!replaced_add(out, "--adapters=%d:%d", loras, rank)) return false;
        if (out->lora_rank == 0 && !replaced_advise(out, "adapters are of rank 16, as none is said")) return false;
    }
    if (users) {
        out->tokens_rate = out->user_rate * strtod(users, NULL);
        replaced_put(out, "--concurrency", NULL);
    }
    if (out->peak > 1 && out->tokens_rate > 0) out->tokens_rate *= out->peak;
    return true;
}

bool replaced_add_board(Replaced *out) {
    const char *name = replaced_option(out, "--chip");
    const Chip *chip = out->pcie && name ? catalog_find(replaced_catalog(out), name) : NULL, *board = NULL;
    if (!chip || chip->scaleup == SCALEUP_PCIE || strstr(chip->name, "pcie")) return true;
    const char *const BOARDS[] = {strstr(chip->name, "40g") ? "pcie-40g" : "pcie-80g", "pcie"};
    for (size_t i = 0; i < COUNT_OF(BOARDS) && !board; i++) {
        char *other = arena_format(out->arena, "%.*s-%s", (int)strcspn(chip->name, "-"), chip->name, BOARDS[i]);
        if (!other) return false;
        board = catalog_find(replaced_catalog(out), other);
    }
    if (!board)
        return replaced_advise(out, "%s is planned with NVLink: its board without is not in the catalog", chip->name);
    char *word = arena_format(out->arena, "--chip=%s", board->name);
    return word && replaced_put(out, "--chip", word) &&
           replaced_advise(out, "the board without NVLink is %s", board->name);
}

/* A batch job of so many tokens as requests. False: memory is out. */
bool replaced_add_job(Replaced *out) {
    const char *answer = replaced_option(out, "--answer");
    double each = max_real(1, answer ? strtod(answer, NULL) : 256);
    if (out->job == 0 || replaced_option(out, "--requests")) return true;
    return replaced_add(out, "--requests=%.0f", max_real(1, out->job / each)) &&
           replaced_advise(out, "%.10g tokens are %.0f answers of %.0f: --requests", out->job, out->job / each, each);
}

/* Whether conditions say how many chips there are at least: all but those of passes. */
static bool has_degrees(const char *conditions) {
    for (const char *at = conditions; at && *at; at += strspn(at, " ")) {
        if (strncmp(at, "microbatch", 10) != 0) return true;
        at += strcspn(at, " ");
    }
    return false;
}

/* What lists a question has where the line names no machine: rows "lists". False: memory is out. */
static bool add_lists(Replaced *out) {
    const char *question = out->question ? out->question : "", *name = replaced_option(out, "--chip");
    bool serving = strcmp(command_kind(out->command), "serving") == 0, cheapest = strstr(question, "cheapest") != NULL;
    bool goal = replaced_option(out, "--deadline") || replaced_option(out, "--budget"),
         tunes = out->tuned || strstr(question, "tunes");
    const char *rate = serving && *question ? replaced_option(out, "--rate") : NULL;
    const char *answer = replaced_option(out, "--answer");
    double all = rate ? strtod(rate, NULL) * (answer ? strtod(answer, NULL) : 256) : 0;
    if (rate && strtod(rate, NULL) >= 100 && /* of many replicas: one says how many there are */
        !(replaced_put(out, "--rate", NULL) &&
          replaced_advise(
              out, "%s requests/s are %.4g output tokens/s: that by a row's tokens/s/chip is the number of chips", rate,
              all)))
        return false;
    const char *kind = serving ? "serving" : tunes ? "tuning" : "training";
    const Chip *chip = name ? catalog_find(replaced_catalog(out), name) : NULL;
    bool torus = name && !strchr(name, ',') && chip && !chip_has_domains(chip), sized = out->sized;
    if (!name && !out->sized && (cheapest || goal || strstr(question, "many"))) {
        const char *kinds = cheapest ? word_row("lists", kind)->cell[2] : "h100";
        if (replaced_option(out, "--budget") && !cheapest)
            kinds = word_row("lists", kind)->cell[2];
        else if (!(serving || tunes || cheapest || strstr(question, "many")))
            kinds = "v5p", torus = true;
        if (!replaced_add(out, "--chip=%s", kinds)) return false;
    } else if (!name && sized && cheapest && !replaced_option(out, "--slice") &&
               !replaced_add(out, "--chip=%s", word_row("lists", kind)->cell[2])) {
        return false;
    }
    if (sized || (!goal && !*question && !(name && strchr(name, ',')))) return true;
    bool one = !*question && !goal; /* machines are compared */
    const char *counts = one                           ? serving || tunes ? "8" : "256"
                         : torus && (serving || tunes) ? "1,4,8,16,32,64,128,256"
                         : torus                       ? "16,32,64,128,256,512,1024"
                                                       : word_row("lists", kind)->cell[3];
    if (torus && goal && !*question) return replaced_add(out, "--pods=1,2,4,8");
    if (torus && goal) counts = "128,256,512,1024,2048,4096,8192";
    return replaced_add(out, "--%s=%s", serving || tunes || torus || one ? "chips" : "nodes", counts) &&
           (!one || replaced_advise(out, "%s chips of each, as no number is given", counts));
}

/* Whether a text of that length is among words between blanks. */
static bool word_of(const char *words, const char *text, size_t length) {
    char word[16];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    return word_among(words, word);
}

bool replaced_add_size(Replaced *out) {
    static const char *const SIZES[] = {"--nodes", "--chips", "--pods", "--slice", "--from", "--from-config", "--help"};
    for (size_t i = 0; i < COUNT_OF(SIZES); i++) out->sized = out->sized || replaced_option(out, SIZES[i]);
    if (strncmp(out->command->name, "sweep", 5) == 0) return add_lists(out);
    const char *name = replaced_option(out, "--chip"), *conditions = out->conditions ? out->conditions : "";
    int64_t all = 1;
    for (const char *at = conditions; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        size_t length = strcspn(at, "=<> ");
        bool role = at[length] == '=' && word_of("data fsdp tensor pipeline sequence", at, length);
        if (role && all < 1 << 24) all *= max_whole(1, atoi(at + length + 1));
    }
    bool whole = strstr(conditions, "data=") || strstr(conditions, "fsdp="); /* a plan, not a part of one */
    if (name && !out->sized && whole && all > 1 && strcmp(command_kind(out->command), "training") == 0)
        return replaced_add(out, "--chips=%lld", (long long)all) &&
               replaced_advise(out, "%lld chips, as the degrees say", (long long)all);
    if (out->sized || !name || has_degrees(out->conditions) || !replaced_has(out, "chips")) return true;
    const Chip *chip = catalog_find(replaced_catalog(out), name);
    if (!chip || chip->scaleup != SCALEUP_PCIE) return true;
    return replaced_add(out, "--chips=1") && replaced_advise(out, "one %s, as no number is given", chip->name);
}
