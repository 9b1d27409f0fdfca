/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/html/role_paint.h"

Paint paint_of_role(Role role) {
    static const Paint OF[ROLE_COUNT] = {
        [ROLE_TENSOR] = PAINT_TENSOR, [ROLE_EXPERT] = PAINT_EXPERT, [ROLE_SEQUENCE] = PAINT_SEQUENCE,
        [ROLE_FSDP] = PAINT_FSDP,     [ROLE_DATA] = PAINT_DATA,     [ROLE_PIPELINE] = PAINT_PIPELINE};
    return OF[role];
}
