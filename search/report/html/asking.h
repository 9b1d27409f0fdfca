/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/asking.h: the searches of a page, in handfuls, as long as it costs no more than its plan did.
 * Internal to facts.c. */
#pragma once

#include "search/report/html/facts.h"
#include "search/report/side_searches.h"

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
