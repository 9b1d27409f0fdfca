/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/inflate.h"

#include "base/util.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

bool inflate_is_gzip(const char *bytes, size_t length) {
    return length >= 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b;
}

typedef struct {
    char *text;
    size_t length, room, limit;
} Inflated;

static bool more_room(Inflated *out, const char *where, Error *error) {
    if (out->room == out->limit)
        return error_set(error, ERROR_INPUT, where, "holds more than %zu bytes; that is as much as is read",
                         out->limit);
    size_t room = out->room < out->limit / 2 ? 2 * out->room : out->limit;
    char *larger = realloc(out->text, room + 1);
    if (!larger) return error_memory(error);
    out->text = larger;
    out->room = room;
    return true;
}

/* One step; *end: the member is over. */
static bool step(z_stream *stream, Inflated *out, bool *end, const char *where, Error *error) {
    if (out->length == out->room && !more_room(out, where, error)) return false;
    size_t room = out->room - out->length;
    uInt given = room > INT_MAX ? INT_MAX : (uInt)room;
    stream->next_out = (Bytef *)out->text + out->length;
    stream->avail_out = given;
    int code = inflate(stream, Z_NO_FLUSH);
    out->length += given - stream->avail_out;
    *end = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR) return error_memory(error);
    if (code == Z_OK || *end) return true;
    if (code == Z_BUF_ERROR && stream->avail_in == 0)
        return error_set(error, ERROR_INPUT, where, "its gzip data end too early; give the whole file");
    return error_set(error, ERROR_INPUT, where, "is no whole gzip file (%s)", stream->msg ? stream->msg : "bad data");
}

bool inflate_gzip(const char *bytes, size_t length, size_t limit, const char *where, char **text, size_t *text_length,
                  Error *error) {
    Inflated out = {.room = min_whole((int64_t)limit, 1 << 20), .limit = limit};
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes};
    size_t left = length;
    bool ok = true, end = false;
    out.text = malloc(out.room + 1);
    if (!out.text) return error_memory(error);
    if (inflateInit2(&stream, 15 + 16) != Z_OK) {
        free(out.text);
        return error_memory(error);
    }
    while (ok && !(end && left == 0)) {
        if (end) ok = inflateReset(&stream) == Z_OK || error_memory(error);
        stream.avail_in = left > INT_MAX ? INT_MAX : (uInt)left;
        uInt given = stream.avail_in;
        ok = ok && step(&stream, &out, &end, where, error);
        left -= given - stream.avail_in;
    }
    inflateEnd(&stream);
    if (!ok) {
        free(out.text);
        return false;
    }
    *text = out.text;
    *text_length = out.length;
    return true;
}
