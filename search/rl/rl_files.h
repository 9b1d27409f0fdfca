/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/rl_files.h: a step as the configuration of a framework that runs it, and back. What there is to say is a
 * list of facts; a framework is a table of keys with the fact that each takes. */
#pragma once

#include "search/launch/syntax/config_file.h"
#include "search/rl/rl_answer.h"

typedef enum {
    FACT_NONE,
    FACT_MODEL,
    FACT_PROMPTS,
    FACT_SAMPLES,
    FACT_ANSWERS,       /* prompts x samples */
    FACT_BATCH_ANSWERS, /* of one update */
    FACT_BATCH_PROMPTS,
    FACT_PROMPT_LENGTH,
    FACT_ANSWER_LENGTH, /* at most */
    FACT_LENGTH,        /* of both */
    FACT_MICRO,         /* packed sequences of a microbatch */
    FACT_MICRO_TOKENS,
    FACT_HOSTS,
    FACT_HOST_CHIPS,    /* of a host, those that train */
    FACT_CLUSTER_CHIPS, /* all of a host */
    FACT_TRAIN_HOSTS,
    FACT_ROLLOUT_HOSTS, /* where they are apart */
    FACT_ROLLOUT_HOST_CHIPS,
    FACT_ROLLOUT_CHIPS,
    FACT_COLOCATED, /* "true" "false" */
    FACT_SHARES,    /* a flag, where colocated */
    FACT_LAG,       /* where it is above 0 */
    FACT_LAGS,      /* "true" there */
    FACT_FLAG_LAGS, /* a flag, there */
    FACT_PARTIAL,   /* "true" where answers go on after weights came */
    FACT_FLAG_PARTIAL,
    FACT_RECOMPUTES,     /* "true" "false" */
    FACT_RECOMPUTE_FLAG, /* a flag, where layers are recomputed */
    FACT_ON_HOST,        /* a flag, where the optimizer's state is there */
    FACT_BYPASS,         /* "true" where the engines' log-probabilities are used */
    FACT_TENSOR,
    FACT_CONTEXT,
    FACT_PIPELINE,
    FACT_EXPERT,
    FACT_EXPERT_TENSOR,
    FACT_VIRTUAL, /* where it is above 1 */
    FACT_SEQUENCE_PARALLEL,
    FACT_SEQUENCE_FLAG,
    FACT_ENGINE,
    FACT_ENGINES, /* replicas */
    FACT_ENGINE_CHIPS,
    FACT_ROLLOUT_TENSOR,
    FACT_ROLLOUT_PIPELINE,
    FACT_ROLLOUT_DATA,
    FACT_ROLLOUT_EXPERT,
    FACT_ROLLOUT_ATTENTION, /* a flag, where attention runs in data parallel */
    FACT_SLOTS,
    FACT_HBM_SHARE,
    FACT_ESTIMATOR,
    FACT_KL, /* "true" "false" */
    FACT_OFFLOAD,
    FACTS
} RlFact;

typedef enum { RL_YAML, RL_OVERRIDES, RL_FLAGS } RlSyntax;

typedef struct {
    const char *key;
    RlFact fact;
    const char *text; /* of FACT_NONE: always this; "" is a flag; of a flag: this where it is there */
} RlKey;

typedef struct {
    const char *name, *title, *release; /* "nemo-rl", "NeMo RL", of which the keys are */
    RlSyntax syntax;
    const char *command, *lagged;  /* what starts it, on policy and off; in YAML what the file begins with */
    const char *const *estimators; /* its words for RL_ALGORITHM, in that order; NULL: it has none of them */
    const RlKey *keys;             /* ends with a key of NULL */
    unsigned ways;                 /* a bit per RlWay that it runs; 0: all */
    const char *ways_words;        /* why not the others */
    const char *trainer;           /* as --for has it; NULL: Megatron */
    bool expert_group; /* engines of attention data parallel have experts over the whole of it, and no key */
} RlFramework;

enum { RL_FRAMEWORKS = 5 };
extern const RlFramework RL_FRAMEWORK[RL_FRAMEWORKS];
const RlFramework *rl_framework_named(const char *name); /* NULL: there is none */
bool rl_has_fact(const RlFramework *framework, RlFact fact);

static inline bool rl_runs(const RlFramework *framework, RlWay way) {
    return !framework->ways || (framework->ways >> way & 1);
}

/* The best step that the framework runs, else the best; whether it has no words for it, *error why. */
const RlStep *rl_step_for(const RlAnswer *answer, const RlFramework *framework);
bool rl_refuses(const RlQuestion *question, const RlStep *step, const RlFramework *framework, Error *error);

bool rl_emit(const RlQuestion *question, const RlStep *step, const RlFramework *framework, Arena *arena, FILE *out,
             Error *error);

/* The options that a configuration stands for: split, plan, engine, lengths and lag as it has them; what *options has
 * already counts first. Fills in whose it is. */
typedef struct {
    const char *path, *text;
    size_t length;
    const RlFramework *framework;
} RlConfig;
bool rl_import(RlConfig *config, Arena *arena, Options *options, Error *error);
