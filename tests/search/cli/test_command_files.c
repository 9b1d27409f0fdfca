/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No command writes over what it reads, nor one answer over another, whatever the file is called. */
#include "base/util.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <unistd.h>

#define SWEEP "$P sweep --model gpt2 --chip v5e --chips 4 --batch 64Ki "
#define PLAN "$P --model gpt2 --chip v5e --slice 2x2 --batch 64Ki "

/* Each line ends with exit 2 and one line on stderr that has `err`, and $D/x holds what it held. */
static const struct {
    const char *name, *line, *err;
} ROWS[] = {
    {"a resume file", SWEEP "--resume $D/x -o $D/x", "--output: is the file of --resume too"},
    {"a table of runs, fitted", "$P calibrate $D/x -o $D/x", "--output: is "},
    {"a table of runs, drawn", "$P validate $D/x --plot $D/../${D##*/}/x", "--plot: is "},
    {"a graph", "$P layout $D/x --solution $D/link", "--solution: is "},
    {"a report that is explained", "$P explain --from $D/x -o $D/hard", "--output: is the file of --from too"},
    {"a report that is compared", "$P diff $D/x $D/y -o $D/x", "--output: is "},
    {"a part", "$P merge $D/x -o $D/x", "--output: is "},
    {"a model", "$P --model $D/x --slice 2x2x1 -o $D/x", "--output: is the file of --model too"},
    {"a certificate and a report", "(cd $D && " PLAN "--certificate new -o ./new)", "is the file of"},
    {"the same through a link to nothing", "(cd $D && " PLAN "--certificate gone -o dangling)", "is the file of"},
    {"a report that a trace is put beside", "$P trace $D/y --from $D/x --refit $D/x",
     "--refit: is the file of --from too"},
    {"a report that benchmarks are for", "$P bench --from $D/x --read $D --refit $D/hard", "--refit: is the file of"},
    {"a baseline", "$P check --baseline $D/x --markdown $D/link", "is the file of --baseline too"},
};

Test(command_files, nothing_is_written_over) {
    char folder[FOLDER_SIZE], line[1024];
    folder_make(folder, "test");
    Run made = run(folder, "echo kept >$D/x; ln -s x $D/link; ln $D/x $D/hard; ln -s gone $D/dangling; echo >$D/y");
    cr_assert_eq(made.code, 0);
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        snprintf(line, sizeof line, "%s; code=$?; grep -q kept $D/x && [ ! -e $D/gone ] && exit $code", ROWS[i].line);
        Run result = run(folder, line);
        cr_expect_eq(result.code, 2, "%s: %d %s", ROWS[i].name, result.code, result.err);
        cr_expect(strstr(result.err, ROWS[i].err) != NULL, "%s: %s", ROWS[i].name, result.err);
        cr_expect_eq(strlen(result.out), 0, "%s: %s", ROWS[i].name, result.out);
    }
    folder_drop(folder);
}
