/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/recording.h: what a profiler recorded, whatever its format: what ran on devices and when, when the host
 * launched it, host ranges that say which phase that was, and the groups of ranks that collectives ran in. Only that is
 * kept: of environments, command lines, host names and tokens nothing is read into memory that lasts.
 *
 * Times are ns, on one clock within a recording. A recording grows by realloc, for traces are long. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/trace/kernel_names.h"

#include <stddef.h>
#include <stdint.h>

enum { TRACE_NAME_MAX = 1023, TRACE_GROUPS_MAX = 4096, TRACE_DEVICES_MAX = 1024 };

/* What ran on a device. */
typedef struct {
    int64_t start_ns, end_ns;
    /* While reading: the key that the launch has too, 0 for none. After recording_finish(): the index of the launch, -1
     * for none. */
    int64_t launch;
    double bytes; /* of a collective: of the whole array (all of what a group gathers, scatters, reduces); 0: unknown */
    int32_t name; /* of Names */
    int32_t device; /* of devices */
    int32_t stream;
    int32_t group;    /* of groups; -1: the trace does not say */
    int32_t sequence; /* of the collective within its group; -1: the trace does not say */
    uint8_t class;    /* KernelClass */
    uint8_t kind;     /* CollectiveKind */
    uint8_t term;     /* TraceTerm, after placing */
    uint8_t phase;    /* RangeKind, where the trace says it of the event itself; else it is that of its launch */
    bool host_copy;   /* one end is the host */
} TraceEvent;

typedef struct {
    int64_t key, start_ns;
    int32_t thread;
} TraceLaunch;

/* A range of host code that says a phase. */
typedef struct {
    int64_t start_ns, end_ns, number; /* of a step: its number; of a collective: its kind */
    int64_t parent;                   /* the range around it in its thread, after recording_finish(); -1: none */
    int32_t thread;
    uint8_t kind; /* RangeKind */
} TraceRange;

typedef struct {
    int64_t id;    /* of the process and the number within it, as the format has them */
    int64_t label; /* the number that people know it by */
} TraceDevice;

typedef struct {
    int64_t id;
    bool backward; /* autograd runs in it */
} TraceThread;

/* A group of ranks: what the trace calls it, and the ranks in it where it says. */
typedef struct {
    int32_t name, description; /* of Names; -1: none */
    int64_t size, first, stride;
    uint8_t term; /* TraceTerm, after placing */
} TraceGroup;

/* Each name once. */
typedef struct {
    Arena arena;
    const char **text;
    uint8_t *class, *kind; /* by kernel_names.h */
    int32_t *slots;        /* a hash table of indices + 1 */
    int32_t count, room;
    size_t slot_count, bytes;
} TraceNames;

typedef struct Recording Recording;
struct Recording {
    const KernelNames *rules;
    /* Where a format has one device after the other, what takes each of them as soon as it is finished; then its events
     * and ranges are dropped. NULL: all devices are kept. False: *error is set. */
    bool (*take)(Recording *recording, void *context, Error *error);
    void *take_context;
    int taken; /* how often something was taken */
    TraceNames names;
    TraceEvent *events;
    TraceLaunch *launches;
    TraceRange *ranges;
    TraceDevice *devices;
    TraceThread *threads;
    TraceGroup *groups;
    int64_t event_count, launch_count, range_count;
    int64_t event_room, launch_room, range_room;
    int32_t device_count, device_room, thread_count, thread_room, group_count, group_room;
    int64_t rank, world_size; /* -1: the trace does not say */
    int64_t base_ns;          /* wall time of 0; 0: the trace does not say */
    char chip[64];            /* what the trace calls the device; "" */
    int64_t peak_bytes;       /* most that was allocated on a device; -1: the trace does not say */
    bool steps_on_device;     /* ranges of steps are the devices' own: their `thread` is a device */
    int64_t damaged, dropped; /* events that could not be read; events without a time that makes sense */
    char trouble[160];        /* what ended the reading early; "" */
};

/* Ready for a reader; `rules` must outlive it. */
void recording_begin(Recording *recording, const KernelNames *rules);
void recording_free(Recording *recording);

/* Each finds or makes what is named and returns its index; -1: memory is out (or, of groups and devices, there are more
 * than any machine has). Names are cut to TRACE_NAME_MAX bytes. */
int32_t recording_name(Recording *recording, const char *text, size_t length);
int32_t recording_device(Recording *recording, int64_t id, int64_t label);
int32_t recording_thread(Recording *recording, int64_t id);
int32_t recording_group(Recording *recording, int32_t name, int32_t description, int64_t size);

/* Each adds one; false: memory is out. Class and kind of an event are those of its name unless they are set. An event
 * that ends before it starts, or lies outside of what 64 bits hold, is counted as dropped and not kept. */
bool recording_add(Recording *recording, const TraceEvent *event);
bool recording_add_launch(Recording *recording, TraceLaunch launch);
/* A range whose name says no phase is not kept; its kind and number are those of the name. */
bool recording_add_range(Recording *recording, const char *name, TraceRange range);

/* After reading: joins events and launches, and sorts events by device and start, ranges by thread and start. An
 * error names `where`: nothing ran on a device before reading failed. */
bool recording_finish(Recording *recording, const char *where, Error *error);

/* Hands what was finished to `take`, which there is, and drops it; names, groups and devices stay. */
bool recording_hand_over(Recording *recording, Error *error);

const char *recording_text(const Recording *recording, int32_t name); /* "" for -1 */

/* place.c: puts every event of a recording to a term of the model: kernels by their names and by the host code that
 * launched them, collectives by the group of ranks they ran in. */

/* The plan that the trace is compared with, as far as it distinguishes groups. */
typedef struct {
    bool known;
    int64_t degree[TERM_COUNT]; /* of TERM_TENSOR to TERM_PIPELINE; 1: the role has no group */
    int64_t stride[TERM_COUNT]; /* ranks from one member of its group to the next; 0: not known */
} PlanShape;

typedef struct {
    double placed_ns, fallback_ns, unplaced_ns; /* kernel time by rules, by guesses, and neither */
    int64_t
        backward_launches; /* launched by autograd or in recomputation: 0 means that the trace does not tell phases */
    bool recompute_seen;   /* the trace says which kernels recompute */
} PlaceTotals;

/* Fills `term` of every event and group. A group goes to a role by its description, else by its size and stride in the
 * plan, else by what is sent in it; what still is not known is TERM_COLLECTIVE. */
void trace_place(Recording *recording, const PlanShape *shape, PlaceTotals *out);

/* Messages of a pipeline, whose duration holds the wait for the other side: the shortest of that size moved its bytes
 * and waited for nobody, and so did those that are little longer.
 * Messages of unknown size are not distinguished. */
enum { MESSAGE_SIZES_MAX = 32 };
typedef struct {
    double bytes[MESSAGE_SIZES_MAX];
    int64_t least_ns[MESSAGE_SIZES_MAX];
    int count;
} MessageSizes;
void trace_messages(const Recording *recording, int64_t first, int64_t last, MessageSizes *out);
/* Which of them the event is; -1: it is none. */
int message_size(const MessageSizes *sizes, const TraceEvent *event);
/* Whether a message of this length waited, where the shortest of its size has that one. */
bool message_waits(double length, double least);
/* How long the event moved bytes; its whole length where nothing is known. */
int64_t message_transfer_ns(const MessageSizes *sizes, const TraceEvent *event);
