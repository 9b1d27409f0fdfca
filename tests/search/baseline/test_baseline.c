/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of reports made by hand: every figure below is arithmetic of the two that it is made of. */
#include "base/json.h"
#include "base/util.h"
#include "search/baseline/baseline_check.h"
#include "search/baseline/diff.h"
#include "search/baseline/snapshot.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* What a report needs for a check; the rest of it is of no interest to one. */
typedef struct {
    double seconds, mfu, hbm, limit, fsdp, link;
    const char *proof, *chip_sha256, *profile_sha256, *version;
    bool no_plan, no_data; /* no_data: a report of before there was program.data */
    double ranked;         /* 0: as many as `seconds` */
} Sample;

static const Sample BASE = {2, 0.5, 10e9, 16e9, 0.5, 45e9, "optimal", "aa", "cc", "0.1.0", false, false, 0};

static cJSON *document(const Sample *sample) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "{\"format_version\":1,\"program\":{\"version\":\"%s\",\"data_sha256\":\"%s%s\"", sample->version,
            sample->chip_sha256, sample->profile_sha256);
    if (!sample->no_data)
        fprintf(out,
                ",\"data\":{\"model\":{\"file\":\"models/zoo/m.json\",\"sha256\":\"mm\"},\"chip\":{\"file\":"
                "\"mesh/catalog/c.json\",\"sha256\":\"%s\"},\"profile\":{\"file\":\"cost/profiles/default.json\","
                "\"sha256\":\"%s\",\"figures_sha256\":\"%s\"},\"optimizer\":{\"file\":\"cost/optimizers/adamw.json\","
                "\"sha256\":\"oo\"}}",
                sample->chip_sha256, sample->profile_sha256, sample->profile_sha256);
    fprintf(out,
            "},\"request\":{\"model\":\"8b\",\"chip\":\"c\",\"slice\":\"4x4\",\"batch\":65536,\"seq\":2048},"
            "\"model\":{\"name\":\"llama\",\"parameters\":8000000000},\"mesh\":{\"chip\":\"c\",\"axes\":[{\"name\":"
            "\"x\",\"size\":4,\"bytes_per_second\":%g},{\"name\":\"y\",\"size\":4,\"bytes_per_second\":%g}]},"
            "\"search\":{\"proof\":\"%s\",\"gap\":%s},\"plans\":[",
            sample->link, sample->link, sample->proof, strcmp(sample->proof, "gap") == 0 ? "0.03" : "0");
    if (!sample->no_plan)
        fprintf(out,
                "{\"axes\":{\"data\":1,\"fsdp\":16,\"sequence\":1,\"tensor\":1,\"expert\":1,\"pipeline\":1},"
                "\"machine\":{\"text\":\"4x4\"},\"batch\":{\"sequences\":32},\"knobs\":{\"microbatches\":1,"
                "\"schedule\":\"none\",\"virtual_stages\":1},\"chips_used\":16,\"ranked_seconds\":%.17g,\"step\":{"
                "\"seconds\":%.17g,\"terms_seconds\":{\"matmul\":%.17g,\"fsdp\":%.17g}},\"mfu\":%.17g,\"memory\":{"
                "\"limit_bytes\":%.17g,\"total_bytes\":%.17g}}",
                sample->ranked > 0 ? sample->ranked : sample->seconds, sample->seconds, sample->seconds - sample->fsdp,
                sample->fsdp, sample->mfu,
                sample->limit, sample->hbm);
    fprintf(out, "]%s}",
            sample->no_plan ? ",\"shortfall\":{\"notation\":\"fsdp=16\",\"needed_bytes\":18e9,\"limit_bytes\":16e9}"
                            : "");
    fclose(out);
    Error error = {0};
    cJSON *json = json_parse(text, length, "sample", &error);
    cr_assert(json != NULL, "%s: %s\n%s", error.where, error.text, text);
    free(text);
    return json;
}

