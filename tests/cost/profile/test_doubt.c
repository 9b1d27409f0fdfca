/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects of doubts about figures, against a price whose logarithm is linear in those of the figures. */
#include "cost/profile/doubt.h"

#include "base/util.h"
#include "mesh/chip_json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static Arena arena;
static ProfileSet set;

static void load(void) {
    Error error = {0};
    cr_assert(profile_set_default(&arena, &set, &error), "%s", error.text);
}

static const SetEntry *entry_of(const SetEntry *list, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    cr_assert_fail("%s", name);
    return NULL;
}

/* seconds = 3 x nvlink_efficiency^-0.5 x layer_seconds^2 */
static bool price(const void *context, const Profile *composed, double *seconds) {
    (void)context;
    *seconds = 3 * pow(composed->nvlink_efficiency, -0.5) * composed->layer_seconds * composed->layer_seconds;
    return true;
}

static bool no_price(const void *context, const Profile *composed, double *seconds) {
    (void)context, (void)composed, (void)seconds;
    return false;
}

Test(doubt, effects_are_exponents_times_deviations, .init = load) {
    const SetEntry *chip = entry_of(set.profiles, set.profile_count, "h100");
    const SetEntry *stack = entry_of(set.stacks, set.stack_count, "megatron-core");
    ProfileDoubts doubts;
    DoubtEffect effects[SET_FIGURES_MAX];
    profile_doubts(&set, chip, stack, &doubts);
    cr_assert_gt(doubts.count, 5);
    int count = doubt_effects(&doubts, price, NULL, effects), found = 0;
    cr_assert_eq(count, 2);
    for (int i = 0; i < doubts.count; i++)
        for (int k = 0; k < count; k++) {
            if (effects[k].of != &doubts.of[i]) continue;
            bool link = strcmp(doubts.of[i].figure->key, "nvlink_efficiency") == 0;
            double wanted = (link ? -0.5 : 2) * doubts.of[i].deviation;
            cr_expect_float_eq(effects[k].effect, wanted, 1e-12, "%s", doubts.of[i].figure->key);
            const SetFigure *figure =
                set_entry_figure(link ? set.profiles : set.stacks, link ? chip : stack, doubts.of[i].figure);
            cr_expect_eq(doubts.of[i].from, figure);
            cr_expect_eq(doubts.of[i].measured, figure->runs > 0);
            cr_expect_eq(doubts.of[i].deviation, figure->deviation > 0 ? figure->deviation : figure->sigma);
            found++;
        }
    cr_expect_eq(found, 2);
    cr_expect_eq(doubt_effects(&doubts, no_price, NULL, effects), -1);
    arena_free(&arena);
}

/* ---- chances ---- */

/* The error of 2^9 draws, two deviations and a little. */
static const double DRAWN = 0.05;

static double normal_below(double x) { return erfc(-x / sqrt(2)) / 2; }

/* A price with two figures, each to a power; `kink`: the first only counts where it makes the price higher. */
typedef struct {
    double plain, powers[2];
    bool kink;
} Powers;

static bool price_powers(const void *context, const Profile *composed, double *seconds) {
    const Powers *powers = context;
    double first = powers->powers[0] * log(composed->layer_seconds), second = log(composed->microbatch_seconds);
    *seconds = exp(powers->plain + (powers->kink ? max_real(first, 0) : first) + powers->powers[1] * second);
    return true;
}

/* Both figures are 1 here, with deviations of a tenth, the second from a place of its own. */
static ProfileDoubts doubts_about(const SetFigure *shared, const SetFigure *alone) {
    static ProfileFigure wide[2];
    wide[0] = *profile_figure("layer_seconds");
    wide[1] = *profile_figure("microbatch_seconds");
    wide[0].fit_low = wide[1].fit_low = 1e-3;
    wide[0].fit_high = wide[1].fit_high = 1e3;
    ProfileDoubts doubts = {.composed = {.layer_seconds = 1, .microbatch_seconds = 1}, .count = 2};
    doubts.of[0] = (FigureDoubt){&wide[0], shared, 0.1, true};
    doubts.of[1] = (FigureDoubt){&wide[1], alone, 0.1, true};
    return doubts;
}

