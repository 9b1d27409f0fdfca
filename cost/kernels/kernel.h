/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/kernels/kernel.h: what single kernels take, by forms of a few figures each, fitted to measured kernels
 * (cost/measured/lab/kernels.py; cost/kernels/README.md has the forms and what they are worth). Facts of hardware and
 * libraries: which kernel a training software or an engine calls is that software's.
 *
 * All forms grow with each size of what is computed. They are of a forward, alone on a chip that is cool: what a whole
 * step of them takes beyond the sum (clock, gaps, backward) is the profile's. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "mesh/chip.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    KERNEL_MATMUL,
    KERNEL_ATTENTION,
    KERNEL_LATENT_ATTENTION,
    KERNEL_EXPERTS, /* the matmuls of a layer's experts, with their permutation */
    KERNEL_COLLECTIVE,
    KERNEL_DISPATCH, /* of tokens to experts, or their way back */
    KERNEL_SCAN,     /* gated delta net, KDA */
    KERNEL_OP_COUNT
} KernelOp;

const char *kernel_op_name(KernelOp op); /* "matmul" "attention" "latent_attention" "experts" ... */

enum { KERNEL_WIDTHS_MAX = 8, KERNEL_LATENT_WIDTHS = 192 + 128 }; /* latent: of keys and of values */

/* One kernel on one chip. A figure that its op's form lacks is 0, a text "". */
typedef struct {
    KernelOp op;
    const char *chip, *library; /* "h100", "trtllm 1.3.0rc20" */
    const char *name;           /* what the library calls it: "fa3", "torch_flow" */
    const char *precision;      /* "bf16" "fp8" "fp8_block" "nvfp4" */
    const char *collective;     /* "all_gather" "reduce_scatter" "all_reduce" "all_to_all" */
    const char *phase;          /* "dispatch" "combine" */
    double ways, nodes;         /* of a collective, of a dispatch */

    double share; /* of the peak of the precision, or of the links' rate */
    /* attention: the share at widths of a head that were measured, rising */
    double width[KERNEL_WIDTHS_MAX], share_at[KERNEL_WIDTHS_MAX];
    int widths;
    double k0;               /* matmul: its reduction is as dear as one longer by this */
    double cast_bytes;       /* matmul below bf16: bytes that casting an element of its input moves */
    double length0;          /* attention: keys that a query has more; half of them count, as of its own */
    double rows0, width0;    /* experts: rows of each expert more, and columns of its hidden layer */
    double matrices;         /* experts: 3, or 2 without a gate */
    double passes;           /* experts: streams of the routed tokens, in and out of their order */
    double chunk_seconds;    /* scan: of one chunk of 64 tokens, which waits for the one before */
    double bytes_per_second; /* dispatch: of routed bytes */
    double start_seconds;

    int64_t fitted, judged; /* rows; of these, shapes that the figures have not seen, */
    double median, p90;     /* and the error on them */
} Kernel;

/* What a kernel computes; sizes that its op lacks are 0. */
typedef struct {
    double m, n, k;                              /* matmul: [m, k] x [k, n] */
    double batch, length, heads, head_width;     /* attention, scan (heads: of values) */
    double window;                               /* attention: 0 means none */
    double key_width, value_width;               /* scan */
    double tokens, hidden, inter, topk, experts; /* experts, dispatch (tokens of a rank) */
    double tensor, expert;                       /* experts: ways that they are divided; 0 means 1 */
    double bytes;                                /* collective: of the whole array, as in mesh/collective.h */
} KernelShape;

/* The peak of a precision, FLOP/s; 0 means that the catalog has none. */
double kernel_peak(const Chip *chip, const char *precision);

/* Keys of a query in the mean: a causal half, or what the window leaves of it. */
double kernel_span(const KernelShape *shape);

/* Seconds of one call, > 0; a chip of the same architecture may take the kernel of another. */
double kernel_seconds(const Kernel *kernel, const Chip *chip, const KernelShape *shape);

/* Whether the shape is of a size that the kernel's figures were fitted to: a prefill or a training step. */
bool kernel_shape_is_fitted(KernelOp op, const KernelShape *shape);

/* All kernels, in the order of their files. */
typedef struct {
    Kernel *kernels;
    int64_t count;
    /* A chip whose kernels another one's are taken for. */
    struct {
        const char *chip, *of;
    } * sisters;
    int64_t sister_count;
} KernelTable;

/* Reads cost/kernels of the data folder, the files of these ops: of each the bit 1 << op. */
enum { KERNELS_ALL = (1 << KERNEL_OP_COUNT) - 1 };
bool kernels_load(unsigned ops, Arena *arena, KernelTable *out, Error *error);

/* What a kernel is looked up by; "" and 0: whatever it is. */
typedef struct {
    KernelOp op;
    const char *chip, *library, *name, *precision, *collective, *phase;
    double ways, nodes;
} KernelAsk;

/* The kernel of that chip, library, name and precision; else one of another version of the library; else the same of
 * the chip's sister. Of several that fit the one with the least median. NULL: nobody has measured one. */
const Kernel *kernels_find(const KernelTable *table, const KernelAsk *ask);
