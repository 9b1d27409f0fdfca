/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several words of a line say together: machines, the work of RL, how long a training is. */
#include "base/number.h"
#include "base/util.h"
#include "mesh/slice.h"
#include "search/cli/replaced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long number_of(const Replaced *out, const char *option, long without) {
    const char *text = replaced_option(out, option);
    bool is = text && text[0] && text[strspn(text, "0123456789")] == '\0' && strlen(text) <= 9; /* products fit */
    return is ? strtol(text, NULL, 10) : without;
}

/* GPUs and nodes: of all of them, or of each. More chips than a pod has are pods. */
static bool add_chips(Replaced *out, const Chip *chip) {
    const char *trained = replaced_option(out, "--train-nodes");
    long number = number_of(out, "--chips", 0), hosts = out->counted ? number_of(out, "--nodes", 0) : 0;
    int64_t pod = chip && !chip_has_domains(chip) ? slice_chips(chip->pod) : 0;
    char *word = NULL;
    const char *others = replaced_option(out, "--rollout-nodes"), *engine = replaced_option(out, "--rollout");
    int actors = out->actor_gpus * (trained ? atoi(trained) : 1), tensor = 1;
    if (engine && strstr(engine, "tensor=")) tensor = atoi(strstr(engine, "tensor=") + 7);
    if (actors > 0 && out->engines > 0 && !replaced_option(out, "--colocated")) { /* OpenRLHF's groups of its own */
        out->train_gpus = actors, out->rollout_gpus = (long)out->engines * max_whole(1, min_whole(tensor, 1024));
        if (trained) replaced_put(out, "--train-nodes", NULL), trained = NULL, out->sized = false;
    }
    if (trained && others && !replaced_option(out, "--rollout-chip")) {
        word = out->sized ? NULL : arena_format(out->arena, "--nodes=%d", atoi(trained) + atoi(others));
        if (word) replaced_put(out, "--chips", NULL), number = 0, out->sized = true;
        replaced_put(out, "--rollout-nodes", word);
    }
    long split = out->train_gpus + out->rollout_gpus + (trained && out->rollout_gpus ? 8 * atol(trained) : 0);
    if (split > 0 && !out->sized && !(number > 0)) { /* "--train-gpus 16 --gen-gpus 48" */
        if (!replaced_add(out, "--chips=%ld", split)) return false;
        out->sized = true, number = split;
        if (out->train_gpus && out->rollout_gpus && out->train_gpus % 8 == 0 && out->rollout_gpus % 8 == 0 &&
            !trained && !replaced_option(out, "--colocated") &&
            !replaced_add(out, "--train-nodes=%ld", out->train_gpus / 8))
            return false;
        if (split <= 8 && out->train_gpus && !trained && !replaced_option(out, "--colocated") &&
            !replaced_add(out, "--train-nodes=%ld", out->train_gpus))
            return false;
    } else if (out->train_gpus && (number <= 8 || out->train_gpus % 8 == 0) && out->train_gpus < number && !trained &&
               !replaced_add(out, "--train-nodes=%ld", out->train_gpus / (number <= 8 ? 1 : 8))) {
        return false;
    }
    if (out->degrees > 1 && !out->sized) {
        if (!replaced_add(out, "--chips=%lld", (long long)out->degrees)) return false;
        out->sized = true;
    }
    const char *slice = replaced_option(out, "--slice");
    int sides[3] = {1, 1, 1};
    if (slice && number > 0 && sscanf(slice, "%5dx%5dx%5d", &sides[0], &sides[1], &sides[2]) > 0 &&
        (long)sides[0] * sides[1] * sides[2] == number)
        replaced_put(out, "--chips", NULL), number = 0;
    if (trained && out->any && replaced_option(out, "--colocated")) { /* all hosts train and generate */
        if (!out->sized && !(word = arena_format(out->arena, "--nodes=%s", trained))) return false;
        replaced_put(out, "--train-nodes", word);
    }
    if (pod > 0 && number > pod && number % pod == 0) {
        word = arena_format(out->arena, "--pods=%lld", (long long)(number / pod));
        return word && replaced_put(out, "--chips", word);
    }
    if (out->pools > 0 && number == 0 && !replaced_option(out, "--nodes"))
        return out->sized = replaced_add(out, "--chips=%ld", out->pools);
    if (hosts == 0 || number == 0) return true;
    replaced_put(out, "--nodes", NULL);
    if (hosts == 1 || number > (chip ? chip->domain_chips : 8)) return true;
    word = arena_format(out->arena, "--chips=%ld", number * hosts);
    return word && replaced_put(out, "--chips", word) &&
           replaced_advise(out, "%ld on each of %ld nodes", number, hosts);
}

