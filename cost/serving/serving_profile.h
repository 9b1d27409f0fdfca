/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/serving/serving_profile.h: what serving kernels, small messages and engines really reach, as data: every figure
 * of cost/serving/profiles/NAME.json has its source. A kernel takes floor + max(bytes / (share x HBM), FLOPs / (share x
 * peak)). The profile `ideal` has shares of 1 and floors of 0. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "mesh/chip.h"

#include <cjson/cJSON.h>
#include <stddef.h>

/* The number formats in which weights and the cache are kept for serving. */

typedef enum {
    STORED_BF16,
    STORED_FP8,
    STORED_INT8,  /* weights alone: they are widened, and the matmul runs in bf16 */
    STORED_MXFP4, /* 4 bits, and a scale of 8 bits for each block of 32 */
    STORED_NVFP4, /* 4 bits, and a scale of 8 bits for each block of 16 */
    STORED_INT4,  /* weights alone; the scales of large groups are not counted, as in the book */
    STORED_COUNT
} StoredType;

const char *stored_name(StoredType type); /* "bf16" "fp8" "int8" "mxfp4" "nvfp4" "int4" */

/* Bytes of one number, its share of a block's scale included. */
double stored_bytes(StoredType type);

/* The arithmetic of a matmul whose weights are stored so: bf16 where the chip has nothing narrower for them. */
typedef enum { ARITHMETIC_BF16, ARITHMETIC_FP8, ARITHMETIC_FP4, ARITHMETIC_COUNT } Arithmetic;
Arithmetic stored_arithmetic(StoredType type, const Chip *chip);
double arithmetic_peak(const Chip *chip, Arithmetic arithmetic); /* dense FLOP/s */

enum { SERVING_NAME_SIZE = 64, SERVING_SOURCE_SIZE = 384, MESSAGE_POINTS_MAX = 12, MESSAGE_TABLES_MAX = 16 };
typedef enum { EXPERT_BF16, EXPERT_FP8, EXPERT_NARROW, EXPERT_KINDS } ExpertKind;

/* Measured times of one collective inside a scale-up domain: seconds at rising bytes of one rank's message. */
typedef struct {
    char engine[SERVING_NAME_SIZE];
    int64_t ranks;
    int count;
    double bytes[MESSAGE_POINTS_MAX], seconds[MESSAGE_POINTS_MAX]; /* neither ever falls */
} MessageTable;

typedef struct {
    char name[SERVING_NAME_SIZE];
    char source[SERVING_SOURCE_SIZE];
    char borrowed[SERVING_NAME_SIZE]; /* "H100": whose figures stand for those that the chip lacks; "": it lacks none */

    double matmul_floor_seconds[ARITHMETIC_COUNT];
    double matmul_hbm_share[ARITHMETIC_COUNT];
    double matmul_flops_share[ARITHMETIC_COUNT];
    double attention_floor_seconds;                   /* of decode, for each layer */
    double attention_hbm_share[2];                    /* of a cache of 16 bits, and of fewer */
    double latent_floor_seconds, latent_hbm_share[2]; /* the same of MLA */
    double prefill_attention_flops_share;             /* of bf16 peak */
    /* MLA of chosen keys: heads that its kernels multiply at least, by the type of the cache; 1: no block of them. */
    double sparse_heads[2], sparse_flops_share[2]; /* share of bf16 peak, of prompts */
    double sparse_launch_seconds; /* of the host, which launches such a layer's attention for prompts, at least */
    /* What chooses them: its kernels without its matmuls, a key of one sequence, whose scores are sorted in one block,
     * and the share of fp8 peak (else bf16) of the scores. */
    double index_floor_seconds, index_key_seconds, index_flops_share;
    /* Grouped matmuls of experts. Of weights of 16, 8 and fewer bits: the floor, shares of HBM and of peak, and what
     * moving a token to an expert's rows, through them and back takes, as bytes of HBM for each number of its width. */
    double expert_floor_seconds[EXPERT_KINDS], expert_hbm_share[EXPERT_KINDS];
    double expert_flops_share[EXPERT_KINDS], expert_token_bytes[EXPERT_KINDS];
    double routing_skew; /* the hottest rank of n has 1 + this x log2(n) times the mean */
    /* Experts over several hosts: the same where a balancer has copies of the hottest. Over several domains: the share
     * of the network's rate that dispatch and combine reach, and whether a step is two halves, of which one computes
     * while the other's tokens travel (1). */
    double balanced_skew, exchange_network_share, two_batches;
    double layer_seconds, step_seconds;
    double collective_floor_seconds, exchange_floor_seconds;
    double link_share, exchange_share; /* of the link's rate */
    double dispatch_bytes;             /* of one number of a token on its way to an expert */
    double overlap;                    /* 0: communication follows the kernels; 1: the longer of the two counts */
    double unquantised_bytes;          /* of embedding, head and router; 0: as the other weights */
    double pipeline_share;             /* of the time that the stages of a pipeline are busy, where there are several */
    double draft_share;                /* of a layer and the head that one draft takes */
    double memory_fraction;            /* of HBM that the engine may use */
    double driver_memory;     /* 1: HBM is what the driver gives to a program; 0: as it is sold, which is the book's */
    double workspace_bytes;   /* graphs and communication buffers of a chip */
    double activations_share; /* of the activations of a step that is held at once; 0: they are not counted */
    double page_tokens;
    double prefill_load;                  /* the share of the capacity of prefill at which TTFT is given */
    double queue;                         /* 1: the wait of a queue counts in TTFT; 0: an empty server */
    double start_sequences, start_tokens; /* in flight, and of a step, where an engine is started without limits */
    /* What engines take beyond the kernels' own times, as shares of them; below 0 where kernels are better than the
     * tables from which their floors and shares come. */
    double kernel_extra, expert_extra, message_extra;
    double prompt_extra;               /* of the FLOPs of prompt tokens alone */
    double knee; /* the share of the lesser of bytes' and FLOPs' time that a matmul takes alongside the larger */
    double sequence_seconds;    /* of the host, for each sequence of a step */
    double first_token_seconds; /* of the host, before a prompt is begun and behind its first token */
    double burst;               /* of the requests of a load test, those that come all at once at its beginning */
    double likely_factor;       /* nine of ten measured times lie below prediction times this */

    MessageTable tables[MESSAGE_TABLES_MAX]; /* all_reduce, of this chip */
    int table_count;
} ServingProfile;

/* Reads the figures of a chip from a parsed profile: those of all, then of GPUs or TPUs in general, then the chip's
 * own, then those of `engine` (NULL: none in particular, which has the quickest collectives of any engine). */
bool serving_profile_from_json(const cJSON *json, const char *where, const Chip *chip, const char *engine,
                               ServingProfile *out, Error *error);

/* The versions of an engine of which this one is and that are fitted apart from its others (`older` of the engine's
 * entry); NULL: none. They live as long as the JSON. */
const cJSON *serving_older_versions(const cJSON *json, const char *engine, const char *version);

/* Reads over an engine's profile what was fitted to such versions. */
bool serving_profile_use_older(const cJSON *json, const char *where, const Chip *chip, const cJSON *versions,
                               ServingProfile *profile, Error *error);

/* The type in which the authors publish the weights that are called so, else those of the model whose shape they have;
 * bf16 where the profile names no other. */
StoredType serving_published_weights(const cJSON *json, const char *called, const char *model);

/* Opens "default", "ideal", a name of cost/serving/profiles, or a file. The caller frees it with cJSON_Delete. */
cJSON *serving_profile_open(const char *argument, Arena *arena, const char **path, Error *error);
