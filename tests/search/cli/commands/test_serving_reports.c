/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explain, diff, check and sweep of `inference`, as a shell sees them. */
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POINT "inference --model 8b --chip h100 --nodes 1 --engine vllm --mode aggregated"

static char folder[FOLDER_SIZE];

static void make(void) {
    folder_make(folder, "served");
    Run made = run(folder, "$P " POINT " --format json -o $D/a.json && $P " POINT
                           " --precision fp8 --format json -o $D/b.json");
    cr_assert_eq(made.code, 0, "%s", made.err);
    free(made.out);
    free(made.err);
}

static void drop(void) { folder_drop(folder); }

TestSuite(serving_reports, .init = make, .fini = drop);

/* A baseline whose rates are those of a machine twice as fast was never reached again: the gate closes. */
#define FASTER                                                                                                         \
    "sed 's/\"tokens_per_second_per_chip\": \\([0-9]\\)/\"tokens_per_second_per_chip\": 9\\1/' $D/a.json "             \
    ">$D/fast.json"
#define SLOWER                                                                                                         \
    "sed 's/\"tokens_per_second_per_chip\": \\([0-9]*\\)/\"tokens_per_second_per_chip\": 1/' $D/a.json >$D/slow.json"

Test(serving_reports, as_a_shell_sees_them) {
    static const struct {
        const char *name, *line;
        int code;
        const char *out, *err;
    } ROWS[] = {
        {"the best point in full", "$P explain --from $D/a.json", 0, "vllm serve", NULL},
        {"memory by row", "$P explain --from $D/a.json --rank 1", 0, "graphs and buffers", NULL},
        {"one point as JSON", "$P explain --from $D/a.json --rank 2 --format json | grep -c '\"rank\"'", 0, "1\n",
         NULL},
        {"no such rank", "$P explain --from $D/a.json --rank 100000", 2, NULL, "is no rank of its front"},
        {"the report has the request", "$P explain --from $D/a.json --model 70b", 2, NULL, "contradicts --from"},
        {"what was not, is", "$P diff $D/a.json $D/b.json", 0, "precision", NULL},
        {"both are one", "$P diff --exit-code $D/a.json $D/a.json", 0, "do not differ", NULL},
        {"they are not one", "$P diff --exit-code -q $D/a.json $D/b.json", 1, "", NULL},
        {"as JSON", "$P diff --format json $D/a.json $D/b.json", 0, "\"different\": true", NULL},
        {"as Markdown", "$P diff --format markdown $D/a.json $D/b.json", 0, "**The best point**", NULL},
        {"as a page", "$P diff --format html $D/a.json $D/b.json | grep -c '<svg '", 0, "4\n", NULL},
        {"not of two commands",
         "$P --model 8b --chip v5e --slice 4x4 --batch 64Ki --seq 2048 --top 1 --format json -o $D/p.json && "
         "$P diff $D/a.json $D/p.json",
         2, NULL, "is not of the same command"},
        {"nothing moved", "$P check --baseline $D/a.json", 0, "same", NULL},
        {"worse", FASTER " && $P check --baseline $D/fast.json", 1, "worse", NULL},
        {"worse, for CI", FASTER " && $P check --baseline $D/fast.json --format junit", 1, "<failure", NULL},
        {"better passes", SLOWER " && $P check --baseline $D/slow.json --format json", 0, "\"better\"", NULL},
        {"within a wide tolerance", FASTER " && $P check --baseline $D/fast.json --tolerance 99%", 0, "same", NULL},
        {"updated",
         SLOWER " && $P check --baseline $D/slow.json --update >/dev/null && $P check --baseline $D/slow.json", 0,
         "same", NULL},
        {"a list",
         "(echo '['; cat $D/a.json; echo ,; cat $D/b.json; echo ']') >$D/l.json; $P check --baseline $D/l.json", 0,
         "same", NULL},
        {"a model that is no more",
         "sed 's/\"model\": \"8b\"/\"model\": \"80b\"/' $D/a.json >$D/e.json; "
         "$P check --baseline $D/e.json",
         1, "error", NULL},
        {"a grid",
         "$P sweep inference --model 8b,70b --chip h100 --nodes 1,2 --mode aggregated --engine vllm --format "
         "csv | wc -l",
         0, "5", NULL},
        {"as JSON",
         "$P sweep inference --model 8b --chip h100 --nodes 1 --tpot 10ms,20ms --mode aggregated --format json"
         " | grep -c best_point",
         0, "2", NULL},
        {"one point is no request",
         "$P sweep inference --model 8b --chip h100 --nodes 1 --engine vllm,triton --mode "
         "aggregated",
         0, "none", NULL},
        {"none is", "$P sweep inference --model 80b,90b --chip h100", 2, "", "90b"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        Run done = run(folder, ROWS[i].line);
        cr_expect_eq(done.code, ROWS[i].code, "%s: exit %d: %s", ROWS[i].name, done.code, done.err);
        if (ROWS[i].out) cr_expect(strstr(done.out, ROWS[i].out), "%s: %.600s", ROWS[i].name, done.out);
        if (ROWS[i].out && !ROWS[i].out[0]) cr_expect_str_empty(done.out, "%s", ROWS[i].name);
        if (ROWS[i].err) cr_expect(strstr(done.err, ROWS[i].err), "%s: %s", ROWS[i].name, done.err);
        free(done.out);
        free(done.err);
    }
}
