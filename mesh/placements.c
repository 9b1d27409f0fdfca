/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/placements.c: where a tuple of degrees can lie on the axes: a table gives the number of ways, and a walk lists
 * them for one tuple at a time. */
#include "base/util.h"
#include "mesh/factorization.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A row says how often one prime stands in the degree of each role that takes part. Rows of one sum are ranked by the
 * combinatorial number system: the partial sums a0, a0 + a1 + 1, a0 + a1 + a2 + 2, ... are a combination, whose rank is
 * a sum of binomials, so that a table over all rows has no holes. */
enum { EXPONENTS_MAX = 62 };
typedef uint32_t Binomials[EXPONENTS_MAX + ROLE_COUNT][ROLE_COUNT];

typedef struct {
    int64_t prime;
    uint64_t inverse,
        quotient_max; /* n is a multiple iff n * inverse mod 2^64 <= quotient_max, and then that product is n / prime */
    int total;
    uint64_t *ways; /* by rank. At most C(17, 5)^3 C(18, 5)^2 < 2^64: 62 factors over five axes and six roles */
} PrimeWays;

struct PlacementTable {
    Role roles[ROLE_COUNT];
    int role_count;
    RoleSet others; /* roles that must stay at 1 */
    int prime_count;
    PrimeWays primes[PRIMES_MAX];
    Binomials binomials;
};

static inline uint32_t row_rank(const PlacementTable *table, const int *row) {
    uint32_t rank = 0;
    for (int r = 0, sum = 0; r < table->role_count - 1; r++) {
        sum += row[r];
        rank += table->binomials[sum + r][r + 1];
    }
    return rank;
}

static uint32_t row_count(const PlacementTable *table, int total) {
    return binomial(total + table->role_count - 1, table->role_count - 1);
}

/* Makes the next row of the same sum, from {total, 0, ...} on: moves one unit from the last non-empty place before the
 * end to its right, with all that the end held. False means that this was the last row. */
static bool row_next(int *row, int roles) {
    int from = roles - 2;
    while (from >= 0 && row[from] == 0) from--;
    if (from < 0) return false;
    int end = row[roles - 1];
    row[roles - 1] = 0;
    row[from]--;
    row[from + 1] = end + 1;
    return true;
}

/* The ways to reach a row when the last axis deals `exponent` of the primes to the roles from r on, and `before` holds
 * the ways of the axes before by the primes that they must have dealt. Role r has to take the primes that do not fit
 * after it, so no path is in vain. */
typedef struct {
    int r;         /* the role that the axis deals to next */
    int exponent;  /* primes that the last axis still has to deal */
    int later;     /* the row's sum after r */
    int sum;       /* of the primes that the axes before dealt to the roles before r */
    uint32_t rank; /* of them */
} Deal;

static uint64_t ways_of_row(const PlacementTable *table, const int *row, Deal at, const uint64_t *before) {
    int r = at.r;
    if (r >= table->role_count - 1 || r + 1 >= ROLE_COUNT) return before[at.rank];
    uint64_t ways = 0;
    int last = row[r] < at.exponent ? row[r] : at.exponent;
    for (int deal = at.exponent > at.later ? at.exponent - at.later : 0; deal <= last; deal++) {
        int rest = at.sum + row[r] - deal;
        Deal next = {r + 1, at.exponent - deal, at.later - row[r + 1], rest,
                     at.rank + table->binomials[rest + r][r + 1]};
        ways += ways_of_row(table, row, next, before);
    }
    return ways;
}

/* The count treats all roles alike, so a row has the same ways as its sorted equivalent. */
static void row_sort(const int *row, int roles, int *sorted) {
    for (int r = 0; r < roles; r++) {
        int at = r;
        for (; at > 0 && sorted[at - 1] < row[r]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = row[r];
    }
}

/* The ways of every row, axis by axis: first the sorted rows, then all others from them. NULL means that memory is
 * out. */
static uint64_t *prime_ways(const PlacementTable *table, const MeshPrime *prime, Arena *arena) {
    static const uint64_t NOTHING_DEALT = 1;
    const uint64_t *before = &NOTHING_DEALT;
    uint64_t *ways = NULL;
    int total = 0;
    for (int a = 0; a < MESH_AXES_MAX; a++) {
        if (prime->exponent[a] == 0) continue;
        total += prime->exponent[a];
        ways = ARENA_NEW(arena, uint64_t, row_count(table, total));
        if (!ways) return NULL;
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            int row[ROLE_COUNT] = {total}, sorted[ROLE_COUNT];
            do {
                row_sort(row, table->role_count, sorted);
                bool is_sorted = memcmp(row, sorted, sizeof(int) * (size_t)table->role_count) == 0;
                if (is_sorted && !mirrored)
                    ways[row_rank(table, row)] = ways_of_row(
                        table, row, (Deal){.exponent = prime->exponent[a], .later = total - row[0]}, before);
                else if (!is_sorted && mirrored)
                    ways[row_rank(table, row)] = ways[row_rank(table, sorted)];
            } while (row_next(row, table->role_count));
        }
        before = ways;
    }
    return ways;
}

