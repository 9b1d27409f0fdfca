/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `check` and `diff` as a shell sees them. What the gate catches of worse data is in tests/gate/run.py. */
#include "base/json.h"
#include "base/util.h"
#include "tests/search/cli/shell.h"
#include "tests/search/report/html/page_text.h"

#include <criterion/criterion.h>
#include <math.h>

/* Points that take a tenth of a second. */
#define POINT "--model 8b --chip v5e --slice 4x4 --batch 64Ki --seq 2048"
#define OTHER "--model 8b --chip v5e --slice 4x4 --batch 32Ki --seq 2048"
/* A copy of the report of POINT, which a script may change. */
#define MAKE "cp $D/point.json $D/a.json && "

static char folder[FOLDER_SIZE];

static void make_folder(void) {
    folder_make(folder, "check");
    unsetenv("GITHUB_ACTIONS");
}

static void remove_folder(void) { folder_drop(folder); }

static void end(Run *ended) {
    free(ended->out);
    free(ended->err);
}

static void make_reports(void) {
    make_folder();
    Run made = run(folder, "$P " POINT " --top 5 --format json -o $D/point.json && $P " OTHER
                           " --top 5 --format json -o $D/other.json");
    cr_assert_eq(made.code, 0, "%s", made.err);
    end(&made);
}

TestSuite(check, .init = make_reports, .fini = remove_folder);
TestSuite(diff, .init = make_reports, .fini = remove_folder);

/* Its exit code, and what stands on stdout and on stderr; NULL: nothing is asked, "": nothing stands there. */
typedef struct {
    const char *name, *line;
    int code;
    const char *out, *err;
} Row;

static void expect_part(const char *name, const char *stream, const char *text, const char *part) {
    if (!part) return;
    if (part[0] == '\0')
        cr_expect_str_empty(text, "%s: %s is not empty: %s", name, stream, text);
    else
        cr_expect(strstr(text, part), "%s: %s lacks \"%s\": %s", name, stream, part, text);
}

static void expect_rows(const Row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Run ended = run(folder, rows[i].line);
        cr_expect_eq(ended.code, rows[i].code, "%s: %d\n%s%s", rows[i].name, ended.code, ended.out, ended.err);
        expect_part(rows[i].name, "stdout", ended.out, rows[i].out);
        expect_part(rows[i].name, "stderr", ended.err, rows[i].err);
        end(&ended);
    }
}

/* In a script: replaces the first `from` of a file by `to`. */
#define EDIT(file, from, to) "sed -i '0,/" from "/s//" to "/' $D/" file

static const Row INPUT[] = {
    {"nothing to check", "$P check", 2, "", "shardopt: check: has nothing to check; give --baseline FILE"},
    {"no file", "$P check --baseline $D/none.json", 2, "", "none.json"},
    {"a folder", "$P check --baseline $D", 2, "", "shardopt: "},
    {"no JSON", "echo '{' > $D/x.json; $P check --baseline $D/x.json", 2, "", "x.json:2:1"},
    {"no report", "echo '[{\"format_version\":1}]' > $D/x.json; $P check --baseline $D/x.json", 2, "",
     "x.json: [0]: request: is missing"},
    {"an unknown option", "$P check --baseline $D/x.json --tolerence 1%", 2, "", "did you mean --tolerance"},
    {"a tolerance that is none", "$P check --baseline $D/x.json --tolerance soon", 2, "", "--tolerance"},
    {"a tolerance of 500%", "$P check --baseline $D/x.json --tolerance 5", 2, "", "give a share such as 0.01, or 5%"},
    {"a format that is none", "$P check --baseline $D/x.json --format csv", 2, "",
     "give text, json, markdown or junit"},
    {"what is asked twice", "$P check --baseline $D/x.json --model 8b", 2, "", "--model: contradicts --baseline"},
    {"a plan beside a baseline", "$P check --baseline $D/x.json --plan fsdp=4", 2, "", "--plan: is for a plan that is"},
    {"--within without a plan", "$P check --baseline $D/x.json --within 5%", 2, "", "--within"},
    {"--update without a baseline", "$P check --update " POINT " --plan fsdp=16", 2, "", "--update: belongs to"},
    {"the baseline as output", "$P check --baseline $D/x.json -o $D/x.json", 2, "", "is the file of --baseline too"},
    {"one file twice", "$P check --baseline $D/x.json --junit $D/y --markdown $D/y", 2, "", "is the file of"},
    {"no plan to launch", "$P check " POINT, 2, "", "has nothing to check"},
    {"a plan that is no plan", "$P check " POINT " --plan fsdp=5", 2, "", "does not divide the 16 devices"},
    {"help", "$P check --help", 0, "--baseline FILE", ""},
    {"an option of plan alone", "$P check " POINT " --plan fsdp=16 --top 3", 2, "", "--top"},
};

