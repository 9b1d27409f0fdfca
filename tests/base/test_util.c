/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"

#include <criterion/criterion.h>

static const struct {
    const char *a, *b;
    bool same;
} MATCHES[] = {
    {"llama-3.1-405b", "Llama_3.1 405B", true},
    {"v5p", "V5P", true},
    {"", "-_. ", true},
    {"tpu-v5p", "v5p", false},
    {"v5p", "v5", false},
    {"v5", "v5p", false},
    {"a/b", "ab", false},
    {"Ä", "ä", false},
};

Test(util, name_matches) {
    for (size_t i = 0; i < COUNT_OF(MATCHES); i++) {
        cr_expect_eq(name_matches(MATCHES[i].a, MATCHES[i].b), MATCHES[i].same, "%s %s", MATCHES[i].a, MATCHES[i].b);
        cr_expect_eq(name_matches(MATCHES[i].b, MATCHES[i].a), MATCHES[i].same, "%s %s", MATCHES[i].b, MATCHES[i].a);
    }
}

static const char *const NAMES[] = {"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b",
                                    "mixtral-8x7b", "deepseek-v3",   "v5p"};

static const struct {
    const char *name, *word, *nearest; /* NULL means none */
} NEAREST[] = {
    {"itself", "deepseek-v3", "deepseek-v3"},
    {"one letter wrong", "lama-3.1-405b", "llama-3.1-405b"},
    {"the first of equally near ones", "llama-3.1-1b", "llama-3.1-8b"},
    {"two slips", "mistral-8x7b", "mixtral-8x7b"},
    {"one in three", "v5x", "v5p"},
    {"a beginning", "deep", "deepseek-v3"},
    {"a beginning that several share", "llama", "llama-3.1-8b"},
    {"nothing near", "gpt-oss-120b", NULL},
    {"empty", "", NULL},
    {"only what folding drops", "-_.", NULL},
    {"one letter shared by none", "q", NULL},
};

Test(util, name_nearest) {
    for (size_t i = 0; i < COUNT_OF(NEAREST); i++) {
        const char *nearest = name_nearest(NEAREST[i].word, NAMES, COUNT_OF(NAMES));
        if (NEAREST[i].nearest)
            cr_expect(nearest && name_matches(nearest, NEAREST[i].nearest), "%s: %s", NEAREST[i].name,
                      nearest ? nearest : "none");
        else
            cr_expect_null(nearest, "%s: %s", NEAREST[i].name, nearest ? nearest : "none");
    }
    char endless[1000] = "";
    for (size_t i = 0; i < sizeof endless - 1; i++) endless[i] = 'a';
    const char *const candidates[] = {endless, "v5p"};
    cr_expect_null(name_nearest(endless, NAMES, COUNT_OF(NAMES)));
    cr_expect_str_eq(name_nearest("v5", candidates, 2), "v5p");
    cr_expect_null(name_nearest("v5p", NAMES, 0));
}

Test(util, divide_up) {
    cr_expect_eq(divide_up(0, 8), 0);
    cr_expect_eq(divide_up(8, 8), 1);
    cr_expect_eq(divide_up(9, 8), 2);
    cr_expect_eq(divide_up(INT64_MAX, 2), INT64_MAX / 2 + 1);
}

static double of_five(double share) {
    WeighedValue list[] = {{5, 1}, {1, 1}, {4, 1}, {2, 1}, {3, 1}};
    return weighed_quantile(list, 5, share);
}

Test(weighed, alike_they_are_the_plain_quantiles) {
    cr_expect_eq(of_five(0.5), 3);
    cr_expect_eq(of_five(0.6), 3, "exactly three fifths lie up to 3");
    cr_expect_eq(of_five(0.61), 4);
    cr_expect_eq(of_five(0), 1);
    cr_expect_eq(of_five(1), 5);
}

/* A value that weighs three counts as three values do. */
Test(weighed, a_weight_is_so_many_values) {
    static const double SHARES[] = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
        WeighedValue weighed[] = {{-2, 3}, {7, 1}, {0.5, 4}, {3, 0}};
        WeighedValue one_by_one[] = {{-2, 1}, {-2, 1}, {-2, 1}, {7, 1}, {0.5, 1}, {0.5, 1}, {0.5, 1}, {0.5, 1}};
        cr_expect_eq(weighed_quantile(weighed, 4, SHARES[i]), weighed_quantile(one_by_one, 8, SHARES[i]), "%g",
                     SHARES[i]);
    }
}

/* A tenth summed ten times is a hair below one: the share that it ends at is reached all the same. */
Test(weighed, rounding_reaches_a_share) {
    WeighedValue list[10];
    for (int i = 0; i < 10; i++) list[i] = (WeighedValue){i, 0.1};
    for (int i = 0; i < 10; i++) cr_expect_eq(weighed_quantile(list, 10, (i + 1) / 10.0), i);
}
