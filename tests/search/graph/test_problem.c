/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "search/graph/problem.h"

#include <criterion/criterion.h>
#include <string.h>

#define NODES "\"nodes\":{\"intervals\":[[0,1]],\"costs\":[[5,6]],\"usages\":[[1,2]]}"
#define TWO "\"nodes\":{\"intervals\":[[0,1],[0,1]],\"costs\":[[5,6],[7]],\"usages\":[[1,2],[3]]}"

/* where: the text after the file's name; text: a part of the complaint. */
static const struct {
    const char *name, *text, *where, *complaint;
} WRONG[] = {
    {"nothing", "", "f:1:1", "ends here"},
    {"a list", "[]", "f:1:1", "'['"},
    {"no problem", "{}", "f:1:3", "costs"},
    {"cut in the middle", "{\"problem\":{\"nodes\":{\"costs\":[[1,", "f:1:34", "whole number"},
    {"a second line", "{\"problem\":\n  {\"usage_limit\": x}}", "f:2:19", "'x'"},
    {"negative", "{\"problem\":{\"usage_limit\":-1}}", "f:1:27", "negative"},
    {"a fraction", "{\"problem\":{\"usage_limit\":1.5}}", "f:1:27", "fraction"},
    {"an exponent", "{\"problem\":{\"usage_limit\":1e3}}", "f:1:27", "exponent"},
    {"2^63", "{\"problem\":{\"usage_limit\":9223372036854775808}}", "f:1:27", "above"},
    {"twenty digits", "{\"problem\":{\"usage_limit\":10000000000000000000}}", "f:1:27", "above"},
    {"a leading zero", "{\"problem\":{\"usage_limit\":007}}", "f:1:27", "leading zero"},
    {"two limits", "{\"problem\":{\"usage_limit\":7,\"usage_limit\":7}}", "f:1:43", "second"},
    {"two lists of costs", "{\"problem\":{\"nodes\":{\"costs\":[],\"costs\":[]}}}", "f:1:41", "second"},
    {"rows that are numbers", "{\"problem\":{\"nodes\":{\"costs\":[1]}}}", "f:1:31", "row"},
    {"rows in rows", "{\"problem\":{\"nodes\":{\"costs\":[[[1]]]}}}", "f:1:32", "whole number"},
    {"a text for a number", "{\"problem\":{\"nodes\":{\"costs\":[[\"1\"]]}}}", "f:1:32", "whole number"},
    {"more behind it", "{\"problem\":{" NODES "}} 1", "f:1:78", "nothing more"},
    {"a comma too many", "{\"problem\":{" NODES ",}}", "f:1:76", "quotes"},
    {"depth", "{\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}", "f:1:38", "deeply"},
    {"no usages", "{\"problem\":{\"nodes\":{\"intervals\":[[0,1]],\"costs\":[[5]]}}}", "f:1:58", "usages"},
    {"fewer usages than costs", "{\"problem\":{\"nodes\":{\"intervals\":[[0,1]],\"costs\":[[5,6]],\"usages\":[[1]]}}}",
     "f:1:68", "2"},
    {"a node of no strategy", "{\"problem\":{\"nodes\":{\"intervals\":[[0,1]],\"costs\":[[]],\"usages\":[[]]}}}",
     "f:1:51", "0 strategies"},
    {"an interval of three", "{\"problem\":{\"nodes\":{\"intervals\":[[0,1,2]],\"costs\":[[5]],\"usages\":[[1]]}}}",
     "f:1:35", "two"},
    {"an edge to nowhere", "{\"problem\":{" TWO ",\"edges\":{\"nodes\":[[0,2]],\"costs\":[[1,2]]}}}", "f:1:108",
     "0 to 1"},
    {"an edge of three", "{\"problem\":{" TWO ",\"edges\":{\"nodes\":[[0,1,1]],\"costs\":[[1,2]]}}}", "f:1:108", "two"},
    {"a matrix of another size", "{\"problem\":{" TWO ",\"edges\":{\"nodes\":[[0,1]],\"costs\":[[1,2,3]]}}}", "f:1:124",
     "give 2"},
    {"edges without costs", "{\"problem\":{" TWO ",\"edges\":{\"nodes\":[[0,1]]}}}", "f:1:117", "0 of costs"},
    {"costs that overflow",
     "{\"problem\":{\"nodes\":{\"intervals\":[[0,1],[0,1],[0,1]],\"costs\":[[999999999999999999],[999999999999999999],"
     "[999999999999999999]],\"usages\":[[1],[1],[1]]}}}",
     "f:1:", "2 * 10^18"},
    {"usages that overflow",
     "{\"problem\":{\"nodes\":{\"intervals\":[[0,1],[0,1]],\"costs\":[[1],[1]],\"usages\":[[2000000000000000000],"
     "[2000000000000000000]]}}}",
     "f:1:", "2^61"},
    {"a control character", "{\"pro\nblem\":{}}", "f:1:6", "control"},
    {"an open text", "{\"problem", "f:1:10", "quote"},
};

