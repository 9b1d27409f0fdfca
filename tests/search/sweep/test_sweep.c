/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grid's order, and what is read back of a sweep's lines: whole they are what was written; cut or changed anywhere
 * they are an error or another valid line, and never more than that. */
#include "tests/search/sweep/rows.h"

#include "base/util.h"

static const char *MODELS[] = {"8b", "70b"}, *CHIPS[] = {"v5e"}, *SEQS[] = {"1", "2", "3"};
static const SweepHeader HEADER = {
    .grid = {.options = {{"model", MODELS, 2}, {"chip", CHIPS, 1}, {"seq", SEQS, 3}}, .option_count = 3, .points = 6},
    .version = "1.2.3 \"x\"\n",
    .data_sha256 = "abc",
    .shard = 2,
    .shards = 3,
};

static const char ROW[] =
    "{\"point\":4,\"varies\":{\"model\":\"70b\",\"seq\":\"2\"},\"state\":\"ok\",\"message\":\"\",\"warning\":\"w\","
    "\"best\":{\"plan\":\"fsdp=16\",\"machine\":\"4x4\",\"chips\":16,\"step_seconds\":1.5,\"mfu\":0.25,"
    "\"hbm_bytes\":1e9,\"hbm_limit_bytes\":2e9,\"tokens_per_second\":1000,\"chip_hours\":7,\"cost_usd\":null,"
    "\"expected_seconds\":2000,\"expected_cost_usd\":8,\"reserved_cost_usd\":null,\"price_source\":\"p\","
    "\"reserved_price_source\":\"\"},"
    "\"report\":{\"plans_covered\":123456789012345678901234567890}}";

/* Point = model * 3 + seq: the first option is the slowest, and what has one value takes no part. */
Test(sweep, order) {
    for (int64_t point = 0; point < 6; point++) {
        char text[64], expected[64];
        cr_expect_str_eq(sweep_value(&HEADER.grid, point, 0), MODELS[point / 3]);
        cr_expect_str_eq(sweep_value(&HEADER.grid, point, 1), "v5e");
        cr_expect_str_eq(sweep_value(&HEADER.grid, point, 2), SEQS[point % 3]);
        snprintf(expected, sizeof expected, "model=%s seq=%s", MODELS[point / 3], SEQS[point % 3]);
        cr_expect_str_eq(sweep_point_text(&HEADER.grid, point, text, sizeof text), expected);
        cr_expect_eq(strlen(sweep_point_text(&HEADER.grid, point, text, 5)), 4, "cut to what there is room for");
    }
}

Test(sweep, header_there_and_back) {
    Arena arena = {0};
    Error error = {0};
    SweepHeader read;
    const char *line = sweep_header_line(&HEADER, &arena);
    cr_assert_not_null(line);
    cr_expect_null(strchr(line, '\n'), "one line");
    cr_assert(sweep_header_read(line, strlen(line), "here", &arena, &read, &error), "%s", error.text);
    cr_expect_eq(read.grid.points, 6);
    cr_expect_eq(read.grid.option_count, 3);
    cr_expect_str_eq(read.grid.options[2].values[2], "3");
    cr_expect_str_eq(read.version, HEADER.version);
    cr_expect(read.shard == 2 && read.shards == 3);
    cr_expect_str_eq(sweep_header_line(&read, &arena), line);
    arena_free(&arena);
}

Test(sweep, row_there_and_back) {
    Error error = {0};
    SweepRow row;
    cr_assert(sweep_row_read(&HEADER.grid, ROW, strlen(ROW), "here", &row, &error), "%s", error.text);
    cr_expect(row.point == 4 && row.state == POINT_OK && sweep_has_plan(&row));
    cr_expect(sweep_figure(&row, "step_seconds") == 1.5 && sweep_figure(&row, "chips") == 16);
    cr_expect_lt(sweep_figure(&row, "cost_usd"), 0, "no price is known");
    cr_expect_str_eq(sweep_says(&row, "best.machine"), "4x4");
    cr_expect_str_eq(row.line, ROW, "to the byte, counts of any length included");
    sweep_rows_free(&row, 1);
}

