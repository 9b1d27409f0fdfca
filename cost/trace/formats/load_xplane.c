/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/formats/xplane.h"

#include "base/file.h"

bool xplane_read_file(const char *path, Recording *out, Error *error) {
    Arena arena = {0};
    char *text;
    size_t length;
    bool ok =
        file_read(path, XPLANE_BYTES_MAX, &arena, &text, &length, error) && xplane_read(text, length, path, out, error);
    arena_free(&arena);
    return ok;
}
