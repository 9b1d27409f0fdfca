/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/plan.h"

#include <inttypes.h>
#include <stdio.h>

const char *schedule_name(Schedule schedule) {
    static const char *const NAMES[SCHEDULE_COUNT] = {"none", "1f1b", "interleaved"};
    return NAMES[schedule];
}

const char *context_method_name(ContextMethod method) {
    static const char *const NAMES[CONTEXT_COUNT] = {"none", "ring", "all_gather"};
    return NAMES[method];
}

const char *activation_name(Activation activation) {
    static const char *const NAMES[ACTIVATION_COUNT] = {"layer_input", "attention_input", "qkv",     "context",
                                                        "middle",      "mlp_input",       "gate_up", "product"};
    return NAMES[activation];
}

const char *activation_state_name(ActivationState state) {
    static const char *const NAMES[STATE_COUNT] = {"saved", "recomputed", "offloaded"};
    return NAMES[state];
}

const char *degrees_notation(const Degrees *degrees, bool brief, char *text) {
    /* The order in which people write them: what splits the batch first, what is dear to communicate last. */
    static const Role ORDER[ROLE_COUNT] = {ROLE_DATA,   ROLE_FSDP,   ROLE_SEQUENCE,
                                           ROLE_TENSOR, ROLE_EXPERT, ROLE_PIPELINE};
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < ROLE_COUNT; i++) {
        int64_t degree = degrees->of[ORDER[i]];
        if (brief && degree == 1) continue;
        used += (size_t)snprintf(text + used, NOTATION_SIZE - used, "%s%s=%" PRId64, used ? " " : "",
                                 role_name(ORDER[i]), degree);
    }
    if (used == 0) snprintf(text, NOTATION_SIZE, "one chip");
    return text;
}

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

int degrees_compare(const Degrees *a, const Degrees *b) {
    for (int i = 0; i < ROLE_COUNT; i++) {
        int order = compare(a->of[i], b->of[i]);
        if (order != 0) return order;
    }
    return 0;
}

int knobs_compare(const Knobs *a, const Knobs *b) {
    const int64_t pairs[][2] = {{a->schedule, b->schedule},
                                {a->virtual_stages, b->virtual_stages},
                                {a->microbatches, b->microbatches},
                                {a->microbatch_sequences, b->microbatch_sequences},
                                {a->zero_stage, b->zero_stage},
                                {a->context, b->context},
                                {b->regather, a->regather}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        int order = compare(pairs[i][0], pairs[i][1]);
        if (order != 0) return order;
    }
    return 0;
}

int placement_compare(const Placement *a, const Placement *b) {
    for (int axis = 0; axis < MESH_AXES_MAX; axis++)
        for (int role = 0; role < ROLE_COUNT; role++) {
            int order = compare(a->factor[axis][role], b->factor[axis][role]);
            if (order != 0) return order;
        }
    return 0;
}
