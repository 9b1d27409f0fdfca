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

/* JSON without the blanks between its tokens, which makes it one line, to be freed. Numbers stay as they were written:
 * counts may be longer than a double holds. Takes the tree. NULL: memory is out. */
char *sweep_line(struct cJSON *json, size_t *length);

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

/* A row, as every form of a sweep is written from it. Texts live in the arena. */
typedef struct {
    int64_t point;
    PointState state;
    const char *message; /* the error, the gap, the nearest that fits; "" */
    const char *warning; /* what `plan` would have said on stderr; "" */
    bool has_plan;
    /* Who launches the plan, which software priced it, and what might go to the host: "megatron, h100,
     * megatron-bridge-26, none, ". */
    const char *priced_by;
    const char *plan, *machine; /* "fsdp=16", "4x4" */
    int64_t chips;              /* used */
    double step_seconds, mfu, hbm_bytes, hbm_limit_bytes, tokens_per_second, chip_hours;
    double cost_usd;                   /* negative: no price is known */
    double expected_seconds;           /* of the training, with failures as far as they are known */
    double expected_usd, reserved_usd; /* of that, at the price on demand and at a reserved one; negative: not known */
    const char *engine;                /* of serving, as what follows */
    double tokens_per_second_per_user, tokens_per_second_per_chip, tpot_seconds, ttft_seconds;
    const char *trainer, *rollout; /* of rl, as what follows: "DP8", "8 x one chip" */
    int64_t train_chips, rollout_chips;
    double tokens_per_hour;
    const char *price_source, *reserved_source; /* where these prices are from; "" */
    const char *line;                           /* the row itself, `length` bytes and a NUL */
    size_t length;
} SweepRow;

/* What a row says of its plan; a member added to SweepRow is a row of this table. Columns and figures shown are in the
 * order of JSON. Those of the grid's rows: */
const Field *sweep_fields(const SweepGrid *grid);

/* The line of a point that was searched; of one that is no request (`failure` says why). Without a newline, to be
 * freed. */
typedef struct {
    char *text;
    size_t length;
} SweepText;
bool sweep_row_of_report(const SweepGrid *grid, int64_t point, const Report *report, const char *warning,
                         SweepText *row, Error *error);
/* Of any kind: `row` has what a table says, `report` is taken; NULL: there is none. */
bool sweep_row_write(const SweepGrid *grid, const SweepRow *row, struct cJSON *report, SweepText *out, Error *error);
bool sweep_row_of_failure(const SweepGrid *grid, int64_t point, const Error *failure, SweepText *row, Error *error);

/* Strict: a row of another grid, of a wrong type, out of range is an error. The line is copied. */
typedef struct {
    const char *text;
    size_t length;
    const char *where; /* names it in errors */
} SweepLine;
bool sweep_row_read(const SweepGrid *grid, SweepLine line, Arena *arena, SweepRow *out, Error *error);

typedef enum { SWEEP_TEXT, SWEEP_JSON, SWEEP_CSV, SWEEP_MARKDOWN, SWEEP_HTML, SWEEP_FORMATS } SweepFormat;

/* What a training should take at most; 0: any. */
typedef struct {
    double deadline_seconds, budget_usd;
} SweepGoal;

/* Points whose spaces lie in each other: more HBM, more chips that may stay idle or a wider tolerance of the batch only
 * add plans; so a plan of the narrower point that is faster than the proven best of the wider one is a defect of the
 * search, like that of search/answer/contradiction.h. Whether all pairs of such points that differ in one option agree;
 * rows without a line are passed over. Points are compared where the same launcher and software have their plans.
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
 * (of equals the first). `same` is room for as many numbers as there are points: which points train the same. */
void sweep_front(const SweepGrid *grid, const SweepRow *rows, bool *front, int *same);
