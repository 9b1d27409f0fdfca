/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers in C: of what no family says (models/families/README.md). To add one: a file that defines it, and a
 * row. */
#include "models/config/reader.h"

#include "base/util.h"

extern const ConfigReader NATIVE_READER;

static const ConfigReader *const READERS[] = {&NATIVE_READER};
_Static_assert(COUNT_OF(READERS) <= CONFIG_READERS_MAX, "model_json.c has room for the types of all");

int config_reader_count(void) { return (int)COUNT_OF(READERS); }

const ConfigReader *config_reader_at(int index) { return READERS[index]; }
