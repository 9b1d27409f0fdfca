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

/* The profile of an engine on a chip that replays of these rows use, to be changed by a fit; NULL: none was read. */
ServingProfile *serving_replay_profile(ServingReplay *with, const char *chip, const char *engine);
