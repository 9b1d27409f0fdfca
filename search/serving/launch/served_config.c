/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/launch/served_against.h"

#include "base/number.h"
#include "base/util.h"
#include "cost/serving/matrices.h"
#include "search/launch/syntax/shell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Options of load tests, and the option of `inference` that each is. */
static const struct {
    const char *name;
    Option option;
} LOADS[] = {
    {"random-input-len", OPTION_PROMPT},     {"synthetic-input-tokens-mean", OPTION_PROMPT},
    {"random-output-len", OPTION_ANSWER},    {"output-tokens-mean", OPTION_ANSWER},
    {"max-concurrency", OPTION_CONCURRENCY}, {"concurrency", OPTION_CONCURRENCY},
    {"request-rate", OPTION_RATE},
};

typedef struct {
    const ShellScript *script;
    ConfigFile *file;
    ServedConfig *out;
    Error *error;
} Reading;

/* "--tp_size" as "tp-size". */
static void plain_name(const char *word, char out[64]) {
    word += strspn(word, "-");
    size_t length = min_whole((int64_t)strcspn(word, "="), 63);
    for (size_t i = 0; i < length; i++) out[i] = word[i] == '_' ? '-' : word[i];
    out[length] = '\0';
}

static bool is_number(const char *text) { return text && text[0] && strspn(text, "0123456789.") == strlen(text); }

/* ---- one worker's command ---- */

/* The row of that name in some engine's table: a flag of one that another has not stays alone. */
static const EngineFlag *flag_named(const char *name) {
    char plain[64];
    for (int engine = 0; engine < engine_count(); engine++)
        for (const EngineFlag *flag = engine_at(engine)->flags; flag->name; flag++) {
            plain_name(flag->name, plain);
            if (strcmp(plain, name) == 0) return flag;
        }
    return NULL;
}

/* A name of the hub; folders and what only the shell knows say nothing. */
static void take_model(Reading *to, const char *name) {
    if (isalnum((unsigned char)name[0])) to->out->options.text[OPTION_MODEL] = name;
}

static bool read_flag(Reading *to, ServedPool *pool, const char *name, const char *value, const ShellWord *at) {
    const EngineFlag *flag = flag_named(name);
    if (flag) {
        char where[192];
        snprintf(where, sizeof where, "%.120s:%lld:%lld: %s", to->file->name, (long long)at->line,
                 (long long)at->column, name);
        if (served_flag_switches(flag->says)) return pool->flag[flag->says] = 1, true;
        if (!value) return error_set(to->error, ERROR_INPUT, where, "has no number; give one");
        if (value[0] == '$') return true; /* only the shell knows: as if it were silent */
        return number_whole(value, where, 0, INT64_C(1) << 31, &pool->flag[flag->says], to->error);
    }
    if (!value) return true;
    if (strcmp(name, "model") == 0 || strcmp(name, "model-path") == 0) take_model(to, value);
    if (strcmp(name, "per-device-batch-size") == 0) pool->device_batch = strtod(value, NULL);
    if (strcmp(name, "gpu-memory-utilization") == 0 || strcmp(name, "mem-fraction-static") == 0)
        pool->memory_fraction = strtod(value, NULL);
    if (strcmp(name, "quantization") == 0) pool->weights_fp8 = strstr(value, "fp8") != NULL;
    if (strcmp(name, "kv-cache-dtype") == 0) pool->cache_fp8 = strncmp(value, "fp8", 3) == 0;
    bool transfer = strcmp(name, "kv-transfer-config") == 0, mode = strcmp(name, "disaggregation-mode") == 0;
    if ((transfer && strstr(value, "kv_producer")) || (mode && strcmp(value, "prefill") == 0))
        pool->role = ENGINE_PROMPTS;
    if ((transfer && strstr(value, "kv_consumer")) || (mode && strcmp(value, "decode") == 0))
        pool->role = ENGINE_DECODES;
    const char *drafts = strcmp(name, "speculative-config") == 0 ? strstr(value, "num_speculative_tokens") : NULL;
    if (drafts) pool->flag[SERVED_DRAFTS] = strtoll(drafts + strcspn(drafts, "0123456789"), NULL, 10);
    return true;
}

