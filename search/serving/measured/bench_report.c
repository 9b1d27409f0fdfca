/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/serving_runs.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory_stream.h"
#include "base/util.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the table, in its order. */
static const char *const COLUMNS[] = {"id",           "source",
                                      "group",        "model",
                                      "chip",         "chips",
                                      "engine",       "mode",
                                      "prec_w",       "prec_kv",
                                      "tp",           "pp",
                                      "attn_dp",      "dp",
                                      "ep",           "moe_tp",
                                      "prefill_tp",   "prefill_attn_dp",
                                      "prefill_ep",   "prefill_workers",
                                      "decode_tp",    "decode_attn_dp",
                                      "decode_ep",    "decode_workers",
                                      "spec",         "isl",
                                      "osl",          "concurrency",
                                      "request_rate", "out_tok_s",
                                      "ttft_ms",      "tpot_ms"};
enum { COLUMN_COUNT = COUNT_OF(COLUMNS), CELL_SIZE = 128 };
typedef struct {
    char cell[COLUMN_COUNT][CELL_SIZE];
} Row;

bool bench_report_is(const char *text) {
    while (isspace((unsigned char)*text)) text++;
    return *text == '{' || *text == '[';
}

static int column_of(const char *name, size_t length) {
    for (int c = 0; c < COLUMN_COUNT; c++)
        if (strlen(COLUMNS[c]) == length && strncmp(COLUMNS[c], name, length) == 0) return c;
    return -1;
}

static char *cell(Row *row, const char *name) { return row->cell[column_of(name, strlen(name))]; }

/* The first that says something counts. Blanks that would end the cell are none in names. */
static void put(Row *row, const char *name, const char *text, size_t length) {
    char *to = cell(row, name);
    if (to[0] || length == 0 || length >= CELL_SIZE || memchr(text, '\t', length) || memchr(text, '\n', length)) return;
    memcpy(to, text, length);
    to[length] = '\0';
}

static void put_text(Row *row, const char *name, const char *text) { put(row, name, text, strlen(text)); }

static void put_number(Row *row, const char *name, double value) {
    char text[40];
    if (!(value > 0) || !(value < 1e15)) return;
    snprintf(text, sizeof text, "%.10g", value);
    put_text(row, name, text);
}

/* "chip=h100 tp=4": those that name a column. */
static void put_facts(Row *row, const char *facts) {
    while (facts && *facts) {
        facts += strspn(facts, " ,\n");
        size_t length = strcspn(facts, " ,\n"), name = strcspn(facts, "= ,\n");
        int column = name < length ? column_of(facts, name) : -1;
        if (column >= 0) put(row, COLUMNS[column], facts + name + 1, length - name - 1);
        facts += length;
    }
}

