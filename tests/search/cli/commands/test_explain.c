/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `explain` of a plan that is named: priced whether it fits or not, and what a report says of it. */
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>

static const struct {
    const char *name, *line;
    int code;
    const char *out, *err; /* NULL: nothing is asked */
} ROWS[] = {
    {"a plan that fits", "$P explain --model 8b --chip h100 --nodes 1 --batch 1Mi --plan fsdp=8", 0, "free", NULL},
    /* 8B: 16 GB of weights, 64 to 96 GB of gradients and state, all of it on every chip */
    {"a plan that lacks HBM",
     "$P explain --model 8b --chip h100 --nodes 1 --batch 1Mi --plan \"data=8 zero_stage=0\" --for any --offload none",
     3, "lacking", "of HBM per chip"},
    {"and what lacks",
     "$P explain --model 8b --chip h100 --nodes 1 --batch 1Mi --plan \"data=8 zero_stage=0\" --for any --offload none",
     3, "of 73.2 GB", "--plan: by this model it lacks"},
    {"of activations",
     "$P explain --model 8b --chip h100 --nodes 1 --batch 8Mi --seq 131072 --plan fsdp=8 --remat none --for any", 3,
     "lacking", "most of which activations take"},
    {"a plan that nothing makes possible",
     "$P explain --model 8b --chip h100 --nodes 1 --batch 8Ki --seq 8192 --plan "
     "data=8",
     2, NULL, "replicas"},
};

Test(explain, named_plans) {
    char folder[] = "/tmp/shardopt-explain-XXXXXX";
    cr_assert(mkdtemp(folder) != NULL);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        Run ended = run(folder, ROWS[i].line);
        cr_expect_eq(ended.code, ROWS[i].code, "%s: %d\n%s", ROWS[i].name, ended.code, ended.err);
        cr_expect(!ROWS[i].out || strstr(ended.out, ROWS[i].out), "%s: %.600s", ROWS[i].name, ended.out);
        cr_expect(!ROWS[i].err || strstr(ended.err, ROWS[i].err), "%s: %s", ROWS[i].name, ended.err);
        free(ended.out), free(ended.err);
    }
    cr_assert(system("rm -r /tmp/shardopt-explain-*") == 0);
}
