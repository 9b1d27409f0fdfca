/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/report/serving_report.h: the answer of `shardopt inference`, as text, JSON, Markdown and CSV. */
#pragma once

#include "base/text/field.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/text/terminal.h"
#include "search/report/json/places.h"
#include "search/serving/answer.h"
#include "search/serving/day.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* An option of the request as it was given, by its name without dashes. */
typedef struct {
    const char *option, *key; /* key: what the JSON calls it; NULL: as the option */
    const char *value;
} ServingSaid;

/* The measured run that is nearest to the best point; id NULL: none is of a like kind. */
typedef struct {
    const char *id, *source, *model, *engine, *layout;
    int64_t chips;
    double prompt, output, concurrency;
    double tpot_seconds, predicted_seconds; /* measured, and by this model; 0: not measured, or not replayed */
    double rate, predicted_rate;            /* the same of output tokens per second, for runs without the first */
    bool drafts_unknown;
} ServingNearest;

/* A layout that others have published, at the number of requests in flight at which it serves most within the
 * limits. */
enum { SERVING_PUBLISHED_MAX = 8 };
typedef struct {
    const char *id, *source, *engine, *layout;
    int64_t chips; /* that it takes */
    bool fits;     /* the machine has so many */
    double per_chip, tpot_seconds, ttft_seconds,
        concurrency; /* per_chip: of those it takes; 0: not within the limits */
} ServingPublished;

typedef struct {
    const ServingQuestion *question;
    const ServingAnswer *answer;
    const char *machine; /* as requested: "--nodes 1" */
    const char *model;   /* as requested */
    const char *lengths; /* the file of --lengths; NULL: none */
    const char *profile; /* as requested */
    const char *version, *data_sha256;
    const char *profile_sha256; /* of the serving profile, which data_sha256 does not cover */
    bool weights_said, engines_said;
    int64_t degree_chips; /* the machine's size, which the degrees of --require need; 0: given, or the default */
    int64_t top;          /* 0: points that differ in kind */
    bool screen; /* a text of what an operator needs: how it was searched is left out where the search is complete */
    const ServingSaid *said;
    int said_count;
    ServingNearest nearest;
    ServingPublished published[SERVING_PUBLISHED_MAX];
    int published_count;
    const ServingDay *day; /* of --rates; NULL or empty: none */
} ServingReport;

/* One of the forms. */
typedef enum {
    SERVED_TEXT,
    SERVED_JSON,
    SERVED_MARKDOWN,
    SERVED_HTML,
    SERVED_CSV,
    SERVED_BRIEF,
    SERVED_FORMATS
} ServedFormat;
bool serving_write_as(const ServingReport *report, ServedFormat format, TextOut out, Error *error);
bool serving_write_text(const ServingReport *report, TextOut out, Error *error);
bool serving_write_json(const ServingReport *report, bool brief, FILE *out, Error *error);
/* The same as a tree, which the caller frees; NULL: memory is out. */
cJSON *serving_json(const ServingReport *report);
/* One point in full: every pool with its layout, placement, step by kernel and memory by row. */
bool serving_explain_text(const ServingReport *report, const ServingPoint *point, TextOut out, Error *error);
/* What a point gives and holds: three lines of the first answer. */
void serving_write_point(const ServingReport *report, const ServingPoint *point, TextOut out);
/* The command that writes the best point as a script, with what was requested and no default. False: memory is out. */
bool serving_write_next(const ServingReport *report, TextOut out);
/* The hours of a day, and what replicas that follow them take; nothing where there are none. False: memory is out. */
bool serving_write_day(const ServingReport *report, TextOut out);
/* How long a batch job takes, and what it costs, whatever the number of chips: with an end, the copies that are enough,
 * or the machine that would be. */
