/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs `shardopt validate` as a shell does, on tables of runs that the test writes. The runs are FSDP of 8B on eight
 * H100: the test does not check the predictions, but that the measured, skipped, counted and escaped parts are
 * right. */
#include "base/json.h"
#include "base/util.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <math.h>
#include <unistd.h>

/* id, framework, chip, chips, batch, remat, figures */
#define LINE                                                                                                           \
    "{\"id\":%s,\"source\":\"web\",\"framework\":%s,\"release\":\"2024\",%s\"request\":{\"model\":\"llama3.1-8b\","    \
    "\"chip\":%s,\"chips\":8,\"seq\":8192,\"sequences\":%d,\"remat\":\"%s\",\"stack\":\"%s\"},\"plan\":\"fsdp=8 "      \
    "microbatches=%d\",\"measured\":{%s}}\n"

static char FOLDER[64], TABLE[96];

static void open_folder(void) {
    strcpy(FOLDER, "/tmp/shardopt-validate-XXXXXX");
    cr_assert(mkdtemp(FOLDER));
    snprintf(TABLE, sizeof TABLE, "%s/runs.jsonl", FOLDER);
}

static void close_folder(void) {
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", FOLDER);
    cr_expect_eq(system(line), 0);
}

typedef struct {
    const char *id, *chip, *framework, *stack;
    int batch;
    const char *remat, *measured, *not_replayed; /* measured: keys and figures */
} Row;

static void write_rows(const Row *rows, size_t count) {
    FILE *file = fopen(TABLE, "w");
    cr_assert(file);
    for (size_t i = 0; i < count; i++) {
        const Row *row = &rows[i];
        const char *quoted[] = {row->id, row->framework, row->chip};
        char texts[3][96], reason[96] = "";
        for (int t = 0; t < 3; t++) {
            FILE *text = fmemopen(texts[t], sizeof texts[t], "w");
            json_print_text(text, quoted[t]);
            fclose(text);
        }
        if (row->not_replayed) snprintf(reason, sizeof reason, "\"not_replayed\":\"%s\",", row->not_replayed);
        fprintf(file, LINE, texts[0], texts[1], reason, texts[2], row->batch, row->remat, row->stack, row->batch / 8,
                row->measured);
    }
    cr_assert(fclose(file) == 0);
}

#define STEP(seconds) "\"step_seconds\":" seconds
#define BYTES(gigabytes) "\"memory_bytes\":" gigabytes "e9"

static const Row ROWS[] = {
    {"one-1", "h100", "MaxText", "maxtext-gpu", 16, "full", STEP("2.5"), NULL},
    {"one-2", "h100", "maxtext", "maxtext-gpu", 32, "full", STEP("5") "," BYTES("40"), NULL},
    {"two-1", "a100-80g", "Torch", "torch-fsdp", 16, "none", STEP("100000"), NULL},
    {"two-2", "nochip", "Torch", "none", 16, "none", STEP("7"), "the catalog has no nochip"},
    {"two-3", "h100", "Torch", "torch-fsdp", 16, "none", BYTES("39"), NULL},
    {"two-4", "h100", "Torch", "none", 16, "none", "", "no figure of its speed or memory"},
};

static void release(Run result) {
    free(result.out);
    free(result.err);
}

static double number_at(const cJSON *json, const char *path) {
    const cJSON *value = json_at(json, path);
    cr_assert(cJSON_IsNumber(value), "%s", path);
    return value->valuedouble;
}

static cJSON *parse(const char *text) {
    Error error = {0};
    cJSON *json = json_parse(text, strlen(text), "out", &error);
    cr_assert(json, "%s: %s", error.where, error.text);
    return json;
}

