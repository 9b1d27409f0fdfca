/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt emit` as a shell sees it: what goes where, and what is left when it says no. */
#include "tests/search/cli/shell.h"

#include "base/util.h"

#include <criterion/criterion.h>

static const struct {
    const char *name, *line;
    int code;
    const char *out, *err; /* in what is printed; "": nothing is */
} ROWS[] = {
    {"a plan of a report", "$P emit maxtext --from $D/report.json --rank 1 -q", 0, "\nici_fsdp_parallelism: ", ""},
    {"the best plan that it can launch", "$P emit maxtext --model 8b --chip v5e --slice 4x4 --batch 256Ki -q", 0,
     "\nmodel_name: \"llama3.1-8b\"\n", ""},
    {"a plan that is named", "$P emit jax --model 8b --chip v5e --slice 4x4 --batch 256Ki -q --plan 'fsdp=16'", 0,
     "MESH_AXES = {\"fsdp\": 16}", ""},
    {"what is approximate is a warning and a comment",
     "$P emit maxtext --model 8b --slice 2x2x4 --batch 256Ki --plan 'fsdp=16' --remat full:16", 0,
     "# NOTE: one remat policy for all layers", "warning: emit maxtext: one remat policy for all layers"},
    {"what it does not do is refused",
     "$P emit maxtext --model 8b --slice 2x2x4 --batch 256Ki --plan 'fsdp=16 regather=false' --remat full", 2, "",
     "it gathers sharded weights again for backward"},
    {"a report of other times",
     "sed 's/\"seconds\": [0-9.]*/\"seconds\": 1.25/' $D/report.json >$D/other.json; "
     "$P emit jax --from $D/other.json",
     0, "MESH_AXES", "took 1.250 s in the report"},
    {"KV heads that do not divide",
     "$P emit maxtext --model 8b --chip v5e --slice 4x4 --batch 256Ki --plan tensor=16 -o $D/no; "
     "code=$?; ls $D/no*; exit $code",
     2, "", "KV heads are split over tensor"},
    {"no format", "$P emit --model 8b", 2, "", "emit: has no format; give maxtext, jax, megatron"},
    {"an unknown format", "$P emit slurm --model 8b", 2, "", "slurm: is no format; give maxtext, jax, megatron"},
    {"two plans", "$P emit jax --from $D/report.json --plan fsdp=16", 2, "", "has two plans"},
    {"beyond the last plan", "$P emit jax --from $D/report.json --rank 9", 2, "", "--rank"},
    {"no plan fits", "$P emit maxtext --model 405b --chip v5e --slice 2x2", 3, "", "no plan fits"},
    {"no plan of this model at all", "$P emit megatron --model falcon-7b --chip h100 --nodes 1", 3, "",
     "megatron takes no plan of this: it has no ALiBi, and no layer whose attention and MLP read the same input"},
    {"help", "$P emit --help", 0, "Formats:\n  maxtext", ""},
};

Test(emit, rows) {
    char folder[FOLDER_SIZE];
    folder_make(folder, "emit");
    Run report = run(folder, "$P --model 8b --chip v5e --slice 4x4 --batch 256Ki --for maxtext --top 2 --format json "
                             "-q -o $D/report.json");
    cr_assert_eq(report.code, 0, "%s", report.err);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run row = run(folder, ROWS[i].line);
        cr_expect_eq(row.code, ROWS[i].code, "%s: exit %d, %s", ROWS[i].name, row.code, row.err);
        bool out = ROWS[i].out[0] ? strstr(row.out, ROWS[i].out) != NULL : row.out[0] == '\0';
        bool err = ROWS[i].err[0] ? strstr(row.err, ROWS[i].err) != NULL : row.err[0] == '\0';
        cr_expect(out, "%s: prints %.300s", ROWS[i].name, row.out);
        cr_expect(err, "%s: says %s", ROWS[i].name, row.err);
        free(row.out), free(row.err);
    }
    folder_drop(folder);
    free(report.out), free(report.err);
}
