/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN /* clang */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(UNDER_ASAN)
#define UNDER_ASAN
#endif
#ifdef UNDER_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum {
    ALIGNMENT = 64, /* a cache line, and the widest vector */
#ifdef UNDER_ASAN
    BLOCK_BYTES = 0, /* one block for each allocation, so that the sanitizer sees every step over its end */
#else
    BLOCK_BYTES = 64 << 10,
#endif
    FIRST_BYTES = 4 << 10, /* many arenas hold little: the first block is small, each further one twice as large */
};

/* This is larger than any machine, and small enough that no sum below can wrap and no allocator complains: a
 * terabyte, or a gigabyte where all of memory is four. */
static const size_t BYTES_MAX = sizeof(size_t) > 4 ? SIZE_MAX >> 24 : SIZE_MAX >> 2;

struct ArenaBlock {
    struct ArenaBlock *previous;
    char *next; /* first free byte, aligned */
    char *end;
};

/* We use calloc and not malloc: large blocks come from the kernel zeroed, and pages that nobody touches cost
 * nothing. */
static struct ArenaBlock *block_new(size_t bytes) {
    struct ArenaBlock *block = calloc(1, sizeof *block + ALIGNMENT + bytes);
    if (!block) return NULL;
    uintptr_t start = (uintptr_t)(block + 1);
    block->next = (char *)(block + 1) + (ALIGNMENT - start % ALIGNMENT) % ALIGNMENT;
    block->end = block->next + bytes;
#ifdef UNDER_ASAN
    ASAN_POISON_MEMORY_REGION(block->end, (char *)(block + 1) + ALIGNMENT + bytes - block->end);
#endif
    return block;
}

/* Bytes that a block takes with all that is in front of what it gives. */
static int64_t block_whole(const struct ArenaBlock *block) { return block->end - (const char *)block; }

static struct ArenaBlock *block_within(Budget *budget, size_t bytes) {
    int64_t most = (int64_t)(sizeof(struct ArenaBlock) + ALIGNMENT + bytes);
    if (budget && !budget_take(budget, most)) return NULL;
    struct ArenaBlock *block = block_new(bytes);
    if (budget) budget_add(budget, (block ? block_whole(block) : 0) - most);
    return block;
}

/* Bytes of the next block, up to BLOCK_BYTES. */
static size_t block_bytes(const struct ArenaBlock *last) {
    size_t grown = last ? 2 * (size_t)(last->end - (const char *)last) : FIRST_BYTES, most = BLOCK_BYTES;
    return grown < most ? grown : most;
}

static size_t block_left(const struct ArenaBlock *block) { return block ? (size_t)(block->end - block->next) : 0; }

void *arena_alloc(Arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > BYTES_MAX) return NULL;
    /* An allocation of no bytes takes a place too: at the end of a block there might be no aligned place left. */
    if (block_left(arena->last) < (bytes ? bytes : 1) || BLOCK_BYTES == 0) {
        size_t usual = block_bytes(arena->last);
        bool is_large = bytes > usual / 4 && arena->last; /* it gets its own block, listed after the block in use */
        struct ArenaBlock *block = block_within(arena->budget, bytes > usual || is_large ? bytes : usual);
        if (!block) return NULL;
        if (is_large) {
            block->previous = arena->last->previous;
            arena->last->previous = block;
            return block->next;
        }
        block->previous = arena->last;
        arena->last = block;
    }
    char *result = arena->last->next;
    size_t padded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, left = block_left(arena->last);
    arena->last->next += padded < left ? padded : left;
    return result;
}

char *arena_text(Arena *arena, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = arena_alloc(arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

char *arena_format_list(Arena *arena, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) return NULL;
    size_t size = (size_t)length + 1;
    char *text = arena_alloc(arena, size, 1);
    if (text) vsnprintf(text, size, format, arguments);
    return text;
}

char *arena_format(Arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_format_list(arena, format, arguments);
    va_end(arguments);
    return text;
}

void arena_free(Arena *arena) {
    for (struct ArenaBlock *block = arena->last, *previous; block; block = previous) {
        previous = block->previous;
        if (arena->budget) budget_add(arena->budget, -block_whole(block));
        free(block);
    }
    arena->last = NULL;
}

void budget_add(Budget *budget, int64_t bytes) {
    int64_t used = __atomic_add_fetch(&budget->used, bytes, __ATOMIC_RELAXED);
    int64_t most = __atomic_load_n(&budget->most, __ATOMIC_RELAXED);
    while (used > most &&
           !__atomic_compare_exchange_n(&budget->most, &most, used, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

bool budget_take(Budget *budget, int64_t bytes) {
    if (budget->limit > 0 && __atomic_load_n(&budget->used, __ATOMIC_RELAXED) + bytes > budget->limit) {
        __atomic_store_n(&budget->refused, true, __ATOMIC_RELAXED);
        return false;
    }
    budget_add(budget, bytes);
    return true;
}

bool budget_is_above(const Budget *budget, double share) {
    return budget->limit > 0 &&
           (double)__atomic_load_n(&budget->used, __ATOMIC_RELAXED) > share * (double)budget->limit;
}

bool budget_is_met(const Budget *budget) {
    return __atomic_load_n(&budget->refused, __ATOMIC_RELAXED) || budget_is_above(budget, 1);
}
