/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/xplane_table.h: the tables of a plane: names of statistics, and what its events are. */
#pragma once

#include "cost/trace/formats/wire.h"
#include "cost/trace/formats/xoperation.h"

typedef struct {
    int64_t id;
    Wire name;
} XName;

typedef struct {
    XOperation *operations;
    XName *names; /* of statistics, and of texts that statistics refer to */
    int64_t operation_count, name_count;
    bool of_tpu;
} XTables;

/* Reads both maps of a plane, wherever they stand in it. Owned by the caller: xtables_free(). False: memory is out. */
bool xtables_read(Wire plane, XTables *out);
void xtables_free(XTables *tables);

/* The text of a statistic (XStat) if it is the one named; false: it is another. Refers to the file's bytes. */
bool xstat_text(const XTables *tables, Wire stat, const char *name, Wire *out);

/* The operation of an event, filled on first use; NULL: the plane does not say, or memory is out. */
XOperation *xtables_operation(XTables *tables, int64_t id, Recording *recording);

/* Copies a text of the file, cut to its room, with a NUL. */
void wire_text(Wire text, char *out, size_t room);
