/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/state/offload.h"

#include <string.h>

const char *offload_name(Offload offload) {
    static const char *const NAMES[OFFLOAD_COUNT] = {"all", "activations", "optimizer", "none"};
    return NAMES[offload];
}

bool offload_parse(const char *text, const char *where, Offload *out, Error *error) {
    for (Offload offload = OFFLOAD_ALL; offload < OFFLOAD_COUNT; offload++)
        if (strcmp(text, offload_name(offload)) == 0) return *out = offload, true;
    return error_set(error, ERROR_INPUT, where, "\"%.40s\" is not none, optimizer, activations, all or auto", text);
}
