/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/rank_trace.h: what one device of a recording spent its steps on, in seconds: all that is kept of a
 * recording once it is read, so that a folder of ranks needs the memory of one. */
#pragma once

#include "cost/trace/recording.h"

/* ---- steps.c: where the steps of a device begin and end ----
 *
 * The host's annotation of a step does not contain the work that it launches, for the device lags: a step of the device
 * is from the first kernel that was launched in the annotation to the first of the next. */

typedef enum {
    STEPS_ANNOTATED, /* by the profiler's annotations and the launches in them */
    STEPS_PERIOD,    /* by a kernel that occurs once a step, where nothing is annotated */
    STEPS_WHOLE      /* one window from the first event to the last: its length is a lower bound of a step */
} StepsBy;

typedef struct {
    int64_t start_ns, end_ns;
    bool partial; /* nothing follows that would say where it ends */
    bool used;    /* it counts: whole, not the first of several, and no longer than 1.5 times the median */
} TraceStep;

typedef struct {
    TraceStep *steps;
    int count, used;
    StepsBy by;
} TraceSteps;

enum { TRACE_STEPS_MAX = 100000 };

/* The events [first, last) are those of one device, sorted, at least one. In the arena. */
bool trace_steps(const Recording *recording, int64_t first, int64_t last, Arena *arena, TraceSteps *out, Error *error);

/* ---- one step of a device as a picture shows it: the step is cut into equal moments, and of each it is known which
 * share of it every term was active for. Bounded, whatever ran. Pure ---- */

enum { TIMELINE_MOMENTS = 400 };

typedef struct {
    double seconds;                           /* of all moments together; 0: there is nothing to show */
    float busy[TIMELINE_MOMENTS][TERM_COUNT]; /* from 0 to 1 */
} TraceTimeline;

/* A timeline while it is filled. */
typedef struct {
    TraceTimeline *to;
    int64_t start, end;          /* ns */
    int64_t covered[TERM_COUNT]; /* until when each term is counted already */
} TimelineFill;

/* Empties the timeline, which is of the time from `start` to `end`; end > start. */
void timeline_begin(TimelineFill *fill, int64_t start, int64_t end, TraceTimeline *to);

/* A term is active from `from` to `until`; what lies outside of the step does not count. Intervals of one term come in
 * the order of their starts: what is counted already does not count twice. */
void timeline_add(TimelineFill *fill, TraceTerm term, int64_t from, int64_t until);

/* ---- spans ---- */

/* How long kinds of intervals last together and each alone: lengths of unions, never sums of durations. Intervals are
 * half open. Kinds have levels: an instant belongs to the lowest level at which an interval is active, shared equally
 * by the kinds active there, so that the shares add up to the window. Pure. */

enum { SPAN_KINDS = 32, SPAN_LEVELS = 4 };

/* One end of an interval. */
typedef struct {
    int64_t at;
    int32_t event; /* of the caller */
    uint8_t kind;
    int8_t change; /* +1 begins, -1 ends */
} SpanEdge;

/* What an instant belongs to at which nothing is active: a kind, by the idle interval and the event that ends it (-1:
 * the window's end). */
typedef uint8_t (*SpanIdle)(const void *context, int64_t from, int64_t to, int32_t next);

typedef struct {
    int64_t start, end;        /* the window; edges outside are taken as its ends */
    uint8_t level[SPAN_KINDS]; /* of each kind, below SPAN_LEVELS */
    SpanIdle idle;             /* NULL: such instants belong to nobody */
    const void *context;
} SpanWindow;

typedef struct {
    double length[SPAN_KINDS];    /* of the union of a kind's intervals, ns */
    double exposed[SPAN_KINDS];   /* the share of the window that is the kind's; idle of a kind is here too */
    double at_level[SPAN_LEVELS]; /* of the union of a level's intervals */
    double overlap;               /* the time at which both level 0 and level 1 are active */
    double idle;                  /* nothing is active */
} SpanTotals;

/* Sorts the edges and adds up. */
void spans_add_up(SpanEdge *edges, int64_t count, const SpanWindow *window, SpanTotals *out);

