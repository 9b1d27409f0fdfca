/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forms of kernels against sums made by hand, and laws that all kernels of the files keep. */
#include "cost/kernels/kernel.h"

#include "base/util.h"
#include "mesh/chip_json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* 100 TFLOP/s in bf16, 200 in fp8, 400 in 4 bits, HBM of 1 TB/s, links of 4 x 25 GB/s. */
static const Chip CHIP = {.name = "round",
                          .bf16_flops_per_second = {.value = 1e14},
                          .fp8_flops_per_second = {.value = 2e14},
                          .fp4_flops_per_second = {.value = 4e14},
                          .hbm_bytes_per_second = {.value = 1e12},
                          .link_bytes_per_second = {.value = 25e9},
                          .links_per_chip = 4};

static Arena arena;
static KernelTable table;

static void load(void) {
    Error error = {0};
    cr_assert(kernels_load(KERNELS_ALL, &arena, &table, &error), "%s: %s", error.where, error.text);
}

static const struct {
    const char *what;
    Kernel kernel;
    KernelShape shape;
    double seconds;
} BY_HAND[] = {
    {"2 x 1000 x 2000 x 4000 at half of 100 TFLOP/s",
     {.op = KERNEL_MATMUL, .precision = "bf16", .share = 0.5},
     {.m = 1000, .n = 2000, .k = 4000},
     1.6e10 / 5e13},
    {"a reduction that is as dear as one of 5000, and a start",
     {.op = KERNEL_MATMUL, .precision = "bf16", .share = 0.5, .k0 = 1000, .start_seconds = 1e-5},
     {.m = 1000, .n = 2000, .k = 4000},
     2e10 / 5e13 + 1e-5},
    {"fp8 at half of 200 TFLOP/s, with 8 bytes of cast for each of 4e6 inputs",
     {.op = KERNEL_MATMUL, .precision = "fp8", .share = 0.5, .cast_bytes = 8},
     {.m = 1000, .n = 20000, .k = 4000},
     1.6e11 / 1e14 + 32e6 / 1e12},
    {"a thin one waits for 2 bytes each of 2000 + 4000 x 1000 + 4000 numbers at 0.85 of HBM",
     {.op = KERNEL_MATMUL, .precision = "bf16", .share = 1},
     {.m = 1, .n = 1000, .k = 4000},
     2 * (4000 + 4e6 + 1000) / 0.85e12},
    {"causal: half of 2 sequences of 1000 keys for each of 2 x 1000 queries, 8 heads of 128",
     {.op = KERNEL_ATTENTION, .precision = "bf16", .widths = 1, .width = {128}, .share_at = {0.5}},
     {.batch = 2, .length = 1000, .heads = 8, .head_width = 128},
     4. * 2 * 1000 * 500 * 8 * 128 / 5e13},
    {"a window of 100: 100 keys less those that the first queries do not have",
     {.op = KERNEL_ATTENTION, .precision = "bf16", .widths = 1, .width = {128}, .share_at = {0.5}},
     {.batch = 2, .length = 1000, .heads = 8, .head_width = 128, .window = 100},
     4. * 2 * (1000 * 100 - 100 * 100 / 2) * 8 * 128 / 5e13},
    {"500 keys more for each query, half of them",
     {.op = KERNEL_ATTENTION, .precision = "bf16", .widths = 1, .width = {128}, .share_at = {0.5}, .length0 = 500},
     {.batch = 2, .length = 1000, .heads = 8, .head_width = 128},
     4. * 2 * 1000 * 750 * 8 * 128 / 5e13},
    {"a width between two that were measured",
     {.op = KERNEL_ATTENTION, .precision = "bf16", .widths = 2, .width = {64, 128}, .share_at = {0.3, 0.5}},
     {.batch = 2, .length = 1000, .heads = 8, .head_width = 96},
     4. * 2 * 1000 * 500 * 8 * 96 / 4e13},
    {"half of the narrowest that was measured",
     {.op = KERNEL_ATTENTION, .precision = "bf16", .widths = 1, .width = {128}, .share_at = {0.5}},
     {.batch = 1, .length = 1000, .heads = 8, .head_width = 64},
     4. * 1000 * 500 * 8 * 64 / (5e13 * 0.85)},
    {"latent: keys of 192, values of 128",
     {.op = KERNEL_LATENT_ATTENTION, .precision = "bf16", .share = 0.5},
     {.batch = 1, .length = 1000, .heads = 8},
     2. * 1000 * 500 * 8 * 320 / 5e13},
    {"4 of 16 experts a chip, 8000 of 16000 x 2 routed rows, 10 more each",
     {.op = KERNEL_EXPERTS, .precision = "bf16", .share = 0.5, .rows0 = 10, .matrices = 3},
     {.tokens = 16000, .topk = 2, .experts = 16, .expert = 4, .hidden = 1000, .inter = 3000, .tensor = 2},
     6. * (8000 + 40) * 1000 * 1500 / 5e13},
    {"all_reduce of 8: 2 x 7/8 of 800 MB over half of 100 GB/s",
     {.op = KERNEL_COLLECTIVE, .collective = "all_reduce", .ways = 8, .share = 0.5, .start_seconds = 2e-5},
     {.bytes = 8e8},
     1.4e9 / 5e10 + 2e-5},
    {"all_gather of 2: half of it",
     {.op = KERNEL_COLLECTIVE, .collective = "all_gather", .ways = 2, .share = 0.5},
     {.bytes = 8e8},
     4e8 / 5e10},
    {"dispatch of 1000 tokens to 8 experts each",
     {.op = KERNEL_DISPATCH, .bytes_per_second = 1e11},
     {.tokens = 1000, .topk = 8, .hidden = 4000},
     6.4e7 / 1e11},
    {"64 tokens of one head: 6 x 128 x 128 and 4 x 64 x 256 each, and one chunk",
     {.op = KERNEL_SCAN, .share = 0.5, .chunk_seconds = 1e-6},
     {.batch = 1, .length = 64, .heads = 1, .key_width = 128, .value_width = 128},
     64. * (98304 + 65536) / 5e13 + 1e-6},
};

