/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/rl_report.h: the answer of `shardopt rl` as text and as JSON. */
#pragma once

#include "base/text/terminal.h"
#include "search/rl/rl_answer.h"

#include <cjson/cJSON.h>

bool rl_write_text(const RlQuestion *question, const RlAnswer *answer, TextOut out, Error *error);
bool rl_write_json(const RlQuestion *question, const RlAnswer *answer, FILE *out, Error *error);
/* A line for each split: its floor, its best step, what became of it. */
void rl_write_certificate(const RlAnswer *answer, FILE *out);

/* "4 x tensor=2 (vLLM)", and "data=16 expert=8 pipeline=2, micro-batch 1". */
enum { RL_WORDS_SIZE = 320 };
const char *rollout_words(const Rollout *rollout, char text[RL_WORDS_SIZE]);
const char *trainer_words(const Trainer *trainer, char text[RL_WORDS_SIZE]);
/* "24 chips train, 8 generate, 1 step off policy" */
const char *split_words(const RlStep *step, char text[RL_WORDS_SIZE]);
