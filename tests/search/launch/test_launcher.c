/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The orders that have names, Megatron's against its rank formulas; where a group lies. */
#include "search/launch/launcher.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

/* Coordinate of a chip in every role, as nesting means it: the innermost role varies fastest. */
static void coordinates(const Nesting *nesting, const int32_t factors[ROLE_COUNT], int chip, int at[ROLE_COUNT]) {
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = nesting->order[i];
        at[role] = chip % factors[role];
        chip /= factors[role];
    }
}

Test(nesting_names, names) {
    static const char *const NAMES[] = {"default", "maxtext", "jax", "megatron", "megatron-pp-dp", "torchtitan"};
    Nesting nesting;
    char text[NESTING_TEXT_SIZE];
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        cr_expect_str_eq(nesting_name((int)i), NAMES[i]);
        cr_assert(nesting_named(NAMES[i], &nesting));
        unsigned seen = 0;
        for (int r = 0; r < ROLE_COUNT; r++) seen |= 1u << nesting.order[r];
        cr_expect_eq(seen, (unsigned)ROLES_ALL, "%s: not every role once", NAMES[i]);
    }
    cr_expect_null(nesting_name((int)COUNT_OF(NAMES)));
    cr_expect_null(nesting_name(-1));
    cr_expect_not(nesting_named("all", &nesting));
    cr_expect_not(nesting_named("", &nesting));
    nesting_named("maxtext", &nesting);
    cr_expect_str_eq(nesting_text(&nesting, text), "expert, tensor, sequence, fsdp, data, pipeline");
    Nesting canonical = nesting_canonical();
    nesting_named("default", &nesting);
    cr_expect_eq(memcmp(&canonical, &nesting, sizeof nesting), 0);
}

/* Megatron's rank tables (core/parallel_state.py): rank of (t, c, d, p) = t + tp (c + cp (d + dp p)), and with
 * --use-tp-pp-dp-mapping t + tp (c + cp (p + pp d)); experts at etp = tp, e just outside. */
Test(nesting_names, megatron_ranks) {
    static const int32_t FACTORS[ROLE_COUNT] = {[ROLE_TENSOR] = 2, [ROLE_EXPERT] = 3, [ROLE_SEQUENCE] = 2,
                                                [ROLE_FSDP] = 2,   [ROLE_DATA] = 2,   [ROLE_PIPELINE] = 5};
    Nesting nesting;
    int at[ROLE_COUNT];
    for (int rank = 0; rank < 240; rank++) {
        nesting_named("megatron", &nesting);
        coordinates(&nesting, FACTORS, rank, at);
        int dp = at[ROLE_EXPERT] + 3 * (at[ROLE_FSDP] + 2 * at[ROLE_DATA]);
        cr_expect_eq(rank, at[ROLE_TENSOR] + 2 * (at[ROLE_SEQUENCE] + 2 * (dp + 12 * at[ROLE_PIPELINE])));
        nesting_named("megatron-pp-dp", &nesting);
        coordinates(&nesting, FACTORS, rank, at);
        int outer = at[ROLE_FSDP] + 2 * at[ROLE_DATA];
        cr_expect_eq(rank, at[ROLE_TENSOR] +
                               2 * (at[ROLE_SEQUENCE] + 2 * (at[ROLE_EXPERT] + 3 * (at[ROLE_PIPELINE] + 5 * outer))));
    }
}

/* 16 = tensor 2, sequence 2, data 4; 8 = fsdp 8. */
Test(nesting_names, footprints) {
    Mesh mesh = {.axis_count = 2, .axes = {{.kind = AXIS_RING, .size = 16}, {.kind = AXIS_RING, .size = 8}}};
    Placement placement = {{{2, 1, 2, 1, 4, 1}, {1, 1, 1, 8, 1, 1}}};
    static const struct {
        const char *name;
        RoleSet members;
        Span on[2];
    } ROWS[] = {
        {"tensor is innermost", 1u << ROLE_TENSOR, {{2, 1}, {1, 1}}},
        {"sequence stands two apart", 1u << ROLE_SEQUENCE, {{2, 2}, {1, 1}}},
        {"data is outermost", 1u << ROLE_DATA, {{4, 4}, {1, 1}}},
        {"fsdp has the other axis", 1u << ROLE_FSDP, {{1, 1}, {8, 1}}},
        {"sequence, fsdp and data together", 1u << ROLE_SEQUENCE | 1u << ROLE_FSDP | 1u << ROLE_DATA, {{8, 2}, {8, 1}}},
        {"all of it", ROLES_ALL, {{16, 1}, {8, 1}}},
    };
    Nesting nesting = nesting_canonical();
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Footprint footprint = nesting_footprint(&mesh, &nesting, &placement, ROWS[i].members);
        for (int a = 0; a < 2; a++) {
            cr_expect_eq(footprint.on[a].factor, ROWS[i].on[a].factor, "%s", ROWS[i].name);
            cr_expect_eq(footprint.on[a].stride, ROWS[i].on[a].stride, "%s", ROWS[i].name);
        }
        cr_expect_eq(footprint_degree(&mesh, &footprint), ROWS[i].on[0].factor * ROWS[i].on[1].factor, "%s",
                     ROWS[i].name);
    }
}
