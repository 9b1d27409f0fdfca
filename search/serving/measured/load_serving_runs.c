/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/util.h"
#include "cost/measured/line.h"
#include "search/serving/engines/engine.h"
#include "search/serving/measured/serving_runs.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 64 << 20 };
static const double TOKENS_MAX = 1e9, SECONDS_MAX = 1e6, RATE_MAX = 1e12, COUNT_MAX = 1e9;

#define AT(member) offsetof(ServingRun, member)
/* To read another figure, add a line. KEY_OTHER: a key that has a function of its own, or is there for people. */
static const Key ROW[] = {
    {"id", KEY_TEXT, AT(id), 0, 0},
    {"source", KEY_TEXT, AT(source), 0, 0},
    {"family", KEY_TEXT, AT(family), 0, 0},
    {"group", KEY_TEXT, AT(group), 0, 0},
    {"framework", KEY_TEXT, AT(framework), 0, 0},
    {"variant", KEY_TEXT, AT(variant), 0, 0},
    {"not_replayed", KEY_TEXT, AT(not_replayed), 0, 0},
    {"request", KEY_OTHER, 0, 0, 0},
    {"plan", KEY_OTHER, 0, 0, 0},
    {"measured", KEY_OTHER, 0, 0, 0},
    {"said", KEY_OTHER, 0, 0, 0},
    {"note", KEY_OTHER, 0, 0, 0},
};
static const Key REQUEST[] = {
    {"model", KEY_TEXT, AT(model), 0, 0},
    {"chip", KEY_TEXT, AT(chip), 0, 0},
    {"chips", KEY_WHOLE, AT(chips), 1, 1e7},
    {"engine", KEY_OTHER, 0, 0, 0},
    {"engine_version", KEY_TEXT, AT(version), 0, 0},
    {"precision", KEY_OTHER, 0, 0, 0},
    {"kv_dtype", KEY_OTHER, 0, 0, 0},
    {"load", KEY_OTHER, 0, 0, 0},
    {"prompt", KEY_REAL, AT(prompt), 1, TOKENS_MAX},
    {"answer", KEY_REAL, AT(output), 1, TOKENS_MAX},
    {"length_share", KEY_REAL, AT(length_share), 0.01, 1},
    {"exponential_answers", KEY_FLAG, AT(exponential), 0, 0},
    {"concurrency", KEY_REAL, AT(concurrency), 1e-3, COUNT_MAX},
    {"batch", KEY_REAL, AT(batch), 1e-3, COUNT_MAX},
    {"rate", KEY_REAL, AT(rate), 1e-9, COUNT_MAX},
    {"requests", KEY_REAL, AT(requests), 1, COUNT_MAX},
    {"gpu_memory_utilization", KEY_REAL, AT(memory_fraction), 0.01, 1},
    {"drafts_unknown", KEY_FLAG, AT(drafts_unknown), 0, 0},
};
static const Key MEASURED[] = {
    {"tpot_seconds", KEY_REAL, AT(tpot_seconds), 1e-9, SECONDS_MAX},
    {"ttft_seconds", KEY_REAL, AT(ttft_seconds), 1e-9, SECONDS_MAX},
    {"output_tokens_per_second", KEY_REAL, AT(tokens_per_second), 1e-6, RATE_MAX},
    {"prompt_tokens_per_second_per_chip", KEY_REAL, AT(prompt_tokens_per_second_per_chip), 1e-6, RATE_MAX},
    {"request_seconds", KEY_REAL, AT(whole_seconds), 1e-9, SECONDS_MAX},
};
#undef AT
#define AT(member) offsetof(RunWorker, member)
static const Key WAYS[] = {
    {"tensor", KEY_WHOLE, AT(tensor), 1, 1e6},     {"attention_data", KEY_WHOLE, AT(attention_data), 1, 1e6},
    {"pipeline", KEY_WHOLE, AT(pipeline), 1, 1e6}, {"expert", KEY_WHOLE, AT(expert), 1, 1e6},
    {"workers", KEY_WHOLE, AT(workers), 1, 1e6},
};
#undef AT
static const Key POOLS[] = {{"prefill", KEY_OTHER, 0, 0, 0}, {"decode", KEY_OTHER, 0, 0, 0}};

/* The first where no load is given; the last is that of two pools, which their plan says. */
static const char *const MODES[] = {"closed-loop",  "offline-max",  "open-loop-inf", "open-loop",
                                    "static-batch", "prefill-only", "disagg"};
enum { LOADS = COUNT_OF(MODES) - 1 };