/* Lines of the YAML file that trtllm-serve reads: those that were priced. */
static void read_settings(const char *text, ServedPool *pool) {
    const char *drafts = strstr(text, "num_nextn_predict_layers:");
    if (!drafts) drafts = strstr(text, "max_draft_len:");
    pool->flag[SERVED_DATA_ATTENDS] |= strstr(text, "enable_attention_dp: true") != NULL;
    pool->cache_fp8 |= strstr(text, " dtype: fp8") != NULL;
    if (drafts) pool->flag[SERVED_DRAFTS] = strtoll(drafts + strcspn(drafts, "0123456789\n"), NULL, 10);
    if (strstr(text, "cache_transceiver_config:"))
        pool->role = strstr(text, "disable_overlap_scheduler: true") ? ENGINE_PROMPTS : ENGINE_DECODES;
}

/* The word behind the program's name; 0: the command starts no engine. */
static int64_t engine_of(const ShellWords *command, int *engine) {
    for (int64_t i = 0; i < command->count; i++) {
        const char *word = command->items[i].text, *next = i + 1 < command->count ? command->items[i + 1].text : "";
        bool serves = strcmp(next, "serve") == 0;
        *engine = -1;
        if (strcmp(word, "vllm") == 0 && serves) return *engine = engine_named("vllm"), i + 2;
        if (strcmp(word, "vllm.entrypoints.openai.api_server") == 0) return *engine = engine_named("vllm"), i + 1;
        if (strcmp(word, "sglang.launch_server") == 0) return *engine = engine_named("sglang"), i + 1;
        if (strcmp(word, "sglang") == 0 && serves) return *engine = engine_named("sglang"), i + 2;
        if (strcmp(word, "trtllm-serve") == 0 && strcmp(next, "disaggregated") != 0)
            return *engine = engine_named("tensorrt-llm"), i + 1;
        if (strstr(word, "maxengine_server")) return *engine = engine_named("maxtext"), i + 1;
    }
    return 0;
}

bool served_config_is(const char *text) {
    static const char *const SERVERS[] = {"vllm serve",           "vllm.entrypoints.openai.api_server",
                                          "sglang.launch_server", "sglang serve",
                                          "trtllm-serve",         "maxengine_server"};
    for (size_t i = 0; i < COUNT_OF(SERVERS); i++)
        if (strstr(text, SERVERS[i])) return true;
    return false;
}

static bool read_worker(Reading *to, int64_t number, int64_t first) {
    const ShellWords *command = &to->script->commands[number];
    ServedPool pool = {.line = command->items[0].line, .column = command->items[0].column};
    for (int64_t i = first; i < command->count; i++) {
        const ShellWord *word = &command->items[i];
        const char *equal = strchr(word->text, '=');
        bool flag = word->text[0] == '-' || (equal && to->out->engine == engine_named("maxtext"));
        const char *next = i + 1 < command->count ? command->items[i + 1].text : NULL;
        char name[64];
        if (word->text[0] == '{') read_settings(word->text, &pool); /* --config <(echo '{...}') */
        if (i == first && !flag) take_model(to, word->text);        /* vllm serve MODEL, trtllm-serve MODEL */
        if (!flag) continue;
        plain_name(word->text, name);
        if (!read_flag(to, &pool, name, equal ? equal + 1 : next && next[0] != '-' ? next : NULL, word)) return false;
    }
    for (int i = 0; i < to->script->inline_count; i++) /* the last text before the command */
        if (to->script->inlines[i].behind <= number &&
            (i + 1 == to->script->inline_count || to->script->inlines[i + 1].behind > number))
            read_settings(to->script->inlines[i].text, &pool);
    for (int i = 0; i < to->out->pool_count; i++)
        if (to->out->pools[i].role == pool.role) return true; /* another copy of the same */
    if (to->out->pool_count == 2)
        return config_wrong_at(to->file, pool.line, pool.column, to->error,
                               "a third kind of pool; give prompts and decoding, or one pool");
    int at = to->out->pool_count == 1 && pool.role == ENGINE_PROMPTS ? 0 : to->out->pool_count;
    if (at == 0) to->out->pools[1] = to->out->pools[0];
    to->out->pools[at] = pool;
    to->out->pool_count++;
    return true;
}

/* ---- the rest of the script ---- */

static void read_load(Reading *to, const ShellWords *command) {
    for (int64_t i = 0; i + 1 < command->count; i++) {
        char name[64];
        if (command->items[i].text[0] != '-') continue;
        plain_name(command->items[i].text, name);
        for (size_t k = 0; k < COUNT_OF(LOADS); k++)
            if (strcmp(LOADS[k].name, name) == 0 && is_number(command->items[i + 1].text))
                to->out->options.text[LOADS[k].option] = command->items[i + 1].text;
    }
}

static bool tests_load(const ShellWords *command) {
    for (int64_t i = 0; i < command->count; i++) {
        const char *word = command->items[i].text;
        if (strcmp(word, "bench") == 0 || strcmp(word, "sglang.bench_serving") == 0 || strcmp(word, "genai-perf") == 0)
            return true;
    }
    return false;
}

