/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/xplane.h: what XProf and JAX record (XSpace, *.xplane.pb). Of TPUs, the operations of XLA are
 * read and what runs beside them (Async XLA Ops) as far as it is a collective or a copy to the host; of GPUs, the
 * streams. All other lines are derived from these. Field numbers: openxla/xla at f33d2e16,
 * third_party/tsl/tsl/profiler/protobuf/xplane.proto. */
#ifndef SHARDOPT_COST_TRACE_FORMATS_XPLANE_H
#define SHARDOPT_COST_TRACE_FORMATS_XPLANE_H

#include "cost/trace/recording.h"

/* Reads the bytes of a file into a recording that was begun, and finishes it; errors name `where`. */
bool xplane_read(const void *bytes, size_t length, const char *where, Recording *out, Error *error);

/* Reads a file of at most XPLANE_BYTES_MAX. */
static const size_t XPLANE_BYTES_MAX = (size_t)2 << 30;
bool xplane_read_file(const char *path, Recording *out, Error *error);

#endif
