/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/bound/batch_table.h: what the table of rates and the sums over it agree on. Internal to batch.c. */
#pragma once

/* Placements that are summed up at once: all arrays that one row reads and writes stay in the first-level cache. */
enum { BATCH_BLOCK = 256 };