Test(check, input) { expect_rows(INPUT, COUNT_OF(INPUT)); }

static const Row GATE[] = {
    {"a report holds against itself", MAKE "$P check --baseline $D/a.json --tolerance 0", 0, "The 1 plan is as good",
     ""},
    {"so does a sweep, planned once more",
     "$P sweep --model 8b --chip v5e --slice 4x4 --seq 2048 --batch 64Ki,32Ki --format json -o $D/s.json && $P check "
     "--baseline $D/s.json --tolerance 0",
     0, "All 2 plans are as good", ""},
    {"--update keeps it short",
     MAKE "cp $D/a.json $D/b.json && $P check --baseline $D/b.json --update && [ $(wc -c <$D/b.json) -lt 6000 ] && "
          "$P check --baseline $D/b.json --tolerance 0 && $P explain --from $D/b.json",
     0, "all are unchanged", ""},
    {"and says the same twice",
     MAKE "$P check --baseline $D/a.json --update >$D/1 && cp $D/a.json $D/b.json && $P check --baseline $D/a.json "
          "--update >$D/2 && cmp $D/a.json $D/b.json",
     0, NULL, ""},
    {"a request alone is planned with --update",
     "echo '{\"format_version\":1,\"request\":{\"model\":\"8b\",\"chip\":\"v5e\",\"slice\":\"4x4\",\"batch\":65536,"
     "\"seq\":2048}}' > $D/n.json; $P check --baseline $D/n.json --update && $P check --baseline $D/n.json",
     0, "1 plan: 1 new", ""},
    {"and not without",
     "echo '{\"format_version\":1,\"request\":{\"model\":\"8b\"}}' > $D/n.json; $P check --baseline $D/n.json", 2, "",
     "plans: is missing"},
    {"less memory then",
     MAKE EDIT("a.json", "\"total_bytes\": 1", "\"total_bytes\": ") "; $P check --baseline $D/a.json", 1,
     "of 15.2 GB (+", ""},
    {"a proof that a limit takes", MAKE "$P check --baseline $D/a.json --time-limit 0.000001", 1,
     "a time limit ended the search", ""},
    {"what cannot be planned any more",
     MAKE EDIT("a.json", "\"slice\": \"4x4\"", "\"slice\": \"3x3\"") "; $P check --baseline $D/a.json", 1,
     "1 cannot be planned any more", ""},
    {"which --update does not take",
     MAKE EDIT("a.json", "\"slice\": \"4x4\"",
               "\"slice\": \"3x3\"") "; cp $D/a.json $D/b.json; $P check --baseline $D/a.json --update; c=$?; cmp "
                                     "$D/a.json $D/b.json && exit $c",
     2, "", "nothing to update it with"},
    {"a key that is no option", MAKE EDIT("a.json", "\"slice\": ", "\"slise\": ") "; $P check --baseline $D/a.json", 1,
     "request.slise: is no option of plan", ""},
    /* The requirement stands in for a search that misses the best: the plan of the baseline costs what it did. */
    {"a plan that the search has lost",
     MAKE EDIT("a.json", "\"max_idle\"", "\"require\": \"tensor=4\", \"max_idle\"") "; $P check --baseline $D/a.json",
     1, "the previous plan still takes 1.6", ""},
    {"a request that was edited",
     MAKE "$P check --baseline $D/a.json --update && " EDIT("a.json", "\"batch\": 65536",
                                                            "\"batch\": 131072") " && $P check --baseline $D/a.json",
     1, "the baseline's request was edited after it was planned", ""},
    {"but not by who sorts its keys",
     MAKE
     "$P check --baseline $D/a.json --update && sed -i '/\"seq\": 2048,$/{h;d};/\"stack\": /{x;G}' $D/a.json && "
     "grep -A1 '\"seq\": 2048,' $D/a.json | grep -q stack && { $P check --baseline $D/a.json --time-limit 0.000001 "
     "--format json >$D/o; grep -q '\"kind\": \"time_limit\"' $D/o && ! grep -q '\"kind\": \"request\"' $D/o; }",
     0, NULL, ""},
    {"no annotations but on GitHub", MAKE "$P check --baseline $D/a.json --time-limit 0.000001", 1, NULL, ""},
    {"annotations on GitHub", MAKE "GITHUB_ACTIONS=true $P check --baseline $D/a.json --time-limit 0.000001", 1, NULL,
     "::error file="},
    {"nothing half-written",
     MAKE "$P check --baseline $D/a.json --markdown /no/such/folder/x; c=$?; [ ! -s $D/out ] && "
          "exit $c",
     2, "", "/no/such/folder"},
};

