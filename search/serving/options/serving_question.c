/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From words to a question: every option read, every default filled in. */
#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "mesh/host_link.h"
#include "models/config/model_json.h"
#include "models/mixer.h"
#include "search/serving/options/serving_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT_DEFAULT = 1024, OUTPUT_DEFAULT = 256, TOKENS_MAX = 1 << 28 };
enum { TTFT_BARE = 20, TPOT_BARE = 2 }; /* seconds that nobody waits */

/* "30ms", "1.5s", "2"; a number without a unit that is above `bare`, as seconds, was meant as milliseconds. */
static bool read_time(const Words *words, Option option, double bare, double *out) {
    const char *text = given(words, option);
    if (!text) return true;
    size_t length = strlen(text);
    if (text[strspn(text, "0123456789.")] == '\0' && strtod(text, NULL) > bare)
        return words_wrong(words, option, "%.40s of what? give %.40sms or %.40ss", text, text, text);
    if (length < 3 || strcmp(text + length - 2, "ms") != 0)
        return number_seconds(text, words_where(words, option), out, words->error);
    const char *number = arena_format(words->arena, "%.*s", (int)length - 2, text);
    if (!number) return error_memory(words->error);
    if (!number_real(number, words_where(words, option), 0, 1e12, out, words->error)) return false;
    *out /= 1000;
    return *out > 0 || words_wrong(words, option, "\"%.60s\" is no time at all; give more than 0 (30ms, 1.5s)",
                                   given(words, option));
}

static bool read_model(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    request->model = given(words, OPTION_MODEL);
    if (!model_from_words(words, &question->model)) return false;
    for (int i = 0; i < question->model.kind_count; i++)
        if (kind_mixes(&question->model.kinds[i])) return true;
    return words_wrong(words, OPTION_MODEL, "%s mixes no tokens; give a model with attention or a mixer",
                       question->model.name);
}

/* The chips that the degrees of --require take, which a machine that nobody sized has; 0: it names none. Experts lie
 * over tensor and attention_data, and two pools have as many each. */
static int64_t chips_of_degrees(const Words *words, const ServingRequested *request) {
    static const Option SIZES[] = {OPTION_PODS, OPTION_SLICE, OPTION_CHIPS, OPTION_NODES};
    int64_t degree[LAYOUT_WORD_COUNT] = {0}, devices = request->question.chip.devices_per_chip;
    ServingQuestion required = {0};
    Error later = {0}; /* what is wrong is read_space's to say */
    for (size_t i = 0; i < COUNT_OF(SIZES); i++)
        if (given(words, SIZES[i])) return 0;
    if (!given(words, OPTION_REQUIRE) ||
        !layout_requirements_parse(given(words, OPTION_REQUIRE), "", &required, &later))
        return 0;
    for (int i = 0; i < required.requirement_count; i++)
        if (required.requirements[i].sign == 0 && required.requirements[i].value <= MACHINE_CHIPS_MAX)
            degree[required.requirements[i].word] = required.requirements[i].value;
    if (degree[LAYOUT_PREFILL_CHIPS] && degree[LAYOUT_DECODE_CHIPS])
        return min_whole(MACHINE_CHIPS_MAX, degree[LAYOUT_PREFILL_CHIPS] + degree[LAYOUT_DECODE_CHIPS]);
    if (!degree[LAYOUT_TENSOR] && !degree[LAYOUT_EXPERT]) return 0;
    for (int word = 0; word < LAYOUT_WORD_COUNT; word++) degree[word] = max_whole(1, degree[word]);
    double ranks = max_real((double)degree[LAYOUT_TENSOR] * (double)degree[LAYOUT_ATTENTION_DATA],
                            (double)degree[LAYOUT_EXPERT] * (double)degree[LAYOUT_EXPERT_TENSOR]);
    ranks *= (double)degree[LAYOUT_PIPELINE] * (double)degree[LAYOUT_COPIES];
    if (given(words, OPTION_MODE) && strcmp(given(words, OPTION_MODE), "disaggregated") == 0) ranks *= 2;
    return ranks <= MACHINE_CHIPS_MAX ? divide_up((int64_t)ranks, max_whole(1, devices)) : 0;
}

/* Degrees that no machine of the chip has say nothing of its size. */
static bool read_machine(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    Error none = {0};
    if (!chip_from_words(words, &question->chip, &question->device)) return false;
    request->degree_chips = chips_of_degrees(words, request);
    MachineRequest taken = {.chips = request->degree_chips};
    if (taken.chips > 0 && !machine_from_request(&question->chip, &taken, &question->machine, &none))
        request->degree_chips = 0;
    return machine_from_words(words, request->degree_chips, &question->chip, &request->machine, &question->machine);
}

