/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/cache_pool.h: caches that searches hand on to each other. A search around another one mostly prices
 * layers as that one does; then it finds their totals, which were worked out once. Which caches are found changes how
 * long a search takes, and no digit of what it finds. */
#pragma once

#include "search/engine/explore/explorer.h"

/* Lives in an arena, as the requests that name it do (SearchControl.caches). Its caches are freed when it is closed;
 * from then on it keeps none. */
typedef struct CachePool CachePool;
CachePool *cache_pool_new(Arena *arena); /* NULL means that memory is out */
void cache_pool_close(CachePool *pool);

/* A cache for one thread of a search, until it is given back: one that knows totals under this context where there is
 * one, else an empty one. Any threads may take and give at the same time. Without a pool (NULL) it is a new one, and is
 * freed when it is given back. */
bool cache_pool_take(CachePool *pool, const CostContext *context, ExploreCache *out, Error *error);
void cache_pool_give(CachePool *pool, ExploreCache *cache);

/* The least rates of a mesh, as long as the pool is open; made where they are not known. NULL: there is no room for
 * more, or memory is out. Any threads may ask at the same time. */
const LowerBoundRates *cache_pool_rates(CachePool *pool, const Mesh *mesh);
