/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From words to a question: every option read, every default filled in. */
#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "models/config/model_json.h"
#include "search/serving/options/serving_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT_DEFAULT = 1024, OUTPUT_DEFAULT = 256, TOKENS_MAX = 1 << 28, CHIPS_DEFAULT = 8 };

typedef struct {
    const ServingWords *words;
    Arena *arena;
    ServingAsked *asked;
    Error *error;
} Reading;

static const char *given(const Reading *to, ServingOption option) { return to->words->text[option]; }
static const char *where(const Reading *to, ServingOption option) { return to->words->where[option]; }

static bool wrong(const Reading *to, ServingOption option, const char *what) {
    return error_set(to->error, ERROR_INPUT, where(to, option), "\"%.60s\" %s", given(to, option), what);
}

static bool read_whole(const Reading *to, ServingOption option, int64_t high, int64_t *out) {
    return !given(to, option) || number_whole(given(to, option), where(to, option), 1, high, out, to->error);
}

/* "30ms", "1.5s", "2". */
static bool read_time(const Reading *to, ServingOption option, double *out) {
    const char *text = given(to, option);
    if (!text) return true;
    size_t length = strlen(text);
    if (length < 3 || strcmp(text + length - 2, "ms") != 0)
        return number_seconds(text, where(to, option), out, to->error);
    const char *number = arena_format(to->arena, "%.*s", (int)length - 2, text);
    if (!number) return error_memory(to->error);
    if (!number_real(number, where(to, option), 0, 1e12, out, to->error)) return false;
    *out /= 1000;
    return *out > 0 || wrong(to, option, "is no time at all; give more than 0 (30ms, 1.5s)");
}

static bool read_model(const Reading *to) {
    ServingQuestion *question = &to->asked->question;
    to->asked->model = given(to, SERVING_MODEL);
    if (!to->asked->model)
        return error_set(to->error, ERROR_INPUT, "--model",
                         "is missing; give a model of `shardopt models`, or a config.json");
    if (!model_load(to->asked->model, to->arena, &question->model, to->error)) return false;
    for (int i = 0; i < question->model.kind_count; i++)
        if (question->model.kinds[i].heads < 1)
            return error_set(to->error, ERROR_INPUT, "--model",
                             "%s has layers without attention, which are not priced for "
                             "serving; give a transformer",
                             question->model.name);
    return true;
}

static bool read_chip(const Reading *to) {
    ServingQuestion *question = &to->asked->question;
    const char *name = given(to, SERVING_CHIP), *slice = given(to, SERVING_SLICE);
    Catalog catalog;
    if (!catalog_load(to->arena, &catalog, to->error)) return false;
    const Chip *implied = slice ? machine_chip_of_slice(&catalog, slice) : NULL;
    const Chip *chip = name ? catalog_find(&catalog, name) : implied ? implied : catalog_find(&catalog, "v5e");
    if (!chip) return wrong(to, SERVING_CHIP, "is no chip; `shardopt chips` lists them");
    if (name && implied && implied != chip) return wrong(to, SERVING_CHIP, "is not the chip of --slice; leave it out");
    question->chip = *chip;
    question->device = chip_device(chip);
    return true;
}

