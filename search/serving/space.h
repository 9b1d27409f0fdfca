/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/space.h: every way to cut a model for serving: the sub-mesh of chips that a worker takes, how many of
 * them the machine holds, how tensor, attention data and pipeline lie in the sub-mesh, how experts and the cache are
 * cut, in which types. */
#pragma once

#include "base/number.h"
#include "search/serving/question.h"

#include <stdio.h>

/* A part of the machine, of equal form for each worker: some devices of each axis, side by side. An axis of which it
 * takes less than all is no ring. */
typedef struct {
    int64_t size[MESH_AXES_MAX]; /* by axis of the machine's mesh */
    Mesh mesh;                   /* axes of size 1 are left out */
    int64_t devices, copies;     /* as many as lie side by side in the machine */
} SubMesh;

typedef struct {
    SubMesh *list; /* rising devices, then sizes */
    int count;
} SubMeshList;
bool submeshes_enumerate(const ServingQuestion *question, Arena *arena, SubMeshList *out, Error *error);

typedef enum { PHASE_BOTH, PHASE_PROMPTS, PHASE_DECODES } ServingPhase;

/* A layout in its sub-mesh, under the rules of an engine. */
typedef struct {
    const SubMesh *submesh;
    WorkerLayout layout;
    Placement placement;
    int64_t number; /* of the placement, among those of its degrees */
    int engine;     /* NO_ENGINE: what divides and fits */
    int64_t key;    /* its place in the enumeration: the order of equals */
} ServingLayout;

/* The search log, which is the certificate of `shardopt inference`, written while it searches: a line for every layout
 * that is visited or left out, and one for every range of batches that is cut, with the bound that cut it. What no line
 * cuts was evaluated.
 *
 * Columns, with tabs: engine mode phase box tensor attention_data pipeline expert expert_tensor kv_sequence kv_batch
 * stationary weights cache placement what low high user chip. `what`: layout (batches low to high are covered); memory,
 * limit, time_limit (low to high are cut); bound (cut: no user of these batches gets more than `user`, no chip more
 * than `chip`); worker (the same with `chip` of one worker, beaten by a worker_front line of its sub-mesh and cache);
 * worker_front; or why a layout was left out: indivisible, require, engine, equal. Rates are hexadecimal. */
typedef struct {
    FILE *out;
    const char *engine, *mode; /* of the lines that follow */
} ServingLog;

typedef struct {
    const char *what;
    int64_t low, high; /* batches; 0: none in particular */
    double user, chip; /* rates; 0: none */
} LogLine;

/* The names of the columns. */
void serving_log_begin(ServingLog *log);

/* Nothing where `log` is NULL. */
void serving_log_add(ServingLog *log, ServingPhase phase, const ServingLayout *layout, LogLine line);

/* Why layouts never came to be priced, for the certificate. */
typedef enum { EXCLUDED_INDIVISIBLE, EXCLUDED_REQUIRE, EXCLUDED_ENGINE, EXCLUDED_EQUAL, EXCLUDED_COUNT } Exclusion;
const char *exclusion_name(Exclusion reason);

typedef struct {
    Count layouts; /* all: visited, and left out */
    Count excluded[EXCLUDED_COUNT];
    ServingLog *log; /* of each; NULL: none is kept */
} SpaceCount;

/* Calls `visit` for each layout of the phase under the engine's rules, in one fixed order; a `false` ends it. Layouts
 * of equal messages (placements that cost the same) are visited once. Returns false only where memory is out, or where
 * `visit` said so. */
typedef bool (*LayoutVisit)(void *context, const ServingLayout *layout, const WorkerLinks *links);
typedef struct {
    const ServingQuestion *question;
    const SubMeshList *submeshes;
    ServingPhase phase;
    int engine;
    SpaceCount *count;
} Space;
bool space_each(const Space *space, LayoutVisit visit, void *context);

/* What the messages of a layout cost, by its sub-mesh, placement and engine. */
void layout_links(const ServingQuestion *question, const ServingLayout *layout, WorkerLinks *out);

/* Whether the layout divides the model at all; the rules of no engine. */
bool layout_divides(const Model *model, const WorkerLayout *layout);

/* Devices of a host, and those that fast links join; of a smaller machine all. */
int64_t devices_of_host(const ServingQuestion *question);
int64_t devices_of_domain(const ServingQuestion *question);

EngineRole engine_role(ServingPhase phase);

/* Whether hardly any published run has such a layout (docs/serving.md has the counts): attention data parallel next to
 * tensor, stages within a host, a cache cut by sequence. On a torus there are few layouts, and those are run. */
bool layout_is_seldom(const ServingQuestion *question, const WorkerLayout *layout);

/* Whether an engine runs the layout, and a worker of it can be started on hosts of the machine, as `emit` writes it. */
bool engine_takes(const ServingQuestion *question, int engine, ServingPhase phase, const WorkerLayout *layout);