static bool read_type(const Line *line, const cJSON *request, const char *key, int *out) {
    const char *names[STORED_COUNT];
    for (int type = 0; type < STORED_COUNT; type++) names[type] = stored_name((StoredType)type);
    if (!cJSON_GetObjectItemCaseSensitive(request, key)) return true;
    if (!line_name(line, request, key, names, STORED_COUNT, out)) return false;
    ++*out;
    return true;
}

static bool read_request(const Line *line, const cJSON *request, ServingRun *run) {
    static const char *const NEEDED[] = {"model", "chip", "engine", "prompt", "answer"};
    const char *engines[ENGINES_MAX];
    int load = 0, engine = 0, count = 0;
    if (!cJSON_IsObject(request)) return line_wrong(line, "request", "give {\"model\": .., \"chip\": .., ..}");
    for (; count < engine_count() && count < ENGINES_MAX; count++) engines[count] = engine_at(count)->name;
    for (size_t i = 0; i < COUNT_OF(NEEDED) && !run->not_replayed[0]; i++)
        if (!cJSON_GetObjectItemCaseSensitive(request, NEEDED[i]))
            return line_wrong(line, "request", "has no %s", NEEDED[i]);
    if (!line_keys(line, request, REQUEST, COUNT_OF(REQUEST), run) ||
        !line_name(line, request, "engine", engines, count, &engine) ||
        !line_name(line, request, "load", MODES, LOADS, &load) ||
        !read_type(line, request, "precision", &run->weights) || !read_type(line, request, "kv_dtype", &run->cache))
        return false;
    if (cJSON_GetObjectItemCaseSensitive(request, "engine")) run->engine = engines[engine];
    run->mode = MODES[load];
    return true;
}

/* Degrees of the workers; of two pools an object each. */
static bool read_plan(const Line *line, const cJSON *json, ServingRun *run) {
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(json, "plan");
    bool two = false;
    for (size_t i = 0; i < COUNT_OF(POOLS); i++) two = two || cJSON_GetObjectItemCaseSensitive(plan, POOLS[i].key);
    if (!two) return line_object(line, json, "plan", WAYS, COUNT_OF(WAYS), &run->worker);
    if (run->mode != MODES[0])
        return line_wrong(line, "load", "is closed-loop where there are two pools; leave it out");
    run->mode = MODES[LOADS];
    return line_keys(line, plan, POOLS, COUNT_OF(POOLS), run) &&
           line_object(line, plan, "prefill", WAYS, COUNT_OF(WAYS), &run->prefill) &&
           line_object(line, plan, "decode", WAYS, COUNT_OF(WAYS), &run->decode);
}

static bool read_line(const Line *line, const cJSON *json, void *to) {
    ServingRun *run = to;
    *run = (ServingRun){.engine = ""};
    keys_clear(ROW, COUNT_OF(ROW), run);
    keys_clear(REQUEST, COUNT_OF(REQUEST), run);
    if (!line_keys(line, json, ROW, COUNT_OF(ROW), run) || !line_label(line, &run->id, &run->family, run->source) ||
        !read_request(line, cJSON_GetObjectItemCaseSensitive(json, "request"), run) || !read_plan(line, json, run))
        return false;
    if (!run->group[0]) run->group = run->family;
    if (!run->framework[0]) run->framework = run->engine;
    return line_object(line, json, "measured", MEASURED, COUNT_OF(MEASURED), run);
}

static bool parse(const LineFile *file, Arena *arena, ServingRuns *out, Error *error) {
    static const LineKind KIND = {sizeof(ServingRun), offsetof(ServingRun, id), read_line,
                                  "cost/measured/lab/convert_serving.py"};
    ServingRuns runs = {0};
    runs.runs = lines_read(&KIND, file, arena, &runs.count, error);
    if (runs.runs) *out = runs;
    return runs.runs != NULL;
}

bool serving_runs_parse(const char *where, char *text, size_t length, Arena *arena, ServingRuns *out, Error *error) {
    return parse(&(LineFile){where, text, length, NULL}, arena, out, error);
}

bool serving_runs_read(const char *path, const char *chip, Arena *arena, ServingRuns *out, Error *error) {
    LineFile file = {.path = path};
    char only[CHIP_NAME_SIZE + 16];
    snprintf(only, sizeof only, "\"chip\":\"%s\"", chip ? chip : "");
    if (chip) file.only = only;
    return file_read(path, FILE_MAX, arena, &file.text, &file.length, error) && parse(&file, arena, out, error);
}