void serving_add_job(const ServingQuestion *question, const ServingPoint *best, Prose *prose);
/* All weights once, in the type that is requested and in narrower ones, and the memory of the machine. */
void serving_add_weights(const ServingQuestion *q, Prose *prose);
/* "12.3", "1,234": a rate. */
const char *serving_rate(double value, char text[NUMBER_TEXT_SIZE]);
/* Two figures, rounded up: what a limit has to be so that a time is within it: "10.7s". */
const char *serving_limit(double seconds, char text[NUMBER_TEXT_SIZE]);
/* The largest batch of a rank for which graphs are captured: all of them, with drafts, up to the next size that engines
 * capture: 1, 2, 4, multiples of 8 up to 256, of 16 beyond (vllm/config/vllm.py _set_cudagraph_sizes: what lies between
 * is cut off). */
int64_t pool_graphs(const ServingQuestion *question, const ServingPool *pool);
/* The command that starts a pool, in its engine's words; "" under no engine's rules. */
const char *pool_launch(const ServingQuestion *question, const ServingPool *pool, char line[ENGINE_LINE_SIZE]);
/* The same as words, which are added to *out; the pool has an engine. */
void pool_words(const ServingQuestion *question, const ServingPool *pool, EngineWords *out);
/* The same with what people read in addition: words, the points that are shown, a request in time, throughput against
 * batch and context, places. NULL: *error says why. */
cJSON *serving_document(const ServingReport *report, Error *error);
/* One point under a key, or to a list; rank 0: with the commands that start it; below 0: no rank. */
void serving_add_point(cJSON *to, const char *key, const ServingReport *report, const ServingPoint *point, int rank);
/* The page (base/text/page.h): the document, its fronts without their pools. */
bool serving_write_html(const ServingReport *report, FILE *out, Error *error);

/* "tensor=4 pipeline=2": the degrees above 1, or "one chip". */
enum { POOL_TEXT_SIZE = 192 };
const char *pool_notation(const ServingPool *pool, char text[POOL_TEXT_SIZE]);

/* "4 x tensor=2, batch 96", of two pools "2 x tensor=4 for prompts, 3 x tensor=8, batch 64". */
enum { POINT_TEXT_SIZE = 2 * POOL_TEXT_SIZE + 96 };
const char *point_notation(const ServingPoint *point, char text[POINT_TEXT_SIZE]);

/* The same in the field's words: "2 x TP4, batch 96 each", "prefill 1 x TP8; decode 1 x DP8 MoE-TP8, batch 72 each". */
const char *pool_degrees(const ServingPool *pool, char text[POOL_TEXT_SIZE]);
const char *point_degrees(const ServingPoint *point, char text[POINT_TEXT_SIZE]);

/* The engine of a point: "vLLM"; "none" for what divides and fits. */
const char *point_engine(const ServingPoint *point);

HeldBy step_held_by(const StepCost *step);

/* The points that a report shows: those that differ in kind, or the first `top` by throughput for a user. */
int report_points(const ServingReport *report);
const ServingPoint *report_point(const ServingReport *report, int number, const char **kind);

/* How a worker is cut: "tensor=4 on nvlink", and its experts; into `out`. And the roles on its axes. */
const char *pool_cut(const ServingPool *pool, Prose *out);
const char *pool_experts(const ServingPool *pool, Prose *out); /* "": they are not cut */
MeshRoles pool_roles(const ServingPool *pool);

/* point_fields.c: the figures of one way to serve, each said once, as those of a plan are
 * (search/report/plan_fields.h). */

/* One point with all that its figures are got from. Texts lie in it: it is not to be copied. */
typedef struct {
    ServingPoint point;
    ServingPool pool;                      /* the last, which decodes */
    int64_t rank, chips_idle, concurrency; /* rank below 0: it has none */
    double input_tokens_per_second, transfer_seconds, usd_of_output, usd_of_input, joules; /* below 0: none */
    double tpot_low, tpot_high, ttft_high, memory_bytes, hit_cached,
        hit_copied;                                              /* hits below 0: prefixes have no size */
    const char *notation, *engine, *title, *mode, *model, *chip; /* engine NULL: no engine's rules */
    char text[POINT_TEXT_SIZE];
} PointRecord;

void point_record(const ServingReport *report, const ServingPoint *point, int rank, PointRecord *out);

extern const Field POINT_FIELDS[]; /* of PointRecord, in the order of JSON */
