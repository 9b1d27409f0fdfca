/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How points and pools of serving are called. */
#include "search/serving/report/serving_report.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

static ServingPool pool_of(int64_t workers, int64_t batch, int64_t tensor, int64_t pipeline, int64_t attention_data) {
    ServingPool pool = {.workers = workers, .batch = batch};
    pool.on.engine = NO_ENGINE;
    pool.on.layout = (WorkerLayout){tensor, attention_data, pipeline, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
    return pool;
}

/* Degrees above 1 by their names, each of its own value. */
Test(serving_words, pools) {
    char text[POOL_TEXT_SIZE];
    ServingPool pool = pool_of(1, 1, 1, 1, 1);
    cr_expect_str_eq(pool_notation(&pool, text), "one chip");
    WorkerLayout *layout = &pool.on.layout;
    layout->tensor = 2;
    cr_expect_str_eq(pool_notation(&pool, text), "tensor=2", "%s", text);
    layout->pipeline = 3, layout->attention_data = 4, layout->expert = 5, layout->expert_tensor = 6;
    layout->kv_sequence = 7, layout->kv_batch = 8, layout->stationary = 9;
    cr_expect_str_eq(pool_notation(&pool, text),
                     "tensor=2 pipeline=3 attention_data=4 expert=5 expert_tensor=6 kv_sequence=7 kv_batch=8 "
                     "stationary=9",
                     "%s", text);
}

/* One pool, and two: workers of each, the batch of those that decode. */
Test(serving_words, points) {
    char text[POINT_TEXT_SIZE];
    ServingPoint point = {.pools = {pool_of(4, 96, 2, 1, 1), pool_of(3, 64, 8, 1, 1)}, .pool_count = 1};
    cr_expect_str_eq(point_notation(&point, text), "4 x tensor=2, batch 96", "%s", text);
    cr_expect_str_eq(point_engine(&point), "none");
    point.pool_count = 2;
    cr_expect_str_eq(point_notation(&point, text), "prompts 4 x tensor=2; decode 3 x tensor=8, batch 64", "%s", text);
    point.pools[0].on.engine = engine_named("vllm");
    cr_expect_str_eq(point_engine(&point), "vLLM", "%s", point_engine(&point));
}