static void end(cJSON *a, cJSON *b, Arena *arena) {
    cJSON_Delete(a);
    cJSON_Delete(b);
    arena_free(arena);
}

static const struct {
    const char *name;
    Sample now;
    BaselineStatus status;
    const char *words[BASELINE_LINES]; /* what each line has; NULL: nothing is required */
} CASES[] = {
#define OPTIMAL(chip, profile, version) "optimal", chip, profile, version, false, false, 0
#define AS_BEFORE OPTIMAL("aa", "cc", "0.1.0")
#define NEW_CHIP OPTIMAL("bb", "cc", "0.1.0")
    {"nothing moved", {2, 0.5, 10e9, 16e9, 0.5, 45e9, AS_BEFORE}, STATUS_SAME, {NULL}},
    {"data changed and nothing came of it", {2, 0.5, 10e9, 16e9, 0.5, 45e9, NEW_CHIP}, STATUS_SAME, {NULL}},
    {"slower by less than the tolerance", {2.019, 0.496, 10e9, 16e9, 0.5, 45e9, AS_BEFORE}, STATUS_SAME, {NULL}},
    {"slower by all of it", {2.02, 0.495, 10.1e9, 16e9, 0.5, 45e9, AS_BEFORE}, STATUS_SAME, {NULL}},
    {"slower by a bit more", {2.0201, 0.5, 10e9, 16e9, 0.5, 45e9, AS_BEFORE}, STATUS_WORSE, {NULL}},
    {"more MFU alone", {2, 0.506, 10e9, 16e9, 0.5, 45e9, AS_BEFORE}, STATUS_BETTER, {"(+1.20%)"}},
    {"less memory alone", {2, 0.5, 9.8e9, 16e9, 0.5, 45e9, AS_BEFORE}, STATUS_BETTER, {"(-2.00%)"}},
    {"a slower step of more tokens", {2.2, 0.5, 10e9, 16e9, 0.5, 45e9, "optimal", "aa", "cc", "0.1.0", false, false, 2},
     STATUS_SAME, {"step 2.000 s -> 2.200 s, in rank"}},
    {"as long a step of fewer tokens",
     {2, 0.5, 10e9, 16e9, 0.5, 45e9, "optimal", "aa", "cc", "0.1.0", false, false, 2.2}, STATUS_WORSE,
     {"in rank (+10.0%)"}},
    {"slower, by the links", {2.2, 0.4545, 10e9, 16e9, 0.7, 36e9, NEW_CHIP}, STATUS_WORSE,
     {"step 2.000 s -> 2.200 s (+10.0%)", "mesh/catalog/c.json changed (links of x, y 45 GB/s -> 36 GB/s, -20.0%)",
      "fsdp +200 ms", "fsdp=16, as before"}},
    {"slower, by the profile", {2.2, 0.4545, 10e9, 16e9, 0.5, 45e9, OPTIMAL("aa", "dd", "0.1.0")}, STATUS_WORSE,
     {"MFU 50.0% -> 45.5% (-9.10%)", "the profile's figures for this work changed in cost/profiles/default",
      "matmul +200 ms"}},
    {"slower, by the program", {2.2, 0.5, 10e9, 16e9, 0.5, 45e9, OPTIMAL("aa", "cc", "0.2.0")}, STATUS_WORSE,
     {NULL, "the program changed, 0.1.0 -> 0.2.0"}},
    {"slower, by the program's code", {2.2, 0.5, 10e9, 16e9, 0.5, 45e9, AS_BEFORE}, STATUS_WORSE,
     {NULL, "the program changed, although its version is still"}},
    {"slower, and nobody says which file",
     {2.2, 0.5, 10e9, 16e9, 0.5, 45e9, "optimal", "bb", "cc", "0.1.0", false, true, 0}, STATUS_WORSE,
     {NULL, "data files changed, and the baseline does not record which"}},
    {"less MFU alone", {2, 0.49, 10e9, 16e9, 0.5, 45e9, NEW_CHIP}, STATUS_WORSE,
     {"(-2.00%)", "mesh/catalog/c.json changed"}},
    {"more memory", {2, 0.5, 11e9, 16e9, 0.5, 45e9, NEW_CHIP}, STATUS_WORSE,
     {"HBM 10.0 GB -> 11.0 GB of 16.0 GB (+10.0%)"}},
    {"as much of less HBM", {2, 0.5, 10e9, 12.8e9, 0.5, 45e9, NEW_CHIP}, STATUS_WORSE,
     {"HBM 10.0 GB of 16.0 GB -> 10.0 GB of 12.8 GB (+25.0%)", "usable HBM 16.0 GB -> 12.8 GB, -20.0%"}},
    {"faster", {1.8, 0.5556, 10e9, 16e9, 0.3, 54e9, NEW_CHIP}, STATUS_BETTER,
     {"(-10.0%)", "45 GB/s -> 54 GB/s, +20.0%", "fsdp -200 ms"}},
    {"no plan any more", {2, 0.5, 10e9, 16e9, 0.5, 45e9, "optimal", "bb", "cc", "0.1.0", true, false, 0}, STATUS_WORSE,
     {"no plan fits any more: the nearest plan, fsdp=16, needs 18.0 GB of HBM, and only 16.0 GB are usable",
      "mesh/catalog/c.json changed", NULL, "fsdp=16 before"}},
    {"no proof any more", {2, 0.5, 10e9, 16e9, 0.5, 45e9, "gap", "aa", "cc", "0.1.0", false, false, 0}, STATUS_WORSE,
     {"not proven any more: the best may be 3% faster", "a time limit ended the search"}},
};

