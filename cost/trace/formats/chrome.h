/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/chrome.h: Chrome's trace events in JSON, as PyTorch (Kineto) writes them. Read in a window of
 * fixed size, whatever the file's. Units of `ts` and `dur` are microseconds whatever `displayTimeUnit` says; digits go
 * to whole nanoseconds and never through a double. */
#pragma once

#include "base/byte_source.h"
#include "cost/trace/recording.h"

/* Reads into a recording that was begun, and finishes it. A file that is cut off, or broken in places, is read as far
 * as it goes: `trouble` and `damaged` say so. False when nothing of it can be used; errors name `where`. */
bool chrome_read(ByteSource source, const char *where, Recording *out, Error *error);