/* Newton's method: each step doubles the correct bits of the inverse; p itself has three. */
static uint64_t inverse_modulo_2_64(uint64_t p) {
    uint64_t inverse = p;
    for (int step = 0; step < 5; step++) inverse *= 2 - p * inverse;
    return inverse;
}

PlacementTable *placement_table(const Mesh *mesh, RoleSet roles, Arena *arena) {
    MeshPrime primes[PRIMES_MAX];
    int prime_count = mesh_primes(mesh, primes);
    PlacementTable *table = ARENA_NEW(arena, PlacementTable, 1);
    if (!table || prime_count < 0) return NULL;
    for (int role = 0; role < ROLE_COUNT; role++) {
        if (roles >> role & 1)
            table->roles[table->role_count++] = (Role)role;
        else
            table->others |= 1u << role;
    }
    if (table->role_count == 0) return table; /* this table counts nothing */
    for (int n = 0; n < EXPONENTS_MAX + ROLE_COUNT; n++)
        for (int k = 0; k < ROLE_COUNT; k++) table->binomials[n][k] = binomial(n, k);
    for (int i = 0; i < prime_count; i++) {
        PrimeWays *prime = &table->primes[i];
        *prime = (PrimeWays){.prime = primes[i].prime, .total = primes[i].total};
        if (prime->prime != 2) {
            prime->inverse = inverse_modulo_2_64((uint64_t)prime->prime);
            prime->quotient_max = UINT64_MAX / (uint64_t)prime->prime;
        }
        prime->ways = prime_ways(table, &primes[i], arena);
        if (!prime->ways) return NULL;
    }
    table->prime_count = prime_count;
    return table;
}

/* Takes every factor `prime` out of *n and returns their number. It does not divide: this runs for every tuple of a
 * search. */
static inline int take_prime(const PrimeWays *prime, uint64_t *n) {
    int taken = 0;
    if (prime->prime == 2) {
        taken = __builtin_ctzll(*n);
        *n >>= taken;
        return taken;
    }
    for (uint64_t quotient; *n != 1 && (quotient = *n * prime->inverse) <= prime->quotient_max; taken++) *n = quotient;
    return taken;
}

Count placement_count(const PlacementTable *table, const Degrees *degrees) {
    if (table->role_count == 0) return 0;
    uint64_t left[ROLE_COUNT];
    for (int role = 0; role < ROLE_COUNT; role++) {
        int64_t degree = degrees->of[role];
        if (degree < 1 || (degree != 1 && table->others >> role & 1)) return 0;
    }
    for (int r = 0; r < table->role_count; r++) left[r] = (uint64_t)degrees->of[table->roles[r]];
    Count count = 1;
    for (int i = 0; i < table->prime_count; i++) {
        const PrimeWays *prime = &table->primes[i];
        int row[ROLE_COUNT], total = 0;
        for (int r = 0; r < table->role_count; r++) total += row[r] = take_prime(prime, &left[r]);
        if (total != prime->total) return 0;
        count *= prime->ways[row_rank(table, row)]; /* at most the number of all factorizations: of < 2^63 devices, far
                                                * below 2^128 */
    }
    for (int r = 0; r < table->role_count; r++)
        if (left[r] != 1) return 0;
    return count;
}

/* The position of a role among the roles of the table. */
static int role_at(const PlacementTable *table, Role role) {
    int at = 0;
    while (at < table->role_count - 1 && table->roles[at] != role) at++;
    return at;
}

/* The ways of a row with `both` at `into`, summed over all shares that `from` can have. The sum stays below the ways of
 * all rows, for which there is room. */
static uint64_t ways_shared(const PlacementTable *table, const PrimeWays *prime, const int *merged, int into,
                            int from) {
    uint64_t sum = 0;
    int row[ROLE_COUNT] = {0};
    for (int r = 0, at = 0; r < table->role_count; r++) row[r] = r == from ? 0 : merged[at++];
    for (; row[into] >= 0; row[into]--, row[from]++) sum += prime->ways[row_rank(table, row)];
    return sum;
}

PlacementTable *placement_table_merged(const PlacementTable *table, Role into, Role from, Arena *arena) {
    PlacementTable *merged = ARENA_NEW(arena, PlacementTable, 1);
    int into_at = role_at(table, into), from_at = role_at(table, from);
    assert(into != from && table->roles[into_at] == into && table->roles[from_at] == from);
    if (!merged) return NULL;
    *merged = *table;
    merged->others |= 1u << from;
    merged->role_count = 0;
    for (int r = 0; r < table->role_count; r++)
        if (r != from_at) merged->roles[merged->role_count++] = table->roles[r];
    for (int i = 0; i < table->prime_count; i++) {
        const PrimeWays *prime = &table->primes[i];
        uint64_t *ways = ARENA_NEW(arena, uint64_t, row_count(merged, prime->total));
        if (!ways) return NULL;
        int row[ROLE_COUNT] = {prime->total};
        do ways[row_rank(merged, row)] = ways_shared(table, prime, row, into_at, from_at);
        while (row_next(row, merged->role_count));
        merged->primes[i].ways = ways;
    }
    return merged;
}

