/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/measured/serving_runs.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory_stream.h"
#include "base/util.h"
#include "cost/measured/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { RUN_REQUEST, RUN_MEASURED, RUN_PLAN, RUN_PREFILL, RUN_DECODE, RUN_COUNT } RunPart;

/* The objects of a report's run. */
typedef struct {
    cJSON *of[RUN_COUNT];
} Row;

/* Names of facts, and the keys of a run that they are; prefill_tp and decode_tp are those of two pools. */
static const struct {
    const char *name, *key;
    RunPart part;
    bool number;
} FACTS[] = {{"model", "model", RUN_REQUEST, false},
             {"chip", "chip", RUN_REQUEST, false},
             {"engine", "engine", RUN_REQUEST, false},
             {"mode", "load", RUN_REQUEST, false},
             {"prec_w", "precision", RUN_REQUEST, false},
             {"prec_kv", "kv_dtype", RUN_REQUEST, false},
             {"chips", "chips", RUN_REQUEST, true},
             {"isl", "prompt", RUN_REQUEST, true},
             {"osl", "answer", RUN_REQUEST, true},
             {"concurrency", "concurrency", RUN_REQUEST, true},
             {"request_rate", "rate", RUN_REQUEST, true},
             {"tp", "tensor", RUN_PLAN, true},
             {"pp", "pipeline", RUN_PLAN, true},
             {"attn_dp", "attention_data", RUN_PLAN, true},
             {"dp", "workers", RUN_PLAN, true},
             {"workers", "workers", RUN_PLAN, true},
             {"ep", "expert", RUN_PLAN, true},
             {"moe_tp", "", RUN_PLAN, true}};

/* The first that says something counts. */
static void put_text(cJSON *to, const char *key, const char *text) {
    if (text[0] && !json_at(to, key)) json_add_text(to, key, text);
}

static void put_number(cJSON *to, const char *key, double value) {
    if (value > 0 && value < 1e15 && !json_at(to, key)) json_add_real(to, key, value);
}

/* Numbers by their value: a text that is none is refused where the run is read. */
static bool put_fact(const Row *row, const char *name, const char *text) {
    char *end;
    RunPart pool = strncmp(name, "prefill_", 8) == 0 ? RUN_PREFILL : strncmp(name, "decode_", 7) == 0 ? RUN_DECODE : 0;
    if (pool) name = strchr(name, '_') + 1;
    for (size_t i = 0; i < COUNT_OF(FACTS); i++) {
        if (strcmp(FACTS[i].name, name) != 0 || (pool && FACTS[i].part != RUN_PLAN)) continue;
        if (!FACTS[i].key[0]) return true; /* `ep` says it */
        cJSON *to = row->of[pool ? pool : FACTS[i].part];
        double value = strtod(text, &end);
        if (FACTS[i].number && end > text && !*end)
            put_number(to, FACTS[i].key, value);
        else if (strcmp(name, "mode") != 0 || strcmp(text, "disagg") != 0) /* its two pools say that */
            put_text(to, FACTS[i].key, text);
        return true;
    }
    return false;
}

/* "chip=h100 tp=4". Returns the first word that is no fact; "": all are. */
static const char *put_facts(const Row *row, const char *facts, char word[static 128]) {
    const char *odd = "";
    for (const char *at = facts + strspn(facts, " ,\n"); *at && !odd[0]; at += strspn(at, " ,\n")) {
        size_t length = strcspn(at, " ,\n");
        snprintf(word, 128, "%.*s", (int)min_whole((int64_t)length, 127), at);
        char *value = strchr(word, '=');
        if (value) *value++ = '\0';
        if (!value || !put_fact(row, word, value)) odd = word;
        at += length;
    }
    return odd;
}

