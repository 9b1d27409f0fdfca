/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serving by the library: what the program prints, read figure by figure. */
#include "search/shardopt.h"

#include <criterion/criterion.h>
#include <string.h>

static shardopt_serving_request *request_of(const char *const *pairs) {
    shardopt_serving_request *request = shardopt_serving_request_new();
    for (; *pairs; pairs += 2)
        cr_assert_eq(shardopt_serving_request_set(request, pairs[0], pairs[1], NULL), SHARDOPT_DONE, "%s", pairs[0]);
    return request;
}

Test(shardopt_serving, a_front_is_read_and_written) {
    shardopt_serving_request *request =
        request_of((const char *const[]){"model", "8b", "chip", "h100", "nodes", "1", NULL});
    shardopt_error error;
    shardopt_front *front;
    shardopt_point first, last, none;
    cr_assert_eq(shardopt_serve(request, NULL, &front, &error), SHARDOPT_DONE, "%s: %s", error.where, error.text);
    shardopt_serving_request_free(request); /* the front does not need it */
    int count = shardopt_front_count(front), best = shardopt_front_best(front);
    cr_assert(count > 2 && best >= 1 && best <= count);
    cr_assert(shardopt_front_point(front, 1, &first) && shardopt_front_point(front, count, &last));
    cr_expect(!shardopt_front_point(front, count + 1, &none) && !shardopt_front_point(front, 0, &none));
    cr_expect(first.tokens_per_second_per_user > last.tokens_per_second_per_user);
    cr_expect(first.tokens_per_second_per_chip < last.tokens_per_second_per_chip);
    cr_expect_float_eq(first.seconds_per_token * first.tokens_per_second_per_user, 1, 1e-12);
    cr_expect(last.hbm_bytes <= last.hbm_limit_bytes && last.chips_used == 8);
    for (int i = 0; i < 5; i++) {
        static const char *const FORMATS[] = {"text", "json", "markdown", "html", "csv"};
        char *text;
        size_t length;
        cr_expect_eq(shardopt_front_write(front, FORMATS[i], &text, &length, &error), SHARDOPT_DONE, "%s", error.text);
        cr_expect(strlen(text) == length && strstr(text, "llama3.1-8b"), "%s", FORMATS[i]);
        shardopt_free(text);
    }
    shardopt_front_free(front);
}

Test(shardopt_serving, what_is_wrong_is_said) {
    shardopt_error error;
    shardopt_front *front;
    shardopt_serving_request *request =
        request_of((const char *const[]){"model", "70b", "chip", "h100", "chips", "1", NULL});
    cr_expect_eq(shardopt_serving_request_set(request, "sequences", "8", &error), SHARDOPT_INPUT);
    cr_expect_str_eq(error.where, "sequences");
    cr_expect_eq(shardopt_serve(request, NULL, &front, &error), SHARDOPT_NO_PLAN, "%s", error.text);
    cr_expect_eq(shardopt_front_count(front), 0);
    cr_expect_eq(shardopt_front_best(front), 0);
    shardopt_front_free(front);
    cr_assert_eq(shardopt_serving_request_set(request, "prompt", "0", NULL), SHARDOPT_DONE);
    cr_expect_eq(shardopt_serve(request, NULL, &front, &error), SHARDOPT_INPUT);
    cr_expect_null(front);
    cr_expect_str_eq(error.where, "prompt");
    shardopt_serving_request_free(request);
}

static bool stop(void *context) { return context == NULL; }

Test(shardopt_serving, the_caller_ends_it) {
    shardopt_serving_request *request =
        request_of((const char *const[]){"model", "70b", "chip", "h100", "nodes", "8", NULL});
    shardopt_hooks hooks = {NULL, stop, NULL};
    shardopt_front *front;
    cr_expect_eq(shardopt_serve(request, &hooks, &front, NULL), SHARDOPT_INTERRUPTED);
    shardopt_front_free(front);
    shardopt_serving_request_free(request);
}
