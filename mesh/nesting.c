/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/nesting.h"

#include "base/util.h"

#include <stdio.h>

Nesting nesting_canonical(void) {
    Nesting nesting;
    for (int role = 0; role < ROLE_COUNT; role++) nesting.order[role] = (Role)role;
    return nesting;
}

int64_t nesting_stride(const Nesting *nesting, const int32_t factors[ROLE_COUNT], RoleSet members) {
    int64_t others = 1, stride = 1;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = nesting->order[i];
        if (!(members >> role & 1))
            others *= factors[role];
        else if (factors[role] > 1)
            stride = others;
    }
    return stride;
}

Footprint nesting_footprint(const Mesh *mesh, const Nesting *nesting, const Placement *placement, RoleSet members) {
    Footprint footprint;
    for (int a = 0; a < MESH_AXES_MAX; a++) {
        footprint.on[a] = (Span){1, 1};
        if (a >= mesh->axis_count) continue;
        for (int role = 0; role < ROLE_COUNT; role++)
            if (members >> role & 1) footprint.on[a].factor *= placement->factor[a][role];
        footprint.on[a].stride = nesting_stride(nesting, placement->factor[a], members);
    }
    return footprint;
}

int64_t nesting_orders(const Degrees *degrees) {
    int64_t orders = 1, above = 0;
    for (int role = 0; role < ROLE_COUNT; role++)
        if (degrees->of[role] > 1) orders *= ++above;
    return orders;
}

/* Puts a role after the last of the roles that come before it in the canonical order. */
static void insert_after_lower(Nesting *nesting, int count, Role role) {
    int at = count;
    while (at > 0 && nesting->order[at - 1] > role) at--;
    for (int i = count; i > at; i--) nesting->order[i] = nesting->order[i - 1];
    nesting->order[at] = role;
}

Nesting nesting_order(const Degrees *degrees, int64_t number) {
    Role left[ROLE_COUNT];
    Nesting nesting;
    int above = 0;
    for (int role = 0; role < ROLE_COUNT; role++)
        if (degrees->of[role] > 1) left[above++] = (Role)role;
    int64_t block = nesting_orders(degrees);
    for (int i = 0; i < above; i++) {
        block /= above - i;
        int64_t taken = number / block;
        number %= block;
        nesting.order[i] = left[taken];
        for (int j = (int)taken; j + 1 < above - i; j++) left[j] = left[j + 1];
    }
    for (int role = 0, count = above; role < ROLE_COUNT; role++)
        if (degrees->of[role] <= 1) insert_after_lower(&nesting, count++, (Role)role);
    return nesting;
}

int nesting_compare(const Nesting *a, const Nesting *b) {
    for (int i = 0; i < ROLE_COUNT; i++)
        if (a->order[i] != b->order[i]) return a->order[i] < b->order[i] ? -1 : 1;
    return 0;
}

const char *nesting_text(const Nesting *nesting, char text[NESTING_TEXT_SIZE]) {
    size_t used = 0;
    for (int i = 0; i < ROLE_COUNT; i++)
        used += (size_t)snprintf(text + used, NESTING_TEXT_SIZE - used, "%s%s", i ? ", " : "",
                                 role_name(nesting->order[i]));
    return text;
}
