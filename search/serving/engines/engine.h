/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/engines/engine.h: what a serving engine is: one const struct with what it refuses, and how its command
 * line says what was priced. To add an engine is a file with its struct and a row in engines.c. */
#pragma once

#include "cost/serving/step.h"
#include "cost/serving/worker.h"

#include <stdio.h>

enum { ENGINES_MAX = 8, ENGINE_WORDS_MAX = 64, ENGINE_WORD_SIZE = 128, ENGINE_SETTINGS_SIZE = 1024 };
typedef unsigned EngineSet; /* a bit for each, by its place in the list */

/* What a pool does: everything, or one of two phases. */
typedef enum { ENGINE_ALONE, ENGINE_PROMPTS, ENGINE_DECODES } EngineRole;

typedef struct {
    const Model *model;
    const Chip *chip;
    const WorkerLayout *layout;
    EngineRole role;
} EngineAsk;

/* What a pool is started with, in addition to its layout. */
typedef struct {
    EngineRole role;
    int64_t sequences;   /* in flight in a worker */
    int64_t step_tokens; /* the budget of a step */
    int64_t length;      /* of the longest sequence */
    double memory_fraction;
    int64_t drafts;
    Adapters adapters;
    double host_bytes; /* of each device's host memory, for prefixes that HBM has no room for */
} EngineKnobs;

/* A word of a command line: a text as it is, or one that the shell of a script (search/serving/launch) fills in. */
typedef enum { WORD_TEXT, WORD_SHELL, WORD_MODEL, WORD_DRAFT } EngineWordKind;
typedef struct {
    EngineWordKind kind;
    char text[ENGINE_WORD_SIZE]; /* of WORD_SHELL: the shell's own, quotes included */
} EngineWord;

/* What a flag says: a number, or of SERVED_DATA_ATTENDS (SERVED_DATA is of attention alone) and SERVED_EXPERT_ALL that
 * it is there. */
typedef enum {
    SERVED_TENSOR,
    SERVED_PIPELINE,
    SERVED_DATA,
    SERVED_ATTENTION_DATA,
    SERVED_DATA_ATTENDS,
    SERVED_EXPERT,
    SERVED_EXPERT_ALL,
    SERVED_CONTEXT,
    SERVED_KV_BATCH,
    SERVED_SEQUENCES,
    SERVED_TOKENS,
    SERVED_DRAFTS,
    SERVED_FLAGS
} ServedFlag;

/* A flag as one row, which is written and read: a script that starts an engine, and one that is read back. */
typedef struct {
    const char *name; /* "--tp-size", or a key without dashes in front, whose number stands behind "="; NULL: the end */
    ServedFlag says;
    char group; /* those of a group are written together, in this order; '\0': it is only read */
    bool more;  /* is written where it is more than 1 */
} EngineFlag;

/* What starts one worker. Too much is left out, and `full` says so. */
typedef struct {
    EngineWord word[ENGINE_WORDS_MAX];
    int count;
    char settings[ENGINE_SETTINGS_SIZE];    /* lines of the YAML file that it reads alongside them; "": none */
    char environment[ENGINE_SETTINGS_SIZE]; /* lines of a script that come before */
    bool full;
} EngineWords;

/* Where a worker of a script runs. In its words the shell has $worker, its number among all; $node, which of its hosts
 * this is; $head and $here, the names of its first host and of this one; $port, where it answers. */
typedef struct {
    EngineRole role;
    int64_t hosts;        /* of one worker */
    int64_t host_devices; /* of the worker on one of them */
    int64_t longest_prompt;
    bool shares_host; /* other workers lie on the same host */
} EnginePlace;

/* The program before all workers, and the load test. */
typedef struct {
    bool two_pools;
    bool cached; /* prompts have a part that a cache holds: like prompts to the same worker */
    int64_t prompt, output;
    int64_t concurrency; /* requests in flight; 0: `rate` is requested */
    double rate;         /* requests per second */
    const char *facts;   /* NAME=value words of the shell: what the test's report does not know by itself */
} EngineRoute;