/* Every line that is cut is an error; every byte that is changed gives an error or a row within the grid. */
Test(sweep, hostile_lines) {
    static const char BYTES[] = {'\0', ' ', '"', '9', '-', '}', ']', ',', 'e', '\\', '\n', '\x7f', '\xff'};
    Arena lines = {0};
    char *header = sweep_header_line(&HEADER, &lines);
    cr_assert_not_null(header);
    const char *const LINES[] = {header, ROW};
    for (size_t l = 0; l < COUNT_OF(LINES); l++) {
        size_t length = strlen(LINES[l]);
        for (size_t at = 0; at < length; at++)
            for (size_t b = 0; b <= COUNT_OF(BYTES); b++) {
                Arena arena = {0};
                Error error = {0};
                SweepHeader read;
                SweepRow row = {0};
                bool is_cut = b == COUNT_OF(BYTES);
                size_t size = is_cut ? at : length;
                char *text = malloc(size + 1); /* of its very size, so that a sanitizer sees what reads beyond */
                cr_assert_not_null(text);
                memcpy(text, LINES[l], size);
                if (!is_cut) text[at] = BYTES[b];
                bool ok = l == 0 ? sweep_header_read(text, size, "x", &arena, &read, &error)
                                 : sweep_row_read(&HEADER.grid, text, size, "x", &row, &error);
                cr_expect_eq(ok, error.kind == ERROR_NONE, "line %zu, byte %zu, %zu", l, at, b);
                cr_expect(!(ok && is_cut), "line %zu cut at %zu", l, at);
                if (ok && l == 0) cr_expect(read.shard >= 1 && read.shard <= read.shards && read.grid.points == 6);
                if (ok && l == 1) cr_expect(row.point >= 0 && row.point < 6);
                if (ok && l == 1) cr_expect(row.state != POINT_OK || sweep_has_plan(&row));
                sweep_rows_free(&row, 1);
                free(text);
                arena_free(&arena);
            }
    }
    arena_free(&lines);
}

/* The forms of rows that no planner made: columns, and what is harmless in them. */
Test(sweep, forms) {
    static const char *VALUES[] = {"=1", "a|b"};
    const SweepGrid grid = {.options = {{"model", VALUES, 2}}, .option_count = 1, .points = 2};
    SweepRow rows[2] = {
        made_row(&grid, 0, POINT_ERROR, "--model: \"=1\" is none", NULL),
        made_row(&grid, 1, POINT_NOT_PROVEN, "at most 3% slower than the best",
                 "{\"plan\":\"fsdp=4\",\"machine\":\"2x2\",\"chips\":4,\"step_seconds\":0.5,\"mfu\":0.5,"
                 "\"hbm_bytes\":1e9,\"hbm_limit_bytes\":2e9,\"tokens_per_second\":2000,\"chip_hours\":3,"
                 "\"cost_usd\":null,\"expected_seconds\":7200}")};
    static const char *const EXPECTED[SWEEP_FORMATS] = {
        [SWEEP_CSV] =
            "point,model,state,plan,machine,chips,step_seconds,mfu,hbm_bytes,hbm_limit_bytes,"
            "tokens_per_second,chip_hours,cost_usd,expected_seconds,expected_cost_usd,reserved_cost_usd,message\n"
            "0,'=1,error,,,,,,,,,,,,,,\"'--model: \"\"=1\"\" is none\"\n"
            "1,a|b,not_proven,fsdp=4,2x2,4,0.5,0.5,1000000000,2000000000,2000,3,,7200,,,at most 3% slower than the "
            "best\n",
        [SWEEP_MARKDOWN] = "2 points:\n\n"
                           "| model | best plan | step | MFU | HBM | tokens/s | chip-hours | result |\n"
                           "|---|---|---:|---:|---:|---:|---:|---|\n"
                           "| =1 |  |  |  |  |  |  | error: --model: \"=1\" is none |\n"
                           "| a\\|b | fsdp=4 | 500.0 ms | 50.0% | 1.00 GB | 2.00 k | 3 | not proven: at most 3% slower "
                           "than the best |\n\n1 not proven, 1 with an invalid request.\n",
    };
    for (SweepFormat format = 0; format < SWEEP_FORMATS; format++) {
        if (!EXPECTED[format]) continue;
        char *text = written(&grid, rows, &(SweepGoal){0}, format);
        cr_expect_str_eq(text, EXPECTED[format], "format %d: %s", (int)format, text);
        free(text);
    }
    sweep_rows_free(rows, 2);
}

