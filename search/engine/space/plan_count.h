/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/space/plan_count.h: how many plans one machine has, without going through its degree tuples. Internal to
 * tuples.c.
 *
 * * Knobs ask whether expert, fsdp and data are above 1, and how often the batch is split, which is by their product:
 * all tuples with the same tensor, sequence, pipeline and product Q of the three are counted together, in at most
 * seven classes (which of the three are above 1). With P1, P2 and P3 placements where one given role, two given ones
 * or all three may share in Q, the classes of one, two and three roles above 1 have P1, P2 - 2 P1 and P3 - 3 P2 + 3
 * P1. */
#pragma once

#include "search/engine/space/knob_space.h"
#include "search/request/request.h"

/* The orders of roles that a tuple is searched in: 1, or with --nesting all those of its roles above 1. */
static inline int64_t tuple_orders(const Request *request, const Degrees *degrees) {
    return request->space.nesting_all ? nesting_orders(degrees) : 1;
}

/* What one thread keeps from machine to machine of one request. */
typedef struct PlanCounter PlanCounter;
PlanCounter *plan_counter_new(const Request *request); /* NULL means that memory is out; free with plan_counter_free */
/* Counting ends when the world's clock reads this; 0, as at first: never. */
void plan_counter_until(PlanCounter *counter, double until);
void plan_counter_free(PlanCounter *counter);

/* A mesh whose plans are counted. */
typedef struct {
    const Mesh *mesh;
    const KnobDomain *domain;
    const PlacementTable *table; /* of the mesh */
} CountedMesh;

typedef struct {
    Count plans;     /* placements x knobs x orders over all degree tuples of the mesh and all batches */
    int64_t batches; /* the most that one tuple has */
    bool late;       /* time was up before they were counted */
} PlanCount;

/* What machines have, by their number in a list of machines, kept between searches that differ in their launchers
 * alone: those often have the same plans. */
typedef struct {
    bool known;
    KnobDomain domain; /* that they were counted with */
    PlanCount count;
} CountedMachine;
struct PlanCounts {
    Arena *arena;             /* of what follows */
    CountedMachine *machines; /* NULL until a search has listed them */
    int machine_count;
};

/* Counts the plans of a mesh. The request's roles include fsdp and data. False means that there are more than 2^128
 * plans, or that memory is out (ERROR_MEMORY). */
bool plans_on_mesh(PlanCounter *counter, const CountedMesh *of, PlanCount *out, Error *error);

/* The batches that this number of replicas may train with, by index: the requested one, then those within the tolerance
 * that the replicas divide, in rising order; 0 after the last. */
int64_t batch_at(const Request *request, int64_t replicas, int64_t index);
int64_t batch_count(const Request *request, int64_t replicas); /* with the requested one */
/* The largest multiple of the replicas within the tolerance; below them: there is none. */
int64_t batch_most(const Request *request, int64_t replicas);
