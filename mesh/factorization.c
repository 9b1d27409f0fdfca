/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/factorization.h"

#include "base/util.h"
#include "mesh/prime.h"

#include <assert.h>
#include <stdlib.h>

const char *role_name(Role role) {
    static const char *const NAMES[ROLE_COUNT] = {"tensor", "expert", "sequence", "fsdp", "data", "pipeline"};
    assert(role >= 0 && role < ROLE_COUNT);
    return NAMES[role];
}

/* Ways to deal `exponent` equal primes to the roles: stars and bars. Without roles only nothing can be dealt. */
static uint32_t deals(int exponent, int roles) {
    if (roles == 0) return exponent == 0;
    return binomial(exponent + roles - 1, roles - 1);
}

bool factorization_count(const Mesh *mesh, RoleSet roles, Count *out) {
    int role_count = __builtin_popcount(roles & ROLES_ALL);
    Count count = 1;
    for (int a = 0; a < mesh->axis_count; a++) {
        PrimePower powers[PRIMES_MAX];
        int power_count = prime_powers(mesh->axes[a].size, powers);
        for (int i = 0; i < power_count; i++)
            if (!count_multiply(count, deals(powers[i].exponent, role_count), &count)) return false;
    }
    *out = count;
    return true;
}

static int whole_order(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The divisors of the product of all axes, ascending. NULL: memory is out. */
static int64_t *mesh_divisors(const MeshPrime *primes, int prime_count, Arena *arena, int64_t *count) {
    size_t total = 1;
    for (int i = 0; i < prime_count; i++) total *= (size_t)primes[i].total + 1; /* < 2^18 below 2^63 */
    int64_t *divisors = ARENA_NEW(arena, int64_t, total);
    if (!divisors) return NULL;
    size_t known = 1;
    divisors[0] = 1;
    for (int i = 0; i < prime_count; i++) {
        size_t base = known;
        for (int e = 0; e < primes[i].total; e++, known += base)
            for (size_t j = 0; j < base; j++) divisors[known + j] = divisors[known - base + j] * primes[i].prime;
    }
    qsort(divisors, total, sizeof *divisors, whole_order);
    *count = (int64_t)total;
    return divisors;
}

typedef struct {
    const int64_t *divisors; /* of the whole mesh, ascending */
    Role roles[ROLE_COUNT];  /* those that take part, in order */
    int role_count;
    Degrees current;
    Degrees *out;
    int64_t count;
} DegreesWalk;

/* Gives role `at` each divisor of what is left, smallest first; the last role takes the rest. */
static void degrees_walk(DegreesWalk *walk, int at, int64_t left) {
    Role role = walk->roles[at];
    if (at == walk->role_count - 1) {
        walk->current.of[role] = left;
        walk->out[walk->count++] = walk->current;
        return;
    }
    for (const int64_t *divisor = walk->divisors;; divisor++) {
        if (left % *divisor) continue;
        walk->current.of[role] = *divisor;
        degrees_walk(walk, at + 1, left / *divisor);
        if (*divisor == left) return; /* itself among the divisors: the list never runs out */
    }
}

bool degrees_enumerate(const Mesh *mesh, RoleSet roles, int64_t limit, Arena *arena, Degrees **out, int64_t *count,
                       Error *error) {
    MeshPrime primes[PRIMES_MAX];
    int prime_count = mesh_primes(mesh, primes);
    if (prime_count < 0) return error_set(error, ERROR_INPUT, "mesh", "more than 2^63 devices");
    DegreesWalk walk = {.current = {{1, 1, 1, 1, 1, 1}}};
    for (int role = 0; role < ROLE_COUNT; role++)
        if (roles >> role & 1) walk.roles[walk.role_count++] = (Role)role;
    if (walk.role_count == 0) return error_set(error, ERROR_INPUT, "roles", "none takes part; at least one must");
    Count tuples = 1;
    for (int i = 0; i < prime_count; i++)
        if (!count_multiply(tuples, deals(primes[i].total, walk.role_count), &tuples)) tuples = ~(Count)0;
    if (limit < 0 || tuples > (Count)limit) {
        char text[COUNT_TEXT_SIZE];
        return error_set(error, ERROR_INPUT, "mesh", "%s tuples of degrees; at most %lld are enumerated",
                         count_text(tuples, true, text), (long long)limit);
    }
    int64_t divisor_count;
    int64_t *divisors = mesh_divisors(primes, prime_count, arena, &divisor_count);
    walk.out = divisors ? ARENA_NEW(arena, Degrees, (size_t)tuples) : NULL;
    if (!walk.out) return error_memory(error);
    walk.divisors = divisors;
    degrees_walk(&walk, 0, divisors[divisor_count - 1]);
    assert((Count)walk.count == tuples);
    *out = walk.out;
    *count = walk.count;
    return true;
}
