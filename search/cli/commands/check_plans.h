/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/commands/check_plans.h: the plans of a baseline planned again, and a plan that is launched compared
 * with the best. */
#pragma once

#include "search/baseline/baseline_check.h"
#include "search/baseline/snapshot.h"
#include "search/cli/command.h"
#include "search/options/options.h"

/* Frees the documents that entries own; entries may be NULL. */
void checked_entries_free(const CheckedEntry *entries, int count);

/* What an entry of a baseline is planned again with. */
typedef struct {
    const Options *options; /* of the command line */
    const Tolerance *tolerance;
    const char *data_sha256;
    bool apart; /* several entries at once: one thread for each */
} CheckRun;

/* Answers the entry's request again, and compares: fills entry->now, which the entry owns, and what follows of it. */
typedef bool PlanAgain(const CheckRun *run, const BaselineEntry *from, Arena *arena, CheckedEntry *entry,
                       Error *error);
PlanAgain training_again, serving_again;

/* One entry for each of the baseline, planned again under --time-limit and --threads of run.options; several side by
 * side. `progress`: gets a line for each that is done; NULL: none. In the arena. False: something is wrong with more
 * than an entry. */
bool check_baseline(CheckRun run, const Baseline *baseline, FILE *progress, Arena *arena, CheckedEntry **entries,
                    Error *error);

/* One entry: the plan of --plan or --from compared with the best plan of its request, which is found first. *code is
 * EXIT_NO_PLAN where there is no best, EXIT_LIMIT where a limit ended a search before it was known whether the plan is
 * close enough; else EXIT_DONE or EXIT_GATE. Says on `err` what is odd in the request. */
bool check_launched(const Options *options, const Tolerance *within, const char *data_sha256, FILE *err, Arena *arena,
                    CheckedEntry *entry, int *code, Error *error);
