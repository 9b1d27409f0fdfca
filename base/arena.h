/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/arena.h: memory with one lifetime. `Arena arena = {0};` is ready for use. An arena is not shared between
 * threads: each thread has its own. */
#pragma once

#include "base/budget.h"

#include <stdarg.h>
#include <stddef.h>

struct ArenaBlock;
typedef struct {
    struct ArenaBlock *last;
    Budget *budget; /* that its blocks are taken from; NULL: none. What that refuses is memory that is out */
} Arena;

/* Returns `count` zeroed objects of `size` bytes, aligned to 64 bytes. NULL means that memory is out, or that count *
 * size overflows. A count of zero gives a valid pointer to nothing. */
void *arena_alloc(Arena *arena, size_t count, size_t size);

/* Returns a copy of the text in the arena; NULL means that memory is out. */
char *arena_text(Arena *arena, const char *text);

/* Prints into the arena; NULL means that memory is out. */
char *arena_format(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_format_list(Arena *arena, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* Ends every allocation; the arena can be used again. */
void arena_free(Arena *arena);

#define ARENA_NEW(arena, type, count) ((type *)arena_alloc((arena), (count), sizeof(type)))
