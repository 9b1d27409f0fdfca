/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chip's time of a token, parted by hand. */
#include "search/serving/launch/served_against.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static ServingPool pool(int64_t workers, int64_t tensor, double matmul, double reduce) {
    ServingPool out = {.workers = workers};
    out.on.layout = (WorkerLayout){.tensor = tensor, .attention_data = 1, .pipeline = 1};
    out.step.terms[STEP_MATMUL] = matmul;
    out.step.terms[STEP_REDUCE] = reduce;
    out.step.seconds = matmul + reduce;
    return out;
}

/* Two copies of tensor=2 on a machine of 8: 4 chips idle. Each token takes 8 chips / 400 tokens/s = 20 ms of a chip,
 * half of it idle; of the rest a quarter is reduce. Two pools of 3 and 1 chips part 4 chips / 400 = 10 ms as 7.5 and
 * 2.5. */
Test(chip_time, rows_add_up) {
    ServingQuestion *question = calloc(1, sizeof *question);
    cr_assert(question);
    question->machine.mesh.chips = 8;
    ServingPoint copies = {.pool_count = 1, .chips_used = 4, .per_chip = 50};
    copies.pools[0] = pool(2, 2, 3e-3, 1e-3);
    ServingPoint pools = {.pool_count = 2, .chips_used = 4, .per_chip = 50};
    pools.pools[0] = pool(3, 1, 4e-3, 0);
    pools.pools[1] = pool(1, 1, 1e-3, 3e-3);
    ChipTime one, two;
    chip_time(question, &copies, &one);
    chip_time(question, &pools, &two);
    cr_expect_float_eq(one.total, 20e-3, 1e-12);
    cr_expect_float_eq(one.seconds[CHIP_TIME_IDLE], 10e-3, 1e-12);
    cr_expect_float_eq(one.seconds[STEP_MATMUL], 7.5e-3, 1e-12);
    cr_expect_float_eq(one.seconds[STEP_REDUCE], 2.5e-3, 1e-12);
    cr_expect_float_eq(two.seconds[STEP_MATMUL], 7.5e-3 + 0.25 * 2.5e-3, 1e-12);
    cr_expect_float_eq(two.seconds[STEP_REDUCE], 0.75 * 2.5e-3, 1e-12);
    double sum = 0;
    for (int row = 0; row < CHIP_TIME_ROWS; row++) sum += two.seconds[row];
    cr_expect_float_eq(sum, two.total, 1e-12);
    cr_expect_eq(chip_time_most(&one, &two), STEP_REDUCE);
    cr_expect_eq(chip_time_most(&two, &one), STEP_MATMUL);
    cr_expect_eq(chip_time_most(&one, &one), -1);
    cr_expect_str_eq(chip_time_name(CHIP_TIME_IDLE), "idle chips");
    question->rate = 1; /* then the chips that are used are paid alone */
    copies.per_chip = 100;
    chip_time(question, &copies, &one);
    cr_expect_float_eq(one.total, 10e-3, 1e-12);
    cr_expect_float_eq(one.seconds[CHIP_TIME_IDLE], 0, 1e-12);
    free(question);
}
