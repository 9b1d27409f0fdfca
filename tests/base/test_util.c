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
