/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/sweep/sweep.h"

#include "base/text/lines.h"
#include "base/text/prose.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = SVG_COLORS };

/* What is trained, and not with what. */
static bool is_training(const char *option) {
    static const char *const NAMES[] = {"model", "tokens", "seq"};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (strcmp(option, NAMES[i]) == 0) return true;
    return false;
}

/* The values that vary, of what is trained or of all else: "70b 8Ki". */
static void label_of(const SweepGrid *grid, int64_t point, bool training, char label[SWEEP_LABEL_SIZE]) {
    size_t used = 0;
    label[0] = '\0';
    for (int i = 0; i < grid->option_count && used < SWEEP_LABEL_SIZE; i++)
        if (grid->options[i].count > 1 && is_training(grid->options[i].option) == training)
            used += (size_t)snprintf(label + used, SWEEP_LABEL_SIZE - used, "%s%s", used ? " " : "",
                                     sweep_value(grid, point, i));
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

typedef struct {
    const SweepGrid *grid;
    const SweepRow *rows;
    const SweepRow **sorted; /* those with a price, by what they cost */
    int64_t count;
    bool *front;
    int *same;
    int group[GROUPS_MAX], groups; /* the numbers of what is trained; the last stands for all others */
} Cost;

static int group_of(const Cost *cost, const SweepRow *row) {
    for (int g = 0; g < cost->groups; g++)
        if (cost->group[g] == cost->same[row->point]) return g;
    return GROUPS_MAX - 1;
}

static int by_cost(const void *left, const void *right) {
    const SweepRow *a = *(const SweepRow *const *)left, *b = *(const SweepRow *const *)right;
    if (a->expected_usd != b->expected_usd) return a->expected_usd < b->expected_usd ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

static const char *say_usd(double value, char *text) {
    static const double SIZES[] = {1e9, 1e6, 1e3, 1};
    static const char *const UNITS[] = {" B", " M", " k", ""};
    size_t i = 0;
    while (i + 1 < COUNT_OF(SIZES) && value < SIZES[i] * (1 - 1e-9)) i++;
    snprintf(text, NUMBER_TEXT_SIZE, "$%.3g%s", value / SIZES[i], UNITS[i]);
    return text;
}

static void fill(Cost *cost) {
    sweep_front(cost->grid, cost->rows, cost->front, cost->same);
    for (int64_t i = 0; i < cost->grid->points; i++) {
        const SweepRow *row = &cost->rows[i];
        if (!is_priced(row)) continue;
        cost->sorted[cost->count++] = row;
        bool known = false;
        for (int g = 0; g < cost->groups; g++) known = known || cost->group[g] == cost->same[i];
        if (!known && cost->groups < GROUPS_MAX) cost->group[cost->groups++] = cost->same[i];
    }
    qsort(cost->sorted, (size_t)cost->count, sizeof *cost->sorted, by_cost);
}

/* Of the fronts what is no training is named: the model is in the legend. */
static void add_point(Lines *lines, const Cost *cost, const SweepRow *row) {
    char point[SWEEP_LABEL_SIZE], label[SWEEP_LABEL_SIZE], usd[NUMBER_TEXT_SIZE], days[NUMBER_TEXT_SIZE];
    bool front = cost->front[row->point];
    int group = group_of(cost, row);
    bool others = cost->group[group] != cost->same[row->point];
    label_of(cost->grid, row->point, false, label);
    lines_point(lines,
                (LinePoint){.x = row->expected_usd,
                            .y = row->expected_seconds / 86400,
                            .kind = group,
                            .size = front ? 5 : 3,
                            .series = front && !others ? 2 * group : NOT_JOINED,
                            .label = front ? arena_text(lines->arena, label) : NULL},
                "%s: %s, %s, %s%s", sweep_point_text(cost->grid, row->point, point, sizeof point), row->plan,
                duration_text(row->expected_seconds, days), say_usd(row->expected_usd, usd),
                front ? "" : " (another is cheaper and not slower)");
}

/* Each group has a line of its front and an entry for its marks. */
static void add_group(Lines *lines, const Cost *cost, int group) {
    static const char *const STYLES[GROUPS_MAX] = {"s0 thick", "s1 thick", "s2 thick", "s3 thick",
                                                   "s4 thick", "s5 thick", "s6 thick", "s7 thick"};
    char label[SWEEP_LABEL_SIZE] = "every point";
    for (int64_t i = 0; i < cost->grid->points && cost->groups > 1; i++)
        if (cost->same[i] == cost->group[group]) label_of(cost->grid, i, true, label);
    lines_series(lines, JOIN_STEPS, STYLES[group], NULL);
    lines_legend(lines, group, group == GROUPS_MAX - 1 ? "others" : arena_text(lines->arena, label));
}

static bool draw(const Cost *cost, const char *words, FILE *out) {
    Arena arena = {0};
    Lines lines = lines_new(&arena, cost->count);
    lines.id = "cost-svg", lines.words = words;
    lines.title = "Days of the training against its cost, on demand";
    lines.heading = "Days against dollars, on demand";
    lines.x = (LineAxis){say_usd, "cost of the training", false, false};
    lines.y = (LineAxis){svg_say_number, "days, with failures as far as they are known", false, false};
    for (int g = 0; g < cost->groups; g++) add_group(&lines, cost, g);
    lines_series(&lines, JOIN_STEPS, "s0 thick", "nothing is cheaper and as fast");
    for (int64_t i = 0; i < cost->count; i++) add_point(&lines, cost, cost->sorted[i]);
    bool ok = lines_draw(&lines, out);
    arena_free(&arena);
    return ok;
}

bool sweep_draw_cost(const SweepGrid *grid, const SweepRow *rows, const char *words, FILE *out) {
    size_t points = (size_t)grid->points;
    Cost cost = {.grid = grid, .rows = rows, .sorted = calloc(points, sizeof *cost.sorted)};
    cost.front = calloc(points, sizeof *cost.front);
    cost.same = calloc(points, sizeof *cost.same);
    bool drawn = cost.sorted && cost.front && cost.same;
    if (drawn) fill(&cost);
    drawn = drawn && cost.count > 1 && draw(&cost, words, out);
    free(cost.sorted);
    free(cost.front);
    free(cost.same);
    return drawn;
}
