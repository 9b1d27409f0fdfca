/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/inflate.h: gzip, as files of large problems come. */
#pragma once

#include "base/error.h"

#include <stddef.h>

bool inflate_is_gzip(const char *bytes, size_t length);
/* All members of a gzip file, one behind the other, in memory that the caller frees; at most `limit` bytes, beyond
 * which it is ERROR_INPUT, as are broken, cut and trailing bytes. Memory grows with what comes out. */
bool inflate_gzip(const char *bytes, size_t length, size_t limit, const char *where, char **text, size_t *text_length,
                  Error *error);
