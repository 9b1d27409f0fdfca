/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The training with failures, against figures worked out by hand: 1,024 chips in hosts of 8, a failure of a chip every
 * 50,000 hours, 12 bytes a parameter. */
#include "models/parameters.h"
#include "search/answer/plan_words.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static Request *request_new(void) {
    Request *request = calloc(1, sizeof *request);
    cr_assert(request);
    Question *question = &request->question;
    question->work = (Work){.sequences = 1024, .seq = 4096};
    question->model.kind_count = 1;
    question->model.kinds[0] = (LayerKind){.count = 32, .heads = 32, .kv_heads = 32, .head_dim = 128, .d_ff = 16384};
    question->model.d_model = 4096;
    question->model.layers = 32;
    question->model.vocab = 32000;
    question->training_tokens = 1e12;
    question->chip.hbm_bytes.value = 80e9;
    question->chip.bf16_flops_per_second.value = 1e15;
    question->chip.usd_per_chip_hour.value = 2;
    question->chip.hours_per_failure.value = 50000;
    question->chip.chips_per_host = 8;
    question->machine.mesh.chips = 1088;
    question->failing.restart_seconds = -1;
    question->profile = (Profile){.restart_seconds = 600,
                                  .repair_seconds = 86400,
                                  .checkpoint_seconds = 1,
                                  .storage_bytes_per_second = 1e11,
                                  .storage_chip_bytes_per_second = 1e7,
                                  .pcie_efficiency = 1};
    return request;
}

static RankedPlan ranked_new(void) {
    RankedPlan ranked = {.work = {.sequences = 1024, .seq = 4096}};
    ranked.machine.mesh.chips = 1024;
    ranked.estimate.time.seconds = 2;
    return ranked;
}

Test(failing, by_hand) {
    Request *request = request_new();
    RankedPlan ranked = ranked_new();
    Failing failing = failing_of(request, &ranked);
    double bytes = 12 * (double)model_parameters(&request->question.model).total;
    double mean = 50000.0 * 3600 / 1024, write = bytes / (1024 * 1e7), blocking = 1 + write; /* no host is known */
    cr_expect_float_eq(failing.mtbf_seconds, mean, 1e-6);
    cr_expect_float_eq(failing.checkpoint_bytes, bytes, 1);
    cr_expect_float_eq(failing.write_seconds, write, 1e-9);
    cr_expect_float_eq(failing.blocking_seconds, blocking, 1e-9);
    double interval = failing.interval_seconds;
    cr_expect_float_eq(interval, sqrt(2 * blocking * mean) - blocking + 2 * blocking / 3, 0.01 * interval); /* Daly */
    double good = interval / mean * exp(-600 / mean) / (exp((interval + blocking) / mean) - 1);
    cr_expect_float_eq(failing.goodput, good, 1e-9);
    double steps = 1e12 / (1024.0 * 4096);
    cr_expect_float_eq(failing.seconds, 2 * steps / good, 1e-3);
    cr_expect_float_eq(failing.usd, 2 * 1088 * 2 * steps / 3600 / good, 1); /* idle chips are paid for */
    cr_expect_eq(failing.hosts, 128);
    cr_expect_eq(failing.idle_hosts, 8);
    cr_expect_eq(failing.spares, 2); /* 6,250 hours a host, 24 of repair */
    free(request);
}

Test(failing, as_the_user_says) {
    Request *request = request_new();
    RankedPlan ranked = ranked_new();
    request->question.failing =
        (FailureRequest){.mtbf_seconds = 7200, .restart_seconds = 60, .storage_bytes_per_second = 1e12};
    Failing failing = failing_of(request, &ranked);
    cr_expect_float_eq(failing.mtbf_seconds, 7200, 0);
    cr_expect_float_eq(failing.restart_seconds, 60, 0);
    cr_expect_float_eq(failing.write_seconds, failing.checkpoint_bytes / 1e12, 1e-9);
    request->question.failing.never = true;
    cr_expect_eq(failing_of(request, &ranked).mtbf_seconds, 0);
    request->question.failing = (FailureRequest){.restart_seconds = -1};
    request->question.chip.hours_per_failure.value = 0; /* not known */
    cr_expect_eq(failing_of(request, &ranked).mtbf_seconds, 0);
    /* a job that fails before it can restart gets nowhere, and no infinity is printed */
    request->question.failing = (FailureRequest){.mtbf_seconds = 1e-3, .restart_seconds = 1e6};
    cr_expect_eq(failing_of(request, &ranked).mtbf_seconds, 0);
    free(request);
}
