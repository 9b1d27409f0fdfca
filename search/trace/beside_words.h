/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/trace/beside_words.h: what text and page say alike of a measured step, as sentences, which stay empty where
 * there is nothing to say, and as the table of its terms. */
#pragma once

#include "base/text/prose.h"
#include "base/text/table.h"
#include "search/trace/beside.h"

void beside_head_words(const Beside *beside, Prose *out);  /* devices, steps, how long one is */
void beside_ranks_words(const Beside *beside, Prose *out); /* collectives over ranks, and who comes last */
void beside_rates_words(const Beside *beside, Prose *out);
void beside_placed_words(const Beside *beside, Prose *out); /* how much of the time has a term, and what has none */
void beside_memory_words(const Beside *beside, Prose *out);

/* Most that was allocated on a device, in bytes; -1: the traces do not say. */
int64_t beside_peak(const Beside *beside);

/* Measured and predicted, term by term; in the arena. */
Table beside_table(const Beside *beside, Arena *arena);
/* The same of the stages of a pipeline, without rows where no stage is known. */
Table beside_stage_table(const Beside *beside, Arena *arena);
