/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of fine-tuning: what is trained (--lora, --qlora, --targets, --freeze), for what (--task), on how much of
 * which lengths. One of them makes the question one of fine-tuning. */
#include "search/options/tuning_options.h"

#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "models/config/model_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { RANK_MAX = 65536, LENGTH_DEFAULT = 2048, LENGTH_MAX = 1 << 30, SEQUENCES_DEFAULT = 16, FILE_MOST = 64 << 20 };
static const double SAMPLES_DEFAULT = 10000;

static const char *const PARTS[FROZEN_PARTS] = {"embeddings", "attention", "mlp",    "experts",  "router",
                                                "norms",      "logits",    "vision", "projector"};

/* A rank, and of --qlora a format, in any order: "16", "nf4", "int8,32". */
static bool read_adapters(const Words *words, Option option, Tuning *out) {
    const char *list = given(words, option);
    char word[32];
    int ranks = 0;
    double before = out->rank; /* of --qlora, where --lora is given too; 0: it says none */
    out->rank = option == OPTION_QLORA && given(words, OPTION_LORA) ? 0 : TUNING_RANK;
    if (option == OPTION_QLORA) out->stored_bytes = TUNING_STORED_BYTES;
    while (tuning_next_word(&list, word, sizeof word)) {
        int64_t rank;
        Error unread = {0};
        double bytes = option == OPTION_QLORA ? tuning_format_bytes(word) : 0;
        if (bytes > 0) {
            out->stored_bytes = bytes;
            continue;
        }
        if (!number_whole(word, "", 1, RANK_MAX, &rank, &unread))
            return words_wrong(words, option,
                               "\"%s\" is no rank%s: the width of an adapter's two matrices, 1 to %d; give %s", word,
                               option == OPTION_QLORA ? " and no format" : "", RANK_MAX,
                               option == OPTION_QLORA ? "16, or 16,nf4 (nf4, nf4-single, int8, gptq)" : "16");
        if (ranks++ > 0) return words_wrong(words, option, "%s has two ranks; give one", given(words, option));
        out->rank = (double)rank;
    }
    return !(before > 0) || before == out->rank ||
           words_wrong(words, option, "%.0f is a second rank, next to %.0f of --qlora; give one", out->rank, before);
}

/* Weights that a repository has quantised, by its name, are what adapters are trained over; else they are not trained.
 * With --qlora the format is said already. */
static bool read_stored(const Words *words, const Model *model, Tuning *out) {
    static const char *const FORMATS[][2] = {{"nf4", "nf4"}, {"int4", "gptq"}, {"int8", "int8"}};
    const char *name = given(words, OPTION_MODEL), *stored = repository_stores(name), *format = NULL;
    if (!stored || strcmp(stored, "bf16") == 0 || given(words, OPTION_QLORA)) return true;
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++)
        if (strcmp(FORMATS[i][0], stored) == 0) format = FORMATS[i][1];
    if (!format)
        return words_wrong(words, OPTION_MODEL, "\"%.60s\" lies in %s, which is not trained; give --model %s (bf16)",
                           name, stored, model->name);
    if (!(out->rank > 0))
        return words_wrong(
            words, OPTION_MODEL,
            "\"%.60s\" lies in %s, over which adapters alone are trained; give --qlora 16,%s, or --model "
            "%s (bf16)",
            name, stored, format, model->name);
    out->stored_bytes = tuning_format_bytes(format);
    return true;
}

static bool read_targets(const Words *words, Tuning *out) {
    const char *list = given(words, OPTION_TARGETS);
    char word[32];
    out->targets = TARGETS_ALL;
    if (!list) return true;
    if (!(out->rank > 0)) return words_wrong(words, OPTION_TARGETS, "are of adapters; give --lora or --qlora as well");
    for (out->targets = 0; tuning_next_word(&list, word, sizeof word);) {
        unsigned found = tuning_target_bits(word);
        if (!found)
            return words_wrong(words, OPTION_TARGETS,
                               "\"%s\" is no matrix; give all-linear, attention, mlp, or some of q_proj, k_proj, "
                               "v_proj, o_proj, gate_proj, up_proj, down_proj",
                               word);
        out->targets |= found;
    }
    return out->targets || words_wrong(words, OPTION_TARGETS, "are none; give all-linear, attention or q_proj,v_proj");
}

static bool has_towers(const Model *model) { return model->tower_count > 0 || model->extra.matrix[PART_VISION] > 0; }

/* A file may freeze the tower of a model that has none: LLaMA-Factory does by default. */
static bool read_frozen(const Words *words, const Model *model, Tuning *out) {
    const char *list = given(words, OPTION_FREEZE);
    char word[32];
    out->frozen = out->rank > 0 ? FROZEN_ALL : 0; /* adapters are all that is trained */
    while (list && tuning_next_word(&list, word, sizeof word)) {
        int found = -1;
        size_t length = strlen(word);
        for (int i = 0; i < FROZEN_PARTS; i++)
            if (strncasecmp(PARTS[i], word, length) == 0 && length + 1 >= strlen(PARTS[i])) found = i;
        if (found < 0)
            return words_wrong(words, OPTION_FREEZE,
                               "\"%s\" is no part; give some of embeddings, attention, mlp, experts, router, norms, "
                               "logits, vision (all towers) and projector",
                               word);
        if (found >= FROZEN_VISION && !has_towers(model) && !given(words, OPTION_FROM_CONFIG))
            return words_wrong(words, OPTION_FREEZE, "%s has no tower of images or sound; leave %s out", model->name,
                               word);
        out->frozen |= 1u << found;
    }
    return out->frozen != FROZEN_ALL || out->rank > 0 ||
           words_wrong(words, OPTION_FREEZE, "leaves nothing to train; leave one part out, or give --lora");
}