Test(check, one_entry) {
    Tolerance tolerance = {{0.01, 0.01, 0.01}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Sample base = BASE;
        base.no_data = CASES[i].now.no_data;
        cJSON *was = document(&base), *now = document(&CASES[i].now);
        Error error = {0};
        CheckedEntry entry = {.name = CASES[i].name, .has_was = true};
        BaselineCheck check = {
            .baseline = "b.json", .tolerance = tolerance, .entries = &entry, .count = 1, .version = "0.1.0"};
        BaselineWords words;
        cr_assert(snapshot_read(was, "was", &entry.was, &error) && snapshot_read(now, "now", &entry.now, &error));
        baseline_compare(&tolerance, &entry);
        baseline_words(&check, &entry, &words);
        cr_expect_eq(entry.status, CASES[i].status, "%s: %s", CASES[i].name, baseline_status_name(entry.status));
        cr_expect_eq(baseline_passes(&check), CASES[i].status != STATUS_WORSE, "%s", CASES[i].name);
        for (BaselineLine line = 0; line < BASELINE_LINES; line++) {
            const char *part = CASES[i].words[line], *text = words.line[line].text;
            cr_expect(!part || strstr(text, part), "%s: line %d lacks \"%s\": %s", CASES[i].name, line, part, text);
        }
        end(was, now, &(Arena){0});
    }
}

Test(check, tolerances) {
    static const struct {
        const char *text;
        double of[CHECKED_FIGURES]; /* what is not given stays at 0.5 */
        const char *error;          /* NULL: it is one */
    } ROWS[] = {
        {"1%", {0.01, 0.01, 0.01}, NULL},
        {"0", {0, 0, 0}, NULL},
        {"0.02", {0.02, 0.02, 0.02}, NULL},
        {"memory=5%", {0.5, 0.5, 0.05}, NULL},
        {"step=1%,mfu=2%,memory=0.05", {0.01, 0.02, 0.05}, NULL},
        {"step=1% memory=3%", {0.01, 0.5, 0.03}, NULL},
        {"ttft_seconds=2%", {0.5, 0.5, 0.02}, NULL},
        {"", {0}, ""},
        {"5", {0}, "0.01, or 5%"},
        {"step", {0}, ""},
        {"time=1%", {0}, "not a tolerance"},
        {"step=1%,step=2%", {0}, "twice"},
        {"step=1%,", {0}, "not a tolerance"},
        {"-1%", {0}, ""},
        {"nan", {0}, ""},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Tolerance tolerance = {{0.5, 0.5, 0.5}};
        Error error = {0};
        bool ok = tolerance_parse(ROWS[i].text, "--tolerance", &tolerance, &error);
        cr_expect_eq(ok, ROWS[i].error == NULL, "%s", ROWS[i].text);
        if (!ok) cr_expect_str_eq(error.where, "--tolerance");
        if (!ok && ROWS[i].error) cr_expect(strstr(error.text, ROWS[i].error), "%s: %s", ROWS[i].text, error.text);
        for (int k = 0; k < CHECKED_FIGURES && ok; k++)
            cr_expect_float_eq(tolerance.of[k], ROWS[i].of[k], 1e-15, "%s", ROWS[i].text);
    }
}

