/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/sets_answer.h: reads the lines of `--sets` and answers each: what `validate --sets` of training
 * and of serving runs share. */
#pragma once

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

/* Answers one line, which `where` names; the caller flushes. */
typedef bool SetAnswer(void *context, const cJSON *json, const char *where, FILE *out, Error *error);

/* Answers each line of the file at once; "-": of standard input. */
bool sets_answer(const char *path, FILE *out, SetAnswer *answer, void *context, Error *error);

/* A figure in such an answer, which is > 0; null: there is none. */
void sets_figure(FILE *out, double value);

bool sets_flushed(FILE *out, Error *error);
