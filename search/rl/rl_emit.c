/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "search/rl/rl_files.h"
#include "search/rl/rl_report.h"

#include <math.h>
#include <string.h>

typedef struct {
    Arena *arena;
    const char *of[FACTS]; /* NULL: there is nothing to say */
    bool full;             /* memory is out */
} Facts;

static void whole(Facts *facts, RlFact fact, int64_t value) {
    facts->of[fact] = arena_format(facts->arena, "%lld", (long long)value);
    if (!facts->of[fact]) facts->full = true;
}

static void flag(Facts *facts, RlFact fact, bool value) { facts->of[fact] = value ? "true" : "false"; }

static void add_work(Facts *facts, const RlQuestion *question) {
    double longest = ceil(question->answers.longest), prompt = ceil(question->prompt);
    facts->of[FACT_MODEL] = question->options->text[OPTION_MODEL];
    whole(facts, FACT_PROMPTS, question->prompts);
    whole(facts, FACT_SAMPLES, question->samples);
    whole(facts, FACT_ANSWERS, question->prompts * question->samples);
    whole(facts, FACT_BATCH_ANSWERS, question->train_batch);
    whole(facts, FACT_BATCH_PROMPTS, divide_up(question->train_batch, question->samples));
    whole(facts, FACT_PROMPT_LENGTH, (int64_t)prompt);
    whole(facts, FACT_ANSWER_LENGTH, (int64_t)longest);
    whole(facts, FACT_LENGTH, (int64_t)(prompt + longest));
    flag(facts, FACT_KL, question->algorithm->reference);
    flag(facts, FACT_BYPASS, question->logprobs_by_rollout);
}

static void add_split(Facts *facts, const RlQuestion *question, const RlStep *step) {
    bool shared = step->way == RL_COLOCATED;
    int64_t host = min_whole(question->chips, question->chip.chips_per_host);
    int64_t chips = question->chips > host ? host : step->train_chips;
    whole(facts, FACT_HOSTS, divide_up(question->chips, host));
    whole(facts, FACT_TRAIN_HOSTS, divide_up(step->train_chips, host));
    whole(facts, FACT_HOST_CHIPS, chips);
    whole(facts, FACT_CLUSTER_CHIPS, host);
    flag(facts, FACT_COLOCATED, shared);
    flag(facts, FACT_OFFLOAD, shared);
    if (shared) facts->of[FACT_SHARES] = "";
    if (!shared) {
        whole(facts, FACT_ROLLOUT_HOSTS, divide_up(step->rollout_chips, host));
        whole(facts, FACT_ROLLOUT_HOST_CHIPS, min_whole(host, step->rollout_chips));
        whole(facts, FACT_ROLLOUT_CHIPS, step->rollout_chips);
    }
    if (step->lag == 0) return;
    whole(facts, FACT_LAG, step->lag);
    facts->of[FACT_LAGS] = "true";
    facts->of[FACT_FLAG_LAGS] = "";
    flag(facts, FACT_PARTIAL, step->way == RL_SPLIT_PARTIAL);
    if (step->way == RL_SPLIT_PARTIAL) facts->of[FACT_FLAG_PARTIAL] = "";
}

static void add_trainer(Facts *facts, const Model *model, const Trainer *trainer) {
    char remat[REMAT_TEXT_SIZE];
    const Plan *plan = &trainer->plan->plan;
    const Knobs *knobs = &plan->knobs;
    int64_t folded = knobs->methods.grid.expert, tensor = plan->degrees.of[ROLE_TENSOR];
    whole(facts, FACT_TENSOR, tensor);
    whole(facts, FACT_CONTEXT, plan->degrees.of[ROLE_SEQUENCE]);
    whole(facts, FACT_PIPELINE, plan->degrees.of[ROLE_PIPELINE]);
    whole(facts, FACT_EXPERT, max_whole(folded, plan->degrees.of[ROLE_EXPERT]));
    whole(facts, FACT_EXPERT_TENSOR, max_whole(1, knobs->methods.grid.expert_tensor));
    whole(facts, FACT_MICRO, knobs->microbatch_sequences);
    whole(facts, FACT_MICRO_TOKENS, knobs->microbatch_sequences * trainer->length);
    bool recomputes = strcmp(remat_name(model, &plan->layout, remat), "none") != 0;
    flag(facts, FACT_RECOMPUTES, recomputes);
    if (recomputes) facts->of[FACT_RECOMPUTE_FLAG] = "";
    if (knobs->offload_optimizer) facts->of[FACT_ON_HOST] = "";
    flag(facts, FACT_SEQUENCE_PARALLEL, tensor > 1);
    if (tensor > 1) facts->of[FACT_SEQUENCE_FLAG] = "";
    if (knobs->virtual_stages > 1) whole(facts, FACT_VIRTUAL, knobs->virtual_stages);
}

static void add_rollout(Facts *facts, const Rollout *rollout, double memory) {
    const WorkerLayout *layout = &rollout->layout->on.layout;
    const char *engine = engine_at(rollout->layout->on.engine)->name;
    facts->of[FACT_ENGINE] = strcmp(engine, "tensorrt-llm") == 0 ? "trtllm" : engine;
    whole(facts, FACT_ENGINES, rollout->replicas);
    whole(facts, FACT_ENGINE_CHIPS, worker_devices(layout));
    whole(facts, FACT_ROLLOUT_TENSOR, layout->tensor);
    whole(facts, FACT_ROLLOUT_PIPELINE, layout->pipeline);
    whole(facts, FACT_ROLLOUT_DATA, layout->attention_data);
    whole(facts, FACT_ROLLOUT_EXPERT, layout->expert);
    if (layout->attention_data > 1) facts->of[FACT_ROLLOUT_ATTENTION] = "";
    whole(facts, FACT_SLOTS, min_whole(rollout->slots, rollout->answers));
    facts->of[FACT_HBM_SHARE] = arena_format(facts->arena, "%.4g", memory);
    if (!facts->of[FACT_HBM_SHARE]) facts->full = true;
}