static bool read_lengths(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    int64_t prompt = PROMPT_DEFAULT, output = OUTPUT_DEFAULT;
    double cached = 0;
    if (!words_whole(words, OPTION_PROMPT, 1, TOKENS_MAX, &prompt) ||
        !words_whole(words, OPTION_ANSWER, 1, TOKENS_MAX, &output) ||
        !words_share(words, OPTION_CACHED, 0.9999, &cached))
        return false;
    question->request = (ServedRequest){(double)prompt, (double)output, cached};
    request->lengths = given(words, OPTION_LENGTHS);
    if (request->lengths) {
        char *text;
        const char *path;
        size_t length;
        if (given(words, OPTION_PROMPT) || given(words, OPTION_ANSWER))
            return words_wrong(words, OPTION_LENGTHS,
                               "\"%.60s\" contradicts --prompt or --answer; give one or the other",
                               given(words, OPTION_LENGTHS));
        return serving_workload_path(request->lengths, words_where(words, OPTION_LENGTHS), words->arena, &path,
                                     words->error) &&
               file_read(path, 64 << 20, words->arena, &text, &length, words->error) &&
               serving_lengths(text, path, words->arena, question, &request->left_out, words->error);
    }
    question_lengths(question, (double)prompt, (double)output);
    return true;
}

/* Servers accept what is sent. */
static bool read_accepted(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    if (!words_whole(words, OPTION_MAX_MODEL_LEN, 1, TOKENS_MAX, &question->accepted)) return false;
    if (question->accepted == 0 || (double)question->accepted >= question->longest) return true;
    return words_wrong(words, OPTION_MAX_MODEL_LEN,
                       "%lld is below the %.0f tokens of a request; give less of --prompt and --answer",
                       (long long)question->accepted, question->longest);
}

/* Nothing is learned about positions beyond a learned table. */
static bool check_length(const Words *words, const ServingRequested *request) {
    const ServingQuestion *question = &request->question;
    const Model *model = &question->model;
    if (model->positions != POSITIONS_LEARNED || model->learned_positions <= 0 ||
        question->longest <= (double)model->learned_positions)
        return true;
    return words_wrong(words, OPTION_PROMPT,
                       "%.0f tokens with the answer are beyond the %lld positions that "
                       "%s has learned",
                       question->longest, (long long)model->learned_positions, model->name);
}

static bool read_speculation(const Words *words, ServingRequested *request) {
    Speculation *out = &request->question.speculation;
    const char *text = given(words, OPTION_SPECULATE), *colon = text ? strchr(text, ':') : NULL;
    if (!text) return true;
    if (!colon)
        return words_wrong(words, OPTION_SPECULATE,
                           "\"%.60s\" has no acceptance; give drafts and acceptance, like 3:0.7",
                           given(words, OPTION_SPECULATE));
    const char *drafts = arena_format(words->arena, "%.*s", (int)(colon - text), text);
    if (!drafts) return error_memory(words->error);
    return number_whole(drafts, words_where(words, OPTION_SPECULATE), 1, 64, &out->drafts, words->error) &&
           number_share(colon + 1, words_where(words, OPTION_SPECULATE), 0, 1, &out->acceptance, words->error);
}

/* A number, and where the text goes on behind a colon or comma. */
static bool read_count(const Words *words, Option option, int64_t most, int64_t *count, const char **rest) {
    const char *text = given(words, option);
    size_t length = strcspn(text, ":,");
    const char *number = arena_format(words->arena, "%.*s", (int)length, text);
    *rest = text + length + (text[length] != '\0');
    return number ? number_whole(number, words_where(words, option), 1, most, count, words->error)
                  : error_memory(words->error);
}

static bool read_adapters(const Words *words, ServingRequested *request) {
    Adapters *out = &request->question.adapters;
    const char *text = given(words, OPTION_ADAPTERS), *rest;
    if (!text) return true;
    if (!text[strcspn(text, ":,")])
        return words_wrong(words, OPTION_ADAPTERS, "\"%.60s\" has no rank; give adapters and rank, like 8:16", text);
    return read_count(words, OPTION_ADAPTERS, 4096, &out->count, &rest) &&
           number_whole(rest, words_where(words, OPTION_ADAPTERS), 1, 512, &out->rank, words->error);
}

