/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/html/paints.h"

#include "base/util.h"

#include <string.h>

Paint paint_of_role(Role role) {
    static const Paint OF[ROLE_COUNT] = {
        [ROLE_TENSOR] = PAINT_TENSOR, [ROLE_EXPERT] = PAINT_EXPERT, [ROLE_SEQUENCE] = PAINT_SEQUENCE,
        [ROLE_FSDP] = PAINT_FSDP,     [ROLE_DATA] = PAINT_DATA,     [ROLE_PIPELINE] = PAINT_PIPELINE};
    return OF[role];
}

Paint paint_of_term(const char *term) {
    static const struct {
        const char *name;
        Paint paint;
    } PAINTS[] = {{"matmul", PAINT_MATMUL},       {"attention", PAINT_ATTENTION}, {"elementwise", PAINT_ELEMENTWISE},
                  {"recompute", PAINT_RECOMPUTE}, {"tensor", PAINT_TENSOR},       {"expert", PAINT_EXPERT},
                  {"sequence", PAINT_SEQUENCE},   {"fsdp", PAINT_FSDP},           {"weights", PAINT_FSDP},
                  {"data", PAINT_DATA},           {"pipeline", PAINT_PIPELINE},   {"waits", PAINT_WAITS},
                  {"PCIe, waits", PAINT_WAITS},   {"bubble", PAINT_BUBBLE},       {"optimizer", PAINT_OPTIMIZER}};
    for (size_t i = 0; i < COUNT_OF(PAINTS); i++)
        if (strcmp(PAINTS[i].name, term) == 0) return PAINTS[i].paint;
    return PAINT_OTHER;
}
