/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sha256.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

static void digest_block(uint32_t state[8], const unsigned char *block) {
    uint32_t w[64];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotated(w[t - 15], 7) ^ rotated(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotated(w[t - 2], 17) ^ rotated(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    /* The letters of the standard; each is a variable, which a compiler keeps in a register. */
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t++) {
        uint32_t t1 = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[t] + w[t];
        uint32_t t2 = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t v[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

Sha256 sha256_start(void) {
    return (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, /* from the square roots, 5.3.3 */
                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(Sha256 *hash, const void *bytes, size_t length) {
    assert(hash->length < UINT64_MAX / 8 - length); /* the padding counts bits in 64 bits */
    const unsigned char *next = bytes;
    while (length > 0) {
        size_t held = hash->length % SHA256_BLOCK_BYTES;
        size_t take = SHA256_BLOCK_BYTES - held < length ? SHA256_BLOCK_BYTES - held : length;
        memcpy(hash->block + held, next, take);
        if (held + take == SHA256_BLOCK_BYTES) digest_block(hash->state, hash->block);
        hash->length += take;
        next += take;
        length -= take;
    }
}

void sha256_hex(const Sha256 *hash, char hex[SHA256_HEX_SIZE]) {
    Sha256 last = *hash;
    uint64_t bits = hash->length * 8;
    unsigned char padding[SHA256_BLOCK_BYTES + 8] = {0x80};
    size_t fill = 1 + (2 * SHA256_BLOCK_BYTES - 9 - hash->length % SHA256_BLOCK_BYTES) % SHA256_BLOCK_BYTES;
    for (int i = 0; i < 8; i++) padding[fill + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(&last, padding, fill + 8);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", (unsigned)last.state[i]);
}