/* ---- figures of a row ---- */

/* Whether the row is read with another value; the figure that is there then. */
static bool read_changed(const char *key, const char *value, double *figure) {
    Error error = {0};
    SweepRow row;
    char text[1024], wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *at = strstr(ROW, wanted), *rest = at ? at + strlen(wanted) : NULL;
    cr_assert_not_null(at, "%s", key);
    rest += strcspn(rest, ",}");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at + strlen(wanted) - ROW), ROW, value, rest);
    bool ok = sweep_row_read(&HEADER.grid, text, strlen(text), "here", &row, &error);
    cr_expect(ok || (error.kind == ERROR_INPUT && strcmp(error.where, "here") == 0), "%s", error.text);
    if (ok) *figure = sweep_figure(&row, key), sweep_rows_free(&row, 1);
    return ok;
}

/* Figures of nothing are figures, negative ones and what is no number are none; prices may not be known. */
Test(sweep, figures_at_their_limits) {
    double figure = 0;
    for (const SweepField *field = sweep_fields(&(SweepGrid){0}); field->key; field++) {
        bool may_lack = field->rule == FIELD_OR_NULL;
        if (field->type != FIELD_REAL) continue;
        static const double GOOD[] = {0, 1e-300, 1, 1e300};
        for (size_t g = 0; g < COUNT_OF(GOOD); g++) {
            char value[32];
            snprintf(value, sizeof value, "%g", GOOD[g]);
            cr_expect(read_changed(field->key, value, &figure), "%s: %s", field->key, value);
            cr_expect_eq(figure, GOOD[g], "%s: %s", field->key, value);
        }
        cr_expect_not(read_changed(field->key, "-1e-300", &figure), "%s", field->key);
        cr_expect_not(read_changed(field->key, "1e301", &figure), "%s", field->key);
        cr_expect_not(read_changed(field->key, "\"1\"", &figure), "%s", field->key);
        cr_expect_eq(read_changed(field->key, "null", &figure), may_lack, "%s", field->key);
        if (may_lack) cr_expect_lt(figure, 0, "%s", field->key);
    }
    cr_expect(read_changed("chips", "1", &figure) && figure == 1);
    cr_expect_not(read_changed("chips", "0", &figure));
    cr_expect_not(read_changed("chips", "1.5", &figure));
    cr_expect_not(read_changed("point", "3", &figure), "its varies are those of point 4");
    cr_expect_not(read_changed("point", "6", &figure));
}

/* ---- points whose spaces lie in each other: less HBM cannot be faster, unless something else differs too ---- */

enum { POINTS = 6 };
static const char *RESERVES[] = {"10%", "0.2", "25%"}, *NESTED_MODELS[] = {"8b", "70b"}, *IDLE[] = {"0", "50%", "10%"};

