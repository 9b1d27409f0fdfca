/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/xplane.h: what XProf and JAX record (XSpace, *.xplane.pb). Of TPUs, the operations of XLA are
 * read and what runs alongside them (Async XLA Ops) as far as it is a collective or a copy to the host; of GPUs, the
 * streams. All other lines are derived from these. Field numbers: openxla/xla at f33d2e16,
 * third_party/tsl/tsl/profiler/protobuf/xplane.proto. */
#pragma once

#include "base/byte_source.h"
#include "cost/trace/recording.h"

/* Reads a space plane by plane into a recording that was begun, and finishes it; errors name `where`. Planes of the
 * host are passed. A device that is complete is handed over (recording.h), so that memory holds the largest of them and
 * no more; a plane has at most XPLANE_BYTES_MAX. */
static const size_t XPLANE_BYTES_MAX = (size_t)2 << 30;
bool xplane_read(ByteSource source, const char *where, Recording *out, Error *error);

/* Internal. Whether the first bytes of a plane say that it is no device's. */
bool xplane_is_of_host(const void *head, size_t length);
/* Internal. Reads a plane; one of no device is passed. False: memory is out. */
bool xplane_read_device(const void *bytes, size_t length, Recording *recording);
/* Internal. A binary file that went through a tool for text has U+FFFD in place of every byte above 127. */
bool xplane_is_text_damaged(const uint8_t *bytes, size_t length);
