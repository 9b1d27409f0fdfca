/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's policy names the script that the page has: its hash, by another way from the digest to Base64. */
#include "base/sha256.h"
#include "base/text/html.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Base64 of bytes, as RFC 4648 has it. */
static void base64(const unsigned char *bytes, size_t count, char *to) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) { /* i + j <= count: so many digits have bits of a byte */
        unsigned long word = 0;
        for (size_t j = 0; j < 3; j++) word = word << 8 | (i + j < count ? bytes[i + j] : 0);
        for (size_t j = 0; j < 4; j++) *to++ = i + j <= count ? DIGITS[word >> (18 - 6 * j) & 63] : '=';
    }
    *to = '\0';
}

Test(page_script, policy_names_it) {
    char *page = NULL, hex[SHA256_HEX_SIZE], expected[64] = "'sha256-";
    unsigned char digest[SHA256_BYTES];
    size_t length = 0;
    FILE *memory = open_memstream(&page, &length);
    cr_assert(memory);
    html_open(memory, "a title", NULL);
    html_close(memory);
    cr_assert_eq(fclose(memory), 0);
    const char *start = strstr(page, "<script>"), *end = strstr(page, "</script>");
    cr_assert(start && end);
    start += strlen("<script>");
    cr_expect_null(memchr(start, '<', (size_t)(end - start)), "no tag may begin in it");
    cr_expect_null(memchr(start, '&', (size_t)(end - start)));
    Sha256 hash = sha256_start();
    sha256_add(&hash, start, (size_t)(end - start));
    sha256_hex(&hash, hex);
    for (int i = 0; i < SHA256_BYTES; i++) cr_assert_eq(sscanf(hex + 2 * i, "%2hhx", &digest[i]), 1);
    base64(digest, sizeof digest, expected + strlen(expected));
    strcat(expected, "'\">");
    cr_expect_not_null(strstr(page, expected), "%s", expected);
    free(page);
}
