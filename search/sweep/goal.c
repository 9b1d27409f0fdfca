/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/sweep/sweep.h"

#include "base/number.h"
#include "base/util.h"

#include <string.h>

static const double USD_MOST = 1e15;

bool sweep_goal_read(const char *deadline, const char *budget, SweepGoal *out, Error *error) {
    *out = (SweepGoal){0};
    return (!deadline || number_duration(deadline, "--deadline", &out->deadline_seconds, error)) &&
           (!budget || number_real(budget + (budget[0] == '$'), "--budget", 1, USD_MOST, &out->budget_usd, error));
}

static bool in_time(const SweepRow *row, const SweepGoal *goal) {
    return !(goal->deadline_seconds > 0) || row->expected_seconds <= goal->deadline_seconds;
}

static bool in_budget(double usd, const SweepGoal *goal) {
    return !(goal->budget_usd > 0) || (usd >= 0 && usd <= goal->budget_usd);
}

/* Whether `row` at `usd` is a better buy than the best so far. */
static bool is_cheaper(const SweepRow *row, double usd, const SweepRow *best, double best_usd) {
    if (!best) return true;
    return usd != best_usd ? usd < best_usd : row->expected_seconds < best->expected_seconds;
}

void sweep_choose(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, SweepChoice *out) {
    *out = (SweepChoice){-1, -1, -1, 0};
    for (int64_t i = 0; i < grid->points; i++) {
        const SweepRow *row = &rows[i];
        if (!row->has_plan) continue;
        if (out->soonest < 0 || row->expected_seconds < rows[out->soonest].expected_seconds) out->soonest = i;
        if (!in_time(row, goal)) continue;
        bool demand = in_budget(row->expected_usd, goal), reserved = in_budget(row->reserved_usd, goal);
        out->reach += demand || reserved;
        const SweepRow *first = out->on_demand < 0 ? NULL : &rows[out->on_demand];
        if (demand && row->expected_usd >= 0 &&
            is_cheaper(row, row->expected_usd, first, first ? first->expected_usd : 0))
            out->on_demand = i;
        const SweepRow *kept = out->reserved < 0 ? NULL : &rows[out->reserved];
        if (reserved && row->reserved_usd >= 0 &&
            is_cheaper(row, row->reserved_usd, kept, kept ? kept->reserved_usd : 0))
            out->reserved = i;
    }
}

/* The lower of the prices that are known; negative: none is. */
static double least_usd(const SweepRow *row) {
    if (row->reserved_usd < 0) return row->expected_usd;
    return row->expected_usd < 0 ? row->reserved_usd : min_real(row->expected_usd, row->reserved_usd);
}

char *sweep_goal_words(const SweepRow *row, const SweepGoal *goal, const SweepChoice *choice,
                       char text[GOAL_WORDS_SIZE]) {
    char more[NUMBER_TEXT_SIZE];
    bool demand = choice->on_demand == row->point, reserved = choice->reserved == row->point;
    double usd = least_usd(row);
    text[0] = '\0';
    if (!row->has_plan) return text;
    if (!in_time(row, goal))
        snprintf(text, GOAL_WORDS_SIZE, "%s late", duration_text(row->expected_seconds - goal->deadline_seconds, more));
    else if (demand || reserved)
        snprintf(text, GOAL_WORDS_SIZE, "cheapest %s%s%s", demand ? "on demand" : "", demand && reserved ? " and " : "",
                 reserved ? "reserved" : "");
    else if (goal->budget_usd > 0 && usd < 0)
        snprintf(text, GOAL_WORDS_SIZE, "no price is known");
    else if (goal->budget_usd > 0 && usd > goal->budget_usd)
        snprintf(text, GOAL_WORDS_SIZE, "$%s over the budget", number_short(usd - goal->budget_usd, more));
    else
        snprintf(text, GOAL_WORDS_SIZE, "%s", goal->deadline_seconds > 0 ? "in time" : "in the budget");
    return text;
}

