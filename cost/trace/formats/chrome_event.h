/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/chrome_event.h: one trace event of Chrome's JSON, before it is known what it is good for. */
#pragma once

#include "base/json_pull.h"
#include "cost/trace/formats/xoperation.h"

typedef enum {
    CATEGORY_NONE, /* not used: its arguments are not read */
    CATEGORY_KERNEL,
    CATEGORY_COPY,
    CATEGORY_LAUNCH,
    CATEGORY_RANGE, /* host code: of use where its name says a phase */
    CATEGORY_MEMORY
} ChromeCategory;

enum { CHROME_SHORT = 128 };

/* A text of the event, cut to its room. */
typedef struct {
    char text[CHROME_SHORT];
    size_t length;
} ChromeShort;

typedef struct {
    char phase;
    ChromeCategory category;
    char name[TRACE_NAME_MAX + 1];
    size_t name_length;
    int64_t start_ns, duration_ns, process, thread;
    bool timed;
    /* arguments; texts are empty and numbers 0 (-1 for sequence and first) where they are not given */
    int64_t correlation, stream, device, bytes, in_elements, out_elements, group_size, sequence, first, stride;
    int64_t allocated;
    bool on_device; /* of memory: a device's, not the host's */
    ChromeShort collective, type, group, description, label;
    /* of XProf's files, which have no categories: hlo_category, tf_op, and the text of the operation */
    bool of_xla; /* set by the caller, and kept: such events are read, with these arguments */
    ChromeShort category_text;
    char path[XLA_PATH_ROOM], long_name[XLA_TEXT_ROOM];
} ChromeEvent;

/* Takes the object that the reader stands before. False: the reader has a fault. */
bool chrome_event_read(JsonPull *pull, ChromeEvent *out);

/* The first two numbers of a list of ranks, "[0, 8, 16]", as where they begin and how far they are apart. */
void chrome_ranks(JsonSlice text, int64_t *first, int64_t *stride);

void chrome_short(JsonSlice slice, ChromeShort *out);

/* Bytes of one element of a type as torch names it; 0: not known. */
int chrome_type_bytes(const char *type);
