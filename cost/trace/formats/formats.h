/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/formats.h: the files of profilers, distinguished by what stands in them. */
#pragma once

#include "cost/trace/formats/step_log.h"
#include "cost/trace/recording.h"

/* Reads a trace, gzip or not, into a recording that was begun. Its rank is what the file says, else what its name says
 * ("rank-3", "rank3", "worker3", "kineto_3"), else -1. */
bool trace_file_read(const char *path, Recording *out, Error *error);

/* Whether a file is a log and no trace, by its first bytes; then step_log.h reads it. */
bool trace_file_is_log(const char *path, bool *is_log, Error *error);
bool trace_log_read(const char *path, StepLog *out, Error *error);

/* The files of a folder that may be traces by their names, sorted, as paths in the arena. */
bool trace_folder_list(const char *folder, Arena *arena, const char ***paths, size_t *count, Error *error);

/* The rank that a file's name says; -1: none. */
int64_t trace_rank_of_name(const char *path);
