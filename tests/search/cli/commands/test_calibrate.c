/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt calibrate` as a shell sees it, on published runs. */
#include "base/util.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <unistd.h>

/* $T: the published table; rows of it through `head` and `grep` keep this short. */
#define OWN "(head -1 $T; grep ^llmfoundry-00 $T) >$D/own.tsv; "

/* `out`, `err`: what the stream has in it; NULL: nothing at all. */
static const struct {
    const char *name, *line;
    int code;
    const char *out, *err;
} ROWS[] = {
    {"help", "$P calibrate --help", 0, "--exclude-flagged", NULL},
    {"no table", "$P calibrate", 2, NULL, "give one table"},
    {"two tables", "$P calibrate a.tsv b.tsv", 2, NULL, "give one table"},
    {"a table that is not there", "$P calibrate $D/none.tsv", 2, NULL, "none.tsv"},
    {"a folder", "$P calibrate $D", 2, NULL, "folder"},
    {"an empty table", ": >$D/x.tsv; $P calibrate $D/x.tsv", 2, NULL, "x.tsv"},
    {"a heading alone", "head -1 $T >$D/x.tsv; $P calibrate $D/x.tsv", 2, NULL, "no run below the heading"},
    {"no run that can be replayed",
     "(head -1 $T; grep ^llmfoundry-001 $T | sed 's/h100/z80/') >$D/x.tsv; $P calibrate $D/x.tsv", 2, NULL,
     "none of its 1 runs can be replayed: llmfoundry-001: "},
    {"an unknown option", "$P calibrate --fold 3 $T", 2, NULL, "did you mean --folds"},
    {"an option twice", "$P calibrate --folds 3 --folds 4 $T", 2, NULL, "--folds: is given twice"},
    {"folds below none", "$P calibrate --folds -1 $T", 2, NULL, "--folds"},
    {"a date that is none", "$P calibrate --date 2025-13-01 $T", 2, NULL, "--date"},
    {"a format that is none", "$P calibrate --format html $T", 2, NULL, "text, json or markdown"},
    {"a beginning that is none", "$P calibrate --begin middle $T", 2, NULL, "priors or values"},
    {"a set that is none", "echo '{}' >$D/x.json; " OWN "$P calibrate --profile $D/x.json $D/own.tsv", 2, NULL,
     "x.json"},
    {"nowhere to write", OWN "$P calibrate --folds 0 -o $D/none/x.json $D/own.tsv", 2, NULL, "none"},
    {"a full disk", OWN "$P calibrate --folds 0 $D/own.tsv >/dev/full", 2, NULL, "written"},
    {"one run", "(head -1 $T; grep ^llmfoundry-001 $T) >$D/x.tsv; $P calibrate $D/x.tsv", 0, "1 replayed", NULL},
    {"text", OWN "$P calibrate --folds 2 $D/own.tsv", 0, "left out by groups", NULL},
    {"markdown", OWN "$P calibrate --folds 2 --format markdown $D/own.tsv", 0, "|---|---:", NULL},
    {"json", OWN "$P calibrate --folds 2 --format json $D/own.tsv", 0, "\"by_sources\": {", NULL},
    {"every run has what it took, and what is not known of it",
     OWN "$P calibrate --folds 0 --format json $D/own.tsv | tr -d ' \t\n' | grep -o "
         "'\"id\":\"[^\"]*\",\"measured_seconds\":[0-9.e+-]*,\"unknowns\":[0-9]' | wc -l | sed 's/^/runs /'",
     0, "runs 6", NULL},
    {"what was not replayed",
     "(head -1 $T; grep ^llmfoundry-00 $T | sed '1s/h100/z80/') >$D/x.tsv; "
     "$P calibrate --folds 0 -v $D/x.tsv",
     0, "z80", NULL},
    {"the set alone", OWN "$P calibrate --folds 0 -o - $D/own.tsv", 0, "\"runs_sha256\": ", NULL},
    {"a set that is read again, and fits the same runs to the same bytes",
     OWN "$P calibrate --date 2025-01-01 -o $D/a.json $D/own.tsv >$D/first && "
         "mkdir $D/again && "
         "$P calibrate --date 2025-01-01 -o $D/b.json --profile $D/a.json --threads 1 $D/own.tsv >$D/second && "
         "$P calibrate --date 2025-01-01 -o $D/again/b.json --profile $D/a.json --threads 7 $D/own.tsv >$D/third && "
         "tail -n +4 $D/second >$D/x && tail -n +4 $D/third | cmp - $D/x && cmp $D/b.json $D/again/b.json && echo same",
     0, "same", NULL},
    {"other runs go on from the values",
     OWN "$P calibrate --folds 0 -o $D/a.json $D/own.tsv >/dev/null; (head -1 $T; grep ^llmfoundry-01 $T) >$D/x.tsv; "
         "$P calibrate --folds 0 --profile $D/a.json $D/x.tsv",
     0, "only what these runs determine moves", NULL},
};

static bool has(const char *text, const char *part) { return part ? strstr(text, part) != NULL : text[0] == '\0'; }

Test(calibrate, rows) {
    char folder[FOLDER_SIZE], line[4096];
    folder_make(folder, "calibrate");
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        snprintf(line, sizeof line, "T=%s/cost/measured/data/train.tsv; %s", SHARDOPT_SOURCE_DATA, ROWS[i].line);
        Run ran = run(folder, line);
        cr_expect_eq(ran.code, ROWS[i].code, "%s: exit %d", ROWS[i].name, ran.code);
        cr_expect(has(ran.out, ROWS[i].out), "%s: stdout: %.300s", ROWS[i].name, ran.out);
        cr_expect(has(ran.err, ROWS[i].err), "%s: stderr: %.300s", ROWS[i].name, ran.err);
        free(ran.out);
        free(ran.err);
    }
    folder_drop(folder);
}
