/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/byte_source.h"

#include <string.h>

static ptrdiff_t read_text(void *context, char *bytes, size_t room) {
    ByteText *text = context;
    size_t count = text->left < room ? text->left : room;
    if (count > 0) memcpy(bytes, text->at, count);
    text->at += count;
    text->left -= count;
    return (ptrdiff_t)count;
}

ByteSource byte_source_of_text(ByteText *text) { return (ByteSource){read_text, text}; }
