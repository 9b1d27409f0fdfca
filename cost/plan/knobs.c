/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/plan/knobs.h"

#include "base/number.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

/* ---- where each stands in a plan ---- */

#define FIELD(name, field, type)                                                                                       \
    static int64_t get_##name(const Knobs *knobs) { return (int64_t)knobs->field; }                                    \
    static void set_##name(Knobs *knobs, int64_t setting) { knobs->field = (type)setting; }

FIELD(microbatches, microbatches, int64_t)
FIELD(microbatch_sequences, microbatch_sequences, int64_t)
FIELD(schedule, schedule, Schedule)
FIELD(virtual_stages, virtual_stages, int64_t)
FIELD(zero_stage, zero_stage, int)
FIELD(context_method, methods.context, ContextMethod)
FIELD(regather, regather, bool)
FIELD(stages, stages, StageSplit)
FIELD(sequence_parameters, methods.sequence_replicates, bool)
FIELD(tensor_overlap, methods.tensor_overlap, bool)
FIELD(offload_optimizer, offload_optimizer, bool)
FIELD(folded_expert, methods.grid.expert, int64_t)
FIELD(folded_expert_tensor, methods.grid.expert_tensor, int64_t)

/* No chips exchange heads: 0 and 1 mean the same. */
static int64_t get_ulysses(const Knobs *knobs) { return max_whole(1, knobs->methods.ulysses); }
static void set_ulysses(Knobs *knobs, int64_t setting) { knobs->methods.ulysses = setting; }

/* ---- names of settings ---- */

static const char *stages_at(int64_t i) { return stage_split_name((StageSplit)i); }
static const char *parameters_at(int64_t i) { return i ? "replicated" : "sharded"; }
static const char *schedule_at(int64_t i) { return schedule_name((Schedule)i); }
static const char *context_at(int64_t i) { return context_method_name((ContextMethod)i); }
static const char *bool_at(int64_t i) { return i ? "true" : "false"; }

#define KNOB_MOST (INT64_C(1) << 31) /* of what has no limit of its own */

/* `name` NULL means a number from `least` to `most`; otherwise there are `count` names. */
static const struct {
    const char *word, *brief;
    int64_t (*get)(const Knobs *knobs);
    void (*set)(Knobs *knobs, int64_t setting);
    const char *(*name)(int64_t setting);
    int64_t count, least, most;
} KNOBS[KNOB_COUNT] = {
    [KNOB_MICROBATCHES] = {"microbatches", .get = get_microbatches, .set = set_microbatches, .least = 1,
                           .most = KNOB_MOST},
    [KNOB_MICROBATCH_SEQUENCES] = {"microbatch_sequences", .get = get_microbatch_sequences,
                                   .set = set_microbatch_sequences, .least = 1, .most = KNOB_MOST},
    [KNOB_SCHEDULE] = {"schedule", .get = get_schedule, .set = set_schedule, .name = schedule_at,
                       .count = SCHEDULE_COUNT},
    [KNOB_VIRTUAL_STAGES] = {"virtual_stages", .get = get_virtual_stages, .set = set_virtual_stages, .least = 1,
                             .most = KNOB_MOST},
    [KNOB_ZERO_STAGE] = {"zero_stage", .brief = "zero", .get = get_zero_stage, .set = set_zero_stage, .least = 0,
                         .most = 2},
    [KNOB_CONTEXT_METHOD] = {"context_method", .brief = "context", .get = get_context_method, .set = set_context_method,
                             .name = context_at, .count = CONTEXT_COUNT},
    [KNOB_REGATHER] = {"regather", .get = get_regather, .set = set_regather, .name = bool_at, .count = 2},
    [KNOB_STAGES] = {"stages", .get = get_stages, .set = set_stages, .name = stages_at, .count = 3},
    [KNOB_ULYSSES] = {"ulysses", .get = get_ulysses, .set = set_ulysses, .least = 1, .most = KNOB_MOST},
    [KNOB_SEQUENCE_PARAMETERS] = {"sequence_parameters", .get = get_sequence_parameters, .set = set_sequence_parameters,
                                  .name = parameters_at, .count = 2},
    [KNOB_TENSOR_OVERLAP] = {"tensor_overlap", .brief = "overlap", .get = get_tensor_overlap, .set = set_tensor_overlap,
                             .name = bool_at, .count = 2},
    [KNOB_OFFLOAD_OPTIMIZER] = {"offload_optimizer", .get = get_offload_optimizer, .set = set_offload_optimizer,
                                .name = bool_at, .count = 2},
    [KNOB_FOLDED_EXPERT] = {"folded_expert", .brief = "folded", .get = get_folded_expert, .set = set_folded_expert,
                            .least = 0, .most = KNOB_MOST},
    [KNOB_FOLDED_EXPERT_TENSOR] = {"folded_expert_tensor", .brief = "expert_tensor", .get = get_folded_expert_tensor,
                                   .set = set_folded_expert_tensor, .least = 0, .most = KNOB_MOST},
};

const char *knob_name(Knob knob) { return KNOBS[knob].word; }

bool knob_has_names(Knob knob) { return KNOBS[knob].name != NULL; }

Knob knob_find(const char *name) {
    for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++)
        if (strcmp(name, KNOBS[knob].word) == 0 || (KNOBS[knob].brief && strcmp(name, KNOBS[knob].brief) == 0))
            return knob;
    return KNOB_NONE;
}

int64_t knob_setting(Knob knob, const Knobs *knobs) { return KNOBS[knob].get(knobs); }

void knob_set(Knob knob, int64_t setting, Knobs *knobs) { KNOBS[knob].set(knobs, setting); }

bool knob_takes(Knob knob, int64_t setting) {
    if (KNOBS[knob].name) return setting >= 0 && setting < KNOBS[knob].count;
    return setting >= KNOBS[knob].least && setting <= KNOBS[knob].most;
}

bool knob_parse(Knob knob, const char *text, const char *where, int64_t *out, Error *error) {
    char all[128] = "";
    if (!KNOBS[knob].name) {
        Error wrong = {0};
        return number_whole(text, where, KNOBS[knob].least, KNOBS[knob].most, out, &wrong) ||
               error_set(error, wrong.kind, where, "%s: %s", KNOBS[knob].word, wrong.text);
    }
    for (int64_t i = 0; i < KNOBS[knob].count; i++) {
        size_t length = strlen(all);
        *out = i;
        if (strcmp(text, KNOBS[knob].name(i)) == 0) return true;
        snprintf(all + length, sizeof all - length, "%s%s",
                 i == 0                      ? ""
                 : i + 1 < KNOBS[knob].count ? ", "
                                             : " or ",
                 KNOBS[knob].name(i));
    }
    return error_set(error, ERROR_INPUT, where, "%s \"%.24s\" does not exist; give %s", KNOBS[knob].word, text, all);
}

const char *knob_text(Knob knob, int64_t setting, char text[KNOB_TEXT_SIZE]) {
    if (KNOBS[knob].name)
        snprintf(text, KNOB_TEXT_SIZE, "%s", KNOBS[knob].name(setting));
    else
        snprintf(text, KNOB_TEXT_SIZE, "%lld", (long long)setting);
    return text;
}
