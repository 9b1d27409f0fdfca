/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built program as a shell sees it: exit codes, what goes where, what is left when writing fails. */
#include "base/clock.h"
#include "base/util.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <unistd.h>

/* Sanitizers slow the program down. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double INTERRUPT_SECONDS = 20;
#define LITTLE_MEMORY "" /* they reserve more addresses than a limit leaves */
#else
static const double INTERRUPT_SECONDS = 1;
#define LITTLE_MEMORY "ulimit -v 1500000; "
#endif

/* `out`, `err`: what the stream has in it; NULL: nothing at all. */
static const struct {
    const char *name, *line;
    int code;
    const char *out, *err;
} ROWS[] = {
    {"nothing asked", "$P", 2, NULL, "usage:"},
    {"help", "$P --help", 0, "explain", NULL},
    {"help as a command", "$P help", 0, "chips", NULL},
    {"help of a command", "$P help plan", 0, "--max-idle", NULL},
    {"help of plan", "$P plan --help", 0, "--max-idle", NULL},
    {"help of explain", "$P explain -h", 0, "--rank", NULL},
    {"version", "$P --version", 0, "shardopt 0.", NULL},
    {"a misspelt command", "$P pln", 2, NULL, "shardopt: pln: is not a command; did you mean plan"},
    {"a command not built", "$P train x.json", 2, NULL, "shardopt: train: "},
    {"an empty command", "$P ''", 2, NULL, "shardopt: "},
    {"an option means plan", "$P --model 405b --top 0", 2, NULL, "shardopt: --top: "},
    {"the same with plan", "$P plan --model 405b --top 0", 2, NULL, "shardopt: --top: "},
    {"models", "$P models", 0, "llama", NULL},
    {"chips", "$P chips", 0, "tpu-v5p", NULL},
    {"a full disk", "$P chips >/dev/full", 2, NULL, "written"},
    {"a closed stdout", "$P chips >&-", 2, NULL, "written"},
    {"a reader that has gone", "( sleep 0.2; $P chips; echo $? >$D/code ) | true; exit $(cat $D/code)", 0, NULL, NULL},
    {"a closed stdout that nothing is for",
     "$P --model gpt2 --slice 2x2x1 --batch 64Ki -o $D/f >&- && grep -q gpt2 $D/f", 0, NULL, NULL},
    {"gzip of a gigabyte", "head -c 1100000000 /dev/zero | gzip -1 >$D/g.gz; (" LITTLE_MEMORY "$P layout $D/g.gz)", 2,
     NULL, "holds more than 536870912 bytes"},
    {"a file with a hole", "truncate -s 1G $D/hole; $P layout $D/hole", 2, NULL, "at most 536870912 are read"},
    {"a page", "$P explain --model 8b --chip v5e --slice 4x4 --batch 128Ki --plan fsdp=16 --format html", 0,
     "timeline-svg", NULL},
    {"a page in a file",
     "$P explain --model 8b --chip v5e --slice 4x4 --batch 128Ki --plan fsdp=16 --format html -o "
     "$D/p.html; grep -c '<svg' $D/p.html",
     0, "6", NULL},
    {"a page of no plan", "$P --model 70b --chip v5e --slice 2x2 --batch 128Ki --format html", 3, "No plan fits", NULL},
    {"a page of a sweep", "$P sweep --model 8b --chip v5e --chips 16 --batch 64Ki,128Ki --format html", 0, "sweep-svg",
     NULL},
    {"for a pull request", "$P --model 8b --chip v5e --slice 4x4 --batch 128Ki --top 1 --format markdown", 0,
     "| rank |", NULL},
    {"for a spreadsheet", "$P --model 8b --chip v5e --slice 4x4 --batch 128Ki --top 1 --format csv | cut -d, -f1-3", 0,
     "1,llama3.1-8b,tpu-v5e", NULL},
    {"explain of nothing", "$P explain --model 8b", 2, NULL, "--plan"},
    {"explain of two", "$P explain --model 8b --plan tensor=4 --from x.json", 2, NULL, "two plans"},
    {"a plan that is no plan", "$P explain --model 8b --slice 4x4x4 --plan tensor", 2, NULL, "--plan"},
    {"conditions are no plan", "$P explain --model 8b --slice 4x4x4 --plan 'tensor<=4'", 2, NULL, "--require"},
    {"more than the machine", "$P explain --model 8b --slice 4x4x4 --plan 'tensor=8 fsdp=16'", 2, NULL, "64 devices"},
    {"what does not divide", "$P explain --model 8b --slice 4x4x4 --plan tensor=3", 2, NULL, "does not divide"},
    {"overflowing degrees",
     "$P explain --model 8b --slice 4x4x4 --plan 'tensor=2147483648 fsdp=2147483648 data=2147483648'", 2, NULL,
     "--plan"},
    {"a ZeRO stage that is fsdp's", "$P explain --model 8b --slice 4x4x4 --plan zero=3", 2, NULL, "zero_stage: 3"},
    {"no microbatches", "$P explain --model 8b --slice 4x4x4 --plan microbatches=0", 2, NULL, "microbatches: 0"},
    {"experts of a dense model", "$P explain --model 8b --slice 4x4x4 --plan expert=8", 2, NULL, "no experts"},
    {"a report that is not there", "$P explain --from $D/none.json", 2, NULL, "none.json"},
    {"a folder for a report", "$P explain --from $D", 2, NULL, "folder"},
    {"a report that is none", "echo '{}' >$D/r.json; $P explain --from $D/r.json", 2, NULL, "format_version"},
    {"a report of tomorrow", "echo '{\"format_version\": 2}' >$D/r.json; $P explain --from $D/r.json", 2, NULL,
     "format_version"},
    {"a request with a stranger",
     "echo '{\"format_version\":1,\"request\":{\"modle\":\"8b\"},\"plans\":[]}' >$D/r.json; $P explain --from "
     "$D/r.json",
     2, NULL, "request.modle"},
    {"a request of lists",
     "echo '{\"format_version\":1,\"request\":{\"model\":[]},\"plans\":[]}' >$D/r.json; $P explain --from $D/r.json", 2,
     NULL, "request.model"},
    {"a rank beyond all",
     "echo '{\"format_version\":1,\"request\":{\"model\":\"8b\"},\"plans\":[]}' >$D/r.json; $P explain --from "
     "$D/r.json",
     2, NULL, "--rank"},
    {"a plan without axes",
     "echo '{\"format_version\":1,\"request\":{\"model\":\"8b\"},\"plans\":[{}]}' >$D/r.json; $P explain --from "
     "$D/r.json",
     2, NULL, "axes.tensor"},
    {"a report and a request", "$P explain --from $D/r.json --pods 3", 2, NULL, "--pods"},
    {"a rank without a report", "$P explain --model 8b --plan tensor=4 --slice 4x4x4 --rank 1", 2, NULL, "--rank"},

    {"a plan", "$P --model gpt2 --slice 2x2x1 --batch 64Ki", 0, "gpt2", NULL},
    {"a plan as JSON", "$P --model gpt2 --slice 2x2x1 --batch 64Ki --format json", 0, "\"format_version\": 1", NULL},
    {"timing goes beside", "$P --model gpt2 --slice 2x2x1 --batch 64Ki --timing", 0, "gpt2", "search"},
    {"a warning goes beside", "$P --model 8b --slice 4x4x4 --seq 262144 --batch 16Mi", 0, "8b", "warning: --seq"},
    {"and is hushed", "$P --model 8b --slice 4x4x4 --seq 262144 --batch 16Mi -q", 0, "8b", NULL},
    {"into a file", "$P --model gpt2 --slice 2x2x1 --batch 64Ki --format json -o $D/plan.json && cat $D/plan.json", 0,
     "\"plans\"", NULL},
    {"into no folder", "$P --model gpt2 --slice 2x2x1 --batch 64Ki -o $D/no/plan.txt", 2, NULL, "no/plan.txt"},
    {"the report onto a full disk", "$P --model gpt2 --slice 2x2x1 --batch 64Ki >/dev/full", 2, NULL, "written"},
    {"nothing fits", "$P --model 405b --chip v5e --slice 2x2", 3, "fits", NULL},
    {"nothing fits, as JSON", "$P --model 405b --chip v5e --slice 2x2 --format json", 3, "\"plans\": []", NULL},
    {"a limit before the proof", "$P --model 405b --pods 8 --brute-force --time-limit 0.01 -q", 4, "", NULL},
    {"one thread or two",
     "$P --model gpt2 --slice 2x2x1 --batch 64Ki --format json --threads 1 >$D/1; "
     "$P --model gpt2 --slice 2x2x1 --batch 64Ki --format json --threads 2 >$D/2; cmp $D/1 $D/2",
     0, NULL, NULL},
    {"a certificate beside the answer",
     "$P --model gpt2 --slice 2x2x1 --batch 64Ki --certificate $D/c.tsv >$D/plan.txt && head -n 1 $D/c.tsv", 0,
     "# shardopt certificate", NULL},
    {"a certificate of no folder", "$P --model gpt2 --slice 2x2x1 --batch 64Ki --certificate $D/no/c.tsv", 2, NULL,
     "no/c.tsv"},
    {"a certificate onto a full disk", "$P --model gpt2 --slice 2x2x1 --batch 64Ki --certificate /dev/full", 2, NULL,
     "/dev/full"},
    {"a certificate into the result", "$P --model gpt2 --slice 2x2x1 --batch 64Ki -o $D/x --certificate $D/x", 2, NULL,
     "--certificate"},
    {"a certificate of one plan", "$P explain --model gpt2 --slice 2x2x1 --plan fsdp=4 --certificate $D/c.tsv", 2, NULL,
     "--certificate"},
    {"explain by degrees", "$P explain --model gpt2 --slice 2x2x1 --batch 64Ki --plan fsdp=4", 0, "fsdp=4", NULL},
    {"explain, the rest chosen", "$P explain --model llama3.2-1b --slice 2x2x1 --batch 64Ki --plan tensor=2", 0,
     "tensor=2", NULL},
    {"explain a report",
     "$P --model gpt2 --slice 2x2x1 --batch 64Ki --format json >$D/r.json; $P explain --from $D/r.json --rank 2", 0,
     "gpt2", NULL},
};

