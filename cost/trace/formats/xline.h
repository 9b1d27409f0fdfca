/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/xline.h: the lines of a device as XProf records them, in an XSpace and in the JSON made of it.
 * Of TPUs, the operations of XLA are read and what runs beside them (Async XLA Ops) as far as it is a collective or a
 * copy to the host; of GPUs, the streams. All other lines are derived from these. */
#pragma once

#include "cost/trace/formats/xoperation.h"

typedef enum { XLINE_OTHER, XLINE_OPERATIONS, XLINE_BESIDE, XLINE_STREAM, XLINE_STEPS } XLineKind;

typedef struct {
    XLineKind kind;
    int32_t device, stream; /* of the recording; the number of the line */
} XLine;

typedef struct {
    int64_t start_ns, end_ns;
} XTime;

/* "/device:TPU:3" and "/device:GPU:0", and no cores of other kinds beside them. */
bool xline_device(const char *name, int64_t *number, bool *of_tpu);

XLineKind xline_kind(bool of_tpu, const char *name);

/* An event of an operation; `path` is that of a GPU's event in the program. False: memory is out. */
bool xline_add(const XLine *line, const XOperation *operation, XTime time, const char *path, Recording *to);

/* A step of the device. False: memory is out. */
bool xline_add_step(const XLine *line, int64_t start_ns, int64_t end_ns, Recording *to);
