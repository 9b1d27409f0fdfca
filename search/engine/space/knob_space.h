/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/space/knob_space.h: the knobs of a degree tuple, as rules: counted in closed form, listed one by one. */
#pragma once

#include "cost/stage/cost_context.h"
#include "mesh/mesh.h"
#include "search/request/request.h"

/* The most that the lists of a knob space hold; knob_domain_fits() says where that is not enough. */
enum { HEAD_WAYS_MAX = 64, GRIDS_MAX = 1024, CONTEXTS_MAX = CONTEXT_COUNT + HEAD_WAYS_MAX };

/* What model, machine and software have at all. */
typedef struct {
    /* Divisors above 1 of the heads of every layer, in rising order: what Ulysses may exchange heads over. */
    int64_t head_ways[HEAD_WAYS_MAX];
    int head_way_count;
    bool too_many_head_ways; /* there are more */
    int64_t experts;         /* of the widest mixture; 0 where no layer has experts */
    /* The machine is no torus, but switches or direct links join its GPUs: it has launchers of GPU clusters, which fold
     * experts into other ranks and may let context ranks replicate. */
    bool switched;
    bool overlaps;                                           /* chunked matmuls hide tensor collectives */
    bool offloads;                                           /* the host has room for optimizer state */
    Schedule whole[SCHEDULE_COUNT], chunked[SCHEDULE_COUNT]; /* schedules requested: of whole stages, and of chunks */
    int whole_count, chunked_count;
} KnobDomain;
/* `schedules` has a bit for each Schedule. */
KnobDomain knob_domain(const CostContext *setting, const Mesh *mesh, unsigned schedules);

/* Whether lists of a knob space hold all that is offered for any degrees on a mesh. Nothing is left out of a space in
 * silence: where they do not, the error names the limit. */
bool knob_domain_fits(const KnobDomain *domain, const Model *model, const Mesh *mesh, Error *error);

/* Whether experts may lie on a grid of ranks in place of their role. */
static inline bool experts_may_fold(const KnobDomain *domain, const Degrees *degrees) {
    return domain->experts > 0 && domain->switched && degrees->of[ROLE_EXPERT] == 1;
}

/* Ways to exchange tokens, heads and experts: every context way x whether sequence replicates x every expert grid. */
typedef struct {
    struct {
        ContextMethod method;
        int64_t ulysses;
    } contexts[CONTEXTS_MAX]; /* Ulysses x ring has one for each proper divisor */
    int context_count, replicate_count;
    bool replicates[2];          /* whether context ranks do */
    ExpertGrid grids[GRIDS_MAX]; /* the first is none */
    int grid_count;
} MethodSpace;
void method_space(const Degrees *degrees, const KnobDomain *domain, MethodSpace *out);
int64_t method_space_size(const MethodSpace *space);
Methods method_space_at(const MethodSpace *space, int64_t index);

/* The last of the ways to split the layers of a model over the stages of some degrees; the first is STAGES_EVEN. Lists
 * and bounds go to it, so that no bound leaves out a way that the space has. */
StageSplit last_split(const Model *model, const Degrees *degrees);

/* The independent choices of one degree tuple with `per_replica` sequences in each replica. A role of degree 1 has its
 * knobs off. */
typedef struct {
    /* b: the least for each distinct number of microbatches m = ceil(n / b); m falls as b rises */
    int64_t *microbatch_sequences;
    int64_t microbatch_count;
    /* v: the least for each distinct ceil(l / v), l = floor(layers / stages); the first is 1 */
    int64_t *virtual_stages;
    int64_t virtual_count;
    int64_t pipe_count; /* schedules, those in chunks with each v > 1; 1 without pipeline; 0: none requested fits */
    int split_count;    /* of layers over stages */
    unsigned splits;    /* those in question: a bit for each StageSplit */
    MethodSpace methods;
    int64_t method_count;
    int overlap_count, zero_count, regather_count, offload_count;
    int overlaps[2], zero_stages[3], regathers[2], offloads[2]; /* the settings, so many of each */
    int64_t per_replica;
    bool pipelined;
    KnobDomain domain;
} KnobSpace;

/* False: memory is out. */
bool knob_space(const Model *model, const Degrees *degrees, int64_t sequences, const KnobDomain *domain, Arena *arena,
                KnobSpace *out, Error *error);

/* Leaves the settings that meet the conditions of a request; family size 0: there are none. */
void knob_space_narrow(KnobSpace *space, const Degrees *degrees, const Request *request);

/* Knob settings stand in families that share microbatch, methods and split of layers, and so the ops of a layer:
 * setting `index` of a family is knob setting family * knob_family_size() + index of the space. */
int64_t knob_family_count(const KnobSpace *space);
int64_t knob_family_size(const KnobSpace *space);
Knobs knob_space_at(const KnobSpace *space, int64_t index);

/* So many settings from each multiple of it on share their sizes: they differ in ZeRO, gathering and offloading. */
int64_t knob_sizes_shared(const KnobSpace *space);

/* Which of the methods a knob setting of the space has: overlap aside, who communicates depends on it alone. */
int64_t knob_space_methods(const KnobSpace *space, int64_t index);

/* The size alone, without listing: how many microbatches the batch allows x all that it does not change. */
int64_t knob_microbatches(const Degrees *degrees, int64_t sequences);
int64_t knob_others(const Model *model, const Degrees *degrees, const KnobDomain *domain);
int64_t knob_count(const Model *model, const Degrees *degrees, int64_t sequences, const KnobDomain *domain);

/* knob_others() in parts: with as many context ways and expert grids it depends on tensor, expert, sequence, fsdp and
 * data only by whether they are above 1, and on the stages. */
int64_t context_ways(int64_t sequence, const KnobDomain *domain);
int64_t grid_ways(int64_t tensor, int64_t ranks, const KnobDomain *domain); /* of a stage; expert 1 */
int64_t knob_others_among(const Model *model, const Degrees *degrees, const KnobDomain *domain, int64_t contexts,
                          int64_t grids);

/* Whether a knob makes no difference here, so that the plan is equivalent to another one: sharding over one replica,
 * keeping weights that nothing gathers, balancing stages that are equal. */
bool knobs_redundant(const Model *model, const KnobDomain *domain, const Knobs *knobs, const Shard *shard);