Test(validate, json) {
    open_folder();
    write_rows(ROWS, COUNT_OF(ROWS));
    Run all = run(FOLDER, "$P validate $D/runs.jsonl --format json");
    cr_assert_eq(all.code, 0, "%s", all.err);
    cJSON *json = parse(all.out), *runs = cJSON_GetObjectItem(json, "runs");
    cr_assert_eq(cJSON_GetArraySize(runs), 4);
    const cJSON *skipped = cJSON_GetObjectItem(json, "skipped"), *memory_only = cJSON_GetArrayItem(runs, 3);
    cr_assert_eq(cJSON_GetArraySize(skipped), 2);
    cr_expect_str_eq(json_at(cJSON_GetArrayItem(skipped, 0), "id")->valuestring, "two-2");
    cr_expect(strstr(json_at(cJSON_GetArrayItem(skipped, 0), "reason")->valuestring, "nochip"));
    cr_expect_null(json_at(memory_only, "error"), "its step was not measured");
    cr_expect_float_eq(number_at(memory_only, "memory_measured_bytes"), 39e9, 1);

    /* The summary covers the listed runs: three errors, the third of which is nearly -1. */
    double error[3];
    for (int i = 0; i < 3; i++) {
        const cJSON *of = cJSON_GetArrayItem(runs, i);
        error[i] = number_at(of, "predicted_seconds") / number_at(of, "measured_seconds") - 1;
        cr_expect_float_eq(number_at(of, "error"), error[i], 1e-12);
        cr_expect_leq(number_at(of, "lower_seconds"), number_at(of, "upper_seconds"));
        cr_expect_leq(number_at(of, "likely_low_seconds"), number_at(of, "likely_high_seconds"));
    }
    cr_expect_float_eq(number_at(json, "summary.worst"), -error[2], 1e-12);
    cr_expect_str_eq(json_at(json, "summary.worst_id")->valuestring, "two-1");
    double low = fmin(fabs(error[0]), fabs(error[1])), high = fmax(fabs(error[0]), fabs(error[1]));
    cr_expect_float_eq(number_at(json, "summary.median"), fmin(high, -error[2]), 1e-12);
    cr_expect_float_eq(number_at(json, "summary.by.source.one.median"), (low + high) / 2, 1e-12);
    cr_expect_float_eq(number_at(json, "summary.by.source.one.p90"), low + 0.9 * (high - low), 1e-12);
    cr_expect_eq(number_at(json, "summary.by.source.two.runs"), 1);
    cr_expect_eq(number_at(json, "summary.by.framework.MaxText.runs"), 2);
    cr_expect_eq(number_at(json, "summary.runs"), 3);
    cr_expect_eq(number_at(json, "summary.skipped"), 2);
    cr_expect_eq(number_at(json, "summary.memory.runs"), 2);
    cJSON_Delete(json);

    Run threads = run(FOLDER, "$P validate $D/runs.jsonl --format json --threads 7");
    cr_expect_str_eq(threads.out, all.out, "any number of threads");
    release(threads);
    release(all);
    close_folder();
}