/* For two prices the difference is normal: P(x < y) = Phi((my - mx) / deviation of x - y). */
Test(doubt, chances_of_two_have_a_closed_form) {
    static const SetFigure SHARED, FIRST, SECOND;
    static const struct {
        double behind, shared[2], alone[2], own, group[2];
        bool same_group;
    } CASES[] = {{0, {0, 0}, {0, 0}, 0.02, {0, 0}, true},           {0.03, {0, 0}, {0, 0}, 0.02, {0, 0}, true},
                 {0.03, {1, 1}, {0, 0}, 0.02, {0, 0}, true},        {0.03, {1, 0.5}, {0, 0}, 0.02, {0, 0}, true},
                 {0.03, {0.5, -0.5}, {0, 0}, 0.02, {0, 0}, true},   {0.03, {1, 1}, {0.3, 0}, 0.01, {0, 0}, true},
                 {0.1, {0, 0}, {0.5, 1.2}, 0.01, {0, 0}, true},     {0.05, {0, 0}, {0, 0}, 0.02, {0.07, 0.07}, true},
                 {0.05, {0, 0}, {0, 0}, 0.02, {0.07, 0.07}, false}, {0.1, {0, 0}, {0, 0}, 0.02, {0.07, 0.03}, false}};
    const ProfileDoubts doubts[2] = {doubts_about(&SHARED, &FIRST), doubts_about(&SHARED, &SECOND)};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Powers powers[2];
        DoubtedPrice prices[2];
        double chances[2], again[2], variance = 2 * CASES[i].own * CASES[i].own;
        for (int k = 0; k < 2; k++) {
            /* half of the distance is in the price, half in its factor */
            powers[k] = (Powers){k * CASES[i].behind / 2, {CASES[i].shared[k], CASES[i].alone[k]}, false};
            prices[k] = (DoubtedPrice){.doubts = &doubts[k],
                                       .price = price_powers,
                                       .context = &powers[k],
                                       .factor = exp(k * CASES[i].behind / 2),
                                       .own_error = CASES[i].own,
                                       .group_error = CASES[i].group[k],
                                       .group = k && !CASES[i].same_group ? "b" : "a"};
            variance += 0.01 * CASES[i].alone[k] * CASES[i].alone[k];
        }
        double apart = 0.1 * (CASES[i].shared[0] - CASES[i].shared[1]), a = CASES[i].group[0], b = CASES[i].group[1];
        variance += apart * apart + (CASES[i].same_group ? (a - b) * (a - b) : a * a + b * b);
        double wanted = normal_below(CASES[i].behind / sqrt(variance));
        cr_assert(doubt_chances(prices, 2, 1, chances));
        cr_expect_float_eq(chances[0], wanted, DRAWN, "%zu: %g, not %g", i, chances[0], wanted);
        cr_expect_float_eq(chances[0] + chances[1], 1, 1e-9, "%zu", i);
        cr_assert(doubt_chances(prices, 2, 3, again));
        cr_expect_eq(chances[0], again[0]);
    }
}

Test(doubt, alike_prices_have_alike_chances) {
    static const SetFigure SHARED, FIRST;
    enum { N = 7 };
    const ProfileDoubts doubts = doubts_about(&SHARED, &FIRST);
    const Powers powers = {0, {1, 1}, false};
    DoubtedPrice prices[N];
    double chances[N];
    for (int i = 0; i < N; i++)
        prices[i] =
            (DoubtedPrice){&doubts, price_powers, &powers, 1, .own_error = 0.1, .group_error = 0.3, .group = ""};
    cr_assert(doubt_chances(prices, N, 0, chances));
    for (int i = 0; i < N; i++) cr_expect_float_eq(chances[i], 1.0 / N, DRAWN, "%d: %g", i, chances[i]);
}

/* A price that can only get worse loses to one that is as good and steady; linear effects would call them even. */
Test(doubt, a_kink_counts) {
    static const SetFigure SHARED, FIRST;
    const ProfileDoubts doubts = doubts_about(&SHARED, &FIRST);
    const Powers kinked = {0, {3, 0}, true}, steady = {0, {0, 0}, false};
    const DoubtedPrice prices[2] = {{&doubts, price_powers, &kinked, 1, .own_error = 0.01, .group = ""},
                                    {&doubts, price_powers, &steady, 1, .own_error = 0.01, .group = ""}};
    double chances[2];
    cr_assert(doubt_chances(prices, 2, 0, chances));
    cr_expect_float_eq(chances[0], 0.27, DRAWN, "%g", chances[0]); /* half of the half in which nothing moves */
}
