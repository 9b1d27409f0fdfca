/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/validate_kernels.h: a table of measured kernels, each row priced by its op's form (cost/kernels). */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/kernels/kernel.h"
#include "cost/measured/score.h"
#include "cost/profile/profile.h"

/* Rows of one kernel on one chip. */
typedef struct {
    const char *chip, *library, *name, *precision; /* as the table has them; "" where it has no such column */
    const char *key;                               /* all cells that tell it from others */
    const Kernel *kernel;   /* its figures, perhaps of a sister or of another version; NULL: nobody has measured one */
    const Profile *profile; /* in its place, where rows are priced as plans are */
    double ways, nodes;     /* of a collective, of a dispatch; 0: it is neither */
    int64_t rows;           /* of a size that its figures are for */
    int64_t small;          /* others: of decoding, of a test */
    double *errors;         /* predicted / measured - 1 of `rows` */
    ErrorStats stats;
} KernelGroup;

typedef struct {
    KernelOp op;
    KernelGroup *groups; /* sorted by chip, precision, library, name */
    int64_t count;
    int64_t rows, small, unknown; /* priced; of other sizes; without a form */
    int64_t slower;               /* of a shape that was measured faster with another number of SMs */
    ErrorStats stats;             /* of those priced */
} KernelValidation;

/* `profile` NULL: by the forms of cost/kernels; else matmuls and attention as plans of that profile are priced with the
 * chip's best software (op_seconds).
 *
 * The table is TSV, perhaps gzipped, and its columns tell the op: m n k us; batch length heads head_dim us; tokens
 * hidden inter topk experts us; op gpus elements us; phase nodes tokens us; num_v_heads length us. `chip` is a column
 * too; engine, kernel and dtype may be missing. Errors name the line. */
bool kernels_validate(const char *path, const char *profile, Arena *arena, KernelValidation *out, Error *error);
