/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/kernels/kernel.h"

#include "base/util.h"

#include <math.h>
#include <string.h>

const char *kernel_op_name(KernelOp op) {
    static const char *const NAMES[KERNEL_OP_COUNT] = {
        "matmul", "attention", "latent_attention", "experts", "collective", "dispatch", "scan"};
    return NAMES[op];
}

/* Bytes of an operand, with scales of its blocks. */
static double operand_bytes(const char *precision) {
    return strcmp(precision, "bf16") == 0 ? 2 : strcmp(precision, "nvfp4") == 0 ? 0.5625 : 1;
}

double kernel_peak(const Chip *chip, const char *precision) {
    if (strncmp(precision, "fp8", 3) == 0) return chip->fp8_flops_per_second.value;
    if (strcmp(precision, "nvfp4") == 0) return chip->fp4_flops_per_second.value;
    return chip->bf16_flops_per_second.value;
}

/* HBM's rate to a kernel that waits for nothing else. */
static double hbm_rate(const Chip *chip) {
    static const double SHARE = 0.85;
    return chip->hbm_bytes_per_second.value * SHARE;
}

static double matmul(const Kernel *kernel, const Chip *chip, const KernelShape *of) {
    double flops = 2 * of->m * of->n * (of->k + kernel->k0), each = operand_bytes(kernel->precision);
    double moved = each * (of->m * of->k + of->k * of->n) + 2 * of->m * of->n;
    return max_real(flops / (kernel_peak(chip, kernel->precision) * kernel->share), moved / hbm_rate(chip)) +
           kernel->cast_bytes * of->m * of->k / chip->hbm_bytes_per_second.value;
}

/* The share at a width of heads: between two that were measured on a line between them; wider ones as the widest. Each
 * halving below the narrowest costs 15%: of A100, where 128 alone was timed, whole runs say so (../shared/reference/
 * kernels.md, trap g); chips that have both widths lose 30% and more from 128 to 64. */
static double share_of_width(const Kernel *kernel, double width) {
    static const double NARROW = 0.85;
    int last = kernel->widths - 1, i = 0;
    if (last < 0) return kernel->share;
    if (width <= kernel->width[0]) return kernel->share_at[0] * pow(NARROW, log2(kernel->width[0] / width));
    if (width >= kernel->width[last]) return kernel->share_at[last];
    while (kernel->width[i + 1] < width) i++;
    double part = (width - kernel->width[i]) / (kernel->width[i + 1] - kernel->width[i]);
    return kernel->share_at[i] + part * (kernel->share_at[i + 1] - kernel->share_at[i]);
}

double kernel_span(const KernelShape *of) {
    return of->window > 0 && of->window < of->length ? of->window - of->window * of->window / (2 * of->length)
                                                     : of->length / 2;
}

static double attention(const Kernel *kernel, const Chip *chip, const KernelShape *of, double flops, double share) {
    double pairs = of->batch * of->length * (kernel_span(of) + kernel->length0 / 2);
    return of->heads * flops * pairs / (kernel_peak(chip, kernel->precision) * share);
}

/* Two matrices up and one down, or one and one, for every routed token; weights come from HBM once. */
static double experts(const Kernel *kernel, const Chip *chip, const KernelShape *of) {
    double routed = of->tokens * of->topk / max_real(1, of->expert), held = of->experts / max_real(1, of->expert),
           inter = of->inter / max_real(1, of->tensor);
    double flops = 2 * kernel->matrices * (routed + kernel->rows0 * held) * of->hidden * (inter + kernel->width0);
    double weights = kernel->matrices * min_real(held, routed) * of->hidden * inter * operand_bytes(kernel->precision);
    return max_real(flops / (kernel_peak(chip, kernel->precision) * kernel->share), weights / hbm_rate(chip)) +
           kernel->passes * 2 * routed * of->hidden / hbm_rate(chip);
}

static double collective(const Kernel *kernel, const Chip *chip, const KernelShape *of) {
    double passes = strcmp(kernel->collective, "all_reduce") == 0 ? 2 : 1;
    double links = max_real(1, (double)chip->links_per_chip) * chip->link_bytes_per_second.value;
    return passes * of->bytes * (1 - 1 / kernel->ways) / (links * kernel->share);
}