static void add_buy(const SweepGrid *grid, const SweepRow *row, bool reserved, Prose *to) {
    char point[256], clean[256], days[NUMBER_TEXT_SIZE], usd[NUMBER_TEXT_SIZE], source[PROSE_SIZE];
    sweep_point_text(grid, row->point, point, sizeof point);
    prose_add(to, " Cheapest %s: %s, %s, $%s (price: %s).", reserved ? "reserved" : "on demand",
              point[0] ? clean_text(point, clean, sizeof clean) : row->machine,
              duration_text(row->expected_seconds, days),
              number_short(reserved ? row->reserved_usd : row->expected_usd, usd),
              clean_text(reserved ? row->reserved_source : row->price_source, source, sizeof source));
}

void sweep_goal_summary(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, Prose *to) {
    char deadline[NUMBER_TEXT_SIZE], usd[NUMBER_TEXT_SIZE], number[NUMBER_TEXT_SIZE], point[256], clean[256];
    SweepChoice choice;
    sweep_choose(grid, rows, goal, &choice);
    prose_add(to, "%s %s", number_grouped(choice.reach, number), choice.reach == 1 ? "point ends" : "points end");
    if (goal->deadline_seconds > 0) prose_add(to, " within %s", duration_text(goal->deadline_seconds, deadline));
    if (goal->budget_usd > 0)
        prose_add(to, "%s for at most $%s", goal->deadline_seconds > 0 ? "," : "", number_short(goal->budget_usd, usd));
    prose_add(to, ", failures and idle chips counted.");
    if (choice.on_demand >= 0) add_buy(grid, &rows[choice.on_demand], false, to);
    if (choice.reserved >= 0) {
        add_buy(grid, &rows[choice.reserved], true, to);
        prose_add(to, " A reserved price binds for a year or longer.");
    }
    if (choice.reach > 0 || choice.soonest < 0) return;
    const SweepRow *soonest = &rows[choice.soonest];
    sweep_point_text(grid, soonest->point, point, sizeof point);
    prose_add(to, " The soonest is %s: %s", point[0] ? clean_text(point, clean, sizeof clean) : soonest->machine,
              duration_text(soonest->expected_seconds, deadline));
    double least = least_usd(soonest);
    if (least >= 0) prose_add(to, ", $%s", number_short(least, usd));
    prose_add(to, ".");
}

/* ---- the front of time and cost ---- */

/* What is trained, and not with what. */
static bool is_training(const char *option) {
    static const char *const NAMES[] = {"model", "tokens", "seq"};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (strcmp(option, NAMES[i]) == 0) return true;
    return false;
}

/* Points with equal values of what is trained have one number: the place of these values among all. */
static int training_number(const SweepGrid *grid, int64_t point) {
    int64_t number = 0, stride = grid->points;
    for (int i = 0; i < grid->option_count; i++) {
        stride /= grid->options[i].count;
        if (is_training(grid->options[i].option))
            number = number * grid->options[i].count + point / stride % grid->options[i].count;
    }
    return (int)number;
}

static bool is_priced(const SweepRow *row) { return row->has_plan && row->expected_usd > 0; }

static bool beats(const SweepRow *a, const SweepRow *b) {
    bool better = a->expected_usd < b->expected_usd || a->expected_seconds < b->expected_seconds || a->point < b->point;
    return a->expected_usd <= b->expected_usd && a->expected_seconds <= b->expected_seconds && better;
}

void sweep_front(const SweepGrid *grid, const SweepRow *rows, bool *front, int *same) {
    for (int64_t i = 0; i < grid->points; i++) same[i] = training_number(grid, i);
    for (int64_t i = 0; i < grid->points; i++) {
        front[i] = is_priced(&rows[i]);
        for (int64_t j = 0; j < grid->points && front[i]; j++)
            if (same[j] == same[i] && is_priced(&rows[j]) && beats(&rows[j], &rows[i])) front[i] = false;
    }
}
