/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/readers.c with one more row. The linker takes this list, and leaves the archive's where it is. */
#include "models/config/reader.h"

#include "base/util.h"

extern const ConfigReader LLAMA_READER, QWEN_READER, DEEPSEEK_READER, GPT_READER, ALIBI_READER, MIXTURE_READER,
    VARIANTS_READER, NATIVE_READER, EMU_READER;

static const ConfigReader *const READERS[] = {&LLAMA_READER,    &QWEN_READER,   &DEEPSEEK_READER,
                                              &GPT_READER,      &ALIBI_READER,  &MIXTURE_READER,
                                              &VARIANTS_READER, &NATIVE_READER, &EMU_READER};
_Static_assert(COUNT_OF(READERS) <= CONFIG_READERS_MAX, "model_json.c has room for the types of all");

int config_reader_count(void) { return (int)COUNT_OF(READERS); }

const ConfigReader *config_reader_at(int index) { return READERS[index]; }
