/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/chrome_xla.h: events of XProf in Chrome's JSON (JAX's *.trace.json.gz), made of an XSpace:
 * processes are devices, threads are lines, and arguments are the statistics as texts. Source: openxla/xla at 7f943bd4,
 * xla/tsl/profiler/convert/trace_events_to_json.cc: names of processes and threads stand before all events. */
#pragma once

#include "cost/trace/formats/chrome_event.h"
#include "cost/trace/formats/xline.h"

/* What the file says of processes and threads that are devices and their lines. All zero is ready. */
enum { CHROME_XLA_LINES_MAX = 4096 };
typedef struct {
    int64_t process, thread;
    XLine line;
    bool of_tpu;
} ChromeXlaLine;

typedef struct {
    ChromeXlaLine devices[TRACE_DEVICES_MAX]; /* of which thread and kind are not used */
    ChromeXlaLine *lines;                     /* owned: chrome_xla_free() */
    int device_count, line_count, last;
    int64_t events; /* of any line: XProf writes at most CHROME_XLA_EVENTS_MAX, silently */
} ChromeXla;

enum { CHROME_XLA_EVENTS_MAX = 1000000 };

void chrome_xla_free(ChromeXla *xla);

/* Takes a name of a process or thread, if it is a device's. False: memory is out. */
bool chrome_xla_name(ChromeXla *xla, const ChromeEvent *event, Recording *to);

/* Takes an event, if it is of a line that is read. False: memory is out. */
bool chrome_xla_add(ChromeXla *xla, const ChromeEvent *event, Recording *to);
