/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/nesting.h"

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

bool nesting_innermost(const Nesting *nesting, RoleSet roles) {
    bool outside = false;
    for (int i = 0; i < ROLE_COUNT; i++) {
        bool member = roles >> nesting->order[i] & 1;
        if (member && outside) return false;
        outside = outside || !member;
    }
    return true;
}
