/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/explore/orders.h: one degree tuple in every order of its roles that was asked for. */
#pragma once

#include "search/engine/explore/explore.h"
#include "search/engine/space/plan_count.h"

/* explore_tuple() in the request's order of roles or, with --nesting all, in all of them, the canonical one first.
 * What the first order leaves out before anything was asked that depends on the order is out in all. Where one plan is
 * wanted, the best of an order is the limit of the next: *limit (ranked) falls to it. */
bool explore_orders(Explorer *explorer, const Degrees *degrees, double *limit);

/* The same with what was left, in the one order that was asked for: explore_left(). */
bool explore_orders_left(Explorer *explorer, const Degrees *degrees, const Deferred *left, int64_t count,
                         double *limit);
