/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/memory_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef struct {
    char **text;
    size_t *length;
    char *bytes;
    size_t used, room; /* `room` bytes are there, the last of them for the NUL */
    bool failed;
    /* Of stdio, which would write byte by byte, and lose errno, where it gets no memory for one. */
    char buffer[1 << 12];
} MemoryStream;

static bool grow(MemoryStream *stream, size_t size) {
    if (size < stream->room - stream->used) return true;
    size_t room = stream->room;
    while (size >= room - stream->used && room <= (size_t)-1 / 2) room *= 2;
    char *larger = size < room - stream->used ? realloc(stream->bytes, room) : NULL;
    if (!larger) return false;
    stream->bytes = larger;
    stream->room = room;
    return true;
}

/* The C library takes 0 for a failure. */
static ssize_t append(void *cookie, const char *from, size_t size) {
    MemoryStream *stream = cookie;
    stream->failed = stream->failed || !grow(stream, size);
    if (stream->failed) {
        errno = ENOMEM;
        return 0;
    }
    memcpy(stream->bytes + stream->used, from, size);
    stream->used += size;
    return (ssize_t)size;
}

static int end(void *cookie) {
    MemoryStream *stream = cookie;
    bool failed = stream->failed;
    if (failed) {
        free(stream->bytes);
    } else {
        stream->bytes[stream->used] = '\0';
        *stream->text = stream->bytes;
        *stream->length = stream->used;
    }
    free(stream);
    if (failed) errno = ENOMEM;
    return failed ? -1 : 0;
}

FILE *memory_stream_open(char **text, size_t *length) {
    enum { FIRST_ROOM = 1 << 12 };
    MemoryStream *stream = calloc(1, sizeof *stream);
    char *bytes = malloc(FIRST_ROOM);
    *text = NULL;
    *length = 0;
    if (stream) {
        stream->text = text;
        stream->length = length;
        stream->bytes = bytes;
        stream->room = FIRST_ROOM;
    }
    FILE *out =
        stream && bytes ? fopencookie(stream, "w", (cookie_io_functions_t){.write = append, .close = end}) : NULL;
    if (out) {
        setvbuf(out, stream->buffer, _IOFBF, sizeof stream->buffer);
        return out;
    }
    free(bytes);
    free(stream);
    errno = ENOMEM;
    return NULL;
}
