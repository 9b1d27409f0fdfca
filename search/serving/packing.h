/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/packing.h: how many workers of two forms lie side by side in a machine. */
#pragma once

#include "search/serving/space.h"

/* most[x], x from 0 to `first_max`: how many workers of the second box the machine holds beside x of the first; -1
 * where it does not hold x of the first. On switches a worker lies in one domain or takes whole ones, and domains are
 * filled as well as they can be; a torus (and the slices over DCN) is cut once, across one axis, anywhere. False:
 * memory is out. */
bool packing_most(const Mesh *machine, const WorkerBox *first, const WorkerBox *second, int64_t first_max, Arena *arena,
                  int64_t **most);