static bool read_prefixes(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    const char *text = given(words, OPTION_PREFIXES), *rest;
    double room = question->chip.host_bytes.value / 1e9, gigabytes = 0;
    int64_t count = 0;
    if (!text) return true;
    if (!(question->request.cached > 0))
        return words_wrong(words, OPTION_PREFIXES, "\"%.60s\" needs the share of a prompt that they are; give --cached",
                           text);
    if (!read_count(words, OPTION_PREFIXES, INT64_C(1) << 40, &count, &rest)) return false;
    if (*rest && !host_is_known(&question->chip))
        return words_wrong(words, OPTION_PREFIXES, "\"%.60s\": the host of %s is not known; give the number alone",
                           text, question->chip.title);
    if (*rest && !number_real(rest, words_where(words, OPTION_PREFIXES), 0, room, &gigabytes, words->error))
        return false;
    question->prefixes = (Prefixes){(double)count, 1e9 * gigabytes};
    return true;
}

/* A token of a batch job may take as long as anything that was ever run. */
static bool read_job(const Words *words, ServingRequested *request) {
    static const double NEVER = 1e8; /* seconds */
    ServingQuestion *question = &request->question;
    const char *end = given(words, OPTION_FINISH_IN);
    if (!given(words, OPTION_REQUESTS))
        return !end ||
               words_wrong(words, OPTION_FINISH_IN, "\"%.60s\" is of a batch job; give --requests as well", end);
    if (given(words, OPTION_RATE) || given(words, OPTION_RATES) || question->concurrency > 0)
        return words_wrong(words, OPTION_REQUESTS,
                           "\"%.60s\" are all there: it contradicts --rate, --rates or --concurrency; give one of them",
                           given(words, OPTION_REQUESTS));
    if (!(question->ttft_limit_seconds > 0)) question->ttft_limit_seconds = NEVER;
    if (!(question->tpot_limit_seconds > 0)) question->tpot_limit_seconds = NEVER;
    return words_whole(words, OPTION_REQUESTS, 1, INT64_C(1) << 50, &question->requests) &&
           (!end ||
            number_duration(end, words_where(words, OPTION_FINISH_IN), &question->finish_in_seconds, words->error));
}

/* The question is that of the peak, in one pool, whose replicas come and go. */
static bool read_rates(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    const char *path = given(words, OPTION_RATES);
    char *text;
    size_t length;
    if (question->concurrency > 0 || given(words, OPTION_RATE))
        return words_wrong(words, OPTION_RATES, "\"%.60s\" contradicts --rate or --concurrency; give one of them",
                           path);
    if (!file_read(path, 1 << 20, words->arena, &text, &length, words->error) ||
        !serving_day_read(text, path, words->arena, &request->day, words->error))
        return false;
    question->rate = request->day.peak;
    return true;
}

static bool read_limits(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    if (!read_time(words, OPTION_TTFT, TTFT_BARE, &question->ttft_limit_seconds) ||
        !read_time(words, OPTION_TPOT, TPOT_BARE, &question->tpot_limit_seconds) || !read_speculation(words, request) ||
        !read_adapters(words, request) || !read_prefixes(words, request) ||
        !words_whole(words, OPTION_CONCURRENCY, 1, 1 << 24, &question->concurrency) ||
        !words_whole(words, OPTION_TOP, 1, 1000000, &request->top))
        return false;
    const char *rate = given(words, OPTION_RATE);
    if (!read_job(words, request)) return false;
    if (given(words, OPTION_RATES)) return read_rates(words, request);
    if (!rate) return true;
    if (question->concurrency > 0)
        return words_wrong(words, OPTION_RATE, "\"%.60s\" contradicts --concurrency; give one of them",
                           given(words, OPTION_RATE));
    size_t length = strlen(rate);
    if (length > 2 && strcmp(rate + length - 2, "/s") == 0) length -= 2;
    const char *number = arena_format(words->arena, "%.*s", (int)length, rate);
    return number ? number_real(number, words_where(words, OPTION_RATE), 1e-6, 1e9, &question->rate, words->error)
                  : error_memory(words->error);
}

/* Words with commas between them, each handed to `take`, which says whether it knows it. */
static bool each_word(const Words *words, ServingRequested *request, Option option,
                      bool (*take)(ServingRequested *request, const char *word), const char *right) {
    char *copy = arena_text(words->arena, given(words, option)), *rest = NULL;
    if (!copy) return error_memory(words->error);
    int count = 0;
    for (char *word = strtok_r(copy, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest), count++)
        if (!take(request, word))
            return words_wrong(words, option, "\"%.40s\" is not one of its values; give %s", word, right);
    return count > 0 || words_wrong(words, option, "is empty; give %s", right);
}

