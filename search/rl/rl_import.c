/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"
#include "base/util.h"
#include "search/rl/rl_files.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    Arena *arena;
    Options *options;
    const char *of[FACTS];
    const char *path;
    Error *error;
} Imported;

/* The framework most of whose keys are in the file. */
static const RlFramework *recognised(const ConfigFile *file) {
    const RlFramework *best = NULL;
    int most = 2;
    for (int i = 0; i < RL_FRAMEWORKS; i++) {
        int count = 0;
        for (const RlKey *key = RL_FRAMEWORK[i].keys; key->key; key++) count += config_has(file, key->key);
        if (count > most) most = count, best = &RL_FRAMEWORK[i];
    }
    return best;
}

static int64_t number(const Imported *in, RlFact fact, int64_t fallback) {
    int64_t value = fallback;
    Error ignored = {0};
    if (in->of[fact]) number_whole(in->of[fact], "", 0, INT64_C(1) << 40, &value, &ignored);
    return value;
}

/* Sets an option that is not given already. */
static bool set(Imported *in, Option option, const char *text) {
    if (!text) return error_memory(in->error);
    if (in->options->text[option]) return true;
    in->options->text[option] = text;
    in->options->where[option] = in->path;
    return true;
}

static bool set_whole(Imported *in, Option option, int64_t value) {
    return value <= 0 || set(in, option, arena_format(in->arena, "%lld", (long long)value));
}

static bool set_work(Imported *in, const RlFramework *framework) {
    int64_t samples = number(in, FACT_SAMPLES, 16), prompt = number(in, FACT_PROMPT_LENGTH, 256);
    int64_t prompts = number(in, FACT_PROMPTS, number(in, FACT_ANSWERS, 0) / max_whole(1, samples));
    int64_t batch = number(in, FACT_BATCH_ANSWERS, number(in, FACT_BATCH_PROMPTS, 0) * samples);
    int64_t longest = number(in, FACT_ANSWER_LENGTH, number(in, FACT_LENGTH, 0) - prompt);
    const char *model = in->of[FACT_MODEL], *slash = model ? strrchr(model, '/') : NULL;
    bool lengths = in->options->text[OPTION_ANSWER] || in->options->text[OPTION_LENGTHS];
    for (int i = 0; i < RL_ALGORITHMS; i++)
        if (in->of[FACT_ESTIMATOR] && framework->estimators[i] &&
            strcmp(framework->estimators[i], in->of[FACT_ESTIMATOR]) == 0)
            if (!set(in, OPTION_ALGORITHM, RL_ALGORITHM[i].name)) return false;
    return (!model || set(in, OPTION_MODEL, slash && slash[1] ? slash + 1 : model)) &&
           set_whole(in, OPTION_SAMPLES, samples) && set_whole(in, OPTION_PROMPTS, prompts) &&
           set_whole(in, OPTION_PROMPT, prompt) && set_whole(in, OPTION_MAX_ANSWER, longest) &&
           (lengths || set_whole(in, OPTION_ANSWER, longest / 4)) &&
           set_whole(in, OPTION_TRAIN_BATCH, min_whole(batch, prompts * samples));
}

enum { HOST_USUAL = 8 }; /* chips: parts of so many are of one host */

/* Frameworks name the whole machine and what generates, or both parts. */
static bool set_split(Imported *in) {
    int64_t host = number(in, FACT_CLUSTER_CHIPS, number(in, FACT_HOST_CHIPS, 8)),
            rollout = number(in, FACT_ROLLOUT_HOSTS, 0);
    int64_t rollout_chips = number(in, FACT_ROLLOUT_CHIPS, rollout * number(in, FACT_ROLLOUT_HOST_CHIPS, host));
    if (rollout_chips == 0) rollout_chips = number(in, FACT_ENGINES, 0) * number(in, FACT_ROLLOUT_TENSOR, 1);
    const char *colocated = in->of[FACT_COLOCATED];
    bool shared = (colocated && strcasecmp(colocated, "true") == 0) || in->of[FACT_SHARES];
    bool apart = !shared && rollout_chips > 0;
    int64_t hosts = number(in, FACT_HOSTS, 0), train = number(in, FACT_TRAIN_HOSTS, 0);
    int64_t chips = hosts > 0 ? hosts * host : train * host + (apart ? rollout_chips : 0);
    int64_t train_chips = chips - rollout_chips;
    bool one_host = hosts == 1 || (hosts == 0 && train <= 1 && chips <= HOST_USUAL);
    bool off = in->of[FACT_LAGS] && strcasecmp(in->of[FACT_LAGS], "true") != 0;
    int64_t lag = off || !apart ? 0 : min_whole(RL_LAG_MAX, number(in, FACT_LAG, 1));
    if (!in->options->text[OPTION_NODES] && !set_whole(in, OPTION_CHIPS, chips)) return false;
    if (!in->options->text[OPTION_NODES] && !one_host && host < HOST_USUAL && chips % host == 0 &&
        !set_whole(in, OPTION_GPUS_PER_NODE, host))
        return false;
    if (!apart) return set(in, OPTION_COLOCATED, "");
    bool partial = in->of[FACT_FLAG_PARTIAL] || (in->of[FACT_PARTIAL] && strcasecmp(in->of[FACT_PARTIAL], "true") == 0);
    if (lag > 0 && !set(in, OPTION_PARTIAL, partial ? "yes" : "no")) return false;
    return set(in, OPTION_LAG, arena_format(in->arena, "%lld", (long long)lag)) &&
           set_whole(in, OPTION_TRAIN_NODES, one_host ? train_chips : train_chips / host);
}

