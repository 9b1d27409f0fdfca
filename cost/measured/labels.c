/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/run.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The length of a release: that of "v5.0-..." or "v3.1"; 0 for "v5p-..." and "1024b". */
static size_t release_length(const char *text) {
    if (text[0] != 'v' || !is_digit(text[1])) return 0;
    size_t length = 1 + strspn(text + 1, "0123456789.");
    bool dotted = memchr(text, '.', length) != NULL;
    return dotted && (text[length] == '-' || text[length] == '\0') ? length : 0;
}

const char *run_source(const Run *run, char text[RUN_LABEL_SIZE]) {
    if (!strchr(run->id, '-')) {
        snprintf(text, RUN_LABEL_SIZE, "%.*s", RUN_LABEL_SIZE - 1, run->source);
        return text;
    }
    size_t first = strcspn(run->id, "-"), word = strcspn(run->id, "-.");
    if (word == 0) word = first;
    size_t release = run->id[first] == '-' ? release_length(run->id + first + 1) : 0;
    if (release > 0) word = first + 1 + release;
    snprintf(text, RUN_LABEL_SIZE, "%.*s", (int)min_whole((int64_t)word, RUN_LABEL_SIZE - 1), run->id);
    return text;
}

/* Words that do not tell one framework from another. */
static bool says_nothing(const char *word, size_t length) {
    static const char *const WORDS[] = {"NVIDIA", "Framework", "Release"};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (strlen(WORDS[i]) == length && strncasecmp(word, WORDS[i], length) == 0) return true;
    return is_digit(word[0]) || (length > 1 && (word[0] == 'r' || word[0] == 'v') && is_digit(word[1]));
}

const char *run_framework(const Run *run, char text[RUN_LABEL_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (const char *word = run->framework; *word;) {
        size_t length = strcspn(word, " ");
        if (strchr("(/+,", word[0]) && length > 0 && used > 0) break;
        if (length > 0 && !says_nothing(word, length) && used + length + 2 < RUN_LABEL_SIZE)
            used += (size_t)snprintf(text + used, RUN_LABEL_SIZE - used, "%s%.*s", used ? " " : "", (int)length, word);
        word += length + (word[length] == ' ');
    }
    if (used == 0)
        snprintf(text, RUN_LABEL_SIZE, "%.*s", RUN_LABEL_SIZE - 1, run->framework[0] ? run->framework : "not said");
    return text;
}

bool run_is_sharded(const Run *run) {
    static const char *const WORDS[] = {"zero3", "zero-3", "fsdp", "hsdp", "full shard"};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (text_has(run->fsdp, WORDS[i])) return true;
    return false;
}

static bool is_full(const Run *run) { return strncasecmp(run->remat, "full", 4) == 0; }

static RunKind dense_kind(const Run *run) {
    if (run->pipeline > 1)
        return run->context > 1 ? KIND_DENSE_PIPELINE_CONTEXT
               : is_full(run)   ? KIND_DENSE_PIPELINE_FULL
                                : KIND_DENSE_PIPELINE;
    if (run->tensor > 1) return KIND_DENSE_TENSOR;
    if (run->context > 1) return KIND_DENSE_CONTEXT;
    if (run_is_sharded(run)) return is_full(run) ? KIND_DENSE_FSDP_FULL : KIND_DENSE_FSDP;
    return KIND_DENSE_REPLICATED;
}

RunKind run_kind(const Run *run) {
    if (run->experts <= 1) return dense_kind(run);
    if (strncasecmp(run->hardware, "tpu", 3) == 0) return KIND_MOE_TPU;
    return run->pipeline > 1 ? KIND_MOE_PIPELINE : KIND_MOE_FLAT;
}

const char *run_kind_name(RunKind kind) {
    static const char *const NAMES[KIND_COUNT] = {
        [KIND_DENSE_FSDP] = "dense FSDP",
        [KIND_DENSE_FSDP_FULL] = "dense FSDP, full recomputation",
        [KIND_DENSE_PIPELINE] = "dense pipeline",
        [KIND_DENSE_PIPELINE_FULL] = "dense pipeline, full recomputation",
        [KIND_DENSE_PIPELINE_CONTEXT] = "dense pipeline and context",
        [KIND_DENSE_CONTEXT] = "dense context",
        [KIND_DENSE_TENSOR] = "dense tensor",
        [KIND_DENSE_REPLICATED] = "dense, parameters replicated",
        [KIND_MOE_PIPELINE] = "MoE pipeline",
        [KIND_MOE_FLAT] = "MoE without pipeline",
        [KIND_MOE_TPU] = "MoE on TPU",
    };
    return NAMES[kind];
}
