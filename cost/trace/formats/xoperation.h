/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/xoperation.h: what XLA says of one of its operations, wherever it stands: in a plane of an XSpace,
 * or in the arguments of an event of Chrome's JSON. */
#pragma once

#include "cost/trace/formats/wire.h"
#include "cost/trace/recording.h"

enum { XLA_PATH_ROOM = 512, XLA_TEXT_ROOM = 4096 };

/* An operation of XLA, or a kernel: what all its events have in common. */
typedef struct {
    int64_t id;
    Wire message;        /* XEventMetadata */
    bool read;           /* what follows is filled */
    bool container;      /* it encloses others on its line: a loop, a call */
    bool starts, done;   /* of an asynchronous operation */
    bool host_copy;      /* one end is the host's memory */
    uint8_t class, kind; /* KernelClass, CollectiveKind */
    uint8_t phase;       /* RangeKind, by its path in the program */
    int32_t name, group; /* of the recording; group -1: none */
    double bytes;        /* as TraceEvent.bytes */
} XOperation;

/* Texts of an operation; "" where there is none: hlo_category, the short name, the HLO text, tf_op. */
typedef struct {
    const char *category, *shown, *hlo, *path;
} XTexts;

/* Fills what the texts tell of an operation of a TPU, all but its id, message and name. */
void xoperation_describe(XOperation *operation, XTexts texts, Recording *recording);

/* The lines of a device as XProf records them, in an XSpace and in the JSON made of it. Of TPUs, the operations of XLA
 * are read and what runs alongside them (Async XLA Ops) as far as it is a collective or a copy to the host; of GPUs,
 * the streams. All other lines are derived from these. */

typedef enum { XLINE_OTHER, XLINE_OPERATIONS, XLINE_BESIDE, XLINE_STREAM, XLINE_STEPS } XLineKind;

typedef struct {
    XLineKind kind;
    int32_t device, stream; /* of the recording; the number of the line */
} XLine;

typedef struct {
    int64_t start_ns, end_ns;
} XTime;

/* "/device:TPU:3" and "/device:GPU:0", and no cores of other kinds alongside them. */
bool xline_device(const char *name, int64_t *number, bool *of_tpu);

XLineKind xline_kind(bool of_tpu, const char *name);

/* An event of an operation; `path` is that of a GPU's event in the program. False: memory is out. */
bool xline_add(const XLine *line, const XOperation *operation, XTime time, const char *path, Recording *to);

/* A step of the device. False: memory is out. */
bool xline_add_step(const XLine *line, int64_t start_ns, int64_t end_ns, Recording *to);