/* How a script starts what was priced. */
typedef struct {
    bool nginx;       /* stands before copies of one pool, for which there is no program of its own */
    int fixed_port;   /* where every worker answers; 0: where it is configured to */
    const char *read; /* which release or commit the flags were read in */
    /* The reason why a worker cannot be started so; NULL: it can. */
    const char *(*cannot)(const EngineAsk *ask, const EnginePlace *place);
    /* Adds role, address and hosts to the words of a worker. */
    void (*place)(const EngineAsk *ask, const EnginePlace *place, EngineWords *words);
    /* Prints the body of a function that routes: URLS, or PROMPT_URLS, PROMPT_PORTS and DECODE_URLS, are arrays of the
     * shell then, and $PORT is where it answers. */
    void (*route)(const EngineRoute *route, FILE *out);
    /* Prints the body of a function that puts load on $URL and writes $RESULT. */
    void (*test)(const EngineRoute *route, FILE *out);
} EngineStart;

typedef struct {
    const char *name;  /* "vllm": as --engine takes it, and as profiles name it */
    const char *title; /* "vLLM" */
    bool on_gpus, on_tpus;
    bool two_pools;     /* it moves caches between pools */
    bool adapters;      /* it serves LoRA adapters with the base */
    bool memory_of_all; /* the share of memory that it is given is of all HBM, weights included */
    unsigned weights;   /* a bit for each StoredType that it runs */
    unsigned caches;
    /* The rule that the layout breaks, as a text that outlives the call; NULL: it can be launched. */
    const char *(*refuses)(const EngineAsk *ask);
    const EngineFlag *flags;
    /* The words that start one worker. */
    void (*words)(const EngineAsk *ask, const EngineKnobs *knobs, EngineWords *out);
    EngineStart start;
} Engine;

int engine_count(void);
const Engine *engine_at(int number);
int engine_named(const char *name); /* -1: there is none */
EngineSet engines_of_chip(const Chip *chip);

/* ---- what several engines share ---- */

/* Rules of the model code that all of them have: heads divide, heads of the cache divide or are copied evenly, blocks
 * of block-wise fp8 experts are not cut. */
const char *engine_common_refuses(const EngineAsk *ask);

/* Experts beyond those of the model that fill the ranks of an expert group that does not divide them; whether that
 * group leaves the domain; and whether it leaves the host, where engines balance it. */
int64_t engine_redundant_experts(const EngineAsk *ask);
bool engine_is_wide(const EngineAsk *ask);
bool engine_balances(const EngineAsk *ask);

/* Whether the chip is AMD's, whose kernels exchange tokens by MORI in place of DeepEP: chips joined by xGMI alone. */
static inline bool engine_is_rocm(const EngineAsk *ask) { return ask->chip->scaleup == SCALEUP_MESH; }

/* The reason why DeepEP's kernels for prompts, which those for few tokens need not be, do not exchange tokens over so
 * many ranks; NULL: they do. */
const char *engine_deepep_refuses(const EngineAsk *ask);

/* Whether the model is of a family in the list, which ends with NULL. */
bool engine_family_among(const Model *model, const char *const *families);

/* Whether the weights of the model bring a head that drafts (MTP), so that no draft is loaded alongside them. */
bool engine_drafts_itself(const Model *model);

/* Adds words: those of a text, printf, which has one blank between two, and of which those in double quotes are the
 * shell's; one word; a flag and its number. */
void engine_words(EngineWords *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void engine_word(EngineWords *words, EngineWordKind kind, const char *text);
void engine_flag(EngineWords *words, const char *flag, int64_t value);
/* The flags of a group, for what is started: engine_says(). Batch and tokens of a step are those of a rank of attention
 * data. */
void engine_says(const EngineAsk *ask, const EngineKnobs *knobs, int64_t says[SERVED_FLAGS]);
void engine_flags(EngineWords *words, const EngineFlag *flags, char group, const int64_t says[SERVED_FLAGS]);
bool served_flag_switches(ServedFlag flag);
/* printf to the end of the settings or of the environment. */
void engine_setting(EngineWords *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void engine_export(EngineWords *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The words as a person reads them, on one line: MODEL for the model, settings between brackets. */
enum { ENGINE_LINE_SIZE = 1024 };
const char *engine_line(const EngineWords *words, char out[ENGINE_LINE_SIZE]);
/* One word as a shell takes it, quoted where it has to be. */
void engine_print_word(const EngineWord *word, FILE *out);
void engine_print_quoted(const char *text, FILE *out);

/* The load test of vLLM, which others take too. */
void engine_test_vllm(const EngineRoute *route, FILE *out);
/* NVIDIA's, for any server that speaks OpenAI's words. */
void engine_test_genai_perf(const EngineRoute *route, FILE *out);

extern const Engine ENGINE_VLLM, ENGINE_SGLANG, ENGINE_TENSORRT_LLM, ENGINE_MAXTEXT;
