/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/facts.h: the searches that pictures need around the search: how the answer moves with the machine,
 * the batch, the memory and the figures it rests on. All on machines like plan 1's own, with its order of roles.
 * Pure. */
#pragma once

#include "base/text/prose.h"
#include "search/answer/plan_words.h"
#include "search/report/html/figures.h"
#include "search/report/report.h"

/* The best plan of a changed request, in short. */
typedef struct {
    bool requested; /* false: there is no such machine */
    bool found;     /* false: no plan fits, or time was up */
    bool cut_short; /* a time limit ended it */
    int64_t chips;
    double tokens; /* of a step */
    double step_seconds, mfu, memory_bytes, limit_bytes;
    double training_seconds;
    char machine[96], plan[WORDS_SIZE];
} PagePoint;

enum { PAGE_LIMITS = 7, PAGE_SIZES = 5, PAGE_BATCHES = 3, PAGE_MOVES = 2 };
static const double PAGE_MOVE[PAGE_MOVES] = {0.9, 1.1}; /* of a figure */

/* What a figure 10% lower and 10% higher does. */
typedef struct {
    const char *name; /* "HBM bandwidth" */
    bool hardware;    /* of the catalog; else an efficiency or an overhead of the profile */
    struct {
        bool fits;       /* plan 1 as it is, with its layout */
        double repriced; /* its step over what it was, - 1 */
        bool searched;
        bool found;
        bool shown;      /* not searched: what follows is of the plans of the report alone, with their layouts */
        double relative; /* the best step then, over plan 1's as it was, - 1 */
        bool changed;    /* it has other degrees, schedule or expert grid than plan 1 */
        char winner[WORDS_SIZE];
    } at[PAGE_MOVES];
} PageFigure;
enum { PAGE_FIGURES_MAX = SET_FIGURES_MAX + 16 }; /* not less than page_figure_count(): those of a profile and a chip */

/* What would make a plan win that does not: one figure, moved as little as can be. */
typedef struct {
    const char *name; /* of the figure; NULL: none within half to twice does, all else as it is */
    double factor;    /* times the figure */
    int others;       /* further figures that do it too */
} NearMiss;
enum { NEAR_MISSES_MAX = 9 };

/* The pictures that rest on searches. */
typedef enum { PAGE_MEMORY, PAGE_SCALING, PAGE_SENSITIVITY, PAGE_PARTS } PagePart;

typedef struct {
    PagePoint memory[PAGE_LIMITS]; /* HBM limits, falling; the first is as requested */
    PagePoint size[PAGE_SIZES][PAGE_BATCHES];
    double size_factor[PAGE_SIZES], batch_factor[PAGE_BATCHES];
    PageFigure figures[PAGE_FIGURES_MAX];
    int figure_count;
    NearMiss misses[NEAR_MISSES_MAX]; /* of plans 2, 3, ... */
    int miss_count;
    bool thin;      /* a large search: the machine halved and doubled, one batch, no efficiencies */
    bool cut_short; /* a time limit ended some */
    int left_out
        [PAGE_PARTS]; /* searches that would have cost the page more than its plan: --sensitivity all makes them */
} PageFacts;

/* Expressible before each handful of searches; NULL: nobody listens. */
typedef struct {
    void (*tell)(void *of, const char *what, int done, int all);
    void *of;
} PageProgress;

/* Of a report with plans; one without has no facts (*out all zero). `report`: its time that is left is used up.
 *
 * What the report's own searches answered is not searched again. With --sensitivity fast what matters most is searched
 * first, and as much of it as takes no more work than the plan did; with all, all; with none nothing, so that figures
 * have what plan 1 takes unchanged. */
bool page_facts(Report *report, PageProgress progress, PageFacts *out, Error *error);

/* Says how many searches a picture has to do without, if any. */
void page_say_left_out(const PageFacts *facts, PagePart part, Prose *words);
