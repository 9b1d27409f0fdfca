/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/ledger.h: the certificate of a search of `shardopt inference`, written while it is made: a line for
 * every layout that is visited or left out, and one for every range of batches that is cut, with the bound that cut it.
 * What no line cuts was evaluated. */
#pragma once

#include "mesh/machine.h"

#include <stdio.h>

/* Columns, with tabs: engine mode phase box tensor attention_data pipeline expert expert_tensor kv_sequence kv_batch
 * stationary weights cache placement what low high user chip. `what`: layout (batches low to high are covered); memory,
 * limit, time_limit (low to high are cut); bound (cut: no user of these batches gets more than `user`, no chip more
 * than `chip`); worker (the same with `chip` of one worker, beaten by a worker_front line of its box and cache);
 * worker_front; or why a layout was left out: indivisible, require, engine, equal. Rates are hexadecimal. */
typedef struct ServingLedger {
    FILE *out;
    const char *engine, *mode; /* of the lines that follow */
} ServingLedger;

struct ServingLayout;

typedef struct {
    const char *what;
    int64_t low, high; /* batches; 0: none in particular */
    double user, chip; /* rates; 0: none */
} LedgerLine;

/* The names of the columns. */
void serving_ledger_begin(ServingLedger *ledger);

/* Nothing where `ledger` is NULL. `phase` is a ServingPhase. */
void serving_ledger_add(ServingLedger *ledger, int phase, const struct ServingLayout *layout, LedgerLine line);
