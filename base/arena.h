/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/arena.h: memory with one lifetime. `Arena arena = {0};` is ready for use. An arena is not shared between
 * threads: each thread has its own. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much memory a search has taken, and may take. Several threads may share one. */
typedef struct Budget {
    int64_t limit; /* bytes; 0: there is none, and all that is taken is counted */
    int64_t used, most;
    bool refused; /* some memory was not given */
} Budget;

/* Takes bytes if they are within the limit; else they are refused, and that is noted. */
bool budget_take(Budget *budget, int64_t bytes);

/* Counts bytes that are there already; below 0: that were given back. */
void budget_add(Budget *budget, int64_t bytes);

/* Whether more than this share of the limit is taken. */
bool budget_is_above(const Budget *budget, double share);

/* Whether some memory was refused, or more is taken than the limit. */
bool budget_is_met(const Budget *budget);

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
