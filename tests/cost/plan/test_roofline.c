/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seconds of one op: the longer of its FLOPs and its bytes, at the share of the chip's rates that a profile reaches. */
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>

/* 1e12 FLOP/s, 1e10 B/s, tiles of 128. [1000, 100] x [100, 200]: 4e7 FLOPs, 40 us. */
Test(roofline, seconds) {
    const Profile tiles = {.tile_padding = true, .matrix_efficiency = 1, .compute_factor = 1, .hbm_efficiency = 1},
                  half = {.matrix_efficiency = 0.5, .compute_factor = 1, .hbm_efficiency = 1};
    const Profile grouped = {.matrix_efficiency = 0.5,
                             .compute_factor = 1,
                             .grouped_efficiency = 0.8,
                             .grouped_factor = 1,
                             .hbm_efficiency = 1},
                  slow = {.matrix_efficiency = 1, .compute_factor = 1, .hbm_efficiency = 0.5};
    const Profile traffic = {.matrix_efficiency = 1, .compute_factor = 1, .matmul_traffic = 1.4, .hbm_efficiency = 1};
    const Profile attention = {
        .attention_efficiency = 0.5, .attention_factor = 1, .attention_backward_rate = 0.8, .hbm_efficiency = 1};
    const Profile fused = {.hbm_efficiency = 0.5, .elementwise_traffic = 0.25};
    const Op matmul = {.kind = OP_MATMUL,
                       .m = 1000,
                       .n = 200,
                       .k = 100,
                       .groups = 1,
                       .chunks = 1,
                       .flops = {4e7, 8e7},
                       .hbm_bytes = {1e4, 1e6}};
    Op experts = matmul, scores = matmul, elementwise = {.kind = OP_ELEMENTWISE, .hbm_bytes = {1e6, 2e6}},
       lookup = {.kind = OP_LOOKUP, .hbm_bytes = {1e6, 2e6}};
    experts.kind = OP_GROUPED_MATMUL;
    Op one = experts, many = experts;
    experts.groups = 4, many.groups = 1e9;
    scores.kind = OP_ATTENTION;
    const struct {
        const char *name;
        Op op;
        const Profile *profile;
        Phase phase;
        double seconds;
        bool memory_bound;
    } rows[] = {
        {"FLOPs decide", matmul, &IDEAL, PHASE_FORWARD, 4e-5, false},
        {"bytes decide", matmul, &IDEAL, PHASE_BACKWARD, 1e-4, true},
        {"half the peak", matmul, &half, PHASE_FORWARD, 8e-5, false},
        {"half of HBM", matmul, &slow, PHASE_BACKWARD, 2e-4, true},
        {"200 x 100 padded to 256 x 128", matmul, &tiles, PHASE_FORWARD, 4e-5 * 256 * 128 / 20000, false},
        {"operand traffic: 1 + 1.4 x 100 x (1/1000 + 1/200 + 1/100)", matmul, &traffic, PHASE_FORWARD, 4e-5 * 3.24,
         false},
        {"one group is a plain matmul", one, &grouped, PHASE_FORWARD, 8e-5, false},
        {"four groups: 3/4 of what many lose", experts, &grouped, PHASE_FORWARD, 8e-5 * (1 + 0.25 * 0.75), false},
        {"many: 0.5 x 0.8 of the peak", many, &grouped, PHASE_FORWARD, 1e-4 * (1 - 0.2e-9), false},
        {"attention", scores, &attention, PHASE_FORWARD, 8e-5, false},
        {"its backward at 0.8 of that rate", scores, &attention, PHASE_BACKWARD, 2e-4, false},
        {"fused elementwise in ideal", elementwise, &IDEAL, PHASE_FORWARD, 0, false},
        {"a quarter is left, at half of HBM", elementwise, &fused, PHASE_BACKWARD, 1e-4, true},
        {"a look-up never fuses", lookup, &IDEAL, PHASE_BACKWARD, 2e-4, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Chip chip = bench_chip(1e12, 1e10);
        chip.matrix_tile.value = 128;
        bool memory_bound;
        double seconds = op_seconds(&rows[i].op, rows[i].phase, &chip, rows[i].profile, &memory_bound);
        cr_expect_float_eq(seconds, rows[i].seconds, 1e-15, "%s: %.9g", rows[i].name, seconds);
        cr_expect_eq(memory_bound, rows[i].memory_bound, "%s", rows[i].name);
    }
}