/* ---- names that are markup ---- */

static char *written(const BaselineCheck *check, BaselineFormat format) {
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *out = open_memstream(&text, &length);
    bool ok = format == BASELINE_FORMATS ? baseline_write_annotations(check, out, &error)
                                         : baseline_write(check, format, (TextOut){.file = out}, &error);
    fclose(out);
    cr_assert(ok, "%s: %s", error.where, error.text);
    return text;
}

static int lines(const char *text) { return *text ? (*text == '\n') + lines(text + 1) : 0; }

/* A model whose name would end a cell, a tag, a command and a line in each of the forms. */
Test(check, hostile_names) {
    static const char *const NAME = "a|b`<script>]]>%0A::error::x,y:z\n::warning::\"'&\033[31m";
    Sample worse = BASE;
    worse.seconds = 3;
    worse.chip_sha256 = "bb";
    cJSON *was = document(&BASE), *now = document(&worse);
    Error error = {0};
    Tolerance tolerance = {{0.01, 0.01, 0.01}};
    CheckedEntry entry = {.name = NAME, .has_was = true};
    BaselineCheck check = {
        .baseline = NAME, .tolerance = tolerance, .entries = &entry, .count = 1, .version = NAME, .data_sha256 = ""};
    cJSON_ReplaceItemInObject((cJSON *)json_at(now, "program.data.chip"), "file", cJSON_CreateString(NAME));
    cr_assert(snapshot_read(was, "was", &entry.was, &error) && snapshot_read(now, "now", &entry.now, &error));
    baseline_compare(&tolerance, &entry);

    static const struct {
        BaselineFormat format;
        const char *never[4], *has;
    } ROWS[] = {
        {BASELINE_TEXT, {"\n::"}, "worse: "},
        {BASELINE_MARKDOWN, {"<script", "a|b", "b`", "\n::"}, "failed"},
        {BASELINE_JUNIT, {"<script", "]]>", "\n::"},
         "name=\"a|b`&lt;script&gt;]]&gt;%0A::error::x,y:z&#10;::warning::&quot;&#39;&amp;?[31m\""},
        {BASELINE_JSON, {"\n::"}, "a|b`<script>]]>%0A::error::x,y:z\\n::warning::"},
        {BASELINE_FORMATS, {"\n::"},
         "::error file=a|b`<script>]]>%250A%3A%3Aerror%3A%3Ax%2Cy%3Az%0A%3A%3Awarning%3A%3A\"'&?[31m,title=a|b`<scr"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char *text = written(&check, ROWS[i].format);
        cr_expect(!strchr(text, '\033') && strstr(text, ROWS[i].has), "%s", text);
        for (size_t k = 0; k < COUNT_OF(ROWS[i].never) && ROWS[i].never[k]; k++)
            cr_expect(!strstr(text, ROWS[i].never[k]), "%s in %s", ROWS[i].never[k], text);
        if (ROWS[i].format == BASELINE_FORMATS) cr_expect_eq(lines(text), 1, "%s", text);
        cJSON *json = ROWS[i].format == BASELINE_JSON ? json_parse(text, strlen(text), "json", &error) : NULL;
        if (ROWS[i].format == BASELINE_JSON) cr_expect_str_eq(json_text_at(json, "baseline"), NAME);
        cJSON_Delete(json);
        free(text);
    }
    end(was, now, &(Arena){0});
}

/* A step of GitHub shows ten errors: nine, and one for all others. Behind the file stands the line of what was read
 * there, lines counted from 1; 0: it is of no line. */
Test(check, annotations) {
    static const struct {
        int count, lines;
        int64_t line;
        const char *has;
    } ROWS[] = {{10, 10, 0, "::error file=m.sh,title=n::"},
                {12, 10, 0, "title=3 more plans are worse::"},
                {1, 1, 1, "::error file=m.sh,line=1,title=n::"},
                {1, 1, 12, "::error file=m.sh,line=12,title=n::"}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        CheckedEntry entries[12];
        for (size_t k = 0; k < COUNT_OF(entries); k++)
            entries[k] = (CheckedEntry){
                .name = "n", .status = STATUS_ERROR, .message = "m", .file = "m.sh", .line = ROWS[i].line};
        BaselineCheck check = {.entries = entries, .count = ROWS[i].count};
        char *text = written(&check, BASELINE_FORMATS);
        cr_expect_eq(lines(text), ROWS[i].lines, "%s", text);
        cr_expect(strstr(text, ROWS[i].has), "%s", text);
        free(text);
    }
}

/* A plan that a limit left undecided has neither passed nor failed; --update does not take what cannot be planned. */
Test(check, says_what_is_not_known) {
    static const struct {
        CheckedEntry entry;
        const char *baseline, *has;
        BaselineFormat format;
    } ROWS[] = {
        {{.name = "n", .undecided = true}, NULL, "skipped=\"1\"", BASELINE_JUNIT},
        {{.name = "n", .undecided = true}, NULL, "<skipped>", BASELINE_JUNIT},
        {{.name = "n", .undecided = true}, NULL, "### Plan quality: not decided", BASELINE_MARKDOWN},
        {{.name = "n", .status = STATUS_ERROR}, "b", "<error type=\"error\"", BASELINE_JUNIT},
        {{.name = "n", .status = STATUS_ERROR}, "b", "taken out.", BASELINE_TEXT},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        BaselineCheck check = {.baseline = ROWS[i].baseline, .entries = &ROWS[i].entry, .count = 1, .version = ""};
        check.data_sha256 = "";
        char *text = written(&check, ROWS[i].format);
        cr_expect(strstr(text, ROWS[i].has), "%s", text);
        free(text);
    }
}

/* ---- the file ---- */

static bool read_text(const char *text, bool incomplete, Arena *arena, Baseline *out, cJSON **json, Error *error) {
    *error = (Error){0};
    *json = json_parse(text, strlen(text), "b.json", error);
    return *json && baseline_read(*json, "b.json", incomplete, arena, out, error);
}

Test(check, baselines_that_are_none) {
    static const struct {
        const char *text, *where, *what;
    } ROWS[] = {
        {"[]", "b.json", "has no plans"},
        {"3", "b.json", "is not a report"},
        {"[3]", "b.json: [0]", "is not a report"},
        {"{}", "b.json", "format_version"},
        {"{\"format_version\":2}", "b.json", "format_version"},
        {"{\"format_version\":1}", "b.json", "request: is missing"},
#define REPORT(plans, proof) "{\"format_version\":1,\"request\":{}" plans ",\"search\":{" proof "}}"
        {REPORT("", ""), "b.json", "plans: is missing"},
        {REPORT(",\"plans\":[]", ""), "b.json", "search.proof"},
        {REPORT(",\"plans\":[]", "\"proof\":\"x\""), "b.json", "is not a kind of proof"},
        {REPORT(",\"plans\":[7]", "\"proof\":\"gap\""), "b.json: plans[0]", "is not a plan"},
        {REPORT(",\"plans\":[{}]", "\"proof\":\"gap\""), "b.json: plans[0]", "axes"},
        {"[{\"point\":0,\"report\":null,\"message\":\"3x3 is no slice\"}]", "b.json: [0]", "3x3 is no slice"},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Baseline baseline;
        Error error;
        cJSON *json;
        cr_expect_not(read_text(ROWS[i].text, false, &arena, &baseline, &json, &error), "%s", ROWS[i].text);
        cr_expect_eq(error.kind, ERROR_INPUT, "%s", ROWS[i].text);
        cr_expect_str_eq(error.where, ROWS[i].where, "%s: %s", ROWS[i].text, error.text);
        cr_expect(strstr(error.text, ROWS[i].what), "%s: %s", ROWS[i].text, error.text);
        end(json, NULL, &arena);
    }
}

/* Names say what distinguishes the entries, and nothing else. */
Test(check, names) {
    static const struct {
        const char *request, *name; /* ' is " */
    } ROWS[] = {
        {"'model':'8b','chip':'tpu-v5e','slice':'4x4','batch':262144,'seq':4096,'padding':'none'",
         "8b on 4x4 of tpu-v5e, 256Ki tokens, seq 4096"},
        {"'model':'8b','chip':'tpu-v5e','slice':'4x4','slices':2,'batch':262144,'seq':4096",
         "8b on 2 slices of 4x4 of tpu-v5e, 256Ki tokens, seq 4096"},
        {"'model':'8b','chip':'h100','nodes':2,'batch':1000000,'seq':4096,'for':'megatron','precision':'bf16'",
         "8b on 2 nodes of h100, 1000000 tokens, seq 4096, for megatron"},
        {"'model':'8b','chip':'h100','nodes':2,'batch':1000000,'seq':4096,'for':'jax','precision':'bf16'",
         "8b on 2 nodes of h100, 1000000 tokens, seq 4096, for jax"},
        {"'model':'m','chip':'h100','nodes':1,'sequences':3", "m on 1 node of h100, 3 sequences (1)"},
        {"'model':'m','chip':'h100','nodes':1,'sequences':3", "m on 1 node of h100, 3 sequences (2)"},
        {"'model':'n'", "n on the default chip"}, /* an option that only some have, whichever comes first */
        {"'model':'n','for':'maxtext'", "n on the default chip, for maxtext"},
        {"'model':'o','for':'maxtext'", "o on the default chip, for maxtext"},
        {"'model':'o','pods':'1'", "o on 1 pod of the default chip"},
        {"'model':'o'", "o on the default chip"},
    };
    Prose text = {0};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        prose_add(&text, "%s{\"format_version\":1,\"request\":{%s}}", i ? "," : "[", ROWS[i].request);
    prose_add(&text, "]");
    for (char *quote = text.text; (quote = strchr(quote, '\'')) != NULL;) *quote = '"';
    Arena arena = {0};
    Baseline baseline;
    Error error;
    cJSON *json;
    cr_assert(read_text(text.text, true, &arena, &baseline, &json, &error), "%s: %s", error.where, error.text);
    cr_assert_eq(baseline.count, COUNT_OF(ROWS));
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) cr_expect_str_eq(baseline.entries[i].name, ROWS[i].name);
    end(json, NULL, &arena);
}

