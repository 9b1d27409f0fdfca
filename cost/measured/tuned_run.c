/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of fine-tuning have words of their own for plans and lengths: here they become those of all other rows. */
#include "cost/measured/run.h"

#include "base/util.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The number behind a word that begins at a blank or at the start: 4 for "fsdp" in "tp2 pp1 cp1 fsdp4"; 0: none. */
static int64_t degree_in(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || at[-1] == ' ') && isdigit((unsigned char)at[length])) return strtoll(at + length, NULL, 10);
    return 0;
}

/* "single", "ddp", "fsdp", "zero3", "tp2 pp4 cp1 vp20 fsdp". */
static void read_parallel(Run *run) {
    static const struct {
        const char *word;
        size_t offset;
    } DEGREES[] = {{"tp", offsetof(Run, tensor)},
                   {"pp", offsetof(Run, pipeline)},
                   {"cp", offsetof(Run, context)},
                   {"vp", offsetof(Run, chunks)},
                   {"ep", offsetof(Run, expert)}};
    const char *text = run->fsdp;
    for (size_t i = 0; i < COUNT_OF(DEGREES); i++)
        *(int64_t *)((char *)run + DEGREES[i].offset) = degree_in(text, DEGREES[i].word);
    if (run->tensor > 1) run->sequence_parallel = 1;
    if (text_has(text, "fsdp")) { /* Megatron's is none: replicas share the optimizer's state */
        if (text_has(run->framework, "Megatron")) run->fsdp = "zero1";
        if (degree_in(text, "fsdp") == 1) run->fsdp = "none";
    } else if (!text_has(text, "zero")) {
        run->fsdp = text[0] || run->chips == 1 ? "none" : "fsdp";
    }
}

bool run_result_failed(const char *result) {
    return strncasecmp(result, "fails", 5) == 0 || text_has(result, "OOM") || text_has(result, "OutOfMemory") ||
           text_has(result, "out of memory");
}

/* Lengths: "mean 210 tokens a sample", "longest example 1304 tokens", "4,096 tokens packed". A step has the mean one,
 * memory the longest. */
static void read_lengths(Run *run) {
    const char *mean = strstr(run->lengths, "mean "), *longest = strstr(run->lengths, "longest example ");
    int64_t most = longest ? strtoll(longest + 16, NULL, 10) : run->seq;
    if (text_has(run->lengths, "4,096 tokens") && most == 0) most = 4096;
    if (mean) {
        run->seq = strtoll(mean + 5, NULL, 10);
        run->longest = most;
        run->longest_unknown = most == 0;
    } else {
        run->seq = most;
        run->lengths_unknown = longest != NULL || text_has(run->lengths, "real lengths shorter");
    }
}

static void read_figures(Run *run) {
    if (run->global_batch == 0 && run->micro_batch > 0 && run->expert <= 1) /* every chip is a replica */
        run->global_batch = run->micro_batch * run->chips * (run->accumulation > 0 ? run->accumulation : 1);
    if (text_has(run->notes, "step_s is one iteration")) { /* a micro-batch of one chip */
        run->accumulation = 1;
        run->global_batch = run->micro_batch * run->chips;
    }
    if (run->step_seconds <= 0 && run->samples_per_second > 0)
        run->step_seconds = (double)run->global_batch / run->samples_per_second;
    if (run->lengths_unknown) run->step_seconds = 0;
    if (run->longest_unknown) run->memory_gb = 0;
    /* what it shows with FSDP is the peak of loading: a whole model and its shards, whatever the micro-batch */
    if (text_has(run->framework, "litgpt") && run->chips > 1) run->memory_gb = 0;
    if (run_result_failed(run->result)) run->failed = true, run->step_seconds = 0, run->memory_gb = 0;
}

void run_read_tuning(Run *run) {
    static const char *const OFF[] = {"False", "none", "no"}, *const ON[] = {"True", "Recompute", "full"};
    if (!run->method[0]) return;
    for (size_t i = 0; i < COUNT_OF(OFF); i++)
        if (strcasecmp(run->remat, OFF[i]) == 0) run->remat = "none";
    for (size_t i = 0; i < COUNT_OF(ON); i++)
        if (strcasecmp(run->remat, ON[i]) == 0) run->remat = "full";
    if (strcasecmp(run->remat, "Offload") == 0) run->remat = "custom: decoder input offloaded";
    read_parallel(run);
    /* scripts that say nothing of it: those of litgpt checkpoint blocks under FSDP alone, Hugging Face's all */
    if (run->remat[0] == '\0') {
        bool litgpt = text_has(run->framework, "litgpt");
        run->remat = text_has(run->framework, "SFTTrainer") || (litgpt && run->chips > 1) ? "full" : "none";
    }
    read_lengths(run);
    read_figures(run);
}
