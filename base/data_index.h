/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/data_index.h: what the build noted of the program's own data files, names.tsv, so that a command opens the few
 * files that it needs. cmake/index_data.c writes it.
 *
 * A folder's notes are used while the folder is as the build saw it: no file was written, renamed, added or taken away
 * after names.tsv was put in place (names, sizes and times say so, and times cannot be set back: the inode's change
 * counts too). Else the folder has no notes, and its files are read. A folder that SHARDOPT_DATA names has none either,
 * unless the program would have taken the same folder without it. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

enum { INDEX_BYTES_MAX = 64 << 20 };
#define INDEX_FILE "names.tsv"

typedef struct {
    const char *file;   /* "gpt2.json" */
    const char *sha256; /* of its bytes, in hex */
    char *facts;        /* what its reader noted: fields between tabs; the reader may write to it */
} IndexRow;

typedef struct {
    const char *folder; /* where the files are */
    IndexRow *rows;     /* sorted by file, one for each .json file of the folder */
    size_t count;       /* 0: there are no notes */
} DataIndex;

/* The notes of a data folder ("models/zoo"). Only a lack of memory and a folder that is not there are errors. */
bool data_index_read(const char *name, Arena *arena, DataIndex *out, Error *error);

/* The same of several folders of one place. */
bool data_index_read_all(const char *const *names, int count, Arena *arena, DataIndex *out, Error *error);

/* Cuts the next field off a row's facts, and moves on; NULL: there is no more. */
char *index_field(char **facts);

/* The first line: what writes and what reads are of one version. In the arena; NULL means that memory is out. And the
 * last line, without which the file is not whole. */
const char *data_index_heading(Arena *arena);
#define INDEX_END "# end\n"
