/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/op_rows.h"

#include "base/util.h"
#include "search/answer/plan_words.h"

#include <math.h>
#include <string.h>

/* What the model's attention is by a kernel: one form for all layers; none where they differ or choose keys, where it
 * is not causal, or latent of other widths. */
static KernelOp attention_op(const Model *model, const EstimatePart *part) {
    bool latent = model->kinds[0].attention == ATTENTION_LATENT;
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].index_top_k > 0 || model->kinds[i].window != model->kinds[0].window ||
            (model->kinds[i].attention == ATTENTION_LATENT) != latent)
            return KERNEL_OP_COUNT;
    double each = part->call_flops / part->score_elements; /* FLOPs of an element of the square */
    if (latent) return fabs(each - KERNEL_LATENT_WIDTHS) < 1e-6 * each ? KERNEL_LATENT_ATTENTION : KERNEL_OP_COUNT;
    bool band = model->kinds[0].window > 0 || model->kinds[0].chunked;
    double causal = each / (4 * part->head_dim);
    return fabs(causal - 0.5) < 1e-6 || (band && causal > 0.5 && causal < 1) ? KERNEL_ATTENTION : KERNEL_OP_COUNT;
}

/* One call. Of attention the part has elements of squares, or of bands as wide as a window, and the FLOPs of what is
 * causal of them: half, or more of a band. */
static KernelShape shape_of(const EstimatePart *part, KernelOp op, const Shard *shard) {
    double seq = shard->seq, window = 0;
    if (op == KERNEL_MATMUL) return (KernelShape){.m = part->m, .n = part->n, .k = part->k};
    double causal = part->call_flops / (4 * part->head_dim * part->score_elements);
    if (op == KERNEL_ATTENTION && causal > 0.5 + 1e-9) window = 2 * seq * (1 - causal);
    return (KernelShape){.batch = shard->tokens / seq,
                         .length = seq,
                         .heads = part->score_elements / (shard->tokens * (window > 0 ? window : seq)),
                         .head_width = part->head_dim,
                         .window = window};
}

/* The fastest kernel at that shape of those whose forms are known well; attention's measured widths reach the head's.
 * Its seconds go to *seconds. */
static const Kernel *fastest(const KernelTable *table, const KernelAsk *ask, const Chip *chip, const KernelShape *shape,
                             double *seconds) {
    static const double KNOWN = 0.15; /* the median error on shapes that its figures were not fitted to */
    const Kernel *any = kernels_find(table, ask), *best = NULL;
    for (int64_t i = 0; any && i < table->count; i++) {
        const Kernel *at = &table->kernels[i];
        if (at->op != ask->op || strcmp(at->chip, any->chip) != 0 || strcmp(at->precision, ask->precision) != 0 ||
            at->median > KNOWN || (at->widths > 0 && at->width[at->widths - 1] < shape->head_width) ||
            (at->widths > 0 && at->width[0] > 2 * shape->head_width))
            continue;
        double alone = kernel_seconds(at, chip, shape);
        if (alone > 0 && isfinite(alone) && (!best || alone < *seconds)) best = at, *seconds = alone;
    }
    return best;
}

/* The kernels' own names of a precision. */
static const char *precision_of(const EstimatePart *part, Precision precision) {
    static const char *const NAMES[PRECISION_COUNT] = {"bf16", "fp8", "fp8", "nvfp4", ""};
    return part->runs_in_precision ? NAMES[precision] : "bf16";
}

const OpRow *op_rows(const Request *request, const RankedPlan *ranked, Arena *arena, int *count, Error *error) {
    CostContext setting = ranked_cost_context(request, ranked);
    const Estimate *estimate = &ranked->estimate;
    OpRow *rows = ARENA_NEW(arena, OpRow, (size_t)estimate->part_count + 1);
    KernelTable kernels;
    if (!rows) return error_memory(error), NULL;
    KernelOp attention =
        setting.model->kinds[0].attention == ATTENTION_LATENT ? KERNEL_LATENT_ATTENTION : KERNEL_ATTENTION;
    if (!kernels_load(1u << KERNEL_MATMUL | 1u << attention, arena, &kernels, error)) return NULL;
    for (int i = 0; i < estimate->part_count; i++) {
        const EstimatePart *part = &estimate->parts[i];
        OpRow *row = &rows[i];
        double seconds = part->forward_seconds + part->backward_seconds;
        Precision precision = part->runs_in_precision ? setting.profile->precision : PRECISION_BF16;
        *row = (OpRow){.part = part,
                       .bound_by = seconds <= 0         ? "free (fused)"
                                   : part->memory_bound ? "HBM"
                                                        : "compute"};
        if (!(part->flops > 0 && seconds > 0)) continue;
        row->flops_per_second = part->flops / seconds;
        row->peak_share = row->flops_per_second / precision_peak(setting.chip, precision);
        KernelOp op = part->kind == OP_MATMUL                                  ? KERNEL_MATMUL
                      : part->kind == OP_ATTENTION && part->score_elements > 0 ? attention_op(setting.model, part)
                                                                               : KERNEL_OP_COUNT;
        if (op == KERNEL_OP_COUNT) continue;
        double alone = 0;
        KernelShape shape = shape_of(part, op, &estimate->shard);
        const KernelAsk ask = {.op = op, .chip = setting.chip->name, .precision = precision_of(part, precision)};
        const Kernel *kernel = fastest(&kernels, &ask, setting.chip, &shape, &alone);
        if (!kernel) continue;
        row->kernel = kernel;
        row->kernel_flops_per_second = part->call_flops / alone;
    }
    *count = estimate->part_count;
    return rows;
}