Test(kernel, forms_by_hand) {
    for (size_t i = 0; i < COUNT_OF(BY_HAND); i++) {
        double seconds = kernel_seconds(&BY_HAND[i].kernel, &CHIP, &BY_HAND[i].shape);
        cr_expect_float_eq(seconds, BY_HAND[i].seconds, 1e-12 * BY_HAND[i].seconds, "%s: %.17g, by hand %.17g",
                           BY_HAND[i].what, seconds, BY_HAND[i].seconds);
    }
}

static uint64_t state = 7;
static double draw(double low, double high) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low * pow(high / low, (double)(state >> 11) / 9007199254740992.0);
}

/* Sizes that must not make a kernel shorter when they grow, all that its form reads. */
static const struct {
    KernelOp op;
    size_t at;
    double low, high;
} SIZES[] = {
#define AT(member) offsetof(KernelShape, member)
    {KERNEL_MATMUL, AT(m), 1, 1e6},
    {KERNEL_MATMUL, AT(n), 1, 1e5},
    {KERNEL_MATMUL, AT(k), 1, 1e5},
    {KERNEL_ATTENTION, AT(batch), 1, 64},
    {KERNEL_ATTENTION, AT(length), 1, 1e6},
    {KERNEL_ATTENTION, AT(heads), 1, 128},
    {KERNEL_ATTENTION, AT(window), 1, 1e6},
    {KERNEL_LATENT_ATTENTION, AT(batch), 1, 64},
    {KERNEL_LATENT_ATTENTION, AT(length), 1, 1e6},
    {KERNEL_LATENT_ATTENTION, AT(heads), 1, 128},
    {KERNEL_EXPERTS, AT(tokens), 1, 1e6},
    {KERNEL_EXPERTS, AT(hidden), 64, 1e4},
    {KERNEL_EXPERTS, AT(inter), 64, 1e5},
    {KERNEL_EXPERTS, AT(topk), 1, 16},
    {KERNEL_EXPERTS, AT(experts), 1, 512},
    {KERNEL_COLLECTIVE, AT(bytes), 1, 1e11},
    {KERNEL_DISPATCH, AT(tokens), 1, 1e6},
    {KERNEL_DISPATCH, AT(hidden), 64, 1e4},
    {KERNEL_DISPATCH, AT(topk), 1, 16},
    {KERNEL_SCAN, AT(batch), 1, 64},
    {KERNEL_SCAN, AT(length), 1, 1e6},
    {KERNEL_SCAN, AT(heads), 1, 128},
    {KERNEL_SCAN, AT(key_width), 16, 256},
    {KERNEL_SCAN, AT(value_width), 16, 256},
#undef AT
};

