/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/space.h: every way to cut a model for serving: the box of chips that a worker takes, how many of them
 * the machine holds, how tensor, attention data and pipeline lie in the box, how experts and the cache are cut, in
 * which types. */
#pragma once

#include "base/count.h"
#include "search/serving/ledger.h"
#include "search/serving/question.h"

/* A part of the machine, of equal form for each worker: some devices of each axis, side by side. An axis of which it
 * takes less than all is no ring. */
typedef struct {
    int64_t size[MESH_AXES_MAX]; /* by axis of the machine's mesh */
    Mesh mesh;                   /* axes of size 1 are left out */
    int64_t devices, copies;     /* as many as lie side by side in the machine */
} WorkerBox;

typedef struct {
    WorkerBox *boxes; /* rising devices, then sizes */
    int count;
} BoxList;
bool boxes_enumerate(const ServingQuestion *question, Arena *arena, BoxList *out, Error *error);

typedef enum { PHASE_BOTH, PHASE_PROMPTS, PHASE_DECODES } ServingPhase;

/* A layout in its box, under the rules of an engine. */
typedef struct ServingLayout {
    const WorkerBox *box;
    WorkerLayout layout;
    Placement placement;
    int64_t number; /* of the placement, among those of its degrees */
    int engine;     /* NO_ENGINE: what divides and fits */
    int64_t key;    /* its place in the enumeration: the order of equals */
} ServingLayout;

/* Why layouts never came to be priced, for the certificate. */
typedef enum { LEFT_INDIVISIBLE, LEFT_REQUIRE, LEFT_ENGINE, LEFT_EQUAL, LEFT_COUNT } LeftOut;
const char *left_out_name(LeftOut reason);

typedef struct {
    Count layouts; /* all: visited, and left out */
    Count left[LEFT_COUNT];
    ServingLedger *ledger; /* told of each; NULL: nobody asks */
} SpaceCount;

/* Calls `visit` for each layout of the phase under the engine's rules, in one fixed order; a `false` ends it. Layouts
 * of equal messages (placements that cost the same) are visited once. Returns false only where memory is out, or where
 * `visit` said so. */
typedef bool (*LayoutVisit)(void *context, const ServingLayout *layout, const WorkerLinks *links);
typedef struct {
    const ServingQuestion *question;
    const BoxList *boxes;
    ServingPhase phase;
    int engine;
    SpaceCount *count;
} Space;
bool space_each(const Space *space, LayoutVisit visit, void *context);

/* What the messages of a layout cost, by its box, placement and engine. */
void layout_links(const ServingQuestion *question, const ServingLayout *layout, WorkerLinks *out);

/* Whether the layout divides the model at all; the rules of no engine. */
bool layout_divides(const Model *model, const WorkerLayout *layout);