Test(check, gate) { expect_rows(GATE, COUNT_OF(GATE)); }

static const Row LAUNCHED[] = {
    {"the best", "$P check " POINT " --plan fsdp=16 --within 0", 0, "as fast", ""},
    {"one that is near", "$P check " POINT " --plan 'fsdp=8 sequence=2'", 0, "5.0% is allowed", ""},
    {"and yet too slow", "$P check " POINT " --plan 'fsdp=8 sequence=2' --within 0.1%", 1, "FAILED", ""},
    {"one that does not fit", "$P check " POINT " --plan data=16", 1, "does not fit: it needs", ""},
    {"nothing fits at all", "$P check --model 405b --chip v5e --slice 2x2 --batch 8Ki --seq 2048 --plan fsdp=4", 3, "",
     "no plan fits"},
    {"a limit before it is known", "$P check " POINT " --plan data=16 --time-limit 0.000001", 4, NULL, "limit"},
    {"of a report", MAKE "$P check --from $D/a.json --rank 2", 0, "8b on 4x4 of tpu-v5e", ""},
    {"as JSON", "$P check " POINT " --plan fsdp=16 --format json", 0, "\"launched\": {", ""},
};

Test(check, launched) { expect_rows(LAUNCHED, COUNT_OF(LAUNCHED)); }

/* The same bytes for any number of threads: entries side by side, or each by all of them. */
Test(check, threads) {
    Run made =
        run(folder, "$P sweep --model 8b --chip v5e,v6e --slice 4x4 --seq 2048 --batch 32Ki,64Ki --format json -o "
                    "$D/s.json && for t in 1 3; do for f in json markdown; do $P check --baseline "
                    "$D/s.json --threads $t --format $f; done >$D/t$t; cmp $D/t1 $D/t$t || exit 9; done");
    cr_expect_eq(made.code, 0, "%d: %s%s", made.code, made.out, made.err);
    end(&made);
}

/* ---- diff ---- */

#define BOTH MAKE "cp $D/other.json $D/b.json && "

static const Row DIFF[] = {
    {"one file", "$P diff a.json", 2, "", "give two reports"},
    {"three files", "$P diff a b c", 2, "", "give two reports"},
    {"no file", MAKE "$P diff $D/a.json $D/none.json", 2, "", "none.json"},
    {"a list", MAKE "echo '[]' > $D/l.json; $P diff $D/a.json $D/l.json", 2, "", "is a list of 0 reports"},
    {"no format", "$P diff a b --format csv", 2, "", "give text, json, markdown or html"},
    {"a report and itself", MAKE "$P diff $D/a.json $D/a.json --exit-code", 0, "A and B do not differ.", ""},
    {"and its short form",
     MAKE "cp $D/a.json $D/b.json && $P check --baseline $D/b.json --update -o $D/x && $P diff $D/a.json $D/b.json "
          "--exit-code",
     0, "A and B do not differ.", ""},
    {"another batch", BOTH "$P diff $D/a.json $D/b.json", 0, "batch  65536  32768", ""},
    {"with --exit-code", BOTH "$P diff -q $D/a.json $D/b.json --exit-code", 1, "", ""},
    {"as Markdown", BOTH "$P diff $D/a.json $D/b.json --format markdown", 0, "| batch | 65536 | 32768 |", ""},
    {"as a page", BOTH "$P diff $D/a.json $D/b.json --format html", 0, "<dt>tokens/s a chip</dt>", ""},
    {"a page has two panels of the step and of the memory",
     BOTH "$P diff $D/a.json $D/b.json --format html -o $D/p.html && grep -c '<svg ' $D/p.html", 0, "4", ""},
    {"a page of two that are one", MAKE "$P diff $D/a.json $D/a.json --format html", 0, "A and B do not differ.", ""},
    {"a page where nothing fits",
     MAKE "$P --model 405b --chip v5e --slice 2x2 --batch 8Ki --seq 2048 --format json -o $D/n.json; $P diff $D/a.json "
          "$D/n.json --format html",
     0, "B: no plan fits.", ""},
    {"with nothing that fits",
     MAKE "$P --model 405b --chip v5e --slice 2x2 --batch 8Ki --seq 2048 --format json -o $D/n.json; $P diff $D/a.json "
          "$D/n.json",
     0, "B: no plan fits.", ""},
};

Test(diff, rows) { expect_rows(DIFF, COUNT_OF(DIFF)); }

static double at(const cJSON *json, const char *path) {
    const cJSON *value = json_at(json, path);
    cr_assert(cJSON_IsNumber(value), "%s", path);
    return value->valuedouble;
}

