/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/memory_stream.h: a stream into memory that does not forget that memory ran out. open_memstream() of the C
 * library drops what its buffer had no room for, and its fclose() can say that all is well: a result would be cut, and
 * nobody would know. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Opens a stream that is written and closed. NULL means that memory is out. When fclose() returns 0, *text holds all
 * that was written, `*length` bytes and a NUL behind them; the caller frees it. Any other value means that memory ran
 * out while something was written; then *text is NULL, *length is 0 and errno is ENOMEM. Until then *text is NULL. */
FILE *memory_stream_open(char **text, size_t *length);