/* A file pasted together has thousands of entries of one name, some alike, some not. Each is named in a walk, not
 * against all others: by pairs these would take minutes. */
Test(check, thousands_of_one_name) {
    enum { COUNT = 10000, CHANGED = 7 };
    Arena arena = {0};
    Error error = {0};
    Baseline baseline;
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < COUNT; i++) {
        cJSON *one = json_add_object(all, NULL);
        json_add_whole(one, "format_version", 1);
        cJSON *request = json_add_object(one, "request");
        json_add_text(request, "model", "8b");
        for (int k = 0; k < 40; k++)
            json_add_whole(request, arena_format(&arena, "option_%d", k), k == CHANGED ? i / 2 : k);
    }
    cr_assert(baseline_read(all, "pasted", true, &arena, &baseline, &error), "%s", error.text);
    for (int i = 0; i < 2; i++)
        cr_expect(strstr(baseline.entries[i].name, i ? ", option_7 0 (2)" : ", option_7 0 (1)"));
    const char *last = baseline.entries[COUNT - 1].name;
    cr_expect(strstr(last, ", option_7 4999 (2)") != NULL && strstr(last, "option_8") == NULL, "%s", last);
    end(all, NULL, &arena);
}

/* What is short reads back as what it was made of. */
Test(check, compact_keeps_what_is_compared) {
    cJSON *whole = document(&BASE);
    cJSON_AddStringToObject(whole, "helps", "nobody compares this");
    cJSON *request = json_parse("{\"model\":\"other\"}", 17, "request", NULL);
    cJSON *json = baseline_compact(whole, request);
    Error error = {0};
    CheckedEntry entry = {.name = "n", .has_was = true};
    Cause causes[CAUSES_MAX];
    Tolerance exact = {{0, 0, 0}};
    cr_assert(json != NULL);
    cr_assert(snapshot_read(whole, "whole", &entry.was, &error) && snapshot_read(json, "json", &entry.now, &error),
              "%s: %s", error.where, error.text);
    baseline_compare(&exact, &entry);
    cr_expect_eq(entry.status, STATUS_SAME);
    cr_expect_eq(baseline_causes(&entry, causes), 0);
    cr_expect(entry.same_plan);
    cr_expect_str_eq(json_text_at(json, "request.model"), "other");
    cr_expect_not(cJSON_GetObjectItem(json, "helps"));
    cJSON_Delete(json);
    cJSON_Delete(whole);
    cJSON_Delete(request);
}