/* GPUs that are counted, an engine's degrees too, and of no kind are of H100. */
static bool add_kind(Replaced *out) {
    bool named = !replaced_has(out, "chip") || replaced_option(out, "--slice") || replaced_option(out, "--pods");
    for (int i = 0; i < out->count; i++)
        named = named || strncmp(out->words[i], "--from", 6) == 0 || replaced_is(out->words[i], "--help");
    bool degrees = out->conditions && !out->maxtext && strcmp(command_kind(out->command), "serving") == 0;
    bool hosts = replaced_option(out, "--nodes") && (out->sentence || (out->foreign && !out->maxtext));
    if (named || !(degrees || out->counted || hosts)) return true;
    return replaced_add(out, "--chip=h100") &&
           replaced_advise(out, "GPUs are of h100, as no chip is named (--chip KIND)");
}

/* Slices of MaxText's axes. */
static bool add_slices(Replaced *out) {
    bool joined =
        replaced_option(out, "--slice") && !replaced_option(out, "--slices") && !replaced_option(out, "--pods");
    if (out->slices > 1 && joined && !replaced_add(out, "--slices=%lld", (long long)out->slices)) return false;
    return out->slices <= 1 || replaced_advise(out,
                                               joined ? "the axes of DCN are %lld slices; what crosses them is chosen"
                                                      : "%lld over DCN is left out: what crosses slices is chosen",
                                               (long long)out->slices);
}

/* A training of so many steps. */
static bool add_steps(Replaced *out) {
    double tokens = (double)number_of(out, "--batch", number_of(out, "--sequences", 0) * number_of(out, "--seq", 0));
    const char *epochs = replaced_option(out, "--epochs"), *all = replaced_option(out, "--tokens");
    double once;
    Error none = {0};
    if (epochs && all && out->tuned && strtod(epochs, NULL) > 1 && !out->dataset &&
        number_real(all, "", 1, 1e18, &once, &none)) /* of the data, once */
        return replaced_advise(out, "%s tokens are those of all %s epochs", all, epochs);
    if (out->dataset > 0 && !replaced_option(out, "--tokens") &&
        !replaced_add(out, "--tokens=%.0f", out->dataset * max_real(1, epochs ? strtod(epochs, NULL) : 1)))
        return false;
    if (out->steps == 0 || replaced_option(out, "--tokens")) return true;
    if (tokens > 0 && !out->tuned && replaced_has(out, "tokens"))
        return replaced_add(out, "--tokens=%.0f", tokens * out->steps);
    return replaced_advise(out, "a step is planned; --tokens says how long a training is, %g times its batch",
                           out->steps);
}

/* Answers of an update and of a device, where ours are prompts of a step. */
static bool add_rl(Replaced *out) {
    long answers = number_of(out, "--samples", 16), prompts = number_of(out, "--prompts", 64);
    double each = (double)out->device * (double)(out->passes ? out->passes : 1) / (double)(answers > 0 ? answers : 1);
    long all = (long)min_real(1e9, each * (double)number_of(out, "--chips", 0));
    if (out->trainer && !replaced_add(out, "--train-plan=%s", out->trainer)) return false;
    if (out->mini > 0 && out->mini < prompts && !replaced_add(out, "--train-batch=%ld", out->mini * answers))
        return false;
    if (out->device == 0) return true;
    if (all == 0) return replaced_advise(out, "a batch of a device is left out: --prompts N is that of a step");
    return replaced_add(out, "--prompts=%ld", all) &&
           replaced_advise(out, "%ld answers a device are %ld prompts a step with %ld answers each", out->device, all,
                           answers);
}

bool replaced_add_work(Replaced *out) {
    const char *name = replaced_option(out, "--chip");
    const Chip *chip = name ? catalog_find(replaced_catalog(out), name) : NULL;
    return add_chips(out, chip) && (name || add_kind(out)) && add_slices(out) && add_steps(out) && add_rl(out);
}
