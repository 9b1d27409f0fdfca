/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/prime.h"

#include <assert.h>

int prime_powers(int64_t n, PrimePower out[PRIMES_MAX]) {
    assert(n >= 1);
    int count = 0;
    for (int64_t p = 2; p <= n / p; p += p == 2 ? 1 : 2) {
        if (n % p) continue;
        PrimePower power = {.prime = p};
        for (; n % p == 0; n /= p) power.exponent++;
        out[count++] = power;
    }
    if (n > 1) out[count++] = (PrimePower){n, 1};
    return count;
}

/* The entry of `prime` in the sorted list, which is made if it is new. */
static MeshPrime *prime_entry(MeshPrime *list, int *count, int64_t prime) {
    int at = *count;
    while (at > 0 && list[at - 1].prime >= prime) at--;
    if (at < *count && list[at].prime == prime) return &list[at];
    for (int i = *count; i > at; i--) list[i] = list[i - 1];
    (*count)++;
    list[at] = (MeshPrime){.prime = prime};
    return &list[at];
}

int mesh_primes(const Mesh *mesh, MeshPrime out[PRIMES_MAX]) {
    int64_t product = 1;
    for (int a = 0; a < mesh->axis_count; a++)
        if (__builtin_mul_overflow(product, mesh->axes[a].size, &product)) return -1;
    int count = 0;
    for (int a = 0; a < mesh->axis_count; a++) {
        PrimePower powers[PRIMES_MAX];
        int power_count = prime_powers(mesh->axes[a].size, powers);
        for (int i = 0; i < power_count; i++) {
            MeshPrime *entry = prime_entry(out, &count, powers[i].prime);
            entry->exponent[a] = powers[i].exponent;
            entry->total += powers[i].exponent;
        }
    }
    return count;
}

int64_t *divisors_of(int64_t n, Arena *arena) {
    size_t count = 0;
    for (int64_t d = 1; d <= n / d; d++) count += n % d == 0 ? 1 + (d != n / d) : 0;
    int64_t *divisors = ARENA_NEW(arena, int64_t, count + 1);
    if (!divisors) return NULL;
    size_t low = 0, high = count;
    divisors[high--] = INT64_MAX;
    for (int64_t d = 1; d <= n / d; d++)
        if (n % d == 0) {
            divisors[low++] = d;
            divisors[high--] = n / d; /* for a square this writes the middle divisor twice */
        }
    return divisors;
}

uint32_t binomial(int n, int k) {
    assert(n >= 0 && n <= 67 && k >= 0 && k <= 5);
    uint64_t value = 1;
    for (int i = 0; i < k; i++)
        value = value * (uint64_t)(n - i) / (uint64_t)(i + 1); /* the product is 0 for n < k, because n - i = 0 is
                                                                * one of its factors */
    return (uint32_t)value;
}