/* ---- two reports side by side ---- */

/* Differences by hand: 2 s against 2.2 s, 0.2 s of it fsdp; and names that would be markup in a table. */
Test(diff, by_hand_and_hostile) {
    static const char *const NAME = "x|y`<b>\n| z\033";
    Sample slower = BASE;
    slower.seconds = 2.2, slower.fsdp = 0.7, slower.link = 36e9, slower.chip_sha256 = "bb";
    cJSON *a = document(&BASE), *b = document(&slower);
    cJSON_ReplaceItemInObject(cJSON_GetObjectItem(b, "request"), "slice", cJSON_CreateString(NAME));
    Arena arena = {0};
    Error error = {0};
    Differences diff;
    cr_assert(diff_make(&(ReportFile){a, "a.json"}, &(ReportFile){b, NAME}, &arena, &diff, &error), "%s: %s",
              error.where, error.text);
    cr_expect(diff.different && cJSON_IsTrue(json_at(diff.json, "different")));
    const cJSON *plans = json_at(diff.json, "plans");
    cr_expect_eq(cJSON_GetArraySize(json_at(diff.json, "request")), 1);
    cr_expect_eq(cJSON_GetArraySize(json_at(diff.json, "terms_seconds")), 2);
    cr_expect_float_eq(json_real_at(diff.json, "terms_seconds.fsdp.b", 0), 0.7, 1e-12);
    cr_expect_float_eq(json_real_at(diff.json, "terms_seconds.fsdp.a", 0), 0.5, 1e-12);
    cr_assert_eq(cJSON_GetArraySize(plans), 1);
    cr_expect(json_real_at(plans->child, "rank_a", 0) == 1 && json_real_at(plans->child, "step_seconds_b", 0) == 2.2);
    for (DiffFormat format = 0; format < DIFF_FORMATS; format++) {
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        bool ok = diff_write(&diff, format, (TextOut){.file = out}, &error);
        cr_expect(ok);
        fclose(out);
        cr_expect(!strchr(text, '\033'), "%s", text);
        bool document = format == DIFF_JSON || format == DIFF_HTML;
        cr_expect(strstr(text, !document ? "+10.0%" : format == DIFF_JSON ? "x|y`<b>" : "x|y`\\u003cb"), "%s", text);
        if (format == DIFF_MARKDOWN)
            cr_expect(!strstr(text, "x|y") && !strstr(text, "<b>") && !strstr(text, "\n| z"), "%s", text);
        free(text);
    }
    cJSON_Delete(diff.json);
    cr_assert(diff_make(&(ReportFile){a, "a.json"}, &(ReportFile){a, "a.json"}, &arena, &diff, &error));
    cr_expect_not(diff.different);
    cJSON_Delete(diff.json);
    end(a, b, &arena);
}

