/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/prime.h: prime factors of axis sizes. Factorizations of different primes are independent of each other, so
 * every count of factorizations is a product over primes. */
#pragma once

#include "base/arena.h"
#include "mesh/mesh.h"

enum { PRIMES_MAX = 15 }; /* the 16 least primes multiply to more than 2^63 */

typedef struct {
    int64_t prime;
    int exponent;
} PrimePower;

/* Writes the prime powers of n >= 1, ascending, and returns their number. Trial division takes at most sqrt(n) / 2
 * steps. */
int prime_powers(int64_t n, PrimePower out[PRIMES_MAX]);

/* The divisors of n >= 1, ascending, and a last entry above them all, INT64_MAX. In the arena; NULL means that memory
 * is out. */
int64_t *divisors_of(int64_t n, Arena *arena);

/* One prime of a whole mesh, by axis. */
typedef struct {
    int64_t prime;
    int exponent[MESH_AXES_MAX];
    int total;
} MeshPrime;

/* Writes the primes of all axis sizes, ascending, and returns their number. -1 means that the sizes multiply to more
 * than 2^63 - 1. */
int mesh_primes(const Mesh *mesh, MeshPrime out[PRIMES_MAX]);

/* n over k, for n <= 67 and k <= 5: the largest values that 62 prime factors in six roles need. */
uint32_t binomial(int n, int k);
