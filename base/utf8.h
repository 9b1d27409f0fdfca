/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/utf8.h: what we ask of UTF-8: whether bytes are a character, how long it is, and whether it may be shown. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the bytes of the well-formed character (Unicode 15, table 3-7: shortest form, no surrogates, up to U+10FFFF)
 * at the start of the `left` bytes of `text`: 1 to 4, or 0 when there is none. */
static inline size_t utf8_size(const char *text, size_t left) {
    const unsigned char *byte = (const unsigned char *)text;
    if (left == 0) return 0;
    if (byte[0] < 0x80) return 1;
    size_t size = byte[0] < 0xC2 ? 0 : byte[0] < 0xE0 ? 2 : byte[0] < 0xF0 ? 3 : byte[0] < 0xF5 ? 4 : 0;
    if (size == 0 || size > left) return 0;
    /* The first byte narrows the second: it excludes long forms (E0, F0), surrogates (ED) and everything past U+10FFFF
     * (F4). */
    unsigned char low = byte[0] == 0xE0 ? 0xA0 : byte[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = byte[0] == 0xED ? 0x9F : byte[0] == 0xF4 ? 0x8F : 0xBF;
    if (byte[1] < low || byte[1] > high) return 0;
    for (size_t i = 2; i < size; i++)
        if ((byte[i] & 0xC0) != 0x80) return 0;
    return size;
}

/* Whether a character of `size` bytes affects a reader's screen: C0, DEL and C1 (U+0080 to U+009F); U+200E, U+200F,
 * U+2028 to U+202E and U+2066 to U+2069, which end lines or turn the reading direction; U+FFFE and U+FFFF, which are
 * not characters (XML forbids them). */
static inline bool utf8_is_harmful(const char *text, size_t size) {
    const unsigned char *at = (const unsigned char *)text;
    if (size == 1) return at[0] < 0x20 || at[0] == 0x7F;
    if (size == 2) return at[0] == 0xC2 && at[1] < 0xA0;
    if (size != 3) return false;
    if (at[0] == 0xEF) return at[1] == 0xBF && at[2] >= 0xBE;
    if (at[0] != 0xE2) return false;
    return (at[1] == 0x80 && (at[2] == 0x8E || at[2] == 0x8F || (at[2] >= 0xA8 && at[2] <= 0xAE))) ||
           (at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9);
}
