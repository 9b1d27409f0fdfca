/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/baseline/baseline_check.h: plans held against a baseline: what got worse, by how much, and because of what.
 * Pure but for the streams that writers are given. */
#pragma once

#include "base/text/terminal.h"
#include "search/baseline/snapshot.h"

/* How much worse is still as good: a share for each of the `checked` figures of the reports' kind. */
typedef struct {
    double of[CHECKED_FIGURES];
} Tolerance;

/* "1%" or "0.01"; a number above 1 is to have its sign. */
bool share_parse(const char *text, const char *where, double *out, Error *error);

/* "1%", of all three; or some of them by their keys: "step=1%,memory=5%", which leaves the others as they are. */
bool tolerance_parse(const char *text, const char *where, Tolerance *out, Error *error);

typedef enum {
    STATUS_SAME,
    STATUS_BETTER,
    STATUS_WORSE,
    STATUS_ERROR, /* cannot be planned any more */
    STATUS_NEW,   /* the baseline has no plan of it yet */
    STATUS_COUNT
} BaselineStatus;
const char *baseline_status_name(BaselineStatus status); /* "same" "better" "worse" "error" "new" */

typedef struct {
    double was, now;
    double change; /* of what it is judged by: now / was - 1, whichever way is good */
    bool worse, better;
} FigureChange;

/* An input of an answer that differs between two reports. */
enum { CAUSES_MAX = 9, CAUSE_SIZE = 896 };
typedef struct {
    const char *kind;      /* "request" (edited in the baseline), "model", "chip", "profile", "optimizer", "data" (some
                            * file: the baseline does not say which), "version" and "program" (the same version, and
                            * nothing else changed), "time_limit" */
    const char *what;      /* "the program"; NULL: its file */
    char file[192];        /* "mesh/catalog/tpu-v5e.json"; "": none */
    char text[CAUSE_SIZE]; /* a clause: "mesh/catalog/tpu-v5e.json changed (links of x, y 45.0 GB/s -> 36.0 GB/s)" */
} Cause;

/* What differs of the data and the program that two reports rest on, behind that the request was `edited`. At least one
 * cause where something `moved`. Returns how many. */
int causes_find(const Snapshot *was, const Snapshot *now, bool edited, bool moved, Cause out[CAUSES_MAX]);
void causes_add_json(cJSON *to, const Cause *causes, int count); /* to a list */

/* The price today of the baseline's plan, which is computed if another plan took its place. */
typedef enum { OLD_PLAN_NOT_ASKED, OLD_PLAN_PRICED, OLD_PLAN_TOO_LARGE, OLD_PLAN_NONE } OldPlan;

typedef struct {
    const char *name;  /* "llama3.1-8b on 4x4 of tpu-v5e, 256Ki tokens, seq 4096" */
    Snapshot was, now; /* now.report is NULL for STATUS_ERROR */
    cJSON *own[2];     /* the documents behind them that the check made: its owner deletes them; NULL: none */
    bool edited;       /* another request than `was` was made for */
    bool has_was;      /* false for STATUS_NEW and for errors of new entries */
    BaselineStatus status;
    FigureChange figures[CHECKED_FIGURES]; /* where both have a plan */
    bool lost_plan, lost_proof, found_plan, found_proof;
    bool same_plan;
    OldPlan old_plan;
    double old_plan_seconds; /* of OLD_PLAN_PRICED */
    char message[640];       /* of STATUS_ERROR */
    bool undecided;          /* a launched plan: a limit ended the search before it was known */
    const char *file;        /* the launch file of a launched plan; NULL: it has none */
    int64_t line;            /* of its key to change first; 0: not known */
} CheckedEntry;

/* Whether there are two plans to compare. */
static inline bool baseline_has_both(const CheckedEntry *entry) {
    return entry->has_was && entry->was.plan_count > 0 && entry->now.plan_count > 0;
}

/* The causes of what moved, as causes_find() has them. */
int baseline_causes(const CheckedEntry *entry, Cause out[CAUSES_MAX]);

/* Fills what can be said from the two reports. entry->has_was, was, now and message are given. */
void baseline_compare(const Tolerance *tolerance, CheckedEntry *entry);

/* A whole check, or one plan that is launched. */
typedef struct {
    const char *baseline; /* the file; NULL means that a launched plan is compared with the best, which is `was` */
    Tolerance tolerance;  /* of a launched plan .of[0]: --within */
    const CheckedEntry *entries;
    int count;
    bool updated; /* the baseline was rewritten */
    const char *version, *data_sha256;
} BaselineCheck;

const ReportKind *baseline_kind(const BaselineCheck *check); /* of its entries, which are of one */
int baseline_count(const BaselineCheck *check, BaselineStatus status);
bool baseline_passes(const BaselineCheck *check);

/* ---- words.c: one entry, in sentences without a full stop; empty where there is nothing to say */
typedef enum {
    BASELINE_WHAT,  /* "step 1.843 s -> 1.921 s (+4.2%), MFU 43.1% -> 41.3% (-4.2%), ..." */
    BASELINE_CAUSE, /* "mesh/catalog/tpu-v5e.json changed (...)" */
    BASELINE_TERMS, /* "fsdp +80.1 ms, matmul -2.00 ms" */
    BASELINE_PLAN,  /* "fsdp=16 -> fsdp=8 tensor=2, ..." */
    BASELINE_LINES
} BaselineLine;
typedef struct {
    Prose line[BASELINE_LINES];
} BaselineWords;
const char *baseline_heading(BaselineLine line); /* what stands before it: "because: "; "" for BASELINE_WHAT */
/* "+1.03%", "-12.4%", "+0.03%": three digits, since a tolerance may be passed by little. Into `text` of
 * NUMBER_TEXT_SIZE bytes, returned. */
const char *baseline_change_text(double change, char *text);
void baseline_words(const BaselineCheck *check, const CheckedEntry *entry, BaselineWords *out);

/* The answer in a sentence, and what to do next. */
void baseline_headline(const BaselineCheck *check, Prose *out);
void baseline_hint(const BaselineCheck *check, Prose *out);

/* ---- write.c */
typedef enum { BASELINE_TEXT, BASELINE_JSON, BASELINE_MARKDOWN, BASELINE_JUNIT, BASELINE_FORMATS } BaselineFormat;
bool baseline_write(const BaselineCheck *check, BaselineFormat format, TextOut out, Error *error);

/* Workflow commands of GitHub, a line each: an error for each entry that fails, a notice for what is better. Ten of
 * each kind at most, the last for all others: a step shows no more. */
bool baseline_write_annotations(const BaselineCheck *check, FILE *out, Error *error);
