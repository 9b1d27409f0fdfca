/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/cache_pool.h"

enum { POOL_MOST = 64 }; /* kept at once; what is given beyond is freed */
struct CachePool {
    TotalsCache *sums[POOL_MOST];
    int count;
    bool closed;
};

CachePool *cache_pool_new(Arena *arena) { return ARENA_NEW(arena, CachePool, 1); }

void cache_pool_close(CachePool *pool) {
    pool->closed = true;
    while (pool->count > 0) totals_cache_free(pool->sums[--pool->count]);
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
