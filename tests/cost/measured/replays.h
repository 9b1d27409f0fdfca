/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/cost/measured/replays.h: rows of the project's table, replayed. */
#pragma once

#include "base/util.h"
#include "cost/measured/replay.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static Arena arena;
static RunTable train;
static ReplayData data;
static ProfileSet set;
static Replay replay; /* the last replay: it is too large for a stack */

static void replays_setup(void) {
    Error error = {0};
    cr_assert(run_table_read(SHARDOPT_SOURCE_DATA "/cost/measured/data/train.jsonl", &arena, &train, &error), "%s",
              error.text);
    cr_assert(replay_data_load(&arena, &data, &error), "%s", error.text);
    cr_assert(profile_set_default(&arena, &set, &error), "%s", error.text);
}

static void replays_teardown(void) { arena_free(&arena); }

__attribute__((unused)) static Run run_named(const char *id) {
    for (int64_t i = 0; i < train.count; i++)
        if (strcmp(train.runs[i].id, id) == 0) return train.runs[i];
    cr_assert_fail("no run %s", id);
    return (Run){0};
}

__attribute__((unused)) static const Replay *replayed(const Run *run) {
    replay_prepare(run, &data, &set, &replay);
    cr_assert_str_empty(replay.skipped, "%s: %s", run->id, replay.skipped);
    return &replay;
}
