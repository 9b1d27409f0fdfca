/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/sweep/sweep.h"

#include "base/number.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

static const double USD_MOST = 1e15;

bool sweep_goal_read(const char *deadline, const char *budget, SweepGoal *out, Error *error) {
    *out = (SweepGoal){0};
    return (!deadline || number_duration(deadline, "--deadline", &out->deadline_seconds, error)) &&
           (!budget || number_real(budget + (budget[0] == '$'), "--budget", 1, USD_MOST, &out->budget_usd, error));
}

static double seconds_of(const SweepRow *row) { return sweep_figure(row, "expected_seconds"); }

/* At a price on demand or at a reserved one; below 0: not known. */
static double usd_of(const SweepRow *row, bool reserved) {
    return sweep_figure(row, reserved ? "reserved_cost_usd" : "expected_cost_usd");
}

static bool in_time(const SweepRow *row, const SweepGoal *goal) {
    return !(goal->deadline_seconds > 0) || seconds_of(row) <= goal->deadline_seconds;
}

static bool in_budget(double usd, const SweepGoal *goal) {
    return !(goal->budget_usd > 0) || (usd >= 0 && usd <= goal->budget_usd);
}

/* Of two points, which may be -1, the better buy at this kind of price. */
static int64_t cheaper(const SweepRow *rows, int64_t best, int64_t point, bool reserved) {
    double usd = usd_of(&rows[point], reserved), least = best < 0 ? INFINITY : usd_of(&rows[best], reserved);
    if (usd < 0) return best;
    bool better = usd != least ? usd < least : seconds_of(&rows[point]) < seconds_of(&rows[best]);
    return better ? point : best;
}

void sweep_choose(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, SweepChoice *out) {
    *out = (SweepChoice){-1, -1, -1, 0};
    for (int64_t i = 0; i < grid->points; i++) {
        const SweepRow *row = &rows[i];
        if (!sweep_has_plan(row)) continue;
        if (out->soonest < 0 || seconds_of(row) < seconds_of(&rows[out->soonest])) out->soonest = i;
        if (!in_time(row, goal)) continue;
        bool demand = in_budget(usd_of(row, false), goal), reserved = in_budget(usd_of(row, true), goal);
        out->reach += demand || reserved;
        if (demand) out->on_demand = cheaper(rows, out->on_demand, i, false);
        if (reserved) out->reserved = cheaper(rows, out->reserved, i, true);
    }
}

/* The lower of the prices that are known; negative: none is. */
static double least_usd(const SweepRow *row) {
    double demand = usd_of(row, false), reserved = usd_of(row, true);
    return demand < 0 || reserved < 0 ? max_real(demand, reserved) : min_real(demand, reserved);
}

char *sweep_goal_words(const SweepRow *row, const SweepGoal *goal, const SweepChoice *choice,
                       char text[GOAL_WORDS_SIZE]) {
    char more[NUMBER_TEXT_SIZE];
    bool demand = choice->on_demand == row->point, reserved = choice->reserved == row->point;
    double usd = least_usd(row);
    text[0] = '\0';
    if (!sweep_has_plan(row)) return text;
    if (!in_time(row, goal))
        snprintf(text, GOAL_WORDS_SIZE, "%s late", duration_text(seconds_of(row) - goal->deadline_seconds, more));
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

/* What varies, else the machine. */
static const char *point_name(const SweepGrid *grid, const SweepRow *row, char name[256]) {
    char point[256];
    sweep_point_text(grid, row->point, point, sizeof point);
    return point[0] ? clean_text(point, name, 256) : sweep_says(row, "best.machine");
}

static void add_buy(const SweepGrid *grid, const SweepRow *row, bool reserved, Prose *to) {
    char name[256], days[NUMBER_TEXT_SIZE], usd[NUMBER_TEXT_SIZE], source[PROSE_SIZE];
    prose_add(to, " Cheapest %s: %s, %s, $%s (price: %s).", reserved ? "reserved" : "on demand",
              point_name(grid, row, name), duration_text(seconds_of(row), days),
              number_short(usd_of(row, reserved), usd),
              clean_text(sweep_says(row, reserved ? "best.reserved_price_source" : "best.price_source"), source,
                         sizeof source));
}

void sweep_goal_summary(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal, Prose *to) {
    char deadline[NUMBER_TEXT_SIZE], usd[NUMBER_TEXT_SIZE], number[NUMBER_TEXT_SIZE], name[256];
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
    double least = least_usd(soonest);
    prose_add(to, " The soonest is %s: %s", point_name(grid, soonest, name),
              duration_text(seconds_of(soonest), deadline));
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

/* A point that may be on the front. */
typedef struct {
    int training;
    double seconds, usd; /* usd not above 0: no price is known */
} Priced;

/* Whether `a` keeps `b` from the front; `first`: `a` comes first. */
static bool beats(const Priced *a, const Priced *b, bool first) {
    return a->training == b->training && a->usd > 0 && a->usd <= b->usd && a->seconds <= b->seconds &&
           (a->usd < b->usd || a->seconds < b->seconds || first);
}

const bool *sweep_front(const SweepGrid *grid, const SweepRow *rows, Arena *arena) {
    Priced *points = ARENA_NEW(arena, Priced, (size_t)grid->points);
    bool *front = ARENA_NEW(arena, bool, (size_t)grid->points);
    if (!points || !front) return NULL;
    for (int64_t i = 0; i < grid->points; i++)
        points[i] = (Priced){training_number(grid, i), seconds_of(&rows[i]), usd_of(&rows[i], false)};
    for (int64_t i = 0; i < grid->points; i++) {
        front[i] = points[i].usd > 0;
        for (int64_t j = 0; j < grid->points && front[i]; j++) front[i] = !beats(&points[j], &points[i], j < i);
    }
    return front;
}
