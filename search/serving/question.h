/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/question.h: a request to `shardopt inference`, resolved. */
#pragma once

#include "cost/serving/memory.h"
#include "cost/serving/step.h"
#include "mesh/machine.h"
#include "search/request/environment.h"
#include "search/serving/engines/engine.h"

#include <stdio.h>

typedef enum { SERVE_THROUGHPUT, SERVE_LATENCY, SERVE_COST, SERVE_CHIPS, SERVE_OBJECTIVE_COUNT } ServingObjective;
const char *serving_objective_name(ServingObjective objective); /* "throughput" "latency" "cost" "chips" */

/* One pool that does everything, or one for prompts and one for what follows. The last two are one phase alone, for
 * questions about a pool. */
typedef enum { SERVE_AGGREGATED, SERVE_DISAGGREGATED, SERVE_DECODE, SERVE_PREFILL, SERVE_MODE_COUNT } ServingMode;
const char *serving_mode_name(ServingMode mode);

/* A condition of --require. */
typedef enum {
    LAYOUT_TENSOR,
    LAYOUT_PIPELINE,
    LAYOUT_ATTENTION_DATA,
    LAYOUT_EXPERT,
    LAYOUT_EXPERT_TENSOR,
    LAYOUT_KV_SEQUENCE,
    LAYOUT_KV_BATCH,
    LAYOUT_STATIONARY,
    LAYOUT_COPIES,
    LAYOUT_BATCH,
    LAYOUT_PREFILL_CHIPS, /* of both pools: how many chips each has */
    LAYOUT_DECODE_CHIPS,
    LAYOUT_WORD_COUNT
} LayoutWord;
const char *layout_word_name(LayoutWord word);
typedef struct {
    LayoutWord word;
    int sign; /* -1: at most, 0: equal, 1: at least */
    int64_t value;
    unsigned phases; /* a bit for each ServingPhase that it is of (space.h); 0: all */
} LayoutRequirement;
enum { LAYOUT_REQUIREMENTS_MAX = 32, SERVING_TYPES_MAX = STORED_COUNT, STEP_BUDGETS_MAX = 8 };

typedef struct {
    Model model;
    Chip chip, device; /* device: one of several of a chip, else the chip */
    Machine machine;
    ServedRequest request; /* means where lengths vary */
    /* Of the sequences in flight: the length at which each ends, which memory has room for, and the mean while it is
     * decoded; the keys that a token of a prompt attends to, mean; and the longest sequence of all. */
    double peak_tokens, mean_context, prompt_context, longest;
    int64_t accepted; /* tokens of the longest request that servers accept; 0: the longest sequence */
    Speculation speculation;
    Adapters adapters;
    Prefixes prefixes; /* with a count: of one pool alone, since those of two are not numbered while they are priced */
    double ttft_limit_seconds, tpot_limit_seconds; /* 0: none */
    double rate;                                   /* requests per second; 0: as many as can be served */
    int64_t concurrency;                           /* requests in flight; 0: any number */
    int64_t requests;                              /* of a batch job, for whose tokens nobody waits; 0: none */
    double finish_in_seconds;                      /* when it has to be done; 0: whenever */
    unsigned modes;                                /* a bit for each ServingMode */
    EngineSet engines;
    bool any_engine; /* no engine's rules: what divides and fits */
    bool usual;      /* without layouts that hardly anybody runs (space.h) */
    StoredType weights[SERVING_TYPES_MAX], caches[SERVING_TYPES_MAX];
    int weights_count, caches_count;
    int64_t budgets[STEP_BUDGETS_MAX]; /* tokens of a step that are tried, rising */
    int budget_count;
    ServingObjective objective;
    LayoutRequirement requirements[LAYOUT_REQUIREMENTS_MAX];
    int requirement_count;
    ServingProfile profiles[ENGINES_MAX + 1]; /* by engine; the last: none in particular */
    bool brute_force;
    double time_limit_seconds; /* of the whole answer; 0: none */
    double began_seconds;      /* by the world's clock: when the answer was begun */
    Environment environment;
    FILE *certificate; /* the search of the front writes its certificate there (space.h); NULL: nowhere */
    /* Tests alone set it, to see that a wrong bound is noticed: bounds are multiplied by 1 + this. */
    double bound_error;
} ServingQuestion;

enum { NO_ENGINE = ENGINES_MAX };

static inline ServedModel question_served(const ServingQuestion *question, int engine) {
    return (ServedModel){&question->model, &question->device, &question->profiles[engine], question->speculation,
                         question->adapters};
}

/* "tensor=2 pipeline<=1": names of axes and knobs in the JSON report, = <= or >=, a number. */
bool layout_requirements_parse(const char *text, const char *where, ServingQuestion *question, Error *error);
/* Whether a condition says how the chips are divided among two pools. */
bool question_divides_pools(const ServingQuestion *question);
bool question_admits(const ServingQuestion *question, int phase, LayoutWord word, int64_t value);

/* Every request has these lengths: sets them, the longest, and the means that follow. Uses request.cached. */
void question_lengths(ServingQuestion *question, double prompt, double output);

/* Tokens of a prompt that no prefix cache has. */
double question_new_tokens(const ServingQuestion *question);