/* An option that one of two reports has asks something else, unless it is the default: a report of another version, or
 * a request written by hand, has fewer options. */
Test(diff, defaults_are_no_difference) {
    static const struct {
        const char *key, *value;
        bool differs;
    } ROWS[] = {
        {"precision", "\"bf16\"", false}, {"precision", "\"fp8\"", true},   {"variants", "false", false},
        {"variants", "true", true},        {"batch_tolerance", "0", false},  {"batch_tolerance", "0.1", true},
        {"hbm_reserve", "0.1", false},     {"require", "\"fsdp=2\"", true}, {"for", "\"maxtext\"", false},
        {"for", "\"jax\"", true},          {"model", "\"m\"", true},       {"chip", "\"c again\"", true},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS) * 2; i++) {
        cJSON *a = document(&BASE), *b = document(&BASE);
        const char *key = ROWS[i / 2].key, *value = ROWS[i / 2].value;
        cJSON *request = cJSON_GetObjectItem(i % 2 ? a : b, "request");
        cJSON_DeleteItemFromObject(request, key);
        cJSON_AddItemToObject(request, key, json_parse(value, strlen(value), "value", NULL));
        Arena arena = {0};
        Error error = {0};
        Differences diff;
        cr_assert(diff_make(&(ReportFile){a, "a"}, &(ReportFile){b, "b"}, &arena, &diff, &error), "%s", error.text);
        cr_expect_eq(diff.different, ROWS[i / 2].differs, "%s %s", key, value);
        cr_expect_eq(json_at(json_at(diff.json, "request"), key) != NULL, ROWS[i / 2].differs, "%s %s", key, value);
        cJSON_Delete(diff.json);
        end(a, b, &arena);
    }
}

