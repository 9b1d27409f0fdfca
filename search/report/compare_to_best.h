/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/compare_to_best.h: why one plan is not the best: how much slower it is, which terms of its step are
 * longer, and which single change would gain most. */
#pragma once

#include "base/text/terminal.h"
#include "search/answer/plan_words.h"
#include "search/report/report.h"

/* In the order of what they ask of the people who launch the plan. */
typedef enum { CHANGE_KNOB, CHANGE_REMAT, CHANGE_PLACEMENT, CHANGE_DEGREES } ChangeKind;
const char *change_kind_name(ChangeKind kind); /* "knob" "remat" "placement" "degrees" */

enum { CHANGE_TEXT_SIZE = 240, CHANGES_MAX = 64, COMPARE_ROWS_MAX = 10, PATH_MAX = 5 };

/* One change, and what else has to change with it, which is chosen best. */
typedef struct {
    ChangeKind kind;
    char text[CHANGE_TEXT_SIZE]; /* "tensor 8 to 4, fsdp 64 to 128" */
    RankedPlan after;
    bool suffices; /* it is within TIE of the best */
} Change;

typedef struct BestComparison {
    /* HBM of a chip that the plan needs beyond what is available, by this model: it was priced as if it were available.
     * 0 means that it fits. The command sets it. */
    double lacking_bytes;
    /* no plan of the request is faster, and the rest is empty */
    bool is_best;
    RankedPlan best; /* plan 1 of the request, where one is faster */
    double behind;   /* ranked seconds over those of the best - 1 */
    /* rows of the request (degrees and schedule, each with its best knobs) that are faster; COMPARE_ROWS_MAX means at
     * least as many */
    int faster;
    bool cut_short;                /* the search for the best ended early: there may be better plans */
    TermPair terms[2 * TERMS_MAX]; /* of the best (first) and of this plan (second), the one that loses most first */
    int term_count;
    int tried;       /* single changes */
    Change *changes; /* the changes that gain, sorted by their gain, in the arena; NULL means that none does */
    int change_count;
    /* If no single change suffices: changes made one after the other, each time the one that gains most, until one
     * suffices or none gains any more. The first is changes[0]. */
    Change *path;
    int path_count;
    int smallest; /* index into `changes`: among those that suffice the one that changes least, else the one that gains
                   * most; -1 means that none gains */
} BestComparison;

/* Compares `here` with the best. `plan` is the request that `here` answers, all of it required; `open` is the same with
 * nothing of it required. The changes tried are: one knob set to another value, recomputation as in `open`, roles
 * placed differently, and the smallest prime factor of one degree moved to another role. Each is a search with all the
 * rest required. A search that does not find even `here` is a defect, and an error (search/answer/contradiction.h). */
bool compare_to_best(const Request *open, const Request *plan, const RankedPlan *here, Arena *arena,
                     BestComparison *out, Error *error);

/* "Why not this plan" as text, and as `comparison` of the JSON report. False: memory is out. */
bool compare_to_best_write(const BestComparison *comparison, const RankedPlan *here, TextOut out);
bool compare_to_best_add_json(const BestComparison *comparison, cJSON *to);
