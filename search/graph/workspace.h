/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/workspace.h: memory of the solver. Blocks that are given back are used again; all of them end with the
 * arena. When memory is out it jumps to `out`, which the solver's entry has set: thousands of small matrices are made
 * on the way, and none of the steps between could do anything but give up. Only the thread that set `out` may take
 * blocks. */
#pragma once

#include "base/arena.h"

#include <setjmp.h>
#include <stddef.h>

enum { WORKSPACE_CLASSES = 48 };

typedef struct {
    Arena arena;
    void *spare[WORKSPACE_CLASSES]; /* lists of given-back blocks of 64 << class bytes */
    jmp_buf out;
} Workspace;

/* Returns `count` objects of `size` bytes, aligned to 64 and not cleared. Never NULL. */
void *workspace_take(Workspace *workspace, size_t count, size_t size);
/* The same, cleared. */
void *workspace_take_zeroed(Workspace *workspace, size_t count, size_t size);
/* Returns a longer block that begins with the content of the old one (`count` objects; NULL is allowed), and gives the
 * old one back. */
void *workspace_grow(Workspace *workspace, void *block, size_t count, size_t more, size_t size);
/* Gives back a block that was taken with this count and size; NULL is allowed. */
void workspace_give(Workspace *workspace, void *block, size_t count, size_t size);

#define WORKSPACE_NEW(workspace, type, count)                                                                          \
    ((type *)workspace_take_zeroed((workspace), (size_t)(count), sizeof(type)))
