/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/json_scan.h: decides whether a text is one JSON document (as base/json.h narrows RFC 8259), and if not, where
 * and why. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* cJSON 1.7 copies a number into a buffer of 64 bytes and drops the rest; longer numbers never get there. */
enum { JSON_NUMBER_MAX = 63 };

/* Allocates while it runs (four bytes per key) and frees; only JSON_DEPTH_MAX bounds the stack. */
bool json_scan(const char *text, size_t length, const char *where, Error *error);