static bool add_type(const char *word, bool cache, StoredType list[SERVING_TYPES_MAX], int *count) {
    for (int type = 0; type < STORED_COUNT; type++) {
        bool four = type == STORED_MXFP4 || type == STORED_NVFP4;
        if (strcmp(word, stored_name((StoredType)type)) != 0 || (cache && four)) continue;
        for (int i = 0; i < *count; i++)
            if (list[i] == (StoredType)type) return true;
        list[(*count)++] = (StoredType)type;
        return true;
    }
    return false;
}

static bool take_weights(ServingRequested *request, const char *word) {
    return add_type(word, false, request->question.weights, &request->question.weights_count);
}

static bool take_cache(ServingRequested *request, const char *word) {
    return add_type(word, true, request->question.caches, &request->question.caches_count);
}

static bool take_engine(ServingRequested *request, const char *word) {
    int engine = engine_named(word);
    if (strcmp(word, "any") == 0) return request->question.any_engine = true;
    if (engine >= 0) request->question.engines |= 1u << engine;
    return engine >= 0;
}

static bool take_mode(ServingRequested *request, const char *word) {
    for (int mode = 0; mode < SERVE_MODE_COUNT; mode++)
        if (strcmp(word, serving_mode_name((ServingMode)mode)) == 0) return request->question.modes = 1u << mode, true;
    if (strcmp(word, "any") != 0) return false;
    request->question.modes = 1u << SERVE_AGGREGATED | 1u << SERVE_DISAGGREGATED;
    return true;
}

static bool take_objective(ServingRequested *request, const char *word) {
    for (int objective = 0; objective < SERVE_OBJECTIVE_COUNT; objective++)
        if (strcmp(word, serving_objective_name((ServingObjective)objective)) == 0)
            return request->question.objective = (ServingObjective)objective, true;
    return false;
}

static bool read_engines(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    EngineSet chip = engines_of_chip(&question->chip);
    bool adapters = question->adapters.count > 0;
    for (int e = 0; e < engine_count() && adapters; e++)
        if (!engine_at(e)->adapters) chip &= ~(1u << e);
    request->engines_said = given(words, OPTION_ENGINE) != NULL;
    if (!request->engines_said) {
        question->engines = chip;
        question->any_engine = strcmp(question->profiles[NO_ENGINE].name, "ideal") == 0;
        return true;
    }
    if (!each_word(words, request, OPTION_ENGINE, take_engine, "vllm, sglang, tensorrt-llm, maxtext or any"))
        return false;
    for (int e = 0; e < engine_count(); e++)
        if (question->engines >> e & 1 && !(chip >> e & 1))
            return words_wrong(words, OPTION_ENGINE, "%s does not run on %s%s", engine_at(e)->title,
                               question->chip.title, adapters ? ", or is not priced with adapters" : "");
    return true;
}

static bool read_space(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    question->modes = 1u << SERVE_AGGREGATED | 1u << SERVE_DISAGGREGATED;
    if (given(words, OPTION_RATES)) { /* replicas of one pool come and go, as few as the rate needs */
        question->modes = 1u << SERVE_AGGREGATED;
        question->objective = SERVE_CHIPS;
    }
    request->modes_said = given(words, OPTION_MODE) != NULL;
    if (request->modes_said &&
        !each_word(words, request, OPTION_MODE, take_mode, "aggregated, disaggregated, any, decode or prefill"))
        return false;
    if (question->prefixes.count > 0) question->modes &= 1u << SERVE_AGGREGATED;
    if (question->modes == 0)
        return words_wrong(words, OPTION_MODE,
                           "\"%.60s\" contradicts --prefixes, which are of one pool; give aggregated",
                           given(words, OPTION_MODE));
    if (given(words, OPTION_OBJECTIVE) &&
        !each_word(words, request, OPTION_OBJECTIVE, take_objective, "throughput, latency, cost or chips"))
        return false;
    if (question->objective == SERVE_CHIPS && !(question->rate > 0))
        return words_wrong(words, OPTION_OBJECTIVE, "\"%.60s\" needs a load to carry; give --rate as well",
                           given(words, OPTION_OBJECTIVE));
    if (question->objective == SERVE_COST && !(question->chip.usd_per_chip_hour.value > 0))
        return words_wrong(words, OPTION_OBJECTIVE,
                           "\"%.60s\" needs a price, and the catalog has none of this chip; give throughput",
                           given(words, OPTION_OBJECTIVE));
    if (given(words, OPTION_REQUIRE) &&
        !layout_requirements_parse(given(words, OPTION_REQUIRE), words_where(words, OPTION_REQUIRE), question,
                                   words->error))
        return false;
    if (question_divides_pools(question)) question->modes &= 1u << SERVE_DISAGGREGATED;
    if (question->modes == 0)
        return words_wrong(words, OPTION_REQUIRE, "\"%.60s\" divides two pools; leave --mode and --prefixes out",
                           given(words, OPTION_REQUIRE));
    static const int64_t BUDGETS[] = {512, 1024, 2048, 4096, 8192, 16384};
    memcpy(question->budgets, BUDGETS, sizeof BUDGETS);
    question->budget_count = (int)COUNT_OF(BUDGETS);
    return read_engines(words, request);
}

