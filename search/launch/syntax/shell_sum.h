/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/syntax/shell_sum.h: the arithmetic of $((...)): + - * / %, brackets, names with or without $. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number that a name stands for; false: nobody knows. */
typedef bool (*ShellNumber)(const void *names, const char *name, size_t length, int64_t *out);

/* False: a name is not known, it overflows, divides by zero, or is none of that arithmetic. */
bool shell_sum(const char *text, size_t length, ShellNumber number_of, const void *names, int64_t *out);