/* What `emit` was requested: ASKED=(--model 70b ...). The load is the test's, unless it was requested. */
static void read_asked(Reading *to) {
    const char *tested[OPTION_COUNT];
    memcpy(tested, to->out->options.text, sizeof tested);
    for (int64_t v = 0; v < to->script->variable_count; v++) {
        const ShellVariable *variable = &to->script->variables[v];
        if (strcmp(variable->name, "ASKED") != 0 || !variable->array) continue;
        to->out->options.text[OPTION_CONCURRENCY] = to->out->options.text[OPTION_RATE] = NULL;
        for (int64_t i = 0; i + 1 < variable->words.count; i++)
            if (strncmp(variable->words.items[i].text, "--", 2) == 0) {
                int option = option_named(SERVING_OPTIONS, variable->words.items[i].text + 2);
                if (option >= 0 && SERVING_OPTIONS[option].is_input && SERVING_OPTIONS[option].takes)
                    to->out->options.text[option] = variable->words.items[i + 1].text;
            }
    }
    if (to->out->options.text[OPTION_LENGTHS])
        to->out->options.text[OPTION_PROMPT] = to->out->options.text[OPTION_ANSWER] = NULL;
    to->out->options.text[OPTION_ENGINE] = to->out->options.text[OPTION_REQUIRE] = NULL; /* the best may have any */
}

bool served_config_read(const char *name, const char *text, size_t length, Arena *arena, ServedConfig *out,
                        Error *error) {
    ConfigFile file = {.name = name, .arena = arena};
    ShellScript script;
    *out = (ServedConfig){.name = name, .engine = -1};
    config_skip_mark(&text, &length);
    if (!config_check_text(&file, text, length, error) || !shell_read(text, length, &file, &script, error))
        return false;
    Reading to = {&script, &file, out, error};
    for (int64_t i = 0; i < script.command_count; i++) {
        int engine;
        int64_t first = engine_of(&script.commands[i], &engine);
        if (first == 0 && tests_load(&script.commands[i])) read_load(&to, &script.commands[i]);
        if (first == 0) continue;
        if (out->engine >= 0 && out->engine != engine)
            return config_wrong_at(&file, script.commands[i].items[0].line, script.commands[i].items[0].column, error,
                                   "starts %s and %s; give one engine", engine_at(engine)->title,
                                   engine_at(out->engine)->title);
        out->engine = engine;
        if (!read_worker(&to, i, first)) return false;
    }
    if (out->engine < 0)
        return error_set(error, ERROR_INPUT, name,
                         "starts no engine; give a script with vllm serve, sglang.launch_server, trtllm-serve or "
                         "maxengine_server");
    read_asked(&to);
    for (int i = 0; i < OPTION_COUNT; i++) out->options.where[i] = name;
    return true;
}

/* ---- in our words ---- */

static bool wrong(const ServedConfig *config, const ServedPool *pool, Error *error, const char *text) {
    char where[192];
    snprintf(where, sizeof where, "%.120s:%lld:%lld", config->name, (long long)pool->line, (long long)pool->column);
    return error_set(error, ERROR_INPUT, where, "%s", text);
}

/* SGLang's and TensorRT-LLM's tensor counts all ranks of a stage; vLLM's experts are cut over all of them, or none. */
static bool layout_of(const ServedConfig *config, const ServedPool *pool, const Model *model, WorkerLayout *out,
                      Error *error) {
    const int64_t *flag = pool->flag;
    const char *engine = engine_at(config->engine)->name;
    bool vllm = strcmp(engine, "vllm") == 0, experts = model_has_experts(model);
    int64_t ranks = max_whole(1, flag[SERVED_TENSOR]), data = max_whole(1, flag[SERVED_ATTENTION_DATA]);
    if (vllm) data = experts ? max_whole(1, flag[SERVED_DATA]) : 1; /* a dense model's are copies */
    if (!vllm && flag[SERVED_DATA_ATTENDS]) data = flag[SERVED_DATA] > 0 ? flag[SERVED_DATA] : ranks;
    int64_t context = max_whole(1, flag[SERVED_CONTEXT]), batch = max_whole(1, flag[SERVED_KV_BATCH]);
    int64_t tensor = vllm ? ranks : ranks / data;
    if (strcmp(engine, "maxtext") == 0) tensor = ranks * context * batch;
    if (!vllm && ranks % data != 0)
        return wrong(config, pool, error, "groups of attention data do not divide its ranks; give a divisor");
    int64_t group = tensor * data, expert = max_whole(1, flag[SERVED_EXPERT]);
    if (vllm) expert = flag[SERVED_EXPERT_ALL] ? group : 1;
    if (!experts) expert = 1;
    if (group % expert != 0) return wrong(config, pool, error, "experts are cut in ways that do not divide its ranks");
    *out = (WorkerLayout){.tensor = tensor,
                          .attention_data = data,
                          .pipeline = max_whole(1, flag[SERVED_PIPELINE]),
                          .expert = expert,
                          .expert_tensor = experts ? group / expert : 1,
                          .kv_sequence = context,
                          .kv_batch = batch,
                          .stationary = 1};
    return true;
}

