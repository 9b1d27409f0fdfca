/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, they are inflated up to a limit or refused with one line. The same bytes, deflated by zlib,
 * come out again; cut anywhere, they are refused. */
#include "search/cli/commands/inflate.h"
#include "tests/fuzz/files.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void check(bool ok, const Error *error) {
    if (ok != (error->kind == ERROR_NONE) || (!ok && (error->kind != ERROR_INPUT || strchr(error->text, '\n'))))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { LIMIT = 1 << 20 };
    Error error = {0};
    char *text = NULL;
    size_t length = 0;
    bool ok = inflate_gzip((const char *)data, size, LIMIT, "fuzz", &text, &length, &error);
    check(ok, &error);
    if (ok && length > LIMIT) abort();
    if (ok) free(text);
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    size_t room = compressBound(size) + 64;
    char *packed = malloc(room);
    if (!packed || deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) abort();
    error = (Error){0};
    if (!inflate_gzip(packed, stream.total_out, LIMIT, "packed", &text, &length, &error) || length != size ||
        (size > 0 && memcmp(text, data, size) != 0))
        abort();
    free(text);
    ok = inflate_gzip(packed, size % stream.total_out, LIMIT, "cut", &text, &length, &error);
    check(ok, &error);
    if (ok) abort();
    deflateEnd(&stream);
    free(packed);
    return 0;
}
