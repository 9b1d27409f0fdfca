/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/jax_mesh.h"

#include "base/util.h"

#include <assert.h>
#include <string.h>

static int64_t product(const JaxShape *shape) {
    int64_t all = 1;
    for (int i = 0; i < shape->count; i++)
        if (__builtin_mul_overflow(all, shape->size[i], &all)) return -1;
    return all;
}

static void clear(JaxAssignment *out) {
    for (int p = 0; p < JAX_PHYSICAL_MAX; p++)
        for (int l = 0; l < JAX_LOGICAL_MAX; l++) out->factor[p][l] = 1;
}

/* ---- whole axes ---- */

/* The subset of `take` free axes, first in the order of combinations of rising indices, whose product is `size`; as
 * bits, 0 when there is none. Bit patterns of one population are visited in the order of combinations: 011 before 101
 * before 110, with the lowest index as the highest bit. */
static unsigned whole_axes(const JaxShape *physical, unsigned used, int take, int64_t size) {
    int n = physical->count;
    for (unsigned pattern = 1u << n; pattern-- > 0;) {
        if (__builtin_popcount(pattern) != take) continue;
        unsigned axes = 0;
        int64_t all = 1;
        for (int p = 0; p < n; p++)
            if (pattern >> (n - 1 - p) & 1) axes |= 1u << p, all *= physical->size[p];
        if (!(axes & used) && all == size) return axes;
    }
    return 0;
}

/* The most intense axis comes first; each takes as many axes as possible, but at most three. */
static bool assign_whole(const JaxShape *physical, const JaxShape *logical, JaxAssignment *out) {
    unsigned used = 0;
    clear(out);
    for (int l = logical->count - 1; l >= 0; l--) {
        unsigned axes = 0;
        for (int take = 3; take > 0 && !axes; take--) axes = whole_axes(physical, used, take, logical->size[l]);
        if (!axes && logical->size[l] > 1) return false;
        used |= axes;
        for (int p = 0; p < physical->count; p++)
            if (axes >> p & 1) out->factor[p][l] = physical->size[p];
    }
    return true;
}

/* ---- split axes ---- */

/* One way to write a logical axis as factors of the physical ones, and the numbers by which ways are ranked. */
typedef struct {
    int64_t factor[JAX_PHYSICAL_MAX];
    int64_t whole_product; /* product of the factors that cover a whole axis */
    int whole_count;       /* number of such axes, except those of size 1 */
    int64_t shared;        /* product of factors on axes that carry a more intense logical axis */
} Way;

typedef struct {
    const JaxShape *physical;
    int64_t taken[JAX_PHYSICAL_MAX]; /* of each axis, by more intense logical axes */
    Way current, best;
    bool any;
} SplitWalk;

/* The source's comment on the third criterion says that untouched axes are preferred; its code and its results show the
 * opposite: the larger product on touched axes wins. */
static bool prefer(const Way *a, const Way *b, int count) {
    if (a->whole_product != b->whole_product) return a->whole_product > b->whole_product;
    if (a->whole_count != b->whole_count) return a->whole_count > b->whole_count;
    if (a->shared != b->shared) return a->shared > b->shared;
    for (int p = 0; p < count; p++)
        if (a->factor[p] != b->factor[p]) return a->factor[p] > b->factor[p];
    return false;
}

static void rank(SplitWalk *walk) {
    Way *way = &walk->current;
    way->whole_product = way->shared = 1;
    way->whole_count = 0;
    for (int p = 0; p < walk->physical->count; p++) {
        int64_t factor = way->factor[p];
        if (factor == walk->physical->size[p]) way->whole_product *= factor, way->whole_count += factor > 1;
        if (walk->taken[p] > 1) way->shared *= factor;
    }
    if (walk->any && !prefer(way, &walk->best, walk->physical->count)) return;
    walk->best = *way;
    walk->any = true;
}

static void split_walk(SplitWalk *walk, int p, int64_t left) {
    if (p >= walk->physical->count || p >= JAX_PHYSICAL_MAX) {
        if (left == 1) rank(walk);
        return;
    }
    int64_t room = walk->physical->size[p] / walk->taken[p];
    for (int64_t factor = 1; factor <= room && factor <= left; factor++) {
        if (room % factor || left % factor) continue;
        walk->current.factor[p] = factor;
        split_walk(walk, p + 1, left / factor);
    }
}

static bool assign_split(const JaxShape *physical, const JaxShape *logical, JaxAssignment *out) {
    SplitWalk walk = {.physical = physical};
    clear(out);
    for (int p = 0; p < physical->count; p++) walk.taken[p] = 1;
    for (int l = logical->count - 1; l >= 0; l--) {
        walk.any = false;
        split_walk(&walk, 0, logical->size[l]);
        if (!walk.any) return false; /* this cannot happen while the products agree: the rest divides */
        for (int p = 0; p < physical->count; p++) {
            out->factor[p][l] = walk.best.factor[p];
            walk.taken[p] *= walk.best.factor[p];
        }
    }
    return true;
}

bool jax_mesh_assign(const JaxShape *physical, const JaxShape *logical, bool *split, JaxAssignment *out) {
    assert(physical->count < JAX_PHYSICAL_MAX && logical->count <= JAX_LOGICAL_MAX);
    *split = false;
    if (product(physical) != product(logical)) return false;
    *split = !assign_whole(physical, logical, out);
    return !*split || assign_split(physical, logical, out);
}

/* ---- small slices ---- */

/* `whole` applies only when one logical axis has every device. `mesh` limits the row to this shape (without ones); {0}
 * means any shape. */