Test(graph_read, wrong_files) {
    for (size_t k = 0; k < COUNT_OF(WRONG); k++) {
        Error error = {0};
        StrategyGraph graph;
        cr_expect(!graph_read(WRONG[k].text, strlen(WRONG[k].text), "f", &graph, &error), "%s", WRONG[k].name);
        cr_expect_eq(error.kind, ERROR_INPUT, "%s", WRONG[k].name);
        cr_expect(strncmp(error.where, WRONG[k].where, strlen(WRONG[k].where)) == 0, "%s: at %s, not %s", WRONG[k].name,
                  error.where, WRONG[k].where);
        cr_expect(strstr(error.text, WRONG[k].complaint), "%s: %s", WRONG[k].name, error.text);
        graph_free(&graph);
    }
}

/* Every truncation of a correct file is wrong, and none reads past its end: each lies in an allocation of its own
 * size. */
Test(graph_read, cut_anywhere) {
    static const char TEXT[] =
        " {\"problem\" : {\"edges\":{\"costs\":[[1,2]],\"nodes\":[[0,1]]},\"name\":\"a\\\"b\",\"more\":"
        "{\"x\":[true,-1.5e3,null,\"t\"]}," TWO ",\"usage_limit\":9}}\n";
    size_t length = sizeof TEXT - 1;
    for (size_t cut = 0; cut <= length; cut++) {
        Error error = {0};
        StrategyGraph graph;
        char *copy = malloc(cut ? cut : 1);
        memcpy(copy, TEXT, cut);
        bool ok = graph_read(copy, cut, "f", &graph, &error);
        cr_expect_eq(ok, cut + 1 >= length, "cut at %zu: %s", cut, error.text); /* the last byte is a newline */
        graph_free(&graph);
        free(copy);
    }
}

Test(graph_read, keys_in_any_order) {
    static const char *const TEXTS[] = {
        "{\"problem\":{\"edges\":{\"costs\":[[1,2]],\"nodes\":[[1,0]]}," TWO ",\"usage_limit\":9}}",
        "{\"problem\":{\"usage_limit\": 9, " TWO ", \"edges\": {\"nodes\": [[1, 0]], \"costs\": [[1, 2]]}}}"};
    for (size_t k = 0; k < COUNT_OF(TEXTS); k++) {
        Error error = {0};
        StrategyGraph graph;
        GraphValue value;
        int choice[] = {1, 0};
        cr_assert(graph_read(TEXTS[k], strlen(TEXTS[k]), "f", &graph, &error), "%s", error.text);
        cr_expect_eq(graph.node_count, 2);
        cr_expect_eq(graph.usage_limit, 9);
        cr_assert(graph_evaluate(&graph, choice, &value, &error));
        cr_expect_eq((int64_t)value.cost, 6 + 7 + 2);
        cr_expect_eq(value.peak_usage, 2 + 3);
        cr_expect(value.is_feasible);
        graph_free(&graph);
    }
}

/* Costs of 10^18 are forbidden and add up beyond 64 bits; two intervals that only meet are never live together. */
Test(graph_read, evaluates_in_full) {
    static const char TEXT[] =
        "{\"problem\":{\"nodes\":{\"intervals\":[[3,5],[5,9],[7,7]],\"costs\":[[9000000000000000000],"
        "[9000000000000000000],[1]],\"usages\":[[4],[6],[100]]},\"usage_limit\":6}}";
    Error error = {0};
    StrategyGraph graph;
    GraphValue value;
    int choice[3] = {0};
    cr_assert(graph_read(TEXT, sizeof TEXT - 1, "f", &graph, &error), "%s", error.text);
    cr_assert(graph_evaluate(&graph, choice, &value, &error));
    cr_expect(value.cost == (__int128)9000000000000000000 * 2 + 1);
    cr_expect_eq(value.forbidden, 2);
    cr_expect_eq(value.peak_usage, 6);
    cr_expect_eq(value.peak_time, 5);
    cr_expect(!value.is_feasible);
    graph_free(&graph);
}