Test(kernel, grow_with_every_size, .init = load) {
    int64_t pairs = 0;
    for (int64_t i = 0; i < table.count; i++) {
        for (int again = 0; again < 40; again++) {
            KernelShape shape = {.head_width = draw(16, 512)}, larger;
            for (size_t s = 0; s < COUNT_OF(SIZES); s++)
                if (SIZES[s].op == table.kernels[i].op)
                    *(double *)((char *)&shape + SIZES[s].at) = draw(SIZES[s].low, SIZES[s].high);
            double seconds = kernel_seconds(&table.kernels[i], &CHIP, &shape);
            cr_assert(seconds > 0 && isfinite(seconds), "%s %s", table.kernels[i].chip, table.kernels[i].name);
            for (size_t s = 0; s < COUNT_OF(SIZES); s++) {
                if (SIZES[s].op != table.kernels[i].op) continue;
                larger = shape;
                *(double *)((char *)&larger + SIZES[s].at) *= draw(1, 4);
                double more = kernel_seconds(&table.kernels[i], &CHIP, &larger);
                cr_expect(more >= seconds * (1 - 1e-12), "%s %s: size %zu: %g, larger %g", table.kernels[i].chip,
                          table.kernels[i].name, s, seconds, more);
                pairs++;
            }
        }
    }
    cr_expect_gt(pairs, 10000);
}

Test(kernel, files_know_the_chips_and_peaks, .init = load) {
    Error error = {0};
    Catalog catalog;
    cr_assert(catalog_load(&arena, &catalog, &error));
    int64_t of_op[KERNEL_OP_COUNT] = {0};
    for (int64_t i = 0; i < table.count; i++) {
        const Kernel *kernel = &table.kernels[i];
        const Chip *chip = catalog_find(&catalog, kernel->chip);
        cr_assert(chip, "%s", kernel->chip);
        cr_expect_str_eq(chip->name, kernel->chip);
        if (kernel->precision[0]) cr_expect_gt(kernel_peak(chip, kernel->precision), 0, "%s", kernel->chip);
        cr_expect_gt(kernel->fitted, 0);
        cr_expect_leq(kernel->median, 0.35);
        of_op[kernel->op]++;
    }
    for (KernelOp op = 0; op < KERNEL_OP_COUNT; op++) cr_expect_gt(of_op[op], 10, "%s", kernel_op_name(op));
    for (int64_t i = 0; i < table.sister_count; i++) {
        cr_expect(catalog_find(&catalog, table.sisters[i].chip), "%s", table.sisters[i].chip);
        cr_expect(catalog_find(&catalog, table.sisters[i].of), "%s", table.sisters[i].of);
    }
}

Test(kernel, is_found_by_name_version_and_sister, .init = load) {
    KernelAsk ask = {KERNEL_MATMUL, .chip = "h100", .library = "trtllm 1.3.0rc20", .precision = "fp8"};
    const Kernel *own = kernels_find(&table, &ask);
    cr_assert(own);
    cr_expect_str_eq(own->library, "trtllm 1.3.0rc20");
    ask.library = "trtllm 9.9";
    cr_expect_eq(kernels_find(&table, &ask), own, "another version");
    ask.library = "trtllm_other 1.3.0rc20";
    cr_expect_null(kernels_find(&table, &ask), "another library");
    ask = (KernelAsk){KERNEL_MATMUL, .chip = "h200", .library = "trtllm 1.3.0rc20", .precision = "fp8"};
    cr_expect_eq(kernels_find(&table, &ask), own, "her sister's");
    ask.chip = "tpu-v5p";
    cr_expect_null(kernels_find(&table, &ask));
    ask = (KernelAsk){KERNEL_COLLECTIVE, .chip = "h100", .library = "nccl", .collective = "all_gather", .ways = 4};
    const Kernel *gather = kernels_find(&table, &ask);
    cr_assert(gather);
    cr_expect_eq(gather->ways, 4);
    ask.ways = 3;
    cr_expect_null(kernels_find(&table, &ask), "nobody measured groups of 3");
    ask = (KernelAsk){KERNEL_DISPATCH, .chip = "b200", .library = "trtllm 1.3.0rc11 trtllm_deepep_ll"};
    cr_expect_null(kernels_find(&table, &ask), "low latency is no version of high throughput");
}