/* A file without such a key recomputes nothing, but for those that always say it. */
static const char *remat_of(const Imported *in, const RlFramework *framework) {
    const char *said = in->of[FACT_RECOMPUTES], *words = in->of[FACT_RECOMPUTE_FLAG];
    if (rl_has_fact(framework, FACT_RECOMPUTES)) return !said ? NULL : strcasecmp(said, "true") == 0 ? "full" : "none";
    return !words ? "none" : words[0] ? words : "full";
}

static bool set_engines(Imported *in, const RlFramework *framework) {
    int64_t expert = number(in, FACT_EXPERT, 1), width = max_whole(1, number(in, FACT_ROLLOUT_TENSOR, 1));
    int64_t data = number(in, FACT_ROLLOUT_DATA, max_whole(1, number(in, FACT_ROLLOUT_EXPERT, 1) / width));
    char experts[160] = "";
    int64_t pipeline = number(in, FACT_PIPELINE, 1);
    if (expert > 1) snprintf(experts, sizeof experts, " folded_expert=%lld", (long long)expert);
    if (pipeline > 1)
        snprintf(experts + strlen(experts), sizeof experts - strlen(experts), " virtual_stages=%lld",
                 (long long)number(in, FACT_VIRTUAL, 1));
    int64_t length = number(in, FACT_LENGTH, number(in, FACT_PROMPT_LENGTH, 256) + number(in, FACT_ANSWER_LENGTH, 0));
    int64_t micro = number(in, FACT_MICRO, number(in, FACT_MICRO_TOKENS, 0) / max_whole(1, length));
    if (micro > 0)
        snprintf(experts + strlen(experts), sizeof experts - strlen(experts), " microbatch_sequences=%lld",
                 (long long)micro);
    if (in->of[FACT_ON_HOST])
        snprintf(experts + strlen(experts), sizeof experts - strlen(experts), " offload_optimizer=true");
    const char *plan =
        arena_format(in->arena, "tensor=%lld sequence=%lld pipeline=%lld%s", (long long)number(in, FACT_TENSOR, 1),
                     (long long)number(in, FACT_CONTEXT, 1), (long long)pipeline, experts);
    int64_t tensor = number(in, FACT_ROLLOUT_TENSOR, number(in, FACT_ENGINE_CHIPS, 1) / max_whole(1, data));
    const char *rollout = arena_format(in->arena, "tensor=%lld pipeline=%lld attention_data=%lld", (long long)tensor,
                                       (long long)number(in, FACT_ROLLOUT_PIPELINE, 1), (long long)data);
    const char *remat = remat_of(in, framework), *bypass = in->of[FACT_BYPASS], *memory = in->of[FACT_HBM_SHARE];
    return set(in, OPTION_TRAIN_PLAN, plan) && set(in, OPTION_ROLLOUT, rollout) &&
           (!remat || set(in, OPTION_REMAT, remat)) &&
           (!bypass || strcasecmp(bypass, "true") != 0 || set(in, OPTION_LOGPROBS, "rollout")) &&
           (!memory || set(in, OPTION_ROLLOUT_MEMORY, memory));
}

bool rl_import(RlConfig *config, Arena *arena, Options *options, Error *error) {
    Imported in = {.arena = arena, .options = options, .path = config->path, .error = error};
    ConfigFile own = {.name = config->path, .arena = arena}, *file = &own;
    const char *text = config->text, *path = config->path;
    size_t length = config->length;
    bool script = memmem(text, length, "python", 6) != NULL || memmem(text, length, ":", 1) == NULL;
    if (!config_check_text(file, text, length, error)) return false;
    if (script ? !config_read_words(text, length, file, error) : !config_read_yaml(text, length, file, error))
        return false;
    const RlFramework *of = config->framework = recognised(file);
    if (!of)
        return error_set(error, ERROR_INPUT, path,
                         "has too few keys of NeMo RL, verl, OpenRLHF, slime or TRL to tell whose it is");
    for (const RlKey *key = of->keys; key->key; key++) {
        const ConfigEntry *entry = config_take(file, key->key);
        if (!entry && config_has(file, key->key)) in.of[key->fact] = ""; /* a flag */
        if (entry && key->fact != FACT_NONE && !in.of[key->fact]) in.of[key->fact] = entry->value;
    }
    if (of->trainer && !set(&in, OPTION_FOR, of->trainer)) return false;
    return set_work(&in, of) && set_split(&in) && set_engines(&in, of);
}
