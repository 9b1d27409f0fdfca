/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/diff_tables.h: the tables of a comparison, which text, Markdown and page share. A table without rows
 * has nothing to say. In the arena. */
#pragma once

#include "base/text/table.h"
#include "search/baseline/diff.h"

Table diff_texts_table(const DiffText *list, int count, Arena *arena);
Table diff_figures_table(const Diff *diff, Arena *arena);
/* The best plans part by part, with what each part has more (+) or less (-) in B. */
Table diff_step_table(const Diff *diff, Arena *arena);
Table diff_memory_table(const Diff *diff, Arena *arena);
/* The plans of both, by their ranks. */
Table diff_plans_table(const Diff *diff, Arena *arena);
