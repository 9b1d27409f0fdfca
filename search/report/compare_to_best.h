/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/compare_to_best.h: why one plan is not the best: how far behind it is, which terms of its step are longer, and which
 * single change would gain most. */
#ifndef SHARDOPT_SEARCH_REPORT_COMPARE_TO_BEST_H
#define SHARDOPT_SEARCH_REPORT_COMPARE_TO_BEST_H

#include "base/text/terminal.h"
#include "search/answer/plan_words.h"
#include "search/report/report.h"

/* In order of what they ask of the people who launch it. */
typedef enum { CHANGE_KNOB, CHANGE_REMAT, CHANGE_PLACEMENT, CHANGE_DEGREES } ChangeKind;
const char *change_kind_name(ChangeKind kind); /* "knob" "remat" "placement" "degrees" */

enum { CHANGE_TEXT_SIZE = 240, CHANGES_MAX = 64, COMPARE_ROWS_MAX = 10, PATH_MAX = 5 };
/* Share of a step that is no more than the model can tell. */
static const double COMPARE_TIE = 0.005;

/* One change, and what else has to change with it, which is chosen best. */
typedef struct {
    ChangeKind kind;
    char text[CHANGE_TEXT_SIZE]; /* "tensor 8 to 4, fsdp 64 to 128" */
    RankedPlan after;
    bool suffices; /* it is within COMPARE_TIE of the best */
} Change;

typedef struct BestComparison {
    /* HBM of a chip that the plan needs beyond what there is, by this model: it was priced as if it were there; 0: it fits.
     * Set by the command. */
    double lacking_bytes;
    /* no plan of the request is faster: the rest is empty */
    bool is_best;
    RankedPlan best; /* plan 1 of the request, where one is faster */
    double behind;   /* ranked seconds over those of the best - 1 */
    /* rows of the request (degrees and schedule, each with its best knobs) that are faster; COMPARE_ROWS_MAX: at least */
    int faster;
    bool cut_short;                /* a time limit ended the search for the best: there may be better ones */
    TermPair terms[2 * TERMS_MAX]; /* of the best (first) and of this plan (second), the one that loses most first */
    int term_count;
    int tried;       /* single changes */
    Change *changes; /* of these that gain, by what they gain; NULL: none does. In the arena */
    int change_count;
    /* Where no single change suffices: one after the other the one that gains most, up to one that suffices, or that gains
     * nothing any more; the first is changes[0]. */
    Change *path;
    int path_count;
    int smallest; /* of `changes`: of those that suffice the one that asks least, else that gains most; -1: none gains */
} BestComparison;

/* `plan`: the request that `here` is the answer to, all of it required; `open`: the same with nothing of it required. What
 * is tried: one knob set otherwise, recomputation as `open` has it, roles placed otherwise, and the smallest prime factor
 * of one degree moved to another role. Each is a search with all the rest required. */
bool compare_to_best(const Request *open, const Request *plan, const RankedPlan *here, Arena *arena,
                     BestComparison *out, Error *error);

/* "Why not this plan" as text, and as `comparison` of the JSON report. False: memory is out. */
bool compare_to_best_write(const BestComparison *comparison, const RankedPlan *here, TextOut out);
bool compare_to_best_add_json(const BestComparison *comparison, cJSON *to);

#endif
