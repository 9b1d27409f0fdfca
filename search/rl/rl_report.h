/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/rl_report.h: the answer of `shardopt rl` as text and as JSON. */
#pragma once

#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/text/terminal.h"
#include "search/rl/recipes.h"

#include <cjson/cJSON.h>

bool rl_write_text(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, TextOut out,
                   Error *error);
/* NULL: memory is out. Without recipes, none are in it. */
cJSON *rl_json(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes);
/* The same with what people read in addition: words, the best step in time, places. NULL: *error says
 * why. */
cJSON *rl_document(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, Error *error);
/* Without recipes what a decision needs, in at most 60 lines. */
bool rl_write_json(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, FILE *out, Error *error);
bool rl_write_html(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, FILE *out, Error *error);
/* The best step against how far weights may be behind, and against fewer hosts and twice as many: a line each. */
bool rl_write_front(const RlQuestion *question, Arena *arena, FILE *out, Error *error);
/* A line for each split: its floor, its best step, what became of it. */
void rl_write_certificate(const RlAnswer *answer, FILE *out);

/* Warnings of rows that were left out of files of lengths and of calls. */
void rl_write_left_out(const RlQuestion *question, FILE *out);

/* "4 x tensor=2 (vLLM)", and "data=16 expert=8 pipeline=2, micro-batch 1". */
enum { RL_WORDS_SIZE = 320 };
const char *rollout_words(const Rollout *rollout, char text[RL_WORDS_SIZE]);
const char *trainer_words(const Trainer *trainer, char text[RL_WORDS_SIZE]);
/* Both sides as they are started: "trainer TP2 DP4, ...; rollout 4 x TP2, ...". */
void rl_launch_words(const RlStep *step, Prose *to);
/* "24 chips train, 8 generate, 1 step off policy" */
const char *split_words(const RlStep *step, char text[RL_WORDS_SIZE]);
const char *rl_lack_words(const RlAnswer *answer); /* why no split fits, where none does */
/* "40 train, 24 generate, lag 1, partial"; "TP2 DP4", without its microbatches; "4 x TP2" */
const char *split_short(const RlStep *step, char text[RL_WORDS_SIZE]);
const char *trainer_degrees(const Trainer *trainer, char text[RL_WORDS_SIZE]);
const char *rollout_degrees(const Rollout *rollout, char text[RL_WORDS_SIZE]);