static double number_at(const cJSON *json, const char *key) {
    const cJSON *item = json_at(json, key);
    if (cJSON_IsString(item)) return strtod(item->valuestring, NULL);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* What reports call their figures: vLLM's and SGLang's alike, then genai-perf's. */
static const struct {
    const char *path;
    RunPart part;
    const char *key;
    double unit;
} FIGURES[] = {{"max_concurrency", RUN_REQUEST, "concurrency", 1},
               {"request_rate", RUN_REQUEST, "rate", 1},
               {"output_throughput", RUN_MEASURED, "output_tokens_per_second", 1},
               {"mean_ttft_ms", RUN_MEASURED, "ttft_seconds", 1000},
               {"mean_tpot_ms", RUN_MEASURED, "tpot_seconds", 1000},
               {"input_sequence_length.avg", RUN_REQUEST, "prompt", 1},
               {"output_sequence_length.avg", RUN_REQUEST, "answer", 1},
               {"input_config.perf_analyzer.stimulus.concurrency", RUN_REQUEST, "concurrency", 1},
               {"input_config.perf_analyzer.stimulus.request_rate", RUN_REQUEST, "rate", 1},
               {"input_config.concurrency", RUN_REQUEST, "concurrency", 1},
               {"input_config.request_rate", RUN_REQUEST, "rate", 1},
               {"output_token_throughput.avg", RUN_MEASURED, "output_tokens_per_second", 1},
               {"time_to_first_token.avg", RUN_MEASURED, "ttft_seconds", 1000},
               {"inter_token_latency.avg", RUN_MEASURED, "tpot_seconds", 1000},
               {"server_info.pp_size", RUN_PLAN, "pipeline", 1},
               {"server_info.ep_size", RUN_PLAN, "expert", 1}};

static void read_figures(const cJSON *json, const Row *row) {
    double completed = number_at(json, "completed");
    if (completed > 0) {
        put_number(row->of[RUN_REQUEST], "prompt", number_at(json, "total_input_tokens") / completed);
        put_number(row->of[RUN_REQUEST], "answer", number_at(json, "total_output_tokens") / completed);
    }
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++)
        put_number(row->of[FIGURES[i].part], FIGURES[i].key, number_at(json, FIGURES[i].path) / FIGURES[i].unit);
}

/* The model, without its folder. */
static void read_model(const cJSON *json, cJSON *request) {
    static const char *const PATHS[] = {"model_id", "server_info.model_path", "input_config.model",
                                        "input_config.model_names"};
    for (size_t i = 0; i < COUNT_OF(PATHS); i++) {
        const cJSON *model = json_at(json, PATHS[i]);
        if (cJSON_IsArray(model)) model = model->child;
        if (cJSON_IsString(model)) put_text(request, "model", file_base_name(model->valuestring));
    }
}

/* What SGLang's server says of itself. */
static void read_server(const cJSON *server, const Row *row) {
    double data = number_at(server, "attn_dp_size"), tensor = number_at(server, "tp_size");
    cJSON *request = row->of[RUN_REQUEST], *plan = row->of[RUN_PLAN];
    if (!cJSON_IsObject(server)) return;
    if (!(data > 1)) data = cJSON_IsTrue(json_at(server, "enable_dp_attention")) ? number_at(server, "dp_size") : 1;
    put_text(request, "engine", "sglang");
    put_number(plan, "tensor", tensor / data); /* its tensor counts all ranks of a stage */
    put_number(plan, "attention_data", data);
    put_text(request, "precision", strcmp(json_text_at(server, "quantization"), "fp8") == 0 ? "fp8" : "");
    put_text(request, "kv_dtype", strncmp(json_text_at(server, "kv_cache_dtype"), "fp8", 3) == 0 ? "fp8" : "");
}