Test(program, rows) {
    if (access(SHARDOPT_PROGRAM, X_OK) != 0) cr_skip_test("%s is not built", SHARDOPT_PROGRAM);
    char folder[] = "/tmp/shardopt-test-XXXXXX", clean[64];
    cr_assert_not_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run result = run(folder, ROWS[i].line);
        cr_expect_eq(result.code, ROWS[i].code, "%s: exit %d; %.300s", ROWS[i].name, result.code, result.err);
        if (ROWS[i].out)
            cr_expect(strstr(result.out, ROWS[i].out), "%s: stdout is %.300s", ROWS[i].name, result.out);
        else
            cr_expect_str_empty(result.out, "%s: stdout is %.300s", ROWS[i].name, result.out);
        if (ROWS[i].err)
            cr_expect(strstr(result.err, ROWS[i].err), "%s: stderr is %.300s", ROWS[i].name, result.err);
        else
            cr_expect_str_empty(result.err, "%s: stderr is %.300s", ROWS[i].name, result.err);
        if (ROWS[i].code == 2 && ROWS[i].out == NULL && ROWS[i].err && i > 0) /* one line, and it is ours */
            cr_expect(strncmp(result.err, "shardopt: ", 10) == 0 &&
                          strchr(result.err, '\n') == strrchr(result.err, '\n'),
                      "%s: %s", ROWS[i].name, result.err);
        free(result.out);
        free(result.err);
    }
    snprintf(clean, sizeof clean, "rm -rf %s", folder);
    cr_expect_eq(system(clean), 0);
}

