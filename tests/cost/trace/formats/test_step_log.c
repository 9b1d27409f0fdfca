/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/trace/formats/formats.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bool read(const char *text, StepLog *out, Error *error) {
    ByteText bytes = {text, strlen(text)};
    *error = (Error){0};
    return step_log_read(byte_source_of_text(&bytes), "log", out, error);
}

/* One line of each launcher, with prefixes as they come. */
Test(step_log, lines_of_launchers) {
    static const struct {
        const char *line, *launcher;
        double seconds;
    } ROWS[] = {
        {"[default7]: [2025-01-01] iteration      100/  500 | consumed samples: 640 | elapsed time per iteration (ms): "
         "7900.1 | throughput per GPU (TFLOP/s/GPU): 401.1 | global batch size:    64 |\n",
         "Megatron-LM", 7.9001},
        {"0: Step Time : 7.12s GPU utilization: 812.3MODEL_TFLOP/s/GPU\n", "Megatron-Bridge", 7.12},
        {"Training epoch 0, iteration 19/99 | lr: 1 | global_step: 19 | train_step_timing in s: 1e+01 | x: 1", "NeMo",
         10},
        {"completed step: 4, seconds: 5.670, TFLOP/s/device: 100.1, Tokens/s/device: 10.0\n", "MaxText", 5.67},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        StepLog log;
        Error error;
        cr_assert(read(ROWS[i].line, &log, &error), "%s", error.text);
        cr_expect_str_eq(log.launcher, ROWS[i].launcher);
        cr_expect_float_eq(log.median, ROWS[i].seconds, 1e-9, "%s", ROWS[i].launcher);
    }
}

/* torchtitan's line as it is printed, with colours: 4,376 tokens a second and device; with 8,192 tokens a device a step
 * takes 8192 / 4376 = 1.872 s. */
Test(step_log, tokens_of_torchtitan) {
    StepLog log;
    Error error;
    cr_assert(read("[titan] 2025-02-12 - root - INFO - \x1b[31mstep: 20  \x1b[32mloss: 11.83506  \x1b[38;2;180;60;0m"
                   "grad_norm: 9.6669  \x1b[33mmemory: 48.87GiB(51.44%)  \x1b[34mtps: 4,376  \x1b[36mtflops: 253.41  "
                   "\x1b[35mmfu: N/A\x1b[39m\n",
                   &log, &error),
              "%s", error.text);
    cr_expect_str_eq(log.launcher, "torchtitan");
    cr_expect(log.of_tokens);
    cr_expect_float_eq(log.median, 1.0 / 4376, 1e-12);
    step_log_scale(&log, 8192);
    cr_expect(!log.of_tokens);
    cr_expect_float_eq(log.median, 8192.0 / 4376, 1e-9);
    step_log_scale(&log, 8192);
    cr_expect_float_eq(log.median, 8192.0 / 4376, 1e-9);
}

/* Megatron's timers: setup does not count, nor the first report where there are more: of forward and backward those
 * with 210 and 220 and with 230 alone. */
Test(step_log, timers_of_megatron) {
    static const char LOG[] = "(min, max) time across ranks (ms):\n"
                              "    model-and-optimizer-setup ......................: (1345.37, 1359.59)\n"
                              "training ...\n"
                              " [2026-09-20 21:31:05] iteration 1/ 6 | elapsed time per iteration (ms): 291.2 |\n"
                              "(min, max) time across ranks (ms):\n"
                              "    forward-backward ...............................: (9999.00, 9999.00)\n"
                              "    optimizer ......................................: (3407.56, 3409.92)\n"
                              " [2026-09-20 21:31:06] iteration 2/ 6 | elapsed time per iteration (ms): 291.2 |\n"
                              "[default0]:(min, max) time across ranks (ms):\n"
                              "[default0]:    forward-backward ...............................: (210.00, 220.00)\n"
                              "[default0]:    optimizer ......................................: (40.00, 41.00)\n"
                              "[default0]:next .....: (1, x)\n"
                              "done\n"
                              "    stray ..........................................: (1.00, 2.00)\n"
                              "max time across ranks (ms):\n"
                              "    forward-backward ...............................: 230.00\n";
    StepLog log;
    Error error;
    cr_assert(read(LOG, &log, &error), "%s", error.text);
    cr_assert_eq(log.timer_count, 2, "%d", log.timer_count);
    cr_expect_str_eq(log.timers[0].name, "forward-backward");
    cr_expect_float_eq(log.timers[0].least, (0.210 + 0.230) / 2, 1e-9);
    cr_expect_float_eq(log.timers[0].most, (0.220 + 0.230) / 2, 1e-9);
    cr_expect_str_eq(log.timers[1].name, "optimizer");
    cr_expect_float_eq(log.timers[1].most, 0.041, 1e-9);
}

