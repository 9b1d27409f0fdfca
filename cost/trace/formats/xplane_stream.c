/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An XSpace plane by plane: only planes of devices are held, one at a time, and no longer than until they are read. */
#include "cost/trace/formats/formats.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 64 << 10, HEAD = 4096, VARINT_BYTES = 10 };

typedef struct {
    ByteSource source;
    uint8_t bytes[BUFFER];
    size_t at, end;
    int64_t passed; /* bytes of the file before the buffer */
} Stream;

/* Whether there is another byte. */
static bool fill(Stream *stream) {
    if (stream->at < stream->end) return true;
    stream->passed += (int64_t)stream->end;
    stream->at = stream->end = 0;
    while (stream->end < sizeof stream->bytes) {
        ptrdiff_t got = stream->source.read(stream->source.context, (char *)stream->bytes + stream->end,
                                            sizeof stream->bytes - stream->end);
        if (got <= 0) break;
        stream->end += (size_t)got;
    }
    return stream->end > 0;
}

/* Takes up to `count` bytes, into `to` unless it is NULL; returns how many there were. */
static size_t take(Stream *stream, uint8_t *to, size_t count) {
    size_t taken = 0;
    while (taken < count && fill(stream)) {
        size_t piece = (size_t)min_whole((int64_t)(stream->end - stream->at), (int64_t)(count - taken));
        if (to) memcpy(to + taken, stream->bytes + stream->at, piece);
        stream->at += piece;
        taken += piece;
    }
    return taken;
}

static bool take_varint(Stream *stream, uint64_t *out) {
    *out = 0;
    for (int i = 0; i < VARINT_BYTES && fill(stream); i++) {
        uint8_t byte = stream->bytes[stream->at++];
        *out |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* Takes the rest of a plane behind its first `used` bytes. A length that the file does not have costs no memory. False:
 * memory is out; *whole is whether all of it was there. */
static bool take_rest(Stream *stream, uint8_t **plane, size_t used, size_t length, bool *whole) {
    size_t room = used;
    *whole = true;
    while (used < length && *whole) {
        size_t next = (size_t)min_whole((int64_t)length, (int64_t)max_whole(2 * (int64_t)room, 1 << 20));
        uint8_t *larger = realloc(*plane, next);
        if (!larger) return false;
        *plane = larger;
        room = next;
        size_t got = take(stream, *plane + used, room - used);
        used += got;
        *whole = used == room;
    }
    return true;
}

/* A plane that says in its first bytes that it is no device's is passed: the host's is most of a file. False: memory is
 * out, or *error is set. */
static bool read_plane(Stream *stream, size_t length, Recording *to, bool *whole, const char *where, Error *error) {
    uint8_t *plane = malloc(HEAD);
    if (!plane) return error_memory(error);
    size_t used = take(stream, plane, (size_t)min_whole(HEAD, (int64_t)length));
    *whole = used == (size_t)min_whole(HEAD, (int64_t)length);
    bool other = *whole && xplane_is_of_host(plane, used), ok = true;
    if (other) *whole = take(stream, NULL, length - used) == length - used;
    if (*whole && !other) ok = take_rest(stream, &plane, used, length, whole);
    if (ok && *whole && !other) ok = xplane_read_device(plane, length, to);
    free(plane);
    if (!ok) return error_memory(error);
    if (!to->take || to->event_count == 0) return true;
    return recording_finish(to, where, error) && recording_hand_over(to, error);
}

/* The next field of the space. False: *error is set; *more: whether there was one, and it was whole. */
static bool read_field(Stream *stream, Recording *to, bool *more, const char *where, Error *error) {
    uint64_t key, length = 0;
    *more = false;
    if (!take_varint(stream, &key) || key >> 3 < 1 || key >> 3 > 0x1FFFFFFF) return true;
    int type = key & 7;
    if (type == 0) *more = take_varint(stream, &length);
    if (type == 1 || type == 5) *more = take(stream, NULL, type == 1 ? 8 : 4) == (type == 1 ? 8u : 4u);
    if (type != 2 || !take_varint(stream, &length)) return true;
    if (length > XPLANE_BYTES_MAX && key >> 3 == 1)
        return error_set(error, ERROR_INPUT, where, "has a plane of more than %zu bytes", XPLANE_BYTES_MAX);
    if (key >> 3 == 1) return read_plane(stream, (size_t)length, to, more, where, error);
    *more = length <= INT64_MAX && take(stream, NULL, (size_t)length) == length;
    return true;
}

bool xplane_read(ByteSource source, const char *where, Recording *out, Error *error) {
    Stream *stream = calloc(1, sizeof *stream);
    bool ok = stream != NULL, more = true;
    if (!ok) return error_memory(error);
    stream->source = source;
    if (fill(stream) && xplane_is_text_damaged(stream->bytes, stream->end)) {
        free(stream);
        return error_set(error, ERROR_INPUT, where,
                         "went through a tool for text, which replaced its bytes above 127: copy it as binary");
    }
    int64_t at = 0;
    while (ok && more && fill(stream)) {
        at = stream->passed + (int64_t)stream->at;
        ok = read_field(stream, out, &more, where, error);
    }
    if (ok && !more)
        snprintf(out->trouble, sizeof out->trouble, "is no XSpace from byte %lld on, or ends in the middle",
                 (long long)at);
    free(stream);
    return ok && recording_finish(out, where, error);
}
