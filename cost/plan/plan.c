/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *schedule_name(Schedule schedule) {
    static const char *const NAMES[SCHEDULE_COUNT] = {"none",     "gpipe", "1f1b",    "interleaved",
                                                      "circular", "zb_h1", "dualpipe"};
    return NAMES[schedule];
}

const char *context_method_name(ContextMethod method) {
    static const char *const NAMES[CONTEXT_COUNT] = {"none", "ring", "all_gather", "ulysses", "ulysses_ring"};
    return NAMES[method];
}

const char *stage_split_name(StageSplit split) {
    return split == STAGES_SLOTS ? "slots" : split == STAGES_BALANCED ? "balanced" : "even";
}

const char *activation_name(Activation activation) {
    static const char *const NAMES[ACTIVATION_COUNT] = {"layer_input", "attention_input", "qkv",     "context",
                                                        "middle",      "mlp_input",       "gate_up", "product"};
    return NAMES[activation];
}

const char *activation_state_name(ActivationState state) {
    static const char *const NAMES[STATE_COUNT] = {"saved", "recomputed", "offloaded", "partly"};
    return NAMES[state];
}

const char *degrees_notation(const Degrees *degrees, bool brief, char *text) {
    /* The order in which people write roles: first those that split the batch, last those whose communication is
     * dear. */
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

const char *plan_notation(const Degrees *degrees, const Knobs *knobs, bool brief, char *text) {
    const ExpertGrid *grid = &knobs->methods.grid;
    degrees_notation(degrees, brief, text);
    if (grid->expert == 0) return text;
    /* The grid takes the place of the role, whose degree is 1 with a grid. */
    char *role = strstr(text, "expert=1");
    char tail[NOTATION_SIZE] = "";
    if (role) {
        snprintf(tail, sizeof(tail), "%s", role + strlen("expert=1"));
    } else {
        if (strcmp(text, "one chip") == 0) text[0] = '\0';
        role = text + strlen(text);
        if (role > text) *role++ = ' ';
    }
    size_t room = NOTATION_SIZE - (size_t)(role - text);
    if (grid->expert_tensor > 1)
        snprintf(role, room, "expert=%" PRId64 "(folded, expert_tensor=%" PRId64 ")%s", grid->expert,
                 grid->expert_tensor, tail);
    else
        snprintf(role, room, "expert=%" PRId64 "(folded)%s", grid->expert, tail);
    return text;
}

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_pairs(const int64_t (*pairs)[2], size_t count) {
    for (size_t i = 0; i < count; i++) {
        int order = compare(pairs[i][0], pairs[i][1]);
        if (order != 0) return order;
    }
    return 0;
}

int methods_compare(const Methods *a, const Methods *b) {
    const int64_t pairs[][2] = {{a->grid.expert, b->grid.expert},
                                {a->grid.expert_tensor, b->grid.expert_tensor},
                                {a->context, b->context},
                                {a->ulysses, b->ulysses},
                                {a->sequence_replicates, b->sequence_replicates},
                                {a->tensor_overlap, b->tensor_overlap}};
    return compare_pairs(pairs, sizeof(pairs) / sizeof(pairs[0]));
}

int knobs_compare(const Knobs *a, const Knobs *b) {
    const int64_t pairs[][2] = {{a->schedule, b->schedule},
                                {a->virtual_stages, b->virtual_stages},
                                {a->stages, b->stages},
                                {a->microbatches, b->microbatches},
                                {a->microbatch_sequences, b->microbatch_sequences},
                                {a->zero_stage, b->zero_stage},
                                {b->regather, a->regather},
                                {a->offload_optimizer, b->offload_optimizer}};
    int order = compare_pairs(pairs, sizeof(pairs) / sizeof(pairs[0]));
    return order != 0 ? order : methods_compare(&a->methods, &b->methods);
}

int placement_compare(const Placement *a, const Placement *b) {
    for (int axis = 0; axis < MESH_AXES_MAX; axis++)
        for (int role = 0; role < ROLE_COUNT; role++) {
            int order = compare(a->factor[axis][role], b->factor[axis][role]);
            if (order != 0) return order;
        }
    return 0;
}