/* ---- writing ---- */

/* A key of YAML below those that it shares with the one before. */
static void write_nested(FILE *out, const char *before, const char *key, const char *value) {
    size_t shared = 0;
    int depth = 0;
    for (size_t i = 0; before[i] && before[i] == key[i]; i++)
        if (key[i] == '.') shared = i + 1, depth++;
    for (const char *part = key + shared, *dot; *part; part = dot + 1, depth++) {
        dot = strchr(part, '.');
        fprintf(out, "%*s%.*s:", 2 * depth, "", (int)(dot ? dot - part : (long)strlen(part)), part);
        if (!dot) {
            fprintf(out, " %s\n", value);
            return;
        }
        fputc('\n', out);
    }
}

static void write_keys(const RlFramework *framework, const Facts *facts, bool lags, FILE *out) {
    const char *before = "", *command = lags ? framework->lagged : framework->command;
    bool yaml = framework->syntax == RL_YAML;
    if (command) fputs(command, out);
    if (command && yaml) fputc('\n', out);
    for (const RlKey *key = framework->keys; key->key; key++) {
        const char *value = key->fact == FACT_NONE ? key->text : facts->of[key->fact];
        if (!value) continue;
        if (key->text) value = key->text;
        if (yaml)
            write_nested(out, before, key->key, value);
        else if (framework->syntax == RL_OVERRIDES)
            fprintf(out, " \\\n  %s=%s", key->key, value);
        else
            fprintf(out, *value ? " \\\n  --%s %s" : " \\\n  --%s", key->key, value);
        before = key->key;
    }
    if (!yaml) fputs(" \\\n  \"$@\"\n", out);
}

bool rl_refuses(const RlQuestion *question, const RlStep *step, const RlFramework *framework, Error *error) {
    const char *title = framework->title;
    if (!framework->estimators[question->algorithm - RL_ALGORITHM])
        return error_set(error, ERROR_INPUT, "--emit", "%s does not run %s", title, question->algorithm->title), true;
    if (question->rank > 0)
        return error_set(error, ERROR_INPUT, "--emit", "files with adapters are not written; leave --lora out"), true;
    const WorkerLayout *layout = &step->rollout.layout->on.layout;
    bool whole = framework->expert_group && layout->expert == worker_group(layout);
    if (layout->attention_data > 1 && !whole && !rl_has_fact(framework, FACT_ROLLOUT_DATA))
        return error_set(error, ERROR_INPUT, "--emit",
                         "%s has no engines of attention data parallel; give --rollout \"attention_data=1\"", title),
               true;
    if (!rl_runs(framework, step->way))
        return error_set(error, ERROR_INPUT, "--emit", "%s %s", title, framework->ways_words), true;
    int64_t stages = step->trainer.plan->plan.degrees.of[ROLE_PIPELINE];
    if (stages > 1 && !rl_has_fact(framework, FACT_PIPELINE))
        return error_set(error, ERROR_INPUT, "--emit",
                         "%s has no pipeline, and the plan has %lld stages; give --for %s", title, (long long)stages,
                         framework->trainer),
               true;
    if (step->trainer.plan->plan.knobs.offload_optimizer && !rl_has_fact(framework, FACT_ON_HOST))
        return error_set(error, ERROR_INPUT, "--emit",
                         "%s has no key that is written for the optimizer on the host; give more hosts", title),
               true;
    return false;
}

const RlStep *rl_step_for(const RlAnswer *answer, const RlFramework *framework) {
    const RlStep *step = &answer->best[answer->first];
    for (int way = 0; way < RL_WAYS; way++) {
        const RlStep *other = &answer->best[way];
        bool better = !rl_runs(framework, step->way) || other->seconds < step->seconds;
        if (other->fits && rl_runs(framework, (RlWay)way) && better) step = other;
    }
    return step;
}

bool rl_emit(const RlQuestion *question, const RlStep *step, const RlFramework *framework, Arena *arena, FILE *out,
             Error *error) {
    Facts facts = {.arena = arena};
    char words[RL_WORDS_SIZE], trainer[RL_WORDS_SIZE];
    if (rl_refuses(question, step, framework, error)) return false;
    add_work(&facts, question);
    add_split(&facts, question, step);
    add_trainer(&facts, &question->model, &step->trainer);
    add_rollout(&facts, &step->rollout, question->engine_memory[step->way == RL_COLOCATED]);
    facts.of[FACT_ESTIMATOR] = framework->estimators[question->algorithm - RL_ALGORITHM];
    if (facts.full) return error_memory(error);
    if (framework->syntax != RL_YAML) fputs("#!/bin/bash\n", out);
    fprintf(out, "# %s (%s), written by `shardopt rl`: %.4g s a step.\n# %s.\n", framework->title, framework->release,
            step->seconds, split_words(step, words));
    fprintf(out, "# Trainer: %s.\n", trainer_words(&step->trainer, trainer));
    fprintf(out, "# Rollout: %s.\n", rollout_words(&step->rollout, words));
    if (facts.of[FACT_MODEL] && !strchr(facts.of[FACT_MODEL], '/'))
        fprintf(out, "# Put the model's repository or folder where %s stands.\n", facts.of[FACT_MODEL]);
    write_keys(framework, &facts, step->lag > 0, out);
    return true;
}