static bool read_report(const cJSON *json, const char *where, const char *own, const Row *row, Error *error) {
    static const char *const NEEDED[] = {"chip", "engine", "model"};
    cJSON *request = row->of[RUN_REQUEST];
    const cJSON *item;
    char word[128];
    if (!json_at(json, "output_token_throughput.avg") && !json_at(json, "output_throughput"))
        return error_set(error, ERROR_INPUT, where,
                         "is no report of `vllm bench serve`, bench_serving or genai-perf; give their JSON, or runs");
    if (put_facts(row, own, word)[0])
        return error_set(error, ERROR_INPUT, "--facts", "\"%s\" is no fact; give chip=h100 engine=vllm tp=4", word);
    cJSON_ArrayForEach(item, json) { /* vLLM's --metadata */
        if (item->string && cJSON_IsString(item) && strcmp(item->string, "request_rate") != 0)
            put_fact(row, item->string, item->valuestring);
    }
    put_facts(row, json_text_at(json, "tag"), word);
    read_figures(json, row);
    read_model(json, request);
    read_server(json_at(json, "server_info"), row);
    for (size_t i = 0; i < COUNT_OF(NEEDED); i++)
        if (!json_at(request, NEEDED[i]))
            return error_set(
                error, ERROR_INPUT, where,
                "does not say its %s; give --facts \"model=70b chip=h100 engine=vllm tp=4 dp=2 prec_w=bf16\"",
                NEEDED[i]);
    bool steady = json_at(request, "concurrency") || json_at(row->of[RUN_DECODE], "workers");
    put_text(request, "load", steady ? "closed-loop" : json_at(request, "rate") ? "open-loop" : "offline-max");
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

/* Writes the report as a line of a run. Of two pools the plan is theirs. */
static bool write_report(Writing *to, const cJSON *json, Error *error) {
    cJSON *line = cJSON_CreateObject(), *ways = cJSON_CreateObject(), *pools = cJSON_CreateObject();
    char text[192];
    snprintf(text, sizeof text, "report-%d", ++to->count);
    json_add_text(line, "id", text);
    json_add_text(line, "family", "own");
    const Row row = {{json_add_object(line, "request"), json_add_object(line, "measured"), ways,
                      json_add_object(pools, "prefill"), json_add_object(pools, "decode")}};
    snprintf(text, sizeof text, "%.150s: report %d", to->where, to->count);
    bool ok = read_report(json, text, to->own, &row, error), two = json_at(row.of[RUN_DECODE], "workers") != NULL;
    cJSON_AddItemToObject(line, "plan", two ? pools : ways);
    cJSON_Delete(two ? ways : pools);
    if (ok && !json_print_line(to->out, line)) ok = error_memory(error);
    cJSON_Delete(line);
    return ok;
}

static bool write_reports(Writing *to, const char *text, Error *error) {
    while (text += strspn(text, " \t\r\n"), *text) {
        const char *end = NULL;
        cJSON *json = cJSON_ParseWithOpts(text, &end, false);
        bool ok = json != NULL, list = cJSON_IsArray(json);
        if (!ok)
            error_set(error, ERROR_INPUT, to->where, "report %d is no JSON; was it written to its end?", to->count + 1);
        for (const cJSON *one = list ? json->child : json; one && ok; one = list ? one->next : NULL)
            ok = write_report(to, one, error);
        cJSON_Delete(json);
        if (!ok) return false;
        text = end;
    }
    return true;
}

bool bench_report_read(const char *where, const char *text, const char *own, Arena *arena, ServingRuns *out,
                       Error *error) {
    char *copy = arena_text(arena, text), *lines = NULL, *kept = NULL;
    size_t length = 0;
    if (!copy) return error_memory(error);
    mend(copy);
    Writing to = {where, own ? own : "", memory_stream_open(&lines, &length), 0};
    bool ok = to.out && write_reports(&to, copy, error);
    if (!to.out || fclose(to.out) != 0) ok = error_memory(error);
    if (ok && !(kept = arena_text(arena, lines))) ok = error_memory(error);
    free(lines);
    return ok && serving_runs_parse(arena_format(arena, "%s: report", where), kept, length, arena, out, error);
}

/* ---- a user's file ---- */

bool serving_runs_are(const char *text) {
    static const char *const KEYS[] = {"\"engine\"",       "\"prompt\"",       "\"answer\"",
                                       "\"tpot_seconds\"", "\"ttft_seconds\"", "\"output_tokens_per_second\""};
    text += strspn(text, " \t\r\n");
    if (!run_lines_are(text)) return *text == '{' || *text == '[' || strstr(text, "\tisl\t");
    const char *end = text + strcspn(text, "\n");
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        const char *at = strstr(text, KEYS[i]);
        if (at && at < end) return true;
    }
    return false;
}

bool serving_runs_load(const char *path, const char *facts, Arena *arena, ServingRuns *out, Error *error) {
    char *text;
    size_t length;
    if (!file_read(path, 64 << 20, arena, &text, &length, error)) return false;
    if (strchr("{[", text[strspn(text, " \t\r\n")]) && length > 0 && !run_lines_are(text))
        return bench_report_read(path, text, facts, arena, out, error);
    if (facts) return error_set(error, ERROR_INPUT, "--facts", "are of a load test's JSON; %s has runs", path);
    return serving_runs_parse(path, text, length, arena, out, error);
}
