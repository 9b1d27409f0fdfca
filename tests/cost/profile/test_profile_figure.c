/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every figure of a profile has to be by what it is: a switch, a share, a time, an efficiency. */
#include "cost/profile/profile_figure.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static bool ends(const char *text, const char *with) {
    size_t length = strlen(text), tail = strlen(with);
    return length >= tail && strcmp(text + length - tail, with) == 0;
}

/* A bound is chosen by people: it has one digit, two where it is below 10, or is a power of two. */
static bool is_round(double x) {
    int exponent;
    if (x == 0 || frexp(x, &exponent) == 0.5) return true;
    double scale = pow(10, floor(log10(x) + 1e-9) - (x < 10)), digits = x / scale;
    return fabs(digits - round(digits)) < 1e-9 * digits;
}

static void expect(const ProfileFigure *figure, double ideal, double low, double high) {
    cr_expect(figure->ideal == ideal && figure->low == low && figure->high == high, "%s: %g, from %g to %g",
              figure->key, figure->ideal, figure->low, figure->high);
}

Test(profile_figure, ranges_hold_each_other) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    cr_assert_gt(count, 80);
    for (int i = 0; i < count; i++) {
        const ProfileFigure *one = &figures[i];
        cr_expect(one->low <= one->ideal && one->ideal <= one->high, "%s: ideal", one->key);
        cr_expect(one->low <= one->fit_low && one->fit_low < one->fit_high && one->fit_high <= one->high,
                  "%s: %g to %g of a fit", one->key, one->fit_low, one->fit_high);
        cr_expect(is_round(one->low) && is_round(one->high) && is_round(one->fit_low) && is_round(one->fit_high),
                  "%s: bounds", one->key);
        /* the deviation of a logarithm: what is moved is above 0, and is believed within a factor of e */
        cr_expect(one->sigma == 0 || (one->sigma >= 0.05 && one->sigma < 1 && one->fit_low > 0), "%s: sigma %g",
                  one->key, one->sigma);
        cr_expect(is_round(one->sigma), "%s: sigma %g", one->key, one->sigma);
        for (int k = 0; k < i; k++) cr_expect(strcmp(figures[k].key, one->key) != 0, "%s twice", one->key);
        cr_expect_eq(profile_figure(one->key), one);
    }
    cr_expect_null(profile_figure("matrix"));
}

/* What multiplies is 1 where machines are ideal, what adds is 0, and no share is above 1. */
Test(profile_figure, kinds) {
    static const struct {
        const char *ending;
        double ideal, low, high;
    } KINDS[] = {
        {"_efficiency", 1, 0.01, 1},
        {"tensor_exposed", 1, 0, 1},
        {"expert_exposed", 1, 0, 1},
        {"sequence_exposed", 1, 0, 1},
        {"pipeline_exposed", 1, 0, 1},
        {"ring_attention_exposed", 1, 0, 1},
        {"fsdp_exposed", 0, 0, 1},
        {"data_exposed", 0, 0, 1},
        {"host_exposed", 0, 0, 1},
        {"_overlapped", 1, 0, 1},
        {"matmul_traffic", 0, 0, 100},
        {"elementwise_traffic", 0, 0, 100},
        {"score_traffic", 0, 0, 100},
        {"cast_traffic", 0, 0, 100},
        {"communicator_bytes", 0, 0, 1e11},
        {"bucket_bytes", 0, 0, 1e11},
        {"context_bytes", 0, 0, 1e11},
        {"all_to_all_bytes", 0, 0, 1e11},
        {"_error", 0, 0, 1},
        {"host_memory_share", 1, 0.01, 1},
        {"fragmentation_share", 0, 0, 1},
        {"restart_seconds", 0, 0, 1e6},
        {"checkpoint_seconds", 0, 0, 1e5},
        {"repair_seconds", 0, 0, 1e8},
        {"storage_bytes_per_second", 0, 0, 1e15},
    };
    int count, switches = 0;
    const ProfileFigure *figures = profile_figures(&count);
    for (int i = 0; i < count; i++) {
        const ProfileFigure *one = &figures[i];
        bool is_switch = strncmp(one->meaning, "1: ", 3) == 0;
        switches += is_switch;
        if (is_switch) expect(one, 0, 0, 1);
        if (is_switch) cr_expect(one->fit_low == 0 && one->fit_high == 1 && one->sigma == 0, "%s", one->key);
        for (size_t k = 0; k < COUNT_OF(KINDS); k++)
            if (ends(one->key, KINDS[k].ending)) expect(one, KINDS[k].ideal, KINDS[k].low, KINDS[k].high);
        if (ends(one->key, "_seconds")) cr_expect(one->ideal == 0 && one->low == 0, "%s", one->key);
        if (ends(one->key, "_factor")) cr_expect(one->ideal == 1 && one->low > 0, "%s", one->key);
    }
    cr_expect_geq(switches, 20);
}