/* Parts add up to what they are parts of, on both sides, and both sides are those of the reports. */
Test(diff, sums) {
    Run made =
        run(folder, BOTH "$P diff $D/a.json $D/b.json --format json && $P diff $D/b.json $D/a.json --format json "
                         "-o $D/back.json");
    cr_assert_eq(made.code, 0, "%s", made.err);
    char path[96];
    Error error = {0};
    cJSON *diff = json_parse(made.out, strlen(made.out), "diff", &error), *reports[2];
    cr_assert(diff != NULL, "%s", error.text);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%c.json", folder, "ab"[i]);
        reports[i] = json_read_file(path, &error);
        cr_assert(reports[i] != NULL);
        const cJSON *plan = cJSON_GetArrayItem(json_at(reports[i], "plans"), 0), *part;
        const char *side = i ? "b" : "a";
        double step = 0, memory = 0;
        cJSON_ArrayForEach(part, json_at(diff, "terms_seconds")) step += at(part, side);
        cJSON_ArrayForEach(part, json_at(diff, "memory_bytes")) memory += at(part, side);
        cr_expect_float_eq(step, at(plan, "step.seconds"), 1e-9 * step);
        cr_expect_float_eq(memory, at(plan, "memory.total_bytes"), 1);
        cr_expect_float_eq(at(json_at(diff, "figures.mfu"), side), at(plan, "mfu"), 0);
        cr_expect_float_eq(at(json_at(diff, "figures.step_seconds"), side), at(plan, "step.seconds"), 0);
        int listed = 0;
        cJSON_ArrayForEach(part, json_at(diff, "plans")) {
            const cJSON *rank = cJSON_GetObjectItem(part, i ? "rank_b" : "rank_a");
            if (!cJSON_IsNumber(rank)) continue;
            const cJSON *own = cJSON_GetArrayItem(json_at(reports[i], "plans"), rank->valueint - 1);
            cr_expect_float_eq(at(part, i ? "step_seconds_b" : "step_seconds_a"), at(own, "step.seconds"), 0);
            listed++;
        }
        cr_expect_eq(listed, cJSON_GetArraySize(json_at(reports[i], "plans")));
    }
    cr_expect_eq(cJSON_GetArraySize(json_at(diff, "request")), 1, "the batch alone");
    snprintf(path, sizeof path, "%s/back.json", folder);
    cJSON *back = json_read_file(path, &error);
    cr_assert(back != NULL);
    cr_expect_float_eq(at(back, "figures.mfu.a"), at(diff, "figures.mfu.b"), 0, "and the other way round");
    cJSON_Delete(back);
    cJSON_Delete(diff);
    cJSON_Delete(reports[0]);
    cJSON_Delete(reports[1]);
    end(&made);
}

/* The page of two reports, one of which has names that are markup: it is well-formed, loads nothing, runs the script of
 * its tables alone, and has the difference of the steps as the reports have them. */
Test(diff, page) {
    static const char *const LOADS[] = {"<link", "src=\"", "url(http", "<img"};
    double seconds[2];
    char said[64];
    Run made = run(folder, BOTH "sed 's/\"matmul\":/\"<img src=x>\":/; s/\"8b\"/\"8b<script>\"/' $D/b.json >$D/c.json "
                                "&& $P diff $D/a.json $D/c.json --format html");
    const char *page = made.out, *flaw = first_flaw(page);
    cr_assert_eq(made.code, 0, "%s", made.err);
    cr_expect_null(flaw, "at: %.200s", flaw);
    cr_expect_eq(occurrences(page, "<h1>"), 1);
    cr_expect_eq(occurrences(page, "<script"), 1, "that of the tables");
    cr_expect_eq(occurrences(page, "<svg "), occurrences(page, "<title id="));
    for (size_t i = 0; i < COUNT_OF(LOADS); i++) cr_expect_null(strstr(page, LOADS[i]), "%s", LOADS[i]);
    cr_expect(strstr(page, "&lt;script&gt;"), "a hostile name is text");
    for (int i = 0; i < 2; i++) {
        char path[FOLDER_SIZE + 16];
        Error error = {0};
        snprintf(path, sizeof path, "%s/%c.json", folder, "ac"[i]);
        cJSON *report = json_read_file(path, &error);
        cr_assert(report != NULL, "%s", error.text);
        seconds[i] = at(cJSON_GetArrayItem(json_at(report, "plans"), 0), "step.seconds");
        cJSON_Delete(report);
    }
    snprintf(said, sizeof said, "in B, %+.1f%%; what moves most is", 100 * (seconds[1] / seconds[0] - 1));
    cr_expect(strstr(page, said), "%s", said);
    end(&made);
}
