/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/factorization.h: every ordered factorization of every axis into roles, counted in closed form and
 * enumerated by degrees.
 *
 * Canonical nesting, innermost first: tensor, expert, sequence, fsdp, data, pipeline: the order of the enum. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/number.h"
#include "mesh/mesh.h"

typedef enum { ROLE_TENSOR, ROLE_EXPERT, ROLE_SEQUENCE, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE, ROLE_COUNT } Role;

const char *role_name(Role role);

typedef struct {
    int64_t of[ROLE_COUNT]; /* by role, >= 1 */
} Degrees;

/* The ways in which the batch is split into whole sequences. */
static inline int64_t degrees_replicas(const Degrees *degrees) {
    return degrees->of[ROLE_DATA] * degrees->of[ROLE_FSDP] * degrees->of[ROLE_EXPERT];
}

/* Lexicographic: <0, 0, >0. */
int degrees_compare(const Degrees *a, const Degrees *b);

typedef struct {
    int32_t factor[MESH_AXES_MAX][ROLE_COUNT]; /* of each axis; products over roles are the axis sizes */
} Placement;

/* The roles that take part: a bit per role. */
typedef unsigned RoleSet;
enum {
    ROLES_DENSE =
        (1u << ROLE_TENSOR) | (1u << ROLE_SEQUENCE) | (1u << ROLE_FSDP) | (1u << ROLE_DATA) | (1u << ROLE_PIPELINE),
    ROLES_ALL = ROLES_DENSE | (1u << ROLE_EXPERT),
};

/* Counts the ordered factorizations of all axes into the roles of the set: the product over axes n = prod p^e of C(e +
 * R - 1, R - 1). 16 x 20 x 28 x 8 into five roles gives 13,781,250. False means more than 128 bits. */
bool factorization_count(const Mesh *mesh, RoleSet roles, Count *out);

/* A list of tuples of degrees, in lexicographic order of (tensor, expert, sequence, fsdp, data, pipeline). */
typedef struct {
    Degrees *tuples;
    int64_t count;
} DegreesList;

/* Lists every tuple of degrees whose product is mesh->devices and which some placement reaches (all are), in the arena.
 * More than `limit` tuples are ERROR_INPUT. */
bool degrees_enumerate(const Mesh *mesh, RoleSet roles, int64_t limit, Arena *arena, DegreesList *out, Error *error);

/* Which tuples are wanted: the roles that may have a degree above 1, and what `may` says of a tuple in which pipeline,
 * tensor, expert, sequence, fsdp and data were given degrees one after the other, the rest still at 1; false means that
 * the tuple is not wanted, whatever degrees the rest gets. */
typedef struct {
    RoleSet roles;
    bool (*may)(const void *of, const Degrees *begun);
    const void *of;
} DegreesRule;

/* Lists only the tuples that a rule wants. The time grows with the number of tuples begun, not with the number of
 * tuples. The list lies in the arena; more than `limit` tuples are ERROR_INPUT. */
bool degrees_enumerate_some(const Mesh *mesh, DegreesRule rule, int64_t limit, Arena *arena, DegreesList *out,
                            Error *error);

/* Counts all tuples in closed form. False means more than 128 bits. */
bool degrees_count(const Mesh *mesh, RoleSet roles, Count *out);

/* The number of placements of a degree tuple is the product over primes p of the number of non-negative integer
 * matrices (roles x axes) whose row sums are the exponents of p in the degrees and whose column sums are those of the
 * axis sizes. The table is built once per mesh and then only read
 * (threads share it). NULL means that memory is out, or that there are more than 2^63 devices. */
typedef struct PlacementTable PlacementTable;
PlacementTable *placement_table(const Mesh *mesh, RoleSet roles, Arena *arena);
Count placement_count(const PlacementTable *table, const Degrees *degrees);

/* The same for tuples that share all but two degrees: with `from` at 1 and `into` at n, it gives the sum of
 * placement_count over all x * y = n, x of `into` and y of `from`, both of which have to be in the table. In the arena;
 * NULL means that memory is out. */
PlacementTable *placement_table_merged(const PlacementTable *table, Role into, Role from, Arena *arena);

/* The most placements of one degree tuple, else ERROR_INPUT: 480 MiB; a tuple of eight 16x16x16 pods has up to
 * 76,290. */
enum { PLACEMENTS_MAX = 1 << 22 };

/* The placements of one degree tuple, in lexicographic order of factor[axis][role]: deterministic. They lie in the
 * arena; their number equals placement_count. */
bool placements_enumerate(const Mesh *mesh, const Degrees *degrees, Arena *arena, Placement **out, int64_t *count,
                          Error *error);

/* Factorizations of different primes are independent of each other, so every count of factorizations is a product over
 * primes. */

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
