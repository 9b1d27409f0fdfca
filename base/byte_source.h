/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/byte_source.h: bytes one piece after the other, for files that are too long to be held whole. What is behind a
 * gzip header is unpacked on the way, whatever the file is called. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* `read` puts at most `room` (> 0) bytes at `bytes` and returns how many; 0 means that the end is reached, and -1 that
 * the rest cannot be had (a gzip file that is cut off or damaged, a failing disk). */
typedef struct {
    ptrdiff_t (*read)(void *context, char *bytes, size_t room);
    void *context;
} ByteSource;

/* Opens a regular file, or standard input for "-"; the source must be closed. A folder, a device and a missing file are
 * ERROR_IO. */
bool byte_source_open(const char *path, ByteSource *out, Error *error);
void byte_source_close(ByteSource *source);

/* The bytes of a text that outlives the source; `text` is the caller's, and is moved on as it is read. It is not
 * closed, and nothing is unpacked. */
typedef struct {
    const char *at;
    size_t left;
} ByteText;
ByteSource byte_source_of_text(ByteText *text);
