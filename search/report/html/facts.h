/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/facts.h: the searches that pictures need around the search: how the answer moves with the machine,
 * the batch, the memory and the figures it rests on. All on machines like plan 1's own, with its order of roles.
 * Pure. */
#pragma once

#include "base/text/prose.h"
#include "search/answer/plan_words.h"
#include "search/report/report.h"
#include "search/report/side_searches.h"

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

/* figures.c: every figure that an answer rests on, and how a request is with one of them moved. */

/* Figures of the chip first (rates of links with their efficiencies, of which they are products), then those of the
 * profile, which its own table lists. */
int page_figure_count(void);
const char *page_figure_name(const Request *request, int figure); /* "ICI bandwidth", "matrix_efficiency" */
bool page_figure_of_chip(int figure);

/* Whether no plan is faster, and none fits that did not, with the figure times `factor`; false: it is not known. */
bool page_figure_worsens(int figure, double factor);
/* Whether a tenth more of the figure is what a report computes as its sensitivities. */
bool page_figure_of_help(int figure, Help help);
/* Whether no plan of the request is other than before, however the figure is. */
bool page_figure_is_idle(const Request *request, int figure);

/* Times `factor`, shares held below 1. False: the machine has no such figure, or it does not move. */
bool page_figure_move(Request *request, int figure, double factor);

/* The plan as it is, its layout kept, under another request for the same model: its seconds. *fits: in HBM too. False:
 * it cannot be used there. */
bool page_reprice(const Request *changed, const RankedPlan *ranked, double *seconds, bool *fits);

/* asking.c: the searches of a page, in handfuls, as long as it costs no more than its plan did. */

/* Where an answer goes: to a point, or to a figure's move. */
typedef struct {
    PagePart part;
    PagePoint *point;
    PageFigure *figure;
    int move;
} AnswerOf;

typedef struct {
    Report *report;
    const RankedPlan *first;
    /* What a search for the request on plan 1's machine would answer; NULL: that is not known without one. */
    const RankedPlan *nominal;
    PageProgress progress;
    PageFacts *out;
    SideSearch *questions; /* QUESTIONS_MAX of them */
    AnswerOf of[QUESTIONS_MAX];
    int pending;
    int done, all;
    Request *scratch;
    RankedPlan *moved;        /* scratch too */
    struct CachePool *caches; /* of these searches: that of the plan's may be closed */
    bool limited;
    int64_t allowance; /* what is left of it: search_effort() */
    int64_t spent[PAGE_PARTS];
    int requested[PAGE_PARTS];
} Asking;

/* What it makes lives in `arena`, until page_asking_end(). */
bool page_asking_begin(Report *report, PageProgress progress, Arena *arena, PageFacts *out, Asking *asking,
                       Error *error);
void page_asking_end(Asking *asking);

/* The request on the machine of a plan, to be changed. */
void page_request_on(const Asking *asking, const RankedPlan *ranked, Request *out);

/* The next question, to be changed: on plan 1's machine. What is pending may run before it. *question NULL: it is
 * left out, and counted, since the page took as much as it may. */
bool page_next_question(Asking *asking, AnswerOf of, SideSearch **question, Error *error);
/* Asks what is pending. */
bool page_ask_pending(Asking *asking, Error *error);

/* An answer that is known without a search. */
void page_take(Asking *asking, AnswerOf of, const RankedPlan *best);
