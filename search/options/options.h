/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/options.h: the options of every command that answers a question of training or of serving: first as
 * words, each with where it stands, then resolved into a Request or a ServingQuestion. A report's `request` gives the
 * same words, so that both ways are read by the same rules. */
#pragma once

#include "search/options/command_option.h"
#include "search/request/request.h"

#include <stdio.h>

typedef enum {
    OPTION_BASELINE,
    OPTION_TOLERANCE,
    OPTION_UPDATE,
    OPTION_WITHIN,
    OPTION_MARKDOWN,
    OPTION_JUNIT, /* of `check` */
    OPTION_MODEL,
    OPTION_CHIP,
    OPTION_PODS,
    OPTION_SLICE,
    OPTION_SLICES,
    OPTION_CHIPS,
    OPTION_NODES,
    OPTION_GPUS_PER_NODE,
    OPTION_OVERSUBSCRIPTION,
    OPTION_NETWORK,
    OPTION_HOST_MEMORY,
    OPTION_PRICE,
    OPTION_BATCH,
    OPTION_SEQUENCES,
    OPTION_SEQ,
    OPTION_TOKENS,
    OPTION_LORA, /* of fine-tuning, to OPTION_EPOCHS: TUNING_WORDS (search/request/request.h) in this order */
    OPTION_QLORA,
    OPTION_TARGETS,
    OPTION_FREEZE,
    OPTION_TASK,
    OPTION_MEAN_LENGTH,
    OPTION_MAX_LENGTH,
    OPTION_PACKING,
    OPTION_SAMPLES,
    OPTION_EPOCHS,
    OPTION_MTBF,
    OPTION_RESTART,
    OPTION_STORAGE,
    OPTION_PROMPT, /* of `inference`, to OPTION_MODE and OPTION_KV_DTYPE */
    OPTION_ANSWER,
    OPTION_LENGTHS,
    OPTION_MAX_ANSWER, /* of `rl`, to OPTION_ROLLOUT_MEMORY */
    OPTION_TURNS,
    OPTION_TOOL_TIME,
    OPTION_PROMPTS,
    OPTION_ALGORITHM,
    OPTION_TEACHER,
    OPTION_CRITIC,
    OPTION_REWARD,
    OPTION_REWARD_ON,
    OPTION_LOGPROBS,
    OPTION_TRAIN_BATCH,
    OPTION_KEPT,
    OPTION_LAG,
    OPTION_PARTIAL,
    OPTION_COLOCATED,
    OPTION_TRAIN_NODES,
    OPTION_TRAIN_PLAN,
    OPTION_ROLLOUT_CHIP,
    OPTION_ROLLOUT_NODES,
    OPTION_ROLLOUT,
    OPTION_ROLLOUT_MEMORY,
    OPTION_FRONT,
    OPTION_CACHED,
    OPTION_TTFT,
    OPTION_TPOT,
    OPTION_RATE,
    OPTION_RATES,
    OPTION_CONCURRENCY,
    OPTION_REQUESTS,
    OPTION_FINISH_IN,
    OPTION_SPECULATE,
    OPTION_ADAPTERS,
    OPTION_PREFIXES,
    OPTION_ENGINE,
    OPTION_MODE,
    OPTION_REQUIRE,
    OPTION_FOR,
    OPTION_MAX_IDLE,
    OPTION_BATCH_TOLERANCE,
    OPTION_PADDING,
    OPTION_SCHEDULES,
    OPTION_NESTING,
    OPTION_OBJECTIVE,
    OPTION_TOP,
    OPTION_VARIANTS,
    OPTION_SENSITIVITY,
    OPTION_PRECISION,
    OPTION_ROLLOUT_PRECISION, /* of `rl` */
    OPTION_KV_DTYPE,
    OPTION_MAX_MODEL_LEN, /* of `inference` */
    OPTION_GPU_MEMORY,
    OPTION_OPTIMIZER,
    OPTION_STATE_DTYPES,
    OPTION_REMAT,
    OPTION_OFFLOAD,
    OPTION_HBM_RESERVE,
    OPTION_PROFILE,
    OPTION_STACK,
    OPTION_BRUTE_FORCE,
    OPTION_TIME_LIMIT,
    OPTION_MEMORY_LIMIT,
    OPTION_GAP,
    OPTION_THREADS,
    OPTION_PLAN,
    OPTION_PLANS, /* of `explain` */
    OPTION_FROM,
    OPTION_RANK,
    OPTION_RANK_BY,
    OPTION_FROM_CONFIG,
    OPTION_CONFIG_FORMAT, /* of `explain` and `emit` */
    OPTION_UNDER,         /* of `emit` */
    OPTION_WHY_NOT,       /* of `explain` */
    OPTION_SHARD,
    OPTION_RESUME,
    OPTION_DEADLINE,
    OPTION_BUDGET, /* of `sweep` */
    OPTION_CERTIFICATE,
    OPTION_AXES, /* of `program`, to OPTION_GRAPH */
    OPTION_FIX,
    OPTION_FIX_BATCH,
    OPTION_RULES,
    OPTION_ANNOTATE,
    OPTION_GRAPH,
    OPTION_EMIT, /* of `rl` */
    OPTION_WHAT_IF,
    OPTION_FORMAT,
    OPTION_READ,
    OPTION_REFIT,
    OPTION_TRACE_FORMAT,
    OPTION_BENCH_FORMAT, /* of `trace` and `bench` */
    OPTION_OUTPUT,
    OPTION_TIMING,
    OPTION_VERBOSE,
    OPTION_QUIET,
    OPTION_COLOR,
    OPTION_VERSION,
    OPTION_COUNT
} Option;

