/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/knobs.h: the knobs of a plan that people can ask for, by the names that reports give them: in
 * --require, in `explain --plan`, in a report that is read back and in a launch configuration. Pure. */
#pragma once

#include "base/error.h"
#include "cost/plan/plan.h"

/* To add one: a member here, and a row in knobs.c. */
typedef enum {
    KNOB_NONE, /* not a knob: what a condition on a role has */
    KNOB_MICROBATCHES,
    KNOB_MICROBATCH_SEQUENCES,
    KNOB_SCHEDULE,
    KNOB_VIRTUAL_STAGES,
    KNOB_ZERO_STAGE,
    KNOB_CONTEXT_METHOD,
    KNOB_REGATHER,
    KNOB_STAGES,
    KNOB_ULYSSES,
    KNOB_SEQUENCE_PARAMETERS,
    KNOB_TENSOR_OVERLAP,
    KNOB_OFFLOAD_OPTIMIZER,
    KNOB_FOLDED_EXPERT,
    KNOB_FOLDED_EXPERT_TENSOR,
    KNOB_COUNT
} Knob;

/* A bit for each knob, 1 << KNOB_... */
typedef unsigned KnobSet;

/* In all that follows `knob` is none of KNOB_NONE and KNOB_COUNT. A setting is a number: the knob's own, the index of
 * its name, or 0 and 1 for false and true. */

const char *knob_name(Knob knob); /* "microbatches" */

/* Whether its settings are names, which have no order; otherwise they are numbers. */
bool knob_has_names(Knob knob);

/* The knob of that name, or of its short one ("zero", "context"); KNOB_NONE if there is none. */
Knob knob_find(const char *name);

/* Its setting in a plan; and the way back, which expects a setting that the knob has. */
int64_t knob_setting(Knob knob, const Knobs *knobs);
void knob_set(Knob knob, int64_t setting, Knobs *knobs);

/* Whether a number is one of its settings. */
bool knob_takes(Knob knob, int64_t setting);

/* The setting that `text` names: a number in the knob's range, a name, true or false. False: *error says what the knob
 * takes; `where` names the text. */
bool knob_parse(Knob knob, const char *text, const char *where, int64_t *out, Error *error);

enum { KNOB_TEXT_SIZE = 24 };
/* The way back: "8", "1f1b", "true". Returns `text`. */
const char *knob_text(Knob knob, int64_t setting, char text[KNOB_TEXT_SIZE]);
