/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/graph/workspace.h"

#include <string.h>

/* The smallest class whose blocks hold count * size bytes; jumps out of the caller if no block could. */
static int class_of(Workspace *workspace, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) longjmp(workspace->out, 1);
    int class = 0;
    while (class < WORKSPACE_CLASSES - 1 && ((size_t)64 << class) < bytes) class ++;
    if (((size_t)64 << class) < bytes) longjmp(workspace->out, 1);
    return class;
}

void *workspace_take(Workspace *workspace, size_t count, size_t size) {
    int class = class_of(workspace, count, size);
    void *block = workspace->spare[class];
    if (block) {
        memcpy(&workspace->spare[class], block, sizeof block);
        return block;
    }
    block = arena_alloc(&workspace->arena, (size_t)64 << class, 1);
    if (!block) longjmp(workspace->out, 1);
    return block;
}

void *workspace_take_zeroed(Workspace *workspace, size_t count, size_t size) {
    return memset(workspace_take(workspace, count, size), 0, count * size);
}

void *workspace_grow(Workspace *workspace, void *block, size_t count, size_t more, size_t size) {
    void *larger = workspace_take(workspace, more, size);
    if (block) memcpy(larger, block, count * size);
    workspace_give(workspace, block, count, size);
    return larger;
}

void workspace_give(Workspace *workspace, void *block, size_t count, size_t size) {
    if (!block) return;
    int class = class_of(workspace, count, size);
    memcpy(block, &workspace->spare[class], sizeof(void *));
    workspace->spare[class] = block;
}