static bool read_machine(const Reading *to) {
    static const ServingOption SIZES[] = {SERVING_PODS, SERVING_SLICE, SERVING_CHIPS, SERVING_NODES};
    ServingQuestion *question = &to->asked->question;
    MachineRequest asked = {0};
    ServingOption size = SERVING_OPTION_COUNT;
    for (size_t i = 0; i < COUNT_OF(SIZES); i++) {
        if (!given(to, SIZES[i])) continue;
        if (size != SERVING_OPTION_COUNT)
            return error_set(to->error, ERROR_INPUT, where(to, SIZES[i]),
                             "is a second machine beside %s; give one of them", where(to, size));
        size = SIZES[i];
    }
    if (given(to, SERVING_SLICES) && size != SERVING_SLICE)
        return wrong(to, SERVING_SLICES, "has no slice to count; give --slice as well");
    if (!read_whole(to, SERVING_PODS, MACHINE_CHIPS_MAX, &asked.pods) ||
        !read_whole(to, SERVING_SLICES, MACHINE_CHIPS_MAX, &asked.slices) ||
        !read_whole(to, SERVING_CHIPS, MACHINE_CHIPS_MAX, &asked.chips) ||
        !read_whole(to, SERVING_NODES, MACHINE_CHIPS_MAX, &asked.nodes))
        return false;
    asked.slice = given(to, SERVING_SLICE);
    if (size == SERVING_OPTION_COUNT) asked.chips = CHIPS_DEFAULT;
    if (size == SERVING_SLICE)
        snprintf(to->asked->machine, sizeof to->asked->machine,
                 asked.slices ? "--slice %.40s --slices %lld" : "--slice %.40s", asked.slice, (long long)asked.slices);
    else
        snprintf(to->asked->machine, sizeof to->asked->machine, "--%s %lld",
                 size == SERVING_OPTION_COUNT ? "chips" : SERVING_OPTIONS[size].name,
                 (long long)(asked.pods + asked.chips + asked.nodes));
    return machine_from_request(&question->chip, &asked, &question->machine, to->error);
}

static bool read_lengths(const Reading *to) {
    ServingQuestion *question = &to->asked->question;
    int64_t prompt = PROMPT_DEFAULT, output = OUTPUT_DEFAULT;
    double cached = 0;
    if (!read_whole(to, SERVING_PROMPT, TOKENS_MAX, &prompt) || !read_whole(to, SERVING_OUTPUT, TOKENS_MAX, &output) ||
        (given(to, SERVING_CACHED) &&
         !number_share(given(to, SERVING_CACHED), where(to, SERVING_CACHED), 0, 0.9999, &cached, to->error)))
        return false;
    question->request = (ServedRequest){(double)prompt, (double)output, cached};
    to->asked->lengths = given(to, SERVING_LENGTHS);
    if (to->asked->lengths) {
        char *text;
        const char *path;
        size_t length;
        if (given(to, SERVING_PROMPT) || given(to, SERVING_OUTPUT))
            return wrong(to, SERVING_LENGTHS, "stands beside --prompt or --output; give one or the other");
        return serving_workload_path(to->asked->lengths, where(to, SERVING_LENGTHS), to->arena, &path, to->error) &&
               file_read(path, 64 << 20, to->arena, &text, &length, to->error) &&
               serving_lengths(text, path, question, to->error);
    }
    question_lengths(question, (double)prompt, (double)output);
    return true;
}

/* Nothing is learned about positions beyond a learned table. */
static bool check_length(const Reading *to) {
    const ServingQuestion *question = &to->asked->question;
    const Model *model = &question->model;
    if (model->positions != POSITIONS_LEARNED || model->learned_positions <= 0 ||
        question->longest <= (double)model->learned_positions)
        return true;
    return error_set(to->error, ERROR_INPUT, "--prompt",
                     "%.0f tokens with the answer are beyond the %lld positions that "
                     "%s has learned",
                     question->longest, (long long)model->learned_positions, model->name);
}

static bool read_speculation(const Reading *to) {
    Speculation *out = &to->asked->question.speculation;
    const char *text = given(to, SERVING_SPECULATE), *colon = text ? strchr(text, ':') : NULL;
    if (!text) return true;
    if (!colon) return wrong(to, SERVING_SPECULATE, "has no acceptance; give drafts and acceptance, like 3:0.7");
    const char *drafts = arena_format(to->arena, "%.*s", (int)(colon - text), text);
    if (!drafts) return error_memory(to->error);
    return number_whole(drafts, where(to, SERVING_SPECULATE), 1, 64, &out->drafts, to->error) &&
           number_share(colon + 1, where(to, SERVING_SPECULATE), 0, 1, &out->acceptance, to->error);
}

