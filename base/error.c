/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_control(const char *text, size_t size) {
    unsigned char first = (unsigned char)text[0];
    if (size == 1) return first < 0x20 || first == 0x7F;
    return size == 2 && first == 0xC2 && (unsigned char)text[1] < 0xA0; /* C1 controls: some terminals obey these too */
}

/* Errors echo what a user gave: every character that a terminal could obey or choke on becomes '?'. A character that
 * was cut at the end of the buffer is dropped. */
static void copy_printable(char *to, size_t size, const char *from) {
    size_t left = strlen(from), used = 0;
    bool was_cut = left + 1 >= size;
    while (left > 0) {
        size_t character = utf8_size(from, left);
        if (character == 0 && was_cut && left < 4) break;
        size_t step = character ? character : 1;
        if (character == 0 || is_control(from, character)) {
            to[used++] = '?';
        } else {
            memcpy(to + used, from, character);
            used += character;
        }
        from += step;
        left -= step;
    }
    to[used] = '\0';
}

bool error_set(Error *error, ErrorKind kind, const char *where, const char *format, ...) {
    if (!error) return false;
    /* The texts are written aside first: callers may pass pieces of *error itself. */
    char where_raw[sizeof error->where], text_raw[sizeof error->text];
    snprintf(where_raw, sizeof where_raw, "%s", where ? where : "");
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text_raw, sizeof text_raw, format, arguments) < 0) text_raw[0] = '\0';
    va_end(arguments);
    error->kind = kind;
    copy_printable(error->where, sizeof error->where, where_raw);
    copy_printable(error->text, sizeof error->text, text_raw);
    return false;
}

bool error_stream(Error *error, const char *where, const char *what) {
    if (errno == ENOMEM) return error_memory(error);
    return error_set(error, ERROR_IO, where, "%s could not be written", what);
}

bool error_memory(Error *error) {
    if (error) *error = (Error){.kind = ERROR_MEMORY, .where = "memory", .text = "memory is out"};
    return false;
}
