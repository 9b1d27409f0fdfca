/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "search/serving/measured/serving_runs.h"
#include "search/serving/measured/tsv.h"

#include <stddef.h>
#include <string.h>

typedef enum { CELL_TEXT, CELL_WHOLE, CELL_REAL, CELL_MILLI } CellKind;

/* To add a column, add a line. */
static const struct {
    const char *name;
    CellKind kind;
    size_t offset;
} COLUMNS[] = {
#define TEXT(name, member)                                                                                             \
    { name, CELL_TEXT, offsetof(ServingRun, member) }
#define WHOLE(name, member)                                                                                            \
    { name, CELL_WHOLE, offsetof(ServingRun, member) }
#define REAL(name, member)                                                                                             \
    { name, CELL_REAL, offsetof(ServingRun, member) }
    TEXT("id", id),
    TEXT("source", source),
    TEXT("tier", tier),
    TEXT("group", group),
    TEXT("model", model),
    TEXT("arch", arch),
    TEXT("chip", chip),
    TEXT("engine", engine),
    TEXT("engine_version", version),
    TEXT("prec_w", weights),
    TEXT("prec_kv", cache),
    TEXT("mode", mode),
    TEXT("spec", spec),
    WHOLE("chips", chips),
    WHOLE("tp", worker.tensor),
    WHOLE("pp", worker.pipeline),
    WHOLE("dp", worker.workers),
    WHOLE("ep", worker.expert),
    WHOLE("moe_tp", worker.expert_tensor),
    WHOLE("attn_dp", worker.attention_data),
    WHOLE("prefill_workers", prefill.workers),
    WHOLE("prefill_tp", prefill.tensor),
    WHOLE("prefill_attn_dp", prefill.attention_data),
    WHOLE("prefill_ep", prefill.expert),
    WHOLE("decode_workers", decode.workers),
    WHOLE("decode_tp", decode.tensor),
    WHOLE("decode_attn_dp", decode.attention_data),
    WHOLE("decode_ep", decode.expert),
    REAL("isl", prompt),
    REAL("osl", output),
    REAL("concurrency", concurrency),
    REAL("batch", batch),
    REAL("request_rate", rate),
    REAL("requests", requests),
    TEXT("spread", spread),
    REAL("memory_fraction", memory_fraction),
    REAL("out_tok_s", tokens_per_second),
    REAL("in_tok_s_chip", prompt_tokens_per_second_per_chip),
    {"ttft_ms", CELL_MILLI, offsetof(ServingRun, ttft_seconds)},
    {"tpot_ms", CELL_MILLI, offsetof(ServingRun, tpot_seconds)},
    REAL("e2e_s", whole_seconds),
#undef TEXT
#undef WHOLE
#undef REAL
};

bool serving_runs_are(const char *text) {
    if (bench_report_is(text)) return true;
    static const char *const NEEDED[] = {"model", "chip", "engine", "isl", "osl"};
    while (*text == '#' || *text == '\n') { /* comments stand before the names */
        text = strchr(text, '\n');
        if (!text) return false;
        text++;
    }
    size_t end = strcspn(text, "\n");
    for (size_t i = 0; i < COUNT_OF(NEEDED); i++) {
        size_t length = strlen(NEEDED[i]);
        bool found = false;
        for (const char *at = text; at && at < text + end && !found; at = strchr(at, '\t'), at = at ? at + 1 : at)
            found = strncmp(at, NEEDED[i], length) == 0 && strchr("\t\r\n", at[length]) != NULL;
        if (!found) return false;
    }
    return true;
}

static bool read_cell(const TsvCell *cell, int column, ServingRun *run, Error *error) {
    char *at = (char *)run + COLUMNS[column].offset;
    if (COLUMNS[column].kind == CELL_TEXT) return *(const char **)(void *)at = cell->text, true;
    if (cell->text[0] == '\0' || strcmp(cell->text, "inf") == 0) return true; /* all at once is no rate */
    const char *name = COLUMNS[column].name;
    if (COLUMNS[column].kind == CELL_WHOLE)
        return number_whole(cell->text, name, 0, INT64_C(1) << 40, (int64_t *)(void *)at, error);
    double value;
    if (!number_real(cell->text, name, 0, 1e15, &value, error)) return false;
    *(double *)(void *)at = COLUMNS[column].kind == CELL_MILLI ? value / 1000 : value;
    return true;
}

static bool read_row(const TsvReader *reader, const int *column_of, int columns, ServingRun *run, Error *error) {
    for (size_t c = 0; c < COUNT_OF(COLUMNS); c++)
        if (COLUMNS[c].kind == CELL_TEXT) *(const char **)(void *)((char *)run + COLUMNS[c].offset) = "";
    for (int i = 0; i < reader->count && i < columns; i++)
        if (column_of[i] >= 0 && !read_cell(&reader->cells[i], column_of[i], run, error)) return false;
    return true;
}

static int column_named(const char *name) {
    for (size_t c = 0; c < COUNT_OF(COLUMNS); c++)
        if (strcmp(COLUMNS[c].name, name) == 0) return (int)c;
    return -1;
}

bool serving_runs_read(const char *where, char *text, size_t length, Arena *arena, ServingRuns *out, Error *error) {
    int column_of[TSV_COLUMNS_MAX], columns = 0;
    int64_t room = 0;
    TsvReader *reader = ARENA_NEW(arena, TsvReader, 1);
    if (!reader) return error_memory(error);
    for (size_t i = 0; i < length; i++) room += text[i] == '\n';
    *out = (ServingRuns){.runs = ARENA_NEW(arena, ServingRun, (size_t)room + 1)};
    if (!out->runs) return error_memory(error);
    *reader = tsv_start(where, text, length);
    TsvResult result;
    while ((result = tsv_next(reader, error)) == TSV_ROW) {
        if (reader->count == 0 || reader->cells[0].text[0] == '#') continue;
        if (columns == 0) {
            for (columns = 0; columns < reader->count; columns++)
                column_of[columns] = column_named(reader->cells[columns].text);
            continue;
        }
        ServingRun *run = &out->runs[out->count++];
        if (read_row(reader, column_of, columns, run, error)) continue;
        if (error->kind != ERROR_INPUT) return false;
        run->wrong =
            arena_format(arena, "line %lld: %s: %s", (long long)reader->cells[0].line, error->where, error->text);
        if (!run->wrong) return error_memory(error);
        *error = (Error){0};
    }
    return result == TSV_END;
}

bool serving_runs_load(const char *path, const char *facts, Arena *arena, ServingRuns *out, Error *error) {
    char *text;
    size_t length;
    if (!file_read(path, 64 << 20, arena, &text, &length, error)) return false;
    if (!bench_report_is(text)) {
        if (facts) return error_set(error, ERROR_INPUT, "--facts", "are of a load test's JSON; %s is a table", path);
        return serving_runs_read(path, text, length, arena, out, error);
    }
    text = bench_report_table(path, text, facts, arena, error);
    return text && serving_runs_read(path, text, strlen(text), arena, out, error);
}
