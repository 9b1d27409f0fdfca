/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/launch/served_against.h: what is served with today compared with the best for the same options, and
 * what one change of it gains: each by a search of its own that keeps all else. */
#pragma once

#include "search/serving/options/served.h"
#include "search/serving/point.h"

/* served_config.c: what a script or a command line serves with today, in our words. Pure: from a buffer. Flags are the
 * rows of the engines' tables (search/serving/engines/), dashes or underscores in them. */

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

typedef struct {
    const char *what; /* "tensor" */
    ServingPoint point;
    double gain; /* of tokens per second and chip; 0.1: 10% more */
} ServedChange;

enum { SERVED_CHANGES_MAX = 12 };
typedef struct {
    bool fits; /* false: memory lacks, or no budget keeps up with the prompts; nothing else is there then */
    ServingPoint now;
    bool fewer_slots; /* than requests in flight: the others wait, and `now` is of those that have one */
    bool keeps;       /* the limits by which the best was chosen */
    ServedChange changes[SERVED_CHANGES_MAX]; /* those that gain, most first */
    int change_count;
} ServedAgainst;

/* `served` is the answer under the options alone. Points live in the arena. */
bool served_against(const ServedConfig *config, const Served *served, Arena *arena, ServedAgainst *out, Error *error);

/* What it gives, whether it keeps the limits, which term costs what today and in the best, and what one change gains
 * and by which term. `full`: with its layout, its step by kernel and its memory. False: memory is out. */
bool served_against_write(const ServedConfig *config, const Served *served, const ServedAgainst *against, bool full,
                          TextOut out, Error *error);

/* Where the chips' time of a token goes: chip-seconds for each output token, which are one over the rate of a chip,
 * split over the terms of the steps. Of two ways to serve the differences of the rows add up to that of the whole. */
enum { CHIP_TIME_IDLE = STEP_TERMS, CHIP_TIME_ROWS };
typedef struct {
    double seconds[CHIP_TIME_ROWS]; /* of a chip, for one output token; they add up to 1 / point->per_chip */
    double total;
} ChipTime;

/* A pool's chips are parted as its mean step is, those that no pool has are idle. */
void chip_time(const ServingQuestion *question, const ServingPoint *point, ChipTime *out);

const char *chip_time_name(int row); /* "matmul" ... "idle chips" */

/* The row that costs the first most beyond the second; -1: none does. */
int chip_time_most(const ChipTime *first, const ChipTime *second);