/* A report is a file, so its lists may be of any length: all that differs is said, and too many terms are refused. */
Test(diff, no_list_is_cut) {
    enum { MANY = 300 };
    cJSON *a = document(&BASE), *b = document(&BASE);
    Arena arena = {0};
    for (int i = 0; i < MANY; i++) {
        const char *key = arena_format(&arena, "key%d", i);
        cJSON_AddNumberToObject(cJSON_GetObjectItem(a, "request"), key, 1);
        cJSON_AddNumberToObject(cJSON_GetObjectItem(b, "request"), key, 2);
    }
    Error error = {0};
    Differences diff;
    cr_assert(diff_make(&(ReportFile){a, "a"}, &(ReportFile){b, "b"}, &arena, &diff, &error), "%s", error.text);
    cr_expect_eq(cJSON_GetArraySize(json_at(diff.json, "request")), MANY);
    cr_expect(json_at(json_at(diff.json, "request"), "key299") != NULL);
    cJSON_Delete(diff.json);
    cJSON *terms = (cJSON *)json_at(cJSON_GetObjectItem(a, "plans")->child, "step.terms_seconds");
    cr_assert(cJSON_IsObject(terms));
    for (int i = 0; i <= SNAPSHOT_TERMS_MAX; i++) cJSON_AddNumberToObject(terms, arena_format(&arena, "term%d", i), 1);
    cr_expect_not(diff_make(&(ReportFile){a, "a"}, &(ReportFile){b, "b"}, &arena, &diff, &error));
    cr_expect(strstr(error.text, "step.terms_seconds") && strstr(error.text, "at most 32"), "%s", error.text);
    end(a, b, &arena);
}
