/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/serving/measured/measured_fixture.h: measured rows of serving with their predictions, filled by hand. */
#pragma once

#include "search/serving/measured/serving_score.h"

#include <criterion/criterion.h>

/* A row of one load: every text is there, nothing of it varies. */
static inline ServingRun measured_run(void) {
    return (ServingRun){.family = "source",
                        .group = "group",
                        .model = "model",
                        .chip = "chip",
                        .engine = "vllm",
                        .framework = "vllm",
                        .variant = "",
                        .not_replayed = "",
                        .mode = "closed-loop",
                        .version = "1",
                        .chips = 1,
                        .prompt = 1000,
                        .output = 101,
                        .concurrency = 8};
}