static void require(ServingQuestion *question, LayoutWord word, int sign, int64_t value, unsigned phases) {
    if (question->requirement_count < LAYOUT_REQUIREMENTS_MAX)
        question->requirements[question->requirement_count++] = (LayoutRequirement){word, sign, value, phases};
}

static bool pin_pool(const ServedConfig *config, const ServedPool *pool, ServingQuestion *question, Error *error) {
    WorkerLayout layout;
    const Engine *engine = engine_at(config->engine);
    unsigned phases =
        pool->role == ENGINE_ALONE ? 0 : 1u << (pool->role == ENGINE_PROMPTS ? PHASE_PROMPTS : PHASE_DECODES);
    bool each = strcmp(engine->name, "vllm") == 0 || strcmp(engine->name, "tensorrt-llm") == 0;
    if (!layout_of(config, pool, &question->model, &layout, error)) return false;
    layout.weights = question->weights[0];
    layout.cache = question->caches[0];
    EngineAsk ask = {&question->model, &question->chip, &layout, pool->role};
    const char *refusal =
        !layout_divides(&question->model, &layout) ? "its degrees do not divide the model" : engine->refuses(&ask);
    if (refusal) return wrong(config, pool, error, refusal);
    const int64_t values[] = {layout.tensor,        layout.pipeline,    layout.attention_data, layout.expert,
                              layout.expert_tensor, layout.kv_sequence, layout.kv_batch,       layout.stationary};
    for (size_t i = 0; i < COUNT_OF(values); i++) require(question, (LayoutWord)i, 0, values[i], phases);
    ServingProfile *profile = &question->profiles[config->engine];
    if (pool->memory_fraction > 0 && pool->memory_fraction <= 1) profile->memory_fraction = pool->memory_fraction;
    int64_t groups = each ? layout.attention_data : 1, sequences = pool->flag[SERVED_SEQUENCES];
    int64_t tokens = pool->flag[SERVED_TOKENS] > 0 ? pool->flag[SERVED_TOKENS] : (int64_t)profile->start_tokens;
    sequences = (sequences > 0 ? sequences : (int64_t)profile->start_sequences) * groups;
    if (pool->device_batch > 0) sequences = (int64_t)(pool->device_batch * (double)worker_devices(&layout) + 0.5);
    if (pool->role != ENGINE_PROMPTS && sequences > 0) require(question, LAYOUT_BATCH, -1, sequences, 0);
    bool budgeted = false; /* else no flag says it, and the best is priced, as where it is planned */
    for (const EngineFlag *flag = engine->flags; flag->name; flag++) budgeted = budgeted || flag->says == SERVED_TOKENS;
    if (pool->role != ENGINE_DECODES && tokens > 0 && budgeted) {
        question->budgets[0] = tokens * groups;
        question->budget_count = 1;
    }
    return true;
}

bool served_config_pin(const ServedConfig *config, ServingQuestion *question, Error *error) {
    const ServedPool *last = &config->pools[config->pool_count - 1];
    question->engines = 1u << config->engine;
    question->any_engine = false;
    question->modes = 1u << (config->pool_count == 2 ? SERVE_DISAGGREGATED : SERVE_AGGREGATED);
    if (last->weights_fp8) question->weights[0] = STORED_FP8;
    if (last->cache_fp8) question->caches[0] = STORED_FP8;
    question->weights_count = question->caches_count = 1;
    if (!(engines_of_chip(&question->chip) >> config->engine & 1)) {
        char text[128];
        snprintf(text, sizeof text, "%s does not run on %.64s", engine_at(config->engine)->title, question->chip.title);
        return wrong(config, last, error, text);
    }
    if (config->pool_count == 1 && last->role != ENGINE_ALONE)
        return wrong(config, last, error, "is one of two pools; give a script with both");
    for (int i = 0; i < config->pool_count; i++)
        if (!pin_pool(config, &config->pools[i], question, error)) return false;
    return true;
}
