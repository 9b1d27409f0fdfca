/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/plan/tuning.h: what of a model is trained. Fine-tuning freezes weights, puts small matrices alongside them
 * (LoRA), keeps frozen ones in few bits (QLoRA), or requires a reference as well (DPO). Pre-training is a Tuning of
 * zeros, under which every op, byte and second is as if there were none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Op Op;

/* Matrices of a layer that can have an adapter, as Hugging Face names them: q_proj ... down_proj. */
typedef enum {
    TARGET_QUERY,
    TARGET_KEY,
    TARGET_VALUE,
    TARGET_OUTPUT,
    TARGET_GATE,
    TARGET_UP,
    TARGET_DOWN,
    TARGET_COUNT
} Target;
enum { TARGETS_ATTENTION = (1 << TARGET_GATE) - 1, TARGETS_ALL = (1 << TARGET_COUNT) - 1 };

/* Parts of a model that can be frozen. */
typedef enum {
    FROZEN_EMBEDDING,
    FROZEN_ATTENTION,
    FROZEN_MLP, /* with that of shared experts */
    FROZEN_EXPERTS,
    FROZEN_ROUTER,
    FROZEN_NORMS,
    FROZEN_LOGITS,
    FROZEN_VISION,    /* what makes tokens of images or sound: every tower of the model */
    FROZEN_PROJECTOR, /* from towers to the stream */
    FROZEN_PARTS
} FrozenPart;
enum { FROZEN_ALL = (1 << FROZEN_PARTS) - 1, FROZEN_TOWERS = 1 << FROZEN_VISION | 1 << FROZEN_PROJECTOR };

/* Of adapters where nobody says which: the rank; and a number in nf4, an 8-bit scale for 64 of them and an fp32 scale
 * for 256 of these (Dettmers et al. 2023, section 3). */
#define TUNING_RANK 16
#define TUNING_STORED_BYTES (0.5 + 1 / 64. + 4 / (64. * 256))

typedef struct {
    bool on;              /* it is fine-tuning; false: all else is 0 */
    unsigned frozen;      /* a bit for each FrozenPart */
    double rank;          /* of adapters; 0 means that there are none */
    unsigned targets;     /* which matrices have one: a bit for each Target */
    double stored_bytes;  /* of a number of a frozen matrix as it lies in HBM and is gathered; 0: as the copy for
                          * compute. Embedding and logits are never quantised */
    double references;    /* further forward passes of every microbatch, without a backward: DPO's reference */
    bool on_host;         /* parameters live in the host's memory, and come over PCIe whenever they are gathered */
    bool reference_model; /* the reference has weights of its own; false: adapters are switched off for it */
} Tuning;

/* Makes the ops of a layer, of the embedding or of the logits those of a tuning: a frozen matmul has no gradient of its
 * weights (backward is one matmul, not two) and its input need not be kept for it; an adapter of rank r alongside a
 * matrix [k, n] is [k, r] and [r, n], forward and backward, and a sum (Hu et al. 2021, section 4.1); a quantised matrix
 * is written out in bf16 whenever it is used (Dettmers et al. 2023, equation 5). `query_share` is the share of queries
 * in the columns of a "qkv projection". ops have room for OPS_MAX; returns their number. NULL, or a tuning that is
 * not on, changes nothing. */
int tune_ops(const Tuning *tuning, double query_share, Op *ops, int count);

/* The words of people and of tables. tuning_next_word() takes the next of a list with commas or blanks; false: there is
 * none. The matrices of a word: "all-linear", "attention", "mlp", "q" or "q_proj"; 0: it names none. Bytes of a number
 * in a format, with its share of the scales: "nf4", "bnb-nf4", "4bit", "int8", "gptq-4bit"; 0: it names none. */
bool tuning_next_word(const char **list, char *word, size_t size);
unsigned tuning_target_bits(const char *word);
double tuning_format_bytes(const char *word);
const char *tuning_target_name(Target target); /* "q_proj" */
