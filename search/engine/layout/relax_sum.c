/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/layout/decisions.h"

#include "base/util.h"

#include <string.h>

/* Layers of an activation from one state into another that frees more: from < 0: saved. */
typedef struct {
    int from, to;
    double bytes, seconds; /* freed, and taken, by a layer */
} Exchange;

typedef struct {
    Exchange of[ITEMS_MAX];
    int count;
} Exchanges;

bool relax_is_sum(const Branch *branch, const Program *program) {
    if (program->columns > program->items || program->memory_count > 1) return false;
    for (int i = 1; i < branch->item_count; i++)
        if (branch->items[i].activation == branch->items[i - 1].activation &&
            branch->items[i].layers != branch->items[i - 1].layers)
            return false;
    return true;
}

static double seconds_of(const Program *program, int item) { return program->seconds.of[item]; }
static double bytes_of(const Program *program, int item) { return -program->memory[0].of[item]; }

/* Dearest last, by seconds per byte; both free something. */
static bool is_dearer(const Exchange *a, const Exchange *b) { return a->seconds * b->bytes > b->seconds * a->bytes; }

/* In order, not before `first`; where it came to stand. */
static int insert(Exchanges *exchanges, Exchange exchange, int first) {
    int at = exchanges->count++;
    for (; at > first && is_dearer(&exchanges->of[at - 1], &exchange); at--) exchanges->of[at] = exchanges->of[at - 1];
    exchanges->of[at] = exchange;
    return at;
}

/* The lower hull of saved and an activation's states: from saved to the cheapest per byte, from there to what frees
 * more. */
static void add_hull(const Program *program, const int *items, int count, Exchanges *exchanges) {
    double bytes = 0, seconds = 0;
    for (int state = -1, first = 0;;) {
        Exchange next = {.to = -1};
        for (int k = 0; k < count; k++) {
            Exchange step = {state, items[k], bytes_of(program, items[k]) - bytes,
                             seconds_of(program, items[k]) - seconds};
            if (step.bytes > 0 && (next.to < 0 || is_dearer(&next, &step))) next = step;
        }
        if (next.to < 0) return;
        bytes += next.bytes;
        seconds += next.seconds;
        first = insert(exchanges, next, first) + 1;
        state = next.to;
    }
}

bool relax_sum(const Branch *branch, const Program *program, Multipliers *out) {
    Exchanges exchanges = {.count = 0};
    memset(out, 0, sizeof *out);
    if (program->memory_count == 0) return true;
    for (int i = 0, past; i < branch->item_count; i = past) {
        int items[STRATEGIES_MAX - 1], count = 0;
        for (past = i; past < branch->item_count && branch->items[past].activation == branch->items[i].activation;
             past++)
            items[count++] = past;
        add_hull(program, items, count, &exchanges);
    }
    double missing = program->memory[0].constant;
    for (int k = 0; k < exchanges.count && missing > 0; k++) {
        const Exchange *exchange = &exchanges.of[k];
        double layers = min_real(program->upper[exchange->to], missing / exchange->bytes);
        if (exchange->from >= 0) out->counts[exchange->from] -= layers;
        out->counts[exchange->to] += layers;
        out->memory[0] = exchange->seconds / exchange->bytes;
        missing = layers < program->upper[exchange->to] ? 0 : missing - layers * exchange->bytes;
    }
    if (missing > 0) out->memory[0] = 1; /* all that frees the most: the row alone shows it */
    return missing <= 0;
}
