/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/profile/doubt.h"

#include "base/threads.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

void profile_doubts(const ProfileSet *set, const SetEntry *chip, const SetEntry *stack, ProfileDoubts *out) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    memset(out, 0, sizeof *out);
    profile_compose(set, chip, stack, &out->composed);
    for (int i = 0; i < count; i++) {
        bool of_chip = figures[i].owner == FIGURE_OF_CHIP;
        const SetEntry *entry = of_chip ? chip : stack, *list = of_chip ? set->profiles : set->stacks;
        SetAt at = entry ? entry->at[i] : (SetAt){-1, -1};
        if (at.entry < 0) continue;
        const SetFigure *from = &list[at.entry].figures[at.figure];
        double deviation = from->deviation > 0 ? from->deviation : from->sigma;
        if (!(deviation > 0) || !(from->value > 0)) continue;
        out->of[out->count++] = (FigureDoubt){&figures[i], from, deviation, from->runs > 0};
    }
}

/* Moves a figure by so many deviations, within its range. */
static void move(Profile *profile, const FigureDoubt *doubt, double deviations) {
    double *value = figure_of(profile, doubt->figure);
    double low = min_real(*value, doubt->figure->fit_low), high = max_real(*value, doubt->figure->fit_high);
    *value = min_real(max_real(*value * exp(deviations * doubt->deviation), low), high);
}

/* The logarithm of the price with one figure moved. */
static bool moved(const ProfileDoubts *doubts, const FigureDoubt *doubt, double deviations, DoubtPrice *price,
                  const void *context, double *out) {
    Profile profile = doubts->composed;
    double seconds = 0;
    move(&profile, doubt, deviations);
    if (!price(context, &profile, &seconds) || !(seconds > 0)) return false;
    *out = log(seconds);
    return true;
}

int doubt_effects(const ProfileDoubts *doubts, DoubtPrice *price, const void *context,
                  DoubtEffect out[SET_FIGURES_MAX]) {
    int count = 0;
    for (int i = 0; i < doubts->count; i++) {
        const FigureDoubt *doubt = &doubts->of[i];
        double up = 0, down = 0;
        if (!moved(doubts, doubt, 1, price, context, &up) || !moved(doubts, doubt, -1, price, context, &down))
            return -1;
        if (up != down) out[count++] = (DoubtEffect){doubt, (up - down) / 2};
    }
    return count;
}

/* ---- which price is the least ---- */

enum {
    DRAWS = 1 << 9,
    SOURCES_MAX = DOUBT_PRICES_MAX * (SET_FIGURES_MAX + 1),
    NORMALS_MAX = SOURCES_MAX + DOUBT_PRICES_MAX
};

/* Steele, Lea and Flood 2014: SplitMix64. */
static uint64_t next_bits(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Above 0 and below 1. */
static double next_share(uint64_t *state) { return ((double)(next_bits(state) >> 11) + 0.5) * 0x1p-53; }

/* Normal numbers in pairs, by the method of Box and Muller. */
static void draw_normal(uint64_t *state, int n, double *out) {
    static const double TURN = 6.283185307179586;
    for (int i = 0; i < n; i += 2) {
        double radius = sqrt(-2 * log(next_share(state))), angle = TURN * next_share(state);
        out[i] = radius * cos(angle);
        if (i + 1 < n) out[i + 1] = radius * sin(angle);
    }
}

/* What is drawn: a number for each group and figure that any price leans on, then one for each price. */
typedef struct {
    const DoubtedPrice *prices;
    int n;
    const void *source[SOURCES_MAX];
    int sources;
    int of_figure[DOUBT_PRICES_MAX][SET_FIGURES_MAX], of_group[DOUBT_PRICES_MAX];
    double (*normal)[NORMALS_MAX]; /* of each pair of draws */
} Drawing;

static int place_of(Drawing *drawing, const void *source, bool by_text) {
    for (int i = 0; i < drawing->sources; i++)
        if (drawing->source[i] == source || (by_text && strcmp(drawing->source[i], source) == 0)) return i;
    drawing->source[drawing->sources] = source;
    return drawing->sources++;
}

/* Groups come first, so that their texts are compared with texts alone. */
static void draw_all(Drawing *drawing) {
    uint64_t state = 0;
    for (int i = 0; i < drawing->n; i++) drawing->of_group[i] = place_of(drawing, drawing->prices[i].group, true);
    for (int i = 0; i < drawing->n; i++)
        for (int k = 0; k < drawing->prices[i].doubts->count; k++)
            drawing->of_figure[i][k] = place_of(drawing, drawing->prices[i].doubts->of[k].from, false);
    for (int i = 0; i < DRAWS / 2; i++) draw_normal(&state, drawing->sources + drawing->n, drawing->normal[i]);
}

/* The place of the least price of one draw; each pair of draws is a draw and its mirror image. */
static int least_price(const Drawing *drawing, int draw) {
    const double *normal = drawing->normal[draw / 2];
    double sign = draw % 2 ? -1 : 1, lowest = INFINITY;
    int least = 0;
    for (int i = 0; i < drawing->n; i++) {
        const DoubtedPrice *one = &drawing->prices[i];
        Profile profile = one->doubts->composed;
        double seconds = 0;
        for (int k = 0; k < one->doubts->count; k++)
            move(&profile, &one->doubts->of[k], sign * normal[drawing->of_figure[i][k]]);
        if (!one->price(one->context, &profile, &seconds) || !(seconds > 0)) continue;
        double value = log(seconds * one->factor) + sign * (one->group_error * normal[drawing->of_group[i]] +
                                                            one->own_error * normal[drawing->sources + i]);
        if (!(value < lowest)) continue;
        lowest = value;
        least = i;
    }
    return least;
}

bool doubt_chances(const DoubtedPrice *prices, int n, int threads, double *chances) {
    Arena arena = {0};
    Drawing *drawing = ARENA_NEW(&arena, Drawing, 1);
    int counts[DOUBT_PRICES_MAX] = {0}, team = threads_usable(threads);
    if (drawing) *drawing = (Drawing){.prices = prices, .n = n};
    if (drawing) drawing->normal = arena_alloc(&arena, DRAWS / 2, sizeof drawing->normal[0]);
    bool ok = drawing && drawing->normal;
    if (ok) draw_all(drawing);
#pragma omp parallel for schedule(static) num_threads(team) reduction(+ : counts[:DOUBT_PRICES_MAX])
    for (int draw = 0; draw < (ok ? DRAWS : 0); draw++) counts[least_price(drawing, draw)]++;
    for (int i = 0; ok && i < n; i++) chances[i] = (double)counts[i] / DRAWS;
    arena_free(&arena);
    return ok;
}
