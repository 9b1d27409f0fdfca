/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One program for all readers of input: FUZZER=chip build-fuzz/fuzz corpus... Each fuzzer has a law that holds whatever
 * its input is, said above its function: a reader says yes, or no with one line; what it takes can be used. */
#pragma once

#include "base/json.h"
#include "base/util.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A tree: it is the fuzzer's to read, not to free. Bytes: an allocation of their own, so that a sanitizer sees their
 * end, which is a NUL behind `size` where the fuzzer's row says so. */
void fuzz_baseline(const cJSON *json);
void fuzz_chip(const cJSON *json);
void fuzz_kernel_names(const cJSON *json);
void fuzz_optimizer(const cJSON *json);
void fuzz_profile(const cJSON *json);
void fuzz_profile_set(const cJSON *json);
void fuzz_report(const cJSON *json);
void fuzz_serving_profile(const cJSON *json);
void fuzz_bench_log(char *bytes, size_t size);
void fuzz_config(char *bytes, size_t size);
void fuzz_config_import(char *bytes, size_t size);
void fuzz_gzip(char *bytes, size_t size);
void fuzz_json(char *bytes, size_t size);
void fuzz_layout(char *bytes, size_t size);
void fuzz_program(char *bytes, size_t size);
void fuzz_rl_config(char *bytes, size_t size);
void fuzz_runs(char *bytes, size_t size);
void fuzz_serving(char *bytes, size_t size);
void fuzz_serving_runs(char *bytes, size_t size);
void fuzz_step_log(char *bytes, size_t size);
void fuzz_sweep(char *bytes, size_t size);
void fuzz_words(char *bytes, size_t size);
void fuzz_chrome(char *bytes, size_t size);
void fuzz_nsight(char *bytes, size_t size);
void fuzz_xplane(char *bytes, size_t size);

/* A reader says yes, or no with one line: of what is wrong in its input; fuzz_check: or of a file that is not there. */
void fuzz_input(bool ok, const Error *error);
void fuzz_check(bool ok, const Error *error);
