/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/serving/step.h: the time of one step of a worker: decoding sequences and prompt tokens together. A kernel takes
 * floor + max(bytes / (share x HBM), FLOPs / (share x peak)); a message max(floor, bytes / links). Everything grows
 * with the batch and with the tokens, which is what lets the search cut whole ranges of batches. */
#pragma once

#include "cost/serving/matrices.h"
#include "cost/serving/worker.h"
#include "mesh/chip.h"

#include <stdbool.h>
#include <stdint.h>

/* What requests ask of workers in a steady state: how many tokens a step brings, how long a first
 * token waits, how many workers of one pool keep those of the other busy. Sources: "How to Scale Your Model", part 7
 * (continuous batching, disaggregation); Leviathan et al. (arXiv 2211.17192) for speculation; the mean wait of an M/D/1
 * queue. */

/* One request; means where lengths vary. */
typedef struct {
    double prompt, output; /* tokens, above 0 */
    double cached;         /* share of the prompt that a prefix cache has, 0 to below 1 */
} ServedRequest;

/* Speculation: `drafts` tokens are proposed and checked in one pass, each accepted with this chance. */
typedef struct {
    int64_t drafts; /* 0: none */
    double acceptance;
} Speculation;

/* LoRA adapters next to the base, each of this rank: all lie in HBM, and a request has one of them. */
typedef struct {
    int64_t count; /* 0: none */
    int64_t rank;
} Adapters;

/* The beginnings that prompts share: so many of them, each the cached share of a prompt, and any as likely as another.
 * What HBM has no room for lies in the host's memory, or is computed again. */
typedef struct {
    double count;      /* 0: all of them are there */
    double host_bytes; /* for them, of each chip */
} Prefixes;

/* Expected tokens of a step: (1 - a^(k+1)) / (1 - a); 1 without drafts. */
double speculation_tokens(Speculation speculation);

/* Sequences that end in a step, when each lasts `output` steps. */
double finished_per_step(double batch, double output);

/* Prompt tokens that a steady step brings alongside `batch` sequences that decode. */
double prefill_per_step(double batch, const ServedRequest *request, double tokens_per_step);

/* Mean wait before service at utilisation 0 <= load < 1, in units of the service time: load / (2 (1 - load)). Infinite
 * from 1 on. */
double queue_wait(double load);

/* Requests per second that `batch` decoding sequences finish. */
double decode_requests_per_second(double batch, double step_seconds, double output);

/* USD for a million tokens. */
double usd_per_million(double usd_per_chip_hour, double chips, double tokens_per_second);

/* ---- a worker ---- */

typedef enum {
    STEP_MATMUL,
    STEP_ATTENTION,
    STEP_EXPERTS,
    STEP_REDUCE,   /* all_reduce over tensor, and what moves the cache's queries and results */
    STEP_EXCHANGE, /* tokens to experts and back */
    STEP_LAYERS,   /* small kernels */
    STEP_HEAD,
    STEP_PASS, /* between stages */
    STEP_DRAFT,
    STEP_HOST,
    STEP_TERMS
} StepTerm;
const char *step_term_name(StepTerm term); /* "matmul" "attention" ... */

/* What holds a step up: the largest of what bytes, FLOPs, messages and floors take. */
typedef enum { HELD_BY_HBM, HELD_BY_COMPUTE, HELD_BY_NETWORK, HELD_BY_LATENCY, HELD_KINDS } HeldBy;
const char *held_by_name(HeldBy held); /* "hbm" "compute" "network" "latency" */

typedef struct {
    double sequences;      /* of the worker that decode */
    double context;        /* cached tokens of each, mean */
    double prompt_tokens;  /* of the worker in this step */
    double prompt_context; /* keys that each of them attends to, mean */
    double chunk; /* tokens of a prompt that a rank takes at once: prompt_tokens is the mean of steps that have such
                            * a chunk and of steps that only decode; 0: every step has its share */
} StepLoad;

typedef struct {
    double seconds;
    double terms[STEP_TERMS]; /* add up to seconds, unless communication is hidden */
    double held[HELD_KINDS];
} StepCost;

typedef struct StepPlan StepPlan; /* everything of a layout that no batch changes */

/* Room for a plan: values only, so it may be copied. */
typedef struct {
    double floor_seconds, bytes_seconds, token_seconds;
    bool of_group;
    double knee;
} StepKernel;

typedef struct {
    double layers; /* of the longest stage */
    StepKernel kernels[WORKER_MATRICES_MAX];
    int kernel_count;
    double scan_floor, state_seconds, scan_bytes_seconds,
        scan_token_seconds; /* of a mixer: a sequence's state; a prompt */
    /* An indexer: its kernels, a key of one sequence, its bytes, and its score with one query. */
    double index_floor, index_key_seconds, index_seconds, index_pair_seconds;
    double blocks; /* of two: attention or a mixer, and an MLP */
    double attention_floor, cached_seconds, pair_seconds, prompt_pair_seconds, window, prompt_window;
    double sparse_context; /* mean keys of a prompt from which chosen ones are multiplied, as many as prompt_window */
    double prompt_launch;  /* the least that attention to prompts takes */
    double experts_bytes_seconds, experts_token_seconds, experts_floor, expert_share; /* share 0: no experts */
    double adapter_floor, adapter_bytes_seconds, adapter_token_seconds;               /* bytes: of all adapters */
    double experts_move_seconds;                                                      /* of a token of the group */
    double reduces;                                                                   /* all_reduces over tensor */
    bool collects, exchanges; /* MLPs of a dense model over the group; tokens to experts and back */
} StepKind;

struct StepPlan {
    StepKind kinds[MODEL_KINDS_MAX];
    int kind_count;
    WorkerLinks links;
    WorkerLayout layout;
    StepKernel head;
    double token_bytes; /* of an activation between layers: d_model of 16 bits */
    double query_bytes; /* of all heads' queries, which moves where the cache is cut by batch or sequence */
    double wide_bytes;  /* of the widest hidden activation, for MLPs cut in two dimensions */
    double dispatch_bytes, combine_bytes; /* of a token on its way to its experts and back, all copies */
    double layer_seconds, step_seconds, sequence_seconds, overlap, draft_share, layers, pipeline_share;
    double kernel_extra, expert_extra, message_extra, exchange_extra, prompt_extra, knee;
    bool two_batches; /* it may run as two halves */
    Speculation speculation;
    Adapters adapters;
};

typedef struct {
    const Model *model;
    const Chip *device; /* one device: half a chip of two */
    const ServingProfile *profile;
    Speculation speculation;
    Adapters adapters;
} ServedModel;

/* `links` as worker_links() makes them. */
void step_plan(const ServedModel *served, const WorkerLayout *layout, const WorkerLinks *links, StepPlan *out);

/* The step; with chunks, the mean one: steps that only decode wait for bytes and steps with a chunk for FLOPs, so that
 * neither hides what the other takes, and only the latter touch nearly every expert. While chunks are fewer than steps
 * each falls to one rank of attention data, and all wait for it. Pure; grows with each member of the load but the
 * chunk. */
void worker_step(const StepPlan *plan, const StepLoad *load, StepCost *out);
