/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/launch/served_config.h: what a script or a command line serves with today, in our words. Pure: from a
 * buffer. Flags are the rows of the engines' tables (search/serving/engines/), dashes or underscores in them. */
#pragma once

#include "search/serving/options/served.h"

typedef struct {
    EngineRole role;
    int64_t flag[SERVED_FLAGS];
    double device_batch;    /* MaxText's */
    double memory_fraction; /* of HBM; 0: the engine's own */
    bool weights_fp8, cache_fp8;
    int64_t line, column; /* of the command */
} ServedPool;

typedef struct {
    const char *name; /* of the file */
    int engine;
    ServedPool pools[2]; /* prompts first */
    int pool_count;
    Options options; /* what the file says of the options of `inference` */
} ServedConfig;

/* Whether a text has the word of some engine's server: else it is something else's configuration. */
bool served_config_is(const char *text);

bool served_config_read(const char *name, const char *text, size_t length, Arena *arena, ServedConfig *out,
                        Error *error);

/* Narrows a question to what the file starts: layouts, batches up to its slots, the budget of a step, types. False: the
 * engine refuses it, or it does not divide the model; *error names the command's place. */
bool served_config_pin(const ServedConfig *config, ServingQuestion *question, Error *error);