static bool read_limits(const Reading *to) {
    ServingQuestion *question = &to->asked->question;
    if (!read_time(to, SERVING_TTFT, &question->ttft_limit_seconds) ||
        !read_time(to, SERVING_TPOT, &question->tpot_limit_seconds) || !read_speculation(to) ||
        !read_whole(to, SERVING_CONCURRENCY, 1 << 24, &question->concurrency) ||
        !read_whole(to, SERVING_TOP, 1000000, &to->asked->top))
        return false;
    const char *rate = given(to, SERVING_RATE);
    if (!rate) return true;
    if (question->concurrency > 0) return wrong(to, SERVING_RATE, "stands beside --concurrency; give one of them");
    size_t length = strlen(rate);
    if (length > 2 && strcmp(rate + length - 2, "/s") == 0) length -= 2;
    const char *number = arena_format(to->arena, "%.*s", (int)length, rate);
    return number ? number_real(number, where(to, SERVING_RATE), 1e-6, 1e9, &question->rate, to->error)
                  : error_memory(to->error);
}

/* Words with commas between them, each handed to `take`, which says whether it knows it. */
static bool each_word(const Reading *to, ServingOption option, bool (*take)(ServingAsked *asked, const char *word),
                      const char *right) {
    char *copy = arena_text(to->arena, given(to, option)), *rest = NULL;
    if (!copy) return error_memory(to->error);
    int count = 0;
    for (char *word = strtok_r(copy, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest), count++)
        if (!take(to->asked, word))
            return error_set(to->error, ERROR_INPUT, where(to, option), "\"%.40s\" is not one of its values; give %s",
                             word, right);
    return count > 0 || error_set(to->error, ERROR_INPUT, where(to, option), "is empty; give %s", right);
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

static bool take_weights(ServingAsked *asked, const char *word) {
    return add_type(word, false, asked->question.weights, &asked->question.weights_count);
}

static bool take_cache(ServingAsked *asked, const char *word) {
    return add_type(word, true, asked->question.caches, &asked->question.caches_count);
}

static bool take_engine(ServingAsked *asked, const char *word) {
    int engine = engine_named(word);
    if (strcmp(word, "any") == 0) return asked->question.any_engine = true;
    if (engine >= 0) asked->question.engines |= 1u << engine;
    return engine >= 0;
}

static bool take_mode(ServingAsked *asked, const char *word) {
    for (int mode = 0; mode < SERVE_MODE_COUNT; mode++)
        if (strcmp(word, serving_mode_name((ServingMode)mode)) == 0) return asked->question.modes = 1u << mode, true;
    if (strcmp(word, "any") != 0) return false;
    asked->question.modes = 1u << SERVE_AGGREGATED | 1u << SERVE_DISAGGREGATED;
    return true;
}

static bool take_objective(ServingAsked *asked, const char *word) {
    for (int objective = 0; objective < SERVE_OBJECTIVE_COUNT; objective++)
        if (strcmp(word, serving_objective_name((ServingObjective)objective)) == 0)
            return asked->question.objective = (ServingObjective)objective, true;
    return false;
}

static bool read_engines(const Reading *to) {
    ServingQuestion *question = &to->asked->question;
    EngineSet chip = engines_of_chip(&question->chip);
    to->asked->engines_said = given(to, SERVING_ENGINE) != NULL;
    if (!to->asked->engines_said) {
        question->engines = chip;
        question->any_engine = strcmp(question->profiles[NO_ENGINE].name, "ideal") == 0;
        return true;
    }
    if (!each_word(to, SERVING_ENGINE, take_engine, "vllm, sglang, tensorrt-llm, maxtext or any")) return false;
    for (int e = 0; e < engine_count(); e++)
        if (question->engines >> e & 1 && !(chip >> e & 1))
            return error_set(to->error, ERROR_INPUT, where(to, SERVING_ENGINE), "%s does not run on %s",
                             engine_at(e)->title, question->chip.title);
    return true;
}

static bool read_space(const Reading *to) {
    ServingQuestion *question = &to->asked->question;
    question->modes = 1u << SERVE_AGGREGATED | 1u << SERVE_DISAGGREGATED;
    to->asked->modes_said = given(to, SERVING_MODE) != NULL;
    if (to->asked->modes_said &&
        !each_word(to, SERVING_MODE, take_mode, "aggregated, disaggregated, any, decode or prefill"))
        return false;
    if (given(to, SERVING_OBJECTIVE) &&
        !each_word(to, SERVING_OBJECTIVE, take_objective, "throughput, latency, cost or chips"))
        return false;
    if (question->objective == SERVE_CHIPS && !(question->rate > 0))
        return wrong(to, SERVING_OBJECTIVE, "needs a load to carry; give --rate as well");
    if (question->objective == SERVE_COST && !(question->chip.usd_per_chip_hour.value > 0))
        return wrong(to, SERVING_OBJECTIVE, "needs a price, and the catalog has none of this chip; give throughput");
    if (given(to, SERVING_REQUIRE) &&
        !layout_requirements_parse(given(to, SERVING_REQUIRE), where(to, SERVING_REQUIRE), question, to->error))
        return false;
    static const int64_t BUDGETS[] = {512, 1024, 2048, 4096, 8192, 16384};
    memcpy(question->budgets, BUDGETS, sizeof BUDGETS);
    question->budget_count = (int)COUNT_OF(BUDGETS);
    return read_engines(to);
}

/* The profile of each engine, and the types of weights and cache. */
static bool read_physics(const Reading *to) {
    ServingQuestion *question = &to->asked->question;
    const char *path;
    to->asked->profile = given(to, SERVING_PROFILE) ? given(to, SERVING_PROFILE) : "default";
    cJSON *json = serving_profile_open(to->asked->profile, to->arena, &path, to->error);
    if (!json) return false;
    to->asked->profile_path = path;
    bool ok = true;
    for (int e = 0; e <= engine_count() && ok; e++) {
        int at = e == engine_count() ? NO_ENGINE : e;
        ok = serving_profile_from_json(json, path, &question->chip, at == NO_ENGINE ? NULL : engine_at(e)->name,
                                       &question->profiles[at], to->error);
    }
    if (ok && question->profiles[NO_ENGINE].driver_memory > 0) {
        chip_use_driver_memory(&question->chip);
        chip_use_driver_memory(&question->device);
    }
    to->asked->weights_said = given(to, SERVING_PRECISION) != NULL;
    if (ok && to->asked->weights_said)
        ok = each_word(to, SERVING_PRECISION, take_weights, "bf16, fp8, int8, mxfp4, nvfp4 or int4");
    else if (ok)
        question->weights[question->weights_count++] = serving_published_weights(json, question->model.name);
    cJSON_Delete(json);
    if (ok && given(to, SERVING_KV_DTYPE))
        return each_word(to, SERVING_KV_DTYPE, take_cache, "bf16, fp8, int8 or int4");
    question->caches[question->caches_count++] = STORED_BF16;
    return ok;
}

static bool read_search(const Reading *to) {
    ServingQuestion *question = &to->asked->question;
    question->brute_force = given(to, SERVING_BRUTE_FORCE) != NULL;
    question->world = to->words->world;
    question->certificate = to->words->certificate;
    return !given(to, SERVING_TIME_LIMIT) ||
           number_seconds(given(to, SERVING_TIME_LIMIT), where(to, SERVING_TIME_LIMIT), &question->time_limit_seconds,
                          to->error);
}

bool serving_question(const ServingWords *words, Arena *arena, ServingAsked *out, Error *error) {
    Reading to = {words, arena, out, error};
    memset(out, 0, sizeof *out);
    /* In this order because each leans on the ones before. */
    return read_model(&to) && read_chip(&to) && read_machine(&to) && read_lengths(&to) && check_length(&to) &&
           read_limits(&to) && read_physics(&to) && read_space(&to) && read_search(&to);
}