/* 44.9, 0.3 and 5.7 are compilation and dispatch; of 2.0, 2.1, 2.2, 2.3, 9.0 the last saved a checkpoint. */
Test(step_log, first_and_long_steps_do_not_count) {
    static const double SECONDS[] = {44.9, 0.3, 5.7, 2.3, 2.0, 9.0, 2.1, 2.2};
    char text[2048];
    int used = 0;
    StepLog log;
    Error error;
    for (size_t i = 0; i < COUNT_OF(SECONDS); i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "completed step: %zu, seconds: %.1f, TFLOP/s/device: 1\n", i, SECONDS[i]);
    cr_assert(read(text, &log, &error), "%s", error.text);
    cr_expect(log.steps == 8 && log.used == 4, "%d of %d", log.used, log.steps);
    cr_expect_float_eq(log.median, 2.15, 1e-9);
    cr_expect_float_eq(log.lower, 2.1, 1e-9);
    cr_expect_float_eq(log.upper, 2.3, 1e-9);
}

Test(step_log, what_is_no_log) {
    static const char *const ROWS[] = {"", "hello\n", "seconds: 3\n", "elapsed time per iteration (ms): nan |\n",
                                       "completed step: 1, seconds: -4, TFLOP\n"};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        StepLog log;
        Error error;
        cr_expect_not(read(ROWS[i], &log, &error), "%zu", i);
        cr_expect(error.kind == ERROR_INPUT && strstr(error.text, "no log"), "%zu: %s", i, error.text);
    }
}

/* A rank that took no time at all is one; negative times, a least beyond the most and absurd ones are none. */
Test(step_log, timers_at_their_limits) {
    static const struct {
        const char *value;
        bool kept;
    } ROWS[] = {{"(0.00, 5.00)", true},   {"(5.00, 5.00)", true},        {"(5.01, 5.00)", false},
                {"(-0.01, 5.00)", false}, {"9999999999.00", true},       {"10000000000.00", false},
                {"0.00", true},           {"(0.00, 10000000001)", false}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char text[256];
        StepLog log;
        Error error;
        snprintf(text, sizeof text,
                 "(min, max) time across ranks (ms):\n    optimizer ....: %s\n"
                 " [2026-09-20 21:31:05] iteration 1/ 6 | elapsed time per iteration (ms): 291.2 |\n",
                 ROWS[i].value);
        cr_assert(read(text, &log, &error), "%s", error.text);
        cr_expect_eq(log.timer_count, ROWS[i].kept, "%s: %d", ROWS[i].value, log.timer_count);
    }
}

/* A line of any length, and bytes of nothing in it, leave the next one as it is. */
Test(step_log, long_lines) {
    for (size_t length = 4090; length <= 4100; length++) {
        char text[8192];
        StepLog log;
        Error error;
        memset(text, 'x', length);
        snprintf(text + length, sizeof text - length, "\n completed step: 4, seconds: 5.670, TFLOP/s/device: 100.1\n");
        cr_assert(read(text, &log, &error), "%zu: %s", length, error.text);
        cr_expect_float_eq(log.median, 5.67, 1e-9, "%zu", length);
    }
}