/* Collectives of one kind on behalf of one term, over a step of the mean. */
typedef struct {
    TraceTerm term;
    CollectiveKind kind;
    double count, bytes, seconds; /* bytes of whole arrays, counted as a plan's `communication_bytes`; 0:
                                      * the trace does not say. Seconds are a sum of durations */
} CollectiveUse;

/* One collective as this rank saw it, to be found again on others. */
typedef struct {
    uint64_t key;    /* of its group and kind, the same on every rank of the group */
    int64_t ordinal; /* within the key, by start */
    int64_t start_ns, end_ns;
    uint8_t term, kind;
} CollectiveInstance;

typedef struct {
    const char *name;
    double seconds; /* whole file */
    int64_t count;
} UnplacedName;

/* The whole file, by class alone: what other tools print too. Copies are all of them. */
typedef struct {
    int64_t kernels, collectives;
    double span, compute, communication, overlap, exposed_communication, copy, exposed_copy, busy, idle;
} DeviceTotals;

enum { UNPLACED_NAMES_MAX = 8, COLLECTIVE_USES_MAX = TERM_COUNT * COLLECTIVE_KIND_COUNT };
typedef struct {
    const char *file;
    int64_t rank, world_size, device; /* -1: the trace does not say */
    char chip[64];
    StepsBy steps_by;
    int steps, steps_used;
    double step_mean, step_median, step_least, step_most; /* of those used */
    double length[TERM_COUNT];  /* of unions, over a step of the mean; of a pipeline's messages without their waits */
    double exposed[TERM_COUNT]; /* adds up to step_mean */
    DeviceTotals whole;
    PlaceTotals placed; /* of the recording: of all its devices */
    bool launches_known;
    MessageSizes messages; /* of a pipeline, over the whole file; and over a step of the mean, how many there are of */
    double message_count[MESSAGE_SIZES_MAX], message_seconds[MESSAGE_SIZES_MAX]; /* each size, and what moved bytes */
    CollectiveUse uses[COLLECTIVE_USES_MAX];
    int use_count;
    UnplacedName unplaced[UNPLACED_NAMES_MAX]; /* of the recording, by time */
    int unplaced_count;
    int64_t peak_bytes, damaged, dropped;
    const char *trouble;           /* "": read to the end */
    const TraceTimeline *timeline; /* of the step that is nearest to the median */
    CollectiveInstance *instances;
    int64_t instance_count;
} RankTrace;

/* Places the recording's events, and adds up each of its devices that did something: none where nothing ran on a
 * device. All of it lies in the arena. */
typedef struct {
    RankTrace *ranks;
    int count;
} RankTraces;
bool rank_traces(Recording *recording, const char *file, const PlanShape *shape, Arena *arena, RankTraces *out,
                 Error *error);

/* ---- ranks.c: several ranks of one job together ----
 *
 * A collective ends on all its ranks at once, and its shortest duration is what it took to move the bytes; what it
 * lasted longer elsewhere was waiting for the last to come. One rank's trace cannot tell the two apart. */

typedef struct {
    bool known; /* false: `why_not` says why transfer and waits are not distinguished */
    const char *why_not;
    int64_t matched;             /* collectives that were found on several ranks */
    double transfer[TERM_COUNT]; /* seconds over the whole file, a rank's share: the sum of the shortest durations */
    double lasted[TERM_COUNT];   /* seconds of the same collectives, mean over the ranks */
    double end_median, end_most; /* how far ends of one collective lie apart, after the clocks are set */
    double *waited, *caused;     /* by rank: seconds it waited inside collectives, and that it made others wait */
    int straggler;               /* the rank that caused most; -1: there is none */
} RankMatch;

/* A stage that is faster than its neighbours waits in every message: what moves the bytes of a size is the shortest of
 * it on any rank. What messages of ranks last beyond that becomes bubble. */
void ranks_settle_messages(RankTrace *ranks, int count);

/* In the arena. One rank gives an answer that is not known. */
bool ranks_match(const RankTrace *ranks, int count, Arena *arena, RankMatch *out, Error *error);
