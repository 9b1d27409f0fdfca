/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How results leave, and what a failure is to the caller's shell. */
#include "base/file.h"
#include "base/memory_stream.h"
#include "base/util.h"
#include "search/cli/command.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int exit_of_error(const Error *error) {
    switch (error->kind) {
    case ERROR_NONE:
        return EXIT_DONE;
    case ERROR_INPUT:
    case ERROR_IO:
    case ERROR_MACHINE:
        return EXIT_USAGE;
    case ERROR_MEMORY:
    case ERROR_INTERNAL:
        return EXIT_DEFECT;
    }
    return EXIT_DEFECT;
}

static int columns_of(int descriptor) {
    struct winsize size = {0};
    const char *named = getenv("COLUMNS");
    long columns = ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (columns == 0 && named) columns = strtol(named, NULL, 10);
    if (columns <= 0) return 80;
    return (int)min_whole(TERMINAL_COLUMNS_MOST, max_whole(TERMINAL_COLUMNS_LEAST, columns));
}

Terminal terminal_of_stream(FILE *out) {
    int descriptor = out ? fileno(out) : -1;
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    if (descriptor < 0 || !isatty(descriptor)) return (Terminal){0};
    return (Terminal){columns_of(descriptor), !(none && none[0]) && term && strcmp(term, "dumb") != 0};
}

Terminal output_terminal(Streams streams, const char *path) {
    return path && strcmp(path, "-") != 0 ? (Terminal){0} : streams.terminal;
}

bool output_reader_gone(FILE *out) {
    struct pollfd end = {.fd = out ? fileno(out) : -1, .events = POLLOUT};
    return end.fd >= 0 && poll(&end, 1, 0) > 0 && (end.revents & POLLERR);
}

bool output_failed(Error *error) {
    if (errno == ENOMEM) return error_memory(error);
    return error_set(error, ERROR_IO, "standard output", "cannot be written: %s",
                     errno ? strerror(errno) : "unknown reason");
}

/* A full disk shows only when the buffer goes out: that is now, not when nobody waits for it any more. */
bool output_write(FILE *out, const char *path, const char *text, size_t length, Error *error) {
    if (!out || (path && strcmp(path, "-") != 0)) return file_write(path, text, length, error);
    errno = 0;
    if (fwrite(text, 1, length, out) == length && fflush(out) == 0) return true;
    return errno == EPIPE || output_failed(error); /* `| head` has what it wanted */
}

bool draft_open(Draft *draft, Error *error) {
    *draft = (Draft){0};
    draft->file = memory_stream_open(&draft->text, &draft->length);
    return draft->file || error_memory(error);
}

bool draft_write(Draft *draft, bool ok, FILE *out, const char *path, Error *error) {
    bool failed = ferror(draft->file) != 0;
    if (fclose(draft->file) != 0 || failed) ok = false;
    if (!ok && error->kind == ERROR_NONE) error_memory(error);
    ok = ok && output_write(out, path, draft->text, draft->length, error);
    free(draft->text);
    *draft = (Draft){0};
    return ok;
}
