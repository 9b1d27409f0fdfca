/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/typed_words.h: what people type in one word for a machine, in the words of options. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* "8xH200", "h100x64", "h100:8", "gpu:h100:8" (Slurm): a chip's name and how many, into `name` and `count` of `size`
 * bytes each. False: it is no such word. */
bool typed_chips(const char *word, char *name, char *count, size_t size);

/* Whether it is a slice as clouds name them: "v5litepod-256", "tpu-v5p-512". */
bool typed_slice(const char *word);
