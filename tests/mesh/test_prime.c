/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers up to some thousands, by trial: what is found is prime, and multiplies to what it was asked of. */
#include "mesh/prime.h"

#include <criterion/criterion.h>

static bool is_prime(int64_t n) {
    for (int64_t d = 2; d < n; d++)
        if (n % d == 0) return false;
    return n > 1;
}

Test(prime, powers_by_trial) {
    for (int64_t n = 1; n <= 3000; n++) {
        PrimePower powers[PRIMES_MAX];
        int count = prime_powers(n, powers);
        int64_t product = 1;
        for (int i = 0; i < count; i++) {
            cr_assert(is_prime(powers[i].prime) && powers[i].exponent >= 1, "%lld", (long long)n);
            cr_assert(i == 0 || powers[i].prime > powers[i - 1].prime, "%lld: ascending, each once", (long long)n);
            for (int e = 0; e < powers[i].exponent; e++) product *= powers[i].prime;
        }
        cr_assert_eq(product, n);
    }
    PrimePower powers[PRIMES_MAX];
    cr_expect_eq(prime_powers(INT64_C(614889782588491410), powers), 15, "the 15 least primes, multiplied");
    cr_expect_eq(powers[14].prime, 47);
}

Test(prime, divisors_by_trial) {
    Arena arena = {0};
    for (int64_t n = 1; n <= 600; n++) {
        int64_t *divisors = divisors_of(n, &arena);
        cr_assert(divisors);
        for (int64_t d = 1; d <= n; d++)
            if (n % d == 0) cr_assert_eq(*divisors++, d, "%lld", (long long)n);
        cr_assert_eq(*divisors, INT64_MAX, "%lld", (long long)n);
    }
    arena_free(&arena);
}

/* Pascal's triangle. */
Test(prime, binomials) {
    uint32_t row[68] = {1};
    for (int n = 0; n <= 67; n++) {
        for (int k = 0; k <= 5; k++) cr_expect_eq(binomial(n, k), row[k], "%d over %d", n, k);
        for (int k = 5; k > 0; k--) row[k] += row[k - 1];
    }
}

/* 12 x 10 x 7 x 9: 2 in the first two axes, 3 in the first and the last, 5 and 7 in one each. */
Test(prime, of_a_mesh) {
    Mesh mesh = {.axis_count = 4, .axes = {{.size = 12}, {.size = 10}, {.size = 7}, {.size = 9}}};
    static const struct {
        int64_t prime;
        int exponent[4];
    } expected[] = {{2, {2, 1, 0, 0}}, {3, {1, 0, 0, 2}}, {5, {0, 1, 0, 0}}, {7, {0, 0, 1, 0}}};
    MeshPrime found[PRIMES_MAX];
    cr_assert_eq(mesh_primes(&mesh, found), 4);
    for (int i = 0; i < 4; i++) {
        int total = 0;
        cr_expect_eq(found[i].prime, expected[i].prime);
        for (int a = 0; a < 4; a++) {
            cr_expect_eq(found[i].exponent[a], expected[i].exponent[a], "%d on axis %d", i, a);
            total += expected[i].exponent[a];
        }
        cr_expect_eq(found[i].total, total);
    }
    Mesh line = {.axis_count = 2, .axes = {{.size = 1}, {.size = 1}}};
    cr_expect_eq(mesh_primes(&line, found), 0);
    Mesh huge = {.axis_count = 2, .axes = {{.size = INT64_C(1) << 32}, {.size = INT64_C(1) << 32}}};
    cr_expect_eq(mesh_primes(&huge, found), -1, "2^64 devices");
}