/* A file of lengths, cut at the longest that was requested. */
static bool read_distribution(const Words *words, int64_t most, FineTuning *out) {
    const char *path = given(words, OPTION_LENGTHS);
    char *text;
    size_t length;
    Lengths *lengths = ARENA_NEW(words->arena, Lengths, 1);
    if (!path) return true;
    if (given(words, OPTION_MEAN_LENGTH))
        return words_wrong(words, OPTION_MEAN_LENGTH, "is of the file of --lengths; give one of them");
    if (!lengths) return error_memory(words->error);
    out->lengths = lengths;
    return file_read(path, FILE_MOST, words->arena, &text, &length, words->error) &&
           lengths_read(text, path, (double)most, words->arena, lengths, words->error);
}

static bool read_lengths(const Words *words, Request *request) {
    FineTuning *tuning = &request->question.tuning;
    const Model *model = &request->question.model;
    int64_t longest = min_whole(LENGTH_DEFAULT, model->max_seq > 0 ? model->max_seq : LENGTH_DEFAULT), mean;
    int packing = given(words, OPTION_MEAN_LENGTH) || given(words, OPTION_LENGTHS) ? PACKING_PACKED : PACKING_PADDED;
    if (given(words, OPTION_SEQ) && given(words, OPTION_MAX_LENGTH))
        return words_wrong(words, OPTION_MAX_LENGTH, "is a second length, next to --seq; give one of them");
    if (!words_whole(words, OPTION_SEQ, 1, LENGTH_MAX, &longest) ||
        !words_whole(words, OPTION_MAX_LENGTH, 1, LENGTH_MAX, &longest))
        return false;
    bool cut = given(words, OPTION_SEQ) || given(words, OPTION_MAX_LENGTH);
    if (!read_distribution(words, cut ? longest : model->max_seq, tuning)) return false;
    if (tuning->lengths && !cut) longest = (int64_t)ceil(tuning->lengths->longest);
    mean = tuning->lengths ? (int64_t)ceil(tuning->lengths->mean) : longest;
    if (!words_whole(words, OPTION_MEAN_LENGTH, 1, LENGTH_MAX, &mean) || !words_choice(words, OPTION_PACKING, &packing))
        return false;
    if (mean > longest)
        return words_wrong(words, OPTION_MEAN_LENGTH,
                           "%lld is above the longest sample, %lld tokens; give at most that", (long long)mean,
                           (long long)longest);
    tuning->packing = (Packing)packing;
    tuning->longest = longest;
    tuning->seq = packing == PACKING_FREE ? mean : longest; /* padding-free: every sample as long as it is */
    tuning->sample_tokens = (double)(packing == PACKING_PADDED ? longest : mean);
    if (request->question.tuning.pairs) tuning->sample_tokens *= 2;
    return true;
}

static bool read_task(const Words *words, FineTuning *out) {
    int task = 0;
    if (!words_choice(words, OPTION_TASK, &task)) return false;
    out->pairs = task == 1;
    if (!out->pairs) return true;
    out->what.references = 1; /* adapters are switched off for it, or it has weights of its own */
    out->what.reference_model = !(out->what.rank > 0);
    return true;
}

bool tuning_from_words(const Words *words, Request *request) {
    FineTuning *out = &request->question.tuning;
    for (int i = 0; i < TUNING_WORD_COUNT; i++) {
        Option option = i == TUNING_LENGTHS ? OPTION_LENGTHS : (Option)(OPTION_LORA + i);
        const char *text = given(words, option);
        if (!text) continue;
        char *kept = request->requested.tuning[i];
        if (strlen(text) >= sizeof request->requested.tuning[0])
            return words_wrong(words, option, "is too long; give at most %zu bytes",
                               sizeof request->requested.tuning[0] - 1);
        snprintf(kept, sizeof request->requested.tuning[0], "%s", text);
        out->what.on = true;
    }
    if (!out->what.on) return true;
    /* of both the rank is --lora's: "--qlora --lora-r 8" */
    if ((given(words, OPTION_QLORA) && !read_adapters(words, OPTION_QLORA, &out->what)) ||
        (given(words, OPTION_LORA) && !read_adapters(words, OPTION_LORA, &out->what)))
        return false;
    if (!read_stored(words, &request->question.model, &out->what) || !read_targets(words, &out->what) ||
        !read_frozen(words, &request->question.model, &out->what) || !read_task(words, out) ||
        !read_lengths(words, request))
        return false;
    if (!(out->what.rank > 0)) out->what.targets = 0;
    int64_t chips = request->question.machine.mesh.devices;
    if (out->pairs) chips *= 2; /* a GPU has whole pairs */
    out->sequences = divide_up(SEQUENCES_DEFAULT, chips) * chips;
    out->samples = SAMPLES_DEFAULT, out->epochs = 1;
    if (!words_real(words, OPTION_SAMPLES, 1, 1e15, &out->samples) ||
        !words_real(words, OPTION_EPOCHS, 1e-3, 1e6, &out->epochs))
        return false;
    double tokens = 0; /* of all epochs */
    if (!given(words, OPTION_TOKENS)) return true;
    if (given(words, OPTION_SAMPLES))
        return words_wrong(words, OPTION_TOKENS, "is a second size of the data, next to --samples; give one of them");
    if (!words_real(words, OPTION_TOKENS, 1, 1e21, &tokens)) return false;
    out->samples = tokens / (out->sample_tokens * out->epochs);
    return true;
}
