/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How results leave, and what a failure is to the caller's shell. */
#include "base/file.h"
#include "base/build.h"
#include "search/cli/command.h"

#include <errno.h>
#include <string.h>

int exit_of_error(const Error *error) {
    switch (error->kind) {
    case ERROR_NONE:
        return EXIT_DONE;
    case ERROR_INPUT:
    case ERROR_IO:
        return EXIT_USAGE;
    case ERROR_MEMORY:
    case ERROR_INTERNAL:
        return EXIT_DEFECT;
    }
    return EXIT_DEFECT;
}

/* A full disk shows only when the buffer goes out: that is now, not when nobody asks any more. */
bool output_write(FILE *out, const char *path, const char *text, size_t length, Error *error) {
    if (path && strcmp(path, "-") != 0) return file_write(path, text, length, error);
    errno = 0;
    if (fwrite(text, 1, length, out) == length && fflush(out) == 0) return true;
    return error_set(error, ERROR_IO, "standard output", "cannot be written: %s",
                     errno ? strerror(errno) : "unknown reason");
}
