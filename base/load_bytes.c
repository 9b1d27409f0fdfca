/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/byte_source.h"

#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { GZIP_BUFFER = 256 << 10 };

static ptrdiff_t read_file(void *context, char *bytes, size_t room) {
    int got = gzread((gzFile)context, bytes, room > INT_MAX ? INT_MAX : (unsigned)room), code;
    if (got > 0) return got;
    gzerror((gzFile)context, &code);
    return got == 0 && code == Z_OK ? 0 : -1;
}

bool byte_source_open(const char *path, ByteSource *out, Error *error) {
    struct stat about;
    bool input = strcmp(path, "-") == 0;
    int file = input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return error_set(error, ERROR_IO, path, "cannot be read: %s", strerror(errno));
    gzFile gzip = NULL;
    bool regular = input || (fstat(file, &about) == 0 && S_ISREG(about.st_mode));
    if (regular) gzip = gzdopen(file, "rb");
    if (!gzip) {
        close(file);
        return regular ? error_memory(error) : error_set(error, ERROR_IO, path, "is no regular file");
    }
    gzbuffer(gzip, GZIP_BUFFER);
    *out = (ByteSource){read_file, gzip};
    return true;
}

void byte_source_close(ByteSource *source) {
    if (source->context) gzclose_r((gzFile)source->context);
    source->context = NULL;
}

static ptrdiff_t read_text(void *context, char *bytes, size_t room) {
    ByteText *text = context;
    size_t count = text->left < room ? text->left : room;
    if (count > 0) memcpy(bytes, text->at, count);
    text->at += count;
    text->left -= count;
    return (ptrdiff_t)count;
}

ByteSource byte_source_of_text(ByteText *text) { return (ByteSource){read_text, text}; }