typedef struct {
    const Mesh *mesh;
    int64_t *divisors[MESH_AXES_MAX]; /* of each axis size, ascending */
    int64_t left[ROLE_COUNT];         /* of each degree */
    Placement current;
    Placement *found;
    size_t count, room;
    ErrorKind failed;
} PlacementsWalk;

static void placement_keep(PlacementsWalk *walk) {
    if (walk->count == walk->room) {
        if (walk->room == PLACEMENTS_MAX) {
            walk->failed = ERROR_INPUT;
            return;
        }
        size_t room = walk->room ? 2 * walk->room : 256;
        Placement *grown = realloc(walk->found, room * sizeof *grown);
        if (!grown) {
            walk->failed = ERROR_MEMORY;
            return;
        }
        walk->found = grown;
        walk->room = room;
    }
    walk->found[walk->count++] = walk->current;
}

/* Deals the `rest` of axis a to the roles from `role` on, whose degrees have `later` left together. A factor is taken
 * only if the later roles can hold the remainder of the axis; then all roles together hold the axes that follow, and no
 * path is in vain. */
static void placements_walk(PlacementsWalk *walk, int a, int role, int64_t rest, int64_t later) {
    if (walk->failed) return;
    if (a == walk->mesh->axis_count) {
        placement_keep(walk);
        return;
    }
    if (role == ROLE_COUNT) {
        int64_t all = 1;
        for (int r = 0; r < ROLE_COUNT; r++) all *= walk->left[r];
        int64_t size = a + 1 < walk->mesh->axis_count ? walk->mesh->axes[a + 1].size : 1;
        placements_walk(walk, a + 1, 0, size, all);
        return;
    }
    int64_t degree = walk->left[role];
    later /= degree;
    for (const int64_t *factor = walk->divisors[a]; *factor <= min_whole(degree, rest); factor++) {
        if (degree % *factor || rest % *factor || later % (rest / *factor)) continue;
        walk->current.factor[a][role] = (int32_t)*factor;
        walk->left[role] = degree / *factor;
        placements_walk(walk, a, role + 1, rest / *factor, later);
    }
    walk->left[role] = degree;
}

/* Whether the degrees multiply to the product of the axes, which is written to *product. */
static bool degrees_fill(const Mesh *mesh, const Degrees *degrees, int64_t *product) {
    int64_t chips = 1;
    *product = 1;
    for (int a = 0; a < mesh->axis_count; a++)
        if (__builtin_mul_overflow(chips, mesh->axes[a].size, &chips)) return false;
    for (int role = 0; role < ROLE_COUNT; role++)
        if (degrees->of[role] < 1 || __builtin_mul_overflow(*product, degrees->of[role], product)) return false;
    return *product == chips;
}

bool placements_enumerate(const Mesh *mesh, const Degrees *degrees, Arena *arena, Placement **out, int64_t *count,
                          Error *error) {
    PlacementsWalk walk = {.mesh = mesh};
    int64_t product;
    if (!degrees_fill(mesh, degrees, &product))
        return error_set(error, ERROR_INPUT, "degrees", "they must multiply to the mesh's devices");
    for (int a = 0; a < mesh->axis_count; a++) {
        if (mesh->axes[a].size > INT32_MAX)
            return error_set(error, ERROR_INPUT, "mesh", "an axis of %lld is too long; at most 2,147,483,647",
                             (long long)mesh->axes[a].size);
        walk.divisors[a] = divisors_of(mesh->axes[a].size, arena);
        if (!walk.divisors[a]) return error_memory(error);
    }
    memcpy(walk.left, degrees->of, sizeof walk.left);
    for (int a = 0; a < MESH_AXES_MAX; a++)
        for (int role = 0; role < ROLE_COUNT; role++) walk.current.factor[a][role] = 1;
    placements_walk(&walk, 0, 0, mesh->axis_count ? mesh->axes[0].size : 1, product);

    bool ok = false;
    if (walk.failed == ERROR_INPUT) {
        error_set(error, ERROR_INPUT, "degrees", "more than %d placements of one tuple of degrees", PLACEMENTS_MAX);
        goto done;
    }
    Placement *kept = walk.failed ? NULL : ARENA_NEW(arena, Placement, walk.count);
    if (!kept) {
        error_memory(error);
        goto done;
    }
    memcpy(kept, walk.found, walk.count * sizeof *kept); /* there is at least one placement: every tuple can be
                                                          * reached */
    *out = kept;
    *count = (int64_t)walk.count;
    ok = true;
done:
    free(walk.found);
    return ok;
}
