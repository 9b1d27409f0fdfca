/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweep` and `merge` as a shell sees them: a sweep says what `plan` says of each point; parts put together, and a
 * sweep taken up again, print the bytes of the undisturbed one. */
#include "base/json.h"
#include "base/util.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <math.h>
#include <unistd.h>

/* Eight points that take little time: four are planned, two of them without a plan that fits; four are no slices. */
#define GRID "--model 8b,70b --chip v5e --slice 4x4,3x3 --batch 32Ki,64Ki --seq 2048"
/* One point that is planned, and three rows that cost nothing. */
#define CHEAP "--model 8b --chip v5e --slice 4x4,3x3,5x5,7x7 --batch 64Ki --seq 2048"

static char folder[FOLDER_SIZE];

static void make_folder(void) { folder_make(folder, "sweep"); }

static void remove_folder(void) { folder_drop(folder); }

TestSuite(sweep, .init = make_folder, .fini = remove_folder);

static void end(Run *ended) {
    free(ended->out);
    free(ended->err);
}

/* The lines of a script all succeed; what it printed last is on stdout. */
static void expect_script(const char *name, const char *script) {
    Run ended = run(folder, script);
    cr_expect_eq(ended.code, 0, "%s: %d\n%s%s", name, ended.code, ended.out, ended.err);
    end(&ended);
}

/* `err`: what stderr has in it; nothing is on stdout. */
static const struct {
    const char *name, *line;
    const char *err;
} WRONG[] = {
    {"no model", "$P sweep --pods 1,2", "--model: is missing"},
    {"an unknown option", "$P sweep --model 8b --padz 2", "--padz: is not an option; did you mean --pods"},
    {"what is no sweep's", "$P sweep --model 8b --top 3", "--top: is not an option"},
    {"an option twice", "$P sweep --model 8b --pods 1 --pods 2", "--pods: is given twice"},
    {"an empty value", "$P sweep --model 8b --pods 1,,2", "--pods: has an empty value"},
    {"an empty list", "$P sweep --model 8b --pods ''", "--pods: has an empty value"},
    {"a value twice", "$P sweep --model 8b --pods 1,2,1", "--pods: has 1 twice"},
    {"a range backwards", "$P sweep --model 8b --pods 8..1", "--pods: 8..1 is no range"},
    {"half a range", "$P sweep --model 8b --pods 1..", "--pods: 1.. is no range"},
    {"a huge range", "$P sweep --model 8b --pods 1..999999999", "more than 10000 points"},
    {"a huge grid", "$P sweep --model 8b --pods 1..200 --batch $(seq -s, 1 51)", "more than 10000 points"},
    {"bytes that are no text", "$P sweep --model $(printf '8b,\\377')", "--model: is not UTF-8"},
    {"wrong at every point", "$P sweep --model 8b --pods 1,2 --tokens x", "--tokens: \"x\" is not a number"},
    {"each point wrong in its way", "$P sweep --model 8b --chip v5e --slice 3x3,5x5", "--slice: 3x3"},
    {"two machines", "$P sweep --model 8b --pods 1,2 --chips 64,128", "a second machine"},
    {"no format", "$P sweep --model 8b --format xml", "--format: \"xml\" is not available"},
    {"no shard", "$P sweep --model 8b --shard 3", "--shard: \"3\" is no part"},
    {"shard 0", "$P sweep --model 8b --shard 0/3", "--shard: "},
    {"shard 4 of 3", "$P sweep --model 8b --shard 4/3", "--shard: "},
    {"shard of nothing", "$P sweep --model 8b --shard 1/", "--shard: "},
    {"a format of a part", "$P sweep --model 8b --shard 1/2 --format csv", "--format: is of the whole sweep"},
    {"an empty output", "$P sweep --model 8b -o ''", "--output: is empty"},
    {"an empty resume", "$P sweep --model 8b --resume ''", "--resume: is empty"},
    {"a folder to resume", "$P sweep " CHEAP " --resume $D", "cannot be opened"},
    {"a device to resume", "$P sweep " CHEAP " --resume /dev/null", "is a device"},
    {"a stray word", "$P sweep 8b", "is not expected here"},
    {"nothing to merge", "$P merge", "has no parts"},
    {"a part that is not there", "$P merge $D/none", "none"},
    {"a folder for a part", "$P merge $D", "folder"},
    {"an empty part", ": >$D/p; $P merge $D/p", "has no whole line"},
    {"a part that is no JSON", "echo hello >$D/p; $P merge $D/p", "/p:1:1:1: "},
    {"a part that is none", "echo '{}' >$D/p; $P merge $D/p", "/p:1: format is missing"},
    {"another format", "echo '{\"format\":\"x\"}' >$D/p; $P merge $D/p", "format is \"x\""},
    {"no option of merge", "$P merge --pods 2", "--pods: "},
};

Test(sweep, wrong) {
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        Run ended = run(folder, WRONG[i].line);
        cr_expect_eq(ended.code, 2, "%s: %d", WRONG[i].name, ended.code);
        cr_expect_str_empty(ended.out, "%s", WRONG[i].name);
        cr_expect(strncmp(ended.err, "shardopt: ", 10) == 0 && strstr(ended.err, WRONG[i].err), "%s: %s", WRONG[i].name,
                  ended.err);
        cr_expect(strchr(ended.err, '\n') == ended.err + strlen(ended.err) - 1, "%s: one line", WRONG[i].name);
        end(&ended);
    }
}

static cJSON *json_of(const char *line) {
    Error error = {0};
    Run ended = run(folder, line);
    cJSON *json = json_parse(ended.out, strlen(ended.out), line, &error);
    cr_assert(json != NULL, "%s: %s %s %s", line, error.where, error.text, ended.err);
    end(&ended);
    return json;
}

/* The point's own `plan`: same best plan, same step to the bit, same proof, same counts. */
static void expect_plan(const cJSON *row, const char *model, const char *slice, const char *batch) {
    char line[256];
    snprintf(line, sizeof line, "$P plan --model %s --chip v5e --slice %s --batch %s --seq 2048 --top 1 --format json",
             model, slice, batch);
    cJSON *own = json_of(line);
    static const char *const SAME[] = {"request", "model", "mesh", "search", "program", "nearest"};
    for (size_t i = 0; i < COUNT_OF(SAME); i++) {
        char path[32];
        snprintf(path, sizeof path, "report.%s", SAME[i]);
        cr_expect(cJSON_Compare(json_at(row, path), json_at(own, SAME[i]), true), "%s: %s", line, SAME[i]);
    }
    const cJSON *plans = json_at(row, "report.plans");
    cr_expect(cJSON_Compare(plans, json_at(own, "plans"), true), "%s", line);
    const cJSON *best = json_at(row, "best");
    cr_expect_eq(best != NULL, cJSON_GetArraySize(plans) > 0, "%s", line);
    if (best) {
        const cJSON *plan = cJSON_GetArrayItem(plans, 0);
        double tokens = json_at(plan, "batch.tokens")->valuedouble, step = json_at(plan, "step.seconds")->valuedouble;
        cr_expect_eq(json_at(best, "step_seconds")->valuedouble, step);
        cr_expect_float_eq(json_at(best, "tokens_per_second")->valuedouble, tokens / step, 1e-9 * tokens / step);
        cr_expect_eq(json_at(best, "hbm_bytes")->valuedouble, json_at(plan, "memory.total_bytes")->valuedouble);
        cr_expect_eq(json_at(best, "chip_hours")->valuedouble, json_at(plan, "training.chip_hours")->valuedouble);
    }
    cJSON_Delete(own);
}

/* Rows in the order of the options of the help, the first the slowest, whatever the order of the command line. */
Test(sweep, each_row_is_what_plan_says) {
    static const char *const MODELS[] = {"8b", "70b"}, *const SLICES[] = {"4x4", "3x3"},
                             *const BATCHES[] = {"32Ki", "64Ki"};
    cJSON *rows =
        json_of("$P sweep --seq 2048 --batch 32Ki,64Ki --slice 4x4,3x3 --chip v5e --model 8b,70b --format json");
    cr_assert_eq(cJSON_GetArraySize(rows), 8);
    for (int i = 0; i < 8; i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, i);
        const char *model = MODELS[i / 4], *slice = SLICES[i / 2 % 2], *batch = BATCHES[i % 2];
        cr_expect_eq(json_at(row, "point")->valuedouble, i);
        cr_expect_str_eq(json_at(row, "varies.model")->valuestring, model);
        cr_expect_str_eq(json_at(row, "varies.slice")->valuestring, slice);
        cr_expect_str_eq(json_at(row, "varies.batch")->valuestring, batch);
        cr_expect_eq(cJSON_GetArraySize(json_at(row, "varies")), 3, "what does not vary is left out");
        const char *state = json_at(row, "state")->valuestring;
        if (strcmp(slice, "3x3") == 0) {
            cr_expect_str_eq(state, "error");
            cr_expect(strstr(json_at(row, "message")->valuestring, "--slice: 3x3 is not a v5e slice"));
            continue;
        }
        cr_expect_str_eq(state, strcmp(model, "8b") == 0 ? "ok" : "no_plan");
        expect_plan(row, model, slice, batch);
    }
    cJSON_Delete(rows);
}

Test(sweep, lists) {
    static const struct {
        const char *name, *options, *option, *values[8];
    } ROWS[] = {
        {"a range", "--chip v5e --chips 1..4", "chips", {"1", "2", "3", "4"}},
        {"ranges among values", "--chip v5e --chips 16,2..3,8", "chips", {"16", "2", "3", "8"}},
        {"semicolons where values have commas",
         "--chip v5e --slice 2x2 --schedules '1f1b,gpipe;all'",
         "schedules",
         {"1f1b,gpipe", "all"}},
        {"conditions",
         "--chip v5e --slice 2x2 --require 'tensor=4;tensor=2 fsdp=2'",
         "require",
         {"tensor=4", "tensor=2 fsdp=2"}},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char line[256], path[32];
        snprintf(line, sizeof line, "$P sweep --model 8b --batch 64Ki --seq 2048 %s --format json", ROWS[i].options);
        cJSON *rows = json_of(line);
        int count = 0;
        for (; count < 8 && ROWS[i].values[count]; count++) {
            snprintf(path, sizeof path, "varies.%s", ROWS[i].option);
            const cJSON *value = json_at(cJSON_GetArrayItem(rows, count), path);
            cr_assert(cJSON_IsString(value), "%s", ROWS[i].name);
            cr_expect_str_eq(value->valuestring, ROWS[i].values[count], "%s", ROWS[i].name);
        }
        cr_expect_eq(cJSON_GetArraySize(rows), count, "%s", ROWS[i].name);
        cJSON_Delete(rows);
    }
}

Test(sweep, exit_codes) {
    static const struct {
        const char *name, *line;
        int code;
    } ROWS[] = {
        {"some are no request, some fit", "$P sweep " CHEAP, 0},
        {"nothing fits anywhere", "$P sweep --model 70b --chip v5e --slice 2x2,3x3 --batch 64Ki --seq 2048", 3},
        {"not proven", "$P sweep --model 405b,8b --pods 1 --time-limit 0.000001", 4},
        {"help", "$P sweep --help", 0},
        {"help of merge", "$P help merge", 0},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run ended = run(folder, ROWS[i].line);
        cr_expect_eq(ended.code, ROWS[i].code, "%s: %d %s", ROWS[i].name, ended.code, ended.err);
        cr_expect(ended.out[0] != '\0' && ended.err[0] == '\0', "%s: %s", ROWS[i].name, ended.err);
        end(&ended);
    }
}

/* Parts in any order, from any number of processes and threads, in every form. */
Test(sweep, parts_are_the_whole) {
    expect_script("parts",
                  "set -e; G='" GRID
                  "'; for f in text json csv markdown; do $P sweep $G --format $f >$D/whole.$f; done; "
                  "for n in 3 11; do parts=; for k in $(seq $n); do $P sweep $G --shard $k/$n --threads 1 -o $D/p$k; "
                  "parts=\"$D/p$k $parts\"; done; "
                  "for f in text json csv markdown; do $P merge $parts --format $f | cmp - $D/whole.$f; done; done; "
                  "$P merge $parts -o $D/there; cmp $D/there $D/whole.text; "
                  "$P sweep $G --shard 2/3 >$D/stdout; $P sweep $G --shard 2/3 -o $D/file; cmp $D/stdout $D/file");
}

/* The job array of docs/sweep.sbatch, as Slurm would run it; one task is killed, and submitted again. */
Test(sweep, job_array) {
    expect_script("docs/sweep.sbatch",
                  "set -e; mkdir $D/bin; ln -s $P $D/bin/shardopt; PATH=$D/bin:$PATH; cd $D; "
                  "task() { SLURM_ARRAY_TASK_ID=$1 sh " SHARDOPT_SOURCE_DATA "/docs/sweep.sbatch " GRID "; }; "
                  "$P sweep " GRID " >whole; for k in 1 2 3 4 5 6 7 8; do task $k; done; "
                  "head -c 100 part.3 >cut; mv cut part.3; task 3; shardopt merge part.* | cmp - whole");
}

/* What is in the file already is not planned again, however the process ended: its rows are marked, and stay. */
Test(sweep, resume_after_any_cut) {
    expect_script("a first run",
                  "$P sweep " CHEAP " >$D/whole && $P sweep " CHEAP " --resume $D/all | cmp - $D/whole && "
                  "sed 's/3x3 is not/3x3 is surely not/' $D/all >$D/marked && "
                  "sed 's/3x3 is not/3x3 is surely not/' $D/whole >$D/whole.marked");
    char path[96];
    snprintf(path, sizeof path, "%s/marked", folder);
    char *marked = read_back(path);
    size_t length = strlen(marked), at[24], cuts = 0, ends[5] = {0}, lines = 0;
    for (size_t i = 0; i < length && lines < 5; i++)
        if (marked[i] == '\n') ends[lines++] = i;
    cr_assert_eq(lines, 5, "a header and four rows");
    at[cuts++] = 0;
    for (size_t line = 0; line < lines; line++) { /* within, before and behind each end, and into the next line */
        at[cuts++] = ends[line] / 2 + (line ? ends[line - 1] / 2 : 0);
        at[cuts++] = ends[line];
        at[cuts++] = ends[line] + 1;
        if (line + 1 < lines) at[cuts++] = ends[line] + 2;
    }
    for (size_t i = 0; i < cuts; i++) {
        char line[512];
        /* The marked row is the third line: whole behind its end. */
        snprintf(line, sizeof line,
                 "head -c %zu $D/marked >$D/cut; $P sweep " CHEAP " --resume $D/cut | cmp - $D/whole%s && "
                 "$P merge $D/cut | cmp - $D/whole%s && test $(wc -l <$D/cut) = 5",
                 at[i], at[i] > ends[2] ? ".marked" : "", at[i] > ends[2] ? ".marked" : "");
        expect_script(line, line);
    }
    free(marked);
}

/* `make` writes $D/f from $D/all, a finished file; the sweep is an error then, and the file stays as it is. */
Test(sweep, resume_of_something_else) {
    static const struct {
        const char *name, *make, *err;
    } ROWS[] = {
        {"another grid", "sed 's/\"7x7\"/\"9x9\"/' $D/all >$D/f", "is of another grid"},
        {"another order", "sed 's/\"5x5\",\"7x7\"/\"7x7\",\"5x5\"/' $D/all >$D/f", "is of another grid"},
        {"other data", "sed 's/sha256\":\"..../sha256\":\"zzzz/' $D/all >$D/f", "rests on other data"},
        {"another version", "sed '1s/\"version\":\"[^\"]*/\"version\":\"9.9/' $D/all >$D/f",
         "was made by shardopt 9.9"},
        {"another shard", "sed '1s/\"shard\":1,\"shards\":1/\"shard\":1,\"shards\":2/' $D/all >$D/f", "shards"},
        {"somebody's text", "echo 'dear diary' >$D/f", "/f:1:1:1: "},
        {"somebody's text without an end", "printf 'dear diary' >$D/f", "has no whole line"},
        {"a row twice", "cp $D/all $D/f; tail -n 1 $D/all >>$D/f", "again"},
        {"a row that is no JSON", "sed '3s/{/</' $D/all >$D/f", "/f:3:1:1: "},
        {"a row of another point", "sed '3s/\"point\":1/\"point\":2/' $D/all >$D/f", "/f:3: varies"},
        {"a row of no point", "sed '3s/\"point\":1/\"point\":4/' $D/all >$D/f", "/f:3: point is 4"},
        {"a row of point -1", "sed '3s/\"point\":1/\"point\":-1/' $D/all >$D/f", "/f:3: point is -1"},
        {"a row of another value", "sed '3s/\"3x3\"/\"2x2\"/' $D/all >$D/f", "/f:3: varies"},
        {"an unknown state", "sed '3s/\"error\"/\"fine\"/' $D/all >$D/f", "/f:3: state"},
        {"a state that is a number", "sed '3s/\"error\"/7/' $D/all >$D/f", "/f:3: state"},
        {"ok without a plan", "sed '3s/\"error\"/\"ok\"/' $D/all >$D/f", "/f:3: report"},
        {"a plan without its step", "sed '2s/\"step_seconds\"/\"stop_seconds\"/' $D/all >$D/f",
         "step_seconds is missing"},
        {"a step below zero", "sed '2s/\"step_seconds\":/&-/' $D/all >$D/f", "/f:2: step_seconds"},
        {"a plan that is a number", "sed '2s/\"plan\":\"[^\"]*\"/\"plan\":3/' $D/all >$D/f", "/f:2: plan"},
        {"half a chip", "sed '2s/\"chips\":16,/\"chips\":0.5,/' $D/all >$D/f", "/f:2: chips"},
        {"an empty line", "sed '3s/.*//' $D/all >$D/f", "/f:3:1:1: "},
        {"a grid of numbers", "sed '1s/\"7x7\"/7/' $D/all >$D/f", "grid.slice: has a value that is not a text"},
        {"a grid of nothing", "sed '1s/\\[\"64Ki\"\\]/[]/' $D/all >$D/f", "grid.batch: is not a list"},
        {"more points than the grid has", "sed '1s/\"points\":4/\"points\":5/' $D/all >$D/f", "points is 5"},
        {"blanks in the header", "sed '1s/,/, /' $D/all >$D/f", "is not as"},
    };
    expect_script("a finished file", "$P sweep " CHEAP " --resume $D/all >/dev/null");
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char line[512];
        snprintf(line, sizeof line,
                 "%s; cmp -s $D/f $D/all && exit 99; cp $D/f $D/before; $P sweep " CHEAP
                 " --resume $D/f; code=$?; cmp $D/f $D/before || exit 98; exit $code",
                 ROWS[i].make);
        Run ended = run(folder, line);
        cr_expect_eq(ended.code, 2, "%s: %d %s", ROWS[i].name, ended.code, ended.err);
        cr_expect_str_empty(ended.out, "%s", ROWS[i].name);
        cr_expect(strstr(ended.err, ROWS[i].err), "%s: %s", ROWS[i].name, ended.err);
        end(&ended);
    }
}

/* Parts that do not belong together, or are not all. */
Test(sweep, parts_that_do_not_match) {
    static const struct {
        const char *name, *line, *err;
    } ROWS[] = {
        {"one is missing", "$P merge $D/p1 $D/p3", "merge: shard 2/3 is missing"},
        {"one is there twice", "$P merge $D/p1 $D/p2 $D/p3 $D/p1", "again"},
        {"one twice under two names", "cp $D/p1 $D/q; $P merge $D/p1 $D/q $D/p2 $D/p3", "/q:2: has point 0 again"},
        {"an empty one twice", "head -n 1 $D/p2 >$D/q; $P merge $D/p1 $D/q $D/q", "is shard 2/3 again"},
        {"another number of shards", "$P sweep " CHEAP " --shard 2/2 -o $D/q; $P merge $D/p1 $D/q $D/p3",
         "is one of 2 shards"},
        {"another grid", "$P sweep " CHEAP " --shard 2/3 --tokens 1T -o $D/q; $P merge $D/p1 $D/q $D/p3",
         "is of another grid"},
        {"a shard that is not its own", "sed '1s/\"shard\":1/\"shard\":2/' $D/p1 >$D/q; $P merge $D/q",
         "which is not of shard 2/3"},
        {"another version", "sed '1s/\"version\":\"[^\"]*/\"version\":\"9.9/' $D/p1 >$D/q; $P merge $D/q $D/p2 $D/p3",
         "was made by shardopt 9.9"},
        {"other data", "sed '1s/sha256\":\"..../sha256\":\"zzzz/' $D/p2 >$D/q; $P merge $D/p1 $D/q $D/p3",
         "rests on other data"},
        {"one that was stopped", "head -n 1 $D/p1 >$D/q; $P merge $D/q $D/p2 $D/p3", "is not finished"},
        {"one that is torn", "head -c -9 $D/p1 >$D/q; $P merge $D/q $D/p2 $D/p3", "in the middle of a line"},
    };
    expect_script("parts", "set -e; for k in 1 2 3; do $P sweep " CHEAP " --shard $k/3 -o $D/p$k; done");
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Run ended = run(folder, ROWS[i].line);
        cr_expect_eq(ended.code, 2, "%s: %d %s", ROWS[i].name, ended.code, ended.err);
        cr_expect_str_empty(ended.out, "%s", ROWS[i].name);
        cr_expect(strstr(ended.err, ROWS[i].err), "%s: %s", ROWS[i].name, ended.err);
        end(&ended);
    }
}

/* A model that the user wrote is part of what the rows rest on. */
Test(sweep, a_file_that_changed) {
    static const char SCRIPT[] =
        "cp %s/models/configs/*llama*8b*.json $D/m.json 2>/dev/null || cp $(ls %s/models/configs/*.json | head -n 1) "
        "$D/m.json; G=\"--model $D/m.json,8b --chip v5e --slice 3x3,2x2 --batch 64Ki --seq 2048\"; "
        "$P sweep $G --resume $D/r >/dev/null 2>&1; echo >>$D/m.json; $P sweep $G --resume $D/r";
    char line[1024];
    snprintf(line, sizeof line, SCRIPT, SHARDOPT_TEST_DATA, SHARDOPT_TEST_DATA);
    Run ended = run(folder, line);
    cr_expect_eq(ended.code, 2, "%d %s", ended.code, ended.err);
    cr_expect(strstr(ended.err, "a file that the grid names"), "%s", ended.err);
    end(&ended);
}

/* Two processes must not write into one file. */
Test(sweep, one_sweep_per_file) {
    Run ended = run(folder, "( exec 9>>$D/r; flock 9; $P sweep " CHEAP " --resume $D/r 9>&-; exit $? )");
    cr_expect_eq(ended.code, 2, "%d", ended.code);
    cr_expect(strstr(ended.err, "is in use by another sweep"), "%s", ended.err);
    end(&ended);
}

/* Cells that a spreadsheet would compute are texts. */
Test(sweep, csv_has_no_formulas) {
    Run ended =
        run(folder, "$P sweep --model '8b,=1+1,@x,a\"b' --chip v5e --slice 2x2 --batch 64Ki --seq 2048 --format csv");
    cr_expect_eq(ended.code, 0, "%s", ended.err);
    cr_expect(strstr(ended.out, "\n0,8b,ok,"));
    cr_expect(strstr(ended.out, "\n1,'=1+1,error,"), "%s", ended.out);
    cr_expect(strstr(ended.out, "\n2,'@x,error,"), "%s", ended.out);
    cr_expect(strstr(ended.out, "\n3,\"a\"\"b\",error,"), "%s", ended.out);
    end(&ended);
}

/* What `plan` warns of is said once, and is in the rows: merging says it too. */
Test(sweep, warnings) {
    static const char GRID_BEYOND[] = "--model llama2-7b --chip v5e --slice 4x4 --batch 64Ki,128Ki --seq 8192";
    char line[512];
    snprintf(line, sizeof line,
             "$P sweep %s >/dev/null && $P sweep %s --shard 1/1 -o $D/p 2>$D/none && $P merge $D/p >/dev/null",
             GRID_BEYOND, GRID_BEYOND);
    Run ended = run(folder, line);
    cr_expect_eq(ended.code, 0, "%s", ended.err);
    const char *first = strstr(ended.err, "shardopt: warning: --seq: 8,192 tokens are beyond");
    const char *second = first ? strstr(first + 1, "shardopt: warning: ") : NULL;
    cr_expect(first && second && !strstr(second + 1, "shardopt: warning: "), "once each: %s", ended.err);
    end(&ended);
}
