/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/utf8.h: the one question we ask of UTF-8: is this a character, and how long is it? */
#ifndef SHARDOPT_BASE_UTF8_H
#define SHARDOPT_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed character (Unicode 15, table 3-7: shortest form, no surrogates, up to U+10FFFF) at the start
 * of the `left` bytes of `text`: 1 to 4, or 0 when there is none. */
static inline size_t utf8_size(const char *text, size_t left) {
    const unsigned char *byte = (const unsigned char *)text;
    if (left == 0) return 0;
    if (byte[0] < 0x80) return 1;
    size_t size = byte[0] < 0xC2 ? 0 : byte[0] < 0xE0 ? 2 : byte[0] < 0xF0 ? 3 : byte[0] < 0xF5 ? 4 : 0;
    if (size == 0 || size > left) return 0;
    /* The first byte narrows the second: no long forms (E0, F0), no surrogates (ED), nothing past U+10FFFF (F4). */
    unsigned char low = byte[0] == 0xE0 ? 0xA0 : byte[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = byte[0] == 0xED ? 0x9F : byte[0] == 0xF4 ? 0x8F : 0xBF;
    if (byte[1] < low || byte[1] > high) return 0;
    for (size_t i = 2; i < size; i++)
        if ((byte[i] & 0xC0) != 0x80) return 0;
    return size;
}

#endif
