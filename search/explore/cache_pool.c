/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/explore/cache_pool.h"

#include <stdlib.h>

enum { POOL_MOST = 64 }; /* kept at once; what is given beyond is freed */
static struct {
    TotalsCache *sums[POOL_MOST];
    int count;
    int begun; /* how often cache_pool_begin() was called and not ended */
} pool;

void cache_pool_begin(void) {
#pragma omp critical(cache_pool)
    pool.begun++;
}

void cache_pool_end(void) {
#pragma omp critical(cache_pool)
    {
        pool.begun--;
        while (pool.begun == 0 && pool.count > 0) totals_cache_free(pool.sums[--pool.count]);
    }
}

/* One that is kept, best one that knows the context; NULL: none is. */
static TotalsCache *kept(const CostContext *context) {
    TotalsCache *sums = NULL;
#pragma omp critical(cache_pool)
    if (pool.count > 0) {
        int at = pool.count - 1;
        for (int i = 0; i < pool.count; i++)
            if (totals_cache_knows(pool.sums[i], context)) at = i;
        sums = pool.sums[at];
        pool.sums[at] = pool.sums[--pool.count];
    }
    return sums;
}

bool cache_pool_take(const CostContext *context, ExploreCache *out, Error *error) {
    TotalsCache *sums = kept(context);
    *out = (ExploreCache){.sums = sums ? sums : totals_cache_new(), .memo = collective_memo_new()};
    if (!out->sums || !out->memo) return error_memory(error);
    totals_cache_begin(out->sums, context);
    return true;
}

void cache_pool_give(ExploreCache *cache) {
#pragma omp critical(cache_pool)
    if (pool.begun > 0 && pool.count < POOL_MOST && cache->sums) {
        pool.sums[pool.count++] = cache->sums;
        cache->sums = NULL;
    }
    explore_cache_free(cache);
}