/* As given: NULL when not; "" for a flag. `where` is what errors name: "--pods", or "report.json: request.pods". */
typedef struct {
    const char *text[OPTION_COUNT];
    const char *where[OPTION_COUNT];
    /* The launcher whose software prices plans that are for none in particular; NULL: the best of the chip. */
    const char *software_of;
    Environment environment; /* what a search knows of clock and interrupts: handed to the request */
    FILE *certificate;       /* of `inference`, written as it searches; NULL: not requested */
    const cJSON *model_json; /* the model's own config, in place of what --model names; NULL means that --model
                              * names it, which otherwise is what errors and reports call the model */
} Options;

/* The commands, as bits of CommandOption.use. */
enum {
    USE_PLAN = 1,
    USE_EXPLAIN = 2,
    USE_SWEEP = 4,
    USE_EMIT = 8,
    USE_CHECK = 16,
    USE_TRACE = 32,
    USE_INFERENCE = 64,
    USE_BENCH = 128,
    USE_RL = 256,
    USE_ALL_PLANNING = USE_PLAN | USE_EXPLAIN | USE_SWEEP | USE_EMIT | USE_CHECK
};

/* The rows of those that plan a training, of those that plan serving, of `rl` and of `program`, by Option; what one has
 * not is a gap. */
extern const CommandOption PLANNING_OPTIONS[OPTION_COUNT], SERVING_OPTIONS[OPTION_COUNT], RL_OPTIONS[OPTION_COUNT],
    PROGRAM_OPTIONS[OPTION_COUNT];

const char *option_name(Option option); /* "max-idle" */

/* The option of a table that is called so, in a report (CommandOption.key) or as it is typed; -1: none. */
int option_named(const CommandOption *table, const char *name);

/* Whether it is part of what was requested, and therefore of a report's `request`. */
bool option_is_input(Option option);

/* Fills in the defaults and loads what is named: model, chip, profile, stack. What it points at lives in the arena. */
bool request_from_options(const Options *options, Arena *arena, Request *out, Error *error);

/* A batch of tokens as whole sequences: the nearest number, at least one. */
int64_t sequences_of(int64_t batch, int64_t seq);
