/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/trace/beside_page.h: a measured step beside the plan's as one page that loads nothing: the terms, the largest
 * differences, the measured step in time above the predicted one, and the ranks. Of a trace it has figures, the name of
 * the chip and names of kernels, as text. Pure but for the stream. */
#pragma once

#include "base/text/drawn.h"
#include "search/trace/beside.h"

/* `more` is what else the answer says, as lines of text: logs, a refit; "" where there is nothing. */
bool beside_write_page(const Beside *beside, const char *more, FILE *out, Error *error);

/* Internal: the pictures, each with its words and its figures as a table in the arena. */
typedef bool BesidePicture(const Beside *beside, Arena *arena, FILE *out, Prose *words, Table *table);
BesidePicture beside_picture_time;  /* one step, moment by moment */
BesidePicture beside_picture_terms; /* what the step adds up to: the plan, the mean, every rank */
