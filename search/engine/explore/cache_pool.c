/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/explore/cache_pool.h"

#include <stdlib.h>
#include <string.h>

enum { POOL_MOST = 64 };   /* kept at once; what is given beyond is freed */
enum { MESHES_MOST = 64 }; /* whose least rates are kept */

typedef struct {
    Mesh mesh;
    LowerBoundRates *rates;
    Arena arena; /* of the rates */
} MeshRates;

struct CachePool {
    TotalsCache *sums[POOL_MOST];
    int count;
    MeshRates *meshes[MESHES_MOST];
    int mesh_count;
    bool closed;
};

CachePool *cache_pool_new(Arena *arena) { return ARENA_NEW(arena, CachePool, 1); }

void cache_pool_close(CachePool *pool) {
    pool->closed = true;
    while (pool->count > 0) totals_cache_free(pool->sums[--pool->count]);
    while (pool->mesh_count > 0) {
        MeshRates *of = pool->meshes[--pool->mesh_count];
        arena_free(&of->arena);
        free(of);
    }
}

/* Those of a mesh that is known; NULL: it is not. Which bytes lie between the members of a mesh is not said: then what
 * is known is made again. */
static const LowerBoundRates *known_rates(const CachePool *pool, const Mesh *mesh) {
    for (int i = 0; i < pool->mesh_count; i++)
        if (memcmp(&pool->meshes[i]->mesh, mesh, sizeof *mesh) == 0) return pool->meshes[i]->rates;
    return NULL;
}

static bool has_room(const CachePool *pool) { return !pool->closed && pool->mesh_count < MESHES_MOST; }

const LowerBoundRates *cache_pool_rates(CachePool *pool, const Mesh *mesh) {
    const LowerBoundRates *known;
    bool room;
#pragma omp critical(cache_pool)
    {
        known = known_rates(pool, mesh);
        room = has_room(pool);
    }
    MeshRates *own = known || !room ? NULL : calloc(1, sizeof *own);
    if (!own) return known;
    own->mesh = *mesh;
    own->rates = lower_bound_rates_new(mesh, &own->arena);
#pragma omp critical(cache_pool)
    {
        known = own->rates;
        room = own->rates && has_room(pool);
        if (room) pool->meshes[pool->mesh_count++] = own;
    }
    if (room) return known;
    arena_free(&own->arena);
    free(own);
    return NULL;
}

/* One that is kept, best one that knows the context; NULL: none is. */
static TotalsCache *kept(CachePool *pool, const CostContext *context) {
    TotalsCache *sums = NULL;
#pragma omp critical(cache_pool)
    if (pool->count > 0) {
        int at = pool->count - 1;
        for (int i = 0; i < pool->count; i++)
            if (totals_cache_knows(pool->sums[i], context)) at = i;
        sums = pool->sums[at];
        pool->sums[at] = pool->sums[--pool->count];
    }
    return sums;
}

bool cache_pool_take(CachePool *pool, const CostContext *context, ExploreCache *out, Error *error) {
    TotalsCache *sums = pool ? kept(pool, context) : NULL;
    *out = (ExploreCache){.sums = sums ? sums : totals_cache_new(), .memo = collective_memo_new()};
    if (!out->sums || !out->memo) return error_memory(error);
    totals_cache_begin(out->sums, context);
    return true;
}

void cache_pool_give(CachePool *pool, ExploreCache *cache) {
    if (pool && cache->sums) {
#pragma omp critical(cache_pool)
        if (!pool->closed && pool->count < POOL_MOST) {
            pool->sums[pool->count++] = cache->sums;
            cache->sums = NULL;
        }
    }
    explore_cache_free(cache);
}
