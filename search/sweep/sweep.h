/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/sweep/sweep.h: a grid of requests, and what its points have come to.
 *
 * A grid is a list of options with their values. Its points are the cartesian product, the first option the slowest:
 * point 0 takes every first value, point 1 the second value of the last option. Every point has one row, one line of
 * JSON made from its report; all forms of a sweep are written from these lines alone, so that rows planned elsewhere
 * give the same bytes. Pure but for the streams that writers are given. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/text/field.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/text/terminal.h"
#include "search/report/report.h"

enum { SWEEP_POINTS_MAX = 10000, SWEEP_OPTIONS_MAX = 64 }; /* rows are kept in memory: 10 to 20 kB each */

typedef struct {
    const char *option; /* "model" */
    const char **values;
    int count; /* >= 1 */
} SweepOption;

typedef struct {
    SweepOption options[SWEEP_OPTIONS_MAX];
    int option_count;
    int64_t points;      /* the product of the counts, 1 to SWEEP_POINTS_MAX */
    const char *command; /* whose questions its points are, of sweep_command(); NULL: `plan` */
} SweepGrid;

/* The command of that name that SweepGrid can have, "inference" or "rl", else NULL. */
const char *sweep_command(const char *name);

/* The value that a point (0 <= point < points) takes of an option of the grid. */
const char *sweep_value(const SweepGrid *grid, int64_t point, int option);

/* "model=8b pods=2": what varies, for people. Cut to `size`. Returns `text`. */
char *sweep_point_text(const SweepGrid *grid, int64_t point, char *text, size_t size);

/* What a file of rows belongs to. Shard K of N holds the points i with i mod N = K - 1. */
typedef struct {
    SweepGrid grid;
    const char *version;                /* of the program */
    char data_sha256[SHA256_HEX_SIZE];  /* search/options/data_files.h */
    char files_sha256[SHA256_HEX_SIZE]; /* of the user's own files that the grid names; "": there are none */
    int64_t shard, shards;              /* 1 <= shard <= shards */
} SweepHeader;

/* Its line, without the newline; NULL: memory is out. Equal headers have equal lines. */
char *sweep_header_line(const SweepHeader *header, Arena *arena);

/* Reads a header's line; `where` names it in errors. Strict: what sweep_header_line() would not write is an error. */
bool sweep_header_read(const char *line, size_t length, const char *where, Arena *arena, SweepHeader *out,
                       Error *error);

typedef enum { POINT_OK, POINT_NO_PLAN, POINT_NOT_PROVEN, POINT_ERROR, POINT_STATES } PointState;
const char *point_state_name(PointState state);  /* "ok" "no_plan" "not_proven" "error" */
const char *point_state_words(PointState state); /* "ok" "no plan fits" "not proven" "error" */

/* Searches the best plan, and where none fits the nearest machines; no alternatives to a plan, no sensitivities. */
bool sweep_search(const Request *request, Arena *arena, Report *report, Error *error);

/* A figure of a best plan: a member of "best" in a row, a column of CSV, and, where it has a name, of the table that
 * people see; all in the order of these. {0} ends them. */
typedef struct {
    const char *key; /* in "best", and as a column; in base/text/field.h the flat name of the same figure */
    FieldType type;
    FieldRule rule; /* FIELD_ALWAYS or FIELD_OR_NULL: a cost where no price is known */
    bool in_json_alone;
    const char *name;
    FieldUnit *unit; /* NULL: a text */
} SweepField;

/* Those of the grid's rows. */
const SweepField *sweep_fields(const SweepGrid *grid);

/* Writes those that `own` has, the fields of a record. */
bool sweep_add_best(struct cJSON *to, const SweepField *fields, const Field *own, const void *record);

/* What a point came to: the document of its report, and of that what a table says. */
typedef struct {
    PointState state;
    const char *message;  /* the error, the gap, the nearest that fits; NULL: none */
    const char *warning;  /* what `plan` would have said on stderr; NULL: nothing */
    struct cJSON *best;   /* the figures of sweep_fields(); NULL: there is no plan */
    struct cJSON *report; /* NULL: there is none */
} PointAnswer;
void point_answer_free(PointAnswer *answer); /* of a zeroed one too; its texts are others' */