/* What the name of a repository says of its weights, else what the model's authors publish. */
static bool read_published(const Words *words, const cJSON *json, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    const char *slash = strrchr(request->model, '/'), *stored = repository_stores(request->model);
    if (stored && !take_weights(request, stored))
        return words_wrong(words, OPTION_MODEL,
                           "\"%.60s\" lies in %s, of which serving is not priced; give --precision int4 (or int8, fp8) "
                           "for what is nearest",
                           request->model, stored);
    if (!stored)
        question->weights[question->weights_count++] =
            serving_published_weights(json, slash ? slash + 1 : request->model, question->model.name);
    return true;
}

/* --gpu-memory-utilization, of engines that count it of all HBM. No engine has more than the physical front. */
static bool read_memory_share(const Words *words, ServingQuestion *question) {
    const char *text = given(words, OPTION_GPU_MEMORY);
    double share = 0;
    if (text && !number_share(text, words_where(words, OPTION_GPU_MEMORY), 0.1, 0.99, &share, words->error))
        return false;
    for (int e = 0; e <= engine_count() && text; e++) {
        ServingProfile *profile = &question->profiles[e == engine_count() ? NO_ENGINE : e];
        if (e == engine_count())
            profile->memory_fraction = max_real(profile->memory_fraction, share);
        else if (engine_at(e)->memory_of_all)
            profile->memory_fraction = share;
    }
    return true;
}

/* The profile of each engine, and the types of weights and cache. */
static bool read_physics(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    const char *path;
    request->profile = given(words, OPTION_PROFILE) ? given(words, OPTION_PROFILE) : "default";
    cJSON *json = serving_profile_open(request->profile, words->arena, &path, words->error);
    if (!json) return false;
    request->profile_path = path;
    bool ok = true;
    for (int e = 0; e <= engine_count() && ok; e++) {
        int at = e == engine_count() ? NO_ENGINE : e;
        ok = serving_profile_from_json(json, path, &question->chip, at == NO_ENGINE ? NULL : engine_at(e)->name,
                                       &question->profiles[at], words->error);
    }
    if (ok && question->profiles[NO_ENGINE].driver_memory > 0) {
        chip_use_driver_memory(&question->chip);
        chip_use_driver_memory(&question->device);
    }
    ok = ok && read_memory_share(words, question);
    request->weights_said = given(words, OPTION_PRECISION) != NULL;
    if (ok && request->weights_said)
        ok = each_word(words, request, OPTION_PRECISION, take_weights, "bf16, fp8, int8, mxfp4, nvfp4 or int4");
    else if (ok)
        ok = read_published(words, json, request);
    cJSON_Delete(json);
    if (ok && given(words, OPTION_KV_DTYPE))
        return each_word(words, request, OPTION_KV_DTYPE, take_cache, "bf16, fp8, int8 or int4");
    question->caches[question->caches_count++] = STORED_BF16;
    return ok;
}

static bool read_search(const Words *words, ServingRequested *request) {
    ServingQuestion *question = &request->question;
    question->brute_force = given(words, OPTION_BRUTE_FORCE) != NULL;
    question->environment = words->options->environment;
    question->certificate = words->options->certificate;
    return words_seconds(words, OPTION_TIME_LIMIT, &question->time_limit_seconds);
}

bool serving_question(const Options *options, Arena *arena, ServingRequested *out, Error *error) {
    const Words words = {options, arena, error};
    memset(out, 0, sizeof *out);
    /* In this order because each leans on the ones before. */
    return read_model(&words, out) && read_machine(&words, out) && read_lengths(&words, out) &&
           read_accepted(&words, out) && check_length(&words, out) && read_limits(&words, out) &&
           read_physics(&words, out) && read_space(&words, out) && read_search(&words, out);
}
