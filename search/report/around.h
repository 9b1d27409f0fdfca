/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/around.h: the searches around a search: how the answer moves with the machine, the batch, the memory
 * and the figures it rests on. All on machines like plan 1's own, with its order of roles. Pure. */
#pragma once

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
} AroundPoint;

enum { AROUND_LIMITS = 7, AROUND_SIZES = 5, AROUND_BATCHES = 3, AROUND_MOVES = 2 };
static const double AROUND_MOVE[AROUND_MOVES] = {0.9, 1.1}; /* of a figure */

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
    } at[AROUND_MOVES];
} AroundFigure;
enum { AROUND_FIGURES_MAX = SET_FIGURES_MAX + 16 }; /* at least around_figure_count() */

/* What would make a plan win that does not: one figure, moved as little as can be. */
typedef struct {
    int rank;         /* of a plan that is slower than plan 1 */
    const char *name; /* of the figure; NULL: none within half to twice does, all else as it is */
    double factor;    /* times the figure */
    int others;       /* further figures that do it too */
} NearMiss;
enum { NEAR_MISSES_MAX = 9 };

/* The parts that rest on searches. */
typedef enum { AROUND_MEMORY, AROUND_SCALING, AROUND_SENSITIVITY, AROUND_PARTS } AroundPart;

typedef struct Around {
    AroundPoint memory[AROUND_LIMITS]; /* HBM limits, falling; the first is as requested */
    AroundPoint size[AROUND_SIZES][AROUND_BATCHES];
    double size_factor[AROUND_SIZES], batch_factor[AROUND_BATCHES];
    AroundFigure figures[AROUND_FIGURES_MAX];
    int figure_count;
    NearMiss misses[NEAR_MISSES_MAX];
    int miss_count;
    bool thin;                  /* a large search: the machine halved and doubled, one batch, no efficiencies */
    bool cut_short;             /* a time limit ended some */
    int left_out[AROUND_PARTS]; /* searches that would have cost more than the plan: --sensitivity all makes them */
} Around;

/* Expressible before each handful of searches; NULL: nobody listens. */
typedef struct {
    void (*tell)(void *of, const char *what, int done, int all);
    void *of;
} AroundProgress;

/* Of a report with plans; without, nothing is around it (*out all zero). `report`: its time that is left is used up.
 *
 * What the report's own searches answered is not searched again. With --sensitivity fast what matters most is searched
 * first, and as much of it as takes no more work than the plan did; with all, all; with none nothing, so that figures
 * have what plan 1 takes unchanged. */
bool around_make(Report *report, AroundProgress progress, Around *out, Error *error);
/* The same as report->around, in the arena. */
bool report_make_around(Report *report, AroundProgress progress, Arena *arena, Error *error);

/* around_figures.c: every figure that an answer rests on, and how a request is with one of them moved. */

/* Figures of the chip first (rates of links with their efficiencies, of which they are products), then those of the
 * profile, which its own table lists. */
int around_figure_count(void);
const char *around_figure_name(const Request *request, int figure); /* "ICI bandwidth", "matrix_efficiency" */
bool around_figure_of_chip(int figure);

/* Whether no plan is faster, and none fits that did not, with the figure times `factor`; false: it is not known. */
bool around_figure_worsens(int figure, double factor);
/* Whether a tenth more of the figure is what a report computes as its sensitivities. */
bool around_figure_of_help(int figure, Help help);
/* Whether no plan of the request is other than before, however the figure is. */
bool around_figure_is_idle(const Request *request, int figure);

/* Times `factor`, shares held below 1. False: the machine has no such figure, or it does not move. */
bool around_figure_move(Request *request, int figure, double factor);

/* The plan as it is, its layout kept, under another request for the same model: its seconds. *fits: in HBM too. False:
 * it cannot be used there. */
bool around_reprice(const Request *changed, const RankedPlan *ranked, double *seconds, bool *fits);

/* around_ask.c: the searches, in handfuls, as long as they cost no more than the plan did. */

/* Where an answer goes: to a point, or to a figure's move. */
typedef struct {
    AroundPart part;
    AroundPoint *point;
    AroundFigure *figure;
    int move;
} AnswerOf;

typedef struct {
    Report *report;
    const RankedPlan *first;
    /* What a search for the request on plan 1's machine would answer; NULL: that is not known without one. */
    const RankedPlan *nominal;
    AroundProgress progress;
    Around *out;
    SideSearch *questions; /* QUESTIONS_MAX of them */
    AnswerOf of[QUESTIONS_MAX];
    int pending;
    int done, all;
    Request *scratch;
    RankedPlan *moved;        /* scratch too */
    struct CachePool *caches; /* of these searches: that of the plan's may be closed */
    bool limited;
    int64_t allowance; /* what is left of it: search_effort() */
    int64_t spent[AROUND_PARTS];
    int requested[AROUND_PARTS];
} Asking;

/* What it makes lives in `arena`, until around_asking_end(). */
bool around_asking_begin(Report *report, AroundProgress progress, Arena *arena, Around *out, Asking *asking,
                         Error *error);
void around_asking_end(Asking *asking);

/* The request on the machine of a plan, to be changed. */
void around_request_on(const Asking *asking, const RankedPlan *ranked, Request *out);

/* The next question, to be changed: on plan 1's machine. What is pending may run before it. *question NULL: it is
 * left out, and counted, since the searches took as much as they may. */
bool around_next_question(Asking *asking, AnswerOf of, SideSearch **question, Error *error);
/* Asks what is pending. */
bool around_ask_pending(Asking *asking, Error *error);

/* An answer that is known without a search. */
void around_take(Asking *asking, AnswerOf of, const RankedPlan *best);