/* `out`, `err`: a text that the stream contains; NULL means that it is empty. */
static const struct {
    const char *name, *line;
    int code;
    const char *out, *err;
} LINES[] = {
    {"data of one's own, without odd runs",
     "mkdir -p $D/d && cp -r " SHARDOPT_SOURCE_DATA "/models " SHARDOPT_SOURCE_DATA "/mesh " SHARDOPT_SOURCE_DATA
     "/cost $D/d && SHARDOPT_DATA=$D/d $P validate $T",
     0, "4 of 6 measured runs replayed", NULL},
    {"help", "$P validate --help", 0, "--max-error", NULL},
    {"help as a command", "$P help validate", 0, "--plot", NULL},
    {"text", "$P validate $T", 0, "4 of 6 measured runs replayed", NULL},
    {"every run", "$P validate $T -v", 0, "Every run", NULL},
    {"markdown", "$P validate $T --format markdown", 0, "| source | runs |", NULL},
    {"one source", "$P validate $T --source one", 0, "2 of 2 measured runs", NULL},
    {"one chip under another name", "$P validate $T --chip H100", 0, "3 of 4 measured runs", NULL},
    {"peak rates", "$P validate $T --profile ideal", 0, "with profile ideal", NULL},
    {"no such profile", "$P validate $T --profile deflt", 2, NULL, "did you mean default"},
    {"a page beside the text", "$P validate $T --plot $D/p.html >$D/t && cat $D/p.html", 0, "id=\"document\"", NULL},
    {"to a file", "$P validate $T --format html -o $D/v.html && cat $D/v.html", 0, "\"headline\": \"4 of 6 measured",
     NULL},
    {"a gate of 400%", "$P validate $T --max-error median=4", 2, NULL,
     "--max-error: median is 4; give a share such as 0.04, or 4%"},
    {"one file twice", "$P validate $T --plot x -o x", 2, NULL, "--plot: is the file of --output too"},
    {"a gate that holds", "$P validate $T --source one --max-error worst=900%,skipped=0", 0, "replayed", NULL},
    {"a gate that does not", "$P validate $T --max-error 0.001%", 1, "replayed", "--max-error: median is "},
    {"two that do not", "$P validate $T --max-error p90=1%,bias=1%", 1, "replayed", "bias of two is -"},
    {"too many left out", "$P validate $T --max-error skipped=30%", 1, "replayed",
     "skipped is 33.33%; the limit is 30%"},
    {"a ranking of nothing", "$P validate $T --min-ranking 0.8", 1, "replayed", "tau is not known"},
    /* eight H100 without recomputation hold two sequences of 8,192 each, not 64 */
    {"what ran out of memory, by its share",
     "(cat $T; echo '{\"id\":\"x\",\"request\":{\"model\":\"llama3.1-8b\",\"chip\":\"h100\",\"chips\":8,\"seq\":8192,"
     "\"sequences\":512,\"remat\":\"none\"},\"plan\":\"fsdp=8 "
     "microbatch_sequences=64\",\"measured\":{\"failed\":true}}') "
     ">$D/x.jsonl; $P validate $D/x.jsonl | tr -s '\n ' ' '",
     0, "0.75 to 1 0, 1 to 1.5 0, above 1.5 1. ", NULL},
    {"a request as reports print it",
     "echo '{\"request\":\"--model 8b --chip h100 --nodes 1 --sequences 64 --seq 8192\",\"plan\":\"fsdp=8\","
     "\"measured\":{\"step_seconds\":6.9}}' >$D/x.jsonl; $P validate $D/x.jsonl",
     0, "1 of 1 measured runs replayed", NULL},
    {"a request that is none",
     "echo '{\"request\":\"--model 8b --nodez 1\",\"plan\":\"fsdp=8\",\"measured\":{\"step_seconds\":6.9}}' "
     ">$D/x.jsonl; "
     "$P validate $D/x.jsonl",
     2, NULL, "x.jsonl:1:2: request: --nodez: is not an option; did you mean --nodes"},
    {"a plan that is none",
     "echo '{\"request\":\"--model 8b --chip h100 --nodes "
     "1\",\"plan\":\"tenor=8\",\"measured\":{\"step_seconds\":6.9}}' "
     ">$D/x.jsonl; $P validate $D/x.jsonl",
     2, NULL, "x.jsonl:1:47: plan: "},
    {"a chip that nobody knows", "sed 's/\"a100-80g\"/\"zzz\"/' $T >$D/x.jsonl; $P validate $D/x.jsonl", 2, NULL,
     "x.jsonl:3:"},
    {"software that nobody knows", "sed 's/maxtext-gpu/maxtext-cpu/' $T >$D/x.jsonl; $P validate $D/x.jsonl", 2, NULL,
     "the profiles have no software maxtext-cpu"},
    {"no file", "$P validate", 2, NULL, "no file of runs"},
    {"no such file", "$P validate $D/none.tsv", 2, NULL, "none.tsv"},
    {"a folder", "$P validate $D", 2, NULL, "folder"},
    {"two files", "$P validate $T $T", 2, NULL, "one file too many"},
    {"no run", "echo x >$D/x.jsonl; $P validate $D/x.jsonl", 2, NULL, "x.jsonl:1:1: "},
    {"a table", "printf 'id\\thardware\\n' >$D/x.tsv; $P validate $D/x.tsv", 2, NULL, "cost/measured/lab/convert.py"},
    {"an unknown source", "$P validate $T --source one,three", 2, NULL, "no run has three; give one of one, two"},
    {"an unknown chip", "$P validate $T --chip v5p", 2, NULL, "no run has v5p; give one of h100, a100-80g, nochip"},
    {"nothing of both", "$P validate $T --source one --chip a100-80g", 2, NULL, "no run is both"},
    {"nothing to replay", "$P validate $T --chip nochip", 2, NULL, "none of its 1 runs can be replayed"},
    {"an unknown limit", "$P validate $T --max-error mean=4%", 2, NULL, "mean=4% is no limit"},
    {"a limit of the other kind", "$P validate $T --max-error tau=4%", 2, NULL, "tau=4% is no limit"},
    {"a limit twice", "$P validate $T --max-error 4%,median=5%", 2, NULL, "given twice"},
    {"a limit that is no share", "$P validate $T --max-error median=x", 2, NULL, "--max-error: "},
    {"an unknown option", "$P validate $T --max-eror 4%", 2, NULL, "did you mean --max-error"},
    {"an unknown format", "$P validate $T --format csv", 2, NULL, "give text, json, markdown or html"},
    {"no threads", "$P validate $T --threads 0", 2, NULL, "--threads"},
    {"a profile that is none", "$P validate $T --profile $T", 2, NULL, "runs.jsonl"},
    {"a full disk", "$P validate $T >/dev/full", 2, NULL, "written"},
    {"no place for the page", "$P validate $T --plot $D/none/p.html", 2, NULL, "p.html"},
};

