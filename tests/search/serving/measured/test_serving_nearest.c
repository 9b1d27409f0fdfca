/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps between a point and a run, counted by hand: one for each factor of two, two, three or four for what the header
 * says. */
#include "search/serving/measured/serving_replay.h"

#include "base/util.h"
#include "tests/search/serving/measured/measured_fixture.h"

#include <math.h>

static ServingQuestion question;
static ServingPoint point;
static ServingRun run;
static Model model;
static SubMesh submesh = {.devices = 4};

/* 4 chips in tensor of vLLM, 8 requests in flight of one worker, lengths of 1000 and 101: as it was measured. */
static void make(void) {
    model = (Model){.name = "model", .layers = 8, .d_model = 1024, .vocab = 1000, .kind_count = 1};
    model.kinds[0] = (LayerKind){.count = 8, .heads = 8, .kv_heads = 8, .head_dim = 128, .d_ff = 4096, .norms = 2};
    question = (ServingQuestion){.model = model, .request = {1000, 101, 0}};
    point = (ServingPoint){.pool_count = 1};
    point.pools[0].batch = point.pools[1].batch = 8;
    point.pools[0].on.submesh = point.pools[1].on.submesh = &submesh;
    point.pools[0].on.engine = point.pools[1].on.engine = engine_named("vllm");
    run = measured_run();
    run.worker = run.decode = (RunWorker){.workers = 1, .tensor = 4};
    run.tpot_seconds = 0.01;
    run.ttft_seconds = 1;
}

static double distance(void) { return serving_distance(&question, &point, &model, &run); }

Test(serving_nearest, steps) {
    make();
    cr_expect_eq(distance(), 0);
    run.prompt = 4000;
    cr_expect_float_eq(distance(), 2, 1e-12, "two factors of two in the prompt");
    run.output = 50.5, run.tpot_seconds = 0.1;
    cr_expect_float_eq(distance(), 3, 1e-12, "and one in the answer");
    make();
    run.worker.tensor = 1, run.worker.attention_data = 2, run.worker.pipeline = 4;
    cr_expect_float_eq(distance(), 1, 1e-12, "eight chips for four");
    make();
    run.worker.workers = 4;
    cr_expect_float_eq(distance(), 2, 1e-12, "two requests of each of four workers for eight");
    make();
    run.engine = "sglang";
    cr_expect_float_eq(distance(), 2, 1e-12, "another engine");
    make();
    run.drafts_unknown = true;
    cr_expect_float_eq(distance(), 1.5, 1e-12, "drafts, perhaps");
    make();
    run.not_replayed = "speculation is on";
    cr_expect(isinf(distance()), "no request");
    make();
    run.mode = "disagg";
    cr_expect_float_eq(distance(), 1, 1e-12, "two pools for one");
    point.pool_count = 2;
    cr_expect_eq(distance(), 0);
    run.decode.tensor = 2;
    cr_expect_float_eq(distance(), 1, 1e-12, "its pool that decodes counts");
    make();
    point.pool_count = 2;
    cr_expect_float_eq(distance(), 1, 1e-12, "one pool for two");
}

/* Requests that were all sent at once have no number in flight: three steps. */
Test(serving_nearest, all_at_once) {
    make();
    run.mode = "offline-max", run.tokens_per_second = 100, run.tpot_seconds = run.concurrency = 0;
    cr_expect_float_eq(distance(), 3, 1e-12);
    run.tokens_per_second = 0;
    cr_expect(isinf(distance()), "nothing was measured");
}

/* Two models of the same sizes and another name are four apart; each factor of two in size is two more, and beyond
 * three of them, or where one is a mixture, they are not compared. */
Test(serving_nearest, models) {
    make();
    model.name[0] = 'a';
    cr_expect_float_eq(distance(), 4, 1e-12);
    model.layers = model.kinds[0].count = 16;
    double twice = distance();
    cr_expect(twice > 4 + 2 * 0.9 && twice < 4 + 2, "%g: nearly twice the parameters", twice);
    model.layers = model.kinds[0].count = 80;
    cr_expect(isinf(distance()));
    make();
    model.kinds[0].experts = 8, model.kinds[0].top_k = 1, model.kinds[0].d_ff_expert = 4096;
    cr_expect(isinf(distance()), "a mixture");
}

/* What says nothing: no time of a token, arrivals at a rate, a first token that waited longer than all others took. */
Test(serving_nearest, what_says_nothing) {
    make();
    run.tpot_seconds = 0;
    cr_expect(isinf(distance()));
    make();
    run.mode = "open-loop";
    cr_expect(isinf(distance()));
    make();
    run.concurrency = 0;
    cr_expect(isinf(distance()));
    make();
    run.ttft_seconds = 1.0001; /* 100 further tokens of 10 ms take a second */
    cr_expect(isinf(distance()));
    run.ttft_seconds = 1;
    cr_expect_eq(distance(), 0);
}
