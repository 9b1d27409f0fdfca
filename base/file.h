/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/file.h: the edges of the program: reads whole files, writes whole files, finds the data. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Reads a regular file of at most `limit` bytes into the arena and puts a NUL after them that *length does not count. A
 * larger file, or a file that is not regular, is ERROR_IO; opening never waits for the other end of a pipe. "-" is
 * standard input, read to its end, which may be a pipe and can be read again. */
bool file_read(const char *path, size_t limit, Arena *arena, char **text, size_t *length, Error *error);

/* Writes a file next to `path`, syncs it and renames it: the path holds the old content or the new, never half of it.
 * Links are followed, also those that lead to nothing yet, and an old file keeps its mode. A target that is not a
 * regular file (a terminal, a pipe), and every target under /dev and /proc, is written directly. */
bool file_write(const char *path, const char *text, size_t length, Error *error);

/* The same for content that is too long to hold in memory: the bytes written to file_stream_out() land next to `path`,
 * and closing syncs and renames the file. NULL means that *error says why. */
typedef struct FileStream FileStream;
FileStream *file_stream_open(const char *path, Error *error);
FILE *file_stream_out(FileStream *stream);
/* Ends the stream. If `keep` is false, or after a failure, the old content stays. Returns false if the content should
 * have been kept and was not. */
bool file_stream_close(FileStream *stream, bool keep, Error *error);

/* Returns the folder that holds `name` ("models/zoo", "mesh/catalog", "cost/profiles", "cost/optimizers",
 * "cost/measured/data"). If $SHARDOPT_DATA is set and not empty, only that folder is searched; else the first of these
 * is taken: next to the installed program (../share/shardopt from its folder), the source folder compiled in, the
 * install prefix compiled in. The name lies in the arena; NULL means that there is no such folder, and *error says
 * so. */
const char *file_data_folder(const char *name, Arena *arena, Error *error);

/* The path of the program that runs; NULL means that it is not known, or that memory is out. */
const char *file_own_program(Arena *arena);

/* The notes of the build on the files of such a folder (base/data_index.h), which may not be there; "": it is none of
 * the program's own. NULL means that memory is out. */
const char *file_data_index(const char *folder, const char *name, Arena *arena);

/* Lists the names, sorted by bytes, of the regular files in `folder` that end in `suffix`; hidden files are left
 * out. */
bool file_list(const char *folder, const char *suffix, Arena *arena, char ***names, size_t *count, Error *error);

/* Whether an argument is the path of a JSON file, and not the name of one that comes with the program. */
bool file_names_json(const char *argument);

/* The path of the file NAME.json in a folder; "" where there is none. NULL: memory is out, as *error says. */
const char *file_of_name(const char *folder, const char *name, Arena *arena, Error *error);

/* What stands behind the last slash. */
const char *file_base_name(const char *path);

bool file_is_folder(const char *path);
bool file_is_there(const char *path);

/* Whether both paths lead to the same regular file, through links and other names, or would once it is written. */
bool file_same(const char *a, const char *b);

/* Removes what file_write() and file_stream_open() have not yet renamed, for a program that ends now: it may be called
 * in a handler of signals. */
void file_leave_nothing(void);
