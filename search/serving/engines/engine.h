/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/engines/engine.h: what a serving engine is: one const struct with what it refuses, and how its command
 * line says what was priced. To add an engine is a file with its struct and a row in engines.c. */
#ifndef SHARDOPT_SEARCH_SERVING_ENGINES_ENGINE_H
#define SHARDOPT_SEARCH_SERVING_ENGINES_ENGINE_H

#include "cost/serving/worker.h"

enum { ENGINES_MAX = 8, ENGINE_WORDS_SIZE = 512 };
typedef unsigned EngineSet; /* a bit for each, by its place in the list */

typedef struct {
    const Model *model;
    const Chip *chip;
    const WorkerLayout *layout;
} EngineAsk;

/* What a pool is started with, beside its layout. */
typedef struct {
    int64_t sequences;   /* in flight in a worker */
    int64_t step_tokens; /* the budget of a step */
    int64_t length;      /* of the longest sequence */
    double memory_fraction;
    int64_t drafts;
} EngineKnobs;

typedef struct {
    const char *name;  /* "vllm": as --engine takes it, and as profiles name it */
    const char *title; /* "vLLM" */
    bool on_gpus, on_tpus;
    bool two_pools;   /* it moves caches between pools */
    unsigned weights; /* a bit for each StoredType that it runs */
    unsigned caches;
    /* The rule that the layout breaks, as a text that outlives the call; NULL: it can be launched. */
    const char *(*refuses)(const EngineAsk *ask);
    /* The words that start one worker. */
    void (*words)(const EngineAsk *ask, const EngineKnobs *knobs, char out[ENGINE_WORDS_SIZE]);
} Engine;

int engine_count(void);
const Engine *engine_at(int number);
int engine_named(const char *name); /* -1: there is none */
EngineSet engines_of_chip(const Chip *chip);

/* ---- what several engines share ---- */

/* Rules of the model code that all of them have: heads divide, heads of the cache divide or are copied evenly, blocks
 * of block-wise fp8 experts are not cut. */
const char *engine_common_refuses(const EngineAsk *ask);

/* printf to the end of a text of ENGINE_WORDS_SIZE. */
void engine_say(char out[ENGINE_WORDS_SIZE], const char *format, ...) __attribute__((format(printf, 2, 3)));

extern const Engine ENGINE_VLLM, ENGINE_SGLANG, ENGINE_TENSORRT_LLM, ENGINE_MAXTEXT;

#endif
