/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt layout` as a shell sees it: exit codes, forms, gzip, limits, interruption. */
#include "base/util.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <unistd.h>

/* tests/data/layout/example.json: of its 144 choices, [1, 1, 1, 1, 1, 1] costs least among those that fit, 26 (tried
 * one by one by a script of ten lines). $T is the folder of the examples. */
static const struct {
    const char *name, *line;
    int code;
    const char *out, *err;
} ROWS[] = {
    {"text", "$P layout $T/example.json", 0, "cost   26", NULL},
    {"json", "$P layout $T/example.json --format json", 0, "\"proof\": \"optimal\"", NULL},
    {"a solution", "$P layout $T/example.json --solution -", 0, "[1, 1, 1, 1, 1, 1]", NULL},
    {"gzip", "gzip -c $T/example.json >$D/e.gz; $P layout $D/e.gz", 0, "cost   26", NULL},
    {"two members",
     "{ head -c 99 $T/example.json | gzip; tail -c +100 $T/example.json | gzip; } >$D/e.gz; $P layout $D/e.gz", 0,
     "cost   26", NULL},
    {"gzip cut short", "gzip -c $T/example.json | head -c 100 >$D/e.gz; $P layout $D/e.gz", 2, NULL, "too early"},
    {"gzip broken",
     "{ gzip -c $T/example.json | head -c 50; echo xxxxxxxxxxxxxxxxxxxxxxxx; } >$D/e.gz; $P layout $D/e.gz", 2, NULL,
     "gzip"},
    {"gzip and more", "{ gzip -c $T/example.json; echo x; } >$D/e.gz; $P layout $D/e.gz", 2, NULL, "gzip"},
    {"too full: at moment 3 nodes 0 and 1 take 4 + 7 at least", "$P layout $T/too_full.json", 3,
     "at moment 3 the least that every node needs is 1 above", NULL},
    {"the same for scripts", "$P layout $T/too_full.json --format json", 3, "\"excess_time\": 3", NULL},
    {"no solution, no file", "$P layout $T/too_full.json --solution $D/s; test ! -e $D/s || exit 9; exit 3", 3, NULL,
     NULL},
    {"no file", "$P layout $D/none.json", 2, NULL, "none.json"},
    {"no name", "$P layout", 2, NULL, "give FILE.json"},
    {"two files", "$P layout a b", 2, NULL, "one file too many"},
    {"a word mistyped", "$P layout a --time-limt 3", 2, NULL, "did you mean --time-limit"},
    {"no time", "$P layout a --time-limit 0", 2, NULL, "--time-limit"},
    {"line and column", "printf '{\"problem\":\\n {\"nodes\": 3}}' >$D/x.json; $P layout $D/x.json", 2, NULL,
     "x.json:2:12"},
    {"one file for two", "$P layout $T/example.json -o $D/o --solution $D/o", 2, NULL, "--solution"},
    {"help", "$P layout --help", 0, "--solution", NULL},
};

static void expect_text(const char *name, const char *stream, const char *text, const char *part) {
    if (part)
        cr_expect(strstr(text, part), "%s: %s without \"%s\": %.300s", name, stream, part, text);
    else if (strcmp(stream, "err") == 0)
        cr_expect_eq(text[0], '\0', "%s: %s: %.300s", name, stream, text);
}

Test(cli_layout, rows) {
    char folder[FOLDER_SIZE], line[2048];
    folder_make(folder, "layout");
    for (size_t k = 0; k < COUNT_OF(ROWS); k++) {
        snprintf(line, sizeof line, "T=%s/layout; %s", SHARDOPT_TEST_DATA, ROWS[k].line);
        Run done = run(folder, line);
        cr_expect_eq(done.code, ROWS[k].code, "%s: exit %d: %.200s", ROWS[k].name, done.code, done.err);
        if (ROWS[k].out) expect_text(ROWS[k].name, "out", done.out, ROWS[k].out);
        expect_text(ROWS[k].name, "err", done.err, ROWS[k].err);
        free(done.out);
        free(done.err);
    }
    folder_drop(folder);
}

/* A graph too hard to be proven in a moment, made by awk: 600 nodes on a torus with random costs. */
static const char HARD[] =
    "awk 'BEGIN { srand(5); n = 600; K = 12; printf \"{\\\"problem\\\":{\\\"nodes\\\":{\\\"intervals\\\":[\"; "
    "for (i = 0; i < n; i++) printf \"%s[%d,%d]\", i ? \",\" : \"\", i, i + 30; printf \"],\\\"costs\\\":[\"; "
    "for (i = 0; i < n; i++) { printf i ? \",[\" : \"[\"; for (s = 0; s < K; s++) printf \"%s%d\", s ? \",\" : \"\", "
    "rand() * 100; printf \"]\" } "
    "printf \"],\\\"usages\\\":[\"; "
    "for (i = 0; i < n; i++) { printf i ? \",[\" : \"[\"; for (s = 0; s < K; s++) printf \"%s%d\", s ? \",\" : \"\", "
    "rand() * 100; printf \"]\" } "
    "printf \"]},\\\"edges\\\":{\\\"nodes\\\":[\"; for (i = 0; i < n; i++) printf \"%s[%d,%d],[%d,%d]\", i ? \",\" : "
    "\"\", i, (i + 1) % n, i, (i + 25) % n; "
    "printf \"],\\\"costs\\\":[\"; for (e = 0; e < 2 * n; e++) { printf e ? \",[\" : \"[\"; for (s = 0; s < K * K; "
    "s++) printf \"%s%d\", s ? \",\" : \"\", rand() * 100; printf \"]\" } "
    "print \"]},\\\"usage_limit\\\":900}}\" }' >$D/hard.json; ";

static Run run_hard(const char *folder, const char *rest) {
    char line[4096];
    snprintf(line, sizeof line, "%s%s", HARD, rest);
    return run(folder, line);
}

Test(cli_layout, limits) {
    char folder[FOLDER_SIZE];
    folder_make(folder, "layout");
    Run one = run_hard(folder, "$P layout $D/hard.json --effort 0.002 --threads 1 --format json --solution $D/1");
    Run seven =
        run_hard(folder, "$P layout $D/hard.json --effort 0.002 --threads 7 --format json --solution $D/7; c=$?; "
                         "cmp $D/1 $D/7 || exit 9; exit $c");
    Run timed = run_hard(folder, "$P layout $D/hard.json --time-limit 1.5s --threads 1");
    /* Stopped as soon as it says that it has a solution, however slow the machine is. */
    Run stopped = run_hard(folder, "(i=0; until grep -qs gap $D/progress || [ $i -ge 600 ]; do sleep 0.1; i=$((i+1)); "
                                   "done; kill -INT $(cat $D/pid)) & "
                                   "sh -c 'echo $$ >'$D'/pid; exec '$P' layout '$D'/hard.json --threads 1 --verbose' "
                                   "2>$D/progress");
    cr_expect_eq(one.code, 4, "exit %d: %s", one.code, one.err);
    cr_expect_eq(seven.code, 4, "exit %d: %s", seven.code, seven.err);
    cr_expect_str_eq(one.out, seven.out);
    cr_expect_eq(timed.code, 4, "exit %d: %s", timed.code, timed.err);
    cr_expect(strstr(timed.out, "cost   "), "%s", timed.out);
    cr_expect_eq(stopped.code, 130, "exit %d: %s", stopped.code, stopped.err);
    cr_expect(strstr(stopped.out, "nodes"), "%s", stopped.out);
    folder_drop(folder);
}
