/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/sha256.h: SHA-256 (FIPS 180-4), to name the data that a report was made with. It is not meant for secrets. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX_SIZE = 2 * SHA256_BYTES + 1, SHA256_BLOCK_BYTES = 64 };

typedef struct {
    uint32_t state[8];
    uint64_t length;                         /* bytes taken so far, < 2^61 */
    unsigned char block[SHA256_BLOCK_BYTES]; /* its first length % 64 bytes wait for the rest */
} Sha256;

Sha256 sha256_start(void);

/* May be called any number of times; how the message is cut does not matter. `bytes` may be NULL when `length` is 0. */
void sha256_add(Sha256 *hash, const void *bytes, size_t length);

/* Writes the digest of all bytes added so far, as 64 lower-case hexadecimal digits and a NUL. `hash` can be added to
 * afterwards. */
void sha256_hex(const Sha256 *hash, char hex[SHA256_HEX_SIZE]);
