/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/factorization.h"

#include "base/util.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

const char *role_name(Role role) {
    static const char *const NAMES[ROLE_COUNT] = {"tensor", "expert", "sequence", "fsdp", "data", "pipeline"};
    assert(role >= 0 && role < ROLE_COUNT);
    return NAMES[role];
}

int degrees_compare(const Degrees *a, const Degrees *b) {
    for (int role = 0; role < ROLE_COUNT; role++)
        if (a->of[role] != b->of[role]) return a->of[role] < b->of[role] ? -1 : 1;
    return 0;
}

/* The ways to deal `exponent` equal primes to the roles: stars and bars. Without roles only zero primes can be
 * dealt. */
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

/* The divisors of the product of all axes, ascending. NULL means that memory is out. */
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
    qsort(divisors, total, sizeof *divisors, order_whole);
    *count = (int64_t)total;
    return divisors;
}

typedef struct {
    const int64_t *divisors; /* of the whole mesh, ascending */
    Role roles[ROLE_COUNT];  /* the roles that take part, in the order in which they are dealt to */
    int role_count;
    DegreesRule rule; /* `may` NULL means that all tuples are wanted */
    Degrees current;
    Degrees *out;
    int64_t count, room;
    bool no_memory;
} DegreesWalk;

static void degrees_keep(DegreesWalk *walk) {
    if (walk->count == walk->room) {
        int64_t room = walk->room ? 2 * walk->room : 256;
        Degrees *grown = realloc(walk->out, (size_t)room * sizeof *grown);
        walk->no_memory = walk->no_memory || !grown;
        if (!grown) return;
        walk->out = grown;
        walk->room = room;
    }
    walk->out[walk->count++] = walk->current;
}

/* Gives role `at` each divisor of the rest, smallest first; the last role takes all that is left. Later roles are at
 * 1. */
static void degrees_walk(DegreesWalk *walk, int at, int64_t left) {
    Role role = walk->roles[at];
    bool last = at == walk->role_count - 1;
    for (const int64_t *divisor = walk->divisors;; divisor++) {
        int64_t degree = last ? left : *divisor;
        if (left % degree) continue;
        walk->current.of[role] = degree;
        bool wanted = !walk->rule.may || walk->rule.may(walk->rule.of, &walk->current);
        if (wanted && last)
            degrees_keep(walk);
        else if (wanted)
            degrees_walk(walk, at + 1, left / degree);
        if (degree == left) break; /* `left` is itself among the divisors: the list never runs out */
    }
    walk->current.of[role] = 1;
}

bool degrees_count(const Mesh *mesh, RoleSet roles, Count *out) {
    MeshPrime primes[PRIMES_MAX];
    int prime_count = mesh_primes(mesh, primes);
    Count tuples = 1;
    if (prime_count < 0) return false;
    for (int i = 0; i < prime_count; i++)
        if (!count_multiply(tuples, deals(primes[i].total, __builtin_popcount(roles & ROLES_ALL)), &tuples))
            return false;
    *out = tuples;
    return true;
}

/* Walks the tuples that the roles of `walk` and its rule allow, into the arena. */
static bool enumerate(const Mesh *mesh, DegreesWalk *walk, Arena *arena, Error *error) {
    MeshPrime primes[PRIMES_MAX];
    int prime_count = mesh_primes(mesh, primes);
    if (prime_count < 0) return error_set(error, ERROR_INPUT, "mesh", "more than 2^63 devices");
    if (walk->role_count == 0) return error_set(error, ERROR_INPUT, "roles", "none takes part; at least one must");
    int64_t divisor_count;
    int64_t *divisors = mesh_divisors(primes, prime_count, arena, &divisor_count);
    if (!divisors) return error_memory(error);
    walk->divisors = divisors;
    walk->current = (Degrees){{1, 1, 1, 1, 1, 1}};
    degrees_walk(walk, 0, divisors[divisor_count - 1]);
    Degrees *kept = walk->no_memory ? NULL : ARENA_NEW(arena, Degrees, (size_t)walk->count + 1);
    if (kept && walk->count > 0) memcpy(kept, walk->out, (size_t)walk->count * sizeof *kept);
    free(walk->out);
    walk->out = kept;
    return kept || error_memory(error);
}

static bool too_many(Count tuples, int64_t limit, Error *error) {
    char text[COUNT_TEXT_SIZE];
    return error_set(error, ERROR_INPUT, "mesh", "%s tuples of degrees; at most %lld are enumerated",
                     count_text(tuples, true, text), (long long)limit);
}

bool degrees_enumerate(const Mesh *mesh, RoleSet roles, int64_t limit, Arena *arena, DegreesList *out, Error *error) {
    DegreesWalk walk = {0};
    Count tuples;
    for (int role = 0; role < ROLE_COUNT; role++)
        if (roles >> role & 1) walk.roles[walk.role_count++] = (Role)role;
    if (!degrees_count(mesh, roles, &tuples)) tuples = ~(Count)0;
    if (walk.role_count > 0 && (limit < 0 || tuples > (Count)limit)) return too_many(tuples, limit, error);
    if (!enumerate(mesh, &walk, arena, error)) return false;
    assert((Count)walk.count == tuples);
    *out = (DegreesList){walk.out, walk.count};
    return true;
}

static int in_order(const void *a, const void *b) { return degrees_compare(a, b); }

bool degrees_enumerate_some(const Mesh *mesh, DegreesRule rule, int64_t limit, Arena *arena, DegreesList *out,
                            Error *error) {
    /* Pipeline comes first: layers allow few stages; data, the last, takes what is left. */
    static const Role DEALT[ROLE_COUNT] = {ROLE_PIPELINE, ROLE_TENSOR, ROLE_EXPERT,
                                           ROLE_SEQUENCE, ROLE_FSDP,   ROLE_DATA};
    DegreesWalk walk = {.rule = rule};
    for (int i = 0; i < ROLE_COUNT; i++)
        if (rule.roles >> DEALT[i] & 1) walk.roles[walk.role_count++] = DEALT[i];
    if (!enumerate(mesh, &walk, arena, error)) return false;
    if (walk.count > limit) return too_many((Count)walk.count, limit, error);
    qsort(walk.out, (size_t)walk.count, sizeof *walk.out, in_order);
    *out = (DegreesList){walk.out, walk.count};
    return true;
}