/* So many tokens a second by a launcher; 0: no plan fits, below 0: that is not proven. */
static SweepRow nested_row(const SweepGrid *grid, int64_t point, double tokens, const char *launcher) {
    char text[256];
    Error error = {0};
    SweepRow row;
    PointAnswer answer = {.state = tokens > 0 ? POINT_OK : tokens < 0 ? POINT_NOT_PROVEN : POINT_NO_PLAN};
    snprintf(text, sizeof text, "{\"plans\":[{\"launcher\":\"%s\"}],\"program\":{\"profile\":\"h200\"}}", launcher);
    answer.report = cJSON_Parse(text);
    snprintf(text, sizeof text, "{\"tokens_per_second\":%.17g}", tokens);
    if (tokens > 0) answer.best = cJSON_Parse(text);
    cr_assert(sweep_row_new(grid, point, &answer, &row, &error), "%s", error.text);
    return row;
}

/* Tokens a second of two models under three shares; 0: no plan fits, below 0: that is not proven. */
static const struct {
    const char *name;
    const char *option;
    const char **values;
    double tokens[POINTS];
    int other; /* the row that another launcher has; -1: none */
    bool agrees;
} PAIRS[] = {
    {"less room, slower", "hbm-reserve", RESERVES, {9, 8, 7, 5, 5, 0}, -1, true},
    {"less room, faster", "hbm-reserve", RESERVES, {9, 8, 8.1, 5, 5, 0}, -1, false},
    {"of the second model", "hbm-reserve", RESERVES, {9, 8, 7, 5, 5.1, 0}, -1, false},
    {"by less than layouts are solved to", "hbm-reserve", RESERVES, {9, 8, 8.00000001, 5, 5, 0}, -1, true},
    {"by another launcher", "hbm-reserve", RESERVES, {9, 8, 8.1, 5, 5, 0}, 2, true},
    {"more room, and none fits", "hbm-reserve", RESERVES, {9, 8, 7, 5, 0, 3}, -1, false},
    {"more room, and none is known", "hbm-reserve", RESERVES, {9, 8, 7, 5, -1, 3}, -1, true},
    {"idle chips may stay in use", "max-idle", IDLE, {7, 9, 8, 5, 5, 5}, -1, true},
    {"idle chips are faster used", "max-idle", IDLE, {9, 9, 8, 5, 5, 5}, -1, false},
    {"no share at all", "seq", RESERVES, {9, 8, 8.1, 5, 5, 0}, -1, true},
};

Test(nested, rows) {
    for (size_t r = 0; r < COUNT_OF(PAIRS); r++) {
        SweepGrid grid = {.options = {{"model", NESTED_MODELS, 2}, {PAIRS[r].option, PAIRS[r].values, 3}},
                          .option_count = 2,
                          .points = POINTS};
        SweepRow rows[POINTS];
        Error error = {0};
        for (int i = 0; i < POINTS; i++)
            rows[i] = nested_row(&grid, i, PAIRS[r].tokens[i], i == PAIRS[r].other ? "torchtitan" : "megatron");
        cr_expect_eq(sweep_rows_agree(&grid, rows, &error), PAIRS[r].agrees, "%s: %s", PAIRS[r].name, error.text);
        cr_expect_eq(error.kind, PAIRS[r].agrees ? ERROR_NONE : ERROR_INTERNAL, "%s", PAIRS[r].name);
        sweep_rows_free(rows, POINTS);
    }
}

/* The other way round: the option stands in front, and turns slower. */
Test(nested, names_the_points) {
    SweepGrid grid = {
        .options = {{"hbm-reserve", RESERVES, 3}, {"model", NESTED_MODELS, 2}}, .option_count = 2, .points = POINTS};
    SweepRow rows[POINTS];
    Error error = {0};
    for (int i = 0; i < POINTS; i++) rows[i] = nested_row(&grid, i, i == 5 ? 2 : 1, "megatron");
    cr_assert_not(sweep_rows_agree(&grid, rows, &error));
    cr_expect(strstr(error.text, "every plan of hbm-reserve=25% model=70b is one of hbm-reserve=10% model=70b"), "%s",
              error.text);
    sweep_rows_free(rows, POINTS);
}
