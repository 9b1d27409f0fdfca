/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/replay_inside.h: what the files of a replay share. */
#pragma once

#include "search/serving/measured/serving_replay.h"

typedef struct ReplayModel {
    const char *name;
    bool known;
    Model model;
    struct ReplayModel *next;
} ReplayModel;

typedef struct ReplayPlace {
    const char *chip_name;
    int engine;
    const cJSON *older; /* the versions of the engine that are priced apart; NULL: its others */
    bool known;
    Chip chip, device;
    ServingProfile profile;
    struct ReplayPlace *next;
} ReplayPlace;

/* NULL with an error alone; `known` false: the zoo, or the catalog, has none of this name. */
const ReplayModel *served_model(ServingReplay *with, const char *name, Error *error);
ReplayPlace *served_place(ServingReplay *with, const ServingRun *run, int engine, Error *error);

int served_engine(const char *name); /* -1: none of the engines that are priced */
StoredType served_weights(ServingReplay *with, const ServingRun *run);
StoredType served_cache(const ServingRun *run, StoredType weights, int engine);

/* So many requests that are sent to one worker, all at once or at a rate. */
typedef struct {
    double requests, prompt, output; /* tokens, means */
    double rate;                     /* requests a second, as Poisson's; 0: all at once */
    double clients;                  /* requests that are in flight at most; 0: all of them */
    bool exponential;                /* answers' lengths; else all are alike */
    double slots, budget;            /* sequences that the engine holds, tokens of its step */
} ServedBurst;

/* Goes through the test step by step; means over its requests, and output tokens per second of its whole time. False:
 * memory is out. */
bool served_burst(const StepPlan *plan, const ServedBurst *of, Arena *arena, ServingFigures *out);
