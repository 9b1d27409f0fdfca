/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A new model is one data file and no C: one that nobody ever trained is put into a zoo, or beside the program, and is
 * listed, shown, planned and explained. */
#include "base/util.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <unistd.h>

/* A data folder whose zoo holds the invented model and nothing else; chips and profiles are those there are. */
static const char PLANT[] = "mkdir -p $D/data/models/zoo && cp $F $D/data/models/zoo/invented.json && "
                            "ln -s $S/mesh $S/cost $D/data/ && cp $F $D/my-model.json";

/* 2 dense layers, 15 mixtures with a window and 15 without, d_model 4096: attention 4096 * 128 * (2 * 32 + 2 * 4) =
 * 37,748,736; dense MLP 3 * 4096 * 12288; expert 3 * 4096 * 2048 = 25,165,824, 64 of them and a shared one; router
 * 4096 * 64 + 64; two norms; and the tied table of 100,000 rows with the last norm:
 * 2 * 188,751,872 + 30 * 1,673,797,696 + 409,604,096 = 51,001,038,720. */
static const struct {
    const char *name, *line;
    int code;
    const char *out, *err;
} ROWS[] = {
    {"the zoo lists it", "SHARDOPT_DATA=$D/data $P models", 0, "1 model of 1 family", NULL},
    {"by name", "SHARDOPT_DATA=$D/data $P models Invented-51B", 0, "51,001,038,720", NULL},
    {"by alias, for scripts", "SHARDOPT_DATA=$D/data $P models made_up --format json", 0,
     "\"active_parameters\": 5702555520", NULL},
    {"as a file", "cd $D && $P models my-model.json", 0, "15 layers: gqa, 32 heads, 4 kv, head_dim 128, window 1024",
     NULL},
    {"a plan by name", "SHARDOPT_DATA=$D/data $P --model invented-51b --slice 2x4x4 --top 1", 0, "invented-51b", NULL},
    {"its training is the default", "SHARDOPT_DATA=$D/data $P --model made-up --slice 2x4x4 --top 1 --format json", 0,
     "\"batch\": 4194304", NULL},
    {"the experts are split", "cd $D && $P --model ./my-model.json --slice 2x4x4 --require expert=8 --top 1", 0,
     "EP8", NULL},
    {"the same plan as a file",
     "cd $D && $P --model ./my-model.json --slice 2x4x4 --top 1 --format json | grep '\"notation\"' >a && "
     "SHARDOPT_DATA=data $P --model made-up --slice 2x4x4 --top 1 --format json | grep '\"notation\"' >b && cmp a b",
     0, NULL, NULL},
    {"explained", "SHARDOPT_DATA=$D/data $P explain --model made-up --slice 2x4x4 --plan 'fsdp=4 expert=8'", 0,
     "expert=8", NULL},
    {"the others are not there", "SHARDOPT_DATA=$D/data $P models 405b", 2, NULL, "405b"},
    {"a slip in the file", "sed 's/top_k/topk/' $F >$D/slip.json; $P models $D/slip.json", 2, NULL,
     "layers[1].topk is not known; did you mean top_k?"},
    {"a file of an unknown type", "echo '{\"model_type\": \"lama\"}' >$D/lama.json; $P --model $D/lama.json --pods 1",
     2, NULL, "\"lama\" is not known, but like llama; "},
};

Test(new_model, rows) {
    if (access(SHARDOPT_PROGRAM, X_OK) != 0) cr_skip_test("%s is not built", SHARDOPT_PROGRAM);
    char folder[] = "/tmp/shardopt-test-XXXXXX", line[4096];
    cr_assert_not_null(mkdtemp(folder));
    setenv("S", SHARDOPT_SOURCE_DATA, 1);
    setenv("F", SHARDOPT_TEST_DATA "/models/invented.json", 1);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        snprintf(line, sizeof line, "%s%s%s", i ? "" : PLANT, i ? "" : " && ", ROWS[i].line);
        Run result = run(folder, line);
        cr_expect_eq(result.code, ROWS[i].code, "%s: exit %d; %.300s", ROWS[i].name, result.code, result.err);
        cr_expect(ROWS[i].out ? strstr(result.out, ROWS[i].out) != NULL : result.out[0] == '\0', "%s: stdout is %.500s",
                  ROWS[i].name, result.out);
        cr_expect(ROWS[i].err ? strstr(result.err, ROWS[i].err) != NULL : result.err[0] == '\0', "%s: stderr is %.300s",
                  ROWS[i].name, result.err);
        free(result.out);
        free(result.err);
    }
    snprintf(line, sizeof line, "rm -rf %s", folder);
    cr_expect_eq(system(line), 0);
}
