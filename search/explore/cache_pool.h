/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/explore/cache_pool.h: caches that searches hand on to each other. A search around another one mostly prices
 * layers as that one does; then it finds their totals, which were worked out once. */
#ifndef SHARDOPT_SEARCH_EXPLORE_CACHE_POOL_H
#define SHARDOPT_SEARCH_EXPLORE_CACHE_POOL_H

#include "search/explore/explorer.h"

/* A cache for one thread of a search, until it is given back: one that knows totals under this context where there is
 * one, else an empty one. Any threads may take and give at the same time. */
bool cache_pool_take(const CostContext *context, ExploreCache *out, Error *error);
void cache_pool_give(ExploreCache *cache);

/* Between these two, which may be nested, caches that are given back are kept for who takes next; what is kept is freed
 * at the last end. Which caches are found changes how long a search takes, and no digit of what it finds. */
void cache_pool_begin(void);
void cache_pool_end(void);

#endif
