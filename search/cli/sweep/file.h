/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/sweep/file.h: rows of a sweep on disk. A part of --shard and a file of --resume are the same: the header's
 * line, then a row's line for every finished point, in any order. */
#pragma once

#include "search/cli/command.h"
#include "search/sweep/sweep.h"

/* The rows of a grid that are known: rows[point].json is NULL where one is not. sweep_table_free() ends them. */
typedef struct {
    const SweepHeader *header; /* the grid's */
    SweepRow *rows;            /* header->grid.points of them */
    const char **origin;       /* the file that a row came from; NULL: none */
    const char **part;         /* of each shard the file that was read; NULL: none */
    Arena *arena;
} SweepTable;
bool sweep_table_new(const SweepHeader *header, Arena *arena, SweepTable *out, Error *error);
void sweep_table_free(SweepTable *table); /* of a zeroed one too */

/* Whether a point is of a header's shard. */
bool sweep_shard_has(const SweepHeader *header, int64_t point);

/* Adds a part's rows. Its header must be the table's but for the shard; where the table has none, but an arena, it is
 * made of this header. A shard that is there already is an error. */
bool sweep_part_read(const char *path, SweepTable *table, Error *error);

/* Whether every point is known; an error names the part that lacks the first. */
bool sweep_table_is_whole(const SweepTable *table, Error *error);

/* A file that finished points are appended to. */
typedef struct {
    int descriptor;
    const char *path;
} SweepResume;

/* Opens or makes it, and takes the rows that are there into the table. A last line without an end was being written
 * when its process died: it is dropped. A file of anything else is an error, and stays as it is; so is one that another
 * process has open here. */
bool sweep_resume_open(const char *path, SweepTable *table, SweepResume *out, Error *error);

/* One whole line, on the disk when this returns. */
bool sweep_resume_append(const SweepResume *resume, const char *line, size_t length, Error *error);

void sweep_resume_close(SweepResume *resume);

/* What `sweep` and `merge` have in common: the form of the answer, and how it ends. */

typedef struct {
    SweepFormat format;
    SweepGoal goal;
    const char *path; /* NULL: stdout */
    bool quiet;
} SweepOutput;

typedef struct {
    const char *format, *output, *quiet, *deadline, *budget; /* NULL: not given */
} SweepOutputWords;
bool sweep_output_read(const SweepOutputWords *words, SweepOutput *out, Error *error);

/* Whether a sweep of this grid can be written so: one of serving has no page and no goal. */
bool sweep_output_fits(const SweepGrid *grid, const SweepOutput *output, Error *error);

/* Writes the table of a whole grid; warns of what was planned though it is odd, each warning once (not when quiet). An
 * error too, behind the table, where points contradict each other (sweep_rows_agree). */
bool sweep_answer(const SweepGrid *grid, const SweepRow *rows, const SweepOutput *output, Streams streams,
                  Error *error);

/* 4: some point is not proven; 3: no plan fits at any point, or none reaches the goal; else 0, whatever single points
 * came to. */
int sweep_exit(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal);
