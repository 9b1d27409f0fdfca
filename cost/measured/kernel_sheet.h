/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/kernel_sheet.h: a table of measured kernels, row by row: TSV, perhaps gzipped, whose columns tell
 * the op. What begins with # is no row. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/kernels/kernel.h"

typedef enum {
    CELL_CHIP,
    CELL_ENGINE,
    CELL_KERNEL,
    CELL_DTYPE,
    CELL_KV_DTYPE,
    CELL_OP,
    CELL_PHASE,
    CELL_GPUS,
    CELL_NODES,
    CELL_DISTRIBUTION,
    CELL_SMS,
    CELL_US,
    CELL_COUNT
} Cell;

typedef struct KernelSheet KernelSheet;

/* Opens the table and reads its head; everything lies in the arena, and sheet_close() closes the file. NULL: *error. */
KernelSheet *sheet_open(const char *path, Arena *arena, Error *error);
void sheet_close(KernelSheet *sheet);

KernelOp sheet_op(const KernelSheet *sheet);
bool sheet_has(const KernelSheet *sheet, Cell cell);

/* The next row. False: there is none, or *error has a kind. */
bool sheet_next(KernelSheet *sheet, Error *error);
/* Of this row; "" where the table has no such column. */
const char *sheet_cell(const KernelSheet *sheet, Cell cell);
/* Its sizes (bytes of a collective by its type; 0: of that type nobody knows the bytes) and seconds. */
bool sheet_shape(const KernelSheet *sheet, KernelShape *out, double *seconds, Error *error);

/* The name of a type as our kernels have it; of no type, the usual one. */
const char *sheet_precision(const char *dtype);