Test(validate, lines) {
    open_folder();
    write_rows(ROWS, COUNT_OF(ROWS));
    for (size_t i = 0; i < COUNT_OF(LINES); i++) {
        char line[512];
        snprintf(line, sizeof line, "T=$D/runs.jsonl; %s", LINES[i].line);
        Run result = run(FOLDER, line);
        cr_expect_eq(result.code, LINES[i].code, "%s: %d: %s", LINES[i].name, result.code, result.err);
        cr_expect(LINES[i].out ? strstr(result.out, LINES[i].out) != NULL : result.out[0] == '\0', "%s: %s",
                  LINES[i].name, result.out);
        cr_expect(LINES[i].err ? strstr(result.err, LINES[i].err) != NULL : result.err[0] == '\0', "%s: %s",
                  LINES[i].name, result.err);
        release(result);
    }
    close_folder();
}

/* Names are text, whatever they look like. */
Test(validate, hostile_names) {
    static const Row HOSTILE[] = {
        {"<script>alert(1)</script>&\"'|`[x](y)-1", "h100", "<img src=x onerror=y>|*a*", "none", 16, "full",
         STEP("2.5"), NULL},
        {"b-1", "</svg><b>", "x", "none", 16, "full", STEP("2.5"), "nobody has it"},
    };
    open_folder();
    write_rows(HOSTILE, COUNT_OF(HOSTILE));
    Run html = run(FOLDER, "$P validate $D/runs.jsonl --format html");
    cr_assert_eq(html.code, 0, "%s", html.err);
    cr_expect_null(strstr(html.out, "<script>alert"));
    cr_expect_null(strstr(html.out, "<img"));
    cr_expect_null(strstr(html.out, "<b>"));
    cr_expect(strstr(html.out, "\\u003cscript>alert(1)\\u003c/script>&"), "%s", html.out);
    Run markdown = run(FOLDER, "$P validate $D/runs.jsonl --format markdown");
    cr_expect_null(strstr(markdown.out, "<script"));
    cr_expect(strstr(markdown.out, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;\"'\\|\\`\\[x\\](y)"), "%s",
              markdown.out);
    Run text = run(FOLDER, "$P validate $D/runs.jsonl --format json");
    cJSON *json = parse(text.out);
    cr_expect_str_eq(json_at(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "runs"), 0), "id")->valuestring,
                     HOSTILE[0].id);
    cJSON_Delete(json);
    release(html);
    release(markdown);
    release(text);
    close_folder();
}
