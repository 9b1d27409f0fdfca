/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/facts.h: the searches that pictures need around the search: how the answer moves with the machine, the
 * batch, the memory and the figures it rests on. All on machines like plan 1's own, with its order of roles. Pure. */
#ifndef SHARDOPT_SEARCH_REPORT_HTML_FACTS_H
#define SHARDOPT_SEARCH_REPORT_HTML_FACTS_H

#include "search/report/html/figures.h"
#include "search/answer/plan_words.h"
#include "search/report/report.h"

/* The best plan of a changed request, in short. */
typedef struct {
    bool asked;     /* false: there is no such machine */
    bool found;     /* false: no plan fits, or time was up */
    bool cut_short; /* a time limit ended it */
    int64_t chips;
    double tokens; /* of a step */
    double step_seconds, mfu, memory_bytes, limit_bytes;
    double training_seconds;
    char machine[96], plan[WORDS_SIZE];
} LookPoint;

enum { LOOK_LIMITS = 7, LOOK_SIZES = 5, LOOK_BATCHES = 3, LOOK_MOVES = 2 };
static const double LOOK_MOVE[LOOK_MOVES] = {0.9, 1.1}; /* of a figure */

/* What a figure 10% lower and 10% higher does. */
typedef struct {
    const char *name; /* "HBM bandwidth" */
    bool hardware;    /* of the catalog; else an efficiency or an overhead of the profile */
    struct {
        bool fits;       /* plan 1 as it is, with its layout */
        double repriced; /* its step over what it was, - 1 */
        bool searched;   /* false: asked of the plans that are shown alone */
        bool found;
        double relative; /* the best step then, over plan 1's as it was, - 1 */
        bool changed;    /* it has other degrees, schedule or expert grid than plan 1 */
        char winner[WORDS_SIZE];
    } at[LOOK_MOVES];
} LookFigure;
enum { LOOK_FIGURES_MAX = 40 };

/* What would make a plan win that does not: one figure, moved as little as can be. */
typedef struct {
    const char *name; /* of the figure; NULL: none within half to twice does, all else as it is */
    double factor;    /* times the figure */
    int others;       /* further figures that do it too */
} LookMiss;
enum { LOOK_MISSES_MAX = 9 };

typedef struct {
    LookPoint memory[LOOK_LIMITS]; /* HBM limits, falling; the first is as asked */
    LookPoint size[LOOK_SIZES][LOOK_BATCHES];
    double size_factor[LOOK_SIZES], batch_factor[LOOK_BATCHES];
    LookFigure figures[LOOK_FIGURES_MAX];
    int figure_count;
    LookMiss misses[LOOK_MISSES_MAX]; /* of plans 2, 3, ... */
    int miss_count;
    bool thin;      /* a large search: the machine halved and doubled, one batch, no efficiencies */
    bool cut_short; /* a time limit ended some */
} LookFacts;

/* Told before each handful of searches; NULL: nobody listens. */
typedef struct {
    void (*tell)(void *of, const char *what, int done, int all);
    void *of;
} LookProgress;

/* Of a report with plans; one without has no facts (*out all zero). `report`: its time that is left is used up. */
bool look_facts(Report *report, LookProgress progress, LookFacts *out, Error *error);

#endif