/* Chunks of 64 tokens: products of queries and keys in a chunk, the state's update, and its way to the next chunk. */
static double scan(const Kernel *kernel, const Chip *chip, const KernelShape *of) {
    static const double CHUNK = 64;
    double flops = of->batch * of->length * of->heads *
                   (6 * of->key_width * of->value_width + 4 * CHUNK * (of->key_width + of->value_width));
    return flops / (chip->bf16_flops_per_second.value * kernel->share) +
           ceil(of->length / CHUNK) * kernel->chunk_seconds;
}

double kernel_seconds(const Kernel *kernel, const Chip *chip, const KernelShape *of) {
    double busy = 0;
    switch (kernel->op) {
    case KERNEL_MATMUL:
        busy = matmul(kernel, chip, of);
        break;
    case KERNEL_ATTENTION:
        busy = attention(kernel, chip, of, 4 * of->head_width, share_of_width(kernel, of->head_width));
        break;
    case KERNEL_LATENT_ATTENTION:
        busy = attention(kernel, chip, of, 2 * KERNEL_LATENT_WIDTHS, kernel->share);
        break;
    case KERNEL_EXPERTS:
        busy = experts(kernel, chip, of);
        break;
    case KERNEL_COLLECTIVE:
        busy = collective(kernel, chip, of);
        break;
    case KERNEL_DISPATCH:
        busy = 2 * of->tokens * of->topk * of->hidden / kernel->bytes_per_second;
        break;
    case KERNEL_SCAN:
        busy = scan(kernel, chip, of);
        break;
    case KERNEL_OP_COUNT:
        break;
    }
    return busy + kernel->start_seconds;
}

bool kernel_shape_is_fitted(KernelOp op, const KernelShape *of) {
    switch (op) {
    case KERNEL_MATMUL:
        return of->m >= 1024;
    case KERNEL_ATTENTION:
    case KERNEL_LATENT_ATTENTION:
        return of->length >= 1024;
    case KERNEL_EXPERTS:
        return of->tokens >= 512 && of->tokens * of->topk >= 16 * of->experts;
    case KERNEL_COLLECTIVE:
        return of->bytes >= 1 << 17;
    case KERNEL_DISPATCH:
        return of->tokens >= 256;
    case KERNEL_SCAN:
        return of->batch * of->length >= 1024;
    case KERNEL_OP_COUNT:
        break;
    }
    return false;
}

static bool is(const char *wanted, const char *own) { return !wanted || !wanted[0] || strcmp(wanted, own) == 0; }

/* "trtllm 1.3.0rc20 deepep" is by `version`, or whatever its second word is. */
static bool is_library(const char *wanted, const char *own, bool version) {
    if (version || !wanted || !wanted[0]) return is(wanted, own);
    size_t length = strcspn(wanted, " ");
    if (length != strcspn(own, " ") || strncmp(wanted, own, length) != 0) return false;
    wanted += length + (wanted[length] == ' '), own += length + (own[length] == ' ');
    return strcmp(wanted + strcspn(wanted, " "), own + strcspn(own, " ")) == 0;
}

const Kernel *kernels_find(const KernelTable *table, const KernelAsk *ask) {
    const char *chip = ask->chip;
    for (int version = 1; version >= 0; version--) {
        const Kernel *best = NULL;
        for (int64_t i = 0; i < table->count; i++) {
            const Kernel *at = &table->kernels[i];
            if (at->op == ask->op && is(chip, at->chip) && is_library(ask->library, at->library, version) &&
                is(ask->name, at->name) && is(ask->precision, at->precision) && is(ask->collective, at->collective) &&
                is(ask->phase, at->phase) && (!(ask->ways > 0) || at->ways == ask->ways) &&
                (!(ask->nodes > 0) || at->nodes == ask->nodes) && (!best || at->median < best->median))
                best = at;
        }
        if (best) return best;
    }
    for (int64_t i = 0; i < table->sister_count; i++) {
        if (!chip || strcmp(table->sisters[i].chip, chip) != 0) continue;
        KernelAsk sister = *ask;
        sister.chip = table->sisters[i].of;
        return kernels_find(table, &sister);
    }
    return NULL;
}