static const struct {
    const char *chip;
    int64_t size[4]; /* x y z cores */
    bool whole;
    int64_t mesh[3];
    JaxOrder order;
} SMALL[] = {
    {"tpu-v5e", {2, 2, 1, 1}, false, {0}, {4, {0, 1, 3, 2}}},
    {"tpu-v6e", {2, 2, 1, 1}, false, {0}, {4, {0, 1, 3, 2}}},
    {"tpu-v5e", {2, 4, 1, 1}, false, {2, 2, 2}, {8, {0, 4, 2, 6, 1, 5, 3, 7}}},
    {"tpu-v6e", {2, 4, 1, 1}, false, {2, 2, 2}, {8, {0, 4, 2, 6, 1, 5, 3, 7}}},
    {"tpu-v5e", {2, 4, 1, 1}, false, {0}, {8, {0, 1, 2, 3, 7, 6, 5, 4}}},
    {"tpu-v6e", {2, 4, 1, 1}, false, {0}, {8, {0, 1, 2, 3, 7, 6, 5, 4}}},
    {"tpu-v5e", {4, 4, 1, 1}, true, {0}, {16, {0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4}}},
    {"tpu-v6e", {4, 4, 1, 1}, true, {0}, {16, {0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4}}},
    {"tpu-v5p", {2, 2, 2, 1}, false, {0}, {8, {0, 1, 3, 2, 6, 7, 5, 4}}},
    {"tpu-v7", {2, 2, 1, 2}, false, {0}, {8, {0, 1, 2, 3, 6, 7, 4, 5}}},
    {"tpu-v7", {2, 2, 2, 2}, false, {0}, {16, {0, 1, 2, 3, 6, 7, 4, 5, 8, 9, 10, 11, 14, 15, 12, 13}}},
    {"tpu-v7", {2, 2, 4, 2}, false, {0}, {32, {0,  1,  2,  3,  6,  7,  4,  5,  8,  9,  10, 11, 14, 15, 12, 13,
                                               16, 17, 18, 19, 22, 23, 20, 21, 24, 25, 26, 27, 30, 31, 28, 29}}},
};

/* The shape without its ones is `mesh`. */
static bool shape_is(const JaxShape *logical, const int64_t mesh[3]) {
    int at = 0;
    for (int l = 0; l < logical->count; l++) {
        if (logical->size[l] == 1) continue;
        if (at == 3 || logical->size[l] != mesh[at++]) return false;
    }
    return at == 3 || mesh[at] == 0;
}

static bool has_all(const JaxShape *logical, int64_t devices) {
    for (int l = 0; l < logical->count; l++)
        if (logical->size[l] == devices) return true;
    return false;
}

const JaxOrder *jax_small_order(const char *chip, const JaxShape *physical, const JaxShape *logical) {
    for (size_t i = 0; i < COUNT_OF(SMALL); i++) {
        if (strcmp(chip, SMALL[i].chip) != 0) continue;
        bool same = true;
        for (int p = 0; p < 4; p++) same = same && (p < physical->count ? physical->size[p] : 1) == SMALL[i].size[p];
        if (!same || (SMALL[i].whole && !has_all(logical, SMALL[i].order.count)) ||
            (SMALL[i].mesh[0] && !shape_is(logical, SMALL[i].mesh)))
            continue;
        return &SMALL[i].order;
    }
    return NULL;
}

/* ---- MaxText's rings on 16 x 16 ---- */

const char *maxtext_custom_mesh(const JaxShape *physical, const JaxShape *logical, JaxAssignment *out) {
    static const struct {
        const char *name;
        int64_t outer, inner, block[2]; /* chips of a block along x, y */
    } MESHES[] = {{"hybrid_ring_64x4", 64, 4, {2, 2}}, {"hybrid_ring_32x8", 32, 8, {2, 4}}};
    if (physical->count < 2 || physical->size[0] != 16 || physical->size[1] != 16) return NULL;
    for (size_t i = 0; i < COUNT_OF(MESHES); i++) {
        if (!shape_is(logical, (int64_t[3]){MESHES[i].outer, MESHES[i].inner, 0})) continue;
        clear(out);
        for (int l = 0; l < logical->count; l++)
            for (int p = 0; p < 2 && logical->size[l] > 1; p++)
                out->factor[p][l] = logical->size[l] == MESHES[i].inner ? MESHES[i].block[p] : 16 / MESHES[i].block[p];
        return MESHES[i].name;
    }
    return NULL;
}

int jax_physical_index(const Axis *axis) {
    if (axis->level != LEVEL_ICI) return -1;
    return strcmp(axis->name, "core") == 0 ? 3 : axis->name[0] - 'x';
}

JaxShape jax_physical_shape(const Mesh *mesh) {
    JaxShape shape = {.count = 3, .size = {1, 1, 1, 1}};
    for (int a = 0; a < mesh->axis_count; a++) {
        int p = jax_physical_index(&mesh->axes[a]);
        if (p < 0) continue;
        shape.size[p] = mesh->axes[a].size;
        if (p == 3) shape.count = 4;
    }
    return shape;
}

void jax_place(const Mesh *mesh, const Nesting *nesting, const JaxAssignment *assignment, Placement *placement) {
    for (int a = 0; a < mesh->axis_count; a++) {
        int p = jax_physical_index(&mesh->axes[a]);
        for (int l = 0; l < ROLE_COUNT && p >= 0; l++)
            placement->factor[a][jax_role(nesting, l)] = (int32_t)assignment->factor[p][l];
    }
}