static double number_at(const cJSON *json, const char *key) {
    const cJSON *item = json_at(json, key);
    if (cJSON_IsString(item)) return strtod(item->valuestring, NULL);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* vLLM's and SGLang's have the same names for what was measured. */
static void read_openai(const cJSON *json, Row *row) {
    double completed = number_at(json, "completed");
    if (completed > 0) {
        put_number(row, "isl", number_at(json, "total_input_tokens") / completed);
        put_number(row, "osl", number_at(json, "total_output_tokens") / completed);
    }
    put_number(row, "concurrency", number_at(json, "max_concurrency"));
    put_number(row, "request_rate", number_at(json, "request_rate"));
    put_number(row, "out_tok_s", number_at(json, "output_throughput"));
    put_number(row, "ttft_ms", number_at(json, "mean_ttft_ms"));
    put_number(row, "tpot_ms", number_at(json, "mean_tpot_ms"));
    put_text(row, "model", file_base_name(json_text_at(json, "model_id")));
}

/* What SGLang's server says of itself. */
static void read_server(const cJSON *server, Row *row) {
    double data = number_at(server, "attn_dp_size"), tensor = number_at(server, "tp_size");
    const char *quantization = json_text_at(server, "quantization"), *cache = json_text_at(server, "kv_cache_dtype");
    if (!cJSON_IsObject(server)) return;
    if (!(data > 1)) data = cJSON_IsTrue(json_at(server, "enable_dp_attention")) ? number_at(server, "dp_size") : 1;
    put_text(row, "engine", "sglang");
    put_text(row, "model", file_base_name(json_text_at(server, "model_path")));
    put_number(row, "tp", tensor / data); /* its tensor counts all ranks of a stage */
    put_number(row, "attn_dp", data);
    put_number(row, "pp", number_at(server, "pp_size"));
    put_number(row, "ep", number_at(server, "ep_size"));
    put_text(row, "prec_w", strcmp(quantization, "fp8") == 0 ? "fp8" : "");
    put_text(row, "prec_kv", strncmp(cache, "fp8", 3) == 0 ? "fp8" : "");
}

static void read_genai_perf(const cJSON *json, Row *row) {
    const cJSON *model = json_at(json, "input_config.model"), *stimulus;
    if (!cJSON_IsArray(model)) model = json_at(json, "input_config.model_names");
    if (cJSON_IsArray(model) && cJSON_IsString(model->child))
        put_text(row, "model", file_base_name(model->child->valuestring));
    stimulus = json_at(json, "input_config.perf_analyzer.stimulus");
    if (!stimulus) stimulus = json_at(json, "input_config");
    put_number(row, "isl", number_at(json, "input_sequence_length.avg"));
    put_number(row, "osl", number_at(json, "output_sequence_length.avg"));
    put_number(row, "concurrency", number_at(stimulus, "concurrency"));
    put_number(row, "request_rate", number_at(stimulus, "request_rate"));
    put_number(row, "out_tok_s", number_at(json, "output_token_throughput.avg"));
    put_number(row, "ttft_ms", number_at(json, "time_to_first_token.avg"));
    put_number(row, "tpot_ms", number_at(json, "inter_token_latency.avg"));
}

static bool read_report(const cJSON *json, const char *where, const char *own, int number, Row *row, Error *error) {
    char name[192];
    bool genai = json_at(json, "output_token_throughput.avg") != NULL;
    snprintf(name, sizeof name, "%.150s: report %d", where, number);
    if (!genai && !json_at(json, "output_throughput"))
        return error_set(
            error, ERROR_INPUT, name,
            "is no report of `vllm bench serve`, bench_serving or genai-perf; give their JSON, or a table");
    put_facts(row, own);
    for (const cJSON *item = json->child; item; item = item->next) /* vLLM's --metadata */
        if (item->string && cJSON_IsString(item) && column_of(item->string, strlen(item->string)) >= 0 &&
            strcmp(item->string, "request_rate") != 0)
            put_text(row, item->string, item->valuestring);
    put_facts(row, json_text_at(json, "tag"));
    genai ? read_genai_perf(json, row) : read_openai(json, row);
    read_server(json_at(json, "server_info"), row);
    static const char *const NEEDED[] = {"chip", "engine", "model"};
    for (size_t i = 0; i < COUNT_OF(NEEDED); i++)
        if (!cell(row, NEEDED[i])[0])
            return error_set(
                error, ERROR_INPUT, name,
                "does not say its %s; give --facts \"model=70b chip=h100 engine=vllm tp=4 dp=2 prec_w=bf16\"",
                NEEDED[i]);
    put_text(row, "mode",
             cell(row, "decode_workers")[0]                                 ? "disagg"
             : cell(row, "request_rate")[0] && !cell(row, "concurrency")[0] ? "open-loop"
             : cell(row, "concurrency")[0]                                  ? "closed-loop"
                                                                            : "offline-max");
    snprintf(cell(row, "id"), CELL_SIZE, "report-%d", number);
    put_text(row, "source", "own");
    put_text(row, "group", "own");
    return true;
}

/* Python writes numbers that JSON has not: they become null. Names and texts in quotes stay. */
static void mend(char *text) {
    static const char *const WORDS[] = {"-Infinity", "Infinity", "NaN"};
    bool quoted = false;
    for (char *at = text; *at; at++) {
        if (quoted && *at == '\\' && at[1])
            at++;
        else if (*at == '"')
            quoted = !quoted;
        for (size_t i = 0; i < COUNT_OF(WORDS) && !quoted; i++) {
            size_t length = strlen(WORDS[i]);
            if (strncmp(at, WORDS[i], length) != 0) continue;
            memset(at, ' ', length);
            if (length >= 4)
                memcpy(at, "null", 4);
            else
                memcpy(at, "0  ", 3);
        }
    }
}

typedef struct {
    const char *where, *own;
    FILE *out;
    int count;
} Writing;

static bool write_report(Writing *to, const cJSON *json, Error *error) {
    Row row = {0};
    if (!read_report(json, to->where, to->own, ++to->count, &row, error)) return false;
    for (int c = 0; c < COLUMN_COUNT; c++) fprintf(to->out, "%s%s", c > 0 ? "\t" : "", row.cell[c]);
    fputc('\n', to->out);
    return true;
}

static bool write_reports(Writing *to, const char *text, Error *error) {
    for (int c = 0; c < COLUMN_COUNT; c++) fprintf(to->out, "%s%s", c > 0 ? "\t" : "", COLUMNS[c]);
    fputc('\n', to->out);
    while (text += strspn(text, " \t\r\n"), *text) {
        const char *end = NULL;
        cJSON *json = cJSON_ParseWithOpts(text, &end, false);
        bool ok = json != NULL;
        if (!ok)
            error_set(error, ERROR_INPUT, to->where, "report %d is no JSON; was it written to its end?", to->count + 1);
        if (ok && cJSON_IsArray(json))
            for (const cJSON *one = json->child; one && ok; one = one->next) ok = write_report(to, one, error);
        else if (ok)
            ok = write_report(to, json, error);
        cJSON_Delete(json);
        if (!ok) return false;
        text = end;
    }
    return true;
}

char *bench_report_table(const char *where, const char *text, const char *own, Arena *arena, Error *error) {
    char *copy = arena_text(arena, text), *table = NULL, *out = NULL;
    size_t length = 0;
    if (!copy) return error_memory(error), NULL;
    mend(copy);
    Writing to = {where, own, memory_stream_open(&table, &length), 0};
    bool ok = to.out && write_reports(&to, copy, error);
    if (!to.out || fclose(to.out) != 0) ok = error_memory(error);
    if (ok && !(out = arena_text(arena, table))) error_memory(error);
    free(table);
    return out;
}
