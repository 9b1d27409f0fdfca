/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which point of a sweep to buy, by hand: days and dollars of seven points. */
#include "tests/search/sweep/rows.h"

#include "base/util.h"

static const double DAY = 86400;

/* days, on demand, reserved; a negative price is not known; a point of 0 days has no plan. */
static const struct {
    double days, usd, reserved;
} POINTS[] = {{40, 3e6, 1e6},   {25, 4e6, 2e6}, {25, 4e6, 2.5e6}, {20, 4e6, -1},
              {10, 9e6, 1.9e6}, {29, -1, -1},   {0, 0, 0}};
enum { COUNT = COUNT_OF(POINTS) };

static SweepRow rows[COUNT];
static SweepGrid grid;

static void make_row(int point, double days, double usd, double reserved) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    sweep_rows_free(&rows[point], 1);
    rows[point] = days > 0 ? made_row(&grid, point, POINT_OK, "",
                                      "{\"machine\":\"m\",\"expected_seconds\":%.17g,\"expected_cost_usd\":%s,"
                                      "\"reserved_cost_usd\":%s,\"price_source\":\"here, 2026\","
                                      "\"reserved_price_source\":\"there, 2025\"}",
                                      DAY * days, json_figure(usd, a), json_figure(reserved, b))
                           : made_row(&grid, point, POINT_NO_PLAN, "", NULL);
}

static void make(void) {
    static const char *values[COUNT] = {"a", "b", "c", "d", "e", "f", "g"};
    grid = (SweepGrid){.options = {{"nodes", values, COUNT}}, .option_count = 1, .points = COUNT};
    for (int i = 0; i < COUNT; i++) make_row(i, POINTS[i].days, POINTS[i].usd, POINTS[i].reserved);
}

static SweepChoice choose(double days, double budget) {
    SweepChoice choice;
    make();
    sweep_choose(&grid, rows, &(SweepGoal){DAY * days, budget}, &choice);
    return choice;
}

Test(goal, the_cheapest_in_time) {
    static const struct {
        double days, budget;
        int64_t on_demand, reserved, reach;
    } CASES[] = {
        {100, 0, 0, 0, 6},   /* the cheapest of all */
        {40, 0, 0, 0, 6},    /* just in time */
        {39.99, 0, 3, 4, 5}, /* on demand three cost 4 M, the last ends first; reserved the fast one is cheaper */
        {24, 0, 3, 4, 2},       {9, 0, -1, -1, 0},  {30, 4e6, 3, 4, 4}, /* the one without a price is in no budget */
        {30, 1.95e6, -1, 4, 1}, {0, 1e6, -1, 0, 1}, {0, 0.99e6, -1, -1, 0},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        SweepChoice choice = choose(CASES[i].days, CASES[i].budget);
        cr_expect_eq(choice.on_demand, CASES[i].on_demand, "%zu: %lld", i, (long long)choice.on_demand);
        cr_expect_eq(choice.reserved, CASES[i].reserved, "%zu: %lld", i, (long long)choice.reserved);
        cr_expect_eq(choice.reach, CASES[i].reach, "%zu: %lld", i, (long long)choice.reach);
        cr_expect_eq(choice.soonest, 4, "%zu", i);
    }
}

Test(goal, words) {
    static const struct {
        int point;
        double days, budget;
        const char *words;
    } CASES[] = {{0, 30, 0, "10 days late"},
                 {1, 30, 0, "in time"},
                 {3, 30, 0, "cheapest on demand"},
                 {4, 30, 0, "cheapest reserved"},
                 {0, 50, 0, "cheapest on demand and reserved"},
                 {2, 30, 1.95e6, "$550 k over the budget"},
                 {5, 30, 1.95e6, "no price is known"},
                 {4, 0, 2e6, "in the budget"},
                 {6, 30, 0, ""}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        char text[GOAL_WORDS_SIZE];
        SweepChoice choice = choose(CASES[i].days, CASES[i].budget);
        SweepGoal goal = {DAY * CASES[i].days, CASES[i].budget};
        cr_expect_str_eq(sweep_goal_words(&rows[CASES[i].point], &goal, &choice, text), CASES[i].words, "%zu: %s", i,
                         text);
    }
}

Test(goal, summary) {
    Prose text = {0};
    make();
    sweep_goal_summary(&grid, rows, &(SweepGoal){30 * DAY, 0}, &text);
    cr_expect_str_eq(text.text,
                     "5 points end within 30 days, failures and idle chips counted. Cheapest on demand: nodes=d, "
                     "20 days, $4.00 M (price: here, 2026). Cheapest reserved: nodes=e, 10 days, $1.90 M (price: "
                     "there, 2025). A reserved price binds for a year or longer.",
                     "%s", text.text);
    text = (Prose){0};
    sweep_goal_summary(&grid, rows, &(SweepGoal){5 * DAY, 2e6}, &text);
    cr_expect_str_eq(text.text,
                     "0 points end within 5 days, for at most $2.00 M, failures and idle chips counted. The soonest "
                     "is nodes=e: 10 days, $1.90 M.",
                     "%s", text.text);
}

Test(goal, read) {
    SweepGoal goal;
    Error error = {0};
    cr_assert(sweep_goal_read("30d", "$20M", &goal, &error));
    cr_expect_eq(goal.deadline_seconds, 30 * DAY);
    cr_expect_eq(goal.budget_usd, 20e6);
    cr_assert(sweep_goal_read(NULL, NULL, &goal, &error));
    cr_expect_not(sweep_goal_is(&goal));
    static const char *const WRONG[][2] = {{"soon", NULL}, {"0d", NULL}, {"", NULL}, {NULL, "0"},  {NULL, "-5"},
                                           {NULL, "much"}, {NULL, "$"},  {NULL, ""}, {NULL, "nan"}};
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        error = (Error){0};
        cr_expect_not(sweep_goal_read(WRONG[i][0], WRONG[i][1], &goal, &error), "%zu", i);
        cr_expect_eq(error.kind, ERROR_INPUT, "%zu", i);
    }
}

/* A price of nothing is a price: what is free for those who have reserved is the lower of two, within any budget. */
Test(goal, what_is_free_is_in_the_budget) {
    static const struct {
        double usd, reserved;
        const char *words;
    } CASES[] = {{5e6, 0, "in the budget"},
                 {1e6, 5e6, "in the budget"},
                 {5e6, 1e6, "in the budget"},
                 {0, 5e6, "in the budget"},
                 {5e6, -1, "$4.00 M over the budget"},
                 {5e6, 3e6, "$2.00 M over the budget"},
                 {3e6, 5e6, "$2.00 M over the budget"},
                 {-1, 4e6, "$3.00 M over the budget"}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        SweepGoal goal = {0, 1e6};
        SweepChoice choice;
        char text[GOAL_WORDS_SIZE];
        make();
        for (int r = 0; r < COUNT; r++) make_row(r, POINTS[r].days, 0, 0); /* the first is chosen */
        make_row(3, 50, CASES[i].usd, CASES[i].reserved);
        sweep_choose(&grid, rows, &goal, &choice);
        cr_expect_str_eq(sweep_goal_words(&rows[3], &goal, &choice, text), CASES[i].words, "%zu: %s", i, text);
    }
}
