/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/replay.h"

#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool replay_skip(Replay *replay, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(replay->skipped, sizeof replay->skipped, format, list);
    va_end(list);
    return false;
}

void replay_note(Replay *replay, bool guess, const char *format, ...) {
    size_t used = strlen(replay->notes), room = sizeof replay->notes;
    va_list list;
    if (guess) replay->unknowns++;
    if (used > 0 && used + 2 < room) used += (size_t)snprintf(replay->notes + used, room - used, "; ");
    va_start(list, format);
    vsnprintf(replay->notes + used, room - used, format, list);
    va_end(list);
}

bool replay_on_jax(const Replay *replay) {
    static const char *const NAMES[] = {"JAX", "MaxText", "AXLearn", "Pax", "T5X"};
    bool is = false;
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) is = is || text_has(replay->run->framework, NAMES[i]);
    return is;
}

bool replay_on_torch(const Replay *replay) {
    return text_has(replay->run->framework, "torchtitan") || text_has(replay->run->framework, "FSDP");
}
