/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/graph/workspace.h: memory of the solver. What is given back is used again; all of it ends with the arena.
 * When memory is out it jumps to `out`, which the solver's entry has set: thousands of small matrices are made on the
 * way, and none of the steps between could do anything but give up. Only the thread that set `out` may take. */
#ifndef SHARDOPT_SEARCH_GRAPH_WORKSPACE_H
#define SHARDOPT_SEARCH_GRAPH_WORKSPACE_H

#include "base/arena.h"

#include <setjmp.h>
#include <stddef.h>

enum { WORKSPACE_CLASSES = 48 };

typedef struct {
    Arena arena;
    void *spare[WORKSPACE_CLASSES]; /* lists of given-back blocks of 64 << class bytes */
    jmp_buf out;
} Workspace;

/* `count` objects of `size` bytes, aligned to 64, not cleared. Never NULL. */
void *workspace_take(Workspace *workspace, size_t count, size_t size);
/* The same, cleared. */
void *workspace_take_zeroed(Workspace *workspace, size_t count, size_t size);
/* A longer block that begins as the old one (`count` objects; NULL is nothing), which is given back. */
void *workspace_grow(Workspace *workspace, void *block, size_t count, size_t more, size_t size);
/* Gives back what was taken with this count and size; NULL is nothing. */
void workspace_give(Workspace *workspace, void *block, size_t count, size_t size);

#define WORKSPACE_NEW(workspace, type, count)                                                                          \
    ((type *)workspace_take_zeroed((workspace), (size_t)(count), sizeof(type)))

#endif
