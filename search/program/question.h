/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/question.h: the question of `shardopt program`, read from its options. */
#pragma once

#include "search/options/options.h"
#include "search/program/answer.h"

/* Fills in what the options say and their defaults; the program is read. What it points to lives in the arena. The
 * control's clock and interrupts are the caller's to set. */
bool program_question(const Options *options, const Program *program, Arena *arena, ProgramQuestion *out, Error *error);
