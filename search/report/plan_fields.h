/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/plan_fields.h: the figures of one plan, each said once (base/text/field.h): JSON, CSV, the library,
 * `diff` and `check`, docs/json.md and docs/schema read this table. A new figure is a row and, where it has to be
 * computed, its getter. */
#pragma once

#include "base/text/field.h"
#include "search/answer/plan_words.h"
#include "search/launch/launcher.h"

/* One plan with all that its figures are got from. Texts lie in it: it is not to be copied. */
typedef struct {
    const Request *request; /* that it answers */
    RankedPlan plan;
    Training training;
    Failing failing;
    int64_t rank, tokens, chips_idle, zero_stage, ulysses;
    double total_bytes, peak_flops, tokens_per_second;
    double adapters_bytes, quantised_bytes;                                           /* below 0: no fine-tuning */
    double host_bytes, host_limit_bytes;                                              /* below 0: nothing is there */
    double played, likely_low, likely_high, fits, best_chance, deviation, unmeasured; /* below 0: not known */
    double expected_seconds, expected_usd, reserved_usd; /* of the training, with failures where they are known */
    double exposed[ROLE_COUNT];
    const char *notation, *launcher, *schedule, *remat, *context, *stages, *sequence, *bound_by, *bound_next;
    const char *convention, *unmeasured_figure, *stack, *label, *launchers, *padding, *model, *chip, *machine, *odd,
        *words;
    struct {
        char notation[NOTATION_SIZE], remat[REMAT_TEXT_SIZE], label[WORDS_SIZE], launchers[WORDS_SIZE],
            padding[WORDS_SIZE];
        Prose odd, words;
    } text;
} PlanRecord;

/* The only launcher that a request is for; NULL: any, or several. */
const Launcher *launcher_of(const Request *request);

void plan_record(const Request *request, const RankedPlan *ranked, int rank, PlanRecord *out);

extern const Field PLAN_FIELDS[]; /* of PlanRecord, in the order of JSON */
