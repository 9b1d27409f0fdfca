/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/measured/serving_replay.h: measured serving runs priced by the planner's own functions, each in its
 * own mode: requests always in flight, everything queued at once, one fixed batch, arrivals at a rate, two pools,
 * prompts alone. */
#pragma once

#include "mesh/chip_json.h"
#include "models/config/model_json.h"
#include "search/serving/measured/serving_runs.h"
#include "search/serving/point.h"

#include <cjson/cJSON.h>

enum { SERVING_REASON_SIZE = 160, SERVING_LAYOUT_SIZE = 96 };

/* 0: not measured, or not predicted. Rates count output tokens of the whole deployment; of prompts alone prompt
 * tokens. */
typedef struct {
    double tpot_seconds, ttft_seconds, tokens_per_second;
} ServingFigures;

typedef struct {
    const ServingRun *run;
    char skipped[SERVING_REASON_SIZE]; /* why it cannot be replayed; "": it was */
    char layout[SERVING_LAYOUT_SIZE];  /* "tensor=4 attention_data=2" */
    ServingFigures measured, predicted;
    double resident;     /* sequences in flight of all workers, as memory allows */
    bool mixture;        /* the model has experts */
    bool drafts_unknown; /* drafts may have been on, which the row does not say: replayed without, and in no total */
} ServingOutcome;

/* What replays share: models, chips and profiles that were read. Zeroed but for the first three. */
typedef struct {
    const cJSON *profile; /* of cost/serving/profiles */
    const char *where;    /* its name */
    Arena *arena;
    struct ReplayModel *models;
    struct ReplayPlace *places;
    Catalog *catalog;
    Zoo *zoo;
    ServingQuestion *question; /* room for the one that is replayed */
} ServingReplay;

/* Replays one row. False: memory is out, or a file cannot be read. */
bool serving_replay(ServingReplay *with, const ServingRun *run, ServingOutcome *out, Error *error);

/* Whether all requests of a test are sent at its beginning. */
bool served_at_once(const ServingRun *run);

/* The error of a row, by which it is scored: of the time of a token where that was measured, else of the rate's
 * inverse; predicted / measured - 1. NAN: neither. */
double serving_error(const ServingOutcome *outcome);

/* serving_nearest.c: the measured run that says most about an answer. */

/* How far a run is from a point: each factor of two in lengths, chips of a worker or sequences of a worker is one
 * step (requests that were all sent at once: three), in the size of the model two, another engine two, another model
 * four, the other number of pools one, other weights and drafts that may have been on one and a half. INFINITY:
 * another chip, a model more than eight times as large or small, a mixture in place of a dense one, nothing that was
 * measured, or drafts. Pure. */
double serving_distance(const ServingQuestion *question, const ServingPoint *point, const Model *model,
                        const ServingRun *run);

/* The nearest of the rows, replayed; the first of equals. out->run NULL: none is of a like kind. */
bool serving_nearest(ServingReplay *with, const ServingRuns *runs, const ServingQuestion *question,
                     const ServingPoint *point, ServingOutcome *out, Error *error);

/* What the files of a replay share. */

typedef struct ReplayModel {
    const char *name;
    bool known;
    Model model;
    struct ReplayModel *next;
} ReplayModel;

typedef struct ReplayPlace {
    const char *chip_name;
    int engine;
    const char *version; /* of the run that it was read for */
    const cJSON *older;  /* the versions of the engine that are priced apart; NULL: its others */
    bool known;
    Chip chip, device;
    ServingProfile profile;
    struct ReplayPlace *next;
} ReplayPlace;

/* NULL with an error alone; `known` false: the zoo, or the catalog, has none of this name. A model that is not needed
 * whole has what finds it (zoo_names), and its active parameters. */
const ReplayModel *served_model(ServingReplay *with, const char *name, bool whole, Error *error);
ReplayPlace *served_place(ServingReplay *with, const ServingRun *run, int engine, Error *error);

/* Goes on with another profile, which stays the caller's: the figures of every place that was read are read again. */
bool served_places_use(ServingReplay *with, const cJSON *profile, const char *where, Error *error);

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