/* Starts a large search whose report goes to `path`, and interrupts it after `seconds`; returns its exit code, and how
 * long it took to end in *took. */
static int interrupt_words(char *const words[], const char *path, double seconds, int interrupts, double *took) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        if (!freopen(path, "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
        execv(SHARDOPT_PROGRAM, words);
        _exit(1);
    }
    int status = 0;
    usleep((useconds_t)(1e6 * seconds));
    double start = clock_seconds();
    for (int i = 0; i < interrupts; i++) kill(child, SIGINT);
    cr_assert_eq(waitpid(child, &status, 0), child);
    *took = clock_seconds() - start;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int interrupt_search(const char *path, double seconds, int interrupts, double *took) {
    char *words[] = {"shardopt", "--model", "deepseek-v3", "--chip", "h100", "--nodes", "256", "-v", NULL};
    return interrupt_words(words, path, seconds, interrupts, took);
}

/* Control-C ends a search with 130 within a second, and the report says so. */
Test(program, interrupted) {
    if (access(SHARDOPT_PROGRAM, X_OK) != 0) cr_skip_test("%s is not built", SHARDOPT_PROGRAM);
    static const double AFTER[] = {0.1, 1, 3};
    char path[] = "/tmp/shardopt-test-XXXXXX", text[16384];
    int file = mkstemp(path);
    cr_assert(file >= 0);
    for (size_t i = 0; i < COUNT_OF(AFTER); i++) {
        double took;
        cr_expect_eq(interrupt_search(path, AFTER[i], 1, &took), 130, "after %g s", AFTER[i]);
        cr_expect(took < INTERRUPT_SECONDS, "after %g s it took %g s to end", AFTER[i], took);
        FILE *in = fopen(path, "r");
        cr_assert(in);
        text[fread(text, 1, sizeof text - 1, in)] = 0;
        fclose(in);
        cr_expect(strstr(text, "interrupted"), "after %g s: %.300s", AFTER[i], text);
    }
    unlink(path);
    close(file);
}

/* A sweep that is interrupted has the points that it planned, and says of the others that it did not. */
Test(program, interrupted_sweep) {
    if (access(SHARDOPT_PROGRAM, X_OK) != 0) cr_skip_test("%s is not built", SHARDOPT_PROGRAM);
    char *words[] = {"shardopt",  "sweep",   "--model",  "8b,deepseek-v3", "--chip",
                     "h100",      "--nodes", "1,1024",   "--schedules",    "all",
                     "--padding", "any",     "--format", "json",           NULL};
    char path[] = "/tmp/shardopt-test-XXXXXX";
    static char text[1 << 20];
    double took;
    int file = mkstemp(path);
    cr_assert(file >= 0);
    cr_expect_eq(interrupt_words(words, path, 2, 1, &took), 130);
    cr_expect(took < INTERRUPT_SECONDS, "it took %g s to end", took);
    FILE *in = fopen(path, "r");
    cr_assert(in);
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    int rows = 0;
    for (const char *at = text; (at = strstr(at, "\"point\":")) != NULL; at++) rows++;
    cr_expect_eq(rows, 4, "%.300s", text);
    cr_expect(strstr(text, "interrupted before this point"), "%.300s", text);
    cr_expect(strstr(text, "\"ok\""), "%.300s", text);
    unlink(path);
    close(file);
}

/* The second control-C does not wait for the report. */
Test(program, interrupted_twice) {
    if (access(SHARDOPT_PROGRAM, X_OK) != 0) cr_skip_test("%s is not built", SHARDOPT_PROGRAM);
    double took;
    cr_expect_eq(interrupt_search("/dev/null", 0.5, 2, &took), 130);
    cr_expect(took < INTERRUPT_SECONDS, "it took %g s to end", took);
}