/* Its texts lie in the arena. False: *error says why; what is there already stays the caller's to free. */
bool sweep_answer_of_report(const Report *report, Arena *arena, PointAnswer *out, Error *error);
/* Of a point that is no request: `failure` says why. */
PointAnswer sweep_answer_of_failure(const Error *failure, Arena *arena);

/* A point's row. Its line is what files and ranks exchange and what JSON has, so that counts longer than a double are
 * as they were written; its tree is what all else is read from. */
typedef struct {
    int64_t point;
    PointState state;
    struct cJSON *json; /* "message", "warning", "best" ...; for the report "priced_by"; NULL: the row is not known */
    char *line;         /* `length` bytes, without a newline, and a NUL */
    size_t length;
} SweepRow;

/* Takes what the answer owns. */
bool sweep_row_new(const SweepGrid *grid, int64_t point, PointAnswer *answer, SweepRow *out, Error *error);
/* Strict: a row of another grid, of a wrong type, out of range is an error. The line is copied; `where` names it. */
bool sweep_row_read(const SweepGrid *grid, const char *line, size_t length, const char *where, SweepRow *out,
                    Error *error);
void sweep_rows_free(SweepRow *rows, int64_t count);

/* "" and below 0: it is not known, or there is no plan. */
bool sweep_has_plan(const SweepRow *row);
const char *sweep_says(const SweepRow *row, const char *path); /* "message", "best.machine" */
double sweep_figure(const SweepRow *row, const char *key);     /* of the best plan: "step_seconds" */

typedef enum { SWEEP_TEXT, SWEEP_JSON, SWEEP_CSV, SWEEP_MARKDOWN, SWEEP_HTML, SWEEP_FORMATS } SweepFormat;

/* What a training should take at most; 0: any. */
typedef struct {
    double deadline_seconds, budget_usd;
} SweepGoal;

/* Points whose spaces lie in each other: more HBM, more chips that may stay idle or a wider tolerance of the batch only
 * add plans; so a plan of the narrower point that is faster than the proven best of the wider one is a defect of the
 * search, like that of search/answer/contradiction.h. Whether all pairs of such points that differ in one option agree;
 * rows that are not known are passed over. Points are compared where the same launcher and software have their plans.
 * False: *error is ERROR_INTERNAL, and names the points. */
bool sweep_rows_agree(const SweepGrid *grid, const SweepRow *rows, Error *error);

/* All `grid->points` rows in their order, and, where there is a goal, which of them reach it. */
bool sweep_write(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, SweepFormat format, TextOut out,
                 Error *error);

/* ---- which point to buy: the cheapest whose training ends within a deadline and a budget, failures and the chips that
 * stay idle counted (goal.c) ---- */

/* Reads "30d" and "5M" (dollars); NULL: none. */
bool sweep_goal_read(const char *deadline, const char *budget, SweepGoal *out, Error *error);

/* Whether there is a goal. */
static inline bool sweep_goal_is(const SweepGoal *goal) { return goal->deadline_seconds > 0 || goal->budget_usd > 0; }

/* The points that reach a goal. A budget is kept by a price on demand, or by a reserved one; a point without the price
 * that it takes is in no budget, and is not the cheapest. */
typedef struct {
    int64_t on_demand, reserved; /* the cheapest; -1: none. Of points that cost the same, the one that ends first. */
    int64_t soonest;             /* of all points, whatever they cost; -1: no point has a plan */
    int64_t reach;               /* how many reach it at either price */
} SweepChoice;
void sweep_choose(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, SweepChoice *out);

/* What a point is under a goal: "cheapest on demand", "in time", "3.20 days late", "$1.2 M over the budget". */
enum { GOAL_WORDS_SIZE = 160 };
char *sweep_goal_words(const SweepRow *row, const SweepGoal *goal, const SweepChoice *choice,
                       char text[GOAL_WORDS_SIZE]);

/* Sentences: how many points reach the goal, the cheapest at each kind of price with where the price is from; where
 * none does, the soonest. */
void sweep_goal_summary(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, Prose *to);

/* front[point]: it has a plan and a price, and no point that trains the same takes at most as long for at most as much
 * (of equals the first). NULL: memory is out. */
const bool *sweep_front(const SweepGrid *grid, const SweepRow *rows, Arena *arena);
